"""What the architectures that people run keep in memory and read: the numbers that must come out.

The sizes are those of a 2-byte cache. Parameters are in `test_parameter_counts.py`.
"""

from __future__ import annotations

import numpy as np
import pytest

from physics.catalogue import model, models
from physics.config import read_config
from physics.kv_cache import kv_bytes_per_sequence, kv_bytes_per_token, kv_heads_per_chip
from physics.operators import distinct_experts
from tests.physics.example_configs import GEMMA_3_27B, catalogued

LONG = 131_072


def growth(architecture, context: int) -> float:
    """Bytes that one token more adds to a sequence of `context` tokens."""
    after, before = kv_bytes_per_sequence(architecture, np.array([context, context - 1]))
    return float(after - before)


@pytest.mark.parametrize(("slug", "right"), [
    ("llama-2-7b", 524_288),
    ("llama-3.1-8b", 131_072),
    ("llama-3.1-70b", 327_680),  # and so Llama-3-70B
    ("llama-3.1-405b", 516_096),
    ("qwen3-4b", 147_456),
    ("deepseek-v3", 70_272),
    ("kimi-k2", 70_272),  # 61 layers of 512 + 64
    ("qwen2.5-72b", 327_680),
    ("mixtral-8x7b", 131_072),
    ("gpt-oss-120b", 73_728),
    ("gpt2", 36_864),  # 2 x 12 x 768 x 2
    ("opt-13b", 819_200),  # PagedAttention, section 3
    ("jamba-1.5-mini", 16_384),  # 4 attention layers of 32
    ("qwen3.5-27b", 65_536),  # 16 full layers of 64, 4 heads of 256
    ("nemotron-3-nano-30b-a3b", 6_144),  # 6 attention layers of 52 blocks, 2 heads of 128
])
def test_cache_of_a_token(slug, right):
    assert kv_bytes_per_token(model(slug)) == right


@pytest.mark.parametrize(("kv", "element"), [
    ("bf16", 2), ("fp8", 1), ("q8_0", 1.0625), ("q4_0", 0.5625), ("fp4", 0.53125),
    ("int4", 0.515625),
])
def test_a_quantised_cache_carries_its_scales(kv, element):
    assert kv_bytes_per_token(model("llama-3.1-8b"), kv) == 65_536 * element


def test_gemma_3_at_a_long_context_keeps_its_windows_only():
    """Every sixth of 62 layers is full: 11.2 GB, not the 66 GB of 62 full layers."""
    gemma = read_config(GEMMA_3_27B)
    kept = float(kv_bytes_per_sequence(gemma, LONG))
    assert kept == (10 * LONG + 52 * 1024) * 2 * 16 * 128 * 2
    assert kept / 1e9 == pytest.approx(11.2, abs=0.05)
    assert LONG * float(kv_bytes_per_token(gemma)) / 1e9 == pytest.approx(66.6, abs=0.1)


def test_gemma_4_stores_keys_and_values_apart():
    """Its full layers make both with one projection; engines keep two tensors all the same."""
    gemma = model("gemma-4-26b-a4b")
    assert float(kv_bytes_per_sequence(gemma, LONG)) / 1e9 == pytest.approx(2.9, abs=0.05)
    shared = [attention for _, attention in gemma.attentions() if attention.shared_projection]
    assert all(attention.window is None and attention.elements_per_kv_head == 2 * 512
               for attention in shared)
    assert shared


@pytest.mark.parametrize(("slug", "first"), [("gpt-oss-120b", 73_728), ("gpt-oss-20b", 49_152)])
def test_gpt_oss_grows_by_half_beyond_its_window(slug, first):
    assert growth(model(slug), 1) == growth(model(slug), 128) == first
    assert growth(model(slug), 129) == growth(model(slug), 100_000) == first / 2


@pytest.mark.parametrize("slug", list(models()))
def test_no_cache_grows_faster_than_at_its_first_token(slug):
    architecture = models()[slug]
    steps = [growth(architecture, context) for context in (2, 129, 1025, 4097, 8193, 100_000)]
    assert steps == sorted(steps, reverse=True)
    assert steps[0] == kv_bytes_per_token(architecture)


