"""Lecture mode: what is seen from the last row, what keys do, and the speaker's window."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from pages.shared.language import LANGUAGES
from tests.browser.lecture_page import (
    HALL,
    STANDS,
    WITH_CHARTS,
    active_control,
    cut_labels,
    open_hall,
    open_plain_hall,
    overlapping_labels,
    sizes_of_type,
    wait_for_charts,
    wait_for_mode,
    wait_for_step,
)
from tests.browser.player_page import (
    PAGES,
    differences,
    open_player,
    place,
    slide_input,
    slider_names,
    table_of,
    tables_drawn,
    wait_for_rest,
    wait_for_table,
)

LEAST_PIXELS = 20
FIGURES = ".player-figures .player-figure"
OTHERS = (
    ":is([class*=_sliders], [class*=_filters]) "
    "[data-testid=stElementContainer]:not([data-active]):has(input, button)"
)
STORY = "story=first-token&step=3&prompt=16384"


def active(page: Page) -> str:
    return page.locator(".player-slider[data-active] input").get_attribute("name")


@pytest.fixture
def hall(new_page: Callable[..., Page], server: str) -> Page:
    """The roofline in lecture mode on a projector."""
    page = new_page(**HALL)
    open_hall(page, server, "/roofline", "lang=en")
    return page


@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize("name", PAGES)
def test_all_type_can_be_read_from_the_last_row(
    new_page: Callable[..., Page], server: str, name: str, code: str
) -> None:
    page = new_page(**HALL, color_scheme="dark" if code == "it" else "light")
    open_hall(page, server, PAGES[name], f"lang={code}&{STORY}")
    sizes = sizes_of_type(page)
    assert len(sizes) > 20
    assert [item for item in sizes if item[0] < LEAST_PIXELS] == []
    assert len(page.locator(".player-figure text").all()) > 10


@pytest.mark.parametrize("name", PAGES)
def test_figures_slider_and_sentence_stand_on_one_screen(
    new_page: Callable[..., Page], server: str, name: str
) -> None:
    page = new_page(**HALL)
    open_hall(page, server, PAGES[name], "lang=en")
    for part in (".player-figures", ".player-readouts", ".player-bar", ".player-sentence"):
        box = page.locator(part).bounding_box()
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= 1080 + 1, part
    # And the figures take the room that there is.
    assert page.locator(".player-figure").first.bounding_box()["height"] > 1080 / 2
    assert box["y"] + box["height"] > 1080 - 60
    wide = page.evaluate("() => document.querySelector('[data-testid=stMain]').scrollWidth")
    assert wide <= 1920
    for item in page.locator(".player-readout").all():
        assert item.evaluate("item => item.getBoundingClientRect().right") <= 1920


@pytest.mark.parametrize("name", PAGES)
def test_larger_type_lays_no_more_labels_on_one_another(
    new_page: Callable[..., Page], server: str, name: str
) -> None:
    """A figure's texts and the room for them grow alike."""
    page = new_page()
    open_player(page, server, PAGES[name], "?lang=en")
    before = overlapping_labels(page)
    projected = new_page(**HALL)
    open_hall(projected, server, PAGES[name], "lang=en")
    assert len(overlapping_labels(projected)) <= len(before), overlapping_labels(projected)


@pytest.mark.parametrize("size", [(1366, 768), (1280, 720)], ids="{0[0]}x{0[1]}".format)
@pytest.mark.parametrize("name", PAGES)
def test_on_a_small_projector_nothing_needs_scrolling(
    new_page: Callable[..., Page], server: str, name: str, size: tuple[int, int]
) -> None:
    width, height = size
    page = new_page(viewport={"width": width, "height": height})
    open_hall(page, server, PAGES[name], "lang=it")
    below = 0.0
    for part in (".player-readouts", ".player-figures", ".player-bar", ".player-sentence"):
        box = page.locator(part).bounding_box()
        assert box["y"] >= below - 1, part  # one below the other
        below = box["y"] + box["height"]
    assert below <= height + 1
    heights = [figure.bounding_box()["height"] for figure in page.locator(FIGURES).all()]
    assert min(heights) > height / 3
    assert [item for item in sizes_of_type(page) if item[0] < LEAST_PIXELS] == []
    wide = page.evaluate("() => document.querySelector('[data-testid=stMain]').scrollWidth")
    assert wide <= width


