"""Which strategy is better: win shares, ratings and the pairwise matrix, from games between different strategies.

Frames are as in `azulsim.metrics.games`. Games in which one strategy holds all seats say nothing here and are
left out. A ranking holds for the field it was played in: who else sits at the table is part of the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from azulsim.metrics._estimate import (
    ESTIMATE_NUMBERS,
    contrast,
    describe_estimate,
    estimate,
    scatter_influence,
    select_groups,
)
from azulsim.metrics._tables import Outcome, Sums, collect, list_cells
from azulsim.metrics.games import BY, OUTCOMES
from azulsim.stats import assess_cycles, estimate_ranks, fit_ratings

if TYPE_CHECKING:
    from azulsim.log import Run


def strategy_results(run: Run, by: Sequence[str] = BY) -> pd.DataFrame:
    """Estimate win share, its multiple of the fair share (`times_fair`), score and margin of each strategy."""
    outcomes = [OUTCOMES["win_share"], _TIMES_FAIR, OUTCOMES["score"], OUTCOMES["margin"]]
    return estimate(collect(run, outcomes, by, lineups="mixed"), outcomes)


_TIMES_FAIR = Outcome(
    "times_fair", "win_share * players", "times", "Win share as a multiple of the fair share 1/players."
)


def leads(run: Run) -> pd.DataFrame:
    """Estimate the lead in win share of each strategy over the next one in rank (column `next`), by player count.

    Both meet on the same deals, so that the interval of the lead is not that of two independent means.
    """
    outcome = OUTCOMES["win_share"]
    sums = collect(run, [outcome], BY, lineups="mixed")
    ranked = estimate(sums, [outcome])
    parts = []
    for _, rows in ranked.groupby([str(name) for name in sums.keys if name != "spec"], sort=False, observed=True):
        order = rows.sort_values("estimate", ascending=False, kind="stable").index
        for better, worse in pairwise(order):
            pair = select_groups(sums, [better, worse])
            lead = contrast(pair, [outcome], "spec", lambda _: (1.0, -1.0))
            parts.append(lead.assign(spec=sums.keys["spec"][better], next=sums.keys["spec"][worse]))
    return pd.concat(parts, ignore_index=True) if parts else ranked.assign(next=ranked["spec"])


def ranks(run: Run) -> pd.DataFrame:
    """Rank the strategies by win share at each player count, with rank intervals that hold all at once (95 %).

    Returns
    -------
    DataFrame
        A row a player count and strategy, best first: `rank`, `rank_low` and `rank_high` (between which places it may
        be; who may have place 1 may be the best), `n_deals` and `note`. See `azulsim.stats.estimate_ranks`.
    """
    outcome = OUTCOMES["win_share"]
    sums = collect(run, [outcome], BY, lineups="mixed")
    parts = []
    for _, rows in sums.keys.groupby([str(name) for name in sums.keys if name != "spec"], sort=False, observed=True):
        group = select_groups(sums, rows.index.to_list())
        count = group.count[:, 0]
        means = group.total[:, 0] / count
        found = estimate_ranks(means, group.group, group.deal, sizes=count, n_labels=len(rows), rng=RANK_SEED)
        part = rows.assign(rank=found.rank, rank_low=found.low, rank_high=found.high)
        parts.append(part.assign(n_deals=found.n_clusters, note=found.note).sort_values("rank", kind="stable"))
    columns = [*sums.keys, "rank", "rank_low", "rank_high", "n_deals", "note"]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)


RANK_SEED = 0
"""Of the bootstrap behind rank intervals, so that the same run gives the same page."""


def payoffs(run: Run, by: Sequence[str] = BY) -> pd.DataFrame:
    """Estimate how often each strategy finishes ahead of each other one at the same table, ties counting half.

    Returns
    -------
    DataFrame
        A row a group of `by` and `opponent`, with the outcome `ahead`.
    """
    frame = estimate(collect_payoffs(run, by), [AHEAD])
    frame["opponent"] = pd.Categorical(frame["opponent"], categories=list(run.manifest.specs))
    return frame


AHEAD = Outcome(
    "ahead",
    "CASE WHEN placement < other_placement THEN 1 WHEN placement = other_placement THEN 0.5 ELSE 0 END",
    "share",
    "Meetings in which the strategy finishes ahead of the opponent.",
)


def collect_payoffs(run: Run, by: Sequence[str]) -> Sums:
    tables = """
    meetings AS (
        SELECT played.*, other.spec::VARCHAR AS opponent, other.placement AS other_placement
        FROM played JOIN games other ON other.game = played.game AND other.seat <> played.seat
        WHERE played.is_mixed AND other.spec::VARCHAR <> played.spec::VARCHAR
    )"""
    keys = [*by, "opponent"]
    return collect(run, [AHEAD], keys, base="meetings", tables=tables, lineups="mixed", extra={"opponent": "opponent"})


def cycles(run: Run) -> pd.DataFrame:
    """Estimate the cyclic share of who finishes ahead of whom (outcome `cyclic`), by player count.

    It is 0 if a strength a strategy explains all pairs, 1 if all is rock, paper, scissors; see
    `azulsim.stats.assess_cycles`. Player counts at which fewer than three strategies, or not all pairs, met are left
    out.
    """
    sums = collect_payoffs(run, BY)
    means, influence = scatter_influence(sums)
    outer = [str(name) for name in sums.keys if name not in ("spec", "opponent")]
    parts = []
    for keys, rows in sums.keys.groupby(outer, sort=False, observed=True):
        codes, names = pd.factorize(rows["spec"])
        others = names.get_indexer(pd.Index(rows["opponent"]))
        n, places = len(names), rows.index.to_numpy()
        if n < 3 or len(rows) < n * (n - 1):
            continue
        shares, meetings = np.zeros((n, n)), np.zeros((n, n))
        shares[codes, others] = means[places, 0]
        meetings[codes, others] = np.bincount(sums.group, sums.count[:, 0], len(sums.keys))[places]
        deals = influence[:, places, 0].any(axis=1)
        errors = np.zeros((int(deals.sum()), n, n))
        errors[:, codes, others] = influence[deals][:, places, 0]
        found = assess_cycles(shares, errors, meetings)
        part = describe_estimate(found)
        parts.append({**dict(zip(outer, keys, strict=True)), "outcome": "cyclic", "unit": "share", **part})
    columns = [*outer, "outcome", "unit", *ESTIMATE_NUMBERS]
    frame = pd.DataFrame(parts, columns=columns)
    return frame.astype({name: sums.keys[name].dtype for name in outer}) if parts else frame


def ratings(run: Run) -> pd.DataFrame:
    """Estimate the strength of each strategy in Elo (mean of the field = 0), one fit a player count that has games.

    The model is Plackett-Luce with ties and a term for each seat; intervals are robust to what games of a deal
    share. See `azulsim.stats.fit_ratings`. Where one strategy never lost to the rest no maximum exists; a prior is
    then used and `note` says so.
    """
    cells = list_cells(run)
    several_rules = cells["rules_code"].nunique() > 1
    parts = []
    for (label, players), group in cells[cells["lineup"] == "mixed"].groupby(["rules", "players"], sort=False):
        frame = _rate(run, [int(cell) for cell in group["cell"]])
        if frame is None:  # not played yet
            continue
        frame.insert(0, "players", int(str(players)))
        if several_rules:
            frame.insert(0, "rules", str(label))
        parts.append(frame)
    columns = ["players", "spec", "outcome", "unit", *ESTIMATE_NUMBERS]
    frame = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)
    return frame.sort_values([name for name in ("rules", "players") if name in frame], kind="stable", ignore_index=True)


def _rate(run: Run, cells: Sequence[int]) -> pd.DataFrame | None:
    """Rate the strategies that met in these cells; None if no game of them is there."""
    places = {spec: code for code, spec in enumerate(run.manifest.specs)}
    rows = run.fetch(
        f"SELECT game, seat, deal, placement, spec::VARCHAR AS spec FROM games "
        f"WHERE cell IN ({', '.join(map(str, cells))}) ORDER BY game, seat"
    )
    if rows.num_rows == 0:
        return None
    column = rows.column("spec").combine_chunks().dictionary_encode()
    words = column.dictionary.to_pylist()
    known = sorted(words, key=places.__getitem__)
    code = np.array([known.index(word) for word in words])[column.indices.to_numpy()]
    games, seats, deals, placements = (rows.column(name).to_numpy() for name in ("game", "seat", "deal", "placement"))
    fit = fit_ratings(games, code, placements, deals, seats=seats.astype(np.int64), n_players=len(known))
    elo = fit.elo
    return pd.DataFrame(
        {
            "spec": pd.Categorical(known, categories=list(run.manifest.specs)),
            "outcome": "elo",
            "unit": "Elo",
            "estimate": elo.value,
            "low": elo.low,
            "high": elo.high,
            "se": elo.se,
            "n": elo.n_rows,
            "n_deals": elo.n_clusters,
            "mde": elo.mde,
            "note": list(elo.note),
        }
    )
