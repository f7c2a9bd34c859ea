"""Where decode would turn compute-bound: the ridge, the critical batch, the critical context."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from physics.architecture import Architecture
from physics.formats import bytes_per_element
from physics.kv_cache import kv_heads_per_chip
from physics.layers import LatentAttention, Recurrent
from physics.machine import Machine
from physics.operators import Pass, operators, weight_element_bytes
from physics.roofline import ridge_flop_per_byte
from physics.step import prefill


def critical_batch(
    architecture: Architecture,
    peak: ArrayLike,
    bandwidth: ArrayLike,
    weights: str | ArrayLike = "bf16",
) -> NDArray[np.float64]:
    """Decode batch at which the linear layers reach the ridge; for experts, E / k times that.

    .. math:: B^* = \\frac{peak}{bandwidth} \\cdot \\frac{b_w}{2} \\cdot \\frac{E}{k}

    Source: JAX scaling book, parts 1 and 7; for experts arXiv 2511.02237, section 1.

    Examples
    --------
    >>> from physics.catalogue import model
    >>> round(float(critical_batch(model("llama-3.1-8b"), 989e12, 3350e9)))
    295
    """
    experts = architecture.experts
    part = "experts" if experts else "mlp"
    each = weight_element_bytes(architecture, weights, part)
    dense = ridge_flop_per_byte(peak, bandwidth) * each / 2
    return dense * (experts.experts / experts.top_k if experts else 1.0)


@dataclass(frozen=True)
class _Kept:
    """What decode does with one kind of kept tokens: rates for each token, up to so many."""

    flop: float
    bytes: NDArray[np.float64]
    most: float


def _kept(architecture: Architecture, kv: str | ArrayLike, tp: ArrayLike) -> list[_Kept]:
    """List what a sequence's step reads of its cache on all chips together, kind by kind."""
    kinds = []
    chips = np.asarray(tp, dtype=float)
    for count, one in architecture.attentions():
        most = float(one.window or np.inf)
        if isinstance(one, LatentAttention):
            each = one.latent * bytes_per_element(kv)
            if one.indexer:
                index = one.indexer
                score = 2.0 * index.heads * index.dim
                kinds.append(_Kept(count * score, count * chips * index.bytes_per_token, np.inf))
                most = float(index.top_k)
        else:
            heads = kv_heads_per_chip(one.kv_heads, tp)
            each = heads * one.elements_per_kv_head * bytes_per_element(kv)
        kinds.append(_Kept(float(count * one.flop_per_pair), count * chips * each, most))
    return kinds


def _recurrent_flop(architecture: Architecture) -> float:
    return sum(
        count * mixer.flop_per_token
        for count, mixer in architecture.mixers
        if isinstance(mixer, Recurrent)
    )


def _copied_parameters(architecture: Architecture, tp: ArrayLike) -> NDArray[np.float64]:
    """Weights that a token passes once more on each further chip, as they cannot be split."""
    one = np.float64(1)

    def flop(chips: ArrayLike) -> NDArray[np.float64]:
        chips = np.asarray(chips)
        step = Pass(architecture, one, one, np.float64(0), "bf16", one, chips, absorbed=True)
        works = [work for work in operators(step) if not work.on_kept]
        return sum((work.count * work.flop * chips for work in works), start=np.float64(0))

    return (flop(tp) - flop(1)) / 2


