"""The rows of the KV cache: those of the prompt appear at once, those of the answer one by one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pages.shared import colours
from pages.shared.figures.base import channels, labels, layout
from pages.shared.player.view import Figure, Growing

NAME = "cache_rows"
ACROSS, MOST = 64, 128
"""Squares side by side, and squares in all for the prompt, and for the answer."""


@dataclass(frozen=True)
class Texts:
    """The words in the figure."""

    prompt: str
    answer: str


def tokens_per_square(prompt: np.ndarray, output: np.ndarray) -> np.ndarray:
    """Return how many tokens a square stands for: the power of four that makes both fit.

    Examples
    --------
    >>> tokens_per_square(np.array([100, 2048]), np.array([256, 256])).tolist()
    [4, 16]
    """
    largest = np.maximum(prompt, output) / MOST
    return (4 ** np.ceil(np.log2(np.maximum(largest, 1)) / 2)).astype(int)


def skeleton(texts: Texts, separators: str) -> Figure:
    """Return the figure without numbers: two bands of squares, a title over each."""

    def squares(name: str, colour: str) -> dict[str, Any]:
        marker = {"symbol": "square", "size": 7, "color": colour}
        return {
            "type": "scatter",
            "mode": "markers",
            "name": name,
            "marker": marker,
            "x": [],
            "y": [],
            "hoverinfo": "skip",
        }

    hidden = {"visible": False, "fixedrange": True}
    return Figure(
        NAME,
        {
            "data": [
                squares(texts.prompt, colours.PREFILL.colour),
                squares(texts.answer, colours.DECODE.colour),
                labels("titles", colours.INK, "middle right"),
            ],
            "layout": layout(
                {**hidden, "range": [-1, ACROSS]},
                {**hidden, "range": [-0.7, 6.6]},
                separators=separators,
                margin={"l": 0, "r": 0, "t": 0, "b": 0},
            ),
        },
        height=120,
        below=True,
    )


def columns(
    prompt: np.ndarray, output: np.ndarray, prompt_texts: list[str], answer_texts: list[str]
) -> dict[str, Any]:
    """Return the numbers for every point."""
    unit = tokens_per_square(prompt, output)
    index = np.arange(MOST)
    across, down = index % ACROSS, index // ACROSS
    bands = [
        {
            "x": Growing(across, np.ceil(tokens / unit).astype(int)),
            "y": Growing(top - down, np.ceil(tokens / unit).astype(int)),
        }
        for top, tokens in ((4.5, prompt), (1.0, output))
    ]
    titles = {
        "x": [[-0.6, -0.6]] * len(prompt),
        "y": [[5.7, 2.2]] * len(prompt),
        "text": [list(pair) for pair in zip(prompt_texts, answer_texts, strict=True)],
    }
    return channels(NAME, [*bands, titles])
