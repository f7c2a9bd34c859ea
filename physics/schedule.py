"""Several requests on one machine: continuous batching, a waiting prompt before the next token.

The engine chooses anew after every step. Where a request waits and there is room, the step is the
prefill of the one that came first; else it is a decode step of all requests under way. So a
prefill lengthens the gap between two tokens of everybody else: a stall.

References: Yu et al., Orca (OSDI 2022), for the choice after every step; Agrawal et al.,
Sarathi-Serve (2024), arXiv 2403.02310, for the stalls; Zhong et al., DistServe (2024),
arXiv 2401.09670, for goodput.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from physics.architecture import Architecture
from physics.continuous_batching import DECODE, PREFILL, StepTimes, plan
from physics.machine import Machine
from physics.metrics import time_per_output_token
from physics.request import mean_step_seconds
from physics.step import decode, prefill

Array = NDArray[np.float64]

LATER_BY_E2E = np.array([0.0, 0.2, 0.4, 0.4, 0.7])
LATER_BY_TTFT = np.array([0.0, 0.0, 0.0, 0.5, 0.0])
"""When five requests arrive, in end-to-end times and prefills of one that is alone.

All overlap, and the fourth comes while the third is being read.
"""

_WITHIN = (np.arange(4) + 1) / 4  # where the gaps of a long run are looked at


def staggered(e2e_seconds: ArrayLike, ttft_seconds: ArrayLike) -> Array:
    """Moments at which five requests arrive [s], shape (5, points).

    Parameters
    ----------
    e2e_seconds, ttft_seconds : array_like
        Times of one request alone on the machine that the traffic is meant for, shape (points,).

    Examples
    --------
    >>> staggered([1.0], [0.2]).ravel().round(2).tolist()
    [0.0, 0.2, 0.4, 0.5, 0.7]
    """
    e2e, ttft = np.asarray(e2e_seconds, dtype=float), np.asarray(ttft_seconds, dtype=float)
    return LATER_BY_E2E[:, None] * e2e + LATER_BY_TTFT[:, None] * ttft


@dataclass(frozen=True)
class Schedule:
    """What happened to the requests; the last axis of every array is that of the points.

    A request is a group of `batch` equal ones that arrive together. A span is a time in which the
    machine does one thing: a prefill, decode steps of the same requests, or nothing. Spans follow
    each other without gaps; those that a point does not need have no length and stand at its end.

    Attributes
    ----------
    arrival, prefill_start, first_token, finish : ndarray
        Moments of each request, shape (requests, points) [s].
    output, batch : ndarray
        Output tokens of a sequence, and sequences in a request, shape (points,).
    kind, start, end, steps, running : ndarray
        Spans: IDLE, PREFILL or DECODE, moments [s], decode steps, requests that decode;
        shape (spans, points).
    flop, bytes : ndarray
        Work of a span on all chips together [FLOP], [B], shape (spans, points).
    before : ndarray
        Decode steps done before a span, shape (spans, points).
    begun : ndarray
        Decode steps done before each request's own first one, shape (requests, points).
    edges : ndarray
        Time of a span's first, middle and last decode step [s], shape (3, spans, points).
    """

    arrival: Array
    prefill_start: Array
    first_token: Array
    finish: Array
    output: Array
    batch: Array
    kind: NDArray[np.int_]
    start: Array
    end: Array
    steps: Array
    running: Array
    flop: Array
    bytes: Array
    machine: Machine
    before: Array
    begun: Array
    edges: Array

    @property
    def queue_seconds(self) -> Array:
        """Wait of each request from its arrival until its prefill begins [s]."""
        return self.prefill_start - self.arrival

    @property
    def ttft_seconds(self) -> Array:
        """Time to first token of each request: queue and prefill [s]."""
        return self.first_token - self.arrival

    @property
    def e2e_seconds(self) -> Array:
        """End-to-end latency of each request [s]."""
        return self.finish - self.arrival

    @property
    def tpot_seconds(self) -> Array:
        """Mean time between two tokens of each request [s]; NaN for a single output token."""
        return time_per_output_token(
            e2e_seconds=self.e2e_seconds,
            ttft_seconds=self.ttft_seconds,
            output_tokens=self.output,
        )

    @property
    def span_seconds(self) -> Array:
        """From the first arrival to the last token [s]."""
        return self.finish.max(axis=0) - self.arrival[0]

    @property
    def tokens_per_second(self) -> Array:
        """System throughput: all output tokens over the whole time [token/s]."""
        return self.batch * self.output * len(self.arrival) / self.span_seconds

    @property
    def seconds_per_token(self) -> Array:
        """Time of the whole system for one output token [s]: nobody's gap."""
        return 1 / self.tokens_per_second

    def all_tokens_per_second(self, prompt: ArrayLike) -> Array:
        """Throughput with the tokens of the prompts counted too [token/s]."""
        return self.tokens_per_second * (self.output + prompt) / self.output

    @property
    def stalls(self) -> NDArray[np.bool_]:
        """Where some request's prefill falls between two tokens of another, shape (points,)."""
        begins = self.prefill_start[:, None]
        return ((self.first_token <= begins) & (begins < self.finish)).any(axis=(0, 1))

    @property
    def requests_per_second(self) -> Array:
        """Sequences completed over the whole time [1/s]."""
        return self.batch * len(self.arrival) / self.span_seconds

    def meets(self, ttft_seconds: float, tpot_seconds: float) -> NDArray[np.bool_]:
        """Say which requests keep to both targets, shape (requests, points)."""
        # With a single output token there is nothing after the first to be late.
        quick = (self.tpot_seconds <= tpot_seconds) | (self.output == 1)
        return (self.ttft_seconds <= ttft_seconds) & quick

    def goodput(self, ttft_seconds: float, tpot_seconds: float) -> Array:
        """Sequences completed within both targets, over the whole time [1/s]."""
        met = self.meets(ttft_seconds, tpot_seconds).sum(axis=0)
        return self.batch * met / self.span_seconds

    @property
    def tokens_per_second_user(self) -> Array:
        """Speed that each user sees while the answer is written: 1 / TPOT [token/s]."""
        return 1 / self.tpot_seconds

    @cached_property
    def seconds(self) -> Array:
        """Length of each span [s]."""
        return self.end - self.start

    @property
    def output_rate(self) -> Array:
        """Output tokens a second while a span lasts; 0 in a prefill, whose tokens come at its end.

        Shape (spans, points) [token/s].
        """
        return _ratio(self.running * self.batch * self.steps, self.seconds)

    @property
    def mfu(self) -> Array:
        """Share of the peak FLOP/s in use, by span, shape (spans, points)."""
        return _ratio(self.flop, self.seconds * self.machine.tp * self.machine.peak)

    @property
    def mbu(self) -> Array:
        """Share of the peak bandwidth in use, by span, shape (spans, points)."""
        return _ratio(self.bytes, self.seconds * self.machine.tp * self.machine.bandwidth)

    @property
    def mean_mfu(self) -> Array:
        """Share of the peak FLOP/s in use over the whole time, shape (points,)."""
        return self.flop.sum(axis=0) / (self.span_seconds * self.machine.tp * self.machine.peak)

    @property
    def mean_mbu(self) -> Array:
        """Share of the peak bandwidth in use over the whole time, shape (points,)."""
        return self.bytes.sum(axis=0) / (
            self.span_seconds * self.machine.tp * self.machine.bandwidth
        )

    def token_moments(self, tokens: ArrayLike) -> Array:
        """Moments at which output tokens appear [s].

        Parameters
        ----------
        tokens : array_like
            Which tokens (1 is the first), from 1 to `output`; shape (tokens, points).

        Returns
        -------
        ndarray
            Shape (requests, tokens, points).
        """
        which = np.asarray(tokens, dtype=float)
        later = self.step_moments(self.begun[:, None] + which - 1)
        return np.where(which > 1, later, self.first_token[:, None])

    def step_moments(self, done: ArrayLike) -> Array:
        """Moments at which so many decode steps are done, counted from the first of all [s].

        At such a moment all requests under way get a token. Shape (..., points); NaN where there
        are not as many steps.
        """
        done = np.asarray(done, dtype=float)
        moments = np.full(np.broadcast_shapes(done.shape, self.batch.shape), np.nan)
        for span in range(len(self.kind)):
            of_span = done - self.before[span]
            inside = (of_span > 0) & (of_span <= self.steps[span])
            moments = np.where(inside, self.start[span] + self._seconds_of(span, of_span), moments)
        return moments

    @property
    def all_steps(self) -> Array:
        """Decode steps of the whole time, shape (points,)."""
        return self.steps.sum(axis=0)

    def _seconds_of(self, span: int, steps: Array) -> Array:
        """Time of the first `steps` decode steps of a span, whose times lie on a line [s]."""
        first, _, last = self.edges[:, span]
        all_steps = self.steps[span]
        rise = _ratio(last - first, all_steps - 1)
        line = all_steps * (first + rise * (all_steps - 1) / 2)
        return steps * (first + rise * (steps - 1) / 2) * _ratio(self.seconds[span], line)

    @cached_property
    def _first_gaps(self) -> tuple[Array, Array]:
        """Last token before each span, and the gap until its first step's: the longest there are.

        Two of shape (spans, requests, points) [s]; the gap is 0 where a request takes no part.
        """
        ends = np.where(self.kind == DECODE, self.end, -np.inf)
        last_end = np.full_like(ends, -np.inf)
        last_end[1:] = np.maximum.accumulate(ends, axis=0)[:-1]
        since = np.maximum(self.first_token, last_end[:, None])
        before = self.before[:, None]
        takes_part = (self.begun <= before) & (before < self.begun + self.output - 1)
        takes_part &= (self.kind == DECODE)[:, None]
        until = (self.start + self.edges[0])[:, None]
        return since, np.where(takes_part, until - since, 0.0)

    @cached_property
    def _gaps(self) -> tuple[Array, Array]:
        """Gaps between tokens [s], rising, and how many sequences see each or less.

        The first gap of a span reaches back over what kept a request waiting. The others of a long
        span are looked at in four places. Two of shape (gaps, points).
        """
        count = self.finish.shape[-1]
        first_gaps = self._first_gaps[1].reshape(-1, count)
        low, middle, high = self.edges
        others = [
            np.where(
                at < 0.5, low + 2 * at * (middle - low), middle + (2 * at - 1) * (high - middle)
            )
            for at in _WITHIN
        ]
        counts = self.running * np.maximum(self.steps - 1, 0) / len(_WITHIN)
        lengths = np.concatenate([first_gaps, *others])
        counts = np.concatenate([(first_gaps > 0).astype(float), *[counts] * len(_WITHIN)])
        order = np.argsort(np.where(counts > 0, lengths, np.inf), axis=0)
        counts = np.take_along_axis(counts, order, axis=0)
        return np.take_along_axis(lengths, order, axis=0), np.cumsum(counts, axis=0)

    def gap_quantiles(self, shares: ArrayLike) -> Array:
        """Inter-token latencies: the smallest that a share of all gaps does not exceed [s].

        Parameters
        ----------
        shares : array_like
            From 0 to 1, shape (shares,).

        Returns
        -------
        ndarray
            Shape (shares, points); NaN where there is no gap.
        """
        lengths, reached = self._gaps
        wanted = np.asarray(shares, dtype=float)[:, None] * reached[-1]
        index = (reached < wanted[:, None] * (1 - 1e-12)).sum(axis=1)
        found = np.take_along_axis(lengths, index, axis=0)
        return np.where(reached[-1] > 0, found, np.nan)

    @property
    def longest_gap(self) -> tuple[Array, Array]:
        """Start and end of each request's longest gap between two tokens [s].

        Two of shape (requests, points); NaN for a single output token.
        """
        since, gaps = self._first_gaps
        last = np.where((gaps > 0) & (self.steps > 1)[:, None], self.edges[2][:, None], 0.0)
        starts = np.concatenate(
            [since, np.broadcast_to((self.end - self.edges[2])[:, None], since.shape)]
        )
        lengths = np.concatenate([gaps, last])
        longest = lengths.argmax(axis=0)[None]
        length = np.take_along_axis(lengths, longest, axis=0)[0]
        start = np.take_along_axis(starts, longest, axis=0)[0]
        start = np.where(length > 0, start, np.nan)
        return start, start + length


