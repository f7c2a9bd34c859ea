"""Two scenarios side by side: the pinned one and the present one, as a table in HTML."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from html import escape

import numpy as np

from pages.shared import numbers
from pages.shared.case import Case
from pages.shared.language import Words
from pages.shared.points import points_from
from pages.shared.scenario import Scenario
from pages.shared.scenario_words import differing, option_label, option_text
from physics.kv_cache import kv_bytes_per_sequence
from physics.roofline import ridge_flop_per_byte


def pinned_words(pinned: Scenario, now: Scenario, words: Words) -> str:
    """Say what is pinned: the options in which it differs from what is seen now.

    Examples
    --------
    >>> pinned_words(Scenario(), Scenario(batch=8), Words("en"))
    'Batch 1\\xa0sequence'
    """
    return in_few_words(
        (
            (option_label(name, words), option_text(name, pinned, words))
            for name in differing(pinned, now)
        ),
        words,
    )


def in_few_words(options: Iterable[tuple[str, str]], words: Words) -> str:
    """Say what is pinned by what differs, each option with its value; that nothing does.

    Examples
    --------
    >>> in_few_words([("Batch", "8"), ("KV", "fp8")], Words("en")), in_few_words([], Words("en"))
    ('Batch 8 · KV fp8', 'the state you see')
    """
    return " · ".join(f"{label} {text}" for label, text in options) or words("compare.same")


def comparison(pinned: Scenario, now: Scenario, words: Words) -> str:
    """Return a table of the two scenarios: what differs in them, and what physics says of both."""
    rows = [
        (
            option_label(name, words),
            option_text(name, pinned, words),
            option_text(name, now, words),
            "",
        )
        for name in differing(pinned, now)
    ]
    rows += _results(Case(points_from(pinned, {})), Case(points_from(now, {})), words)
    return compared_table(rows, words)


Row = tuple[str, str, str, str]
"""What is compared, its pinned value, the present one, and their ratio or ''."""


def compared_table(rows: Iterable[Row], words: Words) -> str:
    """Return a table of two states as HTML.

    Examples
    --------
    >>> "A &amp; B</th><td>1</td>" in compared_table([("A & B", "1", "2", "2×")], Words("en"))
    True
    """
    heads = (words("compare.pinned"), words("compare.now"), words("compare.ratio"))
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in heads)
    body = "".join(
        f'<tr><th scope="row">{escape(label)}</th>'
        + "".join(f"<td>{escape(text)}</td>" for text in texts)
        + "</tr>"
        for label, *texts in rows
    )
    return f"<table><thead><tr><td></td>{head}</tr></thead><tbody>{body}</tbody></table>"


def compared_numbers(
    label: str, write: Callable[..., str], one: float, other: float, words: Words
) -> Row:
    """Return the row of a quantity: both values, and how many times as large the present one is.

    Examples
    --------
    >>> compared_numbers("TPOT", numbers.seconds, 0.005, 0.01, Words("en"))
    ('TPOT', '5.00\xa0ms', '10.0\xa0ms', '2.00×')
    """
    known = np.isfinite(one) and np.isfinite(other) and one > 0
    ratio = numbers.multiple(other / one, words, digits=3) if known else ""
    # Whole numbers are written in full; infinity is a dash.
    whole = (int(value) if float(value).is_integer() else value for value in (one, other))
    return (label, *(write(value, words) for value in whole), ratio)


def _results(pinned: Case, now: Case, words: Words) -> list[Row]:
    quantities: list[tuple[str, Callable[..., str], Callable[[Case], np.ndarray | float]]] = [
        ("TTFT", numbers.seconds, lambda case: case.timed(case.request.ttft_seconds)),
        ("TPOT", numbers.seconds, lambda case: case.timed(case.request.tpot_seconds)),
        ("E2E", numbers.seconds, lambda case: case.timed(case.request.e2e_seconds)),
        (
            words("compare.user"),
            numbers.tokens_per_second,
            lambda case: case.timed(case.request.tokens_per_second_user),
        ),
        (
            words("compare.system"),
            numbers.tokens_per_second,
            lambda case: case.timed(case.request.tokens_per_second_system),
        ),
        (words("compare.weights"), numbers.bytes_decimal, lambda case: case.weight_bytes),
        (words("compare.kv"), numbers.bytes_decimal, _kv_bytes),
        (words("compare.memory"), numbers.bytes_decimal, lambda case: case.capacity),
        (words("compare.room"), numbers.number, lambda case: case.max_batch),
        (
            words("compare.intensity"),
            numbers.flop_per_byte,
            lambda case: case.request.decode.intensity,
        ),
        (
            words("compare.ridge"),
            numbers.flop_per_byte,
            lambda case: ridge_flop_per_byte(case.machine.peak, case.machine.bandwidth),
        ),
    ]
    rows = [
        compared_numbers(label, write, _single(of(pinned)), _single(of(now)), words)
        for label, write, of in quantities
    ]
    for key, bound in (
        ("compare.prefill", lambda case: case.request.prefill.bound),
        ("compare.decode", lambda case: case.request.decode.bound),
    ):
        texts = (words(f"bound_by.{np.ravel(bound(case))[0]}") for case in (pinned, now))
        rows.append((words(key), *texts, ""))
    if not (pinned.fits[0] and now.fits[0]):
        texts = (
            words("compare.fits" if case.fits[0] else "misfit.short") for case in (pinned, now)
        )
        rows.insert(0, (words("compare.in_memory"), *texts, ""))
    return rows


def _kv_bytes(case: Case) -> np.ndarray:
    points = case.points
    each = kv_bytes_per_sequence(case.architecture, case.tokens, points.kv, points.tp)
    return points.batch * each


def _single(value: np.ndarray | float) -> float:
    return float(np.ravel(value)[0])
