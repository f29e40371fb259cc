"""Commands that say what there is: strategies, experiments, reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from azulsim.cli.app import AsJson, Project, app, print_json

if TYPE_CHECKING:
    from azulsim.catalog import Kind


def _add_list(kind: Kind, help_: str, example: str) -> None:
    """Add `azulsim KIND list`."""
    group = typer.Typer(help=help_, no_args_is_help=True, rich_markup_mode=None)
    app.add_typer(group, name=kind)

    @group.callback()
    def _group() -> None:
        pass

    @group.command("list", help=f"List {kind}: name and what it is.\n\n\b\nExample:\n  {example}")
    def list_(project: Project = None, as_json: AsJson = False) -> None:
        from azulsim.catalog import list_entries

        entries = list_entries(kind, project=project)
        if as_json:
            fields = ("name", "summary", "origin", "path")
            print_json([{field: str(getattr(entry, field)) for field in fields} for entry in entries])
            return
        width = max((len(entry.name) for entry in entries), default=0)
        for entry in entries:
            origin = "" if entry.origin == "bundled" else f"  [{entry.origin}: {entry.path}]"
            typer.echo(f"{entry.name:<{width}}  {entry.summary}{origin}")


_add_list("strategies", "The strategies that can play.", "azulsim strategies list")
_add_list("experiments", "The questions that can be run.", "azulsim experiments list --project ~/azul")
_add_list("reports", "The pages that can be made of a run.", "azulsim reports list --json")
