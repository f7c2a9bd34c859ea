"""Stories: guided sequences of steps, read from `assets/stories/`.

A story is one YAML file that holds both languages; its name is the story's slug. Each step names
a page and a scenario, and says in a sentence what is seen, where to look, what to ask, and what a
speaker may say. Numbers are never written into a story: a text names them in braces, and physics
fills them in (`pages.shared.story_numbers`). Adding a story needs no code.
"""

from __future__ import annotations

import difflib
import string
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from pages.shared.language import LANGUAGES
from pages.shared.notices import Notice, shortened
from pages.shared.scenario import Scenario
from pages.shared.story_numbers import NUMBERS

FOLDER = Path(__file__).resolve().parent.parent.parent / "assets" / "stories"
OVER = "over"
"""Before the name of another scenario: how many times that one's number this one's is."""


class StoryError(ValueError):
    """A story that cannot be told: which file, where in it, and what is wrong."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def _sentence(value: Any) -> Any:
    """Take the line breaks of a folded text for spaces."""
    return " ".join(value.split()) if isinstance(value, str) else value


Sentence = Annotated[str, BeforeValidator(_sentence), Field(min_length=1)]


class Text(_Strict):
    """A text in every language."""

    en: Sentence
    it: Sentence

    def __getitem__(self, code: str) -> str:
        """Return the text of a language."""
        return getattr(self, code)


def _scenario(given: Any) -> Any:
    """Read a scenario strictly: a story has no use for the nearest value."""
    if given is None:
        given = {}
    if not isinstance(given, Mapping):
        raise ValueError("a scenario is a list of options, such as `batch: 8`")
    scenario, notices = Scenario.from_query({str(k): str(v) for k, v in given.items()})
    for notice in notices:
        if notice.used is None:
            raise ValueError(f"no option {notice.name!r} of a scenario")
        raise ValueError(f"{notice.name}: {notice.given!r} cannot be used; try {notice.used}")
    return scenario


AnyScenario = Annotated[Scenario, BeforeValidator(_scenario)]


class Step(BaseModel):
    """One step: where to be, and what to say there.

    Attributes
    ----------
    page : str
        Name of the page, as in its address.
    scenario : Scenario
        What the page shows.
    others : dict of str to Scenario
        Other scenarios whose numbers the texts compare with, by a name of the story's own.
    sentence, look, question, note : Text
        What is seen; where to look; what to ask; what a speaker may say.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)

    page: str
    scenario: AnyScenario = Field(default_factory=Scenario)
    others: dict[str, AnyScenario] = Field(default_factory=dict)
    sentence: Text
    look: Text
    question: Text
    note: Text

    def texts(self) -> dict[str, Text]:
        """Return the texts by name."""
        return {name: getattr(self, name) for name in ("sentence", "look", "question", "note")}

    @model_validator(mode="after")
    def _placeholders_are_known(self) -> Step:
        taken = set(self.others) & {*NUMBERS, OVER}
        if taken:
            raise ValueError(f"others: {', '.join(sorted(taken))} is the name of a number already")
        for name, text in self.texts().items():
            found = {code: placeholders(text[code]) for code in LANGUAGES}
            for code, used in found.items():
                for placeholder in sorted(used):
                    _check(placeholder, self.others, f"{name}.{code}")
            if len({frozenset(used) for used in found.values()}) > 1:
                raise ValueError(f"{name}: the languages show different numbers: {found}")
        return self


def _check(placeholder: str, others: Iterable[str], where: str) -> None:
    *before, number = placeholder.split(".")
    good = (
        not before
        or (len(before) == 1 and before[0] in others)
        or (len(before) == 2 and before[0] == OVER and before[1] in others)
    )
    if not good:
        known = ", ".join(others) or "none"
        raise ValueError(f"{where}: {{{placeholder}}}: no such other scenario (there is {known})")
    if number not in NUMBERS:
        raise ValueError(
            f"{where}: {{{placeholder}}} is no number known to physics; these are: "
            + ", ".join(sorted(NUMBERS))
        )
    if len(before) == 2 and NUMBERS[number].value is None:
        raise ValueError(f"{where}: {{{placeholder}}}: {number} is no quantity to divide")


