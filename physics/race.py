"""An answer as it is written: when each token comes, and how many have come at a moment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from physics.architecture import Architecture
from physics.machine import Machine
from physics.sensitivity import Work, decode_work, prefill_work

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Answer:
    """A batch of equal requests on one machine, all arrays of shape (points,).

    Attributes
    ----------
    prefill, decode : Work
        What its two phases hang on.
    output : ndarray
        Tokens of the answer.
    """

    prefill: Work
    decode: Work
    output: Array

    @cached_property
    def ttft_seconds(self) -> Array:
        """Time to first token [s]."""
        return self.prefill.seconds()

    @cached_property
    def tpot_seconds(self) -> Array:
        """Time per output token [s]; NaN for a single token."""
        return np.where(self.output > 1, self.decode.seconds(), np.nan)

    @cached_property
    def e2e_seconds(self) -> Array:
        """Time until the last token [s]."""
        return self.token_seconds(self.output)

    def token_seconds(self, tokens: ArrayLike) -> Array:
        """Return when tokens come [s]: token 1 with the prefill, token i after i - 1 steps.

        Parameters
        ----------
        tokens : array_like
            From 1 to `output`; broadcasts with (points,).
        """
        return self.ttft_seconds + self.decode.total_seconds(np.asarray(tokens, dtype=float) - 1)

    def tokens_at(self, seconds: ArrayLike) -> Array:
        """Return how many tokens each sequence has at a moment, counted from the request's start.

        Parameters
        ----------
        seconds : array_like
            Broadcasts with (points,).

        Examples
        --------
        >>> from physics.catalogue import model
        >>> from physics.chips import chip
        >>> from physics.machine import machine
        >>> llama, load = model("llama-3.1-8b"), {"prompt": 2048, "output": 256, "batch": 1}
        >>> h100, h20 = (answer(llama, machine(chip(name)), **load) for name in ("h100-sxm", "h20"))
        >>> h20.tokens_at(h100.ttft_seconds), h100.tokens_at(h20.ttft_seconds)
        (array([0.]), array([38.]))
        """
        seconds = np.asarray(seconds, dtype=float)
        return _last_at_most_zero(lambda tokens: self.token_seconds(tokens) - seconds, self.output)


def either(chosen: ArrayLike, one: Answer, other: Answer) -> Answer:
    """Take each point from `one` where `chosen`, else from `other`: of one model, one load.

    Examples
    --------
    >>> from physics.catalogue import model
    >>> from physics.chips import chip
    >>> from physics.machine import machine
    >>> llama, load = model("llama-3.1-8b"), {"prompt": 2048, "output": 256, "batch": [1, 1]}
    >>> h100, h20 = (answer(llama, machine(chip(name)), **load) for name in ("h100-sxm", "h20"))
    >>> bool(either([True, False], h100, h20).ttft_seconds[1] == h20.ttft_seconds[1])
    True
    """

    def work(name: str) -> Work:
        pair = [getattr(answer, name) for answer in (one, other)]
        return Work(
            **{
                field.name: np.where(chosen, *(getattr(item, field.name) for item in pair))
                for field in fields(Work)
            }
        )

    return Answer(work("prefill"), work("decode"), np.where(chosen, one.output, other.output))


def overtaken_at(one: Answer, other: Answer) -> Array:
    """Return the token from which on the slower starter is ahead; NaN where that never happens.

    Where `other` has its first token later than `one` but some later token sooner, or the other way
    round, this is the first such token. Both write equally long answers.

    Examples
    --------
    >>> from physics.catalogue import model
    >>> from physics.chips import chip
    >>> from physics.machine import machine
    >>> llama, load = model("llama-3.1-8b"), {"prompt": 2048, "output": 256, "batch": 1}
    >>> h100, h20 = (answer(llama, machine(chip(name)), **load) for name in ("h100-sxm", "h20"))
    >>> overtaken_at(h100, h20), overtaken_at(h20, h100)
    (array([231.]), array([231.]))
    """
    start = one.ttft_seconds - other.ttft_seconds
    sign = np.where(start > 0, -1.0, 1.0)

    def lead(tokens: Array) -> Array:
        return sign * (one.token_seconds(tokens) - other.token_seconds(tokens))

    last = _last_at_most_zero(lead, one.output)
    return np.where((start != 0) & (last < one.output), last + 1.0, np.nan)


def _last_at_most_zero(function: Callable[[Array], Array], most: Array) -> Array:
    """Return the last token number at which a rising function is at most zero, 0 for none.

    By interpolation, as the functions here are almost straight, and by halving in between.

    Parameters
    ----------
    function : callable
        Of token numbers from 1 to `most`, shape (..., points).
    """
    low_value, high_value = function(np.ones_like(most)), function(most)
    low, high = np.broadcast_arrays(np.ones_like(low_value), most)
    turns = 0
    while np.any(between := (low_value <= 0) & (high_value > 0) & (high - low > 1)):
        rise = np.where(between, high_value - low_value, 1.0)
        share = 0.5 if turns % 3 == 2 else np.where(between, -low_value, 0.0) / rise
        guess = low + np.floor((high - low) * share)
        for tokens in (np.clip(guess, low + 1, high), np.clip(guess + 1, low + 1, high)):
            value = function(np.minimum(tokens, most))
            lower = between & (value <= 0) & (tokens > low)
            upper = between & (value > 0) & (tokens < high)
            low, low_value = np.where(lower, tokens, low), np.where(lower, value, low_value)
            high, high_value = np.where(upper, tokens, high), np.where(upper, value, high_value)
        turns += 1
    return np.where(high_value <= 0, most, np.where(low_value <= 0, low, 0.0))


def answer(
    architecture: Architecture,
    machine: Machine,
    *,
    prompt: ArrayLike,
    output: ArrayLike,
    batch: ArrayLike,
    **formats: Any,
) -> Answer:
    """Compute a batch of equal requests that start together on an idle machine.

    Parameters
    ----------
    **formats
        `weights` and `kv`, as for a step.

    Examples
    --------
    >>> from physics.catalogue import model
    >>> from physics.chips import chip
    >>> from physics.machine import machine
    >>> one = answer(model("llama-3.1-8b"), machine(chip("h100-sxm")), prompt=2048, output=256,
    ...              batch=1)
    >>> round(float(one.ttft_seconds[0]) * 1e3, 1), round(float(one.e2e_seconds[0]), 2)
    (30.3, 1.19)
    """
    load = {"prompt": prompt, "batch": batch, **formats}
    decode = decode_work(architecture, machine, output=output, **load)
    return Answer(
        prefill=prefill_work(architecture, machine, **load),
        decode=decode,
        output=np.broadcast_to(np.asarray(output, dtype=float), decode.steps.shape),
    )
