"""The start page: one request in time, at the computed speed (S3, S4, S12)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pages.shared import colours, numbers
from pages.shared.case import Case, or_misfit, pick
from pages.shared.figures import timeline, ttft
from pages.shared.language import Words
from pages.shared.player.view import (
    Column,
    Description,
    Growing,
    Readout,
    Section,
    Timeline,
)
from pages.shared.player_words import clock, player_words, sliders
from pages.shared.points import Points, points_from
from pages.shared.scenario import Scenario
from pages.shared.sources import Source
from physics.kv_cache import kv_bytes_per_sequence
from physics.machine import read_seconds
from physics.memory import bytes_short
from physics.request import token_seconds
from physics.step import prefill

MOST_TICKS = 40
"""Tokens drawn as ticks; a longer answer is drawn by every n-th token."""

MOST_MOMENTS = 200
"""Stops of the clock after the first token."""

PREFILL_MOMENTS = 8


class OneRequest:
    """A timeline that plays, and the TTFT against the prompt's length."""

    name = "one-request"
    sliders = ("prompt", "output", "batch", "bandwidth", "flops")
    next = ("roofline", "kv-cache")
    sources = (
        Source(
            "NVIDIA NIM: metrics of LLM inference",
            "https://docs.nvidia.com/nim/benchmarking/llm/latest/metrics.html",
        ),
        Source(
            "Databricks: LLM inference performance engineering",
            "https://www.databricks.com/blog/llm-inference-performance-engineering-best-practices",
        ),
        Source(
            "Pope et al.: Efficiently scaling transformer inference (2022)",
            "https://arxiv.org/abs/2211.05102",
        ),
    )

    def describe(self, scenario: Scenario, language: Words) -> Description:
        """Say what stands on the page."""
        words = language
        return Description(
            figures=(
                timeline.skeleton(_timeline_texts(words), words.separators),
                ttft.skeleton(_ttft_texts(words), words.separators),
            ),
            readouts=(
                Readout("ttft", words("one-request.ttft"), colours.PREFILL.colour),
                Readout("itl", words("one-request.itl"), colours.DECODE.colour),
                Readout("e2e", words("one-request.e2e")),
                Readout("speed", words("one-request.speed"), colours.DECODE.colour),
            ),
            sliders=sliders(self.sliders, words),
            play=clock(words),
            words=player_words(words),
            stream="stream",
            sections=(
                Section(words("section.formula"), "formula"),
                Section(words("section.honest"), "honest"),
                Section(words("section.takeaway"), "takeaway"),
            ),
        )

    def columns(self, points: Points, language: Words) -> Mapping[str, Column]:
        """Compute all channels; everything has happened."""
        words, case = language, Case(points)
        asked = _timed(case)
        write = _write(case, words)
        single = points.output == 1
        sweep = prefill(
            case.architecture,
            case.machine_with(points.bandwidth[:, None], points.flops[:, None]),
            batch=points.batch[:, None],
            prompt=ttft.PROMPTS,
            **case.formats,
        )
        weight_seconds = read_seconds(
            sweep.weight_bytes, case.machine_with(points.bandwidth[:, None], points.flops[:, None])
        )
        sweep_fits = (
            bytes_short(
                case.architecture,
                case.machine,
                batch=points.batch[:, None],
                tokens=ttft.PROMPTS + points.output[:, None],
                **case.formats,
            )
            == 0
        )
        misfits = case.misfit(words)
        return {
            **timeline.columns(
                asked,
                [
                    list(row)
                    for row in zip(
                        words.each("one-request.ttft_label", write),
                        words.each("one-request.itl_label", write),
                        words.each("one-request.e2e_label", write),
                        strict=True,
                    )
                ],
                [
                    list(row)
                    for row in zip(
                        words.each("one-request.prefill_label", write),
                        pick(
                            single,
                            [""] * len(points),
                            words.each("one-request.decode_label", write),
                        ),
                        strict=True,
                    )
                ],
                words.each("one-request.cache_label", write),
            ),
            **ttft.columns(
                np.where(sweep_fits, sweep.seconds_sum, np.nan),
                weight_seconds,
                points.prompt,
                asked.ttft,
                write["ttft"],
                words("one-request.weights_label"),
            ),
            "t/ttft": or_misfit(write["ttft"], case.short_misfit(words)),
            "t/itl": pick(
                case.fits,
                pick(
                    single,
                    [words("one-request.no_step")] * len(points),
                    words.each("one-request.itl_readout", write),
                ),
                write["tpot"],
            ),
            "t/e2e": write["e2e"],
            "t/speed": pick(
                single | ~case.fits,
                write["system"],
                words.each("one-request.speed_readout", write),
            ),
            "t/stream": or_misfit(_stream_at_rest(points, words), case.short_misfit(words)),
            **{
                f"t/{slot}": or_misfit(
                    pick(
                        single,
                        words.each(f"one-request.{slot}_single", write),
                        words.each(f"one-request.{slot}", write),
                    ),
                    misfits,
                )
                for slot in ("sentence", "formula", "takeaway")
            },
            "t/honest": words.each("one-request.honest", write),
            "t/alt_timeline": words.each("one-request.alt", write),
            "t/alt_ttft": words.each("one-request.alt_ttft", write),
        }

    def timeline(self, scenario: Scenario, language: Words) -> Timeline:
        """Let the request happen: what moves with the clock."""
        words = language
        case = Case(points_from(scenario, {}))
        asked = _timed(case)
        if not case.fits[0]:
            return Timeline([0.0], [""], {})
        prompt, output, batch = (
            float(getattr(case.points, name)[0]) for name in ("prompt", "output", "batch")
        )
        counts = np.unique(np.linspace(1, output, min(int(output), MOST_MOMENTS)).astype(int))
        at = token_seconds(
            case.architecture,
            case.machine,
            prompt=prompt,
            output=output,
            batch=batch,
            tokens=counts,
            **case.formats,
        )
        first = float(asked.ttft[0])
        seconds = np.concatenate([np.linspace(0, first, PREFILL_MOMENTS, endpoint=False), at])
        tokens = np.concatenate([np.zeros(PREFILL_MOMENTS, dtype=int), counts])
        shown = np.searchsorted(asked.moments[0], seconds, side="right")
        shown = np.where(tokens > 0, np.maximum(shown, 1), 0)
        held = np.where(
            tokens > 0,
            batch
            * kv_bytes_per_sequence(
                case.architecture, prompt + np.maximum(tokens - 1, 0), scenario.kv, scenario.tp
            ),
            0.0,
        )
        texts = _stream_tokens(int(output), words)
        return Timeline(
            seconds,
            numbers.seconds(seconds, words),
            {
                **timeline.moving_columns(asked, seconds, shown, held),
                "t/stream": Growing(texts, np.minimum(tokens, len(texts))),
            },
        )


