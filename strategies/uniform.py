"""Uniform play: the baselines that every other strategy must beat.

Source: everywhere. Bad at: everything; the first pays for its floor line in nearly every move.
"""

from typing import Any

from azulsim.strategy import strategy
from azulsim.strategy.toolbox import (
    below,
    compiled,
    count_moves,
    lines_of,
    lowest_bit,
    make_code,
    nth_move,
    popcount,
    sources_of,
)


@strategy(reads_only=True)
def uniform(scratch: Any, moves: Any, key: Any, params: Any, workspace: Any) -> int:
    """Play any legal move, each as likely as the others, the floor line included."""
    return nth_move(moves, below(key, count_moves(moves)))


@strategy(reads_only=True)
def uniform_no_floor(scratch: Any, moves: Any, key: Any, params: Any, workspace: Any) -> int:
    """Play any legal move but needless floor moves: the floor only where no line takes the tiles taken."""
    total = 0
    for color in range(5):
        total += popcount(sources_of(moves.mask, color)) * _count_lines(moves.open, color)
    k = below(key, total)
    for color in range(5):
        sources, n_lines = sources_of(moves.mask, color), _count_lines(moves.open, color)
        n = popcount(sources) * n_lines
        if k < n:
            lines = lines_of(moves.open, color)
            lines = lines & ~1 if lines > 1 else lines
            return make_code(_nth(sources, k // n_lines), color, _nth(lines, k % n_lines))
        k -= n
    return -1


@compiled
def _count_lines(open_lines: Any, color: int) -> int:
    """Return how many pattern lines are open to a color; 1, for the floor, if none is."""
    return max(1, popcount(lines_of(open_lines, color)) - 1)


@compiled
def _nth(bits: int, k: int) -> int:
    """Return the index of the k-th set bit."""
    for _ in range(k):
        bits &= bits - 1
    return lowest_bit(bits)
