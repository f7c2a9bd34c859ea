"""How a model's kind of attention is called in a language."""

from __future__ import annotations

from pages.shared.language import Words
from physics.architecture import Architecture


def attention_text(architecture: Architecture, words: Words) -> str:
    """Return the kind of attention in a few words.

    Examples
    --------
    >>> from physics.catalogue import model
    >>> attention_text(model("gpt-oss-120b"), Words("it"))
    'GQA + finestra'
    """
    translated = {
        "window": words("kind.window"),
        "none": words("kind.none"),
        "sparse MLA": words("kind.sparse_mla"),
        "linear": words("kind.linear"),
    }
    parts = architecture.attention_kind.split(" + ")
    return " + ".join(translated.get(part, part) for part in parts)


def short_attention_text(architecture: Architecture, words: Words) -> str:
    """Return the kind of attention in one word, the one that tells most.

    Examples
    --------
    >>> from physics.catalogue import model
    >>> [short_attention_text(model(slug), Words("en"))
    ...  for slug in ("llama-2-7b", "gemma-3-27b", "nemotron-3-nano-30b-a3b")]
    ['MHA', 'window', 'hybrid']
    """
    if architecture.state_bytes:
        return words("kind.hybrid")
    if any(attention.window for _, attention in architecture.attentions()):
        return words("kind.window")
    return attention_text(architecture, words)
