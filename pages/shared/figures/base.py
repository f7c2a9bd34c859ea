"""What all figures share: axes, layout, and traces that wait for their numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from pages.shared.colours import INK

FONT_SIZE = 13


def layout(
    xaxis: Mapping[str, Any], yaxis: Mapping[str, Any], *, separators: str = ".,", **more: Any
) -> dict[str, Any]:
    """Return the layout of a quiet figure: the theme's paper and ink, no legend.

    Parameters
    ----------
    separators : str
        Decimal and thousands separator of the language.
    """
    return {
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"size": FONT_SIZE, "color": INK},
        "margin": {"l": 64, "r": 16, "t": 12, "b": 48},
        "showlegend": False,
        "hovermode": "closest",
        "dragmode": "zoom",
        "separators": separators,
        "xaxis": dict(xaxis),
        "yaxis": dict(yaxis),
        **more,
    }


def log_axis(title: str, low: float, high: float, **more: Any) -> dict[str, Any]:
    """Return a logarithmic axis from `low` to `high`, a tick a decade."""
    return {
        "type": "log",
        "title": {"text": title, "standoff": 8},
        "range": [float(np.log10(low)), float(np.log10(high))],
        "dtick": 1,
        "exponentformat": "SI",
        "zeroline": False,
        "showline": True,
        "ticks": "outside",
        **more,
    }


def linear_axis(title: str, low: float, high: float, **more: Any) -> dict[str, Any]:
    """Return a linear axis from `low` to `high`."""
    return {
        "title": {"text": title, "standoff": 8},
        "range": [low, high],
        "zeroline": False,
        "showline": True,
        "ticks": "outside",
        **more,
    }


def line(name: str, style: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """Return a line that waits for its numbers; every knot of it is drawn."""
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "line": {"simplify": False, **style},
        "x": [],
        "y": [],
        "hovertemplate": f"{name}<extra></extra>",
        **more,
    }


def dots(name: str, style: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """Return dots that wait for their numbers."""
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "marker": dict(style),
        "x": [],
        "y": [],
        "hovertemplate": "%{customdata}<extra></extra>",
        "customdata": [],
        **more,
    }


def labels(name: str, colour: str, position: str = "middle right", **more: Any) -> dict[str, Any]:
    """Return texts that stand in the figure and wait for their place."""
    return {
        "type": "scatter",
        "mode": "text",
        "name": name,
        "x": [],
        "y": [],
        "text": [],
        "textposition": position,
        "textfont": {"color": colour, "size": FONT_SIZE},
        "hoverinfo": "skip",
        "cliponaxis": False,
        **more,
    }


def heading(text: str, left: float = 0) -> dict[str, Any]:
    """Return an annotation above the figure, `left` pixels left of its axis: what colours mean."""
    return {
        "x": 0,
        "y": 1,
        # The word "paper" would be taken for the theme's colour.
        "xref": "x domain",
        "yref": "y domain",
        "xanchor": "left",
        "yanchor": "bottom",
        "xshift": -left,
        "showarrow": False,
        "align": "left",
        "text": text,
        "font": {"size": FONT_SIZE - 1, "color": INK},
    }


def row_axis(count: int, room: float = 0.6) -> dict[str, Any]:
    """Return a vertical axis with a row for each whole number, the first on top, names left out.

    Names stand in the figure, so that they are not cut on a narrow screen.

    Examples
    --------
    >>> row_axis(2)["range"]
    [1.6, -0.6]
    """
    return {
        "range": [count - 0.4, -room],
        "tickvals": list(range(count)),
        "showticklabels": False,
        "fixedrange": True,
        "zeroline": False,
    }


def channels(figure: str, traces: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Name the columns of a figure's traces, in the order of its skeleton.

    Examples
    --------
    >>> channels("roofline", [{"x": [[1.0]]}, {"y": [[2.0]]}])
    {'f/roofline/0/x': [[1.0]], 'f/roofline/1/y': [[2.0]]}
    """
    return {
        f"f/{figure}/{index}/{attribute}": column
        for index, trace in enumerate(traces)
        for attribute, column in trace.items()
    }


def columns_of(*arrays: Any) -> np.ndarray:
    """Put arrays of shape (points,), or single numbers, side by side: shape (points, columns).

    Examples
    --------
    >>> columns_of([1.0, 2.0], 5.0).tolist()
    [[1.0, 5.0], [2.0, 5.0]]
    """
    return np.stack(np.broadcast_arrays(*(np.asarray(array, dtype=float) for array in arrays)), -1)


def three_digits(values: Any) -> np.ndarray:
    """Round to three significant digits: less than a pixel on a log axis, and a smaller table.

    Examples
    --------
    >>> three_digits([123456.0, 0.0, 0.98765]).tolist()
    [123000.0, 0.0, 0.988]
    """
    values = np.asarray(values, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        grain = 10.0 ** (np.floor(np.log10(np.abs(values))) - 2)
        return np.where(values == 0, 0.0, np.round(values / grain) * grain)


def tenth_decade_above(value: Any) -> np.ndarray:
    """Return the tenth of a decade at or above a value: an axis that ends there moves seldom.

    Examples
    --------
    >>> tenth_decade_above([1.0, 1.19, 1.5]).round(2).tolist()
    [1.0, 1.26, 1.58]
    """
    return 10.0 ** (np.ceil(np.log10(value) * 10 - 1e-9) / 10)


def half_decade_below(value: Any) -> np.ndarray:
    """Return log10 of the half decade at or below a value."""
    return np.floor(np.log10(value) * 2) / 2


def half_decade_above(value: Any) -> np.ndarray:
    """Return log10 of the half decade at or above a value."""
    return np.ceil(np.log10(value) * 2) / 2


def spread(heights: np.ndarray, gap: float = 0.33) -> np.ndarray:
    """Move labels apart on a log axis: at least `gap` decades between neighbours.

    Parameters
    ----------
    heights : ndarray
        Shape (points, labels).

    Examples
    --------
    >>> spread(np.array([[100.0, 90.0, 1.0]]), gap=0.5).round(1).tolist()
    [[168.7, 53.3, 1.0]]
    """
    logs = np.log10(heights)
    order = np.argsort(logs, axis=-1)
    ranked = np.take_along_axis(logs, order, axis=-1)
    for _ in range(30):
        overlap = np.maximum(gap - np.diff(ranked, axis=-1), 0.0) / 2
        if not overlap.any():
            break
        ranked[:, :-1] -= overlap
        ranked[:, 1:] += overlap
    moved = np.empty_like(ranked)
    np.put_along_axis(moved, order, ranked, axis=-1)
    return 10.0**moved
