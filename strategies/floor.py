"""Two minds about the floor line."""

from azulsim.strategy import Move, strategy


@strategy
def floor_averse(move: Move, *, fear: float = 2.0, keep: float = 0.3) -> float:
    """Fear the floor: points of the coming wall-tiling, less `fear` times what the floor line and the marker cost.

    Each tile that finds a place in a line counts `keep`, so that it has something to do when nothing falls.

    Source: advice for beginners. Bad at: large takes that would be worth their overflow, and the marker.
    """
    return move.points - fear * move.penalty + keep * move.placed


@strategy
def floor_tolerant(move: Move, *, shrug: float = 0.5, keep: float = 0.3) -> float:
    """Shrug at the floor: points of the coming wall-tiling, less only a part of what the floor line costs.

    Each tile that finds a place in a line counts `keep`.

    Source: floor_averse, turned around. Bad at: the end of a round, when a shrug costs ten points.
    """
    return move.points - shrug * move.penalty + keep * move.placed
