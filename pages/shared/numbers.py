"""Numbers with their units, as each language writes them.

Every function takes a number or a sequence of numbers in base units and gives a text or a list of
texts. Three significant digits unless asked otherwise, a whole number is never cut below its unit
digit, and a non-breaking space stands before the unit. What is no finite number is a dash.

Only the separators come from Babel: a table of a page holds some 1,500 numbers, and Babel's own
formatting takes ten times as long.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from math import isfinite
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pages.shared.language import Words

NONE = "—"
SPACE = "\N{NO-BREAK SPACE}"
MINUS = "\N{MINUS SIGN}"

_TIME = ((1e-9, "ns"), (1e-6, "µs"), (1e-3, "ms"), (1.0, "s"), (60.0, "min"), (3600.0, "h"))
# A minute and an hour are used from two on: 90 s is read at a glance, 1.50 min is not.
_TIME_FROM = {"min": 120.0, "h": 7200.0}
_DECIMAL = ("", "k", "M", "G", "T", "P", "E", "Z")
_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi")
# Milliards are the last step in Italian: "bilioni" is read as 10^9 by some and 10^12 by others.
_COUNTS = {
    "en": ((1e6, "M"), (1e9, "B"), (1e12, "T")),
    "it": ((1e6, "mln"), (1e9, "mld")),
}


def _one_or_many(write: Callable[..., str]) -> Callable[..., str | list[str]]:
    """Let a function that writes one number also write a sequence of them."""

    @wraps(write)
    def wrapper(values, words, **options):
        if values is None or isinstance(values, Real):
            return write(values, words, **options)
        if isinstance(values, np.ndarray):
            # Python floats are formatted several times faster than NumPy's.
            values = values.tolist()
            if not isinstance(values, list):
                return write(values, words, **options)
        # Most sliders leave most quantities alone, so the same number comes again and again.
        written: dict[float, str] = {}
        for value in values:
            if value not in written:
                written[value] = write(value, words, **options)
        return [written[value] for value in values]

    return wrapper


@_one_or_many
def number(value: float | None, words: Words, *, digits: int = 3, trim: bool = False) -> str:
    """Write a bare number.

    Parameters
    ----------
    value : float, None or a sequence of them
    words : Words
        The language.
    digits : int
        Significant digits.
    trim : bool
        Whether zeros at the end of the decimals are left out.

    Examples
    --------
    >>> from pages.shared.language import Words
    >>> number([2048, 0.12345], Words("it"))
    ['2.048', '0,123']
    """
    if not _usable(value):
        return NONE
    return _write(value, words, digits, trim)


@_one_or_many
def seconds(value: float | None, words: Words, *, digits: int = 3, trim: bool = False) -> str:
    """Write a time [s] in ns, µs, ms, s, min or h.

    Examples
    --------
    >>> from pages.shared.language import Words
    >>> seconds([0.0123, 90, 300], Words("en"))
    ['12.3\\xa0ms', '90.0\\xa0s', '5.00\\xa0min']
    """
    if not _usable(value):
        return NONE
    size = abs(_rounded(value, digits))
    scale, unit = 1.0, "s"
    if size:
        scale, unit = _TIME[0]
        for next_scale, next_unit in _TIME[1:]:
            # A hair less: a millisecond is not exactly 1e-3.
            if size < _TIME_FROM.get(next_unit, next_scale) * (1 - 1e-9):
                break
            scale, unit = next_scale, next_unit
    return _write(value / scale, words, digits, trim) + SPACE + unit


@_one_or_many
def bytes_decimal(value: float | None, words: Words, *, digits: int = 3, trim: bool = False) -> str:
    """Write an amount of memory [B] in kB, MB, GB, TB (powers of 1,000).

    Examples
    --------
    >>> from pages.shared.language import Words
    >>> bytes_decimal(80e9, Words("en"))
    '80.0\\xa0GB'
    """
    return _decimal(value, words, "B", digits, trim)


@_one_or_many
def bytes_binary(value: float | None, words: Words, *, digits: int = 3, trim: bool = False) -> str:
    """Write an amount of memory [B] in KiB, MiB, GiB, TiB (powers of 1,024).

    Examples
    --------
    >>> from pages.shared.language import Words
    >>> bytes_binary(131072, Words("en"), trim=True)
    '128\\xa0KiB'
    """
    if not _usable(value):
        return NONE
    step = 0
    while abs(value) >= 1024 and step < len(_BINARY) - 1:
        value /= 1024
        step += 1
    unit = _BINARY[step] + "B"
    return _write(value, words, digits, trim or not step) + SPACE + unit


@_one_or_many
def bytes_per_second(
    value: float | None, words: Words, *, digits: int = 3, trim: bool = False
) -> str:
    """Write a bandwidth [B/s] in GB/s, TB/s and so on.

    Examples
    --------
    >>> from pages.shared.language import Words
    >>> bytes_per_second(3.35e12, Words("it"))
    '3,35\\xa0TB/s'
    """
    return _decimal(value, words, "B/s", digits, trim)


@_one_or_many
def flop(value: float | None, words: Words, *, digits: int = 3, trim: bool = False) -> str:
    """Write an amount of arithmetic [FLOP] in GFLOP, TFLOP and so on.

    Examples
    --------
    >>> from pages.shared.language import Words
    >>> flop(16.06e9, Words("en"))
    '16.1\\xa0GFLOP'
    """
    return _decimal(value, words, "FLOP", digits, trim)


@_one_or_many
def flop_per_second(
    value: float | None, words: Words, *, digits: int = 3, trim: bool = False
) -> str:
    """Write a rate of arithmetic [FLOP/s] in TFLOP/s, PFLOP/s and so on.

    Examples
    --------
    >>> from pages.shared.language import Words
    >>> flop_per_second(989e12, Words("en"))
    '989\\xa0TFLOP/s'
    """
    return _decimal(value, words, "FLOP/s", digits, trim)


@_one_or_many
def flop_per_byte(value: float | None, words: Words, *, digits: int = 3, trim: bool = False) -> str:
    """Write an arithmetic intensity [FLOP/B].

    Examples
    --------
    >>> from pages.shared.language import Words
    >>> flop_per_byte(295.2, Words("en"))
    '295\\xa0FLOP/byte'
    """
    if not _usable(value):
        return NONE
    return _write(value, words, digits, trim) + SPACE + "FLOP/byte"


@_one_or_many
def tokens(value: float | None, words: Words, *, digits: int = 3) -> str:
    """Write a count of tokens: whole numbers in full.

    Examples
    --------
    >>> from pages.shared.language import Words
    >>> tokens([1, 2048], Words("en"))
    ['1\\xa0token', '2,048\\xa0tokens']
    """
    return _counted(value, words, "unit.tokens", digits)


@_one_or_many
def sequences(value: float | None, words: Words, *, digits: int = 3) -> str:
    """Write a count of sequences (the batch): whole numbers in full.

    Examples
    --------
    >>> from pages.shared.language import Words
    >>> sequences(32, Words("it"))
    '32\\xa0sequenze'
    """
    return _counted(value, words, "unit.sequences", digits)


@_one_or_many
def chip_count(value: float | None, words: Words, *, digits: int = 3) -> str:
    """Write a count of chips.

    Examples
    --------
    >>> from pages.shared.language import Words
    >>> chip_count([1, 8], Words("en"))
    ['1\\xa0chip', '8\\xa0chips']
    """
    return _counted(value, words, "unit.chips", digits)


@_one_or_many
def tokens_per_second(
    value: float | None, words: Words, *, digits: int = 3, trim: bool = False
) -> str:
    """Write a speed [tokens/s].

    Examples
    --------
    >>> from pages.shared.language import Words
    >>> tokens_per_second(208.4, Words("it"))
    '208\\xa0token/s'
    """
    if not _usable(value):
        return NONE
    return _write(value, words, digits, trim) + SPACE + words("unit.tokens_per_second")


@_one_or_many
def requests_per_second(
    value: float | None, words: Words, *, digits: int = 3, trim: bool = False
) -> str:
    """Write a rate of requests [1/s].

    Examples
    --------
    >>> from pages.shared.language import Words
    >>> requests_per_second(9.87, Words("it"))
    '9,87\\xa0richieste/s'
    """
    if not _usable(value):
        return NONE
    return _write(value, words, digits, trim) + SPACE + words("unit.requests_per_second")


@_one_or_many
def percent(value: float | None, words: Words, *, digits: int = 3, trim: bool = False) -> str:
    """Write a share (1 is all of it) as a percentage.

    Examples
    --------
    >>> from pages.shared.language import Words
    >>> percent(0.1234, Words("it"))
    '12,3%'
    """
    if not _usable(value):
        return NONE
    return _write(value * 100, words, digits, trim) + "%"


@_one_or_many
def dollars(value: float | None, words: Words, *, digits: int = 3, trim: bool = False) -> str:
    """Write an amount of US dollars.

    Examples
    --------
    >>> from pages.shared.language import Words
    >>> dollars([0.1234, 2.0], Words("en")), dollars(12.5, Words("it"))
    (['$0.123', '$2.00'], '12,5\\xa0$')
    """
    if not _usable(value):
        return NONE
    text = _write(float(value), words, digits, trim)
    return "$" + text if words.code == "en" else text + SPACE + "$"


@_one_or_many
def multiple(value: float | None, words: Words, *, digits: int = 2, trim: bool = False) -> str:
    """Write how many times: two significant digits.

    Examples
    --------
    >>> from pages.shared.language import Words
    >>> multiple(3.14, Words("en"))
    '3.1×'
    """
    if not _usable(value):
        return NONE
    return _write(value, words, digits, trim) + "×"


@_one_or_many
def parameters(value: float | None, words: Words, *, digits: int = 3, trim: bool = False) -> str:
    """Write a number of parameters in millions, billions and so on.

    Examples
    --------
    >>> from pages.shared.language import Words
    >>> parameters(8.03e9, Words("en")), parameters(8.03e9, Words("it"))
    ('8.03\\xa0B', '8,03\\xa0mld')
    """
    if not _usable(value):
        return NONE
    size = abs(_rounded(value, digits))
    scale, unit = 1.0, ""
    for next_scale, next_unit in _COUNTS[words.code]:
        if size < next_scale:
            break
        scale, unit = next_scale, next_unit
    text = _write(value / scale, words, digits, trim or not unit)
    return text + SPACE + unit if unit else text


def _usable(value: float | None) -> bool:
    return value is not None and isfinite(value)


def _rounded(value: float, digits: int) -> float:
    return float(f"{value:.{digits - 1}e}")


def _write(value: float, words: Words, digits: int, trim: bool) -> str:
    """Write a finite number with the separators of the language."""
    if isinstance(value, int):
        text = f"{value:,}"
        decimals = 0
    else:
        # The exponent after rounding: 9.996 to three digits is 10.0.
        exponent = int(f"{value:.{digits - 1}e}".partition("e")[2]) if value else digits - 1
        decimals = max(0, digits - 1 - exponent)
        text = f"{value:,.{decimals}f}"
    if decimals and trim:
        text = text.rstrip("0").rstrip(".")
    if words.decimal != ".":
        text = text.replace(",", "\0").replace(".", words.decimal).replace("\0", words.group)
    return MINUS + text[1:] if text[0] == "-" else text


def _decimal(value: float | None, words: Words, unit: str, digits: int, trim: bool) -> str:
    if not _usable(value):
        return NONE
    step = 0
    if value:
        exponent = int(f"{value:.{digits - 1}e}".partition("e")[2])
        step = min(max(exponent // 3, 0), len(_DECIMAL) - 1)
    text = _write(value / 1000.0**step, words, digits, trim or not step)
    return text + SPACE + _DECIMAL[step] + unit


def _counted(value: float | None, words: Words, key: str, digits: int) -> str:
    if not _usable(value):
        return NONE
    whole = value == int(value)
    text = _write(int(value) if whole else value, words, digits, trim=False)
    return text + SPACE + words.plural(key, value)


__all__: Iterable[str] = [
    "bytes_binary",
    "bytes_decimal",
    "bytes_per_second",
    "chip_count",
    "dollars",
    "flop",
    "flop_per_byte",
    "flop_per_second",
    "multiple",
    "number",
    "parameters",
    "percent",
    "requests_per_second",
    "seconds",
    "sequences",
    "tokens",
    "tokens_per_second",
]
