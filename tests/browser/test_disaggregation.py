"""The disaggregation page in a browser: sliders, long work that can be stopped, examples."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

SLOW_MS = 60_000
CHARTS = "[data-testid=stPlotlyChart] .js-plotly-plot"


@pytest.fixture
def disaggregation(page: Page, server: str) -> Page:
    """The page, its figures standing."""
    page.set_default_timeout(SLOW_MS)
    open_page(page, server, "?lang=en&prompt=512")
    return page


def open_page(page: Page, server: str, query: str) -> None:
    page.goto(f"{server}/disaggregation{query}")
    expect(page.locator(CHARTS)).to_have_count(5, timeout=SLOW_MS)


def query_of(page: Page) -> dict[str, str]:
    return {name: values[-1] for name, values in parse_qs(urlsplit(page.url).query).items()}


def sentence(page: Page) -> str:
    return page.locator("p.sentence").inner_text().replace("\xa0", " ")


def test_a_released_slider_changes_words_figures_and_address_and_survives_a_reload(
    disaggregation: Page,
) -> None:
    page = disaggregation
    asked = query_of(page).get("rate", "")
    page.get_by_role("slider", name="Request rate").focus()
    before = page.locator("dl.side-readouts").first.inner_text()
    page.keyboard.press("ArrowRight")
    page.wait_for_function(
        "old => new URLSearchParams(location.search).get('rate') > '' && "
        "document.querySelector('dl.side-readouts').innerText !== old",
        arg=before,
    )
    rate = query_of(page)["rate"]
    assert rate != asked
    expect(page.locator("p.sentence")).to_contain_text(f"of {rate}\xa0requests/s")
    said = sentence(page)
    page.reload()
    expect(page.locator(CHARTS)).to_have_count(5, timeout=SLOW_MS)
    assert sentence(page) == said
    assert query_of(page)["rate"] == rate


def test_the_map_can_be_stopped_and_drawn(disaggregation: Page) -> None:
    page = disaggregation
    start, stop = (page.get_by_role("button", name=name) for name in ("Draw the map", "Cancel"))
    start.click()
    expect(page.get_by_role("progressbar")).to_be_visible(timeout=SLOW_MS)
    stop.click()
    expect(start).to_be_visible(timeout=SLOW_MS)
    expect(page.locator(CHARTS)).to_have_count(5)
    start.click()
    expect(page.locator(".st-key-disaggregation_map .js-plotly-plot")).to_be_visible(
        timeout=2 * SLOW_MS
    )
    expect(page.get_by_text("Of 56 cells")).to_be_visible()


def test_more_requests_are_simulated_with_progress(disaggregation: Page) -> None:
    page = disaggregation
    page.get_by_role("button", name="Simulate 2,000 requests").click()
    expect(page.get_by_text("2,000 simulated requests")).to_be_visible(timeout=2 * SLOW_MS)


def test_an_example_sets_the_sidebar_too_and_back_undoes_it(page: Page, server: str) -> None:
    page.set_default_timeout(SLOW_MS)
    open_page(page, server, "?lang=en&model=qwen3-8b")
    page.get_by_role("button", name="Slow link").click()
    expect(page.get_by_text("the link is the bottleneck").first).to_be_visible(timeout=SLOW_MS)
    assert query_of(page) == {"lang": "en", "left": "chunked", "link": "1.25"}
    picked = page.get_by_role("combobox", name="Model", exact=True)
    expect(picked).to_have_value(re.compile("Llama 3.1 8B"), timeout=SLOW_MS)
    page.go_back()
    expect(picked).to_have_value(re.compile("Qwen3 8B"), timeout=SLOW_MS)


@pytest.mark.parametrize("width", [390, 1440])
def test_nothing_is_wider_than_the_screen(page: Page, server: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    page.set_default_timeout(SLOW_MS)
    open_page(page, server, "?lang=it&prefill_pool=2&decode_pool=2&left=chunked")
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width
    wide = page.evaluate(
        """() => [...document.querySelectorAll('.js-plotly-plot .main-svg')]
          .filter(svg => svg.getBoundingClientRect().right > innerWidth + 1).length"""
    )
    assert wide == 0
