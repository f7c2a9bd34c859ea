"""Nothing serious by axe where a scenario is pinned, a question asked, an answer given."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from tests.browser.player_page import open_player, place, release_at
from tests.browser.test_accessibility import serious


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_serious_when_pinned_asked_and_answered(
    new_page: Callable[..., Page], server: str, scheme: str
) -> None:
    page = new_page(color_scheme=scheme)
    open_player(page, server, query="?lang=it&batch=8&pin=default")
    page.wait_for_selector(".player[data-pinned]")
    release_at(page, "batch", int(place(page, "batch")) + 1)
    page.locator(".player-change:not(:empty)").wait_for()
    assert serious(page) == []
    page.get_by_role("button", name="Prima indovina").click()
    page.locator(".player-guess-choices button").first.wait_for()
    assert serious(page) == []
    page.locator(".player-guess-choices button").first.click()
    page.locator(".player-verdict").wait_for()
    assert serious(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_serious_when_a_selection_of_measurements_is_pinned(
    new_page: Callable[..., Page], server: str, scheme: str
) -> None:
    page = new_page(color_scheme=scheme, viewport={"width": 390, "height": 844})
    page.goto(f"{server}/evidence?lang=it&pin=measured_chip%3Dh200-sxm&metric=ttft")
    page.locator(".compared table").wait_for(timeout=60_000)
    page.get_by_role("radio", name="TPOT", exact=True).click()
    page.locator("p.changed:not(:empty)").wait_for()
    page.locator("[data-testid=stStatusWidget]").wait_for(state="detached")
    assert serious(page) == []
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
