"""The operators of a forward pass: FLOP and bytes of each, by part, on one chip.

Conventions: a multiply-add is 2 FLOP; attention is causal and exact; K and V are read once a step
(fused attention) and written once; an embedding lookup, norms and element-wise work are left out
(they are fused into their neighbours and cost well under a percent).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from physics.architecture import Architecture, Attention, Dense, Experts, LatentAttention, Layers
from physics.formats import ACTIVATION_BYTES
from physics.kv_cache import attended_pairs, kv_heads_per_chip, visible_tokens

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Operator:
    """Work of one operator in one layer on one chip; `count` layers have it.

    Attributes
    ----------
    name : str
        'qkv', 'attention', 'attention_window', 'out', 'up', 'down', 'experts_up', ... 'head',
        'all_reduce'.
    flop, weight_bytes, kv_bytes, activation_bytes : array
        Work and memory traffic of one layer.
    link_bytes : array
        Bytes that this chip sends to the others.
    """

    name: str
    count: int
    flop: Array | float = 0.0
    weight_bytes: Array | float = 0.0
    kv_bytes: Array | float = 0.0
    activation_bytes: Array | float = 0.0
    link_bytes: Array | float = 0.0

    @property
    def is_attention(self) -> bool:
        """Whether it multiplies queries with cached keys and values."""
        return self.name.startswith("attention")


@dataclass(frozen=True)
class Pass:
    """One forward pass: `batch` sequences, each `new` tokens on top of `cached` ones."""

    batch: Array
    new: Array
    cached: Array
    weight_element_bytes: Array
    kv_element_bytes: Array
    tp: NDArray[np.int64]
    absorbed: bool

    @property
    def rows(self) -> Array:
        """Rows of the activation matrices."""
        return self.batch * self.new


def distinct_experts(experts: int, top_k: int, tokens: Array | float) -> Array:
    """Expected number of different experts that `tokens` tokens touch.

    .. math:: E (1 - (1 - k / E)^m)

    Independent, uniform routing; source: arXiv 2511.02237 section 2, arXiv 2505.19645 eq. 6.

    Examples
    --------
    >>> round(float(distinct_experts(8, 2, 3)), 2)
    4.62
    """
    tokens = np.asarray(tokens, dtype=float)
    if top_k == experts:
        return np.full_like(tokens, experts)
    return -experts * np.expm1(tokens * np.log1p(-top_k / experts))


def linear(
    name: str, count: int, step: Pass, inputs: float, outputs: float, rows: Array | None = None
) -> Operator:
    """Multiply `rows` activations with an inputs x outputs weight matrix."""
    rows = step.rows if rows is None else rows
    return Operator(
        name,
        count,
        flop=2.0 * inputs * outputs * rows,
        weight_bytes=inputs * outputs * step.weight_element_bytes,
        activation_bytes=(inputs + outputs) * ACTIVATION_BYTES * rows,
    )


def operators(architecture: Architecture, step: Pass) -> Iterator[Operator]:
    """Yield the operators of a pass in the order in which they run."""
    for group in architecture.groups:
        if isinstance(group.attention, LatentAttention):
            yield from _latent_attention(architecture.hidden, group, group.attention, step)
        else:
            yield from _attention(architecture.hidden, group, group.attention, step)
        if isinstance(group.mlp, Experts):
            yield from _experts(architecture.hidden, group.count, group.mlp, step)
        else:
            yield from _dense(architecture.hidden, group.count, group.mlp, step, "up", "down")
    # Only the last position of each sequence goes through the head, in both phases.
    yield linear("head", 1, step, architecture.hidden, architecture.vocabulary / step.tp, step.batch)
    if np.any(step.tp > 1):
        yield Operator(
            "all_reduce",
            2 * architecture.layers,
            link_bytes=2 * (step.tp - 1) / step.tp * architecture.hidden * ACTIVATION_BYTES * step.rows,
        )


def _attention(hidden: int, group: Layers, attention: Attention, step: Pass) -> Iterator[Operator]:
    heads = -(-attention.heads // step.tp)
    kv_heads = kv_heads_per_chip(attention.kv_heads, step.tp)
    query, value = heads * attention.key_dim, heads * attention.value_dim
    cached = kv_heads * (attention.key_dim + attention.value_dim)
    yield linear("qkv", group.count, step, hidden, query + cached)
    yield _attend(group, step, attention.key_dim + attention.value_dim, heads, cached, query + value)
    yield linear("out", group.count, step, value, hidden)


def _latent_attention(
    hidden: int, group: Layers, mla: LatentAttention, step: Pass
) -> Iterator[Operator]:
    heads = -(-mla.heads // step.tp)
    query = heads * mla.key_dim
    latent = mla.kv_elements_per_token  # every chip keeps the whole latent cache
    if mla.query_rank is None:
        yield linear("qkv", group.count, step, hidden, query + latent)
    else:
        yield linear("qkv_down", group.count, step, hidden, mla.query_rank + latent)
        yield linear("query_up", group.count, step, mla.query_rank, query)
    if step.absorbed:
        # Decode: the key's up-projection moves to the query, the value's behind the attention.
        per_head = mla.kv_rank * (mla.nope_dim + mla.value_dim)
        edges = mla.nope_dim + 2 * mla.kv_rank + mla.value_dim
        yield Operator(
            "absorb",
            group.count,
            flop=2.0 * heads * per_head * step.rows,
            weight_bytes=heads * per_head * step.weight_element_bytes,
            activation_bytes=heads * edges * ACTIVATION_BYTES * step.rows,
        )
        yield _attend(group, step, latent + mla.kv_rank, heads, latent, heads * (latent + mla.kv_rank))
    else:
        # Prefill: keys and values of every visible token are expanded for all heads.
        seen = visible_tokens(mla, step.new, step.cached) * step.batch
        expanded = heads * (mla.nope_dim + mla.value_dim)
        yield linear("kv_up", group.count, step, mla.kv_rank, expanded, seen)
        yield _attend(
            group, step, mla.key_dim + mla.value_dim, heads, latent,
            heads * (mla.key_dim + mla.value_dim),
        )
    yield linear("out", group.count, step, heads * mla.value_dim, hidden)


def _attend(
    group: Layers, step: Pass, flop_dims: int, heads: int, cached_elements: int, edge_elements: int
) -> Operator:
    """Scores and weighted values: FLOP 2 pairs heads (d_k + d_v); K and V read and written once."""
    attention = group.attention
    pairs = attended_pairs(attention, step.new, step.cached)
    moved = visible_tokens(attention, step.new, step.cached) + step.new
    return Operator(
        "attention_window" if attention.window else "attention",
        group.count,
        flop=2.0 * flop_dims * heads * pairs * step.batch,
        kv_bytes=cached_elements * step.kv_element_bytes * moved * step.batch,
        activation_bytes=edge_elements * ACTIVATION_BYTES * step.rows,
    )


def _dense(
    hidden: int, count: int, mlp: Dense, step: Pass, up: str, down: str
) -> Iterator[Operator]:
    inner = mlp.intermediate / step.tp
    yield linear(up, count, step, hidden, (2 if mlp.gated else 1) * inner)
    yield linear(down, count, step, inner, hidden)


def _experts(hidden: int, count: int, mlp: Experts, step: Pass) -> Iterator[Operator]:
    yield linear("router", count, step, hidden, mlp.experts)
    touched = distinct_experts(mlp.experts, mlp.top_k, step.rows)
    for one in _dense(hidden, count, mlp.expert, step, "experts_up", "experts_down"):
        yield Operator(
            one.name,
            count,
            flop=one.flop * mlp.top_k,
            weight_bytes=one.weight_bytes * touched,
            activation_bytes=one.activation_bytes * mlp.top_k,
        )
    if mlp.shared:
        yield from _dense(hidden, count, mlp.shared, step, "shared_up", "shared_down")
