"""The disaggregation page: read-outs, words and stories say what the simulation says."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from streamlit.testing.v1 import AppTest

from pages.shared import numbers
from pages.shared.figures import serving as figures
from pages.shared.language import LANGUAGES, texts, words
from pages.shared.scenario import DEFAULTS, Scenario, url_text
from pages.shared.serving import figures as service_figures
from pages.shared.serving import services
from pages.shared.serving import words as service_words
from pages.shared.serving.controls import EXAMPLES
from pages.shared.serving.figures import SIDES
from pages.shared.serving.job import finished
from pages.shared.serving.services import GIGABYTE, Question, Service, nice
from pages.shared.stops import slider_stops
from physics.catalogue import model
from physics.chips import chip
from physics.machine import machine
from physics.predict import parse_question, predict
from physics.serving.contest import Standing, enough, standing, steady
from physics.serving.design import KINDS, chunked, colocated, disaggregated
from physics.serving.ledger import MIXED
from physics.serving.simulation import simulate
from physics.serving.targets import Targets
from physics.serving.traffic import Fixed, Load
from tests.pages.strategies import scenarios
from tests.pages.test_app import html_of, open_page, query_of

LOADS = [
    {},
    {"left": "chunked", "rate": "25", "budget": "256"},
    {"model": "llama-3.1-70b", "tp": "4", "prefill_pool": "2", "efficiency": "typical"},
    {"lengths": "spread", "decode_chip": "versus", "decode_pool": "2", "link": "5"},
]


def asked(query: dict[str, str]) -> Question:
    scenario, notices = Scenario.from_query(query)
    assert notices == []
    return Question.of(scenario)


@cache
def _stood(items: tuple[tuple[str, str], ...]) -> dict[str, Standing]:
    question = asked(dict(items))
    traffic = question.asked().traffic()
    return {
        kind: standing(simulate(question.service(kind).design(), traffic), question.targets)
        for kind in KINDS
    }


def stood(query: dict[str, str]) -> dict[str, Standing]:
    return _stood(tuple(query.items()))


OWN = ("details", "side-readouts", "why", "sentence")
"""Classes of what the page itself says in HTML."""


def said_by(app: AppTest) -> str:
    """Return the HTML of the page itself, without that of what stands around it."""
    assert not app.exception
    parts = [str(part.proto.body) for part in app.get("html")]
    return " ".join(part for part in parts if part.startswith(tuple(
        f'<{tag} class="{name}"' for name in OWN for tag in ("p", "dl"))))


def test_default_read_outs_are_those_of_the_simulation_made_by_hand():
    """Nothing of the page's own: physics, the numbers of the default scenario, and their text."""
    said = said_by(open_page("disaggregation", lang="en"))
    llama, h100 = model("llama-3.1-8b"), machine(chip("h100-sxm"))
    traffic = steady(Load(200, Fixed(2048), Fixed(256)), 10)
    targets = Targets(ttft=0.15, itl=0.01, tpot=0.01)
    for design in (colocated(llama, h100, instances=2), disaggregated(llama, h100, link=50e9)):
        seen = simulate(design, traffic)
        for value in (seen.ttft.p99, seen.itl.p99):
            assert f">{numbers.seconds(value, words('en'))}<" in said
        served = numbers.number(10 * seen.attainment(targets), words("en"), digits=2, trim=True)
        assert f">{served} of 10 requests/s<" in said


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("query", LOADS, ids=str)
def test_read_outs_and_words_are_those_of_the_simulation(query, language):
    said = said_by(open_page("disaggregation", lang=language, **query))
    write, question, found = words(language), asked(query), stood(query)
    for side in SIDES:
        own = found[getattr(question.scenario, side)]
        for value in (own.ttft.p99, own.itl.p99):
            assert numbers.seconds(value, write) in said
        assert numbers.number(own.goodput, write, digits=2, trim=True) in said
    assert not re.search(r"\{|\}|\bnan\b|\binf\b|None", said)


