"""What a time hangs on: how much faster a phase gets when one figure of the hardware grows.

The time of a step is piecewise simple in the figures of the machine,

.. math:: t = \\sum_i \\max(F_i / C, M_i / B) + L / l + s

with peak C, bandwidth B, link l, and the fixed times s: launches and the latency of all-reduces. So
the elasticities -d ln t / d ln C and so on are the shares of the time that each figure rules, and
they add up to one. They are exact up to the next operator that changes its bound; `Work.gain` says
what a larger change brings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from physics.architecture import Architecture
from physics.machine import Machine
from physics.request import linear_stretches
from physics.step import Step, decode, prefill

Array = NDArray[np.float64]

FIGURES = ("compute", "bandwidth", "link", "launch")
"""What the time is split by, in the order of every split; 'launch' is all that is fixed."""


@dataclass(frozen=True)
class Work:
    """One step, or the mean of several whose context grows: what `FIGURES` have to do for it.

    Attributes
    ----------
    compute, memory : ndarray
        Seconds of each operator at the first and at the last step of a stretch, linear in between:
        shape (2, rows, points), a row for each operator of each stretch.
    counts, starts : ndarray
        Steps of the stretch that a row belongs to, and steps before it, shape (rows, points).
    link, launch : ndarray
        Seconds on the link, and fixed ones, of a mean step, shape (points,).
    steps : ndarray
        All steps, shape (points,).
    """

    compute: Array
    memory: Array
    counts: Array
    starts: Array
    link: Array
    launch: Array
    steps: Array

    def split(
        self,
        *,
        compute: ArrayLike = 1.0,
        bandwidth: ArrayLike = 1.0,
        link: ArrayLike = 1.0,
        launch: ArrayLike = 1.0,
    ) -> Array:
        """Return the mean step's seconds that each of `FIGURES` rules, shape (4, ..., points).

        Parameters
        ----------
        compute, bandwidth, link, launch : array_like
            How many times as fast a figure is; they broadcast with (points,).
        """
        computing, moving = _ruled(
            self.compute / _rows(compute), self.memory / _rows(bandwidth), self.counts
        )
        parts = (
            computing.sum(axis=-2) / self.steps,
            moving.sum(axis=-2) / self.steps,
            self.link / np.asarray(link),
            self.launch / np.asarray(launch),
        )
        return np.stack(np.broadcast_arrays(*parts))

    @cached_property
    def parts(self) -> Array:
        """The mean step's seconds that each of `FIGURES` rules as it is, shape (4, points)."""
        return self.split()

    def seconds(self, **faster: ArrayLike) -> Array:
        """Return the mean step's time [s], with some figures so many times as fast."""
        return (self.split(**faster) if faster else self.parts).sum(axis=0)

    def elasticities(self) -> Array:
        """Return -d ln t / d ln x for each of `FIGURES`, shape (4, points); they add up to one.

        That of 'launch' is for fixed times that get shorter. Where two bounds of an operator are
        equal the elasticity jumps, and compute's side is given.
        """
        return self.parts / self.parts.sum(axis=0)

    def speedup(self, **faster: ArrayLike) -> Array:
        """Return how many times as fast the step is when figures are: old / new time."""
        return self.parts.sum(axis=0) / self.seconds(**faster)

    def gain(self, **faster: ArrayLike) -> Array:
        """Return by what share the step gets faster when figures grow: old / new time - 1.

        Examples
        --------
        >>> from physics.catalogue import model
        >>> from physics.chips import chip
        >>> from physics.machine import machine
        >>> work = decode_work(model("llama-3.1-8b"), machine(chip("h100-sxm")), prompt=2048,
        ...                    output=256, batch=1)
        >>> float(work.gain(bandwidth=1.1)[0].round(3)), float(work.gain(compute=1.1)[0].round(3))
        (0.1, 0.0)
        """
        return self.speedup(**faster) - 1.0

    def total_seconds(self, steps: ArrayLike) -> Array:
        """Return the time of the first so many steps [s].

        Parameters
        ----------
        steps : array_like
            From 0 to `Work.steps`; broadcasts with (points,).
        """
        steps = np.asarray(steps, dtype=float)
        within = np.clip(np.atleast_1d(steps)[..., None, :] - self.starts, 0.0, self.counts)
        share = (within - 1.0) / np.maximum(self.counts - 1.0, 1.0)

        def cut(ends: Array) -> Array:
            first, last = _ends(ends)
            end = np.where(within > 0, first + share * (last - first), first)
            return np.stack(np.broadcast_arrays(first, end), axis=-3)

        busy = sum(_ruled(cut(self.compute), cut(self.memory), within))
        return busy.sum(axis=-2) + steps * (self.link + self.launch)


