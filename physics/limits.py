"""Where decode would turn compute-bound: the ridge, the critical batch, the critical context."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from physics.architecture import Architecture, LatentAttention
from physics.formats import bytes_per_element
from physics.kv_cache import kv_bytes_per_token


def ridge_flop_per_byte(peak: ArrayLike, bandwidth: ArrayLike) -> NDArray[np.float64]:
    """Ridge point: the intensity at which computing and moving take equally long [FLOP/B].

    Parameters
    ----------
    peak, bandwidth : array_like
        [FLOP/s], [B/s]; broadcast.

    Examples
    --------
    >>> round(float(ridge_flop_per_byte(312e12, 2039e9)))
    153
    """
    return np.asarray(peak, dtype=float) / bandwidth


def critical_batch(
    architecture: Architecture, peak: ArrayLike, bandwidth: ArrayLike,
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
    dense = ridge_flop_per_byte(peak, bandwidth) * bytes_per_element(weights) / 2
    experts = architecture.experts
    return dense * (experts.experts / experts.top_k if experts else 1.0)


def attention_flop_per_cached_token(architecture: Architecture) -> float:
    """FLOP that one more cached token costs each decode step, all layers together.

    2 heads (d_k + d_v) a layer; latent attention in its absorbed form. Source: the exact term at a
    position, e.g. Kaplan et al. 2020 eq. 2.2 without the causal average.
    """
    total = 0.0
    for group in architecture.groups:
        attention = group.attention
        if isinstance(attention, LatentAttention):
            dims = 2 * attention.kv_rank + attention.rope_dim
        else:
            dims = attention.key_dim + attention.value_dim
        total += group.count * 2.0 * attention.heads * dims
    return total


def critical_context(
    architecture: Architecture,
    peak: ArrayLike,
    bandwidth: ArrayLike,
    kv: str | ArrayLike = "bf16",
) -> NDArray[np.float64]:
    """Context beyond which no batch makes a decode step compute-bound [tokens].

    For batch → ∞ the intensity of a step tends to (2P + aS) / (kv S), with P active parameters,
    kv bytes and a attention FLOP per cached token. It stays below the ridge R once
    S >= 2P / (R kv - a); infinite where attention alone reaches the ridge.

    Windows are ignored: with windowed layers the true value is larger.

    Examples
    --------
    >>> from physics.catalogue import model
    >>> round(float(critical_context(model("llama-3.1-8b"), 989e12, 3350e9)))
    421
    """
    ridge = ridge_flop_per_byte(peak, bandwidth)
    slope = ridge * kv_bytes_per_token(architecture, kv)
    slope = slope - attention_flop_per_cached_token(architecture)
    with np.errstate(divide="ignore"):
        return np.where(slope > 0, 2.0 * architecture.active_parameters / slope, np.inf)
