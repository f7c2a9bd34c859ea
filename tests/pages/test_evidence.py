"""The evidence page: its figures, filters and words say what the measurements say."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from pages.evidence import rows
from pages.shared.failures import FAILURES, reason
from pages.shared.language import LANGUAGES, words
from physics.fit_report import REPORT
from tests.pages.test_app import open_page


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
    assert f"**{before} measurements**" in app.markdown[1].value
    app.multiselect(key="evidence_chip").set_value(["h200-sxm"]).run()
    kept = sum(
        row.share == "unseen" and row.measured.metric == "tpot" and row.measured.chip == "h200-sxm"
        for row in rows()
    )
    assert 0 < kept < before
    assert f"**{kept} measurements**" in app.markdown[1].value


def test_nothing_chosen_is_said():
    app = open_page("evidence", lang="it")
    app.get("button_group")[2].set_value([]).run()
    assert not app.exception
    assert app.info[0].value == words("it")("evidence.nothing")


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: failure.reason)
def test_a_reason_covers_rows_that_really_fail(failure):
    """A reason stands only where the prediction is off by more than a tenth in the median."""
    own = [row for row in rows() if failure.covers(row.measured) and not row.measured.doubt]
    assert own
    assert reason(own[0].measured) == failure.reason
    assert np.median([abs(row.error("typical")) for row in own]) > 0.1
