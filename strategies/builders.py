"""Builders: greedy play that leans toward one of the three end-of-game bonuses, or toward tiles that touch."""

from azulsim.strategy import Move, strategy, where


@strategy
def row_builder(move: Move, *, love: float = 0.5) -> float:
    """Play for rows: exact gain, and a liking for lines whose wall row is already filling.

    The share of the line that the move fills counts, so it does not start what it cannot finish.

    Source: the bonuses of the rulebook, each taken as a plan. Bad at: games that should go on, since rows end them.
    """
    return move.gain + love * move.row_tiles * move.placed / (move.placed + move.missing + 1)


@strategy
def column_builder(move: Move, *, love: float = 0.5) -> float:
    """Play for columns: exact gain, and a liking for spaces in a column that is already filling.

    The share of the line that the move fills counts, so it does not start what it cannot finish.

    Source: the bonuses of the rulebook, each taken as a plan. Bad at: noticing that the game will end before the column
    is done.
    """
    return move.gain + love * (1 + move.column_tiles) * move.placed / (move.placed + move.missing + 1)


@strategy
def color_builder(move: Move, *, love: float = 0.5) -> float:
    """Play for colors: exact gain, and a liking for the colors it has most of on its wall.

    Five of a color need line 5 filled with it once, so the plan often stays a plan.

    Source: the bonuses of the rulebook, each taken as a plan. Bad at: noticing that the plan has failed.
    """
    return move.gain + love * (1 + move.color_tiles) * move.placed / (move.placed + move.missing + 1)


@strategy
def connector(move: Move, *, link: float = 0.4) -> float:
    """Connect: prefer spaces whose tile would lengthen a row and a column at once.

    The link counts by the share of the line that the move fills, so that a distant promise weighs little.

    Source: a Danish guide to Azul (docs/RULES.md, section 8b). Bad at: beginnings, where nothing touches anything.
    """
    share = move.placed / (move.placed + move.missing + 1)
    return move.gain + link * share * (
        move.across + move.down + where(move.across > 1, 1, 0) * where(move.down > 1, 2, 0)
    )
