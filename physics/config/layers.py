"""From the fields of a `config.json` to the blocks of each layer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from physics.config.families import Family
from physics.config.fields import Reading
from physics.errors import InputError
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

Notes = dict[str, None]
"""Assumptions, each once, in order."""


def read_layers(config: Reading, family: Family, notes: Notes) -> tuple[Layers, ...]:
    """Return the layers of a model, identical ones together."""
    if config.hybrid_override_pattern is not None:
        blocks = _pattern_blocks(config, family, notes)
    elif config.block_configs is not None:
        blocks = _listed_blocks(config, family, notes)
    else:
        _check_layer_types(config)
        blocks = (
            (_mixer(config, family, layer, notes), _network(config, family, layer))
            for layer in range(config.layers)
        )
    return tuple(Layers(count, *parts) for parts, count in Counter(blocks).items())


def _check_layer_types(config: Reading) -> None:
    for name in ("layer_types", "hybrid_layer_pattern"):
        given = getattr(config, name)
        if given is not None and len(given) != config.layers:
            raise InputError(name, f"must name {config.layers} layers, got {len(given)}")


# --- What mixes tokens


def _mixer(config: Reading, family: Family, layer: int, notes: Notes) -> Mixer:
    kind = _kind(config, family, layer, notes)
    if kind == "linear":
        return _delta_net(config)
    if kind == "mamba":
        return _mamba1(config)
    if config.kv_lora_rank:
        if kind != "full":
            notes["windows of latent attention are not understood: taken as full attention"] = None
        return _latent(config)
    window = None
    if kind == "window":
        window = config.sliding_window
    elif kind == "chunk":
        window = config.attention_chunk_size
    if config.num_kv_shared_layers >= config.layers:
        raise InputError(
            "num_kv_shared_layers",
            f"must be below the number of layers "
            f"({config.layers}), got {config.num_kv_shared_layers}",
        )
    shares = layer >= config.layers - config.num_kv_shared_layers
    return _attention(
        config,
        family,
        window=window,
        chunked=kind == "chunk",
        own_cache=not shares,
        full=kind == "full",
    )


def _kind(config: Reading, family: Family, layer: int, notes: Notes) -> str:
    """Say whether a layer's attention is full, in a window or a chunk, or not attention at all."""
    if config.layer_types is not None:
        return _named_kind(config, config.layer_types[layer], notes)
    if config.hybrid_layer_pattern is not None:
        if config.hybrid_layer_pattern[layer] and not config.sliding_window:
            raise InputError("sliding_window", "is missing, and hybrid_layer_pattern needs it")
        return "window" if config.hybrid_layer_pattern[layer] else "full"
    if config.attn_layer_period:
        if config.attn_layer_offset >= config.attn_layer_period:
            raise InputError(
                "attn_layer_offset",
                "must be below attn_layer_period "
                f"({config.attn_layer_period}), got {config.attn_layer_offset}",
            )
        attends = layer % config.attn_layer_period == config.attn_layer_offset
        return "full" if attends else "mamba"
    if config.full_attention_interval and config.linear_num_value_heads:
        return "full" if (layer + 1) % config.full_attention_interval == 0 else "linear"
    if config.attention_chunk_size:
        # Every fourth layer sees everything, unless a list says which.
        listed = config.no_rope_layers
        if listed and len(listed) != config.layers:
            raise InputError(
                "no_rope_layers", f"must name {config.layers} layers, got {len(listed)}"
            )
        sees_all = not listed[layer] if listed else (layer + 1) % 4 == 0
        return "full" if sees_all else "chunk"
    return _windowed_kind(config, family, layer, notes)


def _named_kind(config: Reading, name: str, notes: Notes) -> str:
    kind = {
        "full_attention": "full",
        "attention": "full",
        "global": "full",
        "global_attention": "full",
        "sliding_attention": "window",
        "sliding_window": "window",
        "local": "window",
        "local_attention": "window",
        "chunked_attention": "chunk",
        "linear_attention": "linear",
    }.get(name)
    if kind is None:
        notes[f"layer type {name!r} is not understood: taken as full attention"] = None
        return "full"
    needed = {
        "window": "sliding_window",
        "chunk": "attention_chunk_size",
        "linear": "linear_num_value_heads",
    }.get(kind)
    if needed and not getattr(config, needed):
        raise InputError(needed, f"is missing, and the layer type {name!r} needs it")
    return kind


