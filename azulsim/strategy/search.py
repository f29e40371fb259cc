"""Alpha-beta to the end of the round, widened step by step.

Within a round Azul hides nothing and nothing is left to chance. Every line of play is followed to the end of the round,
where `evaluation` says what it is worth, so that no evaluation ever guesses what is still to be taken. What is limited
is width: each move costs the more, the more it falls behind the best-ranked one and the more moves come before it, and
the costs along a line of play may not exceed a budget. The best-ranked move costs nothing, so that a budget of 0 is
greedy play to the end of the round. Iterations raise the budget until the nodes run out, or until no move was left out
any more: then the value is exact.

A costly move that turns out better than all before it is searched again as if it cost nothing. Two players play against
each other; at three and four, the others are taken to play against the one who searches (paranoid search), within
costs that are twice those of the one who searches: a rival pays for every move that does not serve its own board best.

Values hold for the side to move: the searching seat, or its rivals. Numba cannot keep recursive functions on disk, so
the search keeps a stack of frames itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from azulsim.engine.compiling import compiled, widen
from azulsim.engine.luck import mix
from azulsim.engine.record import ALLOWED
from azulsim.engine.table import allow_all
from azulsim.rules import MAX_DISPLAYS, MAX_TILES_PER_DISPLAY
from azulsim.strategy.evaluation import UNIT, set_weights, value_margin
from azulsim.strategy.ranking import (
    MEMORY,
    RANKING,
    code_of,
    play_remembered,
    rank_moves,
    remember,
    take_back,
    value_of,
)

STEP = 16
"""What the budget grows by from one iteration to the next, and the unit of costs: 16 is one doubling of the moves."""
COST_OF_POINTS = 4
"""Cost of each point by which a move falls behind the best-ranked one."""
COST_OF_ANY = 4
"""Cost of every move but the first."""
COST_OF_PLACE = np.array([round(0.8 * STEP * np.log2(i + 1)) for i in range(4096)], np.int64)
"""Cost of a move by the number of moves before it."""
COST_TO_RIVALS = 2
"""What a rival pays for each unit of cost at 3 and 4 players, since rivals do not really conspire."""

_N_TABLE = 1 << 14
_N_STACK = 1 << 14
_N_PLIES = MAX_DISPLAYS * MAX_TILES_PER_DISPLAY + 2
_WORST = -(1 << 30)
_EXACT, _LOWER, _UPPER = 0, 1, 2
_MOST_BUDGET = (1 << 13) - 1
_GENERATION, _CENTER, _LINES, _JOKERS = (
    np.uint64(number) for number in (0x9E3779B97F4A7C15, 0x14057B7EF767814F, 0xD1342543DE82EF95, 0x2545F4914F6CDD1D)
)

FRAME = np.dtype(
    [
        ("before", MEMORY),
        ("displays", "u8"),  # sum of the hashes of the displays
        ("budget", "i8"),
        ("alpha", "i8"),
        ("beta", "i8"),
        ("turns", "i8"),  # 1: the other side was to move one ply before
        ("slot", "i8"),
        ("tag", "i8"),
        ("was_pruned", "i8"),
        ("base", "i8"),  # the moves are stack[base : base + n]
        ("n", "i8"),
        ("i", "i8"),  # the one being searched
        ("hinted", "i8"),
        ("top", "i8"),  # value of the best-ranked move
        ("cost", "i8"),
        ("is_scout", "i8"),
        ("best", "i8"),
        ("code", "i8"),
    ],
    align=True,
)
"""A node on the line of play that is being searched."""

SEARCH = np.dtype(
    [
        ("ranking", RANKING),
        ("allowed", ALLOWED),
        ("generation", "i8"),  # searches of this game: older entries of the table are as good as none
        ("root", "i8"),
        ("win", "i8"),
        ("limit", "i8"),
        ("nodes", "i8"),
        ("is_stopped", "i8"),
        ("is_pruned", "i8"),
        ("iterations", "i8"),
        ("value", "i8"),
        ("code", "i8"),
        ("frames", FRAME, _N_PLIES),
        ("tags", "i8", _N_TABLE),
        ("data", "i8", _N_TABLE),
        ("stack", "i8", _N_STACK),
    ],
    align=True,
)
"""A search: what it has found, its frames, and the transposition table. `nodes` counts positions looked at; `value` is
that of `code`, the best move, in `evaluation.UNIT`s; `is_pruned` is 1 unless the value is exact."""


@compiled
def find_move(game: Any, moves: Any, search: Any, nodes: Any, win: Any, weights: Any) -> Any:
    """Search for the best of the allowed moves; return its code.

    Parameters
    ----------
    game : GAME
        The position, which is played on and left as it was.
    moves : ALLOWED
    search : SEARCH
        Zeroed before a game; what an earlier search left has no influence on the result.
    nodes : int
        Positions that may be looked at, at least 1.
    win : float
        Points that winning the game counts beside the margin.
    weights : float64[]
        Weights of the evaluation, in the order of `FEATURES` and `HORIZONS`.
    """
    set_weights(search.ranking.evaluation, weights)
    search.generation += 1
    search.root, search.win = game.seat, round(win * UNIT)
    search.limit, search.nodes, search.iterations, search.is_stopped = max(1, nodes), 0, 0, 0
    search.code = -1
    search.is_pruned = 1
    search.frames[0].displays = hash_displays(game)
    budget = 0
    while search.is_pruned and not search.is_stopped and budget <= _MOST_BUDGET:
        search_within(game, moves, search, budget)
        search.iterations += 1
        budget += STEP
    return search.code


@compiled
def search_within(game: Any, moves: Any, search: Any, budget: Any) -> None:
    """Search all lines of play whose costs keep within a budget."""
    search.is_pruned = 0
    root = search.frames[0]
    root.budget, root.alpha, root.beta, root.base = budget, _WORST, -_WORST, 0
    ply = 0
    is_known, value = open_node(game, moves, search, 0)
    while ply > 0 or not is_known:
        if is_known:
            ply -= 1
            take_back(game, search.frames[ply].before)
            receive(search, ply, value)
        if play_next(game, search, ply):
            ply += 1
            allow_all(game, search.allowed)
            is_known, value = open_node(game, search.allowed, search, ply)
        else:
            is_known, value = True, close_node(search, ply)


@compiled
def open_node(game: Any, allowed: Any, search: Any, ply: Any) -> Any:
    """Begin a node; return (True, its value) if that is known at once."""
    search.nodes += 1
    if search.nodes > search.limit:
        search.is_stopped = 1
        return True, 0
    frame = search.frames[ply]
    if game.mask | game.joker_mask == 0:
        value = value_margin(game, search.ranking.evaluation, search.root, search.win)
        return True, value if game.seat == search.root else -value
    key = hash_position(game, frame.displays)
    frame.slot = np.int64(key & np.uint64(_N_TABLE - 1))
    frame.tag = np.int64(key ^ (np.uint64(search.generation) * _GENERATION))
    frame.hinted = search.code
    if ply > 0:
        is_known, value = look_up(search, frame)
        if is_known:
            return True, value
    frame.was_pruned, search.is_pruned = search.is_pruned, 0
    frame.n = rank_moves(game, search.ranking, allowed, search.stack, frame.base)
    frame.i = frame.cost = frame.is_scout = 0
    frame.best, frame.code = _WORST, -1
    remember(game, frame.before)
    bring_first(search.stack, frame)
    if search.code < 0:
        search.code = code_of(search.stack[frame.base])
    return False, 0


@compiled
def look_up(search: Any, frame: Any) -> Any:
    """Ask the transposition table; return (True, value) if it settles the node, and note the move it hints at."""
    frame.hinted = -1
    if search.tags[frame.slot] != frame.tag:
        return False, 0
    data = search.data[frame.slot]
    value, kind, is_exhausted = data >> 32, data & 3, (data >> 2) & 1
    frame.hinted = (data >> 16) & 0xFFFF
    if is_exhausted == 0 and ((data >> 3) & _MOST_BUDGET) < frame.budget:
        return False, 0
    if kind == _EXACT or (kind == _LOWER and value >= frame.beta) or (kind == _UPPER and value <= frame.alpha):
        search.is_pruned |= 1 - is_exhausted
        return True, value
    return False, 0


@compiled
def bring_first(stack: Any, frame: Any) -> None:
    """Bring the hinted move to the front, or the best-ranked one without a hint."""
    top, hinted = frame.base, -1
    for k in range(frame.base, frame.base + frame.n):
        if stack[k] > stack[top]:
            top = k
        if code_of(stack[k]) == frame.hinted:
            hinted = k
    frame.top = value_of(stack[top])
    first = top if hinted < 0 else hinted
    stack[first], stack[frame.base] = stack[frame.base], stack[first]


@compiled
def bring_next(stack: Any, frame: Any) -> None:
    """Bring the best-ranked of the moves left to the front of them, and work out its cost."""
    first = best = frame.base + frame.i
    for k in range(first + 1, frame.base + frame.n):
        if stack[k] > stack[best]:
            best = k
    stack[first], stack[best] = stack[best], stack[first]
    behind = frame.top - value_of(stack[first])
    frame.cost = COST_OF_ANY + ((behind * COST_OF_POINTS) >> 8) + COST_OF_PLACE[frame.i]


@compiled
def play_next(game: Any, search: Any, ply: Any) -> bool:
    """Play the next move to be searched; return False if there is none.

    The first move is searched in full. The others are first scouted: can they be better than the best so far, within
    what their cost leaves of the budget? Those that can are searched in full.
    """
    frame, child = search.frames[ply], search.frames[ply + 1]
    if search.is_stopped or frame.i == frame.n or frame.best >= frame.beta:
        return False
    low = max(frame.alpha, frame.best)
    high, child.budget = frame.beta, frame.budget
    if frame.i > 0:
        frame.is_scout = 1 - frame.is_scout
    if frame.is_scout:
        bring_next(search.stack, frame)
        if game.players > 2 and game.seat != search.root:
            frame.cost *= COST_TO_RIVALS
        if frame.cost > frame.budget:
            search.is_pruned = 1
            return False
        high, child.budget = low + 1, frame.budget - frame.cost
    code = code_of(search.stack[frame.base + frame.i])
    play_remembered(game, frame.before, code)
    child.base = frame.base + frame.n
    child.displays = frame.displays
    if frame.before.source > 0:
        child.displays -= hash_display(frame.before.tiles)
    child.turns = (game.seat == search.root) != (frame.before.seat == search.root)
    child.alpha, child.beta = (-high, -low) if child.turns else (low, high)
    return True


@compiled
def receive(search: Any, ply: Any, value: Any) -> None:
    """Take the value of the move that was just searched."""
    if search.is_stopped:
        return
    frame = search.frames[ply]
    if search.frames[ply + 1].turns:
        value = -value
    if frame.is_scout and value > max(frame.alpha, frame.best):
        return  # and play_next searches it in full
    frame.is_scout = 0
    if value > frame.best:
        frame.best, frame.code = value, code_of(search.stack[frame.base + frame.i])
    frame.i += 1


@compiled
def close_node(search: Any, ply: Any) -> Any:
    """End a node; return its value.

    If the nodes have run out, the best move of the root so far stands: the best one of the iteration before was
    searched first, and only a move that was better in full can have taken its place.
    """
    frame = search.frames[ply]
    if ply == 0 and frame.code >= 0:
        search.code, search.value = frame.code, frame.best
    if search.is_stopped:
        return 0
    kind = _UPPER if frame.best <= frame.alpha else _LOWER if frame.best >= frame.beta else _EXACT
    search.tags[frame.slot] = frame.tag
    search.data[frame.slot] = (
        (frame.best << 32) | (frame.code << 16) | (frame.budget << 3) | ((1 - search.is_pruned) << 2) | kind
    )
    search.is_pruned |= frame.was_pruned
    return frame.best


@compiled
def hash_display(tiles: Any) -> Any:
    """Return a hash of the tiles of a display."""
    return mix(np.uint64(tiles))


@compiled
def hash_displays(game: Any) -> Any:
    """Return the sum of the hashes of all displays that hold tiles: which of them holds which does not matter."""
    total = np.uint64(0)
    for display in range(1, game.n_displays + 1):
        if game.sources[display]:
            total += hash_display(game.sources[display])
    return total


@compiled
def hash_position(game: Any, displays: Any) -> Any:
    """Return a hash of what moves of this round can change."""
    total = displays + mix(np.uint64(game.sources[0]) + _CENTER)
    rest = widen(game.seat) | (widen(game.holder) + 1) << 4
    for seat in range(game.players):
        lines = widen(game.counts[seat]) | widen(game.colors[seat]) << 24
        total += mix(np.uint64(lines) + np.uint64(seat + 1) * _LINES)
        if game.is_general:
            total += mix(np.uint64(widen(game.line_jokers[seat])) + np.uint64(seat + 1) * _JOKERS)
        rest |= widen(game.floor[seat]) << (8 + 8 * seat)
    return total ^ mix(np.uint64(rest))
