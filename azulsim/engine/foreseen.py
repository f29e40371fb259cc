"""The position after a move, read without being played: what a score asks of it is worked out, and nothing else.

Compiled code reads a `Foreseen` as it reads a game (`azulsim.engine.record.GAME`), field by field: what the move
changes (`core.foresee`) stands beside the game before it. Whatever changes a position asks `as_record` for it first:
only then is the game copied and the move played, and from then on the copy is what is read. On the printed wall only.

What was worked out once for all moves of a decision is not worked out again (`Known`): the functions `mover`,
`points_of_lines`, `tiled_wall` and `tiles_on_table` read it here and count on a game.

The position before a decision can be shown in the same way: a move of None has not been made.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, make_attribute_wrapper, models, overload, overload_attribute, register_model

from azulsim.engine.compiling import compiled, copy_into, widen
from azulsim.engine.core import play, tiling_points, wall_when_tiled
from azulsim.engine.moves import sum_table
from azulsim.engine.record import GAME

STATE = np.dtype([("is_played", "i1")])
"""Whether a foreseen move has been played, so that the copy of the game is what holds."""

SCALARS = ("lid", "mask", "holder", "seat")
ARRAYS = ("open", "counts", "colors", "full", "floor")
"""Fields that a move changes; of the arrays, the element of the mover."""
ABSENT = ("is_general", "joker_mask")
"""Fields that are 0 on the printed wall, said to the compiler, which then drops all code for other walls and jokers."""


class Known(NamedTuple):
    """What is known of the position after a move."""

    points: Any
    """What the mover's complete lines bring if they are tiled now."""
    wall: Any
    """The mover's wall with its complete lines tiled."""
    table: Any
    """All tiles on the table, in color lanes."""


class Foreseen(types.Type):  # type: ignore[misc]
    """The type of the position after a move.

    Parameters
    ----------
    game, state, code, known, change : numba.types.Type
        Of the game before the move, of `STATE`, of the move (that of None before a decision), of `Known`, and of what
        the move changes.
    """

    def __init__(self, game: Any, state: Any, code: Any, known: Any, change: Any) -> None:
        kinds = (game, game, state, code, known, change)
        self.members = [*zip(("game", "copy", "state", "code", "known", "change"), kinds, strict=True)]
        self.is_moved = not isinstance(code, types.NoneType)
        super().__init__(f"Foreseen({game}, {state}, {code}, {known}, {change})")


class Patched(types.Type):  # type: ignore[misc]
    """The type of an array of a position, one element of which is another than in memory; it can only be read."""

    def __init__(self, base: Any, size: int, value: Any) -> None:
        self.size = size
        self.members = [("base", base), ("index", types.int64), ("value", value)]
        super().__init__(f"Patched({base}, {value})")


for _kind, _members in (
    (Foreseen, ("game", "copy", "state", "code", "known", "change")),
    (Patched, ("base", "index", "value")),
):

    @register_model(_kind)
    class _Model(models.StructModel):  # type: ignore[misc]
        def __init__(self, dmm: Any, kind: Any) -> None:
            super().__init__(dmm, kind, kind.members)

    for _name in _members:
        make_attribute_wrapper(_kind, _name, f"_{_name}")


def _build(kind: Any, *signature: Any) -> Any:
    """Return what an intrinsic returns that puts its arguments together as members of a type."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        made = cgutils.create_struct_proxy(kind)(context, builder)
        for (name, _), value in zip(kind.members, args, strict=True):
            setattr(made, name, value)
        return made._getvalue()

    return kind(*signature), codegen


@intrinsic
def make_foreseen(typingctx: Any, game: Any, copy: Any, state: Any, code: Any, known: Any, change: Any) -> Any:
    """Return the position after a move, or before any; only an intrinsic may return records inside something else.

    Parameters
    ----------
    game : GAME
        The game before the move, which is not changed.
    copy : GAME
        Memory for the position, should it have to be played.
    state : STATE
        Its `is_played` must be 0.
    code : int or None
    known : Known
    change : Change
        What `core.foresee` says of the move, or `core.foresee_nothing`.
    """
    return _build(Foreseen(game, state, code, known, change), game, copy, state, code, known, change)


@intrinsic
def patch(typingctx: Any, base: Any, index: Any, value: Any) -> Any:
    """Return an array of a position with another value at an index from 0, or unchanged if the index is below 0."""
    size = base.size if isinstance(base, Patched) else base.shape[0]
    return _build(Patched(base, size, value), base, types.int64, value)


def as_record(position: Any) -> Any:
    """Return a position as a game record, which may be changed if the position may be.

    What a score seldom needs is best asked of that, in a function of its own: one that takes a foreseen position is
    given all of it, and what goes into that is worked out for every move.
    """
    return position


@overload(as_record, jit_options={"forceinline": True})
def _as_record(position: Any) -> Any:
    def itself(position: Any) -> Any:
        return position

    def played(position: Any) -> Any:
        if not position._state.is_played:
            copy_into(position._game, position._copy)
            play(position._copy, position._code)
            position._state.is_played = 1
        return position._copy

    def copied(position: Any) -> Any:
        if not position._state.is_played:
            copy_into(position._game, position._copy)
            position._state.is_played = 1
        return position._copy

    if not isinstance(position, Foreseen):
        return itself
    return played if position.is_moved else copied


@compiled
def _seat_before(position: Any) -> int:
    return widen(position.seat) - 1 if position.seat > 0 else widen(position.players) - 1


@compiled
def _count_points(position: Any, seat: Any) -> int:
    wall, full, colors = widen(position.wall[seat]), widen(position.full[seat]), widen(position.colors[seat])
    return widen(tiling_points(wall, full, colors))


@compiled
def _tile(position: Any, seat: Any) -> int:
    wall, full, colors = widen(position.wall[seat]), widen(position.full[seat]), widen(position.colors[seat])
    return widen(wall_when_tiled(wall, full, colors))


def mover(position: Any) -> int:
    """Return the seat that made the last move of this round."""
    return _seat_before(position)


def points_of_lines(position: Any, seat: Any) -> int:
    """Return the points that a seat's complete lines bring if they are tiled now, on the printed wall."""
    return _count_points(position, seat)


