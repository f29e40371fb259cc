"""Commands about the rules."""

from __future__ import annotations

from typing import Annotated

import typer

from azulsim.cli.app import AsJson, Group, app, print_json

rules_group = Group("The rules that can be played.\n\n\b\nExample:\n  azulsim rules show gray")
app.add_typer(rules_group, name="rules")


@rules_group.command("list")
def list_rules(as_json: AsJson = False) -> None:
    """List the named kinds of Azul.

    \b
    Example:
      azulsim rules list
    """
    from azulsim.notation.rules_text import SUMMARIES

    if as_json:
        print_json([{"name": name, "summary": summary} for name, summary in SUMMARIES.items()])
        return
    width = max(map(len, SUMMARIES))
    for name, summary in SUMMARIES.items():
        typer.echo(f"{name:<{width}}  {summary}")


@rules_group.command("show")
def show_rules(name: Annotated[str, typer.Argument(metavar="NAME", help="One of `azulsim rules list`.")]) -> None:
    """Print rules as TOML: the start of a file of your own.

    \b
    Example:
      azulsim rules show gray > mine.toml
    """
    from azulsim.rules import find_rules

    typer.echo(find_rules(name).to_toml(), nl=False)


@rules_group.command("check")
def check_rules(
    rules: Annotated[str, typer.Argument(metavar="RULES", help="TOML file of rules, or one of `azulsim rules list`.")],
    as_json: AsJson = False,
) -> None:
    """Say whether rules can be played, and how they differ from the printed ones.

    \b
    Example:
      azulsim rules check mine.toml
    """
    from azulsim.notation.rules_text import list_differences
    from azulsim.rules import find_rules

    differences = list_differences(find_rules(rules))
    if as_json:
        print_json([{"key": key, "value": value, "printed": printed} for key, value, printed in differences])
        return
    typer.echo("ok: the printed rules" if not differences else "ok; differs from the printed rules:")
    for key, value, printed in differences:
        typer.echo(f"  {key} = {value}  (printed: {printed})")
