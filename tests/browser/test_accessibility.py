"""Every page: nothing serious by axe, all within reach of the keyboard, its language named."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from pages.menu import VIEWS
from pages.shared.language import LANGUAGES
from pages.shared.player.view import has_player

axe_module = pytest.importorskip("axe_playwright_python.sync_playwright")

# What is inside a figure is one image to those who do not see it, and axe would walk all its paths.
LOOK_AT = {"exclude": [[".player-figure > *"], [".js-plotly-plot .svg-container"]]}
RULES = {"resultTypes": ["violations"]}
MOST_TABS = 120
ROOFLINE = next(view for view in VIEWS if view.name == "roofline")


def path_of(view: object) -> str:
    return "/" if view is VIEWS[0] else f"/{view.name}"


def open_view(page: Page, server: str, view: object, language: str) -> None:
    page.goto(f"{server}{path_of(view)}?lang={language}")
    if has_player(view):
        page.wait_for_selector(".player[data-ready][data-state=rest]")
    page.locator(".share-open").wait_for()
    page.locator("[data-testid=stSidebar] a").nth(len(VIEWS) - 1).wait_for()
    page.locator("[data-testid=stStatusWidget]").wait_for(state="detached")


def serious(page: Page) -> list[tuple]:
    found = axe_module.Axe().run(page, context=LOOK_AT, options=RULES).response["violations"]
    return [
        (one["id"], [node["target"] for node in one["nodes"]][:5])
        for one in found
        if one["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_nothing_serious_by_axe_in_either_theme(
    page: Page, server: str, view: object, language: str
) -> None:
    open_view(page, server, view, language)
    assert page.locator("html").get_attribute("lang") == language
    paper = "() => getComputedStyle(document.querySelector('.stApp')).backgroundColor"
    light = page.evaluate(paper)
    assert serious(page) == []
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"light => ({paper})() !== light", arg=light)
    assert serious(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_serious_in_what_share_opens(
    new_page: Callable[..., Page], server: str, scheme: str
) -> None:
    page = new_page(color_scheme=scheme)
    open_view(page, server, ROOFLINE, "it")
    page.locator(".player-menu").first.click()
    page.locator("[role=menuitem]").first.wait_for()
    assert serious(page) == []
    page.keyboard.press("Escape")
    page.locator(".share-open").click()
    page.locator(".share-python summary").click()
    assert serious(page) == []
    page.locator(".share-qr").click()
    page.locator("dialog.share-hall[open]").wait_for()
    assert serious(page) == []


def test_language_of_the_document_follows_the_language_picked(page: Page, server: str) -> None:
    open_view(page, server, VIEWS[0], "en")
    page.get_by_text("Italiano", exact=True).click()
    page.wait_for_function("() => document.documentElement.lang === 'it'")


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_keyboard_reaches_every_control_and_shows_where_it_is(
    page: Page, server: str, view: object
) -> None:
    open_view(page, server, view, "en")
    wanted = page.evaluate(
        """() => {
          const all = document.querySelectorAll(
            '.player :is(button, select, input), .share-open, [data-testid=stSidebar] a,'
            + ' .plain-tools button, .plain-menu button');
          const seen = [...all].filter((one) => one.checkVisibility() && one.tabIndex >= 0);
          seen.forEach((one, i) => (one.dataset.wanted = i));
          return seen.length;
        }"""
    )
    assert wanted > len(VIEWS)
    # Where the focus stands, and whether anything is drawn around it.
    where = """() => {
      const one = document.activeElement;
      const style = getComputedStyle(one);
      const drawn = (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0)
        || style.boxShadow !== 'none' || style.backgroundColor !== 'rgba(0, 0, 0, 0)';
      return [one.dataset.wanted ?? null, drawn, one.outerHTML.slice(0, 120)];
    }"""
    reached, hidden = set(), []
    for _ in range(MOST_TABS):
        page.keyboard.press("Tab")
        number, drawn, text = page.evaluate(where)
        if number is not None:
            reached.add(number)
            if not drawn:
                hidden.append(text)
        if len(reached) == wanted:
            break
    missing = [number for number in map(str, range(wanted)) if number not in reached]
    assert [
        page.locator(f"[data-wanted='{number}']").evaluate("one => one.outerHTML.slice(0, 120)")
        for number in missing
    ] == []
    assert hidden == []


def test_less_motion_is_respected(new_page: Callable[..., Page], server: str) -> None:
    page = new_page(reduced_motion="reduce")
    open_view(page, server, ROOFLINE, "en")
    moving = page.evaluate(
        """() => {
          const longest = (text) => Math.max(...text.split(',').map(parseFloat));
          return [...document.querySelectorAll('*')].filter((one) => {
            const style = getComputedStyle(one);
            return longest(style.transitionDuration) > 0.001
              || (style.animationName !== 'none' && longest(style.animationDuration) > 0.001);
          }).map((one) => one.outerHTML.slice(0, 120));
        }"""
    )
    assert moving == []
