"""Predict, then reveal: one question a page, its right answer computed for the scenario.

The texts are the page's own: `<page>.guess` is the question, `<page>.guess_<choice>` what can be
answered, `<page>.guess_why` what physics says. No answer is written down here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from pages.shared import numbers
from pages.shared.case import Case
from pages.shared.flowing import Flowing
from pages.shared.language import Words
from pages.shared.points import points_from
from pages.shared.scenario import Scenario
from physics.chips import chip
from physics.frontier import linear_crossing_batch
from physics.kv_cache import kv_bytes_per_sequence, kv_bytes_per_token
from physics.memory import longest_sequence
from physics.roofline import ridge_flop_per_byte

ALIKE = 1.5
"""Times that differ by less than this factor are about equal."""
SAME_SPEED = 1.05
MANY = 32
"""The batch that is compared with a single sequence, where it fits."""
NEVER_TOKENS = 2**30
"""The longest sequence that is looked at."""

Values = Mapping[str, str]
Answered = tuple[str, Values] | None
"""Which choice is right, and the numbers that texts show; None: nothing can be asked here."""


@dataclass(frozen=True)
class Question:
    """The question of a page.

    Attributes
    ----------
    choices : tuple of str
        Names of what can be answered, in the order in which they stand.
    answer : callable
        ``answer(scenario, words)`` gives the right one and the values of the texts.
    """

    choices: tuple[str, ...]
    answer: Callable[[Scenario, Words], Answered]


def _binned(value: float, bounds: tuple[float, ...], choices: tuple[str, ...]) -> str:
    """Return the choice of the bin between ascending bounds in which a value lies.

    Examples
    --------
    >>> _binned(0.03, (0.01, 0.1), ("low", "middle", "high"))
    'middle'
    """
    return choices[int(np.searchsorted(bounds, value, side="right"))]


def _one_request(scenario: Scenario, words: Words) -> Answered:
    case = Case(points_from(scenario, {}))
    if not case.fits[0]:
        return None
    asked = case.request
    reading = float(asked.ttft_seconds[0])
    writing = float(asked.e2e_seconds[0]) - reading
    ratio = float((asked.seconds_per_answer_token / asked.seconds_per_prompt_token)[0])
    right = _binned(writing / reading, (1 / ALIKE, ALIKE), QUESTIONS["one-request"].choices)
    single = scenario.output == 1
    return right, {
        "prompt": numbers.tokens(scenario.prompt, words),
        "output": numbers.tokens(scenario.output, words),
        "reading": numbers.seconds(reading, words),
        "writing": numbers.seconds(writing, words),
        "ratio": numbers.multiple(1.0 if single else ratio, words),
    }


_MFU_BOUNDS = (0.01, 0.1, 0.5)


def _roofline(scenario: Scenario, words: Words) -> Answered:
    case = Case(points_from(scenario, {}))
    if not case.fits[0]:
        return None
    step, machine = case.request.decode, case.machine
    mfu = float(step.mfu[0])
    low, middle, high = numbers.percent(list(_MFU_BOUNDS), words, digits=1)
    return _binned(mfu, _MFU_BOUNDS, QUESTIONS["roofline"].choices), {
        "batch": numbers.number(scenario.batch, words),
        "low": low,
        "middle": middle,
        "high": high,
        "mfu": numbers.percent(mfu, words, digits=2),
        "prefill": numbers.percent(float(case.request.prefill.mfu[0]), words, digits=2),
        "intensity": numbers.flop_per_byte(float(step.intensity[0]), words),
        "ridge": numbers.flop_per_byte(
            float(np.ravel(ridge_flop_per_byte(machine.peak, machine.bandwidth))[0]), words
        ),
    }


_TOKEN_BOUNDS = (10_000, 100_000, 1_000_000)


def _kv_cache(scenario: Scenario, words: Words) -> Answered:
    case = Case(points_from(scenario, {}))
    # As much memory again as the weights take: one sequence may fill it.
    twice = replace(case.machine, capacity=2 * case.weight_bytes / scenario.tp)
    found = longest_sequence(case.architecture, twice, batch=1, limit=NEVER_TOKENS, **case.formats)
    tokens = float(np.ravel(found)[0])
    low, middle, high = numbers.tokens(list(_TOKEN_BOUNDS), words)
    low_number, middle_number = numbers.number(list(_TOKEN_BOUNDS[:2]), words)
    each = kv_bytes_per_token(case.architecture, scenario.kv)
    now = kv_bytes_per_sequence(case.architecture, case.tokens, scenario.kv, scenario.tp)
    never = tokens >= NEVER_TOKENS
    return _binned(tokens, _TOKEN_BOUNDS, QUESTIONS["kv-cache"].choices), {
        "weights": numbers.bytes_decimal(case.weight_bytes, words),
        "low": low,
        "low_number": low_number,
        "middle": middle,
        "middle_number": middle_number,
        "high": high,
        "each": numbers.bytes_decimal(float(each), words),
        "reached": words("guess.never")
        if never
        else words("guess.at_tokens", tokens=numbers.tokens(int(float(f"{tokens:.3g}")), words)),
        "now": numbers.tokens(int(case.tokens[0]), words),
        "cache": numbers.bytes_decimal(float(now[0]), words),
    }


_BATCH_BOUNDS = (32, 128, 512)


def _decode_shift(scenario: Scenario, words: Words) -> Answered:
    case = Case(points_from(scenario, {}))
    machine, step = case.machine, case.request.decode
    crossing = linear_crossing_batch(case.architecture, machine, weights=scenario.weights)
    batch = float(np.ravel(crossing)[0])
    low, middle, high = numbers.number(list(_BATCH_BOUNDS), words)
    ridge = float(np.ravel(ridge_flop_per_byte(machine.peak, machine.bandwidth))[0])
    attention = float(step.intensity_of(step.is_attention)[0])
    return _binned(batch, _BATCH_BOUNDS, QUESTIONS["decode-shift"].choices), {
        "low": low,
        "middle": middle,
        "high": high,
        "ridge": numbers.flop_per_byte(ridge, words),
        "crossing": words("guess.never")
        if np.isinf(batch)
        else words("guess.at_batch", batch=numbers.number(int(np.ceil(batch)), words)),
        "attention": numbers.flop_per_byte(attention, words),
        "room": numbers.number(int(case.max_batch[0]), words),
    }


_STEP_BOUNDS = (1.25, 2.0, 8.0)


def _batching(scenario: Scenario, words: Words) -> Answered:
    room = int(Case(points_from(scenario, {"batch": np.array([1])})).max_batch[0])
    many = min(MANY, room)
    if many < 2 or scenario.output == 1:
        return None
    case = Case(points_from(scenario, {"batch": np.array([1, many])}))
    one, all_of_them = case.request.tpot_seconds.tolist()
    low, middle, high = numbers.multiple(list(_STEP_BOUNDS), words, digits=3, trim=True)
    step = case.request.decode
    weights = numbers.bytes_decimal(np.broadcast_to(step.weight_bytes, (2,)), words)
    caches = numbers.bytes_decimal(step.kv_bytes, words)
    return _binned(all_of_them / one, _STEP_BOUNDS, QUESTIONS["batching"].choices), {
        "many": numbers.number(many, words),
        "low": low,
        "middle": middle,
        "high": high,
        "one": numbers.seconds(one, words),
        "all": numbers.seconds(all_of_them, words),
        "ratio": numbers.multiple(all_of_them / one, words, digits=3),
        "weights_one": weights[0],
        "weights_all": weights[1],
        "cache_one": caches[0],
        "cache_all": caches[1],
    }


def _hardware(scenario: Scenario, words: Words) -> Answered:
    other = chip(scenario.versus)
    if (scenario.tp > 1 and other.link is None) or scenario.output == 1:
        return None
    cases = [
        Case(points_from(one, {})) for one in (scenario, scenario.replaced(chip=scenario.versus))
    ]
    if scenario.chip == scenario.versus or not all(case.fits[0] for case in cases):
        return None
    tpots = [float(case.request.tpot_seconds[0]) for case in cases]
    ttfts = [float(case.request.ttft_seconds[0]) for case in cases]
    bounds = (1 / SAME_SPEED, SAME_SPEED)
    names = (cases[0].chip.name, other.name)
    values = {"first": names[0], "second": names[1]}
    for name, case, tpot, ttft in zip(values.copy(), cases, tpots, ttfts, strict=True):
        machine = case.machine
        values |= {
            f"{name}_tpot": numbers.seconds(tpot, words),
            f"{name}_ttft": numbers.seconds(ttft, words),
            f"{name}_bandwidth": numbers.bytes_per_second(
                float(np.ravel(machine.bandwidth)[0]), words
            ),
            f"{name}_peak": numbers.flop_per_second(float(np.ravel(machine.peak)[0]), words),
        }
    return _binned(tpots[0] / tpots[1], bounds, QUESTIONS["hardware"].choices), values


_MBU_BOUNDS = (0.5, 0.8, 0.95)


def _dataflow(scenario: Scenario, words: Words) -> Answered:
    flowing = Flowing(points_from(scenario, {}))
    if not flowing.case.fits[0]:
        return None
    step = flowing.step
    mbu = step.mbu[:, 0].tolist()
    low, middle, high = numbers.percent(list(_MBU_BOUNDS), words, digits=2)
    return _binned(mbu[0], _MBU_BOUNDS, QUESTIONS["dataflow"].choices), {
        "batch": numbers.number(scenario.batch, words),
        "bandwidth": numbers.bytes_per_second(float(np.ravel(step.machine.bandwidth)[0]), words),
        "low": low,
        "middle": middle,
        "high": high,
        "apart": numbers.percent(mbu[0], words, digits=3),
        "streamed": numbers.percent(mbu[3], words, digits=3),
        "launches": numbers.number(int(np.ravel(step.launches)[0]), words),
        "step": numbers.seconds(float(step.seconds[0, 0]), words),
    }


def _metrics(scenario: Scenario, words: Words) -> Answered:
    half = scenario.prompt // 2
    case = Case(points_from(scenario, {"prompt": np.array([scenario.prompt, half])}))
    if half < 1 or scenario.output == 1 or not case.fits.all():
        return None
    (ttft, ttft_half), (tpot, tpot_half) = (
        times.tolist() for times in (case.request.ttft_seconds, case.request.tpot_seconds)
    )
    shorter = (ttft / ttft_half) / (tpot / tpot_half)
    return _binned(shorter, (1 / SAME_SPEED, SAME_SPEED), QUESTIONS["metrics"].choices), {
        "prompt": numbers.tokens(scenario.prompt, words),
        "half": numbers.tokens(half, words),
        "ttft": numbers.seconds(ttft, words),
        "ttft_half": numbers.seconds(ttft_half, words),
        "tpot": numbers.seconds(tpot, words),
        "tpot_half": numbers.seconds(tpot_half, words),
    }


QUESTIONS: dict[str, Question] = {
    "one-request": Question(("reading", "equal", "writing"), _one_request),
    "roofline": Question(("least", "little", "some", "most"), _roofline),
    "kv-cache": Question(("short", "medium", "long", "longest"), _kv_cache),
    "decode-shift": Question(("small", "medium", "large", "huge"), _decode_shift),
    "batching": Question(("hardly", "somewhat", "much", "most"), _batching),
    "hardware": Question(("first", "equal", "second"), _hardware),
    "dataflow": Question(("least", "some", "much", "most"), _dataflow),
    "metrics": Question(("tpot", "equal", "ttft"), _metrics),
}
"""The question of each page that has a player, by the page's name."""


