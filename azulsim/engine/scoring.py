"""From `score(move, ...)` to a compiled strategy: the loop over the legal moves, with the score inlined into it."""

from __future__ import annotations

import types as python_types
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import types
from numba.np.unsafe.ndarray import to_fixed_tuple

from azulsim.engine import general
from azulsim.engine.compiling import (
    as_pointer,
    assume,
    compile_for,
    compiled,
    copy_record,
    lowest_bit,
    make_call,
    make_pick,
    make_record,
    popcount,
    reserve_record,
    widen,
)
from azulsim.engine.core import column_bits, foresee, foresee_nothing, play, run_across, run_down
from azulsim.engine.denial import find_denials
from azulsim.engine.foreseen import STATE, Known, make_foreseen
from azulsim.engine.general import NO_TARGET
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
    take_index,
    tie_priority,
)
from azulsim.engine.record import ALLOWED_TYPE, DENIALS, GAME, GAME_TYPE, KEEP_SHIFT, SEAT_TYPE

MOVE_SIGNATURE = types.int64(GAME_TYPE, ALLOWED_TYPE, types.uint64, SEAT_TYPE)
"""What the driver calls: `move(game, allowed, key, seat) -> code`."""

PLACE_SIGNATURE = types.int64(GAME_TYPE, types.int64, types.int64, types.int64, types.uint64, SEAT_TYPE)
"""What the driver calls on a wall with a choice: `place(game, seat number, line, columns, key, seat) -> column`.

`columns` are the legal ones as bits (bit 0 = column 1), the answer is a column from 1, or 0 to decline."""

NOT_A_NUMBER = -2
"""Answer of a scored strategy whose score was NaN or infinite."""


class Prepared(NamedTuple):
    """What a score has worked out before it is asked for the moves of a decision."""

    prepare: Callable[..., None]
    """``prepare(position, notes, *params)``, which writes down what it finds of the position before the move."""
    where: tuple[int, ...]
    """For each of its parameters, which parameter of the strategy it is."""
    notes: int
    """Numbers it may write down, float64; all 0 at first."""


_kind_of_line, _tile_of = general.kind_of_line, general.tile_of
_count_possible, _points_at = general.count_possible, general.points_at

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
        float(move.largest_left),
        float(move.floor),
        float(move.rival_row),
        float(move.round),
        float(move.players),
        float(move.jokers),
        float(move.denial),
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


def make_scored(
    score: Callable[..., float],
    n_params: int,
    *,
    sees_position: bool,
    sees_denial: bool,
    prepared: Prepared | None,
    key: str | None,
    is_foreseen: bool = False,
) -> Any:
    """Return the compiled `move` that plays the best-scored move of the printed wall, ties broken by `tie_priority`.

    Parameters
    ----------
    score : function
        ``score(move, *params)``, ``score(move, position, *params)`` or ``score(move, position, notes, *params)``.
    n_params : int
        Number of parameters, read from the seat at play time: another value recompiles nothing.
    sees_position : bool
        True if the score also takes the position after the move.
    sees_denial : bool
        True if the score reads the field `denial`, which costs half as much as all others together.
    prepared : Prepared or None
        What fills the notes of a score that takes them.
    key : str or None
        Cache key of the score's own text; None keeps nothing on disk.
    is_foreseen : bool
        True to show score and `prepare` positions without playing a move or copying the game (`engine.foreseen`), which
        some cannot do with.
    """
    value_of = _make_foreseen_value(score) if is_foreseen else _make_value_of(score, play, sees_position)
    notes_of, memory = _make_notes_of(prepared, is_foreseen=is_foreseen)

    @compiled(key=f"{key}:foreseen" if key and is_foreseen else key)
    def scored(game: Any, allowed: Any, decision_key: Any, seat: Any) -> Any:
        params = to_fixed_tuple(numba.carray(as_pointer(seat.params), n_params, np.float64), n_params)
        now = look(game, allowed)
        notes = notes_of(game, now, make_record(memory).notes, params)
        if sees_denial:
            denials = reserve_record(DENIALS).of_take
            find_denials(game, denials)
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
                    code = make_code(source, color, line)
                    denied = denials[take_index(code)] if sees_denial else 0
                    move = as_floats(describe(game, now, target, points, denied, source, color, line))
                    value = value_of(game, now, move, code, notes + params)
                    if value - value != 0.0:
                        return NOT_A_NUMBER
                    best = keep_best(best, decision_key, value, code)
        return best.code

    return scored


