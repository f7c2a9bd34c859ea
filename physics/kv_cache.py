"""The KV cache: what a token adds, what a sequence holds, what a step sees of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from physics.architecture import Architecture
from physics.formats import bytes_per_element
from physics.layers import Attention, LatentAttention


def kv_heads_per_chip(kv_heads: int, tp: ArrayLike) -> NDArray[np.int64]:
    """Key-value heads on each of `tp` chips; with more chips than heads they are replicated.

    Examples
    --------
    >>> kv_heads_per_chip(8, [1, 4, 16]).tolist()
    [8, 2, 1]
    """
    return -(-kv_heads // np.asarray(tp))


def kv_bytes_per_token(
    architecture: Architecture, kv: str | ArrayLike = "bf16"
) -> NDArray[np.float64]:
    """Bytes that a token at the start of a sequence adds to the cache, all layers together.

    .. math:: \\sum_{layers} kv\\_heads (d_k + d_v) b

    Recurrent layers add nothing; see `Architecture.state_bytes`.

    Parameters
    ----------
    architecture : Architecture
    kv : str or array_like of str
        Format of the cache.

    Returns
    -------
    ndarray
        [B/token], without the copies that tensor parallelism may need.

    Examples
    --------
    >>> from physics.catalogue import model
    >>> float(kv_bytes_per_token(model("llama-3.1-8b")))
    131072.0
    """
    return sum(
        (
            count * bytes_on_all_chips(attention, kv, 1)
            for count, attention in architecture.attentions()
        ),
        start=np.float64(0.0),
    )


def kv_bytes_per_sequence(
    architecture: Architecture,
    tokens: ArrayLike,
    kv: str | ArrayLike = "bf16",
    tp: ArrayLike = 1,
) -> NDArray[np.float64]:
    """Bytes that a sequence of `tokens` occupies on all chips together.

    Layers with a window keep no more than the window; recurrent layers keep a constant state.

    Parameters
    ----------
    tokens : array_like
        Tokens in the sequence, any shape.
    kv : str or array_like of str
        Format of the cache.
    tp : array_like
        Chips that share the model; heads that must be replicated count as often as they exist.

    Returns
    -------
    ndarray
        [B], shape of `tokens`.

    Examples
    --------
    >>> from physics.catalogue import model
    >>> float(kv_bytes_per_sequence(model("llama-2-7b"), 4096)) / 2**30
    2.0
    """
    tokens = np.asarray(tokens, dtype=float)
    total = np.where(tokens > 0, architecture.state_bytes, 0.0)
    for count, attention in architecture.attentions():
        kept = stored_tokens(attention, tokens)
        total = total + count * kept * bytes_on_all_chips(attention, kv, tp)
    return total


def bytes_on_all_chips(
    attention: Attention | LatentAttention, kv: str | ArrayLike, tp: ArrayLike
) -> NDArray[np.float64]:
    """Bytes a token adds in one layer on `tp` chips together, copies included [B]."""
    chips = np.asarray(tp, dtype=float)
    if isinstance(attention, LatentAttention):
        index = attention.indexer.bytes_per_token if attention.indexer else 0.0
        return chips * (attention.latent * bytes_per_element(kv) + index)
    if not attention.own_cache:
        return 0.0 * chips
    heads = kv_heads_per_chip(attention.kv_heads, tp)
    return chips * heads * attention.elements_per_kv_head * bytes_per_element(kv)


def stored_tokens(
    attention: Attention | LatentAttention, tokens: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Tokens of a sequence that a layer keeps."""
    if attention.window is None:
        return tokens
    return np.minimum(tokens, attention.window)


def visible_tokens(
    attention: Attention | LatentAttention,
    new_tokens: NDArray[np.float64],
    cached_tokens: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Distinct tokens whose keys and values at least one new token attends to."""
    everything = new_tokens + cached_tokens
    window = attention.window
    if window is None:
        return everything
    if attention.chunked:
        return everything - np.floor(cached_tokens / window) * window
    return np.minimum(everything, new_tokens + window - 1)


def read_tokens(
    attention: Attention | LatentAttention,
    new_tokens: NDArray[np.float64],
    cached_tokens: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Distinct tokens whose keys and values are read: the visible ones, or those an indexer picks.

    Each new query picks for itself, so many queries together read up to everything.
    """
    seen = visible_tokens(attention, new_tokens, cached_tokens)
    indexer = getattr(attention, "indexer", None)
    return seen if indexer is None else np.minimum(seen, indexer.top_k * new_tokens)


def attended_pairs(
    attention: Attention | LatentAttention,
    new_tokens: NDArray[np.float64],
    cached_tokens: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Query-key pairs of a causal step, exactly.

    Full attention: n c + n (n + 1) / 2. With a window W each query sees min(W, position + 1) keys,
    and so it does where an indexer picks W.
    """
    n, c = new_tokens, cached_tokens
    indexer = getattr(attention, "indexer", None)
    window = attention.window if indexer is None else indexer.top_k
    if window is None:
        return n * c + n * (n + 1) / 2
    if attention.chunked:
        return _pairs_in_chunks(c + n, window) - _pairs_in_chunks(c, window)
    growing = np.clip(window - c, 0, n)  # queries that do not fill the window yet
    return growing * c + growing * (growing + 1) / 2 + (n - growing) * window


def _pairs_in_chunks(tokens: NDArray[np.float64], chunk: int) -> NDArray[np.float64]:
    whole = np.floor(tokens / chunk)
    rest = tokens - whole * chunk
    return whole * chunk * (chunk + 1) / 2 + rest * (rest + 1) / 2


def freed_tokens_per_step(
    batch: ArrayLike, prompt: ArrayLike, output: ArrayLike
) -> NDArray[np.float64]:
    """Return the cached tokens that finished sequences free in each step of a steady batch.

    A sequence ends every output / batch steps and frees prompt + output tokens.

    Source: JAX scaling book, part 8.

    Examples
    --------
    >>> float(freed_tokens_per_step(32, 8192, 4096))
    96.0
    """
    output = np.asarray(output, dtype=float)
    return batch * (prompt + output) / output
