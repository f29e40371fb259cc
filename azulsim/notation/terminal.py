"""A position drawn in letters for the terminal: plain ASCII, with colors on request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from azulsim.notation.position import Board, Position, Supply
from azulsim.notation.text import MARKER, TILES
from azulsim.notation.words import describe_holder, describe_turn, name_seats

_RESET = "\x1b[0m"
_TILE_STYLES = {
    "B": "\x1b[1;97;48;5;25m",
    "Y": "\x1b[1;30;48;5;220m",
    "R": "\x1b[1;97;48;5;160m",
    "K": "\x1b[1;97;48;5;236m",
    "W": "\x1b[1;30;48;5;255m",
    "J": "\x1b[1;97;48;5;91m",
    MARKER: "\x1b[1;30;48;5;252m",
}
"""White or black letters on 256 colors: bright enough on a dark and on a light screen."""
_SPACE_STYLES = {
    "B": "\x1b[38;5;33m",
    "Y": "\x1b[38;5;178m",
    "R": "\x1b[38;5;167m",
    "K": "\x1b[38;5;244m",
    "W": "\x1b[38;5;248m",
}
_DIM, _BOLD = "\x1b[2m", "\x1b[1m"
_SCORE_WIDTH = len("12345 points")
_GAP = "    "


def draw_text(position: Position, *, color: bool = False, width: int = 80, names: Sequence[str] = ()) -> str:
    """Draw a position in letters, boards side by side as far as `width` columns allow.

    A tile is `[B]`, an empty space of the wall the small letter of its color, a free space a dot; `x2` behind a space
    says that its points are doubled.

    Parameters
    ----------
    color : bool
        Add ANSI colors; the letters stay, so that colors are never needed.
    width : int
        Columns of the terminal.
    names : sequence of str
        Who sits where, in seat order; letters that are not printable are replaced.
    """
    pen = _Pen(position, color, names)
    boards = [list(pen.draw_board(seat)) for seat in range(position.players)]
    per_row = max(1, (width + len(_GAP)) // (pen.board_width + len(_GAP)))
    parts = [list(pen.draw_table(width))]
    for first in range(0, len(boards), per_row):
        parts.append([pen.join(row) for row in zip_longest(*boards[first : first + per_row], fillvalue="")])
    return "\n\n".join("\n".join(line.rstrip() for line in part) for part in parts) + "\n"


class _Pen:
    """Draws the parts of one position; every line comes back as text whose visible width is known."""

    def __init__(self, position: Position, color: bool, names: Sequence[str]) -> None:
        self.position = position
        self.color = color
        self.names = name_seats(position, names)
        self.has_multipliers = any(digit != "1" for row in position.rules.multipliers for digit in row)
        self.cell = 5 if self.has_multipliers else 3
        n_floor = len(position.rules.floor_penalties)
        self.board_width = max(15 + 4 + 5 * self.cell, 6 + 4 * n_floor)
        self.titles = name_seats(position, names, self.board_width - 2 - _SCORE_WIDTH - 1)

    def style(self, text: str, style: str) -> str:
        return f"{style}{text}{_RESET}" if self.color and text else text

    def draw_tile(self, tile: str) -> str:
        return self.style(f"[{tile}]", _TILE_STYLES[tile])

    def draw_tiles(self, tiles: str) -> str:
        return "".join(self.draw_tile(tile) for tile in tiles)

    def join(self, lines: Sequence[str]) -> str:
        """Put lines of boards side by side."""
        padded = [line + " " * (self.board_width - _visible_length(line)) for line in lines]
        return _GAP.join(padded)

    # ---- the table

    def draw_table(self, width: int) -> Iterator[str]:
        position = self.position
        yield self.style(describe_turn(position, self.names), _BOLD)
        yield from self._wrap(
            [f"{number:2} {self.draw_tiles(tiles) or '-'}" for number, tiles in enumerate(position.displays, 1)], width
        )
        marker = self.draw_tile(MARKER) if position.holder is None else ""
        center = [*([marker] if marker else []), *(self.draw_tile(tile) for tile in position.center)]
        yield from self._wrap(center or ["-"], width, first=" C ", separator="")
        for name, supply in (("bag", position.bag), ("lid", position.lid)):
            yield f"{name} {supply.total:3}{_list_counts(supply)}"

    def _wrap(self, items: list[str], width: int, first: str = "", separator: str = "   ") -> Iterator[str]:
        """Fill lines with items, each line opening with as many spaces as `first` takes."""
        line = first
        for index, item in enumerate(items):
            longer = line + (separator if index and line.strip() else "") + item
            if index and _visible_length(longer) > width:
                yield line
                longer = " " * len(first) + item
            line = longer
        yield line

    # ---- a board

    def draw_board(self, seat: int) -> Iterator[str]:
        board = self.position.boards[seat]
        mark = "> " if seat == self.position.seat else "  "
        title = f"{mark}{self.titles[seat]}".ljust(self.board_width - _SCORE_WIDTH) + f"{board.score:5} points"
        yield self.style(title, _BOLD)
        yield self.style(("  " + describe_holder(self.position, seat)).rstrip(), _DIM)
        for row in range(5):
            yield self._draw_line(board, row) + self._draw_arrow(seat, row) + self._draw_wall_row(board, row)
        yield from self._draw_floor(board)

    def _draw_line(self, board: Board, row: int) -> str:
        """Draw a pattern line, right-aligned, tiles at its right end."""
        tiles, free = board.lines[row], row + 1 - len(board.lines[row])
        return " " * (3 * (4 - row)) + self.style(" . ", _DIM) * free + self.draw_tiles(tiles[::-1])

    def _draw_arrow(self, seat: int, row: int) -> str:
        is_next = seat == self.position.seat and row + 1 == self.position.row
        return " >> " if is_next else "    "

    def _draw_wall_row(self, board: Board, row: int) -> str:
        rules = self.position.rules
        return "".join(
            self._draw_space(tile, printed, digit)
            for tile, printed, digit in zip(board.wall[row], rules.layout[row], rules.multipliers[row], strict=True)
        )

    def _draw_space(self, tile: str, printed: str, digit: str) -> str:
        if tile == ".":
            shown = self.style(f" {printed.lower()} ", _SPACE_STYLES.get(printed, _DIM))
        else:
            shown = self.draw_tile(tile)
        if not self.has_multipliers:
            return shown
        return shown + ("  " if digit == "1" else f"x{digit}")

    def _draw_floor(self, board: Board) -> Iterator[str]:
        penalties = self.position.rules.floor_penalties
        if not penalties:
            yield "floor -"
            return
        spaces = board.floor.ljust(len(penalties), ".")
        cells = [self.style("  . ", _DIM) if piece == "." else " " + self.draw_tile(piece) for piece in spaces]
        yield "floor " + "".join(cells)
        yield self.style("      " + "".join(f"{points:3} " for points in penalties), _DIM)


def _list_counts(supply: Supply) -> str:
    counts = [f"{tile} {number}" for tile, number in zip(TILES, supply, strict=True) if number]
    return ":  " + "  ".join(counts) if counts else ""


def _visible_length(text: str) -> int:
    """Count the letters that a terminal shows: escape sequences take no room."""
    length, is_escape = 0, False
    for letter in text:
        if letter == "\x1b":
            is_escape = True
        elif is_escape:
            is_escape = letter != "m"
        else:
            length += 1
    return length
