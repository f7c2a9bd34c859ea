"""A pinned scenario stays as a ghost on the figures, in a table, and in the URL."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser.player_page import (
    PAGES,
    figure_values,
    open_player,
    place,
    release_at,
    slide_input,
    table_of,
    value_at,
    wait_for_rest,
)

PINNED = ".player[data-pinned]"
REPORTED_MS = 1500  # until Python knows what the URL says


def ghosts(page: Page, figure: str) -> list[dict]:
    return [
        trace
        for trace in figure_values(page, figure)
        if str(trace.get("meta", "")).startswith("player-ghost")
    ]


def pin(page: Page) -> None:
    page.get_by_role("button", name="Pin to compare").click()
    page.wait_for_selector(PINNED)


def pin_in_url(page: Page) -> list[str] | None:
    return parse_qs(urlsplit(page.url).query).get("pin")


def test_the_ghost_stays_while_the_sliders_move(page: Page, server: str) -> None:
    open_player(page, server, query="?lang=en")
    table = table_of(page)
    pin(page)
    index = table["sliders"]["batch"]["index"]
    pinned = [
        {
            axis: value_at(table["rows"]["batch"][f"f/roofline/{trace}/{axis}"], index)
            for axis in "xy"
        }
        for trace in (5, 6)  # the dots of both phases
    ]
    for move in (slide_input, release_at):
        move(page, "batch", 8)
        wait_for_rest(page)
        shown = [{axis: trace[axis] for axis in "xy"} for trace in ghosts(page, "roofline")]
        assert all(dot in shown for dot in pinned)
        assert figure_values(page, "roofline")[6]["x"] != pinned[1]["x"]
    expect(page.locator(".player-legend")).to_contain_text("Batch 1\xa0sequence")
    row = page.locator(".player-compared tr", has_text="TPOT")
    expect(row.locator("td").first).to_have_text("4.57\xa0ms")
    expect(row.locator("td").last).not_to_have_text("1.00×")


@pytest.mark.parametrize("name", PAGES)
def test_every_figure_of_every_page_takes_a_ghost(page: Page, server: str, name: str) -> None:
    query = "?lang=en&pin=batch%3D4%26bandwidth%3D2000%26prompt%3D64"
    open_player(page, server, PAGES[name], query)
    page.wait_for_selector(PINNED)
    figures = page.eval_on_selector_all(
        ".player-figure", "figures => figures.map((figure) => figure.dataset.figure)"
    )
    haunted = [figure for figure in figures if ghosts(page, figure)]
    # Measurements beside the figures do not hang on the scenario.
    assert haunted
    assert haunted[0] == figures[0]
    assert page.locator(".player-ghost").count() >= len(haunted)


def test_the_link_restores_the_pin_and_unpin_takes_it_away(page: Page, server: str) -> None:
    open_player(page, server, query="?lang=en")
    pin(page)
    release_at(page, "batch", int(place(page, "batch")) + 5)
    page.wait_for_timeout(REPORTED_MS)
    assert pin_in_url(page) == ["default"]
    page.reload()
    page.wait_for_selector(PINNED)
    assert ghosts(page, "roofline")
    # On the next page as well.
    page.locator('a[href*="kv-cache"]').first.click()
    page.wait_for_selector(f'{PINNED} [data-figure="growth"]')
    page.get_by_role("button", name="Unpin").click()
    expect(page.locator(PINNED)).to_have_count(0)
    assert ghosts(page, "growth") == []
    page.wait_for_timeout(REPORTED_MS)
    assert pin_in_url(page) is None
    page.reload()
    page.wait_for_selector(".player[data-extras]")
    wait_for_rest(page)
    expect(page.locator(".player-legend")).to_have_count(0)


def test_swap_goes_to_the_pinned_scenario_and_back(page: Page, server: str) -> None:
    open_player(page, server, query="?lang=en&chip=h200-sxm&batch=16&pin=default")
    page.wait_for_selector(PINNED)
    legend = page.locator(".player-legend")
    expect(legend).to_contain_text("Chip H100 SXM 80GB · Batch 1\xa0sequence")
    page.get_by_role("button", name="Swap").click()
    expect(legend).to_contain_text("Chip H200 SXM · Batch 16\xa0sequences")
    page.wait_for_timeout(REPORTED_MS)
    query = parse_qs(urlsplit(page.url).query)
    assert query == {"lang": ["en"], "pin": ["chip=h200-sxm&batch=16"]}
    # The sidebar follows.
    chip = page.locator(".st-key-pick_chip input").first
    expect(chip).to_have_value("H100 SXM 80GB · 989\xa0TFLOP/s · 3.35\xa0TB/s")
    page.get_by_role("button", name="Swap").click()
    expect(legend).to_contain_text("Chip H100 SXM 80GB · Batch 1\xa0sequence")
    page.wait_for_timeout(REPORTED_MS)
    assert parse_qs(urlsplit(page.url).query)["chip"] == ["h200-sxm"]


def test_a_bad_pin_is_said_and_left_out(page: Page, server: str) -> None:
    open_player(page, server, query="?lang=it&pin=hello")
    expect(page.locator("p.notice")).to_contain_text("pin = “hello”")
    expect(page.locator(".player-legend")).to_have_count(0)