def make_scored_general(
    score: Callable[..., float],
    n_params: int,
    *,
    sees_position: bool,
    sees_denial: bool,
    prepared: Prepared | None,
    key: str | None,
) -> Any:
    """Return the same for all other walls and for jokers."""
    value_of = _make_value_of(score, general.play, sees_position)
    notes_of, memory = _make_notes_of(prepared, is_foreseen=False)
    look_general, update_target, describe_general = general.look, general.update_target, general.describe
    takes_of, code_of_take, find_keeps = general.takes_of, general.code_of_take, general.find_keeps
    split_take, find_denials = general.split_take, general.find_denials

    @compiled(key=None if key is None else f"{key}:general")
    def scored(game: Any, allowed: Any, decision_key: Any, seat: Any) -> Any:
        params = to_fixed_tuple(numba.carray(as_pointer(seat.params), n_params, np.float64), n_params)
        now = look_general(game)
        notes = notes_of(game, now, make_record(memory).notes, params)
        if sees_denial:
            denials = reserve_record(DENIALS).of_take
            find_denials(game, denials)
        best = NO_MOVE
        for color in range(6):
            takes = takes_of(allowed, color)
            lines = lines_of(allowed.open, color) if takes else 0
            while lines:
                line = lowest_bit(lines)
                lines &= lines - 1
                target = NO_TARGET
                rest = takes
                while rest:
                    any_keep = code_of_take(lowest_bit(rest), color, line)
                    rest &= rest - 1
                    first, last = find_keeps(game, any_keep)
                    for keep in range(first, last + 1):
                        code = any_keep | keep << KEEP_SHIFT
                        take = split_take(game, code)
                        target = update_target(game, now, target, take, color, line)
                        denied = denials[take_index(code)] if sees_denial else 0
                        move = as_floats(describe_general(game, now, target, take, denied, code))
                        value = value_of(game, now, move, code, notes + params)
                        if value - value != 0.0:
                            return NOT_A_NUMBER
                        best = keep_best(best, decision_key, value, code)
        return best.code

    return scored


def _make_notes_of(prepared: Prepared | None, *, is_foreseen: bool) -> Any:
    """Return what asks for notes before a decision, with a dtype for their memory.

    The notes come as a tuple: of their array, or an empty one for a score that takes none.
    """
    if prepared is None:

        @compiled(key=None, is_inlined=True)
        def no_notes(game: Any, now: Any, memory: Any, params: Any) -> Any:
            return ()

        return no_notes, np.dtype([("notes", "f8", (1,))])
    prepare = numba.njit(nogil=True, forceinline=True, boundscheck=True)(positional(prepared.prepare))
    pick = make_pick(prepared.where)

    @compiled(key=None, is_inlined=True)
    def notes_of(game: Any, now: Any, memory: Any, params: Any) -> Any:
        if is_foreseen:
            assume(game.is_general == 0)
            known = Known(now.base_points, now.wall, now.table)
            change = foresee_nothing(game)
            prepare(
                make_foreseen(game, reserve_record(GAME), make_record(STATE), None, known, change),
                memory,
                *pick(params),
            )
        else:
            prepare(copy_record(game), memory, *pick(params))
        return (memory,)

    return notes_of, np.dtype([("notes", "f8", (prepared.notes,))])


