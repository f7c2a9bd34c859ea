"""A service under load: what its instances do, the gaps between tokens, tails, goodput, and a map.

Plain Plotly figures of simulated results. Two of them stand side by side, so that what they share
(the stretch of time, the height of the gaps) is given to both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from pages.shared import colours
from physics.serving.ledger import DECODE, MIXED, PREFILL
from physics.serving.result import Result

TRANSPARENT = "rgba(0,0,0,0)"
FONT_SIZE = 13
ROW_PIXELS, MOST_PIXELS, LABEL_PIXELS = 24, 150, 15
GAPS_PIXELS = 150
LEFT_PIXELS, RIGHT_PIXELS = 78, 66
HIGHEST = 15
"""Gaps are drawn up to so many targets, or medians; longer ones at the upper edge."""

TAIL = 1e-3
"""Share of the values at which a tail ends."""

PARTS = ((0.5, "p50"), (0.1, "p90"), (0.01, "p99"))

# What is written on a cell: on the three designs' colours, and on the wash of none.
CELL_INKS = ("#FFFFFF", "#000000", "#FFFFFF", colours.WEIGHTS.colour)

DESIGNS = {
    "colocated": colours.COLOCATED,
    "chunked": colours.CHUNKED,
    "disaggregated": colours.DISAGGREGATED,
}


@dataclass(frozen=True)
class Texts:
    """The words in the figures; `row` has the places {pool} and {number}."""

    prefill: str
    decode: str
    transfer: str
    arrival: str
    gap: str
    chosen: str
    target: str
    time_axis: str
    gap_axis: str
    pools: dict[str, str]
    link: str
    tokens: str
    sequences: str


@dataclass(frozen=True)
class Window:
    """What both timelines show.

    Attributes
    ----------
    start, end : float
        The stretch of time [s].
    request : int
        The request whose tokens are marked.
    top : float
        Longest gap that is drawn [s].
    target : float
        [s].
    rows : int
        Room for so many rows, so that what is below stands at the same height.
    """

    start: float
    end: float
    request: int
    top: float
    target: float
    rows: int


def row_count(seen: Result) -> int:
    """Return how many rows a timeline has: the instances, and the links that send."""
    return sum(1 + (one.pool == "prefill") for one in seen.instances)


@dataclass(frozen=True, eq=False)
class Gaps:
    """Gaps between tokens that end in a stretch of time, each instance's step once.

    Attributes
    ----------
    moments, seconds : ndarray
        When the gap ends, and how long it is [s].
    """

    moments: np.ndarray
    seconds: np.ndarray


def gaps_between(seen: Result, start: float, end: float) -> Gaps:
    """Return the gaps that end in a stretch of time; sequences of one step share theirs.

    Examples
    --------
    >>> from physics.catalogue import model
    >>> from physics.chips import chip
    >>> from physics.machine import machine
    >>> from physics.serving.design import colocated
    >>> from physics.serving.simulation import simulate
    >>> from physics.serving.traffic import given
    >>> seen = simulate(colocated(model("llama-3.1-8b"), machine(chip("h100-sxm"))),
    ...                 given([0.0, 0.0], prompt=128, output=5))
    >>> len(gaps_between(seen, 0, 9).moments)
    4
    """
    token = np.ones(len(seen.token_seconds), dtype=bool)
    token[seen.first_place] = False
    moments, seconds = seen.token_seconds[token], seen.itl_seconds
    inside = (moments >= start) & (moments <= end)
    pairs = np.unique(np.stack([moments[inside], seconds[inside]]).round(7), axis=1)
    return Gaps(*pairs)


def highest_gap(all_gaps: Sequence[Gaps], target: float) -> float:
    """Return where the axis of the gaps ends [s]."""
    seconds = np.concatenate([gaps.seconds for gaps in all_gaps])
    if not len(seconds):
        return 2 * target
    limit = HIGHEST * max(target, float(np.median(seconds)))
    return 1.15 * max(min(float(seconds.max()), limit), 1.3 * target)


def timeline(seen: Result, gaps: Gaps, window: Window, texts: Texts, separators: str) -> go.Figure:
    """Draw what the instances do in a stretch of time, and under it the gaps between tokens."""
    rows = _rows(seen, texts)
    heights = [min(window.rows * ROW_PIXELS, MOST_PIXELS), GAPS_PIXELS]
    figure = make_subplots(
        rows=2,
        cols=1,
        shared_xaxes=True,
        vertical_spacing=0.06,
        row_heights=heights,
    )
    for place, (_, bars) in enumerate(rows):
        for bar in bars:
            _bars(figure, place, bar, window)
    _arrivals(figure, seen, window, texts)
    _draw_gaps(figure, seen, gaps, window, texts)
    span = window.end - window.start
    figure.update_layout(
        height=sum(heights) + 66,
        margin={"l": LEFT_PIXELS, "r": RIGHT_PIXELS, "t": 2, "b": 44},
        separators=separators,
        showlegend=False,
        barmode="overlay",
        bargap=0,
        hovermode="closest",
        font={"size": FONT_SIZE},
    )
    figure.update_xaxes(range=[0, span], zeroline=False, showline=True, showgrid=False)
    figure.update_xaxes(title={"text": texts.time_axis, "standoff": 6}, ticks="outside", row=2)
    labels = _labels([name for name, _ in rows], seen, texts, heights[0])
    figure.update_yaxes(
        tickvals=list(labels),
        ticktext=list(labels.values()),
        range=[window.rows - 0.5, -0.85],
        showgrid=False,
        zeroline=False,
        automargin=False,
        row=1,
    )
    figure.update_yaxes(
        title={"text": texts.gap_axis, "standoff": 6},
        range=[0, window.top * 1e3],
        nticks=5,
        zeroline=False,
        automargin=False,
        row=2,
    )
    return figure


@dataclass(frozen=True, eq=False)
class _Bars:
    """Blocks of one kind in a row; `low` and `high` are parts of the row's height."""

    colour: str
    start: np.ndarray
    end: np.ndarray
    said: list[str]
    low: float = -0.4
    high: float = 0.4


