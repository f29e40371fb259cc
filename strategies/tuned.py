"""The tuned all-round players: one formula over the fields of a move, with weights found by play."""

from typing import Any

from numba.extending import register_jitable

from azulsim.strategy import Move, strategy, where


@register_jitable
def _judge(
    move: Any,
    column: float,
    color: float,
    run: float,
    begun: float,
    length: float,
    column_done: float,
    fifth: float,
    place: float,
    overflow: float,
    push: float,
) -> Any:
    """Return exact gain plus what the line promises, what it brings when complete, and what the move does besides.

    column, color, run
        The promise of a line: for each tile in the column and of the color it leads to, and for each tile of the runs
        its tile would make. It counts for each tile placed, over the empty spaces before the move plus 1.
    begun
        For going on with a line that holds tiles.
    length, column_done
        For completing a line: for each of its spaces, and for each tile in its column (which takes some of the promise
        back).
    fifth
        For completing a line whose tile is the fifth of a column (7 points) or of a color (10), for each point.
    place, overflow, push
        For each tile that is placed, that falls, that is pushed to the center.
    """
    promise = (column * move.column_tiles + color * move.color_tiles + run * (move.across + move.down)) / (
        move.line - move.before + 1
    )
    bonus = where(move.column_tiles == 4, 7.0, 0.0) + where(move.color_tiles == 4, 10.0, 0.0)
    done = length * move.line + column_done * move.column_tiles + fifth * bonus
    return (
        move.gain
        + (promise + place) * move.placed
        + done * move.completes
        + where(move.before > 0, begun, 0.0)
        + overflow * move.overflow
        + push * move.to_center
    )


@strategy
def tuned_2(
    move: Move,
    *,
    column: float = 0.9888,
    color: float = 0.2972,
    run: float = 0.996,
    begun: float = 1.624,
    length: float = 1.279,
    column_done: float = -1.736,
    fifth: float = 0.6462,
    place: float = 1.441,
    overflow: float = -0.06739,
    push: float = -0.2932,
) -> Any:
    """Exact gain, what lines promise and bring, and tiles placed, fallen and pushed away, weighed for two players.

    Weights found by `azulsim tune` (docs/TUNING.md, weights/tuned_2.toml). Judges a move by itself: neither the tiles
    of a color that are left nor the boards of the others count.

    Source: this project. Bad at: denying the next player what it needs, and ending the game when that wins it.
    """
    return _judge(move, column, color, run, begun, length, column_done, fifth, place, overflow, push)


@strategy
def tuned_3(
    move: Move,
    *,
    column: float = 1.266,
    color: float = 1.354,
    run: float = 2.349,
    begun: float = 1.612,
    length: float = 2.551,
    column_done: float = -2.234,
    fifth: float = 0.9978,
    place: float = 1.911,
    overflow: float = -1.524,
    push: float = -0.7807,
) -> Any:
    """Exact gain, what lines promise and bring, and tiles placed, fallen and pushed away, weighed for three players.

    Weights found by `azulsim tune` (docs/TUNING.md, weights/tuned_3.toml). Judges a move by itself: neither the tiles
    of a color that are left nor the boards of the others count.

    Source: this project. Bad at: denying the next player what it needs, and ending the game when that wins it.
    """
    return _judge(move, column, color, run, begun, length, column_done, fifth, place, overflow, push)


@strategy
def tuned_4(
    move: Move,
    *,
    column: float = 0.6559,
    color: float = 0.8241,
    run: float = 1.648,
    begun: float = 1.641,
    length: float = 2.053,
    column_done: float = -1.668,
    fifth: float = 0.6185,
    place: float = 0.8419,
    overflow: float = -1.228,
    push: float = -0.6234,
) -> Any:
    """Exact gain, what lines promise and bring, and tiles placed, fallen and pushed away, weighed for four players.

    Weights found by `azulsim tune` (docs/TUNING.md, weights/tuned_4.toml). Judges a move by itself: neither the tiles
    of a color that are left nor the boards of the others count.

    Source: this project. Bad at: denying the next player what it needs, and ending the game when that wins it.
    """
    return _judge(move, column, color, run, begun, length, column_done, fifth, place, overflow, push)


_TWO, _THREE, _FOUR = (tuple(player.defaults.values()) for player in (tuned_2, tuned_3, tuned_4))


@strategy
def tuned(move: Move) -> Any:
    """Play as `tuned_2`, `tuned_3` or `tuned_4` does, whichever is made for the number of players at the table.

    Source: this project. Bad at: what these are bad at.
    """
    return _judge(move, *where(move.players == 2, _TWO, where(move.players == 3, _THREE, _FOUR)))
