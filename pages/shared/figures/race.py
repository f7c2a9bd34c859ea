"""What the two times hang on, and two chips on the same request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pages.shared import colours
from pages.shared.figures.base import (
    FONT_SIZE,
    channels,
    columns_of,
    dots,
    labels,
    layout,
    linear_axis,
    tenth_decade_above,
)
from pages.shared.player.view import Figure, Growing, Same

NAME = "race"
PARTS = 10
HEIGHT = 520
"""Parts into which marks divide the tokens of an answer."""

_PHASE_AT = (1.0, 0.0)  # TTFT above TPOT
_LANE_AT = (2.6, 0.7)  # the scenario's chip above the second one
_NAME_ABOVE = 0.72
# Places of the traces.
_SHARES, _PREFILL, _DECODE, _MARKS, _NAMES = range(4), 4, 5, (6, 7), 8


@dataclass(frozen=True)
class Texts:
    """The words in the figure."""

    shares: str
    race: str
    time_axis: str
    ttft: str
    tpot: str
    compute: str
    bandwidth: str
    link: str
    launch: str
    prefill: str
    decode: str
    mark: str


@dataclass(frozen=True)
class Lane:
    """One chip's answers: seconds of shape (points,), NaN where they do not fit.

    Attributes
    ----------
    ttft, e2e : ndarray
        First and last token [s].
    moments : ndarray
        When each tenth of the answer is written, but for the last, shape (points, `PARTS` - 1) [s].
    texts : list of str
        What stands above the lane.
    """

    ttft: np.ndarray
    e2e: np.ndarray
    moments: np.ndarray
    texts: list[str]


def skeleton(texts: Texts, separators: str, *, show_all: bool) -> Figure:
    """Return the figure without numbers.

    Parameters
    ----------
    show_all : bool
        Whether link and launch can take a share and are named.
    """
    parts = [
        (texts.compute, colours.COMPUTE_ROOF.colour),
        (texts.bandwidth, colours.BANDWIDTH_ROOF.colour),
        (texts.link, colours.COMMUNICATION.colour),
        (texts.launch, colours.INK),
    ]
    lower = {"xaxis": "x2", "yaxis": "y2"}
    mark = {"symbol": "line-ns", "size": 20, "line": {"width": 1.5, "color": colours.PAPER}}
    data = [
        *(
            _bar(name, colour, 0.78, f"{name}: %{{x:.2f}}", **_numbers(colour))
            for name, colour in parts
        ),
        _bar(texts.prefill, colours.PREFILL.colour, 0.85, texts.prefill, **lower),
        _bar(texts.decode, colours.DECODE.colour, 0.85, texts.decode, **lower),
        *(dots(texts.mark, {**mark, "color": colours.PAPER}, **lower) for _ in _LANE_AT),
        labels("lanes", colours.INK, "middle right", **lower),
    ]
    shown = parts if show_all else parts[:2]
    return Figure(
        NAME,
        {
            "data": data,
            "layout": layout(
                {
                    "range": [0, 1],
                    "domain": [0, 1],
                    "anchor": "y",
                    # The bars carry their numbers.
                    "tickvals": [0, 0.5, 1],
                    "showticklabels": False,
                    "showgrid": False,
                    "zeroline": False,
                    "fixedrange": True,
                },
                {
                    "range": [-0.5, 1.5],
                    "domain": [0.66, 0.86],
                    "anchor": "x",
                    "tickvals": list(_PHASE_AT),
                    "ticktext": [texts.ttft, texts.tpot],
                    "showgrid": False,
                    "zeroline": False,
                    "fixedrange": True,
                },
                separators=separators,
                xaxis2={
                    **linear_axis(texts.time_axis, 0, 1, fixedrange=True, nticks=6),
                    "anchor": "y2",
                },
                yaxis2={
                    "range": [0, 3.9],
                    "domain": [0, 0.46],
                    "anchor": "x2",
                    "visible": False,
                    "fixedrange": True,
                },
                barmode="stack",
                uniformtext={"mode": "hide", "minsize": FONT_SIZE - 1},
                annotations=[
                    _title(texts.shares, "", shown),
                    _title(
                        texts.race,
                        "2",
                        [
                            (texts.prefill, colours.PREFILL.colour),
                            (texts.decode, colours.DECODE.colour),
                        ],
                    ),
                ],
                margin={"l": 48, "r": 16, "t": 4, "b": 46},
                bargap=0,
            ),
        },
        height=HEIGHT,
        share=1.0,
    )


def columns(
    ttft_shares: np.ndarray,
    tpot_shares: np.ndarray,
    share_texts: Sequence[list[list[str]]],
    lanes: Sequence[Lane],
) -> dict[str, Any]:
    """Return the numbers for every point: both answers are complete.

    Parameters
    ----------
    ttft_shares, tpot_shares : ndarray
        Elasticities to peak, bandwidth, link and launch, shape (4, points); NaN: does not fit.
    share_texts : sequence of list
        For each figure, TTFT's and TPOT's number at each point.
    lanes : sequence of Lane
        The scenario's chip and the second one.
    """
    count = len(lanes[0].ttft)
    traces: list[dict[str, Any]] = [
        {"x": columns_of(first, second), "y": [list(_PHASE_AT)] * count, "text": said}
        for first, second, said in zip(ttft_shares, tpot_shares, share_texts, strict=True)
    ]
    first = [np.nan_to_num(lane.ttft) for lane in lanes]
    rest = [np.nan_to_num(lane.e2e - lane.ttft) for lane in lanes]
    traces += [
        {"x": columns_of(*first), "y": [list(_LANE_AT)] * count},
        {"x": columns_of(*rest), "y": [list(_LANE_AT)] * count},
        *(
            {
                "x": _drawn(lane),
                "y": np.full(lane.moments.shape, at),
                "customdata": Same([""]),
            }
            for lane, at in zip(lanes, _LANE_AT, strict=True)
        ),
        {
            "x": [[0.0, 0.0]] * count,
            "y": [[at + _NAME_ABOVE for at in _LANE_AT]] * count,
            "text": [list(row) for row in zip(*(lane.texts for lane in lanes), strict=True)],
        },
    ]
    longest = np.fmax(*(np.where(np.isnan(lane.e2e), 0.0, lane.e2e) for lane in lanes))
    end = tenth_decade_above(np.where(longest > 0, longest, 1.0) * 1.02)
    return channels(NAME, traces) | {
        f"l/{NAME}/xaxis2.range": columns_of(np.zeros(count), end),
    }


def moving_columns(
    seconds: np.ndarray, lanes: Sequence[Lane], texts: Sequence[list[str]]
) -> dict[str, Any]:
    """Return what moves with the clock, for one point.

    Parameters
    ----------
    seconds : ndarray
        Moments of the clock, shape (stops,).
    texts : sequence of list of str
        What stands above each lane at each stop.
    """
    ends = [(np.nan_to_num(lane.ttft[0]), np.nan_to_num(lane.e2e[0])) for lane in lanes]
    reading = [np.minimum(seconds, ttft) for ttft, _ in ends]
    writing = [np.clip(seconds, ttft, e2e) - ttft for ttft, e2e in ends]
    moving: dict[str, Any] = {
        f"{_PREFILL}/x": columns_of(*reading),
        f"{_DECODE}/x": columns_of(*writing),
        f"{_NAMES}/text": [list(row) for row in zip(*texts, strict=True)],
    }
    for trace, lane, at in zip(_MARKS, lanes, _LANE_AT, strict=True):
        moments = _drawn(lane)[0]
        come = np.searchsorted(np.nan_to_num(moments, nan=np.inf), seconds, side="right")
        moving[f"{trace}/x"] = Growing(moments, come)
        moving[f"{trace}/y"] = Growing(np.full(len(moments), at), come)
    return {f"f/{NAME}/{name}": column for name, column in moving.items()}


def _drawn(lane: Lane) -> np.ndarray:
    """Round the marks to a thousandth of the lane, which is finer than a pixel."""
    unit = lane.e2e[:, None] / 1000
    return np.round(lane.moments / unit) * unit


def _bar(name: str, colour: str, width: float, hover: str, **more: Any) -> dict[str, Any]:
    return {
        "type": "bar",
        "orientation": "h",
        "name": name,
        "marker": {"color": colour},
        "width": width,
        "x": [],
        "y": [],
        "hovertemplate": f"{hover}<extra></extra>",
        **more,
    }


def _numbers(colour: str) -> dict[str, Any]:
    """Write a bar's number in its middle, dark on the light colours."""
    dark = colours.PAPER if colour == colours.INK else "#1A1A1A"
    return {
        "text": [],
        "textposition": "inside",
        "insidetextanchor": "middle",
        "insidetextfont": {"color": dark, "size": FONT_SIZE - 1},
        "textangle": 0,
    }


def _title(text: str, axis: str, parts: Sequence[tuple[str, str]]) -> dict[str, Any]:
    names = "  ".join(f"<span style='color:{colour}'>■</span> {name}" for name, colour in parts)
    return {
        "x": 0,
        "y": 1,
        "xref": "x domain",
        "yref": f"y{axis} domain",
        "xanchor": "left",
        "yanchor": "bottom",
        "xshift": -44,
        "showarrow": False,
        "align": "left",
        "text": f"<b>{text}</b><br>{names}",
        "font": {"size": FONT_SIZE - 1, "color": colours.INK},
    }