def question(page: str, scenario: Scenario, words: Words) -> dict[str, object]:
    """Return a page's question for a scenario, ready for the browser.

    Returns
    -------
    dict
        ``question``, ``choices`` (``name`` and ``text`` each), ``right``, a name, and ``why``,
        HTML. All empty where the scenario leaves nothing to ask.

    Examples
    --------
    >>> asked = question("roofline", Scenario(), Words("en"))
    >>> asked["right"], [choice["text"] for choice in asked["choices"]][:2]
    ('least', ['less than 1%', '1% to 10%'])
    """
    found = QUESTIONS[page].answer(scenario, words)
    if found is None:
        return {"question": "", "choices": [], "right": "", "why": ""}
    right, values = found
    return {
        "question": words(f"{page}.guess", **values),
        "choices": [
            {"name": name, "text": words(f"{page}.guess_{name}", **values)}
            for name in QUESTIONS[page].choices
        ],
        "right": right,
        "why": words(f"{page}.guess_why", **values),
    }


def is_guess(text: str) -> bool:
    """Say whether a text is an answer as a URL has it: '<page>.<choice>'.

    Examples
    --------
    >>> is_guess("roofline.least"), is_guess("roofline.nonsense")
    (True, False)
    """
    page, _, choice = text.partition(".")
    return page in QUESTIONS and choice in QUESTIONS[page].choices
