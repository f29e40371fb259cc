"""Alpha-beta: every line of play followed to the end of the round, as many as its budget allows.

Source: alpha-beta with scouting, a transposition table and late moves reduced, as in chess programs; the search ladder
of jhgravelle/azul-alphazero also goes to the end of the round. Bad at: what the tiles of later rounds may bring, which
it knows only by the weights of its evaluation.
"""

from typing import Any

from azulsim.strategy import strategy
from azulsim.strategy.evaluation import WEIGHTS, WEIGHTS_2, WEIGHTS_3, WEIGHTS_4
from azulsim.strategy.search import SEARCH, find_move

_BUDGET = {"nodes": 2000.0, "win": 20.0}
_LIMITS = {"nodes": (1, 1e9), "win": (0, 1000)}


@strategy(params={**_BUDGET, **WEIGHTS_2}, workspace=SEARCH.itemsize, limits=_LIMITS)
def alpha_beta_2(scratch: Any, moves: Any, key: Any, params: Any, workspace: Any) -> int:
    """Search as `alpha_beta` does; the weights of the evaluation are parameters, by default those for two players."""
    return find_move(scratch, moves, workspace.view(SEARCH)[0], int(params[0]), params[1], params[2:])


@strategy(params={**_BUDGET, **WEIGHTS_3}, workspace=SEARCH.itemsize, limits=_LIMITS)
def alpha_beta_3(scratch: Any, moves: Any, key: Any, params: Any, workspace: Any) -> int:
    """Search as `alpha_beta` does; the weights of the evaluation are parameters, by default those for three players."""
    return find_move(scratch, moves, workspace.view(SEARCH)[0], int(params[0]), params[1], params[2:])


@strategy(params={**_BUDGET, **WEIGHTS_4}, workspace=SEARCH.itemsize, limits=_LIMITS)
def alpha_beta_4(scratch: Any, moves: Any, key: Any, params: Any, workspace: Any) -> int:
    """Search as `alpha_beta` does; the weights of the evaluation are parameters, by default those for four players."""
    return find_move(scratch, moves, workspace.view(SEARCH)[0], int(params[0]), params[1], params[2:])


@strategy(params=_BUDGET, workspace=SEARCH.itemsize, limits=_LIMITS)
def alpha_beta(scratch: Any, moves: Any, key: Any, params: Any, workspace: Any) -> int:
    """Search to the end of the round, looking at `nodes` positions a move; at 3 and 4 players all others are rivals.

    `win` is what winning the game counts beside the margin, in points. The weights of the evaluation are those of
    `alpha_beta_2`, `alpha_beta_3` or `alpha_beta_4`, whichever is made for the number of players.
    """
    weights = WEIGHTS[scratch["players"] - 2]
    return find_move(scratch, moves, workspace.view(SEARCH)[0], int(params[0]), params[1], weights)
