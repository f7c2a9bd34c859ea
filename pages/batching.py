"""The page on batching: one reading of the weights for many, at each user's expense (S10)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pages.shared import colours, numbers
from pages.shared.batch_sweep import BatchSweep, as_sold, curves, short_name
from pages.shared.case import Case, or_misfit, pick, whole
from pages.shared.figures import pareto, step_time, use_of_peaks
from pages.shared.language import Words
from pages.shared.player.view import Column, Description, Readout, Section, Sweep
from pages.shared.player_words import player_words, sliders
from pages.shared.points import Points, points_from
from pages.shared.scenario import Scenario
from pages.shared.sources import Source
from physics.batching import (
    PARTS,
    chip_tokens_per_second,
    kv_overtakes_weights_batch,
    seconds_by_part,
    system_tokens_per_second,
    user_tokens_per_second,
)
from physics.cost import cost_per_million_tokens, energy_per_token
from physics.kv_cache import kv_bytes_per_sequence
from physics.machine import read_seconds
from physics.metrics import throughput_gain
from physics.operators import distinct_experts
from physics.request import request

LONG_CONTEXT = 32_768
"""Tokens of the long context that the text speaks of."""


class Batching:
    """Throughput against each user's speed, and where the time of a step goes."""

    name = "batching"
    sliders = ("prompt", "output", "batch", "bandwidth", "flops")
    picks = ("versus", "price")
    next = ("decode-shift", "kv-cache")
    sources = (
        Source(
            "Pope et al.: Efficiently scaling transformer inference (2022)",
            "https://arxiv.org/abs/2211.05102",
        ),
        Source(
            "JAX scaling book, part 7: inference",
            "https://jax-ml.github.io/scaling-book/inference/",
        ),
        Source("Recasens et al.: Mind the memory gap (2025)", "https://arxiv.org/abs/2503.08311"),
        Source(
            "DeepSeek: V3/R1 inference system, its load and its cost (2025)",
            "https://github.com/deepseek-ai/open-infra-index/blob/main/202502OpenSourceWeek/"
            "day_6_one_more_thing_deepseekV3R1_inference_system_overview.md",
        ),
    )

    def describe(self, scenario: Scenario, language: Words) -> Description:
        """Say what stands on the page."""
        words = language
        readouts = [
            Readout("user", words("batching.user"), colours.DECODE.colour),
            Readout("system", words("batching.system"), colours.DECODE.colour),
            Readout("room", words("batching.room"), colours.WEIGHTS.colour),
        ]
        if scenario.price is not None:
            readouts.append(Readout("cost", words("batching.cost")))
        return Description(
            figures=(
                pareto.skeleton(_pareto_texts(scenario, words), words.separators),
                step_time.skeleton(_step_texts(words), _parts_of(scenario), words.separators),
                use_of_peaks.skeleton(_use_texts(words), words.separators),
            ),
            readouts=readouts,
            sliders=sliders(self.sliders, words),
            play=Sweep(self.sliders, "batch"),
            words=player_words(words),
            sections=(
                Section(words("section.formula"), "formula"),
                Section(words("section.honest"), "honest"),
                Section(words("batching.cost_title"), "costs"),
                Section(words("section.takeaway"), "takeaway"),
            ),
        )

    def columns(self, points: Points, language: Words) -> Mapping[str, Column]:
        """Compute all channels."""
        words, found = language, BatchSweep(Case(points))
        write = _write(found, words)
        misfits = found.case.misfit(words)
        single = points.output == 1
        no_step = [words("batching.no_step")] * len(points)
        short = found.case.short_misfit(words)
        return {
            **pareto.columns(
                curves(found),
                [*(short_name(one) for one in found.others), short_name(found.case.chip)],
                numbers.number([int(mark) for mark in pareto.MARKS], words),
                words.each("batching.wall_label", write),
                words("batching.free"),
            ),
            **step_time.columns(
                np.where(found.some_fit[:, None], found.batches, np.nan),
                np.where(found.some_fit[:, None], seconds_by_part(found.swept), np.nan),
                step_time.Stretches(
                    found.free, found.knee.batch, found.knee.part, found.case.max_batch
                ),
                points.batch,
                found.timed(found.step.seconds_sum),
                _parts_of(points),
                _part_names(words),
                {
                    "free": words.each("batching.free_label", write),
                    "knee": words.each("batching.knee_label", write),
                    "wall": pick(
                        found.some_fit,
                        words.each("batching.wall_label", write),
                        [words("batching.wall_all")] * len(points),
                    ),
                },
            ),
            **use_of_peaks.columns(
                np.where(found.some_fit[:, None], found.batches, np.nan),
                np.where(found.some_fit[:, None], found.swept.mfu, np.nan),
                np.where(found.some_fit[:, None], found.swept.mbu, np.nan),
                points.batch,
                (found.timed(found.step.mbu), found.timed(found.step.mfu)),
                _use_texts(words),
            ),
            "t/user": or_misfit(
                pick(single, no_step, words.each("batching.user_readout", write)), short
            ),
            "t/system": or_misfit(
                pick(single, no_step, words.each("batching.system_readout", write)), short
            ),
            "t/room": pick(
                found.some_fit, words.each("batching.room_readout", write), write["room"]
            ),
            "t/sentence": or_misfit(_sentences(found, write, words), misfits),
            "t/formula": or_misfit(
                pick(
                    single,
                    [words("batching.single")] * len(points),
                    words.each("batching.formula", write),
                ),
                misfits,
            ),
            "t/honest": _honest(found, write, words),
            "t/takeaway": pick(found.some_fit, words.each("batching.takeaway", write), misfits),
            **{
                f"t/alt_{figure}": or_misfit(
                    pick(
                        single,
                        [words("batching.single")] * len(points),
                        words.each(f"batching.alt_{figure}", write),
                    ),
                    short,
                )
                for figure in ("pareto", "step_time", "use_of_peaks")
            },
            **_costs(found, write, words),
        }


