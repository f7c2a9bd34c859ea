"""Predict every row of a CSV file: all rows of a model in one vectorised pass."""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from pathlib import Path

import numpy as np

from physics.architecture import Architecture
from physics.errors import InputError
from physics.predict import (
    REMARKS,
    Question,
    find_model,
    parse_question,
    predict_columns,
    remarks,
)

OPTION_NAMES = tuple(field.name for field in fields(Question))


@dataclass(frozen=True)
class Row:
    """One row of the file: the line on which it ends, and its cells by column."""

    line: int
    cells: dict[str, str]


def predict_table(path: str | Path, defaults: Mapping[str, str | None] | None = None) -> str:
    """Return the CSV of a file with the prediction's columns added to each row.

    A column that is named like a result is replaced by the result.

    Parameters
    ----------
    path : path
        A CSV file whose columns are named like the options, in any case; other columns are passed
        through.
    defaults : mapping, optional
        Option texts for columns that are absent or cells that are empty.

    Raises
    ------
    InputError
        Naming the file, or the line and the option, and what is allowed.
    """
    path, defaults = Path(path), dict(defaults or {})
    parse_question(defaults)
    columns, rows = _read(path)
    if not set(OPTION_NAMES) & set(columns):
        raise InputError(
            "table",
            f"{str(path)!r} needs columns named like the options: " + ", ".join(OPTION_NAMES),
        )
    models: dict[str, Architecture] = {}
    by_model: dict[Architecture, list[tuple[int, Question]]] = defaultdict(list)
    for number, row in enumerate(rows):
        given = {
            name: text for name, text in row.cells.items() if name in OPTION_NAMES and text.strip()
        }
        try:
            question = parse_question(defaults | given)
            question.machine()
            if question.model not in models:
                models[question.model] = find_model(question.model)
        except InputError as error:
            raise InputError(f"{str(path)!r} line {row.line}", str(error)) from None
        by_model[models[question.model]].append((number, question))
    answers: list[dict[str, object]] = [{} for _ in rows]
    for members in by_model.values():
        for name, column in predict_columns([question for _, question in members]).items():
            for (number, _), value in zip(members, column.tolist(), strict=True):
                answers[number][name] = value
    for members in by_model.values():
        for number, question in members:
            answers[number] |= remarks(question, fits=bool(answers[number]["fits"]))
    added = list(answers[0]) if rows else [*predict_columns([parse_question(defaults)]), *REMARKS]
    return _write(columns, rows, added, answers)


def _read(path: Path) -> tuple[list[str], list[Row]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError("table", f"cannot read {str(path)!r}: {error.strerror}") from None
    except ValueError:
        raise InputError("table", f"{str(path)!r} is not UTF-8 text") from None
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        lines = _lines(reader)
        _, header = next(lines, (0, []))
        columns = [_column_name(name) for name in header]
        repeated = {name for name in columns if columns.count(name) > 1}
        if repeated:
            raise InputError("table", f"{str(path)!r} has the column {min(repeated)!r} twice")
        rows = []
        for line, cells in lines:
            if len(cells) > len(columns):
                raise InputError(
                    f"{str(path)!r} line {line}",
                    f"has {len(cells)} cells, but the "
                    f"header names {len(columns)} (put text with commas in quotes)",
                )
            padded = cells + [""] * (len(columns) - len(cells))
            rows.append(Row(line, dict(zip(columns, padded, strict=True))))
    except csv.Error as error:
        raise InputError("table", f"{str(path)!r} is no CSV file: {error}") from None
    return columns, rows


def _lines(reader: Iterator[list[str]]) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not blank with the line of the file on which each ends."""
    for cells in reader:
        if cells:
            yield reader.line_num, cells


def _column_name(text: str) -> str:
    """Return an option's name in its own case, any other name as it stands; refuse a slip."""
    name = text.strip()
    if name.casefold() in OPTION_NAMES:
        return name.casefold()
    close = get_close_matches(name.casefold(), OPTION_NAMES, n=1, cutoff=0.85)
    if close:
        raise InputError("table", f"the column {name!r} is no option; is {close[0]!r} meant?")
    return name


def _write(
    columns: list[str], rows: list[Row], added: list[str], answers: list[dict[str, object]]
) -> str:
    kept = [name for name in columns if name in OPTION_NAMES or name not in added]
    new = [name for name in added if name not in kept]
    output = io.StringIO()
    writer = csv.writer(output, lineterminator="\n")
    writer.writerow([*kept, *new])
    for row, answer in zip(rows, answers, strict=True):
        cells = [
            row.cells[name] if row.cells[name].strip() else _cell(answer.get(name)) for name in kept
        ]
        writer.writerow([*cells, *(_cell(answer[name]) for name in new)])
    return output.getvalue()


def _cell(value: object) -> object:
    if value is None or (isinstance(value, float) and not np.isfinite(value)):
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return int(value) if isinstance(value, float) and value.is_integer() else value
