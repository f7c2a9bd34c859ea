"""What is written down while a simulation runs: moments of every request, steps of every instance.

Token times are kept compactly. An instance logs the ends of its steps that write tokens; a sequence
that is written in steps i ... i + n - 1 of that log needs three numbers, not n. Tokens that a
prefill emits are logged apart.
"""

from __future__ import annotations

from array import array
from math import nan

PREFILL, DECODE, MIXED = range(3)
STEP_KINDS = ("prefill", "decode", "mixed")


class StepLog:
    """The steps of one instance.

    Attributes
    ----------
    token_seconds : array of float
        End of each step in which sequences are written [s].
    start, end, kind, prompt_tokens, prompts, writing, steps : list
        One entry an interval: a step, or several alike one after another. `prompt_tokens`,
        `prompts` and `writing` are those of each step.
    """

    def __init__(self, pool: str) -> None:
        self.pool = pool
        self.token_seconds = array("d")
        self.start: list[float] = []
        self.end: list[float] = []
        self.kind: list[int] = []
        self.prompt_tokens: list[int] = []
        self.prompts: list[int] = []
        self.writing: list[int] = []
        self.steps: list[int] = []

    def interval(
        self,
        kind: int,
        start: float,
        end: float,
        *,
        prompt_tokens: int = 0,
        prompts: int = 0,
        writing: int = 0,
        steps: int = 1,
    ) -> None:
        """Write down a step, or `steps` alike."""
        self.start.append(start)
        self.end.append(end)
        self.kind.append(kind)
        self.prompt_tokens.append(prompt_tokens)
        self.prompts.append(prompts)
        self.writing.append(writing)
        self.steps.append(steps)


class Ledger:
    """Every request: its lengths, how far it is, and when things happened to it.

    Attributes
    ----------
    emitted : list of int
        Output tokens so far.
    single_seconds : array of float
        Moments of tokens that a prefill emitted [s].
    stretches : list of (request, log, first, count)
        Where the tokens of a request are logged; log -1 is `single_seconds`.
    """

    def __init__(self, prompt: list[int], output: list[int], arrival: list[float]) -> None:
        count = len(prompt)
        self.prompt, self.output, self.arrival = prompt, output, arrival
        self.emitted = [0] * count
        self.prefill_start = [nan] * count
        self.first_token = [nan] * count
        self.transfer_start = [nan] * count
        self.transfer_end = [nan] * count
        self.transfer_bytes = [0.0] * count
        self.decode_start = [nan] * count
        self.end = [nan] * count
        self.prefill_instance = [-1] * count
        self.decode_instance = [-1] * count
        self.preemptions = [0] * count
        self.single_seconds = array("d")
        self.stretches: list[tuple[int, int, int, int]] = []

    def to_read(self, request: int) -> int:
        """Tokens that a prefill reads: the prompt, and what a preempted request wrote before."""
        return self.prompt[request] + self.emitted[request]

    def prefilled(self, request: int, now: float) -> bool:
        """Write down the token that a prefill emits; return whether it is the last."""
        if not self.emitted[request]:
            self.first_token[request] = now
        self.emitted[request] += 1
        self.stretches.append((request, -1, len(self.single_seconds), 1))
        self.single_seconds.append(now)
        return self.emitted[request] == self.output[request]
