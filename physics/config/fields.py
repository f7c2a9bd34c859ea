"""The fields of a `config.json` that decide cost, under the names in which files have them."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from physics.errors import InputError


def _names(*names: str) -> Any:
    return Field(validation_alias=AliasChoices(*names))


def _none_is_absent(default: Any) -> BeforeValidator:
    """Files write null for a field that they do not use."""
    return BeforeValidator(lambda value: default if value is None else value)


Size = Annotated[int, Field(gt=0, le=10**7)]
"""A size of something that exists."""

Count = Annotated[int, Field(ge=0, le=10**6), _none_is_absent(0)]
"""A number of things of which there may be none."""

Flag = Annotated[bool, _none_is_absent(False)]

LIMIT_OF_LAYERS = 10_000


class Config(BaseModel):
    """A model's file, its language part; what is not listed here is kept as extra."""

    model_config = ConfigDict(extra="allow", strict=True, protected_namespaces=())

    model_type: str = ""
    architectures: list[str] | None = None
    is_encoder_decoder: Flag = False

    hidden_size: Annotated[Size, _names("hidden_size", "n_embd", "d_model", "dim")]
    layers: Annotated[
        int,
        Field(gt=0, le=LIMIT_OF_LAYERS),
        _names("num_hidden_layers", "n_layer", "n_layers", "num_layers"),
    ]
    heads: Annotated[Size, _names("num_attention_heads", "n_head", "n_heads", "num_heads")]
    kv_heads: Annotated[
        Size | None, _names("num_key_value_heads", "n_head_kv", "num_kv_heads", "n_kv_heads")
    ] = None
    multi_query: Flag = False
    head_dim: Annotated[Size | None, _names("head_dim", "d_head", "kv_channels")] = None
    v_head_dim: Size | None = None
    intermediate_size: Annotated[
        Size | None, _names("intermediate_size", "ffn_dim", "n_inner", "ffn_hidden_size", "d_ff")
    ] = None
    vocab_size: Size
    tie_word_embeddings: bool | None = None
    attention_bias: Flag = False
    qkv_bias: Flag = False
    mlp_bias: Flag = False
    use_qk_norm: Flag = False
    attn_output_gate: Flag = False
    hidden_act: Annotated[
        str | None,
        _names("hidden_act", "hidden_activation", "activation_function", "mlp_hidden_act"),
    ] = None
    longest_context: Annotated[
        Annotated[int, Field(gt=0, le=10**12)] | None,
        _names("max_position_embeddings", "n_positions", "max_seq_len", "seq_length"),
    ] = None

    # Windows, and layers of different kinds.
    sliding_window: Count = 0
    use_sliding_window: bool | None = None
    max_window_layers: Count = 0
    sliding_window_pattern: Count | str = 0
    layer_types: list[str] | None = None
    attention_chunk_size: Count = 0
    no_rope_layers: list[int] | None = None
    num_kv_shared_layers: Count = 0
    attention_k_eq_v: Flag = False
    global_head_dim: Size | None = None
    num_global_key_value_heads: Size | None = None
    hidden_size_per_layer_input: Count = 0
    vocab_size_per_layer_input: Count = 0
    hybrid_layer_pattern: list[int] | None = None
    swa_num_attention_heads: Size | None = None
    swa_num_key_value_heads: Size | None = None
    swa_head_dim: Size | None = None
    swa_v_head_dim: Size | None = None
    block_configs: list[dict[str, Any]] | None = None
    hybrid_override_pattern: str | None = None
    attn_layer_period: Count = 0
    attn_layer_offset: Count = 0
    full_attention_interval: Count = 0

    # Mixtures of experts.
    experts: Annotated[
        Count, _names("num_local_experts", "n_routed_experts", "num_experts", "moe_num_experts")
    ] = 0
    top_k: Annotated[
        Count,
        _names(
            "num_experts_per_tok",
            "experts_per_token",
            "top_k_experts",
            "moe_top_k",
            "num_experts_per_token",
        ),
    ] = 0
    moe_intermediate_size: Annotated[
        Size | None,
        _names("moe_intermediate_size", "expert_ffn_hidden_size", "moe_ffn_hidden_size"),
    ] = None
    intermediate_size_mlp: Size | None = None
    n_shared_experts: Annotated[Count, _names("n_shared_experts", "num_shared_experts")] = 0
    shared_expert_intermediate_size: Annotated[
        Count,
        _names(
            "shared_expert_intermediate_size",
            "moe_shared_expert_intermediate_size",
            "shared_intermediate_size",
        ),
    ] = 0
    first_k_dense_replace: Count = 0
    moe_layer_freq: int | list[int] | None = None
    mlp_only_layers: list[int] | None = None
    decoder_sparse_step: Count = 0
    interleave_moe_layer_step: Count = 0
    moe_layers: list[int] | None = None
    expert_layer_period: Count = 0
    expert_layer_offset: Count = 0
    enable_moe_block: Flag = False

    # Extra prediction layers, which a plain step does not run.
    num_nextn_predict_layers: Count = 0
    mtp_num_hidden_layers: Count = 0
    num_mtp_modules: Count = 0
    use_mtp: Flag = False

    # Latent attention, and its indexer.
    kv_lora_rank: Size | None = None
    q_lora_rank: Size | None = None
    qk_nope_head_dim: Size | None = None
    qk_rope_head_dim: Size | None = None
    index_n_heads: Size | None = None
    index_head_dim: Size | None = None
    index_topk: Size | None = None

    # Recurrent layers.
    mamba_num_heads: Annotated[Size | None, _names("mamba_num_heads", "mamba_n_heads")] = None
    mamba_head_dim: Annotated[Size | None, _names("mamba_head_dim", "mamba_d_head")] = None
    mamba_groups: Annotated[Size | None, _names("n_groups", "mamba_n_groups")] = None
    ssm_state_size: Annotated[
        Size | None, _names("ssm_state_size", "mamba_d_state", "state_size")
    ] = None
    conv_kernel: Annotated[Size | None, _names("conv_kernel", "mamba_d_conv")] = None
    mamba_expand: Annotated[Size | None, _names("mamba_expand", "expand")] = None
    mamba_dt_rank: Size | None = None
    mamba_ssm_cache_dtype: Annotated[
        str | None, _names("mamba_ssm_cache_dtype", "mamba_ssm_dtype")
    ] = None
    linear_num_key_heads: Size | None = None
    linear_num_value_heads: Size | None = None
    linear_key_head_dim: Size | None = None
    linear_value_head_dim: Size | None = None
    linear_conv_kernel_dim: Size | None = None

    quantization_config: dict[str, Any] | None = None