def _windowed_kind(config: Reading, family: Family, layer: int, notes: Notes) -> str:
    if not config.sliding_window or config.use_sliding_window is False:
        return "full"
    if config.use_sliding_window:
        return "window" if layer >= config.max_window_layers else "full"
    every = config.sliding_window_pattern or family.full_every
    if isinstance(every, str):
        if set(every) <= {"L", "G"} and every:
            return "full" if every[layer % len(every)] == "G" else "window"
        raise InputError("sliding_window_pattern", "must be a number or made of L and G")
    if every:
        # Gemma 2 and gpt-oss begin with a window; so do the others.
        return "full" if (layer + 1) % every == 0 else "window"
    if not family.window_from_file:
        notes[f"sliding_window {config.sliding_window} is taken to hold for every layer"] = None
    return "window"


def _attention(
    config: Reading,
    family: Family,
    *,
    window: int | None,
    chunked: bool,
    own_cache: bool,
    full: bool,
) -> Attention:
    heads, kv_heads, key, value = _head_sizes(
        config, family, windowed=window is not None and not chunked, full=full
    )
    gate_norms = 2 * key if family.qk_norm else 0
    if config.model_type == "minimax_m2" and config.use_qk_norm:
        gate_norms = (heads + kv_heads) * key
    return Attention(
        heads,
        kv_heads,
        key,
        value,
        window=window,
        chunked=chunked,
        qkv_bias=config.attention_bias or config.qkv_bias or family.qkv_bias,
        out_bias=config.attention_bias or family.out_bias,
        own_cache=own_cache,
        shared_projection=config.attention_k_eq_v and full,
        gated_output=config.attn_output_gate,
        extra=gate_norms
        + (heads if family.sinks and (window or config.model_type == "gpt_oss") else 0),
    )


def _head_sizes(
    config: Reading, family: Family, *, windowed: bool, full: bool
) -> tuple[int, int, int, int]:
    """Return query heads, key-value heads, key size and value size of a layer."""
    if windowed and config.swa_num_attention_heads:
        key = config.swa_head_dim or _head_dim(config, family)
        heads = config.swa_num_attention_heads
        kv_heads = config.swa_num_key_value_heads or heads
        return _dividing(heads, kv_heads, key, config.swa_v_head_dim or key)
    key = _head_dim(config, family)
    if config.multi_query and config.kv_heads not in (None, 1):
        raise InputError("multi_query", f"contradicts num_key_value_heads ({config.kv_heads})")
    kv_heads = config.kv_heads or (1 if config.multi_query else config.heads)
    if full and config.global_head_dim:
        key = config.global_head_dim
        kv_heads = config.num_global_key_value_heads or kv_heads
        return _dividing(config.heads, kv_heads, key, key)
    return _dividing(config.heads, kv_heads, key, config.v_head_dim or key)


def _dividing(heads: int, kv_heads: int, key: int, value: int) -> tuple[int, int, int, int]:
    if heads % kv_heads:
        raise InputError(
            "num_key_value_heads", f"must divide num_attention_heads ({heads}), got {kv_heads}"
        )
    return heads, kv_heads, key, value


def _head_dim(config: Reading, family: Family) -> int:
    if config.head_dim or family.head_dim:
        return config.head_dim or family.head_dim
    if config.hidden_size % config.heads:
        raise InputError(
            "num_attention_heads",
            f"must divide hidden_size ({config.hidden_size}) "
            f"when head_dim is not given, got {config.heads}",
        )
    return config.hidden_size // config.heads


