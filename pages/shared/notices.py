"""Notices: what was given and could not be used, and what is used in its place."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pages.shared.language import Words

SHOWN_CHARACTERS = 40
UNSET = "–"
"""What is used in place of a value whose default is that none is given."""


@dataclass(frozen=True)
class Notice:
    """One thing in a link that could not be used as it stood.

    Attributes
    ----------
    name : str
        The parameter, as in the URL.
    given : str
        What was given, shortened and without control characters.
    used : str or None
        What is used in its place, as it would stand in the URL. None: the parameter is unknown
        and is left out; UNSET: it is known, and nothing can be used in its place.
    allowed : str
        What may be given, where a list of it helps.
    """

    name: str
    given: str
    used: str | None
    allowed: str = field(default="", repr=False)


def shortened(text: str, length: int = SHOWN_CHARACTERS) -> str:
    """Return `text` fit to be shown: printable, on one line, at most `length` characters.

    Examples
    --------
    >>> shortened("lama\\n3", 5)
    'lama…'
    """
    head = "".join(sign if sign.isprintable() else " " for sign in text[: length + 1])
    return head if len(head) <= length else head[: length - 1] + "…"


def notice_text(notice: Notice, words: Words) -> str:
    """Say a notice in a sentence, in the language of `words`.

    Examples
    --------
    >>> from pages.shared.language import Words
    >>> notice_text(Notice("batch", "0", "1"), Words("en"))
    'The link asks for batch = “0”, which cannot be used. Using 1 instead.'
    """
    if notice.used is None:
        return words("notice.unknown", name=notice.name)
    said = (
        words("notice.unset", name=notice.name, given=notice.given)
        if notice.used == UNSET
        else words("notice.value", name=notice.name, given=notice.given, used=notice.used)
    )
    return f"{said} {words('notice.allowed', names=notice.allowed)}" if notice.allowed else said
