"""What the pages without a player ask, and what physics answers."""

from __future__ import annotations

import numpy as np

from pages.shared import numbers
from pages.shared.case import Case
from pages.shared.guesses.asked import Answered, Question, binned
from pages.shared.language import Words
from pages.shared.points import points_from
from pages.shared.scenario import Scenario
from pages.shared.serving.services import Question as Service
from pages.shared.serving.services import simulated
from pages.shared.serving.words import refusal
from physics.evidence import BAND, Selection, errors_of, within
from physics.kv_cache import kv_bytes_per_sequence, kv_bytes_per_token
from physics.serving.contest import standing

_GAP_BOUNDS = (1.5, 3.0, 10.0)
_GAPS = ("alike", "some", "many", "most")


def _disaggregation(scenario: Scenario, words: Words) -> Answered:
    """Ask for the gap that one token in a hundred waits longer than, with co-location."""
    if scenario.output == 1 or refusal(scenario, words):
        return None
    asked = Service.of(scenario)
    seen = simulated(asked.service("colocated"), asked.asked())
    own = standing(seen, asked.targets)
    step, worst = own.step_seconds, own.itl.p99
    if not np.isfinite(worst / step):
        return None
    low, middle, high = numbers.multiple(list(_GAP_BOUNDS), words, digits=3, trim=True)
    stop = own.stop_seconds
    return binned(worst / step, _GAP_BOUNDS, _GAPS), {
        "rate": numbers.requests_per_second(asked.rate, words, trim=True),
        "prompt": numbers.tokens(scenario.prompt, words),
        "low": low,
        "middle": middle,
        "high": high,
        "step": numbers.seconds(step, words),
        "worst": numbers.seconds(worst, words),
        "ratio": numbers.multiple(worst / step, words),
        "stop": numbers.seconds(stop if np.isfinite(stop) else asked.alone.ttft_seconds, words),
        "requests": numbers.number(len(seen), words),
    }


_WITHIN_BOUNDS = (0.25, 0.5, 0.75)
_WITHIN = ("few", "less", "more", "most")


def _evidence(scenario: Scenario, words: Words) -> Answered:
    del scenario  # the measurements are what they are
    unseen, first = Selection("tpot").rows(), Selection("ttft").rows()
    share = within(unseen)
    low, middle, high = numbers.percent(list(_WITHIN_BOUNDS), words, trim=True)
    return binned(share, _WITHIN_BOUNDS, _WITHIN), {
        "rows": numbers.number(len(unseen), words, digits=4),
        "band": numbers.percent(BAND, words, digits=2),
        "low": low,
        "middle": middle,
        "high": high,
        "within": numbers.percent(share, words, digits=2),
        "median": numbers.percent(errors_of(unseen).median, words, digits=2),
        "first": numbers.percent(within(first), words, digits=2),
    }


_TOKEN_BOUNDS = (10e3, 100e3, 1e6)
_TOKENS = ("small", "medium", "large", "huge")


def _glossary(scenario: Scenario, words: Words) -> Answered:
    case = Case(points_from(scenario, {}))
    each = float(kv_bytes_per_token(case.architecture, scenario.kv))
    held = kv_bytes_per_sequence(case.architecture, case.tokens, scenario.kv, scenario.tp)
    low, middle, high = numbers.bytes_decimal(list(_TOKEN_BOUNDS), words, trim=True)
    return binned(each, _TOKEN_BOUNDS, _TOKENS), {
        "model": case.architecture.name,
        "low": low,
        "middle": middle,
        "high": high,
        "each": numbers.bytes_decimal(each, words),
        "tokens": numbers.tokens(int(case.tokens[0]), words),
        "cache": numbers.bytes_decimal(float(held[0]), words),
        "weights": numbers.bytes_decimal(case.weight_bytes, words),
    }


_SOONER_BOUNDS = (0.05, 0.2, 0.4)
_SOONER = ("hardly", "little", "much", "half")


def _stories(scenario: Scenario, words: Words) -> Answered:
    """Ask what twice the arithmetic on the same memory makes of the whole answer's time."""
    flops = float(points_from(scenario, {}).flops[0])
    case = Case(points_from(scenario, {"flops": np.array([flops, 2 * flops])}))
    if scenario.output == 1 or not case.fits.all():
        return None
    before, after = case.request.e2e_seconds.tolist()
    first, first_after = case.request.ttft_seconds.tolist()
    tpot, tpot_after = case.request.tpot_seconds.tolist()
    sooner = 1 - after / before
    low, middle, high = numbers.percent(list(_SOONER_BOUNDS), words, trim=True)
    return binned(sooner, _SOONER_BOUNDS, _SOONER), {
        "chip": case.chip.name,
        "model": case.architecture.name,
        "prompt": numbers.tokens(scenario.prompt, words),
        "output": numbers.tokens(scenario.output, words),
        "low": low,
        "middle": middle,
        "high": high,
        "sooner": numbers.percent(sooner, words, digits=2),
        "before": numbers.seconds(before, words),
        "after": numbers.seconds(after, words),
        "first": numbers.seconds(first, words),
        "first_after": numbers.seconds(first_after, words),
        "tpot": numbers.seconds(tpot, words),
        "tpot_after": numbers.seconds(tpot_after, words),
    }


QUESTIONS = {
    "disaggregation": Question(_GAPS, _disaggregation),
    "evidence": Question(_WITHIN, _evidence),
    "glossary": Question(_TOKENS, _glossary),
    "stories": Question(_SOONER, _stories),
}
"""By the page's name."""
