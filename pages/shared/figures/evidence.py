"""Predicted beside measured times, and how far apart they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from pages.shared import colours
from physics.evidence import BAND

WIDEST = 1.0
"""The error at which the distribution's outer bins begin."""

TICKS = (-1.0, -0.5, 0.0, 0.5, 1.0)
BINS = 40


_GHOST = {"color": colours.WEIGHTS.colour, "opacity": 0.7, "line": {"width": 1}}
"""Markers of what is pinned: grey, as all that only stands there to compare with.

Rings around the present dots, so that both are seen where they agree.
"""


@dataclass(frozen=True)
class Texts:
    """The words in the figures."""

    measured_axis: str
    predicted_axis: str
    diagonal: str
    band: str
    error_axis: str
    rows_axis: str
    counted: str
    pinned: str


@dataclass(frozen=True)
class Group:
    """Rows of one configuration, drawn alike.

    Attributes
    ----------
    name : str
        What the legend says of all groups that look like this one.
    title : str
        The configuration and the source, said once for all its dots.
    loads : sequence of str
        What differs from dot to dot.
    """

    name: str
    look: colours.Look
    doubtful: bool
    title: str
    measured: Sequence[float]
    predicted: Sequence[float]
    loads: Sequence[str]


@dataclass(frozen=True)
class Pinned:
    """The rows of the selection that is pinned, faint behind the present ones.

    Attributes
    ----------
    measured, predicted : sequence of float
        Times [s].
    """

    measured: Sequence[float]
    predicted: Sequence[float]


def scatter(
    groups: Sequence[Group],
    texts: Texts,
    ticks: tuple[Sequence[float], Sequence[str]],
    separators: str,
    pinned: Pinned | None = None,
) -> go.Figure:
    """Draw predicted against measured times [s] on log axes, the diagonal and a band around it.

    Parameters
    ----------
    ticks : tuple
        Times at which the axes have ticks [s], and their texts.
    pinned : Pinned, optional
    """
    drawn = [*groups, pinned] if pinned else groups
    values = np.array([time for one in drawn for time in (*one.measured, *one.predicted)])
    values = values if len(values) else np.array([1e-3, 1.0])
    low, high = values.min() / 1.4, values.max() * 1.4
    ends = np.array([low, high])
    figure = go.Figure()
    grey = colours.WEIGHTS
    figure.add_scatter(
        x=[*ends, *ends[::-1]],
        y=[*(ends * (1 + BAND)), *(ends[::-1] * (1 - BAND))],
        fill="toself",
        fillcolor=grey.faint(0.18),
        mode="lines",
        line={"width": 0},
        name=texts.band,
        hoverinfo="skip",
    )
    figure.add_scatter(
        x=ends,
        y=ends,
        mode="lines",
        line={"color": grey.colour, "width": 1.5},
        name=texts.diagonal,
        hoverinfo="skip",
    )
    named = set()
    for group in groups:
        symbol = group.look.marker + ("-open" if group.doubtful else "")
        # WebGL draws more dots faster, but prints badly and has a context too few on old phones.
        figure.add_scatter(
            x=np.asarray(group.measured, dtype=np.float32),
            y=np.asarray(group.predicted, dtype=np.float32),
            mode="markers",
            marker={
                "color": group.look.colour,
                "symbol": symbol,
                "size": 7,
                "opacity": 0.45 if group.doubtful else 0.6,
            },
            name=group.name,
            legendgroup=group.name,
            showlegend=group.name not in named,
            text=list(group.loads),
            hovertemplate=(
                f"{group.title}<br>%{{text}}<br>{texts.measured_axis} %{{x:.3s}}s, "
                f"{texts.predicted_axis} %{{y:.3s}}s<extra></extra>"
            ),
        )
        named.add(group.name)
    if pinned:
        figure.add_scatter(
            x=np.asarray(pinned.measured, dtype=np.float32),
            y=np.asarray(pinned.predicted, dtype=np.float32),
            mode="markers",
            marker={**_GHOST, "size": 9, "symbol": "circle-open"},
            name=texts.pinned,
            hoverinfo="skip",
        )
    axis = {
        "type": "log",
        "range": list(np.log10([low, high])),
        "tickvals": list(ticks[0]),
        "ticktext": list(ticks[1]),
        "minor": {"ticks": "outside", "dtick": "D1"},
        "showline": True,
        "ticks": "outside",
    }
    figure.update_layout(
        height=440,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        separators=separators,
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0, "title": None},
        xaxis={**axis, "title": texts.measured_axis},
        yaxis={**axis, "title": texts.predicted_axis},
    )
    return figure


def distribution(
    errors: Sequence[float],
    look: colours.Look,
    texts: Texts,
    separators: str,
    pinned: Sequence[float] | None = None,
) -> go.Figure:
    """Draw how often predicted / measured - 1 is how large; what lies beyond is in the end bins.

    Parameters
    ----------
    errors : sequence of float
    pinned : sequence of float, optional
        The errors of the selection that is pinned: a dotted outline.
    """
    edges = np.linspace(-WIDEST, WIDEST, BINS + 1)
    figure = go.Figure(
        go.Bar(
            x=(edges[:-1] + edges[1:]) / 2,
            y=_counts(errors, edges),
            width=edges[1] - edges[0],
            marker={"color": look.colour, "opacity": 0.7, "line": {"width": 0}},
            hovertemplate=f"%{{x:+.0%}}: %{{y}} {texts.counted}<extra></extra>",
        )
    )
    if pinned is not None:
        counts = _counts(pinned, edges)
        figure.add_scatter(
            x=edges,
            y=[*counts, counts[-1]],
            mode="lines",
            line={
                "shape": "hv", "dash": "dot", "width": 1.75, "color": colours.WEIGHTS.colour,
            },
            name=texts.pinned,
            hoverinfo="skip",
        )  # fmt: skip
    figure.add_vrect(x0=-BAND, x1=BAND, fillcolor=colours.WEIGHTS.faint(0.18), line_width=0)
    figure.add_vline(x=0, line={"color": colours.WEIGHTS.colour, "width": 1.5})
    figure.update_layout(
        height=240,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        separators=separators,
        showlegend=False,
        bargap=0,
        xaxis={
            "title": texts.error_axis,
            "tickvals": TICKS,
            "ticktext": [f"{tick:+.0%}".replace("-", "−") if tick else "0%" for tick in TICKS],
            "range": [-WIDEST, WIDEST],
        },
        yaxis={"title": texts.rows_axis},
    )
    return figure


def _counts(errors: Sequence[float], edges: np.ndarray) -> np.ndarray:
    inside = np.clip(errors, -WIDEST, WIDEST - 1e-9)
    return np.histogram(inside, edges)[0]
