"""What a strategy may call: questions about a position, and the pieces of compiled moves and searches.

A position is a game record (`azulsim.engine.record.GAME`); ask it through these functions, which run in plain Python
and in compiled code alike, but for `copy_record`, `lowest_bit` and `popcount`, which only compiled code can call.

Seats count from 0; sources, lines, rows and columns as on the table: source 0 is the center, line 0 the floor line,
rows and columns 1 to 5; colors are 0 B, 1 Y, 2 R, 3 K, 4 W, 5 joker.

Everything works under all rules, but for `column_of`, `diagonal_of`, `tiled_wall`, `tiling_points` and
`wall_when_tiled`, which know the printed wall only, and `lines_of`, `sources_of` and `make_code`, which know no jokers.

`deal_round`, `end_round`, `play`, `tile` and `tile_lines` change the position they are given, which is a copy that a
strategy may spoil.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from azulsim.engine import general
from azulsim.engine.compiling import compiled, copy_record, lowest_bit, make_record, popcount, reserve_record, widen
from azulsim.engine.core import (
    LEDGERS,
    bonus_points,
    column_bits,
    column_of,
    count_complete,
    count_tiles,
    deal,
    floor_penalty,
    lane,
    points_of_tile,
    run_across,
    run_down,
    run_points,
    settle,
    tile_in_mind,
    tiling_points,
    wall_when_tiled,
)
from azulsim.engine.denial import GAINS, NOTHING, displays_in_use, find_gains, gain_of
from azulsim.engine.foreseen import as_record, mover, points_of_lines, tiled_wall, tiles_on_table
from azulsim.engine.luck import below, derive
from azulsim.engine.moves import (
    diagonal_of,
    lines_of,
    make_code,
    sources_of,
    tie_priority,
)
from azulsim.engine.record import JOKER, MAX_LEGAL, WITH_JOKERS
from azulsim.engine.table import count_moves, exact_gain, is_allowed, list_moves, nth_move, play, tile

__all__ = [
    "MAX_LEGAL",
    "as_record",
    "below",
    "best_gain",
    "best_rival",
    "best_space",
    "bonus_points",
    "color_of_line",
    "column_of",
    "compiled",
    "copy_record",
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
    "deal_round",
    "derive",
    "end_round",
    "exact_gain",
    "floor_penalty",
    "fraction",
    "has_begun",
    "has_tile",
    "is_allowed",
    "is_marker_in_center",
    "is_printed",
    "is_round_over",
    "keep_only",
    "lane",
    "lines_of",
    "list_moves",
    "lowest_bit",
    "make_code",
    "marker_holder",
    "marker_price",
    "mover",
    "nth_move",
    "penalty_of",
    "play",
    "points_of_tile",
    "popcount",
    "run_across",
    "run_down",
    "run_points",
    "score_if_tiled",
    "score_of",
    "seat_to_move",
    "sources_of",
    "standing_of",
    "tie_priority",
    "tile",
    "tile_lines",
    "tiled_wall",
    "tiling_points",
    "wall_when_tiled",
]

_tile_in_mind, _tiles_in_mind, _kinds_of_lines = general.tile_in_mind, general.tiles_in_mind, general.kinds_of_lines
_columns_of_line, _best_column = general.columns_of_line, general.best_column
_general_best_gain = general.best_gain


@compiled
def count_players(position: Any) -> int:
    """Return the number of players."""
    return widen(position.players)


@compiled
def seat_to_move(position: Any) -> int:
    """Return the seat to move."""
    return widen(position.seat)


@compiled
def score_of(position: Any, seat: int) -> int:
    """Return a seat's score, points."""
    return widen(position.score[seat])


@compiled
def is_printed(position: Any) -> bool:
    """Return True if each tile has one space in a row, printed on the wall, and there are no jokers."""
    return widen(position.is_general) == 0


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
def has_begun(position: Any, seat: int, color: int) -> bool:
    """Return True if a pattern line of the seat holds tiles of a color and is not complete.

    It looks at all lines at once, so that a score may ask for every move.
    """
    counts, colors = widen(position.counts[seat]), widen(position.colors[seat])
    others = _lanes_in_use(colors ^ (color * _LINES))
    return _lanes_in_use(counts) & _lanes_in_use(counts ^ _COMPLETE) & ~others != 0


