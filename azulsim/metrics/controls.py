"""Controls of the probes: what must be exactly zero, a planted effect, and a randomized one.

They hold whatever the marker is worth, so that a reader can see whether the continued games do what is said of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from azulsim.metrics._estimate import compare_levels, contrast
from azulsim.metrics._tables import Outcome, collect, describe_rules
from azulsim.metrics.marker import starter_effects
from azulsim.metrics.probes import UNITS, has_probes, tempo_sql, tempo_values
from azulsim.schema import OTHER, TAKE, TAKE_ONLY

if TYPE_CHECKING:
    from azulsim.log import Run

TOLERANCE = 3.0
"""A control agrees if it is within so many standard errors of what is expected."""

_COLUMNS = [
    "control",
    "rules",
    "players",
    "spec",
    "outcome",
    "expected",
    "found",
    "low",
    "high",
    "n",
    "n_deals",
    "verdict",
]


def probe_controls(run: Run) -> pd.DataFrame:
    """Check the probes of a run against what they have to give whatever the marker is worth.

    - *The round is the last*: taking the marker then changes nothing for who starts, so that taking it, and taking it
      with the next starter as otherwise, end the same, number by number. So they do where *the same player would
      start anyway*, and in all decisions where *the starter goes by rotation*.
    - *The start is handed over*: the arm that is to let another player start does so.
    - *Planted bonus*: where cells differ by `starter_bonus`, tempo in points differs by the bonus of the root's round
      and of the next, in roots whose games all end there. Exact for strategies that do not look at the score.
    - *Round 1*: its tempo is the effect of seat 0 in the games themselves, since the schedule assigns seats.

    Returns
    -------
    DataFrame
        `control`, `rules` and `spec` (empty for all), `players`, `outcome`, `expected`, `found`, `low` and `high` (of
        what was found, 95 %), `n`, `n_deals`, and `verdict`: `exact`, `agrees` (within 3 standard errors), `differs`.
    """
    parts = []
    if has_probes(run, "decision"):
        parts.append(_check_zeros(run))
    if has_probes(run, "tempo"):
        parts += [_check_bonus(run), _check_seats(run)]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=_COLUMNS)


def _check_zeros(run: Run) -> pd.DataFrame:
    gaps = ", ".join(
        f"abs(max({name}::DOUBLE) FILTER (arm = {TAKE}) - max({name}::DOUBLE) FILTER (arm = {TAKE_ONLY}))"
        for name in (*UNITS, "rounds")
    )
    starters = ", ".join(f"max(next_starter) FILTER (arm = {arm}) AS s{arm}" for arm in (OTHER, TAKE, TAKE_ONLY))
    by_rotation = [cell.index for cell in run.manifest.cells if cell.rules.next_starter == "rotation"]
    rotates = f"cell IN ({', '.join(map(str, by_rotation))})" if by_rotation else "false"
    conditions = {
        "the round is the last": ("gap", f"s{TAKE} < 0"),
        "the same player would start anyway": ("gap", f"s{TAKE} >= 0 AND s{TAKE} = s{TAKE_ONLY}"),
        "the starter goes by rotation": ("gap", rotates),
        "the start is handed over": ("moved", f"s{OTHER} >= 0 AND s{TAKE_ONLY} >= 0"),
    }
    found = ", ".join(
        f"max({what}) FILTER ({where}) AS v{i}, count(*) FILTER ({where}) AS n{i}, "
        f"count(DISTINCT deal) FILTER ({where}) AS d{i}"
        for i, (what, where) in enumerate(conditions.values())
    )
    query = f"""
    WITH pairs AS (
        SELECT game, ply, continuation, seat, any_value(cell) AS cell, any_value(deal) AS deal,
            greatest({gaps}) AS gap, {starters}
        FROM probes WHERE kind = 'decision' GROUP BY game, ply, continuation, seat
    )
    SELECT players, {found}
    FROM (SELECT *, (s{OTHER} <> s{TAKE_ONLY})::DOUBLE AS moved FROM pairs)
    JOIN (SELECT DISTINCT cell, players FROM seats) USING (cell) GROUP BY players ORDER BY players"""
    rows = []
    for row in run.fetch(query).to_pylist():
        for i, (control, (what, _)) in enumerate(conditions.items()):
            if row[f"n{i}"]:
                outcome = "greatest difference" if what == "gap" else "handed to somebody else"
                rows.append((control, "", row["players"], "", outcome, 0.0, row[f"v{i}"], np.nan, np.nan, row[f"n{i}"],
                             row[f"d{i}"], "exact" if row[f"v{i}"] == 0 else "differs"))  # fmt: skip
    return pd.DataFrame(rows, columns=_COLUMNS).sort_values("control", key=lambda c: c.map([*conditions].index))


def _check_bonus(run: Run) -> pd.DataFrame:
    kinds: dict[str, dict[int, list[int]]] = {}
    for cell in run.manifest.cells:
        rest = describe_rules(cell.rules.model_copy(update={"starter_bonus": 0}))
        kinds.setdefault(rest, {}).setdefault(cell.rules.starter_bonus, []).append(cell.index)
    parts = [
        _check_one_bonus(run, bonus, cells[0] + cells[bonus])
        for cells in kinds.values()
        for bonus in cells
        if bonus and 0 in cells
    ]
    return pd.concat(parts) if parts else pd.DataFrame(columns=_COLUMNS)


def _check_one_bonus(run: Run, bonus: int, cells: Sequence[int]) -> pd.DataFrame:
    inside = ", ".join(map(str, cells))
    bonuses = {cell.index: cell.rules.starter_bonus for cell in run.manifest.cells}
    expected = f"(CASE {' '.join(f'WHEN cell = {i} THEN {bonuses[i]}' for i in cells)} END) * (1 + d_next)"
    outcomes = [
        Outcome("found", "d_score", "points", ""),
        Outcome("expected", expected, "points", ""),
        Outcome("gap", f"d_score - {expected}", "points", ""),
    ]
    sums = collect(
        run,
        outcomes,
        ["players", "rules"],
        where=f"cell IN ({inside}) AND last_round <= round + 1",
        base="started",
        tables=tempo_sql("arm <> seat"),
    )
    without = next(describe_rules(cell.rules) for cell in run.manifest.cells if cell.index == cells[0])
    frame = contrast(sums, outcomes, "rules", lambda labels: [-1.0 if label == without else 1.0 for label in labels])
    rows = []
    for players, part in frame.groupby("players", sort=True):
        by_name = part.set_index("outcome")
        found = by_name.loc["found"]
        rows.append((f"planted bonus of {bonus}", "", players, "", "score", by_name.loc["expected", "estimate"],
                     found["estimate"], found["low"], found["high"], found["n"], found["n_deals"],
                     _judge(*by_name.loc["gap", ["estimate", "se"]])))  # fmt: skip
    return pd.DataFrame(rows, columns=_COLUMNS)


def _check_seats(run: Run) -> pd.DataFrame:
    by = ["players", "spec"]
    tempo = tempo_values(run, [*by, "round"])
    tempo = tempo[tempo["round"] == 1].drop(columns="round")
    seats = starter_effects(run)
    sources = pd.concat([tempo.assign(source="tempo"), seats.assign(source="seats")])
    gaps = compare_levels(sources, "source", "seats", "tempo")
    keys = [str(name) for name in tempo.columns if name in ("rules", *by, "outcome")]
    both = gaps.merge(tempo, on=keys, suffixes=("", "_tempo")).merge(seats, on=keys, suffixes=("", "_seats"))
    both = both[both["outcome"] != "margin"]
    rows = [
        (
            "round 1: tempo is the effect of seats", str(row.get("rules", "")), row["players"], str(row["spec"]),
            row["outcome"], row["estimate_seats"], row["estimate_tempo"], row["low_tempo"], row["high_tempo"],
            row["n_tempo"], row["n_deals_tempo"], _judge(row["estimate"], row["se"]),
        )
        for _, row in both.iterrows()
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=_COLUMNS)


def _judge(gap: float, se: float) -> str:
    """Judge a difference that should be 0."""
    if abs(gap) < 1e-9:
        return "exact"
    return "agrees" if abs(gap) <= TOLERANCE * se else "differs"
