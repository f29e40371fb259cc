"""Commands that play experiments, and those that read what was played."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from azulsim.cli.app import (
    FAILED,
    AsJson,
    Deals,
    Jobs,
    Out,
    Overrides,
    Project,
    ReportNames,
    RulesName,
    Seed,
    Timeout,
    app,
    fail_if_spoiled,
    find_run,
    plain,
    print_json,
    print_pages,
    tell,
)
from azulsim.errors import refuse_unwritable

if TYPE_CHECKING:
    from azulsim.log import Run

Cluster = Annotated[
    str | None,
    typer.Option(metavar="dask://HOST:PORT", help="Play on the workers of a Dask cluster, in place of this machine."),
]
OnFailure = Annotated[
    Literal["leave-out", "abort", "forfeit"] | None,
    typer.Option(
        help="When a strategy fails: leave the whole deal out, stop the run, or let it lose that game. If left out, as "
        "before in the same folder, or leave-out."
    ),
]


@app.command()
def run(
    experiment: Annotated[str, typer.Argument(metavar="EXPERIMENT", help="Name of an experiment, or a TOML file.")],
    rules: RulesName = None,
    overrides: Overrides = None,
    seed: Seed = None,
    deals: Deals = None,
    jobs: Jobs = None,
    cluster: Cluster = None,
    shard: Annotated[
        str | None,
        typer.Option(metavar="I/N", help="Play every N-th shard only, from the I-th on; azulsim merge joins them."),
    ] = None,
    timeout: Timeout = 60.0,
    on_failure: OnFailure = None,
    out: Out = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Play an experiment and build its reports.

    What is there already is kept: the same command goes on where a run was interrupted.

    \b
    Examples:
      azulsim run demo --jobs 2
      azulsim run demo --set rules.bonus.column=5 --deals 200 --out runs/column-5
      azulsim run ladder --shard 1/4 --out runs/ladder-1
      azulsim run ladder --cluster dask://head:8786 --out s3://bucket/ladder
    """
    from azulsim.experiment import read_experiment
    from azulsim.runner import run as play_experiment

    question = read_experiment(experiment, project=project, overrides=overrides or (), rules=rules)
    done = play_experiment(
        question,
        out=out,
        jobs=jobs,
        cluster=cluster,
        seed=seed,
        deals=deals,
        share=shard,
        timeout=timeout,
        on_failure=on_failure,
        progress=True,
        project=project,
        where=experiment,
    )
    finish(done, project, as_json=as_json)


