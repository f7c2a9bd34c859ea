"""The page on dataflow: what fusion and streaming save, and what only faster memory gives (S11)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache, cached_property

import numpy as np

from pages.shared import colours, numbers
from pages.shared.case import Case, or_misfit, pick
from pages.shared.figures import flow, speeds, tiers, traffic, utilisation
from pages.shared.language import Words
from pages.shared.player.view import Column, Description, Readout, Same, Section, Sweep
from pages.shared.player_words import player_words, sliders
from pages.shared.points import Points
from pages.shared.scenario import Scenario
from pages.shared.sources import Source
from physics import memory_tiers
from physics.catalogue import model
from physics.chips import chip
from physics.dataflow import LANES, Kernels, Lane, Step, launch, layer, main_layers, run
from physics.kv_cache import kv_bytes_per_sequence
from physics.machine import TYPICAL
from physics.published_speeds import published_speeds
from physics.roofline import ridge_flop_per_byte

MACHINES = ("h100-sxm", "gh200", "sn40l", "groq-lpu", "wse-3")
"""Chips of different memories, compared beside the one picked."""

SPILLS = "sn40l"
"""The chip on which what HBM cannot hold goes to DDR."""


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
        kernels = _some_layer(scenario)
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
                    _speed_rows(words),
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
            "t/tiers": _tier_tables(flowing, words),
            "t/mechanism": Same(_mechanism(words)),
            "t/honest": _honest(flowing, write, words),
            "t/takeaway": or_misfit(words.each("dataflow.takeaway", write), misfits),
            "t/alt_flow": or_misfit(words.each("dataflow.alt_flow", write), misfits),
            "t/alt_utilisation": or_misfit(words.each("dataflow.alt_utilisation", write), misfits),
            "t/alt_traffic": words.each("dataflow.alt_traffic", write),
            "t/alt_tiers": words.each("dataflow.alt_tiers", write),
            "t/alt_speeds": Same(words("dataflow.alt_speeds")),
        }


VIEW = Dataflow()


class Flowing:
    """What physics says of a page's points, in the four ways of running."""

    def __init__(self, points: Points) -> None:
        self.points, self.case = points, Case(points)
        self.on_chip = memory_tiers.on_chip_bytes(self.case.chip)

    @property
    def _held(self) -> float:
        """On-chip memory; where the catalogue has no figure it is taken as large enough."""
        return np.inf if self.on_chip is None else self.on_chip

    @cached_property
    def decode_layer(self) -> Kernels:
        """The layer that the model has most of, adding one token to every sequence."""
        return self._layer(new_tokens=1, cached_tokens=self.case.context, absorbed=True)

    @cached_property
    def prefill_layer(self) -> Kernels:
        """The same layer reading the prompts."""
        return self._layer(new_tokens=self.points.prompt, cached_tokens=0)

    def _layer(self, **phase: object) -> Kernels:
        architecture = self.case.architecture
        return layer(
            main_layers(architecture),
            architecture,
            self.case.machine,
            batch=self.points.batch,
            **self.case.formats,
            **phase,
        )

    @cached_property
    def lanes(self) -> tuple[Lane, ...]:
        """The layer in decode, in the order of `LANES`."""
        return self._ways(self.decode_layer)

    @cached_property
    def prefill_lanes(self) -> tuple[Lane, ...]:
        """The layer in prefill, in the order of `LANES`."""
        return self._ways(self.prefill_layer)

    def _ways(self, work: Kernels) -> tuple[Lane, ...]:
        stream, graph = launch("stream").seconds, launch("graph").seconds
        return (
            work.one_by_one(stream),
            work.one_by_one(graph),
            work.fused(graph, self._held),
            work.streamed(0.0, self._held),
        )

    @cached_property
    def step(self) -> Step:
        """A whole decode step."""
        case = self.case
        return run(
            case.architecture,
            case.machine,
            batch=self.points.batch,
            new_tokens=1,
            cached_tokens=case.context,
            absorbed=True,
            on_chip=self._held,
            **case.formats,
        )

    @cached_property
    def small_batches(self) -> Step:
        """Whole decode steps at the batches of the figure, shape (lanes, points, batches)."""
        case, points = self.case, self.points
        return run(
            case.architecture,
            case.machine_with(points.bandwidth[:, None], points.flops[:, None]),
            batch=utilisation.BATCHES,
            new_tokens=1,
            cached_tokens=case.context[:, None],
            absorbed=True,
            on_chip=self._held,
            **case.formats,
        )

    @cached_property
    def with_twice_the_bandwidth(self) -> Step:
        """The same step on memory twice as fast."""
        case, points = self.case, self.points
        return run(
            case.architecture,
            case.machine_with(2 * points.bandwidth, points.flops),
            batch=points.batch,
            new_tokens=1,
            cached_tokens=case.context,
            absorbed=True,
            on_chip=self._held,
            **case.formats,
        )

    @cached_property
    def decode_intensity(self) -> np.ndarray:
        """Intensity of the layer in decode kernel by kernel, and fused: shape (points, 2)."""
        return _intensity(self.lanes, self.decode_layer)

    @cached_property
    def prefill_intensity(self) -> np.ndarray:
        """The same in prefill."""
        return _intensity(self.prefill_lanes, self.prefill_layer)

    def reached(self, lanes: tuple[Lane, ...], work: Kernels) -> np.ndarray:
        """FLOP/s of a chip kernel by kernel, and streamed: shape (points, 2)."""
        flop = work.flop.sum(axis=0)
        seconds = np.stack([lanes[0].seconds, lanes[3].seconds], axis=-1)
        return np.where(self.case.fits[:, None], flop[:, None] / seconds, np.nan)


