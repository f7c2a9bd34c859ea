"""A page's numbers as a few lines of Python that compute them anew with `physics`."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from string import Template

from pages.shared.scenario import Scenario

# Every option is written out, so that the lines mean the same when a default changes.
_IMPORTS = (
    "from physics.catalogue import model",
    "from physics.chips import chip",
    "from physics.machine import machine",
    "from physics.memory import bytes_short",
)
_BODY = """

architecture = model($model)
on = machine(
    chip($chip),
    architecture=architecture,
    weights=$weights,
    tp=$tp,
    efficiency=$efficiency,
    engine=$engine,
    bandwidth=$bandwidth,  # byte/s; None: the chip's own
    flops=$flops,  # FLOP/s in bf16; None: the chip's own
)
prompt, output, batch = $prompt, $output, $batch
formats = {"weights": $weights, "kv": $kv}
short = float(bytes_short(architecture, on, batch=batch, tokens=prompt + output, **formats))
numbers = {"bytes_short": short}
"""
_TAIL = """
for name, value in numbers.items():
    print(name, value)
"""


@dataclass(frozen=True)
class Lines:
    """What a page adds to the lines that all share.

    Attributes
    ----------
    imports : tuple of str
    body : str
        It adds to `numbers`, by the names of `physics.predict` where that has them: in base units,
        and times only where the case fits into memory.
    """

    imports: tuple[str, ...]
    body: str


REQUEST = Lines(
    ("from physics.request import request",),
    """\
if short == 0:
    one = request(architecture, on, prompt=prompt, output=output, batch=batch, **formats)
    numbers |= {
        "ttft_s": float(one.ttft_seconds),
        "tpot_s": float(one.tpot_seconds),
        "e2e_s": float(one.e2e_seconds),
        "tokens_per_s_user": float(one.tokens_per_second_user),
        "tokens_per_s_system": float(one.tokens_per_second_system),
    }
""",
)

PAGES = {
    "one-request": REQUEST,
    "roofline": Lines(
        (
            "from physics.request import request",
            "from physics.roofline import ridge_flop_per_byte",
        ),
        """\
one = request(architecture, on, prompt=prompt, output=output, batch=batch, **formats)
numbers["ridge_flop_per_byte"] = float(ridge_flop_per_byte(on.peak, on.bandwidth))
for phase, step in (("prefill", one.prefill), ("decode", one.decode)):
    numbers |= {
        f"{phase}.flop": float(step.flop),
        f"{phase}.bytes": float(step.bytes),
        f"{phase}.intensity": float(step.intensity),
        f"{phase}.bound": str(step.bound),
    }
    if short == 0:
        numbers[f"{phase}.seconds_sum"] = float(step.seconds_sum)
""",
    ),
    "kv-cache": Lines(
        (
            "from physics.kv_cache import kv_bytes_per_sequence, kv_bytes_per_token",
            "from physics.memory import max_batch, weight_bytes",
            "from physics.recompute import flop_with_cache, flop_without_cache",
        ),
        """\
kv, tokens = formats["kv"], prompt + output
load = {"prompt": prompt, "output": output, "batch": batch}
numbers |= {
    "kv_bytes_per_token": float(kv_bytes_per_token(architecture, kv)),
    "kv_bytes_all_chips": batch * float(kv_bytes_per_sequence(architecture, tokens, kv, on.tp)),
    "weight_bytes_all_chips": float(weight_bytes(architecture, formats["weights"], on.tp)),
    "capacity_bytes": float(on.capacity) * on.tp,
    "max_batch": float(max_batch(architecture, on, tokens=tokens, **formats)),
    "flop_with_cache": float(flop_with_cache(architecture, **load)),
    "flop_without_cache": float(flop_without_cache(architecture, **load)),
}
""",
    ),
    "decode-shift": Lines(
        (
            "from physics.frontier import linear_crossing_batch",
            "from physics.limits import critical_batch, critical_context",
            "from physics.memory import max_batch",
            "from physics.roofline import ridge_flop_per_byte",
            "from physics.step import decode",
        ),
        """\
context = prompt + max(output - 2, 0) / 2  # in the middle of the answer
step = decode(architecture, on, batch=batch, context=context, **formats)
weights, kv = formats["weights"], formats["kv"]
ratio = on.peak / on.attention_peak
critical = critical_context(architecture, on.peak, on.bandwidth, kv, on.tp, ratio)
numbers |= {
    "ridge_flop_per_byte": float(ridge_flop_per_byte(on.peak, on.bandwidth)),
    "decode.context": context,
    "decode.intensity": float(step.intensity),
    "critical_batch": float(critical_batch(architecture, on.peak, on.bandwidth, weights)),
    "critical_context": float(critical),
    "linear_crossing_batch": float(linear_crossing_batch(architecture, on, weights=weights)),
    "max_batch": float(max_batch(architecture, on, tokens=prompt + output, **formats)),
}
""",
    ),
    "batching": Lines(
        (
            "import numpy as np",
            "from physics.memory import max_batch",
            "from physics.step import decode",
        ),
        """\
