"""One sentence: the idea of this strategy.

Source: where the idea comes from. Bad at: what it does not see.
"""

from azulsim.strategy import strategy


@strategy
def new_strategy(move, *, line=0.3, waste=0.5):
    """Say in two plain sentences how it plays, and what its parameters do.

    `line` is the worth of a tile placed on a line, `waste` the price of a tile that falls.
    """
    # Called for every legal move; the one with the highest value is played, ties are broken evenly. All fields of
    # `move` are numbers: gain, points, penalty, placed, missing, overflow, marker, column, row_tiles, ... The whole
    # list stands in docs/STRATEGIES.md and in the docstrings of azulsim.strategy.Move.
    #
    # Written with + - * / and comparisons (which count as 0 and 1), it runs compiled, millions of moves a second; use
    # where(condition, yes, no), minimum(a, b) and maximum(a, b) of azulsim.strategy in place of if, min and max.
    return move.gain + line * move.placed - waste * move.overflow
