"""What the starting player marker is worth, from games continued in several ways from the same position.

Causal: the arms of a root differ in one thing only, and everything dealt and decided afterwards is keyed alike, so the
difference between them is the effect of that thing, for the strategies that play on. Frames are as in
`azulsim.metrics.games`; all roots of all games of a deal are one observation. The run needs `[probes]`.

- **Tempo**: what a player ends with when it starts a round, minus the mean of what it ends with when each other player
  does, averaged over all players of all games that reach the round. Nobody's floor line is touched.
- **Decision value**: what the strategy's best move that takes the marker leads to, minus what its best other move leads
  to, both best by its own score, in decisions in which both are possible. It is the sum of a tempo part (against the
  same move, but the next round started by whoever would have started it otherwise) and the rest: tiles, denial, price.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from azulsim.metrics._estimate import ESTIMATE_NUMBERS, correlate, describe_estimate, estimate, read_crossing
from azulsim.metrics._roots import PARTS, UNITS, Kind, has_probes, sum_decisions, sum_starts
from azulsim.metrics._tables import Lineups, Outcome, Sums, collect, describe_rules
from azulsim.metrics.games import BY
from azulsim.rules import Rules
from azulsim.stats import Crossing, estimate_crossing, estimate_share_above

if TYPE_CHECKING:
    from azulsim.log import Run

IMMEDIATE = ("less", "equal", "more")
"""What taking scores at once, against the best other move: values of the key `immediate`."""
MOST_TILES, MOST_FLOOR = 5, 4

Weights = Literal["decisions", "games"]


def tempo_values(
    run: Run,
    by: Sequence[str] = (*BY, "round"),
    *,
    against: Literal["others", "next"] = "others",
    holder_only: bool = False,
    lineups: Lineups = "all",
    most: int = 8,
) -> pd.DataFrame:
    """Estimate what it is worth to start a round: outcomes `win_share`, `margin` and `score`, as differences.

    Parameters
    ----------
    by
        Columns that form the groups; besides the usual ones `round` (all from `most` on are together in the row
        `most`). Without it every round that was begun counts once, so that early rounds weigh as much as late ones.
    against
        `"others"`: against the mean over all other players starting (the primary estimand); `"next"`: against the next
        seat starting.
    holder_only
        True to average over the players who start the round in the game itself, instead of over all players.
    lineups, most
        As in `takings`.
    """
    outcomes = [Outcome(name, f"{name}_{against}", unit, f"{name} gained by starting") for name, unit in UNITS.items()]
    sums = collect(
        run,
        outcomes,
        by,
        lineups=lineups,
        where="is_holder" if holder_only else "true",
        base="started",
        tables=sum_starts(run),
        extra={"round": f"least(round, {int(most)})"},
    )
    return estimate(sums, outcomes, signed=True)


def decision_values(
    run: Run,
    by: Sequence[str] = BY,
    *,
    weights: Weights = "decisions",
    lineups: Lineups = "all",
    most: int = 8,
) -> pd.DataFrame:
    """Estimate what it is worth to take the marker rather than not, where both are possible.

    The frame has a column `part`: `value`, and the two parts it is the sum of, `tempo` and `rest`.

    Parameters
    ----------
    by
        Columns that form the groups, of the player who decides; besides the usual ones `round` (all from `most` on
        together), `tiles` (that come with the marker), `floor` (spaces filled before), `price` (of the marker's space),
        `took` (whether the player takes it in the game) and `immediate` (whether taking scores less, equal or more at
        once).
    weights
        `"decisions"`: every such decision of every game counts the same, so that a root stands for n_choices / roots
        drawn in its game; `"games"`: every game counts the same.
    """
    columns = {part: f"{{name}}_{part}" for part in PARTS}
    return _estimate_decisions(run, "part", columns, by, weights=weights, lineups=lineups, most=most)


def decision_losses(run: Run, by: Sequence[str] = BY, *, lineups: Lineups = "all", most: int = 8) -> pd.DataFrame:
    """Estimate what is lost by deciding as the strategy does instead of by what the continuations tell.

    Column `bound`: `low` splits the continuations in two halves and chooses by one, values by the other, which no
    decision that rests on noise can gain from, but which finds only part of what there is; `high` chooses and values
    by all of them, which noise inflates. What really is lost lies between, but for the interval of each.
    Outcomes and keys as in `decision_values`, every decision counting the same.
    """
    columns = {bound: f"{{name}}_{bound}_loss" for bound in ("low", "high")}
    return _estimate_decisions(run, "bound", columns, by, lineups=lineups, most=most)


def decision_signs(run: Run, by: Sequence[str] = BY, *, lineups: Lineups = "all", most: int = 8) -> pd.DataFrame:
    """Estimate in how many decisions taking the marker is right: the share of roots whose true value is above 0.

    Column `noise`: `ignored` for the values as seen, whose noise draws the share towards one half; `corrected` for that
    of the true values (`azulsim.stats.estimate_share_above`). Ties count half, every root counts the same. The column
    `reliability` is the part of the variance of the values seen that is no noise; where it may be none, the corrected
    share has the interval 0 to 1. Outcomes say by what it is judged.
    """
    columns = [f"{name}_{number}" for name in UNITS for number in ("value", "error")]
    outcomes = [Outcome(column, column, "", "") for column in [*columns, "n"]]
    sums = _collect_decisions(run, outcomes, [*by, "root"], lineups=lineups, most=most)
    keys = [str(name) for name in sums.keys if name != "root"]
    by_root = sums.keys[keys].iloc[sums.group].reset_index(drop=True)
    rows = []
    for values, places in by_root.groupby(keys, observed=True, sort=False).indices.items():
        part = sums.total[places]
        for k, name in enumerate(UNITS):
            known = sums.count[places, 2 * k + 1] > 0
            if known.any():
                found = estimate_share_above(
                    part[known, 2 * k], part[known, 2 * k + 1], sums.deal[places][known], df=part[known, -1].min() - 1
                )
                head = (*(values if isinstance(values, tuple) else (values,)), name, "share")
                whole = {"low": found.corrected.low, "high": found.corrected.high, "mde": found.corrected.mde}
                rows += [
                    (*head, "ignored", found.reliability, describe_estimate(found.naive)),
                    (*head, "corrected", found.reliability, {**describe_estimate(found.corrected), **whole}),
                ]
    frame = pd.DataFrame([row[:-1] for row in rows], columns=[*keys, "outcome", "unit", "noise", "reliability"])
    numbers = pd.DataFrame([row[-1] for row in rows], columns=ESTIMATE_NUMBERS)
    frame = pd.concat([frame, numbers], axis=1).astype({name: sums.keys[name].dtype for name in keys})
    return frame[[*keys, "noise", "outcome", "unit", *ESTIMATE_NUMBERS, "reliability"]]


def arm_correlations(run: Run, by: Sequence[str] = BY, *, lineups: Lineups = "all", most: int = 8) -> pd.DataFrame:
    """Estimate how alike continued games are that share their luck: the part of the noise that common luck saves.

    Column `kind`: for `tempo` the correlation between what a player ends with when it starts and the mean of what it
    ends with when others do; for `decision` that between taking and the other move; each over the continuations of a
    root. Near 0, arms have nothing in common, and independent luck would have told as much. `by` may name `round`.
    """
    parts = []
    kinds: dict[Kind, tuple[str, Callable[[Run], str]]] = {
        "tempo": ("started", sum_starts),
        "decision": ("decided", sum_decisions),
    }
    for kind, (base, prepare) in kinds.items():
        if not has_probes(run, kind):
            continue
        for name in UNITS:
            columns = ("0.0", "0.0", f"{name}_xx", f"{name}_yy", f"{name}_xy")
            moments = [Outcome(sql, sql, "", "", per="n") for sql in columns]
            sums = collect(
                run,
                moments,
                by,
                lineups=lineups,
                base=base,
                tables=prepare(run),
                extra={"round": f"least(round, {int(most)})"},
            )
            parts.append(correlate(sums, Outcome(name, "", "correlation", ""), is_squared=False).assign(kind=kind))
    if not parts:
        sum_decisions(run)  # says that nothing was probed
    frame = pd.concat(parts, ignore_index=True)
    keys = [str(name) for name in frame.columns[: frame.columns.get_loc("outcome")]]
    frame = frame.sort_values(["kind", *keys], ascending=[False, *[True] * len(keys)], kind="stable")
    return frame[["kind", *frame.columns[:-1]]].reset_index(drop=True)


def fair_prices(run: Run, by: Sequence[str] = BY, *, lineups: Lineups = "all") -> pd.DataFrame:
    """Estimate the fixed price of the marker at which the decision value is 0, in a run that varies `marker_cost`.

    Prices are those of the rule, so that the strategies know them and play by them. Between two whole prices that were
    tried the value is taken to be a straight line; nothing is extrapolated (`azulsim.stats.estimate_crossing`).

    Returns
    -------
    DataFrame
        A row a group and outcome that is to be 0; `estimate`, `low` and `high` in points (NaN where no price tried is
        fair; the estimate also where none is excluded), `least` and `greatest` price tried, `is_open_below` and
        `is_open_above` where the interval reaches them,
        `text` that says it all, `n_deals` and `note`. Empty if fewer than two prices were tried.
    """
    costs = {}
    for cell in run.manifest.cells:
        if cell.rules.marker_cost != "floor":
            rest = cell.rules.model_copy(update={"marker_cost": Rules().marker_cost})
            costs[describe_rules(cell.rules)] = (describe_rules(rest), float(cell.rules.marker_cost))
    columns = {name: f"{name}_value" for name in UNITS}
    sums = _collect_decisions(run, _weigh(columns, UNITS), [*by, "rules"], lineups=lineups)
    keys = [str(name) for name in sums.keys if name != "rules"]
    groups = sums.keys.assign(rules=sums.keys["rules"].astype(str))
    groups = groups[groups["rules"].isin(list(costs))]
    groups["other_rules"] = [costs[label][0] for label in groups["rules"]]
    names = ["other_rules", *keys]
    rows = []
    for values, part in groups.groupby(names, observed=True, sort=False):
        price = pd.Series({group: costs[label][1] for group, label in part["rules"].items()})
        for k, name in enumerate(UNITS):
            inside = np.isin(sums.group, price.index) & (sums.count[:, k] > 0)
            at = price.loc[sums.group[inside]].to_numpy()
            if len(np.unique(at)) > 1:
                count = sums.count[inside, k]
                found = estimate_crossing(at, sums.total[inside, k] / count, sums.deal[inside], weights=count)
                rows.append((*values, name, "points", *_list_crossing(found)))
    frame = pd.DataFrame(rows, columns=[*names, "outcome", "unit", *_CROSSING])
    frame = frame.astype({name: sums.keys[name].dtype for name in keys})
    return frame if frame["other_rules"].nunique() > 1 else frame.drop(columns="other_rules")


_CROSSING = [
    "estimate",
    "low",
    "high",
    "least",
    "greatest",
    "is_open_below",
    "is_open_above",
    "text",
    "n_deals",
    "note",
]


def _list_crossing(found: Crossing) -> tuple[object, ...]:
    tried = (float(found.factor[0]), float(found.factor[-1]))
    return (
        *read_crossing(found),
        *tried,
        found.is_open_below,
        found.is_open_above,
        str(found),
        found.n_clusters,
        found.note,
    )


# From the sums


def _collect_decisions(
    run: Run,
    outcomes: Sequence[Outcome],
    by: Sequence[str],
    *,
    weights: Weights = "decisions",
    lineups: Lineups = "all",
    most: int = 8,
) -> Sums:
    sums = collect(
        run,
        outcomes,
        by,
        lineups=lineups,
        base="decided",
        tables=sum_decisions(run, "n_choices::DOUBLE" if weights == "decisions" else "1.0"),
        extra={
            "round": f"least(round, {int(most)})",
            "tiles": f"least(tiles, {MOST_TILES})",
            "floor": f"least(floor, {MOST_FLOOR})",
            **{name: name for name in ("price", "took", "immediate", "root")},
        },
    )
    if "immediate" in sums.keys:
        words = pd.Categorical([IMMEDIATE[sign + 1] for sign in sums.keys["immediate"]], IMMEDIATE)
        return replace(sums, keys=sums.keys.assign(immediate=words))
    return sums


def _weigh(columns: Mapping[str, str], units: Mapping[str, str]) -> list[Outcome]:
    """Make outcomes whose means weigh each root by the number of decisions it stands for."""
    return [
        Outcome(name, f"{sql} * weight", units[name], "", per=f"CASE WHEN {sql} IS NOT NULL THEN weight END")
        for name, sql in columns.items()
    ]


def _estimate_decisions(
    run: Run,
    label: str,
    columns: Mapping[str, str],
    by: Sequence[str],
    *,
    weights: Weights = "decisions",
    lineups: Lineups,
    most: int,
) -> pd.DataFrame:
    """Estimate columns of `decided`, for each level of `label` one that is named by outcome."""
    named = {f"{level} {name}": text.format(name=name) for level, text in columns.items() for name in UNITS}
    outcomes = _weigh(named, {key: UNITS[key.split()[1]] for key in named})
    sums = _collect_decisions(
        run, [*outcomes, Outcome("roots", "1", "roots", "")], by, weights=weights, lineups=lineups, most=most
    )
    frame = estimate(_drop_last(sums), outcomes, signed=True)
    counts = np.bincount(sums.group, sums.count[:, -1], len(sums.keys)).astype(np.int64)
    frame["n"] = np.repeat(counts, len(outcomes))
    words = frame["outcome"].str.split(" ")
    frame[label], frame["outcome"] = pd.Categorical(words.str[0], list(columns)), words.str[1]
    keys = [str(name) for name in sums.keys]
    return frame[[*keys, label, *frame.columns[len(keys) : -1]]]


def _drop_last(sums: Sums) -> Sums:
    return replace(sums, outcomes=sums.outcomes[:-1], count=sums.count[:, :-1], total=sums.total[:, :-1])