KNOWN_NAMES = {
    name
    for field_name, field in Config.model_fields.items()
    for name in (
        [str(choice) for choice in field.validation_alias.choices]
        if isinstance(field.validation_alias, AliasChoices)
        else [field_name]
    )
}

SIZES_WITH_SEVERAL_NAMES = [
    [str(choice) for choice in field.validation_alias.choices]
    for name, field in Config.model_fields.items()
    if isinstance(field.validation_alias, AliasChoices) and name not in ("hidden_act",)
]

# Fields that say something of the file, not of the cost.
_DESCRIPTIVE = {
    "architectures",
    "is_encoder_decoder",
    "model_type",
    "longest_context",
    "hidden_act",
    "tie_word_embeddings",
    "kv_heads",
    "use_sliding_window",
    "max_window_layers",
    "head_dim",
    "intermediate_size",
    "v_head_dim",
    "use_qk_norm",
    "expert_layer_offset",
    "attn_layer_offset",
    "mamba_expand",
    "moe_intermediate_size",
    "attention_chunk_size",
    "full_attention_interval",
    "vocab_size_per_layer_input",
}


def first_name(field: str) -> str:
    """Return the name under which most files have a field.

    Examples
    --------
    >>> first_name("experts")
    'num_local_experts'
    """
    alias = Config.model_fields[field].validation_alias
    return str(alias.choices[0]) if isinstance(alias, AliasChoices) else field


# Words in a field's name that speak of layers, heads, experts, caches or states.
_TELLING = re.compile(
    r"mamba|ssm|linear_|lru|rwkv|conv|sparse|compress|share|cross_|moe|expert|window|chunk|lora"
    r"|latent|index_|mtp|nextn|head|layer|block|attn|kv_|cache|memory|altup|laurel|intermediate"
    r"|ffn|local|global|recurrent|state|mixer"
)

