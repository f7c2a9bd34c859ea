"""The disaggregation page: one traffic, two designs, simulated side by side (S14)."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

import numpy as np
import streamlit as st

from pages.shared import colours, numbers
from pages.shared.case import Case
from pages.shared.figures import serving as figures
from pages.shared.job import finished, job
from pages.shared.language import Words
from pages.shared.page_sliders import page_slider
from pages.shared.points import points_from
from pages.shared.scenario import DEFAULTS, PAGE_OPTIONS, url_text
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
from physics.chips import chip
from physics.serving.contest import SUSTAINED, Standing, enough, standing
from physics.serving.design import (
    KINDS,
    kv_bytes_per_second,
    prefill_per_decode_instance,
)
from physics.serving.result import Result
from physics.serving.times import LONGEST
from physics.serving.traffic import SEED

SIDES = ("left", "right")
TOTALS = (2, 3, 4, 6, 8, 12, 16)
SLOW_LINK = 1.25
"""10 Gbit/s Ethernet [GB/s]."""

MORE = 10
"""How many times as many requests are simulated on demand."""

COLUMNS = 4
ARRIVALS_SHOWN = 12
FEWEST_STEPS, MOST_STEPS = 60, 400
"""The stretch of time that is drawn: so many arrivals, within so many decode steps."""

FROM_THE_START = {name: "" for name in DEFAULTS if name not in ("versus", "price", "batch")}

STORIES: dict[str, dict[str, str]] = {
    "start": {},
    "quiet": {"prompt": "128", "rate": "4", "itl_target": "10"},
    "chunks": {"right": "chunked"},
    "strict": {"left": "chunked", "itl_target": "8"},
    "slow": {"left": "chunked", "link": "1.25"},
    "unbalanced": {
        "left": "chunked", "prefill_pool": "1", "decode_pool": "3", "rate": "32",
    },
}  # fmt: skip
"""Where one design or the other wins: values of options, in the order of the buttons."""


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
    if st.session_state.pop(_WHOLE_PAGE, False):
        st.rerun()
    words, scenario = session.words, session.scenario
    refused = _refusal(session)
    question = None if refused else Question.of(scenario)
    seen = _seen(question) if question else {}
    stood = {kind: standing(result, question.targets) for kind, result in seen.items()}
    _sides(question, seen, stood, session)
    _sliders(question, session)
    if refused:
        st.html(f'<p class="sentence">{refused}</p>')
        _choices(session)
        return
    said = _sentences(question, stood, words)
    st.html(f'<p class="sentence" role="status">{said}</p>')
    _stories(words)
    _choices(session)
    _tails(question, seen, words)
    _goodput(question, stood, words)
    _more(question, words)
    _break_even(question, words)
    _formula(question, stood, words)
    _honest(question, stood, words)
    _takeaway(question, stood, words)


# What is simulated


def _refusal(session: Session) -> str:
    """Say in HTML why a scenario cannot be simulated; '' if it can."""
    words, scenario = session.words, session.scenario
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


# The first screen


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
                _design_picker(side, chosen[side], words)
                st.html(f'<p class="details">{escape(_hardware(session, chosen[side]))}</p>')
                if not question:
                    continue
                own = stood[chosen[side]]
                st.html(_readouts(own, words))
                why = _why(question, own, words)
                figure = figures.timeline(
                    seen[chosen[side]],
                    gaps[SIDES.index(side)],
                    window,
                    _texts(question, words),
                    words.separators,
                )
                _chart(figure, f"disaggregation_{side}", alt=why)
                st.html(f'<p class="why">{escape(why)}</p>')


_WHOLE_PAGE = "disaggregation_whole_page"


def _chart(figure: object, key: str, *, alt: str) -> None:
    """Show a figure; `alt` says what it shows to those who do not see it."""
    st.plotly_chart(figure, key=key, config={"displayModeBar": False}, alt=alt)


def _design_picker(side: str, kind: str, words: Words) -> None:
    key = f"pick_{side}"
    st.session_state[key] = kind
    st.selectbox(
        words(f"disaggregation.{side}"),
        KINDS,
        key=key,
        label_visibility="collapsed",
        format_func=lambda kind: words(f"disaggregation.design_{kind}"),
        on_change=lambda: store_values({side: st.session_state[key]}),
    )


def _hardware(session: Session, kind: str) -> str:
    """Say which chips a design has, and what they do."""
    words, scenario = session.words, session.scenario
    name, other = chip(scenario.chip).name, chip(scenario.versus).name
    pools = (scenario.prefill_pool, scenario.decode_pool)
    if kind != "disaggregated":
        return words(
            "disaggregation.chips_both",
            chips=numbers.number(sum(pools) * scenario.tp, words),
            chip=name,
            instances=_instances(sum(pools), words),
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
        prefill=_instances(pools[0], words),
        decode=_instances(pools[1], words),
    )


def _instances(count: int, words: Words) -> str:
    return words.plural("disaggregation.instances", count)


def _readouts(own: Standing, words: Words) -> str:
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


def _window(
    question: Question, seen: list[Result], words: Words
) -> tuple[figures.Window, list[figures.Gaps]]:
    """Return the stretch of time that is drawn, from the arrival of one request on."""
    key, count = "disaggregation_request", len(seen[0])
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


# Controls


def _sliders(question: Question | None, session: Session) -> None:
    words, scenario = session.words, session.scenario
    also: dict[str, str] = {}
    if question:
        stated = question.stated()
        also = {name: url_text(value) for name, value in stated.items()}
        scenario = scenario.replaced(**stated)
    kinds = {scenario.left, scenario.right}
    shown = {
        "rate": True,
        "prompt": True,
        "output": True,
        "total": True,
        "pools": "disaggregated" in kinds and scenario.prefill_pool + scenario.decode_pool > 2,
        "link": "disaggregated" in kinds,
        "ttft_target": True,
        "itl_target": True,
        "budget": "chunked" in kinds,
        "request": question is not None,
    }
    own = {
        "total": lambda: _total(session, also),
        "pools": lambda: _pools(session, also),
        "request": lambda: _request(question, words),
    }
    names = [name for name, wanted in shown.items() if wanted]
    with st.container(key="disaggregation_sliders"):
        for place in range(0, len(names), COLUMNS):
            row = names[place : place + COLUMNS]
            for column, name in zip(st.columns(COLUMNS, gap="medium"), row, strict=False):
                with column:
                    if name in own:
                        own[name]()
                    elif getattr(scenario, name) is not None:
                        _slider(name, scenario, also, words)


def _slider(name: str, scenario: object, also: Mapping[str, str], words: Words) -> None:
    known = name in ("prompt", "output")
    page_slider(
        name,
        scenario,
        words,
        label=words(f"slider.{name}" if known else f"disaggregation.slider_{name}"),
        help=words(f"slider.{name}_help" if known else f"disaggregation.slider_{name}_help"),
        also=also,
    )


def _pools(session: Session, also: Mapping[str, str]) -> None:
    """Show the slider of the ratio, at the same number of instances."""
    words, scenario = session.words, session.scenario
    total = scenario.prefill_pool + scenario.decode_pool
    most = int(PAGE_OPTIONS["prefill_pool"].maximum)
    options = [at for at in range(1, total) if at <= most and total - at <= most]
    key = "slide_pools"
    st.session_state[key] = scenario.prefill_pool

    def store() -> None:
        _store_pools(st.session_state[key], total, also)

    label = words("disaggregation.slider_pools")
    help_ = words("disaggregation.slider_pools_help")

    def text(count: int) -> str:
        return f"{count} : {total - count}"

    st.select_slider(label, options, key=key, format_func=text, help=help_, on_change=store)


def _store_pools(prefill: int, total: int, also: Mapping[str, str]) -> None:
    pools = {"prefill_pool": prefill, "decode_pool": total - prefill}
    urls = {
        name: "" if value == DEFAULTS[name] else url_text(value) for name, value in pools.items()
    }
    store_values({**also, **urls})


def _request(question: Question, words: Words) -> None:
    count = question.requests
    key = "disaggregation_request"
    st.session_state[key] = min(st.session_state.get(key, count // 2), count)
    help_ = words("disaggregation.request_help")
    st.slider(words("disaggregation.request"), 1, count, key=key, help=help_)


def _choices(session: Session) -> None:
    """Show what is chosen more seldom: the spread of lengths, and the decode pool's chips."""
    words, scenario = session.words, session.scenario
    first, second = st.columns(2, gap="medium")
    with first:
        _choice("lengths", scenario.lengths, words)
    with second:
        _choice("decode_chip", scenario.decode_chip, words, chip=chip(scenario.versus).name)


