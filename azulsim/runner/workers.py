"""Hands shards to workers, each of which plays and writes its own part of the run folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import joblib

from azulsim import arena, log, registry
from azulsim.errors import RunError
from azulsim.experiment import Plan
from azulsim.log import Cell, Commit, Manifest, Shard
from azulsim.schema import Depth
from azulsim.strategy import Strategy


@dataclass(frozen=True)
class Task:
    """All that a worker needs to play and write one shard."""

    folder: Path
    shard: Shard
    cell: Cell
    specs: tuple[str, ...]
    sources: tuple[str, ...]
    """Hash of the file of each spec, as the manifest says."""
    seed: int
    depth: Depth
    denial: bool
    project: Path | None


def list_tasks(plan: Plan, manifest: Manifest, folder: Path, done: set[str], project: Path | None) -> Iterator[Task]:
    experiment = plan.experiment
    sources = tuple(manifest.sources[spec] for spec in plan.specs)
    folder, project = folder.absolute(), absolute(project)
    for shard in plan.shards():
        if shard.name not in done:
            yield Task(
                folder=folder,
                shard=shard,
                cell=plan.cells[shard.cell],
                specs=plan.specs,
                sources=sources,
                seed=experiment.seed,
                depth=experiment.log,
                denial=experiment.denial,
                project=project,
            )


def play_shard(task: Task) -> Commit:
    """Play one shard and write it; this is what runs in a worker."""
    cell, shard = task.cell, task.shard
    codes = tuple(task.specs.index(spec) for spec in cell.lineup)
    block = arena.Block(
        cell=cell.index,
        players=cell.players,
        rules=cell.rules,
        lineup=cell.lineup,
        spec_codes=codes,
        seatings=cell.seatings,
        seed=task.seed,
        first_deal=shard.first_deal,
        n_deals=shard.n_deals,
        depth=task.depth,
        denial=task.denial,
    )
    players = [make_player(task.specs[code], task.sources[code], task.project) for code in codes]
    tables = arena.play_block(block, strategies=players)
    numbers = {
        "games": tables.games,
        "rounds": tables.rounds,
        "moves": tables.moves,
    }
    return log.write_shard(task.folder, shard, numbers, tables.failures, depth=task.depth, specs=task.specs)


@lru_cache(maxsize=1024)
def make_player(spec: str, source: str, project: Path | None) -> Strategy:
    """Make a strategy once per process and file; its source must still be the one that the manifest names."""
    if registry.hash_sources(spec, project=project) != source:
        files = " or ".join(str(entry.path) for entry in registry.find_sources(spec, project=project))
        raise RunError(f"{files}: was edited while the run was being played")
    return arena.make_players([spec], project=project)[0]


def absolute(project: Path | None) -> Path | None:
    """Return a path that means the same to a worker process, which may stand elsewhere."""
    return project.absolute() if project else None


def spread(tasks: Iterable[Task], workers: int, backend: str) -> Iterator[Commit]:
    """Yield the commits of all tasks, as they are finished.

    Raises
    ------
    RunError
        If a worker process dies, naming the shards that it may have been playing.
    """
    if workers == 1:
        yield from map(play_shard, tasks)
        return
    given: dict[str, Path] = {}

    def hand_out() -> Iterator[Any]:
        for task in tasks:
            given[task.shard.name] = task.folder
            yield joblib.delayed(play_shard)(task)

    parallel = joblib.Parallel(n_jobs=workers, backend=backend, return_as="generator_unordered")
    try:
        for commit in parallel(hand_out()):
            given.pop(commit.shard, None)
            yield commit
    except BrokenProcessPool:
        first = " or ".join(list(given)[:workers])
        folder = next(iter(given.values()), Path())
        raise RunError(
            f"{folder}: a worker process died while playing shard {first}: a strategy ended it, or memory ran out; "
            f"finished shards are kept, azulsim resume {folder} continues"
        ) from None


def can_share_process(specs: tuple[str, ...], project: Path | None) -> bool:
    """Tell whether workers may be threads: bundled compiled strategies free the interpreter and cannot end it."""
    entries = (entry for spec in specs for entry in registry.find_sources(spec, project=project))
    if not all(map(registry.is_bundled, entries)):
        return False
    return all(registry.make_strategy(spec, project=project).speed == "compiled" for spec in specs)
