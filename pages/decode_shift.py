"""The page on decode at huge batches: what crosses the ridge, and what never does (S13)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pages.shared import colours, numbers
from pages.shared.case import Case, pick, whole
from pages.shared.figures import phase_map, product, shift
from pages.shared.language import Words
from pages.shared.measured import KERNEL_SOURCES, engine, measured, none_measured, with_source
from pages.shared.player.view import Column, Description, Readout, Same, Section, Sweep
from pages.shared.player_words import player_words, sliders
from pages.shared.points import Points
from pages.shared.scenario import Scenario
from pages.shared.sources import Source
from physics.frontier import compute_bound_batch, linear_crossing_batch
from physics.limits import critical_batch, critical_context, plateau_intensity
from physics.measured_kernels import (
    Kernels,
    ideal_product_seconds,
    measured_ridge,
    ridge_range,
    rows_at_intensity,
)
from physics.memory import max_batch
from physics.roofline import ridge_flop_per_byte
from physics.step import decode


class DecodeShift:
    """Intensity against batch, and the batch x context map of what binds."""

    name = "decode-shift"
    sliders = ("batch", "prompt", "bandwidth", "flops")
    next = ("roofline", "kv-cache")
    sources = (
        Source(
            "JAX scaling book, part 7: inference",
            "https://jax-ml.github.io/scaling-book/inference/",
        ),
        Source("Recasens et al.: Mind the memory gap (2025)", "https://arxiv.org/abs/2503.08311"),
        Source("Opportunistic expert activation (2025)", "https://arxiv.org/abs/2511.02237"),
        *KERNEL_SOURCES,
    )

    def describe(self, scenario: Scenario, language: Words) -> Description:
        """Say what stands on the page."""
        words = language
        figures = [
            shift.skeleton(_shift_texts(words), words.separators),
            phase_map.skeleton(_map_texts(words), words.separators),
        ]
        if measured(scenario):
            figures.append(product.skeleton(_product_texts(words), words.separators))
        return Description(
            figures=figures,
            readouts=(
                Readout("intensity", words("decode-shift.intensity"), colours.DECODE.colour),
                Readout("crossing", words("decode-shift.crossing"), colours.WEIGHTS.colour),
                Readout("critical", words("decode-shift.critical"), colours.KV_CACHE.colour),
                Readout("room", words("decode-shift.room")),
            ),
            sliders=sliders(self.sliders, words),
            play=Sweep(self.sliders, "batch"),
            words=player_words(words),
            sections=(
                Section(words("measured.title"), "measured"),
                Section(words("section.formula"), "formula"),
                Section(words("section.honest"), "honest"),
                Section(words("section.takeaway"), "takeaway"),
            ),
        )

    def columns(self, points: Points, language: Words) -> Mapping[str, Column]:
        """Compute all channels."""
        words, case = language, Case(points)
        architecture, machine = case.architecture, case.machine
        ridge = ridge_flop_per_byte(machine.peak, machine.bandwidth)
        swept = decode(
            architecture,
            case.unit_machine,
            batch=shift.BATCHES,
            context=case.context[:, None],
            **case.formats,
        )
        at = case.request.decode
        crossing = linear_crossing_batch(architecture, machine, weights=points.weights)
        critical = critical_context(
            architecture,
            machine.peak,
            machine.bandwidth,
            points.kv,
            points.tp,
            np.divide(machine.peak, machine.attention_peak),
        )
        plateau = plateau_intensity(architecture, case.context, points.kv, points.tp)
        write = _write(case, ridge, crossing, critical, plateau, words)
        texts = {
            "ridge": words.each("decode-shift.ridge_label", write),
            "full": words.each("decode-shift.full_label", write),
            "crossing": words.each("decode-shift.crossing_label", write),
        }
        chosen = (~swept.is_attention & swept.computes, swept.is_attention)
        return {
            **shift.columns(
                ridge,
                [*(swept.intensity_of(some) for some in chosen), swept.intensity],
                [*(at.intensity_of(some) for some in chosen), at.intensity],
                points.batch,
                crossing,
                case.max_batch,
                [words("part.linear"), words("part.attention"), words("decode-shift.step")],
                texts,
            ),
            **phase_map.columns(
                compute_bound_batch(
                    architecture, machine, contexts=phase_map.CONTEXTS, **case.formats
                ),
                max_batch(architecture, machine, tokens=phase_map.CONTEXTS, **case.formats),
                critical,
                case.context,
                points.batch,
                words.each("decode-shift.critical_label", write),
                _map_texts(words),
            ),
            **_measured_columns(case, words),
            "t/intensity": words.each("decode-shift.intensity_readout", write),
            "t/crossing": words.each("decode-shift.crossing_readout", write),
            "t/critical": words.each("decode-shift.critical_readout", write),
            "t/room": words.each("decode-shift.room_readout", write),
            "t/sentence": _sentences(case, write, words),
            "t/formula": words.each("decode-shift.formula", write),
            "t/honest": words.each("decode-shift.honest", write),
            "t/takeaway": pick(
                plateau < ridge,
                words.each("decode-shift.takeaway", write),
                words.each("decode-shift.takeaway_crosses", write),
            ),
            "t/alt_shift": words.each("decode-shift.alt_shift", write),
            "t/alt_phase_map": words.each("decode-shift.alt_map", write),
        }


VIEW = DecodeShift()


def _shift_texts(words: Words) -> shift.Texts:
    return shift.Texts(
        batch_axis=words("axis.batch"),
        intensity_axis=words("axis.intensity"),
        linear=words("part.linear"),
        attention=words("part.attention"),
        step=words("decode-shift.step"),
        ridge=words("term.ridge"),
        full=words("decode-shift.full"),
        here=words("term.here"),
    )


def _map_texts(words: Words) -> phase_map.Texts:
    return phase_map.Texts(
        context_axis=words("axis.context"),
        batch_axis=words("axis.batch"),
        compute=words("bound.compute"),
        memory=words("bound.memory"),
        full=words("decode-shift.does_not_fit"),
        critical=words("decode-shift.critical"),
        here=words("term.here"),
    )


def _product_texts(words: Words) -> product.Texts:
    return product.Texts(
        rows_axis=words("decode-shift.rows_axis"),
        seconds_axis=words("decode-shift.seconds_axis"),
        ideal=words("decode-shift.ideal"),
        measured=words("decode-shift.measured"),
        here=words("term.here"),
        ridge=words("term.ridge"),
        measured_ridge=words("decode-shift.measured_ridge"),
    )


def _measured_columns(case: Case, words: Words) -> dict[str, Column]:
    """Return one matrix product of the chip, timed, and the ridge that it shows."""
    found = measured(case.points)
    if found is None:
        return {"t/measured": Same(none_measured(case.chip.slug, words))}
    kernels, machine, batch = found.product, case.machine, case.points.batch
    # The peak of the kernel's format, which need not be that of the weights.
    peak = machine.peak if kernels.dtype == "fp8" else machine.attention_peak
    peak, bandwidth = np.broadcast_arrays(peak, machine.bandwidth)
    ridge = ridge_flop_per_byte(peak, bandwidth)
    least = ideal_product_seconds(batch, *kernels.shape, kernels.dtype, peak, bandwidth)
    write = _measured_write(case, kernels, words) | {
        "ridge": numbers.flop_per_byte(ridge, words),
        "least": numbers.seconds(least, words),
    }
    text = pick(
        kernels.at_rows(batch) == 0,
        words.each("decode-shift.measured_first", write),
        words.each("decode-shift.measured_later", write),
    )
    others = ridge_range(kernels.chip, kernels.dtype)
    key = "measured_ridges" if others[0] < others[1] else "measured_only"
    return {
        **product.columns(
            kernels,
            peak,
            bandwidth,
            batch,
            measured_ridge(kernels),
            _product_texts(words),
            words.each("decode-shift.ideal_ridge_label", write),
            words.each("decode-shift.measured_ridge_label", write),
            words.each("decode-shift.least_label", write),
        ),
        "t/measured": with_source(
            case,
            [
                f"{a} {b}"
                for a, b in zip(text, words.each(f"decode-shift.{key}", write), strict=True)
            ],
            [kernels],
            words,
        ),
        "t/alt_product": words.each("decode-shift.alt_product", write),
    }


def _measured_write(case: Case, kernels: Kernels, words: Words) -> dict[str, list[str]]:
    at, count = kernels.at_rows(case.points.batch), len(case.points)
    knee = kernels.at_rows(
        rows_at_intensity(kernels.data_sheet_ridge, *kernels.shape, kernels.dtype)
    )
    low, high = ridge_range(kernels.chip, kernels.dtype)
    inputs, outputs = numbers.number(list(kernels.shape), words)
    same = {
        "chip": case.chip.name,
        "engine": engine(kernels),
        "dtype": kernels.dtype,
        "inputs": inputs,
        "outputs": outputs,
        "first": numbers.seconds(float(kernels.seconds[0]), words),
        "knee": numbers.number(int(kernels.rows[knee]), words),
        "over": numbers.multiple(float((kernels.seconds / kernels.least_seconds)[knee]), words),
        "compute": numbers.percent(float(kernels.compute_share.max()), words, digits=2),
        "memory": numbers.percent(kernels.streaming_share, words, digits=2),
        "measured": numbers.flop_per_byte(measured_ridge(kernels), words),
        "sheet": numbers.flop_per_byte(kernels.data_sheet_ridge, words),
        "low": numbers.number(low, words),
        "high": numbers.flop_per_byte(high, words),
    }
    return {name: [text] * count for name, text in same.items()} | {
        "rows": numbers.number(kernels.rows[at].astype(int).tolist(), words),
        "time": numbers.seconds(kernels.seconds[at], words),
        "longer": numbers.multiple(kernels.seconds[at] / kernels.seconds[0], words),
        "work": numbers.multiple(kernels.flop[at] / kernels.flop[0], words),
    }


def _sentences(case: Case, write: dict[str, list[str]], words: Words) -> list[str]:
    sentences = words.each("decode-shift.sentence", write)
    misfits = case.misfit(words)
    return [
        f"{text} {misfit}" if misfit else text
        for text, misfit in zip(sentences, misfits, strict=True)
    ]


def _write(
    case: Case,
    ridge: np.ndarray,
    crossing: np.ndarray,
    critical: np.ndarray,
    plateau: np.ndarray,
    words: Words,
) -> dict[str, list[str]]:
    points, at, count = case.points, case.request.decode, len(case.points)
    machine = case.machine
    bare = critical_batch(case.architecture, machine.peak, machine.bandwidth, points.weights)
    crosses = np.isfinite(crossing)
    crossing_texts = numbers.number(whole(crossing), words)
    limited = np.isfinite(critical)
    context_texts = numbers.tokens(np.round(critical), words)
    experts = case.architecture.experts
    rooms = numbers.number(whole(case.max_batch), words)
    return {
        "batch": numbers.number(points.batch.astype(int).tolist(), words),
        "context": numbers.tokens(np.round(case.context), words),
        "intensity": numbers.flop_per_byte(at.intensity, words),
        "attention": numbers.flop_per_byte(at.intensity_of(at.is_attention), words),
        "ridge": numbers.flop_per_byte(ridge, words),
        "bound": [words(f"bound_by.{bound}") for bound in at.bound],
        "bare": numbers.number(whole(bare), words),
        "crossing": pick(crosses, crossing_texts, [words("decode-shift.nowhere")] * count),
        "crossing_text": pick(
            crosses,
            words.each("decode-shift.crosses", {"crossing": crossing_texts}),
            [words("decode-shift.crosses_nowhere")] * count,
        ),
        "ends": pick(
            case.max_batch >= 1,
            words.each("decode-shift.ends", {"room": rooms}),
            [words("decode-shift.no_room")] * count,
        ),
        "experts": [
            words(
                "decode-shift.experts",
                experts=experts.experts,
                top_k=experts.top_k,
                ratio=numbers.multiple(experts.experts / experts.top_k, words),
            )
            if experts
            else ""
        ]
        * count,
        "critical": [
            text if some else words("decode-shift.never")
            for text, some in zip(context_texts, limited, strict=True)
        ],
        "verdict": [
            _verdict(value, text, words)
            for value, text in zip(critical.tolist(), context_texts, strict=True)
        ],
        "plateau": numbers.flop_per_byte(plateau, words),
        "room": rooms,
        "weights": [numbers.bytes_decimal(case.weight_bytes, words)] * count,
        "bandwidth": numbers.bytes_per_second(points.bandwidth * 1e9, words),
        "peak": numbers.flop_per_second(case.machine.peak, words),
        "mfu": numbers.percent(case.timed(at.mfu), words, digits=2),
        "tpot": numbers.seconds(case.timed(case.request.tpot_seconds), words),
    }


def _verdict(critical: float, text: str, words: Words) -> str:
    """Say from which context on no batch suffices: from some, from none at all, or never."""
    if not np.isfinite(critical):
        return words("decode-shift.no_limit")
    return words("decode-shift.beyond", critical=text) if critical else words("decode-shift.state")
