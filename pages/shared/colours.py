"""Colours, dashes and markers: one of each for a quantity, the same through the whole project.

The palette (Okabe and Ito) is safe for colour-blind eyes; the dash and the marker say the same
again without colour.
"""

from __future__ import annotations

from dataclasses import dataclass

# The player replaces these two by the theme's own text and background.
INK = "ink"
PAPER = "paper"


@dataclass(frozen=True)
class Look:
    """How a quantity is drawn.

    Attributes
    ----------
    colour : str
        Hex, or 'ink'.
    dash : str
        Plotly's name of the dash of a line.
    marker : str
        Plotly's name of the symbol of a point.
    """

    colour: str
    dash: str = "solid"
    marker: str = "circle"

    def line(self, width: float = 2) -> dict[str, object]:
        """Return Plotly's `line` of a trace.

        Examples
        --------
        >>> DECODE.line()
        {'color': '#0072B2', 'dash': 'solid', 'width': 2}
        """
        return {"color": self.colour, "dash": self.dash, "width": width}

    def point(self, size: float = 12) -> dict[str, object]:
        """Return Plotly's `marker` of a trace.

        Examples
        --------
        >>> PREFILL.point()
        {'color': '#D55E00', 'symbol': 'diamond', 'size': 12}
        """
        return {"color": self.colour, "symbol": self.marker, "size": size}

    def faint(self, opacity: float = 0.15) -> str:
        """Return the colour as a wash for areas.

        Examples
        --------
        >>> DECODE.faint()
        'rgba(0,114,178,0.15)'
        """
        red, green, blue = (int(self.colour[at : at + 2], 16) for at in (1, 3, 5))
        return f"rgba({red},{green},{blue},{opacity:g})"


PREFILL = Look("#D55E00", "solid", "diamond")
DECODE = Look("#0072B2", "solid", "circle")
WEIGHTS = Look("#7F7F7F", "dash", "square")
KV_CACHE = Look("#009E73", "dot", "triangle-up")
COMPUTE_ROOF = Look("#E69F00", "solid", "line-ew")
BANDWIDTH_ROOF = Look("#56B4E9", "longdash", "line-ne")
COMMUNICATION = Look("#CC79A7", "dashdot", "cross")
LAUNCH = Look(INK, "longdashdot", "x")
MEASURED = Look(INK, "dot", "circle-open")
COLOCATED = Look("#9C6B4E", "dash", "square-open")
CHUNKED = Look("#999933", "dashdot", "diamond-open")
DISAGGREGATED = Look("#7B68C8", "solid", "triangle-down")

LOOKS = {
    "prefill": PREFILL,
    "decode": DECODE,
    "weights": WEIGHTS,
    "kv_cache": KV_CACHE,
    "compute_roof": COMPUTE_ROOF,
    "bandwidth_roof": BANDWIDTH_ROOF,
    "communication": COMMUNICATION,
    "launch": LAUNCH,
    "measured": MEASURED,
    "colocated": COLOCATED,
    "chunked": CHUNKED,
    "disaggregated": DISAGGREGATED,
}
