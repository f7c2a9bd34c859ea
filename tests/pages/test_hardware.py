"""What the hardware page says and draws is what physics says."""

from __future__ import annotations

import re

import numpy as np
import pytest

from pages.hardware import VIEW
from pages.shared import numbers
from pages.shared.figures import chip_map, race
from pages.shared.house import house
from pages.shared.language import words
from pages.shared.measured_devices import measured_figures, measured_html
from pages.shared.player.table import build_table
from physics.catalogue import model
from physics.chips import chip, chips
from physics.devices import GDDR, devices
from physics.machine import machine
from physics.predict import parse_question, predict
from physics.race import answer
from tests.browser.player_page import value_at

EN = words("en")
HOUSE = house([VIEW])
SCENARIOS = [
    {},
    {"chip": "a100-sxm-80gb", "batch": "256", "prompt": "128", "efficiency": "typical"},
    {"model": "llama-3.1-70b", "chip": "h200-sxm", "tp": "4", "batch": "8", "weights": "fp8"},
    {"model": "gpt-oss-120b", "chip": "b200-sxm", "bandwidth": "4000", "flops": "1500"},
]
OTHER = {"versus": "mi300x"}


def table_of(query: dict[str, str], language: str = "en") -> dict:
    scenario, words = HOUSE.parse({**query, "lang": language})
    return build_table(
        VIEW,
        scenario,
        words,
        stops=HOUSE.stops,
        points=HOUSE.points,
        query=HOUSE.query(scenario, words),
    )


def at_rest(table: dict, channel: str, slider: str = "batch"):
    return value_at(table["rows"][slider][channel], table["sliders"][slider]["index"])


def plain(text: str) -> str:
    return re.sub("<[^>]*>", "", text).replace("\N{NO-BREAK SPACE}", " ")


def own(query: dict[str, str], **faster: float) -> dict:
    """Ask physics, with bandwidth or flops so many times the scenario's."""
    known = chip(query.get("chip", "h100-sxm"))
    figures = {
        "bandwidth": float(query.get("bandwidth", known.bandwidth / 1e9)),
        "flops": float(query.get("flops", known.bf16_flop_per_second / 1e12)),
    }
    changed = {name: f"{figures[name] * times:.12g}" for name, times in faster.items()}
    return predict(parse_question({**query, **changed}))


@pytest.mark.parametrize("query", SCENARIOS, ids=str)
def test_ten_percent_more_is_said_as_it_comes_out(query):
    said = plain(at_rest(table_of(query), "t/sentence"))
    found = [float(text) for text in re.findall(r"([\d.]+)%", said.partition("decode step ")[2])]
    before = own(query)
    more = [own(query, bandwidth=1.1), own(query, flops=1.1)]
    gains = [
        before["tpot_s"] / more[0]["tpot_s"],
        before["ttft_s"] / more[0]["ttft_s"],
        before["ttft_s"] / more[1]["ttft_s"],
        before["tpot_s"] / more[1]["tpot_s"],
    ]
    order = [found[0], found[1], found[3], found[4]]  # found[2] is the ten percent of FLOPS
    assert found[2] == 10
    assert order == pytest.approx([100 * (gain - 1) for gain in gains], abs=0.26)


@pytest.mark.parametrize("query", SCENARIOS, ids=str)
def test_bars_are_elasticities_that_fill_the_bar(query):
    table = table_of(query)
    bars = np.array([at_rest(table, f"f/race/{index}/x") for index in range(4)])
    assert bars.sum(axis=0) == pytest.approx([1, 1], abs=1e-4)
    h = 1.001
    for column, name in ((0, "ttft_s"), (1, "tpot_s")):
        before = own(query)[name]
        for row, figure in ((0, "flops"), (1, "bandwidth")):
            after = own(query, **{figure: h})[name]
            assert bars[row, column] == pytest.approx(np.log(before / after) / np.log(h), abs=2e-3)


