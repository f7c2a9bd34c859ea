"""What launching a kernel costs, as it was measured."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from physics.errors import UnknownName

LAUNCHES = Path(__file__).resolve().parent.parent / "assets" / "launches.csv"


@dataclass(frozen=True)
class Launch:
    """What a kernel costs before it works: the chip has finished one and not begun the next.

    Attributes
    ----------
    seconds : float
        [s] for each kernel.
    confidence : str
        'A' read at the source named, 'B' not re-read.
    """

    slug: str
    seconds: float
    measured_on: str
    source: str
    address: str
    confidence: str
    note: str


@cache
def launches() -> dict[str, Launch]:
    """Return the launch times that were measured, by the way of launching."""
    with LAUNCHES.open(newline="", encoding="utf-8") as file:
        return {
            row["slug"]: Launch(
                row["slug"],
                float(row["microseconds"]) * 1e-6,
                *(row[name] for name in ("measured_on", "source", "address", "confidence", "note")),
            )
            for row in csv.DictReader(file)
        }


def launch(slug: str) -> Launch:
    """Return one way of launching.

    Examples
    --------
    >>> round(launch("graph").seconds * 1e6, 1)
    1.3
    """
    if slug not in launches():
        raise UnknownName("launch", slug, launches())
    return launches()[slug]
