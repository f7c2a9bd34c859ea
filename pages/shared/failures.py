"""Groups of measurements on which the prediction fails, and what is known of the reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from physics.measured_requests import Measured


@dataclass(frozen=True)
class Failure:
    """Rows with these values fail for this reason.

    Attributes
    ----------
    reason : str
        Key of its text, `evidence.reason_<reason>`.
    fields : mapping
        Values that a row must have, by field of `Measured`.
    """

    reason: str
    fields: Mapping[str, object] = field(default_factory=dict)

    def covers(self, row: Measured) -> bool:
        """Say whether a row belongs here."""
        return all(getattr(row, name) == value for name, value in self.fields.items())


FAILURES = (
    Failure("prompts_free", {"engine": "vllm", "version": "0.12.0", "model": "llama-3.1-8b"}),
    Failure("untuned_experts", {"engine": "vllm", "version": "0.12.0", "model": "qwen3-235b-a22b"}),
    Failure("slow_release", {"engine": "tensorrt-llm", "version": "1.3.0rc1"}),
    Failure("speculative", {"engine": "tensorrt-llm", "version": "1.2.0rc6.post3"}),
    Failure(
        "speculative",
        {"engine": "tensorrt-llm", "version": "1.1.0rc2.post2", "model": "deepseek-v3"},
    ),
    Failure(
        "expanded_fp4", {"engine": "tensorrt-llm", "model": "gpt-oss-120b", "chip": "h200-sxm"}
    ),
    Failure("young_software", {"engine": "sglang", "chip": "b300-sxm"}),
    Failure("slow_first", {"engine": "sglang", "metric": "ttft"}),
    Failure("own_kernels", {"engine": "llama.cpp"}),
    Failure("pcie", {"engine": "mlc-llm", "chip": "a100-pcie-80gb"}),
)


def reason(row: Measured) -> str:
    """Return the key of the reason for which a row fails, or 'unknown'.

    Examples
    --------
    >>> from physics.measured_requests import measured_requests
    >>> reason(next(row for row in measured_requests() if row.engine == "llama.cpp"))
    'own_kernels'
    """
    return next((failure.reason for failure in FAILURES if failure.covers(row)), "unknown")
