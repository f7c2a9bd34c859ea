"""Long work on a page: a button starts it, a bar shows how far it is, another button stops it.

The work is a generator that yields the share that is done. Each run of the page takes a slice of
it and asks for another run, so that every other control answers in between, and stopping is heard.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Hashable
from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages.shared import numbers
from pages.shared.language import Words

SLICE_SECONDS = 0.4


@dataclass
class Job:
    """Work under way or done in one session.

    Attributes
    ----------
    key : hashable
        What the result depends on; with another key it is dropped.
    steps : generator
    done : float
        The share that is done.
    result : object
        What the generator returned; None before.
    """

    key: Hashable
    steps: Generator[float, None, Any]
    done: float = 0.0
    result: Any = None


def finished(name: str, key: Hashable) -> Any | None:
    """Return the result of a job, if it was done for this key."""
    job = st.session_state.get(_slot(name))
    return job.result if job is not None and job.key == key else None


def job(
    name: str,
    key: Hashable,
    start: Callable[[], Generator[float, None, Any]],
    words: Words,
    *,
    label: str,
    whole_page: bool = False,
) -> Any | None:
    """Show the button, or the bar; return the result when there is one.

    Parameters
    ----------
    name : str
        Of the job, unlike that of any other on the page.
    label : str
        What the button says that starts it.
    whole_page : bool
        Whether all of the page is drawn anew when it is done, not the fragment alone.
    """
    slot = _slot(name)
    work: Job | None = st.session_state.get(slot)
    if work is not None and work.key != key:
        work = st.session_state[slot] = None
    if work is None:
        st.button(label, key=f"{slot}_start", on_click=_begin, args=(slot, key, start))
        return None
    if work.result is not None:
        return work.result
    share = numbers.percent(work.done, words, digits=2)
    st.progress(min(work.done, 1.0), text=words("job.done", share=share))
    st.button(words("job.cancel"), key=f"{slot}_stop", on_click=_stop, args=(slot,))
    _take_a_slice(work)
    whole = work.result is not None and whole_page
    # A run of the whole page cannot ask for one of a fragment.
    inside = bool(getattr(get_script_run_ctx(), "fragment_ids_this_run", None))
    st.rerun(scope="fragment" if inside and not whole else "app")
    return None


def _take_a_slice(work: Job) -> None:
    until = time.perf_counter() + SLICE_SECONDS
    try:
        while time.perf_counter() < until:
            work.done = next(work.steps)
    except StopIteration as end:
        work.done, work.result = 1.0, end.value


def _begin(slot: str, key: Hashable, start: Callable[[], Generator[float, None, Any]]) -> None:
    st.session_state[slot] = Job(key, start())


def _stop(slot: str) -> None:
    st.session_state[slot] = None


def _slot(name: str) -> str:
    return f"job_{name}"
