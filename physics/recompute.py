"""What the KV cache saves: the work of an answer with it, and without it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from physics.architecture import Architecture
from physics.machine import Machine
from physics.request import request
from physics.step import prefill

_UNIT = Machine(peak=1.0, attention_peak=1.0, bandwidth=1.0, capacity=np.inf, link=None)
_PIECES = 32


def flop_with_cache(
    architecture: Architecture, *, prompt: ArrayLike, output: ArrayLike, batch: ArrayLike = 1
) -> NDArray[np.float64]:
    """FLOP of a whole answer when keys and values are kept: one prefill, N - 1 decode steps.

    Examples
    --------
    >>> from physics.catalogue import model
    >>> flop = flop_with_cache(model("llama-3.1-8b"), prompt=2048, output=256)
    >>> round(float(flop) / 1e12, 1)
    33.8
    """
    asked = request(architecture, _UNIT, prompt=prompt, output=output, batch=batch)
    return asked.prefill.flop + np.maximum(np.asarray(output) - 1.0, 0.0) * asked.decode.flop


def flop_without_cache(
    architecture: Architecture, *, prompt: ArrayLike, output: ArrayLike, batch: ArrayLike = 1
) -> NDArray[np.float64]:
    """FLOP of a whole answer when every token reads everything before it anew.

    The sum of N prefills of prompt, prompt + 1, ..., prompt + N - 1 tokens. A prefill's FLOP are
    a quadratic in its length (but for windows), so each of 32 stretches is summed by Simpson's
    rule for sums, which is exact for quadratics.

    Examples
    --------
    >>> from physics.catalogue import model
    >>> args = dict(prompt=100, output=3)
    >>> flop = flop_without_cache(model("llama-3.1-8b"), **args)
    >>> one_by_one = sum(float(prefill(model("llama-3.1-8b"), _UNIT, batch=1, prompt=n).flop)
    ...                  for n in (100, 101, 102))
    >>> abs(float(flop) / one_by_one - 1) < 1e-9
    True
    """
    prompt, output, batch = np.broadcast_arrays(
        np.asarray(prompt, dtype=float),
        np.asarray(output, dtype=float),
        np.asarray(batch, dtype=float),
    )
    share = np.linspace(0.0, 1.0, _PIECES + 1).reshape(-1, *(1 for _ in prompt.shape))
    edges = prompt + share * output  # a stretch covers the lengths edge - 1/2 ... next edge - 1/2
    width = output / _PIECES
    middle = (edges[:-1] + edges[1:]) / 2 - 0.5
    at = [
        prefill(architecture, _UNIT, batch=batch, prompt=np.maximum(middle + offset, 1.0)).flop
        for offset in (-1.0, 0.0, 1.0)
    ]
    curvature = at[0] - 2 * at[1] + at[2]
    # Sum over a stretch of f: width f(middle) + f'' (width^3 - width h^2) / 24, telescoped so that
    # all stretches together equal the sum over whole lengths.
    total = (width * at[1] + curvature * width**3 / 24).sum(axis=0)
    return total - (curvature * width).sum(axis=0) / 24
