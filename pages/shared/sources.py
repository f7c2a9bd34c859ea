"""What a page rests on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Source:
    """A source that a page cites.

    Attributes
    ----------
    title : str
        As it is cited, in Markdown; names are not translated.
    url : str
    """

    title: str
    url: str
