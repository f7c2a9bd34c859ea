"""How the weights of a published model are stored, part by part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

PARTS = ("embedding", "attention", "mlp", "experts", "shared_experts", "router", "head", "norms")
"""The parts of a model whose weights may be stored differently."""


@dataclass(frozen=True)
class Quantisation:
    """Bits of a weight in each part, scales included, and the format of the arithmetic.

    Attributes
    ----------
    method : str
        As the model's file names it; 'bf16' for none.
    bits : mapping of str to float
        Bits by part; a part that is not named has 16.
    arithmetic : str
        Format in which quantised parts are multiplied: 'fp8', 'int8', or 'bf16' (weight-only).
    """

    method: str = "bf16"
    bits: Mapping[str, float] = field(default_factory=dict)
    arithmetic: str = "bf16"

    def bytes_of(self, part: str) -> float:
        """Return the bytes of one weight of a part.

        Examples
        --------
        >>> Quantisation("mxfp4", {"experts": 4.25}).bytes_of("experts")
        0.53125
        """
        return self.bits.get(part, 16.0) / 8

    def quantised(self, part: str) -> bool:
        """Return whether a part is stored in fewer than 16 bits."""
        return self.bits.get(part, 16.0) < 16.0


BF16 = Quantisation()
"""Sixteen bits everywhere."""
