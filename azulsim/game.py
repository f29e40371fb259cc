"""A friendly game for people, tests and notebooks: legal moves as text, play, undo, and the whole table as pictures.

The compiled engine decides everything; this room adds what the engine keeps no picture of, the tiles on the floor
lines (the engine needs only their number).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from azulsim.arena import Block, play_block
from azulsim.engine import core
from azulsim.engine.luck import DEAL_DOMAIN, game_key, root_key
from azulsim.engine.moves import MOVE, fill_moves, format_code, make_code
from azulsim.engine.record import ALLOWED, LANES, MAX_LEGAL, make_template
from azulsim.errors import InputError, RunError
from azulsim.rules import COLORS, MAX_PLAYERS, MIN_PLAYERS, Rules, Termination
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


@dataclass
class _Point:
    """All that changes in a game."""

    record: npt.NDArray[Any]
    floors: list[str]


class Game:
    """One game, played move by move.

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
        if not MIN_PLAYERS <= players <= MAX_PLAYERS:
            raise InputError(f"players = {players}: must be from {MIN_PLAYERS} to {MAX_PLAYERS}")
        self.rules = rules or Rules()
        self.players = players
        self.seed, self.deal = seed, deal
        self.specs: tuple[str, ...] = ()
        """Who plays, in seat order, if strategies do."""
        self.moves: list[str] = []
        """The moves played, as text."""
        self._deal_key = np.uint64(game_key(np.uint64(root_key(seed, DEAL_DOMAIN)), deal, 0))
        self._now = _Point(make_template(self.rules, players), [""] * players)
        self._past: list[_Point] = []
        self._ledger = np.zeros(MAX_PLAYERS, core.LEDGER)
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
            for color in set(tiles):
                state["mask"] |= 1 << (12 * COLORS.index(color) + source)
        for at in range(game.players):
            wall = _read_wall(walls[at])
            counts, colors, full, open_lines = _read_lines(lines[at], wall)
            state["wall"][at], state["counts"][at], state["colors"][at] = wall, counts, colors
            state["full"][at], state["open"][at] = full, open_lines
            state["score"][at] = scores[at]
            state["floor"][at] = len(floors[at])
            state["lid"] += _read_tiles(floors[at].replace(MARKER, ""), "floor line")
        state["bag"] = sum((bag or {}).get(color, 0) << 8 * i for i, color in enumerate(COLORS))
        state["lid"] += sum((lid or {}).get(color, 0) << 8 * i for i, color in enumerate(COLORS))
        state["n_bag"] = sum((bag or {}).values())
        state["round"], state["seat"], state["starter"] = round, seat, starter
        state["holder"] = -1 if holder is None else holder
        game._now.floors = list(floors)
        return game

    # ---- what lies on the table

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
        return [wall_text(int(wall)) for wall in self._state["wall"][: self.players]]

    @property
    def lines(self) -> list[list[str]]:
        """The pattern lines of each seat."""
        state = self._state
        pairs = zip(state["counts"][: self.players], state["colors"][: self.players], strict=True)
        return [lines_text(int(counts), int(colors)) for counts, colors in pairs]

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
        """Return the legal moves as text (source, color, line: `2B3`, `CR-`), by source; none when it is over."""
        return [format_code(code) for code in sorted(self._codes())]

    def _codes(self) -> list[int]:
        if self.is_over:
            return []
        allowed = np.zeros(1, ALLOWED)
        allowed["mask"], allowed["open"] = self._state["mask"], self._state["open"][self.seat]
        out = np.zeros(MAX_LEGAL, MOVE)
        return [int(code) for code in out["code"][: fill_moves(self._state, allowed[0], out)]]

    def play(self, move: str) -> Game:
        """Play a move given as text, and all that follows from it; return the game itself.

        Raises
        ------
        InputError
            If the move cannot be read or is not legal now.
        """
        code = _read_move(move)
        if code not in self._codes():
            legal = self.legal_moves()
            hint = f"legal: {', '.join(legal[:12])}{' ...' if len(legal) > 12 else ''}" if legal else "it is over"
            raise InputError(f"move {move!r} is not legal for seat {self.seat} in round {self.round}; {hint}")
        self._past.append(_Point(self._now.record.copy(), list(self._now.floors)))
        self.moves.append(format_code(code))
        self._drop_tiles(code)
        if core.play(self._state, code):
            core.tile(self._state, self._ledger)
            self._now.floors = [""] * self.players
            if self.is_over:
                core.settle(self._state, self._ledger)
            else:
                self._deal()
        return self

    def undo(self) -> Game:
        """Take back the last move; return the game itself."""
        if not self._past:
            raise InputError("there is no move to take back")
        self._now = self._past.pop()
        self.moves.pop()
        return self

    def _deal(self) -> None:
        if core.deal(self._state, self._deal_key):
            return
        if self.rules.no_tiles == "error":
            raise RunError(
                f'round {self.round + 1} cannot be dealt: bag and lid are empty, and the rules say no_tiles = "error"'
            )
        core.settle(self._state, self._ledger)

    def _drop_tiles(self, code: int) -> None:
        """Draw what a move about to be played puts on the mover's floor line: the marker first (2.5, 2.6)."""
        source, color, line = code >> 6, code >> 3 & 7, code & 7
        seat, n_floor = self.seat, int(self._state["n_floor"])
        floor = self._now.floors[seat]
        if source == 0 and self.holder is None:
            if len(floor) < n_floor:
                floor += MARKER
            elif n_floor and self.rules.marker_on_full_floor == "replace_last":
                floor = floor[:-1] + MARKER
        taken = int(core.lane(self._state["sources"][source], color))
        room = line - (int(self._state["counts"][seat]) >> 4 * line & 15) if line else 0
        fallen = COLORS[color] * max(0, taken - room)
        self._now.floors[seat] = (floor + fallen)[: max(n_floor, len(floor))]

    # ---- the end

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
        ends = self._ledger[: self.players]
        return Outcome(self.termination, self.scores, ends["placement"].tolist(), ends["win_share"].tolist())

    def __repr__(self) -> str:
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
    players = len(specs)
    seats = tuple(range(players))
    block = Block(0, players, rules or Rules(), specs, seats, (seats,), seed, deal, 1, "moves")
    tables = play_block(block, project=project)
    if tables.failures:
        failure = tables.failures[0]
        raise RunError(f"{failure['spec']} failed at ply {failure['ply']}: {failure['message']}")
    game = Game(players, rules=rules, seed=seed, deal=deal)
    game.specs = specs
    for row in tables.moves:
        game.play(format_code(int(make_code(int(row["source"]), int(row["color"]), int(row["line"])))))
    return game


