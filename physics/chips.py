"""Accelerators: dense peaks, memory, link, and where each figure comes from."""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from physics.errors import InputError, UnknownName

CATALOGUE = Path(__file__).resolve().parent.parent / "assets" / "chips.csv"


@dataclass(frozen=True)
class Chip:
    """One accelerator (one SKU, or one GPU of a superchip), in base units.

    Attributes
    ----------
    bf16_flop_per_second, fp8_flop_per_second, int8_flop_per_second : float or None
        Dense peaks. Vendors' sparse figures are never stored here; None: the chip has no such unit.
    bandwidth : float
        Main-memory bandwidth [B/s].
    capacity : float
        Main memory [B].
    link : float or None
        Bandwidth to other chips, one direction [B/s]; None: it has no link that counts.
    confidence : str
        'A' read at the source named, 'B' and 'C' not re-read: shown as uncertain.
    """

    slug: str
    name: str
    vendor: str
    kind: str
    year: int
    bf16_flop_per_second: float
    fp8_flop_per_second: float | None
    int8_flop_per_second: float | None
    fp4_flop_per_second: float | None
    memory: str
    bandwidth: float
    capacity: float
    link: float | None
    link_name: str
    power_watt: float | None
    on_chip: str
    second_tier: str
    source: str
    confidence: str
    note: str

    @property
    def ridge(self) -> float:
        """Ridge point in bf16 [FLOP/B]: peak over bandwidth.

        Examples
        --------
        >>> round(chip("h100-sxm").ridge, 1)
        295.2
        """
        return self.bf16_flop_per_second / self.bandwidth

    def peak(self, weight_format: str = "bf16") -> float:
        """Return the dense peak at which matrices in `weight_format` are multiplied [FLOP/s].

        int4 and fp4 are weight-only formats here: they are expanded to bf16 before they are
        multiplied. fp8, int8 and nvfp4 (activations in four bits too) use their own units where
        the chip has faster ones, else bf16.

        Examples
        --------
        >>> chip("h100-sxm").peak("fp8") / 1e12, chip("a100-sxm-80gb").peak("fp8") / 1e12
        (1979.0, 312.0)
        """
        own = {
            "fp8": self.fp8_flop_per_second,
            "int8": self.int8_flop_per_second,
            "nvfp4": self.fp4_flop_per_second,
        }
        return max(self.bf16_flop_per_second, own.get(weight_format) or 0.0)

    def custom(self, *, bandwidth: float | None = None, flops: float | None = None) -> Chip:
        """Return this chip with another bandwidth [B/s] or bf16 peak [FLOP/s].

        The peaks of the other formats move in proportion to the bf16 one.
        """
        if bandwidth is None and flops is None:
            return self
        scale = 1.0 if flops is None else flops / self.bf16_flop_per_second

        def scaled(peak: float | None) -> float | None:
            return None if peak is None else peak * scale

        return replace(
            self,
            bandwidth=self.bandwidth if bandwidth is None else bandwidth,
            bf16_flop_per_second=self.bf16_flop_per_second * scale,
            fp8_flop_per_second=scaled(self.fp8_flop_per_second),
            int8_flop_per_second=scaled(self.int8_flop_per_second),
            fp4_flop_per_second=scaled(self.fp4_flop_per_second),
        )


def _number(row: dict[str, str], column: str, unit: float) -> float | None:
    text = row[column].strip()
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        raise InputError(f"chips.csv {row['slug']}", f"{column} is no number: {text!r}") from None
    if value <= 0:
        raise InputError(f"chips.csv {row['slug']}", f"{column} must be positive, got {text}")
    return value * unit


@cache
def chips() -> dict[str, Chip]:
    """Return the catalogue of chips by slug, in the order of the file."""
    with CATALOGUE.open(newline="", encoding="utf-8") as file:
        return {row["slug"]: _chip(row) for row in csv.DictReader(file)}


def _chip(row: dict[str, str]) -> Chip:
    return Chip(
        slug=row["slug"],
        name=row["name"],
        vendor=row["vendor"],
        kind=row["class"],
        year=int(row["year"]),
        bf16_flop_per_second=_number(row, "bf16_tflops", 1e12),
        fp8_flop_per_second=_number(row, "fp8_tflops", 1e12),
        int8_flop_per_second=_number(row, "int8_tops", 1e12),
        fp4_flop_per_second=_number(row, "fp4_tflops", 1e12),
        memory=row["memory"],
        bandwidth=_number(row, "bandwidth_gb_s", 1e9),
        capacity=_number(row, "capacity_gb", 1e9),
        link=_number(row, "link_gb_s", 1e9),
        link_name=row["link"],
        power_watt=_number(row, "power_w", 1.0),
        on_chip=row["on_chip"],
        second_tier=row["second_tier"],
        source=row["source"],
        confidence=row["confidence"],
        note=row["note"],
    )


def chip(slug: str) -> Chip:
    """Return one chip of the catalogue, in any case.

    Raises
    ------
    UnknownName
        With the nearest slugs.

    Examples
    --------
    >>> chip("H200-SXM").bandwidth / 1e9
    4800.0
    """
    found = chips().get(str(slug).strip().casefold())
    if found is None:
        raise UnknownName("chip", slug, chips())
    return found
