"""Parameter counts against what the publishers of the weights state."""

from __future__ import annotations

import pytest

from physics.catalogue import model, models
from physics.config import read_config

TOTALS = {
    # Elements of the published safetensors files, as the Hugging Face API states them.
    "llama-2-7b": 6_738_415_616,
    "llama-2-13b": 13_015_864_320,
    "llama-2-70b": 68_976_648_192,
    "llama-3.1-8b": 8_030_261_248,
    "llama-3.1-70b": 70_553_706_496,
    "llama-3.1-405b": 405_853_388_800,
    "mixtral-8x7b": 46_702_792_704,
    "mixtral-8x22b": 140_620_634_112,
    "qwen2.5-7b": 7_615_616_512,
    "qwen2.5-72b": 72_706_203_648,
    "qwen3-8b": 8_190_735_360,
    "qwen3-32b": 32_762_123_264,
    "qwen3-30b-a3b": 30_532_122_624,
    "qwen3-235b-a22b": 235_093_634_560,
    # Without safetensors of their own, or with masks among them: summed from the tensors.
    "gpt2": 124_439_808,
    "opt-13b": 12_853_473_280,
    "mistral-7b": 7_241_732_096,
    "qwen3-4b": 4_022_468_096,
    "deepseek-v2": 235_741_434_880,
    "phi-4": 14_659_507_200,
    "jamba-1.5-mini": 51_570_323_328,
}

ROUNDED = {
    # Model cards and reports: total and active parameters in billions, and half the last digit.
    "gpt-oss-120b": (116.83, 5.13, 0.005),  # gpt-oss model card, arXiv 2508.10925, table 1
    "gpt-oss-20b": (20.91, 3.61, 0.005),
    "deepseek-v3": (671, 37, 0.6),  # arXiv 2412.19437; 37.55 printed as 37
    "kimi-k2": (1026.4, 32.6, 0.3),  # arXiv 2507.20534: 1.04T and 32.6B with its own rounding
    "mixtral-8x7b": (46.7, 12.9, 0.05),  # mistral.ai/news/mixtral-of-experts
    "mixtral-8x22b": (140.6, 39, 0.5),  # mistral.ai/news/mixtral-8x22b
    "qwen3-235b-a22b": (235, 22, 0.5),  # arXiv 2505.09388
    "qwen3-30b-a3b": (30.5, 3.3, 0.06),
    "deepseek-v2": (236, 21, 0.5),  # arXiv 2405.04434
    "jamba-1.5-mini": (52, 12, 0.5),  # arXiv 2408.12570
}

STATED = {
    # Billions, total and active, of the other models: model cards; half the last printed digit.
    # Scout: 109 B are printed for text and vision together, but its file describes no vision tower;
    # the language part alone has 107.77 B.
    "llama-4-scout": (107.77, 17, 0.0),
    "qwen3-32b-fp8": (32.8, 32.8, 0.0),
    "qwen3-vl-8b": (8.19, 8.19, 0.0),  # the language part is Qwen3-8B; the tower is left out
    "qwen3.5-27b": (27, 27, 0.0),
    "gemma-4-26b-a4b": (25.2, 3.8, 0.0),  # '25.2B total, 3.8B active'
    "minimax-m2.5": (229, 10, 0.5),  # '10B' in whole billions: 10.4
    "mimo-v2-flash": (309, 15, 0.5),
    "nemotron-super-49b": (49.9, 49.9, 0.0),
    # '3.2B active, 3.6B including embeddings': the second is what is counted here
    "nemotron-3-nano-30b-a3b": (31.6, 3.6, 0.0),
    "opt-66b": (65.7, 65.7, 0.0),  # printed as 66B; arXiv 2205.01068, table 1
    "gemma-3-27b": (27.0, 27.0, 0.0),  # 25,600M + 1,416M embedding: arXiv 2503.19786, table 1
    "phi-2": (2.78, 2.78, 0.0),
}


@pytest.mark.parametrize("slug", list(TOTALS))
def test_the_total_is_that_of_the_published_weights(slug):
    """Norms and biases included: to the last parameter."""
    assert model(slug).parameters == TOTALS[slug]


@pytest.mark.parametrize("slug", list(ROUNDED))
def test_total_and_active_are_those_of_the_report(slug):
    total, active, within = ROUNDED[slug]
    assert model(slug).parameters / 1e9 == pytest.approx(total, abs=max(within, 0.05))
    assert model(slug).active_parameters / 1e9 == pytest.approx(active, abs=within)


def test_every_model_is_checked():
    assert set(models()) == set(TOTALS) | set(ROUNDED) | set(STATED)


@pytest.mark.parametrize("slug", list(STATED))
def test_total_within_1_and_active_within_3_percent_of_the_card(slug):
    total, active, digit = STATED[slug]
    assert model(slug).parameters / 1e9 == pytest.approx(total, rel=0.01)
    assert model(slug).active_parameters / 1e9 == pytest.approx(active, rel=0.03, abs=digit)


@pytest.mark.parametrize(("slug", "total", "active"), [
    ("gpt-oss-120b", 116.8, 5.1), ("qwen3-235b-a22b", 235.1, 22.2), ("deepseek-v3", 671, 37),
    ("llama-4-scout", 107.77, 17),
])
def test_the_models_that_decide(slug, total, active):
    assert model(slug).parameters / 1e9 == pytest.approx(total, rel=0.01)
    assert model(slug).active_parameters / 1e9 == pytest.approx(active, rel=0.03)


def test_parts_sum_to_the_total():
    for each in models().values():
        assert sum(each.parameters_by_part.values()) == each.parameters
        assert sum(each.active_parameters_by_part.values()) == each.active_parameters
        # A table that is only looked up (positions of GPT-2 and OPT) is passed by no token.
        passed = each.parameters - each.extra_embedding
        assert (each.active_parameters == passed) == (each.experts is None)


def test_gpt2_counts_its_layer_norm_biases():
    """124,439,808 (Hugging Face openai-community/gpt2)."""
    gpt2 = read_config({"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12,
                        "vocab_size": 50257, "n_positions": 1024})
    assert gpt2.parameters == 124_439_808
