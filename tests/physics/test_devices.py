"""The measured devices: their sources, their figures, and what they show."""

import csv

import numpy as np
import pytest

from physics.chips import chips
from physics.devices import FAMILIES, GDDR, MEASURED, devices
from physics.measurement_sources import measurement_sources

with MEASURED.open(newline="", encoding="utf-8") as file:
    ROWS = list(csv.DictReader(file))
SETS = [("llama-3-8b", "q4_k_m"), ("llama-3-8b", "f16"), ("llama-3-70b", "q4_k_m")]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['device']} {row['format']}")
def test_every_row_has_sources_and_a_family(row):
    assert row["source"] in measurement_sources()
    assert "@" in row["file"]
    assert row["figures_source"]
    assert row["figures_confidence"] in ("A", "B")
    assert row["family"] in FAMILIES
    assert float(row["decode_tokens_s"]) > 0
    assert row["prefill_tokens_s"] or "left out" in row["note"]


@pytest.mark.parametrize(
    "row", [row for row in ROWS if row["chip"]], ids=lambda row: f"{row['device']} {row['format']}"
)
def test_figures_are_the_catalogues(row):
    known = chips()[row["chip"]]
    assert float(row["bandwidth_gb_s"]) * 1e9 == known.bandwidth
    if row["chip"] == "apple-m1":
        assert "7-core = 2.3" in known.note
        assert row["peak_tflops"] == "2.3"
    else:
        times = 2 if row["family"] == "geforce" else 1  # fp16 accumulation
        assert float(row["peak_tflops"]) * 1e12 == pytest.approx(times * known.bf16_flop_per_second)
    assert row["figures_confidence"] == known.confidence


@pytest.mark.parametrize("chosen", SETS, ids=str)
def test_no_device_beats_its_bandwidth_or_its_peak(chosen):
    some = devices(*chosen)
    parameters, gib = {"llama-3-8b": (8.03e9, 4.58), "llama-3-70b": (70.6e9, 39.59)}[chosen[0]]
    weights = parameters * 2 if chosen[1] == "f16" else gib * 2**30
    assert np.all(some.decode * weights < some.bandwidth)
    known = np.isfinite(some.prefill)
    assert np.all(some.prefill[known] * 2 * parameters < some.peak[known])


@pytest.mark.parametrize("chosen", SETS[:2], ids=str)
def test_within_cards_bandwidth_explains_decode_and_peak_explains_prefill(chosen):
    cards = devices(*chosen).of(*GDDR)
    for power in (True, False):
        decode, prefill = (
            {
                figure: cards.fit(phase, figure, power=power).r_squared
                for figure in ("bandwidth", "peak")
            }
            for phase in ("decode", "prefill")
        )
        assert decode["bandwidth"] > decode["peak"] + 0.3
        assert prefill["peak"] > prefill["bandwidth"] + 0.3


@pytest.mark.parametrize("chosen", SETS[:2], ids=str)
def test_mixed_families_on_plain_numbers_say_the_opposite_of_decode(chosen):
    mixed = devices(*chosen)
    explained = {
        figure: mixed.fit("decode", figure, power=False).r_squared
        for figure in ("bandwidth", "peak")
    }
    assert explained["peak"] > explained["bandwidth"]


def test_apples_figures_rise_together():
    assert devices(*SETS[0]).of("apple").collinearity().r_squared > 0.95
    assert devices(*SETS[0]).of(*GDDR).collinearity().r_squared < 0.4


def test_what_was_flagged_is_left_out():
    f16 = devices("llama-3-8b", "f16")
    left_out = {name for name, speed in zip(f16.names, f16.prefill, strict=True) if np.isnan(speed)}
    assert left_out == {"A100 SXM 80GB", "L40S"}
    assert f16.fit("prefill", "peak").n == len(f16) - 2
