"""A pinned comparison of services beside the present one, as a table."""

from __future__ import annotations

from pages.shared import numbers
from pages.shared.compare_words import Row, compared_numbers, compared_table
from pages.shared.language import Words
from pages.shared.serving.services import Judged
from pages.shared.serving.settings import differences


def comparison(
    pinned: Judged,
    now: Judged,
    words: Words,
) -> str:
    """Return a table of two comparisons as HTML: what differs, and what every design reaches.

    Parameters
    ----------
    pinned, now : Judged
    """
    rows: list[Row] = [(*one, "") for one in differences(pinned.question, now.question, words)]
    scenarios = now.question.scenario, pinned.question.scenario
    sides = [getattr(scenario, side) for scenario in scenarios for side in ("left", "right")]
    for kind in dict.fromkeys(sides):
        one, other = pinned.stood[kind], now.stood[kind]
        name = words(f"disaggregation.short_{kind}")
        measures = (
            ("ttft", numbers.seconds, one.ttft.p99, other.ttft.p99),
            ("itl", numbers.seconds, one.itl.p99, other.itl.p99),
            ("within", _served, one.goodput, other.goodput),
        )
        rows += [
            compared_numbers(f"{words(f'disaggregation.{key}')}, {name}", write, *values, words)
            for key, write, *values in measures
        ]
    return compared_table(rows, words)


def _served(value: float, words: Words) -> str:
    return numbers.requests_per_second(value, words, digits=2, trim=True)
