"""What a strategy is, and what it may see.

A strategy is one function with the decorator `@strategy`, of one of four kinds that its parameters tell apart::

    @strategy
    def hoard_blue(move, *, love=1.5):                  # scores each legal move; runs at all three speeds
        return move.gain + love * (move.color == 0) * move.placed

    @strategy
    def wary(move, position, *, fear=0.5): ...          # scores the position after the move; compiled or plain

    @strategy(prepare=count_needs, notes=6)
    def needy(move, position, notes, *, need=0.4): ...  # and reads what `prepare` noted once a decision

    @strategy
    def mine(view, moves, rng): ...                     # any Python at all; returns an index into `moves`

    @strategy(reads_only=True)
    def fast(scratch, moves, key, params, workspace): ...  # compiled; returns a move's code

A function with the decorator `@wrapper` goes around any of them, as in `noisy(greedy, eps=0.1)`: it narrows the moves
among which the strategy inside chooses.

The best-scored move is played, ties are broken by the engine. On walls that leave a choice of column, the engine's
default places the tiles, or a function given as `@strategy(place=...)`. See docs/STRATEGIES.md.
"""

from azulsim.engine.move import Move, Spot
from azulsim.strategy.definition import Definition, Strategy, strategy
from azulsim.strategy.functions import maximum, minimum, where
from azulsim.strategy.view import DecisionRng, Moves, View
from azulsim.strategy.wrapping import Wrapper, wrapper

__all__ = [
    "DecisionRng",
    "Definition",
    "Move",
    "Moves",
    "Spot",
    "Strategy",
    "View",
    "Wrapper",
    "maximum",
    "minimum",
    "strategy",
    "where",
    "wrapper",
]