def _rows(seen: Result, texts: Texts) -> list[tuple[str, list[_Bars]]]:
    """Return the rows from top to bottom: a name, and its blocks."""
    rows: list[tuple[str, list[_Bars]]] = []
    numbers: dict[str, int] = {}
    many = {pool.name: pool.instances > 1 for pool in seen.design.pools}
    for place, one in enumerate(seen.instances):
        numbers[one.pool] = numbers.get(one.pool, 0) + 1
        name = texts.pools[one.pool] + (f" {numbers[one.pool]}" if many[one.pool] else "")
        read, write, mixed = (one.kind == kind for kind in (PREFILL, DECODE, MIXED))
        tokens = [f"{texts.prefill}: {count} {texts.tokens}" for count in one.prompt_tokens]
        batch = [f"{texts.decode}: {count} {texts.sequences}" for count in one.writing]
        both = [f"{one}<br>{other}" for one, other in zip(tokens, batch, strict=True)]

        def bars(look, which, said, low=-0.4, high=0.4, *, of=one):
            chosen = [said[at] for at in np.flatnonzero(which)]
            return _Bars(look.colour, of.start[which], of.end[which], chosen, low, high)

        rows.append(
            (
                name,
                [
                    bars(colours.DECODE, write, batch),
                    bars(colours.PREFILL, read, tokens),
                    bars(colours.DECODE, mixed, both, 0.0, 0.4),
                    bars(colours.PREFILL, mixed, both, -0.4, 0.0),
                ],
            )
        )
        if one.pool == "prefill":
            rows.append((texts.link, [_transfers(seen, place, texts)]))
    return rows


def _labels(names: list[str], seen: Result, texts: Texts, height: float) -> dict[float, str]:
    """Return the labels of the rows by their place: each row's, or one a pool where they touch."""
    if len(names) * LABEL_PIXELS <= height:
        return dict(enumerate(names))
    labels, first = {}, 0
    for pool in seen.design.pools:
        count = pool.instances * (1 + (pool.name == "prefill"))
        labels[first + (count - 1) / 2] = f"{pool.instances} × {texts.pools[pool.name]}"
        first += count
    return labels


