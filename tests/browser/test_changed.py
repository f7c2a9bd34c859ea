"""After a move, one sentence says what changed and why."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.player_page import open_player, place, release_at, slide_input, wait_for_rest

LINE = ".player-change"


def test_it_comes_with_the_release_and_not_with_the_drag(page: Page, server: str) -> None:
    open_player(page, server, query="?lang=en&batch=32")
    line = page.locator(LINE)
    expect(line).to_have_text("")
    expect(line).to_have_attribute("aria-live", "polite")
    slide_input(page, "batch", int(place(page, "batch")) + 2)
    wait_for_rest(page)
    expect(line).to_have_text("")
    release_at(page, "batch", int(place(page, "batch")))
    expect(line).to_contain_text("Batch 32 → 64\xa0sequences")
    expect(line).to_contain_text("KV cache traffic doubled; weights unchanged")


def test_the_next_move_starts_where_this_one_ended(page: Page, server: str) -> None:
    open_player(page, server, query="?lang=it&batch=32")
    release_at(page, "batch", int(place(page, "batch")) + 2)
    release_at(page, "batch", int(place(page, "batch")) + 2)
    expect(page.locator(LINE)).to_contain_text("Batch 64 → 128\xa0sequenze")


@pytest.mark.parametrize("path", ["/", "/kv-cache"])
def test_a_pick_in_the_sidebar_is_explained_too(page: Page, server: str, path: str) -> None:
    open_player(page, server, path, "?lang=en")
    page.locator(".st-key-pick_tp [role=combobox], .st-key-pick_tp input").first.click()
    page.get_by_role("option", name="2 chips", exact=True).click()
    expect(page.locator(LINE)).to_contain_text("memory bandwidth doubled; weights unchanged")


def test_reset_is_a_move(page: Page, server: str) -> None:
    open_player(page, server, query="?lang=en&batch=64")
    page.get_by_role("button", name="Reset", exact=True).click()
    expect(page.locator(LINE)).to_contain_text("64\xa0sequences → 1\xa0sequence")
