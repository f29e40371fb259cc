"""What the yardstick's `rollout` measures, done by the bundled Monte Carlo tree search."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from azulsim.engine.compiling import address_of
from azulsim.engine.core import LEDGER, deal, tile
from azulsim.engine.luck import derive
from azulsim.engine.record import ALLOWED, SEAT, make_template
from azulsim.engine.table import allow_all, play
from azulsim.registry import make_strategy
from azulsim.rules import MAX_PLAYERS, Rules
from azulsim.strategy import Strategy

PLAYOUTS = 2000
"""Playouts a move."""
POSITIONS = 20


class Player:
    """A compiled strategy that is asked for moves outside of games."""

    def __init__(self, strategy: Strategy) -> None:
        self.strategy = strategy
        self.memory = np.zeros(max(1, strategy.definition.workspace), np.uint8)
        self.seat = np.zeros(1, SEAT)
        self.seat["params"], self.seat["n_params"] = address_of(strategy.param_array), len(strategy.params)
        self.seat["workspace"], self.seat["n_workspace"] = address_of(self.memory), strategy.definition.workspace
        self.allowed = np.zeros(1, ALLOWED)

    def move(self, game: Any, key: int) -> int:
        allow_all(game, self.allowed[0])
        return int(self.strategy.move(game, self.allowed[0], np.uint64(key), self.seat[0]))


@cache
def list_positions(players: int) -> list[npt.NDArray[Any]]:
    """Return positions at the start of the third round of greedy play."""
    return list(_play_to_round_3(players))


def _play_to_round_3(players: int) -> Iterator[npt.NDArray[Any]]:
    greedy, ledger = Player(make_strategy("greedy")), np.zeros(MAX_PLAYERS, LEDGER)
    for number in range(POSITIONS):
        games = make_template(Rules(), players)
        key = np.uint64(derive(np.uint64(1), number))
        deal(games[0], key)
        turn = 0
        while games["round"][0] < 3:
            turn += 1
            if play(games[0], greedy.move(games[0], turn)):
                tile(games[0], ledger)
                deal(games[0], key)
        yield games


def playout_seconds(players: int) -> float:
    """Return the CPU seconds of a uniform playout to the end of the game, the tree's work included."""
    player = Player(make_strategy(f"mcts(playouts={PLAYOUTS}, rounds=100, greed=0)"))
    positions = list_positions(players)
    player.move(positions[0][0], 0)
    start = time.process_time()
    for number, games in enumerate(positions):
        player.move(games[0], number)
    return (time.process_time() - start) / (PLAYOUTS * len(positions))
