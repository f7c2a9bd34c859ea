"""A pinned scenario, as it stands in a URL: a query of its own, within one parameter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from urllib.parse import parse_qsl, urlencode

from pages.shared.notices import UNSET, Notice, shortened
from pages.shared.scenario import DEFAULTS, Scenario

PIN = "pin"
ALL_DEFAULTS = "default"
"""A query without any parameter would be an empty text, which a URL may lose."""
MOST_FIELDS = 50


def pin_text(scenario: Scenario) -> str:
    """Write a scenario as the value of the URL's parameter `pin`.

    Examples
    --------
    >>> pin_text(Scenario(batch=8, chip="h20")), pin_text(Scenario())
    ('chip=h20&batch=8', 'default')
    """
    return urlencode(scenario.query()) or ALL_DEFAULTS


def pinned(text: str) -> tuple[Scenario | None, list[Notice]]:
    """Read a pinned scenario; what cannot be used is replaced, and said in a notice.

    Examples
    --------
    >>> pinned("batch=0")[1]
    [Notice(name='pin: batch', given='0', used='1')]
    >>> pinned("hello")
    (None, [Notice(name='pin', given='hello', used='–')])
    """
    if text.strip() == ALL_DEFAULTS:
        return Scenario(), []
    try:
        query = dict(parse_qsl(text, keep_blank_values=True, max_num_fields=MOST_FIELDS))
    except ValueError:
        query = {}
    if not DEFAULTS.keys() & query.keys():
        return None, [Notice(PIN, shortened(text), UNSET)]
    scenario, notices = Scenario.from_query(query)
    return scenario, [replace(notice, name=f"{PIN}: {notice.name}") for notice in notices]


def read_pin(text: str) -> tuple[str, list[Notice]]:
    """Return the canonical text of a pinned scenario, or '' where there is none to be read.

    Examples
    --------
    >>> read_pin("output=256&batch=8")
    ('batch=8', [])
    """
    scenario, notices = pinned(text)
    return (pin_text(scenario) if scenario else ""), notices


def rewritten(text: str, step: Callable[[dict[str, str]], dict[str, str]]) -> str:
    """Return the text of a pin with its query taken from one version of links to another.

    Examples
    --------
    >>> rewritten("default", lambda query: query | {"batch": "1"})
    'batch=1'
    """
    try:
        query = dict(parse_qsl(text, keep_blank_values=True, max_num_fields=MOST_FIELDS))
    except ValueError:
        return text
    query.pop(ALL_DEFAULTS, None)
    changed = step(dict(query))
    # What means the same stays as it was given, also for a notice that says it.
    return text if changed == query else urlencode(changed) or ALL_DEFAULTS
