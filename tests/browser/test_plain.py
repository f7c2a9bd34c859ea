"""Pages that Streamlit draws: their figures are taken away, printed and guessed as elsewhere."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from pages.shared.language import words
from pages.shared.player.plain import BODY
from tests.browser.test_accessibility import serious

SLOW_MS = 60_000
MENU = ".plain-menu .player-menu"
CHOICES = ".player-guess-choices button"
VERDICT = ".player-verdict p"
CHARTS = ".js-plotly-plot"
FIGURES = {"disaggregation": 5, "evidence": 2}
HIDDEN = f".st-key-{BODY} :is(h2, p, input, svg, dd)"

# What a figure shows, its arrays as lists: Streamlit keeps them as bytes.
SHOWN = """([selector, index]) => {
  const listed = (array) => {
    if (!array?.bdata) return Array.from(array ?? []);
    const bytes = Uint8Array.from(atob(array.bdata), (c) => c.charCodeAt(0));
    const kinds = {
      f8: Float64Array, f4: Float32Array, i4: Int32Array, u4: Uint32Array,
      i2: Int16Array, u2: Uint16Array, i1: Int8Array, u1: Uint8Array,
    };
    return Array.from(new kinds[array.dtype](bytes.buffer));
  };
  return document.querySelectorAll(selector)[index].data
    .map(({ x, y }) => [listed(x), listed(y)]);
}"""


@pytest.fixture(autouse=True)
def patience(page: Page) -> None:
    page.set_default_timeout(SLOW_MS)


def open_plain(page: Page, server: str, name: str, query: str = "?lang=en") -> None:
    page.goto(f"{server}/{name}{query}")
    page.locator(".plain[data-extras]").wait_for(state="attached")
    expect(page.locator(MENU)).to_have_count(FIGURES.get(name, 0), timeout=SLOW_MS)
    page.locator("[data-testid=stStatusWidget]").wait_for(state="detached")


def take_away(page: Page, kind: str, folder: Path, figure: int = 0) -> Path:
    page.locator(MENU).nth(figure).click()
    with page.expect_download() as coming:
        page.locator(f".player-menu-items [data-kind={kind}]").click()
    path = folder / coming.value.suggested_filename
    coming.value.save_as(path)
    return path


def numbers(traces: list) -> list:
    """Only numbers, in one precision: a gap is null."""
    return [[[v for v in axis if isinstance(v, float | int)] for axis in pair] for pair in traces]


def wait_for_question(page: Page, text: str) -> None:
    """Another page's question may take a busy machine a while."""
    page.locator(".player-guess h2", has_text=text).wait_for()


def guess_in_url(page: Page) -> list[str] | None:
    return parse_qs(urlsplit(page.url).query).get("guess")


def test_menus_outlive_a_moved_slider_and_export_what_is_shown_now(
    page: Page, server: str, tmp_path: Path
) -> None:
    open_plain(page, server, "disaggregation")
    before = take_away(page, "csv", tmp_path).read_text(encoding="utf-8")
    slider = page.get_by_role("slider", name="Request rate")
    slider.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("new URLSearchParams(location.search).get('rate') > ''")
    rate = parse_qs(urlsplit(page.url).query)["rate"][0]
    said = f"of {rate}\xa0requests/s"
    expect(page.locator("p.sentence")).to_contain_text(said, timeout=SLOW_MS)
    expect(page.locator(MENU)).to_have_count(5)
    path = take_away(page, "csv", tmp_path)
    assert path.name == "disaggregation-left.csv"
    after = path.read_text(encoding="utf-8")
    assert after != before
    told = {float(row["y"]) for row in csv.DictReader(io.StringIO(after))}
    shown = page.evaluate(SHOWN, [CHARTS, 0])
    drawn = {y for xs, ys in shown for x, y in zip(xs, ys, strict=False) if None not in (x, y)}
    assert told
    assert told <= drawn
    drawing = take_away(page, "svg", tmp_path).read_text(encoding="utf-8")
    plain = re.sub(r"<[^>]+>", " ", drawing).replace("\xa0", " ")
    for text in ("no prompt interrupts another", f"Request rate {rate} requests/s", f"rate={rate}"):
        assert text in plain, text


