"""Several requests on one machine: against one alone, and against a step-by-step account."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from physics.catalogue import model
from physics.chips import chip
from physics.machine import machine
from physics.request import request, token_seconds
from physics.schedule import DECODE, PREFILL, Schedule, schedule, staggered
from physics.step import decode, prefill

H100 = machine(chip("h100-sxm"))
MODELS = ["llama-3.1-8b", "mixtral-8x7b", "gpt-oss-20b", "nemotron-3-nano-30b-a3b"]
SHARES = [0.0, 0.5, 0.9, 0.99, 1.0]


def step_by_step(name, on, arrivals, prompt, output, batch=1, most=np.inf):
    """Serve the requests one step after another: moments of every token, FLOP and busy time."""
    now, tokens, flop = 0.0, [[] for _ in arrivals], 0.0
    waiting = list(range(len(arrivals)))
    running: list[int] = []
    while waiting or running:
        if not running and waiting:
            now = max(now, arrivals[waiting[0]])
        if waiting and arrivals[waiting[0]] <= now and len(running) < most:
            read = waiting.pop(0)
            one = prefill(model(name), on, batch=batch, prompt=prompt)
            running.append(read)
            written = [read]
        else:
            context = np.mean([prompt + len(tokens[each]) - 1 for each in running])
            one = decode(model(name), on, batch=len(running) * batch, context=context)
            written = list(running)
        now += float(one.seconds_sum)
        flop += float(one.flop)
        for each in written:
            tokens[each].append(now)
            if len(tokens[each]) == output:
                running.remove(each)
    return tokens, flop


def served(name, on, arrivals, prompt, output, **more) -> Schedule:
    return schedule(
        model(name), on, arrival=np.array(arrivals)[:, None], prompt=prompt, output=output, **more
    )


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("efficiency", ["ideal", "typical"])
@pytest.mark.parametrize(("prompt", "output", "batch"), [(2048, 256, 1), (100, 900, 7), (64, 1, 3)])
def test_alone_a_request_takes_what_it_takes(name, efficiency, prompt, output, batch):
    on = machine(chip("h100-sxm"), efficiency=efficiency)
    alone = served(name, on, [3.0], prompt, output, batch=batch)
    one = request(model(name), on, prompt=prompt, output=output, batch=batch)
    for metric in ("ttft_seconds", "e2e_seconds", "tpot_seconds"):
        found, expected = float(getattr(alone, metric)[0, 0]), float(getattr(one, metric))
        assert found == pytest.approx(expected, rel=1e-12, nan_ok=True)
    assert float(alone.tokens_per_second[0]) == pytest.approx(
        float(one.tokens_per_second_system), rel=1e-12
    )
    assert float(alone.queue_seconds[0, 0]) == 0


@pytest.mark.parametrize("name", ["llama-3.1-8b", "mixtral-8x7b"])
def test_tokens_of_one_alone_come_when_they_come(name):
    tokens = np.array([1, 2, 3, 100, 255, 256])
    alone = served(name, H100, [0.0], 2048, 256)
    expected = token_seconds(model(name), H100, prompt=2048, output=256, batch=1, tokens=tokens)
    assert alone.token_moments(tokens[:, None])[0, :, 0] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("most", [np.inf, 2, 1])
@pytest.mark.parametrize(("prompt", "output", "batch"), [(2048, 200, 1), (8000, 40, 4), (30, 7, 2)])
def test_every_token_as_in_a_step_by_step_account(name, most, prompt, output, batch):
    one = request(model(name), H100, prompt=prompt, output=output, batch=batch)
    arrivals = staggered(one.e2e_seconds[None], one.ttft_seconds[None])[:, 0]
    tokens, flop = step_by_step(name, H100, arrivals, prompt, output, batch, most)
    all_of_them = served(name, H100, arrivals, prompt, output, batch=batch, most=most)
    moments = all_of_them.token_moments(np.arange(1, output + 1)[:, None])[..., 0]
    # Windows bend the step time within a run of steps, which is drawn as a straight line.
    assert moments == pytest.approx(np.array(tokens), rel=1e-4)
    assert all_of_them.finish[:, 0] == pytest.approx([each[-1] for each in tokens], rel=1e-9)
    assert all_of_them.flop.sum() == pytest.approx(flop, rel=1e-4)
    gaps = np.diff(tokens, axis=1).ravel()
    expected = np.quantile(gaps, SHARES, method="inverted_cdf")
    assert all_of_them.gap_quantiles(SHARES)[:, 0] == pytest.approx(expected, rel=0.02)
    start, end = (part[:, 0] for part in all_of_them.longest_gap)
    assert end - start == pytest.approx(np.diff(tokens, axis=1).max(axis=1), rel=1e-4)


arrival_lists = st.lists(st.floats(0, 3), min_size=1, max_size=6).map(sorted)


@given(
    name=st.sampled_from(MODELS),
    arrivals=arrival_lists,
    prompt=st.integers(1, 60_000),
    output=st.integers(1, 3000),
    batch=st.integers(1, 64),
    most=st.integers(1, 6),
)
@settings(max_examples=60, deadline=None)
def test_time_is_never_lost_nor_counted_twice(name, arrivals, prompt, output, batch, most):
    one = request(model(name), H100, prompt=prompt, output=output, batch=batch)
    arrivals = np.array(arrivals) * float(one.e2e_seconds)
    found = served(name, H100, arrivals, prompt, output, batch=batch, most=most)
    tiny = 1e-6 * float(one.e2e_seconds)
    assert (found.prefill_start >= found.arrival - tiny).all()
    read = (found.first_token - found.prefill_start)[:, 0]
    assert read == pytest.approx(np.full(len(arrivals), one.ttft_seconds), rel=1e-9)
    # Nobody is faster than alone.
    assert (found.e2e_seconds >= float(one.e2e_seconds) * (1 - 1e-9)).all()
    assert (np.diff(found.start, axis=0) >= 0).all()
    assert (found.start[1:] >= found.end[:-1] - tiny).all()
    # Every token is made once.
    reads = (found.kind == PREFILL).sum()
    steps = (found.running * found.steps).sum()
    assert reads == len(arrivals)
    assert reads + steps == len(arrivals) * output
    assert (found.running <= most).all()
    # The machine rests only when nobody is there.
    rest = found.span_seconds - found.seconds.sum(axis=0)
    if len(arrivals) == 1:
        assert rest == pytest.approx(0, abs=tiny)
    if output > 1:
        quantiles = found.gap_quantiles([0.0, 0.5, 1.0])[:, 0]
        assert (np.diff(quantiles) >= 0).all()
        start, end = found.longest_gap
        assert (end - start).max() == pytest.approx(quantiles[-1], rel=1e-9)
        assert quantiles[0] <= found.tpot_seconds.min() * (1 + 1e-9)


def test_points_of_a_sweep_are_those_of_single_calls():
    prompts, outputs = np.array([16, 2048, 30_000]), np.array([1, 256, 64])
    bandwidths = np.array([1e12, 3.35e12, 8e12])
    arrival = np.array([[0.0], [0.01], [0.3]]) * np.ones(3)
    on = machine(chip("h100-sxm"), bandwidth=bandwidths)
    swept = schedule(
        model("llama-3.1-8b"), on, arrival=arrival, prompt=prompts, output=outputs, most=2
    )
    for at in range(3):
        single = machine(chip("h100-sxm"), bandwidth=bandwidths[at])
        one = served("llama-3.1-8b", single, arrival[:, at], prompts[at], outputs[at], most=2)
        for name in ("ttft_seconds", "e2e_seconds", "tpot_seconds"):
            assert getattr(swept, name)[:, at] == pytest.approx(
                getattr(one, name)[:, 0], nan_ok=True
            )
        assert swept.mean_mbu[at] == pytest.approx(one.mean_mbu[0])


def test_a_prefill_stalls_the_others_by_its_own_length():
    one = request(model("llama-3.1-8b"), H100, prompt=4096, output=100, batch=1)
    found = served("llama-3.1-8b", H100, [0.0, 0.3], 4096, 100)
    start, end = (part[0, 0] for part in found.longest_gap)
    two = decode(model("llama-3.1-8b"), H100, batch=2, context=4096 + 25)
    assert end - start == pytest.approx(float(one.ttft_seconds + two.seconds_sum), rel=0.02)
    assert start < found.prefill_start[1, 0] + 1e-12
    assert end > found.first_token[1, 0]


def test_with_room_for_one_the_second_waits_until_the_first_is_done():
    found = served("llama-3.1-8b", H100, [0.0, 0.1], 2048, 64, most=1)
    assert found.prefill_start[1, 0] == pytest.approx(found.finish[0, 0])
    assert found.queue_seconds[1, 0] == pytest.approx(found.finish[0, 0] - 0.1)


def test_goodput_counts_who_keeps_to_both_targets():
    found = served("llama-3.1-8b", H100, [0.0, 0.1, 0.11], 8192, 64)
    slow = float(found.ttft_seconds.max())
    everybody = found.goodput(slow, 1.0)
    assert everybody == pytest.approx(found.requests_per_second)
    assert found.goodput(slow * 0.999, 1.0) == pytest.approx(everybody * 2 / 3)
    assert found.goodput(slow, float(found.tpot_seconds.min()) * 0.999) == pytest.approx(0)


def test_utilisation_is_work_over_what_the_chips_could_have_done():
    found = served("llama-3.1-8b", H100, [0.0, 0.2], 2048, 64)
    weights = np.array(found.seconds)
    assert found.mean_mfu == pytest.approx((found.mfu * weights).sum(axis=0) / found.span_seconds)
    assert found.mean_mbu == pytest.approx((found.mbu * weights).sum(axis=0) / found.span_seconds)
    reads, decodes = found.kind == PREFILL, found.kind == DECODE
    assert (found.mfu[reads] > 0.9).all()
    assert (found.mbu[decodes] > 0.9).all()
    assert (found.mfu[decodes] < 0.05).all()
    assert (found.output_rate[reads] == 0).all()


@pytest.mark.parametrize(
    ("arrivals", "most", "stalls"),
    [
        ([0.0, 0.5], np.inf, True),
        ([0.0, 0.5], 1, False),  # the second waits until the first is done
        ([0.0, 60.0], np.inf, False),  # the first is long gone
        ([0.0, 0.0], np.inf, True),  # the second is read when the first has its first token
    ],
)
def test_a_prefill_between_two_tokens_of_another_is_a_stall(arrivals, most, stalls):
    found = served("llama-3.1-8b", H100, arrivals, [2048], 256, most=most)
    assert found.stalls.tolist() == [stalls]
    tokens, _ = step_by_step("llama-3.1-8b", H100, arrivals, 2048, 256, most=most)
    longest = max(np.diff(each).max() for each in tokens)
    one = float(prefill(model("llama-3.1-8b"), H100, batch=1, prompt=2048).seconds_sum)
    assert (longest > one) == stalls


def test_a_single_token_is_never_stalled():
    assert not served("llama-3.1-8b", H100, [0.0, 0.0], [2048], 1).stalls.any()
