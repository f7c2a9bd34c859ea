"""Kernels timed on real chips, one at a time: matrix products and attention.

`assets/measurements/kernels.csv` holds a part of what its sources measured. Kept are, for chips
of the catalogue:

- bf16 matrix products whose weights have at least 2**26 elements (128 MiB), or, on a chip with
  none as large, of its largest shape. Smaller weights can stay in a cache from one run to the next
  and then seem to beat the memory; of those only the runs of 4096 rows and more are kept, which do
  not depend on it.
- fp8 matrix products of a chip's largest shape, where its weights exceed the chip's L2 cache; of
  other shapes, and in nvfp4, only the runs of 4096 rows and more.
- decode attention over 4096 tokens, and bf16 prefill attention of one prompt.

Of chips that two sources measured only the newer is kept. Left out are int8 weight-only
products, experts and all-reduces.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from physics.chips import chip
from physics.formats import ACTIVATION_BYTES, bytes_per_element
from physics.kv_cache import attended_pairs
from physics.layers import Attention
from physics.measurement_sources import MEASUREMENTS

Array = NDArray[np.float64]

FILE = MEASUREMENTS / "kernels.csv"

PRODUCT, DECODE, PREFILL = "gemm", "decode_attention", "prefill_attention"

MANY_ROWS = 4096
"""Rows from which on a matrix product only computes."""

FEW_ROWS = 16
"""Rows up to which a matrix product only streams its weights."""

_SAME_AS = {"fp16": "bf16"}
"""Formats of the same size that are multiplied at the same peak."""


@dataclass(frozen=True, eq=False)
class Kernels:
    """One kernel of one engine on one chip, timed over growing sizes.

    Attributes
    ----------
    chip : str
        Slug of the catalogue.
    operation : str
        `PRODUCT`, `DECODE` or `PREFILL`.
    dtype : str
        Format of both operands of a product; of the KV cache of an attention (the query is bf16).
    engine : str
        Serving engine and version.
    source : str
        Id of the source, as in `measurement_sources`.
    shape : tuple of int
        (inputs, outputs) of a product; (heads, kv_heads, head_dim) of an attention.
    rows : ndarray
        Rows of the activations, ascending, shape (kernels,): for decode attention the batch, for
        prefill attention the tokens of the prompt.
    tokens : ndarray
        Keys that a sequence holds; 0 for a product.
    seconds, flop, bytes : ndarray
        Measured time [s]; computed work [FLOP] and memory traffic [B].
    """

    chip: str
    operation: str
    dtype: str
    engine: str
    source: str
    shape: tuple[int, ...]
    rows: Array
    tokens: Array
    seconds: Array
    flop: Array
    bytes: Array

    @property
    def intensity(self) -> Array:
        """Arithmetic intensity [FLOP/B]."""
        return self.flop / self.bytes

    @property
    def performance(self) -> Array:
        """Arithmetic achieved [FLOP/s]."""
        return self.flop / self.seconds

    @property
    def traffic(self) -> Array:
        """Memory traffic achieved [B/s]."""
        return self.bytes / self.seconds

    @property
    def peak(self) -> float:
        """The data sheet's peak for this kernel [FLOP/s]; attention computes in bf16."""
        return chip(self.chip).peak(self.dtype if self.operation == PRODUCT else "bf16")

    @property
    def least_seconds(self) -> Array:
        """The data sheet's bound: max(FLOP / peak, bytes / bandwidth) [s]."""
        return np.maximum(self.flop / self.peak, self.bytes / chip(self.chip).bandwidth)

    @property
    def compute_share(self) -> Array:
        """Share of the chip's peak that is achieved."""
        return self.performance / self.peak

    @property
    def memory_share(self) -> Array:
        """Share of the chip's bandwidth that is achieved."""
        return self.traffic / chip(self.chip).bandwidth

    @property
    def streaming(self) -> float:
        """Median memory traffic at `FEW_ROWS` rows and fewer [B/s]; 0 if not measured there."""
        few = self.traffic[self.rows <= FEW_ROWS]
        return float(np.median(few)) if few.size else 0.0

    @property
    def streaming_share(self) -> float:
        """Share of the chip's bandwidth at which weights are streamed."""
        return self.streaming / chip(self.chip).bandwidth

    @property
    def data_sheet_ridge(self) -> float:
        """Ridge of the chip's data sheet for this kernel [FLOP/B]."""
        return self.peak / chip(self.chip).bandwidth

    def at_rows(self, rows: ArrayLike) -> NDArray[np.int64]:
        """Return the index of the measurement nearest to some rows, by ratio."""
        asked = np.log(np.asarray(rows, dtype=float))[..., None]
        return np.abs(asked - np.log(self.rows)).argmin(axis=-1)

    @property
    def queries_per_key(self) -> float:
        """Query heads that share a key-value head."""
        heads, kv_heads, _ = self.shape
        return heads / kv_heads


