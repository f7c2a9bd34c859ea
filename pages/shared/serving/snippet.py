"""The read-outs of a comparison of services as lines of Python that simulate them anew."""

from __future__ import annotations

import re
from html import unescape
from string import Template

from pages.shared.language import words
from pages.shared.scenario import Scenario
from pages.shared.serving.services import Question
from pages.shared.serving.words import refusal
from pages.shared.snippet import written_options

_TAG = re.compile("<[^>]*>")
_LINES = """\
from physics.catalogue import model
from physics.chips import chip
from physics.machine import machine
from physics.serving.contest import standing, steady, varied
from physics.serving.design import chunked, colocated, disaggregated
from physics.serving.simulation import simulate
from physics.serving.targets import Targets
from physics.serving.traffic import Fixed, Load

architecture = model($model)
formats = {"weights": $weights, "kv": $kv}


def machine_of(slug, bandwidth=None, flops=None):
    return machine(
        chip(slug),
        architecture=architecture,
        weights=formats["weights"],
        tp=$tp,
        efficiency=$efficiency,
        engine=$engine,
        bandwidth=bandwidth,  # byte/s; None: the chip's own
        flops=flops,  # FLOP/s in bf16; None: the chip's own
    )


on = machine_of($chip, bandwidth=$bandwidth, flops=$flops)
prefill_instances, decode_instances = $prefill_pool, $decode_pool
instances = prefill_instances + decode_instances
designs = {
    "colocated": colocated(architecture, on, instances=instances, **formats),
    "chunked": chunked(architecture, on, instances=instances, chunk_tokens=$budget, **formats),
    "disaggregated": disaggregated(
        architecture,
        on,
        decode_machine=$decode_machine,
        prefill_instances=prefill_instances,
        decode_instances=decode_instances,
        link=$link,  # byte/s
        **formats,
    ),
}
prompt, output = $prompt_lengths, $output_lengths
traffic = steady(Load($requests, prompt, output), $rate)  # requests a second
targets = Targets(ttft=$ttft_target, itl=$itl_target, tpot=$itl_target)  # seconds
numbers = {}
for kind, design in designs.items():
    seen = standing(simulate(design, traffic), targets)
    numbers |= {
        f"{kind}.ttft_p99_s": seen.ttft.p99,
        f"{kind}.itl_p99_s": seen.itl.p99,
        f"{kind}.goodput_per_s": seen.goodput,
    }

for name, value in numbers.items():
    print(name, value)
"""


def service_snippet(scenario: Scenario) -> str:
    """Return the lines; where a scenario cannot be simulated, a comment that says why.

    Examples
    --------
    >>> print(service_snippet(Scenario()).splitlines()[9])
    architecture = model("llama-3.1-8b")
    """
    refused = refusal(scenario, words("en"))
    if refused:
        return f"# {unescape(_TAG.sub('', refused))}\n"
    question = Question.of(scenario)
    values = written_options(scenario)
    values |= {
        "link": repr(scenario.link * 1e9),
        "decode_machine": f"machine_of({values['versus']})"
        if scenario.decode_chip == "versus"
        else "on",
        "prompt_lengths": _lengths(scenario, "prompt"),
        "output_lengths": _lengths(scenario, "output"),
        "requests": str(question.requests),
        "rate": repr(question.rate),
        "ttft_target": repr(question.ttft_target),
        "itl_target": repr(question.itl_target),
    }
    return Template(_LINES).substitute(values)


def _lengths(scenario: Scenario, part: str) -> str:
    tokens = getattr(scenario, part)
    return f'varied({tokens}, "{part}")' if scenario.lengths == "spread" else f"Fixed({tokens})"
