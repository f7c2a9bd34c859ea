"""The sidebar: what is picked, and the rest of the scenario as text."""

from __future__ import annotations

from html import escape

import streamlit as st

from pages.shared import numbers
from pages.shared.language import LANGUAGES, Words
from pages.shared.model_words import attention_text
from pages.shared.scenario import PAGE_OPTIONS, Scenario, url_text
from pages.shared.state import Session, reset_scenario, store_language, store_values
from pages.shared.stops import SLIDERS, stop_texts
from physics.catalogue import models
from physics.chips import Chip, chip, chips
from physics.formats import PUBLISHED
from physics.kv_cache import kv_bytes_per_token
from physics.options import FORMATS, OPTIONS
from physics.typical import kernels_basis, typical

ENGINE_NAMES = {
    "vllm": "vLLM",
    "sglang": "SGLang",
    "tensorrt-llm": "TensorRT-LLM",
    "vllm-2023": "vLLM (2023)",
}

TENSOR_PARALLEL = (1, 2, 4, 8, 16, 32, 64)


def uses_scenario(view: object) -> bool:
    """Say whether what a page shows depends on model, chip and load."""
    return getattr(view, "uses_scenario", True)


def sidebar(session: Session, moved: tuple[str, ...], picks: tuple[str, ...] = ()) -> None:
    """Show the pickers of the scenario, and as text what the page does not move.

    Parameters
    ----------
    session : Session
    moved : tuple of str
        The options that this page moves with its own sliders.
    picks : tuple of str
        The options that only some pages need: 'versus', 'price'.
    """
    scenario, words = session.scenario, session.words
    _picker(
        "model",
        scenario.model,
        tuple(models()),
        label=words("controls.model"),
        help=words("controls.model_help"),
        format_func=lambda slug: model_text(slug, scenario.kv, words),
    )
    st.html(model_details(scenario.model, words))
    _picker(
        "chip",
        scenario.chip,
        tuple(chips()),
        label=words("controls.chip"),
        help=words("controls.chip_help"),
        format_func=lambda slug: chip_text(chip(slug), words),
    )
    st.html(chip_details(chip(scenario.chip), words))
    if "versus" in picks:
        _versus(scenario, words)
    if "price" in picks:
        _price(scenario, words)
    _formats(scenario, words)
    _machine(scenario, words)
    rest = " · ".join(rest_texts(scenario, moved, words))
    if rest:
        heading = escape(words("controls.rest"))
        st.html(f'<p class="rest"><strong>{heading}</strong> {escape(rest)}</p>')
    st.button(words("controls.reset"), key="pick_reset", on_click=reset_scenario)


def model_text(slug: str, kv: str, words: Words) -> str:
    """Return a model's name, parameters and KV cache per token.

    Examples
    --------
    >>> model_text("llama-3.1-8b", "bf16", Words("en"))
    'Llama 3.1 8B · 8.03\\xa0B · 131\\xa0kB/token'
    """
    model = models()[slug]
    return words(
        "controls.model_active_option" if model.experts else "controls.model_option",
        name=model.name,
        parameters=numbers.parameters(model.parameters, words),
        active=numbers.parameters(model.active_parameters, words),
        kv=numbers.bytes_decimal(float(kv_bytes_per_token(model, kv)), words),
    )


def model_details(slug: str, words: Words) -> str:
    """Return a model's attention as HTML, and what had to be assumed or was left out."""
    model = models()[slug]
    lines = [escape(words("controls.attention", kind=attention_text(model, words)))]
    # What the reader of the file says is in English, whatever the language of the page.
    for key, said in (
        ("controls.assumed", model.assumptions),
        ("controls.left_out", model.left_out),
    ):
        if said:
            text = f'<span lang="en">{escape("; ".join(said))}</span>'
            lines.append(words(key, said=text))
    return f'<p class="details">{"<br>".join(lines)}</p>'


def chip_text(the_chip: Chip, words: Words) -> str:
    """Return a chip's name, peak and bandwidth, and whether these were not re-read.

    Examples
    --------
    >>> chip_text(chip("h100-sxm"), Words("en"))
    'H100 SXM 80GB · 989\\xa0TFLOP/s · 3.35\\xa0TB/s'
    """
    key = "controls.chip_option" if is_checked(the_chip) else "controls.chip_unchecked_option"
    return words(
        key,
        name=the_chip.name,
        peak=numbers.flop_per_second(the_chip.bf16_flop_per_second, words, trim=True),
        bandwidth=numbers.bytes_per_second(the_chip.bandwidth, words, trim=True),
    )


def is_checked(the_chip: Chip) -> bool:
    """Say whether the chip's figures were read at the source named."""
    return the_chip.confidence == "A"


def chip_details(the_chip: Chip, words: Words) -> str:
    """Return the chip's own figures as HTML, with their source where they are uncertain."""
    figures = words(
        "controls.chip_figures",
        peak=numbers.flop_per_second(the_chip.bf16_flop_per_second, words, trim=True),
        bandwidth=numbers.bytes_per_second(the_chip.bandwidth, words, trim=True),
        capacity=numbers.bytes_decimal(the_chip.capacity, words, trim=True),
    )
    lines = [escape(figures)]
    if not is_checked(the_chip):
        lines.append(f"<strong>{escape(words('controls.chip_unchecked'))}</strong>")
        # The catalogue is in English, whatever the language of the page.
        source = f'<span lang="en">{escape(the_chip.source)}</span>'
        lines.append(words("controls.chip_source", source=source))
        if the_chip.note:
            lines.append(f'<span lang="en">{escape(the_chip.note)}</span>')
    return f'<p class="details">{"<br>".join(lines)}</p>'


