"""One prediction as plain named values: what the command prints and a table's rows get."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from physics.architecture import Architecture
from physics.catalogue import model, models
from physics.chips import Chip, chip
from physics.concurrency import concurrent
from physics.config import read_config
from physics.errors import UnknownName
from physics.formats import PUBLISHED, WEIGHT_ONLY
from physics.kv_cache import kv_bytes_per_sequence, kv_bytes_per_token, kv_heads_per_chip
from physics.limits import critical_batch, critical_context
from physics.machine import Machine, machine, side_by_side
from physics.memory import Nearest, bytes_short, max_batch, nearest_that_fits, weight_bytes
from physics.options import DEFAULT_CHIP, DEFAULT_MODEL, OPTIONS
from physics.roofline import ridge_flop_per_byte
from physics.step import Step
from physics.typical import kernels_basis


@dataclass(frozen=True)
class Question:
    """What is asked: the options of the command; the numbers may be arrays of one shape.

    Bandwidth is in GB/s and flops in TFLOP/s, as in the options; None: the chip's own.
    """

    model: str = DEFAULT_MODEL
    chip: str = DEFAULT_CHIP
    prompt: Any = OPTIONS["prompt"].default
    output: Any = OPTIONS["output"].default
    batch: Any = OPTIONS["batch"].default
    tp: int = OPTIONS["tp"].default
    weights: str = OPTIONS["weights"].default
    kv: str = OPTIONS["kv"].default
    bandwidth: Any = None
    flops: Any = None
    efficiency: str = OPTIONS["efficiency"].default
    engine: str = OPTIONS["engine"].default

    def architecture(self) -> Architecture:
        """Return the model: a slug of the catalogue or a path to a config.json."""
        return find_model(self.model)

    def base_chip(self) -> Chip:
        """Return the chip of the catalogue."""
        return chip(self.chip)

    def machine(self) -> Machine:
        """Put the machine together; bandwidth and peak may be arrays."""
        return machine(
            self.base_chip(),
            weights=self.weights,
            architecture=self.architecture() if self.weights == PUBLISHED else None,
            tp=self.tp,
            efficiency=self.efficiency,
            engine=self.engine,
            bandwidth=None if self.bandwidth is None else np.multiply(self.bandwidth, 1e9),
            flops=None if self.flops is None else np.multiply(self.flops, 1e12),
        )


def find_model(name: str) -> Architecture:
    """Return a model of the catalogue, or read it from a path to a config.json.

    Raises
    ------
    InputError
        For an unknown name (with the nearest ones) or a file that cannot be used.
    """
    if str(name).strip().casefold() in models():
        return model(name)
    path = Path(name)
    try:
        is_file = path.suffix == ".json" or path.is_file()
    except (OSError, ValueError):  # a name too long, or with a NUL, for any file
        is_file = False
    return read_config(path) if is_file else model(name)


def parse_question(texts: Mapping[str, str | None]) -> Question:
    """Read the options of one prediction from texts (empty or None: the default).

    Raises
    ------
    InputError
        Naming the option and what is allowed.

    Examples
    --------
    >>> parse_question({"batch": "8", "weights": "fp8"}).batch
    8
    """
    known = {field.name for field in fields(Question)}
    values: dict[str, Any] = {}
    for name, text in texts.items():
        if name not in known:
            raise UnknownName("option", name, known)
        if text is None or str(text).strip() == "":
            continue
        values[name] = OPTIONS[name].parse(text) if name in OPTIONS else str(text).strip()
    question = Question(**values)
    slug = chip(question.chip).slug
    return replace(question, chip=slug)


def predict(question: Question) -> dict[str, Any]:
    """Answer a question with plain numbers, strings and None.

    Examples
    --------
    >>> answer = predict(Question(batch=32))
    >>> answer["fits"], answer["decode"]["bound"]
    (True, 'memory')
    """
    architecture, machine_ = question.architecture(), question.machine()
    answer = {
        name: _plain(value) for name, value in _answer(question, architecture, machine_).items()
    }
    answer["notes"] = _notes(question, architecture, question.base_chip())
    if not answer["fits"]:
        answer["nearest_fit"] = vars(_nearest(question))
    return answer


REMARKS = ("notes", *(f"nearest_fit.{name}" for name in ("batch", "tp", "weights", "kv")))
"""Columns of a table that are words, or exist only for rows that do not fit."""


def remarks(question: Question, *, fits: bool) -> dict[str, Any]:
    """Return what is said of one row of a table besides its numbers."""
    notes = "; ".join(_notes(question, question.architecture(), question.base_chip()))
    nearest = {} if fits else vars(_nearest(question))
    return {"notes": notes} | {name: nearest.get(name.partition(".")[2]) for name in REMARKS[1:]}


def _nearest(question: Question) -> Nearest:
    return nearest_that_fits(
        question.architecture(),
        question.machine(),
        batch=question.batch,
        tokens=question.prompt + question.output,
        weights=question.weights,
        kv=question.kv,
    )


def predict_columns(questions: Sequence[Question]) -> dict[str, np.ndarray]:
    """Answer questions about one model in one pass: a flat column a field ('decode.mfu').

    Parameters
    ----------
    questions : sequence of Question
        All with the same `model`; anything else may differ.

    Examples
    --------
    >>> columns = predict_columns([Question(batch=1), Question(batch=8, chip="h200-sxm")])
    >>> columns["decode.bound"].tolist()
    ['memory', 'memory']
    """
    machines = side_by_side([question.machine() for question in questions])
    together = Question(
        **{
            field.name: np.array([getattr(question, field.name) for question in questions])
            for field in fields(Question)
            if field.name not in ("bandwidth", "flops", "model")
        },
        model=questions[0].model,
    )
    answer = _answer(together, questions[0].architecture(), machines)
    for name in ("assumptions", "left_out"):
        answer[name] = "; ".join(answer[name])
    return {
        name: np.broadcast_to(np.asarray(value), (len(questions),))
        for name, value in _flat(answer).items()
        if not isinstance(value, list | tuple)
    }


def _answer(question: Question, architecture: Architecture, machine_: Machine) -> dict[str, Any]:
    formats = {"weights": question.weights, "kv": question.kv}
    tokens = np.add(question.prompt, question.output)
    short = bytes_short(architecture, machine_, batch=question.batch, tokens=tokens, **formats)
    steady = concurrent(
        architecture,
        machine_,
        prompt=question.prompt,
        output=question.output,
        batch=question.batch,
        **formats,
    )
    asked = steady.together
    fits = short == 0

    def timed(value: Any) -> Any:
        return np.where(fits, value, np.nan)

    return {
        "model": architecture.slug,
        "chip": question.chip,
        "tp": question.tp,
        "weights": question.weights,
        "kv": question.kv,
        "efficiency": question.efficiency,
        "engine": question.engine,
        "prompt": question.prompt,
        "output": question.output,
        "batch": question.batch,
        "peak_flop_per_second": machine_.peak,
        "bandwidth_bytes_per_second": machine_.bandwidth,
        "parameters": architecture.parameters,
        "active_parameters": architecture.active_parameters,
        "parameters_by_part": dict(architecture.parameters_by_part),
        "active_parameters_include_embedding": architecture.embedding_is_active,
        "active_parameters_by_part": architecture.active_parameters_by_part,
        "published_format": architecture.quantisation.method,
        "weight_bytes": weight_bytes(architecture, question.weights),
        "weight_bytes_all_chips": weight_bytes(architecture, question.weights, question.tp),
        "state_bytes_per_sequence": architecture.state_bytes,
        "kv_bytes_per_token": kv_bytes_per_token(architecture, question.kv),
        "kv_bytes_per_sequence": kv_bytes_per_sequence(architecture, tokens, question.kv),
        "kv_bytes_all_chips": question.batch
        * kv_bytes_per_sequence(architecture, tokens, question.kv, question.tp),
        "kv_heads_per_chip": _kv_heads(architecture, question.tp),
        "capacity_bytes": machine_.capacity * question.tp,
        "fits": fits,
        "bytes_short": short,
        "max_batch": max_batch(architecture, machine_, tokens=tokens, **formats),
        "ridge_flop_per_byte": ridge_flop_per_byte(machine_.peak, machine_.bandwidth),
        "critical_batch": critical_batch(
            architecture, machine_.peak, machine_.bandwidth, question.weights
        ),
        "critical_context": critical_context(
            architecture,
            machine_.peak,
            machine_.bandwidth,
            question.kv,
            tp=question.tp,
            peak_ratio=np.divide(machine_.peak, machine_.attention_peak),
        ),
        "ttft_s": timed(asked.ttft_seconds),
        "tpot_s": timed(asked.tpot_seconds),
        "tpot_concurrent_s": timed(steady.tpot_seconds),
        "e2e_s": timed(asked.e2e_seconds),
        "tokens_per_s_user": timed(asked.tokens_per_second_user),
        "tokens_per_s_system": timed(asked.tokens_per_second_system),
        "prefill": _phase(asked.prefill, timed),
        "decode": {"context": asked.prompt + np.maximum(asked.output - 2, 0) / 2}
        | _phase(asked.decode, timed),
        "assumptions": list(architecture.assumptions),
        "left_out": list(architecture.left_out),
    }


def _kv_heads(architecture: Architecture, tp: Any) -> np.ndarray:
    heads = [getattr(attention, "kv_heads", 1) for _, attention in architecture.attentions()]
    return kv_heads_per_chip(max(heads, default=0), tp)


def _phase(step: Step, timed: Any) -> dict[str, Any]:
    totals = dict(zip(("compute", "memory", "communication", "launch"), step.totals, strict=True))
    return {
        "flop": step.flop,
        "bytes": step.bytes,
        "weight_bytes": step.weight_bytes,
        "kv_bytes": step.kv_bytes,
        "activation_bytes": step.activation_bytes,
        "intensity": step.intensity,
        "bound": step.bound,
        "seconds_sum": timed(step.seconds_sum),
        "seconds_overlap": timed(step.seconds_overlap),
        "mfu": timed(step.mfu),
        "mbu": timed(step.mbu),
        **{f"{name}_seconds": timed(value) for name, value in totals.items()},
        "operators": [
            {
                "name": name,
                "flop": step.flop_by_operator[i],
                "weight_bytes": step.weight_bytes_by_operator[i],
                "kv_bytes": step.kv_bytes_by_operator[i],
                "activation_bytes": step.activation_bytes_by_operator[i],
                "intensity": step.intensity_by_operator[i],
                "bound": step.bound_by_operator[i],
                "seconds": timed(step.seconds_by_operator[i]),
            }
            for i, name in enumerate(step.names)
        ],
    }


def _notes(question: Question, architecture: Architecture, chip_: Chip) -> list[str]:
    notes = []
    if chip_.confidence != "A":
        notes.append(f"figures of {chip_.slug} were not re-read at their source")
    if question.bandwidth is not None or question.flops is not None:
        notes.append(f"custom chip, starting from {chip_.slug}")
    if question.efficiency == "typical" and kernels_basis(chip_) != "chip":
        notes.append(
            f"kernels of {chip_.slug} were not measured: the median of "
            + ("its class" if kernels_basis(chip_) == "class" else "all measured chips")
        )
    arithmetic = question.weights
    if question.weights == PUBLISHED:
        arithmetic = architecture.quantisation.arithmetic
    if question.weights in WEIGHT_ONLY:
        notes.append(f"{question.weights} weights are expanded to bf16 before they are multiplied")
    elif arithmetic != "bf16" and chip_.peak(arithmetic) == chip_.bf16_flop_per_second:
        notes.append(f"{chip_.slug} has no faster {arithmetic} arithmetic: it runs at bf16's peak")
    longest, tokens = architecture.longest_context, question.prompt + question.output
    if longest and tokens > longest:
        notes.append(f"{tokens} tokens are more than the {longest} the model was made for")
    heads = [attention.heads for _, attention in architecture.attentions()]
    if heads and question.tp > max(heads):
        notes.append(
            f"{question.tp} chips are more than the {max(heads)} attention heads, "
            "which are replicated"
        )
    return notes


def _plain(value: Any) -> Any:
    """Turn arrays and NumPy scalars into what JSON knows; NaN and infinity become None."""
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        value = value.item()
    if isinstance(value, float):
        if not np.isfinite(value):
            return None
        return int(value) if value.is_integer() and abs(value) < 2**53 else value
    return value


def _flat(answer: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in answer.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{prefix}{name}.")
        else:
            flat[prefix + name] = value
    return flat
