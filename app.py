"""Prefill vs. Decode: the ASGI app, and the frame around each page of the menu.

Run it with `streamlit run app.py`.
"""

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager

from pages.menu import VIEWS
from pages.shared.frame import browser_part, page, pickers
from pages.shared.house import house
from pages.shared.lecture import is_notes, lecture_link, notes_page
from pages.shared.player.routes import player_middleware, player_routes
from pages.shared.player.view import View, has_player
from pages.shared.share_routes import share_routes
from pages.shared.state import open_session
from pages.shared.stories import check_pages, stories

SIDEBAR_PIXELS = 320  # a model with its parameters and KV cache per token fits its picker

# A folder called pages/ would otherwise be taken for pages of Streamlit's older kind, and the first
# visitor of a fresh process would be shown a bare file of it.
PagesManager.uses_pages_directory = False

check_pages(stories().values(), [view.name for view in VIEWS])


def url_path(view: View) -> str:
    """Return the path of a page: its name, and nothing for the first one."""
    return "" if view is VIEWS[0] else view.name


def show() -> None:
    """Show the page that the browser asks for."""
    session = open_session()
    words = session.words
    st.set_page_config(
        page_title=words("app.title"),
        layout="wide",
        initial_sidebar_state="collapsed" if st.context.is_embedded else SIDEBAR_PIXELS,
    )
    browser_part(words)
    pages = {
        view.name: st.Page(
            lambda: None,
            title=words(f"{view.name}.nav"),
            url_path=url_path(view),
            default=view is VIEWS[0],
        )
        for view in VIEWS
    }
    current = st.navigation(list(pages.values()), position="hidden")
    view = next(view for view in VIEWS if url_path(view) == current.url_path)
    if is_notes(session):
        notes_page(session, view, pages)
        return
    with st.sidebar:
        with st.container(key="page_links", gap=None):
            for target in pages.values():
                st.page_link(target, query_params=session.query())
        pickers(view, session)
        lecture_link(session)
    # Drawn from here and not from within the st.Page: Streamlit takes a page's elements off the
    # screen as soon as a link is clicked, and a fragment that is just then reporting a slider has
    # no place left to draw in, which breaks the whole app in the browser.
    page(view, session, pages)


if st.runtime.exists():
    show()
else:
    players = [view for view in VIEWS if has_player(view)]
    app = st.App(
        __file__,
        routes=[*player_routes(house(players)), *share_routes(VIEWS)],
        middleware=player_middleware(map(url_path, players)),
    )
