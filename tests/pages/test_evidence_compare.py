"""Two selections of measurements: what a move changed, the pinned one, and both as Python."""

from __future__ import annotations

import base64
import json
import re
from html import unescape
from statistics import mean, median

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from pages.menu import VIEWS
from pages.shared import numbers
from pages.shared.evidence.changes import what_changed
from pages.shared.evidence.snippet import snippet
from pages.shared.evidence.words import comparison, pinned_words, selection_of
from pages.shared.language import LANGUAGES, words
from pages.shared.pin import pin_text
from pages.shared.scenario import Scenario
from pages.shared.share_words import settings as settings_of
from physics.evidence import METRICS, PREDICTIONS, SHARES, Selection, rows
from physics.measured_requests import measured_names
from tests.pages.test_app import html_of, open_page, query_of
from tests.pages.test_compare import rows_of
from tests.pages.test_share import get, run

selections = st.builds(
    Selection,
    st.sampled_from(METRICS),
    st.sampled_from(PREDICTIONS),
    st.lists(st.sampled_from(SHARES), unique=True).map(tuple),
    **{
        name: st.lists(st.sampled_from(measured_names(name)), max_size=5, unique=True).map(tuple)
        for name in ("source", "model", "chip", "engine")
    },
)


def sizes(metric: str = "tpot", prediction: str = "typical", **wanted: object) -> list[float]:
    """Give the sizes of the errors of unseen rows, worked out from the rows themselves."""
    return [
        abs(getattr(row, prediction) / row.measured.seconds - 1)
        for row in rows()
        if row.measured.metric == metric
        and row.share in wanted.get("share", ["unseen"])
        and row.measured.chip in wanted.get("chip", [row.measured.chip])
    ]


def said(before: Selection, after: Selection, language: str) -> str:
    return what_changed(before, after, words(language)).replace("\xa0", " ")


def percent(value: float, language: str) -> str:
    return numbers.percent(value, words(language), digits=2)


# ------------------------------------------------------------------ what changed


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_chip_picked_names_what_fell_out_and_its_own_error(language):
    h200 = sizes(chip=["h200-sxm"])
    others = sizes(chip=[name for name in measured_names("chip") if name != "h200-sxm"])
    text = said(Selection(), Selection(chip=("h200-sxm",)), language)
    everything = percent(median([*h200, *others]), language)
    assert f"{everything} → {percent(median(h200), language)}" in text
    assert f" {len(others)} " in text
    assert text.endswith(f"{percent(median(others), language)}.")
    assert "→ H200 SXM" in text


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_share_added_names_what_came_and_its_own_error(language):
    before, new = sizes(), sizes(share=["fitted"])
    text = said(Selection(), Selection(shares=("unseen", "fitted")), language)
    both = f"{percent(median(before), language)} → {percent(median([*before, *new]), language)}"
    assert both in text
    assert f" {len(new)} " in text
    assert text.endswith(f"{percent(median(new), language)}.")


@pytest.mark.parametrize("language", LANGUAGES)
def test_another_metric_names_both_groups_of_rows(language):
    text = said(Selection(), Selection("ttft"), language)
    old, new = sizes(), sizes("ttft")
    assert f"{percent(median(old), language)} → {percent(median(new), language)}" in text
    assert text.index(f" {len(new)} ") < text.index(f" {len(old)} ")


def test_models_with_experts_and_dense_ones_are_told_apart():
    dense = Selection(model=("llama-3.1-70b",))
    experts = Selection(model=("deepseek-v3",))
    text = said(dense, experts, "en")
    assert re.search(
        r"with 137 measurements of models with experts instead of 131 measurements of dense", text
    )
    assert "131 misure di modelli densi" in said(experts, dense, "it")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("way", [1, -1])
def test_the_other_prediction_names_how_the_middle_moved(language, way):
    pair = [Selection(), Selection(prediction="ideal")][::way]
    text = said(*pair, language)
    own = [row for row in rows() if row.share == "unseen" and row.measured.metric == "tpot"]
    middles = {
        name: percent(median(row.error(name) for row in own), language) for name in PREDICTIONS
    }
    places = [text.rindex(middles[one.prediction]) for one in pair]
    assert places == sorted(places)
    assert not re.search(r"\b555\b", text)


