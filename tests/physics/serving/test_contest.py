"""Who keeps the targets, which design is enough, and the times that explain it."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given as these
from hypothesis import settings
from hypothesis import strategies as st

from physics.catalogue import model
from physics.chips import chip
from physics.kv_cache import kv_bytes_per_sequence
from physics.machine import machine
from physics.request import request
from physics.serving.contest import (
    COMFORTABLE_BATCH,
    LONGEST,
    alone,
    enough,
    kept,
    standing,
    steady,
    suggested_rate,
    varied,
)
from physics.serving.design import KINDS, Design, chunked, colocated, disaggregated
from physics.serving.ledger import PREFILL
from physics.serving.result import Result
from physics.serving.simulation import simulate
from physics.serving.targets import Targets
from physics.serving.traffic import Fixed, Load

LINK = 50e9
TARGETS = Targets(ttft=0.15, itl=0.01, tpot=0.01)


def design(kind: str, slug: str = "llama-3.1-8b", tp: int = 1, **settings: float) -> Design:
    on = machine(chip("h100-sxm"), tp=tp)
    if kind == "disaggregated":
        return disaggregated(model(slug), on, **({"link": LINK} | settings))
    return (chunked if kind == "chunked" else colocated)(model(slug), on, instances=2, **settings)


@cache
def run(kind: str, rate: float, *, prompt: int = 2048, output: int = 256, spread: bool = False,
        link: float = LINK) -> Result:
    lengths = (varied(prompt, "prompt"), varied(output, "output")) if spread else (
        Fixed(prompt), Fixed(output))
    settings = {"link": link} if kind == "disaggregated" else {}
    return simulate(design(kind, **settings), steady(Load(100, *lengths), rate))


RUNS = [(kind, rate, spread) for kind in KINDS for rate in (1.0, 10.0, 40.0)
        for spread in (False, True)]


@settings(max_examples=60, deadline=None)
@these(
    st.sampled_from(RUNS),
    *[st.none() | st.floats(1e-3, 1.0)] * 3,
)
def test_the_tightest_targets_of_each_request_judge_as_the_result_does(which, ttft, itl, tpot):
    kind, rate, spread = which
    seen, targets = run(kind, rate, spread=spread), Targets(ttft=ttft, itl=itl, tpot=tpot)
    assert kept(seen).met(targets).tolist() == seen.met(targets).tolist()


def test_a_target_that_a_gap_just_keeps_is_kept():
    seen = run("colocated", 10.0)
    limits = kept(seen)
    for request_ in (0, 50):
        for target, meets in ((limits.itl[request_], True), (limits.itl[request_] * 0.999, False)):
            assert seen.met(Targets(itl=float(target)))[request_] == meets


def test_answers_of_one_token_keep_every_target_of_gaps():
    seen = run("disaggregated", 5.0, output=1)
    assert kept(seen).attainment(Targets(itl=1e-9, tpot=1e-9)) == 1.0


@these(st.integers(2, 60), st.floats(0.01, 500))
def test_exactly_the_rate_arrives_and_nothing_else_of_the_load_changes(count, rate):
    load = Load(count, varied(1000, "prompt"), varied(200, "output"))
    drawn, made = load.at(rate), steady(load, rate)
    assert made.rate == pytest.approx(rate, rel=1e-9)
    assert made.prompt_tokens.tolist() == drawn.prompt_tokens.tolist()
    assert made.arrival_seconds / made.arrival_seconds[-1] == pytest.approx(
        drawn.arrival_seconds / drawn.arrival_seconds[-1])


@pytest.mark.parametrize("part", ["prompt", "output"])
def test_spread_lengths_have_the_mean_and_an_end(part):
    drawn = varied(2000, part).draw(50_000, np.random.default_rng(1))
    assert drawn.mean() == pytest.approx(2000, rel=0.05)
    assert drawn.min() >= 1
    assert drawn.max() == LONGEST * 2000
    assert drawn.std() > 1000


@pytest.mark.parametrize(
    ("slug", "tp"), [("llama-3.1-8b", 1), ("mixtral-8x7b", 4), ("deepseek-v2", 8)]
)
@pytest.mark.parametrize("kind", KINDS)
def test_without_load_every_design_takes_what_one_request_takes(kind, slug, tp):
    """Zero load: the single-request physics, and on a split design one cache over the link."""
    settings = {"chunk_tokens": 4096} if kind == "chunked" else {}
    own = design(kind, slug, tp, **settings)
    one = request(model(slug), own.pools[0].machine, prompt=2048, output=64, batch=1)
    seen = simulate(own, steady(Load(5, Fixed(2048), Fixed(64)), 1e-3))
    stood, single = standing(seen, TARGETS), alone(own, prompt=2048, output=64)
    assert stood.ttft.p99 == pytest.approx(float(one.ttft_seconds), rel=1e-9)
    assert single.ttft_seconds == pytest.approx(float(one.ttft_seconds), rel=1e-12)
    sent = float(kv_bytes_per_sequence(model(slug), 2048)) / LINK if kind == KINDS[2] else 0.0
    assert seen.tpot.mean == pytest.approx(float(one.tpot_seconds) + sent / 63, rel=1e-9)
    assert single.step_seconds == pytest.approx(float(one.tpot_seconds), rel=1e-3)
    if sent:
        assert single.sent_seconds(LINK) == pytest.approx(sent, rel=1e-12)
        assert stood.transfer.p50 == pytest.approx(sent, rel=1e-6)
        assert single.most_sent(LINK) == pytest.approx(1 / sent)


def test_a_stop_lasts_as_long_as_a_prefill_and_is_counted_where_it_falls():
    """An answer's stops: the prefills of its instance that lie between two of its tokens."""
    seen = run("colocated", 10.0)
    stood = standing(seen, TARGETS)
    assert stood.stop_seconds == pytest.approx(
        alone(seen.design, prompt=2048, output=256).ttft_seconds, rel=1e-9)
    met = 0
    for place in range(len(seen)):
        moments = seen.tokens_of(place)
        one = seen.instances[seen.decode_instance[place]]
        read = one.kind == PREFILL
        for before, after in pairwise(moments):
            met += bool(np.any(read & (one.start >= before - 1e-12) & (one.end <= after + 1e-12)))
    assert stood.stops == pytest.approx(met / len(seen))


