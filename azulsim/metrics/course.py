"""The course of a game: who leads after each round, how much that decides, and who gets to start.

Frames are as in `azulsim.metrics.games`. What goes with leading or with starting later rounds is an association: who
leads may be the better player, and who starts chose to take the marker.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from azulsim.metrics._estimate import correlate, estimate
from azulsim.metrics._rounds import Adder, Stretch, find_leads, list_places, read_stretches
from azulsim.metrics._tables import Lineups, Outcome, Sums, require_depth
from azulsim.metrics.games import BY

if TYPE_CHECKING:
    from azulsim.log import Run

Array = npt.NDArray[Any]
MOST_ROUNDS = 8
"""Rounds that the metrics by round tell of, unless asked for others."""

STANDINGS: dict[str, Outcome] = {
    outcome.name: outcome
    for outcome in (
        Outcome("leader_wins", "", "share", "Win share of who leads after the round; several who lead count in parts."),
        Outcome("last_wins", "", "share", "Win share of who is last after the round."),
        Outcome("lead", "", "points", "Points by which the first leads the second."),
    )
}
"""What `standings` measures, by name."""

COURSE: dict[str, Outcome] = {
    outcome.name: outcome
    for outcome in (
        Outcome("lead_changes", "", "changes", "Times a game in which another player than before leads alone."),
        Outcome("bonus_leader_wins", "", "share", "Win share of who leads before the bonuses of the end."),
    )
}
"""What `lead_changes` measures, by name."""

DECIDED: dict[str, Outcome] = {
    outcome.name: outcome
    for outcome in (
        Outcome("win_share", "", "share", "Part of the variance of win shares that the lead after the round explains."),
        Outcome("margin", "", "share", "The same of the final margin."),
        Outcome("runaway", "", "correlation", "Correlation of the score after the round with the win share."),
    )
}
"""What `decided_by_lead` measures, by name."""


PAIRS = {"win_share": ("ahead", "won"), "margin": ("ahead", "margin"), "runaway": ("score", "won")}
"""What each of `DECIDED` correlates."""
MOMENTS = [
    *(f"{name}{power}" for name in ("ahead", "won", "margin", "score") for power in ("", "^2")),
    *(f"{x} {y}" for x, y in PAIRS.values()),
]


def standings(run: Run, by: Sequence[str] = BY, *, lineups: Lineups = "all", most: int = MOST_ROUNDS) -> pd.DataFrame:
    """Estimate how those win who lead, or are last, after each round (column `round`) after which the game goes on.

    Outcomes of `STANDINGS`, beside the fair share 1/players (column `fair`). Taken by strategy they say: when it leads,
    when it is last. Association: who leads may be the better player. Needs depth `rounds`.
    """
    frame = estimate(fold(run, by, lineups, most).standings, list(STANDINGS.values()))
    if "players" in frame:
        frame["fair"] = (1 / frame["players"]).where(frame["unit"] == "share")
    return frame


def lead_changes(run: Run, by: Sequence[str] = BY, *, lineups: Lineups = "all") -> pd.DataFrame:
    """Estimate how often the lead changes in a game, and how often who leads before the bonuses wins.

    Outcomes of `COURSE`. Needs depth `rounds`.
    """
    return estimate(fold(run, by, lineups).games, list(COURSE.values()))


def decided_by_lead(
    run: Run, by: Sequence[str] = BY, *, lineups: Lineups = "all", most: int = MOST_ROUNDS
) -> pd.DataFrame:
    """Estimate how much of the outcome the lead after each round explains, in games that go on after it.

    Outcomes of `DECIDED`: the squared correlation of a player's lead (own score minus the best other's) after the round
    with its win share and with its final margin, and the plain correlation of its score with its win share. The lead is
    one number of a position, so that what is decided is at least the squared correlation. Needs depth `rounds`.
    """
    sums = fold(run, by, lineups, most).moments
    columns = list(sums.outcomes)
    parts = []
    for name, (x, y) in PAIRS.items():
        chosen = [columns.index(moment) for moment in (x, y, f"{x}^2", f"{y}^2", f"{x} {y}")]
        outcome = DECIDED[name]
        parts.append(correlate(_choose(sums, chosen), outcome, is_squared=outcome.unit == "share"))
    frame: pd.DataFrame = pd.concat(parts).sort_index(kind="stable").reset_index(drop=True)
    return frame


class Folded(NamedTuple):
    """Sums made in one pass over the rounds."""

    standings: Sums
    """By round: the outcomes of `STANDINGS`."""
    moments: Sums
    """By round: `MOMENTS`, from which come the outcomes of `DECIDED`."""
    games: Sums
    """The outcomes of `COURSE`."""
    starts: Sums
    """By seat: win share y, later starts above an equal share x, and the means of x^2, x y."""


def fold(run: Run, by: Sequence[str], lineups: Lineups, most: int = MOST_ROUNDS) -> Folded:
    """Sum all that compares the seats of a round, in one pass."""
    return _fold(run, tuple(dict.fromkeys(by)), lineups, most)


@lru_cache(maxsize=4)
def _fold(run: Run, by: tuple[str, ...], lineups: Lineups, most: int) -> Folded:
    """Sum as `fold` does; kept for a while, because reports need all of it."""
    require_depth(run, "rounds", "the course of a game")
    places, seats = list_places(run, by, lineups), list_places(run, (*by, "seat"), lineups)
    standing, moments, games, starts = Adder(most + 1), Adder(most + 1), Adder(), Adder()
    for stretch in read_stretches(run, places):
        _add_rounds(standing, moments, stretch, places.group, most)
        _add_games(games, stretch, places.group)
        _add_starts(starts, stretch, seats.group)
    return Folded(
        standing.finish(places, list(STANDINGS), "round"),
        moments.finish(places, MOMENTS, "round"),
        games.finish(places, list(COURSE)),
        starts.finish(seats, ["y", "x", "xx", "xy"]),
    )


def _add_rounds(standing: Adder, moments: Adder, stretch: Stretch, group: Array, most: int) -> None:
    rows = np.flatnonzero(~stretch.is_last & (stretch.round <= most))
    game, score = stretch.game[rows], stretch.score[:, rows]
    lead, (first, last) = find_leads(score), _share_ends(score)
    won, margin = stretch.win_share[:, game], stretch.margin[:, game]
    where = group[stretch.place[:, game]], stretch.deal[game]
    standing.add(*where, [first, last, first], [first * won, last * won, first * lead], stretch.round[rows])
    totals = [lead, lead**2, won, won**2, margin, margin**2, score, score**2, lead * won, lead * margin, score * won]
    moments.add(*where, [np.ones(score.shape)], totals, stretch.round[rows])


def _add_games(adder: Adder, stretch: Stretch, group: Array) -> None:
    alone = (stretch.score == stretch.score.max(axis=0)).sum(axis=0) == 1
    game, leader = stretch.game[alone], stretch.score[:, alone].argmax(axis=0)
    is_change = (leader[1:] != leader[:-1]) & (game[1:] == game[:-1])
    changes = np.bincount(game[1:][is_change], minlength=stretch.place.shape[1])
    first, _ = _share_ends(stretch.score[:, stretch.is_last])
    ones = np.ones(stretch.place.shape)
    adder.add(group[stretch.place], stretch.deal, [ones, first], [ones * changes, first * stretch.win_share])


def _add_starts(adder: Adder, stretch: Stretch, group: Array) -> None:
    seats, n_games = stretch.place.shape
    later = stretch.round > 1
    starts = np.bincount(stretch.starter[later] * n_games + stretch.game[later], minlength=n_games * seats)
    x = starts.reshape(seats, n_games).astype(float)
    x -= x.mean(axis=0)
    y = stretch.win_share
    adder.add(group[stretch.place], stretch.deal, [np.ones(x.shape)], [y, x, x * x, x * y])


def _share_ends(score: Array) -> tuple[Array, Array]:
    """Return each seat's part in the first place and in the last one: 1/k for each of k that share it, else 0."""
    ends = (score == edge for edge in (score.max(axis=0), score.min(axis=0)))
    first, last = (end / end.sum(axis=0) for end in ends)
    return first, last


def _choose(sums: Sums, columns: Sequence[int]) -> Sums:
    """Return the sums of some outcomes only."""
    chosen = list(columns)
    return replace(
        sums,
        outcomes=tuple(sums.outcomes[k] for k in chosen),
        count=sums.count[:, chosen],
        total=sums.total[:, chosen],
    )
