"""One instance of a service: what it does next, and what it has in memory.

At the end of every step an instance looks at what waits for it and decides on the next step, as
serving engines do (continuous batching). Steps that only write are alike until a sequence ends, so
many are planned at once, and cut short at the end of the step in which something new arrives.

Memory holds the weights and the KV cache that exists, to the token. A prompt is let in when its
cache fits (and, beside others, leaves a hundredth of the memory free). When the next token of those
under way does not fit, the one that joined last is put back to the front of the queue: its cache is
dropped, and its prompt and what it wrote are read again (recomputation, as in vLLM).
"""

from __future__ import annotations

from collections import deque
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from physics.serving.ledger import DECODE, MIXED, PREFILL, Ledger, StepLog
from physics.serving.times import StepTimes

PLAN = 128  # steps planned at once
SPARE = 0.01  # of the memory, left free when a prompt is let in beside others

Tokens = NDArray[np.int64]
NO_TOKENS = np.zeros(0, dtype=np.int64)


def _ends(now: float, seconds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return when steps end that follow one another from `now` on [s].

    Added up in the order of time, so that steps planned together end to the last bit when they
    would have ended one by one: else what comes at the same moment is taken in another order.
    """
    return np.cumsum(np.concatenate([[now], seconds]))[1:]


class Done(Protocol):
    """What an instance reports at the end of a step."""

    def __call__(self, request: int, now: float) -> None:
        """Take a request that ended, or whose prompt was read and that is written elsewhere."""


class Instance:
    """Sequences under way on one instance, and the step that runs.

    Attributes
    ----------
    waiting : deque of int
        Requests whose prompts are to be read, in order.
    arrived : list of int
        Requests whose KV cache has come over the link, to be written from the next step on.
    running : list of int
        Requests that are written, in the order in which they joined.
    reserved, reservations : float, int
        Bytes of cache besides those of `running`, and of how many requests: of prompts being read,
        of caches that are about to arrive, or that wait to be sent [B].
    expected : int
        Requests whose cache is on its way here.
    load : float
        What the router compares.
    version : int
        Counts plans, so that the end of one that was cut short is ignored.
    """

    def __init__(
        self,
        number: int,
        times: StepTimes,
        *,
        room: float,
        max_batch: int,
        ledger: Ledger,
        log: StepLog,
        ended: Done,
        handed_over: Done | None = None,
    ) -> None:
        self.number, self.times, self.room, self.max_batch = number, times, room, max_batch
        self.ledger, self.log = ledger, log
        self.ended, self.handed_over = ended, handed_over
        self.waiting: deque[int] = deque()
        self.arrived: list[int] = []
        self.running: list[int] = []
        self.since: list[int] = []
        self.contexts, self.left = NO_TOKENS, NO_TOKENS
        self.reserved, self.reservations = 0.0, 0
        self.expected, self.load, self.version = 0, 0.0, 0
        self.busy = False
        self.started = 0.0
        self.ends: NDArray[np.float64] | None = None

    # Memory

    def used(self, ahead: int = 0) -> float:
        """Bytes of KV cache, with every running sequence longer by `ahead` tokens [B]."""
        return self.times.kv_bytes_of(self.contexts, ahead) + self.reserved

    def fits(self, size: float, ahead: int = 0) -> bool:
        """Whether `size` more bytes fit, with every running sequence longer by `ahead` tokens."""
        spare = SPARE * self.room if self.running or self.reservations else 0.0
        return self.used(ahead) + size + spare <= self.room

    def reserve(self, size: float) -> None:
        """Keep `size` bytes for the cache of a request."""
        self.reserved += size
        self.reservations += 1

    def release(self, size: float) -> None:
        """Give up what was reserved for a request."""
        self.reservations -= 1
        self.reserved = self.reserved - size if self.reservations else 0.0

    @property
    def under_way(self) -> int:
        """Sequences that have, or will have, a place in the batch."""
        return len(self.running) + self.expected

    def takes(self, size: float, now: float) -> bool:
        """Whether a cache of `size` bytes may be sent here now, in the middle of a step or not."""
        ahead = 0
        if self.busy and self.ends is not None:
            ahead = int(np.searchsorted(self.ends, now)) + 1
        return not self.waiting and self.under_way < self.max_batch and self.fits(size, ahead)

    @property
    def plans_too_far(self) -> bool:
        """Whether the steps that are planned would need more memory than there is."""
        return self.busy and self.ends is not None and self.used(len(self.ends)) > self.room

    # Steps

    def start(self, now: float) -> float | None:
        """Decide on the next step and start it; return when it ends, None if there is none."""
        raise NotImplementedError

    def finish(self, now: float) -> None:
        """Take what the step that ends now has done."""
        raise NotImplementedError

    def interrupt(self, now: float) -> float | None:
        """End the planned steps with the one that runs; return the new end if it is earlier."""
        if not self.busy or self.ends is None:
            return None
        steps = int(np.searchsorted(self.ends, now)) + 1
        if steps >= len(self.ends):
            return None
        self.ends = self.ends[:steps]
        self.version += 1
        return float(self.ends[-1])

    def _plan(self, now: float) -> float | None:
        """Start steps that only write."""
        self._make_room()
        if not self.running:
            return None
        steps = min(int(self.left.min()), PLAN)
        if self.used(steps) > self.room:
            steps = self._steps_that_fit(steps)
        self.ends = _ends(now, self.times.decode_seconds(self.contexts, steps))
        return self._run_until(now, float(self.ends[-1]))

    def _run_until(self, now: float, end: float) -> float:
        self.busy, self.started = True, now
        self.version += 1
        return end

    def _finish_plan(self) -> None:
        ends = self.ends
        self.log.interval(
            DECODE, self.started, float(ends[-1]), writing=len(self.running), steps=len(ends)
        )
        self.log.token_seconds.frombytes(ends.tobytes())
        self._written(len(ends), float(ends[-1]))

    def _written(self, steps: int, now: float) -> None:
        """Add a token of each of `steps` steps to every running sequence; let go who is done."""
        self.contexts = self.contexts + steps
        self.left = self.left - steps
        if self.left.min() > 0:
            return
        for place in np.flatnonzero(self.left == 0).tolist():
            request = self.running[place]
            self._close(request, self.since[place])
            self.ledger.emitted[request] = self.ledger.output[request]
            self.ledger.end[request] = now
            self.ended(request, now)
        self._keep(self.left > 0)

    def _close(self, request: int, since: int) -> None:
        count = len(self.log.token_seconds) - since
        if count:
            self.ledger.stretches.append((request, self.number, since, count))

    def _keep(self, which: NDArray[np.bool_]) -> None:
        chosen = which.tolist()
        self.contexts, self.left = self.contexts[which], self.left[which]
        self.running = [one for one, stays in zip(self.running, chosen, strict=True) if stays]
        self.since = [one for one, stays in zip(self.since, chosen, strict=True) if stays]

    def _join(self, requests: list[int], now: float) -> None:
        """Write these from the next step on; their caches hold all but their newest token."""
        if not requests:
            return
        ledger = self.ledger
        contexts = [ledger.prompt[one] + ledger.emitted[one] - 1 for one in requests]
        left = [ledger.output[one] - ledger.emitted[one] for one in requests]
        self.contexts = np.concatenate([self.contexts, np.array(contexts, dtype=np.int64)])
        self.left = np.concatenate([self.left, np.array(left, dtype=np.int64)])
        self.running += requests
        self.since += [len(self.log.token_seconds)] * len(requests)
        for request in requests:
            ledger.decode_instance[request] = self.number
            if ledger.decode_start[request] != ledger.decode_start[request]:  # not yet: NaN
                ledger.decode_start[request] = now

    # Making room

    def _make_room(self) -> None:
        while self.running and self.used(1) > self.room:
            self._preempt()

    def _preempt(self) -> None:
        """Drop the cache of the sequence that joined last, and let it wait in front."""
        request = self.running[-1]
        self._close(request, self.since[-1])
        self.ledger.emitted[request] = self.ledger.output[request] - int(self.left[-1])
        self.ledger.preemptions[request] += 1
        self.running.pop()
        self.since.pop()
        self.contexts, self.left = self.contexts[:-1], self.left[:-1]
        self.waiting.appendleft(request)

    def _steps_that_fit(self, most: int) -> int:
        low, high = 1, most  # one step fits: room was made
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.used(middle) <= self.room else (low, middle)
        return low


class WholePrompts(Instance):
    """Reads prompts first, several in a step up to a limit of tokens, and whole.

    With `handed_over` it writes nothing: the prefill pool of a disaggregated design.
    """

    def __init__(self, *arguments: object, prefill_tokens: int, **settings: object) -> None:
        super().__init__(*arguments, **settings)
        self.prefill_tokens = prefill_tokens
        self.reading: list[int] = []

    def start(self, now: float) -> float | None:
        """Read what waits and fits; otherwise write."""
        self._take_arrived(now)
        self.reading = self._admit()
        if not self.reading:
            return self._plan(now)
        ledger = self.ledger
        new = np.array([ledger.to_read(one) for one in self.reading])
        for request in self.reading:
            if not ledger.emitted[request]:
                ledger.prefill_start[request] = now
                ledger.prefill_instance[request] = self.number
        self.ends = None
        end = now + self.times.prefill_seconds(new, np.zeros_like(new))
        self.log.interval(
            PREFILL, now, end, prompt_tokens=int(new.sum()), prompts=len(self.reading)
        )
        return self._run_until(now, end)

    def _take_arrived(self, now: float) -> None:
        for request in self.arrived:
            self.release(self.times.kv_bytes(self.ledger.prompt[request] + 1))
        self.expected -= len(self.arrived)
        self._join(self.arrived, now)
        self.arrived = []

    def _admit(self) -> list[int]:
        admitted: list[int] = []
        tokens = 0
        while self.waiting and self.under_way + len(admitted) < self.max_batch:
            request = self.waiting[0]
            new = self.ledger.to_read(request)
            if admitted and tokens + new > self.prefill_tokens:
                break
            size = self.times.kv_bytes(new)
            if not self.fits(size):
                break
            admitted.append(self.waiting.popleft())
            tokens += new
            self.reserve(size)
        return admitted

    def finish(self, now: float) -> None:
        """End the prompts that were read, or the steps that were planned."""
        self.busy = False
        if self.ends is not None:
            self._finish_plan()
            return
        joining = []
        for request in self.reading:
            size = self.times.kv_bytes(self.ledger.to_read(request))
            if self.ledger.prefilled(request, now):
                self.release(size)
                self.ledger.end[request] = now
                self.ended(request, now)
            elif self.handed_over is not None:
                self.handed_over(request, now)
            else:
                self.release(size)
                joining.append(request)
        self.reading = []
        self._join(joining, now)


class Chunks(Instance):
    """Fills every step up to a budget: a token for each sequence, then pieces of prompts."""

    def __init__(self, *arguments: object, chunk_tokens: int, **settings: object) -> None:
        super().__init__(*arguments, **settings)
        self.chunk_tokens = chunk_tokens
        self.max_batch = min(self.max_batch, chunk_tokens)
        self.reading: list[int] = []
        self.read: dict[int, int] = {}
        self.pieces: list[tuple[int, int]] = []
        self.piece_ends: NDArray[np.float64] = np.zeros(0)

    @property
    def under_way(self) -> int:
        """Sequences that have a place in the batch."""
        return len(self.running) + len(self.reading)

    def start(self, now: float) -> float | None:
        """Put a step together."""
        while self.under_way and self.used(1) > self.room:
            self._put_back()
        self.pieces = self._next_pieces(now)
        if not self.pieces:
            return self._plan(now)
        self.ends = None
        self.piece_ends = _ends(now, self._piece_seconds())
        end, writing = float(self.piece_ends[-1]), len(self.running)
        self.log.interval(
            MIXED if writing else PREFILL,
            now,
            end,
            prompt_tokens=sum(tokens for _, tokens in self.pieces),
            prompts=len(self.pieces),
            writing=writing,
            steps=len(self.piece_ends),
        )
        return self._run_until(now, end)

    def _piece_seconds(self) -> NDArray[np.float64]:
        """Time of the next step, or of several while one prompt takes all that the budget leaves.

        Nothing that arrives can change these: there is no room for it in the budget.
        """
        request, tokens = self.pieces[0]
        if tokens < self.chunk_tokens - len(self.running):
            new = np.array([tokens for _, tokens in self.pieces])
            cached = np.array([self.read[request] for request, _ in self.pieces])
            return np.array([self.times.mixed_seconds(self.contexts, new, cached)])
        steps = min((self.ledger.to_read(request) - self.read[request]) // tokens, PLAN)
        if self.running:
            steps = min(steps, int(self.left.min()))
            if self.used(steps) > self.room:
                steps = self._steps_that_fit(steps)
        return self.times.piece_seconds(
            self.contexts, new=tokens, cached=self.read[request], steps=steps
        )

    def _put_back(self) -> None:
        """Drop what came in last: a prompt that is being read, or a running sequence."""
        if not self.reading:
            self._preempt()
            return
        request = self.reading.pop()
        del self.read[request]
        self.release(self.times.kv_bytes(self.ledger.to_read(request)))
        self.ledger.preemptions[request] += 1
        self.waiting.appendleft(request)

    def _next_pieces(self, now: float) -> list[tuple[int, int]]:
        ledger, budget = self.ledger, self.chunk_tokens - len(self.running)
        pieces: list[tuple[int, int]] = []
        place = 0
        while budget > 0:
            if place == len(self.reading) and not self._admit_one(now):
                break
            request = self.reading[place]
            tokens = min(ledger.to_read(request) - self.read[request], budget)
            pieces.append((request, tokens))
            budget -= tokens
            place += 1
        return pieces

    def _admit_one(self, now: float) -> bool:
        if not self.waiting or self.under_way >= self.max_batch:
            return False
        request = self.waiting[0]
        size = self.times.kv_bytes(self.ledger.to_read(request))
        if not self.fits(size + self._one_more_each()):
            return False
        self.waiting.popleft()
        self.reserve(size)
        self.reading.append(request)
        self.read[request] = 0
        if not self.ledger.emitted[request]:
            self.ledger.prefill_start[request] = now
            self.ledger.prefill_instance[request] = self.number
        return True

    def _one_more_each(self) -> float:
        """Bytes that the sequences being written add in the very step that reads a prompt [B]."""
        return self.used(1) - self.used(0)

    def finish(self, now: float) -> None:
        """Take the tokens that were written and the pieces that were read."""
        self.busy = False
        if self.ends is not None:
            self._finish_plan()
            return
        steps = len(self.piece_ends)
        if self.running:
            self.log.token_seconds.frombytes(self.piece_ends.tobytes())
            self._written(steps, now)
        joining = []
        for request, tokens in self.pieces:
            self.read[request] += steps * tokens
            total = self.ledger.to_read(request)
            if self.read[request] < total:
                continue
            self.reading.remove(request)
            del self.read[request]
            self.release(self.times.kv_bytes(total))
            if self.ledger.prefilled(request, now):
                self.ledger.end[request] = now
                self.ended(request, now)
            else:
                joining.append(request)
        self.pieces = []
        self._join(joining, now)
