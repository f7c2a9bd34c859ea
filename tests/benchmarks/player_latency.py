"""Measure the player in headless Chromium: drag, play, release, first figure.

Prints figures and asserts nothing. Run from the repository's root::

    python tests/benchmarks/player_latency.py                 # starts its own server
    python tests/benchmarks/player_latency.py --url http://localhost:8501/roofline

What is measured:

drag to figure
    From an input event's own time stamp to the end of the script that changed the figure.
drag to paint
    The same, to the end of the frame's style, layout and paint.
play
    Frames a second in which the figure changed.
release
    From the change event to the end of the frame that drew the new table; bytes over the wire.
first figure
    From the start of the navigation (and of the server process) until points are in the page.
"""

from __future__ import annotations

import argparse
import itertools
import os
import shutil
import socket
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parents[2]
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
READY = ".player[data-ready][data-tables]"
DRAWN = ".player-figure .point, .player-figure .js-line"

PROBE = """() => {
  const probe = (window.probe = { changed: [], painted: [], frames: [], released: [] });
  const figures = document.querySelector('.player-figures');
  let since = null;
  addEventListener('input', (event) => { since ??= event.timeStamp; }, true);
  const channel = new MessageChannel();
  const pending = [];
  channel.port1.onmessage = () => {
    while (pending.length) pending.shift()(performance.now());
  };
  new MutationObserver(() => {
    const now = performance.now();
    probe.frames.push(now);
    if (since === null) return;
    const start = since;
    since = null;
    probe.changed.push(now - start);
    pending.push((time) => probe.painted.push(time - start));
    channel.port2.postMessage(0);
  }).observe(figures, { subtree: true, childList: true, attributes: true, characterData: true });
  const root = document.querySelector('.player');
  let released = null;
  addEventListener('change', (event) => { released = event.timeStamp; }, true);
  new MutationObserver(() => {
    if (released === null) return;
    const start = released;
    released = null;
    requestAnimationFrame(() => {
      pending.push((time) => probe.released.push(time - start));
      channel.port2.postMessage(0);
    });
  }).observe(root, { attributes: true, attributeFilter: ['data-tables'] });
}"""


def main() -> None:
    """Run all measurements and print them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", help="a running page; by default a server is started")
    parser.add_argument("--page", default="roofline", help="page of the server started here")
    parser.add_argument("--app", default=str(ROOT / "app.py"))
    parser.add_argument("--moves", type=int, default=240, help="mouse moves for each slider")
    options = parser.parse_args()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(playwright), args=FLAGS)
        if options.url:
            measure(browser, options.url, options.moves)
        else:
            started = time.perf_counter()
            with server(options.app) as address:
                listening = time.perf_counter() - started
                measure(browser, f"{address}/{options.page}", options.moves, listening)
        browser.close()


def measure(browser: Browser, url: str, moves: int, listening: float | None = None) -> None:
    """Open the page and print every measurement."""
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    received: list[tuple[float, int]] = []
    page.on("websocket", lambda socket: socket.on("framereceived", count_into(received)))
    start = time.perf_counter()
    page.goto(url, wait_until="commit")
    page.wait_for_selector(DRAWN, state="attached", timeout=60_000)
    first = time.perf_counter() - start
    page.wait_for_selector(READY, timeout=60_000)
    if listening is not None:
        print(f"server listening after      {listening:6.2f} s")
    print(f"first figure, first visitor {first:6.2f} s")
    later = []
    for _ in range(3):
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        other = context.new_page()
        start = time.perf_counter()
        other.goto(url, wait_until="commit")
        other.wait_for_selector(DRAWN, state="attached", timeout=60_000)
        later.append(time.perf_counter() - start)
        context.close()
    print(f"first figure, later ones    {statistics.median(later):6.2f} s median of {len(later)}")

    time.sleep(1)
    page.evaluate(PROBE)
    names = page.eval_on_selector_all(
        ".player-slider input", "inputs => inputs.map(input => input.name)"
    )
    for name in names:
        drag(page, name, moves)
        time.sleep(0.4)
        report(page, f"drag {name}: to figure", "changed")
        report(page, f"drag {name}: to paint", "painted")
    release(page, names, received)
    play(page)


def drag(page: Page, name: str, moves: int) -> None:
    """Drag a slider to and fro for as many mouse moves, and let go where it was."""
    page.evaluate("() => { probe.changed = []; probe.painted = []; }")
    thumb, low, high, y = slider_track(page, name)
    page.mouse.move(thumb, y)
    page.mouse.down()
    width = high - low
    for move in range(moves):
        way = (move / 60) % 2
        at = low + width * (way if way < 1 else 2 - way)
        begun = time.perf_counter()
        page.mouse.move(at, y)
        time.sleep(max(0.0, 1 / 60 - (time.perf_counter() - begun)))
    page.mouse.move(thumb, y)
    page.mouse.up()


def slider_track(page: Page, name: str) -> tuple[float, float, float, float]:
    """Give where a slider's thumb is, and its first and last stops [CSS pixels]."""
    field = page.locator(f".player-slider input[name={name}]")
    field.scroll_into_view_if_needed()
    box = field.bounding_box()
    place, last = field.evaluate("input => [Number(input.value), Number(input.max)]")
    low, high = box["x"] + 8, box["x"] + box["width"] - 8
    return low + (high - low) * place / last, low, high, box["y"] + box["height"] / 2


