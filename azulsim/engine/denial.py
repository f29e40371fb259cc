"""What a move takes away from the next player."""

from __future__ import annotations

from typing import Any

import numpy as np

from azulsim.engine.compiling import compiled, lowest_bit, make_record, widen
from azulsim.engine.core import floor_penalty, lane, tiling_points
from azulsim.engine.moves import UNKNOWN, lines_of, make_code, sources_of, take_index
from azulsim.engine.record import DENIALS
from azulsim.rules import MAX_DISPLAYS

NOTHING = -(1 << 30)
"""Stands for the best gain where there is nothing to take."""


@compiled
def best_gain_of_take(game: Any, seat: Any, color: Any, tiles: Any, marker: Any, points: Any) -> Any:
    """Return a seat's best exact gain from taking `tiles` of a color, over all lines open to it.

    `points` (int64[6]) keeps what completing each line with this color brings; `UNKNOWN` where not yet computed.
    """
    fallen = widen(game.floor[seat]) + marker * game.marker_space
    counts, colors = widen(game.counts[seat]), widen(game.colors[seat])
    wall, full = widen(game.wall[seat]), widen(game.full[seat])
    lines = lines_of(game.open[seat], color)
    best = -floor_penalty(game, fallen + tiles)
    lines &= ~1
    while lines:
        line = lowest_bit(lines)
        lines &= lines - 1
        room = line - ((counts >> (4 * line)) & 15)
        earned = 0
        if tiles >= room:
            if points[line] == UNKNOWN:
                with_line = (colors & ~(15 << (4 * line))) | (color << (4 * line))
                points[line] = tiling_points(wall, full | 1 << line, with_line) - points[0]
            earned = points[line]
        best = max(best, earned - floor_penalty(game, fallen + max(0, tiles - room)))
    return best + floor_penalty(game, widen(game.floor[seat])) - marker * game.marker_price


@compiled(is_borrowing=True)
def denial(game: Any, code: Any) -> Any:
    """Return the next seat's best exact gain if it moved now, minus its best after the move (points)."""
    denials = make_record(DENIALS).of_take
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
        Filled at `take_index` of every take there is; points.
    """
    seat = widen(game.seat) + 1
    seat = 0 if seat == game.players else seat
    center, marker = game.sources[0], widen(game.holder < 0)
    scratch = make_record(_SCRATCH)
    work, points = scratch.work, scratch.points
    work[:_MEMO] = NOTHING
    points[0] = tiling_points(widen(game.wall[seat]), widen(game.full[seat]), widen(game.colors[seat]))
    for color in range(5):
        points[1:] = UNKNOWN
        lying = lane(center, color)
        if lying:
            unmarked = marked = best_gain_of_take(game, seat, color, lying, 0, points)
            if marker:
                marked = best_gain_of_take(game, seat, color, lying, 1, points)
            work[_UNMARKED + color] = unmarked
            for source in range(game.n_displays + 1):
                work[5 * source + color] = marked
        sources, seen = sources_of(game.mask, color) & ~1, 0
        while sources:
            source = lowest_bit(sources)
            sources &= sources - 1
            tiles = lane(game.sources[source], color)
            memo = _MEMO + 2 * tiles
            if (seen >> tiles) & 1 == 0:
                seen |= 1 << tiles
                work[memo] = best_gain_of_take(game, seat, color, tiles, 0, points)
                work[memo + 1] = best_gain_of_take(game, seat, color, lying + tiles, marker, points)
            work[_DISPLAYS + source] = max(work[_DISPLAYS + source], work[memo])
            work[5 * source + color] = work[memo + 1]
    first = second = NOTHING
    for source in range(1, game.n_displays + 1):
        offer = work[_DISPLAYS + source]
        first, second = max(first, offer), max(second, min(first, offer))
    before = max(first, best_but_one(work, 0, -1))
    for color in range(5):
        sources = sources_of(game.mask, color)
        while sources:
            source = lowest_bit(sources)
            sources &= sources - 1
            if source == 0:
                after = max(first, best_but_one(work, _UNMARKED, color))
            else:
                others = second if work[_DISPLAYS + source] == first else first
                after = max(others, work[color], best_but_one(work, 5 * source, color))
            denials[take_index(make_code(source, color, 0))] = before - (0 if after == NOTHING else after)


_DISPLAYS = 5 * (MAX_DISPLAYS + 1)
_UNMARKED = _DISPLAYS + MAX_DISPLAYS + 1
_MEMO = _UNMARKED + 5
_MOST_TILES = 64
"""Where the next player's best gains stand. From 0, those of the five colors in the center as it lies, then, five by
five, once the rest of a display is pushed there; of each display; of each color in the center once the marker is gone;
by number of tiles of the color at hand, from a display and from the center."""
_SCRATCH = np.dtype([("work", "i8", _MEMO + 2 * _MOST_TILES), ("points", "i8", 6)])


@compiled(is_inlined=True)
def best_but_one(work: Any, start: Any, left_out: Any) -> Any:
    """Return the best gain of five colors but for one of them."""
    best = NOTHING
    for color in range(5):
        if color != left_out:
            best = max(best, work[start + color])
    return best
