"""What lets a layer's tokens see each other, from the fields of a `config.json`."""

from __future__ import annotations

from physics.config.families import Family
from physics.config.fields import Reading
from physics.errors import InputError
from physics.layers import Attention, Indexer, LatentAttention, Mixer, Recurrent

Notes = dict[str, None]
"""Assumptions, each once, in order."""


def read_mixer(config: Reading, family: Family, layer: int, notes: Notes) -> Mixer:
    """Return the mixer of a layer, counted from 0."""
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
    return read_attention(
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


def read_attention(
    config: Reading,
    family: Family,
    *,
    window: int | None,
    chunked: bool,
    own_cache: bool,
    full: bool,
) -> Attention:
    """Return softmax attention, full or within a window or a chunk."""
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
        key = config.swa_head_dim or head_dim_of(config, family)
        heads = config.swa_num_attention_heads
        kv_heads = config.swa_num_key_value_heads or heads
        return _dividing(heads, kv_heads, key, config.swa_v_head_dim or key)
    key = head_dim_of(config, family)
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


def head_dim_of(config: Reading, family: Family) -> int:
    """Return the size of a head: the file's, the type's default, or hidden size over heads."""
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


def read_mamba2(config: Reading) -> Recurrent:
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
