"""Moves ranked by what they make of the mover's own board, and taken back: what the bundled searches walk through.

A ranked move is one number, its value above `CODE_BITS` and below them its code, turned round so that among equal
values the lower code comes first in descending order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from azulsim.engine.compiling import compiled, lowest_bit, widen
from azulsim.engine.core import column_of, lane, wall_when_tiled
from azulsim.engine.moves import lines_of, make_code, sources_of
from azulsim.engine.record import JOKER, MAX_LEGAL, WITH_JOKERS
from azulsim.engine.table import list_moves, play
from azulsim.strategy.evaluation import EVALUATION, find_board, look_at_walls, value_lines, value_seat

CODE_BITS = 16
_CODES = (1 << CODE_BITS) - 1

MEMORY = np.dtype(
    [
        ("seat", "i8"),
        ("source", "i8"),
        ("tiles", "i8"),
        ("center", "i8"),
        ("mask", "i8"),
        ("joker_mask", "i8"),
        ("lid", "i8"),
        ("open", "i8"),
        ("holder", "i8"),
        ("counts", "i8"),
        ("colors", "i8"),
        ("line_jokers", "i8"),
        ("full", "i8"),
        ("floor", "i8"),
    ],
    align=True,
)
"""What a move changes, as it was before."""

RANKING = np.dtype([("evaluation", EVALUATION), ("before", MEMORY), ("codes", "i2", MAX_LEGAL)], align=True)


@compiled
def value_of(ranked: Any) -> Any:
    """Return the value of a ranked move."""
    return ranked >> CODE_BITS


@compiled
def code_of(ranked: Any) -> Any:
    """Return the code of a ranked move."""
    return _CODES - (ranked & _CODES)


@compiled
def remember(game: Any, memory: Any) -> None:
    """Keep what a move of the seat to move can change, but for the source it takes from."""
    seat = widen(game.seat)
    memory.seat = seat
    memory.center, memory.mask, memory.joker_mask = game.sources[0], game.mask, game.joker_mask
    memory.lid, memory.holder, memory.open = game.lid, game.holder, game.open[seat]
    memory.counts, memory.colors, memory.line_jokers = game.counts[seat], game.colors[seat], game.line_jokers[seat]
    memory.full, memory.floor = game.full[seat], game.floor[seat]


@compiled
def play_remembered(game: Any, memory: Any, code: Any) -> None:
    """Play a move from a remembered position."""
    memory.source = (code >> 6) & 15
    memory.tiles = game.sources[memory.source]
    play(game, code)


@compiled
def take_back(game: Any, memory: Any) -> None:
    """Undo the last move played from a remembered position."""
    seat = memory.seat
    game.seat = seat
    game.sources[memory.source] = memory.tiles
    game.sources[0], game.mask, game.joker_mask = memory.center, memory.mask, memory.joker_mask
    game.lid, game.holder, game.open[seat] = memory.lid, memory.holder, memory.open
    game.counts[seat], game.colors[seat], game.line_jokers[seat] = memory.counts, memory.colors, memory.line_jokers
    game.full[seat], game.floor[seat] = memory.full, memory.floor


@compiled
def is_double(game: Any, sources: Any, source: Any) -> bool:
    """Return True if an earlier one of some displays holds the same tiles, so that both lead to the same positions."""
    earlier = sources & ((1 << source) - 1) & ~1
    while source > 0 and earlier:
        if game.sources[lowest_bit(earlier)] == game.sources[source]:
            return True
        earlier &= earlier - 1
    return False


@compiled
def rank_moves(game: Any, ranking: Any, allowed: Any, stack: Any, base: Any) -> Any:
    """Write the allowed moves, ranked but not sorted, to `stack[base:]`; return how many there are.

    Of moves that differ only in which of several equal displays they take from, one is kept. If the stack is full, the
    moves that find no room are left out.
    """
    if game.is_general:
        return rank_general(game, ranking, allowed, stack, base)
    return rank_printed(game, ranking.evaluation, allowed.mask, allowed.open, stack, base)


@compiled
def rank_printed(game: Any, evaluation: Any, mask: Any, open_lines: Any, stack: Any, base: Any) -> Any:
    """Do so on the printed wall, where no move has to be played to know what it makes of a board."""
    seat = widen(game.seat)
    longest, is_ending = look_at_walls(game, evaluation, seat)
    counts, colors, full = widen(game.counts[seat]), widen(game.colors[seat]), widen(game.full[seat])
    wall = wall_when_tiled(widen(game.wall[seat]), full, colors)
    now = find_board(game, evaluation, seat, wall, full, colors)
    has_marker = game.holder == seat
    n, room_left = base, len(stack)
    for color in range(5):
        sources = sources_of(mask, color)
        rest = sources
        while rest:
            source = lowest_bit(rest)
            rest &= rest - 1
            if is_double(game, sources, source):
                continue
            tiles = lane(game.sources[source], color)
            takes_marker = source == 0 and game.holder < 0
            fallen = widen(game.floor[seat]) + (widen(game.marker_space) if takes_marker else 0)
            lines = lines_of(open_lines, color)
            while lines and n < room_left:
                line = lowest_bit(lines)
                lines &= lines - 1
                at, new_counts, new_colors, placed = now, counts, colors, 0
                if line > 0:
                    shift = 4 * line
                    room = line - ((counts >> shift) & 15)
                    placed = min(room, tiles)
                    new_counts = counts + (placed << shift)
                    new_colors = (colors & ~(15 << shift)) | (color << shift)
                    if placed == room:
                        space = 1 << (5 * (line - 1) + column_of(line - 1, color))
                        at = find_board(game, evaluation, seat, wall | space, full | 1 << line, new_colors)
                value = value_lines(
                    game,
                    evaluation,
                    seat,
                    at,
                    new_counts,
                    new_colors,
                    fallen + tiles - placed,
                    has_marker or takes_marker,
                    longest,
                    is_ending,
                )
                stack[n] = (value << CODE_BITS) | (_CODES - make_code(source, color, line))
                n += 1
    return n - base


@compiled
def rank_general(game: Any, ranking: Any, allowed: Any, stack: Any, base: Any) -> Any:
    """Do so under any rules: each move is played, its board looked at, and taken back."""
    seat = widen(game.seat)
    longest, is_ending = look_at_walls(game, ranking.evaluation, seat)
    remember(game, ranking.before)
    n = base
    for i in range(list_moves(game, allowed, ranking.codes)):
        code = widen(ranking.codes[i])
        source, color = (code >> 6) & 15, (code >> 3) & 7
        sources = allowed.joker_mask if color == JOKER else sources_of(allowed.mask, color)
        if code & WITH_JOKERS:
            sources &= allowed.joker_mask
        if n == len(stack) or is_double(game, sources, source):
            continue
        play_remembered(game, ranking.before, code)
        value, _ = value_seat(game, ranking.evaluation, seat, longest, is_ending)
        take_back(game, ranking.before)
        stack[n] = (value << CODE_BITS) | (_CODES - code)
        n += 1
    return n - base
