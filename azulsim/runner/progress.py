"""Tells on stderr what is being played, how far it is and how long it will take."""

from __future__ import annotations

import hashlib
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from azulsim import __version__, registry
from azulsim.experiment import Plan
from azulsim.log import Commit, Manifest, Shard
from azulsim.log.read import format_count
from azulsim.runner.evidence import Tally
from azulsim.runner.pilot import Cost

SECONDS_BETWEEN_LINES = 30.0
SHARE_BETWEEN_LINES = 0.1
PARTS_OF_A_BAR = 1000
SECONDS_TO_TRUST = 1.0
"""Time over which games are counted before a rate is made of them."""


class Watch(Protocol):
    """Follows a run while it is played."""

    def add(self, commit: Commit) -> None:
        """Take note of a shard just finished."""


def tell_files(specs: Sequence[str], project: Path | None) -> None:
    """Name the files whose code will be executed besides azulsim's own, with their hashes."""
    for spec in specs:
        files = [entry.path for entry in registry.find_sources(spec, project=project) if not registry.is_bundled(entry)]
        for path in files:
            print(f"{spec}: {path} sha256 {hashlib.sha256(path.read_bytes()).hexdigest()[:16]}", file=sys.stderr)


@contextmanager
def watch_run(
    plan: Plan,
    manifest: Manifest,
    folder: Path,
    done: Sequence[Commit],
    workers: int,
    foresee: Callable[[], Cost | None],
    is_wanted: bool,
) -> Iterator[Watch]:
    """Say what is going to be played, where it goes and what it takes, give what follows it, and sum up at the end.

    Parameters
    ----------
    foresee
        Finds out what the whole run takes, or None if that cannot be told.
    is_wanted
        False to say nothing.
    """
    if not is_wanted:
        yield _Silence()
        return
    experiment = plan.experiment
    pace = Pace(plan, manifest.take_share(plan.shards()), done, workers)
    deals = f"{'at most ' if experiment.stop else ''}{format_count(experiment.deals, 'deal')}"
    share = f", share {manifest.share} of it: {pace.total:,} games" if manifest.share else ""
    kept = f", {pace.done:,} games there already" if pace.done else ""
    _tell(
        f"{experiment.name}: {format_count(len(plan.cells), 'cell')} x {deals} = {plan.n_games:,} games{share}, "
        f"log {experiment.log}, seed {experiment.seed}, azulsim {__version__} -> {folder}{kept}"
    )
    told = _word_cost(foresee(), pace.moves_left / plan.n_moves, experiment.stop is not None, bool(done))
    _tell(f"{format_count(pace.shards_left, 'shard')} to play, {format_count(pace.workers, 'worker')}; {told}")
    pace.start()
    tally = Tally(manifest, experiment.stop)
    tally.add(done)
    with _show_bar(pace, tally) if sys.stderr.isatty() else _print_lines(pace, tally) as watch:
        yield watch
    _tell("; ".join([f"played {pace.summary}", *tally.describe()]))


def _word_cost(cost: Cost | None, share: float, may_stop: bool, has_shards: bool) -> str:
    if cost is None:
        return "the first of them will tell how long it takes"
    size = "" if cost.bytes is None else f" and {word_bytes(cost.bytes * share)}"
    most = " at most" if may_stop else ""
    by = "by the shards that are there" if has_shards else "by a few games"
    return f"about {word_seconds(cost.seconds * share)} of play{size}{most}, {by}"


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


class _Silence:
    def add(self, commit: Commit) -> None:
        pass


@contextmanager
def _show_bar(pace: Pace, tally: Tally) -> Iterator[Watch]:
    from rich import progress
    from rich.console import Console

    columns = (progress.BarColumn(), progress.TaskProgressColumn(), progress.TextColumn("{task.fields[told]}"))
    with progress.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield _Bar(bar, bar.add_task("", total=PARTS_OF_A_BAR, told=""), pace, tally)


class _Bar:
    def __init__(self, bar: Any, task: Any, pace: Pace, tally: Tally) -> None:
        self._bar, self._task, self._pace, self._tally = bar, task, pace, tally
        self._due = _Due(pace)

    def add(self, commit: Commit) -> None:
        self._pace.add(commit)
        self._tally.add([commit])
        if self._due.is_now():
            told = "  ".join([self._pace.rate, self._pace.time_left, *self._tally.describe()])
            self._bar.update(self._task, told=told)
        self._bar.update(self._task, completed=self._pace.share * PARTS_OF_A_BAR)


@contextmanager
def _print_lines(pace: Pace, tally: Tally) -> Iterator[Watch]:
    lines = _Lines(pace, tally)
    late = threading.Timer(SECONDS_BETWEEN_LINES, lines.tell_slowness)
    late.daemon = True
    late.start()
    try:
        yield lines
    finally:
        late.cancel()


