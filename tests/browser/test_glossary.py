"""Terms in a page's text: explained on hover, focus and touch, and linked to their entry."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from pages.shared.glossary import found
from pages.shared.language import words
from tests.browser.player_page import open_player, release_at

ENTRY = "[data-entry]"


def term(page: Page, slug: str):
    return page.locator(f'.player-section .term[href$="#{slug}"]').first


def meaning(slug: str, code: str = "en") -> str:
    return words(code)(f"glossary.{slug}.text")


@pytest.fixture
def roofline(page: Page, server: str) -> Page:
    open_player(page, server, "/roofline", "?lang=en")
    return page


def test_a_term_shows_its_meaning_on_hover_and_on_focus(roofline: Page) -> None:
    tip = roofline.locator(".term-tip")
    expect(tip).to_be_hidden()
    term(roofline, "ridge").hover()
    expect(tip).to_be_visible()
    expect(tip).to_contain_text(meaning("ridge"))
    tip.hover()  # on the way to it, and over it, it stays
    roofline.wait_for_timeout(500)
    expect(tip).to_be_visible()
    roofline.mouse.move(5, 5)
    expect(tip).to_be_hidden()
    term(roofline, "arithmetic-intensity").focus()
    expect(tip).to_be_visible()
    expect(tip).to_contain_text(meaning("arithmetic-intensity"))
    roofline.keyboard.press("Escape")
    expect(tip).to_be_hidden()


def test_a_screen_reader_is_told_the_meaning(roofline: Page) -> None:
    expect(term(roofline, "ridge")).to_have_accessible_description(meaning("ridge"))


@pytest.mark.parametrize("key", ["Enter", None])
def test_the_link_leads_to_the_entry_and_keeps_the_scenario(roofline: Page, key: str) -> None:
    release_at(roofline, "batch", 3)
    link = term(roofline, "ridge")
    if key:
        link.focus()
        roofline.keyboard.press(key)
    else:
        link.click()
    entry = roofline.locator(f"#ridge{ENTRY}")
    expect(entry).to_be_focused()
    expect(entry).to_be_in_viewport()
    address = urlsplit(roofline.url)
    assert (address.path, address.fragment) == ("/glossary", "ridge")
    assert "batch=4" in address.query
    # And back, by the entry's own link.
    entry.get_by_role("link", name="Roofline", exact=True).click()
    roofline.wait_for_selector(".player[data-ready][data-tables]")
    assert urlsplit(roofline.url).path == "/roofline"
    assert "batch=4" in urlsplit(roofline.url).query


def test_the_first_tap_explains_and_the_second_leads_on(
    new_page: Callable[..., Page], server: str
) -> None:
    page = new_page(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    open_player(page, server, "/roofline", "?lang=it")
    term(page, "ridge").tap()
    tip = page.locator(".term-tip")
    expect(tip).to_contain_text(meaning("ridge", "it"))
    box = tip.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    assert urlsplit(page.url).path == "/roofline"
    term(page, "ridge").tap()
    expect(page.locator(f"#ridge{ENTRY}")).to_be_focused()


def test_an_address_with_an_entry_opens_at_it(page: Page, server: str) -> None:
    page.goto(f"{server}/glossary?lang=en#mla")
    expect(page.locator(f"#mla{ENTRY}")).to_be_focused()
    page.locator('.glossary-index a[href$="#hbm"]').click()
    expect(page.locator(f"#hbm{ENTRY}")).to_be_focused()


def test_each_section_marks_the_terms_that_python_finds_in_it(roofline: Page) -> None:
    sections = roofline.evaluate(
        """() => [...document.querySelectorAll('.player-section > div')].map((e) => {
          const parts = [];
          const walker = document.createTreeWalker(e, NodeFilter.SHOW_TEXT);
          while (walker.nextNode()) parts.push(walker.currentNode);
          const linked = [...e.querySelectorAll('.term')].map((a) => a.hash.slice(1));
          e = e.cloneNode(true);
          for (const a of e.querySelectorAll('.term')) a.replaceWith(a.textContent);
          return { html: e.innerHTML, linked };
        })"""
    )
    for section in sections:
        assert len(section["linked"]) == len(set(section["linked"]))
        assert set(section["linked"]) == found(section["html"], words("en"))
    assert sum(len(section["linked"]) for section in sections) > 10
    assert roofline.locator(".player-sentence .term").count() == 0


def test_no_serious_finding_by_axe_on_the_glossary(page: Page, server: str) -> None:
    axe_module = pytest.importorskip("axe_playwright_python.sync_playwright")
    page.goto(f"{server}/glossary?lang=en")
    page.wait_for_selector(ENTRY)
    page.wait_for_timeout(500)
    results = axe_module.Axe().run(page, context="[data-testid=stMainBlockContainer]").response
    serious = [
        (violation["id"], [node["target"] for node in violation["nodes"]])
        for violation in results["violations"]
        if violation["impact"] in ("serious", "critical")
    ]
    assert serious == []
