"""The disaggregation page: one traffic, two designs, simulated side by side (S14)."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

import numpy as np
import streamlit as st

from pages.shared import colours, numbers
from pages.shared.figures import serving as figures
from pages.shared.job import finished, job
from pages.shared.language import Words
from pages.shared.service_controls import (
    REQUEST,
    WHOLE_PAGE,
    choices,
    design_picker,
    examples,
    sliders,
)
from pages.shared.service_words import (
    formula,
    hardware,
    honest,
    percentiles,
    readouts,
    refusal,
    sentences,
    takeaway,
    why,
)
from pages.shared.services import (
    MOST_TOKENS,
    Map,
    Question,
    curve,
    drawing_map,
    map_key,
    simulated,
    simulating,
)
from pages.shared.sources import Source
from pages.shared.state import Session, store_values
from physics.serving.contest import SUSTAINED, Standing, standing
from physics.serving.design import (
    KINDS,
)
from physics.serving.result import Result
from physics.serving.traffic import SEED

SIDES = ("left", "right")
MORE = 10
"""How many times as many requests are simulated on demand."""

ARRIVALS_SHOWN = 12
FEWEST_STEPS, MOST_STEPS = 60, 400
"""The stretch of time that is drawn: so many arrivals, within so many decode steps."""


class Disaggregation:
    """Timelines of two designs, what they reach, goodput against rate, and the break-even map."""

    name = "disaggregation"
    # The batch is no choice here: it forms by itself.
    sliders = ("prompt", "output", "batch")
    picks = ("versus",)
    next = ("metrics", "batching", "hardware", "one-request")
    sources = (
        Source(
            "Zhong et al.: DistServe, disaggregating prefill and decoding for goodput (OSDI 2024)",
            "https://arxiv.org/abs/2401.09670",
        ),
        Source(
            "Patel et al.: Splitwise, phase splitting (ISCA 2024)",
            "https://arxiv.org/abs/2311.18677",
        ),
        Source(
            "Agrawal et al.: Sarathi-Serve, chunked prefills (OSDI 2024)",
            "https://arxiv.org/abs/2403.02310",
        ),
        Source(
            "How to scale your model, part 8: serving Llama 3 70B",
            "https://jax-ml.github.io/scaling-book/applied-inference/",
        ),
        Source(
            "dstack: prefill-decode ratios of gpt-oss-120b on eight H200, measured",
            "https://github.com/dstackai/benchmarks",
        ),
    )

    def body(self, session: Session, pages: Mapping[str, object]) -> None:
        """Draw the page."""
        del pages
        _live(session)


VIEW = Disaggregation()


@st.fragment
def _live(session: Session) -> None:
    """Draw all that sliders move: a released one runs this and nothing around it."""
    if st.session_state.pop(WHOLE_PAGE, False):
        st.rerun()
    words, scenario = session.words, session.scenario
    refused = refusal(scenario, words)
    question = None if refused else Question.of(scenario)
    seen = _seen(question) if question else {}
    stood = {kind: standing(result, question.targets) for kind, result in seen.items()}
    _sides(question, seen, stood, session)
    sliders(question, session)
    if refused:
        st.html(f'<p class="sentence">{refused}</p>')
        examples(words)
        choices(session)
        return
    said = sentences(question, stood, words)
    st.html(f'<p class="sentence" role="status">{said}</p>')
    examples(words)
    choices(session)
    _tails(question, seen, stood, words)
    _goodput(question, stood, words)
    _more(question, words)
    _break_even(question, words)
    st.header(words("section.formula"), anchor=False)
    st.markdown(formula(question, stood, words))
    st.header(words("section.honest"), anchor=False)
    st.markdown(honest(question, stood, words))
    st.markdown(words("disaggregation.left_out"))
    st.header(words("section.takeaway"), anchor=False)
    st.markdown(takeaway(stood, words))


def _seen(question: Question) -> dict[str, Result]:
    """Return all three designs under the traffic, with more requests where these were asked for."""
    services = [question.service(kind) for kind in KINDS]
    more = finished("more", _more_key(question))
    if more is None:
        more = [simulated(service, question.asked()) for service in services]
    return dict(zip(KINDS, more, strict=True))


def _more_key(question: Question) -> tuple[object, ...]:
    services = tuple(question.service(kind) for kind in KINDS)
    return (*services, question.asked())


def _sides(
    question: Question | None,
    seen: Mapping[str, Result],
    stood: Mapping[str, Standing],
    session: Session,
) -> None:
    words, scenario = session.words, session.scenario
    chosen = {side: getattr(scenario, side) for side in SIDES}
    window = gaps = None
    if question:
        window, gaps = _window(question, [seen[kind] for kind in chosen.values()], words)
    with st.container(key="disaggregation_sides"):
        for column, side in zip(st.columns(2, gap="medium"), SIDES, strict=True):
            with column:
                design_picker(side, chosen[side], words)
                st.html(f'<p class="details">{escape(hardware(scenario, chosen[side], words))}</p>')
                if not question:
                    continue
                own = stood[chosen[side]]
                st.html(readouts(own, words))
                reason = why(question, own, words)
                figure = figures.timeline(
                    seen[chosen[side]],
                    gaps[SIDES.index(side)],
                    window,
                    _texts(question, words),
                    words.separators,
                )
                _chart(figure, f"disaggregation_{side}", alt=reason)
                st.html(f'<p class="why">{escape(reason)}</p>')


def _chart(figure: object, key: str, *, alt: str) -> None:
    """Show a figure; `alt` says what it shows to those who do not see it."""
    st.plotly_chart(figure, key=key, config={"displayModeBar": False}, alt=alt)


def _window(
    question: Question, seen: list[Result], words: Words
) -> tuple[figures.Window, list[figures.Gaps]]:
    """Return the stretch of time that is drawn, from the arrival of one request on."""
    key, count = REQUEST, len(seen[0])
    request = min(int(st.session_state.get(key, count // 2)), count) - 1
    step = question.alone.step_seconds
    lasts = np.clip(ARRIVALS_SHOWN / question.rate, FEWEST_STEPS * step, MOST_STEPS * step)
    lasts = max(float(lasts), 2 * question.alone.ttft_seconds)
    start = float(seen[0].arrival[request]) - lasts / 50
    gaps = [figures.gaps_between(one, start, start + lasts) for one in seen]
    top = figures.highest_gap(gaps, question.itl_target)
    rows = max(map(figures.row_count, seen))
    return figures.Window(start, start + lasts, request, top, question.itl_target, rows), gaps


def _texts(question: Question, words: Words) -> figures.Texts:
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


def _tails(
    question: Question,
    seen: Mapping[str, Result],
    stood: Mapping[str, Standing],
    words: Words,
) -> None:
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
    for column, (name, field, target, colour) in zip(
        st.columns(2, gap="medium"), parts, strict=True
    ):
        values = [getattr(seen[kind], field) for kind in kinds]
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
            ticks=_ticks([*values, np.array([target])], words),
            separators=words.separators,
        )
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
    st.markdown(percentiles({kind: stood[kind] for kind in kinds}, words))


def _goodput(question: Question, stood: Mapping[str, Standing], words: Words) -> None:
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


@st.fragment
def _more(question: Question, words: Words) -> None:
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
def _break_even(question: Question, words: Words) -> None:
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
    column, row = _place(question)
    figure = figures.surface(
        found.winner,
        np.array([numbers.percent(row, words, digits=2) for row in found.attainment.max(axis=2)]),
        rates=numbers.number(found.rates, words, trim=True),
        prompts=numbers.number(found.prompts, words),
        here=(column, row),
        names=[*names, words("disaggregation.enough_none")],
        here_text=words("term.here"),
        axis=words("disaggregation.rate_axis"),
        prompt_axis=words("axis.prompt"),
        separators=words.separators,
    )
    counts = [int((found.winner == place).sum()) for place in (*range(len(KINDS)), -1)]
    texts = numbers.number([*counts, found.winner.size], words)
    said = words(
        "disaggregation.break_even_text",
        **dict(zip((*KINDS, "none", "cells"), texts, strict=True)),
        sustained=numbers.percent(SUSTAINED, words, digits=2),
    )
    _chart(figure, "disaggregation_map", alt=said.replace("*", ""))
    st.markdown(said)


def _place(question: Question) -> tuple[float, float]:
    """Return where the scenario stands between the map's columns and rows."""
    logs = np.log(question.rates)
    column = float(np.interp(np.log(question.rate), logs, np.arange(len(logs))))
    return column, float(question.prompts.index(question.scenario.prompt))
