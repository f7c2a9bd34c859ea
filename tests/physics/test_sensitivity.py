"""Elasticities are what finite differences say, and add up to one."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from physics.catalogue import model
from physics.chips import chip
from physics.machine import machine
from physics.request import request
from physics.sensitivity import FIGURES, decode_work, prefill_work
from physics.step import decode
from tests.physics.strategies import some_chip, some_model

CASES = [
    ("llama-3.1-8b", "h100-sxm", 1, "ideal", 2048, 256, 1),
    ("llama-3.1-8b", "h100-sxm", 1, "typical", 24, 256, 512),
    ("llama-3.1-70b", "a100-sxm-80gb", 8, "typical", 2048, 256, 16),
    ("deepseek-v3", "h20", 16, "typical", 100, 3000, 32),
    ("gpt-oss-120b", "h200-sxm", 2, "typical", 64, 1024, 8),
    ("gemma-3-27b", "l40s", 2, "ideal", 500, 2000, 4),
]
LOAD = ("prompt", "output", "batch")


def parts_of(case):
    slug, chip_slug, tp, efficiency, *load = case
    architecture = model(slug)
    on = machine(chip(chip_slug), tp=tp, efficiency=efficiency)
    load = dict(zip(LOAD, load, strict=True))
    return architecture, on, load


def works(architecture, on, load):
    of_prompt = {name: load[name] for name in ("prompt", "batch")}
    return prefill_work(architecture, on, **of_prompt), decode_work(architecture, on, **load)


def with_faster(on, figure, times):
    """The same machine with one figure so many times as fast."""
    if figure == "compute":
        return replace(on, peak=on.peak * times, attention_peak=on.attention_peak * times)
    if figure == "launch":
        fixed = {
            name: getattr(on.efficiency, name) / times
            for name in ("launch_seconds", "all_reduce_seconds")
        }
        return replace(on, efficiency=replace(on.efficiency, **fixed))
    return replace(on, **{figure: getattr(on, figure) * times})


def times(architecture, on, load):
    asked = request(architecture, on, **load)
    return np.array([float(asked.ttft_seconds), float(asked.tpot_seconds)])


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_parts_add_up_to_ttft_and_tpot(case):
    architecture, on, load = parts_of(case)
    found = [float(work.seconds()[0]) for work in works(architecture, on, load)]
    assert found == pytest.approx(times(architecture, on, load), rel=1e-12)


@pytest.mark.parametrize("figure", FIGURES)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_elasticities_are_those_of_finite_differences(case, figure):
    architecture, on, load = parts_of(case)
    h = 1e-5
    slower, faster = (times(architecture, with_faster(on, figure, k), load) for k in (1 - h, 1 + h))
    by_differences = -np.log(faster / slower) / np.log((1 + h) / (1 - h))
    found = [
        work.elasticities()[FIGURES.index(figure), 0] for work in works(architecture, on, load)
    ]
    assert found == pytest.approx(by_differences, abs=2e-4)


@pytest.mark.parametrize("figure", FIGURES)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_gain_is_that_of_the_faster_machine(case, figure):
    architecture, on, load = parts_of(case)
    before = times(architecture, on, load)
    after = times(architecture, with_faster(on, figure, 1.1), load)
    gains = [float(work.gain(**{figure: 1.1})[0]) for work in works(architecture, on, load)]
    assert gains == pytest.approx(before / after - 1, rel=1e-9, abs=1e-12)


@given(
    some_model,
    some_chip,
    st.sampled_from(["ideal", "typical"]),
    st.integers(1, 20_000),
    st.integers(1, 3000),
    st.integers(1, 2000),
)
@settings(max_examples=60, deadline=None)
def test_elasticities_add_up_to_one_and_none_is_negative(
    architecture, on, efficiency, prompt, output, batch
):
    load = {"prompt": prompt, "output": output, "batch": batch}
    for work in works(architecture, machine(on, efficiency=efficiency), load):
        elasticities = work.elasticities()
        assert elasticities.sum(axis=0) == pytest.approx([1.0], abs=1e-6)
        assert np.all(elasticities >= -1e-12)
        assert np.all(work.gain(bandwidth=1.1) >= -1e-12)


def test_the_link_is_for_bytes_and_launch_for_latencies():
    architecture = model("llama-3.1-70b")
    on = machine(chip("h100-sxm"), tp=8, efficiency="typical", engine="vllm-2023")
    fixed = on.efficiency
    assert fixed.all_reduce_seconds > 0
    work = decode_work(architecture, on, prompt=100, output=2, batch=1)
    reduces = 2 * 80
    assert float(work.link[0]) == pytest.approx(
        reduces * 2 * 7 / 8 * 8192 * 2 / (450e9 * fixed.link)
    )
    operators = 5 * 80 + 1  # Q K V, attention, output, MLP up and down, and the head
    assert float(work.launch[0]) == pytest.approx(
        operators * fixed.launch_seconds + reduces * fixed.all_reduce_seconds
    )


@pytest.mark.parametrize(
    ("slug", "peak"), [("deepseek-v3", 148e12), ("llama-3.1-8b", 12e12), ("gpt-oss-120b", 25e12)]
)
def test_bounds_that_change_during_the_answer_are_counted_step_by_step(slug, peak):
    architecture = model(slug)
    on = replace(machine(chip("h20")), peak=peak, attention_peak=peak)
    prompt, steps = 1, 400
    one_by_one = decode(architecture, on, batch=4, context=prompt + np.arange(steps))
    bounds = one_by_one.compute_seconds >= one_by_one.memory_seconds
    work = decode_work(architecture, on, prompt=prompt, output=steps + 1, batch=4)
    assert work.parts[:, 0] == pytest.approx(one_by_one.seconds_by_bound.mean(axis=1), rel=1e-9)
    for count in (0, 1, 2, 77, steps):
        expected = one_by_one.seconds_sum[:count].sum()
        assert float(work.total_seconds(count)[0]) == pytest.approx(expected, rel=1e-9)
    # Else this test would show nothing: in some operator the bound has to change on the way.
    assert (bounds.any(axis=1) & ~bounds.all(axis=1)).any() or slug == "llama-3.1-8b"


def test_a_sweep_is_its_points():
    architecture, on = model("gpt-oss-120b"), machine(chip("h100-sxm"), tp=2)
    load = {"prompt": [16, 100, 5000], "output": [2, 500, 40], "batch": [1, 64, 8]}
    together = decode_work(architecture, on, **load).parts
    for index in range(3):
        one = {name: values[index] for name, values in load.items()}
        alone = decode_work(architecture, on, **one).parts
        assert together[:, index] == pytest.approx(alone[:, 0], rel=1e-12)
