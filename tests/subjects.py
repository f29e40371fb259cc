"""What the facts are held against: one small protocol, and who speaks it.

A subject turns a `Picture` of any position into a game, and a game back into a picture. Everything that the cases ask
(place scores, penalties, refills, places ...) is found by laying a picture on the table and playing its last moves, so
that it is the subject's own rules that answer. To hold another implementation to the facts, write these two classes
for it and add it to `SUBJECTS`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

import pytest
import reference
from reference import Move

from azulsim.errors import InputError
from azulsim.rules import Rules, Termination

if TYPE_CHECKING:
    from azulsim.game import Game

NO_WALL = (".....",) * 5
NO_LINES = ("",) * 5
NO_COLUMNS: Mapping[int, int] = {}

Asked = dict[tuple[int, int], list[int]]
"""(seat, row) -> the columns offered there, wherever a complete line left a choice."""


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

    asked: Asked
    """What was asked so far."""

    def picture(self) -> Picture:
        """Return what lies on the table now."""

    def legal_moves(self) -> list[Move]:
        """Return every legal move; line 0 is the floor."""

    def play(self, move: Move) -> None:
        """Make a move; the last one of a round also tiles the walls, and deals the next round or ends the game."""

    def termination(self) -> Termination:
        """Return how the game ended; `NONE` while it goes on."""

    def placements(self) -> list[int]:
        """Return the place of each seat: 1 is best, ties shared (1, 1, 3)."""


class Subject(Protocol):
    """An implementation of the rules."""

    def start(self, players: int, rules: Rules) -> Playing:
        """Return a fresh game with round 1 dealt."""

    def lay(self, picture: Picture, rules: Rules, columns: Mapping[int, int] = NO_COLUMNS) -> Playing:
        """Return a game that goes on from a picture; the numbers of tiles in it need not add up.

        Where a complete line leaves a choice, `columns` says for each row where its tile goes (0: it is declined);
        rows left out take the first legal column.
        """


class ReferencePlaying:
    """A game of the plain reference."""

    def __init__(self, game: reference.Reference, columns: Mapping[int, int] = NO_COLUMNS) -> None:
        self.game = game
        self.columns = columns
        self.asked: Asked = {}
        game.place = self._place

    def _place(self, game: reference.Reference, seat: int, row: int, options: list[int]) -> int:
        return choose_column(self.asked, self.columns, seat, row, options)

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

    def legal_moves(self) -> list[Move]:
        return self.game.legal_moves()

    def play(self, move: Move) -> None:
        self.game.play(move)

    def termination(self) -> Termination:
        return self.game.termination

    def placements(self) -> list[int]:
        return self.game.placements()


class ReferenceSubject:
    """The plain reference (`tests/reference.py`)."""

    def start(self, players: int, rules: Rules) -> Playing:
        return ReferencePlaying(reference.Reference(players, rules))

    def lay(self, picture: Picture, rules: Rules, columns: Mapping[int, int] = NO_COLUMNS) -> Playing:
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
        return ReferencePlaying(game, columns)


class EnginePlaying:
    """A game of the compiled engine."""

    def __init__(self, game: Game, columns: Mapping[int, int] = NO_COLUMNS) -> None:
        self.game = game
        self.columns = columns
        self.asked: Asked = {}

    def picture(self) -> Picture:
        game = self.game
        players = [
            Player(tuple(wall), tuple(lines), floor, score)
            for wall, lines, floor, score in zip(game.walls, game.lines, game.floors, game.scores, strict=True)
        ]
        return Picture(
            players,
            displays=game.displays,
            center=game.center,
            has_marker=game.holder is None,
            holder=game.holder,
            bag=+Counter(game.bag),
            lid=+Counter(game.lid),
            round=game.round,
            starter=game.starter,
            seat=game.seat,
        )

    def legal_moves(self) -> list[Move]:
        return [read_move(text) for text in self.game.legal_moves()]

    def play(self, move: Move) -> None:
        self.game.play(write_move(move))
        while placings := [text for text in self.game.legal_moves() if text.startswith("@")]:
            row = int(placings[0][1])
            options = sorted(int(text[3:]) for text in placings)
            column = choose_column(self.asked, self.columns, self.game.seat, row, options)
            self.game.play(f"@{row}={column}")

    def termination(self) -> Termination:
        return self.game.termination

    def placements(self) -> list[int]:
        outcome = self.game.outcome
        assert outcome is not None
        return outcome.placements


class EngineSubject:
    """The compiled engine, through `azulsim.game.Game`; imported only when a test asks for it, since it compiles."""

    def __init__(self) -> None:
        from azulsim.game import Game

        self.game_type = Game

    def start(self, players: int, rules: Rules) -> Playing:
        with skipping_what_is_not_played():
            return EnginePlaying(self.game_type(players, rules=rules))

    def lay(self, picture: Picture, rules: Rules, columns: Mapping[int, int] = NO_COLUMNS) -> Playing:
        assert picture.has_marker == (picture.holder is None)
        with skipping_what_is_not_played():
            game = self.game_type.from_table(
                walls=[player.wall for player in picture.players],
                lines=[player.lines for player in picture.players],
                floors=[player.floor for player in picture.players],
                scores=[player.score for player in picture.players],
                displays=picture.displays,
                center=picture.center,
                holder=picture.holder,
                round=picture.round,
                seat=picture.seat,
                starter=picture.starter,
                bag=picture.bag,
                lid=picture.lid,
                rules=rules,
            )
        return EnginePlaying(game, columns)


@contextmanager
def skipping_what_is_not_played() -> Iterator[None]:
    """Skip a test whose rules the engine refuses as not played yet."""
    try:
        yield
    except InputError as error:
        if "not played yet" not in str(error):
            raise
        pytest.skip(str(error))


def choose_column(asked: Asked, columns: Mapping[int, int], seat: int, row: int, options: list[int]) -> int:
    """Note what is asked, and answer as `Subject.lay` tells."""
    asked[seat, row] = options
    return columns.get(row, reference.choose_first(row, options))


MOVE_TEXT = re.compile(r"(C|\d+)([BYRKWJ])(J?)([-1-5])(?:/(\d))?")


def read_move(text: str) -> Move:
    """Read the text of a move: `2B3`, `CR-`, `2J3` (all jokers), `2BJ3` (blue and jokers), `2BJ3/1` (1 joker stays)."""
    match = MOVE_TEXT.fullmatch(text)
    assert match, f"{text!r} is not the text of a move"
    source, color, jokers, line, keep = match.groups()
    return Move(
        0 if source == "C" else int(source),
        color,
        0 if line == "-" else int(line),
        bool(jokers),
        None if keep is None else int(keep),
    )


def write_move(move: Move) -> str:
    """Return the text of a move."""
    keep = "" if move.keep is None else f"/{move.keep}"
    return f"{move.source or 'C'}{move.color}{'J' * move.jokers}{move.line or '-'}{keep}"


SUBJECTS: dict[str, Callable[[], Subject]] = {"reference": ReferenceSubject, "engine": EngineSubject}
"""Name of each implementation -> what makes it."""
