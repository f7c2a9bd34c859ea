"""Services of a scenario, simulated: kept for the next time, with what they depend on and no more.

The same requests meet every design, and what a design does not depend on (the link of a co-located
one, the targets of any) is not part of its key, so that a slider simulates only what it changes.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

from pages.shared.scenario import PAGE_OPTIONS, Scenario
from physics.chips import chip
from physics.errors import InputError
from physics.machine import Machine, machine
from physics.serving.contest import (
    Alone,
    Kept,
    Standing,
    alone,
    enough,
    kept,
    steady,
    suggested_rate,
    varied,
)
from physics.serving.design import (
    KINDS,
    Design,
    chunked,
    colocated,
    disaggregated,
    highest_prefill_rate,
)
from physics.serving.result import Result
from physics.serving.simulation import simulate, simulation
from physics.serving.targets import Targets
from physics.serving.times import LONGEST
from physics.serving.traffic import Fixed, Load, Traffic

GIGABYTE = 1e9
MILLISECOND = 1e-3

REQUESTS = 200
"""Requests simulated when a slider is released, unless that takes too long."""

CURVE_REQUESTS = 80
"""Requests simulated for each point of a curve or a map."""

MOST_CHUNKS = 3000
MOST_TOKENS = 2_500_000
FEWEST_REQUESTS = 20
"""Long prompts in small pieces take many steps, long answers much memory: then fewer requests."""

TTFT_SLACK, ITL_SLACK = 5, 1.75
"""Targets where none is given: prompts read alone, and steps with a comfortable batch."""

FACTORS = (0.125, 0.25, 0.5, 1, 1.5, 2, 3)
"""Rates of a curve, in rates that suit the model and the chips."""

OCTAVES = range(-4, 4)
"""Prompts of the map, in octaves of the scenario's."""

_NICE = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0)


def nice(value: float) -> float:
    """Return the round number that is nearest in ratio.

    Examples
    --------
    >>> nice(0.0303 * 5), nice(11.2), nice(9.4)
    (0.15, 12.0, 10.0)
    """
    decade = int(np.floor(np.log10(value)))
    stops = [float(f"{step}e{at}") for at in (decade, decade + 1) for step in _NICE]
    return min(stops, key=lambda stop: abs(np.log(stop / value)))


@dataclass(frozen=True)
class Service:
    """A design as plain values: equal services behave alike."""

    kind: str
    model: str
    chips: tuple[tuple[str, float | None, float | None], ...]
    tp: int
    weights: str
    kv: str
    efficiency: str
    engine: str
    instances: tuple[int, ...]
    link: float | None
    budget: int | None

    @classmethod
    def of(cls, scenario: Scenario, kind: str) -> Service:
        """Take from a scenario what a design depends on."""
        split = kind == "disaggregated"
        own = (scenario.chip, scenario.bandwidth, scenario.flops)
        other = (scenario.versus, None, None) if scenario.decode_chip == "versus" else own
        pools = (scenario.prefill_pool, scenario.decode_pool)
        return cls(
            kind=kind,
            model=scenario.model,
            chips=(own, other) if split else (own,),
            tp=scenario.tp,
            weights=scenario.weights,
            kv=scenario.kv,
            efficiency=scenario.efficiency,
            engine=scenario.engine,
            instances=pools if split else (sum(pools),),
            link=scenario.link if split else None,
            budget=scenario.budget if kind == "chunked" else None,
        )

    def design(self) -> Design:
        """Put the design together."""
        architecture = Scenario(model=self.model).model_architecture()
        machines = [self._machine(*own) for own in self.chips]
        formats = {"weights": self.weights, "kv": self.kv}
        if self.kind == "disaggregated":
            return disaggregated(
                architecture,
                machines[0],
                decode_machine=machines[1],
                prefill_instances=self.instances[0],
                decode_instances=self.instances[1],
                link=self.link * GIGABYTE,
                **formats,
            )
        if self.kind == "chunked":
            formats["chunk_tokens"] = self.budget
        make = chunked if self.kind == "chunked" else colocated
        return make(architecture, machines[0], instances=self.instances[0], **formats)

    def _machine(self, slug: str, bandwidth: float | None, flops: float | None) -> Machine:
        return machine(
            chip(slug),
            weights=self.weights,
            architecture=Scenario(model=self.model).model_architecture(),
            tp=self.tp,
            efficiency=self.efficiency,
            engine=self.engine,
            bandwidth=None if bandwidth is None else bandwidth * 1e9,
            flops=None if flops is None else flops * 1e12,
        )


