"""Commands that answer a question at once."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from azulsim.cli.app import AsJson, Jobs, Out, Project, RulesName, SomeSeed, Timeout, app, print_answer


@app.command()
def compare(
    strategies: Annotated[list[str], typer.Argument(metavar="A B ...", help="Two strategies or more.")],
    players: Annotated[int, typer.Option(min=2, max=4, help="Players at the table.")] = 2,
    deals: Annotated[int, typer.Option(min=1, metavar="N", help="Deals each line-up plays.")] = 1000,
    seed: SomeSeed = 0,
    seatings: Annotated[
        Literal["cyclic", "full"], typer.Option(help="Who sits where: every rotation, or every order.")
    ] = "cyclic",
    rules: RulesName = None,
    jobs: Jobs = None,
    timeout: Timeout = 60.0,
    out: Out = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Rank strategies by play on the same deals.

    \b
    Examples:
      azulsim compare greedy uniform
      azulsim compare greedy ./my.py:mine --players 3 --deals 2000 --json
    """
    from azulsim import questions

    answer = questions.compare(
        strategies,
        players=players,
        deals=deals,
        seed=seed,
        seatings=seatings,
        rules=rules,
        jobs=jobs,
        timeout=timeout,
        out=out,
        project=project,
        progress=True,
        page=True,
    )
    print_answer(answer, as_json=as_json)
