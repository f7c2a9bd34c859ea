"""Every page opens in both languages, by the same app.py that is served."""

import subprocess
import sys
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from app import VIEWS, url_path
from pages.shared.language import LANGUAGES, words

APP = Path(__file__).parents[2] / "app.py"
NAMES = [view.name for view in VIEWS]
SLOW_SECONDS = 60


def open_page(name: str, **query: str) -> AppTest:
    """Run app.py as a browser would that opens the page with this query."""
    # From a script elsewhere: beside a folder called pages/ AppTest takes the files in it for
    # pages, which the served app forbids before its first run.
    script = f"import runpy; runpy.run_path({str(APP)!r})"
    app = AppTest.from_string(script, default_timeout=SLOW_SECONDS)
    for parameter, value in query.items():
        app.query_params[parameter] = value
    view = next(view for view in VIEWS if view.name == name)
    # `switch_page` knows files only; a page that is a function is found by the hash of its path.
    app._page_hash = calc_hash(url_path(view))
    return app.run()


def test_apptest_runs_the_file_itself():
    app = AppTest.from_file(str(APP), default_timeout=SLOW_SECONDS).run()
    assert not app.exception
    assert app.title[0].value == words("en")(f"{NAMES[0]}.title")


def test_served_app_forbids_pages_of_the_older_kind():
    # Else the first visitor of a fresh process, on /roofline, is shown the bare file.
    code = "import app; from streamlit.runtime.pages_manager import PagesManager as manager; "
    code += "assert manager.uses_pages_directory is False and hasattr(app, 'app')"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=APP.parent, timeout=SLOW_SECONDS)


def query_of(app: AppTest) -> dict[str, str]:
    """Return the query; AppTest gives a list for what the test set and a text for what we set."""
    return {
        name: value[-1] if isinstance(value, list) else value
        for name, value in app.query_params.items()
    }


def html_of(app: AppTest) -> str:
    return " ".join(str(part.proto.body) for part in app.get("html"))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", NAMES)
def test_page_opens_in_its_language(name, language):
    app = open_page(name, lang=language)
    assert not app.exception
    assert app.title[0].value == words(language)(f"{name}.title")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", NAMES)
def test_claim_is_at_most_a_dozen_words(name, language):
    assert len(words(language)(f"{name}.title").split()) <= 12


def test_bad_link_is_said_and_the_rest_kept():
    app = open_page(NAMES[0], batch="0", prompt="512", chip="h100", nonsense="1", lang="en")
    text = html_of(app)
    assert not app.exception
    assert "batch = “0”" in text
    assert "Using 1 instead" in text
    assert "h100-sxm" in text
    assert "“nonsense”" in text
    assert app.session_state["session"].scenario.prompt == 512
    assert query_of(app) == {"prompt": "512", "lang": "en"}


def test_html_in_a_link_stays_text():
    app = open_page(NAMES[0], batch="<script>x</script>", lang="en")
    assert "<script>x" not in html_of(app).replace("&lt;script&gt;", "")
    assert "&lt;script&gt;x" in html_of(app)


@pytest.mark.parametrize("name", NAMES)
def test_sidebar_shows_pickers_only_where_they_count(name):
    app = open_page(name, lang="en", batch="8", chip="h20")
    shown = {box.key for box in app.sidebar.selectbox} | {one.key for one in app.sidebar.button}
    counts = name not in ("evidence", "stories")
    assert ("pick_model" in shown) == ("pick_chip" in shown) == ("pick_reset" in shown) == counts
    assert [one.key for one in app.sidebar.get("button_group")] == ["pick_language"]
    links = app.sidebar.get("page_link")
    assert len(links) == len(NAMES)
    assert all("chip=h20" in link.proto.query_string for link in links)
    assert query_of(app) == {"batch": "8", "chip": "h20", "lang": "en"}


def test_picking_a_chip_drops_custom_figures():
    app = open_page(NAMES[0], bandwidth="6000", lang="en")
    app.selectbox(key="pick_chip").select("h200-sxm").run()
    assert not app.exception
    assert query_of(app) == {"chip": "h200-sxm", "lang": "en"}


def test_language_is_picked_and_kept():
    app = open_page(NAMES[0], lang="en")
    app.get("button_group")[0].set_value("it").run()
    assert app.title[0].value == words("it")(f"{NAMES[0]}.title")
    assert query_of(app)["lang"] == "it"


def test_reset_keeps_the_language():
    app = open_page(NAMES[0], batch="32", kv="fp8", lang="it")
    app.button(key="pick_reset").click().run()
    assert query_of(app) == {"lang": "it"}


def test_bare_address_stays_bare():
    assert query_of(open_page(NAMES[0])) == {}


def test_unchecked_chip_is_marked():
    assert "not re-read" in html_of(open_page(NAMES[0], chip="t4", lang="en"))
    assert "not re-read" not in html_of(open_page(NAMES[0], chip="h100-sxm", lang="en"))


def test_unlisted_tensor_parallel_stays_available():
    app = open_page(NAMES[0], tp="3", lang="en")
    assert app.selectbox(key="pick_tp").value == 3
