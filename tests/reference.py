"""The rules in slow, plain Python, written from docs/RULES.md alone, to be checked against it by eye.

Lists, letters and counters, no cleverness: this is what the compiled engine is compared with, move by move.
Numbers in parentheses are sections of docs/RULES.md. Tiles are letters of ``BYRKW``, and ``J`` for a joker; the marker
is ``M``.
"""

from __future__ import annotations

import copy
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from azulsim.rules import Rules, Termination

COLORS = "BYRKW"
LAYOUT = ("BYRKW", "WBYRK", "KWBYR", "RKWBY", "YRKWB")
"""The colored wall, row by row (1.3)."""

PRINTED = Rules()
PLAIN = ("11111",) * 5
"""A wall without multipliers."""

EMPTY = "."
FREE = "."
"""In a layout: a space on which no color is printed (12)."""
JOKER = "J"
MARKER = "M"
CENTER = 0
FLOOR = 0
LINES = (1, 2, 3, 4, 5)

Wall = list[list[str]]
Draw = Callable[[int, int, int, Counter[str]], str]
"""``draw(round, display, slot, bag) -> tile``: the luck. Round counts from 1, display and slot from 0."""
Lottery = Callable[[int], int]
"""``lottery(round) -> seat``: who starts a round about to begin, where the start is drawn by lot (12)."""
Choose = Callable[[int, list[int]], int]
"""``choose(row, options) -> column``: where a complete line goes; 0 among the options allows to decline (6.2, 6.3)."""
Place = Callable[["Reference", int, int, list[int]], int]
"""``place(game, seat, row, options) -> column``: the same, seeing the whole game."""


class Move(NamedTuple):
    """Take all tiles of `color` from `source` (0 = center, 1.. = display) to `line` (1 to 5, 0 = floor)."""

    source: int
    color: str
    """A letter of `BYRKW`; `J` takes all jokers of the source alone (7.2)."""
    line: int
    jokers: bool = False
    """Whether all jokers of the source come with the color (7.2)."""
    keep: int | None = None
    """How many jokers stay on the line, where the rules let the player choose between several numbers (7.6)."""


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
    """What the tile scored, multiplied as its space says (8)."""


class TiledLine(NamedTuple):
    """What became of one complete line; `column` 0: all its tiles fell to the floor (6.4)."""

    row: int
    tiles: str
    options: tuple[int, ...]
    """The legal columns, and 0 where the player might decline."""
    column: int
    color: str = ""
    across: int = 0
    down: int = 0
    points: int = 0


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


def score_placement(wall: Wall, row: int, column: int, multipliers: Sequence[str] = PLAIN) -> tuple[int, int, int]:
    """Return (across, down, points) for a tile at row, column (3.3), multiplied as the space says (8)."""
    across = measure_run(wall, row, column, down=0, across=1)
    down = measure_run(wall, row, column, down=1, across=0)
    points = (across if across > 1 else 0) + (down if down > 1 else 0)
    if across == 1 and down == 1:
        points = 1
    return across, down, points * int(multipliers[row - 1][column - 1])


def floor_penalty(occupied: int, penalties: Sequence[int]) -> int:
    """Return the points lost, as a positive number, for that many occupied spaces from the left (2.11)."""
    return -sum(penalties[:occupied])


def marker_points(rules: Rules) -> int:
    """Return the fixed price of the marker; 0 where it costs what its space on the floor line costs (2.4, 12)."""
    return 0 if rules.marker_cost == "floor" else rules.marker_cost


def pay(points: int, penalty: int, rules: Rules) -> int:
    """Return what of a penalty is paid by a player who has `points`: by the clamp never more than those (3.5)."""
    return min(penalty, points) if rules.score_clamp else penalty


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


def ends_game(wall: Wall, rules: Rules) -> bool:
    """Return whether this wall ends the game: it has as many complete rows as the rules ask of one player (5.1, 12)."""
    return count_complete(wall)[0] >= rules.rows_to_end


