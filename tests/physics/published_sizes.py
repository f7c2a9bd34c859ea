"""Printed parameter counts, cache sizes, FLOP, intensities and ridges, computed with `physics`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from physics.architecture import Architecture
from physics.catalogue import model
from physics.chips import chip
from physics.kv_cache import kv_bytes_per_sequence, kv_bytes_per_token
from physics.limits import (
    critical_batch,
    ridge_flop_per_byte,
)
from physics.machine import machine
from physics.memory import max_batch, weight_bytes
from physics.operators import Pass, distinct_experts, linear
from physics.step import Step, decode, prefill
from tests.physics.published_case import Case
from tests.physics.published_models import (
    DEEPSEEK_V2,
    DEEPSEEK_V2_ATTENTION,
    GPT2,
    KIPPLY_52B,
    OPT_13B,
    OPT_66B,
    SCALING_BOOK_18B,
    grouped,
    round_model,
)

GIB = 2**30
H100 = machine(chip("h100-sxm"))
LLAMA_3_70B = model("llama-3.1-70b")


def part(step: Step, name: str, attribute: str = "flop") -> float:
    """Sum an attribute over the operators of a name."""
    values = getattr(step, f"{attribute}_by_operator")
    return float(sum(values[i] for i, each in enumerate(step.names) if each == name))


def one_prefill(architecture: Architecture, tokens: int) -> Step:
    return prefill(architecture, H100, batch=1, prompt=tokens)


def full_matrix_attention(architecture: Architecture, tokens: int) -> float:
    """FLOP of scores and weighted values without the causal half: T^2 pairs for T (T + 1) / 2."""
    causal = part(one_prefill(architecture, tokens), "attention")
    return causal * 2 * tokens / (tokens + 1)


def block_flop(architecture: Architecture, tokens: int) -> float:
    """FLOP of the matrices in the blocks of a prefill."""
    step = one_prefill(architecture, tokens)
    return float(step.flop) - part(step, "attention") - part(step, "head")


def attention_intensity_read_once(architecture: Architecture, tokens: int) -> float:
    """Full-matrix attention over Q, K, V and O moved once; the cache write is not counted."""
    step = one_prefill(architecture, tokens)
    moved = part(step, "attention", "activation_bytes") + part(step, "attention", "kv_bytes") / 2
    return full_matrix_attention(architecture, tokens) / moved


def decode_attention_intensity(architecture: Architecture, context: int, batch: int = 7) -> float:
    step = decode(architecture, H100, batch=batch, context=context)
    moved = part(step, "attention", "kv_bytes") + part(step, "attention", "activation_bytes")
    return part(step, "attention") / moved


def gib(architecture: Architecture, tokens: int, sequences: int = 1) -> float:
    return float(sequences * kv_bytes_per_sequence(architecture, tokens)) / GIB


def block_parameters(architecture: Architecture) -> float:
    """Parameters of one layer with its norms."""
    group = architecture.groups[0]
    matrices = group.attention.parameters(architecture.hidden) + group.network.parameters(
        architecture.hidden)
    return matrices + architecture.norms_per_layer * architecture.hidden


def kv_elements(architecture: Architecture) -> int:
    """Elements that a token adds to the cache of one layer."""
    attention = architecture.groups[0].attention
    return attention.kv_heads * attention.elements_per_kv_head


def weight_over_activation(rows: int, inner: int) -> float:
    """Bytes of one hidden x inner matrix over those of its output rows."""
    architecture = grouped(layers=1, intermediate=inner)
    step = decode(architecture, H100, batch=rows, context=0)
    return part(step, "down", "weight_bytes") / (2 * rows * architecture.hidden)


def tokens_beside_52b(cards: int) -> float:
    """Tokens of cache that fit beside kipply's 52B model on cards of 40 GB, taken as one pool."""
    pool = replace(machine(chip("a100-sxm-40gb")), capacity=cards * 40e9)
    return float(max_batch(KIPPLY_52B, pool, tokens=1))


