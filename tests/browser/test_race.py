"""Two chips on the same request, from Play to the last token."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from physics.predict import parse_question, predict
from tests.browser.player_page import (
    SETTLE_MS,
    figure_values,
    open_player,
    slide_input,
    table_of,
    value_at,
)

PREFILL, DECODE, NAMES = 4, 5, 8


@pytest.fixture
def hardware(page: Page, server: str) -> Page:
    open_player(page, server, "/hardware", "?lang=en")
    return page


def lengths(page: Page, trace: int) -> list[float]:
    return figure_values(page, "race")[trace]["x"]


def test_play_lets_both_write_and_ends_where_the_page_rests(hardware: Page) -> None:
    rest = [lengths(hardware, trace) for trace in (PREFILL, DECODE)]
    hardware.get_by_label("Speed").select_option("0.1")
    hardware.get_by_role("button", name="Play", exact=True).click()
    hardware.wait_for_timeout(900)
    texts = figure_values(hardware, "race")[NAMES]["text"]
    # H100 writes after 30 ms, H20 still reads for 200 ms; the clock runs at a tenth.
    assert "of 256" in texts[0]
    assert "reading" in texts[1]
    hardware.get_by_role("button", name="Pause", exact=True).click()
    hardware.get_by_label("Speed").select_option("10")
    hardware.get_by_role("button", name="Play", exact=True).click()
    hardware.wait_for_selector(".player-play[aria-pressed=false]")
    hardware.wait_for_timeout(600)
    assert [lengths(hardware, trace) for trace in (PREFILL, DECODE)] == [
        pytest.approx(values, rel=1e-4) for values in rest
    ]


@pytest.mark.parametrize("slider", ["prompt", "bandwidth", "flops"])
def test_a_dragged_slider_moves_the_lane_as_physics_says(hardware: Page, slider: str) -> None:
    stops = table_of(hardware, "hardware")["sliders"][slider]["stops"]
    for index in (2, len(stops) // 2):
        slide_input(hardware, slider, index)
        hardware.wait_for_timeout(SETTLE_MS)
        answer = predict(parse_question({slider: f"{stops[index]:.12g}"}))
        ends = [lengths(hardware, PREFILL)[0], lengths(hardware, DECODE)[0]]
        assert ends[0] == pytest.approx(answer["ttft_s"], rel=1e-4)
        assert sum(ends) == pytest.approx(answer["e2e_s"], rel=1e-4)


def test_each_step_of_the_clock_is_a_stop_of_the_table(hardware: Page) -> None:
    column = table_of(hardware, "hardware")["rows"]["time"][f"f/race/{DECODE}/x"]
    for index in range(6):
        hardware.get_by_role("button", name="Step", exact=True).click()
        hardware.wait_for_timeout(300)
        assert lengths(hardware, DECODE) == value_at(column, index)
