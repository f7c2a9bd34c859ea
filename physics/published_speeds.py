"""Speeds that makers of chips publish, beside what their memory alone would allow.

One user's tokens a second can come from more memory bandwidth, from using more of it (fusion, no
launches), or from more tokens a step (speculative decoding). A published figure does not say which;
the bound says how much of it bandwidth can explain.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from physics.catalogue import model
from physics.chips import chip
from physics.machine import Machine
from physics.memory import weight_bytes
from physics.memory_tiers import chips_to_hold
from physics.step import decode

SPEEDS = Path(__file__).resolve().parent.parent / "assets" / "published_speeds.csv"


@dataclass(frozen=True)
class Speed:
    """One user's speed on a machine, as printed.

    Attributes
    ----------
    chips : int
        As stated, or the fewest that hold the weights where no number is given.
    stated : bool
        Whether the source gives the number of chips.
    tokens_per_second : float
        For one user.
    speculative : str
        'yes', 'no' or 'unknown': whether a step may yield more than one token.
    claimed : bool
        Whether it is a maker's own figure, or of the maker's own cloud.
    """

    slug: str
    chip: str
    chips: int
    stated: bool
    model: str
    weights: str
    tokens_per_second: float
    speculative: str
    claimed: bool
    source: str
    address: str
    confidence: str
    note: str

    @property
    def bytes_per_token(self) -> float:
        """Weights that a step at batch 1 must read [B]."""
        unit = Machine(1.0, 1.0, 1.0, np.inf, np.inf)
        one = decode(model(self.model), unit, batch=1, context=0, weights=self.weights)
        return float(one.weight_bytes)

    @property
    def bandwidth(self) -> float:
        """Main memory bandwidth of all chips together [B/s]."""
        return self.chips * chip(self.chip).bandwidth

    @property
    def bound(self) -> float:
        """Tokens/s if all chips read their weights side by side, once for each token."""
        return self.bandwidth / self.bytes_per_token

    @property
    def bound_in_a_row(self) -> float:
        """Tokens/s if the chips hold the layers one after another, and one reads at a time."""
        return chip(self.chip).bandwidth / self.bytes_per_token

    @property
    def share(self) -> float:
        """Published speed over the bound: above 1 only with more than one token a step."""
        return self.tokens_per_second / self.bound


@cache
def published_speeds() -> dict[str, Speed]:
    """Return the published speeds.

    Examples
    --------
    >>> one = published_speeds()["sn40l-8b"]
    >>> one.tokens_per_second, round(one.bound), round(one.share, 2)
    (1042.0, 1706, 0.61)
    """
    with SPEEDS.open(newline="", encoding="utf-8") as file:
        return {row["slug"]: _speed(row) for row in csv.DictReader(file)}


def _speed(row: dict[str, str]) -> Speed:
    held = float(weight_bytes(model(row["model"]), row["weights"]))
    least = int(chips_to_hold(held, chip(row["chip"]).capacity))
    return Speed(
        slug=row["slug"],
        chip=row["chip"],
        chips=int(row["chips"] or least),
        stated=row["chips_from"] == "stated",
        model=row["model"],
        weights=row["weights"],
        tokens_per_second=float(row["tokens_per_second"]),
        speculative=row["speculative"],
        claimed=row["claim"] == "yes",
        source=row["source"],
        address=row["address"],
        confidence=row["confidence"],
        note=row["note"],
    )
