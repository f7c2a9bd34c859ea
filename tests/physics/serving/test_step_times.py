"""Looked-up step times are those of `step`, also where the sequences differ."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from physics.catalogue import model, models
from physics.chips import chip
from physics.errors import InputError
from physics.kv_cache import kv_bytes_per_sequence
from physics.machine import machine, side_by_side
from physics.serving.times import LONGEST, StepTimes
from physics.step import Step, decode, step
from tests.physics.serving.services import H100, H200, LLAMA
from tests.physics.strategies import settings

ROUNDING = 1e-12
TOKENS = 12_000
KEPT = ("attention", "recurrence", "kv_up")
some_slug = st.sampled_from(sorted(models()))
efficiencies = st.sampled_from(["ideal", "typical"])


@cache
def times_of(slug: str, efficiency: str = "ideal", tp: int = 4, kv: str = "bf16"):
    architecture, on = model(slug), machine(chip("h200-sxm"), tp=tp, efficiency=efficiency)
    return architecture, on, StepTimes(architecture, on, longest=TOKENS, kv=kv)


@settings(max_examples=40)
@given(some_slug, efficiencies, st.sampled_from([1, 4, 16]), st.sampled_from(["bf16", "fp8"]),
       st.integers(1, 600), st.integers(0, TOKENS - 100), st.integers(1, 50))
@example("jamba-1.5-mini", "ideal", 4, "bf16", 3, 700, 2)  # a recurrence has weights of its own
def test_equal_sequences_that_write_take_what_step_says(slug, efficiency, tp, kv, batch, context,
                                                        steps):
    architecture, on, times = times_of(slug, efficiency, tp, kv=kv)
    said = decode(architecture, on, batch=batch, context=context + np.arange(steps), kv=kv)
    found = times.decode_seconds(np.full(batch, context), steps)
    np.testing.assert_allclose(found, said.seconds_sum, rtol=ROUNDING)


@settings(max_examples=40)
@given(some_slug, efficiencies, st.integers(1, 40), st.integers(1, 6000),
       st.integers(0, TOKENS - 6000))
@example("jamba-1.5-mini", "ideal", 3, 100, 50)
@example("deepseek-v3", "typical", 2, 100, 5000)  # expands its latent cache
def test_equal_prompts_take_what_step_says(slug, efficiency, batch, new, cached):
    architecture, on, times = times_of(slug, efficiency)
    said = step(architecture, on, batch=batch, new_tokens=new, cached_tokens=cached)
    found = times.prefill_seconds(np.full(batch, new), np.full(batch, cached))
    assert found == pytest.approx(float(said.seconds_sum), rel=ROUNDING)
    alone = times.mixed_seconds(np.zeros(0, dtype=int), np.full(batch, new), np.full(batch, cached))
    assert alone == found


def summed(steps: list[Step], on) -> float:
    """Seconds of the kept operators of several sequences: all sums first, their weights once."""
    kept = np.array([name.startswith(KEPT) for name in steps[0].names])
    compute = sum(one.compute_seconds[kept] for one in steps)
    weights = steps[0].weight_bytes_by_operator[kept] / on.tp / (
        on.bandwidth * on.efficiency.memory)
    memory = sum(one.memory_seconds[kept] for one in steps) - (len(steps) - 1) * weights
    return float(np.maximum(compute, memory).sum() + steps[0].launch_seconds[kept].sum())


def together(one: Step, *, names: set[str] | None = None) -> float:
    """Seconds of the operators that see rows alone."""
    chosen = [not name.startswith((*KEPT, "head", "absorb")) if names is None else name in names
              for name in one.names]
    return float(one.seconds_by_operator[np.array(chosen)].sum())


@settings(max_examples=40)
@given(some_slug, efficiencies,
       st.lists(st.integers(0, TOKENS - 1), min_size=1, max_size=5),
       st.lists(st.tuples(st.integers(1, 3000), st.integers(0, TOKENS - 3000)), max_size=3))
def test_a_mixed_step_is_summed_over_its_sequences(slug, efficiency, contexts, pieces):
    """Once more without tables: `step` of each sequence alone, added up."""
    architecture, on, times = times_of(slug, efficiency)
    writing = [step(architecture, on, batch=1, new_tokens=1, cached_tokens=context, absorbed=True)
               for context in contexts]
    reading = [step(architecture, on, batch=1, new_tokens=new, cached_tokens=cached)
               for new, cached in pieces]
    rows, batch = len(contexts) + sum(new for new, _ in pieces), len(contexts)

    def all_rows(count: int) -> Step:
        return step(architecture, on, batch=count, new_tokens=1, cached_tokens=0, absorbed=True)

    expected = (
        together(all_rows(rows))
        + together(all_rows(batch + len(pieces)), names={"head"})
        + together(all_rows(batch), names={"absorb"})
        + summed(writing, on)
        + (summed(reading, on) if reading else 0.0)
    )
    if pieces:
        new, cached = np.array(pieces).T
        found = times.mixed_seconds(np.array(contexts), new, cached)
    else:
        found = times.decode_seconds(np.array(contexts), 1)[0]
    assert found == pytest.approx(expected, rel=1e-11)


@settings(max_examples=30)
@given(some_slug, st.lists(st.integers(0, TOKENS - 100), max_size=5), st.integers(1, 300),
       st.integers(0, 3000), st.integers(1, 20))
def test_pieces_one_after_another_are_mixed_steps(slug, contexts, new, cached, steps):
    _, _, times = times_of(slug)
    contexts = np.array(contexts, dtype=int)
    found = times.piece_seconds(contexts, new=new, cached=cached, steps=steps)
    for place, seconds in enumerate(found):
        one = times.mixed_seconds(contexts + place, np.array([new]),
                                  np.array([cached + place * new]))
        assert seconds == pytest.approx(one, rel=ROUNDING)


@given(st.lists(st.integers(1, TOKENS - 1), min_size=2, max_size=100))
def test_full_attention_takes_what_step_says_at_the_mean_context(contexts):
    architecture, on, times = times_of("llama-3.1-8b", "typical")
    said = decode(architecture, on, batch=len(contexts), context=np.mean(contexts)).seconds_sum
    found = times.decode_seconds(np.array(contexts), 1)[0]
    assert found == pytest.approx(float(said), rel=ROUNDING)


@settings(max_examples=30)
@given(some_slug, st.lists(st.integers(1, 8000), min_size=1, max_size=50), st.integers(1, 4000))
def test_a_piece_of_a_prompt_beside_writing_costs_less_than_a_step_of_its_own(slug, contexts, new):
    _, _, times = times_of(slug)
    contexts, new, cached = np.array(contexts), np.array([new]), np.array([0])
    mixed = times.mixed_seconds(contexts, new, cached)
    writing = times.decode_seconds(contexts, 1)[0]
    reading = times.prefill_seconds(new, cached)
    assert max(writing, reading) < mixed < writing + reading


@given(some_slug, st.lists(st.integers(0, TOKENS - 200), min_size=1, max_size=20),
       st.integers(0, 100))
def test_kept_bytes_are_those_of_the_sequences(slug, contexts, ahead):
    architecture, on, times = times_of(slug)
    contexts = np.array(contexts) + 1
    said = kv_bytes_per_sequence(architecture, contexts + ahead, "bf16", on.tp)
    assert times.kv_bytes_of(contexts, ahead) == pytest.approx(float(said.sum()), rel=ROUNDING)
    assert times.kv_bytes(int(contexts[0])) == float(
        kv_bytes_per_sequence(architecture, contexts[0], "bf16", on.tp))


def test_many_machines_at_once_are_refused():
    with pytest.raises(InputError, match="one machine"):
        StepTimes(LLAMA, side_by_side([H100, H200]))


def test_tables_without_end_are_refused():
    with pytest.raises(InputError, match="1,048,576"):
        StepTimes(LLAMA, H100, longest=LONGEST + 1)
