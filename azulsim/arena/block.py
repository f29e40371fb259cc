"""What is played in one call, and what comes of it: a range of deals, and the rows of the log."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from azulsim.engine.driver import LIVE
from azulsim.engine.record import GAME
from azulsim.rules import Rules, Termination
from azulsim.schema import DEAL_SHIFT, GAMES, MAX_DEALS, MOVES, PROBES, ROOTS, ROUNDS, Depth, empty, game_id


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
    forfeits : bool
        True to end a game in which a strategy fails as lost by it, instead of leaving its deal out.
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
    forfeits: bool = False

    @property
    def text_width(self) -> int:
        """The number of tiles that the displays hold."""
        return self.rules.n_displays(self.players) * self.rules.tiles_per_display


@dataclass
class Tables:
    """What a block brought: structured arrays with the dtypes of `schema`, rows in canonical order.

    A deal in which a strategy failed is left out of all of them and has rows in `failures` instead. If the block has
    `forfeits`, it is there, and the game that failed has rows in `games` and none in `rounds` and `moves`.
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


def find_seat(game: Any, players: int) -> int:
    """Return the seat that has a decision before it: to move, or, with an empty table, to place the tile of a line."""
    if game["mask"] == 0 and game["joker_mask"] == 0:
        return next((seat for seat in range(players) if game["full"][seat]), int(game["seat"]))
    return int(game["seat"])


def forfeit(block: Block, failure: Mapping[str, Any], game: Any, live: Any) -> npt.NDArray[Any]:
    """Return the rows of `games` for a game that ends where a strategy failed: lost by it, and shared by the others.

    Parameters
    ----------
    failure
        Its row of the failures table.
    game, live : GAME, LIVE
        Where it was. Scores stand, and totals are those of the rounds that were tiled; nothing is counted that the
        rules count at the end.
    """
    players, loser = block.players, failure["seat"]
    rows = np.zeros(players, GAMES.dtype())
    for name in ("game", "cell", "deal", "seating"):
        rows[name] = failure[name]
    rows["players"], rows["seat"] = players, np.arange(players)
    rows["spec"] = [block.spec_codes[player] for player in block.seatings[failure["seating"]]]
    rows["score"] = game["score"][:players]
    rows["placement"], rows["win_share"] = 1, 1 / (players - 1)
    rows["placement"][loser], rows["win_share"][loser] = players, 0
    for name in ("wall_points", "floor_loss", "floor_paid", "marker_takes"):
        rows[name] = live[name][:players]
    rows["rounds"], rows["plies"] = max(0, int(game["round"]) - 1), failure["ply"]
    rows["termination"] = Termination.FORFEIT
    return rows


def make_failed(
    block: Block, number: int, game: Any, live: Any, kind: str, message: str, suspects: Collection[int] = ()
) -> Tables:
    """Return the tables of one game of a block, by its number, that failed without coming back.

    Parameters
    ----------
    game, live : GAME, LIVE
        What is known of where it was.
    kind, message
        As in its row of the failures table.
    suspects
        Places in the line-up of those who may have crashed the process. If the one to move is none of them, a crash is
        that of the one who moved last, since what a strategy does to a process may come out later.
    """
    deal, seating = divmod(number, len(block.seatings))
    seat = min(find_seat(game, block.players), block.players - 1)  # whatever a crash has left in memory
    if kind == "crashed":
        before = [(seat - steps) % block.players for steps in range(block.players)]
        seat = next((each for each in before if block.seatings[seating][each] in suspects), seat)
    failure = describe_failure(block, block.first_deal + deal, seating, seat, int(live["ply"]), kind, message)
    games = forfeit(block, failure, game, live) if block.forfeits else empty(GAMES)
    return Tables(games, empty(ROUNDS, block.text_width), empty(MOVES), empty(ROOTS), empty(PROBES), [failure])


def join_tables(block: Block, parts: Sequence[Tables]) -> Tables:
    """Join the tables of a block's games, in order, to those of the block."""
    failures = [failure for part in parts for failure in part.failures]
    joined = {name: np.concatenate([getattr(part, name) for part in parts]) for name in TABLE_NAMES}
    return leave_out(block, Tables(**joined, failures=failures))


TABLE_NAMES = ("games", "rounds", "moves", "roots", "probes")


def leave_out(block: Block, tables: Tables, *, is_sorted: bool = False) -> Tables:
    """Return tables with their rows in order of games, without those of deals in which a game failed.

    If the block has `forfeits`, only the rounds and moves of the failed games are left out. `is_sorted` says that the
    rows are in order already, which takes longer to find out than one would think.
    """
    key = "game" if block.forfeits else "deal"
    spoiled = sorted({failure[key] for failure in tables.failures})
    left = {}
    for name in TABLE_NAMES:
        table = getattr(tables, name)
        if spoiled and not (block.forfeits and name == "games"):
            numbers = table["game"] if block.forfeits else table["game"] >> DEAL_SHIFT & MAX_DEALS - 1
            table = table[~np.isin(numbers, spoiled)]
        left[name] = table if is_sorted else _sort(table)
    return Tables(**left, failures=sorted(tables.failures, key=lambda failure: failure["game"]))


def _sort(table: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the rows in order of games; rows of one game keep theirs."""
    numbers = table["game"]
    return table[np.argsort(numbers, kind="stable")] if np.any(numbers[1:] < numbers[:-1]) else table