def placeholders(text: str) -> set[str]:
    """Return the names in braces.

    Examples
    --------
    >>> sorted(placeholders("{ttft} after {alone.ttft}"))
    ['alone.ttft', 'ttft']
    """
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


class _File(_Strict):
    order: int
    title: Text
    about: Text
    steps: Annotated[tuple[Step, ...], Field(min_length=2)]


@dataclass(frozen=True)
class Story:
    """A story.

    Attributes
    ----------
    slug : str
        Its name in the URL: that of its file.
    order : int
        Its place in the list.
    title, about : Text
        The question it answers, and a sentence on what happens.
    steps : tuple of Step
    """

    slug: str
    order: int
    title: Text
    about: Text
    steps: tuple[Step, ...]


def read_story(path: Path) -> Story:
    """Read one file.

    Raises
    ------
    StoryError
        With the file, the place in it, and what is wrong.
    """
    try:
        given = yaml.safe_load(path.read_text(encoding="utf-8"))
        file = _File.model_validate(given)
    except yaml.YAMLError as error:
        raise StoryError(f"{path.name}: no valid YAML: {error}") from error
    except ValidationError as error:
        lines = [
            f"{path.name}: {_place(one['loc'])}: {one['msg'].removeprefix('Value error, ')}"
            for one in error.errors()
        ]
        raise StoryError("\n".join(lines)) from error
    return Story(path.stem, file.order, file.title, file.about, file.steps)


def _place(location: tuple[int | str, ...]) -> str:
    """Write where in a file, steps counted from one as in the URL."""
    return (
        " ".join(f"{part + 1}" if isinstance(part, int) else part for part in location)
        or "the file"
    )


@cache
def stories(folder: Path = FOLDER) -> Mapping[str, Story]:
    """Return all stories by slug, in their order.

    Raises
    ------
    StoryError
        When any file cannot be used: none is left out in silence.
    """
    found, wrong = [], []
    for path in sorted(folder.iterdir()):
        try:
            if path.suffix != ".yaml":
                raise StoryError(f"{path.name}: a story is a file that ends in .yaml")
            found.append(read_story(path))
        except StoryError as error:
            wrong.append(str(error))
    if wrong:
        raise StoryError("\n".join(wrong))
    return {story.slug: story for story in sorted(found, key=lambda one: (one.order, one.slug))}


def told_in(query: Mapping[str, str]) -> tuple[Story | None, int, list[Notice]]:
    """Return the story and the step (from one) that a query names, and what could not be used.

    Examples
    --------
    >>> story, step, notices = told_in({"story": "batching", "step": "99"})
    >>> story.slug, step == len(story.steps), notices[0].given
    ('batching', True, '99')
    """
    asked = query.get("story", "").strip()
    if not asked:
        return None, 1, []
    known, notices = stories(), []
    slug = asked.casefold()
    if slug not in known:
        alike = difflib.get_close_matches(shortened(slug), known, 1)
        notices.append(Notice("story", shortened(asked), alike[0] if alike else "–"))
        if not alike:
            return None, 1, notices
        slug = alike[0]
    story = known[slug]
    text = query.get("step", "").strip() or "1"
    last = len(story.steps)
    given = int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 1
    step = min(max(given, 1), last)
    if text != str(step):
        notices.append(Notice("step", shortened(text), str(step)))
    return story, step, notices


def check_pages(told: Iterable[Story], pages: Iterable[str]) -> None:
    """Hold the stories' pages against those that exist.

    Raises
    ------
    StoryError
        With every step that stands on a page which does not exist.
    """
    known = list(pages)
    wrong = [
        f"{story.slug}.yaml: steps {number} page: no page {step.page!r}; "
        f"pages are {', '.join(known)}"
        for story in told
        for number, step in enumerate(story.steps, 1)
        if step.page not in known
    ]
    if wrong:
        raise StoryError("\n".join(wrong))
