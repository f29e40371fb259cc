"""What the questions share: tables in plain text, frames as plain values, and the page of a run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd

from azulsim.log import Run
from azulsim.rules import Rules, find_rules


def name_run(question: str) -> str:
    """Return a name for a run that answers a question now: `compare-20260131-120000-00`."""
    return f"{question}-{datetime.now():%Y%m%d-%H%M%S-%f}"[:-4]


def choose_rules(rules: Rules | str | Path | None) -> Rules:
    """Return rules that are given as such, by name or as a TOML file; the printed ones if none are."""
    return Rules() if rules is None else rules if isinstance(rules, Rules) else find_rules(rules)


def align(rows: Sequence[Sequence[str]], right: set[int]) -> str:
    """Set rows of words in columns; those of the numbers in `right` flush right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(cell.rjust(width) if i in right else cell.ljust(width) for i, (cell, width) in enumerate(line))
        for line in (list(zip(row, widths, strict=True)) for row in rows)
    )
    return "\n".join(line.rstrip() for line in lines)


def format_share(share: float) -> str:
    """Return a share with three digits: `.512`; `?` if there is none."""
    return "?" if math.isnan(share) else f"{share:.3f}".replace("0.", ".", 1)


def to_records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a frame as plain values for JSON; what is not a number becomes None."""
    plain = frame.astype(object).where(frame.notna(), None)
    return [{str(key): value for key, value in row.items()} for row in plain.to_dict("records")]


def write_page(run: Run, report: str) -> Path:
    """Write the page of one report into the run folder, and return its path."""
    from azulsim.report import build_report

    return build_report(run, report, folder=run.report_folder).page
