"""Monte Carlo tree search: what is left of the round as a tree, what comes after it re-dealt again and again.

The tree holds positions of the real round only. From its leaf a playout goes on to the end of the round, then through
rounds dealt anew from what bag and lid hold, under keys of the search's own, so that nothing real of the future is
seen. At the end stands the evaluation of a round's end, or the result of the game.

Children are chosen by upper confidence with a prior from the ranking of moves (as in PUCT): better-ranked moves are
tried first and more. All sums are of plain fractions, so that a search is the same on every machine.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from azulsim.engine.compiling import compiled, copy_record, make_record, widen
from azulsim.engine.core import LEDGERS, count_complete, deal, settle
from azulsim.engine.luck import below, derive, mix, next_key, step_key
from azulsim.engine.record import ALLOWED
from azulsim.engine.table import allow_all, count_moves, nth_move, play, tile
from azulsim.rules import MAX_PLAYERS
from azulsim.strategy.evaluation import UNIT, set_weights, value_margin
from azulsim.strategy.ranking import RANKING, code_of, rank_moves, value_of
from azulsim.strategy.toolbox import fraction

_TRIES = 3
"""Times that a move is tried before it gets a node of its own."""
_WIDTH = 16
"""The best-ranked moves of a position that the tree knows; at the root it knows them all."""
_N_EDGES = 1 << 16
_N_NODES = 1 << 13
_N_STACK = 1 << 12
_N_PATH = 128
_UNTRIED = 0.05

EDGE = np.dtype(
    [("code", "i4"), ("visits", "i4"), ("prior", "f8"), ("reward", "f8"), ("node", "i4")],
    align=True,
)
"""A move from a node: how often it was tried, what it brought the mover in all, and the node it leads to (0: none)."""

NODE = np.dtype([("first", "i4"), ("n", "i4"), ("visits", "i4"), ("reward", "f8")], align=True)
"""A position: its moves are `edges[first : first + n]`; how often one was tried, and what that brought its mover."""

TREE = np.dtype(
    [
        ("ranking", RANKING),
        ("allowed", ALLOWED),
        ("rewards", "f8", MAX_PLAYERS),
        ("stack", "i8", _N_STACK),
        ("path", "i4", _N_PATH),  # moves from the root to the leaf, the positions they were played in, their players
        ("positions", "i4", _N_PATH),
        ("movers", "i4", _N_PATH),
        ("playouts", "i8"),
        ("n_nodes", "i8"),
        ("n_edges", "i8"),
        ("nodes", NODE, _N_NODES),
        ("edges", EDGE, _N_EDGES),
    ],
    align=True,
)
"""A tree and what its playouts work with."""


@compiled
def grow_tree(
    game: Any,
    moves: Any,
    key: Any,
    tree: Any,
    playouts: Any,
    rounds: Any,
    greed: Any,
    explore: Any,
    scale: Any,
    win: Any,
    weights: Any,
) -> Any:
    """Play out from the position, each time a little wiser; return the code of the move tried most.

    Parameters
    ----------
    game : GAME
        The position, left as it was.
    moves : ALLOWED
    key : uint64
        Root of all luck of the playouts.
    tree : TREE
        Zeroed before a game.
    playouts : int
        At least 1.
    rounds : int
        Rounds to play out after the present one before the evaluation is asked.
    greed : float
        Probability that a playout plays the best-ranked move; else any move.
    explore : float
        Weight of what is yet untried.
    scale : float
        Margin in points that counts as three quarters of a win.
    win : float
        Points that winning the game counts beside the margin.
    weights : float64[]
        Weights of the evaluation, in the order of `FEATURES` and `HORIZONS`.
    """
    set_weights(tree.ranking.evaluation, weights)
    tree.n_nodes = tree.n_edges = 0
    add_node(game, moves, tree, _N_STACK)
    ledger = make_record(LEDGERS).of_seat
    for number in range(max(1, playouts)):
        luck = derive(key, number)
        scratch = copy_record(game)
        depth = descend(scratch, tree, explore)
        play_out(scratch, tree, ledger, rounds, greed, luck)
        reward_seats(scratch, tree, scale, win)
        learn(tree, depth)
    tree.playouts = max(1, playouts)
    best = 0
    for i in range(tree.nodes[0].n):
        if tree.edges[i].visits > tree.edges[best].visits:
            best = i
    return widen(tree.edges[best].code)


@compiled
def learn(tree: Any, depth: Any) -> None:
    """Add what a playout brought to the moves and positions on its path."""
    for i in range(depth):
        reward = tree.rewards[tree.movers[i]]
        edge, node = tree.edges[tree.path[i]], tree.nodes[tree.positions[i]]
        edge.visits += 1
        edge.reward += reward
        node.visits += 1
        node.reward += reward


@compiled
def add_node(game: Any, allowed: Any, tree: Any, width: Any) -> Any:
    """Add a position with its best-ranked moves to the tree; return its number, or 0 if the tree is full."""
    if tree.n_nodes == _N_NODES or tree.n_edges + _WIDTH > _N_EDGES:
        return 0
    n = rank_moves(game, tree.ranking, allowed, tree.stack, 0)
    kept = min(n, width)
    number = tree.n_nodes
    tree.n_nodes += 1
    node = tree.nodes[number]
    node.first, node.n, node.visits, node.reward = tree.n_edges, kept, 0, 0.0
    tree.n_edges += kept
    total = 0.0
    for i in range(kept):
        best = i
        for k in range(i + 1, n):
            if tree.stack[k] > tree.stack[best]:
                best = k
        tree.stack[i], tree.stack[best] = tree.stack[best], tree.stack[i]
        edge = tree.edges[node.first + i]
        behind = (value_of(tree.stack[0]) - value_of(tree.stack[i])) / UNIT
        edge.code, edge.visits, edge.reward, edge.node = code_of(tree.stack[i]), 0, 0.0, 0
        edge.prior = 1.0 / ((1.0 + behind) * (1.0 + behind))
        total += edge.prior
    for i in range(kept):
        tree.edges[node.first + i].prior /= total
    return number


@compiled
def descend(game: Any, tree: Any, explore: Any) -> Any:
    """Play down the tree to a move that leads out of it; return the number of moves, which stand in `path`.

    A move gets a node of its own once it was tried `_TRIES` times.
    """
    depth, number = 0, 0
    while True:
        node = tree.nodes[number]
        chosen = choose_edge(tree, node, explore)
        edge = tree.edges[chosen]
        tree.path[depth], tree.positions[depth], tree.movers[depth] = chosen, number, game.seat
        depth += 1
        if play(game, edge.code):
            return depth
        if edge.node == 0:
            if edge.visits >= _TRIES:
                allow_all(game, tree.allowed)
                edge.node = add_node(game, tree.allowed, tree, _WIDTH)
            return depth
        number = widen(edge.node)


@compiled
def choose_edge(tree: Any, node: Any, explore: Any) -> Any:
    """Return the move with the best upper bound: mean reward, and the more the less it was tried for its prior.

    A move not tried yet is taken to bring what the tried ones bring on average, a little less.
    """
    untried = node.reward / node.visits - _UNTRIED if node.visits > 0 else 0.0
    weight = explore * np.sqrt(node.visits + 1.0)
    best, chosen = -np.inf, widen(node.first)
    for i in range(node.first, node.first + node.n):
        edge = tree.edges[i]
        mean = edge.reward / edge.visits if edge.visits > 0 else untried
        bound = mean + weight * edge.prior / (1 + edge.visits)
        if bound > best:
            best, chosen = bound, i
    return chosen


@compiled
def play_out(game: Any, tree: Any, ledger: Any, rounds: Any, greed: Any, key: Any) -> None:
    """Play on from any point of a round: to its end, and then through `rounds` more, or until the game is over.

    A game that is over has its bonuses; otherwise the last round is left before wall-tiling.
    """
    luck = derive(key, 1)
    last = game.round + rounds
    while True:
        while game.mask | game.joker_mask:
            allow_all(game, tree.allowed)
            luck = step_key(luck)
            play(game, choose_move(game, tree, greed, next_key(luck)))
        if game.round >= last:
            return
        tile(game, ledger)
        if game.termination != 0 or not deal(game, key):
            settle(game, ledger)
            return


@compiled
def choose_move(game: Any, tree: Any, greed: Any, key: Any) -> Any:
    """Return a playout's move: the best-ranked one with probability `greed`, else any."""
    if greed > 0.0 and fraction(key) < greed:
        n = rank_moves(game, tree.ranking, tree.allowed, tree.stack, 0)
        best = tree.stack[0]
        for i in range(1, n):
            best = max(best, tree.stack[i])
        return code_of(best)
    return nth_move(game, tree.allowed, below(mix(key), count_moves(game, tree.allowed)))


@compiled
def reward_seats(game: Any, tree: Any, scale: Any, win: Any) -> None:
    """Set each seat's reward, from 0 to 1, by its margin to the best rival."""
    for seat in range(game.players):
        if game.termination != 0:
            margin = settled_margin(game, seat, win)
        else:
            margin = value_margin(game, tree.ranking.evaluation, seat, round(win * UNIT)) / UNIT
        share = margin / scale
        tree.rewards[seat] = 0.5 + 0.5 * share / (1.0 + abs(share))


@compiled
def settled_margin(game: Any, seat: Any, win: Any) -> Any:
    """Return a seat's points less its best rival's in a game that is over, `win` more or less for who has won."""
    best = -np.inf
    for other in range(game.players):
        if other != seat:
            best = max(best, final_score(game, other))
    margin = final_score(game, seat) - best
    return margin + win if margin > 0 else margin - win if margin < 0 else margin


@compiled
def final_score(game: Any, seat: Any) -> Any:
    """Return a final score to which complete rows, which break ties, add a little."""
    return game.score[seat] + count_complete(widen(game.wall[seat]))[0] / 8
