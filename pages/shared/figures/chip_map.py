"""All chips over peak and bandwidth, under lines of equal TTFT and of equal TPOT."""

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
)
from pages.shared.player.view import Figure
from physics.chips import Chip

NAME = "chip_map"
HEIGHT = 520
LEFT, RIGHT = 1.5e12, 3e16
"""The peaks shown [FLOP/s]."""
BOTTOM, TOP = 45e9, 4e13
"""The bandwidths shown [B/s]."""

TTFT_SECONDS = 10.0 ** np.arange(-3, 4)
TPOT_SECONDS = 10.0 ** np.arange(-4, 2)

PEAK_TICKS = {
    "tickvals": [10.0**decade for decade in range(12, 18)],
    "ticktext": ["1T", "10T", "100T", "1P", "10P", "100P"],
}
"""Plotly itself knows no prefix beyond T."""

NAMED = {
    "b200-sxm": ("B200", "middle left"),
    "mi355x": ("MI355X", "middle right"),
    "h200-sxm": ("H200", "middle left"),
    "mi300x": ("MI300X", "middle right"),
    "gaudi3": ("Gaudi3", "middle right"),
    "h20": ("H20", "middle right"),
    "a100-sxm-80gb": ("A100", "top left"),
    "tpu-v6e": ("TPU v6e", "middle right"),
    "rtx-4090": ("RTX 4090", "top left"),
    "l4": ("L4", "top center"),
    "gb10": ("GB10", "bottom center"),
    "xeon-8480": ("Xeon 8480+", "middle right"),
    "epyc-9654": ("EPYC 9654", "top left"),
    "apple-m1-max": ("M1 Max", "middle left"),
    "apple-m1": ("Apple M1", "middle right"),
}
"""Chips with a name in the map: those for which there is room, and where the name stands."""


@dataclass(frozen=True)
class Texts:
    """The words in the figure; `times` are what the lines say, TTFT's then TPOT's."""

    peak_axis: str
    bandwidth_axis: str
    ttft: str
    tpot: str
    here: str
    versus: str
    ttft_times: Sequence[str]
    tpot_times: Sequence[str]


def skeleton(
    texts: Texts,
    chips: Sequence[Chip],
    hover: Sequence[str],
    separators: str,
    *,
    unnamed: Sequence[str] = (),
) -> Figure:
    """Return the figure with the chips of the catalogue, and without lines.

    Parameters
    ----------
    hover : sequence of str
        What is said of each chip.
    unnamed : sequence of str
        Slugs of chips that have a name by other means.
    """
    ink = colours.INK
    sure = [item.confidence == "A" for item in chips]
    named = [item for item in chips if item.slug in NAMED and item.slug not in unnamed]
    rim = {"line": {"color": colours.PAPER, "width": 1.5}}
    above = [item for item in chips if item.bandwidth > TOP]
    data = [
        line(texts.ttft, {**colours.PREFILL.line(1.5)}),
        line(texts.tpot, {**colours.DECODE.line(1.5)}),
        _chips(chips, hover, sure, "circle"),
        _chips(chips, hover, [not some for some in sure], "circle-open"),
        {
            **labels("names", ink, [NAMED[item.slug][1] for item in named]),
            "x": [item.bf16_flop_per_second for item in named],
            "y": [item.bandwidth for item in named],
            "text": [f" {NAMED[item.slug][0]} " for item in named],
            "textfont": {"color": ink, "size": 10},
        },
        {
            **labels("above", ink, "bottom center"),
            "x": [item.bf16_flop_per_second for item in above],
            "y": [TOP * 0.99 for _ in above],
            "text": [f"{_short(item.name)} ↑" for item in above],
            "textfont": {"color": ink, "size": 10},
        },
        labels(texts.ttft, colours.PREFILL.colour, "middle right"),
        labels(texts.tpot, colours.DECODE.colour, "middle right"),
        dots("own", {"color": ink, "symbol": "circle-open", "size": 12, "line": {"width": 2}}),
        dots(texts.versus, {"color": ink, "symbol": "square", "size": 12, **rim}),
        dots(texts.here, {"color": ink, "symbol": "circle", "size": 17, **rim}),
        labels(texts.versus, ink, "top center"),
        labels(texts.here, ink, "bottom right"),
    ]
    return Figure(
        NAME,
        {
            "data": data,
            "layout": layout(
                log_axis(texts.peak_axis, LEFT, RIGHT, showgrid=False, **PEAK_TICKS),
                log_axis(texts.bandwidth_axis, BOTTOM, TOP, showgrid=False),
                separators=separators,
                margin={"l": 64, "r": 56, "t": 20, "b": 48},
            ),
        },
        height=HEIGHT,
        share=1.35,
    )


