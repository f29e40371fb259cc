"""Tells on stderr what is being played, how far it is and how long it will take."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Protocol

from azulsim import __version__
from azulsim.experiment import Plan

SECONDS_BETWEEN_LINES = 30.0
SHARE_BETWEEN_LINES = 0.1


class Watch(Protocol):
    """Follows a run while it is played."""

    def add(self, games: int) -> None:
        """Take note of games just finished."""


@contextmanager
def watch_run(plan: Plan, folder: Path, already: int, is_wanted: bool) -> Iterator[Watch]:
    if not is_wanted:
        yield _Silence()
        return
    experiment = plan.experiment
    cells = f"{len(plan.cells):,} cell{'' if len(plan.cells) == 1 else 's'}"
    kept = f", {already:,} games there already" if already else ""
    print(
        f"{experiment.name}: {cells} x {experiment.deals:,} deals = {plan.n_games:,} games, "
        f"log {experiment.log}, seed {experiment.seed}, azulsim {__version__} -> {folder}{kept}",
        file=sys.stderr,
    )
    shown: AbstractContextManager[Watch] = (
        _show_bar(plan.n_games, already) if sys.stderr.isatty() else _print_lines(plan.n_games, already)
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

    def add(self, games: int) -> None:
        pace = self._pace
        pace.add(games)
        is_due = pace.share >= self._told_share + SHARE_BETWEEN_LINES
        is_late = time.monotonic() >= self._told_time + SECONDS_BETWEEN_LINES
        if is_due or is_late or pace.done >= pace.total:
            self._told_share, self._told_time = pace.share, time.monotonic()
            print(
                f"{pace.share:4.0%}  {pace.done:,} of {pace.total:,} games  {pace.per_second:,.0f} games/s  "
                f"{_word_seconds(pace.seconds_left)} left",
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


def _word_seconds(seconds: float) -> str:
    if seconds == float("inf"):
        return "unknown time"
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