def linear_intensity(rows: int, inputs: int, outputs: int) -> float:
    two, one = np.float64(2), np.float64(1)
    step = Pass(GPT2, np.float64(rows), one, one, "bf16", two, np.int64(1), absorbed=False)
    work = linear("any", 1, step, inputs, outputs, "mlp")
    return float(work.flop / (work.weight_bytes + work.activation_bytes))


DIGIT = "the last printed digit"

PARAMETERS = {
    "gpt2_params_block": Case(lambda: block_parameters(GPT2)),
    "kipply_52b_weight_bytes": Case(
        lambda: weight_bytes(KIPPLY_52B), 2 * 129 * 8192, "the source leaves out the 129 norms"),
    "llama3_70b_ffw_params": Case(
        lambda: LLAMA_3_70B.parameters_by_part["mlp"], 0.1e9, "printed 56.3e9, truncated"),
    "llama3_70b_attn_params": Case(
        lambda: LLAMA_3_70B.parameters_by_part["attention"], 0.1e9, "printed 12e9, truncated"),
    "llama3_70b_vocab_params": Case(
        lambda: sum(LLAMA_3_70B.parameters_by_part[name] for name in ("embedding", "head")),
        0.05e9, DIGIT),
    "llama3_70b_total_params": Case(
        lambda: LLAMA_3_70B.parameters, 0.2e9, "the printed total adds parts already truncated"),
    "sb_q1_params": Case(lambda: SCALING_BOOK_18B.parameters, 0.05e9, DIGIT),
}

FLOP = {
    "gpt2_fwd_flops_blocks": Case(
        lambda: block_flop(GPT2, 1024) + full_matrix_attention(GPT2, 1024),
        because="the source counts the full matrix, T^2 pairs, instead of the causal half"),
    "gpt2_attn_scores_flops": Case(
        lambda: full_matrix_attention(GPT2, 1024) / 12 / 2,
        because="scores only, one layer of twelve, full matrix"),
    "gpt2_lm_head_flops": Case(
        lambda: part(decode(GPT2, H100, batch=1024, context=1), "head"),
        because="all 1024 positions; here the head runs once a sequence, hence 1024 sequences"),
    "gpt2_palm_train_flops": Case(
        lambda: 3 * (2 * (GPT2.parameters - GPT2.extra_embedding) * 1024
                     + full_matrix_attention(GPT2, 1024)),
        because="training is three forward passes; position table not counted; full matrix"),
    "kipply_52b_flops_per_token": Case(
        lambda: block_flop(KIPPLY_52B, 1), because="blocks only, without attention over the cache"),
    "kipply_kv_fraction": Case(
        lambda: kv_elements(KIPPLY_52B) * KIPPLY_52B.hidden
        / (block_parameters(KIPPLY_52B) - 2 * KIPPLY_52B.hidden),
        5e-8, DIGIT),
    "sb_attn_eq_proj": Case(
        lambda: 2 * GPT2.groups[0].attention.parameters(GPT2.hidden) * GPT2.layers
        / sum(count * one.flop_per_pair for count, one in GPT2.attentions()) * 4096 / GPT2.hidden,
        because="T = 2 D for any D (here 768, scaled to 4096); full matrix"),
}

