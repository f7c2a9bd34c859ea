"""The scenario follows from page to page, however quickly one leaves."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from tests.browser.player_page import SETTLE_MS, open_player, release_at, slider_names


def sentence(page: Page) -> str:
    return page.locator(".player-sentence").inner_text().replace("\xa0", " ")


def go_to(page: Page, name: str, heading: str) -> None:
    page.get_by_role("link", name=name, exact=True).first.click()
    page.get_by_role("heading", name=heading).wait_for()
    page.wait_for_selector(".player[data-ready][data-tables]")
    page.wait_for_timeout(SETTLE_MS)


def test_a_released_slider_is_known_on_the_next_page(page: Page, server: str) -> None:
    open_player(page, server, "/roofline", "?lang=en")
    release_at(page, "prompt", 12)
    go_to(page, "KV cache", "The KV cache is computed once, then grows with every token")
    assert "prompt=1024" in page.url
    assert "1,280 tokens" in sentence(page)


def test_keys_and_then_a_link_at_once(page: Page, server: str) -> None:
    open_player(page, server, "/roofline", "?lang=en")
    page.locator(".player-slider input[name=batch]").focus()
    for _ in range(12):
        page.keyboard.press("ArrowRight")
    go_to(page, "Decode at large batch", "At huge batches decode moves toward the compute roof")
    assert "batch=96" in page.url
    assert "At batch 96" in sentence(page)


def test_back_and_forward(page: Page, server: str) -> None:
    open_player(page, server, "/roofline", "?lang=en&batch=16")
    go_to(page, "KV cache", "The KV cache is computed once, then grows with every token")
    assert "16 sequences" in sentence(page)
    page.go_back()
    page.get_by_role("heading", name="Prefill reaches the compute roof").wait_for()
    page.wait_for_timeout(1500)
    assert "batch 16" in sentence(page)


@pytest.mark.parametrize("language", ["en", "it"])
def test_what_does_not_fit_says_what_would_and_leads_there(
    page: Page, server: str, language: str
) -> None:
    open_player(page, server, "/", f"?model=llama-3.1-405b&lang={language}")
    assert page.locator(".player-readout dd").first.inner_text() in ("does not fit", "non ci sta")
    page.locator(".player-sentence a").first.click()
    page.wait_for_url("**tp=16**")
    page.wait_for_selector(".player[data-ready][data-tables]")
    page.wait_for_timeout(SETTLE_MS)
    assert "405" in page.content()
    assert slider_names(page)
    assert "ms" in page.locator(".player-readout dd").first.inner_text()
