"""Plays a block of deals: compiled when all strategies are, else many games in lockstep.

Both ways have one contract: the same block gives the same tables, to the byte.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from azulsim.arena.asking import make_players
from azulsim.arena.block import Block, Pulse, Tables, leave_out
from azulsim.arena.blockplay import Blockplay
from azulsim.arena.probing import play_on
from azulsim.registry import make_strategy
from azulsim.strategy import Strategy
from azulsim.strategy.definition import Speed


def play_block(
    block: Block,
    *,
    speed: Speed | None = None,
    project: Path | None = None,
    strategies: Sequence[Strategy] | None = None,
    games: range | None = None,
    pulse: Pulse | None = None,
    limit: float = math.inf,
) -> Tables:
    """Play every deal of a block in every seating.

    Parameters
    ----------
    speed : str, optional
        Run every strategy at this speed; the fastest each can if left out.
    project : Path, optional
        Folder in which the specs of plugged-in strategies are looked up.
    strategies : sequence of Strategy, optional
        The players themselves, in the order of the line-up, instead of those its specs name.
    games : range, optional
        Play only these of the block's games: number i is deal `i // n_seatings` (from the block's first) in seating
        `i % n_seatings`.
    pulse : Pulse, optional
        Where to show how far it is.
    limit : float
        Seconds that strategies in plain Python may think about one game. Other code that does not come back can only
        be stopped from outside.

    Raises
    ------
    RunError
        If a round cannot be dealt under rules with `no_tiles = "error"`.
    """
    if strategies is None:
        strategies = make_players(block.lineup, speed=speed, project=project)
    play = Blockplay(block, strategies, games=games, pulse=pulse, limit=limit)
    log = play.play()
    tables = play.make_tables(log)
    if block.probes:
        play_on(play, log, tables)
    return leave_out(block, tables, is_sorted=play.is_in_order)


def warm_up(block: Block, strategies: Sequence[Strategy]) -> None:
    """Compile all that playing a block takes: fill its seats, and let `greedy` play a game at the same speeds."""
    Blockplay(block, strategies).make_seats()
    stand_ins = [make_strategy("greedy", speed=strategy.speed) for strategy in strategies]
    play_block(block, strategies=stand_ins, games=range(1))
