"""What a strategy may call: questions about a position, and the pieces of compiled moves and searches.

A position is a game record (`azulsim.engine.record.GAME`); ask it through these functions, which run in plain Python
and in compiled code alike. Seats count from 0; sources, lines, rows and columns as on the table: source 0 is the
center, line 0 the floor line, rows and columns 1 to 5; colors are 0 B, 1 Y, 2 R, 3 K, 4 W, 5 joker.

Everything works under all rules, but for `column_of`, `diagonal_of`, `tiling_points` and `wall_when_tiled`, which know
the printed wall only, and `lines_of`, `sources_of` and `make_code`, which know no jokers.
"""

from __future__ import annotations

from typing import Any

from azulsim.engine.compiling import compiled, lowest_bit, popcount, widen
from azulsim.engine.core import (
    bonus_points,
    column_bits,
    column_of,
    count_complete,
    count_tiles,
    floor_penalty,
    lane,
    run_across,
    run_down,
    run_points,
    tiling_points,
)
from azulsim.engine.luck import below, derive
from azulsim.engine.moves import (
    diagonal_of,
    lines_of,
    make_code,
    sources_of,
    tie_priority,
    wall_when_tiled,
)
from azulsim.engine.record import MAX_LEGAL
from azulsim.engine.table import count_moves, exact_gain, is_allowed, list_moves, nth_move, play, tile

__all__ = [
    "MAX_LEGAL",
    "below",
    "bonus_points",
    "color_of_line",
    "column_of",
    "compiled",
    "count_color",
    "count_column",
    "count_complete",
    "count_floor",
    "count_in_bag",
    "count_in_lid",
    "count_in_line",
    "count_moves",
    "count_on_table",
    "count_players",
    "count_row",
    "count_source",
    "count_tiles",
    "derive",
    "exact_gain",
    "floor_penalty",
    "has_tile",
    "is_allowed",
    "is_marker_in_center",
    "lane",
    "lines_of",
    "list_moves",
    "lowest_bit",
    "make_code",
    "mover",
    "nth_move",
    "play",
    "popcount",
    "run_across",
    "run_down",
    "run_points",
    "score_of",
    "seat_to_move",
    "sources_of",
    "tie_priority",
    "tile",
    "tiling_points",
    "wall_when_tiled",
]


@compiled
def count_players(position: Any) -> int:
    """Return the number of players."""
    return widen(position.players)


@compiled
def seat_to_move(position: Any) -> int:
    """Return the seat to move."""
    return widen(position.seat)


@compiled
def mover(position: Any) -> int:
    """Return the seat that made the last move of this round."""
    return widen(position.seat) - 1 if position.seat > 0 else widen(position.players) - 1


@compiled
def score_of(position: Any, seat: int) -> int:
    """Return a seat's score, points."""
    return widen(position.score[seat])


@compiled
def has_tile(position: Any, seat: int, row: int, column: int) -> bool:
    """Return True if a tile lies on a space of the seat's wall."""
    return (widen(position.wall[seat]) >> (5 * (row - 1) + column - 1)) & 1 == 1


@compiled
def count_row(position: Any, seat: int, row: int) -> int:
    """Return the tiles in a row of the seat's wall."""
    return popcount((widen(position.wall[seat]) >> (5 * (row - 1))) & 31)


@compiled
def count_column(position: Any, seat: int, column: int) -> int:
    """Return the tiles in a column of the seat's wall."""
    return popcount(column_bits(widen(position.wall[seat]), column - 1))


@compiled
def count_color(position: Any, seat: int, color: int) -> int:
    """Return the tiles of a color on the seat's wall."""
    if position.is_general:
        return popcount(widen(position.tiles[seat, color]))
    return popcount(widen(position.wall[seat]) & diagonal_of(color))


@compiled
def count_in_line(position: Any, seat: int, line: int) -> int:
    """Return the tiles in a pattern line, 0 to `line`."""
    return (widen(position.counts[seat]) >> (4 * line)) & 15


@compiled
def color_of_line(position: Any, seat: int, line: int) -> int:
    """Return the color of a pattern line, 5 if it holds jokers alone, or -1 if it is empty."""
    if count_in_line(position, seat, line) == 0:
        return -1
    return (widen(position.colors[seat]) >> (4 * line)) & 15


@compiled
def count_floor(position: Any, seat: int) -> int:
    """Return the occupied spaces of the seat's floor line, the marker included."""
    return min(widen(position.floor[seat]), widen(position.n_floor))


@compiled
def is_marker_in_center(position: Any) -> bool:
    """Return True if nobody has taken the starting player marker in this round."""
    return position.holder < 0


@compiled
def count_source(position: Any, source: int, color: int) -> int:
    """Return the tiles of a color in the center (source 0) or on a display."""
    return lane(position.sources[source], color)


@compiled
def count_on_table(position: Any, color: int) -> int:
    """Return the tiles of a color on all displays and in the center."""
    total = 0
    for source in range(position.n_displays + 1):
        total += lane(position.sources[source], color)
    return total


@compiled
def count_in_bag(position: Any, color: int) -> int:
    """Return the tiles of a color in the bag."""
    return lane(position.bag, color)


@compiled
def count_in_lid(position: Any, color: int) -> int:
    """Return the tiles of a color in the lid and on all floor lines."""
    return lane(position.lid, color)
