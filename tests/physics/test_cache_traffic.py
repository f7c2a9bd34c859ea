"""What a causal step attends to, and how often the cache is read and written."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from physics.chips import chip
from physics.kv_cache import attended_pairs, kv_bytes_per_token
from physics.layers import Attention
from physics.machine import machine
from physics.step import Step, prefill
from tests.physics.strategies import batches, some_format, some_model, tokens


@given(some_model, st.integers(1, 50_000), st.integers(1, 50_000))
def test_two_chunks_attend_to_what_one_prefill_attends_to(architecture, first, second):
    a, b = float(first), float(second)
    for _, own in architecture.attentions():
        for window, chunked in ((own.window, own.chunked), (own.window, False), (128, False),
                                (4096, False), (1000, True)):
            attention = replace(own, window=window, chunked=chunked and window is not None)
            together = attended_pairs(attention, np.float64(a + b), np.float64(0))
            parts = (attended_pairs(attention, np.float64(a), np.float64(0))
                     + attended_pairs(attention, np.float64(b), np.float64(a)))
            assert parts == together


@given(st.integers(1, 300), st.integers(0, 300), st.integers(1, 200), st.booleans())
def test_pairs_are_those_counted_one_by_one(new, cached, window, chunked):
    attention = Attention(1, 1, 1, 1, window=window, chunked=chunked)
    positions = np.arange(cached, cached + new)
    counted = (positions % window + 1 if chunked else np.minimum(window, positions + 1)).sum()
    assert attended_pairs(attention, np.float64(new), np.float64(cached)) == counted
    full = replace(attention, window=None, chunked=False)
    assert attended_pairs(full, np.float64(new), np.float64(cached)) == (positions + 1).sum()


@given(some_model, st.integers(1, 50_000), st.integers(1, 50_000))
def test_two_chunks_do_the_attention_work_of_one_prefill(architecture, first, second):
    on = machine(chip("h100-sxm"))

    def attention(step: Step) -> float:
        return sum(float(step.flop_by_operator[i]) for i, name in enumerate(step.names)
                   if name.startswith("attention"))

    whole = prefill(architecture, on, batch=2, prompt=first + second)
    one = prefill(architecture, on, batch=2, prompt=first)
    two = prefill(architecture, on, batch=2, prompt=second, cached_tokens=first)
    assert attention(one) + attention(two) == pytest.approx(attention(whole), rel=1e-12)


@given(some_model.filter(lambda each: "window" not in each.attention_kind), batches, tokens,
       st.integers(0, 50_000), some_format)
def test_each_token_is_written_once_and_each_visible_one_read_once(
    architecture, batch, new, cached, kv
):
    step = prefill(architecture, machine(chip("h100-sxm")), batch=batch, prompt=new,
                   cached_tokens=cached, kv=kv)
    a_token = batch * float(kv_bytes_per_token(architecture, kv))
    states = batch * architecture.state_bytes  # of recurrent layers: read and written once
    assert float(step.kv_bytes) == pytest.approx(a_token * ((new + cached) + new) + 2 * states,
                                                 rel=1e-12)
