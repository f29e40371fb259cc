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
from azulsim.schema import DEAL_SHIFT, MAX_DEALS, PROBE_KINDS
from azulsim.stats import Estimate, estimate_anytime, estimate_mean

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

TEMPO = "tempo."
"""Opens the name of an outcome of games continued from tempo roots: what a player gains by starting a round."""

BOUNDS: dict[OutcomeName, tuple[float, float] | None] = {
    "win_share": (0.0, 1.0),
    "margin": None,
    "score": None,
    "tempo.win_share": (-1.0, 1.0),
    "tempo.margin": None,
    "tempo.score": None,
}
"""Least and greatest value that an outcome can take."""

FINISHED = "termination <> 'FORFEIT'"
"""Which rows of `games` are of games that ended by the rules: a forfeited one has winners, and nothing else counts."""

# Twelve times a win share of 1/1 to 1/4 is whole, so that sums do not depend on the order in which rows are added.
_WHOLE = {
    "win_share": "round(12 * win_share)::BIGINT",
    "margin": "12 * (score::BIGINT - max(score) OVER (PARTITION BY game ROWS BETWEEN UNBOUNDED PRECEDING AND "
    "UNBOUNDED FOLLOWING EXCLUDE CURRENT ROW))",
    "score": "12 * score::BIGINT",
    "tempo.win_share": "round(12 * win_share)::BIGINT",
    "tempo.margin": "12 * margin::BIGINT",
    "tempo.score": "12 * score::BIGINT",
}


def describe_unprobed(outcome: OutcomeName) -> str:
    """Say that an outcome of tempo is asked of an experiment or a run that does not probe tempo."""
    return f"outcome = {outcome!r}: no tempo is probed; it needs [probes] with tempo = {{}}"


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
    tables: Mapping[str, npt.NDArray[Any] | Mapping[str, npt.NDArray[Any]]], cell: Cell, outcome: OutcomeName
) -> tuple[int, float, float]:
    """Return number, sum and sum of squares of what `read_outcome` reads of one cell, from its rows in memory.

    Parameters
    ----------
    tables
        `games`, or `probes` for an outcome of tempo: rows in canonical order, of whole deals, or their columns.

    Raises
    ------
    ValueError
        If the rows are not those of whole deals of the cell.
    """
    if outcome.startswith(TEMPO):
        means = _average_tempo(tables["probes"], cell, outcome.removeprefix(TEMPO))
    else:
        means = _average_games(tables["games"], cell, outcome)
    return len(means), float(means.sum()), float((means**2).sum())


def _average_games(
    games: npt.NDArray[Any] | Mapping[str, npt.NDArray[Any]], cell: Cell, outcome: OutcomeName
) -> npt.NDArray[np.float64]:
    """Return the mean outcome of whoever is followed, for each deal in which something counts."""
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
    found: npt.NDArray[np.float64] = total[count > 0] / count[count > 0]
    return found


def _average_tempo(
    probes: npt.NDArray[Any] | Mapping[str, npt.NDArray[Any]], cell: Cell, name: str
) -> npt.NDArray[np.float64]:
    """Return what starting a round gains, averaged over the players and probed rounds of each deal that has any."""
    is_tempo = probes["kind"] == PROBE_KINDS.index("tempo")
    deals = (probes["game"][is_tempo] >> DEAL_SHIFT) & (MAX_DEALS - 1)
    starts = probes["arm"][is_tempo] == probes["seat"][is_tempo]
    first = np.flatnonzero(np.diff(deals, prepend=-1))
    if not len(first):
        return np.zeros(0)
    gains = np.where(starts, cell.players - 1, -1) * probes[name][is_tempo]
    count = np.add.reduceat(starts, first, dtype=np.int64)
    if not count.all():
        raise ValueError("a deal in which nobody starts a probed round")
    found: npt.NDArray[np.float64] = np.add.reduceat(gains, first) / ((cell.players - 1) * count)
    return found


def read_outcome(run: Run, outcome: OutcomeName, *, deals: int) -> dict[int, npt.NDArray[np.float64]]:
    """Read the mean outcome of each deal: of the player who is followed, or of all players for tempo.

    Parameters
    ----------
    outcome
        `win_share`, `margin` (own final score minus the best other) or `score`; after `tempo.` the same, as what a
        player ends with when it starts a round minus what it ends with when others do, averaged over all probed rounds.
    deals
        Deals from this number on are not read.

    Returns
    -------
    dict
        For each cell, one float64 a deal, in order of the deals; deals that were left out are missing.

    Raises
    ------
    InputError
        For an unknown outcome, one of tempo if no tempo was probed, or a damaged file.
    """
    if outcome not in get_args(OutcomeName):
        raise InputError(f"outcome = {outcome!r}: must be {', '.join(get_args(OutcomeName))}")
    rows = run.fetch(_select_tempo(run, outcome, deals) if outcome.startswith(TEMPO) else _select(run, outcome, deals))
    cells, values = rows["cell"].to_numpy(), rows["value"].to_numpy()
    indices = np.array([cell.index for cell in run.manifest.cells])
    first, last = np.searchsorted(cells, indices), np.searchsorted(cells, indices, side="right")
    return {int(i): values[start:end] for i, start, end in zip(indices, first, last, strict=True)}


def _select(run: Run, outcome: OutcomeName, deals: int) -> str:
    followed = [(cell.index, *place) for cell in run.manifest.cells for place in follow_seats(cell)]
    counts = "true" if outcome == "win_share" else FINISHED
    names = ("cell", "seating", "seat")
    run.connection.register("followed", pa.table(dict(zip(names, zip(*followed, strict=True), strict=True))))
    return f"""
        SELECT cell, sum(whole)::DOUBLE / (12 * count(*)) AS value
        FROM (SELECT cell, deal, seating, seat, {_WHOLE[outcome]} AS whole FROM games WHERE deal < {deals} AND {counts})
        SEMI JOIN followed USING (cell, seating, seat)
        GROUP BY cell, deal ORDER BY cell, deal
    """


def _select_tempo(run: Run, outcome: OutcomeName, deals: int) -> str:
    if not (run.manifest.experiment.get("probes") or {}).get("tempo"):
        raise InputError(describe_unprobed(outcome))
    sizes = [(cell.index, cell.players - 1) for cell in run.manifest.cells]
    run.connection.register("rivals", pa.table(dict(zip(("cell", "others"), zip(*sizes, strict=True), strict=True))))
    return f"""
        SELECT cell, sum(CASE WHEN arm = seat THEN others ELSE -1 END * {_WHOLE[outcome]})::DOUBLE
            / (12 * any_value(others) * count(*) FILTER (arm = seat)) AS value
        FROM probes JOIN rivals USING (cell) WHERE kind = 'tempo' AND deal < {deals}
        GROUP BY cell, deal ORDER BY cell, deal
    """


def estimate_outcome(
    values: npt.NDArray[np.float64], outcome: OutcomeName, *, level: float, most: int | None = None
) -> Estimate:
    """Estimate the mean of an outcome over deals; if it may be looked at up to `most` deals, by an anytime interval."""
    if most is not None:
        return estimate_anytime(values, most=most, bounds=BOUNDS[outcome], level=level)
    return estimate_mean(values, bounds=BOUNDS[outcome], level=level)