def _total(session: Session, also: Mapping[str, str]) -> None:
    words, scenario = session.words, session.scenario
    total = scenario.prefill_pool + scenario.decode_pool
    key = "pick_total"
    st.session_state[key] = total

    def store() -> None:
        wanted = st.session_state[key]
        most = int(PAGE_OPTIONS["prefill_pool"].maximum)
        prefill = round(scenario.prefill_pool * wanted / total)
        prefill = min(max(prefill, 1, wanted - most), most, wanted - 1)
        _store_pools(prefill, wanted, also)

    st.selectbox(
        words("disaggregation.total"),
        sorted({*TOTALS, total}),
        key=key,
        format_func=lambda count: words(
            "disaggregation.total_option",
            instances=_instances(count, words),
            chips=numbers.chip_count(count * scenario.tp, words),
        ),
        help=words("disaggregation.total_help"),
        on_change=store,
    )


def _choice(name: str, value: str, words: Words, **values: str) -> None:
    key = f"pick_{name}"
    st.session_state[key] = value
    st.selectbox(
        words(f"disaggregation.{name}"),
        PAGE_OPTIONS[name].values,
        key=key,
        format_func=lambda option: words(f"disaggregation.{name}_{option}", **values),
        help=words(f"disaggregation.{name}_help"),
        on_change=lambda: store_values({name: st.session_state[key]}),
    )


