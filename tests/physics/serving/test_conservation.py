"""Nothing is lost: tokens, memory, time, order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from physics.serving import instance
from physics.serving.ledger import DECODE, PREFILL
from physics.serving.simulation import _Simulation, simulate
from physics.serving.targets import Targets
from physics.serving.traffic import LogNormal, poisson
from tests.physics.serving.services import crowded_services, three_designs
from tests.physics.strategies import settings

FEW = settings(max_examples=25)


@FEW
@given(crowded_services())
def test_every_token_is_written_once_and_in_order(service):
    design, traffic = service
    seen = simulate(design, traffic)
    assert len(seen.token_seconds) == traffic.output_tokens.sum()
    assert np.all(seen.itl_seconds > 0)
    assert len(seen.itl_seconds) == (traffic.output_tokens - 1).sum()
    last = seen.first_place + traffic.output_tokens - 1
    np.testing.assert_array_equal(seen.token_seconds[seen.first_place], seen.first_token)
    np.testing.assert_array_equal(seen.token_seconds[last], seen.end)
    for request in range(len(seen)):
        assert len(seen.tokens_of(request)) == traffic.output_tokens[request]


@FEW
@given(crowded_services())
def test_steps_carry_the_tokens_of_all_requests(service):
    """Prompts are read once, and again after each loss of a cache, with what was written."""
    design, traffic = service
    seen = simulate(design, traffic)
    read = sum(int((one.prompt_tokens * one.steps).sum()) for one in seen.instances)
    written = sum(int((one.writing * one.steps).sum()) for one in seen.instances)
    assert read >= traffic.prompt_tokens.sum()
    if not seen.preemptions.any():
        assert read == traffic.prompt_tokens.sum()
        assert written == (traffic.output_tokens - 1).sum()
    assert written <= (traffic.output_tokens - 1).sum()
    assert written >= (traffic.output_tokens - 1).sum() - seen.preemptions.sum()


@FEW
@given(crowded_services())
def test_a_request_goes_through_its_stations_in_order(service):
    design, traffic = service
    seen = simulate(design, traffic)
    assert np.all(seen.prefill_start >= seen.arrival)
    assert np.all(seen.first_token > seen.prefill_start)
    assert np.all(seen.end >= seen.first_token)
    many = traffic.output_tokens > 1
    assert np.all(np.isnan(seen.decode_start) == ~many)
    assert np.all(seen.decode_start[many] >= seen.first_token[many])
    if design.kind == "disaggregated":
        assert np.all(np.isnan(seen.transfer_end) == ~many)
        assert np.all(seen.transfer_end[many] >= seen.first_token[many])
        assert np.all(seen.decode_start[many] >= seen.transfer_end[many])
        took = seen.transfer_end - seen.transfer_start
        np.testing.assert_array_less(
            seen.transfer_bytes[many] / design.link * (1 - 1e-9), took[many] + 1e-12)


@FEW
@given(crowded_services())
def test_an_instance_does_one_step_at_a_time_and_pools_keep_to_their_phase(service):
    design, traffic = service
    seen = simulate(design, traffic)
    for one in seen.instances:
        assert np.all(one.end > one.start)
        assert np.all(one.start[1:] >= one.end[:-1])
        assert np.all(np.diff(one.token_seconds) > 0)
        assert np.all(one.writing <= design.max_batch)
        if one.pool == "prefill":
            assert np.all(one.kind == PREFILL)
        if one.pool == "decode" and not seen.preemptions.any():
            assert np.all(one.kind == DECODE)
        if design.chunk_tokens is not None:
            assert np.all(one.prompt_tokens + one.writing <= design.chunk_tokens)
    for pool in design.pools:
        assert 0 <= seen.utilisation(pool.name) <= 1 + 1e-9


@FEW
@given(crowded_services())
def test_memory_is_never_exceeded_and_all_of_it_is_given_back(service):
    design, traffic = service
    running = _Simulation(design, traffic)
    for _ in running.moments():
        for one in running.instances:
            assert one.used() <= one.room
            assert one.under_way <= one.max_batch
    for one in running.instances:
        assert (one.used(), one.reservations, one.expected, one.load) == (0, 0, 0, 0)


@FEW
@given(service=crowded_services())
def test_planning_many_steps_at_once_changes_nothing(service):
    design, traffic = service
    planned = simulate(design, traffic)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(instance, "PLAN", 1)
        one_by_one = simulate(design, traffic)
    np.testing.assert_array_equal(planned.token_seconds, one_by_one.token_seconds)
    np.testing.assert_array_equal(planned.preemptions, one_by_one.preemptions)


@FEW
@given(crowded_services())
def test_a_result_without_its_first_requests_says_the_same_of_the_others(service):
    design, traffic = service
    seen = simulate(design, traffic)
    rest = seen.after(7)
    for name in ("ttft_seconds", "e2e_seconds", "tpot_seconds", "queue_seconds"):
        np.testing.assert_array_equal(getattr(rest, name), getattr(seen, name)[7:])
    np.testing.assert_array_equal(rest.tokens_of(0), seen.tokens_of(7))
    targets = Targets(ttft=0.5, tpot=0.02, itl=0.05)
    np.testing.assert_array_equal(rest.met(targets), seen.met(targets)[7:])


@pytest.mark.parametrize("design", three_designs(), ids=lambda one: one.kind)
def test_the_same_seed_gives_the_same_result_and_another_does_not(design):
    def seen(seed: int) -> np.ndarray:
        drawn = {"prompt": LogNormal(500, 400, 1, 4000), "output": LogNormal(50, 40, 1, 500)}
        return simulate(design, poisson(5, requests=200, seed=seed, **drawn)).token_seconds

    np.testing.assert_array_equal(seen(4), seen(4))
    assert len(seen(4)) != len(seen(5)) or not np.array_equal(seen(4), seen(5))
