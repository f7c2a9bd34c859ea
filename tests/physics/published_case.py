"""What a printed number is compared with, and how closely."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

EXACT = 1e-9
"""Relative tolerance of numbers that are printed in full: only floating point may differ."""


@dataclass(frozen=True)
class Case:
    """A computation beside its printed number.

    Attributes
    ----------
    compute : callable
        Returns the value in the printed unit.
    within : float
        Absolute tolerance in the printed unit (0: exact).
    relative : float
        Tolerance as a fraction of the printed value.
    because : str
        Why the tolerance is what it is, and which convention the source has.
    """

    compute: Callable[[], float]
    within: float = 0.0
    because: str = "printed in full"
    relative: float = 0.0

    def tolerance(self, printed: float) -> float:
        """Return the absolute tolerance [printed unit]."""
        return max(self.within, self.relative * abs(printed), EXACT * abs(printed))
