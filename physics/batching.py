"""What batching does to a decode step: where its time goes, and how far it is nearly free.

All sequences of a batch share one reading of the weights; each brings a KV cache of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from physics.architecture import Architecture
from physics.errors import InputError
from physics.machine import Machine
from physics.step import Step, decode

Array = NDArray[np.float64]

PARTS = ("weights", "kv_cache", "activations", "compute", "communication", "launch")
"""What takes the time of a step, in the order of `seconds_by_part`."""

LARGEST_BATCH = 2**20
"""The batch at which searches end."""

BATCHES = np.geomspace(1, LARGEST_BATCH, 161)
"""The batches between which bytes of weights are interpolated: eight an octave."""


def seconds_by_part(step: Step) -> Array:
    """Split the time of a step by what takes it; the parts add up to `seconds_sum` [s].

    An operator that waits for memory is charged to what it moves, in proportion to the bytes:
    weights, KV cache, activations. One that waits for arithmetic is charged to compute, with all
    that it moves meanwhile. Links and launches come on top.

    Parameters
    ----------
    step : Step
        Its arrays have shape (operators, *points).

    Returns
    -------
    ndarray
        Shape (6, *points), in the order of `PARTS`.

    Examples
    --------
    >>> from physics.catalogue import model
    >>> from physics.chips import chip
    >>> from physics.machine import machine
    >>> step = decode(model("llama-3.1-8b"), machine(chip("h100-sxm")), batch=64, context=2048)
    >>> parts = dict(zip(PARTS, seconds_by_part(step) * 1e3))
    >>> [round(float(parts[name]), 2) for name in ("weights", "kv_cache", "compute")]
    [4.48, 5.13, 0.0]
    """
    waits = step.memory_seconds > step.compute_seconds
    moved = step.bytes_by_operator
    seconds = np.where(waits, step.memory_seconds, 0.0)
    each = np.divide(seconds, moved, out=np.zeros_like(moved), where=moved > 0)
    carried = (
        step.weight_bytes_by_operator,
        step.kv_bytes_by_operator,
        step.activation_bytes_by_operator,
    )
    return np.stack(
        [
            *((each * part).sum(axis=0) for part in carried),
            np.where(waits, 0.0, step.compute_seconds).sum(axis=0),
            step.communication_seconds.sum(axis=0),
            step.launch_seconds.sum(axis=0),
        ]
    )


@lru_cache(maxsize=256)
def _weight_bytes_read(architecture: Architecture, *, weights: str, tp: int) -> Array:
    """Bytes of weights that a decode step reads on all chips, at `BATCHES` [B]."""
    return decode(architecture, _unit(tp), batch=BATCHES, context=0, weights=weights).weight_bytes


def _unit(tp: int) -> Machine:
    return Machine(peak=1.0, attention_peak=1.0, bandwidth=1.0, capacity=np.inf, link=np.inf, tp=tp)


def kv_overtakes_weights_batch(
    architecture: Architecture,
    *,
    context: ArrayLike,
    weights: str = "bf16",
    kv: str = "bf16",
    tp: int = 1,
) -> Array:
    """Batch from which on a decode step moves more bytes of KV cache than of weights.

    .. math:: B = \\frac{W(B)}{kv(S)}

    with W(B) the bytes of weights that a step of batch B reads (all of a dense model's, those of
    the experts touched otherwise) and kv(S) the cache traffic of one sequence with S cached tokens.
    Exact for dense models, interpolated between eight batches an octave for experts.

    Returns
    -------
    ndarray
        Shape of `context`; less than 1 is given as 1, and infinity where no batch up to 2^20 does.

    Examples
    --------
    >>> from physics.catalogue import model
    >>> round(float(kv_overtakes_weights_batch(model("llama-3.1-8b"), context=2048)), 1)
    55.9
    """
    context = np.asarray(context, dtype=float)
    each = decode(architecture, _unit(tp), batch=1, context=context, kv=kv).kv_bytes
    read = _weight_bytes_read(architecture, weights=weights, tp=tp)
    # Weights for each sequence fall as the batch grows; interpolation wants a rising order.
    shared = np.log(read / BATCHES)[::-1]
    with np.errstate(divide="ignore"):
        wanted = np.log(each)
    logs = np.log(BATCHES)[::-1]
    return np.exp(np.interp(wanted, shared, logs, left=np.inf, right=0.0))


def user_tokens_per_second(step: Step) -> Array:
    """Speed that each user of a decode step sees: a token a step [token/s].

    Examples
    --------
    >>> from physics.catalogue import model
    >>> from physics.chips import chip
    >>> from physics.machine import machine
    >>> one = decode(model("llama-3.1-8b"), machine(chip("h100-sxm")), batch=1, context=2048)
    >>> round(float(user_tokens_per_second(one)))
    219
    """
    return 1.0 / step.seconds_sum


def system_tokens_per_second(step: Step, batch: ArrayLike) -> Array:
    """Tokens that decode steps of `batch` sequences yield, one a sequence and step [token/s].

    Decode alone: `request.Request.tokens_per_second_system` has the prefill in it as well.

    Examples
    --------
    >>> from physics.catalogue import model
    >>> from physics.chips import chip
    >>> from physics.machine import machine
    >>> many = decode(model("llama-3.1-8b"), machine(chip("h100-sxm")), batch=64, context=2048)
    >>> round(float(system_tokens_per_second(many, 64)), -1)
    6590.0
    """
    return np.asarray(batch, dtype=float) / step.seconds_sum


def chip_tokens_per_second(step: Step, batch: ArrayLike) -> Array:
    """Share of one chip in `system_tokens_per_second` [token/s]: what makes setups comparable."""
    return system_tokens_per_second(step, batch) / np.asarray(step.machine.tp)


def nearly_free_batch(
    architecture: Architecture,
    machine: Machine,
    *,
    context: ArrayLike,
    slower: float = 0.1,
    weights: str = "bf16",
    kv: str = "bf16",
) -> Array:
    """Largest batch whose decode step takes at most `slower` (a share) longer than batch 1's.

    A step never gets faster as the batch grows, so the limit is found by narrowing down.

    Parameters
    ----------
    machine : Machine
        Its figures broadcast with `context`.
    slower : float
        0.1 allows each user a wait a tenth longer for each token.

    Returns
    -------
    ndarray
        Whole numbers, at least 1; `LARGEST_BATCH` where even that is within the limit. Memory is
        not asked.

    Examples
    --------
    >>> from physics.catalogue import model
    >>> from physics.chips import chip
    >>> from physics.machine import machine
    >>> h100 = machine(chip("h100-sxm"))
    >>> nearly_free_batch(model("llama-3.1-8b"), h100, context=[128, 2048, 32768]).tolist()
    [68.0, 6.0, 1.0]
    """
    if not 0 <= slower < np.inf:
        raise InputError("slower", "must be a share of at least 0")
    how = {"context": np.asarray(context, dtype=float), "weights": weights, "kv": kv}
    limit = decode(architecture, machine, batch=1, **how).seconds_sum * (1 + slower)
    return _last_batch(
        lambda batch: decode(architecture, machine, batch=batch, **how).seconds_sum <= limit,
        np.shape(limit),
    )


@dataclass(frozen=True)
class Knee:
    """Where something else takes more of a decode step than reading the weights.

    Attributes
    ----------
    batch : ndarray
        The smallest such batch, a whole number; infinite where none up to `LARGEST_BATCH` is.
    part : ndarray of str
        What takes most there: 'kv_cache', 'activations', 'compute' or 'communication'.
    """

    batch: Array
    part: NDArray[np.str_]


def knee(
    architecture: Architecture,
    machine: Machine,
    *,
    context: ArrayLike,
    weights: str = "bf16",
    kv: str = "bf16",
) -> Knee:
    """Find the batch from which on the weights, shared by all, are no longer the largest part.

    Times that no batch changes (launches, the latency of an all-reduce) are left out. Where links
    and activations stay small, it is about the smaller of two well known batches: where the KV
    cache of all sequences outgrows the weights (`kv_overtakes_weights_batch`), or where the linear
    layers reach the ridge (the critical batch, `frontier.linear_crossing_batch`).

    Parameters
    ----------
    machine : Machine
        Its figures broadcast with `context`.

    Examples
    --------
    >>> from physics.catalogue import model
    >>> from physics.chips import chip
    >>> from physics.machine import machine
    >>> found = knee(model("llama-3.1-8b"), machine(chip("h100-sxm")), context=[128, 2048])
    >>> found.batch.tolist(), found.part.tolist()
    ([322.0, 56.0], ['compute', 'kv_cache'])
    """
    how = {"context": np.asarray(context, dtype=float), "weights": weights, "kv": kv}
    efficiency = replace(machine.efficiency, launch_seconds=0.0, all_reduce_seconds=0.0)
    growing = replace(machine, efficiency=efficiency)

    def parts(batch: ArrayLike) -> Array:
        return seconds_by_part(decode(architecture, growing, batch=batch, **how))

    def weights_lead(batch: Array) -> NDArray[np.bool_]:
        seconds = parts(batch)
        return seconds[0] >= seconds[1:].max(axis=0)

    last = _last_batch(weights_lead, parts(1).shape[1:])
    found = np.minimum(last + 1, LARGEST_BATCH)
    return Knee(
        batch=np.where(last < LARGEST_BATCH, found, np.inf),
        part=np.array(PARTS[1:])[parts(found)[1:].argmax(axis=0)],
    )


def _last_batch(holds: Callable[[Array], NDArray[np.bool_]], shape: tuple[int, ...]) -> Array:
    """Return the largest whole batch up to `LARGEST_BATCH` for which something still holds.

    Parameters
    ----------
    holds : callable
        Given batches of shape (several, *shape), or broadcasting with it; once false, false for
        all larger batches.

    Returns
    -------
    ndarray
        0 where it does not even hold for batch 1.
    """
    low, high = np.zeros(shape), np.full(shape, LARGEST_BATCH + 1.0)
    # Many batches at once: a call costs much more than a point. Octaves first, then sixteenths.
    tried = 2.0 ** np.arange(LARGEST_BATCH.bit_length()).reshape(-1, *(1 for _ in shape))
    while True:
        still = holds(tried)
        low = np.maximum(low, np.where(still, tried, 0.0).max(axis=0))
        high = np.minimum(high, np.where(still, np.inf, tried).min(axis=0))
        if np.all(high - low <= 1):
            return low
        share = np.arange(1, 16).reshape(-1, *(1 for _ in shape)) / 16
        tried = np.clip(np.floor(low + share * (high - low)), low + 1, np.maximum(high - 1, 1))
