"""The page on metrics: each drawn where it is measured, on requests that share a machine (S12)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pages.shared import colours, numbers
from pages.shared.case import or_misfit, pick
from pages.shared.figures import gap_shares, requests
from pages.shared.five_requests import FiveRequests
from pages.shared.language import Words
from pages.shared.metrics_words import (
    confusions,
    definitions,
    gap_texts,
    live,
    live_names,
    readouts,
    requests_texts,
    sentences,
    verdicts,
    what_happens,
    written,
    written_values,
)
from pages.shared.player.view import (
    Column,
    Description,
    Readout,
    Section,
    Timeline,
)
from pages.shared.player_words import clock, player_words, sliders
from pages.shared.points import Points, points_from
from pages.shared.scenario import Scenario
from pages.shared.sources import Source

MOMENTS = 120
"""Stops of the clock."""


class Metrics:
    """Five requests on one timeline, and what each metric says of them."""

    name = "metrics"
    sliders = ("prompt", "batch", "bandwidth", "flops")
    next = ("batching", "disaggregation", "one-request", "glossary")
    sources = (
        Source(
            "NVIDIA NIM: metrics of LLM inference",
            "https://docs.nvidia.com/nim/benchmarking/llm/latest/metrics.html",
        ),
        Source(
            "Yu et al.: Orca, continuous batching (OSDI 2022)",
            "https://www.usenix.org/conference/osdi22/presentation/yu",
        ),
        Source(
            "Agrawal et al.: Sarathi-Serve, stalls by prefills (2024)",
            "https://arxiv.org/abs/2403.02310",
        ),
        Source("Zhong et al.: DistServe, goodput (2024)", "https://arxiv.org/abs/2401.09670"),
        Source("Chowdhery et al.: PaLM, MFU (2022)", "https://arxiv.org/abs/2204.02311"),
        Source(
            "Databricks: MBU",
            "https://www.databricks.com/blog/llm-inference-performance-engineering-best-practices",
        ),
        Source(
            "MLCommons: targets of MLPerf Inference v5.0, Llama 2 70B Interactive",
            "https://mlcommons.org/2025/04/llm-inference-v5/",
        ),
        Source(
            "A guide that counts one step too many (Baseten)",
            "https://www.baseten.co/blog/llm-transformer-inference-guide/",
        ),
    )

    def describe(self, scenario: Scenario, language: Words) -> Description:
        """Say what stands on the page."""
        words = language
        return Description(
            figures=(
                requests.skeleton(requests_texts(words), words.separators),
                gap_shares.skeleton(gap_texts(words), words.separators),
            ),
            readouts=(
                Readout("ttft", words("metrics.name_ttft"), colours.PREFILL.colour),
                Readout("itl", words("metrics.name_itl"), colours.DECODE.colour),
                Readout("user", words("metrics.name_user"), colours.DECODE.colour),
                Readout("system", words("metrics.name_system")),
                Readout("goodput", words("metrics.name_goodput")),
            ),
            sliders=sliders(self.sliders, words),
            play=clock(words),
            words=player_words(words),
            sections=(
                Section(words("metrics.definitions"), html=definitions(words)),
                Section(words("metrics.confusions"), html=confusions(words)),
                Section(words("section.honest"), html=live("metrics.honest", words)),
                Section(words("section.takeaway"), "takeaway"),
            ),
        )

    def columns(self, points: Points, language: Words) -> Mapping[str, Column]:
        """Compute all channels; everything has happened."""
        words, seen = language, FiveRequests(points)
        case, served, write = seen.case, seen.served, written(seen, words)
        misfits = case.misfit(words)
        rows = range(requests.COUNT)
        metrics = [words.each(f"metrics.label_{name}", write) for name in _LABELS]
        met_texts = [
            verdicts(served.ttft_seconds[row], served.tpot_seconds[row], words) for row in rows
        ]
        blank = [""] * len(points)
        if (single := points.output == 1).any():
            for row in (requests.TPOT, requests.ITL, requests.SPEED):
                metrics[row] = pick(single, blank, metrics[row])
        # A space keeps a label off what it stands beside.
        labels = [
            _side_by_side([[f"{numbers.SPACE}{text}" for text in row] for row in texts], case.fits)
            for texts in (metrics, met_texts)
        ]
        uses = [words.each(f"metrics.use_{name}", write) for name in ("mfu", "mbu")]
        return {
            **requests.columns(
                served,
                case.fits,
                *labels,
                pick(case.fits, words.each("metrics.rate_label", write), blank),
                _side_by_side(uses, case.fits),
                written_values(requests.time_values(served), case.fits, words),
                written_values(requests.rate_values(served), case.fits, words),
            ),
            **gap_shares.columns(
                np.where(case.fits, seen.gaps, np.nan).T,
                _side_by_side([write[name] for name in _GAPS], case.fits & ~single),
            ),
            **{
                f"t/{slot}": or_misfit(texts, case.short_misfit(words))
                for slot, texts in readouts(single, write, words).items()
            },
            "t/sentence": or_misfit(sentences(seen, write, words), misfits),
            "t/takeaway": or_misfit(
                pick(
                    single,
                    words.each("metrics.takeaway_single", write),
                    words.each("metrics.takeaway", write),
                ),
                misfits,
            ),
            **{f"t/v_{name}": write[name] for name in live_names(words)},
            "t/alt_requests": or_misfit(words.each("metrics.alt", write), case.short_misfit(words)),
            "t/alt_gap_shares": or_misfit(
                pick(
                    single,
                    words.each("metrics.sentence_single", write),
                    words.each("metrics.alt_gaps", write),
                ),
                case.short_misfit(words),
            ),
        }

    def timeline(self, scenario: Scenario, language: Words) -> Timeline:
        """Let the requests come and go: what moves with the clock."""
        words, seen = language, FiveRequests(points_from(scenario, {}))
        if not seen.case.fits[0]:
            return Timeline([0.0], [""], {})
        served = seen.served
        end = float(served.finish.max())
        seconds = np.unique([*np.linspace(0, end, MOMENTS), *served.start[:, 0], end])
        told = what_happens(served, seconds[:-1], words)
        whole = sentences(seen, written(seen, words), words)
        return Timeline(
            seconds,
            numbers.seconds(seconds, words),
            {
                **requests.moving_columns(served, seconds),
                "t/sentence": told + whole,
            },
        )


VIEW = Metrics()

_LABELS = ("itl", "tpot", "e2e", "ttft", "user")  # in the order of the requests
_GAPS = ("longest", "p99", "mean_tpot", "p50")  # in the order of the rows of `gap_shares`


def _side_by_side(texts: list[list[str]], shown: np.ndarray) -> list[list[str]]:
    """Give each point its own list of texts; empty ones where nothing is shown."""
    blank = [""] * len(texts)
    rows = zip(*texts, strict=True)
    return [list(row) if some else blank for row, some in zip(rows, shown.tolist(), strict=True)]
