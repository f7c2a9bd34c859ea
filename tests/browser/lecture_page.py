"""What the browser tests do in lecture mode, and what they read there."""

from __future__ import annotations

from playwright.sync_api import Page

from tests.browser.player_page import READY, wait_for_rest

SLOW_MS = 60_000
WITH_CHARTS = ("disaggregation", "evidence")
STANDS = {
    "disaggregation": "p.sentence",
    "evidence": ".st-key-evidence_chosen",
    "stories": ".stories",
    "glossary": "dl.glossary",
}
"""What stands on a page without a player once it is drawn."""

HALL = {"viewport": {"width": 1920, "height": 1080}}


def open_hall(page: Page, server: str, path: str, query: str) -> None:
    """Go to a page in lecture mode and wait until its figures stand in their size."""
    page.goto(f"{server}{path}?{query}&lecture=1")
    page.wait_for_selector(READY)
    page.wait_for_selector("html[data-lecture] .player-slider[data-active]")
    wait_for_rest(page)
    page.wait_for_timeout(400)  # the figures follow the room that is left for them


def open_plain_hall(page: Page, server: str, name: str, query: str) -> None:
    """Go to a page without a player in lecture mode and wait until it stands in its size."""
    page.set_default_timeout(SLOW_MS)
    page.goto(f"{server}/{name}?{query}&lecture=1")
    page.wait_for_selector(f"html[data-lecture] {STANDS[name]}")
    page.wait_for_timeout(1000)  # the charts follow the room that is left for them
    if name in WITH_CHARTS:
        wait_for_charts(page)


def wait_for_charts(page: Page) -> None:
    """Wait until every chart of Streamlit's has been drawn in large type."""
    page.wait_for_function(
        """() => {
          const charts = document.querySelectorAll('[data-testid=stPlotlyChart] .js-plotly-plot');
          const large = [...document.querySelectorAll('.lecture-chart')];
          return charts.length && large.length === charts.length
            && large.every((chart) => chart.querySelector('.main-svg'));
        }"""
    )


def active_control(page: Page) -> str:
    """Give the key of the control that is in hand on a page without a player."""
    names = page.eval_on_selector_all(
        "[data-active]", "all => all.map(one => one.className.match(/st-key-(\\S+)/)[1])"
    )
    assert len(names) == 1, names
    return names[0]


def cut_labels(page: Page) -> list[str]:
    """List a figure's texts that reach beyond the drawing, where they are cut."""
    return page.evaluate(
        """() => [...document.querySelectorAll('.player-figures .player-figure, .lecture-chart')]
          .flatMap((figure) => {
            const { left, right } = figure.getBoundingClientRect();
            return [...figure.querySelectorAll('text')]
              .filter((t) => t.textContent.trim() && t.checkVisibility({ visibilityProperty: true })
                && t.closest('.textpoint')?.style.display !== 'none')
              .map((t) => ({ text: t.textContent, box: t.getBoundingClientRect() }))
              .filter(({ box }) => box.width > 1 && (box.left < left - 1 || box.right > right + 1))
              .map(({ text }) => text);
          })"""
    )


def wait_for_mode(page: Page, *, on: bool) -> None:
    """Wait until lecture mode is on, or off."""
    page.wait_for_function("on => ('lecture' in document.documentElement.dataset) === on", arg=on)


def wait_for_step(page: Page, story: str, step: int, *, player: bool = True) -> None:
    """Wait until a step is told and, on a page with a player, its figures stand."""
    page.wait_for_selector(f'.story[data-story="{story} {step}"]')
    page.wait_for_function(
        "([story, step]) => { const query = new URLSearchParams(location.search);"
        " return query.get('story') === story && query.get('step') === step; }",
        arg=[story, str(step)],
    )
    if player:
        page.wait_for_selector(READY)
        wait_for_rest(page)


def sizes_of_type(page: Page) -> list[tuple[float, str]]:
    """Give the size in pixels of every text that can be seen on the first screen."""
    return page.evaluate(
        """() => {
          const found = [];
          const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
          for (let node = walker.nextNode(); node; node = walker.nextNode()) {
            const text = node.data.trim();
            const element = node.parentElement;
            const unseen = 'script, style, option, .player-unseen, [hidden]';
            const shown = { visibilityProperty: true, opacityProperty: true };
            if (!text || element.closest(unseen) || !element.checkVisibility(shown)) continue;
            const range = document.createRange();
            range.selectNodeContents(node);
            const { width, height, top, bottom } = range.getBoundingClientRect();
            if (width < 2 || height < 2 || bottom < 0 || top > innerHeight) continue;
            if (element.closest('[data-testid=stHeading]')?.offsetWidth <= 1) continue;
            found.push([parseFloat(getComputedStyle(element).fontSize), text.slice(0, 40)]);
          }
          return found;
        }"""
    )


def overlapping_labels(page: Page) -> list[str]:
    """List pairs of a figure's texts that lie on one another by more than a sliver."""
    return page.evaluate(
        """() => [...document.querySelectorAll('.player-figures > *')].flatMap((figure) => {
          const texts = [...figure.querySelectorAll('text')]
            .filter((t) => t.textContent.trim() && t.checkVisibility()
              && t.closest('.textpoint')?.style.display !== 'none')
            .map((t) => ({ text: t.textContent, box: t.getBoundingClientRect() }))
            .filter(({ box }) => box.width > 1);
          const found = [];
          texts.forEach((a, i) => texts.slice(i + 1).forEach((b) => {
            const wide = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left);
            const high = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top);
            const least = 0.35 * Math.min(a.box.height, b.box.height);
            if (wide > 4 && high > least) found.push(`${a.text} / ${b.text}`);
          }));
          return found;
        })"""
    )
