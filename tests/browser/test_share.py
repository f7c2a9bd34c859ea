"""A shared link, an embed and what is taken away show the same, from this server alone."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, parse_qsl, urlsplit

import pytest
from playwright.sync_api import Page

from pages.menu import VIEWS
from pages.shared.language import words
from pages.shared.links import VERSION
from pages.shared.player.view import has_player
from pages.shared.qr import qr_svg
from pages.shared.share_routes import has_snippet
from tests.browser.player_page import (
    differences,
    figure_values,
    open_player,
    place,
    release_at,
    slide_input,
    slider_names,
    table_of,
    wait_for_rest,
)

LATER = ("share.js", "state.js", "take_away.js", "handout.js", "share.css")


def read_outs(page: Page) -> list[str]:
    return page.locator(".player-readout dd").all_inner_texts()


def open_share(page: Page) -> None:
    page.locator(".share-open").click()
    page.locator("dialog.share[open]").wait_for()


def shared_link(page: Page) -> str:
    return page.locator("dialog.share input").first.input_value()


def take_away(page: Page, kind: str, folder: Path, figure: int = 0) -> Path:
    page.locator(".player-menu").nth(figure).click()
    with page.expect_download() as coming:
        page.locator(f".player-menu-items [data-kind={kind}]").click()
    path = folder / coming.value.suggested_filename
    coming.value.save_as(path)
    return path


# ------------------------------------------------------------------ links


def test_a_copied_link_restores_the_same_numbers_in_another_browser(
    new_page: Callable[..., Page], server: str
) -> None:
    here = new_page(permissions=["clipboard-read", "clipboard-write"])
    open_player(here, server, "/decode-shift", "?lang=it&model=llama-3.1-70b&tp=4&v=1")
    release_at(here, "prompt", 7)
    # A second move, and the button at once: Python has not heard of either.
    slide_input(here, "batch", 9)
    here.locator(".player-slider input[name=batch]").focus()
    here.keyboard.press("ArrowRight")
    open_share(here)
    here.get_by_role("button", name=words("it")("share.copy_link")).click()
    here.get_by_text(words("it")("share.copied")).wait_for()
    link = here.evaluate("() => navigator.clipboard.readText()")
    wait_for_rest(here)

    there = new_page(locale="en-US")
    there.goto(link)
    there.wait_for_selector(".player[data-ready][data-tables]")
    wait_for_rest(there)
    assert parse_qs(urlsplit(link).query)["v"] == [str(VERSION)]
    assert there.locator("html").get_attribute("lang") == "it"
    assert [place(there, "prompt"), place(there, "batch")] == [7, 10]
    assert read_outs(there) == read_outs(here)
    for figure in ("shift", "phase_map"):
        assert figure_values(there, figure) == figure_values(here, figure)
    assert differences(there, table_of(there, "decode-shift"), "batch", 10) == []
    assert there.locator("p.notice").count() == 0


def test_what_plays_is_shared_where_it_stopped(page: Page, server: str) -> None:
    open_player(page, server, "/roofline", "?lang=en")
    page.locator(".player-play").click()
    page.wait_for_function("() => document.querySelector('input[name=prompt]').value > 15")
    open_share(page)
    link = shared_link(page)
    wait_for_rest(page)
    stops = table_of(page)["sliders"]["prompt"]
    asked = parse_qs(urlsplit(link).query)["prompt"][0]
    assert stops["urls"][int(place(page, "prompt"))] == asked
    assert page.locator(".player-play").get_attribute("aria-pressed") == "false"


def test_a_newer_link_says_so_and_opens(page: Page, server: str) -> None:
    open_player(page, server, "/roofline", "?batch=32&lang=en&v=1000")
    assert "made by a newer version" in page.locator("p.notice").inner_text()
    assert parse_qs(urlsplit(page.url).query) == {"batch": ["32"], "lang": ["en"]}


def name_of(view: object) -> str:
    return view.name


@pytest.mark.parametrize("view", [view for view in VIEWS if not has_player(view)], ids=name_of)
def test_pages_without_a_player_are_shared_too(page: Page, server: str, view: object) -> None:
    page.goto(f"{server}/{view.name}?chip=h200-sxm&lang=en")
    open_share(page)
    parts = urlsplit(shared_link(page))
    assert parts.path == f"/{view.name}"
    assert dict(parse_qsl(parts.query)) == {"chip": "h200-sxm", "lang": "en", "v": str(VERSION)}
    assert page.locator(".share-python").count() == has_snippet(view)
    page.evaluate("() => { window.print = () => { window.printed = true; }; }")
    page.locator(".share-print").click()
    page.wait_for_function("window.printed")


def test_an_embed_shows_the_same_and_leads_out(page: Page, server: str) -> None:
    open_player(page, server, "/kv-cache", "?batch=8&lang=en")
    shown = read_outs(page)
    open_share(page)
    code = page.locator("dialog.share input").nth(1).input_value()
    address = urlsplit(server).netloc
    page.route(f"{server}/embedder.html", lambda route: route.fulfill(
        content_type="text/html", body=f"<!doctype html><title>x</title>{code}"
    ))  # fmt: skip
    page.goto(f"{server}/embedder.html")
    frame = page.frame_locator("iframe")
    frame.locator(".player[data-state=rest]").wait_for()
    assert frame.locator(".player-readout dd").all_inner_texts() == shown
    assert not frame.locator("[data-testid=stSidebarUserContent]").is_visible()
    out = frame.locator("a.share-whole")
    out.focus()
    parts = urlsplit(out.evaluate("link => link.href"))
    assert (parts.netloc, parts.path) == (address, "/kv-cache")
    assert dict(parse_qsl(parts.query)) == {"batch": "8", "lang": "en"}


# ------------------------------------------------------------------ the hall


def test_qr_code_fills_the_screen_and_holds_the_link(page: Page, server: str) -> None:
    open_player(page, server, "/roofline", "?lang=en&batch=8")
    open_share(page)
    link = shared_link(page)
    page.locator(".share-qr").focus()
    page.keyboard.press("Enter")
    image = page.locator("dialog.share-hall img")
    page.wait_for_function("() => document.querySelector('dialog.share-hall img').naturalWidth")
    box = image.bounding_box()
    assert min(box["width"], box["height"]) > 0.85 * 900
    source = page.request.get(image.evaluate("image => image.src"))
    assert source.body() == qr_svg(link)  # which test_share.py of the pages decodes
    assert link in page.locator("dialog.share-hall").inner_text()
    page.keyboard.press("Escape")
    assert page.locator("dialog.share-hall").count() == 0
    assert page.evaluate("document.activeElement.className") == "share-qr"
    page.keyboard.press("Escape")
    assert page.locator("dialog.share").count() == 0
    assert page.evaluate("document.activeElement.className") == "share-open"


def test_all_comes_from_this_server_and_nothing_before_it_is_asked_for(
    page: Page, server: str, tmp_path: Path
) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    open_player(page, server, "/roofline", "?lang=en")
    assert [url for url in asked if url.endswith(LATER)] == []
    open_share(page)
    page.locator(".share-python summary").click()
    page.locator(".share-close").click()
    for kind in ("png", "svg", "html", "csv"):
        take_away(page, kind, tmp_path)
    own = (f"{server}/", "data:", "blob:", server.replace("http", "ws"))
    assert [url for url in asked if not url.startswith(own)] == []
    assert any("share.js" in url for url in asked)


# ------------------------------------------------------------------ what is taken away


def numbers_of(traces: list[dict]) -> list[list]:
    return [[trace.get(key) for key in ("x", "y", "text", "customdata")] for trace in traces]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_exported_page_opens_offline_and_shows_the_same(
    new_page: Callable[..., Page], server: str, tmp_path: Path, scheme: str
) -> None:
    page = new_page(color_scheme=scheme)
    open_player(page, server, "/decode-shift", "?lang=it&batch=8")
    release_at(page, "prompt", 6)
    path = take_away(page, "html", tmp_path, figure=1)
    assert path.name == "decode-shift-phase_map.html"
    shown, alt = figure_values(page, "phase_map"), page.locator("[data-figure=phase_map]")
    sentence = page.locator(".player-sentence").inner_text()

    away = new_page(offline=True)
    asked: list[str] = []
    away.on("request", lambda request: asked.append(request.url))
    away.goto(path.as_uri())
    away.locator("#figure .main-svg").first.wait_for()
    drawn = away.evaluate("document.querySelector('#figure').data")
    assert numbers_of(drawn) == numbers_of(json.loads(json.dumps(shown)))
    paper = "() => getComputedStyle(document.body).backgroundColor"
    assert (away.evaluate(paper) == "rgb(255, 255, 255)") == (scheme == "light")
    assert sentence in away.locator("main").inner_text()
    assert away.locator("#figure").get_attribute("aria-label") == alt.get_attribute("aria-label")
    assert away.locator("html").get_attribute("lang") == "it"
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []


def test_image_and_drawing_carry_claim_settings_and_link(
    page: Page, server: str, tmp_path: Path
) -> None:
    open_player(page, server, "/roofline", "?lang=en&batch=8")
    png = take_away(page, "png", tmp_path).read_bytes()
    assert png.startswith(b"\x89PNG")
    assert int.from_bytes(png[16:20], "big") >= 2000  # pixels across
    drawing = take_away(page, "svg", tmp_path).read_text(encoding="utf-8")
    plain = re.sub(r"<[^>]+>", " ", drawing).replace("\u202f", " ").replace("\xa0", " ")
    for text in ("Prefill reaches the compute roof", "8 sequences", "H100 SXM", "batch=8"):
        assert text in plain, text
    assert "http" not in re.sub(r"http://www\.w3\.org/\S*|>[^<]*<", "", drawing)


def test_data_of_a_figure_are_its_numbers(page: Page, server: str, tmp_path: Path) -> None:
    open_player(page, server, "/roofline", "?lang=en&batch=8")
    text = take_away(page, "csv", tmp_path).read_bytes().decode("utf-8")
    rows = list(csv.DictReader(io.StringIO(text)))
    traces = [one for one in figure_values(page, "roofline") if one.get("mode") != "text"]
    assert {row["x_axis"] for row in rows} == {"Arithmetic intensity [FLOP/byte]"}
    for name in ("Prefill", "Decode"):
        told = [(float(row["x"]), float(row["y"])) for row in rows if row["series"] == name]
        drawn = [
            pair
            for one in traces
            if one["name"] == name
            for pair in zip(one["x"], one["y"], strict=True)
        ]
        assert len(told) > 1
        assert told == [pair for pair in drawn if None not in pair]


def test_what_does_not_fit_has_no_row(page: Page, server: str, tmp_path: Path) -> None:
    open_player(page, server, "/", "?model=llama-3.1-405b&lang=en")
    text = take_away(page, "csv", tmp_path).read_text(encoding="utf-8")
    assert "null" not in text
    assert "NaN" not in text


@pytest.mark.parametrize("language", ["en", "it"])
def test_a_menu_is_used_by_keyboard(page: Page, server: str, language: str) -> None:
    open_player(page, server, "/kv-cache", f"?lang={language}")
    said = words(language)
    button = page.get_by_role("button", name=said("share.figure_menu", number=2))
    button.focus()
    page.keyboard.press("Enter")
    page.locator("[role=menuitem]").first.wait_for()
    focused = "document.activeElement.textContent"
    assert page.evaluate(focused) == said("share.png")
    page.keyboard.press("ArrowUp")
    assert page.evaluate(focused) == said("share.csv")
    with page.expect_download() as coming:
        page.keyboard.press("Enter")
    assert coming.value.suggested_filename.endswith(".csv")
    assert page.evaluate("document.activeElement.className") == "player-menu"
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    assert page.locator("[role=menuitem]").count() == 0
    assert page.locator(".player-play").get_attribute("aria-pressed") != "true"


def test_python_of_the_dialog_computes_what_is_read_out(page: Page, server: str) -> None:
    open_player(page, server, "/", "?lang=en&chip=h200-sxm")
    release_at(page, "prompt", 9)
    open_share(page)
    code = page.locator(".share-python code").text_content()
    assert shared_link(page) in code
    space: dict = {"print": lambda *said: None}
    exec(code, space)
    assert f"{space['numbers']['ttft_s'] * 1e3:.3g}" in read_outs(page)[0]


def name_of(view: object) -> str:
    return view.name


MANY_FIGURES = 5
LEAST_POINTS = {"label": 7.5, "text": 8.5}


@pytest.mark.parametrize("view", [view for view in VIEWS if has_player(view)], ids=lambda v: v.name)
def test_a_handout_can_be_read_and_is_one_page_where_that_is_possible(
    page: Page, server: str, view: object
) -> None:
    path = "/" if view is VIEWS[0] else f"/{view.name}"
    open_player(page, server, path, "?lang=it")
    release_at(page, slider_names(page)[0], 5)
    shown = read_outs(page)
    page.evaluate("() => { window.print = () => { window.printed = true; }; }")
    open_share(page)
    link = shared_link(page)
    page.locator(".share-print").click()
    page.wait_for_function("window.printed")
    sheet = page.locator(".handout")
    assert sheet.locator("dd").all_inner_texts() == shown
    assert link in sheet.inner_text()
    figures = page.locator(".player-figure").count()
    assert sheet.locator(".handout-figures > div > svg").count() == figures
    assert sheet.locator("h2").count() >= 2
    for kind, points in points_of_type(page).items():
        assert min(points) >= LEAST_POINTS[kind] - 0.01, kind
    paper = page.pdf(prefer_css_page_size=True, print_background=True)
    sheets = len(re.findall(rb"/Type\s*/Page\b", paper))
    assert sheets == (1 if figures < MANY_FIGURES else 2)


def points_of_type(page: Page) -> dict[str, list[float]]:
    """Give the size on paper, in points, of every label of the figures and of every text."""
    return page.evaluate(
        """() => {
          const points = (element) => (72 / 96) * parseFloat(getComputedStyle(element).fontSize);
          const scale = (svg) => svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
          const label = [...document.querySelectorAll('.handout-figures > div > svg')].flatMap(
            (svg) => [...svg.querySelectorAll('text')].filter((t) => t.textContent.trim())
              .map((t) => points(t) * scale(svg)));
          const text = [...document.querySelectorAll('.handout :is(h1, h2, p, dt, dd, small)')]
            .filter((e) => e.textContent.trim()).map(points);
          return { label, text };
        }"""
    )
