"""The operators of a forward pass: FLOP and bytes of each, by part, on one chip.

Conventions: a multiply-add is 2 FLOP; attention is causal and exact; K and V are read once a step
(fused attention) and written once; an embedding lookup, norms and element-wise work are left out
(they are fused into their neighbours and cost well under a percent).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from physics.architecture import Architecture
from physics.errors import InputError
from physics.formats import ACTIVATION_BYTES, PUBLISHED, bytes_per_element
from physics.kv_cache import attended_pairs, kv_heads_per_chip, read_tokens, visible_tokens
from physics.layers import (
    Attention,
    Dense,
    Experts,
    Indexer,
    LatentAttention,
    Layers,
    Mixer,
    Network,
    Recurrent,
    Square,
)

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
    low_precision : array of bool
        Whether it is multiplied in the format of the weights; if not, in bf16.
    """

    name: str
    count: int
    flop: Array | float = 0.0
    weight_bytes: Array | float = 0.0
    kv_bytes: Array | float = 0.0
    activation_bytes: Array | float = 0.0
    link_bytes: Array | float = 0.0
    low_precision: NDArray[np.bool_] | bool = False

    @property
    def on_kept(self) -> bool:
        """Whether it works on what a sequence keeps: attention, an indexer, a recurrence."""
        return self.name.startswith(("attention", "recurrence"))


@dataclass(frozen=True)
class Pass:
    """One forward pass: `batch` sequences, each `new` tokens on top of `cached` ones."""

    architecture: Architecture
    batch: Array
    new: Array
    cached: Array
    weights: str | ArrayLike
    kv_element_bytes: Array
    tp: NDArray[np.int64]
    absorbed: bool

    @property
    def rows(self) -> Array:
        """Rows of the activation matrices."""
        return self.batch * self.new


def forward_pass(
    architecture: Architecture,
    *,
    batch: ArrayLike,
    new_tokens: ArrayLike,
    cached_tokens: ArrayLike,
    weights: str | ArrayLike = "bf16",
    kv: str | ArrayLike = "bf16",
    tp: ArrayLike = 1,
    absorbed: bool = False,
) -> Pass:
    """Describe a forward pass, with its numbers checked.

    Raises
    ------
    InputError
        If a batch or a token number is out of range.
    """
    batch, new, cached = (
        np.asarray(value, dtype=float) for value in (batch, new_tokens, cached_tokens)
    )
    for name, value, least in (
        ("batch", batch, 1),
        ("new_tokens", new, 1),
        ("cached_tokens", cached, 0),
    ):
        if not np.all((value >= least) & (value < np.inf)):
            raise InputError(name, f"must be a finite number of at least {least}")
    return Pass(
        architecture, batch, new, cached, weights, bytes_per_element(kv), np.asarray(tp), absorbed
    )


def weight_element_bytes(
    architecture: Architecture, weights: str | ArrayLike, part: str
) -> NDArray[np.float64]:
    """Return the bytes of one weight of a part of a model in a format [B].

    Parameters
    ----------
    weights : str or array_like of str
        A format for the whole model, or 'published': as the model's own file says.
    part : str
        One of `quantisation.PARTS`.
    """
    published = architecture.quantisation.bytes_of(part)
    if isinstance(weights, str):
        return np.float64(published) if weights == PUBLISHED else bytes_per_element(weights)
    names = np.asarray(weights)
    own = names == PUBLISHED
    return np.where(own, published, bytes_per_element(np.where(own, "bf16", names)))


def _low_precision(step: Pass, part: str) -> NDArray[np.bool_]:
    quantised = step.architecture.quantisation.quantised(part)
    return (np.asarray(step.weights) != PUBLISHED) | quantised


