"""How figures look: one palette that color-blind readers can tell apart, on light and on dark paper."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

INK, MUTED, GRID, PAPER = "#1d2433", "#667085", "#d9dee7", "#ffffff"
SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f6fc4", "#8a7a3c")
"""The colors of Okabe and Ito (2008), without their yellow and black, and two more."""
MARKERS = ("o", "s", "D", "^", "v", "P", "X", "h")
DIVERGING = ("#b35806", "#f7f7f7", "#2166ac")

_SERIES_DARK = ("#4aa8e8", "#f5853f", "#2fc79b", "#e79cc6", "#f4bb45", "#9ad6fa", "#a99bf0", "#c9b76a")
DARK = {
    **{INK: "#e6e9ef", MUTED: "#9aa4b5", GRID: "#343c4a", PAPER: "#171b22"},
    **dict(zip(SERIES, _SERIES_DARK, strict=True)),
}
"""For each color on light paper, its counterpart on dark paper."""

RC: Any = {
    "font.family": ["DejaVu Sans"],
    "font.size": 8.5,
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 8,
    "axes.titlecolor": INK,
    "axes.labelsize": 8.5,
    "axes.labelcolor": MUTED,
    "axes.edgecolor": GRID,
    "axes.facecolor": "none",
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "axes.linewidth": 0.8,
    "axes.grid": True,
    "axes.unicode_minus": True,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": MUTED,
    "ytick.labelcolor": MUTED,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "text.color": INK,
    "lines.linewidth": 1.4,
    "lines.markersize": 4.5,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "figure.facecolor": PAPER,
    "figure.dpi": 100,
    "savefig.dpi": 200,
    "svg.fonttype": "none",
}

WIDE, NARROW = 7.4, 3.7
"""Widths of a figure in inches: of a page on a desk, and on a phone."""


@dataclass(frozen=True)
class Look:
    """Color and marker of a series, and the line style of the ninth and later ones."""

    color: str
    marker: str
    line: Literal["-", "--", ":"]


def assign_looks(names: Iterable[str]) -> dict[str, Look]:
    """Give each series its look, the same on all figures of a page."""
    styles: tuple[Literal["-", "--", ":"], ...] = ("-", "--", ":")
    return {
        name: Look(SERIES[i % len(SERIES)], MARKERS[i % len(MARKERS)], styles[i // len(SERIES) % len(styles)])
        for i, name in enumerate(dict.fromkeys(names))
    }


def make_panels(
    n: int, *, narrow: bool, height: float, columns: int = 3, share_y: bool = True, share_x: bool = False
) -> tuple[Figure, Sequence[Axes]]:
    """Make a figure of `n` panels side by side (below each other when `narrow`), each `height` inches high."""
    columns = 1 if narrow else min(columns, max(n, 1))
    rows = -(-max(n, 1) // columns)
    with mpl.rc_context(RC):
        layout = ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.06, hspace=0.06, wspace=0.04)
        figure = Figure(figsize=(NARROW if narrow else WIDE, rows * height + 0.45), layout=layout)
        grid = figure.subplots(rows, columns, squeeze=False, sharey=share_y, sharex=share_x)
    panels = list(grid.ravel())
    for unused in panels[n:]:
        unused.remove()
    return figure, panels[:n]
