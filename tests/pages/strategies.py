"""Scenarios for property tests."""

from dataclasses import replace

from hypothesis import strategies as st

from pages.shared.scenario import PAGE_OPTIONS, Scenario
from physics.catalogue import models
from physics.chips import chips
from physics.options import OPTIONS, Choice


def within(name: str) -> st.SearchStrategy:
    option = (OPTIONS | PAGE_OPTIONS)[name]
    if option.whole:
        return st.integers(int(option.minimum), int(option.maximum))
    numbers = st.floats(option.minimum, option.maximum)
    return numbers if option.default is not None else st.none() | numbers


def one_of(name: str) -> st.SearchStrategy:
    return st.sampled_from((OPTIONS | PAGE_OPTIONS)[name].values)


def joinable(scenario: Scenario) -> Scenario:
    """Chips without a link stand alone."""
    return scenario if chips()[scenario.chip].link else replace(scenario, tp=1)


scenarios = st.builds(
    Scenario,
    model=st.sampled_from(list(models())),
    chip=st.sampled_from(list(chips())),
    versus=st.sampled_from(list(chips())),
    **{
        name: one_of(name) if isinstance(option, Choice) else within(name)
        for name, option in (OPTIONS | PAGE_OPTIONS).items()
    },
).map(joinable)
