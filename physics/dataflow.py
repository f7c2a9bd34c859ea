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

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from physics.architecture import Architecture
from physics.formats import ACTIVATION_BYTES
from physics.kernels import head_kernels, layer_kernels
from physics.lanes import Kernels
from physics.launches import launch
from physics.layers import Layers
from physics.machine import Machine
from physics.operators import Operator, Pass, forward_pass

Array = NDArray[np.float64]

LANES = ("kernels", "graph", "fused", "streamed")
"""The four ways: each kernel launched, the kernels in a CUDA graph, fused, streamed."""

MONARCH_FFT_INTENSITIES = (39.5, 102.6, 410.4)
"""A Monarch FFT unfused, partly fused, fused [FLOP/B]: arXiv 2405.07518, table I, as printed.

It has next to no weights, so what it hands from step to step is nearly all it moves.
"""


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
    peak = np.where(
        stack("low_precision", bool),
        machine.peak * np.asarray(efficiency.low_precision_compute),
        machine.attention_peak * np.asarray(efficiency.compute),
    )
    reduces = np.reshape(
        [kernel.name == "all_reduce" for kernel in kernels], (-1, *(1 for _ in shape))
    )
    link = np.inf if machine.link is None else machine.link * np.asarray(efficiency.link)
    flop = stack("flop")
    return Kernels(
        names=tuple(kernel.name for kernel in kernels),
        flop=flop,
        weight_bytes=stack("weight_bytes"),
        kv_bytes=stack("kv_bytes"),
        activation_bytes=stack("activation_bytes"),
        compute_seconds=flop / peak,
        link_seconds=stack("link_bytes") / link
        + np.where(reduces & (np.asarray(machine.tp) > 1), efficiency.all_reduce_seconds, 0.0),
        edge_bytes=np.broadcast_to(
            passed.architecture.hidden * ACTIVATION_BYTES * passed.rows, shape
        ),
        bandwidth=np.multiply(machine.bandwidth, efficiency.memory),
    )
