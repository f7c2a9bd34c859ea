"""From the fields of a `config.json` to the layers of a model."""

from __future__ import annotations

from collections import Counter

from physics.config.families import Family
from physics.config.fields import Reading
from physics.config.listed import listed_blocks, pattern_blocks
from physics.config.mixers import Notes, read_mixer
from physics.config.networks import read_network
from physics.errors import InputError
from physics.layers import Layers


def read_layers(config: Reading, family: Family, notes: Notes) -> tuple[Layers, ...]:
    """Return the layers of a model, identical ones together."""
    if config.hybrid_override_pattern is not None:
        blocks = pattern_blocks(config, family, notes)
    elif config.block_configs is not None:
        blocks = listed_blocks(config, family, notes)
    else:
        _check_layer_types(config)
        blocks = (
            (read_mixer(config, family, layer, notes), read_network(config, family, layer))
            for layer in range(config.layers)
        )
    return tuple(Layers(count, *parts) for parts, count in Counter(blocks).items())


def _check_layer_types(config: Reading) -> None:
    for name in ("layer_types", "hybrid_layer_pattern"):
        given = getattr(config, name)
        if given is not None and len(given) != config.layers:
            raise InputError(name, f"must name {config.layers} layers, got {len(given)}")