def _ruled(compute: Array, memory: Array, count: Array) -> tuple[Array, Array]:
    """Return each row's seconds while computing takes longer, and while moving does.

    Computing leads moving by a straight line over the steps of a stretch, so it leads at its
    first k steps, or at its last k: the two sums over them are those of arithmetic series.

    Parameters
    ----------
    compute, memory : ndarray
        At the first and at the last step, shape (..., 2, rows, points).
    count : ndarray
        Steps of the stretch, shape (..., rows, points).
    """
    (c0, c1), (m0, m1) = _ends(compute), _ends(memory)
    lead0, lead1 = c0 - m0, c1 - m1
    gaps = np.maximum(count - 1.0, 1.0)
    slope = (lead1 - lead0) / gaps
    steep = np.where(slope == 0, 1.0, np.abs(slope))
    falls = (lead0 >= 0) & (lead1 < 0)
    rises = (lead0 < 0) & (lead1 >= 0)
    leading = np.where(lead0 >= 0, count, 0.0)
    leading = np.where(falls, np.minimum(np.floor(lead0 / steep) + 1.0, count), leading)
    leading = np.where(rises, count - np.ceil(-lead0 / steep), leading)

    def led(at_first: Array, at_last: Array) -> Array:
        rise = (at_last - at_first) / gaps
        start = np.where(rises, at_last, at_first)
        rise = np.where(rises, -rise, rise)
        return leading * start + rise * leading * (leading - 1.0) / 2

    moved = (m0 + (m1 - m0) / gaps * (count - 1.0) / 2) * count
    return led(c0, c1), moved - led(m0, m1)


def prefill_work(
    architecture: Architecture,
    machine: Machine,
    *,
    prompt: ArrayLike,
    batch: ArrayLike,
    weights: str = "bf16",
    kv: str = "bf16",
) -> Work:
    """Return the work of the prefill: its time is the TTFT.

    Examples
    --------
    >>> from physics.catalogue import model
    >>> from physics.chips import chip
    >>> from physics.machine import machine
    >>> work = prefill_work(model("llama-3.1-8b"), machine(chip("h100-sxm")), prompt=2048, batch=1)
    >>> round(float(work.seconds()[0]) * 1e3, 1), work.elasticities()[:2, 0].round(2).tolist()
    (30.3, [0.99, 0.01])
    """
    formats = {"weights": weights, "kv": kv}
    one = prefill(architecture, machine, batch=batch, prompt=prompt, **formats)
    return _work([(one, one, np.ones(1))])


def decode_work(
    architecture: Architecture,
    machine: Machine,
    *,
    prompt: ArrayLike,
    output: ArrayLike,
    batch: ArrayLike,
    weights: str = "bf16",
    kv: str = "bf16",
) -> Work:
    """Return the work of the decode steps of an answer: its mean time is the TPOT.

    For a single output token, which no decode step writes, it is that of the step that would
    follow.

    Examples
    --------
    >>> from physics.catalogue import model
    >>> from physics.chips import chip
    >>> from physics.machine import machine
    >>> work = decode_work(model("llama-3.1-8b"), machine(chip("h100-sxm")), prompt=2048,
    ...                    output=256, batch=1)
    >>> round(float(work.seconds()[0]) * 1e3, 2), work.elasticities()[:2, 0].round(2).tolist()
    (4.57, [0.0, 1.0])
    """
    prompt, output, batch = (np.asarray(value, dtype=float) for value in (prompt, output, batch))
    prompt, steps, batch = np.broadcast_arrays(prompt, np.maximum(output - 1.0, 1.0), batch)
    formats = {"weights": weights, "kv": kv}
    stretches = []
    for start, count in linear_stretches(architecture, prompt, steps):
        if not np.any(count):
            continue
        last = start + np.maximum(count, 1.0) - 1.0
        first = decode(architecture, machine, batch=batch, context=start, **formats)
        same = np.array_equal(start, last)
        end = first if same else decode(architecture, machine, batch=batch, context=last, **formats)
        stretches.append((first, end, count))
    return _work(stretches)


def _work(stretches: Sequence[tuple[Step, Step, Array]]) -> Work:
    """Put the operators of all stretches into one list of rows."""
    points = stretches[0][0].seconds_sum.size
    counts = [np.broadcast_to(np.ravel(count), (points,)) for _, _, count in stretches]
    steps = sum(counts, start=np.zeros(points))

    def rows(name: str) -> Array:
        ends = [
            [getattr(step, name).reshape(-1, points) for step in (first, last)]
            for first, last, _ in stretches
        ]
        return np.concatenate([np.stack(pair) for pair in ends], axis=1)

    one = stretches[0][0]
    link = one.link_seconds.sum(axis=0)
    fixed = (one.communication_seconds - one.link_seconds + one.launch_seconds).sum(axis=0)
    operators = len(one.names)
    return Work(
        compute=rows("compute_seconds"),
        memory=rows("memory_seconds"),
        counts=np.repeat(np.stack(counts), operators, axis=0),
        starts=np.repeat(np.cumsum(counts, axis=0) - counts, operators, axis=0),
        # Neither depends on the context: every step of an answer has the same.
        link=np.broadcast_to(np.ravel(link), (points,)),
        launch=np.broadcast_to(np.ravel(fixed), (points,)),
        steps=steps,
    )


def _rows(factor: ArrayLike) -> Array:
    """Make room for the ends and the rows in a factor that broadcasts with (points,)."""
    factor = np.asarray(factor, dtype=float)
    return factor if factor.ndim == 0 else factor[..., None, None, :]


def _ends(array: Array) -> tuple[Array, Array]:
    """Return the first and the last steps of stretches: shape (..., rows, points) each."""
    return array[..., 0, :, :], array[..., 1, :, :]
