"""One outcome of one player, deal by deal, as plain arrays: what planning and stopping go by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from azulsim.errors import InputError
from azulsim.log.manifest import Cell, OutcomeName
from azulsim.log.read import Run
from azulsim.rules import Termination

GAME_OUTCOMES = (
    "winner_score",
    "score",
    "winning_margin",
    "rounds",
    "plies",
    "floor_paid",
    "bonus_points",
    "tied",
    "ender_wins",
    "short_games",
    "seat_0_win_share",
    "seat_1_win_share",
    "seat_2_win_share",
    "seat_3_win_share",
)
"""Outcomes of a game by which sets of rules are compared; `azulsim.metrics.rule_differences` estimates them."""

BOUNDS: dict[OutcomeName, tuple[float, float] | None] = {"win_share": (0.0, 1.0), "margin": None, "score": None}
"""Least and greatest value that an outcome can take."""

FINISHED = "termination <> 'FORFEIT'"
"""Which rows of `games` are of games that ended by the rules: a forfeited one has winners, and nothing else counts."""

# Twelve times a win share of 1/1 to 1/4 is whole, so that sums do not depend on the order in which rows are added.
_WHOLE = {
    "win_share": "round(12 * win_share)::BIGINT",
    "margin": "12 * (score::BIGINT - max(score) OVER (PARTITION BY game ROWS BETWEEN UNBOUNDED PRECEDING AND "
    "UNBOUNDED FOLLOWING EXCLUDE CURRENT ROW))",
    "score": "12 * score::BIGINT",
}


def follow_seats(cell: Cell) -> list[tuple[int, int]]:
    """Return the seating and seat of everyone whose outcome is followed in a cell.

    It is the first strategy of the line-up, in all its seats; if all are the same strategy, it is seat 0.
    """
    is_self_play = len(set(cell.lineup)) == 1
    return [
        (seating, seat)
        for seating, order in enumerate(cell.seatings)
        for seat in range(len(order))
        if (seat == 0 if is_self_play else cell.spec_at(seating, seat) == cell.lineup[0])
    ]


def sum_outcome(
    games: npt.NDArray[Any] | Mapping[str, npt.NDArray[Any]], cell: Cell, outcome: OutcomeName
) -> tuple[int, float, float]:
    """Return number, sum and sum of squares of what `read_outcome` reads of one cell, from its rows in memory.

    Parameters
    ----------
    games
        Rows of the table `games` in canonical order, of whole deals, or its columns.

    Raises
    ------
    ValueError
        If the rows are not those of whole deals of the cell.
    """
    name = "win_share" if outcome == "win_share" else "score"
    values = games[name].reshape(-1, len(cell.seatings), cell.players)
    is_over = (games["termination"] != Termination.FORFEIT).reshape(values.shape)
    total, count = np.zeros(len(values)), np.zeros(len(values), np.int64)
    for seating, seat in follow_seats(cell):
        followed: npt.NDArray[Any] = values[:, seating, seat].astype(np.float64)
        if outcome == "margin":
            followed -= np.delete(values[:, seating], seat, axis=1).max(axis=1)
        counts = is_over[:, seating, seat] if outcome != "win_share" else np.True_
        total += followed * counts
        count += counts
    means = total[count > 0] / count[count > 0]
    return len(means), float(means.sum()), float((means**2).sum())


def read_outcome(run: Run, outcome: OutcomeName, *, deals: int) -> dict[int, npt.NDArray[np.float64]]:
    """Read the followed player's mean outcome on each deal.

    Parameters
    ----------
    outcome
        `win_share`, `margin` (own final score minus the best other) or `score`.
    deals
        Deals from this number on are not read.

    Returns
    -------
    dict
        For each cell, one float64 a deal, in order of the deals; deals that were left out are missing.

    Raises
    ------
    InputError
        For an unknown outcome, or a damaged file.
    """
    if outcome not in get_args(OutcomeName):
        raise InputError(f"outcome = {outcome!r}: must be {', '.join(get_args(OutcomeName))}")
    followed = [(cell.index, *place) for cell in run.manifest.cells for place in follow_seats(cell)]
    counts = "true" if outcome == "win_share" else FINISHED
    names = ("cell", "seating", "seat")
    run.connection.register("followed", pa.table(dict(zip(names, zip(*followed, strict=True), strict=True))))
    rows = run.fetch(f"""
        SELECT cell, sum(whole)::DOUBLE / (12 * count(*)) AS value
        FROM (SELECT cell, deal, seating, seat, {_WHOLE[outcome]} AS whole FROM games WHERE deal < {deals} AND {counts})
        SEMI JOIN followed USING (cell, seating, seat)
        GROUP BY cell, deal ORDER BY cell, deal
    """)
    cells, values = rows["cell"].to_numpy(), rows["value"].to_numpy()
    indices = np.array([cell.index for cell in run.manifest.cells])
    first, last = np.searchsorted(cells, indices), np.searchsorted(cells, indices, side="right")
    return {int(i): values[start:end] for i, start, end in zip(indices, first, last, strict=True)}
