"""One sentence: the idea of this strategy.

Source: where the idea comes from. Bad at: what it does not see.
"""

from azulsim.strategy import strategy
from azulsim.strategy.toolbox import best_gain, copy_record, count_moves, exact_gain, nth_move, play


@strategy(params={"fear": 0.5}, reads_only=True)
def new_strategy(scratch, moves, key, params, workspace):
    """Say in two plain sentences how it plays, and what its parameters do.

    `fear` weighs the best gain that is left to the next player against its own.
    """
    # Compiled; returns the code of one of `moves`. `scratch` is the table: with reads_only=True a promise to change
    # copies of it only. `key` is the luck of this decision (below(key, n), derive(key, i)), `params` holds the
    # parameters in the order above, `workspace` is memory of its own in bytes if asked for with
    # @strategy(workspace=...), zeroed before each game.
    best, best_value = -1, 0.0
    for k in range(count_moves(scratch, moves)):
        code = nth_move(scratch, moves, k)
        after = copy_record(scratch)
        play(after, code)
        value = exact_gain(scratch, code) - params[0] * best_gain(after)
        if best < 0 or value > best_value:
            best, best_value = code, value
    return best
