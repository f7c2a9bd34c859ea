"""Several requests on one machine in time, with every metric drawn where it is measured.

Times are drawn as shares of the time axis, and rates as shares of theirs, with the values of the
axes as texts: an axis that never changes its range is one that the browser never has to lay out
anew while a slider moves.
"""

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

BRACKETS = ((ITL, TPOT, SPEED), (E2E,), (TTFT,))
"""The brackets of a colour, one trace each."""

_ROOM = 350  # pixels of the figure below which the metrics' own names need the place
_BRACKET = 0.44  # above the middle of a request's row
_DIGITS = 3  # of a share of an axis: a screen tells no more apart
_MOST_STEPS = 6  # of values along the time axis
_VEIL = 0.72
_FULL = 105  # percent, and some room above the line


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
    values = {"textfont": {"size": 12, "color": ink}, "marker": {**_ends(ink)["marker"], "size": 7}}
    data = [
        line(texts.waits, {"color": ink, "width": 1, "dash": "dot"}),
        dots(texts.arrives, {"symbol": "line-ns", "size": 15, "line": {"width": 2, "color": ink}}),
        line(texts.prefill, {"color": prefill.colour, "width": 15}),
        line(texts.decode, {"color": decode.colour, "width": 15}, opacity=0.4),
        dots(texts.decode, {**tick, "color": decode.colour}),
        *(
            line("", {"color": colour, "width": 1.5}, **_ends(colour))
            for colour in (decode.colour, ink, prefill.colour)
        ),
        labels("metrics", ink, "middle right"),
        labels("met", ink, "middle right", meta={"room": _ROOM}),
        line(
            texts.rate,
            {"color": decode.colour, "width": 1, "shape": "hv"},
            fill="tozeroy",
            fillcolor=decode.faint(0.2),
            **system,
        ),
        line(texts.mean, {"color": ink, "width": 1.5, "dash": "dash"}, **system),
        labels(texts.mean, ink, "middle right", **system),
        labels("rates", ink, "middle left", **system),
        line("MFU", {**compute.line(2), "shape": "hv"}, **use),
        line("MBU", {**bandwidth.line(2), "shape": "hv"}, **use),
        labels("utilisation", ink, "middle right", **use),
        {**labels("times", ink, "bottom center", **use), "mode": "markers+text", **values},
        *(
            line(
                texts.now,
                {"color": ink, "width": 0},
                fill="toself",
                fillcolor="paper",
                opacity=_VEIL,
                **where,
            )
            for where in ({}, system, use)
        ),
        *(
            line(texts.now, {"color": ink, "width": 1.5, "dash": "dot"}, **where)
            for where in ({}, system, use)
        ),
    ]
    for trace in data:
        trace["hoverinfo"] = "skip"
    bare = {"fixedrange": True, "showgrid": False, "zeroline": False, "ticks": ""}
    rows = {
        **bare,
        "range": [0.4, COUNT + 0.85],
        "domain": [0.43, 1],
        "tickvals": list(range(COUNT, 0, -1)),
        "ticktext": list(NAMES),
        "tickfont": {"size": 14},
    }
    time = {**bare, "showticklabels": False, "anchor": "y3"}
    rate = {**bare, "showticklabels": False, "domain": [0.23, 0.4]}
    share = {"fixedrange": True, "domain": [0, 0.17], "tickvals": [0, 50, 100]}
    return Figure(
        NAME,
        {
            "data": data,
            "layout": layout(
                {
                    **linear_axis(texts.time_axis, 0, 1, **time),
                    "title": _title(texts.time_axis, 24),
                },
                rows,
                separators=separators,
                margin={"l": 64, "r": 104, "t": 4, "b": 50},
                meta={"room": _ROOM, "titles": ["yaxis2"]},
                yaxis2={
                    **linear_axis(texts.rate_axis, 0, 1, **rate),
                    "title": _title(texts.rate_axis, 36),
                },
                yaxis3=linear_axis(texts.share_axis, 0, _FULL, **share),
            ),
        },
        height=480,
    )


