"""One sentence: the idea of this strategy.

Source: where the idea comes from. Bad at: what it does not see.
"""

from azulsim.strategy import strategy


@strategy
def new_strategy(view, moves, rng, *, patience=2):
    """Say in two plain sentences how it plays, and what its parameters do.

    Until round `patience` it fills lines, later it takes the best gain.
    """
    # Any Python at all; returns an index into `moves`. moves[i] is one move, moves.gain the gains of all of them (a
    # NumPy column). `view` is the table as a player sees it: view.walls, view.lines, view.displays, view.scores, ...
    # Take all luck from `rng` (rng.random(), rng.integers(n), rng.choice(options)), so that games can be repeated.
    if view.round <= patience:
        return int((moves.placed - 2 * moves.overflow).argmax())
    best = [i for i in range(len(moves)) if moves.gain[i] == moves.gain.max()]
    return rng.choice(best)
