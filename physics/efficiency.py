"""How far real kernels stay below the data sheet, and the fixed times around them."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Efficiency:
    """How far real kernels stay below the data sheet.

    Attributes
    ----------
    compute, memory : float
        Fraction of the bf16 peak and of the bandwidth that a large kernel reaches.
    low_precision_compute : float, optional
        Fraction of its own peak that a matrix product in fewer bits reaches; else as `compute`.
    launch_seconds : float
        Fixed time of each operator [s].
    all_reduce_seconds : float
        Latency of each all-reduce, for the smallest message [s].
    link : float
        Fraction of the link's bandwidth that an all-reduce reaches.
    """

    compute: ArrayLike = 1.0
    memory: ArrayLike = 1.0
    low_precision_compute: ArrayLike | None = None
    launch_seconds: ArrayLike = 0.0
    all_reduce_seconds: ArrayLike = 0.0
    link: ArrayLike = 1.0

    def __post_init__(self) -> None:
        if self.low_precision_compute is None:
            object.__setattr__(self, "low_precision_compute", self.compute)


IDEAL = Efficiency()
"""The data sheet taken at its word: a bound that no real system beats."""