def columns(
    ttft: tuple[np.ndarray, np.ndarray],
    tpot: tuple[np.ndarray, np.ndarray],
    load: np.ndarray,
    own: tuple[float, float],
    here: tuple[np.ndarray, np.ndarray],
    versus: tuple[float, float],
    here_texts: list[str],
    versus_text: str,
    texts: Texts,
) -> dict[str, Any]:
    """Return the numbers for every point.

    Parameters
    ----------
    ttft, tpot : pair of ndarray
        Peak and bandwidth along the lines of `TTFT_SECONDS` and of `TPOT_SECONDS`, shape (loads,
        lines, knots).
    load : ndarray
        Which of the loads each point has, shape (points,).
    own, versus : pair of float
        Peak and bandwidth of the scenario's chip in the catalogue, and of the second one.
    here : pair of ndarray
        Where the sliders stand, shape (points,).
    """
    count = len(here[0])
    inside, second = _inside(*here), _inside(*versus)
    ttft_lines, tpot_lines = _lines(*ttft), _lines(*tpot)
    traces = {
        **{
            index: {
                name: column[load].tolist() if name == "text" else column[load]
                for name, column in trace.items()
            }
            for index, trace in (
                (0, ttft_lines),
                (1, tpot_lines),
                (6, _line_labels(ttft_lines, texts.ttft_times, texts.ttft, upright=True)),
                (7, _line_labels(tpot_lines, texts.tpot_times, texts.tpot, upright=False)),
            )
        },
        8: _at(_inside(*own), count) | {"customdata": [[""]] * count},
        9: _at(second, count) | {"customdata": [[versus_text]] * count},
        10: {
            "x": columns_of(inside[0]),
            "y": columns_of(inside[1]),
            "customdata": [[text] for text in here_texts],
        },
        11: {
            "x": [[second[0]]] * count,
            "y": [[second[1] * 1.12]] * count,
            "text": [[versus_text]] * count,
        },
        12: {
            "x": columns_of(inside[0] * 1.12),
            "y": columns_of(inside[1] / 1.05),
            "text": [[texts.here]] * count,
        },
    }
    return channels(NAME, (traces.get(index, {}) for index in range(13)))


def _chips(
    chips: Sequence[Chip], hover: Sequence[str], chosen: Sequence[bool], symbol: str
) -> dict[str, Any]:
    those = [(item, text) for item, text, some in zip(chips, hover, chosen, strict=True) if some]
    return {
        **dots("chips", {"color": colours.WEIGHTS.colour, "symbol": symbol, "size": 7}),
        "x": [item.bf16_flop_per_second for item, _ in those],
        "y": [item.bandwidth for item, _ in those],
        "customdata": [text for _, text in those],
    }


def _inside(peak: Any, bandwidth: Any) -> tuple[Any, Any]:
    """Keep a dot that lies off the map at the map's edge."""
    return (
        np.clip(peak, LEFT * 1.03, RIGHT / 1.03),
        np.clip(bandwidth, BOTTOM * 1.03, TOP / 1.03),
    )


def _short(name: str) -> str:
    return name.removesuffix(" v1").removeprefix("Cerebras ")


