"""The scenario: what is computed, as one frozen object with one URL schema.

The names and units are those of the command line (`physics.options`), so that a value means the
same in a URL, in a CSV file and on the command line.
"""

from __future__ import annotations

import dataclasses
import difflib
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pages.shared.name_lists import ALIKE, Names, list_text
from pages.shared.notices import UNSET, Notice, shortened
from physics.chips import Chip, chip, chips
from physics.errors import InputError, nearest_names
from physics.options import DEFAULT_CHIP, DEFAULT_MODEL, OPTIONS, Choice, Number
from physics.serving.design import CHUNK_TOKENS, KINDS

if TYPE_CHECKING:
    from physics.catalogue import Architecture

BYTE_PER_SECOND_IN_GIGABYTE_PER_SECOND = 1e9
FLOP_PER_SECOND_IN_TERAFLOP_PER_SECOND = 1e12

# Parameters that a link may carry and that are no part of the scenario.
OTHER_PARAMETERS = frozenset(
    {
        "lang",
        "lecture",
        "notes",
        "story",
        "step",
        "embed",
        "embed_options",
        "v",
        "theme",
        "time",
        "pin",
        "guess",
    }
)


def _measured_names(column: str) -> Callable[[], tuple[str, ...]]:
    """Give what returns the known values of a column of the measurements."""

    def known() -> tuple[str, ...]:
        from physics.measured_requests import measured_names

        return measured_names(column)

    return known


# What the evidence shows: no part of what is computed, and it differs on no other page.
EVIDENCE_OPTIONS: dict[str, Choice | Names] = {
    option.name: option
    for option in (
        Choice("metric", ("tpot", "ttft"), "tpot"),
        Choice("prediction", ("typical", "ideal"), "typical"),
        Names("measured", lambda: ("unseen", "fitted", "other", "doubtful"), ("unseen",)),
        Names("measured_source", _measured_names("source")),
        Names("measured_model", _measured_names("model")),
        Names("measured_chip", _measured_names("chip")),
        Names("measured_engine", _measured_names("engine")),
    )
}

# Options of single pages, which the command does not have.
DEFAULT_VERSUS = "h20"  # little arithmetic, much bandwidth: the opposite of most chips
PAGE_OPTIONS: dict[str, Number | Choice | Names] = {
    option.name: option
    for option in (
        Number("price", 0.001, 1000, None, "USD per chip-hour", whole=False),
        Choice("left", KINDS, "colocated"),
        Choice("right", KINDS, "disaggregated"),
        Number("rate", 0.001, 100_000, None, "requests a second", whole=False),
        Choice("lengths", ("fixed", "spread"), "fixed"),
        Number("prefill_pool", 1, 16, 1, "instances"),
        Number("decode_pool", 1, 16, 1, "instances"),
        Choice("decode_chip", ("same", "versus"), "same"),
        Number("link", 0.01, 100_000, 50.0, "GB/s", whole=False),
        Number("budget", 16, 65_536, CHUNK_TOKENS, "tokens"),
        Number("ttft_target", 0.1, 10_000_000, None, "ms", whole=False),
        Number("itl_target", 0.1, 10_000_000, None, "ms", whole=False),
        *EVIDENCE_OPTIONS.values(),
    )
}
_ALL_OPTIONS = OPTIONS | PAGE_OPTIONS


