"""Speculative decoding: a cheap draft proposes tokens, the model checks them in one step.

Source: Leviathan, Kalman, Matias 2023, arXiv 2211.17192. Tokens are accepted independently of each
other with the same probability.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def tokens_per_check(acceptance: ArrayLike, drafted: ArrayLike) -> NDArray[np.float64]:
    """Return the expected tokens that one check yields: (1 - a^(g + 1)) / (1 - a).

    Parameters
    ----------
    acceptance : array_like
        Probability a that a drafted token is accepted, below 1.
    drafted : array_like
        Tokens g that the draft proposes for each check.

    Examples
    --------
    >>> round(float(tokens_per_check(0.8, 2)), 2)
    2.44
    """
    acceptance = np.asarray(acceptance, dtype=float)
    return (1.0 - acceptance ** (np.asarray(drafted) + 1.0)) / (1.0 - acceptance)


def speculative_speedup(
    acceptance: ArrayLike, drafted: ArrayLike, draft_cost: ArrayLike = 0.0
) -> NDArray[np.float64]:
    """Return how many times faster the answer comes: theorem 3.8 of the paper.

    .. math:: \\frac{1 - a^{g + 1}}{(1 - a)(g c + 1)}

    Parameters
    ----------
    draft_cost : array_like
        Time c of one draft step over that of one step of the model.

    Examples
    --------
    >>> round(float(speculative_speedup(0.9, 2)), 2)
    2.71
    """
    cost = np.asarray(drafted, dtype=float) * draft_cost + 1.0
    return tokens_per_check(acceptance, drafted) / cost


def speculative_work(
    acceptance: ArrayLike, drafted: ArrayLike, draft_work: ArrayLike = 0.0
) -> NDArray[np.float64]:
    """Return how many times the FLOP of plain decoding are done: theorem 3.11 of the paper.

    .. math:: \\frac{(1 - a)(g \\hat c + g + 1)}{1 - a^{g + 1}}

    Parameters
    ----------
    draft_work : array_like
        FLOP of the draft for a token over those of the model.

    Examples
    --------
    >>> round(float(speculative_work(0.6, 2)), 2)
    1.53
    """
    drafted = np.asarray(drafted, dtype=float)
    return (drafted * draft_work + drafted + 1.0) / tokens_per_check(acceptance, drafted)
