"""Errors that tell the person what was wrong and what is allowed."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class InputError(ValueError):
    """A value from outside (option, URL, file) that cannot be used.

    Parameters
    ----------
    name : str
        What was wrong: an option, a URL parameter, a field of a file.
    problem : str
        Why, and what is allowed, in one sentence.

    Examples
    --------
    >>> str(InputError("batch", "must be at least 1, got 0"))
    'batch: must be at least 1, got 0'
    """

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(f"{name}: {problem}")
        self.name = name
        self.problem = problem


class UnknownName(InputError):
    """A name that is not in a catalogue, with the nearest ones that are."""

    def __init__(self, name: str, value: str, known: Iterable[str]) -> None:
        self.nearest = nearest_names(value, known)
        super().__init__(name, f"unknown {value!r}; nearest: {', '.join(self.nearest)}")


def nearest_names(value: str, known: Iterable[str], count: int = 3) -> list[str]:
    """Return up to `count` known names that look most like `value`, best first.

    Examples
    --------
    >>> nearest_names("lama-3.1-8b", ["llama-3.1-8b", "qwen3-8b"], count=1)
    ['llama-3.1-8b']
    """
    names = list(known)
    folded = value.casefold()
    found = difflib.get_close_matches(folded, names, n=count, cutoff=0.3)
    return found or names[:count]
