"""A legal move as strategies see it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from azulsim.engine.record import JOKER, KEEP_SHIFT, WITH_JOKERS
from azulsim.schema import COLOR_NAMES


class Move(NamedTuple):
    """One legal move, as a strategy sees it: every field is a number.

    "Now on the wall" counts the tiles of complete pattern lines as if they were tiled already. On a wall that leaves a
    choice of column, points, column and runs are those of the space that scores most at once (leftmost among equals).
    """

    source: float
    """0 = center, 1.. = display."""
    color: float
    """0 B blue, 1 Y yellow, 2 R red, 3 K black, 4 W white; 5 for jokers taken alone."""
    line: float
    """Pattern line 1 to 5, or 0 for the floor line."""
    tiles: float
    """Tiles taken, jokers included."""
    placed: float
    """Tiles that go to the pattern line."""
    overflow: float
    """Tiles that fall to the floor line; the marker is not counted."""
    marker: float
    """1 if the move takes the starting player marker, else 0."""
    completes: float
    """1 if the move completes its pattern line, else 0."""
    gain: float
    """Exact change of the player's own round-end score, points, before the clamp at 0: `points - penalty`."""
    points: float
    """Points that completing the line adds to the coming wall-tiling (0 if the move does not complete it)."""
    penalty: float
    """Points that the move adds to what the floor line and the marker will cost (below 0 only if rules pay for it)."""
    before: float
    """Tiles in the pattern line before the move (0 for the floor)."""
    missing: float
    """Spaces of the pattern line still empty after the move (0 for the floor)."""
    column: float
    """Column 1 to 5 of the wall to which the line's tile will go; 0 for the floor, or if there is no space for it."""
    row_tiles: float
    """Tiles on the wall in the line's row, those of complete lines counted (0 for the floor)."""
    column_tiles: float
    """Tiles on the wall in that column, those of complete lines counted (0 for the floor)."""
    color_tiles: float
    """Tiles of the move's color on the wall, those of complete lines counted."""
    across: float
    """Length of the horizontal run the line's tile would make, complete lines tiled first (0 for the floor)."""
    down: float
    """Length of the vertical run it would make, likewise (0 for the floor)."""
    to_center: float
    """Tiles of other colors that the move pushes to the center."""
    left: float
    """Tiles left on the table after the move, all displays and the center."""
    largest_left: float
    """The most tiles of one color, jokers aside, that lie in one place after the move for the next player to take."""
    floor: float
    """Floor spaces occupied before the move."""
    rival_row: float
    """The most tiles now in one row of another player's wall: 4 or more threaten to end the game, 5 will."""
    round: float
    """Round, counted from 1."""
    players: float
    """Number of players at the table."""
    jokers: float
    """Joker tiles among those taken."""
    denial: float
    """What the move takes from the next player, points: its best exact gain if it moved now, minus its best after the
    move (0 if no tile is left). The dearest field to look at."""


class Spot(NamedTuple):
    """A space where the tile of a complete line may go, as `place` sees it: every field is a number.

    Earlier lines of the same wall-tiling lie on the wall already.
    """

    row: float
    """Row of the wall, 1 to 5, which is the pattern line."""
    column: float
    """Column 1 to 5; 0 stands for declining, which lets the whole line fall."""
    color: float
    """0 B, 1 Y, 2 R, 3 K, 4 W; 5 for a joker."""
    points: float
    """Points that the tile scores here (0 for declining)."""
    across: float
    """Length of the horizontal run it makes."""
    down: float
    """Length of the vertical run it makes."""
    row_tiles: float
    """Tiles on the wall in the row, before the tile."""
    column_tiles: float
    """Tiles on the wall in the column, before the tile."""
    color_tiles: float
    """Tiles of the color (or jokers) on the wall, before the tile."""
    possible: float
    """Pairs of a row and a color that can still be filled afterwards, each looked at alone; 25 at most."""


MOVE = np.dtype([("code", "i2"), *((name, "i2") for name in Move._fields)])
"""A legal move as a record: its code and the fields of `Move`, for strategies that are not compiled."""


def format_code(code: int) -> str:
    """Return a move's text: source, color, line, with `C` for the center and `-` for the floor line.

    A color taken with jokers is written `BJ`; the number of jokers that stay on the line, where that is a choice,
    follows a slash.

    >>> format_code(2 << 6 | 0 << 3 | 3), format_code(0 << 6 | 2 << 3 | 0), format_code(1 << 6 | 5 << 3 | 2)
    ('2B3', 'CR-', '1J2')
    >>> format_code(2 << 6 | 0 << 3 | 3 | WITH_JOKERS | 2 << KEEP_SHIFT)
    '2BJ3/1'
    """
    source, color, line, keep = code >> 6 & 15, code >> 3 & 7, code & 7, code >> KEEP_SHIFT
    jokers = COLOR_NAMES[JOKER] if code & WITH_JOKERS else ""
    return f"{source or 'C'}{COLOR_NAMES[color]}{jokers}{line or '-'}{f'/{keep - 1}' if keep else ''}"
