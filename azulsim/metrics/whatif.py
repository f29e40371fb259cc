"""What changes when the rules change: outcomes of whole games under two or more sets of rules, on common deals.

All rules are held against one of them, the baseline: the one that the experiment's `whatif` names, or the first. What
is compared are games of the same players: one strategy in all seats, or all line-ups of different ones together. A
strategy may also play tuned to the rules (`tuning` is then `re-tuned`, else `fixed`), in games of its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy import special

from azulsim.errors import InputError, did_you_mean
from azulsim.log.outcomes import GAME_OUTCOMES
from azulsim.metrics._estimate import LEVEL, describe_estimate, estimate, read_crossing
from azulsim.metrics._tables import Array, Outcome, Sums, choose_by_cell, collect, describe_rules, has_depth
from azulsim.metrics.games import OUTCOMES
from azulsim.notation import parse_rules
from azulsim.rules import MAX_PLAYERS, Rules, split_rule
from azulsim.stats import Crossing, adjust_holm, compare_paired, estimate_crossing

if TYPE_CHECKING:
    from azulsim.log import Run

MIXED = "all line-ups"
"""Stands in the column `spec` for games in which different strategies meet."""
FIXED, RETUNED = "fixed", "re-tuned"

RULE_OUTCOMES: dict[str, Outcome] = {
    outcome.name: outcome
    for outcome in (
        Outcome("winner_score", "max(score)", "points", "Greatest final score of the game."),
        Outcome("score", "avg(score)", "points", "Final score, mean of the players."),
        Outcome("winning_margin", "max(margin)", "points", "Greatest final score minus the next."),
        Outcome("rounds", "any_value(rounds)", "rounds", OUTCOMES["rounds"].doc),
        Outcome("plies", "any_value(plies)", "moves", OUTCOMES["plies"].doc),
        Outcome("floor_paid", "avg(floor_paid)", "points", "Points a player really lost to the floor."),
        Outcome("bonus_points", "avg(bonus_points)", "points", "End-of-game bonuses of a player."),
        Outcome("tied", "any_value(is_tied::INT)", "share", OUTCOMES["tied"].doc),
        Outcome("ender_wins", f"any_value({OUTCOMES['ender_wins'].sql})", "share", OUTCOMES["ender_wins"].doc),
        Outcome("short_games", "any_value(is_short::INT)", "share", "Games in which a display could not be filled."),
        *(
            Outcome(
                f"seat_{seat}_win_share",
                f"max(win_share) FILTER (seat = {seat})",
                "share",
                f"Win share of seat {seat}{', which starts round 1' if seat == 0 else ''}.",
            )
            for seat in range(MAX_PLAYERS)
        ),
    )
}
"""The outcomes of a game that rules are compared by; `sql` sums up the rows of its seats."""


@dataclass(frozen=True)
class _Arm:
    """Games of the same players under the same rules: one side of a comparison."""

    players: int
    spec: str
    """The strategy in all seats, as it is called before any tuning; or `MIXED`."""
    rules: Rules
    tuning: str
    cells: tuple[int, ...]

    @property
    def label(self) -> str:
        return describe_rules(self.rules)


@dataclass(frozen=True)
class _Rows:
    """One outcome in one arm, one entry an observation, and the deal of each."""

    values: Array
    deals: Array


@dataclass(frozen=True)
class _Evidence:
    """All arms of a run, and the outcomes of their games summed by deal."""

    arms: tuple[_Arm, ...]
    outcomes: tuple[Outcome, ...]
    sums: Sums
    places: Mapping[int, int]
    """Row of `sums.keys` of each arm that was played."""

    def rows(self, arm: _Arm, k: int) -> _Rows:
        """Return the observations of outcome `k`; those of a deal have its mean, which is all that counts."""
        inside = self.sums.group == self.places.get(self.arms.index(arm), -1)
        return _spread(self.sums, inside, k, self.outcomes[k])


def _spread(sums: Sums, inside: Array, k: int, outcome: Outcome) -> _Rows:
    count = sums.count[inside, k].astype(np.int64)
    seen = count > 0
    means = sums.total[inside, k][seen] / count[seen]
    if outcome.unit == "share":
        means = means.clip(0.0, 1.0)
    return _Rows(np.repeat(means, count[seen]), np.repeat(sums.deal[inside][seen], count[seen]))


def rule_outcomes(run: Run, outcomes: Sequence[str] | None = None) -> pd.DataFrame:
    """Estimate the outcomes of whole games under each set of rules.

    Parameters
    ----------
    run
        A run; what depends on a deeper log than it has is left out.
    outcomes
        Names of `RULE_OUTCOMES`; those that the experiment's `whatif` names, or all, if left out.

    Returns
    -------
    DataFrame
        A row a player count, `spec` (who sits in all seats, or `MIXED`), `rules`, `tuning` and outcome, with the
        columns of every metric (`estimate`, `low`, `high`, ...).

    Raises
    ------
    InputError
        For an unknown outcome.
    """
    found = _collect(run, outcomes)
    frame = estimate(found.sums, found.outcomes)
    frame = frame[frame["n"] > 0]
    arms = [found.arms[number] for number in frame["arm"]]
    described = pd.DataFrame(
        {
            "players": [arm.players for arm in arms],
            "spec": [arm.spec for arm in arms],
            "rules": [arm.label for arm in arms],
            "tuning": [arm.tuning for arm in arms],
        },
        index=frame.index,
    )
    rest = frame.drop(columns=[name for name in ("rules", "arm") if name in frame])
    order = frame["arm"].sort_values(kind="stable").index
    return pd.concat([described, rest], axis=1).loc[order].reset_index(drop=True)


def rule_differences(run: Run, outcomes: Sequence[str] | None = None, *, baseline: Rules | None = None) -> pd.DataFrame:
    """Estimate what each set of rules changes against the baseline, paired by deal.

    Parameters
    ----------
    run, outcomes
        As in `rule_outcomes`. Where different strategies meet, the `win_share` of each is compared too, unless outcomes
        are named.
    baseline
        The rules that all others are held against; those that the experiment's `whatif` names, or the first played.

    Returns
    -------
    DataFrame
        A row a player count, `spec`, `rules`, `tuning` and outcome: the mean under the `baseline` and under the rules
        (`changed`), their difference `estimate` with `low`, `high`, `se`, `mde`; `p_value`, and `p_holm` corrected for
        all rows of the frame; the `correlation` over deals that common deals achieved, with its interval, and the share
        of games they `saved` against independent play (negative: they cost some).

    Raises
    ------
    InputError
        For an unknown outcome, or a baseline that was not played.
    """
    found = _collect(run, outcomes)
    pairs = list(_pair_arms(run, found.arms, baseline))
    rows = [
        {**_describe_pair(second, tuning, outcome), **numbers}
        for first, second, tuning in pairs
        for k, outcome in enumerate(found.outcomes)
        if (numbers := _compare(found.rows(first, k), found.rows(second, k), outcome))
    ]
    if outcomes is None and not read_whatif(run).get("outcomes"):
        rows += _compare_strategies(run, found.arms, pairs)
    frame = pd.DataFrame(rows, columns=[*_PAIR_COLUMNS, *_DIFFERENCE_COLUMNS])
    if len(frame):
        frame["p_holm"] = adjust_holm(frame["p_value"])
    return frame


_PAIR_COLUMNS = ("players", "spec", "rules", "tuning", "outcome", "unit")
_DIFFERENCE_COLUMNS = (
    "baseline", "changed", "estimate", "low", "high", "se", "n", "n_deals", "mde", "p_value", "p_holm",
    "correlation", "correlation_low", "correlation_high", "saved", "note",
)  # fmt: skip


def rule_responses(run: Run) -> pd.DataFrame:
    """Estimate the outcome that the experiment's `whatif.solve` names, at each value of its rule.

    Returns
    -------
    DataFrame
        A row a player count, `spec`, other rules (`rules`) and `value` of the rule, with the columns of every metric.
        Empty if there is nothing to solve.
    """
    rows = []
    for sweep in _find_sweeps(run):
        for value, estimated in zip(sweep.crossing.factor, sweep.crossing.response, strict=True):
            rows.append({**sweep.keys, "value": float(value), "unit": sweep.unit, **describe_estimate(estimated)})
    return pd.DataFrame(rows)


def rule_crossings(run: Run) -> pd.DataFrame:
    """Estimate at which value of a rule an outcome reaches its target, as the experiment's `whatif.solve` asks.

    Returns
    -------
    DataFrame
        A row a player count, `spec` and other rules: `key`, `outcome`, `target`, then the value of the rule as
        `estimate` (NaN: not reached between the values tried, or not determined) with `low` and `high`,
        `is_open_below` and `is_open_above` (the truth may lie beyond the values tried; both: it is not determined),
        `crossings` (all values at which the means meet the target, the `estimate` being the middle one), the values
        `tried_from` and `tried_to`,
        between which the outcome lies within `least` to `greatest` (ends of its intervals, in `unit`), `n_deals`, and
        `note`.
        Empty if there is nothing to solve.
    """
    rows = []
    for sweep in _find_sweeps(run):
        crossing = sweep.crossing
        value, low, high = read_crossing(crossing)
        rows.append(
            {
                **sweep.keys,
                "key": sweep.key,
                "target": crossing.target,
                "estimate": value,
                "low": low,
                "high": high,
                "is_open_below": crossing.is_open_below,
                "is_open_above": crossing.is_open_above,
                "crossings": crossing.crossings,
                "tried_from": float(crossing.factor[0]),
                "tried_to": float(crossing.factor[-1]),
                "least": float(crossing.response.low.min()),
                "greatest": float(crossing.response.high.max()),
                "unit": sweep.unit,
                "n_deals": crossing.n_clusters,
                "note": crossing.note,
            }
        )
    return pd.DataFrame(rows)


# Arms


def read_whatif(run: Run) -> dict[str, Any]:
    """Return what the experiment of a run says under `whatif`; empty if nothing."""
    return dict(run.manifest.experiment.get("whatif") or {})


def find_baseline(run: Run, baseline: Rules | None = None) -> Rules:
    """Return the rules that all others are held against.

    Raises
    ------
    InputError
        If `baseline` was not played.
    """
    played = [cell.rules for cell in run.manifest.cells]
    text = read_whatif(run).get("baseline")
    chosen = baseline or (parse_rules(text) if text else played[0])
    if chosen not in played:
        raise InputError(f"baseline {describe_rules(chosen)}: was not played in this run")
    return chosen


def _list_arms(run: Run) -> tuple[_Arm, ...]:
    """List the arms in the order of their first cells."""
    cells: dict[tuple[int, str, Rules, str], list[int]] = {}
    for cell in run.manifest.cells:
        retuned = cell.factors.get("retuned")
        spec = str(retuned) if retuned else cell.lineup[0] if len(set(cell.lineup)) == 1 else MIXED
        cells.setdefault((cell.players, spec, cell.rules, RETUNED if retuned else FIXED), []).append(cell.index)
    return tuple(_Arm(*key, tuple(found)) for key, found in cells.items())


def _pair_arms(run: Run, arms: Sequence[_Arm], baseline: Rules | None) -> Iterator[tuple[_Arm, _Arm, str]]:
    """Yield each pair of arms that is compared, the baseline first, and whether it is of re-tuned strategies.

    A strategy that was not re-tuned to some rules (nothing better was found) plays as it is under them.
    """
    standard = find_baseline(run, baseline)
    by_key = {(arm.players, arm.spec, arm.rules, arm.tuning): arm for arm in arms}
    for players, spec in dict.fromkeys((arm.players, arm.spec) for arm in arms):
        for rules in dict.fromkeys(arm.rules for arm in arms):
            if rules == standard:
                continue
            fixed, tuned = (
                [by_key.get((players, spec, side, tuning)) for side in (standard, rules)] for tuning in (FIXED, RETUNED)
            )
            if fixed[0] and fixed[1]:
                yield fixed[0], fixed[1], FIXED
                if any(tuned):
                    yield tuned[0] or fixed[0], tuned[1] or fixed[1], RETUNED


# Sums


def _collect(run: Run, outcomes: Sequence[str] | None) -> _Evidence:
    """Sum the outcomes of whole games by arm and deal."""
    names = list(outcomes or read_whatif(run).get("outcomes") or GAME_OUTCOMES)
    for name in names:
        if name not in RULE_OUTCOMES:
            raise InputError(f"outcome {name!r} is not known{did_you_mean(name, RULE_OUTCOMES)}")
    most = max(cell.players for cell in run.manifest.cells)
    absent = {f"seat_{seat}_win_share" for seat in range(most, MAX_PLAYERS)}
    absent |= set() if has_depth(run, "rounds") else {"short_games"}
    chosen = tuple(RULE_OUTCOMES[name] for name in names if name not in absent)
    if not chosen:
        raise InputError(f"outcomes: nothing of {', '.join(names)} can be told from this run's log and player counts")
    arms = _list_arms(run)
    columns = ", ".join(f"{outcome.sql} AS {outcome.name}" for outcome in chosen)
    is_short = any(outcome.name == "short_games" for outcome in chosen)
    tables = f"""
    short AS (SELECT game, bool_or(is_short) AS is_short FROM rounds WHERE seat = 0 GROUP BY game),
    whole AS (
        SELECT game, {", ".join(f"any_value({name}) AS {name}" for name in _OF_GAME)}, {columns}
        FROM played{" LEFT JOIN short USING (game)" if is_short else ""} GROUP BY game
    )"""
    if not is_short:
        tables = tables[tables.index("whole AS") :]
    named = [Outcome(outcome.name, outcome.name, outcome.unit, outcome.doc) for outcome in chosen]
    sums = collect(run, named, ["arm"], base="whole", tables=tables, extra={"arm": _choose_arm(arms)})
    return _Evidence(arms, tuple(named), sums, {arm: row for row, arm in enumerate(sums.keys["arm"])})


_OF_GAME = ("players", "deal", "cell", "rules_code", "is_mixed")


def _choose_arm(arms: Sequence[_Arm]) -> str:
    """Return the SQL of the number of the arm that a row belongs to."""
    return choose_by_cell({cell: str(number) for number, arm in enumerate(arms) for cell in arm.cells})


# Differences


def _describe_pair(second: _Arm, tuning: str, outcome: Outcome) -> dict[str, Any]:
    values = (second.players, second.spec, second.label, tuning, outcome.name, outcome.unit)
    return dict(zip(_PAIR_COLUMNS, values, strict=True))


def _compare(first: _Rows, second: _Rows, outcome: Outcome) -> dict[str, Any]:
    """Return the numbers of one difference, second minus first; none unless the two share a deal."""
    if not np.isin(first.deals, second.deals).any():
        return {}
    bounds = (0.0, 1.0) if outcome.unit == "share" else None
    found = compare_paired(second.values, first.values, second.deals, first.deals, bounds=bounds)
    varies = np.ptp(first.values) > 0 and np.ptp(second.values) > 0
    correlation = found.correlation if varies else math.nan
    low, high = _spread_correlation(correlation, found.n_clusters)
    return {
        "baseline": float(first.values.mean()),
        "changed": float(second.values.mean()),
        **describe_estimate(found),
        "p_value": found.p_value,
        "correlation": correlation,
        "correlation_low": low,
        "correlation_high": high,
        "saved": 1 - found.variance_ratio if varies else math.nan,
    }


def _spread_correlation(value: float, n: int) -> tuple[float, float]:
    """Return the interval of a correlation over `n` deals, by Fisher's transformation."""
    if math.isnan(value):
        return value, value
    if n < 4 or abs(value) > 1 - 1e-12:
        return (-1.0, 1.0) if n < 4 else (value, value)
    half = float(special.ndtri((1 + LEVEL) / 2)) / math.sqrt(n - 3)
    return math.tanh(math.atanh(value) - half), math.tanh(math.atanh(value) + half)


