"""How long a simulation takes: 1,000 requests of 2,048 and 256 tokens under each design.

Run `python tests/benchmarks/serving_speed.py` from the repository root. It prints, and never fails.
The aim is a second on one core. The first run of a model also fills its tables of step times.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from statistics import median

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from physics.catalogue import model
from physics.chips import chip
from physics.machine import machine
from physics.serving.design import Design, chunked, colocated, disaggregated
from physics.serving.simulation import simulate
from physics.serving.times import StepTimes
from physics.serving.traffic import Fixed, Traffic, poisson

REPEATS = 5
REQUESTS = 1000
LENGTHS = ((2048, 256), (32768, 256))
MODELS = ("llama-3.1-8b", "gpt-oss-20b", "deepseek-v3")
BUSY = (0.05, 0.5, 1.5)


def designs(slug: str, tp: int) -> list[Design]:
    """Return the three designs, on as many chips as the model needs."""
    architecture, on = model(slug), machine(chip("h200-sxm"), tp=tp, efficiency="typical")
    return [
        colocated(architecture, on, instances=2),
        chunked(architecture, on, instances=2),
        disaggregated(architecture, on, link=50e9),
    ]


def seconds(design: Design, traffic: Traffic) -> float:
    """Return the processor time of a simulation, the median over the repeats [s]."""
    simulate(design, traffic)
    spent = []
    for _ in range(REPEATS):
        start = time.process_time()
        simulate(design, traffic)
        spent.append(time.process_time() - start)
    return median(spent)


def main() -> None:
    """Print a line a model and load."""
    print(f"{REQUESTS} requests, seconds of one core, median of {REPEATS}")
    kinds = [design.kind for design in designs("llama-3.1-8b", 1)]
    print(f"{'model':14}{'prompt':>8}{'rate':>9}" + "".join(f"{kind:>16}" for kind in kinds))
    for slug, tp in zip(MODELS, (1, 1, 16), strict=True):
        for prompt, output in LENGTHS:
            start = time.process_time()
            built = designs(slug, tp)
            times = StepTimes(
                built[0].architecture, built[0].pools[0].machine, longest=prompt + output
            )
            filled = time.process_time() - start
            alone = times.prefill_seconds(np.array([prompt]), np.array([0]))
            for busy in BUSY:
                traffic = poisson(
                    busy / alone, requests=REQUESTS, prompt=Fixed(prompt), output=Fixed(output)
                )
                row = "".join(f"{seconds(design, traffic):16.3f}" for design in built)
                print(f"{slug:14}{prompt:8}{busy / alone:9.2f}{row}")
            print(f"{'':14}{'':8} tables filled in {filled:.3f} s")


if __name__ == "__main__":
    main()
