"""The physics of LLM inference: NumPy only, no user interface."""
