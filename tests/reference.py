"""The rules in slow, plain Python, written from docs/RULES.md alone, to be checked against it by eye.

Lists, letters and counters, no cleverness: this is what the compiled engine is compared with, move by move.
Numbers in parentheses are sections of docs/RULES.md. Tiles are letters of ``BYRKW``; the marker is ``M``.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from azulsim.rules import Rules, Termination

COLORS = "BYRKW"
LAYOUT = ("BYRKW", "WBYRK", "KWBYR", "RKWBY", "YRKWB")
"""The colored wall, row by row (1.3)."""

EMPTY = "."
MARKER = "M"
CENTER = 0
FLOOR = 0
LINES = (1, 2, 3, 4, 5)

Wall = list[list[str]]
Draw = Callable[[int, int, int, Counter[str]], str]
"""``draw(round, display, slot, bag) -> color``: the luck. Round counts from 1, display and slot from 0."""


class Move(NamedTuple):
    """Take all tiles of `color` from `source` (0 = center, 1.. = display) to `line` (1 to 5, 0 = floor)."""

    source: int
    color: str
    line: int


class Placement(NamedTuple):
    """One tile put on the wall; row and column count from 1."""

    round: int
    seat: int
    row: int
    column: int
    color: str
    across: int
    down: int
    points: int


class Event(NamedTuple):
    """Something worth counting that happened; `seat` is -1 where no player is concerned."""

    kind: str
    round: int
    seat: int
    detail: str


@dataclass(frozen=True)
class RoundFacts:
    """What one round brought one seat; the fields are the columns of the log's `rounds` table."""

    round: int
    seat: int
    starter: int
    holder: int
    displays: str
    bag: int
    lid: int
    is_short: bool
    score_before: int
    score_after: int
    gain: int
    floor: int
    penalty: int
    penalty_paid: int
    marker_price: int
    marker_price_paid: int


@dataclass(frozen=True)
class MoveFacts:
    """What one move does; the fields are columns of the log's `moves` table."""

    placed: int
    overflow: int
    marker: bool
    forced: bool
    n_legal: int
    floor: int


class NoTilesError(Exception):
    """A round had to be dealt from an empty bag and lid, and the rules call that an error (4.4)."""


# ---------------------------------------------------------------------------------------------- small rules


def make_wall(rows: Sequence[str] = (".....",) * 5) -> Wall:
    """Return a wall from five strings of five letters."""
    return [list(row) for row in rows]


def measure_run(wall: Wall, row: int, column: int, down: int, across: int) -> int:
    """Count the tiles in an unbroken run through a space, the space included, in one direction and its opposite."""
    length = 1
    for sign in (+1, -1):
        r, c = row + sign * down, column + sign * across
        while 1 <= r <= 5 and 1 <= c <= 5 and wall[r - 1][c - 1] != EMPTY:
            length += 1
            r, c = r + sign * down, c + sign * across
    return length


def score_placement(wall: Wall, row: int, column: int) -> tuple[int, int, int]:
    """Return (across, down, points) for a tile at row, column (3.3)."""
    across = measure_run(wall, row, column, down=0, across=1)
    down = measure_run(wall, row, column, down=1, across=0)
    if across == 1 and down == 1:
        return across, down, 1
    return across, down, (across if across > 1 else 0) + (down if down > 1 else 0)


def floor_penalty(occupied: int, penalties: Sequence[int]) -> int:
    """Return the points lost, as a positive number, for that many occupied spaces from the left (2.11)."""
    return -sum(penalties[:occupied])


def settle_score(score: int, gain: int, penalty: int) -> int:
    """Return the score after a round: gains first, then the floor, never below 0 (3.5)."""
    return max(0, score + gain - penalty)


def count_complete(wall: Wall) -> tuple[int, int, int]:
    """Return the numbers of complete rows, columns and colors (5.2)."""
    rows = sum(EMPTY not in row for row in wall)
    columns = sum(all(row[column] != EMPTY for row in wall) for column in range(5))
    colors = sum(sum(row.count(color) for row in wall) == 5 for color in COLORS)
    return rows, columns, colors


def end_bonus(wall: Wall, rules: Rules) -> int:
    """Return the points for complete rows, columns and colors at the end of the game (5.2)."""
    rows, columns, colors = count_complete(wall)
    return rows * rules.bonus.row + columns * rules.bonus.column + colors * rules.bonus.color


def has_complete_row(wall: Wall) -> bool:
    """Return whether this wall ends the game (5.1)."""
    return any(EMPTY not in row for row in wall)