def _transfers(seen: Result, sender: int, texts: Texts) -> _Bars:
    mine = (seen.prefill_instance == sender) & np.isfinite(seen.transfer_start)
    start, end = seen.transfer_start[mine], seen.transfer_end[mine]
    said = [f"{texts.transfer}: {size / 1e6:.0f} MB" for size in seen.transfer_bytes[mine]]
    return _Bars(colours.COMMUNICATION.colour, start, end, said, -0.25, 0.25)


def _bars(figure: go.Figure, place: int, bars: _Bars, window: Window) -> None:
    shown = (bars.end > window.start) & (bars.start < window.end)
    if not shown.any():
        return
    start = np.maximum(bars.start[shown], window.start) - window.start
    end = np.minimum(bars.end[shown], window.end) - window.start
    said = [bars.said[at] for at in np.flatnonzero(shown)]
    lasted = (bars.end - bars.start)[shown] * 1e3
    figure.add_bar(
        orientation="h",
        base=start,
        x=end - start,
        y=np.full(len(start), place + (bars.low + bars.high) / 2),
        width=bars.high - bars.low,
        marker={"color": bars.colour, "line": {"width": 0}},
        customdata=np.stack([np.array(said, dtype=object), lasted], axis=-1),
        hovertemplate="%{customdata[0]}<br>%{customdata[1]:.3~g} ms<extra></extra>",
        row=1,
        col=1,
    )


def _arrivals(figure: go.Figure, seen: Result, window: Window, texts: Texts) -> None:
    shown = (seen.arrival >= window.start) & (seen.arrival <= window.end)
    figure.add_scatter(
        x=seen.arrival[shown] - window.start,
        y=np.full(int(shown.sum()), -0.6),
        mode="markers",
        marker={"symbol": "triangle-down", "size": 8, "color": colours.PREFILL.colour},
        hovertemplate=f"{texts.arrival}<extra></extra>",
        row=1,
        col=1,
    )


def _draw_gaps(figure: go.Figure, seen: Result, gaps: Gaps, window: Window, texts: Texts) -> None:
    top = window.top * 1e3
    figure.add_scatter(
        x=[0, window.end - window.start],
        y=[window.target * 1e3] * 2,
        mode="lines",
        line={"color": colours.WEIGHTS.colour, "width": 1.5, "dash": "dot"},
        hovertemplate=f"{texts.target}<extra></extra>",
        row=2,
        col=1,
    )
    figure.add_scatter(
        x=[window.end - window.start],
        y=[window.target * 1e3],
        mode="text",
        text=[texts.target],
        textposition="middle right",
        cliponaxis=False,
        hoverinfo="skip",
        row=2,
        col=1,
    )
    _dots(figure, gaps.moments - window.start, gaps.seconds * 1e3, top, texts.gap, size=5)
    moments = seen.tokens_of(window.request)
    own = np.diff(moments)
    shown = (moments[1:] >= window.start) & (moments[1:] <= window.end)
    _dots(
        figure,
        moments[1:][shown] - window.start,
        own[shown] * 1e3,
        top,
        texts.chosen,
        size=6,
        line=True,
    )


def _dots(
    figure: go.Figure,
    x: np.ndarray,
    y: np.ndarray,
    top: float,
    name: str,
    *,
    size: int,
    line: bool = False,
) -> None:
    """Draw gaps [ms]; those beyond the axis as arrows at its upper edge."""
    above = y > top
    figure.add_scatter(
        x=x,
        y=np.where(above, top * 0.97, y),
        customdata=y,
        mode="lines+markers" if line else "markers",
        line={"color": colours.DECODE.colour, "width": 1.5},
        marker={
            "color": colours.DECODE.colour,
            "size": np.where(above, 9, size),
            "symbol": np.where(above, "triangle-up", "circle"),
            "opacity": 1.0 if line else 0.7,
        },
        hovertemplate=f"{name}<br>%{{customdata:.3~g}} ms<extra></extra>",
        row=2,
        col=1,
    )


@dataclass(frozen=True)
class Side:
    """One design in a figure that holds several."""

    kind: str
    name: str


