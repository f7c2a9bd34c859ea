"""Critical batch and critical context against the steps that they speak of."""

from __future__ import annotations

import numpy as np
import pytest

from physics.catalogue import model
from physics.chips import chip
from physics.frontier import linear_crossing_batch
from physics.limits import critical_batch, critical_context, plateau_intensity
from physics.machine import machine
from physics.predict import parse_question, predict
from physics.step import decode


@pytest.mark.parametrize(("slug", "tokens"), [
    # 2P / (R kv - a) with R = 989e12 / 3350e9, by hand from each config.json
    ("llama-2-7b", 87.4),
    ("llama-3.1-8b", 420.7),
    ("llama-3.1-70b", 1499),
    ("deepseek-v3", 19_997),
])
def test_critical_context_in_bf16_on_h100(slug, tokens):
    assert float(critical_context(model(slug), 989e12, 3350e9)) == pytest.approx(tokens, rel=1e-3)


@pytest.mark.parametrize("slug", ["llama-2-7b", "llama-3.1-8b", "llama-3.1-70b", "deepseek-v3"])
@pytest.mark.parametrize(("weights", "kv"), [("bf16", "bf16"), ("fp8", "bf16"), ("fp8", "fp8"),
                                             ("int4", "int4")])
def test_critical_context_is_where_a_step_at_endless_batch_changes_what_binds(slug, weights, kv):
    """What `predict` prints, against decode steps with traffic of the cache only.

    The formula counts the embedding table among the parameters, and a step does not: 10 %.
    In fp8 the linear layers run at the fp8 peak and attention at the bf16 peak.
    """
    architecture, on = model(slug), machine(chip("h100-sxm"), weights=weights)
    claimed = float(critical_context(architecture, on.peak, on.bandwidth, kv,
                                     peak_ratio=on.peak / on.attention_peak))
    contexts = np.unique(np.geomspace(2, 10**6, 4000).round())
    step = decode(architecture, on, batch=1e12, context=contexts, weights=weights, kv=kv)
    memory_bound = step.kv_bytes / on.bandwidth > step.totals[0]
    found = contexts[np.argmax(memory_bound)] if memory_bound.any() else np.inf
    assert claimed == pytest.approx(found, rel=0.1)


@pytest.mark.parametrize(("slug", "tp"), [("deepseek-v3", 16), ("llama-3.1-70b", 16),
                                          ("llama-3.1-70b", 8)])
def test_the_printed_critical_context_counts_copies_of_the_cache(slug, tp):
    """Each chip reads the whole latent cache, or its copy of a head: the limit comes earlier."""
    answer = predict(parse_question({"model": slug, "tp": str(tp), "weights": "bf16"}))
    on = machine(chip("h100-sxm"), tp=tp)
    contexts = np.unique(np.geomspace(2, 10**6, 4000).round())
    step = decode(model(slug), on, batch=1e12, context=contexts)
    memory_bound = step.kv_bytes / tp / on.bandwidth > step.totals[0]
    found = contexts[np.argmax(memory_bound)] if memory_bound.any() else np.inf
    assert answer["critical_context"] == pytest.approx(found, rel=0.1)


def test_critical_context_is_endless_where_attention_alone_reaches_the_ridge():
    """Latent attention does 241.8 FLOP a byte in bf16; the ridge of H20 is 37."""
    assert critical_context(model("deepseek-v3"), 148e12, 4e12) == np.inf


@pytest.mark.parametrize(("weights", "fraction"), [("bf16", 1), ("fp8", 1), ("int4", 0.2578125)])
def test_at_the_critical_batch_the_matrices_reach_the_ridge(weights, fraction):
    """B* = ridge x bytes / 2: fp8 doubles the peak and halves the bytes (JAX scaling book)."""
    architecture, on = model("llama-3.1-70b"), machine(chip("h100-sxm"), weights=weights)
    batch = float(critical_batch(architecture, on.peak, on.bandwidth, weights))
    assert batch == pytest.approx(295.4 * fraction, rel=2e-3)
    step = decode(architecture, on, batch=batch, context=0, weights=weights)
    attend = np.array([name.startswith("attention") for name in step.names])
    flop, read = step.flop_by_operator[~attend].sum(), step.weight_bytes_by_operator.sum()
    assert flop / on.peak == pytest.approx(read / on.bandwidth, rel=1e-9)


