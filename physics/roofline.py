"""The roofline: the most that a chip can compute at an arithmetic intensity."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def ridge_flop_per_byte(peak: ArrayLike, bandwidth: ArrayLike) -> NDArray[np.float64]:
    """Ridge point: the intensity at which computing and moving take equally long [FLOP/B].

    Parameters
    ----------
    peak, bandwidth : array_like
        [FLOP/s], [B/s]; broadcast.

    Examples
    --------
    >>> round(float(ridge_flop_per_byte(312e12, 2039e9)))
    153
    """
    return np.asarray(peak, dtype=float) / bandwidth


def attainable_flop_per_second(
    intensity: ArrayLike, peak: ArrayLike, bandwidth: ArrayLike
) -> NDArray[np.float64]:
    """Return the height of the roof over an intensity: min(peak, intensity x bandwidth) [FLOP/s].

    Parameters
    ----------
    intensity, peak, bandwidth : array_like
        [FLOP/B], [FLOP/s], [B/s]; broadcast.

    Notes
    -----
    Source: Williams, Waterman, Patterson 2009, doi 10.1145/1498765.1498785.

    Examples
    --------
    >>> attainable_flop_per_second([1.0, 1000.0], 989e12, 3350e9).tolist()
    [3350000000000.0, 989000000000000.0]
    """
    return np.minimum(peak, np.multiply(intensity, bandwidth))


def elementwise_intensity(flop: ArrayLike, element_bytes: ArrayLike = 2.0) -> NDArray[np.float64]:
    """Intensity of element-wise work that reads one number and writes one [FLOP/B].

    Examples
    --------
    >>> float(elementwise_intensity(1.0))
    0.25
    """
    return np.asarray(flop, dtype=float) / (2.0 * np.asarray(element_bytes, dtype=float))


def unfused_attention_intensity(tokens: ArrayLike, head_dim: ArrayLike) -> NDArray[np.float64]:
    """Intensity of one head's attention over a whole prompt with its scores in memory [FLOP/B].

    (4 N^2 d + 3 N^2) / (8 N^2 + 8 N d) in 16 bits: scores and weights are written and read back.
    A decode step has another intensity, about that of `step.decode`'s attention.

    Source: Baseten, A guide to LLM inference and performance.

    Examples
    --------
    >>> round(float(unfused_attention_intensity(4096, 128)), 1)
    62.4
    """
    n, d = np.asarray(tokens, dtype=float), np.asarray(head_dim, dtype=float)
    return (4 * n * n * d + 3 * n * n) / (8 * n * n + 8 * n * d)
