"""The catalogue of chips against published facts, and its rows against each other."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from physics.chips import CATALOGUE, chip, chips
from physics.errors import InputError, UnknownName
from physics.formats import WEIGHT_ONLY
from physics.limits import ridge_flop_per_byte
from physics.machine import machine

with (Path(__file__).parent / "chip_ridges.csv").open(newline="", encoding="utf-8") as file:
    COLLECTED = list(csv.DictReader(file))

with CATALOGUE.open(newline="", encoding="utf-8") as file:
    ROWS = list(csv.DictReader(file))

PUBLISHED = [
    # slug, field, value, from the vendor's own data sheet or page; peaks are dense
    ("h100-sxm", "bf16_flop_per_second", 989e12),  # NVIDIA prints 1979 with sparsity
    ("h100-sxm", "fp8_flop_per_second", 1979e12),  # 3958 with sparsity
    ("h100-sxm", "bandwidth", 3350e9),
    ("h100-sxm", "capacity", 80e9),
    ("h100-sxm", "link", 450e9),  # NVLink 900 GB/s both ways
    ("h100-pcie", "bf16_flop_per_second", 756e12),
    ("h100-pcie", "bandwidth", 2000e9),
    ("h200-sxm", "bandwidth", 4800e9),
    ("h200-sxm", "capacity", 141e9),
    ("h200-sxm", "bf16_flop_per_second", 989e12),
    ("a100-sxm-80gb", "bandwidth", 2039e9),
    ("a100-sxm-40gb", "bandwidth", 1555e9),
    ("a100-pcie-80gb", "bandwidth", 1935e9),
    ("a100-sxm-80gb", "bf16_flop_per_second", 312e12),
    ("a100-sxm-80gb", "int8_flop_per_second", 624e12),
    ("a100-sxm-80gb", "fp8_flop_per_second", None),
    ("a100-sxm-80gb", "link", 300e9),
    ("v100-sxm2", "bf16_flop_per_second", 125e12),
    ("v100-sxm2", "bandwidth", 900e9),
    ("t4", "bf16_flop_per_second", 65e12),
    ("t4", "bandwidth", 320e9),
    ("a10", "bandwidth", 600e9),
    ("l4", "bf16_flop_per_second", 121e12),  # 242 with sparsity
    ("l4", "bandwidth", 300e9),
    ("l40s", "bf16_flop_per_second", 362e12),  # 733 with sparsity, truncated
    ("l40s", "bandwidth", 864e9),
    ("b200-sxm", "bf16_flop_per_second", 2250e12),
    ("h20", "bf16_flop_per_second", 148e12),
    ("h20", "bandwidth", 4000e9),
    ("rtx-4090", "bandwidth", 1008e9),
    ("rtx-4090", "bf16_flop_per_second", 165.2e12),  # fp32 accumulation
    ("rtx-3090", "bandwidth", 936e9),
    ("rtx-5090", "bandwidth", 1792e9),
    ("mi300x", "bf16_flop_per_second", 1307e12),
    ("mi300x", "bandwidth", 5300e9),
    ("mi300x", "capacity", 192e9),
    ("mi325x", "bandwidth", 6000e9),
    ("mi325x", "capacity", 256e9),
    ("tpu-v4", "bf16_flop_per_second", 275e12),
    ("tpu-v5e", "bf16_flop_per_second", 197e12),
    ("tpu-v5e", "bandwidth", 819e9),
    ("tpu-v5e", "capacity", 16e9),
    ("tpu-v5p", "bf16_flop_per_second", 459e12),
    ("tpu-v5p", "bandwidth", 2765e9),
    ("tpu-v5p", "capacity", 95e9),
    ("tpu-v6e", "bf16_flop_per_second", 918e12),
    ("apple-m1-max", "bandwidth", 400e9),
    ("apple-m4-max", "bandwidth", 546e9),
    ("gb10", "bandwidth", 273e9),
    ("groq-lpu", "bandwidth", 80e12),
    ("groq-lpu", "capacity", 230e6),
    ("wse-3", "bandwidth", 21e15),
    ("wse-3", "capacity", 44e9),
]


@pytest.mark.parametrize(("slug", "field", "value"), PUBLISHED)
def test_a_published_figure_is_in_the_catalogue(slug, field, value):
    assert getattr(chip(slug), field) == (None if value is None else pytest.approx(value))


@pytest.mark.parametrize("row", COLLECTED, ids=lambda row: row["slug"])
def test_the_ridge_is_the_one_collected(row):
    each = chip(row["slug"])
    assert each.ridge == pytest.approx(float(row["ridge_bf16_flop_per_byte"]), abs=0.051)
    assert each.ridge == ridge_flop_per_byte(each.bf16_flop_per_second, each.bandwidth)
    assert each.confidence == row["confidence"]


def test_every_chip_has_a_collected_ridge():
    assert [row["slug"] for row in COLLECTED] == list(chips())


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["slug"])
def test_a_row_has_its_source_and_its_confidence(row):
    assert row["source"].strip()
    assert row["confidence"] in {"A", "B", "C"}
    assert (row["confidence"] == "A") <= ("not re-read" not in row["source"])


def test_slugs_are_unique_and_fit_a_url():
    slugs = [row["slug"] for row in ROWS]
    assert len(set(slugs)) == len(slugs) == len(chips())
    assert all(set(slug) <= set("abcdefghijklmnopqrstuvwxyz0123456789-") for slug in slugs)


@pytest.mark.parametrize("each", chips().values(), ids=lambda each: each.slug)
def test_figures_are_those_of_one_accelerator(each):
    assert 1e12 < each.bf16_flop_per_second < 2e16
    assert 5e10 < each.bandwidth < 3e16
    assert 1e8 < each.capacity < 1e13
    assert each.link is None or each.link < each.bandwidth
    assert 2015 <= each.year <= 2026


@pytest.mark.parametrize("each", chips().values(), ids=lambda each: each.slug)
def test_narrower_formats_are_never_slower_and_weight_only_ones_run_in_bf16(each):
    bf16 = each.bf16_flop_per_second
    assert {each.peak(name) for name in ("bf16", *WEIGHT_ONLY)} == {bf16}
    assert {"int4", "fp4"} <= set(WEIGHT_ONLY)
    assert each.peak("fp8") in {bf16, each.fp8_flop_per_second}
    assert each.peak("int8") in {bf16, each.int8_flop_per_second}
    assert min(each.peak("fp8"), each.peak("int8")) >= bf16
    assert each.fp8_flop_per_second is None or each.fp8_flop_per_second <= 2.05 * bf16


def test_another_bandwidth_or_peak_keeps_the_rest():
    own = chip("h100-sxm")
    wider = own.custom(bandwidth=8e12)
    assert (wider.bandwidth, wider.bf16_flop_per_second) == (8e12, 989e12)
    faster = own.custom(flops=2 * 989e12)
    assert faster.fp8_flop_per_second == pytest.approx(2 * 1979e12)
    assert faster.fp4_flop_per_second is None
    assert own.custom() is own


def test_names_are_taken_in_any_case():
    assert chip(" H100-SXM ") is chip("h100-sxm")


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(UnknownName, match="h100-sxm"):
        chip("h100-smx")


def test_several_chips_need_a_link():
    with pytest.raises(InputError, match="no link"):
        machine(chip("apple-m1"), tp=2)
