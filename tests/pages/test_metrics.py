"""The page on metrics: what it says and draws is what the requests did."""

from __future__ import annotations

import re

import numpy as np
import pytest

from pages import metrics
from pages.shared.figures import requests
from pages.shared.language import words
from pages.shared.metrics_words import CONFUSED, DEFINED
from pages.shared.player.view import Section
from physics.catalogue import model
from physics.chips import chip
from physics.machine import machine
from physics.metrics import time_per_output_token
from physics.request import request
from physics.schedule import Schedule, schedule, staggered
from tests.pages.test_tables import HOUSE, at, table_of

QUERY = {"prompt": "8192", "batch": "2"}
ARCHITECTURE, H100 = model("llama-3.1-8b"), machine(chip("h100-sxm"))


def served(prompt: int = 8192, batch: int = 2, output: int = 256, on=H100) -> Schedule:
    load = {"prompt": [prompt], "output": output, "batch": batch}
    alone = request(ARCHITECTURE, H100, **load)
    arrival = staggered(alone.e2e_seconds, alone.ttft_seconds)
    return schedule(ARCHITECTURE, on, arrival=arrival, **load)


def said(text: str) -> list[float]:
    """Read the numbers of an English text, times in seconds."""
    scales = {"µs": 1e-6, "ms": 1e-3, "%": 1e-2, "TB": 1e12, "TFLOP": 1e12, "PFLOP": 1e15}
    found = re.findall(r"([\d,]*\.?\d+)(?:\xa0?(µs|ms|%|TB|TFLOP|PFLOP))?", text)
    return [float(number.replace(",", "")) * scales.get(unit, 1.0) for number, unit in found]


@pytest.fixture(scope="module")
def table() -> dict:
    return table_of("metrics", QUERY)


def here(table: dict, channel: str):
    return at(table, "prompt", table["sliders"]["prompt"]["index"], channel)


def test_live_numbers_of_the_definitions(table):
    found = served()
    ttft, tpot, e2e = (
        getattr(found, name)[:, 0] for name in ("ttft_seconds", "tpot_seconds", "e2e_seconds")
    )
    p50, p99, longest = found.gap_quantiles([0.5, 0.99, 1.0])[:, 0]
    expected = {
        "queue": found.queue_seconds[requests.TTFT, 0],
        "prefill": float(request(ARCHITECTURE, H100, prompt=8192, output=2, batch=2).ttft_seconds),
        "ttft": ttft[requests.TTFT],
        "p50": p50,
        "p99": p99,
        "longest": longest,
        "tpot": tpot[requests.TPOT],
        "e2e": e2e[requests.E2E],
        "user": 1 / tpot[requests.SPEED],
        "system": 5 * 2 * 256 / found.span_seconds[0],
        "mfu": found.mean_mfu[0],
        "mbu": found.mean_mbu[0],
        "all_tokens": 5 * 2 * (8192 + 256) / found.span_seconds[0],
        "e2e_wrong": e2e[requests.E2E] + tpot[requests.E2E],
        "thought": ttft[requests.E2E] + 128 * tpot[requests.E2E],
        "system_gap": found.span_seconds[0] / (5 * 2 * 256),
    }
    for name, value in expected.items():
        assert said(here(table, f"t/v_{name}")) == [pytest.approx(value, rel=0.006)], name
    assert expected["tpot"] == pytest.approx(
        float(
            time_per_output_token(
                e2e_seconds=e2e[requests.TPOT], ttft_seconds=ttft[requests.TPOT], output_tokens=256
            )
        )
    )
    assert expected["ttft"] == pytest.approx(expected["queue"] + expected["prefill"])


PIXEL = 0.001
"""Times are drawn to a thousandth of the axis."""


def test_brackets_stand_where_the_metrics_are_measured(table):
    found = served()
    end = float(requests.axis_end(found)[0])
    stall = [moment[requests.ITL, 0] for moment in found.longest_gap]
    writing = [
        [found.first_token[which, 0], found.finish[which, 0]]
        for which in (requests.TPOT, requests.SPEED)
    ]
    whole = [found.arrival[requests.E2E, 0], found.finish[requests.E2E, 0]]
    first = [found.arrival[requests.TTFT, 0], found.first_token[requests.TTFT, 0]]
    for trace, brackets in ((5, [stall, *writing]), (6, [whole]), (7, [first])):
        drawn = np.array(here(table, f"f/requests/{trace}/x"), dtype=float).reshape(-1, 3)[:, :2]
        assert drawn * end == pytest.approx(np.array(brackets), abs=end * PIXEL)


def test_the_area_of_the_rate_is_all_tokens_after_the_first(table):
    found = served()
    x, y = (np.array(here(table, f"f/requests/10/{axis}"), dtype=float) for axis in "xy")
    place, text = here(table, "f/requests/13/y")[1], here(table, "f/requests/13/text")[1]
    per_height = float(text.strip().replace(",", "")) / place
    seconds = x * float(requests.axis_end(found)[0])
    assert (np.diff(seconds) * y[:-1] * per_height).sum() == pytest.approx(5 * 2 * 255, rel=0.02)


def test_values_of_the_time_axis_stand_where_they_belong(table):
    end = float(requests.axis_end(served())[0])
    places, texts = (here(table, f"f/requests/17/{part}") for part in ("x", "text"))
    values = [(place, text) for place, text in zip(places, texts, strict=True) if text]
    assert len(values) >= 3
    for place, text in values:
        assert place * end == pytest.approx(float(text.strip()), abs=end * PIXEL)


