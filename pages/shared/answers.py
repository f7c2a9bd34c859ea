"""What the player asks for once in a while, beside its tables: answers in words and numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

from pages.shared.change_words import what_changed
from pages.shared.compare_words import comparison, pinned_words
from pages.shared.guesses import QUESTIONS, question
from pages.shared.language import Words, language_code, words
from pages.shared.pin import pin_text, pinned
from pages.shared.scenario import Scenario
from physics.errors import InputError


def change_answer(asked: Mapping[str, str]) -> dict[str, Any]:
    """Say what changed from one scenario to another.

    Parameters
    ----------
    asked : mapping
        ``before`` and ``after``: each a query of its own; ``lang``.

    Examples
    --------
    >>> change_answer({"before": "batch=1", "after": "batch=1", "lang": "en"})
    {'text': ''}
    """
    before, after = (_scenario(asked.get(name, "")) for name in ("before", "after"))
    return {"text": what_changed(before, after, _words(asked))}


def compare_answer(asked: Mapping[str, str]) -> dict[str, Any]:
    """Put a pinned scenario and the present one side by side.

    Parameters
    ----------
    asked : mapping
        ``pin``: a pinned scenario; ``now``: a query; ``lang``.

    Returns
    -------
    dict
        ``pin``, as it should stand in the URL, ``query``, its options, ``legend``, what is pinned
        in a few words, and ``table``, HTML.

    Examples
    --------
    >>> answer = compare_answer({"pin": "batch=1", "now": "batch=8", "lang": "en"})
    >>> answer["pin"], answer["query"], answer["legend"]
    ('default', {}, 'Batch 1\\xa0sequence')
    """
    scenario, _ = pinned(asked.get("pin", ""))
    if scenario is None:
        raise InputError("pin", "must be the query of a scenario")
    now, spoken = _scenario(asked.get("now", "")), _words(asked)
    return {
        "pin": pin_text(scenario),
        "query": scenario.query(),
        "legend": pinned_words(scenario, now, spoken),
        "table": comparison(scenario, now, spoken),
    }


def guess_answer(asked: Mapping[str, str]) -> dict[str, Any]:
    """Ask a page's question about the present scenario, with what is right and why.

    Parameters
    ----------
    asked : mapping
        ``page``, its name; ``now``: a query; ``lang``.

    Returns
    -------
    dict
        As `guesses.question` gives it.

    Examples
    --------
    >>> answer = guess_answer({"page": "one-request", "now": "batch=1", "lang": "en"})
    >>> answer["choices"][0]["verdict"]
    'You said “reading takes longer”. The answer: writing takes longer.'
    >>> answer["choices"][2]["verdict"]
    'Right: writing takes longer.'
    """
    page = asked.get("page", "")
    if page not in QUESTIONS:
        raise InputError("page", f"must be one of {', '.join(QUESTIONS)}")
    return question(page, _scenario(asked.get("now", "")), _words(asked))


def _scenario(text: str) -> Scenario:
    """Read a scenario from a query; what cannot be used is replaced, as in a link."""
    return Scenario.from_query(dict(parse_qsl(text)))[0]


def _words(asked: Mapping[str, str]) -> Words:
    return words(language_code([asked.get("lang")]))


ANSWERS = {"change": change_answer, "compare": compare_answer, "guess": guess_answer}
"""What can be asked for, by the name of its route."""
