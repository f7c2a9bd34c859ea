"""An option that is a list of names out of a known set, as it stands in a URL: 'a,b'."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from pages.shared.notices import shortened
from physics.errors import InputError, nearest_names

NOTHING = "none"
"""What an empty list is written as: an empty text stands for the default."""

MOST_PARTS = 50
"""A list has no more names than this; whatever follows is not read."""

ALIKE = 0.6
"""A name less alike than this to a known one is no slip of the pen."""


@dataclass(frozen=True)
class Names:
    """An option with some of a set of names, each once, in the order of the set.

    Attributes
    ----------
    name : str
    known : callable
        Returns the set; it is not asked for an empty list.
    default : tuple of str
    """

    name: str
    known: Callable[[], tuple[str, ...]]
    default: tuple[str, ...] = ()

    def parse(self, given: str | Iterable[str]) -> tuple[str, ...]:
        """Read a list in any case and order, or raise InputError that says what is allowed.

        Examples
        --------
        >>> fruit = Names("fruit", lambda: ("apple", "pear"))
        >>> fruit.parse("Pear,apple"), fruit.parse(["pear"]), fruit.parse("none")
        (('apple', 'pear'), ('pear',), ())
        """
        parts = _parts(given)
        if parts == [NOTHING] or not parts:
            return ()
        wrong = self.wrong(given)
        if wrong:
            raise InputError(self.name, f"must be some of {self.allowed()}, got {wrong}")
        return self._in_order(parts)

    def nearest(self, given: str | Iterable[str]) -> tuple[str, ...]:
        """Return what is known of a list, slips of the pen put right; else the default.

        Examples
        --------
        >>> fruit = Names("fruit", lambda: ("apple", "pear"), ("apple",))
        >>> fruit.nearest("pear,stone"), fruit.nearest("paer"), fruit.nearest("stone")
        (('pear',), ('pear',), ('apple',))
        """
        folded = {name.casefold(): name for name in self.known()}
        found = [_like(part, folded) for part in _parts(given)]
        return self._in_order(filter(None, found)) or self.default

    def wrong(self, given: str | Iterable[str]) -> str:
        """Return the names that are not known, as they were given."""
        folded = {name.casefold() for name in self.known()}
        return ",".join(part for part in _parts(given) if part.casefold() not in folded)

    def allowed(self) -> str:
        """List what is allowed."""
        return ", ".join(self.known())

    def _in_order(self, names: Iterable[str]) -> tuple[str, ...]:
        asked = {name.casefold() for name in names}
        return tuple(name for name in self.known() if name.casefold() in asked)


def list_text(names: Iterable[str]) -> str:
    """Write a list as it stands in a URL.

    Examples
    --------
    >>> list_text(["a", "b"]), list_text([])
    ('a,b', 'none')
    """
    return ",".join(names) or NOTHING


def _parts(given: str | Iterable[str]) -> list[str]:
    parts = given.split(",", MOST_PARTS) if isinstance(given, str) else map(str, given)
    stripped = [part.strip() for part in parts][:MOST_PARTS]
    return list(dict.fromkeys(part for part in stripped if part))


def _like(part: str, known: dict[str, str]) -> str | None:
    asked = shortened(part).casefold()
    best = nearest_names(asked, known, 1)[0]
    alike = difflib.SequenceMatcher(None, asked, best).ratio() >= ALIKE
    return known[best] if alike else None
