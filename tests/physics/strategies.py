"""What hypothesis draws from, and how steps are compared; shared by the tests of properties."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from physics.architecture import Architecture
from physics.catalogue import models
from physics.chips import chip
from physics.formats import BITS_PER_ELEMENT
from physics.layers import Experts
from physics.machine import Machine
from physics.step import Step, decode, prefill

settings.register_profile("house", deadline=None, max_examples=60,
                          suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("house")

CHIPS = ("h100-sxm", "a100-sxm-80gb", "tpu-v5e", "h20", "mi300x", "rtx-4090", "wse-3")

some_model = st.sampled_from(list(models().values()))
some_chip = st.sampled_from(CHIPS).map(chip)
some_format = st.sampled_from(list(BITS_PER_ELEMENT))
tokens = st.integers(1, 100_000)
batches = st.integers(1, 2000)
chip_numbers = st.sampled_from([1, 2, 4, 8])

PARTS = ("flop", "weight_bytes", "kv_bytes", "activation_bytes", "bytes", "seconds_sum",
         "seconds_overlap", "intensity", "mfu", "mbu")


def both_phases(architecture, on: Machine, batch, length, **formats) -> tuple[Step, Step]:
    return (prefill(architecture, on, batch=batch, prompt=length, **formats),
            decode(architecture, on, batch=batch, context=length, **formats))


def no_less(larger, smaller) -> bool:
    """Compare up to the rounding of long sums."""
    return bool(np.all(larger >= smaller * (1 - 1e-12)))


def linear_parameters(architecture: Architecture) -> float:
    """Matrices that every decoded token passes: no lookup, no norms, no idle experts.

    Biases are no matrices, and are well under a thousandth of a model that has them.
    """
    parts = architecture.parameters_by_part
    head = architecture.vocabulary * architecture.hidden
    idle = sum(group.count * group.network.idle_parameters(architecture.hidden)
               for group in architecture.groups if isinstance(group.network, Experts))
    return (sum(parts[name] for name in ("attention", "mlp", "experts", "shared_experts", "router"))
            + head - idle)