VIEW = OneRequest()


def _timeline_texts(words: Words) -> timeline.Texts:
    return timeline.Texts(
        time_axis=words("axis.time"),
        cache_axis=words("axis.kv_gb"),
        prefill=words("phase.prefill"),
        decode=words("phase.decode"),
        cache=words("part.kv_cache"),
        now=words("one-request.now"),
    )


def _ttft_texts(words: Words) -> ttft.Texts:
    return ttft.Texts(
        prompt_axis=words("axis.prompt"),
        ttft_axis=words("axis.ttft"),
        prefill=words("phase.prefill"),
        weights=words("one-request.weights_label"),
        here=words("term.here"),
    )


def _timed(case: Case) -> timeline.Request:
    """Return the times of the points, NaN where a point does not fit."""
    points, asked = case.points, case.request
    ticks = np.linspace(0, 1, MOST_TICKS)
    which = 1 + np.round(ticks * (points.output[:, None] - 1))
    wide = case.machine_with(points.bandwidth[:, None], points.flops[:, None])
    at = token_seconds(
        case.architecture,
        wide,
        prompt=points.prompt[:, None],
        output=points.output[:, None],
        batch=points.batch[:, None],
        tokens=which,
        **case.formats,
    )
    cached = kv_bytes_per_sequence(case.architecture, points.prompt, points.kv, points.tp)
    last = points.prompt + np.maximum(points.output - 1, 0)
    all_cached = kv_bytes_per_sequence(case.architecture, last, points.kv, points.tp)
    return timeline.Request(
        ttft=case.timed(asked.ttft_seconds),
        tpot=case.timed(asked.tpot_seconds),
        e2e=case.timed(asked.e2e_seconds),
        moments=np.where(case.fits[:, None], at, np.nan),
        prompt_bytes=points.batch * cached,
        all_bytes=points.batch * all_cached,
    )


