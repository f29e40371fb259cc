"""Plays an experiment: shards to workers, each worker writing its own part of the run folder.

Results do not depend on the number of workers, because a shard is known by its deals and not by who plays it. Memory
does not grow with the number of games, because rows go from the worker straight to disk and only counts come back.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterable, Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import joblib

from azulsim import __version__, arena, catalog, log, registry
from azulsim.engine.record import make_template
from azulsim.errors import InputError, RunError
from azulsim.experiment import Experiment, Plan, flatten_keys, make_experiment, read_experiment
from azulsim.log import Cell, Commit, Manifest, Run, Shard
from azulsim.log.manifest import find_gap, read_commits, read_manifest
from azulsim.schema import Depth
from azulsim.strategy import Strategy

SECONDS_BETWEEN_LINES = 30.0
SHARE_BETWEEN_LINES = 0.1


def run(
    experiment: Experiment | str | Path,
    *,
    out: str | Path | None = None,
    jobs: int | None = None,
    seed: int | None = None,
    deals: int | None = None,
    progress: bool = True,
    project: Path | None = None,
    where: str = "",
) -> Run:
    """Play an experiment and return its run.

    Parameters
    ----------
    experiment
        An `Experiment`, the name of one, or the path of a TOML file.
    out
        The run folder; `runs/<name>` in the working directory if left out. If it holds shards of the same
        experiment already, only the missing ones are played.
    jobs
        Number of workers; as many as there are cores if left out. With 1, everything happens in this process.
    seed, deals
        Replace those of the experiment.
    progress
        Tell on stderr what is played and how far it is: a bar on a terminal, else a plain line now and then.
    project
        Folder whose strategies and experiments are searched besides the bundled ones; the working directory if left
        out.
    where
        What opens a complaint about the experiment, such as its file; its name if left out.

    Raises
    ------
    InputError
        If the experiment cannot be used, or the folder holds the run of another one (the differences are named).
    RunError
        If the disk is full, or playing fails in a way that no log row can hold. Finished shards are kept.
    """
    if jobs is not None and (type(jobs) is not int or jobs < 1):
        raise InputError(f"jobs = {jobs!r}: must be a whole number from 1 on")
    if not isinstance(experiment, Experiment):
        where = where or str(experiment)
        experiment = read_experiment(experiment, project=project)
    where = where or experiment.name
    plan = _override(experiment, seed=seed, deals=deals).plan(project=project, where=where)
    _check_reports(plan.experiment.reports, project, where)
    folder = Path(out) if out is not None else Path("runs") / plan.experiment.name
    if not (folder / "manifest.json").exists():
        _rehearse(plan, project)
    manifest = _open_folder(folder, plan, project)
    done = [commit for commit in read_commits(folder) if not find_gap(folder, commit)]
    workers = jobs or os.cpu_count() or 1
    if len(done) < plan.n_shards:
        tasks = _list_tasks(plan, manifest, folder, {commit.shard for commit in done}, project)
        try:
            manifest = _play(plan, manifest, folder, tasks, done, workers, progress, project)
        except KeyboardInterrupt as stop:
            stop.add_note(f"finished shards are safe; go on with: azulsim resume {folder}")
            raise
    elif progress:
        print(f"{folder} is there and complete; nothing to play", file=sys.stderr)
    if not manifest.finished:
        log.write_manifest(folder, manifest.model_copy(update={"finished": _now()}))
    return log.read_run(folder)


def _check_reports(names: Iterable[str], project: Path | None, where: str) -> None:
    """Complain of an unknown report before anything is played."""
    for name in names:
        try:
            catalog.find("reports", name, project=project)
        except InputError as error:
            raise InputError(f"{where}: reports: {error}") from error


def _rehearse(plan: Plan, project: Path | None) -> None:
    """Make every strategy as it will be played, so that one that cannot be leaves no run folder behind."""
    templates = {(cell.players, cell.rules): make_template(cell.rules, cell.players) for cell in plan.cells}
    for cell in plan.cells:
        is_general = templates[cell.players, cell.rules]["is_general"][0]
        for spec in cell.lineup:
            player = _make_player(spec, registry.hash_sources(spec, project=project), _absolute(project))
            if is_general:
                player.place_address  # noqa: B018
            if player.speed == "compiled":
                player.general_address if is_general else player.address  # noqa: B018


def _absolute(project: Path | None) -> Path | None:
    """Return a path that means the same to a worker process, which may stand elsewhere."""
    return project.absolute() if project else None


def _override(experiment: Experiment, **changes: int | None) -> Experiment:
    given = {key: value for key, value in changes.items() if value is not None}
    # Validated anew: a copy with changed fields would take any value.
    said = {key: getattr(experiment, key) for key in experiment.model_fields_set}
    return make_experiment({**said, **given}, where=experiment.name) if given else experiment


# The run folder


def _open_folder(folder: Path, plan: Plan, project: Path | None) -> Manifest:
    """Make the run folder, or find in it an earlier sitting of the very same run."""
    manifest = _describe(plan, project)
    if folder.is_file() or not (folder / "manifest.json").exists():
        log.create_run(folder, manifest, plan.experiment.to_toml())
        return manifest
    earlier = read_manifest(folder)
    if differences := _find_differences(earlier, manifest):
        raise InputError(f"{folder} holds another run ({'; '.join(differences)}); choose another folder with --out")
    log.make_folders(folder, earlier.log)  # one that was deleted counts as shards to be played again
    return earlier


def _describe(plan: Plan, project: Path | None) -> Manifest:
    experiment = plan.experiment
    return Manifest(
        azulsim=__version__,
        name=experiment.name,
        question=experiment.question,
        seed=experiment.seed,
        log=experiment.log,
        cells=plan.cells,
        specs=plan.specs,
        shards=plan.n_shards,
        experiment=experiment.model_dump(mode="json", by_alias=True),
        sources={spec: registry.hash_sources(spec, project=project) for spec in plan.specs},
        reports=experiment.reports,
        started=_now(),
    )


_NOT_PLAYED = ("experiment.question", "experiment.reports")


def _find_differences(earlier: Manifest, now: Manifest) -> list[str]:
    """Say, one text each, in what a run differs from what is asked for now; what no game depends on is left out."""
    pairs = zip(_facts(earlier), _facts(now), strict=True)
    differences = []
    for (key, old), (_, new) in pairs:
        for name in sorted({*old, *new}):
            place = f"{key}.{name}" if key else name
            if old.get(name) != new.get(name) and not place.startswith(_NOT_PLAYED):
                differences.append(_word(key, name, old.get(name), new.get(name)))
    return differences


def _facts(manifest: Manifest) -> list[tuple[str, dict[str, Any]]]:
    return [
        ("", {"azulsim": manifest.azulsim}),
        ("experiment", dict(flatten_keys(json.loads(json.dumps(manifest.experiment))))),
        ("sources", dict(manifest.sources)),
    ]


def _word(key: str, name: str, old: Any, new: Any) -> str:
    if key == "sources":
        return f"the file of {name} has changed" if old and new else f"{name} is {'new' if new else 'gone'}"
    return f"{name}: {_show(old)} there, {_show(new)} now"


def _show(value: Any) -> str:
    return "nothing" if value is None else repr(value)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


# Workers


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


def _list_tasks(plan: Plan, manifest: Manifest, folder: Path, done: set[str], project: Path | None) -> Iterator[Task]:
    experiment = plan.experiment
    sources = tuple(manifest.sources[spec] for spec in plan.specs)
    folder, project = folder.absolute(), _absolute(project)
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
    players = [_make_player(task.specs[code], task.sources[code], task.project) for code in codes]
    tables = arena.play_block(block, strategies=players)
    numbers = {
        "games": tables.games,
        "rounds": tables.rounds,
        "moves": tables.moves,
    }
    return log.write_shard(task.folder, shard, numbers, tables.failures, depth=task.depth, specs=task.specs)


@lru_cache(maxsize=1024)
def _make_player(spec: str, source: str, project: Path | None) -> Strategy:
    """Make a strategy once per process and file; its source must still be the one that the manifest names."""
    if registry.hash_sources(spec, project=project) != source:
        files = " or ".join(str(entry.path) for entry in registry.find_sources(spec, project=project))
        raise RunError(f"{files}: was edited while the run was being played")
    return arena.make_players([spec], project=project)[0]


def _play(
    plan: Plan,
    manifest: Manifest,
    folder: Path,
    tasks: Iterable[Task],
    done: list[Commit],
    workers: int,
    progress: bool,
    project: Path | None,
) -> Manifest:
    """Play the tasks and return the manifest saying how long it took."""
    start = time.monotonic()
    backend = "threading" if _can_share_process(plan.specs, project) else "loky"
    with _watch(plan, folder, sum(commit.n_games for commit in done), progress) as watch:
        for commit in _spread(tasks, workers, backend):
            watch.add(commit.n_games)
    seconds = time.monotonic() - start
    return manifest.model_copy(update={"seconds": round(seconds, 3), "jobs": workers, "finished": ""})


def _spread(tasks: Iterable[Task], workers: int, backend: str) -> Iterator[Commit]:
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


def _can_share_process(specs: tuple[str, ...], project: Path | None) -> bool:
    """Tell whether workers may be threads: bundled compiled strategies free the interpreter and cannot end it."""
    entries = (entry for spec in specs for entry in registry.find_sources(spec, project=project))
    if not all(map(registry.is_bundled, entries)):
        return False
    return all(registry.make_strategy(spec, project=project).speed == "compiled" for spec in specs)


# Progress


class Watch(Protocol):
    """Follows a run while it is played."""

    def add(self, games: int) -> None:
        """Take note of games just finished."""


@contextmanager
def _watch(plan: Plan, folder: Path, already: int, is_wanted: bool) -> Iterator[Watch]:
    if not is_wanted:
        yield _Silence()
        return
    experiment = plan.experiment
    cells = f"{len(plan.cells):,} cell{'' if len(plan.cells) == 1 else 's'}"
    kept = f", {already:,} games there already" if already else ""
    print(
        f"{experiment.name}: {cells} x {experiment.deals:,} deals = {plan.n_games:,} games, "
        f"log {experiment.log}, seed {experiment.seed}, azulsim {__version__} -> {folder}{kept}",
        file=sys.stderr,
    )
    shown: AbstractContextManager[Watch] = (
        _show_bar(plan.n_games, already) if sys.stderr.isatty() else _print_lines(plan.n_games, already)
    )
    with shown as watch:
        yield watch


class _Silence:
    def add(self, games: int) -> None:
        pass


@contextmanager
def _show_bar(total: int, already: int) -> Iterator[Watch]:
    from rich import progress
    from rich.console import Console

    columns = (
        progress.BarColumn(),
        progress.TaskProgressColumn(),
        progress.TextColumn("{task.fields[speed]}"),
        progress.TimeRemainingColumn(compact=True),
        progress.TextColumn("left"),
    )
    with progress.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield _Bar(bar, bar.add_task("", total=total, completed=already, speed=""))


class _Bar:
    def __init__(self, bar: Any, task: Any) -> None:
        self._bar, self._task = bar, task
        self._pace = Pace(0, 0)

    def add(self, games: int) -> None:
        self._pace.add(games)
        self._bar.update(self._task, advance=games, speed=f"{self._pace.per_second:,.0f} games/s")


@contextmanager
def _print_lines(total: int, already: int) -> Iterator[Watch]:
    yield _Lines(total, already)


class _Lines:
    def __init__(self, total: int, already: int) -> None:
        self._pace = Pace(total, already)
        self._told_share = self._pace.share
        self._told_time = time.monotonic()

    def add(self, games: int) -> None:
        pace = self._pace
        pace.add(games)
        is_due = pace.share >= self._told_share + SHARE_BETWEEN_LINES
        is_late = time.monotonic() >= self._told_time + SECONDS_BETWEEN_LINES
        if is_due or is_late or pace.done >= pace.total:
            self._told_share, self._told_time = pace.share, time.monotonic()
            print(
                f"{pace.share:4.0%}  {pace.done:,} of {pace.total:,} games  {pace.per_second:,.0f} games/s  "
                f"{_word_seconds(pace.seconds_left)} left",
                file=sys.stderr,
                flush=True,
            )


class Pace:
    """How far and how fast: games of earlier sittings count as done, but not as played fast."""

    def __init__(self, total: int, already: int) -> None:
        self.total, self.done = total, already
        self._played = 0
        self._start = time.monotonic()

    def add(self, games: int) -> None:
        """Take note of games just finished."""
        self.done += games
        self._played += games

    @property
    def share(self) -> float:
        """Return the share of all games that is done, 0 to 1."""
        return self.done / self.total if self.total else 1.0

    @property
    def per_second(self) -> float:
        """Return games a second, over this sitting."""
        return self._played / max(time.monotonic() - self._start, 1e-9)

    @property
    def seconds_left(self) -> float:
        """Return the seconds that the rest will take at this pace; infinite before the first game."""
        return (self.total - self.done) / self.per_second if self._played else float("inf")


def _word_seconds(seconds: float) -> str:
    if seconds == float("inf"):
        return "unknown time"
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
