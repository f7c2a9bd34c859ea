"""What is not understood in a file is said among the assumptions, never passed over."""

from __future__ import annotations

import copy

import pytest

from physics.config import read_config
from physics.errors import InputError
from tests.physics.example_configs import FILES, LATENT, LLAMA, MIXTURE, same


@pytest.mark.parametrize(("change", "word"), [
    ({"model_type": "brand_new"}, "brand_new"),
    ({"model_type": None}, "model_type"),
    ({"model_type": ""}, "model_type"),
    ({"sparse_topk": 32}, "sparse_topk"),
    ({"mamba_d_ssm": 128}, "mamba_d_ssm"),
    ({"lru_width": 64}, "lru_width"),
    ({"altup_num_inputs": 4}, "altup_num_inputs"),
    ({"attn_type_list": [0, 1, 0, 1]}, "attn_type_list"),
    ({"linear_attn_config": {"full_attn_layers": [1]}}, "linear_attn_config"),
    ({"cross_attention_layers": [1]}, "cross_attention_layers"),
    ({"attn_config": {"kv_n_heads": 1}}, "attn_config"),
    ({"layer_types": ["full_attention"] * 3 + ["retention"]}, "retention"),
    ({"sliding_window": 8}, "sliding_window"),
    ({"quantization_config": {"quant_method": "aqlm"}}, "aqlm"),
    ({"quantization_config": {"bits": 4}}, "quantisation"),
    ({"compression_config": {"quant_method": "x"}}, "compression_config"),
])
def test_what_is_not_understood_is_an_assumption(change, word):
    assert read_config(LLAMA).assumptions == ()
    try:
        said = " ".join(read_config(LLAMA | change).assumptions)
    except InputError as error:
        said = str(error)
    assert word in said


BLOCK = {"attention": {"n_heads_in_group": 2}}


@pytest.mark.parametrize(("base", "change", "words"), [
    # Known fields that nothing reads in this kind of file
    (LLAMA, {"index_topk": 5, "index_n_heads": 2, "index_head_dim": 4}, ("index_topk",)),
    (LLAMA, {"mamba_num_heads": 4, "mamba_d_head": 16, "mamba_d_state": 16}, ("mamba",)),
    (LLAMA, {"n_shared_experts": 2}, ("n_shared_experts",)),
    (LLAMA, {"num_experts_per_tok": 2}, ("num_experts_per_tok",)),
    (LLAMA, {"q_lora_rank": 32}, ("q_lora_rank",)),
    (LLAMA, {"num_mtp_modules": 3}, ("prediction", "num_mtp_modules")),
    (LLAMA, {"layers_block_type": ["mamba", "attention"] * 2}, ("layers_block_type",)),
    (LLAMA | LATENT, {"num_kv_shared_layers": 2}, ("num_kv_shared_layers",)),
    (LLAMA | LATENT, {"sliding_window": 8, "layer_types": ["sliding_attention"] * 4},
     ("window", "layer_types")),
    (LLAMA | {"hybrid_override_pattern": "*-*-"}, {"sliding_window": 8}, ("sliding_window",)),
    (LLAMA | {"block_configs": [BLOCK | {"ffn": {"intermediate_size": 128}}] * 4},
     {"block_configs": [BLOCK | {"ffn": {"intermediate_size": 32}}] * 4}, ("block_configs",)),
    (MIXTURE | {"block_configs": [BLOCK | {"ffn": {}}] * 4},
     {"block_configs": [BLOCK | {"ffn": {"moe": {"num_local_experts": 4}}}] * 4},
     ("block_configs", "moe")),
    # Two names of one field that contradict each other
    (LLAMA, {"n_layer": 99}, ("n_layer",)),
    (LLAMA, {"n_head_kv": 1}, ("n_head_kv",)),
    (LLAMA, {"hidden_size": 64, "n_embd": 128}, ("n_embd",)),
])
def test_a_telling_field_counts_or_is_said(base, change, words):
    """It changes the model, is refused, or is named among the assumptions or what is left out."""
    plain = read_config(base)
    try:
        other = read_config(base | change)
    except InputError as error:
        said = str(error)
    else:
        if not same(plain, other):
            return
        said = " ".join(other.assumptions + other.left_out)
    assert any(word in said for word in words), said


@pytest.mark.parametrize(("slug", "field"), [
    # Without it the file would read as another model, up to fifty times off
    ("mixtral-8x7b", "num_local_experts"),
    ("gpt-oss-120b", "num_local_experts"),
    ("qwen3-235b-a22b", "num_experts"),
    ("qwen3-235b-a22b", "moe_intermediate_size"),  # experts of the dense size: 1.8 trillion
    ("deepseek-v3", "n_routed_experts"),
    ("deepseek-v3", "kv_lora_rank"),  # a cache fifty times as large
    ("mimo-v2-flash", "hybrid_layer_pattern"),
    ("nemotron-3-nano-30b-a3b", "hybrid_override_pattern"),
    ("jamba-1.5-mini", "attn_layer_period"),
    ("gemma-3-27b", "sliding_window"),
    # The types' own classes say 128, 64 and 256, not hidden_size / num_attention_heads
    ("qwen3-32b", "head_dim"),
    ("gpt-oss-20b", "head_dim"),
    ("gemma-3-27b", "head_dim"),
])
def test_a_type_that_lost_what_makes_it_is_refused_or_said(slug, field):
    content = copy.deepcopy(FILES[slug])
    part = content["text_config"] if isinstance(content.get("text_config"), dict) else content
    del part[field]
    try:
        assumptions = read_config(content).assumptions
    except InputError:
        return
    assert assumptions