context = prompt + max(output - 2, 0) / 2  # in the middle of the answer
step = decode(architecture, on, batch=batch, context=context, **formats)
room = float(max_batch(architecture, on, tokens=prompt + output, **formats))
numbers |= {
    "max_batch": room,
    "decode.weight_bytes": float(step.weight_bytes),
    "decode.kv_bytes": float(step.kv_bytes),
}
if short == 0:
    numbers |= {
        "decode.seconds_sum": float(step.seconds_sum),
        "decode.mfu": float(step.mfu),
        "decode.mbu": float(step.mbu),
    }
if room >= 1:  # the whole curve: tokens/s of one user, and of a chip
    batches = 2.0 ** np.arange(np.floor(np.log2(room)) + 1)
    steps = decode(architecture, on, batch=batches, context=context, **formats)
    numbers |= {
        "batches": batches.tolist(),
        "tokens_per_s_user": (1 / steps.seconds_sum).tolist(),
        "tokens_per_s_chip": (batches / steps.seconds_sum / on.tp).tolist(),
    }
""",
    ),
    "hardware": Lines(
        ("from physics.race import answer",),
        """\
if short == 0:
    one = answer(architecture, on, prompt=prompt, output=output, batch=batch, **formats)
    names = ("compute", "bandwidth", "link", "launch")
    numbers |= {
        "ttft_s": float(one.ttft_seconds[0]),
        "tpot_s": float(one.tpot_seconds[0]),
        "e2e_s": float(one.e2e_seconds[0]),
        "ttft_hangs_on": dict(zip(names, one.prefill.elasticities()[:, 0].tolist())),
        "tpot_hangs_on": dict(zip(names, one.decode.elasticities()[:, 0].tolist())),
    }
if on.tp == 1 or chip($versus).link is not None:
    other = machine(
        chip($versus),
        architecture=architecture,
        weights=formats["weights"],
        tp=on.tp,
        efficiency=$efficiency,
        engine=$engine,
    )
    if not bytes_short(architecture, other, batch=batch, tokens=prompt + output, **formats):
        two = answer(architecture, other, prompt=prompt, output=output, batch=batch, **formats)
        numbers |= {
            "versus.ttft_s": float(two.ttft_seconds[0]),
            "versus.tpot_s": float(two.tpot_seconds[0]),
            "versus.e2e_s": float(two.e2e_seconds[0]),
        }
""",
    ),
    "dataflow": Lines(
        (
            "from math import inf",
            "from physics.dataflow import layer, main_layers",
            "from physics.launches import launch",
            "from physics.memory_tiers import on_chip_bytes",
            "from physics.roofline import ridge_flop_per_byte",
        ),
        """\
context = prompt + max(output - 2, 0) / 2  # in the middle of the answer
held = on_chip_bytes(chip($chip)) or inf
one = layer(
    main_layers(architecture),
    architecture,
    on,
    batch=batch,
    new_tokens=1,
    cached_tokens=context,
    absorbed=True,
    **formats,
)
numbers["ridge_flop_per_byte"] = float(ridge_flop_per_byte(on.peak, on.bandwidth))
if short == 0:
    stream, graph = launch("stream").seconds, launch("graph").seconds
    numbers |= {
        "layer_kernels_s": float(one.one_by_one(stream).seconds),
        "layer_graph_s": float(one.one_by_one(graph).seconds),
        "layer_fused_s": float(one.fused(graph, held).seconds),
        "layer_streamed_s": float(one.streamed(0.0, held).seconds),
    }
""",
    ),
    "metrics": Lines(
        (
            "import numpy as np",
            "from physics.memory import max_batch",
            "from physics.request import request",
            "from physics.schedule import schedule, staggered",
        ),
        """\
if short == 0:
    # Five requests; the traffic is meant for the chip as it is sold.
    sold = machine(
        chip($chip),
        architecture=architecture,
        weights=formats["weights"],
        tp=on.tp,
        efficiency=$efficiency,
        engine=$engine,
    )
    load = {"prompt": [prompt], "output": [output], "batch": [batch], **formats}
    alone = request(architecture, sold, **load)
    arrival = staggered(alone.e2e_seconds, alone.ttft_seconds)
    room = max_batch(architecture, on, tokens=prompt + output, **formats) // batch
    served = schedule(architecture, on, arrival=arrival, most=np.clip(room, 1, 5), **load)
    numbers |= {
        "ttft_of_each_s": served.ttft_seconds[:, 0].tolist(),
        "tpot_of_each_s": served.tpot_seconds[:, 0].tolist(),
        "e2e_of_each_s": served.e2e_seconds[:, 0].tolist(),
        "longest_gap_s": float(served.gap_quantiles([1.0])[0, 0]),
        "tokens_per_s_of_the_last": float(served.tokens_per_second_user[-1, 0]),
        "tokens_per_s_of_all": float(served.tokens_per_second[0]),
        "mean_mfu": float(served.mean_mfu[0]),
        "mean_mbu": float(served.mean_mbu[0]),
        "goodput_per_s": float(served.goodput(0.45, 0.04)[0]),
    }