class _Lines:
    def __init__(self, pace: Pace, tally: Tally) -> None:
        self._pace, self._tally = pace, tally
        self._due = _Due(pace)

    def add(self, commit: Commit) -> None:
        pace = self._pace
        pace.add(commit)
        self._tally.add([commit])
        if self._due.is_now() and pace.done < pace.total:
            parts = [f"{pace.share:4.0%}", f"{pace.done:,} of {pace.total:,} games", pace.rate]
            _tell("  ".join([*parts, pace.time_left, *self._tally.describe()]))

    def tell_slowness(self) -> None:
        """Say that shards take long, if none has come yet, and what follows from that."""
        pace = self._pace
        if not pace.shards:
            least = SECONDS_BETWEEN_LINES * max(pace.shards_left / max(pace.workers, 1), 1)
            _tell(
                f"no shard is finished after {word_seconds(SECONDS_BETWEEN_LINES)}, so that all of it will take more "
                f"than {word_seconds(least)}"
            )


class _Due:
    """Says when there is something to tell: after so much of the run, or so much time, and once there is a rate."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._share = pace.share - SHARE_BETWEEN_LINES  # the first rate is told as soon as there is one
        self._time = time.monotonic()

    def is_now(self) -> bool:
        now = time.monotonic()
        is_far = self._pace.has_rate and self._pace.share >= self._share + SHARE_BETWEEN_LINES
        if not is_far and now < self._time + SECONDS_BETWEEN_LINES:
            return False
        self._share, self._time = self._pace.share, now
        return True


class Pace:
    """How far and how fast: games of earlier sittings count as done, but not as played fast.

    What is left is weighed by the moves that games are taken to last, as cells of more players are played last. The
    first shard of each worker holds what it takes to start and to compile, and is left out of the rate as soon as
    there are as many others.
    """

    def __init__(self, plan: Plan, shards: Iterator[Shard], done: Sequence[Commit], workers: int) -> None:
        self._games = {cell.index: len(cell.seatings) for cell in plan.cells}
        self._moves = plan.moves_per_deal()
        self.workers = max(workers, 1)
        self.total, self.done, self.shards, self.shards_left = 0, 0, 0, 0
        self._all_moves, self._done_moves = 0, 0
        for shard in shards:
            self.total += shard.n_deals * self._games[shard.cell]
            self._all_moves += shard.n_deals * self._moves[shard.cell]
            self.shards_left += 1
        for commit in done:
            self._count(commit)
        self.start()

    def start(self) -> None:
        """Begin to measure."""
        self._start = self._warm = (time.monotonic(), self.done, self._done_moves)
        self.shards = 0

    def _count(self, commit: Commit) -> None:
        self.done += commit.n_deals * self._games[commit.cell]
        self._done_moves += commit.n_deals * self._moves[commit.cell]
        self.shards += 1
        self.shards_left -= 1

    def add(self, commit: Commit) -> None:
        """Take note of a shard just finished."""
        self._count(commit)
        if self.shards == self.workers:
            self._warm = (time.monotonic(), self.done, self._done_moves)

    @property
    def moves_left(self) -> int:
        """Return how many moves the games still to be played are taken to last."""
        return self._all_moves - self._done_moves

    @property
    def share(self) -> float:
        """Return the share of the run that is done, 0 to 1, by moves."""
        return self._done_moves / self._all_moves if self._all_moves else 1.0

    @property
    def has_rate(self) -> bool:
        """True if there are enough shards and time to make a rate of, without the first shards."""
        return self.shards >= 2 * self.workers and time.monotonic() - self._warm[0] >= SECONDS_TO_TRUST

    def _rates(self) -> tuple[float, float]:
        """Return games and moves a second, over this sitting."""
        since, games, moves = self._warm if self.has_rate else self._start
        seconds = max(time.monotonic() - since, 1e-9)
        return (self.done - games) / seconds, (self._done_moves - moves) / seconds

    @property
    def rate(self) -> str:
        """Return the games a second, in words."""
        return f"{_round(self._rates()[0])} games/s"

    @property
    def time_left(self) -> str:
        """Return the time that the rest will take at this pace, in words, and what the first such figure rests on."""
        left, moves = self.moves_left, self._rates()[1]
        told = f"{word_seconds(left / moves if moves else float('inf'))} left"
        return told if self.has_rate else f"{told} or less, by {format_count(self.shards, 'shard')}"

    @property
    def summary(self) -> str:
        """Return what was played in this sitting, in words."""
        seconds = time.monotonic() - self._start[0]
        games = self.done - self._start[1]
        rate = f", {_round(games / seconds)} games/s" if seconds >= SECONDS_TO_TRUST else ""
        return f"{format_count(games, 'game')} in {word_seconds(seconds)}{rate}"


def _round(rate: float) -> str:
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.2g}"


def word_seconds(seconds: float) -> str:
    """Return a time in the unit that suits it."""
    if seconds == float("inf"):
        return "unknown time"
    if seconds < 90:
        return f"{seconds:.0f} s" if seconds >= 1 or seconds == 0 else "1 s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def word_bytes(size: float) -> str:
    """Return a size in the unit that suits it."""
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:,.3g} GB"
