"""The settings of a comparison of services in words, and where two comparisons differ."""

from __future__ import annotations

from pages.shared import numbers
from pages.shared.compare_words import in_few_words
from pages.shared.language import Words
from pages.shared.scenario_words import arrow, differing, option_label, option_text
from pages.shared.serving.services import Question
from pages.shared.serving.words import instances
from physics.chips import chip

NOT_HERE = {"batch", "price"}
"""Options that this page does not use: the batch forms by itself."""


def differences(one: Question, other: Question, words: Words) -> list[tuple[str, str, str]]:
    """Return what differs between two comparisons: its name, and both values in words.

    Examples
    --------
    >>> from pages.shared.scenario import Scenario
    >>> from pages.shared.language import Words
    >>> one, other = (Question.of(Scenario(rate=rate)) for rate in (10, 12))
    >>> differences(one, other, Words("en"))
    [('Request rate', '10\\xa0requests/s', '12\\xa0requests/s')]
    """
    scenarios = one.scenario, other.scenario
    names = [name for name in differing(*scenarios) if name not in NOT_HERE]
    if all(scenario.decode_chip == "same" for scenario in scenarios):
        names = [name for name in names if name != "versus"]
    found = [
        (option_label(name, words), *(option_text(name, each, words) for each in scenarios))
        for name in names
    ]
    texts = [_own_texts(question, words) for question in (one, other)]
    for label in dict.fromkeys([*texts[0], *texts[1]]):
        both = tuple(own.get(label, numbers.NONE) for own in texts)
        if both[0] != both[1]:
            found.append((label, *both))
    return found


def moves(before: Question, after: Question, words: Words, most: int) -> str:
    """Say what was moved, and how; '' where nothing was, or more than so many things.

    Examples
    --------
    >>> from pages.shared.scenario import Scenario
    >>> from pages.shared.language import Words
    >>> before, after = (Question.of(Scenario(rate=rate)) for rate in (10, 12))
    >>> moves(before, after, Words("en"), 2)
    'Request rate 10 → 12\\xa0requests/s'
    """
    found = differences(before, after, words)
    if len(found) > most:
        return ""
    return ", ".join(f"{label} {arrow(one, other)}" for label, one, other in found)


def pinned_words(pinned: Question, now: Question, words: Words) -> str:
    """Say what is pinned: the settings in which it differs from what is seen now."""
    return in_few_words(
        ((label, text) for label, text, _ in differences(pinned, now, words)), words
    )


def _own_texts(question: Question, words: Words) -> dict[str, str]:
    """Return the settings that only this page has, by what they are called."""
    scenario = question.scenario
    kinds = {scenario.left, scenario.right}
    pools = scenario.prefill_pool, scenario.decode_pool

    def label(name: str) -> str:
        return words(f"disaggregation.{name}")

    def seconds(value: float) -> str:
        return numbers.seconds(value, words, trim=True)

    texts = {label(side): label(f"name_{getattr(scenario, side)}") for side in ("left", "right")}
    texts |= {
        label("slider_rate"): numbers.requests_per_second(question.rate, words, trim=True),
        label("total"): instances(sum(pools), words),
        label("slider_ttft_target"): seconds(question.ttft_target),
        label("slider_itl_target"): seconds(question.itl_target),
        label("lengths"): label(f"lengths_{scenario.lengths}"),
    }
    if "disaggregated" in kinds:
        link = numbers.bytes_per_second(scenario.link * 1e9, words, trim=True)
        other = chip(scenario.versus).name
        texts |= {
            label("slider_pools"): f"{pools[0]} : {pools[1]}",
            label("slider_link"): link,
            label("decode_chip"): words(
                f"disaggregation.decode_chip_{scenario.decode_chip}", chip=other
            ),
        }
    if "chunked" in kinds:
        texts[label("slider_budget")] = numbers.tokens(scenario.budget, words)
    return texts
