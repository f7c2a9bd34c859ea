"""`python -m physics predict --table rows.csv`: a prediction for each row of a file."""

from __future__ import annotations

import csv
import io
import json

import pytest

from physics import table
from physics.__main__ import main
from physics.catalogue import ASSETS, model
from physics.errors import InputError
from physics.predict import parse_question, predict
from physics.table import predict_table
from tests.physics.example_configs import LLAMA

ROWS = [
    {"model": "llama-3.1-8b", "chip": "h100-sxm", "prompt": "2048", "batch": "1"},
    {"model": "llama-3.1-8b", "chip": "a100-sxm-80gb", "prompt": "100", "output": "1"},
    {"model": "Mixtral-8x7B", "chip": "MI300X", "batch": "64", "weights": "fp8", "kv": "fp8"},
    {"model": "deepseek-v3", "chip": "h200-sxm", "tp": "16", "efficiency": "typical"},
    {"model": "gpt-oss-20b", "chip": "rtx-4090", "prompt": "100", "weights": "fp4"},
    {"model": "llama-3.1-405b", "chip": "apple-m1", "batch": "7"},
    {"model": "llama-3.1-8b", "chip": "h100-sxm", "bandwidth": "1234.5", "flops": "100"},
    {"model": "llama-3.1-8b", "chip": "tpu-v5e", "tp": "8", "prompt": "9999", "batch": "3"},
    {"model": "qwen3-32b-fp8", "chip": "h100-sxm", "weights": "published", "batch": "9"},
    {"model": "qwen3-32b-fp8", "chip": "a100-sxm-80gb", "weights": "int4", "batch": "9"},
    {"model": "gpt-oss-20b", "chip": "h200-sxm", "weights": "published", "batch": "9"},
]


@pytest.fixture
def write(tmp_path):
    """Write a table and return its path."""
    def call(content: str | bytes) -> str:
        path = tmp_path / "rows.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return call


@pytest.fixture
def answers(write):
    """Predict a table and return its rows."""
    def call(content: str | bytes, **defaults: str) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO(predict_table(write(content), defaults))))

    return call


@pytest.fixture
def complaint(write, capsys):
    """Run the command on a table with something wrong; return its one line."""
    def call(content: str | bytes, *options: str) -> str:
        assert main(["predict", "--table", write(content), *options]) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.count("\n") == 1
        return captured.err

    return call


def as_csv(rows: list[dict[str, str]]) -> str:
    names = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def flat(answer: dict, prefix: str = "") -> dict:
    """Name the plain values of an answer as the table's columns are named."""
    found = {}
    for name, value in answer.items():
        if isinstance(value, dict):
            found |= flat(value, f"{prefix}{name}.")
        elif not isinstance(value, list):
            found[prefix + name] = value
    return found


def test_rows_equal_single_predictions(answers):
    for row, got in zip(ROWS, answers(as_csv(ROWS)), strict=True):
        single = predict(parse_question(row))
        single.pop("nearest_fit", None)
        for name, value in flat(single).items():
            if name in row:
                assert got[name] == row[name]
            elif value is None:
                assert got[name] == "", name
            elif isinstance(value, bool):
                assert got[name] == str(value).lower(), name
            elif isinstance(value, str):
                assert got[name] == value, name
            else:
                assert float(got[name]) == pytest.approx(value, rel=1e-12), name


def test_a_table_takes_one_pass_a_model(write, monkeypatch):
    passes = []

    def counted(questions):
        passes.append(len(questions))
        return predict_columns(questions)

    predict_columns = table.predict_columns
    monkeypatch.setattr(table, "predict_columns", counted)
    predict_table(write(as_csv(ROWS * 50)))
    assert len(passes) == len({row["model"].casefold() for row in ROWS})
    assert sum(passes) == len(ROWS) * 50


def test_two_files_of_the_same_name_are_two_models(answers, tmp_path):
    paths = []
    for slug in ("llama-2-7b", "llama-3.1-8b"):
        path = tmp_path / slug / "config.json"
        path.parent.mkdir()
        path.write_bytes((ASSETS / "models" / f"{slug}.json").read_bytes())
        paths.append(str(path))
    got = answers(as_csv([{"model": path, "batch": "2"} for path in paths]))
    assert [int(row["parameters"]) for row in got] == [6_738_415_616, 8_030_261_248]


def test_a_file_with_the_name_of_a_catalogued_model_is_not_mistaken_for_it(answers, tmp_path):
    path = tmp_path / "llama-3.1-8b.json"
    path.write_bytes((ASSETS / "models" / "llama-2-7b.json").read_bytes())
    got = answers(as_csv([{"model": "llama-3.1-8b"}, {"model": str(path)}]))
    assert [int(row["parameters"]) for row in got] == [8_030_261_248, 6_738_415_616]


def test_options_fill_what_the_table_leaves_open(answers):
    got = answers("batch,weights\n8,\n4,int8\n", weights="fp8", prompt="77")
    assert [(row["weights"], row["prompt"]) for row in got] == [("fp8", "77"), ("int8", "77")]
    assert [int(row["weight_bytes"]) for row in got] == [model("llama-3.1-8b").parameters] * 2


