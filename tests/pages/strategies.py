"""Scenarios for property tests."""

from dataclasses import replace

from hypothesis import strategies as st

from pages.shared.scenario import PAGE_OPTIONS, Scenario
from physics.catalogue import models
from physics.chips import chips
from physics.options import FORMATS, OPTIONS


def within(name: str) -> st.SearchStrategy:
    option = (OPTIONS | PAGE_OPTIONS)[name]
    if option.whole:
        return st.integers(int(option.minimum), int(option.maximum))
    return st.none() | st.floats(option.minimum, option.maximum)


def joinable(scenario: Scenario) -> Scenario:
    """Chips without a link stand alone."""
    return scenario if chips()[scenario.chip].link else replace(scenario, tp=1)


scenarios = st.builds(
    Scenario,
    model=st.sampled_from(list(models())),
    chip=st.sampled_from(list(chips())),
    weights=st.sampled_from(OPTIONS["weights"].values),
    kv=st.sampled_from(FORMATS),
    efficiency=st.sampled_from(["ideal", "typical"]),
    versus=st.sampled_from(list(chips())),
    **{
        name: within(name)
        for name in ("prompt", "output", "batch", "tp", "bandwidth", "flops", "price")
    },
).map(joinable)