def test_the_default_teaches():
    """Spikes of several steps on the left, none of another's making on the right."""
    question, found = asked({}), stood({})
    left, right = (found[getattr(question.scenario, side)] for side in SIDES)
    assert left.itl.p99 > 4 * left.step_seconds
    assert right.itl.p99 < 1.3 * right.step_seconds
    assert left.attainment < 0.2
    assert right.attainment > 0.99


# Every claim of a button, by which design is enough and which of those shown is ahead.
@pytest.mark.parametrize(
    ("example", "ahead", "simplest"),
    [
        ("start", "disaggregated", "chunked"),
        ("quiet", None, "colocated"),
        ("chunks", "chunked", "chunked"),
        ("strict", "disaggregated", "disaggregated"),
        ("slow", "chunked", "chunked"),
        ("unbalanced", "chunked", "chunked"),
    ],
)
def test_examples_are_true(example, ahead, simplest):
    assert len(EXAMPLES) == 6
    query = EXAMPLES[example]
    question, found = asked(query), stood(query)
    shown = [found[getattr(question.scenario, side)] for side in SIDES]
    goodput = [own.goodput for own in shown]
    if ahead is None:
        assert goodput[0] == pytest.approx(goodput[1], rel=0.01)
    else:
        best = shown[int(np.argmax(goodput))]
        assert best.kind == ahead
        assert max(goodput) > 1.2 * min(goodput)
    order = [found[kind] for kind in KINDS]
    place = enough([own.goodput for own in order], [own.chips for own in order], question.rate)
    assert KINDS[place] == simplest


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_sentence_names_the_winner_and_the_third(language):
    write = words(language)
    said = said_by(open_page("disaggregation", lang=language))
    found = stood({})
    served = {kind: numbers.number(found[kind].goodput, write, digits=2, trim=True)
              for kind in KINDS}
    assert write(
        "disaggregation.verdict_wins",
        rate=numbers.requests_per_second(10.0, write, trim=True),
        winner=write("disaggregation.name_disaggregated"),
        loser=write("disaggregation.name_colocated"),
        more=served["disaggregated"],
        less=served["colocated"],
        chips=numbers.chip_count(2, write),
    ) in said
    assert write(
        "disaggregation.third_as_good",
        third=write("disaggregation.name_chunked"),
        served=served["chunked"],
    ) in said


CAUSES = {
    "colocated_keeps": {"rate": "1"},
    "colocated_stop": {},
    "colocated_step": {"rate": "60", "ttft_target": "60000"},
    "colocated_queue": {"rate": "100", "itl_target": "1000"},
    "colocated_prompt": {"ttft_target": "10"},
    "colocated_single": {"output": "1"},
    "chunked_keeps": {},
    "chunked_quiet": {"rate": "0.01"},
    "chunked_mixed": {"itl_target": "8"},
    "chunked_step": {"rate": "60", "ttft_target": "60000", "itl_target": "5"},
    "chunked_queue": {"rate": "100", "itl_target": "1000"},
    "chunked_prompt": {"ttft_target": "10"},
    "chunked_single": {"output": "1"},
    "disaggregated_keeps": {},
    "disaggregated_link": {"link": "1.25"},
    "disaggregated_step": {"rate": "30", "ttft_target": "60000"},
    "disaggregated_gap": {"output": "16"},
    "disaggregated_queue": {"rate": "100", "itl_target": "1000", "link": "1000"},
    "disaggregated_prompt": {"ttft_target": "10"},
    "disaggregated_single": {"output": "1"},
}


