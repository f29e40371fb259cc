"""Luck and skill: what an outcome varies with, what is decided when, and how long it takes to tell two players apart.

Frames are as in `azulsim.metrics.games`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from azulsim.errors import InputError
from azulsim.metrics._estimate import ESTIMATE_NUMBERS, describe_estimate, estimate
from azulsim.metrics._rounds import find_leads
from azulsim.metrics._tables import Lineups, Outcome, check_keys, describe_rules, list_cells
from azulsim.metrics.course import MOST_ROUNDS
from azulsim.metrics.games import BY
from azulsim.metrics.ranking import AHEAD, collect_payoffs
from azulsim.stats import estimate_known_shares, estimate_separation, estimate_variance_shares
from azulsim.stats.intervals import NO_VARIATION

if TYPE_CHECKING:
    from azulsim.log import Cell, Run

Array = npt.NDArray[Any]
Judge = Literal["win_share", "margin", "score"]
UNKNOWN = "not told apart in this run: no number of games is known to be enough"

VARIANCE: dict[str, Outcome] = {
    outcome.name: outcome
    for outcome in (
        Outcome("skill", "", "share", "Who plays: the mean of a strategy of the line-up over all seats."),
        Outcome("seat", "", "share", "Where one sits, alike for all strategies of the line-up."),
        Outcome("skill_seat", "", "share", "That some strategies gain more from a seat than others."),
        Outcome("luck", "", "share", "Which tiles are drawn, what suits whom of them, and decisions made by chance."),
    )
}
"""What `variance_shares` measures, by name; they add up to 1."""


def variance_shares(run: Run, by: Sequence[str] = ("players",), *, outcome: Judge = "win_share") -> pd.DataFrame:
    """Split the variance of an outcome among skill, seat, the two together, and luck: the outcomes of `VARIANCE`.

    Tiles and decisions made by chance are luck together: a run plays each deal once in each seating, so that it cannot
    tell them apart. Over the line-ups with different strategies that were seated in all rotations, averaged within each
    group; `lineup` in `by` gives each its own row (column `specs`). Skill is the spread of those who sat at the table:
    a field of more unequal players has more of it. See `azulsim.stats.estimate_variance_shares`.

    Parameters
    ----------
    by
        `players`, and `lineup` for each line-up by itself.
    outcome
        What varies: the win share, the margin or the score of a seat in a game.

    Returns
    -------
    DataFrame
        A row a group and outcome of `VARIANCE`; groups with fewer than three deals are left out.
    """
    for name in by:
        if name not in ("players", "lineup"):
            raise InputError(f"by = {name!r}: variance shares are taken by players and lineup")
    cells = [cell for cell in run.manifest.cells if len(set(cell.lineup)) > 1 and _list_rotations(cell)]
    several = list_cells(run)["rules_code"].nunique() > 1
    groups: dict[tuple[object, ...], list[Cell]] = {}
    for cell in cells:
        keys = ((describe_rules(cell.rules),) if several else (), (cell.players,), (", ".join(cell.lineup),))
        groups.setdefault(sum(keys if "lineup" in by else keys[:2], ()), []).append(cell)
    names = [*(["rules"] if several else []), "players", *(["specs"] if "lineup" in by else [])]
    rows = []
    for key, members in groups.items():
        table = _tabulate(run, members, outcome)
        if len(table) < 3 or np.ptp(table) == 0:
            continue
        found = estimate_variance_shares(table)
        parts = (found.get("skill"), found.get("seat"), found.get("skill x seat"), found.luck)
        for name, part in zip(VARIANCE, parts, strict=True):
            row = {**dict(zip(names, key, strict=True)), "outcome": name, "unit": "share", **describe_estimate(part)}
            if part.se == 0:
                row |= {"low": np.nan, "high": np.nan, "se": np.nan, "mde": np.nan}
            rows.append({**row, "note": "" if part.se else NO_VARIATION})
    return pd.DataFrame(rows, columns=[*names, "outcome", "unit", *ESTIMATE_NUMBERS])


def _list_rotations(cell: Cell) -> list[int]:
    """List the seatings that together bring each player of a line-up to each seat once; empty if they do not exist."""
    turned = [tuple((seat + r) % cell.players for seat in range(cell.players)) for r in range(cell.players)]
    places = {order: seating for seating, order in enumerate(cell.seatings)}
    return [places[order] for order in turned] if all(order in places for order in turned) else []


def _tabulate(run: Run, cells: Sequence[Cell], outcome: Judge) -> Array:
    """Return the outcome of each line-up's players in each seat: (deals, line-ups, players, seats)."""
    tables = [_read_cell(run, cell.index) for cell in cells]
    common = tables[0][0]
    for deals, _, _ in tables[1:]:
        common = np.intersect1d(common, deals, assume_unique=True)
    column = 1 if outcome == "win_share" else 2
    found = np.stack([table[column][np.searchsorted(table[0], common)] for table in tables], axis=1)
    if outcome != "margin":
        return found
    # Who else sat at the table when a player sat in a seat is found in the same rotation.
    n = cells[0].players
    for line_up, cell in enumerate(cells):
        for number in _list_rotations(cell):
            players, seats = list(cell.seatings[number]), list(range(n))
            found[:, line_up, players, seats] = find_leads(found[:, line_up, players, seats].T).T
    return found