def tiled_wall(position: Any, seat: Any) -> int:
    """Return a seat's wall with its complete lines tiled, on the printed wall."""
    return _tile(position, seat)


def tiles_on_table(position: Any) -> int:
    """Return all tiles on the table, in color lanes."""
    return sum_table(position)


@overload(mover, jit_options={"forceinline": True})
def _mover(position: Any) -> Any:
    def counted(position: Any) -> Any:
        return _seat_before(position)

    def known(position: Any) -> Any:
        return _seat_before(position) if position._state.is_played else position._change.mover

    return known if isinstance(position, Foreseen) and position.is_moved else counted


def _let_know(function: Any, count: Any, name: str) -> None:
    """Say how a function of the mover is read from the position after a move: off `Known`, unless it was played."""

    def counted(position: Any, seat: Any) -> Any:
        return count(position, seat)

    def known(position: Any, seat: Any) -> Any:
        if seat == position._change.mover and not position._state.is_played:
            return getattr(position._known, name)
        return count(position, seat)

    @overload(function, jit_options={"forceinline": True})
    def choose(position: Any, seat: Any) -> Any:
        return known if isinstance(position, Foreseen) else counted


_let_know(points_of_lines, _count_points, "points")
_let_know(tiled_wall, _tile, "wall")


@overload(tiles_on_table, jit_options={"forceinline": True})
def _tiles_on_table(position: Any) -> Any:
    def counted(position: Any) -> Any:
        return sum_table(position)

    def known(position: Any) -> Any:
        return sum_table(position) if position._state.is_played else position._known.table

    return known if isinstance(position, Foreseen) else counted


@overload(operator.getitem)
def _read_patched(array: Any, index: Any) -> Any:
    if not isinstance(array, Patched) or not isinstance(index, types.Integer):
        return None
    size = array.size

    def read(array: Any, index: Any) -> Any:
        at = index + size if index < 0 else index
        return array._value if at == array._index else array._base[at]

    return read


def _make_readers() -> None:
    """Say for each field of a game how it is read from the position after a move."""
    for name in GAME.names or ():
        overload_attribute(Foreseen, name)(_make_reader(name))


def _make_reader(name: str) -> Callable[[Any], Any]:
    def unchanged(position: Any) -> Any:
        return getattr(position._copy if position._state.is_played else position._game, name)

    def absent(position: Any) -> Any:
        return 0

    def scalar(position: Any) -> Any:
        return getattr(position._copy, name) if position._state.is_played else getattr(position._change, name)

    def array(position: Any) -> Any:
        change = position._change
        if position._state.is_played:
            return patch(getattr(position._copy, name), -1, getattr(change, name))
        return patch(getattr(position._game, name), change.mover, getattr(change, name))

    def sources(position: Any) -> Any:
        change = position._change
        if position._state.is_played:
            return patch(patch(position._copy.sources, -1, change.tiles), -1, change.center)
        return patch(patch(position._game.sources, change.source, change.tiles), 0, change.center)

    kinds = {"sources": sources, **dict.fromkeys(ABSENT, absent), **dict.fromkeys(SCALARS, scalar)}
    reader = kinds.get(name, array if name in ARRAYS else unchanged)

    def choose(position: Any) -> Any:
        return reader

    return choose


_make_readers()
