"""Where decode would turn compute-bound: the ridge, the critical batch, the critical context."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from physics.architecture import Architecture
from physics.kv_cache import bytes_on_all_chips, kv_bytes_per_sequence, stored_tokens
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


def attention_flop_per_cached_token(architecture: Architecture) -> float:
    """FLOP that one more cached token costs each decode step, all layers together.

    2 heads (d_k + d_v) a layer; latent attention in its absorbed form. Source: the exact term at a
    position, e.g. Kaplan et al. 2020 eq. 2.2 without the causal average.
    """
    return float(
        sum(count * attention.flop_per_pair for count, attention in architecture.attentions())
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
    S >= 2P / (R kv - a); infinite where attention alone reaches the ridge.

    P is the publisher's count of active parameters, so a step, in which the embedding table is
    only looked up, changes over a few percent earlier; activations bring it lower still. Where
    attention runs at a lower peak than the linear layers, its FLOP count `peak_ratio` times
    (linear peak over attention peak). Windows and indexers are ignored: with them the true value
    is larger. With tensor parallelism
    over more chips than key-value heads (or with latent attention) the cache is replicated, and
    `tp` says how often.

    Examples
    --------
    >>> from physics.catalogue import model
    >>> round(float(critical_context(model("llama-3.1-8b"), 989e12, 3350e9)))
    421
    """
    ridge = ridge_flop_per_byte(peak, bandwidth)
    kept = sum(
        count * bytes_on_all_chips(attention, kv, tp)
        for count, attention in architecture.attentions()
    )
    parameters = architecture.active_parameters + _copied_parameters(architecture, tp)
    slope = ridge * kept - peak_ratio * attention_flop_per_cached_token(architecture)
    with np.errstate(divide="ignore"):
        return np.where(slope > 0, 2.0 * parameters / slope, np.inf)


def plateau_intensity(
    architecture: Architecture, context: ArrayLike, kv: str | ArrayLike = "bf16", tp: int = 1
) -> NDArray[np.float64]:
    """Intensity that a decode step tends to as the batch grows: (2P + aS) / (kv S) [FLOP/B].

    P counts what each chip repeats, as in `critical_context`, and activations are left out;
    infinite at context 0.

    Examples
    --------
    >>> from physics.catalogue import model
    >>> round(float(plateau_intensity(model("llama-3.1-8b"), 421)))
    295
    """
    context = np.asarray(context, dtype=float)
    cached = kv_bytes_per_sequence(architecture, context, kv, tp)
    attention = sum(
        count * one.flop_per_pair * stored_tokens(one, context)
        for count, one in architecture.attentions()
    )
    parameters = architecture.active_parameters + _copied_parameters(architecture, tp)
    with np.errstate(divide="ignore"):
        return (2.0 * parameters + attention) / cached


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
