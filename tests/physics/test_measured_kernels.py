"""Measured kernels: read right, inside the data sheet's bounds, and in line with known figures."""

from __future__ import annotations

import csv
from statistics import median

import numpy as np
import pytest

from physics.chips import chip
from physics.machine import machine
from physics.measured_kernels import (
    DECODE,
    FEW_ROWS,
    FILE,
    MANY_ROWS,
    PREFILL,
    PRODUCT,
    attention_work,
    compute_efficiency,
    fastest_product,
    gemm_ridge,
    ideal_product_seconds,
    measured_chips,
    measured_kernels,
    memory_efficiency,
    nearest_attention,
    product_work,
    ridge_range,
    rows_at_intensity,
)
from physics.measurement_sources import measurement_sources
from physics.step import decode, prefill

with FILE.open(newline="", encoding="utf-8") as file:
    ROWS = list(csv.DictReader(file))

ALL = [one for slug in measured_chips() for one in measured_kernels(slug)]

# Stated elsewhere of the same tables: measured ridge, and medians of what large products reach.
STATED = {
    "a100-sxm-80gb": (163, 0.81, 0.76),
    "h100-sxm": (278, 0.79, 0.81),
    "h200-sxm": (181, 0.76, 0.81),
    "b200-sxm": (265, 0.71, 0.67),
    "l40s": (292, 0.57, 0.80),
}


def products(slug: str) -> list[dict[str, str]]:
    return [
        row
        for row in ROWS
        if row["chip"] == slug and row["operation"] == PRODUCT and row["dtype"] in ("bf16", "fp16")
    ]


def test_every_row_is_read_once_and_names_its_source():
    assert sum(len(one.rows) for one in ALL) == len(ROWS) > 1000
    assert {row["source"] for row in ROWS} <= set(measurement_sources())
    for source in measurement_sources().values():
        assert source.url.startswith("https://")
        assert source.date
        assert source.conditions
    assert all(chip(slug) for slug in measured_chips())
    assert FILE.stat().st_size < 150_000


def test_sizes_grow_and_no_size_is_there_twice():
    for one in ALL:
        assert (np.diff(one.rows) > 0).all(), (one.chip, one.engine, one.shape)


@pytest.mark.parametrize("slug", measured_chips())
def test_nothing_beats_the_data_sheet(slug):
    for one in measured_kernels(slug):
        assert (one.seconds >= one.least_seconds).all(), (one.operation, one.engine, one.shape)
        assert (one.compute_share <= 1).all()
        assert (one.memory_share <= 1).all()


@pytest.mark.parametrize("slug", STATED)
def test_ridge_and_efficiencies_are_those_stated(slug):
    ridge, compute, memory = STATED[slug]
    assert gemm_ridge(slug) == pytest.approx(ridge, rel=0.007)
    assert compute_efficiency(slug) == pytest.approx(compute, abs=0.005)
    # Stated of all sizes; ours is of the best that each kernel reaches.
    streamed = [
        share
        for one in measured_kernels(slug)
        if (one.operation, one.dtype) == (PRODUCT, "bf16")
        for share in one.memory_share[one.rows <= FEW_ROWS]
    ]
    assert median(streamed) == pytest.approx(memory, abs=0.02)
    assert median(streamed) < memory_efficiency(slug) < 1


@pytest.mark.parametrize("slug", measured_chips())
def test_compute_efficiency_is_the_median_over_the_file(slug):
    shares = []
    for row in products(slug):
        m, k, n = (float(row[name]) for name in ("rows", "inputs", "outputs"))
        if m >= MANY_ROWS:
            rate = 2 * m * n * k / (float(row["latency_us"]) * 1e-6)
            shares.append(rate / chip(slug).bf16_flop_per_second)
    assert compute_efficiency(slug) == pytest.approx(median(shares))


@pytest.mark.parametrize("slug", measured_chips())
def test_memory_efficiency_is_the_median_of_the_best(slug):
    best: dict[tuple, float] = {}
    for row in products(slug):
        m, k, n = (float(row[name]) for name in ("rows", "inputs", "outputs"))
        if m <= FEW_ROWS:
            share = 2 * (m * k + k * n + m * n) / (float(row["latency_us"]) * 1e-6)
            kernel = (row["engine"], k, n)
            best[kernel] = max(best.get(kernel, 0), share / chip(slug).bandwidth)
    for one in measured_kernels(slug):
        if (one.operation, one.dtype) == (DECODE, "bf16"):
            best[one.engine, one.shape] = max(one.memory_share)
    assert memory_efficiency(slug) == pytest.approx(median(best.values()))


@pytest.mark.parametrize("slug", measured_chips())
def test_ridge_is_that_of_the_fastest_stream_in_the_file(slug):
    kernels: dict[tuple, list[tuple[float, float, float]]] = {}
    for row in products(slug):
        m, k, n = (float(row[name]) for name in ("rows", "inputs", "outputs"))
        seconds = float(row["latency_us"]) * 1e-6
        kernels.setdefault((row["engine"], k, n), []).append(
            (m, 2 * m * n * k / seconds, 2 * (m * k + k * n + m * n) / seconds)
        )
    found = {}
    for rows in kernels.values():
        streams = [stream for m, _, stream in rows if m <= FEW_ROWS]
        if streams:
            found[median(streams)] = max(rate for _, rate, _ in rows) / median(streams)
    assert gemm_ridge(slug) == pytest.approx(found[max(found)])
    assert ridge_range(slug) == pytest.approx((min(found.values()), max(found.values())))


