"""Which modules of a model a quantiser left alone, from the patterns in its file."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from itertools import combinations
from typing import Any

LONGEST_PATTERN = 200
MOST_WILD_PATTERNS = 500

_FIELDS = (
    "modules_to_not_convert",
    "ignored_layers",
    "ignore",
    "exclude_modules",
    "modules_to_not_quantize",
    "llm_int8_skip_modules",
)


class LeftAlone:
    """The patterns of a file, ready to be asked for a module's name.

    A plain name stands for itself and all below it; shell signs and `re:` are understood, but for
    regular expressions that could take for ever.

    Examples
    --------
    >>> left = LeftAlone({"ignore": ["lm_head", "re:.*self_attn.*"]})
    >>> left.has("lm_head"), left.has("model.layers.3.self_attn.q_proj"), left.has("model.mlp")
    (True, True, False)
    """

    def __init__(self, given: dict[str, Any]) -> None:
        self.not_understood: list[str] = []
        self._plain: set[str] = set()
        self._wild: list[str] = []
        self._expressions: list[re.Pattern[str]] = []
        for field in _FIELDS:
            value = given.get(field)
            for item in value if isinstance(value, list) else ():
                self._take(str(item))

    def __bool__(self) -> bool:
        return bool(self._plain or self._wild or self._expressions)

    def has(self, module: str) -> bool:
        """Return whether a module is left alone."""
        return (
            not self._plain.isdisjoint(_runs(module))
            or any(
                fnmatchcase(module, wild) or fnmatchcase(module, wild + ".*") for wild in self._wild
            )
            or any(expression.match(module) for expression in self._expressions)
        )

    def _take(self, pattern: str) -> None:
        wild = len(self._wild) + len(self._expressions)
        if pattern.startswith("re:"):
            expression = _expression(pattern[3:]) if wild < MOST_WILD_PATTERNS else None
            if expression is None:
                self.not_understood.append(pattern[:40])
            else:
                self._expressions.append(expression)
        elif any(sign in pattern for sign in "*?["):
            if (
                len(pattern) > LONGEST_PATTERN
                or pattern.count("*") > 6
                or wild >= MOST_WILD_PATTERNS
            ):
                self.not_understood.append(pattern[:40])
            else:
                self._wild.append(pattern)
        else:
            self._plain.add(pattern)


def _expression(text: str) -> re.Pattern[str] | None:
    """Compile a regular expression whose matching cannot blow up: no repeated groups, few stars."""
    if len(text) > LONGEST_PATTERN or re.search(r"\)\s*[*+{?]", text):
        return None
    if len(re.findall(r"[*+{]", text)) > 4:
        return None
    try:
        return re.compile(text)
    except re.error:
        return None


def _runs(module: str) -> Iterable[str]:
    """Yield all runs of neighbouring parts of a dotted name."""
    parts = module.split(".")
    for start, end in combinations(range(len(parts) + 1), 2):
        yield ".".join(parts[start:end])
