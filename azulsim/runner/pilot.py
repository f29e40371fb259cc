"""A few games that are played to be thrown away, and the time and bytes that follow from them."""

from __future__ import annotations

import random
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from azulsim.errors import AzulsimError
from azulsim.experiment import Plan
from azulsim.log import Cell, Commit, Shard
from azulsim.runner.folder import open_folder
from azulsim.runner.tasks import Task, list_tasks
from azulsim.runner.watching import children_of
from azulsim.runner.workers import play_shard

BATCH_GROWTH = 3

TRIAL_CELLS, TRIAL_DEALS, TRIAL_SECONDS, TRIAL_TIMEOUT = 6, 10_000, 1.0, 10.0
"""Size of the pilot that tells how long a run will take: small, since people wait for it."""
TRIAL_SHARE = 0.1
"""Most of a run's deals that it plays."""
TRIAL_WARM_UP = 5.0
"""Seconds that its first batch may take without counting, as it compiles and starts processes."""
LEAST_MOVES_TRIED = 10_000
"""A run that is taken to have fewer moves begins at once: its first shards tell as much."""


@dataclass(frozen=True)
class Cost:
    """What an experiment takes here, at a number of deals a cell."""

    deals: int
    games: int
    seconds: float
    """With all workers, if they do not get into each other's way."""
    bytes: float | None
    """None if too little was played to tell: a file has a head, which is most of a small one."""


def draw_cells(plan: Plan, most: int) -> list[Cell]:
    """Return the cells that a pilot tries: all, or some drawn by the experiment's seed."""
    return random.Random(plan.experiment.seed).sample(plan.cells, min(most, len(plan.cells)))


def play_pilot(
    plan: Plan,
    drawn: Sequence[Cell],
    folder: Path,
    *,
    deals: int,
    first: int,
    seconds: float,
    timeout: float,
    project: Path | None,
    warm_up: float = 0.0,
) -> Iterator[Commit]:
    """Play batches of deals of some cells, each batch some times as large as the one before.

    Parameters
    ----------
    drawn
        The cells; a commit's cell is a place in this list.
    folder
        Where the games are written.
    deals
        Most deals of a cell.
    first
        Deals of the first batch.
    seconds
        Time after which nothing more is begun, and by half of which no other cell is; one cell is tried at least.
    timeout
        Seconds that a watched game may take.
    warm_up
        If the very first batch takes no longer than so many seconds, it does not count.
    """
    experiment = plan.experiment.model_copy(update={"deals": deals, "stop": None})
    cells = (cell.model_copy(update={"index": number, "deals": deals}) for number, cell in enumerate(drawn))
    small = Plan(experiment, tuple(cells), plan.specs)
    manifest = open_folder(folder, small, project)
    tasks = {task.cell.index: task for task in list_tasks(small, manifest, folder, set(), project, timeout)}
    start = time.monotonic()
    tried: list[int] = []
    batches = _cut_batches(deals, first)
    with children_of(folder.absolute(), tells=False):
        for cell, task in tasks.items():
            if tried and time.monotonic() - start > seconds / 2:
                break
            tried.append(cell)
            for batch in batches[:2]:
                yield _play(replace(task, shard=Shard(cell, batch.start, len(batch))))
                if len(tried) == 1 and batch is batches[0] and time.monotonic() - start <= warm_up:
                    start = time.monotonic()
                if time.monotonic() - start > seconds:
                    return
        for batch in batches[2:]:
            for cell in tried:
                if time.monotonic() - start > seconds:
                    return
                yield _play(replace(tasks[cell], shard=Shard(cell, batch.start, len(batch))))


def _play(task: Task) -> Commit:
    """Play a shard; the time that its commit tells is that until it is safe on the disk."""
    start = time.monotonic()
    return play_shard(task).model_copy(update={"seconds": time.monotonic() - start})


def _cut_batches(deals: int, first: int) -> list[range]:
    """Cut the deals of a pilot into batches: 2, 4, 12, 36, and so on, if the first is to have 2."""
    ends = [0, min(first, deals)]
    while ends[-1] < deals:
        ends.append(min(ends[-1] * BATCH_GROWTH, deals))
    return [range(*ends_of) for ends_of in pairwise(ends)]


