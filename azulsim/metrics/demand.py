"""Denied demand: tiles that a player's begun lines lack, and that others take before it plays again.

Frames are as in `azulsim.metrics.games`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from azulsim.metrics._estimate import estimate
from azulsim.metrics._tables import Lineups, Outcome, collect, require_depth
from azulsim.metrics.games import BY
from azulsim.rules import COLORS

if TYPE_CHECKING:
    from azulsim.log import Run

LINES = range(1, 6)
DEMAND: dict[str, Outcome] = {
    outcome.name: outcome
    for outcome in (
        Outcome(
            "wanted",
            "wanted",
            "tiles",
            "Tiles on offer after a move that the player's begun lines lack.",
            per="n_moves",
        ),
        Outcome(
            "lost",
            "lost",
            "tiles",
            "Those of them that are gone when it plays again, or the round ends.",
            per="n_moves",
        ),
        Outcome("lost_share", "lost", "share", "The lost tiles as a part of the wanted ones.", per="wanted"),
    )
}
"""What `denied_demand` measures, by name; the first two are means over moves."""


def denied_demand(run: Run, by: Sequence[str] = BY, *, lineups: Lineups = "all") -> pd.DataFrame:
    """Estimate how much of what a player needs others take before its next turn: the outcomes of `DEMAND`.

    After each move of a player, and for each color: the tiles missing on its begun pattern lines of that color, as many
    of them as are still on displays and in the center, are *wanted*. Those that are no longer there when the player
    moves again are *lost*; after its last move of a round, all that are left are. That others take them need not be
    meant as denial, for they need tiles too. Rules with joker tiles are left out. Needs depth `moves`.
    """
    require_depth(run, "moves", "denied_demand")
    jokers = [cell.index for cell in run.manifest.cells if cell.rules.joker_tiles]
    counted = f"cell NOT IN ({', '.join(map(str, jokers))})" if jokers else "true"
    outcomes = list(DEMAND.values())
    sums = collect(run, outcomes, by, lineups=lineups, where=counted, base="demanded", tables=_DEMANDED)
    return estimate(sums, outcomes)


def _each_color(text: str, joiner: str = ", ") -> str:
    return joiner.join(text.format(c=color) for color in COLORS)


def _each_line(text: str, joiner: str = ", ") -> str:
    return joiner.join(text.format(k=line) for line in LINES)


_LACKED = " + ".join(f"CASE WHEN color_{k} = '{{c}}' THEN lack_{k} ELSE 0 END" for k in LINES)
_THEN = "coalesce(lead(gone_{c} - CASE WHEN color = '{c}' THEN tiles ELSE 0 END) OVER mine, dealt_{c})"
# A line is emptied when it is full, so that what was ever placed there, modulo its length, is what lies there.
_DEMANDED = f"""
filled AS (
    SELECT game, round, ply, seat, line, color, placed + overflow AS tiles,
        (size - sum(placed) OVER (PARTITION BY game, seat, line ORDER BY ply) % size) % size AS lack
    FROM (SELECT *, nullif(line, 0) AS size FROM moves)
),
boards AS (
    SELECT game, round, ply, seat, color, tiles,
        {_each_line("last_value(CASE WHEN line = {k} THEN color END IGNORE NULLS) OVER mine AS color_{k}")},
        {_each_line("last_value(CASE WHEN line = {k} THEN lack END IGNORE NULLS) OVER mine AS lack_{k}")},
        {_each_color("sum(CASE WHEN color = '{c}' THEN tiles ELSE 0 END) OVER taken AS gone_{c}")}
    FROM filled
    WINDOW mine AS (PARTITION BY game, seat ORDER BY ply), taken AS (PARTITION BY game, round ORDER BY ply)
),
dealt AS (
    SELECT game, round, {_each_color("length(displays) - length(replace(displays, '{c}', '')) AS dealt_{c}")}
    FROM rounds WHERE seat = 0
),
turns AS (
    SELECT *, {_each_color(_LACKED + " AS lacked_{c}")}, {_each_color(_THEN + " AS then_{c}")}
    FROM boards JOIN dealt USING (game, round)
    WINDOW mine AS (PARTITION BY game, round, seat ORDER BY ply)
),
demands AS (
    SELECT game, seat, count(*) AS n_moves,
        sum({_each_color("least(lacked_{c}, dealt_{c} - gone_{c})", " + ")}) AS wanted,
        sum({_each_color("least(lacked_{c}, dealt_{c} - then_{c})", " + ")}) AS kept
    FROM turns GROUP BY game, seat
),
demanded AS (SELECT *, wanted - kept AS lost FROM played JOIN demands USING (game, seat))"""
