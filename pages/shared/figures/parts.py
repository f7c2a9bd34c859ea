"""Where a step's time, bytes and FLOP go: bars of 100 % for prefill and decode."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pages.shared import colours
from pages.shared.figures.base import FONT_SIZE, channels, layout
from pages.shared.player.view import Figure
from physics.step import Step

NAME = "parts"
ACTIVATIONS = "#BDBDBD"


@dataclass(frozen=True)
class Group:
    """One pair of bars: its title and the parts that share them, with their colours."""

    title: str
    parts: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Texts:
    """The words in the figure."""

    time: str
    bytes: str
    flop: str
    prefill: str
    decode: str
    compute: str
    memory: str
    communication: str
    launch: str
    weights: str
    kv_cache: str
    activations: str
    linear: str
    attention: str

    def groups(self) -> list[Group]:
        """Return the three pairs of bars, top to bottom."""
        return [
            Group(
                self.time,
                [
                    (self.compute, colours.COMPUTE_ROOF.colour),
                    (self.memory, colours.BANDWIDTH_ROOF.colour),
                    (self.communication, colours.COMMUNICATION.colour),
                    (self.launch, colours.INK),
                ],
            ),
            Group(
                self.bytes,
                [
                    (self.weights, colours.WEIGHTS.colour),
                    (self.kv_cache, colours.KV_CACHE.colour),
                    (self.activations, ACTIVATIONS),
                ],
            ),
            Group(
                self.flop,
                [
                    (self.linear, colours.WEIGHTS.colour),
                    (self.attention, colours.KV_CACHE.colour),
                ],
            ),
        ]


# Heights of the bars on a plain axis: a pair each for time, bytes and FLOP, titles between them.
_PREFILL_AT = (8.0, 4.9, 1.8)
_DECODE_AT = (7.1, 4.0, 0.9)
_TITLE_AT = (8.95, 5.85, 2.75)


def skeleton(texts: Texts, separators: str, *, show_all: bool) -> Figure:
    """Return the figure without numbers.

    Parameters
    ----------
    show_all : bool
        Whether link and launch can take a share of the time and are named.
    """
    data, annotations = [], []
    for group, title_at in zip(texts.groups(), _TITLE_AT, strict=True):
        shown = group.parts if show_all or len(group.parts) != 4 else group.parts[:2]
        names = "  ".join(f"<span style='color:{colour}'>■</span> {name}" for name, colour in shown)
        annotations.append(
            {
                "x": 0,
                "y": title_at,
                "xanchor": "left",
                "yanchor": "bottom",
                "showarrow": False,
                "align": "left",
                "text": f"<b>{group.title}</b>  {names}",
                "font": {"size": FONT_SIZE - 1, "color": colours.INK},
                "xref": "paper",
                "xshift": -2,
            }
        )
        data += [
            {
                "type": "bar",
                "orientation": "h",
                "name": name,
                "marker": {"color": colour},
                "width": 0.78,
                "x": [],
                "y": [],
                "hovertemplate": f"{name}: %{{x:.1f}}%<extra></extra>",
            }
            for name, colour in group.parts
        ]
    ticks = {
        "tickvals": [*_PREFILL_AT, *_DECODE_AT],
        "ticktext": [texts.prefill] * 3 + [texts.decode] * 3,
    }
    return Figure(
        NAME,
        {
            "data": data,
            "layout": layout(
                {
                    "range": [0, 100],
                    "ticksuffix": "%",
                    "showgrid": False,
                    "fixedrange": True,
                    "zeroline": False,
                    "tickvals": [0, 50, 100],
                    "ticktext": ["0%", "50%", "100%"],
                },
                {
                    "range": [0.3, 9.8],
                    "showgrid": False,
                    "fixedrange": True,
                    "zeroline": False,
                    **ticks,
                },
                separators=separators,
                barmode="stack",
                annotations=annotations,
                margin={"l": 64, "r": 24, "t": 4, "b": 30},
                bargap=0,
            ),
        },
        height=430,
        share=1.25,
    )


def columns(prefill: Step, decode: Step, fits: np.ndarray) -> dict[str, Any]:
    """Return the shares for every point; none of the time where a point does not fit."""
    traces = []
    for parts, rows in zip(
        _shares(prefill, decode, fits), zip(_PREFILL_AT, _DECODE_AT, strict=True), strict=True
    ):
        traces += [{"x": part, "y": np.broadcast_to(rows, part.shape)} for part in parts]
    return channels(NAME, traces)


def _shares(prefill: Step, decode: Step, fits: np.ndarray) -> list[list[np.ndarray]]:
    """Return, for time, bytes and FLOP, each part's percentages in both phases: (points, 2)."""

    def percent(of_step: Any) -> list[np.ndarray]:
        both = [np.stack(of_step(step)) for step in (prefill, decode)]
        both = [100 * parts / parts.sum(axis=0) for parts in both]
        return list(np.stack(both, axis=-1))

    return [
        percent(lambda step: np.where(fits, step.seconds_by_bound, np.nan)),
        percent(lambda step: (step.weight_bytes, step.kv_bytes, step.activation_bytes)),
        percent(
            lambda step: (
                step.flop_by_operator[~step.is_attention].sum(axis=0),
                step.flop_by_operator[step.is_attention].sum(axis=0),
            )
        ),
    ]
