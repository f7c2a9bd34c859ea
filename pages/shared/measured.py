"""Which measured kernels stand beside a scenario, and the words about them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from html import escape

import numpy as np

from pages.shared.case import Case
from pages.shared.language import Words
from pages.shared.points import Points
from pages.shared.scenario import Scenario, own_figures
from pages.shared.sources import Source
from physics.chips import chip
from physics.formats import PUBLISHED
from physics.layers import Attention
from physics.measured_kernels import (
    DECODE,
    PREFILL,
    Kernels,
    fastest_product,
    measured_chips,
    nearest_attention,
)
from physics.measurement_sources import measurement_sources

KERNEL_SOURCES = tuple(
    Source(measurement_sources()[name].title, measurement_sources()[name].url)
    for name in ("AIC012", "VIDUR")
)

ENGINES = {"trtllm": "TensorRT-LLM", "vllm": "vLLM", "sglang": "SGLang", "torch": "PyTorch"}

USUAL_SHARING = 4.0
"""Query heads for each key-value head, for a model that does not share heads: the commonest."""


@dataclass(frozen=True)
class Measured:
    """Kernels of the scenario's chip, in its formats where those were measured, else in bf16.

    Attributes
    ----------
    product : Kernels
        The matrix product that streams its weights fastest.
    decode, prefill : Kernels or None
        The attention whose heads are shared most nearly as in the model.
    """

    product: Kernels
    decode: Kernels | None
    prefill: Kernels | None

    @property
    def all(self) -> tuple[Kernels, ...]:
        """The kernels that there are."""
        return tuple(one for one in (self.product, self.decode, self.prefill) if one is not None)


def measured(scenario: Scenario | Points) -> Measured | None:
    """Return the measured kernels for a scenario; None where its chip has none.

    Examples
    --------
    >>> measured(Scenario(chip="h100-sxm")).decode.shape, measured(Scenario(chip="mi300x"))
    ((32, 8, 128), None)
    """
    slug, weights, architecture = scenario.chip, scenario.weights, scenario.model_architecture()
    if weights == PUBLISHED:
        weights = architecture.quantisation.arithmetic
    product = _in_fp8_if(weights, lambda dtype: fastest_product(slug, dtype))
    if product is None:
        return None
    sharing = next(
        (
            one.heads / one.kv_heads
            for _, one in architecture.attentions()
            if isinstance(one, Attention)
        ),
        USUAL_SHARING,
    )
    return Measured(
        product=product,
        decode=_in_fp8_if(
            scenario.kv, lambda dtype: nearest_attention(slug, DECODE, sharing, dtype)
        ),
        prefill=nearest_attention(slug, PREFILL, sharing),
    )


def _in_fp8_if(asked: str, find: Callable[[str], Kernels | None]) -> Kernels | None:
    """Find kernels in fp8 where that is asked for and measured, else in bf16."""
    found = find("fp8") if asked == "fp8" else None
    return find("bf16") if found is None else found


def engine(kernels: Kernels) -> str:
    """Name the engine that ran the kernels, and its version.

    Examples
    --------
    >>> engine(measured(Scenario(chip="h200-sxm")).product)
    'TensorRT-LLM 1.3.0rc20'
    """
    name, _, version = kernels.engine.partition(" ")
    return f"{ENGINES[name]} {version}".rstrip()


def cited(kernels: Iterable[Kernels]) -> str:
    """Name the sources of kernels, with links and dates."""
    ids = dict.fromkeys(one.source for one in kernels)
    sources = [measurement_sources()[name] for name in ids]
    return "; ".join(
        f'<a href="{escape(one.url, quote=True)}">{escape(one.title)}</a>, {one.date}'
        for one in sources
    )


def none_measured(slug: str, words: Words) -> str:
    """Say that a chip has no measured kernels, and which chips have."""
    names = ", ".join(chip(other).name for other in measured_chips())
    return words("measured.none", chip=chip(slug).name, chips=names)


def moved(case: Case) -> np.ndarray:
    """Tell at which points bandwidth or peak are not the chip's own."""
    own, points = own_figures(case.chip), case.points
    return (points.bandwidth != own["bandwidth"]) | (points.flops != own["flops"])


def with_source(
    case: Case, texts: list[str], kernels: Iterable[Kernels], words: Words
) -> list[str]:
    """Add to each point's text whether the sliders imagine another chip, and who measured."""
    other = " " + words("measured.moved", chip=case.chip.name)
    source = "<br>" + words("measured.source", source=cited(kernels))
    return [
        text + (other if some else "") + source
        for text, some in zip(texts, moved(case).tolist(), strict=True)
    ]
