"""Uniform play: the baselines that every other strategy must beat.

Source: everywhere. Bad at: everything; the first pays for its floor line in nearly every move.
"""

from typing import Any

import numpy as np

from azulsim.strategy import strategy
from azulsim.strategy.toolbox import MAX_LEGAL, below, count_moves, list_moves, nth_move


@strategy(reads_only=True)
def uniform(scratch: Any, moves: Any, key: Any, params: Any, workspace: Any) -> int:
    """Play any legal move, each as likely as the others, the floor line included."""
    return nth_move(scratch, moves, below(key, count_moves(scratch, moves)))


@strategy(reads_only=True)
def uniform_no_floor(scratch: Any, moves: Any, key: Any, params: Any, workspace: Any) -> int:
    """Play any legal move but needless floor moves: the floor only where no line takes the tiles taken."""
    codes = np.empty(MAX_LEGAL, np.int16)
    n = 0
    for i in range(list_moves(scratch, moves, codes)):
        color, line = (codes[i] >> 3) & 7, codes[i] & 7
        if line > 0 or (moves.open >> (8 * color)) & 0x3E == 0:
            codes[n] = codes[i]
            n += 1
    return int(codes[below(key, n)])
