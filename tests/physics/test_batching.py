"""What batching does to a decode step: its parts, the nearly free stretch, the knee."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from physics.batching import (
    LARGEST_BATCH,
    PARTS,
    chip_tokens_per_second,
    knee,
    kv_overtakes_weights_batch,
    nearly_free_batch,
    seconds_by_part,
    system_tokens_per_second,
    user_tokens_per_second,
)
from physics.catalogue import model
from physics.chips import chip
from physics.efficiency import IDEAL
from physics.errors import InputError
from physics.frontier import linear_crossing_batch
from physics.machine import machine
from physics.step import decode, prefill
from physics.typical import typical
from tests.physics.strategies import batches, chip_numbers, some_chip, some_model, tokens

H100 = machine(chip("h100-sxm"))
TYPICAL = typical(chip("h100-sxm"))
LLAMA = "llama-3.1-8b"
DENSE = ("llama-3.1-8b", "llama-2-7b", "qwen3-32b", "gemma-3-27b", "opt-13b")
EXPERTS = ("mixtral-8x7b", "deepseek-v3", "qwen3-30b-a3b", "gpt-oss-120b")


def by_name(step) -> dict[str, float]:
    return dict(zip(PARTS, seconds_by_part(step), strict=True))


def on(slug: str, tp: int = 1, efficiency=IDEAL):
    return machine(chip(slug), tp=tp if chip(slug).link else 1, efficiency=efficiency)


@given(some_model, some_chip, chip_numbers, batches, tokens)
def test_the_parts_add_up_to_the_step(architecture, one, tp, batch, length):
    for efficiency in (IDEAL, TYPICAL):
        machine_here = on(one.slug, tp, efficiency)
        for step in (
            decode(architecture, machine_here, batch=batch, context=length),
            prefill(architecture, machine_here, batch=batch, prompt=length),
        ):
            parts = seconds_by_part(step)
            assert np.all(parts >= 0)
            assert parts.sum(axis=0) == pytest.approx(step.seconds_sum, rel=1e-9)


def test_a_step_that_waits_for_memory_is_charged_by_its_bytes():
    step = decode(model(LLAMA), H100, batch=[1, 32], context=2048)
    parts = by_name(step)
    assert parts["weights"] == pytest.approx(step.weight_bytes / 3350e9)
    assert parts["kv_cache"] == pytest.approx(step.kv_bytes / 3350e9)
    assert parts["compute"].tolist() == [0, 0]


def test_a_prefill_that_waits_for_arithmetic_is_charged_to_compute():
    parts = by_name(prefill(model(LLAMA), H100, batch=1, prompt=8192))
    assert parts["compute"] > 0.95 * sum(parts.values())
    assert parts["kv_cache"] == 0


def test_links_and_launches_are_parts_of_their_own():
    alone = by_name(decode(model(LLAMA), on("h100-sxm", 1, TYPICAL), batch=8, context=2048))
    many = by_name(decode(model(LLAMA), on("h100-sxm", 8, TYPICAL), batch=8, context=2048))
    assert alone["communication"] == 0 < many["communication"]
    assert alone["launch"] == pytest.approx(many["launch"])


def test_kv_overtakes_the_weights_of_llama_at_the_batch_found_by_hand():
    """Weights without the embedding table, 7,504,658,432 in bf16; 131,072 bytes a cached token."""
    found = kv_overtakes_weights_batch(model(LLAMA), context=2048)
    by_hand = 7_504_658_432 * 2 / (131_072 * 2049)  # 2,048 read and one written
    assert float(found) == pytest.approx(by_hand, rel=1e-3)


@pytest.mark.parametrize("slug", [*DENSE, *EXPERTS])
@pytest.mark.parametrize("tp", [1, 16])
def test_where_kv_overtakes_the_bytes_are_equal(slug, tp):
    context = np.array([300.0, 5000.0, 90_000.0])
    found = kv_overtakes_weights_batch(model(slug), context=context, tp=tp)
    inside = (found > 1) & (found < LARGEST_BATCH)
    assert inside.any()
    step = decode(model(slug), machine(chip("h100-sxm"), tp=tp), batch=found, context=context)
    ratio = (step.kv_bytes / step.weight_bytes)[inside]
    assert ratio == pytest.approx(np.ones_like(ratio), rel=1e-2 if slug in EXPERTS else 1e-9)


def test_kv_overtakes_at_once_or_never():
    assert kv_overtakes_weights_batch(model("llama-2-7b"), context=10**6) == 1
    never = kv_overtakes_weights_batch(model("llama-3.1-405b"), context=0, kv="int4")
    assert never == np.inf  # even what a step writes stays below the weights


@pytest.mark.parametrize("slug", [*DENSE, *EXPERTS])
@pytest.mark.parametrize("efficiency", [IDEAL, TYPICAL], ids=["ideal", "typical"])
@pytest.mark.parametrize("slower", [0.0, 0.1, 1.0])
def test_one_more_sequence_would_no_longer_be_nearly_free(slug, efficiency, slower):
    machine_here = on("h100-sxm", 8, efficiency)
    context = np.array([16.0, 2000.0, 100_000.0])
    how = {"context": context, "weights": "fp8"}
    found = nearly_free_batch(model(slug), machine_here, slower=slower, **how)

    def seconds(batch):
        return decode(model(slug), machine_here, batch=batch, **how).seconds_sum

    assert np.all(found == np.round(found))
    assert np.all(seconds(found) <= (1 + slower) * seconds(1))
    assert np.all(seconds(found + 1) > (1 + slower) * seconds(1))


def test_more_patience_and_less_context_lengthen_the_free_stretch():
    found = [nearly_free_batch(model(LLAMA), H100, context=[128, 2048, 8192], slower=share)
             for share in (0.05, 0.1, 0.5)]
    assert np.all(np.diff(found, axis=0) > 0)
    assert np.all(np.diff(found, axis=1) < 0)


def test_experts_have_hardly_a_free_stretch():
    """A second token touches nearly as many further experts as the first."""
    assert nearly_free_batch(model("qwen3-30b-a3b"), H100, context=2048) == 1
    assert nearly_free_batch(model("qwen3-32b"), H100, context=2048) > 10


@pytest.mark.parametrize("slower", [-0.1, np.inf, np.nan])
def test_a_senseless_patience_is_refused(slower):
    with pytest.raises(InputError, match="slower"):
        nearly_free_batch(model(LLAMA), H100, context=2048, slower=slower)


@pytest.mark.parametrize("slug", [*DENSE, *EXPERTS])
@pytest.mark.parametrize("efficiency", [IDEAL, TYPICAL], ids=["ideal", "typical"])
@pytest.mark.parametrize("name", ["h100-sxm", "h20", "rtx-4090"])
def test_at_the_knee_the_weights_stop_leading(slug, efficiency, name):
    machine_here = on(name, 8, efficiency)
    context = np.array([64.0, 2000.0, 60_000.0])
    found = knee(model(slug), machine_here, context=context)
    assert np.all(np.isfinite(found.batch))
    reduces = 2 * sum(group.count for group in model(slug).groups) if machine_here.tp > 1 else 0

    def lead(batch):
        parts = by_name(decode(model(slug), machine_here, batch=batch, context=context))
        parts["communication"] = parts["communication"] - reduces * efficiency.all_reduce_seconds
        rivals = {part: parts[part] for part in set(PARTS) - {"weights", "launch"}}
        return parts["weights"], rivals

    weights, rivals = lead(found.batch)
    assert np.all(weights < np.max(list(rivals.values()), axis=0))
    for index, part in enumerate(found.part.tolist()):
        assert rivals[part][index] == max(values[index] for values in rivals.values())
    later = found.batch > 1
    weights, rivals = lead(np.maximum(found.batch - 1, 1))
    assert np.all((weights >= np.max(list(rivals.values()), axis=0))[later])


@pytest.mark.parametrize("slug", DENSE)
def test_the_knee_is_where_kv_overtakes_or_where_the_linear_layers_cross_the_ridge(slug):
    context = np.array([16.0, 8192.0])
    found = knee(model(slug), H100, context=context)
    assert found.part.tolist() == ["compute", "kv_cache"]
    crossing = linear_crossing_batch(model(slug), H100)
    overtakes = kv_overtakes_weights_batch(model(slug), context=context[1])
    assert found.batch[0] == pytest.approx(float(crossing), rel=0.05)
    assert found.batch[1] == np.floor(overtakes) + 1


@pytest.mark.parametrize("slug", DENSE)
def test_beyond_a_knee_of_kv_throughput_can_at_most_double(slug):
    """Step = W + k B with W = k B at the knee: B / (W + k B) tends to twice its value there."""
    found = knee(model(slug), H100, context=8192)
    ends = np.array([float(found.batch), LARGEST_BATCH])
    step = decode(model(slug), H100, batch=ends, context=8192)
    at_knee, at_end = system_tokens_per_second(step, ends)
    assert 1.5 * at_knee < at_end < 2 * at_knee


def test_links_can_rule_too():
    found = knee(model("llama-3.1-70b"), on("rtx-4090", 8, TYPICAL), context=128)
    assert found.part == "communication"


def test_a_sweep_equals_its_points():
    bandwidth = np.array([1000e9, 3350e9, 20_000e9])
    context = np.array([100.0, 2048.0, 30_000.0])
    wide = machine(chip("h100-sxm"), bandwidth=bandwidth)
    together = knee(model(LLAMA), wide, context=context)
    free = nearly_free_batch(model(LLAMA), wide, context=context)
    for index in range(3):
        one = machine(chip("h100-sxm"), bandwidth=bandwidth[index])
        alone = knee(model(LLAMA), one, context=context[index])
        assert (alone.batch, alone.part) == (together.batch[index], together.part[index])
        assert nearly_free_batch(model(LLAMA), one, context=context[index]) == free[index]


@given(some_model, some_chip, chip_numbers, batches)
def test_speeds_of_users_chips_and_system_agree(architecture, one, tp, batch):
    machine_here = on(one.slug, tp)
    step = decode(architecture, machine_here, batch=batch, context=512)
    user, system = user_tokens_per_second(step), system_tokens_per_second(step, batch)
    assert user * batch == pytest.approx(system)
    assert chip_tokens_per_second(step, batch) * machine_here.tp == pytest.approx(system)
