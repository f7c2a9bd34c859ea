"""Predict, then reveal: one question a page, its right answer computed for the scenario.

The texts are the page's own: `<page>.guess` is the question, `<page>.guess_<choice>` what can be
answered, `<page>.guess_why` what physics says. No answer is written down here.
"""

from __future__ import annotations

from pages.shared.guesses import plain_pages, player_pages
from pages.shared.guesses.asked import Question
from pages.shared.language import Words
from pages.shared.scenario import Scenario

QUESTIONS: dict[str, Question] = {**player_pages.QUESTIONS, **plain_pages.QUESTIONS}
"""The question of each page, by the page's name."""


def question(page: str, scenario: Scenario, words: Words) -> dict[str, object]:
    """Return a page's question for a scenario, ready for the browser.

    Returns
    -------
    dict
        ``question``, ``choices`` (``name`` and ``text`` each), ``right``, a name, and ``why``,
        HTML. All empty where the scenario leaves nothing to ask.

    Examples
    --------
    >>> asked = question("roofline", Scenario(), Words("en"))
    >>> asked["right"], [choice["text"] for choice in asked["choices"]][:2]
    ('least', ['less than 1%', '1% to 10%'])
    """
    found = QUESTIONS[page].answer(scenario, words)
    if found is None:
        return {"question": "", "choices": [], "right": "", "why": ""}
    right, values = found
    return {
        "question": words(f"{page}.guess", **values),
        "choices": [
            {"name": name, "text": words(f"{page}.guess_{name}", **values)}
            for name in QUESTIONS[page].choices
        ],
        "right": right,
        "why": words(f"{page}.guess_why", **values),
    }


def is_guess(text: str) -> bool:
    """Say whether a text is an answer as a URL has it: '<page>.<choice>'.

    Examples
    --------
    >>> is_guess("roofline.least"), is_guess("roofline.nonsense")
    (True, False)
    """
    page, _, choice = text.partition(".")
    return page in QUESTIONS and choice in QUESTIONS[page].choices
