"""A sweep in one call equals its points, one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from physics.catalogue import models
from physics.chips import chip
from physics.machine import machine
from physics.step import decode
from tests.physics.strategies import (
    PARTS,
    batches,
    both_phases,
    some_chip,
    some_format,
    some_model,
    tokens,
)


@given(some_model, some_chip, some_format, some_format,
       st.lists(st.tuples(batches, tokens), min_size=1, max_size=5))
def test_a_sweep_equals_its_points(architecture, on, weights, kv, points):
    on = machine(on, weights=weights, efficiency="typical")
    batch, length = np.array(points).T
    sweeps = both_phases(architecture, on, batch, length, weights=weights, kv=kv)
    for i, (b, n) in enumerate(points):
        singles = both_phases(architecture, on, b, n, weights=weights, kv=kv)
        for sweep, single in zip(sweeps, singles, strict=True):
            assert sweep.bound[i] == single.bound
            for part in PARTS:
                swept, alone = float(getattr(sweep, part)[i]), float(getattr(single, part))
                assert swept == pytest.approx(alone, rel=1e-12), part  # sums in another order


@given(some_model, some_chip, st.lists(batches, min_size=1, max_size=3),
       st.lists(tokens, min_size=1, max_size=4))
def test_inputs_broadcast(architecture, on, batch, length):
    batch, length = np.array(batch)[:, None], np.array(length)
    shape = (len(batch), len(length))
    for step in both_phases(architecture, machine(on), batch, length):
        flat = both_phases(architecture, machine(on), np.broadcast_to(batch, shape),
                           np.broadcast_to(length, shape))
        assert step.seconds_sum.shape == shape
        assert any(np.array_equal(step.seconds_sum, each.seconds_sum) for each in flat)


@pytest.mark.parametrize("slug", ["llama-3.1-8b", "deepseek-v3", "gpt-oss-20b"])
def test_bandwidth_peak_and_format_may_be_swept(slug):
    architecture = models()[slug]
    widths, peaks = np.array([[1e12], [4e12]]), np.array([1e14, 2e14, 4e14])
    on = machine(chip("h100-sxm"), bandwidth=widths, flops=peaks)
    swept = decode(architecture, on, batch=64, context=1000).seconds_sum
    for i, width in enumerate(widths[:, 0]):
        for j, peak in enumerate(peaks):
            one = machine(chip("h100-sxm"), bandwidth=width, flops=peak)
            alone = decode(architecture, one, batch=64, context=1000).seconds_sum
            assert swept[i, j] == pytest.approx(float(alone), rel=1e-12)
    formats = decode(architecture, machine(chip("h100-sxm")), batch=1, context=9,
                     weights=["bf16", "int4"])
    assert formats.weight_bytes[1] / formats.weight_bytes[0] == pytest.approx(4.125 / 16)
