"""Predict every row of a CSV file: all rows of a model in one vectorised pass."""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path

import numpy as np

from physics.errors import InputError
from physics.predict import Question, parse_question, predict_columns


def predict_table(path: str | Path, defaults: Mapping[str, str | None] | None = None) -> str:
    """Return the CSV of a file with the prediction's columns added to each row.

    Parameters
    ----------
    path : path
        A CSV file whose columns are named like the options; other columns are passed through.
    defaults : mapping, optional
        Option texts for columns that are absent or cells that are empty.

    Raises
    ------
    InputError
        Naming the file, or the row and the option, and what is allowed.
    """
    rows, columns = _read(Path(path))
    options = {field.name for field in fields(Question)}
    if not options & set(columns):
        raise InputError("table", f"{path} needs columns named like the options: "
                         + ", ".join(sorted(options)))
    by_model: dict[str, list[tuple[int, Question]]] = defaultdict(list)
    for number, row in enumerate(rows):
        texts = {**(defaults or {}), **{name: text for name, text in row.items()
                                        if name in options and text and text.strip()}}
        try:
            question = parse_question(texts)
            question.machine()
            by_model[question.architecture().slug].append((number, question))
        except InputError as error:
            raise InputError(f"{path} line {number + 2}", str(error)) from None
    answers: list[dict[str, object]] = [{} for _ in rows]
    for members in by_model.values():
        for name, column in predict_columns([question for _, question in members]).items():
            for (number, _), value in zip(members, column.tolist(), strict=True):
                answers[number][name] = value
    return _write(rows, columns, answers)


def _read(path: Path) -> tuple[list[dict[str, str]], list[str]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError("table", f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError("table", f"{path} is not UTF-8 text") from None
    try:
        reader = csv.DictReader(io.StringIO(text))
        rows = list(reader)
    except csv.Error as error:
        raise InputError("table", f"{path} is no CSV file: {error}") from None
    columns = [name.strip() for name in reader.fieldnames or []]
    rows = [{str(name).strip(): value for name, value in row.items() if name is not None}
            for row in rows]
    return rows, columns


def _write(rows: list[dict[str, str]], columns: list[str], answers: list[dict]) -> str:
    added = [name for name in (answers[0] if answers else ()) if name not in columns]
    output = io.StringIO()
    writer = csv.writer(output, lineterminator="\n")
    writer.writerow([*columns, *added])
    for row, answer in zip(rows, answers, strict=True):
        cells = [row.get(name) or _cell(answer.get(name)) for name in columns]
        writer.writerow([*cells, *(_cell(answer.get(name)) for name in added)])
    return output.getvalue()


def _cell(value: object) -> object:
    if value is None or (isinstance(value, float) and not np.isfinite(value)):
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return int(value) if isinstance(value, float) and value.is_integer() else value
