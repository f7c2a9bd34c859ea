"""Points: a scenario whose numeric slider fields are arrays, so that a sweep is one call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pages.shared.scenario import Scenario, custom_chip, own_figures
from pages.shared.stops import SLIDERS, Stops
from physics.chips import Chip, chip

if TYPE_CHECKING:
    from physics.catalogue import Architecture

PICKED = ("model", "chip", "tp", "weights", "kv", "efficiency")


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

    def __len__(self) -> int:
        return len(self.prompt)

    def scenario_chip(self) -> Chip:
        """Return the chip, its bandwidth and peaks as arrays of shape (N,)."""
        return custom_chip(self.chip, self.bandwidth, self.flops)

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
    return Points(**{name: getattr(scenario, name) for name in PICKED}, **columns)


def points_for(
    scenario: Scenario, stops_by_name: Mapping[str, Stops]
) -> tuple[Points, dict[str, slice]]:
    """Lay the stops of all sliders after one another, each with the other fields at rest.

    Returns
    -------
    Points, dict[str, slice]
        The points, and for each slider where its stops are.

    Examples
    --------
    >>> from pages.shared.language import Words
    >>> from pages.shared.stops import slider_stops
    >>> stops = {"batch": slider_stops("batch", Scenario(), Words("en"))}
    >>> points, slices = points_for(Scenario(prompt=512), stops)
    >>> points.batch[slices["batch"]][:4], points.prompt[:2]
    (array([1., 2., 3., 4.]), array([512., 512.]))
    """
    slices: dict[str, slice] = {}
    start = 0
    for name, stops in stops_by_name.items():
        slices[name] = slice(start, start + len(stops.values))
        start = slices[name].stop
    arrays = {}
    for name, stops in stops_by_name.items():
        arrays[name] = np.full(start, float(stops.values[stops.index]))
        arrays[name][slices[name]] = stops.values
    return points_from(scenario, arrays), slices