VIEW = Batching()


def _parts_of(asked: Scenario | Points) -> list[str]:
    """Return the parts that can take time in a step."""
    return step_time.stacked(links=asked.tp > 1, launches=asked.efficiency != "ideal")


def _pareto_texts(scenario: Scenario, words: Words) -> pareto.Texts:
    found = BatchSweep(Case(points_from(scenario, {})))
    *others, second = (short_name(one) for one in found.others)
    return pareto.Texts(
        user_axis=words("batching.user_axis"),
        chip_axis=words("batching.chip_axis"),
        own=short_name(found.case.chip),
        versus=second,
        others=others,
        free=words("batching.free"),
        here=words("term.here"),
    )


def _step_texts(words: Words) -> step_time.Texts:
    return step_time.Texts(
        batch_axis=words("axis.batch"),
        time_axis=words("batching.time_axis"),
        parts=_part_names(words),
        free=words("batching.free"),
        knee=words("batching.knee"),
        wall=words("batching.wall"),
        here=words("term.here"),
    )


def _part_names(words: Words) -> dict[str, str]:
    return {part: words(f"batching.part_{part}") for part in PARTS}


def _use_texts(words: Words) -> use_of_peaks.Texts:
    return use_of_peaks.Texts(
        batch_axis=words("axis.batch"),
        share_axis=words("batching.share_axis"),
        mfu=words("batching.mfu"),
        mbu=words("batching.mbu"),
    )


def _sentences(found: BatchSweep, write: dict[str, list[str]], words: Words) -> list[str]:
    points = found.case.points
    told = pick(
        points.batch > 1,
        words.each("batching.sentence", write),
        words.each("batching.sentence_alone", write),
    )
    return pick(points.output > 1, told, [words("batching.single")] * len(points))


def _stages(found: BatchSweep, write: dict[str, list[str]], words: Words) -> list[str]:
    """Say in which stretch the batch stands, and what comes next."""
    batch, room = found.case.points.batch, found.case.max_batch
    before = pick(
        found.knee.batch <= room,
        words.each("batching.stage_bend", write),
        words.each("batching.stage_bend_wall", write),
    )
    bent = pick(batch < found.knee.batch, before, words.each("batching.stage_ruled", write))
    return pick(batch <= found.free, words.each("batching.stage_free", write), bent)


