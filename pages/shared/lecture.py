"""Stories on a page, the speaker's window, and the words of lecture mode.

What a step says is written here; how large it is and what keys do is the browser's part
(`pages/shared/player/browser/lecture.js`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from pathlib import Path
from urllib.parse import urlencode

import streamlit as st

from pages.shared.language import Words
from pages.shared.player.routes import browser_version
from pages.shared.player.view import View
from pages.shared.scenario import Scenario
from pages.shared.state import Session
from pages.shared.stories import Story, stories
from pages.shared.story_numbers import written

_SCRIPT = Path(__file__).resolve().parent.parent.parent / "assets" / "lecture_key.js"


def lecture_script(words: Words) -> str:
    """Return the script that loads lecture mode when a key, a link or the address asks for it."""
    given = {
        "version": browser_version(),
        "words": {
            "title": words("lecture.keys"),
            "close": words("lecture.close"),
            "help": words("lecture.keys"),
            "enter": words("lecture.enter"),
            "leave": words("lecture.leave"),
            "keys": [
                ["← →", words("lecture.key_steps")],
                ["⇧← ⇧→ − +", words("lecture.key_stops")],
                ["↑ ↓ Tab", words("lecture.key_slider")],
                [words("lecture.space"), words("lecture.key_play")],
                ["R", words("lecture.key_reset")],
                ["N", words("lecture.key_notes")],
                ["L", words("lecture.key_lecture")],
                ["?", words("lecture.key_help")],
            ],
        },
    }
    # "</" would end the script.
    data = json.dumps(given, ensure_ascii=False).replace("</", "<\\/")
    return f"window.explorableLecture = {data};\n{_SCRIPT.read_text(encoding='utf-8')}"


def lecture_link(session: Session) -> None:
    """Offer lecture mode to those who do not know its key."""
    address = "?" + urlencode(session.query() | {"lecture": "1"})
    st.html(
        f'<p class="details"><a href="{escape(address)}" target="_self" data-lecture>'
        f"{escape(session.words('lecture.enter'))}</a> (L)</p>"
    )


def is_notes(session: Session) -> bool:
    """Say whether this window is the speaker's."""
    return session.kept.get("notes") == "1"


def step_address(
    story: Story, number: int, session: Session, pages: Mapping[str, object], **more: str
) -> str:
    """Return the address of a step (counted from one), relative to any page's."""
    step = story.steps[number - 1]
    kept = {name: value for name, value in session.kept.items() if name != "notes"}
    query = (
        step.scenario.query()
        | {"lang": session.words.code}
        | kept
        | {"story": story.slug, "step": str(number)}
        | more
    )
    return _address(step.page, query, pages)


def _address(page: str, query: Mapping[str, str], pages: Mapping[str, object]) -> str:
    path = getattr(pages[page], "url_path", "") or "./"
    return f"{path}?{urlencode(query)}"


def story_panel(session: Session, view: View, pages: Mapping[str, object]) -> None:
    """Show the step of the story that is open: what is seen, where to look, what to ask."""
    story = session.story
    if story is None:
        return
    words = session.words
    number, last = session.step, len(story.steps)
    step = story.steps[number - 1]
    texts = _texts(story, number, words)
    links = []
    if number > 1:
        links.append(_link(story, number - 1, "previous", "lecture.previous", session, pages))
    if number < last:
        links.append(_link(story, number + 1, "next", "lecture.next", session, pages))
    away = view.name != step.page or session.scenario != step.scenario
    links.append(
        _link(story, number, "again", "lecture.back" if away else "lecture.again", session, pages)
    )
    links.append(_leaving("stories", "lecture.all", session, pages))
    links.append(_leaving(view.name, "lecture.close_story", session, pages))
    progress = words("lecture.step", step=number, steps=last)
    st.html(
        f'<section class="story" aria-label="{escape(story.title[words.code])}"'
        f' data-story="{story.slug} {number}" data-slider="{_moved(story, number, view)}">'
        f'<p class="story-head"><strong>{escape(story.title[words.code])}</strong>'
        f' <span class="story-progress">{escape(progress)}</span></p>'
        f'<p class="story-sentence" role="status">{texts["sentence"]}</p>'
        f'<p class="story-look"><b>{escape(words("lecture.look"))}</b> {texts["look"]}</p>'
        f'<p class="story-question"><b>{escape(words("lecture.question"))}</b>'
        f" {texts['question']}</p>"
        f"<details><summary>{escape(words('lecture.note'))}</summary>"
        f"<p>{texts['note']}</p></details>"
        f'<p class="story-links">{" ".join(links)}</p></section>'
    )


