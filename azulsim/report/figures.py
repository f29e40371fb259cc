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
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, MaxNLocator
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from azulsim.report.style import DIVERGING, GRID, INK, MUTED, PAPER, RC, SERIES, Look, make_panels
from azulsim.report.words import MINUS, clean_label, clean_labels, format_number

Looks = Mapping[str, Look]
FULL = 0.35
"""How far from one half a cell of a matrix has its full color."""
MANY = 14
"""More strategies than this, and a figure leaves out the numbers beside its dots or in its cells."""


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
            axis.grid(visible=False, axis="x")
            axis.set_xlabel(x_label)
        for axis in axes if from_zero else ():  # when all is drawn, for a set limit is final and may be shared
            axis.set_ylim(bottom=0)
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
    is_long = len(names) > MANY
    write_values = write_values and not is_long
    height = 0.5 + (0.19 if is_long else 0.34) * max(len(names), 2)
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
            axis.set_yticks(range(len(names)), clean_labels(names, 26))
            axis.tick_params(axis="y", labelcolor=INK)
            axis.set_ylim(len(names) - 0.4, -0.75)
            axis.grid(visible=False, axis="y")
            axis.margins(x=0.12)
            axis.xaxis.set_major_locator(MaxNLocator(6 if narrow or len(panels) == 1 else 4, steps=[1, 2, 5, 10]))
    return figure


def draw_stacks(
    panels: Mapping[str, pd.DataFrame],
    row: str,
    parts: Mapping[str, str],
    *,
    narrow: bool = False,
    x_label: str = "",
) -> Figure:
    """Draw shares that add up to 1 as bars cut into parts, a bar an entry of `row`, a heading a panel.

    Frames have the columns `row`, `outcome` and `estimate`; `parts` names the outcomes in the order of the bar. Parts
    of at least 8 % have their percentage written in them.
    """
    bars: list[tuple[float, str, dict[str, float]]] = []
    heads: list[tuple[float, str]] = []
    y = 0.0
    for title, frame in panels.items():
        heads.append((y, title))
        for name, rows in frame.groupby(frame[row].astype(str), sort=False):
            y += 1
            bars.append((y, str(name), dict(zip(rows["outcome"], rows["estimate"], strict=True))))
        y += 1.4
    colors = [SERIES[k % len(SERIES)] for k in range(len(parts) - 1)] + [GRID]
    figure, (axis,) = make_panels(1, narrow=narrow, height=0.5 + 0.27 * y, columns=1)
    with mpl.rc_context(RC):
        at = [place for place, _, _ in bars]
        left = np.zeros(len(bars))
        for color, part in zip(colors, parts, strict=True):
            width = np.array([100 * shares.get(part, 0.0) for _, _, shares in bars])
            axis.barh(at, width, left=left, height=0.66, color=color, edgecolor=PAPER, linewidth=0.6)
            for place, start, size in zip(at, left, width, strict=True):
                if size >= 8:
                    axis.text(start + size / 2, place, f"{size:.0f}", ha="center", va="center", fontsize=7.5,
                              color=INK if color == GRID else PAPER)  # fmt: skip
            left += width
        for place, title in heads:
            axis.text(0, place, clean_label(title, 40), ha="left", va="center", fontsize=8.5, fontweight="bold")
        axis.set_yticks(at, [clean_label(name, 30 if narrow else 44) for _, name, _ in bars])
        axis.tick_params(axis="y", labelcolor=INK, labelsize=7.5)
        axis.set_ylim(y - 0.8, -0.6)
        axis.set_xlim(0, 100)
        axis.set_xticks(range(0, 101, 25))
        axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g} %"))
        axis.grid(visible=False)
        axis.set_xlabel(x_label)
        figure.legend(
            [Rectangle((0, 0), 1, 1, color=color) for color in colors], list(parts.values()), loc="outside upper left",
            ncols=2 if narrow else len(parts), labelcolor=INK, handlelength=1.0, columnspacing=1.4, borderaxespad=0.2,
        )  # fmt: skip
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
    """Draw shares over bins of `x` (lower edges, `width` wide) as outlined steps, a line an entry of `name`.

    Panels are as high as their own shares: one narrow distribution would leave nothing to see of the others.
    """
    figure, axes = make_panels(len(panels), narrow=narrow, height=height, columns=columns, share_x=True, share_y=False)
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
    is_large = n > MANY
    size = min(0.52 * n, 3.4) if not is_large else 2.6 if narrow else 5.2
    figure, axes = make_panels(len(panels), narrow=narrow, height=size + 1.1, columns=2 if n <= 5 else 1, share_y=True)
    colors = LinearSegmentedColormap.from_list("payoff", DIVERGING)
    with mpl.rc_context(RC):
        for axis, (title, frame) in zip(axes, panels.items(), strict=True):
            axis.set_title(clean_label(title, 40))
            places = {name: i for i, name in enumerate(order)}
            unsure = frame["low"].le(0.5) & frame["high"].ge(0.5)
            shown = frame.assign(
                x=frame["opponent"].astype(str).map(places),
                y=frame["spec"].astype(str).map(places),
                tint=(0.5 + (frame["estimate"] - 0.5) * np.where(unsure, 0.35, 1) * 0.5 / FULL).clip(0, 1),
            )
            _draw_cells(axis, shown, colors, len(order), len(order))
            if not is_large:
                _write_cells(axis, shown, colors, 8.5 if size / n > 0.33 else 6.5)
            labels = clean_labels(order, 28 if is_large else 22)
            if is_large:
                _number_labels(axis, labels, 50 * size / n)
            else:
                axis.set_xticks(range(len(order)), labels, rotation=40, ha="right", rotation_mode="anchor")
                axis.set_yticks(range(len(order)), labels)
            axis.tick_params(labelcolor=INK, labelleft=True)
            axis.set_aspect("equal")
            axis.set_xlabel(label)
    return figure


