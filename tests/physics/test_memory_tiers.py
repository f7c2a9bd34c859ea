"""Tiers: what they hold, how fast they are read, and that each figure has a source."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from physics.catalogue import model
from physics.chips import chip, chips
from physics.memory import weight_bytes
from physics.memory_tiers import (
    LEVELS,
    TIERS,
    chips_to_hold,
    fill,
    main_tier,
    on_chip_bytes,
    read_seconds,
    tiers,
)
from physics.published_speeds import published_speeds
from tests.physics.strategies import no_less

sizes = st.floats(1, 1e13)


def needed(slug: str, weights: str, machine: str) -> int:
    size = float(weight_bytes(model(slug), weights))
    return int(chips_to_hold(size, main_tier(chip(machine)).capacity))


def test_cerebras_puts_70b_on_four_systems_and_8b_on_one():
    """The Register and Cerebras, August 2024, in 16 bits."""
    assert needed("llama-3.1-70b", "bf16", "wse-3") == 4
    assert needed("llama-3.1-8b", "bf16", "wse-3") == 1


def test_groq_needs_hundreds_of_chips_for_70b():
    """576 are quoted: more than hold the weights in 8 bits, fewer than in 16."""
    assert needed("llama-3.1-70b", "int8", "groq-lpu") == 307
    assert needed("llama-3.1-70b", "int8", "groq-lpu") < 576 < needed(
        "llama-3.1-70b", "bf16", "groq-lpu"
    )


@pytest.mark.parametrize(("slug", "level", "ridge"), [
    ("sn40l", "hbm", 398.75), ("sn40l", "ddr", 6380), ("groq-lpu", "sram", 2.35),
    ("wse-3", "sram", 0.595), ("v100-sxm2", "sram", 40.3),  # NVIDIA prints 40
])
def test_a_tier_moves_the_ridge(slug, level, ridge):
    (tier,) = (tier for tier in tiers(slug) if tier.level == level)
    assert tier.ridge(chip(slug).bf16_flop_per_second) == pytest.approx(ridge, rel=2e-3)


def test_a_tier_without_a_bandwidth_has_no_ridge():
    sram = tiers("sn40l")[0]
    assert sram.bandwidth is None
    assert np.isnan(sram.ridge(638e12))


def test_tiers_grow_and_slow_down():
    for slug in chips():
        found = tiers(slug)
        capacities = [tier.capacity for tier in found]
        assert capacities == sorted(capacities)
        known = [tier.bandwidth for tier in found if tier.bandwidth]
        assert known == sorted(known, reverse=True)


@given(sizes, st.lists(st.floats(1, 1e12), min_size=1, max_size=4))
def test_filling_loses_nothing_and_overfills_nothing(size, capacities):
    placed = fill(size, capacities)
    assert placed.sum() == pytest.approx(size)
    assert np.all(placed >= 0)
    assert np.all(placed[:-1] <= capacities[:-1])
    # A slower tier is used only when all faster ones are full.
    for index in np.flatnonzero(placed[1:] > 0):
        assert placed[index] == pytest.approx(capacities[index])


@given(st.floats(1, 1e12), st.floats(1, 1e12))
def test_more_bytes_never_read_faster(one, another):
    found = [tier for tier in tiers("sn40l") if tier.bandwidth]
    low, high = sorted((one, another))
    seconds = read_seconds(fill(np.array([low, high]), [t.capacity for t in found]),
                           [t.bandwidth for t in found])
    assert no_less(seconds[1], seconds[0])


def test_an_expert_is_copied_from_ddr_in_14_ms():
    """SN40L, arXiv 2405.07518 section VI-C: 14 GB over the 1 TB/s of an 8-socket node."""
    assert float(read_seconds([14e9], [1e12])) == pytest.approx(14e-3)


def test_70b_on_one_sn40l_waits_for_ddr():
    """64 GB at 1.6 TB/s, and the other 77.1 GB at 100 GB/s."""
    found = [tier for tier in tiers("sn40l") if tier.level != "sram"]
    placed = fill(141.1e9, [tier.capacity for tier in found])
    assert placed.tolist() == pytest.approx([64e9, 77.1e9])
    seconds = read_seconds(placed, [tier.bandwidth for tier in found])
    assert float(seconds) == pytest.approx(64 / 1600 + 77.1 / 100)


def test_on_chip_memory_is_read_from_the_catalogue():
    assert on_chip_bytes(chip("sn40l")) == 520e6
    assert on_chip_bytes(chip("wse-3")) == 44e9
    for one in chips().values():
        assert (on_chip_bytes(one) is None) == (not one.on_chip), one.slug


def test_every_tier_names_its_source():
    for row in TIERS.read_text(encoding="utf-8").splitlines()[1:]:
        slug = row.partition(",")[0]
        for tier in tiers(slug):
            assert tier.level in LEVELS
            assert tier.source
            assert tier.confidence in "ABC"


def test_published_speeds_are_the_printed_ones():
    """Table IV of arXiv 2405.07518, the blogs named, Splitwise and gpt-fast."""
    printed = {slug: speed.tokens_per_second for slug, speed in published_speeds().items()}
    assert printed == {
        "sn40l-8b": 1042, "sn40l-70b": 457, "sn40l-405b": 129, "groq-70b": 250,
        "groq-70b-speculative": 1660, "wse-3-8b": 1800, "wse-3-70b": 450, "h100-70b": 32.6,
        "a100-7b": 328.43,
    }


def test_bounds_of_published_speeds_by_hand():
    """25.6 TB/s of 16 SN40L over twice the parameters but for the embedding table."""
    one = published_speeds()["sn40l-8b"]
    read = 2 * (8.030e9 - 128_256 * 4096)
    assert one.bound == pytest.approx(25.6e12 / read, rel=1e-3)
    assert one.bound_in_a_row == pytest.approx(one.bound / 16)
    assert one.share == pytest.approx(0.611, abs=5e-4)
    assert published_speeds()["wse-3-8b"].share < 0.002


def test_only_speculative_decoding_is_faster_than_the_memory():
    for speed in published_speeds().values():
        assert speed.share < 1 or speed.speculative == "yes", speed.slug
    for slug, tokens in (("sn40l-70b", 2.48), ("sn40l-405b", 4.07)):
        assert published_speeds()[slug].share == pytest.approx(tokens, rel=2e-3)


def test_every_published_speed_names_its_source():
    for speed in published_speeds().values():
        assert speed.source
        assert speed.address.startswith("https://")
        assert speed.confidence in "ABC"
        assert speed.speculative in ("yes", "no", "unknown")
