"""KV cache against tokens: models side by side, and the wall where memory ends."""

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
    half_decade_above,
    labels,
    layout,
    line,
    log_axis,
    spread,
)
from pages.shared.player.view import Figure, Same

NAME = "growth"
TOKENS = np.geomspace(2**7, 2**20, 27)
"""Tokens in a sequence at which the lines have their knots."""
LOWEST, HIGHEST = 1e-2, 1e3
"""The memory shown [GB]; more when the batch is large."""
GIGA = 1e9


@dataclass(frozen=True)
class Texts:
    """The words in the figure."""

    tokens_axis: str
    memory_axis: str
    model: str
    free: str
    here: str


def skeleton(texts: Texts, others: Sequence[str], separators: str) -> Figure:
    """Return the figure without numbers.

    Parameters
    ----------
    others : sequence of str
        Names of the models drawn for comparison.
    """
    style = colours.KV_CACHE
    faint = {"color": style.colour, "width": 1.5, "dash": "solid"}
    data = [
        *(line(name, faint, opacity=0.45) for name in others),
        line(texts.model, {**style.line(4), "dash": "solid"}),
        line(texts.free, {"color": colours.WEIGHTS.colour, "dash": "dash", "width": 2}),
        line("projection", {"color": colours.INK, "dash": "dot", "width": 1}),
        dots(texts.here, {**style.point(16), "line": {"color": colours.PAPER, "width": 1.5}}),
        labels("others", colours.INK, "middle right", textfont={"color": colours.INK, "size": 12}),
        labels(texts.free, colours.INK, "top right"),
        labels(texts.here, colours.INK, "top left"),
    ]
    return Figure(
        NAME,
        {
            "data": data,
            "layout": layout(
                log_axis(
                    texts.tokens_axis,
                    TOKENS[0],
                    TOKENS[-1],
                    tickvals=[2.0**k for k in range(7, 21, 2)],
                    ticktext=_powers(separators),
                    dtick=None,
                ),
                log_axis(
                    texts.memory_axis,
                    LOWEST,
                    HIGHEST,
                    exponentformat="none",
                    tickvals=[10.0**power for power in range(-2, 8)],
                    ticktext=_memory_ticks(separators),
                    dtick=None,
                ),
                separators=separators,
                margin={"l": 64, "r": 152, "t": 12, "b": 48},
            ),
        },
        height=430,
        share=2.0,
    )


def _memory_ticks(separators: str) -> list[str]:
    decimal = separators[0]
    small = [f"0{decimal}01", f"0{decimal}1", "1", "10", "100"]
    return [*small, "1 TB", "10 TB", "100 TB", "1 PB", "10 PB"]


def _powers(separators: str) -> list[str]:
    return ["128", "512", "2k", "8k", "32k", "128k", "512k"]


def columns(
    others: Sequence[np.ndarray],
    own: np.ndarray,
    free: np.ndarray,
    tokens: np.ndarray,
    held: np.ndarray,
    names: Sequence[str],
    free_texts: Sequence[str],
    here_texts: Sequence[str],
) -> dict[str, Any]:
    """Return the numbers for every point.

    Parameters
    ----------
    others : sequence of ndarray
        Cache of a batch of each other model at `TOKENS` [B], shape (points, tokens) each.
    own : ndarray
        The same of the model picked.
    free : ndarray
        Memory that the weights leave [B], shape (points,); nothing where they do not fit.
    tokens, held : ndarray
        Where the scenario stands: tokens of a sequence, and bytes of the whole batch.
    """
    knots = np.broadcast_to(TOKENS, own.shape)
    room = np.where(free > 0, free, np.nan) / GIGA
    ends = np.stack([*(line[:, -1] for line in others), own[:, -1]], axis=-1) / GIGA
    traces = [
        *({"x": knots, "y": line / GIGA} for line in others),
        {"x": knots, "y": own / GIGA},
        {"x": columns_of(np.full_like(room, TOKENS[0]), TOKENS[-1]), "y": columns_of(room, room)},
        {"x": columns_of(tokens, tokens), "y": columns_of(np.full_like(held, LOWEST), held / GIGA)},
        {
            "x": columns_of(tokens),
            "y": columns_of(held / GIGA),
            "customdata": [[text] for text in here_texts],
        },
        {"x": np.full(ends.shape, TOKENS[-1] * 0.99), "y": spread(ends), "text": Same(list(names))},
        {
            "x": columns_of(np.full_like(room, TOKENS[0] * 1.06)),
            "y": columns_of(room * 1.02),
            "text": [[text] for text in free_texts],
        },
        {
            "x": columns_of(tokens * 0.94),
            "y": columns_of(held / GIGA * 1.12),
            "text": [[text] for text in here_texts],
        },
    ]
    top = half_decade_above(np.maximum(np.maximum(free / GIGA, ends.max(axis=-1)) * 1.5, HIGHEST))
    return channels(NAME, traces) | {
        f"l/{NAME}/yaxis.range": columns_of(np.full_like(top, np.log10(LOWEST)), top),
    }
