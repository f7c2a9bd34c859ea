"""The frontier of the batch x context map: from which batch on a decode step is compute-bound."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from physics.architecture import Architecture
from physics.machine import Machine
from physics.step import decode

Array = NDArray[np.float64]

BATCHES = np.geomspace(1, 2**20, 161)
"""The batches between which the frontier is interpolated: eight an octave."""


@lru_cache(maxsize=256)
def balance(
    architecture: Architecture,
    *,
    contexts: tuple[float, ...],
    weights: str,
    kv: str,
    tp: int,
    peak_ratio: float,
) -> Array:
    """FLOP for each byte of decode steps, shape (contexts, batches), counted at one peak.

    Attention's FLOP are multiplied by `peak_ratio`, the peak of the linear layers over that of
    attention, so that a step is compute-bound where the balance is at least
    (peak e_c) / (bandwidth e_m).
    """
    unit = Machine(
        peak=1.0,
        attention_peak=1.0 / peak_ratio,
        bandwidth=1.0,
        capacity=np.inf,
        link=np.inf,
        tp=tp,
    )
    one = decode(
        architecture,
        unit,
        batch=BATCHES,
        context=np.array(contexts)[:, None],
        weights=weights,
        kv=kv,
    )
    return one.totals[0] / one.totals[1]


@lru_cache(maxsize=256)
def _linear_intensity(architecture: Architecture, *, weights: str, tp: int) -> Array:
    """FLOP for each byte of the linear layers of a decode step, at `BATCHES`."""
    unit = Machine(peak=1.0, attention_peak=1.0, bandwidth=1.0, capacity=np.inf, link=np.inf, tp=tp)
    one = decode(architecture, unit, batch=BATCHES, context=1, weights=weights)
    return one.intensity_of(one.computes & ~one.is_attention)


def linear_crossing_batch(
    architecture: Architecture, machine: Machine, *, weights: str = "bf16"
) -> Array:
    """Batch at which the linear layers together reach the ridge, activations counted.

    `limits.critical_batch` leaves the activations out, so that it is smaller for a dense model;
    with experts it is that of the experts alone, and here all linear layers count.

    Returns
    -------
    ndarray
        Shape of the machine's figures; infinite where no batch up to 2^20 suffices.

    Examples
    --------
    >>> from physics.catalogue import model
    >>> from physics.chips import chip
    >>> from physics.machine import machine
    >>> round(float(linear_crossing_batch(model("llama-3.1-8b"), machine(chip("h100-sxm")))))
    325
    """
    row = np.log(_linear_intensity(architecture, weights=weights, tp=int(machine.tp)))
    ridge = np.log(np.divide(machine.peak, machine.bandwidth))
    rising = np.maximum.accumulate(row)
    return np.exp(np.interp(ridge, rising, np.log(BATCHES), left=0.0, right=np.inf))


def compute_bound_batch(
    architecture: Architecture,
    machine: Machine,
    *,
    contexts: ArrayLike,
    weights: str = "bf16",
    kv: str = "bf16",
) -> Array:
    """Smallest batch at which a decode step is compute-bound, for each context.

    Parameters
    ----------
    machine : Machine
        Its peak and bandwidth may be arrays of shape (points,).
    contexts : array_like
        Cached tokens of each sequence, shape (contexts,).

    Returns
    -------
    ndarray
        Shape (points, contexts), or (contexts,) for one machine; infinite where no batch up to
        2^20 suffices. Interpolated on a fine logarithmic grid: within 0.5 %.

    Examples
    --------
    >>> from physics.catalogue import model
    >>> from physics.chips import chip
    >>> from physics.machine import machine
    >>> h100 = machine(chip("h100-sxm"))
    >>> compute_bound_batch(model("llama-3.1-8b"), h100, contexts=[16, 2048]).round(-1).tolist()
    [350.0, inf]
    """
    peak, attention_peak = np.asarray(machine.peak), np.asarray(machine.attention_peak)
    grid = balance(
        architecture,
        contexts=tuple(np.asarray(contexts, dtype=float).tolist()),
        weights=weights,
        kv=kv,
        tp=int(machine.tp),
        peak_ratio=float(np.ravel(peak / attention_peak)[0]),
    )
    efficiency = machine.efficiency
    ridge = peak * efficiency.compute / (machine.bandwidth * np.asarray(efficiency.memory))
    wanted = np.log(np.ravel(ridge))
    found = np.stack(
        [
            np.exp(np.interp(wanted, row, np.log(BATCHES), left=0.0, right=np.inf))
            for row in np.log(grid)
        ],
        axis=-1,
    )
    return found if np.ndim(ridge) else found[0]