def _title(text: str, standoff: int) -> dict[str, Any]:
    """Return an axis title that leaves room for values drawn as texts."""
    return {"text": text, "standoff": standoff}


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
    time_value_texts: list[list[str]],
    rate_value_texts: list[list[str]],
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
    time_value_texts, rate_value_texts : list of list of str
        `time_values` and `rate_values` in words, at each point.
    """
    end, rate_top = axis_end(served), _rate_top(served)
    row = np.arange(COUNT, 0, -1)
    over = row + _BRACKET
    brackets = _brackets(served)
    written, written_rows = _writing(served)

    def at(moments: np.ndarray) -> np.ndarray:
        """Give moments of shape (..., points) as shares of the time axis: (points, values)."""
        share = np.where(fits, moments / end, np.nan)
        return np.round(share.reshape(-1, len(fits)), _DIGITS).T

    def up(rates: np.ndarray) -> np.ndarray:
        return np.round(np.where(fits, rates / rate_top, np.nan), _DIGITS).reshape(-1, len(fits)).T

    def drawn(which: tuple[int, ...]) -> dict[str, Any]:
        start, finish = (np.stack(ends) for ends in zip(*(brackets[i] for i in which), strict=True))
        return {"x": at(_segments(start, finish)), "y": Same(_rows_of_segments(over[list(which)]))}

    spans = at(np.append(served.start, served.end[-1:], axis=0))
    here = at(served.finish.max(axis=0))
    mean_use = np.stack([served.mean_mfu, served.mean_mbu]) * 100
    ticks, rates = time_values(served), rate_values(served)
    traces = [
        {
            "x": at(_segments(served.arrival, served.prefill_start)),
            "y": Same(_rows_of_segments(row)),
        },
        {"x": at(served.arrival), "y": Same(row.tolist())},
        {
            "x": at(_segments(served.prefill_start, served.first_token)),
            "y": Same(_rows_of_segments(row)),
        },
        {"x": at(written), "y": Same(written_rows)},
        {"x": at(_ticks(served)), "y": Same(np.repeat(row, TICKS).tolist())},
        *(drawn(which) for which in BRACKETS),
        {
            "x": at(np.stack([finish for _, finish in brackets])),
            "y": Same(over.tolist()),
            "text": metric_texts,
        },
        {"x": at(served.finish), "y": Same(row.tolist()), "text": met_texts},
        {"x": spans, "y": _closed(up(served.output_rate))},
        {"x": np.hstack([0 * here, here]), "y": np.repeat(up(served.tokens_per_second), 2, axis=1)},
        {"x": here, "y": up(served.tokens_per_second), "text": [[text] for text in rate_texts]},
        {"x": Same([0.0] * rates.shape[0]), "y": up(rates), "text": rate_value_texts},
        {"x": spans, "y": _closed(_percent(served.mfu))},
        {"x": spans, "y": _closed(_percent(served.mbu))},
        {
            "x": np.repeat(here, 2, axis=1),
            "y": np.stack(_apart(*mean_use), axis=-1),
            "text": use_texts,
        },
        {"x": at(ticks), "y": Same([0.0] * ticks.shape[0]), "text": time_value_texts},
        *_now(here[:, 0], here[:, 0]),
    ]
    return channels(NAME, traces)


def moving_columns(served: Schedule, seconds: np.ndarray) -> dict[str, Any]:
    """Return what moves with the clock: a line, and a veil over what is still to come."""
    now, last = (
        np.round(moments / axis_end(served), _DIGITS) for moments in (seconds, served.finish.max())
    )
    return {
        f"f/{NAME}/{_FIRST_OF_NOW + index}/x": trace["x"]
        for index, trace in enumerate(_now(now, last))
    }


_FIRST_OF_NOW = 18


def _now(now: np.ndarray, last: np.ndarray) -> list[dict[str, Any]]:
    """Return the veils and the lines in the three parts; no veil when all has happened."""
    until = np.where(now < last, 1.0, now)
    tops = (20.0, 1.0, float(_FULL))
    veils = [
        {"x": columns_of(now, until, until, now), "y": Same([0.0, 0.0, top, top])} for top in tops
    ]
    lines = [{"x": columns_of(now, now), "y": Same([0.0, top])} for top in tops]
    return [*veils, *lines]


def axis_end(served: Schedule) -> np.ndarray:
    """Return where the time axis ends [s], shape (points,)."""
    return tenth_decade_above(served.finish.max(axis=0) * 1.02)


def time_values(served: Schedule) -> np.ndarray:
    """Return the values along the time axis [s]: round ones, NaN beyond its end."""
    return _round_values(axis_end(served), _MOST_STEPS)


def rate_values(served: Schedule) -> np.ndarray:
    """Return the values along the axis of rates [token/s]."""
    return _round_values(_rate_top(served), 2)


def _round_values(end: np.ndarray, most: int) -> np.ndarray:
    """Return 0 and up to `most` multiples of 1, 2 or 5 times a power of ten; (most + 1, points).

    Examples
    --------
    >>> _round_values(np.array([2.5]), 6).ravel().tolist()
    [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, nan]
    """
    decade = 10.0 ** np.floor(np.log10(end / most))
    steps = np.array([1.0, 2.0, 5.0, 10.0])[:, None] * decade
    step = np.where(steps * most >= end * (1 - 1e-9), steps, np.inf).min(axis=0)
    values = np.arange(most + 1)[:, None] * step
    return np.where(values <= end * (1 + 1e-9), values, np.nan)


def _rate_top(served: Schedule) -> np.ndarray:
    # With a single output token all tokens come from prefills, and no step makes any.
    return tenth_decade_above(
        np.maximum(served.output_rate.max(axis=0), served.tokens_per_second) * 1.15
    )


def _percent(shares: np.ndarray) -> np.ndarray:
    return np.round(shares.T * 100, 1)


def _closed(values: np.ndarray) -> np.ndarray:
    """Let a line end at zero; shape (points, spans + 1)."""
    return np.append(values, np.zeros((len(values), 1)), axis=1)


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

    All rows share them, which takes little room in the table; those before a request's time stand
    at its first token, those after it at its last.
    """
    share = (np.arange(TICKS) + 0.5)[:, None] / TICKS
    moments = served.step_moments(np.ceil(share * served.all_steps))
    return np.clip(moments, served.first_token[:, None], served.finish[:, None])


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
