"""Two chips that answer the same load: the scenario's, and the one it is compared with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pages.shared.case import Case
from physics.chips import Chip, chip
from physics.machine import machine
from physics.memory import bytes_short
from physics.race import Answer, answer


@dataclass(frozen=True)
class Runner:
    """One of the two chips with the answers it gives at each point.

    Attributes
    ----------
    chip : Chip
    answer : Answer or None
        None where several such chips cannot be joined.
    fits : ndarray of bool
    """

    chip: Chip
    answer: Answer | None
    fits: np.ndarray

    def timed(self, name: str) -> np.ndarray:
        """Return a time of the answer, NaN where it does not fit."""
        if self.answer is None:
            return np.full(self.fits.shape, np.nan)
        return np.where(self.fits, getattr(self.answer, name), np.nan)


def two_runners(case: Case) -> tuple[Runner, Runner]:
    """Compute the scenario's chip as the sliders have it, and the second one as it is."""
    points, second = case.points, chip(case.points.versus)
    load = {name: getattr(points, name) for name in ("prompt", "output", "batch")}

    def answered(on) -> Answer:
        return answer(case.architecture, on, **load, **case.formats)

    first = Runner(case.chip, answered(case.machine), case.fits)
    if points.tp > 1 and second.link is None:
        return first, Runner(second, None, np.zeros(len(points), dtype=bool))
    on = machine(
        second,
        weights=points.weights,
        architecture=case.architecture,
        tp=points.tp,
        efficiency=points.efficiency,
        engine=points.engine,
    )
    short = bytes_short(
        case.architecture, on, batch=points.batch, tokens=case.tokens, **case.formats
    )
    return first, Runner(second, answered(on), short == 0)
