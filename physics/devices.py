"""Measured speeds of many devices on the same model with the same program."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from physics.measurement_sources import MEASUREMENTS
from physics.regression import Fit, fit_line, fit_power

MEASURED = MEASUREMENTS / "devices.csv"

FAMILIES = ("geforce", "rtx-pro", "hbm", "apple")
"""NVIDIA's cards with GDDR for games and for work, NVIDIA's with HBM, and Apple's."""
GDDR = FAMILIES[:2]

FIGURES = ("bandwidth", "peak")
PHASES = ("prefill", "decode")


@dataclass(frozen=True)
class Devices:
    """Devices measured with one model in one format, arrays of shape (devices,).

    Attributes
    ----------
    names, families : tuple of str
    prefill, decode : ndarray
        Speeds of one request [token/s], of a prompt and an answer of 1,024 tokens; NaN: left out.
    bandwidth, peak : ndarray
        Data-sheet figures [B/s], [FLOP/s]; the peak is dense, in fp16, with fp16 accumulation,
        which the program uses (twice the peak with fp32 accumulation on cards for games).
    checked : ndarray of bool
        Whether the figures were read at a source.
    """

    names: tuple[str, ...]
    families: tuple[str, ...]
    prefill: NDArray[np.float64]
    decode: NDArray[np.float64]
    bandwidth: NDArray[np.float64]
    peak: NDArray[np.float64]
    checked: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.names)

    def of(self, *families: str) -> Devices:
        """Return the devices of some families."""
        chosen = np.isin(self.families, families)
        names, kinds = np.array(self.names)[chosen], np.array(self.families)[chosen]
        columns = ("prefill", "decode", "bandwidth", "peak", "checked")
        return Devices(
            tuple(names.tolist()),
            tuple(kinds.tolist()),
            **{name: getattr(self, name)[chosen] for name in columns},
        )

    def fit(self, phase: str, figure: str, *, power: bool = True) -> Fit:
        """Fit the speed of a phase against a figure of the hardware.

        Parameters
        ----------
        phase : {'prefill', 'decode'}
        figure : {'bandwidth', 'peak'}
        power : bool
            Whether through the logarithms; else through the numbers themselves.

        Examples
        --------
        >>> cards = devices("llama-3-8b", "q4_k_m").of(*GDDR)
        >>> [round(cards.fit("decode", figure).r_squared, 2) for figure in FIGURES]
        [0.9, 0.46]
        """
        fit = fit_power if power else fit_line
        return fit(getattr(self, figure), getattr(self, phase))

    def collinearity(self) -> Fit:
        """Fit the peak against the bandwidth: where they rise together nothing tells them apart."""
        return fit_power(self.bandwidth, self.peak)

    def more(self, one: str, other: str, column: str) -> float:
        """Return by what share a column of one device exceeds that of another.

        Examples
        --------
        >>> cards = devices("llama-3-8b", "f16")
        >>> round(cards.more("RTX 4080", "RTX 3090", "prefill"), 2)
        0.59
        """
        values = getattr(self, column)
        return float(values[self.names.index(one)] / values[self.names.index(other)]) - 1.0


@cache
def devices(model: str, weight_format: str) -> Devices:
    """Return what was measured with a model in a format.

    Examples
    --------
    >>> len(devices("llama-3-8b", "q4_k_m")), len(devices("llama-3-70b", "q4_k_m"))
    (16, 8)
    """
    with MEASURED.open(newline="", encoding="utf-8") as file:
        rows = [
            row
            for row in csv.DictReader(file)
            if (row["model"], row["format"]) == (model, weight_format)
        ]

    def column(name: str, unit: float = 1.0) -> NDArray[np.float64]:
        return np.array([float(row[name] or "nan") * unit for row in rows])

    return Devices(
        names=tuple(row["device"] for row in rows),
        families=tuple(row["family"] for row in rows),
        prefill=column("prefill_tokens_s"),
        decode=column("decode_tokens_s"),
        bandwidth=column("bandwidth_gb_s", 1e9),
        peak=column("peak_tflops", 1e12),
        checked=np.array([row["figures_confidence"] == "A" for row in rows]),
    )