def _at(place: tuple[float, float], count: int) -> dict[str, Any]:
    return {"x": [[place[0]]] * count, "y": [[place[1]]] * count}


def _lines(peak: np.ndarray, bandwidth: np.ndarray) -> dict[str, Any]:
    """Draw all lines of a phase as one with gaps between them, cut at the edges of the map."""
    beyond = np.full((*peak.shape[:2], 1), 1e6)
    x = np.concatenate([peak[..., :1], peak, peak[..., -1:] * beyond], axis=-1)
    y = np.concatenate([bandwidth[..., :1] * beyond, bandwidth, bandwidth[..., -1:]], axis=-1)
    x, y = np.log10(x), np.log10(y)
    # Along a line the peak rises and the bandwidth falls; each edge cuts off one end.
    for edge in (LEFT, RIGHT):
        x, y = _cut(x, y, np.log10(edge), keep_above=edge == LEFT)
    for edge in (TOP, BOTTOM):
        y, x = _cut(y, x, np.log10(edge), keep_above=edge == BOTTOM)
    gap = np.full((*peak.shape[:2], 1), np.nan)
    count = len(peak)
    return {
        name: _three_digits(10.0 ** np.concatenate([logs, gap], axis=-1)).reshape(count, -1)
        for name, logs in (("x", x), ("y", y))
    }


def _cut(
    along: np.ndarray, across: np.ndarray, edge: float, *, keep_above: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Move what lies beyond an edge to where its line crosses it; NaN where all of a line does."""
    outside = along < edge if keep_above else along > edge
    here, there = along[..., :-1], along[..., 1:]
    crosses = outside[..., :-1] != outside[..., 1:]
    share = np.divide(edge - here, there - here, out=np.zeros_like(here), where=crosses)
    met = across[..., :-1] + share * np.diff(across, axis=-1)
    met = np.where(crosses, met, 0.0).sum(axis=-1, keepdims=True)
    met = np.where(crosses.any(axis=-1, keepdims=True), met, np.nan)
    return (
        np.where(outside, np.where(np.isnan(met), np.nan, edge), along),
        np.where(outside, met, across),
    )


def _three_digits(values: np.ndarray) -> np.ndarray:
    """Round to three digits, which is finer than a pixel of a map of four decades."""
    safe = np.where(np.isfinite(values), values, 1.0)
    scale = 10.0 ** (np.floor(np.log10(safe)) - 2)
    return np.where(np.isfinite(values), np.round(safe / scale) * scale, np.nan)


def _line_labels(
    lines: dict[str, Any], times: Sequence[str], name: str, *, upright: bool
) -> dict[str, Any]:
    """Write each line's time where it leaves the map: at the upper edge, or at the right one.

    Parameters
    ----------
    lines : dict
        The lines as they are drawn.
    upright : bool
        Whether the upper edge is tried first. What stands there, and TTFT's times at the right
        edge, stand inside of the map.
    """
    x, y = (lines[axis].reshape(len(lines[axis]), len(times), -1) for axis in ("x", "y"))
    top, foot = x[..., 0], y[..., -2]
    on_top = (y[..., 0] > TOP * 0.99) & (top < RIGHT / 4)
    on_right = (x[..., -2] > RIGHT * 0.99) & (foot < (TOP / 4 if upright else TOP * 0.9))
    on_top, on_right = (on_top, on_right & ~on_top) if upright else (on_top & ~on_right, on_right)
    right, height = (RIGHT / 6, TOP / 1.75) if upright else (RIGHT * 0.99, TOP / 5)
    shown = on_top | on_right
    said = np.array([f"{name}<br>{time}" for time in times], dtype=object)
    return {
        # What is not shown has a place all the same: the player goes by the order of the texts.
        "x": _three_digits(np.where(on_top, top * 1.05, right)),
        "y": _three_digits(np.where(on_top | ~shown, height, foot)),
        "text": np.where(shown, said, ""),
    }
