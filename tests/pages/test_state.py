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


def test_story_and_step_are_kept_and_bad_ones_said():
    session = a_session(story="batching", step="2", batch="8", lang="en")
    assert session.query() == {"batch": "8", "lang": "en", "story": "batching", "step": "2"}
    assert (session.story.slug, session.step) == ("batching", 2)
    session.follow({"story": "batching", "step": "77", "lang": "en"}, history=True)
    assert session.query()["step"] == str(len(session.story.steps))
    assert [notice.name for notice in session.notices] == ["step"]


def test_lecture_mode_entered_by_a_key_outlives_a_slider_that_is_stored():
    session = a_session(batch="8", lang="en")
    session.keep({"batch": "8", "lang": "en", "lecture": "1"})
    assert session.query() == {"batch": "8", "lang": "en", "lecture": "1"}


def test_page_without_a_story_forgets_the_one_before():
    session = a_session(story="batching", step="2", lang="en")
    session.follow({"lang": "en"}, history=True)
    assert (session.story, session.query()) == (None, {"lang": "en"})
