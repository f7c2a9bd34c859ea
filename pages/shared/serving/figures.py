"""The figures of a comparison of services with their words; a pinned one stands in as a ghost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

import numpy as np
import streamlit as st

from pages.shared import colours, numbers
from pages.shared.figures import serving as figures
from pages.shared.figures import serving_ghosts as ghosts
from pages.shared.language import Words
from pages.shared.serving.controls import REQUEST, design_picker
from pages.shared.serving.job import finished, job
from pages.shared.serving.services import (
    MOST_TOKENS,
    Judged,
    Map,
    Question,
    curve,
    drawing_map,
    map_key,
    simulated,
    simulating,
)
from pages.shared.serving.words import hardware, percentiles, readouts, why
from pages.shared.state import Session, store_values
from physics.serving.contest import SUSTAINED, standing
from physics.serving.design import KINDS
from physics.serving.result import Result
from physics.serving.traffic import SEED

SIDES = ("left", "right")
MORE = 10
"""How many times as many requests are simulated on demand."""

ARRIVALS_SHOWN = 12
FEWEST_STEPS, MOST_STEPS = 60, 400
"""The stretch of time that is drawn: so many arrivals, within so many decode steps."""

BEFORE_SHARE = 0.02
"""The request that is looked at arrives this part of the stretch after its start."""


@dataclass(frozen=True)
class Looked(Judged):
    """A comparison with what was simulated of each design, by the design's kind."""

    seen: Mapping[str, Result]


def look(question: Question) -> Looked:
    """Simulate all three designs, or take the longer simulation where one was asked for."""
    services = [question.service(kind) for kind in KINDS]
    more = finished("more", _more_key(question))
    if more is None:
        more = [simulated(service, question.asked()) for service in services]
    seen = dict(zip(KINDS, more, strict=True))
    stood = {kind: standing(result, question.targets) for kind, result in seen.items()}
    return Looked(question, stood, seen)


def _more_key(question: Question) -> tuple[object, ...]:
    services = tuple(question.service(kind) for kind in KINDS)
    return (*services, question.asked())


def sides(now: Looked | None, pinned: Looked | None, session: Session) -> None:
    """Draw both designs in time, with their read-outs and what holds them back."""
    words, scenario = session.words, session.scenario
    chosen = {side: getattr(scenario, side) for side in SIDES}
    window = gaps = None
    if now:
        window, gaps = _window(now.question, [now.seen[kind] for kind in chosen.values()])
    with st.container(key="disaggregation_sides"):
        for column, side in zip(st.columns(2, gap="medium"), SIDES, strict=True):
            with column:
                design_picker(side, chosen[side], words)
                st.html(f'<p class="details">{escape(hardware(scenario, chosen[side], words))}</p>')
                if not now:
                    continue
                own = now.stood[chosen[side]]
                st.html(readouts(own, words))
                reason = why(now.question, own, words)
                figure = figures.timeline(
                    now.seen[chosen[side]],
                    gaps[SIDES.index(side)],
                    window,
                    figure_texts(now.question, words),
                    words.separators,
                )
                if pinned:
                    ghost = _ghost(getattr(pinned.question.scenario, side), words)
                    other = pinned.seen[ghost.kind]
                    separate = (window.end - window.start) * BEFORE_SHARE
                    ghosts.on_timeline(figure, other, window, separate, ghost)
                _chart(figure, f"disaggregation_{side}", alt=reason)
                st.html(f'<p class="why">{escape(reason)}</p>')


def _chart(figure: object, key: str, *, alt: str) -> None:
    """Show a figure; `alt` says what it shows to those who do not see it."""
    st.plotly_chart(figure, key=key, config={"displayModeBar": False}, alt=alt)


def _ghost(kind: str, words: Words) -> ghosts.Ghost:
    name = words(f"disaggregation.short_{kind}")
    return ghosts.Ghost(kind, f"{words('compare.legend')}: {name}")


