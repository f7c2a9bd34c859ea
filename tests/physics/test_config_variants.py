"""Files like the catalogued ones, but with fields removed, renamed or nested: the same model.

Files that contradict themselves, or are no decoder-only language model, are refused with the name
of the field; what is not understood is said, never passed over in silence.
"""

from __future__ import annotations

import json
import time

import pytest

from physics.config import read_config
from physics.errors import InputError
from physics.kv_cache import kv_bytes_per_token
from tests.physics.example_configs import FILES, GEMMA_3_27B, LATENT, LLAMA, MIXTURE


def same(one, other) -> bool:
    """Whether two models cost the same."""
    return (one.groups, one.parameters, one.active_parameters, one.quantisation) == (
        other.groups, other.parameters, other.active_parameters, other.quantisation)


def renamed(content: dict, **names: str) -> dict:
    return {names.get(name, name): value for name, value in content.items()}


# Removed, renamed, nested

@pytest.mark.parametrize("slug", list(FILES))
def test_nested_in_a_text_config(slug):
    content = FILES[slug]
    assert same(read_config({"text_config": content}), read_config(content))


@pytest.mark.parametrize("slug", list(FILES))
def test_without_what_decides_no_cost(slug):
    content = {name: value for name, value in FILES[slug].items()
               if not name.startswith(("rope", "rms", "initializer", "torch", "transformers",
                                       "bos", "eos", "pad", "_name", "auto_map", "use_cache"))}
    assert same(read_config(content), read_config(FILES[slug]))


@pytest.mark.parametrize("names", [
    {"num_hidden_layers": "n_layer"}, {"num_hidden_layers": "n_layers"},
    {"num_hidden_layers": "num_layers"}, {"hidden_size": "n_embd"}, {"hidden_size": "d_model"},
    {"num_attention_heads": "n_head"}, {"num_attention_heads": "n_heads"},
    {"num_key_value_heads": "num_kv_heads"}, {"num_key_value_heads": "n_head_kv"},
    {"intermediate_size": "n_inner"}, {"intermediate_size": "ffn_dim"},
])
def test_under_another_name(names):
    assert same(read_config(renamed(LLAMA, **names)), read_config(LLAMA))


@pytest.mark.parametrize("names", [
    {"num_experts": "num_local_experts"}, {"num_experts": "n_routed_experts"},
    {"num_experts_per_tok": "experts_per_token"}, {"num_experts_per_tok": "top_k_experts"},
])
def test_experts_under_another_name(names):
    assert same(read_config(renamed(MIXTURE, **names)), read_config(MIXTURE))


def test_head_dim_may_be_absent_where_it_follows():
    assert same(read_config(LLAMA | {"head_dim": 16}), read_config(LLAMA))
    assert not same(read_config(LLAMA | {"head_dim": 32}), read_config(LLAMA))


def test_without_key_value_heads_every_head_has_its_own():
    content = {name: value for name, value in LLAMA.items() if name != "num_key_value_heads"}
    assert read_config(content).attention_kind == "MHA"
    assert read_config(content | {"multi_query": True}).attention_kind == "MQA"


def test_a_null_field_is_an_absent_one():
    nulls = dict.fromkeys(["sliding_window", "head_dim", "quantization_config", "num_experts",
                           "layer_types", "attention_bias", "index_topk"])
    assert same(read_config(LLAMA | nulls), read_config(LLAMA))


def test_a_tied_head_is_counted_once():
    tied = read_config(LLAMA | {"tie_word_embeddings": True})
    assert read_config(LLAMA).parameters - tied.parameters == 100 * 64


def test_a_list_of_layer_types_and_a_pattern_say_the_same():
    types = ["full_attention" if layer % 6 == 5 else "sliding_attention" for layer in range(62)]
    content = {name: value for name, value in GEMMA_3_27B.items()
               if name != "sliding_window_pattern"}
    assert same(read_config(content | {"layer_types": types}), read_config(GEMMA_3_27B))


def test_prediction_layers_and_towers_are_left_out_and_said():
    plain = read_config(LLAMA)
    more = read_config({"text_config": LLAMA | {"num_nextn_predict_layers": 1},
                        "vision_config": {"depth": 27}, "audio_config": {"depth": 2}})
    assert same(plain, more)
    words = " ".join(more.left_out)
    assert "prediction" in words
    assert "vision" in words
    assert "audio" in words


# Refused, with the name of the field

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


# Said

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


# Large

def test_thousands_of_layer_entries_are_fast():
    count = 8000
    content = LLAMA | {"num_hidden_layers": count, "sliding_window": 16,
                       "layer_types": ["sliding_attention", "full_attention"] * (count // 2)}
    start = time.perf_counter()
    read = read_config(content)
    assert time.perf_counter() - start < 2
    assert read.layers == count
    assert kv_bytes_per_token(read) == count * 2 * 2 * 16 * 2


def test_a_file_of_several_megabytes_is_fast(tmp_path):
    labels = {str(number): f"LABEL_{number}" * 8 for number in range(50_000)}
    path = tmp_path / "config.json"
    path.write_text(json.dumps(LLAMA | {"id2label": labels}), encoding="utf-8")
    assert path.stat().st_size > 4e6
    start = time.perf_counter()
    read = read_config(path)
    assert time.perf_counter() - start < 3
    assert same(read, read_config(LLAMA))


def test_thousands_of_modules_left_unquantised_are_fast():
    """Every expert of DeepSeek-V3 by name: 15,616 entries, a file of 0.8 MB."""
    names = [f"model.layers.{layer}.mlp.experts.{expert}.up_proj"
             for layer in range(61) for expert in range(256)]
    start = time.perf_counter()
    read_config(FILES["deepseek-v3"] | {
        "quantization_config": {"quant_method": "fp8", "modules_to_not_convert": names}})
    assert time.perf_counter() - start < 3
