"""Moves and placing decisions as short text: `2B3`, `CR-`, `2BJ3/1`, `@3=5`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from azulsim.notation.text import JOKER, TILES, NotationError, quote
from azulsim.rules import MAX_DISPLAYS

_MOVE_PARTS = (
    ("source", re.compile(r"[Cc]|[1-9][0-9]*"), "the number of a display, or C for the center"),
    ("color", re.compile(f"[{TILES}{TILES.lower()}]"), f"one of {TILES}"),
    ("jokers", re.compile(r"[Jj]?"), ""),
    ("line", re.compile(r"[-1-5]"), "a line from 1 to 5, or - for the floor line"),
    ("keep", re.compile(r"(?:/[0-5])?"), ""),
    ("end", re.compile(r"\Z"), "the end of the move"),
)
_MOVE_HELP = "write source, color and line, such as 2B3 (display 2, blue, line 3) or CR-"
_PLACING = re.compile(r"@([1-5])=([0-5])", re.ASCII)


@dataclass(frozen=True, slots=True)
class Move:
    """Take all tiles of a color from a source to a line.

    Examples
    --------
    >>> move = parse_move("2BJ3")
    >>> move.source, move.color, move.line, move.jokers
    (2, 'B', 3, True)
    >>> str(Move(0, "R", 0))
    'CR-'
    """

    source: int
    """0 = center, 1.. = display."""
    color: str
    """One of B Y R K W, or J: the jokers alone."""
    line: int
    """Pattern line 1 to 5; 0 = the floor line."""
    jokers: bool = False
    """True if all jokers of the source are taken together with the color (7.2)."""
    keep: int | None = None
    """How many of those jokers stay on the line, where that is a choice (7.6); else None."""

    def __post_init__(self) -> None:
        if not 0 <= self.source <= MAX_DISPLAYS:
            raise NotationError(f"move: source = {self.source}: must be from 0 (center) to {MAX_DISPLAYS}")
        if len(self.color) != 1 or self.color not in TILES:
            raise NotationError(f"move: color = {quote(self.color)}: must be one of {TILES}")
        if not 0 <= self.line <= 5:
            raise NotationError(f"move: line = {self.line}: must be from 0 (floor line) to 5")
        if self.jokers and self.color == JOKER:
            raise NotationError("move: jokers = True with color = 'J': jokers alone are written with one J")
        if self.keep is not None and not (self.jokers and 0 <= self.keep <= self.line and self.line):
            raise NotationError(
                f"move: keep = {self.keep}: jokers stay only on a pattern line, with a color, and no more than fit"
            )

    def __str__(self) -> str:
        return format_move(self)

    def __repr__(self) -> str:
        return f"parse_move({format_move(self)!r})"


@dataclass(frozen=True, slots=True)
class Placing:
    """Where the tile of a complete pattern line goes on a wall with free spaces (6.2).

    Examples
    --------
    >>> str(Placing(3, 5))
    '@3=5'
    """

    row: int
    """Row of the wall, 1 to 5, which is the pattern line that is complete."""
    column: int
    """Column of the wall, 1 to 5; 0 = decline, the whole line falls to the floor line (6.3)."""

    def __post_init__(self) -> None:
        if not 1 <= self.row <= 5:
            raise NotationError(f"placing: row = {self.row}: must be from 1 to 5")
        if not 0 <= self.column <= 5:
            raise NotationError(f"placing: column = {self.column}: must be from 1 to 5, or 0 to decline")

    def __str__(self) -> str:
        return format_placing(self)

    def __repr__(self) -> str:
        return f"parse_placing({format_placing(self)!r})"


def format_move(move: Move) -> str:
    """Return a move as text: source, color, `J` if jokers come along, line, and `/n` for the jokers that stay."""
    keep = "" if move.keep is None else f"/{move.keep}"
    return f"{move.source or 'C'}{move.color}{JOKER if move.jokers else ''}{move.line or '-'}{keep}"


def parse_move(text: str) -> Move:
    """Read a move; small letters are taken as capitals.

    Raises
    ------
    NotationError
        If the text is no move. Whether a move is legal in a position, only a game can tell.
    """
    parts: dict[str, str] = {}
    at = 0
    for name, pattern, right in _MOVE_PARTS:
        match = pattern.match(text, at)
        if match is None:
            found = quote(text[at]) if at < len(text) else "the end"
            raise _move_error(text, at, f"{found} where {right} was expected; {_MOVE_HELP}")
        if name == "source" and match[0] not in "Cc" and (len(match[0]) > 2 or int(match[0]) > MAX_DISPLAYS):
            raise _move_error(text, at, f"there are at most {MAX_DISPLAYS} displays; {_MOVE_HELP}")
        parts[name] = match[0].upper()
        at = match.end()
    try:
        return Move(
            source=0 if parts["source"] == "C" else int(parts["source"]),
            color=parts["color"],
            line=0 if parts["line"] == "-" else int(parts["line"]),
            jokers=bool(parts["jokers"]),
            keep=int(parts["keep"][1:]) if parts["keep"] else None,
        )
    except NotationError as error:
        spot = text.find("/") if parts["keep"] else len(parts["source"]) + 1
        raise _move_error(text, spot, str(error).removeprefix("move: ")) from None


def _move_error(text: str, at: int, problem: str) -> NotationError:
    return NotationError(f"move {quote(text)}, character {at + 1}: {problem}", text=text, at=at)


def format_placing(placing: Placing) -> str:
    """Return a placing decision as text: `@row=column`, column 0 to decline."""
    return f"@{placing.row}={placing.column}"


def parse_placing(text: str) -> Placing:
    """Read a placing decision such as `@3=5`.

    Raises
    ------
    NotationError
        If the text is no placing decision.
    """
    match = _PLACING.fullmatch(text)
    if match is None:
        right = ("@", "12345", "=", "012345")
        wrong = (at for at, letters in enumerate(right) if text[at : at + 1] not in tuple(letters))
        at = next(wrong, len(right))
        raise NotationError(
            f"placing {quote(text)}, character {at + 1}: write @row=column, such as @3=5 (row 3, column 5), or @3=0 to "
            "decline",
            text=text,
            at=at,
        )
    return Placing(int(match[1]), int(match[2]))


def parse_decision(text: str) -> Move | Placing:
    """Read what a player may decide: a placing decision if it opens with `@`, else a move."""
    return parse_placing(text) if text.startswith("@") else parse_move(text)
