"""The evidence in words: what is chosen, what a choice is called, and two choices side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from math import nan

from pages.shared import numbers
from pages.shared.compare_words import Row as Compared
from pages.shared.compare_words import compared_numbers, compared_table, in_few_words
from pages.shared.controls import engine_text
from pages.shared.language import Words
from pages.shared.scenario import Scenario
from physics.catalogue import models
from physics.chips import chips
from physics.evidence import BAND, FILTERS, Row, Selection, errors_of, within
from physics.measurement_sources import measurement_sources

OPTIONS = tuple(field.name for field in fields(Selection))
"""What a selection consists of: metric, prediction, shares and the filters."""

MOST_NAMES = 3
"""So many values of a filter are named; of the others only the number is said."""


def selection_of(scenario: Scenario) -> Selection:
    """Return which measurements a scenario asks for.

    Examples
    --------
    >>> selection_of(Scenario(metric="ttft", measured_chip=("h200-sxm",))).chip
    ('h200-sxm',)
    """
    return Selection(
        metric=scenario.metric,
        prediction=scenario.prediction,
        shares=scenario.measured,
        **{name: getattr(scenario, f"measured_{name}") for name in FILTERS},
    )


def filter_text(field: str, name: str, words: Words) -> str:
    """Return what a value of a filter is called.

    Examples
    --------
    >>> filter_text("chip", "h200-sxm", Words("en")), filter_text("engine", "vllm", Words("en"))
    ('H200 SXM', 'vLLM')
    """
    if field == "engine":
        return engine_text(name, words)
    if field == "source":
        return measurement_sources()[name].title
    return (models() if field == "model" else chips())[name].name


def all_text(field: str, words: Words) -> str:
    """Return what a filter says that lets everything through."""
    return words("evidence.all_source" if field == "source" else "evidence.all")


def option_text(name: str, selection: Selection, words: Words) -> str:
    """Return the value of one of a selection's options, as it is shown.

    Examples
    --------
    >>> some = Selection(shares=["unseen", "other"], chip=["h20", "a40", "l40s", "h200-sxm"])
    >>> option_text("shares", some, Words("en")), option_text("model", some, Words("en"))
    ('unseen by the fit, engines not fitted', 'all')
    >>> option_text("chip", some, Words("en"))
    'H20, A40, L40S +1'
    """
    value = getattr(selection, name)
    if name == "metric":
        return value.upper()
    if name == "prediction":
        return words(f"controls.{value}")
    if name == "shares":
        texts = [words(f"evidence.share_{share}") for share in value]
        return ", ".join(texts) or words("evidence.no_share")
    texts = [filter_text(name, one, words) for one in value[:MOST_NAMES]]
    more = len(value) - len(texts)
    return ", ".join(texts) + (f" +{more}" if more else "") or all_text(name, words)


def differing(one: Selection, other: Selection) -> list[str]:
    """Return the options in which two selections differ.

    Examples
    --------
    >>> differing(Selection(), Selection("ttft", chip=["h20"]))
    ['metric', 'chip']
    """
    return [name for name in OPTIONS if getattr(one, name) != getattr(other, name)]


def settings(scenario: Scenario, words: Words) -> list[str]:
    """Return what is chosen, in words: metric, prediction, shares, and the filters that are set.

    Examples
    --------
    >>> settings(Scenario(measured_chip=("h200-sxm",)), Words("en"))
    ['TPOT', 'Prediction: Typical', 'Measurements: unseen by the fit', 'Chip: H200 SXM']
    """
    chosen = selection_of(scenario)
    said = [option_text("metric", chosen, words)]
    for name in OPTIONS[1:]:
        if name not in FILTERS or getattr(chosen, name):
            said.append(f"{words(f'evidence.{name}')}: {option_text(name, chosen, words)}")
    return said


def pinned_words(pinned: Selection, now: Selection, words: Words) -> str:
    """Say what is pinned: the options in which it differs from what is chosen now.

    Examples
    --------
    >>> pinned_words(Selection("ttft"), Selection(chip=["h20"]), Words("en"))
    'Metric TTFT · Chip all'
    """
    return in_few_words(
        (
            (words(f"evidence.{name}"), option_text(name, pinned, words))
            for name in differing(pinned, now)
        ),
        words,
    )


def comparison(pinned: Selection, now: Selection, words: Words) -> str:
    """Return a table of two selections as HTML: what differs in them, and how far off each is."""
    rows: list[Compared] = [
        (
            words(f"evidence.{name}"),
            option_text(name, pinned, words),
            option_text(name, now, words),
            "",
        )
        for name in differing(pinned, now)
    ]
    both = [_numbers(selection.rows(), selection.prediction) for selection in (pinned, now)]
    for key, write in (
        ("evidence.count", numbers.number),
        ("evidence.median_error", _percent),
        ("evidence.mean_error", _percent),
        ("evidence.bias", _percent),
        ("evidence.within", _percent),
    ):
        label = words(key, band=_percent(BAND, words))
        label = label[0].upper() + label[1:]
        one, other = (found[key] for found in both)
        line = compared_numbers(label, write, one, other, words)
        # A ratio says nothing of what may stand on either side of zero.
        rows.append((*line[:3], "") if key == "evidence.bias" else line)
    return compared_table(rows, words)


def _percent(value: float, words: Words) -> str:
    return numbers.percent(float(value), words, digits=2)


def _numbers(some: Sequence[Row], prediction: str) -> dict[str, float]:
    """Return how far off some rows are; NaN where there are none."""
    found = errors_of(some, prediction) if some else None
    return {
        "evidence.count": len(some),
        "evidence.median_error": found.median if found else nan,
        "evidence.mean_error": found.mean if found else nan,
        "evidence.bias": found.bias if found else nan,
        "evidence.within": within(some, prediction) if found else nan,
    }
