"""Printed step times, TTFT, TPOT, throughputs and link times, computed with `physics`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from physics.architecture import Architecture
from physics.catalogue import model
from physics.chips import chip
from physics.layers import Attention, Dense, Layers
from physics.machine import Efficiency, Machine, machine, read_seconds
from physics.request import request
from physics.step import Step, decode, prefill
from tests.physics.published_case import Case
from tests.physics.published_models import (
    GOPHER,
    KIPPLY_52B,
    grouped,
    llama_2_13b,
    round_model,
    v5e,
    without_link_time,
)
from tests.physics.published_sizes import kv_elements

DIGIT = "the last printed digit"


def llama_13b_step_ms(batch: int) -> float:
    """Decode step of Llama-2-13B on 8 TPU v5e at 8192 tokens of context [ms]."""
    step = decode(llama_2_13b(), v5e(8), batch=batch, context=8191)
    return float(step.seconds_sum) * 1e3


def llama_13b_grouped_step_ms(batch: int) -> float:
    """Do the same with a fifth of the cache but, as in the book, all the weights [ms]."""
    weights = decode(llama_2_13b(), v5e(8), batch=batch, context=8191).weight_bytes
    cache = decode(llama_2_13b(kv_heads=8), v5e(8), batch=batch, context=8191).kv_bytes
    return float(weights + cache) / (8 * 8.2e11) * 1e3


def book_case(milliseconds: Callable[[int], float], batch: int, *, throughput: bool) -> Case:
    """Return a case of the book's table: 26 GB of weights, 6.7 GB (or 1.34) of cache."""
    def compute() -> float:
        step = milliseconds(batch)
        return batch / step * 1e3 if throughput else step

    return Case(compute, relative=0.0125,
                because="the book reads the embedding table (1.3 % of the weights), rounds 26.03 "
                "to 26 GB and 6.71 to 6.7 GB, and leaves activations out")


SCALING_BOOK_TABLE = {
    f"sb_13b_{kind}_b{batch}": book_case(function, batch, throughput=kind.endswith("tput"))
    for kind, function, batches in (
        ("step", llama_13b_step_ms, (1, 8, 16, 32, 64, 240)),
        ("tput", llama_13b_step_ms, (1, 8, 16, 32, 64, 240)),
        ("gqa_step", llama_13b_grouped_step_ms, (8, 32, 64)),
        ("gqa_tput", llama_13b_grouped_step_ms, (1, 8, 32, 64, 240)),
    )
    for batch in batches
}


def quiz_step_ms() -> float:
    """30B parameters in int8 with bf16 arithmetic, 100 kB a token, batch 256, 16 TPU v5e [ms]."""
    hidden, layers = 8192, 50
    attention = Attention(heads=16, kv_heads=16, key_dim=125, value_dim=125)  # 2 x 2000 / 2 a layer
    matrices = attention.parameters(hidden)
    inner = round((30e9 / layers - matrices) / (2 * hidden))
    thirty = Architecture("quiz", "quiz", hidden, 1,
                          (Layers(layers, attention, Dense(inner, gated=False)),), tied_head=True)
    chips = Machine(peak=1.97e14, attention_peak=1.97e14, bandwidth=8.1e11, capacity=16e9,
                    link=np.inf, tp=16)
    step = decode(thirty, chips, batch=256, context=8191, weights="int8", kv="fp4")
    attend = np.array([name.startswith("attention") for name in step.names])
    # 4,000 elements a layer and 50 layers are 200,000 a token: half a byte each gives 100 kB.
    half_byte = step.kv_bytes_by_operator[attend].sum() * 0.5 / (4.25 / 8)
    rest = step.seconds_by_operator[~attend].sum()
    return float(half_byte / (16 * 8.1e11) + rest) * 1e3


def step_70b_ms() -> float:
    """Llama-3-70B in int8, batch 32, 8192 tokens of context, 8 TPU v5e [ms]."""
    chips = v5e(8, bandwidth=8.1e11, weights="int8")
    step = decode(model("llama-3.1-70b"), chips, batch=32, context=8191, weights="int8", kv="int8")
    return float(step.weight_bytes + step.kv_bytes) / (8 * 8.1e11) * 1e3


