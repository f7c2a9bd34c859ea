"""The evidence in words: what is chosen, and what a choice is called."""

from __future__ import annotations

from pages.shared.controls import engine_text
from pages.shared.language import Words
from pages.shared.scenario import Scenario
from physics.catalogue import models
from physics.chips import chips
from physics.evidence import FILTERS, Selection
from physics.measurement_sources import measurement_sources


def selection_of(scenario: Scenario) -> Selection:
    """Return which measurements a scenario asks for.

    Examples
    --------
    >>> selection_of(Scenario(metric="ttft", measured_chip=("h200-sxm",))).chip
    ('h200-sxm',)
    """
    return Selection(
        metric=scenario.metric,
        prediction=scenario.prediction,
        shares=scenario.measured,
        **{name: getattr(scenario, f"measured_{name}") for name in FILTERS},
    )


def filter_text(field: str, name: str, words: Words) -> str:
    """Return what a value of a filter is called.

    Examples
    --------
    >>> filter_text("chip", "h200-sxm", Words("en")), filter_text("engine", "vllm", Words("en"))
    ('H200 SXM', 'vLLM')
    """
    if field == "engine":
        return engine_text(name, words)
    if field == "source":
        return measurement_sources()[name].title
    return (models() if field == "model" else chips())[name].name