def draw_profiles(
    panels: Mapping[str, pd.DataFrame],
    order: Sequence[str],
    labels: Mapping[str, str],
    *,
    narrow: bool = False,
    most: float = 2.5,
) -> Figure:
    """Draw how each strategy differs from the field: a row a strategy, a column a trait, blue above the mean.

    Frames have the columns `spec`, `outcome` and `z`, the trait in standard deviations of the field; the color is
    fullest at `most`. `labels` names the traits, in the order of the columns.
    """
    n = max(len(order), 2)
    figure, axes = make_panels(len(panels), narrow=narrow, height=min(0.3, 5.2 / n + 0.06) * n + 1.5, columns=1)
    colors = LinearSegmentedColormap.from_list("profile", DIVERGING)
    rows, columns = ({str(name): i for i, name in enumerate(names)} for names in (order, labels))
    with mpl.rc_context(RC):
        for axis, (title, frame) in zip(axes, panels.items(), strict=True):
            axis.set_title(clean_label(title, 40))
            x, y = frame["outcome"].astype(str).map(columns), frame["spec"].astype(str).map(rows)
            shown = frame.assign(x=x, y=y, tint=(0.5 + frame["z"] / (2 * most)).clip(0, 1)).dropna(subset=["x", "y"])
            _draw_cells(axis, shown, colors, len(columns), len(rows))
            size = 6.0 if narrow else 7.5
            axis.set_xticks(range(len(labels)), list(labels.values()), rotation=60, ha="right", rotation_mode="anchor",
                            fontsize=size)  # fmt: skip
            names = clean_labels(order, 24)
            axis.set_yticks(range(len(order)), names, fontsize=min(size, 165 / n))
            axis.tick_params(labelcolor=INK, labelleft=True, labelbottom=True)
    return figure


def draw_rows(
    panels: Mapping[str, pd.DataFrame], x: str, order: Sequence[str], *, narrow: bool = False, label: str = ""
) -> Figure:
    """Draw shares over a whole number `x` as a table of colors: a row a strategy, the darker the greater."""
    n = max(len(order), 2)
    figure, axes = make_panels(len(panels), narrow=narrow, height=min(0.3, 5.2 / n + 0.06) * n + 0.8, columns=3)
    colors = LinearSegmentedColormap.from_list("rows", DIVERGING[1:])
    most = max((float(frame["estimate"].max()) for frame in panels.values() if len(frame)), default=1.0) or 1.0
    with mpl.rc_context(RC):
        for axis, (title, frame) in zip(axes, panels.items(), strict=True):
            axis.set_title(clean_label(title, 40))
            found = sorted({int(value) for value in frame[x]})
            columns, rows = ({value: i for i, value in enumerate(values)} for values in (found, order))
            cells = frame.assign(
                x=frame[x].astype(int).map(columns),
                y=frame["spec"].astype(str).map(rows),
                tint=frame["estimate"] / most,
            )
            _draw_cells(axis, cells, colors, len(found), len(order))
            _write_cells(axis, cells, colors, 7.5 if n <= MANY else 6.0)
            axis.set_xticks(range(len(found)), [str(value) for value in found])
            axis.set_yticks(range(len(order)), clean_labels(order, 24), fontsize=min(8.0, 200 / n))
            axis.tick_params(axis="y", labelcolor=INK)
            axis.set_xlabel(label)
    return figure