@pytest.mark.parametrize(("cause", "query"), CAUSES.items(), ids=CAUSES)
def test_every_reason_is_given_where_it_holds(cause, query):
    kind, _, reason = cause.partition("_")
    question = asked(query)
    own, target = stood(query)[kind], question.itl_target
    assert service_words.cause(question, own) == reason
    holds = {
        "keeps": own.attainment >= 0.99,
        "quiet": own.attainment >= 0.99,
        "stop": own.stops > 1 and own.stop_seconds > target,
        "step": own.itl.p99 > target and own.decode_batch > 1,
        "mixed": own.itl.p99 > target >= own.step_seconds,
        "gap": own.transfer.p50 + 2 * own.step_seconds > target >= own.step_seconds,
        "link": own.transfer.p50 > 5 * question.alone.sent_seconds(1.25 * GIGABYTE),
        "queue": own.ttft.p99 > question.ttft_target > question.alone.ttft_seconds,
        "prompt": question.alone.ttft_seconds > question.ttft_target,
        "single": question.scenario.output == 1,
    }
    assert holds[reason]
    for language in LANGUAGES:
        assert numbers.NONE not in service_words.why(question, own, words(language))


def test_every_reason_that_is_written_is_tested():
    written = {key.partition("why_")[2] for key in texts("en") if ".why_" in key}
    assert {key for key in written if key.partition("_")[0] in KINDS} == set(CAUSES)


def test_without_load_it_agrees_with_the_page_on_one_request():
    query = {"rate": "0.001", "left": "colocated", "right": "chunked", "budget": "4096"}
    said = said_by(open_page("disaggregation", lang="en", **query))
    answer = predict(parse_question({}))
    found = stood(query)
    for kind in KINDS:
        assert found[kind].ttft.p99 == pytest.approx(answer["ttft_s"], rel=1e-9)
    for kind in query["left"], query["right"]:
        assert found[kind].itl.mean == pytest.approx(answer["tpot_s"], rel=1e-9)
    assert said.count(f">{numbers.seconds(answer['ttft_s'], words('en'))}<") == 2
    one = asked(query).alone
    assert numbers.seconds(one.ttft_seconds, words("en")) == numbers.seconds(
        answer["ttft_s"], words("en"))


@settings(max_examples=50, deadline=None)
@given(scenarios)
def test_all_designs_have_the_same_number_of_chips(scenario):
    pools = scenario.prefill_pool + scenario.decode_pool
    if scenario.decode_chip == "versus" and not chip(scenario.versus).link:
        return
    for kind in KINDS:
        assert Service.of(scenario, kind).design().chips == pools * scenario.tp


def test_a_design_is_simulated_anew_only_for_what_it_depends_on():
    base = Scenario()
    changed = {
        "link": {"disaggregated"},
        "budget": {"chunked"},
        "ttft_target": set(),
        "left": set(),
        "versus": set(),
        "batch": set(),
        "prefill_pool": set(KINDS),
        "weights": set(KINDS),
    }
    values = {"link": 5.0, "budget": 64, "ttft_target": 5.0, "left": "chunked", "versus": "t4",
              "batch": 7, "prefill_pool": 3, "weights": "fp8"}
    for name, kinds in changed.items():
        other = base.replaced(**{name: values[name]})
        assert {kind for kind in KINDS
                if Service.of(base, kind) != Service.of(other, kind)} == kinds, name


def test_the_designs_are_those_of_the_options():
    scenario = Scenario(prefill_pool=2, decode_pool=3, link=12.5, budget=256, tp=2,
                        decode_chip="versus", versus="h200-sxm", bandwidth=5000)
    split = Service.of(scenario, "disaggregated").design()
    assert [pool.instances for pool in split.pools] == [2, 3]
    assert [pool.machine.bandwidth for pool in split.pools] == [
        5000e9, chip("h200-sxm").bandwidth]
    assert split.link == 12.5e9
    pieces = Service.of(scenario, "chunked").design()
    assert (pieces.chunk_tokens, pieces.pools[0].instances) == (256, 5)
    assert type(pieces) is type(chunked(model("llama-3.1-8b"), machine(chip("h100-sxm"))))


