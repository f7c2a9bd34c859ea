"""What the player needs to know of the scenario, its stops and its words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pages.shared.answers import ANSWERS
from pages.shared.language import Words, language_code, words
from pages.shared.player.view import House, View
from pages.shared.points import points_from
from pages.shared.scenario import Scenario
from pages.shared.stops import dense_stops, slider_stops
from physics.errors import InputError


def house(views: Iterable[View]) -> House:
    """Return what the player's routes need, for these pages."""
    return House(
        views={view.name: view for view in views},
        parse=parse,
        query=full_query,
        stops=slider_stops,
        dense_stops=dense_stops,
        points=points_from,
        answers=ANSWERS,
    )


def parse(query: Mapping[str, str]) -> tuple[Scenario, Words]:
    """Read a query strictly: the player only ever asks for what Python gave it.

    Raises
    ------
    InputError
        With the first parameter that cannot be used.

    Examples
    --------
    >>> parse({"batch": "32", "lang": "it"})[0].batch
    32
    """
    scenario, notices = Scenario.from_query(query)
    for notice in notices:
        if notice.used is None:
            raise InputError(notice.name, "no such parameter")
        raise InputError(notice.name, f"{notice.given!r} cannot be used; nearest: {notice.used}")
    return scenario, words(language_code([query.get("lang")]))


def full_query(scenario: Scenario, language: Words) -> dict[str, str]:
    """Return the canonical query of a scenario in a language.

    Examples
    --------
    >>> full_query(Scenario(batch=32), words("it"))
    {'batch': '32', 'lang': 'it'}
    """
    return scenario.query() | {"lang": language.code}