@compiled
def _lanes_in_use(lanes: Any) -> int:
    """Return the lowest bit of the lane of each pattern line that is not 0."""
    return (lanes | lanes >> 1 | lanes >> 2 | lanes >> 3) & _LINES


_LINES = 0x111110
_COMPLETE = 0x543210


@compiled
def count_floor(position: Any, seat: int) -> int:
    """Return the occupied spaces of the seat's floor line, the marker included."""
    return min(widen(position.floor[seat]), widen(position.n_floor))


@compiled
def is_marker_in_center(position: Any) -> bool:
    """Return True if nobody has taken the starting player marker in this round."""
    return position.holder < 0


@compiled
def marker_holder(position: Any) -> int:
    """Return the seat that took the starting player marker in this round; -1 while it lies in the center."""
    return widen(position.holder)


@compiled
def count_source(position: Any, source: int, color: int) -> int:
    """Return the tiles of a color in the center (source 0) or on a display."""
    return lane(position.sources[source], color)


@compiled
def count_on_table(position: Any, color: int) -> int:
    """Return the tiles of a color on all displays and in the center."""
    return lane(tiles_on_table(position), color)


@compiled
def count_in_bag(position: Any, color: int) -> int:
    """Return the tiles of a color in the bag."""
    return lane(position.bag, color)


@compiled
def count_in_lid(position: Any, color: int) -> int:
    """Return the tiles of a color in the lid and on all floor lines."""
    return lane(position.lid, color)


@compiled
def penalty_of(position: Any, seat: int) -> int:
    """Return the points that a seat's floor line and the marker cost it as things are."""
    price = widen(position.marker_price) if position.holder == seat else 0
    return widen(floor_penalty(position, widen(position.floor[seat]))) + price


@compiled
def standing_of(position: Any, seat: int) -> int:
    """Return a number by which seats rank as things are: score first, then complete rows (5.3)."""
    return 8 * widen(position.score[seat]) + widen(count_complete(widen(position.wall[seat]))[0])


@compiled
def best_rival(position: Any, seat: int) -> int:
    """Return the other seat that ranks best as things are; the lowest number among equals."""
    best = 1 if seat == 0 else 0
    for other in range(best + 1, position.players):
        if other != seat and standing_of(position, other) > standing_of(position, best):
            best = other
    return best


@compiled
def score_if_tiled(position: Any, seat: int) -> int:
    """Return the score that a seat would have if the round ended now, points: not clamped at 0 and without bonuses.

    Complete lines are tiled as `tile_lines` does; nothing is changed.
    """
    if position.is_general:
        copy = copy_record(as_record(position))
        points = tile_lines(copy, seat)
        return score_of(position, seat) + points - penalty_of(copy, seat)
    return score_of(position, seat) + points_of_lines(position, seat) - penalty_of(position, seat)


@compiled
def best_space(position: Any, seat: int, line: int) -> Any:
    """Return (column, points) of the space where the tile of a line that is not empty would score most now.

    Columns count from 1, and the leftmost among equals is meant; (0, 0) if there is no space. Other lines count as
    they are: not tiled yet.
    """
    row, wall = line - 1, widen(position.wall[seat])
    if position.is_general:
        record = as_record(position)
        columns = widen(_columns_of_line(record, seat, line))
        if columns == 0:
            return 0, 0
        best, points = _best_column(record, wall, row, columns)
        return widen(best) + 1, widen(points)
    column = widen(column_of(row, (widen(position.colors[seat]) >> (4 * line)) & 15))
    return column + 1, widen(points_of_tile(wall | 1 << (5 * row + column), row, column))


