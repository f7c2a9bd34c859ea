"""What the pages with a player ask, and what physics answers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pages.shared import numbers
from pages.shared.case import Case
from pages.shared.flowing import Flowing
from pages.shared.guesses.asked import Answered, Question, binned
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

_ONE_REQUEST = ("reading", "equal", "writing")


def _one_request(scenario: Scenario, words: Words) -> Answered:
    case = Case(points_from(scenario, {}))
    if not case.fits[0]:
        return None
    asked = case.request
    reading = float(asked.ttft_seconds[0])
    writing = float(asked.e2e_seconds[0]) - reading
    ratio = float((asked.seconds_per_answer_token / asked.seconds_per_prompt_token)[0])
    right = binned(writing / reading, (1 / ALIKE, ALIKE), _ONE_REQUEST)
    single = scenario.output == 1
    return right, {
        "prompt": numbers.tokens(scenario.prompt, words),
        "output": numbers.tokens(scenario.output, words),
        "reading": numbers.seconds(reading, words),
        "writing": numbers.seconds(writing, words),
        "ratio": numbers.multiple(1.0 if single else ratio, words),
    }


_MFU_BOUNDS = (0.01, 0.1, 0.5)
_ROOFLINE = ("least", "little", "some", "most")


def _roofline(scenario: Scenario, words: Words) -> Answered:
    case = Case(points_from(scenario, {}))
    if not case.fits[0]:
        return None
    step, machine = case.request.decode, case.machine
    mfu = float(step.mfu[0])
    low, middle, high = numbers.percent(list(_MFU_BOUNDS), words, digits=1)
    return binned(mfu, _MFU_BOUNDS, _ROOFLINE), {
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
_KV_CACHE = ("short", "medium", "long", "longest")


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
    return binned(tokens, _TOKEN_BOUNDS, _KV_CACHE), {
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
_DECODE_SHIFT = ("small", "medium", "large", "huge")


def _decode_shift(scenario: Scenario, words: Words) -> Answered:
    case = Case(points_from(scenario, {}))
    machine, step = case.machine, case.request.decode
    crossing = linear_crossing_batch(case.architecture, machine, weights=scenario.weights)
    batch = float(np.ravel(crossing)[0])
    low, middle, high = numbers.number(list(_BATCH_BOUNDS), words)
    ridge = float(np.ravel(ridge_flop_per_byte(machine.peak, machine.bandwidth))[0])
    attention = float(step.intensity_of(step.is_attention)[0])
    return binned(batch, _BATCH_BOUNDS, _DECODE_SHIFT), {
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
_BATCHING = ("hardly", "somewhat", "much", "most")


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
    return binned(all_of_them / one, _STEP_BOUNDS, _BATCHING), {
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


_HARDWARE = ("first", "equal", "second")


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
    return binned(tpots[0] / tpots[1], bounds, _HARDWARE), values


_MBU_BOUNDS = (0.5, 0.8, 0.95)
_DATAFLOW = ("least", "some", "much", "most")


def _dataflow(scenario: Scenario, words: Words) -> Answered:
    flowing = Flowing(points_from(scenario, {}))
    if not flowing.case.fits[0]:
        return None
    step = flowing.step
    mbu = step.mbu[:, 0].tolist()
    low, middle, high = numbers.percent(list(_MBU_BOUNDS), words, digits=2)
    return binned(mbu[0], _MBU_BOUNDS, _DATAFLOW), {
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


_METRICS = ("tpot", "equal", "ttft")


def _metrics(scenario: Scenario, words: Words) -> Answered:
    half = scenario.prompt // 2
    case = Case(points_from(scenario, {"prompt": np.array([scenario.prompt, half])}))
    if half < 1 or scenario.output == 1 or not case.fits.all():
        return None
    (ttft, ttft_half), (tpot, tpot_half) = (
        times.tolist() for times in (case.request.ttft_seconds, case.request.tpot_seconds)
    )
    shorter = (ttft / ttft_half) / (tpot / tpot_half)
    return binned(shorter, (1 / SAME_SPEED, SAME_SPEED), _METRICS), {
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


QUESTIONS = {
    "one-request": Question(_ONE_REQUEST, _one_request),
    "roofline": Question(_ROOFLINE, _roofline),
    "kv-cache": Question(_KV_CACHE, _kv_cache),
    "decode-shift": Question(_DECODE_SHIFT, _decode_shift),
    "batching": Question(_BATCHING, _batching),
    "hardware": Question(_HARDWARE, _hardware),
    "dataflow": Question(_DATAFLOW, _dataflow),
    "metrics": Question(_METRICS, _metrics),
}
"""By the page's name."""
