"""Predict, then reveal: off until wanted, then on every page, the figures after the answer."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Page, expect

from tests.browser.player_page import READY, open_player, release_at

CHOICES = ".player-guess-choices button"
FIGURE = ".player-figure"
VERDICT = ".player-verdict p"


def guess_in_url(page: Page) -> list[str] | None:
    return parse_qs(urlsplit(page.url).query).get("guess")


def right_name(page: Page, name: str) -> str:
    parts = urlsplit(page.url)
    asked = {"page": name, "now": "", "lang": "en"}
    url = f"{parts.scheme}://{parts.netloc}/answer/guess"
    return page.request.get(url, params=asked).json()["right"]


def test_nothing_is_asked_until_it_is_wanted(page: Page, server: str) -> None:
    open_player(page, server, query="?lang=en")
    expect(page.locator(CHOICES)).to_have_count(0)
    expect(page.locator(FIGURE).first).to_be_visible()


def test_the_figures_wait_for_the_answer_here_and_on_the_next_page(page: Page, server: str) -> None:
    open_player(page, server, query="?lang=en")
    page.get_by_role("button", name="Guess first").click()
    # By keyboard: the first choice has the focus.
    expect(page.locator(CHOICES).first).to_be_focused()
    for hidden in (FIGURE, ".player-readout dd", ".player-sentence"):
        expect(page.locator(hidden).first).to_be_hidden()
    assert right_name(page, "roofline") == "least"
    page.keyboard.press("Enter")
    expect(page.locator(FIGURE).first).to_be_visible()
    expect(page.locator(VERDICT)).to_contain_text("Right: less than 1%. It reaches 0.36%")
    assert guess_in_url(page) is None
    # The next page asks as well, before anything of it is seen.
    page.locator('a[href*="dataflow"]').first.click()
    page.wait_for_selector('.player[data-guess="asking"] [data-figure="flow"]', state="attached")
    expect(page.locator('[data-figure="flow"]')).to_be_hidden()
    expect(page.locator(CHOICES)).to_have_count(4)
    page.get_by_role("button", name="Show me").click()
    expect(page.locator(VERDICT)).to_contain_text("The answer: 80% to 95%")
    # What was answered is not asked again, and a move ends the verdict.
    release_at(page, "batch", 3)
    expect(page.locator(VERDICT)).to_have_count(0)
    page.reload()
    page.wait_for_selector(".player[data-extras]")
    expect(page.locator('[data-figure="flow"]')).to_be_visible()
    page.get_by_role("button", name="Guess first").click()
    page.get_by_role("button", name="No more questions").click()
    expect(page.locator('[data-figure="flow"]')).to_be_visible()
    page.locator('a[href*="decode-shift"]').first.click()
    page.wait_for_selector('.player[data-extras] [data-figure="shift"]')
    expect(page.locator('[data-figure="shift"]')).to_be_visible()


def test_the_question_follows_the_scenario(page: Page, server: str) -> None:
    open_player(page, server, query="?lang=it&batch=2")
    page.get_by_role("button", name="Prima indovina").click()
    expect(page.locator(".player-guess h2")).to_contain_text("Con batch 2,")
    release_at(page, "batch", 10)
    expect(page.locator(".player-guess h2")).not_to_contain_text("Con batch 2,")
    expect(page.locator(CHOICES)).to_have_count(4)


def test_an_answer_goes_into_the_link_on_request(page: Page, server: str, new_page) -> None:
    open_player(page, server, query="?lang=en")
    page.get_by_role("button", name="Guess first").click()
    page.locator(CHOICES).nth(2).click()
    page.get_by_role("button", name="Put my answer into the link").click()
    page.wait_for_timeout(1500)
    assert guess_in_url(page) == ["roofline.some"]
    other = new_page()
    other.goto(page.url)
    other.wait_for_selector(READY)
    expect(other.locator(VERDICT)).to_contain_text("You said “10% to 50%”. The answer: less than")
    expect(other.locator(FIGURE).first).to_be_visible()
    # Who only opened the link is not asked anything elsewhere.
    other.locator('a[href*="dataflow"]').first.click()
    other.wait_for_selector('.player[data-extras] [data-figure="flow"]')
    expect(other.locator(CHOICES)).to_have_count(0)