def rank_players(scores: Sequence[int], rows: Sequence[int]) -> list[int]:
    """Return each player's place by score, then complete rows; ties share a place: 1, 1, 3 (5.3)."""
    keys = list(zip(scores, rows, strict=True))
    return [1 + sum(other > key for other in keys) for key in keys]


def share_win(placements: Sequence[int]) -> list[float]:
    """Return 1/k for each of the k winners, else 0 (5.3)."""
    return [1 / placements.count(1) if place == 1 else 0.0 for place in placements]


# ---------------------------------------------------------------------------------------------- one player


@dataclass
class Board:
    """One player's board, and what the player has won and lost so far."""

    wall: Wall = field(default_factory=make_wall)
    lines: list[list[str]] = field(default_factory=lambda: [[], [], [], [], []])
    floor: list[str] = field(default_factory=list)
    score: int = 0
    fallen: int = 0
    """Tiles that fell in this round, those that found no free space included; the marker is not a tile."""
    wall_points: int = 0
    floor_loss: int = 0
    floor_paid: int = 0
    bonus_points: int = 0
    marker_takes: int = 0

    def copy(self) -> Board:
        """Return a board that can be changed without changing this one."""
        wall, lines = [list(row) for row in self.wall], [list(line) for line in self.lines]
        return Board(wall, lines, list(self.floor), self.score, self.fallen)

    def accepts(self, color: str, line: int) -> bool:
        """Return whether tiles of a color may go to a pattern line (2.8)."""
        tiles = self.lines[line - 1]
        if len(tiles) == line:
            return False
        if tiles and tiles[0] != color:
            return False
        return color not in self.wall[line - 1]

    def destinations(self, color: str) -> list[int]:
        """Return where tiles of a color may go: the floor always (2.10), and the lines that accept them (2.8)."""
        return [FLOOR] + [line for line in LINES if self.accepts(color, line)]

    def take_marker(self, rules: Rules) -> list[str]:
        """Put the marker on the leftmost free floor space (2.4); return the tiles pushed to the lid (2.6)."""
        spaces = len(rules.floor_penalties)
        self.marker_takes += 1
        if len(self.floor) < spaces:
            self.floor.append(MARKER)
        elif rules.marker_on_full_floor == "replace_last" and spaces > 0:
            pushed = self.floor[-1]
            self.floor[-1] = MARKER
            return [pushed]
        return []

    def room(self, line: int) -> int:
        """Return the number of free spaces in a pattern line; the floor counts as a line with none."""
        return 0 if line == FLOOR else line - len(self.lines[line - 1])

    def place(self, tiles: list[str], line: int, rules: Rules) -> list[str]:
        """Put taken tiles on a line, the excess on the floor (2.7, 2.10); return what goes on to the lid (2.11)."""
        room = self.room(line)
        fitting, excess = tiles[:room], tiles[room:]
        if fitting:
            self.lines[line - 1] += fitting
        self.fallen += len(excess)
        free = len(rules.floor_penalties) - len(self.floor)
        self.floor += excess[:free]
        return excess[free:]

    def tile_wall(self) -> tuple[list[tuple[int, int, str, int, int, int]], list[str]]:
        """Move one tile of each complete line to the wall, top to bottom, scoring at once (3.2, 3.3).

        Returns (row, column, color, across, down, points) of each tile placed, and the tiles for the lid (3.4).
        """
        placed = []
        to_lid: list[str] = []
        for row in LINES:
            tiles = self.lines[row - 1]
            if len(tiles) < row:
                continue
            color = tiles[0]
            column = LAYOUT[row - 1].index(color) + 1
            self.wall[row - 1][column - 1] = color
            placed.append((row, column, color, *score_placement(self.wall, row, column)))
            to_lid += tiles[1:]
            self.lines[row - 1] = []
        return placed, to_lid

    def round_end_points(self, rules: Rules) -> int:
        """Return what the round would bring if it ended now: tiles placed minus floor, before any clamp."""
        placed, _ = self.copy().tile_wall()
        return sum(points for *_, points in placed) - floor_penalty(len(self.floor), rules.floor_penalties)


# ---------------------------------------------------------------------------------------------- the table


