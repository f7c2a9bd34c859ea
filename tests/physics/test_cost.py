"""What tokens cost, by hand."""

import numpy as np
import pytest

from physics.catalogue import model
from physics.chips import chip
from physics.cost import cost_per_million_tokens, energy_per_token
from physics.machine import machine
from physics.request import request


def test_a_token_a_second_for_an_hour_costs_the_price_of_the_hour():
    per_token = cost_per_million_tokens(1.0, chips=1, price_per_chip_hour=3.6) / 1e6
    assert float(per_token) * 3600 == pytest.approx(3.6)


def test_twice_the_chips_cost_twice_unless_they_are_twice_as_fast():
    one, two, fast = cost_per_million_tokens(
        [100.0, 100.0, 200.0], chips=[1, 2, 2], price_per_chip_hour=2.5
    )
    assert two == pytest.approx(2 * one)
    assert fast == pytest.approx(one)


def test_a_batch_makes_tokens_cheaper_and_prefill_sets_the_floor():
    """However large the batch, each answer pays for its own prompt: 30 ms on an H100."""
    batches = np.array([1.0, 8.0, 64.0, 200.0])
    asked = request(
        model("llama-3.1-8b"), machine(chip("h100-sxm")), prompt=2048, output=256, batch=batches
    )
    cost = cost_per_million_tokens(
        asked.tokens_per_second_system, chips=1, price_per_chip_hour=2.0
    )
    assert np.all(np.diff(cost) < 0)
    prompts = 2.0 / 3600 * asked.ttft_seconds / (batches * 256) * 1e6
    assert np.all(cost > prompts)


def test_energy_by_hand():
    """700 W for a second is 700 J: 1,000 tokens take 0.7 J each."""
    assert float(energy_per_token(1000, chips=1, power_watt=700)) == pytest.approx(0.7)
    assert energy_per_token([500, 1000], chips=8, power_watt=700).tolist() == [11.2, 5.6]


def test_what_has_no_throughput_has_no_cost():
    assert np.isnan(cost_per_million_tokens(np.nan, chips=1, price_per_chip_hour=2))