def _latent(config: Reading) -> LatentAttention:
    for field in ("qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"):
        if getattr(config, field) is None:
            raise InputError(field, "is missing, and latent attention (kv_lora_rank) needs it")
    indexer = None
    if config.index_topk:
        for field in ("index_n_heads", "index_head_dim"):
            if getattr(config, field) is None:
                raise InputError(field, "is missing, and sparse attention (index_topk) needs it")
        indexer = Indexer(config.index_n_heads, config.index_head_dim, config.index_topk)
    return LatentAttention(
        config.heads,
        config.q_lora_rank,
        config.kv_lora_rank,
        config.qk_nope_head_dim,
        config.qk_rope_head_dim,
        config.v_head_dim,
        indexer,
        extra=config.kv_lora_rank + (config.q_lora_rank or 0),
    )


def _delta_net(config: Reading) -> Recurrent:
    """Gated delta net: a matrix per value head; decay, two products with the key, one update."""
    for field in (
        "linear_num_key_heads",
        "linear_num_value_heads",
        "linear_key_head_dim",
        "linear_value_head_dim",
        "linear_conv_kernel_dim",
    ):
        if getattr(config, field) is None:
            raise InputError(field, "is missing, and linear attention needs it")
    keys = config.linear_num_key_heads * config.linear_key_head_dim
    values = config.linear_num_value_heads * config.linear_value_head_dim
    state = config.linear_num_value_heads * config.linear_key_head_dim
    state *= config.linear_value_head_dim
    return Recurrent(
        "gated delta net",
        inner=values,
        input_columns=2 * keys + 2 * values + 2 * config.linear_num_value_heads,
        conv_channels=2 * keys + values,
        conv_kernel=config.linear_conv_kernel_dim,
        state_elements=state,
        flop_per_token=7.0 * state,
        state_element_bytes=_state_bytes(config),
        extra=2 * config.linear_num_value_heads + config.linear_value_head_dim,
    )


def _mamba2(config: Reading) -> Recurrent:
    """Mamba-2: a head_dim x state matrix per head; decay, update, read-out."""
    for field in ("mamba_num_heads", "mamba_head_dim", "ssm_state_size"):
        if getattr(config, field) is None:
            raise InputError(field, "is missing, and a Mamba-2 layer needs it")
    inner = config.mamba_num_heads * config.mamba_head_dim
    groups = 2 * (config.mamba_groups or 1) * config.ssm_state_size
    state = inner * config.ssm_state_size
    return Recurrent(
        "Mamba-2",
        inner=inner,
        input_columns=2 * inner + groups + config.mamba_num_heads,
        conv_channels=inner + groups,
        conv_kernel=config.conv_kernel or 4,
        state_elements=state,
        flop_per_token=5.0 * state,
        state_element_bytes=_state_bytes(config),
        extra=3 * config.mamba_num_heads + 2 * inner + groups,
    )


