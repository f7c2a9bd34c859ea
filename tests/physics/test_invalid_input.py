"""Values that mean nothing raise an error that says what is allowed; they never give a number."""

from __future__ import annotations

import numpy as np
import pytest

from physics.catalogue import model
from physics.chips import chip
from physics.errors import InputError
from physics.formats import BITS_PER_ELEMENT, bytes_per_element
from physics.machine import machine
from physics.memory import max_batch
from physics.request import request
from physics.step import decode, prefill

LLAMA, H100 = model("llama-3.1-8b"), machine(chip("h100-sxm"))


@pytest.mark.parametrize("value", [0, -1, np.nan, [1, 0]])
def test_a_step_needs_a_batch_and_tokens(value):
    with pytest.raises(InputError, match="batch"):
        decode(LLAMA, H100, batch=value, context=10)
    with pytest.raises(InputError):
        prefill(LLAMA, H100, batch=1, prompt=value)


def test_a_context_is_never_negative():
    with pytest.raises(InputError, match="cached_tokens"):
        decode(LLAMA, H100, batch=1, context=-1)


@pytest.mark.parametrize("output", [0, -5, np.nan])
def test_a_request_needs_an_output_token(output):
    with pytest.raises(InputError, match="output"):
        request(LLAMA, H100, prompt=10, output=output, batch=1)


@pytest.mark.parametrize("tp", [0, -1])
def test_a_machine_needs_a_chip(tp):
    with pytest.raises(InputError, match="tp"):
        machine(chip("h100-sxm"), tp=tp)


@pytest.mark.parametrize("change", [{"weights": "fp16"}, {"efficiency": "best"},
                                    {"bandwidth": 0.0}, {"flops": -1e12}])
def test_a_machine_refuses_what_it_does_not_know(change):
    with pytest.raises(InputError):
        machine(chip("h100-sxm"), **change)


def test_a_sequence_without_tokens_has_no_largest_batch():
    with pytest.raises(InputError, match="tokens"):
        max_batch(LLAMA, H100, tokens=0)


@pytest.mark.parametrize("name", ["fp16", "", ["bf16", "fp16"]])
def test_an_unknown_format_is_answered_with_the_known_ones(name):
    assert {"bf16", "fp8", "int8", "int4", "fp4"} <= set(BITS_PER_ELEMENT)
    with pytest.raises(InputError, match=", ".join(BITS_PER_ELEMENT)):
        bytes_per_element(name)