@pytest.mark.parametrize(
    ("value", "round_"), [(0.1515, 0.15), (9.9, 10), (0.0098, 0.01), (70, 80), (1.0, 1.0)]
)
def test_what_suits_is_a_round_number(value, round_):
    assert nice(value) == pytest.approx(round_)


@settings(max_examples=30, deadline=None)
@given(scenarios)
def test_what_is_left_open_suits_and_what_is_given_stays(scenario):
    if scenario.decode_chip == "versus" and not chip(scenario.versus).link:
        return
    question = Question.of(scenario)
    for name, value in question.stated().items():
        given_ = getattr(scenario, name)
        assert value > 0
        assert given_ is None or value == pytest.approx(given_)
    assert services.FEWEST_REQUESTS <= question.requests <= services.REQUESTS


def test_fewer_requests_where_they_take_long():
    assert asked({"prompt": "131072", "budget": "64"}).requests == services.FEWEST_REQUESTS
    assert asked({"output": "65536"}).requests < 50
    assert asked({}).requests == services.REQUESTS


# Controls


def test_a_slider_moves_its_value_and_holds_the_others():
    app = open_page("disaggregation", lang="en")
    app.select_slider(key="slide_prompt").set_value(4096).run()
    assert not app.exception
    assert query_of(app) == {
        "prompt": "4096", "rate": "10", "ttft_target": "150", "itl_target": "10", "lang": "en",
    }  # fmt: skip
    app.select_slider(key="slide_rate").set_value(5.0).run()
    assert query_of(app)["rate"] == "5"
    app.button(key="disaggregation_suit").click().run()
    assert query_of(app) == {"prompt": "4096", "lang": "en"}


@pytest.mark.parametrize(
    ("name", "stop", "url"),
    [("link", 1.2, "1.2"), ("itl_target", 20.0, "20"), ("output", 512, "512"),
     ("budget", 256, "256"), ("ttft_target", 1000.0, "1000")],
)
def test_sliders_store_what_they_show(name, stop, url):
    app = open_page("disaggregation", lang="en", left="chunked")
    app.select_slider(key=f"slide_{name}").set_value(stop).run()
    assert not app.exception
    assert query_of(app)[name] == url


def test_pools_keep_the_number_of_chips_and_the_size_keeps_the_ratio():
    app = open_page("disaggregation", lang="en", prefill_pool="1", decode_pool="3")
    app.select_slider(key="slide_pools").set_value(3).run()
    assert query_of(app)["prefill_pool"] == "3"
    assert "decode_pool" not in query_of(app)
    app.selectbox(key="pick_total").select(8).run()
    assert not app.exception
    assert (query_of(app)["prefill_pool"], query_of(app)["decode_pool"]) == ("6", "2")
    assert "8 × H100" in html_of(app)


def test_everything_is_restored_from_the_address():
    query = {"left": "disaggregated", "right": "chunked", "rate": "7.5", "prefill_pool": "2",
             "decode_pool": "1", "link": "3", "budget": "128", "ttft_target": "333",
             "itl_target": "12", "lengths": "spread", "decode_chip": "versus"}
    app = open_page("disaggregation", lang="en", **query)
    assert not app.exception
    for side in SIDES:
        assert app.selectbox(key=f"pick_{side}").value == query[side]
    for name in ("rate", "link", "budget", "ttft_target", "itl_target"):
        assert url_text(app.select_slider(key=f"slide_{name}").value) == query[name]
    assert app.select_slider(key="slide_pools").value == 2
    assert app.selectbox(key="pick_lengths").value == "spread"
    assert app.selectbox(key="pick_decode_chip").value == "versus"


@pytest.mark.parametrize("name", ["rate", "link", "budget", "ttft_target", "itl_target"])
@settings(max_examples=30, deadline=None)
@given(scenario=scenarios)
def test_every_stop_restores_its_value(name, scenario):
    if getattr(scenario, name) is None:
        scenario = scenario.replaced(**{name: 5.0})
    stops = slider_stops(name, scenario, words("en"))
    assert stops.values[stops.index] == getattr(scenario, name)
    for value, url in zip(stops.values, stops.urls, strict=True):
        again = getattr(Scenario.from_query({name: url})[0], name)
        assert again == value
        assert url or value == DEFAULTS[name]


