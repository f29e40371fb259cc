"""Hands shards to workers, each of which plays and writes its own part of the run folder."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Protocol

import joblib

from azulsim.log import Commit
from azulsim.runner.tasks import Task, play_here
from azulsim.runner.watching import play_watched


class Workers(Protocol):
    """Whoever plays the shards of a run."""

    @property
    def count(self) -> int:
        """Return the number of shards that are played at a time."""

    def spread(self, tasks: Sequence[Task]) -> Generator[Commit, None, None]:
        """Yield the commits of all tasks, as they are finished."""


class Threads:
    """Workers in this process: compiled games free the interpreter, and all others are played in child processes."""

    def __init__(self, count: int) -> None:
        self.count = count

    def spread(self, tasks: Sequence[Task]) -> Generator[Commit, None, None]:
        """Yield the commits of all tasks, as they are finished."""
        count = min(self.count, len(tasks))
        if count <= 1:
            yield from map(play_shard, tasks)
            return
        parallel = joblib.Parallel(n_jobs=count, backend="threading", return_as="generator_unordered")
        yield from parallel(joblib.delayed(play_shard)(task) for task in tasks)


def play_shard(task: Task) -> Commit:
    """Play one shard and write it; this is what a worker does."""
    return play_watched(task) if task.is_watched else play_here(task)
