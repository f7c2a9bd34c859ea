"""Which counts when URL and session disagree."""

from pages.shared.state import Session


def a_session(**query: str) -> Session:
    session = Session()
    session.read(query, "en-US")
    session.written = session.query()
    session.links = session.query()
    return session


def test_url_as_written_changes_nothing():
    session = a_session(batch="32", lang="en")
    session.follow({"batch": "32", "lang": "en"})
    assert session.scenario.batch == 32


def test_back_wins_over_the_session():
    session = a_session(batch="32", lang="en")
    session.follow({"batch": "8", "lang": "it"}, history=True)
    assert (session.scenario.batch, session.language) == (8, "it")


def test_link_drawn_before_a_slider_moved_does_not_win():
    session = a_session(batch="32", lang="en")
    session.scenario = session.scenario.replaced(batch=64)
    session.written = session.query()
    session.follow({"batch": "32", "lang": "en"})
    assert session.scenario.batch == 64


def test_back_to_such_a_link_does_not_win_either():
    session = a_session(batch="32", lang="en")
    session.scenario = session.scenario.replaced(batch=64)
    session.written = session.query()
    session.follow({"batch": "32", "lang": "en"})
    session.links = session.query()
    session.follow({"batch": "32", "lang": "en"}, history=True)
    assert session.scenario.batch == 64


def test_language_of_the_browser_for_a_bare_address():
    session = Session()
    session.read({}, "it-IT")
    assert session.language == "it"
    assert session.query() == {}


def test_language_is_said_once_the_url_says_anything():
    session = Session()
    session.read({"batch": "2"}, "it-IT")
    assert session.query() == {"batch": "2", "lang": "it"}


def test_unknown_language_is_said():
    session = Session()
    session.read({"lang": "xx"}, "it-IT")
    assert session.language == "it"
    assert [(n.name, n.given, n.used) for n in session.notices] == [("lang", "xx", "it")]


def test_lecture_mode_is_kept_and_the_clock_is_not():
    assert a_session(lecture="1", time="3", lang="en").query() == {"lang": "en", "lecture": "1"}
