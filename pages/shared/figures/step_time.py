"""The time of one decode step over the batch, as stacked areas: who takes it, and from where on."""

from __future__ import annotations

from collections.abc import Sequence
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
    log_axis,
    tenth_decade_above,
    three_digits,
)
from pages.shared.player.view import Figure, Same
from physics.batching import PARTS

NAME = "step_time"
BATCHES = 2.0 ** (np.arange(21) * 0.6)
"""The batches at which the areas have their knots, up to where memory ends: five in three octaves,
so that 8, 64, 512 and 4,096 are among them."""
LARGEST = BATCHES[-1]
MILLI = 1e-3
ACTIVATIONS = "#BDBDBD"
LOOKS = {
    "weights": colours.WEIGHTS.colour,
    "kv_cache": colours.KV_CACHE.colour,
    "activations": ACTIVATIONS,
    "compute": colours.COMPUTE_ROOF.colour,
    "communication": colours.COMMUNICATION.colour,
    "launch": "ink-soft",
}
STACKED = ("launch", "weights", "kv_cache", "compute", "activations", "communication")
"""The parts from the bottom up: first what no batch changes."""
LEADERS = ("kv_cache", "compute", "activations", "communication")
"""The parts that can outgrow the weights."""

FREE_ROW, KNEE_ROW, WALL_ROW = 0.72, 0.85, 0.96
"""Heights of the brackets, as shares of the axis."""
ROOM_LEFT = 40.0
"""The batch from which on a label has room on the left."""
LEAST_SHARE = 0.035
"""The share of the step below which a part is not named."""


@dataclass(frozen=True)
class Texts:
    """The words in the figure."""

    batch_axis: str
    time_axis: str
    parts: dict[str, str]
    free: str
    knee: str
    wall: str
    here: str


@dataclass(frozen=True)
class Stretches:
    """Where the stretches end and begin, for every point [sequences].

    Attributes
    ----------
    free : ndarray
        The last batch of the nearly free stretch.
    knee : ndarray
        The first batch at which the weights no longer lead; infinite: nowhere.
    leader : ndarray of str
        The part that leads from there on.
    wall : ndarray
        The last batch that memory holds; 0: not even one sequence.
    """

    free: np.ndarray
    knee: np.ndarray
    leader: np.ndarray
    wall: np.ndarray


def stacked(*, links: bool, launches: bool) -> list[str]:
    """Return the parts that are drawn, from the bottom up.

    Examples
    --------
    >>> stacked(links=False, launches=True)
    ['launch', 'weights', 'kv_cache', 'compute', 'activations']
    """
    idle = {"communication": not links, "launch": not launches}
    return [name for name in STACKED if not idle.get(name)]


def skeleton(texts: Texts, names: Sequence[str], separators: str) -> Figure:
    """Return the figure without numbers; the y axis' range comes with them.

    Parameters
    ----------
    names : sequence of str
        The parts that are drawn, as `stacked` gives them.
    """
    ink, decode = colours.INK, colours.DECODE
    rule = {"width": 2}
    data = [
        line("full", {"color": "rgba(0,0,0,0)", "width": 0}, fill="toself",
             fillcolor="rgba(127,127,127,0.22)", hoverinfo="skip"),
        # Each area reaches down to zero, the tallest behind: what is seen of it is its part.
        *(
            line(
                texts.parts[name],
                {"color": LOOKS[name], "width": 0.5},
                fill="tozeroy",
                fillcolor=LOOKS[name],
                hoveron="fills",
            )
            for name in reversed(names)
        ),
        line(texts.free, {"color": decode.colour, **rule}),
        *(line(texts.knee, {"color": LOOKS[part], **rule}) for part in LEADERS),
        line(texts.wall, {"color": ink, **rule}),
        dots(
            texts.here,
            {**decode.point(17), "opacity": 1, "line": {"color": colours.PAPER, "width": 1.5}},
        ),
        labels("parts", ink, "middle right"),
        labels("stretches", ink, textposition=["middle left"] * 3),
    ]  # fmt: skip
    return Figure(
        NAME,
        {
            "data": data,
            "layout": layout(
                log_axis(texts.batch_axis, BATCHES[0], LARGEST, exponentformat="none"),
                linear_axis(texts.time_axis, 0, 30),
                separators=separators,
                margin={"l": 56, "r": 80, "t": 12, "b": 48},
            ),
        },
        height=430,
        share=1.15,
    )


