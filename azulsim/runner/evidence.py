"""Looks at what was played so far, and says whether it is enough to stop.

A look takes the first so many deals of every cell and nothing else, so that what it finds depends neither on the
number of workers, nor on who finished first, nor on how often the run was interrupted.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from azulsim.experiment import Plan, Precision, Test
from azulsim.log import BOUNDS, CellEvidence, Run, Stopped, read_outcome
from azulsim.log.manifest import read_commits, read_manifest
from azulsim.stats import estimate_anytime, estimate_mean, judge_interval


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
    if not len(values):  # a strategy failed in every deal
        return CellEvidence(cell=cell, verdict="undecided")
    verdict: Literal["precise", "above", "below", "within", "undecided"]
    if isinstance(rule, Test):
        found = estimate_anytime(values, most=most, bounds=BOUNDS[rule.outcome], level=rule.level)
        verdict = judge_interval(found, null=rule.null_at(players), effect=rule.effect)
    else:
        found = estimate_mean(values, bounds=BOUNDS[rule.outcome], level=rule.level)
        is_precise = found.has_interval and found.half_width <= rule.half_width
        verdict = "precise" if is_precise else "undecided"
    ends = {"low": found.low, "high": found.high} if found.has_interval else {}
    return CellEvidence(cell=cell, verdict=verdict, value=found.value, **ends)
