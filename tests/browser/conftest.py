"""A server and a browser for the tests in this folder.

The server runs ``app.py`` of this repository; the variable ``EXPLORABLE_APP`` names another one.
Without Chromium these tests are skipped.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sync_api = pytest.importorskip("playwright.sync_api")

ROOT = Path(__file__).parents[2]
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """Run the app, and give its address."""
    app = Path(os.environ.get("EXPLORABLE_APP", ROOT / "app.py"))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        sys.executable, "-m", "streamlit", "run", str(app),
        "--server.port", str(port),
        "--server.headless", "true",
        "--server.fileWatcherType", "none",
        "--browser.gatherUsageStats", "false",
    ]  # fmt: skip
    python_path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    process = subprocess.Popen(
        command, cwd=app.parent, env={**os.environ, "PYTHONPATH": python_path}
    )
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_until_healthy(process, address)
        yield address
    finally:
        process.terminate()
        process.wait(timeout=20)


def _wait_until_healthy(process: subprocess.Popen, address: str) -> None:
    for _ in range(600):
        if process.poll() is not None:
            pytest.fail(f"the server stopped with code {process.returncode}")
        try:
            urllib.request.urlopen(f"{address}/_stcore/health", timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    pytest.fail("the server did not answer within a minute")


@pytest.fixture(scope="session")
def browser() -> Iterator[sync_api.Browser]:
    """Run Chromium: the system's, or the one that Playwright installed."""
    with sync_api.sync_playwright() as playwright:
        path = shutil.which("chromium") or playwright.chromium.executable_path
        if not Path(path).exists():
            pytest.skip("no Chromium here")
        chromium = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def new_page(browser: sync_api.Browser) -> Iterator[Callable[..., sync_api.Page]]:
    """Give a function that opens a page; options are those of Playwright's ``new_context``.

    A console error or an uncaught one fails the test, unless the test clears ``page.problems``.
    """
    pages = []

    def open_page(**options: object) -> sync_api.Page:
        options.setdefault("viewport", {"width": 1440, "height": 900})
        context = browser.new_context(**options)
        page = context.new_page()
        page.set_default_timeout(30_000)
        page.problems = []
        page.on("console", lambda message: _note(page, message))
        page.on("pageerror", lambda error: page.problems.append(str(error)))
        pages.append(page)
        return page

    yield open_page
    problems = [problem for page in pages for problem in page.problems]
    for page in pages:
        page.context.close()
    assert not problems, problems


def _note(page: sync_api.Page, message: sync_api.ConsoleMessage) -> None:
    if message.type == "error":
        page.problems.append(f"{message.text} {message.location['url']}")


@pytest.fixture
def page(new_page: Callable[..., sync_api.Page]) -> sync_api.Page:
    """Give a page of 1440 by 900 pixels."""
    return new_page()
