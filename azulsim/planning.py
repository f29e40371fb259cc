"""How large an experiment must be: a small pilot is played, and deals, time and bytes follow from what it shows."""

from __future__ import annotations

import math
import random
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special

from azulsim.errors import InputError, RunError
from azulsim.experiment import Experiment, Plan, Precision, Test
from azulsim.jobs import count_workers
from azulsim.log import BOUNDS, Cell, Commit, OutcomeName, Shard, read_outcome, read_run
from azulsim.runner.folder import open_folder
from azulsim.runner.progress import word_seconds
from azulsim.runner.sitting import TIMEOUT
from azulsim.runner.tasks import list_tasks
from azulsim.runner.watching import children_of
from azulsim.runner.workers import play_shard
from azulsim.schema import MAX_DEALS
from azulsim.stats import Estimate, estimate_mean, plan_clusters

PILOT_DEALS = 200
"""Most deals that the pilot plays in a cell."""
PILOT_SECONDS = 30.0
"""Time after which the pilot begins nothing more, and by half of which it begins no other cell."""
PILOT_CELLS = 100
"""Most cells that the pilot tries; of more, some drawn by lot."""
FIRST_BATCH, BATCH_GROWTH = 2, 3
SHOWN = 20
"""Most cells that are printed: those that vary most."""
MOST_DEALS = 1e15
"""Deals beyond which nothing is counted; a run holds far fewer."""
FEW = 30
"""With fewer deals than this the pilot calls its own figures rough."""


@dataclass(frozen=True)
class Range:
    """A figure that follows from a standard deviation, with the 95 % interval that the pilot leaves to it."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Cost:
    """What an experiment takes here, at a number of deals a cell."""

    deals: int
    games: int
    seconds: float
    """With all workers, if they do not get into each other's way."""
    bytes: float

    def __str__(self) -> str:
        return (
            f"{self.deals:,} deals a cell, {self.games:,} games: about {word_seconds(self.seconds)} and "
            f"{_word_bytes(self.bytes)}"
        )


@dataclass(frozen=True)
class CellForecast:
    """What the pilot shows of one cell."""

    cell: int
    players: int
    lineup: tuple[str, ...]
    mean: Estimate
    """The outcome in the pilot."""
    sd: Range
    """Standard deviation between deals."""
    half_width: Range | None
    """Half width of the 95 % interval at the experiment's own deals."""
    mde: Range | None
    """Smallest difference from a fixed value that a test at 5 % finds with the wanted power at these deals.

    Both are None if nothing varied in the pilot."""
    deals: Range | None
    """Deals that reach the goal; none if there is no goal, or nothing varied in the pilot."""


