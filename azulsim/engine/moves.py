"""Legal moves on the printed wall: counted, numbered, and described by the facts that strategies score."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from azulsim.engine.compiling import compiled, largest_byte, lowest_bit, popcount, widen
from azulsim.engine.core import (
    DIAGONAL_BITS,
    column_bits,
    column_of,
    count_tiles,
    floor_penalty,
    lane,
    run_across,
    run_down,
    tile_in_mind,
    tiling_points,
)
from azulsim.engine.luck import derive
from azulsim.engine.move import Move


@compiled
def make_code(source: Any, color: Any, line: Any) -> Any:
    """Return the number of a move."""
    return source << 6 | color << 3 | line


@compiled
def take_index(code: Any) -> Any:
    """Return the number of what a move takes: source, color, and whether jokers come along, but not the line."""
    return (code >> 3) & 255


@compiled
def sources_of(mask: Any, color: Any) -> Any:
    """Return the sources that hold a color, bit s = source s."""
    return (mask >> (12 * color)) & 0xFFF


@compiled
def lines_of(open_lines: Any, color: Any) -> Any:
    """Return the lines open to a color, bit 0 = floor."""
    return (open_lines >> (8 * color)) & 0x3F


@compiled
def count_moves(allowed: Any) -> Any:
    """Return the number of moves of an allowed set."""
    return _count(allowed.mask, allowed.open)


@compiled
def count_legal(game: Any) -> Any:
    """Return the number of legal moves of the seat to move."""
    return _count(game.mask, game.open[game.seat])


@compiled
def _count(mask: Any, open_lines: Any) -> Any:
    n = 0
    for color in range(5):
        n += popcount(sources_of(mask, color)) * popcount(lines_of(open_lines, color))
    return n


def _make_nth_bits() -> Any:
    table = np.zeros((64, 6), np.int8)
    for bits in range(64):
        for k, i in enumerate(i for i in range(6) if bits >> i & 1):
            table[bits, k] = i
    return table


_NTH_BIT = _make_nth_bits()


@compiled
def nth_bit(bits: Any, k: Any) -> Any:
    """Return the index of the k-th set bit (from 0) of a 12-bit mask."""
    low = popcount(bits & 63)
    half, rest, first = (bits & 63, k, 0) if k < low else (bits >> 6, k - low, 6)
    return first + widen(_NTH_BIT[half, rest])


@compiled(is_inlined=True)
def nth_move(allowed: Any, k: Any) -> Any:
    """Return the code of the k-th move (from 0) of an allowed set, by color, then source, then line."""
    mask, open_lines = allowed.mask, allowed.open
    if k >= _count(mask, open_lines):
        return -1
    color = passed = n = 0
    for i in range(4):
        n += popcount(sources_of(mask, i)) * popcount(lines_of(open_lines, i))
        # no branch: which color it is cannot be predicted, and a wrong guess costs more than all of this
        color, passed = (i + 1, n) if k >= n else (color, passed)
    lines = lines_of(open_lines, color)
    n_lines = popcount(lines)
    # 32-bit division is several times cheaper than 64-bit
    which = widen(np.uint32(k - passed) // np.uint32(n_lines))
    source = nth_bit(sources_of(mask, color), which)
    return make_code(source, color, widen(_NTH_BIT[lines, k - passed - which * n_lines]))


@compiled
def is_allowed(allowed: Any, code: Any) -> bool:
    """Return True if a number is the code of a move in the set."""
    source, color, line = code >> 6, (code >> 3) & 7, code & 7
    if code < 0 or source > 11 or color > 4 or line > 5:
        return False
    return ((allowed.mask >> (12 * color + source)) & (allowed.open >> (8 * color + line)) & 1) == 1


@compiled
def tie_priority(key: Any, code: Any) -> Any:
    """Return the priority of a move among tied ones: the lowest is played.

    Keyed by the move itself, so that one more tied move elsewhere does not change which of the others comes first.
    """
    return derive(key, code)


class Best(NamedTuple):
    """The best-scored move so far; its priority is worked out only when another one ties with it."""

    value: float
    code: int
    priority: Any
    is_priority_known: bool


NO_MOVE = Best(-np.inf, -1, np.uint64(0), False)


@compiled(is_inlined=True)
def keep_best(best: Any, key: Any, value: Any, code: Any) -> Any:
    """Return the better of the best move so far and another one; ties go to the lower `tie_priority`."""
    if value > best.value:
        return Best(value, code, best.priority, False)
    if value == best.value:
        priority = best.priority if best.is_priority_known else tie_priority(key, best.code)
        other = tie_priority(key, code)
        if other < priority:
            return Best(value, code, other, True)
        return Best(value, best.code, priority, True)
    return best


class Largest(NamedTuple):
    """The most tiles of one color that lie on one display, and on a display other than that."""

    display: int
    tiles: int
    elsewhere: int


class _Before(NamedTuple):
    """What holds for all moves of a seat, computed once a move."""

    mask: int
    open: int
    wall: int
    """With complete lines tiled."""
    bare_wall: int
    counts: int
    colors: int
    full: int
    fallen: int
    base_points: int
    base_penalty: int
    marker: int
    """1 while the marker lies in the center."""
    marker_space: int
    marker_price: int
    table: int
    """All tiles on the table, in color lanes."""
    largest: Largest
    rival_row: int
    round: int


class _Target(NamedTuple):
    """What holds for all moves of one color to one line."""

    before: int
    room: int
    column: int
    row_tiles: int
    column_tiles: int
    color_tiles: int
    across: int
    down: int


@compiled
def sum_table(position: Any) -> Any:
    """Return the tiles on the table, all displays and the center, in color lanes."""
    table = position.sources[0]
    for source in range(1, position.n_displays + 1):
        table += position.sources[source]
    return table


@compiled(is_inlined=True)
def find_largest(game: Any) -> Any:
    """Return what `largest_left` needs to know of the displays."""
    display = most = elsewhere = 0
    for source in range(1, game.n_displays + 1):
        tiles = _largest_lane(game.sources[source])
        elsewhere = max(elsewhere, min(most, tiles))
        display, most = (source, tiles) if tiles > most else (display, most)
    return Largest(display, most, elsewhere)


@compiled(is_inlined=True)
def largest_left(game: Any, largest: Any, source: Any, others: Any) -> Any:
    """Return the most tiles of one color in one place, once a source is taken from and `others` are left of it."""
    center = others if source == 0 else game.sources[0] + others
    on_displays = largest.elsewhere if source == largest.display else largest.tiles
    return max(widen(on_displays), _largest_lane(center))


@compiled(is_inlined=True)
def _largest_lane(lanes: Any) -> Any:
    """Return the most tiles of one color, jokers not counted, in a word of color lanes."""
    return largest_byte(widen(lanes) & _COLOR_LANES)


_COLOR_LANES = (1 << 40) - 1


@compiled
def longest_rival_row(game: Any, seat: Any) -> Any:
    """Return the most tiles in one row of another player's wall, those of complete lines included."""
    most = 0
    for other in range(game.players):
        if other != seat:
            wall, full = widen(game.wall[other]), widen(game.full[other])
            for row in range(5):
                most = max(most, popcount((wall >> (5 * row)) & 31) + ((full >> (row + 1)) & 1))
    return most


