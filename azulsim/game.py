"""A friendly game for people, tests and notebooks: legal moves as text, play, undo, and the whole table as pictures.

The compiled engine decides everything; this room adds what the engine keeps no picture of, the tiles on the floor
lines (the engine needs only their number).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from azulsim import __version__
from azulsim.arena import Block, play_block
from azulsim.engine import core, general, table
from azulsim.engine.luck import DEAL_DOMAIN, game_key, root_key
from azulsim.engine.move import format_code
from azulsim.engine.record import ALLOWED, JOKER, KEEP_SHIFT, MAX_LEGAL, WITH_JOKERS, make_template
from azulsim.errors import InputError, RunError
from azulsim.notation import (
    Board,
    GameRecord,
    Luck,
    Position,
    Round,
    Supply,
    draw_svg,
    parse_game,
    parse_move,
    parse_placing,
)
from azulsim.rules import COLORS, MAX_PLAYERS, MIN_PLAYERS, Rules, Termination
from azulsim.schema import COLOR_NAMES, MAX_DEALS, MOVE_COLOR_NAMES
from azulsim.strategy.view import counts_by_color, lines_text, tiles_text, wall_text

MARKER = "M"


@dataclass(frozen=True)
class Outcome:
    """How a game ended; lists are in seat order."""

    termination: Termination
    scores: list[int]
    placements: list[int]
    """1 is best; ties share a place (1, 1, 3)."""
    win_shares: list[float]
    rows: list[int]
    """Complete rows, columns and colors, for which bonuses are counted in the scores."""
    columns: list[int]
    colors: list[int]


@dataclass(frozen=True)
class Tiling:
    """What the last wall-tiling did to one seat."""

    tiles: tuple[tuple[int, int, str, int], ...]
    """Row and column, from 1, kind and points of each tile placed, in order."""
    penalty: int
    """Points due for the floor line and the marker."""
    paid: int
    """Points taken off: less than the penalty where the score would have fallen below 0."""


@dataclass(frozen=True)
class Placing:
    """A decision at wall-tiling: where the tile of a complete line goes (6.2)."""

    seat: int
    row: int
    """Row of the wall, 1 to 5, which is the pattern line."""
    color: str
    """Color of the tile, `J` for a joker."""
    columns: tuple[int, ...]
    """Legal columns, 1 to 5; 0, which comes first, is declining."""


@dataclass
class _Point:
    """All that changes in a game."""

    record: npt.NDArray[Any]
    floors: list[str]
    placing: Placing | None = None
    ledger: npt.NDArray[Any] = field(default_factory=lambda: np.zeros(MAX_PLAYERS, core.LEDGER))

    def copy(self) -> _Point:
        return _Point(self.record.copy(), list(self.floors), self.placing, self.ledger.copy())


class Game:
    """One game, played move by move.

    `repr` gives an expression that makes the game again, its past and its future included; `str` a line for people.
    Games are equal if the same players made the same decisions from the same start, with the same luck and rules.

    Parameters
    ----------
    players : int
        2 to 4.
    rules : Rules
    seed, deal : int
        The luck: the same numbers deal the same tiles, here and in every experiment.

    Examples
    --------
    >>> game = Game(players=2, seed=7)
    >>> game.round, game.seat, len(game.displays)
    (1, 0, 5)
    >>> game.play(game.legal_moves()[0]).seat
    1
    """

    def __init__(self, players: int = 2, *, rules: Rules | None = None, seed: int = 0, deal: int = 0) -> None:
        if not isinstance(players, int | np.integer) or not MIN_PLAYERS <= players <= MAX_PLAYERS:
            raise InputError(f"players = {players!r}: must be from {MIN_PLAYERS} to {MAX_PLAYERS}")
        _check_luck(seed, deal)
        self.rules = _check_rules(rules)
        self.players = players
        self.seed, self.deal = seed, deal
        self._continuation = 0
        self.specs: tuple[str, ...] = ()
        """Who plays, in seat order, if strategies do."""
        self.moves: list[str] = []
        """The moves played, as text."""
        self._deal_key = np.uint64(game_key(np.uint64(root_key(seed, DEAL_DOMAIN)), deal, 0))
        self._now = _Point(make_template(self.rules, players), [""] * players)
        self._past: list[_Point] = []
        self._is_laid = False
        """True if the game began with a table set up by hand, not with a deal."""
        self._deal()

    @classmethod
    def from_table(
        cls,
        *,
        walls: Sequence[Sequence[str]],
        lines: Sequence[Sequence[str]],
        floors: Sequence[str],
        scores: Sequence[int],
        displays: Sequence[str],
        center: str = "",
        holder: int | None = None,
        round: int = 1,
        seat: int = 0,
        starter: int = 0,
        bag: Mapping[str, int] | None = None,
        lid: Mapping[str, int] | None = None,
        rules: Rules | None = None,
        seed: int = 0,
        deal: int = 0,
    ) -> Game:
        """Set up a game from what lies on the table; lists are in seat order.

        Parameters
        ----------
        walls : five strings of five letters a seat, `.` for an empty space
        lines : five strings a seat, such as `""`, `"RR"`
        floors : a string a seat, left to right, `M` for the marker
        displays : the tiles on each display
        holder : the seat that took the marker in this round; None while it lies in the center
        bag, lid : tiles of each color; nothing if left out

        Raises
        ------
        InputError
            For a letter that is no color, a tile on a space of another color, or a line that cannot be.
        """
        game = cls(len(walls), rules=rules, seed=seed, deal=deal)
        record = game._now.record
        template = make_template(game.rules, game.players)
        record[0] = template[0]
        state = record[0]
        n_displays = int(state["n_displays"])
        if len(displays) > n_displays:
            raise InputError(f"displays: {len(displays)} given, the rules have {n_displays} at {game.players} players")
        for source, tiles in enumerate([center, *displays]):
            state["sources"][source] = _read_tiles(tiles, "center" if source == 0 else f"display {source}")
            for color in set(tiles) - {"J"}:
                state["mask"] |= 1 << (12 * COLORS.index(color) + source)
            state["joker_mask"] |= ("J" in tiles) << source
        for at in range(game.players):
            state["wall"][at], state["tiles"][at] = _read_wall(walls[at], game.rules.layout)
            counts, colors, jokers, full = _read_lines(lines[at])
            state["counts"][at], state["colors"][at] = counts, colors
            state["line_jokers"][at], state["full"][at] = jokers, full
            general.reopen_lines(state, at)
            state["score"][at] = scores[at]
            state["floor"][at] = len(floors[at])
            state["lid"] += _read_tiles(floors[at].replace(MARKER, ""), "floor line")
        state["bag"] = sum((bag or {}).get(color, 0) << 8 * i for i, color in enumerate(COLOR_NAMES))
        state["lid"] += sum((lid or {}).get(color, 0) << 8 * i for i, color in enumerate(COLOR_NAMES))
        state["n_bag"] = sum((bag or {}).values())
        state["round"], state["seat"], state["starter"] = round, seat, starter
        state["holder"] = -1 if holder is None else holder
        game._now.floors = list(floors)
        game._is_laid = True
        return game

    @classmethod
    def from_position(cls, position: Position, *, seed: int = 0, deal: int = 0) -> Game:
        """Set up a game from a position, such as `Position.from_text(...)`.

        Parameters
        ----------
        position : Position
            Where it is wall-tiling and the next line leaves no choice, the game goes on to the next decision.
        seed, deal : int
            The luck of all later rounds, if the position keeps it hidden.

        Raises
        ------
        InputError
            If a seat before the one to place still has a complete line: walls are tiled in seat order.
        """
        luck = position.luck or Luck(seed, deal)
        boards = position.boards
        game = cls.from_table(
            walls=[board.wall for board in boards],
            lines=[board.lines for board in boards],
            floors=[board.floor for board in boards],
            scores=[board.score for board in boards],
            displays=position.displays,
            center=position.center,
            holder=position.holder,
            round=position.round,
            seat=position.seat or 0,
            starter=position.starter,
            bag=position.bag._asdict(),
            lid=position.lid._asdict(),
            rules=position.rules,
            seed=luck.seed,
            deal=luck.deal,
        )
        game._continuation = luck.continuation
        game._deal_key = np.uint64(
            game_key(np.uint64(root_key(luck.seed, DEAL_DOMAIN)), np.uint64(luck.deal), np.uint64(luck.continuation))
        )
        if position.is_over:
            game._close(position.termination)
        elif position.row is not None:
            game._go_on_tiling(position.seat or 0)
        return game

    @classmethod
    def from_text(cls, text: str) -> Game:
        """Play a game again from its text (docs/NOTATION.md), and go on with it where the text ends.

        What the text tells beside the decisions, such as displays and scores, is held against the game.

        Raises
        ------
        InputError
            If the text is no game, tells neither a seed nor a start that keeps its luck, or contradicts the rules.

        Examples
        --------
        >>> game = Game(players=2, seed=7).play("2B3")
        >>> Game.from_text(str(game.record())) == game
        True
        """
        record = parse_game(text)
        has_luck = record.seed is not None or (record.start is not None and record.start.luck is not None)
        if not has_luck:
            raise InputError("game: there is no header seed, without which the tiles of later rounds are not known")
        seed, deal = record.seed or 0, record.deal or 0
        if record.start is None:
            game = cls(len(record.players), rules=record.rules, seed=seed, deal=deal)
        else:
            game = cls.from_position(record.start, seed=seed, deal=deal)
        game.specs = record.players if any(record.players) else ()
        for played in record.rounds:
            game._play_round(played)
        game._hold_against(record)
        return game

    def _play_round(self, played: Round) -> None:
        """Play the decisions of a round as it was written down."""
        where = f"game, round {played.number}"
        if self.is_over or played.number != self.round:
            raise InputError(f"{where}: " + ("the game is over" if self.is_over else f"round {self.round} is played"))
        if played.displays and list(played.displays) != self.displays:
            dealt = " ".join(tiles or "-" for tiles in self.displays)
            raise InputError(f"{where}: the displays are not those that the seed deals, {dealt}")
        decisions: list[tuple[int | None, str]] = [(None, str(move)) for move in played.moves]
        decisions += [(seat, str(placing)) for seat, placing in played.placings]
        if played.moves and played.seat != self.seat:
            raise InputError(f"{where}: it is the turn of seat {self.seat}, not of seat {played.seat}")
        for seat, text in decisions:
            if seat is not None and (self.placing is None or seat != self.placing.seat):
                raise InputError(f"{where}: {text} is no decision that seat {seat} has to make")
            try:
                self.play(text)
            except InputError as error:
                raise InputError(f"{where}: {error}") from None

    def _hold_against(self, record: GameRecord) -> None:
        """Refuse a record whose results are not those of this game, which played its decisions."""
        mine = self.record()
        for told, true in zip(record.rounds, mine.rounds, strict=False):
            if told.scores and told.scores != true.scores:
                raise InputError(f"game, round {told.number}: the scores are {true.scores or 'not known yet'}")
        for name in ("scores", "placements", "termination"):
            told, true = getattr(record, name), getattr(mine, name)
            if told and told != true:
                raise InputError(f"game: the header {name} does not fit: it must be {true or 'left out'}")

    def _close(self, termination: Termination) -> None:
        """Rank the players of a game that is over, its bonuses counted already."""
        self._state["termination"] = termination
        settled = self._now.record.copy()
        for name in ("row_bonus", "column_bonus", "color_bonus"):
            settled[0][name] = 0
        core.settle(settled[0], self._now.ledger)

    def _go_on_tiling(self, seat: int) -> None:
        for earlier in range(seat):
            if self._state["full"][earlier]:
                raise InputError(
                    f"position: seat {earlier} has a complete line, though it is the turn of seat {seat} to place tiles"
                )
        if self._state["is_general"]:
            self._tile_on(seat)
        else:
            core.tile(self._state, self._now.ledger)
            self._end_round()

    # ---- what lies on the table

    def position(self, *, hidden: bool = True) -> Position:
        """Return the whole table as one value, which `str` turns into a line of text.

        Parameters
        ----------
        hidden : bool
            Keep the numbers of the luck, from which the tiles of all later rounds follow.

        Examples
        --------
        >>> game = Game(players=2, seed=7)
        >>> game = game.play(game.legal_moves()[0])
        >>> Game.from_position(game.position()).legal_moves() == game.legal_moves()
        True
        """
        placing = self.placing
        scores = self.scores
        if placing:  # points of tiles placed so far
            scores = [score + int(gain) for score, gain in zip(scores, self._now.ledger["gain"], strict=False)]
        boards = [
            Board(score, tuple(wall), tuple(lines), floor)
            for score, wall, lines, floor in zip(scores, self.walls, self.lines, self.floors, strict=True)
        ]
        return Position(
            boards=tuple(boards),
            displays=tuple(self.displays),
            center=self.center,
            bag=Supply(**self.bag),
            lid=Supply(**self.lid),
            round=self.round,
            seat=None if self.is_over else placing.seat if placing else self.seat,
            row=placing.row if placing else None,
            starter=self.starter,
            holder=self.holder,
            termination=self.termination,
            luck=Luck(self.seed, self.deal, self._continuation) if hidden else None,
            rules=self.rules,
        )

    def record(self) -> GameRecord:
        """Return the whole game so far as a frozen value, which `str` turns into the text that `from_text` reads.

        Seats that nobody named are named by empty texts. A game that began with a deal tells its seed, any other one
        the position at which it began.
        """
        views = [self.look_back(n) for n in range(len(self.moves) + 1)]
        played = [list(numbers) for _, numbers in groupby(range(len(views)), key=lambda n: views[n].round)]
        outcome = self.outcome
        return GameRecord(
            players=self.specs or ("",) * self.players,
            rules=self.rules,
            version=__version__,
            seed=None if self._is_laid else self.seed,
            deal=None if self._is_laid else self.deal,
            start=views[0].position() if self._is_laid else None,
            rounds=tuple(self._record_round(views, numbers) for numbers in played if not views[numbers[0]].is_over),
            scores=tuple(outcome.scores) if outcome else (),
            placements=tuple(outcome.placements) if outcome else (),
            termination=self.termination,
        )

    def _record_round(self, views: Sequence[Game], numbers: Sequence[int]) -> Round:
        """Return the round in which decisions were made, `numbers`, from the game before each and after the last."""
        first = views[numbers[0]]
        decisions = [(views[n].decider, self.moves[n]) for n in numbers if n < len(self.moves)]
        end = min(numbers[-1] + 1, len(self.moves))
        is_finished = bool(decisions) and (views[end].is_over or views[end].round > first.round)
        before, after = views[end - 1], views[end]
        gains = [int(entry["gain"]) - int(entry["paid"]) for entry in after._now.ledger[: self.players]]
        return Round(
            number=first.round,
            displays=() if self._is_laid and numbers[0] == 0 else tuple(first.displays),
            seat=first.decider,
            moves=tuple(parse_move(text) for _, text in decisions if not text.startswith("@")),
            placings=tuple((seat, parse_placing(text)) for seat, text in decisions if text.startswith("@")),
            scores=tuple(map(sum, zip(before.scores, gains, strict=True))) if is_finished else (),
        )

    def look_back(self, n: int) -> Game:
        """Return the game as it was after its first `n` decisions, as a game of its own.

        Examples
        --------
        >>> game = Game(players=2, seed=7)
        >>> game.play("2B3").look_back(0).displays == Game(players=2, seed=7).displays
        True
        """
        if not 0 <= n <= len(self.moves):
            raise InputError(f"n = {n}: must be from 0 to {len(self.moves)}, the number of decisions so far")
        twin = copy(self)
        twin._now = (self._past[n] if n < len(self.moves) else self._now).copy()
        twin._past, twin.moves = self._past[:n], self.moves[:n]
        return twin

    def _repr_svg_(self) -> str:
        return draw_svg(self.position(hidden=False), names=self.specs)

    @property
    def _state(self) -> Any:
        return self._now.record[0]

    @property
    def round(self) -> int:
        """The round, from 1."""
        return int(self._state["round"])

    @property
    def seat(self) -> int:
        """The seat to move."""
        return int(self._state["seat"])

    @property
    def decider(self) -> int:
        """The seat whose decision it is: the seat to move, or the one that places a tile."""
        return self.placing.seat if self.placing else self.seat

    @property
    def starter(self) -> int:
        """The seat that started this round."""
        return int(self._state["starter"])

    @property
    def holder(self) -> int | None:
        """The seat that took the marker in this round; None while it lies in the center."""
        holder = int(self._state["holder"])
        return None if holder < 0 else holder

    @property
    def scores(self) -> list[int]:
        """The score of each seat."""
        return [int(score) for score in self._state["score"][: self.players]]

    @property
    def walls(self) -> list[list[str]]:
        """The wall of each seat: five strings of five letters, `.` for an empty space."""
        return [wall_text(self._state, seat) for seat in range(self.players)]

    @property
    def lines(self) -> list[list[str]]:
        """The pattern lines of each seat."""
        return [lines_text(self._state, seat) for seat in range(self.players)]

    @property
    def floors(self) -> list[str]:
        """The floor line of each seat, left to right, `M` for the marker."""
        return list(self._now.floors)

    @property
    def displays(self) -> list[str]:
        """The tiles on each display, sorted by color."""
        return [tiles_text(int(tiles)) for tiles in self._state["sources"][1 : int(self._state["n_displays"]) + 1]]

    @property
    def center(self) -> str:
        """The tiles in the center, sorted by color."""
        return tiles_text(int(self._state["sources"][0]))

    @property
    def bag(self) -> dict[str, int]:
        """The tiles of each color in the bag."""
        return counts_by_color(int(self._state["bag"]))

    @property
    def lid(self) -> dict[str, int]:
        """The tiles of each color in the lid, those on floor lines not counted."""
        lid = counts_by_color(int(self._state["lid"]))
        on_floors = "".join(self._now.floors)
        return {color: n - on_floors.count(color) for color, n in lid.items()}

    # ---- play

    def legal_moves(self) -> list[str]:
        """Return the legal moves as text (source, color, line: `2B3`, `CR-`), by source; none when it is over.

        At wall-tiling, where a player has a choice, they are placing decisions (row, column: `@3=5`, `@3=0` declines).
        """
        if self.placing:
            return [f"@{self.placing.row}={column}" for column in self.placing.columns]
        return [format_code(code) for code in sorted(self._codes(), key=lambda code: (code & 1023, code))]

    def _codes(self) -> list[int]:
        if self.is_over:
            return []
        allowed, codes = np.zeros(1, ALLOWED), np.zeros(MAX_LEGAL, np.int16)
        table.allow_all(self._state, allowed[0])
        return [int(code) for code in codes[: table.list_moves(self._state, allowed[0], codes)]]

    def play(self, move: str) -> Game:
        """Play a move given as text, and all that follows from it; return the game itself.

        Raises
        ------
        InputError
            If the move cannot be read or is not legal now.
        """
        if not isinstance(move, str):
            raise InputError(f"move {move!r}: write it as text, such as '2B3'")
        is_placing = move.startswith("@")
        text = move if is_placing else format_code(_read_move(move))
        if text not in self.legal_moves():
            legal = self.legal_moves()
            hint = f"legal: {', '.join(legal[:12])}{' ...' if len(legal) > 12 else ''}" if legal else "it is over"
            raise InputError(f"move {move!r} is not legal for seat {self.decider} in round {self.round}; {hint}")
        self._past.append(self._now.copy())
        self.moves.append(text)
        if self.placing:
            placing, self._now.placing = self.placing, None
            self._place(placing.seat, placing.row, int(text.partition("=")[2]))
            self._tile_on(placing.seat)
            return self
        code = _read_move(move)
        self._drop_tiles(code)
        if table.play(self._state, code):
            if self._state["is_general"]:
                self._now.ledger[:] = 0
                self._tile_on(0)
            else:
                core.tile(self._state, self._now.ledger)
                self._end_round()
        return self

    @property
    def placing(self) -> Placing | None:
        """The decision that wall-tiling waits for; None while tiles are taken, and on walls without a choice."""
        return self._now.placing

    def _tile_on(self, seat: int) -> None:
        """Go on with wall-tiling from a seat, to the next decision or to the end of the round."""
        state = self._state
        while seat < self.players:
            while full := int(state["full"][seat]):
                line = _lowest_bit(full)
                columns = int(general.columns_of_line(state, seat, line))
                if general.is_choice(state, columns):
                    options = [column for column in range(1, 6) if columns >> (column - 1) & 1]
                    if state["may_decline"]:
                        options.insert(0, 0)
                    self._now.placing = Placing(seat, line, self._kind(seat, line), tuple(options))
                    return
                self._place(seat, line, columns.bit_length())
            seat += 1
        general.finish_tiling(state, self._now.ledger)
        self._end_round()

    def _kind(self, seat: int, line: int) -> str:
        """Return the tile that a complete line sends to the wall."""
        tiles = self.lines[seat][line - 1]
        return COLOR_NAMES[JOKER] if COLOR_NAMES[JOKER] in tiles else tiles[0]

    def _place(self, seat: int, line: int, column: int) -> None:
        """Tile a complete line (column from 1), or let it fall (0)."""
        if column == 0:
            tiles, n_floor = self.lines[seat][line - 1], int(self._state["n_floor"])
            fallen = "".join(sorted(tiles, key=COLOR_NAMES.index))
            self._now.floors[seat] = (self._now.floors[seat] + fallen)[: max(n_floor, len(self._now.floors[seat]))]
        entry = self._now.ledger[seat]
        gain = general.place_line(self._state, seat, line, column, entry)
        self._now.ledger["gain"][seat] += gain

    def _end_round(self) -> None:
        self._now.floors = [""] * self.players
        if self.is_over:
            core.settle(self._state, self._now.ledger)
        else:
            self._deal()

    def undo(self) -> Game:
        """Take back the last move; return the game itself."""
        if not self._past:
            raise InputError("there is no move to take back")
        self._now = self._past.pop().copy()
        self.moves.pop()
        return self

    def _deal(self) -> None:
        if core.deal(self._state, self._deal_key):
            return
        if self.rules.no_tiles == "error":
            raise RunError(
                f'round {self.round + 1} cannot be dealt: bag and lid are empty, and the rules say no_tiles = "error"'
            )
        core.settle(self._state, self._now.ledger)

    def _drop_tiles(self, code: int) -> None:
        """Draw what a move about to be played puts on the mover's floor line: the marker first (2.5, 2.6)."""
        source, color = code >> 6 & 15, code >> 3 & 7
        seat, n_floor = self.seat, int(self._state["n_floor"])
        floor = self._now.floors[seat]
        if source == 0 and self.holder is None and self._state["marker_space"]:
            if len(floor) < n_floor:
                floor += MARKER
            elif n_floor and self.rules.marker_on_full_floor == "replace_last":
                floor = floor[:-1] + MARKER
        take = general.split_take(self._state, code)
        fallen = "J" * (take.n_jokers - take.placed_jokers)
        if color != JOKER:
            fallen = COLORS[color] * (take.n_color - take.placed_color) + fallen
        self._now.floors[seat] = (floor + fallen)[: max(n_floor, len(floor))]

    # ---- the end

    @property
    def tilings(self) -> tuple[Tiling, ...]:
        """What the last wall-tiling did, in seat order: of the round before, or of the last one when it is over.

        While tiles are placed, what was placed in this wall-tiling so far.
        """
        return tuple(self._read_tiling(seat) for seat in range(self.players))

    def _read_tiling(self, seat: int) -> Tiling:
        entry, wall = self._now.ledger[seat], int(self._state["wall"][seat])
        placed = [
            (row, int(entry["tiled"]) >> 6 * row & 7, COLOR_NAMES[int(entry["tiled"]) >> 6 * row + 3 & 7])
            for row in range(5)
            if int(entry["tiled"]) >> 6 * row & 7
        ]
        for row, column, _ in placed:
            wall &= ~(1 << 5 * row + column - 1)
        tiles = []
        for row, column, kind in placed:
            tiles.append((row + 1, column, kind, int(general.points_at(self._state, wall, row, column - 1))))
            wall |= 1 << 5 * row + column - 1
        return Tiling(tuple(tiles), int(entry["penalty"]), int(entry["paid"]))

    @property
    def termination(self) -> Termination:
        """How the game ended; `Termination.NONE` while it goes on."""
        return Termination(int(self._state["termination"]))

    @property
    def is_over(self) -> bool:
        """True when the game has ended and the bonuses are counted."""
        return self.termination != Termination.NONE

    @property
    def outcome(self) -> Outcome | None:
        """The result, or None while the game goes on."""
        if not self.is_over:
            return None
        ends = self._now.ledger[: self.players]
        fields = ("placement", "win_share", "rows", "columns", "colors")
        return Outcome(self.termination, self.scores, *(ends[name].tolist() for name in fields))

    def __eq__(self, other: object) -> bool:
        """Return True for the same decisions from the same start, by the same players, with the same luck and rules."""
        return self.record() == other.record() if isinstance(other, Game) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Game.from_text({str(replace(self.record(), version=''))!r})"

    def __str__(self) -> str:
        names = self.specs or tuple(f"seat {seat}" for seat in range(self.players))
        standing = ", ".join(f"{name} {score}" for name, score in zip(names, self.scores, strict=True))
        if self.is_over:
            return f"<Game over after {self.round} rounds, {len(self.moves)} moves: {standing}>"
        return f"<Game of {self.players}, round {self.round}, {names[self.seat]} to move: {standing}>"