def _read_move(text: str) -> int:
    source, color, line = text[:-2].upper(), text[-2:-1].upper(), text[-1:]
    if (source == "C" or source.isdecimal()) and color and color in COLORS and line in ("-", *"12345"):
        number = 0 if source == "C" else int(source)
        if (source == "C" or 1 <= number <= 11) and text.isascii():
            return number << 6 | COLORS.index(color) << 3 | (0 if line == "-" else int(line))
    raise InputError(f"move {text!r}: write source, color and line, such as 2B3 (display 2, blue, line 3) or CR-")


def _read_tiles(tiles: str, where: str) -> int:
    """Turn letters into a word of color lanes."""
    for letter in tiles:
        if letter not in COLORS:
            raise InputError(f"{where} = {tiles!r}: {letter!r} is no color; write the letters {COLORS}")
    return sum(1 << 8 * COLORS.index(letter) for letter in tiles)


def _read_wall(rows: Sequence[str]) -> int:
    wall = 0
    for row in range(5):
        for column in range(5):
            letter = rows[row][column]
            if letter == ".":
                continue
            if letter != COLORS[(column - row) % 5]:
                raise InputError(
                    f"wall row {row + 1} = {rows[row]!r}: space {column + 1} is for {COLORS[(column - row) % 5]}"
                )
            wall |= 1 << 5 * row + column
    return wall


def _read_lines(lines: Sequence[str], wall: int) -> tuple[int, int, int, int]:
    """Return the fields `counts`, `colors`, `full` and `open` of a seat."""
    counts = colors = full = 0
    open_lines = LANES
    for line, tiles in enumerate(lines, start=1):
        if len(set(tiles)) > 1 or len(tiles) > line or not set(tiles) <= set(COLORS):
            raise InputError(f"pattern line {line} = {tiles!r}: holds at most {line} tiles, of one color")
        for color in range(5):
            is_on_wall = wall >> 5 * (line - 1) + (color + line - 1) % 5 & 1
            if not is_on_wall and len(tiles) < line and (not tiles or tiles[0] == COLORS[color]):
                open_lines |= 1 << 8 * color + line
        if tiles:
            counts |= len(tiles) << 4 * line
            colors |= COLORS.index(tiles[0]) << 4 * line
            full |= (len(tiles) == line) << line
    return counts, colors, full, open_lines


__all__ = ["Game", "Outcome", "play"]
