"""Beginners: what people do in their first games, before they count points."""

from azulsim.strategy import Move, strategy, where


@strategy
def beginner(move: Move, *, fit: float = 2.0, short: float = 0.5, pain: float = 3.0) -> float:
    """Take what fills a line exactly, in the shortest line that it fits; else put anything into the shortest line.

    What falls over is ignored until `pain` floor spaces are taken; from then on points lost count.

    Source: first games at the table. Bad at: points and walls, which it does not look at, and long lines.
    """
    fits = move.completes * (move.overflow == 0)
    hurts = where(move.floor >= pain, move.penalty, 0.0)
    return fit * fits - short * move.line - 9 * (move.line == 0) - hurts


@strategy
def hoarder(move: Move) -> float:
    """Put the most tiles into a pattern line; among equals let the fewest fall, the marker included.

    Points, walls and bonuses are not looked at.

    Source: the "naive" player of a University of Melbourne course. Bad at: everything that few tiles would buy.
    """
    return 100 * move.placed - move.overflow - move.marker


@strategy
def long_liner(move: Move) -> float:
    """Fill the longest lines first, with as many tiles as will go there.

    It lets tiles fall only where no line takes them whole, and never counts points.

    Source: the beginner's belief that big lines score big. Bad at: short lines, which would bring as many points for
    fewer tiles.
    """
    return move.line * move.placed - 10 * move.overflow - move.marker
