"""How the weights are stored, from the `quantization_config` of a model's file."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import Any

from physics.config.fields import Config
from physics.errors import InputError
from physics.quantisation import Quantisation

# A module of each part, as files name it; {layer} runs over all layers.
_MODULES = {
    "attention": ("model.layers.{layer}.self_attn.q_proj",),
    "mlp": ("model.layers.{layer}.mlp.gate_proj",),
    "experts": ("model.layers.{layer}.mlp.experts.0.gate_proj",),
    "shared_experts": ("model.layers.{layer}.mlp.shared_experts.gate_proj",),
    "router": (
        "model.layers.{layer}.mlp.gate",
        "model.layers.{layer}.mlp.router",
        "model.layers.{layer}.block_sparse_moe.gate",
    ),
    "head": ("lm_head",),
    "embedding": ("model.embed_tokens",),
}
# Quantisers work on linear layers; these they leave alone unless a file says otherwise.
_LEFT_ALONE = {"router", "head", "embedding"}


def read_quantisation(config: Config, notes: dict[str, None]) -> Quantisation:
    """Return bits by part; without a `quantization_config`, 16 everywhere."""
    given = config.quantization_config
    if not given:
        return Quantisation()
    method = str(given.get("quant_method") or given.get("quant_algo") or "").casefold()
    bits, arithmetic, name = _bits(given, method, notes)
    if bits is None:
        notes[f"quantisation {method or 'without a method'!r} is not understood: taken as bf16"] = (
            None
        )
        return Quantisation()
    left = _patterns(given)
    parts = {}
    for part, modules in _MODULES.items():
        share = _share_left(modules, left, config.layers)
        if 0 < share < 1:
            notes[
                f"{part}: unquantised in {share:.0%} of the layers, counted as "
                + ("unquantised" if share > 0.5 else "quantised")
            ] = None
        if part not in _LEFT_ALONE and share <= 0.5:
            parts[part] = bits
    return Quantisation(name, parts, arithmetic)


def _bits(
    given: dict[str, Any], method: str, notes: dict[str, None]
) -> tuple[float | None, str, str]:
    """Return bits of a quantised weight with its scales, the arithmetic's format, and a name."""
    if method in ("fp8", "fbgemm_fp8", "fp8_e4m3"):
        return 8 + _block_scale(given), "fp8", "fp8"
    if method == "mxfp4":
        return 4 + 8 / 32, "bf16", "mxfp4"
    if method in ("awq", "gptq", "gptq_marlin", "auto-round", "intel/auto-round"):
        width = _whole(given, ("bits", "w_bit"), 4)
        group = _whole(given, ("group_size", "q_group_size"), 128)
        scales = 0.0 if group in (-1, 0) else (16 + (width if given.get("zero_point", True) else 0))
        return width + (scales / group if scales else 0.0), "bf16", f"{method} {width}-bit"
    if method == "bitsandbytes":
        if given.get("load_in_4bit"):
            double = given.get("bnb_4bit_use_double_quant")
            return (
                4 + (8 / 64 + 32 / (64 * 256) if double else 32 / 64),
                "bf16",
                "bitsandbytes 4-bit",
            )
        return 8.0, "int8", "bitsandbytes 8-bit"
    if method in ("modelopt", "nvfp4", "modelopt_fp4") or "quant_algo" in given:
        algorithm = str(
            given.get("quant_algo") or given.get("quantization", {}).get("quant_algo") or method
        ).casefold()
        if "fp4" in algorithm:
            notes["nvfp4: weights counted as weight-only, multiplied in bf16"] = None
            return 4 + 8 / 16, "bf16", "nvfp4"
        if "fp8" in algorithm:
            return 8.0, "fp8", "fp8"
    if method == "compressed-tensors":
        return _compressed(given, notes)
    return None, "bf16", method


def _compressed(given: dict[str, Any], notes: dict[str, None]) -> tuple[float | None, str, str]:
    groups = given.get("config_groups")
    if not isinstance(groups, dict) or not groups:
        return None, "bf16", "compressed-tensors"
    if len(groups) > 1:
        notes["quantization_config: only the first of several config_groups is read"] = None
    group = next(iter(groups.values()))
    weights = group.get("weights") if isinstance(group, dict) else None
    if not isinstance(weights, dict):
        return None, "bf16", "compressed-tensors"
    width = _whole(weights, ("num_bits",), 8)
    size = weights.get("group_size")
    scale = 0.0
    if isinstance(size, int) and size > 0:
        scale = (8 if weights.get("type") == "float" and width == 4 else 16) / size
    kind = str(weights.get("type") or "int")
    both = isinstance(group.get("input_activations"), dict)
    arithmetic = {("float", 8): "fp8", ("int", 8): "int8"}.get((kind, width), "bf16")
    return width + scale, arithmetic if both else "bf16", f"compressed-tensors {kind}{width}"


def _block_scale(given: dict[str, Any]) -> float:
    """Bits that a 32-bit scale for each block adds to a weight."""
    block = given.get("weight_block_size")
    if block is None:
        return 0.0
    if (
        not isinstance(block, list)
        or len(block) != 2
        or not all(type(side) is int and side > 0 for side in block)
    ):
        raise InputError(
            "quantization_config.weight_block_size", f"must be two numbers above 0, got {block!r}"
        )
    return 32 / (block[0] * block[1])


def _whole(given: dict[str, Any], names: tuple[str, ...], default: int) -> int:
    for name in names:
        value = given.get(name)
        if value is None:
            continue
        lowest = -1 if "group" in name else 1
        if isinstance(value, bool) or not isinstance(value, int) or not lowest <= value <= 2**16:
            raise InputError(
                f"quantization_config.{name}",
                f"must be a whole number from {lowest}, got {value!r}",
            )
        if "bit" in name and value > 16:
            raise InputError(f"quantization_config.{name}", f"must be 16 or less, got {value}")
        return value
    return default


def _patterns(given: dict[str, Any]) -> list[str]:
    found = []
    for name in (
        "modules_to_not_convert",
        "ignored_layers",
        "ignore",
        "exclude_modules",
        "modules_to_not_quantize",
        "llm_int8_skip_modules",
    ):
        value = given.get(name)
        if isinstance(value, list):
            found += [str(item) for item in value]
    return found


def _share_left(modules: tuple[str, ...], patterns: list[str], layers: int) -> float:
    """Return in which share of the layers one of the modules is left unquantised."""
    if not patterns:
        return 0.0
    numbers = range(layers) if "{layer}" in modules[0] else range(1)
    left = sum(
        any(
            _matches(module.format(layer=layer), pattern)
            for module in modules
            for pattern in patterns
        )
        for layer in numbers
    )
    return left / len(numbers)


def _matches(module: str, pattern: str) -> bool:
    if pattern.startswith("re:"):
        try:
            return re.match(pattern[3:], module) is not None
        except re.error:
            return False
    if any(sign in pattern for sign in "*?["):
        return fnmatchcase(module, pattern) or fnmatchcase(module, pattern + ".*")
    dotted = f".{module}."
    return f".{pattern}." in dotted