def _stream_tokens(output: int, words: Words) -> list[str]:
    """Return the pieces of an answer: about one a token, the text again from its start."""
    pieces = words("one-request.answer").split("|")
    shown = min(output, 2 * len(pieces))
    return [pieces[index % len(pieces)] for index in range(shown)]


def _stream_at_rest(points: Points, words: Words) -> list[str]:
    most = "".join(_stream_tokens(10**9, words))
    texts = {
        int(output): "".join(_stream_tokens(int(output), words))
        for output in np.unique(points.output)
    }
    return [texts.get(int(output), most) for output in points.output]


def _write(case: Case, words: Words) -> dict[str, list[str]]:
    points, asked = case.points, case.request
    steps = np.maximum(points.output - 1, 0)
    ideal = asked.prefill
    held = points.batch * kv_bytes_per_sequence(
        case.architecture, points.prompt + steps, points.kv, points.tp
    )
    return {
        "prompt": numbers.tokens(points.prompt, words),
        "output": numbers.tokens(points.output, words),
        "steps": numbers.number(steps.astype(int).tolist(), words),
        "batch": numbers.sequences(points.batch, words),
        "read": pick(
            points.batch > 1,
            words.each(
                "one-request.read_batch",
                {
                    "batch": numbers.number(points.batch.astype(int).tolist(), words),
                    "prompt": numbers.tokens(points.prompt, words),
                },
            ),
            numbers.tokens(points.prompt, words),
        ),
        "prefill_bound": [words(f"bound_by.{bound}") for bound in asked.prefill.bound],
        "decode_bound": [words(f"bound_by.{bound}") for bound in asked.decode.bound],
        "pace": [words(f"pace.{bound}") for bound in asked.decode.bound],
        "prefill_bytes": numbers.bytes_decimal(asked.prefill.bytes, words),
        "decode_flop": numbers.flop(asked.decode.flop, words),
        "ttft": numbers.seconds(case.timed(asked.ttft_seconds), words),
        "tpot": numbers.seconds(case.timed(asked.tpot_seconds), words),
        "e2e": numbers.seconds(case.timed(asked.e2e_seconds), words),
        "user": numbers.tokens_per_second(case.timed(asked.tokens_per_second_user), words),
        "system": numbers.tokens_per_second(case.timed(asked.tokens_per_second_system), words),
        "held": numbers.bytes_decimal(held, words),
        "flop": numbers.flop(ideal.flop, words),
        "bytes": numbers.bytes_decimal(asked.decode.bytes, words),
        "peak": numbers.flop_per_second(np.asarray(case.machine.peak) * points.tp, words),
        "bandwidth": numbers.bytes_per_second(points.bandwidth * 1e9 * points.tp, words),
        "share": numbers.percent(
            case.timed(asked.ttft_seconds / asked.e2e_seconds), words, digits=2
        ),
        "per_prompt_token": numbers.seconds(case.timed(asked.seconds_per_prompt_token), words),
        "per_answer_token": numbers.seconds(case.timed(asked.seconds_per_answer_token), words),
        "times": numbers.multiple(
            case.timed(asked.seconds_per_answer_token / asked.seconds_per_prompt_token), words
        ),
        "floor": numbers.seconds(
            case.timed(read_seconds(asked.prefill.weight_bytes, case.machine)), words
        ),
    }