def schedule(
    architecture: Architecture,
    machine: Machine,
    *,
    arrival: ArrayLike,
    prompt: ArrayLike,
    output: ArrayLike,
    batch: ArrayLike = 1,
    most: ArrayLike = np.inf,
    weights: str = "bf16",
    kv: str = "bf16",
) -> Schedule:
    """Serve requests of equal size that arrive one after another.

    Sequences of different length decode in one step; it is taken to cost as much as one in which
    all have their mean length, which is exact but where a window has filled for some of them only.

    Parameters
    ----------
    architecture, machine
        The model and what it runs on.
    arrival : array_like
        Moments of arrival, rising, shape (requests, points) [s].
    prompt, output, batch : array_like
        Tokens of a sequence, and sequences in a request; broadcast to shape (points,).
    most : array_like
        How many requests memory holds at a time, at least 1; others wait.

    Examples
    --------
    >>> from physics.catalogue import model
    >>> from physics.chips import chip
    >>> from physics.machine import machine
    >>> two = schedule(model("llama-3.1-8b"), machine(chip("h100-sxm")), arrival=[[0.0], [0.5]],
    ...                prompt=2048, output=256)
    >>> (two.ttft_seconds * 1e3).round(1).ravel().tolist()
    [30.3, 30.8]
    >>> (two.gap_quantiles([0.5, 1.0]) * 1e3).round(2).ravel().tolist()
    [4.65, 34.98]
    """
    arrival = np.asarray(arrival, dtype=float)
    count = arrival.shape[-1]
    given = (prompt, output, batch, most)
    prompt, output, batch, most = (
        np.array(np.broadcast_to(np.asarray(value, dtype=float), (count,))) for value in given
    )
    formats = {"weights": weights, "kv": kv}
    first = prefill(architecture, machine, batch=batch, prompt=prompt, **formats)
    reading = np.broadcast_to(first.seconds_sum, (count,))
    times = StepTimes(architecture, machine, prompt, output, batch, len(arrival), formats)
    order = plan(arrival, reading, prompt, output, most, times)
    decodes, reads = order.kind == DECODE, order.kind == PREFILL
    steps, running = np.maximum(order.steps, 1), np.maximum(order.running, 1) * batch
    mean = mean_step_seconds(architecture, machine, order.context, steps, running, formats)
    last = steps - 1
    contexts = order.context + np.stack([0 * last, last / 2, last])
    at = decode(architecture, machine, batch=running, context=contexts, **formats)
    length = np.where(decodes, order.steps * mean, np.where(reads, reading, 0.0))
    start = np.empty_like(length)
    end = np.empty_like(length)
    now = arrival[0]
    for span, of_request in enumerate(order.request):
        comes = np.take_along_axis(arrival, of_request[None], axis=0)[0]
        start[span] = np.where(reads[span], np.maximum(now, comes), now)
        now = end[span] = start[span] + length[span]
    by_request = np.arange(len(arrival))[:, None, None]
    read = reads & (order.request == by_request)
    lasts = decodes & (order.before < order.begun[:, None] + output - 1)
    prefill_start = np.where(read, start, -np.inf).max(axis=1)
    first_token = np.where(read, end, -np.inf).max(axis=1)
    ends = np.where(lasts, end, -np.inf).max(axis=1)
    return Schedule(
        arrival=arrival,
        prefill_start=prefill_start,
        first_token=first_token,
        finish=np.maximum(ends, first_token),
        output=output,
        batch=batch,
        kind=order.kind,
        start=start,
        end=end,
        steps=order.steps,
        running=order.running,
        flop=np.where(decodes, order.steps * at.flop[1], np.where(reads, first.flop, 0.0)),
        bytes=np.where(decodes, order.steps * at.bytes[1], np.where(reads, first.bytes, 0.0)),
        machine=machine,
        before=order.before,
        begun=order.begun,
        edges=at.seconds_sum,
    )


def _ratio(over: ArrayLike, under: ArrayLike) -> Array:
    """Divide, with 0 where there is nothing to divide by."""
    over, under = np.broadcast_arrays(np.asarray(over, float), np.asarray(under, float))
    return np.divide(over, under, out=np.zeros(over.shape), where=under != 0)
