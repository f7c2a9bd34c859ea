"""One matrix product against its rows: measured times above the least, and both ridges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pages.shared import colours
from pages.shared.figures.base import (
    channels,
    columns_of,
    dots,
    half_decade_above,
    half_decade_below,
    labels,
    layout,
    line,
    log_axis,
)
from pages.shared.player.view import Figure, Same
from physics.measured_kernels import Kernels, ideal_product_seconds, rows_at_intensity
from physics.roofline import ridge_flop_per_byte

NAME = "product"
FIRST, LAST = 1.0, 32_768.0
"""The rows shown."""
KNOTS = 2.0 ** np.arange(0, 16)
"""Rows at which the ideal line has its knots, beside the one at its knee."""

MICRO = 1e-6


@dataclass(frozen=True)
class Texts:
    """The words in the figure."""

    rows_axis: str
    seconds_axis: str
    ideal: str
    measured: str
    here: str
    ridge: str
    measured_ridge: str


def skeleton(texts: Texts, separators: str) -> Figure:
    """Return the figure without numbers; the y axis' range comes with them."""
    ink, measured = colours.INK, colours.MEASURED
    data = [
        line(texts.ridge, colours.COMPUTE_ROOF.line(3)),
        line(texts.measured_ridge, measured.line(2)),
        line(texts.ideal, colours.WEIGHTS.line(3)),
        dots(
            texts.measured,
            {
                "color": ink,
                "symbol": f"{colours.WEIGHTS.marker}-open",
                "size": 8,
                "line": {"width": 1.5},
            },
            hovertemplate="%{x:,}<br>%{y:.4~s} µs<extra></extra>",
        ),
        dots(
            texts.here,
            {**colours.WEIGHTS.point(13), "line": {"color": colours.PAPER, "width": 1.5}},
        ),
        labels(texts.ideal, ink, "bottom right"),
        labels(texts.measured, ink, "top right"),
        labels(texts.ridge, ink, "bottom left"),
        labels(texts.ridge, ink, "bottom right"),
    ]
    return Figure(
        NAME,
        {
            "data": data,
            "layout": layout(
                log_axis(texts.rows_axis, FIRST * 0.75, LAST * 1.3),
                log_axis(texts.seconds_axis, 10, 1e5),
                separators=separators,
            ),
        },
        height=360,
        below=True,
    )


def columns(
    kernels: Kernels,
    peak: np.ndarray,
    bandwidth: np.ndarray,
    batch: np.ndarray,
    measured_ridge: float,
    texts: Texts,
    ridge_texts: list[str],
    measured_ridge_texts: list[str],
    here_texts: list[str],
) -> dict[str, Any]:
    """Return the numbers for every point.

    Parameters
    ----------
    kernels : Kernels
        The product, timed.
    peak, bandwidth : ndarray
        Of the chip as the sliders have it, for the ideal line and its ridge, shape (points,).
    batch : ndarray
        Sequences of a decode step: the rows of the marked point.
    measured_ridge : float
        [FLOP/B]
    """
    inputs, outputs = kernels.shape

    def ideal(rows: np.ndarray) -> np.ndarray:
        seconds = ideal_product_seconds(
            rows, inputs, outputs, kernels.dtype, peak[:, None], bandwidth[:, None]
        )
        return seconds / MICRO

    knee = rows_at_intensity(ridge_flop_per_byte(peak, bandwidth), inputs, outputs, kernels.dtype)
    knee = np.where((knee > FIRST) & (knee < LAST), knee, np.nan)
    real = float(rows_at_intensity(measured_ridge, inputs, outputs, kernels.dtype))
    # A knee outside the figure is no knot of the line: the first one stands twice instead.
    knots = np.sort(columns_of(*KNOTS, np.where(np.isfinite(knee), knee, FIRST)), axis=-1)
    heights = ideal(knots)
    seconds = kernels.seconds / MICRO
    floor = 10.0 ** half_decade_below(np.minimum(heights[:, 0], seconds.min()) / 3)
    ceiling = 10.0 ** half_decade_above(np.maximum(heights[:, -1], seconds.max() * 2))
    here = np.clip(batch, FIRST, LAST)
    left = knee <= real  # the lower ridge is named on its left, the higher on its right
    traces = [
        {"x": columns_of(knee, knee), "y": columns_of(floor, ceiling)},
        {"x": Same([real, real]), "y": columns_of(floor, ceiling)},
        {"x": knots, "y": heights},
        {"x": Same(kernels.rows), "y": Same(seconds)},
        {
            "x": columns_of(here),
            "y": ideal(here[:, None]),
            "customdata": [[text] for text in here_texts],
        },
        {
            "x": Same([FIRST * 1.2]),
            "y": heights[:, :1] * 0.92,
            "text": Same([texts.ideal]),
        },
        {
            "x": Same([FIRST * 1.2]),
            "y": Same([float(seconds[:3].max()) * 1.15]),
            "text": Same([texts.measured]),
        },
        *(
            {
                "x": columns_of(
                    np.where(here_too, knee, np.nan) * shift,
                    np.where(here_too, np.nan, real * shift),
                ),
                "y": columns_of(ceiling * 0.8, ceiling * 0.8),
                "text": [list(two) for two in zip(ridge_texts, measured_ridge_texts, strict=True)],
            }
            for here_too, shift in ((left, 0.95), (~left, 1.05))
        ),
    ]
    return channels(NAME, traces) | {
        f"l/{NAME}/yaxis.range": columns_of(np.log10(floor), np.log10(ceiling)),
    }
