"""`python -m physics simulate`: one design under load, and wrong arguments."""

from __future__ import annotations

import json

import pytest

from physics.__main__ import main
from physics.serving import command
from physics.serving.command import SIMULATION_OPTIONS
from physics.serving.design import disaggregated
from physics.serving.simulation import simulate as simulate_design
from physics.serving.traffic import Fixed, poisson
from tests.physics.serving.services import H100, LLAMA
from tests.physics.test_command import complaint, run, strict

__all__ = ["complaint"]

SPREADS = ("ttft_s", "itl_s", "tpot_s", "e2e_s")
QUICK = ("--requests", "20", "--output", "10", "--prompt", "200")


@pytest.fixture
def simulate(capsys):
    """Run `simulate` in this process and parse its answer."""
    def call(*arguments: str) -> dict:
        assert main(["simulate", *arguments]) == 0
        return strict(capsys.readouterr().out)

    return call


def test_a_person_gets_one_json_object():
    done = run("simulate", "--design", "chunked", "--rate", "5", "--requests", "50", "--seed", "1")
    assert (done.returncode, done.stderr) == (0, "")
    answer = strict(done.stdout)
    assert (answer["design"], answer["requests"], answer["seed"]) == ("chunked", 50, 1)
    for name in SPREADS:
        assert 0 < answer[name]["p50"] <= answer[name]["p90"] <= answer[name]["p99"]
    assert len(answer["timelines"]) == 50


def test_the_answer_is_that_of_the_simulation(simulate):
    answer = simulate("--design", "disaggregated", "--rate", "6", "--requests", "80",
                      "--decode-instances", "2", "--link", "10", "--prompt", "1000", "--output",
                      "30", "--target-ttft", "50", "--target-itl", "20")
    seen = simulate_design(
        disaggregated(LLAMA, H100, decode_instances=2, link=10e9),
        poisson(6, requests=80, prompt=Fixed(1000), output=Fixed(30)))
    assert answer["ttft_s"]["p99"] == seen.ttft.p99
    assert answer["itl_s"]["mean"] == seen.itl.mean
    assert answer["tokens_per_s"] == seen.tokens_per_second
    assert answer["transfer_s"]["p50"] == seen.transfer.p50
    assert answer["chips"] == 3
    assert answer["targets_s"] == {"ttft": 0.05, "itl": 0.02, "tpot": None, "itl_share": 0.99}
    assert answer["goodput_per_s"] == pytest.approx(
        answer["attainment"] * 80 / answer["span_s"])
    assert [pool["name"] for pool in answer["pools"]] == ["prefill", "decode"]
    assert answer["pools"][1]["utilisation"] == seen.utilisation("decode")
    assert [row["end_s"] for row in answer["timelines"]] == seen.end.tolist()


@pytest.mark.parametrize("design", ["colocated", "chunked", "disaggregated"])
def test_the_same_seed_prints_the_same(design, capsys):
    printed = []
    for _ in range(2):
        assert main(["simulate", "--design", design, "--seed", "5", *QUICK]) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]


def test_pools_take_chips_and_numbers_of_chips_of_their_own(simulate):
    answer = simulate("--design", "disaggregated", "--prefill-chip", "h200-sxm", "--decode-chip",
                      "h20", "--decode-tp", "2", "--overlap", "yes", *QUICK)
    assert [pool["tp"] for pool in answer["pools"]] == [1, 2]
    rooms = [pool["kv_room_bytes"] for pool in answer["pools"]]
    weights = 16_060_522_496
    assert rooms == [pytest.approx(141e9 - weights), pytest.approx(2 * 96e9 - weights)]


@pytest.mark.parametrize(("level", "has"), [("none", None), ("requests", False), ("tokens", True)])
def test_timelines_come_in_three_sizes(simulate, level, has):
    answer = simulate("--timelines", level, *QUICK)
    assert ("timelines" in answer) == (has is not None)
    if has:
        for row in answer["timelines"]:
            assert len(row["token_s"]) == row["output"]
            assert (row["token_s"][0], row["token_s"][-1]) == (row["first_token_s"], row["end_s"])


def test_requests_may_come_from_a_file_in_any_order(simulate, tmp_path):
    file = tmp_path / "requests.csv"
    file.write_text("prompt,arrival_s,output,user\n300,2.5,4,b\n100,0,3,a\n")
    answer = simulate("--arrivals", str(file))
    assert [row["arrival_s"] for row in answer["timelines"]] == [0, 2.5]
    assert [row["prompt"] for row in answer["timelines"]] == [100, 300]
    assert [row["output"] for row in answer["timelines"]] == [3, 4]
    assert answer["rate_per_s"] is None


def test_requests_may_be_as_long_as_those_of_a_trace(simulate):
    answer = simulate("--lengths", "azure-code", "--requests", "400", "--timelines", "none")
    assert 1500 < answer["lengths"]["prompt"]["mean"] < 2500
    assert answer["lengths"]["output"]["most"] <= 1899
    assert "Splitwise" in answer["lengths"]["source"]


