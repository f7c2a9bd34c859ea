"""How much of the chip's peak and of its bandwidth a decode step uses, over the batch."""

from __future__ import annotations

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
    linear_axis,
    log_axis,
    three_digits,
)
from pages.shared.figures.step_time import BATCHES, LARGEST
from pages.shared.player.view import Figure, Same

NAME = "use_of_peaks"
KNOTS = [0, 4, 6, 8, 9, 10, 11, 12, 13, 14, 16, 18, 20]
"""Which of `BATCHES` the lines have: more of them where a ridge may bend the lines."""
PERCENT = 100.0
APART = 7.0
"""How far the two names stand apart at least [percent]."""


@dataclass(frozen=True)
class Texts:
    """The words in the figure."""

    batch_axis: str
    share_axis: str
    mfu: str
    mbu: str


def skeleton(texts: Texts, separators: str) -> Figure:
    """Return the figure without numbers."""
    compute, bandwidth = colours.COMPUTE_ROOF, colours.BANDWIDTH_ROOF
    edge = {"color": colours.PAPER, "width": 1.5}
    data = [
        line(texts.mbu, bandwidth.line(3.5)),
        line(texts.mfu, compute.line(3.5)),
        dots(
            texts.mfu,
            {
                "color": [bandwidth.colour, compute.colour],
                "symbol": ["circle", "circle"],
                "size": [15, 15],
                "opacity": 1,
                "line": edge,
            },
            hovertemplate="%{x}: %{y:.3~g}%<extra></extra>",
        ),
        labels("names", colours.INK, "middle right"),
    ]
    return Figure(
        NAME,
        {
            "data": data,
            "layout": layout(
                log_axis(texts.batch_axis, BATCHES[0], LARGEST, exponentformat="none"),
                linear_axis(texts.share_axis, 0, 104, ticksuffix="%", dtick=25),
                separators=separators,
                margin={"l": 64, "r": 64, "t": 12, "b": 48},
            ),
        },
        height=300,
        below=True,
    )


def columns(
    batches: np.ndarray,
    mfu: np.ndarray,
    mbu: np.ndarray,
    batch: np.ndarray,
    here: tuple[np.ndarray, np.ndarray],
    texts: Texts,
) -> dict[str, Any]:
    """Return the numbers for every point.

    Parameters
    ----------
    batches, mfu, mbu : ndarray
        Batches up to where memory ends and the shares there, shape (points, batches).
    batch : ndarray
        The scenario's batch, shape (points,).
    here : pair of ndarray
        MBU and MFU there.
    """
    ends = PERCENT * np.stack([mbu[:, -1], mfu[:, -1]], axis=-1)
    middle, half = ends.mean(axis=-1), (ends[:, 0] - ends[:, 1]) / 2
    apart = np.where(half < 0, -1.0, 1.0) * np.maximum(np.abs(half), APART / 2)
    traces = [
        {"x": batches[:, KNOTS], "y": _halves(mbu[:, KNOTS])},
        {"x": batches[:, KNOTS], "y": _halves(mfu[:, KNOTS])},
        {
            "x": columns_of(batch, batch),
            "y": PERCENT * columns_of(*here),
        },
        {
            # Right of the end, but nothing is drawn beyond the axis.
            "x": np.repeat(
                three_digits(np.minimum(batches[:, -1:] * 1.06, 0.99 * LARGEST)), 2, axis=-1
            ),
            "y": np.round(columns_of(middle + apart, middle - apart)),
            "text": Same([texts.mbu, texts.mfu]),
        },
    ]
    return channels(NAME, traces)


def _halves(share: np.ndarray) -> np.ndarray:
    """Return percentages to the half, which is a pixel."""
    return np.round(2 * PERCENT * share) / 2
