"""One layer as kernels: its matrix products and its attention, and the small work between them.

`physics.operators` counts what any implementation must do, and leaves out work on single elements.
Run kernel by kernel, that work is launches of its own: each reads activations from memory, changes
them a little, and writes them back. Its FLOP are not counted: they run on the vector units, and are
well under a percent.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from physics.formats import ACTIVATION_BYTES
from physics.kv_cache import kv_heads_per_chip
from physics.layers import Attention, Experts, LatentAttention, Layers, Network
from physics.operators import Operator, Pass, all_reduce, head_operator, layer_operators

ELEMENTWISE = ("norm", "rope", "activation", "top_k", "combine", "residual")
"""Kernels that only change activations."""

_ATTENDS = ("attention", "attention_window")
_WIDENS = ("up", "experts_up", "shared_up")


def layer_kernels(layers: Layers, step: Pass) -> list[Operator]:
    """Return the kernels of one layer on one chip, in running order.

    Around the operators stand: a norm before the mixer and before the network, rotary positions
    before attention, the activation between the two halves of a network, the choice of experts and
    the sum of their outputs, the residual addition, and with several chips the all-reduce.
    Attention itself is one kernel (scores never reach memory). Norms on heads or after a block,
    which some models have, are left out.

    Examples
    --------
    >>> from physics.catalogue import model
    >>> from physics.operators import forward_pass
    >>> llama = model("llama-3.1-8b")
    >>> one = forward_pass(llama, batch=1, new_tokens=1, cached_tokens=2048)
    >>> " ".join(kernel.name for kernel in layer_kernels(llama.groups[0], one))
    'norm qkv rope attention out residual norm up activation down residual'
    """
    mixer, network = layer_operators(layers, step)
    kernels: list[Operator] = []
    if mixer:
        kernels += _block(_with_positions(layers, mixer, step), step)
    if layers.network:
        kernels += _block(_with_activations(layers.network, network, step), step)
    return kernels


def head_kernels(step: Pass) -> list[Operator]:
    """Return what follows the layers: the last norm and the head, for one token a sequence."""
    norm = 2 * step.architecture.hidden * ACTIVATION_BYTES * step.batch
    return [Operator("norm", 1, activation_bytes=norm), head_operator(step)]


def _block(inside: Iterator[Operator], step: Pass) -> Iterator[Operator]:
    """Put norm and residual around a mixer or a network."""
    hidden = step.architecture.hidden
    yield _elementwise("norm", 2 * hidden, step)
    yield from inside
    if np.any(step.tp > 1):
        yield all_reduce(1, step)
    yield _elementwise("residual", 3 * hidden, step)


def _with_positions(layers: Layers, mixer: list[Operator], step: Pass) -> Iterator[Operator]:
    for operator in mixer:
        if operator.name in _ATTENDS:
            yield _elementwise("rope", 2 * _rotated_columns(layers, step), step)
        yield operator


def _rotated_columns(layers: Layers, step: Pass) -> ArrayLike:
    """Elements of a token's queries and keys that the rotation reads, and writes."""
    attention = layers.attention
    heads = -(-attention.heads // step.tp)
    if isinstance(attention, LatentAttention):
        return (heads + 1) * attention.rope_dim
    assert isinstance(attention, Attention)
    keys = kv_heads_per_chip(attention.kv_heads, step.tp) if attention.own_cache else 0
    return (heads + keys) * attention.key_dim


def _with_activations(
    network: Network, operators: list[Operator], step: Pass
) -> Iterator[Operator]:
    hidden = step.architecture.hidden
    for operator in operators:
        yield operator
        if operator.name == "router":
            yield _elementwise("top_k", network.experts, step)
        if operator.name in _WIDENS:
            yield _elementwise("activation", _activated_columns(network, operator.name, step), step)
    if isinstance(network, Experts):
        outputs = network.top_k + (1 if network.shared else 0)
        yield _elementwise("combine", (outputs + 1) * hidden, step)


def _activated_columns(network: Network, name: str, step: Pass) -> ArrayLike:
    """Elements that an activation reads and writes for each token: a gate reads two."""
    if isinstance(network, Experts):
        mlp = network.shared if name == "shared_up" else network.expert
        times = 1 if name == "shared_up" else network.top_k
    else:
        mlp, times = network, 1
    return times * (3 if mlp.gated else 2) * mlp.intermediate / step.tp


def _elementwise(name: str, elements: ArrayLike, step: Pass) -> Operator:
    """Read and write `elements` numbers for each row."""
    return Operator(name, 1, activation_bytes=elements * ACTIVATION_BYTES * step.rows)
