"""Plays shards in child processes that are watched, so that a strategy can spoil no more than its own games.

A strategy may end the process it plays in, crash it, or never come back. So every worker thread hands the shards of
such strategies to a child process of its own, and watches it. A child that died is replaced and plays its shard
again, in case the machine was to blame. If that child dies too, or one does not come back, the shard is played game
by game: what dies or hangs then is that one game, which fails, and the next child goes on with the next one.
"""

from __future__ import annotations

import mmap
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import cast

from azulsim import arena
from azulsim.arena import Pulse, Tables, describe_timeout
from azulsim.errors import AzulsimError, RunError
from azulsim.log import Commit
from azulsim.notation.words import make_printable
from azulsim.runner.child import Answer, Job
from azulsim.runner.tasks import Task, find_suspects, name_suspects

ATTEMPTS = 2
"""How often a shard is played as a whole before it is played game by game."""

SECONDS_TO_START = 600.0
"""Time in which a child must have imported and compiled everything."""

SECONDS_BETWEEN_LOOKS = 0.25

BYTES_OF_A_PIPE = 1 << 16
"""What a pipe holds, so that one reading empties it."""

CHARACTERS_SHOWN = 60
"""Of a line that a strategy writes, how much is shown."""

NOTE = b"azulsim: "
"""Begins what azulsim itself has to say in a child."""


@dataclass
class Writing:
    """What is written to standard output and standard error in children: counted, and dropped but for two lines."""

    n_bytes: int = 0
    first: str = ""
    last: str = ""

    def add(self, data: bytes) -> None:
        """Take what was written; notes of azulsim itself are passed on."""
        lines = [line for line in data.splitlines() if line.strip()]
        notes = [line for line in lines if line.startswith(NOTE)]
        for note in notes:
            arena.note_once(_show(note, len(note)))
        rest = [line for line in lines if not line.startswith(NOTE)]
        self.n_bytes += len(data) - sum(len(note) + 1 for note in notes)
        if rest:
            self.first = self.first or _show(rest[0], CHARACTERS_SHOWN)
            self.last = _show(rest[-1], CHARACTERS_SHOWN)

    def join(self, other: Writing) -> None:
        """Take what was written later."""
        self.n_bytes += other.n_bytes
        self.first, self.last = self.first or other.first, other.last or self.last


def _show(line: bytes, most: int) -> str:
    """Return the beginning of a line as text that harms no terminal and no log file."""
    text = make_printable(line.decode("ascii", "backslashreplace").strip())
    return text if len(text) <= most else f"{text[:most]}..."