@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize("name", STANDS)
def test_pages_without_a_player_are_readable_from_the_last_row(
    new_page: Callable[..., Page], server: str, name: str, code: str
) -> None:
    page = new_page(**HALL, color_scheme="dark" if code == "it" else "light")
    open_plain_hall(page, server, name, f"lang={code}")
    sizes = sizes_of_type(page)
    assert len(sizes) > 20
    assert [item for item in sizes if item[0] < LEAST_PIXELS] == []
    if name in WITH_CHARTS:
        assert len(page.locator(".lecture-chart text").all()) > 10
        assert cut_labels(page) == []


@pytest.mark.parametrize("size", [(1920, 1080), (1366, 768)], ids="{0[0]}x{0[1]}".format)
@pytest.mark.parametrize("name", WITH_CHARTS)
def test_charts_control_and_sentence_of_streamlit_stand_on_one_screen(
    new_page: Callable[..., Page], server: str, name: str, size: tuple[int, int]
) -> None:
    page = new_page(viewport={"width": size[0], "height": size[1]})
    open_plain_hall(page, server, name, "lang=en")
    said = page.locator(STANDS[name]).bounding_box()
    assert size[1] - 60 < said["y"] + said["height"] <= size[1] + 1
    chart = page.locator(".lecture-chart").first.bounding_box()
    assert chart["height"] > size[1] / 3.2
    assert chart["y"] + chart["height"] < said["y"]
    control = page.locator("[data-active]").bounding_box()
    assert chart["y"] < control["y"] < said["y"]
    expect(page.locator("[data-testid=stSidebar]")).to_be_hidden()


@pytest.mark.parametrize("name", WITH_CHARTS)
def test_a_page_without_a_player_shows_one_control_at_a_time(
    new_page: Callable[..., Page], server: str, name: str
) -> None:
    page = new_page(**HALL)
    open_plain_hall(page, server, name, "lang=en")
    first, seen = active_control(page), []
    for _ in range(20):
        seen.append(active_control(page))
        wide = page.locator("[data-active]").bounding_box()["width"]
        if not seen[-1].startswith("pick_"):  # those stand above their sides
            for other in page.locator(OTHERS).all():
                assert other.bounding_box()["width"] < wide / 2
                assert other.inner_text().strip() or other.locator("input").input_value()
        page.keyboard.press("ArrowDown")
        if active_control(page) == first:
            break
    assert len(seen) == len(set(seen)) > 5
    page.keyboard.press("ArrowUp")
    assert active_control(page) == seen[-1]


def test_keys_move_a_slider_and_a_list_of_streamlit(
    new_page: Callable[..., Page], server: str
) -> None:
    page = new_page(**HALL)
    open_plain_hall(page, server, "disaggregation", "lang=en&prompt=512")
    value = page.locator("[data-active] [data-testid=stSliderThumbValue]")
    before, said = value.inner_text(), page.locator("p.sentence").inner_text()
    page.keyboard.press("+")
    expect(value).not_to_have_text(before)
    expect(page.locator("p.sentence")).not_to_have_text(said)
    page.wait_for_function("() => new URLSearchParams(location.search).has('rate')")
    assert "lecture=1" in page.url
    wait_for_charts(page)
    page.keyboard.press("ArrowLeft")
    expect(value).to_have_text(before)
    while active_control(page) != "pick_total":
        page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => new URLSearchParams(location.search).has('prefill_pool')")
    assert active_control(page) == "pick_total"
    page.keyboard.press("r")
    page.wait_for_function("() => !new URLSearchParams(location.search).has('prefill_pool')")
    expect(value).to_have_text("10 requests/s")  # the prompt is the default again, and the rate
    page.keyboard.press("l")
    wait_for_mode(page, on=False)
    expect(page.locator(".lecture-chart")).to_have_count(0)
    expect(page.locator("[data-testid=stPlotlyChart]").first).to_be_visible()
    expect(page.locator("[data-testid=stSidebar]")).to_be_visible()


def test_keys_choose_what_is_compared_on_the_page_of_evidence(
    new_page: Callable[..., Page], server: str
) -> None:
    page = new_page(**HALL)
    open_plain_hall(page, server, "evidence", "lang=en")
    said = page.locator(STANDS["evidence"])
    before = said.inner_text()
    page.keyboard.press("ArrowRight")
    expect(page.locator("[data-active] [aria-checked=true]")).to_have_text("TTFT")
    expect(said).not_to_have_text(before)
    page.keyboard.press("-")
    expect(said).to_have_text(before)


