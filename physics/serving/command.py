"""The command `python -m physics simulate`: a design under load, as JSON."""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from physics.errors import InputError
from physics.machine import Machine
from physics.options import DEFAULT_CHIP, DEFAULT_MODEL, OPTIONS, Choice, Number
from physics.predict import Question, parse_question
from physics.serving.design import (
    CHUNK_TOKENS,
    KINDS,
    MAX_BATCH,
    PREFILL_TOKENS,
    Design,
    Pool,
)
from physics.serving.ledger import STEP_KINDS
from physics.serving.result import Result
from physics.serving.simulation import Progress, simulate
from physics.serving.targets import Spread, Targets
from physics.serving.traffic import (
    SHAPES,
    Fixed,
    Lengths,
    LogNormal,
    Traffic,
    concurrent,
    given,
    poisson,
    shape,
)

GIVEN = "given"
MILLISECOND = 1e-3
GIGABYTE = 1e9

SIMULATION_OPTIONS: dict[str, Number | Choice] = {
    option.name: option
    for option in (
        Choice("design", KINDS, "colocated"),
        Number("rate", 0.0001, 1_000_000, 4.0, "requests a second", whole=False),
        Number("concurrency", 1, 1_000_000, None, "requests always under way, in place of a rate"),
        Number("requests", 1, 1_000_000, 1000, "simulated"),
        Number("seed", 0, 2**32 - 1, 0, "of all that is drawn"),
        Choice("lengths", (GIVEN, *SHAPES), GIVEN),
        Number("prompt-spread", 0, 10_000_000, 0.0, "standard deviation, tokens", whole=False),
        Number("output-spread", 0, 1_000_000, 0.0, "standard deviation, tokens", whole=False),
        Number("batch", 1, 1_000_000, MAX_BATCH, "sequences under way on an instance"),
        Number("instances", 1, 1024, 1, "that do both phases"),
        Number("prefill-instances", 1, 1024, 1, "of a disaggregated design"),
        Number("decode-instances", 1, 1024, 1, "of a disaggregated design"),
        Number("prefill-tp", 1, 1024, None, "chips of a prefill instance"),
        Number("decode-tp", 1, 1024, None, "chips of a decode instance"),
        Number("budget", 1, 1_000_000, CHUNK_TOKENS, "tokens in a step of a chunked design"),
        Number("prefill-tokens", 1, 10_000_000, PREFILL_TOKENS, "prompt tokens read in one step"),
        Number("link", 0.001, 1_000_000, 50.0, "GB/s of an instance, for KV caches", whole=False),
        Choice("overlap", ("no", "yes"), "no"),
        Number("memory-share", 1, 100, 100.0, "% for weights and KV cache", whole=False),
        Number("target-ttft", 0.001, 1e7, None, "ms", whole=False),
        Number("target-itl", 0.001, 1e7, None, "ms", whole=False),
        Number("target-tpot", 0.001, 1e7, None, "ms", whole=False),
        Choice("timelines", ("requests", "tokens", "none"), "requests"),
    )
}
"""Options of `simulate` besides those of `predict`; `batch` means something else here."""

CHIPS = ("prefill-chip", "decode-chip")
ARRIVALS = "arrivals"
ARRIVAL_COLUMNS = ("arrival_s", "prompt", "output")
OTHER_OPTIONS = {
    **dict.fromkeys(CHIPS, f"a slug (see the command chips) such as {DEFAULT_CHIP}"),
    ARRIVALS: f"a CSV file with the columns {', '.join(ARRIVAL_COLUMNS)}",
}
"""What the options that are no number and no choice may be."""

