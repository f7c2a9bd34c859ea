"""The words of a comparison of services: which side wins, why, and where that stops being true."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

import numpy as np

from pages.shared import colours, numbers
from pages.shared.case import Case
from pages.shared.language import Words
from pages.shared.points import points_from
from pages.shared.scenario import Scenario
from pages.shared.serving.services import Question
from physics.chips import chip
from physics.serving.contest import Standing, enough
from physics.serving.design import KINDS, kv_bytes_per_second, prefill_per_decode_instance
from physics.serving.times import LONGEST

SLOW_LINK = 1.25
"""10 Gbit/s Ethernet [GB/s]."""


def refusal(scenario: Scenario, words: Words) -> str:
    """Say in HTML why a scenario cannot be simulated; '' if it can."""
    spread = scenario.lengths == "spread"
    tokens = scenario.prompt + scenario.output
    longest = LONGEST // 4
    if tokens > longest:
        most = numbers.tokens(longest, words)
        return escape(words("disaggregation.too_long", most=most))
    other = chip(scenario.versus)
    split = scenario.decode_chip == "versus"
    if split and scenario.tp > 1 and other.link is None:
        return escape(words("disaggregation.no_link", chip=other.name))
    if spread:
        tokens = Question.of(scenario).asked().longest
    prompt = {"prompt": [tokens - scenario.output]}
    case = Case(points_from(scenario.replaced(batch=1), prompt))
    if not case.fits[0]:
        return _spread_misfit(case, tokens, words) if spread else case.misfit(words)[0]
    if split:
        there = scenario.replaced(batch=1, chip=scenario.versus)
        case = Case(points_from(there, prompt))
        if not case.fits[0]:
            return escape(
                words(
                    "disaggregation.decode_misfit",
                    chip=other.name,
                    short=numbers.bytes_decimal(float(case.short[0]), words),
                )
            )
    return ""


def _spread_misfit(case: Case, tokens: int, words: Words) -> str:
    return escape(
        words(
            "disaggregation.spread_misfit",
            tokens=numbers.tokens(tokens, words),
            short=numbers.bytes_decimal(float(case.short[0]), words),
            memory=numbers.bytes_decimal(case.capacity, words),
        )
    )


def hardware(scenario: Scenario, kind: str, words: Words) -> str:
    """Say which chips a design has, and what they do."""
    name, other = chip(scenario.chip).name, chip(scenario.versus).name
    pools = (scenario.prefill_pool, scenario.decode_pool)
    if kind != "disaggregated":
        return words(
            "disaggregation.chips_both",
            chips=numbers.number(sum(pools) * scenario.tp, words),
            chip=name,
            instances=instances(sum(pools), words),
        )
    key = (
        "disaggregation.chips_two"
        if scenario.decode_chip == "versus"
        else ("disaggregation.chips_split")
    )
    return words(
        key,
        chips=numbers.number(sum(pools) * scenario.tp, words),
        chip=name,
        other=other,
        prefill_chips=numbers.number(pools[0] * scenario.tp, words),
        decode_chips=numbers.number(pools[1] * scenario.tp, words),
        prefill=instances(pools[0], words),
        decode=instances(pools[1], words),
    )


def instances(count: int, words: Words) -> str:
    """Write a number of instances."""
    return words.plural("disaggregation.instances", count)


def readouts(own: Standing, words: Words) -> str:
    """Return the large numbers of one side as HTML."""
    shown = (
        ("ttft", numbers.seconds(own.ttft.p99, words), colours.PREFILL.colour),
        ("itl", numbers.seconds(own.itl.p99, words), colours.DECODE.colour),
        ("within", _of(own, words), "inherit"),
    )
    parts = "".join(
        f"<div><dt>{escape(words(f'disaggregation.{name}'))}</dt>"
        f'<dd style="border-color:{colour}">{escape(value)}</dd></div>'
        for name, value, colour in shown
    )
    return f'<dl class="side-readouts">{parts}</dl>'


def _of(own: Standing, words: Words) -> str:
    return words(
        "disaggregation.of",
        goodput=numbers.number(own.goodput, words, digits=2, trim=True),
        rate=numbers.number(own.arrived, words, trim=True),
    )


def sentences(question: Question, stood: Mapping[str, Standing], words: Words) -> str:
    """Say in HTML which side wins, by how much, and what the third design would do."""
    scenario = question.scenario
    left, right = stood[scenario.left], stood[scenario.right]
    said = [_verdict(question, left, right, words)]
    third = [kind for kind in KINDS if kind not in (scenario.left, scenario.right)]
    if left is not right:
        said += [_third(stood[kind], left, right, words) for kind in third]
    return " ".join(said)


def _verdict(question: Question, left: Standing, right: Standing, words: Words) -> str:
    values = {
        "rate": numbers.requests_per_second(question.rate, words, trim=True),
        "left": words(f"disaggregation.name_{left.kind}"),
        "right": words(f"disaggregation.name_{right.kind}"),
        "left_served": numbers.number(left.goodput, words, digits=2, trim=True),
        "right_served": numbers.number(right.goodput, words, digits=2, trim=True),
        "chips": numbers.chip_count(left.chips, words),
    }
    if left is right:
        return words("disaggregation.verdict_same", **values)
    order = sorted((left, right), key=lambda own: KINDS.index(own.kind))
    best = enough([own.goodput for own in order], [own.chips for own in order], left.arrived)
    if best < 0:
        return words("disaggregation.verdict_none", **values)
    winner = order[best]
    loser = order[1 - best]
    simpler = enough(
        [own.goodput for own in reversed(order)], [own.chips for own in order], left.arrived
    )
    values |= {
        "winner": words(f"disaggregation.name_{winner.kind}"),
        "loser": words(f"disaggregation.name_{loser.kind}"),
        "more": numbers.number(winner.goodput, words, digits=2, trim=True),
        "less": numbers.number(loser.goodput, words, digits=2, trim=True),
    }
    # As good as the best in both orders: neither is ahead.
    if best == 0 and simpler == 0:
        return words("disaggregation.verdict_tie", **values)
    return words("disaggregation.verdict_wins", **values)


def why(question: Question, own: Standing, words: Words) -> str:
    """Say what holds a design back, or what carries it."""
    scenario = question.scenario
    return words(
        f"disaggregation.why_{own.kind}_{cause(question, own)}",
        stop=numbers.seconds(own.stop_seconds, words),
        step=numbers.seconds(own.step_seconds, words),
        stops=numbers.number(own.stops, words, digits=2),
        mixed=numbers.seconds(own.mixed_seconds, words),
        usual=numbers.seconds(own.itl.p50, words),
        worst=numbers.seconds(own.itl.p99, words),
        batch=numbers.number(own.decode_batch, words, digits=2),
        busy=numbers.percent(own.prefill_busy, words, digits=2),
        queue=numbers.seconds(own.queue.p99, words),
        late=numbers.percent(1 - own.itl_share, words, digits=2),
        late_first=numbers.percent(1 - own.ttft_share, words, digits=2),
        alone=numbers.seconds(question.alone.ttft_seconds, words),
        ttft=numbers.seconds(own.ttft.p50, words),
        cache=numbers.bytes_decimal(question.alone.kv_bytes, words),
        sent=numbers.seconds(_sent(question), words),
        waited=numbers.seconds(own.transfer.p50, words),
        link_load=numbers.percent(own.link_load, words, digits=2),
        budget=numbers.tokens(scenario.budget, words),
        output=numbers.tokens(scenario.output, words),
        ttft_target=numbers.seconds(question.ttft_target, words, trim=True),
        itl_target=numbers.seconds(question.itl_target, words, trim=True),
    )


def _sent(question: Question) -> float:
    return question.alone.sent_seconds(question.scenario.link * 1e9)


def cause(question: Question, own: Standing) -> str:
    """Return the key of why a design keeps or misses its targets."""
    if question.scenario.output == 1:
        return "single"
    if own.missed == "none":
        return "quiet" if own.kind == "chunked" and np.isnan(own.mixed_seconds) else "keeps"
    if own.missed == "ttft":
        return "prompt" if question.alone.ttft_seconds > question.ttft_target else "queue"
    if own.kind == "disaggregated" and own.link_is_full:
        return "link"
    # A cache that arrives late delays one gap of an answer, and no tenth of all.
    long_steps = own.itl.p90 if own.kind == "disaggregated" else own.step_seconds
    if long_steps > question.itl_target:
        return "step"
    return {"colocated": "stop", "chunked": "mixed", "disaggregated": "gap"}[own.kind]


def _third(third: Standing, left: Standing, right: Standing, words: Words) -> str:
    """Say what the design that is not shown would do."""
    best = max(left.goodput, right.goodput)
    if enough([best, third.goodput], [third.chips] * 2, third.arrived) == 1:
        key = "disaggregation.third_better"
    elif enough([third.goodput, best], [third.chips] * 2, third.arrived) == 0:
        key = "disaggregation.third_as_good"
    else:
        key = "disaggregation.third_less"
    return words(
        key,
        third=words(f"disaggregation.name_{third.kind}"),
        served=numbers.number(third.goodput, words, digits=2, trim=True),
    )


def formula(question: Question, stood: Mapping[str, Standing], words: Words) -> str:
    """Return the four quotients behind the page, with their numbers, as Markdown."""
    one, scenario = question.alone, question.scenario
    split = stood["disaggregated"]
    moved = kv_bytes_per_second(
        scenario.model_architecture(),
        prompt=scenario.prompt,
        rate=question.rate,
        kv=scenario.kv,
    )
    text = words(
        "disaggregation.formula_text",
        prefill=numbers.seconds(one.ttft_seconds, words),
        step=numbers.seconds(one.step_seconds, words),
        steps=numbers.number(one.steps_per_prefill, words),
        cache=numbers.bytes_decimal(one.kv_bytes, words),
        link=numbers.bytes_per_second(scenario.link * 1e9, words, trim=True),
        sent=numbers.seconds(_sent(question), words),
        rate=numbers.requests_per_second(question.rate, words, trim=True),
        moved=numbers.bytes_per_second(moved, words),
        instances=instances(scenario.prefill_pool, words),
        most=numbers.requests_per_second(question.most_prompts, words),
    )
    if not split.decode_batch:
        return text
    balance = prefill_per_decode_instance(
        prefill_seconds=one.ttft_seconds,
        step_seconds=split.step_seconds,
        batch=split.decode_batch,
        output=scenario.output,
    )
    return text + words(
        "disaggregation.formula_balance",
        prefill=numbers.seconds(one.ttft_seconds, words),
        batch=numbers.number(split.decode_batch, words, digits=2),
        batch_step=numbers.seconds(split.step_seconds, words),
        output=numbers.tokens(scenario.output, words),
        balance=numbers.number(balance, words, digits=2),
    )


def honest(question: Question, stood: Mapping[str, Standing], words: Words) -> str:
    """Return where the claim stops being true, as Markdown: only what holds at these numbers."""
    scenario, one = question.scenario, question.alone
    together, chunks, split = (stood[kind] for kind in KINDS)
    slow = SLOW_LINK * 1e9
    values = {
        "both": instances(scenario.prefill_pool + scenario.decode_pool, words),
        "readers": instances(scenario.prefill_pool, words),
        "together_ttft": numbers.seconds(together.ttft.p99, words),
        "split_ttft": numbers.seconds(split.ttft.p99, words),
        "idle": numbers.percent(1 - split.prefill_busy, words, digits=2),
        "budget": numbers.tokens(scenario.budget, words),
        "chunks_itl": numbers.seconds(chunks.itl.p99, words),
        "split_itl": numbers.seconds(split.itl.p99, words),
        "slow": numbers.bytes_per_second(slow, words, trim=True),
        "slow_sent": numbers.seconds(one.sent_seconds(slow), words),
        "slow_most": numbers.requests_per_second(one.most_sent(slow), words),
        "prefill": numbers.seconds(one.ttft_seconds, words),
        "batch": numbers.number(split.decode_batch, words, digits=2),
        "together_batch": numbers.number(together.decode_batch, words, digits=2),
    }
    keys = ["pools"]
    if scenario.output > 1:
        keys.append("chunks" if chunks.itl.p99 > split.itl.p99 else "chunks_enough")
    keys.append("slow" if one.sent_seconds(slow) > one.ttft_seconds else "slow_enough")
    if split.decode_batch > together.decode_batch:
        keys.append("batch")
    keys.append("differ")
    return "\n".join(f"- {words(f'disaggregation.honest_{key}', **values)}" for key in keys)


def takeaway(stood: Mapping[str, Standing], words: Words) -> str:
    """Return the one sentence to keep, as Markdown."""
    together, split = stood["colocated"], stood["disaggregated"]
    smoother = split.itl.p99 < together.itl.p99
    later = split.ttft.p99 > together.ttft.p99
    key = ("bought" if later else "both") if smoother else "nothing"
    return words(
        f"disaggregation.takeaway_{key}",
        together=numbers.seconds(together.itl.p99, words),
        split=numbers.seconds(split.itl.p99, words),
        together_ttft=numbers.seconds(together.ttft.p99, words),
        split_ttft=numbers.seconds(split.ttft.p99, words),
    )


def percentiles(stood: Mapping[str, Standing], words: Words) -> str:
    """Return the percentiles of designs side by side, as a Markdown table."""
    header = ["", *(words(f"disaggregation.short_{kind}") for kind in stood)]
    lines = [f"| {' | '.join(header)} |", "|---|" + "--:|" * len(stood)]
    for name in ("ttft", "itl"):
        for part in ("p50", "p90", "p99"):
            times = [getattr(getattr(own, name), part) for own in stood.values()]
            cells = [f"{name.upper()} {part}", *numbers.seconds(times, words)]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)
