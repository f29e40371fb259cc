"""One sentence: the idea of this strategy.

Source: where the idea comes from. Bad at: what it does not see.
"""

from azulsim.strategy import strategy
from azulsim.strategy.toolbox import count_color, count_on_table, mover


@strategy
def new_strategy(move, position, *, rare=0.1):
    """Say in two plain sentences how it plays, and what its parameters do.

    `rare` is the worth of each tile on one's own wall in the color that lies on the table most rarely.
    """
    # Called for every legal move with the position after it; the one with the highest value is played, ties are broken
    # evenly. Ask the position through the functions of azulsim.strategy.toolbox (docs/STRATEGIES.md lists them all).
    # The function is compiled: write loops and numbers, not lists and dictionaries.
    seat = mover(position)
    rarest = 0
    for color in range(1, 5):
        if count_on_table(position, color) < count_on_table(position, rarest):
            rarest = color
    return move.gain + rare * count_color(position, seat, rarest)