def product_work(
    rows: ArrayLike, inputs: ArrayLike, outputs: ArrayLike, dtype: str = "bf16"
) -> tuple[Array, Array]:
    """Return FLOP and bytes of one matrix product [FLOP], [B].

    Both operands are in `dtype`, the result in bf16.

    .. math:: 2 m K N, \\quad (m K + K N) b + 2 m N

    Examples
    --------
    >>> flop, size = product_work(1, 8192, 65536)
    >>> round(float(flop / size), 3)
    1.0
    """
    rows = np.asarray(rows, dtype=float)
    weights = np.multiply(inputs, outputs, dtype=float)
    read = (np.multiply(rows, inputs) + weights) * bytes_per_element(dtype)
    return 2.0 * rows * weights, read + np.multiply(rows, outputs) * ACTIVATION_BYTES


def rows_at_intensity(
    intensity: ArrayLike, inputs: int, outputs: int, dtype: str = "bf16"
) -> Array:
    """Return the rows at which a matrix product reaches an intensity; infinite if it never does.

    `product_work` solved for the rows.

    Examples
    --------
    >>> round(float(rows_at_intensity(295.2, 8192, 8192)), 1)
    318.1
    """
    flop, one = product_work(1.0, inputs, outputs, dtype)
    _, none = product_work(0.0, inputs, outputs, dtype)
    lead = flop / np.asarray(intensity, dtype=float) - (one - none)
    with np.errstate(divide="ignore"):
        return np.where(lead > 0, none / np.maximum(lead, 0.0), np.inf)


def ideal_product_seconds(
    rows: ArrayLike,
    inputs: int,
    outputs: int,
    dtype: str,
    peak: ArrayLike,
    bandwidth: ArrayLike,
) -> Array:
    """Return the least time of a matrix product: max(FLOP / peak, bytes / bandwidth) [s].

    Examples
    --------
    >>> one, many = ideal_product_seconds([1, 4096], 8192, 8192, "bf16", 989e12, 3350e9) * 1e6
    >>> round(float(one), 1), round(float(many), 1)
    (40.1, 555.9)
    """
    flop, size = product_work(rows, inputs, outputs, dtype)
    return np.maximum(flop / peak, size / bandwidth)


def attention_work(
    batch: ArrayLike,
    new: ArrayLike,
    tokens: ArrayLike,
    shape: tuple[int, int, int],
    dtype: str = "bf16",
) -> tuple[Array, Array]:
    """Return FLOP and bytes of attention alone, counted as in `operators` [FLOP], [B].

    Parameters
    ----------
    batch, new, tokens : array_like
        Sequences, new tokens of each, and the keys each holds with them.
    shape : tuple of int
        (heads, kv_heads, head_dim).
    dtype : str
        Format of the KV cache.

    Examples
    --------
    >>> flop, size = attention_work(64, 1, 4096, (32, 8, 128))
    >>> round(float(flop / size), 2)
    4.0
    """
    heads, kv_heads, dim = shape
    batch, new, tokens = (np.asarray(value, dtype=float) for value in (batch, new, tokens))
    attention = Attention(heads, kv_heads, dim, dim)
    pairs = attended_pairs(attention, new, tokens - new)
    kept = kv_heads * attention.elements_per_kv_head * bytes_per_element(dtype)
    moved = kept * (tokens + new) + 2.0 * heads * dim * ACTIVATION_BYTES * new
    return attention.flop_per_pair * pairs * batch, moved * batch


@cache
def measured_kernels(slug: str) -> tuple[Kernels, ...]:
    """Return the measured kernels of a chip, in the order of the file; none for most chips.

    Examples
    --------
    >>> sorted({kernels.operation for kernels in measured_kernels("h100-sxm")})
    ['decode_attention', 'gemm', 'prefill_attention']
    """
    found: dict[tuple, list[dict[str, str]]] = {}
    for row in _rows():
        if row["chip"] == slug:
            # All but the time and the size that grows.
            grows = {"rows", "batch", "latency_us"}
            grows |= {"tokens"} if row["operation"] == PREFILL else set()
            found.setdefault(
                tuple(text for name, text in row.items() if name not in grows), []
            ).append(row)
    return tuple(_kernels(rows) for rows in found.values())


@cache
def measured_chips() -> tuple[str, ...]:
    """Return the slugs of the chips with measured kernels, in the order of the file.

    Examples
    --------
    >>> "h100-sxm" in measured_chips(), "mi300x" in measured_chips()
    (True, False)
    """
    return tuple(dict.fromkeys(row["chip"] for row in _rows()))


@cache
def _rows() -> tuple[dict[str, str], ...]:
    with FILE.open(newline="", encoding="utf-8") as file:
        return tuple(csv.DictReader(file))


