"""How far typical predictions are from measurements that the fit has not seen."""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from physics.catalogue import models
from physics.fit import fitted, usable
from physics.measured_requests import (
    Measured,
    measured_requests,
    predicted_seconds,
)
from physics.measurement_sources import MEASUREMENTS
from physics.typical import engines

REPORT = MEASUREMENTS / "fit_report.csv"

GROUPINGS = ("all", "chip", "engine", "model", "source")


@dataclass(frozen=True)
class Errors:
    """Errors of a group of rows: |predicted / measured - 1|.

    Attributes
    ----------
    rows : int
    median, mean : float
        Of the absolute relative error.
    bias : float
        Median of predicted / measured - 1.
    """

    rows: int
    median: float
    mean: float
    bias: float


def errors(predicted: Sequence[float], measured: Sequence[float]) -> Errors:
    """Return the errors of predictions.

    Examples
    --------
    >>> found = errors([1.1, 0.8, 1.0], [1.0, 1.0, 1.0])
    >>> round(found.median, 3), round(found.mean, 3), found.bias
    (0.1, 0.1, 0.0)
    """
    relative = np.divide(predicted, measured) - 1
    size = np.abs(relative)
    return Errors(
        len(relative), float(np.median(size)), float(size.mean()), float(np.median(relative))
    )


def unseen_rows() -> list[Measured]:
    """Return the usable rows of fitted engines in configurations that the fit has not seen."""
    rows = [row for row in usable(measured_requests()) if row.engine in engines()]
    seen = set(fitted(rows))
    return [row for row in rows if row not in seen]


def other_rows() -> list[Measured]:
    """Return the usable rows of engines that were not fitted: predicted as 'other'."""
    return [row for row in usable(measured_requests()) if row.engine not in engines()]


def kind(row: Measured) -> str:
    """Return what a row is counted with: 'dense' or 'moe'."""
    return "moe" if models()[row.model].experts else "dense"


def report_groups() -> dict[tuple[str, str, str, str], Errors]:
    """Return the errors on unseen rows by metric, kind of model, grouping and member.

    Grouping 'other engines' holds the rows of engines that were not fitted, which are in no other.
    """
    groups: dict[tuple[str, str, str, str], list[Measured]] = defaultdict(list)
    for row in unseen_rows():
        for grouping in GROUPINGS:
            member = "" if grouping == "all" else getattr(row, grouping)
            groups[row.metric, kind(row), grouping, member].append(row)
    for row in other_rows():
        groups[row.metric, kind(row), "other engines", row.engine].append(row)
    order = {name: place for place, name in enumerate((*GROUPINGS, "other engines"))}
    keys = sorted(groups, key=lambda key: (key[0], key[1], order[key[2]], key[3]))
    return {
        key: errors(predicted_seconds(groups[key]), [row.seconds for row in groups[key]])
        for key in keys
    }


def report() -> str:
    """Return the report as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["metric", "kind", "by", "member", "rows", "median", "mean", "bias"])
    for key, found in report_groups().items():
        writer.writerow(
            [
                *key,
                found.rows,
                *(f"{value:.3f}" for value in (found.median, found.mean, found.bias)),
            ]
        )
    return text.getvalue()
