"""The page on dataflow: what fusion and streaming save, and what only faster memory gives (S11)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from pages.shared import colours, numbers
from pages.shared.case import or_misfit, pick
from pages.shared.figures import flow, speeds, tiers, traffic, utilisation
from pages.shared.flowing import Flowing
from pages.shared.language import Words
from pages.shared.memory_words import MACHINES, as_published, mechanism, speed_rows, tier_tables
from pages.shared.player.view import Column, Description, Readout, Same, Section, Sweep
from pages.shared.player_words import player_words, sliders
from pages.shared.points import Points, points_from
from pages.shared.scenario import Scenario
from pages.shared.sources import Source
from physics import memory_tiers
from physics.chips import chip
from physics.dataflow import LANES, MONARCH_FFT_INTENSITIES
from physics.launches import launch
from physics.published_speeds import published_speeds
from physics.roofline import ridge_flop_per_byte


class Dataflow:
    """One layer kernel by kernel and streamed, what it moves, and what memory tiers change."""

    name = "dataflow"
    sliders = ("batch", "prompt", "bandwidth")
    next = ("roofline", "decode-shift")
    sources = (
        Source(
            "SambaNova SN40L: dataflow and three tiers (2024)", "https://arxiv.org/abs/2405.07518"
        ),
        Source(
            "Look Ma, No Bubbles! A megakernel for Llama-1B (2025)",
            "https://hazyresearch.stanford.edu/blog/2025-05-27-no-bubbles",
        ),
        Source("The physical AI inference gap (2026)", "https://arxiv.org/abs/2605.30571"),
        Source(
            "SambaNova against Groq and Cerebras (2024)",
            "https://sambanova.ai/blog/sn40l-chip-best-inference-solution",
        ),
        Source(
            "Cerebras: inference at instant speed (2024)",
            "https://cerebras.ai/blog/introducing-cerebras-inference-ai-at-instant-speed",
        ),
        Source(
            "Groq: Llama 3.1 70B with speculative decoding", "https://www.theaiobserver.com/?p=321"
        ),
        Source("gpt-fast", "https://github.com/pytorch-labs/gpt-fast"),
    )

    def describe(self, scenario: Scenario, language: Words) -> Description:
        """Say what stands on the page."""
        words = language
        kernels = Flowing(points_from(scenario, {})).decode_layer
        main, others = _roofs(scenario.chip)
        return Description(
            figures=(
                flow.skeleton(_flow_texts(words), words.separators, link=scenario.tp > 1),
                utilisation.skeleton(_utilisation_texts(words), words.separators),
                traffic.skeleton(
                    _traffic_texts(words),
                    [words(f"dataflow.kernel_{name}") for name in kernels.names],
                    words.separators,
                ),
                tiers.skeleton(
                    _tiers_texts(words),
                    [main.level, *(roof.level for roof in others)],
                    words.separators,
                ),
                speeds.figure(
                    _speeds_texts(words),
                    list(published_speeds().values()),
                    speed_rows(words),
                    words.separators,
                ),
            ),
            readouts=(
                Readout("kernels", words("dataflow.lane_kernels"), colours.DECODE.colour),
                Readout("graph", words("dataflow.lane_graph"), colours.DECODE.colour),
                Readout("streamed", words("dataflow.lane_streamed"), colours.DECODE.colour),
                Readout("gain", words("dataflow.gain")),
            ),
            sliders=sliders(self.sliders, words),
            play=Sweep(self.sliders, "bandwidth"),
            words=player_words(words),
            sections=(
                Section(words("section.formula"), "formula"),
                Section(words("dataflow.tiers_title"), "tiers"),
                Section(words("dataflow.mechanism_title"), "mechanism"),
                Section(words("section.honest"), "honest"),
                Section(words("section.takeaway"), "takeaway"),
            ),
        )

    def columns(self, points: Points, language: Words) -> Mapping[str, Column]:
        """Compute all channels."""
        words, flowing = language, Flowing(points)
        case = flowing.case
        write = _write(flowing, words)
        names = {
            name: words(f"dataflow.kernel_{name}")
            for name in (*flowing.decode_layer.names, *flowing.prefill_layer.names)
        }
        heavy = set(flowing.lanes[2].names) - {"all_reduce"}
        misfits = case.misfit(words)

        def told(key: str) -> list[str]:
            return or_misfit(words.each(key, write), case.short_misfit(words))

        return {
            **flow.columns(
                [flowing.lanes[LANES.index(lane)] for lane in flow.SHOWN],
                _titles(flowing, words),
                names,
                {name: names[name] for name in heavy},
                _flow_texts(words),
                link=points.tp > 1,
                fits=case.fits,
            ),
            **utilisation.columns(
                flowing.small_batches.mbu,
                flowing.small_batches.mfu[-1],
                case.timed(flowing.step.mbu),
                points.batch,
                [words(f"dataflow.lane_{lane}") for lane in LANES],
                words("dataflow.arithmetic"),
                case.max_batch,
            ),
            **traffic.columns(
                flowing.decode_layer,
                flowing.prefill_layer,
                flowing.on_chip,
                words(
                    "dataflow.on_chip_label",
                    size=numbers.bytes_decimal(flowing.on_chip, words, trim=True),
                ),
            ),
            **_tier_columns(flowing, words),
            "t/kernels": told("dataflow.kernels_readout"),
            "t/graph": told("dataflow.graph_readout"),
            "t/streamed": told("dataflow.streamed_readout"),
            "t/gain": told("dataflow.gain_readout"),
            "t/sentence": or_misfit(words.each("dataflow.sentence", write), misfits),
            "t/formula": or_misfit(words.each("dataflow.formula", write), misfits),
            "t/tiers": tier_tables(flowing, words),
            "t/mechanism": Same(mechanism(words)),
            "t/honest": _honest(flowing, write, words),
            "t/takeaway": or_misfit(_takeaways(flowing, write, words), misfits),
            "t/alt_flow": or_misfit(words.each("dataflow.alt_flow", write), misfits),
            "t/alt_utilisation": or_misfit(words.each("dataflow.alt_utilisation", write), misfits),
            "t/alt_traffic": words.each("dataflow.alt_traffic", write),
            "t/alt_tiers": words.each("dataflow.alt_tiers", write),
            "t/alt_speeds": Same(words("dataflow.alt_speeds")),
        }


VIEW = Dataflow()


def _flow_texts(words: Words) -> flow.Texts:
    return flow.Texts(
        time_axis=words("dataflow.time_axis"),
        stands_still=words("dataflow.stands_still"),
        weights=words("part.weights"),
        kv_cache=words("part.kv_cache"),
        activations=words("part.activations"),
        compute=words("dataflow.arithmetic"),
        link=words("bound.communication"),
    )


def _utilisation_texts(words: Words) -> utilisation.Texts:
    return utilisation.Texts(
        batch_axis=words("axis.batch"),
        share_axis=words("dataflow.share_axis"),
        lanes=[words(f"dataflow.lane_{lane}") for lane in LANES],
        arithmetic=words("dataflow.arithmetic"),
    )


def _traffic_texts(words: Words) -> traffic.Texts:
    return traffic.Texts(
        title=words("dataflow.traffic_title"),
        bytes_axis=words("dataflow.bytes_axis"),
        weights=words("part.weights"),
        kv_cache=words("part.kv_cache"),
        decode=words("dataflow.activations_decode"),
        prefill=words("dataflow.activations_prefill"),
        on_chip=words("dataflow.on_chip"),
    )


def _tiers_texts(words: Words) -> tiers.Texts:
    return tiers.Texts(
        title=words("dataflow.roofs_title"),
        intensity_axis=words("axis.intensity"),
        performance_axis=words("axis.performance"),
        decode=words("dataflow.decode_dots"),
        prefill=words("dataflow.prefill_dots"),
        published=words("dataflow.published"),
    )


def _speeds_texts(words: Words) -> speeds.Texts:
    return speeds.Texts(
        title=words("dataflow.speeds_title"),
        speed_axis=words("dataflow.speed_axis"),
        bound=words("dataflow.bound"),
        single=words("dataflow.published_single"),
        speculative=words("dataflow.published_speculative"),
    )


def _titles(flowing: Flowing, words: Words) -> list[list[str]]:
    """Write what stands over each lane drawn: its name, its time, its launches."""
    by_way = dict(zip(LANES, flowing.lanes, strict=True))
    launched = len(by_way["kernels"].names)
    each = {
        way: numbers.seconds(launch(way).seconds, words, digits=2) for way in ("stream", "graph")
    }
    waits = {
        "kernels": words("dataflow.waits", count=launched, each=each["stream"]),
        "fused": words("dataflow.waits", count=1, each=each["graph"]),
        "streamed": words("dataflow.no_waits"),
    }
    return [
        [
            f"{words(f'dataflow.lane_{lane}')}: {time}, {waits[lane]}"
            for time in numbers.seconds(flowing.case.timed(by_way[lane].seconds), words)
        ]
        for lane in flow.SHOWN
    ]


def _roofs(slug: str) -> tuple[tiers.Roof, list[tiers.Roof]]:
    """Return the roof of a chip's main memory, and those of the other tiers drawn."""

    def roof(tier: memory_tiers.Tier) -> tiers.Roof:
        one = chip(tier.chip)
        peak, name = one.bf16_flop_per_second, f"{one.name} {tier.memory}"
        return tiers.Roof(name, tier.level, peak, tier.bandwidth)

    main = memory_tiers.main_tier(chip(slug))
    others = [
        roof(tier)
        for machine in dict.fromkeys((slug, *MACHINES))
        for tier in memory_tiers.tiers(machine)
        # GPUs' HBM differs little: the chip's own stands for it.
        if tier.bandwidth and tier != main and (tier.level != "hbm" or machine == slug)
    ]
    return roof(main), others