def _intensity(lanes: tuple[Lane, ...], work: Kernels) -> np.ndarray:
    flop = work.flop.sum(axis=0)
    return np.stack([flop / lanes[0].bytes, flop / lanes[2].bytes], axis=-1)


def _some_layer(scenario: Scenario) -> Kernels:
    """Return the layer of a scenario for its kernels' names."""
    from pages.shared.points import points_from

    return Flowing(points_from(scenario, {})).decode_layer


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
                numbers.number(value, words, digits=4, trim=True) for value in tiers.PUBLISHED
            ],
        },
    )


def _tier_tables(flowing: Flowing, words: Words) -> list[str]:
    """Write which memory holds how much, and how many chips the load needs in each."""
    case, points = flowing.case, flowing.points
    each = kv_bytes_per_sequence(case.architecture, case.tokens, points.kv, points.tp)
    size = case.weight_bytes + points.batch * each
    rows, counted = [], []
    for slug in dict.fromkeys((points.chip, *MACHINES)):
        one = chip(slug)
        for tier in memory_tiers.tiers(slug):
            ridge = float(tier.ridge(one.bf16_flop_per_second))
            rows.append(
                (
                    f"{one.name} {tier.memory}",
                    numbers.bytes_decimal(tier.capacity, words, trim=True),
                    numbers.bytes_per_second(tier.bandwidth, words, trim=True),
                    numbers.flop_per_byte(ridge, words, digits=2),
                )
            )
            needed = memory_tiers.chips_to_hold(size, tier.capacity).astype(int)
            counted.append(numbers.number(needed.tolist(), words))
    heads = [
        words(f"dataflow.table_{name}") for name in ("memory", "capacity", "bandwidth", "ridge")
    ]
    sizes = numbers.bytes_decimal(size, words)
    spilled = _spilled(size, words)
    tables = []
    for index, total in enumerate(sizes):
        head = [*heads, words("dataflow.table_chips", size=total)]
        cells = "".join(f"<th scope='col'>{text}</th>" for text in head)
        body = "".join(
            "<tr>" + "".join(f"<td>{text}</td>" for text in (*row, column[index])) + "</tr>"
            for row, column in zip(rows, counted, strict=True)
        )
        table = f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"
        tables.append(f"{table}<p>{spilled[index]} {words('dataflow.claims')}</p>")
    return tables


