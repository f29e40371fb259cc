"""Hands shards to workers, each of which plays and writes its own part of the run folder."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from threading import Semaphore
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
        """Yield the commits of all tasks, as they are finished.

        Raises
        ------
        RunError
            If a shard cannot be played or written; nothing is begun after that.
        """
        count = max(1, min(self.count, len(tasks)))
        waiting: deque[Future[Commit]] = deque()
        # Ended in this order: nothing more is played, then what was played is marked.
        with ThreadPoolExecutor(count) as marking, closing(_play_all(tasks, count, marking)) as played:
            for found in played:
                if isinstance(found, Commit):
                    yield found
                else:
                    waiting.append(found)
                while waiting and (waiting[0].done() or len(waiting) > count):
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()


def _play_all(
    tasks: Sequence[Task], count: int, marking: ThreadPoolExecutor
) -> Generator[Commit | Future[Commit], None, None]:
    """Yield the commit of each shard that a child has played and marked, and the coming one of each played here.

    Commit markers wait for the disk while the next shards are played, but no more of them than there are workers, so
    that a slow disk is not run away from.
    """
    room = Semaphore(count)

    def play(task: Task) -> Commit | Future[Commit]:
        if task.is_watched:
            return play_watched(task)
        commit = play_here(task)
        room.acquire()
        return marking.submit(mark, task, commit)

    def mark(task: Task, commit: Commit) -> Commit:
        try:
            mark_shard(task.folder, commit)
        finally:
            room.release()
        return commit

    if count == 1:
        yield from map(play, tasks)
        return
    parallel = joblib.Parallel(n_jobs=count, backend="threading", return_as="generator_unordered")
    played = parallel(joblib.delayed(play)(task) for task in tasks)
    try:
        for found in played:  # noqa: UP028 - it would be closed with a warning
            yield found
    finally:
        with warnings.catch_warnings():  # of shards that nobody waits for any more: they are played again
            warnings.simplefilter("ignore", UserWarning)
            played.close()


def play_shard(task: Task) -> Commit:
    """Play one shard and write it; this is what a worker of a cluster does."""
    if task.is_watched:
        return play_watched(task)
    commit = play_here(task)
    mark_shard(task.folder, commit)
    return commit
