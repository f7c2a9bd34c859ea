"""The KV cache page: computed once, reused, and growing until memory ends (S2)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pages.shared import colours, numbers
from pages.shared.case import Case
from pages.shared.figures import cache_rows, growth, memory
from pages.shared.language import Words
from pages.shared.model_words import attention_text, short_attention_text
from pages.shared.player.view import Column, Description, Readout, Same, Section, Sweep
from pages.shared.player_words import player_words, sliders
from pages.shared.points import Points
from pages.shared.scenario import Scenario
from pages.shared.sources import Source
from physics.catalogue import model
from physics.formats import bytes_per_element
from physics.kv_cache import bytes_on_all_chips, kv_bytes_per_sequence, kv_bytes_per_token
from physics.layers import LatentAttention
from physics.memory import longest_sequence
from physics.recompute import flop_with_cache, flop_without_cache

COMPARED = (
    "llama-2-7b",
    "llama-3.1-8b",
    "deepseek-v3",
    "gpt-oss-120b",
    "gemma-3-27b",
    "nemotron-3-nano-30b-a3b",
)
"""Models of different attention, drawn beside the one picked."""


LONG = 131_072
"""Tokens of the long sequence in the table."""


class KvCache:
    """Growth with tokens and batch, what fills the memory, and what the cache saves."""

    name = "kv-cache"
    sliders = ("prompt", "output", "batch")
    next = ("decode-shift", "roofline")
    sources = (
        Source("Kwon et al.: PagedAttention (2023)", "https://arxiv.org/abs/2309.06180"),
        Source("DeepSeek-V2: multi-head latent attention", "https://arxiv.org/abs/2405.04434"),
        Source("Hugging Face: Llama 3.1 and its memory", "https://huggingface.co/blog/llama31"),
    )

    def describe(self, scenario: Scenario, language: Words) -> Description:
        """Say what stands on the page."""
        words = language
        names = [model(slug).name for slug in _others(scenario.model)]
        return Description(
            figures=(
                growth.skeleton(_growth_texts(scenario, words), names, words.separators),
                memory.skeleton(_memory_texts(words), words.separators),
                cache_rows.skeleton(
                    cache_rows.Texts(words("kv-cache.of_prompt"), words("kv-cache.of_answer")),
                    words.separators,
                ),
            ),
            readouts=(
                Readout("per_token", words("kv-cache.per_token"), colours.KV_CACHE.colour),
                Readout("held", words("kv-cache.held"), colours.KV_CACHE.colour),
                Readout("most", words("kv-cache.most"), colours.WEIGHTS.colour),
                Readout("saved", words("kv-cache.saved")),
            ),
            sliders=sliders(self.sliders, words),
            play=Sweep(self.sliders, "output"),
            words=player_words(words),
            sections=(
                Section(words("section.formula"), "formula"),
                Section(words("kv-cache.without_title"), "without"),
                Section(words("kv-cache.kinds_title"), "kinds"),
                Section(words("section.honest"), "honest"),
                Section(words("section.takeaway"), "takeaway"),
            ),
        )

    def columns(self, points: Points, language: Words) -> Mapping[str, Column]:
        """Compute all channels."""
        words, case = language, Case(points)
        architecture, kv, tp = case.architecture, points.kv, points.tp

        def line(slug_or_own: str) -> np.ndarray:
            one = model(slug_or_own)
            return points.batch[:, None] * kv_bytes_per_sequence(one, growth.TOKENS, kv, 1)

        own = points.batch[:, None] * kv_bytes_per_sequence(architecture, growth.TOKENS, kv, tp)
        of_prompt = points.batch * kv_bytes_per_sequence(architecture, points.prompt, kv, tp)
        held = points.batch * kv_bytes_per_sequence(architecture, case.tokens, kv, tp)
        free = np.full_like(held, case.capacity - case.weight_bytes)
        others = _others(points.model)
        write = _write(case, of_prompt, held, free, words)
        return {
            **growth.columns(
                [line(slug) for slug in others],
                own,
                free,
                case.tokens,
                held,
                [*(_label(slug, words) for slug in others), _label(points.model, words)],
                words.each("kv-cache.free_label", write),
                write["held"],
            ),
            **memory.columns(
                case.weight_bytes,
                of_prompt,
                held - of_prompt,
                case.capacity,
                [
                    list(row)
                    for row in zip(
                        words.each("kv-cache.weights_label", write),
                        words.each("kv-cache.prompt_label", write),
                        words.each("kv-cache.answer_label", write),
                        strict=True,
                    )
                ],
                words(
                    "kv-cache.capacity_label", capacity=numbers.bytes_decimal(case.capacity, words)
                ),
            ),
            **cache_rows.columns(
                points.prompt,
                points.output,
                words.each("kv-cache.prompt_rows", write),
                words.each("kv-cache.answer_rows", write),
            ),
            "t/alt_cache_rows": words.each("kv-cache.alt_rows", write),
            "t/per_token": words.each("kv-cache.per_token_readout", write),
            "t/held": words.each("kv-cache.held_readout", write),
            "t/most": words.each("kv-cache.most_readout", write),
            "t/saved": words.each("kv-cache.saved_readout", write),
            "t/sentence": _sentences(case, write, words),
            "t/formula": words.each("kv-cache.formula", write),
            "t/without": words.each("kv-cache.without", write),
            "t/kinds": Same(_kinds_table([*others, points.model], kv, words)),
            "t/honest": words.each(
                "kv-cache.honest_itself" if points.model == "llama-2-7b" else "kv-cache.honest",
                write,
            ),
            "t/takeaway": words.each("kv-cache.takeaway", write),
            "t/alt_growth": words.each("kv-cache.alt_growth", write),
            "t/alt_memory": words.each("kv-cache.alt_memory", write),
        }


VIEW = KvCache()


def _others(slug: str) -> list[str]:
    return [other for other in COMPARED if other != slug]


def _kinds_table(slugs: list[str], kv: str, words: Words) -> str:
    """Write what models keep for each token, and for a long sequence, as a table."""
    heads = ("table.model", "table.attention", "table.per_token", "table.long", "table.against")
    cells = "".join(f"<th scope='col'>{words(head)}</th>" for head in heads)
    most = float(kv_bytes_per_sequence(model("llama-2-7b"), LONG, kv))
    rows = []
    for slug in sorted(slugs, key=lambda slug: -kv_bytes_per_sequence(model(slug), LONG, kv)):
        one = model(slug)
        held = float(kv_bytes_per_sequence(one, LONG, kv))
        texts = (
            one.name,
            attention_text(one, words),
            numbers.bytes_decimal(float(kv_bytes_per_token(one, kv)), words),
            numbers.bytes_decimal(held, words),
            numbers.multiple(most / held, words),
        )
        rows.append("<tr>" + "".join(f"<td>{text}</td>" for text in texts) + "</tr>")
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _sum_by_layer(case: Case, words: Words) -> str:
    """Write the cache of one token as a sum over the kinds of layers, with the numbers put in."""
    each = float(bytes_per_element(case.points.kv))
    lines = []
    for count, attention in case.architecture.attentions():
        own = float(count * bytes_on_all_chips(attention, case.points.kv, 1))
        if not own:
            continue
        values = {
            "layers": numbers.number(count, words),
            "bytes": numbers.number(each, words, trim=True),
            "total": numbers.bytes_decimal(own, words),
        }
        if isinstance(attention, LatentAttention):
            line = words("kv-cache.sum_latent", **values, latent=attention.latent)
        else:
            sizes = {
                "heads": attention.kv_heads,
                "key_size": attention.key_dim,
                "value_size": attention.value_dim,
            }
            line = words("kv-cache.sum_heads", **values, **sizes)
        if attention.window:
            window = numbers.tokens(attention.window, words)
            line += words("kv-cache.sum_window", window=window)
        lines.append(line)
    if case.architecture.state_bytes:
        state = numbers.bytes_decimal(case.architecture.state_bytes, words)
        lines.append(words("kv-cache.sum_state", state=state))
    copies = float(
        kv_bytes_per_sequence(case.architecture, 1, case.points.kv, case.points.tp)
        / kv_bytes_per_sequence(case.architecture, 1, case.points.kv, 1)
    )
    if copies > 1:
        times = numbers.multiple(copies, words, trim=True)
        chips = numbers.chip_count(case.points.tp, words)
        lines.append(words("kv-cache.sum_copies", copies=times, chips=chips))
    return "<br>".join(lines)


def _label(slug: str, words: Words) -> str:
    one = model(slug)
    return f"{one.name} · {short_attention_text(one, words)}"


def _growth_texts(scenario: Scenario, words: Words) -> growth.Texts:
    return growth.Texts(
        tokens_axis=words("axis.tokens"),
        memory_axis=words("axis.kv_gb"),
        model=model(scenario.model).name,
        free=words("kv-cache.free"),
        here=words("term.here"),
    )


def _memory_texts(words: Words) -> memory.Texts:
    return memory.Texts(
        memory_axis=words("axis.memory_gb"),
        weights=words("part.weights"),
        prompt=words("kv-cache.of_prompt"),
        answer=words("kv-cache.of_answer"),
        capacity=words("kv-cache.capacity"),
    )


def _sentences(case: Case, write: dict[str, list[str]], words: Words) -> list[str]:
    fitting = words.each("kv-cache.sentence", write)
    misfits = case.misfit(words)
    return [misfit or text for text, misfit in zip(fitting, misfits, strict=True)]


def _write(
    case: Case, of_prompt: np.ndarray, held: np.ndarray, free: np.ndarray, words: Words
) -> dict[str, list[str]]:
    points, count = case.points, len(case.points)
    per_token = float(kv_bytes_per_token(case.architecture, points.kv))
    longest = longest_sequence(
        case.architecture, case.machine, batch=points.batch, weights=points.weights, kv=points.kv
    )
    with_cache = flop_with_cache(
        case.architecture, prompt=points.prompt, output=points.output, batch=points.batch
    )
    without = flop_without_cache(
        case.architecture, prompt=points.prompt, output=points.output, batch=points.batch
    )
    llama = float(kv_bytes_per_token(model("llama-2-7b"), points.kv))
    return {
        "model": [case.architecture.name] * count,
        "kind": [attention_text(case.architecture, words)] * count,
        "format": [points.kv] * count,
        "prompt": numbers.tokens(points.prompt, words),
        "output": numbers.tokens(points.output, words),
        "tokens": numbers.tokens(case.tokens, words),
        "batch": numbers.sequences(points.batch, words),
        "square": numbers.tokens(cache_rows.tokens_per_square(points.prompt, points.output), words),
        "per_token": [numbers.bytes_decimal(per_token, words)] * count,
        "per_token_binary": [numbers.bytes_binary(per_token, words, trim=True)] * count,
        "of_prompt": numbers.bytes_decimal(of_prompt, words),
        "of_answer": numbers.bytes_decimal(held - of_prompt, words),
        "held": numbers.bytes_decimal(held, words),
        "held_binary": numbers.bytes_binary(held, words),
        "weights": [numbers.bytes_decimal(case.weight_bytes, words)] * count,
        "capacity": [numbers.bytes_decimal(case.capacity, words)] * count,
        "free": numbers.bytes_decimal(free, words),
        "sum": [_sum_by_layer(case, words)] * count,
        "most": numbers.number(
            [int(value) if np.isfinite(value) else value for value in case.max_batch.tolist()],
            words,
        ),
        "longest": numbers.tokens(longest, words),
        "with_cache": numbers.flop(with_cache, words),
        "without_cache": numbers.flop(without, words),
        "saved": numbers.multiple(without / with_cache, words, digits=3),
        "share": numbers.percent(held / (held + case.weight_bytes), words, digits=2),
        "against": [numbers.multiple(llama / per_token, words)] * count,
    }
