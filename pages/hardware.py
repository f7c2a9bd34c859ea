"""The page on hardware: what each phase wants of a chip (S6, S7, S8, S9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pages.shared import colours, numbers
from pages.shared.case import Case, or_misfit, pick
from pages.shared.controls import chip_text
from pages.shared.figures import chip_map, race
from pages.shared.hardware_words import (
    chip_times,
    honest,
    lane_texts,
    map_texts,
    race_texts,
    running_texts,
    share_texts,
    told,
    written,
)
from pages.shared.language import Words
from pages.shared.measured_devices import (
    DEVICE_SOURCE,
    measured_alts,
    measured_figures,
    measured_html,
)
from pages.shared.player.view import (
    Column,
    Description,
    Readout,
    Same,
    Section,
    Timeline,
)
from pages.shared.player_words import clock, player_words, sliders
from pages.shared.points import Points, points_from
from pages.shared.runners import Runner, two_runners
from pages.shared.scenario import Scenario
from pages.shared.sources import Source
from physics.chips import chips
from physics.isolines import isolines
from physics.race import Answer
from physics.sensitivity import decode_work, prefill_work

MOMENTS = 150


class Hardware:
    """A map of chips under lines of equal time, elasticities, a race, and measured devices."""

    name = "hardware"
    sliders = ("prompt", "output", "batch", "bandwidth", "flops")
    picks = ("versus",)
    next = ("dataflow", "batching", "roofline")
    sources = (
        Source(
            "Patel et al.: Splitwise, phases on different hardware (2023)",
            "https://arxiv.org/abs/2311.18677",
        ),
        Source(
            "JAX scaling book, part 7: inference",
            "https://jax-ml.github.io/scaling-book/inference/",
        ),
        DEVICE_SOURCE,
    )

    def describe(self, scenario: Scenario, language: Words) -> Description:
        """Say what stands on the page."""
        words = language
        catalogue = tuple(chips().values())
        show_all = scenario.tp > 1 or scenario.efficiency != "ideal"
        return Description(
            figures=(
                chip_map.skeleton(
                    map_texts(words),
                    catalogue,
                    [chip_text(item, words) for item in catalogue],
                    words.separators,
                    unnamed=(scenario.chip, scenario.versus),
                ),
                race.skeleton(race_texts(words), words.separators, show_all=show_all),
                *measured_figures(words),
            ),
            readouts=(
                Readout("ttft", words("hardware.ttft"), colours.PREFILL.colour),
                Readout("tpot", words("hardware.tpot"), colours.DECODE.colour),
                Readout("e2e", words("hardware.e2e")),
            ),
            sliders=sliders(self.sliders, words),
            play=clock(words),
            words=player_words(words),
            sections=(
                Section(words("hardware.measured_title"), "measured"),
                Section(words("section.formula"), "formula"),
                Section(words("section.honest"), "honest"),
                Section(words("section.takeaway"), "takeaway"),
            ),
        )

    def columns(self, points: Points, language: Words) -> Mapping[str, Column]:
        """Compute all channels; both answers are complete."""
        words, case = language, Case(points)
        runners = two_runners(case)
        write = written(case, runners, words)
        own, other = case.chip, runners[1].chip
        lines, load = _lines(case)
        misfits, short = case.misfit(words), case.short_misfit(words)
        mine: Answer = runners[0].answer
        shares = [
            np.where(some, work.elasticities(), np.nan)
            for work, some in ((mine.prefill, case.fits), (mine.decode, _decodes(case)))
        ]

        sentence = told(case, "sentence", write, words)
        lanes = _lanes(runners, points.output, lane_texts(runners, write, words))
        return {
            **chip_map.columns(
                *lines,
                load,
                (own.bf16_flop_per_second, own.bandwidth),
                (points.flops * 1e12, points.bandwidth * 1e9),
                (other.bf16_flop_per_second, other.bandwidth),
                write["here"],
                other.name,
                map_texts(words),
            ),
            **race.columns(*shares, share_texts(shares, words), lanes),
            "t/ttft": or_misfit(words.each("hardware.ttft_readout", write), short),
            "t/tpot": or_misfit(
                pick(
                    points.output > 1,
                    words.each("hardware.tpot_readout", write),
                    [words("hardware.no_step")] * len(points),
                ),
                short,
            ),
            "t/e2e": or_misfit(words.each("hardware.e2e_readout", write), short),
            "t/sentence": or_misfit(sentence, misfits),
            "t/measured": Same(measured_html(words)),
            "t/formula": or_misfit(told(case, "formula", write, words), misfits),
            "t/honest": honest(case, write, words),
            "t/takeaway": or_misfit(told(case, "takeaway", write, words), misfits),
            "t/alt_chip_map": or_misfit(
                pick(points.output > 1, words.each("hardware.alt_map", write), sentence),
                short,
            ),
            "t/alt_race": or_misfit(
                pick(points.output > 1, words.each("hardware.alt_race", write), write["race"]),
                short,
            ),
            **{channel: Same(text) for channel, text in measured_alts(words).items()},
        }

    def timeline(self, scenario: Scenario, language: Words) -> Timeline:
        """Let both chips answer: what moves with the clock."""
        words, case = language, Case(points_from(scenario, {}))
        runners = two_runners(case)
        ends = np.concatenate(
            [runner.timed(name) for runner in runners for name in ("ttft_seconds", "e2e_seconds")]
        )
        ends = ends[np.isfinite(ends)]
        if not ends.size:
            return Timeline([0.0], [""], {})
        seconds = np.unique(np.concatenate([np.linspace(0, ends.max(), MOMENTS), ends]))
        write = chip_times(case, runners, words)
        lanes = _lanes(runners, case.points.output, lane_texts(runners, write, words))
        running = [
            running_texts(case, runner, lane.texts[0], seconds, name, words)
            for runner, lane, name in zip(
                runners, lanes, (write["own_sign"][0], write["other_sign"][0]), strict=True
            )
        ]
        return Timeline(
            seconds,
            numbers.seconds(seconds, words),
            race.moving_columns(seconds, lanes, running),
        )


VIEW = Hardware()


def _decodes(case: Case) -> np.ndarray:
    """Say where there is a decode step: the point fits, and its answer has more than one token."""
    return case.fits & (case.points.output > 1)


def _lines(case: Case) -> tuple[list[tuple[np.ndarray, np.ndarray]], np.ndarray]:
    """Return the lines of equal TTFT and TPOT, once for each load, and which load a point has."""
    points = case.points
    loads = np.stack([points.prompt, points.output, points.batch], axis=-1)
    different, load = np.unique(loads, axis=0, return_inverse=True)
    prompt, output, batch = different.T
    unit = case.machine_with(np.float64(1e-9), np.float64(1e-12))
    formats = case.formats
    prefill = prefill_work(case.architecture, unit, prompt=prompt, batch=batch, **formats)
    decode = decode_work(
        case.architecture, unit, prompt=prompt, output=output, batch=batch, **formats
    )
    both = ((prefill, chip_map.TTFT_SECONDS), (decode, chip_map.TPOT_SECONDS))
    return [isolines(work, seconds) for work, seconds in both], load.reshape(-1)


def _lanes(
    runners: Sequence[Runner], output: np.ndarray, texts: Sequence[list[str]]
) -> list[race.Lane]:
    tenths = np.arange(1, race.PARTS)[:, None] / race.PARTS
    tokens = np.maximum(np.ceil(tenths * output), 1)
    lanes = []
    for runner, said in zip(runners, texts, strict=True):
        moments = np.full((len(output), race.PARTS - 1), np.nan)
        if runner.answer is not None:
            come = runner.answer.token_seconds(tokens).T
            moments = np.where(runner.fits[:, None], come, np.nan)
        lanes.append(
            race.Lane(runner.timed("ttft_seconds"), runner.timed("e2e_seconds"), moments, said)
        )
    return lanes