def find_color(tiles: Sequence[str]) -> str | None:
    """Return the color of the tiles of a line; None for no tiles, and for jokers only (7.3)."""
    for tile in tiles:
        if tile != JOKER:
            return tile
    return None


def is_repeated(wall: Wall, layout: Sequence[str], row: int, column: int, color: str) -> bool:
    """Return whether a color would lie twice in a column: two spaces that are both printed in it do not count (12)."""
    is_printed = layout[row - 1][column - 1] == color
    return any(
        other != row
        and wall[other - 1][column - 1] == color
        and not (is_printed and layout[other - 1][column - 1] == color)
        for other in LINES
    )


def may_lie(wall: Wall, layout: Sequence[str], row: int, column: int, tiles: Sequence[str]) -> bool:
    """Return whether the tile that a complete line sends to the wall may lie on a space (3.2, 6.1, 7.4, 7.6, 12)."""
    if wall[row - 1][column - 1] != EMPTY:
        return False
    color = find_color(tiles)
    if color is None:
        return True
    if layout[row - 1][column - 1] not in (color, FREE):
        return False
    if JOKER in tiles:
        return True
    return color not in wall[row - 1] and not is_repeated(wall, layout, row, column, color)


def find_columns(wall: Wall, layout: Sequence[str], row: int, tiles: Sequence[str]) -> list[int]:
    """Return the columns to which a complete line may send its tile."""
    return [column for column in range(1, 6) if may_lie(wall, layout, row, column, tiles)]


def count_keepable(n_color: int, n_jokers: int, room: int) -> range:
    """Return how many jokers may stay on a line that is filled as far as the take allows (7.6, 12)."""
    return range(max(0, min(n_jokers, room - n_color)), min(n_jokers, room) + 1)


def split_take(tiles: Sequence[str], room: int, rules: Rules, keep: int | None = None) -> tuple[list[str], list[str]]:
    """Return which tiles of a take stay on a line, and which fall: colors first, then jokers (2.10, 7.6, 12)."""
    colored = [tile for tile in tiles if tile != JOKER]
    jokers = [tile for tile in tiles if tile == JOKER]
    keepable = count_keepable(len(colored), len(jokers), room)
    if keep is None:
        keep = keepable[0] if rules.joker_overflow == "keep_color" else keepable[-1]
    stay = min(len(colored), room - keep)
    return colored[:stay] + jokers[:keep], colored[stay:] + jokers[keep:]


def choose_first(row: int, options: list[int]) -> int:
    """Take the first legal column."""
    return next(column for column in options if column > 0)


