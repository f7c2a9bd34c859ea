"""A scenario in words: what its options are called, their values, and where two differ."""

from __future__ import annotations

from pages.shared import numbers
from pages.shared.controls import engine_text, weights_text
from pages.shared.language import Words
from pages.shared.points import PICKED
from pages.shared.scenario import Scenario, own_figures
from pages.shared.stops import SLIDERS, stop_texts
from physics.catalogue import models
from physics.chips import chip


def option_label(name: str, words: Words) -> str:
    """Return what an option is called on the screen.

    Examples
    --------
    >>> option_label("bandwidth", Words("it")), option_label("chip", Words("en"))
    ('Banda memoria', 'Chip')
    """
    return words(f"slider.{name}") if name in SLIDERS else words(f"controls.{name}")


def option_text(name: str, scenario: Scenario, words: Words) -> str:
    """Return the value of an option as it is shown.

    Examples
    --------
    >>> option_text("prompt", Scenario(), Words("en")), option_text("chip", Scenario(), Words("en"))
    ('2,048\\xa0tokens', 'H100 SXM 80GB')
    """
    value = getattr(scenario, name)
    if name in SLIDERS:
        shown = own_figures(chip(scenario.chip))[name] if value is None else value
        return stop_texts(name, [shown], words)[0]
    if name == "model":
        return models()[value].name
    if name in ("chip", "versus"):
        return chip(value).name
    if name == "tp":
        return numbers.chip_count(value, words)
    if name == "price":
        return numbers.dollars(value, words)
    if name == "efficiency":
        return words(f"controls.{value}")
    if name == "engine":
        return engine_text(value, words)
    return weights_text(value, scenario, words) if name == "weights" else value


def differing(one: Scenario, other: Scenario) -> list[str]:
    """Return the options in which two scenarios differ, as they are seen.

    A chip's own bandwidth and peak go with the chip, and an engine only runs a typical machine.
    What only a server under load has is left out.

    Examples
    --------
    >>> differing(Scenario(), Scenario(batch=8, chip="h200-sxm", engine="sglang"))
    ['chip', 'batch']
    """
    options = (*PICKED[:2], *SLIDERS, *PICKED[2:])
    found = [name for name in options if getattr(one, name) != getattr(other, name)]
    if one.efficiency == other.efficiency == "ideal":
        found = [name for name in found if name != "engine"]
    return found


def moves(before: Scenario, after: Scenario, words: Words) -> str:
    """Say which options differ, and how: 'Batch 1 → 2'.

    Examples
    --------
    >>> moves(Scenario(batch=32), Scenario(batch=64), Words("en"))
    'Batch 32 → 64\\xa0sequences'
    """
    return ", ".join(
        f"{option_label(name, words)} "
        + arrow(option_text(name, before, words), option_text(name, after, words))
        for name in differing(before, after)
    )


def arrow(before: str, after: str) -> str:
    """Join two values, with their unit once where it is the same."""
    unit = numbers.SPACE + after.rpartition(numbers.SPACE)[2]
    return f"{before.removesuffix(unit)} → {after}"