@pytest.mark.parametrize(
    ("name", "figure", "scheme"), [("disaggregation", 4, "dark"), ("evidence", 0, "light")]
)
def test_an_exported_page_opens_offline_and_shows_the_same(
    new_page: Callable[..., Page],
    server: str,
    tmp_path: Path,
    name: str,
    figure: int,
    scheme: str,
) -> None:
    page = new_page(color_scheme=scheme)
    page.set_default_timeout(SLOW_MS)
    open_plain(page, server, name)
    shown = page.evaluate(SHOWN, [CHARTS, figure])
    alt = page.locator("[data-testid=stPlotlyChart]").nth(figure).get_attribute("aria-label")
    path = take_away(page, "html", tmp_path, figure)
    image = take_away(page, "png", tmp_path, figure).read_bytes()
    assert int.from_bytes(image[16:20], "big") >= 2000  # pixels across
    away = new_page(offline=True)
    away.goto(path.as_uri())
    away.locator("#figure .main-svg").first.wait_for()
    drawn = away.evaluate(SHOWN, ["#figure", 0])
    assert numbers(drawn) == numbers(json.loads(json.dumps(shown)))
    assert away.locator("#figure").get_attribute("aria-label") == alt
    paper = away.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(255, 255, 255)") == (scheme == "light")
    assert away.locator("dd").count() >= 4


