"""More work, a slower chip, larger formats: never less time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from physics.chips import chip
from physics.machine import machine
from tests.physics.strategies import (
    batches,
    both_phases,
    chip_numbers,
    no_less,
    some_chip,
    some_model,
    tokens,
)


@given(some_model, some_chip, chip_numbers, batches, tokens, st.integers(1, 1000))
def test_more_work_takes_no_less_time(architecture, on, tp, batch, length, extra):
    on = machine(on, tp=tp if on.link else 1, efficiency="typical")
    base = both_phases(architecture, on, batch, length)
    longer = both_phases(architecture, on, batch, length + extra)
    chunked = any(attention.chunked for _, attention in architecture.attentions())
    # A query sees its own chunk only: past a chunk's end a decode step starts with little to read.
    pairs = list(zip(base, longer, strict=True))[:1 if chunked else 2]
    pairs += zip(base, both_phases(architecture, on, batch + extra, length), strict=True)
    for small, large in pairs:
        for part in ("flop", "bytes", "kv_bytes", "seconds_sum", "seconds_overlap"):
            assert no_less(getattr(large, part), getattr(small, part)), part


@given(some_model, batches, tokens, st.floats(1e10, 1e14), st.floats(1e12, 1e17),
       st.floats(1, 100))
def test_a_faster_chip_takes_no_more_time(architecture, batch, length, bandwidth, flops, factor):
    def phases(width, peak):
        on = machine(chip("h100-sxm"), bandwidth=width, flops=peak)
        return both_phases(architecture, on, batch, length)

    base = phases(bandwidth, flops)
    for other in (phases(bandwidth * factor, flops), phases(bandwidth, flops * factor)):
        for slow, fast in zip(base, other, strict=True):
            assert no_less(slow.seconds_sum, fast.seconds_sum)
            assert no_less(slow.seconds_overlap, fast.seconds_overlap)
    both = phases(bandwidth * factor, flops * factor)
    for slow, fast in zip(base, both, strict=True):
        assert float(slow.seconds_sum / fast.seconds_sum) == pytest.approx(factor, rel=1e-9)


@given(some_model, batches, tokens, st.integers(1, 200))
def test_more_chips_take_no_more_time_when_the_link_costs_nothing(architecture, batch, length, tp):
    def on(count):
        return replace(machine(chip("h100-sxm"), tp=count), link=np.inf)

    for fewer, more in zip(both_phases(architecture, on(tp), batch, length),
                           both_phases(architecture, on(tp + 1), batch, length), strict=True):
        assert no_less(fewer.seconds_sum, more.seconds_sum)


@given(some_model, some_chip, batches, tokens)
def test_smaller_formats_move_fewer_bytes(architecture, on, batch, length):
    for smaller, larger in (("int4", "fp4"), ("fp4", "fp8"), ("fp8", "bf16")):
        for less, more in zip(
            both_phases(architecture, machine(on), batch, length, weights=smaller, kv=smaller),
            both_phases(architecture, machine(on), batch, length, weights=larger, kv=larger),
            strict=True,
        ):
            assert less.weight_bytes < more.weight_bytes
            assert less.kv_bytes < more.kv_bytes
            assert less.activation_bytes == more.activation_bytes
            assert less.flop == more.flop
            assert no_less(more.seconds_sum, less.seconds_sum)