def test_only_prompts_in_front_stop_others():
    assert standing(run("colocated", 10.0), TARGETS).stops > 3
    assert standing(run("chunked", 10.0), TARGETS).stops == 0
    assert standing(run("disaggregated", 10.0), TARGETS).stops == 0


def test_a_link_is_full_where_more_is_sent_than_it_carries():
    one = alone(design("colocated"), prompt=2048, output=256)
    for carried, full in ((0.8, True), (1.05, True), (1.5, False)):
        slow = carried * 10 * one.kv_bytes
        stood = standing(run("disaggregated", 10.0, link=slow), TARGETS)
        assert stood.link_load == pytest.approx(1 / carried)
        assert stood.link_is_full == full
        assert (stood.transfer.p50 > 2 * one.sent_seconds(slow)) == full
    assert np.isnan(standing(run("colocated", 10.0), TARGETS).link_load)


def test_what_is_missed_is_named():
    slow_gaps, slow_start = Targets(ttft=10, itl=0.001), Targets(ttft=0.001, itl=10)
    for kind in KINDS:
        seen = run(kind, 10.0)
        assert standing(seen, slow_gaps).missed == "itl"
        assert standing(seen, slow_start).missed == "ttft"
        assert standing(seen, Targets(ttft=10, itl=10)).missed == "none"


@pytest.mark.parametrize(("prompt", "output"), [(128, 256), (2048, 256), (8192, 64), (512, 2048)])
@pytest.mark.parametrize("pools", [(1, 1), (1, 3), (2, 2)])
def test_the_suggested_rate_fills_no_pool(prompt, output, pools):
    pair = design("disaggregated", prefill_instances=pools[0], decode_instances=pools[1])
    rate = suggested_rate(pair, prompt=prompt, output=output)
    seen = simulate(pair, steady(Load(200, Fixed(prompt), Fixed(output)), rate))
    stood = standing(seen, TARGETS)
    assert stood.prefill_busy < 0.55
    assert stood.decode_batch < 1.6 * COMFORTABLE_BATCH


def test_the_simplest_of_the_best_is_enough():
    assert enough([10, 10, 10], [2, 2, 2], 10) == 0
    assert enough([9.89, 9.95, 10], [2, 2, 2], 10) == 1
    assert enough([5, 6, 10], [2, 2, 2], 10) == 2
    assert enough([4.9, 0, 3], [2, 2, 2], 10) == -1


def test_designs_of_different_size_are_compared_by_chip():
    assert enough([10, 11], [2, 4], 12) == 0
    assert enough([10, 21], [2, 4], 21) == 1
