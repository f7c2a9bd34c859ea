"""Several chips that share a model: what is split, what is copied, what is sent."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from physics.chips import chip
from physics.machine import machine
from tests.physics.strategies import batches, both_phases, no_less, some_model, tokens


@given(some_model.filter(lambda each: each.attention_kind != "MLA"), st.sampled_from([2, 4]),
       batches, tokens)
def test_dividing_the_heads_changes_no_total(architecture, tp, batch, length):
    """Where all heads can be divided, nothing is copied but the router."""
    assume(all(each.kv_heads % tp == 0 for _, each in architecture.attentions()))
    one, several = (both_phases(architecture, machine(chip("h100-sxm"), tp=each), batch, length)
                    for each in (1, tp))
    for alone, together in zip(one, several, strict=True):
        for part in ("flop", "weight_bytes", "kv_bytes"):
            values = []
            for step in (alone, together):
                rows = getattr(step, f"{part}_by_operator")
                values.append(sum(float(rows[i]) for i, name in enumerate(step.names)
                                  if name != "router"))
            assert values[1] == pytest.approx(values[0], rel=1e-12), part


@given(some_model, st.integers(2, 200), batches, tokens)
def test_copies_never_reduce_the_total_work(architecture, tp, batch, length):
    one, several = (both_phases(architecture, machine(chip("h100-sxm"), tp=each), batch, length)
                    for each in (1, tp))
    for alone, together in zip(one, several, strict=True):
        for part in ("flop", "weight_bytes", "kv_bytes"):
            assert no_less(getattr(together, part), getattr(alone, part)), part


@given(some_model, st.sampled_from([2, 4, 8]), batches, tokens)
def test_the_link_carries_two_all_reduces_a_layer(architecture, tp, batch, length):
    """Ring all-reduce: 2 (t - 1) / t x bytes over the link (nccl-tests, PERFORMANCE.md).

    Some layers hold a mixer only, or a network only: one all-reduce for each.
    """
    reduced = sum(group.count * ((group.mixer is not None) + (group.network is not None))
                  for group in architecture.groups)
    plain = all(group.mixer and group.network for group in architecture.groups)
    assert reduced == 2 * architecture.layers or not plain
    on = machine(chip("h100-sxm"), tp=tp)
    for step, rows in zip(both_phases(architecture, on, batch, length), (batch * length, batch),
                          strict=True):
        message = rows * architecture.hidden * 2
        right = reduced * 2 * (tp - 1) / tp * message / 450e9
        assert float(step.communication_seconds.sum()) == pytest.approx(right, rel=1e-12)