def rest_texts(scenario: Scenario, moved: tuple[str, ...], words: Words) -> list[str]:
    """Return the load and the custom figures that a page's sliders do not move, as text.

    Examples
    --------
    >>> rest_texts(Scenario(bandwidth=6000), ("prompt", "output"), Words("en"))
    ['batch 1', 'bandwidth 6\\xa0TB/s (custom, from H100 SXM 80GB)']
    """
    name = chip(scenario.chip).name
    write = {
        "prompt": lambda value: words("controls.rest_prompt", value=value),
        "output": lambda value: words("controls.rest_output", value=value),
        "batch": lambda value: words("controls.rest_batch", value=value),
        "bandwidth": lambda value: words("controls.rest_bandwidth", value=value, chip=name),
        "flops": lambda value: words("controls.rest_flops", value=value, chip=name),
    }
    texts = []
    for option in SLIDERS:
        value = getattr(scenario, option)
        if option in moved or value is None:
            continue
        if option == "batch":
            texts.append(write[option](numbers.number(value, words)))
        else:
            texts.append(write[option](stop_texts(option, [value], words)[0]))
    return texts


def _formats(scenario: Scenario, words: Words) -> None:
    left, right = st.columns([1.3, 1])
    with left:
        _picker(
            "weights",
            scenario.weights,
            OPTIONS["weights"].values,
            label=words("controls.weights"),
            help=words("controls.weights_help"),
            format_func=lambda name: weights_text(name, scenario, words),
        )
    with right:
        _picker(
            "kv",
            scenario.kv,
            FORMATS,
            label=words("controls.kv"),
            help=words("controls.kv_help"),
        )


def weights_text(name: str, scenario: Scenario, words: Words) -> str:
    """Return a weight format's name; for the published one, what the model's file says.

    Examples
    --------
    >>> weights_text("published", Scenario(model="gpt-oss-120b"), Words("en"))
    'mxfp4, original'
    """
    if name != PUBLISHED:
        return name
    method = models()[scenario.model].quantisation.method
    return words("controls.published", format=method)


def _machine(scenario: Scenario, words: Words) -> None:
    efficiency = {
        "ideal": words("controls.ideal"),
        "typical": words("controls.typical"),
    }
    left, right = st.columns(2)
    with left:
        _picker(
            "tp",
            scenario.tp,
            tuple(sorted({*TENSOR_PARALLEL, scenario.tp})),
            label=words("controls.tp"),
            help=words("controls.tp_help"),
            format_func=lambda count: numbers.chip_count(count, words),
        )
    with right:
        _picker(
            "efficiency",
            scenario.efficiency,
            OPTIONS["efficiency"].values,
            label=words("controls.efficiency"),
            help=words("controls.efficiency_help"),
            format_func=efficiency.get,
        )
    if scenario.efficiency == "typical":
        _engine(scenario, words)


def _engine(scenario: Scenario, words: Words) -> None:
    _picker(
        "engine",
        scenario.engine,
        OPTIONS["engine"].values,
        label=words("controls.engine"),
        help=words("controls.engine_help"),
        format_func=lambda name: engine_text(name, words),
    )
    st.html(f'<p class="details">{escape(typical_text(scenario, words))}</p>')


def engine_text(name: str, words: Words) -> str:
    """Return an engine's name as its makers write it.

    Examples
    --------
    >>> engine_text("tensorrt-llm", Words("en"))
    'TensorRT-LLM'
    """
    return words("engine.other") if name == "other" else ENGINE_NAMES.get(name, name)


def typical_text(scenario: Scenario, words: Words) -> str:
    """Say what a typical machine reaches, and what that rests on.

    Examples
    --------
    >>> typical_text(Scenario(efficiency="typical"), Words("en"))
    'Kernels measured on this chip: 79% of the peak, 84% of the bandwidth.'
    """
    the_chip = chip(scenario.chip)
    weights = scenario.weights
    if weights == PUBLISHED:
        weights = models()[scenario.model].quantisation.arithmetic
    reached = typical(the_chip, scenario.engine, weights)
    return words(
        f"controls.typical_{kernels_basis(the_chip)}",
        compute=numbers.percent(reached.low_precision_compute, words, digits=2),
        memory=numbers.percent(reached.memory, words, digits=2),
    )


def _versus(scenario: Scenario, words: Words) -> None:
    _picker(
        "versus",
        scenario.versus,
        tuple(chips()),
        label=words("controls.versus"),
        help=words("controls.versus_help"),
        format_func=lambda slug: chip_text(chip(slug), words),
    )
    st.html(chip_details(chip(scenario.versus), words))


def _price(scenario: Scenario, words: Words) -> None:
    st.session_state["pick_price"] = scenario.price
    option = PAGE_OPTIONS["price"]

    def store() -> None:
        price = st.session_state["pick_price"]
        store_values({"price": "" if price is None else url_text(price)})

    st.number_input(
        words("controls.price"),
        min_value=option.minimum,
        max_value=float(option.maximum),
        step=0.1,
        format="%.2f",
        key="pick_price",
        placeholder=words("controls.price_none"),
        help=words("controls.price_help"),
        on_change=store,
    )


def _picker(name: str, value: object, options: tuple, **how: object) -> None:
    """Show a select box for one option of the scenario, which the URL may have moved."""
    key = f"pick_{name}"
    st.session_state[key] = value

    def store() -> None:
        store_values({name: str(st.session_state[key])})

    st.selectbox(options=options, key=key, on_change=store, **how)


def language_picker(words: Words) -> None:
    """Show in which languages the pages speak."""
    st.session_state["pick_language"] = words.code
    st.segmented_control(
        words("controls.language"),
        tuple(LANGUAGES),
        key="pick_language",
        required=True,
        format_func=LANGUAGES.get,
        on_change=lambda: store_language(st.session_state["pick_language"]),
    )
