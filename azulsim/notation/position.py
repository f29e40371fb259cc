"""What lies on the table as one frozen value, checked when it is made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from azulsim.notation.text import JOKER, MARKER, TILES, NotationError, Path, quote, sort_tiles
from azulsim.rules import COLORS, MAX_PLAYERS, MAX_POINTS, MIN_PLAYERS, Rules, Termination

EMPTY_WALL = (".....",) * 5
EMPTY_LINES = ("",) * 5
_PRINTED = Rules()
MAX_SEED, MAX_DEAL = 1 << 63, 1 << 32
"""Bounds of the luck, not included."""


class Supply(NamedTuple):
    """Tiles of each kind in the bag or the lid.

    >>> Supply(B=3, J=1).total
    4
    """

    B: int = 0
    Y: int = 0
    R: int = 0
    K: int = 0
    W: int = 0
    J: int = 0

    @property
    def total(self) -> int:
        """All tiles together."""
        return sum(self)


class Luck(NamedTuple):
    """What is hidden: the numbers that decide which tiles all later rounds bring."""

    seed: int
    deal: int = 0
    continuation: int = 0
    """0 is the game as it was really dealt."""


_NOTHING = Supply()


@dataclass(frozen=True, slots=True)
class Board:
    """What lies before one player."""

    score: int = 0
    wall: tuple[str, ...] = EMPTY_WALL
    """Five strings of five letters, `.` for an empty space."""
    lines: tuple[str, ...] = EMPTY_LINES
    """The tiles on pattern lines 1 to 5, a color before jokers, such as `""`, `"RR"`, `"BJ"`."""
    floor: str = ""
    """The floor line from the left, `M` for the marker."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "wall", tuple(self.wall))
        object.__setattr__(self, "lines", tuple(self.lines))


@dataclass(frozen=True, slots=True)
class Position:
    """A whole table: everything public, what is hidden if `luck` is given, and the rules played by.

    Making one checks it: what cannot lie on a table is refused. Tiles of a display, the center and a pattern line
    are sorted by color. Fewer tiles than the box holds are allowed, so that a lesson needs no full bag.

    Examples
    --------
    >>> position = Position(boards=(Board(), Board(score=3)), displays=("BBYR", "", "W", "", ""), center="KK")
    >>> str(position).split()[:6]
    ['1', '0', '0', '-', 'BBYR,-,W,-,-', 'KK']
    >>> Position.from_text(str(position)) == position
    True

    Raises
    ------
    NotationError
        For a table that cannot be, with the place in words and as `path`.
    """

    boards: tuple[Board, ...]
    """In seat order."""
    displays: tuple[str, ...]
    """The tiles on each display; as many as the rules have at this number of players."""
    center: str = ""
    """The tiles in the center; the marker lies there too while `holder` is None."""
    bag: Supply = _NOTHING
    lid: Supply = _NOTHING
    round: int = 1
    seat: int | None = 0
    """The seat that decides next; None when the game is over."""
    row: int | None = None
    """In wall-tiling: the complete pattern line of `seat` whose tile has to be placed (6.2); None in the offer."""
    starter: int = 0
    """The seat that started this round."""
    holder: int | None = None
    """The seat that took the marker in this round (also if no space of its floor line was free); None while it lies
    in the center. After the end: the seat that took it last."""
    termination: Termination = Termination.NONE
    """How the game ended; NONE as long as `seat` has to decide."""
    luck: Luck | None = None
    rules: Rules = _PRINTED

    def __post_init__(self) -> None:
        for path, problem in _find_flaws(self):
            raise NotationError(f"{describe_path(path)}: {problem}", path=path)
        put = object.__setattr__
        put(self, "boards", tuple(_sort_lines(board) for board in self.boards))
        put(self, "displays", tuple(sort_tiles(tiles) for tiles in self.displays))
        put(self, "center", sort_tiles(self.center))

    @classmethod
    def from_text(cls, text: str) -> Position:
        """Read a position from its line of text, as `parse_position`."""
        from azulsim.notation.line import parse_position

        return parse_position(text)

    def __str__(self) -> str:
        from azulsim.notation.line import format_position

        return format_position(self)

    def __repr__(self) -> str:
        return f"Position.from_text({str(self)!r})"

    def _repr_svg_(self) -> str:
        from azulsim.notation.svg import draw_svg

        return draw_svg(self)

    @property
    def players(self) -> int:
        """Number of players, 2 to 4."""
        return len(self.boards)

    @property
    def is_over(self) -> bool:
        """True when the game has ended and the bonuses are counted."""
        return self.termination != Termination.NONE


def _sort_lines(board: Board) -> Board:
    return Board(board.score, board.wall, tuple(sort_tiles(tiles) for tiles in board.lines), board.floor)


