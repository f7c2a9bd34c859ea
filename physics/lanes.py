"""Kernels on one chip, run one after another, fused, or all at once: bytes, waits and times."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from physics.kernels import ELEMENTWISE

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Lane:
    """Kernels one after another on one chip, or all at once; shape (kernels, points).

    Attributes
    ----------
    launch_seconds : ndarray
        Wait before each kernel [s].
    weight_bytes, kv_bytes, activation_bytes : ndarray
        What main memory moves for each kernel [B].
    compute_seconds, link_seconds : ndarray
        Time of the arithmetic, and of the links between chips [s].
    bandwidth : ndarray
        Main memory bandwidth of a chip as far as it is reached [B/s].
    at_once : bool
        Whether memory, arithmetic and links work on different kernels at the same time.
    """

    names: tuple[str, ...]
    launch_seconds: Array
    weight_bytes: Array
    kv_bytes: Array
    activation_bytes: Array
    compute_seconds: Array
    link_seconds: Array
    bandwidth: Array
    at_once: bool = False

    @property
    def bytes(self) -> Array:
        """All that main memory moves, shape (points) [B]."""
        return (self.weight_bytes + self.kv_bytes + self.activation_bytes).sum(axis=0)

    @cached_property
    def memory_seconds(self) -> Array:
        """Time of main memory for each kernel [s]."""
        moved = self.weight_bytes + self.kv_bytes + self.activation_bytes
        return moved / self.bandwidth

    @cached_property
    def busy_seconds(self) -> Array:
        """Time of each kernel without its launch [s]: the larger of memory and arithmetic."""
        return np.maximum(self.memory_seconds, self.compute_seconds) + self.link_seconds

    @cached_property
    def starts(self) -> Array:
        """Moment at which each kernel begins to work [s]; all together where all work at once."""
        if self.at_once:
            return np.broadcast_to(self.launch_seconds.sum(axis=0), self.busy_seconds.shape)
        ends = np.cumsum(self.launch_seconds + self.busy_seconds, axis=0)
        return ends - self.busy_seconds

    @cached_property
    def seconds(self) -> Array:
        """Time of all kernels together, shape (points) [s]."""
        waiting = self.launch_seconds.sum(axis=0)
        if not self.at_once:
            return waiting + self.busy_seconds.sum(axis=0)
        parts = (self.memory_seconds, self.compute_seconds, self.link_seconds)
        return waiting + np.max([part.sum(axis=0) for part in parts], axis=0)


@dataclass(frozen=True)
class Kernels:
    """The kernels of a layer on one chip, ready to be run in one way or another.

    Attributes
    ----------
    names : tuple of str
        In running order; those of `kernels.ELEMENTWISE` only change activations.
    flop, weight_bytes, kv_bytes, activation_bytes : ndarray
        Work and traffic of each kernel run by itself, shape (kernels, points) [FLOP], [B].
    compute_seconds, link_seconds : ndarray
        Time of arithmetic and links [s].
    edge_bytes : ndarray
        Activations that enter the first kernel, as many as leave the last one [B].
    bandwidth : ndarray
        Reached by main memory [B/s].
    """

    names: tuple[str, ...]
    flop: Array
    weight_bytes: Array
    kv_bytes: Array
    activation_bytes: Array
    compute_seconds: Array
    link_seconds: Array
    edge_bytes: Array
    bandwidth: Array

    @property
    def fusible(self) -> NDArray[np.bool_]:
        """Which kernels vanish in their neighbours when a layer is fused."""
        return np.array([name in ELEMENTWISE for name in self.names])

    def one_by_one(self, launch_seconds: ArrayLike) -> Lane:
        """Launch every kernel by itself: its activations come from memory and go back."""
        every = np.full(len(self.names), True)
        return self._lane(every, self._each(launch_seconds), self.activation_bytes)

    def fused(self, launch_seconds: ArrayLike, on_chip: ArrayLike = np.inf) -> Lane:
        """Run all as one kernel, one step after another.

        What enters and leaves is read and written once; what a step hands to the next stays on the
        chip, but for the part that `on_chip` [B] cannot hold.
        """
        moved = self.spilled_bytes(on_chip)
        moved[self._working[0]] += self.edge_bytes
        moved[self._working[-1]] += self.edge_bytes
        return self._lane(~self.fusible, self._once(launch_seconds), moved)

    def streamed(self, launch_seconds: ArrayLike = 0.0, on_chip: ArrayLike = np.inf) -> Lane:
        """Run as a stage of an endless pipeline: memory, arithmetic and links work at once.

        The launch is that of all layers together; filling the pipeline is left out.
        """
        launched = self._once(launch_seconds)
        return self._lane(~self.fusible, launched, self.spilled_bytes(on_chip), at_once=True)

    def spilled_bytes(self, on_chip: ArrayLike) -> Array:
        """Activations that go to memory although kernels are fused, shape (kernels, points) [B].

        A step's inputs and outputs are on the chip at the same time; of what exceeds `on_chip`,
        the same share is written and read back.
        """
        held = np.minimum(self.activation_bytes, on_chip)
        spilled = self.activation_bytes - held
        spilled[self.fusible] = 0.0
        return spilled

    @property
    def _working(self) -> NDArray[np.int64]:
        """Places of the kernels that multiply."""
        moves = np.array([name == "all_reduce" for name in self.names])
        return np.flatnonzero(~self.fusible & ~moves)

    def _each(self, launch_seconds: ArrayLike) -> Array:
        """One launch for each kernel."""
        return np.zeros_like(self.flop) + np.asarray(launch_seconds)

    def _once(self, launch_seconds: ArrayLike) -> Array:
        """One launch for all, before the first kernel that multiplies."""
        waits = np.zeros_like(self.flop)
        waits[self._working[0]] = launch_seconds
        return waits

    def _lane(
        self,
        kept: NDArray[np.bool_],
        launch_seconds: Array,
        activation_bytes: Array,
        at_once: bool = False,
    ) -> Lane:
        return Lane(
            names=tuple(name for name, some in zip(self.names, kept, strict=True) if some),
            launch_seconds=launch_seconds[kept],
            weight_bytes=self.weight_bytes[kept],
            kv_bytes=self.kv_bytes[kept],
            activation_bytes=activation_bytes[kept],
            compute_seconds=self.compute_seconds[kept],
            link_seconds=self.link_seconds[kept],
            bandwidth=self.bandwidth,
            at_once=at_once,
        )