def _compare_strategies(
    run: Run, arms: Sequence[_Arm], pairs: Sequence[tuple[_Arm, _Arm, str]]
) -> Iterator[dict[str, Any]]:
    """Yield the differences in win share of each strategy, where different ones meet."""
    if all(arm.spec != MIXED for arm in arms):
        return
    outcome = OUTCOMES["win_share"]
    sums = collect(run, [outcome], ["arm", "spec"], lineups="mixed", extra={"arm": _choose_arm(arms)})
    keys = sums.keys[["arm", "spec"]].itertuples(index=False, name=None)
    places = {(int(arm), str(spec)): row for row, (arm, spec) in enumerate(keys)}
    for first, second, tuning in pairs:
        for spec in run.manifest.specs:
            sides = [places.get((arms.index(arm), spec)) for arm in (first, second)]
            if second.spec == MIXED and None not in sides:
                one, two = (_spread(sums, sums.group == place, 0, outcome) for place in sides)
                if numbers := _compare(one, two, outcome):
                    yield {**_describe_pair(second, tuning, outcome), "spec": spec, **numbers}


# Sweeps of one rule


@dataclass(frozen=True)
class _Sweep:
    """One outcome over the values of one rule, all else being equal."""

    keys: dict[str, Any]
    key: str
    unit: str
    crossing: Crossing