class ChildError(Exception):
    """A child gave no answer: it died, or was killed since a game took longer than it may.

    Attributes
    ----------
    kind : str
        `"crashed"` or `"timeout"`.
    is_ready : bool
        True if it had made its players.
    game, live : GAME, LIVE
        Where the game was, if it was played alone.
    last_line : str
        The last line that was written, such as why the interpreter could not start.
    """

    def __init__(self, kind: str, message: str, pulse: Pulse, last_line: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.last_line = last_line
        self.is_ready = int(pulse.beats[0]) > 0
        self.game, self.live = pulse.games.copy()[0], pulse.lives.copy()[0]


class Child:
    """A child process, and the memory in which it shows where it is."""

    def __init__(self) -> None:
        with tempfile.TemporaryFile(buffering=0) as file:
            file.write(bytes(Pulse.SIZE))  # written, so that a full disk complains now and not by a signal later
            self._connection, theirs = Pipe()
            output, their_output = Pipe(duplex=False)
            self._output: Connection | None = output
            self.writing = Writing()
            with theirs, their_output:
                handles = (theirs.fileno(), file.fileno())
                self.pulse = Pulse(mmap.mmap(file.fileno(), Pulse.SIZE))
                self._process = subprocess.Popen(
                    [sys.executable, "-c", _START.format(path=sys.path, handles=handles)],
                    stdin=subprocess.DEVNULL,
                    stdout=their_output.fileno(),
                    stderr=their_output.fileno(),
                    pass_fds=handles,
                    env={**os.environ, "AZULSIM_QUIET": "1", "PYTHONHASHSEED": "0"},
                )

    def ask(self, job: Job) -> Answer:
        """Let the child do a job and return its answer.

        Raises
        ------
        ChildError
            If it did not come to one; the process is gone then.
        """
        self.pulse.clear()
        self.writing = Writing()
        try:
            _limit(self._connection, job.task.timeout)
            self._connection.send(job)
            if not self._wait(job):
                raise self._fail("timeout", describe_timeout(job.task.timeout))
            return self._receive(job)
        except (EOFError, OSError):
            raise self._fail("crashed", "") from None
        finally:
            self._take_output()

    def _fail(self, kind: str, message: str) -> ChildError:
        """End the process, and return what is to be raised."""
        self.end()
        self._take_output()
        message = message or _describe_end(self._process.returncode)
        return ChildError(kind, message, self.pulse, self.writing.last)

    def _receive(self, job: Job) -> Answer:
        """Return the answer that has begun to arrive; bytes that a strategy wrote into the connection may be anything.

        Raises
        ------
        EOFError, OSError
            If the process is gone.
        """
        try:
            answer = self._connection.recv()
        except BlockingIOError:  # the rest of it did not come in time
            answer = None
        except (EOFError, OSError):
            raise
        except Exception:
            answer = None
        if not isinstance(answer, (Commit if job.game is None else Tables, AzulsimError)):
            raise self._fail("crashed", "what the process sent back is no answer")
        return answer

    def _listen(self, seconds: float) -> bool:
        """Wait for an answer so long at the most, taking what is written meanwhile; tell whether it begins."""
        ready = wait([self._connection, *([self._output] if self._output else [])], seconds)
        if self._output in ready:
            self._take_output()
        return self._connection in ready

    def _take_output(self) -> None:
        """Take what was written, if anything was; whoever writes more has to wait for the next time."""
        if self._output is not None and self._output.poll():
            data = os.read(self._output.fileno(), BYTES_OF_A_PIPE)
            self.writing.add(data)
            if not data:  # closed, by a strategy or by the end of the process
                self._output = None

    def _wait(self, job: Job) -> bool:
        """Wait until there is an answer; False if a game takes too long.

        Raises
        ------
        EOFError
            If there will be none.
        """
        timeout = job.task.timeout
        since, mark = time.monotonic(), self.pulse.mark
        while not self._listen(min(SECONDS_BETWEEN_LOOKS, timeout / 10)):
            if self._process.poll() is not None and not self._connection.poll():
                raise EOFError
            now, before, mark = time.monotonic(), mark, self.pulse.mark
            is_ready = mark[0] > 0
            # A game played alone is on the clock as a whole; of many, the one that is being waited for.
            if mark != before and (job.game is None or before[0] == 0):
                since = now
            if is_ready and now - since > timeout:
                return False
            if now - since > SECONDS_TO_START:
                raise RunError(f"{job.task.folder}: a worker process was not ready after {SECONDS_TO_START:g} s")
        return True

    @property
    def is_alive(self) -> bool:
        """True if the process has not ended."""
        return self._process.poll() is None

    def end(self) -> None:
        """Kill the process, whatever it is doing."""
        self._process.kill()
        self._process.wait()


def _limit(connection: Connection, seconds: float) -> None:
    """Let nobody wait longer than this for the other end of a connection to take or send the next bytes."""
    whole = int(min(seconds, SECONDS_TO_START))
    limit = struct.pack("@ll", whole, int(1e6 * (min(seconds, SECONDS_TO_START) - whole)))
    with socket.socket(fileno=os.dup(connection.fileno())) as pipe:
        pipe.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, limit)
        pipe.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)


_START = "import sys; sys.path[:] = {path!r}; from azulsim.runner.child import main; main(*{handles!r})"


def _describe_end(code: int) -> str:
    if code >= 0:
        return f"the process ended with exit code {code}"
    name = next((f" ({known.name})" for known in signal.Signals if known == -code), "")  # some have none
    return f"the process was ended by signal {-code}{name}"


