"""Measured requests: what they rest on, what physics says of them, and what was fitted."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from physics.catalogue import models
from physics.chips import chip, chips
from physics.concurrency import concurrent
from physics.fit import (
    fit_engines,
    fitted,
    kernels_table,
    overheads_table,
    usable,
    work_of,
)
from physics.fit_report import REPORT, kind, report, unseen_rows
from physics.machine import machine
from physics.measured_requests import DOUBTS, measured_requests, predicted_seconds
from physics.measurement_sources import MEASUREMENTS, measurement_sources
from physics.predict import Question, predict
from physics.typical import KERNELS, OVERHEADS, engines, overheads, typical

ROWS = measured_requests()


def test_every_row_names_what_the_catalogues_know():
    for row in ROWS:
        assert row.model in models()
        assert row.chip in chips()
        assert row.source in measurement_sources()
        assert row.metric in ("ttft", "tpot")
        assert row.seconds > 0
        assert row.doubt in ("", *DOUBTS)


def test_no_measurement_that_counts_beats_the_bound():
    counted = [row for row in ROWS if not row.doubt]
    bound = predicted_seconds(counted, "bound")
    assert len(counted) > 1500
    assert np.all(bound <= [row.seconds for row in counted])


def test_bound_is_no_more_than_ideal_and_ideal_no_more_than_typical():
    bound, ideal, real = (predicted_seconds(ROWS, name) for name in ("bound", "ideal", "typical"))
    assert np.all(bound <= ideal * (1 + 1e-12))
    assert np.all(ideal <= real * (1 + 1e-12))


@pytest.mark.parametrize("engine", engines())
def test_work_and_constants_give_what_a_typical_machine_predicts(engine):
    """The fit's shortcut is the physics: both give the same times."""
    rows = [row for row in usable(ROWS) if row.engine == engine][::7]
    own = overheads()[engine]
    if rows:
        times = work_of(rows).time(own.operator, own.all_reduce, own.link)
        assert times == pytest.approx(predicted_seconds(rows), rel=2e-4)


def test_one_row_by_the_command():
    row = next(
        row for row in usable(ROWS)
        if (row.engine, row.metric, row.load) == ("vllm", "tpot", "concurrent") and row.tp == 4
    )
    answer = predict(Question(
        model=row.model, chip=row.chip, prompt=row.prompt, output=row.output, batch=row.batch,
        tp=row.tp, weights=row.weights, kv=row.kv, efficiency="typical", engine=row.engine))
    assert answer["tpot_concurrent_s"] == pytest.approx(float(predicted_seconds([row])[0]))


def test_fitted_and_unseen_share_no_configuration():
    rows = [row for row in usable(ROWS) if row.engine in engines()]
    seen = {(row.engine, *row.configuration) for row in fitted(rows)}
    unseen = {(row.engine, *row.configuration) for row in unseen_rows()}
    assert seen
    assert unseen
    assert not seen & unseen


def test_the_fit_gives_the_stored_constants():
    assert overheads_table(fit_engines(usable(ROWS))) == OVERHEADS.read_text(encoding="utf-8")
    assert kernels_table() == KERNELS.read_text(encoding="utf-8")


def test_the_report_is_the_stored_one():
    assert report() == REPORT.read_text(encoding="utf-8")


# How exact is exact enough: no worse than the vendor's tool, which is driven by tables.
@pytest.mark.parametrize(
    ("metric", "of_kind", "median", "mean"),
    [("tpot", "dense", 0.08, 0.12), ("tpot", "moe", 0.15, None), ("ttft", "dense", 0.15, None)],
)
def test_errors_on_unseen_rows(metric, of_kind, median, mean):
    rows = [row for row in unseen_rows() if (row.metric, kind(row)) == (metric, of_kind)]
    error = np.abs(predicted_seconds(rows) / [row.seconds for row in rows] - 1)
    assert len(rows) > 20
    assert np.median(error) <= median
    assert mean is None or error.mean() <= mean


def test_concurrency_adds_the_prompts_of_the_others():
    """Written out by hand: 31 others, each with one prompt every 256 tokens."""
    on = machine(chip("h200-sxm"))
    one = concurrent(models()["llama-3.1-8b"], on, prompt=2048, output=256, batch=32)
    alone = predict(Question(chip="h200-sxm", batch=1))["ttft_s"]
    step = predict(Question(chip="h200-sxm", batch=32))["tpot_s"]
    assert float(one.tpot_seconds) == pytest.approx(step + 31 / 256 * alone)


def test_a_chip_without_kernels_takes_its_class():
    stored = {row["chip"]: row for row in csv.DictReader(KERNELS.open(encoding="utf-8"))}
    peers = [
        float(row["memory"]) for slug, row in stored.items() if chips()[slug].kind == "datacenter"
    ]
    assert "mi300x" not in stored
    assert typical(chip("mi300x")).memory == pytest.approx(np.median(peers))
    assert typical(chip("h100-sxm")).memory == float(stored["h100-sxm"]["memory"])


def test_files_stay_small():
    for name in ("requests.csv", "kernels.csv"):
        assert (MEASUREMENTS / name).stat().st_size < 300_000