def _make_foreseen_value(score: Callable[..., float]) -> Any:
    """Return the compiled value of a move: what the score says of it and of the position after it, foreseen."""
    inner = numba.njit(nogil=True, inline="never")(positional(score))

    @compiled(key=None, is_inlined=True)
    def value_of(game: Any, now: Any, move: Any, code: Any, params: Any) -> Any:
        assume(game.is_general == 0)
        space = max(0, 5 * widen(move.line) + widen(move.column) - 6)
        known = Known(
            now.base_points + widen(move.points),
            now.wall | widen(move.completes) << space,
            now.table - (widen(move.tiles) << (8 * widen(move.color))),
        )
        position = make_foreseen(game, reserve_record(GAME), make_record(STATE), code, known, foresee(game, code))
        return 1.0 * inner(move, position, *params)

    return value_of


def _make_value_of(score: Callable[..., float], play: Any, sees_position: bool) -> Any:
    """Return the compiled value of a move: what the score says of it, and of the position after it if it asks."""
    inner = numba.njit(nogil=True, inline="never")(positional(score))

    @compiled(key=None, is_inlined=True)
    def value_of(game: Any, now: Any, move: Any, code: Any, params: Any) -> Any:
        if sees_position:
            after = copy_record(game)
            play(after, code)
            return 1.0 * inner(move, after, *params)
        return 1.0 * inner(move, *params)

    return value_of


def make_placed(place: Callable[..., float], n_params: int, where: Sequence[int], *, key: str | None) -> Any:
    """Return the compiled `place` that takes the best-scored space, ties broken by `tie_priority`.

    Parameters
    ----------
    place : function
        ``place(spot, *params)``.
    n_params : int
        Number of parameters of the strategy.
    where : sequence of int
        For each of its parameters, which parameter of the strategy it is.
    key : str or None
        As for `make_scored`.
    """
    inner = numba.njit(nogil=True)(positional(place))
    pick = make_pick(where)
    look_at_spot = describe_spot

    @compiled(key=None if key is None else f"{key}:place")
    def placed(game: Any, seat_number: Any, line: Any, columns: Any, decision_key: Any, seat: Any) -> Any:
        params = pick(to_fixed_tuple(numba.carray(as_pointer(seat.params), n_params, np.float64), n_params))
        tile = _tile_of(_kind_of_line(game, seat_number, line))
        tiles = np.empty(6, np.int64)
        for color in range(6):
            tiles[color] = game.tiles[seat_number, color]
        best, best_column, priority = -np.inf, 0, np.uint64(0)
        columns = columns << 1 | 1 if game.may_decline and game.free != 0 else columns << 1
        while columns:
            column = lowest_bit(columns)
            columns &= columns - 1
            spot = look_at_spot(game, widen(game.wall[seat_number]), tiles, line, column, tile)
            value = 1.0 * inner(spot, *params)
            if value - value != 0.0:
                return NOT_A_NUMBER
            other = tie_priority(decision_key, column)
            if value > best or (value == best and other < priority):
                best, best_column, priority = value, column, other
        return best_column

    return placed


@compiled
def describe_spot(game: Any, wall: Any, tiles: Any, line: Any, column: Any, tile: Any) -> Any:
    """Return the fields of `Spot` as float64; `tiles` (int64[6]) is changed and restored."""
    row = line - 1
    row_tiles = float(popcount((wall >> (5 * row)) & 31))
    color_tiles = float(popcount(widen(tiles[tile])))
    if column == 0:
        possible = float(_count_possible(game, wall, tiles))
        return Spot(float(line), 0.0, float(tile), 0.0, 0.0, 0.0, row_tiles, 0.0, color_tiles, possible)
    x = column - 1
    space = 1 << (5 * row + x)
    tiles[tile] |= space
    possible = float(_count_possible(game, wall | space, tiles))
    tiles[tile] &= ~space
    return Spot(
        float(line),
        float(column),
        float(tile),
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
