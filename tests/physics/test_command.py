"""`python -m physics predict | models | chips`: one prediction, names, wrong arguments."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from physics.__main__ import main
from physics.catalogue import ASSETS, models
from physics.chips import chips

ROOT = Path(__file__).resolve().parents[2]

FIELDS = {"parameters", "active_parameters", "weight_bytes", "kv_bytes_per_token",
          "kv_bytes_per_sequence", "fits", "max_batch", "ridge_flop_per_byte", "critical_batch",
          "critical_context", "ttft_s", "tpot_s", "e2e_s", "tokens_per_s_user",
          "tokens_per_s_system", "prefill", "decode"}
PHASE_FIELDS = {"flop", "bytes", "weight_bytes", "kv_bytes", "activation_bytes", "intensity",
                "bound", "seconds_sum", "seconds_overlap", "mfu", "mbu", "operators"}
TIMES = ("ttft_s", "tpot_s", "e2e_s", "tokens_per_s_user", "tokens_per_s_system")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command as a person does."""
    return subprocess.run([sys.executable, "-m", "physics", *arguments], cwd=ROOT, text=True,
                          capture_output=True, check=False, timeout=60)


def strict(text: str) -> object:
    """Parse JSON without NaN and Infinity."""
    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.fixture
def predict(capsys):
    """Run `predict` in this process and parse its answer."""
    def call(*arguments: str) -> dict:
        assert main(["predict", *arguments]) == 0
        return strict(capsys.readouterr().out)

    return call


@pytest.fixture
def complaint(capsys):
    """Run the command with something wrong; return its one line."""
    def call(*arguments: str) -> str:
        try:
            code = main(list(arguments))
        except SystemExit as end:  # argparse
            code = end.code
        captured = capsys.readouterr()
        assert (code, captured.out) == (2, "")
        assert captured.err.count("\n") == 1
        assert captured.err.endswith("\n")
        return captured.err

    return call


def test_the_defaults_give_every_field():
    done = run("predict")
    assert (done.returncode, done.stderr) == (0, "")
    answer = strict(done.stdout)
    assert set(answer) >= FIELDS
    for phase in ("prefill", "decode"):
        assert set(answer[phase]) >= PHASE_FIELDS
        assert {"name", "flop", "bound", "seconds"} <= set(answer[phase]["operators"][0])


def test_the_numbers_of_a_known_case(predict):
    """Llama-2-7B, 4096 tokens in, bf16, on A100 80 GB: by hand from config.json and data sheet."""
    answer = predict("--model", "llama-2-7b", "--chip", "a100-sxm-80gb", "--prompt", "4096",
                     "--output", "1", "--batch", "1")
    assert answer["parameters"] == answer["active_parameters"] == 6_738_415_616
    assert answer["weight_bytes"] == 13_476_831_232
    assert answer["kv_bytes_per_token"] == 524_288
    assert answer["kv_bytes_per_sequence"] == 524_288 * 4097
    assert answer["ridge_flop_per_byte"] == pytest.approx(312 / 2.039)
    assert answer["critical_batch"] == pytest.approx(312 / 2.039)
    assert answer["max_batch"] == (80_000_000_000 - 13_476_831_232) // (524_288 * 4097)
    blocks, head = 32 * (4 * 4096**2 + 3 * 4096 * 11008), 32000 * 4096
    attention = 4096 * 4097 // 2 * 4 * 4096 * 32
    assert answer["prefill"]["flop"] == 2 * blocks * 4096 + 2 * head + attention
    assert answer["ttft_s"] == pytest.approx(answer["prefill"]["flop"] / 312e12, rel=0.01)
    assert answer["tpot_s"] is None  # one token: nothing after the first
    assert answer["e2e_s"] == answer["ttft_s"]


