"""One layer and one step in the four ways: bytes by hand, limits, and what never holds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from physics.catalogue import model, models
from physics.chips import chip
from physics.dataflow import LANES, MONARCH_FFT_INTENSITIES, layer, main_layers, run
from physics.kernels import ELEMENTWISE
from physics.launches import launch, launches
from physics.machine import machine
from physics.roofline import attainable_flop_per_second
from physics.step import decode, prefill
from tests.physics.strategies import batches, chip_numbers, no_less, some_chip, some_model, tokens

LLAMA = model("llama-3.1-8b")
H100 = machine(chip("h100-sxm"))
EFFICIENCIES = st.sampled_from(["ideal", "typical"])


def in_phase(phase: str, length: int) -> dict[str, object]:
    if phase == "decode":
        return {"new_tokens": 1, "cached_tokens": length, "absorbed": True}
    return {"new_tokens": length, "cached_tokens": 0}


@given(some_model, some_chip, batches, tokens, chip_numbers, EFFICIENCIES,
       st.sampled_from(["prefill", "decode"]), st.floats(0, 1e-4), st.floats(0, 1e9))
def test_a_fused_step_is_never_slower_nor_a_streamed_one(
    architecture, some, batch, length, tp, efficiency, phase, wait, on_chip
):
    on = machine(some, tp=tp if some.link else 1, efficiency=efficiency)
    step = run(architecture, on, batch=batch, **in_phase(phase, length),
               stream_launch=wait, graph_launch=wait, on_chip=on_chip)
    kernels, graph, fused, streamed = step.seconds
    assert kernels == pytest.approx(graph)
    assert no_less(kernels, fused)
    assert no_less(fused, streamed)
    assert no_less(step.bytes[0], step.bytes[2])
    assert no_less(step.bytes[2], step.bytes[3])


@given(some_model, some_chip, batches, tokens, st.sampled_from(["prefill", "decode"]))
def test_a_fused_layer_is_never_slower(architecture, some, batch, length, phase):
    one = layer(main_layers(architecture), architecture, machine(some), batch=batch,
                **in_phase(phase, length))
    for on_chip in (0.0, 50e6, np.inf):
        apart, fused = one.one_by_one(1e-6), one.fused(1e-6, on_chip)
        assert no_less(apart.seconds, fused.seconds)
        assert no_less(fused.seconds, one.streamed(1e-6, on_chip).seconds)


@pytest.mark.parametrize("slug", sorted(models()))
@pytest.mark.parametrize("tp", [1, 8])
def test_all_ways_do_the_work_that_a_step_does(slug, tp):
    architecture, on = model(slug), machine(chip("h100-sxm"), tp=tp)
    for phase, whole in (
        ("decode", decode(architecture, on, batch=7, context=3000)),
        ("prefill", prefill(architecture, on, batch=7, prompt=3000)),
    ):
        step = run(architecture, on, batch=7, **in_phase(phase, 3000))
        assert step.flop * tp == pytest.approx(whole.flop)
        assert step.needed_bytes * tp == pytest.approx(whole.weight_bytes + whole.kv_bytes)


def test_activations_of_a_layer_by_hand():
    """Llama 3.1 8B, one token: 4,096 wide, 32 query and 8 key heads of 128, 14,336 inside."""
    one = layer(LLAMA.groups[0], LLAMA, H100, batch=1, new_tokens=1, cached_tokens=2048)
    elements = {
        "norm": 2 * 4096, "qkv": 4096 + 6144, "rope": 2 * (4096 + 1024), "attention": 2 * 4096,
        "out": 2 * 4096, "residual": 3 * 4096, "up": 4096 + 2 * 14336, "activation": 3 * 14336,
        "down": 14336 + 4096,
    }
    assert one.activation_bytes.tolist() == [2 * elements[name] for name in one.names]
    assert one.weight_bytes.sum() == 2 * (4096 * 6144 + 4096 * 4096 + 3 * 4096 * 14336)
    assert one.kv_bytes.sum() == 2 * 8 * 128 * 2 * (2048 + 1 + 1)  # read, itself too, and written
    fused = one.fused(0.0)
    assert fused.activation_bytes.sum() == 2 * 2 * 4096  # one vector in, one out
    assert one.streamed(0.0).activation_bytes.sum() == 0


def test_launches_are_counted():
    step = run(LLAMA, H100, batch=1, new_tokens=1, cached_tokens=100)
    assert dict(zip(LANES, step.launches, strict=True)) == {
        "kernels": 32 * 11 + 2, "graph": 32 * 11 + 2, "fused": 33, "streamed": 1,
    }
    # Two all-reduces a layer are kernels too.
    two = run(LLAMA, machine(chip("h100-sxm"), tp=2), batch=1, new_tokens=1, cached_tokens=100)
    assert two.launches[0] == 32 * 13 + 2


def test_waiting_is_launches_times_their_time():
    free, paid = (
        run(LLAMA, H100, batch=1, new_tokens=1, cached_tokens=100, stream_launch=wait,
            graph_launch=wait)
        for wait in (0.0, 3e-6)
    )
    assert paid.seconds - free.seconds == pytest.approx(free.launches * 3e-6)


def test_infinitely_fast_memory_leaves_launches_and_arithmetic():
    on = replace(H100, bandwidth=1e30)
    step = run(LLAMA, on, batch=64, new_tokens=1, cached_tokens=1000)
    arithmetic = step.flop / H100.peak
    assert step.seconds[3] == pytest.approx(arithmetic + launch("graph").seconds)
    waiting = step.launches[0] * launch("stream").seconds
    assert step.seconds[0] == pytest.approx(arithmetic + waiting)


def test_without_memory_on_the_chip_only_small_work_is_fused_away():
    one = layer(LLAMA.groups[0], LLAMA, H100, batch=64, new_tokens=1, cached_tokens=100)
    large = np.array([name not in ELEMENTWISE for name in one.names])
    assert one.streamed(0.0, 0.0).bytes == pytest.approx(
        (one.weight_bytes + one.kv_bytes).sum() + one.activation_bytes[large].sum()
    )


def test_what_exceeds_the_chip_is_written_and_read():
    """The up-projection of 2,048 tokens: 2 x 2,048 x 32,768 B = 134.2 MB, of which 50 MB stay."""
    one = layer(LLAMA.groups[0], LLAMA, H100, batch=1, new_tokens=2048, cached_tokens=0)
    up = one.names.index("up")
    assert one.spilled_bytes(50e6)[up] == 2 * 2048 * (4096 + 28672) - 50e6
    assert one.spilled_bytes(135e6)[up] == 0


@given(some_model, st.lists(batches, min_size=2, max_size=4), tokens)
def test_a_sweep_is_its_points(architecture, several, length):
    phase = in_phase("decode", length)
    sweep = run(architecture, H100, batch=np.array(several), **phase)
    for index, batch in enumerate(several):
        point = run(architecture, H100, batch=batch, **phase)
        assert sweep.seconds[:, index] == pytest.approx(point.seconds)
        assert sweep.mbu[:, index] == pytest.approx(point.mbu)


def test_utilisation_stays_below_one_and_never_counts_handed_over_bytes():
    step = run(LLAMA, H100, batch=2.0 ** np.arange(13), new_tokens=1, cached_tokens=1000)
    assert np.all(step.mbu <= 1)
    assert np.all(step.mfu <= 1)
    assert np.all(step.needed_bytes < step.bytes[0])
    assert step.mbu == pytest.approx(step.needed_bytes / (3350e9 * step.seconds))


def test_the_faster_the_memory_the_more_fusion_gains():
    faster = replace(H100, bandwidth=3350e9 * np.array([1, 2, 4, 8, 16]))
    step = run(LLAMA, faster, batch=1, new_tokens=1, cached_tokens=1000)
    assert np.all(np.diff(step.seconds[0] / step.seconds[3]) > 0.1)


def test_launches_keep_several_gpus_from_scaling_with_their_bandwidth():
    """gpt-fast, Llama 2 7B on A100 with CUDA graphs, batch 1: 4 x the chips gave 1.95 x the speed.

    The lane is a bound: it knows of launches, and of all-reduces only the bytes.
    """
    measured = {2: 168.84, 4: 254.02, 8: 328.43}
    some = chip("a100-sxm-80gb")
    lanes = {
        tp: 1 / run(model("llama-2-7b"), machine(some, tp=tp, efficiency="typical"), batch=1,
                    new_tokens=1, cached_tokens=55).seconds
        for tp in measured
    }
    graph, streamed = (LANES.index(name) for name in ("graph", "streamed"))
    for tp, speed in measured.items():
        assert 0.5 < speed / lanes[tp][graph] < 0.85
    assert lanes[8][streamed] / lanes[2][streamed] == pytest.approx(4, rel=0.01)
    assert 1.95 < lanes[8][graph] / lanes[2][graph] < 3


def test_only_full_fusion_takes_the_published_fft_over_the_ridge():
    """ArXiv 2405.07518, section III: 39.5, 102.6 and 410.4 on an A100 of 300 TFLOP/s and 2 TB/s."""
    assert MONARCH_FFT_INTENSITIES == (39.5, 102.6, 410.4)
    reached = attainable_flop_per_second(MONARCH_FFT_INTENSITIES, 300e12, 2e12) / 300e12
    assert reached == pytest.approx([0.263, 0.684, 1], abs=5e-4)


def test_fusing_lifts_prefill_but_hardly_decode():
    """The weights are 99.9 % of a decode step; of a prompt they are a third."""
    def lifted(phase: str) -> float:
        step = run(LLAMA, H100, batch=1, **in_phase(phase, 2048))
        return float(step.intensity[2] / step.intensity[0])

    assert 1 < lifted("decode") < 1.002
    assert 2 < lifted("prefill") < 3


def test_launch_times_name_their_source():
    assert launch("graph").seconds < launch("stream").seconds
    assert all(one.source and one.address.startswith("https://") and one.confidence in "ABC"
               for one in launches().values())
