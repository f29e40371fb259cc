"""Writes reports: one self-contained HTML page, report.json, CSV files, and the figures as SVG and PNG.

The same run gives the same bytes: no dates, no random ids. All text of a run is untrusted: Jinja2 escapes it in the
page, JSON inside the page cannot close its element, CSV cells cannot become formulas.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import math
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from matplotlib.figure import Figure

from azulsim.errors import RunError
from azulsim.report.memory import collect_seldom
from azulsim.report.model import Drawing, Plot, Report, Section, Table
from azulsim.report.style import DARK, RC
from azulsim.report.words import (
    MISSING,
    clean,
    clean_cell,
    decimals_for,
    format_number,
    format_short,
)

SCHEMA = "azulsim.report/1"
FIGURES, TABLES = "figures", "tables"
MOST_ROWS = 120
"""A longer table shows every number in its CSV file only, so that pages stay small."""
MOST_SHOWN = 200
"""Rows of a table on the page; the CSV file has all."""

_ESTIMATE_COLUMNS = {"outcome", "unit", "estimate", "low", "high", "se", "n", "n_deals", "mde", "note"}
_NUMBER_KEYS = {"players", "seat", "round", "rounds", "move", "cell"}
_COLUMN_LABELS = {
    "spec": "strategy",
    "n_deals": "deals",
    "n": "observations",
    "se": "standard error",
    "mde": "smallest detectable",
    "low": "low (95 %)",
    "high": "high (95 %)",
    "p_value": "p",
    "df_numerator": "df",
    "df_denominator": "residual df",
}


@dataclass(frozen=True)
class Written:
    """What was written, and the short answer."""

    page: Path
    json: Path
    files: tuple[Path, ...]
    """Every file, the page first."""
    reports: tuple[Report, ...]

    @property
    def answer(self) -> str:
        """The answers of all reports, as plain lines; before them, if the run is not finished, a line that says so."""
        gap = self.reports[0].provenance.get("unfinished")
        answers = [f"{report.title}: {' '.join(report.answer)}" for report in self.reports]
        return "\n".join([gap, *answers] if gap else answers)


@collect_seldom()
def write_page(reports: Sequence[Report], folder: Path, *, title: str = "") -> Written:
    """Write one page that holds `reports` one after the other, and the files beside it.

    Everything is made in memory first, so that a failure leaves an earlier page as it was.

    Raises
    ------
    RunError
        If the folder cannot be written.
    """
    files: dict[str, bytes] = {}
    chapters = []
    for report in reports:
        prefix = f"{report.name}-" if len(reports) > 1 else ""
        drawn = {plot.name: _draw(plot, f"{report.name}-{plot.name}") for plot in report.plots}
        for name, figure in drawn.items():
            files[f"{FIGURES}/{prefix}{name}.svg"] = figure.svg
            files[f"{FIGURES}/{prefix}{name}.png"] = figure.png
        for drawing in report.drawings:
            files[f"{FIGURES}/{prefix}{drawing.name}.svg"] = drawing.svg.encode()
        for table in report.tables:
            files[f"{TABLES}/{prefix}{table.name}.csv"] = make_csv(table.frame)
        chapters.append(_describe_chapter(report, drawn, prefix))
    data = make_json(reports)
    files["report.json"] = data
    heading = title or (reports[0].title if len(reports) == 1 else "Report")
    page = _render(heading, chapters, reports, data)
    return _write_all(folder, {"report.html": page, **files}, tuple(reports))


def make_json(reports: Sequence[Report]) -> bytes:
    """Return report.json: every number of the page; NaN and infinity become null."""
    document = {"schema": SCHEMA, "reports": [_jsonable(_report_data(report)) for report in reports]}
    return (json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def make_csv(frame: pd.DataFrame) -> bytes:
    """Return a table as CSV (UTF-8); no cell or heading becomes a formula in a spreadsheet."""
    safe = frame.rename(columns=lambda name: clean_cell(str(name)))
    for place, name in enumerate(safe.columns):
        if not pd.api.types.is_numeric_dtype(safe.iloc[:, place].dtype):
            safe = safe.assign(**{name: safe.iloc[:, place].astype(object).map(clean_cell)})
    return safe.to_csv(index=False, lineterminator="\n").encode()


# Figures


@dataclass(frozen=True)
class _Drawn:
    svg: bytes
    png: bytes
    wide: Markup
    narrow: Markup


def _draw(plot: Plot, salt: str) -> _Drawn:
    wide, narrow = _lay_out(plot.draw(False)), _lay_out(plot.draw(True))
    svg = render_svg(wide, salt)
    return _Drawn(
        svg=svg,
        png=_save(wide, "png", salt),
        wide=_inline(svg, plot.title, f"{salt}-w"),
        narrow=_inline(render_svg(narrow, salt), plot.title, f"{salt}-n"),
    )


def _lay_out(figure: Figure) -> Figure:
    """Arrange a figure once and for all, instead of anew for each file."""
    engine = figure.get_layout_engine()
    with mpl.rc_context(RC), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        if engine is not None:
            engine.execute(figure)
        figure.set_layout_engine(None)
    return figure


def render_svg(figure: Figure, salt: str) -> bytes:
    """Return a figure as SVG that is the same each time."""
    return _save(figure, "svg", salt)


def _save(figure: Figure, kind: str, salt: str) -> bytes:
    buffer = io.BytesIO()
    metadata = {"Date": None, "Creator": "azulsim"} if kind == "svg" else {"Software": "azulsim"}
    with mpl.rc_context({**RC, "svg.hashsalt": salt}), warnings.catch_warnings():
        # A name may hold characters that the font lacks; a box in its place is right.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure.savefig(buffer, format=kind, metadata=metadata)
    return buffer.getvalue()


def _inline(svg: bytes, title: str, prefix: str) -> Markup:
    """Return an SVG for the page: no prologue, ids of its own, colors that follow light and dark."""
    text = svg.decode()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.S)
    text = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", text, count=1))
    used = set(re.findall(r"(?:url\(|href=\")#([^)\"]*)", text))
    text = re.sub(r' id="([^"]*)"', lambda found: f' id="{prefix}-{found[1]}"' if found[1] in used else "", text)
    text = re.sub(r"url\(#([^)]*)\)", rf"url(#{prefix}-\1)", text)
    text = re.sub(r'href="#([^"]*)"', rf'href="#{prefix}-\1"', text)
    text = re.sub(r"<[^>]*>", lambda tag: re.sub(r"(?<=\d\.\d\d)\d+", "", tag[0]), text)
    text = re.sub(r"<g>\s*</g>|<g/>|<!--.*?-->", "", text)
    for place, color in enumerate(DARK):
        text = re.sub(rf"{color}(?![0-9a-f])", f"var(--f{place})", text)
    text = re.sub(r"'DejaVu Sans'(, [^;\"]*)?", "var(--sans)", text)
    label = Markup(' role="img" aria-label="{}"').format(title)
    return Markup(re.sub(r"[ \t]*\n[ \t]*", "\n", text.replace("<svg", f"<svg{label}", 1)))


# The page


def _render(title: str, chapters: list[dict[str, Any]], reports: Sequence[Report], data: bytes) -> bytes:
    environment = Environment(
        loader=PackageLoader("azulsim.report", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    source = environment.loader.get_source  # type: ignore[union-attr]
    style, script = source(environment, "page.css")[0], source(environment, "page.js")[0]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    text = environment.get_template("page.html").render(
        title=clean(title),
        chapters=chapters,
        provenance=reports[0].provenance,
        style=Markup(style),
        script=Markup(script),
        script_hash=digest,
        light=[(f"--f{i}", color) for i, color in enumerate(DARK)],
        dark=[(f"--f{i}", color) for i, color in enumerate(DARK.values())],
        # Inside a script element only "<" could end it.
        data=Markup(_compact(data).replace("<", "\\u003c")),
    )
    return text.encode()


def _compact(data: bytes) -> str:
    return json.dumps(json.loads(data), ensure_ascii=False, separators=(",", ":"))


def _describe_chapter(report: Report, drawn: Mapping[str, _Drawn], prefix: str) -> dict[str, Any]:
    return {
        "report": report,
        "sections": [_describe_section(section, drawn, prefix) for section in report.sections],
    }


def _describe_section(section: Section, drawn: Mapping[str, _Drawn], prefix: str) -> dict[str, Any]:
    items = [_describe_item(item, drawn, prefix) for item in section.items]
    return {"section": section, "items": items}


def _describe_item(item: Plot | Table | Drawing, drawn: Mapping[str, _Drawn], prefix: str) -> dict[str, Any]:
    if isinstance(item, Table):
        return {"table": item, "file": f"{TABLES}/{prefix}{item.name}.csv", **_describe_table(item)}
    file = f"{FIGURES}/{prefix}{item.name}"
    if isinstance(item, Plot):
        return {"plot": item, "drawn": drawn[item.name], "file": file}
    return {"drawing": item, "svg": Markup(item.svg), "file": file}


@dataclass(frozen=True)
class _Heading:
    text: str
    kind: str
    """How the column is sorted: `number` or `text`."""
    look: str
    """How it looks: `number` (set flush right), `name` (text), `key` (small whole numbers, flush left) or `row`
    (several of the others together, in their place where there is no room)."""
    is_key: bool = False
    """True if the column is one of those that a `row` holds together."""


@dataclass(frozen=True)
class _Cell:
    text: str
    sort: str
    minor: str = ""
    """What follows in smaller type, such as the interval."""
    hint: str = ""


def _describe_table(table: Table) -> dict[str, Any]:
    is_metric = {"estimate", "low", "high", "unit"} <= set(table.frame.columns)
    shown = _wide_table(table) if is_metric else _plain_table(table, table.frame)
    full = _plain_table(table, table.frame) if is_metric and len(table.frame) <= MOST_ROWS else None
    rows = shown["rows"]
    cut = f"The first {MOST_SHOWN:,} of {len(rows):,} rows; the CSV file has all." if len(rows) > MOST_SHOWN else ""
    return {"shown": {**shown, "rows": rows[:MOST_SHOWN]}, "full": full, "cut": cut}


def _plain_table(table: Table, frame: pd.DataFrame) -> dict[str, Any]:
    frame = frame.drop(columns=[name for name in ("note",) if name in frame and not frame[name].astype(bool).any()])
    headings = [_key_heading(table, str(name), frame[name]) for name in frame.columns]
    rows = [
        [_plain_cell(str(name), row[name], row.get("se", np.nan), table) for name in frame.columns]
        for _, row in frame.iterrows()
    ]
    n_keys = next((at for at, heading in enumerate(headings) if heading.look == "number"), 0)
    return _join_key_columns(headings, rows, n_keys)


def _join_key_columns(headings: list[_Heading], rows: list[list[_Cell]], n_keys: int) -> dict[str, Any]:
    """Put a column in front that holds the first `n_keys` together, if they are several."""
    if n_keys < 2:
        return {"headings": headings, "rows": rows}
    keys = [replace(heading, is_key=True) for heading in headings[:n_keys]]
    joined = [", ".join(_name_key(*pair) for pair in zip(keys, row[:n_keys], strict=True)) for row in rows]
    head = _Heading(", ".join(key.text for key in keys), "text", "row")
    rows = [[_Cell(text, text), *row] for text, row in zip(joined, rows, strict=True)]
    return {"headings": [head, *keys, *headings[n_keys:]], "rows": rows}


def _name_key(heading: _Heading, cell: _Cell) -> str:
    """Say a key without its heading above it: `2 players`, `round 3`, `greedy`."""
    if heading.text == "players":
        return f"{cell.text} players"
    return cell.text if heading.kind == "text" and cell.text not in ("yes", "no") else f"{heading.text} {cell.text}"


def _key_heading(table: Table, name: str, column: pd.Series) -> _Heading:
    text = clean(table.labels.get(name, _COLUMN_LABELS.get(name, name)))
    if not pd.api.types.is_numeric_dtype(column.dtype):
        return _Heading(text, "text", "name")
    return _Heading(text, "number", "key" if name in _NUMBER_KEYS else "number")


def _plain_cell(name: str, value: Any, spread: float, table: Table) -> _Cell:
    if isinstance(value, bool | np.bool_):
        return _Cell("yes" if value else "no", str(int(value)))
    if isinstance(value, int | np.integer):
        return _Cell(f"{value:,}", str(value))
    if isinstance(value, float | np.floating):
        if not math.isfinite(value):
            return _Cell(MISSING, "")
        if name == "p_value":
            return _Cell("<\u202f0.001" if value < 0.001 else f"{value:.3f}", repr(float(value)))
        decimals = min(decimals_for(float(spread)) + 1, 5) if name in _ESTIMATE_COLUMNS else 3
        return _Cell(format_number(float(value), decimals), repr(float(value)))
    text = clean(str(value))
    return _Cell(table.labels.get(text, text) if name == "outcome" else text, text)


def _wide_table(table: Table) -> dict[str, Any]:
    """Arrange the frame of a metric as a row a group and a column an outcome."""
    frame = table.frame
    keys = [str(name) for name in frame.columns if name not in _ESTIMATE_COLUMNS and name != "fair"]
    if "outcome" not in frame:
        frame = frame.assign(outcome="share")
    outcomes = list(dict.fromkeys(frame["outcome"]))
    units = dict(zip(frame["outcome"], frame["unit"], strict=True))
    headings = [_key_heading(table, name, frame[name]) for name in keys]
    for outcome in outcomes:
        unit = {"share": "% points" if table.signed else "%"}.get(units[outcome], units[outcome])
        label = clean(table.labels.get(outcome, str(outcome).replace("_", " ")))
        text = label if unit in label.split() else f"{label}, {unit}"
        headings.append(_Heading(text, "number", "number"))
    headings.append(_Heading("deals", "number", "number"))
    rows = []
    for _, group in frame.groupby(_join_keys(frame, keys), sort=False):
        first = group.iloc[0]
        by_outcome = {row["outcome"]: row for _, row in group.iterrows()}
        cells = [_plain_cell(name, first[name], np.nan, table) for name in keys]
        cells += [_estimate_cell(by_outcome.get(outcome), signed=table.signed) for outcome in outcomes]
        rows.append([*cells, _plain_cell("n_deals", int(group["n_deals"].max()), np.nan, table)])
    return _join_key_columns(headings, rows, len(keys))


def _join_keys(frame: pd.DataFrame, keys: Sequence[str]) -> npt.NDArray[np.int64]:
    """Number the rows so that rows with the same values in all `keys` have the same number."""
    numbers: dict[tuple[Any, ...], int] = {}
    rows = frame[list(keys)].itertuples(index=False, name=None)
    return np.array([numbers.setdefault(row, len(numbers)) for row in rows], np.int64)


def _estimate_cell(row: pd.Series | None, *, signed: bool) -> _Cell:
    if row is None or not math.isfinite(row["estimate"]):
        return _Cell(MISSING, "", hint="" if row is None else str(row.get("note", "")))
    value, interval = format_short(row, signed=signed)
    scale = 100 if row["unit"] == "share" else 1
    digits = decimals_for(float(row["se"]) * scale) + 1 if row["se"] > 0 else 2
    hint = str(row.get("note", ""))
    if math.isfinite(row["low"]):
        low, high = (format_number(float(row[end]) * scale, digits) for end in ("low", "high"))
        seen = format_number(float(row["mde"]) * scale, digits)
        hint = f"{low} to {high}; smallest detectable {seen}" + (f"; {hint}" if hint else "")
    return _Cell(value, repr(float(row["estimate"])), interval, hint)


# JSON


def _report_data(report: Report) -> dict[str, Any]:
    return {
        "name": report.name,
        "title": report.title,
        "question": report.question,
        "answer": list(report.answer),
        "numbers": dict(report.numbers),
        "tables": {
            table.name: {
                "title": table.title,
                "caption": table.caption,
                "columns": [str(name) for name in table.frame.columns],
                "rows": table.frame.astype(object).values.tolist(),
            }
            for table in report.tables
        },
        "figures": {item.name: {"title": item.title, "caption": item.caption} for item in report.pictures},
        "how_to_read": list(report.how_to_read),
        "how_computed": list(report.how_computed),
        "limits": list(report.limits),
        "provenance": dict(report.provenance),
    }


def _jsonable(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if value is pd.NA or value is pd.NaT or (isinstance(value, float) and not math.isfinite(value)):
        return None
    if isinstance(value, float):
        return float(f"{value:.9g}")
    return value if value is None or isinstance(value, bool | int | str) else str(value)


# Files


def _write_all(folder: Path, files: Mapping[str, bytes], reports: tuple[Report, ...]) -> Written:
    paths = []
    try:
        for name in _page_last(files):
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            part = path.with_name(path.name + ".part")
            try:
                part.write_bytes(files[name])
                part.replace(path)
            except OSError:
                part.unlink(missing_ok=True)
                raise
            paths.append(path)
    except OSError as error:
        raise RunError(f"{error.filename or folder}: the report cannot be written: {error.strerror}") from None
    return Written(folder / "report.html", folder / "report.json", tuple(reversed(paths)), reports)


def _page_last(files: Iterable[str]) -> list[str]:
    return sorted(files, key=lambda name: (name == "report.html", name))
