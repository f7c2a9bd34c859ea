"""The scenario and its URL schema."""

import dataclasses

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pages.shared.case import Case
from pages.shared.house import parse
from pages.shared.language import LANGUAGES, words
from pages.shared.notices import UNSET, notice_text
from pages.shared.points import points_from
from pages.shared.scenario import DEFAULTS, Scenario, own_figures, url_text
from physics.chips import chip, chips
from physics.errors import InputError
from tests.pages.strategies import scenarios


@settings(deadline=None)
@given(scenarios)
def test_round_trip_is_exact(scenario):
    again, notices = Scenario.from_query(scenario.query())
    assert again == scenario
    assert notices == []


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    st.dictionaries(
        st.sampled_from([*DEFAULTS, "lang", "time", "other"]),
        st.text() | st.integers().map(str) | st.floats().map(str),
    )
)
def test_any_text_gives_a_scenario(query):
    scenario, notices = Scenario.from_query(query)
    assert Scenario.from_query(scenario.query()) == (scenario, [])
    assert {notice.name for notice in notices} <= set(query)


@pytest.mark.parametrize(
    "value",
    [
        "9" * 5000,
        "-" + "9" * 400,
        "1e400",
        "-1e400",
        "nan",
        "inf",
        "",
        " ",
        "٣٢",
        "💥",
        "\0",
        "1,5",
    ],
)
@pytest.mark.parametrize("name", DEFAULTS)
def test_nothing_breaks_it(name, value):
    scenario, _ = Scenario.from_query({name: value})
    assert Scenario.from_query(scenario.query())[0] == scenario


def test_numbers_too_long_to_write_are_survived():
    assert Scenario.from_query({"batch": 10**6000})[0].batch >= 1


def test_only_what_differs_stands_in_the_url():
    assert Scenario().query() == {}
    assert Scenario(batch=32, kv="fp8").query() == {"batch": "32", "kv": "fp8"}


def test_a_figure_equal_to_the_chips_own_is_not_custom():
    for slug, the_chip in chips().items():
        own = own_figures(the_chip)
        assert Scenario(chip=slug, **own) == Scenario(chip=slug)


def test_custom_figures_reach_the_machine_in_base_units():
    custom = Case(points_from(Scenario(bandwidth=6000, flops=500), {})).machine
    assert custom.bandwidth[0] == 6000e9
    assert custom.attention_peak[0] == pytest.approx(500e12)
    own, h100 = Case(points_from(Scenario(), {})).machine, chip("h100-sxm")
    assert (own.bandwidth[0], own.peak[0]) == (h100.bandwidth, h100.bf16_flop_per_second)


@pytest.mark.parametrize(
    ("query", "used"),
    [
        ({"batch": "0"}, "1"),
        ({"batch": "2.5"}, "2"),
        ({"batch": "many"}, "1"),
        ({"prompt": "1e400"}, "10000000"),
        ({"chip": "H100-SMX"}, "h100-sxm"),
        ({"chip": "zzzzzzzz"}, "h100-sxm"),
        ({"model": "lama-3.1-70b"}, "llama-3.1-70b"),
        ({"weights": "fp9"}, "fp8"),
        ({"bandwidth": "nan"}, "3350"),
        ({"bandwidth": "fast", "chip": "h200-sxm"}, "4800"),
        ({"left": "chunky"}, "chunked"),
        ({"right": "split"}, "disaggregated"),
        ({"rate": "0"}, "0.001"),
        ({"rate": "busy"}, UNSET),
        ({"prefill_pool": "99"}, "16"),
        ({"decode_pool": "0.5"}, "1"),
        ({"decode_chip": "h20"}, "same"),
        ({"link": "-1"}, "0.01"),
        ({"budget": "1"}, "16"),
        ({"lengths": "azure"}, "fixed"),
        ({"ttft_target": "nan"}, UNSET),
        ({"itl_target": "0"}, "0.1"),
    ],
)
def test_what_cannot_be_used_is_said(query, used):
    _, notices = Scenario.from_query(query)
    assert [(notice.name, notice.used) for notice in notices] == [(next(iter(query)), used)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_value_that_cannot_be_used_and_has_no_default_is_left_out(language):
    _, [notice] = Scenario.from_query({"rate": "busy"})
    said = notice_text(notice, words(language))
    assert "rate = “busy”" in said
    assert UNSET not in said


def test_the_rest_of_a_bad_link_is_kept():
    scenario, notices = Scenario.from_query({"batch": "x", "prompt": "77", "who": "me"})
    assert scenario == Scenario(prompt=77)
    assert [(notice.name, notice.used) for notice in notices] == [("batch", "1"), ("who", None)]


def test_case_and_spaces_do_not_matter():
    scenario, notices = Scenario.from_query({"chip": " H200-SXM ", "weights": "FP8"})
    assert (scenario.chip, scenario.weights, notices) == ("h200-sxm", "fp8", [])


def test_of_repeated_parameters_the_last_counts():
    assert Scenario.from_query({"batch": ["2", "4"], "prompt": []})[0] == Scenario(batch=4)


def test_another_chip_drops_custom_figures():
    moved = Scenario(bandwidth=6000, flops=500).replaced(chip="h200-sxm")
    assert moved == Scenario(chip="h200-sxm")
    assert Scenario(bandwidth=6000).replaced(batch=2).bandwidth == 6000


def test_made_in_code_it_refuses_what_is_not_allowed():
    with pytest.raises(InputError, match="batch"):
        Scenario(batch=0)


def test_it_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Scenario().batch = 2


@pytest.mark.parametrize("query", [{"batch": "0"}, {"who": "me"}])
def test_the_players_route_is_strict(query):
    with pytest.raises(InputError):
        parse(query)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_url_text_is_exact(value):
    assert float(url_text(value)) == value
