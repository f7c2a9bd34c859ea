"""The glossary: every term with its unit, its value here, and the pages that use it (S15)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from html import escape
from urllib.parse import urlencode

import numpy as np
import streamlit as st

from pages.shared import numbers
from pages.shared.case import Case
from pages.shared.glossary import PAGE, Term, pages_of, terms
from pages.shared.language import Words
from pages.shared.points import points_from
from pages.shared.scenario import Scenario
from pages.shared.snippet import snippet
from pages.shared.state import Session
from physics.kv_cache import kv_bytes_per_token
from physics.limits import critical_batch, critical_context
from physics.roofline import ridge_flop_per_byte


class Glossary:
    """All terms, by theme, each linked with the pages."""

    name = PAGE
    sliders = ()
    next = ("one-request", "roofline")

    def body(self, session: Session, pages: Mapping[str, object]) -> None:
        """Draw the entries."""
        paths = {name: target.url_path for name, target in pages.items()}
        st.html(entries(session.scenario, session.words, paths, session.query()))

    def snippet(self, scenario: Scenario) -> str:
        """Return the lines of Python that compute the values anew."""
        return snippet(PAGE, scenario)


VIEW = Glossary()


def entries(
    scenario: Scenario, words: Words, paths: Mapping[str, str], query: Mapping[str, str]
) -> str:
    """Write the glossary as HTML.

    Parameters
    ----------
    scenario : Scenario
        For which values are given.
    words : Words
    paths : mapping of str to str
        The path of each page, by name.
    query : mapping of str to str
        The query that links to pages carry.
    """
    values = values_here(scenario, words)
    by_name = sorted(terms(), key=lambda term: _short(term, words).casefold())
    index = " · ".join(
        f'<a href="{PAGE}#{term.slug}" data-page-link="{PAGE}">{escape(_short(term, words))}</a>'
        for term in by_name
    )
    case = Case(points_from(scenario, {}))
    here = words(
        "glossary.scenario",
        model=case.architecture.name,
        chip=case.chip.name,
        prompt=numbers.tokens(scenario.prompt, words),
        output=numbers.tokens(scenario.output, words),
        batch=numbers.number(scenario.batch, words),
    )
    label = escape(words("glossary.index"))
    parts = [f'<nav class="glossary-index" aria-label="{label}">{index}</nav>']
    parts.append(f'<p class="glossary-here">{escape(here)}</p>')
    for group in dict.fromkeys(term.group for term in terms()):
        parts.append(f"<h2>{escape(words(f'glossary.group_{group}'))}</h2>")
        parts.append('<dl class="glossary">')
        parts += [
            _entry(term, values.get(term.slug, ""), words, paths, query)
            for term in terms()
            if term.group == group
        ]
        parts.append("</dl>")
    return "".join(parts)


def _entry(
    term: Term, value: str, words: Words, paths: Mapping[str, str], query: Mapping[str, str]
) -> str:
    name = words(f"glossary.{term.slug}.name")
    symbol = "" if term.symbol in name else term.symbol  # it stands there already
    marks = [
        words(f"glossary.{kind}", **{kind: f"<b>{escape(given)}</b>"})
        for kind, given in (("symbol", symbol), ("unit", term.unit))
        if given
    ]
    lines = [f"<dd>{escape(words(f'glossary.{term.slug}.text'))}</dd>"]
    if value:
        lines.append(f"<dd>{words('glossary.here', value=f'<b>{escape(value)}</b>')}</dd>")
    used = pages_of(term.slug, paths, words)
    if used:
        links = ", ".join(_page_link(page, words, paths, query) for page in used)
        lines.append(f'<dd class="where">{words("glossary.where", pages=links)}</dd>')
    small = f" <small>{' · '.join(marks)}</small>" if marks else ""
    return (
        f'<div id="{term.slug}" data-entry tabindex="-1">'
        f"<dt><dfn>{escape(name)}</dfn>{small}</dt>{''.join(lines)}</div>"
    )


def _short(term: Term, words: Words) -> str:
    """Return a term's abbreviation where it has one that stands in its name, else its name."""
    name = words(f"glossary.{term.slug}.name")
    return term.symbol if f"({term.symbol})" in name else name


def _page_link(page: str, words: Words, paths: Mapping[str, str], query: Mapping[str, str]) -> str:
    address = f"./{paths[page]}?{urlencode(query)}" if query else f"./{paths[page]}"
    label = escape(words(f"{page}.nav"))
    return f'<a href="{escape(address)}" data-page-link="{page}">{label}</a>'


