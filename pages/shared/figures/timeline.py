"""One request in time: prefill, the tokens of the answer, the metrics, and the cache filling."""

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
    tenth_decade_above,
)
from pages.shared.player.view import Figure, Growing, Same

NAME = "timeline"
GIGA = 1e9

# Heights in the upper half of the figure; its axis runs from 0 to 10.
_METRIC_AT, _LANE_AT, _PHASE_NAME_AT = 7.6, 3.4, 1.2


@dataclass(frozen=True)
class Texts:
    """The words in the figure."""

    time_axis: str
    cache_axis: str
    prefill: str
    decode: str
    cache: str
    now: str


@dataclass(frozen=True)
class Request:
    """What is drawn of one or more requests; times in seconds, shape (points,) or more.

    Attributes
    ----------
    ttft, tpot, e2e : ndarray
        Shape (points,).
    moments : ndarray
        Moments of the tokens drawn, shape (points, tokens).
    prompt_bytes, all_bytes : ndarray
        KV cache after the prefill and at the end [B].
    """

    ttft: np.ndarray
    tpot: np.ndarray
    e2e: np.ndarray
    moments: np.ndarray
    prompt_bytes: np.ndarray
    all_bytes: np.ndarray


def skeleton(texts: Texts, separators: str) -> Figure:
    """Return the figure without numbers."""
    ink = colours.INK
    prefill, decode, cache = colours.PREFILL, colours.DECODE, colours.KV_CACHE
    tick = {"symbol": "line-ns", "size": 26, "line": {"width": 1.5, "color": decode.colour}}
    bracket = {"color": ink, "width": 1.5}
    ends = {
        "mode": "lines+markers",
        "marker": {"symbol": "line-ns", "size": 10, "line": {"width": 1.5, "color": ink}},
    }
    below = {"xaxis": "x", "yaxis": "y2"}
    data = [
        line(texts.prefill, {"color": prefill.colour, "width": 26}, opacity=0.28),
        line(texts.prefill, {"color": prefill.colour, "width": 26}),
        dots(texts.decode, {**tick, "color": decode.colour}),
        line("TTFT", bracket, **ends),
        line("ITL", bracket, **ends),
        line("E2E", bracket, **ends),
        labels("metrics", ink, "top center"),
        labels("phases", ink, "middle right"),
        line(
            texts.cache,
            {"color": cache.colour, "width": 1.5},
            fill="tozeroy",
            fillcolor=cache.faint(0.12),
            **below,
        ),
        line(texts.cache, {"color": cache.colour, "width": 4}, **below),
        labels(texts.cache, ink, "top left", **below),
        line(texts.now, {"color": ink, "width": 1.5, "dash": "dot"}),
    ]
    return Figure(
        NAME,
        {
            "data": data,
            "layout": layout(
                linear_axis(texts.time_axis, 0, 1, rangemode="tozero", anchor="y2", showgrid=False),
                {"range": [0, 10], "domain": [0.42, 1], "visible": False, "fixedrange": True},
                separators=separators,
                yaxis2={
                    **linear_axis(texts.cache_axis, 0, 1, fixedrange=True, nticks=4),
                    "domain": [0, 0.36],
                },
            ),
        },
        height=400,
        share=2.0,
    )