def test_experts_reach_the_ridge_at_a_larger_batch():
    """E / k = 128 / 8 times the dense one (arXiv 2511.02237, section 1)."""
    dense = float(critical_batch(model("qwen3-32b"), 989e12, 3350e9))
    assert float(critical_batch(model("qwen3-235b-a22b"), 989e12, 3350e9)) == 16 * dense


@pytest.mark.parametrize("slug", ["llama-3.1-8b", "qwen2.5-72b", "gpt-oss-20b"])
def test_the_linear_layers_cross_the_ridge_where_the_steps_say(slug):
    """With activations counted: for a dense model a little above B* = ridge x bytes / 2."""
    architecture, on = model(slug), machine(chip("h100-sxm"))
    batches = np.arange(1, 30_000.0)
    step = decode(architecture, on, batch=batches, context=1)
    intensity = step.intensity_of(step.computes & ~step.is_attention)
    found = batches[np.argmax(intensity >= on.peak / on.bandwidth)]
    crossing = float(linear_crossing_batch(architecture, on))
    assert crossing == pytest.approx(found, rel=0.01)
    if architecture.experts is None:
        assert crossing > critical_batch(architecture, on.peak, on.bandwidth)


def test_experts_whose_activations_outweigh_their_weights_never_cross():
    """DeepSeek-V3 in fp8 on 16 chips: each chip's slice of an expert is 128 columns wide."""
    on = machine(chip("h100-sxm"), weights="fp8", tp=16)
    assert linear_crossing_batch(model("deepseek-v3"), on, weights="fp8") == np.inf


def test_plateau_and_critical_context_agree():
    """At the critical context the plateau is the ridge, copies on several chips included."""
    architecture, on = model("deepseek-v3"), machine(chip("h100-sxm"), tp=16)
    limit = critical_context(architecture, on.peak, on.bandwidth, tp=16)
    assert plateau_intensity(architecture, limit, tp=16) == pytest.approx(on.peak / on.bandwidth)


def intensity_without_activations(slug, on, context):
    """What the intensity of a decode step tends to as the batch grows."""
    step = decode(model(slug), on, batch=1e12, context=context)
    return step.flop / (step.weight_bytes + step.kv_bytes)


@pytest.mark.parametrize(
    ("slug", "context"),
    [
        ("gpt-oss-120b", 842),  # half of its layers stop at 128 tokens
        ("gpt-oss-20b", 894),
        ("mimo-v2-flash", 3660),
        ("jamba-1.5-mini", 3093),  # states are read and written too
        ("gemma-3-27b", 363),
    ],
)
def test_critical_context_counts_full_windows_and_states(slug, context):
    """Worked out by hand on H100 in bf16; a step's own operators turn at the same place."""
    on = machine(chip("h100-sxm"))
    limit = float(critical_context(model(slug), on.peak, on.bandwidth))
    assert limit == pytest.approx(context, rel=2e-3)
    ridge = on.peak / on.bandwidth
    # The embedding table is among P, but a step only looks it up: a tenth earlier at most.
    assert intensity_without_activations(slug, on, 0.8 * limit) > ridge
    assert intensity_without_activations(slug, on, 1.05 * limit) < ridge


@pytest.mark.parametrize("slug", ["qwen3.5-27b", "nemotron-3-nano-30b-a3b"])
def test_states_alone_may_keep_every_step_memory_bound(slug):
    on = machine(chip("h100-sxm"))
    assert float(critical_context(model(slug), on.peak, on.bandwidth)) == 0
    assert intensity_without_activations(slug, on, 1.0) < on.peak / on.bandwidth
