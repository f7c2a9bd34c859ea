"""A step: one forward pass on a machine, in time, with every part named."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from physics.architecture import Architecture
from physics.machine import Machine
from physics.operators import forward_pass, operators

Array = NDArray[np.float64]

BOUNDS = ("compute", "memory", "communication", "launch")


@dataclass(frozen=True)
class Step:
    """One forward pass: arrays have shape (operators, points) or (points).

    Work is that of all chips together; seconds are those of one chip, as all work side by side.

    Attributes
    ----------
    names : tuple of str
        Operator names, in running order; a name occurs again for each kind of layer.
    flop, weight_bytes, kv_bytes, activation_bytes, link_bytes : ndarray
        Work of each operator over all its layers [FLOP], [B].
    compute_seconds, memory_seconds, communication_seconds, launch_seconds : ndarray
        Time that each operator would take if nothing else limited it [s].
    link_seconds : ndarray
        The part of `communication_seconds` in which bytes travel; the rest is latency [s].
    is_attention : ndarray of bool
        Which operators work on what a sequence keeps: attention, indexers, recurrences.
    """

    names: tuple[str, ...]
    flop_by_operator: Array
    weight_bytes_by_operator: Array
    kv_bytes_by_operator: Array
    activation_bytes_by_operator: Array
    compute_seconds: Array
    memory_seconds: Array
    communication_seconds: Array
    launch_seconds: Array
    link_seconds: Array
    machine: Machine
    is_attention: NDArray[np.bool_]

    @cached_property
    def flop(self) -> Array:
        """All FLOP of the pass."""
        return self.flop_by_operator.sum(axis=0)

    @cached_property
    def weight_bytes(self) -> Array:
        """Bytes of weights read [B]."""
        return self.weight_bytes_by_operator.sum(axis=0)

    @cached_property
    def kv_bytes(self) -> Array:
        """Bytes of KV cache read and written [B]."""
        return self.kv_bytes_by_operator.sum(axis=0)

    @cached_property
    def activation_bytes(self) -> Array:
        """Bytes of activations read and written [B]."""
        return self.activation_bytes_by_operator.sum(axis=0)

    @cached_property
    def bytes(self) -> Array:
        """All memory traffic of the pass [B]."""
        return self.weight_bytes + self.kv_bytes + self.activation_bytes

    @cached_property
    def bytes_by_operator(self) -> Array:
        """Memory traffic of each operator [B]."""
        moved = self.weight_bytes_by_operator + self.kv_bytes_by_operator
        return moved + self.activation_bytes_by_operator

    @property
    def intensity(self) -> Array:
        """Arithmetic intensity [FLOP/B]."""
        return self.flop / self.bytes

    @cached_property
    def computes(self) -> NDArray[np.bool_]:
        """Which operators do arithmetic: all but pure communication."""
        return np.array([name != "all_reduce" for name in self.names])

    def intensity_of(self, chosen: NDArray[np.bool_]) -> Array:
        """Arithmetic intensity of some operators together [FLOP/B]."""
        moved = self.bytes_by_operator[chosen].sum(axis=0)
        return self.flop_by_operator[chosen].sum(axis=0) / moved

    @cached_property
    def intensity_by_operator(self) -> Array:
        """Arithmetic intensity of each operator [FLOP/B]; 0 for pure communication."""
        moved = self.bytes_by_operator
        return np.divide(self.flop_by_operator, moved, out=np.zeros_like(moved), where=moved > 0)

    @cached_property
    def seconds_by_operator(self) -> Array:
        """Time of each operator [s]: the larger of computing and moving, then link and launch."""
        busy = np.maximum(self.compute_seconds, self.memory_seconds)
        return busy + self.communication_seconds + self.launch_seconds

    @cached_property
    def seconds_sum(self) -> Array:
        """Step time with one operator after another [s]."""
        return self.seconds_by_operator.sum(axis=0)

    @cached_property
    def totals(self) -> Array:
        """Total seconds of compute, memory, communication and launch: shape (4, points)."""
        return np.stack(
            [
                self.compute_seconds.sum(axis=0),
                self.memory_seconds.sum(axis=0),
                self.communication_seconds.sum(axis=0),
                self.launch_seconds.sum(axis=0),
            ]
        )

    @property
    def seconds_overlap(self) -> Array:
        """Step time if everything overlapped perfectly [s]: the largest of the four totals."""
        return self.totals.max(axis=0)

    @property
    def bound(self) -> NDArray[np.str_]:
        """What binds the whole step: the largest of the four totals."""
        return np.array(BOUNDS)[self.totals.argmax(axis=0)]

    @cached_property
    def bound_by_operator(self) -> NDArray[np.str_]:
        """What binds each operator."""
        parts = np.stack(
            [
                self.compute_seconds,
                self.memory_seconds,
                self.communication_seconds,
                self.launch_seconds,
            ]
        )
        return np.array(BOUNDS)[parts.argmax(axis=0)]

    @property
    def seconds_by_bound(self) -> Array:
        """`seconds_sum` split by what takes it: shape (4, points)."""
        computing = self.compute_seconds >= self.memory_seconds
        return np.stack(
            [
                np.where(computing, self.compute_seconds, 0.0).sum(axis=0),
                np.where(computing, 0.0, self.memory_seconds).sum(axis=0),
                self.communication_seconds.sum(axis=0),
                self.launch_seconds.sum(axis=0),
            ]
        )

    @property
    def performance(self) -> Array:
        """FLOP/s that one chip delivers over the whole step, operators one after another."""
        return self.flop / np.asarray(self.machine.tp) / self.seconds_sum

    @property
    def performance_by_operator(self) -> Array:
        """FLOP/s that one chip delivers in each operator; 0 where an operator takes no time."""
        per_chip = self.flop_by_operator / np.asarray(self.machine.tp)
        seconds = self.seconds_by_operator
        return np.divide(per_chip, seconds, out=np.zeros_like(per_chip), where=seconds > 0)

    @property
    def mfu(self) -> Array:
        """Model FLOP utilisation: FLOP over what the peak allows in `seconds_sum`."""
        return self.flop / (self.machine.tp * self.machine.peak * self.seconds_sum)

    @property
    def mbu(self) -> Array:
        """Model bandwidth utilisation: bytes over what the bandwidth allows in `seconds_sum`."""
        return self.bytes / (self.machine.tp * self.machine.bandwidth * self.seconds_sum)


def step(
    architecture: Architecture,
    machine: Machine,
    *,
    batch: ArrayLike,
    new_tokens: ArrayLike,
    cached_tokens: ArrayLike,
    weights: str | ArrayLike = "bf16",
    kv: str | ArrayLike = "bf16",
    absorbed: bool = False,
) -> Step:
    """Compute one forward pass over `batch` sequences.

    Each operator takes max(FLOP / (peak e_c), bytes / (bandwidth e_m)) + launch; with several
    chips, two all-reduces a layer take 2 (t - 1) / t bytes / (link e_l) + latency each.

    Parameters
    ----------
    architecture, machine
        The model and what it runs on.
    batch, new_tokens, cached_tokens : array_like
        Sequences, new tokens of each, tokens of each already cached; broadcast together.
    weights, kv : str or array_like of str
        Number formats.
    absorbed : bool
        Latent attention in its decode form; nothing else depends on it.

    Raises
    ------
    InputError
        If a batch or a token number is out of range.

    Examples
    --------
    >>> from physics.catalogue import model
    >>> from physics.chips import chip
    >>> from physics.machine import machine
    >>> one = step(model("llama-3.1-8b"), machine(chip("h100-sxm")), batch=1, new_tokens=1,
    ...            cached_tokens=2048)
    >>> round(float(one.seconds_sum) * 1e3, 2), str(one.bound)
    (4.56, 'memory')
    """
    passed = forward_pass(
        architecture,
        batch=batch,
        new_tokens=new_tokens,
        cached_tokens=cached_tokens,
        weights=weights,
        kv=kv,
        tp=machine.tp,
        absorbed=absorbed,
    )
    shape = np.broadcast_shapes(
        *(array.shape for array in (passed.batch, passed.new, passed.cached)),
        *machine.shapes(),
        np.shape(weights),
        np.shape(kv),
    )
    works = list(operators(passed))

    def stack(attribute: str) -> Array:
        stacked = np.empty((len(works), *shape))
        for row, work in enumerate(works):
            stacked[row] = getattr(work, attribute) * float(work.count)
        return stacked

    flop, weight_bytes, kv_bytes, activation_bytes, link_bytes = map(
        stack, ("flop", "weight_bytes", "kv_bytes", "activation_bytes", "link_bytes")
    )
    efficiency = machine.efficiency
    column = (len(works), *(1 for _ in shape))
    low = (
        np.empty((len(works), *shape), dtype=bool)
        if any(np.ndim(work.low_precision) for work in works)
        else np.empty(column, dtype=bool)
    )
    for row, work in enumerate(works):
        low[row] = work.low_precision
    peak = np.where(
        low,
        machine.peak * np.asarray(efficiency.low_precision_compute),
        machine.attention_peak * np.asarray(efficiency.compute),
    )
    counts = np.reshape([float(work.count) for work in works], column)
    all_reduce = np.reshape([work.name == "all_reduce" for work in works], column)
    moved = weight_bytes + kv_bytes
    moved += activation_bytes
    tp = np.asarray(machine.tp)
    link = np.inf if machine.link is None else machine.link * np.asarray(efficiency.link)
    link_seconds = link_bytes / link
    return Step(
        names=tuple(work.name for work in works),
        flop_by_operator=flop * tp,
        weight_bytes_by_operator=weight_bytes * tp,
        kv_bytes_by_operator=kv_bytes * tp,
        activation_bytes_by_operator=activation_bytes * tp,
        compute_seconds=flop / peak,
        memory_seconds=moved / (machine.bandwidth * np.asarray(efficiency.memory)),
        communication_seconds=link_seconds
        + np.where(all_reduce & (tp > 1), efficiency.all_reduce_seconds * counts, 0.0),
        launch_seconds=np.broadcast_to(
            np.where(all_reduce, 0.0, efficiency.launch_seconds * counts), flop.shape
        ),
        link_seconds=link_seconds,
        machine=machine,
        is_attention=np.array([work.on_kept for work in works]),
    )


def prefill(
    architecture: Architecture,
    machine: Machine,
    *,
    batch: ArrayLike,
    prompt: ArrayLike,
    cached_tokens: ArrayLike = 0,
    weights: str | ArrayLike = "bf16",
    kv: str | ArrayLike = "bf16",
) -> Step:
    """Compute the step that reads the whole prompt of every sequence and emits one token each."""
    return step(
        architecture,
        machine,
        batch=batch,
        new_tokens=prompt,
        cached_tokens=cached_tokens,
        weights=weights,
        kv=kv,
    )


def decode(
    architecture: Architecture,
    machine: Machine,
    *,
    batch: ArrayLike,
    context: ArrayLike,
    weights: str | ArrayLike = "bf16",
    kv: str | ArrayLike = "bf16",
) -> Step:
    """Compute the step that adds one token to every sequence, on top of `context` cached ones."""
    return step(
        architecture,
        machine,
        batch=batch,
        new_tokens=1,
        cached_tokens=context,
        weights=weights,
        kv=kv,
        absorbed=True,
    )
