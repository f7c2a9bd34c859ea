"""A decoder-only language model, as far as its cost goes: its layers and its parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from physics.layers import Attention, Experts, LatentAttention, Layers, Mixer, Network
from physics.quantisation import BF16, Quantisation


@dataclass(frozen=True, eq=False)
class Architecture:
    """A model; two of them are the same only if they are one object.

    Attributes
    ----------
    groups : tuple of Layers
        Its layers, identical ones together.
    tied_head : bool
        The head reuses the embedding table: one table in memory, the same work.
    extra_embedding : int
        Parameters of further tables that are only looked up (positions, per-layer inputs).
    embedding_is_active : bool
        Whether the publisher counts the embedding table among the active parameters.
    quantisation : Quantisation
        How the published weights are stored.
    assumptions, left_out : tuple of str
        What the reader of its file had to assume, and what is not counted.
    """

    slug: str
    name: str
    hidden: int
    vocabulary: int
    groups: tuple[Layers, ...]
    tied_head: bool = False
    extra_embedding: int = 0
    head_bias: int = 0
    norms_per_layer: int = 2
    final_norms: int = 1
    embedding_is_active: bool = True
    longest_context: int | None = None
    quantisation: Quantisation = BF16
    source: str = ""
    assumptions: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    parameters_by_part: Mapping[str, int] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters_by_part", self._count_parts())

    def _count_parts(self) -> dict[str, int]:
        hidden = self.hidden
        parts = {
            "embedding": self.vocabulary * hidden + self.extra_embedding,
            "attention": 0,
            "mlp": 0,
            "experts": 0,
            "shared_experts": 0,
            "router": 0,
            "norms": hidden * (self.final_norms + self._norms()),
            "head": self.head_bias + (0 if self.tied_head else self.vocabulary * hidden),
        }
        for group in self.groups:
            if group.mixer:
                parts["attention"] += group.count * group.mixer.parameters(hidden)
            network = group.network
            if isinstance(network, Experts):
                routed = network.experts * network.expert.parameters(hidden)
                parts["experts"] += group.count * routed
                parts["router"] += group.count * network.router_parameters(hidden)
                if network.shared:
                    shared = network.shared.parameters(hidden)
                    parts["shared_experts"] += group.count * shared
            elif network:
                parts["mlp"] += group.count * network.parameters(hidden)
        return parts

    def _norms(self) -> int:
        """Count the norms of all layers: half of a layer's belong to each part that it has."""
        if self.norms_per_layer == 1:
            return self.layers
        return (
            sum(
                group.count * ((group.mixer is not None) + (group.network is not None))
                for group in self.groups
            )
            * self.norms_per_layer
            // 2
        )

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
        return self.parameters - self._idle() - self._looked_up()

    def _idle(self) -> int:
        return sum(
            group.count * group.network.idle_parameters(self.hidden)
            for group in self.groups
            if isinstance(group.network, Experts)
        )

    def _looked_up(self) -> int:
        counted = self.embedding_is_active or self.tied_head
        return self.extra_embedding + (0 if counted else self.vocabulary * self.hidden)

    @property
    def active_parameters_by_part(self) -> dict[str, int]:
        """Parameters that one token passes, by part."""
        parts = dict(self.parameters_by_part)
        parts["experts"] -= self._idle()
        parts["embedding"] -= self._looked_up()
        return parts

    @property
    def experts(self) -> Experts | None:
        """The mixture of experts, or None for a dense model."""
        return next((g.network for g in self.groups if isinstance(g.network, Experts)), None)

    @cached_property
    def mixers(self) -> tuple[tuple[int, Mixer], ...]:
        """The different mixers, each with the number of layers that have it."""
        return _counted((group.count, group.mixer) for group in self.groups)

    @cached_property
    def networks(self) -> tuple[tuple[int, Network], ...]:
        """The different networks, each with the number of layers that have it."""
        return _counted((group.count, group.network) for group in self.groups)

    def attentions(self) -> Iterator[tuple[int, Attention | LatentAttention]]:
        """Yield the attentions and how many layers have each."""
        for count, mixer in self.mixers:
            if isinstance(mixer, Attention | LatentAttention):
                yield count, mixer

    @property
    def state_bytes(self) -> float:
        """Bytes that the recurrent layers keep for each sequence, whatever its length."""
        return sum(g.count * g.recurrent.state_bytes for g in self.groups if g.recurrent)

    @property
    def attention_kind(self) -> str:
        """The kind of attention in a few words, such as 'GQA', 'MLA', 'GQA + window'."""
        kinds = dict.fromkeys(attention.kind for _, attention in self.attentions())
        words = list(kinds) if len(kinds) == 1 else ["GQA"] if kinds else []
        if any(attention.window for _, attention in self.attentions()):
            words.append("window")
        words += dict.fromkeys(g.recurrent.kind for g in self.groups if g.recurrent)
        return " + ".join(words) or "none"


def _counted(blocks: Iterable[tuple[int, Any]]) -> tuple[tuple[int, Any], ...]:
    """Put equal blocks together, in the order of their first layer; absent ones are left out."""
    counts: dict[Any, int] = {}
    for count, block in blocks:
        if block is not None:
            counts[block] = counts.get(block, 0) + count
    return tuple((count, block) for block, count in counts.items())