def tail(
    values: Sequence[np.ndarray],
    sides: Sequence[Side],
    colour: str,
    *,
    target: float,
    target_text: str,
    axis: str,
    share_axis: str,
    ticks: tuple[Sequence[float], Sequence[str]],
    separators: str,
) -> go.Figure:
    """Draw what share of the values [s] is longer than a time, on log axes; p50, p90, p99 marked.

    Parameters
    ----------
    ticks : tuple
        Times at which the axis has ticks [s], and their texts.
    """
    figure = go.Figure()
    everything = np.concatenate([*values, [target]])
    low, high = everything[everything > 0].min() / 1.15, everything.max() * 1.15
    for one, side in zip(values, sides, strict=True):
        look = DESIGNS[side.kind]
        shares = np.geomspace(1.0, TAIL, 120)
        times = np.quantile(one, 1 - shares)
        line = {"color": colour, "width": 2.5, "dash": look.dash}
        figure.add_scatter(
            x=times, y=shares, mode="lines", line=line, name=side.name, hoverinfo="skip"
        )
        marks = [share for share, _ in PARTS]
        figure.add_scatter(
            x=np.quantile(one, 1 - np.array(marks)),
            y=marks,
            mode="markers",
            marker={"color": colour, "size": 9, "symbol": look.marker},
            showlegend=False,
            text=[name for _, name in PARTS],
            customdata=np.quantile(one, 1 - np.array(marks)) * 1e3,
            hovertemplate=f"{side.name}<br>%{{text}}: %{{customdata:.3~g}} ms<extra></extra>",
        )
    right = np.log(target / low) < np.log(high / low) / 2
    figure.add_scatter(
        x=[target, target],
        y=[1.0, TAIL],
        mode="lines+text",
        line={"color": colours.WEIGHTS.colour, "width": 1.5, "dash": "dot"},
        text=[target_text, ""],
        textposition="bottom right" if right else "bottom left",
        showlegend=False,
        hoverinfo="skip",
    )
    figure.update_layout(
        height=300,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        separators=separators,
        font={"size": FONT_SIZE},
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0, "title": None},
        xaxis={
            "type": "log",
            "title": {"text": axis, "standoff": 6},
            "range": [float(np.log10(low)), float(np.log10(high))],
            "tickvals": list(ticks[0]),
            "ticktext": list(ticks[1]),
            "showline": True,
            "ticks": "outside",
        },
        yaxis={
            "type": "log",
            "title": {"text": share_axis, "standoff": 6},
            "range": [float(np.log10(TAIL)), 0.05],
            "tickvals": [1, *(share for share, _ in PARTS)],
            "ticktext": ["100%", *(f"{share:.0%} · {name}" for share, name in PARTS)],
            "automargin": True,
        },
    )
    return figure


@dataclass(frozen=True, eq=False)
class Line:
    """Goodput of one design at each rate, and at the current one [1/s]."""

    side: Side
    rates: np.ndarray
    goodput: np.ndarray
    here: float
    faint: bool = False


