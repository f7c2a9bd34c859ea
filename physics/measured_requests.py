"""Measured requests: TTFT and TPOT of whole servers, each beside what physics says of it.

Rows of `assets/measurements/requests.csv`; the sources are in `sources.csv` beside it. Taken from
them is what the catalogues can describe: a known model on a known chip, one replica, tensor
parallel, no attention data parallelism, batch or concurrency stated. TTFT under concurrency is kept
up to 4 requests, as beyond it is mostly queueing.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from physics.architecture import Architecture
from physics.catalogue import model
from physics.chips import chip
from physics.concurrency import concurrent
from physics.efficiency import IDEAL, Efficiency
from physics.formats import PUBLISHED
from physics.machine import Machine, machine, side_by_side
from physics.measurement_sources import MEASUREMENTS
from physics.memory import bytes_short
from physics.typical import engines, kernels, typical

DOUBTS = ("contradicted", "unstated", "queue", "invalid", "outlier", "memory", "load", "bound")
"""Why a measurement counts in no fit and no error.

contradicted: another run of the same configuration differs by more than 25 %, so an option is not
stated (the benchmark runs some configurations with multi-token prediction, too); unstated: the
run's name lacks its concurrency; queue: a TTFT of more than 5 s; invalid, outlier: the collector's
own remark. Worked out here: memory: weights and KV cache do not fit at the concurrency stated, so
fewer requests ran; load: the load stated needs more arithmetic than the chip's kernels deliver, so
prompts were cached or fewer requests ran; bound: faster than the data sheet allows even if all
overlapped.
"""


@dataclass(frozen=True)
class Measured:
    """One row: a configuration, its load and a measured time.

    Attributes
    ----------
    load : str
        'concurrent': `batch` requests in flight under continuous batching; 'together': one batch
        that starts together.
    metric : str
        'ttft' or 'tpot'.
    seconds : float
        The measured mean (or median, see the source) [s].
    doubt : str
        One of `DOUBTS`, or ''.
    """

    source: str
    model: str
    chip: str
    tp: int
    weights: str
    kv: str
    engine: str
    version: str
    prompt: int
    output: int
    batch: int
    load: str
    metric: str
    seconds: float
    doubt: str

    @property
    def configuration(self) -> tuple[str, str, int]:
        """Model, format of the weights, chips: what is fitted or unseen as a whole."""
        return self.model, self.weights, self.tp


Rows = Sequence[Measured]


@cache
def measured_requests() -> tuple[Measured, ...]:
    """Return all rows, in the order of the file, with the doubts worked out.

    Examples
    --------
    >>> {row.metric for row in measured_requests()} == {"ttft", "tpot"}
    True
    """
    whole = ("tp", "prompt", "output", "batch")
    with (MEASUREMENTS / "requests.csv").open(newline="", encoding="utf-8") as file:
        rows = [
            Measured(
                **{
                    name: int(text) if name in whole else text
                    for name, text in row.items()
                    if name != "seconds"
                },
                seconds=float(row["seconds"]),
            )
            for row in csv.DictReader(file)
        ]
    return tuple(_with_doubts(rows))


@cache
def measured_names(column: str) -> tuple[str, ...]:
    """Return the values that a column of text has, sorted; no prediction is made for it.

    Examples
    --------
    >>> measured_names("metric")
    ('tpot', 'ttft')
    """
    with (MEASUREMENTS / "requests.csv").open(newline="", encoding="utf-8") as file:
        return tuple(sorted({row[column] for row in csv.DictReader(file)}))


def predicted_seconds(rows: Rows, efficiency: str = "typical") -> NDArray[np.float64]:
    """Return what physics says of each row [s].

    Parameters
    ----------
    rows : sequence of Measured
    efficiency : {'typical', 'ideal', 'bound'}
        'typical': each row's chip and engine. 'ideal': the data sheet, operator after operator.
        'bound': what nothing can beat, all operators overlapping perfectly.

    Returns
    -------
    ndarray, shape (len(rows),)
    """
    return by_model(
        rows,
        partial(_seconds, bound=efficiency == "bound"),
        typical_efficiency if efficiency == "typical" else lambda row: IDEAL,
    )


def typical_efficiency(row: Measured) -> Efficiency:
    """Return the typical efficiency of a row's chip and engine ('other' for one not fitted)."""
    engine = row.engine if row.engine in engines() else "other"
    weights = row.weights
    if weights == PUBLISHED:
        weights = model(row.model).quantisation.arithmetic
    return typical(chip(row.chip), engine, weights)


