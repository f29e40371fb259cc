"""The layout of a game: one NumPy record of packed, named fields.

Anything that counts tiles by color is one int64 with a byte lane a color (lane c = color c, lane 5 = jokers). `mask`
says where a color can be taken: a 12-bit lane a color, bit s = "source s holds that color", source 0 being the
center; `joker_mask` says the same of jokers. `open` says where a color may go: a byte lane a color, bit 0 the floor
line (always set), bits 1 to 5 the pattern lines. `counts`, `colors` and `line_jokers` have a 4-bit lane a pattern line
(lane 0 unused); a line of jokers alone has color 5. A wall is 25 bits, bit 5 * (row - 1) + (column - 1).

The printed wall without jokers is played by `engine.core`, everything else by `engine.general`; what only the latter
needs (`tiles`, `line_jokers`, `joker_mask`, the layout) is not kept up to date by the former.

Tiles that fall go to the lid at once, which is read only when tiles are dealt: a floor line is a count, and `lid`
means the lid together with all floor lines.

The keys of the deal are not in the record: what a strategy sees cannot betray the future.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import from_dtype

from azulsim.rules import COLORS, MAX_DISPLAYS, MAX_FLOOR_SPACES, MAX_PLAYERS, Rules

MAX_TILES = 31
"""Tiles that a move may take: more than there are of a color."""
NONE_FALLEN = 5
"""Where `penalty` says what no fallen tile costs: a line with room for that many may come off (`engine.denial`)."""

GAME = np.dtype(
    [
        ("bag", "i8"),
        ("lid", "i8"),
        ("mask", "i8"),
        ("joker_mask", "i8"),
        ("sources", "i8", MAX_DISPLAYS + 1),
        ("open", "i8", MAX_PLAYERS),
        ("wall", "i4", MAX_PLAYERS),
        ("counts", "i4", MAX_PLAYERS),
        ("colors", "i4", MAX_PLAYERS),
        ("line_jokers", "i4", MAX_PLAYERS),
        ("tiles", "i4", (MAX_PLAYERS, 6)),  # spaces of the wall where tiles of each color and jokers lie
        ("printed", "i4", 5),  # spaces printed in each color
        ("free", "i4"),  # spaces that take any color
        ("multipliers", "i1", 25),
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
        (
            "penalty",
            "i2",
            NONE_FALLEN + MAX_FLOOR_SPACES + MAX_TILES + 1,
        ),  # points lost for k at NONE_FALLEN + k
        ("row_bonus", "i2"),
        ("column_bonus", "i2"),
        ("color_bonus", "i2"),
        ("starter_bonus", "i2"),
        ("max_rounds", "i2"),
        ("n_floor", "i1"),
        ("n_displays", "i1"),
        ("per_display", "i1"),
        ("rows_to_end", "i1"),
        ("marker_price", "i1"),  # points, if the marker has a fixed price
        ("marker_space", "i1"),  # floor spaces that the marker takes: 1, or 0 if it has a fixed price
        ("next_starter", "i1"),  # HOLDER, ROTATION or LOTTERY
        ("overflow_rule", "i1"),  # KEEP_JOKERS, KEEP_COLOR or CHOOSE
        ("is_clamped", "i1"),
        ("may_decline", "i1"),
        ("is_eager", "i1"),
        ("is_rotating", "i1"),
        ("is_general", "i1"),  # 1: played by engine.general
    ],
    align=True,
)
"""One game. Copying a game is copying this record."""

ALLOWED = np.dtype([("mask", "i8"), ("joker_mask", "i8"), ("open", "i8")], align=True)
"""The moves a strategy may choose from: every (source, color) of `mask` with every line that `open` has for the color,
and jokers, alone or with a color, from the sources of `joker_mask`.

