"""What works on each token of a layer alone, from the fields of a `config.json`."""

from __future__ import annotations

from physics.config.families import Family
from physics.config.fields import Reading
from physics.errors import InputError
from physics.layers import Dense, Experts, Network


def read_network(config: Reading, family: Family, layer: int) -> Network:
    """Return the network of a layer, counted from 0."""
    mlp_bias = config.mlp_bias or family.mlp_bias
    dense = config.intermediate_size_mlp or config.intermediate_size
    if config.experts and _has_experts(config, layer):
        inner = config.moe_intermediate_size or config.intermediate_size
        if inner is None:
            raise InputError("moe_intermediate_size", "is missing, and the experts need it")
        number = config.n_shared_experts
        shared = config.shared_expert_intermediate_size or number * inner
        if config.enable_moe_block:  # a dense network beside the experts
            shared = config.intermediate_size or 0
        elif config.model_type.startswith("llama4"):
            shared = inner
        return _experts(config, family, inner, shared, mlp_bias)
    if dense is None and not family.gated:
        dense = 4 * config.hidden_size
    if dense is None:
        raise InputError("intermediate_size", "is missing")
    return Dense(dense, family.gated, mlp_bias)


def _experts(config: Reading, family: Family, inner: int, shared: int, mlp_bias: bool) -> Experts:
    if not 1 <= config.top_k <= config.experts:
        raise InputError(
            "num_experts_per_tok",
            f"must be from 1 to {config.experts} (the number "
            f"of experts), got {config.top_k or 'none'}",
        )
    gate = config.hidden_size if config.model_type in ("qwen2_moe", "qwen3_next") and shared else 0
    return Experts(
        config.experts,
        config.top_k,
        inner,
        family.gated,
        mlp_bias,
        Dense(shared, family.gated) if shared else None,
        router_extra=(config.experts if family.router_bias else 0) + gate,
    )


def _has_experts(config: Reading, layer: int) -> bool:
    if layer < config.first_k_dense_replace or layer in (config.mlp_only_layers or ()):
        return False
    if config.moe_layers is not None:
        if any(not 0 <= one < config.layers for one in config.moe_layers):
            raise InputError("moe_layers", f"must be numbers below {config.layers}")
        return layer in config.moe_layers
    if isinstance(config.moe_layer_freq, list):
        if len(config.moe_layer_freq) != config.layers:
            raise InputError(
                "moe_layer_freq",
                f"must name {config.layers} layers, got {len(config.moe_layer_freq)}",
            )
        return bool(config.moe_layer_freq[layer])
    if config.moe_layer_freq is not None:
        if config.moe_layer_freq < 1:
            raise InputError("moe_layer_freq", f"must be at least 1, got {config.moe_layer_freq}")
        return layer % config.moe_layer_freq == 0
    if config.expert_layer_period:
        return layer % config.expert_layer_period == config.expert_layer_offset
    step = config.decoder_sparse_step or config.interleave_moe_layer_step or 1
    return (layer + 1) % step == 0
