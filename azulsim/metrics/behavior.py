"""How a strategy plays, whatever comes of it: its fingerprint, its wall, where its points come from, who plays alike.

Frames are as in `azulsim.metrics.games`. Behavior depends on the field too: who else sits at the table leaves other
tiles. So compare only strategies that met the same others.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from azulsim.metrics._estimate import ESTIMATE_NUMBERS, describe_estimate, estimate, scatter_influence
from azulsim.metrics._tables import Lineups, Outcome, Sums, choose_by_cell, collect, require_depth
from azulsim.metrics.games import BY, OUTCOMES
from azulsim.metrics.marker import offers_sql
from azulsim.stats import estimate_distances

if TYPE_CHECKING:
    from azulsim.log import Run

LINES = range(1, 6)

FINGERPRINT: dict[str, Outcome] = {
    outcome.name: outcome
    for outcome in (
        Outcome("center", "n_center", "share", "Moves that take from the center.", per="n_moves"),
        Outcome("tiles", "n_tiles", "tiles", "Tiles taken with a move.", per="n_moves"),
        Outcome("accepts", "n_taken", "share", "Offers of the marker that are accepted.", per="n_offers"),
        Outcome("holds", "n_held", "share", "Rounds in which it takes the marker.", per="n_rounds"),
        Outcome("waste", "n_overflow", "share", "Tiles taken that fall to the floor line.", per="n_tiles"),
        Outcome("fallen", "n_overflow", "tiles", "Tiles that fall to the floor line in a round.", per="n_rounds"),
        Outcome("floor_moves", "n_floor_moves", "share", "Moves that put all tiles on the floor line.", per="n_moves"),
        Outcome(
            "completes", "n_done", "share", "Moves to a pattern line that complete it.", per="n_moves - n_floor_moves"
        ),
        *(
            Outcome(
                f"line_{k}",
                f"on_line[{k}]",
                "share",
                f"Tiles put on pattern lines that go to line {k}.",
                per="n_tiles - n_overflow",
            )
            for k in LINES
        ),
        Outcome("open_lines", "n_open", "lines", "Pattern lines with tiles on them when the game is over."),
        Outcome("stranded", "n_stranded", "tiles", "Tiles on such lines."),
        Outcome("tile_points", "wall_points", "points", "Points scored for a tile placed on the wall.", per="n_done"),
        *(OUTCOMES[name] for name in ("rows", "columns", "colors")),
        Outcome("ends", "is_ender::INT", "share", "Games that it ends by completing a row."),
        Outcome("denies", "n_denied", "share", "Moves that cost the next player points.", per="n_known"),
    )
}
"""What `fingerprints` measures, by name; `denies` only in runs that log denial."""


def list_traits(run: Run) -> list[str]:
    """List the outcomes of `FINGERPRINT` that the run can tell of."""
    return [name for name in FINGERPRINT if name != "denies" or run.manifest.experiment.get("denial")]


def fingerprints(run: Run, by: Sequence[str] = BY, *, lineups: Lineups = "all") -> pd.DataFrame:
    """Estimate how a strategy plays: the outcomes of `FINGERPRINT`. Needs depth `moves`."""
    sums = _collect_traits(run, tuple(by), lineups)
    return estimate(sums, [FINGERPRINT[name] for name in sums.outcomes])


def distances(run: Run, by: Sequence[str] = ("players",), *, lineups: Lineups = "all") -> pd.DataFrame:
    """Estimate how differently each two strategies play: the distance of their fingerprints. Needs depth `moves`.

    Each trait counts in standard deviations of the field; the distance is the root of the mean of the squared
    differences, from which the part that noise puts there is taken off. See `azulsim.stats.estimate_distances`.

    Returns
    -------
    DataFrame
        A row a group and ordered pair of `spec` and `other`, with the outcome `distance`; two names of the same play
        have an interval that begins at 0.
    """
    sums = _collect_traits(run, (*by, "spec"), lineups)
    outer = [str(name) for name in sums.keys if name != "spec"]
    means, influence = scatter_influence(sums)
    parts = []
    for keys, rows in sums.keys.groupby(outer, sort=False, observed=True):
        places = rows.index.to_numpy()
        deals = influence[:, places].any(axis=(1, 2))
        known = np.isfinite(means[places]).all(axis=0)
        found = estimate_distances(means[places][:, known], influence[np.ix_(deals, places, known)])
        for a, b in combinations(range(len(places)), 2):
            pair = describe_estimate(found.get(a, b))
            for one, two in ((a, b), (b, a)):
                parts.append(
                    {
                        **dict(zip(outer, keys, strict=True)),
                        "spec": rows["spec"].iloc[one],
                        "other": rows["spec"].iloc[two],
                        "outcome": "distance",
                        "unit": "sd",
                        **pair,
                    }
                )
    frame = pd.DataFrame(parts, columns=[*outer, "spec", "other", "outcome", "unit", *ESTIMATE_NUMBERS])
    types = {name: sums.keys[name].dtype for name in outer}
    specs = sums.keys["spec"].dtype
    return frame.astype({**types, "spec": specs, "other": specs})


def point_sources(run: Run, by: Sequence[str] = BY, *, lineups: Lineups = "all") -> pd.DataFrame:
    """Estimate where the points of a seat come from in a game.

    Outcomes: `wall_points`, `row_bonus`, `column_bonus`, `color_bonus`, and `floor`, what the floor line took (0 or
    less). Their sum is the score, but for points that the rules give to starters.
    """
    outcomes = _point_outcomes(run)
    return estimate(collect(run, outcomes, by, lineups=lineups), outcomes)


def _point_outcomes(run: Run) -> list[Outcome]:
    cells = run.manifest.cells
    bonuses = {
        kind: choose_by_cell({cell.index: str(getattr(cell.rules.bonus, kind)) for cell in cells})
        for kind in ("row", "column", "color")
    }
    return [
        OUTCOMES["wall_points"],
        *(
            Outcome(f"{kind}_bonus", f'"{kind}s" * ({points})', "points", f"Bonus for complete {kind}s.")
            for kind, points in bonuses.items()
        ),
        Outcome("floor", "-floor_paid", "points", "Points that the floor line took."),
    ]


def wall_occupancy(run: Run, by: Sequence[str] = BY, *, lineups: Lineups = "all") -> pd.DataFrame:
    """Estimate how often each space of the wall holds a tile at the end. Needs depth `rounds`.

    Returns
    -------
    DataFrame
        A row a group and space, `row` and `column` counted from 1, with the outcome `occupied`.
    """
    require_depth(run, "rounds", "wall_occupancy")
    outcomes = [
        Outcome(f"{row}{column}", f"(wall >> {5 * row + column - 6}) & 1", "share", f"Row {row}, column {column}.")
        for row in LINES
        for column in LINES
    ]
    tables = f"{_TILING}, walled AS (FROM played JOIN tiling USING (game, seat))"
    frame = estimate(collect(run, outcomes, by, lineups=lineups, base="walled", tables=tables), outcomes)
    place = frame["outcome"].astype(int)
    at = list(frame.columns).index("outcome")
    frame.insert(at, "row", place // 10)
    frame.insert(at + 1, "column", place % 10)
    return frame.assign(outcome="occupied")


@lru_cache(maxsize=4)
def _collect_traits(run: Run, by: tuple[str, ...], lineups: Lineups) -> Sums:
    """Sum traits by group and deal; kept for a while, because fingerprints and distances need the same sums."""
    require_depth(run, "moves", "fingerprints")
    traits = [FINGERPRINT[name] for name in list_traits(run)]
    tables = f"{offers_sql(run, ())}, {_TILING}, {_ACTING}"
    return collect(run, traits, by, lineups=lineups, base="acted", tables=tables)


_TILED = [f"((tiled >> {6 * (row - 1)}) & 63)" for row in LINES]
_SPACES = " | ".join(
    f"(CASE WHEN {tiled} > 0 THEN 1 << ({5 * row - 6} + ({tiled} & 7)) ELSE 0 END)"
    for row, tiled in zip(LINES, _TILED, strict=True)
)
_TILING = f"""
    tiling AS (
        SELECT game, seat, count(*) AS n_rounds, count(*) FILTER (holder = seat) AS n_held, bit_or({_SPACES}) AS wall,
            [{", ".join(f"count(*) FILTER ({tiled} > 0)" for tiled in _TILED)}] AS done
        FROM rounds GROUP BY game, seat
    )"""
_ACTING = f"""
    acts AS (
        SELECT game, seat, count(*) AS n_moves, count(*) FILTER (source = 0) AS n_center,
            count(*) FILTER (line = 0) AS n_floor_moves, sum(tiles) AS n_tiles, sum(overflow) AS n_overflow,
            [{", ".join(f"coalesce(sum(placed) FILTER (line = {k}), 0)" for k in LINES)}] AS on_line,
            count(denial) AS n_known, count(*) FILTER (denial > 0) AS n_denied
        FROM moves GROUP BY game, seat
    ),
    acted AS (
        SELECT played.*, acts.* EXCLUDE (game, seat), tiling.* EXCLUDE (game, seat), n_offers, n_taken,
            list_sum(done) AS n_done,
            {" + ".join(f"(on_line[{k}] > {k} * done[{k}])::INT" for k in LINES)} AS n_open,
            {" + ".join(f"(on_line[{k}] - {k} * done[{k}])" for k in LINES)} AS n_stranded
        FROM played JOIN acts USING (game, seat) JOIN tiling USING (game, seat) LEFT JOIN offers USING (game, seat)
    )"""