def draw_tree(panels: Mapping[str, pd.DataFrame], *, narrow: bool = False, label: str = "") -> Figure:
    """Draw which strategies play alike as a tree: groups join at the mean distance between their members.

    Frames are those of `metrics.distances`. Joints are dotted where no distance across them is told from 0.
    """
    n = max((frame["spec"].nunique() for frame in panels.values()), default=2)
    columns = 1 if len(panels) == 1 else 2
    figure, axes = make_panels(
        len(panels), narrow=narrow, height=0.9 + max(0.15, min(0.3, 4.5 / n)) * n, columns=columns, share_y=False
    )
    with mpl.rc_context(RC):
        for axis, (title, frame) in zip(axes, panels.items(), strict=True):
            axis.set_title(clean_label(title, 40))
            _draw_joints(axis, frame)
            axis.tick_params(axis="y", labelcolor=INK, labelsize=min(8.0, 230 / n))
            axis.grid(visible=False, axis="y")
            axis.set_xlim(left=0)
            axis.set_xlabel(label)
    return figure


def order_leaves(frame: pd.DataFrame) -> list[str]:
    """Order strategies as the leaves of the tree of `draw_tree`, for one player count."""
    names, joints, _ = _join(frame)
    return [names[leaf] for leaf in leaves_list(joints)]


