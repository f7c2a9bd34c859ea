"""The anatomy of a page: claim, what to do, notices, the player, sources, where to go next."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path

import streamlit as st

from pages.shared.controls import language_picker, sidebar, uses_scenario
from pages.shared.glossary import for_browser
from pages.shared.language import Words
from pages.shared.lecture import lecture_script, story_panel
from pages.shared.links import is_newer
from pages.shared.notices import Notice, notice_text
from pages.shared.player.component import player
from pages.shared.player.plain import BODY, plain_extras
from pages.shared.player.view import View, has_player
from pages.shared.share_words import share_button, whole_page_link
from pages.shared.sources import Source
from pages.shared.state import Session, store_values

ASSETS = Path(__file__).resolve().parent.parent.parent / "assets"


def browser_part(words: Words) -> None:
    """Give the browser what the theme cannot say: styles, links that follow the URL, `lang`."""
    st.html(
        f"<style>{(ASSETS / 'style.css').read_text(encoding='utf-8')}</style>"
        f"<script>document.documentElement.lang = '{words.code}';\n"
        f"{(ASSETS / 'page_links.js').read_text(encoding='utf-8')}\n"
        f"{(ASSETS / 'share_button.js').read_text(encoding='utf-8')}\n"
        f"{lecture_script(words)}</script>",
        unsafe_allow_javascript=True,
    )


def page(view: View, session: Session, pages: Mapping[str, object]) -> None:
    """Show one page around its player.

    Parameters
    ----------
    view : View
        The page. Its texts are `<name>.title` and `<name>.do`; it may also have `sources`
        (a sequence of `Source`) and `next` (names of pages that follow). A page without a player
        draws itself with `body(session, pages)`; with `uses_scenario = False` it shows nothing of
        the scenario, which its links carry all the same.
    session : Session
        Scenario and language.
    pages : mapping of str to st.Page
        All pages, by name.
    """
    words = session.words
    story_panel(session, view, pages)
    st.title(words(f"{view.name}.title"), anchor=False)
    st.html(
        f'<div class="do-row"><p class="do">{escape(words(f"{view.name}.do"))}</p>'
        f"{whole_page_link(words) if st.context.is_embedded else ''}"
        f"{share_button(view, session.scenario, words)}</div>"
    )
    notices(session)
    if has_player(view):
        terms = for_browser(view.name, words)
        player(view, session.scenario, words, on_values=store_values, terms=terms)
    else:
        plain_extras(view.name, words, on_values=store_values)
        with st.container(key=BODY):
            view.body(session, pages)
    sources(view, session)
    next_pages(view, session, pages)


def pickers(view: View, session: Session) -> None:
    """Show what can be picked in the sidebar: the scenario where it counts, and the language."""
    if uses_scenario(view):
        sidebar(session, view.sliders, getattr(view, "picks", ()))
    language_picker(session.words)


def notices(session: Session) -> None:
    """Say what of the link could not be used."""
    if session.notices:
        lines = "<br>".join(escape(_said(n, session.words)) for n in _once(session.notices))
        st.html(f'<p class="notice" role="status">{lines}</p>')


def sources(view: View, session: Session) -> None:
    """List what the page rests on."""
    cited: tuple[Source, ...] = tuple(getattr(view, "sources", ()))
    if cited:
        st.header(session.words("frame.sources"), anchor=False)
        st.markdown("\n".join(f"- [{source.title}]({source.url})" for source in cited))


def next_pages(view: View, session: Session, pages: Mapping[str, object]) -> None:
    """Link the pages that follow from this one, with the scenario."""
    names = [name for name in getattr(view, "next", ()) if name in pages]
    if names:
        words = session.words
        st.header(words("frame.next"), anchor=False)
        for name in names:
            label = words(f"{name}.title")
            st.page_link(pages[name], label=label, query_params=session.query())


def _said(notice: Notice, words: Words) -> str:
    if is_newer(notice):
        return words("share.newer", version=notice.given, own=notice.used)
    return notice_text(notice, words)


def _once(given: list[Notice]) -> list[Notice]:
    return list(dict.fromkeys(given))
