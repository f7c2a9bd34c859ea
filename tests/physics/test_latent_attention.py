"""Latent attention in both its forms, and with an indexer that picks what is read."""

from __future__ import annotations

import numpy as np
import pytest

from physics.catalogue import model
from physics.chips import chip
from physics.config import read_config
from physics.kv_cache import kv_bytes_per_token
from physics.machine import machine
from physics.step import Step, decode, prefill, step
from tests.physics.example_configs import DEEPSEEK_V32

H100 = machine(chip("h100-sxm"))
DENSE = model("deepseek-v3")
SPARSE = read_config(DEEPSEEK_V32)
LAYERS, HEADS = 61, 128
LATENT = 576 * 2  # bytes a token and layer
INDEX = 128 + 4  # an fp8 key and its scale


def total(of: Step, name: str, attribute: str) -> float:
    values = getattr(of, f"{attribute}_by_operator")
    return float(sum(values[i] for i, each in enumerate(of.names) if each == name))


def test_decode_is_absorbed():
    """Scores against the latent vector (576), values from it (512): no key is expanded."""
    one = decode(DENSE, H100, batch=3, context=999)
    assert total(one, "attention", "flop") == 3 * LAYERS * 2 * HEADS * (576 + 512) * 1000
    assert total(one, "attention", "kv_bytes") == 3 * LAYERS * LATENT * 1001
    assert total(one, "absorb", "flop") == 3 * LAYERS * 2 * HEADS * 512 * (128 + 128)
    assert "kv_up" not in one.names


def test_prefill_is_expanded():
    """Scores of 192, values of 128 a head; the latent vector is written once."""
    one = prefill(DENSE, H100, batch=3, prompt=1000)
    pairs = 1000 * 1001 / 2
    assert total(one, "attention", "flop") == 3 * LAYERS * 2 * HEADS * (192 + 128) * pairs
    assert total(one, "kv_up", "flop") == 3000 * LAYERS * 2 * 512 * HEADS * (128 + 128)
    assert float(one.kv_bytes) == 3 * LAYERS * LATENT * 2000
    assert "absorb" not in one.names


def test_absorbing_pays_for_one_token_and_expanding_for_many():
    for new, cached, wins in ((1, 10_000, True), (4096, 0, False)):
        work = [float(step(DENSE, H100, batch=1, new_tokens=new, cached_tokens=cached,
                           absorbed=absorbed).flop) for absorbed in (True, False)]
        assert (work[0] < work[1]) is wins


def test_both_forms_read_the_same_weights():
    forms = [step(DENSE, H100, batch=1, new_tokens=1, cached_tokens=9, absorbed=absorbed)
             for absorbed in (True, False)]
    assert float(forms[0].weight_bytes) == float(forms[1].weight_bytes)


def test_the_query_may_be_uncompressed():
    """DeepSeek-V2-Lite has no q_lora_rank."""
    content = {name: value for name, value in DEEPSEEK_V32.items()
               if not name.startswith(("q_lora_rank", "index_"))}
    plain = read_config(content | {"q_lora_rank": None})
    columns = HEADS * 192
    down = 7168 * 1536 + 1536 * columns + 1536  # with its norm
    assert DENSE.parameters - plain.parameters == LAYERS * (down - 7168 * columns)
    assert "qkv" in decode(plain, H100, batch=1, context=1).names


def test_an_indexer_adds_its_own_key_to_the_cache():
    assert kv_bytes_per_token(SPARSE) == LAYERS * (LATENT + INDEX)
    index = 1536 * 64 * 128 + 7168 * (128 + 64)
    assert SPARSE.parameters - DENSE.parameters == LAYERS * index


@pytest.mark.parametrize("context", [0, 10, 2047, 2048, 100_000])
def test_an_indexer_scans_everything_and_attends_to_what_it_picks(context):
    one = decode(SPARSE, H100, batch=5, context=context)
    seen, picked = context + 1, min(context + 1, 2048)
    assert total(one, "attention", "flop") == 5 * LAYERS * 2 * HEADS * (576 + 512) * picked
    assert total(one, "attention", "kv_bytes") == 5 * LAYERS * LATENT * (picked + 1)
    assert total(one, "attention_index", "flop") == 5 * LAYERS * 2 * 64 * 128 * seen
    assert total(one, "attention_index", "kv_bytes") == 5 * LAYERS * INDEX * (seen + 1)


def test_an_indexer_caps_the_pairs_of_a_prefill():
    one = prefill(SPARSE, H100, batch=1, prompt=10_000)
    pairs = np.minimum(np.arange(1, 10_001), 2048).sum()
    assert total(one, "attention", "flop") == LAYERS * 2 * HEADS * (192 + 128) * pairs
    everything = 10_000 * 10_001 / 2
    assert total(one, "attention_index", "flop") == LAYERS * 2 * 64 * 128 * everything


def test_sparse_attention_pays_at_long_context_only():
    short, long = ([float(decode(each, H100, batch=1, context=context).kv_bytes)
                    for each in (DENSE, SPARSE)] for context in (100, 100_000))
    assert short[1] > short[0]
    assert long[1] < long[0] / 5
