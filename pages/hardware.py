"""The page on hardware: what each phase wants of a chip (S6, S7, S8, S9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pages.shared import colours, numbers
from pages.shared.case import Case, or_misfit, pick
from pages.shared.controls import chip_text
from pages.shared.figures import chip_map, race
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
from pages.shared.scenario import Scenario
from pages.shared.sources import Source
from physics.chips import Chip, chip, chips
from physics.isolines import isolines
from physics.machine import machine
from physics.memory import bytes_short
from physics.race import Answer, answer, either, overtaken_at
from physics.sensitivity import FIGURES, decode_work, prefill_work

MORE = 1.1
"""How many times the figure is whose gain is said: ten percent more."""
MOMENTS = 150
NARROWEST = 0.08
"""A bar of a smaller elasticity has no room for its number."""


@dataclass(frozen=True)
class Runner:
    """One of the two chips with the answers it gives at each point.

    Attributes
    ----------
    chip : Chip
    answer : Answer or None
        None where several such chips cannot be joined.
    fits : ndarray of bool
    """

    chip: Chip
    answer: Answer | None
    fits: np.ndarray

    def timed(self, name: str) -> np.ndarray:
        """Return a time of the answer, NaN where it does not fit."""
        if self.answer is None:
            return np.full(self.fits.shape, np.nan)
        return np.where(self.fits, getattr(self.answer, name), np.nan)


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
                    _map_texts(words),
                    catalogue,
                    [chip_text(item, words) for item in catalogue],
                    words.separators,
                    unnamed=(scenario.chip, scenario.versus),
                ),
                race.skeleton(_race_texts(words), words.separators, show_all=show_all),
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
        runners = _runners(case)
        write = _write(case, runners, words)
        own, other = case.chip, runners[1].chip
        lines, load = _lines(case)
        misfits, short = case.misfit(words), case.short_misfit(words)
        mine: Answer = runners[0].answer
        shares = [
            np.where(some, work.elasticities(), np.nan)
            for work, some in ((mine.prefill, case.fits), (mine.decode, _decodes(case)))
        ]

        def told(key: str) -> list[str]:
            return _told(case, key, write, words)

        lanes = _lanes(runners, points.output, _lane_texts(runners, write, words))
        return {
            **chip_map.columns(
                *lines,
                load,
                (own.bf16_flop_per_second, own.bandwidth),
                (points.flops * 1e12, points.bandwidth * 1e9),
                (other.bf16_flop_per_second, other.bandwidth),
                write["here"],
                other.name,
                _map_texts(words),
            ),
            **race.columns(*shares, _share_texts(shares, words), lanes),
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
            "t/sentence": or_misfit(told("sentence"), misfits),
            "t/measured": Same(measured_html(words)),
            "t/formula": or_misfit(told("formula"), misfits),
            "t/honest": _honest(case, write, words),
            "t/takeaway": or_misfit(told("takeaway"), misfits),
            "t/alt_chip_map": or_misfit(
                pick(points.output > 1, words.each("hardware.alt_map", write), told("sentence")),
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
        runners = _runners(case)
        ends = np.concatenate(
            [runner.timed(name) for runner in runners for name in ("ttft_seconds", "e2e_seconds")]
        )
        ends = ends[np.isfinite(ends)]
        if not ends.size:
            return Timeline([0.0], [""], {})
        seconds = np.unique(np.concatenate([np.linspace(0, ends.max(), MOMENTS), ends]))
        write = _times(case, runners, words)
        lanes = _lanes(runners, case.points.output, _lane_texts(runners, write, words))
        running = [
            _running_texts(case, runner, lane.texts[0], seconds, name, words)
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


def _told(case: Case, key: str, write: dict[str, list[str]], words: Words) -> list[str]:
    """Return a text of the page; another one where an answer of one token has no decode."""
    return pick(
        case.points.output > 1,
        words.each(f"hardware.{key}", write),
        words.each(f"hardware.{key}_single", write),
    )


def _honest(case: Case, write: dict[str, list[str]], words: Words) -> list[str]:
    shares = _told(case, "honest_shares", write, words)
    lines = [
        words.each("hardware.honest_corners", write),
        pick(case.fits, shares, [""] * len(case.points)),
        words.each("hardware.honest_lines", write),
    ]
    return [" ".join(filter(None, row)) for row in zip(*lines, strict=True)]


def _map_texts(words: Words) -> chip_map.Texts:
    return chip_map.Texts(
        peak_axis=words("hardware.peak_axis"),
        bandwidth_axis=words("hardware.bandwidth_axis"),
        ttft="TTFT",
        tpot="TPOT",
        here=words("term.here"),
        versus=words("controls.versus"),
        ttft_times=numbers.seconds(chip_map.TTFT_SECONDS, words, trim=True),
        tpot_times=numbers.seconds(chip_map.TPOT_SECONDS, words, trim=True),
    )


def _race_texts(words: Words) -> race.Texts:
    return race.Texts(
        shares=words("hardware.shares"),
        race=words("hardware.race"),
        time_axis=words("axis.time"),
        ttft="TTFT",
        tpot="TPOT",
        compute=words("hardware.compute"),
        bandwidth=words("hardware.bandwidth"),
        link=words("bound.communication"),
        launch=words("hardware.fixed"),
        prefill=words("phase.prefill"),
        decode=words("phase.decode"),
        mark=words("hardware.mark"),
    )


def _runners(case: Case) -> tuple[Runner, Runner]:
    """Compute the scenario's chip as the sliders have it, and the second one as it is."""
    points, second = case.points, chip(case.points.versus)
    load = {name: getattr(points, name) for name in ("prompt", "output", "batch")}

    def answered(on) -> Answer:
        return answer(case.architecture, on, **load, **case.formats)

    first = Runner(case.chip, answered(case.machine), case.fits)
    if points.tp > 1 and second.link is None:
        return first, Runner(second, None, np.zeros(len(points), dtype=bool))
    on = machine(
        second,
        weights=points.weights,
        architecture=case.architecture,
        tp=points.tp,
        efficiency=points.efficiency,
        engine=points.engine,
    )
    short = bytes_short(
        case.architecture, on, batch=points.batch, tokens=case.tokens, **case.formats
    )
    return first, Runner(second, answered(on), short == 0)


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


