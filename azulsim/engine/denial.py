"""What a seat can gain from the tiles on the table, and what a move takes away from the next player."""

from __future__ import annotations

from typing import Any

import numpy as np

from azulsim.engine.compiling import compiled, lowest_bit, reserve_record, widen
from azulsim.engine.core import (
    COLUMN_BITS,
    column_of,
    floor_penalty,
    lane,
    points_of_tile,
    tiling_points,
    wall_when_tiled,
)
from azulsim.engine.moves import make_code, take_index
from azulsim.engine.record import DENIALS, LANE_TOPS, LANES, MAX_TILES, NONE_FALLEN
from azulsim.rules import MAX_DISPLAYS

NOTHING = -20_000
"""Stands for the gain where there is nothing to take."""

_TILES = MAX_TILES + 1
"""Numbers of tiles for which gains are kept."""
GAINS = np.dtype(
    [
        ("without_marker", "i2", 5 * _TILES),
        ("with_marker", "i2", 5 * _TILES),
    ]
)
"""A seat's best exact gain from taking 0 to 31 tiles of a color, color by color, from a display or a center without the
marker, and with the marker."""
_SCRATCH = np.dtype([("gains", GAINS), ("offers", "i8", MAX_DISPLAYS + 1)])

_IS_FILLED = np.array([0] * NONE_FALLEN + [-1] * _TILES, np.int16)
"""All bits set from index `NONE_FALLEN` on."""
_FILLED_LANES = 0x7F7F7F7F7F
_index = np.uint64
"""Indices that never count from the end, so that loops over them are done many elements at a time."""


@compiled
def gain_of(gains: Any, color: Any, tiles: Any) -> Any:
    """Return the gain from a number of tiles of a color; `NOTHING` for none."""
    return widen(gains[_index(_TILES * color + tiles)])


@compiled
def displays_in_use(game: Any) -> Any:
    """Return the displays that hold tiles, bit s = display s."""
    mask = game.mask
    return (mask | mask >> 12 | mask >> 24 | mask >> 36 | mask >> 48) & 0xFFE


@compiled(is_borrowing=True)
def find_gains(game: Any, seat: Any, gains: Any) -> None:
    """Find a seat's best exact gains from taking what may come to lie on the table, over all lines open to it.

    Parameters
    ----------
    gains : GAINS
        Filled for every number of tiles that lies at a source, or will when a display is pushed to the center; those
        with the marker only if it lies there.
    """
    pushed = 0
    for source in range(1, game.n_displays + 1):
        pushed |= game.sources[source]
    most = game.sources[0] + pushed  # of each color, or a few more
    is_marked = game.holder < 0
    n_floor, penalties = widen(game.n_floor), game.penalty
    fallen = min(widen(game.floor[seat]), n_floor)
    fallen_with = min(fallen + game.marker_space, n_floor)
    price = floor_penalty(game, fallen_with) - floor_penalty(game, fallen) + game.marker_price
    counts, colors = widen(game.counts[seat]), widen(game.colors[seat])
    wall, full = widen(game.wall[seat]), widen(game.full[seat])
    tiled = wall_when_tiled(wall, full, colors)
    completed = 0
    for line in range(1, 6):
        room = line - ((counts >> (4 * line)) & 15)
        completed |= (((most | LANE_TOPS) - room * LANES) & LANE_TOPS) >> (7 - line)
    present = ((most + _FILLED_LANES) >> 7) & LANES
    spaces = game.open[seat] & (present * 0b111110)
    _start(gains.without_marker, penalties, fallen, 0, spaces & ~completed)
    if is_marked:
        _start(gains.with_marker, penalties, fallen_with, price, spaces & ~completed)
    spaces &= completed
    while spaces:
        space = lowest_bit(spaces)
        spaces &= spaces - 1
        color, line = space >> 3, space & 7
        room = line - ((counts >> (4 * line)) & 15)
        points = added_points(wall, tiled, full, colors, color, line)
        _raise(gains.without_marker, penalties, color, fallen, room, points, 0)
        if is_marked:
            _raise(gains.with_marker, penalties, color, fallen_with, room, points, price)
    for color in range(5):
        gains.without_marker[_index(_TILES * color)] = NOTHING
    if is_marked:
        for color in range(5):
            gains.with_marker[_index(_TILES * color)] = NOTHING


@compiled(is_borrowing=True, is_inlined=True)
def _start(gains: Any, penalties: Any, fallen: Any, price: Any, unfilled: Any) -> None:
    """Set the gains to those of lines that cannot be completed and of the floor line.

    `unfilled` has a bit for every such line, as `GAME.open` has.
    """
    now, at = np.int16(penalties[_index(NONE_FALLEN + fallen)] - price), _index(NONE_FALLEN + fallen)
    least = (
        _least(unfilled, 0, price),
        _least(unfilled, 1, price),
        _least(unfilled, 2, price),
        _least(unfilled, 3, price),
        _least(unfilled, 4, price),
    )
    for tiles in range(_TILES):
        gain = np.int16(now - penalties[at + _index(tiles)])
        for color in range(5):
            gains[_index(_TILES * color + tiles)] = gain if gain > least[color] else least[color]


