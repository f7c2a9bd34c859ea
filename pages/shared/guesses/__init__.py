"""Predict, then reveal: one question a page, its right answer computed for the scenario.

The texts are the page's own: `<page>.guess` is the question, `<page>.guess_<choice>` what can be
answered, `<page>.guess_why` what physics says. No answer is written down here.
"""

from __future__ import annotations

from pages.shared.guesses import placed, plain_pages, player_pages
from pages.shared.guesses.asked import Question
from pages.shared.language import Words
from pages.shared.scenario import Scenario

QUESTIONS: dict[str, Question | placed.Placed] = {
    **player_pages.QUESTIONS,
    **plain_pages.QUESTIONS,
    **placed.QUESTIONS,
}
"""The question of each page, by the page's name."""


def question(page: str, scenario: Scenario, words: Words) -> dict[str, object]:
    """Return a page's question for a scenario, ready for the browser.

    Returns
    -------
    dict
        ``question``, ``choices`` (``name`` and ``text`` each), ``right``, a name, ``why``, HTML,
        and of a point that is placed ``place`` (see `placed.asked`). For each choice ``verdict``,
        what to say to who picked it, and ``shown``, what to say to who picked none. All empty
        where the scenario leaves nothing to ask.

    Examples
    --------
    >>> asked = question("roofline", Scenario(), Words("en"))
    >>> asked["right"], [choice["text"] for choice in asked["choices"]][:2]
    ('least', ['less than 1%', '1% to 10%'])
    """
    own = QUESTIONS[page]
    if isinstance(own, placed.Placed):
        return placed.asked(page, own, scenario, words)
    found = own.answer(scenario, words)
    if found is None:
        return {"question": "", "choices": [], "right": "", "why": ""}
    right, values = found
    texts = {name: words(f"{page}.guess_{name}", **values) for name in own.choices}

    def verdict(name: str) -> str:
        key = "guess.right" if name == right else "guess.wrong"
        return words(key, guess=texts[name], answer=texts[right])

    return {
        "question": words(f"{page}.guess", **values),
        "choices": [
            {"name": name, "text": text, "verdict": verdict(name)} for name, text in texts.items()
        ],
        "right": right,
        "shown": words("guess.shown", answer=texts[right]),
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
