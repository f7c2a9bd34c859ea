"""Straight lines through measurements, and how much of their spread a line explains."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

FEWEST = 3
"""Fewer points lie on their line by themselves, whatever they are."""


@dataclass(frozen=True)
class Fit:
    """A least-squares line y = intercept + slope x, or a power law y = factor x^slope.

    Attributes
    ----------
    n : int
        Points with both numbers.
    slope, intercept : float
        Of the line; for a power law in natural logarithms: exponent, and ln of the factor.
    r_squared : float
        Share of the variance of y (of ln y) that the line explains: 0 to 1.
    power : bool
        Whether it is a power law.
    """

    n: int
    slope: float
    intercept: float
    r_squared: float
    power: bool = False

    def at(self, x: ArrayLike) -> NDArray[np.float64]:
        """Return the fitted y.

        Examples
        --------
        >>> fit_line([1, 2, 3], [3, 5, 7]).at(10).round(6).item()
        21.0
        """
        x = np.asarray(x, dtype=float)
        if self.power:
            return np.exp(self.intercept + self.slope * np.log(x))
        return self.intercept + self.slope * x


def fit_line(x: ArrayLike, y: ArrayLike) -> Fit:
    """Fit a straight line by least squares.

    .. math:: b = S_{xy} / S_{xx}, \\quad R^2 = S_{xy}^2 / (S_{xx} S_{yy})

    Pairs with a NaN are left out. NaN throughout where fewer than `FEWEST` pairs are left, or all
    x, or all y, are equal.

    Examples
    --------
    >>> fit = fit_line([1, 2, 3, 4], [2, 4, 5, 4])
    >>> fit.n, round(fit.slope, 3), round(fit.intercept, 3), round(fit.r_squared, 3)
    (4, 0.7, 2.0, 0.516)
    """
    x, y = np.broadcast_arrays(np.asarray(x, dtype=float), np.asarray(y, dtype=float))
    both = np.isfinite(x) & np.isfinite(y)
    x, y = x[both], y[both]
    if x.size < FEWEST or np.ptp(x) == 0 or np.ptp(y) == 0:
        return Fit(int(x.size), np.nan, np.nan, np.nan)
    dx, dy = x - x.mean(), y - y.mean()
    sxx, sxy, syy = (float(np.sum(product)) for product in (dx * dx, dx * dy, dy * dy))
    slope = sxy / sxx
    return Fit(int(x.size), slope, float(y.mean() - slope * x.mean()), sxy**2 / (sxx * syy))


def fit_power(x: ArrayLike, y: ArrayLike) -> Fit:
    """Fit a power law: a straight line through the logarithms.

    Examples
    --------
    >>> fit = fit_power([1, 10, 100], [2, 20, 200])
    >>> round(fit.slope, 3), round(float(fit.at(1000)), 1), round(fit.r_squared, 3), fit.power
    (1.0, 2000.0, 1.0, True)
    """
    fit = fit_line(np.log(np.asarray(x, dtype=float)), np.log(np.asarray(y, dtype=float)))
    return Fit(fit.n, fit.slope, fit.intercept, fit.r_squared, power=True)
