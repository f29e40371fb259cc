"""Wrappers: they narrow the moves of any strategy, as in `noisy(greedy, eps=0.1)` or `marker_never(greedy)`.

Source: restricted play, as in experiments on the price of a rule; noise as a scale of skill. Bad at: knowing better,
since the strategy inside never learns that it is being held back.
"""

from typing import Any

from azulsim.strategy import wrapper
from azulsim.strategy.toolbox import (
    below,
    count_moves,
    derive,
    fraction,
    is_marker_in_center,
    keep_only,
    marker_price,
    nth_move,
    seat_to_move,
)

CENTER = 0x0001001001001001
"""The bit of the center in each color's lane of `moves.mask`."""


@wrapper(limits={"eps": (0, 1)})
def noisy(position: Any, moves: Any, key: Any, *, eps: float = 0.1) -> None:
    """Play any move, each as likely as the others, with probability `eps`; else play as the strategy inside.

    With joker tiles source, color and line are drawn, the rest is left to the strategy inside.
    """
    if fraction(key) < eps:
        keep_only(moves, nth_move(position, moves, below(derive(key, 0), count_moves(position, moves))))


@wrapper
def marker_always(position: Any, moves: Any, key: Any) -> None:
    """Take the starting player marker as soon as that is possible; else play as the strategy inside."""
    if is_marker_in_center(position):
        moves.mask &= CENTER
        moves.joker_mask &= 1


@wrapper
def marker_never(position: Any, moves: Any, key: Any) -> None:
    """Leave the starting player marker unless every move takes it; else play as the strategy inside."""
    if is_marker_in_center(position):
        moves.mask &= ~CENTER
        moves.joker_mask &= ~1


@wrapper
def marker_cheap(position: Any, moves: Any, key: Any, *, price: float = 1.0) -> None:
    """Leave the starting player marker while it costs more than `price` points, unless every move takes it.

    The price is what its space on the floor line costs at that moment, or its fixed price under rules that set one.
    """
    if is_marker_in_center(position) and marker_price(position, seat_to_move(position)) > price:
        moves.mask &= ~CENTER
        moves.joker_mask &= ~1
