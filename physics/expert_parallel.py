"""Experts spread over many chips: tokens travel to their experts and back, in every layer.

Source: DeepSeek-AI 2025, arXiv 2505.09343, section 2.3.2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def exchange_seconds(
    *,
    tokens: ArrayLike,
    experts: ArrayLike,
    hidden: ArrayLike,
    link: ArrayLike,
    dispatch_bytes: float = 1.0,
    combine_bytes: float = 2.0,
) -> NDArray[np.float64]:
    """Return the time to send each token to its experts and to bring the results back [s].

    (dispatch + combine bytes) x tokens x experts x hidden / link, with nothing but bandwidth.

    Parameters
    ----------
    tokens : array_like
        Tokens of one chip in a step.
    experts : array_like
        Experts of each token, a shared one included where it is remote.
    hidden : array_like
        Elements of a token.
    link : array_like
        Bandwidth of a chip to the others [B/s].
    dispatch_bytes, combine_bytes : float
        Bytes of an element on its way out (fp8) and back (bf16).

    Examples
    --------
    >>> seconds = exchange_seconds(tokens=32, experts=9, hidden=7000, link=50e9)
    >>> round(float(seconds) * 1e6, 2)
    120.96
    """
    moved = (dispatch_bytes + combine_bytes) * np.multiply(tokens, experts) * hidden
    return moved / np.asarray(link, dtype=float)


def exchange_bound_tpot_seconds(
    layers: ArrayLike, seconds: ArrayLike, micro_batches: int = 2
) -> NDArray[np.float64]:
    """Return the time per output token if nothing but the exchange took time [s].

    With two micro-batches one computes while the other is on its way, and both are exchanged in
    each layer.

    Examples
    --------
    >>> round(float(exchange_bound_tpot_seconds(61, 120.96e-6)) * 1e3, 2)
    14.76
    """
    return np.asarray(layers, dtype=float) * micro_batches * seconds
