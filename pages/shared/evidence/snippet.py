"""The numbers of the evidence as a few lines of Python that compute them anew with `physics`."""

from __future__ import annotations

import json
from dataclasses import asdict

from pages.shared.evidence.words import selection_of
from pages.shared.scenario import Scenario
from physics.evidence import BAND

_LINES = """\
from physics.evidence import Selection, errors_of, unseen_median, within

chosen = Selection(
{selection}
)
rows = chosen.rows()
numbers = {{
    "unseen.tpot_dense": unseen_median("tpot", "dense"),
    "unseen.tpot_moe": unseen_median("tpot", "moe"),
    "unseen.ttft_dense": unseen_median("ttft", "dense"),
    "rows": len(rows),
}}
if rows:
    found = errors_of(rows, chosen.prediction)  # of predicted / measured - 1
    numbers |= {{
        "median_error": found.median,
        "mean_error": found.mean,
        "bias": found.bias,
        "within_band": within(rows, chosen.prediction),  # of {band:g} to either side
    }}

for name, value in numbers.items():
    print(name, value)
"""


def snippet(scenario: Scenario) -> str:
    """Return the lines that compute the errors of the rows chosen.

    Every option is written out, so that the lines mean the same when a default changes.

    Examples
    --------
    >>> print(snippet(Scenario(metric="ttft")).splitlines()[3])
        metric="ttft",
    """
    values = asdict(selection_of(scenario))
    lines = (f"    {name}={json.dumps(value)}," for name, value in values.items())
    return _LINES.format(selection="\n".join(lines), band=BAND)
