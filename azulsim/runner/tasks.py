"""A shard as a task: all that is needed to play and write it, wherever that happens."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from azulsim import arena, log, registry
from azulsim.errors import RunError
from azulsim.experiment import Plan
from azulsim.experiment.probing import Probes
from azulsim.log import Cell, Commit, Manifest, Shard
from azulsim.runner.luggage import rename
from azulsim.schema import Depth, stored_at
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
    source: str
    """Hash of azulsim's own source, likewise."""
    seed: int
    depth: Depth
    denial: bool
    probes: arena.Probes | None
    project: Path | None
    is_watched: bool
    """True if its games are played in a child process, since a strategy may do anything to the one it plays in."""
    timeout: float
    """Seconds that a watched game may take."""
    outcome: log.OutcomeName
    """What the run is about: shown while it is played."""
    forfeits: bool
    """True if a game in which a strategy fails is lost by it, instead of left out with its deal."""
    moved: Mapping[str, str] = field(default_factory=dict)
    """Names by which strategies are found here, by those in the specs, where files came along as text."""

    @property
    def block(self) -> arena.Block:
        """The deals to play."""
        cell, shard = self.cell, self.shard
        return arena.Block(
            cell=cell.index,
            players=cell.players,
            rules=cell.rules,
            lineup=cell.lineup,
            spec_codes=tuple(self.specs.index(spec) for spec in cell.lineup),
            seatings=cell.seatings,
            seed=self.seed,
            first_deal=shard.first_deal,
            n_deals=shard.n_deals,
            depth=self.depth,
            denial=self.denial,
            probes=self.probes,
            forfeits=self.forfeits,
        )

    def make_players(self) -> list[Strategy]:
        """Make the strategies of the line-up from the files that the manifest names.

        Raises
        ------
        RunError
            If a file was edited since.
        """
        sources = dict(zip(self.specs, self.sources, strict=True))
        return [make_player(rename(spec, self.moved), sources[spec], self.project) for spec in self.cell.lineup]

    def write(
        self, tables: arena.Tables, *, seconds: float, doubts: Sequence[str] = (), is_marked: bool = True
    ) -> Commit:
        """Write what was played to the run folder, the commit marker too if `is_marked`."""
        is_probed = self.probes is not None
        numbers = {table.name: getattr(tables, table.name) for table in stored_at(self.depth, is_probed=is_probed)}
        if any(failure["kind"] == "timeout" for failure in tables.failures):
            doubts = [*doubts, f"games were stopped that took more than {self.timeout:g} s"]
        return log.write_shard(
            self.folder,
            self.shard,
            numbers,
            tables.failures,
            depth=self.depth,
            is_probed=is_probed,
            specs=self.specs,
            seconds=seconds,
            doubts=doubts,
            followed=(self.cell, self.outcome),
            is_marked=is_marked,
        )


def list_tasks(
    plan: Plan, manifest: Manifest, folder: Path, done: set[str], project: Path | None, timeout: float
) -> Iterator[Task]:
    """Yield the tasks of all shards but those named in `done`, in canonical order."""
    experiment = plan.experiment
    sources = tuple(manifest.sources[spec] for spec in plan.specs)
    watched = {spec for spec in plan.specs if must_be_watched(spec, project)}
    folder, project = folder.absolute(), absolute(project)
    probes = to_arena(experiment.probes) if experiment.probes else None
    for shard in manifest.take_share(plan.shards()):
        if shard.name not in done:
            cell = plan.cells[shard.cell]
            yield Task(
                folder=folder,
                shard=shard,
                cell=cell,
                specs=plan.specs,
                sources=sources,
                source=manifest.source,
                seed=experiment.seed,
                depth=experiment.log,
                denial=experiment.denial,
                probes=probes,
                project=project,
                is_watched=not watched.isdisjoint(cell.lineup),
                timeout=timeout,
                outcome=manifest.outcome,
                forfeits=manifest.on_failure == "forfeit",
            )


def to_arena(probes: Probes) -> arena.Probes:
    """Return what an experiment asks for as the plain numbers that the arena takes."""
    tempo, decision = probes.tempo, probes.decision
    rounds: tuple[int, ...] = ()
    if tempo:
        rounds = arena.ALL_ROUNDS if tempo.rounds == "all" else tempo.rounds
    return arena.Probes(
        rounds=rounds,
        tempo_continuations=tempo.continuations if tempo else 0,
        per_game=decision.per_game if decision else 0,
        decision_continuations=decision.continuations if decision else 0,
    )


def must_be_watched(spec: str, project: Path | None) -> bool:
    """Tell whether a strategy may spoil the process it plays in: all may but bundled compiled ones."""
    if not all(map(registry.is_bundled, registry.find_sources(spec, project=project))):
        return True
    return registry.make_strategy(spec, project=project).speed != "compiled"


def name_suspects(task: Task) -> str:
    """Name the strategies of a line-up that may spoil the process they play in; all, if none is known to."""
    lineup = task.cell.lineup
    return " or ".join(dict.fromkeys([lineup[player] for player in find_suspects(task)] or lineup))


def find_suspects(task: Task) -> list[int]:
    """Return the places in the line-up of the strategies that may spoil the process they play in."""
    specs = [rename(spec, task.moved) for spec in task.cell.lineup]
    return [player for player, spec in enumerate(specs) if must_be_watched(spec, task.project)]


def play_here(task: Task) -> Commit:
    """Play and write a shard in this process, all but its commit marker."""
    start = time.monotonic()
    tables = arena.play_block(task.block, strategies=task.make_players())
    return task.write(tables, seconds=time.monotonic() - start, is_marked=False)


@lru_cache(maxsize=1024)
def make_player(spec: str, source: str, project: Path | None) -> Strategy:
    """Make a strategy once per process and file; its source must still be the one that the manifest names."""
    if registry.hash_sources(spec, project=project) != source:
        files = " or ".join(str(entry.path) for entry in registry.find_sources(spec, project=project))
        raise RunError(f"{files}: was edited while the run was being played")
    return registry.make_strategy(spec, project=project)


def absolute(project: Path | None) -> Path | None:
    """Return a path that means the same to a worker process, which may stand elsewhere."""
    return project.absolute() if project else None