def test_time_totals_belong_together(predict):
    answer = predict("--output", "101", "--batch", "7")
    assert answer["e2e_s"] == pytest.approx(answer["ttft_s"] + 100 * answer["tpot_s"])
    assert answer["tokens_per_s_user"] == pytest.approx(1 / answer["tpot_s"])
    assert answer["tokens_per_s_system"] == pytest.approx(7 * 101 / answer["e2e_s"])
    for phase in (answer["prefill"], answer["decode"]):
        assert phase["bytes"] == pytest.approx(
            phase["weight_bytes"] + phase["kv_bytes"] + phase["activation_bytes"])
        assert phase["intensity"] == pytest.approx(phase["flop"] / phase["bytes"])
        assert phase["seconds_sum"] == pytest.approx(
            sum(each["seconds"] for each in phase["operators"]))
        assert phase["flop"] == pytest.approx(sum(each["flop"] for each in phase["operators"]))
        assert phase["seconds_overlap"] <= phase["seconds_sum"]


@pytest.mark.parametrize("slug", list(models()))
def test_every_model_is_answered_in_strict_json(predict, slug):
    answer = predict("--model", slug, "--chip", "h100-sxm", "--tp", "16", "--weights", "fp8")
    assert answer["model"] == slug
    assert (answer["ttft_s"] is None) == (not answer["fits"])


@pytest.mark.parametrize("slug", list(chips()))
def test_every_chip_is_answered_in_strict_json(predict, slug):
    answer = predict("--chip", slug, "--model", "llama-2-7b")
    assert answer["chip"] == slug
    assert answer["ridge_flop_per_byte"] == pytest.approx(chips()[slug].ridge)


def test_names_in_any_case(predict):
    loud = predict("--model", "LLAMA-3.1-8B", "--chip", " H100-Sxm", "--weights", "FP8", "--kv",
                   "Int8", "--efficiency", "TYPICAL")
    assert loud == predict("--model", "llama-3.1-8b", "--chip", "h100-sxm", "--weights", "fp8",
                           "--kv", "int8", "--efficiency", "typical")


def test_another_bandwidth_and_peak(predict):
    own, twice = predict(), predict("--bandwidth", "6700", "--flops", "1978")
    assert twice["ttft_s"] == pytest.approx(own["ttft_s"] / 2)
    assert twice["tpot_s"] == pytest.approx(own["tpot_s"] / 2)
    assert twice["ridge_flop_per_byte"] == pytest.approx(own["ridge_flop_per_byte"])
    assert twice["notes"]


def test_what_does_not_fit_gets_no_time_and_the_nearest_that_does(predict):
    arguments = ("--model", "llama-3.1-70b", "--prompt", "4096", "--output", "4096", "--batch", "4")
    answer = predict(*arguments)
    cache = 4 * 8192 * 327_680
    assert answer["fits"] is False
    assert answer["bytes_short"] == 2 * 70_553_706_496 + cache - 80_000_000_000
    assert answer["max_batch"] == 0
    assert all(answer[name] is None for name in TIMES)
    for phase in (answer["prefill"], answer["decode"]):
        assert all(phase[name] is None
                   for name in ("seconds_sum", "seconds_overlap", "mfu", "mbu"))
        assert all(each["seconds"] is None for each in phase["operators"])
    nearest = answer["nearest_fit"]
    assert nearest["batch"] is None  # the weights alone are too large
    assert nearest["tp"] == 2
    # The largest that fits: fp8 and int8 are 1.3 GB too large. fp4 before q4_0 (4.5 bits) came.
    assert nearest["weights"] == "q4_0"
    assert nearest["kv"] is None
    for name in ("tp", "weights"):
        assert predict(*arguments, f"--{name}", str(nearest[name]))["fits"] is True


def test_the_nearest_batch_is_the_largest_that_fits(predict):
    arguments = ("--prompt", "8192", "--output", "1", "--chip", "rtx-4090")
    nearest = predict(*arguments, "--batch", "50")["nearest_fit"]["batch"]
    assert predict(*arguments, "--batch", str(nearest))["fits"] is True
    assert predict(*arguments, "--batch", str(nearest + 1))["fits"] is False


