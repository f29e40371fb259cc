"""Wrappers: they narrow the moves that a strategy may choose from, whatever kind of strategy it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba import types
from numba.np.unsafe.ndarray import to_fixed_tuple

from azulsim.engine.compiling import as_pointer, compile_for, compiled, copy_record, make_call
from azulsim.engine.luck import derive
from azulsim.engine.record import ALLOWED_TYPE, GAME_TYPE, WRAP, WRAP_TYPE
from azulsim.engine.scoring import MOVE_SIGNATURE, call_move, positional
from azulsim.engine.table import count_moves

NARROW_SIGNATURE = types.int64(GAME_TYPE, ALLOWED_TYPE, types.uint64, WRAP_TYPE)

WRAP_KEYS = 1 << 16
"""Where the keys of wrappers stand under the key of a decision, out of the way of what the strategy draws from it."""

call_narrow = make_call(NARROW_SIGNATURE)


def make_narrowing(function: Callable[..., Any], n_params: int, *, key: str | None) -> Any:
    """Return the compiled form of ``narrow(position, moves, key, *params)``, which gets a copy of the game.

    Parameters
    ----------
    n_params : int
        Number of parameters, read at play time: another value recompiles nothing.
    key : str or None
        Cache key of the function's own text; None keeps nothing on disk.
    """
    inner = numba.njit(nogil=True)(positional(function))

    @compiled(key=key)
    def narrowing(game: Any, allowed: Any, decision_key: Any, wrap: Any) -> Any:
        params = to_fixed_tuple(numba.carray(as_pointer(wrap.params), n_params, np.float64), n_params)
        inner(copy_record(game), allowed, decision_key, *params)
        return 0

    return narrowing


def address_of_narrowing(narrowing: Any) -> int:
    """Compile a wrapper for `call_narrow` and return its address; keep it alive while the address is used."""
    return compile_for(narrowing, NARROW_SIGNATURE)


@compiled
def narrow(game: Any, allowed: Any, decision_key: Any, seat: Any) -> None:
    """Let the wrappers of a seat narrow an allowed set, the outermost first.

    None can allow what was not; one that would leave no move is not heard.
    """
    wraps = numba.carray(as_pointer(seat.wraps), seat.n_wraps, WRAP)
    keys = derive(decision_key, WRAP_KEYS)
    for i in range(seat.n_wraps):
        mask, joker_mask, open_lines = allowed.mask, allowed.joker_mask, allowed.open
        call_narrow(wraps[i].narrow, (game, allowed, derive(keys, i), wraps[i]))
        allowed.mask &= mask
        allowed.joker_mask &= joker_mask
        allowed.open &= open_lines
        if count_moves(game, allowed) == 0:
            allowed.mask, allowed.joker_mask, allowed.open = mask, joker_mask, open_lines


@compiled
def play_wrapped(game: Any, allowed: Any, decision_key: Any, seat: Any) -> Any:
    """Let the strategy inside the wrappers of a seat choose among what they leave: a `move` for the driver."""
    left = copy_record(allowed)
    narrow(game, left, decision_key, seat)
    return call_move(seat.wrapped, (game, left, decision_key, seat))


def address_of_wrapped() -> int:
    """Return the address of `play_wrapped`."""
    return compile_for(play_wrapped, MOVE_SIGNATURE)
