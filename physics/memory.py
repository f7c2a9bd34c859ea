"""What has to fit into memory, and what to change when it does not."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from physics.architecture import Architecture
from physics.errors import InputError
from physics.formats import FORMATS_BY_SIZE, bytes_per_element
from physics.kv_cache import kv_bytes_per_sequence
from physics.machine import Machine
from physics.operators import Pass, operators, weight_element_bytes


def weight_bytes(
    architecture: Architecture, weights: str | ArrayLike = "bf16", tp: ArrayLike = 1
) -> NDArray[np.float64]:
    """Bytes of all weights in a format, embeddings and every expert included [B].

    Parameters
    ----------
    weights : str or array_like of str
        A format, or 'published'.
    tp : array_like
        Chips that share the model: what cannot be split (a router, a key-value head on more chips
        than there are such heads) is stored on each of them.

    Examples
    --------
    >>> from physics.catalogue import model
    >>> round(float(weight_bytes(model("llama-3.1-8b"))) / 1e9, 2)
    16.06
    """
    if isinstance(weights, str) and np.ndim(tp) == 0:
        return _weight_bytes_of_one(architecture, weights, int(tp))
    return _stored_bytes(architecture, weights, np.asarray(tp))


@lru_cache(maxsize=1024)
def _weight_bytes_of_one(architecture: Architecture, weights: str, tp: int) -> NDArray[np.float64]:
    return _stored_bytes(architecture, weights, np.asarray(tp))


def _stored_bytes(
    architecture: Architecture, weights: str | ArrayLike, chips: NDArray[np.int64]
) -> NDArray[np.float64]:
    parts = architecture.parameters_by_part
    stored = sum(
        count * weight_element_bytes(architecture, weights, part) for part, count in parts.items()
    )
    copies = _matrix_bytes(architecture, weights, chips)
    return stored + np.maximum(copies - _matrix_bytes(architecture, weights, np.asarray(1)), 0.0)


def _matrix_bytes(
    architecture: Architecture, weights: str | ArrayLike, chips: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Bytes of all matrices on all chips together, counted as the operators split them [B]."""
    many = np.float64(2**40)  # tokens enough to touch every expert
    step = Pass(
        architecture,
        many,
        np.float64(1),
        np.float64(0),
        weights,
        np.float64(2),
        chips,
        absorbed=False,
    )
    return sum(
        (work.count * work.weight_bytes * chips for work in operators(step)), start=np.float64(0)
    )


def max_batch(
    architecture: Architecture,
    machine: Machine,
    *,
    tokens: ArrayLike,
    weights: str | ArrayLike = "bf16",
    kv: str | ArrayLike = "bf16",
) -> NDArray[np.float64]:
    """Largest number of sequences of `tokens` tokens that fit beside the weights (0: none).

    floor((capacity tp - weights) / KV bytes of a sequence). Activations and the runtime's own
    needs are left out: an engine that reserves a tenth of the memory holds that much less.

    Examples
    --------
    >>> from physics.catalogue import model
    >>> from physics.chips import chip
    >>> from physics.machine import machine
    >>> float(max_batch(model("llama-3.1-8b"), machine(chip("h100-sxm")), tokens=8192))
    59.0
    """
    if not np.all(np.asarray(tokens) >= 1):
        raise InputError("tokens", "must be at least 1")
    room = machine.capacity * machine.tp - weight_bytes(architecture, weights, machine.tp)
    each = kv_bytes_per_sequence(architecture, tokens, kv, machine.tp)
    room, each = np.broadcast_arrays(room, each)
    most = np.divide(room, each, out=np.where(room >= 0, np.inf, 0.0), where=each > 0)
    return np.maximum(np.floor(most), 0.0)


def bytes_short(
    architecture: Architecture,
    machine: Machine,
    *,
    batch: ArrayLike,
    tokens: ArrayLike,
    weights: str | ArrayLike = "bf16",
    kv: str | ArrayLike = "bf16",
) -> NDArray[np.float64]:
    """Bytes by which weights and KV cache exceed the memory; 0 when they fit [B]."""
    needed = weight_bytes(architecture, weights, machine.tp)
    needed = needed + batch * kv_bytes_per_sequence(architecture, tokens, kv, machine.tp)
    return np.maximum(needed - machine.capacity * machine.tp, 0.0)


@dataclass(frozen=True)
class Nearest:
    """The smallest single changes that make a scenario fit; None where none does."""

    batch: int | None
    tp: int | None
    weights: str | None
    kv: str | None


def nearest_that_fits(
    architecture: Architecture,
    machine: Machine,
    *,
    batch: float,
    tokens: float,
    weights: str = "bf16",
    kv: str = "bf16",
) -> Nearest:
    """Find, one change at a time, the batch, chip number or format that fits.

    Chips are doubled up to 1,024, and only where there is a link between them; formats are tried
    from the largest to the smallest.
    """

    def fits(**change: object) -> bool:
        setting = {"machine": machine, "weights": weights, "kv": kv, **change}
        return not bytes_short(architecture, batch=batch, tokens=tokens, **setting)

    def smaller(than: float) -> list[str]:
        return [name for name in FORMATS_BY_SIZE if bytes_per_element(name) < than]

    stored = weight_bytes(architecture, weights) / architecture.parameters

    room = int(max_batch(architecture, machine, tokens=tokens, weights=weights, kv=kv))
    chips = [2**power for power in range(11) if 2**power > machine.tp] if machine.link else []
    return Nearest(
        batch=room if room and room < batch else None,
        tp=next((tp for tp in chips if fits(machine=replace(machine, tp=tp))), None),
        weights=next((name for name in smaller(stored) if fits(weights=name)), None),
        kv=next((name for name in smaller(bytes_per_element(kv)) if fits(kv=name)), None),
    )


def longest_sequence(
    architecture: Architecture,
    machine: Machine,
    *,
    batch: ArrayLike,
    weights: str | ArrayLike = "bf16",
    kv: str | ArrayLike = "bf16",
    limit: int = 2**30,
) -> NDArray[np.float64]:
    """Longest sequence of which `batch` fit beside the weights [tokens]; 0 when none does.

    Found by bisection, as layers with a window stop growing; `limit` when memory never ends.

    Examples
    --------
    >>> from physics.catalogue import model
    >>> from physics.chips import chip
    >>> from physics.machine import machine
    >>> float(longest_sequence(model("llama-3.1-8b"), machine(chip("h100-sxm")), batch=1))
    487819.0
    """
    batch = np.asarray(batch, dtype=float)
    shape = np.broadcast_shapes(batch.shape, np.shape(weights), np.shape(kv), np.shape(machine.tp))
    low, high = np.zeros(shape), np.full(shape, float(limit))
    for _ in range(int(limit).bit_length()):
        middle = np.floor((low + high + 1) / 2)
        fits = (
            bytes_short(architecture, machine, batch=batch, tokens=middle, weights=weights, kv=kv)
            == 0
        )
        low, high = np.where(fits, middle, low), np.where(fits, high, middle - 1)
    return low
