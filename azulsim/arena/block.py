"""What is played in one call, and what comes of it: a range of deals, and the rows of the log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from azulsim.engine.driver import LIVE
from azulsim.engine.record import GAME
from azulsim.rules import Rules
from azulsim.schema import GAMES, MOVES, PROBES, ROOTS, ROUNDS, Depth, empty, game_id


@dataclass(frozen=True)
class Probes:
    """From where games are played on once more, in several ways, and how often.

    Attributes
    ----------
    rounds : tuple of int
        Rounds before which the marker is given to each seat in turn; `ALL_ROUNDS` for all.
    tempo_continuations : int
        How often each of these games is played on.
    per_game : int
        How many decisions of a game, in which the marker could be taken or left, are probed.
    decision_continuations : int
        How often each of those is played on in each way.
    """

    rounds: tuple[int, ...] = ()
    tempo_continuations: int = 0
    per_game: int = 0
    decision_continuations: int = 0


LAST_BIT = 63
ALL_ROUNDS = tuple(range(1, LAST_BIT + 1))
"""Every round: the last number stands for all from it on."""


@dataclass(frozen=True)
class Block:
    """A range of deals of one cell: what a worker plays in one call.

    Attributes
    ----------
    lineup : tuple of str
        The spec of each player; `spec_codes` are their numbers in the run's list of specs.
    seatings : tuple of tuples
        Each gives, for every seat, the player (index into `lineup`) that sits there; all are played on each deal.
    denial : bool
        True to log the denial of each move, which doubles the cost of greedy play.
    probes : Probes, optional
        What is tried out from positions of its games.
    """

    cell: int
    players: int
    rules: Rules
    lineup: tuple[str, ...]
    spec_codes: tuple[int, ...]
    seatings: tuple[tuple[int, ...], ...]
    seed: int
    first_deal: int
    n_deals: int
    depth: Depth = "games"
    denial: bool = False
    probes: Probes | None = None

    @property
    def text_width(self) -> int:
        """The number of tiles that the displays hold."""
        return self.rules.n_displays(self.players) * self.rules.tiles_per_display


@dataclass
class Tables:
    """What a block brought: structured arrays with the dtypes of `schema`, rows in canonical order.

    A deal in which a strategy failed is left out of all of them and has rows in `failures` instead.
    """

    games: npt.NDArray[Any]
    rounds: npt.NDArray[Any]
    moves: npt.NDArray[Any]
    roots: npt.NDArray[Any]
    probes: npt.NDArray[Any]
    failures: list[dict[str, Any]] = field(default_factory=list)


class Pulse:
    """Memory in which a block being played shows where it is, so that another process can watch it.

    Attributes
    ----------
    games, lives : GAME[1], LIVE[1]
        The game being played, if games are played one after another.
    beats : int64[1]
        Grows while games are played in lockstep: with each question to a strategy in plain Python, and with each round
        of questions to a compiled one.

    Parameters
    ----------
    memory : buffer, optional
        `Pulse.SIZE` writable bytes, such as memory that two processes share; memory of its own if left out.
    """

    _LIVE_AT = -(-GAME.itemsize // 64) * 64
    _BEATS_AT = _LIVE_AT + -(-LIVE.itemsize // 64) * 64
    SIZE = _BEATS_AT + 64

    def __init__(self, memory: Any = None) -> None:
        memory = np.zeros(self.SIZE, np.uint8) if memory is None else memory
        self.games = np.frombuffer(memory, GAME, 1)
        self.lives = np.frombuffer(memory, LIVE, 1, self._LIVE_AT)
        self.beats = np.frombuffer(memory, np.int64, 1, self._BEATS_AT)

    def clear(self) -> None:
        """Forget the game and the beats."""
        for array in (self.games, self.lives, self.beats):
            array.view(np.uint8)[:] = 0

    @property
    def mark(self) -> tuple[int, int]:
        """What has changed whenever playing has gone on."""
        return int(self.beats[0]), int(self.lives["game"][0])


def describe_failure(
    block: Block, deal: int, seating: int, seat: int, ply: int, kind: str, message: str
) -> dict[str, Any]:
    """Return a row of the failures table."""
    return {
        "game": game_id(block.cell, deal, seating),
        "cell": block.cell,
        "deal": deal,
        "seating": seating,
        "seat": seat,
        "spec": block.lineup[block.seatings[seating][seat]],
        "ply": ply,
        "kind": kind,
        "message": message,
    }


def make_failed(block: Block, game: int, seat: int, ply: int, kind: str, message: str) -> Tables:
    """Return the tables of one game of a block, by its number, that failed without coming back."""
    deal, seating = divmod(game, len(block.seatings))
    seat = min(seat, block.players - 1)  # whatever a crash has left in memory
    failure = describe_failure(block, block.first_deal + deal, seating, seat, ply, kind, message)
    return Tables(
        empty(GAMES), empty(ROUNDS, block.text_width), empty(MOVES), empty(ROOTS), empty(PROBES), failures=[failure]
    )


def join_tables(parts: Sequence[Tables]) -> Tables:
    """Join the tables of a block's games, in order, to those of the block."""
    failures = [failure for part in parts for failure in part.failures]
    joined = {name: np.concatenate([getattr(part, name) for part in parts]) for name in TABLE_NAMES}
    return leave_out(Tables(**joined, failures=failures))


TABLE_NAMES = ("games", "rounds", "moves", "roots", "probes")


def leave_out(tables: Tables) -> Tables:
    """Return tables with their rows in order of games, without those of deals in which a game failed."""
    spoiled = {failure["deal"] for failure in tables.failures}
    return Tables(
        **{name: tidy(getattr(tables, name), spoiled) for name in TABLE_NAMES},
        failures=sorted(tables.failures, key=lambda failure: failure["game"]),
    )


def tidy(table: npt.NDArray[Any], spoiled: set[int]) -> npt.NDArray[Any]:
    """Return the rows in order of games (rows of one game keep theirs), without those of spoiled deals."""
    numbers = table["game"]
    if spoiled:
        table = table[~np.isin((numbers >> 8) & 0xFFFFFFFF, list(spoiled))]
        numbers = table["game"]
    if np.any(numbers[1:] < numbers[:-1]):
        table = table[np.argsort(numbers, kind="stable")]
    return table
