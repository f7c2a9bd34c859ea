"""Intensity against batch: linear layers cross the ridge, attention never moves."""

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
)
from pages.shared.player.view import Figure, Same

NAME = "shift"
BATCHES = 2.0 ** np.arange(0, 14.5, 0.5)
"""The batches at which the lines have their knots."""
ROOM_LEFT = 30
"""The batch from which on a label has room on the left of it."""

LOWEST, HIGHEST = 0.5, 1e4
"""The intensities shown [FLOP/B]."""


@dataclass(frozen=True)
class Texts:
    """The words in the figure."""

    batch_axis: str
    intensity_axis: str
    linear: str
    attention: str
    step: str
    ridge: str
    full: str
    here: str


def skeleton(texts: Texts, separators: str) -> Figure:
    """Return the figure without numbers."""
    ink, decode = colours.INK, colours.DECODE
    data = [
        line(texts.ridge, {**colours.COMPUTE_ROOF.line(3)}),
        line(texts.linear, {**colours.WEIGHTS.line(3)}),
        line(texts.attention, {**colours.KV_CACHE.line(3)}),
        line(texts.step, decode.line(4)),
        line(texts.full, {"color": ink, "dash": "dash", "width": 1.5}),
        dots(
            texts.here,
            {
                "color": [colours.WEIGHTS.colour, colours.KV_CACHE.colour, decode.colour],
                "symbol": [colours.WEIGHTS.marker, colours.KV_CACHE.marker, decode.marker],
                "size": [11, 11, 17],
                "line": {"color": colours.PAPER, "width": 1.5},
            },
        ),
        dots(
            texts.linear, {"color": ink, "symbol": "circle-open", "size": 13, "line": {"width": 2}}
        ),
        labels("lines", ink, "middle right"),
        labels(texts.ridge, ink, "top right"),
        labels(texts.full, ink, "top left"),
        labels(texts.full, ink, "top right"),
        labels("crossing", ink, "bottom right"),
    ]
    return Figure(
        NAME,
        {
            "data": data,
            "layout": layout(
                log_axis(texts.batch_axis, BATCHES[0] * 0.75, BATCHES[-1]),
                log_axis(texts.intensity_axis, LOWEST, HIGHEST),
                separators=separators,
                margin={"l": 64, "r": 104, "t": 12, "b": 48},
            ),
        },
        height=430,
        share=1.15,
    )


def columns(
    ridge: np.ndarray,
    lines: Sequence[np.ndarray],
    here: Sequence[np.ndarray],
    batch: np.ndarray,
    crossing: np.ndarray,
    max_batch: np.ndarray,
    names: Sequence[str],
    texts: dict[str, list[str]],
) -> dict[str, Any]:
    """Return the numbers for every point.

    Parameters
    ----------
    ridge : ndarray
        Ridge point [FLOP/B], shape (points,).
    lines, here : sequence of ndarray
        Intensity of linear layers, attention and the whole step: at `BATCHES`, shape
        (points, batches), and at the scenario's batch, shape (points,).
    crossing : ndarray
        Batch at which the linear layers reach the ridge; infinite when none does.
    max_batch : ndarray
        Largest batch that memory holds.
    texts : dict
        'ridge', 'full' and 'crossing': one label a point.
    """
    knots = np.broadcast_to(BATCHES, lines[0].shape)
    ends = np.stack([line[:, -1] for line in lines], axis=-1)
    full = np.where((max_batch >= 1) & (max_batch < BATCHES[-1]), max_batch, np.nan)
    place = np.where(crossing <= BATCHES[-1], crossing, np.nan)
    count = len(ridge)
    traces = [
        {"x": columns_of(np.full(count, BATCHES[0]), BATCHES[-1]), "y": columns_of(ridge, ridge)},
        *({"x": knots, "y": line} for line in lines),
        {"x": columns_of(full, full), "y": columns_of(np.full(count, LOWEST), HIGHEST)},
        {
            "x": columns_of(batch, batch, batch),
            "y": columns_of(*here),
            "customdata": [list(names)] * count,
        },
        {
            "x": columns_of(place),
            "y": columns_of(ridge),
            "customdata": [[t] for t in texts["crossing"]],
        },
        {
            "x": np.full(ends.shape, BATCHES[-1] * 0.99),
            "y": spread(ends, gap=0.25),
            "text": Same(list(names)),
        },
        {
            "x": columns_of(np.full(count, BATCHES[0] * 1.1)),
            "y": columns_of(ridge * 1.04),
            "text": [[text] for text in texts["ridge"]],
        },
        *(
            {
                "x": columns_of(np.where(here_too, full * shift, np.nan)),
                "y": columns_of(np.full(count, LOWEST * 1.25)),
                "text": [[text] for text in texts["full"]],
            }
            # Left of the line, but right of it where there is no room.
            for here_too, shift in ((full >= ROOM_LEFT, 0.95), (full < ROOM_LEFT, 1.05))
        ),
        {
            "x": columns_of(place * 1.1),
            "y": columns_of(ridge * 0.92),
            "text": [[text] for text in texts["crossing"]],
        },
    ]
    return channels(NAME, traces)
