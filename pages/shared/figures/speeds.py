"""Published speeds of one user, beside what the memory of the same chips would allow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pages.shared import colours
from pages.shared.figures.base import dots, heading, labels, layout, line, log_axis, row_axis
from pages.shared.player.view import Figure
from physics.published_speeds import Speed

NAME = "speeds"
LOWEST, HIGHEST = 10.0, 1e7
"""The speeds shown [tokens/s]."""

_ROW = 30  # pixels
LEFT = 205


@dataclass(frozen=True)
class Texts:
    """The words in the figure."""

    speed_axis: str
    bound: str
    single: str
    speculative: str


def figure(
    texts: Texts,
    speeds: Sequence[Speed],
    rows: Sequence[str],
    shares: Sequence[str],
    separators: str,
) -> Figure:
    """Return the whole figure: no slider moves it, so its numbers are no part of the table.

    Parameters
    ----------
    rows, shares : sequence of str
        The name of each speed, and what stands beside its dot; the first is on top.
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
    bound_ends = {"symbol": "line-ns", "size": 18, "line": {"width": 3, "color": roof}}
    one = {"color": measured, "symbol": "circle-open", "size": 12, "line": {"width": 2.5}}
    more = {"color": measured, "symbol": "diamond-open", "size": 13, "line": {"width": 2.5}}
    shown = labels("shares", colours.INK, "middle right")
    shown |= {
        "x": [speed.tokens_per_second * 1.3 for speed in speeds],
        "y": list(range(len(speeds))),
        "text": list(shares),
    }
    data = [
        line(texts.bound, {"color": roof, "width": 9}, opacity=0.55, hoverinfo="skip") | at(bounds),
        dots(texts.bound, {"color": roof, **bound_ends}) | at(ends),
        dots(texts.single, one) | at(told[0]),
        dots(texts.speculative, more) | at(told[1]),
        shown,
    ]
    legend = (
        f"<span style='color:{roof}'>▬</span> {texts.bound}<br>"
        f"○ {texts.single}   ◇ {texts.speculative}"
    )
    axis = log_axis(texts.speed_axis, LOWEST, HIGHEST)
    axis |= {
        "tickvals": [10.0**power for power in range(1, 8)],
        "ticktext": ["10", "100", "1k", "10k", "100k", "1M", "10M"],
    }
    return Figure(
        NAME,
        {
            "data": data,
            "layout": layout(
                axis,
                row_axis(rows),
                separators=separators,
                annotations=[heading(legend, LEFT - 10)],
                margin={"l": LEFT, "r": 24, "t": 46, "b": 48},
            ),
        },
        height=_ROW * len(rows) + 110,
        below=True,
    )
