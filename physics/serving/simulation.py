"""Simulate a design under a traffic, step by step, on the step times of `physics`.

Events are arrivals, ends of steps and ends of transfers, in a heap. Steps that only write are
planned many at a time and computed in one vectorised call, as an event for each token would be
most of the work: measured on one core, SimPy 4.1 takes 1.4 µs for an event, and 11 µs where a
process is interrupted, against 0.4 µs for the heap; at batch 1, 256,000 tokens of 1,000 requests
would be 256,000 events with their step times computed one by one. Planned, they are some thousand.

A request goes to the instance with the fewest requests, a prompt in a pool of its own to the one
with the fewest prompt tokens to read; a cache to the instance with the fewest sequences.

What is left out: time to tokenise, to schedule and to answer over the network; prefix caches;
priorities; failures; variance of step times; pipelines over several machines. The first token
counts as seen when its prefill ends, and the second one waits for the cache to arrive.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from heapq import heappop, heappush

from physics.kv_cache import kv_bytes_per_sequence
from physics.serving.design import Design, Pool
from physics.serving.instance import Chunks, Instance, WholePrompts
from physics.serving.ledger import Ledger, StepLog
from physics.serving.result import Result, result
from physics.serving.times import step_times
from physics.serving.traffic import Traffic
from physics.serving.transfer import Links

STEP_END, ARRIVAL, SENT = range(3)
EVERY = 100


@dataclass(frozen=True)
class Progress:
    """How far a simulation is: requests that ended, of all, and the simulated moment [s]."""

    ended: int
    requests: int
    seconds: float


class Cancelled(Exception):
    """A simulation was stopped before its end."""


def simulate(
    design: Design,
    traffic: Traffic,
    *,
    progress: Callable[[Progress], bool | None] | None = None,
) -> Result:
    """Simulate to the end of the last request.

    Parameters
    ----------
    progress : callable, optional
        Called now and then; when it returns False the simulation is cancelled.

    Raises
    ------
    InputError
        If a request does not fit in memory even alone.
    Cancelled
        If `progress` asked for it.

    Examples
    --------
    >>> from physics.catalogue import model
    >>> from physics.chips import chip
    >>> from physics.machine import machine
    >>> from physics.serving.design import chunked, colocated
    >>> from physics.serving.traffic import Fixed, poisson
    >>> llama, h100 = model("llama-3.1-8b"), machine(chip("h100-sxm"))
    >>> traffic = poisson(8, requests=300, prompt=Fixed(2048), output=Fixed(256))
    >>> for design in (colocated(llama, h100), chunked(llama, h100)):
    ...     seen = simulate(design, traffic)
    ...     print(seen.design.kind, round(seen.itl.p99 * 1e3, 1), round(seen.ttft.p50 * 1e3, 1))
    colocated 36.8 34.1
    chunked 9.4 44.2
    """
    steps = simulation(design, traffic)
    while True:
        try:
            now = next(steps)
        except StopIteration as end:
            return end.value
        if progress is not None and progress(now) is False:
            steps.close()
            raise Cancelled(f"cancelled after {now.ended} of {now.requests} requests")


def simulation(
    design: Design, traffic: Traffic, *, every: int = EVERY
) -> Generator[Progress, None, Result]:
    """Simulate in pieces: yield the progress each `every` ended requests, return the result.

    Examples
    --------
    >>> from physics.catalogue import model
    >>> from physics.chips import chip
    >>> from physics.machine import machine
    >>> from physics.serving.design import colocated
    >>> from physics.serving.traffic import Fixed, poisson
    >>> traffic = poisson(1, requests=30, prompt=Fixed(100), output=Fixed(10))
    >>> design = colocated(model("llama-3.1-8b"), machine(chip("h100-sxm")))
    >>> [step.ended for step in simulation(design, traffic, every=10)]
    [10, 20, 30]
    """
    running = _Simulation(design, traffic)
    reported = 0
    for _ in running.moments():
        if running.ended - reported >= every:
            reported = running.ended
            yield Progress(running.ended, len(traffic), running.now)
    return running.result()


class _Simulation:
    """The heap of events, the instances, and who goes where."""

    def __init__(self, design: Design, traffic: Traffic) -> None:
        prompts, outputs = traffic.prompt_tokens, traffic.output_tokens
        tokens = int((prompts + outputs).max())
        design.check(prompt=int(prompts.max()), tokens=tokens)
        self.design, self.traffic = design, traffic
        self.ledger = Ledger(
            prompts.tolist(), outputs.tolist(), traffic.arrival_seconds.astype(float).tolist()
        )
        self.now, self.ended = 0.0, 0
        self.events: list[tuple[float, int, int, int]] = []
        self.instances: list[Instance] = []
        self.logs: list[StepLog] = []
        pools = [self._build(pool, tokens) for pool in design.pools]
        self.first, self.second = pools[0], pools[-1]
        self.split = len(pools) == 2
        self.woken: set[int] = set()
        self.inbox: dict[int, list[int]] = {one.number: [] for one in self.second}
        self.receiver: dict[int, Instance] = {}
        self.bytes_once = kv_bytes_per_sequence(
            design.architecture, range(int(prompts.max()) + 1), design.kv
        )
        self.links = Links(
            senders=len(self.first),
            receivers=len(self.instances),
            bytes_per_second=design.link,
            layers=max(design.architecture.layers, 1),
        )
        self.next_arrival = 0
        self._let_in()

    def _build(self, pool: Pool, tokens: int) -> list[Instance]:
        design = self.design
        times = step_times(
            design.architecture,
            pool.machine,
            weights=design.weights,
            kv=design.kv,
            longest=tokens,
        )
        built = []
        for _ in range(pool.instances):
            log = StepLog(pool.name)
            shared = {
                "room": design.room_bytes(pool),
                "max_batch": design.max_batch,
                "ledger": self.ledger,
                "log": log,
                "ended": self._end,
                "handed_over": self._hand_over if pool.name == "prefill" else None,
            }
            number = len(self.instances)
            one = (
                WholePrompts(number, times, prefill_tokens=design.prefill_tokens, **shared)
                if design.chunk_tokens is None
                else Chunks(number, times, chunk_tokens=design.chunk_tokens, **shared)
            )
            built.append(one)
            self.instances.append(one)
            self.logs.append(log)
        return built

    # Time

    def moments(self) -> Generator[float, None, None]:
        """Go from one moment at which something happens to the next."""
        events = self.events
        while events:
            now = self.now = events[0][0]
            while events and events[0][0] == now:
                _, kind, which, version = heappop(events)
                if kind == STEP_END:
                    self._step_ended(which, version)
                elif kind == ARRIVAL:
                    self._arrived(which)
                else:
                    self._sent(which)
            for number in sorted(self.woken):
                self._start(self.instances[number])
            self.woken.clear()
            yield now

    def _push(self, when: float, kind: int, which: int, version: int = 0) -> None:
        """Note an event; what comes at the same moment is taken by kind and number.

        The order of noting would tell how many steps were planned ahead.
        """
        heappush(self.events, (when, kind, which, version))

    # Arrivals

    def _let_in(self) -> None:
        """Bring the next arrival into the heap: one, or all that come at once at the start."""
        traffic = self.traffic
        if traffic.concurrency is None:
            if self.next_arrival < len(traffic):
                self._push(self.ledger.arrival[self.next_arrival], ARRIVAL, self.next_arrival)
                self.next_arrival += 1
            return
        while self.next_arrival < min(traffic.concurrency, len(traffic)):
            self._push(0.0, ARRIVAL, self.next_arrival)
            self.next_arrival += 1

    def _arrived(self, request: int) -> None:
        instance = min(self.first, key=lambda one: one.load)
        instance.load += self._first_load(request)
        instance.waiting.append(request)
        if len(instance.waiting) == 1 and instance.under_way < instance.max_batch:
            self._notice(instance)
        if self.traffic.concurrency is None:
            self._let_in()

    def _first_load(self, request: int) -> float:
        """Prompt tokens, where prompts are all that a pool works on; requests otherwise."""
        return float(self.ledger.prompt[request]) if self.split else 1.0

    def _notice(self, instance: Instance) -> None:
        """Let an instance look at what has arrived: now, or when its step ends."""
        if not instance.busy:
            self.woken.add(instance.number)
            return
        end = instance.interrupt(self.now)
        if end is not None:
            self._push(end, STEP_END, instance.number, instance.version)

    # Steps

    def _start(self, instance: Instance) -> None:
        if instance.busy:
            return
        end = instance.start(self.now)
        if end is not None:
            self._push(end, STEP_END, instance.number, instance.version)
            if self.design.overlap and instance.handed_over is not None:
                self._send_with_prompts(instance, end)

    def _step_ended(self, number: int, version: int) -> None:
        instance = self.instances[number]
        if not instance.busy or version != instance.version:
            return
        instance.finish(self.now)
        self.woken.add(number)
        if self.split and number in self.inbox:
            self._receive(instance)

    def _end(self, request: int, now: float) -> None:
        self.ended += 1
        if request in self.receiver:
            self.receiver[request].load -= 1
        else:
            self._reader(request).load -= self._first_load(request)
        if self.traffic.concurrency is not None and self.next_arrival < len(self.traffic):
            self.ledger.arrival[self.next_arrival] = now
            self._push(now, ARRIVAL, self.next_arrival)
            self.next_arrival += 1

    # From prefill to decode

    def _hand_over(self, request: int, now: float) -> None:
        """Let a cache that is ready go to the other pool, unless it is on its way."""
        del now
        self._reader(request).load -= self._first_load(request)
        if request in self.receiver:
            return
        instance = self._choose()
        instance.load += 1
        self.inbox[instance.number].append(request)
        self._receive(instance)

    def _reader(self, request: int) -> Instance:
        """Return the instance that read, or reads, a prompt."""
        return self.instances[self.ledger.prefill_instance[request]]

    def _choose(self) -> Instance:
        return min(self.second, key=lambda one: one.load)

    def _receive(self, instance: Instance) -> None:
        """Send for the caches that wait for this instance, as long as they fit."""
        queue = self.inbox[instance.number]
        while queue and self._reserve(queue[0], instance):
            request = queue.pop(0)
            start, end = self.links.after_prompt(
                sender=self.ledger.prefill_instance[request],
                receiver=instance.number,
                size=self._cache_bytes(request),
                now=self.now,
            )
            self._send(request, instance, start, end)

    def _send_with_prompts(self, sender: WholePrompts, end: float) -> None:
        """Send caches layer by layer while their prompts are read, where they fit already."""
        for request in sender.reading:
            instance = self._choose()
            if (
                self.ledger.output[request] == 1
                or self.inbox[instance.number]
                or not self._reserve(request, instance)
            ):
                continue
            instance.load += 1
            start, sent = self.links.with_prompt(
                sender=sender.number,
                receiver=instance.number,
                size=self._cache_bytes(request),
                start=self.now,
                end=end,
            )
            self._send(request, instance, start, sent)

    def _reserve(self, request: int, instance: Instance) -> bool:
        size = instance.times.kv_bytes(self.ledger.prompt[request] + 1)
        if not instance.takes(size, self.now):
            return False
        instance.reserve(size)
        instance.expected += 1
        if instance.plans_too_far:
            self._notice(instance)
        return True

    def _send(self, request: int, instance: Instance, start: float, end: float) -> None:
        self.receiver[request] = instance
        self.ledger.transfer_start[request] = start
        self.ledger.transfer_end[request] = end
        self.ledger.transfer_bytes[request] = self._cache_bytes(request)
        self._push(end, SENT, request)

    def _cache_bytes(self, request: int) -> float:
        """Bytes of the cache of a prompt, each of them once [B]."""
        return float(self.bytes_once[self.ledger.prompt[request]])

    def _sent(self, request: int) -> None:
        sender = self._reader(request)
        sender.release(sender.times.kv_bytes(self.ledger.prompt[request]))
        if not sender.busy:
            self.woken.add(sender.number)
        receiver = self.receiver[request]
        receiver.arrived.append(request)
        self._notice(receiver)

    def result(self) -> Result:
        """Put together what was written down."""
        return result(self.design, self.traffic, self.ledger, self.logs)