A wrapper or a probe forbids moves by clearing bits of a copy; the bits mean what they mean in `GAME`.
"""

SEAT = np.dtype(
    [
        ("move", "i8"),
        ("place", "i8"),
        ("params", "i8"),
        ("n_params", "i8"),
        ("workspace", "i8"),
        ("n_workspace", "i8"),
        # of a strategy inside wrappers; `move` then narrows the allowed moves before it asks `wrapped`
        ("wrapped", "i8"),
        ("wraps", "i8"),
        ("n_wraps", "i8"),
    ],
    align=True,
)
"""A strategy in a seat: addresses of its code, its parameters (float64), its own memory (bytes), and its wrappers
(WRAP, the outermost first)."""

WRAP = np.dtype([("narrow", "i8"), ("params", "i8")], align=True)
"""A wrapper around a strategy: addresses of its code and its parameters (float64)."""

GAME_TYPE, ALLOWED_TYPE, SEAT_TYPE, WRAP_TYPE = map(from_dtype, (GAME, ALLOWED, SEAT, WRAP))

HOLDER, ROTATION, LOTTERY = 0, 1, 2
KEEP_JOKERS, KEEP_COLOR, CHOOSE = 0, 1, 2

JOKER = 5
"""The color number of jokers."""
LANES = 0x0101010101  # 1 in each color's byte lane
ALL_LANES = 0x010101010101  # and in that of jokers
LANE_TOPS = 0x808080808080
SOURCE_LANES = 0x0001001001001001  # 1 in each color's 12-bit lane
WITH_JOKERS = 1 << 10
KEEP_SHIFT = 11
"""A move is one number, its code: source << 6 | color << 3 | line. Color 5 is all jokers alone; with the bit
`WITH_JOKERS` the color is taken together with all jokers there. Where the player has a choice how many jokers stay on
the line, that number plus 1 stands above `KEEP_SHIFT`."""
TAKES = 256
"""Room for everything that can be taken: source, color, and whether jokers come along."""
DENIALS = np.dtype([("of_take", "i8", TAKES)])
"""What each take takes from the next player (`engine.denial`), by `moves.take_index`."""
MAX_LEGAL = (MAX_DISPLAYS + 1) * 6 * (5 * 2 + 1) + (MAX_DISPLAYS + 1) * 5 * 5 * 5
"""No position has more legal moves: colors alone and with jokers, jokers alone, and jokers to keep."""


def make_template(rules: Rules, players: int) -> npt.NDArray[Any]:
    """Return a record array of one game that holds the rules and an empty table, ready to be dealt."""
    return _make_template(rules, players).copy()


@lru_cache(maxsize=64)
def _make_template(rules: Rules, players: int) -> npt.NDArray[Any]:
    games = np.zeros(1, GAME)
    game = games[0]
    game["players"] = players
    n_jokers = rules.n_jokers(players)
    game["bag"] = rules.n_tiles_of_color(players) * LANES + (n_jokers << 8 * JOKER)
    game["n_bag"] = 5 * rules.n_tiles_of_color(players) + n_jokers
    game["open"][:players] = 0x3F * (ALL_LANES if n_jokers else LANES)
    game["holder"] = -1
    game["n_displays"] = rules.n_displays(players)
    game["per_display"] = rules.tiles_per_display
    n_floor = len(rules.floor_penalties)
    game["n_floor"] = n_floor
    game["penalty"][NONE_FALLEN:] = -sum(rules.floor_penalties)
    game["penalty"][NONE_FALLEN:][: n_floor + 1] = np.cumsum([0, *(-points for points in rules.floor_penalties)])
    game["row_bonus"] = rules.bonus.row
    game["column_bonus"] = rules.bonus.column
    game["color_bonus"] = rules.bonus.color
    game["starter_bonus"] = rules.starter_bonus
    game["max_rounds"] = rules.max_rounds
    game["is_eager"] = rules.lid_refill == "eager"
    game["is_rotating"] = rules.unclaimed_marker == "rotate"
    game["rows_to_end"] = rules.rows_to_end
    game["marker_space"] = rules.marker_cost == "floor"
    game["marker_price"] = 0 if rules.marker_cost == "floor" else rules.marker_cost
    game["next_starter"] = ("holder", "rotation", "lottery").index(rules.next_starter)
    game["overflow_rule"] = ("keep_jokers", "keep_color", "choose").index(rules.joker_overflow)
    game["is_clamped"] = rules.score_clamp
    game["may_decline"] = rules.gray_may_decline
    for row, letters in enumerate(rules.layout):
        for column, letter in enumerate(letters):
            if letter == ".":
                game["free"] |= 1 << (5 * row + column)
            else:
                game["printed"][COLORS.index(letter)] |= 1 << (5 * row + column)
    game["multipliers"] = [int(digit) for digits in rules.multipliers for digit in digits]
    plain = Rules()
    game["is_general"] = rules.layout != plain.layout or rules.multipliers != plain.multipliers or n_jokers > 0
    return games
