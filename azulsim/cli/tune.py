"""The command that tunes a strategy."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from azulsim.cli.app import AsJson, Project, RulesName, app, print_json
from azulsim.jobs import MAX_JOBS


@app.command()
def tune(
    strategy: Annotated[str, typer.Argument(metavar="STRATEGY", help="Whose parameters to search.")],
    against: Annotated[list[str], typer.Option("--against", metavar="SPEC", help="An opponent; repeatable.")],
    players: Annotated[
        int, typer.Option(min=2, max=4, help="Players at the table: a candidate, and copies of an opponent.")
    ] = 2,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Start from this value; repeatable.")
    ] = None,
    only: Annotated[str, typer.Option(metavar="A,B", help="Parameters to search; all if left out.")] = "",
    fix: Annotated[str, typer.Option(metavar="A,B", help="Parameters to leave as they are.")] = "",
    scale: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=SD",
            help="How far to look at first; half the starting value, at least 0.25, if left out. Repeatable.",
        ),
    ] = None,
    bounds: Annotated[
        list[str] | None, typer.Option(metavar="NAME=LOW:HIGH", help="Range of a parameter; repeatable.")
    ] = None,
    objective: Annotated[
        Literal["margin", "win_share", "both"],
        typer.Option(help="What to make large: own score minus the best other, win share, or win share + margin/50."),
    ] = "margin",
    generations: Annotated[int, typer.Option(min=1, metavar="N", help="Generations of candidates.")] = 100,
    population: Annotated[
        int | None, typer.Option(min=4, metavar="N", help="Candidates of a generation; grows with their parameters.")
    ] = None,
    deals: Annotated[
        int, typer.Option(min=1, metavar="N", help="Deals a candidate plays at first; four times as many at last.")
    ] = 100,
    validation_deals: Annotated[
        int, typer.Option(min=2, metavar="N", help="New deals on which the result is compared with the start.")
    ] = 5000,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Root of all luck.")] = 0,
    rules: RulesName = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            "-j",
            min=1,
            max=MAX_JOBS,
            metavar="N",
            help="Threads; all cores if left out. Only compiled strategies gain from more than one.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="File of weights (TOML); nothing if left out.")
    ] = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Search for better parameters of a strategy, and validate them on new deals.

    \b
    With --out the search can be interrupted: the same command goes on with it.

    \b
    Examples:
      azulsim tune column_builder --against greedy --generations 30
      azulsim tune ./my.py:mine --against greedy --against short_liner --only love --bounds love=0:3 --out mine.toml
    """
    from azulsim.rules import Rules, find_rules
    from azulsim.tune import make_search
    from azulsim.tune import tune as search_parameters

    search = make_search(
        strategy,
        against,
        start=set_ or (),
        scale=scale or (),
        bounds=bounds or (),
        players=players,
        rules=find_rules(rules) if rules is not None else Rules(),
        seed=seed,
        generations=generations,
        population=population,
        deals=deals,
        validation_deals=validation_deals,
        objective=objective,
        only=_split(only),
        fix=_split(fix),
    )
    command = shlex.join(["azulsim", *sys.argv[1:]])
    result = search_parameters(search, out=out, jobs=jobs, project=project, progress=True, command=command)
    if as_json:
        print_json(result.to_dict())
    else:
        typer.echo(str(result))


def _split(names: str) -> list[str]:
    return [name.strip() for name in names.split(",") if name.strip()]
