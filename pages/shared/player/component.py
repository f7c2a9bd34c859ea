"""Mounts the player on a page.

Streamlit carries only the small description of the page. Figures' numbers come by route (see
``routes.py``), so a released slider costs Python one table, and a short while later one fragment
run that stores the values and sends nothing new.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from pages.shared.player.routes import BROWSER_FILES, browser_version, plotly_name
from pages.shared.player.view import View

_mount_component = st.components.v2.component(
    "player",
    js=(BROWSER_FILES / "loader.js").read_text(encoding="utf-8"),
    isolate_styles=False,
)


def player(
    view: View,
    scenario: Any,
    language: Any,
    on_values: Callable[[dict[str, str]], None],
    terms: Mapping[str, Any],
) -> None:
    """Show a page's figures, read-outs, sliders and live text.

    Parameters
    ----------
    view : View
        The page.
    scenario
        Where the page stands; ``scenario.query()`` is its URL query.
    language
        A language code, or an object with ``code``.
    on_values : callable
        Called with the sliders' values as URL strings after the user has moved some of them.
    terms : mapping
        What the browser explains in the page's text: ``page`` (the glossary's path), ``more`` (the
        words of a link to it) and ``list`` of ``slug``, ``name``, ``text`` and ``forms``.
    """
    key = f"player-{view.name}"
    # Computed out here, in the full run, and not in the fragment: a fragment run after a released
    # slider then sends the same data, which travels as a hash.
    data = {
        **view.describe(scenario, language).as_data(),
        "page": view.name,
        "terms": terms,
        "query": page_query(scenario, language),
        "reset_query": {
            name: value
            for name, value in page_query(scenario, language).items()
            if name not in view.sliders
        },
        "version": browser_version(),
        "plotly": plotly_name(),
        # Which of the browser's reports this run knows of; see `adopt` in player.js.
        "heard": st.session_state.get(f"{key}-heard", 0),
    }
    _fragment(key, data, on_values)


def page_query(scenario: Any, language: Any) -> dict[str, str]:
    """Give the URL query of a scenario in a language."""
    return {**scenario.query(), "lang": getattr(language, "code", language)}


@st.fragment
def _fragment(key: str, data: dict[str, Any], on_values: Callable[[dict[str, str]], None]) -> None:
    def store() -> None:
        report = dict(st.session_state[key]["values"])
        st.session_state[f"{key}-heard"] = report.pop("report")
        on_values({name: str(value) for name, value in report.items()})

    _mount_component(key=key, data=data, on_values_change=store)
