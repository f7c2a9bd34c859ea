"""Comparing two comparisons of services: the pinned one, what changed, and the lines of Python."""

from __future__ import annotations

import base64
import contextlib
import io
import json
import re

import numpy as np
import pytest

from pages.shared import numbers
from pages.shared.language import LANGUAGES, words
from pages.shared.pin import pin_text
from pages.shared.scenario import Scenario
from pages.shared.serving.change import what_changed
from pages.shared.serving.services import Judged
from pages.shared.serving.settings import differences
from pages.shared.serving.snippet import service_snippet
from physics.serving.design import KINDS
from physics.serving.simulation import simulate
from tests.pages.test_app import html_of, open_page, query_of
from tests.pages.test_disaggregation import LOADS, asked, stood


def judged(query: dict[str, str]) -> Judged:
    return Judged(asked(query), stood(query))


def plain(text: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", text.replace("\xa0", " ")))


def numbers_of(given) -> list[float]:
    """Return an array of a figure as numbers, however Plotly wrote it."""
    if isinstance(given, dict):
        return np.frombuffer(base64.b64decode(given["bdata"]), given["dtype"]).tolist()
    return list(given)


PINNED = {"rate": "4", "left": "chunked", "prompt": "1024"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_table_has_what_was_simulated_of_both(language):
    pin = pin_text(Scenario.from_query(PINNED)[0])
    app = open_page("disaggregation", lang=language, pin=pin)
    assert not app.exception
    table = next(part.proto.body for part in app.get("html") if "<table" in part.proto.body)
    write = words(language)
    for query in (PINNED, {}):
        for kind in {"chunked", "colocated", "disaggregated"}:
            own = stood(query)[kind]
            for value in (own.ttft.p99, own.itl.p99):
                assert numbers.seconds(value, write) in table
    ratio = stood({})["disaggregated"].ttft.p99 / stood(PINNED)["disaggregated"].ttft.p99
    assert numbers.multiple(ratio, write, digits=3) in table
    for _, one, other in differences(asked(PINNED), asked({}), write):
        assert plain(one) in plain(table)
        assert plain(other) in plain(table)
    assert "nan" not in table.casefold()


def test_pin_swap_and_unpin_move_scenarios_between_page_and_address():
    app = open_page("disaggregation", lang="en", rate="5", model="llama-3.1-70b", tp="8")
    app.button(key="pin_this").click().run()
    assert query_of(app)["pin"] == "model=llama-3.1-70b&tp=8&rate=5"
    app.button(key="example_start").click().run()
    assert query_of(app) == {"lang": "en", "pin": "model=llama-3.1-70b&tp=8&rate=5"}
    app.button(key="pin_swap").click().run()
    assert not app.exception
    assert query_of(app) == {
        "lang": "en", "model": "llama-3.1-70b", "tp": "8", "rate": "5", "pin": "default"}
    assert app.selectbox(key="pick_model").value == "llama-3.1-70b"
    app.button(key="pin_unpin").click().run()
    assert "pin" not in query_of(app)
    assert not any("<table" in part.proto.body for part in app.get("html"))


def test_ghosts_are_the_pinned_simulation():
    pin = pin_text(Scenario.from_query(PINNED)[0])
    app = open_page("disaggregation", lang="en", pin=pin)
    question = asked(PINNED)
    seen = simulate(question.service("chunked").design(), question.asked().traffic())
    drawn = [
        (figure, trace)
        for figure in (json.loads(part.proto.spec) for part in app.get("plotly_chart"))
        for trace in figure["data"]
        if str(trace.get("name")).startswith("Pinned: chunked")
    ]
    assert drawn
    marks = [numbers_of(trace["x"]) for _, trace in drawn if trace["mode"] == "markers"]
    marks = [one for one in marks if len(one) == 3]
    for values in (seen.ttft_seconds, seen.itl_seconds):
        wanted = np.quantile(values, [0.5, 0.9, 0.99])
        assert any(one == pytest.approx(wanted.tolist()) for one in marks)
    # On each figure, and its marks inside of the axes.
    assert len({id(figure) for figure, _ in drawn}) >= 4
    for figure, trace in drawn:
        if trace["mode"] != "markers":
            continue
        axis = figure["layout"]["xaxis"]
        low, high = axis["range"]
        if axis.get("type") == "log":
            low, high = 10**low, 10**high
        places = numbers_of(trace["x"])
        assert low * 0.999 <= min(places)
        assert max(places) <= high * 1.001
    bare = open_page("disaggregation", lang="en")
    assert "Pinned" not in "".join(part.proto.spec for part in bare.get("plotly_chart"))


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_pinned_and_cannot_be_simulated_says_why(language):
    app = open_page("disaggregation", lang=language, pin="model=llama-3.1-405b")
    assert not app.exception
    said = html_of(app)
    first = words(language)("disaggregation.pin_refused", why="§").split("§")[0]
    assert first in said
    assert "&lt;" not in said


MOVES = [
    ({}, {"rate": "15"}),
    ({}, {"rate": "1"}),
    ({}, {"prompt": "8192", "rate": "10", "ttft_target": "150", "itl_target": "10"}),
    ({"left": "chunked"}, {"left": "chunked", "budget": "128"}),
    ({"output": "32"}, {"output": "32", "link": "1.2"}),
    ({}, {"itl_target": "5"}),
    ({}, {"model": "llama-3.1-70b", "tp": "8", "kv": "fp8"}),
]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("before", "after"), MOVES, ids=str)
def test_what_changed_is_said_with_both_values(before, after, language):
    write = words(language)
    one, other = judged(before), judged(after)
    said = what_changed(one, other, write)
    assert said
    assert not re.search(r"\{|\}|\bnan\b|\binf\b|None", said)
    scenario = other.question.scenario
    for kind in {scenario.left, scenario.right}:
        then, now = one.stood[kind], other.stood[kind]
        times = [(getattr(then, name).p99, getattr(now, name).p99) for name in ("ttft", "itl")]
        largest = max(times, key=lambda both: abs(np.log(both[1] / both[0])))
        if abs(largest[1] / largest[0] - 1) >= 0.01:
            assert " → ".join(numbers.seconds(value, write) for value in largest) in said
        if abs(then.attainment - now.attainment) >= 0.01:
            shares = (numbers.percent(each.attainment, write, digits=2) for each in (then, now))
            assert " → ".join(shares) in said


def test_a_target_moves_no_time():
    said = plain(what_changed(judged({}), judged({"itl_target": "5"}), words("en")))
    assert said.startswith("ITL target 10 → 5 ms: Within the targets")


def test_nothing_changed_is_no_sentence():
    assert what_changed(judged({}), judged({}), words("en")) == ""


def test_the_page_says_what_a_move_changed_until_the_next():
    app = open_page("disaggregation", lang="en")
    assert '<p class="changed" aria-live="polite"></p>' in html_of(app)
    app.select_slider(key="slide_rate").set_value(15.0).run()
    moved = {"rate": "15", "ttft_target": "150", "itl_target": "10"}
    said = what_changed(judged({}), judged(moved), words("en"))
    assert said in html_of(app)
    app.slider(key="disaggregation_request").set_value(3).run()  # no setting
    assert said in html_of(app)
    app.selectbox(key="pick_right").set_value("chunked").run()
    assert said not in html_of(app)


def run(code: str) -> dict[str, float]:
    space: dict[str, object] = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(code, "snippet", "exec"), space)  # as a reader would
    return space["numbers"]


@pytest.mark.parametrize("query", LOADS, ids=str)
def test_lines_of_python_give_the_read_outs(query):
    found = run(service_snippet(Scenario.from_query(query)[0]))
    for kind, own in stood(query).items():
        assert found[f"{kind}.ttft_p99_s"] == own.ttft.p99
        assert found[f"{kind}.itl_p99_s"] == own.itl.p99
        assert found[f"{kind}.goodput_per_s"] == own.goodput
    assert len(found) == 3 * len(KINDS)


def test_lines_of_what_cannot_be_simulated_say_why_and_run():
    code = service_snippet(Scenario(model="llama-3.1-405b"))
    assert code.startswith("# ")
    assert "<" not in code
