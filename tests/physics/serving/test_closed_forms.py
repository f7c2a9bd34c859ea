"""Queues, Little's law, and a server without load."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from physics.catalogue import models
from physics.machine import Machine
from physics.request import request, token_seconds
from physics.serving.design import chunked, colocated, disaggregated
from physics.serving.simulation import simulate
from physics.serving.traffic import Fixed, poisson
from physics.serving.traffic import given as requests_given
from physics.step import decode, prefill
from tests.physics.serving.services import EXACT, H100, H200, LLAMA, three_designs
from tests.physics.strategies import settings

CHUNKED_WINDOWS = {"llama-4-scout"}  # whose TPOT `request` gives approximately


def one_by_one(prompt: int, output: int) -> float:
    """Seconds that a request takes alone."""
    return float(request(LLAMA, H100, prompt=prompt, output=output, batch=1).e2e_seconds)


# One request at a time is a queue with one server: M/D/1

@pytest.mark.parametrize("busy", [0.4, 0.7])
def test_waiting_is_that_of_m_d_1(busy):
    """Pollaczek and Khinchine: W = rho s / (2 (1 - rho)) for a constant service time s.

    Within a tenth: about four standard errors of the mean of 10,000 waits.
    """
    prompt, output = 512, 8
    service = one_by_one(prompt, output)
    traffic = poisson(busy / service, requests=10_000, prompt=Fixed(prompt), output=Fixed(output))
    seen = simulate(colocated(LLAMA, H100, max_batch=1), traffic)
    load = traffic.rate * service
    assert seen.queue.mean == pytest.approx(load * service / (2 * (1 - load)), rel=0.1)
    assert seen.utilisation("both") == pytest.approx(load, rel=0.01)


@settings(max_examples=15)
@given(st.floats(0.1, 3), st.integers(0, 1000))
def test_each_waits_for_what_is_left_of_the_one_before(busy, seed):
    """Lindley: W' = max(0, W + s - gap), request by request."""
    prompt, output = 300, 5
    service = one_by_one(prompt, output)
    traffic = poisson(busy / service, requests=100, prompt=Fixed(prompt), output=Fixed(output),
                      seed=seed)
    seen = simulate(colocated(LLAMA, H100, max_batch=1), traffic)
    waiting = [0.0]
    for gap in np.diff(traffic.arrival_seconds):
        waiting.append(max(0.0, waiting[-1] + service - gap))
    np.testing.assert_allclose(seen.queue_seconds, waiting, rtol=EXACT, atol=EXACT * service)


def test_a_prefill_pool_that_reads_one_prompt_at_a_time_is_m_d_1_too():
    """DistServe, section 3.1: TTFT = s + rho s / (2 (1 - rho))."""
    prompt, busy = 2048, 0.5
    service = float(prefill(LLAMA, H100, batch=1, prompt=prompt).seconds_sum)
    traffic = poisson(busy / service, requests=4000, prompt=Fixed(prompt), output=Fixed(2))
    seen = simulate(disaggregated(LLAMA, H100, prefill_tokens=1), traffic)
    assert seen.ttft.mean == pytest.approx(service + busy * service / (2 * (1 - busy)), rel=0.05)


# Little's law

@pytest.mark.parametrize("design", three_designs(), ids=lambda one: one.kind)
def test_requests_under_way_are_rate_times_time(design):
    """N = lambda W, with N looked at from outside, at moments that know nothing of requests."""
    seen = simulate(design, poisson(10, requests=1000, prompt=Fixed(1000), output=Fixed(100)))
    moments = np.linspace(seen.arrival[0], seen.end.max(), 400_000)
    for counted, spent in ((seen.under_way(moments), seen.e2e),
                           (seen.waiting(moments), seen.queue)):
        assert counted.mean() == pytest.approx(seen.requests_per_second * spent.mean, rel=0.02)


def test_a_decode_pool_holds_each_sequence_for_as_long_as_it_is_written():
    """What the steps say they carry, over their time, is what the requests say they spent."""
    design = disaggregated(LLAMA, H100, decode_instances=2, link=50e9)
    seen = simulate(design, poisson(10, requests=500, prompt=Fixed(1000), output=Fixed(100)))
    decoding = [one for one in seen.instances if one.pool == "decode"]
    carried = sum(float((one.seconds * one.writing).sum()) for one in decoding)
    assert carried == pytest.approx(float((seen.end - seen.decode_start).sum()), rel=EXACT)


# Without load

def far_apart(prompt: int, output: int, count: int = 3):
    return requests_given(1e4 * np.arange(count), prompt=prompt, output=output)


@settings(max_examples=40)
@given(st.sampled_from(sorted(models())), st.sampled_from(range(3)), st.integers(1, 3000),
       st.integers(1, 400))
def test_a_request_alone_takes_what_the_physics_of_one_request_says(slug, which, prompt, output):
    architecture, on = models()[slug], H200
    on = Machine(**{**vars(on), "capacity": 1e13})
    seen = simulate(three_designs(architecture, on)[which], far_apart(prompt, output))
    alone = request(architecture, on, prompt=prompt, output=output, batch=1)
    # Times are differences of moments up to 2e4 s, which are known to 4e-12 s.
    near = {"rtol": EXACT, "atol": 1e-11}
    np.testing.assert_allclose(seen.ttft_seconds, float(alone.ttft_seconds), **near)
    steps = decode(architecture, on, batch=1, context=prompt + np.arange(output - 1)).seconds_sum \
        if output > 1 else np.zeros(0)
    np.testing.assert_allclose(np.diff(seen.tokens_of(0)), steps, **near)
    np.testing.assert_allclose(seen.itl_seconds, np.tile(steps, 3), **near)
    if slug not in CHUNKED_WINDOWS:
        np.testing.assert_allclose(seen.e2e_seconds, float(alone.e2e_seconds), **near)
        np.testing.assert_allclose(seen.tpot_seconds, float(alone.tpot_seconds), **near)


def test_tokens_of_the_first_request_come_when_the_timeline_of_one_request_says():
    seen = simulate(colocated(LLAMA, H100), requests_given([0.0], prompt=2048, output=256))
    at = token_seconds(LLAMA, H100, prompt=2048, output=256, batch=1, tokens=np.arange(1, 257))
    np.testing.assert_allclose(seen.token_seconds, at, rtol=EXACT)


def test_equal_requests_at_once_are_one_batch():
    seen = simulate(colocated(LLAMA, H100), requests_given(np.zeros(8), prompt=512, output=64))
    batch = request(LLAMA, H100, prompt=512, output=64, batch=8)
    np.testing.assert_allclose(seen.ttft_seconds, float(batch.ttft_seconds), rtol=EXACT)
    np.testing.assert_allclose(seen.e2e_seconds, float(batch.e2e_seconds), rtol=EXACT)


def test_a_prompt_in_pieces_takes_a_step_for_each():
    seen = simulate(chunked(LLAMA, H100, chunk_tokens=512), far_apart(1300, 2))
    pieces = [prefill(LLAMA, H100, batch=1, prompt=new, cached_tokens=cached).seconds_sum
              for new, cached in ((512, 0), (512, 512), (276, 1024))]
    assert seen.ttft.mean == pytest.approx(float(sum(pieces)), rel=EXACT)
    assert seen.ttft.mean > float(prefill(LLAMA, H100, batch=1, prompt=1300).seconds_sum)
