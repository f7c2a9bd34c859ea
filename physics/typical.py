"""Typical machines: how far a chip's kernels and an engine's steps stay below the data sheet.

A chip's efficiencies come from its kernels measured alone, an engine's fixed times from whole
requests (`python -m physics.fit` writes both tables). Efficiency and fixed times trade against each
other in a fit, so what can be measured alone is not fitted.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median

from physics.chips import Chip, chips
from physics.efficiency import Efficiency
from physics.errors import UnknownName

ASSETS = Path(__file__).resolve().parent.parent / "assets"
KERNELS = ASSETS / "kernel_efficiencies.csv"
OVERHEADS = ASSETS / "engine_overheads.csv"

DEFAULT_ENGINE = "vllm"

MEASURED_FORMATS = ("bf16", "fp8", "nvfp4")
"""Formats in which matrix products were timed."""


@dataclass(frozen=True)
class Kernels:
    """Fractions of a chip's peaks and bandwidth that its large kernels reach.

    Attributes
    ----------
    compute : mapping of str to float
        By format of the arithmetic: bf16, and of fp8 and nvfp4 those that were measured.
    memory : float
    """

    compute: Mapping[str, float]
    memory: float


@dataclass(frozen=True)
class Overheads:
    """Constants of an engine.

    Attributes
    ----------
    operator, all_reduce : float
        Fixed time of each operator, latency of each all-reduce [s].
    link : float
        Share of the link's bandwidth that an all-reduce reaches.
    """

    operator: float
    all_reduce: float
    link: float


@cache
def kernels() -> dict[str, Kernels]:
    """Return the measured efficiencies by chip."""
    with KERNELS.open(newline="", encoding="utf-8") as file:
        return {
            row["chip"]: Kernels(
                {name: float(row[name]) for name in MEASURED_FORMATS if row[name]},
                float(row["memory"]),
            )
            for row in csv.DictReader(file)
        }


@cache
def overheads() -> dict[str, Overheads]:
    """Return the fitted constants by engine; 'other' is their median."""
    with OVERHEADS.open(newline="", encoding="utf-8") as file:
        return {
            row["engine"]: Overheads(
                float(row["operator_us"]) * 1e-6,
                float(row["all_reduce_us"]) * 1e-6,
                float(row["link"]),
            )
            for row in csv.DictReader(file)
        }


def engines() -> tuple[str, ...]:
    """Return the engines that were fitted, and 'other', in the order of the file.

    Examples
    --------
    >>> "vllm" in engines() and "other" in engines()
    True
    """
    return tuple(overheads())


def kernels_basis(chip: Chip) -> str:
    """Say whose kernels stand for a chip's: 'chip' (its own), 'class' (a median), 'all'.

    Examples
    --------
    >>> from physics.chips import chip
    >>> kernels_basis(chip("h100-sxm")), kernels_basis(chip("mi300x"))
    ('chip', 'class')
    """
    return _alike(chip)[1]


def typical(chip: Chip, engine: str = DEFAULT_ENGINE, weights: str = "bf16") -> Efficiency:
    """Return what a chip under an engine typically reaches.

    Parameters
    ----------
    chip : Chip
    engine : str
        One of `engines`.
    weights : str
        Format of the weights, which decides the format of the arithmetic.

    Raises
    ------
    UnknownName
        For an engine that was not fitted.

    Examples
    --------
    >>> from physics.chips import chip
    >>> typical(chip("h100-sxm"), "vllm").compute
    0.79
    """
    if engine not in engines():
        raise UnknownName("engine", engine, engines())
    alike, _ = _alike(chip)
    fixed = overheads()[engine]
    # A format that the chip has no unit for is multiplied in bf16; int8's unit is fp8's twin.
    faster = chip.peak(weights) > chip.bf16_flop_per_second
    arithmetic = {"int8": "fp8"}.get(weights, weights) if faster else "bf16"
    return Efficiency(
        compute=_median_compute(alike, "bf16"),
        low_precision_compute=_median_compute(alike, arithmetic),
        memory=median(item.memory for item in alike),
        launch_seconds=fixed.operator,
        all_reduce_seconds=fixed.all_reduce,
        link=fixed.link,
    )


def _alike(chip: Chip) -> tuple[list[Kernels], str]:
    """Return the measured chips that speak for one: itself, its class, or all."""
    if chip.slug in kernels():
        return [kernels()[chip.slug]], "chip"
    same = [own for slug, own in kernels().items() if chips()[slug].kind == chip.kind]
    return (same, "class") if same else (list(kernels().values()), "all")


def _median_compute(alike: list[Kernels], name: str) -> float:
    """Return the median share in a format, over all chips where the alike were not timed in it."""
    found = [item.compute[name] for item in alike if name in item.compute]
    return median(found or [own.compute[name] for own in kernels().values() if name in own.compute])
