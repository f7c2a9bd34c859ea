"""The stories' files: complete, true to physics, and clear about what is wrong with a bad one."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from pages.menu import VIEWS
from pages.shared import numbers
from pages.shared.language import LANGUAGES, words
from pages.shared.lecture import step_address
from pages.shared.scenario import Scenario
from pages.shared.state import Session
from pages.shared.stories import (
    StoryError,
    check_pages,
    placeholders,
    read_story,
    stories,
    told_in,
)
from pages.shared.story_numbers import NUMBERS, written
from physics.predict import parse_question, predict
from tests.pages.test_app import html_of, open_page, query_of

STEPS = [
    pytest.param(story, number, id=f"{story.slug}-{number}")
    for story in stories().values()
    for number in range(1, len(story.steps) + 1)
]

GOOD = """
order: 1
title: {en: Why, it: Perché}
about: {en: Because, it: Perché sì}
steps:
  - page: roofline
    scenario: {batch: 8}
    others: {alone: {}}
    sentence: {en: "{ttft}", it: "{ttft}"}
    look: {en: "{alone.ttft}", it: "{alone.ttft}"}
    question: {en: "{over.alone.ttft}", it: "{over.alone.ttft}"}
    note: {en: note, it: nota}
  - page: roofline
    sentence: {en: a, it: b}
    look: {en: a, it: b}
    question: {en: a, it: b}
    note: {en: a, it: b}