def test_icons_are_as_large_as_before_after_the_lecture(page: Page, server: str) -> None:
    page.set_default_timeout(60_000)
    page.goto(f"{server}/disaggregation?lang=en")
    icons = page.locator("[data-testid=stTooltipIcon] svg")
    expect(page.locator("[data-testid=stPlotlyChart] .js-plotly-plot")).to_have_count(
        5, timeout=60_000
    )
    before = icons.evaluate_all("all => all.map(one => one.getBoundingClientRect().width)")
    page.keyboard.press("l")
    wait_for_charts(page)
    page.keyboard.press("l")
    wait_for_mode(page, on=False)
    page.wait_for_timeout(500)
    assert icons.evaluate_all("all => all.map(one => one.getBoundingClientRect().width)") == before


def test_chrome_is_away_and_comes_back(hall: Page) -> None:
    sidebar = hall.locator("[data-testid=stSidebar]")
    expect(sidebar).to_be_hidden()
    hall.keyboard.press("l")
    expect(sidebar).to_be_visible()
    assert "lecture" not in hall.url
    wait_for_rest(hall)
    assert hall.evaluate(
        "() => document.querySelector('[data-figure=roofline]')._fullLayout.font.size"
    ) == pytest.approx(13)
    hall.keyboard.press("L")
    expect(sidebar).to_be_hidden()
    assert "lecture=1" in hall.url


@pytest.mark.parametrize(("scheme", "ink", "paper"), [("light", 0, 255), ("dark", 255, 0)])
def test_projector_themes_are_black_and_white(
    new_page: Callable[..., Page], server: str, scheme: str, ink: int, paper: int
) -> None:
    page = new_page(**HALL, color_scheme=scheme)
    open_hall(page, server, "/roofline", "lang=en")
    colours = page.evaluate(
        """() => [getComputedStyle(document.querySelector('.player-sentence')).color,
          getComputedStyle(document.querySelector('.stApp')).backgroundColor,
          getComputedStyle(document.querySelector('.player-figure text')).fill]"""
    )
    assert colours == [f"rgb({v}, {v}, {v})" for v in (ink, paper, ink)]


@pytest.mark.parametrize("name", PAGES)
def test_figures_in_large_type_show_the_table(
    new_page: Callable[..., Page], server: str, name: str
) -> None:
    page = new_page(**HALL)
    open_player(page, server, PAGES[name], "?lang=en")
    page.keyboard.press("l")  # entered with the figures standing
    wait_for_mode(page, on=True)
    wait_for_rest(page)
    table = table_of(page, name)
    slider = slider_names(page)[0]
    for index in (1, len(table["sliders"][slider]["stops"]) - 2):
        slide_input(page, slider, index)
        wait_for_rest(page)
        wrong = [line for line in differences(page, table, slider, index) if ".size" not in line]
        assert wrong == []


def test_one_slider_at_a_time(hall: Page) -> None:
    names = slider_names(hall)
    assert active(hall) == names[0]
    for key, expected in (("ArrowDown", 1), ("ArrowDown", 2), ("ArrowUp", 1), ("Tab", 2)):
        hall.keyboard.press(key)
        assert active(hall) == names[expected], key
    large = hall.locator(".player-slider[data-active]").bounding_box()["width"]
    for other in hall.locator(".player-slider:not([data-active])").all():
        assert other.bounding_box()["width"] < large / 2
        assert other.locator("output").inner_text()  # what it stands at can be read
    hall.locator(".player-slider:not([data-active])").first.click()
    assert active(hall) == names[0]


def test_arrows_move_the_large_slider_when_no_story_is_open(hall: Page) -> None:
    name, start, before = active(hall), place(hall, active(hall)), tables_drawn(hall)
    for _ in range(3):
        hall.keyboard.press("ArrowRight")
    hall.keyboard.press("ArrowLeft")
    wait_for_table(hall, before)
    assert place(hall, name) == start + 2
    table = table_of(hall)
    assert table["sliders"][name]["index"] == start + 2
    assert "lecture=1" in hall.url
    hall.wait_for_timeout(1500)  # Python has been told, and has written nothing else
    assert "lecture=1" in hall.url
    hall.keyboard.press("r")
    hall.wait_for_function(
        "([name, at]) => Number(document.querySelector(`input[name=${name}]`).value) === at",
        arg=[name, start],
    )


def test_space_plays_the_large_slider(hall: Page) -> None:
    hall.keyboard.press("ArrowDown")
    name = active(hall)
    start = place(hall, name)
    hall.keyboard.press("Space")
    hall.wait_for_function(
        "([name, start]) => document.querySelector(`input[name=${name}]`).value > start + 1",
        arg=[name, start],
    )
    hall.keyboard.press("Space")
    wait_for_rest(hall)