@pytest.mark.parametrize(("arguments", "words"), [
    (("--batch", "0"), ("batch", "whole number from 1")),
    (("--batch", "-3"), ("batch", "whole number from 1")),
    (("--batch", "1.5"), ("batch", "whole number from 1")),
    (("--batch", "many"), ("batch", "whole number from 1")),
    (("--batch", "nan"), ("batch", "whole number from 1")),
    (("--batch", "1e400"), ("batch", "whole number from 1")),
    (("--batch", "9" * 400), ("batch", "whole number from 1")),
    (("--prompt", "0"), ("prompt", "whole number from 1")),
    (("--output", "0"), ("output", "whole number from 1")),
    (("--tp", "0"), ("tp", "whole number from 1")),
    (("--bandwidth", "0"), ("bandwidth", "GB/s")),
    (("--flops", "-1"), ("flops", "TFLOP/s")),
    (("--flops", "inf"), ("flops", "TFLOP/s")),
    (("--weights", "fp16"), ("weights", "bf16", "fp8", "int8", "int4", "fp4")),
    (("--kv", "fp32"), ("kv", "bf16", "fp8", "int8", "int4", "fp4")),
    (("--efficiency", "best"), ("efficiency", "ideal", "typical")),
    (("--model", "lama-3.1-8b"), ("model", "llama-3.1-8b")),
    (("--model", "mixtral"), ("model", "mixtral-8x7b", "mixtral-8x22b")),
    (("--model", "a" * 300), ("model", "llama-2-7b")),
    (("--chip", "h100smx"), ("chip", "h100-sxm")),
    (("--chip", "apple-m1", "--tp", "2"), ("tp", "apple-m1")),
    (("--batch", "0\n"), ("batch", "whole number from 1")),
    (("--model", "no\nsuch.json"), ("model",)),
    (("--promt", "5"), ("--promt", "--prompt")),
    (("--batch", "-1e3"), ("batch", "whole number from 1")),
    (("--batch",), ("batch", "whole number from 1")),
    (("--model", "nowhere.json"), ("model", "nowhere.json")),
])
def test_a_wrong_argument_gets_one_line_that_says_what_is_allowed(complaint, arguments, words):
    line = complaint("predict", *arguments)
    assert all(word in line for word in words), line


@pytest.mark.parametrize("arguments", [(), ("forecast",), ("models", "extra")])
def test_a_wrong_command_gets_one_line_with_the_commands(complaint, arguments):
    line = complaint(*arguments)
    assert all(word in line for word in ("predict", "models", "chips")), line


def test_a_wrong_argument_in_a_process_of_its_own():
    done = run("predict", "--weights", "fp16")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr


def test_models_are_listed():
    listed = strict(run("models").stdout)
    assert [each["slug"] for each in listed] == list(models())
    assert all(each["source"] and each["parameters"] > 0 for each in listed)


def test_chips_are_listed():
    listed = strict(run("chips").stdout)
    assert [each["slug"] for each in listed] == list(chips())
    assert all(each["source"] and each["ridge_flop_per_byte"] > 0 for each in listed)


def test_a_reader_that_stops_early_is_no_error():
    with subprocess.Popen([sys.executable, "-m", "physics", "chips"], cwd=ROOT,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()
        assert process.wait(60) == 0


def test_a_path_to_a_config_file(predict, tmp_path):
    content = (ASSETS / "models" / "llama-2-7b.json").read_text(encoding="utf-8")
    path = tmp_path / "config.json"
    path.write_text(content, encoding="utf-8")
    own, catalogued = predict("--model", str(path)), predict("--model", "llama-2-7b")
    assert own["parameters"] == 6_738_415_616
    assert [own[name] for name in TIMES] == [catalogued[name] for name in TIMES]


@pytest.mark.parametrize("content", [
    b"", b"{", b"[]", b"null", b"{}", b"\x00\xff\xfe", b'{"model_type": "mamba"}',
    b"[" * 100_000,
    b'{"model_type": "llama", "hidden_size": NaN}',
    b'{"model_type": "llama", "hidden_size": 1e999, "vocab_size": 5}',
    b'{"model_type": "llama", "hidden_size": 0, "num_hidden_layers": 1, "num_attention_heads": 1,'
    b' "vocab_size": 5, "intermediate_size": 5}',
])
def test_a_config_file_that_cannot_be_used_gets_one_line(complaint, tmp_path, content):
    path = tmp_path / "config.json"
    path.write_bytes(content)
    complaint("predict", "--model", str(path))


def test_a_folder_is_no_model(complaint, tmp_path):
    folder = tmp_path / "model.json"
    folder.mkdir()
    complaint("predict", "--model", str(folder))
    complaint("predict", "--model", str(tmp_path))
