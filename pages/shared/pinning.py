"""A pinned scenario on a page that Python draws: its buttons, its legend, and swapping.

Pages with a player do the same in the browser (`player/browser/pinned.js`). Both keep what is
pinned in the URL, so that it goes along from one page to the next.
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape

import streamlit as st

from pages.shared.language import Words
from pages.shared.pin import PIN, pin_text, pinned
from pages.shared.scenario import DEFAULTS, Scenario
from pages.shared.state import Session, store_values


def pinned_scenario(session: Session) -> Scenario | None:
    """Return what is pinned, or None."""
    text = session.kept.get(PIN)
    return pinned(text)[0] if text else None


def pin_bar(
    session: Session,
    what: str,
    *,
    on_swap: Callable[[], None] = lambda: None,
) -> None:
    """Show the buttons that pin, swap and unpin, and what is pinned.

    Parameters
    ----------
    session : Session
    what : str
        What is pinned, in a few words, as HTML.
    on_swap : callable
        Called after the two scenarios have changed places.
    """
    words, present = session.words, session.scenario
    other = pinned_scenario(session)
    with st.container(key="pin_bar", horizontal=True, vertical_alignment="center"):
        st.button(
            words("compare.pin" if other is None else "compare.pin_again"),
            key="pin_this",
            type="tertiary",
            help=words("compare.pin_help"),
            on_click=store_values,
            args=({PIN: pin_text(present)},),
        )
        if other is None:
            return
        st.button(
            words("compare.swap"),
            key="pin_swap",
            type="tertiary",
            on_click=_swap,
            args=(present, other, on_swap),
        )
        st.button(
            words("compare.unpin"),
            key="pin_unpin",
            type="tertiary",
            on_click=store_values,
            args=({PIN: ""},),
        )
        st.html(
            f'<p class="pin-legend"><span aria-hidden="true"></span>'
            f" <strong>{escape(words('compare.legend'))}</strong> {what}</p>"
        )


def compared_block(table: str, words: Words) -> None:
    """Show the table of the two under its title; a wide one scrolls."""
    title = words("compare.title")
    st.header(title, anchor=False)
    st.html(
        f'<div class="compared" role="region" tabindex="0" aria-label="{escape(title)}">'
        f"{table}</div>"
    )


def _swap(present: Scenario, other: Scenario, then: Callable[[], None]) -> None:
    everything = dict.fromkeys(DEFAULTS, "")
    store_values({**everything, **other.query(), PIN: pin_text(present)})
    then()
