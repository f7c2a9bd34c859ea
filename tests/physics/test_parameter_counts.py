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
    assert set(models()) == set(TOTALS) | set(ROUNDED)


def test_parts_sum_to_the_total():
    for each in models().values():
        assert sum(each.parameters_by_part.values()) == each.parameters
        assert (each.active_parameters == each.parameters) == (each.experts is None)


def test_gpt2_counts_its_layer_norm_biases():
    """124,439,808 (Hugging Face openai-community/gpt2)."""
    gpt2 = read_config({"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12,
                        "vocab_size": 50257, "n_positions": 1024})
    assert gpt2.parameters == 124_439_808
