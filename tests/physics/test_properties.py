"""What must hold for every model, chip and number, whatever their values."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from physics.architecture import Attention, LatentAttention
from physics.catalogue import models
from physics.chips import chip, chips
from physics.formats import BITS_PER_ELEMENT
from physics.kv_cache import attended_pairs, kv_bytes_per_sequence, kv_bytes_per_token
from physics.machine import IDEAL, TYPICAL, Machine, machine
from physics.memory import bytes_short, max_batch
from physics.request import request
from physics.step import Step, decode, prefill

settings.register_profile("house", deadline=None, max_examples=60,
                          suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("house")

CHIPS = ("h100-sxm", "a100-sxm-80gb", "tpu-v5e", "h20", "mi300x", "rtx-4090", "wse-3")

some_model = st.sampled_from(list(models().values()))
some_chip = st.sampled_from(CHIPS).map(chip)
some_format = st.sampled_from(list(BITS_PER_ELEMENT))
tokens = st.integers(1, 100_000)
batches = st.integers(1, 2000)
chip_numbers = st.sampled_from([1, 2, 4, 8])

PARTS = ("flop", "weight_bytes", "kv_bytes", "activation_bytes", "bytes", "seconds_sum",
         "seconds_overlap", "intensity", "mfu", "mbu")


def both_phases(architecture, on: Machine, batch, length, **formats) -> tuple[Step, Step]:
    return (prefill(architecture, on, batch=batch, prompt=length, **formats),
            decode(architecture, on, batch=batch, context=length, **formats))


def no_less(larger, smaller) -> bool:
    """Compare up to the rounding of long sums."""
    return bool(np.all(larger >= smaller * (1 - 1e-12)))


# A sweep is its points

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


# Monotone

@given(some_model, some_chip, chip_numbers, batches, tokens, st.integers(1, 1000))
def test_more_work_takes_no_less_time(architecture, on, tp, batch, length, extra):
    on = machine(on, tp=tp if on.link else 1, efficiency="typical")
    base = both_phases(architecture, on, batch, length)
    for other in (both_phases(architecture, on, batch + extra, length),
                  both_phases(architecture, on, batch, length + extra)):
        for small, large in zip(base, other, strict=True):
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


# Bounds and sums

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
                      for each in (IDEAL, TYPICAL))
    for best, real in zip(ideal, typical, strict=True):
        assert real.seconds_sum > best.seconds_sum
        assert real.seconds_overlap > best.seconds_overlap
        assert (real.flop, real.bytes) == (best.flop, best.bytes)


# Limits

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


def linear_parameters(architecture) -> float:
    """Matrices that every decoded token passes: no lookup, no norms, no idle experts.

    Biases are no matrices, and are well under a thousandth of a model that has them.
    """
    parts = architecture.parameters_by_part
    head = architecture.vocabulary * architecture.hidden
    idle = sum(group.count * group.mlp.idle_parameters(architecture.hidden)
               for group in architecture.groups if hasattr(group.mlp, "idle_parameters"))
    return (sum(parts[name] for name in ("attention", "mlp", "experts", "shared_experts", "router"))
            + head - idle)


@pytest.mark.parametrize("slug", list(models()))
@pytest.mark.parametrize("context", [0, 100, 10_000])
def test_decode_flop_is_two_a_parameter_and_the_attention(slug, context):
    """FLOP = B (2 P + a S): P the matrices passed, a the FLOP of a visible cached token."""
    architecture = models()[slug]
    step = decode(architecture, machine(chip("h100-sxm")), batch=3, context=context)
    attention = 0.0
    for group in architecture.groups:
        each = group.attention
        seen = min(context + 1, each.window or context + 1)
        dims = (2 * each.kv_rank + each.rope_dim if isinstance(each, LatentAttention)
                else each.key_dim + each.value_dim)
        attention += group.count * 2.0 * each.heads * dims * seen
    right = 3 * (2 * linear_parameters(architecture) + attention)
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
    once = 5 * kv_bytes_per_sequence(architecture, 1)
    assert step.kv_bytes == 2 * once  # written, and read by the query of the same token


# The cache

@given(some_model, st.integers(1, 50_000), st.integers(1, 50_000))
def test_two_chunks_attend_to_what_one_prefill_attends_to(architecture, first, second):
    a, b = float(first), float(second)
    for group in architecture.groups:
        for window, chunked in ((group.attention.window, False), (128, False), (4096, False),
                                (1000, True)):
            attention = replace(group.attention, window=window, chunked=chunked)
            together = attended_pairs(attention, np.float64(a + b), np.float64(0))
            parts = (attended_pairs(attention, np.float64(a), np.float64(0))
                     + attended_pairs(attention, np.float64(b), np.float64(a)))
            assert parts == together


@given(st.integers(1, 300), st.integers(0, 300), st.integers(1, 200), st.booleans())
def test_pairs_are_those_counted_one_by_one(new, cached, window, chunked):
    attention = Attention(1, 1, 1, 1, window=window, chunked=chunked)
    positions = np.arange(cached, cached + new)
    counted = (positions % window + 1 if chunked else np.minimum(window, positions + 1)).sum()
    assert attended_pairs(attention, np.float64(new), np.float64(cached)) == counted
    full = replace(attention, window=None, chunked=False)
    assert attended_pairs(full, np.float64(new), np.float64(cached)) == (positions + 1).sum()


@given(some_model, st.integers(1, 50_000), st.integers(1, 50_000))
def test_two_chunks_do_the_attention_work_of_one_prefill(architecture, first, second):
    on = machine(chip("h100-sxm"))

    def attention(step: Step) -> float:
        return sum(float(step.flop_by_operator[i]) for i, name in enumerate(step.names)
                   if name.startswith("attention"))

    whole = prefill(architecture, on, batch=2, prompt=first + second)
    one = prefill(architecture, on, batch=2, prompt=first)
    two = prefill(architecture, on, batch=2, prompt=second, cached_tokens=first)
    assert attention(one) + attention(two) == pytest.approx(attention(whole), rel=1e-12)


@given(some_model.filter(lambda each: "window" not in each.attention_kind), batches, tokens,
       st.integers(0, 50_000), some_format)
def test_each_token_is_written_once_and_each_visible_one_read_once(
    architecture, batch, new, cached, kv
):
    step = prefill(architecture, machine(chip("h100-sxm")), batch=batch, prompt=new,
                   cached_tokens=cached, kv=kv)
    a_token = batch * float(kv_bytes_per_token(architecture, kv))
    assert float(step.kv_bytes) == pytest.approx(a_token * ((new + cached) + new), rel=1e-12)


# Tensor parallel

@given(some_model.filter(lambda each: each.attention_kind != "MLA"), st.sampled_from([2, 4]),
       batches, tokens)
def test_dividing_the_heads_changes_no_total(architecture, tp, batch, length):
    """Every catalogued model has 4 or more key-value heads: nothing is copied but the router."""
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
    """Ring all-reduce: 2 (t - 1) / t x bytes over the link (nccl-tests, PERFORMANCE.md)."""
    on = machine(chip("h100-sxm"), tp=tp)
    for step, rows in zip(both_phases(architecture, on, batch, length), (batch * length, batch),
                          strict=True):
        message = rows * architecture.hidden * 2
        right = 2 * architecture.layers * 2 * (tp - 1) / tp * message / 450e9
        assert float(step.communication_seconds.sum()) == pytest.approx(right, rel=1e-12)


# Requests

@settings(max_examples=40)
@given(some_model, some_chip, some_format, st.integers(1, 300), st.integers(2, 400), batches,
       st.sampled_from(["ideal", "typical"]))
def test_tpot_is_the_mean_of_all_steps(architecture, on, kv, prompt, output, batch, efficiency):
    on = machine(on, efficiency=efficiency)
    asked = request(architecture, on, prompt=prompt, output=output, batch=batch, kv=kv)
    steps = decode(architecture, on, batch=batch, context=prompt + np.arange(output - 1), kv=kv)
    assert float(asked.tpot_seconds) == pytest.approx(float(steps.seconds_sum.mean()), rel=1e-9)
    first = prefill(architecture, on, batch=batch, prompt=prompt, kv=kv).seconds_sum
    assert asked.ttft_seconds == first
    assert float(asked.e2e_seconds) == pytest.approx(float(first + steps.seconds_sum.sum()))
    assert float(asked.tokens_per_second_user) == pytest.approx(1 / float(asked.tpot_seconds))
    assert float(asked.tokens_per_second_system) == pytest.approx(
        batch * output / float(asked.e2e_seconds))


def test_tpot_is_the_mean_where_attention_turns_compute_bound_on_the_way():
    """Latent attention crosses the ridge of an H200 (206 FLOP/B) at a context of about 1,400."""
    architecture, on = models()["deepseek-v3"], machine(chip("h200-sxm"))
    asked = request(architecture, on, prompt=1, output=5000, batch=64)
    steps = decode(architecture, on, batch=64, context=1 + np.arange(4999))
    assert float(asked.tpot_seconds) == pytest.approx(float(steps.seconds_sum.mean()), rel=1e-9)


def test_one_output_token_has_no_tpot():
    asked = request(models()["llama-3.1-8b"], machine(chip("h100-sxm")), prompt=100, output=1,
                    batch=2)
    assert np.isnan(asked.tpot_seconds)
    assert asked.e2e_seconds == asked.ttft_seconds


# Memory

@given(some_model, st.sampled_from(list(chips().values())), chip_numbers, some_format, some_format,
       tokens)
def test_max_batch_fits_and_one_more_does_not(architecture, on, tp, weights, kv, length):
    on = machine(on, tp=tp if on.link else 1, weights=weights)
    setting = {"tokens": length, "weights": weights, "kv": kv}
    most = float(max_batch(architecture, on, **setting))
    assert most == 0 or bytes_short(architecture, on, batch=most, **setting) == 0
    assert bytes_short(architecture, on, batch=most + 1, **setting) > 0


@given(some_model, tokens, st.integers(1, 200), some_format)
def test_the_cache_on_all_chips_is_no_smaller_than_on_one(architecture, length, tp, kv):
    one = kv_bytes_per_sequence(architecture, length, kv)
    assert no_less(kv_bytes_per_sequence(architecture, length, kv, tp), one)
    assert no_less(one, kv_bytes_per_sequence(architecture, length - 1, kv))


@pytest.mark.parametrize("slug", list(models()))
@pytest.mark.parametrize("tp", [1, 8, 16])
def test_no_step_reads_weights_that_memory_does_not_count(slug, tp):
    """Copies of the router, of key-value heads and of latent projections occupy memory as well."""
    architecture, on = models()[slug], machine(chip("h100-sxm"), tp=tp)
    read = float(prefill(architecture, on, batch=1, prompt=10_000).weight_bytes)
    kept = float(bytes_short(architecture, replace(on, capacity=0.0), batch=0, tokens=1))
    assert read <= kept
