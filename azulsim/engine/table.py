"""The rules under whatever rules a game has: each function goes to `engine.core` or to `engine.general`.

Code that runs for every move of every game is compiled for one of them instead (`engine.driver`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from azulsim.engine import core, general, moves
from azulsim.engine import denial as colored_denial
from azulsim.engine.compiling import compiled, make_record, widen
from azulsim.engine.foreseen import as_record
from azulsim.engine.move import MOVE, Move
from azulsim.engine.record import ALLOWED, DENIALS, MAX_LEGAL

_core_play, _core_tile = core.play, core.tile
_general_play, _general_tile = general.play, general.tile
_list_moves, _general_count, _general_nth = general.list_moves, general.count_moves, general.nth_move
_general_look, _general_describe = general.look, general.describe_code
_general_is_allowed, _general_gain, _general_denial = general.is_allowed, general.exact_gain, general.denial
_is_allowed, _gain, _denial = moves.is_allowed, moves.exact_gain, colored_denial.denial
_count, _count_legal, _nth, _fill = moves.count_moves, moves.count_legal, moves.nth_move, moves.fill_moves
_write, _take_index = moves.write_move, moves.take_index
_printed_denials, _general_denials = colored_denial.find_denials, general.find_denials


@compiled(is_inlined=True)
def play(game: Any, code: Any) -> bool:
    """Play a legal move; return True if it took the last tiles of the round."""
    game = as_record(game)
    if game.is_general:
        return _general_play(game, code)
    return _core_play(game, code)


@compiled(is_borrowing=True)
def tile(game: Any, ledger: Any) -> None:
    """Tile all walls, with the engine's own choices where there are any, pay the floors, see whether the game ends."""
    game = as_record(game)
    if game.is_general:
        _general_tile(game, ledger)
    else:
        _core_tile(game, ledger)


@compiled(is_inlined=True)
def is_allowed(game: Any, allowed: Any, code: Any) -> bool:
    """Return True if a number is the code of a move in the set."""
    if game.is_general:
        return _general_is_allowed(game, allowed, code)
    return _is_allowed(allowed, code)


@compiled
def allow_all(game: Any, allowed: Any) -> None:
    """Make a set hold all legal moves of the seat to move."""
    allowed.mask, allowed.joker_mask, allowed.open = game.mask, game.joker_mask, game.open[game.seat]


@compiled(is_inlined=True)
def list_moves(game: Any, allowed: Any, codes: Any) -> int:
    """Write the codes of the allowed moves to `codes` (int16[MAX_LEGAL]); return how many there are."""
    if game.is_general:
        return widen(_list_moves(game, allowed, codes))
    n = widen(_count(allowed))
    for k in range(n):
        codes[k] = _nth(allowed, k)
    return n


@compiled(is_inlined=True)
def count_moves(game: Any, allowed: Any) -> int:
    """Return the number of moves of an allowed set."""
    if game.is_general:
        return widen(_general_count(game, allowed))
    return _count(allowed)


@compiled
def count_legal(game: Any) -> int:
    """Return the number of legal moves of the seat to move."""
    if game.is_general:
        allowed = make_record(ALLOWED)
        allow_all(game, allowed)
        return widen(_general_count(game, allowed))
    return _count_legal(game)


@compiled(is_inlined=True)
def nth_move(game: Any, allowed: Any, k: Any) -> int:
    """Return the code of the k-th move (from 0) of an allowed set."""
    if game.is_general:
        return widen(_general_nth(game, allowed, k))
    return _nth(allowed, k)


@compiled
def fill_moves(game: Any, allowed: Any, out: Any) -> int:
    """Write the allowed moves to `out` (MOVE[MAX_LEGAL]); return how many there are.

    Their `denial`, which costs half as much as all the rest and is seldom asked for, is left to `fill_denials`.
    """
    if not game.is_general:
        return _fill(game, allowed, out)
    codes = np.empty(MAX_LEGAL, np.int16)
    now = _general_look(game)
    n = widen(_list_moves(game, allowed, codes))
    for i in range(n):
        code = widen(codes[i])
        _write(out[i], code, _general_describe(game, now, 0, code))
    return n


@compiled
def fill_denials(game: Any, moves: Any) -> None:
    """Fill in the `denial` of moves (MOVE[n]) that `fill_moves` wrote of the same game."""
    denials = make_record(DENIALS).of_take
    if game.is_general:
        _general_denials(game, denials)
    else:
        _printed_denials(game, denials)
    for i in range(len(moves)):
        moves[i].denial = denials[_take_index(widen(moves[i].code))]


@compiled
def exact_gain(game: Any, code: Any) -> int:
    """Return the exact change of the mover's own round-end score by a move, before the clamp (points)."""
    if game.is_general:
        return _general_gain(game, code)
    return _gain(game, code)


@compiled
def denial(game: Any, code: Any) -> int:
    """Return the next seat's best exact gain if it moved now, minus its best after the move (points)."""
    if game.is_general:
        return _general_denial(game, code)
    return _denial(game, code)


__all__ = [
    "MOVE",
    "Move",
    "allow_all",
    "count_legal",
    "count_moves",
    "denial",
    "exact_gain",
    "fill_denials",
    "fill_moves",
    "is_allowed",
    "list_moves",
    "nth_move",
    "play",
    "tile",
]