def test_what_changes_no_row_changes_no_error():
    few = Selection(model=("llama-3.1-8b",))
    text = said(few, Selection(model=("llama-3.1-8b",), chip=("h200-sxm",)), "en")
    assert text == "Chip all → H200 SXM: the same 5 measurements pass, so no error changes."


def test_nothing_left_and_something_again_are_said():
    none = Selection(shares=())
    assert said(Selection(), none, "en").endswith("→ none: no measurement passes any more.")
    assert f"now {len(sizes())} measurements" in said(none, Selection(), "en")
    assert said(none, Selection("ttft", shares=()), "en").endswith("still no measurement passes.")


@settings(max_examples=60, deadline=None)
@given(selections, selections, st.sampled_from(list(LANGUAGES)))
def test_no_two_selections_break_the_sentence_or_the_table(one, other, language):
    text = what_changed(one, other, words(language))
    assert bool(text) == (one != other)
    assert text == "" or text.endswith(".")
    table = comparison(one, other, words(language)) + pinned_words(one, other, words(language))
    assert not re.search(r"\{|\}|\bnan\b|\binf\b|None", text + table)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_says_the_last_move_and_only_that(language):
    app = open_page("evidence", lang=language)
    assert changed(app) == ""
    app.multiselect(key="evidence_measured_chip").set_value(["h200-sxm"]).run()
    first = changed(app)
    assert first == said(Selection(), Selection(chip=("h200-sxm",)), language)
    app.button(key="pin_this").click().run()
    assert changed(app) == first
    app.multiselect(key="evidence_measured_chip").set_value([]).run()
    assert changed(app) == said(Selection(chip=("h200-sxm",)), Selection(), language)


def changed(app: AppTest) -> str:
    found = re.search(r'<p class="changed" aria-live="polite">(.*?)</p>', html_of(app))
    return unescape(found[1]).replace("\xa0", " ")


# ------------------------------------------------------------------ the pinned selection


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_pin_is_a_ghost_on_both_figures_and_a_table(language):
    app = open_page("evidence", lang=language, pin="measured_chip=h200-sxm", metric="ttft")
    assert not app.exception
    say = words(language)
    scatter, histogram = (json.loads(chart.proto.spec) for chart in app.get("plotly_chart"))
    [ghost] = [trace for trace in scatter["data"] if trace.get("name") == say("compare.legend")]
    assert ghost["marker"]["symbol"] == "circle-open"
    pinned = Selection(chip=("h200-sxm",)).rows()
    assert len(values(ghost["x"])) == len(pinned)
    [outline] = [trace for trace in histogram["data"] if trace.get("name") == say("compare.legend")]
    assert outline["line"]["dash"] == "dot"
    assert sum(values(outline["y"])[:-1]) == len(pinned)
    table = rows_of(html_of(app))
    mine, now = sizes(chip=["h200-sxm"]), sizes("ttft")
    texts = [percent(median(one), language) for one in (mine, now)]
    assert table[say("evidence.metric")][:2] == ["TPOT", "TTFT"]
    assert table[say("evidence.chip")][:2] == ["H200 SXM", say("evidence.all")]
    assert table[say("evidence.count")][:2] == [str(len(mine)), str(len(now))]
    assert table[say("evidence.median_error").capitalize()][:2] == texts
    texts = [percent(mean(one), language) for one in (mine, now)]
    assert table[say("evidence.mean_error").capitalize()][:2] == texts
    texts = [percent(mean(size <= 0.25 for size in one), language) for one in (mine, now)]
    band = say("evidence.within", band=percent(0.25, language)).capitalize()
    assert table[band][:2] == texts


def values(coded: list | dict) -> list[float]:
    """Read a list of numbers of a figure, which Plotly may send as bytes."""
    if isinstance(coded, list):
        return coded
    return np.frombuffer(base64.b64decode(coded["bdata"]), coded["dtype"]).tolist()


def test_without_a_pin_there_is_no_ghost_and_no_table():
    app = open_page("evidence", lang="en")
    specs = " ".join(chart.proto.spec for chart in app.get("plotly_chart"))
    assert '"Pinned"' not in specs
    assert 'class="compared"' not in html_of(app)


