"""A pinned comparison of services as a ghost on the figures of the present one: dotted, open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from pages.shared import colours
from pages.shared.figures.serving import DESIGNS, PARTS, TAIL, Window
from physics.serving.result import Result

OPACITY = 0.6
WIDTH = 1.75


@dataclass(frozen=True)
class Ghost:
    """One design of the pinned comparison; `word` goes before the names of its traces."""

    kind: str
    word: str


def _dotted(colour: str) -> dict[str, object]:
    return {"color": colour, "width": WIDTH, "dash": "dot"}


def _open(colour: str, symbol: str, size: float) -> dict[str, object]:
    symbol = f"{symbol.removesuffix('-open')}-open"
    return {"color": colour, "symbol": symbol, "size": size, "line": {"width": WIDTH}}


def on_timeline(
    figure: go.Figure, seen: Result, window: Window, separate: float, ghost: Ghost
) -> None:
    """Draw the gaps of the same request in the pinned design, from its own arrival on.

    Parameters
    ----------
    separate : float
        Time from the left edge to the request's arrival [s].
    """
    request = min(window.request, len(seen) - 1)
    moments = seen.tokens_of(request)
    since = moments[1:] - float(seen.arrival[request]) + separate
    gaps = np.diff(moments)
    shown = (since >= 0) & (since <= window.end - window.start)
    colour = colours.DECODE.colour
    figure.add_scatter(
        x=since[shown],
        y=np.minimum(gaps[shown], 0.97 * window.top) * 1e3,
        mode="lines+markers",
        line=_dotted(colour),
        marker=_open(colour, "circle", 6),
        opacity=OPACITY,
        name=ghost.word,
        hoverinfo="skip",
        row=2,
        col=1,
    )


def on_tail(
    figure: go.Figure, values: Sequence[np.ndarray], ghosts: Sequence[Ghost], colour: str
) -> None:
    """Draw the pinned shares of times [s] that are longer, and widen the axis to hold them."""
    low, high = (10**edge for edge in figure.layout.xaxis.range)
    for one, ghost in zip(values, ghosts, strict=True):
        if not len(one):
            continue
        shares = np.geomspace(1.0, TAIL, 120)
        figure.add_scatter(
            x=np.quantile(one, 1 - shares),
            y=shares,
            mode="lines",
            line=_dotted(colour),
            opacity=OPACITY,
            name=ghost.word,
            showlegend=False,
            hoverinfo="skip",
        )
        marks = np.array([share for share, _ in PARTS])
        figure.add_scatter(
            x=np.quantile(one, 1 - marks),
            y=marks,
            mode="markers",
            marker=_open(colour, DESIGNS[ghost.kind].marker, 9),
            opacity=OPACITY,
            name=ghost.word,
            showlegend=False,
            hoverinfo="skip",
        )
        positive = one[one > 0]
        low = min(low, positive.min() / 1.15)
        high = max(high, positive.max() * 1.15)
    figure.update_xaxes(range=[float(np.log10(low)), float(np.log10(high))])


def on_goodput(
    figure: go.Figure,
    curves: Sequence[tuple[Ghost, np.ndarray, np.ndarray]],
    here: Sequence[tuple[float, float]],
) -> None:
    """Draw the pinned goodput against the rate, and where the pinned rate stands [1/s]."""
    top = float(figure.layout.yaxis.range[1])
    right = float(figure.layout.xaxis.range[1])
    for (ghost, rates, goodput), (rate, served) in zip(curves, here, strict=True):
        look = DESIGNS[ghost.kind]
        figure.add_scatter(
            x=rates,
            y=goodput,
            mode="lines",
            line=_dotted(look.colour),
            opacity=OPACITY,
            name=ghost.word,
            showlegend=False,
            hoverinfo="skip",
        )
        figure.add_scatter(
            x=[rate],
            y=[served],
            mode="markers",
            marker=_open(look.colour, look.marker, 11),
            opacity=OPACITY,
            name=ghost.word,
            showlegend=False,
            hoverinfo="skip",
        )
        top = max(top, float(np.max(goodput)) * 1.15)
        right = max(right, rate * 1.02)
    figure.update_yaxes(range=[0, top])
    figure.update_xaxes(range=[0, right])


def on_map(figure: go.Figure, place: tuple[float, float], word: str) -> None:
    """Mark where the pinned comparison stands between the map's columns and rows."""
    figure.add_scatter(
        x=[place[0]],
        y=[place[1]],
        mode="markers",
        marker={
            "symbol": "circle-open-dot",
            "size": 20,
            "color": "#FFFFFF",
            "line": {"width": WIDTH},
        },
        opacity=0.8,
        name=word,
        showlegend=False,
        hoverinfo="skip",
    )
