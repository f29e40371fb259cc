"""Controls of the probes: what must be exactly zero, a planted effect, and a randomized one.

They hold whatever the marker is worth, so that a reader can see whether the continued games do what is said of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy import special

from azulsim.metrics._estimate import compare_levels, contrast
from azulsim.metrics._roots import UNITS, has_probes, sum_starts
from azulsim.metrics._tables import Outcome, collect, describe_rules
from azulsim.metrics.marker import starter_effects
from azulsim.metrics.probes import tempo_values
from azulsim.schema import OTHER, TAKE, TAKE_ONLY
from azulsim.stats import adjust_holm

if TYPE_CHECKING:
    from azulsim.log import Run

ALPHA = 0.0027
"""A control that has noise fails if its p-value, corrected for the number of controls, is below that of 3 errors."""

Row = tuple[object, ...]
_KEYS = ["control", "rules", "players", "spec", "outcome"]
_NUMBERS = ["expected", "found", "low", "high", "n", "n_deals"]
_COLUMNS = [*_KEYS, *_NUMBERS, "gap", "se"]
"""`gap` is what should be 0, and `se` its standard error: NaN or 0 where it has to be 0 exactly, infinite where there
are too few deals for one."""


def probe_controls(run: Run) -> pd.DataFrame:
    """Check the probes of a run against what they have to give whatever the marker is worth.

    - *The round is the last*: taking the marker then changes nothing for who starts, so that taking it, and taking it
      with the next starter as otherwise, end the same, number by number. So they do where *the same player would
      start anyway*, and in all decisions where *the starter goes by rotation*.
    - *The start is handed over*: the arm that is to let another player start does so.
    - *Holding the marker starts nothing*: where the next starter goes by rotation or by lot, arms that give the marker
      to different players end the same, from round 2 on.
    - *Planted bonus*: where cells differ by `starter_bonus`, tempo in points differs by the bonus of the root's round
      and of the next, in roots whose games all end there. Exact for strategies that do not look at the score.
    - *Round 1*: its tempo is the effect of seat 0 in the games themselves, since the schedule assigns seats.

    Returns
    -------
    DataFrame
        `control`, `rules` and `spec` (empty for all), `players`, `outcome`, `expected`, `found`, `low` and `high` (of
        what was found, 95 %), `n`, `n_deals`, and `verdict`: `exact`; `agrees`, if it is as near to what is expected as
        chance has it (p-values corrected by Holm's method for the number of controls); `differs`; or `open`, if there
        are too few deals to tell.
    """
    parts = []
    if has_probes(run, "decision"):
        parts.append(_check_zeros(run))
    if has_probes(run, "tempo"):
        parts += [_check_holders(run), _check_bonus(run), _check_seats(run)]
    rows = [row for part in parts for row in part]
    frame = pd.DataFrame(rows, columns=_COLUMNS)
    return frame[[*_KEYS, *_NUMBERS]].assign(verdict=_judge(frame))


def _check_zeros(run: Run) -> list[Row]:
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
    counted = run.fetch(query).to_pylist()
    rows: list[Row] = []
    for i, (name, (what, _)) in enumerate(conditions.items()):
        outcome = "greatest difference" if what == "gap" else "handed to somebody else"
        for row in counted:
            if row[f"n{i}"]:
                value = row[f"v{i}"]
                ends = (np.nan, np.nan, row[f"n{i}"], row[f"d{i}"], value, 0.0)
                rows.append((name, "", row["players"], "", outcome, 0.0, value, *ends))
    return rows


def _check_holders(run: Run) -> list[Row]:
    idle = [cell.index for cell in run.manifest.cells if cell.rules.next_starter != "holder"]
    if not idle:
        return []
    gaps = ", ".join(f"max({name}::DOUBLE) - min({name})" for name in (*UNITS, "rounds"))
    query = f"""
    SELECT players, max(gap) AS gap, count(*) AS n, count(DISTINCT deal) AS n_deals
    FROM (
        SELECT any_value(cell) AS cell, any_value(deal) AS deal, greatest({gaps}) AS gap
        FROM probes WHERE kind = 'tempo' AND round > 1 AND cell IN ({", ".join(map(str, idle))})
        GROUP BY game, round, continuation, seat
    ) JOIN (SELECT DISTINCT cell, players FROM seats) USING (cell) GROUP BY players ORDER BY players"""
    return [
        ("holding the marker starts nothing", "", row["players"], "", "greatest difference", 0.0, row["gap"], np.nan,
         np.nan, row["n"], row["n_deals"], row["gap"], 0.0)
        for row in run.fetch(query).to_pylist()
    ]  # fmt: skip


def _check_bonus(run: Run) -> list[Row]:
    kinds: dict[str, dict[int, list[int]]] = {}
    for cell in run.manifest.cells:
        if cell.rules.next_starter != "holder":  # the arms of a tempo root are one and the same there
            continue
        rest = describe_rules(cell.rules.model_copy(update={"starter_bonus": 0}))
        kinds.setdefault(rest, {}).setdefault(cell.rules.starter_bonus, []).append(cell.index)
    return [
        row
        for cells in kinds.values()
        for bonus in cells
        if bonus and 0 in cells
        for row in _check_one_bonus(run, bonus, cells[0] + cells[bonus])
    ]


def _check_one_bonus(run: Run, bonus: int, cells: Sequence[int]) -> list[Row]:
    inside = ", ".join(map(str, cells))
    bonuses = {cell.index: cell.rules.starter_bonus for cell in run.manifest.cells}
    expected = f"(CASE {' '.join(f'WHEN cell = {i} THEN {bonuses[i]}' for i in cells)} END) * (1 + starts_others)"
    outcomes = [
        Outcome("found", "score_others", "points", ""),
        Outcome("expected", expected, "points", ""),
        Outcome("gap", f"score_others - {expected}", "points", ""),
    ]
    sums = collect(
        run,
        outcomes,
        ["players", "rules"],
        where=f"cell IN ({inside}) AND last_round <= round + 1",
        base="started",
        tables=sum_starts(run),
    )
    without = next(describe_rules(cell.rules) for cell in run.manifest.cells if cell.index == cells[0])
    frame = contrast(sums, outcomes, "rules", lambda labels: [-1.0 if label == without else 1.0 for label in labels])
    rows: list[Row] = []
    for players, part in frame.groupby("players", sort=True):
        by_name = part.set_index("outcome")
        found, gap = by_name.loc["found"], by_name.loc["gap"]
        se = gap["se"] if gap["n_deals"] > 1 else np.inf
        ends = (found["low"], found["high"], found["n"], found["n_deals"], gap["estimate"], se)
        wanted = by_name.loc["expected", "estimate"]
        rows.append((f"planted bonus of {bonus}", "", players, "", "score", wanted, found["estimate"], *ends))
    return rows


def _check_seats(run: Run) -> list[Row]:
    by = ["players", "spec"]
    tempo = tempo_values(run, [*by, "round"])
    tempo = tempo[tempo["round"] == 1].drop(columns="round")
    seats = starter_effects(run)
    sources = pd.concat([tempo.assign(source="tempo"), seats.assign(source="seats")])
    gaps = compare_levels(sources, "source", "seats", "tempo")
    keys = [str(name) for name in tempo.columns if name in ("rules", *by, "outcome")]
    both = gaps.merge(tempo, on=keys, suffixes=("", "_tempo")).merge(seats, on=keys, suffixes=("", "_seats"))
    return [
        (
            "round 1: tempo is the effect of seats", str(row.get("rules", "")), row["players"], str(row["spec"]),
            row["outcome"], row["estimate_seats"], row["estimate_tempo"], row["low_tempo"], row["high_tempo"],
            row["n_tempo"], row["n_deals_tempo"], row["estimate"],
            row["se"] if min(row["n_deals_tempo"], row["n_deals_seats"]) > 1 else np.inf,
        )
        for _, row in both[both["outcome"] != "margin"].iterrows()
    ]  # fmt: skip


def _judge(frame: pd.DataFrame) -> list[str]:
    """Say of each row whether its gap is 0, or as near to it as chance has it."""
    gap, se = frame["gap"].to_numpy(float), np.nan_to_num(frame["se"].to_numpy(float), posinf=np.inf)
    is_exact = np.abs(gap) < 1e-9
    is_open = ~is_exact & np.isinf(se)
    p = np.where(is_exact, 1.0, 0.0)
    noisy = ~is_exact & ~is_open & (se > 0)
    freedom = np.maximum(frame["n_deals"].to_numpy(float)[noisy] - 1, 1)
    p[noisy] = 2 * special.stdtr(freedom, -np.abs(gap[noisy]) / se[noisy])
    p[noisy] = adjust_holm(p[noisy]) if noisy.any() else p[noisy]
    return list(np.select([is_exact, is_open, p < ALPHA], ["exact", "open", "differs"], "agrees"))