""",
    ),
    "glossary": Lines(
        (
            "from physics.kv_cache import kv_bytes_per_token",
            "from physics.limits import critical_batch, critical_context",
            "from physics.memory import weight_bytes",
            "from physics.request import request",
            "from physics.roofline import ridge_flop_per_byte",
        ),
        """\
one = request(architecture, on, prompt=prompt, output=output, batch=batch, **formats)
weights, kv = formats["weights"], formats["kv"]
ratio = on.peak / on.attention_peak
critical = critical_context(architecture, on.peak, on.bandwidth, kv, on.tp, ratio)
numbers |= {
    "peak_flop_per_second": float(on.peak),
    "bandwidth_bytes_per_second": float(on.bandwidth),
    "capacity_bytes_one_chip": float(on.capacity),
    "ridge_flop_per_byte": float(ridge_flop_per_byte(on.peak, on.bandwidth)),
    "critical_batch": float(critical_batch(architecture, on.peak, on.bandwidth, weights)),
    "critical_context": float(critical),
    "weight_bytes_all_chips": float(weight_bytes(architecture, weights, on.tp)),
    "kv_bytes_per_token": float(kv_bytes_per_token(architecture, kv)),
}
# A single output token comes from the prefill: no decode runs.
for phase, step in (("prefill", one.prefill), ("decode", one.decode))[: 2 if output > 1 else 1]:
    numbers |= {f"{phase}.flop": float(step.flop), f"{phase}.intensity": float(step.intensity)}
    if short == 0:
        numbers |= {f"{phase}.mfu": float(step.mfu), f"{phase}.mbu": float(step.mbu)}
if output > 1:
    numbers["decode.context"] = prompt + (output - 2) / 2  # in the middle of the answer
if short == 0:
    numbers |= {
        "ttft_s": float(one.ttft_seconds),
        "e2e_s": float(one.e2e_seconds),
        "tokens_per_s_system": float(one.tokens_per_second_system),
    }
if short == 0 and output > 1:
    numbers |= {
        "tpot_s": float(one.tpot_seconds),
        "decode_s": float(one.e2e_seconds - one.ttft_seconds),
        "decode.seconds_sum": float(one.decode.seconds_sum),
        "tokens_per_s_user": float(one.tokens_per_second_user),
    }
""",
    ),
}


def snippet(page: str, scenario: Scenario) -> str:
    """Return the lines that compute a page's numbers in a scenario.

    Parameters
    ----------
    page : str
        A page's name; one without lines of its own gets those of a request.
    scenario : Scenario

    Examples
    --------
    >>> print(snippet("one-request", Scenario(batch=8)).splitlines()[6])
    architecture = model("llama-3.1-8b")
    """
    lines = PAGES.get(page, REQUEST)
    values = written_options(scenario)
    text = "\n".join(_in_order(lines.imports)) + _BODY + lines.body + _TAIL
    return Template(text).substitute(values)


def _in_order(more: tuple[str, ...]) -> list[str]:
    """Put imports in the order of linters: the standard library's, NumPy's, ours."""
    groups = [
        [line for line in more if line.startswith("from math")],
        [line for line in more if line.startswith("import numpy")],
        sorted({*_IMPORTS, *(line for line in more if line.startswith("from physics"))}),
    ]
    merged: dict[str, str] = {}
    for line in groups[2]:
        module, _, names = line.partition(" import ")
        merged[module] = f"{merged[module]}, {names}" if module in merged else names
    ours = [f"{module} import {names}" for module, names in merged.items()]
    return "\n\n".join("\n".join(group) for group in (*groups[:2], ours) if group).split("\n")


def written_options(scenario: Scenario) -> dict[str, str]:
    """Return a scenario's options as they stand in Python, by name; a chip's own in base units.

    Examples
    --------
    >>> written_options(Scenario(flops=500))["flops"], written_options(Scenario())["kv"]
    ('500000000000000.0', '"bf16"')
    """
    return {name: json.dumps(value) for name, value in asdict(scenario).items()} | {
        "bandwidth": _base_units(scenario.bandwidth, 1e9),
        "flops": _base_units(scenario.flops, 1e12),
    }


def _base_units(value: float | None, unit: float) -> str:
    return "None" if value is None else repr(value * unit)
