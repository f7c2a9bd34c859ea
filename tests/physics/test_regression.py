"""Least squares against an example computed by hand, and against its properties."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from physics.regression import fit_line, fit_power

# By hand: means 3 and 5; Sxx = 4 + 1 + 1 + 4 = 10, Sxy = 6 + 0 + 1 + 8 = 15,
# Syy = 9 + 0 + 1 + 16 = 26; slope 15 / 10, intercept 5 - 1.5 * 3, R² = 225 / 260.
X, Y = [1, 2, 4, 5], [2, 5, 6, 9]
# Means 3 and 5.5: deviations of y -3.5, -0.5, 0.5, 3.5, so Sxy = 15, Syy = 25, R² = 225 / 250.
SLOPE, INTERCEPT, R_SQUARED = 1.5, 1.0, 0.9

numbers = st.lists(st.floats(0.01, 1e4), min_size=4, max_size=12)


def test_an_example_by_hand():
    fit = fit_line(X, Y)
    assert (fit.n, fit.slope, fit.intercept) == (4, pytest.approx(SLOPE), pytest.approx(INTERCEPT))
    assert fit.r_squared == pytest.approx(R_SQUARED)
    assert fit.at([0, 2]).tolist() == pytest.approx([1, 4])


def test_a_power_law_by_hand():
    # The same numbers as exponents of ten.
    fit = fit_power(10.0 ** np.array(X), 10.0 ** np.array(Y))
    assert fit.slope == pytest.approx(SLOPE)
    assert fit.r_squared == pytest.approx(R_SQUARED)
    assert fit.at(100.0) == pytest.approx(1e4)


@given(numbers, st.randoms())
def test_r_squared_is_the_squared_correlation_and_knows_no_units(x, random):
    y = [value * random.uniform(0.5, 2) for value in x]
    assume(np.ptp(x) > 1e-3 and np.ptp(y) > 1e-3)
    fit = fit_line(x, y)
    assert fit.r_squared == pytest.approx(np.corrcoef(x, y)[0, 1] ** 2, abs=1e-9)
    assert fit_line(np.multiply(x, 1e9), y).r_squared == pytest.approx(fit.r_squared, abs=1e-9)
    assert fit_line(y, x).r_squared == pytest.approx(fit.r_squared, abs=1e-9)
    assert 0 <= fit.r_squared <= 1 + 1e-12


@given(numbers, st.randoms())
def test_no_other_line_is_nearer(x, random):
    y = np.array([value * random.uniform(0.5, 2) for value in x])
    assume(np.ptp(x) > 1e-3 and np.ptp(y) > 1e-3)
    fit = fit_line(x, y)
    least = np.sum((y - fit.at(x)) ** 2)
    for slope, intercept in ((1.01, 1.0), (0.99, 1.0), (1.0, 1.01), (1.0, 0.99)):
        other = fit.intercept * intercept + fit.slope * slope * np.asarray(x)
        assert least <= np.sum((y - other) ** 2) + 1e-9


def test_pairs_with_a_gap_are_left_out():
    fit = fit_line([*X, np.nan, 7], [*Y, 3, np.nan])
    assert (fit.n, fit.r_squared) == (4, pytest.approx(R_SQUARED))


@pytest.mark.parametrize(
    ("x", "y"), [([1, 2], [3, 9]), ([2, 2, 2], [1, 2, 3]), ([1, 2, 3], [4, 4, 4]), ([], [])]
)
def test_what_no_line_can_be_told_for_has_none(x, y):
    assert np.isnan(fit_line(x, y).r_squared)
