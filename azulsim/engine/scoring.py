"""From `score(move, ...)` to a compiled strategy: the loop over the legal moves, with the score inlined into it."""

from __future__ import annotations

import types as python_types
from collections.abc import Callable, Sequence
from typing import Any

import numba
import numpy as np
from numba import types
from numba.np.unsafe.ndarray import to_fixed_tuple

from azulsim.engine import general
from azulsim.engine.compiling import (
    as_pointer,
    compile_for,
    compiled,
    copy_record,
    lowest_bit,
    make_call,
    popcount,
    widen,
)
from azulsim.engine.core import column_bits, play, run_across, run_down
from azulsim.engine.move import Move, Spot
from azulsim.engine.moves import (
    NO_MOVE,
    UNKNOWN,
    describe,
    is_completing,
    keep_best,
    lines_of,
    look,
    look_at_target,
    make_code,
    points_of_completing,
    sources_of,
    tie_priority,
)
from azulsim.engine.record import ALLOWED_TYPE, GAME_TYPE, JOKER, MAX_LEGAL, SEAT_TYPE

MOVE_SIGNATURE = types.int64(GAME_TYPE, ALLOWED_TYPE, types.uint64, SEAT_TYPE)
"""What the driver calls: `move(game, allowed, key, seat) -> code`."""

PLACE_SIGNATURE = types.int64(GAME_TYPE, types.int64, types.int64, types.int64, types.uint64, SEAT_TYPE)
"""What the driver calls on a wall with a choice: `place(game, seat number, line, columns, key, seat) -> column`.

`columns` are the legal ones as bits (bit 0 = column 1), the answer is a column from 1, or 0 to decline."""

NOT_A_NUMBER = -2
"""Answer of a scored strategy whose score was NaN or infinite."""

_color_of, _count_possible, _points_at = general.color_of, general.count_possible, general.points_at

call_move = make_call(MOVE_SIGNATURE)
call_place = make_call(PLACE_SIGNATURE)


@compiled
def as_floats(move: Any) -> Any:
    """Return the fields of a move as float64, so that all three speeds compute in the same numbers."""
    return Move(
        float(move.source),
        float(move.color),
        float(move.line),
        float(move.tiles),
        float(move.placed),
        float(move.overflow),
        float(move.marker),
        float(move.completes),
        float(move.gain),
        float(move.points),
        float(move.penalty),
        float(move.before),
        float(move.missing),
        float(move.column),
        float(move.row_tiles),
        float(move.column_tiles),
        float(move.color_tiles),
        float(move.across),
        float(move.down),
        float(move.to_center),
        float(move.left),
        float(move.floor),
        float(move.rival_row),
        float(move.round),
        float(move.jokers),
    )


