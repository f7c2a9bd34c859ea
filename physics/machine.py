"""What a step runs on: one or more chips of a kind, and how much of their peaks they reach."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from physics.architecture import Architecture
from physics.chips import Chip
from physics.efficiency import IDEAL, Efficiency
from physics.errors import InputError
from physics.formats import BITS_PER_ELEMENT, PUBLISHED
from physics.typical import DEFAULT_ENGINE, typical

EFFICIENCIES = ("ideal", "typical")


@dataclass(frozen=True)
class Machine:
    """`tp` chips that hold one model together (tensor parallel).

    Attributes
    ----------
    peak, attention_peak : array_like
        Dense peak of one chip for the linear layers, and for attention (bf16) [FLOP/s].
    bandwidth : array_like
        Memory bandwidth of one chip [B/s].
    capacity : float
        Memory of one chip [B].
    link : float or None
        Bandwidth of one chip to the others, one direction [B/s].
    """

    peak: ArrayLike
    attention_peak: ArrayLike
    bandwidth: ArrayLike
    capacity: ArrayLike
    link: ArrayLike | None
    tp: ArrayLike = 1
    efficiency: Efficiency = IDEAL

    def shapes(self) -> list[tuple[int, ...]]:
        """Return the shapes of all figures, which broadcast with those of a step."""
        link = 0.0 if self.link is None else self.link
        figures = (self.peak, self.attention_peak, self.bandwidth, self.capacity, link, self.tp)
        return [np.shape(figure) for figure in (*figures, *vars(self.efficiency).values())]


def side_by_side(machines: Sequence[Machine]) -> Machine:
    """Stack machines into one whose figures are arrays, a place for each of them.

    Examples
    --------
    >>> from physics.chips import chip
    >>> two = side_by_side([machine(chip("h100-sxm"), tp=8), machine(chip("a100-sxm-80gb"))])
    >>> two.tp.tolist(), (two.bandwidth / 1e9).tolist()
    ([8, 1], [3350.0, 2039.0])
    """

    def column(name: str) -> NDArray:
        values = [getattr(item, name) for item in machines]
        return np.array([np.inf if value is None else value for value in values])

    efficiency = Efficiency(
        **{
            name: np.array([getattr(item.efficiency, name) for item in machines])
            for name in vars(IDEAL)
        }
    )
    names = ("peak", "attention_peak", "bandwidth", "capacity", "link", "tp")
    return Machine(**{name: column(name) for name in names}, efficiency=efficiency)


def machine(
    chip: Chip,
    *,
    weights: str = "bf16",
    architecture: Architecture | None = None,
    tp: int = 1,
    efficiency: str | Efficiency = "ideal",
    engine: str = DEFAULT_ENGINE,
    bandwidth: ArrayLike | None = None,
    flops: ArrayLike | None = None,
) -> Machine:
    """Put `tp` chips together for weights in a format.

    Parameters
    ----------
    chip : Chip
    weights : str
        Weight format; it decides which peak the linear layers run at.
    architecture : Architecture, optional
        The model, where `weights` is 'published': its file says the format of the arithmetic.
    tp : int
        Number of chips.
    efficiency : {'ideal', 'typical'} or Efficiency
        'typical': as measured for the chip and the engine, or for their like.
    engine : str
        The serving engine of a typical machine, one of `physics.typical.engines`.
    bandwidth, flops : array_like, optional
        Bandwidth [B/s] and bf16 peak [FLOP/s] in place of the chip's own; other formats' peaks
        move with the bf16 one.

    Raises
    ------
    InputError
        If several chips are asked for and the chip has no link, or a value is out of range.

    Examples
    --------
    >>> from physics.chips import chip
    >>> machine(chip("h100-sxm"), tp=8).link / 1e9
    450.0
    """
    if weights == PUBLISHED and architecture is not None:
        weights = architecture.quantisation.arithmetic
    if weights not in BITS_PER_ELEMENT:
        raise InputError(
            "weights", f"must be one of {', '.join(BITS_PER_ELEMENT)}, got {weights!r}"
        )
    if isinstance(efficiency, str) and efficiency not in EFFICIENCIES:
        raise InputError(
            "efficiency", f"must be one of {', '.join(EFFICIENCIES)}, got {efficiency!r}"
        )
    for name, value in (("tp", tp), ("bandwidth", bandwidth), ("flops", flops)):
        if value is not None and not np.all((np.asarray(value) > 0) & np.isfinite(value)):
            raise InputError(name, "must be a finite number above 0")
    if tp > 1 and chip.link is None:
        raise InputError(
            "tp", f"must be 1: {chip.slug} has no link to other chips in the catalogue"
        )
    attention_peak = chip.bf16_flop_per_second if flops is None else flops
    return Machine(
        peak=attention_peak * (chip.peak(weights) / chip.bf16_flop_per_second),
        attention_peak=attention_peak,
        bandwidth=chip.bandwidth if bandwidth is None else bandwidth,
        capacity=chip.capacity,
        link=chip.link,
        tp=tp,
        efficiency=_efficiency(chip, efficiency, engine, weights),
    )


def _efficiency(chip: Chip, efficiency: str | Efficiency, engine: str, weights: str) -> Efficiency:
    if isinstance(efficiency, Efficiency):
        return efficiency
    return typical(chip, engine, weights) if efficiency == "typical" else IDEAL


def read_seconds(size: ArrayLike, machine: Machine) -> NDArray[np.float64]:
    """Time to read `size` bytes once, spread over all chips: bytes / bandwidth [s].

    Examples
    --------
    >>> from physics.chips import chip
    >>> round(float(read_seconds(14e9, machine(chip("a100-sxm-80gb")))) * 1e3, 2)
    6.87
    """
    reached = np.multiply(machine.bandwidth, machine.efficiency.memory)
    return np.asarray(size, dtype=float) / (reached * machine.tp)