def place_first(game: Reference, seat: int, row: int, options: list[int]) -> int:
    """Take the first legal column."""
    return choose_first(row, options)


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

    def accepts(self, color: str, line: int, rules: Rules) -> bool:
        """Return whether tiles of a color, or `J` jokers alone, may go to a pattern line (2.8, 6.5, 7.3, 7.6, 12)."""
        tiles, on_wall, printed = self.lines[line - 1], self.wall[line - 1], rules.layout[line - 1]
        if len(tiles) == line or EMPTY not in on_wall:
            return False
        if color == JOKER:
            return True
        if find_color(tiles) not in (None, color):
            return False
        if FREE in printed:
            return color not in on_wall
        return on_wall[printed.index(color)] == EMPTY

    def destinations(self, color: str, rules: Rules) -> list[int]:
        """Return where tiles may go: the floor always (2.10), and the lines that accept them (2.8)."""
        return [FLOOR] + [line for line in LINES if self.accepts(color, line, rules)]

    def take_marker(self, rules: Rules) -> list[str]:
        """Put the marker on the leftmost free floor space (2.4); return the tiles pushed to the lid (2.6).

        At a fixed price it takes no space (12).
        """
        spaces = len(rules.floor_penalties)
        self.marker_takes += 1
        if rules.marker_cost != "floor":
            return []
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

    def place(self, tiles: list[str], line: int, rules: Rules, keep: int | None = None) -> list[str]:
        """Put taken tiles on a line, the excess on the floor (2.7, 2.10); return what goes on to the lid (2.11)."""
        fitting, excess = split_take(tiles, self.room(line), rules, keep)
        if fitting:
            # In a line, too, the color comes before the jokers.
            self.lines[line - 1] = sorted(self.lines[line - 1] + fitting, key=JOKER.__eq__)
        return self.drop(excess, rules)

    def drop(self, tiles: list[str], rules: Rules) -> list[str]:
        """Let tiles fall to the floor line, from left to right; return those that find no free space (2.11)."""
        self.fallen += len(tiles)
        free = len(rules.floor_penalties) - len(self.floor)
        self.floor += tiles[:free]
        return tiles[free:]

    def tile_wall(self, rules: Rules = PRINTED, choose: Choose = choose_first) -> tuple[list[TiledLine], list[str]]:
        """Move one tile of each complete line to the wall, top to bottom, scoring at once (3.2, 3.3).

        Returns what became of each complete line, and the tiles for the lid (3.4). `choose` is asked for a column
        wherever there is a choice (6.2); a line that has no legal space, or is declined, falls to the floor (6.4).
        """
        tiled = []
        to_lid: list[str] = []
        for row in LINES:
            tiles = self.lines[row - 1]
            if len(tiles) < row:
                continue
            self.lines[row - 1] = []
            options = find_columns(self.wall, rules.layout, row, tiles)
            if options and rules.gray_may_decline:
                options = [0, *options]
            column = choose(row, list(options)) if len(options) > 1 else sum(options)
            if len(options) > 1 and column not in options:
                raise ValueError(f"row {row}: column {column} is none of {options}")
            line = TiledLine(row, "".join(tiles), tuple(options), column)
            if column == 0:
                to_lid += self.drop(tiles, rules)
            else:
                # A line that holds jokers sends one of them, the rest goes to the lid (7.4).
                tile = JOKER if JOKER in tiles else tiles[0]
                self.wall[row - 1][column - 1] = tile
                across, down, points = score_placement(self.wall, row, column, rules.multipliers)
                line = line._replace(color=tile, across=across, down=down, points=points)
                tiles.remove(tile)
                to_lid += tiles
            tiled.append(line)
        return tiled, to_lid

    def round_end_points(self, rules: Rules, choose: Choose = choose_first) -> int:
        """Return what the round would bring if it ended now: tiles placed minus floor, before any clamp.

        Lines that find no space fall, and so cost points. The fixed price of a marker taken before is left out.
        """
        return self.copy().end_round(rules, choose)

    def end_round(self, rules: Rules, choose: Choose) -> int:
        """Tile the wall of this board; return the points of the tiles minus the floor."""
        tiled, _ = self.tile_wall(rules, choose)
        return sum(line.points for line in tiled) - floor_penalty(len(self.floor), rules.floor_penalties)


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

    def takes(self) -> list[tuple[int, str, bool]]:
        """Return (source, color, jokers too?) of all that can be taken (2.2); color `J` is jokers alone (7.2)."""
        takes = []
        for source in range(len(self.displays) + 1):
            tiles = self.tiles_at(source)
            takes += [(source, color, False) for color in COLORS + JOKER if color in tiles]
            takes += [(source, color, True) for color in COLORS if color in tiles and JOKER in tiles]
        return takes

    def count_take(self, source: int, color: str, jokers: bool) -> tuple[int, int]:
        """Return how many tiles of a color and how many jokers a take brings."""
        tiles = self.tiles_at(source)
        n_jokers = tiles.count(JOKER) if jokers or color == JOKER else 0
        return (0 if color == JOKER else tiles.count(color)), n_jokers

    def take(self, source: int, color: str, jokers: bool = False) -> tuple[list[str], bool]:
        """Take all tiles of a color (2.2), or jokers, or both (7.2); return them, and whether the marker comes too."""
        wanted = {color, JOKER} if jokers else {color}
        tiles = self.tiles_at(source)
        taken = [tile for tile in tiles if tile in wanted]
        others = [tile for tile in tiles if tile not in wanted]
        if source == CENTER:
            with_marker, self.has_marker = self.has_marker, False
            self.center = others
            return taken, with_marker
        self.displays[source - 1] = []
        self.center += others
        return taken, False


