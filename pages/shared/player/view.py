"""What a page gives the player: a description of its parts and the numbers to draw.

A page's view is split in two. `View.describe` says what stands on the page (figure skeletons
without numbers, read-outs, sliders, words); it is sent once. `View.columns` gives the numbers of
every slider stop in one vectorised call; they travel as a table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

import numpy as np


@dataclass(frozen=True)
class Figure:
    """A figure skeleton: a Plotly figure whose numbers come from the table.

    Parameters
    ----------
    name : str
        Short name, used in channels such as ``f/<name>/0/x``.
    spec : mapping
        Plain Plotly JSON: ``data``, ``layout`` and optionally ``config``. The colours ``"ink"``
        and ``"paper"`` stand for the theme's text and background. Give every axis a range (or a
        channel for it): an axis left to autorange only follows when a drag comes to rest.
    height : int
        Height in CSS pixels.
    share : float
        Share of the row's width; figures wrap on narrow screens.
    below : bool
        Stands under the live sentence, not beside the first figure.
    """

    name: str
    spec: Mapping[str, Any]
    height: int = 400
    share: float = 1.0
    below: bool = False


@dataclass(frozen=True)
class Readout:
    """A large number beside the figures; its text is the slot ``t/<slot>``."""

    slot: str
    label: str
    colour: str = ""


@dataclass(frozen=True)
class Slider:
    """A slider's name (the scenario option it moves, or the clock), label and help."""

    name: str
    label: str
    help: str = ""


@dataclass(frozen=True)
class Sweep:
    """Play moves one of the scenario's sliders through densely spaced values."""

    sliders: tuple[str, ...]
    selected: str
    speeds: tuple[tuple[float, str], ...] = ((0.25, "¼×"), (0.5, "½×"), (1.0, "1×"))


@dataclass(frozen=True)
class Clock:
    """Play moves a clock, whose slider `clock` belongs to no scenario option."""

    clock: str = "time"
    speeds: tuple[tuple[float, str], ...] = ((1.0, "1×"),)


@dataclass(frozen=True)
class Section:
    """A titled block below the first screen, filled by the slot ``t/<slot>``.

    Or by ``html``, which is sent once: an element in it with ``data-slot="<slot>"`` shows the text
    of that slot, so that where only numbers move, only numbers travel.
    """

    title: str
    slot: str = ""
    html: str = ""


@dataclass(frozen=True)
class Description:
    """Everything on the page that the player holds, without its numbers.

    ``stream`` names a text slot that stands in running type under the figures, such as an answer
    as it is written; empty: none.
    ``words`` holds the visible words in the page's language: play, pause, step, reset, speed,
    sweep, waiting, failed; and of a figure's menu: menu (with {number}), png, svg, html, csv.
    """

    figures: Sequence[Figure]
    readouts: Sequence[Readout]
    sliders: Sequence[Slider]
    play: Sweep | Clock
    words: Mapping[str, str]
    sentence: str = "sentence"
    stream: str = ""
    sections: Sequence[Section] = ()

    def as_data(self) -> dict[str, Any]:
        """Give the description as plain JSON data for the browser."""
        return asdict(self)


@dataclass(frozen=True)
class Same:
    """A column whose value is the same at every point."""

    value: Any


@dataclass(frozen=True)
class Growing:
    """A column that grows: point ``i`` shows the first ``counts[i]`` of ``values``.

    For text slots the values are joined without a separator.
    """

    values: Sequence[Any] | np.ndarray
    counts: Sequence[int] | np.ndarray


Column = np.ndarray | Sequence[Any] | Same | Growing
"""One entry a point (first axis), or one of the two special kinds."""


@dataclass(frozen=True)
class Stops:
    """The stops of one slider.

    Any object with these attributes will do.

    Attributes
    ----------
    values : array of shape (n,)
        The numbers to compute with, ascending.
    urls : sequence of str
        The same values as they stand in the URL.
    texts : sequence of str
        The same values as they are shown, with their unit.
    index : int
        Where the scenario stands now.
    marks : sequence of int
        Stops that deserve a tick mark.
    """

    values: Any
    urls: Sequence[str]
    texts: Sequence[str]
    index: int
    marks: Sequence[int] = ()


@dataclass(frozen=True)
class Timeline:
    """What the clock's slider shows: its stops in seconds, their texts, and their columns."""

    seconds: Any
    texts: Sequence[str]
    columns: Mapping[str, Column]


class View(Protocol):
    """One page's contents.

    ``sliders`` names the scenario options that the page moves, in order. A view whose play is a
    `Clock` also has ``timeline(scenario, language) -> Timeline``.
    """

    name: str
    sliders: tuple[str, ...]

    def describe(self, scenario: Any, language: Any) -> Description:
        """Say what stands on the page, in the language."""
        ...

    def columns(self, points: Any, language: Any) -> Mapping[str, Column]:
        """Give every channel's value at each of the points, in one vectorised call.

        ``points`` is the scenario with each slider's option as an array of shape ``(n,)``.
        """
        ...


def has_player(view: View) -> bool:
    """Say whether a page's figures are the player's, which sliders move."""
    return hasattr(view, "describe")


@dataclass(frozen=True)
class House:
    """What the player needs from the rest of the project.

    Parameters
    ----------
    views : mapping of str to View
        The pages that have a player, by route name.
    parse : callable
        ``parse(query) -> (scenario, language)``; raises ValueError with what was wrong.
    query : callable
        ``query(scenario, language) -> dict[str, str]``, the canonical URL query.
    stops, dense_stops : callable
        ``stops(name, scenario, language) -> Stops``; dense ones are for play.
    points : callable
        ``points(scenario, arrays) -> points``: the scenario with every slider's option as an array
        of one length; options not among ``arrays`` are repeated.
    answers : mapping of str to callable
        ``answer(asked) -> dict``: what the player asks for once in a while, by route name.
    """

    views: Mapping[str, View]
    parse: Callable[[Mapping[str, str]], tuple[Any, Any]]
    query: Callable[[Any, Any], dict[str, str]]
    stops: Callable[[str, Any, Any], Any]
    dense_stops: Callable[[str, Any, Any], Any]
    points: Callable[[Any, Mapping[str, np.ndarray]], Any]
    answers: Mapping[str, Callable[[Mapping[str, str]], dict[str, Any]]] = field(
        default_factory=dict
    )
