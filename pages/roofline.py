"""The roofline page: prefill climbs to the flat roof, decode stays on the slope (S1, S5)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pages.shared import colours, numbers
from pages.shared.case import Case, or_misfit, pick
from pages.shared.figures import experts, parts, roofline
from pages.shared.language import Words
from pages.shared.measured import (
    KERNEL_SOURCES,
    Measured,
    engine,
    measured,
    none_measured,
    with_source,
)
from pages.shared.player.view import Column, Description, Readout, Same, Section, Sweep
from pages.shared.player_words import player_words, sliders
from pages.shared.points import Points
from pages.shared.scenario import Scenario
from pages.shared.sources import Source
from physics.limits import compute_bound_prompt
from physics.measured_kernels import DECODE, PREFILL, PRODUCT, Kernels
from physics.operators import distinct_experts
from physics.roofline import ridge_flop_per_byte
from physics.step import Step


class Roofline:
    """Operators under the roof, and where time, bytes and FLOP go."""

    name = "roofline"
    sliders = ("prompt", "batch", "bandwidth", "flops")
    next = ("kv-cache", "decode-shift")
    sources = (
        Source(
            "Williams, Waterman, Patterson: Roofline (2009)",
            "https://doi.org/10.1145/1498765.1498785",
        ),
        Source(
            "JAX scaling book, part 1: rooflines", "https://jax-ml.github.io/scaling-book/roofline/"
        ),
        Source(
            "NVIDIA: GPU performance background",
            "https://docs.nvidia.com/deeplearning/performance/dl-performance-gpu-background/",
        ),
        *KERNEL_SOURCES,
    )

    def describe(self, scenario: Scenario, language: Words) -> Description:
        """Say what stands on the page."""
        words = language
        show_all = scenario.tp > 1 or scenario.efficiency != "ideal"
        mixture = scenario.model_architecture().experts
        found = measured(scenario)
        figures = [
            roofline.skeleton(_roofline_texts(words), words.separators, found.all if found else ()),
            parts.skeleton(_parts_texts(words), words.separators, show_all=show_all),
        ]
        if mixture:
            figures.append(
                experts.skeleton(_experts_texts(words), mixture.experts, words.separators)
            )
        return Description(
            figures=figures,
            readouts=(
                Readout("prefill", words("roofline.prefill"), colours.PREFILL.colour),
                Readout("decode", words("roofline.decode"), colours.DECODE.colour),
                Readout("floor", words("roofline.floor"), colours.WEIGHTS.colour),
            ),
            sliders=sliders(self.sliders, words),
            play=Sweep(("prompt", "batch", "bandwidth", "flops"), "prompt"),
            words=player_words(words),
            sections=(
                Section(words("section.formula"), "formula"),
                Section(words("measured.title"), "measured"),
                Section(words("section.honest"), "honest"),
                Section(words("section.takeaway"), "takeaway"),
            ),
        )

    def columns(self, points: Points, language: Words) -> Mapping[str, Column]:
        """Compute all channels."""
        case = Case(points)
        asked, machine = case.request, case.machine
        ridge = ridge_flop_per_byte(machine.peak, machine.bandwidth)
        found = measured(points)

        return {
            **roofline.columns(
                machine,
                case.chip.bandwidth,
                case.own_peak,
                asked.prefill,
                asked.decode,
                _roofline_texts(language),
                numbers.flop_per_second(machine.peak, language),
                numbers.bytes_per_second(np.asarray(machine.bandwidth), language),
                [
                    language("roofline.ridge_label", ridge=text)
                    for text in numbers.flop_per_byte(ridge, language)
                ],
                (_operator_names(asked.prefill, language), _operator_names(asked.decode, language)),
                case.fits,
                [(one, _sizes(one, language)) for one in (found.all if found else ())],
            ),
            **parts.columns(asked.prefill, asked.decode, case.fits),
            **_expert_columns(case, language),
            **_words(case, ridge, language),
            "t/measured": _measured_words(case, found, language),
        }


VIEW = Roofline()


def _roofline_texts(words: Words) -> roofline.Texts:
    return roofline.Texts(
        intensity_axis=words("axis.intensity"),
        performance_axis=words("axis.performance"),
        prefill=words("phase.prefill"),
        decode=words("phase.decode"),
        attention=words("operator.attention"),
        experts=words("part.experts"),
        bandwidth_roof=words("roofline.bandwidth_roof"),
        compute_roof=words("roofline.compute_roof"),
        ridge=words("term.ridge"),
        measured_key=words("roofline.measured_key"),
        measured={kind: words(f"roofline.mark_{kind}") for kind in (PRODUCT, DECODE, PREFILL)},
    )


def _parts_texts(words: Words) -> parts.Texts:
    return parts.Texts(
        time=words("parts.time"),
        bytes=words("parts.bytes"),
        flop=words("parts.flop"),
        prefill=words("phase.prefill"),
        decode=words("phase.decode"),
        compute=words("parts.compute"),
        memory=words("parts.memory"),
        communication=words("bound.communication"),
        launch=words("bound.launch"),
        weights=words("part.weights"),
        kv_cache=words("part.kv_cache"),
        activations=words("part.activations"),
        linear=words("part.linear"),
        attention=words("part.attention"),
    )


def _experts_texts(words: Words) -> experts.Texts:
    return experts.Texts(
        tokens_axis=words("axis.step_tokens"),
        experts_axis=words("axis.experts"),
        line=words("roofline.experts_line"),
        prefill=words("phase.prefill"),
        decode=words("phase.decode"),
    )


def _expert_columns(case: Case, words: Words) -> dict[str, Column]:
    """Return the experts that both phases touch; nothing for a dense model."""
    mixture = case.architecture.experts
    if mixture is None:
        return {}
    tokens = {"decode": case.points.batch, "prefill": case.points.batch * case.points.prompt}
    touched = {
        phase: distinct_experts(mixture.experts, mixture.top_k, count)
        for phase, count in tokens.items()
    }
    write = {phase: numbers.number(count, words) for phase, count in touched.items()}
    write["all"] = [str(mixture.experts)] * len(case.points)
    return {
        **experts.columns(
            mixture,
            tokens["decode"],
            tokens["prefill"],
            words.each("roofline.experts_decode", write),
            words.each("roofline.experts_prefill", write),
        ),
        "t/alt_experts": words.each("roofline.alt_experts", write),
    }


def _operator_names(step: Step, words: Words) -> list[str]:
    return [words(f"operator.{step.names[index]}") for index in np.flatnonzero(step.computes)]


def _sizes(kernels: Kernels, words: Words) -> list[str]:
    """Write the size of each of the kernels, as it is shown over its mark."""
    sizes = numbers.number(kernels.rows.astype(int).tolist(), words)
    return words.each(f"roofline.size_{kernels.operation}", {"size": sizes})


def _measured_words(case: Case, found: Measured | None, words: Words) -> Column:
    """Say what was measured, what it shows, and who measured it."""
    if found is None:
        return Same(none_measured(case.chip.slug, words))
    texts = [
        words(f"roofline.measured_{one.operation}", **_figures(one, words)) for one in found.all
    ]
    text = words(
        "roofline.measured",
        chip=case.chip.name,
        kernels="<br>".join(texts),
    )
    return with_source(case, [text] * len(case.points), found.all, words)


def _figures(kernels: Kernels, words: Words) -> dict[str, str]:
    """Write what is said of measured kernels: their sizes, and the best that they reach."""
    few, most = numbers.number([int(kernels.rows[0]), int(kernels.rows[-1])], words)
    best = kernels.performance.argmax()
    written = {
        "engine": engine(kernels),
        "dtype": kernels.dtype,
        "few": few,
        "most": most,
        "compute": numbers.percent(float(kernels.compute_share[best]), words, digits=2),
    }
    if kernels.operation == PRODUCT:
        inputs, outputs = numbers.number(list(kernels.shape), words)
        return written | {
            "inputs": inputs,
            "outputs": outputs,
            "memory": numbers.percent(kernels.streaming_share, words, digits=2),
        }
    heads, kv_heads, _ = kernels.shape
    return written | {
        "heads": numbers.number(heads, words),
        "kv_heads": numbers.number(kv_heads, words),
        "tokens": numbers.tokens(float(kernels.tokens[best]), words),
        "intensity": numbers.flop_per_byte(float(kernels.intensity[best]), words),
        "memory": numbers.percent(float(kernels.memory_share[best]), words, digits=2),
    }


def _words(case: Case, ridge: np.ndarray, words: Words) -> dict[str, Column]:
    asked, points = case.request, case.points
    prefill, decode = asked.prefill, asked.decode
    shortest = compute_bound_prompt(
        case.architecture, case.machine, batch=points.batch, **case.formats
    )
    attention_share = prefill.flop_by_operator[prefill.is_attention].sum(axis=0) / prefill.flop
    floor = decode.totals[1]
    write = {
        "prompt": numbers.tokens(points.prompt, words),
        "batch": numbers.number(points.batch.astype(int).tolist(), words),
        "ridge": numbers.flop_per_byte(ridge, words),
        "bandwidth": numbers.bytes_per_second(points.bandwidth * 1e9, words),
        "peak": numbers.flop_per_second(case.machine.peak, words),
        "prefill_intensity": numbers.flop_per_byte(prefill.intensity, words),
        "decode_intensity": numbers.flop_per_byte(decode.intensity, words),
        "prefill_flop": numbers.flop(prefill.flop, words),
        "prefill_bytes": numbers.bytes_decimal(prefill.bytes, words),
        "decode_flop": numbers.flop(decode.flop, words),
        "decode_bytes": numbers.bytes_decimal(decode.bytes, words),
        "decode_weights": numbers.bytes_decimal(decode.weight_bytes, words),
        "prefill_bound": [words(f"bound_by.{bound}") for bound in prefill.bound],
        "decode_bound": [words(f"bound_by.{bound}") for bound in decode.bound],
        "floor": numbers.seconds(case.timed(floor), words),
        "context": numbers.tokens(np.round(case.context), words),
        "shortest": [
            numbers.tokens(value, words) if np.isfinite(value) else words("roofline.no_length")
            for value in shortest.tolist()
        ],
        "attention_share": numbers.percent(attention_share, words, digits=2),
        "prefill_mfu": numbers.percent(case.timed(prefill.mfu), words, digits=2),
        "decode_mfu": numbers.percent(case.timed(decode.mfu), words, digits=2),
        "chips": [numbers.chip_count(points.tp, words)] * len(points),
    }

    misfits = case.misfit(words)
    from_first = shortest <= 1
    return {
        "t/prefill": words.each("roofline.prefill_readout", write),
        "t/decode": words.each("roofline.decode_readout", write),
        "t/floor": or_misfit(words.each("roofline.floor_readout", write), case.short_misfit(words)),
        "t/sentence": or_misfit(words.each("roofline.sentence", write), misfits),
        "t/formula": pick(
            case.fits,
            words.each("roofline.formula", write),
            words.each("roofline.formula_untimed", write),
        ),
        "t/honest": pick(
            from_first,
            words.each("roofline.honest_from_first", write),
            words.each("roofline.honest", write),
        ),
        "t/takeaway": or_misfit(words.each("roofline.takeaway", write), misfits),
        "t/alt_roofline": words.each("roofline.alt", write),
        "t/alt_parts": words.each("roofline.alt_parts", write),
    }
