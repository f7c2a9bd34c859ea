"""The controls of the evidence: which measurements are shown. What they hold stands in the URL."""

from __future__ import annotations

import streamlit as st

from pages.shared.evidence.words import all_text, filter_text, selection_of
from pages.shared.language import Words
from pages.shared.scenario import DEFAULTS, EVIDENCE_OPTIONS, Scenario, url_text
from pages.shared.state import store_values
from physics.evidence import FILTERS, METRICS, PREDICTIONS, SHARES


def evidence_controls(scenario: Scenario, words: Words) -> None:
    """Show metric, prediction, shares and filters, and a way back to where they started."""
    first, second, third, last = st.columns([0.85, 0.85, 3.2, 1], vertical_alignment="bottom")
    with first:
        _one_of("metric", METRICS, scenario, words, format_func=str.upper)
    with second:
        _one_of(
            "prediction",
            PREDICTIONS,
            scenario,
            words,
            format_func=lambda name: words(f"controls.{name}"),
        )
    with third:
        st.pills(
            words("evidence.shares"),
            SHARES,
            selection_mode="multi",
            format_func=lambda name: words(f"evidence.share_{name}"),
            **_stored("measured", list(scenario.measured)),
        )
    pool = selection_of(scenario).pool()
    for column, field in zip(st.columns(len(FILTERS)), FILTERS, strict=True):
        picked = getattr(scenario, f"measured_{field}")
        # What was picked stays, even where nothing of it is in the pool.
        options = sorted({*picked, *(getattr(row.measured, field) for row in pool)})
        with column:
            st.multiselect(
                words(f"evidence.{field}"),
                options,
                placeholder=all_text(field, words),
                format_func=lambda name, field=field: filter_text(field, name, words),
                **_stored(f"measured_{field}", list(picked)),
            )
    if any(getattr(scenario, name) != DEFAULTS[name] for name in EVIDENCE_OPTIONS):
        last.button(
            words("evidence.reset"),
            key="evidence_reset",
            width="stretch",
            on_click=store_values,
            args=(dict.fromkeys(EVIDENCE_OPTIONS, ""),),
        )


def _one_of(name: str, options: tuple[str, ...], scenario: Scenario, words: Words, **how) -> None:
    st.segmented_control(
        words(f"evidence.{name}"),
        options,
        required=True,
        **how,
        **_stored(name, getattr(scenario, name)),
    )


def _stored(name: str, value: str | list[str]) -> dict[str, object]:
    """Give a widget its value, which the URL may have moved, and have it stored when it changes."""
    key = f"evidence_{name}"
    st.session_state[key] = value

    def store() -> None:
        picked = st.session_state[key]
        known = picked if isinstance(picked, str) else EVIDENCE_OPTIONS[name].parse(picked)
        store_values({name: "" if known == DEFAULTS[name] else url_text(known)})

    return {"key": key, "on_change": store}
