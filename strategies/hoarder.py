"""Hoarder: as many tiles as will fit.

Source: the "naive" player of a University of Melbourne course. Bad at: everything that few tiles would buy.
"""

from azulsim.strategy import Move, strategy


@strategy
def hoarder(move: Move) -> float:
    """Put the most tiles into a pattern line; among equals let the fewest fall.

    Points, walls and bonuses are not looked at.
    """
    return 100 * move.placed - move.overflow - move.marker
