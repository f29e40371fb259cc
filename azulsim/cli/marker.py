"""The command that asks what the starting player marker is worth."""

from __future__ import annotations

from typing import Annotated

import typer

from azulsim.cli.app import AsJson, Jobs, Out, PlayerCounts, Project, RulesName, SomeSeed, app, print_answer


@app.command()
def marker(
    strategies: Annotated[list[str], typer.Argument(metavar="A ...", help="One strategy or more; each in all seats.")],
    players: PlayerCounts = "2",
    deals: Annotated[int, typer.Option(min=1, metavar="N", help="Deals each strategy plays.")] = 200,
    seed: SomeSeed = 0,
    prices: Annotated[
        str, typer.Option(metavar="A,B,...", help="Fixed prices to play under too, to find the fair one between them.")
    ] = "",
    rules: RulesName = None,
    jobs: Jobs = None,
    out: Out = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Say what the starting player marker is worth, from games continued in several ways.

    \b
    Examples:
      azulsim marker greedy
      azulsim marker greedy tuned --players 2,3,4 --deals 1000 --prices 0,1,2,3 --json
    """
    from azulsim import questions

    answer = questions.value_marker(
        strategies,
        players=questions.read_players(players),
        deals=deals,
        seed=seed,
        prices=questions.read_prices(prices),
        rules=rules,
        jobs=jobs,
        out=out,
        project=project,
        progress=True,
        page=True,
    )
    print_answer(answer, as_json=as_json)