def _share_texts(shares: Sequence[np.ndarray], words: Words) -> list[list[list[str]]]:
    """Return for each figure what stands in its bars: TTFT's and TPOT's elasticity."""
    texts = []
    for pair in zip(*shares, strict=True):
        said = [numbers.number(np.round(share, 2), words, digits=2, trim=True) for share in pair]
        wide = [share >= NARROWEST for share in pair]
        blank = [""] * len(said[0])
        columns = (pick(some, text, blank) for some, text in zip(wide, said, strict=True))
        texts.append([list(row) for row in zip(*columns, strict=True)])
    return texts


def _own_names(case: Case, words: Words) -> list[str]:
    """Return the name of the scenario's chip at each point: said where its figures are moved."""
    own, points = case.chip, case.points
    same = np.isclose(points.bandwidth * 1e9, own.bandwidth, rtol=1e-9)
    same &= np.isclose(points.flops * 1e12, own.bf16_flop_per_second, rtol=1e-9)
    moved = words("hardware.moved", chip=own.name)
    return [own.name if some else moved for some in same.tolist()]


def _lane_texts(
    runners: Sequence[Runner], write: dict[str, list[str]], words: Words
) -> list[list[str]]:
    """Say above each lane when the first and the last token come, or why none does."""
    lanes = []
    for key, runner in zip(("own", "other"), runners, strict=True):
        names = write[f"{key}_sign"]
        times = {name: write[f"{key}_{name}"] for name in ("ttft", "e2e")}
        done = words.each("hardware.lane", {"chip": names, **times})
        why = words("hardware.lane_no_link" if runner.answer is None else "misfit.short")
        lanes.append(pick(runner.fits, done, [f"{name}: {why}" for name in names]))
    return lanes


def _running_texts(
    case: Case, runner: Runner, done: str, seconds: np.ndarray, name: str, words: Words
) -> list[str]:
    """Say above a lane, at each moment of the clock, how far it has come."""
    if runner.answer is None or not runner.fits[0]:
        return [done] * len(seconds)
    written = runner.answer.tokens_at(seconds[:, None])[:, 0].astype(int)
    output = int(case.points.output[0])
    texts = words.each(
        "hardware.lane_running",
        {
            "chip": [name] * len(seconds),
            "written": numbers.number(written.tolist(), words),
            "output": [numbers.tokens(output, words)] * len(seconds),
        },
    )
    reading = words("hardware.lane_reading", chip=name)
    return [
        done if count == output else text if count else reading
        for count, text in zip(written.tolist(), texts, strict=True)
    ]


def _write(case: Case, runners: Sequence[Runner], words: Words) -> dict[str, list[str]]:
    points, count = case.points, len(case.points)
    mine: Answer = runners[0].answer
    write: dict[str, list[str]] = {
        "output": numbers.tokens(points.output, words),
        "peak": numbers.flop_per_second(points.flops * 1e12, words),
        "bandwidth": numbers.bytes_per_second(points.bandwidth * 1e9, words),
        "chips": [numbers.chip_count(points.tp, words)] * count,
        **_times(case, runners, words),
        **_gains(case, mine, words),
        **_parts(case, mine, words),
        **_holding(case, words),
    }
    write["here"] = words.each("hardware.here", write)
    write["race"] = _race_sentences(case, runners, write, words)
    return write


