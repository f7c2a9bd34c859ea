"""Parts of a step sum to its totals, and no bound is beaten."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from physics.chips import chips
from physics.machine import machine
from tests.physics.strategies import (
    batches,
    both_phases,
    chip_numbers,
    no_less,
    some_chip,
    some_format,
    some_model,
    tokens,
)


@given(some_model, some_chip, chip_numbers, some_format, some_format, batches, tokens,
       st.sampled_from(["ideal", "typical"]))
def test_parts_sum_to_totals(architecture, on, tp, weights, kv, batch, length, efficiency):
    on = machine(on, tp=tp if on.link else 1, weights=weights, efficiency=efficiency)
    for step in both_phases(architecture, on, batch, length, weights=weights, kv=kv):
        assert step.bytes == pytest.approx(
            step.weight_bytes + step.kv_bytes + step.activation_bytes)
        assert step.bytes_by_operator.sum(axis=0) == pytest.approx(float(step.bytes))
        assert step.seconds_by_bound.sum(axis=0) == pytest.approx(float(step.seconds_sum))
        assert step.seconds_by_operator.sum(axis=0) == pytest.approx(float(step.seconds_sum))
        assert no_less(step.seconds_sum, step.seconds_overlap)
        assert no_less(step.totals.sum(axis=0), step.seconds_sum)
        assert 0 < step.mfu <= 1 + 1e-12
        assert 0 < step.mbu <= 1 + 1e-12


@given(some_model, st.sampled_from(list(chips().values())), chip_numbers, batches, tokens)
def test_typical_takes_no_less_than_ideal(architecture, on, tp, batch, length):
    tp = tp if on.link else 1
    ideal, typical = (both_phases(architecture, machine(on, tp=tp, efficiency=each), batch, length)
                      for each in ("ideal", "typical"))
    for best, real in zip(ideal, typical, strict=True):
        assert real.seconds_sum > best.seconds_sum
        assert real.seconds_overlap >= best.seconds_overlap  # equal where the link alone binds
        assert (real.flop, real.bytes) == (best.flop, best.bytes)
