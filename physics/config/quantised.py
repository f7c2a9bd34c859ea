"""How the weights are stored, from the `quantization_config` of a model's file."""

from __future__ import annotations

from typing import Any

from physics.config.fields import Reading
from physics.config.left_alone import LeftAlone
from physics.errors import InputError
from physics.quantisation import Quantisation

# Where a layer's modules hang, in models of text alone and in those with other senses too.
_ROOTS = ("model", "model.language_model", "language_model.model")
_MODULES = {
    "attention": [
        f"self_attn.{name}"
        for name in (
            *("q_proj", "k_proj", "v_proj", "o_proj", "qkv_proj", "q_a_proj", "q_b_proj"),
            *("kv_a_proj_with_mqa", "kv_b_proj"),
        )
    ],
    "mlp": ["mlp.gate_proj", "mlp.up_proj", "mlp.down_proj", "mlp.gate_up_proj"],
    "experts": [
        "mlp.experts.0.gate_proj",
        "mlp.experts.0.down_proj",
        "mlp.experts.gate_up_proj",
        "block_sparse_moe.experts.0.w1",
    ],
    "shared_experts": ["mlp.shared_experts.gate_proj", "mlp.shared_expert.gate_proj"],
}
"""The modules of each part that quantisers work on, as files name them."""


def read_quantisation(config: Reading, notes: dict[str, None]) -> Quantisation:
    """Return bits by part; without a `quantization_config`, 16 everywhere.

    Embeddings, head and router stay at 16, as quantisers leave them.
    """
    given = config.quantization_config
    if not given:
        return Quantisation()
    method = str(given.get("quant_method") or given.get("quant_algo") or "").casefold()
    bits, arithmetic, name = _bits(given, method, notes)
    if bits is None:
        what = f"quantisation {method or 'without a method'!r}"
        notes[f"{what} is not understood: taken as bf16"] = None
        return Quantisation()
    left = LeftAlone(given)
    for pattern in left.not_understood[:3]:
        notes[f"quantization_config: pattern {pattern!r} is not understood"] = None
    parts = {}
    for part, modules in _MODULES.items():
        share = _share_left(modules, left, config.layers)
        counted = "unquantised" if share > 0.5 else "quantised"
        if 0 < share < 1:
            notes[f"{part}: unquantised in {share:.0%} of the layers, counted as {counted}"] = None
        if share <= 0.5:
            parts[part] = bits
    return Quantisation(name, parts, arithmetic)


def _share_left(modules: list[str], left: LeftAlone, layers: int) -> float:
    """Return in which share of the layers one of a part's modules is left unquantised."""
    if not left:
        return 0.0
    names = [f"{root}.layers.{{}}.{module}" for root in _ROOTS for module in modules]
    return (
        sum(any(left.has(name.format(layer)) for name in names) for layer in range(layers)) / layers
    )


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
            given.get("quant_algo") or _inner(given).get("quant_algo") or method
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


def _inner(given: dict[str, Any]) -> dict[str, Any]:
    inner = given.get("quantization")
    return inner if isinstance(inner, dict) else {"quant_algo": inner}
