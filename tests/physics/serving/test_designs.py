"""What each design does to the people who wait, and what it costs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from physics.catalogue import model
from physics.chips import chip
from physics.errors import InputError
from physics.kv_cache import kv_bytes_per_sequence
from physics.machine import machine
from physics.serving.design import Design, chunked, colocated, disaggregated
from physics.serving.ledger import MIXED
from physics.serving.simulation import Cancelled, Progress, simulate, simulation
from physics.serving.traffic import Fixed, concurrent, given, poisson
from physics.step import decode, prefill
from tests.physics.serving.services import EXACT, H100, LLAMA, with_room

PROMPT, OUTPUT = 4096, 200
ONE_GIGABYTE = 1e9


def one_meets_another(design: Design):
    """Simulate a request that is being written when a second one arrives."""
    return simulate(design, given([0.0, 0.5], prompt=PROMPT, output=OUTPUT))


def test_a_prompt_that_lands_in_a_batch_stops_the_writing_for_as_long_as_it_is_read():
    seen = one_meets_another(colocated(LLAMA, H100))
    reading = float(prefill(LLAMA, H100, batch=1, prompt=PROMPT).seconds_sum)
    gaps = np.diff(seen.tokens_of(0))
    assert gaps.max() == pytest.approx(reading + np.median(gaps), rel=0.05)
    assert np.sum(gaps > reading) == 1


def test_pieces_keep_the_gaps_short_and_the_first_token_later():
    whole, pieces = one_meets_another(colocated(LLAMA, H100)), one_meets_another(
        chunked(LLAMA, H100, chunk_tokens=256))
    assert np.diff(pieces.tokens_of(0)).max() < 0.2 * np.diff(whole.tokens_of(0)).max()
    assert pieces.ttft_seconds[1] > whole.ttft_seconds[1]
    mixed = pieces.instances[0]
    assert np.all((mixed.prompt_tokens + mixed.writing)[mixed.kind == MIXED] <= 256)


def test_two_pools_leave_the_writing_alone():
    seen = one_meets_another(disaggregated(LLAMA, H100))
    gaps = np.diff(seen.tokens_of(0))
    pair = decode(LLAMA, H100, batch=2, context=PROMPT + OUTPUT).seconds_sum
    assert gaps.max() < float(pair)


# The link

@pytest.mark.parametrize("link", [1, 10, 100])
def test_a_cache_in_one_piece_takes_its_bytes_over_the_link(link):
    seen = simulate(disaggregated(LLAMA, H100, link=link * ONE_GIGABYTE),
                    given([0.0], prompt=PROMPT, output=3))
    size = float(kv_bytes_per_sequence(LLAMA, PROMPT))
    assert seen.transfer_bytes[0] == size
    assert seen.transfer_seconds[0] == pytest.approx(size / link / ONE_GIGABYTE, rel=EXACT)
    step = decode(LLAMA, H100, batch=1, context=PROMPT).seconds_sum
    first, second, _ = seen.tokens_of(0)
    assert second - first == pytest.approx(size / link / ONE_GIGABYTE + float(step), rel=EXACT)


def test_layer_by_layer_a_fast_link_adds_the_last_layer_only():
    link = 100 * ONE_GIGABYTE
    seen = simulate(disaggregated(LLAMA, H100, link=link, overlap=True),
                    given([0.0], prompt=PROMPT, output=3))
    size = float(kv_bytes_per_sequence(LLAMA, PROMPT))
    assert seen.transfer_seconds[0] == pytest.approx(size / link / LLAMA.layers, rel=1e-6)


def test_layer_by_layer_a_slow_link_hides_all_but_the_first_layer_of_the_prefill():
    link = ONE_GIGABYTE
    seen = simulate(disaggregated(LLAMA, H100, link=link, overlap=True),
                    given([0.0], prompt=PROMPT, output=3))
    size = float(kv_bytes_per_sequence(LLAMA, PROMPT))
    hidden = seen.ttft_seconds[0] * (1 - 1 / LLAMA.layers)
    assert seen.transfer_seconds[0] == pytest.approx(size / link - hidden, rel=1e-6)


def test_copies_of_heads_on_several_chips_are_sent_once():
    on = machine(chip("h100-sxm"), tp=16)  # 8 key-value heads on 16 chips
    seen = simulate(disaggregated(LLAMA, on, link=ONE_GIGABYTE), given([0.0], prompt=100, output=2))
    assert seen.transfer_bytes[0] == float(kv_bytes_per_sequence(LLAMA, 100))
    assert seen.transfer_bytes[0] == float(kv_bytes_per_sequence(LLAMA, 100, tp=16)) / 2


def test_a_link_that_is_too_slow_for_the_rate_piles_caches_up():
    size = float(kv_bytes_per_sequence(LLAMA, PROMPT))
    traffic = poisson(10, requests=300, prompt=Fixed(PROMPT), output=Fixed(20))
    slow = simulate(disaggregated(LLAMA, H100, link=7 * size), traffic)
    fast = simulate(disaggregated(LLAMA, H100, link=30 * size), traffic)
    assert slow.link_utilisation > 0.95
    assert slow.requests_per_second == pytest.approx(7, rel=0.03)
    assert fast.requests_per_second == pytest.approx(traffic.rate, rel=0.05)
    assert slow.transfer.p99 > 100 * fast.transfer.p50


def test_receivers_share_a_sender_and_senders_share_a_receiver():
    """Four prompts end at once; each end of the link takes one cache after another."""
    size = float(kv_bytes_per_sequence(LLAMA, PROMPT))
    for pools in ({"decode_instances": 4}, {"prefill_instances": 4}):
        seen = simulate(disaggregated(LLAMA, H100, link=size, prefill_tokens=10**6, **pools),
                        given(np.zeros(4), prompt=PROMPT, output=2))
        assert np.sort(seen.transfer_seconds).round(6).tolist() == [1, 2, 3, 4]


# Pools

def test_work_spreads_over_the_instances_of_a_pool():
    traffic = poisson(20, requests=400, prompt=Fixed(512), output=Fixed(64))
    for design in (colocated(LLAMA, H100, instances=4), chunked(LLAMA, H100, instances=4),
                   disaggregated(LLAMA, H100, prefill_instances=2, decode_instances=2)):
        seen = simulate(design, traffic)
        used = [int((seen.decode_instance == place).sum()) for place in range(4)]
        if design.kind == "disaggregated":
            assert used[:2] == [0, 0]
            used = used[2:]
        assert min(used) > 0.6 * 400 / len(used)


def test_pools_may_have_different_chips():
    h20 = machine(chip("h20"))
    mixed = disaggregated(LLAMA, H100, decode_machine=h20)
    seen = simulate(mixed, given([0.0], prompt=PROMPT, output=50))
    step = decode(LLAMA, h20, batch=1, context=PROMPT).seconds_sum
    assert seen.ttft.mean == pytest.approx(
        float(prefill(LLAMA, H100, batch=1, prompt=PROMPT).seconds_sum), rel=EXACT)
    assert np.diff(seen.tokens_of(0))[0] == pytest.approx(float(step), rel=EXACT)


def test_arrivals_within_a_step_are_seen_at_its_end():
    """A plan of many steps is cut at the end of the step that runs, not later."""
    design = colocated(LLAMA, H100)
    seen = simulate(design, given([0.0, 0.2], prompt=[2048, 64], output=[256, 2]))
    step = float(decode(LLAMA, H100, batch=1, context=2048 + 256).seconds_sum)
    assert 0 < seen.queue_seconds[1] < step


def test_as_many_as_asked_for_are_under_way_when_each_lets_the_next_one_in():
    seen = simulate(colocated(LLAMA, H100),
                    concurrent(16, requests=200, prompt=Fixed(500), output=Fixed(50)))
    ends = np.sort(seen.end)
    moments = np.linspace(0, ends[-17], 500)[:-1]
    assert np.all(seen.under_way(moments) == 16)
    np.testing.assert_array_equal(seen.arrival[16:], ends[:-16])


# Memory

def test_a_prompt_waits_until_its_cache_fits():
    on = with_room(LLAMA, H100, PROMPT + OUTPUT, 2.5)
    seen = simulate(colocated(LLAMA, on), given(np.zeros(3), prompt=PROMPT, output=OUTPUT))
    assert seen.prefill_start[2] == seen.end[:2].min()
    assert not seen.preemptions.any()


def test_who_joined_last_makes_room_and_reads_again_what_it_wrote():
    on = with_room(LLAMA, H100, 1000 + 400, 1.8)
    seen = simulate(colocated(LLAMA, on), given([0.0, 0.1], prompt=1000, output=400))
    assert seen.preemptions.tolist() == [0, 1]
    instance = seen.instances[0]
    again = instance.prompt_tokens.max()
    written = int(again) - 1000
    assert 0 < written < 400
    assert seen.tokens_of(1)[written] - seen.tokens_of(1)[written - 1] > 10 * seen.itl.p50
    assert seen.tokens_of(1)[written] > seen.end[0]  # it waited for the first to end


def test_a_decode_pool_without_room_lets_caches_wait_in_the_prefill_pool():
    on = with_room(LLAMA, H100, PROMPT + OUTPUT, 1.5)
    seen = simulate(disaggregated(LLAMA, H100, decode_machine=on, link=1e12),
                    given(np.zeros(3), prompt=PROMPT, output=OUTPUT))
    order = np.argsort(seen.decode_start)
    assert np.all(seen.transfer_start[order][1:] >= seen.end[order][:-1])
    assert seen.ttft_seconds.max() < seen.end.min()  # the first tokens had come long before


def test_room_that_is_given_away_in_the_middle_of_planned_steps_is_missed_by_none_of_them():
    """Room for 2,100 tokens, 1,001 of them for a cache on its way: the other one grows to 1,099."""
    on = with_room(LLAMA, H100, 1400, 1.5)
    design = disaggregated(LLAMA, H100, decode_machine=on, link=1e8)  # 1.3 s for a cache
    seen = simulate(design, given([0.0, 1.35], prompt=1000, output=400))
    assert seen.decode_start[0] < seen.transfer_start[1] < seen.decode_start[1] < seen.end[0]
    assert seen.preemptions.tolist() == [1, 0]
    assert seen.instances[1].prompt_tokens.max() == 1100  # with the token that was not cached yet


def test_a_prefill_pool_stops_when_its_memory_is_full_of_caches_to_be_sent():
    on = with_room(LLAMA, H100, PROMPT, 2.2)
    size = float(kv_bytes_per_sequence(LLAMA, PROMPT))
    seen = simulate(disaggregated(LLAMA, on, decode_machine=H100, link=size, prefill_tokens=1),
                    given(np.zeros(4), prompt=PROMPT, output=2))
    assert np.all(seen.prefill_start[2:] >= seen.transfer_end[:2])


@pytest.mark.parametrize("kind", [colocated, chunked])
def test_what_never_fits_is_refused_with_what_would(kind):
    on = with_room(LLAMA, machine(chip("h100-sxm")), 2000, 1)
    simulate(kind(LLAMA, on), given([0.0], prompt=1999, output=1))
    with pytest.raises(InputError, match=r"2,001 tokens does not fit.* GB short .*would fit with"):
        simulate(kind(LLAMA, on), given([0.0], prompt=2000, output=1))


def test_a_prefill_pool_needs_memory_for_prompts_only():
    on = with_room(LLAMA, H100, 2000, 1)
    simulate(disaggregated(LLAMA, on, decode_machine=H100), given([0.0], prompt=2000, output=9))
    with pytest.raises(InputError, match="of the decode pool"):
        simulate(disaggregated(LLAMA, H100, decode_machine=on),
                 given([0.0], prompt=2000, output=9))


def test_less_memory_for_the_cache_means_a_smaller_batch():
    seventy = model("llama-3.1-70b")
    on = machine(chip("h100-sxm"), tp=4, weights="fp8")
    traffic = poisson(20, requests=150, prompt=Fixed(2000), output=Fixed(200))
    batches = [
        simulate(colocated(seventy, on, weights="fp8", memory_share=share), traffic).mean_batch(
            "both")
        for share in (0.25, 0.3, 0.4)
    ]
    assert batches[0] < batches[1] < batches[2]


# Long runs

def test_a_run_tells_how_far_it_is():
    told: list[Progress] = []
    traffic = poisson(10, requests=500, prompt=Fixed(100), output=Fixed(10))
    seen = simulate(colocated(LLAMA, H100), traffic, progress=told.append)
    assert [one.ended for one in told] == sorted({one.ended for one in told})
    assert (told[-1].ended, told[-1].requests) == (500, 500)
    assert told[-1].seconds == seen.end.max()


def test_a_run_can_be_cancelled():
    traffic = poisson(10, requests=500, prompt=Fixed(100), output=Fixed(10))
    with pytest.raises(Cancelled, match="of 500 requests"):
        simulate(colocated(LLAMA, H100), traffic, progress=lambda now: now.ended < 200)


def test_a_run_goes_on_in_pieces():
    traffic = poisson(10, requests=100, prompt=Fixed(100), output=Fixed(10))
    pieces = simulation(colocated(LLAMA, H100), traffic, every=30)
    assert next(pieces).ended >= 30
    while True:
        try:
            next(pieces)
        except StopIteration as end:
            whole = simulate(colocated(LLAMA, H100), traffic)
            np.testing.assert_array_equal(end.value.token_seconds, whole.token_seconds)
            break


@pytest.mark.parametrize("wrong", [
    {"max_batch": 0}, {"link": 0}, {"chunk_tokens": 0}, {"prefill_tokens": 0}, {"memory_share": 0},
    {"memory_share": 1.1},
])
def test_a_design_that_cannot_be_is_refused(wrong):
    with pytest.raises(InputError, match="must be"):
        replace(colocated(LLAMA, H100), **wrong)


def test_a_pool_without_instances_is_refused():
    with pytest.raises(InputError, match="decode: must have at least 1"):
        disaggregated(LLAMA, H100, decode_instances=0)
