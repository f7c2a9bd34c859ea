"""What a page that Python draws stood at before the last move, from one run to the next."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TypeVar

import streamlit as st

State = TypeVar("State")


def before_last_move(
    key: str, present: State, moved: Callable[[State, State], object] = operator.ne
) -> State:
    """Return the state before the last move: the present one where none was made.

    It stays the same in runs without a move.

    Parameters
    ----------
    key : str
        Where the session remembers it.
    present : object
        Where the page stands in this run.
    moved : callable
        ``moved(one, other)`` says whether the second is another state than the first.
    """
    before, last = st.session_state.get(key, (present, present))
    if moved(last, present):
        before = last
    st.session_state[key] = before, present
    return before
