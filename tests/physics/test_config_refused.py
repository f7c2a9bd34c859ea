"""Files that contradict themselves, or are no decoder-only model: refused, naming the field."""

from __future__ import annotations

import pytest

from physics.config import read_config
from physics.errors import InputError
from tests.physics.example_configs import LATENT, LLAMA, MIXTURE


@pytest.mark.parametrize(("content", "field"), [
    (LLAMA | {"is_encoder_decoder": True}, "is_encoder_decoder"),
    (LLAMA | {"model_type": "t5"}, "model_type"),
    (LLAMA | {"model_type": "bert"}, "model_type"),
    (LLAMA | {"model_type": "whisper"}, "model_type"),
    ({"text_config": LLAMA | {"is_encoder_decoder": True}}, "is_encoder_decoder"),
    (LLAMA | {"num_key_value_heads": 3}, "num_key_value_heads"),
    (LLAMA | {"num_key_value_heads": 8}, "num_key_value_heads"),
    (LLAMA | {"num_attention_heads": 6, "num_key_value_heads": 6}, "num_attention_heads"),
    (LLAMA | {"hidden_size": -64}, "hidden_size"),
    (LLAMA | {"hidden_size": 0}, "hidden_size"),
    (LLAMA | {"hidden_size": True}, "hidden_size"),
    (LLAMA | {"hidden_size": "64"}, "hidden_size"),
    (LLAMA | {"hidden_size": 64.5}, "hidden_size"),
    (LLAMA | {"hidden_size": float("nan")}, "hidden_size"),
    (LLAMA | {"hidden_size": 10**400}, "hidden_size"),
    (LLAMA | {"num_hidden_layers": -1}, "num_hidden_layers"),
    (LLAMA | {"num_hidden_layers": 10**9}, "num_hidden_layers"),
    (LLAMA | {"vocab_size": None}, "vocab_size"),
    (LLAMA | {"intermediate_size": None}, "intermediate_size"),
    (LLAMA | {"intermediate_size": [128] * 4}, "intermediate_size"),
    (LLAMA | {"sliding_window": -1}, "sliding_window"),
    (LLAMA | {"head_dim": -1}, "head_dim"),
    (LLAMA | {"model_type": []}, "model_type"),
    (LLAMA | {"model_type": [], "architectures": ["LlamaForCausalLM"]}, "model_type"),
    (LLAMA | {"layer_types": ["full_attention"] * 3}, "layer_types"),
    (LLAMA | {"layer_types": "full_attention"}, "layer_types"),
    (LLAMA | {"layer_types": ["sliding_attention"] * 4}, "sliding_window"),
    (LLAMA | {"layer_types": ["chunked_attention"] * 4}, "attention_chunk_size"),
    (LLAMA | {"layer_types": ["linear_attention"] * 4}, "linear_num_value_heads"),
    (LLAMA | {"hybrid_layer_pattern": [0, 1]}, "hybrid_layer_pattern"),
    (LLAMA | {"hybrid_override_pattern": "M*"}, "hybrid_override_pattern"),
    (LLAMA | {"hybrid_override_pattern": "M*-?"}, "mamba_num_heads"),
    (LLAMA | {"hybrid_override_pattern": "*-*?"}, "hybrid_override_pattern"),
    (LLAMA | {"block_configs": [{}]}, "block_configs"),
    (LLAMA | {"block_configs": [{"attention": {"n_heads_in_group": 3}}] * 4}, "block_configs"),
    (MIXTURE | {"moe_layer_freq": [1, 0]}, "moe_layer_freq"),
    (MIXTURE | {"num_experts_per_tok": 9}, "num_experts_per_tok"),
    (MIXTURE | {"num_experts_per_tok": 0}, "num_experts_per_tok"),
    (LLAMA | {"kv_lora_rank": 16}, "qk_nope_head_dim"),
    (LLAMA | LATENT | {"index_topk": 16}, "index_n_heads"),
    (LLAMA | {"quantization_config": "fp8"}, "quantization_config"),
    (LLAMA | {"quantization_config": {"quant_method": "awq", "bits": 0}}, "quantization_config"),
    (LLAMA | {"quantization_config": {"quant_method": "gptq", "bits": 4.5}},
     "quantization_config"),
    (LLAMA | {"quantization_config": {"quant_method": "fp8", "weight_block_size": [0, 128]}},
     "quantization_config"),
    (LLAMA | {"quantization_config": {"quant_method": "fp8", "weight_block_size": [True, True]}},
     "quantization_config"),
])
def test_a_contradiction_is_refused_with_the_name_of_the_field(content, field):
    with pytest.raises(InputError) as error:
        read_config(content)
    assert field in error.value.name


@pytest.mark.parametrize(("content", "field"), [
    (LLAMA | {"num_kv_shared_layers": 4}, "num_kv_shared_layers"),  # none is left to store
    (LLAMA | {"num_kv_shared_layers": 40}, "num_kv_shared_layers"),
    (LLAMA | {"attn_layer_period": 2, "attn_layer_offset": 5, "mamba_d_state": 16},
     "attn_layer_offset"),
    (MIXTURE | {"moe_layers": [99]}, "moe_layers"),
    (LLAMA | {"attention_chunk_size": 8, "no_rope_layers": [1]}, "no_rope_layers"),
    (LLAMA | {"multi_query": True}, "multi_query"),  # and two key-value heads
])
def test_a_field_that_cannot_be_meant_is_refused_or_said(content, field):
    try:
        said = " ".join(read_config(content).assumptions)
    except InputError as error:
        said = str(error)
    assert field in said


@pytest.mark.parametrize("text", [
    "", "{", "[]", "3", "null", '"llama"', "{'hidden_size': 64}", "<html></html>", "\x00",
    '{"a":' * 20_000, '{"text_config":' * 3000 + "{}" + "}" * 3000,
    '{"hidden_size": ' + "9" * 5000 + "}",
])
def test_what_is_not_a_json_object_is_refused(tmp_path, text):
    path = tmp_path / "config.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError):
        read_config(path)


def test_a_missing_file_a_folder_and_other_bytes_are_refused(tmp_path):
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00{")
    for path in (tmp_path / "none.json", tmp_path, tmp_path / "bytes.json"):
        with pytest.raises(InputError, match="model"):
            read_config(path)
