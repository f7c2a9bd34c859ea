"""Guesses that are a point on a figure’s axis: where something happens.

The figure is drawn empty, the point is placed among stops, and then the curve comes, with both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from pages.shared import numbers
from pages.shared.case import Case
from pages.shared.figures import growth, shift, step_time
from pages.shared.guesses.asked import Values
from pages.shared.language import Words
from pages.shared.points import points_from
from pages.shared.scenario import Scenario
from physics.batching import nearly_free_batch
from physics.frontier import linear_crossing_batch
from physics.kv_cache import kv_bytes_per_sequence, kv_bytes_per_token
from physics.memory import longest_sequence
from physics.roofline import ridge_flop_per_byte

BEYOND = "beyond"
"""The stop after the last one: farther than the axis goes, or never."""
NEVER_TOKENS = 2**30
"""The longest sequence that is looked at."""
MILLI, GIGA = 1e-3, 1e9


@dataclass(frozen=True)
class Found:
    """Where it happens.

    Attributes
    ----------
    x : float
        On the axis; infinite where it never happens.
    y : float
        The height of the figure there, in its units.
    values : mapping of str to str
        The numbers that texts show.
    """

    x: float
    y: float
    values: Values


@dataclass(frozen=True)
class Placed:
    """The question of a page that is answered by placing a point.

    Attributes
    ----------
    figure : str
        The figure on whose horizontal axis the point is placed.
    stops : tuple of int
        Where it can be placed, ascending.
    unit : callable
        Writes a place on the axis: ``unit(value, words)``.
    find : callable
        ``find(scenario, words)`` gives the right place; None: nothing can be asked here.
    rows : tuple of float
        Where the two marks have their names, as shares of the figure's height: on empty ground.
        None where the figure names the right one itself.
    """

    figure: str
    stops: tuple[int, ...]
    unit: Callable[[float, Words], str]
    find: Callable[[Scenario, Words], Found | None]
    rows: tuple[float, float | None] = (0.97, 0.88)

    @property
    def choices(self) -> tuple[str, ...]:
        """Names of the stops, as a link carries them."""
        return (*map(str, self.stops), BEYOND)

    def nearest(self, x: float) -> str:
        """Return the name of the stop that is nearest in ratio.

        Examples
        --------
        >>> QUESTIONS["decode-shift"].nearest(326.0), QUESTIONS["decode-shift"].nearest(np.inf)
        ('384', 'beyond')
        """
        if x > self.stops[-1]:
            return BEYOND
        distance = np.abs(np.log(np.array(self.stops) / max(x, 1e-9)))
        return str(self.stops[int(np.argmin(distance))])


def stops_between(low: int, high: int) -> tuple[int, ...]:
    """Return the powers of two from `low` to `high`, and one and a half times each.

    Examples
    --------
    >>> stops_between(1, 8)
    (1, 2, 3, 4, 6, 8)
    """
    powers = 2 ** np.arange(int(np.log2(low)), int(np.log2(high)) + 1)
    both = {int(value) for power in powers for value in (power, 1.5 * power)}
    return tuple(sorted(value for value in both if low <= value <= high))


def asked(page: str, question: Placed, scenario: Scenario, words: Words) -> dict[str, object]:
    """Return a question for the browser, with what is to be said to whoever placed each stop."""
    found = question.find(scenario, words)
    if found is None:
        return {"question": "", "choices": [], "right": "", "why": ""}
    right = question.nearest(found.x)
    never = not np.isfinite(found.x)
    answer = words("guess.never") if never else question.unit(round_up(found.x), words)
    beyond = words("guess.beyond", last=question.unit(question.stops[-1], words))
    texts = [*(question.unit(stop, words) for stop in question.stops), beyond]
    choices = [
        {
            "name": name,
            "text": text,
            "x": stop,
            "verdict": _verdict(name, text, stop, found, right, answer, words),
        }
        for name, text, stop in zip(question.choices, texts, (*question.stops, None), strict=True)
    ]
    return {
        "question": words(f"{page}.guess", **found.values),
        "choices": choices,
        "right": right,
        "shown": words("guess.shown", answer=answer),
        "why": words(f"{page}.guess_why", **found.values),
        "place": {
            "figure": question.figure,
            "start": len(question.stops) // 3,
            "label": words("guess.place_label"),
            "hint": words("guess.place_hint"),
            "take": words("guess.place_take"),
            "mine": words("guess.place_mine"),
            "answer": answer,
            "rows": list(question.rows),
            "x": None if never else found.x,
            "y": None if never else found.y,
        },
    }


def round_up(x: float) -> int:
    """Return the first whole number at which it has happened; large ones to three digits.

    Examples
    --------
    >>> round_up(325.4), round_up(122_345.0)
    (326, 122000)
    """
    return int(np.ceil(x)) if x < 10_000 else int(float(f"{x:.3g}"))


def _verdict(
    name: str,
    text: str,
    stop: int | None,
    found: Found,
    right: str,
    answer: str,
    words: Words,
) -> str:
    if name == BEYOND or not np.isfinite(found.x):
        return words("guess.right" if name == right else "guess.wrong", guess=text, answer=answer)
    ratio = found.x / stop
    key = "right" if name == right else "low" if ratio > 1 else "high"
    times = numbers.number(max(ratio, 1 / ratio), words, digits=2)
    return words(f"guess.placed_{key}", guess=text, answer=answer, ratio=times)


def _decode_shift(scenario: Scenario, words: Words) -> Found:
    case = Case(points_from(scenario, {}))
    machine, step = case.machine, case.request.decode
    crossing = linear_crossing_batch(case.architecture, machine, weights=scenario.weights)
    batch = float(np.ravel(crossing)[0])
    ridge = float(np.ravel(ridge_flop_per_byte(machine.peak, machine.bandwidth))[0])
    attention = float(step.intensity_of(step.is_attention)[0])
    values = {
        "ridge": numbers.flop_per_byte(ridge, words),
        "crossing": words("guess.never")
        if np.isinf(batch)
        else words("guess.at_batch", batch=numbers.number(round_up(batch), words)),
        "attention": numbers.flop_per_byte(attention, words),
        "room": numbers.number(int(case.max_batch[0]), words),
    }
    return Found(batch, ridge, values)


def _kv_cache(scenario: Scenario, words: Words) -> Found | None:
    case = Case(points_from(scenario, {}))
    # As much memory again as the weights take: the batch may fill it.
    twice = replace(case.machine, capacity=2 * case.weight_bytes / scenario.tp)
    how = {"batch": scenario.batch, "limit": NEVER_TOKENS, **case.formats}
    tokens = float(np.ravel(longest_sequence(case.architecture, twice, **how))[0])
    if tokens < 1:
        return None
    each = kv_bytes_per_token(case.architecture, scenario.kv)
    now = kv_bytes_per_sequence(case.architecture, case.tokens, scenario.kv, scenario.tp)
    never = tokens >= NEVER_TOKENS
    values = {
        "weights": numbers.bytes_decimal(case.weight_bytes, words),
        "batch": numbers.sequences(scenario.batch, words),
        "each": numbers.bytes_decimal(float(each), words),
        "reached": words("guess.never")
        if never
        else words("guess.at_tokens", tokens=numbers.tokens(round_up(tokens), words)),
        "now": numbers.tokens(int(case.tokens[0]), words),
        "cache": numbers.bytes_decimal(scenario.batch * float(now[0]), words),
    }
    return Found(np.inf if never else tokens, case.weight_bytes / GIGA, values)


TWICE = 1.0
"""How much longer a step takes that takes twice as long."""


def _batching(scenario: Scenario, words: Words) -> Found | None:
    alone = Case(points_from(scenario, {"batch": np.array([1])}))
    room = int(alone.max_batch[0])
    if room < 2 or scenario.output == 1:
        return None
    last = float(
        nearly_free_batch(
            alone.architecture,
            alone.machine,
            context=alone.context,
            slower=TWICE,
            **alone.formats,
        )[0]
    )
    within = last < room
    many = int(last) + 1 if within else room
    step = Case(points_from(scenario, {"batch": np.array([1, many])})).request.decode
    one, all_of_them = step.seconds_sum.tolist()
    weights = numbers.bytes_decimal(np.broadcast_to(step.weight_bytes, (2,)), words)
    caches = numbers.bytes_decimal(step.kv_bytes, words)
    values = {
        "many": numbers.number(many, words),
        "one": numbers.seconds(one, words),
        "all": numbers.seconds(all_of_them, words),
        "ratio": numbers.multiple(all_of_them / one, words, digits=3),
        "room": numbers.number(room, words),
        "weights_one": weights[0],
        "weights_all": weights[1],
        "cache_one": caches[0],
        "cache_all": caches[1],
    }
    return Found(float(many) if within else np.inf, all_of_them / MILLI, values)


QUESTIONS = {
    "kv-cache": Placed(
        growth.NAME,
        stops_between(int(growth.TOKENS[0]), int(growth.TOKENS[-1])),
        numbers.tokens,
        _kv_cache,
    ),
    "decode-shift": Placed(
        shift.NAME,
        stops_between(int(shift.BATCHES[0]), int(shift.BATCHES[-1])),
        numbers.number,
        _decode_shift,
        rows=(0.97, None),
    ),
    "batching": Placed(
        step_time.NAME,
        stops_between(int(step_time.BATCHES[0]), int(step_time.LARGEST)),
        numbers.number,
        _batching,
        rows=(0.66, 0.57),
    ),
}
"""By the page's name."""
