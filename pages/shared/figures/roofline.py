"""The roofline: what a chip can do at an arithmetic intensity, and where the operators stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pages.shared import colours
from pages.shared.figures.base import (
    channels,
    columns_of,
    dots,
    half_decade_above,
    half_decade_below,
    labels,
    layout,
    line,
    log_axis,
)
from pages.shared.player.view import Figure, Same
from physics.machine import Machine
from physics.measured_kernels import DECODE, PREFILL, PRODUCT, Kernels
from physics.roofline import attainable_flop_per_second, ridge_flop_per_byte
from physics.step import Step

NAME = "roofline"
LOWEST, HIGHEST = 0.3, 3e4
"""The intensities shown [FLOP/B]."""
ROOM_RIGHT = 1000.0
"""The ridge up to which its label has room on the right."""

TERA = 1e12


@dataclass(frozen=True)
class Texts:
    """The words in the figure."""

    intensity_axis: str
    performance_axis: str
    prefill: str
    decode: str
    attention: str
    experts: str
    bandwidth_roof: str
    compute_roof: str
    ridge: str
    measured_key: str
    measured: dict[str, str]


_HOVER = "<br>%{x:.4~s} FLOP/byte<br>%{y:.4~s} TFLOP/s<extra></extra>"


MEASURED_SYMBOLS = {
    PRODUCT: f"{colours.WEIGHTS.marker}-open",
    DECODE: f"{colours.DECODE.marker}-open",
    PREFILL: f"{colours.PREFILL.marker}-open",
}
KEY_LINES = 10.0 ** np.arange(1.45, 0.4, -0.3)
"""Heights of the lines of the key to them, over the floor of the figure."""


def skeleton(texts: Texts, separators: str, measured: Sequence[Kernels] = ()) -> Figure:
    """Return the figure without numbers; the y axis' range comes with them.

    `measured` are the kernels that get their own marks.
    """
    prefill, decode = colours.PREFILL, colours.DECODE
    edge = {"line": {"color": colours.PAPER, "width": 1.5}}
    operator_hover = "%{customdata}" + _HOVER
    data = [
        line(texts.bandwidth_roof, colours.BANDWIDTH_ROOF.line(3)),
        line(texts.compute_roof, colours.COMPUTE_ROOF.line(3)),
        line(texts.ridge, {"color": colours.INK, "dash": "dot", "width": 1}),
        dots(texts.prefill, {**prefill.point(8), "opacity": 0.55}, hovertemplate=operator_hover),
        dots(texts.decode, {**decode.point(8), "opacity": 0.55}, hovertemplate=operator_hover),
        dots(texts.prefill, {**prefill.point(17), **edge}, hovertemplate=texts.prefill + _HOVER),
        dots(texts.decode, {**decode.point(17), **edge}, hovertemplate=texts.decode + _HOVER),
        labels(texts.bandwidth_roof, colours.INK, "middle right"),
        labels(texts.compute_roof, colours.INK, "top left"),
        labels(texts.ridge, colours.INK, "top right"),
        labels(texts.ridge, colours.INK, "top left"),
        labels(texts.attention, colours.INK, "bottom right"),
        labels(texts.prefill, colours.INK, "top center"),
        *(
            dots(
                texts.measured[one.operation],
                {
                    "color": colours.INK,
                    "symbol": MEASURED_SYMBOLS[one.operation],
                    "size": 6,
                    "opacity": 0.6,
                    "line": {"width": 1},
                },
                hovertemplate=f"{texts.measured[one.operation]}: %{{customdata}}{_HOVER}",
            )
            for one in measured
        ),
        *([_key(texts, measured)] if measured else ()),
    ]
    axis = log_axis(texts.performance_axis, 0.1, 1e4)
    return Figure(
        NAME,
        {
            "data": data,
            "layout": layout(
                log_axis(texts.intensity_axis, LOWEST, HIGHEST), axis, separators=separators
            ),
        },
        height=430,
        share=1.9,
    )


def columns(
    machine: Machine,
    chip_bandwidth: float,
    chip_peak: float,
    prefill: Step,
    decode: Step,
    texts: Texts,
    roof_texts: list[str],
    bandwidth_texts: list[str],
    ridge_texts: list[str],
    operator_names: tuple[list[str], list[str]],
    fits: np.ndarray,
    measured: Sequence[tuple[Kernels, list[str]]] = (),
) -> dict[str, Any]:
    """Return the numbers of the roofline for every point.

    Performance is that of one chip [TFLOP/s]. `operator_names` are those of prefill and of decode;
    `measured` are kernels, with a name for each of their sizes.
    """
    bandwidth, peak = np.asarray(machine.bandwidth), np.asarray(machine.peak)
    ridge = ridge_flop_per_byte(peak, bandwidth)

    def roof(intensity: float) -> np.ndarray:
        return attainable_flop_per_second(intensity, peak, bandwidth) / TERA

    # The axis stands still while the roof moves, unless the roof would leave it.
    lowest = attainable_flop_per_second(LOWEST, chip_peak, np.minimum(bandwidth, chip_bandwidth))
    floor = 10.0 ** half_decade_below(lowest / TERA / 1.5)
    ceiling = 10.0 ** half_decade_above(np.maximum(peak, chip_peak) / TERA * 1.8)
    # The bandwidth's name stands under the slope, two thirds of the way up.
    under = LOWEST ** (1 / 3) * ridge ** (2 / 3)
    traces = [
        {"x": columns_of(LOWEST, ridge), "y": columns_of(roof(LOWEST), roof(ridge))},
        {"x": columns_of(ridge, HIGHEST), "y": columns_of(roof(ridge), roof(HIGHEST))},
        {"x": columns_of(ridge, ridge), "y": columns_of(floor, roof(ridge))},
        {**_operators(prefill), "customdata": Same(operator_names[0])},
        {**_operators(decode), "customdata": Same(operator_names[1])},
        _whole(prefill),
        _whole(decode),
        {
            "x": columns_of(under * 1.25),
            "y": columns_of(roof(under) * 0.8),
            "text": [[t] for t in bandwidth_texts],
        },
        {
            "x": columns_of(np.full_like(ridge, HIGHEST / 1.1)),
            "y": columns_of(roof(HIGHEST) * 1.04),
            "text": [[t] for t in roof_texts],
        },
        *(
            {
                "x": columns_of(np.where(here_too, ridge * shift, np.nan)),
                "y": columns_of(floor * 1.08),
                "text": [[t] for t in ridge_texts],
            }
            # Right of the ridge, but left of it where it stands far right.
            for here_too, shift in ((ridge < ROOM_RIGHT, 1.05), (ridge >= ROOM_RIGHT, 0.95))
        ),
        _operator_labels(texts, prefill, decode),
        {**_phase_labels(prefill, decode), "text": [[texts.prefill, texts.decode]] * len(ridge)},
    ]
    # A performance is a time in disguise: what does not fit has none.
    for trace in traces[3:7] + traces[-2:]:
        trace["y"] = np.where(fits[:, None], trace["y"], np.nan)
    traces += [_measured(one, names) for one, names in measured]
    if measured:
        lines = KEY_LINES[: len(measured) + 1]
        traces.append({"x": Same([HIGHEST / 1.3] * len(lines)), "y": floor[:, None] * lines})
    return channels(NAME, traces) | {
        f"l/{NAME}/yaxis.range": columns_of(np.log10(floor), np.log10(ceiling)),
    }


def _measured(kernels: Kernels, names: list[str]) -> dict[str, Any]:
    """Return the marks of measured kernels, one for each doubling: more would hide what moves."""
    shown = np.flatnonzero(np.log2(kernels.rows) % 1 == 0)
    return {
        "x": Same(kernels.intensity[shown]),
        "y": Same(kernels.performance[shown] / TERA),
        "customdata": Same([names[at] for at in shown]),
    }


def _key(texts: Texts, measured: Sequence[Kernels]) -> dict[str, Any]:
    """Return the key to the measured marks, which stands where nothing else does."""
    names = [texts.measured_key, *(f"{texts.measured[one.operation]}\u00a0" for one in measured)]
    symbols = [MEASURED_SYMBOLS[one.operation] for one in measured]
    return {
        **labels(texts.measured_key, colours.INK, "middle left"),
        "mode": "markers+text",
        "text": names,
        "marker": {
            "color": colours.INK,
            # The first line is a heading: its mark is drawn with no size.
            "symbol": [symbols[0], *symbols],
            "size": [0, *(7 for _ in symbols)],
            "opacity": [0, *(0.75 for _ in symbols)],
            "line": {"width": 1},
        },
    }


def _operators(step: Step) -> dict[str, np.ndarray]:
    return {
        "x": step.intensity_by_operator[step.computes].T,
        "y": step.performance_by_operator[step.computes].T / TERA,
    }


def _whole(step: Step) -> dict[str, np.ndarray]:
    return {"x": columns_of(step.intensity), "y": columns_of(step.performance / TERA)}


def _operator_labels(texts: Texts, *steps: Step) -> dict[str, Any]:
    """Name attention and, where there are any, the experts, right and below of their dots.

    Left of its whole step attention is named on the other side: under the roof there stand the
    measured kernels.
    """
    intensity, performance, names, above = [], [], [], []
    for step in steps:
        for prefix, text in (("attention", texts.attention), ("experts_up", texts.experts)):
            found = [at for at, name in enumerate(step.names) if name.startswith(prefix)]
            if found:
                own = step.intensity_by_operator[found[0]]
                intensity.append(own)
                performance.append(step.performance_by_operator[found[0]])
                names.append(text)
                above.append((prefix == "attention") & (step is steps[0]) & (own < step.intensity))
    up = columns_of(*above).astype(bool)
    return {
        "x": columns_of(*intensity) * np.where(up, 1 / 1.06, 1.06),
        "y": columns_of(*performance) / TERA * np.where(up, 1.05, 0.9),
        "text": [names] * len(up),
        "textposition": np.where(up, "top left", "bottom right").tolist(),
    }


def _phase_labels(*steps: Step) -> dict[str, np.ndarray]:
    """Place the name of each phase above the dot of its whole step."""
    intensity = columns_of(*(step.intensity for step in steps))
    performance = columns_of(*(step.performance for step in steps))
    return {"x": intensity, "y": performance / TERA * 1.35}
