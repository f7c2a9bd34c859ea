"""The evidence page: every prediction beside its measurement, errors as they are."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.shared import colours, numbers
from pages.shared.controls import engine_text
from pages.shared.evidence.changes import what_changed
from pages.shared.evidence.controls import evidence_controls
from pages.shared.evidence.snippet import snippet
from pages.shared.evidence.words import comparison, pinned_words, selection_of, settings
from pages.shared.failures import reason
from pages.shared.figures import evidence as figures
from pages.shared.language import Words
from pages.shared.last_move import before_last_move
from pages.shared.pinning import compared_block, pin_bar, pinned_scenario
from pages.shared.scenario import Scenario
from pages.shared.state import Session
from physics.catalogue import models
from physics.chips import chips
from physics.evidence import BAND, Row, Selection, errors_of, rows, unseen_median, within
from physics.fit_report import REPORT, kind
from physics.measured_requests import DOUBTS, Measured
from physics.measurement_sources import measurement_sources
from physics.typical import kernels, overheads

MOVED = "evidence_moved"
"""Key of the selections before and after the last move."""

WORST = 12

QUIET = {"displayModeBar": False}
"""Each figure has the menu that all figures have."""


class Evidence:
    """Predicted against measured, filters, errors, worst cases, sources."""

    name = "evidence"
    sliders = ()
    uses_scenario = False
    next = ("roofline", "decode-shift")

    def body(self, session: Session, pages: Mapping[str, object]) -> None:
        """Draw the page."""
        words = session.words
        with st.container(key="evidence_summary"):
            _summary(words)
        with st.container(key="evidence_filters"):
            evidence_controls(session.scenario, words)
        selection = selection_of(session.scenario)
        other = pinned_scenario(session)
        pinned = selection_of(other) if other else None
        chosen, prediction = selection.rows(), selection.prediction
        _said(selection, chosen, words)
        legend = escape(pinned_words(pinned, selection, words)) if pinned else ""
        if chosen or pinned:
            with _figures(selection, chosen, pinned, words):
                pin_bar(session, legend)
        else:
            pin_bar(session, legend)
            st.markdown(_beaten(words))
        if pinned:
            compared_block(comparison(pinned, selection, words), words)
        if chosen:
            _worst(chosen, prediction, words)
            _groups(chosen, prediction, words)
            _download(chosen, words)
        _doubts(words)
        _constants(words)
        _sources(words)

    def settings(self, scenario: Scenario, words: Words) -> list[str]:
        """Return what is chosen, in words."""
        return settings(scenario, words)

    def snippet(self, scenario: Scenario) -> str:
        """Return the lines of Python that compute the errors anew."""
        return snippet(scenario)


VIEW = Evidence()


def _summary(words: Words) -> None:
    counted = sum(row.share != "doubtful" for row in rows())
    shown = (
        ("evidence.tpot_dense", numbers.percent(unseen_median("tpot", "dense"), words, digits=2)),
        ("evidence.tpot_moe", numbers.percent(unseen_median("tpot", "moe"), words, digits=2)),
        ("evidence.ttft_dense", numbers.percent(unseen_median("ttft", "dense"), words, digits=2)),
        ("evidence.counted", numbers.number(counted, words, digits=4)),
    )
    for column, (key, value) in zip(st.columns(len(shown)), shown, strict=True):
        column.metric(words(key), value)


def _beaten(words: Words) -> str:
    """Say what the read-outs are, and how many measurements beat the ideal."""
    counted = [row for row in rows() if row.share != "doubtful"]
    beaten = sum(row.ideal > row.measured.seconds for row in counted)
    texts = numbers.number([beaten, len(counted)], words, digits=4)
    return words("evidence.sentence", beaten=texts[0], counted=texts[1])


def _texts(words: Words) -> figures.Texts:
    return figures.Texts(
        measured_axis=words("evidence.measured_axis"),
        predicted_axis=words("evidence.predicted_axis"),
        diagonal=words("evidence.diagonal"),
        band=words("evidence.band", band=numbers.percent(BAND, words, digits=2)),
        error_axis=words("evidence.error_axis"),
        rows_axis=words("evidence.rows_axis"),
        counted=words("evidence.rows"),
        pinned=words("compare.legend"),
    )


def _said(selection: Selection, chosen: list[Row], words: Words) -> None:
    """Say how far off the rows chosen are, and what the last move has changed."""
    with st.container(key="evidence_chosen"):
        if chosen:
            st.markdown(words("evidence.chosen", **_numbers(selection, chosen, words)))
        else:
            st.info(words("evidence.nothing"))
    changed = what_changed(before_last_move(MOVED, selection), selection, words)
    # Always there, so that screen readers hear when its text changes.
    st.html(f'<p class="changed" aria-live="polite">{escape(changed)}</p>')


def _numbers(selection: Selection, chosen: list[Row], words: Words) -> dict[str, str]:
    """Return how far off the rows chosen are, in words."""
    found = errors_of(chosen, selection.prediction)
    return {
        "rows": numbers.number(found.rows, words, digits=4),
        "median": numbers.percent(found.median, words, digits=2),
        "mean": numbers.percent(found.mean, words, digits=2),
        "bias": numbers.percent(found.bias, words, digits=2),
        "within": numbers.percent(within(chosen, selection.prediction), words, digits=2),
        "band": numbers.percent(BAND, words, digits=2),
        "metric": selection.metric.upper(),
    }


def _figures(
    selection: Selection, chosen: list[Row], pinned: Selection | None, words: Words
) -> DeltaGenerator:
    """Draw the two figures; return the place below the first."""
    look = colours.DECODE if selection.metric == "tpot" else colours.PREFILL
    prediction, separators = selection.prediction, words.separators
    decades = [10.0**exponent for exponent in range(-4, 3)]
    ticks = (decades, numbers.seconds(decades, words, trim=True))
    ghost = errors = None
    if pinned:
        others = pinned.rows()
        errors = [row.error(pinned.prediction) for row in others]
        ghost = figures.Pinned(
            [row.measured.seconds for row in others],
            [row.predicted(pinned.prediction) for row in others],
        )
    said = _numbers(selection, chosen, words) if chosen else {}
    left, right = st.columns([1.7, 1])
    left.plotly_chart(
        figures.scatter(
            _alike(chosen, prediction, look, words), _texts(words), ticks, separators, ghost
        ),
        key="evidence_scatter",
        config=QUIET,
        alt=words("evidence.alt_scatter", **said) if chosen else words("evidence.nothing"),
    )
    right.plotly_chart(
        figures.distribution(
            [row.error(prediction) for row in chosen], look, _texts(words), separators, errors
        ),
        key="evidence_distribution",
        config=QUIET,
        alt=words("evidence.alt_distribution", **said) if chosen else words("evidence.nothing"),
    )
    right.markdown(words("evidence.honest"))
    right.markdown(_beaten(words))
    return left


def _alike(
    chosen: list[Row], prediction: str, look: colours.Look, words: Words
) -> list[figures.Group]:
    """Return the rows in groups that are drawn alike."""
    alike: dict[tuple[str, bool, str], list[Row]] = {}
    for row in sorted(chosen, key=lambda row: kind(row.measured)):
        doubtful = row.share == "doubtful"
        alike.setdefault((kind(row.measured), doubtful, _title(row.measured, words)), []).append(
            row
        )
    return [
        figures.Group(
            words(f"evidence.kind_{name}")
            + (f" ({words('evidence.share_doubtful')})" if doubtful else ""),
            colours.Look(look.colour, marker="circle" if name == "dense" else "diamond"),
            doubtful,
            title,
            [row.measured.seconds for row in members],
            [row.predicted(prediction) for row in members],
            [_load(row.measured, words) for row in members],
        )
        for (name, doubtful, title), members in alike.items()
    ]


def _configuration(row: Measured, words: Words) -> str:
    return (
        f"{models()[row.model].name} · {row.tp} × {chips()[row.chip].name} · "
        f"{engine_text(row.engine, words)} {row.version}".rstrip()
    )


def _load(row: Measured, words: Words) -> str:
    key = "evidence.load_concurrent" if row.load == "concurrent" else "evidence.load_together"
    return words(
        key,
        prompt=numbers.number(row.prompt, words, digits=4),
        output=numbers.number(row.output, words, digits=4),
        batch=numbers.number(row.batch, words, digits=4),
    )


def _title(row: Measured, words: Words) -> str:
    formats = f"{row.weights}, KV {row.kv}"
    return f"{_configuration(row, words)}<br>{formats} · {row.source}"


def _why(row: Row, words: Words) -> str:
    if row.measured.doubt:
        return words(f"evidence.doubt_{row.measured.doubt}")
    return words(f"evidence.reason_{reason(row.measured)}")


def _worst(chosen: list[Row], prediction: str, words: Words) -> None:
    """Show the configurations that are farthest off, one line each, with the reason."""
    st.header(words("evidence.worst"), anchor=False)
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in chosen:
        key = (_configuration(row.measured, words), _why(row, words))
        groups.setdefault(key, []).append(row)
    found = {
        key: float(np.median([row.error(prediction) for row in members]))
        for key, members in groups.items()
    }
    worst = sorted(found, key=lambda key: -abs(np.log1p(found[key])))[:WORST]
    header = [
        words(f"evidence.{name}") for name in ("configuration", "rows_axis", "median_error", "why")
    ]
    table = [
        [*key[:1], str(len(groups[key])), numbers.percent(found[key], words, digits=2), key[1]]
        for key in worst
    ]
    st.markdown(_table(header, table, "lrrl"))


def _table(header: list[str], rows: list[list[str]], sides: str) -> str:
    """Write a table of Markdown, not a data frame: reasons wrap, and every cell is read aloud."""
    rule = ["--:" if side == "r" else "---" for side in sides]
    return "\n".join(f"| {' | '.join(line)} |" for line in (header, rule, *rows))


def _groups(chosen: list[Row], prediction: str, words: Words) -> None:
    """Show the errors by chip, engine, model and source."""
    st.header(words("evidence.groups"), anchor=False)
    names = {
        "chip": lambda row: chips()[row.chip].name,
        "engine": lambda row: engine_text(row.engine, words),
        "model": lambda row: models()[row.model].name,
        "source": lambda row: row.source,
    }
    for column, (field, text) in zip(st.columns(2) * 2, names.items(), strict=True):
        groups: dict[str, list[Row]] = {}
        for row in chosen:
            groups.setdefault(text(row.measured), []).append(row)
        table = []
        for name, members in sorted(groups.items()):
            own = errors_of(members, prediction)
            shares = (own.median, own.mean, own.bias)
            table.append([name, str(own.rows), *numbers.percent(shares, words, digits=2)])
        header = [
            words(f"evidence.{field}"),
            words("evidence.rows_axis"),
            words("evidence.median_error"),
            words("evidence.mean_error"),
            words("evidence.bias"),
        ]
        column.markdown(_table(header, table, "lrrrr"))


def _download(chosen: list[Row], words: Words) -> None:
    table = pd.DataFrame(
        [
            vars(row.measured)
            | {
                "predicted_typical_seconds": row.typical,
                "predicted_ideal_seconds": row.ideal,
                "share": row.share,
            }
            for row in chosen
        ]
    )
    left, right = st.columns(2)
    # The bytes wait on the server until they are asked for.
    left.download_button(
        words("evidence.download_rows"),
        lambda: table.to_csv(index=False).encode(),
        file_name="predicted-and-measured.csv",
        mime="text/csv",
    )
    right.download_button(
        words("evidence.download_report"),
        lambda: REPORT.read_bytes(),
        file_name="fit-report.csv",
        mime="text/csv",
    )


def _doubts(words: Words) -> None:
    st.header(words("evidence.doubts"), anchor=False)
    st.markdown(words("evidence.doubts_intro"))
    counts = {name: sum(row.measured.doubt == name for row in rows()) for name in DOUBTS}
    queued = sum(row.share == "doubtful" and not row.measured.doubt for row in rows())
    lines = [
        f"- **{count}** {words(f'evidence.doubt_{name}')}"
        for name, count in counts.items()
        if count
    ]
    st.markdown("\n".join([*lines, f"- **{queued}** {words('evidence.doubt_low_load')}"]))


def _constants(words: Words) -> None:
    st.header(words("evidence.constants"), anchor=False)
    st.markdown(words("evidence.constants_intro"))
    left, right = st.columns(2)
    engines_header = [
        words("evidence.engine"),
        words("evidence.operator_time"),
        words("evidence.all_reduce_time"),
        words("evidence.link_share"),
    ]
    by_engine = [
        [
            engine_text(name, words),
            numbers.seconds(own.operator, words),
            numbers.seconds(own.all_reduce, words),
            numbers.percent(own.link, words, digits=2),
        ]
        for name, own in overheads().items()
    ]
    left.markdown(_table(engines_header, by_engine, "lrrr"))
    formats = ("bf16", "fp8", "nvfp4")
    by_chip = [
        [
            chips()[slug].name,
            *(numbers.percent(own.compute.get(name), words, digits=2) for name in formats),
            numbers.percent(own.memory, words, digits=2),
        ]
        for slug, own in kernels().items()
    ]
    kernels_header = [words("evidence.chip"), *formats, words("evidence.bandwidth")]
    right.markdown(_table(kernels_header, by_chip, "lrrrr"))


def _sources(words: Words) -> None:
    st.header(words("frame.sources"), anchor=False)
    used = {row.measured.source for row in rows()} | {"AIC012", "VIDUR"}
    # The sources are described in English, whatever the language of the page.
    st.markdown(
        "\n".join(
            f"- **{own.id}**: [{own.title}]({own.url}), {own.date}. {own.conditions}"
            for own in measurement_sources().values()
            if own.id in used
        )
    )
