"""A change of TTFT and TPOT is the sum of its parts, and is charged to what really changed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from physics.batching import PARTS
from physics.catalogue import model
from physics.change import CAUSES, Change, change
from physics.chips import chip
from physics.machine import machine
from physics.request import request
from tests.physics.strategies import batches, chip_numbers, some_chip, some_model, tokens

LLAMA = model("llama-3.1-8b")
BASE = {"prompt": 2048, "output": 256, "batch": 32}
WEIGHT_BYTES = (8_030_261_248 - 128_256 * 4096 - 65 * 4096) * 2
"""What each decoded token reads: all parameters without the embedding and the norms."""
KV_BYTES_PER_TOKEN = 2 * 8 * 128 * 2 * 32


def on(slug="h100-sxm", **how):
    return machine(chip(slug), **how)


def between(before=None, after=None, *, first=None, last=None, architecture=LLAMA) -> Change:
    return change(
        request(architecture, first or on(), **(BASE | (before or {}))),
        request(architecture, last or on(), **(BASE | (after or {}))),
    )


def named(names, values) -> dict[str, float]:
    return dict(zip(names, np.asarray(values, dtype=float).tolist(), strict=True))


efficiencies = st.sampled_from(["ideal", "typical"])


@given(
    some_model, some_model, some_chip, some_chip, chip_numbers, batches, batches, tokens, tokens,
    efficiencies,
)  # fmt: skip
def test_parts_and_effects_add_up_to_the_whole(
    one, other, this, that, tp, few, many, short, long, efficiency
):
    made = change(
        request(one, on(this.slug, efficiency=efficiency), prompt=short, output=9, batch=few),
        request(other, on(that.slug, tp=tp if that.link else 1), prompt=long, output=300,
                batch=many),
    )  # fmt: skip
    for phase in (made.ttft, made.tpot):
        size = phase.before + phase.after
        assert phase.parts.sum(axis=0) == pytest.approx(phase.seconds, abs=1e-9 * size)
        assert phase.effects.sum(axis=0) == pytest.approx(phase.seconds, abs=1e-9 * size)
        assert phase.shares.sum(axis=0) == pytest.approx(1)
        assert phase.before * phase.ratio == pytest.approx(phase.after)


@given(some_model, some_chip, batches, tokens)
def test_there_and_back_cancel(architecture, one, batch, length):
    here = request(architecture, on(one.slug), prompt=length, output=20, batch=batch)
    there = request(architecture, on("h200-sxm"), prompt=2 * length, output=20, batch=1)
    go, back = change(here, there), change(there, here)
    for phase in ("ttft", "tpot"):
        a, b = getattr(go, phase), getattr(back, phase)
        assert a.parts == pytest.approx(-b.parts)
        assert a.effects == pytest.approx(-b.effects)
        assert a.ratios * b.ratios == pytest.approx(1)


def test_no_change_is_nothing():
    made = between()
    for phase in (made.ttft, made.tpot):
        assert not phase.parts.any()
        assert not phase.effects.any()
        assert phase.ratios.tolist() == [1] * len(CAUSES)


def test_twice_the_batch_reads_twice_the_cache_and_the_same_weights():
    """By hand: 32 more sequences of 2,175 tokens, and the new one, at 3.35 TB/s."""
    tpot = between(after={"batch": 64}).tpot
    ratios, parts = named(CAUSES, tpot.ratios), named(PARTS, tpot.parts)
    assert (ratios["weights"], ratios["kv_cache"], ratios["compute"]) == pytest.approx((1, 2, 2))
    context = 2048 + 254 / 2
    # The step reads the cache with the new token in it, and writes that one.
    more = 32 * (context + 2) * KV_BYTES_PER_TOKEN / 3.35e12
    assert parts["kv_cache"] == pytest.approx(more, rel=1e-3)
    assert parts["weights"] == pytest.approx(0, abs=1e-9)
    assert float(tpot.ratio) == pytest.approx(1.38, abs=0.005)
    assert tpot.bound_before == tpot.bound_after == "memory"


def test_twice_the_bandwidth_halves_what_waits_for_memory():
    """At batch 1 a decode step is bytes ÷ bandwidth: all of the gain is the bandwidth's."""
    tpot = between({"batch": 1}, {"batch": 1}, last=on(bandwidth=6.7e12)).tpot
    effects = named(CAUSES, tpot.effects)
    assert float(tpot.ratio) == pytest.approx(0.5)
    assert effects["bandwidth"] == pytest.approx(float(tpot.seconds))
    assert [effects[name] for name in CAUSES if name != "bandwidth"] == pytest.approx(
        [0] * 7, abs=1e-12
    )
    assert named(CAUSES, tpot.ratios)["bandwidth"] == pytest.approx(2)
    assert named(PARTS, tpot.parts)["weights"] == pytest.approx(-WEIGHT_BYTES / 3.35e12 / 2)


def test_more_arithmetic_leaves_decode_alone_and_shortens_prefill():
    made = between({"batch": 1}, {"batch": 1}, last=on(flops=2 * 989e12))
    assert float(made.tpot.ratio) == pytest.approx(1)
    assert named(CAUSES, made.tpot.ratios)["peak"] == pytest.approx(2)
    assert float(made.ttft.ratio) < 0.53
    effects = named(CAUSES, made.ttft.effects)
    assert effects["peak"] == min(effects.values())


def test_a_longer_prompt_is_more_arithmetic_for_prefill():
    ttft = between({"batch": 1}, {"batch": 1, "prompt": 4096}).ttft
    effects = named(CAUSES, ttft.effects)
    assert max(effects, key=effects.get) == "compute"
    # Linear layers double; attention, with its square, brings a little more.
    assert 2 < named(CAUSES, ttft.ratios)["compute"] < 2.2


def test_smaller_weights_are_less_traffic():
    first, last = (
        request(LLAMA, on(weights=weights), weights=weights, **(BASE | {"batch": 1}))
        for weights in ("bf16", "int4")
    )
    tpot = change(first, last).tpot
    effects = named(CAUSES, tpot.effects)
    assert min(effects, key=effects.get) == "weights"
    # 4 bits and a scale of 16 bits for each 32 to 128 weights, in place of 16.
    assert 0.25 <= named(CAUSES, tpot.ratios)["weights"] < 0.29


def test_what_comes_from_nothing_is_infinitely_more():
    made = between(last=on(tp=2, efficiency="typical"))
    ratios = named(CAUSES, made.tpot.ratios)
    assert ratios["communication"] == np.inf
    assert ratios["launch"] == np.inf
    assert named(CAUSES, made.tpot.effects)["communication"] > 0


def test_a_single_token_has_no_tpot():
    assert np.isnan(between(after={"output": 1}).tpot.after)


def test_a_sweep_is_one_call():
    many = between(after={"batch": np.array([1, 32, 64])})
    assert many.tpot.parts.shape == (len(PARTS), 3)
    assert many.tpot.effects.shape == many.tpot.ratios.shape == (len(CAUSES), 3)
    assert many.tpot.ratio[1:] == pytest.approx([1, float(between(after={"batch": 64}).tpot.ratio)])
