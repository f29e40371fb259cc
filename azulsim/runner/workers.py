"""Hands shards to workers, each of which plays and writes its own part of the run folder."""

from __future__ import annotations

from collections.abc import Generator, Sequence

import joblib

from azulsim.log import Commit
from azulsim.runner.tasks import Task, play_here
from azulsim.runner.watching import play_watched


def spread(tasks: Sequence[Task], workers: int) -> Generator[Commit, None, None]:
    """Yield the commits of all tasks, as they are finished.

    Workers are threads: compiled games free the interpreter, and all others are played in child processes.
    """
    workers = min(workers, len(tasks))
    if workers <= 1:
        yield from map(play_shard, tasks)
        return
    parallel = joblib.Parallel(n_jobs=workers, backend="threading", return_as="generator_unordered")
    yield from parallel(joblib.delayed(play_shard)(task) for task in tasks)


def play_shard(task: Task) -> Commit:
    """Play one shard and write it; this is what a worker does."""
    return play_watched(task) if task.is_watched else play_here(task)
