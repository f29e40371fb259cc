"""Tells on stderr what is being played, how far it is and how long it will take."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Protocol

from azulsim import __version__, registry
from azulsim.experiment import Plan
from azulsim.log import Commit, Manifest

SECONDS_BETWEEN_LINES = 30.0
SHARE_BETWEEN_LINES = 0.1


class Watch(Protocol):
    """Follows a run while it is played."""

    def add(self, games: int) -> None:
        """Take note of games just finished."""


def tell_files(specs: Sequence[str], sources: Mapping[str, str], project: Path | None) -> None:
    """Name the files whose code will be executed besides azulsim's own, with the hashes that the manifest keeps."""
    for spec in specs:
        files = [entry.path for entry in registry.find_sources(spec, project=project) if not registry.is_bundled(entry)]
        for path in files:
            print(f"{spec}: {path} sha256 {sources[spec][:16]}", file=sys.stderr)


def count_games(plan: Plan, commit: Commit) -> int:
    """Return the number of games of a shard, those that were left out included."""
    return commit.n_deals * len(plan.cells[commit.cell].seatings)


@contextmanager
def watch_run(plan: Plan, manifest: Manifest, folder: Path, done: Sequence[Commit], is_wanted: bool) -> Iterator[Watch]:
    """Say what is going to be played, and give what follows it."""
    if not is_wanted:
        yield _Silence()
        return
    experiment = plan.experiment
    cells = f"{len(plan.cells):,} cell{'' if len(plan.cells) == 1 else 's'}"
    total = plan.n_games
    deals = f"{'at most ' if experiment.stop else ''}{experiment.deals:,} deals"
    share = ""
    if manifest.share:
        own = manifest.take_share(plan.shards())
        total = sum(shard.n_deals * len(plan.cells[shard.cell].seatings) for shard in own)
        share = f", share {manifest.share} of it: {total:,} games"
    already = sum(count_games(plan, commit) for commit in done)
    kept = f", {already:,} games there already" if already else ""
    print(
        f"{experiment.name}: {cells} x {deals} = {plan.n_games:,} games{share}, "
        f"log {experiment.log}, seed {experiment.seed}, azulsim {__version__} -> {folder}{kept}",
        file=sys.stderr,
    )
    shown: AbstractContextManager[Watch] = (
        _show_bar(total, already) if sys.stderr.isatty() else _print_lines(total, already)
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
        self._is_first = True

    def add(self, games: int) -> None:
        pace = self._pace
        pace.add(games)
        is_due = pace.share >= self._told_share + SHARE_BETWEEN_LINES
        is_late = time.monotonic() >= self._told_time + SECONDS_BETWEEN_LINES
        if is_due or is_late or self._is_first or pace.done >= pace.total:
            self._told_share, self._told_time = pace.share, time.monotonic()
            self._is_first = False
            print(
                f"{pace.share:4.0%}  {pace.done:,} of {pace.total:,} games  {pace.per_second:,.0f} games/s  "
                f"{word_seconds(pace.seconds_left)} left",
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


def word_seconds(seconds: float) -> str:
    """Return a time in the unit that suits it."""
    if seconds == float("inf"):
        return "unknown time"
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
