"""Where the scenario lives: in the URL; a session remembers it from one run to the next.

A page link carries the scenario as it was when the page was drawn, a slider moved since is known
to the session only, and the browser's Back brings a URL of its own. `open_session` decides which
of them counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages.shared.guesses import is_guess
from pages.shared.language import LANGUAGES, Words, language_code, words
from pages.shared.links import read_link
from pages.shared.notices import UNSET, Notice, shortened
from pages.shared.pin import PIN, read_pin
from pages.shared.scenario import OTHER_PARAMETERS, Scenario
from pages.shared.stories import Story, told_in

_KEY = "session"
# Neither of the scenario nor of the language, but kept when the URL is written anew.
_KEPT = OTHER_PARAMETERS - {"lang", "time", "embed", "embed_options"}


@dataclass
class Session:
    """What one browser tab looks at.

    Attributes
    ----------
    scenario : Scenario
    language : str
        'en' or 'it'.
    language_in_url : bool
        Whether the URL says the language. A bare address stays bare until something is changed,
        so that it greets everybody in their own language.
    kept : dict
        Other parameters of the URL, such as lecture mode.
    story : Story or None
        The story that is open.
    step : int
        Its step, from one.
    notices : list of Notice
        What could not be used of the URL last read.
    written : dict
        The query that the URL has, as far as we know.
    links : dict
        The query in the links drawn last.
    passed_over : dict or None
        A query that came with a link and was older than the session.
    """

    scenario: Scenario = field(default_factory=Scenario)
    language: str = "en"
    language_in_url: bool = False
    kept: dict[str, str] = field(default_factory=dict)
    story: Story | None = None
    step: int = 1
    notices: list[Notice] = field(default_factory=list)
    written: dict[str, str] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    passed_over: dict[str, str] | None = None

    @property
    def words(self) -> Words:
        """The words of the language."""
        return words(self.language)

    def query(self) -> dict[str, str]:
        """Return the whole query of the URL."""
        language = {"lang": self.language} if self.language_in_url else {}
        return self.scenario.query() | language | self.kept

    def read(self, query: Mapping[str, str], browser_locale: str | None) -> None:
        """Take everything from a query."""
        self.passed_over = None
        query, of_version = read_link(query)
        self.scenario, notices = Scenario.from_query(query)
        self.notices = of_version + notices
        asked = query.get("lang", "")
        self.language = language_code([asked, browser_locale])
        if asked and language_code([asked]) != asked.strip().casefold()[:2]:
            self.notices.append(Notice("lang", shortened(asked), self.language))
        self.language_in_url = bool(query)
        self.keep(query)
        self.tell(query)

    def keep(self, query: Mapping[str, str]) -> None:
        """Take what is neither scenario nor language: lecture mode, a pinned scenario."""
        self.kept = {name: query[name] for name in sorted(_KEPT & set(query)) if query[name]}
        if PIN in self.kept:
            text, notices = read_pin(self.kept.pop(PIN))
            self.notices += notices
            self.kept |= {PIN: text} if text else {}
        if not is_guess(guess := self.kept.get("guess", "")) and guess:
            del self.kept["guess"]
            self.notices.append(Notice("guess", shortened(guess), UNSET))

    def tell(self, query: Mapping[str, str]) -> None:
        """Open the story that a query names, at its step; one that does not exist is said."""
        for name in ("story", "step"):
            self.kept.pop(name, None)
        self.story, self.step, notices = told_in(query)
        self.notices.extend(notices)
        if self.story is not None:
            self.kept |= {"story": self.story.slug, "step": str(self.step)}

    def follow(
        self,
        given: Mapping[str, str],
        *,
        history: bool = False,
        browser_locale: str | None = None,
    ) -> None:
        """Meet the query a run was started with: take it, or hold to what the session knows.

        Parameters
        ----------
        given : mapping
            The query.
        history : bool
            Whether the browser's Back or Forward started the run.
        browser_locale : str, optional
            The language of a URL that names none.
        """
        given = dict(given)
        if given in (self.written, self.passed_over):
            return
        if not history and given == self.links:
            self.passed_over = given
            return
        self.read(given, browser_locale)


def open_session() -> Session:
    """Return the session of this run, in agreement with the URL, and write the URL anew."""
    given = st.query_params.to_dict()
    if _KEY not in st.session_state:
        session = Session()
        session.read(given, st.context.locale)
        st.session_state[_KEY] = session
    else:
        session = st.session_state[_KEY]
        session.follow(given, history=_is_history(), browser_locale=st.context.locale)
    _write(session)
    session.links = session.query()
    return session


def store_values(values: Mapping[str, str]) -> None:
    """Put values of options, as they stand in a URL, into the session and the URL.

    The player reports the parameters that it keeps in the URL along with them. An empty value
    stands for the default, or for none. A value that cannot be used is replaced by the nearest
    that can, and a notice is left.
    """
    session: Session = st.session_state[_KEY]
    _keep(session)
    changed = dict(values)
    if "chip" in changed:
        # The custom figures belonged to the chip before.
        changed = {"bandwidth": "", "flops": ""} | changed
    session.scenario, session.notices = Scenario.from_query(session.scenario.query() | changed)
    session.keep(session.kept | {name: changed[name] for name in _KEPT & set(changed)})
    session.language_in_url = True
    _write(session)


def store_language(code: str) -> None:
    """Speak another language from now on."""
    session: Session = st.session_state[_KEY]
    _keep(session)
    if code in LANGUAGES:
        session.language = code
        session.language_in_url = True
    _write(session)


def reset_scenario() -> None:
    """Go back to the scenario that a bare address shows; the language stays."""
    session: Session = st.session_state[_KEY]
    _keep(session)
    session.scenario, session.notices = Scenario(), []
    session.language_in_url = True
    _write(session)


def _keep(session: Session) -> None:
    """Take over what a key has changed in the URL since the last full run, such as lecture mode."""
    session.keep(st.query_params.to_dict())


def _write(session: Session) -> None:
    query = session.query()
    present = st.query_params.to_dict()
    if present != query:
        # In the order of the URL, as the player writes it: the same query in another order would
        # be one more step in the browser's history.
        kept = {name: query[name] for name in present if name in query}
        st.query_params.from_dict(kept | query)
    session.written = query


def _is_history() -> bool:
    context = get_script_run_ctx()
    return bool(getattr(context, "is_history_navigation", False))
