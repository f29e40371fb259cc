"""From a run to pages: which reports, where they are written, and each script's command line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from azulsim import __version__
from azulsim.catalog import find, load_module
from azulsim.errors import AzulsimError, InputError, RunError
from azulsim.log import Run, read_run
from azulsim.report.model import Report
from azulsim.report.page import Written, write_page

DEFAULT = ("player_count", "marker", "ranking")
"""Reports of a run whose experiment names none."""

MAY_BIAS = "Leaving out the deals in which a strategy failed may bias comparisons."


def build_report(
    run: Run | str | Path,
    name: str | None = None,
    *,
    folder: str | Path | None = None,
    project: Path | None = None,
) -> Written:
    """Build the reports of a run and write them as one page.

    Parameters
    ----------
    run
        A run, or the path of its folder.
    name
        One report, by name or path (`my/report.py`). If left out, the reports that the experiment names (else
        `player_count`, `marker` and `ranking`), one after the other on one page.
    folder
        Where to write; by default the run folder (`RUN/report.html`), or for one named report
        `RUN/reports/NAME/report.html`.
    project
        Folder whose `reports/` is searched besides the bundled ones.

    Returns
    -------
    Written
        The paths of the page and of all files, the reports, and the short answer as text.

    Raises
    ------
    InputError
        For a folder that is no run, or an unknown report.
    RunError
        If no game of the run was finished, or the folder cannot be written.
    """
    run = run if isinstance(run, Run) else read_run(run)
    names = [name] if name else list(run.manifest.reports or DEFAULT)
    if not run.n_games:
        raise RunError(f"{run.path}: no game was finished; {run.describe_failures()}")
    reports = [make_report(load_module(find("reports", each, project=project)), run) for each in names]
    if not name:
        commands = describe_run(run)["commands"]
        reports = [replace(report, provenance={**report.provenance, "commands": commands}) for report in reports]
    if folder is None:
        folder = run.path / "reports" / reports[0].name if name else run.path
    question = run.manifest.question or run.manifest.name
    return write_page(reports, Path(folder), title=reports[0].title if len(reports) == 1 else question)


def make_report(module: ModuleType, run: Run) -> Report:
    """Let a report script build its report, and add where the run comes from.

    Raises
    ------
    InputError
        If the script has no function `build`, or it does not return a `Report`.
    """
    build: Callable[[Run], Any] | None = getattr(module, "build", None)
    where = getattr(module, "__file__", None) or module.__name__
    if build is None:
        raise InputError(f"{where}: a report script needs a function build(run) that returns a Report")
    report = build(run)
    if not isinstance(report, Report):
        raise InputError(f"{where}: build(run) returned {type(report).__name__}, not an azulsim.report.Report")
    return replace(report, provenance={**describe_run(run, report.name), **report.provenance})


def describe_run(run: Run, name: str = "") -> dict[str, Any]:
    """Return where the numbers of a report come from; no times and no paths, so that pages repeat to the byte."""
    manifest = run.manifest
    deals: dict[int, set[int]] = {}
    for cell in manifest.cells:
        deals.setdefault(cell.players, set()).add(cell.deals)
    described = {
        "experiment": manifest.name,
        "question": manifest.question,
        "seed": manifest.seed,
        "played by": f"azulsim {manifest.azulsim}",
        "read by": f"azulsim {__version__}",
        "games": f"{run.n_games:,}",
        "moves": f"{run.n_moves:,}",
        "cells": f"{len(manifest.cells):,}",
        "deals a cell": {f"{n} players": _span(found) for n, found in sorted(deals.items())},
        "strategies": {spec: _source(manifest.sources, spec) for spec in manifest.specs},
        "log": manifest.log,
        "content hashes": {table: digest[:16] for table, digest in run.hashes.items()},
        "unfinished": run.describe_gap("RUN"),
        "failed games": f"{run.describe_failures()}. {MAY_BIAS}" if run.n_failures else "",
        "commands": [
            "azulsim run RUN/experiment.toml --out NEW",
            f"azulsim report NEW --report {name}" if name else "azulsim report NEW",
        ],
    }
    return {key: value for key, value in described.items() if value not in ("", None)}


def main(module_name: str, arguments: Sequence[str] | None = None) -> int:
    """Run a report script from the command line: `python reports/marker.py RUN [--out FOLDER]`.

    Prints the short answer and the path of the page; returns the exit code (2 for input that cannot be used).
    """
    module = sys.modules[module_name]
    name = Path(module.__file__ or module_name).stem
    parser = argparse.ArgumentParser(prog=f"{name}.py", description=(module.__doc__ or "").partition("\n")[0])
    parser.add_argument("run", metavar="RUN", help="the folder of a run")
    parser.add_argument("--out", metavar="FOLDER", help=f"where to write (default: RUN/reports/{name})")
    options = parser.parse_args(arguments)
    try:
        run = read_run(options.run)
        report = make_report(module, run)
        written = report.write(options.out or run.path / "reports" / name)
    except RunError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except AzulsimError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(written.answer)
    print(f"page: {written.page}")
    return 0


def _span(counts: set[int]) -> str:
    low, high = min(counts), max(counts)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _source(sources: dict[str, str], spec: str) -> str:
    digest = sources.get(spec) or sources.get(spec.partition("(")[0]) or ""
    return f"source {digest[:16]}" if digest else "source not recorded"
