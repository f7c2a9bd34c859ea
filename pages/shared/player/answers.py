"""The route for what the player asks once in a while: ``GET /answer/<name>?...`` gives JSON."""

from __future__ import annotations

import asyncio
import functools
import logging
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

ANSWERS_KEPT = 512
LONGEST_QUERY = 4000
"""Characters: several scenarios, each with all of its options."""

Answer = Callable[[Mapping[str, str]], dict[str, Any]]

_log = logging.getLogger(__name__)


class AnswerStore:
    """Gives answers by name, and keeps the latest ones.

    Parameters
    ----------
    answers : mapping of str to callable
        ``answer(asked) -> dict``; raises ValueError or KeyError for what cannot be answered.
    lane : Executor
        Where answers are computed, behind the tables.
    """

    def __init__(self, answers: Mapping[str, Answer], lane: Executor) -> None:
        self._answers = answers
        self._lane = lane
        self._kept = functools.lru_cache(maxsize=ANSWERS_KEPT)(self._compute)

    async def respond(self, request: Request) -> Response:
        """Answer ``GET /answer/<name>?<what is asked>``."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._lane, self._respond, request)

    def _respond(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in self._answers:
            return _refusal(404, f"no answer {name!r}; there are {', '.join(self._answers)}")
        if len(request.url.query) > LONGEST_QUERY:
            return _refusal(400, f"more than {LONGEST_QUERY} characters are asked")
        try:
            answer = self._kept(name, tuple(sorted(request.query_params.items())))
        except (ValueError, KeyError) as error:
            text = str(error.args[0]) if error.args else type(error).__name__
            return _refusal(400, " ".join(text.split()))
        except Exception:
            _log.exception("answer %s failed for %s", name, request.url.query)
            return _refusal(500, "the answer could not be computed")
        return JSONResponse(answer, headers={"cache-control": "no-cache"})

    def _compute(self, name: str, asked: tuple[tuple[str, str], ...]) -> dict[str, Any]:
        return self._answers[name](dict(asked))


def _refusal(status: int, message: str) -> Response:
    return JSONResponse(
        {"error": message}, status_code=status, headers={"cache-control": "no-store"}
    )
