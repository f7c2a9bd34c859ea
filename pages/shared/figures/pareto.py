"""Throughput against each user's speed as the batch grows: one curve a chip."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pages.shared import colours
from pages.shared.figures.base import (
    channels,
    columns_of,
    dots,
    labels,
    layout,
    line,
    log_axis,
    spread,
    three_digits,
)
from pages.shared.player.view import Figure, Same

NAME = "pareto"
MARKS = (1.0, 8.0, 64.0, 512.0)
"""The batches marked on the curve, beside the end of the nearly free stretch and its own end."""
OTHER = "#9A9A9A"
"""The colour of the chips that stand for comparison only."""


@dataclass(frozen=True)
class Curve:
    """Where a chip stands at a row of batches: shape (points, batches); NaN: it does not fit.

    Attributes
    ----------
    user : ndarray
        Speed of each user [token/s].
    chip : ndarray
        Throughput of each chip [token/s].
    """

    user: np.ndarray
    chip: np.ndarray

    def only(self, chosen: Sequence[int] | slice, there: np.ndarray) -> Curve:
        """Return some places of the curve, those that are there: `there` has their shape."""
        return Curve(
            np.where(there, self.user[:, chosen], np.nan),
            np.where(there, self.chip[:, chosen], np.nan),
        )

    def trace(self) -> dict[str, np.ndarray]:
        """Return the curve as a trace's columns."""
        return {"x": self.user, "y": self.chip}

    def coarse(self) -> dict[str, np.ndarray]:
        """Return the curve as a trace's columns, as exact as an eye is: less than half a pixel."""
        return {"x": three_digits(self.user), "y": three_digits(self.chip)}


def side_by_side(curves: Sequence[Curve]) -> Curve:
    """Put the places of several curves into one."""
    return Curve(
        np.concatenate([curve.user for curve in curves], axis=-1),
        np.concatenate([curve.chip for curve in curves], axis=-1),
    )


@dataclass(frozen=True)
class Curves:
    """All curves and dots of the figure.

    Attributes
    ----------
    others : sequence of Curve
        The chips for comparison.
    versus : Curve
        The second chip.
    catalogue, own : Curve
        The chip as its data sheet has it, and as the sliders have it.
    free : Curve
        The stretch of the own curve that is nearly free.
    named : Curve
        Where its name stands: shape (points, 1); NaN where there is no such stretch.
    marks : Curve
        The own curve at `MARKS`, where it stops being nearly free, and where memory ends: shape
        (points, marks + 2); NaN where there is no such place.
    here : Curve
        The batch of the scenario on the own chip and on the second: shape (points, 2).
    """

    others: Sequence[Curve]
    versus: Curve
    catalogue: Curve
    own: Curve
    free: Curve
    named: Curve
    marks: Curve
    here: Curve

    def lines(self) -> list[Curve]:
        """Return the curves that decide on the axes."""
        return [*self.others, self.versus, self.catalogue, self.own]


@dataclass(frozen=True)
class Texts:
    """The words in the figure."""

    user_axis: str
    chip_axis: str
    own: str
    versus: str
    others: Sequence[str]
    free: str
    here: str


_HOVER = "<br>%{x:.3~s} → %{y:.3~s}<extra></extra>"


def skeleton(texts: Texts, separators: str) -> Figure:
    """Return the figure without numbers; the axes' ranges come with them."""
    ink, decode = colours.INK, colours.DECODE
    edge = {"color": colours.PAPER, "width": 1.5}
    ticks = {"tickvals": _TICKS, "ticktext": [_tick(value, separators) for value in _TICKS]}
    data = [
        *(
            line(name, {"color": OTHER, "width": 1.5}, hovertemplate=name + _HOVER)
            for name in texts.others
        ),
        line(
            texts.versus,
            {"color": ink, "width": 2, "dash": "dash"},
            hovertemplate=texts.versus + _HOVER,
        ),
        line(texts.own, {"color": decode.colour, "width": 1.5, "dash": "dot"}, opacity=0.6),
        line(texts.free, {"color": decode.faint(0.3), "width": 15}),
        line(texts.own, decode.line(3.5), hovertemplate=texts.own + _HOVER),
        dots(
            texts.own,
            {
                "color": [decode.colour] * (len(MARKS) + 1) + [ink],
                "symbol": decode.marker,
                "size": [7] * (len(MARKS) + 1) + [10],
                "opacity": 1,
                "line": edge,
            },
            mode="markers+text",
            text=[],
            textposition=["middle left"] * len(MARKS) + ["middle right", "top right"],
            textfont={"color": ink, "size": 12},
            hovertemplate="%{text}" + _HOVER,
        ),
        dots(
            texts.here,
            {
                "color": [decode.colour, ink],
                "symbol": [decode.marker, decode.marker],
                "size": [17, 9],
                "opacity": 1,
                "line": edge,
            },
            hovertemplate="%{customdata}" + _HOVER,
        ),
        labels("names", ink, "middle right"),
        labels(texts.free, ink, "middle left", textfont={"color": ink, "size": 12}),
    ]
    return Figure(
        NAME,
        {
            "data": data,
            "layout": layout(
                log_axis(texts.user_axis, 10, 1000, **ticks),
                log_axis(texts.chip_axis, 100, 1e5, **ticks),
                separators=separators,
                margin={"l": 64, "r": 40, "t": 12, "b": 48},
            ),
        },
        height=430,
        share=1.0,
    )


