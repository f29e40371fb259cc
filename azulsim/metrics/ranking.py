"""Which strategy is better: win shares, ratings and the pairwise matrix, from games between different strategies.

Frames are as in `azulsim.metrics.games`. Games in which one strategy holds all seats say nothing here and are
left out. A ranking holds for the field it was played in: who else sits at the table is part of the result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
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
from azulsim.stats import (
    ELO_SCALE,
    Ratings,
    assess_cycles,
    assess_fit,
    estimate_nash,
    estimate_ranks,
    fit_ratings,
)

if TYPE_CHECKING:
    from azulsim.log import Run

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


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
        be; who may have place 1 may be the best), `lead`, `lead_low` and `lead_high` (win share less that of the best
        of the others, with a joint interval), `n_deals` and `note`. See `azulsim.stats.estimate_ranks`.
    """
    outcome = OUTCOMES["win_share"]
    sums = collect(run, [outcome], BY, lineups="mixed")
    parts = []
    for _, rows in sums.keys.groupby([str(name) for name in sums.keys if name != "spec"], sort=False, observed=True):
        group = select_groups(sums, rows.index.to_list())
        count = group.count[:, 0]
        means = group.total[:, 0] / count
        found = estimate_ranks(
            means.clip(0.0, 1.0),
            group.group,
            group.deal,
            sizes=count,
            n_labels=len(rows),
            bounds=(0.0, 1.0),
            rng=RANK_SEED,
        )
        part = rows.assign(rank=found.rank, rank_low=found.low, rank_high=found.high)
        ahead = [found.lead(label) for label in range(len(rows))]
        part = part.assign(**{f"lead{end}": [getattr(one, name) for one in ahead] for end, name in LEAD_ENDS.items()})
        parts.append(part.assign(n_deals=found.n_clusters, note=found.note).sort_values("rank", kind="stable"))
    columns = [*sums.keys, "rank", "rank_low", "rank_high", *(f"lead{end}" for end in LEAD_ENDS), "n_deals", "note"]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)


LEAD_ENDS = {"": "value", "_low": "low", "_high": "high"}
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
    parts = []
    for keys, names, shares, errors, meetings in _each_matrix(sums):
        if len(names) >= 3:
            found = describe_estimate(assess_cycles(shares, errors, meetings))
            parts.append({**keys, "outcome": "cyclic", "unit": "share", **found})
    return _tidy(sums, parts, _outer_keys(sums))


def nash_averages(run: Run) -> pd.DataFrame:
    """Estimate how good each strategy is against the mixture of strategies that none beats, by player count.

    The outcome `nash_skill` is Elo against that mixture, 0 for who belongs to it; `nash_weight` is its part in the
    mixture. Neither changes when a strategy is entered twice or a weak one is added; see `azulsim.stats.estimate_nash`.
    Player counts at which not all pairs met are left out.
    """
    sums = collect_payoffs(run, BY)
    parts = []
    for keys, names, shares, errors, meetings in _each_matrix(sums):
        found = estimate_nash(shares, errors, meetings, rng=RANK_SEED)
        for name, skill, weight in zip(names, found.skill, found.weight, strict=True):
            row = {**keys, "spec": name}
            elo = {number: getattr(skill, number) * ELO_SCALE for number in ("value", "low", "high", "se", "mde")}
            skill = replace(skill, **elo)
            parts.append({**row, "outcome": "nash_skill", "unit": "Elo", **describe_estimate(skill)})
            parts.append({**row, "outcome": "nash_weight", "unit": "share", **describe_estimate(weight)})
    return _tidy(sums, parts, [*_outer_keys(sums), "spec"])


Matrices = tuple[dict[str, object], list[str], FloatArray, FloatArray, FloatArray]


def _each_matrix(sums: Sums) -> Iterator[Matrices]:
    """Yield, for each player count at which all pairs met: keys, strategies, shares, their errors by deal, meetings."""
    means, influence = scatter_influence(sums)
    outer = _outer_keys(sums)
    for keys, rows in sums.keys.groupby(outer, sort=False, observed=True):
        codes, names = pd.factorize(rows["spec"])
        others = names.get_indexer(pd.Index(rows["opponent"]))
        n, places = len(names), rows.index.to_numpy()
        if len(rows) < n * (n - 1):
            continue
        shares, meetings = np.zeros((n, n)), np.zeros((n, n))
        shares[codes, others] = means[places, 0]
        meetings[codes, others] = np.bincount(sums.group, sums.count[:, 0], len(sums.keys))[places]
        deals = influence[:, places, 0].any(axis=1)
        errors = np.zeros((int(deals.sum()), n, n))
        errors[:, codes, others] = influence[deals][:, places, 0]
        yield dict(zip(outer, keys, strict=True)), list(names), shares, errors, meetings


def _outer_keys(sums: Sums) -> list[str]:
    return [str(name) for name in sums.keys if name not in ("spec", "opponent")]


