"""What tokens cost: money at a price for each chip and hour, energy at a power for each chip."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

SECONDS_PER_HOUR = 3600.0
MILLION = 1e6


def cost_per_million_tokens(
    tokens_per_second: ArrayLike, *, chips: ArrayLike, price_per_chip_hour: ArrayLike
) -> NDArray[np.float64]:
    """Price of a million tokens from a system that is never idle, in the currency of the price.

    .. math:: cost = \\frac{price \\cdot chips}{3600 \\cdot throughput} \\cdot 10^6

    Hosts, electricity, network and idle hours are in it as far as the price of a chip-hour holds
    them: a system that is busy half of the time pays twice as much for each token.

    Parameters
    ----------
    tokens_per_second : array_like
        Tokens that the whole system yields [token/s].
    chips : array_like
        Number of chips that are paid for.
    price_per_chip_hour : array_like
        Price of one chip for one hour, such as USD.

    Examples
    --------
    An H800 node of eight that writes 14,800 tokens a second, at 2 USD for a chip and hour
    (DeepSeek-V3/R1 inference system overview, 2025):

    >>> round(float(cost_per_million_tokens(14_800, chips=8, price_per_chip_hour=2)), 3)
    0.3
    """
    paid = np.multiply(chips, price_per_chip_hour, dtype=float) / SECONDS_PER_HOUR
    return paid / np.asarray(tokens_per_second, dtype=float) * MILLION


def energy_per_token(
    tokens_per_second: ArrayLike, *, chips: ArrayLike, power_watt: ArrayLike
) -> NDArray[np.float64]:
    """Energy of one token with every chip at a power of `power_watt` [J].

    With the power that a vendor names for its design (TDP) it is the most that the chips alone
    take over time; hosts, network and cooling are not in it, and a chip that waits draws less.

    Parameters
    ----------
    tokens_per_second : array_like
        Tokens that the whole system yields [token/s].
    chips : array_like
        Number of chips.
    power_watt : array_like
        Power of one chip [W].

    Examples
    --------
    >>> float(energy_per_token(7000, chips=8, power_watt=700))
    0.8
    """
    return np.multiply(chips, power_watt, dtype=float) / np.asarray(tokens_per_second, dtype=float)
