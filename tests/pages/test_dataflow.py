"""The page on dataflow: what it draws and says is what physics says."""

from __future__ import annotations

import gzip
import json
import re

import numpy as np
import pytest

from pages.dataflow import VIEW
from pages.menu import VIEWS
from pages.shared.figures import flow, utilisation
from pages.shared.flowing import Flowing
from pages.shared.house import house
from pages.shared.language import LANGUAGES, Words
from pages.shared.memory_words import mechanism
from pages.shared.points import points_from
from pages.shared.scenario import Scenario
from physics.catalogue import model
from physics.chips import chip
from physics.dataflow import LANES, run
from physics.machine import machine
from tests.pages.test_tables import SCENARIOS, at, some_stops, table_of

KB = 1000
FITTING = [{}, {"model": "mixtral-8x7b", "tp": "2", "batch": "16", "efficiency": "typical"},
           {"model": "deepseek-v3", "chip": "h200-sxm", "tp": "16", "weights": "fp8"}]


def scenario_of(query: dict[str, str]) -> Scenario:
    return house(VIEWS).parse(query)[0]


def stop_of(table: dict, slider: str, value: float) -> int:
    return int(np.argmin(np.abs(np.array(table["sliders"][slider]["stops"]) - value)))


@pytest.mark.parametrize("query", FITTING, ids=str)
@pytest.mark.parametrize("slider", ["batch", "prompt", "bandwidth"])
def test_bars_end_where_the_lanes_end(query, slider):
    table = table_of("dataflow", query)
    for index in some_stops(table, slider):
        value = table["sliders"][slider]["stops"][index]
        flowing = Flowing(points_from(scenario_of(query), {slider: np.array([value])}))
        if not flowing.case.fits[0]:
            continue
        lanes = [flowing.lanes[LANES.index(name)] for name in flow.SHOWN]
        axis = at(table, slider, index, "l/flow/xaxis.range")[1]
        still = at(table, slider, index, "f/flow/0/x")
        assert still == pytest.approx([lane.seconds[0] * 1e6 for lane in lanes], abs=2e-3 * axis)
        # What the memory moves, of all three kinds, together.
        moved = sum(np.sum(at(table, slider, index, f"f/flow/{trace}/x")) for trace in (1, 2, 3))
        expected = sum(lane.memory_seconds.sum() for lane in lanes) * 1e6
        assert moved == pytest.approx(expected, abs=2e-2 * axis)
        ends = [
            start + length
            for trace in range(1, 5)
            for start, length in zip(at(table, slider, index, f"f/flow/{trace}/base"),
                                     at(table, slider, index, f"f/flow/{trace}/x"), strict=True)
        ]
        assert max(ends) <= max(still) + 2e-3 * axis


@pytest.mark.parametrize("query", FITTING, ids=str)
def test_lines_of_utilisation(query):
    """At the scenario's point, each knot is a step of its own."""
    table, scenario = table_of("dataflow", query), scenario_of(query)
    index = table["sliders"]["batch"]["index"]
    one = Flowing(points_from(scenario, {}))
    on = machine(chip(scenario.chip), weights=scenario.weights, tp=scenario.tp,
                 efficiency=scenario.efficiency, architecture=model(scenario.model))
    step = run(model(scenario.model), on, batch=utilisation.BATCHES, new_tokens=1,
               cached_tokens=float(one.case.context[0]), weights=scenario.weights,
               kv=scenario.kv, absorbed=True, on_chip=50e6)
    for row in range(len(LANES)):
        drawn = at(table, "batch", index, f"f/utilisation/{row + 1}/y")
        shown = [value is not None for value in drawn]
        assert any(shown)
        assert [value for value in drawn if value is not None] == pytest.approx(
            100 * step.mbu[row][shown], abs=0.06
        )


def test_words_at_the_first_sight():
    """Llama 3.1 8B on an H100: 11 launches of 2.1 µs beside 133 µs of reading."""
    table = table_of("dataflow", {})
    index = table["sliders"]["batch"]["index"]
    text = re.sub(r"<[^>]*>|\s", " ", at(table, "batch", index, "t/sentence"))
    assert "the 11 kernels of one Llama 3.1 8B layer take  156 µs" in text
    assert "23.1 µs of it (15%)" in text
    assert "436 MB of weights" in text
    step = run(model("llama-3.1-8b"), machine(chip("h100-sxm")), batch=1, new_tokens=1,
               cached_tokens=2048 + 127, on_chip=50e6)
    gain = at(table, "batch", index, "t/gain").partition("<")[0]
    assert float(gain.rstrip("×")) == pytest.approx(step.seconds[0] / step.seconds[3], abs=5e-3)
    speeds = [at(table, "batch", index, f"t/{lane}") for lane in ("kernels", "graph", "streamed")]
    assert [int(text.partition("\xa0")[0]) for text in speeds] == [
        round(1 / step.seconds[row]) for row in (0, 1, 3)
    ]