@app.command()
def resume(
    run_folder: Annotated[
        Path, typer.Argument(metavar="RUN", parser=find_run, help="The folder of an interrupted run.")
    ],
    jobs: Jobs = None,
    cluster: Cluster = None,
    timeout: Timeout = 60.0,
    on_failure: OnFailure = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Go on with a run that was interrupted.

    \b
    Example:
      azulsim resume runs/demo
    """
    from azulsim.experiment import read_experiment
    from azulsim.log.manifest import read_manifest
    from azulsim.runner import run as play_experiment

    read_manifest(run_folder)  # complains of a folder that holds no run
    file = run_folder / "experiment.toml"
    question = read_experiment(file, project=project)
    done = play_experiment(
        question,
        out=run_folder,
        jobs=jobs,
        cluster=cluster,
        timeout=timeout,
        on_failure=on_failure,
        progress=True,
        project=project,
        where=str(file),
    )
    finish(done, project, as_json=as_json)


@app.command()
def status(
    run_folder: Annotated[Path, typer.Argument(metavar="RUN", parser=find_run, help="A run folder.")],
    as_json: AsJson = False,
) -> None:
    """Say how far a run is, what failed, and how to go on. Nothing is played or imported.

    \b
    Example:
      azulsim status runs/demo
    """
    from azulsim.log import read_status

    found = read_status(run_folder)
    if as_json:
        print_json(found.to_dict())
    else:
        typer.echo(plain(str(found)))


@app.command()
def merge(
    run_folders: Annotated[
        list[Path],
        typer.Argument(metavar="RUN...", parser=find_run, help="Run folders of one experiment, made with run --shard."),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", parser=find_run, help="The run folder to make.")],
    as_json: AsJson = False,
) -> None:
    """Join the shares of a run that were played on different machines.

    \b
    Example:
      azulsim merge runs/ladder-1 runs/ladder-2 --out runs/ladder
    """
    from azulsim.log import merge_runs

    joined = merge_runs(run_folders, out)
    if gap := joined.describe_gap():
        tell(f"note: {gap}")
    if as_json:
        print_json({"run": str(joined.path), "games": joined.n_games, "failures": joined.n_failures})
    else:
        typer.echo(f"{joined.n_games:,} games, {joined.n_moves:,} moves in {joined.path}")
    fail_if_spoiled(joined)


@app.command()
def report(
    run_folder: Annotated[Path, typer.Argument(metavar="RUN", parser=find_run, help="A run folder.")],
    names: ReportNames = None,
    strategy: Annotated[
        str | None, typer.Option(metavar="NAME", help="The strategy that the report `strategy` is about.")
    ] = None,
    margin: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="For `seats` and `balance`: how far a seat may be from its fair share, such as 0.02 (2 wins in 100).",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            help="Where to write; into RUN if left out (runs/NAME-reports if RUN is on an object store).",
        ),
    ] = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Turn a run into a page, figures and tables.

    \b
    Examples:
      azulsim report runs/demo
      azulsim report runs/demo --report marker --json
      azulsim report runs/demo --report seats --margin 0.01
      azulsim report runs/demo --report strategy --strategy greedy
    """
    from azulsim.log import read_run
    from azulsim.log.check import refuse_damaged

    done = read_run(run_folder)  # before the plotting library is loaded: bad input is answered at once
    refuse_damaged(done)
    if gap := done.describe_gap():
        tell(f"note: {gap}")

    from azulsim.report import build_report

    told = {"strategy": strategy, "margin": margin}
    options = {name: text for name, text in told.items() if text is not None}
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
    run_folder: Annotated[Path, typer.Argument(metavar="RUN", parser=find_run, help="A run folder.")],
    jobs: Jobs = None,
    as_json: AsJson = False,
) -> None:
    """Check a run: its fingerprints, and every logged game by playing it again.

    \b
    Names each row that disagrees. Exit code 0: all well; 1: something disagrees, or nothing could be checked.
    What can be checked depends on the log: with log = "moves" every cell.

    \b
    Example:
      azulsim verify runs/demo
    """
    from azulsim.replay import verify_run

    found = verify_run(run_folder, jobs=jobs)
    if as_json:
        print_json(found.to_dict())
    else:
        typer.echo(str(found))
    if not found.is_good:
        raise typer.Exit(FAILED)


@app.command()
def replay(
    run_folder: Annotated[Path, typer.Argument(metavar="RUN", parser=find_run, help="A run folder with log = moves.")],
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
        with refuse_unwritable(text):
            text.write_text(str(found.record), encoding="utf-8")
    typer.echo(found.draw(color=sys.stdout.isatty(), width=shutil.get_terminal_size().columns), nl=False)


def finish(run: Run, project: Path | None, *, as_json: bool) -> None:
    """Build the reports that the experiment names, say what was done, and fail if a strategy did."""
    from azulsim.report import build_report

    pages = []
    if run.manifest.reports and run.is_complete:
        tell(f"building the page: {', '.join(run.manifest.reports)}")
        pages.append(build_report(run, project=project))
    if as_json:
        counts = {"games": run.n_games, "moves": run.n_moves, "failures": run.n_failures}
        page = str(pages[0].page) if pages else None
        print_json({"run": str(run.path), **counts, "doubts": list(run.doubts), "page": page})
    else:
        typer.echo(f"{run.n_games:,} games, {run.n_moves:,} moves in {run.path}")
        _print_rankings(run)
        print_pages(pages)
    if gap := run.describe_gap():
        tell(f"note: {gap}")
    if doubts := run.describe_doubts():
        tell(doubts)
    fail_if_spoiled(run)


def _print_rankings(run: Run) -> None:
    """Print who won, by a table for each player count; nothing where that takes more than tables, or a page says it."""
    manifest = run.manifest
    mixed = {cell.index: cell.players for cell in manifest.cells if len(set(cell.lineup)) > 1}
    met = sorted({mixed[commit.cell] for commit in run.commits if commit.cell in mixed and commit.n_games})
    has_one_kind = len({cell.rules for cell in manifest.cells}) == 1
    if not run.is_complete or "ranking" in manifest.reports or not has_one_kind:
        return
    from azulsim.questions import format_ranking, rank

    for players in met:
        head = f"{players} players\n" if len(set(mixed.values())) > 1 else ""
        typer.echo(plain(f"{head}{format_ranking(rank(run.at(players)))}\n"))
