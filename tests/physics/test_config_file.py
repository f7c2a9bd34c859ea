"""A `config.json` is understood or refused, or its assumption is named; nothing is guessed."""

from __future__ import annotations

import pytest

from physics.catalogue import models
from physics.config import read_config
from physics.errors import InputError
from physics.layers import Experts

LLAMA = {"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 4,
         "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 128,
         "vocab_size": 100, "tie_word_embeddings": False}
MIXTURE = LLAMA | {"model_type": "qwen3_moe", "num_experts": 8, "num_experts_per_tok": 2,
                   "moe_intermediate_size": 16}
LATENT = {"kv_lora_rank": 16, "q_lora_rank": 32, "qk_nope_head_dim": 16, "qk_rope_head_dim": 8,
          "v_head_dim": 16}


def test_a_small_model_by_hand():
    block = 64 * (64 + 2 * 2 * 16) + 64 * 64 + 3 * 64 * 128
    assert read_config(LLAMA).parameters == 2 * 100 * 64 + 4 * (block + 2 * 64) + 64


def test_a_head_may_have_its_own_size():
    """Qwen3-32B: 64 heads of 128 on 5120, not of 80."""
    attention = models()["qwen3-32b"].groups[0].attention
    assert (attention.heads, attention.key_dim) == (64, 128)


def test_layers_of_two_kinds():
    """gpt-oss: every other layer has a window of 128; DeepSeek-V3: three dense layers first."""
    assert {(g.count, g.attention.window) for g in models()["gpt-oss-20b"].groups} == {
        (12, 128), (12, None)}
    assert [(g.count, isinstance(g.network, Experts)) for g in models()["deepseek-v3"].groups] == [
        (3, False), (58, True)]


@pytest.mark.parametrize("change", [
    {"num_key_value_heads": 3}, {"num_attention_heads": 7, "num_key_value_heads": 7},
    {"hidden_size": 0}, {"hidden_size": -64}, {"hidden_size": None}, {"hidden_size": "wide"},
    {"vocab_size": 1.5}, {"num_hidden_layers": 10**9}, {"intermediate_size": None},
    {"model_type": "mamba"}, {"model_type": None}, {"head_dim": 0},
    {"layer_types": ["full_attention"]}, {"layer_types": ["linear_attention"] * 4},
    {"kv_lora_rank": 512}, {"num_experts": 8}, {"num_experts": 8, "num_experts_per_tok": 9},
])
def test_what_makes_no_sense_is_refused(change):
    with pytest.raises(InputError):
        read_config(LLAMA | change)


@pytest.mark.parametrize(("base", "change"), [
    # Fields that change the cost; source: the model classes of Hugging Face transformers.
    (LLAMA, {"mlp_bias": True}),
    (LLAMA | {"model_type": "qwen2"},
     {"use_sliding_window": True, "sliding_window": 8, "max_window_layers": 2}),
    (MIXTURE, {"decoder_sparse_step": 2}),
    (MIXTURE | LATENT | {"model_type": "deepseek_v3"}, {"moe_layer_freq": 2}),
])
def test_a_field_that_changes_the_cost_is_never_passed_over(base, change):
    plain = read_config(base)
    try:
        other = read_config(base | change)
    except InputError:
        return
    assert (other.groups, other.parameters) != (plain.groups, plain.parameters) or (
        other.assumptions or other.left_out)
