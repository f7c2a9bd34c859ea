"""The building blocks of a layer: what mixes tokens, and what works on each token alone.

Each block knows its own sizes and counts its own weights; nothing here knows a chip or a batch.
"""

from __future__ import annotations

from dataclasses import dataclass


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
    qkv_bias, out_bias : bool
        Which projections carry biases.
    own_cache : bool
        False: the layer reads the keys and values of an earlier layer, and stores none.
    shared_projection : bool
        One projection makes both key and value; engines store them apart all the same.
    gated_output : bool
        The query projection also makes a gate of the same size for the output.
    extra : int
        Further parameters: norms on heads, sinks.
    """

    heads: int
    kv_heads: int
    key_dim: int
    value_dim: int
    window: int | None = None
    chunked: bool = False
    qkv_bias: bool = False
    out_bias: bool = False
    own_cache: bool = True
    shared_projection: bool = False
    gated_output: bool = False
    extra: int = 0

    @property
    def kind(self) -> str:
        """MHA, GQA or MQA."""
        if self.kv_heads == self.heads:
            return "MHA"
        return "MQA" if self.kv_heads == 1 else "GQA"

    @property
    def elements_per_kv_head(self) -> int:
        """Elements of one head's key and value."""
        return self.key_dim + self.value_dim

    @property
    def query_columns(self) -> int:
        """Columns of the query projection."""
        return self.heads * self.key_dim * (2 if self.gated_output else 1)

    @property
    def kv_columns_per_head(self) -> int:
        """Columns of the key and value projections for one head."""
        if not self.own_cache:
            return 0
        return self.key_dim if self.shared_projection else self.elements_per_kv_head

    @property
    def flop_per_pair(self) -> int:
        """FLOP of one query-key pair, all heads."""
        return 2 * self.heads * (self.key_dim + self.value_dim)

    def parameters(self, hidden: int) -> int:
        """Count the weights of the projections."""
        columns = self.query_columns + self.kv_heads * self.kv_columns_per_head
        matrices = hidden * columns + self.heads * self.value_dim * hidden
        biases = columns * self.qkv_bias + hidden * self.out_bias
        return matrices + biases + self.extra


@dataclass(frozen=True)
class Indexer:
    """Picks the keys that sparse attention reads (DeepSeek-V3.2): small heads score every token.

    Attributes
    ----------
    heads, dim : int
        Its query heads and their size; one key of that size is cached for each token.
    top_k : int
        Tokens that each query attends to, at most.
    """

    heads: int
    dim: int
    top_k: int

    @property
    def bytes_per_token(self) -> float:
        """Bytes cached for each token: an fp8 key and its 32-bit scale."""
        return self.dim + 4.0

    def parameters(self, hidden: int, query_rank: int) -> int:
        """Count the weights."""
        return query_rank * self.heads * self.dim + hidden * (self.dim + self.heads)


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
    indexer: Indexer | None = None
    window: int | None = None
    chunked: bool = False
    extra: int = 0

    @property
    def kind(self) -> str:
        """MLA, or MLA with sparse reading."""
        return "sparse MLA" if self.indexer else "MLA"

    @property
    def latent(self) -> int:
        """Elements cached for each token: the latent vector and the shared rotary key."""
        return self.kv_rank + self.rope_dim

    @property
    def key_dim(self) -> int:
        """Size of one head's query and expanded key."""
        return self.nope_dim + self.rope_dim

    @property
    def flop_per_pair(self) -> int:
        """FLOP of one query-key pair in the absorbed form, all heads."""
        return 2 * self.heads * (self.latent + self.kv_rank)

    def parameters(self, hidden: int) -> int:
        """Count the weights of the projections."""
        query_columns = self.heads * self.key_dim
        if self.query_rank is None:
            query = hidden * query_columns
        else:
            query = hidden * self.query_rank + self.query_rank * query_columns
        down = hidden * self.latent
        up = self.kv_rank * self.heads * (self.nope_dim + self.value_dim)
        index = self.indexer.parameters(hidden, self.query_rank or hidden) if self.indexer else 0
        return query + down + up + self.heads * self.value_dim * hidden + index + self.extra


@dataclass(frozen=True)
class Recurrent:
    """A mixer with a constant state per sequence: Mamba-2, linear attention, gated delta net.

    Attributes
    ----------
    kind : str
        How the family is called.
    inner : int
        Rows of the output projection.
    input_columns : int
        Columns of all input projections together.
    conv_channels, conv_kernel : int
        The short convolution before the recurrence (0: none).
    state_elements : int
        Elements of the state of one sequence.
    flop_per_token : float
        FLOP of the recurrence for one token, as it runs in decode.
    state_element_bytes : float
        Size of a state element; fp32 unless the model's file says otherwise.
    small_parameters : int
        Weights of the small products inside (a step size from a low rank), read with the state.
    """

    kind: str
    inner: int
    input_columns: int
    conv_channels: int
    conv_kernel: int
    state_elements: int
    flop_per_token: float
    state_element_bytes: float = 4.0
    small_parameters: int = 0
    extra: int = 0

    @property
    def state_bytes(self) -> float:
        """Bytes that a sequence keeps in this layer, whatever its length."""
        convolved = self.conv_channels * max(self.conv_kernel - 1, 0) * 2.0
        return self.state_elements * self.state_element_bytes + convolved

    def parameters(self, hidden: int) -> int:
        """Count the weights of the projections and the convolution."""
        projections = hidden * (self.input_columns + self.inner)
        inside = self.conv_channels * self.conv_kernel + self.small_parameters
        return projections + inside + self.extra


@dataclass(frozen=True)
class Square:
    """One hidden x hidden matrix in place of attention (found by architecture search)."""

    kind: str = "linear"

    def parameters(self, hidden: int) -> int:
        """Count the weights."""
        return hidden * hidden


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
    router_extra: int = 0

    @property
    def expert(self) -> Dense:
        """One routed expert."""
        return Dense(self.intermediate, self.gated, self.bias)

    def router_parameters(self, hidden: int) -> int:
        """Count the weights that choose the experts."""
        return hidden * self.experts + self.router_extra

    def parameters(self, hidden: int) -> int:
        """Count the weights of all experts, the shared network and the router."""
        shared = self.shared.parameters(hidden) if self.shared else 0
        routed = self.experts * self.expert.parameters(hidden)
        return routed + shared + self.router_parameters(hidden)

    def idle_parameters(self, hidden: int) -> int:
        """Count the weights that one token does not touch."""
        return (self.experts - self.top_k) * self.expert.parameters(hidden)


Mixer = Attention | LatentAttention | Recurrent | Square
"""What lets a token see the others."""

Network = Dense | Experts | Square
"""What works on each token alone."""


@dataclass(frozen=True)
class Layers:
    """`count` identical layers (they need not be neighbours); either part may be absent."""

    count: int
    mixer: Mixer | None
    network: Network | None

    @property
    def attention(self) -> Attention | LatentAttention | None:
        """The mixer where it attends to cached tokens."""
        return self.mixer if isinstance(self.mixer, Attention | LatentAttention) else None

    @property
    def recurrent(self) -> Recurrent | None:
        """The mixer where it keeps a constant state."""
        return self.mixer if isinstance(self.mixer, Recurrent) else None
