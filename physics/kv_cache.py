"""The KV cache: what a token adds, what a sequence holds, what a step sees of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from physics.architecture import Architecture, Attention, LatentAttention
from physics.formats import bytes_per_element


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
    elements = sum(group.count * group.attention.kv_elements_per_token
                   for group in architecture.groups)
    return elements * bytes_per_element(kv)


def kv_bytes_per_sequence(
    architecture: Architecture, tokens: ArrayLike, kv: str | ArrayLike = "bf16",
    tp: ArrayLike = 1,
) -> NDArray[np.float64]:
    """Bytes that a sequence of `tokens` occupies on all chips together.

    Layers with a window keep no more than the window.

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
    total: ArrayLike = 0.0
    for group in architecture.groups:
        kept = stored_tokens(group.attention, tokens)
        total = total + group.count * kept * elements_on_all_chips(group.attention, tp)
    return total * bytes_per_element(kv)


def elements_on_all_chips(
    attention: Attention | LatentAttention, tp: ArrayLike
) -> NDArray[np.float64]:
    """Elements a token adds in one layer on `tp` chips together, copies included."""
    chips = np.asarray(tp, dtype=float)
    if isinstance(attention, LatentAttention):
        return chips * attention.kv_elements_per_token
    per_head = attention.key_dim + attention.value_dim
    return chips * kv_heads_per_chip(attention.kv_heads, tp) * per_head


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


def attended_pairs(
    attention: Attention | LatentAttention,
    new_tokens: NDArray[np.float64],
    cached_tokens: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Query-key pairs of a causal step, exactly.

    Full attention: n c + n (n + 1) / 2. With a window W each query sees min(W, position + 1) keys.
    """
    n, c = new_tokens, cached_tokens
    window = attention.window
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