def columns(
    asked: Request,
    metric_texts: list[list[str]],
    phase_texts: list[list[str]],
    cache_texts: list[str],
) -> dict[str, Any]:
    """Return the numbers for whole requests: everything has happened."""
    count = len(asked.ttft)
    cache_x, cache_y = _cache_line(asked)
    whole = asked.e2e
    start = 0.0 * asked.ttft  # nothing where a request does not fit
    # One gap between two tokens in the middle of the answer.
    gap_start = asked.ttft + np.round((whole - asked.ttft) / 2 / asked.tpot) * asked.tpot
    level = np.full(count, _METRIC_AT)
    lane = np.full(count, _LANE_AT)
    bar = {"x": columns_of(start, asked.ttft), "y": columns_of(lane, lane)}
    ticks = {
        "x": asked.moments,
        "y": np.full(asked.moments.shape, _LANE_AT),
        "customdata": Same([""]),
    }
    traces = [
        bar,
        bar,
        ticks,
        {"x": columns_of(start, asked.ttft), "y": columns_of(level - 1.5, level - 1.5)},
        {
            "x": columns_of(gap_start, gap_start + asked.tpot),
            "y": columns_of(level - 1.5, level - 1.5),
        },
        {"x": columns_of(start, whole), "y": columns_of(level + 0.9, level + 0.9)},
        {
            "x": columns_of(*_metric_places(asked, gap_start)),
            "y": columns_of(level - 1.2, level - 1.2, level + 1.1),
            "text": metric_texts,
        },
        {
            "x": columns_of(start, _decode_name_place(asked)),
            "y": columns_of(np.full(count, _PHASE_NAME_AT), _PHASE_NAME_AT),
            "text": phase_texts,
        },
        {"x": cache_x, "y": cache_y},
        {"x": cache_x, "y": cache_y},
        {
            "x": columns_of(whole),
            "y": columns_of(asked.all_bytes / GIGA),
            "text": [[text] for text in cache_texts],
        },
        {"x": columns_of(whole, whole), "y": columns_of(np.zeros(count), np.full(count, 10.0))},
    ]
    return channels(NAME, traces) | _ranges(asked)


def _ranges(asked: Request) -> dict[str, Any]:
    zero = np.zeros(len(asked.ttft))
    return {
        f"l/{NAME}/xaxis.range": columns_of(zero, _axis_end(asked)),
        f"l/{NAME}/yaxis2.range": columns_of(
            zero, tenth_decade_above(np.maximum(asked.all_bytes, 1.0) / GIGA * 1.25)
        ),
    }


def _axis_end(asked: Request) -> np.ndarray:
    return tenth_decade_above(asked.e2e * 1.02)


def _decode_name_place(asked: Request) -> np.ndarray:
    """Put the name of decode under its middle, clear of prefill's and inside the figure."""
    end = _axis_end(asked)
    return np.clip((asked.ttft + asked.e2e) / 2, 0.2 * end, 0.66 * end)


def _metric_places(
    asked: Request, gap_start: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Centre each label over its bracket, but keep the three readable at both ends."""
    edge = 0.09 * _axis_end(asked)
    return (
        np.maximum(asked.ttft / 2, edge),
        np.clip(gap_start + asked.tpot / 2, 3.4 * edge, np.maximum(asked.e2e - edge, 3.4 * edge)),
        np.maximum(asked.e2e / 2, edge),
    )


def _cache_line(asked: Request) -> tuple[np.ndarray, np.ndarray]:
    """Draw the cache: all rows of the prompt at once, then one row a token."""
    zero = np.zeros(len(asked.ttft))
    x = columns_of(zero, asked.ttft, asked.ttft, asked.e2e)
    y = columns_of(zero, zero, asked.prompt_bytes, asked.all_bytes) / GIGA
    return x, y


def moving_columns(
    asked: Request, seconds: np.ndarray, shown: np.ndarray, held: np.ndarray
) -> dict[str, Any]:
    """Return what moves with the clock, for one request.

    Parameters
    ----------
    seconds : ndarray
        Moments of the clock, shape (stops,).
    shown : ndarray
        How many of `asked.moments` have come at each stop.
    held : ndarray
        KV cache at each stop [B].
    """
    count = len(seconds)
    ttft = float(asked.ttft[0])
    reading = np.minimum(seconds, ttft)
    moments = asked.moments[0]
    grown_x = np.concatenate([[0.0, ttft], np.maximum(seconds, ttft)])
    grown_y = np.concatenate([[0.0, 0.0], held]) / GIGA
    grown = np.where(seconds < ttft, 1, np.arange(count) + 3)
    names = {
        "1/x": columns_of(np.zeros(count), reading),
        "2/x": Growing(moments, shown),
        "2/y": Growing(np.full(len(moments), _LANE_AT), shown),
        "9/x": Growing(grown_x, grown),
        "9/y": Growing(grown_y, grown),
        "11/x": columns_of(seconds, seconds),
    }
    return {f"f/{NAME}/{name}": column for name, column in names.items()}
