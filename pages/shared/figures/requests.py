"""Several requests on one machine in time, with every metric drawn where it is measured."""

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
from pages.shared.player.view import Figure, Same
from physics.schedule import Schedule

NAME = "requests"
COUNT = 5
NAMES = ("A", "B", "C", "D", "E")
"""The requests, from the top down."""

TICKS = 12
"""Decode steps drawn as ticks on every request that they serve; of more, every n-th is drawn."""

ITL, TPOT, E2E, TTFT, SPEED = range(COUNT)
"""On which request each metric is drawn."""

_BRACKET = 0.44  # above the middle of a request's row
_LEVELS = 600  # places along the time axis, at least: a screen tells no more apart
_VEIL = 0.72


@dataclass(frozen=True)
class Texts:
    """The words in the figure."""

    time_axis: str
    rate_axis: str
    share_axis: str
    arrives: str
    waits: str
    prefill: str
    decode: str
    rate: str
    now: str
    mean: str


def skeleton(texts: Texts, separators: str) -> Figure:
    """Return the figure without numbers."""
    ink, prefill, decode = colours.INK, colours.PREFILL, colours.DECODE
    compute, bandwidth = colours.COMPUTE_ROOF, colours.BANDWIDTH_ROOF
    tick = {"symbol": "line-ns", "size": 13, "line": {"width": 1.5, "color": decode.colour}}
    system, use = ({"xaxis": "x", "yaxis": axis} for axis in ("y2", "y3"))
    data = [
        line(texts.waits, {"color": ink, "width": 1, "dash": "dot"}),
        dots(texts.arrives, {"symbol": "line-ns", "size": 15, "line": {"width": 2, "color": ink}}),
        line(texts.prefill, {"color": prefill.colour, "width": 15}),
        line(texts.decode, {"color": decode.colour, "width": 15}, opacity=0.4),
        dots(texts.decode, {**tick, "color": decode.colour}),
        *(
            line(name, {"color": colour, "width": 1.5}, **_ends(colour))
            for name, colour in (
                ("ITL", decode.colour),
                ("TPOT", decode.colour),
                ("E2E", ink),
                ("TTFT", prefill.colour),
                (texts.rate, decode.colour),
            )
        ),
        labels("metrics", ink, "middle right"),
        labels("met", ink, "middle right"),
        line(
            texts.rate,
            {"color": decode.colour, "width": 1, "shape": "hv"},
            fill="tozeroy",
            fillcolor=decode.faint(0.2),
            **system,
        ),
        line(texts.mean, {"color": ink, "width": 1.5, "dash": "dash"}, **system),
        labels(texts.mean, ink, "middle right", **system),
        line("MFU", {**compute.line(2), "shape": "hv"}, **use),
        line("MBU", {**bandwidth.line(2), "shape": "hv"}, **use),
        labels("utilisation", ink, "middle right", **use),
        *(
            line(
                texts.now,
                {"color": ink, "width": 0},
                fill="toself",
                fillcolor="paper",
                opacity=_VEIL,
                hoverinfo="skip",
                **where,
            )
            for where in ({}, system, use)
        ),
        *(
            line(texts.now, {"color": ink, "width": 1.5, "dash": "dot"}, **where)
            for where in ({}, system, use)
        ),
    ]
    rows = {
        "range": [0.4, COUNT + 0.85],
        "domain": [0.43, 1],
        "tickvals": list(range(COUNT, 0, -1)),
        "ticktext": list(NAMES),
        "showgrid": False,
        "zeroline": False,
        "fixedrange": True,
        "ticks": "",
        "tickfont": {"size": 14},
    }
    strip = {"fixedrange": True, "nticks": 3, "rangemode": "tozero"}
    return Figure(
        NAME,
        {
            "data": data,
            "layout": layout(
                linear_axis(texts.time_axis, 0, 1, anchor="y3", showgrid=False),
                rows,
                separators=separators,
                margin={"l": 64, "r": 104, "t": 4, "b": 44},
                yaxis2={**linear_axis(texts.rate_axis, 0, 1, **strip), "domain": [0.23, 0.4]},
                yaxis3={
                    **linear_axis(texts.share_axis, 0, 105, **strip),
                    "domain": [0, 0.17],
                    "tickvals": [0, 50, 100],
                },
            ),
        },
        height=480,
    )


def _ends(colour: str) -> dict[str, Any]:
    marker = {"symbol": "line-ns", "size": 9, "line": {"width": 1.5, "color": colour}}
    return {"mode": "lines+markers", "marker": marker}