@compiled
def best_gain(position: Any) -> int:
    """Return the best exact gain among all moves of the seat to move; 0 if no tiles are left on the table."""
    seat = widen(position.seat)
    if position.is_general:
        return widen(_general_best_gain(as_record(position), seat))
    if position.mask == 0:
        return 0
    gains = reserve_record(GAINS)
    find_gains(position, seat, gains)
    best = NOTHING
    for color in range(5):
        tiles = lane(position.sources[0], color)
        if position.holder < 0:
            best = max(best, gain_of(gains.with_marker, color, tiles))
        else:
            best = max(best, gain_of(gains.without_marker, color, tiles))
    displays = displays_in_use(position)
    while displays:
        source = lowest_bit(displays)
        displays &= displays - 1
        for color in range(5):
            best = max(best, gain_of(gains.without_marker, color, lane(position.sources[source], color)))
    return best


@compiled
def is_round_over(position: Any) -> bool:
    """Return True if no tiles are left on the table, so that wall-tiling comes next."""
    return widen(position.mask) | widen(position.joker_mask) == 0


@compiled
def tile_lines(position: Any, seat: int) -> int:
    """Tile a seat's complete lines, each where it scores most at once, and return the points.

    Score and lid stay as they are; lines without a space fall to the floor line. This is what exact gain means: points
    minus `penalty_of` afterwards.
    """
    position = as_record(position)
    full, colors, counts = widen(position.full[seat]), widen(position.colors[seat]), widen(position.counts[seat])
    jokers = widen(position.line_jokers[seat])
    if position.is_general:
        kinds = _kinds_of_lines(position, seat)
        points, spilled, wall = _tile_in_mind(position, seat, widen(position.wall[seat]), full, kinds)
        position.floor[seat] += spilled
        for color in range(6):
            position.tiles[seat, color] = _tiles_in_mind(position, seat, wall, kinds, color)
    else:
        points, wall = tile_in_mind(widen(position.wall[seat]), full, colors)
    while full:
        line = lowest_bit(full)
        full &= full - 1
        counts &= ~(15 << (4 * line))
        jokers &= ~(15 << (4 * line))
    position.wall[seat], position.counts[seat], position.line_jokers[seat] = wall, counts, jokers
    position.full[seat] = 0
    return widen(points)


@compiled
def end_round(position: Any) -> bool:
    """End the round now: tile all walls, pay the floors, add the bonuses if the game is over; return True if it is.

    Where there is a choice of column it is the engine's own. Nothing is dealt.
    """
    position, ledger = as_record(position), make_record(LEDGERS).of_seat
    tile(position, ledger)
    if position.termination == 0:
        return False
    settle(position, ledger)
    return True


@compiled
def deal_round(position: Any, key: Any) -> bool:
    """Deal a round, after `end_round`, from bag and lid under a key of one's own; return False if the game is over.

    It is over, and has its bonuses, if there is no tile to deal. What a real game deals has another key, which no
    strategy knows.
    """
    position = as_record(position)
    if deal(position, key):
        return True
    settle(position, make_record(LEDGERS).of_seat)
    return False


@compiled
def marker_price(position: Any, seat: int) -> int:
    """Return the points that taking the starting player marker now would cost a seat by itself."""
    if position.marker_space == 0:
        return widen(position.marker_price)
    fallen = widen(position.floor[seat])
    return floor_penalty(position, fallen + 1) - floor_penalty(position, fallen)


@compiled
def fraction(key: Any) -> float:
    """Return a number from 0 to below 1, uniform over keys."""
    return (np.uint64(key) >> np.uint64(11)) * 2.0**-53


@compiled
def keep_only(moves: Any, code: int) -> None:
    """Narrow a set of moves to the source, color and line of one of them.

    With jokers, whether they come along and how many stay on the line is left open.
    """
    source, color, line = (code >> 6) & 15, (code >> 3) & 7, code & 7
    moves.mask &= 0 if color == JOKER else 1 << (12 * color + source)
    moves.joker_mask &= 1 << source if color == JOKER or code & WITH_JOKERS else 0
    moves.open &= 1 << (8 * color + line)
