"""Five requests that share a machine, scheduled at every point."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pages.shared.case import Case
from pages.shared.figures import requests
from pages.shared.points import Points
from pages.shared.scenario import own_figures
from physics.request import request
from physics.schedule import Schedule, schedule, staggered
from physics.step import Step, decode


@dataclass(frozen=True, eq=False)
class FiveRequests:
    """The requests at some points."""

    points: Points

    @cached_property
    def case(self) -> Case:
        """The model on its machine."""
        return Case(self.points)

    @cached_property
    def step(self) -> Step:
        """A decode step of one request, in the middle of its answer."""
        case = self.case
        return decode(
            case.architecture,
            case.machine,
            batch=self.points.batch,
            context=case.context,
            **case.formats,
        )

    @cached_property
    def room(self) -> np.ndarray:
        """Requests that memory holds at a time, of those there are."""
        return np.clip(self.case.max_batch // self.points.batch, 1, requests.COUNT)

    @cached_property
    def gaps(self) -> np.ndarray:
        """Longest gap, 99th percentile, mean and median [s], shape (4, points)."""
        longest, p99, median = self.served.gap_quantiles([1.0, 0.99, 0.5])
        return np.stack([longest, p99, self.served.tpot_seconds.mean(axis=0), median])

    @cached_property
    def served(self) -> Schedule:
        """What the machine does, and when each request gets its tokens."""
        case, points = self.case, self.points
        # The traffic is meant for the chip as it is sold: sliders of the chip leave it alone.
        own = case.machine_with(**{k: np.asarray(v) for k, v in own_figures(case.chip).items()})
        load = {"prompt": points.prompt, "output": points.output, "batch": points.batch}
        alone = request(case.architecture, own, **load, **case.formats)
        return schedule(
            case.architecture,
            case.machine,
            arrival=staggered(alone.e2e_seconds, alone.ttft_seconds),
            **load,
            most=self.room,
            **case.formats,
        )