def columns(
    served: Schedule,
    fits: np.ndarray,
    metric_texts: list[list[str]],
    met_texts: list[list[str]],
    rate_texts: list[str],
    use_texts: list[list[str]],
) -> dict[str, Any]:
    """Return the numbers: everything has happened.

    Parameters
    ----------
    served : Schedule
        The requests.
    fits : ndarray
        Where the model fits; elsewhere nothing is drawn.
    metric_texts, met_texts : list of list of str
        At each point a text for each request: its metric, and whether it keeps to the targets.
    rate_texts : list of str
        The mean rate of output tokens.
    use_texts : list of list of str
        The mean MFU and MBU.
    """
    end = _axis_end(served)
    snap = _grid(np.where(fits, end, np.nan))
    row = np.arange(COUNT, 0, -1)
    over = row + _BRACKET
    brackets = _brackets(served)
    waits = _segments(served.arrival, served.prefill_start)
    reads = _segments(served.prefill_start, served.first_token)
    writes, written_rows = _writing(served)
    rate = np.where(fits, served.tokens_per_second, np.nan)
    rate_top = _rate_top(served)
    mean_use = np.stack([served.mean_mfu, served.mean_mbu]) * 100
    moments = snap(np.append(served.start, served.end[-1:], axis=0))
    count = len(fits)
    here = snap(served.finish.max(axis=0))[:, 0]
    traces = [
        {"x": snap(waits), "y": Same(_rows_of_segments(row))},
        {"x": snap(served.arrival), "y": Same(row.tolist()), "customdata": Same(list(NAMES))},
        {"x": snap(reads), "y": Same(_rows_of_segments(row))},
        {"x": snap(writes), "y": Same(written_rows)},
        {
            "x": snap(_ticks(served)),
            "y": Same(np.repeat(row, TICKS).tolist()),
            "customdata": Same([""]),
        },
        *(
            {
                "x": snap(np.stack(brackets[which])),
                "y": Same([float(over[which])] * 2),
            }
            for which in range(COUNT)
        ),
        {
            "x": snap(np.stack([brackets[which][1] for which in range(COUNT)])),
            "y": Same(over.tolist()),
            "text": metric_texts,
        },
        {
            "x": snap(served.finish),
            "y": Same(row.tolist()),
            "text": met_texts,
        },
        {"x": moments, "y": _closed(_short(served.output_rate))},
        {"x": columns_of(np.zeros(count), here), "y": columns_of(rate, rate)},
        {"x": columns_of(here), "y": columns_of(rate), "text": [[text] for text in rate_texts]},
        {"x": moments, "y": _closed(_short(served.mfu * 100))},
        {"x": moments, "y": _closed(_short(served.mbu * 100))},
        {
            "x": columns_of(here, here),
            "y": np.stack(_apart(*mean_use), axis=-1),
            "text": use_texts,
        },
        *_now(here, here, end, rate_top),
    ]
    return channels(NAME, traces) | {
        f"l/{NAME}/xaxis.range": columns_of(np.zeros(count), end),
        f"l/{NAME}/yaxis2.range": columns_of(np.zeros(count), rate_top),
    }


def moving_columns(served: Schedule, seconds: np.ndarray) -> dict[str, Any]:
    """Return what moves with the clock: a line, and a veil over what is still to come."""
    end = np.broadcast_to(_axis_end(served), seconds.shape)
    top = np.broadcast_to(_rate_top(served), seconds.shape)
    finish = np.broadcast_to(served.finish.max(axis=0), seconds.shape)
    traces = _now(seconds, finish, end, top)
    return {
        f"f/{NAME}/{_FIRST_OF_NOW + index}/{attribute}": column
        for index, trace in enumerate(traces)
        for attribute, column in trace.items()
        if attribute == "x"
    }


_FIRST_OF_NOW = 18


def _now(
    seconds: np.ndarray, finish: np.ndarray, end: np.ndarray, rate_top: np.ndarray
) -> list[dict[str, Any]]:
    """Return the veils and the lines in the three parts; no veil when all has happened."""
    until = np.where(seconds < finish, end, seconds)
    tops = (Same([0.0, 0.0, 20.0, 20.0]), rate_top, Same([0.0, 0.0, 105.0, 105.0]))
    zero = np.zeros(len(rate_top))
    veils = [
        {
            "x": columns_of(seconds, until, until, seconds),
            "y": top if isinstance(top, Same) else columns_of(zero, zero, top, top),
        }
        for top in tops
    ]
    lines = [
        {
            "x": columns_of(seconds, seconds),
            "y": Same([0.0, top.value[-1]]) if isinstance(top, Same) else columns_of(zero, top),
        }
        for top in tops
    ]
    return [*veils, *lines]