def test_decode_attention_of_the_h100_stays_where_it_is():
    """GQA 4:1, 4,096 tokens: 4 FLOP/byte at any batch; 64 sequences use 91 % of the bandwidth."""
    kernels = nearest_attention("h100-sxm", DECODE, 4)
    assert kernels.shape == (32, 8, 128)
    assert kernels.rows.tolist() == [1, 2, 4, 8, 16, 32, 64, 128]
    assert kernels.intensity == pytest.approx(np.full(8, 4.0), rel=2e-3)
    assert kernels.memory_share[6] == pytest.approx(0.91, abs=0.005)
    assert kernels.compute_share.max() == pytest.approx(0.013, abs=5e-4)
    # By hand: 64 sequences, keys and values of 8 heads, 4,096 tokens, in 353.57 us.
    cache = 64 * 2 * 8 * 128 * 4096 * 2
    assert kernels.memory_share[6] == pytest.approx(cache / 353.57e-6 / 3350e9, rel=2e-3)


@pytest.mark.parametrize("slug", measured_chips())
def test_decode_attention_never_leaves_its_intensity(slug):
    for one in measured_kernels(slug):
        if one.operation == DECODE:
            each = 2 if one.dtype == "bf16" else 1
            expected = 2 * one.queries_per_key / each
            assert one.intensity == pytest.approx(np.full(len(one.rows), expected), rel=6e-3)
            assert (one.compute_share < 0.07).all()


def test_prefill_attention_climbs_with_the_prompt():
    kernels = nearest_attention("h100-sxm", PREFILL, 4)
    assert (np.diff(kernels.intensity) > 0).all()
    assert (np.diff(kernels.performance) > 0).all()
    assert kernels.compute_share[[0, -1]] == pytest.approx([0.009, 0.672], abs=1e-3)


def test_work_of_attention_is_that_of_the_operators():
    """Llama 3.1 8B has the heads that were measured: its attention does the same work."""
    from physics.catalogue import model

    llama, h100 = model("llama-3.1-8b"), machine(chip("h100-sxm"))
    for step, work in (
        (
            decode(llama, h100, batch=np.array([1, 64]), context=4095),
            attention_work([1, 64], 1, 4096, (32, 8, 128)),
        ),
        (
            prefill(llama, h100, batch=1, prompt=np.array([128, 8192])),
            attention_work(1, [128, 8192], [128, 8192], (32, 8, 128)),
        ),
    ):
        intensity = step.intensity_by_operator[step.is_attention][0]
        assert work[0] / work[1] == pytest.approx(intensity, rel=1e-9)


@pytest.mark.parametrize("dtype", ["bf16", "fp8"])
@pytest.mark.parametrize("intensity", [1.0, 163.0, 1000.0])
def test_rows_at_an_intensity_have_it(intensity, dtype):
    rows = rows_at_intensity(intensity, 8192, 65_536, dtype)
    flop, size = product_work(rows, 8192, 65_536, dtype)
    assert flop / size == pytest.approx(intensity)


def test_small_products_never_reach_a_high_intensity():
    """In bf16 even endless rows stay below K N / (K + N)."""
    assert np.isfinite(rows_at_intensity(2047.0, 4096, 4096))
    assert rows_at_intensity(2049.0, 4096, 4096) == np.inf


def test_least_time_of_a_product_bends_at_the_ridge():
    peak, bandwidth = 989e12, 3350e9
    knee = float(rows_at_intensity(peak / bandwidth, 8192, 8192))
    rows = np.array([knee / 2, knee, knee * 2])
    flop, size = product_work(rows, 8192, 8192)
    least = ideal_product_seconds(rows, 8192, 8192, "bf16", peak, bandwidth)
    assert least == pytest.approx([size[0] / bandwidth, flop[1] / peak, flop[2] / peak])


def test_latency_is_flat_then_rises():
    """H100: 64 rows take as long as one, within 10 %; from 1,024 on doubling rows doubles time."""
    kernels = fastest_product("h100-sxm")
    seconds = dict(zip(kernels.rows.astype(int).tolist(), kernels.seconds, strict=True))
    assert seconds[64] / seconds[1] < 1.1
    assert seconds[4096] / seconds[2048] == pytest.approx(2, rel=0.1)


def test_chip_without_kernels_has_none():
    assert measured_kernels("mi300x") == ()
    assert compute_efficiency("mi300x") is None
    assert memory_efficiency("mi300x") is None
    assert gemm_ridge("mi300x") is None
    assert ridge_range("mi300x") is None
    assert fastest_product("a100-sxm-80gb", "fp8") is None
    assert nearest_attention("a40", DECODE, 4) is None
