"""Metrics of measured requests, as the field defines them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

JOULE_PER_WATT_HOUR = 3600.0


def time_per_output_token(
    *, e2e_seconds: ArrayLike, ttft_seconds: ArrayLike, output_tokens: ArrayLike
) -> NDArray[np.float64]:
    """Return TPOT, the mean inter-token latency: (E2E - TTFT) / (N - 1) [s].

    Source: NVIDIA NIM benchmarking, metrics; some tools divide by N or leave the TTFT in.

    Examples
    --------
    >>> tpot = time_per_output_token(e2e_seconds=1.3, ttft_seconds=0.3, output_tokens=101)
    >>> round(float(tpot), 3)
    0.01
    """
    steps = np.asarray(output_tokens, dtype=float) - 1.0
    return np.subtract(e2e_seconds, ttft_seconds) / steps


def throughput_gain(after: ArrayLike, before: ArrayLike) -> NDArray[np.float64]:
    """Return how many times as many tokens a second come out.

    Examples
    --------
    >>> float(throughput_gain(300.0, 100.0))
    3.0
    """
    return np.divide(after, before)
