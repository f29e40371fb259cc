"""Alpha-beta: every line of play followed to the end of the round, as many as its budget allows.

Source: alpha-beta with scouting, a transposition table and late moves reduced, as in chess programs; the search ladder
of jhgravelle/azul-alphazero also goes to the end of the round. Bad at: what the tiles of later rounds may bring, which
it knows only by the weights of its evaluation.
"""

from typing import Any

from azulsim.strategy import strategy
from azulsim.strategy.evaluation import WEIGHTS
from azulsim.strategy.search import SEARCH, find_move


@strategy(params={"nodes": 2000.0, "win": 20.0, **WEIGHTS}, workspace=SEARCH.itemsize)
def alpha_beta(scratch: Any, moves: Any, key: Any, params: Any, workspace: Any) -> int:
    """Search to the end of the round, looking at `nodes` positions a move; at 3 and 4 players all others are rivals.

    `win` is what winning the game counts beside the margin, in points; the rest are weights of the evaluation.
    """
    return find_move(scratch, moves, workspace.view(SEARCH)[0], int(params[0]), params[1], params, 2)
