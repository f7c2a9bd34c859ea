"""A request from its prompt to its last token: TTFT, TPOT, end-to-end time, throughput."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

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
    tokens; TPOT is the mean of these steps. A step's time is linear in its context but for the
    places where a window fills, so each linear stretch is evaluated at its middle. That is exact,
    except where an operator turns from memory- to compute-bound inside a stretch (latent attention
    on chips with little compute: up to 1 % too low), and in chunks, whose saw-tooth is averaged.

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
    first = prefill(architecture, machine, batch=batch, prompt=prompt, **formats)
    steps = np.maximum(output - 1, 1)
    middle = decode(architecture, machine, batch=batch, context=prompt + (steps - 1) / 2, **formats)
    if _kinks(architecture):
        total = np.zeros(np.shape(middle.seconds_sum))
        for start, count in _linear_stretches(architecture, prompt, steps):
            at = decode(
                architecture,
                machine,
                batch=batch,
                context=start + (np.maximum(count, 1) - 1) / 2,
                **formats,
            )
            total = total + count * at.seconds_sum
        tpot = total / steps
    else:
        tpot = middle.seconds_sum
    return Request(
        prompt=prompt,
        output=output,
        batch=batch,
        ttft_seconds=first.seconds_sum,
        tpot_seconds=np.where(output > 1, tpot, np.nan),
        prefill=first,
        decode=middle,
    )


def _kinks(architecture: Architecture) -> list[int]:
    """Contexts at which a decode step's time bends: where a window or an indexer's pick fills."""
    found = set()
    for _, attention in architecture.attentions():
        indexer = getattr(attention, "indexer", None)
        found |= {attention.window, indexer.top_k if indexer else None}
    return sorted(found - {None})


def _linear_stretches(
    architecture: Architecture, prompt: Array, steps: Array
) -> list[tuple[Array, Array]]:
    """Split the contexts prompt ... prompt + steps - 1 at the windows: (first, how many)."""
    end = prompt + steps
    edges = [prompt, *(np.clip(kink, prompt, end) for kink in _kinks(architecture)), end]
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
    return request(
        architecture, machine, prompt=prompt, output=which, batch=batch, weights=weights, kv=kv
    ).e2e_seconds
