"""Where the measurements come from: one record a source."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

MEASUREMENTS = Path(__file__).resolve().parent.parent / "assets" / "measurements"


@dataclass(frozen=True)
class MeasurementSource:
    """Who measured, where it is published, when, and under which conditions.

    Attributes
    ----------
    id : str
        The name under which rows cite it.
    date : str
        Year, or year and month.
    """

    id: str
    title: str
    url: str
    date: str
    conditions: str


@cache
def measurement_sources() -> dict[str, MeasurementSource]:
    """Return all sources by id.

    Examples
    --------
    >>> measurement_sources()["AIC012"].date
    '2026-09'
    """
    with (MEASUREMENTS / "sources.csv").open(newline="", encoding="utf-8") as file:
        return {row["id"]: MeasurementSource(**row) for row in csv.DictReader(file)}
