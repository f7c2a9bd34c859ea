"""The words of the page on hardware: what each figure of a chip brings, and who wins the race."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pages.shared import numbers
from pages.shared.case import Case, pick
from pages.shared.figures import chip_map, race
from pages.shared.language import Words
from pages.shared.runners import Runner
from physics.chips import chips
from physics.memory import bytes_short
from physics.race import Answer, either, overtaken_at
from physics.sensitivity import FIGURES

MORE = 1.1
"""How many times the figure is whose gain is said: ten percent more."""
NARROWEST = 0.08
"""A bar of a smaller elasticity has no room for its number."""


def told(case: Case, key: str, write: dict[str, list[str]], words: Words) -> list[str]:
    """Return a text of the page; another one where an answer of one token has no decode."""
    return pick(
        case.points.output > 1,
        words.each(f"hardware.{key}", write),
        words.each(f"hardware.{key}_single", write),
    )


def honest(case: Case, write: dict[str, list[str]], words: Words) -> list[str]:
    """Say where the claims of the page stop being true."""
    shares = told(case, "honest_shares", write, words)
    lines = [
        words.each("hardware.honest_corners", write),
        pick(case.fits, shares, [""] * len(case.points)),
        words.each("hardware.honest_lines", write),
    ]
    return [" ".join(filter(None, row)) for row in zip(*lines, strict=True)]


def map_texts(words: Words) -> chip_map.Texts:
    """Return the words in the map of chips."""
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


def race_texts(words: Words) -> race.Texts:
    """Return the words in the race."""
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


def share_texts(shares: Sequence[np.ndarray], words: Words) -> list[list[list[str]]]:
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


def lane_texts(
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


def running_texts(
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


def written(case: Case, runners: Sequence[Runner], words: Words) -> dict[str, list[str]]:
    """Write the numbers that the texts of the page need, by name."""
    points, count = case.points, len(case.points)
    mine: Answer = runners[0].answer
    write: dict[str, list[str]] = {
        "output": numbers.tokens(points.output, words),
        "peak": numbers.flop_per_second(points.flops * 1e12, words),
        "bandwidth": numbers.bytes_per_second(points.bandwidth * 1e9, words),
        "chips": [numbers.chip_count(points.tp, words)] * count,
        **chip_times(case, runners, words),
        **_gains(case, mine, words),
        **_parts(case, mine, words),
        **_holding(case, words),
    }
    write["here"] = words.each("hardware.here", write)
    write["race"] = _race_sentences(case, runners, write, words)
    return write


def chip_times(case: Case, runners: Sequence[Runner], words: Words) -> dict[str, list[str]]:
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
