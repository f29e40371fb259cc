"""Denied demand: tiles that a player's begun lines lack, and that others take before it plays again.

Frames are as in `azulsim.metrics.games`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING

import pandas as pd

from azulsim.metrics._estimate import estimate
from azulsim.metrics._tables import Lineups, Outcome, collect, require_depth
from azulsim.metrics.games import BY
from azulsim.rules import COLORS
from azulsim.schema import game_id

if TYPE_CHECKING:
    from azulsim.log import Run

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

MOST_MOVES = 500_000
"""Moves of a run that are looked at, about: each is set beside those before and after it, which takes long."""


def denied_demand(run: Run, by: Sequence[str] = BY, *, lineups: Lineups = "all") -> pd.DataFrame:
    """Estimate how much of what a player needs others take before its next turn: the outcomes of `DEMAND`.

    After each move of a player, and for each color: the tiles missing on its begun pattern lines of that color, as many
    of them as are still on displays and in the center, are *wanted*. Those that are no longer there when the player
    moves again are *lost*; after its last move of a round, all that are left are. That others take them need not be
    meant as denial, for they need tiles too. Rules with joker tiles are left out. Of runs with more than `MOST_MOVES`
    moves the first deals of each cell are looked at, as great a part of each. Needs depth `moves`.
    """
    require_depth(run, "moves", "denied_demand")
    part = min(1.0, MOST_MOVES / max(run.n_moves, 1))
    spans = [
        f"game BETWEEN {game_id(cell.index, 0, 0)} AND {game_id(cell.index, ceil(part * cell.deals), 0) - 1}"
        for cell in run.manifest.cells
        if not cell.rules.joker_tiles
    ]
    outcomes = list(DEMAND.values())
    tables = _DEMANDED.replace(_COUNTED, " OR ".join(spans) or "false")
    return estimate(collect(run, outcomes, by, lineups=lineups, base="demanded", tables=tables), outcomes)


_BITS = 10
# The numbers of all colors are one integer, ten bits a color, so that a window adds up five counts at once.
_DIGIT = f"(1::BIGINT << ({_BITS} * (strpos('{''.join(COLORS)}', color) - 1)))"
_COUNT = f"({{numbers}} >> {{shift}}) & {2**_BITS - 1}"
_DEALT = " + ".join(
    f"((length(displays) - length(replace(displays, '{color}', '')))::BIGINT << {_BITS * place})"
    for place, color in enumerate(COLORS)
)


def _add_least(one: str, two: str) -> str:
    """Return the SQL of the lesser of two counts, added up over colors."""
    counts = [
        [_COUNT.format(numbers=numbers, shift=_BITS * place) for numbers in (one, two)] for place in range(len(COLORS))
    ]
    return " + ".join(f"least({first}, {second})" for first, second in counts)


_COUNTED = "{counted}"
# A line is emptied when it is full, so that what was ever placed there, modulo its length, is what lies there.
_DEMANDED = f"""
filled AS (
    SELECT game, round, ply, seat, line, {_DIGIT} AS digit, (placed + overflow) * {_DIGIT} AS taken,
        (size - sum(placed) OVER (PARTITION BY game, seat, line ORDER BY ply) % size) % size AS lack
    FROM (SELECT *, nullif(line, 0) AS size FROM moves WHERE {_COUNTED})
),
changed AS (
    SELECT game, round, ply, seat, taken,
        coalesce(lack * digit - lag(lack * digit, 1, 0) OVER (PARTITION BY game, seat, line ORDER BY ply), 0) AS change
    FROM filled
),
dealt AS (SELECT game, round, {_DEALT} AS dealt FROM rounds WHERE seat = 0 AND ({_COUNTED})),
turns AS (
    SELECT game, round, ply, seat, dealt, taken,
        (sum(change) OVER (PARTITION BY game, seat ORDER BY ply))::BIGINT AS lacked,
        (sum(taken) OVER (PARTITION BY game, round ORDER BY ply))::BIGINT AS gone
    FROM changed JOIN dealt USING (game, round)
),
offers AS (
    SELECT game, seat, lacked, dealt - gone AS here,
        dealt - lead(gone - taken, 1, dealt) OVER (PARTITION BY game, round, seat ORDER BY ply) AS later
    FROM turns
),
demands AS (
    SELECT game, seat, count(*) AS n_moves, sum({_add_least("lacked", "here")}) AS wanted,
        sum({_add_least("lacked", "later")}) AS kept
    FROM offers GROUP BY game, seat
),
demanded AS (SELECT *, wanted - kept AS lost FROM played JOIN demands USING (game, seat))"""
