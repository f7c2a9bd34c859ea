"""A request from its prompt to its last token: TTFT, TPOT, end-to-end time, throughput."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from physics.architecture import Architecture
from physics.errors import InputError
from physics.machine import Machine
from physics.step import Step, decode, prefill

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Request:
    """A batch of equal requests that start together, one after another operator (sums).

    Attributes
    ----------
    ttft_seconds : ndarray
        Time to first token: the prefill of the whole batch in one step (no queue) [s].
    tpot_seconds : ndarray
        Time per output token, the mean over the output after the first token [s]; NaN for a
        single output token.
    prefill, decode : Step
        The prefill, and the decode step in the middle of the output.
    """

    prompt: Array
    output: Array
    batch: Array
    ttft_seconds: Array
    tpot_seconds: Array
    prefill: Step
    decode: Step

    @property
    def e2e_seconds(self) -> Array:
        """End-to-end latency: TTFT + (N - 1) TPOT [s]."""
        rest = np.where(self.output > 1, (self.output - 1) * self.tpot_seconds, 0.0)
        return self.ttft_seconds + rest

    @property
    def tokens_per_second_user(self) -> Array:
        """Speed that one user sees while the answer is written: 1 / TPOT [token/s]."""
        return 1.0 / self.tpot_seconds

    @property
    def seconds_per_prompt_token(self) -> Array:
        """Prefill time shared among all prompt tokens of the batch [s]."""
        return self.ttft_seconds / (self.batch * self.prompt)

    @property
    def seconds_per_answer_token(self) -> Array:
        """Decode time shared among the tokens that a step writes, one a sequence [s]."""
        return self.tpot_seconds / self.batch

    @property
    def tokens_per_second_system(self) -> Array:
        """Output of all sequences over the whole request, prefill included [token/s]."""
        return self.batch * self.output / self.e2e_seconds


def request(
    architecture: Architecture,
    machine: Machine,
    *,
    prompt: ArrayLike,
    output: ArrayLike,
    batch: ArrayLike,
    weights: str | ArrayLike = "bf16",
    kv: str | ArrayLike = "bf16",
) -> Request:
    """Compute a batch of equal requests.

    The prefill emits the first token. Decode step i (1 <= i < N) runs on prompt + i - 1 cached
    tokens; TPOT is the exact mean of these steps (with chunked windows, whose context is a
    saw-tooth, an approximation).

    Raises
    ------
    InputError
        If a number of tokens or sequences is out of range.

    Examples
    --------
    >>> from physics.catalogue import model
    >>> from physics.chips import chip
    >>> from physics.machine import machine
    >>> one = request(model("llama-3.1-8b"), machine(chip("h100-sxm")), prompt=2048, output=256,
    ...               batch=1)
    >>> round(float(one.ttft_seconds) * 1e3, 1), round(float(one.tpot_seconds) * 1e3, 2)
    (30.3, 4.57)
    """
    prompt, output, batch = (np.asarray(value, dtype=float) for value in (prompt, output, batch))
    if not np.all((output >= 1) & (output < np.inf)):
        raise InputError("output", "must be a finite number of at least 1")
    formats = {"weights": weights, "kv": kv}
    steps = np.maximum(output - 1, 1)
    tpot = mean_step_seconds(architecture, machine, prompt, steps, batch, formats)
    first = prefill(architecture, machine, batch=batch, prompt=prompt, **formats)
    middle = decode(architecture, machine, batch=batch, context=prompt + (steps - 1) / 2, **formats)
    return Request(
        prompt=prompt,
        output=output,
        batch=batch,
        ttft_seconds=first.seconds_sum,
        tpot_seconds=np.where(output > 1, tpot, np.nan),
        prefill=first,
        decode=middle,
    )


def mean_step_seconds(
    architecture: Architecture,
    machine: Machine,
    prompt: Array,
    steps: Array,
    batch: Array,
    formats: dict[str, Any],
) -> Array:
    """Return the mean time of the decode steps on prompt ... prompt + steps - 1 cached tokens [s].

    Between the contexts where a window fills, FLOP and bytes of each operator are linear in the
    context, and its time is the larger of two straight lines: summed exactly from the two ends.
    """
    prompt, steps, batch = np.broadcast_arrays(prompt, steps, batch)
    total: Array | float = 0.0
    for start, count in linear_stretches(architecture, prompt, steps):
        last = np.maximum(count, 1) - 1
        ends = [
            decode(architecture, machine, batch=batch, context=context, **formats)
            for context in (start, start + last)
        ]
        memory = (ends[0].memory_seconds + ends[1].memory_seconds) / 2
        other = ends[0].communication_seconds + ends[0].launch_seconds
        more = [end.compute_seconds - end.memory_seconds for end in ends]
        stretch = (memory + other).sum(axis=0) * count + _sum_above_zero(*more, count)
        total = total + np.where(count > 0, stretch, 0.0)
    return total / steps


def _sum_above_zero(first: Array, last: Array, count: Array) -> Array:
    """Sum the positive ones of `count` equally spaced values from first to last, over operators."""
    gaps = np.maximum(count, 1) - 1
    whole = np.where((first >= 0) & (last >= 0), (first + last) / 2 * count, 0.0)
    crossing = first * last < 0
    if np.any(crossing):
        high, low = np.maximum(first, last), np.minimum(first, last)
        spacing = np.divide(high - low, gaps, out=np.ones_like(high), where=(gaps > 0) & crossing)
        number = np.floor(np.where(crossing, high, 0.0) / spacing) + 1
        part = number * high - spacing * number * (number - 1) / 2
        whole = np.where(crossing, part, whole)
    return whole.sum(axis=0)


def kinks(architecture: Architecture) -> list[int]:
    """Contexts at which a decode step's time bends: where a window or an indexer's pick fills."""
    found = set()
    for _, attention in architecture.attentions():
        indexer = getattr(attention, "indexer", None)
        found |= {attention.window, indexer.top_k if indexer else None}
    return sorted(found - {None})


def linear_stretches(
    architecture: Architecture, prompt: Array, steps: Array
) -> list[tuple[Array, Array]]:
    """Split the contexts prompt ... prompt + steps - 1 at the windows: (first, how many).

    Within one of them FLOP and bytes of each operator of a decode step are linear in the context.
    """
    end = prompt + steps
    edges = [prompt, *(np.clip(kink, prompt, end) for kink in kinks(architecture)), end]
    return [(low, high - low) for low, high in pairwise(edges)]


def token_seconds(
    architecture: Architecture,
    machine: Machine,
    *,
    prompt: float,
    output: int,
    batch: float,
    tokens: ArrayLike,
    weights: str = "bf16",
    kv: str = "bf16",
) -> Array:
    """Moments at which output tokens appear, counted from the request's start [s].

    Token 1 comes with the prefill; token i after i - 1 decode steps.

    Parameters
    ----------
    prompt, output, batch
        One request.
    tokens : array_like
        Which tokens (1 is the first), each from 1 to `output`.

    Examples
    --------
    >>> from physics.catalogue import model
    >>> from physics.chips import chip
    >>> from physics.machine import machine
    >>> h100 = machine(chip("h100-sxm"))
    >>> one = request(model("llama-3.1-8b"), h100, prompt=2048, output=256, batch=1)
    >>> at = token_seconds(model("llama-3.1-8b"), h100, prompt=2048, output=256, batch=1,
    ...                    tokens=[1, 256])
    >>> bool(np.allclose(at, [one.ttft_seconds, one.e2e_seconds]))
    True
    """
    which = np.clip(np.asarray(tokens, dtype=float), 1, output)
    formats = {"weights": weights, "kv": kv}
    first = prefill(architecture, machine, batch=batch, prompt=prompt, **formats).seconds_sum
    steps = np.maximum(which - 1, 1)
    prompt, batch = np.asarray(prompt, dtype=float), np.asarray(batch, dtype=float)
    mean = mean_step_seconds(architecture, machine, prompt, steps, batch, formats)
    return first + (which - 1) * mean