def _honest(found: BatchSweep, write: dict[str, list[str]], words: Words) -> list[str]:
    case, none = found.case, [""] * len(found.case.points)
    told = case.fits & (case.points.output > 1)
    lines = [
        pick(found.some_fit, words.each("batching.honest_free", write), none),
        words.each("batching.honest_kv", write),
        _experts(found, write, words) if case.architecture.experts else none,
        pick(found.some_fit, words.each("batching.honest_wall", write), none),
        pick(told, words.each("batching.honest_prefill", write), none),
        pick(told & (case.points.batch > 1), words.each("batching.honest_concurrent", write), none),
        pick(np.isfinite(found.crossing), words.each("batching.honest_compute", write), none),
    ]
    return [" ".join(filter(None, row)) for row in zip(*lines, strict=True)]


def _experts(found: BatchSweep, write: dict[str, list[str]], words: Words) -> list[str]:
    """Say that a batch touches more experts than one sequence does."""
    return pick(
        found.case.points.batch > 1,
        words.each("batching.honest_experts", write),
        words.each("batching.honest_experts_alone", write),
    )


def _costs(found: BatchSweep, write: dict[str, list[str]], words: Words) -> dict[str, Column]:
    """Return what tokens cost: money where a price is given, energy where a power is known."""
    case, points = found.case, found.case.points
    asked, short = case.request, case.short_misfit(words)
    none = [words("batching.energy_none")] * len(points)
    power = case.chip.power_watt
    if power is not None:
        energy = energy_per_token(
            case.timed(asked.tokens_per_second_system), chips=points.tp, power_watt=power
        )
        write = write | {
            "power": [numbers.number(power, words, trim=True)] * len(points),
            "energy": numbers.number(energy, words),
            "doubt": ["" if case.chip.confidence == "A" else words("batching.energy_doubt")]
            * len(points),
        }
        none = pick(as_sold(case), words.each("batching.energy", write), none)
    if points.price is None:
        money = [words("batching.no_price")] * len(points)
        return {"t/costs": _joined(money, or_misfit(none, short))}
    alone = request(
        case.architecture,
        case.machine,
        prompt=points.prompt,
        output=points.output,
        batch=1,
        **case.formats,
    )
    both = [
        numbers.dollars(
            cost_per_million_tokens(
                case.timed(one.tokens_per_second_system),
                chips=points.tp,
                price_per_chip_hour=points.price,
            ),
            words,
        )
        for one in (asked, alone)
    ]
    write = write | {
        "price": [numbers.dollars(points.price, words)] * len(points),
        "cost": both[0],
        "cost_alone": both[1],
    }
    misfits = case.misfit(words)
    return {
        "t/cost": or_misfit(words.each("batching.cost_readout", write), short),
        "t/costs": or_misfit(_joined(words.each("batching.costs", write), none), misfits),
    }


def _joined(*texts: list[str]) -> list[str]:
    return ["<br>".join(row) for row in zip(*texts, strict=True)]


