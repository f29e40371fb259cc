"""Monte Carlo tree search: many playouts of what is left of the round, the next ones re-dealt from bag and lid.

Source: UCT (Kocsis and Szepesvari 2006) with a prior for each move, as in PUCT (Rosin 2011). Bad at: sharp ends of
rounds, where one answer refutes a move and an average of many does not show it.
"""

from typing import Any

from azulsim.strategy import strategy
from azulsim.strategy.evaluation import WEIGHTS
from azulsim.strategy.trees import TREE, grow_tree


@strategy(
    params={"playouts": 300.0, "rounds": 0.0, "greed": 0.9, "explore": 0.3, "scale": 20.0, "win": 40.0},
    workspace=TREE.itemsize,
    limits={
        "playouts": (1, 1e9),
        "rounds": (0, 100),
        "greed": (0, 1),
        "explore": (0, 100),
        "scale": (0.01, 1e6),
        "win": (0, 1000),
    },
)
def mcts(scratch: Any, moves: Any, key: Any, params: Any, workspace: Any) -> int:
    """Try the moves in `playouts` playouts to the end of the round and `rounds` more; play the one tried most.

    A playout plays the best-ranked move with probability `greed`, else any; `explore` weighs what is yet untried,
    `scale` is the margin that counts as three quarters of a win, `win` what winning counts beside the margin. The
    weights of the evaluation are those of `alpha_beta_2`, `alpha_beta_3` or `alpha_beta_4`, whichever is made for the
    number of players.
    """
    tree, weights = workspace.view(TREE)[0], WEIGHTS[scratch["players"] - 2]
    playouts, rounds = int(params[0]), int(params[1])
    return grow_tree(scratch, moves, key, tree, playouts, rounds, params[2], params[3], params[4], params[5], weights)
