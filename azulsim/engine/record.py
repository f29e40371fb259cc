"""The layout of a game: one NumPy record of packed, named fields.

Anything that counts tiles by color is one int64 with a byte lane a color (lane c = color c, lane 5 is kept for
jokers). `mask` says where a color can be taken: a 12-bit lane a color, bit s = "source s holds that color", source 0
being the center. `open` says where a color may go: a byte lane a color, bit 0 the floor line (always set), bits 1 to 5
the pattern lines. `counts` and `colors` have a 4-bit lane a pattern line (lane 0 unused). A wall is 25 bits, bit
5 * (row - 1) + (column - 1).

Tiles that fall go to the lid at once, which is read only when tiles are dealt: a floor line is a count, and `lid`
means the lid together with all floor lines.

The keys of the deal are not in the record: what a strategy sees cannot betray the future.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import from_dtype

from azulsim.errors import InputError
from azulsim.rules import MAX_DISPLAYS, MAX_FLOOR_SPACES, MAX_PLAYERS, Rules

GAME = np.dtype(
    [
        ("bag", "i8"),
        ("lid", "i8"),
        ("mask", "i8"),
        ("sources", "i8", MAX_DISPLAYS + 1),
        ("open", "i8", MAX_PLAYERS),
        ("wall", "i4", MAX_PLAYERS),
        ("counts", "i4", MAX_PLAYERS),
        ("colors", "i4", MAX_PLAYERS),
        ("score", "i2", MAX_PLAYERS),
        ("full", "i1", MAX_PLAYERS),  # bits 1 to 5: complete pattern lines
        ("floor", "i1", MAX_PLAYERS),  # tiles that fell, marker included; more than n_floor take no space
        ("players", "i1"),
        ("seat", "i1"),  # to move
        ("starter", "i1"),  # of this round
        ("holder", "i1"),  # took the marker in this round; -1: it lies in the center
        ("round", "i2"),
        ("n_bag", "i1"),
        ("termination", "i1"),
        # the rules, as numbers
        ("penalty", "i2", MAX_FLOOR_SPACES + 1),  # points lost for k occupied spaces
        ("row_bonus", "i2"),
        ("column_bonus", "i2"),
        ("color_bonus", "i2"),
        ("starter_bonus", "i2"),
        ("max_rounds", "i2"),
        ("n_floor", "i1"),
        ("n_displays", "i1"),
        ("per_display", "i1"),
        ("is_eager", "i1"),
        ("is_rotating", "i1"),
    ],
    align=True,
)
"""One game. Copying a game is copying this record."""

ALLOWED = np.dtype([("mask", "i8"), ("open", "i8")], align=True)
"""The moves a strategy may choose from: every (source, color) of `mask` with every line that `open` has for the color.

A wrapper or a probe forbids moves by clearing bits of a copy; the bits mean what they mean in `GAME`.
"""

SEAT = np.dtype(
    [("move", "i8"), ("params", "i8"), ("n_params", "i8"), ("workspace", "i8"), ("n_workspace", "i8")], align=True
)
"""A compiled strategy in a seat: addresses of its code, its parameters (float64) and its own memory (bytes)."""

GAME_TYPE, ALLOWED_TYPE, SEAT_TYPE = from_dtype(GAME), from_dtype(ALLOWED), from_dtype(SEAT)

LANES = 0x0101010101  # 1 in each color's byte lane
LANE_TOPS = 0x8080808080
SOURCE_LANES = 0x0001001001001001  # 1 in each color's 12-bit lane
N_CODES = (MAX_DISPLAYS + 1) << 6
"""A move is one number, its code: source << 6 | color << 3 | line."""
MAX_LEGAL = (MAX_DISPLAYS + 1) * 5 * 6
"""No position has more legal moves."""


def make_template(rules: Rules, players: int) -> npt.NDArray[Any]:
    """Return a record array of one game that holds the rules and an empty table, ready to be dealt."""
    _refuse_unplayed(rules)
    games = np.zeros(1, GAME)
    game = games[0]
    game["players"] = players
    game["bag"] = rules.tiles_per_color * LANES
    game["n_bag"] = 5 * rules.tiles_per_color
    game["open"][:players] = 0x3F * LANES
    game["holder"] = -1
    game["n_displays"] = rules.n_displays(players)
    game["per_display"] = rules.tiles_per_display
    n_floor = len(rules.floor_penalties)
    game["n_floor"] = n_floor
    game["penalty"][: n_floor + 1] = np.cumsum([0, *(-points for points in rules.floor_penalties)])
    game["row_bonus"] = rules.bonus.row
    game["column_bonus"] = rules.bonus.column
    game["color_bonus"] = rules.bonus.color
    game["starter_bonus"] = rules.starter_bonus
    game["max_rounds"] = rules.max_rounds
    game["is_eager"] = rules.lid_refill == "eager"
    game["is_rotating"] = rules.unclaimed_marker == "rotate"
    return games


def _refuse_unplayed(rules: Rules) -> None:
    """Refuse what the engine does not play yet, so that no rule is ever ignored in silence."""
    for name in ("wall", "multipliers", "joker_tiles", "rows_to_end", "score_clamp", "marker_cost", "next_starter"):
        if getattr(rules, name) != getattr(Rules(), name):
            raise InputError(f"rules: {name} = {getattr(rules, name)!r} is not played yet")
