"""Measure how fast the page on disaggregation answers a released slider, in headless Chromium.

Prints and asserts nothing. Run from the repository's root, on an idle machine::

    python tests/benchmarks/disaggregation_latency.py
    python tests/benchmarks/disaggregation_latency.py --url http://localhost:8501

Each slider is moved by a key, which Streamlit reports 200 ms after the last one; a released pointer
is reported at once, so that wait is taken off. "figures": until both timelines with their read-outs
and reasons have been drawn in the browser; "all": until the run for the whole page has ended;
"CPU": what the server computed for it, which a busy machine disturbs least (Linux, own server).
"""

from __future__ import annotations

import argparse
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
from math import nan
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parents[2]
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
SLIDERS = ("Request rate", "Prompt", "Output", "Link for KV caches", "TTFT target", "ITL target")
QUERIES = ("?lang=en", "?lang=en&left=chunked&prefill_pool=2&decode_pool=2", "?lang=en&prompt=8192")
KEY_DELAY = 0.2
MOVES = 4
IDLE = '[data-testid="stApp"][data-test-script-state="notRunning"]'


@contextmanager
def served() -> Iterator[tuple[str, int]]:
    """Run the app and give its address and process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    command += ["--server.headless", "true", "--server.fileWatcherType", "none"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300):
            try:
                urllib.request.urlopen(f"{address}/_stcore/health", timeout=1).close()
                break
            except OSError:
                time.sleep(0.1)
        yield address, process.pid
    finally:
        process.terminate()
        process.wait(timeout=20)


PROBE = """() => {
  const probe = (window.probe = { sides: 0, end: 0 });
  const sides = document.querySelector('.st-key-disaggregation_sides');
  new MutationObserver(() => { probe.sides = performance.now(); })
    .observe(sides, { childList: true, subtree: true, characterData: true });
  const app = document.querySelector('[data-testid="stApp"]');
  new MutationObserver(() => {
    if (app.dataset.testScriptState === 'notRunning') probe.end = performance.now();
  }).observe(app, { attributes: true });
}"""


def cpu_seconds(pid: int | None) -> float:
    """Return the processor time that a process has used; NaN where it is not known."""
    stat = Path(f"/proc/{pid}/stat")
    if pid is None or not stat.exists():
        return float("nan")
    fields = stat.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def moved(page: Page, label: str, pid: int | None) -> tuple[float, float, float]:
    """Move a slider by a stop; return the seconds to the upper figures, to the end, and of CPU."""
    used = cpu_seconds(pid)
    page.get_by_role("slider", name=label).first.focus()
    page.evaluate("() => { window.probe.sides = window.probe.end = 0; }")
    start = page.evaluate("() => performance.now()")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => window.probe.end", timeout=60_000)
    page.wait_for_timeout(600)  # figures are drawn after the run has ended
    ended = page.evaluate("() => [window.probe.sides, window.probe.end]")
    # Figures that no value of theirs has moved are not drawn again.
    moments = [(moment - start) / 1e3 - KEY_DELAY if moment else nan for moment in ended]
    return *moments, cpu_seconds(pid) - used


def main() -> None:
    """Print a line for each load and slider."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url")
    given = parser.parse_args().url
    with sync_playwright() as playwright:
        path = shutil.which("chromium") or playwright.chromium.executable_path
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        if given:
            measure(browser.new_page(viewport={"width": 1440, "height": 900}), given, None)
        else:
            with served() as (address, pid):
                measure(browser.new_page(viewport={"width": 1440, "height": 900}), address, pid)
        browser.close()


def measure(page: Page, address: str, pid: int | None) -> None:
    """Move every slider a few stops, on every load."""
    heads = f"{'figures, median':>18}{'all, median':>14}{'all, worst':>14}{'CPU':>8}"
    print(f"{'slider':22}{heads}  [s]")
    for query in QUERIES:
        print(query)
        for label in SLIDERS:
            page.goto(f"{address}/disaggregation{query}")
            page.wait_for_selector("p.sentence", timeout=60_000)
            page.wait_for_selector(IDLE)
            page.wait_for_timeout(1500)
            times = []
            page.evaluate(PROBE)
            for _ in range(MOVES):
                times.append(moved(page, label, pid))
            sides, ended, used = (statistics.median(column) for column in zip(*times, strict=True))
            worst = max(end for _, end, _ in times)
            print(f"{label:22}{sides:18.2f}{ended:14.2f}{worst:14.2f}{used:8.2f}", flush=True)


if __name__ == "__main__":
    main()