@pytest.mark.parametrize("query", SCENARIOS, ids=str)
def test_the_own_dot_and_the_second_chips(query):
    table = table_of(query | OTHER)
    for slider in ("bandwidth", "flops", "prompt"):
        for index in (0, len(table["sliders"][slider]["stops"]) // 2):
            value = table["sliders"][slider]["stops"][index]
            x, y = (
                value_at(table["rows"][slider][f"f/chip_map/10/{axis}"], index) for axis in "xy"
            )
            if slider == "bandwidth":
                assert y == pytest.approx([value * 1e9], rel=1e-4)
            if slider == "flops":
                assert x == pytest.approx([value * 1e12], rel=1e-4)
    known = chip("mi300x")
    assert at_rest(table, "f/chip_map/9/x") == pytest.approx([known.bf16_flop_per_second])
    assert at_rest(table, "f/chip_map/9/y") == pytest.approx([known.bandwidth])


@pytest.mark.parametrize("query", SCENARIOS, ids=str)
def test_lines_of_the_map_take_their_times(query):
    table = table_of(query)
    for trace, seconds, name in (
        (0, chip_map.TTFT_SECONDS, "ttft_s"),
        (1, chip_map.TPOT_SECONDS, "tpot_s"),
    ):
        x, y = (
            np.array(at_rest(table, f"f/chip_map/{trace}/{axis}"), dtype=float).reshape(
                len(seconds), -1
            )
            for axis in "xy"
        )
        seen = 0
        for line, expected in enumerate(seconds):
            for peak, bandwidth in zip(x[line], y[line], strict=True):
                if np.isnan(peak) or peak >= chip_map.RIGHT * 0.99:
                    continue
                found = predict(
                    parse_question(
                        {
                            **query,
                            "flops": f"{peak / 1e12:.6g}",
                            "bandwidth": f"{bandwidth / 1e9:.6g}",
                        }
                    )
                )[name]
                # Three digits of each, and ends that are cut between two knots.
                assert found == pytest.approx(expected, rel=0.07)
                seen += 1
        assert seen > 5


def test_every_chip_of_the_catalogue_is_a_dot_and_the_unchecked_ones_are_hollow():
    scenario, language = HOUSE.parse({"lang": "en"})
    data = VIEW.describe(scenario, language).figures[0].spec["data"]
    sure, unsure = data[2], data[3]
    known = chips().values()
    assert sorted(sure["x"] + unsure["x"]) == sorted(item.bf16_flop_per_second for item in known)
    assert sorted(unsure["y"]) == sorted(i.bandwidth for i in known if i.confidence != "A")
    assert unsure["marker"]["symbol"].endswith("-open")
    assert not sure["marker"]["symbol"].endswith("-open")


@pytest.mark.parametrize("query", SCENARIOS, ids=str)
def test_both_lanes_end_where_their_requests_do(query):
    table = table_of(query | OTHER)
    first = predict(parse_question(query))
    second = predict(
        parse_question(
            {
                **{k: v for k, v in query.items() if k not in ("bandwidth", "flops")},
                "chip": "mi300x",
            }
        )
    )
    prefill, decode = (np.array(at_rest(table, f"f/race/{index}/x")) for index in (4, 5))
    assert prefill == pytest.approx([first["ttft_s"], second["ttft_s"]], rel=1e-4)
    assert prefill + decode == pytest.approx([first["e2e_s"], second["e2e_s"]], rel=1e-4)
    texts = at_rest(table, "f/race/8/text")
    assert "MI300X" in texts[1]


def test_default_race_h20_overtakes():
    said = plain(at_rest(table_of({}), "t/sentence"))
    llama, load = model("llama-3.1-8b"), {"prompt": 2048, "output": 256, "batch": 1}
    h100, h20 = (answer(llama, machine(chip(slug)), **load) for slug in ("h100-sxm", "h20"))
    tokens = np.arange(1, 257)[:, None]
    ahead = h20.token_seconds(tokens) < h100.token_seconds(tokens)
    assert f"from token {int(np.argmax(ahead)) + 1} on H20 is ahead" in said
    assert said.endswith(f"is at {int(h100.tokens_at(h20.e2e_seconds)[0])}.")


def test_the_clock_ends_as_the_page_rests():
    table = table_of({})
    rows = table["rows"]["time"]
    last = len(table["sliders"]["time"]["stops"]) - 1
    assert table["sliders"]["time"]["index"] == last
    for channel in rows:
        shown = value_at(rows[channel], last)
        rest = at_rest(table, channel)
        if channel.endswith("text"):
            assert shown == rest
        else:
            assert shown == pytest.approx(rest, rel=1e-4)
    assert value_at(rows["f/race/4/x"], 0) == [0, 0]
    assert all("reading" in text for text in value_at(rows["f/race/8/text"], 0))


def test_tokens_said_on_the_way_are_those_that_have_come():
    table = table_of({})
    stops, texts = table["sliders"]["time"]["stops"], table["rows"]["time"]["f/race/8/text"]
    llama, load = model("llama-3.1-8b"), {"prompt": 2048, "output": 256, "batch": 1}
    for lane, slug in enumerate(("h100-sxm", "h20")):
        one = answer(llama, machine(chip(slug)), **load)
        for index in range(10, len(stops) - 10, 17):
            said = re.search(r": (\d+) of", value_at(texts, index)[lane])
            expected = one.tokens_at(float(stops[index]))[0]
            assert int(said[1] if said else 0) == pytest.approx(expected, abs=1)


@pytest.mark.parametrize("language", ["en", "it"])
def test_who_cannot_race_says_why(language):
    no_link = table_of({"tp": "2", "versus": "apple-m1-max"}, language)
    assert words(language)("hardware.lane_no_link") in at_rest(no_link, "f/race/8/text")[1]
    assert "link" in at_rest(no_link, "t/sentence")
    small = table_of({"versus": "groq-lpu"}, language)
    assert words(language)("misfit.short") in at_rest(small, "f/race/8/text")[1]
    assert at_rest(small, "f/race/5/x")[1] == 0
    assert "Groq LPU v1" in at_rest(small, "t/sentence")


def test_what_does_not_fit_has_no_times():
    table = table_of({"model": "llama-3.1-70b"})
    assert at_rest(table, "t/ttft") == "does not fit"
    assert at_rest(table, "f/race/4/x")[0] == 0
    assert at_rest(table, "f/race/0/x") == [None, None]
    assert not re.search(r"\d (ms|s)\b", plain(at_rest(table, "f/race/8/text")[0]))
    for slot in ("honest", "alt_chip_map", "alt_race"):
        assert "—" not in at_rest(table, f"t/{slot}")


@pytest.mark.parametrize("output", ["1", "256"])
def test_a_chip_against_itself_is_a_dead_heat(output):
    query = {"versus": "h100-sxm", "output": output}
    ends = numbers.seconds(own({"output": output})["e2e_s"], EN)
    assert f"after <b>{ends}</b>: a dead heat" in at_rest(table_of(query), "t/sentence")
    moved = at_rest(table_of(query | {"bandwidth": "4000", "flops": "1200"}), "t/sentence")
    assert "dead heat" not in moved


def test_a_chip_that_has_no_token_yet_is_still_reading():
    """At 131,072 tokens the H20 reads longer than the H100 takes for everything."""
    query = {"prompt": "131072"}
    assert own(query)["e2e_s"] < own(query | {"chip": "h20"})["ttft_s"]
    assert "H20 is still reading the prompt" in plain(at_rest(table_of(query), "t/sentence"))


def test_a_single_token_has_no_tpot():
    table = table_of({"output": "1"})
    assert at_rest(table, "t/tpot").startswith("—")
    for slot in ("sentence", "takeaway", "alt_chip_map"):
        text = plain(at_rest(table, f"t/{slot}"))
        assert "single token" in text or "one token" in text
        assert "decode step" not in text
        assert "—" not in text
    assert "no TPOT" in at_rest(table, "t/formula")
    assert "of the TPOT" not in at_rest(table, "t/honest")
    # The bars of the elasticities: TTFT's is there, TPOT's is not.
    assert [value is None for value in at_rest(table, "f/race/0/x")] == [False, True]


def test_panels_say_the_r_squared_of_their_dots():
    small = devices("llama-3-8b", "q4_k_m")
    for figure in measured_figures(EN):
        phase, column = figure.name.removeprefix("measured_").split("_")
        dots = figure.spec["data"][2]
        among = np.isin(small.families, GDDR)
        title = figure.spec["layout"]["annotations"][0]["text"]
        for chosen in (among, np.full(len(among), True)):
            x, y = (np.log(np.array(dots[axis])[chosen]) for axis in "xy")
            assert f"{np.corrcoef(x, y)[0, 1] ** 2:.2f} for " in title, (phase, column)


def test_the_table_of_r_squared_is_that_of_physics():
    html = measured_html(EN)
    mixed = devices("llama-3-8b", "q4_k_m")
    for figure in ("bandwidth", "peak"):
        both = [mixed.fit("decode", figure, power=power).r_squared for power in (True, False)]
        assert " / ".join(f"{value:.2f}" for value in both) in html
    assert f"{mixed.of('apple').collinearity().r_squared:.2f}" in html
    assert html.count("<tr>") == 9
    assert "59%" in html
    assert race.PARTS == 10
