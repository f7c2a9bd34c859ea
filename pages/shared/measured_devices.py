"""Figures and words on measured devices: what bandwidth and what peak compute explain."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np

from pages.shared import numbers
from pages.shared.figures import measured
from pages.shared.language import Words
from pages.shared.player.view import Figure
from pages.shared.sources import Source
from physics.devices import FAMILIES, FIGURES, GDDR, PHASES, Devices, devices
from physics.measurement_sources import measurement_sources

_SOURCE = measurement_sources()["XJDAI"]
DEVICE_SOURCE = Source(_SOURCE.title, _SOURCE.url)

MODEL, FORMAT = "llama-3-8b", "q4_k_m"
NVIDIA = FAMILIES[:3]

_ROWS = (
    ("llama-3-8b", "q4_k_m", "all", FAMILIES),
    ("llama-3-8b", "q4_k_m", "gddr", GDDR),
    ("llama-3-8b", "q4_k_m", "geforce", FAMILIES[:1]),
    ("llama-3-8b", "q4_k_m", "apple", FAMILIES[3:]),
    ("llama-3-8b", "f16", "all", FAMILIES),
    ("llama-3-8b", "f16", "gddr", GDDR),
    ("llama-3-70b", "q4_k_m", "all", FAMILIES),
    ("llama-3-70b", "q4_k_m", "nvidia", NVIDIA),
)
"""The fits of the table: model, format, name of the choice, families."""

_NAMED: Mapping[tuple[str, str], Mapping[str, str]] = {
    ("decode", "bandwidth"): {
        "Apple M1 (7c)": "middle right",
        "Apple M2 Ultra (76c)": "middle right",
        "RTX 4070 Ti": "middle left",
        "RTX 4090": "top center",
        "A100 SXM 80GB": "bottom center",
    },
    ("decode", "peak"): {
        "Apple M1 (7c)": "middle right",
        "Apple M2 Ultra (76c)": "top left",
        "RTX 3090": "top left",
        "RTX 4070 Ti": "bottom center",
        "A100 SXM 80GB": "top center",
    },
    ("prefill", "bandwidth"): {
        "Apple M1 (7c)": "middle right",
        "Apple M2 Ultra (76c)": "middle right",
        "RTX 4070 Ti": "middle left",
        "RTX 4090": "top center",
        "A100 SXM 80GB": "bottom center",
    },
    ("prefill", "peak"): {
        "Apple M1 (7c)": "middle right",
        "Apple M2 Ultra (76c)": "top left",
        "RTX 3090": "middle left",
        "RTX 4090": "top left",
    },
}


def measured_figures(words: Words) -> tuple[Figure, ...]:
    """Return four panels: each phase against each figure of the data sheet."""
    return _figures(words)


@cache
def _figures(words: Words) -> tuple[Figure, ...]:
    measured_now = devices(MODEL, FORMAT)
    axes = {
        "bandwidth": words("hardware.bandwidth_axis"),
        "peak": words("hardware.fp16_axis"),
    }
    titles = {
        ("decode", "bandwidth"): words("hardware.decode_bandwidth_title"),
        ("decode", "peak"): words("hardware.decode_peak_title"),
        ("prefill", "bandwidth"): words("hardware.prefill_bandwidth_title"),
        ("prefill", "peak"): words("hardware.prefill_peak_title"),
    }
    speeds = {
        "decode": words("hardware.decode_axis"),
        "prefill": words("hardware.prefill_axis"),
    }
    return tuple(
        measured.skeleton(
            measured_now,
            phase,
            figure,
            measured.Texts(
                title=titles[phase, figure],
                figure_axis=axes[figure],
                speed_axis=speeds[phase],
                explained=_explained(measured_now, phase, figure, words),
                hover=_hover(measured_now, phase, words),
            ),
            _NAMED[phase, figure],
            words.separators,
        )
        for phase in ("decode", "prefill")
        for figure in FIGURES
    )


def measured_alts(words: Words) -> dict[str, str]:
    """Return what each panel is to those who do not see it, by its channel."""
    return {
        f"t/alt_{panel.name}": panel.spec["layout"]["annotations"][0]["text"].replace("<br>", ": ")
        for panel in _figures(words)
    }


def _explained(some: Devices, phase: str, figure: str, words: Words) -> str:
    cards = some.of(*GDDR)
    return words(
        "hardware.explained",
        cards=_r_squared(cards.fit(phase, figure).r_squared, words),
        cards_count=len(cards),
        all=_r_squared(some.fit(phase, figure).r_squared, words),
        all_count=len(some),
    )


def _hover(some: Devices, phase: str, words: Words) -> list[str]:
    rows = zip(
        some.names,
        numbers.tokens_per_second(getattr(some, phase), words),
        numbers.bytes_per_second(some.bandwidth, words, trim=True),
        numbers.flop_per_second(some.peak, words, trim=True),
        some.checked.tolist(),
        strict=True,
    )
    return [
        words(
            "hardware.device" if checked else "hardware.device_unchecked",
            name=name,
            speed=speed,
            bandwidth=bandwidth,
            peak=peak,
        )
        for name, speed, bandwidth, peak, checked in rows
    ]


@cache
def measured_html(words: Words) -> str:
    """Return what the measurements say, with a table of R², as HTML."""
    small, whole, large = (
        devices(MODEL, FORMAT),
        devices(MODEL, "f16"),
        devices("llama-3-70b", "q4_k_m").of(*NVIDIA),
    )
    cards, apple = small.of(*GDDR), small.of("apple")

    def explained(some: Devices, phase: str, figure: str, *, power: bool = True) -> str:
        return _r_squared(some.fit(phase, figure, power=power).r_squared, words)

    def change(column: str) -> str:
        more = whole.more("RTX 4080", "RTX 3090", column)
        return numbers.percent(abs(more), words, digits=2)

    return words(
        "hardware.measured",
        count=len(small),
        cards_count=len(cards),
        decode_bandwidth=explained(cards, "decode", "bandwidth"),
        decode_peak=explained(cards, "decode", "peak"),
        prefill_bandwidth=explained(cards, "prefill", "bandwidth"),
        prefill_peak=explained(cards, "prefill", "peak"),
        more_peak=change("peak"),
        less_bandwidth=change("bandwidth"),
        faster=change("prefill"),
        slower=change("decode"),
        mixed_peak=explained(small, "decode", "peak", power=False),
        mixed_bandwidth=explained(small, "decode", "bandwidth", power=False),
        apple_count=len(apple),
        together=_r_squared(apple.collinearity().r_squared, words),
        large_count=len(large),
        large_bandwidth=explained(large, "decode", "bandwidth"),
        large_peak=explained(large, "decode", "peak"),
        unchecked=int(np.sum(~small.checked)),
        table=_table(words),
    )


def _table(words: Words) -> str:
    phases = {"prefill": words("phase.prefill"), "decode": words("phase.decode")}
    against = {
        "bandwidth": words("hardware.against_bandwidth"),
        "peak": words("hardware.against_peak"),
    }
    heads = [
        words("hardware.table_devices"),
        *(f"{phases[phase]}, {against[figure]}" for phase in PHASES[::-1] for figure in FIGURES),
        words("hardware.table_together"),
    ]
    body = "".join(_table_row(*row, words) for row in _ROWS)
    top = "".join(f'<th scope="col">{head}</th>' for head in heads)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def _table_row(
    model: str, weight_format: str, key: str, families: tuple[str, ...], words: Words
) -> str:
    some = devices(model, weight_format).of(*families)
    name = words(
        "hardware.table_row",
        model=model.replace("llama-3-", "Llama 3 ").upper().replace("LLAMA", "Llama"),
        format=weight_format.upper(),
        kind=words(f"hardware.kind_{key}", count=len(some)),
    )
    cells = [
        f"{_r_squared(some.fit(phase, figure).r_squared, words)} / "
        f"{_r_squared(some.fit(phase, figure, power=False).r_squared, words)}"
        for phase in PHASES[::-1]
        for figure in FIGURES
    ]
    cells.append(_r_squared(some.collinearity().r_squared, words))
    head = f'<th scope="row" style="font-weight: 400">{name}</th>'
    return f"<tr>{head}{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _r_squared(value: float, words: Words) -> str:
    return numbers.number(round(value, 2), words, digits=2)
