"""Builders: greedy play that leans toward one of the three end-of-game bonuses.

Source: the bonuses of the rulebook (RULES 5.2), each taken as a plan. Bad at: noticing that the plan has failed, or
that the game will end before it is done.
"""

from azulsim.strategy import Move, strategy


@strategy
def row_builder(move: Move, *, love: float = 0.5) -> float:
    """Play for rows: exact gain, and a liking for lines whose wall row is already filling.

    Ends games early, which is good only when it leads.
    """
    return move.gain + love * move.row_tiles * move.placed / (move.placed + move.missing + 1)


@strategy
def column_builder(move: Move, *, love: float = 0.5) -> float:
    """Play for columns: exact gain, and a liking for spaces in a column that is already filling.

    The share of the line that the move fills counts, so it does not start what it cannot finish.
    """
    return move.gain + love * (1 + move.column_tiles) * move.placed / (move.placed + move.missing + 1)


@strategy
def color_builder(move: Move, *, love: float = 0.5) -> float:
    """Play for colors: exact gain, and a liking for the colors it has most of on its wall.

    Five of a color need line 5 filled with it once, so the plan often stays a plan.
    """
    return move.gain + love * (1 + move.color_tiles) * move.placed / (move.placed + move.missing + 1)