def play(*specs: str, seed: int = 0, deal: int = 0, rules: Rules | None = None, project: Path | None = None) -> Game:
    """Let strategies play one game, in the order of their seats, and return it.

    Parameters
    ----------
    *specs : str
        Two to four specs, such as `"greedy"`; the first one starts.
    seed, deal : int
        The luck.
    rules : Rules, optional
        The printed rules if left out.
    project : Path, optional
        Folder in which plugged-in strategies are looked up; the working directory if left out.

    Examples
    --------
    >>> game = play("greedy", "uniform", seed=7)
    >>> game.outcome.placements
    [1, 2]
    """
    if not MIN_PLAYERS <= len(specs) <= MAX_PLAYERS:
        raise InputError(f"{len(specs)} strategies given; Azul is played by {MIN_PLAYERS} to {MAX_PLAYERS}")
    _check_luck(seed, deal)
    players = len(specs)
    seats = tuple(range(players))
    block = Block(0, players, _check_rules(rules), specs, seats, (seats,), seed, deal, 1, "moves")
    tables = play_block(block, project=project)
    if tables.failures:
        failure = tables.failures[0]
        raise RunError(f"{failure['spec']} failed at ply {failure['ply']}: {failure['message']}")
    game = Game(players, rules=rules, seed=seed, deal=deal)
    game.specs = specs
    replay_moves(game, tables.moves, tables.rounds)
    return game


