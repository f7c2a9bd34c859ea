"""The page on decode at huge batches: what crosses the ridge, and what never does (S13)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pages.shared import colours, numbers
from pages.shared.case import Case, pick, whole
from pages.shared.figures import phase_map, shift
from pages.shared.language import Words
from pages.shared.player.view import Column, Description, Readout, Section, Sweep
from pages.shared.player_words import player_words, sliders
from pages.shared.points import Points
from pages.shared.scenario import Scenario
from pages.shared.sources import Source
from physics.frontier import compute_bound_batch, linear_crossing_batch
from physics.limits import critical_batch, critical_context, plateau_intensity
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
    )

    def describe(self, scenario: Scenario, language: Words) -> Description:
        """Say what stands on the page."""
        words = language
        return Description(
            figures=(
                shift.skeleton(_shift_texts(words), words.separators),
                phase_map.skeleton(_map_texts(words), words.separators),
            ),
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
