"""Commands that say what there is: strategies, experiments, reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from azulsim.cli.app import AsJson, Group, Project, app, print_json

if TYPE_CHECKING:
    from azulsim.catalog import Entry, Kind


def _add_group(kind: Kind, help_: str, example: str) -> typer.Typer:
    """Add the group of commands about one kind, with the command `list`."""
    group = Group(f"{help_}\n\n\b\nExample:\n  {example}")
    app.add_typer(group, name=kind)

    @group.callback()
    def _group() -> None:
        pass

    @group.command("list", help=f"List {kind}: name and what it is.\n\n\b\nExample:\n  {example}")
    def list_(project: Project = None, as_json: AsJson = False) -> None:
        from azulsim.catalog import list_entries

        entries = list_entries(kind, project=project)
        if as_json:
            print_json([_to_dict(entry) for entry in entries])
            return
        width = max((len(_show_name(entry)) for entry in entries), default=0)
        for entry in entries:
            origin = "" if entry.origin == "bundled" else f"  [{entry.origin}: {entry.path}]"
            typer.echo(f"{_show_name(entry):<{width}}  {entry.summary}{origin}")

    return group


def _to_dict(entry: Entry) -> dict[str, Any]:
    shown = {field: str(getattr(entry, field)) for field in ("name", "summary", "origin", "path")}
    return {**shown, "wrapper": entry.is_wrapper} if entry.kind == "strategies" else shown


def _show_name(entry: Entry) -> str:
    return f"{entry.name}(...)" if entry.is_wrapper else entry.name


strategies_group = _add_group("strategies", "The strategies that can play.", "azulsim strategies list")
experiments_group = _add_group(
    "experiments", "The questions that can be run.", "azulsim experiments list --project ~/azul"
)
_add_group("reports", "The pages that can be made of a run.", "azulsim reports list --json")
