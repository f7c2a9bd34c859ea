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