@dataclass(frozen=True)
class Forecast:
    """How large an experiment must be, by a pilot; printing it prints a short table."""

    name: str
    outcome: OutcomeName
    precision: float | None
    effect: float | None
    power: float
    cells: tuple[CellForecast, ...]
    """The cells that were tried."""
    n_cells: int
    """Cells of the experiment."""
    workers: int
    pilot_games: int
    pilot_seconds: float
    stands: Cost
    """The experiment as it stands; the most it takes, if it stops by evidence."""
    wanted: Cost | None
    """What reaches the goal in every cell that was tried; none without a goal, or if a run cannot hold so many."""
    notes: tuple[str, ...]

    @property
    def goal(self) -> str:
        """What is to be reached, in words; empty if nothing was asked for."""
        if self.precision is not None:
            return f"half width {self.precision:g}"
        return f"effect {self.effect:g} with power {self.power:g}" if self.effect is not None else ""

    @property
    def deals(self) -> Range | None:
        """Deals that reach the goal in every cell that was tried."""
        found = [cell.deals for cell in self.cells if cell.deals is not None]
        return Range(*(max(getattr(one, end) for one in found) for end in ("value", "low", "high"))) if found else None

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data for JSON."""
        data = asdict(self)
        for cell in data["cells"]:
            cell["mean"] = {key: cell["mean"][key] for key in ("value", "low", "high", "n_clusters")}
        return {**data, "goal": self.goal, "deals": asdict(self.deals) if self.deals else None}

    def __str__(self) -> str:
        tried = f"{len(self.cells):,} of {self.n_cells:,} cells" if len(self.cells) < self.n_cells else "every cell"
        head = ["cell", "players", "followed", "mean", "pilot deals", "sd over deals", f"+/- at {self.stands.deals:,}"]
        rows = [[*head, *([f"deals for {self.goal}"] if self.goal else [])]]
        shown = sorted(self.cells, key=lambda cell: -cell.sd.value)[:SHOWN]
        hidden = len(self.cells) - len(shown)
        for cell in sorted(shown, key=lambda cell: cell.cell):
            facts = [str(cell.cell), str(cell.players), cell.lineup[0], str(cell.mean), f"{cell.mean.n_clusters:,}"]
            facts += [_word_range(cell.sd), _word_range(cell.half_width)]
            rows.append([*facts, *([_word_deals(cell.deals)] if self.goal else [])])
        mde = max((cell.mde for cell in self.cells if cell.mde), key=lambda found: found.value, default=None)
        seen = (
            f"; finds a difference of {_word_range(mde)} from a fixed value with power {self.power:g} in the cell that "
            "varies most"
            if mde
            else ""
        )
        parts = [
            f"{self.name}: {tried} tried: {self.pilot_games:,} games in {word_seconds(self.pilot_seconds)}",
            f"{self.outcome} of the first strategy of each line-up (of seat 0 in self-play), averaged over a deal",
            "",
            *_align(rows),
            *([f"and {hidden:,} cells that vary less"] if hidden else []),
            "",
            f"as it stands: {self.stands}{seen}",
        ]
        if self.wanted is not None and self.deals is not None:
            parts.append(
                f"for {self.goal} in every cell tried: {self.wanted}; the pilot leaves room for "
                f"{self.deals.low:,.0f} to {self.deals.high:,.0f} deals"
            )
        return "\n".join([*parts, *(f"note: {note}" for note in self.notes)])


def forecast(
    experiment: Experiment,
    *,
    outcome: OutcomeName | None = None,
    precision: float | None = None,
    effect: float | None = None,
    power: float = 0.8,
    pilot: int = PILOT_DEALS,
    seconds: float = PILOT_SECONDS,
    jobs: int | None = None,
    progress: bool = False,
    project: Path | None = None,
    where: str = "",
) -> Forecast:
    """Play a pilot in a temporary folder and say how many deals, how much time and how many bytes are needed.

    Parameters
    ----------
    experiment
        The experiment that is planned.
    outcome
        What is to be known of the first strategy of each line-up (of seat 0 in self-play): `win_share`, `margin` or
        `score`; if left out, what the experiment stops by, or the win share.
    precision, effect
        The goal, at most one of them: the half width of the 95 % interval, or a difference from a fixed value to be
        found at 5 % with probability `power`. If left out, the experiment's own rule for stopping.
    power
        Wanted power.
    pilot, seconds
        Most deals that a cell plays, and the time after which the pilot begins nothing more; it tries one cell at
        least.
    jobs
        Workers by which the time is divided; as many as there are cores if left out. The pilot itself has one.
    progress
        Tell on stderr when the pilot begins.
    project, where
        As for `Experiment.plan`.

    Raises
    ------
    InputError
        For an experiment that cannot be played, two goals, or numbers out of bounds.
    RunError
        If no deal of a cell could be finished.
    """
    if precision is not None and effect is not None:
        raise InputError("precision, effect: give one of them, not both")
    for name, value in {"precision": precision, "effect": effect}.items():
        if value is not None and not 0 < value < math.inf:
            raise InputError(f"{name} = {value!r}: must be a number above 0")
    if not 0 < power < 1:
        raise InputError(f"power = {power!r}: must be a number between 0 and 1")
    if type(pilot) is not int or pilot < FIRST_BATCH:
        raise InputError(f"pilot = {pilot!r}: must be a whole number of deals, at least {FIRST_BATCH}")
    if outcome not in (None, *BOUNDS):
        raise InputError(f"outcome = {outcome!r}: must be {', '.join(BOUNDS)}")
    workers = count_workers(jobs)
    outcome, precision, effect = _choose_goal(experiment, outcome, precision, effect)
    plan = experiment.plan(project=project, where=where)
    drawn = random.Random(experiment.seed).sample(plan.cells, min(PILOT_CELLS, len(plan.cells)))
    if precision is not None or effect is not None:
        plan_clusters(sd=1.0, half_width=precision, effect=effect, power=power)  # complains before anything is played
    if progress:
        print(f"{experiment.name}: playing a pilot", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory(prefix="azulsim-pilot-") as folder:
        start = time.monotonic()
        small = _shrink(plan, drawn, min(pilot, experiment.deals))
        commits = list(_play_pilot(small, Path(folder) / "pilot", seconds, project))
        spent = time.monotonic() - start
        run = read_run(Path(folder) / "pilot")
        values = read_outcome(run, outcome, deals=pilot)
        failures = run.describe_failures()
    tried = {drawn[number].index: values[number] for number in sorted({commit.cell for commit in commits})}
    for index, found_there in tried.items():
        if len(found_there) < 2:
            raise RunError(f"{where or experiment.name}: the pilot has no two deals of cell {index}; {failures}")
    goal = {"half_width": precision, "effect": effect, "power": power}
    cells = tuple(
        _forecast_cell(cell, tried[cell.index], outcome, experiment.deals, goal)
        for cell in plan.cells
        if cell.index in tried
    )
    costs = _Costs(plan, drawn, commits, workers)
    found = Forecast(
        name=experiment.name,
        outcome=outcome,
        precision=precision,
        effect=effect,
        power=power,
        cells=cells,
        n_cells=len(plan.cells),
        workers=costs.workers,
        pilot_games=run.n_games,
        pilot_seconds=spent,
        stands=costs.at(experiment.deals),
        wanted=None,
        notes=tuple(_note(experiment, cells, costs, failures)),
    )
    if found.deals is None or found.deals.value >= MAX_DEALS:
        return found
    return replace(found, wanted=costs.at(int(found.deals.value)))


def _choose_goal(
    experiment: Experiment, outcome: OutcomeName | None, precision: float | None, effect: float | None
) -> tuple[OutcomeName, float | None, float | None]:
    if experiment.stop is None or precision is not None or effect is not None:
        return outcome or "win_share", precision, effect
    rule = experiment.stop.rule
    if outcome not in (None, rule.outcome):
        return outcome or "win_share", None, None
    return rule.outcome, *((rule.half_width, None) if isinstance(rule, Precision) else (None, rule.effect))


def _shrink(plan: Plan, chosen: Sequence[Cell], deals: int) -> Plan:
    """Return a plan of some cells and few deals."""
    experiment = plan.experiment.model_copy(update={"deals": deals, "stop": None})
    cells = (cell.model_copy(update={"index": number, "deals": deals}) for number, cell in enumerate(chosen))
    return Plan(experiment, tuple(cells), plan.specs)


def _play_pilot(plan: Plan, folder: Path, seconds: float, project: Path | None) -> Iterator[Commit]:
    """Play batches of deals, each some times as large as the one before, until all are played or the time is over."""
    manifest = open_folder(folder, plan, project)
    tasks = {task.cell.index: task for task in list_tasks(plan, manifest, folder, set(), project, TIMEOUT)}
    start = time.monotonic()
    tried: list[int] = []
    first, *later = _cut_batches(plan.experiment.deals)
    with children_of(folder.absolute()):
        for cell, task in tasks.items():
            if tried and time.monotonic() - start > seconds / 2:
                break
            tried.append(cell)
            yield play_shard(replace(task, shard=Shard(cell, first.start, len(first))))
        for batch in later:
            for cell in tried:
                if time.monotonic() - start > seconds:
                    return
                yield play_shard(replace(tasks[cell], shard=Shard(cell, batch.start, len(batch))))


def _cut_batches(deals: int) -> list[range]:
    """Cut the deals of a pilot into batches: 2, 4, 12, 36, and so on."""
    ends = [0, FIRST_BATCH]
    while ends[-1] < deals:
        ends.append(min(ends[-1] * BATCH_GROWTH, deals))
    return [range(*ends_of) for ends_of in pairwise(ends)]


def _forecast_cell(
    cell: Cell, values: npt.NDArray[np.float64], outcome: OutcomeName, deals: int, goal: dict[str, Any]
) -> CellForecast:
    sd, root = _estimate_sd(values), math.sqrt(deals)
    z = float(special.ndtri(0.975))
    wanted = None
    if sd.low > 0 and (goal["half_width"] is not None or goal["effect"] is not None):
        wanted = Range(*(_count_deals(one, goal) for one in (sd.value, sd.low, sd.high)))
    return CellForecast(
        cell=cell.index,
        players=cell.players,
        lineup=cell.lineup,
        mean=estimate_mean(values, bounds=BOUNDS[outcome]),
        sd=sd,
        half_width=_scale(sd, z / root) if sd.value else None,
        mde=_scale(sd, (z + float(special.ndtri(goal["power"]))) / root) if sd.value else None,
        deals=wanted,
    )


def _count_deals(sd: float, goal: dict[str, Any]) -> float:
    """Return the deals that reach the goal, or `MOST_DEALS` if they are more."""
    try:
        return float(min(plan_clusters(sd=sd, **goal), MOST_DEALS))
    except InputError:  # the goal itself was found good, so that only the standard deviation can be too large
        return MOST_DEALS


def _estimate_sd(values: npt.NDArray[np.float64]) -> Range:
    """Return the standard deviation and its 95 % interval, by the fourth moment, on the scale of its logarithm."""
    n, sd = len(values), float(values.std(ddof=1))
    if sd <= 1e-12 * float(np.abs(values).max()):
        return Range(0.0, 0.0, 0.0)
    kurtosis = float(((values - values.mean()) ** 4).mean()) / float(values.var()) ** 2
    error = math.sqrt(max(kurtosis - (n - 3) / (n - 1), 2 / n) / n) / 2
    reach = float(special.stdtrit(n - 1, 0.975)) * error
    return Range(sd, sd * math.exp(-reach), sd * math.exp(reach))


def _scale(found: Range, factor: float) -> Range:
    return Range(found.value * factor, found.low * factor, found.high * factor)


class _Costs:
    """Time and bytes of an experiment, by the shards of its pilot."""

    def __init__(self, plan: Plan, drawn: Sequence[Cell], commits: Sequence[Commit], workers: int) -> None:
        self.plan, self.workers = plan, workers
        played: dict[int, list[Commit]] = defaultdict(list)
        for commit in commits:
            played[commit.cell].append(commit)
        self.is_warm = all(len(batches) > 1 for batches in played.values())
        seconds, sizes, heads = defaultdict(list), defaultdict(list), []
        for number, batches in played.items():
            cell = drawn[number]
            later = batches[1:] or batches  # the first one compiles and starts processes
            games = sum(batch.n_deals for batch in later) * len(cell.seatings)
            seconds[cell.players].append(sum(batch.seconds for batch in later) / games)
            slope, head = _fit_bytes(batches)
            sizes[cell.players].append(slope / len(cell.seatings))
            heads.append(head)
        self._seconds = {players: float(np.mean(found)) for players, found in seconds.items()}
        self._bytes = {players: float(np.mean(found)) for players, found in sizes.items()}
        self._head = float(np.mean(heads))

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
            seconds=sum(count * self._of(self._seconds, players) for players, count in games.items()) / self.workers,
            bytes=sum(count * self._of(self._bytes, players) for players, count in games.items())
            + plan.n_shards * self._head,
        )

    @staticmethod
    def _of(rates: dict[int, float], players: int) -> float:
        """Return the rate at a player count, or the mean rate if no cell of it was tried."""
        return rates.get(players, float(np.mean(list(rates.values()))))


def _fit_bytes(batches: Sequence[Commit]) -> tuple[float, float]:
    """Return the bytes of a deal and those of a shard without any, by the batches of a cell."""
    deals = [batch.n_deals for batch in batches]
    sizes = [sum(part.bytes for part in batch.tables.values()) for batch in batches]
    if len(set(deals)) < 2:
        return sizes[-1] / deals[-1], 0.0
    slope, head = np.polyfit(deals, sizes, 1)
    return max(float(slope), 0.0), max(float(head), 0.0)


def _note(experiment: Experiment, cells: Sequence[CellForecast], costs: _Costs, failures: str) -> Iterator[str]:
    workers = f"{costs.workers} worker{'' if costs.workers == 1 else 's'}"
    yield (
        f"times are for {workers}, from one worker on this machine, as busy as it was: they may be wrong by a factor "
        "of two; bytes come from small files, and may be twice as many as large ones need"
    )
    if not costs.is_warm:
        yield "the pilot was over before it had warmed up: times hold compiling and are too long"
    if len(cells) < len(costs.plan.cells):
        yield "cells that were not tried may vary more, and need more deals"
    fewest = min(cell.mean.n_clusters for cell in cells)
    if fewest < min(FEW, experiment.deals):
        yield f"a cell has only {fewest} deals in the pilot, so that all of this is rough; allow it more time"
    if constant := [str(cell.cell) for cell in cells if cell.sd.value == 0]:
        named = ", ".join(constant[:SHOWN]) + (", ..." if len(constant) > SHOWN else "")
        yield f"nothing varied between deals in cells {named}: the pilot cannot tell what they need"
    if experiment.stop is not None:
        yield f"the experiment stops by evidence, and as it stands may take less: {experiment.stop.rule.goal}"
        if isinstance(experiment.stop.rule, Test):
            yield "a test that may stop at any look needs about twice the deals of one at a fixed number"
    if failures:
        yield failures


# Words


def _word_range(found: Range | None) -> str:
    return f"{found.value:.3g} ({found.low:.3g} to {found.high:.3g})" if found and found.value else "?"


def _word_deals(found: Range | None) -> str:
    return f"{found.value:,.0f} ({found.low:,.0f} to {found.high:,.0f})" if found else "?"


def _word_bytes(size: float) -> str:
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:,.3g} GB"


def _align(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]
