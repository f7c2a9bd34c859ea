"""HTTP routes beside Streamlit: the tables, the player's own scripts, and Plotly's script.

Nothing comes from elsewhere; Plotly's script is in `assets/vendor/`. Names of scripts hold a hash
of their contents, so that browsers keep them for a year; tables are checked by ETag each time, and
kept compressed in memory here.
"""

from __future__ import annotations

import asyncio
import functools
import gzip
import hashlib
import json
import logging
import re
import threading
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any

from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from pages.shared.player.answers import AnswerStore
from pages.shared.player.sockets import answer_at_once
from pages.shared.player.table import build_table
from pages.shared.player.view import House

BROWSER_FILES = Path(__file__).parent / "browser"
PLOTLY = Path(__file__).resolve().parents[3] / "assets" / "vendor" / "plotly-cartesian.min.js"
FOREVER = "public, max-age=31536000, immutable"
TABLES_KEPT = 512
FIRST_MODULE = "player.js"
_STATIC_IMPORT = re.compile(r'^(?:import|export) .*?from "\./([\w.-]+)";', re.MULTILINE | re.DOTALL)
MEDIA_TYPES = {".js": "text/javascript", ".css": "text/css"}

_log = logging.getLogger(__name__)
_plotly_lock = threading.Lock()


def player_routes(house: House, *, base_path: str | None = None) -> list[Route]:
    """Give the routes to hand to ``st.App(..., routes=...)``.

    Parameters
    ----------
    house : House
        The pages and how to read a query.
    base_path : str, optional
        Path under which the server lives; by default Streamlit's ``server.baseUrlPath``.
    """
    prefix = server_prefix(base_path)
    tables = TableStore(house)
    answers = AnswerStore(house.answers, tables.lane)
    # What the first visitor will ask for takes a moment: have it done before.
    threading.Thread(target=_prepare, args=(tables,), daemon=True).start()
    return [
        Route(f"{prefix}/table/{{page}}", tables.respond),
        Route(f"{prefix}/answer/{{name}}", answers.respond),
        Route(f"{prefix}/player/{{version}}/{{name}}", _browser_file),
        Route(f"{prefix}/vendor/{{name}}", _vendor_file),
        *(
            Route(f"{prefix}/{{page}}/_stcore/{probe}", _not_here)
            for probe in ("health", "host-config")
        ),
    ]


def server_prefix(base_path: str | None) -> str:
    """Give the path under which the server lives, "" for the root."""
    if base_path is None:
        from streamlit import config

        base_path = config.get_option("server.baseUrlPath") or ""
    return "/" + base_path.strip("/") if base_path.strip("/") else ""


def player_middleware(pages: Iterable[str], *, base_path: str | None = None) -> list[Middleware]:
    """Give the middleware to hand to ``st.App(..., middleware=...)``.

    It lets the browser fetch the scripts while Streamlit is still starting, on pages that have a
    player (``""`` is the first page).
    """
    prefix = server_prefix(base_path)
    paths = frozenset(f"{prefix}/{page}" for page in pages)
    return [Middleware(_EarlyScripts, paths=paths)]


def browser_version() -> str:
    """Give a hash of the player's own scripts and styles."""
    return _hash(b"".join(path.read_bytes() for path in _browser_files()))


def plotly_name() -> str:
    """Give the file name of Plotly's script, with a hash of its contents."""
    return f"plotly-{_plotly_hash()}.min.js"


def _prepare(tables: TableStore) -> None:
    _plotly_script()
    import_module("pandas")  # Streamlit takes a third of a second for it in its first run
    tables.prepare()


