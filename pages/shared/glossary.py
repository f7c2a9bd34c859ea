"""The terms of the field: what they mean, in which texts they stand, and what the browser shows.

A term has its own texts in the catalogue `glossary`: its name, its meaning, and the forms in which
it stands in a text. On which pages it is used follows from the pages' texts and is written down
nowhere.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pages.shared.language import Words, texts

TABLE = Path(__file__).resolve().parent.parent.parent / "assets" / "glossary.csv"

PAGE = "glossary"
"""The page that holds the entries, and the prefix of their texts."""

SHARED = ("bound_by", "pace", "part", "operator")
"""Prefixes of texts that stand within those of several pages."""


@dataclass(frozen=True)
class Term:
    """A term of the glossary.

    Attributes
    ----------
    slug : str
        Its anchor.
    group : str
        Under which heading it stands.
    symbol, unit : str
        As they stand in formulas; empty where there is none.
    also : tuple of str
        Pages on which it stands in what is put into their texts, and so in none of them.
    """

    slug: str
    group: str
    symbol: str
    unit: str
    also: tuple[str, ...] = ()


@cache
def terms() -> tuple[Term, ...]:
    """Return all terms, in the order of the glossary."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return tuple(
            Term(row["term"], row["group"], row["symbol"], row["unit"], tuple(row["also"].split()))
            for row in csv.DictReader(file)
        )


def forms(slug: str, words: Words) -> list[str]:
    """Return how a term stands in texts.

    Examples
    --------
    >>> forms("ridge", Words("en"))
    ['ridge point', 'ridge']
    """
    return words(f"glossary.{slug}.forms").split("|")


def found(text: str, words: Words) -> set[str]:
    """Return the terms that stand in a text, by slug. The longest form counts.

    Examples
    --------
    >>> sorted(found("Left of the ridge, chunked prefill is {prefill}.", Words("en")))
    ['chunked-prefill', 'ridge']
    """
    pattern, slugs = _pattern(words.code)
    plain = re.sub(r"<[^>]*>|\{[^}]*\}", "\n", text)
    return {
        slugs[match[0].casefold()]
        for match in pattern.finditer(plain)
        if _is_same(match[0], slugs, words.code)
    }


def pages_of(slug: str, pages: Iterable[str], words: Words) -> list[str]:
    """Return the pages, of those given, in whose texts a term stands."""
    return [page for page in pages if page != PAGE and slug in _used_on(page, words.code)]


def for_browser(page: str, words: Words) -> dict[str, object]:
    """Return what the browser needs to explain the terms in a page's text."""
    used = _used_on(page, words.code).union(*(_used_on(prefix, words.code) for prefix in SHARED))
    return {
        "page": PAGE,
        "more": words("glossary.more"),
        "list": [
            {
                "slug": term.slug,
                "name": words(f"glossary.{term.slug}.name"),
                "text": words(f"glossary.{term.slug}.text"),
                "forms": forms(term.slug, words),
            }
            for term in terms()
            if term.slug in used
        ],
    }


@cache
def _used_on(page: str, code: str) -> frozenset[str]:
    own = [text for key, (text, *_) in texts(code).items() if key.partition(".")[0] == page]
    also = {term.slug for term in terms() if page in term.also}
    return frozenset(found("\n".join(own), Words(code)) | also)


@cache
def _pattern(code: str) -> tuple[re.Pattern, dict[str, str]]:
    words = Words(code)
    slugs = {form.casefold(): term.slug for term in terms() for form in forms(term.slug, words)}
    longest_first = sorted(slugs, key=len, reverse=True)
    # As in terms.js: neither within a word nor within a unit such as FLOP/s.
    return (
        re.compile(
            rf"(?<![\w/-])(?:{'|'.join(map(re.escape, longest_first))})(?![\w/-])", re.IGNORECASE
        ),
        slugs,
    )


def _is_same(text: str, slugs: dict[str, str], code: str) -> bool:
    """Say whether a form may stand so: an abbreviation only in its own capitals."""
    own = next(
        form
        for form in forms(slugs[text.casefold()], Words(code))
        if form.casefold() == text.casefold()
    )
    return own == text or own[1:] == own[1:].lower()
