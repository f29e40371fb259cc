"""From a run to pages: which reports, where they are written, and each script's command line."""

from __future__ import annotations

import argparse
import re
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from inspect import signature
from pathlib import Path
from traceback import extract_tb
from types import ModuleType
from typing import Any

from azulsim import __version__
from azulsim.catalog import find, load_module
from azulsim.errors import AzulsimError, InputError, RunError, did_you_mean
from azulsim.log import Run, read_run
from azulsim.report.memory import collect_seldom
from azulsim.report.model import Report
from azulsim.report.page import Written, write_page
from azulsim.report.shared import count_deals_of_cells

DEFAULT = ("player_count", "marker", "ranking")
"""Reports of a run whose experiment names none."""

MAY_BIAS = "Leaving out the deals in which a strategy failed may bias comparisons."
COUNTS_DEFECTS = "Win shares tell how often a strategy fails as well as how it plays."


def build_report(
    run: Run | str | Path,
    name: str | None = None,
    *,
    options: Mapping[str, str] | None = None,
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
    options
        What one named report is told, such as `{"strategy": "greedy"}`: its `build` takes them as keywords.
    folder
        Where to write; by default the run folder (`RUN/report.html`), or for one named report
        `RUN/reports/NAME/report.html` (`RUN/reports/NAME-greedy/report.html` with an option `greedy`).
    project
        Folder whose `reports/` is searched besides the bundled ones.

    Returns
    -------
    Written
        The paths of the page and of all files, the reports, and the short answer as text.

    Raises
    ------
    InputError
        For a folder that is no run, an unknown report, or an option that the report does not take.
    RunError
        If no game of the run was finished, or the folder cannot be written.
    """
    run = run if isinstance(run, Run) else read_run(run)
    names = [name] if name is not None else list(run.manifest.reports or DEFAULT)
    if not run.n_games:
        raise RunError(f"{run.path}: no game was finished; {run.describe_failures()}")
    options = dict(options or {})
    modules = [load_module(find("reports", each, project=project)) for each in names]
    reports = [make_report(module, run, options) for module in modules]
    if name is None:
        commands = describe_run(run)["commands"]
        reports = [replace(report, provenance={**report.provenance, "commands": commands}) for report in reports]
    if folder is None:
        folder = run.report_folder
        if name is not None:
            folder = folder / "reports" / _name_folder(reports[0].name, options)
    question = run.manifest.question or run.manifest.name
    return write_page(reports, Path(folder), title=reports[0].title if len(reports) == 1 else question)


@collect_seldom()
def make_report(module: ModuleType, run: Run, options: Mapping[str, str] | None = None) -> Report:
    """Let a report script build its report, and add where the run comes from.

    Raises
    ------
    InputError
        If the script has no function `build`, if `build` does not take an option, raises, or returns no `Report`.
    """
    build: Callable[..., Any] | None = getattr(module, "build", None)
    where = getattr(module, "__file__", None) or module.__name__
    if build is None:
        raise InputError(f"{where}: a report script needs a function build(run) that returns a Report")
    options = dict(options or {})
    known = list_options(build)
    for option in options:
        if option not in known:
            raise InputError(f"{where}: the report takes no option {option!r}{did_you_mean(option, known)}")
    try:
        report = build(run, **options)
    except AzulsimError:
        raise
    except Exception as error:
        line = next((f.lineno for f in reversed(extract_tb(error.__traceback__)) if f.filename == where), "?")
        raise InputError(f"{where}, line {line}: build(run) raised {type(error).__name__}: {error}") from error
    if not isinstance(report, Report):
        raise InputError(f"{where}: build(run) returned {type(report).__name__}, not an azulsim.report.Report")
    return replace(report, provenance={**describe_run(run, report.name, options), **report.provenance})


def list_options(build: Callable[..., Any]) -> list[str]:
    """List the options that a report takes: the keyword-only parameters of its `build`."""
    return [name for name, item in signature(build).parameters.items() if item.kind is item.KEYWORD_ONLY]


def _name_folder(name: str, options: Mapping[str, str]) -> str:
    """Return the name of a folder for a report with options: letters and digits; other text by its hash."""
    parts = [name]
    for text in options.values():
        slug = re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-").lower()
        parts.append(slug if slug == text else f"{slug[:40]}-{sha256(text.encode()).hexdigest()[:6]}".lstrip("-"))
    return "-".join(parts)


def describe_run(run: Run, name: str = "", options: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return where the numbers of a report come from; no times and no paths, so that pages repeat to the byte."""
    manifest = run.manifest
    described = {
        "experiment": manifest.name,
        "question": manifest.question,
        "seed": manifest.seed,
        "played by": f"azulsim {manifest.azulsim}",
        "read by": f"azulsim {__version__}",
        "games": f"{run.n_games:,}",
        "moves": f"{run.n_moves:,}",
        "cells": f"{len(manifest.cells):,}",
        "deals a cell": count_deals_of_cells(run),
        "strategies": {spec: _source(manifest.sources, spec) for spec in manifest.specs},
        "log": manifest.log,
        "content hashes": {table: digest[:16] for table, digest in run.hashes.items()},
        "unfinished": _describe_gap(run),
        "failed games": f"{run.describe_failures()}. {COUNTS_DEFECTS if run.n_forfeits else MAY_BIAS}"
        if run.n_failures
        else "",
        "doubts": run.describe_doubts(),
        "stopped": run.describe_stop(),
        "commands": [
            f"azulsim run RUN/experiment.toml --out NEW{' --on-failure forfeit' * (manifest.on_failure == 'forfeit')}",
            shlex.join(["azulsim", "report", "NEW", *(["--report", name] if name else []), *_as_words(options or {})]),
        ],
    }
    return {key: value for key, value in described.items() if value not in ("", None)}


def _as_words(options: Mapping[str, str]) -> list[str]:
    return [word for name, value in options.items() for word in (f"--{name}", value)]


def main(module_name: str, arguments: Sequence[str] | None = None) -> int:
    """Run a report script from the command line: `python reports/marker.py RUN [--out FOLDER]`.

    Every option of the report (`list_options`) is one on the command line too, such as `--strategy NAME`. Prints the
    short answer and the path of the page; returns the exit code (2 for input that cannot be used).
    """
    module = sys.modules[module_name]
    name = Path(module.__file__ or module_name).stem
    parser = argparse.ArgumentParser(prog=f"{name}.py", description=(module.__doc__ or "").partition("\n")[0])
    parser.add_argument("run", metavar="RUN", help="the folder of a run")
    parser.add_argument("--out", metavar="FOLDER", help=f"where to write (default: RUN/reports/{name})")
    known = list_options(module.build)
    for option in known:
        parser.add_argument(f"--{option}", metavar=option.upper(), help=f"option {option} of the report")
    words = parser.parse_args(arguments)
    options = {option: getattr(words, option) for option in known if getattr(words, option) is not None}
    try:
        run = read_run(words.run)
        report = make_report(module, run, options)
        written = report.write(words.out or run.report_folder / "reports" / _name_folder(name, options))
    except RunError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except AzulsimError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(written.answer)
    print(f"page: {written.page}")
    return 0


def _describe_gap(run: Run) -> str:
    """Say first of all how much of an unfinished run is here; empty if it is complete."""
    if run.is_complete:
        return ""
    planned = sum(cell.deals * len(cell.seatings) for cell in run.manifest.cells)
    return f"Not finished: {run.n_games:,} of {planned:,} games are here ({run.describe_gap('RUN')})."


def _source(sources: dict[str, str], spec: str) -> str:
    digest = sources.get(spec) or sources.get(spec.partition("(")[0]) or ""
    return f"source {digest[:16]}" if digest else "source not recorded"
