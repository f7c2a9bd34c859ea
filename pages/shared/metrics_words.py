"""The words of the page on metrics: read-outs, tables, verdicts, what happens at each moment."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

import numpy as np

from pages.shared import colours, numbers
from pages.shared.case import pick
from pages.shared.figures import gap_shares, requests
from pages.shared.five_requests import FiveRequests
from pages.shared.language import Words
from physics.metrics import e2e_with_a_step_too_many, seconds_until_token
from physics.schedule import DECODE, PREFILL, Schedule

TTFT_TARGET, TPOT_TARGET = 0.45, 0.04
"""Targets of MLPerf Inference v5.0, Llama 2 70B Interactive, for 99 of 100 requests [s]."""

THOUGHTS = 128
"""Tokens of thinking that no user sees, in an example."""

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


def requests_texts(words: Words) -> requests.Texts:
    """Return the words in the figure of the requests."""
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


def gap_texts(words: Words) -> gap_shares.Texts:
    """Return the words in the figure of the gaps."""
    return gap_shares.Texts(
        gap_axis=words("metrics.gap_axis"),
        gaps="ITL",
        rows=tuple(words(f"metrics.row_{row}") for row in gap_shares.ROWS),
    )


def written_values(values: np.ndarray, shown: np.ndarray, words: Words) -> list[list[str]]:
    """Write the values along an axis, shape (values, points); nothing where there is none."""
    written = [
        f"{text}{numbers.SPACE}" for text in numbers.number(values.ravel(), words, trim=True)
    ]
    known = np.isfinite(values) & shown
    return np.where(known, np.reshape(written, values.shape), "").T.tolist()


def verdicts(ttft: np.ndarray, tpot: np.ndarray, words: Words) -> list[str]:
    """Say whether a request keeps to its targets, or which of them it misses."""
    late = {
        (False, False): words("metrics.in_time"),
        (True, False): words("metrics.late", what="TTFT"),
        (False, True): words("metrics.late", what="TPOT"),
        (True, True): words("metrics.late", what="TTFT, TPOT"),
    }
    missed = zip((ttft > TTFT_TARGET).tolist(), (tpot > TPOT_TARGET).tolist(), strict=True)
    return [late[both] for both in missed]


def definitions(words: Words) -> str:
    """Write the metrics as a table: name, meaning, formula with live numbers."""
    heads = _heads(("metrics.head_metric", "metrics.head_meaning", "metrics.head_formula"), words)
    rows = []
    for name, colour in DEFINED.items():
        edge = "currentColor" if colour == colours.INK else colour
        rows.append(
            f'<tr><th scope="row" style="border-left: 4px solid {edge}; padding-left: 0.6rem">'
            f"{escape(words(f'metrics.name_{name}'))}</th>"
            f"<td>{words(f'metrics.meaning_{name}')}</td>"
            f"<td>{live(f'metrics.formula_{name}', words)}</td></tr>"
        )
    return f'<table class="stacked"><thead>{heads}</thead><tbody>{"".join(rows)}</tbody></table>'


def confusions(words: Words) -> str:
    """Write what is often confused as a table: what is said, and what is so, with live numbers."""
    heads = _heads(("metrics.head_said", "metrics.head_so"), words)
    rows = [
        f'<tr><th scope="row">{escape(words(f"metrics.said_{name}"))}</th>'
        f"<td>{live(f'metrics.so_{name}', words)}</td></tr>"
        for name in CONFUSED
    ]
    return f'<table class="stacked"><thead>{heads}</thead><tbody>{"".join(rows)}</tbody></table>'


def _heads(keys: Iterable[str], words: Words) -> str:
    return "<tr>" + "".join(f'<th scope="col">{escape(words(key))}</th>' for key in keys) + "</tr>"


def live(key: str, words: Words) -> str:
    """Return a text whose numbers are slots of the player."""
    names = words.placeholders(key)
    return words(key, **{name: f'<span data-slot="v_{name}"></span>' for name in names})


def live_names(words: Words) -> list[str]:
    """Return the numbers that the two tables show."""
    keys = [f"metrics.formula_{name}" for name in DEFINED]
    keys += [f"metrics.so_{name}" for name in CONFUSED] + ["metrics.honest"]
    return sorted({name for key in keys for name in words.placeholders(key)})


def readouts(single: np.ndarray, write: dict[str, list[str]], words: Words) -> dict[str, list[str]]:
    """Return the large numbers; an answer of a single token has no gap."""
    told = {
        slot: words.each(f"metrics.{slot}_readout", write)
        for slot in ("ttft", "itl", "user", "system", "goodput")
    }
    no_gap = [words("metrics.no_gap")] * len(single)
    alone = words.each("metrics.system_readout_single", write)
    others = {"itl": no_gap, "user": no_gap, "system": alone}
    return told | {slot: pick(single, text, told[slot]) for slot, text in others.items()}


def _room_texts(seen: FiveRequests, write: dict[str, list[str]], words: Words) -> list[str]:
    """Say how many of the requests memory holds at a time."""
    some = pick(
        seen.room < requests.COUNT,
        words.each("metrics.room_some", write),
        [words("metrics.room_all")] * len(seen.points),
    )
    return pick(seen.case.fits, some, [words("metrics.room_none")] * len(seen.points))


def sentences(seen: FiveRequests, write: dict[str, list[str]], words: Words) -> list[str]:
    """Say what the metrics say of all five requests."""
    return pick(
        seen.points.output == 1,
        words.each("metrics.sentence_single", write),
        words.each("metrics.sentence", write),
    )


def what_happens(served: Schedule, seconds: np.ndarray, words: Words) -> list[str]:
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


def written(seen: FiveRequests, words: Words) -> dict[str, list[str]]:
    """Write the numbers that the texts of the page need, by name."""
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
