"""The glossary: its terms, the pages they are used on, and the values it gives."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from pages.glossary import VIEW, entries, values_here
from pages.menu import VIEWS
from pages.shared import numbers
from pages.shared.glossary import PAGE, for_browser, forms, found, pages_of, terms
from pages.shared.language import LANGUAGES, texts, words
from pages.shared.scenario import Scenario
from physics.predict import parse_question, predict
from tests.pages.test_share import run

PATHS = {view.name: view.name for view in VIEWS}
# What the text that the project starts from speaks of.
WANTED = [
    "prefill",
    "decode",
    "ttft",
    "tpot",
    "itl",
    "e2e",
    "kv-cache",
    "arithmetic-intensity",
    "ridge",
    "roofline",
    "mfu",
    "mbu",
    "gqa",
    "mqa",
    "mha",
    "mla",
    "moe",
    "tensor-parallel",
    "continuous-batching",
    "chunked-prefill",
    "goodput",
    "disaggregation",
    "dataflow",
    "fusion",
    "hbm",
    "sram",
    "critical-batch",
    "critical-context",
    "speculative-decoding",
    "quantisation",
    "batch",
    "throughput",
    "compute-bound",
    "memory-bound",
]


def html(code: str = "en", **scenario: object) -> str:
    return entries(Scenario(**scenario), words(code), PATHS, {"lang": code})


def test_the_terms_of_the_field_are_there():
    assert set(WANTED) <= {term.slug for term in terms()}


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_term_has_its_texts_and_every_text_its_term(code):
    slugs = {key.split(".")[1] for key in texts(code) if key.count(".") == 2 and PAGE in key}
    assert slugs == {term.slug for term in terms()}
    for slug in slugs:
        assert {f"{PAGE}.{slug}.{part}" for part in ("name", "forms", "text")} <= set(texts(code))


@pytest.mark.parametrize("code", LANGUAGES)
def test_no_form_belongs_to_two_terms(code):
    counts = Counter(form.casefold() for term in terms() for form in forms(term.slug, words(code)))
    assert [form for form, count in counts.items() if count > 1] == []


@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize("slug", [term.slug for term in terms()])
def test_an_entry_is_one_or_two_sentences(code, slug):
    text = words(code)(f"glossary.{slug}.text")
    sentences = re.findall(r"[.](?:\s|$)", text)
    assert text.endswith(".")
    assert 1 <= len(sentences) <= 2
    assert len(text) <= 240


def test_longest_form_counts_and_abbreviations_keep_their_capitals():
    english = words("en")
    assert found("Chunked prefill shortens ITL.", english) == {"chunked-prefill", "itl"}
    assert found("a mixture of experts", english) == {"moe"}
    assert found("a slo-mo moe", english) == set()
    assert found("295 FLOP/byte, 989 TFLOP/s, {prefill}", english) == set()
    assert found("<b>ridge</b> point", english) == {"ridge"}


@pytest.mark.parametrize("code", LANGUAGES)
def test_pages_and_entries_are_linked_both_ways(code):
    language = words(code)
    text = html(code)
    for view in VIEWS:
        if view.name == PAGE:
            continue
        explained = [term["slug"] for term in for_browser(view.name, language)["list"]]
        assert len(explained) >= 8, view.name
        for slug in explained:
            assert f'id="{slug}"' in text
    for term in terms():
        entry = text.split(f'id="{term.slug}"')[1].split("</div>")[0]
        linked = re.findall(r'data-page-link="([\w-]+)"', entry)
        assert linked == pages_of(term.slug, PATHS, language)
        for page in linked:
            assert term.slug in {t["slug"] for t in for_browser(page, language)["list"]}
            assert f'href="./{page}?lang={code}"' in entry


@pytest.mark.parametrize("code", LANGUAGES)
def test_entries_have_one_anchor_each_and_stand_in_the_index(code):
    text = html(code)
    ids = re.findall(r' id="([\w-]+)"', text)
    assert ids == [term.slug for term in terms()]
    index = text.split("</nav>")[0]
    assert set(re.findall(r"#([\w-]+)", index)) == set(ids)


@pytest.mark.parametrize(
    "query",
    [
        {"prompt": "4096", "batch": "8"},
        {"model": "deepseek-v3", "chip": "h200-sxm", "tp": "16", "efficiency": "typical"},
    ],
    ids=str,
)
def test_values_are_those_of_physics(query):
    scenario, notices = Scenario.from_query(query)
    assert notices == []
    said, answer = values_here(scenario, words("en")), predict(parse_question(query))

    def number(slug: str) -> float:
        text = said[slug].split("\xa0")
        unit = {"ms": 1e-3, "GB": 1e9, "TB": 1e12, "TB/s": 1e12, "PFLOP/s": 1e15, "TFLOP/s": 1e12}
        return float(text[0].replace(",", "")) * unit.get("".join(text[1:]), 1.0)

    for slug, name in (
        ("ttft", "ttft_s"),
        ("tpot", "tpot_s"),
        ("e2e", "e2e_s"),
        ("ridge", "ridge_flop_per_byte"),
        ("critical-batch", "critical_batch"),
        ("weights", "weight_bytes_all_chips"),
    ):
        assert number(slug) == pytest.approx(answer[name], rel=0.006), slug
    intensities = re.findall(r"([\d.,]+)\xa0FLOP/byte", said["arithmetic-intensity"])
    assert [float(text.replace(",", "")) for text in intensities] == [
        pytest.approx(answer[phase]["intensity"], rel=0.006) for phase in ("prefill", "decode")
    ]


# A number of the page's lines of Python, how it is written, and the entry in which it stands.
IN_PYTHON = [
    ("ttft_s", numbers.seconds, "ttft"),
    ("tpot_s", numbers.seconds, "tpot"),
    ("e2e_s", numbers.seconds, "e2e"),
    ("decode_s", numbers.seconds, "decode"),
    ("decode.seconds_sum", numbers.seconds, "step"),
    ("tokens_per_s_user", numbers.tokens_per_second, "user-speed"),
    ("tokens_per_s_system", numbers.tokens_per_second, "throughput"),
    ("peak_flop_per_second", numbers.flop_per_second, "peak"),
    ("bandwidth_bytes_per_second", numbers.bytes_per_second, "bandwidth"),
    ("capacity_bytes_one_chip", numbers.bytes_decimal, "hbm"),
    ("ridge_flop_per_byte", numbers.flop_per_byte, "ridge"),
    ("critical_batch", numbers.number, "critical-batch"),
    ("critical_context", lambda value, words: numbers.tokens(round(value), words),
     "critical-context"),
    ("weight_bytes_all_chips", numbers.bytes_decimal, "weights"),
    ("kv_bytes_per_token", numbers.bytes_decimal, "kv-cache"),
    ("decode.context", lambda value, words: numbers.tokens(round(value), words), "context"),
    ("prefill.flop", numbers.flop, "flop"),
    ("decode.flop", numbers.flop, "flop"),
    ("prefill.intensity", numbers.flop_per_byte, "arithmetic-intensity"),
    ("decode.intensity", numbers.flop_per_byte, "arithmetic-intensity"),
    ("prefill.mfu", lambda value, words: numbers.percent(value, words, digits=2), "mfu"),
    ("decode.mbu", lambda value, words: numbers.percent(value, words, digits=2), "mbu"),
]  # fmt: skip


@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize(
    "query",
    [
        {},
        {"prompt": "4096", "batch": "8", "kv": "fp8"},
        {"model": "deepseek-v3", "chip": "h200-sxm", "tp": "16", "efficiency": "typical"},
        {"output": "1"},
        {"model": "llama-3.1-405b"},
    ],
    ids=str,
)
def test_the_lines_of_python_compute_the_values_here(query, code):
    scenario, _ = Scenario.from_query(query)
    found, said = run(VIEW.snippet(scenario)), values_here(scenario, words(code))
    for name, write, slug in IN_PYTHON:
        runs = scenario.output > 1 or not name.startswith("decode")
        assert (name in found) == (slug in said and runs), name
        if name in found:
            assert write(found[name], words(code)) in said[slug], name


def test_what_does_not_fit_gets_no_time():
    said = values_here(Scenario(model="llama-3.1-405b"), words("en"))
    assert "ridge" in said
    assert not {"ttft", "tpot", "e2e", "throughput", "mfu"} & set(said)


@pytest.mark.parametrize("code", LANGUAGES)
def test_one_output_token_needs_no_decode_and_the_glossary_gives_none_of_it(code):
    say = words(code)
    said = values_here(Scenario(output=1), say)
    more = values_here(Scenario(output=2), say)
    assert set(more) - set(said) == {"context", "step", "tpot", "user-speed"}
    assert said["decode"] == say("glossary.no_decode")
    assert said["ttft"] == said["e2e"] == said["prefill"]
    for slug in ("flop", "arithmetic-intensity", "mfu", "mbu"):
        assert say("glossary.both", prefill="", decode="").split(",")[-1].strip() in more[slug]
        assert "decode" not in said[slug]
        assert more[slug].startswith(said[slug])


def test_the_glossary_opens_from_any_scenario():
    for scenario in ({"output": 1}, {"model": "nemotron-3-nano-30b-a3b"}, {"model": "gpt2"}):
        text = html(**scenario)
        assert "nan" not in text
        assert "{" not in text
    assert VIEW.sliders == ()
