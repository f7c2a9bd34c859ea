"""Every story is walked by keyboard, in both languages, in lecture mode and out of it."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page

from pages.menu import VIEWS
from pages.shared.language import LANGUAGES, words
from pages.shared.stories import stories
from pages.shared.story_numbers import written
from tests.browser.lecture_page import HALL, wait_for_mode, wait_for_step
from tests.browser.player_page import PAGES, READY, slide_input, table_of, value_at, wait_for_rest


def plain(text: str) -> str:
    return text.replace("\xa0", " ")


def check_step(page: Page, slug: str, number: int, code: str) -> None:
    """Hold what stands on the screen against the file of the story."""
    step = stories()[slug].steps[number - 1]
    wait_for_step(page, slug, number, player=step.page in PAGES)
    parts = urlsplit(page.url)
    path = "" if step.page == VIEWS[0].name else step.page
    assert parts.path == f"/{path}"
    query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    assert step.scenario.query().items() <= query.items()
    assert query["lang"] == code
    for name in ("sentence", "look", "question"):
        told = written(step.texts()[name][code], step.scenario, step.others, words(code))
        shown = page.locator(f".story-{name}").inner_text()
        assert plain(told) in plain(shown)
    if step.page not in PAGES:
        title = words(code)(f"{step.page}.title")
        page.get_by_role("heading", name=title).wait_for(state="attached")
        return
    # The figures are those of the step: the player's sentence is the server's for this address.
    table = table_of(page, step.page)
    slider = next(iter(table["sliders"]))
    row = table["sliders"][slider]["index"]
    expected = page.evaluate(
        "html => { const e = document.createElement('p'); e.innerHTML = html;"
        " return e.textContent; }",
        value_at(table["rows"][slider]["t/sentence"], row),
    )
    assert page.locator(".player-sentence").text_content() == expected


@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize("slug", stories())
def test_story_is_walked_by_keyboard(
    new_page: Callable[..., Page], server: str, slug: str, code: str
) -> None:
    page = new_page(**HALL)
    page.goto(f"{server}/stories?lang={code}")
    start = page.locator(f'.story-start a[href*="story={slug}&"]').first
    start.focus()
    page.keyboard.press("Enter")
    last = len(stories()[slug].steps)
    for number in range(1, last + 1):
        check_step(page, slug, number, code)
        if number == 2:
            page.keyboard.press("l")
            wait_for_mode(page, on=True)
        if number < last:
            page.keyboard.press("ArrowRight")
    assert "lecture=1" in page.url
    page.keyboard.press("ArrowRight")  # behind the last step there is none
    page.wait_for_timeout(300)
    check_step(page, slug, last, code)
    page.keyboard.press("ArrowLeft")
    check_step(page, slug, last - 1, code)
    page.keyboard.press("l")
    wait_for_mode(page, on=False)
    assert "lecture" not in page.url
    check_step(page, slug, last - 1, code)


def test_step_as_a_link_in_another_browser(new_page: Callable[..., Page], server: str) -> None:
    first = new_page(**HALL)
    first.goto(f"{server}/roofline?prompt=16384&lang=it&story=first-token&step=3&lecture=1")
    check_step(first, "first-token", 3, "it")
    first.keyboard.press("ArrowRight")
    check_step(first, "first-token", 4, "it")
    second = new_page(**HALL)
    second.goto(first.url)
    check_step(second, "first-token", 4, "it")
    wait_for_mode(second, on=True)
    shown = [page.locator(".player-readouts").inner_text() for page in (first, second)]
    assert shown[0] == shown[1]


def test_back_of_the_browser_goes_a_step_back(page: Page, server: str) -> None:
    page.goto(f"{server}/?lang=en&story=first-token&step=1")
    check_step(page, "first-token", 1, "en")
    page.keyboard.press("ArrowRight")
    check_step(page, "first-token", 2, "en")
    page.keyboard.press("ArrowRight")
    check_step(page, "first-token", 3, "en")
    page.go_back()
    check_step(page, "first-token", 2, "en")
    page.go_back()
    check_step(page, "first-token", 1, "en")


def test_what_was_moved_does_not_follow_into_the_next_step(page: Page, server: str) -> None:
    page.goto(f"{server}/batching?lang=en&story=batching&step=1")
    check_step(page, "batching", 1, "en")
    # Moved and let go, but not yet told to Python; then told.
    for pause in (50, 1500):
        slide_input(page, "prompt", 3)
        page.locator("input[name=prompt]").dispatch_event("change")
        page.wait_for_timeout(pause)
        page.keyboard.press("ArrowRight")
        check_step(page, "batching", 2, "en")
        page.keyboard.press("ArrowLeft")
        check_step(page, "batching", 1, "en")
    page.wait_for_timeout(1500)  # longer than a report takes
    check_step(page, "batching", 1, "en")


def test_arrow_keys_in_a_slider_move_the_slider(page: Page, server: str) -> None:
    page.goto(f"{server}/batching?lang=en&story=batching&step=2&batch=8")
    check_step(page, "batching", 2, "en")
    before = page.locator("input[name=batch]").input_value()
    page.locator("input[name=batch]").focus()
    page.keyboard.press("ArrowRight")
    wait_for_rest(page)
    assert int(page.locator("input[name=batch]").input_value()) == int(before) + 1
    page.wait_for_selector('.story[data-story="batching 2"]')


def test_story_is_closed_where_one_is(page: Page, server: str) -> None:
    page.goto(f"{server}/batching?lang=en&story=batching&step=2&batch=8")
    check_step(page, "batching", 2, "en")
    page.locator(".story-links a", has_text=words("en")("lecture.close_story")).click()
    page.wait_for_selector(".story", state="detached")
    page.wait_for_selector(READY)
    assert "story" not in page.url
    assert "batch=8" in page.url
