"""The page on batching says and draws what physics says."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest

from pages.menu import VIEWS
from pages.shared import numbers
from pages.shared.figures import pareto, step_time
from pages.shared.house import house
from pages.shared.language import words
from pages.shared.player.table import build_table
from physics.batching import knee, nearly_free_batch
from physics.predict import parse_question, predict
from physics.step import decode
from tests.browser.player_page import value_at

HOUSE = house(view for view in VIEWS if view.name == "batching")
VIEW = HOUSE.views["batching"]
SCENARIOS = [
    {"batch": "32"},
    {"model": "mixtral-8x7b", "tp": "2", "batch": "16", "efficiency": "typical"},
    {"model": "deepseek-v3", "chip": "h200-sxm", "tp": "16", "batch": "64", "weights": "fp8"},
    {"prompt": "64", "output": "64", "batch": "512"},
    {"model": "llama-3.1-70b", "chip": "b200-sxm", "bandwidth": "4000", "flops": "1500"},
    {"model": "llama-3.1-70b", "chip": "rtx-4090", "tp": "16", "prompt": "64", "batch": "256"},
    {"prompt": "65536", "chip": "a100-sxm-80gb", "batch": "2"},
]


class Shown:
    """The page at a scenario, as the browser would draw it."""

    def __init__(self, query: dict[str, str], language: str = "en") -> None:
        self.scenario, self.words = HOUSE.parse({**query, "lang": language})
        self.table = build_table(
            VIEW,
            self.scenario,
            self.words,
            stops=HOUSE.stops,
            points=HOUSE.points,
            query=HOUSE.query(self.scenario, self.words),
        )
        described = VIEW.describe(self.scenario, self.words)
        self.readouts = [readout.slot for readout in described.readouts]
        self.names = {
            figure.name: [trace["name"] for trace in figure.spec["data"]]
            for figure in described.figures
        }

    def channel(self, name: str, slider: str = "batch"):
        index = self.table["sliders"][slider]["index"]
        return value_at(self.table["rows"][slider][name], index)

    def text(self, slot: str) -> str:
        return self.channel(f"t/{slot}").replace("\N{NO-BREAK SPACE}", " ")

    def trace(self, figure: str, name: str, which: int = 0) -> dict[str, list]:
        places = [i for i, found in enumerate(self.names[figure]) if found == name]
        return {axis: self.channel(f"f/{figure}/{places[which]}/{axis}") for axis in "xy"}


def speeds(answer: dict) -> list[float]:
    user = 1 / answer["tpot_s"]
    return [user, user * answer["batch"] / answer["tp"]]


@pytest.mark.parametrize("query", SCENARIOS, ids=str)
def test_the_dot_of_the_plot_is_the_speed_of_user_and_chip(query):
    shown, answer = Shown(query), predict(parse_question(query))
    dot = shown.trace("pareto", "you are here")
    assert [dot["x"][0], dot["y"][0]] == pytest.approx(speeds(answer), rel=1e-4)


@pytest.mark.parametrize("query", SCENARIOS, ids=str)
def test_the_second_chip_has_its_own_dot(query):
    dot = Shown(query | {"versus": "mi300x"}).trace("pareto", "you are here")
    question = {k: v for k, v in query.items() if k not in ("bandwidth", "flops")}
    answer = predict(parse_question(question | {"chip": "mi300x"}))
    assert answer["fits"]
    assert [dot["x"][1], dot["y"][1]] == pytest.approx(speeds(answer), rel=1e-4)


@pytest.mark.parametrize("query", SCENARIOS, ids=str)
def test_the_marks_stand_at_their_batches_up_to_where_memory_ends(query):
    shown = Shown(query)
    own = next(i for i, name in enumerate(shown.names["pareto"]) if name == "you are here") - 1
    users, chips = (shown.channel(f"f/pareto/{own}/{axis}") for axis in "xy")
    room = predict(parse_question(query))["max_batch"]
    for batch, user, chip in zip(pareto.MARKS, users, chips, strict=False):
        if batch > room:
            assert user is None
            continue
        answer = predict(parse_question(query | {"batch": str(int(batch))}))
        assert [user, chip] == pytest.approx(speeds(answer), rel=6e-3)  # three digits are sent
    if room < step_time.LARGEST:
        answer = predict(parse_question(query | {"batch": str(int(room))}))
        assert [users[-1], chips[-1]] == pytest.approx(speeds(answer), rel=6e-3)


@pytest.mark.parametrize("query", SCENARIOS, ids=str)
def test_the_areas_add_up_to_the_step_at_every_batch(query):
    shown = Shown(query)
    tops = [i for i, name in enumerate(shown.names["step_time"]) if name in (
        "weights", "KV cache", "compute", "activations", "links", "launch")]
    batches = np.array(shown.channel(f"f/step_time/{tops[0]}/x"))
    highest = np.array(shown.channel(f"f/step_time/{tops[0]}/y"))
    case = parse_question(query)
    context = case.prompt + max(case.output - 2, 0) / 2
    step = decode(case.architecture(), case.machine(), batch=batches, context=context,
                  weights=case.weights, kv=case.kv)
    axis = shown.channel("l/step_time/yaxis.range")[1]
    assert np.abs(highest - step.seconds_sum * 1e3).max() < axis / 300
    dot = shown.trace("step_time", "you are here")
    assert dot["x"] == [case.batch]
    assert dot["y"] == pytest.approx([predict(case)["tpot_s"] * 1e3], rel=1e-4)
    # Drawn from the tallest to the lowest: what is seen of each is its own part.
    for tall, low in itertools.pairwise(tops):
        assert np.all(np.array(shown.channel(f"f/step_time/{tall}/y"))
                      >= np.array(shown.channel(f"f/step_time/{low}/y")))


@pytest.mark.parametrize("query", SCENARIOS, ids=str)
def test_the_stretches_end_where_physics_says(query):
    shown, case = Shown(query), parse_question(query)
    how = {"context": case.prompt + max(case.output - 2, 0) / 2,
           "weights": case.weights, "kv": case.kv}
    free = float(nearly_free_batch(case.architecture(), case.machine(), **how))
    bend = knee(case.architecture(), case.machine(), **how)
    room = predict(case)["max_batch"]
    last = len(shown.names["step_time"]) - 1
    free_text, knee_text, wall_text = shown.channel(f"f/step_time/{last}/text")
    free_x = shown.trace("step_time", "nearly free")["x"]
    assert free_x == ([free, free, 1] if free > 1 else [None] * 3)
    assert free_text == f"nearly free up to {int(min(free, room)):,}"
    inside = bend.batch <= min(room, step_time.LARGEST)
    for which, part in enumerate(step_time.LEADERS):  # each in its own colour
        drawn = shown.trace("step_time", "knee", which)["x"][0]
        assert drawn == (float(bend.batch) if inside and bend.part == part else None)
    assert f"{int(bend.batch):,}" in knee_text
    assert wall_text == f"memory full: {int(room):,}"
    assert shown.trace("step_time", "memory full")["x"][0] == pytest.approx(room)


def test_without_a_price_no_cost_is_shown_and_it_is_offered():
    shown = Shown({"batch": "32"})
    assert "cost" not in shown.readouts
    assert "t/cost" not in shown.table["rows"]["batch"]
    assert "$" not in shown.text("costs")
    assert "Type what a chip costs" in shown.text("costs")


@pytest.mark.parametrize("query", [q for q in SCENARIOS if "bandwidth" not in q], ids=str)
def test_the_cost_is_the_price_of_the_time_that_a_million_tokens_take(query):
    shown, answer = Shown(query | {"price": "2.5"}), predict(parse_question(query))
    seconds = 1e6 / (answer["batch"] * answer["output"]) * answer["e2e_s"]
    wanted = 2.5 / 3600 * answer["tp"] * seconds
    said = re.match(r"\$([\d.,]+)<br>", shown.text("cost"))
    assert float(said.group(1).replace(",", "")) == pytest.approx(wanted, rel=6e-3)
    assert said.group(1) in shown.text("costs")


def test_energy_is_said_only_of_a_chip_whose_power_a_source_states():
    assert "700 W" in Shown({}).text("costs")
    assert "not re-read" not in Shown({}).text("costs")
    assert "not re-read" in Shown({"chip": "h20"}).text("costs")
    for query in ({"chip": "tpu-v5e", "kv": "int8", "weights": "int8"}, {"bandwidth": "5000"}):
        assert "Energy is left out" in Shown(query).text("costs")


@pytest.mark.parametrize(
    ("batch", "said"),
    [
        (1, "Up to batch 6 that costs nobody"),
        (4, "This is nearly free: up to batch 6"),
        (32, "from batch 53 on KV traffic outweighs the weights"),
        (96, "Past batch 53 KV traffic outweighs the weights"),
    ],
)
def test_the_sentence_says_in_which_stretch_the_batch_stands(batch, said):
    assert said in Shown({"batch": str(batch)}).text("sentence")


def test_the_sentence_names_what_rules_and_what_ends_first():
    short = {"prompt": "64", "output": "64", "batch": "512"}
    assert "Past batch 322 arithmetic outweighs the weights" in Shown(short).text("sentence")
    few = {"model": "mixtral-8x7b", "tp": "2", "batch": "16"}
    assert "memory ends at batch 220, before anything" in Shown(few).text("sentence")
    assert "a second sequence already" in Shown({"prompt": "65536"}).text("sentence")


@pytest.mark.parametrize(
    "query",
    [
        {"batch": "32"},
        {"prompt": "64", "output": "64", "batch": "512"},
        {"model": "qwen3-4b", "tp": "8", "batch": "4", "efficiency": "typical"},
    ],
    ids=str,
)
def test_the_largest_share_of_the_step_is_named(query):
    """Launches of a real engine can take more than weights and arithmetic together."""
    shown = Shown(query)
    parts = re.search(r"One step = (.*) = <b>", shown.text("formula")).group(1)
    units = {"µs": 1e-6, "ms": 1e-3, "s": 1.0}
    found = re.findall(r"([\d.]+) (µs|ms|s) ([^+]+?)(?: \+|$)", parts)
    seconds = {name: float(number) * units[unit] for number, unit, name in found}
    whole = sum(seconds.values())
    others = {name: time for name, time in seconds.items() if name != "KV cache"}
    largest = max(others, key=others.get)
    said = re.search(r"Shares of the step: (\w+) ([\d.]+)%", shown.text("sentence"))
    assert largest.startswith(said.group(1))
    assert float(said.group(2)) == pytest.approx(100 * others[largest] / whole, abs=0.6)


def test_one_sequence_alone_reads_no_more_experts_than_it_touches():
    alone = Shown({"model": "mixtral-8x7b", "tp": "2"}).text("honest")
    assert "every further sequence may touch others" in alone
    assert "grow from" not in alone
    assert "grow from" in Shown({"model": "mixtral-8x7b", "tp": "2", "batch": "2"}).text("honest")


def test_experts_are_spoken_of_where_there_are_any():
    assert "2 of 8" in Shown({"model": "mixtral-8x7b", "tp": "2"}).text("honest")
    assert "Experts" not in Shown({}).text("honest")


@pytest.mark.parametrize("query", SCENARIOS, ids=str)
def test_the_prompts_of_newcomers_are_counted_in_what_a_user_waits(query):
    shown, answer = Shown(query), predict(parse_question(query))
    wait = numbers.seconds(answer["tpot_concurrent_s"], words("en"))
    said = f"each user waits {wait} for a token".replace("\N{NO-BREAK SPACE}", " ")
    assert (said in shown.text("honest")) == (answer["batch"] > 1)


def test_a_single_token_has_no_step_to_share():
    shown = Shown({"output": "1", "batch": "8"})
    assert "nothing to batch" in shown.text("sentence")
    assert shown.trace("pareto", "you are here") == {"x": [None, None], "y": [None, None]}
    assert shown.trace("step_time", "you are here")["y"] == [None]
    for figure in ("pareto", "step_time", "use_of_peaks"):
        assert "nothing to batch" in shown.text(f"alt_{figure}")


def test_what_does_not_fit_has_neither_curve_nor_dot():
    shown = Shown({"model": "llama-3.1-70b"})
    assert "Does not fit" in shown.text("sentence")
    for name in ("H100 SXM", "you are here"):
        trace = shown.trace("pareto", name)
        assert set(trace["x"]) | set(trace["y"]) == {None}
    assert "does not fit" in shown.channel(f"f/step_time/{len(shown.names['step_time']) - 1}/text")


def test_a_second_chip_without_a_link_has_no_curve_beside_several():
    query = {"model": "llama-3.1-8b", "tp": "2", "versus": "apple-m2-ultra"}
    assert set(Shown(query).trace("pareto", "Apple M2 Ultra")["x"]) == {None}
    alone = Shown(query | {"tp": "1"}).trace("pareto", "Apple M2 Ultra")["x"]
    assert None not in alone


def test_the_chip_is_compared_with_two_others_beside_the_second_one():
    names = Shown({"chip": "b200-sxm", "versus": "a100-sxm-80gb"}).names["pareto"]
    assert names[:3] == ["H100 SXM", "A100 SXM", "B200 SXM"]
    same = Shown({"versus": "h100-sxm"}).names["pareto"]
    assert same[:3] == ["B200 SXM", "A100 SXM", "H100 SXM"]
