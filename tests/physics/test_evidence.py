"""Which measurements are chosen, and how far off their predictions are."""

from __future__ import annotations

from collections import Counter

import pytest

from physics.evidence import (
    FILTERS,
    METRICS,
    PREDICTIONS,
    SHARES,
    Selection,
    errors_of,
    rows,
    unseen_median,
    within,
)
from physics.fit_report import other_rows, report_groups, unseen_rows
from physics.measured_requests import measured_names, measured_requests


def test_every_measurement_is_in_one_selection_by_metric_and_share():
    parts = [
        row.measured
        for metric in METRICS
        for share in SHARES
        for row in Selection(metric, shares=[share]).rows()
    ]
    assert Counter(parts) == Counter(measured_requests())


def test_shares_are_those_of_the_report_of_the_fit():
    for share, reported in (("unseen", unseen_rows()), ("other", other_rows())):
        chosen = [
            row.measured for metric in METRICS for row in Selection(metric, shares=[share]).rows()
        ]
        assert Counter(chosen) == Counter(reported)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("name", FILTERS)
def test_a_filter_splits_the_pool_without_loss(metric, name):
    pool = Selection(metric, shares=SHARES).pool()
    parts = [Selection(metric, shares=SHARES, **{name: [one]}) for one in measured_names(name)]
    assert sum(len(part.rows()) for part in parts) == len(pool)
    everything = Selection(metric, shares=SHARES, **{name: measured_names(name)})
    assert everything.rows() == pool == Selection(metric, shares=SHARES).rows()


@pytest.mark.parametrize(
    ("metric", "kind"), [("tpot", "dense"), ("tpot", "moe"), ("ttft", "dense")]
)
def test_headline_is_that_of_the_report(metric, kind):
    assert unseen_median(metric, kind) == pytest.approx(
        report_groups()[metric, kind, "all", ""].median
    )


@pytest.mark.parametrize("prediction", PREDICTIONS)
def test_errors_and_band_are_those_of_the_rows(prediction):
    some = Selection(chip=["h200-sxm"]).rows()
    relative = [
        (row.typical if prediction == "typical" else row.ideal) / row.measured.seconds - 1
        for row in some
    ]
    found = errors_of(some, prediction)
    assert found.mean == pytest.approx(sum(map(abs, relative)) / len(some))
    inside = sum(abs(one) <= 0.25 for one in relative) / len(some)
    assert within(some, prediction) == pytest.approx(inside)


def test_ideal_never_takes_longer_than_typical():
    assert all(row.ideal <= row.typical * (1 + 1e-9) for row in rows())