def test_other_columns_pass_through_in_their_place(answers, write):
    content = 'note,batch,"a, b"\n"says ""hi""\nthere",8,é\n,16,\n'
    got = answers(content)
    assert [(row["note"], row["batch"], row["a, b"]) for row in got] == [
        ('says "hi"\nthere', "8", "é"), ("", "16", "")]
    assert predict_table(write(content)).startswith('note,batch,"a, b",')


def test_a_column_named_like_a_result_never_hides_the_result(write, capsys):
    """Either the prediction stands in it or the table is refused; an old value must not stay."""
    code = main(["predict", "--table", write("batch,ttft_s,fits\n8,99,no\n")])
    if code == 0:
        row = next(csv.DictReader(io.StringIO(capsys.readouterr().out)))
        assert row["fits"] == "true"
        single = predict(parse_question({"batch": "8"}))
        assert float(row["ttft_s"]) == pytest.approx(single["ttft_s"])


def test_a_byte_order_mark_and_windows_line_ends(answers):
    got = answers(b"\xef\xbb\xbfbatch,prompt\r\n8,100\r\n")
    assert [(row["batch"], row["prompt"]) for row in got] == [("8", "100")]


def test_blanks_around_names_and_cells(answers):
    got = answers(" batch , model \n 8 , LLAMA-2-7B \n")
    assert int(got[0]["parameters"]) == 6_738_415_616
    assert float(got[0]["kv_bytes_all_chips"]) == 8 * float(got[0]["kv_bytes_per_sequence"])


def test_an_option_in_another_case_is_never_passed_over(write, capsys):
    """Either it counts as the option, or the table is refused."""
    if main(["predict", "--table", write("Batch,prompt\n8,100\n")]) == 0:
        row = next(csv.DictReader(io.StringIO(capsys.readouterr().out)))
        single = predict(parse_question({"batch": "8", "prompt": "100"}))
        assert float(row["ttft_s"]) == pytest.approx(single["ttft_s"])
    else:
        assert "Batch" in capsys.readouterr().err


def test_what_was_assumed_of_a_model_is_said_in_its_row(answers, tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(LLAMA | {"model_type": "brand_new"}),
                    encoding="utf-8")
    row = answers(as_csv([{"model": str(path)}]))[0]
    assert any("brand_new" in cell for cell in row.values())


def test_a_header_without_rows_gives_a_header(write, capsys):
    assert main(["predict", "--table", write("batch\n")]) == 0
    assert capsys.readouterr().out.splitlines()[0].split(",")[0] == "batch"


@pytest.mark.parametrize(("content", "line"), [
    ("batch\n1\n0\n", 3),
    ("batch\nmany\n", 2),
    ("batch\n1e999\n", 2),
    ("model\nllama-2-7b\nlama\n", 3),
    ("chip\nh100-smx\n", 2),
    ("chip,tp\napple-m1,2\n", 2),
    ("weights\nfp16\n", 2),
    ("model\nnowhere.json\n", 2),
    ("model\n" + "a" * 300 + "\n", 2),
    ("batch,prompt\n\n\n1,5\n0,5\n", 5),
    ('note,batch\n"two\nlines",1\nx,0\n', 4),
])
def test_a_bad_row_is_named_by_its_line(complaint, content, line):
    assert f"line {line}:" in complaint(content)


@pytest.mark.parametrize("content", [
    "", "\n\n", "colour,size\nred,1\n", "batch;prompt\n1;2\n", b"\xff\xfe\x00\x00", b"PK\x03\x04",
    "batch\n\x00\n",
    "prompt,batch\n2,048,8\n",  # a thousands separator moves every cell
    "batch,batch\n1,8\n",
])
def test_a_table_that_cannot_be_understood_is_refused_in_one_line(complaint, content):
    complaint(content)


def test_a_wrong_default_is_refused_with_or_without_rows(complaint):
    assert "batch" in complaint("prompt\n100\n", "--batch", "0")
    assert "batch" in complaint("prompt\n", "--batch", "0")


def test_a_missing_file_and_a_folder_are_refused(capsys, tmp_path):
    for path in (tmp_path / "none.csv", tmp_path):
        assert main(["predict", "--table", str(path)]) == 2
        captured = capsys.readouterr()
        assert captured.err.count("\n") == 1
        assert str(path) in captured.err


def test_a_single_prediction_and_a_row_say_the_same_in_the_command(write, capsys):
    main(["predict", "--batch", "32"])
    single = json.loads(capsys.readouterr().out)
    main(["predict", "--table", write("batch\n32\n")])
    row = next(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert float(row["decode.seconds_sum"]) == pytest.approx(single["decode"]["seconds_sum"])
    assert row["decode.bound"] == single["decode"]["bound"] == "memory"


def test_remarks_are_columns_too(tmp_path):
    """What does not fit is told what would; a column that is nearly an option is a slip."""
    path = tmp_path / "rows.csv"
    path.write_text("batch,prompt,output,model\n1,2048,256,\n500,2048,256,\n1,9000,1,llama-2-7b\n")
    rows = list(csv.DictReader(io.StringIO(predict_table(path))))
    assert [row["nearest_fit.batch"] for row in rows] == ["", "211", ""]
    assert [row["nearest_fit.tp"] for row in rows] == ["", "4", ""]
    assert "4096" in rows[2]["notes"]
    path.write_text("model,promptt\nllama-2-7b,5\n")
    with pytest.raises(InputError, match="'prompt' meant"):
        predict_table(path)