def list_moves(table: Table, board: Board, rules: Rules) -> list[Move]:
    """Return every legal move of the player of `board` (2.2, 2.8, 2.10, 7.2, 7.6)."""
    moves = []
    for source, color, jokers in table.takes():
        for line in board.destinations(color, rules):
            keeps: list[int | None] = [None]
            if jokers and rules.joker_overflow == "choose":
                keepable = count_keepable(*table.count_take(source, color, jokers), board.room(line))
                if len(keepable) > 1:
                    keeps = [*keepable]
            moves += [Move(source, color, line, jokers, keep) for keep in keeps]
    return moves


def apply_move(table: Table, board: Board, move: Move, rules: Rules) -> tuple[bool, list[str]]:
    """Make a move; return whether it took the marker, and the tiles that go to the lid.

    The marker is placed before the tiles (2.5).
    """
    taken, with_marker = table.take(move.source, move.color, move.jokers)
    to_lid = board.take_marker(rules) if with_marker else []
    to_lid += board.place(taken, move.line, rules, move.keep)
    return with_marker, to_lid


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


def draw_starter_at_random(rng: random.Random, players: int) -> Lottery:
    """Return a lottery in which every seat has the same chance (12)."""

    def draw_starter(round_: int) -> int:
        return rng.randrange(players)

    return draw_starter


# ---------------------------------------------------------------------------------------------- the game


