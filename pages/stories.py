"""The page that lists the stories: guided sequences through the other pages."""

from __future__ import annotations

from collections.abc import Mapping

from pages.shared.lecture import story_list
from pages.shared.state import Session


class Stories:
    """All stories, each a question and the steps that answer it."""

    name = "stories"
    sliders = ()
    uses_scenario = False
    next = ()

    def body(self, session: Session, pages: Mapping[str, object]) -> None:
        """Draw the page."""
        story_list(session, pages)


VIEW = Stories()
