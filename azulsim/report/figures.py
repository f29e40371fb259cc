"""The figures of the reports: each takes the frame of a metric and returns a matplotlib figure.

All take `narrow=True` for a layout that fits a phone. Names in frames are untrusted text: they go through
`clean_label`, so that none becomes a formula or a control character.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator

from azulsim.report.style import DIVERGING, INK, MUTED, PAPER, RC, Look, make_panels
from azulsim.report.words import MINUS, clean_label, format_number

Looks = Mapping[str, Look]


def draw_lines(
    panels: Mapping[str, pd.DataFrame],
    x: str,
    looks: Looks,
    *,
    narrow: bool = False,
    x_label: str = "",
    x_names: Mapping[int, str] | None = None,
    references: Mapping[str, float] | None = None,
    columns: int = 3,
    height: float = 2.1,
    share_y: bool = False,
    signed: bool = False,
    bars: bool = True,
    from_zero: bool = False,
) -> Figure:
    """Draw estimates over a whole number `x`, a line a strategy, a panel an entry of `panels`.

    `panels` maps a title to the frame of a metric with the columns `x` and `spec`; `looks` gives the colors of the
    strategies; `x_label` and `x_names` are words for the horizontal axis and for single values of it.
    `references` maps a title to a value at which a dashed line stands, such as a fair share. Estimates that are
    differences are `signed`, so that shares are percentage points. Intervals are drawn as `bars`, or else, for
    many points, as a light band.
    """
    figure, axes = make_panels(len(panels), narrow=narrow, height=height, columns=columns, share_y=share_y)
    with mpl.rc_context(RC):
        for axis, (title, frame) in zip(axes, panels.items(), strict=True):
            unit = _scale_axis(axis.yaxis, frame, signed=signed)
            axis.set_title(f"{clean_label(title, 60)}{f'  ({unit})' if unit else ''}")
            _draw_series(axis, frame, x, looks, bars=bars)
            _label_whole_numbers(axis, frame[x], x_names)
            if references and title in references:
                axis.axhline(references[title], color=MUTED, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
            if from_zero:
                axis.set_ylim(bottom=0)
            axis.grid(visible=False, axis="x")
            axis.set_xlabel(x_label)
        _add_legend(figure, looks, _specs_of(panels.values()), narrow=narrow)
    return figure


def draw_forest(
    panels: Mapping[str, pd.DataFrame],
    looks: Looks,
    order: Sequence[str],
    *,
    narrow: bool = False,
    references: Mapping[str, float] | None = None,
    reference_name: str = "",
    signed: bool = False,
    columns: int = 3,
    write_values: bool = True,
) -> Figure:
    """Draw one estimate a strategy as a dot with its interval, strategies from top to bottom, a panel an entry.

    `order` lists the strategies; `references` are values at which a dashed line stands; the rest as `draw_lines`.
    """
    names = [name for name in order if any((frame["spec"] == name).any() for frame in panels.values())]
    height = 0.5 + 0.34 * max(len(names), 2)
    figure, axes = make_panels(len(panels), narrow=narrow, height=height, columns=columns)
    with mpl.rc_context(RC):
        for place, (axis, (title, frame)) in enumerate(zip(axes, panels.items(), strict=True)):
            unit = _scale_axis(axis.xaxis, frame, signed=signed)
            axis.set_title(f"{clean_label(title, 60)}{f'  ({unit})' if unit else ''}")
            rows = {str(row["spec"]): row for _, row in frame.iterrows()}
            if references and title in references:
                axis.axvline(references[title], color=MUTED, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
                if reference_name and place == 0:
                    _name_reference(axis, references[title], reference_name)
            for y, name in enumerate(names):
                if name in rows:
                    _draw_dot(axis, rows[name], y, looks[name], write=write_values, signed=signed)
            axis.set_yticks(range(len(names)), [clean_label(name, 26) for name in names])
            axis.tick_params(axis="y", labelcolor=INK)
            axis.set_ylim(len(names) - 0.4, -0.75)
            axis.grid(visible=False, axis="y")
            axis.margins(x=0.12)
            axis.xaxis.set_major_locator(MaxNLocator(6 if narrow else 4, steps=[1, 2, 5, 10]))
    return figure


def draw_distribution(
    panels: Mapping[str, pd.DataFrame],
    x: str,
    looks: Looks,
    *,
    width: float = 1,
    narrow: bool = False,
    x_label: str = "",
    height: float = 1.9,
    name: str = "spec",
    columns: int = 3,
) -> Figure:
    """Draw shares over bins of `x` (lower edges, `width` wide) as outlined steps, a line an entry of `name`."""
    figure, axes = make_panels(len(panels), narrow=narrow, height=height, columns=columns, share_x=True)
    with mpl.rc_context(RC):
        for axis, (title, frame) in zip(axes, panels.items(), strict=True):
            axis.set_title(clean_label(title, 40))
            for series, rows in frame.groupby(frame[name].astype(str), sort=False):
                rows = rows.sort_values(x)
                look = looks[str(series)]
                edges = np.append(rows[x], rows[x].iloc[-1] + width) - (0.5 if width == 1 else 0)
                axis.stairs(100 * rows["estimate"], edges, color=look.color, linestyle=look.line, linewidth=1.5)
                axis.stairs(100 * rows["estimate"], edges, color=look.color, fill=True, alpha=0.10)
            axis.set_ylim(bottom=0)
            axis.yaxis.set_major_locator(MaxNLocator(4))
            axis.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=7))
            axis.tick_params(labelbottom=True)
            axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g} %"))
            axis.grid(visible=False, axis="x")
            axis.set_xlabel(x_label)
        names = list(dict.fromkeys(str(s) for frame in panels.values() for s in frame[name]))
        _add_legend(figure, looks, names, narrow=narrow, is_line=True)
    return figure


def draw_matrix(
    panels: Mapping[str, pd.DataFrame], order: Sequence[str], *, narrow: bool = False, label: str = ""
) -> Figure:
    """Draw how often the row strategy does better than the column strategy: blue above one half, brown below.

    Frames have the columns `spec`, `opponent`, `estimate`, `low`, `high`; cells whose interval includes one half
    are pale.
    """
    n = max(len(order), 2)
    size = min(0.52 * n, 3.4)
    figure, axes = make_panels(len(panels), narrow=narrow, height=size + 1.1, columns=2 if n <= 5 else 1, share_y=True)
    colors = LinearSegmentedColormap.from_list("payoff", DIVERGING)
    with mpl.rc_context(RC):
        for axis, (title, frame) in zip(axes, panels.items(), strict=True):
            axis.set_title(clean_label(title, 40))
            places = {name: i for i, name in enumerate(order)}
            for _, row in frame.iterrows():
                _draw_cell(axis, row, places[str(row["opponent"])], places[str(row["spec"])], colors, size / n)
            labels = [clean_label(name, 22) for name in order]
            axis.set_xticks(range(len(order)), labels, rotation=40, ha="right", rotation_mode="anchor")
            axis.set_yticks(range(len(order)), labels)
            axis.tick_params(labelcolor=INK, labelleft=True)
            axis.set_xlim(-0.5, len(order) - 0.5)
            axis.set_ylim(len(order) - 0.5, -0.5)
            axis.set_aspect("equal")
            axis.grid(visible=False)
            axis.spines["bottom"].set_visible(False)
            axis.set_xlabel(label)
    return figure


def _draw_cell(axis: Axes, row: pd.Series, x: int, y: int, colors: LinearSegmentedColormap, size: float) -> None:
    unsure = row["low"] <= 0.5 <= row["high"]
    fill = colors(0.5 + (row["estimate"] - 0.5) * (0.35 if unsure else 1.0))
    dark = sum(weight * part for weight, part in zip((0.299, 0.587, 0.114), fill[:3], strict=True)) < 0.5
    rectangle = mpl.patches.Rectangle((x - 0.48, y - 0.48), 0.96, 0.96, facecolor=fill, edgecolor="none")
    axis.add_patch(rectangle)
    axis.text(
        x, y, f"{100 * row['estimate']:.0f}", ha="center", va="center", color="#fefefe" if dark else "#10151f",
        fontsize=8.5 if size > 0.33 else 6.5,
    )  # fmt: skip


def _draw_series(axis: Axes, frame: pd.DataFrame, x: str, looks: Looks, *, bars: bool) -> None:
    names = [name for name in looks if (frame["spec"] == name).any()]
    step = min(0.09, 0.6 / max(len(names), 1)) if bars else 0.0
    for place, name in enumerate(names):
        rows, look = frame[frame["spec"] == name].sort_values(x), looks[name]
        at = rows[x].to_numpy(float) + step * (place - (len(names) - 1) / 2)
        value = rows["estimate"].to_numpy(float)
        low, high = rows["low"].fillna(rows["estimate"]), rows["high"].fillna(rows["estimate"])
        axis.plot(at, value, color=look.color, linestyle=look.line, alpha=0.55 if bars else 0.9, linewidth=1.2)
        if bars:
            errors = np.maximum([value - low, high - value], 0)
            axis.errorbar(
                at, value, errors, fmt=look.marker, color=look.color, markeredgecolor=PAPER, markeredgewidth=0.6,
                elinewidth=1.6, capsize=0, zorder=3,
            )  # fmt: skip
        else:
            axis.fill_between(at, low, high, color=look.color, alpha=0.15, linewidth=0)
            axis.plot(at, value, look.marker, color=look.color, markersize=2.8)


def _draw_dot(axis: Axes, row: pd.Series, y: float, look: Look, *, write: bool, signed: bool) -> None:
    low, high = (row[end] if np.isfinite(row[end]) else row["estimate"] for end in ("low", "high"))
    axis.plot([low, high], [y, y], color=look.color, linewidth=2.2, solid_capstyle="round", alpha=0.65)
    axis.plot([row["estimate"]], [y], look.marker, color=look.color, markeredgecolor=PAPER, markersize=6.5)
    if write:
        share = row["unit"] == "share"
        digits = 1 if share or high - low < 4 else 0
        text = format_number((100 if share else 1) * row["estimate"], digits, signed=signed)
        axis.annotate(
            text, (row["estimate"], y), (0, 5.5), textcoords="offset points", ha="center", va="bottom",
            color=INK, fontsize=7.5, bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 0.5}, zorder=2.5,
        )  # fmt: skip


def _name_reference(axis: Axes, at: float, name: str) -> None:
    axis.annotate(
        name, (at, 0), (3, 2), xycoords=("data", "axes fraction"), textcoords="offset points",
        color=MUTED, fontsize=7, ha="left", va="bottom",
    )  # fmt: skip


def _scale_axis(axis: mpl.axis.Axis, frame: pd.DataFrame, *, signed: bool) -> str:
    """Let an axis speak in per cent for shares; return the unit to name in the title."""
    units = set(frame["unit"])
    axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    if units == {"share"}:
        sign = "+" if signed else ""
        axis.set_major_formatter(
            FuncFormatter(lambda value, _: f"{100 * value:{sign if round(value, 9) else ''}.3g}".replace("-", MINUS))
        )
        return "% points" if signed else "%"
    return units.pop() if units in ({"points"}, {"Elo"}) else ""


def _label_whole_numbers(axis: Axes, values: pd.Series, names: Mapping[int, str] | None) -> None:
    found = sorted({int(value) for value in values})
    if not found:
        return
    step = -(-len(found) // 10)
    ticks = found[::step]
    axis.set_xticks(ticks, [(names or {}).get(tick, str(tick)) for tick in ticks])
    axis.set_xlim(found[0] - 0.5, found[-1] + 0.5)


def _specs_of(frames: object) -> list[str]:
    return list(dict.fromkeys(str(spec) for frame in frames for spec in frame["spec"]))  # type: ignore[attr-defined]


def _add_legend(figure: Figure, looks: Looks, names: Sequence[str], *, narrow: bool, is_line: bool = False) -> None:
    """Put the names above the panels, as many a row as fit."""
    shown = [name for name in looks if name in names]
    if len(shown) < 2:
        return
    labels = [clean_label(name, 26) for name in shown]
    room = 40 if narrow else 84
    handles = [
        Line2D([], [], color=looks[name].color, marker="" if is_line else looks[name].marker,
               linestyle=looks[name].line, linewidth=2 if is_line else 1.2)
        for name in shown
    ]  # fmt: skip
    fit = max(1, min(len(shown), room // (max(map(len, labels)) + 5)))
    columns = -(-len(shown) // -(-len(shown) // fit))
    figure.legend(
        handles, labels, loc="outside upper left", ncols=columns, labelcolor=INK, handlelength=1.6, columnspacing=1.4,
        borderaxespad=0.2, handletextpad=0.6,
    )  # fmt: skip