def describe_path(path: Path) -> str:
    """Say in words where in a position something is.

    >>> describe_path(("boards", 0, "wall", 2, 4))
    'board of seat 0, wall row 3, space 5'
    """
    match path:
        case ("boards", int(seat), "wall", int(row)):
            return f"board of seat {seat}, wall row {row + 1}"
        case ("boards", int(seat), "wall", int(row), int(column)):
            return f"board of seat {seat}, wall row {row + 1}, space {column + 1}"
        case ("boards", int(seat), "lines", int(line), *_):
            return f"board of seat {seat}, pattern line {line + 1}"
        case ("boards", int(seat), "floor", *_):
            return f"board of seat {seat}, floor line"
        case ("boards", int(seat), str(name), *_):
            return f"board of seat {seat}, {name}"
        case ("displays", int(display), *_):
            return f"display {display + 1}"
        case (str(name), *_):
            return name
        case _:
            return "position"


# ---- what cannot be: each finder yields (path, problem); the first one is reported

Flaws = Iterator[tuple[Path, str]]


def _find_flaws(position: Position) -> Flaws:
    yield from _find_table_flaws(position)
    for seat, board in enumerate(position.boards):
        for path, problem in _find_board_flaws(position, board, seat):
            yield ("boards", seat, *path), problem
    yield from _find_counting_flaws(position)
    yield from _find_turn_flaws(position)


def _find_table_flaws(position: Position) -> Flaws:
    rules, players = position.rules, position.players
    if not MIN_PLAYERS <= players <= MAX_PLAYERS:
        yield ("boards",), f"there are {players}; Azul is played by {MIN_PLAYERS} to {MAX_PLAYERS}"
    if not 1 <= position.round <= rules.max_rounds:
        yield ("round",), f"{position.round} must be from 1 to {rules.max_rounds}"
    for name, seat in (("seat", position.seat), ("starter", position.starter), ("holder", position.holder)):
        if seat is not None and not 0 <= seat < players:
            yield (name,), f"{seat} must be from 0 to {players - 1}, since there are {players} boards"
    expected = rules.n_displays(players)
    if len(position.displays) != expected:
        yield (
            ("displays",),
            f"there are {len(position.displays)}; the rules have {expected} at {players} players",
        )
    for display, tiles in enumerate(position.displays):
        yield from _find_letter_flaws(tiles, rules, ("displays", display))
        if len(tiles) > rules.tiles_per_display:
            yield (
                ("displays", display, rules.tiles_per_display),
                f"{len(tiles)} tiles lie there; a display holds {rules.tiles_per_display}",
            )
    yield from _find_letter_flaws(position.center, rules, ("center",))
    if position.luck is not None:
        for name, value, end in zip(Luck._fields, position.luck, (MAX_SEED, MAX_DEAL, MAX_DEAL), strict=True):
            if not 0 <= value < end:
                yield ("luck",), f"{name} {value} must be from 0 to {end - 1}"


def _find_letter_flaws(tiles: str, rules: Rules, path: Path, also: str = "") -> Flaws:
    """Find letters that are no tile under these rules; `also` names letters that may lie there as well."""
    known = (TILES if rules.joker_tiles else COLORS) + also
    for at, letter in enumerate(tiles):
        if letter not in known:
            reason = "no joker is in play" if letter == JOKER else f"{letter!a} is no tile; write the letters {known}"
            yield (*path, at), reason


def _find_board_flaws(position: Position, board: Board, seat: int) -> Flaws:
    rules = position.rules
    if abs(board.score) > MAX_POINTS:
        yield ("score",), f"{board.score} must be from -{MAX_POINTS} to {MAX_POINTS}"
    if board.score < 0 and rules.score_clamp and not position.is_over:
        yield ("score",), f"{board.score} cannot be: a score never falls below 0 by these rules"
    yield from _find_wall_flaws(board.wall, rules)
    if len(board.lines) != 5:
        yield ("lines",), f"there are {len(board.lines)}; a board has five"
    for line in range(5):
        yield from _find_line_flaws(board.lines[line], board.wall[line], line, rules)
    yield from _find_floor_flaws(position, board.floor, seat)


def _find_wall_flaws(wall: tuple[str, ...], rules: Rules) -> Flaws:
    if len(wall) != 5:
        yield ("wall",), f"there are {len(wall)} rows; a wall has five"
    for row in range(5):
        if len(wall[row]) != 5:
            yield ("wall", row), f"{quote(wall[row])} has {len(wall[row])} letters; write five, . for an empty space"
        yield from _find_letter_flaws(wall[row], rules, ("wall", row), also=".")
        for column, tile in enumerate(wall[row]):
            if tile not in (".", JOKER):
                for problem in _find_tile_flaws(wall, row, column, rules.layout):
                    yield ("wall", row, column), problem


