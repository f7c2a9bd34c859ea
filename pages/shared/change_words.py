"""What changed, and why, in one sentence: the causes come from `physics.change`."""

from __future__ import annotations

import numpy as np

from pages.shared import numbers
from pages.shared.case import Case
from pages.shared.language import Words
from pages.shared.points import points_from
from pages.shared.scenario import Scenario
from pages.shared.scenario_words import differing, moves
from physics.batching import PARTS
from physics.change import CAUSES, PhaseChange, change

HARDLY = 0.01
"""A time that changes by less is said to hardly change."""
SAME = 0.01
"""A quantity that changes by less counts as unchanged."""
DOUBLED = 0.03
"""How far from two a ratio may be and still be called doubled."""
WEIGHTY = 0.15
"""Smallest share in all the movement that makes a cause worth a word."""
LARGE_PART = 0.2
"""Smallest share in the time that makes it worth saying that a part did not change."""
CAUSES_SAID = 2
MOVES_SAID = 2
AS_MULTIPLE = 2.5
"""From this ratio on a change is said as a multiple, below as a percentage."""

_PARTS = {name: PARTS.index(name) for name in ("weights", "kv_cache", "compute")}


def what_changed(before: Scenario, after: Scenario, words: Words) -> str:
    """Say in a sentence how TTFT and TPOT changed from one scenario to another, and why.

    Returns
    -------
    str
        '' where the scenarios differ in nothing, or in nothing that both could be timed with.

    Examples
    --------
    >>> said = what_changed(Scenario(batch=32), Scenario(batch=64), Words("en"))
    >>> said.replace("\\xa0", " ").split(": ", 1)[1].split(". ")[1]
    'TPOT +38% (7.26 ms → 10.0 ms): KV cache traffic doubled; weights unchanged.'
    """
    differences = differing(before, after)
    if not differences:
        return ""
    cases = [Case(points_from(scenario, {})) for scenario in (before, after)]
    fits = [bool(case.fits[0]) for case in cases]
    said = _said(cases, fits, words)
    if not said:
        return ""
    if len(differences) > MOVES_SAID:
        return said
    return words("change.line", moves=moves(before, after, words), said=said)


def _said(cases: list[Case], fits: list[bool], words: Words) -> str:
    first, last = (case.request for case in cases)
    if fits == [False, False]:
        return ""
    if fits == [True, False]:
        return words("change.fits_no_more")
    if fits == [False, True]:
        times = (("TTFT", last.ttft_seconds), ("TPOT", last.tpot_seconds))
        given = [
            f"{name} {numbers.seconds(float(time[0]), words)}"
            for name, time in times
            if np.isfinite(time[0])  # a single token has no TPOT
        ]
        return words("change.fits_now", times=", ".join(given))
    changed = change(first, last)
    phases = [("TTFT", _One(changed.ttft)), ("TPOT", _One(changed.tpot))]
    phases = [(name, phase) for name, phase in phases if phase.known]
    # What changed most is said first.
    phases.sort(key=lambda item: -abs(np.log(item[1].ratio)))
    return " ".join(filter(None, (_sentence(name, phase, words) for name, phase in phases)))


class _One:
    """A `PhaseChange` of a single point, in plain numbers by name."""

    def __init__(self, phase: PhaseChange) -> None:
        def single(values: np.ndarray) -> float:
            return float(np.ravel(values)[0])

        self.before, self.after = single(phase.before), single(phase.after)
        self.ratio = single(phase.ratio)
        self.known = bool(np.isfinite(self.ratio))
        self.bound = str(np.ravel(phase.bound_after)[0])
        self.effects = dict(zip(CAUSES, map(single, phase.effects), strict=True))
        self.ratios = dict(zip(CAUSES, map(single, phase.ratios), strict=True))
        self.shares = {name: single(phase.shares[row]) for name, row in _PARTS.items()}

    def same(self, cause: str) -> bool:
        """Whether a quantity is as it was."""
        return abs(self.ratios[cause] - 1) < SAME


def _sentence(metric: str, phase: _One, words: Words) -> str:
    if abs(phase.ratio - 1) < HARDLY:
        return _still(metric, phase, words)
    said = [_cause(cause, phase, words) for cause in _main_causes(phase)]
    said += _what_stayed(phase, words)
    return words(
        "change.metric",
        metric=metric,
        by=by(phase.ratio, words),
        before=numbers.seconds(phase.before, words),
        after=numbers.seconds(phase.after, words),
        causes="; ".join(said),
    )


def _still(metric: str, phase: _One, words: Words) -> str:
    """Say why a time hardly changes; '' where nothing that it depends on has moved."""
    moved = max(CAUSES, key=lambda cause: abs(np.log(max(phase.ratios[cause], 1e-9))))
    if phase.same(moved):
        return ""
    other = {"peak": "compute", "compute": "compute", "bandwidth": "memory"}.get(moved)
    if other and other != phase.bound:
        return words(f"change.still_{phase.bound}", metric=metric)
    return words("change.still_little", metric=metric, cause=_amount(moved, phase, words))


def by(ratio: float, words: Words) -> str:
    """Write by how much something grew or shrank: '+38%', '×6.6', '÷17'.

    Examples
    --------
    >>> [by(ratio, Words("en")) for ratio in (1.38, 6.6, 0.84, 0.06)]
    ['+38%', '×6.6', '−16%', '÷17']
    """
    if ratio >= AS_MULTIPLE:
        return "×" + numbers.number(ratio, words, digits=2)
    if ratio <= 1 / AS_MULTIPLE:
        return "÷" + numbers.number(1 / ratio, words, digits=2)
    text = numbers.percent(ratio - 1, words, digits=2)
    return "+" + text if ratio > 1 else text


def _main_causes(phase: _One) -> list[str]:
    """Return what moves the time most, largest first."""
    moved = sum(abs(effect) for effect in phase.effects.values())
    causes = sorted(CAUSES, key=lambda cause: -abs(phase.effects[cause]))
    first = [cause for cause in causes if abs(phase.effects[cause]) >= WEIGHTY * moved]
    return first[:CAUSES_SAID]


def _cause(cause: str, phase: _One, words: Words) -> str:
    """Say what a cause did: more of it, less of it, or it came to count, or no longer does."""
    ratio, longer = phase.ratios[cause], phase.effects[cause] > 0
    hides = cause in ("weights", "kv_cache", "activations", "compute")
    more_work = ratio > 1
    if hides and (phase.same(cause) or more_work != longer):
        # The time moved with no more (or less) of it: other work hides it, or does no longer.
        return words(f"change.{'shows' if longer else 'hides'}_{cause}")
    return _amount(cause, phase, words)


def _amount(cause: str, phase: _One, words: Words) -> str:
    ratio = phase.ratios[cause]
    if not np.isfinite(ratio):
        return words(f"change.new_{cause}")
    if ratio == 0:
        return words(f"change.gone_{cause}")
    if abs(ratio - 2) < DOUBLED:
        return words(f"change.doubled_{cause}")
    if abs(1 / ratio - 2) < DOUBLED:
        return words(f"change.halved_{cause}")
    return words(f"change.by_{cause}", by=by(ratio, words))


def _what_stayed(phase: _One, words: Words) -> list[str]:
    """Name a large part of the time that has not changed; at most one."""
    for name, share in sorted(phase.shares.items(), key=lambda item: -item[1]):
        still = abs(phase.effects[name]) < SAME * phase.before
        if share >= LARGE_PART and phase.same(name) and still:
            return [words(f"change.same_{name}")]
    return []
