"""How many experts a step touches, against the tokens in it."""

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
)
from pages.shared.player.view import Figure
from physics.layers import Experts
from physics.operators import distinct_experts

NAME = "experts"
TOKENS = 2.0 ** np.arange(0, 14.5, 0.5)
"""Tokens in a step at which the line has its knots."""


@dataclass(frozen=True)
class Texts:
    """The words in the figure."""

    tokens_axis: str
    experts_axis: str
    line: str
    prefill: str
    decode: str


def skeleton(texts: Texts, experts: int, separators: str) -> Figure:
    """Return the figure without numbers, for a layer with so many experts."""
    edge = {"line": {"color": colours.PAPER, "width": 1.5}}
    data = [
        line(texts.line, colours.WEIGHTS.line(3)),
        dots(texts.decode, {**colours.DECODE.point(15), **edge}),
        dots(texts.prefill, {**colours.PREFILL.point(15), **edge}),
        labels(texts.decode, colours.INK, "bottom right"),
        labels(texts.prefill, colours.INK, "bottom left"),
    ]
    return Figure(
        NAME,
        {
            "data": data,
            "layout": layout(
                log_axis(texts.tokens_axis, TOKENS[0] * 0.8, TOKENS[-1] * 1.3),
                linear_axis(texts.experts_axis, 0, experts * 1.06),
                separators=separators,
            ),
        },
        height=260,
        below=True,
    )


def columns(
    mixture: Experts,
    decode_tokens: np.ndarray,
    prefill_tokens: np.ndarray,
    decode_texts: list[str],
    prefill_texts: list[str],
) -> dict[str, Any]:
    """Return the numbers for every point; a dot stops at the figure's right edge."""

    def touched(tokens: np.ndarray) -> np.ndarray:
        return distinct_experts(mixture.experts, mixture.top_k, tokens)

    count, last = len(decode_tokens), TOKENS[-1]
    shown = [np.minimum(tokens, last) for tokens in (decode_tokens, prefill_tokens)]
    places = [
        (columns_of(x), columns_of(touched(tokens)))
        for x, tokens in zip(shown, (decode_tokens, prefill_tokens), strict=True)
    ]
    texts = [[[text] for text in some] for some in (decode_texts, prefill_texts)]
    dots_ = [
        {"x": x, "y": y, "customdata": text} for (x, y), text in zip(places, texts, strict=True)
    ]
    names = [
        {"x": x * shift, "y": y * 0.97, "text": text}
        for (x, y), text, shift in zip(places, texts, (1.12, 0.9), strict=True)
    ]
    curve = {
        "x": np.broadcast_to(TOKENS, (count, len(TOKENS))),
        "y": np.broadcast_to(touched(TOKENS), (count, len(TOKENS))),
    }
    return channels(NAME, [curve, *dots_, *names])
