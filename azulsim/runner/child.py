"""What happens in a child process that plays for the runner, and may be spoiled by a strategy.

It plays shards or single games as it is told to, and shows in shared memory where it is. What a strategy prints goes
to the parent, which says who printed how much.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import queue
import signal
import sys
import threading
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

from azulsim import arena
from azulsim.arena import Pulse, Tables
from azulsim.errors import AzulsimError, RunError
from azulsim.log import Commit
from azulsim.runner.luggage import hash_package
from azulsim.runner.tasks import Task, name_suspects
from azulsim.strategy import Strategy

SECONDS_IDLE = 300.0
"""Time after which a child ends that nobody asks for anything, as its parent may play for a run that was given up."""


@dataclass(frozen=True)
class Job:
    """What a child is asked for: to play and write a shard, or to play one game of it."""

    task: Task
    game: int | None = None
    """Number of the game in the shard's block; all of them if left out, and then the shard is written too."""


Answer = Commit | Tables | AzulsimError


def main(connection_handle: int, memory_handle: int) -> None:
    """Serve the parent at the other end of a connection until it goes away."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is for the parent, which ends its children
    connection = Connection(connection_handle)
    pulse = Pulse(mmap.mmap(memory_handle, Pulse.SIZE))
    jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(connection, jobs), daemon=True).start()
    home = Path.cwd()
    with contextlib.suppress(queue.Empty):
        while True:
            job = jobs.get(timeout=SECONDS_IDLE)
            with contextlib.suppress(OSError):
                os.chdir(home)  # a strategy may have gone elsewhere; others are found by relative paths
            answer = _answer(job, pulse)
            for stream in (sys.stdout, sys.stderr):  # before the answer, so that it is known who wrote it
                with contextlib.suppress(Exception):
                    stream.flush()
            connection.send(answer)


def _receive(connection: Connection, jobs: queue.SimpleQueue[Job]) -> None:
    """Pass jobs on; without a parent, end at once whatever is being played."""
    try:
        while True:
            jobs.put(connection.recv())
    except (EOFError, OSError):
        os._exit(1)


def _answer(job: Job, pulse: Pulse) -> Answer:
    try:
        return _play_shard(job.task, pulse) if job.game is None else _play_game(job.task, job.game, pulse)
    except AzulsimError as error:
        return error
    except KeyboardInterrupt:  # a strategy's own, and so as bad as any other end of the process
        os._exit(130)
    except BaseException as error:  # the parent decides what to do about it
        return RunError(f"{job.task.folder}: shard {job.task.shard.name}: {type(error).__name__}: {error}")


def _play_shard(task: Task, pulse: Pulse) -> Commit:
    start = time.monotonic()
    players = _make_ready(task, pulse)
    tables = arena.play_block(task.block, strategies=players, pulse=pulse, limit=task.timeout)
    doubts = _doubt(task, players, tables, pulse)
    return task.write(tables, seconds=time.monotonic() - start, doubts=doubts)


def _play_game(task: Task, game: int, pulse: Pulse) -> Tables:
    players = _make_ready(task, pulse)
    only = range(game, game + 1)
    return arena.play_block(task.block, strategies=players, games=only, pulse=pulse, limit=task.timeout)


def _make_ready(task: Task, pulse: Pulse) -> list[Strategy]:
    """Make the players and compile all there is to compile, before anybody looks at the clock."""
    if hash_package() != task.source:
        raise RunError(
            f"the source of azulsim was edited while the run was being played; undo that, then: azulsim resume "
            f"{task.folder}"
        )
    players = task.make_players()
    if task.cell.index not in _warm:
        arena.warm_up(task.block, players)
        _warm.add(task.cell.index)
    pulse.beats[0] = 1
    return players


_warm: set[int] = set()
"""Cells for which all is compiled; a child plays for one run only."""


def _doubt(task: Task, players: list[Strategy], tables: Tables, pulse: Pulse) -> list[str]:
    """Play the last game of the shard again, alone; say so if it is another game now."""
    if not len(tables.games):
        return []
    block = task.block
    last = tables.games[-1]
    game = (int(last["deal"]) - block.first_deal) * len(block.seatings) + int(last["seating"])
    again = arena.play_block(block, strategies=players, games=range(game, game + 1), pulse=pulse, limit=task.timeout)
    before = {"games": tables.games, "moves": tables.moves}
    after = {"games": again.games, "moves": again.moves}
    if all(np.array_equal(before[name][before[name]["game"] == last["game"]], after[name]) for name in before):
        return []
    return [
        f"a game of {name_suspects(task)} was another one when it was played again, so that a strategy keeps state or "
        "has luck of its own"
    ]
