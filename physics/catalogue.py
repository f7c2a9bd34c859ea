"""The models that come with the project, by slug."""

from __future__ import annotations

import csv
from dataclasses import replace
from functools import cache
from pathlib import Path

from physics.architecture import Architecture
from physics.config import read_config
from physics.errors import UnknownName

ASSETS = Path(__file__).resolve().parent.parent / "assets"


@cache
def models() -> dict[str, Architecture]:
    """Return the catalogue of models by slug, in the order of the file."""
    with (ASSETS / "models.csv").open(newline="", encoding="utf-8") as file:
        return {
            row["slug"]: replace(
                read_config(
                    ASSETS / "models" / f"{row['slug']}.json", slug=row["slug"], name=row["name"]
                ),
                source=row["source"],
            )
            for row in csv.DictReader(file)
        }


def model(slug: str) -> Architecture:
    """Return one model of the catalogue, in any case.

    Raises
    ------
    UnknownName
        With the nearest slugs.

    Examples
    --------
    >>> round(model("Llama-3.1-8B").parameters / 1e9, 2)
    8.03
    """
    found = models().get(str(slug).strip().casefold())
    if found is None:
        raise UnknownName("model", slug, models())
    return found
