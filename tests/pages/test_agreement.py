"""All pages say the same of one scenario: one walk over them, in both languages."""

from __future__ import annotations

import pytest

from pages.glossary import values_here
from pages.shared import numbers
from pages.shared.language import LANGUAGES, words
from pages.shared.scenario import Scenario
from physics.predict import parse_question, predict
from tests.pages.test_tables import at, table_of

# What is said, and where: page and slot, in the page's own formatting.
SAID = {
    "ttft": [
        ("one-request", "ttft"),
        ("one-request", "sentence"),
        ("hardware", "ttft"),
        ("metrics", "sentence"),  # the prefill alone: nobody else is there yet
    ],
    "tpot": [
        ("one-request", "itl"),
        ("one-request", "takeaway"),
        ("hardware", "tpot"),
        ("batching", "formula"),
    ],
    "e2e": [("one-request", "e2e"), ("hardware", "e2e")],
    "user": [("one-request", "speed"), ("batching", "user")],
    "max_batch": [("kv-cache", "most"), ("decode-shift", "room"), ("batching", "room")],
    "ridge": [("roofline", "sentence"), ("decode-shift", "crossing")],
    "intensity": [("roofline", "decode"), ("decode-shift", "intensity")],
    "weights": [("kv-cache", "sentence"), ("decode-shift", "room")],
}

# And in which entry of the glossary.
ENTRIES = {
    "ttft": "ttft",
    "tpot": "tpot",
    "e2e": "e2e",
    "user": "user-speed",
    "ridge": "ridge",
    "intensity": "arithmetic-intensity",
    "weights": "weights",
}


def expected(answer: dict, language: str) -> dict[str, str]:
    """Write what the command answers as the pages write it."""
    said = words(language)
    return {
        "ttft": numbers.seconds(answer["ttft_s"], said),
        "tpot": numbers.seconds(answer["tpot_s"], said),
        "e2e": numbers.seconds(answer["e2e_s"], said),
        "user": numbers.tokens_per_second(answer["tokens_per_s_user"], said),
        "max_batch": numbers.number(answer["max_batch"], said, digits=4),
        "ridge": numbers.flop_per_byte(answer["ridge_flop_per_byte"], said),
        "intensity": numbers.flop_per_byte(answer["decode"]["intensity"], said),
        "weights": numbers.bytes_decimal(answer["weight_bytes_all_chips"], said),
    }


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "query",
    [
        {},
        {"model": "llama-3.1-70b", "chip": "h200-sxm", "tp": "4", "batch": "16", "prompt": "4096"},
        {"model": "gpt-oss-120b", "batch": "8", "output": "1000"},
        {"model": "qwen3-32b", "chip": "b200-sxm", "weights": "fp8", "efficiency": "typical",
         "engine": "sglang", "tp": "2", "batch": "4"},
        {"chip": "h100-sxm", "bandwidth": "6000", "flops": "500", "batch": "64"},
    ],
    ids=str,
)
def test_pages_agree(query, language):
    answer = predict(parse_question(query))
    assert answer["fits"]
    tables = {name: table_of(name, query, language) for page in SAID.values() for name, _ in page}
    for quantity, text in expected(answer, language).items():
        for page, slot in SAID[quantity]:
            table = tables[page]
            slider = next(iter(table["sliders"]))
            shown = at(table, slider, table["sliders"][slider]["index"], f"t/{slot}")
            shown = shown if isinstance(shown, str) else "".join(shown)
            assert text in shown, (quantity, page, slot)
    scenario, notices = Scenario.from_query(query)
    assert notices == []
    entries = values_here(scenario, words(language))
    for quantity, slug in ENTRIES.items():
        assert expected(answer, language)[quantity] in entries[slug], slug
