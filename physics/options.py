"""The options of a prediction: names, ranges, defaults.

One table serves the command line, the table of a CSV file and the URL, so that a value means the
same everywhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from physics.errors import InputError, nearest_names
from physics.formats import BITS_PER_ELEMENT, PUBLISHED
from physics.typical import DEFAULT_ENGINE, engines


@dataclass(frozen=True)
class Number:
    """A numeric option: range, default and unit (`None` as default: taken from the chip)."""

    name: str
    minimum: float
    maximum: float
    default: float | None
    unit: str
    whole: bool = True

    def parse(self, text: str | float) -> float:
        """Read a value, or raise InputError that says what is allowed.

        Examples
        --------
        >>> OPTIONS["batch"].parse("32")
        32
        """
        try:
            value = math.nan if "_" in str(text) else float(text)
        except (TypeError, ValueError, OverflowError):
            raise InputError(self.name, f"must be {self.allowed()}, got {text!r}") from None
        if not math.isfinite(value) or not self.minimum <= value <= self.maximum:
            raise InputError(self.name, f"must be {self.allowed()}, got {text}")
        if self.whole and value != int(value):
            raise InputError(self.name, f"must be {self.allowed()}, got {text}")
        return int(value) if self.whole else value

    def nearest(self, text: str | float) -> float | None:
        """Return the valid value nearest to `text`, or the default when it is no number."""
        try:
            value = float(text)
        except (TypeError, ValueError, OverflowError):
            return self.default
        if math.isnan(value):
            return self.default
        value = min(max(value, self.minimum), self.maximum)
        return round(value) if self.whole else value

    def allowed(self) -> str:
        """Say in words what is allowed."""
        kind = "a whole number" if self.whole else "a number"
        return f"{kind} from {self.minimum:,} to {self.maximum:,} ({self.unit})"


@dataclass(frozen=True)
class Choice:
    """An option with a few named values."""

    name: str
    values: tuple[str, ...]
    default: str

    def parse(self, text: str) -> str:
        """Read a value in any case, or raise InputError that lists what is allowed.

        Examples
        --------
        >>> OPTIONS["weights"].parse("FP8")
        'fp8'
        """
        value = str(text).strip().casefold()
        if value not in self.values:
            raise InputError(self.name, f"must be one of {', '.join(self.values)}, got {text!r}")
        return value

    def nearest(self, text: str) -> str:
        """Return the value that looks most like `text`, or the default."""
        value = str(text).strip().casefold()
        if value in self.values:
            return value
        close = [name for name in nearest_names(value, self.values, 1) if name[:1] == value[:1]]
        return close[0] if close else self.default


FORMATS = tuple(BITS_PER_ELEMENT)

OPTIONS: dict[str, Number | Choice] = {
    option.name: option
    for option in (
        Number("prompt", 1, 10_000_000, 2048, "tokens"),
        Number("output", 1, 1_000_000, 256, "tokens"),
        Number("batch", 1, 1_000_000, 1, "sequences"),
        Number("tp", 1, 1024, 1, "chips"),
        Choice("weights", (PUBLISHED, *FORMATS), PUBLISHED),
        Choice("kv", FORMATS, "bf16"),
        Number("bandwidth", 1, 100_000_000, None, "GB/s", whole=False),
        Number("flops", 0.01, 1_000_000, None, "TFLOP/s", whole=False),
        Choice("efficiency", ("ideal", "typical"), "ideal"),
        Choice("engine", engines(), DEFAULT_ENGINE),
    )
}

DEFAULT_MODEL = "llama-3.1-8b"
DEFAULT_CHIP = "h100-sxm"
