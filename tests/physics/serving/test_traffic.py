"""Arrivals and lengths are what they are said to be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given as property_given
from hypothesis import strategies as st

from physics.errors import InputError, UnknownName
from physics.serving.traffic import (
    SHAPES,
    Fixed,
    Load,
    LogNormal,
    concurrent,
    given,
    poisson,
    shape,
)

LENGTHS = {"prompt": Fixed(100), "output": Fixed(10)}


@property_given(st.floats(0.01, 1000), st.integers(0, 100))
def test_gaps_are_exponential(rate, seed):
    gaps = np.diff(poisson(rate, requests=4000, seed=seed, **LENGTHS).arrival_seconds) * rate
    assert gaps.mean() == pytest.approx(1, abs=0.1)
    assert gaps.std() == pytest.approx(1, abs=0.15)
    assert np.mean(gaps > 1) == pytest.approx(np.exp(-1), abs=0.05)


@property_given(st.floats(2, 5000), st.floats(0.1, 1.2), st.integers(0, 100))
def test_log_normal_lengths_have_the_mean_and_the_spread_asked_for(mean, relative, seed):
    mean += 50  # rounding to whole tokens matters below
    drawn = LogNormal(mean, relative * mean).draw(20_000, np.random.default_rng(seed))
    assert drawn.mean() == pytest.approx(mean, rel=0.05)
    assert drawn.std() == pytest.approx(relative * mean, rel=0.25)
    assert np.median(drawn) == pytest.approx(mean / np.hypot(1, relative), rel=0.05)


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_published_lengths_stay_in_their_range_and_keep_their_mean(name):
    published = shape(name)
    for lengths in (published.prompt, published.output):
        drawn = lengths.draw(50_000, np.random.default_rng(0))
        assert lengths.least <= drawn.min()
        assert drawn.max() <= lengths.most
        assert drawn.mean() == pytest.approx(lengths.mean, rel=0.1)  # the range cuts some
    assert "generate_trace.py@" in published.source


def test_another_rate_brings_the_same_requests():
    load = Load(50, LogNormal(500, 300), LogNormal(50, 30), seed=3)
    slow, fast = load.at(2), load.at(6)
    np.testing.assert_allclose(slow.arrival_seconds, 3 * fast.arrival_seconds)
    np.testing.assert_array_equal(slow.prompt_tokens, fast.prompt_tokens)
    np.testing.assert_array_equal(slow.output_tokens, fast.output_tokens)


@pytest.mark.parametrize(("make", "says"), [
    (lambda: poisson(0, requests=3, **LENGTHS), "rate: must be a finite number above 0"),
    (lambda: poisson(np.inf, requests=3, **LENGTHS), "rate: must be a finite"),
    (lambda: poisson(1, requests=0, **LENGTHS), "requests: must be at least 1"),
    (lambda: concurrent(0, requests=3, **LENGTHS), "concurrency: must be at least 1"),
    (lambda: given([1.0, 0.5], prompt=1, output=1), "arrivals: must rise"),
    (lambda: given([0.0, np.nan], prompt=1, output=1), "arrivals: must be finite"),
    (lambda: given([], prompt=1, output=1), "requests: must be at least 1"),
    (lambda: given([0.0], prompt=0, output=1), "prompt: must be at least 1"),
    (lambda: given([0.0], prompt=1, output=1.5), "output: must be whole"),
    (lambda: given([0.0, 1.0], prompt=[1, 2, 3], output=1), "prompt: must be one number"),
])
def test_requests_that_cannot_be_are_refused(make, says):
    with pytest.raises(InputError, match=says):
        make()


def test_an_unknown_trace_is_refused_with_those_there_are():
    with pytest.raises(UnknownName, match="azure-code"):
        shape("azure")