def test_a_menu_obeys_keys_and_its_script_comes_when_it_is_used(page: Page, server: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    open_plain(page, server, "evidence", "?lang=it")
    assert not [url for url in asked if "/vendor/" in url or "take_away" in url]
    page.locator(CHARTS).first.hover()
    assert page.locator(".modebar-btn").count() == 0  # this menu is the only one
    said = words("it")
    button = page.get_by_role("button", name=said("share.figure_menu", number=2))
    button.focus()
    page.keyboard.press("Enter")
    page.locator("[role=menuitem]").first.wait_for()
    focused = "document.activeElement.textContent"
    assert page.evaluate(focused) == said("share.png")
    page.keyboard.press("ArrowUp")
    assert page.evaluate(focused) == said("share.csv")
    page.keyboard.press("Escape")
    assert page.locator("[role=menuitem]").count() == 0
    assert page.evaluate("document.activeElement.className") == "player-menu"
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowDown")
    with page.expect_download() as coming:
        page.keyboard.press("Enter")
    assert coming.value.suggested_filename == "evidence-distribution.svg"
    assert [url for url in asked if "take_away" in url]


@pytest.mark.parametrize("name", ["disaggregation", "evidence", "glossary", "stories"])
def test_a_handout_is_the_page_and_not_its_controls(page: Page, server: str, name: str) -> None:
    open_plain(page, server, name, "?lang=it")
    page.evaluate("() => { window.print = () => { window.printed = true; }; }")
    page.locator(".share-open").click()
    link = page.locator("dialog.share input").first.input_value()
    page.locator(".share-print").click()
    page.wait_for_function("window.printed")
    sheet = page.locator(".handout")
    assert link in sheet.inner_text()
    assert page.locator("h1").first.inner_text() in sheet.inner_text()
    assert sheet.locator("img").count() == 1
    assert sheet.locator("button, input").count() == 0
    figures = sheet.locator(".handout-figures > div > svg")
    assert figures.count() == FIGURES.get(name, 0)
    if name == "disaggregation":
        shown = page.locator("dl.side-readouts dd").all_inner_texts()
        assert sheet.locator("dd").all_inner_texts() == shown
        titles = [words("it")(f"section.{key}") for key in ("formula", "honest", "takeaway")]
        assert sheet.locator("h2").all_inner_texts() == titles
    paper = page.pdf(prefer_css_page_size=True, print_background=True)
    pages = len(re.findall(rb"/Type\s*/Page\b", paper))
    # More than fits one sheet in a type that can be read takes a second one.
    assert pages == (2 if name in ("glossary", "disaggregation") else 1)


def test_nothing_is_seen_before_the_guess_here_and_on_the_next_page(
    page: Page, server: str
) -> None:
    open_plain(page, server, "disaggregation", "?lang=en&prompt=512")
    page.get_by_role("button", name="Guess first").click()
    expect(page.locator(CHOICES).first).to_be_focused()
    seen = page.locator(HIDDEN).evaluate_all(
        "all => all.filter((one) => one.checkVisibility({ visibilityProperty: true })"
        " && !one.closest('.st-key-disaggregation_sliders')).length"
    )
    assert seen == 0
    # The question follows what its sliders say.
    question = page.locator(".player-guess h2")
    expect(question).to_contain_text("a prompt of 512\xa0tokens")
    page.get_by_role("slider", name="Prompt").focus()
    page.keyboard.press("ArrowRight")
    expect(question).not_to_contain_text("a prompt of 512\xa0tokens", timeout=SLOW_MS)
    page.locator(CHOICES).first.focus()
    page.keyboard.press("Enter")
    expect(page.locator(VERDICT)).to_contain_text("simulated requests, one gap in a hundred")
    expect(page.locator(CHARTS).first).to_be_visible()
    assert guess_in_url(page) is None
    # The next page asks as well, before anything of it is seen.
    page.locator('[data-testid=stSidebar] a[href*="evidence"]').click()
    wait_for_question(page, "measured times per token")
    page.locator(f".st-key-{BODY} {CHARTS}").first.wait_for(state="attached")
    expect(page.locator(CHARTS).first).to_be_hidden()
    page.get_by_role("button", name="Show me").click()
    expect(page.locator(VERDICT)).to_contain_text("The answer: more than 75%")
    expect(page.locator(CHARTS).first).to_be_visible()
    # A reload does not ask again; no more questions are no more questions.
    page.reload()
    page.locator(CHARTS).first.wait_for()
    page.locator('[data-testid=stSidebar] a[href*="stories"]').click()
    wait_for_question(page, "twice the FLOP/s")
    page.get_by_role("button", name="No more questions").click()
    expect(page.locator(".stories")).to_be_visible()
    page.locator('[data-testid=stSidebar] a[href*="glossary"]').click()
    page.locator("dl.glossary").first.wait_for()
    expect(page.locator(CHOICES)).to_have_count(0)


def test_an_answer_goes_into_the_link_on_request(
    page: Page, server: str, new_page: Callable[..., Page]
) -> None:
    open_plain(page, server, "glossary", "?lang=it")
    page.get_by_role("button", name="Prima indovina").click()
    page.locator(CHOICES).first.click()
    page.get_by_role("button", name="Metti la mia risposta nel link").click()
    page.wait_for_timeout(1500)
    assert guess_in_url(page) == ["glossary.small"]
    other = new_page()
    other.goto(page.url)
    other.locator(VERDICT, has_text="Hai detto “meno di 10\xa0kB”").wait_for()
    expect(other.locator("dl.glossary").first).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_serious_in_a_menu_while_asked_and_when_answered(
    new_page: Callable[..., Page], server: str, scheme: str
) -> None:
    page = new_page(color_scheme=scheme)
    page.set_default_timeout(SLOW_MS)
    open_plain(page, server, "evidence", "?lang=it")
    page.locator(MENU).first.click()
    page.locator("[role=menuitem]").first.wait_for()
    assert serious(page) == []
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Prima indovina").click()
    page.locator(CHOICES).first.wait_for()
    assert serious(page) == []
    page.locator(CHOICES).first.click()
    page.locator(VERDICT).wait_for()
    assert serious(page) == []


def test_what_is_not_asked_for_is_not_fetched(page: Page, server: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.split("/")[-1].split("?")[0]))
    open_plain(page, server, "stories")
    later = {"share.js", "handout.js", "take_away.js", "place.js", "player.js", "pinned.js"}
    assert later.isdisjoint(asked)