def test_lengths_may_spread(simulate):
    answer = simulate("--prompt-spread", "100", "--requests", "200", "--prompt", "200",
                      "--output", "5", "--timelines", "none")
    prompt = answer["lengths"]["prompt"]
    assert prompt["least"] < 150 < 300 < prompt["most"]
    assert answer["lengths"]["output"] == {"mean": 5, "least": 5, "most": 5}


def test_requests_may_wait_for_one_another(simulate):
    answer = simulate("--concurrency", "4", *QUICK)
    assert answer["concurrency"] == 4
    assert answer["rate_per_s"] is None
    assert sum(row["arrival_s"] == 0 for row in answer["timelines"]) == 4


def test_without_targets_there_is_no_goodput(simulate):
    assert simulate(*QUICK)["goodput_per_s"] is None


@pytest.mark.parametrize(("arguments", "says"), [
    (["--design", "both"], "design: must be one of colocated, chunked, disaggregated, got 'both'"),
    (["--rate", "0"], "rate: must be a number from 0.0001 to 1,000,000 (requests a second)"),
    (["--rate", "many"], "rate: must be a number from"),
    (["--rate"], "argument --rate: expected one argument; it must be a number from"),
    (["--decode-chip"], "argument --decode-chip: expected one argument; it must be a slug"),
    (["--arrivals"], "it must be a CSV file with the columns arrival_s, prompt, output"),
    (["--requests", "1.5"], "requests: must be a whole number from 1 to 1,000,000"),
    (["--seed", "-1"], "seed: must be a whole number from 0"),
    (["--overlap", "maybe"], "overlap: must be one of no, yes"),
    (["--target-itl", "0"], "target-itl: must be a number from"),
    (["--lengths", "azure"], "must be one of given, azure-conversation, azure-code"),
    (["--model", "nope"], "model: unknown 'nope'; nearest:"),
    (["--design", "disaggregated", "--decode-chip", "nope"], "chip: unknown 'nope'; nearest:"),
    (["--link", "5"], "link: must be left out: only --design disaggregated has two pools"),
    (["--budget", "5"], "budget: must be left out: only --design chunked"),
    (["--design", "chunked", "--prefill-tokens", "9"], "prefill-tokens: must be left out"),
    (["--design", "disaggregated", "--instances", "2"], "instances: must be left out"),
    (["--concurrency", "3", "--rate", "3"], "rate: must be left out: --concurrency"),
    (["--lengths", "azure-code", "--prompt", "3"], "prompt: must be left out: --lengths says it"),
    (["--arrivals", "nowhere.csv"], "cannot read 'nowhere.csv': No such file"),
    (["--prompt", "700000"], "memory: one request of 700,256 tokens does not fit"),
    (["--batch", "0"], "batch: must be a whole number from 1 to 1,000,000 (sequences under way"),
    (["--decode-tp", "2"], "decode-tp: must be left out"),
    (["--design", "disaggregated", "--chip", "apple-m1", "--decode-tp", "2"], "tp: must be 1"),
    (["--prompt", "2000000", "--tp", "8"], "prompt and output must be at most 1,048,576 tokens"),
    (["--engine", "none"], "engine: must be one of vllm"),
    (["--efficiency", "best"], "efficiency: must be one of ideal, typical"),
    (["--nothing", "1"], "allowed: --model, --chip, --prefill-chip, --decode-chip"),
])
def test_wrong_arguments_end_in_one_line_that_says_what_is_allowed(complaint, arguments, says):
    assert says in complaint("simulate", *arguments)


@pytest.mark.parametrize(("text", "says"), [
    ("arrival_s,prompt\n0,5\n", "has no output"),
    ("arrival_s,prompt,output\n", "at least one request"),
    ("arrival_s,prompt,output\n0,5,6\n1,x,6\n", "line 3: prompt: must be a whole number"),
    ("arrival_s,prompt,output\n-1,5,6\n", "line 2: arrival_s: must be a number from 0"),
    ("arrival_s,prompt,output\n0,5\n", "line 2: output: must be a whole number"),
])
def test_a_file_of_requests_that_cannot_be_used_is_refused_by_its_line(complaint, tmp_path, text,
                                                                      says):
    file = tmp_path / "requests.csv"
    file.write_text(text)
    assert says in complaint("simulate", "--arrivals", str(file))


def test_every_option_says_what_it_allows(capsys):
    with pytest.raises(SystemExit):
        main(["simulate", "--help"])
    help_ = capsys.readouterr().out
    for name in SIMULATION_OPTIONS:
        assert f"--{name} " in help_


def test_an_interrupted_run_says_how_far_it_came(monkeypatch, capsys):
    def interrupted(*_, progress, **__):
        from physics.serving.simulation import Progress

        progress(Progress(300, 1000, 7.5))
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "simulate", interrupted)
    assert main(["simulate"]) == 130
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "python -m physics: cancelled after 300 requests\n"


def test_a_long_run_tells_a_terminal_how_far_it_is(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert main(["simulate", "--requests", "200", "--output", "3", "--timelines", "none"]) == 0
    captured = capsys.readouterr()
    assert "100 of 200 requests" in captured.err
    json.loads(captured.out)