def critical_context(
    architecture: Architecture,
    peak: ArrayLike,
    bandwidth: ArrayLike,
    kv: str | ArrayLike = "bf16",
    tp: ArrayLike = 1,
    peak_ratio: ArrayLike = 1.0,
) -> NDArray[np.float64]:
    """Context beyond which no batch makes a decode step compute-bound [tokens].

    For batch → ∞ the intensity of a step tends to (2P + aS) / (kv S), with P active parameters,
    kv bytes and a attention FLOP per cached token. It stays below the ridge R once
    S >= 2P / (R kv - a); infinite where attention alone reaches the ridge. Layers with a window
    stop counting where it fills, a recurrent state is read and written in full at any context: the
    result is 0 where that alone keeps the step memory-bound.

    P is the publisher's count of active parameters, so a step, in which the embedding table is
    only looked up, changes over a few percent earlier; activations bring it lower still. Where
    attention runs at a lower peak than the linear layers, its FLOP count `peak_ratio` times
    (linear peak over attention peak). What tensor parallelism over `tp` chips copies is counted.

    Examples
    --------
    >>> from physics.catalogue import model
    >>> round(float(critical_context(model("llama-3.1-8b"), 989e12, 3350e9)))
    421
    """
    ridge = ridge_flop_per_byte(peak, bandwidth)
    ratio = np.asarray(peak_ratio, dtype=float)
    parameters = architecture.active_parameters + _copied_parameters(architecture, tp)
    # The lead of computing over moving, for each sequence: it falls as the context grows.
    lead = 2.0 * parameters + ratio * _recurrent_flop(architecture)
    lead = lead - ridge * 2.0 * architecture.state_bytes
    kinds = _kept(architecture, kv, tp)
    found = np.where(lead <= 0, 0.0, np.nan)
    start = 0.0
    for end in sorted({kind.most for kind in kinds} | {np.inf}):
        growing = [kind for kind in kinds if kind.most > start]
        fall = sum((ridge * kind.bytes - ratio * kind.flop for kind in growing), np.float64(0))
        reach = start + np.divide(
            lead,
            fall,
            out=np.full(np.broadcast_shapes(np.shape(lead), np.shape(fall)), np.inf),
            where=fall > 0,
        )
        found = np.where(np.isnan(found) & (reach <= end), reach, found)
        if np.isfinite(end):
            lead = lead - fall * (end - start)
        start = end
    return found


def plateau_intensity(
    architecture: Architecture, context: ArrayLike, kv: str | ArrayLike = "bf16", tp: int = 1
) -> NDArray[np.float64]:
    """Intensity that a decode step tends to as the batch grows: (2P + aS) / (kv S) [FLOP/B].

    P, windows and states are counted as in `critical_context`, and activations are left out;
    infinite at context 0.

    Examples
    --------
    >>> from physics.catalogue import model
    >>> round(float(plateau_intensity(model("llama-3.1-8b"), 421)))
    295
    """
    context = np.asarray(context, dtype=float)
    parameters = architecture.active_parameters + _copied_parameters(architecture, tp)
    flop = 2.0 * parameters + _recurrent_flop(architecture)
    moved: ArrayLike = 2.0 * architecture.state_bytes
    for kind in _kept(architecture, kv, tp):
        seen = np.minimum(context, kind.most)
        flop = flop + kind.flop * seen
        moved = moved + kind.bytes * seen
    with np.errstate(divide="ignore"):
        return flop / np.asarray(moved, dtype=float)


def compute_bound_prompt(
    architecture: Architecture,
    machine: Machine,
    *,
    batch: ArrayLike = 1,
    weights: str | ArrayLike = "bf16",
    kv: str | ArrayLike = "bf16",
    longest: int = 2**20,
) -> NDArray[np.float64]:
    """Shortest prompt whose prefill spends more time computing than moving bytes [tokens].

    Found by narrowing down the whole step; infinite if even `longest` tokens do not suffice.

    Examples
    --------
    >>> from physics.catalogue import model
    >>> from physics.chips import chip
    >>> from physics.machine import machine
    >>> h100 = machine(chip("h100-sxm"))
    >>> prompt = compute_bound_prompt(model("llama-3.1-8b"), h100)
    >>> bounds = [str(prefill(model("llama-3.1-8b"), h100, batch=1, prompt=prompt + i).bound)
    ...           for i in (-1, 0)]
    >>> bounds
    ['memory', 'compute']
    """

    def computes(prompt: NDArray[np.float64]) -> NDArray[np.bool_]:
        one = prefill(architecture, machine, batch=batch, prompt=prompt, weights=weights, kv=kv)
        return one.totals[0] >= one.totals[1]

    low = np.zeros(np.broadcast_shapes(np.shape(batch), *machine.shapes()))
    high = low + longest
    reached = computes(high)
    while np.any(high - low > 1):
        # Many prompts at once: a call costs much more than a point.
        share = np.arange(1, 16).reshape(-1, *(1 for _ in low.shape)) / 16
        tried = np.clip(np.floor(low + share * (high - low)), np.minimum(low + 1, high), high)
        enough = computes(tried)
        high = np.minimum(high, np.where(enough, tried, high).min(axis=0))
        low = np.maximum(low, np.where(enough, low, tried).max(axis=0))
    return np.where(reached, high, np.inf)