def _join(frame: pd.DataFrame) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return the strategies, the joints of their tree, and the least that each distance may be."""
    names = list(dict.fromkeys(frame["spec"].astype(str)))
    place = {name: i for i, name in enumerate(names)}
    one, two = (frame[key].astype(str).map(place).to_numpy() for key in ("spec", "other"))
    matrix, low = np.zeros((2, len(names), len(names)))
    matrix[one, two], low[one, two] = frame["estimate"], frame["low"].fillna(0.0)
    return names, linkage(squareform(matrix, checks=False), method="average", optimal_ordering=True), low


def _draw_joints(axis: Axes, frame: pd.DataFrame) -> None:
    names, joints, low = _join(frame)
    leaves = leaves_list(joints)
    at = {int(leaf): (0.0, float(y)) for y, leaf in enumerate(leaves)}
    members = {i: [i] for i in range(len(names))}
    for step, (a, b, height, _) in enumerate(joints):
        left, right = int(a), int(b)
        is_clear = bool((low[np.ix_(members[left], members[right])] > 0).any())
        (x1, y1), (x2, y2) = at[left], at[right]
        axis.plot(
            [x1, height, height, x2], [y1, y1, y2, y2], color=SERIES[0] if is_clear else MUTED, linewidth=1.4,
            linestyle="-" if is_clear else (0, (1.5, 1.5)), solid_joinstyle="miter",
        )  # fmt: skip
        members[len(names) + step] = members[left] + members[right]
        at[len(names) + step] = (float(height), (y1 + y2) / 2)
    axis.set_yticks(range(len(names)), clean_labels([names[leaf] for leaf in leaves], 26))
    axis.set_ylim(len(names) - 0.5, -0.5)


def draw_wall(panels: Mapping[str, pd.DataFrame], *, narrow: bool = False) -> Figure:
    """Draw how often each space of the wall holds a tile: columns `row`, `column` (from 1) and `estimate`."""
    height = 2.6
    figure, axes = make_panels(len(panels), narrow=narrow, height=height, columns=3)
    colors = LinearSegmentedColormap.from_list("wall", DIVERGING[1:])
    with mpl.rc_context(RC):
        for axis, (title, frame) in zip(axes, panels.items(), strict=True):
            axis.set_title(clean_label(title, 40))
            cells = frame.assign(x=frame["column"] - 1, y=frame["row"] - 1, tint=frame["estimate"])
            _draw_cells(axis, cells, colors, 5, 5)
            _write_cells(axis, cells, colors, 8.5)
            axis.set_xticks(range(5), [str(k) for k in range(1, 6)])
            axis.set_yticks(range(5), [str(k) for k in range(1, 6)])
            axis.tick_params(labelleft=True)
            axis.set_aspect("equal")
            axis.set_xlabel("column")
            axis.set_ylabel("row")
    return figure


def draw_against_field(
    panels: Mapping[str, pd.DataFrame],
    spec: str,
    labels: Mapping[str, str],
    look: Look,
    *,
    columns: tuple[str, str, str] = ("estimate", "low", "high"),
    narrow: bool = False,
    label: str = "",
) -> Figure:
    """Draw where a strategy stands in the field, row by row: all others as pale dots, this one with its interval.

    Frames have the columns `spec`, `outcome` (the rows, named by `labels`) and `columns`: the value and its ends.
    """
    value, low, high = columns
    figure, axes = make_panels(len(panels), narrow=narrow, height=0.5 + 0.21 * len(labels), columns=3)
    with mpl.rc_context(RC):
        for axis, (title, frame) in zip(axes, panels.items(), strict=True):
            axis.set_title(clean_label(title, 40))
            axis.axvline(0, color=MUTED, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
            y = frame["outcome"].map({name: i for i, name in enumerate(labels)})
            mine = frame["spec"].astype(str) == spec
            axis.plot(frame[value][~mine], y[~mine], "o", color=MUTED, alpha=0.35, markersize=3.2, markeredgewidth=0)
            axis.hlines(
                y[mine],
                frame[low].fillna(frame[value])[mine],
                frame[high].fillna(frame[value])[mine],
                color=look.color,
                linewidth=2.2,
                alpha=0.65,
            )
            axis.plot(frame[value][mine], y[mine], look.marker, color=look.color, markeredgecolor=PAPER, markersize=6.5)
            axis.set_yticks(range(len(labels)), list(labels.values()), fontsize=7.5)
            axis.tick_params(axis="y", labelcolor=INK)
            axis.set_ylim(len(labels) - 0.5, -0.5)
            axis.grid(visible=False, axis="y")
            axis.set_xlabel(label)
    return figure


def _draw_cells(axis: Axes, cells: pd.DataFrame, colors: LinearSegmentedColormap, width: int, height: int) -> None:
    """Fill cells at whole numbers `x` and `y` (from the top) with the color of `tint`, 0 to 1, a thin gap between."""
    gap = 0.04 if width <= MANY else 0.06
    for x, y, tint in zip(cells["x"], cells["y"], cells["tint"], strict=True):
        corner, color = (x - 0.5 + gap / 2, y - 0.5 + gap / 2), colors(tint)
        axis.add_patch(Rectangle(corner, 1 - gap, 1 - gap, facecolor=color, edgecolor="none", clip_on=False))
    axis.set_xlim(-0.5, width - 0.5)
    axis.set_ylim(height - 0.5, -0.5)
    axis.grid(visible=False)
    axis.spines["bottom"].set_visible(False)


def _write_cells(axis: Axes, cells: pd.DataFrame, colors: LinearSegmentedColormap, size: float) -> None:
    """Write the percentage of each cell into it."""
    for x, y, tint, share in cells[["x", "y", "tint", "estimate"]].to_numpy(float):
        dark = float(np.dot((0.299, 0.587, 0.114), colors(tint)[:3])) < 0.5
        axis.text(
            x, y, f"{100 * share:.0f}", ha="center", va="center", fontsize=size, color="#fefefe" if dark else "#10151f"
        )


def _number_labels(axis: Axes, labels: Sequence[str], size: float) -> None:
    """Number the rows beside their names, and the columns by the same numbers, in type of at most `size` points."""
    n = len(labels)
    size = min(size, 7.5)
    axis.set_yticks(range(n), [f"{label}  {i + 1}" for i, label in enumerate(labels)], fontsize=size)
    step = 1 if size > 5 else 4
    axis.set_xticks(range(0, n, step), [str(i + 1) for i in range(0, n, step)], fontsize=max(size * 0.85, 4.5))


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
    labels = clean_labels(shown, 26)
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
