"""Number formats of weights and KV cache, and what one element costs in memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from physics.errors import InputError

BITS_PER_ELEMENT = {
    "bf16": 16.0,
    "fp8": 8.0,  # one scale a tensor or a 128 x 128 block: nothing that counts
    "int8": 8.0,  # one scale a channel: nothing that counts
    "q8_0": 8.0 + 16 / 32,  # a 16-bit scale for each group of 32 (llama.cpp)
    "int4": 4.0 + 16 / 128,  # a 16-bit scale for each group of 128 (AWQ, GPTQ)
    "q4_0": 4.0 + 16 / 32,  # a 16-bit scale for each group of 32 (llama.cpp)
    "nvfp4": 4.0 + 8 / 16,  # an 8-bit scale for each group of 16 (NVIDIA)
    "fp4": 4.0 + 8 / 32,  # an 8-bit scale for each group of 32 (OCP MXFP4)
}
"""Bits of one stored element, its share of the scales included."""

WEIGHT_ONLY = ("q8_0", "q4_0", "int4", "fp4")
"""Formats that are expanded to bf16 before they are multiplied."""

PUBLISHED = "published"
"""In place of a format of the weights: as the model's own file stores them."""

ACTIVATION_BYTES = 2.0
"""Activations move between operators in bf16."""


def bytes_per_element(name: str | ArrayLike) -> NDArray[np.float64]:
    """Return the bytes of one element in a format, scales included.

    Parameters
    ----------
    name : str or array_like of str

    Raises
    ------
    InputError
        For an unknown format.

    Examples
    --------
    >>> float(bytes_per_element("bf16")), bytes_per_element(["bf16", "int4"]).tolist()
    (2.0, [2.0, 0.515625])
    """
    try:
        if isinstance(name, str):
            return np.float64(BITS_PER_ELEMENT[name] / 8)
        names = np.asarray(name)
        found, place = np.unique(names, return_inverse=True)
        sizes = np.array([BITS_PER_ELEMENT[item] / 8 for item in found.tolist()])
        return sizes[place].reshape(names.shape)
    except KeyError as error:
        allowed = ", ".join(BITS_PER_ELEMENT)
        raise InputError("format", f"must be one of {allowed}, got {error}") from None


FORMATS_BY_SIZE = tuple(sorted(BITS_PER_ELEMENT, key=BITS_PER_ELEMENT.get, reverse=True))
"""Formats from the largest element to the smallest."""
