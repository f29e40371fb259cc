"""The tuned all-round players: one formula over the fields of a move, with weights found by play."""

from typing import Any

from numba.extending import register_jitable

from azulsim.strategy import Move, strategy
from azulsim.strategy.toolbox import count_players


@register_jitable
def _judge(
    move: Any,
    part: float,
    column: float,
    color: float,
    run: float,
    begun: float,
    length: float,
    column_done: float,
    fifth: float,
    row_end: float,
    overflow: float,
    marker: float,
    push: float,
    take: float,
) -> Any:
    """Return exact gain plus what the line promises, what it brings when complete, and what the move does to others.

    part, column, color, run
        The promise of a line: by itself, for each tile in the column and of the color it leads to, and for each tile
        of the runs its tile would make. It counts for each tile placed, over the empty spaces before the move plus 1.
    begun
        For going on with a line that holds tiles.
    length, column_done
        For completing a line: for each of its spaces, and for each tile in its column (which takes some of the promise
        back).
    fifth
        For completing a line whose tile is the fifth of a column (7 points) or of a color (10), a point of bonus.
    row_end
        For completing a line whose tile is the fifth of its row, which ends the game.
    overflow, marker, push, take
        For each tile that falls, the marker, each tile pushed to the center, each tile taken.
    """
    promise = part + column * move.column_tiles + color * move.color_tiles + run * (move.across + move.down)
    bonus = 7 * (move.column_tiles == 4) + 10 * (move.color_tiles == 4)
    done = length * move.line + column_done * move.column_tiles + fifth * bonus + row_end * (move.row_tiles == 4)
    return (
        move.gain
        + promise * move.placed / (move.line - move.before + 1)
        + begun * (move.before > 0)
        + done * move.completes
        + overflow * move.overflow
        + marker * move.marker
        + push * move.to_center
        + take * move.tiles
    )


@strategy
def tuned_2(
    move: Move,
    *,
    part: float = 0.7485,
    column: float = 1.576,
    color: float = 0.5508,
    run: float = 1.368,
    begun: float = 1.424,
    length: float = 1.972,
    column_done: float = -2.272,
    fifth: float = 0.8368,
    row_end: float = 2.655,
    overflow: float = -2.086,
    marker: float = 0.3382,
    push: float = -0.3236,
    take: float = 1.742,
) -> Any:
    """Exact gain, what lines promise and bring, and what the move does to others, weighed for two players.

    Weights found by `azulsim tune` (docs/TUNING.md, weights/tuned_2.toml). Judges a move by itself: neither the tiles
    of a color that are left nor the boards of the others count.

    Source: this project. Bad at: denying the next player what it needs, and ending the game when that wins it.
    """
    return _judge(
        move, part, column, color, run, begun, length, column_done, fifth, row_end, overflow, marker, push, take
    )


@strategy
def tuned_3(
    move: Move,
    *,
    part: float = -0.138,
    column: float = 1.232,
    color: float = 0.9744,
    run: float = 1.015,
    begun: float = 1.239,
    length: float = 1.725,
    column_done: float = -1.614,
    fifth: float = 0.5163,
    row_end: float = 3.139,
    overflow: float = -2.714,
    marker: float = 0.9038,
    push: float = -0.5635,
    take: float = 1.509,
) -> Any:
    """Exact gain, what lines promise and bring, and what the move does to others, weighed for three players.

    Weights found by `azulsim tune` (docs/TUNING.md, weights/tuned_3.toml). Judges a move by itself: neither the tiles
    of a color that are left nor the boards of the others count.

    Source: this project. Bad at: denying the next player what it needs, and ending the game when that wins it.
    """
    return _judge(
        move, part, column, color, run, begun, length, column_done, fifth, row_end, overflow, marker, push, take
    )


@strategy
def tuned_4(
    move: Move,
    *,
    part: float = 0.5,
    column: float = 1.0,
    color: float = 0.6,
    run: float = 0.5,
    begun: float = 1.0,
    length: float = 1.2,
    column_done: float = -1.5,
    fifth: float = 0.0,
    row_end: float = 0.0,
    overflow: float = -2.0,
    marker: float = 0.8,
    push: float = -0.3,
    take: float = 1.5,
) -> Any:
    """Exact gain, what lines promise and bring, and what the move does to others, weighed for four players.

    Weights found by `azulsim tune` (docs/TUNING.md, weights/tuned_4.toml). Judges a move by itself: neither the tiles
    of a color that are left nor the boards of the others count.

    Source: this project. Bad at: denying the next player what it needs, and ending the game when that wins it.
    """
    return _judge(
        move, part, column, color, run, begun, length, column_done, fifth, row_end, overflow, marker, push, take
    )


_TWO, _THREE, _FOUR = (tuple(player.defaults.values()) for player in (tuned_2, tuned_3, tuned_4))


@strategy
def tuned(move: Move, position: Any) -> Any:
    """Play as `tuned_2`, `tuned_3` or `tuned_4` does, whichever is made for the number of players at the table.

    Looking at the table costs time: where the number of players is known, the player made for it is faster.

    Source: this project. Bad at: what these are bad at.
    """
    players = count_players(position)
    if players == 2:
        return _judge(move, *_TWO)
    if players == 3:
        return _judge(move, *_THREE)
    return _judge(move, *_FOUR)
