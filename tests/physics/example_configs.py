"""Contents of `config.json` files that tests change and read."""

from __future__ import annotations

import json
from typing import Any

from physics.architecture import Architecture
from physics.catalogue import ASSETS, models

LLAMA = {"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 4,
         "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 128,
         "vocab_size": 100, "tie_word_embeddings": False}
MIXTURE = LLAMA | {"model_type": "qwen3_moe", "num_experts": 8, "num_experts_per_tok": 2,
                   "moe_intermediate_size": 16}
LATENT = {"kv_lora_rank": 16, "q_lora_rank": 32, "qk_nope_head_dim": 16, "qk_rope_head_dim": 8,
          "v_head_dim": 16}

GEMMA_3_27B = {
    "model_type": "gemma3_text", "hidden_size": 5376, "num_hidden_layers": 62,
    "num_attention_heads": 32, "num_key_value_heads": 16, "head_dim": 128,
    "intermediate_size": 21504, "sliding_window": 1024, "sliding_window_pattern": 6,
    "vocab_size": 262208,
}


def catalogued(slug: str) -> dict[str, Any]:
    """Return the content of a catalogued model's file."""
    return json.loads((ASSETS / "models" / f"{slug}.json").read_text(encoding="utf-8"))


FILES = {slug: catalogued(slug) for slug in models()}

DEEPSEEK_V32 = FILES["deepseek-v3"] | {
    "model_type": "deepseek_v32", "index_n_heads": 64, "index_head_dim": 128, "index_topk": 2048,
}


def same(one: Architecture, other: Architecture) -> bool:
    """Whether two models cost the same."""
    return (one.groups, one.parameters, one.active_parameters, one.quantisation) == (
        other.groups, other.parameters, other.active_parameters, other.quantisation)
