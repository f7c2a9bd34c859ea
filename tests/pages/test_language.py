"""The catalogues: the same keys and placeholders in both, none unused, none missing."""

import ast
import re
import string
from pathlib import Path

import pytest

from pages.shared import language
from pages.shared.language import LANGUAGES, TEXTS, language_code, messages, texts, words
from pages.shared.player.view import View

HOUSE = Path(__file__).parents[2]
SOURCES = [HOUSE / "app.py", *sorted((HOUSE / "pages").rglob("*.py"))]
WORDS_NAMES = {"words", "language", "plural"}
KEY = re.compile(r"[a-z][a-z0-9-]*\.[a-z0-9_.-]+")


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def calls_and_literals() -> tuple[set[str], list[re.Pattern], set[str]]:
    """Return the keys asked for, patterns of the keys put together, and every text in the code."""
    asked, patterns, literals = set(), [], set()
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                literals.add(node.value)
            if isinstance(node, ast.JoinedStr):
                parts = [
                    re.escape(part.value) if isinstance(part, ast.Constant) else "[^.]+"
                    for part in node.values
                ]
                if any("." in part for part in parts if part != "[^.]+"):
                    patterns.append(re.compile("".join(parts)))
            if isinstance(node, ast.Call) and node.args:
                function = node.func
                name = getattr(function, "attr", None) or getattr(function, "id", None)
                first = node.args[0]
                key = getattr(first, "value", None)
                if name in WORDS_NAMES and isinstance(key, str) and KEY.fullmatch(key):
                    asked.add(key)
    return asked, patterns, literals


@pytest.mark.parametrize("code", LANGUAGES)
def test_same_keys(code):
    assert set(texts(code)) == set(texts("en"))


@pytest.mark.parametrize("path", sorted((TEXTS / "en").glob("*.po")), ids=lambda path: path.stem)
def test_same_files_and_order(path):
    def keys(code: str) -> list:
        return [message.id for message in messages(TEXTS / code / path.name)]

    assert keys("it") == keys("en")


@pytest.mark.parametrize("key", sorted(texts("en")))
def test_same_placeholders_and_no_empty_text(key):
    english, italian = texts("en")[key], texts("it").get(key, ())
    assert all(text.strip() for text in (*english, *italian))
    assert {frozenset(placeholders(text)) for text in italian} == {
        frozenset(placeholders(text)) for text in english
    }


ARTICLE = re.compile(
    r"\b(?:il|lo|i|gli|(?:de|a|da|ne|su)(?:l|llo|i|gli)|coi|col)\s(?:<b>|\*\*)?\{(\w+)\}"
    r"|\w’(?:<b>)?\{(\w+)\}",
    re.IGNORECASE,
)


@pytest.mark.parametrize("key", sorted(texts("it")))
def test_no_italian_article_stands_before_a_number(key):
    """It would depend on the number: il 10%, l’8%, lo 0,1%; i 16, gli 11."""
    assert [match.group() for text in texts("it")[key] for match in ARTICLE.finditer(text)] == []


@pytest.mark.parametrize(
    ("text", "found"),
    [("il {share}", 1), ("degli <b>{memory}</b>", 1), ("l’{x}", 1), ("le {n}", 0), ("di {n}", 0)],
)
def test_articles_before_numbers_are_found(text, found):
    assert len(ARTICLE.findall(text)) == found


def test_no_key_is_missing():
    asked, _, _ = calls_and_literals()
    assert asked - set(texts("en")) == set()


def test_no_key_is_unused():
    asked, patterns, literals = calls_and_literals()
    unused = {
        key
        for key in texts("en")
        if key not in asked | literals and not any(pattern.fullmatch(key) for pattern in patterns)
    }
    assert unused == set()


def test_missing_key_raises_in_tests_and_shows_english_at_run_time(monkeypatch):
    with pytest.raises(language.MissingText, match="no\\.such"):
        words("it")("no.such")
    monkeypatch.setattr(language, "strict", False)
    italian = language.Words("it")
    monkeypatch.setattr(italian, "_texts", {})
    assert italian("unit.tokens_per_second") == "tokens/s"
    assert italian("no.such") == "no.such"


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        (["it"], "it"),
        (["IT-ch"], "it"),
        ([None, "it_IT"], "it"),
        (["", "en-GB"], "en"),
        (["fr", "it"], "it"),
        (["💥", None], "en"),
        ([], "en"),
    ],
)
def test_language_chosen(asked, code):
    assert language_code(asked) == code


def test_plural_and_separators():
    assert words("en").plural("unit.sequences", 1) == "sequence"
    assert words("it").plural("unit.sequences", 2) == "sequenze"
    assert (words("en").separators, words("it").separators) == (".,", ",.")


def test_every_page_has_its_frame_texts():
    from pages.menu import VIEWS

    for view in VIEWS:
        view: View
        for part in ("nav", "title", "do"):
            assert f"{view.name}.{part}" in texts("en")