def goodput(
    lines: Sequence[Line],
    *,
    rate: float,
    all_text: str,
    here_text: str,
    axis: str,
    goodput_axis: str,
    separators: str,
) -> go.Figure:
    """Draw the requests served within the targets against those that arrive [1/s]."""
    figure = go.Figure()
    top = float(max([rate, *(line.goodput.max() for line in lines)])) * 1.15
    right = float(max(rate, lines[0].rates.max()))
    figure.add_scatter(
        x=[0, top],
        y=[0, top],
        mode="lines",
        line={"color": colours.WEIGHTS.colour, "width": 1.5, "dash": "dot"},
        name=all_text,
        hoverinfo="skip",
    )
    for line in lines:
        look = DESIGNS[line.side.kind]
        x, y = np.append(line.rates, rate), np.append(line.goodput, line.here)
        order = np.argsort(x, kind="stable")
        figure.add_scatter(
            x=x[order],
            y=y[order],
            mode="lines",
            line=look.line(1.5 if line.faint else 3),
            opacity=0.65 if line.faint else 1.0,
            name=line.side.name,
            hovertemplate=f"{line.side.name}<br>%{{x:.3~g}} → %{{y:.3~g}}<extra></extra>",
        )
        figure.add_scatter(
            x=[rate],
            y=[line.here],
            mode="markers",
            marker=look.point(11),
            showlegend=False,
            hovertemplate=f"{line.side.name}<br>%{{x:.3~g}} → %{{y:.3~g}}<extra></extra>",
        )
    figure.add_vline(
        x=rate,
        line={"color": colours.WEIGHTS.colour, "width": 1.5},
        annotation={"text": here_text, "yanchor": "top"},
        annotation_position="top right" if rate < right / 2 else "top left",
    )
    figure.update_layout(
        height=300,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        separators=separators,
        font={"size": FONT_SIZE},
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0, "title": None},
        xaxis={
            "title": {"text": axis, "standoff": 6},
            "range": [0, right],
            "showline": True,
            "ticks": "outside",
        },
        yaxis={
            "title": {"text": goodput_axis, "standoff": 6},
            "range": [0, top],
            "automargin": True,
        },
    )
    return figure


def surface(
    winner: np.ndarray,
    shares: np.ndarray,
    *,
    rates: Sequence[str],
    prompts: Sequence[str],
    here: tuple[float, float],
    names: Sequence[str],
    here_text: str,
    axis: str,
    prompt_axis: str,
    separators: str,
) -> go.Figure:
    """Draw which design is enough at each prompt and rate.

    Parameters
    ----------
    winner : ndarray of int
        Shape (prompts, rates): place of a design, -1: none.
    shares : ndarray of str
        Shape (prompts, rates): what is written in the cells.
    here : tuple of float
        Column and row of the scenario, between those of the cells.
    names : sequence of str
        Of the three designs, and of none.
    """
    fills = [*(look.colour for look in DESIGNS.values()), colours.WEIGHTS.faint(0.25)]
    levels = np.where(winner < 0, len(fills) - 1, winner)
    scale = [
        (edge, fill)
        for place, fill in enumerate(fills)
        for edge in (place / len(fills), (place + 1) / len(fills))
    ]
    figure = go.Figure(
        go.Heatmap(
            z=levels,
            x=list(range(len(rates))),
            y=list(range(len(prompts))),
            zmin=-0.5,
            zmax=len(fills) - 0.5,
            colorscale=scale,
            showscale=False,
            xgap=2,
            ygap=2,
            hoverinfo="skip",
        )
    )
    rows, columns = np.indices(winner.shape)
    figure.add_scatter(
        x=columns.ravel(),
        y=rows.ravel(),
        mode="text",
        text=shares.ravel(),
        textfont={"color": [CELL_INKS[level] for level in levels.ravel()]},
        hoverinfo="skip",
        showlegend=False,
    )
    for name, fill in zip(names, fills, strict=True):
        figure.add_scatter(
            x=[None],
            y=[None],
            mode="markers",
            marker={"color": fill, "symbol": "square", "size": 13},
            name=name,
        )
    figure.add_scatter(
        x=[here[0]],
        y=[here[1]],
        mode="markers",
        marker={
            "symbol": "circle-open",
            "size": 26,
            "color": "#FFFFFF",
            "line": {"width": 3},
        },
        name=here_text,
        showlegend=False,
        hovertemplate=f"{here_text}<extra></extra>",
    )
    figure.update_layout(
        height=120 + 34 * len(prompts),
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        separators=separators,
        font={"size": FONT_SIZE},
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0, "title": None},
        xaxis={
            "title": {"text": axis, "standoff": 6},
            "tickvals": list(range(len(rates))),
            "ticktext": list(rates),
            "showgrid": False,
            "zeroline": False,
            "range": [-0.5, len(rates) - 0.5],
        },
        yaxis={
            "title": {"text": prompt_axis, "standoff": 6},
            "tickvals": list(range(len(prompts))),
            "ticktext": list(prompts),
            "showgrid": False,
            "zeroline": False,
            "range": [-0.5, len(prompts) - 0.5],
            "automargin": True,
        },
    )
    return figure
