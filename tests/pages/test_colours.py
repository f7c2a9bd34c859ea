"""One colour, dash and marker for a quantity."""

import tomllib
from pathlib import Path

import pytest

from pages.shared.colours import LOOKS

CONFIG = Path(__file__).parents[2] / ".streamlit" / "config.toml"


def test_no_two_quantities_look_the_same():
    looks = [(look.dash, look.marker) for look in LOOKS.values()]
    assert len(set(looks)) == len(looks)


def luminance(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_theme_has_ten_chart_colours_and_contrast(theme):
    given = tomllib.loads(CONFIG.read_text(encoding="utf-8"))["theme"][theme]
    assert len(set(given["chartCategoricalColors"])) == 10
    for background in (given["backgroundColor"], given["secondaryBackgroundColor"]):
        assert contrast(given["textColor"], background) >= 7
        assert contrast(given["linkColor"], background) >= 4.5
        assert contrast(given["primaryColor"], background) >= 4.5
        assert contrast(given["borderColor"], background) >= 2.9
