"""The clock of the start page: a request that happens, from its first Play on."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from tests.browser.player_page import figure_values, open_player, table_of, value_at


@pytest.fixture
def request_page(page: Page, server: str) -> Page:
    open_player(page, server, "/", "?lang=en&output=128")
    return page


def now(page: Page) -> float:
    """Give the moment at which the line of the clock stands."""
    return figure_values(page, "timeline")[11]["x"][0]


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def test_first_play_runs_from_the_start_to_the_end(request_page: Page) -> None:
    table = table_of(request_page, "one-request")
    last = table["sliders"]["time"]["stops"][-1]
    press(request_page, "Play")
    request_page.wait_for_timeout(150)
    assert now(request_page) < last / 2
    request_page.wait_for_selector(".player-play[aria-pressed=false]")
    request_page.wait_for_timeout(600)
    assert now(request_page) == pytest.approx(last, rel=1e-4)
    shown = request_page.locator(".player-stream").inner_text()
    assert shown.startswith("A language model answers in two phases.")


def test_each_step_shows_the_next_moment_of_the_table(request_page: Page) -> None:
    table = table_of(request_page, "one-request")
    line = table["rows"]["time"]["f/timeline/11/x"]
    for index in range(12):
        press(request_page, "Step")
        request_page.wait_for_timeout(300)
        assert figure_values(request_page, "timeline")[11]["x"] == value_at(line, index)


def test_a_slower_clock_is_slower(request_page: Page) -> None:
    request_page.get_by_label("Speed").select_option("0.1")
    press(request_page, "Play")
    request_page.wait_for_timeout(700)
    press(request_page, "Pause")
    assert 0 < now(request_page) < 0.2


def test_play_with_reduced_motion_moves_too(new_page, server: str) -> None:
    page = new_page(reduced_motion="reduce")
    open_player(page, server, "/", "?lang=en&output=16")
    press(page, "Play")
    page.wait_for_timeout(1300)
    assert now(page) > 0
    page.wait_for_selector(".player-play[aria-pressed=false]", timeout=30_000)