def _spilled(size: np.ndarray, words: Words) -> list[str]:
    """Say what happens where a chip's HBM is too small and its DDR takes the rest."""
    found = [tier for tier in memory_tiers.tiers(SPILLS) if tier.level != "sram"]
    placed = memory_tiers.fill(size, [tier.capacity for tier in found])
    bandwidths = [tier.bandwidth for tier in found]
    seconds = memory_tiers.read_seconds(placed, bandwidths)
    slow = placed[1] / bandwidths[1]
    write = {
        "chip": [chip(SPILLS).name] * len(size),
        "fast": numbers.bytes_decimal(placed[0], words),
        "slow": numbers.bytes_decimal(placed[1], words),
        "time": numbers.seconds(seconds, words),
        "share": numbers.percent(slow / seconds, words, digits=2),
    }
    return pick(
        placed[1] > 0,
        words.each("dataflow.spilled", write),
        words.each("dataflow.not_spilled", write),
    )


def _speed_rows(words: Words) -> list[str]:
    """Say of each published speed: machine, model, speed, and its share of what memory allows."""
    rows = []
    for speed in published_speeds().values():
        one = chip(speed.chip)
        name = one.name.removeprefix("SambaNova ").removeprefix("Cerebras ").partition(" SXM")[0]
        rows.append(
            words(
                "dataflow.speed_row" if speed.stated else "dataflow.speed_row_least",
                chips=numbers.number(speed.chips, words),
                chip=name,
                model=model(speed.model).name,
                weights=speed.weights,
                speed=numbers.tokens_per_second(speed.tokens_per_second, words),
                share=numbers.percent(speed.share, words, digits=2),
            )
        )
    return rows


@cache
def _mechanism(words: Words) -> str:
    """Split published speeds into bandwidth, its use, and tokens a step."""
    by_slug = published_speeds()
    dataflow, gpu = by_slug["sn40l-8b"], by_slug["a100-7b"]
    eager = by_slug["h100-70b"]
    big, bigger = by_slug["sn40l-70b"], by_slug["sn40l-405b"]
    plain, speculative = by_slug["groq-70b"], by_slug["groq-70b-speculative"]
    wafer = by_slug["wse-3-8b"]

    def speed(value: float) -> str:
        rounded = float(f"{value:.3g}")
        return numbers.tokens_per_second(value if value < 1e4 else rounded, words)

    def share(value: float) -> str:
        return numbers.percent(value, words, digits=2)

    def times(value: float) -> str:
        return numbers.multiple(value, words)

    more, better = dataflow.bandwidth / gpu.bandwidth, dataflow.share / gpu.share
    return words(
        "dataflow.mechanism",
        speed=speed(dataflow.tokens_per_second),
        bound=speed(dataflow.bound),
        share=share(dataflow.share),
        gpu_share=share(gpu.share),
        eager_share=share(eager.share),
        bandwidth=numbers.bytes_per_second(dataflow.bandwidth, words),
        gpu_bandwidth=numbers.bytes_per_second(gpu.bandwidth, words),
        both=times(more * better),
        more=times(more),
        better=times(better),
        big=speed(big.tokens_per_second),
        big_bound=speed(big.bound),
        bigger=speed(bigger.tokens_per_second),
        bigger_bound=speed(bigger.bound),
        big_tokens=numbers.number(big.share, words, digits=2),
        bigger_tokens=numbers.number(bigger.share, words, digits=2),
        plain=speed(plain.tokens_per_second),
        speculative=speed(speculative.tokens_per_second),
        groq_chips=numbers.chip_count(plain.chips, words),
        wafer=speed(wafer.tokens_per_second),
        wafer_bound=speed(wafer.bound),
        wafer_share=share(wafer.share),
    )


def _honest(flowing: Flowing, write: dict[str, list[str]], words: Words) -> list[str]:
    known = words.each("dataflow.cache", write)
    unknown = [words("dataflow.no_cache_figure")] * len(flowing.points)
    write = write | {"cache": unknown if flowing.on_chip is None else known}
    return pick(
        flowing.case.fits,
        words.each("dataflow.honest", write),
        words.each("dataflow.honest_untimed", write),
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
        "engine": same(numbers.seconds(TYPICAL.launch_seconds, words, digits=2, trim=True)),
        "twice_kernels": numbers.multiple(case.timed(twice[0]), words, digits=3),
        "twice_streamed": numbers.multiple(case.timed(twice[3]), words, digits=3),
        "published": same(
            " → ".join(
                numbers.number(value, words, digits=4, trim=True) for value in tiers.PUBLISHED
            )
        ),
    }