def test_an_example_brings_its_whole_scenario():
    app = open_page("disaggregation", lang="en", model="llama-3.1-70b", tp="8", rate="3")
    app.button(key="example_slow").click().run()
    assert not app.exception
    assert query_of(app) == {**EXAMPLES["slow"], "lang": "en"}
    assert app.selectbox(key="pick_model").value == "llama-3.1-8b"


# What cannot be simulated


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_model_that_does_not_fit_says_what_would_and_keeps_the_load(language):
    query = {"model": "llama-3.1-405b", "rate": "3", "left": "chunked"}
    app = open_page("disaggregation", lang=language, **query)
    said = said_by(app)
    link = re.search(r'href="\?([^"]*tp=16[^"]*)"', said)
    assert link
    assert "rate=3" in link[1]
    assert "left=chunked" in link[1]
    assert not app.get("plotly_chart")


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ({"prompt": "1000000"}, "too_long"),
        ({"decode_chip": "versus", "versus": "apple-m1", "tp": "2"}, "no_link"),
        ({"decode_chip": "versus", "versus": "t4"}, "decode_misfit"),
    ],
)
def test_what_cannot_be_simulated_says_why(query, key):
    said = said_by(open_page("disaggregation", lang="it", **query))
    first = words("it")(f"disaggregation.{key}", chip="§", most="§", short="§").split("§")
    assert all(part.strip() in said for part in first)


def test_long_prompts_of_a_spread_that_do_not_fit_are_refused_before_they_are_simulated():
    app = open_page("disaggregation", lang="en", model="llama-3.1-70b", tp="2", prompt="24576",
                    lengths="spread")
    assert "Does not fit" in said_by(app)
    assert not app.get("plotly_chart")
    app = open_page("disaggregation", lang="en", model="llama-3.1-70b", tp="2", prompt="24576")
    assert "Does not fit" not in said_by(app)


# Longer work


@pytest.fixture
def small_map(monkeypatch):
    monkeypatch.setattr(services, "FACTORS", (0.25, 1, 4))
    monkeypatch.setattr(services, "OCTAVES", range(-1, 2))
    monkeypatch.setattr(services, "CURVE_REQUESTS", 30)


@pytest.mark.usefixtures("small_map")
def test_the_map_is_drawn_on_demand_and_says_what_is_enough():
    app = open_page("disaggregation", lang="en")
    charts = len(app.get("plotly_chart"))
    app.button(key="job_map_start").click().run()
    assert not app.exception
    assert len(app.get("plotly_chart")) == charts + 1
    question = asked({})
    found = finished_map(app)
    for row, prompt in enumerate(question.prompts):
        for column, load in enumerate(question.points(prompt)):
            shares = [simulate(question.service(kind).design(), load.traffic())
                      .attainment(question.targets) for kind in KINDS]
            assert found.attainment[row, column].tolist() == shares
            assert found.winner[row, column] == enough(
                load.rate * np.array(shares), [2, 2, 2], load.rate)
    said = " ".join(part.value for part in app.markdown)
    assert f"Of {found.winner.size} cells" in said
    app.select_slider(key="slide_itl_target").set_value(20.0).run()
    assert len(app.get("plotly_chart")) == charts  # another question: the map is gone


def finished_map(app: AppTest) -> services.Map:
    return app.session_state["job_map"].result


def test_more_requests_replace_the_few(monkeypatch):
    monkeypatch.setattr(service_figures, "MORE", 2)
    app = open_page("disaggregation", lang="en", rate="5")
    app.button(key="job_more_start").click().run()
    assert not app.exception
    assert any("400 simulated requests" in part.value for part in app.markdown)
    seen = app.session_state["job_more"].result
    assert {len(one) for one in seen} == {400}
    own = standing(seen[0], asked({"rate": "5"}).targets)
    assert numbers.seconds(own.ttft.p99, words("en")) in html_of(app)