def _stories(words: Words) -> None:
    """Show buttons that set the page to a load where one design or the other wins."""
    with st.container(key="disaggregation_stories", horizontal=True):
        for name, values in STORIES.items():
            st.button(
                words(f"disaggregation.story_{name}"),
                key=f"story_{name}",
                help=words(f"disaggregation.story_{name}_help"),
                on_click=_tell,
                args=(values,),
            )


def _tell(values: Mapping[str, str]) -> None:
    store_values({**FROM_THE_START, **values})
    # The model and the chip stand in the sidebar, which no fragment draws.
    st.session_state[_WHOLE_PAGE] = True


# Words


def _sentences(question: Question, stood: Mapping[str, Standing], words: Words) -> str:
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


def _why(question: Question, own: Standing, words: Words) -> str:
    """Say what holds a design back, or what carries it."""
    scenario = question.scenario
    return words(
        f"disaggregation.why_{own.kind}_{_cause(question, own)}",
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


def _cause(question: Question, own: Standing) -> str:
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


# Further down


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


def _tails(question: Question, seen: Mapping[str, Result], words: Words) -> None:
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


def _formula(question: Question, stood: Mapping[str, Standing], words: Words) -> None:
    st.header(words("section.formula"), anchor=False)
    one, scenario = question.alone, question.scenario
    split = stood["disaggregated"]
    moved = kv_bytes_per_second(
        scenario.model_architecture(),
        prompt=scenario.prompt,
        rate=question.rate,
        kv=scenario.kv,
    )
    balance = prefill_per_decode_instance(
        prefill_seconds=one.ttft_seconds,
        step_seconds=split.step_seconds,
        batch=split.decode_batch,
        output=scenario.output,
    )
    st.markdown(
        words(
            "disaggregation.formula_text",
            prefill=numbers.seconds(one.ttft_seconds, words),
            step=numbers.seconds(one.step_seconds, words),
            steps=numbers.number(one.steps_per_prefill, words),
            cache=numbers.bytes_decimal(one.kv_bytes, words),
            link=numbers.bytes_per_second(scenario.link * 1e9, words, trim=True),
            sent=numbers.seconds(_sent(question), words),
            rate=numbers.requests_per_second(question.rate, words, trim=True),
            moved=numbers.bytes_per_second(moved, words),
            instances=_instances(scenario.prefill_pool, words),
            most=numbers.requests_per_second(question.most_prompts, words),
            batch=numbers.number(split.decode_batch, words, digits=2),
            batch_step=numbers.seconds(split.step_seconds, words),
            output=numbers.tokens(scenario.output, words),
            balance=numbers.number(balance, words, digits=2),
        )
    )


def _honest(question: Question, stood: Mapping[str, Standing], words: Words) -> None:
    st.header(words("section.honest"), anchor=False)
    scenario, one = question.scenario, question.alone
    together, chunks, split = (stood[kind] for kind in KINDS)
    slow = SLOW_LINK * 1e9
    st.markdown(
        words(
            "disaggregation.honest_text",
            both=_instances(scenario.prefill_pool + scenario.decode_pool, words),
            readers=_instances(scenario.prefill_pool, words),
            together_ttft=numbers.seconds(together.ttft.p99, words),
            split_ttft=numbers.seconds(split.ttft.p99, words),
            budget=numbers.tokens(scenario.budget, words),
            chunks_itl=numbers.seconds(chunks.itl.p99, words),
            split_itl=numbers.seconds(split.itl.p99, words),
            slow=numbers.bytes_per_second(slow, words, trim=True),
            slow_sent=numbers.seconds(one.sent_seconds(slow), words),
            slow_most=numbers.requests_per_second(one.most_sent(slow), words),
            prefill=numbers.seconds(one.ttft_seconds, words),
            idle=numbers.percent(1 - split.prefill_busy, words, digits=2),
            batch=numbers.number(split.decode_batch, words, digits=2),
        )
    )
    st.markdown(words("disaggregation.left_out"))


def _takeaway(question: Question, stood: Mapping[str, Standing], words: Words) -> None:
    st.header(words("section.takeaway"), anchor=False)
    together, split = stood["colocated"], stood["disaggregated"]
    st.markdown(
        words(
            "disaggregation.takeaway_text",
            together=numbers.seconds(together.itl.p99, words),
            split=numbers.seconds(split.itl.p99, words),
            together_ttft=numbers.seconds(together.ttft.p99, words),
            split_ttft=numbers.seconds(split.ttft.p99, words),
        )
    )
