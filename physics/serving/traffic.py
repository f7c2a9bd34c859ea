"""What a server is asked: when requests arrive, how long their prompts and answers are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from physics.errors import InputError, UnknownName

Array = NDArray[np.float64]
Tokens = NDArray[np.int64]

SEED = 0


class Lengths(Protocol):
    """A distribution of numbers of tokens."""

    def draw(self, count: int, random: np.random.Generator) -> Tokens:
        """Draw `count` lengths [tokens]."""
        ...


@dataclass(frozen=True)
class Fixed:
    """Every length the same.

    Examples
    --------
    >>> Fixed(256).draw(3, np.random.default_rng(0)).tolist()
    [256, 256, 256]
    """

    tokens: int

    def draw(self, count: int, random: np.random.Generator) -> Tokens:
        """Return the same length `count` times."""
        del random
        return np.full(count, self.tokens)


@dataclass(frozen=True)
class LogNormal:
    """Lengths whose logarithm is normal, with a given mean and standard deviation.

    Rounded to whole tokens, and brought into the range that is given: the mean of what is drawn
    is a little off where the range cuts.

    Attributes
    ----------
    mean, deviation : float
        Mean and standard deviation of the lengths themselves, before the range [tokens].
    least, most : int
        Shortest and longest length [tokens].

    Examples
    --------
    >>> drawn = LogNormal(mean=1155, deviation=1109).draw(100_000, np.random.default_rng(0))
    >>> round(float(drawn.mean()), -1), round(float(drawn.std()), -1)
    (1150.0, 1120.0)
    """

    mean: float
    deviation: float
    least: int = 1
    most: int = 2**20

    def draw(self, count: int, random: np.random.Generator) -> Tokens:
        """Draw `count` lengths [tokens]."""
        variance = np.log1p((self.deviation / self.mean) ** 2)
        drawn = random.lognormal(np.log(self.mean) - variance / 2, np.sqrt(variance), count)
        return np.clip(np.rint(drawn), self.least, self.most).astype(np.int64)


@dataclass(frozen=True)
class Shape:
    """The lengths of a published trace of requests."""

    prompt: Lengths
    output: Lengths
    source: str


AZURE_2023 = (
    "Azure LLM inference trace 2023 (CC-BY), Patel et al., Splitwise, ISCA 2024; means, deviations "
    "and ranges as stated in Mutinifni/splitwise-sim generate_trace.py@378088013a54"
)

SHAPES = {
    "azure-conversation": Shape(
        LogNormal(1155, 1109, 2, 14050), LogNormal(211, 163, 7, 1000), AZURE_2023
    ),
    "azure-code": Shape(LogNormal(2048, 1973, 3, 7437), LogNormal(28, 60, 6, 1899), AZURE_2023),
}
"""Lengths of published traces, as log-normal distributions with the trace's mean and deviation.