@compiled(is_inlined=True)
def look(game: Any, allowed: Any) -> Any:
    """Return what holds for all moves of the seat to move."""
    seat = widen(game.seat)
    wall, full, colors = widen(game.wall[seat]), widen(game.full[seat]), widen(game.colors[seat])
    fallen = widen(game.floor[seat])
    points, tiled = tile_in_mind(wall, full, colors)
    return _Before(
        allowed.mask,
        allowed.open,
        tiled,
        wall,
        widen(game.counts[seat]),
        colors,
        full,
        fallen,
        points,
        floor_penalty(game, fallen),
        widen(game.holder < 0),
        game.marker_space if game.holder < 0 else 0,
        game.marker_price if game.holder < 0 else 0,
        sum_table(game),
        find_largest(game),
        longest_rival_row(game, seat),
        widen(game.round),
    )


@compiled(is_inlined=True)
def look_at_target(now: Any, color: Any, line: Any) -> Any:
    """Return what holds for all moves of one color to one line (0 = floor)."""
    color_tiles = popcount(now.wall & diagonal_of(color))
    if line == 0:
        return _Target(0, 0, 0, 0, 0, color_tiles, 0, 0)
    row, column = line - 1, column_of(line - 1, color)
    filled = now.wall | 1 << (5 * row + column)
    before = (now.counts >> (4 * line)) & 15
    return _Target(
        before,
        line - before,
        column + 1,
        popcount((now.wall >> (5 * row)) & 31),
        popcount(column_bits(now.wall, column)),
        color_tiles,
        run_across(filled, row, column),
        run_down(filled, row, column),
    )


@compiled
def diagonal_of(color: Any) -> Any:
    """Return the five spaces of a color on the colored wall, as bits of a wall."""
    return _DIAGONALS[color]


def _make_diagonals() -> Any:
    return np.array([sum(1 << (5 * row + (row + color) % 5) for row in range(5)) for color in range(5)], np.int64)


_DIAGONALS = _make_diagonals()
assert _DIAGONALS[0] == DIAGONAL_BITS


@compiled
def points_of_completing(now: Any, color: Any, line: Any) -> Any:
    """Return the points that a completed line adds to the coming wall-tiling, top to bottom (3.2)."""
    colors = (now.colors & ~(15 << (4 * line))) | (color << (4 * line))
    return tiling_points(now.bare_wall, now.full | 1 << line, colors) - now.base_points


