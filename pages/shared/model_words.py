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
