"""Read a Hugging Face `config.json` into an Architecture.

pydantic checks the types and the ranges; what follows here is the meaning of the fields. What is
not understood is refused or listed among the assumptions, never guessed in silence.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from physics.architecture import (
    Architecture,
    Attention,
    Dense,
    Experts,
    LatentAttention,
    Layers,
)
from physics.errors import InputError

Size = Annotated[int, Field(gt=0, le=10**9)]
Count = Annotated[int, Field(ge=0, le=10**6)]


def _names(*names: str) -> Any:
    return Field(validation_alias=AliasChoices(*names))


class Config(BaseModel):
    """The fields that decide cost, under the names in which files have them."""

    model_config = ConfigDict(extra="allow")

    model_type: str = ""
    hidden_size: Annotated[Size, _names("hidden_size", "n_embd", "d_model")]
    layers: Annotated[Size, Field(le=10_000), _names("num_hidden_layers", "n_layer", "n_layers")]
    heads: Annotated[Size, _names("num_attention_heads", "n_head", "n_heads")]
    kv_heads: Annotated[Size | None, _names("num_key_value_heads", "n_head_kv")] = None
    head_dim: Size | None = None
    v_head_dim: Size | None = None
    intermediate_size: Annotated[Size | None, _names("intermediate_size", "ffn_dim", "n_inner")] = None
    vocab_size: Size
    tie_word_embeddings: bool | None = None
    attention_bias: bool = False
    sliding_window: Count | None = None
    use_sliding_window: bool = True
    layer_types: list[str] | None = None
    max_position_embeddings: Annotated[
        Size | None, _names("max_position_embeddings", "n_positions")] = None

    experts: Annotated[
        Count | None, _names("num_local_experts", "n_routed_experts", "num_experts")] = None
    top_k: Annotated[Count | None, _names("num_experts_per_tok", "experts_per_token")] = None
    moe_intermediate_size: Size | None = None
    n_shared_experts: Count | None = None
    shared_expert_intermediate_size: Count | None = None
    first_k_dense_replace: Count = 0
    mlp_only_layers: list[int] = []
    num_nextn_predict_layers: Count | None = None

    kv_lora_rank: Size | None = None
    q_lora_rank: Size | None = None
    qk_nope_head_dim: Size | None = None
    qk_rope_head_dim: Size | None = None


GATED = {"llama", "mistral", "mixtral", "qwen2", "qwen3", "qwen3_moe", "deepseek_v2", "deepseek_v3",
         "kimi_k2", "gpt_oss"}
PLAIN = {"gpt2", "opt"}
TIED_BY_DEFAULT = PLAIN
BIASED = {"qwen2": "qkv", "gpt2": "all", "opt": "all", "gpt_oss": "all"}


def read_config(source: str | Path | dict[str, Any], *, slug: str = "", name: str = "") -> Architecture:
    """Read a model from a `config.json` file, or from its content.

    Parameters
    ----------
    source : path or dict
    slug, name : str
        How to call the model; by default the file's stem.

    Raises
    ------
    InputError
        Naming the file or the field, and what is allowed.

    Examples
    --------
    >>> tiny = dict(model_type="llama", hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
    ...             num_key_value_heads=2, intermediate_size=128, vocab_size=100,
    ...             tie_word_embeddings=False)
    >>> read_config(tiny, slug="tiny").attention_kind
    'GQA'
    """
    content = source if isinstance(source, dict) else _load(Path(source))
    if not isinstance(source, dict):
        slug = slug or Path(source).stem.casefold()
    try:
        config = Config.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "config"
        raise InputError(field, f"{first['msg'].lower()} (in the model's config.json)") from None
    return _architecture(config, slug, name or slug)


def _load(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError("model", f"cannot read {path}: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise InputError("model", f"{path} is not a JSON file") from None
    if not isinstance(content, dict):
        raise InputError("model", f"{path} must hold one JSON object, a config.json of a model")
    return content


def _architecture(config: Config, slug: str, name: str) -> Architecture:
    if config.model_type not in GATED | PLAIN:
        raise InputError("model_type", f"{config.model_type!r} is not understood; known: "
                         + ", ".join(sorted(GATED | PLAIN)))
    left_out = []
    if config.num_nextn_predict_layers:
        left_out.append("multi-token-prediction layers (not run in a plain step)")
    layers = Counter((_attention(config, i), _mlp(config, i)) for i in range(config.layers))
    tied = config.tie_word_embeddings
    return Architecture(
        slug=slug,
        name=name,
        hidden=config.hidden_size,
        vocabulary=config.vocab_size,
        groups=tuple(Layers(count, *parts) for parts, count in layers.items()),
        tied_head=config.model_type in TIED_BY_DEFAULT if tied is None else tied,
        positions=(config.max_position_embeddings or 0) if config.model_type in PLAIN else 0,
        embedding_is_active=config.model_type != "gpt_oss",
        longest_context=config.max_position_embeddings,
        left_out=tuple(left_out),
    )


def _attention(config: Config, layer: int) -> Attention | LatentAttention:
    if config.kv_lora_rank:
        for field in ("qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"):
            if getattr(config, field) is None:
                raise InputError(field, "is missing, and latent attention needs it")
        return LatentAttention(config.heads, config.q_lora_rank, config.kv_lora_rank,
                               config.qk_nope_head_dim, config.qk_rope_head_dim, config.v_head_dim)
    kv_heads = config.kv_heads or config.heads
    if config.heads % kv_heads:
        raise InputError("num_key_value_heads",
                         f"must divide num_attention_heads ({config.heads}), got {kv_heads}")
    if config.head_dim is None and config.hidden_size % config.heads:
        raise InputError("num_attention_heads", f"must divide hidden_size ({config.hidden_size}) "
                         f"when head_dim is not given, got {config.heads}")
    head_dim = config.head_dim or config.hidden_size // config.heads
    return Attention(config.heads, kv_heads, head_dim, config.v_head_dim or head_dim,
                     window=_window(config, layer),
                     bias=config.attention_bias or config.model_type in BIASED)


def _window(config: Config, layer: int) -> int | None:
    if config.layer_types is not None:
        if len(config.layer_types) != config.layers:
            raise InputError("layer_types", f"must name {config.layers} layers, "
                             f"got {len(config.layer_types)}")
        kind = config.layer_types[layer]
        if kind == "full_attention":
            return None
        if kind == "sliding_attention" and config.sliding_window:
            return config.sliding_window
        raise InputError("layer_types", f"{kind!r} is not understood")
    if config.sliding_window and config.use_sliding_window and config.model_type == "mistral":
        return config.sliding_window
    return None


def _mlp(config: Config, layer: int) -> Dense | Experts:
    gated = config.model_type in GATED
    bias = config.model_type in {"gpt2", "opt", "gpt_oss"}
    dense_only = layer < config.first_k_dense_replace or layer in config.mlp_only_layers
    if config.experts and not dense_only:
        if not config.top_k or config.top_k > config.experts:
            raise InputError("num_experts_per_tok",
                             f"must be from 1 to {config.experts}, got {config.top_k}")
        inner = config.moe_intermediate_size or config.intermediate_size
        if inner is None:
            raise InputError("moe_intermediate_size", "is missing")
        shared = (config.shared_expert_intermediate_size
                  or (config.n_shared_experts or 0) * inner)
        return Experts(config.experts, config.top_k, inner, gated, bias,
                       Dense(shared, gated) if shared else None)
    inner = config.intermediate_size or (4 * config.hidden_size if not gated else None)
    if inner is None:
        raise InputError("intermediate_size", "is missing")
    return Dense(inner, gated, bias)