def notes_page(session: Session, view: View, pages: Mapping[str, object]) -> None:
    """Show what only the speaker sees: notes, the next step, the clock, and what is said there."""
    words, story = session.words, session.story
    parts = [
        f'<p class="notes-head"><span>{escape(words("lecture.notes"))}</span>'
        f" <output data-notes-clock>0:00</output></p>"
    ]
    if story is None:
        parts += [
            f"<h1>{escape(words(f'{view.name}.title'))}</h1>",
            f"<p>{escape(words(f'{view.name}.do'))}</p>",
            f"<p>{escape(words('lecture.no_story'))}</p>",
        ]
    else:
        number, last = session.step, len(story.steps)
        texts = _texts(story, number, words)
        progress = words("lecture.step", step=number, steps=last)
        parts += [
            f'<p class="notes-head">{escape(story.title[words.code])} {escape(progress)}</p>',
            f"<h1>{texts['sentence']}</h1>",
            f'<p class="notes-note">{texts["note"]}</p>',
            f"<p><b>{escape(words('lecture.question'))}</b> {texts['question']}</p>",
        ]
        if number < last:
            following = _texts(story, number + 1, words)["sentence"]
            parts.append(f"<p><b>{escape(words('lecture.next'))}:</b> {following}</p>")
    parts.append(
        f'<p class="notes-live"><b>{escape(words("lecture.on_screen"))}</b>'
        f" <span data-notes-live></span></p><p>{escape(words('lecture.remote'))}</p>"
    )
    st.html(f'<main class="notes">{"".join(parts)}</main>')


def story_list(session: Session, pages: Mapping[str, object]) -> None:
    """List all stories with what happens in them, each to be started here or in the hall."""
    words = session.words
    items = []
    for story in stories().values():
        first = step_address(story, 1, session, pages)
        hall = step_address(story, 1, session, pages, lecture="1")
        steps = "".join(
            f'<li><a href="{escape(step_address(story, number, session, pages))}" data-step'
            f' target="_self">{_texts(story, number, words)["sentence"]}</a></li>'
            for number in range(1, len(story.steps) + 1)
        )
        items.append(
            f"<section><h2>{escape(story.title[words.code])}</h2>"
            f"<p>{escape(story.about[words.code])}</p>"
            f'<p class="story-start"><a href="{escape(first)}" data-step target="_self">'
            f"{escape(words('stories.start'))}</a>"
            f' <a href="{escape(hall)}" data-step data-lecture target="_self">'
            f"{escape(words('stories.hall'))}</a></p>"
            f"<details><summary>{escape(words('stories.steps', count=len(story.steps)))}</summary>"
            f"<ol>{steps}</ol></details></section>"
        )
    st.html(f'<div class="stories">{"".join(items)}</div>')


def _texts(story: Story, number: int, words: Words) -> dict[str, str]:
    step = story.steps[number - 1]
    return {
        name: escape(written(text[words.code], step.scenario, step.others, words))
        for name, text in step.texts().items()
    }


def _moved(story: Story, number: int, view: View) -> str:
    """Return the slider that a step moves: of those that differ from the step before, the first."""
    step = story.steps[number - 1]
    before = story.steps[number - 2].scenario if number > 1 else Scenario()
    moved = [name for name in view.sliders if getattr(step.scenario, name) != getattr(before, name)]
    return moved[0] if moved else ""


def _link(
    story: Story,
    number: int,
    way: str,
    key: str,
    session: Session,
    pages: Mapping[str, object],
) -> str:
    address = step_address(story, number, session, pages)
    label = escape(session.words(key))
    return f'<a href="{escape(address)}" data-step="{way}" target="_self">{label}</a>'


def _leaving(page: str, key: str, session: Session, pages: Mapping[str, object]) -> str:
    """Link a page with the scenario as it is, and no story."""
    query = {
        name: value for name, value in session.query().items() if name not in ("story", "step")
    } | {"lang": session.words.code}
    address = _address(page, query, pages)
    label = escape(session.words(key))
    return f'<a href="{escape(address)}" data-step="leave" target="_self">{label}</a>'
