"""What changed is said with the numbers and the causes that physics gives."""

from __future__ import annotations

import asyncio
import json
import re
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.requests import Request

from pages.shared import numbers
from pages.shared.answers import ANSWERS
from pages.shared.change_words import what_changed
from pages.shared.language import LANGUAGES, words
from pages.shared.player.answers import LONGEST_QUERY, AnswerStore
from pages.shared.scenario import Scenario
from physics.predict import parse_question, predict
from tests.pages.strategies import scenarios

EN = words("en")


def said(before: dict, after: dict, language: str = "en") -> str:
    return what_changed(Scenario(**before), Scenario(**after), words(language)).replace("\xa0", " ")


def test_the_cause_is_named_and_what_stayed():
    assert "TPOT +38%" in said({"batch": 32}, {"batch": 64})
    assert "KV cache traffic doubled; weights unchanged" in said({"batch": 32}, {"batch": 64})
    assert "traffico della KV cache raddoppiato; pesi invariati" in said(
        {"batch": 32}, {"batch": 64}, "it"
    )


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("after", [{"batch": 64}, {"prompt": 16384}, {"chip": "h20"}, {"tp": 4}])
def test_times_said_are_those_of_physics(after, language):
    text = what_changed(Scenario(batch=8), Scenario(**{"batch": 8} | after), words(language))
    for query in ({"batch": "8"}, {"batch": "8"} | {k: str(v) for k, v in after.items()}):
        answer = predict(parse_question(query))
        for name in ("ttft_s", "tpot_s"):
            assert numbers.seconds(answer[name], words(language)) in text


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({}, {"bandwidth": 6700}, "TPOT −50% (4.57 ms → 2.28 ms): memory bandwidth doubled"),
        ({}, {"bandwidth": 6700}, "TTFT hardly changes: arithmetic sets it"),
        ({}, {"flops": 1978}, "TTFT −49% (30.3 ms → 15.3 ms): compute speed doubled"),
        ({}, {"flops": 1978}, "TPOT hardly changes: memory sets it"),
        ({}, {"weights": "fp8"}, "weights traffic halved"),
        ({}, {"kv": "fp8"}, "TPOT hardly changes: KV cache traffic halved, a small part of it"),
        ({"tp": 2}, {"tp": 1}, "memory bandwidth halved; weights unchanged"),
        ({}, {"efficiency": "typical"}, "kernel launches come on top"),
        ({}, {"batch": 512}, "no longer fits into memory"),
        ({"batch": 512}, {}, "fits into memory now: TTFT 30.3 ms, TPOT 4.57 ms"),
        (
            {"batch": 256, "prompt": 100, "output": 10},
            {"batch": 512, "prompt": 100, "output": 10},
            "reading the weights now hides behind arithmetic",
        ),
        ({}, {"batch": 2, "prompt": 64}, "Prompt 2,048 → 64 tokens, Batch 1 sequence → 2"),
    ],
)
def test_known_moves(before, after, expected):
    assert expected in said(before, after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {}),
        ({"batch": 5000}, {"batch": 6000}),  # neither fits
        ({}, {"price": 2.0}),
        ({}, {"engine": "sglang"}),  # an ideal machine has no engine
    ],
)
def test_nothing_is_said_where_nothing_changed(before, after):
    assert said(before, after) == ""


def test_more_than_two_moves_are_not_listed():
    text = said({}, {"batch": 2, "prompt": 64, "model": "qwen3-32b"})
    assert text.startswith(("TTFT", "TPOT"))


@settings(max_examples=60, deadline=None)
@given(scenarios, scenarios, st.sampled_from(list(LANGUAGES)))
def test_no_two_scenarios_break_the_sentence(before, after, language):
    text = what_changed(before, after, words(language))
    assert not re.search(r"\{|\}|\bnan\b|\binf\b|None|—", text)
    assert (text == "") or text.endswith(".")


def ask(name: str, **asked: str) -> tuple[int, dict]:
    scope = {
        "type": "http",
        "method": "GET",
        "path": f"/answer/{name}",
        "path_params": {"name": name},
        "query_string": urlencode(asked).encode(),
        "headers": [],
    }
    with ThreadPoolExecutor(1) as lane:
        store = AnswerStore(ANSWERS, lane)
        response = asyncio.run(store.respond(Request(scope)))
    return response.status_code, json.loads(response.body)


def test_the_route_answers_and_refuses():
    asked = {"before": "batch=32", "after": "batch=64", "lang": "it"}
    assert ask("change", **asked) == (200, ANSWERS["change"](asked))
    assert "raddoppiato" in ask("change", **asked)[1]["text"]
    assert ask("nothing")[0] == 404
    assert ask("change", before="x" * LONGEST_QUERY)[0] == 400
    assert ask("change", before="batch=<b>", after="nonsense=1") == (200, {"text": ""})
