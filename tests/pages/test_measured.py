"""What the pages show of measured kernels: theirs alone, where they were measured, and sourced."""

from __future__ import annotations

import csv
import re

import numpy as np
import pytest

from pages.shared.language import LANGUAGES, words
from pages.shared.measured import measured
from pages.shared.scenario import Scenario
from physics.chips import chip
from physics.measured_kernels import FILE, gemm_ridge, measured_chips
from tests.pages.test_tables import HOUSE, at, some_stops, table_of

with FILE.open(newline="", encoding="utf-8") as file:
    ROWS = list(csv.DictReader(file))
FIRST = 13
"""Traces of the roofline before the measured ones."""
NOWHERE = "mi300x"


def figures(name: str, query: dict[str, str], language: str = "en") -> dict[str, dict]:
    scenario, _ = HOUSE.parse(query)
    described = HOUSE.views[name].describe(scenario, words(language))
    return {figure.name: figure.spec for figure in described.figures}


def kept(table: dict, slider: str, channel: str) -> list:
    """Return a channel's value, which no stop of the slider may change."""
    values = [at(table, slider, index, channel) for index in some_stops(table, slider)]
    assert all(value == values[0] for value in values)
    return values[0]


@pytest.mark.parametrize("slug", [*measured_chips(), NOWHERE])
@pytest.mark.parametrize("name", ["roofline", "decode-shift"])
def test_every_trace_has_its_numbers(name, slug):
    table = table_of(name, {"chip": slug})
    for figure, spec in figures(name, {"chip": slug}).items():
        channels = {
            int(channel.split("/")[2])
            for channel in table["rows"]["batch"]
            if channel.startswith(f"f/{figure}/")
        }
        assert channels == set(range(len(spec["data"])))


@pytest.mark.parametrize("slug", measured_chips())
def test_marks_of_the_roofline_are_rows_of_the_file(slug):
    table = table_of("roofline", {"chip": slug})
    times = {(row["operation"], float(row["latency_us"])) for row in ROWS if row["chip"] == slug}
    for trace, one in enumerate(measured(Scenario(chip=slug)).all, FIRST):
        x, y = (kept(table, "batch", f"f/roofline/{trace}/{axis}") for axis in "xy")
        assert len(x) >= 4
        shown = np.log2(one.rows) % 1 == 0
        seconds = one.flop[shown] / (np.array(y) * 1e12)
        assert x == pytest.approx((one.flop / one.bytes)[shown], rel=1e-4)
        assert y == pytest.approx(one.flop[shown] / one.seconds[shown] / 1e12, rel=1e-4)
        for second in seconds:
            assert any(
                operation == one.operation and micro * 1e-6 == pytest.approx(second, rel=1e-4)
                for operation, micro in times
            )
        # Under the roof: that of the chip, bf16 as the scenario has it.
        roof = np.minimum(chip(slug).bf16_flop_per_second, np.array(x) * chip(slug).bandwidth)
        assert (np.array(y) * 1e12 <= roof * (1 + 1e-4)).all()


def test_marks_stay_the_real_chips_and_the_page_says_so():
    for name in ("roofline", "decode-shift"):
        table = table_of(name, {"chip": "h200-sxm"})
        own = table["sliders"]["bandwidth"]["index"]
        for index in some_stops(table, "bandwidth"):
            text = at(table, "bandwidth", index, "t/measured")
            assert ("imagined" in text) == (index != own)
    for axis in "xy":
        kept(table_of("roofline", {}), "bandwidth", f"f/roofline/{FIRST}/{axis}")
        kept(table_of("decode-shift", {}), "bandwidth", f"f/product/3/{axis}")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", ["roofline", "decode-shift"])
def test_chip_without_kernels_shows_none_and_says_it(name, language):
    assert "product" not in figures(name, {"chip": NOWHERE})
    table = table_of(name, {"chip": NOWHERE}, language)
    assert f"f/roofline/{FIRST}/x" not in table["rows"]["batch"]
    text = kept(table, "batch", "t/measured")
    assert "MI300X" in text
    for slug in measured_chips():
        assert chip(slug).name in text


@pytest.mark.parametrize("slug", measured_chips())
@pytest.mark.parametrize("name", ["roofline", "decode-shift"])
def test_source_is_named_with_a_link_and_a_date(name, slug):
    text = kept(table_of(name, {"chip": slug}), "prompt", "t/measured")
    assert re.search(r'<a href="https://[^"]+">[^<]+</a>, 20\d\d', text)
    # A mean of many engines is nothing that was measured: each sentence names its own.
    assert re.search(r"\((TensorRT-LLM|vLLM|SGLang|PyTorch)", text)