def test_published_speeds_are_split_as_computed_by_hand():
    """16 x 1.6 TB/s against 8 x 2.039 TB/s, and 61.1 % of them used against 26.6 %."""
    text = re.sub(r"<[^>]*>", "", mechanism(Words("en"))).replace("\xa0", " ")
    assert "Their HBM would allow 1,706 tokens/s, so they use 61% of it" in text
    assert "use 27%" in text
    assert "1.6× is more bandwidth (25.6 TB/s against 16.3 TB/s), 2.3× is better use" in text
    assert "at least 2.5 and 4.1 tokens" in text
    assert pytest.approx(1.57, abs=5e-3) == 25.6 / (8 * 2.039)


def test_chips_that_hold_the_load_grow_with_the_batch():
    table = table_of("dataflow", {})

    def chips_of(batch: int, memory: str) -> int:
        text = at(table, "batch", stop_of(table, "batch", batch), "t/tiers")
        row = next(row for row in text.split("<tr>") if memory in row)
        return int(re.findall(r"<td>([^<]*)</td>", row)[-1].replace(",", ""))

    # 16.06 GB and 2,304 tokens of 131,072 B for each sequence, in 230 MB.
    for batch in (1, 64):
        size = 16.06e9 + batch * 2304 * 131_072
        assert chips_of(batch, "Groq LPU") == pytest.approx(np.ceil(size / 0.23e9), abs=1)
    assert chips_of(1, "H100 SXM 80GB HBM3") == 1


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_does_not_fit_has_no_time_and_no_share(language):
    table = table_of("dataflow", {"model": "llama-3.1-70b"}, language)
    index = table["sliders"]["batch"]["index"]
    for trace in range(5):
        assert set(at(table, "batch", index, f"f/flow/{trace}/x")) == {None}
    assert set(at(table, "batch", index, "f/utilisation/5/y")) == {None}
    said = [at(table, "batch", index, f"t/{slot}") for slot in ("sentence", "formula", "takeaway")]
    assert all("µs" not in text and " ms" not in text for text in said)
    assert at(table, "batch", index, "t/kernels") == Words(language)("misfit.short")


@pytest.mark.parametrize("query", SCENARIOS, ids=str)
def test_rows_of_decode_and_prefill_are_the_same_kernels_but_for_latent_attention(query):
    """The traffic figure draws both in the rows that decode names."""
    one = Flowing(points_from(scenario_of(query), {}))
    decode, prefill = one.decode_layer.names, one.prefill_layer.names
    assert len(decode) == len(prefill)
    assert {(a, b) for a, b in zip(decode, prefill, strict=True) if a != b} <= {
        ("absorb", "rope"), ("rope", "kv_up"), ("absorb", "kv_up"),
    }


@pytest.mark.parametrize("query", SCENARIOS, ids=str)
def test_table_stays_small(query):
    table = table_of("dataflow", query)
    packed = gzip.compress(json.dumps(table, separators=(",", ":")).encode(), 6)
    assert len(packed) < 60 * KB


def test_faster_memory_is_praised_only_where_memory_binds():
    slot, claim = "t/takeaway", "the rest takes faster memory"
    table = table_of("dataflow", {})
    assert claim in at(table, "batch", 0, slot)
    table = table_of("dataflow", {"model": "gpt2", "prompt": "1", "output": "2", "batch": "4096"})
    text = at(table, "batch", table["sliders"]["batch"]["index"], slot)
    assert claim not in text
    flowing = Flowing(points_from(scenario_of({"model": "gpt2", "batch": "4096", "prompt": "1",
                                               "output": "2"}), {}))
    streamed = flowing.step.seconds[3] / flowing.with_twice_the_bandwidth.seconds[3]
    assert f"{streamed[0]:.2f}× as fast when streamed" in text


def test_next_pages_exist():
    names = {view.name for view in VIEWS}
    assert set(VIEW.next) <= names


def test_a_bound_stands_beside_the_published_speed():
    """A wafer's SRAM allows hundreds of thousands of tokens a second; 1,800 are published."""
    table = table_of("dataflow", {"chip": "wse-3"})
    index = table["sliders"]["batch"]["index"]
    text = at(table, "batch", index, "t/sentence").replace("\xa0", " ")
    assert "published for 1 × Cerebras WSE-3 are 1,800 tokens/s" in text
    assert "published" not in at(table_of("dataflow", {}), "batch", 0, "t/sentence")
    labels = at(table, "batch", index, "f/utilisation/6/y")
    assert all(0 <= height <= 105 for height in labels)
    assert np.diff(sorted(labels)).min() > 4