def test_work_of_another_question_is_no_result():
    assert finished("nothing", 1) is None


# Figures


def test_blocks_of_the_timeline_fill_the_time_in_which_instances_work():
    question = asked({"left": "chunked"})
    seen = simulate(question.service("chunked").design(), question.asked().traffic())
    start, end = 5.0, 6.0
    gaps = figures.gaps_between(seen, start, end)
    window = figures.Window(start, end, 50, 0.02, 0.01, figures.row_count(seen))
    texts_ = service_figures.figure_texts(question, words("en"))
    figure = figures.timeline(seen, gaps, window, texts_, ".,")
    drawn = sum(float(np.sum(trace.x * trace.width)) for trace in figure.data
                if trace.type == "bar")
    busy = sum(one.busy_seconds(start, end) for one in seen.instances)
    assert drawn == pytest.approx(0.8 * busy)
    assert any(np.any(one.kind == MIXED) for one in seen.instances)


def test_gaps_of_the_timeline_are_those_of_the_result():
    question = asked({})
    seen = simulate(question.service("colocated").design(), question.asked().traffic())
    gaps = figures.gaps_between(seen, 0, 1e9)
    assert gaps.seconds.max() == pytest.approx(seen.itl_seconds.max(), abs=1e-6)
    assert len(gaps.seconds) < len(seen.itl_seconds) / 3
    some = figures.gaps_between(seen, 5, 6)
    assert 5 <= some.moments.min() <= some.moments.max() <= 6


# Words below the first screen


@pytest.mark.parametrize(
    "query", [*LOADS, {"output": "1"}, {"rate": "100"}, {"rate": "0.01"}], ids=str
)
def test_what_is_conceded_holds_at_these_numbers(query):
    question, found = asked(query), stood(query)
    write = words("en")
    together, chunks, split = (found[kind] for kind in KINDS)
    said = service_words.honest(question, found, write)
    kept = service_words.takeaway(found, write)

    def opens(key: str) -> bool:
        return texts("en")[f"disaggregation.{key}"][0].split("**")[1] in said

    has_gaps = question.scenario.output > 1
    assert opens("honest_chunks") == (has_gaps and chunks.itl.p99 > split.itl.p99)
    assert opens("honest_chunks_enough") == (has_gaps and not chunks.itl.p99 > split.itl.p99)
    assert opens("honest_batch") == (split.decode_batch > together.decode_batch)
    sent = question.alone.sent_seconds(1.25e9)
    assert opens("honest_slow") == (sent > question.alone.ttft_seconds)
    assert ("gains nothing" in kept) == (not split.itl.p99 < together.itl.p99)
    assert ("later first token" in kept) == (
        split.itl.p99 < together.itl.p99 and split.ttft.p99 > together.ttft.p99)


def test_the_table_holds_every_percentile():
    found = stood({})
    table = service_words.percentiles(found, words("it"))
    for own in found.values():
        for spread in (own.ttft, own.itl):
            for value in (spread.p50, spread.p90, spread.p99):
                assert numbers.seconds(value, words("it")) in table


@pytest.mark.parametrize("instances", [1, 16])
def test_rows_keep_readable_labels(instances):
    question = asked({"prefill_pool": str(instances), "decode_pool": str(instances)})
    seen = simulate(question.service("disaggregated").design(), question.asked().traffic())
    window = figures.Window(1, 2, 5, 0.02, 0.01, figures.row_count(seen))
    figure = figures.timeline(seen, figures.gaps_between(seen, 1, 2), window,
                              service_figures.figure_texts(question, words("en")), ".,")
    labels = figure.layout.yaxis.ticktext
    if instances == 1:
        assert labels == ("prefill", "link", "decode")
    else:
        assert labels == ("16 × prefill", "16 × decode")
