"""Designs under the same requests: who keeps the targets, which is enough, and what holds one back.

A design is judged on arrivals: of the requests that come in a second, how many are served within
the targets. That needs no end of the run, whose last answers are written when nothing else arrives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from physics.kv_cache import kv_bytes_per_sequence
from physics.serving.design import Design, highest_prefill_rate
from physics.serving.ledger import DECODE, MIXED, PREFILL
from physics.serving.result import Result
from physics.serving.sweep import ALIKE
from physics.serving.targets import Spread, Targets, spread
from physics.serving.traffic import Load, LogNormal, Traffic, given, shape
from physics.step import decode, prefill

Array = NDArray[np.float64]

ITL_SHARE = Targets.itl_share
"""Share of the gaps of an answer that must keep to the target."""

FULL = 0.9
"""A link asked for more than this share of what it carries lets caches wait."""

MET = 0.99
"""Share of the requests that keep the targets where a design is said to keep them."""

SUSTAINED = 0.5
"""Share of the requests below which no design is said to serve a traffic."""

COMFORTABLE_BATCH = 16
"""Sequences that a decode instance writes at the rate that is suggested."""

SPREAD_OF = "azure-conversation"
LONGEST = 4
"""Longest length that is drawn, in means."""


def varied(tokens: int, part: str) -> LogNormal:
    """Return lengths of a mean, as widely spread as those of a published trace.

    Parameters
    ----------
    part : str
        'prompt' or 'output'.

    Examples
    --------
    >>> varied(2048, "prompt").deviation > varied(2048, "output").deviation
    True
    """
    trace = getattr(shape(SPREAD_OF), part)
    return LogNormal(tokens, tokens * trace.deviation / trace.mean, 1, LONGEST * tokens)


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
    """One request on an empty server: what targets and rates are measured by.

    Attributes
    ----------
    ttft_seconds, step_seconds : float
        Prefill of the prompt, and a decode step in the middle of the answer [s].
    shared_step_seconds : float
        The same step with `COMFORTABLE_BATCH` answers under way [s].
    kv_bytes : float
        KV cache of the prompt, which a split design sends [B].
    """

    ttft_seconds: float
    step_seconds: float
    shared_step_seconds: float
    kv_bytes: float

    @property
    def steps_per_prefill(self) -> float:
        """Decode steps that would fit into the prefill."""
        return self.ttft_seconds / self.step_seconds

    def sent_seconds(self, link: float) -> float:
        """Return how long the cache takes over a link that is free [s]."""
        return self.kv_bytes / link

    def most_sent(self, link: float) -> float:
        """Return how many such caches one link carries in a second [1/s]."""
        return link / self.kv_bytes


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
    >>> round(one.ttft_seconds * 1e3, 1), round(one.sent_seconds(50e9) * 1e3, 1)
    (30.3, 5.4)
    """
    formats = {"weights": design.weights, "kv": design.kv}
    first, last = design.pools[0].machine, design.pools[-1].machine
    read = prefill(design.architecture, first, batch=1, prompt=prompt, **formats)
    context = prompt + max(output - 2, 0) / 2
    batch = np.array([1, COMFORTABLE_BATCH])
    write = decode(design.architecture, last, batch=batch, context=context, **formats)
    return Alone(
        float(read.seconds_sum),
        *write.seconds_sum.tolist(),
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


@dataclass(frozen=True, eq=False)
class Kept:
    """The tightest targets that each request keeps: any targets are judged without a simulation.

    Attributes
    ----------
    ttft, tpot, itl : ndarray
        Shape (requests,): time to first token, mean gap, and the gap that all but
        1 - `ITL_SHARE` of a request's gaps keep to [s]; -inf for a request without gaps.
    """

    ttft: Array
    tpot: Array
    itl: Array

    def met(self, targets: Targets) -> NDArray[np.bool_]:
        """Return which requests meet every target that is given, as `Result.met` does."""
        if targets.itl_share != ITL_SHARE:
            raise ValueError(f"these gaps are of the share {ITL_SHARE}")
        met = np.ones(len(self.ttft), dtype=bool)
        for name in ("ttft", "tpot", "itl"):
            target = getattr(targets, name)
            if target is not None:
                met &= getattr(self, name) <= target
        return met

    def attainment(self, targets: Targets) -> float:
        """Return the share of requests that meet the targets."""
        return float(self.met(targets).mean())


def kept(seen: Result) -> Kept:
    """Return the tightest targets that each request of a simulation keeps.

    Examples
    --------
    >>> from physics.catalogue import model
    >>> from physics.chips import chip
    >>> from physics.machine import machine
    >>> from physics.serving.design import colocated
    >>> from physics.serving.simulation import simulate
    >>> from physics.serving.traffic import Fixed
    >>> load = Load(requests=100, prompt=Fixed(2048), output=Fixed(256))
    >>> design = colocated(model("llama-3.1-8b"), machine(chip("h100-sxm")))
    >>> seen, targets = simulate(design, load.at(5)), Targets(ttft=0.1, itl=0.01, tpot=0.01)
    >>> kept(seen).attainment(targets) == seen.attainment(targets)
    True
    """
    itl = np.full(len(seen), -np.inf)
    ends = np.cumsum(seen.output_tokens - 1)
    for request, gaps in enumerate(np.split(seen.itl_seconds, ends[:-1])):
        if len(gaps):
            late = int((1 - ITL_SHARE) * len(gaps) + 1e-9)
            itl[request] = np.partition(gaps, len(gaps) - 1 - late)[len(gaps) - 1 - late]
    return Kept(seen.ttft_seconds, np.nan_to_num(seen.tpot_seconds, nan=-np.inf), itl)


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
        keep those of the others.
    ttft, itl, queue, transfer : Spread
        Times over the requests, or over all gaps between tokens [s].
    step_seconds : float
        Median step that only writes [s].
    stop_seconds : float
        Median step that reads whole prompts on an instance that also writes: nobody gets a token
        meanwhile [s]. NaN in other designs.
    mixed_seconds : float
        Median step that writes and reads a piece of a prompt [s]. NaN where there is none.
    stops : float
        Gaps of an answer, on average, that hold such a stop as a whole.
    prefill_busy : float
        Share of the time that the instances which read prompts do so.
    decode_batch : float
        Sequences written in a step, on average.
    link_load : float
        KV cache that comes in a second over what the links can carry; above 1 they fall behind.
        NaN without a link.
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
    link_load: float

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
        return self.link_load > FULL


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
    >>> seen = standing(simulate(design, steady(load, 16)), Targets(ttft=0.2, itl=0.01))
    >>> seen.missed, seen.ttft_share
    ('itl', 1.0)
    """
    design, limits = seen.design, kept(seen)
    first, last = design.pools[0].name, design.pools[-1].name
    stop = _median_step(seen, PREFILL) if design.kind == "colocated" else np.nan
    return Standing(
        kind=design.kind,
        chips=design.chips,
        arrived=seen.traffic.rate,
        attainment=limits.attainment(targets),
        ttft_share=limits.attainment(Targets(ttft=targets.ttft)),
        itl_share=limits.attainment(Targets(itl=targets.itl, tpot=targets.tpot)),
        ttft=seen.ttft,
        itl=seen.itl,
        queue=seen.queue,
        transfer=seen.transfer,
        step_seconds=_median_step(seen, DECODE),
        stop_seconds=stop,
        mixed_seconds=_median_step(seen, MIXED),
        stops=float((seen.itl_seconds > stop).sum()) / len(seen),
        prefill_busy=seen.utilisation(first, PREFILL) + seen.utilisation(first, MIXED),
        decode_batch=seen.mean_batch(last),
        link_load=_link_load(seen),
    )


def _link_load(seen: Result) -> float:
    design = seen.design
    if design.kind != "disaggregated":
        return np.nan
    ends = min(pool.instances for pool in design.pools)
    return float(seen.traffic.rate * seen.transfer_bytes.mean() / (design.link * ends))


def _median_step(seen: Result, kind: int) -> float:
    """Return the median length of the steps of one kind [s]; NaN where there is none."""
    each = []
    for one in seen.instances:
        chosen = one.kind == kind
        steps = one.steps[chosen]
        each.append(np.repeat(one.seconds[chosen] / steps, steps))
    return spread(np.concatenate(each)).p50


def enough(goodput: Sequence[float], chips: Sequence[int], arrived: float) -> int:
    """Return the first design of a list that is as good as the best; -1 if none serves the traffic.

    Parameters
    ----------
    goodput, chips : sequence
        Of designs from the simplest to the most complicated one; they are compared by chip.
    arrived : float
        Requests that come in a second [1/s].

    Examples
    --------
    >>> enough([8.0, 9.95, 10.0], [2, 2, 2], 10.0), enough([0.2, 0.1], [2, 2], 10.0)
    (1, -1)
    """
    served = np.asarray(goodput, dtype=float)
    if served.max() < SUSTAINED * arrived:
        return -1
    each = served / np.asarray(chips)
    return int((each >= (1 - ALIKE) * each.max()).argmax())
