"""The decode step over the batch: what the page on batching draws and speaks of."""

from __future__ import annotations

import re
from functools import cached_property

import numpy as np

from pages.shared.case import Case
from pages.shared.figures import pareto, step_time
from pages.shared.scenario import own_figures
from physics.batching import (
    Knee,
    chip_tokens_per_second,
    knee,
    nearly_free_batch,
    user_tokens_per_second,
)
from physics.chips import Chip, chip
from physics.concurrency import Concurrent
from physics.frontier import linear_crossing_batch
from physics.machine import Machine, machine, side_by_side
from physics.memory import max_batch
from physics.step import Step, decode, prefill

COMPARED = ("h100-sxm", "b200-sxm", "a100-sxm-80gb")
"""The first two of these that are neither the chip picked nor the second one are drawn beside."""

OTHER_KNOTS = np.concatenate([[np.inf], 2.0 ** np.arange(6, -1, -1)])
"""Where the other chips' curves have knots, as divisors of the batch at which memory ends.

Below a sixtieth of it the curve is straight.
"""

SMALL = 8
"""So many of the batches of the figures, and then every second one, are knots of the own curve."""

FREE_KNOTS = 3
"""Knots of the nearly free stretch on the curve: it is almost straight."""

SLOWER = 0.1
"""How much longer a step may take that is still called nearly free."""


class BatchSweep:
    """What physics says of a page's points, over the batch and at it.

    Examples
    --------
    >>> from pages.shared.points import points_from
    >>> from pages.shared.scenario import Scenario
    >>> sweep = BatchSweep(Case(points_from(Scenario(), {})))
    >>> sweep.free.tolist(), sweep.knee.batch.tolist(), sweep.case.max_batch.tolist()
    ([6.0], [53.0], [211.0])
    """

    def __init__(self, case: Case) -> None:
        self.case = case

    @property
    def step(self) -> Step:
        """The decode step in the middle of the answer, as long as the mean one."""
        return self.case.request.decode

    def timed(self, values: np.ndarray) -> np.ndarray:
        """Return values of the step where there is one: the point fits and decodes at all."""
        return np.where(self.case.points.output > 1, self.case.timed(values), np.nan)

    @cached_property
    def some_fit(self) -> np.ndarray:
        """Where at least one sequence fits."""
        return self.case.max_batch >= 1

    @cached_property
    def wide(self) -> Machine:
        """The machine with an axis for the batches."""
        points = self.case.points
        return self.case.machine_with(points.bandwidth[:, None], points.flops[:, None])

    def over(self, batches: np.ndarray) -> Step:
        """Return the decode steps of a row of batches: shape (points, batches)."""
        return decode(
            self.case.architecture,
            self.wide,
            batch=batches,
            context=self.case.context[:, None],
            **self.case.formats,
        )

    @cached_property
    def batches(self) -> np.ndarray:
        """The batches of the figures, up to where memory ends: shape (points, batches)."""
        return _up_to(self.case.max_batch, step_time.BATCHES)

    @cached_property
    def swept(self) -> Step:
        """The step at these batches."""
        return self.over(self.batches)

    @cached_property
    def alone(self) -> np.ndarray:
        """Seconds of a step with one sequence."""
        return self.swept.seconds_sum[:, 0]

    @cached_property
    def free(self) -> np.ndarray:
        """The last batch of the nearly free stretch."""
        return nearly_free_batch(
            self.case.architecture,
            self.case.machine,
            context=self.case.context,
            slower=SLOWER,
            **self.case.formats,
        )

    @cached_property
    def knee(self) -> Knee:
        """Where the weights stop being the largest part of a step."""
        return knee(
            self.case.architecture,
            self.case.machine,
            context=self.case.context,
            **self.case.formats,
        )

    @cached_property
    def steady(self) -> Concurrent:
        """A server that keeps the batch full, and reads a new prompt whenever an answer ends."""
        points = self.case.points
        once = prefill(
            self.case.architecture,
            self.case.machine,
            batch=1,
            prompt=points.prompt,
            **self.case.formats,
        )
        return Concurrent(self.case.request, once)

    @cached_property
    def crossing(self) -> np.ndarray:
        """The batch at which the linear layers together cross the ridge."""
        return linear_crossing_batch(
            self.case.architecture, self.case.machine, weights=self.case.points.weights
        )

    @cached_property
    def others(self) -> list[Chip]:
        """The chips for comparison, the second one last."""
        points = self.case.points
        shown = [slug for slug in COMPARED if slug not in (points.chip, points.versus)]
        return [chip(slug) for slug in (*shown[:2], points.versus)]


def _up_to(most: np.ndarray, batches: np.ndarray) -> np.ndarray:
    """Return a row of batches that ends at `most`: shape (*most, batches)."""
    return np.minimum(batches, np.maximum(most, 1.0)[..., None])


