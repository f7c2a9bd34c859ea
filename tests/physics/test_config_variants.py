"""Files with fields removed, renamed or nested, and large ones: the same model."""

from __future__ import annotations

import json
import time

import pytest

from physics.config import read_config
from physics.kv_cache import kv_bytes_per_token
from tests.physics.example_configs import FILES, GEMMA_3_27B, LLAMA, MIXTURE, same


def renamed(content: dict, **names: str) -> dict:
    return {names.get(name, name): value for name, value in content.items()}


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
