"""Catalogued files with odd changes: refused with a reason, or a model that makes sense."""

from __future__ import annotations

import copy
import json
import math
import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from physics.__main__ import main
from physics.architecture import Architecture
from physics.config import read_config
from physics.errors import InputError
from physics.kv_cache import kv_bytes_per_sequence, kv_bytes_per_token
from tests.physics.example_configs import FILES

ODD = st.one_of(
    st.sampled_from([None, True, False, 0, 1, -1, 2, 3, 7, 128, 10**6, 10**8, 10**9, 10**400, 0.5,
                     1e308, math.nan, math.inf, "", "x", "16", "M*E-", [], [1], {}, {"a": 1}, [[]],
                     ["full_attention"], [None] * 4, "sliding_attention", [0] * 61,
                     ["linear_attention"] * 32, ["sliding_attention", "full_attention"] * 18]),
    st.integers(-10, 10_000),
    st.text(max_size=8),
    st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5),
                 lambda inner: st.lists(inner, max_size=3)
                 | st.dictionaries(st.text(max_size=5), inner, max_size=3), max_leaves=5),
)

PARTS = ("text_config", "quantization_config")
NAMES = sorted({name for content in FILES.values()
                for part in (content, *(content.get(key, {}) for key in PARTS)) for name in part}
               | {"num_kv_shared_layers", "index_topk", "index_n_heads", "index_head_dim",
                  "moe_layers", "is_encoder_decoder", "multi_query", "sliding_window_pattern",
                  "attn_layer_period", "expert_layer_period", "use_sliding_window", "text_config",
                  "max_window_layers", "vision_config", "weight_block_size", "config_groups",
                  "quantization", "quant_algo", "bits", "group_size", "ignore"})


@st.composite
def mutated(draw) -> dict[str, Any]:
    """Draw a catalogued file with up to four fields removed, replaced, renamed or added."""
    content = copy.deepcopy(FILES[draw(st.sampled_from(sorted(FILES)))])
    for _ in range(draw(st.integers(1, 4))):
        part = content
        for key in PARTS:
            if isinstance(part.get(key), dict) and draw(st.booleans()):
                part = part[key]
        if not part:
            continue
        name = draw(st.sampled_from(sorted(part)))
        match draw(st.sampled_from(["remove", "replace", "rename", "add"])):
            case "remove":
                del part[name]
            case "replace":
                part[name] = draw(ODD)
            case "rename":
                part[draw(st.sampled_from(NAMES) | st.text(max_size=8))] = part.pop(name)
            case "add":
                part[draw(st.sampled_from(NAMES))] = draw(ODD)
    return content


def check(architecture: Architecture) -> None:
    total, active = architecture.parameters, architecture.active_parameters
    assert isinstance(total, int)
    assert 0 < active <= total < math.inf
    assert all(count >= 0 for count in architecture.parameters_by_part.values())
    assert all(count >= 0 for count in architecture.active_parameters_by_part.values())
    assert sum(group.count for group in architecture.groups) == architecture.layers > 0
    per_token = float(kv_bytes_per_token(architecture))
    kept = float(kv_bytes_per_sequence(architecture, 100_000))
    assert 0 <= per_token < math.inf
    assert 0 <= kept <= 100_000 * per_token + architecture.state_bytes
    assert all(0 < architecture.quantisation.bytes_of(part) <= 2
               for part in architecture.parameters_by_part)


def sane(value: object, name: str = "") -> None:
    """No negative number anywhere."""
    if isinstance(value, dict):
        for key, inner in value.items():
            sane(inner, f"{name}.{key}")
    elif isinstance(value, list):
        for inner in value:
            sane(inner, name)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        assert value >= 0, name


@settings(max_examples=300, suppress_health_check=list(HealthCheck), deadline=None)
@given(mutated())
def test_a_changed_file_is_refused_or_makes_sense(content):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            architecture = read_config(content)
        except InputError as error:
            reason = str(error)
        else:
            reason = ""
            check(architecture)
    assert len(reason) < 2000


@settings(max_examples=100, suppress_health_check=list(HealthCheck), deadline=None)
@given(content=mutated())
def test_the_command_answers_or_says_why_in_one_line(content, tmp_path_factory, capsys):
    answer_or_reason(content, tmp_path_factory.mktemp("model") / "config.json", capsys)


def test_sizes_whose_products_exceed_64_bits(tmp_path, capsys):
    sizes = {"hidden_size": 10**8, "head_dim": 10**8, "num_attention_heads": 10**4,
             "num_key_value_heads": 10**4}
    answer_or_reason(FILES["llama-3.1-8b"] | sizes, tmp_path / "config.json", capsys)


def answer_or_reason(content: dict[str, Any], path: Path, capsys) -> None:
    """Run the command on a file: JSON without a negative number, or one line and exit code 2."""
    path.write_text(json.dumps(content), encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        code = main(["predict", "--model", str(path), "--tp", "8", "--batch", "3"])
    out, err = capsys.readouterr()
    if code == 0:
        assert err == ""
        answer = json.loads(out, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
        sane(answer)
        assert answer["decode"]["flop"] > 0
        assert answer["weight_bytes"] > 0
    else:
        assert (code, out, err.count("\n")) == (2, "", 1)
