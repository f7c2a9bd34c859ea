"""How a service is put together: pools of instances, what each does, and the link between them.

Three designs. *Co-located*: every instance does both phases; prompts go first, and while one is
read no token is written. *Chunked*: every instance does both, and a step carries at most a budget
of tokens: one for each sequence that is being written, the rest pieces of prompts (Sarathi-Serve,
arXiv 2403.02310). *Disaggregated*: one pool reads prompts, another writes, and the KV cache goes
over a link (Splitwise, arXiv 2311.18677; DistServe, arXiv 2401.09670).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from physics.architecture import Architecture
from physics.errors import InputError
from physics.kv_cache import kv_bytes_per_sequence
from physics.machine import Machine
from physics.memory import nearest_that_fits, weight_bytes
from physics.step import prefill

KINDS = ("colocated", "chunked", "disaggregated")

PREFILL_TOKENS = 8192
MAX_BATCH = 256
CHUNK_TOKENS = 512


@dataclass(frozen=True)
class Pool:
    """Instances of one kind: each holds the whole model on the chips of its machine.

    Attributes
    ----------
    machine : Machine
        The chips of one instance, `machine.tp` of them.
    instances : int
    name : str
        'both', 'prefill' or 'decode'.
    """

    machine: Machine
    instances: int = 1
    name: str = "both"

    @property
    def chips(self) -> int:
        """Chips of all its instances."""
        return self.instances * int(self.machine.tp)


@dataclass(frozen=True)
class Design:
    """A way to serve one model; made by `colocated`, `chunked` or `disaggregated`.

    Attributes
    ----------
    pools : tuple of Pool
        One that does both phases, or one for prefill and one for decode.
    weights, kv : str
        Number formats, as in `physics.step`.
    chunk_tokens : int or None
        Most tokens in a step, with prompts read in pieces; None: prompts are read whole.
    prefill_tokens : int
        Most prompt tokens read in one step, where prompts are read whole; a longer prompt is read
        alone.
    max_batch : int
        Most sequences that an instance has under way.
    link : float
        What an instance sends, or receives, of KV cache in a second [B/s].
    overlap : bool
        The cache is sent layer by layer while the prompt is read, not in one piece after it.
    memory_share : float
        How much of the memory weights and KV cache may fill.
    """

    architecture: Architecture
    pools: tuple[Pool, ...]
    weights: str = "bf16"
    kv: str = "bf16"
    chunk_tokens: int | None = None
    prefill_tokens: int = PREFILL_TOKENS
    max_batch: int = MAX_BATCH
    link: float = np.inf
    overlap: bool = False
    memory_share: float = 1.0

    def __post_init__(self) -> None:
        for pool in self.pools:
            if pool.instances < 1:
                raise InputError(pool.name, "must have at least 1 instance")
        for name, value in (
            ("budget", self.chunk_tokens),
            ("prefill-tokens", self.prefill_tokens),
            ("batch", self.max_batch),
        ):
            if value is not None and value < 1:
                raise InputError(name, "must be at least 1")
        if not self.link > 0:
            raise InputError("link", "must be above 0")
        if not 0 < self.memory_share <= 1:
            raise InputError("memory-share", "must be above 0 and at most 1")

    @property
    def kind(self) -> str:
        """Return 'colocated', 'chunked' or 'disaggregated'."""
        if len(self.pools) == 2:
            return "disaggregated"
        return "colocated" if self.chunk_tokens is None else "chunked"

    @property
    def chips(self) -> int:
        """Chips of all pools."""
        return sum(pool.chips for pool in self.pools)

    def room_bytes(self, pool: Pool) -> float:
        """Bytes that the weights leave for KV cache on one instance [B]; may be below 0."""
        machine = pool.machine
        memory = machine.capacity * machine.tp * self.memory_share
        return float(memory - weight_bytes(self.architecture, self.weights, machine.tp))

    def check(self, *, prompt: int, tokens: int) -> None:
        """Refuse requests of which one does not fit even on an empty instance.

        Parameters
        ----------
        prompt, tokens : int
            The longest prompt, and the most tokens of a prompt and its answer.

        Raises
        ------
        InputError
            Saying how much memory is missing, and what would fit.
        """
        for pool in self.pools:
            held = prompt if pool.name == "prefill" else tokens
            on = pool.machine
            needed = float(kv_bytes_per_sequence(self.architecture, held, self.kv, on.tp))
            short = needed - self.room_bytes(pool)
            if short <= 0:
                continue
            where = "" if pool.name == "both" else f" of the {pool.name} pool"
            raise InputError(
                "memory",
                f"one request of {held:,} tokens does not fit on an instance{where}: "
                f"{short / 1e9:.1f} GB short of {on.tp} x {on.capacity / 1e9:.0f} GB"
                + self._would_fit(on, held),
            )

    def _would_fit(self, machine: Machine, tokens: int) -> str:
        nearest = nearest_that_fits(
            self.architecture,
            machine,
            batch=1,
            tokens=tokens,
            weights=self.weights,
            kv=self.kv,
        )
        changes = {"tp": nearest.tp, "weights": nearest.weights, "kv": nearest.kv}
        fitting = [f"{name} {value}" for name, value in changes.items() if value is not None]
        return f"; it would fit with {' or '.join(fitting)}" if fitting else ""


def colocated(
    architecture: Architecture,
    machine: Machine,
    *,
    instances: int = 1,
    **settings: str | float,
) -> Design:
    """Return instances that do both phases, prompts first and whole.

    Parameters
    ----------
    **settings
        Further fields of `Design`.

    Examples
    --------
    >>> from physics.catalogue import model
    >>> from physics.chips import chip
    >>> from physics.machine import machine
    >>> two = colocated(model("llama-3.1-8b"), machine(chip("h100-sxm")), instances=2)
    >>> two.kind, two.chips
    ('colocated', 2)
    """
    return Design(architecture, (Pool(machine, instances),), **settings)


def chunked(
    architecture: Architecture,
    machine: Machine,
    *,
    instances: int = 1,
    chunk_tokens: int = CHUNK_TOKENS,
    **settings: str | float,
) -> Design:
    """Return instances that do both phases in steps of at most `chunk_tokens` tokens."""
    pools = (Pool(machine, instances),)
    return Design(architecture, pools, chunk_tokens=chunk_tokens, **settings)


def disaggregated(
    architecture: Architecture,
    machine: Machine,
    *,
    decode_machine: Machine | None = None,
    prefill_instances: int = 1,
    decode_instances: int = 1,
    **settings: str | float | bool,
) -> Design:
    """Return a pool for prefill and one for decode, on the same kind of chips or on two.

    Examples
    --------
    >>> from physics.catalogue import model
    >>> from physics.chips import chip
    >>> from physics.machine import machine
    >>> split = disaggregated(model("llama-3.1-8b"), machine(chip("h100-sxm")),
    ...                       decode_machine=machine(chip("h20")), decode_instances=3, link=50e9)
    >>> split.kind, split.chips
    ('disaggregated', 4)
    """
    pools = (
        Pool(machine, prefill_instances, "prefill"),
        Pool(decode_machine or machine, decode_instances, "decode"),
    )
    return Design(architecture, pools, **settings)


def kv_bytes_per_second(
    architecture: Architecture, *, prompt: float, rate: float, kv: str = "bf16"
) -> float:
    """Return the KV cache that a rate of requests moves from prefill to decode [B/s].

    Source: DistServe, arXiv 2401.09670, section 3.3 (OPT-66B, 512 tokens, 10 requests a second:
    90 Gbit/s, of 1,024^3 bits).

    Examples
    --------
    >>> from physics.catalogue import model
    >>> moved = kv_bytes_per_second(model("opt-66b"), prompt=512, rate=10)
    >>> moved * 8 / 2**30
    90.0
    """
    return rate * float(kv_bytes_per_sequence(architecture, prompt, kv))


def prefill_per_decode_instance(
    *, prefill_seconds: float, step_seconds: float, batch: float, output: float
) -> float:
    """Return how many prefill instances keep one decode instance busy.

    A decode instance with `batch` sequences ends batch / (output step) requests a second; a
    prefill instance starts one in `prefill_seconds`.

    Source: JAX scaling book, part 8 (Llama-3-70B, 8,192 tokens in, 512 out: 3 to 1).

    Examples
    --------
    >>> round(prefill_per_decode_instance(prefill_seconds=0.91, step_seconds=0.019, batch=32,
    ...                                   output=512), 1)
    3.0
    """
    return prefill_seconds * batch / (output * step_seconds)


def highest_prefill_rate(design: Design, *, prompt: float) -> float:
    """Return the requests a second that the instances which read prompts can start, one by one.

    Beyond it prompts pile up, unless they are short and read together: a scale for rates.
    """
    first = design.pools[0]
    one = prefill(
        design.architecture,
        first.machine,
        batch=1,
        prompt=prompt,
        weights=design.weights,
        kv=design.kv,
    )
    return first.instances / float(one.seconds_sum)