def positional(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the same function with its keyword-only parameters made positional, which Numba asks for."""
    code = function.__code__
    return python_types.FunctionType(
        code.replace(co_argcount=code.co_argcount + code.co_kwonlyargcount, co_kwonlyargcount=0),
        function.__globals__,
        function.__name__,
        None,
        function.__closure__,
    )


def make_scored(score: Callable[..., float], n_params: int, *, sees_position: bool, key: str | None) -> Any:
    """Return the compiled `move` that plays the best-scored move of the printed wall, ties broken by `tie_priority`.

    Parameters
    ----------
    score : function
        ``score(move, *params)`` or ``score(move, position, *params)``.
    n_params : int
        Number of parameters, read from the seat at play time: another value recompiles nothing.
    sees_position : bool
        True if the score also takes the position after the move.
    key : str or None
        Cache key of the score's own text; None keeps nothing on disk.
    """
    inner = numba.njit(nogil=True, inline="never")(positional(score))

    @compiled(key=key)
    def scored(game: Any, allowed: Any, decision_key: Any, seat: Any) -> Any:
        params = to_fixed_tuple(numba.carray(as_pointer(seat.params), n_params, np.float64), n_params)
        now = look(game, allowed)
        best = NO_MOVE
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
                    move = as_floats(describe(game, now, target, points, source, color, line))
                    code = make_code(source, color, line)
                    if sees_position:
                        scratch = copy_record(game)
                        play(scratch, code)
                        value = 1.0 * inner(move, scratch, *params)
                    else:
                        value = 1.0 * inner(move, *params)
                    if value - value != 0.0:
                        return NOT_A_NUMBER
                    best = keep_best(best, decision_key, value, code)
        return best.code

    return scored


def make_scored_general(score: Callable[..., float], n_params: int, *, sees_position: bool, key: str | None) -> Any:
    """Return the same for all other walls and for jokers."""
    inner = numba.njit(nogil=True, inline="never")(positional(score))
    list_moves, look_general, describe_general = general.list_moves, general.look, general.describe
    play_general = general.play

    @compiled(key=None if key is None else f"{key}:general")
    def scored(game: Any, allowed: Any, decision_key: Any, seat: Any) -> Any:
        params = to_fixed_tuple(numba.carray(as_pointer(seat.params), n_params, np.float64), n_params)
        now = look_general(game)
        codes = np.empty(MAX_LEGAL, np.int16)
        best = NO_MOVE
        for i in range(list_moves(game, allowed, codes)):
            code = widen(codes[i])
            move = as_floats(describe_general(game, now, code))
            if sees_position:
                scratch = copy_record(game)
                play_general(scratch, code)
                value = 1.0 * inner(move, scratch, *params)
            else:
                value = 1.0 * inner(move, *params)
            if value - value != 0.0:
                return NOT_A_NUMBER
            best = keep_best(best, decision_key, value, code)
        return best.code

    return scored


def make_placed(place: Callable[..., float], where: Sequence[int], *, key: str | None) -> Any:
    """Return the compiled `place` that takes the best-scored space, ties broken by `tie_priority`.

    Parameters
    ----------
    place : function
        ``place(spot, *params)``.
    where : sequence of int
        For each of its parameters, which parameter of the strategy it is.
    key : str or None
        As for `make_scored`.
    """
    inner = numba.njit(nogil=True)(positional(place))
    positions = np.array([*where] or [0], np.int64)
    n_params = len(where)
    find_kind, look_at_spot = kind_of_line, describe_spot

    @compiled(key=None if key is None else f"{key}:place")
    def placed(game: Any, seat_number: Any, line: Any, columns: Any, decision_key: Any, seat: Any) -> Any:
        values = numba.carray(as_pointer(seat.params), max(1, seat.n_params), np.float64)
        chosen = np.zeros(max(1, n_params))
        for i in range(n_params):
            chosen[i] = values[positions[i]]
        params = to_fixed_tuple(chosen, n_params)
        kind = find_kind(game, seat_number, line)
        tiles = np.empty(6, np.int64)
        for color in range(6):
            tiles[color] = game.tiles[seat_number, color]
        best, best_column, priority = -np.inf, 0, np.uint64(0)
        columns = columns << 1 | 1 if game.may_decline and game.free != 0 else columns << 1
        while columns:
            column = lowest_bit(columns)
            columns &= columns - 1
            spot = look_at_spot(game, widen(game.wall[seat_number]), tiles, line, column, kind)
            value = 1.0 * inner(spot, *params)
            if value - value != 0.0:
                return NOT_A_NUMBER
            other = tie_priority(decision_key, column)
            if value > best or (value == best and other < priority):
                best, best_column, priority = value, column, other
        return best_column

    return placed


@compiled
def kind_of_line(game: Any, seat: Any, line: Any) -> Any:
    """Return the color of the tile that a complete line sends to the wall; JOKER if it holds one."""
    if (widen(game.line_jokers[seat]) >> (4 * line)) & 15 > 0:
        return JOKER
    return _color_of(game, seat, line)


@compiled
def describe_spot(game: Any, wall: Any, tiles: Any, line: Any, column: Any, kind: Any) -> Any:
    """Return the fields of `Spot` as float64; `tiles` (int64[6]) is changed and restored."""
    row = line - 1
    row_tiles = float(popcount((wall >> (5 * row)) & 31))
    color_tiles = float(popcount(widen(tiles[kind])))
    if column == 0:
        possible = float(_count_possible(game, wall, tiles))
        return Spot(float(line), 0.0, float(kind), 0.0, 0.0, 0.0, row_tiles, 0.0, color_tiles, possible)
    x = column - 1
    space = 1 << (5 * row + x)
    tiles[kind] |= space
    possible = float(_count_possible(game, wall | space, tiles))
    tiles[kind] &= ~space
    return Spot(
        float(line),
        float(column),
        float(kind),
        float(_points_at(game, wall, row, x)),
        float(run_across(wall | space, row, x)),
        float(run_down(wall | space, row, x)),
        row_tiles,
        float(popcount(column_bits(wall, x))),
        color_tiles,
        possible,
    )


def address_of_move(move: Any) -> int:
    """Compile a `move` for the driver's signature and return its address; keep `move` alive while it is used."""
    return compile_for(move, MOVE_SIGNATURE)


def address_of_place(place: Any) -> int:
    """Compile a `place` for the driver's signature and return its address; keep `place` alive while it is used."""
    return compile_for(place, PLACE_SIGNATURE)
