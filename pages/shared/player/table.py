"""The table: what every slider stop looks like, in one JSON object.

All stops of all sliders are laid end to end and computed in one vectorised call; each slider
then gets its slice. Columns that do not move with a slider are sent once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from pages.shared.player.view import Column, Growing, Same, Timeline, View

SIGNIFICANT_DIGITS = 5
"""A screen resolves about three; two more keep sums and ratios of what is shown right."""


def build_table(
    view: View,
    scenario: Any,
    language: Any,
    *,
    stops: Callable[[str, Any, Any], Any],
    points: Callable[[Any, Mapping[str, np.ndarray]], Any],
    query: Mapping[str, str],
    play: str | None = None,
) -> dict[str, Any]:
    """Compute the rows of every slider stop of one page.

    Parameters
    ----------
    view : View
        The page.
    scenario, language
        The state to compute around; every slider's rows hold the other sliders fixed there.
    stops : callable
        ``stops(name, scenario, language) -> Stops``.
    points : callable
        ``points(scenario, arrays) -> points`` as `View.columns` expects them.
    query : mapping
        The scenario's canonical URL query, repeated in the table.
    play : str, optional
        Only this slider (with the stops that ``stops`` gives it).

    Returns
    -------
    dict
        ``query``, ``sliders`` and ``rows``, ready for JSON.
    """
    names = (play,) if play else view.sliders
    by_name = {name: stops(name, scenario, language) for name in names}
    table = {
        "query": dict(query),
        "sliders": {name: _slider(given) for name, given in by_name.items()},
        "rows": {},
    }
    if by_name:
        arrays, parts = laid_end_to_end(by_name)
        columns = view.columns(points(scenario, arrays), language)
        table["rows"] = {name: {} for name in by_name}
        for channel, column in columns.items():
            for name, encoded in zip(by_name, _encode(column, parts), strict=True):
                table["rows"][name][channel] = encoded
    if not play and hasattr(view, "timeline"):
        name = view.describe(scenario, language).play.clock
        timeline: Timeline = view.timeline(scenario, language)
        count = len(timeline.seconds)
        table["sliders"][name] = {
            "index": count - 1,
            "stops": rounded(timeline.seconds),
            "texts": list(timeline.texts),
            "urls": [],
            "marks": [],
        }
        table["rows"][name] = {
            channel: _encode(column, [slice(0, count)])[0]
            for channel, column in timeline.columns.items()
        }
    return table


def laid_end_to_end(
    by_name: Mapping[str, Any],
) -> tuple[dict[str, np.ndarray], list[slice]]:
    """Give each slider's option as one array: its stops in its own part, its value elsewhere."""
    count = sum(len(given.values) for given in by_name.values())
    arrays: dict[str, np.ndarray] = {}
    parts: list[slice] = []
    for name, given in by_name.items():
        start = parts[-1].stop if parts else 0
        parts.append(slice(start, start + len(given.values)))
        values = np.asarray(given.values)
        arrays[name] = np.full(count, values[given.index], dtype=values.dtype)
        arrays[name][parts[-1]] = values
    return arrays, parts


def _slider(given: Any) -> dict[str, Any]:
    return {
        "index": int(given.index),
        "stops": rounded(given.values),
        "texts": list(given.texts),
        "urls": list(given.urls),
        "marks": [int(mark) for mark in given.marks],
    }


def _encode(column: Column, parts: list[slice]) -> list[dict[str, Any]]:
    """Give each slider its part of a column, without repeating equal rows."""
    if isinstance(column, Growing):
        values, counts = rounded(column.values), np.asarray(column.counts)
        return [{"values": values, "counts": counts[part].tolist()} for part in parts]
    if isinstance(column, str):
        return [{"rows": [column]}] * len(parts)
    if isinstance(column, Same):
        return [{"rows": [rounded(column.value)]}] * len(parts)
    rows = rounded(column)
    return [{"rows": _without_repeats(rows[part])} for part in parts]


def _without_repeats(rows: list[Any]) -> list[Any]:
    first = rows[0]
    return rows[:1] if all(row == first for row in rows) else rows


def rounded(value: Any) -> Any:
    """Give numbers rounded to `SIGNIFICANT_DIGITS`, as JSON data; NaN and infinity become None.

    Examples
    --------
    >>> rounded([1234567.0, float("nan"), 0.000123456])
    [1234600.0, None, 0.00012346]
    """
    if isinstance(value, str) or value is None or isinstance(value, bool):
        return value
    if isinstance(value, list) and value and _are_texts(value):
        return value
    if isinstance(value, Mapping):
        return {key: rounded(item) for key, item in value.items()}
    try:
        array = np.asarray(value)
    except ValueError:  # rows of unequal length
        return [rounded(item) for item in value]
    if array.dtype.kind in "iub":
        return array.tolist()
    if array.dtype.kind != "f":
        if array.ndim == 0:
            item = array.item()
            return item if isinstance(item, str) else rounded(item)
        return [rounded(item) for item in value]
    finite = np.isfinite(array)
    safe = np.where(finite & (array != 0), np.abs(array), 1.0)
    digits = SIGNIFICANT_DIGITS - 1 - np.floor(np.log10(safe))
    # Scaling up and down by whole powers of ten keeps 0.3 at 0.3 rather than 0.30000000000000004.
    scale = 10.0 ** np.abs(digits)
    scaled_down = np.round(array / scale) * scale
    with np.errstate(invalid="ignore", over="ignore"):
        scaled_up = np.round(array * scale) / scale
    result = np.where(digits < 0, scaled_down, scaled_up)
    if finite.all():
        return result.tolist()
    with_none = result.astype(object)
    with_none[~finite] = None
    return with_none.tolist()


def _are_texts(values: list[Any]) -> bool:
    """Tell whether a list holds texts, or rows of texts: they need no rounding."""
    first = values[0]
    if isinstance(first, str):
        return all(isinstance(item, str) for item in values)
    return isinstance(first, list) and all(
        isinstance(row, list) and all(isinstance(item, str) for item in row) for row in values
    )
