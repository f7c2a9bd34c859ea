"""Designs against request rates: goodput, which design wins, and where two break even.

All designs and rates see the same requests (`traffic.Load`), so that a difference between them is
one of the designs and not of the dice. A run is finite: beyond what a design sustains the queue
grows to the end, so that goodput there falls further the more requests are simulated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from physics.errors import InputError
from physics.serving.design import Design
from physics.serving.result import Result
from physics.serving.simulation import Cancelled, simulate
from physics.serving.targets import Targets
from physics.serving.traffic import Load

Array = NDArray[np.float64]

ALIKE = 0.01
"""Goodputs closer than this share of the larger one count as equal."""


@dataclass(frozen=True, eq=False)
class Curve:
    """What one design does at each rate: arrays of shape (rates,).

    Attributes
    ----------
    rates : ndarray
        Requests that arrive [1/s].
    goodput : ndarray
        Requests that meet the targets [1/s].
    attainment : ndarray
        Share of the requests that meet them.
    throughput : ndarray
        Output tokens [1/s].
    ttft_p50, ttft_p99, itl_p50, itl_p99, tpot_p50, tpot_p99 : ndarray
        Percentiles [s].
    """

    rates: Array
    goodput: Array
    attainment: Array
    throughput: Array
    ttft_p50: Array
    ttft_p99: Array
    itl_p50: Array
    itl_p99: Array
    tpot_p50: Array
    tpot_p99: Array


def goodput_curve(
    design: Design,
    load: Load,
    *,
    rates: ArrayLike,
    targets: Targets,
    progress: Callable[[int, int], bool | None] | None = None,
) -> Curve:
    """Simulate a design at several rates.

    Parameters
    ----------
    progress : callable, optional
        Called with how many rates are done, and of how many; False cancels.

    Raises
    ------
    Cancelled
        If `progress` asked for it.

    Examples
    --------
    >>> from physics.catalogue import model
    >>> from physics.chips import chip
    >>> from physics.machine import machine
    >>> from physics.serving.design import colocated
    >>> from physics.serving.traffic import Fixed
    >>> load = Load(requests=200, prompt=Fixed(2048), output=Fixed(256))
    >>> curve = goodput_curve(colocated(model("llama-3.1-8b"), machine(chip("h100-sxm"))), load,
    ...                       rates=[2, 8, 32], targets=Targets(ttft=0.2, tpot=0.02))
    >>> curve.attainment.round(2).tolist()
    [1.0, 1.0, 0.02]
    """
    rates = np.atleast_1d(np.asarray(rates, dtype=float))
    rows = []
    for done, rate in enumerate(rates.tolist()):
        rows.append(_row(simulate(design, load.at(rate)), targets))
        if progress is not None and progress(done + 1, len(rates)) is False:
            raise Cancelled(f"cancelled after {done + 1} of {len(rates)} rates")
    return Curve(rates, *np.array(rows).T)


def _row(seen: Result, targets: Targets) -> tuple[float, ...]:
    ttft, itl, tpot = seen.ttft, seen.itl, seen.tpot
    return (
        seen.goodput(targets),
        seen.attainment(targets),
        seen.tokens_per_second,
        *(ttft.p50, ttft.p99, itl.p50, itl.p99, tpot.p50, tpot.p99),
    )


@dataclass(frozen=True, eq=False)
class Comparison:
    """Goodput of several designs on the same requests, each for one chip of its own.

    Attributes
    ----------
    rates : ndarray
        Requests that arrive, for all chips of a design together [1/s], shape (rates,).
    goodput_per_chip : ndarray
        Shape (designs, rates) [1/s].
    winner : ndarray of int
        Shape (rates,): the first design of the list that is as good as the best, so that the list
        goes from the simplest design to the most complicated one. -1 where none meets the targets.
    """

    designs: tuple[Design, ...]
    curves: tuple[Curve, ...]
    rates: Array
    goodput_per_chip: Array
    winner: NDArray[np.int64]

    def break_even(self, one: int, other: int) -> Array:
        """Rates at which a design overtakes another or is overtaken, between those computed [1/s].

        Where both are alike at several rates in between, the middle of that stretch.
        """
        mine, theirs = self.goodput_per_chip[one], self.goodput_per_chip[other]
        return crossings(self.rates, _signed(mine, theirs))


def compare(
    designs: Sequence[Design], load: Load, *, rates: ArrayLike, targets: Targets
) -> Comparison:
    """Simulate designs at the same rates, and find the simplest that is as good as the best.

    Designs may have different numbers of chips: their goodput is divided by them.
    """
    if not designs:
        raise InputError("designs", "must be at least 1")
    curves = tuple(goodput_curve(one, load, rates=rates, targets=targets) for one in designs)
    each = np.stack([curve.goodput / one.chips for curve, one in zip(curves, designs, strict=True)])
    best = each.max(axis=0)
    winner = np.where(best > 0, (each >= (1 - ALIKE) * best).argmax(axis=0), -1)
    return Comparison(tuple(designs), curves, curves[0].rates, each, winner)


def _signed(mine: Array, theirs: Array) -> Array:
    """Return the difference, 0 where it is within `ALIKE`."""
    difference = mine - theirs
    return np.where(np.abs(difference) <= ALIKE * np.maximum(mine, theirs), 0.0, difference)


def crossings(rates: Array, difference: Array) -> Array:
    """Where a difference changes its sign, on straight lines between the points.

    Examples
    --------
    >>> crossings(np.array([1.0, 2, 3, 4, 5]), np.array([1.0, 1, -1, 0, 2])).tolist()
    [2.5, 4.0]
    """
    told = np.flatnonzero(difference)
    found = []
    for before, after in pairwise(told):
        if difference[before] * difference[after] > 0:
            continue
        if after - before > 1:  # alike in between
            found.append((rates[before + 1] + rates[after - 1]) / 2)
            continue
        share = difference[before] / (difference[before] - difference[after])
        found.append(rates[before] + share * (rates[after] - rates[before]))
    return np.array(found)


def capacity(
    design: Design,
    load: Load,
    *,
    targets: Targets,
    share: float = 0.9,
    highest: float = 1e4,
    within: float = 0.02,
) -> float:
    """Return the highest rate at which a share of the requests meets the targets [1/s].

    The goodput of DistServe (arXiv 2401.09670: 90 %). Found by doubling, then halving the interval
    to `within` of the rate; 0 where not even requests that come one by one meet the targets.

    Examples
    --------
    >>> from physics.catalogue import model
    >>> from physics.chips import chip
    >>> from physics.machine import machine
    >>> from physics.serving.design import colocated
    >>> from physics.serving.traffic import Fixed
    >>> load = Load(requests=200, prompt=Fixed(2048), output=Fixed(256))
    >>> design = colocated(model("llama-3.1-8b"), machine(chip("h100-sxm")))
    >>> capacity(design, load, targets=Targets(ttft=0.01))
    0.0
    >>> 5 < capacity(design, load, targets=Targets(ttft=0.2, tpot=0.02)) < 20
    True
    """

    def suffices(rate: float) -> bool:
        return simulate(design, load.at(rate)).attainment(targets) >= share

    if not suffices(1e-3):
        return 0.0
    low, high = 1e-3, 1.0
    while high < highest and suffices(high):
        low, high = high, 2 * high
    high = min(high, highest)
    while high - low > within * high:
        middle = np.sqrt(low * high) if high > 2 * low else (low + high) / 2
        low, high = (middle, high) if suffices(middle) else (low, middle)
    return float(low)