def release(page: Page, names: list[str], received: list[tuple[float, int]]) -> None:
    """Release sliders at places not asked for before; print times and bytes."""
    sizes, streamlit = [], []
    for turn in range(24):
        name = names[turn % len(names)]
        thumb, low, high, y = slider_track(page, name)
        page.evaluate("performance.clearResourceTimings()")
        received.clear()
        page.mouse.move(thumb, y)
        page.mouse.down()
        page.mouse.move(low + (high - low) * ((turn * 0.37 + 0.11) % 1), y, steps=3)
        page.mouse.up()
        time.sleep(1.4)
        sizes += page.evaluate(
            "performance.getEntriesByType('resource').filter(e => e.name.includes('/table/'))"
            ".map(e => e.transferSize)"
        )
        streamlit.append(sum(size for _, size in received))
    report(page, "release to paint", "released")
    print(
        f"{'release: table':32} {statistics.median(sizes) / 1e3:6.1f} KB median, "
        f"{max(sizes) / 1e3:.1f} KB at most"
    )
    print(
        f"{'release: told to Python, answer':32} {statistics.median(streamlit) / 1e3:6.1f} KB "
        f"median, {max(streamlit) / 1e3:.1f} KB at most"
    )


def play(page: Page) -> None:
    """Play from the first stop, and print the frames in which the figure changed."""
    page.locator(".player-play").click()
    page.wait_for_timeout(1000)
    page.locator(".player-play").click()  # what is played is in the caches now
    name = page.evaluate(
        "() => document.querySelector('.player select[name=sweep]')?.value ?? null"
    )
    if name:
        field = page.locator(f".player-slider input[name={name}]")
        field.focus()
        page.keyboard.press("Home")
        page.wait_for_timeout(1500)
    page.locator(".player-play").click()
    page.wait_for_timeout(500)
    page.evaluate("probe.frames = []")
    page.wait_for_timeout(2000)
    frames = page.evaluate("probe.frames")
    page.locator(".player-play").click()
    if len(frames) < 2:
        print("play: nothing moved")
        return
    gaps = [later - sooner for sooner, later in itertools.pairwise(frames)]
    rate = 1000 * len(gaps) / (frames[-1] - frames[0])
    print(f"{'play':32} {rate:6.1f} frames/s, gaps {summary(gaps)}")


def report(page: Page, label: str, series: str) -> None:
    """Print one series that the probe collected."""
    values: list[float] = page.evaluate(f"probe.{series}")
    print(f"{label:32} {summary(values)}  (n = {len(values)})")


def summary(values: list[float]) -> str:
    """Give median and 95th percentile of milliseconds in words."""
    if not values:
        return "nothing measured"
    ordered = sorted(values)
    p95 = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
    return f"{statistics.median(ordered):6.1f} ms median, {p95:6.1f} ms p95"


def count_into(received: list[tuple[float, int]]) -> Any:
    """Give a handler that notes each frame's time and size."""
    return lambda payload: received.append((time.perf_counter(), len(payload)))


def chromium(playwright: Any) -> str:
    """Give the path of a Chromium: the system's, or Playwright's own."""
    return shutil.which("chromium") or playwright.chromium.executable_path


@contextmanager
def server(app: str) -> Iterator[str]:
    """Start Streamlit on a free port and stop it afterwards."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    arguments = [
        "--server.port", str(port),
        "--server.headless", "true",
        "--server.fileWatcherType", "none",
        "--browser.gatherUsageStats", "false",
    ]  # fmt: skip
    process = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", app, *arguments],
        cwd=Path(app).parent,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
        stdout=subprocess.DEVNULL,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        while True:
            try:
                urllib.request.urlopen(f"{address}/_stcore/health", timeout=1).close()
                break
            except OSError:
                if process.poll() is not None:
                    sys.exit("the server did not start")
                time.sleep(0.02)
        yield address
    finally:
        process.terminate()
        process.wait()


if __name__ == "__main__":
    main()
