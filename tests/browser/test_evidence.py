"""The evidence in a browser: what is chosen stands in the link, and Back undoes it."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Page, expect

from pages.shared.language import words
from tests.browser.player_page import release_at, wait_for_rest

SLOW_MS = 60_000
CHARTS = "[data-testid=stPlotlyChart] .js-plotly-plot"


def open_page(page: Page, address: str) -> None:
    page.set_default_timeout(SLOW_MS)
    page.goto(address)
    expect(page.locator(CHARTS)).to_have_count(2, timeout=SLOW_MS)


def query_of(page: Page) -> dict[str, str]:
    return {name: values[-1] for name, values in parse_qs(urlsplit(page.url).query).items()}


def chosen(page: Page) -> str:
    return page.locator(".st-key-evidence_chosen").inner_text()


def dots(page: Page) -> list:
    """Give what the scatter shows: each trace's name and values."""
    return page.evaluate(
        """() => document.querySelector('.st-key-evidence_scatter .js-plotly-plot').data
          .map(trace => [trace.name, Array.from(trace.x), Array.from(trace.y)])"""
    )


def pick(page: Page, label: str, option: str) -> None:
    page.get_by_role("combobox", name=label, exact=True).click()
    page.get_by_role("option", name=option, exact=True).click()
    page.keyboard.press("Escape")


def test_a_copied_link_restores_the_filters_in_another_browser(
    new_page: Callable[..., Page], server: str
) -> None:
    say = words("it")
    here = new_page(permissions=["clipboard-read", "clipboard-write"])
    open_page(here, f"{server}/evidence?lang=it&batch=8")
    before = chosen(here)
    here.get_by_role("button", name=say("evidence.share_fitted"), exact=True).click()
    here.wait_for_function("() => location.search.includes('measured=unseen')")
    pick(here, say("evidence.chip"), "H200 SXM")
    here.wait_for_function("() => location.search.includes('measured_chip=h200-sxm')")
    expect(here.get_by_text(before)).to_have_count(0)
    here.locator(".share-open").click()
    here.get_by_role("button", name=say("share.copy_link")).click()
    here.get_by_text(say("share.copied")).wait_for()
    link = here.evaluate("() => navigator.clipboard.readText()")

    there = new_page(locale="en-US")
    open_page(there, link)
    assert query_of(there) == {
        "lang": "it", "batch": "8", "measured": "unseen,fitted", "measured_chip": "h200-sxm",
    }  # fmt: skip
    assert chosen(there) == chosen(here) != before
    assert dots(there) == dots(here)
    assert there.locator("p.notice").count() == 0


def test_back_and_forward_go_through_the_filters(page: Page, server: str) -> None:
    open_page(page, f"{server}/evidence?lang=it")
    first = chosen(page)
    page.get_by_role("radio", name="TTFT", exact=True).click()
    page.wait_for_function("() => location.search.includes('metric=ttft')")
    expect(page.get_by_text(first)).to_have_count(0)
    second = chosen(page)
    page.go_back()
    expect(page.get_by_text(first)).to_be_visible()
    assert query_of(page) == {"lang": "it"}
    page.go_forward()
    expect(page.get_by_text(second)).to_be_visible()
    assert query_of(page) == {"lang": "it", "metric": "ttft"}


def test_filters_go_along_over_a_page_whose_slider_is_moved(page: Page, server: str) -> None:
    open_page(page, f"{server}/evidence?lang=it&measured_chip=h200-sxm")
    said = chosen(page)
    page.get_by_test_id("stSidebar").get_by_role("link", name="Roofline", exact=True).click()
    page.wait_for_selector(".player[data-ready][data-tables]")
    release_at(page, "batch", 5)
    wait_for_rest(page)
    assert query_of(page)["measured_chip"] == "h200-sxm"
    batch = query_of(page)["batch"]
    link = page.get_by_test_id("stSidebar").get_by_role(
        "link", name=words("it")("evidence.nav"), exact=True
    )
    link.click()
    expect(page.locator(".st-key-evidence_chosen")).to_have_text(said)
    assert query_of(page) == {"lang": "it", "measured_chip": "h200-sxm", "batch": batch}
