"""Commands about one strategy."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer

from azulsim.cli.app import FAILED, AsJson, Project, print_json
from azulsim.cli.catalog import strategies_group

Spec = Annotated[str, typer.Argument(metavar="SPEC", help="Such as greedy, or 'noisy(greedy, eps=0.2)'.")]


@strategies_group.command("show")
def show(spec: Spec, project: Project = None, as_json: AsJson = False) -> None:
    """Show what a strategy does, its parameters, and where it comes from.

    \b
    Examples:
      azulsim strategies show row_builder
      azulsim strategies show ./my.py:mine --json
    """
    from azulsim.registry import describe

    parts = describe(spec, project=project)
    if as_json:
        print_json(parts)
    else:
        typer.echo("\n\n".join(map(_format, parts)))


def _format(part: dict[str, Any]) -> str:
    params = part["parameters"]
    width = max(map(len, params), default=0)
    lines = [part["spec"], "", *part["doc"].splitlines(), "", *part["about"].splitlines()]
    if params:
        ranges = {name: f"  ({low:g} to {high:g})" for name, (low, high) in part["limits"].items()}
        lines += ["", "parameters"]
        lines += [f"  {name:<{width}} = {value:g}{ranges.get(name, '')}" for name, value in params.items()]
    facts = {"kind": part["kind"], "file": part["path"]}
    return "\n".join([*lines, "", *(f"{name}  {value}" for name, value in facts.items())])


@strategies_group.command("check")
def check(
    spec: Spec,
    deals: Annotated[int, typer.Option(min=1, metavar="N", help="Deals for each player count and kind of rules.")] = 4,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Check that a strategy keeps to the rules, repeats itself, and plays alike at all speeds.

    \b
    Plays it at 2 to 4 players under all named rules. Exit code 0: all well; 1: something is not.

    \b
    Example:
      azulsim strategies check greedy
    """
    from azulsim.testing import check_strategy

    checked = check_strategy(spec, deals=deals, project=project)
    if as_json:
        print_json(checked.to_dict())
    else:
        typer.echo(str(checked))
    if not checked.is_good:
        raise typer.Exit(FAILED)


@strategies_group.command("new")
def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Letters, digits and _, such as hoard_blue.")],
    kind: Annotated[
        Literal["score", "position", "choose", "move"],
        typer.Option(help="What it is given: a move, the position after it, any Python, or compiled code."),
    ] = "score",
    project: Project = None,
) -> None:
    """Write a strategy that plays, with its test, for you to change.

    \b
    Example:
      azulsim strategies new hoard_blue
    """
    from azulsim.scaffold import write_strategy

    for path in write_strategy(name, kind=kind, project=project):
        typer.echo(str(path))
    typer.echo(f"change it, then: azulsim strategies check {name}; azulsim compare {name} greedy", err=True)
