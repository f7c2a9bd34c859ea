"""The controls of a comparison of services: two designs, sliders, choices, and examples."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from pages.shared import numbers
from pages.shared.language import Words
from pages.shared.scenario import DEFAULTS, EVIDENCE_OPTIONS, PAGE_OPTIONS, url_text
from pages.shared.serving.page_sliders import page_slider
from pages.shared.serving.services import Question
from pages.shared.serving.words import instances
from pages.shared.state import Session, store_values
from physics.chips import chip
from physics.serving.design import KINDS

TOTALS = (2, 3, 4, 6, 8, 12, 16)
"""Instances of a design that can be picked."""

COLUMNS = 4
REQUEST = "disaggregation_request"
"""Key of the request that is looked at."""

WHOLE_PAGE = "disaggregation_whole_page"
"""Key that asks for all of the page to be drawn anew, the sidebar too."""

FROM_THE_START = {
    name: ""
    for name in DEFAULTS
    if name not in ("versus", "price", "batch") and name not in EVIDENCE_OPTIONS
}

EXAMPLES: dict[str, dict[str, str]] = {
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


def design_picker(side: str, kind: str, words: Words) -> None:
    """Show the picker of the design on one side."""
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


def sliders(question: Question | None, session: Session) -> None:
    """Show the sliders that the two designs need."""
    words, scenario = session.words, session.scenario
    also: dict[str, str] = {}
    if question:
        stated = question.stated()
        also = {name: url_text(value) for name, value in stated.items()}
        scenario = scenario.replaced(**stated)
    kinds = {scenario.left, scenario.right}
    shown = {
        "rate": scenario.rate is not None,
        "prompt": True,
        "output": True,
        "total": True,
        "pools": "disaggregated" in kinds and scenario.prefill_pool + scenario.decode_pool > 2,
        "link": "disaggregated" in kinds,
        "ttft_target": scenario.ttft_target is not None,
        "itl_target": scenario.itl_target is not None,
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
                    else:
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
    key = REQUEST
    st.session_state[key] = min(st.session_state.get(key, count // 2), count)
    help_ = words("disaggregation.request_help")
    st.slider(words("disaggregation.request"), 1, count, key=key, help=help_)


def choices(session: Session) -> None:
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
            instances=instances(count, words),
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


def examples(words: Words) -> None:
    """Show buttons that set the page to a load where one design or the other wins."""
    with st.container(key="disaggregation_examples", horizontal=True):
        for name, values in EXAMPLES.items():
            st.button(
                words(f"disaggregation.example_{name}"),
                key=f"example_{name}",
                help=words(f"disaggregation.example_{name}_help"),
                on_click=_tell,
                args=(values,),
            )


def _tell(values: Mapping[str, str]) -> None:
    store_values({**FROM_THE_START, **values})
    draw_whole_page()


def draw_whole_page() -> None:
    """Have the sidebar drawn too, where the model and the chip stand: no fragment draws it."""
    st.session_state[WHOLE_PAGE] = True