@dataclass
class Table:
    """Displays and center: what can be taken."""

    displays: list[list[str]]
    center: list[str] = field(default_factory=list)
    has_marker: bool = True
    """Whether the marker lies in the center."""

    def copy(self) -> Table:
        """Return a table that can be changed without changing this one."""
        return Table([list(display) for display in self.displays], list(self.center), self.has_marker)

    def is_empty(self) -> bool:
        """Return whether no tile is left; the marker is not a tile (2.12)."""
        return not self.center and not any(self.displays)

    def tiles_at(self, source: int) -> list[str]:
        """Return the tiles at a source: 0 is the center, 1.. the displays."""
        return self.center if source == CENTER else self.displays[source - 1]

    def takes(self) -> list[tuple[int, str]]:
        """Return each source and color that can be taken (2.2)."""
        sources = range(len(self.displays) + 1)
        return [(source, color) for source in sources for color in COLORS if color in self.tiles_at(source)]

    def take(self, source: int, color: str) -> tuple[list[str], bool]:
        """Take all tiles of a color (2.2); return them, and whether the marker comes with them (2.4)."""
        tiles = self.tiles_at(source)
        taken = [tile for tile in tiles if tile == color]
        others = [tile for tile in tiles if tile != color]
        if source == CENTER:
            with_marker, self.has_marker = self.has_marker, False
            self.center = others
            return taken, with_marker
        self.displays[source - 1] = []
        self.center += others
        return taken, False


def list_moves(table: Table, board: Board) -> list[Move]:
    """Return every legal move of the player of `board` (2.2, 2.8, 2.10)."""
    return [Move(source, color, line) for source, color in table.takes() for line in board.destinations(color)]


def apply_move(table: Table, board: Board, move: Move, rules: Rules) -> tuple[bool, list[str]]:
    """Make a move; return whether it took the marker, and the tiles that go to the lid.

    The marker is placed before the tiles (2.5).
    """
    taken, with_marker = table.take(move.source, move.color)
    to_lid = board.take_marker(rules) if with_marker else []
    to_lid += board.place(taken, move.line, rules)
    return with_marker, to_lid


def measure_gain(table: Table, board: Board, move: Move, rules: Rules) -> int:
    """Return the exact change that a move makes to its player's round-end points, before any clamp."""
    after = board.copy()
    apply_move(table.copy(), after, move, rules)
    return after.round_end_points(rules) - board.round_end_points(rules)


def best_gain(table: Table, board: Board, rules: Rules) -> int:
    """Return the greatest exact gain of any move of the player of `board`; 0 if nothing is left to take."""
    return max((measure_gain(table, board, move, rules) for move in list_moves(table, board)), default=0)


# ---------------------------------------------------------------------------------------------- luck


def draw_at_random(rng: random.Random) -> Draw:
    """Return a draw that takes every tile in the bag with the same probability (4.2)."""

    def draw(round_: int, display: int, slot: int, bag: Counter[str]) -> str:
        return rng.choice(sorted(bag.elements()))

    return draw


def draw_as_stated(rounds: Sequence[Sequence[str]]) -> Draw:
    """Return a draw that deals `rounds[round - 1][display]`, each display in the order in which the bag allows it."""
    left = {(r, d): list(tiles) for r, displays in enumerate(rounds, 1) for d, tiles in enumerate(displays)}

    def draw(round_: int, display: int, slot: int, bag: Counter[str]) -> str:
        tiles = left[round_, display]
        color = next(tile for tile in tiles if bag[tile] > 0)
        tiles.remove(color)
        return color

    return draw


# ---------------------------------------------------------------------------------------------- the game


