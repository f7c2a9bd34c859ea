"""What came out of a simulation: the timeline of every request and of every instance."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from physics.metrics import time_per_output_token
from physics.serving.design import Design
from physics.serving.ledger import Ledger, StepLog
from physics.serving.targets import Spread, Targets, spread
from physics.serving.traffic import Traffic

Array = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Intervals:
    """What one instance did, in order: arrays of shape (intervals,).

    Attributes
    ----------
    pool : str
        'both', 'prefill' or 'decode'.
    start, end : ndarray
        Moments [s]; where the instance waits there is no interval.
    kind : ndarray of int
        `ledger.PREFILL` (0), `DECODE` (1) or `MIXED` (2).
    prompt_tokens, prompts : ndarray of int
        Tokens of prompts that each step reads, and of how many prompts.
    writing : ndarray of int
        Sequences that get a token in each step.
    steps : ndarray of int
        Steps in the interval; several where they only write, or read one prompt in pieces.
    token_seconds : ndarray
        End of each step that writes [s].
    """

    pool: str
    start: Array
    end: Array
    kind: Integers
    prompt_tokens: Integers
    prompts: Integers
    writing: Integers
    steps: Integers
    token_seconds: Array

    @property
    def seconds(self) -> Array:
        """Length of each interval [s]."""
        return self.end - self.start

    def busy_seconds(self, since: float, until: float, kind: int | None = None) -> float:
        """Time spent in steps between two moments, in steps of one kind or of any [s]."""
        inside = np.clip(self.end, since, until) - np.clip(self.start, since, until)
        return float((inside if kind is None else inside[self.kind == kind]).sum())


@dataclass(frozen=True, eq=False)
class Result:
    """Timelines of all requests: arrays of shape (requests,), in the order of arrival.

    Attributes
    ----------
    arrival, prefill_start, first_token, decode_start, end : ndarray
        Moments [s]. The first token comes with the end of the prefill; `decode_start` is when the
        request joined a batch that is written (NaN with a single token of output).
    transfer_start, transfer_end, transfer_bytes : ndarray
        When its KV cache went over the link [s], and how much it was [B]; NaN and 0 without.
    prefill_instance, decode_instance : ndarray of int
        Places in `instances`; -1: none.
    preemptions : ndarray of int
        How often its cache was dropped for want of memory.
    token_seconds : ndarray
        Moments of all output tokens of the first request, then of the second, ... [s].
    instances : tuple of Intervals
    """

    design: Design
    traffic: Traffic
    arrival: Array
    prefill_start: Array
    first_token: Array
    transfer_start: Array
    transfer_end: Array
    transfer_bytes: Array
    decode_start: Array
    end: Array
    prefill_instance: Integers
    decode_instance: Integers
    preemptions: Integers
    token_seconds: Array
    instances: tuple[Intervals, ...]

    def __len__(self) -> int:
        return len(self.arrival)

    # Each request

    @property
    def output_tokens(self) -> Integers:
        """Tokens of each answer."""
        return self.traffic.output_tokens

    @cached_property
    def first_place(self) -> Integers:
        """Place of each request's first token in `token_seconds`."""
        return np.cumsum(self.output_tokens) - self.output_tokens

    def tokens_of(self, request: int) -> Array:
        """Moments of the tokens of one request [s]."""
        first = self.first_place[request]
        return self.token_seconds[first : first + self.output_tokens[request]]

    @property
    def queue_seconds(self) -> Array:
        """Time before the prefill of each request starts [s]."""
        return self.prefill_start - self.arrival

    @property
    def ttft_seconds(self) -> Array:
        """Time to first token of each request, its waiting included [s]."""
        return self.first_token - self.arrival

    @property
    def e2e_seconds(self) -> Array:
        """Time from arrival to the last token of each request [s]."""
        return self.end - self.arrival

    @property
    def tpot_seconds(self) -> Array:
        """Mean time of an output token after the first [s]; NaN for a single token."""
        return time_per_output_token(
            e2e_seconds=self.e2e_seconds,
            ttft_seconds=self.ttft_seconds,
            output_tokens=self.output_tokens,
        )

    @property
    def transfer_seconds(self) -> Array:
        """Time from the end of the prefill to the arrival of the cache [s]; NaN without."""
        return self.transfer_end - self.first_token

    @cached_property
    def itl_seconds(self) -> Array:
        """Every gap between two tokens of one request, request after request [s]."""
        gaps = np.diff(self.token_seconds)
        return np.delete(gaps, self.first_place[1:] - 1)

    def met(self, targets: Targets) -> NDArray[np.bool_]:
        """Return which requests meet every target that is given."""
        met = np.ones(len(self), dtype=bool)
        if targets.ttft is not None:
            met &= self.ttft_seconds <= targets.ttft
        if targets.tpot is not None:
            met &= ~(self.tpot_seconds > targets.tpot)
        if targets.itl is not None:
            gaps = self.output_tokens - 1
            late = np.concatenate([[0], np.cumsum(self.itl_seconds > targets.itl)])
            ends = np.cumsum(gaps)
            met &= late[ends] - late[ends - gaps] <= (1 - targets.itl_share) * gaps + 1e-9
        return met

    # All of them

    @property
    def span_seconds(self) -> float:
        """Time from the first arrival to the last token [s]."""
        return float(self.end.max() - self.arrival.min())

    @property
    def ttft(self) -> Spread:
        """Spread of the times to first token [s]."""
        return spread(self.ttft_seconds)

    @property
    def itl(self) -> Spread:
        """Spread of all gaps between tokens [s]."""
        return spread(self.itl_seconds)

    @property
    def tpot(self) -> Spread:
        """Spread of the mean gaps of the requests [s]."""
        return spread(self.tpot_seconds)

    @property
    def e2e(self) -> Spread:
        """Spread of the times from arrival to last token [s]."""
        return spread(self.e2e_seconds)

    @property
    def queue(self) -> Spread:
        """Spread of the times before the prefill starts [s]."""
        return spread(self.queue_seconds)

    @property
    def transfer(self) -> Spread:
        """Spread of the times that the second token waits for the cache [s]."""
        return spread(self.transfer_seconds)

    @property
    def requests_per_second(self) -> float:
        """Requests that end in a second, from the first arrival to the last token."""
        return len(self) / self.span_seconds

    @property
    def tokens_per_second(self) -> float:
        """Output tokens in a second of all requests together."""
        return len(self.token_seconds) / self.span_seconds

    def attainment(self, targets: Targets) -> float:
        """Return the share of requests that meet the targets."""
        return float(self.met(targets).mean())

    def goodput(self, targets: Targets) -> float:
        """Return the requests that meet the targets, in a second [1/s]."""
        return float(self.met(targets).sum()) / self.span_seconds

    def utilisation(self, pool: str, kind: int | None = None) -> float:
        """Share of the time that the instances of a pool are in a step, of one kind or of any."""
        since, until = self.arrival.min(), self.end.max()
        chosen = [
            one.busy_seconds(since, until, kind) for one in self.instances if one.pool == pool
        ]
        return float(np.mean(chosen)) / self.span_seconds

    def mean_batch(self, pool: str) -> float:
        """Sequences written in a step, on average over the steps of a pool that write; 0: none."""
        chosen = [one for one in self.instances if one.pool == pool]
        steps = sum(len(one.token_seconds) for one in chosen)
        return sum(float((one.writing * one.steps).sum()) for one in chosen) / max(steps, 1)

    @property
    def link_utilisation(self) -> float:
        """Share of the time that the links of the prefill instances send."""
        senders = self.design.pools[0].instances
        return float(self.transfer_bytes.sum()) / (self.design.link * senders * self.span_seconds)

    def under_way(self, moments: ArrayLike) -> Integers:
        """Return how many requests have arrived and not ended at each moment."""
        return _between(self.arrival, self.end, np.asarray(moments))

    def waiting(self, moments: ArrayLike) -> Integers:
        """Return how many requests wait for their prefill at each moment."""
        return _between(self.arrival, self.prefill_start, np.asarray(moments))

    def after(self, requests: int) -> Result:
        """Return the result without the first requests, for a system that has settled.

        Instances and their intervals stay as they are.
        """
        if not 0 <= requests < len(self):
            raise IndexError(f"{requests} of {len(self)} requests cannot be left out")
        kept: dict[str, Any] = {
            name: getattr(self, name)[requests:] for name in (*_MOMENTS, *_NUMBERS)
        }
        traffic = Traffic(
            kept["arrival"],
            self.traffic.prompt_tokens[requests:],
            self.traffic.output_tokens[requests:],
        )
        return Result(
            design=self.design,
            traffic=traffic,
            token_seconds=self.token_seconds[self.first_place[requests] :],
            instances=self.instances,
            **kept,
        )


