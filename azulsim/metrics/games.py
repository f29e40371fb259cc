"""What the games of a run were like: scores, wins, length, floor, bonuses, by player count, strategy and seat.

Every metric is a function from a run to a tidy frame with a row a group and outcome:

`players`, `spec`, ... (what it was taken by), `outcome`, `unit`, `estimate`, `low`, `high` (interval), `se`
(standard error), `n` (observations), `n_deals` (independent observations: deals) and `mde` (the smallest
difference from a fixed value that the data would have shown with a chance of 80 %).

All games that share a deal are one observation. A number that belongs to a game (its rounds, say) is counted
once for each seat that the group has in the game, so that taken by strategy it says: in games where it sat.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from azulsim.errors import InputError, did_you_mean
from azulsim.metrics._estimate import check_equal, estimate, estimate_bins
from azulsim.metrics._tables import Lineups, Outcome, collect, require_depth
from azulsim.rules import Termination

if TYPE_CHECKING:
    from azulsim.log import Run

BY = ("players", "spec")

_ENDED = f"termination = '{Termination.ROW_COMPLETED.name}'"

OUTCOMES: dict[str, Outcome] = {
    outcome.name: outcome
    for outcome in (
        Outcome("score", "score", "points", "Final score."),
        Outcome("margin", "margin", "points", "Own final score minus the best other player's."),
        Outcome("winning_margin", "CASE WHEN placement = 1 THEN margin END", "points", "Margin of those who won."),
        Outcome("win_share", "win_share", "share", "1/k for each of k winners, else 0; the fair share is 1/players."),
        Outcome("tied", "is_tied::INT", "share", "Games whose first place is shared."),
        Outcome("rounds", "rounds", "rounds", "Rounds played in the game."),
        Outcome("plies", "plies", "moves", "Moves played in the game, by all seats."),
        Outcome("wall_points", "wall_points", "points", "Points scored by placing tiles."),
        Outcome("floor_loss", "floor_loss", "points", "Points on the occupied floor spaces, before the clamp at 0."),
        Outcome("floor_paid", "floor_paid", "points", "Points really lost to the floor, after the clamp at 0."),
        Outcome("bonus_points", "bonus_points", "points", "End-of-game bonuses."),
        Outcome("rows", '"rows"', "rows", "Complete rows at the end."),
        Outcome("columns", '"columns"', "columns", "Complete columns at the end."),
        Outcome("colors", "colors", "colors", "Complete colors at the end."),
        Outcome("marker_takes", "marker_takes", "rounds", "Rounds in which the seat took the marker."),
        Outcome(
            "ender_wins",
            f"CASE WHEN {_ENDED} THEN ender_share END",
            "share",
            "Win share of the players who ended the game by completing a row, in games that ended so.",
        ),
        Outcome("unfinished", f"(NOT {_ENDED})::INT", "share", "Games that ended in another way than by a row."),
    )
}
"""The outcomes of a seat in a game that `summarize` knows, by name."""


def summarize(run: Run, outcomes: Iterable[str], by: Sequence[str] = BY, *, lineups: Lineups = "all") -> pd.DataFrame:
    """Estimate the means of several outcomes of `OUTCOMES` in one pass over the games.

    `by` names the columns that form the groups (`players`, `spec`, `seat`, `lineup`, `cell`, `rules`), and
    `lineups` chooses `"all"` games, or only those of `"self_play"` or `"mixed"` line-ups.
    """
    names = list(outcomes)
    for name in names:
        if name not in OUTCOMES:
            raise InputError(f"outcome {name!r} is not known{did_you_mean(name, OUTCOMES)}")
    chosen = [OUTCOMES[name] for name in names]
    return estimate(collect(run, chosen, by, lineups=lineups), chosen)


def scores(run: Run, by: Sequence[str] = BY, *, lineups: Lineups = "all") -> pd.DataFrame:
    """Estimate the mean final score, in points."""
    return summarize(run, ["score"], by, lineups=lineups)


def margins(run: Run, by: Sequence[str] = BY, *, lineups: Lineups = "all") -> pd.DataFrame:
    """Estimate the mean margin (own score minus the best other) and the mean margin of winners, in points."""
    return summarize(run, ["margin", "winning_margin"], by, lineups=lineups)


def win_shares(run: Run, by: Sequence[str] = (*BY, "seat"), *, lineups: Lineups = "all") -> pd.DataFrame:
    """Estimate the mean win share, 0 to 1, beside the fair share 1/players (column `fair`)."""
    frame = summarize(run, ["win_share"], by, lineups=lineups)
    if "players" in frame:
        frame["fair"] = 1 / frame["players"]
    return frame


def game_lengths(run: Run, by: Sequence[str] = BY, *, lineups: Lineups = "all") -> pd.DataFrame:
    """Estimate the mean number of rounds and of plies (moves by all seats) of a game."""
    return summarize(run, ["rounds", "plies"], by, lineups=lineups)


def floor_losses(run: Run, by: Sequence[str] = BY, *, lineups: Lineups = "all") -> pd.DataFrame:
    """Estimate the points a seat loses to its floor line in a game, before and after the clamp at 0."""
    return summarize(run, ["floor_loss", "floor_paid"], by, lineups=lineups)


def bonuses(run: Run, by: Sequence[str] = BY, *, lineups: Lineups = "all") -> pd.DataFrame:
    """Estimate the end-of-game bonus points of a seat, and its complete rows, columns and colors."""
    return summarize(run, ["bonus_points", "rows", "columns", "colors"], by, lineups=lineups)


def wall_points(run: Run, by: Sequence[str] = BY, *, lineups: Lineups = "all") -> pd.DataFrame:
    """Estimate the points a seat scores by placing tiles in a game."""
    return summarize(run, ["wall_points"], by, lineups=lineups)


def ties(run: Run, by: Sequence[str] = BY, *, lineups: Lineups = "all") -> pd.DataFrame:
    """Estimate the share of games whose first place is shared."""
    return summarize(run, ["tied"], by, lineups=lineups)


def ender_wins(run: Run, by: Sequence[str] = BY, *, lineups: Lineups = "all") -> pd.DataFrame:
    """Estimate how often those who ended the game by completing a row won it, as a share of such games."""
    return summarize(run, ["ender_wins"], by, lineups=lineups)


def short_refills(run: Run, by: Sequence[str] = BY, *, lineups: Lineups = "all") -> pd.DataFrame:
    """Estimate how often displays could not all be filled: share of games with such a round, and of rounds.

    Needs a log of depth `rounds`.
    """
    require_depth(run, "rounds", "short_refills")
    outcomes = [
        Outcome("short_games", "is_short::INT", "share", "Games with a round in which a display could not be filled."),
        Outcome("short_rounds", "share_short", "share", "Rounds of a game in which a display could not be filled."),
    ]
    tables = """
    short AS (
        SELECT game, bool_or(is_short) AS is_short, avg(is_short::INT) AS share_short
        FROM rounds WHERE seat = 0 GROUP BY game
    ),
    dealt AS (SELECT * FROM played JOIN short USING (game))"""
    return estimate(collect(run, outcomes, by, lineups=lineups, base="dealt", tables=tables), outcomes)


def game_length_distribution(
    run: Run, by: Sequence[str] = BY, *, lineups: Lineups = "all", most: int = 12
) -> pd.DataFrame:
    """Estimate the share of games of each number of rounds.

    Returns
    -------
    DataFrame
        As `summarize`, with the column `rounds` in place of `outcome`; all games of `most` rounds or more are
        together in the row `most`.
    """
    return _spread(run, "rounds", f"least(rounds, {int(most)})", by, lineups, 1)


def score_distribution(run: Run, by: Sequence[str] = BY, *, lineups: Lineups = "all", width: int = 5) -> pd.DataFrame:
    """Estimate the share of final scores in bins of `width` points; column `score` is the lower edge of the bin."""
    return _spread(run, "score", "score", by, lineups, width)


def margin_distribution(run: Run, by: Sequence[str] = BY, *, lineups: Lineups = "all", width: int = 5) -> pd.DataFrame:
    """Estimate the share of winners' margins in bins of `width` points; column `margin` is the lower edge."""
    return _spread(run, "margin", "margin", by, lineups, width, where="placement = 1")


