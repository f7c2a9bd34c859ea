"""Links that stay valid: the version of their scheme, and how older ones are read.

A link leaves out what stands at its default, so a default that changes would change what old links
mean. Whoever changes the meaning of a link raises `VERSION` and adds to `UPGRADES` the step that
says the same in the new scheme. An address without `v` is of version 1.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from pages.shared.notices import Notice, shortened
from pages.shared.pin import PIN, rewritten

VERSION = 2
FIRST = 1

_ONCE_CHOICES = {
    "kv-cache": {"short", "medium", "long", "longest"},
    "decode-shift": {"small", "medium", "large", "huge"},
    "batching": {"hardly", "somewhat", "much", "most"},
}
"""Answers of version 1 to questions that are answered by placing a point since."""


def _without_old_answers(query: dict[str, str]) -> dict[str, str]:
    page, _, answer = query.get("guess", "").partition(".")
    if answer in _ONCE_CHOICES.get(page, ()):
        return {name: value for name, value in query.items() if name != "guess"}
    return query


# From a version to the next: the query of a link in, the same state in the newer scheme out.
UPGRADES: Mapping[int, Callable[[dict[str, str]], dict[str, str]]] = {1: _without_old_answers}


def read_link(query: Mapping[str, str]) -> tuple[dict[str, str], list[Notice]]:
    """Read the version of a link's query, and say the query in the present scheme.

    Parameters
    ----------
    query : mapping of str to str

    Returns
    -------
    query : dict
        Without `v`.
    notices : list of Notice
        That the link is newer than this program, or its version no version.

    Examples
    --------
    >>> read_link({"batch": "32", "v": "1"})
    ({'batch': '32'}, [])
    >>> read_link({"batch": "32", "v": "1000"})[1]
    [Notice(name='v', given='1000', used='2')]
    """
    rest = {name: value for name, value in query.items() if name != "v"}
    given = query.get("v", "").strip()
    if not given:
        version, usable = FIRST, True
    elif re.fullmatch(r"[1-9][0-9]{0,5}", given):
        version, usable = int(given), int(given) <= VERSION
    else:
        version, usable = VERSION, False
    notices = [] if usable else [Notice("v", shortened(given), str(VERSION))]
    for older in range(version, VERSION):
        step = UPGRADES[older]
        rest = step(rest)
        if PIN in rest:  # a scenario of its own, in the same scheme
            rest[PIN] = rewritten(rest[PIN], step)
    return rest, notices


def is_newer(notice: Notice) -> bool:
    """Say whether a notice is about a link made by a newer version than this.

    Examples
    --------
    >>> is_newer(Notice("v", "1000", "2")), is_newer(Notice("v", "one", "2"))
    (True, False)
    """
    return notice.name == "v" and notice.given.isdecimal() and int(notice.given) > VERSION