def _check_rules(rules: Rules | None) -> Rules:
    if rules is None:
        return Rules()
    if not isinstance(rules, Rules):
        raise InputError(f"rules = {rules!r}: must be Rules, such as Rules(wall='gray')")
    return rules


def _check_luck(seed: int, deal: int) -> None:
    for name, value, end in (("seed", seed, 1 << 63), ("deal", deal, MAX_DEALS)):
        if not isinstance(value, int | np.integer) or not 0 <= value < end:
            raise InputError(f"{name} = {value!r}: must be a whole number from 0 to {end - 1}")


def replay_moves(game: Game, moves: npt.NDArray[Any], rounds: npt.NDArray[Any]) -> None:
    """Play the logged moves of a game, and the placing decisions that `rounds` tells (structured arrays)."""
    tiled = {(int(row["round"]), int(row["seat"])): int(row["tiled"]) for row in rounds}
    for row in moves:
        color = MOVE_COLOR_NAMES[row["color"]]
        text = f"{row['source'] or 'C'}{color}{row['line'] or '-'}"
        if text not in game.legal_moves():
            text += f"/{row['jokers']}"
        game.play(text)
        while game.placing:
            placing = game.placing
            column = tiled[game.round, placing.seat] >> 6 * (placing.row - 1) & 7
            game.play(f"@{placing.row}={column}")