_TICKS = [first * 10.0**power for power in range(-3, 8) for first in (1, 3)]


def _tick(value: float, separators: str) -> str:
    """Write a tick.

    Examples
    --------
    >>> [_tick(value, ",.") for value in (0.3, 100, 3000, 1e6)]
    ['0,3', '100', '3k', '1M']
    """
    scale, unit = next((s, u) for s, u in ((1e6, "M"), (1e3, "k"), (1, "")) if value >= s or s == 1)
    return f"{value / scale:g}{unit}".replace(".", separators[0])


def columns(
    curves: Curves,
    names: Sequence[str],
    marks: Sequence[str],
    end_texts: Sequence[str],
    free_text: str,
) -> dict[str, Any]:
    """Return the numbers for every point.

    Parameters
    ----------
    names : sequence of str
        Of the chips: others, the second, the own.
    marks : sequence of str
        Texts of `MARKS`.
    end_texts : sequence of str
        What is said where memory ends, one a point.
    free_text : str
        What is said where the nearly free stretch ends.
    """
    starts = [*curves.others, curves.versus, curves.own]
    start = np.stack([curve.user[:, 0] for curve in starts], axis=-1)
    foot = np.stack([curve.chip[:, 0] for curve in starts], axis=-1)
    low_x, high_x = _reach([curve.user for curve in curves.lines()])
    low_y, high_y = _reach([curve.chip for curve in curves.lines()])
    traces = [
        *(curve.coarse() for curve in curves.others),
        curves.versus.coarse(),
        curves.catalogue.coarse(),
        curves.free.coarse(),
        curves.own.coarse(),
        {**curves.marks.coarse(), "text": [[*marks, "", text] for text in end_texts]},
        {**curves.here.trace(), "customdata": Same([names[-1], names[-2]])},
        {
            "x": three_digits(start * 1.12),
            "y": three_digits(_apart(foot)),
            "text": Same(list(names)),
        },
        {
            "x": three_digits(curves.named.user * 0.9),
            "y": three_digits(curves.named.chip),
            "text": Same([free_text]),
        },
    ]
    return channels(NAME, traces) | {
        f"l/{NAME}/xaxis.range": _range(low_x / 1.2, high_x * 1.4),
        f"l/{NAME}/yaxis.range": _range(low_y / 1.5, high_y * 1.3),
    }


def _range(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return an axis' range in log10, a decade at least; in quarters, so that it moves seldom."""
    top = np.ceil(np.log10(high) * 4) / 4
    return columns_of(np.minimum(np.floor(np.log10(low) * 4) / 4, top - 1), top)


def _reach(values: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return the smallest and the largest of several rows for each point; 1 and 10 of none."""
    row = np.concatenate(values, axis=-1)
    low = np.where(np.isnan(row), np.inf, row).min(axis=-1)
    high = np.where(np.isnan(row), -np.inf, row).max(axis=-1)
    none = ~np.isfinite(low)
    return np.where(none, 1.0, low), np.where(none, 10.0, high)


def _apart(heights: np.ndarray) -> np.ndarray:
    """Move the names of chips apart, those that stand there."""
    there = np.isfinite(heights)
    # A name that is not there goes far below, where it moves no other.
    far = 1e-9 * 10.0 ** -np.arange(heights.shape[-1])
    return np.where(there, spread(np.where(there, heights, far), gap=0.2), np.nan)
