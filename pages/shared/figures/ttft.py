"""Time to first token against the length of the prompt."""

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
from pages.shared.player.view import Figure

NAME = "ttft"
PROMPTS = 2.0 ** np.arange(4, 18)
"""The prompt lengths at which the line has its knots."""


@dataclass(frozen=True)
class Texts:
    """The words in the figure."""

    prompt_axis: str
    ttft_axis: str
    prefill: str
    weights: str
    here: str


def skeleton(texts: Texts, separators: str) -> Figure:
    """Return the figure without numbers; the y axis' range comes with them."""
    prefill = colours.PREFILL
    data = [
        line(
            texts.weights, {"color": colours.BANDWIDTH_ROOF.colour, "dash": "longdash", "width": 2}
        ),
        line(texts.prefill, prefill.line(3)),
        dots(texts.here, {**prefill.point(16), "line": {"color": colours.PAPER, "width": 1.5}}),
        labels(texts.weights, colours.INK, "bottom right"),
        labels(texts.here, colours.INK, "top left"),
    ]
    return Figure(
        NAME,
        {
            "data": data,
            "layout": layout(
                log_axis(texts.prompt_axis, PROMPTS[0], PROMPTS[-1]),
                log_axis(texts.ttft_axis, 1e-3, 10),
                separators=separators,
                margin={"l": 60, "r": 12, "t": 12, "b": 48},
            ),
        },
        height=400,
        share=1.0,
    )


def columns(
    seconds: np.ndarray,
    weight_seconds: np.ndarray,
    prompt: np.ndarray,
    ttft: np.ndarray,
    here_texts: list[str],
    weight_text: str,
) -> dict[str, Any]:
    """Return the numbers for every point.

    Parameters
    ----------
    seconds : ndarray
        TTFT at `PROMPTS`, shape (points, prompts).
    weight_seconds : ndarray
        Time to read the weights that such a prefill touches, shape (points, prompts).
    """
    count = len(prompt)
    floor = half_decade_below(weight_seconds[:, 0] / 2)
    reached = np.where(np.isfinite(seconds), seconds, 0.0).max(axis=-1)
    ceiling = half_decade_above(np.maximum(reached, weight_seconds[:, -1] * 10))
    traces = [
        {"x": np.broadcast_to(PROMPTS, weight_seconds.shape), "y": weight_seconds},
        {"x": np.broadcast_to(PROMPTS, seconds.shape), "y": seconds},
        {"x": columns_of(prompt), "y": columns_of(ttft), "customdata": [[t] for t in here_texts]},
        {
            "x": [[PROMPTS[0] * 1.15]] * count,
            "y": columns_of(weight_seconds[:, 0] * 0.95),
            "text": [[weight_text]] * count,
        },
        {
            "x": columns_of(prompt * 0.9),
            "y": columns_of(ttft * 1.1),
            "text": [[text] for text in here_texts],
        },
    ]
    return channels(NAME, traces) | {f"l/{NAME}/yaxis.range": columns_of(floor, ceiling)}