def _kernels(rows: Sequence[dict[str, str]]) -> Kernels:
    one = rows[0]

    def column(name: str) -> Array:
        return np.array([float(row[name] or 0) for row in rows])

    dtype = _SAME_AS.get(one["dtype"], one["dtype"])
    if one["operation"] == PRODUCT:
        shape: tuple[int, ...] = (int(one["inputs"]), int(one["outputs"]))
        swept = column("rows")
        flop, size = product_work(swept, *shape, dtype)
    else:
        shape = (int(one["heads"]), int(one["kv_heads"]), int(one["head_dim"]))
        batch, tokens = column("batch"), column("tokens")
        new = tokens if one["operation"] == PREFILL else np.ones_like(tokens)
        swept = batch * new
        flop, size = attention_work(batch, new, tokens, shape, dtype)
    order = np.argsort(swept, kind="stable")
    return Kernels(
        chip=one["chip"],
        operation=one["operation"],
        dtype=dtype,
        engine=one["engine"],
        source=one["source"],
        shape=shape,
        rows=swept[order],
        tokens=column("tokens")[order],
        seconds=column("latency_us")[order] / 1e6,
        flop=flop[order],
        bytes=size[order],
    )


def compute_efficiency(slug: str, dtype: str = "bf16") -> float | None:
    """Return the share of a chip's peak that its large matrix products in a format reach.

    The median at `MANY_ROWS` rows and more, all engines together; None where none was measured.

    Examples
    --------
    >>> round(compute_efficiency("h100-sxm"), 2), round(compute_efficiency("h100-sxm", "fp8"), 2)
    (0.79, 0.63)
    """
    shares = [one.compute_share[one.rows >= MANY_ROWS] for one in _products(slug, dtype)]
    found = np.concatenate(shares) if shares else np.empty(0)
    return float(np.median(found)) if found.size else None


def memory_efficiency(slug: str) -> float | None:
    """Return the share of a chip's bandwidth that its large kernels reach.

    The median, over its bf16 products at `FEW_ROWS` rows and fewer and its bf16 decode attentions,
    of the best share that each reaches: smaller sizes fall short by a fixed time, which is another
    constant (`physics.typical`). None for a chip without measured kernels.

    Examples
    --------
    >>> round(memory_efficiency("h100-sxm"), 2)
    0.84
    """
    streams = [one.memory_share[one.rows <= FEW_ROWS] for one in _products(slug, "bf16")]
    streams += [
        one.memory_share
        for one in measured_kernels(slug)
        if (one.operation, one.dtype) == (DECODE, "bf16")
    ]
    best = [share.max() for share in streams if share.size]
    return float(np.median(best)) if best else None


def _products(slug: str, dtype: str) -> list[Kernels]:
    return [
        one for one in measured_kernels(slug) if one.operation == PRODUCT and one.dtype == dtype
    ]


@cache
def fastest_product(slug: str, dtype: str = "bf16") -> Kernels | None:
    """Return the matrix product that streams its weights fastest, of all shapes and engines.

    Examples
    --------
    >>> fastest_product("h200-sxm").shape
    (8192, 65536)
    """
    products = [one for one in _products(slug, dtype) if one.streaming]
    return max(products, key=lambda one: one.streaming) if products else None


def measured_ridge(product: Kernels) -> float:
    """Return the ridge of one matrix product [FLOP/B]: best FLOP/s over median bytes/s.

    The bytes/s are those at `FEW_ROWS` rows and fewer.

    Examples
    --------
    >>> round(measured_ridge(fastest_product("a100-sxm-80gb")))
    163
    """
    return float(product.performance.max()) / product.streaming


def gemm_ridge(slug: str, dtype: str = "bf16") -> float | None:
    """Measured ridge of a chip [FLOP/B]; None without measured kernels.

    That of the matrix product that streams its weights fastest.

    Examples
    --------
    >>> round(gemm_ridge("h200-sxm"))
    181
    """
    product = fastest_product(slug, dtype)
    return None if product is None else measured_ridge(product)


def ridge_range(slug: str, dtype: str = "bf16") -> tuple[float, float] | None:
    """Return the lowest and highest ridge among all products of a chip, engines and shapes apart.

    Examples
    --------
    >>> [round(ridge) for ridge in ridge_range("h100-sxm")]
    [280, 318]
    """
    ridges = [measured_ridge(one) for one in _products(slug, dtype) if one.streaming]
    return (min(ridges), max(ridges)) if ridges else None


def nearest_attention(
    slug: str, operation: str, queries_per_key: float, dtype: str = "bf16"
) -> Kernels | None:
    """Return a chip's measured attention whose heads are shared most nearly as asked.

    Of several the one that reaches most: bytes/s in decode, FLOP/s in prefill.

    Examples
    --------
    >>> decode = nearest_attention("h100-sxm", DECODE, 4)
    >>> decode.engine, decode.shape, round(float(decode.intensity[-1]), 2)
    ('vllm 0.24.0', (32, 8, 128), 4.0)
    """

    def distance(one: Kernels) -> tuple[float, float]:
        reached = one.traffic if operation == DECODE else one.performance
        return (abs(np.log(one.queries_per_key / queries_per_key)), -float(reached.max()))

    found = [
        one for one in measured_kernels(slug) if (one.operation, one.dtype) == (operation, dtype)
    ]
    return min(found, key=distance) if found else None