@dataclass(frozen=True)
class Asked:
    """A traffic as plain values."""

    rate: float
    prompt: int
    output: int
    lengths: str
    requests: int

    def traffic(self) -> Traffic:
        """Draw the requests."""
        if self.lengths == "spread":
            prompt, output = varied(self.prompt, "prompt"), varied(self.output, "output")
        else:
            prompt, output = Fixed(self.prompt), Fixed(self.output)
        return steady(Load(self.requests, prompt, output), self.rate)

    @property
    def longest(self) -> int:
        """Tokens of the longest prompt with its answer."""
        traffic = self.traffic()
        return int((traffic.prompt_tokens + traffic.output_tokens).max())


@dataclass(frozen=True)
class Question:
    """A scenario with what it leaves open filled in.

    Attributes
    ----------
    rate : float
        Requests a second.
    ttft_target, itl_target : float
        [s].
    alone : Alone
        One request on the scenario's chips.
    suits : float
        A rate that suits the model and the chips [1/s].
    most_prompts : float
        Prompts that the prefill pool can read in a second [1/s].
    """

    scenario: Scenario
    rate: float
    ttft_target: float
    itl_target: float
    alone: Alone
    suits: float
    most_prompts: float

    @classmethod
    def of(cls, scenario: Scenario) -> Question:
        """Fill in what suits the model and the chips."""
        split = Service.of(scenario, "disaggregated").design()
        load = {"prompt": scenario.prompt, "output": scenario.output}
        one = alone(Service.of(scenario, "colocated").design(), **load)
        suits = nice(suggested_rate(split, **load))
        lowest = PAGE_OPTIONS["rate"].minimum
        given = {
            "ttft_target": nice(one.ttft_seconds * TTFT_SLACK),
            "itl_target": nice(one.shared_step_seconds * ITL_SLACK),
        } | {
            name: getattr(scenario, name) * MILLISECOND
            for name in ("ttft_target", "itl_target")
            if getattr(scenario, name) is not None
        }
        return cls(
            scenario=scenario,
            rate=scenario.rate or max(suits, lowest),
            alone=one,
            suits=suits,
            most_prompts=highest_prefill_rate(split, prompt=scenario.prompt),
            **given,
        )

    @property
    def targets(self) -> Targets:
        """What a request must keep: the first token, 99 % of the gaps, and their mean."""
        return Targets(ttft=self.ttft_target, itl=self.itl_target, tpot=self.itl_target)

    @property
    def requests(self) -> int:
        """Requests simulated at once."""
        return self._few_enough(REQUESTS, self.scenario.prompt)

    def asked(
        self, rate: float | None = None, prompt: int | None = None, requests: int | None = None
    ) -> Asked:
        """Return the traffic, or the same at another rate, prompt or number of requests."""
        return Asked(
            rate=rate or self.rate,
            prompt=prompt or self.scenario.prompt,
            output=self.scenario.output,
            lengths=self.scenario.lengths,
            requests=requests or self.requests,
        )

    def service(self, kind: str) -> Service:
        """Return one of the designs."""
        return Service.of(self.scenario, kind)

    def stated(self) -> dict[str, float]:
        """Return rate and targets as options of a scenario, so that they stay when others move."""
        return {
            "rate": self.rate,
            "ttft_target": self.ttft_target / MILLISECOND,
            "itl_target": self.itl_target / MILLISECOND,
        }

    @property
    def rates(self) -> tuple[float, ...]:
        """Rates of a curve [1/s]."""
        return tuple(nice(self.suits * factor) for factor in FACTORS)

    @property
    def prompts(self) -> tuple[int, ...]:
        """Prompts of the map [tokens]."""
        wanted = {round(self.scenario.prompt * 2.0**octave) for octave in OCTAVES}
        return tuple(sorted(tokens for tokens in wanted if 1 <= tokens <= LONGEST // 8))

    def points(self, prompt: int | None = None) -> list[Asked]:
        """Return the traffics of a curve, at one prompt."""
        requests = self._few_enough(CURVE_REQUESTS, prompt or self.scenario.prompt)
        return [self.asked(rate, prompt, requests) for rate in self.rates]

    def _few_enough(self, wanted: int, prompt: int) -> int:
        chunks = prompt / self.scenario.budget
        most = min(wanted, MOST_CHUNKS / chunks, MOST_TOKENS / self.scenario.output)
        return max(int(most), FEWEST_REQUESTS)


@dataclass(frozen=True)
class Judged:
    """A comparison with what each design reached in it, by the design's kind."""

    question: Question
    stood: Mapping[str, Standing]


def _key(one: Service | Asked) -> str:
    return repr(one)


_HASHED = {Service: _key, Asked: _key}


@st.cache_resource(max_entries=24, show_spinner=False, hash_funcs=_HASHED)
def simulated(service: Service, asked: Asked) -> Result:
    """Simulate, or return what was simulated before; shared by all sessions, never changed."""
    return simulate(service.design(), asked.traffic())


@st.cache_resource(max_entries=6_000, show_spinner=False, hash_funcs=_HASHED)
def limits(service: Service, asked: Asked) -> Kept:
    """Return which targets each request keeps: small, so that many are remembered."""
    return kept(simulate(service.design(), asked.traffic()))


@dataclass(frozen=True, eq=False)
class Curve:
    """Goodput of one design at each rate: `rates` and `goodput` of shape (rates,) [1/s]."""

    kind: str
    rates: np.ndarray
    goodput: np.ndarray


def curve(question: Question, kind: str) -> Curve:
    """Return what a design serves within the targets at each rate."""
    points = question.points()
    shares = [
        limits(question.service(kind), asked).attainment(question.targets) for asked in points
    ]
    rates = np.array(question.rates)
    return Curve(kind, rates, rates * shares)


@dataclass(frozen=True, eq=False)
class Map:
    """Which design is enough, for each prompt and rate.

    Attributes
    ----------
    prompts, rates : tuple
        The axes [tokens], [1/s].
    attainment : ndarray
        Shape (prompts, rates, designs), in the order of `KINDS`.
    winner : ndarray of int
        Shape (prompts, rates): place in `KINDS`; -1: no design serves half of the requests.
    """

    prompts: tuple[int, ...]
    rates: tuple[float, ...]
    attainment: np.ndarray
    winner: np.ndarray


def map_key(question: Question) -> tuple[object, ...]:
    """Return what the map depends on."""
    services = tuple(question.service(kind) for kind in KINDS)
    return (*services, question.targets, *question.prompts, *question.points())


def drawing_map(question: Question) -> Generator[float, None, Map]:
    """Simulate the map cell by cell, and yield the share that is done."""
    prompts, rates = question.prompts, question.rates
    services = [question.service(kind) for kind in KINDS]
    chips = [one.design().chips for one in services]
    attainment = np.zeros((len(prompts), len(rates), len(services)))
    winner = np.full((len(prompts), len(rates)), -1)
    for row, prompt in enumerate(prompts):
        for column, asked in enumerate(question.points(prompt)):
            for place, service in enumerate(services):
                attainment[row, column, place] = _share(service, asked, question.targets)
                yield (row + (column + (place + 1) / len(services)) / len(rates)) / len(prompts)
            shares = attainment[row, column]
            winner[row, column] = enough(asked.rate * shares, chips, asked.rate)
    return Map(prompts, rates, attainment, winner)


def _share(service: Service, asked: Asked, targets: Targets) -> float:
    try:
        return limits(service, asked).attainment(targets)
    except InputError:  # a prompt that does not fit in memory is not served
        return 0.0


def simulating(
    services: Sequence[Service], asked: Asked
) -> Generator[float, None, tuple[Result, ...]]:
    """Simulate several designs, and yield the share that is done."""
    seen = []
    for place, service in enumerate(services):
        running = simulation(service.design(), asked.traffic(), every=20)
        while True:
            try:
                now = next(running)
            except StopIteration as end:
                seen.append(end.value)
                break
            yield (place + now.ended / now.requests) / len(services)
    return tuple(seen)
