"""What moved a percentile: each cause is brought about on its own, and found."""

from __future__ import annotations

import numpy as np
import pytest

from physics.catalogue import model
from physics.chips import chip
from physics.machine import machine
from physics.serving.cause import itl_cause, ttft_cause
from physics.serving.contest import Standing, alone, standing, steady
from physics.serving.design import chunked, colocated, disaggregated
from physics.serving.simulation import simulate
from physics.serving.targets import Targets
from physics.serving.traffic import Fixed, Load

LLAMA, H100 = model("llama-3.1-8b"), machine(chip("h100-sxm"))
TOGETHER, SPLIT = colocated(LLAMA, H100), disaggregated(LLAMA, H100)


def stood(design, *, rate: float, prompt: int = 2048, output: int = 256) -> Standing:
    load = Load(150, Fixed(prompt), Fixed(output))
    return standing(simulate(design, steady(load, rate)), Targets(ttft=1.0))


def reading(prompt: int) -> float:
    return alone(TOGETHER, prompt=prompt, output=256).ttft_seconds


def test_more_requests_make_prompts_wait():
    before, after = stood(TOGETHER, rate=1), stood(TOGETHER, rate=20)
    cause = ttft_cause(before, after, reading(2048), reading(2048))
    assert cause.name == "queue"
    assert cause.values["queue"] == (before.queue.p99, after.queue.p99)
    back = ttft_cause(after, before, reading(2048), reading(2048))
    assert back.name == "queue"  # and fewer requests undo it


def test_a_longer_prompt_takes_longer_alone():
    before, after = stood(SPLIT, rate=0.05), stood(SPLIT, rate=0.05, prompt=8192)
    cause = ttft_cause(before, after, reading(2048), reading(8192))
    assert cause.name == "alone"
    assert cause.values["alone"] == (reading(2048), reading(8192))


def test_a_smaller_budget_reads_a_prompt_beside_more_answers():
    before = stood(chunked(LLAMA, H100, chunk_tokens=4096), rate=10)
    after = stood(chunked(LLAMA, H100, chunk_tokens=128), rate=10)
    assert ttft_cause(before, after, reading(2048), reading(2048)).name in ("beside", "queue")
    assert itl_cause(before, after, gaps=255).name == "mixed"


def test_the_parts_of_a_first_token_leave_nothing_out():
    """The cause is the part that moved farthest with the whole: none moved farther."""
    before, after = stood(TOGETHER, rate=2), stood(TOGETHER, rate=12, prompt=3072)
    cause = ttft_cause(before, after, reading(2048), reading(3072))
    whole = after.ttft.p99 - before.ttft.p99
    assert whole > 0
    one, other = cause.values[cause.name]
    assert other - one >= whole / 3


@pytest.mark.parametrize("rate", [8, 15])
def test_prompts_that_stop_answers_are_the_cause_when_one_process_does_both(rate):
    before, after = stood(TOGETHER, rate=1), stood(TOGETHER, rate=rate)
    cause = itl_cause(before, after, gaps=255)
    assert cause.name == "stops"
    assert cause.values["stops"][1] > cause.values["stops"][0]
    # A stop is a prefill: as long as one takes alone, or several at once.
    assert after.stop_seconds >= 0.99 * reading(2048)


def test_a_larger_batch_lengthens_the_steps_of_a_pool():
    before, after = stood(SPLIT, rate=2), stood(SPLIT, rate=12)
    cause = itl_cause(before, after, gaps=255)
    assert cause.name == "step"
    assert cause.values["batch"][1] > cause.values["batch"][0]


def test_a_slow_link_shows_where_answers_are_short():
    slow = disaggregated(LLAMA, H100, link=1.25e9)
    before, after = stood(SPLIT, rate=2, output=32), stood(slow, rate=2, output=32)
    cause = itl_cause(before, after, gaps=31)
    assert cause.name == "transfer"
    size = 2 * 32 * 8 * 128 * 2 * 2048  # K and V, layers, heads, head size, bf16, tokens
    assert cause.values["transfer"][1] >= size / 1.25e9
    # One late gap in 255 is no percentile.
    assert itl_cause(before, after, gaps=255).name == "step"


def test_without_mixed_steps_a_chunked_design_is_judged_by_its_other_steps():
    quiet = stood(chunked(LLAMA, H100), rate=0.001, output=2)
    assert np.isnan(quiet.mixed_seconds)
    assert itl_cause(quiet, quiet, gaps=1).name == "step"
