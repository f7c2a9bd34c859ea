"""What the browser draws while a slider is dragged is what physics says of that stop."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from physics.catalogue import model
from physics.dataflow import layer, main_layers
from physics.frontier import linear_crossing_batch
from physics.launches import launch
from physics.predict import parse_question, predict
from tests.browser.player_page import (
    SETTLE_MS,
    figure_values,
    open_player,
    slide_input,
    table_of,
)

SCENARIO = {"model": "llama-3.1-70b", "chip": "h200-sxm", "tp": "4", "batch": "8"}
QUERY = "?" + "&".join(f"{name}={value}" for name, value in SCENARIO.items())


def stops_of(page: Page, name: str, slider: str) -> dict[int, float]:
    stops = table_of(page, name)["sliders"][slider]["stops"]
    return {index: stops[index] for index in {0, len(stops) // 3, len(stops) - 1}}


def asked(slider: str, value: float) -> dict:
    return predict(parse_question(SCENARIO | {slider: f"{value:.12g}"}))


@pytest.mark.parametrize("slider", ["prompt", "batch", "bandwidth", "flops"])
def test_roofline(page: Page, server: str, slider: str) -> None:
    open_player(page, server, "/roofline", QUERY)
    for index, value in stops_of(page, "roofline", slider).items():
        slide_input(page, slider, index)
        page.wait_for_timeout(SETTLE_MS)
        drawn, answer = figure_values(page, "roofline"), asked(slider, value)
        ridge = answer["ridge_flop_per_byte"]
        assert drawn[0]["x"][1] == pytest.approx(ridge, rel=1e-4)
        assert drawn[1]["y"][0] == pytest.approx(answer["peak_flop_per_second"] / 1e12, rel=1e-4)
        for trace, phase in ((5, "prefill"), (6, "decode")):
            assert drawn[trace]["x"][0] == pytest.approx(answer[phase]["intensity"], rel=1e-4)


def test_first_token(page: Page, server: str) -> None:
    open_player(page, server, "/", QUERY)
    for index, value in stops_of(page, "one-request", "prompt").items():
        slide_input(page, "prompt", index)
        page.wait_for_timeout(SETTLE_MS)
        drawn, answer = figure_values(page, "timeline"), asked("prompt", value)
        if answer["fits"]:
            assert drawn[3]["x"][1] == pytest.approx(answer["ttft_s"], rel=1e-4)
            assert drawn[5]["x"][1] == pytest.approx(answer["e2e_s"], rel=1e-4)


def test_cache(page: Page, server: str) -> None:
    open_player(page, server, "/kv-cache", QUERY)
    for index, value in stops_of(page, "kv-cache", "batch").items():
        slide_input(page, "batch", index)
        page.wait_for_timeout(SETTLE_MS)
        drawn, answer = figure_values(page, "memory"), asked("batch", value)
        held = drawn[1]["y"][0] + drawn[2]["y"][0]
        assert held * 1e9 == pytest.approx(answer["kv_bytes_all_chips"], rel=1e-4)


def test_decode_shift(page: Page, server: str) -> None:
    open_player(page, server, "/decode-shift", QUERY)
    for index, value in stops_of(page, "decode-shift", "batch").items():
        slide_input(page, "batch", index)
        page.wait_for_timeout(SETTLE_MS)
        drawn, answer = figure_values(page, "shift"), asked("batch", value)
        assert drawn[5]["y"][2] == pytest.approx(answer["decode"]["intensity"], rel=1e-4)
        # The circle stands where the drawn line crosses: activations counted, so beyond B*.
        on = parse_question(SCENARIO).machine()
        crossing = float(linear_crossing_batch(model(SCENARIO["model"]), on))
        assert drawn[6]["x"][0] == pytest.approx(crossing, rel=1e-4)
        assert drawn[6]["x"][0] > answer["critical_batch"]


def test_dataflow(page: Page, server: str) -> None:
    open_player(page, server, "/dataflow", QUERY)
    for index, value in stops_of(page, "dataflow", "bandwidth").items():
        slide_input(page, "bandwidth", index)
        page.wait_for_timeout(SETTLE_MS)
        question = parse_question(SCENARIO | {"bandwidth": f"{value:.12g}"})
        architecture, on = model(SCENARIO["model"]), question.machine()
        context = question.prompt + (question.output - 2) / 2
        one = layer(
            main_layers(architecture),
            architecture,
            on,
            batch=question.batch,
            new_tokens=1,
            cached_tokens=context,
            absorbed=True,
        )
        kernels = float(one.one_by_one(launch("stream").seconds).seconds) * 1e6
        drawn = figure_values(page, "flow")[0]["x"]
        assert drawn[0] == pytest.approx(kernels, rel=5e-3)
        assert drawn[2] == pytest.approx(float(one.streamed().seconds) * 1e6, rel=5e-3)


def test_batching(page: Page, server: str) -> None:
    open_player(page, server, "/batching", QUERY)
    for slider in ("batch", "bandwidth"):
        for index, value in stops_of(page, "batching", slider).items():
            slide_input(page, slider, index)
            page.wait_for_timeout(SETTLE_MS)
            drawn, answer = figure_values(page, "pareto"), asked(slider, value)
            dot = next(trace for trace in drawn if trace["name"] == "you are here")
            if not answer["fits"]:
                assert dot["x"][0] is None
                continue
            user = 1 / answer["tpot_s"]
            assert dot["x"][0] == pytest.approx(user, rel=1e-4)
            assert dot["y"][0] == pytest.approx(user * answer["batch"] / answer["tp"], rel=1e-4)
