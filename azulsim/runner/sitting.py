"""One sitting of a run: from an experiment to finished shards."""

from __future__ import annotations

import sys
import time
from collections.abc import Generator, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from azulsim import arena, log
from azulsim.engine.record import make_template
from azulsim.errors import InputError, RunError, refuse_unwritable
from azulsim.experiment import Experiment, Plan, make_experiment, read_experiment
from azulsim.interrupts import one_interrupt
from azulsim.jobs import count_workers
from azulsim.log import Commit, Manifest, Run, Stopped
from azulsim.log.manifest import find_gaps, read_commits
from azulsim.runner.cluster import connect
from azulsim.runner.evidence import look
from azulsim.runner.folder import OnFailure, now, open_folder
from azulsim.runner.pilot import Cost, foresee
from azulsim.runner.progress import tell_files, watch_run
from azulsim.runner.tasks import Task, list_tasks
from azulsim.runner.watching import children_of
from azulsim.runner.workers import Threads, Workers

TIMEOUT = 60.0
"""Seconds that a game may take, where it is watched and nothing else is asked for."""


def run(
    experiment: Experiment | str | Path,
    *,
    out: str | Path | None = None,
    jobs: int | None = None,
    cluster: str | None = None,
    seed: int | None = None,
    deals: int | None = None,
    share: str | None = None,
    timeout: float = TIMEOUT,
    on_failure: OnFailure | None = None,
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
        Number of workers; as many as there are cores if left out.
    cluster
        Address of a Dask scheduler, such as `"dask://host:8786"`, whose workers play instead of this process. The
        run folder must be one that all its machines share, or one on an object store.
    seed, deals
        Replace those of the experiment.
    share
        `"i/n"` to play every n-th shard only, from the i-th on; all of them if left out, or those that the folder is
        there for. `azulsim.log.merge_runs` joins the shares.
    timeout
        Seconds that a game may take before it fails. Bundled compiled strategies are not watched.
    on_failure
        `"leave-out"`: a deal in which a strategy fails is left out of the tables and counted; `"abort"`: the first
        failure stops the run; `"forfeit"`: the strategy that fails loses the game, which ends there, and the others
        share the win. If left out, what the folder of an earlier sitting says, or `"leave-out"`.
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
        If the disk is full, a strategy fails that must not, or playing fails in a way that no log row can hold.
        Finished shards are kept.
    """
    count = count_workers(jobs)
    if cluster is not None and jobs is not None:
        raise InputError(
            f"jobs = {jobs} and cluster = {cluster!r}: a cluster has as many workers as were started for it; leave one "
            "of the two out"
        )
    _check_options(timeout, on_failure)
    if not isinstance(experiment, Experiment):
        where = where or str(experiment)
        experiment = read_experiment(experiment, project=project)
    where = where or experiment.name
    plan = _override(experiment, seed=seed, deals=deals).plan(project=project, where=where)
    _check_share(share, plan)
    if on_failure == "forfeit" and plan.experiment.probes:
        raise InputError(
            f"{where}: probes: nothing can be played on from a forfeited game; leave out on_failure or probes"
        )
    folder = log.locate(out) if out is not None else Path("runs") / plan.experiment.name
    with refuse_unwritable(folder):
        is_new = not (folder / "manifest.json").exists()
    if is_new:
        _rehearse(plan, project)
    with connect(cluster, folder) if cluster else nullcontext(Threads(count)) as workers:
        manifest = open_folder(folder, plan, project, share, on_failure)
        commits = read_commits(folder)
        gaps = find_gaps(folder, commits)
        done = [commit for commit in commits if commit.shard not in gaps]
        sitting = _Sitting(plan, manifest, folder, project, workers, timeout, on_failure, progress)
        is_settled = plan.experiment.stop is None or manifest.stopped is not None
        if len(done) < manifest.n_own_shards or not is_settled:
            try:
                with one_interrupt():
                    manifest = sitting.play(done)
            except KeyboardInterrupt as stop:
                stop.add_note(f"finished shards are safe; go on with: azulsim resume {folder}")
                raise
        elif progress:
            print(f"{folder} is there and complete; nothing to play", file=sys.stderr)
    if not manifest.finished:
        found = log.read_run(folder)
        log.write_manifest(folder, manifest.model_copy(update={"finished": now(), "doubts": found.doubts}))
    return log.read_run(folder)


def _check_options(timeout: float, on_failure: str | None) -> None:
    if not timeout > 0:
        raise InputError(f"timeout = {timeout!r}: must be a number of seconds above 0")
    if on_failure not in (None, *get_args(OnFailure)):
        raise InputError(f"on_failure = {on_failure!r}: must be {', '.join(get_args(OnFailure))}")


def _check_share(share: str | None, plan: Plan) -> None:
    if share is None:
        return
    if plan.experiment.stop is not None:
        raise InputError(f"shard {share!r}: a run that stops by evidence needs all deals at each look; play it whole")
    number, _, count = share.partition("/")
    if not (number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise InputError(f"shard {share!r}: write i/n, such as 1/4 for the first of four shares")
    if int(number) > plan.n_shards:
        raise InputError(
            f"shard {share!r}: the run has only {plan.n_shards:,} shards, so that nothing is left for this one"
        )


def _rehearse(plan: Plan, project: Path | None) -> None:
    """Make every strategy as it will be played, so that one that cannot be leaves no run folder behind."""
    templates = {(cell.players, cell.rules): make_template(cell.rules, cell.players) for cell in plan.cells}
    players = dict(zip(plan.specs, arena.make_players(plan.specs, project=project), strict=True))
    for cell in plan.cells:
        is_general = templates[cell.players, cell.rules]["is_general"][0]
        for player in (players[spec] for spec in cell.lineup):
            if is_general:
                player.place_address  # noqa: B018
            if player.speed == "compiled":
                player.general_address if is_general else player.address  # noqa: B018


def _override(experiment: Experiment, **changes: int | None) -> Experiment:
    given = {key: value for key, value in changes.items() if value is not None}
    # Validated anew: a copy with changed fields would take any value.
    said = {key: getattr(experiment, key) for key in experiment.model_fields_set}
    return make_experiment({**said, **given}, where=experiment.name) if given else experiment


@dataclass(frozen=True)
class _Sitting:
    """One time of playing."""

    plan: Plan
    manifest: Manifest
    folder: Path
    project: Path | None
    workers: Workers
    timeout: float
    on_failure: OnFailure | None
    progress: bool

    def play(self, done: list[Commit]) -> Manifest:
        """Play all shards but those that are done, or as many as the evidence asks for.

        Returns
        -------
        Manifest
            It says how long it took, and where and why it stopped.
        """
        names = {commit.shard for commit in done}
        tasks = list(list_tasks(self.plan, self.manifest, self.folder, names, self.project, self.timeout))
        found: list[Stopped] = []
        if self.progress:
            tell_files(self.plan.specs, self.project)
        count = self.workers.count

        def cost() -> Cost | None:
            return foresee(self.plan, done, count, self.timeout, self.project)

        with watch_run(self.plan, self.manifest, self.folder, done, count, cost, self.progress) as watch:
            start = time.monotonic()
            for commit in done:
                self._heed(commit)
            # Children are ended first: a worker that waits for one would be waited for.
            with closing(self._play_stages(tasks, found)) as commits, children_of(self.folder.absolute()):
                for commit in commits:
                    watch.add(commit)
                    self._heed(commit)
        seconds = time.monotonic() - start
        changes = {"seconds": round(seconds, 3), "jobs": self.workers.count, "finished": ""}
        return self.manifest.model_copy(update={**changes, **(self._settle(found[-1]) if found else {})})

    def _play_stages(self, tasks: Sequence[Task], found: list[Stopped]) -> Generator[Commit, None, None]:
        """Play up to each look, and on if that is not enough; what was seen is added to `found`."""
        for stage in self.plan.stages():
            yield from self.workers.spread([task for task in tasks if task.shard.first_deal in stage])
            if self.plan.experiment.stop is not None:
                found.append(look(self.folder, self.plan, stage.stop))
                if found[-1].is_met:
                    return

    def _settle(self, stopped: Stopped) -> dict[str, Any]:
        """Return what the manifest says of a run that ended after so many deals."""
        if self.progress:
            print(stopped, file=sys.stderr)
        cells = tuple(cell.model_copy(update={"deals": stopped.deals}) for cell in self.plan.cells)
        shards = sum(shard.first_deal < stopped.deals for shard in self.plan.shards())
        return {"cells": cells, "shards": shards, "stopped": stopped}

    def _heed(self, commit: Commit) -> None:
        """Stop at a failure, if that is wanted."""
        if commit.n_failures and self.on_failure == "abort":
            raise RunError(
                f"{log.read_run(self.folder).describe_failures()}; stopped, since failures are not wanted; go on "
                f"without these deals with: azulsim resume {self.folder}"
            )
