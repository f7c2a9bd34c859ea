"""What a question is, whichever page asks it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from pages.shared.language import Words
from pages.shared.scenario import Scenario

Values = Mapping[str, str]
Answered = tuple[str, Values] | None
"""Which choice is right, and the numbers that texts show; None: nothing can be asked here."""


@dataclass(frozen=True)
class Question:
    """The question of a page.

    Attributes
    ----------
    choices : tuple of str
        Names of what can be answered, in the order in which they stand.
    answer : callable
        ``answer(scenario, words)`` gives the right one and the values of the texts.
    """

    choices: tuple[str, ...]
    answer: Callable[[Scenario, Words], Answered]


def binned(value: float, bounds: tuple[float, ...], choices: tuple[str, ...]) -> str:
    """Return the choice of the bin between ascending bounds in which a value lies.

    Examples
    --------
    >>> binned(0.03, (0.01, 0.1), ("low", "middle", "high"))
    'middle'
    """
    return choices[int(np.searchsorted(bounds, value, side="right"))]