def _lowest_bit(bits: int) -> int:
    """Return the index of the lowest set bit."""
    return (bits & -bits).bit_length() - 1


_MOVE = re.compile(r"(C|[1-9]|1[01])([BYRKW]J?|J)([1-5-])(?:/([0-5]))?")


def _read_move(text: str) -> int:
    match = _MOVE.fullmatch(text.upper()) if text.isascii() else None
    if not match:
        raise InputError(f"move {text!r}: write source, color and line, such as 2B3 (display 2, blue, line 3) or CR-")
    source, colors, line, keep = match.groups()
    code = (0 if source == "C" else int(source)) << 6 | COLOR_NAMES.index(colors[0]) << 3
    code |= 0 if line == "-" else int(line)
    if len(colors) == 2:
        code |= WITH_JOKERS
    return code | (int(keep) + 1) << KEEP_SHIFT if keep is not None else code


def _read_tiles(tiles: str, where: str) -> int:
    """Turn letters into a word of color lanes."""
    for letter in tiles:
        if letter not in COLOR_NAMES:
            raise InputError(f"{where} = {tiles!r}: {letter!r} is no color; write the letters {''.join(COLOR_NAMES)}")
    return sum(1 << 8 * COLOR_NAMES.index(letter) for letter in tiles)


def _read_wall(rows: Sequence[str], layout: Sequence[str]) -> tuple[int, list[int]]:
    """Return the spaces taken, and those of each color and of jokers."""
    wall, tiles = 0, [0] * 6
    for row in range(5):
        for column in range(5):
            letter, printed = rows[row][column], layout[row][column]
            if letter == ".":
                continue
            if letter not in COLOR_NAMES or (printed != "." and letter not in (printed, "J")):
                wanted = f"space {column + 1} is for {printed}" if printed != "." else f"{letter!r} is no color"
                raise InputError(f"wall row {row + 1} = {rows[row]!r}: {wanted}")
            wall |= 1 << 5 * row + column
            tiles[COLOR_NAMES.index(letter)] |= 1 << 5 * row + column
    return wall, tiles


def _read_lines(lines: Sequence[str]) -> tuple[int, int, int, int]:
    """Return the fields `counts`, `colors`, `line_jokers` and `full` of a seat."""
    counts = colors = jokers = full = 0
    for line, tiles in enumerate(lines, start=1):
        kinds = set(tiles) - {"J"}
        if len(kinds) > 1 or len(tiles) > line or not kinds <= set(COLORS):
            raise InputError(f"pattern line {line} = {tiles!r}: holds at most {line} tiles, of one color")
        if tiles:
            counts |= len(tiles) << 4 * line
            colors |= (COLORS.index(kinds.pop()) if kinds else JOKER) << 4 * line
            jokers |= tiles.count("J") << 4 * line
            full |= (len(tiles) == line) << line
    return counts, colors, jokers, full


__all__ = ["Game", "Outcome", "Placing", "Tiling", "play"]
