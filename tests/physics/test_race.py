"""Tokens of an answer, and who overtakes whom, counted one by one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from physics.catalogue import model
from physics.chips import chip
from physics.machine import machine
from physics.race import answer, either, overtaken_at
from physics.request import request, token_seconds

LLAMA = model("llama-3.1-8b")


def on(slug: str, prompt: int = 2048, output: int = 256, batch: int = 1, architecture=LLAMA):
    return answer(architecture, machine(chip(slug)), prompt=prompt, output=output, batch=batch)


def moments(one, output: int) -> np.ndarray:
    return one.token_seconds(np.arange(1, output + 1)[:, None])[:, 0]


@pytest.mark.parametrize("slug", ["llama-3.1-8b", "gpt-oss-20b", "gemma-3-27b"])
def test_an_answer_is_a_request(slug):
    architecture, h100 = model(slug), machine(chip("h100-sxm"))
    load = {"prompt": 300, "output": 1500, "batch": 3}
    asked, one = request(architecture, h100, **load), answer(architecture, h100, **load)
    for name in ("ttft_seconds", "tpot_seconds", "e2e_seconds"):
        assert getattr(one, name)[0] == pytest.approx(float(getattr(asked, name)), rel=1e-12)
    tokens = np.array([1, 2, 700, 1500])
    expected = token_seconds(architecture, h100, **load, tokens=tokens)
    assert one.token_seconds(tokens[:, None])[:, 0] == pytest.approx(expected, rel=1e-12)


@given(st.integers(1, 600), st.floats(0, 1.2), st.sampled_from(["h100-sxm", "t4", "apple-m1-max"]))
@settings(max_examples=40, deadline=None)
def test_tokens_at_a_moment_are_those_that_have_come(output, share, slug):
    one = on(slug, prompt=64, output=output, batch=4)
    at = share * float(one.e2e_seconds[0])
    assert one.tokens_at(at)[0] == np.sum(moments(one, output) <= at)


def test_tokens_at_the_very_moments():
    one = on("h100-sxm", output=64)
    come = moments(one, 64)
    assert one.tokens_at(come[:, None])[:, 0].tolist() == list(range(1, 65))
    assert one.tokens_at(come[:, None] * (1 - 1e-9))[:, 0].tolist() == list(range(64))


@pytest.mark.parametrize(
    ("first", "second", "prompt", "output"),
    [
        ("h100-sxm", "h20", 2048, 256),
        ("h100-sxm", "h20", 512, 256),
        ("h100-sxm", "h20", 8192, 300),
        ("rtx-4090", "apple-m3-ultra", 64, 200),
        ("a100-sxm-80gb", "l40s", 4096, 2000),
        ("h200-sxm", "a100-sxm-80gb", 2048, 256),
    ],
)
def test_overtaking_is_where_the_order_of_the_tokens_turns(first, second, prompt, output):
    one, other = (on(slug, prompt, output) for slug in (first, second))
    lead = moments(one, output) - moments(other, output)
    turned = np.sign(lead) != np.sign(lead[0])
    expected = float(np.argmax(turned) + 1) if turned.any() else np.nan
    assert overtaken_at(one, other)[0] == pytest.approx(expected, nan_ok=True)


def test_the_second_chip_wins_by_bandwidth_though_it_reads_six_times_slower():
    h100, h20 = on("h100-sxm"), on("h20")
    assert float(h20.ttft_seconds[0] / h100.ttft_seconds[0]) > 6
    assert float(h20.tpot_seconds[0] / h100.tpot_seconds[0]) == pytest.approx(3350 / 4000, rel=0.01)
    assert h20.e2e_seconds < h100.e2e_seconds


def test_either_takes_each_point_from_the_chosen_one():
    load = {"prompt": [64, 64], "output": [100, 100], "batch": [1, 1]}
    h100, h20 = (answer(LLAMA, machine(chip(slug)), **load) for slug in ("h100-sxm", "h20"))
    mixed = either([False, True], h100, h20)
    assert mixed.e2e_seconds.tolist() == [h20.e2e_seconds[0], h100.e2e_seconds[1]]