def curves(sweep: BatchSweep) -> pareto.Curves:
    """Return where the chips stand between each user's speed and their own throughput."""
    case = sweep.case
    some = sweep.some_fit[:, None]
    own = _curve(sweep.swept, sweep.batches, some)
    free_batches = np.geomspace(1, np.minimum(sweep.free, case.max_batch.clip(1)), FREE_KNOTS).T
    free = _curve(sweep.over(free_batches), free_batches, some)
    knots = [*range(SMALL), *range(SMALL, len(step_time.BATCHES) - 1, 2), -1]
    marked = np.searchsorted(step_time.BATCHES, pareto.MARKS)
    marks = (
        own.only(marked, step_time.BATCHES[marked] <= case.max_batch[:, None]),
        free.only([-1], some & (sweep.free > 1)[:, None]),
        own.only([-1], some & (case.max_batch < step_time.LARGEST)[:, None]),
    )
    *others, catalogue = _other_curves(sweep)
    return pareto.Curves(
        others=others[:-1],
        versus=others[-1],
        catalogue=catalogue.only(slice(None), ~as_sold(case)[:, None]),
        own=own.only(knots, some),
        free=free,
        named=own.only([2], some & (sweep.free > 1)[:, None]),
        marks=pareto.side_by_side(marks),
        here=_here(sweep),
    )


def _curve(step: Step, batches: np.ndarray, fits: np.ndarray) -> pareto.Curve:
    return pareto.Curve(
        np.where(fits, user_tokens_per_second(step), np.nan),
        np.where(fits, chip_tokens_per_second(step, batches), np.nan),
    )


def _other_curves(sweep: BatchSweep) -> list[pareto.Curve]:
    """Return the curves of the other chips, and of the own one as its data sheet has it.

    They are the same for every bandwidth, peak and batch of the own chip.
    """
    case = sweep.case
    these = [*sweep.others, case.chip]
    stacked = side_by_side([_machine_of(one, case) for one in these])
    lengths, place = np.unique(np.stack([case.context, case.tokens]), axis=1, return_inverse=True)
    context, tokens = lengths[:, :, None]
    most = max_batch(case.architecture, stacked, tokens=tokens, **case.formats)
    most = np.where([_joinable(one, case) for one in these], most, 0.0)
    # Shape (lengths, batches, chips): the figures of the machines stand on the last axis.
    last = np.clip(most, 1.0, step_time.LARGEST)
    batches = np.maximum(last[:, None] / OTHER_KNOTS[:, None], 1.0)
    swept = decode(
        case.architecture, stacked, batch=batches, context=context[:, None], **case.formats
    )
    curve = _curve(swept, batches, most[:, None] >= 1)
    rows = place.ravel()
    return [
        pareto.Curve(curve.user[rows, :, index], curve.chip[rows, :, index])
        for index in range(len(these))
    ]


def _here(sweep: BatchSweep) -> pareto.Curve:
    """Return the scenario's batch on the own chip and, where it fits, on the second one."""
    case, points = sweep.case, sweep.case.points
    second = sweep.others[-1]
    on = _machine_of(second, case)
    most = max_batch(case.architecture, on, tokens=case.tokens, **case.formats)
    other = _curve(
        decode(case.architecture, on, batch=points.batch, context=case.context, **case.formats),
        points.batch,
        (points.batch <= most) & _joinable(second, case) & (points.output > 1),
    )
    own = _curve(sweep.step, points.batch, case.fits & (points.output > 1))
    return pareto.Curve(
        np.stack([own.user, other.user], axis=-1), np.stack([own.chip, other.chip], axis=-1)
    )


def as_sold(case: Case) -> np.ndarray:
    """Say where bandwidth and peak are the chip's own."""
    own = own_figures(case.chip)
    points = case.points
    return (points.bandwidth == own["bandwidth"]) & (points.flops == own["flops"])


def _joinable(one: Chip, case: Case) -> bool:
    """Say whether as many of a chip as the scenario asks for can share a model."""
    return case.points.tp == 1 or one.link is not None


def _machine_of(one: Chip, case: Case) -> Machine:
    points = case.points
    return machine(
        one,
        weights=points.weights,
        architecture=case.architecture,
        tp=points.tp if _joinable(one, case) else 1,
        efficiency=points.efficiency,
        engine=points.engine,
    )


def short_name(one: Chip) -> str:
    """Return a chip's name without its memory and what stands in brackets.

    Examples
    --------
    >>> [short_name(chip(slug)) for slug in ("h100-sxm", "apple-m2-ultra", "gb200")]
    ['H100 SXM', 'Apple M2 Ultra', 'GB200']
    """
    return re.sub(r"\s*\(.*?\)|\s+\d+ ?GB\b", "", one.name)