def test_reset_in_a_story_is_the_step(new_page: Callable[..., Page], server: str) -> None:
    page = new_page(**HALL)
    open_hall(page, server, "/roofline", f"lang=en&{STORY}")
    name, start = active(page), place(page, active(page))
    assert name == "prompt"
    for pause in (0, 2000):  # before Python is told, and after
        page.keyboard.press("Shift+ArrowRight")
        page.keyboard.press("-")
        page.keyboard.press("-")
        assert place(page, name) == start - 1
        page.wait_for_timeout(pause)
        page.keyboard.press("r")
        page.wait_for_function(
            "([name, at]) => Number(document.querySelector(`input[name=${name}]`).value) === at",
            arg=[name, start],
        )
        page.wait_for_timeout(1500)
        assert place(page, name) == start
        assert "prompt=16384" in page.url


def test_keys_are_listed_in_a_dialog(hall: Page) -> None:
    hall.keyboard.press("?")
    dialog = hall.get_by_role("dialog")
    expect(dialog).to_be_visible()
    for key in ("←", "→", "Space", "R", "N", "L", "?"):
        expect(dialog.locator("kbd", has_text=key).first).to_be_visible()
    hall.keyboard.press("l")  # means nothing while the list is open
    expect(dialog).to_be_visible()
    hall.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    assert "lecture=1" in hall.url
    hall.locator(".lecture-help").click()
    expect(dialog).to_be_visible()


@pytest.mark.parametrize("key", ["l", "r", "n", "?"])
def test_keys_typed_into_a_field_are_text(page: Page, server: str, key: str) -> None:
    open_player(page, server, "/batching", "?lang=en")
    page.locator("[data-testid=stNumberInput] input").focus()
    page.keyboard.press(key)
    page.wait_for_timeout(300)
    assert "lecture" not in page.url
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert len(page.context.pages) == 1


def test_page_without_lecture_mode_loads_nothing_of_it(page: Page, server: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    open_player(page, server, "/roofline", "?lang=en")
    assert not [url for url in asked if "lecture" in url]


def test_window_of_the_speaker_follows_and_leads(
    new_page: Callable[..., Page], server: str
) -> None:
    page = new_page(**HALL)
    open_hall(page, server, "/roofline", f"lang=en&{STORY}")
    with page.context.expect_page() as opened:
        page.keyboard.press("n")
    speaker = opened.value
    speaker.wait_for_selector(".notes-note")
    first = speaker.locator(".notes-note").inner_text()
    assert page.locator("details").is_hidden()
    page.keyboard.press("ArrowRight")
    wait_for_step(page, "first-token", 4)
    speaker.wait_for_function(
        "before => document.querySelector('.notes-note').innerText !== before", arg=first
    )
    expect(speaker.locator("[data-notes-live]")).to_have_text(
        page.locator(".player-sentence").text_content()
    )
    speaker.keyboard.press("ArrowLeft")
    wait_for_step(page, "first-token", 3)
    speaker.wait_for_function(
        "before => document.querySelector('.notes-note').innerText === before", arg=first
    )
    assert "notes=1" in speaker.url
    assert "notes" not in page.url
    speaker.keyboard.press("l")
    wait_for_mode(page, on=False)


def test_window_of_the_speaker_hears_pages_without_a_player(
    new_page: Callable[..., Page], server: str
) -> None:
    page = new_page(**HALL)
    open_plain_hall(page, server, "disaggregation", "lang=en&prompt=512")
    with page.context.expect_page() as opened:
        page.keyboard.press("n")
    live = opened.value.locator("[data-notes-live]")
    before = page.locator("p.sentence").text_content()
    expect(live).to_have_text(before)
    opened.value.keyboard.press("+")
    expect(page.locator("p.sentence")).not_to_have_text(before)
    expect(live).to_have_text(page.locator("p.sentence").text_content())


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("code", LANGUAGES)
def test_nothing_serious_for_axe(
    new_page: Callable[..., Page], server: str, code: str, scheme: str
) -> None:
    page = new_page(**HALL, color_scheme=scheme)
    open_hall(page, server, "/roofline", f"lang={code}&{STORY}")
    _check(page)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    _check(page)
    page.keyboard.press("Escape")
    page.keyboard.press("l")
    wait_for_mode(page, on=False)
    _check(page)
    page.goto(f"{server}/stories?lang={code}")
    page.wait_for_selector(".stories")
    _check(page)
    page.goto(f"{server}/roofline?lang={code}&{STORY}&notes=1")
    page.wait_for_selector(".notes")
    _check(page)


def _check(page: Page) -> None:
    found = Axe().run(page).response["violations"]
    serious = [one for one in found if one["impact"] in ("serious", "critical")]
    assert [(one["id"], [node["html"][:120] for node in one["nodes"]]) for one in serious] == []
