"""What can be taken from a page by address: a link's QR code, the page's numbers in Python."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from pages.shared.links import read_link
from pages.shared.player.routes import server_prefix
from pages.shared.player.view import View, has_player
from pages.shared.qr import LONGEST, qr_svg
from pages.shared.scenario import Scenario
from pages.shared.snippet import snippet


def share_routes(views: Iterable[View], *, base_path: str | None = None) -> list[Route]:
    """Give the routes to hand to ``st.App(..., routes=...)``.

    Parameters
    ----------
    views : iterable of View
        All pages; those with numbers give them as a snippet.
    base_path : str, optional
        Path under which the server lives; by default Streamlit's ``server.baseUrlPath``.
    """
    prefix = server_prefix(base_path)
    return [
        Route(f"{prefix}/share/qr.svg", _qr_code),
        Route(f"{prefix}/share/snippet/{{page}}", _snippets(views)),
    ]


def _qr_code(request: Request) -> Response:
    """Answer ``GET /share/qr.svg?link=<address>``."""
    link = request.query_params.get("link", "")
    try:
        scheme = urlsplit(link).scheme
    except ValueError:
        scheme = ""
    if scheme not in ("http", "https") or len(link) > LONGEST:
        return PlainTextResponse("no link, or too long a one", status_code=400)
    return Response(qr_svg(link), media_type="image/svg+xml", headers={"cache-control": "no-cache"})


def has_snippet(view: View) -> bool:
    """Say whether a page's numbers can be had as Python: a player's, or by a way of its own."""
    return has_player(view) or hasattr(view, "snippet")


def _snippets(views: Iterable[View]) -> Callable[[Request], Response]:
    writers = {
        view.name: getattr(view, "snippet", functools.partial(snippet, view.name))
        for view in views
        if has_snippet(view)
    }

    def answer(request: Request) -> Response:
        """Answer ``GET /share/snippet/<page>?<scenario>``."""
        writer = writers.get(request.path_params["page"])
        if writer is None:
            return PlainTextResponse("no such page", status_code=404)
        query, _ = read_link(dict(request.query_params))
        scenario, _ = Scenario.from_query(query)
        return PlainTextResponse(writer(scenario), headers={"cache-control": "no-cache"})

    return answer
