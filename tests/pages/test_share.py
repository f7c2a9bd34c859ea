"""Links that stay valid, their QR codes, and the numbers of a page as Python."""

from __future__ import annotations

import dataclasses
import math
from urllib.parse import urlencode

import pytest
import segno
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match

from app import VIEWS
from pages.shared import links, numbers
from pages.shared.language import Words
from pages.shared.player.view import has_player
from pages.shared.qr import qr, qr_svg
from pages.shared.scenario import Scenario
from pages.shared.share_routes import share_routes
from pages.shared.snippet import snippet
from pages.shared.state import Session
from physics.predict import parse_question, predict
from tests.pages.qr_reader import read_qr
from tests.pages.test_app import html_of, open_page, query_of
from tests.pages.test_tables import at, table_of

PLAYERS = [view.name for view in VIEWS if has_player(view)]
SCENARIOS = [
    {},
    {
        "model": "mixtral-8x7b",
        "tp": "2",
        "batch": "16",
        "efficiency": "typical",
        "engine": "sglang",
    },
    {"model": "deepseek-v3", "chip": "h200-sxm", "tp": "16", "batch": "64", "weights": "fp8"},
    {"model": "gpt-oss-120b", "weights": "published", "kv": "fp8", "prompt": "8192"},
    {"model": "llama-3.1-70b", "chip": "b200-sxm", "bandwidth": "4000", "flops": "1500"},
    {"model": "llama-3.1-405b", "versus": "b200-sxm"},
    {"output": "1", "versus": "apple-m2-ultra", "tp": "2"},
]


# ------------------------------------------------------------------ links


def read(**query: str) -> Session:
    session = Session()
    session.read(query, None)
    return session


def test_links_of_the_first_version_mean_what_they_meant():
    """Whoever changes a default here raises the version of links and adds an upgrade."""
    assert links.VERSION == 2
    assert (
        dataclasses.asdict(Scenario()).items()
        >= {
            "model": "llama-3.1-8b",
            "chip": "h100-sxm",
            "prompt": 2048,
            "output": 256,
            "batch": 1,
            "tp": 1,
            "weights": "published",
            "kv": "bf16",
            "bandwidth": None,
            "flops": None,
            "efficiency": "ideal",
            "engine": "vllm",
            "versus": "h20",
            "price": None,
            "metric": "tpot",
            "prediction": "typical",
            "measured": ("unseen",),
            "measured_source": (),
            "measured_model": (),
            "measured_chip": (),
            "measured_engine": (),
        }.items()
    )


@pytest.mark.parametrize("version", [{}, {"v": ""}, {"v": "1"}])
def test_old_links_open_without_a_word(version):
    session = read(batch="32", kv="fp8", lang="it", **version)
    assert (session.scenario, session.notices) == (Scenario(batch=32, kv="fp8"), [])
    assert session.query() == {"batch": "32", "kv": "fp8", "lang": "it"}


def test_a_newer_link_opens_as_far_as_possible_and_says_so():
    for language, said in (("en", "made by a newer version"), ("it", "versione più recente")):
        app = open_page("one-request", batch="32", hologram="on", v="7", lang=language)
        assert not app.exception
        assert said in html_of(app)
        assert "hologram" in html_of(app)
        assert app.session_state["session"].scenario == Scenario(batch=32)
        assert query_of(app) == {"batch": "32", "lang": language}


@pytest.mark.parametrize("version", ["0", "-1", "one", "1.5", "9" * 5000])
def test_a_version_that_is_none_is_said(version):
    session = read(batch="32", v=version)
    assert session.scenario == Scenario(batch=32)
    assert [notice.name for notice in session.notices] == ["v"]
    assert not links.is_newer(session.notices[0])


