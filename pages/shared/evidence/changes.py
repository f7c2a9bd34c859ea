"""What changed when other measurements are chosen, in one sentence: the error, and which rows."""

from __future__ import annotations

from collections.abc import Sequence

from pages.shared import numbers
from pages.shared.evidence.words import differing, option_text
from pages.shared.language import Words
from physics.evidence import Row, Selection, errors_of
from physics.fit_report import kind

MOVES_SAID = 2
"""With more options moved than that, only how many is said."""


def what_changed(before: Selection, after: Selection, words: Words) -> str:
    """Say how the median error changed from one selection to another, and by which rows.

    Returns
    -------
    str
        '' where the selections are the same.

    Examples
    --------
    >>> only = Selection(engine=["sglang"])
    >>> what_changed(Selection(), only, Words("en")).split(": ")[0]
    'Engine all → SGLang'
    """
    moved = differing(before, after)
    if not moved:
        return ""
    moves = ", ".join(
        f"{words(f'evidence.{name}')} "
        f"{option_text(name, before, words)} → {option_text(name, after, words)}"
        for name in moved
    )
    if len(moved) > MOVES_SAID:
        moves = words("evidence.change_several", count=len(moved))
    return words("change.line", moves=moves, said=_said(before, after, words))


def _said(before: Selection, after: Selection, words: Words) -> str:
    old, new = before.rows(), after.rows()
    if not new:
        return words("evidence.change_still_nothing" if not old else "evidence.change_nothing")
    if not old:
        error = _median(new, after.prediction, words)
        return words("evidence.change_something", some=_some(new, words), error=error)
    known, wanted = ({id(row) for row in some} for some in (old, new))
    added = [row for row in new if id(row) not in known]
    dropped = [row for row in old if id(row) not in wanted]
    if not added and not dropped and before.prediction == after.prediction:
        return words.plural("evidence.change_same", len(new), rows=_count(new, words))
    median = _moves(
        _median(old, before.prediction, words), _median(new, after.prediction, words), words
    )
    if not added and not dropped:
        biases = (errors_of(old, one.prediction).bias for one in (before, after))
        was, is_now = numbers.percent(list(biases), words, digits=2)
        return words(f"evidence.change_{after.prediction}", median=median, before=was, after=is_now)
    if len(added) == len(new):
        return words(
            "evidence.change_instead", median=median, new=_some(new, words), old=_some(old, words)
        )
    said = {
        "median": median,
        "added": _some(added, words),
        "added_error": _median(added, after.prediction, words),
        "dropped": _some(dropped, words),
        "dropped_error": _median(dropped, before.prediction, words),
    }
    if not dropped:
        return words("evidence.change_added", **said)
    return words("evidence.change_both" if added else "evidence.change_dropped", **said)


def _moves(before: str, after: str, words: Words) -> str:
    if before == after:
        return words("evidence.median_stays", error=after)
    return words("evidence.median_moves", before=before, after=after)


def _median(some: Sequence[Row], prediction: str, words: Words) -> str:
    """Write the median error of some rows; '' where there are none."""
    if not some:
        return ""
    return numbers.percent(errors_of(some, prediction).median, words, digits=2)


def _count(some: Sequence[Row], words: Words) -> str:
    return numbers.number(len(some), words)


def _some(some: Sequence[Row], words: Words) -> str:
    """Say how many rows, and of which kind of model."""
    experts = sum(kind(row.measured) == "moe" for row in some)
    if 0 < experts < len(some):
        share = numbers.percent(experts / len(some), words, digits=2)
        return words("evidence.some_mixed", rows=_count(some, words), share=share)
    name = "moe" if experts else "dense"
    return words.plural(f"evidence.some_{name}", len(some), rows=_count(some, words))
