"""Words on memory tiers and on published speeds: what they hold, and what they explain."""

from __future__ import annotations

from functools import cache

import numpy as np

from pages.shared import numbers
from pages.shared.case import pick
from pages.shared.flowing import Flowing
from pages.shared.language import Words
from physics import memory_tiers
from physics.catalogue import model
from physics.chips import chip
from physics.kv_cache import kv_bytes_per_sequence
from physics.published_speeds import published_speeds

MACHINES = ("h100-sxm", "gh200", "sn40l", "groq-lpu", "wse-3")
"""Chips of different memories, compared beside the one picked."""

SPILLS = "sn40l"
"""The chip on which what HBM cannot hold goes to DDR."""


def tier_tables(flowing: Flowing, words: Words) -> list[str]:
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


def speed_rows(words: Words) -> list[str]:
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


def as_published(slug: str, architecture: str, words: Words) -> str:
    """Say what one user gets of a model on chips of a kind, where that was published."""
    return "".join(
        words(
            "dataflow.as_published",
            chips=numbers.number(speed.chips, words),
            chip=chip(slug).name,
            speed=numbers.tokens_per_second(speed.tokens_per_second, words),
        )
        for speed in published_speeds().values()
        if (speed.chip, speed.model) == (slug, architecture) and speed.speculative != "yes"
    )


@cache
def mechanism(words: Words) -> str:
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
