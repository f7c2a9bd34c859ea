"""Memory tiers of a chip: SRAM on it, HBM beside it, DDR behind it; and what each can hold.

A tier's bandwidth sets its ridge, its capacity the number of chips that a model needs. The main
memory is the catalogue's (`chips`); `assets/memory_tiers.csv` holds the tiers above and below it.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from physics.chips import Chip, chip
from physics.roofline import ridge_flop_per_byte

Array = NDArray[np.float64]

LEVELS = ("sram", "hbm", "ddr")
"""From the fastest and smallest to the slowest and largest."""

TIERS = Path(__file__).resolve().parent.parent / "assets" / "memory_tiers.csv"

_ON_CHIP = re.compile(r"\b(\d+(?:\.\d+)?)\s*(MB|GB)\b")


@dataclass(frozen=True)
class Tier:
    """One memory of a chip.

    Attributes
    ----------
    level : str
        One of `LEVELS`; 'hbm' is any DRAM that is a chip's main memory.
    memory : str
        What it is, as its maker calls it.
    capacity : float
        [B] of one chip.
    bandwidth : float or None
        [B/s] of one chip; None: no figure was found.
    claimed : bool
        Whether the figure is the maker's own, not a measurement.
    confidence : str
        'A' read at the source named, 'B' and 'C' not re-read.
    """

    chip: str
    level: str
    memory: str
    capacity: float
    bandwidth: float | None
    source: str
    address: str
    confidence: str
    claimed: bool
    note: str

    def ridge(self, peak: ArrayLike) -> Array:
        """Ridge of a chip that reads all from this tier [FLOP/B]; NaN without a bandwidth."""
        return ridge_flop_per_byte(peak, np.nan if self.bandwidth is None else self.bandwidth)


@cache
def _beside_main() -> dict[str, list[Tier]]:
    with TIERS.open(newline="", encoding="utf-8") as file:
        found: dict[str, list[Tier]] = {}
        for row in csv.DictReader(file):
            found.setdefault(row["chip"], []).append(
                Tier(
                    chip=row["chip"],
                    level=row["level"],
                    memory=row["memory"],
                    capacity=float(row["capacity_gb"]) * 1e9,
                    bandwidth=float(row["bandwidth_gb_s"]) * 1e9 if row["bandwidth_gb_s"] else None,
                    source=row["source"],
                    address=row["address"],
                    confidence=row["confidence"],
                    claimed=row["claim"] == "yes",
                    note=row["note"],
                )
            )
    return found


def main_tier(one: Chip) -> Tier:
    """Return a chip's main memory as a tier."""
    return Tier(
        chip=one.slug,
        level="sram" if "SRAM" in one.memory else "hbm",
        memory=one.memory.removeprefix("on-chip "),
        capacity=one.capacity,
        bandwidth=one.bandwidth,
        source=one.source,
        address="",
        confidence=one.confidence,
        claimed=True,
        note=one.note,
    )


def tiers(slug: str) -> tuple[Tier, ...]:
    """Return the known memories of a chip, the fastest first.

    Examples
    --------
    >>> [(tier.level, tier.capacity / 1e9) for tier in tiers("sn40l")]
    [('sram', 0.52), ('hbm', 64.0), ('ddr', 1500.0)]
    """
    one = chip(slug)
    found = [main_tier(one), *_beside_main().get(one.slug, [])]
    return tuple(sorted(found, key=lambda tier: LEVELS.index(tier.level)))


def on_chip_bytes(one: Chip) -> float | None:
    """Memory on the chip that can hold activations [B]; None where the catalogue has no figure.

    Caches count: a fused kernel's tiles stay in them.

    Examples
    --------
    >>> on_chip_bytes(chip("h100-sxm")) / 1e6, on_chip_bytes(chip("tpu-v5e"))
    (50.0, None)
    """
    found = _ON_CHIP.search(one.on_chip)
    if found is None:
        return None
    return float(found[1]) * {"MB": 1e6, "GB": 1e9}[found[2]]


def chips_to_hold(size: ArrayLike, capacity: ArrayLike) -> Array:
    """Return the fewest chips whose memory holds `size` bytes.

    Examples
    --------
    >>> chips_to_hold(141.1e9, [0.23e9, 44e9, 64e9, 80e9]).tolist()
    [614.0, 4.0, 3.0, 2.0]
    """
    return np.ceil(np.asarray(size, dtype=float) / capacity)


def fill(size: ArrayLike, capacities: Sequence[float]) -> Array:
    """Put `size` bytes into tiers, the fastest first: shape (tiers, ...); the last takes the rest.

    Examples
    --------
    >>> fill(100.0, [10.0, 60.0, 1000.0]).tolist()
    [10.0, 60.0, 30.0]
    """
    left = np.asarray(size, dtype=float)
    placed = []
    for capacity in capacities[:-1]:
        placed.append(np.minimum(left, capacity))
        left = left - placed[-1]
    return np.stack([*placed, left])


def read_seconds(placed: ArrayLike, bandwidths: Sequence[float]) -> Array:
    """Time to read what lies in each tier, one tier after the other [s].

    Parameters
    ----------
    placed : array_like
        Bytes in each tier, as from `fill`; shape (tiers, ...).
    bandwidths : sequence of float
        [B/s].

    Examples
    --------
    >>> round(float(read_seconds([64e9, 64e9], [1600e9, 100e9])), 3)
    0.68
    """
    return np.tensordot(1.0 / np.asarray(bandwidths, dtype=float), placed, axes=1)
