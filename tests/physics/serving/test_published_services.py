"""Printed numbers of services, met by simulating them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from physics.catalogue import model
from physics.chips import chip
from physics.kv_cache import kv_bytes_per_sequence
from physics.machine import Efficiency, machine
from physics.serving.design import disaggregated, kv_bytes_per_second, prefill_per_decode_instance
from physics.serving.simulation import simulate
from physics.serving.traffic import Fixed, concurrent, given
from physics.step import decode, prefill

OPT = model("opt-66b")
LLAMA_70B = model("llama-3.1-70b")
GIB = 2**30


def test_the_cache_of_opt_66b_and_the_link_that_it_needs():
    """DistServe, arXiv 2401.09670, 3.3: 512 tokens are 1.13 GB, 10 requests a second 90 Gbit/s.

    Both are binary: 1.125 GiB and 90 x 2^30 bit/s.
    """
    assert float(kv_bytes_per_sequence(OPT, 512)) / GIB == pytest.approx(1.13, abs=0.005)
    assert kv_bytes_per_second(OPT, prompt=512, rate=10) * 8 / GIB == 90


@pytest.mark.parametrize(("gigabits", "keeps_up"), [(90, True), (80, False)])
def test_a_link_of_90_gbit_carries_ten_requests_a_second_and_less_does_not(gigabits, keeps_up):
    on = machine(chip("a100-sxm-80gb"), tp=4)
    design = disaggregated(OPT, on, prefill_instances=1, decode_instances=2,
                           link=gigabits * GIB / 8)
    traffic = given(np.arange(200) / 10, prompt=512, output=4)
    seen = simulate(design, traffic)
    assert seen.transfer_bytes[0] == 1.125 * GIB
    assert seen.link_utilisation == pytest.approx(1, abs=0.02)
    late = seen.transfer_end[-1] - seen.first_token[-1]
    one = 1.125 * GIB / design.link
    assert late == pytest.approx(one if keeps_up else one + 199 * (one - 0.1), rel=0.02)


def book_pools():
    """Llama-3-70B on TPU v5e: 16 chips read at 40 % of the peak, 8 write in int8; no link time."""
    reading = machine(chip("tpu-v5e"), tp=16, efficiency=Efficiency(compute=0.4))
    writing = machine(chip("tpu-v5e"), tp=8, weights="int8")
    return replace(reading, link=np.inf), replace(writing, link=np.inf)


def test_three_servers_that_read_keep_one_that_writes_busy():
    """JAX scaling book, part 8: 8,192 tokens in, 512 out, batch 32: a ratio of 3 (2.99).

    It counts 0.91 s for the prefill, without attention, and 19 ms for a step, a full memory; here
    they are 0.98 s and 17.6 ms, and the ratio 3.5.
    """
    reading, writing = book_pools()
    formats = {"weights": "int8", "kv": "int8"}
    one_prompt = prefill(LLAMA_70B, reading, batch=1, prompt=8192, **formats)
    one_step = decode(LLAMA_70B, writing, batch=32, context=8448, **formats)
    prefill_seconds, step_seconds = float(one_prompt.seconds_sum), float(one_step.seconds_sum)
    assert prefill_seconds == pytest.approx(0.91, rel=0.08)
    assert step_seconds == pytest.approx(0.019, rel=0.08)
    ratio = prefill_per_decode_instance(prefill_seconds=prefill_seconds, step_seconds=step_seconds,
                                        batch=32, output=512)
    assert ratio == pytest.approx(3, rel=0.16)
    per_chip, batches, reading_share = {}, {}, {}
    for servers in (1, 2, 3, 4, 5):
        design = disaggregated(LLAMA_70B, reading, decode_machine=writing,
                               prefill_instances=servers, max_batch=32, prefill_tokens=1, **formats)
        seen = simulate(design, concurrent(100, requests=400, prompt=Fixed(8192),
                                           output=Fixed(512))).after(100)
        per_chip[servers] = seen.requests_per_second / design.chips
        batches[servers] = seen.mean_batch("decode")
        reading_share[servers] = seen.utilisation("prefill")
    assert max(per_chip, key=per_chip.get) == 3
    assert batches[2] < 16 < 22 < batches[3] < batches[4]
    assert reading_share[3] > 0.9 > reading_share[4] > reading_share[5]
