"""The command that asks what other rules change."""

from __future__ import annotations

from typing import Annotated

import typer

from azulsim.cli.app import AsJson, Jobs, Out, PlayerCounts, Project, SomeSeed, app, print_answer


@app.command()
def whatif(
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a rule; repeatable, all changes are one alternative."),
    ] = None,
    rules: Annotated[
        list[str] | None,
        typer.Option("--rules", metavar="NAME", help="A variant, or a TOML file of rules: one more alternative each."),
    ] = None,
    vary: Annotated[
        str | None, typer.Option(metavar="KEY", help="A rule of which each of --values is an alternative.")
    ] = None,
    solve: Annotated[
        str | None,
        typer.Option(metavar="KEY", help="As --vary, and look between the values for where --outcome is --target."),
    ] = None,
    values: Annotated[str, typer.Option(metavar="A,B,...", help="The values of --vary or --solve.")] = "",
    target: Annotated[str, typer.Option(metavar="X", help="With --solve: a number, or fair.")] = "fair",
    outcomes: Annotated[
        list[str] | None,
        typer.Option(
            "--outcome",
            metavar="NAME",
            help="What to look at, such as 'seat 0 win share'; repeatable. All if left out; with --solve, just that.",
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="What all is held against: a variant, or a TOML file; the printed rules."),
    ] = None,
    strategies: Annotated[
        list[str] | None,
        typer.Option("--strategy", metavar="SPEC", help="Who plays, in all seats; repeatable. tuned if left out."),
    ] = None,
    players: PlayerCounts = "2",
    deals: Annotated[int, typer.Option(min=1, metavar="N", help="Deals under each set of rules.")] = 4000,
    seed: SomeSeed = 0,
    retune: Annotated[
        bool, typer.Option("--retune", help="Play strategies tuned to each set of rules too, after a short search.")
    ] = False,
    jobs: Jobs = None,
    out: Out = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Say what other rules change, on the same deals.

    \b
    Examples:
      azulsim whatif --set rules.bonus.column=5 --players 2,3
      azulsim whatif --rules gray --rules mine.toml --strategy greedy --retune
      azulsim whatif --solve rules.starter_bonus --values -4,-2,0,2,4 --outcome 'seat 0 win share'
    """
    from azulsim import questions

    answer = questions.whatif(
        changes or (),
        rules=rules or (),
        vary=vary,
        solve=solve,
        values=questions.read_values(values),
        target=questions.read_target(target),
        baseline=baseline,
        outcomes=outcomes or (),
        strategies=strategies or ("tuned",),
        players=questions.read_players(players),
        deals=deals,
        seed=seed,
        retune=retune,
        jobs=jobs,
        out=out,
        project=project,
        progress=True,
        page=True,
    )
    print_answer(answer, as_json=as_json)
