"""The player's behaviour, on a page of the app."""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page

from tests.browser.player_page import (
    PAGES,
    READY,
    differences,
    drawn_outlines,
    figure_values,
    let_go,
    open_player,
    place,
    release_at,
    slide_input,
    slider_names,
    table_of,
    tables_drawn,
    wait_for_rest,
    wait_for_table,
)


@pytest.fixture
def roofline(page: Page, server: str) -> Page:
    """The roofline page, its figures standing."""
    open_player(page, server)
    return page


@pytest.mark.parametrize("name", PAGES)
def test_figures_and_texts_equal_the_table_at_several_stops(
    page: Page, server: str, name: str
) -> None:
    open_player(page, server, PAGES[name])
    table = table_of(page, name)
    for slider in slider_names(page):
        last = len(table["sliders"][slider]["stops"]) - 1
        for index in {0, last // 3, (2 * last) // 3, last}:
            slide_input(page, slider, index)
            wait_for_rest(page)
            assert differences(page, table, slider, index) == []
            shown = page.locator(f"label[for=slide-{slider}] + output").text_content()
            assert shown == table["sliders"][slider]["texts"][index]
        slide_input(page, slider, table["sliders"][slider]["index"])


def test_other_sliders_follow_the_released_one(roofline: Page) -> None:
    first, second = slider_names(roofline)[:2]
    release_at(roofline, first, 3)
    table = table_of(roofline)
    assert table["sliders"][first]["index"] == 3
    for index in (1, 5):
        slide_input(roofline, second, index)
        wait_for_rest(roofline)
        assert differences(roofline, table, second, index) == []


@pytest.mark.parametrize("name", PAGES)
def test_what_is_moved_directly_equals_what_plotly_draws(
    page: Page, server: str, name: str
) -> None:
    open_player(page, server, PAGES[name])
    for slider in slider_names(page):
        last = int(page.locator(f".player-slider input[name={slider}]").get_attribute("max"))
        for index in sorted({1, last // 2, last - 1}):
            slide_input(page, slider, index)
            page.evaluate("() => new Promise(requestAnimationFrame)")
            page.evaluate("() => new Promise(requestAnimationFrame)")
            direct = drawn_outlines(page)
            wait_for_rest(page)
            settled = drawn_outlines(page)
            assert [item[:3] for item in direct] == [item[:3] for item in settled]
            for moved, plotly in zip(direct, settled, strict=True):
                # Plotly moves the edges of bars to whole pixels.
                assert moved[3] == pytest.approx(plotly[3], abs=1.0), (slider, index, moved[:3])


def test_dragging_sends_nothing_and_release_asks_for_one_table(roofline: Page) -> None:
    name = slider_names(roofline)[0]
    requests: list[str] = []
    frames: list[object] = []
    roofline.on("request", lambda request: requests.append(request.url))
    session = roofline.context.new_cdp_session(roofline)
    session.send("Network.enable")
    session.on("Network.webSocketFrameSent", lambda frame: frames.append(frame))
    box = roofline.locator(f".player-slider input[name={name}]").bounding_box()
    y = box["y"] + box["height"] / 2
    before = tables_drawn(roofline)
    roofline.mouse.move(box["x"] + box["width"] / 2, y)
    roofline.mouse.down()
    roofline.mouse.move(box["x"] + 20, y, steps=40)
    roofline.wait_for_timeout(1500)
    assert requests == []
    assert frames == []
    roofline.mouse.up()
    wait_for_table(roofline, before)
    roofline.wait_for_timeout(1000)
    asked = [urlsplit(url).path for url in requests]
    asked = [path for path in asked if "favicon" not in path]
    assert asked == ["/table/roofline", "/answer/change"]  # the figures first, then why
    assert len(frames) == 1  # Python is told, once


def test_release_rewrites_the_address_and_survives_a_reload(roofline: Page) -> None:
    name = slider_names(roofline)[0]
    release_at(roofline, name, 4)
    table = table_of(roofline)
    assert table["sliders"][name]["index"] == 4
    assert parse_qs(urlsplit(roofline.url).query)[name] == [table["sliders"][name]["urls"][4]]
    roofline.wait_for_timeout(1500)
    roofline.reload()
    roofline.wait_for_selector(READY)
    assert place(roofline, name) == 4
    assert differences(roofline, table_of(roofline), name, 4) == []


def test_zoom_survives_drag_and_release(roofline: Page) -> None:
    name = slider_names(roofline)[0]
    ranges = "() => document.querySelector('.player-figure')._fullLayout.xaxis.range.slice()"
    before = roofline.evaluate(ranges)
    plot = roofline.locator(".player-figure").first.locator(".nsewdrag").first.bounding_box()
    roofline.mouse.move(plot["x"] + plot["width"] * 0.3, plot["y"] + plot["height"] * 0.3)
    roofline.mouse.down()
    roofline.mouse.move(plot["x"] + plot["width"] * 0.7, plot["y"] + plot["height"] * 0.7, steps=5)
    roofline.mouse.up()
    wait_for_rest(roofline)
    zoomed = roofline.evaluate(ranges)
    assert zoomed != before
    slide_input(roofline, name, 2)
    wait_for_rest(roofline)
    assert roofline.evaluate(ranges) == zoomed
    release_at(roofline, name, 5)
    assert roofline.evaluate(ranges) == zoomed
    roofline.wait_for_timeout(1500)  # and Python's answer
    assert roofline.evaluate(ranges) == zoomed


def test_play_moves_and_pause_takes_the_value(roofline: Page) -> None:
    play = roofline.locator(".player-play")
    name = (
        roofline.evaluate(
            "() => document.querySelector('.player select[name=sweep]')?.value ?? null"
        )
        or slider_names(roofline)[0]
    )
    release_at(roofline, name, 0)
    label = play.inner_text()
    play.click()
    start = place(roofline, name)
    roofline.wait_for_function(
        "([name, start]) => document.querySelector(`input[name=${name}]`).value > start + 1",
        arg=[name, start],
    )
    assert play.inner_text() != label
    before = tables_drawn(roofline)
    play.click()
    wait_for_table(roofline, before)
    assert play.inner_text() == label
    table = table_of(roofline)
    index = table["sliders"][name]["index"]
    assert place(roofline, name) == index
    assert differences(roofline, table, name, index) == []


def test_space_toggles_play_but_not_on_a_button(roofline: Page) -> None:
    pressed = "() => document.querySelector('.player-play').ariaPressed === 'true'"
    roofline.locator(".player-figure").first.click(position={"x": 5, "y": 5})
    roofline.keyboard.press("Space")
    roofline.wait_for_function(pressed)
    roofline.keyboard.press("Space")
    roofline.wait_for_timeout(100)
    assert not roofline.evaluate(pressed)
    roofline.locator(".player-play").focus()
    roofline.keyboard.press("Space")  # the button's own press, once
    roofline.wait_for_function(pressed)


def test_arrow_keys_move_a_stop_and_release(roofline: Page) -> None:
    name = slider_names(roofline)[0]
    start = place(roofline, name)
    before = tables_drawn(roofline)
    roofline.locator(f".player-slider input[name={name}]").focus()
    roofline.keyboard.press("ArrowRight")
    wait_for_table(roofline, before)
    assert place(roofline, name) == start + 1
    assert table_of(roofline)["sliders"][name]["index"] == start + 1


def test_step_and_reset(roofline: Page) -> None:
    names = slider_names(roofline)
    resting = {name: place(roofline, name) for name in names}
    buttons = roofline.locator(".player-buttons button")
    before = tables_drawn(roofline)
    buttons.nth(1).click()
    wait_for_table(roofline, before)
    moved = [name for name in names if place(roofline, name) != resting[name]]
    assert len(moved) == 1
    assert place(roofline, moved[0]) == resting[moved[0]] + 1
    before = tables_drawn(roofline)
    buttons.nth(2).click()
    wait_for_table(roofline, before)
    assert {name: place(roofline, name) for name in names} == resting
    assert not set(parse_qs(urlsplit(roofline.url).query)) & set(names)


def test_reduced_motion_steps_through_the_stops(new_page: Callable[..., Page], server: str) -> None:
    page = new_page(reduced_motion="reduce")
    open_player(page, server)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.evaluate(
        """() => {
          window.places = [];
          new MutationObserver(() => window.places.push(performance.now()))
            .observe(document.querySelector('.player-sliders'),
                     { subtree: true, childList: true, characterData: true });
        }"""
    )
    page.locator(".player-play").click()
    page.wait_for_timeout(2200)
    page.locator(".player-play").click()
    times = page.evaluate("() => window.places")
    steps = 1 + sum(later - sooner > 200 for sooner, later in itertools.pairwise(times))
    assert 3 <= steps <= 6
    assert not [url for url in asked if "play=" in url]


def test_an_older_answer_does_not_win(roofline: Page) -> None:
    name = slider_names(roofline)[0]
    first = threading.Event()

    def answer(route: object) -> None:
        if not first.is_set():
            first.set()
            time.sleep(0.7)  # the older request is answered after the newer one was sent
        route.continue_()

    roofline.route("**/table/**", answer)
    before = tables_drawn(roofline)
    slide_input(roofline, name, 2)
    let_go(roofline, name)
    roofline.wait_for_timeout(20)
    slide_input(roofline, name, 6)
    let_go(roofline, name)
    wait_for_table(roofline, before)
    roofline.wait_for_timeout(1000)
    assert place(roofline, name) == 6
    table = table_of(roofline)
    assert table["sliders"][name]["index"] == 6
    assert differences(roofline, table, name, 6) == []


def test_a_failing_server_leaves_the_figure_and_says_so(roofline: Page) -> None:
    name = slider_names(roofline)[0]
    figure = roofline.locator(".player-figure").first.get_attribute("data-figure")
    roofline.route("**/table/**", lambda route: route.abort())
    slide_input(roofline, name, 2)
    let_go(roofline, name)
    roofline.wait_for_function("() => document.querySelector('.player-status').innerText !== ''")
    shown = figure_values(roofline, figure)
    assert json.dumps(shown) != "[]"
    before = tables_drawn(roofline)
    roofline.unroute("**/table/**")
    wait_for_table(roofline, before)  # it tries again by itself
    assert roofline.locator(".player-status").inner_text() == ""
    assert place(roofline, name) == 2
    roofline.problems = [p for p in roofline.problems if "/table/" not in p]


def test_first_screen_holds_figure_player_and_sentence(roofline: Page) -> None:
    bottom = roofline.locator(".player-sentence").bounding_box()
    assert bottom["y"] + bottom["height"] <= 900


def test_on_a_phone_sliders_follow_the_figure(new_page: Callable[..., Page], server: str) -> None:
    page = new_page(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    open_player(page, server)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    figure = page.locator(".player-figure").first.bounding_box()
    sliders = page.locator(".player-sliders").bounding_box()
    readouts = page.locator(".player-readouts").bounding_box()
    assert figure["y"] + figure["height"] <= sliders["y"] < readouts["y"]
    assert sliders["y"] - (figure["y"] + figure["height"]) < 40
    for target in page.locator(".player button, .player select, .player-slider input").all():
        assert target.bounding_box()["height"] >= 40


def test_a_theme_change_gives_figures_the_new_ink(roofline: Page) -> None:
    ink = "() => document.querySelector('.player-figure')._fullLayout.font.color"
    before = roofline.evaluate(ink)
    figure = roofline.locator(".player-figure").first.get_attribute("data-figure")
    shown = figure_values(roofline, figure)
    roofline.emulate_media(color_scheme="dark")
    roofline.wait_for_function(
        "before => document.querySelector('.player-figure')._fullLayout.font.color !== before",
        arg=before,
    )
    after = figure_values(roofline, figure)
    assert [trace.get("x") for trace in after] == [trace.get("x") for trace in shown]


def test_figures_are_named_for_those_who_do_not_see_them(roofline: Page) -> None:
    table = table_of(roofline)
    name = slider_names(roofline)[0]
    for figure in roofline.locator(".player-figure").all():
        assert figure.get_attribute("role") == "img"
        column = table["rows"][name].get(f"t/alt_{figure.get_attribute('data-figure')}")
        if column:
            index = table["sliders"][name]["index"]
            rows = column["rows"]
            assert figure.get_attribute("aria-label") == rows[0 if len(rows) == 1 else index]
    for slider in roofline.locator(".player-slider input").all():
        assert slider.get_attribute("aria-label")
        assert slider.get_attribute("aria-valuetext")


def test_no_serious_finding_by_axe(roofline: Page) -> None:
    axe_module = pytest.importorskip("axe_playwright_python.sync_playwright")
    results = axe_module.Axe().run(roofline, context=".player").response
    serious = [
        (violation["id"], [node["target"] for node in violation["nodes"]])
        for violation in results["violations"]
        if violation["impact"] in ("serious", "critical")
    ]
    assert serious == []
