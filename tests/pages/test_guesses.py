"""What is right is what physics says of the scenario, never what is written down."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pages.menu import VIEWS
from pages.shared import numbers
from pages.shared.answers import ANSWERS
from pages.shared.guesses import QUESTIONS, is_guess, question
from pages.shared.language import LANGUAGES, words
from pages.shared.points import points_from
from pages.shared.scenario import Scenario
from pages.shared.serving.services import Question as Service
from pages.shared.serving.services import simulated
from physics.evidence import rows
from physics.predict import parse_question, predict
from tests.pages.strategies import scenarios
from tests.pages.test_app import html_of, open_page, query_of

EN = words("en")
NAMES = [view.name for view in VIEWS]


def right(page: str, **query: object) -> str:
    return question(page, Scenario(**query), EN)["right"]


def answer(**query: object) -> dict:
    return predict(parse_question({name: str(value) for name, value in query.items()}))


@pytest.mark.parametrize("name", NAMES)
def test_every_page_asks(name):
    assert question(name, Scenario(), EN)["right"] in QUESTIONS[name].choices


@pytest.mark.parametrize(
    ("page", "scenarios_and_answers"),
    [
        ("one-request", [({}, "writing"), ({"prompt": 100_000, "output": 16}, "reading")]),
        ("roofline", [({}, "least"), ({"batch": 16}, "little"), ({"batch": 200}, "some")]),
        (
            "kv-cache",
            [({}, "131072"), ({"batch": 64}, "2048"), ({"model": "deepseek-v3"}, "beyond")],
        ),
        ("decode-shift", [({}, "384"), ({"flops": 50}, "16"), ({"bandwidth": 20}, "beyond")]),
        ("batching", [({}, "48"), ({"prompt": 16}, "384"), ({"prompt": 8192}, "16")]),
        ("hardware", [({}, "second"), ({"versus": "a100-sxm-80gb"}, "first")]),
        ("dataflow", [({}, "much"), ({"bandwidth": 20_000}, "some"), ({"bandwidth": 300}, "most")]),
        ("metrics", [({}, "ttft"), ({"prompt": 8}, "equal")]),
        (
            "disaggregation",
            [({}, "many"), ({"rate": 0.5}, "alike"), ({"prompt": 8192, "rate": 4}, "most")],
        ),
        ("glossary", [({}, "large"), ({"model": "deepseek-v3"}, "medium")]),
        ("stories", [({}, "hardly"), ({"prompt": 100_000, "output": 16}, "half")]),
    ],
)  # fmt: skip
def test_the_right_choice_moves_with_the_scenario(page, scenarios_and_answers):
    for query, expected in scenarios_and_answers:
        assert right(page, **query) == expected, query


@pytest.mark.parametrize("query", [{}, {"batch": 100}, {"prompt": 65_536, "output": 32}], ids=str)
def test_the_answers_agree_with_the_command(query):
    said = answer(**query)
    share = said["decode"]["mfu"]
    bounds = {"least": (0, 0.01), "little": (0.01, 0.1), "some": (0.1, 0.5), "most": (0.5, 1)}
    low, high = bounds[right("roofline", **query)]
    assert low <= share < high
    ratio = (said["e2e_s"] - said["ttft_s"]) / said["ttft_s"]
    expected = "writing" if ratio > 1.5 else "reading" if ratio < 1 / 1.5 else "equal"
    assert right("one-request", **query) == expected


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_explanation_says_the_numbers_of_physics(language):
    spoken = words(language)
    said, other = answer(), answer(chip="h20")
    why = question("hardware", Scenario(), spoken)["why"]
    for result in (said, other):
        for name in ("ttft_s", "tpot_s"):
            assert numbers.seconds(result[name], spoken) in why
    why = question("roofline", Scenario(), spoken)["why"]
    assert numbers.percent(said["decode"]["mfu"], spoken, digits=2) in why
    assert numbers.flop_per_byte(said["ridge_flop_per_byte"], spoken) in why
    asked = question("batching", Scenario(), spoken)
    many = answer(batch=int(asked["place"]["x"]))
    for result in (said, many):
        assert numbers.seconds(result["tpot_s"], spoken) in asked["why"]
        assert numbers.bytes_decimal(result["decode"]["kv_bytes"], spoken) in asked["why"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_pages_without_a_player_say_the_numbers_of_physics(language):
    spoken = words(language)
    plain, twice = answer(), answer(flops=2 * 989)
    why = question("stories", Scenario(), spoken)["why"]
    for result in (plain, twice):
        for name in ("ttft_s", "e2e_s", "tpot_s"):
            assert numbers.seconds(result[name], spoken) in why
    asked = Service.of(Scenario())
    seen = simulated(asked.service("colocated"), asked.asked())
    why = question("disaggregation", Scenario(), spoken)["why"]
    assert numbers.seconds(float(np.quantile(seen.itl_seconds, 0.99)), spoken) in why
    assert (
        numbers.bytes_decimal(131_072.0, spoken) in question("glossary", Scenario(), spoken)["why"]
    )


def test_the_part_within_the_band_is_counted_over_the_unseen_rows():
    own = [row for row in rows() if row.share == "unseen" and row.measured.metric == "tpot"]
    within = sum(0.75 <= row.typical / row.measured.seconds <= 1.25 for row in own) / len(own)
    asked = question("evidence", Scenario(), EN)
    assert f"<b>{numbers.percent(within, EN, digits=2)}</b>" in asked["why"]
    assert f"Of {len(own)} measured" in asked["question"]
    assert asked["right"] == "most"


@pytest.mark.parametrize("query", [{}, {"prompt": 16}, {"prompt": 8192}, {"chip": "h20"}], ids=str)
def test_the_placed_batch_is_the_first_that_takes_twice_as_long(query):
    place = question("batching", Scenario(**query), EN)["place"]
    batch = int(place["x"])
    one, before, there = (answer(**query, batch=n)["tpot_s"] for n in (1, batch - 1, batch))
    assert before <= 2 * one < there
    assert place["y"] == pytest.approx(there * 1e3)


def test_the_placed_points_lie_on_the_curves_of_their_figures():
    for page, figure, trace in (("decode-shift", "shift", 1), ("kv-cache", "growth", 5)):
        view = next(view for view in VIEWS if view.name == page)
        place = question(page, Scenario(), EN)["place"]
        assert place["figure"] == figure
        columns = view.columns(points_from(Scenario(), {}), EN)
        x, y = (np.log(np.ravel(columns[f"f/{figure}/{trace}/{axis}"])) for axis in "xy")
        assert np.exp(np.interp(np.log(place["x"]), x, y)) == pytest.approx(place["y"], rel=0.02)


def test_who_placed_a_point_is_told_how_far_off_it_is():
    choices = {one["name"]: one for one in question("decode-shift", Scenario(), EN)["choices"]}
    assert choices["64"]["verdict"] == "You placed 64; it is 326, 5.1 times as much."
    assert (
        choices["1024"]["verdict"] == "You placed 1,024; it is 326: your guess is 3.1 times that."
    )
    assert choices["384"]["verdict"].startswith("You placed 384; it is 326: as near as")
    assert choices["beyond"]["verdict"].endswith("The answer: 326.")
    never = question("decode-shift", Scenario(bandwidth=20), EN)
    assert never["place"]["x"] is None
    assert {one["name"]: one["verdict"] for one in never["choices"]}["beyond"] == "Right: never."


def test_a_cache_as_heavy_as_the_weights():
    """By hand: 16.06 GB ÷ 131,072 B a token."""
    weights = answer()["weight_bytes"]
    tokens = int(float(f"{np.floor(weights / 131_072):.3g}"))
    why = question("kv-cache", Scenario(), EN)["why"]
    assert numbers.tokens(tokens, EN) in why


@pytest.mark.parametrize(
    "page",
    ["one-request", "roofline", "hardware", "dataflow", "metrics", "disaggregation", "stories"],
)
def test_what_does_not_fit_asks_nothing(page):
    assert question(page, Scenario(batch=5000, model="llama-3.1-405b"), EN) == {
        "question": "", "choices": [], "right": "", "why": "",
    }  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(QUESTIONS)), scenarios, st.sampled_from(list(LANGUAGES)))
def test_no_scenario_breaks_a_question(page, scenario, language):
    asked = question(page, scenario, words(language))
    texts = [asked["question"], asked["why"], *(choice["text"] for choice in asked["choices"])]
    assert not re.search(r"\{|\}|\bnan\b|\binf\b|None|—", " ".join(texts))
    if asked["question"]:
        assert asked["right"] in QUESTIONS[page].choices
        assert len({choice["text"] for choice in asked["choices"]}) == len(asked["choices"])


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("page", QUESTIONS)
def test_one_choice_is_told_it_is_right(page, language):
    given = ANSWERS["guess"]({"page": page, "now": "", "lang": language})
    told = words(language)("guess.right", answer="").split(":")[0]
    verdicts = {choice["name"]: choice["verdict"] for choice in given["choices"]}
    if "place" in given:
        told = words(language)("guess.placed_right", guess="", answer="").split(":")[1]
        assert [name for name, text in verdicts.items() if told in text] == [given["right"]]
        return
    assert [name for name, text in verdicts.items() if text.startswith(told)] == [given["right"]]


def test_no_page_no_question():
    with pytest.raises(ValueError, match="page"):
        ANSWERS["guess"]({"page": "nowhere", "now": "", "lang": "en"})


def test_an_answer_in_a_link_is_kept_and_another_is_said_to_be_none():
    assert is_guess("roofline.least")
    assert query_of(open_page("roofline", guess="roofline.least", lang="en"))["guess"] == (
        "roofline.least"
    )
    app = open_page("roofline", guess="roofline.wrong", lang="en")
    assert "guess" not in query_of(app)
    assert "guess = “roofline.wrong”, which cannot be used" in html_of(app)
