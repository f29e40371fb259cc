"""Commands about one position."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from azulsim.cli.app import AsJson, Project, app, print_json


@app.command()
def explain(
    position: Annotated[str, typer.Argument(metavar="POSITION", help="One line of text, in quotes; - reads it.")],
    strategy: Annotated[str, typer.Option("--strategy", "-s", metavar="SPEC", help="Who judges the moves.")],
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Show every legal move of a position with its score, best first.

    \b
    azulsim replay shows the position of each round as text; docs/NOTATION.md says how to write one.

    \b
    Example:
      azulsim explain - --strategy greedy < position.txt
    """
    from azulsim.explain import explain as explain_position

    line = sys.stdin.read().strip() if position == "-" else position
    answer = explain_position(line, strategy, project=project)
    if as_json:
        print_json(answer.to_dict())
    else:
        typer.echo(str(answer))