def by_model(
    rows: Rows,
    compute: Callable[[Architecture, Machine, list[Measured]], NDArray],
    efficiency: Callable[[Measured], Efficiency] = lambda row: IDEAL,
) -> NDArray[np.float64]:
    """Compute something of all rows, in one pass for each model.

    Parameters
    ----------
    rows : sequence of Measured
    compute : callable
        ``compute(architecture, machines, group)`` gives an array whose last axis runs over the
        group's rows; the machines' figures are arrays over them too.
    efficiency : callable
        The efficiency of a row's machine.
    """
    groups: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        groups.setdefault(row.model, []).append(place)
    result: NDArray | None = None
    for slug, places in groups.items():
        architecture, group = model(slug), [rows[place] for place in places]
        machines = side_by_side(
            [
                machine(
                    chip(row.chip),
                    weights=row.weights,
                    architecture=architecture,
                    tp=row.tp,
                    efficiency=efficiency(row),
                )
                for row in group
            ]
        )
        computed = compute(architecture, machines, group)
        if result is None:
            result = np.empty((*computed.shape[:-1], len(rows)))
        result[..., places] = computed
    return np.empty(0) if result is None else result


def load_of(group: Rows) -> dict[str, NDArray]:
    """Return prompt, output, batch and weights of rows as arrays."""
    names = ("prompt", "output", "batch", "weights", "kv")
    return {name: np.array([getattr(row, name) for row in group]) for name in names}


def is_ttft(group: Rows) -> NDArray[np.bool_]:
    """Say which rows are a TTFT."""
    return np.array([row.metric == "ttft" for row in group])


def is_concurrent(group: Rows) -> NDArray[np.bool_]:
    """Say which rows are of continuous batching."""
    return np.array([row.load == "concurrent" for row in group])


def _seconds(
    architecture: Architecture, machines: Machine, group: list[Measured], *, bound: bool
) -> NDArray[np.float64]:
    steady = concurrent(architecture, machines, **load_of(group))
    together = steady.together
    if bound:
        firsts = steady.prefill.seconds_overlap, together.prefill.seconds_overlap
        rest = steady.tpot_bound_seconds, together.decode.seconds_overlap
    else:
        firsts = steady.prefill.seconds_sum, together.ttft_seconds
        rest = steady.tpot_seconds, together.tpot_seconds
    held = is_concurrent(group)
    return np.where(is_ttft(group), np.where(held, *firsts), np.where(held, *rest))


def needed_compute(rows: Rows) -> NDArray[np.float64]:
    """Return the share of the peak that a row's stated load and measured TPOT would need.

    NaN for rows that are no TPOT under concurrency.
    """

    def share(
        architecture: Architecture, machines: Machine, group: list[Measured]
    ) -> NDArray[np.float64]:
        steady = concurrent(architecture, machines, **load_of(group))
        measured = np.array([row.seconds for row in group])
        needed = steady.mfu * steady.tpot_seconds / measured
        return np.where(is_concurrent(group) & ~is_ttft(group), needed, np.nan)

    return by_model(rows, share)


def needed_memory(rows: Rows) -> NDArray[np.float64]:
    """Return how many bytes weights and half-written answers lack at the load stated [B]."""

    def lacking(
        architecture: Architecture, machines: Machine, group: list[Measured]
    ) -> NDArray[np.float64]:
        load = load_of(group)
        tokens = load["prompt"] + load["output"] / 2
        formats = {"weights": load["weights"], "kv": load["kv"]}
        return bytes_short(architecture, machines, batch=load["batch"], tokens=tokens, **formats)

    return by_model(rows, lacking)


def _kernel_share(row: Measured) -> float:
    """Return the share of the peak that the fastest kernels of a row's chip reach."""
    own = kernels().get(row.chip)
    return max(own.compute.values()) if own else 1.0


def _with_doubts(rows: list[Measured]) -> list[Measured]:
    """Add the doubts that physics finds."""
    kernel_share = np.array([_kernel_share(row) for row in rows])
    measured = np.array([row.seconds for row in rows])
    doubts = {
        "memory": needed_memory(rows) > 0,
        "load": needed_compute(rows) > kernel_share,
        "bound": predicted_seconds(rows, "bound") > measured,
    }
    return [
        row if row.doubt else replace(row, doubt=next((d for d in doubts if doubts[d][i]), ""))
        for i, row in enumerate(rows)
    ]