class Reference:
    """A whole game: `legal_moves`, `play` until `is_over`; everything on the table is a public attribute."""

    def __init__(
        self, players: int, rules: Rules | None = None, draw: Draw | None = None, *, is_dealt: bool = True
    ) -> None:
        """Set up a game (1) and deal round 1, or with `is_dealt=False` leave the table to be laid by hand."""
        self.players = players
        self.rules = rules or Rules()
        self.draw = draw or draw_at_random(random.Random(0))
        self.bag: Counter[str] = Counter(dict.fromkeys(COLORS, self.rules.tiles_per_color))
        self.lid: Counter[str] = Counter()
        self.table = Table([[] for _ in range(self.rules.n_displays(players))])
        self.boards = [Board() for _ in range(players)]
        self.round = 0
        self.ply = 0
        self.starter = 0
        self.seat = 0
        self.holder: int | None = None
        """Who took the marker in this round, also after the last round of the game."""
        self.termination = Termination.NONE
        self.events: list[Event] = []
        self.rounds: list[RoundFacts] = []
        self.placed: list[Placement] = []
        self._dealt_displays = ""
        self._dealt_counts = (0, 0)
        self._scores_before = [0] * players
        if is_dealt:
            self.prepare_round()

    # ------------------------------------------------------------------------------------------ reading

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return self.termination != Termination.NONE

    def scores(self) -> list[int]:
        """Return the score of each seat."""
        return [board.score for board in self.boards]

    def placements(self) -> list[int]:
        """Return the place of each seat (5.3)."""
        return rank_players(self.scores(), [count_complete(board.wall)[0] for board in self.boards])

    def win_shares(self) -> list[float]:
        """Return the win share of each seat."""
        return share_win(self.placements())

    def enders(self) -> list[bool]:
        """Return for each seat whether it has a complete row in a game that ended so (5.1)."""
        ended = self.termination == Termination.ROW_COMPLETED
        return [ended and has_complete_row(board.wall) for board in self.boards]

    def count_tiles(self) -> Counter[str]:
        """Return how many tiles of each color there are anywhere; always the number set up (1.2)."""
        tiles = self.bag + self.lid + Counter(self.table.center)
        for display in self.table.displays:
            tiles += Counter(display)
        for board in self.boards:
            for group in (*board.wall, *board.lines, board.floor):
                tiles += Counter(tile for tile in group if tile in COLORS)
        return tiles

    def count_markers(self) -> int:
        """Return how many markers lie in the center and on floor lines (or with a holder whose floor was full)."""
        on_floors = sum(board.floor.count(MARKER) for board in self.boards)
        kept_off_floor = self.holder is not None and MARKER not in self.boards[self.holder].floor
        return self.table.has_marker + on_floors + kept_off_floor

    def count_branches(self) -> Counter[str]:
        """Return how often each kind of event happened."""
        return Counter(event.kind for event in self.events)

    # ------------------------------------------------------------------------------------------ the offer

    def legal_moves(self) -> list[Move]:
        """Return every legal move of the seat to move; none when the game is over."""
        return list_moves(self.table, self.boards[self.seat])

    def describe_move(self, move: Move) -> MoveFacts:
        """Return what a legal move would do, without making it."""
        board = self.boards[self.seat]
        taken = self.table.tiles_at(move.source).count(move.color)
        placed = min(taken, board.room(move.line))
        return MoveFacts(
            placed=placed,
            overflow=taken - placed,
            marker=move.source == CENTER and self.table.has_marker,
            forced=self.table.has_marker and not any(self.table.displays),
            n_legal=len(self.legal_moves()),
            floor=len(board.floor),
        )

    def exact_gain(self, move: Move) -> int:
        """Return the exact change of the mover's own round-end score, before the clamp."""
        return measure_gain(self.table, self.boards[self.seat], move, self.rules)

    def denial(self, move: Move) -> int:
        """Return the best gain that the next seat could have now, minus the best that the move leaves it."""
        next_board = self.boards[(self.seat + 1) % self.players]
        table_after = self.table.copy()
        table_after.take(move.source, move.color)
        return best_gain(self.table, next_board, self.rules) - best_gain(table_after, next_board, self.rules)

    def play(self, move: Move | tuple[int, str, int]) -> None:
        """Make a move; with the last tile of the offer also tile the walls and prepare the next round or end."""
        move = Move(*move)
        if move not in self.legal_moves():
            raise ValueError(f"{move} is not a legal move of seat {self.seat}")
        board = self.boards[self.seat]
        spaces = len(self.rules.floor_penalties)
        had_full_floor = len(board.floor) == spaces
        had_fallen = board.fallen
        with_marker, to_lid = apply_move(self.table, board, move, self.rules)
        self.lid.update(to_lid)
        if with_marker:
            self.holder = self.seat
            self._note("marker_on_full_floor" if had_full_floor else "marker_taken", self.seat, "".join(to_lid))
        if to_lid and board.fallen > had_fallen:
            self._note("floor_overflow", self.seat, "".join(to_lid))
        self.ply += 1
        if self.table.is_empty():
            self._end_round()
        else:
            self.seat = (self.seat + 1) % self.players

    # ------------------------------------------------------------------------------------------ the tiling

    def _end_round(self) -> None:
        """Tile all walls (3), then end the game (5.1, 4.7) or prepare the next round (4)."""
        for seat in range(self.players):
            self._tile(seat)
        if any(has_complete_row(board.wall) for board in self.boards):
            self._finish(Termination.ROW_COMPLETED)
        elif self.round == self.rules.max_rounds:
            self._finish(Termination.ROUND_LIMIT)
        else:
            self.starter = self._next_starter()
            self.prepare_round()

    def _tile(self, seat: int) -> None:
        """Tile one wall, subtract the floor once and clear it (3.2 to 3.6)."""
        board = self.boards[seat]
        tiles_placed, to_lid = board.tile_wall()
        gain = sum(points for *_, points in tiles_placed)
        occupied = len(board.floor)
        penalty = floor_penalty(occupied, self.rules.floor_penalties)
        before_floor = board.score + gain
        board.score = settle_score(board.score, gain, penalty)
        paid = before_floor - board.score
        # What the floor would have cost without the marker: the tiles that fell move up to the marker's space (2.4).
        unmarked = floor_penalty(board.fallen, self.rules.floor_penalties) if self.holder == seat else penalty
        self.placed += [Placement(self.round, seat, *tile) for tile in tiles_placed]
        self.rounds.append(
            RoundFacts(
                round=self.round,
                seat=seat,
                starter=self.starter,
                holder=-1 if self.holder is None else self.holder,
                displays=self._dealt_displays,
                bag=self._dealt_counts[0],
                lid=self._dealt_counts[1],
                is_short="." in self._dealt_displays,
                score_before=self._scores_before[seat],
                score_after=board.score,
                gain=gain,
                floor=occupied,
                penalty=penalty,
                penalty_paid=paid,
                marker_price=penalty - unmarked,
                marker_price_paid=paid - min(unmarked, before_floor),
            )
        )
        board.wall_points += gain
        board.floor_loss += penalty
        board.floor_paid += paid
        if paid < penalty:
            self._note("clamped", seat, str(penalty - paid))
        self.lid.update(to_lid)
        self.lid.update(tile for tile in board.floor if tile != MARKER)
        board.floor = []
        board.fallen = 0

    def _next_starter(self) -> int:
        """Return who starts the next round: who took the marker (4.5), or as agreed if nobody did (4.6)."""
        if self.holder is not None:
            return self.holder
        self._note("unclaimed_marker", self.starter)
        if self.rules.unclaimed_marker == "rotate":
            return (self.starter + 1) % self.players
        return self.starter

    def _finish(self, termination: Termination) -> None:
        """End the game and add the bonuses, after any clamp (5.2)."""
        self.termination = termination
        self._note(termination.name.lower())
        for board in self.boards:
            board.bonus_points = end_bonus(board.wall, self.rules)
            board.score += board.bonus_points

    # ------------------------------------------------------------------------------------------ the dealing

    def prepare_round(self) -> None:
        """Fill the displays in order and give the start to the starter (4.1 to 4.4)."""
        displays = [self._fill_display(display) for display in range(len(self.table.displays))]
        if self.rules.lid_refill == "eager" and not self.bag.total() and self.lid.total():
            self._note("tipped_eagerly")
            self._tip_lid()
        if not any(displays):
            if self.rules.no_tiles == "error":
                raise NoTilesError(f"round {self.round + 1}: bag and lid are empty")
            self._finish(Termination.NO_TILES)
            return
        self.round += 1
        self.table = Table(displays)
        self.holder = None
        self.seat = self.starter
        starter = self.boards[self.starter]
        starter.score = max(0, starter.score + self.rules.starter_bonus)
        size = self.rules.tiles_per_display
        self._dealt_displays = "".join("".join(tiles).ljust(size, ".") for tiles in displays)
        self._dealt_counts = (self.bag.total(), self.lid.total())
        self._scores_before = self.scores()
        if "." in self._dealt_displays:
            self._note("short_refill", detail=self._dealt_displays)

    def _fill_display(self, display: int) -> list[str]:
        """Draw tiles for one display; tip the lid when a tile is needed and the bag is empty (4.2, 4.3)."""
        tiles: list[str] = []
        for slot in range(self.rules.tiles_per_display):
            if not self.bag.total() and self.lid.total():
                self._note("tipped_mid_display" if slot else "tipped_between_displays")
                self._tip_lid()
            if not self.bag.total():
                break
            color = self.draw(self.round + 1, display, slot, self.bag)
            assert self.bag[color] > 0, f"the draw gave {color}, which is not in the bag"
            self.bag[color] -= 1
            tiles.append(color)
        return tiles

    def _tip_lid(self) -> None:
        self.bag, self.lid = self.lid, Counter()

    def _note(self, kind: str, seat: int = -1, detail: str = "") -> None:
        self.events.append(Event(kind, self.round, seat, detail))
