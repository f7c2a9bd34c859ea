"""What a decoder-only transformer is made of: layers of different kinds, and their parameters.

Nothing here knows a chip or a batch. Counts are exact for the matrices, and include norms and
biases where the model has them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Attention:
    """Softmax attention with its own keys and values: MHA, GQA or MQA, full or windowed.

    Attributes
    ----------
    heads, kv_heads : int
        Query heads, and the key-value heads they share.
    key_dim, value_dim : int
        Size of one head's query/key, and of its value. Not hidden / heads in every model.
    window : int or None
        Newest tokens that a query sees, itself included; None: all.
    chunked : bool
        The window is a fixed chunk (a query sees its own chunk up to itself), not a sliding one.
    bias : bool
        The four projections carry biases.
    """

    heads: int
    kv_heads: int
    key_dim: int
    value_dim: int
    window: int | None = None
    chunked: bool = False
    bias: bool = False

    @property
    def kv_elements_per_token(self) -> int:
        """Elements cached for each token."""
        return self.kv_heads * (self.key_dim + self.value_dim)

    def parameters(self, hidden: int) -> int:
        """Count the weights of the projections."""
        columns = self.heads * self.key_dim + self.kv_elements_per_token
        matrices = hidden * columns + self.heads * self.value_dim * hidden
        return matrices + (columns + hidden if self.bias else 0)


@dataclass(frozen=True)
class LatentAttention:
    """Multi-head latent attention (MLA): one compressed key-value vector a token for all heads.

    Source: DeepSeek-V2, arXiv 2405.04434, section 2.1.
    """

    heads: int
    query_rank: int | None
    kv_rank: int
    nope_dim: int
    rope_dim: int
    value_dim: int
    window: int | None = None
    chunked: bool = False

    @property
    def kv_elements_per_token(self) -> int:
        """Elements cached for each token: the latent vector and the shared rotary key."""
        return self.kv_rank + self.rope_dim

    @property
    def key_dim(self) -> int:
        """Size of one head's query and expanded key."""
        return self.nope_dim + self.rope_dim

    def parameters(self, hidden: int) -> int:
        """Count the weights of the projections."""
        query_columns = self.heads * self.key_dim
        if self.query_rank is None:
            query = hidden * query_columns
        else:
            query = hidden * self.query_rank + self.query_rank * query_columns
        down = hidden * self.kv_elements_per_token
        up = self.kv_rank * self.heads * (self.nope_dim + self.value_dim)
        return query + down + up + self.heads * self.value_dim * hidden


@dataclass(frozen=True)
class Dense:
    """A plain or gated feed-forward network."""

    intermediate: int
    gated: bool = True
    bias: bool = False

    def parameters(self, hidden: int) -> int:
        """Count the weights."""
        up = (2 if self.gated else 1) * self.intermediate
        return hidden * (up + self.intermediate) + (up + hidden if self.bias else 0)


@dataclass(frozen=True)
class Experts:
    """A mixture of experts: `top_k` of `experts` feed-forward networks for each token.

    Attributes
    ----------
    shared : Dense or None
        A network that every token passes as well.
    """

    experts: int
    top_k: int
    intermediate: int
    gated: bool = True
    bias: bool = False
    shared: Dense | None = None

    @property
    def expert(self) -> Dense:
        """One routed expert."""
        return Dense(self.intermediate, self.gated, self.bias)

    def router_parameters(self, hidden: int) -> int:
        """Count the weights that choose the experts."""
        return hidden * self.experts

    def parameters(self, hidden: int) -> int:
        """Count the weights of all experts, the shared network and the router."""
        shared = self.shared.parameters(hidden) if self.shared else 0
        routed = self.experts * self.expert.parameters(hidden)
        return routed + shared + self.router_parameters(hidden)

    def idle_parameters(self, hidden: int) -> int:
        """Count the weights that one token does not touch."""
        return (self.experts - self.top_k) * self.expert.parameters(hidden)


@dataclass(frozen=True)
class Layers:
    """`count` identical layers (they need not be neighbours)."""

    count: int
    attention: Attention | LatentAttention
    mlp: Dense | Experts


@dataclass(frozen=True)
class Architecture:
    """A model, as far as its cost goes.

    Attributes
    ----------
    groups : tuple of Layers
        Its layers, identical ones together.
    tied_head : bool
        The head reuses the embedding table: one table in memory, the same work.
    positions : int
        Rows of a learned position table (0: none).
    embedding_is_active : bool
        Whether the publisher counts the embedding table among the active parameters.
    assumptions, left_out : tuple of str
        What the reader of its file had to assume, and what is not counted.
    """

    slug: str
    name: str
    hidden: int
    vocabulary: int
    groups: tuple[Layers, ...]
    tied_head: bool = False
    positions: int = 0
    norms_per_layer: int = 2
    embedding_is_active: bool = True
    longest_context: int | None = None
    source: str = ""
    assumptions: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    parameters_by_part: Mapping[str, int] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters_by_part", self._count_parts())

    def _count_parts(self) -> dict[str, int]:
        parts = {
            "embedding": (self.vocabulary + self.positions) * self.hidden,
            "attention": 0,
            "mlp": 0,
            "experts": 0,
            "shared_experts": 0,
            "router": 0,
            "norms": self.hidden * (1 + self.norms_per_layer * self.layers),
            "head": 0 if self.tied_head else self.vocabulary * self.hidden,
        }
        for group in self.groups:
            parts["attention"] += group.count * group.attention.parameters(self.hidden)
            mlp = group.mlp
            if isinstance(mlp, Experts):
                expert = mlp.expert.parameters(self.hidden)
                parts["experts"] += group.count * mlp.experts * expert
                parts["router"] += group.count * mlp.router_parameters(self.hidden)
                if mlp.shared:
                    parts["shared_experts"] += group.count * mlp.shared.parameters(self.hidden)
            else:
                parts["mlp"] += group.count * mlp.parameters(self.hidden)
        return parts

    @property
    def layers(self) -> int:
        """Number of layers."""
        return sum(group.count for group in self.groups)

    @property
    def parameters(self) -> int:
        """All parameters that occupy memory."""
        return sum(self.parameters_by_part.values())

    @property
    def active_parameters(self) -> int:
        """Parameters that one token passes, counted as the publisher counts them."""
        idle = sum(
            group.count * group.mlp.idle_parameters(self.hidden)
            for group in self.groups
            if isinstance(group.mlp, Experts)
        )
        untouched = 0
        if not self.embedding_is_active and not self.tied_head:
            untouched = self.parameters_by_part["embedding"]
        return self.parameters - idle - untouched

    @property
    def experts(self) -> Experts | None:
        """The mixture of experts, or None for a dense model."""
        return next((g.mlp for g in self.groups if isinstance(g.mlp, Experts)), None)

    @property
    def attention_kind(self) -> str:
        """The kind of attention in one word: MHA, GQA, MQA, MLA, or a mix with windows."""
        kinds = {_attention_kind(group.attention) for group in self.groups}
        name = kinds.pop() if len(kinds) == 1 else "GQA"
        windowed = [group for group in self.groups if group.attention.window]
        return f"{name} + window" if windowed else name


def _attention_kind(attention: Attention | LatentAttention) -> str:
    if isinstance(attention, LatentAttention):
        return "MLA"
    if attention.kv_heads == attention.heads:
        return "MHA"
    return "MQA" if attention.kv_heads == 1 else "GQA"
