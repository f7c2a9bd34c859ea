"""Lines of equal TTFT and of equal TPOT over a chip's peak and its bandwidth."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from physics.sensitivity import Work

Array = NDArray[np.float64]


def isolines(work: Work, seconds: ArrayLike, knots: int = 6) -> tuple[Array, Array]:
    """Return the lines over (peak, bandwidth) on which a phase takes given times.

    On a ray of one ridge r = peak / bandwidth the busy time is S(r) / bandwidth, so that a line is
    known without any search: bandwidth = S(r) / (t - fixed time), peak = r bandwidth. All lines of
    a phase are the same one moved along the diagonal: an L whose arms stand where computing alone,
    or moving alone, takes all the time, and whose corner is where operators change their bound.

    Parameters
    ----------
    work : Work
        On a machine of peak and bandwidth one.
    seconds : array_like
        The times, shape (lines,) [s].
    knots : int
        Points of the corner: the first and the last stand at the ends of the arms, which go on
        upwards, and to the right, for ever. With six, straight lines between them in a log-log map
        stay within 6 % of the time.

    Returns
    -------
    peak, bandwidth : ndarray
        Shape (points, lines, knots) [FLOP/s], [B/s]; NaN where the fixed times alone take longer.

    Examples
    --------
    >>> from physics.catalogue import model
    >>> from physics.chips import chip
    >>> from physics.machine import machine
    >>> from physics.sensitivity import decode_work
    >>> unit = machine(chip("h100-sxm"), bandwidth=1.0, flops=1.0)
    >>> work = decode_work(model("llama-3.1-8b"), unit, prompt=2048, output=256, batch=1)
    >>> peak, bandwidth = isolines(work, [0.01])
    >>> (bandwidth[0, 0, [0, -1]] / 1e9).round(0).tolist(), float((peak[0, 0, 0] / 1e12).round(2))
    ([1616.0, 1530.0], 1.62)
    """
    ridges = _ridges(work, knots)
    needed = work.split(compute=ridges)[:2].sum(axis=0)  # (knots, points)
    left = np.asarray(seconds, dtype=float)[:, None] - work.link - work.launch  # (lines, points)
    left = np.where(left > 0, left, np.nan)
    bandwidth = needed[:, None] / left  # (knots, lines, points)
    peak = ridges[:, None] * bandwidth
    return np.moveaxis(peak, 0, -1).swapaxes(0, 1), np.moveaxis(bandwidth, 0, -1).swapaxes(0, 1)


def _ridges(work: Work, knots: int) -> Array:
    """Return ridges between which straight lines follow the corner best, shape (knots, points).

    From the lowest intensity of an operator to the highest, dense where the line bends: spaced
    evenly in the root of its second derivative.
    """
    both = (work.compute > 0) & (work.memory > 0) & (work.counts > 0)
    nothing = np.full_like(work.memory, np.nan)
    intensity = np.divide(work.compute, work.memory, out=nothing, where=both)
    low, high = np.nanmin(intensity, axis=(0, 1)), np.nanmax(intensity, axis=(0, 1))
    compute, memory = (ends.sum(axis=0) * work.counts for ends in (work.compute, work.memory))
    fine = np.geomspace(low, high, _FINE)
    needed = np.log(np.maximum(compute / fine[:, None], memory).sum(axis=1))
    density = np.zeros_like(needed)
    density[1:-1] = np.sqrt(np.abs(np.diff(needed, 2, axis=0)))
    density += 0.05 * density.max(axis=0) + 1e-12
    reached = np.cumsum((density[1:] + density[:-1]) / 2, axis=0)
    reached = np.concatenate([np.zeros((1, reached.shape[1])), reached / reached[-1]])
    levels, fine = np.linspace(0, 1, knots), np.log(fine)
    columns = [np.interp(levels, *pair) for pair in zip(reached.T, fine.T, strict=True)]
    return np.exp(np.stack(columns, axis=-1))


_FINE = 32
"""Ridges among which the knots are placed."""
