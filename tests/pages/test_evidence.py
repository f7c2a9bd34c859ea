"""The evidence page: its figures, filters and words say what the measurements say."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import ButtonGroup

from pages.shared import numbers
from pages.shared.failures import FAILURES, reason
from pages.shared.language import LANGUAGES, words
from physics.evidence import Row, rows
from physics.fit_report import REPORT, errors
from tests.pages.test_app import html_of, open_page, query_of


def test_every_measurement_plays_one_part():
    shares = [row.share for row in rows()]
    assert set(shares) == {"unseen", "fitted", "other", "doubtful"}
    assert all((row.share == "doubtful") >= bool(row.measured.doubt) for row in rows())


@pytest.mark.parametrize("language", LANGUAGES)
def test_headline_errors_are_those_of_the_report(language):
    app = open_page("evidence", lang=language)
    with REPORT.open(encoding="utf-8") as file:
        stored = {
            (row["metric"], row["kind"]): float(row["median"])
            for row in csv.DictReader(file) if row["by"] == "all"
        }
    shown = [metric.value.replace(",", ".").rstrip("% \xa0") for metric in app.metric[:3]]
    told = [stored["tpot", "dense"], stored["tpot", "moe"], stored["ttft", "dense"]]
    # Two digits on screen.
    assert [float(text) / 100 for text in shown] == pytest.approx(told, rel=0.05)


def test_filters_narrow_what_is_counted():
    app = open_page("evidence", lang="en")
    assert not app.exception
    before = sum(row.share == "unseen" and row.measured.metric == "tpot" for row in rows())
    assert f"**{before} measurements**" in app.markdown[0].value
    app.multiselect(key="evidence_measured_chip").set_value(["h200-sxm"]).run()
    kept = sum(
        row.share == "unseen" and row.measured.metric == "tpot" and row.measured.chip == "h200-sxm"
        for row in rows()
    )
    assert 0 < kept < before
    assert f"**{kept} measurements**" in app.markdown[0].value


PICKED = {
    "metric": "ttft",
    "prediction": "ideal",
    "measured": "unseen,fitted",
    "measured_source": "SPLITWISE,INFERENCEX",
    "measured_model": "llama-2-70b,qwen3-32b",
    "measured_chip": "h100-sxm",
    "measured_engine": "vllm-2023",
}


def chosen_by(query: dict[str, str]) -> list[Row]:
    """Give the rows that a link asks for, worked out here."""

    def wanted(row: Row) -> bool:
        return (
            row.measured.metric == query.get("metric", "tpot")
            and row.share in query.get("measured", "unseen").split(",")
            and all(
                getattr(row.measured, name) in query[f"measured_{name}"].split(",")
                for name in ("source", "model", "chip", "engine")
                if f"measured_{name}" in query
            )
        )

    return [row for row in rows() if wanted(row)]


def said_of(app: AppTest) -> str:
    return app.markdown[0].value.replace("\xa0", " ")


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_link_restores_every_filter_and_its_numbers(language):
    app = open_page("evidence", lang=language, **PICKED)
    assert not app.exception
    assert "notice" not in html_of(app).replace("p.notice", "")
    metric, prediction, shares = (
        next(group.value for group in app.get("button_group") if group.key == f"evidence_{name}")
        for name in ("metric", "prediction", "measured")
    )
    assert (metric, prediction, shares) == ("ttft", "ideal", ["unseen", "fitted"])
    for name in ("source", "model", "chip", "engine"):
        picked = app.multiselect(key=f"evidence_measured_{name}").value
        assert sorted(picked) == sorted(PICKED[f"measured_{name}"].split(","))
    own = chosen_by(PICKED)
    found = errors([row.ideal for row in own], [row.measured.seconds for row in own])
    assert f"**{len(own)} " in said_of(app)
    median = numbers.percent(found.median, words(language), digits=2)
    assert median in said_of(app)
    order = {"measured_source": "INFERENCEX,SPLITWISE"}
    assert query_of(app) == PICKED | order | {"lang": language}


def test_a_bare_address_stays_bare_and_what_is_picked_stands_in_it():
    app = open_page("evidence")
    assert query_of(app) == {}
    app.multiselect(key="evidence_measured_model").set_value(["qwen3-32b"]).run()
    assert query_of(app) == {"measured_model": "qwen3-32b", "lang": "en"}
    group(app, "metric").set_value("ttft").run()
    group(app, "measured").set_value(["fitted", "unseen"]).run()
    assert not app.exception
    assert query_of(app) == {
        "measured_model": "qwen3-32b",
        "metric": "ttft",
        "measured": "unseen,fitted",
        "lang": "en",
    }
    app.button(key="evidence_reset").click().run()
    assert query_of(app) == {"lang": "en"}
    assert group(app, "measured").value == ["unseen"]
    assert not [button for button in app.button if button.key == "evidence_reset"]


def group(app: AppTest, name: str) -> ButtonGroup:
    return next(one for one in app.get("button_group") if one.key == f"evidence_{name}")


def test_another_language_keeps_the_filters_and_the_scenario():
    app = open_page("evidence", lang="en", chip="h20", measured_chip="h200-sxm")
    next(one for one in app.get("button_group") if one.key == "pick_language").set_value("it").run()
    assert query_of(app) == {"chip": "h20", "measured_chip": "h200-sxm", "lang": "it"}
    assert app.multiselect(key="evidence_measured_chip").value == ["h200-sxm"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_share_at_all_is_said_and_can_be_linked(language):
    app = open_page("evidence", lang=language)
    group(app, "measured").set_value([]).run()
    assert not app.exception
    assert app.info[0].value == words(language)("evidence.nothing")
    assert query_of(app) == {"measured": "none", "lang": language}
    again = open_page("evidence", measured="none", lang=language)
    assert again.info[0].value == words(language)("evidence.nothing")
    assert group(again, "measured").value == []


@pytest.mark.parametrize(
    ("query", "said", "kept"),
    [
        (
            {"measured_chip": "h200-smx,tpu9"},
            "measured_chip = “h200-smx,tpu9”, which cannot be used. Using h200-sxm instead."
            " Allowed: a100-pcie-80gb, ",
            {"measured_chip": "h200-sxm"},
        ),
        (
            {"measured_engine": "zzz"},
            "measured_engine = “zzz”, which cannot be used. It is left out. Allowed: gaudi, ",
            {},
        ),
        (
            {"measured": "unseen,others,x"},
            "measured = “others,x”, which cannot be used. Using unseen,other instead."
            " Allowed: unseen, fitted, other, doubtful.",
            {"measured": "unseen,other"},
        ),
        ({"metric": "itl"}, "metric = “itl”, which cannot be used. Using tpot instead.", {}),
    ],
)
def test_a_filter_that_cannot_be_used_is_said_with_what_is_allowed(query, said, kept):
    app = open_page("evidence", lang="en", **query)
    assert not app.exception
    assert said in html_of(app).replace("&#x27;", "'")
    assert query_of(app) == kept | {"lang": "en"}


def test_a_filter_that_nothing_passes_stays_to_be_seen():
    app = open_page("evidence", lang="en", metric="ttft", measured_model="kimi-k2")
    assert not app.exception
    assert app.multiselect(key="evidence_measured_model").value == ["kimi-k2"]
    assert app.info[0].value == words("en")("evidence.nothing")


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: failure.reason)
def test_a_reason_covers_rows_that_really_fail(failure):
    """A reason stands only where the prediction is off by more than a tenth in the median."""
    own = [row for row in rows() if failure.covers(row.measured) and not row.measured.doubt]
    assert own
    assert reason(own[0].measured) == failure.reason
    assert np.median([abs(row.error("typical")) for row in own]) > 0.1