def distinct_experts(experts: int, top_k: int, tokens: ArrayLike) -> Array:
    """Return the expected number of different experts that `tokens` tokens touch.

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
    name: str,
    count: int,
    step: Pass,
    inputs: ArrayLike,
    outputs: ArrayLike,
    part: str,
    rows: Array | None = None,
) -> Operator:
    """Multiply `rows` activations with an inputs x outputs weight matrix of a part."""
    rows = step.rows if rows is None else rows
    size = np.multiply(inputs, outputs, dtype=float)
    return Operator(
        name,
        count,
        flop=2.0 * size * rows,
        weight_bytes=size * weight_element_bytes(step.architecture, step.weights, part),
        activation_bytes=np.add(inputs, outputs) * ACTIVATION_BYTES * rows,
        low_precision=_low_precision(step, part),
    )


def operators(step: Pass) -> Iterator[Operator]:
    """Yield the operators of a pass: those of the mixers, of the networks, the head, the link."""
    architecture = step.architecture
    for count, mixer in architecture.mixers:
        yield from _mixer(count, mixer, step)
    for count, network in architecture.networks:
        yield from _network(count, network, step)
    yield head_operator(step)
    blocks = (*architecture.mixers, *architecture.networks)
    if np.any(step.tp > 1) and blocks:
        yield all_reduce(sum(count for count, _ in blocks), step)


def head_operator(step: Pass) -> Operator:
    """Only the last position of each sequence goes through the head, in both phases."""
    hidden, vocabulary = step.architecture.hidden, step.architecture.vocabulary
    return linear("head", 1, step, hidden, vocabulary / step.tp, "head", step.batch)


def all_reduce(count: int, step: Pass) -> Operator:
    """Add up what the chips hold of the activations: each sends 2 (t - 1) / t of them."""
    ring = 2.0 * (step.tp - 1) / step.tp
    moved = ring * step.architecture.hidden * ACTIVATION_BYTES * step.rows
    return Operator("all_reduce", count, link_bytes=moved)


def layer_operators(layers: Layers, step: Pass) -> tuple[list[Operator], list[Operator]]:
    """Return the operators of one layer: those of its mixer, those of its network."""
    return (
        list(_mixer(1, layers.mixer, step)) if layers.mixer else [],
        list(_network(1, layers.network, step)) if layers.network else [],
    )


def _mixer(count: int, mixer: Mixer, step: Pass) -> Iterator[Operator]:
    hidden = step.architecture.hidden
    match mixer:
        case Attention():
            yield from _attention(hidden, count, mixer, step)
        case LatentAttention():
            yield from _latent_attention(hidden, count, mixer, step)
        case Recurrent():
            yield from _recurrent(hidden, count, mixer, step)
        case Square():
            yield linear("square", count, step, hidden, hidden / step.tp, "attention")


def _network(count: int, network: Network, step: Pass) -> Iterator[Operator]:
    hidden = step.architecture.hidden
    match network:
        case Experts():
            yield from _experts(hidden, count, network, step)
        case Dense():
            yield from _dense(hidden, count, network, step, "mlp", "up", "down")
        case Square():
            yield linear("square", count, step, hidden, hidden / step.tp, "mlp")


def _attention(hidden: int, count: int, attention: Attention, step: Pass) -> Iterator[Operator]:
    heads = -(-attention.heads // step.tp)
    kv_heads = kv_heads_per_chip(attention.kv_heads, step.tp)
    query = heads * attention.key_dim
    columns = heads * (attention.query_columns // attention.heads)
    columns = columns + kv_heads * attention.kv_columns_per_head
    yield linear("qkv", count, step, hidden, columns, "attention")
    pairs = attended_pairs(attention, step.new, step.cached)
    read = visible_tokens(attention, step.new, step.cached)
    written = step.new if attention.own_cache else 0.0
    value = heads * attention.value_dim
    yield Operator(
        "attention_window" if attention.window else "attention",
        count,
        flop=attention.flop_per_pair / attention.heads * heads * pairs * step.batch,
        kv_bytes=kv_heads
        * attention.elements_per_kv_head
        * step.kv_element_bytes
        * (read + written)
        * step.batch,
        activation_bytes=(query + value) * ACTIVATION_BYTES * step.rows,
    )
    yield linear("out", count, step, value, hidden, "attention")


def _latent_attention(
    hidden: int, count: int, mla: LatentAttention, step: Pass
) -> Iterator[Operator]:
    """Latent attention; every chip keeps the whole latent cache."""
    heads = -(-mla.heads // step.tp)
    if mla.query_rank is None:
        yield linear("qkv", count, step, hidden, heads * mla.key_dim + mla.latent, "attention")
    else:
        yield linear("qkv_down", count, step, hidden, mla.query_rank + mla.latent, "attention")
        yield linear("query_up", count, step, mla.query_rank, heads * mla.key_dim, "attention")
    if mla.indexer:
        yield from _indexer(hidden, count, mla, mla.indexer, step)
    yield from (
        _absorbed(count, heads, mla, step) if step.absorbed else _expanded(count, heads, mla, step)
    )
    yield linear("out", count, step, heads * mla.value_dim, hidden, "attention")


def _absorbed(count: int, heads: Array, mla: LatentAttention, step: Pass) -> Iterator[Operator]:
    """Decode: the key's up-projection moves to the query, the value's behind the attention."""
    per_head = mla.kv_rank * (mla.nope_dim + mla.value_dim)
    edges = mla.nope_dim + 2 * mla.kv_rank + mla.value_dim
    each = weight_element_bytes(step.architecture, step.weights, "attention")
    yield Operator(
        "absorb",
        count,
        flop=2.0 * heads * per_head * step.rows,
        weight_bytes=heads * per_head * each,
        activation_bytes=heads * edges * ACTIVATION_BYTES * step.rows,
        low_precision=_low_precision(step, "attention"),
    )
    pairs = attended_pairs(mla, step.new, step.cached)
    moved = read_tokens(mla, step.new, step.cached) + step.new
    yield Operator(
        "attention",
        count,
        flop=mla.flop_per_pair / mla.heads * heads * pairs * step.batch,
        kv_bytes=mla.latent * step.kv_element_bytes * moved * step.batch,
        activation_bytes=heads * (mla.latent + mla.kv_rank) * ACTIVATION_BYTES * step.rows,
    )


def _expanded(count: int, heads: Array, mla: LatentAttention, step: Pass) -> Iterator[Operator]:
    """Prefill: keys and values of every visible token are expanded for all heads, then read."""
    seen = visible_tokens(mla, step.new, step.cached) * step.batch
    expanded = heads * (mla.nope_dim + mla.value_dim)
    up = linear("kv_up", count, step, mla.kv_rank, expanded, "attention", seen)
    yield replace(
        up,
        kv_bytes=mla.latent * step.kv_element_bytes * seen,
        activation_bytes=expanded * ACTIVATION_BYTES * seen,
    )
    pairs = attended_pairs(mla, step.new, step.cached)
    dims = mla.key_dim + mla.value_dim
    keys_and_values = (expanded + mla.rope_dim) * seen
    yield Operator(
        "attention",
        count,
        flop=2.0 * heads * dims * pairs * step.batch,
        kv_bytes=mla.latent * step.kv_element_bytes * step.rows,
        activation_bytes=(heads * dims * step.rows + keys_and_values) * ACTIVATION_BYTES,
    )


def _indexer(
    hidden: int, count: int, mla: LatentAttention, indexer: Indexer, step: Pass
) -> Iterator[Operator]:
    """Score every visible token with small heads, on every chip; its keys are read in full."""
    rank = mla.query_rank or hidden
    size = indexer.parameters(hidden, rank)
    columns = indexer.heads * (indexer.dim + 1) + indexer.dim
    yield Operator(
        "index_projections",
        count,
        flop=2.0 * size * step.rows,
        weight_bytes=size * weight_element_bytes(step.architecture, step.weights, "attention"),
        activation_bytes=(2 * rank + columns) * ACTIVATION_BYTES * step.rows,
        low_precision=_low_precision(step, "attention"),
    )
    pairs = step.new * step.cached + step.new * (step.new + 1) / 2
    seen = step.new + step.cached
    yield Operator(
        "attention_index",
        count,
        flop=2.0 * indexer.heads * indexer.dim * pairs * step.batch,
        kv_bytes=indexer.bytes_per_token * (seen + step.new) * step.batch,
        activation_bytes=indexer.heads * indexer.dim * ACTIVATION_BYTES * step.rows,
    )


def _recurrent(hidden: int, count: int, mixer: Recurrent, step: Pass) -> Iterator[Operator]:
    """Mix tokens through a state of constant size, read and written once a step."""
    columns, inner = mixer.input_columns / step.tp, mixer.inner / step.tp
    yield linear("mixer_in", count, step, hidden, columns, "attention")
    convolution = 2.0 * mixer.conv_channels * mixer.conv_kernel
    yield Operator(
        "recurrence",
        count,
        flop=(mixer.flop_per_token + 2.0 * mixer.small_parameters + convolution)
        / step.tp
        * step.rows,
        weight_bytes=mixer.small_parameters
        / step.tp
        * weight_element_bytes(step.architecture, step.weights, "attention"),
        kv_bytes=2.0 * mixer.state_bytes / step.tp * step.batch,
        activation_bytes=(columns + inner) * ACTIVATION_BYTES * step.rows,
    )
    yield linear("mixer_out", count, step, inner, hidden, "attention")


def _dense(
    hidden: int, count: int, mlp: Dense, step: Pass, part: str, up: str, down: str
) -> Iterator[Operator]:
    inner = mlp.intermediate / step.tp
    yield linear(up, count, step, hidden, (2 if mlp.gated else 1) * inner, part)
    yield linear(down, count, step, inner, hidden, part)


def _experts(hidden: int, count: int, mlp: Experts, step: Pass) -> Iterator[Operator]:
    yield linear("router", count, step, hidden, mlp.experts, "router")
    touched = distinct_experts(mlp.experts, mlp.top_k, step.rows)
    names = ("experts", "experts_up", "experts_down")
    for one in _dense(hidden, count, mlp.expert, step, *names):
        yield replace(
            one,
            flop=one.flop * mlp.top_k,
            weight_bytes=one.weight_bytes * touched,
            activation_bytes=one.activation_bytes * mlp.top_k,
        )
    if mlp.shared:
        yield from _dense(
            hidden, count, mlp.shared, step, "shared_experts", "shared_up", "shared_down"
        )
