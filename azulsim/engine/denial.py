"""What a move takes away from the next player."""

from __future__ import annotations

from typing import Any

import numpy as np

from azulsim.engine.compiling import compiled, lowest_bit, widen
from azulsim.engine.core import floor_penalty, lane, tiling_points
from azulsim.engine.moves import UNKNOWN, lines_of, sources_of

_WORST = -(1 << 30)


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


@compiled
def denial(game: Any, code: Any) -> Any:
    """Return the next seat's best exact gain if it moved now, minus its best after the move (points).

    Before the move the next seat is imagined in the mover's place at the same table. With nothing left on the table
    after the move, the best gain after is 0.
    """
    source, taken = code >> 6, (code >> 3) & 7
    seat = widen(game.seat) + 1
    seat = 0 if seat == game.players else seat
    center = game.sources[0]
    marker = widen(game.holder < 0)
    marker_after = 0 if source == 0 else marker
    pushed = 0 if source == 0 else game.sources[source] & ~(255 << (8 * taken))
    center_after = center & ~(255 << (8 * taken)) if source == 0 else center + pushed
    points = np.empty(6, np.int64)
    points[0] = tiling_points(widen(game.wall[seat]), widen(game.full[seat]), widen(game.colors[seat]))
    before = after = _WORST
    for color in range(5):
        points[1:] = UNKNOWN
        others = sources_of(game.mask, color) & ~1
        own = source > 0 and (others >> source) & 1
        others &= ~(1 << source)
        seen = 0
        while others:
            tiles = lane(game.sources[lowest_bit(others)], color)
            others &= others - 1
            if (seen >> tiles) & 1:
                continue
            seen |= 1 << tiles
            gain = best_gain_of_take(game, seat, color, tiles, 0, points)
            before, after = max(before, gain), max(after, gain)
        if own:
            before = max(before, best_gain_of_take(game, seat, color, lane(game.sources[source], color), 0, points))
        in_center, still_in_center = lane(center, color), lane(center_after, color)
        if in_center:
            before = max(before, best_gain_of_take(game, seat, color, in_center, marker, points))
        if still_in_center:
            after = max(after, best_gain_of_take(game, seat, color, still_in_center, marker_after, points))
    return before - (0 if after == _WORST else after)
