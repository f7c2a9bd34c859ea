"""From a file to a model: which part of it counts, and what is said about the rest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from physics.architecture import Architecture
from physics.config.families import FAMILIES, NOT_DECODER_ONLY, PLAIN_ACTIVATIONS, Family
from physics.config.fields import Reading, first_name, parse_fields, passed_over
from physics.config.layers import read_layers
from physics.config.mixers import Notes
from physics.config.quantised import read_quantisation
from physics.errors import InputError

LARGEST_FILE = 64 * 2**20

# Where a multimodal model keeps its language part, and its other senses.
_LANGUAGE_PARTS = ("text_config", "language_config", "llm_config", "thinker_config", "llm")
_OTHER_PARTS = {
    "vision_config": "vision tower",
    "audio_config": "audio tower",
    "vision_tower": "vision tower",
    "talker_config": "speech part",
}


def read_config(
    source: str | Path | dict[str, Any], *, slug: str = "", name: str = ""
) -> Architecture:
    """Read a model from a `config.json` file, or from its content.

    Parameters
    ----------
    source : path or dict
    slug, name : str
        How to call the model; by default the file's stem.

    Raises
    ------
    InputError
        Naming the file or the field, and what is allowed.

    Examples
    --------
    >>> tiny = dict(model_type="llama", hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
    ...             num_key_value_heads=2, intermediate_size=128, vocab_size=100,
    ...             tie_word_embeddings=False)
    >>> read_config(tiny, slug="tiny").attention_kind
    'GQA'
    """
    try:
        return _read(
            source if isinstance(source, dict) else _load(Path(source)), source, slug, name
        )
    except RecursionError:
        raise InputError("config", "is nested too deeply for a model's config.json") from None


def _read(
    content: dict[str, Any], source: str | Path | dict[str, Any], slug: str, name: str
) -> Architecture:
    if not isinstance(source, dict):
        slug = slug or Path(source).stem.casefold()
    notes: Notes = {}
    left_out: list[str] = []
    content = _language_part(content, left_out)
    _refuse_other_kinds(content)
    config = Reading(parse_fields(content))
    family = _family(config, notes)
    if (
        config.num_nextn_predict_layers
        + config.mtp_num_hidden_layers
        + config.num_mtp_modules
        + config.use_mtp
    ):
        left_out.append("multi-token-prediction layers (not run in a plain step)")
    if (
        any(name.endswith("ForConditionalGeneration") for name in config.architectures or ())
        and not left_out
    ):
        left_out.append("other senses than text (the file does not describe them)")
    groups = read_layers(config, family, notes)
    if config.kv_heads is None and not (
        config.multi_query or config.kv_lora_rank or config.block_configs or family.own_kv_heads
    ):
        notes["num_key_value_heads is missing: taken as num_attention_heads"] = None
    quantisation = read_quantisation(config, notes)
    for field in config.never_read():
        notes[f"field {field!r} has no use in a model of this build and was passed over"] = None
    for field in passed_over(content):
        notes[f"field {field!r} is not understood and was passed over"] = None
    extra = 0
    if family.positions is not None:
        extra += ((config.longest_context or 0) + family.positions) * config.hidden_size
    per_layer = config.hidden_size_per_layer_input
    if per_layer:
        extra += (
            (config.vocab_size_per_layer_input or config.vocab_size) * per_layer * config.layers
        )
        notes["per-layer input embeddings: their table is counted, their small gates are not"] = (
            None
        )
    return Architecture(
        slug=slug,
        name=name or slug,
        hidden=config.hidden_size,
        vocabulary=config.vocab_size,
        groups=groups,
        tied_head=family.tied if config.tie_word_embeddings is None else config.tie_word_embeddings,
        extra_embedding=extra,
        head_bias=config.vocab_size if family.head_bias else 0,
        norms_per_layer=family.norms_per_layer,
        final_norms=family.final_norms,
        embedding_is_active=family.embedding_is_active,
        longest_context=config.longest_context,
        quantisation=quantisation,
        assumptions=tuple(notes),
        left_out=tuple(left_out),
    )


def _load(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise InputError(
                "model", f"{str(path)!r} is larger than {LARGEST_FILE >> 20} MiB: no config.json is"
            )
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError("model", f"cannot read {str(path)!r}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError("model", f"{str(path)!r} is not a JSON file") from None
    if not isinstance(content, dict):
        raise InputError("model", f"{str(path)!r} must hold one JSON object, a model's config.json")
    return content


def _language_part(content: dict[str, Any], left_out: list[str]) -> dict[str, Any]:
    """Return the fields of the language model, wherever the file keeps them."""
    for key, what in _OTHER_PARTS.items():
        if content.get(key):
            left_out.append(f"{what} ({key})")
    for key in _LANGUAGE_PARTS:
        inner = content.get(key)
        if isinstance(inner, dict):
            outer = {
                name: value
                for name, value in content.items()
                if name
                in ("quantization_config", "tie_word_embeddings", "architectures", "model_type")
            }
            return _language_part(outer | inner, left_out)
    return content


def _refuse_other_kinds(content: dict[str, Any]) -> None:
    kind = content.get("model_type")
    if content.get("is_encoder_decoder") is True:
        raise InputError("is_encoder_decoder", "must be false: only decoder-only models are read")
    if isinstance(kind, str) and kind.casefold() in NOT_DECODER_ONLY:
        raise InputError("model_type", f"{kind!r} is no decoder-only language model with attention")
    built = content.get("architectures")
    if isinstance(built, list) and built and str(kind) not in FAMILIES:
        generating = ("CausalLM", "LMHead", "ConditionalGeneration", "Model")
        if not any(
            (isinstance(one, str) and one.endswith(generating)) or "LMHead" in str(one)
            for one in built
        ):
            raise InputError("architectures", f"{built[0]!r} is no decoder-only language model")


def _family(config: Reading, notes: Notes) -> Family:
    family = FAMILIES.get(config.model_type)
    if family is not None:
        for field in family.expects:
            if not getattr(config, field):
                instead = (
                    f"taken as {family.head_dim}"
                    if field == "head_dim"
                    else "read as a model without it"
                )
                notes[
                    f"{first_name(field)} is missing, which files of type "
                    f"{config.model_type!r} have: {instead}"
                ] = None
        return family
    gated = config.hidden_act not in PLAIN_ACTIVATIONS
    network = "with a gate" if gated else "without a gate"
    what = (
        f"model_type {config.model_type!r} is not known"
        if config.model_type
        else "model_type is missing"
    )
    notes[f"{what}: read as a decoder of Llama's build, networks {network}"] = None
    if config.tie_word_embeddings is None:
        notes["tie_word_embeddings is missing: taken as a separate head"] = None
    return Family(gated=gated)