def test_an_upgrade_says_in_the_new_scheme_what_the_link_said(monkeypatch):
    # As if the default batch had become 8 and the prompt had got another name.
    def first_to_second(query: dict[str, str]) -> dict[str, str]:
        prompt = {"prompt": query.pop("prompt_tokens")} if "prompt_tokens" in query else {}
        return {"batch": "1"} | query | prompt

    monkeypatch.setattr(links, "VERSION", 2)
    monkeypatch.setattr(links, "UPGRADES", {1: first_to_second})
    assert links.read_link({"prompt_tokens": "64"}) == ({"batch": "1", "prompt": "64"}, [])
    assert links.read_link({"batch": "4", "v": "1"}) == ({"batch": "4"}, [])
    assert links.read_link({"prompt": "64", "v": "2"}) == ({"prompt": "64"}, [])


@pytest.mark.parametrize("version", [{}, {"v": "1"}])
def test_answers_to_questions_that_are_placed_now_are_left_out_of_old_links(version):
    session = read(batch="32", guess="decode-shift.huge", lang="en", **version)
    assert (session.notices, session.query()) == ([], {"batch": "32", "lang": "en"})
    for kept in ("roofline.most", "decode-shift.64"):
        assert read(guess=kept, **version).query()["guess"] == kept


# ------------------------------------------------------------------ QR codes

LINKS = [
    "https://example.org/",
    "https://example.org/roofline?batch=32&lang=it&v=1",
    "https://prefill.example.org/decode-shift?model=llama-3.1-70b&chip=h200-sxm&prompt=131072"
    "&output=8192&batch=4096&tp=8&weights=fp8&kv=fp8&bandwidth=12345.678&flops=9876.5"
    "&efficiency=typical&engine=tensorrt-llm&versus=b200-sxm&price=2.49&lang=en&v=1",
]


@pytest.mark.parametrize("link", LINKS)
def test_qr_code_decodes_to_its_link(link):
    assert read_qr(qr(link).matrix) == link


def test_the_reader_of_qr_codes_sees_a_difference():
    assert read_qr(segno.make(LINKS[1], error="q", micro=False).matrix) == LINKS[1]
    assert read_qr(qr(LINKS[1] + "x").matrix) != LINKS[1]


def get(path: str, query: dict[str, str]) -> Response:
    """Ask the route of a path, as the server does."""
    scope = {"type": "http", "method": "GET", "path": path, "headers": []}
    scope["query_string"] = urlencode(query).encode()
    for route in share_routes(VIEWS, base_path=""):
        match, child = route.matches(scope)
        if match is Match.FULL:
            return route.endpoint(Request(scope | child))
    raise LookupError(path)


def test_qr_code_is_served_black_on_white_with_a_quiet_zone():
    answer = get("/share/qr.svg", {"link": LINKS[1]})
    assert answer.headers["content-type"] == "image/svg+xml"
    assert answer.body == qr_svg(LINKS[1])
    width = len(qr(LINKS[1]).matrix) + 8
    assert f'viewBox="0 0 {width} {width}"' in answer.body.decode()
    assert "#fff" in answer.body.decode()


@pytest.mark.parametrize("link", ["", "javascript:alert(1)", "http://[", "https://x/" + "a" * 1200])
def test_qr_codes_are_for_links_only(link):
    assert get("/share/qr.svg", {"link": link}).status_code == 400


# ------------------------------------------------------------------ snippets


def flat(answer: dict, prefix: str = "") -> dict:
    found = {}
    for name, value in answer.items():
        if isinstance(value, dict):
            found |= flat(value, f"{prefix}{name}.")
        else:
            found[prefix + name] = value
    return found


def run(code: str) -> dict:
    space: dict = {"print": lambda *said: None}
    exec(compile(code, "snippet", "exec"), space)
    return space["numbers"]


def same(one, other) -> bool:
    if isinstance(other, str):
        return one == other
    if other is None:  # not finite
        return not math.isfinite(one)
    return one == pytest.approx(other, rel=1e-9)


