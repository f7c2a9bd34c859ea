"""`quantization_config` of every common kind: bits with their scales, and what is left alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from physics.catalogue import model
from physics.config import read_config
from physics.errors import InputError
from physics.memory import weight_bytes
from tests.physics.example_configs import LATENT, LLAMA, MIXTURE

ROOT = Path(__file__).resolve().parents[2]


def quantised(base: dict = LLAMA, **given: object):
    return read_config(base | {"quantization_config": given})


def compressed(**weights: object) -> dict:
    return {"group_0": {"targets": ["Linear"], "weights": weights}}


@pytest.mark.parametrize(("given", "bits", "arithmetic"), [
    ({"quant_method": "fp8"}, 8, "fp8"),
    ({"quant_method": "fp8", "weight_block_size": [128, 128]}, 8 + 32 / 128**2, "fp8"),
    ({"quant_method": "fbgemm_fp8"}, 8, "fp8"),
    ({"quant_method": "mxfp4"}, 4.25, "bf16"),
    ({"quant_method": "modelopt", "quant_algo": "NVFP4"}, 4.5, "bf16"),
    ({"quant_method": "modelopt", "quantization": {"quant_algo": "NVFP4"}}, 4.5, "bf16"),
    ({"quant_method": "modelopt", "quant_algo": "FP8"}, 8, "fp8"),
    ({"quant_method": "awq", "bits": 4, "group_size": 128}, 4 + 20 / 128, "bf16"),
    ({"quant_method": "awq", "w_bit": 4, "q_group_size": 64}, 4 + 20 / 64, "bf16"),
    ({"quant_method": "gptq", "bits": 4, "group_size": 32}, 4 + 20 / 32, "bf16"),
    ({"quant_method": "gptq", "bits": 8, "group_size": -1}, 8, "bf16"),
    ({"quant_method": "gptq", "bits": 3, "group_size": 128}, 3 + 19 / 128, "bf16"),
    ({"quant_method": "compressed-tensors",
      "config_groups": compressed(num_bits=4, type="int", group_size=128)}, 4.125, "bf16"),
    ({"quant_method": "compressed-tensors",
      "config_groups": compressed(num_bits=4, type="float", group_size=16)}, 4.5, "bf16"),
    ({"quant_method": "compressed-tensors",
      "config_groups": {"group_0": {"weights": {"num_bits": 8, "type": "float"},
                                    "input_activations": {"num_bits": 8, "type": "float"}}}},
     8, "fp8"),
    ({"quant_method": "compressed-tensors",
      "config_groups": {"group_0": {"weights": {"num_bits": 8, "type": "int"},
                                    "input_activations": {"num_bits": 8, "type": "int"}}}},
     8, "int8"),
    ({"quant_method": "bitsandbytes", "load_in_4bit": True}, 4.5, "bf16"),
    ({"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_use_double_quant": True},
     4 + 8 / 64 + 32 / 64 / 256, "bf16"),
    ({"quant_method": "bitsandbytes", "load_in_8bit": True}, 8, "int8"),
])
def test_bits_of_a_weight_with_its_scales(given, bits, arithmetic):
    stored = quantised(**given).quantisation
    assert stored.bytes_of("attention") == stored.bytes_of("mlp") == bits / 8
    assert stored.bytes_of("embedding") == stored.bytes_of("head") == 2
    assert stored.bytes_of("router") == stored.bytes_of("norms") == 2
    assert stored.arithmetic == arithmetic


def test_only_the_matrices_shrink():
    """By hand: 4 layers of 12,288 + 24,576 weights in a byte, the rest in two."""
    matrices = 4 * (64 * (64 + 64) + 64 * 64 + 3 * 64 * 128)
    read = quantised(quant_method="fp8")
    assert float(weight_bytes(read, "published")) == 2 * read.parameters - matrices


@pytest.mark.parametrize(("slug", "gigabytes"), [
    ("gpt-oss-120b", 65.3),  # 'about 61 GiB': arXiv 2508.10925, checkpoint 60.8 GiB
    ("gpt-oss-20b", 13.8),  # 12.8 GiB
])
def test_the_size_of_a_published_checkpoint(slug, gigabytes):
    stored = float(weight_bytes(model(slug), "published")) / 1e9
    assert stored == pytest.approx(gigabytes, rel=0.01)


@pytest.mark.parametrize("field", ["modules_to_not_convert", "ignore", "ignored_layers",
                                   "exclude_modules", "llm_int8_skip_modules"])
@pytest.mark.parametrize("pattern", ["self_attn", "re:.*self_attn.*", "model.layers.*.self_attn*",
                                     "q_proj"])
def test_a_part_that_is_left_alone(field, pattern):
    stored = quantised(quant_method="fp8", **{field: [pattern, "lm_head"]}).quantisation
    assert (stored.bytes_of("attention"), stored.bytes_of("mlp")) == (2, 1)


@pytest.mark.parametrize(("prefix", "base"), [
    ("model.layers.{}.self_attn.q_proj", LLAMA),
    ("model.language_model.layers.{}.self_attn.q_proj", LLAMA),  # of a model that sees
    ("language_model.model.layers.{}.self_attn.q_proj", LLAMA),
    ("model.layers.{}.self_attn.qkv_proj", LLAMA),
    ("model.layers.{}.self_attn.q_a_proj", LLAMA | LATENT),  # latent attention has no q_proj
    ("model.layers.{}.self_attn.kv_b_proj", LLAMA | LATENT),
])
def test_modules_named_one_by_one_are_left_alone(prefix, base):
    names = [prefix.format(layer) for layer in range(4)]
    stored = quantised(base, quant_method="fp8", modules_to_not_convert=names)
    assert stored.quantisation.bytes_of("attention") == 2 or stored.assumptions


def test_a_part_left_alone_in_some_layers_is_said():
    read = quantised(quant_method="fp8", modules_to_not_convert=["model.layers.0.self_attn"])
    assert any("attention" in note for note in read.assumptions)


def test_experts_may_be_left_alone():
    stored = quantised(MIXTURE, quant_method="fp8", ignore=["re:.*mlp.experts.*"]).quantisation
    assert (stored.bytes_of("experts"), stored.bytes_of("attention")) == (2, 1)


def test_nested_beside_the_language_part():
    outer = read_config({"text_config": LLAMA, "quantization_config": {"quant_method": "fp8"}})
    assert outer.quantisation == quantised(quant_method="fp8").quantisation


@pytest.mark.parametrize("given", [
    {"quant_method": "modelopt", "quantization": "NVFP4"},
    {"quant_method": "compressed-tensors",
     "config_groups": {"a": {"weights": {"num_bits": 4, "type": []}, "input_activations": {}}}},
    {"quant_method": "compressed-tensors", "config_groups": [1]},
    {"quant_method": "compressed-tensors", "config_groups": {"a": None}},
    {"quant_method": {"name": "fp8"}},
    {"quant_method": ["fp8"]},
    {"quant_method": 8},
    {"quant_method": "fp8", "ignore": [None, 3, "re:(", "[", ""]},
    {"quant_method": "bitsandbytes"},
])
def test_odd_content_is_refused_or_said(given):
    try:
        read = quantised(**given)
    except InputError:
        return
    assert read.quantisation.bytes_of("mlp") in (0.5, 4.5 / 8, 1, 2)


def test_a_pattern_that_never_ends_is_no_trap():
    """Patterns come from a file that anyone may upload; '(.+)+X' takes 2^40 steps."""
    code = ("from physics.config import read_config; from tests.physics.example_configs import "
            "LLAMA; read_config(LLAMA | {'quantization_config': {'quant_method': 'fp8', "
            "'ignore': ['re:(.+)+X']}})")
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, timeout=10, check=False,
                          capture_output=True)
    assert done.returncode == 0 or b"InputError" in done.stderr
