"""One sitting of a run: from an experiment to finished shards."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from azulsim import catalog, log, registry
from azulsim.engine.record import make_template
from azulsim.errors import InputError
from azulsim.experiment import Experiment, Plan, make_experiment, read_experiment
from azulsim.log import Commit, Manifest, Run
from azulsim.log.manifest import find_gap, read_commits
from azulsim.runner.folder import now, open_folder
from azulsim.runner.progress import watch_run
from azulsim.runner.workers import Task, absolute, can_share_process, list_tasks, make_player, spread


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
    manifest = open_folder(folder, plan, project)
    done = [commit for commit in read_commits(folder) if not find_gap(folder, commit)]
    workers = jobs or os.cpu_count() or 1
    if len(done) < plan.n_shards:
        tasks = list_tasks(plan, manifest, folder, {commit.shard for commit in done}, project)
        try:
            manifest = _play(plan, manifest, folder, tasks, done, workers, progress, project)
        except KeyboardInterrupt as stop:
            stop.add_note(f"finished shards are safe; go on with: azulsim resume {folder}")
            raise
    elif progress:
        print(f"{folder} is there and complete; nothing to play", file=sys.stderr)
    if not manifest.finished:
        log.write_manifest(folder, manifest.model_copy(update={"finished": now()}))
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
            player = make_player(spec, registry.hash_sources(spec, project=project), absolute(project))
            if is_general:
                player.place_address  # noqa: B018
            if player.speed == "compiled":
                player.general_address if is_general else player.address  # noqa: B018


def _override(experiment: Experiment, **changes: int | None) -> Experiment:
    given = {key: value for key, value in changes.items() if value is not None}
    # Validated anew: a copy with changed fields would take any value.
    said = {key: getattr(experiment, key) for key in experiment.model_fields_set}
    return make_experiment({**said, **given}, where=experiment.name) if given else experiment


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
    backend = "threading" if can_share_process(plan.specs, project) else "loky"
    with watch_run(plan, folder, sum(commit.n_games for commit in done), progress) as watch:
        for commit in spread(tasks, workers, backend):
            watch.add(commit.n_games)
    seconds = time.monotonic() - start
    return manifest.model_copy(update={"seconds": round(seconds, 3), "jobs": workers, "finished": ""})
