"""Continuous batching at a steady concurrency: what the other requests' prompts do to mine."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from physics.architecture import Architecture
from physics.machine import Machine
from physics.request import Request, request
from physics.step import Step, prefill

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Concurrent:
    """A server that always holds `batch` requests: as one ends, the next one's prompt is read.

    Attributes
    ----------
    together : Request
        The same requests starting together, for the decode steps.
    prefill : Step
        The prefill of one request alone.
    """

    together: Request
    prefill: Step

    @property
    def prefills_per_token(self) -> Array:
        r"""Prompts of others that are read while a request writes one token: (B - 1) / N.

        Each of the other B - 1 requests writes N tokens between two prompts.
        """
        return (self.together.batch - 1) / self.together.output

    @cached_property
    def tpot_seconds(self) -> Array:
        r"""Mean time per output token with the others' prefill in between [s].

        .. math:: t_{decode}(B) + \frac{B - 1}{N} t_{prefill}(1)
        """
        return self.together.tpot_seconds + self.prefills_per_token * self.prefill.seconds_sum

    @cached_property
    def tpot_bound_seconds(self) -> Array:
        """Time per output token that nothing on this machine can beat [s].

        The larger of all arithmetic and all memory traffic, as if decode and prefill shared every
        step perfectly and prefill found the weights already read.
        """
        step, once = self.together.decode, self.prefill
        compute, memory = step.totals[0], step.totals[1]
        rest = (once.memory_seconds * _share_besides_weights(once)).sum(axis=0)
        return np.maximum(
            compute + self.prefills_per_token * once.totals[0],
            memory + self.prefills_per_token * rest,
        )

    @cached_property
    def mfu(self) -> Array:
        """FLOP of prompts and answers over what the peak allows in the same time."""
        step, once = self.together.decode, self.prefill
        flop = step.flop + (self.prefills_per_token + 1 / self.together.output) * once.flop
        machine = step.machine
        return flop / (machine.tp * machine.peak * self.tpot_seconds)


def _share_besides_weights(step: Step) -> Array:
    moved = step.bytes_by_operator
    return np.divide(
        moved - step.weight_bytes_by_operator, moved, out=np.zeros_like(moved), where=moved > 0
    )


def concurrent(
    architecture: Architecture,
    machine: Machine,
    *,
    prompt: ArrayLike,
    output: ArrayLike,
    batch: ArrayLike,
    weights: str | ArrayLike = "bf16",
    kv: str | ArrayLike = "bf16",
) -> Concurrent:
    """Compute a steady concurrency of `batch` equal requests under continuous batching.

    Parameters and errors are those of `physics.request.request`. What is left out: queueing for
    memory, prompts in chunks that share a step with decode.

    Examples
    --------
    >>> from physics.catalogue import model
    >>> from physics.chips import chip
    >>> from physics.machine import machine
    >>> one = concurrent(model("llama-3.1-8b"), machine(chip("h100-sxm")), prompt=2048, output=256,
    ...                  batch=[1, 32])
    >>> bool(one.tpot_seconds[0] == one.together.tpot_seconds[0])
    True
    >>> bool(one.tpot_seconds[1] > one.together.tpot_seconds[1])
    True
    """
    formats = {"weights": weights, "kv": kv}
    return Concurrent(
        together=request(
            architecture, machine, prompt=prompt, output=output, batch=batch, **formats
        ),
        prefill=prefill(architecture, machine, batch=1, prompt=prompt, **formats),
    )