UNKNOWN = -1
"""Stands for points of a completed line that no move needed yet."""


@compiled
def is_completing(game: Any, target: Any, source: Any, color: Any, line: Any) -> bool:
    """Return True if taking a color from a source completes the line."""
    return line > 0 and lane(game.sources[source], color) >= target.room


@compiled(is_inlined=True)
def describe(game: Any, now: Any, target: Any, points: Any, denied: Any, source: Any, color: Any, line: Any) -> Any:
    """Return the fields of `Move`, as integers.

    `points` is what the line brings if this move completes it, `denied` what it takes from the next player.
    """
    table = game.sources[source]
    tiles = lane(table, color)
    placed = min(tiles, target.room)
    overflow = tiles - placed
    marker = now.marker if source == 0 else 0
    space, price = (now.marker_space, now.marker_price) if source == 0 else (0, 0)
    completes = 1 if line > 0 and placed == target.room else 0
    earned = points if completes == 1 else 0
    penalty = floor_penalty(game, now.fallen + space + overflow) - now.base_penalty + price
    return Move(
        source,
        color,
        line,
        tiles,
        placed,
        overflow,
        marker,
        completes,
        earned - penalty,
        earned,
        penalty,
        target.before,
        target.room - placed,
        target.column,
        target.row_tiles,
        target.column_tiles,
        target.color_tiles,
        target.across,
        target.down,
        0 if source == 0 else count_tiles(table) - tiles,
        count_tiles(now.table) - tiles,
        largest_left(game, now.largest, source, table - (tiles << (8 * color))),
        min(now.fallen, widen(game.n_floor)),
        now.rival_row,
        now.round,
        widen(game.players),
        0,
        denied,
    )


@compiled(is_borrowing=True)
def fill_moves(game: Any, allowed: Any, out: Any) -> Any:
    """Write the allowed moves to `out` (MOVE[MAX_LEGAL]) by color, line, source; return how many there are.

    Their `denial` is left 0.
    """
    now = look(game, allowed)
    n = 0
    for color in range(5):
        sources = sources_of(now.mask, color)
        lines = lines_of(now.open, color) if sources else 0
        while lines:
            line = lowest_bit(lines)
            lines &= lines - 1
            target = look_at_target(now, color, line)
            points = UNKNOWN
            rest = sources
            while rest:
                source = lowest_bit(rest)
                rest &= rest - 1
                if points == UNKNOWN and is_completing(game, target, source, color, line):
                    points = points_of_completing(now, color, line)
                code = make_code(source, color, line)
                write_move(out[n], code, describe(game, now, target, points, 0, source, color, line))
                n += 1
    return n


@compiled
def write_move(record: Any, code: Any, move: Any) -> None:
    """Write a move's code and fields to a record (MOVE)."""
    record.code = code
    record.source = move.source
    record.color = move.color
    record.line = move.line
    record.tiles = move.tiles
    record.placed = move.placed
    record.overflow = move.overflow
    record.marker = move.marker
    record.completes = move.completes
    record.gain = move.gain
    record.points = move.points
    record.penalty = move.penalty
    record.before = move.before
    record.missing = move.missing
    record.column = move.column
    record.row_tiles = move.row_tiles
    record.column_tiles = move.column_tiles
    record.color_tiles = move.color_tiles
    record.across = move.across
    record.down = move.down
    record.to_center = move.to_center
    record.left = move.left
    record.largest_left = move.largest_left
    record.floor = move.floor
    record.rival_row = move.rival_row
    record.round = move.round
    record.players = move.players
    record.jokers = move.jokers
    record.denial = move.denial


@compiled
def exact_gain(game: Any, code: Any) -> Any:
    """Return the exact change of the mover's own round-end score by a move, before the clamp (points)."""
    source, color, line = code >> 6, (code >> 3) & 7, code & 7
    seat = widen(game.seat)
    fallen = widen(game.floor[seat])
    tiles = lane(game.sources[source], color)
    overflow, points = tiles, 0
    if line > 0:
        room = line - ((widen(game.counts[seat]) >> (4 * line)) & 15)
        overflow = max(0, tiles - room)
        if tiles >= room:
            wall, full, colors = widen(game.wall[seat]), widen(game.full[seat]), widen(game.colors[seat])
            with_line = (colors & ~(15 << (4 * line))) | (color << (4 * line))
            points = tiling_points(wall, full | 1 << line, with_line) - tiling_points(wall, full, colors)
    price = 0
    if source == 0 and game.holder < 0:
        overflow += game.marker_space
        price = game.marker_price
    return points - floor_penalty(game, fallen + overflow) + floor_penalty(game, fallen) - price