def columns(
    batches: np.ndarray,
    parts: np.ndarray,
    stretches: Stretches,
    batch: np.ndarray,
    seconds: np.ndarray,
    names: Sequence[str],
    part_names: dict[str, str],
    texts: dict[str, list[str]],
) -> dict[str, Any]:
    """Return the numbers for every point.

    Parameters
    ----------
    batches : ndarray
        `BATCHES` up to where memory ends, shape (points, batches); NaN where nothing fits.
    parts : ndarray
        Seconds of each of `physics.batching.PARTS`, shape (parts, points, batches).
    batch, seconds : ndarray
        Where the scenario stands, shape (points,); NaN where it does not fit.
    names : sequence of str
        The parts that are drawn, as `stacked` gives them.
    texts : dict
        'free', 'knee' and 'wall': one label a point.
    """
    tops = np.cumsum(parts[[PARTS.index(name) for name in names]], axis=0) / MILLI
    end = tops[-1, :, -1]
    highest = tenth_decade_above(np.where(np.isnan(end), 1.0, end) * 1.3)
    unit = _round_below(highest[:, None] / 300)  # nothing finer is seen
    tops = np.round(tops / unit) * unit
    brackets = free, from_knee, full = _brackets(stretches)
    traces = [
        _full(stretches.wall, highest),
        *({"x": batches, "y": top} for top in tops[::-1]),
        free.trace(highest),
        *(from_knee.trace(highest, stretches.leader == part) for part in LEADERS),
        full.trace(highest),
        {
            "x": columns_of(batch),
            "y": columns_of(seconds / MILLI),
        },
        _part_labels(tops, batches[:, -1], highest, [part_names[name] for name in names]),
        _stretch_labels(brackets, highest, texts),
    ]
    return channels(NAME, traces) | {
        f"l/{NAME}/yaxis.range": columns_of(np.zeros_like(highest), highest),
    }


def _round_below(value: np.ndarray) -> np.ndarray:
    """Return the 1, 2 or 5 with zeros at or below a value."""
    decade = 10.0 ** np.floor(np.log10(value))
    return decade * np.select([value >= 5 * decade, value >= 2 * decade], [5.0, 2.0], 1.0)


def _full(wall: np.ndarray, highest: np.ndarray) -> dict[str, np.ndarray]:
    left = np.where(wall < LARGEST, np.maximum(wall, 1.0), np.nan)
    zero = np.zeros_like(highest)
    return {
        "x": columns_of(left, LARGEST, LARGEST, left),
        "y": columns_of(zero, zero, highest, highest),
    }


@dataclass(frozen=True)
class _Bracket:
    """A line above a stretch that hangs down to the axis at one edge.

    Attributes
    ----------
    edge, far : ndarray
        The batch at which it hangs, and the one up to which it reaches; NaN: there is none.
    row : float
        Its height as a share of the axis.
    """

    edge: np.ndarray
    far: np.ndarray
    row: float

    def trace(self, highest: np.ndarray, where: np.ndarray | bool = True) -> dict[str, np.ndarray]:
        edge = np.where(where, self.edge, np.nan)
        far = np.where(np.isnan(edge), np.nan, self.far)
        top = highest * self.row
        return {"x": columns_of(edge, edge, far), "y": columns_of(np.zeros_like(top), top, top)}

    def label(self) -> tuple[np.ndarray, list[str]]:
        """Return where its name stands, and how: beside the edge, or on the line.

        A stretch that begins at batch 1 has its name on it; before one that begins later there is
        room, if it does not begin too early.
        """
        beside = (self.far > self.edge) & (self.edge >= ROOM_LEFT)
        left = np.minimum(self.edge, self.far)
        place = np.where(beside, left / 1.07, left * 1.03)
        return place, np.where(beside, "middle left", "top right").tolist()


def _brackets(stretches: Stretches) -> list[_Bracket]:
    """Return the brackets: nearly free, from the knee on, from where memory is full."""
    wall, last = stretches.wall, np.minimum(stretches.wall, LARGEST)
    fits, one, free = wall >= 1, np.ones_like(last), np.minimum(stretches.free, last)
    return [
        _Bracket(np.where(fits & (free > 1), free, np.nan), one, FREE_ROW),
        _Bracket(np.where(fits & (stretches.knee <= last), stretches.knee, np.nan), last, KNEE_ROW),
        _Bracket(np.where(wall < LARGEST, np.maximum(wall, 1.0), np.nan), LARGEST * one, WALL_ROW),
    ]


def _part_labels(
    tops: np.ndarray, end: np.ndarray, highest: np.ndarray, names: Sequence[str]
) -> dict[str, Any]:
    """Name the parts at the right end of their areas."""
    last = tops[:, :, -1]
    below = np.concatenate([np.zeros_like(last[:1]), last[:-1]])
    middle, height = (last + below) / 2, last - below
    named = height >= LEAST_SHARE * last[-1]
    gap = 0.055 * highest
    places = np.full_like(middle, np.nan)
    lowest = np.full_like(highest, -np.inf)
    for row in range(len(names)):  # from the bottom up, each clear of the one below
        place = np.maximum(middle[row], lowest + gap)
        places[row] = np.where(named[row], place, np.nan)
        lowest = np.where(named[row], place, lowest)
    return {
        # Right of the end, but nothing is drawn beyond the axis.
        "x": np.repeat(
            three_digits(np.minimum(end * 1.1, 0.99 * LARGEST))[:, None], len(names), -1
        ),
        "y": three_digits(places.T),
        "text": Same(list(names)),
    }


def _stretch_labels(
    brackets: Sequence[_Bracket], highest: np.ndarray, texts: dict[str, list[str]]
) -> dict[str, Any]:
    """Name the stretches."""
    places, positions = zip(*(bracket.label() for bracket in brackets), strict=True)
    names = (texts["free"], texts["knee"], texts["wall"])
    return {
        "x": three_digits(columns_of(*places)),
        "y": three_digits(columns_of(*(highest * bracket.row for bracket in brackets))),
        "text": [list(row) for row in zip(*names, strict=True)],
        "textposition": [list(row) for row in zip(*positions, strict=True)],
    }