def _tier_columns(flowing: Flowing, words: Words) -> dict[str, Column]:
    case = flowing.case
    main, others = _roofs(case.points.chip)
    machine = case.machine
    own = replace(main, peak=machine.peak, bandwidth=machine.bandwidth)
    ridge = numbers.flop_per_byte(ridge_flop_per_byte(own.peak, own.bandwidth), words)
    other_ridges = [
        numbers.flop_per_byte(
            float(ridge_flop_per_byte(roof.peak, roof.bandwidth)), words, digits=2
        )
        for roof in others
    ]
    ways = (words("dataflow.lane_kernels"), words("dataflow.lane_fused"))
    phases = (words("phase.decode"), words("phase.prefill"))
    return tiers.columns(
        [own, *others],
        flowing.decode_intensity,
        flowing.prefill_intensity,
        [
            flowing.reached(flowing.lanes, flowing.decode_layer),
            flowing.reached(flowing.prefill_lanes, flowing.prefill_layer),
        ],
        {
            "dots": [f"{phase}: {way}" for phase in phases for way in ways],
            "phases": list(phases),
            "ridge": [words("dataflow.ridge_label", memory=own.name, ridge=text) for text in ridge],
            "other_ridges": [
                words("dataflow.ridge_label", memory=roof.name, ridge=text)
                for roof, text in zip(others, other_ridges, strict=True)
            ],
            "published": [
                numbers.number(value, words, digits=4, trim=True)
                for value in MONARCH_FFT_INTENSITIES
            ],
        },
    )