@dataclass(frozen=True)
class Scenario:
    """A model on a chip under a load, as it stands in a URL.

    Attributes
    ----------
    model, chip : str
        Slugs of the catalogues.
    prompt, output : int
        Tokens of the prompt and of the answer of one request.
    batch : int
        Sequences processed together.
    tp : int
        Chips over which every layer is split (tensor parallel).
    weights, kv : str
        Formats of the weights and of the KV cache.
    bandwidth : float or None
        Memory bandwidth of one chip [GB/s]; None: the chip's own.
    flops : float or None
        Dense bf16 peak of one chip [TFLOP/s]; None: the chip's own.
    efficiency : str
        'ideal' or 'typical'.
    engine : str
        The serving engine of a typical machine.
    versus : str
        Slug of a second chip, for pages that compare two.
    price : float or None
        What one chip costs [USD per hour]; None: not said.
    left, right : str
        Designs of a service: 'colocated', 'chunked' or 'disaggregated'.
    rate : float or None
        Requests that arrive [1/s]; None: what suits the model and the chips.
    lengths : str
        'fixed': every prompt and answer as long as said; 'spread': so long on average.
    prefill_pool, decode_pool : int
        Instances of a disaggregated service, `tp` chips each; a co-located one has all of them.
    decode_chip : str
        'same', or 'versus': the decode pool stands on the second chip.
    link : float
        What an instance sends or receives of KV cache [GB/s].
    budget : int
        Tokens in a step of a chunked service.
    ttft_target, itl_target : float or None
        What users are promised [ms]; None: multiples of what one request takes alone.
    metric, prediction : str
        Of the measurements that are shown: 'tpot' or 'ttft'; beside them 'typical' or 'ideal'.
    measured : tuple of str
        Which measurements are shown, by the part that they play (`physics.evidence.SHARES`).
    measured_source, measured_model, measured_chip, measured_engine : tuple of str
        From where, of what; empty: of any.

    Examples
    --------
    >>> Scenario(batch=32).query()
    {'batch': '32'}
    """

    model: str = DEFAULT_MODEL
    chip: str = DEFAULT_CHIP
    prompt: int = OPTIONS["prompt"].default
    output: int = OPTIONS["output"].default
    batch: int = OPTIONS["batch"].default
    tp: int = OPTIONS["tp"].default
    weights: str = OPTIONS["weights"].default
    kv: str = OPTIONS["kv"].default
    bandwidth: float | None = None
    flops: float | None = None
    efficiency: str = OPTIONS["efficiency"].default
    engine: str = OPTIONS["engine"].default
    versus: str = DEFAULT_VERSUS
    price: float | None = None
    left: str = PAGE_OPTIONS["left"].default
    right: str = PAGE_OPTIONS["right"].default
    rate: float | None = None
    lengths: str = PAGE_OPTIONS["lengths"].default
    prefill_pool: int = PAGE_OPTIONS["prefill_pool"].default
    decode_pool: int = PAGE_OPTIONS["decode_pool"].default
    decode_chip: str = PAGE_OPTIONS["decode_chip"].default
    link: float = PAGE_OPTIONS["link"].default
    budget: int = PAGE_OPTIONS["budget"].default
    ttft_target: float | None = None
    itl_target: float | None = None
    metric: str = PAGE_OPTIONS["metric"].default
    prediction: str = PAGE_OPTIONS["prediction"].default
    measured: tuple[str, ...] = PAGE_OPTIONS["measured"].default
    measured_source: tuple[str, ...] = ()
    measured_model: tuple[str, ...] = ()
    measured_chip: tuple[str, ...] = ()
    measured_engine: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, option in _ALL_OPTIONS.items():
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, option.parse(value))
        # A custom figure equal to the chip's own is no custom figure: one scenario, one URL.
        for name, own in own_figures(chip(self.chip)).items():
            given = getattr(self, name)
            if given is not None and math.isclose(given, own, rel_tol=1e-12):
                object.__setattr__(self, name, None)

    def query(self) -> dict[str, str]:
        """Return the URL parameters of this scenario: only what differs from the default.

        Examples
        --------
        >>> Scenario(chip="h200-sxm", bandwidth=6000).query()
        {'chip': 'h200-sxm', 'bandwidth': '6000'}
        """
        values = dataclasses.asdict(self)
        return {
            name: url_text(values[name])
            for name, default in DEFAULTS.items()
            if values[name] != default
        }

    @classmethod
    def from_query(cls, query: Mapping[str, str | Iterable[str]]) -> tuple[Scenario, list[Notice]]:
        """Read URL parameters; what cannot be used is replaced, and said in a notice.

        An empty value stands for the default. Of a parameter given more than once the last counts.

        Examples
        --------
        >>> scenario, notices = Scenario.from_query({"batch": "0", "prompt": "512"})
        >>> scenario.batch, scenario.prompt, notices
        (1, 512, [Notice(name='batch', given='0', used='1')])
        """
        texts = {str(name): _last(value) for name, value in query.items()}
        fields: dict[str, object] = {}
        notices: list[Notice] = []
        for name, text in texts.items():
            if name not in DEFAULTS:
                if name not in OTHER_PARAMETERS:
                    notices.append(Notice(shortened(name), shortened(text), None))
                continue
            if not text.strip():
                continue
            try:
                fields[name] = _parse(name, text)
            except (InputError, OverflowError):
                fields[name] = _nearest(name, text)
                own = own_figures(chip(_chip_of(texts))).get(name, UNSET)
                notices.append(_notice(name, text, fields[name], own))
        scenario = cls(**fields)
        if scenario.tp > 1 and chip(scenario.chip).link is None:
            # Nothing joins these chips, so they cannot share a model.
            notices.append(Notice("tp", str(scenario.tp), "1"))
            scenario = dataclasses.replace(scenario, tp=1)
        return scenario, notices

    def replaced(self, **fields: object) -> Scenario:
        """Return this scenario with other values in some fields.

        Choosing another chip drops custom figures, which belonged to the chip before.

        Examples
        --------
        >>> Scenario(bandwidth=6000).replaced(chip="h200-sxm").bandwidth is None
        True
        """
        if fields.get("chip", self.chip) != self.chip:
            fields = {"bandwidth": None, "flops": None} | fields
        return dataclasses.replace(self, **fields)

    @property
    def custom(self) -> bool:
        """Whether bandwidth or peak are other than the chip's own."""
        return self.bandwidth is not None or self.flops is not None

    def model_architecture(self) -> Architecture:
        """Return the architecture of the model, from the catalogue."""
        from physics import catalogue

        return catalogue.model(self.model)


