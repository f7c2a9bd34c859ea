"""What fills the memory: weights, the prompt's cache, the answer's cache, and what is free."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pages.shared import colours
from pages.shared.figures.base import (
    channels,
    columns_of,
    labels,
    layout,
    line,
    linear_axis,
    tenth_decade_above,
)
from pages.shared.player.view import Figure

NAME = "memory"
GIGA = 1e9


@dataclass(frozen=True)
class Texts:
    """The words in the figure."""

    memory_axis: str
    weights: str
    prompt: str
    answer: str
    capacity: str


def skeleton(texts: Texts, separators: str) -> Figure:
    """Return the figure without numbers: one column, its parts stacked."""

    def part(name: str, colour: str, shape: str = "") -> dict[str, Any]:
        return {
            "type": "bar",
            "name": name,
            "x": [0],
            "y": [],
            "width": 0.9,
            "marker": {
                "color": colour,
                "pattern": {"shape": shape, "size": 6, "solidity": 0.3, "fgcolor": colours.PAPER},
            },
            "hovertemplate": f"{name}: %{{y:.3g}} GB<extra></extra>",
        }

    data = [
        part(texts.weights, colours.WEIGHTS.colour),
        part(texts.prompt, colours.KV_CACHE.colour),
        part(texts.answer, colours.KV_CACHE.colour, "-"),
        line(texts.capacity, {"color": colours.INK, "width": 3}),
        labels("parts", colours.INK, "middle right"),
        labels(texts.capacity, colours.INK, "top right"),
    ]
    return Figure(
        NAME,
        {
            "data": data,
            "layout": layout(
                {"range": [-0.5, 2.1], "visible": False, "fixedrange": True},
                linear_axis(texts.memory_axis, 0, 100, fixedrange=True),
                separators=separators,
                barmode="stack",
                margin={"l": 56, "r": 4, "t": 12, "b": 24},
            ),
        },
        height=430,
        share=1.0,
    )


def columns(
    weights: float,
    prompt: np.ndarray,
    answer: np.ndarray,
    capacity: float,
    part_texts: list[list[str]],
    capacity_text: str,
) -> dict[str, Any]:
    """Return the numbers for every point, all in bytes.

    The axis holds the capacity, or what is needed where that is more.
    """
    needed = np.maximum(weights + prompt + answer, capacity) / GIGA
    top = tenth_decade_above(needed * 1.12)
    heights = (
        np.stack(np.broadcast_arrays(np.full_like(prompt, weights), prompt, answer), -1) / GIGA
    )
    edges = np.cumsum(heights, axis=-1)
    middles = np.minimum(edges - heights / 2, top[:, None] * 0.97)
    traces = [
        {"y": columns_of(heights[:, 0])},
        {"y": columns_of(heights[:, 1])},
        {"y": columns_of(heights[:, 2])},
        {"x": [[-0.5, 2.1]] * len(prompt), "y": [[capacity / GIGA] * 2] * len(prompt)},
        {"x": np.full(middles.shape, 0.5), "y": apart(middles, top * 0.085), "text": part_texts},
        {
            "x": [[0.5]] * len(prompt),
            "y": [[capacity / GIGA]] * len(prompt),
            "text": [[capacity_text]] * len(prompt),
        },
    ]
    return channels(NAME, traces) | {f"l/{NAME}/yaxis.range": columns_of(np.zeros_like(top), top)}


def apart(heights: np.ndarray, gap: np.ndarray | float) -> np.ndarray:
    """Lift labels, lowest first, until each stands at least `gap` above the one below.

    Examples
    --------
    >>> apart(np.array([[1.0, 1.5, 9.0]]), 2.0).tolist()
    [[1.0, 3.0, 9.0]]
    """
    lifted = heights.copy()
    for index in range(1, lifted.shape[-1]):
        lifted[:, index] = np.maximum(lifted[:, index], lifted[:, index - 1] + gap)
    return lifted
