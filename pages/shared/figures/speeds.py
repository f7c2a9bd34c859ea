"""Published speeds of one user, beside what the memory of the same chips would allow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pages.shared import colours
from pages.shared.figures.base import dots, heading, labels, layout, line, log_axis
from pages.shared.player.view import Figure
from physics.published_speeds import Speed

NAME = "speeds"
LOWEST, HIGHEST = 1.0, 1e7
"""The speeds shown [tokens/s]."""

_ROW = 42  # pixels
_ABOVE = 0.42
"""How far above its bar a row's name stands, in rows."""


@dataclass(frozen=True)
class Texts:
    """The words in the figure."""

    title: str
    speed_axis: str
    bound: str
    single: str
    speculative: str


def figure(
    texts: Texts,
    speeds: Sequence[Speed],
    rows: Sequence[str],
    separators: str,
) -> Figure:
    """Return the whole figure: no slider moves it, so its numbers are no part of the table.

    Parameters
    ----------
    rows : sequence of str
        What stands over each speed's bar; the first is on top.
    """
    bounds, ends = [], []
    for row, speed in enumerate(speeds):
        low, high = speed.bound_in_a_row, speed.bound
        bounds += [(low, row), (high, row), (None, row)]
        ends += [(low, row), (high, row)]
    told = [
        [
            (speed.tokens_per_second, row)
            for row, speed in enumerate(speeds)
            if (speed.speculative == "yes") is some
        ]
        for some in (False, True)
    ]

    def at(points: Sequence[tuple[float | None, int]]) -> dict[str, Any]:
        return {
            "x": [x for x, _ in points],
            "y": [y for _, y in points],
            "customdata": [rows[y] for _, y in points],
        }

    measured, roof = colours.MEASURED.colour, colours.BANDWIDTH_ROOF.colour
    bound_ends = {"symbol": "line-ns", "size": 14, "line": {"width": 3, "color": roof}}
    one = {"color": measured, "symbol": "circle-open", "size": 12, "line": {"width": 2.5}}
    more = {"color": measured, "symbol": "diamond-open", "size": 13, "line": {"width": 2.5}}
    named = labels("rows", colours.INK, "middle right")
    named |= {
        "x": [LOWEST] * len(rows),
        "y": [row - _ABOVE for row in range(len(rows))],
        "text": list(rows),
    }
    data = [
        line(texts.bound, {"color": roof, "width": 9}, opacity=0.55, hoverinfo="skip") | at(bounds),
        dots(texts.bound, {"color": roof, **bound_ends}) | at(ends),
        dots(texts.single, one) | at(told[0]),
        dots(texts.speculative, more) | at(told[1]),
        named,
    ]
    legend = (
        f"<b>{texts.title}</b><br><span style='color:{roof}'>■</span> {texts.bound}<br>"
        f"○ {texts.single}   ◇ {texts.speculative}"
    )
    axis = log_axis(texts.speed_axis, LOWEST, HIGHEST)
    axis |= {
        "tickvals": [10.0**power for power in range(8)],
        "ticktext": ["1", "10", "100", "1k", "10k", "100k", "1M", "10M"],
    }
    return Figure(
        NAME,
        {
            "data": data,
            "layout": layout(
                axis,
                {"range": [len(rows) - 0.5, -0.9], "visible": False, "fixedrange": True},
                separators=separators,
                annotations=[heading(legend)],
                margin={"l": 16, "r": 24, "t": 62, "b": 48},
            ),
        },
        height=_ROW * len(rows) + 120,
        share=3.0,
        below=True,
    )
