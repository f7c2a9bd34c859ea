"""What fits fits, and what a step reads is in memory."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from physics.catalogue import models
from physics.chips import chip, chips
from physics.config import read_config
from physics.kv_cache import kv_bytes_per_sequence
from physics.machine import machine
from physics.memory import bytes_short, max_batch
from physics.step import prefill
from tests.physics.example_configs import LLAMA
from tests.physics.strategies import chip_numbers, no_less, some_format, some_model, tokens


@given(some_model, st.sampled_from(list(chips().values())), chip_numbers, some_format, some_format,
       tokens)
def test_max_batch_fits_and_one_more_does_not(architecture, on, tp, weights, kv, length):
    on = machine(on, tp=tp if on.link else 1, weights=weights)
    setting = {"tokens": length, "weights": weights, "kv": kv}
    most = float(max_batch(architecture, on, **setting))
    assert most == 0 or bytes_short(architecture, on, batch=most, **setting) == 0
    assert bytes_short(architecture, on, batch=most + 1, **setting) > 0


@given(some_model, tokens, st.integers(1, 200), some_format)
def test_the_cache_on_all_chips_is_no_smaller_than_on_one(architecture, length, tp, kv):
    one = kv_bytes_per_sequence(architecture, length, kv)
    assert no_less(kv_bytes_per_sequence(architecture, length, kv, tp), one)
    assert no_less(one, kv_bytes_per_sequence(architecture, length - 1, kv))


@pytest.mark.parametrize("slug", list(models()))
@pytest.mark.parametrize("tp", [1, 8, 16])
def test_no_step_reads_weights_that_memory_does_not_count(slug, tp):
    """Copies of the router, of key-value heads and of latent projections occupy memory as well."""
    architecture, on = models()[slug], machine(chip("h100-sxm"), tp=tp)
    read = float(prefill(architecture, on, batch=1, prompt=10_000).weight_bytes)
    kept = float(bytes_short(architecture, replace(on, capacity=0.0), batch=0, tokens=1))
    assert read <= kept


@pytest.mark.parametrize("slug", list(models()))
def test_a_step_that_touches_everything_reads_all_but_what_is_looked_up(slug):
    """Weights = embedding table + norms, biases and other vectors + what a long prefill reads."""
    architecture = models()[slug]
    parts = architecture.parameters_by_part
    read = float(prefill(architecture, machine(chip("h100-sxm")), batch=1,
                         prompt=10_000).weight_bytes) / 2
    matrices = (sum(parts[name] for name in ("attention", "mlp", "experts", "shared_experts",
                                             "router")) + architecture.vocabulary
                * architecture.hidden)
    assert read == pytest.approx(matrices, rel=1e-3)


def test_a_model_that_keeps_nothing_warns_of_nothing():
    """All attentions replaced by nothing: any number of sequences fits."""
    content = LLAMA | {"block_configs": [{"attention": {"no_op": True}, "ffn": {}}] * 4}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        most = float(max_batch(read_config(content), machine(chip("h100-sxm")), tokens=100))
    assert most == np.inf