def test_words_about_the_h100_are_what_was_measured():
    text = kept(table_of("roofline", {"chip": "h100-sxm"}), "batch", "t/measured")
    for piece in (
        "It stays at <b>4.00\u00a0FLOP/byte</b> whatever the batch",
        "uses <b>93%</b> of the bandwidth and <b>1.3%</b> of the peak",
    ):
        assert piece in text


@pytest.mark.parametrize(
    ("slug", "ridge", "sheet"),
    [
        ("a100-sxm-80gb", 163, 153),
        ("h100-sxm", 280, 295),
        ("h200-sxm", 181, 206),
        ("b200-sxm", 265, 292),
        ("l40s", 292, 419),
    ],
)
def test_both_ridges_are_said_and_drawn(slug, ridge, sheet):
    table = table_of("decode-shift", {"chip": slug})
    text = at(table, "batch", 0, "t/measured")
    assert f"<b>{ridge}\u00a0FLOP/byte</b> instead of the data sheet’s <b>{sheet}\u00a0" in text
    for trace, value in ((0, chip(slug).ridge), (1, gemm_ridge(slug))):
        rows = at(table, "batch", 0, f"f/product/{trace}/x")[0]
        inputs, outputs = measured(Scenario(chip=slug)).product.shape
        # The intensity of so many rows of a bf16 product, by hand.
        assert 1 / (1 / rows + 1 / inputs + 1 / outputs) == pytest.approx(value, rel=1e-3)


@pytest.mark.parametrize("query", [{}, {"chip": "b200-sxm", "weights": "fp8"}, {"weights": "int4"}])
def test_ideal_line_is_the_roof_of_the_sliders(query):
    table = table_of("decode-shift", query)
    scenario, _ = HOUSE.parse(query)
    kernels = measured(scenario).product
    peak, each = chip(scenario.chip).peak(kernels.dtype), {"bf16": 2, "fp8": 1}[kernels.dtype]
    inputs, outputs = kernels.shape
    for index, bandwidth in enumerate(table["sliders"]["bandwidth"]["stops"]):
        rows, drawn = (
            np.array(at(table, "bandwidth", index, f"f/product/2/{axis}")) for axis in "xy"
        )
        flop = 2 * rows * inputs * outputs
        size = each * inputs * (rows + outputs) + 2 * rows * outputs
        least = np.maximum(flop / peak, size / (bandwidth * 1e9))
        assert drawn == pytest.approx(least * 1e6, rel=1e-3)
        # Measured times lie above the line of the real chip, and only of that.
        if index == table["sliders"]["bandwidth"]["index"]:
            assert (kernels.seconds >= kernels.least_seconds).all()


def test_marked_point_follows_the_batch_on_the_line():
    table = table_of("decode-shift", {})
    for index, batch in enumerate(table["sliders"]["batch"]["stops"]):
        assert at(table, "batch", index, "f/product/4/x") == [batch]
        seconds = max(2 * batch * 8192**2 / 989e12, 2 * (2 * batch + 8192) * 8192 / 3350e9)
        assert at(table, "batch", index, "f/product/4/y") == pytest.approx(
            [seconds * 1e6], rel=1e-3
        )


def test_kernels_are_those_of_the_formats_and_of_the_heads():
    fp8 = measured(Scenario(chip="h200-sxm", weights="fp8", kv="fp8"))
    assert (fp8.product.dtype, fp8.decode.dtype) == ("fp8", "fp8")
    assert measured(Scenario(chip="h200-sxm", weights="int4")).product.dtype == "bf16"
    assert measured(Scenario(chip="a100-sxm-80gb", weights="fp8")).product.dtype == "bf16"
    own = measured(Scenario(chip="h100-sxm", model="llama-2-7b"))
    assert own.decode.shape == (32, 32, 128)


@pytest.mark.parametrize("name", ["roofline", "decode-shift"])
def test_measurements_cost_a_page_little(name):
    import gzip
    import json

    def size(query: dict[str, str]) -> int:
        return len(gzip.compress(json.dumps(table_of(name, query)).encode()))

    with_kernels, total = size({"chip": "h100-sxm"}), size({"chip": "h100-pcie"})
    assert with_kernels < 60_000
    assert with_kernels - total < 10_000
