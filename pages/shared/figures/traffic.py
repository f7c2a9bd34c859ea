"""What each kernel of a layer moves: weights, cache, and the activations that fusion can keep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pages.shared import colours
from pages.shared.figures.base import (
    channels,
    dots,
    heading,
    labels,
    layout,
    line,
    log_axis,
    row_axis,
    three_digits,
)
from pages.shared.player.view import Figure, Same
from physics.lanes import Kernels

NAME = "traffic"
KILO = 1e3
LOWEST, HIGHEST = 0.01, 1e8
"""The amounts shown [kB]; the rows' names stand in the first two decades."""

ROOM_RIGHT = HIGHEST / 100
"""The amount up to which a label has room on both sides [kB]."""

_ROW = 25  # pixels


@dataclass(frozen=True)
class Texts:
    """The words in the figure."""

    title: str
    bytes_axis: str
    weights: str
    kv_cache: str
    decode: str
    prefill: str
    on_chip: str


def skeleton(texts: Texts, names: Sequence[str], separators: str) -> Figure:
    """Return the figure without numbers, a row for each kernel, the first on top."""
    edge = {"line": {"color": colours.PAPER, "width": 1}}
    data = [
        line(texts.on_chip, {"color": colours.INK, "dash": "dash", "width": 1.5}),
        dots(texts.weights, {**colours.WEIGHTS.point(15), **edge}),
        dots(texts.kv_cache, {**colours.KV_CACHE.point(13), **edge}),
        dots(texts.prefill, {**colours.PREFILL.point(11), **edge}),
        dots(texts.decode, {**colours.DECODE.point(12), **edge}),
        labels(texts.on_chip, colours.INK, "top center"),
        labels("rows", colours.INK, "middle right")
        | {
            "x": [LOWEST * 1.2] * len(names),
            "y": list(range(len(names))),
            "text": list(names),
        },
    ]
    for trace in data[1:5]:
        trace["hovertemplate"] = trace["name"] + ": %{x:.3s} kB<extra></extra>"
        del trace["customdata"]
    signs = "   ".join(
        f"<span style='color:{look.colour}'>{sign}</span> {name}"
        for look, sign, name in (
            (colours.WEIGHTS, "■", texts.weights),
            (colours.KV_CACHE, "▲", texts.kv_cache),
            (colours.DECODE, "●", texts.decode),
            (colours.PREFILL, "◆", texts.prefill),
        )
    )
    axis = log_axis(texts.bytes_axis, LOWEST, HIGHEST)
    axis |= {
        "tickvals": [10.0**power for power in range(9)],
        "ticktext": ["1 kB", "10", "100", "1 MB", "10", "100", "1 GB", "10", "100"],
        "exponentformat": "none",
    }
    return Figure(
        NAME,
        {
            "data": data,
            "layout": layout(
                axis,
                row_axis(len(names), 1.0),
                separators=separators,
                annotations=[heading(f"<b>{texts.title}</b><br>{signs}<br> ")],
                margin={"l": 16, "r": 24, "t": 66, "b": 48},
            ),
        },
        height=_ROW * len(names) + 136,
        share=3.0,
        below=True,
    )


def columns(
    decode: Kernels, prefill: Kernels, on_chip: float | None, on_chip_text: str
) -> dict[str, Any]:
    """Return the numbers for every point; what a kernel does not move is not drawn."""
    count = len(decode.names)
    rows = Same(list(range(count)))

    def drawn(moved: np.ndarray) -> np.ndarray:
        return three_digits(np.where(moved > 0, moved, np.nan).T / KILO)

    edge = np.nan if on_chip is None else on_chip / KILO
    traces = [
        {"x": Same([edge, edge]), "y": Same([-1.0, count - 0.4])},
        *(
            {"x": drawn(moved), "y": rows}
            for moved in (
                decode.weight_bytes,
                decode.kv_bytes,
                prefill.activation_bytes,
                decode.activation_bytes,
            )
        ),
        {
            "x": Same([edge]),
            "y": Same([-1.0]),
            "text": Same([on_chip_text]),
            "textposition": Same("top left" if edge > ROOM_RIGHT else "top center"),
        },
    ]
    return channels(NAME, traces)
