"""Sliders of pages without a player: Streamlit's own, which answer when they are released."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from pages.shared.language import Words
from pages.shared.scenario import Scenario
from pages.shared.state import store_values
from pages.shared.stops import slider_stops


def page_slider(
    name: str,
    scenario: Scenario,
    words: Words,
    *,
    label: str,
    help: str,
    also: Mapping[str, str] | None = None,
) -> None:
    """Show a slider of one option; released, it stores its value in the session and the URL.

    Parameters
    ----------
    scenario : Scenario
        With a value in the option.
    also : mapping, optional
        Further values, as they stand in a URL, that are stored with it.
    """
    stops = slider_stops(name, scenario, words)
    key = f"slide_{name}"
    st.session_state[key] = stops.values[stops.index]

    def store() -> None:
        url = stops.urls[stops.values.index(st.session_state[key])]
        store_values({**(also or {}), name: url})

    st.select_slider(
        label,
        stops.values,
        key=key,
        format_func=dict(zip(stops.values, stops.texts, strict=True)).get,
        help=help,
        on_change=store,
    )
