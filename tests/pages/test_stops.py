"""Slider stops and the points computed at them."""

import numpy as np
import pytest
from hypothesis import given, settings

from pages.shared.case import Case
from pages.shared.language import words
from pages.shared.player.table import laid_end_to_end
from pages.shared.points import points_from
from pages.shared.scenario import Scenario, own_figures
from pages.shared.stops import DENSE_COUNT, SLIDERS, dense_stops, slider_stops
from physics.chips import chip
from tests.pages.strategies import scenarios

EN = words("en")


@pytest.mark.parametrize("make", [slider_stops, dense_stops])
@pytest.mark.parametrize("name", SLIDERS)
@given(scenario=scenarios)
@settings(max_examples=25, deadline=None)
def test_every_stop_restores_its_value_and_the_scenario_is_among_them(make, name, scenario):
    stops = make(name, scenario, EN)
    own = own_figures(chip(scenario.chip)).get(name)
    at_rest = getattr(scenario, name)
    assert stops.values[stops.index] == (own if at_rest is None else at_rest)
    assert list(stops.values) == sorted(set(stops.values))
    assert len(stops.values) == len(stops.urls) == len(stops.texts)
    for value, url in zip(stops.values, stops.urls, strict=True):
        query = scenario.query() | {name: url}
        again = getattr(Scenario.from_query(query)[0], name)
        assert again == value or (again is None and value == own)
    assert [stops.values[mark] for mark in stops.marks] == ([] if own is None else [own])


def test_curated_values():
    assert slider_stops("prompt", Scenario(), EN).values[:5] == (16, 24, 32, 48, 64)
    assert slider_stops("prompt", Scenario(), EN).values[-1] == 131_072
    assert slider_stops("output", Scenario(), EN).values[:3] == (1, 16, 24)
    assert slider_stops("batch", Scenario(), EN).values[:6] == (1, 2, 3, 4, 6, 8)
    assert slider_stops("batch", Scenario(), EN).values[-1] == 4096
    assert len(slider_stops("bandwidth", Scenario(), EN).values) == 30
    assert len(slider_stops("flops", Scenario(), EN).values) == 30


def test_the_range_grows_to_what_is_asked():
    values = slider_stops("batch", Scenario(batch=100_000), EN).values
    assert values[-3:] == (65_536, 98_304, 100_000)


def test_texts_and_urls():
    stops = slider_stops("bandwidth", Scenario(), EN)
    assert stops.texts[stops.index] == "3.35\N{NO-BREAK SPACE}TB/s"
    assert stops.urls[stops.index] == ""
    assert slider_stops("flops", Scenario(), words("it")).texts[-1] == "20\N{NO-BREAK SPACE}PFLOP/s"


@pytest.mark.parametrize("name", SLIDERS)
def test_dense_stops_are_many_but_not_more_than_there_are(name):
    stops = dense_stops(name, Scenario(), EN)
    assert 150 <= len(stops.values) <= DENSE_COUNT


def test_points_lay_the_sliders_end_to_end():
    scenario = Scenario(prompt=512, bandwidth=6000)
    stops = {name: slider_stops(name, scenario, EN) for name in ("batch", "bandwidth")}
    arrays, parts = laid_end_to_end(stops)
    points, slices = points_from(scenario, arrays), dict(zip(stops, parts, strict=True))
    assert len(points) == sum(len(given.values) for given in stops.values())
    assert points.batch.dtype == points.flops.dtype == np.float64
    assert np.array_equal(points.batch[slices["batch"]], stops["batch"].values)
    assert np.all(points.batch[slices["bandwidth"]] == 1)
    assert np.all(points.bandwidth[slices["batch"]] == 6000)
    assert np.all(points.flops == 989)
    assert np.all(points.prompt == 512)
    for name, given_stops in stops.items():
        at = slices[name].start + given_stops.index
        assert (points.batch[at], points.bandwidth[at]) == (1, 6000)


def test_points_of_one_scenario():
    points = points_from(Scenario(), {})
    assert len(points) == 1
    assert Case(points).machine.bandwidth[0] == 3350e9
