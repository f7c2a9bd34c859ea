"""Points: a scenario whose numeric slider fields are arrays, so that a sweep is one call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pages.shared.scenario import Scenario, own_figures
from pages.shared.stops import SLIDERS
from physics.chips import chip

if TYPE_CHECKING:
    from physics.catalogue import Architecture

PICKED = (
    "model",
    "chip",
    "tp",
    "weights",
    "kv",
    "efficiency",
    "engine",
    "versus",
    "price",
)


@dataclass(frozen=True, eq=False)
class Points:
    """N scenarios that differ only in the slider fields, which are arrays of shape (N,).

    The fields and units are those of `Scenario`; bandwidth [GB/s] and flops [TFLOP/s] are always
    filled, from the chip where the scenario has none.
    """

    model: str
    chip: str
    prompt: np.ndarray
    output: np.ndarray
    batch: np.ndarray
    tp: int
    weights: str
    kv: str
    bandwidth: np.ndarray
    flops: np.ndarray
    efficiency: str
    engine: str
    versus: str
    price: float | None
    scenario: Scenario
    """The scenario at rest, with what no point changes."""

    def __len__(self) -> int:
        return len(self.prompt)

    def model_architecture(self) -> Architecture:
        """Return the architecture of the model, from the catalogue."""
        from physics import catalogue

        return catalogue.model(self.model)


def points_from(scenario: Scenario, arrays: Mapping[str, np.ndarray]) -> Points:
    """Return the scenario with some slider fields replaced by arrays of one length.

    Examples
    --------
    >>> points_from(Scenario(prompt=512), {"batch": np.array([1, 2])}).prompt
    array([512., 512.])
    """
    at_rest = own_figures(chip(scenario.chip))
    for name in SLIDERS:
        value = getattr(scenario, name)
        if value is not None:
            at_rest[name] = value
    shape = np.broadcast_shapes((1,), *(np.shape(array) for array in arrays.values()))
    columns = {
        name: np.array(np.broadcast_to(arrays.get(name, at_rest[name]), shape), dtype=float)
        for name in SLIDERS
    }
    picked = {name: getattr(scenario, name) for name in PICKED}
    return Points(**picked, **columns, scenario=scenario)
