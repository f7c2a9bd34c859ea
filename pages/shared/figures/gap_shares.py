"""Inter-token latencies: the mean beside the median, the 99th percentile and the longest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pages.shared import colours
from pages.shared.figures.base import (
    channels,
    dots,
    labels,
    layout,
    log_axis,
)
from pages.shared.player.view import Figure, Same

NAME = "gap_shares"
ROWS = ("longest", "p99", "mean", "median")
"""From the top down."""

_MILLI = 1e-3
_CLEAR = "\N{NO-BREAK SPACE}" * 4  # of the dot


@dataclass(frozen=True)
class Texts:
    """The words in the figure; `rows` in the order of `ROWS`."""

    gap_axis: str
    gaps: str
    rows: tuple[str, ...]


def skeleton(texts: Texts, separators: str) -> Figure:
    """Return the figure without numbers: a dot on each row, its value beside it."""
    places = list(range(len(ROWS), 0, -1))
    mean = [row == "mean" for row in ROWS]
    marker = {
        "color": [colours.INK if some else colours.DECODE.colour for some in mean],
        "symbol": ["diamond" if some else colours.DECODE.marker for some in mean],
        "size": 12,
    }
    rows = {
        "range": [0.4, len(ROWS) + 0.6],
        "tickvals": places,
        "ticktext": list(texts.rows),
        "zeroline": False,
        "fixedrange": True,
        "ticks": "",
    }
    return Figure(
        NAME,
        {
            "data": [
                dots(texts.gaps, marker),
                labels("values", colours.INK, "middle right"),
            ],
            "layout": layout(
                log_axis(texts.gap_axis, 1, 100, fixedrange=True),
                rows,
                separators=separators,
                margin={"l": 90, "r": 90, "t": 4, "b": 44},
            ),
        },
        height=180,
        below=True,
    )


def columns(gaps: np.ndarray, texts: list[list[str]]) -> dict[str, Any]:
    """Return the numbers.

    Parameters
    ----------
    gaps : ndarray
        Longest gap, 99th percentile, mean and median [s], shape (points, 4).
    texts : list of list of str
        The same in words, at each point.
    """
    places = Same(list(range(len(ROWS), 0, -1)))
    at = gaps / _MILLI
    known = np.isfinite(at).all(axis=1)
    low, high = at.min(axis=1), at.max(axis=1)
    traces = [
        {"x": at, "y": places, "customdata": texts},
        {
            "x": at,
            "y": places,
            "text": [[_CLEAR + t for t in row] for row in texts],
        },
    ]
    # Whole decades, which change seldom.
    low = np.floor(np.log10(np.where(known, low, 1.0)))
    high = np.ceil(np.log10(np.where(known, high, 10.0)))
    ends = low, np.maximum(high, low + 1)
    return channels(NAME, traces) | {f"l/{NAME}/xaxis.range": np.stack(ends, axis=-1)}