def prefill_70b_seconds() -> float:
    chips = without_link_time(
        machine(chip("tpu-v5e"), tp=16, efficiency=Efficiency(compute=0.4)))
    step = prefill(round_model(70e9), chips, batch=1, prompt=8192)
    return float(step.seconds_sum)


def all_reduce_seconds(step: Step) -> float:
    return float(step.communication_seconds[step.names.index("all_reduce")])


def only_link(link: float, tp: int) -> Machine:
    """Return chips on which nothing but the link takes time."""
    return Machine(peak=1e30, attention_peak=1e30, bandwidth=1e30, capacity=1e30, link=link, tp=tp)


def ici_microseconds() -> float:
    """Send one activation matrix of 64 x 8192 among 32 chips, half an all-reduce [µs]."""
    chips = only_link(9e10, tp=32)
    architecture = grouped(layers=1, hidden=8192, heads=64, intermediate=28672)
    return all_reduce_seconds(decode(architecture, chips, batch=64, context=1)) / 2 / 2 * 1e6


def hbm_microseconds() -> float:
    """Read one 8192 x 28672 matrix in bf16 from 32 chips [µs]."""
    chips = v5e(32, bandwidth=8.1e11)
    step = decode(grouped(layers=1, hidden=8192, heads=64, intermediate=28672), chips,
                  batch=64, context=1)
    down = step.names.index("down")
    return float(step.weight_bytes_by_operator[down]) / (32 * 8.1e11) * 1e6


def comms_ms(architecture: Architecture, *, batch: int, tp: int) -> float:
    """Two all-reduces a layer, as kipply counts them: elements for bytes, t for t - 1 [ms]."""
    chips = only_link(300e9, tp)
    seconds = all_reduce_seconds(decode(architecture, chips, batch=batch, context=0))
    return seconds / 2 * tp / (tp - 1) * 1e3


def gopher_step(batch: int) -> Step:
    chips = machine(chip("a100-sxm-80gb"), tp=16, bandwidth=1.5e12)
    return decode(GOPHER, without_link_time(chips), batch=batch, context=0)


def kv_projection_ms() -> float:
    """Read the key and value projections of all 64 layers of the 52B model [ms]."""
    elements = KIPPLY_52B.layers * kv_elements(KIPPLY_52B) * KIPPLY_52B.hidden
    return elements * 2 / 1.5e12 * 1e3


KIPPLY = {
    "kipply_208_tokens_ms": Case(kv_projection_ms, 0.1, "11.45 printed as 11.4"),
    "kipply_gopher_b1": Case(
        lambda: gopher_step(1).totals[1] * 1e3, 0.2, "printed with 260e9; the blocks hold 257.7e9"),
    "kipply_gopher_b512": Case(
        lambda: gopher_step(512).totals[0] * 1e3, 0.5, DIGIT),
    "kipply_gopher_b512_comms": Case(lambda: comms_ms(GOPHER, batch=512, tp=16), 0.5, DIGIT),
    "kipply_52b_b256_comms": Case(lambda: comms_ms(KIPPLY_52B, batch=256, tp=4), 0.5, DIGIT),
}

SCALING_BOOK = {
    "sb_quiz_b256": Case(quiz_step_ms, 0.5, DIGIT),
    "sb_70b_step_4x2": Case(
        step_70b_ms, 0.5, "17.28 printed as 17; the embedding table is not read here"),
    "sb_70b_tput_4x2": Case(
        lambda: 32 / step_70b_ms() * 1e3, 60, "printed from the step rounded to 17 ms, +1.7 %"),
    "sb_full_hbm_step": Case(
        lambda: chip("tpu-v5e").capacity / chip("tpu-v5e").bandwidth * 1e3, 0.6,
        "19.5 printed as 19"),
    "sb_prefill_70b": Case(
        prefill_70b_seconds, 0.005, "two FLOP a parameter and token, no attention; last digit"),
    "sb_tp_ici": Case(
        ici_microseconds, 0.5, "half an all-reduce; 31/32 of the printed law, which gives 11.65"),
    "sb_tp_hbm": Case(hbm_microseconds, 0.5, DIGIT),
}


