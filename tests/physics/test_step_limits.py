"""Endless bandwidth, peak, batch, or no context: what a step tends to."""

from __future__ import annotations

import pytest

from physics.architecture import Architecture
from physics.catalogue import models
from physics.chips import chip
from physics.kv_cache import kv_bytes_per_sequence, kv_bytes_per_token
from physics.layers import Attention, LatentAttention
from physics.machine import machine
from physics.step import decode
from tests.physics.strategies import both_phases, linear_parameters


@pytest.mark.parametrize("slug", list(models()))
def test_endless_bandwidth_leaves_only_the_arithmetic(slug):
    architecture = models()[slug]
    on = machine(chip("h100-sxm"), bandwidth=1e30)
    for step in both_phases(architecture, on, 8, 3000):
        assert step.bound == "compute"
        assert step.seconds_sum == pytest.approx(float(step.flop) / 989e12, rel=1e-12)
        assert step.mfu == pytest.approx(1)


@pytest.mark.parametrize("slug", list(models()))
def test_endless_peak_leaves_only_the_traffic(slug):
    architecture = models()[slug]
    on = machine(chip("h100-sxm"), flops=1e30)
    for step in both_phases(architecture, on, 8, 3000):
        assert step.bound == "memory"
        assert step.seconds_sum == pytest.approx(float(step.bytes) / 3350e9, rel=1e-12)
        assert step.mbu == pytest.approx(1)


FLOP_PER_STATE_ELEMENT = {"Mamba": 5.0, "Mamba-2": 5.0, "gated delta net": 7.0}
"""Decay, update and read-out; the delta rule also looks up and corrects what a key holds."""


def recurrent_flop(architecture: Architecture) -> float:
    """FLOP of the recurrences for one token; their small matrices are parameters like others."""
    return sum(group.count * FLOP_PER_STATE_ELEMENT[mixer.kind] * mixer.state_elements
               for group in architecture.groups if (mixer := group.recurrent))


@pytest.mark.parametrize("slug", list(models()))
@pytest.mark.parametrize("context", [0, 100, 10_000])
def test_decode_flop_is_two_a_parameter_and_the_attention(slug, context):
    """FLOP = B (2 P + a S): P the matrices passed, a the FLOP of a visible cached token."""
    architecture = models()[slug]
    step = decode(architecture, machine(chip("h100-sxm")), batch=3, context=context)
    attention = 0.0
    for count, each in architecture.attentions():
        seen = min(context + 1, each.window or context + 1)
        if each.chunked:  # a query sees its chunk up to itself
            seen = context % each.window + 1
        dims = (2 * each.kv_rank + each.rope_dim if isinstance(each, LatentAttention)
                else each.key_dim + each.value_dim)
        attention += count * 2.0 * each.heads * dims * seen
    right = 3 * (2 * linear_parameters(architecture) + attention + recurrent_flop(architecture))
    assert float(step.flop) == pytest.approx(right, rel=1e-3)


@pytest.mark.parametrize("slug", ["llama-2-7b", "llama-3.1-8b", "llama-3.1-70b", "qwen3-32b",
                                  "mixtral-8x7b", "deepseek-v3"])
@pytest.mark.parametrize("context", [500, 20_000])
def test_at_endless_batch_the_intensity_is_that_of_attention_and_matrices(slug, context):
    """(2P + aS) / (kv S) when only the cache is counted as traffic: the weights are shared out."""
    architecture = models()[slug]
    step = decode(architecture, machine(chip("h100-sxm")), batch=1e12, context=context)
    dims = {LatentAttention: lambda a: 2 * a.kv_rank + a.rope_dim,
            Attention: lambda a: a.key_dim + a.value_dim}
    slope = sum(g.count * 2.0 * g.attention.heads * dims[type(g.attention)](g.attention)
                for g in architecture.groups)
    flop = 2 * linear_parameters(architecture) + slope * context
    right = flop / (float(kv_bytes_per_token(architecture)) * context)
    # One token more is seen and one is written: up to 2 / context.
    assert float(step.flop / step.kv_bytes) == pytest.approx(right, rel=2.5 / context)
    assert float(step.weight_bytes / step.bytes) < 1e-6


@pytest.mark.parametrize("slug", list(models()))
def test_without_context_only_the_new_token_is_in_the_cache(slug):
    architecture = models()[slug]
    step = decode(architecture, machine(chip("h100-sxm")), batch=5, context=0)
    once = 5 * kv_bytes_per_sequence(architecture, 1)  # with the state of recurrent layers
    assert step.kv_bytes == 2 * once  # written, and read by the query of the same token