@pytest.mark.parametrize(("experts", "top_k", "tokens", "right", "within"), [
    (8, 2, 3, 4.6, 0.05),  # Mixtral, 3 tokens
    (128, 8, 16, 82, 0.5),  # Qwen3, 16 tokens
    (8, 2, 1, 2, 1e-9),
    (8, 8, 1, 8, 1e-9),
    (256, 8, 10**6, 256, 1e-9),
])
def test_distinct_experts(experts, top_k, tokens, right, within):
    assert float(distinct_experts(experts, top_k, tokens)) == pytest.approx(right, abs=within)


def test_tokens_that_touch_nearly_all_experts():
    """95 tokens for 95 % of 256 experts at top 8 (MoESD, arXiv 2505.19645)."""
    share = distinct_experts(256, 8, [94, 95]) / 256
    assert share[0] < 0.95 <= share[1]


@pytest.mark.parametrize(("kv_heads", "tp", "right"), [
    (8, 8, 1), (8, 16, 1), (8, 64, 1), (4, 8, 1), (8, 4, 2), (8, 3, 3), (1, 8, 1),
])
def test_key_value_heads_on_a_chip(kv_heads, tp, right):
    """Above the number of heads each chip keeps one, a copy."""
    assert kv_heads_per_chip(kv_heads, tp) == right


def test_replicated_heads_take_memory():
    llama, eight = model("llama-3.1-8b"), 8 * 131_072
    assert kv_bytes_per_sequence(llama, 8, tp=8) == eight
    assert kv_bytes_per_sequence(llama, 8, tp=16) == 2 * eight
    assert kv_bytes_per_sequence(model("deepseek-v3"), 8, tp=8) == 8 * 8 * 70_272


def test_heads_with_a_size_of_their_own():
    """Qwen3-32B has 64 heads of 128 on a hidden size of 5120, not of 80."""
    assert kv_bytes_per_token(model("qwen3-32b")) == 64 * 2 * 8 * 128 * 2


def test_layers_that_share_a_cache_store_nothing():
    shared = read_config(catalogued("llama-3.1-8b") | {"num_kv_shared_layers": 20})
    assert kv_bytes_per_token(shared) == 12 * 4096
    # 20 layers without a key and a value projection
    assert model("llama-3.1-8b").parameters - shared.parameters == 20 * 2 * 4096 * 1024


@pytest.mark.parametrize("slug", ["llama-4-scout"])
def test_chunks_are_kept_like_windows(slug):
    """36 of 48 layers look at chunks of 8192 tokens."""
    scout = model(slug)
    assert sorted((count, one.window, one.chunked) for count, one in scout.attentions()) == [
        (12, None, False), (36, 8192, True)]
    assert growth(scout, 8192) == 48 * 4096
    assert growth(scout, 8193) == 12 * 4096


@pytest.mark.parametrize(("slug", "layers", "elements", "convolved"), [
    # heads x head size x state (or key x value size), in fp32; 3 columns of the convolution, bf16
    ("nemotron-3-nano-30b-a3b", 23, 64 * 64 * 128, 4096 + 2 * 8 * 128),
    ("qwen3.5-27b", 48, 48 * 128 * 128, 2 * 16 * 128 + 48 * 128),
    ("jamba-1.5-mini", 28, 8192 * 16, 8192),
])
def test_a_recurrent_state_is_constant_in_tokens(slug, layers, elements, convolved):
    hybrid = model(slug)
    assert hybrid.state_bytes == layers * (4 * elements + 3 * 2 * convolved)
    per_token = float(kv_bytes_per_token(hybrid))
    for tokens in (1, 1000, LONG):
        kept = float(kv_bytes_per_sequence(hybrid, tokens))
        assert kept - per_token * tokens == hybrid.state_bytes
    assert kv_bytes_per_sequence(hybrid, 0) == 0


def test_kinds_are_named():
    kinds = {slug: model(slug).attention_kind for slug in (
        "llama-2-7b", "llama-3.1-8b", "deepseek-v3", "gpt-oss-20b", "qwen3.5-27b",
        "nemotron-3-nano-30b-a3b", "jamba-1.5-mini")}
    assert list(kinds.values()) == ["MHA", "GQA", "MLA", "GQA + window", "GQA + gated delta net",
                                    "GQA + Mamba-2", "GQA + Mamba"]
