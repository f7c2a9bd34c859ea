"""Why a percentile of one design moved between two runs: the part of it that moved most."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from physics.serving.contest import ITL_SHARE, Standing


@dataclass(frozen=True)
class Cause:
    """What moved a percentile.

    Attributes
    ----------
    name : str
        'alone' (a prompt takes longer even on an empty instance), 'queue' (it waits longer),
        'beside' (it is read beside more, or fewer, answers); 'stops' (answers meet prompts),
        'mixed' (steps that write and read), 'transfer' (caches on their way), 'step' (steps that
        only write).
    values : dict of str to tuple of float
        The quantities that say so, before and after: times [s], sequences, or stops an answer.
    """

    name: str
    values: dict[str, tuple[float, float]]


def ttft_cause(before: Standing, after: Standing, alone_before: float, alone_after: float) -> Cause:
    """Return what moved the p99 of the time to first token.

    It is the time that a prompt takes alone, plus its wait, plus what reading it beside others
    adds. The part counts that moved farthest in the direction of the whole.

    Parameters
    ----------
    before, after : Standing
        Of one design.
    alone_before, alone_after : float
        Prefill of a prompt on an empty instance [s].

    Examples
    --------
    >>> from dataclasses import replace
    >>> from physics.catalogue import model
    >>> from physics.chips import chip
    >>> from physics.machine import machine
    >>> from physics.serving.contest import standing, steady
    >>> from physics.serving.design import colocated
    >>> from physics.serving.simulation import simulate
    >>> from physics.serving.targets import Targets
    >>> from physics.serving.traffic import Fixed, Load
    >>> load = Load(requests=100, prompt=Fixed(2048), output=Fixed(64))
    >>> design = colocated(model("llama-3.1-8b"), machine(chip("h100-sxm")))
    >>> quiet, busy = (
    ...     standing(simulate(design, steady(load, rate)), Targets(ttft=1)) for rate in (1, 25))
    >>> ttft_cause(quiet, busy, 0.03, 0.03).name
    'queue'
    """
    whole = after.ttft.p99 - before.ttft.p99
    parts = {"alone": alone_after - alone_before, "queue": after.queue.p99 - before.queue.p99}
    parts["beside"] = whole - sum(parts.values())
    largest = max(parts, key=lambda name: parts[name] * np.sign(whole))
    values = {
        "alone": {"alone": (alone_before, alone_after)},
        "queue": {"queue": (before.queue.p99, after.queue.p99)},
        "beside": {"batch": (before.decode_batch, after.decode_batch)},
    }
    return Cause(largest, values[largest])


def itl_cause(before: Standing, after: Standing, gaps: int) -> Cause:
    """Return what moved the p99 of the gaps between tokens.

    A kind of gap shows in a percentile if it is more than one gap in a hundred: stops by prompts
    where an answer meets that many, and the wait for the cache, once an answer, where answers are
    that short.

    Parameters
    ----------
    before, after : Standing
        Of one design.
    gaps : int
        Gaps of the shorter of the two answers; at least 1.
    """
    counted = (1 - ITL_SHARE) * gaps
    step = {
        "step": (before.step_seconds, after.step_seconds),
        "batch": (before.decode_batch, after.decode_batch),
    }
    if before.kind == "colocated" and max(before.stops, after.stops) > counted:
        return Cause(
            "stops",
            {
                "stops": (before.stops, after.stops),
                "stop": (before.stop_seconds, after.stop_seconds),
            },
        )
    mixed = before.mixed_seconds, after.mixed_seconds
    if before.kind == "chunked" and np.isfinite(mixed).all():
        return Cause("mixed", {"mixed": mixed})
    sent = before.transfer.p99, after.transfer.p99
    late = before.kind == "disaggregated" and counted < 1
    if late and abs(sent[1] - sent[0]) > abs(after.step_seconds - before.step_seconds):
        return Cause("transfer", {"transfer": sent})
    return Cause("step", step)