class Reference:
    """A whole game: `legal_moves`, `play` until `is_over`; everything on the table is a public attribute.

    `place` is asked in order of seats, and of rows from top to bottom, wherever a complete line leaves a choice.
    """

    def __init__(
        self,
        players: int,
        rules: Rules | None = None,
        draw: Draw | None = None,
        *,
        place: Place | None = None,
        lottery: Lottery | None = None,
        is_dealt: bool = True,
    ) -> None:
        """Set up a game (1) and deal round 1, or with `is_dealt=False` leave the table to be laid by hand."""
        self.players = players
        self.rules = rules or Rules()
        self.draw = draw or draw_at_random(random.Random(0))
        self.place = place or place_first
        self.lottery = lottery or draw_starter_at_random(random.Random(1), players)
        self.bag: Counter[str] = Counter(dict.fromkeys(COLORS, self.rules.n_tiles_of_color(players)))
        if self.rules.joker_tiles:
            self.bag[JOKER] = self.rules.n_jokers(players)
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
        """Return for each seat whether its complete rows ended the game (5.1)."""
        ended = self.termination == Termination.ROW_COMPLETED
        return [ended and ends_game(board.wall, self.rules) for board in self.boards]

    def count_tiles(self) -> Counter[str]:
        """Return how many tiles of each color, and jokers, there are anywhere; always the number set up (1.2, 7.1)."""
        tiles = self.bag + self.lid + Counter(self.table.center)
        for display in self.table.displays:
            tiles += Counter(display)
        for board in self.boards:
            for group in (*board.wall, *board.lines, board.floor):
                tiles += Counter(tile for tile in group if tile in COLORS + JOKER)
        return tiles

    def count_markers(self) -> int:
        """Return how many markers lie in the center and on floor lines (or with a holder whose floor has none)."""
        on_floors = sum(board.floor.count(MARKER) for board in self.boards)
        kept_off_floor = self.holder is not None and MARKER not in self.boards[self.holder].floor
        return self.table.has_marker + on_floors + kept_off_floor

    def count_branches(self) -> Counter[str]:
        """Return how often each kind of event happened."""
        return Counter(event.kind for event in self.events)

    # ------------------------------------------------------------------------------------------ the offer

    def legal_moves(self) -> list[Move]:
        """Return every legal move of the seat to move; none when the game is over."""
        return [] if self.is_over else list_moves(self.table, self.boards[self.seat], self.rules)

    def describe_move(self, move: Move) -> MoveFacts:
        """Return what a legal move would do, without making it."""
        board = self.boards[self.seat]
        taken = sum(self.table.count_take(move.source, move.color, move.jokers))
        placed = min(taken, board.room(move.line))
        return MoveFacts(
            placed=placed,
            overflow=taken - placed,
            marker=move.source == CENTER and self.table.has_marker,
            forced=self.table.has_marker and not any(self.table.displays),
            n_legal=len(self.legal_moves()),
            floor=len(board.floor),
        )

    def exact_gain(self, move: Move, place: Place = place_first) -> int:
        """Return the exact change of the mover's own round-end score, before the clamp.

        That is the points if every complete line were tiled now, from top to bottom, each to the column that `place`
        names where there is a choice, minus the floor as it would then be, and minus the fixed price of a marker that
        comes with the move.
        """
        return self._measure_gains(self.table, self.seat, [move], place)[0]

    def denial(self, move: Move, place: Place = place_first) -> int:
        """Return the best gain that the next seat could have now, minus the best that the move leaves it."""
        seat = (self.seat + 1) % self.players
        table_after = self.table.copy()
        table_after.take(move.source, move.color, move.jokers)
        return self._best_gain(self.table, seat, place) - self._best_gain(table_after, seat, place)

    def _best_gain(self, table: Table, seat: int, place: Place) -> int:
        """Return the greatest exact gain of any move of a seat; 0 if nothing is left to take."""
        moves = list_moves(table, self.boards[seat], self.rules)
        return max(self._measure_gains(table, seat, moves, place), default=0)

    def _measure_gains(self, table: Table, seat: int, moves: list[Move], place: Place) -> list[int]:
        """Return the exact gain of each move of a seat at a table."""
        before = self._round_end_points(seat, self.boards[seat].copy(), place)
        gains = []
        for move in moves:
            board = self.boards[seat].copy()
            with_marker, _ = apply_move(table.copy(), board, move, self.rules)
            price = marker_points(self.rules) if with_marker else 0
            gains.append(self._round_end_points(seat, board, place) - price - before)
        return gains

    def _round_end_points(self, seat: int, board: Board, place: Place) -> int:
        """End the round for a board in a seat of a copy of the game, which `place` may look at; return the points."""
        trial = copy.copy(self)
        trial.boards = [*self.boards[:seat], board, *self.boards[seat + 1 :]]
        return board.end_round(self.rules, lambda row, options: place(trial, seat, row, options))

    def play(self, move: Move | tuple[int, str, int]) -> None:
        """Make a move; with the last tile of the offer also tile the walls and prepare the next round or end."""
        move = Move(*move)
        if move not in self.legal_moves():
            raise ValueError(f"{move} is not a legal move of seat {self.seat}")
        board = self.boards[self.seat]
        spaces = len(self.rules.floor_penalties)
        had_full_floor = len(board.floor) == spaces
        had_fallen = board.fallen
        self._note_jokers(move, board)
        with_marker, to_lid = apply_move(self.table, board, move, self.rules)
        self.lid.update(to_lid)
        if with_marker:
            self.holder = self.seat
            on_full = had_full_floor and self.rules.marker_cost == "floor"
            self._note("marker_on_full_floor" if on_full else "marker_taken", self.seat, "".join(to_lid))
        if to_lid and board.fallen > had_fallen:
            self._note("floor_overflow", self.seat, "".join(to_lid))
        self.ply += 1
        if self.table.is_empty():
            self._end_round()
        else:
            self.seat = (self.seat + 1) % self.players

    def _note_jokers(self, move: Move, board: Board) -> None:
        """Note what is rare about a move that takes jokers, or puts a color to jokers, before it is made (7)."""
        n_color, n_jokers = self.table.count_take(move.source, move.color, move.jokers)
        room = board.room(move.line)
        if move.line == FLOOR:
            if n_jokers:
                self._note("jokers_to_floor", self.seat)
            return
        line = board.lines[move.line - 1]
        if JOKER in line and find_color(line) is None and n_color:
            self._note("color_joins_jokers", self.seat)
        if n_jokers and n_color + n_jokers > room:
            taken = [move.color] * n_color + [JOKER] * n_jokers
            stay, fall = split_take(taken, room, self.rules, move.keep)
            if n_color:
                self._note("mixed_overflow", self.seat)
            if JOKER in fall:
                self._note("joker_overflow_fell", self.seat, "".join(fall))
            if n_color and find_color([*line, *stay]) is None:
                self._note("only_jokers_stayed", self.seat)
            if move.keep is not None:
                self._note("overflow_chosen", self.seat, str(move.keep))

    # ------------------------------------------------------------------------------------------ the tiling

    def _end_round(self) -> None:
        """Tile all walls (3), then end the game (5.1, 4.7) or prepare the next round (4)."""
        for seat in range(self.players):
            self._tile(seat)
        if any(ends_game(board.wall, self.rules) for board in self.boards):
            self._finish(Termination.ROW_COMPLETED)
        elif self.round == self.rules.max_rounds:
            self._finish(Termination.ROUND_LIMIT)
        else:
            self.starter = self._next_starter()
            self.prepare_round()

    def _tile(self, seat: int) -> None:
        """Tile one wall, subtract the floor once and clear it (3.2 to 3.6)."""
        board = self.boards[seat]
        tiled, to_lid = board.tile_wall(self.rules, lambda row, options: self.place(self, seat, row, options))
        gain = sum(line.points for line in tiled)
        occupied = len(board.floor)
        penalty = floor_penalty(occupied, self.rules.floor_penalties)
        price = 0
        if self.holder == seat and self.rules.marker_cost == "floor":
            # What the floor would have cost without the marker: the tiles that fell move up to its space (2.4).
            price = penalty - floor_penalty(board.fallen, self.rules.floor_penalties)
        elif self.holder == seat:
            price = marker_points(self.rules)
            penalty += price
            self._note("fixed_price", seat, str(price))
        before_floor = board.score + gain
        paid = pay(before_floor, penalty, self.rules)
        board.score = before_floor - paid
        for line in tiled:
            self._note_tiled(seat, line)
            if line.column:
                self.placed.append(
                    Placement(self.round, seat, line.row, line.column, line.color, line.across, line.down, line.points)
                )
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
                marker_price=price,
                marker_price_paid=paid - pay(before_floor, penalty - price, self.rules),
            )
        )
        board.wall_points += gain
        board.floor_loss += penalty
        board.floor_paid += paid
        if paid < penalty:
            self._note("clamped", seat, str(penalty - paid))
        if board.score < 0:
            self._note("unclamped_negative", seat, str(board.score))
        self.lid.update(to_lid)
        self.lid.update(tile for tile in board.floor if tile != MARKER)
        board.floor = []
        board.fallen = 0

    def _note_tiled(self, seat: int, line: TiledLine) -> None:
        """Note what is rare about a complete line (6, 7, 8)."""
        color = find_color(line.tiles)
        detail = f"{line.row}{line.tiles}"
        if not line.options:
            self._note("unplaceable_line", seat, detail)
        elif not line.column:
            self._note("declined_line", seat, detail)
        elif len(line.options) > 1:
            self._note("chosen_column", seat, detail)
        elif self.rules.has_free_spaces or color is None:
            self._note("forced_column", seat, detail)
        if line.color == JOKER:
            self._note("joker_placed" if color else "joker_only_line", seat, detail)
        if line.column and self.rules.multipliers[line.row - 1][line.column - 1] != "1":
            self._note("multiplied", seat, detail)

    def _next_starter(self) -> int:
        """Return who starts the next round: who took the marker (4.5), or as agreed if nobody did (4.6).

        By rotation or lottery, who took the marker does not matter (12).
        """
        if self.rules.next_starter != "holder":
            self._note(self.rules.next_starter, self.holder if self.holder is not None else -1)
        if self.rules.next_starter == "rotation":
            return (self.starter + 1) % self.players
        if self.rules.next_starter == "lottery":
            return self.lottery(self.round + 1)
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
        starter.score += self.rules.starter_bonus
        if self.rules.score_clamp:
            starter.score = max(0, starter.score)
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
