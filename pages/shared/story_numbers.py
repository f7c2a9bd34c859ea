"""The numbers that a story's text may name in braces, computed by physics."""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from pages.shared import numbers
from pages.shared.language import Words
from pages.shared.scenario import Scenario
from pages.shared.serving.services import GIGABYTE, Question, simulated
from physics.catalogue import models
from physics.chips import chip
from physics.options import OPTIONS
from physics.predict import Question as Asked
from physics.predict import predict
from physics.serving.contest import standing
from physics.serving.design import KINDS


@dataclass(frozen=True)
class Number:
    """How a number is found in an answer of `physics.predict`, and written.

    Attributes
    ----------
    write : callable
        ``write(value, words) -> str``.
    value : tuple of str or None
        The way to the value in the answer; None: the text is the scenario's, no quantity. A way
        that begins with "service" leads through a simulated service instead.
    """

    write: Callable[..., str]
    value: tuple[str, ...] | None


def _bound(value: str, words: Words) -> str:
    return words(f"bound_by.{value}")


def _share(value: float | None, words: Words) -> str:
    return numbers.percent(value, words, digits=2)


def _trimmed(write: Callable[..., str]) -> Callable[..., str]:
    return lambda value, words: write(value, words, trim=True)


def _whole(write: Callable[..., str]) -> Callable[..., str]:
    return lambda value, words: write(None if value is None else round(value), words)


NUMBERS: Mapping[str, Number] = {
    "model": Number(lambda scenario, words: models()[scenario.model].name, None),
    "chip": Number(lambda scenario, words: chip(scenario.chip).name, None),
    "versus": Number(lambda scenario, words: chip(scenario.versus).name, None),
    "prompt": Number(numbers.tokens, ("prompt",)),
    "output": Number(numbers.tokens, ("output",)),
    "batch": Number(numbers.number, ("batch",)),
    "context": Number(numbers.tokens, ("decode", "context")),
    "peak": Number(_trimmed(numbers.flop_per_second), ("peak_flop_per_second",)),
    "bandwidth": Number(_trimmed(numbers.bytes_per_second), ("bandwidth_bytes_per_second",)),
    "ridge": Number(numbers.flop_per_byte, ("ridge_flop_per_byte",)),
    "capacity": Number(numbers.bytes_decimal, ("capacity_bytes",)),
    "parameters": Number(numbers.parameters, ("parameters",)),
    "active_parameters": Number(numbers.parameters, ("active_parameters",)),
    "weights": Number(numbers.bytes_decimal, ("weight_bytes",)),
    "kv_per_token": Number(numbers.bytes_decimal, ("kv_bytes_per_token",)),
    "kv_per_sequence": Number(numbers.bytes_decimal, ("kv_bytes_per_sequence",)),
    "kv_all": Number(numbers.bytes_decimal, ("kv_bytes_all_chips",)),
    "max_batch": Number(numbers.number, ("max_batch",)),
    "critical_batch": Number(_whole(numbers.number), ("critical_batch",)),
    "critical_context": Number(_whole(numbers.tokens), ("critical_context",)),
    "ttft": Number(numbers.seconds, ("ttft_s",)),
    "tpot": Number(numbers.seconds, ("tpot_s",)),
    "e2e": Number(numbers.seconds, ("e2e_s",)),
    "tokens_per_s_user": Number(numbers.tokens_per_second, ("tokens_per_s_user",)),
    "tokens_per_s_system": Number(numbers.tokens_per_second, ("tokens_per_s_system",)),
    **{
        f"{phase}_{name}": Number(write, (phase, key))
        for phase in ("prefill", "decode")
        for name, key, write in (
            ("flop", "flop", numbers.flop),
            ("bytes", "bytes", numbers.bytes_decimal),
            ("weight_bytes", "weight_bytes", numbers.bytes_decimal),
            ("kv_bytes", "kv_bytes", numbers.bytes_decimal),
            ("intensity", "intensity", numbers.flop_per_byte),
            ("bound", "bound", _bound),
            ("mfu", "mfu", _share),
            ("mbu", "mbu", _share),
            ("step", "seconds_sum", numbers.seconds),
            ("compute_time", "compute_seconds", numbers.seconds),
            ("memory_time", "memory_seconds", numbers.seconds),
        )
    },
    "rate": Number(numbers.requests_per_second, ("service", "rate")),
    "link": Number(_trimmed(numbers.bytes_per_second), ("service", "link")),
    "sent_time": Number(numbers.seconds, ("service", "sent")),
    **{
        f"{kind}_{name}": Number(numbers.seconds, ("service", kind, name))
        for kind in KINDS
        for name in ("ttft", "itl")
    },
}
"""By name. Values are SI; `physics.predict` says what each means. Those of a service are what all
but one in a hundred of its requests, or of the gaps between their tokens, keep to."""


def written(text: str, scenario: Scenario, others: Mapping[str, Scenario], words: Words) -> str:
    """Fill in a text's placeholders.

    ``{ttft}`` is the number of the scenario, ``{alone.ttft}`` that of the other one called
    "alone", and ``{over.alone.ttft}`` how many times as much the first is.

    Examples
    --------
    >>> from pages.shared.language import Words
    >>> text = "{batch} at once: {over.alone.tpot} the time of a step, {alone.tpot}."
    >>> written(text, Scenario(batch=8), {"alone": Scenario()}, Words("en"))
    '8 at once: 1.1× the time of a step, 4.57\\xa0ms.'
    """
    pieces = []
    for literal, name, _, _ in string.Formatter().parse(text):
        pieces.append(literal)
        if name is not None:
            pieces.append(_written(name, scenario, others, words))
    return "".join(pieces)


def _written(
    placeholder: str, scenario: Scenario, others: Mapping[str, Scenario], words: Words
) -> str:
    *before, name = placeholder.split(".")
    number = NUMBERS[name]
    at = others[before[-1]] if before else scenario
    if number.value is None:
        return number.write(at, words)
    value = _value(at, number.value)
    if len(before) == 2:
        own = _value(scenario, number.value)
        unknown = own is None or not value
        return numbers.multiple(None if unknown else own / value, words, trim=True)
    return number.write(value, words)


def _value(scenario: Scenario, way: tuple[str, ...]) -> Any:
    value: Any = {"service": _service(scenario)} if way[0] == "service" else _answer(scenario)
    for name in way:
        value = value[name]
    return value


@cache
def _answer(scenario: Scenario) -> dict[str, Any]:
    options = {name: getattr(scenario, name) for name in OPTIONS if hasattr(scenario, name)}
    return predict(Asked(model=scenario.model, chip=scenario.chip, **options))


@cache
def _service(scenario: Scenario) -> dict[str, Any]:
    question = Question.of(scenario)
    link = scenario.link * GIGABYTE
    answer: dict[str, Any] = {
        "rate": question.rate,
        "link": link,
        "sent": question.alone.sent_seconds(link),
    }
    for kind in KINDS:
        seen = standing(simulated(question.service(kind), question.asked()), question.targets)
        answer[kind] = {"ttft": seen.ttft.p99, "itl": seen.itl.p99}
    return answer