DEFAULTS: dict[str, object] = {field.name: field.default for field in dataclasses.fields(Scenario)}


def own_figures(the_chip: Chip) -> dict[str, float]:
    """Return a chip's own bandwidth [GB/s] and bf16 peak [TFLOP/s], by option name.

    Examples
    --------
    >>> own_figures(chip("h100-sxm"))
    {'bandwidth': 3350.0, 'flops': 989.0}
    """
    # 12 digits: dividing what was multiplied by a power of ten must give the printed figure back.
    return {
        "bandwidth": float(f"{the_chip.bandwidth / BYTE_PER_SECOND_IN_GIGABYTE_PER_SECOND:.12g}"),
        "flops": float(
            f"{the_chip.bf16_flop_per_second / FLOP_PER_SECOND_IN_TERAFLOP_PER_SECOND:.12g}"
        ),
    }


def url_text(value: str | float | tuple[str, ...]) -> str:
    """Write a value as it stands in a URL, so that reading it gives the same value back.

    Examples
    --------
    >>> url_text(2048.0), url_text(0.25), url_text("fp8"), url_text(("tpot", "ttft"))
    ('2048', '0.25', 'fp8', 'tpot,ttft')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, tuple):
        return list_text(value)
    return str(int(value)) if value == int(value) else repr(float(value))


def _last(value: str | Iterable[str]) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Iterable):
        values = list(value)
        return _last(values[-1]) if values else ""
    try:
        return str(value)
    except ValueError:  # an int of more digits than Python writes out
        return "…"


def _notice(name: str, text: str, used: object, own: str | float) -> Notice:
    """Say what is used in place of a value; `own` is the chip's figure, where there is one."""
    option = _ALL_OPTIONS.get(name)
    if isinstance(option, Names):
        used = url_text(used) if used else UNSET
        return Notice(name, shortened(option.wrong(text)), used, option.allowed())
    return Notice(name, shortened(text), url_text(own if used is None else used))


def _parse(name: str, text: str) -> str | float | tuple[str, ...]:
    if name in _ALL_OPTIONS:
        return _ALL_OPTIONS[name].parse(text)
    known = _slugs(name)
    slug = text.strip().casefold()
    if slug not in known:
        raise InputError(name, f"unknown {shortened(text)!r}")
    return slug


def _nearest(name: str, text: str) -> str | float | tuple[str, ...] | None:
    option = _ALL_OPTIONS.get(name)
    if option is None or isinstance(option, Choice):
        # difflib takes a time that grows with the square of the length.
        text = shortened(text)
    return _nearest_slug(name, text) if option is None else option.nearest(text)


def _nearest_slug(name: str, text: str) -> str:
    asked = text.strip().casefold()
    best = nearest_names(asked, _slugs(name), 1)[0]
    alike = difflib.SequenceMatcher(None, asked, best).ratio() >= ALIKE
    return best if alike else DEFAULTS[name]


def _slugs(name: str) -> Iterable[str]:
    if name != "model":
        return chips()
    from physics import catalogue

    return catalogue.models()


def _chip_of(texts: Mapping[str, str]) -> str:
    text = texts.get("chip", "").strip().casefold()
    if not text:
        return DEFAULT_CHIP
    return text if text in chips() else _nearest_slug("chip", shortened(text))
