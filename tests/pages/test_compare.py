"""A pinned scenario beside the present one: its text in a URL, and the table of both."""

from __future__ import annotations

import re
from html import unescape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pages.shared import links, numbers
from pages.shared.answers import ANSWERS
from pages.shared.compare_words import comparison, pinned_words
from pages.shared.language import LANGUAGES, words
from pages.shared.pin import pin_text, pinned, read_pin
from pages.shared.scenario import Scenario
from physics.predict import parse_question, predict
from tests.pages.strategies import scenarios
from tests.pages.test_app import html_of, open_page, query_of


def rows_of(table: str) -> dict[str, list[str]]:
    """Give the cells of each row of the table by its first."""
    found = {}
    for row in re.findall(r"<tr>(.*?)</tr>", table):
        label, *cells = (unescape(cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row))
        found[label] = cells
    return found


@given(scenarios)
def test_a_pin_is_read_as_it_was_written(scenario):
    assert pinned(pin_text(scenario)) == (scenario, [])
    assert read_pin(pin_text(scenario)) == (pin_text(scenario), [])


@pytest.mark.parametrize("text", ["hello", "=", "&&", "lang=it", "%00", "x" * 999, "a&" * 100])
def test_what_is_no_scenario_is_left_out_with_a_notice(text):
    kept, notices = read_pin(text)
    assert kept == ""
    assert [notice.name for notice in notices] == ["pin"]


def test_the_pin_of_an_old_link_is_read_in_its_own_scheme(monkeypatch):
    monkeypatch.setattr(links, "VERSION", 2)
    monkeypatch.setattr(links, "UPGRADES", {1: lambda query: {"batch": "1"} | query})
    read, _ = links.read_link({"pin": "default", "prompt": "64", "v": "1"})
    assert read == {"batch": "1", "prompt": "64", "pin": "batch=1"}
    assert links.read_link({"pin": "default", "v": "2"})[0] == {"pin": "default"}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "query",
    [
        {"batch": "16"},
        {"model": "mixtral-8x7b", "tp": "2", "kv": "fp8"},
        {"chip": "b200-sxm", "bandwidth": "4000", "prompt": "32768"},
    ],
    ids=str,
)
def test_the_table_says_what_physics_says(query, language):
    spoken = words(language)
    before, now = predict(parse_question({})), predict(parse_question(query))
    rows = rows_of(comparison(Scenario(), Scenario.from_query(query)[0], spoken))
    for label, write, name in (
        ("TTFT", numbers.seconds, "ttft_s"),
        ("TPOT", numbers.seconds, "tpot_s"),
        ("E2E", numbers.seconds, "e2e_s"),
        (spoken("compare.user"), numbers.tokens_per_second, "tokens_per_s_user"),
        (spoken("compare.system"), numbers.tokens_per_second, "tokens_per_s_system"),
        (spoken("compare.weights"), numbers.bytes_decimal, "weight_bytes_all_chips"),
        (spoken("compare.kv"), numbers.bytes_decimal, "kv_bytes_all_chips"),
        (spoken("compare.memory"), numbers.bytes_decimal, "capacity_bytes"),
        (spoken("compare.room"), numbers.number, "max_batch"),
        (spoken("compare.ridge"), numbers.flop_per_byte, "ridge_flop_per_byte"),
    ):
        ratio = numbers.multiple(now[name] / before[name], spoken, digits=3)
        expected = [write(before[name], spoken), write(now[name], spoken), ratio]
        assert rows[label] == expected, label
    for phase in ("prefill", "decode"):
        assert rows[spoken(f"compare.{phase}")][:2] == [
            spoken(f"bound_by.{answer[phase]['bound']}") for answer in (before, now)
        ]


def test_what_does_not_fit_has_no_time_and_no_ratio():
    rows = rows_of(comparison(Scenario(), Scenario(batch=300), words("en")))
    assert rows["In memory"][:2] == ["fits", "does not fit"]
    assert rows["TTFT"] == ["30.3\xa0ms", numbers.NONE, ""]


def test_the_legend_names_what_differs():
    assert pinned_words(Scenario(), Scenario(batch=8, chip="h20"), words("en")) == (
        "Chip H100 SXM 80GB · Batch 1\xa0sequence"
    )
    assert pinned_words(Scenario(), Scenario(), words("it")) == "lo stato che vedi"


@settings(max_examples=40, deadline=None)
@given(scenarios, scenarios, st.sampled_from(list(LANGUAGES)))
def test_no_two_scenarios_break_the_table(one, other, language):
    answer = ANSWERS["compare"]({"pin": pin_text(one), "now": pin_text(other), "lang": language})
    assert not re.search(r"\{|\}|\bnan\b|\binf\b|None", answer["table"] + answer["legend"])


def test_a_table_of_no_pin_is_refused():
    with pytest.raises(ValueError, match="pin"):
        ANSWERS["compare"]({"pin": "hello", "now": "", "lang": "en"})


@pytest.mark.parametrize(
    ("pin", "kept", "said"),
    [
        ("batch=8&chip=h20", "chip=h20&batch=8", ""),
        ("default", "default", ""),
        ("batch=0&chip=h20", "chip=h20", "pin: batch = “0”"),
        ("<b>", None, "pin = “&lt;b&gt;”, which cannot be used. It is left out."),
    ],
)
def test_the_link_carries_the_pin_and_says_what_it_could_not_use(pin, kept, said):
    app = open_page("roofline", pin=pin, lang="en")
    assert not app.exception
    assert query_of(app).get("pin") == kept
    assert said in html_of(app)
    assert bool(said) == ("notice" in html_of(app).replace("p.notice", ""))


def test_a_pick_keeps_the_pin():
    app = open_page("roofline", pin="batch=8", lang="en")
    app.selectbox(key="pick_chip").select("h200-sxm").run()
    assert query_of(app) == {"pin": "batch=8", "chip": "h200-sxm", "lang": "en"}