OF_A_SPLIT = (
    *CHIPS,
    *("prefill-instances", "decode-instances", "prefill-tp", "decode-tp", "link", "overlap"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options: those of `predict`, and those of a simulation."""
    parser.add_argument("--model", help=f"slug or path to a config.json; {DEFAULT_MODEL}")
    parser.add_argument("--chip", help=f"slug; {DEFAULT_CHIP}")
    for name in CHIPS:
        parser.add_argument(f"--{name}", dest=name, help="slug, of that pool; default --chip")
    parser.add_argument(
        f"--{ARRIVALS}",
        metavar="REQUESTS.CSV",
        help=f"requests as they are, in columns {', '.join(ARRIVAL_COLUMNS)}",
    )
    for option in (OPTIONS | SIMULATION_OPTIONS).values():
        allowed = ", ".join(option.values) if isinstance(option, Choice) else option.allowed()
        default = "" if option.default is None else f"; default {option.default}"
        help_ = f"{allowed}{default}".replace("%", "%%")
        parser.add_argument(f"--{option.name}", dest=option.name, help=help_)


def run(texts: Mapping[str, str | None], out: TextIO | None = None) -> int:
    """Simulate what the options ask for and print it; return the exit code.

    Raises
    ------
    InputError
        Naming the option and what is allowed.
    """
    asked = Asked.read(texts)
    told = _Told(sys.stderr)
    try:
        seen = simulate(asked.design(), asked.traffic(), progress=told)
    except KeyboardInterrupt:
        told.end()
        print(f"python -m physics: cancelled after {told.ended} requests", file=sys.stderr)
        return 130
    told.end()
    write(answer(asked, seen), _timelines(asked, seen), out or sys.stdout)
    return 0


class _Told:
    """Says on a terminal how far the simulation is."""

    def __init__(self, stream: TextIO) -> None:
        self.stream, self.ended, self.shown = stream, 0, False

    def __call__(self, now: Progress) -> None:
        self.ended = now.ended
        if self.stream.isatty():
            print(f"\r{now.ended:,} of {now.requests:,} requests", end="", file=self.stream)
            self.shown = True

    def end(self) -> None:
        if self.shown:
            print("\r" + " " * 60, end="\r", file=self.stream)


@dataclass(frozen=True)
class Asked:
    """The options, read: what is predicted, and what is simulated on it."""

    question: Question
    values: Mapping[str, Any]
    chips: Mapping[str, str]
    arrivals: str | None
    stated: frozenset[str]

    @classmethod
    def read(cls, texts: Mapping[str, str | None]) -> Asked:
        """Read options from texts (empty or None: the default)."""
        stated = {
            name: text for name, text in texts.items() if text is not None and text.strip() != ""
        }
        values = {
            name: option.parse(stated[name]) if name in stated else option.default
            for name, option in SIMULATION_OPTIONS.items()
        }
        own = {*SIMULATION_OPTIONS, *CHIPS, ARRIVALS}
        question = parse_question({name: text for name, text in stated.items() if name not in own})
        chips = {name: stated[name] for name in CHIPS if name in stated}
        asked = cls(question, values, chips, stated.get(ARRIVALS), frozenset(stated))
        asked.refuse_what_does_nothing()
        return asked

    def refuse_what_does_nothing(self) -> None:
        """Raise InputError for an option that the design or the traffic has no use for."""
        design = self.values["design"]
        useless: dict[str, str] = {}
        if design == "disaggregated":
            useless |= dict.fromkeys(
                ("instances",), "a disaggregated design has --prefill-instances, --decode-instances"
            )
        else:
            useless |= dict.fromkeys(OF_A_SPLIT, "only --design disaggregated has two pools")
        if design != "chunked":
            useless["budget"] = "only --design chunked has a budget of tokens"
        else:
            useless["prefill-tokens"] = "--design chunked has --budget"
        if self.arrivals is not None:
            taken = ("rate", "concurrency", "requests", "lengths", "prompt", "output")
            useless |= dict.fromkeys(
                (*taken, "prompt-spread", "output-spread"), f"--{ARRIVALS} says it"
            )
        elif self.values["lengths"] != GIVEN:
            taken = ("prompt", "output", "prompt-spread", "output-spread")
            useless |= dict.fromkeys(taken, "--lengths says it")
        if self.values["concurrency"] is not None:
            useless["rate"] = "--concurrency is in place of it"
        for name in sorted(self.stated & set(useless)):
            raise InputError(name, f"must be left out: {useless[name]}")

    def design(self) -> Design:
        """Put the design together."""
        question, values = self.question, self.values
        if values["design"] == "disaggregated":
            pools = tuple(
                Pool(self._machine(phase), values[f"{phase}-instances"], phase)
                for phase in ("prefill", "decode")
            )
        else:
            pools = (Pool(question.machine(), values["instances"]),)
        return Design(
            question.architecture(),
            pools,
            weights=question.weights,
            kv=question.kv,
            chunk_tokens=values["budget"] if values["design"] == "chunked" else None,
            prefill_tokens=values["prefill-tokens"],
            max_batch=values["batch"],
            link=values["link"] * GIGABYTE,
            overlap=values["overlap"] == "yes",
            memory_share=values["memory-share"] / 100,
        )

    def _machine(self, phase: str) -> Machine:
        name = f"{phase}-chip"
        changes: dict[str, Any] = {}
        if name in self.chips:  # another chip has figures of its own
            changes |= {"chip": self.chips[name], "bandwidth": None, "flops": None}
        if self.values[f"{phase}-tp"] is not None:
            changes["tp"] = self.values[f"{phase}-tp"]
        return replace(self.question, **changes).machine()

    def traffic(self) -> Traffic:
        """Draw, or read, the requests."""
        values = self.values
        if self.arrivals is not None:
            return read_arrivals(self.arrivals)
        prompt, output = self._lengths()
        drawn = {
            "requests": values["requests"],
            "prompt": prompt,
            "output": output,
            "seed": values["seed"],
        }
        if values["concurrency"] is not None:
            return concurrent(values["concurrency"], **drawn)
        return poisson(values["rate"], **drawn)

    def _lengths(self) -> tuple[Lengths, Lengths]:
        if self.values["lengths"] != GIVEN:
            published = shape(self.values["lengths"])
            return published.prompt, published.output
        return tuple(
            LogNormal(mean, spread, most=int(OPTIONS[name].maximum)) if spread else Fixed(mean)
            for name, mean, spread in (
                ("prompt", self.question.prompt, self.values["prompt-spread"]),
                ("output", self.question.output, self.values["output-spread"]),
            )
        )

    def targets(self) -> Targets | None:
        """Return the targets, None if none is given."""
        named = {name: self.values[f"target-{name}"] for name in ("ttft", "itl", "tpot")}
        seconds = {name: value * MILLISECOND for name, value in named.items() if value is not None}
        return Targets(**seconds) if seconds else None


def read_arrivals(name: str) -> Traffic:
    """Read requests from a CSV file with columns arrival_s, prompt, output; in any order of time.

    Raises
    ------
    InputError
        Naming the file, or its line and column.
    """
    try:
        text = Path(name).read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(ARRIVALS, f"must be a CSV file, cannot read {name!r}: {reason}") from None
    reader = csv.DictReader(text.splitlines())
    missing = [column for column in ARRIVAL_COLUMNS if column not in (reader.fieldnames or ())]
    if missing:
        raise InputError(
            ARRIVALS,
            f"must have the columns {', '.join(ARRIVAL_COLUMNS)}; {name} has no {missing[0]}",
        )
    columns = (
        Number("arrival_s", 0, 1e12, None, "seconds", whole=False),
        replace(OPTIONS["prompt"], name="prompt"),
        replace(OPTIONS["output"], name="output"),
    )
    rows = []
    for row in reader:
        try:
            rows.append([column.parse(row[column.name] or "") for column in columns])
        except InputError as error:
            raise InputError(ARRIVALS, f"{name} line {reader.line_num}: {error}") from None
    if not rows:
        raise InputError(ARRIVALS, f"must have at least one request, {name} has none")
    arrival, prompt, output = np.array(sorted(rows, key=lambda row: row[0]), dtype=float).T
    return given(arrival, prompt=prompt, output=output)


def answer(asked: Asked, seen: Result) -> dict[str, Any]:
    """Return all that was found but the timelines, as plain values in SI units."""
    design, targets = seen.design, asked.targets()
    found: dict[str, Any] = {
        "model": design.architecture.slug,
        "design": design.kind,
        "weights": design.weights,
        "kv": design.kv,
        "efficiency": asked.question.efficiency,
        "engine": asked.question.engine,
        "seed": asked.values["seed"],
        "requests": len(seen),
        "rate_per_s": asked.values["rate"] if _at_a_rate(asked) else None,
        "arrived_per_s": seen.traffic.rate,
        "concurrency": seen.traffic.concurrency,
        "lengths": _lengths_of(asked, seen.traffic),
        "chips": design.chips,
        "max_batch": design.max_batch,
        "span_s": seen.span_seconds,
        **{
            f"{name}_s": vars(value)
            for name, value in (
                ("ttft", seen.ttft),
                ("itl", seen.itl),
                ("tpot", seen.tpot),
                ("e2e", seen.e2e),
                ("queue", seen.queue),
            )
        },
        "requests_per_s": seen.requests_per_second,
        "tokens_per_s": seen.tokens_per_second,
        "preemptions": int(seen.preemptions.sum()),
        "targets_s": None if targets is None else vars(targets),
        "attainment": None if targets is None else seen.attainment(targets),
        "goodput_per_s": None if targets is None else seen.goodput(targets),
        "pools": [_pool(seen, place) for place in range(len(design.pools))],
    }
    if design.kind == "chunked":
        found["budget_tokens"] = design.chunk_tokens
    if design.kind == "disaggregated":
        found |= _link(seen)
    return _plain(found)


def _at_a_rate(asked: Asked) -> bool:
    return asked.arrivals is None and asked.values["concurrency"] is None


def _lengths_of(asked: Asked, traffic: Traffic) -> dict[str, Any]:
    found: dict[str, Any] = {"source": None}
    if asked.arrivals is None and asked.values["lengths"] != GIVEN:
        found["source"] = shape(asked.values["lengths"]).source
    for name, tokens in (("prompt", traffic.prompt_tokens), ("output", traffic.output_tokens)):
        found[name] = {
            "mean": tokens.mean(),
            "least": tokens.min(),
            "most": tokens.max(),
        }
    return found


def _pool(seen: Result, place: int) -> dict[str, Any]:
    pool = seen.design.pools[place]
    return {
        "name": pool.name,
        "instances": pool.instances,
        "tp": pool.machine.tp,
        "kv_room_bytes": seen.design.room_bytes(pool),
        "mean_batch": seen.mean_batch(pool.name),
        "utilisation": seen.utilisation(pool.name),
        **{
            f"{name}_utilisation": seen.utilisation(pool.name, kind)
            for kind, name in enumerate(STEP_KINDS)
        },
    }


def _link(seen: Result) -> dict[str, Any]:
    design, moved = seen.design, seen.transfer_bytes
    return {
        "link_bytes_per_s": design.link,
        "overlap": design.overlap,
        "kv_bytes_per_request": moved[moved > 0].mean() if np.any(moved > 0) else 0.0,
        "transfer_s": vars(seen.transfer),
        "link_utilisation": seen.link_utilisation,
    }


def _timelines(asked: Asked, seen: Result) -> list[dict[str, Any]]:
    """Return a plain dictionary for each request."""
    if asked.values["timelines"] == "none":
        return []
    columns: dict[str, Any] = {
        "arrival_s": seen.arrival,
        "prompt": seen.traffic.prompt_tokens,
        "output": seen.traffic.output_tokens,
        "prefill_start_s": seen.prefill_start,
        "first_token_s": seen.first_token,
        "transfer_start_s": seen.transfer_start,
        "transfer_end_s": seen.transfer_end,
        "decode_start_s": seen.decode_start,
        "end_s": seen.end,
        "prefill_instance": seen.prefill_instance,
        "decode_instance": seen.decode_instance,
        "preemptions": seen.preemptions,
    }
    lists = [column.tolist() for column in columns.values()]
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*lists, strict=True)]
    if asked.values["timelines"] == "tokens":
        for place, row in enumerate(rows):
            row["token_s"] = seen.tokens_of(place).tolist()
    return [_plain(row) for row in rows]


def write(found: Mapping[str, Any], timelines: list[dict[str, Any]], out: TextIO) -> None:
    """Print one JSON object; each request's timeline stands on a line."""
    text = json.dumps(found, indent=2, allow_nan=False)
    if timelines:
        lines = ",\n    ".join(json.dumps(row, allow_nan=False) for row in timelines)
        text = text[: -len("\n}")] + f',\n  "timelines": [\n    {lines}\n  ]\n}}'
    print(text, file=out)


def _plain(value: Any) -> Any:
    """Turn NumPy scalars and dataclass values into what JSON knows; NaN and infinity into None."""
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, Spread | Targets):
        return _plain(vars(value))
    if isinstance(value, np.ndarray | np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value
