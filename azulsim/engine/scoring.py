"""From `score(move, ...)` to a compiled strategy: the loop over the legal moves, with the score inlined into it."""

from __future__ import annotations

import types as python_types
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba import types
from numba.np.unsafe.ndarray import to_fixed_tuple

from azulsim.engine.compiling import as_pointer, compile_for, compiled, lowest_bit, make_call
from azulsim.engine.core import play
from azulsim.engine.moves import (
    UNKNOWN,
    Move,
    describe,
    is_completing,
    lines_of,
    look,
    look_at_target,
    make_code,
    points_of_completing,
    sources_of,
    tie_priority,
)
from azulsim.engine.record import ALLOWED_TYPE, GAME, GAME_TYPE, SEAT_TYPE

MOVE_SIGNATURE = types.int64(GAME_TYPE, ALLOWED_TYPE, types.uint64, SEAT_TYPE)
"""What the driver calls: `move(game, allowed, key, seat) -> code`."""

NOT_A_NUMBER = -2
"""Answer of a scored strategy whose score was NaN or infinite."""

call_move = make_call(MOVE_SIGNATURE)


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
    """Return the compiled `move` that plays the best-scored move, ties broken by `tie_priority`.

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
        if sees_position:
            scratch = np.empty(1, GAME)
        best, best_code, priority, is_priority_known = -np.inf, -1, np.uint64(0), False
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
                        scratch[0] = game
                        play(scratch[0], code)
                        value = float(inner(move, scratch[0], *params))
                    else:
                        value = float(inner(move, *params))
                    if value - value != 0.0:
                        return NOT_A_NUMBER
                    if value > best:
                        best, best_code, is_priority_known = value, code, False
                    elif value == best:
                        if not is_priority_known:
                            priority, is_priority_known = tie_priority(decision_key, best_code), True
                        other = tie_priority(decision_key, code)
                        if other < priority:
                            best_code, priority = code, other
        return best_code

    return scored


def address_of_move(move: Any) -> int:
    """Compile a `move` for the driver's signature and return its address; keep `move` alive while it is used."""
    return compile_for(move, MOVE_SIGNATURE)
