"""The disaggregation page: one traffic, two designs, simulated side by side (S14)."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

import streamlit as st

from pages.shared.language import Words
from pages.shared.last_move import before_last_move
from pages.shared.pinning import compared_block, pin_bar, pinned_scenario
from pages.shared.scenario import Scenario
from pages.shared.serving.change import what_changed
from pages.shared.serving.compare import comparison
from pages.shared.serving.controls import WHOLE_PAGE, choices, draw_whole_page, examples, sliders
from pages.shared.serving.figures import Looked, break_even, goodput, look, more, sides, tails
from pages.shared.serving.services import Judged, Question
from pages.shared.serving.settings import differences, pinned_words
from pages.shared.serving.snippet import service_snippet
from pages.shared.serving.words import formula, honest, refusal, sentences, takeaway
from pages.shared.sources import Source
from pages.shared.state import Session

_STATES = "disaggregation_states"


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

    def snippet(self, scenario: Scenario) -> str:
        """Return the page's numbers as Python."""
        return service_snippet(scenario)

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
    now = None if refused else look(Question.of(scenario))
    other = pinned_scenario(session)
    pinned = _pinned(other, words) if other else None
    sides(now, pinned, session)
    sliders(now.question if now else None, session)
    if not now:
        st.session_state.pop(_STATES, None)
        st.html(f'<p class="sentence" role="status">{refused}</p>')
        examples(words)
        choices(session)
        return
    question, stood = now.question, now.stood
    said = sentences(question, stood, words)
    st.html(f'<p class="sentence" role="status">{said}</p>')
    st.html(f'<p class="changed" aria-live="polite">{escape(_changed(now, words))}</p>')
    pin_bar(session, _pinned_words(other, pinned, question, words), on_swap=draw_whole_page)
    examples(words)
    choices(session)
    if pinned:
        compared_block(comparison(pinned, now, words), words)
    tails(now, pinned, words)
    goodput(now, pinned, words)
    more(question, words)
    break_even(question, pinned.question if pinned else None, words)
    st.header(words("section.formula"), anchor=False)
    st.markdown(formula(question, stood, words))
    st.header(words("section.honest"), anchor=False)
    st.markdown(honest(question, stood, words))
    st.markdown(words("disaggregation.left_out"))
    st.header(words("section.takeaway"), anchor=False)
    st.markdown(takeaway(stood, words))


def _pinned(other: Scenario, words: Words) -> Looked | None:
    """Simulate what is pinned; None where it cannot be."""
    return None if refusal(other, words) else look(Question.of(other))


def _pinned_words(
    other: Scenario | None, pinned: Looked | None, question: Question, words: Words
) -> str:
    if pinned:
        return escape(pinned_words(pinned.question, question, words))
    # What refuses is HTML already.
    return words("disaggregation.pin_refused", why=refusal(other, words)) if other else ""


def _changed(now: Looked, words: Words) -> str:
    """Say what the last move changed; it stays until the next one."""
    present = Judged(now.question, now.stood)

    def moved(one: Judged, other: Judged) -> bool:
        return bool(differences(one.question, other.question, words))

    return what_changed(before_last_move(_STATES, present, moved), present, words)
