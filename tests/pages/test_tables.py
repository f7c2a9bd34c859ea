"""What the tables of the pages say is what physics says, and all pages say the same."""

from __future__ import annotations

import re

import numpy as np
import pytest

from pages.menu import VIEWS
from pages.shared.house import house
from pages.shared.language import LANGUAGES
from pages.shared.player.table import build_table
from pages.shared.player.view import has_player
from physics.catalogue import model
from physics.kv_cache import kv_bytes_per_sequence
from physics.predict import parse_question, predict
from tests.browser.player_page import value_at

HOUSE = house(view for view in VIEWS if has_player(view))
SCENARIOS = [
    {},
    {"model": "mixtral-8x7b", "tp": "2", "batch": "16", "efficiency": "typical"},
    {"model": "deepseek-v3", "chip": "h200-sxm", "tp": "16", "batch": "64", "weights": "fp8"},
    {"model": "nemotron-3-nano-30b-a3b", "prompt": "8192", "kv": "fp8"},
    {"model": "llama-3.1-70b", "chip": "b200-sxm", "bandwidth": "4000", "flops": "1500"},
    {"model": "gpt-oss-120b", "output": "1"},
]


def table_of(name: str, query: dict[str, str], language: str = "en") -> dict:
    scenario, words = HOUSE.parse({**query, "lang": language})
    return build_table(
        HOUSE.views[name],
        scenario,
        words,
        stops=HOUSE.stops,
        points=HOUSE.points,
        query=HOUSE.query(scenario, words),
    )


def at(table: dict, slider: str, index: int, channel: str):
    return value_at(table["rows"][slider][channel], index)


def predicted(query: dict[str, str], table: dict, slider: str, index: int) -> dict:
    """Ask physics for the scenario in which one slider stands at a stop."""
    value = table["sliders"][slider]["stops"][index]
    return predict(parse_question({**query, slider: f"{value:.12g}"}))


def some_stops(table: dict, slider: str) -> list[int]:
    last = len(table["sliders"][slider]["stops"]) - 1
    return sorted({0, last // 2, last})


@pytest.mark.parametrize("query", SCENARIOS, ids=str)
@pytest.mark.parametrize("slider", ["prompt", "batch", "bandwidth", "flops"])
def test_dots_of_the_roofline(query, slider):
    table = table_of("roofline", query)
    for index in some_stops(table, slider):
        answer = predicted(query, table, slider, index)
        for trace, phase in ((5, "prefill"), (6, "decode")):
            assert at(table, slider, index, f"f/roofline/{trace}/x") == pytest.approx(
                [answer[phase]["intensity"]], rel=1e-4
            )
            if answer["fits"]:
                reached = answer[phase]["flop"] / answer[phase]["seconds_sum"] / answer["tp"]
                assert at(table, slider, index, f"f/roofline/{trace}/y") == pytest.approx(
                    [reached / 1e12], rel=1e-4
                )


@pytest.mark.parametrize("query", SCENARIOS, ids=str)
@pytest.mark.parametrize("slider", ["prompt", "output", "batch"])
def test_what_fills_the_memory(query, slider):
    table = table_of("kv-cache", query)
    for index in some_stops(table, slider):
        answer = predicted(query, table, slider, index)
        heights = [at(table, slider, index, f"f/memory/{trace}/y")[0] for trace in range(3)]
        assert heights[0] == pytest.approx(answer["weight_bytes_all_chips"] / 1e9, rel=1e-4)
        assert sum(heights[1:]) == pytest.approx(answer["kv_bytes_all_chips"] / 1e9, rel=1e-4)


@pytest.mark.parametrize("query", SCENARIOS, ids=str)
def test_intensity_at_the_scenarios_batch(query):
    table = table_of("decode-shift", query)
    for index in some_stops(table, "batch"):
        answer = predicted(query, table, "batch", index)
        assert at(table, "batch", index, "f/shift/5/y")[2] == pytest.approx(
            answer["decode"]["intensity"], rel=1e-4
        )
        assert at(table, "batch", index, "f/shift/0/y")[0] == pytest.approx(
            answer["ridge_flop_per_byte"], rel=1e-4
        )


@pytest.mark.parametrize("query", SCENARIOS, ids=str)
def test_brackets_of_the_timeline(query):
    table = table_of("one-request", query)
    for index in some_stops(table, "prompt"):
        answer = predicted(query, table, "prompt", index)
        ends = [at(table, "prompt", index, f"f/timeline/{trace}/x") for trace in (3, 5)]
        if not answer["fits"]:
            assert ends == [[None, None], [None, None]]
            continue
        assert ends[0] == pytest.approx([0, answer["ttft_s"]], rel=1e-4)
        assert ends[1] == pytest.approx([0, answer["e2e_s"]], rel=1e-4)


def test_growth_bends_where_windows_fill():
    """gpt-oss-120b: half of its layers stop growing at 128 tokens."""
    table = table_of("kv-cache", {"model": "gpt-oss-120b"})
    line = np.array(at(table, "batch", 0, "f/growth/5/y")) * 1e9
    tokens = np.array(at(table, "batch", 0, "f/growth/5/x"))
    assert line == pytest.approx(kv_bytes_per_sequence(model("gpt-oss-120b"), tokens), rel=1e-3)
    growth = np.diff(line) / np.diff(tokens)
    assert growth == pytest.approx(np.full(len(growth), 36_864), rel=1e-2)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("query", SCENARIOS, ids=str)
def test_no_text_is_unfinished(query, language):
    for name in HOUSE.views:
        table = table_of(name, query, language)
        for slider, rows in table["rows"].items():
            for channel in rows:
                if channel.startswith("t/"):
                    for index in some_stops(table, slider):
                        text = at(table, slider, index, channel)
                        text = text if isinstance(text, str) else "".join(text)
                        assert not re.search(r"\{|\}|\bnan\b|\binf\b|None", text), (channel, text)


@pytest.mark.parametrize("query", SCENARIOS, ids=str)
def test_pages_agree_on_what_does_not_fit(query):
    fits = predict(parse_question(query))["fits"]
    for name in HOUSE.views:
        table = table_of(name, query)
        slider = next(iter(table["sliders"]))
        sentence = at(table, slider, table["sliders"][slider]["index"], "t/sentence")
        assert ("Does not fit" in sentence) == (not fits)


def test_memory_never_ends_at_batch_zero():
    """A model too large for the chip has no batch at all, in no text."""
    query = {"model": "llama-3.1-70b"}
    for name in HOUSE.views:
        table = table_of(name, query)
        slider = next(iter(table["sliders"]))
        for channel in table["rows"][slider]:
            if channel.startswith("t/"):
                text = at(table, slider, table["sliders"][slider]["index"], channel)
                assert not re.search(r"batch (<b>)?0\b", "".join(text)), channel
