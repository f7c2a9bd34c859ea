"""The page on metrics: each drawn where it is measured, on requests that share a machine (S12)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from html import escape

import numpy as np

from pages.shared import colours, numbers
from pages.shared.case import Case, or_misfit, pick
from pages.shared.figures import gap_shares, requests
from pages.shared.language import Words
from pages.shared.player.view import (
    Column,
    Description,
    Readout,
    Section,
    Timeline,
)
from pages.shared.player_words import clock, player_words, sliders
from pages.shared.points import Points, points_from
from pages.shared.scenario import Scenario, own_figures
from pages.shared.sources import Source
from physics.metrics import e2e_with_a_step_too_many, seconds_until_token
from physics.request import request
from physics.schedule import DECODE, PREFILL, Schedule, schedule, staggered
from physics.step import Step, decode

TTFT_TARGET, TPOT_TARGET = 0.45, 0.04
"""Targets of MLPerf Inference v5.0, Llama 2 70B Interactive, for 99 of 100 requests [s]."""

THOUGHTS = 128
"""Tokens of thinking that no user sees, in an example."""

MOMENTS = 120
"""Stops of the clock."""

DEFINED = {
    "ttft": colours.PREFILL.colour,
    "itl": colours.DECODE.colour,
    "tpot": colours.DECODE.colour,
    "e2e": colours.INK,
    "user": colours.DECODE.colour,
    "system": colours.INK,
    "mfu": colours.COMPUTE_ROOF.colour,
    "mbu": colours.BANDWIDTH_ROOF.colour,
    "goodput": colours.INK,
}
"""The metrics, in the order of the table, each in the colour in which it is drawn."""

CONFUSED = ("rate", "mean", "queue", "steps", "first", "counted", "busy", "good")
"""What is often confused, in the order of the table."""


class Metrics:
    """Five requests on one timeline, and what each metric says of them."""

    name = "metrics"
    sliders = ("prompt", "batch", "bandwidth", "flops")
    next = ("batching", "disaggregation", "one-request", "glossary")
    sources = (
        Source(
            "NVIDIA NIM: metrics of LLM inference",
            "https://docs.nvidia.com/nim/benchmarking/llm/latest/metrics.html",
        ),
        Source(
            "Yu et al.: Orca, continuous batching (OSDI 2022)",
            "https://www.usenix.org/conference/osdi22/presentation/yu",
        ),
        Source(
            "Agrawal et al.: Sarathi-Serve, stalls by prefills (2024)",
            "https://arxiv.org/abs/2403.02310",
        ),
        Source("Zhong et al.: DistServe, goodput (2024)", "https://arxiv.org/abs/2401.09670"),
        Source("Chowdhery et al.: PaLM, MFU (2022)", "https://arxiv.org/abs/2204.02311"),
        Source(
            "Databricks: MBU",
            "https://www.databricks.com/blog/llm-inference-performance-engineering-best-practices",
        ),
        Source(
            "MLCommons: targets of MLPerf Inference v5.0, Llama 2 70B Interactive",
            "https://mlcommons.org/2025/04/llm-inference-v5/",
        ),
        Source(
            "A guide that counts one step too many (Baseten)",
            "https://www.baseten.co/blog/llm-transformer-inference-guide/",
        ),
    )

    def describe(self, scenario: Scenario, language: Words) -> Description:
        """Say what stands on the page."""
        words = language
        return Description(
            figures=(
                requests.skeleton(_requests_texts(words), words.separators),
                gap_shares.skeleton(_gap_texts(words), words.separators),
            ),
            readouts=(
                Readout("ttft", words("metrics.name_ttft"), colours.PREFILL.colour),
                Readout("itl", words("metrics.name_itl"), colours.DECODE.colour),
                Readout("user", words("metrics.name_user"), colours.DECODE.colour),
                Readout("system", words("metrics.name_system")),
                Readout("goodput", words("metrics.name_goodput")),
            ),
            sliders=sliders(self.sliders, words),
            play=clock(words),
            words=player_words(words),
            sections=(
                Section(words("metrics.definitions"), html=_definitions(words)),
                Section(words("metrics.confusions"), html=_confusions(words)),
                Section(words("section.honest"), html=_live("metrics.honest", words)),
                Section(words("section.takeaway"), "takeaway"),
            ),
        )

    def columns(self, points: Points, language: Words) -> Mapping[str, Column]:
        """Compute all channels; everything has happened."""
        words, seen = language, _Seen(points)
        case, served, write = seen.case, seen.served, _write(seen, words)
        misfits = case.misfit(words)
        rows = range(requests.COUNT)
        metrics = [words.each(f"metrics.label_{name}", write) for name in _LABELS]
        met_texts = [
            _verdicts(served.ttft_seconds[row], served.tpot_seconds[row], words) for row in rows
        ]
        blank = [""] * len(points)
        if (single := points.output == 1).any():
            for row in (requests.TPOT, requests.ITL, requests.SPEED):
                metrics[row] = pick(single, blank, metrics[row])
        # A space keeps a label off what it stands beside.
        labels = [
            _side_by_side([[f"{numbers.SPACE}{text}" for text in row] for row in texts], case.fits)
            for texts in (metrics, met_texts)
        ]
        uses = [words.each(f"metrics.use_{name}", write) for name in ("mfu", "mbu")]
        return {
            **requests.columns(
                served,
                case.fits,
                *labels,
                pick(case.fits, words.each("metrics.rate_label", write), blank),
                _side_by_side(uses, case.fits),
                _values(requests.time_values(served), case.fits, words),
                _values(requests.rate_values(served), case.fits, words),
            ),
            **gap_shares.columns(
                np.where(case.fits, seen.gaps, np.nan).T,
                _side_by_side([write[name] for name in _GAPS], case.fits & ~single),
            ),
            **{
                f"t/{slot}": or_misfit(texts, case.short_misfit(words))
                for slot, texts in _readouts(single, write, words).items()
            },
            "t/sentence": or_misfit(_sentences(seen, write, words), misfits),
            "t/takeaway": or_misfit(
                pick(
                    single,
                    words.each("metrics.takeaway_single", write),
                    words.each("metrics.takeaway", write),
                ),
                misfits,
            ),
            **{f"t/v_{name}": write[name] for name in _live_names(words)},
            "t/alt_requests": or_misfit(words.each("metrics.alt", write), case.short_misfit(words)),
            "t/alt_gap_shares": or_misfit(
                pick(
                    single,
                    words.each("metrics.sentence_single", write),
                    words.each("metrics.alt_gaps", write),
                ),
                case.short_misfit(words),
            ),
        }

    def timeline(self, scenario: Scenario, language: Words) -> Timeline:
        """Let the requests come and go: what moves with the clock."""
        words, seen = language, _Seen(points_from(scenario, {}))
        if not seen.case.fits[0]:
            return Timeline([0.0], [""], {})
        served = seen.served
        end = float(served.finish.max())
        seconds = np.unique([*np.linspace(0, end, MOMENTS), *served.start[:, 0], end])
        sentences = _what_happens(served, seconds[:-1], words)
        whole = _sentences(seen, _write(seen, words), words)
        return Timeline(
            seconds,
            numbers.seconds(seconds, words),
            {
                **requests.moving_columns(served, seconds),
                "t/sentence": sentences + whole,
            },
        )


VIEW = Metrics()

_LABELS = ("itl", "tpot", "e2e", "ttft", "user")  # in the order of the requests
_GAPS = ("longest", "p99", "mean_tpot", "p50")  # in the order of the rows of `gap_shares`


@dataclass(frozen=True, eq=False)
class _Seen:
    """The requests at some points."""

    points: Points

    @cached_property
    def case(self) -> Case:
        return Case(self.points)

    @cached_property
    def step(self) -> Step:
        """A decode step of one request, in the middle of its answer."""
        case = self.case
        return decode(
            case.architecture,
            case.machine,
            batch=self.points.batch,
            context=case.context,
            **case.formats,
        )

    @cached_property
    def room(self) -> np.ndarray:
        """Requests that memory holds at a time, of those there are."""
        return np.clip(self.case.max_batch // self.points.batch, 1, requests.COUNT)

    @cached_property
    def gaps(self) -> np.ndarray:
        """Longest gap, 99th percentile, mean and median [s], shape (4, points)."""
        longest, p99, median = self.served.gap_quantiles([1.0, 0.99, 0.5])
        return np.stack([longest, p99, self.served.tpot_seconds.mean(axis=0), median])

    @cached_property
    def served(self) -> Schedule:
        case, points = self.case, self.points
        # The traffic is meant for the chip as it is sold: sliders of the chip leave it alone.
        own = case.machine_with(**{k: np.asarray(v) for k, v in own_figures(case.chip).items()})
        load = {"prompt": points.prompt, "output": points.output, "batch": points.batch}
        alone = request(case.architecture, own, **load, **case.formats)
        return schedule(
            case.architecture,
            case.machine,
            arrival=staggered(alone.e2e_seconds, alone.ttft_seconds),
            **load,
            most=self.room,
            **case.formats,
        )


def _requests_texts(words: Words) -> requests.Texts:
    return requests.Texts(
        time_axis=words("metrics.time_axis"),
        rate_axis=words("unit.tokens_per_second"),
        share_axis=words("metrics.use_axis"),
        arrives=words("metrics.arrives"),
        waits=words("metrics.waits"),
        prefill=words("phase.prefill"),
        decode=words("phase.decode"),
        rate=words("metrics.name_system"),
        now=words("one-request.now"),
        mean=words("metrics.mean"),
    )


def _gap_texts(words: Words) -> gap_shares.Texts:
    return gap_shares.Texts(
        gap_axis=words("metrics.gap_axis"),
        gaps="ITL",
        rows=tuple(words(f"metrics.row_{row}") for row in gap_shares.ROWS),
    )


def _side_by_side(texts: list[list[str]], shown: np.ndarray) -> list[list[str]]:
    """Give each point its own list of texts; empty ones where nothing is shown."""
    blank = [""] * len(texts)
    rows = zip(*texts, strict=True)
    return [list(row) if some else blank for row, some in zip(rows, shown.tolist(), strict=True)]


def _values(values: np.ndarray, shown: np.ndarray, words: Words) -> list[list[str]]:
    """Write the values along an axis, shape (values, points); nothing where there is none."""
    written = [
        f"{text}{numbers.SPACE}" for text in numbers.number(values.ravel(), words, trim=True)
    ]
    known = np.isfinite(values) & shown
    return np.where(known, np.reshape(written, values.shape), "").T.tolist()


def _verdicts(ttft: np.ndarray, tpot: np.ndarray, words: Words) -> list[str]:
    """Say whether a request keeps to its targets, or which of them it misses."""
    late = {
        (False, False): words("metrics.in_time"),
        (True, False): words("metrics.late", what="TTFT"),
        (False, True): words("metrics.late", what="TPOT"),
        (True, True): words("metrics.late", what="TTFT, TPOT"),
    }
    missed = zip((ttft > TTFT_TARGET).tolist(), (tpot > TPOT_TARGET).tolist(), strict=True)
    return [late[both] for both in missed]


def _definitions(words: Words) -> str:
    """Write the metrics as a table: name, meaning, formula with live numbers."""
    heads = _heads(("metrics.head_metric", "metrics.head_meaning", "metrics.head_formula"), words)
    rows = []
    for name, colour in DEFINED.items():
        edge = "currentColor" if colour == colours.INK else colour
        rows.append(
            f'<tr><th scope="row" style="border-left: 4px solid {edge}; padding-left: 0.6rem">'
            f"{escape(words(f'metrics.name_{name}'))}</th>"
            f"<td>{words(f'metrics.meaning_{name}')}</td>"
            f"<td>{_live(f'metrics.formula_{name}', words)}</td></tr>"
        )
    return f'<table class="stacked"><thead>{heads}</thead><tbody>{"".join(rows)}</tbody></table>'


def _confusions(words: Words) -> str:
    """Write what is often confused as a table: what is said, and what is so, with live numbers."""
    heads = _heads(("metrics.head_said", "metrics.head_so"), words)
    rows = [
        f'<tr><th scope="row">{escape(words(f"metrics.said_{name}"))}</th>'
        f"<td>{_live(f'metrics.so_{name}', words)}</td></tr>"
        for name in CONFUSED
    ]
    return f'<table class="stacked"><thead>{heads}</thead><tbody>{"".join(rows)}</tbody></table>'


def _heads(keys: Iterable[str], words: Words) -> str:
    return "<tr>" + "".join(f'<th scope="col">{escape(words(key))}</th>' for key in keys) + "</tr>"


def _live(key: str, words: Words) -> str:
    """Return a text whose numbers are slots of the player."""
    names = words.placeholders(key)
    return words(key, **{name: f'<span data-slot="v_{name}"></span>' for name in names})


def _live_names(words: Words) -> list[str]:
    """Return the numbers that the two tables show."""
    keys = [f"metrics.formula_{name}" for name in DEFINED]
    keys += [f"metrics.so_{name}" for name in CONFUSED] + ["metrics.honest"]
    return sorted({name for key in keys for name in words.placeholders(key)})


def _readouts(
    single: np.ndarray, write: dict[str, list[str]], words: Words
) -> dict[str, list[str]]:
    """Return the large numbers; an answer of a single token has no gap."""
    told = {
        slot: words.each(f"metrics.{slot}_readout", write)
        for slot in ("ttft", "itl", "user", "system", "goodput")
    }
    no_gap = [words("metrics.no_gap")] * len(single)
    alone = words.each("metrics.system_readout_single", write)
    others = {"itl": no_gap, "user": no_gap, "system": alone}
    return told | {slot: pick(single, text, told[slot]) for slot, text in others.items()}


def _room_texts(seen: _Seen, write: dict[str, list[str]], words: Words) -> list[str]:
    """Say how many of the requests memory holds at a time."""
    some = pick(
        seen.room < requests.COUNT,
        words.each("metrics.room_some", write),
        [words("metrics.room_all")] * len(seen.points),
    )
    return pick(seen.case.fits, some, [words("metrics.room_none")] * len(seen.points))


def _sentences(seen: _Seen, write: dict[str, list[str]], words: Words) -> list[str]:
    return pick(
        seen.points.output == 1,
        words.each("metrics.sentence_single", write),
        words.each("metrics.sentence", write),
    )


def _what_happens(served: Schedule, seconds: np.ndarray, words: Words) -> list[str]:
    """Say at each moment what the machine does, and who waits."""
    spans = np.searchsorted(served.start[:, 0], seconds, side="right") - 1
    now = numbers.seconds(seconds, words)
    mfu, mbu = (numbers.percent(use[:, 0], words, digits=2) for use in (served.mfu, served.mbu))
    rates = numbers.tokens_per_second(served.output_rate[:, 0], words)
    steps = np.maximum(served.steps[:, 0], 1)
    paces = numbers.seconds(served.seconds[:, 0] / steps, words)
    said = {}
    for span in np.unique(spans).tolist():
        middle = (served.start[span, 0] + served.end[span, 0]) / 2
        came = served.first_token[:, 0] < middle
        under_way = _names(came & (served.finish[:, 0] > middle))
        use = {"mfu": mfu[span], "mbu": mbu[span]}
        if served.kind[span, 0] == PREFILL:
            read = _names(
                (served.prefill_start[:, 0] < middle) & (served.first_token[:, 0] > middle)
            )
            key = "metrics.now_prefill_stalls" if under_way else "metrics.now_prefill"
            said[span] = words(key, read=read, who=under_way, **use)
        elif served.kind[span, 0] == DECODE:
            several = {"who": under_way, "pace": paces[span], "rate": rates[span]}
            key = "metrics.now_decode_alone" if len(under_way) == 1 else "metrics.now_decode"
            said[span] = words(key, **several, **use)
    over = served.end[spans, 0] < seconds
    idle = words("metrics.now_idle")
    return [
        f"<b>{moment}</b>: {idle if rests else said.get(span, idle)}"
        for moment, span, rests in zip(now, spans.tolist(), over.tolist(), strict=True)
    ]


def _names(chosen: np.ndarray) -> str:
    return ", ".join(
        name for name, some in zip(requests.NAMES, chosen.tolist(), strict=True) if some
    )


def _write(seen: _Seen, words: Words) -> dict[str, list[str]]:
    points, case, served = seen.points, seen.case, seen.served
    count, timed = len(points), case.timed

    def seconds(values: np.ndarray) -> list[str]:
        return numbers.seconds(timed(values), words)

    ttft, tpot, e2e = served.ttft_seconds, served.tpot_seconds, served.e2e_seconds
    longest, p99, mean, median = seen.gaps
    steps = np.maximum(points.output - 1, 0)
    sequences = (requests.COUNT * points.batch).astype(int)
    met = served.meets(TTFT_TARGET, TPOT_TARGET).sum(axis=0)
    stall = np.diff([moment[requests.ITL] for moment in served.longest_gap], axis=0)[0]
    c_ttft, c_tpot = ttft[requests.E2E], tpot[requests.E2E]
    wrong = e2e_with_a_step_too_many(
        ttft_seconds=c_ttft, tpot_seconds=c_tpot, output_tokens=points.output
    )
    thought = seconds_until_token(ttft_seconds=c_ttft, tpot_seconds=c_tpot, token=THOUGHTS + 1)
    batch = numbers.number(points.batch.astype(int).tolist(), words)
    who = {"batch": batch}
    write = {
        "who": pick(
            points.batch > 1,
            words.each("metrics.groups", who),
            [words("metrics.requests")] * count,
        ),
        "prompt": numbers.tokens(points.prompt, words),
        "output": numbers.tokens(points.output, words),
        "steps": numbers.number(steps.astype(int).tolist(), words),
        "sequences": numbers.number(sequences.tolist(), words),
        "room": numbers.number(np.where(case.fits, seen.room, 0).astype(int).tolist(), words),
        "span": seconds(served.span_seconds),
        "prefill": seconds(served.seconds[0]),
        "least_ttft": seconds(ttft.min(axis=0)),
        "most_ttft": seconds(ttft.max(axis=0)),
        "mean_ttft": seconds(ttft.mean(axis=0)),
        "queue": seconds(served.queue_seconds[requests.TTFT]),
        "ttft": seconds(ttft[requests.TTFT]),
        "ttft_c": seconds(c_ttft),
        "tpot_c": seconds(c_tpot),
        "e2e": seconds(e2e[requests.E2E]),
        # One step of many: three digits would not show it.
        "e2e_wrong": numbers.seconds(timed(wrong), words, digits=5),
        "e2e_right": numbers.seconds(timed(e2e[requests.E2E]), words, digits=5),
        "e2e_b": seconds(e2e[requests.TPOT]),
        "ttft_b": seconds(ttft[requests.TPOT]),
        "tpot": seconds(tpot[requests.TPOT]),
        "mean_tpot": seconds(mean),
        "p50": seconds(median),
        "p99": seconds(p99),
        "longest": seconds(longest),
        "stall": seconds(stall),
        "tpot_e": seconds(tpot[requests.SPEED]),
        "user": numbers.tokens_per_second(
            timed(served.tokens_per_second_user[requests.SPEED]), words
        ),
        "system": numbers.tokens_per_second(timed(served.tokens_per_second), words),
        "system_gap": seconds(served.seconds_per_token),
        "all_tokens": numbers.tokens_per_second(
            timed(served.all_tokens_per_second(points.prompt)), words
        ),
        "times": numbers.multiple(
            timed(served.tokens_per_second / served.tokens_per_second_user[requests.SPEED]), words
        ),
        "flop": numbers.flop(served.flop.sum(axis=0), words),
        "bytes": numbers.bytes_decimal(served.bytes.sum(axis=0), words),
        "peak": numbers.flop_per_second(np.asarray(case.machine.peak) * points.tp, words),
        "bandwidth": numbers.bytes_per_second(points.bandwidth * 1e9 * points.tp, words),
        "mfu": numbers.percent(timed(served.mean_mfu), words, digits=2),
        "mbu": numbers.percent(timed(served.mean_mbu), words, digits=2),
        "decode_mfu": numbers.percent(timed(seen.step.mfu), words, digits=2),
        "decode_mbu": numbers.percent(timed(seen.step.mbu), words, digits=2),
        "prefill_mfu": numbers.percent(timed(served.mfu[0]), words, digits=2),
        "met": pick(
            case.fits,
            numbers.number((met * points.batch).astype(int).tolist(), words),
            [numbers.NONE] * count,
        ),
        "goodput": numbers.number(timed(served.goodput(TTFT_TARGET, TPOT_TARGET)), words),
        "completed": numbers.number(timed(served.requests_per_second), words),
        "ttft_target": [numbers.seconds(TTFT_TARGET, words)] * count,
        "tpot_target": [numbers.seconds(TPOT_TARGET, words, trim=True)] * count,
        "thoughts": [numbers.number(THOUGHTS, words)] * count,
        "thought": seconds(thought),
    }
    write["room_text"] = _room_texts(seen, write, words)
    write["stall_text"] = pick(
        served.stalls,
        words.each("metrics.stalls", write),
        words.each("metrics.stalls_none", write),
    )
    return write
