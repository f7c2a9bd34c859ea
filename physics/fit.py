"""Fit the constants of serving engines to measured requests: `python -m physics.fit`.

A chip's efficiencies are those of its kernels (`physics.measured_kernels`) and are not fitted. Of
each engine three constants are: the fixed time of an operator, the latency of an all-reduce, and
the share of the link's bandwidth that it reaches. They are the same on every chip. Half of an
engine's configurations (model, format, chips) are fitted, and the errors are reported for the other
half (`physics.fit_report`).
"""

from __future__ import annotations

import csv
import io
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from physics.architecture import Architecture
from physics.concurrency import concurrent
from physics.efficiency import Efficiency
from physics.machine import Machine
from physics.measured_kernels import compute_efficiency, measured_chips, memory_efficiency
from physics.measured_requests import (
    Measured,
    Rows,
    by_model,
    is_concurrent,
    is_ttft,
    load_of,
    measured_requests,
    typical_efficiency,
)
from physics.typical import (
    DEFAULT_ENGINE,
    KERNELS,
    MEASURED_FORMATS,
    OVERHEADS,
    Overheads,
    kernels,
    overheads,
)

LEAST_ROWS, LEAST_CONFIGURATIONS = 20, 3
"""With fewer an engine is not fitted: 'other' stands for it."""

PULL = 0.05
"""Weight of the pull toward the constants of all engines together, in one configuration's loss.

Chosen by leaving out one of the fitted configurations at a time: 0.05 to 0.5 do equally well.
"""

OPERATOR_SECONDS = np.arange(0, 40.25, 0.5) * 1e-6
ALL_REDUCE_SECONDS = np.arange(0, 122, 2) * 1e-6
LINK = 1 / np.arange(1, 8.25, 0.25)
"""The values tried."""


@dataclass(frozen=True)
class Work:
    """What a row's time is made of; arrays over rows.

    Attributes
    ----------
    seconds : ndarray
        Arithmetic and memory traffic at the efficiency of the chip's kernels [s].
    operators, all_reduces : ndarray
        How many of each.
    link_seconds : ndarray
        Time of the all-reduces' messages at the link's full bandwidth [s].
    """

    seconds: NDArray
    operators: NDArray
    all_reduces: NDArray
    link_seconds: NDArray

    def time(self, operator: NDArray | float, all_reduce: float, link: float) -> NDArray:
        """Return the time of each row with an engine's constants [s]."""
        fixed = self.operators * operator + self.all_reduces * all_reduce
        return self.seconds + self.link_seconds / link + fixed


def work_of(rows: Rows) -> Work:
    """Return what the rows' times are made of."""

    def efficiency(row: Measured) -> Efficiency:
        fixed = {"launch_seconds": 0.0, "all_reduce_seconds": 0.0, "link": 1.0}
        return replace(typical_efficiency(row), **fixed)

    return Work(*by_model(rows, _work, efficiency))


def _work(architecture: Architecture, machines: Machine, group: list[Measured]) -> NDArray:
    load = load_of(group)
    held, ttft = is_concurrent(group), is_ttft(group)

    def parts(on: Machine) -> NDArray:
        """Return busy, launch and communication seconds of each row."""
        steady = concurrent(architecture, on, **load)
        together = steady.together

        def split(step: object) -> NDArray:
            launch, link = step.launch_seconds.sum(axis=0), step.communication_seconds.sum(axis=0)
            return np.stack([step.seconds_sum - launch - link, launch, link])

        prefill = np.where(held, split(steady.prefill), split(together.prefill))
        decode = split(together.decode)
        # The mean over the output, not the step in its middle.
        decode[0] = together.tpot_seconds - decode[1] - decode[2]
        others = np.where(held, steady.prefills_per_token, 0.0)
        return np.where(ttft, prefill, decode + others * prefill)

    busy, _, link = parts(machines)
    # With every operator and all-reduce at one second, their seconds are their number.
    counting = Efficiency(launch_seconds=1.0, all_reduce_seconds=1.0, link=np.inf)
    _, operators, all_reduces = parts(replace(machines, efficiency=counting))
    return np.stack([busy, operators, all_reduces, link])


def usable(rows: Iterable[Measured]) -> list[Measured]:
    """Return the rows that no doubt excludes; a TTFT only where little is queued."""
    return [row for row in rows if not row.doubt and not _queues(row)]


def _queues(row: Measured) -> bool:
    return row.metric == "ttft" and row.load == "concurrent" and row.batch > 2