def _axis_end(served: Schedule) -> np.ndarray:
    return tenth_decade_above(served.finish.max(axis=0) * 1.02)


def _rate_top(served: Schedule) -> np.ndarray:
    # With a single output token all tokens come from prefills, and no step makes any.
    return tenth_decade_above(
        np.maximum(served.output_rate.max(axis=0), served.tokens_per_second) * 1.15
    )


def _grid(end: np.ndarray):
    """Return a function that puts moments on places that a screen can tell apart.

    It takes shape (..., points) and gives (points, values): what is drawn needs no more digits,
    and fewer digits are fewer bytes.
    """
    unit = 10.0 ** np.floor(np.log10(end / _LEVELS))

    def snap(moments: np.ndarray) -> np.ndarray:
        placed = np.round(moments / unit) * unit
        return placed.reshape(-1, len(end)).T

    return snap


def _short(values: np.ndarray) -> np.ndarray:
    """Round to a hundredth of the largest: enough for the height of a strip."""
    largest = values.max(axis=0)
    unit = 10.0 ** np.floor(np.log10(np.where(largest > 0, largest, 1.0) / 100))
    return np.round(values / unit) * unit


def _closed(values: np.ndarray) -> np.ndarray:
    """Let a line end at zero; shape (points, spans + 1)."""
    return np.append(values, np.zeros((1, values.shape[1])), axis=0).T


def _segments(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Put starts and ends one after another, with gaps between: shape (3 requests, points)."""
    gap = np.full_like(start, np.nan)
    return np.stack([start, end, gap], axis=1).reshape(-1, start.shape[-1])


def _rows_of_segments(rows: np.ndarray) -> list[float | None]:
    return [value for row in rows.tolist() for value in (row, row, None)]


def _writing(served: Schedule) -> tuple[np.ndarray, list[float | None]]:
    """Return the times in which each request's tokens come: from one other's prefill to the next.

    Returns
    -------
    segments : ndarray
        Shape (3 times the segments, points); NaN where there is none.
    rows : list
        On which row each stands.
    """
    parts, rows = [], []
    for which in range(COUNT):
        begin, finish = served.first_token[which], served.finish[which]
        for other in range(which, COUNT):
            # From the end of this prefill to the beginning of the next.
            start = np.maximum(served.first_token[other], begin)
            later = served.prefill_start[other + 1] if other + 1 < COUNT else finish
            end = np.minimum(later, finish)
            some = start < end
            parts += [np.where(some, start, np.nan), np.where(some, end, np.nan)]
            parts.append(np.full_like(start, np.nan))
            rows += [COUNT - which, COUNT - which, None]
    return np.stack(parts), rows


def _ticks(served: Schedule) -> np.ndarray:
    """Return moments of some decode steps, for each request those that give it a token.

    One after another on all rows: what all of them share takes no room in the table.
    """
    share = (np.arange(TICKS) + 0.5)[:, None] / TICKS
    moments = served.step_moments(np.ceil(share * served.all_steps))
    taken = (moments > served.first_token[:, None]) & (moments <= served.finish[:, None])
    return np.where(taken, moments, np.nan)


def _brackets(served: Schedule) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return from where to where each metric is drawn, in the order of the requests."""
    begin, finish = np.where(served.output > 1, [served.first_token, served.finish], np.nan)
    stall_start, stall_end = served.longest_gap
    return [
        (stall_start[ITL], stall_end[ITL]),
        (begin[TPOT], finish[TPOT]),
        (served.arrival[E2E], served.finish[E2E]),
        (served.arrival[TTFT], served.first_token[TTFT]),
        (begin[SPEED], finish[SPEED]),
    ]


def _apart(first: np.ndarray, second: np.ndarray, gap: float = 60.0) -> tuple:
    """Keep two heights in a strip of 0 to 100 at least `gap` apart, and inside it."""
    middle, half = (first + second) / 2, np.maximum(np.abs(first - second), gap) / 2
    middle = np.clip(middle, half, 100 - half)
    sign = np.where(first >= second, 1, -1)
    return middle + sign * half, middle - sign * half
