"""The button that shares a page, and the words of what it opens."""

from __future__ import annotations

import json
from html import escape

from pages.shared import numbers
from pages.shared.controls import (
    chip_text,
    engine_text,
    model_text,
    rest_texts,
    uses_scenario,
    weights_text,
)
from pages.shared.language import Words
from pages.shared.links import VERSION
from pages.shared.player.routes import browser_version, plotly_name
from pages.shared.player.view import View
from pages.shared.scenario import Scenario
from pages.shared.share_routes import has_snippet
from physics.chips import chip


def share_words(words: Words) -> dict[str, str]:
    """Return the words of the dialog.

    Examples
    --------
    >>> from pages.shared.language import Words
    >>> share_words(Words("it"))["close"]
    'Chiudi'
    """
    return {
        "title": words("share.title"),
        "state": words("share.state"),
        "link": words("share.link"),
        "copy": words("share.copy"),
        "copy_link": words("share.copy_link"),
        "copied": words("share.copied"),
        "not_copied": words("share.not_copied"),
        "qr": words("share.qr"),
        "qr_large": words("share.qr_large"),
        "embed": words("share.embed"),
        "copy_embed": words("share.copy_embed"),
        "take_away": words("share.take_away"),
        "print": words("share.print"),
        "print_help": words("share.print_help"),
        "python": words("share.python"),
        "python_help": words("share.python_help"),
        "copy_python": words("share.copy_python"),
        "download_python": words("share.download_python"),
        "close": words("share.close"),
        "failed": words("share.failed"),
    }


def settings(view: View, scenario: Scenario, words: Words) -> list[str]:
    """Return what is picked beside the page's sliders, in words; a page may have its own way.

    Examples
    --------
    >>> from pages import one_request
    >>> from pages.shared.language import Words
    >>> settings(one_request.VIEW, Scenario(), Words("en"))[-2:]
    ['1\\xa0chip', 'Ideal']
    """
    if hasattr(view, "settings"):
        return view.settings(scenario, words)
    if not uses_scenario(view):
        return []
    own = chip(scenario.chip)
    found = [model_text(scenario.model, scenario.kv, words), chip_text(own, words)]
    if "versus" in getattr(view, "picks", ()):
        second = chip_text(chip(scenario.versus), words)
        found.append(f"{words('controls.versus')}: {second}")
    formats = weights_text(scenario.weights, scenario, words), scenario.kv
    names = words("controls.weights"), words("controls.kv")
    found += [f"{name} {text}" for name, text in zip(names, formats, strict=True)]
    found.append(numbers.chip_count(scenario.tp, words))
    typical = scenario.efficiency == "typical"
    found.append(words("controls.typical" if typical else "controls.ideal"))
    if typical:
        found.append(engine_text(scenario.engine, words))
    return [*found, *rest_texts(scenario, view.sliders, words)]


def share_button(view: View, scenario: Scenario, words: Words) -> str:
    """Return the button as HTML; what it opens is fetched when it is pressed."""
    given = {
        "page": view.name,
        "python": has_snippet(view),
        "link_version": str(VERSION),
        "version": browser_version(),
        "plotly": plotly_name(),
        "words": share_words(words),
        "handout": [words(f"section.{name}") for name in ("formula", "honest", "takeaway")],
        "settings": settings(view, scenario, words),
        "all": hasattr(view, "settings"),  # the page's own controls are among them
    }
    data = escape(json.dumps(given, ensure_ascii=False), quote=True)
    label = escape(words("share.open"))
    return (
        f'<button type="button" class="share-open" aria-haspopup="dialog" data-share="{data}">'
        f"{label}</button>"
    )


def whole_page_link(words: Words) -> str:
    """Return the link out of an embedded page, as HTML; it gets its address when it is used."""
    label = escape(words("share.whole"))
    return f'<a class="share-whole" href="?" target="_blank" rel="noopener">{label}</a>'
