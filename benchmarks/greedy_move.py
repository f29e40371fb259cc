"""Greedy as an author would write it by hand, compiled: the same games as `greedy`, for measuring and for tests.

It shows what a compiled move looks like, and what the public `score` costs against it.
"""

from typing import Any

from azulsim.strategy import strategy
from azulsim.strategy.toolbox import (
    floor_penalty,
    lane,
    lines_of,
    lowest_bit,
    make_code,
    sources_of,
    tie_priority,
    tiling_points,
)


@strategy(reads_only=True)
def greedy_move(scratch: Any, moves: Any, key: Any, params: Any, workspace: Any) -> int:
    """Play the move with the best exact change of its own round-end score; ties are broken evenly."""
    seat = scratch.seat
    wall, full, colors, counts = scratch.wall[seat], scratch.full[seat], scratch.colors[seat], scratch.counts[seat]
    base = tiling_points(wall, full, colors)
    best, best_code, priority, is_priority_known = -1000000, -1, key, False
    for color in range(5):
        sources = sources_of(moves.mask, color)
        lines = lines_of(moves.open, color) if sources else 0
        while lines:
            line = lowest_bit(lines)
            lines &= lines - 1
            room = line - ((counts >> (4 * line)) & 15)
            points = -1
            rest = sources
            while rest:
                source = lowest_bit(rest)
                rest &= rest - 1
                tiles = lane(scratch.sources[source], color)
                fallen = scratch.floor[seat] + max(0, tiles - room)
                price = 0
                if source == 0 and scratch.holder < 0:
                    fallen += scratch.marker_space
                    price = scratch.marker_price
                value = -floor_penalty(scratch, fallen) - price
                if line > 0 and tiles >= room:
                    if points < 0:
                        with_line = (colors & ~(15 << (4 * line))) | (color << (4 * line))
                        points = tiling_points(wall, full | 1 << line, with_line) - base
                    value += points
                if value < best:
                    continue
                code = make_code(source, color, line)
                if value > best:
                    best, best_code, is_priority_known = value, code, False
                    continue
                if not is_priority_known:
                    priority, is_priority_known = tie_priority(key, best_code), True
                other = tie_priority(key, code)
                if other < priority:
                    best_code, priority = code, other
    return best_code
