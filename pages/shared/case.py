"""Physics of the points of a page, computed once and shared by its figures and its words."""

from __future__ import annotations

from functools import cached_property
from html import escape
from urllib.parse import urlencode

import numpy as np

from pages.shared import numbers
from pages.shared.language import Words
from pages.shared.points import Points
from pages.shared.scenario import Scenario, own_figures
from physics.architecture import Architecture
from physics.chips import Chip, chip
from physics.machine import Machine, machine
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
            engine=points.engine,
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
                written[key] = self._misfit_text(int(index), words)
            texts[index] = written[key]
        return texts

    def short_misfit(self, words: Words) -> list[str]:
        """Say 'does not fit' for each point that does not; '' elsewhere."""
        return ["" if fits else words("misfit.short") for fits in self.fits.tolist()]

    def _misfit_text(self, index: int, words: Words) -> str:
        point = self._scenario_at(index)
        nearest = nearest_that_fits(
            self.architecture,
            self.machine,
            batch=point.batch,
            tokens=point.prompt + point.output,
            **self.formats,
        )
        texts = {
            "batch": lambda value: words("misfit.batch", batch=numbers.number(value, words)),
            "tp": lambda value: words("misfit.tp", tp=numbers.chip_count(value, words)),
            "weights": lambda value: words("misfit.weights", format=value),
            "kv": lambda value: words("misfit.kv", format=value),
        }
        offers = []
        for name, write in texts.items():
            value = getattr(nearest, name)
            if value is not None:
                query = point.replaced(**{name: value}).query() | {"lang": words.code}
                link = escape("?" + urlencode(query), quote=True)
                offers.append(f'<a href="{link}" target="_self">{escape(write(value))}</a>')
        return words(
            "misfit.some" if offers else "misfit.none",
            short=numbers.bytes_decimal(float(self.short[index]), words),
            memory=numbers.bytes_decimal(self.capacity, words),
            offers=", ".join(offers),
        )

    def _scenario_at(self, index: int) -> Scenario:
        """Return one point as a scenario; the chip's own bandwidth and peak are no choice."""
        points, own = self.points, own_figures(self.chip)
        figures = {name: float(getattr(points, name)[index]) for name in own}
        return points.scenario.replaced(
            **{name: int(getattr(points, name)[index]) for name in ("prompt", "output", "batch")},
            **{name: None if value == own[name] else value for name, value in figures.items()},
        )


def or_misfit(sentences: list[str], misfits: list[str]) -> list[str]:
    """Put what does not fit in place of a sentence about times."""
    return [misfit or sentence for sentence, misfit in zip(sentences, misfits, strict=True)]


def pick(chosen: np.ndarray, yes: list[str], no: list[str]) -> list[str]:
    """Take each text from the first list where `chosen`, else from the second.

    Examples
    --------
    >>> pick(np.array([True, False]), ["a", "b"], ["c", "d"])
    ['a', 'd']
    """
    return [a if some else b for some, a, b in zip(chosen.tolist(), yes, no, strict=True)]


def whole(values: np.ndarray) -> list[float]:
    """Round up to whole numbers, which are then written in full; infinity stays.

    Examples
    --------
    >>> whole(np.array([44.2, np.inf]))
    [45, inf]
    """
    return [int(np.ceil(value)) if np.isfinite(value) else value for value in values.tolist()]
