"""A request is its prefill and all its decode steps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from physics.catalogue import models
from physics.chips import chip
from physics.machine import machine
from physics.request import request
from physics.step import decode, prefill
from tests.physics.strategies import batches, some_chip, some_format, some_model


@settings(max_examples=40)
@given(some_model, some_chip, some_format, st.integers(1, 300), st.integers(2, 400), batches,
       st.sampled_from(["ideal", "typical"]))
def test_tpot_is_the_mean_of_all_steps(architecture, on, kv, prompt, output, batch, efficiency):
    on = machine(on, efficiency=efficiency)
    asked = request(architecture, on, prompt=prompt, output=output, batch=batch, kv=kv)
    steps = decode(architecture, on, batch=batch, context=prompt + np.arange(output - 1), kv=kv)
    assert float(asked.tpot_seconds) == pytest.approx(float(steps.seconds_sum.mean()), rel=1e-9)
    first = prefill(architecture, on, batch=batch, prompt=prompt, kv=kv).seconds_sum
    assert asked.ttft_seconds == first
    assert float(asked.e2e_seconds) == pytest.approx(float(first + steps.seconds_sum.sum()))
    assert float(asked.tokens_per_second_user) == pytest.approx(1 / float(asked.tpot_seconds))
    assert float(asked.tokens_per_second_system) == pytest.approx(
        batch * output / float(asked.e2e_seconds))


def test_tpot_is_the_mean_where_attention_turns_compute_bound_on_the_way():
    """Latent attention crosses the ridge of an H200 (206 FLOP/B) at a context of about 1,400."""
    architecture, on = models()["deepseek-v3"], machine(chip("h200-sxm"))
    asked = request(architecture, on, prompt=1, output=5000, batch=64)
    steps = decode(architecture, on, batch=64, context=1 + np.arange(4999))
    assert float(asked.tpot_seconds) == pytest.approx(float(steps.seconds_sum.mean()), rel=1e-9)


def test_one_output_token_has_no_tpot():
    asked = request(models()["llama-3.1-8b"], machine(chip("h100-sxm")), prompt=100, output=1,
                    batch=2)
    assert np.isnan(asked.tpot_seconds)
    assert asked.e2e_seconds == asked.ttft_seconds
