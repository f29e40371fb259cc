"""Commands about one experiment."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from azulsim.cli.app import AsJson, Overrides, Project, RulesName, print_json
from azulsim.cli.catalog import experiments_group

if TYPE_CHECKING:
    from azulsim.experiment import Plan

Experiment = Annotated[str, typer.Argument(metavar="EXPERIMENT", help="Name of an experiment, or a TOML file.")]


@experiments_group.command("show")
def show(
    experiment: Experiment,
    rules: RulesName = None,
    overrides: Overrides = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Show what an experiment will play: factors, cells, games, shards, strategies, reports.

    \b
    Examples:
      azulsim experiments show demo
      azulsim experiments show demo --set players=[2] --json
    """
    from azulsim.catalog import find
    from azulsim.experiment import read_experiment

    question = read_experiment(experiment, project=project, overrides=overrides or (), rules=rules)
    plan = question.plan(project=project, where=experiment)
    facts = _describe(plan, find("experiments", experiment, project=project).path)
    if as_json:
        print_json({**facts, "experiment": plan.experiment.model_dump(mode="json", by_alias=True)})
    else:
        typer.echo(_format(facts))


@experiments_group.command("check")
def check(experiment: Experiment, project: Project = None, as_json: AsJson = False) -> None:
    """Say whether an experiment can be run; exit code 2 with what is wrong if it cannot.

    \b
    Example:
      azulsim experiments check experiments/mine.toml
    """
    from azulsim.experiment import read_experiment
    from azulsim.log.read import format_count

    plan = read_experiment(experiment, project=project).plan(project=project, where=experiment)
    if as_json:
        print_json({"cells": len(plan.cells), "games": plan.n_games, "shards": plan.n_shards})
    else:
        typer.echo(f"{experiment}: ok, {format_count(len(plan.cells), 'cell')}, {format_count(plan.n_games, 'game')}")


@experiments_group.command("new")
def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Letters, digits, -, _ and ., such as steep-floor.")],
    project: Project = None,
) -> None:
    """Write an experiment that runs, for you to change.

    \b
    Example:
      azulsim experiments new steep-floor
    """
    from azulsim.scaffold import write_experiment

    path = write_experiment(name, project=project)
    typer.echo(str(path))
    typer.echo(f"change it, then: azulsim experiments check {path}; azulsim run {name}", err=True)


def _describe(plan: Plan, path: Path) -> dict[str, Any]:
    experiment = plan.experiment
    lineups: dict[int, set[tuple[str, ...]]] = {}
    for cell in plan.cells:
        lineups.setdefault(cell.players, set()).add(cell.lineup)
    return {
        "name": experiment.name,
        "question": experiment.question,
        "file": str(path),
        "strategies": list(plan.specs),
        "schedule": experiment.schedule if experiment.strategies else "written out",
        "lineups": {players: len(found) for players, found in sorted(lineups.items())},
        "grid": {key: list(values) for key, values in experiment.grid.items()},
        "rules": experiment.rules.model_dump(mode="json", by_alias=True, exclude_defaults=True),
        "seatings": experiment.seatings,
        "deals": experiment.deals,
        "probes": experiment.probes.model_dump(mode="json", exclude_none=True) if experiment.probes else None,
        "stop": experiment.stop.rule.goal if experiment.stop else None,
        "seed": experiment.seed,
        "log": experiment.log,
        "cells": len(plan.cells),
        "games": plan.n_games,
        "shards": plan.n_shards,
        "reports": list(experiment.reports),
    }


def _word_probe(kind: str, said: dict[str, Any]) -> str:
    return f"{kind} ({', '.join(f'{key} {value}' for key, value in said.items())})"


def _format(facts: dict[str, Any]) -> str:
    from azulsim.config import show_value
    from azulsim.log.read import format_count
    from azulsim.notation import format_rules
    from azulsim.rules import make_rules

    lineups = ", ".join(f"{count:,} at {players}" for players, count in facts["lineups"].items())
    cells, deals = format_count(facts["cells"], "cell"), format_count(facts["deals"], "deal")
    lines = {
        "strategies": f"{len(facts['strategies'])}: {', '.join(facts['strategies'])}",
        "line-ups": f"{lineups} players, {facts['schedule'].replace('_', ' ')}",
        "rules": format_rules(make_rules(facts["rules"])),
        **{f"  {key}": ", ".join(map(show_value, values)) for key, values in facts["grid"].items()},
        "cells": f"{cells} x {deals}, {facts['seatings']} seatings",
        "games": f"{facts['games']:,} in {format_count(facts['shards'], 'shard')}",
        **({"probes": "; ".join(_word_probe(*probe) for probe in facts["probes"].items())} if facts["probes"] else {}),
        **({"stop": f"before all deals are played, {facts['stop']}"} if facts["stop"] else {}),
        "seed": facts["seed"],
        "log": facts["log"],
        "reports": ", ".join(facts["reports"]) or "none",
        "file": facts["file"],
    }
    width = max(map(len, lines))
    return "\n".join(
        [facts["name"], facts["question"], "", *(f"{key:<{width}}  {text}" for key, text in lines.items())]
    )
