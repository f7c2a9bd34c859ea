"""What physics says of a page's points in the four ways of running a step."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from pages.shared.case import Case
from pages.shared.figures import utilisation
from pages.shared.points import Points
from physics import memory_tiers
from physics.dataflow import Step, layer, main_layers, run
from physics.lanes import Kernels, Lane
from physics.launches import launch
from physics.machine import Machine


class Flowing:
    """What physics says of a page's points, in the four ways of running."""

    def __init__(self, points: Points) -> None:
        self.points, self.case = points, Case(points)
        self.on_chip = memory_tiers.on_chip_bytes(self.case.chip)

    @property
    def _held(self) -> float:
        """On-chip memory; where the catalogue has no figure it is taken as large enough."""
        return np.inf if self.on_chip is None else self.on_chip

    @cached_property
    def decode_layer(self) -> Kernels:
        """The layer that the model has most of, adding one token to every sequence."""
        return self._layer(new_tokens=1, cached_tokens=self.case.context, absorbed=True)

    @cached_property
    def prefill_layer(self) -> Kernels:
        """The same layer reading the prompts."""
        return self._layer(new_tokens=self.points.prompt, cached_tokens=0)

    def _layer(self, **phase: object) -> Kernels:
        architecture = self.case.architecture
        return layer(
            main_layers(architecture),
            architecture,
            self.case.machine,
            batch=self.points.batch,
            **self.case.formats,
            **phase,
        )

    @cached_property
    def lanes(self) -> tuple[Lane, ...]:
        """The layer in decode, in the order of `LANES`."""
        return self._ways(self.decode_layer)

    @cached_property
    def prefill_lanes(self) -> tuple[Lane, ...]:
        """The layer in prefill, in the order of `LANES`."""
        return self._ways(self.prefill_layer)

    def _ways(self, work: Kernels) -> tuple[Lane, ...]:
        stream, graph = launch("stream").seconds, launch("graph").seconds
        return (
            work.one_by_one(stream),
            work.one_by_one(graph),
            work.fused(graph, self._held),
            work.streamed(0.0, self._held),
        )

    @cached_property
    def step(self) -> Step:
        """A whole decode step."""
        return self._run(self.case.machine, self.points.batch, self.case.context)

    @cached_property
    def small_batches(self) -> Step:
        """Whole decode steps at the batches of the figure, shape (lanes, points, batches)."""
        bandwidth, flops = self.points.bandwidth[:, None], self.points.flops[:, None]
        machine = self.case.machine_with(bandwidth, flops)
        return self._run(machine, utilisation.BATCHES, self.case.context[:, None])

    @cached_property
    def with_twice_the_bandwidth(self) -> Step:
        """The decode step on memory twice as fast."""
        machine = self.case.machine_with(2 * self.points.bandwidth, self.points.flops)
        return self._run(machine, self.points.batch, self.case.context)

    def _run(self, machine: Machine, batch: np.ndarray, context: np.ndarray) -> Step:
        return run(
            self.case.architecture,
            machine,
            batch=batch,
            new_tokens=1,
            cached_tokens=context,
            absorbed=True,
            on_chip=self._held,
            **self.case.formats,
        )

    @cached_property
    def decode_intensity(self) -> np.ndarray:
        """Intensity of the layer in decode kernel by kernel, and fused: shape (points, 2)."""
        return _intensity(self.lanes, self.decode_layer)

    @cached_property
    def prefill_intensity(self) -> np.ndarray:
        """The same in prefill."""
        return _intensity(self.prefill_lanes, self.prefill_layer)

    def reached(self, lanes: tuple[Lane, ...], work: Kernels) -> np.ndarray:
        """FLOP/s of a chip kernel by kernel, and streamed: shape (points, 2)."""
        flop = work.flop.sum(axis=0)
        seconds = np.stack([lanes[0].seconds, lanes[3].seconds], axis=-1)
        return np.where(self.case.fits[:, None], flop[:, None] / seconds, np.nan)


def _intensity(lanes: tuple[Lane, ...], work: Kernels) -> np.ndarray:
    flop = work.flop.sum(axis=0)
    return np.stack([flop / lanes[0].bytes, flop / lanes[2].bytes], axis=-1)
