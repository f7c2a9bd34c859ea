"""The same layer in four ways: launched kernel by kernel, as a graph, fused, and streamed.

Kernel by kernel, every kernel waits for its launch, reads what the one before has written, and
writes its own result to memory. A CUDA graph shortens the launches and changes nothing else. Fused,
a layer is one kernel: activations stay on the chip as far as they fit. Streamed (dataflow), all
layers are one kernel, and memory keeps reading the next weights while the present ones are
multiplied. The weights and the KV cache are read in all four.

Source of the idea: SambaNova SN40L, arXiv 2405.07518; the same on a GPU: "Look Ma, No Bubbles!",
hazyresearch.stanford.edu/blog/2025-05-27-no-bubbles.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from physics.architecture import Architecture
from physics.errors import UnknownName
from physics.formats import ACTIVATION_BYTES
from physics.kernels import ELEMENTWISE, head_kernels, layer_kernels
from physics.layers import Layers
from physics.machine import Machine
from physics.operators import Operator, Pass, forward_pass

Array = NDArray[np.float64]

LANES = ("kernels", "graph", "fused", "streamed")
"""The four ways: each kernel launched, the kernels in a CUDA graph, fused, streamed."""

LAUNCHES = Path(__file__).resolve().parent.parent / "assets" / "launches.csv"


@dataclass(frozen=True)
class Launch:
    """What a kernel costs before it works: the chip has finished one and not begun the next.

    Attributes
    ----------
    seconds : float
        [s] for each kernel.
    confidence : str
        'A' read at the source named, 'B' not re-read.
    """

    slug: str
    seconds: float
    measured_on: str
    source: str
    address: str
    confidence: str
    note: str


@cache
def launches() -> dict[str, Launch]:
    """Return the launch times that were measured, by the way of launching."""
    with LAUNCHES.open(newline="", encoding="utf-8") as file:
        return {
            row["slug"]: Launch(
                row["slug"],
                float(row["microseconds"]) * 1e-6,
                *(row[name] for name in ("measured_on", "source", "address", "confidence", "note")),
            )
            for row in csv.DictReader(file)
        }


def launch(slug: str) -> Launch:
    """Return one way of launching.

    Examples
    --------
    >>> round(launch("graph").seconds * 1e6, 1)
    1.3
    """
    if slug not in launches():
        raise UnknownName("launch", slug, launches())
    return launches()[slug]


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


def layer(
    layers: Layers,
    architecture: Architecture,
    machine: Machine,
    *,
    batch: ArrayLike,
    new_tokens: ArrayLike,
    cached_tokens: ArrayLike,
    weights: str | ArrayLike = "bf16",
    kv: str | ArrayLike = "bf16",
    absorbed: bool = False,
) -> Kernels:
    """Return one layer's kernels for a forward pass; parameters as in `step.step`.

    The fixed times of `machine.efficiency` are left out but for those of an all-reduce: launches
    are what the ways of running differ in.

    Examples
    --------
    >>> from physics.catalogue import model
    >>> from physics.chips import chip
    >>> from physics.machine import machine
    >>> llama = model("llama-3.1-8b")
    >>> one = layer(llama.groups[0], llama, machine(chip("h100-sxm")), batch=1, new_tokens=1,
    ...             cached_tokens=2048)
    >>> [round(float(lane.seconds) * 1e6) for lane in (one.one_by_one(2.1e-6), one.streamed())]
    [156, 133]
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
    return _stacked(layer_kernels(layers, passed), passed, machine)


def main_layers(architecture: Architecture) -> Layers:
    """Return the kind of layer that a model has most of.

    Examples
    --------
    >>> from physics.catalogue import model
    >>> main_layers(model("deepseek-v3")).count
    58
    """
    return max(architecture.groups, key=lambda group: group.count)


@dataclass(frozen=True)
class Step:
    """A whole forward pass in the four ways of `LANES`, on one chip; shape (lanes, points).

    Attributes
    ----------
    seconds, bytes : ndarray
        Time, and what main memory moves [s], [B].
    launches : ndarray
        Launches in each way, shape (lanes).
    flop, needed_bytes : ndarray
        Work, and the bytes that no way of running can avoid: weights and KV cache; shape (points).
    """

    seconds: Array
    bytes: Array
    launches: Array
    flop: Array
    needed_bytes: Array
    machine: Machine

    @property
    def mbu(self) -> Array:
        """Share of the bandwidth that reads what must be read, shape (lanes, points).

        Activations that only a way of running moves do not count as use of the memory.
        """
        return self.needed_bytes / (self.machine.bandwidth * self.seconds)

    @property
    def mfu(self) -> Array:
        """Share of the peak that the work takes, shape (lanes, points)."""
        return self.flop / (self.machine.peak * self.seconds)

    @property
    def intensity(self) -> Array:
        """Arithmetic intensity, shape (lanes, points) [FLOP/B]."""
        return self.flop / self.bytes


