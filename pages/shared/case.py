"""Physics of the points of a page, computed once and shared by its figures and its words."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from pages.shared import numbers
from pages.shared.language import Words
from pages.shared.points import Points
from physics.architecture import Architecture
from physics.chips import Chip, chip
from physics.machine import Machine, machine, read_seconds
from physics.memory import bytes_short, max_batch, nearest_that_fits, weight_bytes
from physics.request import Request, request


class Case:
    """What physics says of a page's points.

    Parameters
    ----------
    points : Points
        N scenarios.

    Examples
    --------
    >>> from pages.shared.points import points_from
    >>> from pages.shared.scenario import Scenario
    >>> case = Case(points_from(Scenario(), {"batch": [1, 300]}))
    >>> case.fits.tolist()
    [True, False]
    """

    def __init__(self, points: Points) -> None:
        self.points = points
        self.formats = {"weights": points.weights, "kv": points.kv}

    @cached_property
    def architecture(self) -> Architecture:
        """The model."""
        return self.points.model_architecture()

    @cached_property
    def chip(self) -> Chip:
        """The chip of the catalogue, before sliders changed it."""
        return chip(self.points.chip)

    @cached_property
    def machine(self) -> Machine:
        """The machine, its bandwidth and peak arrays of shape (N,)."""
        points = self.points
        return self.machine_with(points.bandwidth, points.flops)

    def machine_with(self, bandwidth: np.ndarray, flops: np.ndarray) -> Machine:
        """Put the machine together for a bandwidth [GB/s] and a peak [TFLOP/s] of any shape."""
        points = self.points
        return machine(
            self.chip,
            weights=points.weights,
            architecture=self.architecture,
            tp=points.tp,
            efficiency=points.efficiency,
            bandwidth=bandwidth * 1e9,
            flops=flops * 1e12,
        )

    @property
    def own_peak(self) -> float:
        """Peak of the linear layers on the chip of the catalogue [FLOP/s]."""
        own = machine(self.chip, weights=self.points.weights, architecture=self.architecture)
        return float(own.peak)

    @cached_property
    def unit_machine(self) -> Machine:
        """The chips with peak and bandwidth of one: for work and intensity, not for times."""
        return Machine(
            peak=1.0,
            attention_peak=1.0,
            bandwidth=1.0,
            capacity=np.inf,
            link=np.inf,
            tp=self.points.tp,
        )

    @cached_property
    def request(self) -> Request:
        """Prefill, decode and their times."""
        points = self.points
        return request(
            self.architecture,
            self.machine,
            prompt=points.prompt,
            output=points.output,
            batch=points.batch,
            **self.formats,
        )

    @property
    def tokens(self) -> np.ndarray:
        """Tokens of each sequence when its answer is complete."""
        return self.points.prompt + self.points.output

    @property
    def context(self) -> np.ndarray:
        """Cached tokens of each sequence in the middle of the answer, where decode is shown."""
        return self.points.prompt + np.maximum(self.points.output - 2, 0) / 2

    @cached_property
    def weight_bytes(self) -> float:
        """Bytes of the weights."""
        return float(weight_bytes(self.architecture, self.points.weights, self.points.tp))

    @property
    def weight_seconds(self) -> np.ndarray:
        """Time to read the weights once: the floor of a step that touches them all [s]."""
        return read_seconds(self.weight_bytes, self.machine)

    @property
    def capacity(self) -> float:
        """Memory of all chips together [B]."""
        return float(self.machine.capacity) * self.points.tp

    @cached_property
    def short(self) -> np.ndarray:
        """Bytes by which a point does not fit; 0 where it does."""
        return bytes_short(
            self.architecture,
            self.machine,
            batch=self.points.batch,
            tokens=self.tokens,
            **self.formats,
        )

    @property
    def fits(self) -> np.ndarray:
        """Where weights and KV cache fit into memory."""
        return self.short == 0

    @cached_property
    def max_batch(self) -> np.ndarray:
        """Largest batch that fits at each point."""
        return max_batch(self.architecture, self.machine, tokens=self.tokens, **self.formats)

    def timed(self, seconds: np.ndarray) -> np.ndarray:
        """Return times where the point fits, NaN where it does not: it never yields a time."""
        return np.where(self.fits, seconds, np.nan)

    def misfit(self, words: Words) -> list[str]:
        """Say, for each point that does not fit, by how much and what would fit; '' elsewhere."""
        texts = [""] * len(self.points)
        written: dict[tuple[float, float], str] = {}
        for index in np.flatnonzero(~self.fits):
            # Bandwidth and peak change nothing here, so many points share their answer.
            key = (float(self.points.batch[index]), float(self.tokens[index]))
            if key not in written:
                written[key] = self._misfit_text(*key, float(self.short[index]), words)
            texts[index] = written[key]
        return texts

    def _misfit_text(self, batch: float, tokens: float, short: float, words: Words) -> str:
        nearest = nearest_that_fits(
            self.architecture, self.machine, batch=batch, tokens=tokens, **self.formats
        )
        offers = [
            nearest.batch and words("misfit.batch", batch=numbers.number(nearest.batch, words)),
            nearest.tp and words("misfit.tp", tp=numbers.chip_count(nearest.tp, words)),
            nearest.weights and words("misfit.weights", format=nearest.weights),
            nearest.kv and words("misfit.kv", format=nearest.kv),
        ]
        offers = [offer for offer in offers if offer]
        return words(
            "misfit.some" if offers else "misfit.none",
            short=numbers.bytes_decimal(short, words),
            memory=numbers.bytes_decimal(self.capacity, words),
            offers=", ".join(offers),
        )


def or_misfit(sentences: list[str], misfits: list[str]) -> list[str]:
    """Put what does not fit in place of a sentence about times."""
    return [misfit or sentence for sentence, misfit in zip(sentences, misfits, strict=True)]
