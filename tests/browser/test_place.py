"""A guess that is a point on an empty figure: by mouse, by keyboard and by link."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from pages.shared.guesses import QUESTIONS
from pages.shared.guesses.placed import Placed
from pages.shared.language import LANGUAGES, words
from tests.browser.player_page import READY, open_player, release_at, wait_for_rest
from tests.browser.test_accessibility import serious

PLACED = [name for name, own in QUESTIONS.items() if isinstance(own, Placed)]
SLIDER = ".player-place-input"
VERDICT = ".player-verdict p"

# The traces that stand on a figure beside its own: the marks, as [x, y] each.
MARKS = """figure => {
  const node = document.querySelector(`[data-figure=${figure}]`);
  return node.data.filter((one) => one.line?.dash || one.marker?.symbol === 'circle-open')
    .filter((one) => one.hoverinfo === 'skip' && one.showlegend === false)
    .map(({ x, y, mode }) => [x[0], y[0], mode]);
}"""
CURVES = """figure => [...document.querySelectorAll(`[data-figure=${figure}] .scatterlayer .trace`)]
  .filter((one) => one.checkVisibility({ visibilityProperty: true })).length"""


def ask(page: Page, server: str, name: str, language: str = "en", query: str = "") -> None:
    open_player(page, server, f"/{name}", f"?lang={language}{query}")
    page.get_by_role("button", name=words(language)("guess.first")).click()
    page.locator(SLIDER).wait_for()


def asked_of(page: Page, name: str, language: str = "en") -> dict:
    parts = urlsplit(page.url)
    url = f"{parts.scheme}://{parts.netloc}/answer/guess"
    return page.request.get(url, params={"page": name, "now": "", "lang": language}).json()


@pytest.mark.parametrize("name", PLACED)
def test_a_click_on_the_empty_figure_places_the_guess_and_the_curve_comes_with_both(
    page: Page, server: str, name: str
) -> None:
    ask(page, server, name)
    asked = asked_of(page, name)
    figure, right = asked["place"]["figure"], asked["place"]
    # The axes are seen, the curve is not, and nothing says what the answer is.
    expect(page.locator(f"[data-figure={figure}] .xtick text").first).to_be_visible()
    assert page.evaluate(CURVES, figure) == 0
    assert page.locator(f"[data-figure={figure}]").get_attribute("aria-hidden") == "true"
    expect(page.locator(".player-readout dd").first).to_be_hidden()
    expect(page.locator(".player-menu").first).to_be_hidden()
    box = page.locator(".player-place-area").bounding_box()
    page.mouse.click(box["x"] + 0.3 * box["width"], box["y"] + 0.5 * box["height"])
    first = page.locator(SLIDER).input_value()
    # A drag goes on from there.
    page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 40, steps=4)
    page.mouse.up()
    chosen = asked["choices"][int(page.locator(SLIDER).input_value())]
    assert int(page.locator(SLIDER).input_value()) > int(first)
    at = page.locator(".player-place-mark").bounding_box()["x"] - box["x"]
    assert abs(at - 0.5 * box["width"]) < 0.04 * box["width"]
    expect(page.locator(".player-place output")).to_have_text(chosen["text"])
    page.get_by_role("button", name="That is my guess").click()
    expect(page.locator(VERDICT)).to_contain_text(chosen["verdict"])
    wait_for_rest(page)
    assert page.evaluate(CURVES, figure) > 0
    assert page.locator(f"[data-figure={figure}]").get_attribute("aria-hidden") is None
    marks = page.evaluate(MARKS, figure)
    assert [mark[0] for mark in marks] == [chosen["x"], right["x"], right["x"]]
    assert marks[-1] == [right["x"], right["y"], "markers"]
    # Another scenario ends it.
    page.get_by_role("button", name="Close").click()
    assert page.evaluate(MARKS, figure) == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_slider_places_it_by_keyboard_and_says_where_it_stands(
    page: Page, server: str, language: str
) -> None:
    ask(page, server, "kv-cache", language)
    said = words(language)
    slider = page.get_by_role("slider", name=said("guess.place_label"))
    expect(slider).to_be_focused()
    assert slider.bounding_box()["height"] >= 24
    page.keyboard.press("End")
    beyond = asked_of(page, "kv-cache", language)["choices"][-1]
    assert slider.get_attribute("aria-valuetext") == beyond["text"]
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    page.keyboard.press(" ")  # would start the player elsewhere
    chosen = asked_of(page, "kv-cache", language)["choices"][1]
    assert slider.get_attribute("aria-valuetext") == chosen["text"]
    assert page.locator(".player-play").get_attribute("aria-pressed") != "true"
    assert serious(page) == []
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(VERDICT)).to_contain_text(chosen["verdict"])
    expect(page.locator(VERDICT)).to_be_focused()
    wait_for_rest(page)
    assert serious(page) == []


def test_the_question_follows_the_scenario_and_keeps_the_mark(page: Page, server: str) -> None:
    ask(page, server, "kv-cache", query="&batch=8")
    expect(page.locator(".player-guess h2")).to_contain_text("of 8\xa0sequences")
    page.locator(SLIDER).fill("9")
    release_at(page, "batch", 0)
    expect(page.locator(".player-guess h2")).to_contain_text("of 1\xa0sequence weigh")
    assert page.locator(SLIDER).input_value() == "9"
    page.get_by_role("button", name="Show me").click()
    expect(page.locator(VERDICT)).to_contain_text("The answer: 123,000\xa0tokens.")


def test_the_placed_value_goes_into_the_link_on_request(
    page: Page, server: str, new_page: Callable[..., Page]
) -> None:
    ask(page, server, "decode-shift")
    page.locator(SLIDER).fill("11")
    page.get_by_role("button", name="That is my guess").click()
    assert "guess" not in parse_qs(urlsplit(page.url).query)
    page.get_by_role("button", name="Put my answer into the link").click()
    page.wait_for_timeout(1500)
    assert parse_qs(urlsplit(page.url).query)["guess"] == ["decode-shift.64"]
    other = new_page(viewport={"width": 390, "height": 844})
    other.goto(page.url)
    other.wait_for_selector(READY)
    expect(other.locator(VERDICT)).to_contain_text("You placed 64; it is 326, 5.1 times as much.")
    wait_for_rest(other)
    assert other.evaluate(MARKS, "shift")[0][0] == 64