class Children:
    """The children of one sitting: each plays for one worker at a time, and waits in between."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._all: set[Child] = set()
        self._idle: list[Child] = []
        self._written: dict[str, Writing] = {}
        self._is_over = False

    def ask(self, job: Job) -> Commit | Tables:
        """Let some child do a job.

        Raises
        ------
        ChildError
            If it did not come to an answer.
        AzulsimError
            If the answer was one.
        """
        with self._lend() as child:
            try:
                answer = child.ask(job)
            finally:
                self._note_writing(job.task, child.writing)
        if isinstance(answer, AzulsimError):
            raise answer
        return answer

    def _note_writing(self, task: Task, writing: Writing) -> None:
        if writing.n_bytes:
            with self._lock:
                self._written.setdefault(name_suspects(task), Writing()).join(writing)

    @contextmanager
    def _lend(self) -> Iterator[Child]:
        with self._lock:
            if self._is_over:
                raise RunError("the run was stopped")
            child = self._find()
            self._all.add(child)
        try:
            yield child
        except BaseException:
            child.end()
            with self._lock:
                self._all.discard(child)
                if self._is_over:
                    raise RunError("the run was stopped") from None
            raise
        with self._lock:
            self._idle.append(child)

    def _find(self) -> Child:
        """Return an idle child; a new one if there is none that has not ended meanwhile."""
        while self._idle:
            child = self._idle.pop()
            if child.is_alive:
                return child
            self._all.discard(child)
        return Child()

    def end(self, *, tells: bool) -> None:
        """End all children, also those that are playing, and start none any more; say what they wrote if it tells."""
        with self._lock:
            self._is_over = True
            for child in self._all:
                child.end()
            for names, writing in self._written.items() if tells else ():
                begins = f"; it begins: {writing.first}" if writing.first else ""
                print(
                    f"azulsim: {names} wrote output while playing, {writing.n_bytes:,} bytes, which was dropped"
                    f"{begins}",
                    file=sys.stderr,
                    flush=True,
                )
            self._written.clear()


_sittings: dict[Path, Children] = {}


def play_watched(task: Task) -> Commit:
    """Play and write a shard in a child process.

    Raises
    ------
    RunError
        If it cannot be written, or a file was edited.
    """
    children = _sittings.setdefault(task.folder, Children())
    for _ in range(ATTEMPTS):
        try:
            return cast(Commit, children.ask(Job(task)))
        except ChildError as error:
            if error.kind == "timeout":
                break
    arena.note_once(
        f"azulsim: {name_suspects(task)} ends or holds up the process it plays in; where that happens games are "
        f"played one by one, which takes longer (up to {task.timeout:g} s a game)"
    )
    return _play_singly(task, children)


def _play_singly(task: Task, children: Children) -> Commit:
    start = time.monotonic()
    n_games = task.shard.n_deals * len(task.cell.seatings)
    tables = arena.join_tables(task.block, [_play_game(task, game, children) for game in range(n_games)])
    return task.write(tables, seconds=time.monotonic() - start)


def _play_game(task: Task, game: int, children: Children) -> Tables:
    """Play one game of a shard; if its process does not survive it, the game fails."""
    for _ in range(ATTEMPTS):
        try:
            return cast(Tables, children.ask(Job(task, game)))
        except ChildError as error:
            if error.is_ready:
                where = error.game, error.live
                return arena.make_failed(task.block, game, *where, error.kind, str(error), find_suspects(task))
            ended = f"{error}{error.last_line and f': {error.last_line}'}"
    raise RunError(f"{task.folder}: a worker process ended before it had played anything: {ended}")


@contextmanager
def children_of(folder: Path, *, tells: bool = True) -> Iterator[None]:
    """End the child processes that play for a run folder when the sitting is over, however it ends.

    `tells` says whether to say on stderr how much was written by them.
    """
    try:
        yield
    finally:
        end_children(folder, tells=tells)


def end_children(folder: Path, *, tells: bool = True) -> None:
    """End the child processes of this process that play for a run folder, if there are any."""
    children = _sittings.pop(folder, None)
    if children is not None:
        children.end(tells=tells)