@compiled(is_inlined=True)
def _least(unfilled: Any, color: Any, price: Any) -> Any:
    """Return what a color brings at least: only the marker is paid for if it has a line that it cannot complete."""
    return np.int16(-price if (unfilled >> (8 * color)) & 0b111110 else NOTHING)


@compiled(is_borrowing=True, is_inlined=True)
def _raise(gains: Any, penalties: Any, color: Any, fallen: Any, room: Any, points: Any, price: Any) -> None:
    """Raise the gains of a color to those of completing a line that brings points, where they are more."""
    first, at, filled = _index(_TILES * color), _index(NONE_FALLEN + fallen - room), _index(NONE_FALLEN - room)
    best, cost = np.int16(points + penalties[_index(NONE_FALLEN + fallen)]), np.int16(price)
    for tiles in range(_TILES):
        gain = np.int16(best - penalties[at + _index(tiles)]) & _IS_FILLED[filled + _index(tiles)]
        gain = np.int16(gain - cost)
        before = gains[first + _index(tiles)]
        gains[first + _index(tiles)] = gain if gain > before else before


@compiled
def added_points(wall: Any, tiled: Any, full: Any, colors: Any, color: Any, line: Any) -> Any:
    """Return the points that a line, once completed with a color, adds to the coming wall-tiling, top to bottom (3.2).

    `tiled` is the wall with the complete lines `full` tiled. Those above lie there when the line is tiled. Those below
    come later: the new tile changes what they score only where one of them goes to its column.
    """
    row, column = line - 1, column_of(line - 1, color)
    new, above = tiled & ~wall, (1 << (5 * row)) - 1
    if new & ~above & (COLUMN_BITS << column) == 0:
        return points_of_tile(wall | (new & above) | 1 << (5 * row + column), row, column)
    with_line = (colors & ~(15 << (4 * line))) | (color << (4 * line))
    return tiling_points(wall, full | 1 << line, with_line) - tiling_points(wall, full, colors)


@compiled(is_borrowing=True)
def denial(game: Any, code: Any) -> Any:
    """Return the next seat's best exact gain if it moved now, minus its best after the move (points)."""
    denials = reserve_record(DENIALS).of_take
    find_denials(game, denials)
    return denials[take_index(code)]


@compiled(is_borrowing=True)
def find_denials(game: Any, denials: Any) -> None:
    """Find for each take of the seat to move what it takes from the next player.

    That is the next seat's best exact gain if it moved now (imagined in the mover's place at the same table) minus its
    best after the take; with nothing left after the take, its best is 0.

    Parameters
    ----------
    denials : int64[TAKES]
        Filled at `take_index` of every take there is; points. What stands for others means nothing.
    """
    seat = widen(game.seat) + 1
    seat = 0 if seat == game.players else seat
    scratch = reserve_record(_SCRATCH)
    gains, center = scratch.gains.without_marker, game.sources[0]
    find_gains(game, seat, scratch.gains)
    if_empty = 0 if game.mask & (game.mask - 1) == 0 else NOTHING  # the only take leaves nothing to gain
    first = second = NOTHING
    displays = displays_in_use(game)
    while displays:
        source = lowest_bit(displays)
        displays &= displays - 1
        offer = _two_best(gains, game.sources[source])[0]
        scratch.offers[source] = offer
        first, second = max(first, offer), max(second, min(first, offer))
    best, next_best = _two_best(gains, center)
    before = max(first, best)
    if game.holder < 0:
        before = max(first, _two_best(scratch.gains.with_marker, center)[0])
    if center:
        for color in range(5):
            others = next_best if gain_of(gains, color, lane(center, color)) == best else best
            denials[take_index(make_code(0, color, 0))] = before - max(max(first, if_empty), others)
    if game.holder < 0:
        gains = scratch.gains.with_marker
    displays = displays_in_use(game)
    while displays:
        source = lowest_bit(displays)
        displays &= displays - 1
        rest = max(second if scratch.offers[source] == first else first, if_empty)
        then = center + game.sources[source]
        best, next_best = _two_best(gains, then)
        for color in range(5):
            others = next_best if gain_of(gains, color, lane(then, color)) == best else best
            after = max(max(others, rest), gain_of(gains, color, lane(center, color)))
            denials[take_index(make_code(source, color, 0))] = before - after


@compiled(is_inlined=True)
def _two_best(gains: Any, tiles: Any) -> Any:
    """Return the best and the next best gain among the colors of a source."""
    best = next_best = NOTHING
    for color in range(5):
        gain = gain_of(gains, color, lane(tiles, color))
        best, next_best = max(best, gain), max(next_best, min(best, gain))
    return best, next_best