"""


def told(step, name: str, code: str) -> str:
    text = step.texts()[name][code]
    return written(text, step.scenario, step.others, words(code))


def test_there_are_the_five_questions_of_a_first_lecture():
    assert len(stories()) >= 5
    titles = [story.title["en"] for story in stories().values()]
    assert titles[:5] == [
        "Why is the first token slow?",
        "Why does a 989 TFLOPS chip write at 200 tokens/s?",
        "How far does batching carry?",
        "Can decode become compute-bound?",
        "Why split the pools?",
    ]


@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize(("story", "number"), STEPS)
def test_every_text_is_whole_and_every_number_known(story, number, code):
    step = story.steps[number - 1]
    for name in step.texts():
        text = told(step, name, code)
        assert not re.search(r"[{}]|\bnan\b|\binf\b|None|∞|—", text), text


@pytest.mark.parametrize(("story", "number"), STEPS)
def test_no_result_of_physics_is_written_into_a_story(story, number):
    """A digit stands only where a format (fp8), a model or a code page says so."""
    step = story.steps[number - 1]
    for text in step.texts().values():
        for code in LANGUAGES:
            bare = re.sub(r"\{[^}]*\}|fp8", "", text[code])
            assert not re.search(r"\d", bare), bare


@pytest.mark.parametrize(("story", "number"), STEPS)
def test_scenario_of_a_step_fits_into_memory(story, number):
    scenario = story.steps[number - 1].scenario
    known = {name: value for name, value in scenario.query().items() if name in _OPTIONS}
    assert predict(parse_question(known))["fits"]


_OPTIONS = set(predict(parse_question({}))) | {"bandwidth", "flops", "weights", "kv"}


def test_numbers_are_those_of_the_command():
    answer = predict(parse_question({"batch": "8"}))
    alone = predict(parse_question({}))
    for code in LANGUAGES:
        said = words(code)
        text = written(
            "{ttft}|{over.alone.ttft}|{alone.tokens_per_s_user}",
            Scenario(batch=8),
            {"alone": Scenario()},
            said,
        )
        assert text.split("|") == [
            numbers.seconds(answer["ttft_s"], said),
            numbers.multiple(answer["ttft_s"] / alone["ttft_s"], said, trim=True),
            numbers.tokens_per_second(alone["tokens_per_s_user"], said),
        ]


@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize("name", NUMBERS)
def test_every_number_can_be_written(name, code):
    text = written(f"{{{name}}}", Scenario(model="mixtral-8x7b", tp=2), {}, words(code))
    assert text
    assert text != "—"


def test_what_does_not_fit_has_no_time():
    assert written("{ttft}", Scenario(model="llama-3.1-405b"), {}, words("en")) == "—"


def write(folder: Path, text: str, name: str = "why.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_good_file_is_read(tmp_path):
    story = read_story(write(tmp_path, GOOD))
    assert (story.slug, len(story.steps)) == ("why", 2)
    assert story.steps[0].scenario == Scenario(batch=8)
    assert story.steps[1].scenario == Scenario()


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("order: 1", "order: soon", "order: .*integer"),
        (", it: Perché}", "}", "title it: .*required"),
        ("{batch: 8}", "{batsch: 8}", "steps 1 scenario: no option 'batsch'"),
        ("{batch: 8}", "{batch: 0}", "steps 1 scenario: batch: '0' cannot be used; try 1"),
        ("{batch: 8}", "8", "steps 1 scenario: a scenario is a list"),
        ('en: "{ttft}"', 'en: "{ttfft}"', "steps 1: sentence.en: {ttfft} is no number"),
        ('en: "{ttft}"', 'en: "{tpot}"', "steps 1: sentence: the languages show different"),
        ("others: {alone: {}}", "others: {}", "steps 1: .*{alone.ttft}: no such other scenario"),
        ("others: {alone: {}}", "others: {batch: {}, alone: {}}", "batch is the name of a number"),
        ("{over.alone.ttft}", "{over.alone.chip}", "chip is no quantity"),
        ("note: {en: note, it: nota}", "remark: x", "steps 1 note: .*required"),
        ("note: {en: note, it: nota}", "note: {en: '', it: nota}", "steps 1 note en: .*at least 1"),
        ("steps:", "stages:", "steps: .*required"),
        ("title: {", "title: [", "no valid YAML"),
    ],
)
def test_a_bad_file_is_named_with_the_place_and_the_reason(tmp_path, before, after, message):
    assert before in GOOD
    path = write(tmp_path, GOOD.replace(before, after))
    with pytest.raises(StoryError, match=rf"why\.yaml: (.|\n)*{message}"):
        read_story(path)


def test_no_bad_file_is_left_out_in_silence(tmp_path):
    write(tmp_path, GOOD, "good.yaml")
    write(tmp_path, "order: 2", "short.yaml")
    write(tmp_path, GOOD, "old.yml")
    with pytest.raises(StoryError) as error:
        stories(tmp_path)
    assert "short.yaml" in str(error.value)
    assert "old.yml: a story is a file that ends in .yaml" in str(error.value)


def test_adding_a_file_adds_a_story(tmp_path):
    write(tmp_path, GOOD.replace("order: 1", "order: 2"), "second.yaml")
    write(tmp_path, GOOD, "zuerst.yaml")
    assert list(stories(tmp_path)) == ["zuerst", "second"]


def test_a_page_that_does_not_exist_is_named(tmp_path):
    story = read_story(write(tmp_path, GOOD.replace("page: roofline", "page: rooflein", 1)))
    with pytest.raises(StoryError, match=r"why\.yaml: steps 1 page: no page 'rooflein'"):
        check_pages([story], [view.name for view in VIEWS])


@pytest.mark.parametrize(
    ("query", "slug", "step", "given"),
    [
        ({}, None, 1, []),
        ({"story": "batching"}, "batching", 1, []),
        ({"story": "BATCHING", "step": "2"}, "batching", 2, []),
        ({"story": "batchin", "step": "2"}, "batching", 2, ["batchin"]),
        ({"story": "qqqqqq"}, None, 1, ["qqqqqq"]),
        ({"story": "batching", "step": "0"}, "batching", 1, ["0"]),
        ({"story": "batching", "step": "99"}, "batching", 6, ["99"]),
        ({"story": "batching", "step": "²"}, "batching", 1, ["²"]),
        ({"step": "3"}, None, 1, []),
    ],
)
def test_story_and_step_of_a_link(query, slug, step, given):
    story, number, notices = told_in(query)
    assert (story and story.slug, number) == (slug, step)
    assert [notice.given for notice in notices] == given


class Target:
    def __init__(self, path: str) -> None:
        self.url_path = path


PAGES = {view.name: Target("" if view is VIEWS[0] else view.name) for view in VIEWS}


@pytest.mark.parametrize(("story", "number"), STEPS)
def test_address_of_a_step_restores_it(story, number):
    session = Session()
    session.read({"lang": "it", "lecture": "1", "notes": "1", "prompt": "99"}, None)
    parts = urlsplit(step_address(story, number, session, PAGES))
    query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    assert parts.path in (story.steps[number - 1].page, "./")
    assert "notes" not in query
    again = Session()
    again.read(query, None)
    assert (again.story, again.step) == (story, number)
    assert again.scenario == story.steps[number - 1].scenario
    assert (again.language, again.kept["lecture"], again.notices) == ("it", "1", [])


@pytest.mark.parametrize("code", LANGUAGES)
def test_list_of_stories_links_every_step(code):
    app = open_page("stories", lang=code)
    assert not app.exception
    text = html_of(app)
    for story in stories().values():
        assert story.title[code] in text
        for number in range(1, len(story.steps) + 1):
            assert f"story={story.slug}&amp;step={number}" in text


@pytest.mark.parametrize("code", LANGUAGES)
def test_step_is_told_on_its_page_and_on_every_other(code):
    for view in VIEWS:
        app = open_page(view.name, story="first-token", step="2", prompt="16384", lang=code)
        assert not app.exception
        text = html_of(app)
        assert told(stories()["first-token"].steps[1], "sentence", code) in text
        away = words(code)("lecture.back") in text
        assert away == (view.name != "one-request")
        kept = query_of(app)
        assert (kept["story"], kept["step"], kept["prompt"]) == ("first-token", "2", "16384")


def test_unknown_story_is_said_and_the_page_shown():
    app = open_page("roofline", story="qqqqqq", step="2", lang="en")
    assert "story = “qqqqqq”" in html_of(app)
    assert query_of(app) == {"lang": "en"}


@pytest.mark.parametrize("code", LANGUAGES)
def test_window_of_the_speaker_shows_the_note_and_no_player(code):
    app = open_page("roofline", story="first-token", step="3", prompt="16384", notes="1", lang=code)
    assert not app.exception
    assert not app.title
    text = html_of(app)
    steps = stories()["first-token"].steps
    assert told(steps[2], "note", code) in text
    assert told(steps[3], "sentence", code) in text


def test_window_of_the_speaker_without_a_story_says_so():
    text = html_of(open_page("roofline", notes="1", lang="en"))
    assert words("en")("lecture.no_story") in text


def test_note_is_not_among_what_lecture_mode_shows():
    """It stands in a part of its own, which lecture mode takes away."""
    text = html_of(open_page("roofline", story="first-token", step="3", lang="en"))
    note = told(stories()["first-token"].steps[2], "note", "en")
    assert re.search(rf"<details>.*{re.escape(note)}.*</details>", text)
    style = Path("pages/shared/player/browser/lecture.css").read_text(encoding="utf-8")
    assert re.search(r"\.story :is\(details\b.*display: none", style)


def test_names_in_braces():
    assert placeholders("{a} and {b.c}, {over.b.c}") == {"a", "b.c", "over.b.c"}
