"""What binds a decode step over context and batch: memory, compute, or the memory's end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pages.shared import colours
from pages.shared.figures.base import channels, columns_of, dots, labels, layout, line, log_axis
from pages.shared.player.view import Figure

NAME = "phase_map"
CONTEXTS = np.geomspace(16, 2**17, 40)
"""The contexts at which the borders have their knots [tokens]."""
LOWEST_BATCH, LARGEST_BATCH = 0.6, 2.0**16


@dataclass(frozen=True)
class Texts:
    """The words in the figure."""

    context_axis: str
    batch_axis: str
    compute: str
    memory: str
    full: str
    critical: str
    here: str


def skeleton(texts: Texts, separators: str) -> Figure:
    """Return the figure without numbers."""
    ink = colours.INK

    def area(name: str, colour: str, edge: str) -> dict[str, Any]:
        return line(
            name, {"color": edge, "width": 2}, fill="toself", fillcolor=colour, hoveron="fills"
        )

    data = [
        area(texts.memory, colours.BANDWIDTH_ROOF.faint(0.28), "rgba(0,0,0,0)"),
        area(texts.compute, colours.COMPUTE_ROOF.faint(0.55), colours.COMPUTE_ROOF.colour),
        area(texts.full, "rgba(189,189,189,0.82)", colours.WEIGHTS.colour),
        line(texts.critical, {"color": ink, "dash": "dot", "width": 1.5}),
        dots(
            texts.here, {**colours.DECODE.point(17), "line": {"color": colours.PAPER, "width": 1.5}}
        ),
        labels(texts.memory, ink, "middle right"),
        labels(texts.full, "#1A1A1A", "middle left"),
        labels(texts.compute, "#1A1A1A", "bottom right"),
        labels(texts.critical, ink, "top right"),
    ]
    return Figure(
        NAME,
        {
            "data": data,
            "layout": layout(
                log_axis(texts.context_axis, CONTEXTS[0], CONTEXTS[-1]),
                log_axis(texts.batch_axis, LOWEST_BATCH, LARGEST_BATCH),
                separators=separators,
            ),
        },
        height=430,
        share=1.0,
    )


def columns(
    frontier: np.ndarray,
    wall: np.ndarray,
    critical: np.ndarray,
    context: np.ndarray,
    batch: np.ndarray,
    critical_texts: list[str],
    texts: Texts,
) -> dict[str, Any]:
    """Return the numbers for every point.

    Parameters
    ----------
    frontier : ndarray
        Smallest compute-bound batch at `CONTEXTS`, shape (points, contexts); infinite: none.
    wall : ndarray
        Largest batch that memory holds at `CONTEXTS`, shape (contexts,); 0: not even one.
    critical : ndarray
        Critical context, shape (points,); infinite: none.
    """
    count, top = len(context), LARGEST_BATCH
    low, high = CONTEXTS[0], CONTEXTS[-1]
    # Where no batch suffices the border runs along the upper edge, so the area closes itself.
    border = np.clip(frontier, 1.0, top)
    open_area = np.concatenate(
        [np.broadcast_to(CONTEXTS, border.shape), columns_of(np.full(count, high), low)], axis=-1
    )
    walled = np.clip(np.where(wall >= 1, wall, LOWEST_BATCH), LOWEST_BATCH, top)
    wall_x = [*CONTEXTS.tolist(), high, low]
    wall_y = [*walled.tolist(), top, top]
    inside = np.where((critical > low) & (critical < high), critical, np.nan)
    has_compute = (frontier < np.minimum(walled, top / 3)).any(axis=-1)
    full_here = walled[-1] < top / 8
    traces = [
        {"x": [[low, high, high, low]] * count, "y": [[LOWEST_BATCH] * 2 + [top] * 2] * count},
        {"x": open_area, "y": np.concatenate([border, np.full((count, 2), top)], axis=-1)},
        {"x": [wall_x] * count, "y": [wall_y] * count},
        {"x": columns_of(inside, inside), "y": columns_of(np.full(count, LOWEST_BATCH), top)},
        {"x": columns_of(context), "y": columns_of(batch), "customdata": [[texts.here]] * count},
        {"x": [[low * 1.25]] * count, "y": [[1.7]] * count, "text": [[texts.memory]] * count},
        {
            "x": [[high / 1.15]] * count,
            "y": [[top / 2.2]] * count,
            "text": [[texts.full if full_here else ""]] * count,
        },
        {
            "x": [[low * 1.25]] * count,
            "y": [[top / 1.4]] * count,
            "text": [[texts.compute if some else ""] for some in has_compute],
        },
        {
            "x": columns_of(inside * 1.05),
            "y": [[14.0]] * count,
            "text": [[text] for text in critical_texts],
        },
    ]
    return channels(NAME, traces)