def _fft_texts(words: Words) -> list[str]:
    return numbers.number(MONARCH_FFT_INTENSITIES, words, digits=4, trim=True)


def _honest(flowing: Flowing, write: dict[str, list[str]], words: Words) -> list[str]:
    known = words.each("dataflow.cache", write)
    unknown = [words("dataflow.no_cache_figure")] * len(flowing.points)
    write = write | {"cache": unknown if flowing.on_chip is None else known}
    return pick(
        flowing.case.fits,
        words.each("dataflow.honest", write),
        words.each("dataflow.honest_untimed", write),
    )


def _takeaways(flowing: Flowing, write: dict[str, list[str]], words: Words) -> list[str]:
    """Say what is left when the gaps are gone: memory, or at large batches something else."""
    streamed = flowing.lanes[LANES.index("streamed")]
    memory = streamed.memory_seconds.sum(axis=0)
    busiest = np.maximum(streamed.compute_seconds.sum(axis=0), streamed.link_seconds.sum(axis=0))
    return pick(
        memory >= busiest,
        words.each("dataflow.takeaway", write),
        words.each("dataflow.takeaway_not_memory", write),
    )


def _write(flowing: Flowing, words: Words) -> dict[str, list[str]]:
    case, points, step = flowing.case, flowing.points, flowing.step
    lanes, count = flowing.lanes, len(flowing.points)
    kernels, *_, streamed = lanes
    stream = launch("stream").seconds
    waiting = kernels.launch_seconds.sum(axis=0)
    saved = kernels.seconds - streamed.seconds
    weight_bytes = kernels.weight_bytes.sum(axis=0)
    handed = kernels.activation_bytes.sum(axis=0)
    decode, prefill = flowing.decode_intensity, flowing.prefill_intensity
    twice = flowing.step.seconds / flowing.with_twice_the_bandwidth.seconds
    seconds_of = {name: case.timed(row) for name, row in zip(LANES, step.seconds, strict=True)}
    share_of = {name: case.timed(row) for name, row in zip(LANES, step.mbu, strict=True)}

    def time(values: np.ndarray) -> list[str]:
        return numbers.seconds(case.timed(values), words)

    def percent(values: np.ndarray) -> list[str]:
        return numbers.percent(values, words, digits=2)

    def same(text: str) -> list[str]:
        return [text] * count

    return {
        **{
            f"{name}_speed": numbers.tokens_per_second(1 / some, words)
            for name, some in seconds_of.items()
        },
        **{f"{name}_share": percent(some) for name, some in share_of.items()},
        **{f"{name}_time": numbers.seconds(some, words) for name, some in seconds_of.items()},
        "model": same(case.architecture.name),
        "chip": same(case.chip.name),
        "batch": numbers.number(points.batch.astype(int).tolist(), words),
        "context": numbers.tokens(np.round(case.context), words),
        "prompt": numbers.tokens(points.prompt, words),
        "count": same(numbers.number(len(kernels.names), words)),
        "launches": same(numbers.number(int(step.launches[0]), words)),
        "launch": same(numbers.seconds(stream, words, digits=2)),
        "graph_launch": same(numbers.seconds(launch("graph").seconds, words, digits=2)),
        "as_published": same(as_published(points.chip, points.model, words)),
        "unread": same("" if launch("stream").confidence == "A" else words("dataflow.unread")),
        "waiting": time(waiting),
        "busy": time(kernels.busy_seconds.sum(axis=0)),
        "layer": time(kernels.seconds),
        "layer_streamed": time(streamed.seconds),
        "memory": time(streamed.memory_seconds.sum(axis=0)),
        "arithmetic": time(streamed.compute_seconds.sum(axis=0)),
        "link": time(streamed.link_seconds.sum(axis=0)),
        "gap": percent(case.timed(waiting / kernels.seconds)),
        "gain": numbers.multiple(case.timed(step.seconds[0] / step.seconds[3]), words, digits=3),
        "of_launches": percent(case.timed(np.minimum(waiting / saved, 1.0))),
        "weights": numbers.bytes_decimal(weight_bytes, words),
        "weights_time": time(weight_bytes / kernels.bandwidth),
        "handed": numbers.bytes_decimal(handed, words),
        "handed_share": percent(handed / kernels.bytes),
        "bandwidth": numbers.bytes_per_second(points.bandwidth * 1e9, words),
        "decode_apart": numbers.flop_per_byte(decode[:, 0], words, digits=4),
        "decode_fused": numbers.flop_per_byte(decode[:, 1], words, digits=4),
        "prefill_apart": numbers.flop_per_byte(prefill[:, 0], words),
        "prefill_fused": numbers.flop_per_byte(prefill[:, 1], words),
        "prefill_time": time(flowing.prefill_lanes[0].seconds),
        "prefill_time_fused": time(flowing.prefill_lanes[2].seconds),
        "on_chip": same(numbers.bytes_decimal(flowing.on_chip, words, trim=True)),
        "ridge": numbers.flop_per_byte(
            ridge_flop_per_byte(case.machine.peak, case.machine.bandwidth), words
        ),
        "typical": time(case.request.decode.seconds_sum),
        "twice_kernels": numbers.multiple(case.timed(twice[0]), words, digits=3),
        "twice_streamed": numbers.multiple(case.timed(twice[3]), words, digits=3),
        "published": same(
            " → ".join(
                numbers.number(value, words, digits=4, trim=True)
                for value in MONARCH_FFT_INTENSITIES
            )
        ),
    }