@pytest.mark.parametrize("query", SCENARIOS, ids=str)
@pytest.mark.parametrize("page", [*PLAYERS, "glossary"])
def test_snippet_computes_what_physics_predicts(page, query):
    scenario = Scenario.from_query(query)[0]
    found = run(snippet(page, scenario))
    asked = {name: text for name, text in scenario.query().items() if name != "versus"}
    answer = flat(predict(parse_question(asked)))
    shared = [name for name in found.keys() & answer.keys() if not isinstance(found[name], list)]
    assert "bytes_short" in shared
    assert [name for name in shared if not same(found[name], answer[name])] == []
    if not answer["fits"]:  # what does not fit never yields a time
        assert not [name for name in found if name.endswith("_s") and not name.startswith("versus")]


# A number of the snippet, how it is written, and the read-out or sentence in which it stands.
READ_OUT = {
    "one-request": [
        ("ttft_s", numbers.seconds, "ttft"),
        ("tpot_s", numbers.seconds, "itl"),
        ("e2e_s", numbers.seconds, "e2e"),
    ],
    "roofline": [
        ("prefill.intensity", numbers.flop_per_byte, "prefill"),
        ("decode.intensity", numbers.flop_per_byte, "decode"),
    ],
    "kv-cache": [
        ("kv_bytes_per_token", numbers.bytes_decimal, "per_token"),
        ("kv_bytes_all_chips", numbers.bytes_decimal, "held"),
    ],
    "decode-shift": [
        ("decode.intensity", numbers.flop_per_byte, "intensity"),
        ("ridge_flop_per_byte", numbers.flop_per_byte, "crossing"),
        ("critical_context", lambda value, words: numbers.tokens(round(value), words), "critical"),
    ],
    "batching": [
        (
            "decode.seconds_sum",
            lambda value, words: numbers.tokens_per_second(1 / value, words),
            "user",
        ),
        ("max_batch", lambda value, words: numbers.number(int(value), words), "room"),
    ],
    "hardware": [
        ("ttft_s", numbers.seconds, "ttft"),
        ("tpot_s", numbers.seconds, "tpot"),
        ("versus.e2e_s", numbers.seconds, "e2e"),
    ],
    "dataflow": [
        ("layer_kernels_s", numbers.seconds, "sentence"),
        ("layer_streamed_s", numbers.seconds, "sentence"),
    ],
    "metrics": [
        ("longest_gap_s", numbers.seconds, "itl"),
        ("tokens_per_s_of_the_last", numbers.tokens_per_second, "user"),
        ("tokens_per_s_of_all", numbers.tokens_per_second, "system"),
    ],
}


@pytest.mark.parametrize("query", [{}, SCENARIOS[1] | {"batch": "4"}], ids=str)
@pytest.mark.parametrize("page", PLAYERS)
def test_snippet_reproduces_what_the_page_reads_out(page, query):
    found = run(snippet(page, Scenario.from_query(query)[0]))
    table, words = table_of(page, query), Words("en")
    slider = next(iter(table["sliders"]))
    index = table["sliders"][slider]["index"]
    for name, write, slot in READ_OUT[page]:
        assert write(found[name], words) in at(table, slider, index, f"t/{slot}"), name


@pytest.mark.parametrize("query", SCENARIOS, ids=str)
def test_second_chip_of_the_snippet_is_that_chip(query):
    scenario = Scenario.from_query(query)[0]
    found = run(snippet("hardware", scenario))
    alone = dataclasses.replace(scenario, chip=scenario.versus, bandwidth=None, flops=None)
    if alone.tp > 1 and scenario.versus == "apple-m2-ultra":
        assert "versus.ttft_s" not in found
        return
    asked = {name: text for name, text in alone.query().items() if name != "versus"}
    answer = predict(parse_question(asked))
    assert ("versus.ttft_s" in found) == answer["fits"]
    for name in ("ttft_s", "tpot_s", "e2e_s"):
        if answer["fits"]:
            assert same(found[f"versus.{name}"], answer[name])


def test_snippet_is_served_for_the_state_of_a_link():
    answer = get("/share/snippet/roofline", {"batch": "32", "lang": "it", "v": "1"})
    assert answer.body.decode() == snippet("roofline", Scenario(batch=32))
    assert get("/share/snippet/nowhere", {}).status_code == 404
