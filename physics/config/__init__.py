"""Read a Hugging Face `config.json`: fields, families, layers, quantisation."""

from physics.config.reader import read_config

__all__ = ["read_config"]