# Such fields that change no cost, or none that is counted here.
_HARMLESS = {
    "use_cache",
    "pretraining_tp",
    "output_router_logits",
    "router_aux_loss_coef",
    "norm_topk_prob",
    "num_logits_to_keep",
    "layer_norm_eps",
    "layernorm_epsilon",
    "layer_norm_epsilon",
    "add_swa_attention_sink_bias",
    "add_full_attention_sink_bias",
    "attention_value_scale",
    "use_mamba_kernels",
    "use_conv_bias",
    "mamba_proj_bias",
    "mamba_hidden_act",
    "cache_implementation",
    "attn_implementation",
    "_attn_implementation",
    "moe_router_dtype",
    "expert_capacity",
    "attn_logit_softcapping",
    "attn_temperature_tuning",
    "attn_scale",
    "query_pre_attn_scalar",
    "rope_local_base_freq",
    "local_rope_theta",
    "global_rope_theta",
    "use_double_wide_mlp",
    "mtp_use_dedicated_embeddings",
    "mtp_transformer_layers",
    "sliding_window_size",
    "layer_scale",
    "num_hidden_layers_override",
    "lm_head_bias",
    "embd_pdrop",
    "attn_pdrop",
    "attn_dropout",
    "scale_attn_weights",
    "do_layer_norm_before",
    "scale_attn_by_inverse_layer_idx",
    "reorder_and_upcast_attn",
    "layerdrop",
    "swa_rope_theta",
    "time_step_rank",
    "router_jitter_noise",
    "use_qkv_bias",
    "nope_layer_interval",
    "qk_layernorm",
    "final_layernorm",
    "chunk_size",
    "chunk_size_feed_forward",
    "tie_encoder_decoder",
    "cross_attention_hidden_size",
    "add_cross_attention",
    "pruned_heads",
    "global_attention",
    "attn_output_gate",
    "full_attention_interval",
    "head_dtype",
    "num_experts_per_tok_list",
    "qk_head_dim",
    "residual_in_fp32",
    "mamba_inner_layernorms",
    "mamba_conv_bias",
    "ep_size",
    "moe_router_enable_expert_bias",
    "use_routing_bias",
    "word_embed_proj_dim",
    "init_std",
    "_remove_final_layer_norm",
    "summary_proj_to_labels",
    "layer_norm_elementwise_affine",
    "enable_bias",
    "use_bidirectional_attention",
}


def parse_fields(content: dict[str, Any]) -> Config:
    """Check types and ranges; raise InputError that names the field and what is allowed."""
    _refuse_contradictions(content)
    try:
        return Config.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "config"
        raise InputError(field, f"{first['msg'].lower()} (in the model's config.json)") from None


def _refuse_contradictions(content: dict[str, Any]) -> None:
    """Refuse a file that has one field under two names with different values."""
    for names in SIZES_WITH_SEVERAL_NAMES:
        given = {name: content[name] for name in names if content.get(name) is not None}
        (first, value), *others = given.items() if given else [("", None)]
        for name, other in others:
            if other != value:
                raise InputError(name, f"contradicts {first}: {other!r:.40} against {value!r:.40}")


class Reading:
    """A Config that remembers which of its fields have been read.

    Examples
    --------
    >>> config = Reading(parse_fields(dict(hidden_size=8, n_layer=1, n_head=1, vocab_size=9,
    ...                                    index_topk=4)))
    >>> config.layers, config.never_read()
    (1, ['index_topk'])
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._read: set[str] = {"hidden_size", "layers", "heads", "vocab_size", *_DESCRIPTIVE}

    def __getattr__(self, name: str) -> Any:
        self._read.add(name)
        return getattr(self._config, name)

    def never_read(self) -> list[str]:
        """Name the fields of the file that say something and that nothing has asked for."""
        given = self._config.model_fields_set & set(Config.model_fields)
        return [
            first_name(name)
            for name in Config.model_fields
            if name in given - self._read
            and getattr(self._config, name) not in (None, False, 0, "", [], {})
        ]


def passed_over(content: dict[str, Any]) -> list[str]:
    """Name the fields that may change the cost and that nothing here understands.

    Examples
    --------
    >>> passed_over({"hidden_size": 64, "sparse_topk": 32, "bos_token_id": 1})
    ['sparse_topk']
    """
    return [
        name
        for name, value in content.items()
        if name not in KNOWN_NAMES
        and name not in _HARMLESS
        and value not in (None, False, 0, "", [], {})
        and _TELLING.search(name)
        and not name.endswith(("_token_id", "_loss_coef", "_eps", "_dropout", "_initializer_range"))
    ]
