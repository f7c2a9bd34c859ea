"""What a change of TTFT and TPOT is made of: from one scenario to another, part by part."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from physics.batching import PARTS, seconds_by_part
from physics.request import Request
from physics.step import Step

Array = NDArray[np.float64]

CAUSES = (*PARTS[:4], "bandwidth", "peak", *PARTS[4:])
"""What a change of time is charged to, in the order of `PhaseChange.effects`.

Weights, KV cache and activations are traffic, compute is arithmetic; bandwidth and peak are the
speeds at which they are worked off; then links and launches.
"""


@dataclass(frozen=True)
class PhaseChange:
    """How the time of one phase changes, and why.

    Attributes
    ----------
    before, after : ndarray
        The time in both scenarios [s].
    parts : ndarray
        By how much each of `PARTS` changes [s], shape (6, points); they add up to the change.
    effects : ndarray
        The same change charged to each of `CAUSES` [s], shape (8, points); it adds up as well.
    ratios : ndarray
        After ÷ before of what each cause counts: bytes of weights, of KV cache and of activations,
        FLOP, memory bandwidth and FLOP/s of all chips, seconds on the links, seconds of launches.
        Shape (8, points); 1 where both are nothing, infinite where only the first is.
    shares : ndarray
        Share of each of `PARTS` in the time before, shape (6, points).
    bound_before, bound_after : ndarray of str
        What binds the phase: one of `physics.step.BOUNDS`.
    """

    before: Array
    after: Array
    parts: Array
    effects: Array
    ratios: Array
    shares: Array
    bound_before: NDArray[np.str_]
    bound_after: NDArray[np.str_]

    @property
    def seconds(self) -> Array:
        """The whole change [s]."""
        return self.after - self.before

    @property
    def ratio(self) -> Array:
        """Time after ÷ time before."""
        return self.after / self.before


@dataclass(frozen=True)
class Change:
    """What happens to a request between two scenarios.

    Attributes
    ----------
    ttft, tpot : PhaseChange
        Of the time to first token, and of the time per output token (NaN where there is none).
    """

    ttft: PhaseChange
    tpot: PhaseChange


def change(before: Request, after: Request) -> Change:
    """Say what makes TTFT and TPOT differ between two requests.

    The mean over all decode steps is charged in the proportions of the step in the middle.

    Parameters
    ----------
    before, after : Request
        Of one shape, or shapes that broadcast; models and machines may differ.

    Examples
    --------
    Twice the batch reads twice the KV cache, and the same weights:

    >>> from physics.catalogue import model
    >>> from physics.chips import chip
    >>> from physics.machine import machine
    >>> from physics.request import request
    >>> one, two = (request(model("llama-3.1-8b"), machine(chip("h100-sxm")), prompt=2048,
    ...                     output=256, batch=batch) for batch in (32, 64))
    >>> tpot = change(one, two).tpot
    >>> round(float(tpot.ratio), 2)
    1.38
    >>> dict(zip(PARTS, (tpot.parts * 1e3).round(2).tolist()))["kv_cache"]
    2.73
    >>> [round(float(ratio), 2) for ratio in tpot.ratios[:2]]
    [1.0, 2.0]
    """
    return Change(
        ttft=_between(before.prefill, before.ttft_seconds, after.prefill, after.ttft_seconds),
        tpot=_between(before.decode, before.tpot_seconds, after.decode, after.tpot_seconds),
    )


def _between(first: Step, first_seconds: Array, last: Step, last_seconds: Array) -> PhaseChange:
    points = np.broadcast_shapes(first_seconds.shape, last_seconds.shape)
    before, after = (
        _at_all(points, seconds_by_part(step) * (seconds / step.seconds_sum))
        for step, seconds in ((first, first_seconds), (last, last_seconds))
    )
    moved = (_memory_rate(first), _memory_rate(last))
    done = (_compute_rate(first), _compute_rate(last))
    works, speeds = [], []
    for part in range(4):
        rates = done if PARTS[part] == "compute" else moved
        work, speed = _work_and_speed(before[part], after[part], *rates)
        works.append(work)
        speeds.append(speed)
    parts = after - before
    return PhaseChange(
        before=np.broadcast_to(first_seconds, points),
        after=np.broadcast_to(last_seconds, points),
        parts=parts,
        effects=np.stack([*works, sum(speeds[:3]), speeds[3], parts[4], parts[5]]),
        ratios=np.stack(
            [
                np.broadcast_to(_ratio(a, b), points)
                for a, b in (
                    (first.weight_bytes, last.weight_bytes),
                    (first.kv_bytes, last.kv_bytes),
                    (first.activation_bytes, last.activation_bytes),
                    (first.flop, last.flop),
                    moved,
                    done,
                    (first.totals[2], last.totals[2]),
                    (first.totals[3], last.totals[3]),
                )
            ]
        ),
        shares=before / before.sum(axis=0),
        bound_before=np.broadcast_to(first.bound, points),
        bound_after=np.broadcast_to(last.bound, points),
    )


def _at_all(points: tuple[int, ...], parts: Array) -> Array:
    """Repeat parts of shape (n, ...) at all points: shape (n, *points)."""
    missing = len(points) - (parts.ndim - 1)
    shape = (len(parts), *(1 for _ in range(missing)), *parts.shape[1:])
    return np.broadcast_to(parts.reshape(shape), (len(parts), *points))


def _memory_rate(step: Step) -> Array:
    """Bytes that all chips move in a second of memory time [B/s]."""
    return step.bytes / step.totals[1]


def _compute_rate(step: Step) -> Array:
    """FLOP that all chips do in a second of arithmetic [FLOP/s]."""
    return step.flop / step.totals[0]


def _work_and_speed(
    before: Array, after: Array, rate_before: Array, rate_after: Array
) -> tuple[Array, Array]:
    """Split the change of a time = work ÷ rate into that of its work and that of its rate [s].

    Each is taken at the mean of the other (Shapley), so that both add up to the change:

    .. math:: \\Delta(w s) = \\Delta w\\,\\bar s + \\bar w\\,\\Delta s, \\quad s = 1 / rate
    """
    work_before, work_after = before * rate_before, after * rate_after
    slow_before, slow_after = 1.0 / rate_before, 1.0 / rate_after
    return (
        (work_after - work_before) * (slow_before + slow_after) / 2,
        (work_before + work_after) / 2 * (slow_after - slow_before),
    )


def _ratio(before: Array, after: Array) -> Array:
    before, after = np.broadcast_arrays(before, after)
    nothing = np.where(after > 0, np.inf, 1.0)
    return np.divide(after, before, out=nothing, where=before > 0)
