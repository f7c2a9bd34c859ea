"""Roofs over memory tiers: fusion moves a dot to the right, a faster tier the ridge to the left."""

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
    heading,
    labels,
    layout,
    line,
    log_axis,
    three_digits,
)
from pages.shared.player.view import Figure, Same
from physics.dataflow import MONARCH_FFT_INTENSITIES
from physics.roofline import attainable_flop_per_second, ridge_flop_per_byte

NAME = "tiers"
TERA = 1e12
LOWEST, HIGHEST = 0.3, 1e4
"""The intensities shown [FLOP/B]."""
FLOOR, CEILING = 0.003, 3e4
"""The performances shown [TFLOP/s]."""
ROOM_LEFT = 20.0
"""The ridge from which on its label has room on the left."""
_DASH = {"sram": "dot", "hbm": "solid", "ddr": "dash"}


@dataclass(frozen=True)
class Roof:
    """One roof: a chip that reads from one of its memories.

    Attributes
    ----------
    name : str
        What stands at its ridge.
    level : str
        'sram', 'hbm' or 'ddr'.
    peak, bandwidth : float or ndarray
        [FLOP/s], [B/s]; shape (points,) or one number.
    """

    name: str
    level: str
    peak: Any
    bandwidth: Any


@dataclass(frozen=True)
class Texts:
    """The words in the figure."""

    title: str
    intensity_axis: str
    performance_axis: str
    decode: str
    prefill: str
    published: str


def skeleton(texts: Texts, levels: Sequence[str], separators: str) -> Figure:
    """Return the figure without numbers.

    Parameters
    ----------
    levels : sequence of str
        One for each roof; the first is that of the chip's main memory, which sliders move.
    """
    roof = colours.BANDWIDTH_ROOF.colour
    decode, prefill = colours.DECODE, colours.PREFILL
    data = [
        *(
            line(
                "roof",
                {"color": roof, "dash": _DASH[level], "width": 4 if index == 0 else 2},
                opacity=1.0 if index == 0 else 0.75,
                hoverinfo="skip",
            )
            for index, level in enumerate(levels)
        ),
        dots(
            "fusion",
            {
                "color": [decode.colour, decode.colour, prefill.colour, prefill.colour],
                "symbol": ["circle-open", "circle", "diamond-open", "diamond"],
                "size": [15, 11, 15, 11],
                "line": {"width": 2},
            },
        ),
        dots(
            texts.published,
            {"color": colours.INK, "symbol": "square-open", "size": 9, "line": {"width": 1.5}},
        ),
        labels("ridge", colours.INK, "top left"),
        labels("ridge", colours.INK, "top right"),
        labels("tiers", colours.INK, "bottom right"),
        labels("phases", colours.INK, "bottom right"),
        labels(texts.published, colours.INK, "top center", textfont={"size": 11}),
    ]
    signs = (
        f"<span style='color:{decode.colour}'>○ ●</span> {texts.decode}<br>"
        f"<span style='color:{prefill.colour}'>◇ ◆</span> {texts.prefill}   □ {texts.published}"
    )
    return Figure(
        NAME,
        {
            "data": data,
            "layout": layout(
                log_axis(texts.intensity_axis, LOWEST, HIGHEST),
                log_axis(texts.performance_axis, FLOOR, CEILING),
                separators=separators,
                annotations=[heading(f"<b>{texts.title}</b><br>{signs}", 48)],
                margin={"l": 64, "r": 24, "t": 60, "b": 48},
            ),
        },
        height=480,
        share=3.0,
        below=True,
    )


def columns(
    roofs: Sequence[Roof],
    decode: np.ndarray,
    prefill: np.ndarray,
    reached: Sequence[np.ndarray],
    texts: dict[str, Any],
) -> dict[str, Any]:
    """Return the numbers for every point.

    Parameters
    ----------
    roofs : sequence of Roof
        The first is that of the main memory.
    decode, prefill : ndarray
        Intensity of a layer kernel by kernel, and fused: shape (points, 2).
    reached : sequence of ndarray
        Performance of one chip at these [FLOP/s], shape (points, 2) each; NaN without a time.
    texts : dict
        'dots' (four names), 'phases' (two), 'ridge' (one a point), 'other_ridges' (one for each
        further roof), 'published' (three).
    """
    own, *others = roofs
    ridge = ridge_flop_per_byte(own.peak, own.bandwidth)
    dots_ = np.concatenate([decode, prefill], axis=-1), np.concatenate(reached, axis=-1) / TERA
    traces = [
        _roof(own),
        *({axis: Same(row[0]) for axis, row in _roof(roof).items()} for roof in others),
        {
            "x": three_digits(dots_[0]),
            "y": three_digits(dots_[1]),
            "customdata": Same(texts["dots"]),
        },
        {
            "x": Same(list(MONARCH_FFT_INTENSITIES)),
            "y": Same([FLOOR * 1.5] * 3),
            "customdata": Same(texts["published"]),
        },
        *(
            {
                "x": three_digits(columns_of(np.where(here_too, ridge * shift, np.nan))),
                "y": columns_of(own.peak / TERA * 1.05),
                "text": [[text] for text in texts["ridge"]],
            }
            # Left of the ridge, but right of it where there is no room.
            for here_too, shift in ((ridge >= ROOM_LEFT, 0.97), (ridge < ROOM_LEFT, 1.03))
        ),
        {
            "x": Same([LOWEST * 1.15] * len(others)),
            "y": Same([LOWEST * roof.bandwidth / TERA * 0.9 for roof in others]),
            "text": Same(texts["other_ridges"]),
        },
        {
            "x": three_digits(columns_of(decode[:, 1] * 1.15, prefill[:, 1] * 1.05)),
            "y": three_digits(columns_of(reached[0][:, 1] * 0.9, reached[1][:, 1] * 0.75) / TERA),
            "text": Same(texts["phases"]),
        },
        {
            "x": Same(list(MONARCH_FFT_INTENSITIES)),
            "y": Same([FLOOR * 1.9] * 3),
            "text": Same(texts["published"]),
        },
    ]
    return channels(NAME, traces)


def _roof(roof: Roof) -> dict[str, np.ndarray]:
    """Draw a slope up to the ridge and a flat roof behind it: shape (points, 3)."""
    peak, bandwidth = np.atleast_1d(roof.peak), np.atleast_1d(roof.bandwidth)
    knee = np.clip(ridge_flop_per_byte(peak, bandwidth), LOWEST, HIGHEST)
    x = columns_of(LOWEST, knee, HIGHEST)
    return {
        "x": x,
        "y": attainable_flop_per_second(x, peak[:, None], bandwidth[:, None]) / TERA,
    }
