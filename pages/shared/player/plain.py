"""What a page without a player has in common with one that has: mounted before its figures.

The figures are Streamlit's; the browser gives each its menu, the page its handout and its question
(see ``browser/plain.js``).
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape

import streamlit as st

from pages.shared.language import Words
from pages.shared.player.routes import BROWSER_FILES, browser_version, plotly_name
from pages.shared.player_words import player_words

BODY = "plain_body"
"""Key of the container that holds all that waits for a guess."""

_mount_component = st.components.v2.component(
    "plain",
    js=(BROWSER_FILES / "plain_loader.js").read_text(encoding="utf-8"),
    isolate_styles=False,
)


def plain_extras(page: str, words: Words, on_values: Callable[[dict[str, str]], None]) -> None:
    """Give a page without a player its menus, its handout and its question.

    Parameters
    ----------
    page : str
        Its name.
    words : Words
    on_values : callable
        Called with what the browser has written into the URL, by parameter.
    """
    first = (BROWSER_FILES / "ask_first.js").read_text(encoding="utf-8")
    st.html(
        f'<span hidden data-plain="{escape(page)}"></span><script>{first}</script>',
        unsafe_allow_javascript=True,
    )
    data = {
        "page": page,
        "words": player_words(words),
        "version": browser_version(),
        "plotly": plotly_name(),
    }
    _fragment(f"plain-{page}", data, on_values)


@st.fragment
def _fragment(
    key: str, data: dict[str, object], on_values: Callable[[dict[str, str]], None]
) -> None:
    def store() -> None:
        on_values({name: str(value) for name, value in st.session_state[key]["values"].items()})

    _mount_component(key=key, data=data, on_values_change=store)
