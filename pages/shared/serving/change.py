"""What changed between two comparisons of services, and why, from what was simulated of both."""

from __future__ import annotations

import numpy as np

from pages.shared import numbers
from pages.shared.change_words import HARDLY, MOVES_SAID, by
from pages.shared.language import Words
from pages.shared.serving.services import Judged
from pages.shared.serving.settings import differences, moves
from physics.serving.cause import itl_cause, ttft_cause

ATTAINED = 0.01
"""A share of requests within the targets that changes by less is not spoken of."""


def what_changed(before: Judged, after: Judged, words: Words) -> str:
    """Say how the designs on screen changed, and why; '' where no setting differs.

    Parameters
    ----------
    before, after : Judged

    Returns
    -------
    str
        For each design the percentile that changed most with its cause, then what is served
        within the targets.
    """
    if not differences(before.question, after.question, words):
        return ""
    scenario = after.question.scenario
    kinds = dict.fromkeys((scenario.left, scenario.right))
    said = [_times(kind, before, after, words) for kind in kinds]
    served = [_served(kind, before, after, words) for kind in kinds]
    said = [text for text in (*said, *served) if text] or [words("disaggregation.changed_nothing")]
    moved = moves(before.question, after.question, words, MOVES_SAID)
    return words("change.line", moves=moved, said=" ".join(said)) if moved else " ".join(said)


def _times(kind: str, before: Judged, after: Judged, words: Words) -> str:
    """Return the sentence of the percentile that changed most; '' where none did."""
    then, now = before.stood[kind], after.stood[kind]
    times = {name: (getattr(then, name).p99, getattr(now, name).p99) for name in ("ttft", "itl")}
    ratios = {
        name: one[1] / one[0] for name, one in times.items() if all(np.isfinite(one)) and one[0] > 0
    }
    if not ratios:
        return ""
    metric = max(ratios, key=lambda name: abs(np.log(ratios[name])))
    if abs(ratios[metric] - 1) < HARDLY:
        return ""
    questions = before.question, after.question
    if metric == "ttft":
        cause = ttft_cause(then, now, *(one.alone.ttft_seconds for one in questions))
    else:
        shorter = min(one.scenario.output for one in questions)
        cause = itl_cause(then, now, gaps=max(shorter - 1, 1))
    written = {
        f"{name}_{when}": _write(name, value, words)
        for name, both in cause.values.items()
        for when, value in zip(("before", "after"), both, strict=True)
    }
    return words(
        "disaggregation.changed_time",
        metric=words(f"disaggregation.{metric}"),
        name=words(f"disaggregation.short_{kind}"),
        by=by(ratios[metric], words),
        before=numbers.seconds(times[metric][0], words),
        after=numbers.seconds(times[metric][1], words),
        cause=words(f"disaggregation.changed_{cause.name}", **written),
    )


def _write(name: str, value: float, words: Words) -> str:
    if name in ("batch", "stops"):
        return numbers.number(value, words, digits=2)
    return numbers.seconds(value, words)


def _served(kind: str, before: Judged, after: Judged, words: Words) -> str:
    then, now = before.stood[kind].attainment, after.stood[kind].attainment
    if abs(now - then) < ATTAINED:
        return ""
    return words(
        "disaggregation.changed_served",
        name=words(f"disaggregation.short_{kind}"),
        before=numbers.percent(then, words, digits=2),
        after=numbers.percent(now, words, digits=2),
    )
