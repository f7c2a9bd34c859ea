"""Predictions beside measurements: which part a row plays, which rows are chosen, how far off.

The one source of what the evidence is said to be: on a screen, in a table, in a few lines of
Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from physics.fit import fitted, usable
from physics.fit_report import Errors, errors, kind
from physics.measured_requests import Measured, measured_requests, predicted_seconds
from physics.typical import engines

METRICS = ("tpot", "ttft")
PREDICTIONS = ("typical", "ideal")

SHARES = ("unseen", "fitted", "other", "doubtful")
"""The parts that rows play.

unseen: of a fitted engine, in a configuration that the fit has not seen; fitted: it has; other: of
an engine that was not fitted; doubtful: counts in no fit and no error.
"""

FILTERS = ("source", "model", "chip", "engine")
"""Fields of `Measured` by which rows are chosen."""

BAND = 0.25
"""Half width of the band around the diagonal within which predictions are counted."""


@dataclass(frozen=True)
class Row:
    """A measurement with its predictions and the part that it plays.

    Attributes
    ----------
    measured : Measured
    typical, ideal : float
        The two predictions [s].
    share : str
        One of `SHARES`.
    """

    measured: Measured
    typical: float
    ideal: float
    share: str

    def predicted(self, name: str) -> float:
        """Return one of the two predictions [s]."""
        return self.typical if name == "typical" else self.ideal

    def error(self, name: str) -> float:
        """Return predicted / measured - 1."""
        return self.predicted(name) / self.measured.seconds - 1


@cache
def rows() -> tuple[Row, ...]:
    """Return all measurements with their predictions, in the order of the file."""
    measured = measured_requests()
    good = usable(measured)
    seen = set(fitted([row for row in good if row.engine in engines()]))
    counted = set(good)

    def share(row: Measured) -> str:
        if row not in counted:
            return "doubtful"
        if row.engine not in engines():
            return "other"
        return "fitted" if row in seen else "unseen"

    both = (predicted_seconds(measured, name).tolist() for name in PREDICTIONS)
    return tuple(
        Row(row, typical, ideal, share(row))
        for row, typical, ideal in zip(measured, *both, strict=True)
    )


@dataclass(frozen=True)
class Selection:
    """Which rows are looked at, and which of their predictions.

    Attributes
    ----------
    metric : str
        'tpot' or 'ttft'.
    prediction : str
        'typical' or 'ideal'.
    shares : sequence of str
        Of `SHARES`; none: no row.
    source, model, chip, engine : sequence of str
        The values that a row may have; none: any.

    Examples
    --------
    >>> few = Selection(chip=["h200-sxm"], model=["llama-3.1-8b"]).rows()
    >>> {(row.measured.chip, row.measured.model, row.share) for row in few}
    {('h200-sxm', 'llama-3.1-8b', 'unseen')}
    """

    metric: str = "tpot"
    prediction: str = "typical"
    shares: Sequence[str] = ("unseen",)
    source: Sequence[str] = ()
    model: Sequence[str] = ()
    chip: Sequence[str] = ()
    engine: Sequence[str] = ()

    def pool(self) -> list[Row]:
        """Return the rows of the metric and the shares, whatever the filters say."""
        return [
            row for row in rows() if row.measured.metric == self.metric and row.share in self.shares
        ]

    def rows(self) -> list[Row]:
        """Return the rows that all filters let through."""
        wanted = {name: set(given) for name in FILTERS if (given := getattr(self, name))}
        return [
            row
            for row in self.pool()
            if all(getattr(row.measured, name) in given for name, given in wanted.items())
        ]


def errors_of(some: Sequence[Row], prediction: str = "typical") -> Errors:
    """Return the errors of one of the predictions on some rows, at least one."""
    return errors(
        [row.predicted(prediction) for row in some], [row.measured.seconds for row in some]
    )


def within(some: Sequence[Row], prediction: str = "typical", band: float = BAND) -> float:
    """Return the share of some rows, at least one, whose error is at most `band`.

    Examples
    --------
    >>> within(Selection().rows(), band=np.inf)
    1.0
    """
    return float(np.mean([abs(row.error(prediction)) <= band for row in some]))


def unseen_median(metric: str, of_kind: str) -> float:
    """Return the median error of typical predictions on rows that the fit has not seen.

    Parameters
    ----------
    metric : {'tpot', 'ttft'}
    of_kind : {'dense', 'moe'}
    """
    own = [row for row in Selection(metric).rows() if kind(row.measured) == of_kind]
    return errors_of(own).median
