"""Every figure says in words what it shows, at every stop."""

from __future__ import annotations

import re

import pytest

from pages.shared import numbers
from pages.shared.language import LANGUAGES, words
from physics.evidence import Selection, within
from tests.pages.test_app import open_page
from tests.pages.test_tables import HOUSE, SCENARIOS, at, some_stops, table_of

MARKUP = re.compile(r"<[^>]*>|&\w+;")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("query", SCENARIOS[:2], ids=str)
@pytest.mark.parametrize("page", HOUSE.views)
def test_every_figure_has_a_text_alternative(page, query, language):
    table = table_of(page, query, language)
    scenario, words = HOUSE.parse({**query, "lang": language})
    description = HOUSE.views[page].describe(scenario, words)
    for figure in description.figures:
        for slider in HOUSE.views[page].sliders:
            for index in some_stops(table, slider):
                text = MARKUP.sub("", at(table, slider, index, f"t/alt_{figure.name}"))
                nothing = text == words("misfit.short")  # then nothing is drawn
                assert nothing or len(text.split()) >= 6, (figure.name, text)


@pytest.mark.parametrize("page", HOUSE.views)
def test_alternatives_follow_what_moves(page):
    """No figure that moves keeps the words of another stop."""
    table = table_of(page, {})
    for channel, column in table["rows"]["batch"].items():
        name = channel.removeprefix("t/alt_")
        if name != channel and len(column["rows"]) == 1:
            prefixes = (f"f/{name}/", f"l/{name}/")
            moving = [
                other
                for other, one in table["rows"]["batch"].items()
                if other.startswith(prefixes) and len(one.get("rows", ())) > 1
            ]
            assert moving == [], channel


def alternatives(app) -> list[str]:
    return [chart.proto.alt for chart in app.get("plotly_chart")]


@pytest.mark.parametrize("language", LANGUAGES)
def test_figures_of_the_disaggregation_say_their_numbers(language):
    slow = alternatives(open_page("disaggregation", lang=language))
    fast = alternatives(open_page("disaggregation", lang=language, rate="0.5"))
    assert len(slow) >= 5
    for texts in (slow, fast):
        assert all(len(re.findall(r"\d", text)) >= 3 for text in texts), texts
    assert not set(slow) & set(fast)


@pytest.mark.parametrize("language", LANGUAGES)
def test_figures_of_the_evidence_say_how_many_lie_in_the_band(language):
    app = open_page("evidence", lang=language)
    said = alternatives(app)
    assert len(said) == 2
    shown = numbers.percent(within(Selection().rows()), words(language), digits=2)
    assert all(shown in text for text in said), (shown, said)
