"""Models and machines as the printed sources describe them, where the catalogue has none."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np

from physics.architecture import Architecture
from physics.catalogue import ASSETS
from physics.chips import chip
from physics.config import read_config
from physics.layers import Attention, Dense, LatentAttention, Layers
from physics.machine import Machine, machine


def multi_head(*, layers: int, hidden: int, vocabulary: int, head_dim: int = 128,
               positions: int = 0) -> Architecture:
    """Return a model with as many key-value heads as heads, and a plain network of 4 x hidden."""
    heads = hidden // head_dim
    block = Layers(layers, Attention(heads, heads, head_dim, head_dim),
                   Dense(4 * hidden, gated=False))
    return Architecture("printed", "printed", hidden, vocabulary, (block,), tied_head=True,
                        extra_embedding=positions * hidden)


GPT2 = multi_head(layers=12, hidden=768, vocabulary=50257, head_dim=64, positions=1024)
"""nanoGPT's sizing notebook: no biases, learned positions, tied head."""

KIPPLY_52B = multi_head(layers=64, hidden=8192, vocabulary=65536)
"""kipply's model: 12 L d^2 and 65,536 embeddings; norms are left out there."""

GOPHER = multi_head(layers=80, hidden=16384, vocabulary=32000)
"""Gopher as kipply takes it: '260B', 80 layers of 16384."""

OPT_13B = multi_head(layers=40, hidden=5120, vocabulary=50272)
OPT_66B = multi_head(layers=64, hidden=9216, vocabulary=50272)


def grouped(*, layers: int, hidden: int = 4096, heads: int = 32, kv_heads: int = 8,
            head_dim: int = 128, intermediate: int = 14336, vocabulary: int = 32000,
            window: int | None = None, tied: bool = False) -> Architecture:
    """Return a model with grouped queries and a gated network."""
    attention = Attention(heads, kv_heads, head_dim, head_dim, window=window)
    return Architecture("printed", "printed", hidden, vocabulary,
                        (Layers(layers, attention, Dense(intermediate)),), tied_head=tied)


SCALING_BOOK_18B = grouped(layers=64, hidden=4096, heads=32, kv_heads=8, head_dim=256,
                           intermediate=16384, vocabulary=32128, tied=True)

DEEPSEEK_V2_ATTENTION = LatentAttention(heads=128, query_rank=1536, kv_rank=512, nope_dim=128,
                                        rope_dim=64, value_dim=128)
DEEPSEEK_V2 = Architecture("printed", "DeepSeek-V2, attention only", 5120, 102400,
                           (Layers(60, DEEPSEEK_V2_ATTENTION, Dense(12288)),))


def round_model(parameters: float, hidden: int = 10_000) -> Architecture:
    """Return a model with a round number of parameters and next to no attention and vocabulary.

    The sources that reckon with '7B' or '540B' and two FLOP a parameter leave these out.
    """
    inner = round(parameters / (2 * hidden))
    return Architecture("round", "round", hidden, 1,
                        (Layers(1, Attention(1, 1, 1, 1), Dense(inner, gated=False)),),
                        tied_head=True)


def llama_2_13b(kv_heads: int = 40) -> Architecture:
    """Return Llama-2-13B, or the scaling book's variant of it with a smaller cache."""
    content = json.loads((ASSETS / "models" / "llama-2-13b.json").read_text(encoding="utf-8"))
    return read_config(content | {"num_key_value_heads": kv_heads}, slug=f"13b-{kv_heads}")


def without_link_time(of: Machine) -> Machine:
    """Return the machine with a link that costs nothing: many sources leave communication out."""
    return replace(of, link=np.inf)


def v5e(tp: int, bandwidth: float = 8.2e11, weights: str = "bf16") -> Machine:
    """Return TPU v5e chips with the bandwidth that the scaling book uses, without link time."""
    return without_link_time(
        machine(chip("tpu-v5e"), tp=tp, bandwidth=bandwidth, weights=weights))