def _spread(
    run: Run, name: str, value: str, by: Sequence[str], lineups: Lineups, width: int, *, where: str = "true"
) -> pd.DataFrame:
    counted = [Outcome("n", "1", "", "")]
    edge = f"(floor({value} / {int(width)}.0) * {int(width)})::INT"
    whole = collect(run, counted, by, lineups=lineups, where=where)
    bins = collect(run, counted, [*by, "bin"], lineups=lineups, where=where, extra={"bin": edge})
    if bins.keys.empty:
        return estimate(whole, counted).drop(columns="outcome").assign(**{name: 0})
    found = bins.keys["bin"]
    edges = range(int(found.min()), int(found.max()) + 1, int(width))
    return estimate_bins(bins, whole, "bin", edges).rename(columns={"bin": name})


def seat_tests(
    run: Run, by: Sequence[str] = BY, *, outcome: str = "win_share", lineups: Lineups = "all"
) -> pd.DataFrame:
    """Test jointly whether an outcome is the same in all seats.

    Returns
    -------
    DataFrame
        A row a group: `outcome`, `statistic` (F), its degrees of freedom, `p_value`, `n_deals` and `note`; from
        the covariance of the seat means over deals, see `azulsim.stats.hypotheses.assess_equal_means`.
    """
    return check_equal(collect(run, [OUTCOMES[outcome]], [*by, "seat"], lineups=lineups), "seat")