def _mamba1(config: Reading) -> Recurrent:
    """Mamba: a state vector per channel, its step size from a low-rank projection."""
    if config.ssm_state_size is None:
        raise InputError("mamba_d_state", "is missing, and a Mamba layer needs it")
    inner = (config.mamba_expand or 2) * config.hidden_size
    rank = config.mamba_dt_rank or -(-config.hidden_size // 16)
    small = inner * (rank + 2 * config.ssm_state_size) + rank * inner
    state = inner * config.ssm_state_size
    return Recurrent(
        "Mamba",
        inner=inner,
        input_columns=2 * inner,
        conv_channels=inner,
        conv_kernel=config.conv_kernel or 4,
        state_elements=state,
        flop_per_token=5.0 * state,
        state_element_bytes=_state_bytes(config),
        small_parameters=small,
        extra=inner * config.ssm_state_size + 3 * inner + rank + 2 * config.ssm_state_size,
    )


def _state_bytes(config: Reading) -> float:
    return {"bfloat16": 2.0, "float16": 2.0}.get(config.mamba_ssm_cache_dtype or "", 4.0)


# --- What works on each token alone


def _network(config: Reading, family: Family, layer: int) -> Network:
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


# --- Files that list their blocks


def _pattern_blocks(
    config: Reading, family: Family, notes: Notes
) -> Iterator[tuple[Mixer | None, Network | None]]:
    """Read a string with a letter a block: Mamba-2, attention, network, experts."""
    pattern = config.hybrid_override_pattern or ""
    if len(pattern) != config.layers:
        raise InputError(
            "hybrid_override_pattern", f"must name {config.layers} blocks, got {len(pattern)}"
        )
    for letter in pattern:
        match letter:
            case "M":
                yield _mamba2(config), None
            case "*":
                yield (
                    _attention(
                        config, family, window=None, chunked=False, own_cache=True, full=True
                    ),
                    None,
                )
            case "E":
                yield None, _network(config, family, config.layers - 1)
            case "-":
                dense = config.intermediate_size
                if dense is None:
                    raise InputError("intermediate_size", "is missing")
                yield None, Dense(dense, family.gated, config.mlp_bias)
            case _:
                raise InputError(
                    "hybrid_override_pattern", f"must be made of M, *, E and -, got {letter!r}"
                )


def _listed_blocks(
    config: Reading, family: Family, notes: Notes
) -> Iterator[tuple[Mixer | None, Network | None]]:
    """Read a list with an attention and a network a layer, any of them absent or simplified."""
    blocks = config.block_configs or []
    if len(blocks) != config.layers:
        raise InputError("block_configs", f"must name {config.layers} layers, got {len(blocks)}")
    for layer, block in enumerate(blocks):
        where = f"block_configs.{layer}"
        attention, network = block.get("attention") or {}, block.get("ffn") or {}
        if not isinstance(attention, dict) or not isinstance(network, dict):
            raise InputError(where, "needs an attention and an ffn object")
        for part, known in ((attention, _LISTED_ATTENTION), (network, _LISTED_NETWORK)):
            for name, value in part.items():
                if name not in known and value not in (None, False, 0, [], {}):
                    notes[f"block_configs: {name!r} is not understood and was passed over"] = None
        yield (
            _listed_attention(config, family, attention, where),
            _listed_network(config, family, network, where),
        )


_LISTED_ATTENTION = {"no_op", "replace_with_linear", "n_heads_in_group", "window_length"}
_LISTED_NETWORK = {"no_op", "replace_with_linear", "ffn_mult", "intermediate_size", "hidden_act"}


def _listed_attention(
    config: Reading, family: Family, block: dict[str, Any], where: str
) -> Mixer | None:
    if block.get("no_op"):
        return None
    if block.get("replace_with_linear"):
        return Square()
    group = block.get("n_heads_in_group")
    if type(group) is not int or group < 1 or config.heads % group:
        raise InputError(
            f"{where}.attention.n_heads_in_group",
            f"must divide num_attention_heads ({config.heads}), got {group!r}",
        )
    window = block.get("window_length")
    if window is not None and (type(window) is not int or window < 1):
        raise InputError(f"{where}.attention.window_length", f"must be above 0, got {window!r}")
    key = _head_dim(config, family)
    return Attention(
        config.heads,
        config.heads // group,
        key,
        key,
        window=window,
        qkv_bias=config.attention_bias or family.qkv_bias,
        out_bias=config.attention_bias or family.out_bias,
    )


def _listed_network(
    config: Reading, family: Family, block: dict[str, Any], where: str
) -> Network | None:
    if block.get("no_op"):
        return None
    if block.get("replace_with_linear"):
        return Square()
    multiple = block.get("ffn_mult")
    size = block.get("intermediate_size") or config.intermediate_size
    if multiple is None and size:
        if type(size) is not int or not 0 < size <= 10**7:
            raise InputError(f"{where}.ffn.intermediate_size", f"must be above 0, got {size!r}")
        return Dense(size, family.gated, config.mlp_bias)
    if type(multiple) not in (int, float) or not 0 < multiple < 1000:
        raise InputError(f"{where}.ffn.ffn_mult", f"must be a number above 0, got {multiple!r}")
    # Two thirds of the multiple of the hidden size, rounded up to whole 256.
    inner = int(2 * multiple * config.hidden_size / 3)
    return Dense(-(-inner // 256) * 256, family.gated, config.mlp_bias)
