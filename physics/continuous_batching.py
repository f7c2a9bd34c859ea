"""In which order an engine does prefills and decode steps, when it chooses anew after every step.

Reference: Yu et al., Orca (OSDI 2022): iteration-level scheduling. Where a request waits and there
is room, its prefill comes first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from physics.architecture import Architecture
from physics.machine import Machine
from physics.request import kinks
from physics.step import decode

Array = NDArray[np.float64]

IDLE, PREFILL, DECODE = 0, 1, 2
"""What the machine does in a span of time."""


@dataclass(frozen=True)
class Plan:
    """What is done in which order.

    A span is a prefill, or decode steps of the same requests. The arrays have shape
    (spans, points), `begun` (requests, points).

    Attributes
    ----------
    kind : ndarray
        PREFILL, DECODE, or IDLE where a point needs no more spans.
    request : ndarray
        Which request is read, in a prefill.
    running : ndarray
        Requests that decode.
    context : ndarray
        Mean of their cached tokens, at the first step.
    steps : ndarray
        Decode steps.
    before : ndarray
        Decode steps done before the span.
    begun : ndarray
        Decode steps done before each request's own first one.
    """

    kind: NDArray[np.int_]
    request: NDArray[np.int_]
    running: Array
    context: Array
    steps: Array
    before: Array
    begun: Array


class StepTimes:
    """Time of a decode step by requests and context: straight lines between the bends.

    Parameters
    ----------
    architecture, machine
        The model and what it runs on.
    prompt, output, batch : ndarray
        Tokens of a sequence, and sequences in a request, shape (points,).
    requests : int
        How many requests decode together at most.
    formats : dict
        Number formats, as of `physics.step.decode`.
    """

    def __init__(
        self,
        architecture: Architecture,
        machine: Machine,
        prompt: Array,
        output: Array,
        batch: Array,
        requests: int,
        formats: dict[str, Any],
    ) -> None:
        end = prompt + np.maximum(output - 2, 1)
        bends = [np.clip(kink, prompt, end) for kink in kinks(architecture)]
        knots = np.stack([prompt, *bends, end])
        running = np.arange(1, requests + 1)[:, None, None]
        at = decode(architecture, machine, batch=running * batch, context=knots, **formats)
        seconds = np.broadcast_to(at.seconds_sum, (requests, *knots.shape))
        self._low, self._high = knots[:-1], knots[1:]
        self._start = seconds[:, :-1]
        width = self._high - self._low
        rise = seconds[:, 1:] - seconds[:, :-1]
        self._slope = np.divide(rise, width, out=np.zeros_like(rise), where=width > 0)

    def of(self, running: NDArray[np.int_]) -> Lines:
        """Return the lines of so many requests at each point."""
        lines, count = self._low.shape
        row = np.clip(running - 1, 0, len(self._start) - 1)
        index = (row, np.arange(lines)[:, None], np.arange(count))
        return Lines(self._low, self._high, self._start[index], self._slope[index])


@dataclass(frozen=True)
class Lines:
    """Step time against context: straight lines that join, the outer ones without end.

    Attributes
    ----------
    low, high : ndarray
        Contexts between which a line holds, shape (lines, points).
    start, slope : ndarray
        Time of a step at `low` [s], and how much each token of context adds [s].
    """

    low: Array
    high: Array
    start: Array
    slope: Array

    def seconds(self, context: Array, steps: Array) -> Array:
        """Time of `steps` steps from a context on, shape (points,) [s]."""
        return self._pieces(context, steps)[2].sum(axis=0)

    def steps_until(self, context: Array, wait: Array, most: Array) -> Array:
        """Return after how many steps `wait` seconds have passed: from 1 to `most`.

        Parameters
        ----------
        context : ndarray
            Mean context at the first step, shape (points,).
        wait : ndarray
            Until when [s]; infinity for as many steps as there are.
        most : ndarray
            Steps after which it is over anyway.
        """
        width, first, seconds = self._pieces(context, most)
        # What is left of the wait when a line begins; then a step time that rises evenly.
        left = np.maximum(wait - np.cumsum(seconds, axis=0) + seconds, 0.0)
        left = np.minimum(left, seconds)
        root = np.sqrt(np.maximum(first**2 + 2 * self.slope * left, 0.0))
        steps = np.minimum(2 * left / (first + root), width).sum(axis=0)
        # A whole number may have come out a hair above itself.
        return np.clip(np.where(np.isfinite(wait), np.ceil(steps - 1e-6), most), 1.0, most)

    def _pieces(self, context: Array, steps: Array) -> tuple[Array, Array, Array]:
        """How much of `steps` is on each line, the step time where that begins, and its time.

        Adding up steps is integrating a line from half a step before the first to half a step
        after the last.
        """
        begin, end = self._within(context - 0.5), self._within(context - 0.5 + steps)
        width = end - begin
        first = self.start + self.slope * (begin - self.low)
        return width, first, width * (first + self.slope * width / 2)

    def _within(self, context: Array) -> Array:
        within = np.clip(context, self.low, self.high)
        within[0] = np.minimum(context, self.high[0])
        within[-1] = np.maximum(context, self.low[-1]) if len(within) > 1 else context
        return within


def plan(
    arrival: Array, reading: Array, prompt: Array, output: Array, most: Array, times: StepTimes
) -> Plan:
    """Decide what is done in which order.

    Parameters
    ----------
    arrival : ndarray
        Moments of arrival, rising, shape (requests, points) [s].
    reading : ndarray
        Time of one prefill, shape (points,) [s].
    prompt, output : ndarray
        Tokens of a sequence, shape (points,).
    most : ndarray
        Requests that memory holds at a time.
    times : StepTimes
    """
    requests, count = arrival.shape
    points = np.arange(count)
    later = np.concatenate([arrival, np.full((1, count), np.inf)])  # after the last: never
    now = arrival[0]
    started, finished = np.zeros(count, dtype=int), np.zeros(count, dtype=int)
    done = np.zeros(count)  # decode steps
    begun = np.full((requests + 1, count), np.inf)
    spans = []
    # Each request brings one prefill, and ends at most two runs of decode steps: one when it
    # comes, one when it goes.
    for _ in range(3 * requests):
        running = started - finished
        coming = later[started, points]
        reads = (started < requests) & (running < most) & ((coming <= now) | (running == 0))
        decodes = ~reads & (running > 0)
        # Requests are done in the order in which they came: all take as many steps.
        under_way = (begun[:-1] <= done) & (done < begun[:-1] + output - 1)
        ahead = np.where(under_way, done - begun[:-1], 0.0).sum(axis=0)
        context = prompt + ahead / np.maximum(running, 1)
        oldest = begun[np.minimum(finished, requests), points]
        lines = times.of(running)
        left = np.where(decodes, oldest + output - 1 - done, 1.0)
        wait = np.where(decodes & (running < most), coming - now, np.inf)
        steps = np.where(decodes, lines.steps_until(context, wait, left), 0.0)
        spans.append(
            (
                np.where(reads, PREFILL, np.where(decodes, DECODE, IDLE)),
                np.minimum(started, requests - 1),
                np.where(decodes, running, 0),
                context,
                steps,
                done,
            )
        )
        after_steps = now + lines.seconds(context, steps)
        # Steps that were counted up to an arrival reach it, whatever rounding says.
        after_steps = np.where(
            decodes & (steps < left), np.maximum(after_steps, coming), after_steps
        )
        now = np.where(reads, np.maximum(now, coming) + reading, after_steps)
        begun[started[reads], points[reads]] = done[reads]
        started = started + reads
        done = done + steps
        finished = (begun[:-1] + output - 1 <= done).sum(axis=0)
    columns = [np.array(column) for column in zip(*spans, strict=True)]
    return Plan(*columns, begun=begun[:-1])