def fitted(rows: Rows) -> list[Measured]:
    """Return the rows of every second configuration of each engine, in alphabetical order."""
    chosen = set()
    for engine in {row.engine for row in rows}:
        configurations = {row.configuration for row in rows if row.engine == engine}
        chosen |= {(engine, *one) for one in sorted(configurations)[::2]}
    return [row for row in rows if (row.engine, *row.configuration) in chosen]


def fit(rows: Rows, toward: Overheads | None = None) -> Overheads:
    """Return the constants that fit rows best: least mean of |log(predicted / measured)|.

    Every configuration weighs the same, so that a long sweep of one does not decide.

    Parameters
    ----------
    rows : sequence of Measured
    toward : Overheads, optional
        Where to pull the constants, the less the more configurations there are: a few of them
        cannot tell the time of an operator from that of an all-reduce.
    """
    work = work_of(rows)
    measured = np.array([row.seconds for row in rows])
    sizes = Counter(row.configuration for row in rows)
    weight = np.array([1 / sizes[row.configuration] for row in rows]) / len(sizes)
    best, found = np.inf, Overheads(0.0, 0.0, 1.0)
    for all_reduce, link in product(ALL_REDUCE_SECONDS, LINK):
        predicted = work.time(OPERATOR_SECONDS[:, None], all_reduce, link)
        losses = np.abs(np.log(predicted / measured)) @ weight
        if toward:
            away = np.abs(OPERATOR_SECONDS - toward.operator) / 10e-6
            away += abs(all_reduce - toward.all_reduce) / 20e-6
            away += abs(np.log(link / toward.link))
            losses += PULL * away / len(sizes)
        place = int(losses.argmin())
        if losses[place] < best:
            best = losses[place]
            found = Overheads(float(OPERATOR_SECONDS[place]), float(all_reduce), float(link))
    return found


def fit_engines(rows: Rows) -> dict[str, tuple[Overheads, int, int]]:
    """Fit every engine that has rows enough.

    Returns
    -------
    dict
        Engine to constants, number of rows, number of configurations; the default engine first,
        and last 'other', fitted to all engines together.
    """
    sizes = Counter(row.engine for row in rows)
    varied = Counter(engine for engine, _ in {(row.engine, row.configuration) for row in rows})
    names = [
        name
        for name in sorted(sizes, key=lambda name: (name != DEFAULT_ENGINE, name))
        if sizes[name] >= LEAST_ROWS and varied[name] >= LEAST_CONFIGURATIONS
    ]
    parts = {name: fitted([row for row in rows if row.engine == name]) for name in names}
    together = [row for part in parts.values() for row in part]
    shared = fit(together)
    found = {name: fit(part, toward=shared) for name, part in parts.items()} | {"other": shared}
    counted = parts | {"other": together}
    return {
        name: (own, len(counted[name]), len({row.configuration for row in counted[name]}))
        for name, own in found.items()
    }


def overheads_table(found: dict[str, tuple[Overheads, int, int]]) -> str:
    """Return the CSV of the fitted constants."""
    return _csv(
        ["engine", "operator_us", "all_reduce_us", "link", "rows", "configurations"],
        (
            [engine, f"{own.operator * 1e6:g}", f"{own.all_reduce * 1e6:g}", f"{own.link:.3g}", *n]
            for engine, (own, *n) in found.items()
        ),
    )


def kernels_table() -> str:
    """Return the CSV of the chips' measured efficiencies."""

    def row(slug: str) -> list[str]:
        shares = [compute_efficiency(slug, name) for name in MEASURED_FORMATS]
        shares.append(memory_efficiency(slug))
        return [slug, *("" if share is None else f"{share:.3f}" for share in shares)]

    return _csv(["chip", *MEASURED_FORMATS, "memory"], map(row, measured_chips()))


def _csv(header: list[str], rows: Iterable[list[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


def _forget() -> None:
    """Let the tables just written be read anew."""
    for table in (kernels, overheads, measured_requests):
        table.cache_clear()


def main() -> int:
    """Write the constants and the report; print the report."""
    from physics.fit_report import REPORT, report

    KERNELS.write_text(kernels_table(), encoding="utf-8")
    _forget()
    OVERHEADS.write_text(
        overheads_table(fit_engines(usable(measured_requests()))), encoding="utf-8"
    )
    _forget()
    text = report()
    REPORT.write_text(text, encoding="utf-8")
    sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
