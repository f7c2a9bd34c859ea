"""The scripts of others are whole, licensed, and of the version that the Python packages expect."""

from __future__ import annotations

import gzip
import re
from importlib.resources import files

from pages.shared.player.routes import PLOTLY

BANNER = re.compile(r"plotly\.js (?:\([a-z]+ - minified\) )?v(\d+\.\d+\.\d+)")


def version(text: str) -> str:
    return BANNER.search(text[:500])[1]


def test_plotly_is_of_the_version_that_the_python_package_draws_for():
    whole = (files("plotly") / "package_data" / "plotly.min.js").read_text(encoding="utf-8")
    own = PLOTLY.read_text(encoding="utf-8")
    assert version(own) == version(whole)
    assert f"plotly.js {version(own)}," in (PLOTLY.parent / "README.md").read_text(encoding="utf-8")


def test_plotly_travels_in_half_a_megabyte():
    assert len(gzip.compress(PLOTLY.read_bytes())) < 600_000


def test_the_licence_comes_along():
    assert "MIT" in (PLOTLY.parent / "plotly.LICENSE").read_text(encoding="utf-8")