class TableStore:
    """Computes tables, and keeps the latest ones compressed."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._compressed = functools.lru_cache(maxsize=TABLES_KEPT)(self._compute)
        # One after another: side by side, threads of one interpreter only get in each other's way.
        self.lane = ThreadPoolExecutor(max_workers=1, thread_name_prefix="tables")

    async def respond(self, request: Request) -> Response:
        """Answer ``GET /table/<page>?<scenario>[&play=<slider>]``."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self.lane, self._answer, request)

    def _answer(self, request: Request) -> Response:
        page = request.path_params["page"]
        query = dict(request.query_params)
        play = query.pop("play", None)
        view = self._house.views.get(page)
        if view is None:
            return _refusal(404, f"no page {page!r}; pages are {', '.join(self._house.views)}")
        if play is not None and play not in view.sliders:
            return _refusal(400, f"no slider {play!r}; sliders are {', '.join(view.sliders)}")
        try:
            scenario, language = self._house.parse(query)
            canonical = self._house.query(scenario, language)
            body, etag = self._compressed(page, tuple(sorted(canonical.items())), play)
        except (ValueError, KeyError) as error:
            return _refusal(400, _message(error))
        except Exception:
            _log.exception("table %s failed for %s", page, query)
            return _refusal(500, "the table could not be computed")
        headers = {"etag": etag, "cache-control": "no-cache", "vary": "accept-encoding"}
        if request.headers.get("if-none-match") == etag:
            return Response(status_code=304, headers=headers)
        return _compressed_response(request, body, "application/json", headers)

    def prepare(self) -> None:
        """Compute the tables that bare addresses ask for."""
        for page in self._house.views:
            scenario, language = self._house.parse({})
            canonical = self._house.query(scenario, language)
            self._compressed(page, tuple(sorted(canonical.items())), None)

    def table(self, page: str, query: Mapping[str, str], play: str | None = None) -> dict[str, Any]:
        """Compute the table of a page, not compressed (for tests and tools)."""
        house = self._house
        scenario, language = house.parse(query)
        return build_table(
            house.views[page],
            scenario,
            language,
            stops=house.dense_stops if play else house.stops,
            points=house.points,
            query=house.query(scenario, language),
            play=play,
        )

    def _compute(
        self, page: str, query: tuple[tuple[str, str], ...], play: str | None
    ) -> tuple[bytes, str]:
        table = self.table(page, dict(query), play)
        text = json.dumps(table, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        body = gzip.compress(text.encode(), compresslevel=6, mtime=0)
        return body, f'"{_hash(body)}"'


class _EarlyScripts:
    """ASGI middleware: has the browser fetch the player's scripts while Streamlit still starts.

    Streamlit's page is a fixed file that knows nothing of ours. The Link header names our modules;
    Plotly's script is put into the head, because evaluating it takes about as long as all of
    Streamlit, and can be done while Streamlit's own modules are still on their way.
    """

    def __init__(self, app: Any, paths: frozenset[str]) -> None:
        self._app = app
        self._paths = paths

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            answer_at_once()
        if (
            scope["type"] != "http"
            or scope["method"] != "GET"
            or scope["path"].removeprefix(scope.get("root_path", "")) not in self._paths
        ):
            await self._app(scope, receive, send)
            return
        start: dict[str, Any] | None = None  # held back until the body's new length is known
        body = bytearray()

        async def send_with_scripts(message: Any) -> None:
            nonlocal start
            if message["type"] == "http.response.start" and _is_plain_page(message):
                start = message
            elif start is None:
                await send(message)
            else:
                body.extend(message.get("body", b""))
                if not message.get("more_body"):
                    page = bytes(body).replace(b"<head>", b"<head>" + _script_tag(), 1)
                    await send({**start, "headers": _page_headers(start["headers"], len(page))})
                    await send({"type": "http.response.body", "body": page})

        # Eight kilobytes are not worth undoing Streamlit's compression for.
        headers = [header for header in scope["headers"] if header[0] != b"accept-encoding"]
        await self._app({**scope, "headers": headers}, receive, send_with_scripts)


def _is_plain_page(message: Any) -> bool:
    headers = dict(message.get("headers", []))
    return (
        message["status"] == 200
        and headers.get(b"content-type", b"").startswith(b"text/html")
        and b"content-encoding" not in headers
    )


def _page_headers(headers: Any, length: int) -> list[tuple[bytes, bytes]]:
    # The validators belong to the page without our script, whose name changes with its contents.
    replaced = {b"content-length", b"etag", b"last-modified", b"accept-ranges"}
    kept = [(name, value) for name, value in headers if name not in replaced]
    return [*kept, (b"content-length", str(length).encode()), (b"link", _module_links())]


def _script_tag() -> bytes:
    # High priority, or it would queue behind Streamlit's eighty modules.
    source = f"./vendor/{plotly_name()}"
    return f'<script async fetchpriority="high" data-explorable src="{source}"></script>'.encode()


def _module_links() -> bytes:
    base = f"./player/{browser_version()}"
    links = [
        f"<{base}/{path.name}>; rel=modulepreload"
        for path in _browser_files()
        if path.name in _early_modules()
    ]
    return ", ".join([*links, f"<{base}/player.css>; rel=preload; as=style"]).encode()


@functools.cache
def _early_modules() -> frozenset[str]:
    """Name the modules that the first figure needs; what they import later waits until then."""
    found, waiting = set(), [FIRST_MODULE]
    while waiting:
        name = waiting.pop()
        found.add(name)
        text = (BROWSER_FILES / name).read_text(encoding="utf-8")
        waiting += set(_STATIC_IMPORT.findall(text)) - found
    return frozenset(found)


def _browser_file(request: Request) -> Response:
    name = request.path_params["name"]
    path = next((path for path in _browser_files() if path.name == name), None)
    if path is None:
        return _refusal(404, "no such file")
    headers = {"cache-control": FOREVER, "vary": "accept-encoding"}
    body = gzip.compress(path.read_bytes(), compresslevel=6, mtime=0)
    return _compressed_response(request, body, MEDIA_TYPES[path.suffix], headers)


def _not_here(request: Request) -> Response:
    """Answer Streamlit's browser part, which looks for its server below each page's path first.

    Any answer but success makes it look one level up. This one is no error, so that the browser
    does not report one on a page where nothing is wrong.
    """
    return Response(status_code=300)


def _vendor_file(request: Request) -> Response:
    if request.path_params["name"] != plotly_name():
        return _refusal(404, "no such file")
    headers = {"cache-control": FOREVER, "vary": "accept-encoding"}
    return _compressed_response(request, _plotly_script(), "text/javascript", headers)


def _compressed_response(
    request: Request, body: bytes, media_type: str, headers: dict[str, str]
) -> Response:
    if "gzip" in request.headers.get("accept-encoding", ""):
        headers = {**headers, "content-encoding": "gzip"}
    else:
        body = gzip.decompress(body)
    return Response(body, media_type=media_type, headers=headers)


def _refusal(status: int, message: str) -> Response:
    return JSONResponse(
        {"error": message}, status_code=status, headers={"cache-control": "no-store"}
    )


def _message(error: Exception) -> str:
    text = str(error.args[0]) if error.args else type(error).__name__
    return " ".join(text.split())


def _browser_files() -> list[Path]:
    return sorted(path for path in BROWSER_FILES.iterdir() if path.suffix in MEDIA_TYPES)


@functools.cache
def _plotly_hash() -> str:
    return _hash(PLOTLY.read_bytes())


@functools.cache
def _compressed_plotly() -> bytes:
    return gzip.compress(PLOTLY.read_bytes(), compresslevel=6, mtime=0)


def _plotly_script() -> bytes:
    with _plotly_lock:  # so that two early requests do not both compress it
        return _compressed_plotly()


def _hash(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=8).hexdigest()