def seven(name: str, output: int = 150, bandwidth: float | None = None):
    """Return the request of Baseten's guide: 350 tokens in, '7B' in fp16, batch 1."""
    chips = machine(chip(name), bandwidth=bandwidth)
    return request(round_model(7e9), chips, prompt=350, output=output, batch=1)


def all_tokens_decoded(name: str, bandwidth: float | None = None) -> float:
    """TTFT + N TPOT: one decode step more than TTFT + (N - 1) TPOT [s]."""
    asked = seven(name, bandwidth=bandwidth)
    return float(asked.e2e_seconds + asked.tpot_seconds)


TRUNCATED = "printed values are truncated to whole milliseconds"
N_STEPS = ("N decode steps instead of N - 1, and a TPOT truncated to whole milliseconds: "
           "up to 150 x 1 ms less")

BASETEN = {
    "baseten_tpot_t4": Case(
        lambda: seven("t4", bandwidth=300e9).tpot_seconds * 1e3, 1.0,
        f"300 GB/s instead of 320; {TRUNCATED}"),
    "baseten_tpot_a10": Case(lambda: seven("a10").tpot_seconds * 1e3, 1.0, TRUNCATED),
    "baseten_tpot_a100": Case(lambda: seven("a100-sxm-80gb").tpot_seconds * 1e3, 1.0, TRUNCATED),
    "baseten_ttft_t4": Case(lambda: seven("t4").ttft_seconds * 1e3, 0.5, DIGIT),
    "baseten_ttft_a100": Case(lambda: seven("a100-sxm-80gb").ttft_seconds * 1e3, 0.5, DIGIT),
    "baseten_e2e_t4": Case(lambda: all_tokens_decoded("t4", 300e9), 0.15, N_STEPS),
    "baseten_e2e_a10": Case(lambda: all_tokens_decoded("a10"), 0.15, N_STEPS),
    "baseten_e2e_a100": Case(lambda: all_tokens_decoded("a100-sxm-80gb"), 0.15, N_STEPS),
}


def palm_mfu_percent() -> float:
    step = prefill(round_model(540e9, hidden=20_000), machine(chip("tpu-v4"), tp=64), batch=512,
                   prompt=2048)
    return float(step.flop) / (64 * chip("tpu-v4").bf16_flop_per_second * 85.2) * 100


POPE = {
    "pope_mfu_prefill_hightput": Case(
        palm_mfu_percent, 0.5, "two FLOP a parameter and token; last printed digit"),
}

def full_memory_seconds() -> float:
    """Read all the memory of a TPU v5e once: the longest decode step of a bound batch [s]."""
    return float(read_seconds(chip("tpu-v5e").capacity, machine(chip("tpu-v5e"))))


ROUND_STEP = "printed from a step of 19 ms for 19.5"

SERVING = {
    "sb_qps_bf16": Case(lambda: 43 / (full_memory_seconds() * 512 * 16), 0.005, DIGIT),
    "sb_qps_int8": Case(lambda: 52 / (full_memory_seconds() * 512 * 8), 0.02, ROUND_STEP),
    "sb_pd_ratio": Case(
        lambda: prefill_70b_seconds() * 32 / (full_memory_seconds() * 512), 0.1, ROUND_STEP),
}


def copy_ms(bandwidth: float) -> float:
    """Copy a 7B model in bf16 into the memory that computes [ms]."""
    return float(read_seconds(14e9, only_reading(bandwidth))) * 1e3


def only_reading(bandwidth: float) -> Machine:
    return Machine(peak=1e30, attention_peak=1e30, bandwidth=bandwidth, capacity=1e30, link=None)


SWITCHING = {
    "sn40l_expert_copy": Case(lambda: copy_ms(1e12)),
    "sn40l_switch_a100": Case(lambda: copy_ms(32e9) / copy_ms(1e12), 0.5, DIGIT),
    "sn40l_switch_h100": Case(lambda: copy_ms(64e9) / copy_ms(1e12), 0.5, DIGIT),
}

CASES = SCALING_BOOK_TABLE | SCALING_BOOK | KIPPLY | BASETEN | POPE | SERVING | SWITCHING