def _write(found: BatchSweep, words: Words) -> dict[str, list[str]]:
    case, points, step = found.case, found.case.points, found.step
    architecture, count = case.architecture, len(points)
    seconds = found.timed(step.seconds_sum)
    parts = dict(zip(PARTS, seconds_by_part(step), strict=True))
    speed = found.timed(user_tokens_per_second(step))
    chip_speed = found.timed(chip_tokens_per_second(step, points.batch))
    system = found.timed(system_tokens_per_second(step, points.batch))
    speed_alone = user_tokens_per_second(found.swept)[:, 0]
    room, free = case.max_batch, np.minimum(found.free, case.max_batch)
    knee_long = kv_overtakes_weights_batch(
        architecture, context=LONG_CONTEXT, tp=points.tp, **case.formats
    )
    full = read_seconds(case.capacity, case.machine)
    held = kv_bytes_per_sequence(architecture, case.tokens, points.kv, points.tp)
    write = {
        "batch": numbers.number(points.batch.astype(int).tolist(), words),
        "step": numbers.seconds(seconds, words),
        "alone": numbers.seconds(found.alone, words),
        "slower": numbers.percent(seconds / found.alone - 1, words, digits=2),
        "user": numbers.tokens_per_second(speed, words),
        "user_alone": numbers.tokens_per_second(speed_alone, words),
        "system": numbers.tokens_per_second(system, words),
        "per_chip": numbers.tokens_per_second(chip_speed, words),
        "with_prefill": numbers.tokens_per_second(
            case.timed(case.request.tokens_per_second_system), words
        ),
        "gain": numbers.multiple(throughput_gain(system, speed_alone), words),
        "with_newcomers": numbers.seconds(found.timed(found.steady.tpot_seconds), words),
        "ttft": numbers.seconds(case.timed(case.request.ttft_seconds), words),
        "free": numbers.number(whole(free), words),
        "room": numbers.number(whole(room), words),
        "knee": numbers.number(whole(found.knee.batch), words),
        "ruler": [words(f"batching.ruler_{part}") for part in found.knee.part],
        "short_ruler": [words(f"batching.rules_{part}") for part in found.knee.part],
        "crossing": numbers.number(whole(found.crossing), words),
        "knee_long": numbers.number(whole(knee_long[None]) * count, words),
        "long": [numbers.tokens(LONG_CONTEXT, words)] * count,
        "kv_each": numbers.bytes_decimal(found.swept.kv_bytes[:, 0], words),
        "held": numbers.bytes_decimal(held, words),
        "weights_read": numbers.bytes_decimal(step.weight_bytes, words),
        "weights_alone": numbers.bytes_decimal(found.swept.weight_bytes[:, 0], words),
        "stored": [numbers.bytes_decimal(case.weight_bytes, words)] * count,
        "capacity": [numbers.bytes_decimal(case.capacity, words)] * count,
        "full": numbers.seconds(full, words),
        "chips": [numbers.chip_count(points.tp, words)] * count,
        "mfu": numbers.percent(found.timed(step.mfu), words, digits=2),
        "mbu": numbers.percent(found.timed(step.mbu), words, digits=2),
        **{f"{part}_seconds": numbers.seconds(found.timed(parts[part]), words) for part in PARTS},
        **{
            f"{part}_share": numbers.percent(
                found.timed(parts[part] / step.seconds_sum), words, digits=2
            )
            for part in PARTS
        },
    }
    if architecture.experts:
        experts = architecture.experts
        touched = distinct_experts(experts.experts, experts.top_k, points.batch)
        write |= {
            "experts": [str(experts.experts)] * count,
            "top_k": [str(experts.top_k)] * count,
            "touched": numbers.number(touched, words, digits=3, trim=True),
        }
    some_free = free > 1
    for name in ("free_alone", "free_honest", "free_takeaway", "free_readout"):
        write[name] = pick(
            some_free,
            words.each(f"batching.{name}", write),
            [words(f"batching.{name}_none")] * count,
        )
    # What a step spends most on, besides the caches: in a typical machine often its launches.
    others = [part for part in PARTS if part != "kv_cache"]
    largest = np.argmax([parts[part] for part in others], axis=0).tolist()
    write["largest"] = [words(f"batching.part_{others[index]}") for index in largest]
    write["largest_share"] = [
        write[f"{others[index]}_share"][point] for point, index in enumerate(largest)
    ]
    write["shares"] = words.each("batching.shares", write)
    write["stage"] = _stages(found, write, words)
    write["knee_text"] = pick(
        found.knee.batch <= room,
        words.each("batching.knee_text", write),
        [words("batching.knee_beyond")] * count,
    )
    summands = [words.each(f"batching.sum_{part}", write) for part in _parts_of(points)]
    write["sum"] = [" + ".join(row) for row in zip(*summands, strict=True)]
    return write
