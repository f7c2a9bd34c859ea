"""How much of the memory's bandwidth decode uses at small batches, in each way of running."""

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
    linear_axis,
    log_axis,
    spread,
)
from pages.shared.player.view import Figure, Same
from physics.dataflow import LANES

NAME = "utilisation"
BATCHES = 2.0 ** np.arange(7)
"""The batches at which the lines have their knots."""
DASHES = ("dot", "dash", "longdash", "solid")
"""One for each of `LANES`."""

_GAP = 0.068
"""Distance of two labels at the lines' ends, as a share of the bandwidth."""
_HIGHEST = 1.03


@dataclass(frozen=True)
class Texts:
    """The words in the figure."""

    batch_axis: str
    share_axis: str
    lanes: Sequence[str]
    arithmetic: str


def skeleton(texts: Texts, separators: str) -> Figure:
    """Return the figure without numbers."""
    decode, compute = colours.DECODE, colours.COMPUTE_ROOF
    edge = {"line": {"color": colours.PAPER, "width": 1.5}}
    data = [
        line(texts.arithmetic, {"color": compute.colour, "dash": "solid", "width": 3}),
        *(
            line(name, {"color": decode.colour, "dash": dash, "width": 3})
            for name, dash in zip(texts.lanes, DASHES, strict=True)
        ),
        dots("here", {"color": decode.colour, "symbol": "circle", "size": 11, **edge}),
        labels("lanes", colours.INK, "middle right"),
    ]
    axis = log_axis(texts.batch_axis, BATCHES[0] * 0.9, BATCHES[-1] * 1.02)
    axis |= {"tickvals": BATCHES.tolist(), "ticktext": [f"{batch:.0f}" for batch in BATCHES]}
    return Figure(
        NAME,
        {
            "data": data,
            "layout": layout(
                axis,
                linear_axis(texts.share_axis, 0, 105, ticksuffix="%", nticks=6),
                separators=separators,
                margin={"l": 58, "r": 118, "t": 30, "b": 48},
            ),
        },
        height=430,
        share=1.15,
    )


def columns(
    mbu: np.ndarray,
    mfu: np.ndarray,
    here: np.ndarray,
    batch: np.ndarray,
    names: Sequence[str],
    arithmetic: str,
    max_batch: np.ndarray,
) -> dict[str, Any]:
    """Return the numbers for every point.

    Parameters
    ----------
    mbu : ndarray
        Share of the bandwidth at `BATCHES`, shape (lanes, points, batches).
    mfu : ndarray
        Share of the peak when streamed, shape (points, batches).
    here : ndarray
        Share of the bandwidth at the scenario's batch, shape (lanes, points).
    max_batch : ndarray
        Largest batch that memory holds: the lines end there.
    """
    fits = np.maximum(max_batch, 0.0)[:, None] >= BATCHES
    knots = Same(BATCHES)
    lines = [np.where(fits, share, np.nan) for share in (mfu, *mbu)]
    # At the last batch that fits.
    last = np.maximum(fits.sum(axis=-1) - 1, 0)
    ends = np.stack([share[np.arange(len(last)), last] for share in (mfu, *mbu)], axis=-1)
    heights = hung(np.log10(spread(10.0**ends, gap=_GAP)))
    some = fits.any(axis=-1)
    inside = (batch <= BATCHES[-1]) & (batch <= max_batch)
    traces = [
        *({"x": knots, "y": np.round(100 * share, 1)} for share in lines),
        {
            "x": columns_of(*[np.where(inside, batch, np.nan)] * len(LANES)),
            "y": np.round(100 * here.T, 1),
            "customdata": Same(list(names)),
        },
        {
            "x": columns_of(*[np.where(some, BATCHES[last] * 1.01, np.nan)] * (len(LANES) + 1)),
            "y": np.round(100 * heights, 1),
            "text": Same([arithmetic, *names]),
        },
    ]
    return channels(NAME, traces)


def hung(
    heights: np.ndarray, bottom: float = 0.0, top: float = _HIGHEST, gap: float = _GAP
) -> np.ndarray:
    """Keep labels between `bottom` and `top`, each at least `gap` from the next.

    Examples
    --------
    >>> hung(np.array([[1.2, 0.5, 1.1], [0.0, 0.5, -0.1]]), top=1.0, gap=0.1).round(2).tolist()
    [[1.0, 0.5, 0.9], [0.1, 0.5, 0.0]]
    """
    order = np.argsort(-heights, axis=-1, kind="stable")
    ranked = np.take_along_axis(heights, order, axis=-1)
    last = ranked.shape[-1] - 1
    ranked[:, 0] = np.minimum(ranked[:, 0], top)
    for index in range(1, last + 1):
        ranked[:, index] = np.minimum(ranked[:, index], ranked[:, index - 1] - gap)
    ranked[:, last] = np.maximum(ranked[:, last], bottom)
    for index in range(last - 1, -1, -1):
        ranked[:, index] = np.maximum(ranked[:, index], ranked[:, index + 1] + gap)
    moved = np.empty_like(ranked)
    np.put_along_axis(moved, order, ranked, axis=-1)
    return moved
