"""Numbers that others printed, computed again.

`published_numbers.csv` holds what was printed and where; the computing stands beside the same id
in `published_sizes.py` and `published_times.py`.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from physics.catalogue import model
from physics.kv_cache import kv_bytes_per_token
from physics.memory import weight_bytes
from tests.physics.published_serving import SERVING
from tests.physics.published_sizes import CASES as SIZES
from tests.physics.published_sizes import gib, tokens_beside_52b
from tests.physics.published_times import CASES as TIMES

with (Path(__file__).parent / "published_numbers.csv").open(newline="", encoding="utf-8") as file:
    PRINTED = {row["id"]: row for row in csv.DictReader(file)}

ERRATA = {
    "kv_llama31_405b_128000": lambda: gib(model("llama-3.1-405b"), 128000),
    "kv_ratio_405b_dsv3": lambda: kv_bytes_per_token(model("llama-3.1-405b"))
    / kv_bytes_per_token(model("deepseek-v3")),
    "kipply_cap_4gpu": lambda: tokens_beside_52b(4),
    "sb_int4_params": lambda: weight_bytes(model("llama-3.1-70b"), "int4") / 1e9,
}
"""Known slips of the sources: what is printed must not come out; each row's note says why."""

CASES = SIZES | TIMES | SERVING


@pytest.mark.parametrize("name", sorted(CASES))
def test_the_printed_value_comes_out(name):
    case, printed = CASES[name], float(PRINTED[name]["value"])
    assert abs(float(case.compute()) - printed) <= case.tolerance(printed), case.because


@pytest.mark.parametrize(("name", "right"), [
    ("kv_llama31_405b_128000", 61.52),  # GiB with the released 8 key-value heads
    ("kv_ratio_405b_dsv3", 7.344),  # from the source's own bytes
    ("kipply_cap_4gpu", 26630),  # (160 - 104.155) GB / 2,097,152 B; 26,703 for 104 GB
    ("sb_int4_params", 36.38),  # 35 GB for 70e9; 70.55e9 parameters with their scales
])
def test_a_slip_of_a_source_is_not_reproduced(name, right):
    assert PRINTED[name]["note"].startswith("[ERRATUM]")
    assert float(ERRATA[name]()) == pytest.approx(right, rel=1e-3)


def test_every_row_of_the_file_is_computed_or_an_erratum():
    assert set(PRINTED) == set(CASES) | set(ERRATA)
    assert len(CASES) == len(SIZES) + len(TIMES) + len(SERVING)


def test_every_row_names_its_source():
    assert all(row["source"] and row["address"].startswith("https://")
               for row in PRINTED.values())