def _tidy(sums: Sums, parts: list[dict[str, object]], keys: list[str]) -> pd.DataFrame:
    """Make a frame of rows with the keys' own types."""
    frame = pd.DataFrame(parts, columns=[*keys, "outcome", "unit", *ESTIMATE_NUMBERS])
    return frame.astype({name: sums.keys[name].dtype for name in keys}) if parts else frame


def ratings(run: Run) -> pd.DataFrame:
    """Estimate the strength of each strategy in Elo (mean of the field = 0), one fit a player count that has games.

    The model is Plackett-Luce with ties and a term for each seat; intervals are robust to what games of a deal
    share. See `azulsim.stats.fit_ratings`. Where one strategy never lost to the rest no maximum exists; a prior is
    then used and `note` says so.
    """
    parts = []
    for (keys, known, _), fit in zip(_each_field(run), _fit_fields(run), strict=True):
        elo = fit.elo
        numbers = {
            "estimate": elo.value,
            "low": elo.low,
            "high": elo.high,
            "se": elo.se,
            "n": elo.n_rows,
            "n_deals": elo.n_clusters,
            "mde": elo.mde,
            "note": list(elo.note),
        }
        spec = pd.Categorical(known, categories=list(run.manifest.specs))
        parts.append(pd.DataFrame({**keys, "spec": spec, "outcome": "elo", "unit": "Elo", **numbers}))
    return _join(parts, ["players", "spec", "outcome", "unit", *ESTIMATE_NUMBERS])


def rating_fits(run: Run) -> pd.DataFrame:
    """Test whether the ratings fit: who finishes ahead of whom as seen, against what the ratings say.

    Returns
    -------
    DataFrame
        A row a player count: `misfit`, the root mean square over pairs of observed less implied share, freed of noise;
        `p_value` of the worst pair, corrected for their number; that pair (`spec`, `opponent`) with its `observed` and
        `implied` share, the error of their difference `se`, and `z`; `n_deals` and `note`. See
        `azulsim.stats.assess_fit`.
    """
    parts = []
    for (keys, known, columns), fit in zip(_each_field(run), _fit_fields(run), strict=True):
        found = assess_fit(fit, *columns[:4], seats=columns[4])
        row, column = np.unravel_index(int(found.z.argmax()), found.z.shape)
        pair = {"spec": known[row], "opponent": known[column]}
        cell = {name: getattr(found, name)[row, column] for name in ("observed", "implied", "se", "z")}
        whole = {"misfit": found.misfit, "p_value": found.p_value}
        rest = {"n_deals": found.n_clusters, "note": found.note}
        parts.append(pd.DataFrame([{**keys, **whole, **pair, **cell, **rest}]))
    numbers = ["misfit", "p_value", "spec", "opponent", "observed", "implied", "se", "z", "n_deals", "note"]
    return _join(parts, ["players", *numbers])


def _join(parts: list[pd.DataFrame], columns: list[str]) -> pd.DataFrame:
    frame = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)
    return frame.sort_values([name for name in ("rules", "players") if name in frame], kind="stable", ignore_index=True)


Field = tuple[dict[str, object], list[str], tuple[IntArray, ...]]


def _each_field(run: Run) -> Iterator[Field]:
    """Yield, for each player count that was played: keys, strategies, and (game, strategy, placement, deal, seat)."""
    cells = list_cells(run)
    several_rules = cells["rules_code"].nunique() > 1
    places = {spec: code for code, spec in enumerate(run.manifest.specs)}
    for (label, players), group in cells[cells["lineup"] == "mixed"].groupby(["rules", "players"], sort=False):
        rows = run.fetch(
            f"SELECT game, seat, deal, placement, spec::VARCHAR AS spec FROM games "
            f"WHERE cell IN ({', '.join(str(int(cell)) for cell in group['cell'])}) ORDER BY game, seat"
        )
        if rows.num_rows == 0:  # not played yet
            continue
        column = rows.column("spec").combine_chunks().dictionary_encode()
        words = column.dictionary.to_pylist()
        known = sorted(words, key=places.__getitem__)
        code = np.array([known.index(word) for word in words])[column.indices.to_numpy()]
        game, seat, deal, placement = (rows.column(name).to_numpy() for name in ("game", "seat", "deal", "placement"))
        keys = {**({"rules": str(label)} if several_rules else {}), "players": int(str(players))}
        yield keys, known, (game, code, placement, deal, seat.astype(np.int64))


@lru_cache(maxsize=2)
def _fit_fields(run: Run) -> list[Ratings]:
    """Fit the ratings of each field; kept for a while, because more than one table is made of them."""
    return [
        fit_ratings(games, code, placements, deals, seats=seats, n_players=len(known))
        for _, known, (games, code, placements, deals, seats) in _each_field(run)
    ]