def test_ticks_are_moments_at_which_a_request_gets_a_token(table):
    found = served()
    end = float(requests.axis_end(found)[0])
    moments = found.token_moments(np.arange(1, 257)[:, None])[..., 0]
    ticks = np.array(here(table, "f/requests/4/x"), dtype=float).reshape(requests.COUNT, -1)
    for row, own in zip(ticks * end, moments, strict=True):
        drawn = row[np.isfinite(row)]
        assert len(drawn) >= 3
        assert np.abs(drawn[:, None] - own).min(axis=1).max() <= end * PIXEL


@pytest.mark.parametrize(
    ("query", "verdict"),
    [({}, "in time"), ({"prompt": "32768"}, "late: TTFT"), ({"bandwidth": "200"}, "late: TPOT")],
)
def test_requests_that_miss_a_target_are_marked(query, verdict):
    table = table_of("metrics", query)
    marks = [text.strip() for text in here(table, "f/requests/9/text")]
    assert verdict in marks
    met, _ = said(here(table, "t/goodput").split("<small>")[1])
    assert met == marks.count("in time")


def test_sliders_of_the_chip_leave_the_traffic_alone():
    table = table_of("metrics", {})
    last = len(table["sliders"]["bandwidth"]["stops"]) - 1
    slow, fast = (
        np.array(at(table, "bandwidth", index, "f/requests/1/x"), dtype=float)
        for index in (last // 2, last)
    )
    # The axes differ, the arrivals do not.
    assert slow[1:] / slow[-1] == pytest.approx(fast[1:] / fast[-1], abs=0.01)
    assert slow[-1] != fast[-1]


def test_what_memory_does_not_hold_waits():
    table = table_of("metrics", {"batch": "100"})
    said_room = re.fullmatch(r"Memory holds (\d) of the five.*", here(table, "t/v_room_text"))
    room = int(said_room.group(1))
    assert 1 <= room < requests.COUNT
    arrival, read = here(table, "f/requests/1/x"), here(table, "f/requests/2/x")
    finish = here(table, "f/requests/9/x")
    # The next one is read when the first is done.
    assert read[3 * room] >= finish[0] > arrival[room]


def test_nobody_waits_where_memory_holds_all():
    assert here(table_of("metrics", {}), "t/v_room_text") == "Memory holds all five at once."


def test_a_stall_is_said_only_where_a_prefill_falls_into_an_answer():
    assert "somebody else’s prefill stretches" in here(table_of("metrics", {}), "t/sentence")
    table = table_of("metrics", {"batch": "200"})  # memory holds one group at a time
    for slot in ("sentence", "takeaway"):
        text = here(table, f"t/{slot}")
        assert "no prefill falls into another’s answer" in text
        assert f"no gap is longer than <b>{here(table, 't/v_longest')}</b>" in text


@pytest.mark.parametrize("slot", ["itl", "user", "system"])
def test_a_single_token_has_no_gap_and_no_speed(slot):
    text = here(table_of("metrics", {"output": "1"}), f"t/{slot}")
    assert text.endswith(
        "first tokens only</small>" if slot == "system" else "no decode step</small>"
    )
    assert text.count("—") == (slot != "system")


def test_the_clock_says_what_the_machine_does():
    scenario, language = HOUSE.parse({"prompt": "16384", "lang": "en"})
    timeline = metrics.VIEW.timeline(scenario, language)
    found = served(16384, 1)
    middle = float((found.prefill_start[2, 0] + found.first_token[2, 0]) / 2)
    index = int(np.searchsorted(timeline.seconds, middle, side="right")) - 1
    assert (
        "reading C’s prompt; no token meanwhile for A, B" in timeline.columns["t/sentence"][index]
    )
    late = int(np.searchsorted(timeline.seconds, float(found.first_token[4, 0]) * 1.1))
    assert "A, B, C, D, E decode together" in timeline.columns["t/sentence"][late]
    table = table_of("metrics", {"prompt": "16384"})
    assert timeline.columns["t/sentence"][-1] == here(table, "t/sentence")


@pytest.mark.parametrize("language", ["en", "it"])
def test_every_number_of_the_tables_has_its_slot(language):
    scenario, _ = HOUSE.parse({})
    table = table_of("metrics", {}, language)
    sections = metrics.VIEW.describe(scenario, words(language)).sections
    html = " ".join(section.html for section in sections if isinstance(section, Section))
    slots = set(re.findall(r'data-slot="(\w+)"', html))
    assert slots == {c[2:] for c in table["rows"]["batch"] if c.startswith("t/v_")}
    assert "{" not in html
    assert html.count("<tr>") == 2 + len(DEFINED) + len(CONFUSED)


def test_what_does_not_fit_gets_no_time():
    table = table_of("metrics", {"model": "llama-3.1-70b"})
    for name in ("ttft", "tpot", "e2e", "system", "goodput", "met", "mfu", "thought"):
        assert here(table, f"t/v_{name}") == "—", name
    assert here(table, "t/v_room_text") == "Memory does not hold even one of them."
    for trace in range(5):
        assert set(here(table, f"f/requests/{trace}/x")) == {None}
