"""What a model's type says that its file leaves unsaid."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Family:
    """Traits of all models of a type.

    Attributes
    ----------
    gated : bool
        The feed-forward networks have a gate.
    tied : bool
        The head is the embedding table unless the file says otherwise.
    qkv_bias, out_bias, mlp_bias, head_bias : bool
        Which projections carry biases.
    qk_norm : bool
        A norm on each query and key head.
    sinks, router_bias : bool
        One more number for each head, or for each expert.
    norms_per_layer, final_norms : int
        Vectors of the hidden size in each layer, and after the last.
    positions : int or None
        Rows that a learned position table has beyond the longest context; None: no table.
    window_from_file : bool
        A `sliding_window` in the file means that all layers have it.
    full_every : int
        Without `layer_types`: every n-th layer is full, the others are windowed (0: none are).
    own_kv_heads : bool
        Every query head has a key-value head of its own, and files do not say so.
    head_dim : int or None
        Size of a head where the file names none; None: hidden size over heads.
    expects : tuple of str
        Fields that every file of this type has: without one it reads as another model.
    embedding_is_active : bool
        The publisher counts the embedding table among the active parameters.
    """

    gated: bool = True
    tied: bool = False
    qkv_bias: bool = False
    out_bias: bool = False
    mlp_bias: bool = False
    qk_norm: bool = False
    head_bias: bool = False
    sinks: bool = False
    router_bias: bool = False
    norms_per_layer: int = 2
    final_norms: int = 1
    positions: int | None = None
    window_from_file: bool = False
    full_every: int = 0
    own_kv_heads: bool = False
    head_dim: int | None = None
    expects: tuple[str, ...] = ()
    embedding_is_active: bool = True


_EXPERTS = ("experts", "top_k")
_LLAMA = Family()
_QWEN3 = Family(qk_norm=True, head_dim=128, expects=("head_dim",))
_QWEN3_MOE = replace(_QWEN3, expects=("head_dim", *_EXPERTS, "moe_intermediate_size"))
_QWEN3_HYBRID = replace(_QWEN3, expects=("head_dim", "linear_num_value_heads"))
_GEMMA = Family(
    tied=True,
    norms_per_layer=4,
    qk_norm=True,
    full_every=6,
    head_dim=256,
    expects=("head_dim", "sliding_window"),
)
_DEEPSEEK = Family(router_bias=True, expects=(*_EXPERTS, "moe_intermediate_size", "kv_lora_rank"))
_WITH_BIASES = Family(
    own_kv_heads=True,
    gated=False,
    tied=True,
    qkv_bias=True,
    out_bias=True,
    mlp_bias=True,
    norms_per_layer=4,
    final_norms=2,
)

FAMILIES = {
    "llama": _LLAMA,
    "llama4": replace(_LLAMA, expects=_EXPERTS),
    "llama4_text": replace(_LLAMA, expects=_EXPERTS),
    "mistral": Family(window_from_file=True),
    "mixtral": Family(window_from_file=True, expects=_EXPERTS),
    "qwen2": Family(qkv_bias=True),
    "qwen2_moe": Family(qkv_bias=True, expects=(*_EXPERTS, "moe_intermediate_size")),
    "qwen3": _QWEN3,
    "qwen3_moe": _QWEN3_MOE,
    "qwen3_vl": _QWEN3,
    "qwen3_vl_text": _QWEN3,
    "qwen3_vl_moe_text": _QWEN3_MOE,
    "qwen3_next": replace(_QWEN3_HYBRID, expects=(*_QWEN3_HYBRID.expects, *_EXPERTS)),
    "qwen3_5": _QWEN3_HYBRID,
    "qwen3_5_text": _QWEN3_HYBRID,
    "qwen3_5_moe_text": replace(_QWEN3_HYBRID, expects=(*_QWEN3_HYBRID.expects, *_EXPERTS)),
    "deepseek_v2": replace(_DEEPSEEK, router_bias=False),
    "deepseek_v3": _DEEPSEEK,
    "deepseek_v32": replace(_DEEPSEEK, expects=(*_DEEPSEEK.expects, "index_topk")),
    "kimi_k2": _DEEPSEEK,
    "gpt_oss": Family(
        qkv_bias=True,
        out_bias=True,
        mlp_bias=True,
        sinks=True,
        router_bias=True,
        full_every=2,
        head_dim=64,
        embedding_is_active=False,
        expects=(*_EXPERTS, "head_dim", "sliding_window"),
    ),
    "gemma2": Family(
        tied=True,
        norms_per_layer=4,
        full_every=2,
        head_dim=256,
        expects=("head_dim", "sliding_window"),
    ),
    "gemma3": _GEMMA,
    "gemma3_text": _GEMMA,
    "gemma4": _GEMMA,
    "gemma4_text": _GEMMA,
    "minimax_m2": Family(router_bias=True, embedding_is_active=False, expects=_EXPERTS),
    "mimo_v2_flash": Family(
        router_bias=True, sinks=True, expects=(*_EXPERTS, "hybrid_layer_pattern", "head_dim")
    ),
    "nemotron-nas": replace(_LLAMA, expects=("block_configs",)),
    "nemotron_h": Family(
        gated=False, norms_per_layer=1, router_bias=True, expects=("hybrid_override_pattern",)
    ),
    "jamba": replace(_LLAMA, expects=("attn_layer_period", *_EXPERTS)),
    "phi": replace(_WITH_BIASES, tied=False, norms_per_layer=2, head_bias=True),
    "phi3": Family(window_from_file=True),
    "gpt2": replace(_WITH_BIASES, positions=0),
    "opt": replace(_WITH_BIASES, positions=2),
}

PLAIN_ACTIVATIONS = {"gelu", "gelu_new", "gelu_fast", "relu", "relu2", "quick_gelu"}
"""Activations that, in a type not known here, speak for a network without a gate."""

NOT_DECODER_ONLY = {
    "t5",
    "mt5",
    "umt5",
    "bart",
    "mbart",
    "pegasus",
    "marian",
    "bert",
    "roberta",
    "xlm-roberta",
    "distilbert",
    "albert",
    "electra",
    "deberta",
    "deberta-v2",
    "whisper",
    "vit",
    "clip",
    "siglip",
    "wav2vec2",
    "modernbert",
    "longformer",
    "led",
    "bigbird_pegasus",
    "m2m_100",
    "nllb-moe",
    "encoder-decoder",
    "switch_transformers",
    "rwkv",
    "mamba",
    "mamba2",
}
"""Types that are no decoder with attention, or have another part that works as hard."""