def values_here(scenario: Scenario, words: Words) -> dict[str, str]:
    """Return what terms come to in the scenario, in words; times only where the model fits.

    A single output token comes from the prefill: nothing is given of a decode that never runs.

    Examples
    --------
    >>> values_here(Scenario(), Words("en"))["ridge"]
    '295\\xa0FLOP/byte'
    """
    case = Case(points_from(scenario, {}))
    write: dict[str, Callable[[], str]] = _sizes(case, words)
    if case.fits[0]:
        write |= _times(case, words)
    return {slug: text for slug, each in write.items() if (text := each()) != numbers.NONE}


def _sizes(case: Case, words: Words) -> dict[str, Callable[[], str]]:
    machine, architecture, points = case.machine, case.architecture, case.points
    decode, prefill = case.request.decode, case.request.prefill

    def first(values: np.ndarray) -> float:
        return float(np.ravel(values)[0])

    def both(write: Callable, attribute: str) -> str:
        texts = [write(first(getattr(step, attribute)), words) for step in (prefill, decode)]
        return _phases(texts, words, decodes=_decodes(case))

    context = critical_context(
        architecture,
        machine.peak,
        machine.bandwidth,
        points.kv,
        points.tp,
        np.divide(machine.peak, machine.attention_peak),
    )
    batch = critical_batch(architecture, machine.peak, machine.bandwidth, points.weights)
    read = {"context": lambda: numbers.tokens(first(np.round(case.context)), words)}
    return (read if _decodes(case) else {}) | {
        "flop": lambda: both(numbers.flop, "flop"),
        "peak": lambda: numbers.flop_per_second(first(machine.peak), words),
        "bandwidth": lambda: numbers.bytes_per_second(first(machine.bandwidth), words),
        "arithmetic-intensity": lambda: both(numbers.flop_per_byte, "intensity"),
        "ridge": lambda: numbers.flop_per_byte(
            first(ridge_flop_per_byte(machine.peak, machine.bandwidth)), words
        ),
        "critical-batch": lambda: numbers.number(first(batch), words),
        "critical-context": lambda: numbers.tokens(first(np.round(context)), words),
        "weights": lambda: numbers.bytes_decimal(case.weight_bytes, words),
        "kv-cache": lambda: words(
            "glossary.per_token",
            size=numbers.bytes_decimal(float(kv_bytes_per_token(architecture, points.kv)), words),
        ),
        "hbm": lambda: numbers.bytes_decimal(float(machine.capacity), words),
        "tensor-parallel": lambda: numbers.chip_count(points.tp, words),
    }


def _times(case: Case, words: Words) -> dict[str, Callable[[], str]]:
    asked = case.request

    def seconds(values: np.ndarray) -> Callable[[], str]:
        return lambda: numbers.seconds(float(np.ravel(values)[0]), words)

    def rate(values: np.ndarray) -> Callable[[], str]:
        return lambda: numbers.tokens_per_second(float(np.ravel(values)[0]), words)

    def both(attribute: str) -> Callable[[], str]:
        return lambda: _phases(
            [
                numbers.percent(float(np.ravel(getattr(step, attribute))[0]), words, digits=2)
                for step in (asked.prefill, asked.decode)
            ],
            words,
            decodes=_decodes(case),
        )

    decode = {
        "decode": seconds(asked.e2e_seconds - asked.ttft_seconds),
        "step": seconds(asked.decode.seconds_sum),
        "tpot": seconds(asked.tpot_seconds),
        "user-speed": rate(asked.tokens_per_second_user),
    }
    if not _decodes(case):
        decode = {"decode": lambda: words("glossary.no_decode")}
    return decode | {
        "prefill": seconds(asked.ttft_seconds),
        "ttft": seconds(asked.ttft_seconds),
        "e2e": seconds(asked.e2e_seconds),
        "throughput": rate(asked.tokens_per_second_system),
        "mfu": both("mfu"),
        "mbu": both("mbu"),
    }


def _decodes(case: Case) -> bool:
    """Say whether the answer has a token that the prefill does not give."""
    return bool(case.request.output[0] > 1)


def _phases(texts: Iterable[str], words: Words, *, decodes: bool) -> str:
    prefill, decode = texts
    if not decodes:
        return words("glossary.only_prefill", prefill=prefill)
    return words("glossary.both", prefill=prefill, decode=decode)
