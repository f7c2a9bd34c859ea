"""What the browser tests do with a player, and what they read from it."""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from playwright.sync_api import Page

# Where the pages with a player stand.
PAGES = dict(
    page.split("=")
    for page in os.environ.get(
        "EXPLORABLE_PAGES",
        "roofline=/roofline one-request=/ kv-cache=/kv-cache decode-shift=/decode-shift"
        " batching=/batching hardware=/hardware dataflow=/dataflow metrics=/metrics",
    ).split()
)
READY = ".player[data-ready][data-tables][data-extras]"
SETTLE_MS = 250  # longer than the player waits before it takes things to be at rest


def open_player(page: Page, server: str, path: str = "/roofline", query: str = "") -> None:
    """Go to a page and wait until its figures stand."""
    page.goto(f"{server}{path}{query}")
    page.wait_for_selector(READY)
    wait_for_rest(page)


def wait_for_rest(page: Page) -> None:
    """Wait until nothing moves, and Plotly has drawn all that moved."""
    page.wait_for_timeout(SETTLE_MS)
    page.wait_for_selector(".player[data-state=rest]")


def slider_names(page: Page) -> list[str]:
    """Give the names of the sliders that are scenario options, in order."""
    names = page.eval_on_selector_all(
        ".player-slider input", "inputs => inputs.map(input => input.name)"
    )
    return [name for name in names if name != "time"]


def tables_drawn(page: Page) -> int:
    """Count the tables that the player has taken so far."""
    return int(page.locator(".player").get_attribute("data-tables"))


def wait_for_table(page: Page, drawn_before: int) -> None:
    """Wait until another table has been taken, and things are at rest."""
    page.wait_for_function(
        "before => Number(document.querySelector('.player').dataset.tables) > before",
        arg=drawn_before,
    )
    wait_for_rest(page)


def slide_input(page: Page, name: str, index: int) -> None:
    """Move a slider as a drag does: an input event, without release."""
    page.locator(f".player-slider input[name={name}]").evaluate(
        "(input, index) => { input.value = index;"
        " input.dispatchEvent(new Event('input', { bubbles: true })); }",
        index,
    )


def let_go(page: Page, name: str) -> None:
    """Release a slider where it is."""
    page.locator(f".player-slider input[name={name}]").evaluate(
        "input => input.dispatchEvent(new Event('change', { bubbles: true }))"
    )


def release_at(page: Page, name: str, index: int) -> None:
    """Move a slider, release it, and wait for the table."""
    before = tables_drawn(page)
    slide_input(page, name, index)
    let_go(page, name)
    wait_for_table(page, before)


def place(page: Page, name: str) -> float:
    """Give the index at which a slider stands."""
    return float(page.locator(f".player-slider input[name={name}]").input_value())


def table_of(page: Page, name: str = "roofline", **more: str) -> dict[str, Any]:
    """Ask the server for the table of the page's present URL."""
    parts = urlsplit(page.url)
    query = {**dict(parse_qsl(parts.query)), **more}
    query.pop("lecture", None)
    answer = page.request.get(f"{parts.scheme}://{parts.netloc}/table/{name}", params=query)
    assert answer.ok, answer.text()
    return answer.json()


def value_at(column: dict[str, Any], index: int) -> Any:
    """Give a column's value at a stop, as the contract of the table says."""
    if "counts" in column:
        return column["values"][: column["counts"][index]]
    rows = column["rows"]
    return rows[0] if len(rows) == 1 else rows[index]


def figure_values(page: Page, figure: str) -> list[dict[str, Any]]:
    """Give what a figure shows, as Plotly has it: ``gd.data``."""
    return page.evaluate("figure => document.querySelector(`[data-figure=${figure}]`).data", figure)


def drawn_outlines(page: Page) -> list[list[Any]]:
    """Give every line, area, marker, bar and text as it stands in the SVG, hidden ones left out.

    Each is its class, its text, its fill and numbers: points along a line or an area (Plotly
    leaves out points that lie on a straight line), or the outline's and the place's own numbers.
    """
    return page.evaluate(
        """() => {
          const along = (path) => {
            const length = path.getTotalLength();
            return Array.from({ length: 25 }, (_, i) => path.getPointAtLength((length * i) / 24))
              .flatMap(({ x, y }) => [x, y]);
          };
          const numbers = (text) => text.match(/-?[\\d.]+(e-?\\d+)?/g)?.map(Number) ?? [];
          const kinds = '.js-line, .js-fill, path.point, .textpoint, .bars path';
          return [...document.querySelectorAll('.player-figure')].flatMap((figure) =>
            [...figure.querySelectorAll(kinds)]
              .filter((e) => e.style.display !== 'none'
                && !(e.matches('.textpoint') && e.textContent === ''))
              .map((e) => {
                const text = e.querySelector('text');
                const fill = e.matches('path.point') ? getComputedStyle(e).fill : '';
                const where = e.matches('.js-line, .js-fill') ? along(e) : numbers(
                  [e.getAttribute('d'), e.getAttribute('transform'),
                   text?.getAttribute('x'), text?.getAttribute('y')].join(' '));
                return [e.getAttribute('class'), text?.textContent ?? '', fill, where];
              }));
        }"""
    )


def differences(page: Page, table: dict[str, Any], slider: str, index: int) -> list[str]:
    """List what the figures and texts show other than the table's row; terms are marked here."""
    wrong = []
    shown: dict[str, list[dict[str, Any]]] = {}
    for channel, column in table["rows"][slider].items():
        kind, name, *rest = channel.split("/")
        expected = value_at(column, index)
        if kind == "f":
            if name not in shown:
                shown[name] = figure_values(page, name)
            actual: Any = shown[name][int(rest[0])]
            for step in rest[1].split("."):
                actual = actual[step]
            if not _same(actual, expected):
                wrong.append(f"{channel}: shows {actual}, table says {expected}")
        elif kind == "t" and not name.startswith("alt_"):
            text = expected if isinstance(expected, str) else "".join(expected)
            actual = page.evaluate(
                """([slot, text]) => {
                  const like = document.createElement('div');
                  like.innerHTML = text;
                  const withoutLinks = (element) => {
                    const copy = element.cloneNode(true);
                    for (const term of copy.querySelectorAll('.term')) {
                      term.replaceWith(term.textContent);
                    }
                    return copy.innerHTML;
                  };
                  return [...document.querySelectorAll(`[data-slot="${slot}"]`)]
                    .map(withoutLinks).filter((html) => html !== like.innerHTML);
                }""",
                [name, text],
            )
            wrong += [f"{channel}: shows {other!r}, table says {text!r}" for other in actual]
    return wrong


def _same(actual: Any, expected: Any) -> bool:
    if isinstance(expected, list):
        return len(actual) == len(expected) and all(map(_same, actual, expected))
    if isinstance(expected, str):  # colours named in the table are the theme's in the figure
        return actual == expected or expected in ("ink", "paper", "ink-soft", "ink-faint")
    return actual == expected
