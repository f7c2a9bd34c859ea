"""Designs under the same requests: who keeps the targets, which is enough, and what holds one back.

A design is judged on arrivals: of the requests that come in a second, how many are served within
the targets. That needs no end of the run, whose last answers arrive when nothing else does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from physics.kv_cache import kv_bytes_per_sequence
from physics.serving.design import Design, highest_prefill_rate
from physics.serving.ledger import DECODE, MIXED, PREFILL
from physics.serving.result import Result
from physics.serving.sweep import ALIKE
from physics.serving.targets import Spread, Targets, spread
from physics.serving.traffic import Load, Traffic, given
from physics.step import decode, prefill

FULL = 0.9
"""A pool or a link that is busy for more than this share of the time lets others wait."""

MET = 0.99
"""Share of the requests that keep the targets where a design is said to keep them."""

COMFORTABLE_BATCH = 16
"""Sequences that a decode instance writes at the rate that is suggested."""


def steady(load: Load, rate: float) -> Traffic:
    """Return the load's requests, arriving at random, of which exactly `rate` come in a second.

    A Poisson process of which the number of arrivals in its time is known: with a few hundred
    requests the rate that was drawn would be off by some percent.

    Examples
    --------
    >>> from physics.serving.traffic import Fixed
    >>> round(steady(Load(requests=50, prompt=Fixed(100), output=Fixed(10)), 8).rate, 9)
    8.0
    """
    drawn = load.at(rate)
    if len(drawn) < 2:
        return drawn
    return given(
        drawn.arrival_seconds * (drawn.rate / rate),
        prompt=drawn.prompt_tokens,
        output=drawn.output_tokens,
    )


@dataclass(frozen=True)
class Alone:
    """One request on an empty server: what the targets and the rates are measured by.

    Attributes
    ----------
    ttft_seconds, step_seconds : float
        Prefill of the prompt, and a decode step in the middle of the answer [s].
    kv_bytes : float
        KV cache of the prompt, which a split design sends [B].
    """

    ttft_seconds: float
    step_seconds: float
    kv_bytes: float


def alone(design: Design, *, prompt: float, output: float) -> Alone:
    """Return what one request takes on a design where nothing else is under way.

    Examples
    --------
    >>> from physics.catalogue import model
    >>> from physics.chips import chip
    >>> from physics.machine import machine
    >>> from physics.serving.design import colocated
    >>> one = alone(colocated(model("llama-3.1-8b"), machine(chip("h100-sxm"))),
    ...             prompt=2048, output=256)
    >>> round(one.ttft_seconds * 1e3, 1), round(one.kv_bytes / 1e6)
    (30.1, 268)
    """
    formats = {"weights": design.weights, "kv": design.kv}
    first, last = design.pools[0].machine, design.pools[-1].machine
    read = prefill(design.architecture, first, batch=1, prompt=prompt, **formats)
    context = prompt + max(output - 2, 0) / 2
    write = decode(design.architecture, last, batch=1, context=context, **formats)
    return Alone(
        float(read.seconds_sum),
        float(write.seconds_sum),
        float(kv_bytes_per_sequence(design.architecture, prompt, design.kv)),
    )


def suggested_rate(split: Design, *, prompt: float, output: float) -> float:
    """Return a rate at which both pools of a split design have work and neither is full [1/s].

    The prefill pool is busy for half of the time at most, and a decode instance writes
    `COMFORTABLE_BATCH` sequences at most (Little's law: batch = rate x output x step).

    Examples
    --------
    >>> from physics.catalogue import model
    >>> from physics.chips import chip
    >>> from physics.machine import machine
    >>> from physics.serving.design import disaggregated
    >>> pair = disaggregated(model("llama-3.1-8b"), machine(chip("h100-sxm")))
    >>> 8 < suggested_rate(pair, prompt=2048, output=256) < 17
    True
    """
    pool = split.pools[-1]
    step = decode(
        split.architecture,
        pool.machine,
        batch=COMFORTABLE_BATCH,
        context=prompt + output / 2,
        weights=split.weights,
        kv=split.kv,
    )
    writes = pool.instances * COMFORTABLE_BATCH / (output * float(step.seconds_sum))
    return min(highest_prefill_rate(split, prompt=prompt) / 2, writes)


@dataclass(frozen=True)
class Standing:
    """What one design reaches under a traffic, and the times that explain it.

    Attributes
    ----------
    kind : str
        'colocated', 'chunked' or 'disaggregated'.
    chips : int
    arrived : float
        Requests that come in a second [1/s].
    attainment, ttft_share, itl_share : float
        Share of the requests that keep all targets; that keep the one of the first token; that
        keep the one of the others.
    ttft, itl, queue, transfer : Spread
        Times over the requests, or over all gaps between tokens [s].
    step_seconds : float
        Median step that only writes [s].
    stop_seconds : float
        Median step that only reads, on an instance that also writes: nobody gets a token
        meanwhile [s]. NaN where there is none.
    mixed_seconds : float
        Median step that writes and reads a piece of a prompt [s]. NaN where there is none.
    stops : float
        Gaps of an answer, on average, that hold such a stop as a whole.
    prefill_busy : float
        Share of the time that the instances which read prompts do so.
    decode_batch : float
        Sequences written in a step, on average.
    link_busy : float
        Share of the time that the links send. NaN without a link.
    """

    kind: str
    chips: int
    arrived: float
    attainment: float
    ttft_share: float
    itl_share: float
    ttft: Spread
    itl: Spread
    queue: Spread
    transfer: Spread
    step_seconds: float
    stop_seconds: float
    mixed_seconds: float
    stops: float
    prefill_busy: float
    decode_batch: float
    link_busy: float

    @property
    def goodput(self) -> float:
        """Requests that come in a second and are served within the targets [1/s]."""
        return self.arrived * self.attainment

    @property
    def missed(self) -> str:
        """Return which target is missed more: 'none', 'ttft' or 'itl'."""
        if self.attainment >= MET:
            return "none"
        return "ttft" if self.ttft_share < self.itl_share else "itl"

    @property
    def link_is_full(self) -> bool:
        """Whether caches wait for the link."""
        return self.link_busy > FULL


def standing(seen: Result, targets: Targets) -> Standing:
    """Judge a simulation.

    Examples
    --------
    >>> from physics.catalogue import model
    >>> from physics.chips import chip
    >>> from physics.machine import machine
    >>> from physics.serving.design import colocated
    >>> from physics.serving.simulation import simulate
    >>> from physics.serving.traffic import Fixed
    >>> load = Load(requests=200, prompt=Fixed(2048), output=Fixed(256))
    >>> design = colocated(model("llama-3.1-8b"), machine(chip("h100-sxm")), instances=2)
    >>> targets = Targets(ttft=0.2, itl=0.01)
    >>> seen = standing(simulate(design, steady(load, 16)), targets)
    >>> seen.missed, seen.ttft_share
    ('itl', 1.0)
    """
    design = seen.design
    split = design.kind == "disaggregated"
    first, last = design.pools[0].name, design.pools[-1].name
    stop = np.nan if split else _median_step(seen, PREFILL)
    gaps = np.maximum(seen.output_tokens - 1, 0).sum()
    mixed = 0.0 if split else seen.utilisation(first, MIXED)
    return Standing(
        kind=design.kind,
        chips=design.chips,
        arrived=seen.traffic.rate,
        attainment=seen.attainment(targets),
        ttft_share=seen.attainment(Targets(ttft=targets.ttft)),
        itl_share=seen.attainment(
            Targets(itl=targets.itl, tpot=targets.tpot, itl_share=targets.itl_share)
        ),
        ttft=seen.ttft,
        itl=seen.itl,
        queue=seen.queue,
        transfer=seen.transfer,
        step_seconds=_median_step(seen, DECODE),
        stop_seconds=stop,
        mixed_seconds=_median_step(seen, MIXED),
        stops=float((seen.itl_seconds > stop).sum()) / len(seen) if gaps else 0.0,
        prefill_busy=seen.utilisation(first, PREFILL) + mixed,
        decode_batch=seen.mean_batch(last),
        link_busy=seen.link_utilisation if split else np.nan,
    )


def _median_step(seen: Result, kind: int) -> float:
    """Return the median length of the steps of one kind [s]; NaN where there is none."""
    each = [
        np.repeat(one.seconds / one.steps, one.steps)[np.repeat(one.kind == kind, one.steps)]
        for one in seen.instances
    ]
    return spread(np.concatenate(each)).p50


def enough(standings: Sequence[Standing]) -> int | None:
    """Return the first design of the list that is as good as the best; None: none keeps a target.

    The list goes from the simplest design to the most complicated one. Designs of different size
    are compared by chip.

    Examples
    --------
    >>> enough([])
    """
    if not standings:
        return None
    each = np.array([one.goodput / one.chips for one in standings])
    best = each.max()
    return int((each >= (1 - ALIKE) * best).argmax()) if best > 0 else None


def alike(one: Standing, other: Standing) -> bool:
    """Say whether two designs serve equally many requests within the targets, to a percent."""
    mine, theirs = one.goodput / one.chips, other.goodput / other.chips
    return abs(mine - theirs) <= ALIKE * max(mine, theirs)
