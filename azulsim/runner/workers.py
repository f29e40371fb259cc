"""Hands shards to workers, each of which plays and writes its own part of the run folder."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Protocol

import joblib

from azulsim.log import Commit, mark_shard
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
        count = max(1, min(self.count, len(tasks)))
        played: Iterable[tuple[Task, Commit]] = map(_play, tasks)
        if count > 1:
            parallel = joblib.Parallel(n_jobs=count, backend="threading", return_as="generator_unordered")
            played = parallel(joblib.delayed(_play)(task) for task in tasks)
        # Commit markers wait for the disk while the next shards are played.
        with ThreadPoolExecutor(count) as marking:
            marked: deque[Future[Commit]] = deque()
            for task, commit in played:
                marked.append(marking.submit(_mark, task, commit))
                while marked and (marked[0].done() or len(marked) > count):
                    yield marked.popleft().result()
            while marked:
                yield marked.popleft().result()


def play_shard(task: Task) -> Commit:
    """Play one shard and write it; this is what a worker does."""
    return _mark(*_play(task))


def _play(task: Task) -> tuple[Task, Commit]:
    return task, play_watched(task) if task.is_watched else play_here(task)


def _mark(task: Task, commit: Commit) -> Commit:
    """Write the commit marker of a shard that was played here; a child has written its own."""
    if not task.is_watched:
        mark_shard(task.folder, commit)
    return commit
