"""Looks at what was played so far, and says whether it is enough to stop.

A look takes the first so many deals of every cell and nothing else, so that what it finds depends neither on the
number of workers, nor on who finished first, nor on how often the run was interrupted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import special

from azulsim.experiment import Plan, Precision, Stop, Test
from azulsim.log import BOUNDS, CellEvidence, Commit, Manifest, Run, Stopped, read_outcome
from azulsim.log.manifest import read_commits, read_manifest
from azulsim.log.outcomes import estimate_outcome
from azulsim.stats import judge_interval


def look(folder: Path, plan: Plan, deals: int) -> Stopped:
    """Weigh the first `deals` deals of every cell, which must all be in the run folder."""
    experiment = plan.experiment
    assert experiment.stop is not None, "only a run that stops by evidence is looked at"
    rule, looks = experiment.stop.rule, experiment.looks()
    commits = [commit for commit in read_commits(folder) if commit.first_deal < deals]
    outcomes = read_outcome(Run(folder, read_manifest(folder), commits), rule.outcome, deals=deals)
    return Stopped(
        deals=deals,
        most=experiment.deals,
        looks=looks[: looks.index(deals) + 1],
        looks_planned=len(looks),
        goal=rule.goal,
        level=rule.level,
        is_anytime=isinstance(rule, Test),
        evidence=tuple(
            _weigh(rule, cell.index, cell.players, outcomes[cell.index], experiment.deals) for cell in plan.cells
        ),
    )


def _weigh(rule: Precision | Test, cell: int, players: int, values: npt.NDArray[np.float64], most: int) -> CellEvidence:
    if not len(values):  # in every deal a strategy failed, or no probed round was reached
        return CellEvidence(cell=cell, verdict="undecided")
    verdict: Literal["precise", "above", "below", "within", "undecided"]
    found = estimate_outcome(values, rule.outcome, level=rule.level, most=most if isinstance(rule, Test) else None)
    if isinstance(rule, Test):
        verdict = judge_interval(found, null=rule.null_at(players), effect=rule.effect)
    else:
        is_precise = found.has_interval and found.half_width <= rule.half_width
        verdict = "precise" if is_precise else "undecided"
    ends = {"low": found.low, "high": found.high} if found.has_interval else {}
    return CellEvidence(cell=cell, verdict=verdict, value=found.value, **ends)


class Tally:
    """Keeps count of the outcome that a run is about, to say while it is played how well it is known so far.

    It adds up what the commit markers say, and nothing is read for it. It is for people to see how far a run is;
    nothing is decided by it.
    """

    def __init__(self, manifest: Manifest, stop: Stop | None) -> None:
        self._outcome = manifest.outcome
        self._level = stop.rule.level if stop else 0.95
        self._wanted = f" ({stop.precision.half_width:g} wanted)" if stop and stop.precision else ""
        self._sums = {cell.index: np.zeros(3) for cell in manifest.cells}

    def add(self, commits: Iterable[Commit]) -> None:
        """Take note of shards that are finished."""
        for commit in commits:
            if commit.outcome:
                self._sums[commit.cell] += commit.outcome

    def describe(self) -> list[str]:
        """Return what is to be told: nothing, or the half width of the cell in which the outcome is known least."""
        widths = [self._estimate_half_width(*sums) for sums in self._sums.values() if sums[0] > 1]
        known = [width for width in widths if width > 0]
        if not known:
            return []
        part = f" in {len(widths):,} of {len(self._sums):,} cells" if len(widths) < len(self._sums) else ""
        return [f"widest {self._outcome} +/-{max(known):.2g}{self._wanted}{part}"]

    def _estimate_half_width(self, n: float, total: float, squares: float) -> float:
        """Return the half width of the t interval of a mean, as `estimate_mean` gives it when many deals are in.

        Where nothing or next to nothing varied, a win share is known as well as that of trials that all ended alike; of
        another outcome nothing is known, and 0 is returned. No bounded outcome is known less well than its bounds.
        """
        rest = (1 - self._level) / 2
        variance = max(squares - total**2 / n, 0.0) / (n - 1)
        width = float(special.stdtrit(n - 1, 1 - rest)) * math.sqrt(variance / n)
        if self._outcome == "win_share":
            width = max(width, (1 - rest ** (1 / n)) / 2)
        bounds = BOUNDS[self._outcome]
        return min(width, bounds[1] - bounds[0]) if bounds else width