_MOMENTS = (
    "arrival",
    "prefill_start",
    "first_token",
    "transfer_start",
    "transfer_end",
    "transfer_bytes",
    "decode_start",
    "end",
)
_NUMBERS = ("prefill_instance", "decode_instance", "preemptions")


def _between(start: Array, end: Array, moments: Array) -> Integers:
    begun = np.searchsorted(np.sort(start), moments, side="right")
    return begun - np.searchsorted(np.sort(end), moments, side="right")


def result(design: Design, traffic: Traffic, ledger: Ledger, logs: list[StepLog]) -> Result:
    """Turn what was written down into arrays."""
    instances = tuple(
        Intervals(
            pool=log.pool,
            start=np.array(log.start),
            end=np.array(log.end),
            token_seconds=np.array(log.token_seconds),
            **{
                name: np.array(getattr(log, name), dtype=np.int64)
                for name in ("kind", "prompt_tokens", "prompts", "writing", "steps")
            },
        )
        for log in logs
    )
    return Result(
        design=design,
        traffic=traffic,
        token_seconds=_all_tokens(ledger, instances),
        instances=instances,
        **{name: np.array(getattr(ledger, name), dtype=float) for name in _MOMENTS},
        **{name: np.array(getattr(ledger, name), dtype=np.int64) for name in _NUMBERS},
    )


def _all_tokens(ledger: Ledger, instances: tuple[Intervals, ...]) -> Array:
    """Lay the stretches of all requests end to end, in the order of the requests."""
    logs = [np.array(ledger.single_seconds), *(one.token_seconds for one in instances)]
    starts = np.cumsum([0, *(len(log) for log in logs)])
    request, log, first, count = np.array(ledger.stretches, dtype=np.int64).T
    order = np.argsort(request, kind="stable")
    log, first, count = log[order], first[order], count[order]
    begins = np.cumsum(count) - count
    places = np.arange(count.sum()) + np.repeat(starts[log + 1] + first - begins, count)
    return np.concatenate(logs)[places]
