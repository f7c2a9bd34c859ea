"""Measured speeds of devices against one figure of their data sheets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pages.shared import colours
from pages.shared.figures.base import FONT_SIZE, labels, layout, line, log_axis
from pages.shared.figures.chip_map import PEAK_TICKS
from pages.shared.player.view import Figure
from physics.devices import FAMILIES, GDDR, Devices

SYMBOLS = dict(
    zip(FAMILIES, ("circle-open", "square-open", "diamond-open", "triangle-up-open"), strict=True)
)
_RANGES = {
    "bandwidth": (50e9, 3.5e12),
    "peak": (1.5e12, 1.1e15),
    "prefill": (60, 15_000),
    "decode": (7, 260),
}


@dataclass(frozen=True)
class Texts:
    """The words of one panel; `explained` says R² of all devices and of the cards alone."""

    title: str
    figure_axis: str
    speed_axis: str
    explained: str
    hover: Sequence[str]


def skeleton(
    devices: Devices,
    phase: str,
    figure: str,
    texts: Texts,
    names: Mapping[str, str],
    separators: str,
) -> Figure:
    """Return one panel, its numbers in it: no slider moves them.

    Parameters
    ----------
    phase : {'prefill', 'decode'}
    figure : {'bandwidth', 'peak'}
    names : mapping of str to str
        Devices named in the panel, and where the name stands.
    """
    look = colours.PREFILL if phase == "prefill" else colours.DECODE
    x, y = getattr(devices, figure), getattr(devices, phase)
    cards = devices.of(*GDDR)
    inside = getattr(cards, figure)
    data = [
        _fit(devices, phase, figure, x, {"color": colours.INK, "dash": "dot", "width": 1.5}),
        _fit(cards, phase, figure, inside, look.line(2.5)),
        {
            "type": "scatter",
            "mode": "markers",
            "name": phase,
            "x": x.tolist(),
            "y": y.tolist(),
            "marker": {
                "color": look.colour,
                "symbol": [SYMBOLS[family] for family in devices.families],
                "size": 9,
                "line": {"width": 2},
            },
            "customdata": list(texts.hover),
            "hovertemplate": "%{customdata}<extra></extra>",
        },
        {
            **labels("names", colours.INK, list(names.values())),
            "x": [float(x[devices.names.index(name)]) for name in names],
            "y": [float(y[devices.names.index(name)]) for name in names],
            "text": [f"  {_short(name)}  " for name in names],
            "textfont": {"color": colours.INK, "size": 10},
        },
    ]
    low, high = _RANGES[figure]
    ticks = PEAK_TICKS if figure == "peak" else {}
    slow, fast = _RANGES[phase]
    return Figure(
        f"measured_{phase}_{figure}",
        {
            "data": data,
            "layout": layout(
                log_axis(texts.figure_axis, low, high, **ticks),
                log_axis(texts.speed_axis, slow, fast),
                separators=separators,
                margin={"l": 58, "r": 12, "t": 44, "b": 44},
                annotations=[
                    {
                        "x": 0,
                        "y": 1,
                        "xref": "x domain",
                        "yref": "y domain",
                        "xanchor": "left",
                        "yanchor": "bottom",
                        "showarrow": False,
                        "align": "left",
                        "text": f"<b>{texts.title}</b><br>{texts.explained}",
                        "font": {"size": FONT_SIZE - 1, "color": colours.INK},
                    }
                ],
            ),
        },
        height=340,
        share=1.4,
        below=True,
    )


def _fit(
    devices: Devices, phase: str, figure: str, x: np.ndarray, style: Mapping[str, Any]
) -> dict[str, Any]:
    ends = np.array([x.min(), x.max()])
    fitted = devices.fit(phase, figure).at(ends)
    return {**line("fit", style, hoverinfo="skip"), "x": ends.tolist(), "y": fitted.tolist()}


def _short(name: str) -> str:
    return name.partition(" (")[0].removesuffix(" 80GB").removeprefix("Apple ")
