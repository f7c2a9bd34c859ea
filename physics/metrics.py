"""Metrics of measured requests, as the field defines them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

JOULE_PER_WATT_HOUR = 3600.0


def time_per_output_token(
    *, e2e_seconds: ArrayLike, ttft_seconds: ArrayLike, output_tokens: ArrayLike
) -> NDArray[np.float64]:
    """Return TPOT, the mean inter-token latency: (E2E - TTFT) / (N - 1) [s]; NaN for one token.

    Source: NVIDIA NIM benchmarking, metrics; some tools divide by N or leave the TTFT in.

    Examples
    --------
    >>> tpot = time_per_output_token(e2e_seconds=1.3, ttft_seconds=0.3, output_tokens=101)
    >>> round(float(tpot), 3)
    0.01
    """
    tokens = np.asarray(output_tokens, dtype=float)
    steps = np.where(tokens > 1, tokens - 1.0, np.nan)
    return np.subtract(e2e_seconds, ttft_seconds) / steps


def seconds_until_token(
    *, ttft_seconds: ArrayLike, tpot_seconds: ArrayLike, token: ArrayLike
) -> NDArray[np.float64]:
    """Return when an output token is there: TTFT + (token - 1) TPOT [s].

    With the last token it is the end-to-end latency.

    Examples
    --------
    >>> round(float(seconds_until_token(ttft_seconds=0.3, tpot_seconds=0.01, token=101)), 3)
    1.3
    """
    return np.add(ttft_seconds, np.multiply(np.subtract(token, 1.0), tpot_seconds))


def e2e_with_a_step_too_many(
    *, ttft_seconds: ArrayLike, tpot_seconds: ArrayLike, output_tokens: ArrayLike
) -> NDArray[np.float64]:
    """Return TTFT + N TPOT [s], as some guides write the end-to-end latency.

    Source: Baseten, a guide to LLM inference; AWS Neuron, LLM inference benchmarking guide. The
    first token is in the TTFT already, so N - 1 steps are left.

    Examples
    --------
    >>> wrong = e2e_with_a_step_too_many(ttft_seconds=0.3, tpot_seconds=0.01, output_tokens=101)
    >>> round(float(wrong), 3)
    1.31
    """
    return np.add(ttft_seconds, np.multiply(output_tokens, tpot_seconds))


def throughput_gain(after: ArrayLike, before: ArrayLike) -> NDArray[np.float64]:
    """Return how many times as many tokens a second come out.

    Examples
    --------
    >>> float(throughput_gain(300.0, 100.0))
    3.0
    """
    return np.divide(after, before)