def _window(question: Question, seen: list[Result]) -> tuple[figures.Window, list[figures.Gaps]]:
    """Return the stretch of time that is drawn, from the arrival of one request on."""
    key, count = REQUEST, len(seen[0])
    request = min(int(st.session_state.get(key, count // 2)), count) - 1
    step = question.alone.step_seconds
    lasts = np.clip(ARRIVALS_SHOWN / question.rate, FEWEST_STEPS * step, MOST_STEPS * step)
    lasts = max(float(lasts), 2 * question.alone.ttft_seconds)
    start = float(seen[0].arrival[request]) - lasts * BEFORE_SHARE
    gaps = [figures.gaps_between(one, start, start + lasts) for one in seen]
    top = figures.highest_gap(gaps, question.itl_target)
    rows = max(map(figures.row_count, seen))
    return figures.Window(start, start + lasts, request, top, question.itl_target, rows), gaps


def figure_texts(question: Question, words: Words) -> figures.Texts:
    """Return the words in the timelines."""
    return figures.Texts(
        prefill=words("phase.prefill"),
        decode=words("phase.decode"),
        transfer=words("disaggregation.transfer"),
        arrival=words("disaggregation.arrival"),
        gap=words("disaggregation.gap"),
        chosen=words("disaggregation.chosen"),
        target=words(
            "disaggregation.target_two_lines",
            time=numbers.seconds(question.itl_target, words, trim=True),
        ),
        time_axis=words("disaggregation.time_axis"),
        gap_axis=words("disaggregation.gap_axis"),
        pools={name: words(f"disaggregation.row_{name}") for name in ("both", "prefill", "decode")},
        link=words("disaggregation.row_link"),
        tokens=words.plural("unit.tokens", 2),
        sequences=words.plural("unit.sequences", 2),
    )


def _ticks(values: list[np.ndarray], words: Words) -> tuple[list[float], list[str]]:
    everything = np.concatenate(values)
    low, high = everything[everything > 0].min(), everything.max()
    steps = (1, 2, 5) if high / low < 300 else (1,)
    ticks = [
        float(f"{step}e{decade}")
        for decade in range(int(np.floor(np.log10(low))) - 1, int(np.ceil(np.log10(high))) + 1)
        for step in steps
    ]
    return ticks, numbers.seconds(ticks, words, trim=True)


def _shown(question: Question, words: Words) -> list[figures.Side]:
    """Return the designs of both sides, each once."""
    kinds = dict.fromkeys((question.scenario.left, question.scenario.right))
    return [figures.Side(kind, words(f"disaggregation.short_{kind}")) for kind in kinds]


def tails(now: Looked, pinned: Looked | None, words: Words) -> None:
    """Draw what share of the first tokens, and of the gaps, is longer than a time."""
    question, seen = now.question, now.seen
    st.header(words("disaggregation.tails"), anchor=False)
    st.markdown(
        words(
            "disaggregation.tails_intro",
            requests=numbers.number(len(next(iter(seen.values()))), words),
            seed=numbers.number(SEED, words),
        )
    )
    sides = _shown(question, words)
    kinds = [side.kind for side in sides]
    parts = (
        ("ttft", "ttft_seconds", question.ttft_target, colours.PREFILL.colour),
        ("itl", "itl_seconds", question.itl_target, colours.DECODE.colour),
    )
    others = _shown(pinned.question, words) if pinned else []
    ghostly = [_ghost(side.kind, words) for side in others]
    for column, (name, field, target, colour) in zip(
        st.columns(2, gap="medium"), parts, strict=True
    ):
        values = [getattr(seen[kind], field) for kind in kinds]
        before = [getattr(pinned.seen[ghost.kind], field) for ghost in ghostly]
        if not len(values[0]):
            column.info(words("disaggregation.no_gaps"))
            continue
        figure = figures.tail(
            values,
            sides,
            colour,
            target=target,
            target_text=words(
                "disaggregation.target", time=numbers.seconds(target, words, trim=True)
            ),
            axis=words(f"disaggregation.{name}_axis"),
            share_axis=words("disaggregation.share_axis"),
            ticks=_ticks([*values, *before, np.array([target])], words),
            separators=words.separators,
        )
        ghosts.on_tail(figure, before, ghostly, colour)
        with column:
            alt = words(
                "disaggregation.alt_tail",
                axis=words(f"disaggregation.{name}_axis"),
                sides="; ".join(
                    words(
                        "disaggregation.alt_tail_side",
                        name=side.name,
                        median=numbers.seconds(float(np.median(own)), words),
                        tail=numbers.seconds(float(np.quantile(own, 0.99)), words),
                    )
                    for side, own in zip(sides, values, strict=True)
                ),
                target=numbers.seconds(target, words, trim=True),
            )
            _chart(figure, f"disaggregation_tail_{name}", alt=alt)
    st.markdown(percentiles({kind: now.stood[kind] for kind in kinds}, words))


def goodput(now: Looked, pinned: Looked | None, words: Words) -> None:
    """Draw what each design serves within the targets, against the rate of arrival."""
    question, stood = now.question, now.stood
    st.header(words("disaggregation.goodput"), anchor=False)
    shown = {side.kind for side in _shown(question, words)}
    lines = []
    for kind in KINDS:
        found = curve(question, kind)
        lines.append(
            figures.Line(
                figures.Side(kind, words(f"disaggregation.short_{kind}")),
                found.rates,
                found.goodput,
                stood[kind].goodput,
                faint=kind not in shown,
            )
        )
    left, right = st.columns([1.7, 1], gap="medium")
    figure = figures.goodput(
        lines,
        rate=question.rate,
        all_text=words("disaggregation.all_served"),
        here_text=words("disaggregation.now"),
        axis=words("disaggregation.rate_axis"),
        goodput_axis=words("disaggregation.goodput_axis"),
        separators=words.separators,
    )
    if pinned:
        ghosts.on_goodput(figure, *_ghost_curves(pinned, words))
    with left:
        served = [
            words(
                "disaggregation.alt_goodput_line",
                name=words(f"disaggregation.short_{kind}"),
                goodput=numbers.requests_per_second(stood[kind].goodput, words),
            )
            for kind in KINDS
        ]
        alt = words(
            "disaggregation.alt_goodput",
            rate=numbers.requests_per_second(question.rate, words, trim=True),
            lines="; ".join(served),
        )
        _chart(figure, "disaggregation_goodput", alt=alt)
    right.markdown(
        words(
            "disaggregation.goodput_text",
            ttft_target=numbers.seconds(question.ttft_target, words, trim=True),
            itl_target=numbers.seconds(question.itl_target, words, trim=True),
            requests=numbers.number(question.points()[0].requests, words),
        )
    )
    scenario = question.scenario
    if (scenario.rate, scenario.ttft_target, scenario.itl_target) != (None, None, None):
        right.button(
            words("disaggregation.suit"),
            key="disaggregation_suit",
            help=words("disaggregation.suit_help"),
            on_click=store_values,
            args=({"rate": "", "ttft_target": "", "itl_target": ""},),
        )


def _ghost_curves(
    pinned: Looked, words: Words
) -> tuple[list[tuple[ghosts.Ghost, np.ndarray, np.ndarray]], list[tuple[float, float]]]:
    """Return the pinned curves, and on each where the pinned rate stands."""
    kinds = [side.kind for side in _shown(pinned.question, words)]
    found = [curve(pinned.question, kind) for kind in kinds]
    curves = [
        (_ghost(kind, words), one.rates, one.goodput)
        for kind, one in zip(kinds, found, strict=True)
    ]
    return curves, [(pinned.question.rate, pinned.stood[kind].goodput) for kind in kinds]


@st.fragment
def more(question: Question, words: Words) -> None:
    """Offer a longer simulation, after which all of the page is drawn anew."""
    services = [question.service(kind) for kind in KINDS]
    few = question.requests
    many = min(MORE * few, max(few, MORE * MOST_TOKENS // question.scenario.output))
    asked = question.asked(requests=many)
    done = job(
        "more",
        _more_key(question),
        lambda: simulating(services, asked),
        words,
        label=words("disaggregation.more", requests=numbers.number(many, words)),
        whole_page=True,
    )
    if done is not None:
        st.markdown(words("disaggregation.more_done", requests=numbers.number(many, words)))


@st.fragment
def break_even(question: Question, pinned: Question | None, words: Words) -> None:
    """Draw the map of prompts and rates when it is asked for."""
    st.header(words("disaggregation.break_even"), anchor=False)
    points = question.points()
    st.markdown(
        words(
            "disaggregation.break_even_intro",
            cells=numbers.number(len(question.prompts) * len(points) * len(KINDS), words),
            requests=numbers.number(points[0].requests, words),
        )
    )
    found: Map | None = job(
        "map",
        map_key(question),
        lambda: drawing_map(question),
        words,
        label=words("disaggregation.break_even_start"),
    )
    if found is None:
        return
    names = [words(f"disaggregation.enough_{kind}") for kind in KINDS]
    figure = figures.surface(
        found.winner,
        np.array([numbers.percent(row, words, digits=2) for row in found.attainment.max(axis=2)]),
        rates=numbers.number(found.rates, words, trim=True),
        prompts=numbers.number(found.prompts, words),
        here=_place(question, question),
        names=[*names, words("disaggregation.enough_none")],
        here_text=words("term.here"),
        axis=words("disaggregation.rate_axis"),
        prompt_axis=words("axis.prompt"),
        separators=words.separators,
    )
    if pinned and (place := _place(pinned, question)):
        ghosts.on_map(figure, place, words("compare.legend"))
    counts = [int((found.winner == place).sum()) for place in (*range(len(KINDS)), -1)]
    texts = numbers.number([*counts, found.winner.size], words)
    said = words(
        "disaggregation.break_even_text",
        **dict(zip((*KINDS, "none", "cells"), texts, strict=True)),
        sustained=numbers.percent(SUSTAINED, words, digits=2),
    )
    _chart(figure, "disaggregation_map", alt=said.replace("*", ""))
    st.markdown(said)


def _place(question: Question, on: Question) -> tuple[float, float] | None:
    """Return where a comparison stands between the columns and rows of the map of another.

    None where it lies beyond them.
    """
    rates, prompts = np.log(on.rates), np.log(on.prompts)
    rate, prompt = np.log(question.rate), np.log(question.scenario.prompt)
    inside = rates[0] <= rate <= rates[-1] and prompts[0] <= prompt <= prompts[-1]
    if question is not on and not inside:
        return None
    column = float(np.interp(rate, rates, np.arange(len(rates))))
    return column, float(np.interp(prompt, prompts, np.arange(len(prompts))))