def test_pin_swap_and_unpin_are_in_the_url():
    app = open_page("evidence", lang="en", batch="8", measured_chip="h200-sxm")
    app.button(key="pin_this").click().run()
    app.multiselect(key="evidence_measured_chip").set_value([]).run()
    pin = pin_text(Scenario(batch=8, measured_chip=("h200-sxm",)))
    assert query_of(app) == {"batch": "8", "pin": pin, "lang": "en"}
    app.button(key="pin_swap").click().run()
    assert not app.exception
    assert query_of(app) == {
        "batch": "8", "measured_chip": "h200-sxm", "pin": "batch=8", "lang": "en",
    }  # fmt: skip
    assert app.multiselect(key="evidence_measured_chip").value == ["h200-sxm"]
    app.button(key="pin_unpin").click().run()
    assert query_of(app) == {"batch": "8", "measured_chip": "h200-sxm", "lang": "en"}


@pytest.mark.parametrize("pin", ["measured=none", "measured=none&metric=ttft"])
def test_an_empty_selection_can_be_pinned_and_can_face_a_pin(pin):
    for shown in ({}, {"measured": "none"}):
        app = open_page("evidence", lang="it", pin=pin, **shown)
        assert not app.exception
        table = rows_of(html_of(app))
        assert table["Quante"][0] == "0"
        assert table["Errore mediano"][0] == numbers.NONE


# ------------------------------------------------------------------ what is shared

PICKED = [
    {},
    {"metric": "ttft", "prediction": "ideal", "measured": "unseen,fitted,other"},
    {"measured_model": "deepseek-v3,qwen3-32b", "measured_chip": "h100-sxm,b200-sxm"},
    {"measured": "none"},
]


@pytest.mark.parametrize("query", PICKED, ids=str)
def test_the_lines_of_python_compute_what_the_page_says(query):
    app = open_page("evidence", lang="en", **query)
    found = run(snippet(Scenario.from_query(query)[0]))
    shown = [metric.value for metric in app.metric[:3]]
    names = ("tpot_dense", "tpot_moe", "ttft_dense")
    assert [percent(found[f"unseen.{name}"], "en") for name in names] == shown
    if not found["rows"]:
        assert app.info
        assert "median_error" not in found
        return
    sentence = app.markdown[0].value
    assert f"**{found['rows']} measurements**" in sentence
    names = ("median_error", "mean_error", "bias", "within_band")
    texts = [percent(found[name], "en") for name in names]
    assert re.findall(r"−?[\d.]+%", sentence)[:4] == texts


def test_the_lines_of_python_are_served_and_offered():
    query = {"measured_chip": "h200-sxm", "lang": "it", "v": "1"}
    body = get("/share/snippet/evidence", query).body.decode()
    assert body == snippet(Scenario(measured_chip=("h200-sxm",)))
    for name, wanted in (("evidence", True), ("glossary", True), ("stories", False)):
        assert shared_of(open_page(name, lang="en"))["python"] is wanted


def shared_of(app: AppTest) -> dict:
    return json.loads(unescape(re.search(r'data-share="(.*?)"', html_of(app))[1]))


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_settings_that_are_shared_are_those_that_count(language):
    say = words(language)
    app = open_page("evidence", lang=language, measured_engine="vllm,sglang", batch="8")
    given = shared_of(app)["settings"]
    assert f"{say('evidence.engine')}: SGLang, vLLM" in given
    assert f"{say('evidence.shares')}: {say('evidence.share_unseen')}" in given
    assert not any("batch" in text or "Llama" in text for text in given)
    assert shared_of(open_page("stories", lang=language, batch="8"))["settings"] == []
    here = shared_of(open_page("glossary", lang=language, batch="8"))["settings"]
    assert any("Llama 3.1 8B" in text for text in here)
    assert any("batch 8" in text for text in here)


def test_filters_of_the_evidence_stand_in_no_settings_of_other_pages():
    plain, picked = Scenario(), Scenario.from_query(PICKED[1])[0]
    for view in VIEWS:
        if view.name != "evidence":
            assert settings_of(view, plain, words("en")) == settings_of(view, picked, words("en"))
    assert selection_of(plain) != selection_of(picked)