The traces themselves have peaks that no log-normal has (many conversations repeat a prompt of about
4,080 tokens), and a long prompt says something about its answer; that is left out.
"""


def shape(name: str) -> Shape:
    """Return the lengths of a published trace.

    Examples
    --------
    >>> shape("azure-code").prompt.mean
    2048
    """
    found = SHAPES.get(str(name).strip().casefold())
    if found is None:
        raise UnknownName("lengths", name, SHAPES)
    return found


@dataclass(frozen=True, eq=False)
class Traffic:
    """Requests in the order in which they arrive.

    Attributes
    ----------
    arrival_seconds : ndarray
        Moments of arrival, rising [s]; NaN where a request waits for another to end.
    prompt_tokens, output_tokens : ndarray of int
        Tokens of each prompt and of each answer.
    concurrency : int or None
        Requests under way at any moment: each that ends lets the next one in. None: requests come
        when they come.
    """

    arrival_seconds: Array
    prompt_tokens: Tokens
    output_tokens: Tokens
    concurrency: int | None = None

    def __post_init__(self) -> None:
        for name, tokens in (("prompt", self.prompt_tokens), ("output", self.output_tokens)):
            if len(tokens) != len(self.arrival_seconds):
                raise InputError(name, "must be as many as there are arrivals")
            if not np.all(tokens >= 1):
                raise InputError(name, "must be at least 1 token")
        open_loop = self.concurrency is None
        if not len(self):
            raise InputError("requests", "must be at least 1")
        if open_loop and not np.all(np.isfinite(self.arrival_seconds)):
            raise InputError("arrivals", "must be finite numbers of seconds")
        if open_loop and np.any(np.diff(self.arrival_seconds) < 0):
            raise InputError("arrivals", "must rise from each request to the next")

    def __len__(self) -> int:
        return len(self.arrival_seconds)

    @property
    def rate(self) -> float:
        """Requests per second that arrive: N - 1 over the time from the first to the last."""
        if self.concurrency is not None or len(self) < 2:
            return float("nan")
        lasted = self.arrival_seconds[-1] - self.arrival_seconds[0]
        return float((len(self) - 1) / lasted) if lasted > 0 else float("inf")


@dataclass(frozen=True)
class Load:
    """Requests of which only the rate is open: designs and rates are compared on the same ones.

    At another rate the same requests come in the same order, the gaps between them all shorter or
    longer by the same factor.

    Examples
    --------
    >>> load = Load(requests=100, prompt=Fixed(2048), output=Fixed(256))
    >>> slow, fast = load.at(1), load.at(4)
    >>> bool(np.allclose(slow.arrival_seconds, 4 * fast.arrival_seconds))
    True
    """

    requests: int
    prompt: Lengths
    output: Lengths
    seed: int = SEED

    def at(self, rate: float) -> Traffic:
        """Return the requests, arriving at random and `rate` a second on average."""
        return poisson(
            rate, requests=self.requests, prompt=self.prompt, output=self.output, seed=self.seed
        )


def poisson(
    rate: float,
    *,
    requests: int,
    prompt: Lengths,
    output: Lengths,
    seed: int = SEED,
) -> Traffic:
    """Draw requests that arrive independently of each other, `rate` a second on average.

    Gaps are exponential. The same seed gives the same lengths, and the same gaps but for the rate.

    Examples
    --------
    >>> traffic = poisson(4, requests=1000, prompt=Fixed(2048), output=Fixed(256))
    >>> round(traffic.rate, 1)
    3.9
    """
    if not 0 < rate < np.inf:
        raise InputError("rate", "must be a finite number above 0")
    random = np.random.default_rng(seed)
    arrivals = np.cumsum(random.exponential(size=_count(requests))) / rate
    return given(
        arrivals, prompt=prompt.draw(requests, random), output=output.draw(requests, random)
    )


def given(arrival_seconds: ArrayLike, *, prompt: ArrayLike, output: ArrayLike) -> Traffic:
    """Take requests as they are: moments [s], prompts and answers [tokens].

    Examples
    --------
    >>> given([0.0, 0.5], prompt=[2048, 512], output=256).output_tokens.tolist()
    [256, 256]
    """
    arrivals = np.atleast_1d(np.asarray(arrival_seconds, dtype=float))
    return Traffic(
        arrivals, _tokens("prompt", prompt, arrivals), _tokens("output", output, arrivals)
    )


def concurrent(
    concurrency: int,
    *,
    requests: int,
    prompt: Lengths,
    output: Lengths,
    seed: int = SEED,
) -> Traffic:
    """Draw requests of which always `concurrency` are under way, as in most load tests.

    The first ones come together at 0; each that ends lets the next one in.
    """
    if concurrency < 1:
        raise InputError("concurrency", "must be at least 1")
    random = np.random.default_rng(seed)
    arrivals = np.full(_count(requests), np.nan)
    arrivals[:concurrency] = 0.0
    return Traffic(
        arrivals, prompt.draw(requests, random), output.draw(requests, random), int(concurrency)
    )


def _count(requests: int) -> int:
    if requests < 1:
        raise InputError("requests", "must be at least 1")
    return int(requests)


def _tokens(name: str, tokens: ArrayLike, arrivals: Array) -> Tokens:
    try:
        broadcast = np.broadcast_to(tokens, arrivals.shape)
    except ValueError:
        raise InputError(name, "must be one number, or one for each arrival") from None
    if not np.all(broadcast == np.rint(broadcast)):
        raise InputError(name, "must be whole numbers of tokens")
    return broadcast.astype(np.int64)
