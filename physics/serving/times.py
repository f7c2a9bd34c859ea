"""Seconds of steps over sequences of different lengths, looked up fast.

`physics.step` computes a batch of equal sequences. In a server they differ: every sequence has its
own context, and a step may carry pieces of prompts beside the tokens that are being written. What
an operator does then is summed over the sequences before its time is taken:

- an operator that works on activations alone (linear layers, experts, all-reduces) sees all rows
  together and reads its weights once;
- one that works on what a sequence keeps (attention, indexers, recurrences, the expansion of a
  latent cache) adds up FLOP and bytes over the sequences, and takes the larger of its two times.
  Sequences that read a prompt and sequences that write are different kernels, one after the other.

All of it comes from tables that `step` fills once for a model on a machine, so that nothing is
approximated: a batch of equal sequences takes what `step` says to rounding (1e-12), and attention
without a window takes what `step` says at the mean context.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from physics.architecture import Architecture
from physics.errors import InputError
from physics.kv_cache import kv_bytes_per_sequence
from physics.machine import Machine
from physics.step import Step, step

Array = NDArray[np.float64]
Tokens = NDArray[np.int64]

LONGEST = 2**20
"""Tokens of the longest sequence that tables are made for."""

BLOCK = 8192  # tokens of a table computed in one call, so that temporary arrays stay small
ROWS = 256  # batch sizes computed in one call, when the first of them is asked for
STRAIGHT = 1e-12  # how far, of its largest value, a table may be from a straight line


@dataclass(frozen=True)
class _Sum:
    """Values of contexts 0, 1, ... of one sequence, to be summed over many sequences.

    Attributes
    ----------
    values : ndarray
        One value a context.
    line : (float, float) or None
        Value at 0 and slope, where the values lie on a straight line.
    """

    values: Array
    line: tuple[float, float] | None

    @classmethod
    def of(cls, values: Array) -> _Sum:
        """Find out whether the values lie on a straight line."""
        last = len(values) - 1
        slope = (values[-1] - values[0]) / last
        away = np.abs(values - (values[0] + slope * np.arange(last + 1))).max()
        straight = away <= STRAIGHT * np.abs(values).max()
        return cls(values, (float(values[0]), float(slope)) if straight else None)

    def after(self, contexts: Tokens, total: int, ahead: Array) -> Array:
        """Sum over sequences whose contexts sum to `total`, each longer by each of `ahead`."""
        if self.line is not None:
            start, slope = self.line
            return start * len(contexts) + slope * (total + len(contexts) * ahead)
        stride = self.values.strides[0]
        rows = as_strided(
            self.values,
            (len(self.values) - len(ahead) + 1, len(ahead)),
            (stride, stride),
            writeable=False,
        )
        return rows[contexts].sum(axis=0)


@dataclass(frozen=True)
class _Kept:
    """An operator that works on what sequences keep, in the step that writes one token each."""

    compute: _Sum
    memory: _Sum
    once_seconds: float
    launch_seconds: float


class StepTimes:
    """Step times of one model on one machine, for contexts up to `longest` tokens.

    Examples
    --------
    >>> from physics.catalogue import model
    >>> from physics.chips import chip
    >>> from physics.machine import machine
    >>> from physics.step import decode
    >>> llama, h100 = model("llama-3.1-8b"), machine(chip("h100-sxm"))
    >>> times = StepTimes(llama, h100, longest=4096)
    >>> mixed = times.decode_seconds(np.array([1000, 3000]), steps=1)[0]
    >>> bool(np.isclose(mixed, decode(llama, h100, batch=2, context=2000).seconds_sum, rtol=1e-12))
    True
    """

    def __init__(
        self,
        architecture: Architecture,
        machine: Machine,
        *,
        weights: str = "bf16",
        kv: str = "bf16",
        longest: int = 4096,
    ) -> None:
        if any(machine.shapes()):
            raise InputError("machine", "must be one machine, with plain numbers as its figures")
        if not 1 <= longest <= LONGEST:
            raise InputError("prompt", f"prompt and output must be at most {LONGEST:,} tokens")
        self._architecture, self._machine = architecture, machine
        self._formats = {"weights": weights, "kv": kv}
        self.longest = longest
        self._ahead = np.arange(longest + 1, dtype=float)
        self._write = self._writing()
        self._read_prompts()
        contexts = np.arange(longest + 2)
        self._kv_bytes = kv_bytes_per_sequence(architecture, contexts, kv, machine.tp)
        self._kv_sum = _Sum.of(self._kv_bytes[1:])
        self._rows: dict[int, Array] = {}

    # What is kept in memory

    def kv_bytes(self, tokens: int) -> float:
        """Bytes that a sequence of `tokens` keeps on all chips together [B]."""
        return float(self._kv_bytes[tokens])

    def kv_bytes_of(self, contexts: Tokens, ahead: int = 0) -> float:
        """Bytes that sequences keep when each is longer by `ahead` tokens [B]."""
        if self._kv_sum.line is not None:
            start, slope = self._kv_sum.line
            count = len(contexts)
            return start * count + slope * (float(contexts.sum()) + count * (ahead - 1))
        return float(self._kv_bytes[contexts + ahead].sum())

    # Steps

    def decode_seconds(self, contexts: Tokens, steps: int) -> Array:
        """Time of each of `steps` steps that write a token for every sequence [s].

        Parameters
        ----------
        contexts : ndarray of int
            Cached tokens of each sequence before the first step.
        """
        seconds = np.full(steps, self._together(len(contexts), len(contexts), len(contexts)))
        return seconds + self._writing_seconds(contexts, steps)

    def prefill_seconds(self, new: Tokens, cached: Tokens) -> float:
        """Time of a step that reads `new` tokens of each sequence after `cached` ones [s]."""
        return self._together(int(new.sum()), len(new), 0) + self._reading_seconds(new, cached)

    def mixed_seconds(self, contexts: Tokens, new: Tokens, cached: Tokens) -> float:
        """Time of a step that writes one token for some sequences and reads prompts of others [s].

        Parameters
        ----------
        contexts : ndarray of int
            Cached tokens of the sequences that write; may be empty.
        new, cached : ndarray of int
            Tokens read of each prompt, and those of it that were read before.
        """
        batch = len(contexts)
        seconds = self._together(batch + int(new.sum()), batch + len(new), batch)
        if batch:
            seconds += float(self._writing_seconds(contexts, 1)[0])
        return seconds + self._reading_seconds(new, cached)

    def piece_seconds(self, contexts: Tokens, *, new: int, cached: int, steps: int) -> Array:
        """Time of each of `steps` steps that write, and read the next `new` tokens of a prompt [s].

        As `mixed_seconds`, with one prompt, whose pieces are alike and follow one another.
        """
        batch, before = len(contexts), cached + new * np.arange(steps)
        seconds = self._reading_of_each(np.full(steps, new), before)
        seconds += self._together(batch + new, batch + 1, batch) + self._read_launch
        if batch:
            seconds += self._writing_seconds(contexts, steps)
        return seconds

    # Tables

    def _step(self, *, batch: Array | int, new: Array | int, cached: Array | int, absorbed: bool):
        return step(
            self._architecture,
            self._machine,
            batch=batch,
            new_tokens=new,
            cached_tokens=cached,
            absorbed=absorbed,
            **self._formats,
        )

    def _along(self, first: int, **fixed: int | bool) -> tuple[Array, Array, Step]:
        """Compute and memory seconds of kept operators for first ... longest of the free one."""
        free = "cached" if "new" in fixed else "new"
        parts = []
        for start in range(first, self.longest + 1, BLOCK):
            values = np.arange(start, min(start + BLOCK, self.longest + 1))
            one = self._step(batch=1, **{free: values}, **fixed)
            kept = _is_kept(one)
            parts.append((one.compute_seconds[kept], one.memory_seconds[kept]))
        compute, memory = (np.concatenate(part, axis=1) for part in zip(*parts, strict=True))
        return compute, memory - self._once(one)[:, None], one

    def _once(self, one: Step) -> Array:
        """Seconds to read the weights of kept operators, once a step however many sequences."""
        on = self._machine
        kept = _is_kept(one)
        size = one.weight_bytes_by_operator[kept, 0] / on.tp
        return size / (on.bandwidth * np.asarray(on.efficiency.memory))

    def _writing(self) -> list[_Kept]:
        compute, memory, one = self._along(0, new=1, absorbed=True)
        launch = one.launch_seconds[_is_kept(one), 0]
        return [
            _Kept(_Sum.of(row), _Sum.of(other), float(once), float(start))
            for row, other, once, start in zip(
                compute, memory, self._once(one), launch, strict=True
            )
        ]

    def _read_prompts(self) -> None:
        """Tables of reading n tokens after c: compute f(n + c) - f(c), memory m(n) + v(c).

        The expansion of a latent cache works on all n + c tokens, so that nothing is taken off.
        """
        compute, memory, one = self._along(1, cached=0, absorbed=False)
        nothing = np.zeros((len(compute), 1))
        self._read_compute = np.concatenate([nothing, compute], axis=1)
        self._read_memory = np.concatenate([nothing, memory], axis=1)
        later = self._along(0, new=1, absorbed=False)[1]
        self._read_again = later - later[:, :1]
        kept = _is_kept(one)
        names = [name for name, is_kept in zip(one.names, kept, strict=True) if is_kept]
        self._taken_off = np.array([0.0 if name == "kv_up" else 1.0 for name in names])[:, None]
        self._read_once = self._once(one)
        self._read_launch = float(one.launch_seconds[kept, 0].sum())

    # Sums

    def _writing_seconds(self, contexts: Tokens, steps: int) -> Array:
        total, ahead = int(contexts.sum()), self._ahead[:steps]
        seconds = np.zeros(steps)
        for one in self._write:
            compute = one.compute.after(contexts, total, ahead)
            memory = one.memory.after(contexts, total, ahead)
            memory += one.once_seconds
            seconds += np.maximum(compute, memory)
            seconds += one.launch_seconds
        return seconds

    def _reading(self, new: Tokens, cached: Tokens) -> tuple[Array, Array]:
        """Compute and memory seconds of each kept operator for each piece of a prompt."""
        before = self._taken_off * self._read_compute[:, cached]
        compute = self._read_compute[:, new + cached] - before
        return compute, self._read_memory[:, new] + self._read_again[:, cached]

    def _reading_seconds(self, new: Tokens, cached: Tokens) -> float:
        """All pieces in one step."""
        compute, memory = self._reading(new, cached)
        busy = np.maximum(compute.sum(axis=1), memory.sum(axis=1) + self._read_once)
        return float(busy.sum()) + self._read_launch

    def _reading_of_each(self, new: Tokens, cached: Tokens) -> Array:
        """Each piece in a step of its own."""
        compute, memory = self._reading(new, cached)
        return np.maximum(compute, memory + self._read_once[:, None]).sum(axis=0)

    def _together(self, rows: int, sequences: int, writing: int) -> float:
        """Seconds of what is done on all rows together, of the head, and of absorbed matrices."""
        seconds = self._by_rows(rows)[0] + self._by_rows(sequences)[1]
        return float(seconds + self._by_rows(writing)[2] if writing else seconds)

    def _by_rows(self, rows: int) -> Array:
        block, place = divmod(rows, ROWS)
        table = self._rows.get(block)
        if table is None:
            batches = np.maximum(np.arange(block * ROWS, (block + 1) * ROWS), 1)
            one = self._step(batch=batches, new=1, cached=0, absorbed=True)
            names = np.array(one.names)
            seconds = one.seconds_by_operator
            head, absorb = names == "head", names == "absorb"
            rest = ~(head | absorb | _is_kept(one))
            table = np.stack([seconds[part].sum(axis=0) for part in (rest, head, absorb)], axis=1)
            self._rows[block] = table
        return table[place]


def _is_kept(one: Step) -> NDArray[np.bool_]:
    """Which operators depend on what sequences keep, and not on the rows alone."""
    return one.is_attention | (np.array(one.names) == "kv_up")


@lru_cache(maxsize=8)
def _step_times(
    architecture: Architecture, machine: Machine, weights: str, kv: str, longest: int
) -> StepTimes:
    return StepTimes(architecture, machine, weights=weights, kv=kv, longest=longest)


def step_times(
    architecture: Architecture,
    machine: Machine,
    *,
    weights: str = "bf16",
    kv: str = "bf16",
    longest: int = 4096,
) -> StepTimes:
    """Return step times for contexts up to `longest` at least, kept for the next time."""
    room = min(max(1 << (int(longest) - 1).bit_length(), 1024), LONGEST)
    on = replace(machine, capacity=np.inf)  # which no step time depends on
    return _step_times(architecture, on, weights, kv, max(room, int(longest)))
