"""Printed numbers of speculative decoding, expert parallelism, metrics and other small formulas."""

from __future__ import annotations

from physics.cost import cost_per_million_tokens
from physics.expert_parallel import exchange_bound_tpot_seconds, exchange_seconds
from physics.kv_cache import freed_tokens_per_step
from physics.metrics import JOULE_PER_WATT_HOUR, throughput_gain, time_per_output_token
from physics.roofline import elementwise_intensity, unfused_attention_intensity
from physics.speculative import speculative_speedup, speculative_work
from tests.physics.published_case import Case

DIGIT = "the last printed digit"
INFINIBAND, NVL72 = 50e9, 900e9


def exchange(link: float) -> float:
    """Seconds of one exchange: 32 tokens a chip, 8 routed experts and a shared one, 7,000 wide."""
    return float(exchange_seconds(tokens=32, experts=9, hidden=7000, link=link))


def exchange_tpot(link: float) -> float:
    return float(exchange_bound_tpot_seconds(61, exchange(link)))


def day_of_deepseek() -> float:
    """USD for the 168e9 output tokens that 226.75 nodes of 8 chips wrote in a day, at 2 USD."""
    tokens = 168e9
    each = cost_per_million_tokens(tokens / 86_400, chips=226.75 * 8, price_per_chip_hour=2)
    return float(each) * tokens / 1e6


SERVING = {
    "ds_cost_day": Case(day_of_deepseek),
    "gmi_cost_85": Case(
        lambda: cost_per_million_tokens(85, chips=1, price_per_chip_hour=2),
        within=0.005,
        because=DIGIT,
    ),
    "ai_relu": Case(lambda: elementwise_intensity(1.0)),
    "baseten_unfused_attn_ai": Case(
        lambda: unfused_attention_intensity(4096, 128), within=0.5, because="printed as 62"
    ),
    "sb_evictions": Case(lambda: freed_tokens_per_step(32, 8192, 4096)),
    "pope_29ms": Case(
        # 64 steps take 1.82 s; the first token's own time is not among them.
        lambda: 1e3 * time_per_output_token(e2e_seconds=1.82, ttft_seconds=0, output_tokens=65),
        within=0.6,
        because="29 ms is printed for 28.4: rounded up",
    ),
    "mtmg_opt27b_gain": Case(lambda: throughput_gain(7607, 225), within=0.05, because=DIGIT),
    "energy_gemini_prompt": Case(lambda: 0.24 * JOULE_PER_WATT_HOUR),
    "ds_ep_comm_ib": Case(lambda: 1e6 * exchange(INFINIBAND)),
    "ds_ep_comm_nvl72": Case(lambda: 1e6 * exchange(NVL72)),
    "ds_tpot_ib": Case(lambda: 1e3 * exchange_tpot(INFINIBAND), within=0.005, because=DIGIT),
    "ds_tpot_nvl72": Case(lambda: 1e3 * exchange_tpot(NVL72), within=0.005, because=DIGIT),
    "ds_tps_ib": Case(
        lambda: 1 / exchange_tpot(INFINIBAND), within=1, because="67.8 is printed cut, as 67"
    ),
    "ds_mtp_speedup": Case(lambda: speculative_speedup(0.8, 1)),
    "spec_speed_a6_g2": Case(lambda: speculative_speedup(0.6, 2)),
    "spec_speed_a7_g3": Case(lambda: speculative_speedup(0.7, 3), within=0.005, because=DIGIT),
    "spec_speed_a9_g2": Case(lambda: speculative_speedup(0.9, 2)),
    "spec_ops_a6_g2": Case(lambda: speculative_work(0.6, 2), within=0.005, because=DIGIT),
    "spec_ops_a8_g2": Case(lambda: speculative_work(0.8, 2), within=0.005, because=DIGIT),
    "spec_ops_a9_g2": Case(lambda: speculative_work(0.9, 2), within=0.005, because=DIGIT),
    "spec_ops_a9_g10": Case(lambda: speculative_work(0.9, 10), within=0.005, because=DIGIT),
    "spec_bigram": Case(lambda: speculative_speedup(0.2, 3), within=0.005, because=DIGIT),
}
