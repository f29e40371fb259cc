"""The error of this room, which points at the spot, and small helpers for reading and quoting text."""

from __future__ import annotations

from azulsim.errors import InputError
from azulsim.rules import COLORS

JOKER = "J"
TILES = COLORS + JOKER
"""All kinds of tiles, in the order in which they are sorted: the five colors, then the joker."""
MARKER = "M"
"""The starting player marker on a floor line; it is no tile."""

Path = tuple[str | int, ...]
"""Where in a value something is wrong, such as `("boards", 0, "wall", 2, 4)`."""


class NotationError(InputError):
    """A text (or a value made by hand) is no move, position or game; the sentence says where.

    Parameters
    ----------
    message : str
        The sentence.
    text : str
        The text that was read; empty if a value was made without one.
    at : int
        The character at which it went wrong, counted from 0.
    path : tuple
        Where in a value made by hand something is wrong.
    """

    def __init__(self, message: str, *, text: str = "", at: int = 0, path: Path = ()) -> None:
        super().__init__(message)
        self.text = text
        self.at = at
        self.path = path

    def point(self) -> str:
        """Return the line of text that is wrong and, below it, a caret under the spot; empty without a text."""
        if not self.text:
            return ""
        start = self.text.rfind("\n", 0, self.at) + 1
        line = self.text[start:].split("\n", 1)[0]
        column = self.at - start
        first = max(0, column - 40)
        shown = "".join(letter if letter.isprintable() else "?" for letter in line[first : column + 40])
        return f"{shown}\n{' ' * (column - first)}^"


def quote(text: str, limit: int = 24) -> str:
    """Return text in quotes for a message, cut when it is long."""
    return repr(text if len(text) <= limit else f"{text[:limit]}...")


def sort_tiles(tiles: str) -> str:
    """Return tiles in the order of `TILES`; what is no tile comes first."""
    return "".join(sorted(tiles, key=TILES.find))


def is_plain(letter: str) -> bool:
    """True for the letters that all notation is made of: printable ASCII."""
    return " " <= letter <= "~"


def refuse_strange_letters(text: str, what: str) -> None:
    """Raise `NotationError` at the first letter of a one-line text that is not printable ASCII."""
    for at, letter in enumerate(text):
        if not is_plain(letter):
            raise NotationError(
                f"{what}, character {at + 1}: {letter!a} is not allowed; it is one line of plain ASCII",
                text=text,
                at=at,
            )