def _find_sweeps(run: Run) -> Iterator[_Sweep]:
    """Yield the sweeps that the experiment asks to solve; strategies as they are."""
    solve = read_whatif(run).get("solve")
    if not solve:
        return
    key, name = str(solve["key"]).removeprefix("rules."), str(solve["outcome"])
    found = _collect(run, [name])
    groups: dict[tuple[int, str, tuple[tuple[str, Any], ...]], dict[float, _Rows]] = {}
    for arm in found.arms:
        value, others = split_rule(arm.rules, key)
        rows = found.rows(arm, 0)
        if arm.tuning == FIXED and isinstance(value, int | float) and len(rows.deals):
            groups.setdefault((arm.players, arm.spec, others), {})[float(value)] = rows
    usual = dict(split_rule(Rules(), key)[1])
    for (players, spec, others), by_value in groups.items():
        if len(by_value) > 1:
            target = 1 / players if solve["target"] == "fair" else float(solve["target"])
            crossing = estimate_crossing(
                np.repeat(list(by_value), [len(rows.values) for rows in by_value.values()]),
                np.concatenate([rows.values for rows in by_value.values()]),
                np.concatenate([rows.deals for rows in by_value.values()]),
                target=target,
            )
            label = ", ".join(f"{rule}={value}" for rule, value in others if value != usual[rule]) or "standard"
            keys = {"players": players, "spec": spec, "rules": label, "outcome": name}
            yield _Sweep(keys, key, found.outcomes[0].unit, crossing)
