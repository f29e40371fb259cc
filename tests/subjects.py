"""What the facts are held against: one small protocol, and who speaks it.

A subject turns a `Picture` of any position into a game, and a game back into a picture. Everything that the cases ask
(place scores, penalties, refills, places ...) is found by laying a picture on the table and playing its last moves, so
that it is the subject's own rules that answer. To hold another implementation to the facts, write these two classes
for it and add it to `SUBJECTS`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import reference

from azulsim.rules import Rules, Termination

NO_WALL = (".....",) * 5
NO_LINES = ("",) * 5


@dataclass(frozen=True)
class Player:
    """What lies in front of one player: wall and lines as text, the floor line from the left with `M` the marker."""

    wall: Sequence[str] = NO_WALL
    lines: Sequence[str] = NO_LINES
    floor: str = ""
    score: int = 0


@dataclass(frozen=True)
class Picture:
    """Everything that lies on the table, as text and counts. Sources: 0 = center, 1.. = displays."""

    players: Sequence[Player]
    displays: Sequence[str]
    center: str = ""
    has_marker: bool = True
    """Whether the marker lies in the center."""
    holder: int | None = None
    """Who took the marker in this round; kept when the game is over."""
    bag: Counter[str] = field(default_factory=Counter)
    lid: Counter[str] = field(default_factory=Counter)
    round: int = 1
    starter: int = 0
    seat: int = 0

    def with_player(self, seat: int, player: Player) -> Picture:
        """Return the picture with another player in a seat."""
        return replace(self, players=[*self.players[:seat], player, *self.players[seat + 1 :]])


class Playing(Protocol):
    """A game going on."""

    def picture(self) -> Picture:
        """Return what lies on the table now."""

    def legal_moves(self) -> list[tuple[int, str, int]]:
        """Return (source, color, line) of every legal move; line 0 is the floor."""

    def play(self, move: tuple[int, str, int]) -> None:
        """Make a move; the last one of a round also tiles the walls, and deals the next round or ends the game."""

    def termination(self) -> Termination:
        """Return how the game ended; `NONE` while it goes on."""

    def placements(self) -> list[int]:
        """Return the place of each seat: 1 is best, ties shared (1, 1, 3)."""


class Subject(Protocol):
    """An implementation of the rules."""

    def start(self, players: int, rules: Rules) -> Playing:
        """Return a fresh game with round 1 dealt."""

    def lay(self, picture: Picture, rules: Rules) -> Playing:
        """Return a game that goes on from a picture; the numbers of tiles in it need not add up."""


class ReferencePlaying:
    """A game of the plain reference."""

    def __init__(self, game: reference.Reference) -> None:
        self.game = game

    def picture(self) -> Picture:
        game = self.game
        players = [
            Player(tuple(map("".join, b.wall)), tuple(map("".join, b.lines)), "".join(b.floor), b.score)
            for b in game.boards
        ]
        return Picture(
            players,
            displays=["".join(display) for display in game.table.displays],
            center="".join(game.table.center),
            has_marker=game.table.has_marker,
            holder=game.holder,
            bag=+game.bag,
            lid=+game.lid,
            round=game.round,
            starter=game.starter,
            seat=game.seat,
        )

    def legal_moves(self) -> list[tuple[int, str, int]]:
        return [(move.source, move.color, move.line) for move in self.game.legal_moves()]

    def play(self, move: tuple[int, str, int]) -> None:
        self.game.play(move)

    def termination(self) -> Termination:
        return self.game.termination

    def placements(self) -> list[int]:
        return self.game.placements()


class ReferenceSubject:
    """The plain reference (`tests/reference.py`)."""

    def start(self, players: int, rules: Rules) -> Playing:
        return ReferencePlaying(reference.Reference(players, rules))

    def lay(self, picture: Picture, rules: Rules) -> Playing:
        game = reference.Reference(len(picture.players), rules, is_dealt=False)
        game.table = reference.Table([list(d) for d in picture.displays], list(picture.center), picture.has_marker)
        game.boards = [
            reference.Board(
                reference.make_wall(player.wall),
                [list(line) for line in player.lines],
                list(player.floor),
                player.score,
                fallen=len(player.floor.replace("M", "")),
            )
            for player in picture.players
        ]
        game.bag, game.lid = Counter(picture.bag), Counter(picture.lid)
        game.round, game.starter, game.seat, game.holder = (
            picture.round,
            picture.starter,
            picture.seat,
            picture.holder,
        )
        return ReferencePlaying(game)


SUBJECTS: dict[str, Callable[[], Subject]] = {"reference": ReferenceSubject}
"""Name of each implementation -> what makes it (so that nothing is imported or compiled before a test needs it)."""
