"""Scenarios for property tests."""

from dataclasses import replace

from hypothesis import strategies as st

from pages.shared.name_lists import Names
from pages.shared.scenario import PAGE_OPTIONS, Scenario
from physics.catalogue import models
from physics.chips import chips
from physics.options import OPTIONS, Choice, Number


def within(name: str) -> st.SearchStrategy:
    option = (OPTIONS | PAGE_OPTIONS)[name]
    if option.whole:
        return st.integers(int(option.minimum), int(option.maximum))
    numbers = st.floats(option.minimum, option.maximum)
    return numbers if option.default is not None else st.none() | numbers


def one_of(name: str) -> st.SearchStrategy:
    return st.sampled_from((OPTIONS | PAGE_OPTIONS)[name].values)


def some_of(name: str) -> st.SearchStrategy:
    known = PAGE_OPTIONS[name].known()
    return st.sets(st.sampled_from(known)).map(tuple)


def drawn(name: str) -> st.SearchStrategy:
    kinds = {Choice: one_of, Names: some_of, Number: within}
    return kinds[type((OPTIONS | PAGE_OPTIONS)[name])](name)


def joinable(scenario: Scenario) -> Scenario:
    """Chips without a link stand alone."""
    return scenario if chips()[scenario.chip].link else replace(scenario, tp=1)


scenarios = st.builds(
    Scenario,
    model=st.sampled_from(list(models())),
    chip=st.sampled_from(list(chips())),
    versus=st.sampled_from(list(chips())),
    **{name: drawn(name) for name in OPTIONS | PAGE_OPTIONS},
).map(joinable)
