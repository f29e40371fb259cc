"""The command that says how large an experiment must be."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from azulsim.cli.app import AsJson, Deals, Jobs, Overrides, Project, RulesName, app, plain, print_json


@app.command()
def plan(
    experiment: Annotated[str, typer.Argument(metavar="EXPERIMENT", help="Name of an experiment, or a TOML file.")],
    outcome: Annotated[
        Literal["win_share", "margin", "score", "tempo.win_share", "tempo.margin", "tempo.score"] | None,
        typer.Option(help="What is to be known; what the experiment stops by, or win_share, if left out."),
    ] = None,
    precision: Annotated[
        float | None, typer.Option(metavar="X", help="Wanted half width of the 95 % interval, such as 0.01.")
    ] = None,
    effect: Annotated[
        float | None, typer.Option(metavar="X", help="Difference from a fixed value to be found, such as 0.02.")
    ] = None,
    power: Annotated[float, typer.Option(metavar="P", help="How surely the effect is to be found.")] = 0.8,
    pilot: Annotated[int, typer.Option(min=2, metavar="N", help="Most deals of a cell in the pilot.")] = 200,
    seconds: Annotated[
        float, typer.Option(min=0, metavar="S", help="Time after which the pilot begins nothing more.")
    ] = 30.0,
    rules: RulesName = None,
    overrides: Overrides = None,
    deals: Deals = None,
    jobs: Jobs = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Say how many deals an experiment needs, and what they cost here.

    A pilot is played, of which nothing is kept.

    \b
    Examples:
      azulsim plan demo
      azulsim plan seat-advantage --precision 0.01
      azulsim plan skill --effect 0.02 --power 0.9 --json
    """
    from azulsim.experiment import read_experiment
    from azulsim.planning import forecast

    more = [f"deals={deals}"] if deals is not None else []
    question = read_experiment(experiment, project=project, overrides=[*(overrides or ()), *more], rules=rules)
    found = forecast(
        question,
        outcome=outcome,
        precision=precision,
        effect=effect,
        power=power,
        pilot=pilot,
        seconds=seconds,
        jobs=jobs,
        progress=True,
        project=project,
        where=experiment,
    )
    if as_json:
        print_json(found.to_dict())
    else:
        typer.echo(plain(str(found)))
