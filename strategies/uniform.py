"""Uniform play: moves by chance, from none but the rules to a rule of thumb about which lines to use."""

from typing import Any

import numpy as np

from azulsim.strategy import Move, strategy
from azulsim.strategy.toolbox import (
    MAX_LEGAL,
    below,
    compiled,
    count_in_line,
    count_moves,
    derive,
    list_moves,
    nth_move,
    seat_to_move,
)


@strategy(reads_only=True)
def uniform(scratch: Any, moves: Any, key: Any, params: Any, workspace: Any) -> int:
    """Play any legal move, each as likely as the others, the floor line included.

    It looks at nothing, and so is the one strategy that every program plays alike.

    Source: everywhere. Bad at: everything; it pays for its floor line in nearly every move.
    """
    return nth_move(scratch, moves, below(key, count_moves(scratch, moves)))


@strategy(reads_only=True)
def uniform_no_floor(scratch: Any, moves: Any, key: Any, params: Any, workspace: Any) -> int:
    """Play any legal move but needless floor moves: the floor only where no line takes the tiles taken.

    Tiles that fit nowhere may still be taken at any time, and then fall.

    Source: the reference of docs/RULES.md, section 11. Bad at: overflow, and taking what fits nowhere.
    """
    codes = np.empty(MAX_LEGAL, np.int16)
    n = 0
    for i in range(list_moves(scratch, moves, codes)):
        color, line = (codes[i] >> 3) & 7, codes[i] & 7
        if line > 0 or (moves.open >> (8 * color)) & 0x3E == 0:
            codes[n] = codes[i]
            n += 1
    return int(codes[below(key, n)])


@strategy
def uniform_lines(move: Move) -> float:
    """Play any move into a pattern line, each as likely as the others; the floor only when nothing else is legal.

    Overflow does not deter it, and tiles that fit nowhere are left to others as long as anything else can be taken.

    Source: jhgravelle/azul-alphazero, "cautious". Bad at: overflow, and finishing what it began.
    """
    return move.line > 0


@strategy
def tidy_uniform(move: Move) -> float:
    """Play any of the moves that let the fewest tiles fall, each as likely as the others.

    The marker is not counted as a tile.

    Source: tagore84/azul_alpha_zero, "RandomPlus". Bad at: points; it starts lines as they come.
    """
    return -move.overflow


@strategy
def started_lines(move: Move) -> float:
    """Play any move into a pattern line that already holds tiles; if there is none, any legal move, floor included.

    Overflow and a full floor line do not deter it.

    Source: jhgravelle/azul-alphazero, "efficient". Bad at: the floor, which it pays at the beginning and at the end of
    a round.
    """
    return move.before > 0


@strategy(reads_only=True)
def color_first(scratch: Any, moves: Any, key: Any, params: Any, workspace: Any) -> int:
    """Choose a color at random among those that fit a line, then play any move of it, into started lines if it can.

    The floor is for tiles only when nothing fits any line, and then too the color is chosen first. Jokers taken alone
    are a color of their own; jokers taken along do not change a color.

    Source: jhgravelle/azul-alphazero, "greedy". Bad at: overflow, points, and the choice of a color.
    """
    codes = np.empty(MAX_LEGAL, np.int16)
    n = list_moves(scratch, moves, codes)
    ranks = np.zeros(6, np.int64)  # of the best moves of each color: 1 floor, 2 empty line, 3 started line
    for i in range(n):
        color = (codes[i] >> 3) & 7
        ranks[color] = max(ranks[color], _rank(scratch, codes[i]))
    least = 2 if ranks.max() > 1 else 1
    which = below(derive(key, 0), np.sum(ranks >= least))
    for color in range(6):
        if ranks[color] >= least:
            if which == 0:
                break
            which -= 1
    kept = 0
    for i in range(n):
        if (codes[i] >> 3) & 7 == color and _rank(scratch, codes[i]) == ranks[color]:
            codes[kept] = codes[i]
            kept += 1
    return int(codes[below(derive(key, 1), kept)])


@compiled(key=None)
def _rank(scratch: Any, code: Any) -> int:
    line = code & 7
    if line == 0:
        return 1
    return 3 if count_in_line(scratch, seat_to_move(scratch), line) > 0 else 2
