"""Who is served as promised, and how goodput is counted."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given as property_given
from hypothesis import strategies as st

from physics.errors import InputError
from physics.serving.design import chunked, colocated, disaggregated
from physics.serving.simulation import Cancelled, simulate
from physics.serving.sweep import capacity, compare, crossings, goodput_curve
from physics.serving.targets import Targets
from physics.serving.traffic import Fixed, Load, poisson
from tests.physics.serving.services import H100, LLAMA

LOAD = Load(requests=200, prompt=Fixed(2048), output=Fixed(128))
BUSY = simulate(colocated(LLAMA, H100), LOAD.at(12))
PROMISED = Targets(ttft=0.2, itl=0.02)


def late_gaps(request: int, limit: float) -> int:
    return int((np.diff(BUSY.tokens_of(request)) > limit).sum())


@property_given(st.floats(0.005, 0.2), st.sampled_from([0.5, 0.9, 0.99, 1.0]))
def test_a_request_may_be_late_at_a_share_of_its_gaps(limit, share):
    met = BUSY.met(Targets(itl=limit, itl_share=share))
    for request in (0, 17, 199):
        assert met[request] == (late_gaps(request, limit) <= (1 - share) * 127 + 1e-9)


def test_every_target_must_be_met():
    ttft, tpot = BUSY.ttft.p50, BUSY.tpot.p50
    assert BUSY.attainment(Targets(ttft=ttft)) == pytest.approx(0.5, abs=0.01)
    assert BUSY.attainment(Targets(tpot=tpot)) == pytest.approx(0.5, abs=0.01)
    both = BUSY.met(Targets(ttft=ttft, tpot=tpot))
    np.testing.assert_array_equal(
        both, BUSY.met(Targets(ttft=ttft)) & BUSY.met(Targets(tpot=tpot)))
    assert BUSY.attainment(Targets()) == 1


def test_one_token_has_no_gap_to_be_late():
    seen = simulate(colocated(LLAMA, H100), poisson(1, requests=5, prompt=Fixed(9),
                                                    output=Fixed(1)))
    assert seen.attainment(Targets(itl=1e-9, tpot=1e-9)) == 1
    assert np.isnan(seen.tpot.mean)
    assert np.isnan(seen.itl.p99)


def test_goodput_is_what_is_met_over_the_time_it_took():
    targets = Targets(ttft=BUSY.ttft.p50)
    met = int(BUSY.met(targets).sum())
    assert BUSY.goodput(targets) == pytest.approx(met / (BUSY.end.max() - BUSY.arrival[0]))
    assert BUSY.goodput(Targets()) == pytest.approx(BUSY.requests_per_second)


@pytest.mark.parametrize("wrong", [{"ttft": 0}, {"tpot": -1}, {"itl": 0}, {"itl_share": 0}])
def test_a_target_that_nothing_meets_is_refused(wrong):
    with pytest.raises(InputError, match="must be above 0"):
        Targets(**wrong)


def test_a_curve_is_its_simulations():
    design = colocated(LLAMA, H100)
    curve = goodput_curve(design, LOAD, rates=[3, 12], targets=PROMISED)
    assert curve.goodput[1] == BUSY.goodput(PROMISED)
    assert curve.itl_p99[1] == BUSY.itl.p99
    assert curve.ttft_p50[1] == BUSY.ttft.p50
    assert curve.throughput[1] == BUSY.tokens_per_second


def test_a_curve_can_be_cancelled():
    with pytest.raises(Cancelled, match="1 of 3 rates"):
        goodput_curve(colocated(LLAMA, H100), LOAD, rates=[1, 2, 3], targets=PROMISED,
                      progress=lambda done, of: done < 1)


def test_at_capacity_nine_in_ten_are_served_as_promised_and_beyond_fewer():
    design = chunked(LLAMA, H100)
    found = capacity(design, LOAD, targets=PROMISED, within=0.02)
    curve = goodput_curve(design, LOAD, rates=[found, 1.1 * found], targets=PROMISED)
    assert curve.attainment[0] >= 0.9 > curve.attainment[1]


def test_prompts_in_pieces_keep_a_promise_of_short_gaps_at_rates_that_whole_prompts_do_not():
    seen = compare([colocated(LLAMA, H100), chunked(LLAMA, H100)], LOAD, rates=[0.1, 16],
                   targets=PROMISED)
    assert seen.winner.tolist() == [0, 1]


def test_the_first_of_the_list_wins_where_designs_are_alike():
    """Hardly ever is a prompt read beside another: both serve all, in all but the same time."""
    designs = [colocated(LLAMA, H100), chunked(LLAMA, H100)]
    for order in (designs, designs[::-1]):
        seen = compare(order, LOAD, rates=[0.1], targets=PROMISED)
        assert seen.goodput_per_chip[0] != seen.goodput_per_chip[1]
        assert seen.winner.tolist() == [0]


def test_two_pools_lose_where_the_link_is_slow():
    targets = Targets(ttft=1.0, tpot=0.02, itl=0.05, itl_share=1.0)
    slow, fast = (disaggregated(LLAMA, H100, link=link) for link in (1e9, 100e9))
    seen = compare([colocated(LLAMA, H100, instances=2), slow, fast], LOAD, rates=[12],
                   targets=targets)
    alone, over_slow, over_fast = seen.goodput_per_chip[:, 0]
    assert over_slow < 0.1 * alone < alone < over_fast


def test_goodput_is_divided_by_the_chips():
    one, two = (colocated(LLAMA, H100, instances=count) for count in (1, 2))
    seen = compare([one, two], LOAD, rates=[0.5], targets=Targets(ttft=1))
    assert seen.goodput_per_chip[0, 0] == pytest.approx(2 * seen.goodput_per_chip[1, 0], rel=0.01)


def test_nobody_wins_where_no_promise_is_kept():
    seen = compare([colocated(LLAMA, H100)], LOAD, rates=[1, 2], targets=Targets(ttft=1e-6))
    assert seen.winner.tolist() == [-1, -1]


def test_designs_that_never_differ_do_not_break_even():
    seen = compare([colocated(LLAMA, H100)] * 2, LOAD, rates=[1, 2], targets=PROMISED)
    assert seen.break_even(0, 1).tolist() == []


@property_given(st.lists(st.floats(-1, 1).filter(lambda value: abs(value) > 1e-6), min_size=2,
                         max_size=20))
def test_a_difference_crosses_zero_between_points_of_opposite_sign(values):
    difference, rates = np.array(values), np.arange(1.0, len(values) + 1)
    found = crossings(rates, difference)
    changes = np.flatnonzero(np.sign(difference[1:]) != np.sign(difference[:-1]))
    assert len(found) == len(changes)
    for place, crossing in zip(changes, found, strict=True):
        assert rates[place] <= crossing <= rates[place + 1]
        assert np.interp(crossing, rates, difference) == pytest.approx(0, abs=1e-9)
