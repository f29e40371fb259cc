"""Greedy: the most points by the end of this round.

Source: several programs (docs/STRATEGIES.md). Bad at: lines that pay later, end-of-game bonuses, the next player.
"""

from azulsim.strategy import Move, strategy


@strategy
def greedy(move: Move) -> float:
    """Play the move with the best exact change of its own round-end score; ties are broken evenly.

    Complete lines count as tiled top to bottom, the floor line with all its spaces, and nothing is clamped at 0.
    Never looks past the round, so it starts long lines by accident only.
    """
    return move.gain
