"""Counts of move sequences: a fingerprint of the legal moves."""

from __future__ import annotations

from typing import Any

import numpy as np

from azulsim.engine.compiling import compiled, make_record, widen
from azulsim.engine.record import ALLOWED, GAME, MAX_LEGAL
from azulsim.engine.table import allow_all, list_moves, play
from azulsim.game import Game


def count_sequences(game: Game, depth: int) -> int:
    """Count the sequences of `depth` moves that can be played from a position (perft).

    Sequences end with the round: its last move counts as one, whatever comes after. The count is a fingerprint of the
    legal moves that any other engine can be held to.

    Examples
    --------
    >>> count_sequences(Game(players=2, seed=7), 1) == len(Game(players=2, seed=7).legal_moves())
    True
    """
    if game.placing or game.is_over:
        return 0
    records = np.zeros(depth + 1, GAME)
    records[0] = game._now.record[0]
    codes = np.zeros((depth + 1, MAX_LEGAL), np.int16)
    return int(_count(records, codes, 0, depth))


@compiled
def _count(records: Any, codes: Any, at: Any, depth: Any) -> int:
    if depth == 0:
        return 1
    allowed = make_record(ALLOWED)
    allow_all(records[at], allowed)
    n = widen(list_moves(records[at], allowed, codes[at]))
    if depth == 1:
        return n
    total = 0
    for i in range(n):
        records[at + 1] = records[at]
        if play(records[at + 1], widen(codes[at, i])):
            total += 1
        else:
            total += _count(records, codes, at + 1, depth - 1)
    return total