class Costs:
    """Time and bytes of an experiment, by shards of it that were played.

    Attributes
    ----------
    is_warm, is_cold : bool
        True if every cell, or none, has more than the shard in which it compiled and started processes. Times are
        those of cells that have, if any has.
    """

    def __init__(self, plan: Plan, drawn: Sequence[Cell], commits: Sequence[Commit], workers: int) -> None:
        self.plan, self.workers = plan, workers
        played: dict[int, list[Commit]] = defaultdict(list)
        for commit in commits:
            played[commit.cell].append(commit)
        self.is_warm = all(len(batches) > 1 for batches in played.values())
        self.is_cold = all(len(batches) < 2 for batches in played.values())
        seconds, sizes = defaultdict(list), defaultdict(list)
        for number, batches in played.items():
            cell = drawn[number]
            later = batches[1:] or batches  # the first one compiles and starts processes
            if self.is_cold or len(batches) > 1:
                seconds[cell.players].append(_fit(cell, later, [batch.seconds for batch in later]))
            bytes_ = [sum(part.bytes for part in batch.tables.values()) for batch in batches]
            sizes[cell.players].append(_fit(cell, batches, bytes_))
        self._seconds, self._bytes = _Rates(seconds), _Rates(sizes)

    def at(self, deals: int) -> Cost:
        """Return what so many deals a cell take."""
        cells = tuple(cell.model_copy(update={"deals": deals}) for cell in self.plan.cells)
        plan = Plan(self.plan.experiment.model_copy(update={"deals": deals}), cells, self.plan.specs)
        games = dict.fromkeys((cell.players for cell in cells), 0)
        for cell in cells:
            games[cell.players] += deals * len(cell.seatings)
        return Cost(
            deals=deals,
            games=plan.n_games,
            seconds=self._seconds.add_up(games, plan.n_shards) / self.workers,
            bytes=None if self.is_cold else self._bytes.add_up(games, plan.n_shards),
        )


class _Rates:
    """What a game costs, by player count, and what a shard costs besides."""

    def __init__(self, found: Mapping[int, Sequence[tuple[float, float]]]) -> None:
        self._per_game = {players: float(np.mean([rate for rate, _ in fits])) for players, fits in found.items()}
        self._per_shard = float(np.mean([head for fits in found.values() for _, head in fits]))

    def add_up(self, games: Mapping[int, int], shards: int) -> float:
        """Return what all games cost; those of a player count that was not tried are taken to cost the mean rate."""
        mean = float(np.mean(list(self._per_game.values())))
        return sum(count * self._per_game.get(players, mean) for players, count in games.items()) + (
            shards * self._per_shard
        )


def _fit(cell: Cell, batches: Sequence[Commit], costs: Sequence[float]) -> tuple[float, float]:
    """Return what a game of a cell costs, and what a shard without any would, by a line through its batches."""
    games = [batch.n_deals * len(cell.seatings) for batch in batches]
    if len(set(games)) > 1:
        rate, head = np.polyfit(games, costs, 1)
        if rate > 0 and head > 0:
            return float(rate), float(head)
    return sum(costs) / sum(games), 0.0


def foresee(plan: Plan, done: Sequence[Commit], workers: int, timeout: float, project: Path | None) -> Cost | None:
    """Return what a whole run takes: by its shards that are there, else by a short pilot; None if nothing tells.

    Nothing tells if the run is small, or a strategy fails or hangs in the pilot: playing will show that, and where.
    """
    if done:
        return Costs(plan, plan.cells, done, workers).at(plan.experiment.deals)
    if plan.n_moves < LEAST_MOVES_TRIED:
        return None
    drawn = draw_cells(plan, TRIAL_CELLS)
    with tempfile.TemporaryDirectory(prefix="azulsim-pilot-") as folder:
        pilot = play_pilot(
            plan,
            drawn,
            Path(folder) / "pilot",
            deals=min(TRIAL_DEALS, max(int(TRIAL_SHARE * plan.experiment.deals), 3)),
            first=1,
            seconds=TRIAL_SECONDS,
            timeout=min(timeout, TRIAL_TIMEOUT),
            project=project,
            warm_up=TRIAL_WARM_UP,
        )
        try:
            commits = list(pilot)
        except AzulsimError:
            return None
    if any(commit.n_failures for commit in commits):
        return None
    costs = Costs(plan, drawn, commits, workers)
    if costs.is_cold and commits[0].seconds <= TRIAL_WARM_UP:
        return None
    return costs.at(plan.experiment.deals)
