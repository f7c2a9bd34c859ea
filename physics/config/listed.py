"""Files that list their blocks one by one: as a string of letters, or as objects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from physics.config.families import Family
from physics.config.fields import Reading
from physics.config.mixers import Notes, head_dim_of, read_attention, read_mamba2
from physics.config.networks import read_network
from physics.errors import InputError
from physics.layers import Attention, Dense, Mixer, Network, Square


def pattern_blocks(
    config: Reading, family: Family, notes: Notes
) -> Iterator[tuple[Mixer | None, Network | None]]:
    """Read a string with a letter a block: Mamba-2, attention, network, experts."""
    pattern = config.hybrid_override_pattern or ""
    if len(pattern) != config.layers:
        raise InputError(
            "hybrid_override_pattern", f"must name {config.layers} blocks, got {len(pattern)}"
        )
    for letter in pattern:
        match letter:
            case "M":
                yield read_mamba2(config), None
            case "*":
                yield (
                    read_attention(
                        config, family, window=None, chunked=False, own_cache=True, full=True
                    ),
                    None,
                )
            case "E":
                yield None, read_network(config, family, config.layers - 1)
            case "-":
                dense = config.intermediate_size
                if dense is None:
                    raise InputError("intermediate_size", "is missing")
                yield None, Dense(dense, family.gated, config.mlp_bias)
            case _:
                raise InputError(
                    "hybrid_override_pattern", f"must be made of M, *, E and -, got {letter!r}"
                )


def listed_blocks(
    config: Reading, family: Family, notes: Notes
) -> Iterator[tuple[Mixer | None, Network | None]]:
    """Read a list with an attention and a network a layer, any of them absent or simplified."""
    blocks = config.block_configs or []
    if len(blocks) != config.layers:
        raise InputError("block_configs", f"must name {config.layers} layers, got {len(blocks)}")
    for layer, block in enumerate(blocks):
        where = f"block_configs.{layer}"
        attention, network = block.get("attention") or {}, block.get("ffn") or {}
        if not isinstance(attention, dict) or not isinstance(network, dict):
            raise InputError(where, "needs an attention and an ffn object")
        for part, known in ((attention, _LISTED_ATTENTION), (network, _LISTED_NETWORK)):
            for name, value in part.items():
                if name not in known and value not in (None, False, 0, [], {}):
                    notes[f"block_configs: {name!r} is not understood and was passed over"] = None
        yield (
            _listed_attention(config, family, attention, where),
            _listed_network(config, family, network, where),
        )


_LISTED_ATTENTION = {"no_op", "replace_with_linear", "n_heads_in_group", "window_length"}
_LISTED_NETWORK = {"no_op", "replace_with_linear", "ffn_mult", "intermediate_size", "hidden_act"}


def _listed_attention(
    config: Reading, family: Family, block: dict[str, Any], where: str
) -> Mixer | None:
    if block.get("no_op"):
        return None
    if block.get("replace_with_linear"):
        return Square()
    group = block.get("n_heads_in_group")
    if type(group) is not int or group < 1 or config.heads % group:
        raise InputError(
            f"{where}.attention.n_heads_in_group",
            f"must divide num_attention_heads ({config.heads}), got {group!r}",
        )
    window = block.get("window_length")
    if window is not None and (type(window) is not int or window < 1):
        raise InputError(f"{where}.attention.window_length", f"must be above 0, got {window!r}")
    key = head_dim_of(config, family)
    return Attention(
        config.heads,
        config.heads // group,
        key,
        key,
        window=window,
        qkv_bias=config.attention_bias or family.qkv_bias,
        out_bias=config.attention_bias or family.out_bias,
    )


def _listed_network(
    config: Reading, family: Family, block: dict[str, Any], where: str
) -> Network | None:
    if block.get("no_op"):
        return None
    if block.get("replace_with_linear"):
        return Square()
    multiple = block.get("ffn_mult")
    size = block.get("intermediate_size") or config.intermediate_size
    if multiple is None and size:
        if type(size) is not int or not 0 < size <= 10**7:
            raise InputError(f"{where}.ffn.intermediate_size", f"must be above 0, got {size!r}")
        return Dense(size, family.gated, config.mlp_bias)
    if type(multiple) not in (int, float) or not 0 < multiple < 1000:
        raise InputError(f"{where}.ffn.ffn_mult", f"must be a number above 0, got {multiple!r}")
    # Two thirds of the multiple of the hidden size, rounded up to whole 256.
    inner = int(2 * multiple * config.hidden_size / 3)
    return Dense(-(-inner // 256) * 256, family.gated, config.mlp_bias)
