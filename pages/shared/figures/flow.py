"""One layer in time, in three lanes: when memory reads, when arithmetic runs, when both wait."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pages.shared import colours
from pages.shared.figures.base import (
    channels,
    columns_of,
    heading,
    labels,
    layout,
    linear_axis,
    tenth_decade_above,
)
from pages.shared.figures.parts import ACTIVATIONS
from pages.shared.player.view import Figure, Same
from physics.lanes import Lane

NAME = "flow"
MICRO = 1e-6
SHOWN = ("kernels", "fused", "streamed")
"""The ways of `physics.dataflow.LANES` that are drawn; a CUDA graph only has narrower gaps."""

# Heights within a lane, of which each takes one unit; the first lane stands on top.
_MEMORY, _COMPUTE, _LINK, _TITLE = 0.46, 0.19, 0.06, 0.72
_THICKNESS = {"memory": 0.32, "compute": 0.16, "link": 0.06}

_PIXELS = 560
"""Width that the bars have at least, and of a letter in them: a name is shown where it fits."""
_LETTER = 7.5


@dataclass(frozen=True)
class Texts:
    """The words in the figure."""

    time_axis: str
    stands_still: str
    weights: str
    kv_cache: str
    activations: str
    compute: str
    link: str

    def legend(self, *, link: bool) -> str:
        """Return the colours with their meaning, in two lines where they are many."""
        parts = [
            (colours.WEIGHTS.colour, self.weights),
            (colours.KV_CACHE.colour, self.kv_cache),
            (ACTIVATIONS, self.activations),
            (colours.COMPUTE_ROOF.colour, self.compute),
        ]
        if link:
            parts.append((colours.COMMUNICATION.colour, self.link))
        # The theme's ink is no colour that markup knows: the square without one is ink.
        coloured = [f"<span style='color:{colour}'>■</span> {name}" for colour, name in parts]
        coloured.append(f"■ {self.stands_still}")
        lines = (coloured[:3], coloured[3:]) if link else (coloured,)
        return "<br>".join("   ".join(some) for some in lines)


@dataclass(frozen=True)
class _Bars:
    """Bars of one colour: where they lie, where they begin, how long they are, what they are."""

    heights: list[float]
    names: list[str]
    starts: np.ndarray
    lengths: np.ndarray


def skeleton(texts: Texts, separators: str, *, link: bool) -> Figure:
    """Return the figure without numbers.

    Parameters
    ----------
    link : bool
        Whether chips exchange anything.
    """
    looks = [
        (texts.stands_still, colours.INK, "memory"),
        (texts.weights, colours.WEIGHTS.colour, "memory"),
        (texts.kv_cache, colours.KV_CACHE.colour, "memory"),
        (texts.activations, ACTIVATIONS, "memory"),
        (texts.compute, colours.COMPUTE_ROOF.colour, "compute"),
    ]
    if link:
        looks.append((texts.link, colours.COMMUNICATION.colour, "link"))
    data = [
        {
            "type": "bar",
            "orientation": "h",
            "name": name,
            "x": [],
            "base": [],
            "y": [],
            "width": _THICKNESS[row],
            "marker": {"color": colour, "line": {"width": 0}},
            "customdata": [],
            "hovertemplate": "%{customdata}<extra></extra>",
        }
        for name, colour, row in looks
    ]
    data += [
        labels("lanes", colours.INK, "middle right"),
        labels("operators", "#FFFFFF", "middle center", textfont={"color": "#FFFFFF", "size": 12}),
    ]
    return Figure(
        NAME,
        {
            "data": data,
            "layout": layout(
                linear_axis(texts.time_axis, 0, 1, fixedrange=True),
                {"range": [-0.05, len(SHOWN)], "visible": False, "fixedrange": True},
                separators=separators,
                barmode="overlay",
                annotations=[heading(texts.legend(link=link))],
                margin={"l": 12, "r": 16, "t": 44 if link else 30, "b": 48},
            ),
        },
        height=430,
        share=1.75,
    )


def columns(
    lanes: Sequence[Lane],
    titles: Sequence[list[str]],
    names: dict[str, str],
    short_names: dict[str, str],
    texts: Texts,
    *,
    link: bool,
    fits: np.ndarray,
) -> dict[str, Any]:
    """Return the numbers for every point.

    Parameters
    ----------
    lanes : sequence of Lane
        In the order of `SHOWN`.
    titles : sequence of list of str
        What stands over each lane: for each lane, one text a point.
    names, short_names : dict
        Names of the kernels, for hovering and inside the bars.
    fits : ndarray
        Where there are times at all.
    """
    ends = np.stack([lane.seconds for lane in lanes], axis=-1) / MICRO
    axis = tenth_decade_above(ends.max(axis=-1))
    # What is less than half a pixel is rounded away: the table is smaller by a third.
    grain = (10.0 ** (np.floor(np.log10(axis)) - 3))[:, None]

    def placed(bars: _Bars) -> dict[str, Any]:
        starts, lengths = (
            np.where(
                fits[:, None], np.round(np.stack(some, axis=-1) / MICRO / grain) * grain, np.nan
            )
            for some in (bars.starts, bars.lengths)
        )
        return {
            "x": lengths,
            "base": starts,
            "y": Same(bars.heights),
            "customdata": Same(bars.names),
        }

    count = len(lanes)
    still = _Bars(
        [_height(index, _MEMORY) for index in range(count)],
        [texts.stands_still] * count,
        np.zeros((count, len(axis))),
        np.stack([lane.seconds for lane in lanes]),
    )
    kinds = [
        ("weight_bytes", texts.weights),
        ("kv_bytes", texts.kv_cache),
        ("activation_bytes", texts.activations),
    ]
    bars = [still, *(_memory_bars(lanes, kind, text, names) for kind, text in kinds)]
    bars.append(_time_bars(lanes, "compute_seconds", _COMPUTE, names))
    if link:
        bars.append(_time_bars(lanes, "link_seconds", _LINK, names))
    title_heights = [_height(index, _TITLE) for index in range(count)]
    traces = [
        *(placed(some) for some in bars),
        {
            "x": Same([0.0] * count),
            "y": Same(title_heights),
            "text": [list(row) for row in zip(*titles, strict=True)],
        },
        _operator_names(lanes[0], short_names, axis, fits),
    ]
    return channels(NAME, traces) | {f"l/{NAME}/xaxis.range": columns_of(np.zeros_like(axis), axis)}


def _height(lane: int, within: float) -> float:
    return round(len(SHOWN) - 1 - lane + within, 3)


def _memory_bars(lanes: Sequence[Lane], kind: str, text: str, names: dict[str, str]) -> _Bars:
    """Draw what the memory moves of one kind: weights, then cache, then activations."""
    heights, called, starts, lengths = [], [], [], []
    for index, lane in enumerate(lanes):
        for name, start, length in _moved(lane, kind):
            heights.append(_height(index, _MEMORY))
            called.append(f"{names[name]}: {text}" if name else text)
            starts.append(start)
            lengths.append(length)
    return _Bars(heights, called, np.array(starts), np.array(lengths))


def _moved(lane: Lane, kind: str) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    kinds = ("weight_bytes", "kv_bytes", "activation_bytes")
    seconds = {name: getattr(lane, name) / lane.bandwidth for name in kinds}
    before = sum((seconds[name] for name in kinds[: kinds.index(kind)]), start=0.0)
    if lane.at_once:
        total = {name: part.sum(axis=0) for name, part in seconds.items()}
        ahead = sum((total[name] for name in kinds[: kinds.index(kind)]), start=0.0)
        yield "", lane.starts[0] + ahead, total[kind]
        return
    for row, name in enumerate(lane.names):
        if np.any(seconds[kind][row]):
            ahead = before[row] if np.ndim(before) else before
            yield name, lane.starts[row] + ahead, seconds[kind][row]


def _time_bars(lanes: Sequence[Lane], kind: str, within: float, names: dict[str, str]) -> _Bars:
    """Draw arithmetic, or the link: the link's part comes last in a kernel."""
    heights, called, starts, lengths = [], [], [], []
    for index, lane in enumerate(lanes):
        seconds = getattr(lane, kind)
        if lane.at_once:
            parts = [("", lane.starts[0], seconds.sum(axis=0))]
        else:
            after = (
                lane.busy_seconds - lane.link_seconds if kind == "link_seconds" else 0.0 * seconds
            )
            parts = [
                (name, lane.starts[row] + after[row], seconds[row])
                for row, name in enumerate(lane.names)
                if np.any(seconds[row])
            ]
        for name, start, length in parts:
            heights.append(_height(index, within))
            called.append(names.get(name, ""))
            starts.append(start)
            lengths.append(length)
    return _Bars(heights, called, np.array(starts), np.array(lengths))


def _operator_names(
    lane: Lane, short_names: dict[str, str], axis: np.ndarray, fits: np.ndarray
) -> dict[str, Any]:
    """Write the kernels' names into the bars of the first lane, where there is room."""
    rows = [row for row, name in enumerate(lane.names) if name in short_names]
    names = [short_names[lane.names[row]] for row in rows]
    width = (lane.memory_seconds[rows] / MICRO).T
    middle = (lane.starts[rows] / MICRO).T + width / 2
    needed = np.array([len(name) * _LETTER for name in names]) / _PIXELS
    shown = (width > needed * axis[:, None]) & fits[:, None]
    grain = (10.0 ** (np.floor(np.log10(axis)) - 3))[:, None]
    return {
        "x": np.where(shown, np.round(middle / grain) * grain, np.nan),
        "y": Same([_height(0, _MEMORY)] * len(rows)),
        "text": Same(names),
    }
