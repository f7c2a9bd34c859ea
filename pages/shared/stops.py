"""Where the sliders stop: curated values on a log scale, and finer ones to play."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pages.shared import numbers
from pages.shared.scenario import DEFAULTS, PAGE_OPTIONS, Scenario, own_figures, url_text
from physics.chips import chip
from physics.options import OPTIONS

if TYPE_CHECKING:
    from pages.shared.language import Words

_ALL_OPTIONS = OPTIONS | PAGE_OPTIONS
SLIDERS = ("prompt", "output", "batch", "bandwidth", "flops")
DENSE_COUNT = 240
DENSE_DIGITS = 4

# The steps within one octave or decade.
_OCTAVE = (2, (1.0, 1.5))
_TEN_A_DECADE = (10, (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0))
_SEVEN_A_DECADE = (10, (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0))
# First stop, last stop, series.
_RANGES = {
    "prompt": (16, 131_072, _OCTAVE),
    "output": (16, 8192, _OCTAVE),
    "batch": (1, 4096, _OCTAVE),
    "bandwidth": (50, 30_000, _TEN_A_DECADE),
    "flops": (2, 20_000, _SEVEN_A_DECADE),
    "rate": (0.1, 1000, _TEN_A_DECADE),
    "link": (0.5, 1000, _TEN_A_DECADE),
    "budget": (64, 16_384, _OCTAVE),
    "ttft_target": (10, 60_000, _TEN_A_DECADE),
    "itl_target": (1, 1000, _TEN_A_DECADE),
}
_ALSO = {"output": {1}}  # one token: the answer is what prefill emits


@dataclass(frozen=True)
class Stops:
    """The stops of one slider.

    Attributes
    ----------
    name : str
        The scenario option.
    values : tuple of float
        The values, rising.
    urls : tuple of str
        Each value as it stands in the URL; '' where it is the default and is left out.
    texts : tuple of str
        Each value with its unit, in the language.
    index : int
        Where the scenario's value stands.
    marks : tuple of int
        Where the chip's own value stands (bandwidth and flops only).
    """

    name: str
    values: tuple[float, ...]
    urls: tuple[str, ...]
    texts: tuple[str, ...]
    index: int
    marks: tuple[int, ...]


def slider_stops(name: str, scenario: Scenario, language: Words) -> Stops:
    """Return the curated stops of one slider, the scenario's and the chip's own value among them.

    Examples
    --------
    >>> from pages.shared.language import Words
    >>> stops = slider_stops("batch", Scenario(batch=5), Words("en"))
    >>> stops.values[:6], stops.texts[stops.index]
    ((1, 2, 3, 4, 5, 6), '5\\xa0sequences')
    """
    return _stops(name, scenario, language, _curated(name, _wanted(name, scenario)))


def dense_stops(name: str, scenario: Scenario, language: Words) -> Stops:
    """Return about 240 stops over the same range, for Play: fewer where fewer whole values exist.

    Examples
    --------
    >>> from pages.shared.language import Words
    >>> stops = dense_stops("batch", Scenario(), Words("en"))
    >>> len(stops.values) <= DENSE_COUNT, stops.values[:4]
    (True, (1, 2, 3, 4))
    """
    wanted = _wanted(name, scenario)
    curated = _curated(name, wanted)
    values = np.geomspace(curated[0], curated[-1], DENSE_COUNT - len(wanted))
    if _ALL_OPTIONS[name].whole:
        return _stops(name, scenario, language, {int(value) for value in np.round(values)} | wanted)
    rounded = {float(f"{value:.{DENSE_DIGITS}g}") for value in values}
    return _stops(name, scenario, language, rounded | wanted)


def _wanted(name: str, scenario: Scenario) -> set[float]:
    """Return the values that must be among the stops whatever the series says."""
    own = own_figures(chip(scenario.chip)).get(name)
    value = getattr(scenario, name)
    return {number for number in (own, value) if number is not None}


def _curated(name: str, wanted: set[float]) -> list[float]:
    first, last, series = _RANGES[name]
    # Upwards the series goes on as far as it takes; below its first stop only what is wanted.
    values = {stop for stop in _series(series, first, max(last, *wanted)) if stop >= first}
    values |= _ALSO.get(name, set()) | wanted
    if _ALL_OPTIONS[name].whole:
        return sorted({int(value) for value in values if value == int(value)})
    return sorted(values)


def _series(series: tuple[int, tuple[float, ...]], first: float, last: float) -> Iterator[float]:
    """Yield the values of a log series from the power at or below `first` to `last`."""
    base, steps = series
    for exponent in range(math.floor(math.log(first, base)), math.ceil(math.log(last, base)) + 1):
        for step in steps:
            value = float(f"{step * base**exponent:.12g}")
            if value <= last:
                yield value


def _stops(name: str, scenario: Scenario, language: Words, values: Iterable[float]) -> Stops:
    ordered = tuple(sorted(values))
    own = own_figures(chip(scenario.chip)).get(name)
    default = DEFAULTS[name] if own is None else own
    value = getattr(scenario, name)
    at_rest = default if value is None else value
    return Stops(
        name=name,
        values=ordered,
        urls=tuple("" if stop == default else url_text(stop) for stop in ordered),
        texts=tuple(stop_texts(name, ordered, language)),
        index=bisect_left(ordered, at_rest),
        marks=() if own is None else (bisect_left(ordered, own),),
    )


def stop_texts(name: str, values: Iterable[float], language: Words) -> list[str]:
    """Write values of a slider option with their unit.

    Examples
    --------
    >>> from pages.shared.language import Words
    >>> stop_texts("bandwidth", [3350.0], Words("it"))
    ['3,35\\xa0TB/s']
    """
    values = list(values)
    if name == "batch":
        return numbers.sequences(values, language)
    if name == "rate":
        return numbers.requests_per_second(values, language, trim=True)
    if name in ("ttft_target", "itl_target"):
        base_units = [value * 1e-3 for value in values]
        return numbers.seconds(base_units, language, trim=True)
    if name in ("bandwidth", "link"):
        base_units = [value * 1e9 for value in values]
        return numbers.bytes_per_second(base_units, language, digits=5, trim=True)
    if name == "flops":
        base_units = [value * 1e12 for value in values]
        return numbers.flop_per_second(base_units, language, digits=5, trim=True)
    return numbers.tokens(values, language)