KV_CACHE = {
    "kv_llama2_7b_token": Case(lambda: kv_bytes_per_token(model("llama-2-7b"))),
    "kv_llama2_7b_4096": Case(lambda: kv_bytes_per_sequence(model("llama-2-7b"), 4096)),
    "kv_opt13b_token": Case(lambda: kv_bytes_per_token(OPT_13B)),
    "kv_52b_token": Case(lambda: kv_bytes_per_token(KIPPLY_52B)),
    "kv_llama2_13b_8192": Case(
        lambda: kv_bytes_per_sequence(model("llama-2-13b"), 8192) / 1e9, 0.05, DIGIT),
    "distserve_kv_bandwidth": Case(
        lambda: gib(OPT_66B, 512) * 10 * 8, 0.5,
        "printed 1.13 GB is GiB, so that the Gbit/s are 2^30 bits too"),
    "kv_llama3_70b_bf16": Case(lambda: kv_bytes_per_token(LLAMA_3_70B)),
    "kv_qwen25_72b": Case(lambda: kv_bytes_per_token(model("qwen2.5-72b"))),
    "kv_llama31_405b": Case(lambda: kv_bytes_per_token(model("llama-3.1-405b"))),
    "kv_llama2_70b_1024_b1": Case(
        lambda: gib(model("llama-2-70b"), 1024), 0.0006, "0.3125 printed as 0.312"),
    "kv_llama2_70b_1024_b16": Case(lambda: gib(model("llama-2-70b"), 1024, 16)),
    "kv_llama2_70b_1024_b32": Case(lambda: gib(model("llama-2-70b"), 1024, 32)),
    "kv_llama31_8b_16000": Case(lambda: gib(model("llama-3.1-8b"), 16000), 0.005, DIGIT),
    "kv_llama31_8b_128000": Case(
        lambda: gib(model("llama-3.1-8b"), 128000), 0.006, "15.625 printed as 15.62"),
    "kv_llama31_70b_1024": Case(lambda: gib(LLAMA_3_70B, 1024), 0.0006, "0.3125 printed 0.313"),
    "kv_llama31_70b_128000": Case(lambda: gib(LLAMA_3_70B, 128000), 0.005, DIGIT),
    "kv256k_mistral_7b": Case(
        lambda: gib(grouped(layers=32), 2**18), because="the source ignores its window"),
    "kv256k_llama31_8b": Case(lambda: gib(model("llama-3.1-8b"), 2**18)),
    "kv256k_llama31_70b": Case(lambda: gib(LLAMA_3_70B, 2**18)),
    "kv256k_mixtral_8x22b": Case(lambda: gib(model("mixtral-8x22b"), 2**18)),
    "kv256k_mistral_large2": Case(
        lambda: gib(grouped(layers=88, hidden=12288, heads=96), 2**18)),
    "kv256k_jamba15_mini": Case(
        lambda: gib(grouped(layers=4), 2**18), because="only its 4 attention layers keep a cache"),
    "kv_ratio_qwen_dsv3": Case(
        lambda: kv_bytes_per_token(model("qwen2.5-72b")) / kv_bytes_per_token(model("deepseek-v3")),
        0.005, DIGIT),
    "mla_equiv_gqa_groups": Case(lambda: DEEPSEEK_V2_ATTENTION.latent / (2 * 128)),
    "dsv2_kv_reduction": Case(
        lambda: 100 * (1 - kv_bytes_per_token(DEEPSEEK_V2, "fp8") * 6 / 8
                       / kv_bytes_per_token(grouped(layers=95, hidden=8192, heads=64))),
        0.05, "6-bit cache as in the paper: 6/8 of our 8-bit one"),
    "mistral_swa_ratio": Case(
        lambda: kv_bytes_per_sequence(grouped(layers=32), 2**15)
        / kv_bytes_per_sequence(grouped(layers=32, window=4096), 2**15)),
}

MEMORY = {
    "baseten_kv_tokens": Case(
        lambda: np.floor((24e9 - 14e9) / kv_bytes_per_token(model("llama-2-7b"))), 160,
        "printed with 0.52 MB a token for 524,288 B: 0.8 % more tokens"),
    "baseten_batch_4096": Case(
        lambda: max_batch(model("llama-2-7b"), machine(chip("a10")), tokens=4096)),
    "kipply_cap_3gpu": Case(
        lambda: tokens_beside_52b(3), 450,
        "printed with 16 GB free for 15.85, and 0.002 GB a token for 2,097,152 B: 5.9 % more"),
    "sb_70b_mem": Case(
        lambda: (weight_bytes(LLAMA_3_70B, "int8")
                 + 32 * kv_bytes_per_sequence(LLAMA_3_70B, 8192, "int8")) / 1e9,
        1.7, "printed with 70e9 parameters for 70.55e9 and 160 kB a token for 163.84 kB"),
    "cerebras_70b_bytes": Case(
        lambda: decode(round_model(70e9), H100, batch=1, context=0).weight_bytes / 1e9, 0.5,
        "'70B' and nothing but weights"),
}