def run(
    architecture: Architecture,
    machine: Machine,
    *,
    batch: ArrayLike,
    new_tokens: ArrayLike,
    cached_tokens: ArrayLike,
    weights: str | ArrayLike = "bf16",
    kv: str | ArrayLike = "bf16",
    absorbed: bool = False,
    stream_launch: ArrayLike | None = None,
    graph_launch: ArrayLike | None = None,
    on_chip: ArrayLike = np.inf,
) -> Step:
    """Run a forward pass in the four ways.

    Parameters
    ----------
    stream_launch, graph_launch : array_like, optional
        Wait for each kernel [s]; those of `launches()` where nothing is given. A fused layer is
        one kernel of a graph, a streamed step one launch.
    on_chip : array_like
        Memory of a chip that holds activations between fused steps [B].

    Examples
    --------
    >>> from physics.catalogue import model
    >>> from physics.chips import chip
    >>> from physics.machine import machine
    >>> one = run(model("llama-3.1-8b"), machine(chip("h100-sxm")), batch=1, new_tokens=1,
    ...           cached_tokens=2048)
    >>> one.launches.tolist(), one.mbu.round(2).tolist()
    ([354.0, 354.0, 33.0, 1.0], [0.86, 0.91, 0.99, 1.0])
    """
    stream = launch("stream").seconds if stream_launch is None else stream_launch
    graph = launch("graph").seconds if graph_launch is None else graph_launch
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
    parts = [
        (group.count, _stacked(layer_kernels(group, passed), passed, machine))
        for group in architecture.groups
        if group.mixer or group.network
    ]
    parts.append((1, _stacked(head_kernels(passed), passed, machine)))
    ways = [
        [(count, work.one_by_one(stream)) for count, work in parts],
        [(count, work.one_by_one(graph)) for count, work in parts],
        [(count, work.fused(graph, on_chip)) for count, work in parts],
        [(count, work.streamed(0.0, on_chip)) for count, work in parts],
    ]
    apart, streamed = ways[:-1], ways[-1]
    seconds = [sum(count * lane.seconds for count, lane in way) for way in apart]
    # Streamed, the layers are one pipeline: each resource works through all it has to do.
    work = [
        sum(count * getattr(lane, name).sum(axis=0) for count, lane in streamed)
        for name in ("memory_seconds", "compute_seconds", "link_seconds")
    ]
    seconds.append(np.max(work, axis=0) + graph)
    kernels = sum(count * len(work.names) for count, work in parts)
    blocks = sum(count for count, _ in parts)
    return Step(
        seconds=np.stack(np.broadcast_arrays(*seconds)),
        bytes=np.stack([sum(count * lane.bytes for count, lane in way) for way in ways]),
        launches=np.array([kernels, kernels, blocks, 1.0]),
        flop=sum(count * work.flop.sum(axis=0) for count, work in parts),
        needed_bytes=sum(
            count * (work.weight_bytes + work.kv_bytes).sum(axis=0) for count, work in parts
        ),
        machine=machine,
    )


def _stacked(kernels: Sequence[Operator], passed: Pass, machine: Machine) -> Kernels:
    """Put kernels into arrays, with the times that the machine needs for them."""
    shape = np.broadcast_shapes(
        *(array.shape for array in (passed.batch, passed.new, passed.cached)),
        *machine.shapes(),
        np.shape(passed.weights),
        passed.kv_element_bytes.shape,
    )

    def stack(attribute: str, like: type = float) -> Array:
        stacked = np.empty((len(kernels), *shape), dtype=like)
        for row, kernel in enumerate(kernels):
            stacked[row] = getattr(kernel, attribute)
        return stacked

    efficiency = machine.efficiency
    peak = np.where(stack("low_precision", bool), machine.peak, machine.attention_peak)
    reduces = np.reshape(
        [kernel.name == "all_reduce" for kernel in kernels], (-1, *(1 for _ in shape))
    )
    link = np.inf if machine.link is None else machine.link
    flop = stack("flop")
    return Kernels(
        names=tuple(kernel.name for kernel in kernels),
        flop=flop,
        weight_bytes=stack("weight_bytes"),
        kv_bytes=stack("kv_bytes"),
        activation_bytes=stack("activation_bytes"),
        compute_seconds=flop / (peak * np.asarray(efficiency.compute)),
        link_seconds=stack("link_bytes") / link
        + np.where(reduces & (np.asarray(machine.tp) > 1), efficiency.all_reduce_seconds, 0.0),
        edge_bytes=np.broadcast_to(
            passed.architecture.hidden * ACTIVATION_BYTES * passed.rows, shape
        ),
        bandwidth=np.multiply(machine.bandwidth, efficiency.memory),
    )