@lru_cache(maxsize=1024)
def _read_cell(run: Run, index: int) -> tuple[Array, Array, Array]:
    """Return the deals of a cell, and win shares and scores by deal, player and seat, from its rotations."""
    cell = next(cell for cell in run.manifest.cells if cell.index == index)
    n = cell.players
    games = run.games(columns=["deal", "seating", "win_share", "score"], filters={"cell": index})
    deal, seating = (games[name].to_numpy(np.int64)[::n] for name in ("deal", "seating"))
    deals, code = np.unique(deal, return_inverse=True)
    tables = np.full((2, len(deals), n, n), np.nan)
    for table, name in zip(tables, ("win_share", "score"), strict=True):
        values = games[name].to_numpy(np.float64).reshape(-1, n)
        for number in _list_rotations(cell):
            mine = seating == number
            for seat, player in enumerate(cell.seatings[number]):
                table[code[mine], player, seat] = values[mine, seat]
    return deals, tables[0], tables[1]


def decided_by_round(
    run: Run,
    by: Sequence[str] = BY,
    *,
    outcome: Judge = "win_share",
    lineups: Lineups = "all",
    most: int = MOST_ROUNDS,
) -> pd.DataFrame:
    """Estimate how much of the outcome is decided when a round begins, from games continued again and again.

    What varies between continuations of a position (new tiles, new decisions) is not decided yet; the share of the
    variance between positions is. Games that were over before count no more. Needs `[probes]` with tempo roots and two
    continuations or more; see `azulsim.stats.estimate_known_shares`.

    Returns
    -------
    DataFrame
        A row a group, `round` (at whose start; up to `most`) and outcome `decided`; empty if the run has no such roots.
    """
    outer = [name for name in by if name not in ("players", "spec")]
    if outer:
        raise InputError(f"by = {outer[0]!r}: what is decided by a round is taken by players and spec")
    cells = list_cells(run)
    names = check_keys(run, by)
    columns = [*names, "round", "outcome", "unit", *ESTIMATE_NUMBERS]
    if not run.manifest.is_probed:
        return pd.DataFrame(columns=columns)
    chosen = cells if lineups == "all" else cells[cells["lineup"] == lineups]
    table = run.fetch(f"""
        SELECT p.cell, p.game, p.deal, p.round, p.seat, s.players, s.spec::VARCHAR AS spec, p.{outcome}::DOUBLE AS y
        FROM probes p JOIN roots r ON r.game = p.game AND r.kind = p.kind AND r.ply = p.ply JOIN seats s
            ON s.cell = p.cell AND s.seating = p.seating AND s.seat = p.seat
        WHERE p.kind = 'tempo' AND p.arm = r.seat AND p.continuation > 0 AND p.round <= {int(most)}
            AND p.cell IN ({", ".join(map(str, chosen["cell"])) or "-1"})
        QUALIFY count(*) OVER (PARTITION BY p.game, p.ply, p.seat) > 1
        ORDER BY p.game, p.round, p.seat, p.continuation""").to_pandas()
    table["spec"] = pd.Categorical(table["spec"], categories=list(run.manifest.specs))
    table["rules"] = pd.Categorical(
        table["cell"].map(cells.set_index("cell")["rules"]), categories=list(dict.fromkeys(cells["rules"]))
    )
    parts = []
    for keys, rows in table.groupby(names, observed=True, sort=True):
        numbers, code = np.unique(rows["round"], return_inverse=True)
        root = rows.groupby(["game", "round", "seat"], sort=False).ngroup()
        for number, found in zip(numbers, estimate_known_shares(rows["y"], code, root, rows["deal"]), strict=True):
            described = {"round": int(number), "outcome": "decided", "unit": "share", **describe_estimate(found)}
            parts.append({**dict(zip(names, keys, strict=True)), **described})
    return pd.DataFrame(parts, columns=columns).astype({name: table[name].dtype for name in names})


def games_to_tell(run: Run, by: Sequence[str] = BY) -> pd.DataFrame:
    """Estimate after how many deals, and games, the better of two strategies leads with a chance of 95 %.

    A deal is played as the run plays it: the two meet at one table in all seatings, which takes several games. See
    `azulsim.stats.estimate_separation`.

    Returns
    -------
    DataFrame
        As `payoffs`, for the pairs in which the strategy of the row is the better, with the columns `to_tell` (deals,
        at least one), `to_tell_low`, `to_tell_high` and `games` (`to_tell` times the meetings a deal). The upper end is
        missing, with a note, if the run did not tell the two apart.
    """
    sums = collect_payoffs(run, by)
    frame = estimate(sums, [AHEAD])
    parts = []
    for group in np.flatnonzero((frame["estimate"] > 0.5) & (frame["se"] > 0) & (frame["n_deals"] > 2)).tolist():
        mine = sums.group == group
        meetings = sums.count[mine, 0]
        found = estimate_separation(sums.total[mine, 0] / meetings - 0.5)
        ends = [np.nan if end is None else np.ceil(end) for end in (found.value, found.low, found.high)]
        unsure = "" if found.high is not None else UNKNOWN
        note = "; ".join(filter(None, [frame["note"][group], unsure]))
        parts.append((*ends, ends[0] * meetings.mean(), note, group))
    columns = ["to_tell", "to_tell_low", "to_tell_high", "games", "note", "group"]
    made = pd.DataFrame(parts, columns=columns).set_index("group")
    kept = frame.loc[made.index].assign(**{name: made[name] for name in columns[:-1]}).reset_index(drop=True)
    kept["opponent"] = pd.Categorical(kept["opponent"], categories=list(run.manifest.specs))
    return kept
