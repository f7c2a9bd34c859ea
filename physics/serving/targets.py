"""What users are promised, and how times spread over the requests."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from physics.errors import InputError


@dataclass(frozen=True)
class Spread:
    """Mean and percentiles, linear between values; NaN where there is none."""

    mean: float
    p50: float
    p90: float
    p99: float


def spread(values: ArrayLike) -> Spread:
    """Return mean and percentiles of the values that are numbers.

    Examples
    --------
    >>> spread([0.1, 0.2, 0.3, np.nan]).p50
    0.2
    """
    numbers = np.asarray(values, dtype=float)
    numbers = numbers[np.isfinite(numbers)]
    if not len(numbers):
        return Spread(*[float("nan")] * 4)
    return Spread(float(numbers.mean()), *map(float, np.percentile(numbers, (50, 90, 99))))


@dataclass(frozen=True)
class Targets:
    """What every request should keep to; None: not asked for.

    Attributes
    ----------
    ttft : float or None
        Longest time to first token [s].
    tpot : float or None
        Longest mean time of an output token after the first [s].
    itl : float or None
        Longest gap between two tokens [s].
    itl_share : float
        Share of a request's gaps that must keep to `itl`.
    """

    ttft: float | None = None
    tpot: float | None = None
    itl: float | None = None
    itl_share: float = 0.99

    def __post_init__(self) -> None:
        for name in ("ttft", "tpot", "itl"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise InputError(f"target-{name}", "must be above 0")
        if not 0 < self.itl_share <= 1:
            raise InputError("itl-share", "must be above 0 and at most 1")
