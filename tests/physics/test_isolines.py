"""On a line of equal time the time is that; its arms stand and lie."""

import itertools

import numpy as np
import pytest

from physics.catalogue import model
from physics.chips import chip
from physics.isolines import isolines
from physics.machine import machine
from physics.request import request
from physics.sensitivity import decode_work, prefill_work

LOADS = [
    ("llama-3.1-8b", "h100-sxm", {}, {"prompt": 2048, "output": 256, "batch": 1}),
    ("llama-3.1-8b", "h100-sxm", {}, {"prompt": 32, "output": 64, "batch": 256}),
    (
        "deepseek-v3",
        "h200-sxm",
        {"tp": 16, "efficiency": "typical"},
        {"prompt": 500, "output": 900, "batch": 64},
    ),
]
SECONDS = np.array([0.002, 0.03, 0.5])


def lines_of(slug, chip_slug, setting, load):
    architecture = model(slug)
    unit = machine(chip(chip_slug), **setting, bandwidth=1.0, flops=1.0)
    of_prompt = {name: load[name] for name in ("prompt", "batch")}
    return (
        isolines(prefill_work(architecture, unit, **of_prompt), SECONDS),
        isolines(decode_work(architecture, unit, **load), SECONDS),
    )


def times_on(slug, chip_slug, setting, load, peak, bandwidth):
    on = machine(chip(chip_slug), **setting, bandwidth=bandwidth, flops=peak)
    asked = request(model(slug), on, **load)
    return asked.ttft_seconds, asked.tpot_seconds


@pytest.mark.parametrize("case", LOADS, ids=str)
def test_every_knot_takes_the_time_of_its_line(case):
    for phase, (peak, bandwidth) in enumerate(lines_of(*case)):
        for line, seconds in enumerate(SECONDS):
            x, y = peak[0, line], bandwidth[0, line]
            if np.isnan(x).any():
                continue
            assert times_on(*case, x, y)[phase] == pytest.approx(np.full(len(x), seconds))


@pytest.mark.parametrize(
    "slug", ["llama-3.1-8b", "deepseek-v3", "gpt-oss-120b", "nemotron-3-nano-30b-a3b"]
)
def test_what_is_drawn_between_knots_is_less_than_six_percent_off(slug):
    loads = itertools.product([16, 256, 2048, 131_072], [2, 256, 8192], [1, 8, 512, 4096])
    prompt, output, batch = np.array(list(loads)).T
    case = (slug, "h100-sxm", {}, {"prompt": prompt, "output": output, "batch": batch})
    for phase, (peak, bandwidth) in enumerate(lines_of(*case)):
        between = [np.sqrt(axis[:, -1, 1:] * axis[:, -1, :-1]).T for axis in (peak, bandwidth)]
        found = times_on(*case, *between)[phase] / SECONDS[-1]
        assert found.min() > 0.94
        assert found.max() < 1.06


@pytest.mark.parametrize("case", LOADS, ids=str)
def test_arms_stand_upright_and_lie_flat(case):
    for phase, (peak, bandwidth) in enumerate(lines_of(*case)):
        x, y = peak[0, -1], bandwidth[0, -1]
        above = times_on(*case, x[:1], y[:1] * 100)[phase]
        beside = times_on(*case, x[-1:] * 100, y[-1:])[phase]
        assert [*above, *beside] == pytest.approx([SECONDS[-1]] * 2)


def test_lines_are_one_line_moved_along_the_diagonal():
    peak, bandwidth = lines_of(*LOADS[0])[1]
    for axis in (peak, bandwidth):
        ratio = axis[0, 0] / axis[0, 2]
        assert ratio == pytest.approx(np.full(len(ratio), 0.5 / 0.002))


def test_no_chip_is_faster_than_the_fixed_times():
    # Hundreds of launches of some ten microseconds each take more than 2 ms.
    peak, _ = lines_of(*LOADS[2])[1]
    assert np.isnan(peak[0, 0]).all()
    assert np.isfinite(peak[0, 2]).all()