def _find_tile_flaws(wall: tuple[str, ...], row: int, column: int, layout: tuple[str, ...]) -> Iterator[str]:
    """Find what speaks against the color on one space, looking back at the spaces to the left and above."""
    tile, printed = wall[row][column], layout[row][column]
    if printed not in (".", tile):
        yield f"the space is for {printed}, not for {tile}"
    if tile in wall[row][:column]:
        yield f"{tile} already lies in this row, in column {wall[row].index(tile) + 1}"
    for above in range(row):
        both_printed = printed == layout[above][column] == tile
        if wall[above][column] == tile and not both_printed:
            yield f"{tile} already lies in this column, in row {above + 1}"


def _find_line_flaws(tiles: str, wall: str, line: int, rules: Rules) -> Flaws:
    path: Path = ("lines", line)
    yield from _find_letter_flaws(tiles, rules, path)
    if len(tiles) > line + 1:
        yield (*path, line + 1), f"{quote(tiles)} is longer than the line, which holds {line + 1}"
    colors = tiles.replace(JOKER, "")
    for at, tile in enumerate(tiles):
        if tile not in (colors[:1], JOKER):
            yield (*path, at), f"{tile} cannot lie with {colors[0]}: a line holds one color"
    if tiles and (reason := find_closed_reason(colors[:1] or JOKER, wall, rules.layout[line])):
        yield (*path, 0), f"{colors[:1] or JOKER} cannot lie here: {reason}"


def find_closed_reason(tile: str, wall: str, printed: str) -> str:
    """Say why a row of the wall closes its pattern line to a tile (2.8, 6.5, 12); empty if it is open."""
    if "." not in wall:
        return "its row of the wall is full"
    if tile == JOKER:
        return ""
    if tile in wall:
        return f"{tile} already lies in its row of the wall"
    if "." not in printed and wall[printed.index(tile)] != ".":
        return f"the space of {tile} in its row of the wall is taken"
    return ""


def _find_floor_flaws(position: Position, floor: str, seat: int) -> Flaws:
    rules, path = position.rules, ("floor",)
    yield from _find_letter_flaws(floor, rules, path, also=MARKER)
    if len(floor) > len(rules.floor_penalties):
        spaces = len(rules.floor_penalties)
        yield (*path, spaces), f"{len(floor)} pieces lie there; the floor line has {spaces} spaces"
    for at, piece in enumerate(floor):
        if piece != MARKER:
            continue
        if rules.marker_cost != "floor":
            yield (*path, at), "the marker takes no floor space by these rules"
        if position.holder != seat:
            holder = "nobody" if position.holder is None else f"seat {position.holder}"
            yield (*path, at), f"the marker cannot lie here, since its holder is {holder}"
        if MARKER in floor[:at]:
            yield (*path, at), "there is one marker only"


def _find_counting_flaws(position: Position) -> Flaws:
    """Find a kind of which more tiles lie about than the box holds."""
    rules, players = position.rules, position.players
    for name, supply in (("bag", position.bag), ("lid", position.lid)):
        for tile, number in zip(TILES, supply, strict=True):
            if number < 0:
                yield (name,), f"{number} tiles of {tile} cannot be"
    shown = Counter("".join([*position.displays, position.center]))
    for board in position.boards:
        shown.update("".join([*board.wall, *board.lines, board.floor]))
    limits = {color: rules.n_tiles_of_color(players) for color in COLORS} | {JOKER: rules.n_jokers(players)}
    for tile, in_bag, in_lid in zip(TILES, position.bag, position.lid, strict=True):
        total = shown[tile] + in_bag + in_lid
        if total > limits[tile]:
            name = "bag" if in_bag else "lid" if in_lid else "displays"
            yield (name,), f"{total} tiles of {tile} are on the table, in bag and lid; there are {limits[tile]}"


def _find_turn_flaws(position: Position) -> Flaws:
    n_out = len("".join([*position.displays, position.center]))
    if position.is_over != (position.seat is None):
        yield ("seat",), "either a seat decides next, or the game is over and its termination is known"
    if position.seat is None:
        if position.row is not None:
            yield ("seat",), "no tile is left to place when the game is over"
        return
    if position.row is None:
        if not n_out:
            yield ("seat",), "no tile lies on the displays or in the center, so that there is no move"
        return
    if not 1 <= position.row <= 5:
        yield ("seat",), f"row {position.row} must be from 1 to 5"
    if n_out:
        yield ("seat",), "tiles are placed when none is left on the displays and in the center"
    lines = position.boards[position.seat].lines
    complete = [line for line in range(1, 6) if len(lines[line - 1]) == line]
    if complete[:1] != [position.row]:
        first = f"is {complete[0]}" if complete else "does not exist"
        yield ("seat",), f"row {position.row} cannot be the next to place: the topmost complete line {first}"