def _times(case: Case, runners: Sequence[Runner], words: Words) -> dict[str, list[str]]:
    """Write the names of both chips, with their signs in the map, and their times."""
    names = _own_names(case, words), [runners[1].chip.name] * len(case.points)
    write = {
        "chip": names[0],
        "versus": names[1],
        "own_sign": words.each("hardware.own_sign", {"chip": names[0]}),
        "other_sign": words.each("hardware.other_sign", {"chip": names[1]}),
    }
    for key, runner in zip(("own", "other"), runners, strict=True):
        for name in ("ttft", "tpot", "e2e"):
            seconds = runner.timed(f"{name}_seconds")
            write[f"{key}_{name}"] = numbers.seconds(seconds, words)
    return write


def _gains(case: Case, mine: Answer, words: Words) -> dict[str, list[str]]:
    """Say what ten percent more, and twice as much, of each figure brings, computed in full."""
    texts = {}
    for phase, work in (("prefill", mine.prefill), ("decode", mine.decode)):
        for figure in FIGURES[:2]:
            gain = case.timed(np.round(work.gain(**{figure: MORE}), 3))
            texts[f"{phase}_{figure}"] = numbers.percent(gain, words, digits=2, trim=True)
            double = case.timed(work.speedup(**{figure: 2.0}))
            texts[f"{phase}_{figure}_double"] = numbers.multiple(double, words, digits=3)
    return texts


def _parts(case: Case, mine: Answer, words: Words) -> dict[str, list[str]]:
    """Write the sums of both times and of their elasticities."""
    texts = {}
    for phase, work in (("prefill", mine.prefill), ("decode", mine.decode)):
        parts, shares = work.parts, np.round(work.elasticities(), 3)
        for figure, seconds, share in zip(FIGURES, parts, shares, strict=True):
            texts[f"{phase}_{figure}_seconds"] = numbers.seconds(case.timed(seconds), words)
            texts[f"{phase}_{figure}_share"] = numbers.number(
                case.timed(share), words, digits=3, trim=True
            )
    texts["decode_seconds"] = numbers.seconds(case.timed(mine.decode.seconds()), words)
    for phase, figure in (
        ("prefill", "bandwidth"),
        ("decode", "compute"),
        ("decode", "link"),
        ("decode", "launch"),
    ):
        share = np.round(getattr(mine, phase).elasticities()[FIGURES.index(figure)], 3)
        texts[f"{phase}_{figure}_percent"] = numbers.percent(
            case.timed(share), words, digits=2, trim=True
        )
    return texts


def _holding(case: Case, words: Words) -> dict[str, list[str]]:
    """Say how many chips of the catalogue have the memory for each point."""
    capacities = np.array([item.capacity for item in chips().values()])

    def short(capacity: float | np.ndarray) -> np.ndarray:
        return bytes_short(
            case.architecture,
            replace(case.machine, capacity=capacity),
            batch=case.points.batch,
            tokens=case.tokens,
            **case.formats,
        )

    holding = (short(capacities[:, None]) == 0).sum(axis=0)
    return {
        "holding": numbers.number(holding.tolist(), words),
        "all_chips": [str(len(capacities))] * len(case.points),
        "needed": numbers.bytes_decimal(short(0.0), words),
    }


def _race_sentences(
    case: Case, runners: Sequence[Runner], write: dict[str, list[str]], words: Words
) -> list[str]:
    """Say who wins, how far the other has come by then, and who overtakes whom."""
    mine, other = (runner.answer for runner in runners)
    if other is None:
        return words.each("hardware.race_no_link", write)
    both = runners[0].fits & runners[1].fits
    ends = [runner.timed("e2e_seconds") for runner in runners]
    i_win = ends[0] <= ends[1]
    first_end = np.where(both, np.fmin(*ends), 0.0)
    behind = either(i_win, other, mine).tokens_at(first_end)
    overtaken = overtaken_at(mine, other)
    names = (write["chip"], write["versus"])
    said = write | {
        "winner": pick(i_win, *names),
        "loser": pick(i_win, *names[::-1]),
        "behind": numbers.number(behind.astype(int).tolist(), words),
        "from": numbers.number(
            [int(value) if np.isfinite(value) else 0 for value in overtaken.tolist()], words
        ),
    }
    single = case.points.output <= 1
    ended = pick(
        behind >= 1,
        words.each("hardware.race_ends", said),
        words.each("hardware.race_reading", said),
    )
    turned = words.each("hardware.race_turns", said)
    sentences = pick(
        np.isfinite(overtaken) & ~single,
        turned,
        pick(single, words.each("hardware.race_single", said), ended),
    )
    tie = np.isclose(*ends, rtol=1e-9, atol=0)
    sentences = pick(tie, words.each("hardware.race_tie", said), sentences)
    unheld = words.each("hardware.race_unheld", said)
    return pick(both, sentences, unheld)
