"""How large an experiment must be: a small pilot is played, and deals, time and bytes follow from what it shows."""

from __future__ import annotations

import math
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special

from azulsim.errors import InputError, RunError
from azulsim.experiment import Experiment, Precision, Test
from azulsim.jobs import count_workers
from azulsim.log import BOUNDS, Cell, OutcomeName, read_outcome, read_run
from azulsim.log.outcomes import TEMPO, describe_unprobed
from azulsim.runner.pilot import Cost, Costs, draw_cells, play_pilot
from azulsim.runner.progress import word_bytes, word_seconds
from azulsim.runner.sitting import TIMEOUT
from azulsim.schema import MAX_DEALS
from azulsim.stats import Estimate, estimate_mean, plan_clusters

PILOT_DEALS = 200
"""Most deals that the pilot plays in a cell."""
PILOT_SECONDS = 30.0
"""Time after which the pilot begins nothing more, and by half of which it begins no other cell."""
PILOT_CELLS = 100
"""Most cells that the pilot tries; of more, some drawn by lot."""
FIRST_BATCH = 2
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
class CellForecast:
    """What the pilot shows of one cell."""

    cell: int
    players: int
    lineup: tuple[str, ...]
    mean: Estimate
    """The outcome in the pilot."""
    counted: float
    """Share of the pilot's deals that count: no strategy failed, and a probed round was reached, if that is asked."""
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
            followed = "everyone" if self.outcome.startswith(TEMPO) else cell.lineup[0]
            facts = [str(cell.cell), str(cell.players), followed, str(cell.mean), f"{cell.mean.n_clusters:,}"]
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
            _word_outcome(self.outcome),
            "",
            *_align(rows),
            *([f"and {hidden:,} cells that vary less"] if hidden else []),
            "",
            f"as it stands: {_word_cost(self.stands)}{seen}",
        ]
        if self.wanted is not None and self.deals is not None:
            parts.append(
                f"for {self.goal} in every cell tried: {_word_cost(self.wanted)}; the pilot leaves room for "
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
        `score`; or `tempo.win_share` and so on, what all players gain by starting a round. If left out, what the
        experiment stops by, or the win share.
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
    if outcome.startswith(TEMPO) and not (experiment.probes and experiment.probes.tempo):
        raise InputError(describe_unprobed(outcome))
    plan = experiment.plan(project=project, where=where)
    drawn = draw_cells(plan, PILOT_CELLS)
    if precision is not None or effect is not None:
        plan_clusters(sd=1.0, half_width=precision, effect=effect, power=power)  # complains before anything is played
    if progress:
        print(f"{experiment.name}: playing a pilot", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory(prefix="azulsim-pilot-") as folder:
        start = time.monotonic()
        place = Path(folder) / "pilot"
        deals = min(pilot, experiment.deals)
        limits: dict[str, Any] = {"deals": deals, "first": FIRST_BATCH, "seconds": seconds, "timeout": TIMEOUT}
        commits = list(play_pilot(plan, drawn, place, **limits, project=project))
        spent = time.monotonic() - start
        run = read_run(place)
        values = read_outcome(run, outcome, deals=pilot)
        failures = run.describe_failures()
    played = Counter[int]()
    for commit in commits:
        played[commit.cell] += commit.n_deals
    tried = {drawn[number].index: (values[number], n_played) for number, n_played in sorted(played.items())}
    for index, (found_there, n_played) in tried.items():
        if len(found_there) < 2:
            unreached = "no probed round was reached in the others, " if len(found_there) < n_played else ""
            raise RunError(
                f"{where or experiment.name}: the pilot has no two deals of cell {index} that count, of {n_played:,}; "
                f"{failures or f'{unreached}it needs more deals'}"
            )
    goal = {"half_width": precision, "effect": effect, "power": power}
    cells = tuple(
        _forecast_cell(cell, *tried[cell.index], outcome, experiment.deals, goal)
        for cell in plan.cells
        if cell.index in tried
    )
    costs = Costs(plan, drawn, commits, workers)
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


def _word_outcome(outcome: OutcomeName) -> str:
    if outcome.startswith(TEMPO):
        name = outcome.removeprefix(TEMPO)
        return f"{outcome}: {name} gained by starting a round, averaged over the players and probed rounds of a deal"
    return f"{outcome} of the first strategy of each line-up (of seat 0 in self-play), averaged over a deal"


def _choose_goal(
    experiment: Experiment, outcome: OutcomeName | None, precision: float | None, effect: float | None
) -> tuple[OutcomeName, float | None, float | None]:
    if experiment.stop is None or precision is not None or effect is not None:
        return outcome or "win_share", precision, effect
    rule = experiment.stop.rule
    if outcome not in (None, rule.outcome):
        return outcome or "win_share", None, None
    return rule.outcome, *((rule.half_width, None) if isinstance(rule, Precision) else (None, rule.effect))


def _forecast_cell(
    cell: Cell, values: npt.NDArray[np.float64], n_played: int, outcome: OutcomeName, deals: int, goal: dict[str, Any]
) -> CellForecast:
    counted = len(values) / n_played
    sd, root = _estimate_sd(values), math.sqrt(deals * counted)
    z = float(special.ndtri(0.975))
    wanted = None
    if sd.low > 0 and (goal["half_width"] is not None or goal["effect"] is not None):
        wanted = Range(*(min(_count_deals(one, goal) / counted, MOST_DEALS) for one in (sd.value, sd.low, sd.high)))
    return CellForecast(
        cell=cell.index,
        players=cell.players,
        lineup=cell.lineup,
        mean=estimate_mean(values, bounds=BOUNDS[outcome]),
        counted=counted,
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


def _note(experiment: Experiment, cells: Sequence[CellForecast], costs: Costs, failures: str) -> Iterator[str]:
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
        yield (
            f"a cell has only {fewest} deals that count in the pilot, so that all of this is rough; allow it more "
            "deals or time"
        )
    if partial := [f"{cell.cell} ({100 * cell.counted:.3g} %)" for cell in cells if cell.counted < 1]:
        named = ", ".join(partial[:SHOWN]) + (", ..." if len(partial) > SHOWN else "")
        yield f"not every deal counts in cells {named}: the figures reckon with these shares"
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


def _word_cost(cost: Cost) -> str:
    return (
        f"{cost.deals:,} deals a cell, {cost.games:,} games: about {word_seconds(cost.seconds)} and "
        f"{'?' if cost.bytes is None else word_bytes(cost.bytes)}"
    )


def _align(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]
