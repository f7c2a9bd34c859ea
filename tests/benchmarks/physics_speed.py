"""How long the physics takes: microseconds a point for prefill and decode with every part.

Run `python tests/benchmarks/physics_speed.py` from the repository root. It prints, and never fails.
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
from physics.request import request
from physics.step import Step, decode, prefill

MODELS = ("llama-3.1-8b", "llama-3.1-70b", "mixtral-8x7b", "gpt-oss-120b", "deepseek-v3")
REPEATS = 9
BATCHES = np.unique(np.geomspace(1, 4096, 100))[:, None]
CONTEXTS = np.geomspace(1, 131_072, 100)[None, :]


def touch(step: Step) -> None:
    """Read every property, as a page that shows all parts does."""
    for name in dir(type(step)):
        if not name.startswith("_"):
            getattr(step, name)


def both_phases(slug: str, tp: int) -> None:
    """Compute prefill and decode of all points with all their parts."""
    architecture, on = model(slug), machine(chip("h100-sxm"), tp=tp, efficiency="typical")
    touch(prefill(architecture, on, batch=BATCHES, prompt=CONTEXTS))
    touch(decode(architecture, on, batch=BATCHES, context=CONTEXTS))


def whole_request(slug: str, tp: int) -> None:
    """Compute TTFT, TPOT and throughput of all points."""
    architecture, on = model(slug), machine(chip("h100-sxm"), tp=tp, efficiency="typical")
    asked = request(architecture, on, prompt=CONTEXTS, output=256, batch=BATCHES)
    assert asked.tokens_per_second_system.size == BATCHES.size * CONTEXTS.size


def microseconds_a_point(job, *arguments) -> float:
    """Return the median over the repeats [µs/point]."""
    job(*arguments)
    seconds = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        job(*arguments)
        seconds.append(time.perf_counter() - start)
    return median(seconds) / (BATCHES.size * CONTEXTS.size) * 1e6


def main() -> None:
    """Print a line a model."""
    print(f"{BATCHES.size * CONTEXTS.size} points, median of {REPEATS}, µs a point")
    print(f"{'model':16}{'tp':>3}{'prefill + decode, all parts':>30}{'request':>10}")
    for slug in MODELS:
        for tp in (1, 8):
            parts = microseconds_a_point(both_phases, slug, tp)
            asked = microseconds_a_point(whole_request, slug, tp)
            print(f"{slug:16}{tp:3}{parts:30.2f}{asked:10.2f}")


if __name__ == "__main__":
    main()