INTENSITY = {
    "ai_dot": Case(
        lambda: linear_intensity(1, 10**6, 1), 1e-6, "a limit: (2 N - 1) / (4 N + 2) for N = 10^6"),
    "ai_linear_512": Case(lambda: linear_intensity(512, 1024, 4096), 0.5, DIGIT),
    "ai_attn_prefill": Case(
        lambda: attention_intensity_read_once(model("llama-2-7b"), 480),
        because="full matrix; K and V moved once (the cache write is not counted)"),
    "ai_attn_decode": Case(
        lambda: decode_attention_intensity(model("llama-2-7b"), 8191), 0.001,
        "a limit: S / (S + 1) and less"),
    "ai_attn_decode_gqa": Case(
        lambda: decode_attention_intensity(LLAMA_3_70B, 8191), 0.02,
        "a limit: 8 S / (S + 8) is 7.992, and the new token is written too"),
    "ai_mla_decode": Case(
        lambda: decode_attention_intensity(model("deepseek-v3"), 10**6) * 2 * 576 / (576 + 512),
        0.2, "printed law 2 h takes d_v = d_k; exactly 576 + 512, not 2 x 576"),
}

RIDGES = {
    "ridge_v5e_bf16": Case(
        lambda: chip("tpu-v5e").ridge, 0.6, "printed with 820 GB/s; the chip has 819"),
    "bcrit_v5e_w8a8": Case(
        lambda: critical_batch(model("llama-2-13b"), 3.94e14, 8.1e11, "int8"), 0.5, DIGIT),
    "bcrit_h100": Case(
        lambda: critical_batch(model("llama-2-13b"), 1e15, 3.35e12), 1.0,
        "298.5 printed as 298; the source takes 1e15 for 989e12"),
    "two_chip_D": Case(
        lambda: 2 * ridge_flop_per_byte(1.97e14, 4.5e10), 1.0, "8755.6, truncated"),
    "sb_tp_limit_decode": Case(
        lambda: weight_over_activation(rows=32, inner=16384) / 8,
        because="one activation of B x D over a link with an eighth of the bandwidth"),
    "sb_tp_limit_prefill": Case(
        lambda: 28672 * 2 / ridge_flop_per_byte(4.59e14, 1.8e11), 0.5,
        "two axes of 1.8e11 B/s on TPU v5p, whose ratio of 2550 is printed; 22.49"),
    "ridge_a100_80_sxm": Case(lambda: chip("a100-sxm-80gb").ridge, 0.5, DIGIT),
    "ridge_v100_hbm": Case(lambda: chip("v100-sxm2").ridge, 0.5, DIGIT),
    "ridge_v100_l2": Case(
        lambda: ridge_flop_per_byte(chip("v100-sxm2").bf16_flop_per_second, 3.1e12), 0.5, DIGIT),
    "ridge_wse3": Case(
        lambda: ridge_flop_per_byte(125e15, chip("wse-3").bandwidth), 0.5,
        "the vendor's sparse peak; the catalogue keeps the dense one"),
    "ridge_a100_sn40l_paper": Case(
        lambda: ridge_flop_per_byte(300e12, 2e12), because="the paper's rounded figures"),
    "h100_1tflop_time": Case(
        lambda: 1e12 / chip("h100-sxm").bf16_flop_per_second * 1e3, 0.005, DIGIT),
    "h100_sparse_halving": Case(
        lambda: chip("h100-sxm").bf16_flop_per_second / 1e12, 0.5, "the data sheet prints 989"),
    "db_h100_a100_bw": Case(
        lambda: chip("h100-sxm").bandwidth / chip("a100-sxm-40gb").bandwidth, 0.005, DIGIT),
    "flashmla_mbu": Case(lambda: 100 * 3e12 / chip("h800-sxm").bandwidth, 0.05, DIGIT),
}

EXPERTS = {
    "moe_experts_qwen3_b16": Case(lambda: distinct_experts(128, 8, 16), 0.5, DIGIT),
    "moe_bcrit_qwen3": Case(
        lambda: critical_batch(model("qwen3-235b-a22b"), 100.0, 1.0),
        because="the source's ridge of about 100"),
}

CASES = PARAMETERS | FLOP | KV_CACHE | MEMORY | INTENSITY | RIDGES | EXPERTS
