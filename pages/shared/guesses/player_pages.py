"""What pages with a player ask, and what physics answers."""

from __future__ import annotations

import numpy as np

from pages.shared import numbers
from pages.shared.case import Case
from pages.shared.flowing import Flowing
from pages.shared.guesses.asked import Answered, Question, binned
from pages.shared.language import Words
from pages.shared.points import points_from
from pages.shared.scenario import Scenario
from physics.chips import chip
from physics.roofline import ridge_flop_per_byte

ALIKE = 1.5
"""Times that differ by less than this factor are about equal."""
SAME_SPEED = 1.05

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
    "hardware": Question(("first", "equal", "second"), _hardware),
    "dataflow": Question(("least", "some", "much", "most"), _dataflow),
    "metrics": Question(("tpot", "equal", "ttft"), _metrics),
}
"""The question of each page that has a player, by the page's name."""


QUESTIONS = {
    "one-request": Question(_ONE_REQUEST, _one_request),
    "roofline": Question(_ROOFLINE, _roofline),
    "hardware": Question(_HARDWARE, _hardware),
    "dataflow": Question(_DATAFLOW, _dataflow),
    "metrics": Question(_METRICS, _metrics),
}
"""By the page's name."""
