"""Commands that play experiments, and those that read what was played."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from azulsim.cli.app import (
    FAILED,
    AsJson,
    Deals,
    Jobs,
    Out,
    Project,
    ReportNames,
    RulesFile,
    Seed,
    app,
    fail_if_spoiled,
    print_json,
    print_pages,
    tell,
)

if TYPE_CHECKING:
    from azulsim.log import Run


@app.command()
def run(
    experiment: Annotated[str, typer.Argument(metavar="EXPERIMENT", help="Name of an experiment, or a TOML file.")],
    rules: RulesFile = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a key of the experiment; repeatable."),
    ] = None,
    seed: Seed = None,
    deals: Deals = None,
    jobs: Jobs = None,
    out: Out = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Play an experiment and build its reports.

    \b
    Examples:
      azulsim run demo --jobs 2
      azulsim run demo --set rules.bonus.column=5 --deals 200 --out runs/column-5
    """
    from azulsim.experiment import read_experiment
    from azulsim.runner import run as play_experiment

    question = read_experiment(experiment, project=project, overrides=set_ or (), rules=rules)
    done = play_experiment(
        question, out=out, jobs=jobs, seed=seed, deals=deals, progress=True, project=project, where=experiment
    )
    finish(done, project, as_json=as_json)


@app.command()
def resume(
    run_folder: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of an interrupted run.")],
    jobs: Jobs = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Go on with a run that was interrupted.

    \b
    Example:
      azulsim resume runs/demo
    """
    from azulsim.experiment import read_experiment
    from azulsim.runner import run as play_experiment

    file = run_folder / "experiment.toml"
    question = read_experiment(file, project=project)
    done = play_experiment(question, out=run_folder, jobs=jobs, progress=True, project=project, where=str(file))
    finish(done, project, as_json=as_json)


@app.command()
def report(
    run_folder: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")],
    names: ReportNames = None,
    strategy: Annotated[
        str | None, typer.Option(metavar="NAME", help="The strategy that the report `strategy` is about.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="DIR", help="Where to write; into RUN if left out.")
    ] = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Turn a run into a page, figures and tables.

    \b
    Examples:
      azulsim report runs/demo
      azulsim report runs/demo --report marker --json
      azulsim report runs/demo --report strategy --strategy greedy
    """
    from azulsim.log import read_run

    done = read_run(run_folder)  # before the plotting library is loaded: bad input is answered at once
    if gap := done.describe_gap():
        tell(f"note: {gap}")

    from azulsim.report import build_report

    options = {"strategy": strategy} if strategy is not None else {}
    wanted: list[str | None] = [*names] if names else [None]
    folders = [out / Path(name).stem if out and name and len(wanted) > 1 else out for name in wanted]
    pages = [
        build_report(done, name, options=options, folder=to, project=project)
        for name, to in zip(wanted, folders, strict=True)
    ]
    if as_json:
        documents = [json.loads(page.json.read_bytes()) for page in pages]
        print_json({**documents[0], "reports": [found for document in documents for found in document["reports"]]})
    else:
        print_pages(pages)


@app.command()
def verify(
    run_folder: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")],
    jobs: Jobs = None,
    as_json: AsJson = False,
) -> None:
    """Check a run: its fingerprints, and every logged game by playing it again.

    \b
    Names each row that disagrees. Exit code 0: all well; 1: something disagrees.
    What can be checked depends on the log: with log = "moves" every cell.

    \b
    Example:
      azulsim verify runs/demo
    """
    from azulsim.replay import verify_run

    found = verify_run(run_folder, jobs=jobs or os.cpu_count() or 1)
    if as_json:
        print_json(found.to_dict())
    else:
        typer.echo(str(found))
    if not found.is_good:
        raise typer.Exit(FAILED)


@app.command()
def replay(
    run_folder: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder with log = moves.")],
    game: Annotated[int, typer.Option("--game", metavar="ID", help="The column `game` of every table.")],
    text: Annotated[
        Path | None, typer.Option("--text", metavar="FILE", help="Write the game as text too (docs/NOTATION.md).")
    ] = None,
) -> None:
    """Show a logged game move by move.

    \b
    Example:
      azulsim replay runs/demo --game 0 --text game.txt
    """
    import shutil

    from azulsim.replay import replay_game

    found = replay_game(run_folder, game)
    if text is not None:
        text.write_text(str(found.record), encoding="utf-8")
    typer.echo(found.draw(color=sys.stdout.isatty(), width=shutil.get_terminal_size().columns), nl=False)


def finish(run: Run, project: Path | None, *, as_json: bool) -> None:
    """Build the reports that the experiment names, say what was done, and fail if a strategy did."""
    from azulsim.report import build_report

    pages = [build_report(run, project=project)] if run.manifest.reports else []
    if as_json:
        counts = {"games": run.n_games, "moves": run.n_moves, "failures": run.n_failures}
        print_json({"run": str(run.path), **counts, "page": str(pages[0].page) if pages else None})
    else:
        typer.echo(f"{run.n_games:,} games, {run.n_moves:,} moves in {run.path}")
        print_pages(pages)
    fail_if_spoiled(run)
