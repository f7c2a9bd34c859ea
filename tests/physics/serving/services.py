"""Models, chips and designs that the tests of serving share."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from physics.architecture import Architecture
from physics.catalogue import model
from physics.chips import chip
from physics.kv_cache import kv_bytes_per_sequence
from physics.machine import Machine, machine
from physics.memory import weight_bytes
from physics.serving.design import Design, chunked, colocated, disaggregated
from physics.serving.traffic import Fixed, LogNormal, Traffic, concurrent, poisson

LLAMA = model("llama-3.1-8b")
H100 = machine(chip("h100-sxm"))
H200 = machine(chip("h200-sxm"), tp=8, efficiency="typical")
EXACT = 1e-9


def three_designs(architecture: Architecture = LLAMA, on: Machine = H100) -> list[Design]:
    """Each design with one instance of a kind; pieces and links that change nothing."""
    return [
        colocated(architecture, on),
        chunked(architecture, on, chunk_tokens=1_000_000),
        disaggregated(architecture, on),
    ]


def with_room(architecture: Architecture, on: Machine, tokens: int, sequences: float) -> Machine:
    """Give chips just the memory for so many sequences of `tokens` tokens beside the weights."""
    each = float(kv_bytes_per_sequence(architecture, tokens, "bf16", on.tp))
    needed = float(weight_bytes(architecture, "bf16", on.tp)) + sequences * each
    return replace(on, capacity=needed / on.tp)


LONGEST, MOST = 1200, 300  # tokens of prompts and answers in what follows


@st.composite
def crowded_services(draw: st.DrawFn) -> tuple[Design, Traffic]:
    """Draw a design that is short of memory, and more requests than it can take at once."""
    slug = draw(st.sampled_from(["llama-3.1-8b", "gpt-oss-20b", "llama-4-scout", "deepseek-v2",
                                 "jamba-1.5-mini"]))
    architecture = model(slug)
    on = with_room(architecture, H200, LONGEST + MOST, draw(st.floats(1, 5)))
    batch = draw(st.integers(1, 30))
    several = st.integers(1, 3)
    kind = draw(st.sampled_from(["colocated", "chunked", "in one piece", "layer by layer"]))
    if kind == "colocated":
        design = colocated(architecture, on, instances=draw(several), max_batch=batch,
                           prefill_tokens=draw(st.integers(1, 5000)))
    elif kind == "chunked":
        design = chunked(architecture, on, instances=draw(several), max_batch=batch,
                         chunk_tokens=draw(st.integers(20, 2000)))
    else:
        design = disaggregated(architecture, on, prefill_instances=draw(several),
                               decode_instances=draw(several), max_batch=batch,
                               link=draw(st.sampled_from([1e7, 1e9, 1e11, np.inf])),
                               overlap=kind == "layer by layer")
    lengths = {
        "requests": 40,
        "prompt": draw(st.sampled_from([Fixed(LONGEST), LogNormal(400, 400, 1, LONGEST)])),
        "output": LogNormal(50, 60, 1, MOST),
        "seed": draw(st.integers(0, 1000)),
    }
    if draw(st.booleans()):
        return design, concurrent(draw(st.integers(1, 30)), **lengths)
    return design, poisson(10 ** draw(st.floats(-1, 3)), **lengths)
