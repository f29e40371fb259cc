"""From what a person types to a legal decision: the notation, or words such as `2 blue 3` and `red to the floor`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from azulsim.errors import InputError
from azulsim.game import Game
from azulsim.interactive.words import COLOR_WORDS, count_tiles, name_line, name_source
from azulsim.notation import TILES
from azulsim.notation.position import find_closed_reason
from azulsim.notation.text import quote

HOW = "write display, color and line, such as 2B3 or 2 blue 3, or CR- for center, red, floor"

_WORDS = re.compile(r"[^\W\d_]+|[0-9]+|\S")
_SAID: dict[str, str] = {
    **{word: letter for letter, word in COLOR_WORDS.items()},
    **{letter.lower(): letter for letter in COLOR_WORDS},
    "jokers": "J",
    **dict.fromkeys(("c", "center", "centre", "middle"), "center"),
    **dict.fromkeys(("display", "displays", "disc", "factory", "d"), "display"),
    **dict.fromkeys(("line", "row", "l"), "line"),
    **dict.fromkeys(("floor", "f", "-"), "floor"),
    **dict.fromkeys(("keep", "keeping", "/"), "keep"),
    **dict.fromkeys(
        ("take", "all", "the", "of", "a", "from", "on", "in", "to", "into", "onto", "put", "and", "with", "tile"), ""
    ),
    **dict.fromkeys(("tiles", "my", "pattern", "it", "them", "goes", "go", "+", "&", ",", ".", ":", ">"), ""),
}
"""What a word means: a kind of tile, a part of a move, or nothing."""
_COLUMN_FILLERS = frozenset(("column", "col", "place", "tile", "put", "in", "into", "to", "the", "at", "it", "c"))
_DECLINING = frozenset(("floor", "decline", "none", "f", "-"))


@dataclass
class _Said:
    """The parts of a move that were found in the text."""

    source: int | None = None
    color: str = ""
    jokers: bool = False
    line: int | None = None
    keep: int | None = None


def read_decision(text: str, game: Game, suggested: int | None = None) -> str:
    """Return the legal decision that a text means, in notation.

    Parameters
    ----------
    suggested : int, optional
        The column that is meant by an empty text, while tiles are placed.

    Raises
    ------
    InputError
        One sentence that says what is wrong: no such display, a color that is not there, a line that is closed.
    """
    return _read_column(text, game, suggested) if game.placing else _read_move(text, game)


# Moves


def _read_move(text: str, game: Game) -> str:
    said = _understand(text)
    if said.source is None or not said.color or said.line is None:
        if said == _Said():
            raise InputError(f"{quote(text)} is no move; {HOW}")
        missing = [
            what
            for what, is_there in (
                ("from which display (or the center)", said.source is not None),
                ("which color", bool(said.color)),
                ("to which line (or the floor)", said.line is not None),
            )
            if not is_there
        ]
        raise InputError(f"say also {' and '.join(missing)}; {HOW}")
    _check_tiles(said, game)
    if said.line:
        _check_line(said.line, said.color, game)
    move = f"{said.source or 'C'}{said.color}{'J' if said.jokers else ''}{said.line or '-'}"
    wanted = move if said.keep is None else f"{move}/{said.keep}"
    legal = game.legal_moves()
    if wanted in legal:
        return wanted
    choices = [other for other in legal if other.startswith(f"{move}/")]
    if choices:
        raise InputError(f"say also how many jokers stay on the line: {' or '.join(choices)}")
    if move in legal:
        raise InputError(f"how many jokers stay on the line is not yours to choose here; write {move}")
    raise InputError(f"{wanted} is not legal here; moves lists what is")


def _understand(text: str) -> _Said:
    said, label = _Said(), ""
    for word in _split(text):
        meaning = _SAID[word] if word in _SAID else _find_color(word)
        if word.isascii() and word.isdecimal():
            _take_number(said, int(word[:6]), label, text)
            label = ""
        elif meaning in ("display", "line", "keep"):
            label = meaning
        elif meaning == "center":
            _take_source(said, 0)
        elif meaning == "floor":
            _take_line(said, 0)
        elif meaning and meaning in TILES:
            _take_color(said, meaning)
        elif meaning:
            raise InputError(f"{quote(text)} is no move: {quote(word)} is not understood; {HOW}")
    return said


def _find_color(word: str) -> str:
    """Return the color that a shortened word such as `blu` means; the word itself if none."""
    found = (letter for letter, color in COLOR_WORDS.items() if len(word) >= 3 and color.startswith(word))
    return next(found, word)


def _split(text: str) -> list[str]:
    """Return the words of a text; letters written together, such as `cr`, are taken one by one."""
    words: list[str] = []
    for word in _WORDS.findall(text.lower()):
        words += list(word) if word not in _SAID and len(word) <= 3 and set(word) <= set("cbyrkwj") else [word]
    return words


def _take_number(said: _Said, number: int, label: str, text: str) -> None:
    if label == "keep":
        said.keep = number
    elif label == "display" or (not label and said.source is None):
        if number == 0:
            raise InputError(f"displays count from 1, and C is the center; {HOW}")
        _take_source(said, number)
    elif said.line is None or label == "line":
        _take_line(said, number)
    else:
        raise InputError(f"{quote(text)} has a number too many; {HOW}")


def _take_source(said: _Said, source: int) -> None:
    if said.source is not None:
        raise InputError("tiles are taken from one place only: a display, or the center")
    said.source = source


def _take_line(said: _Said, line: int) -> None:
    if said.line is not None:
        raise InputError("all tiles taken go to one line, or all to the floor line")
    if line > 5:
        raise InputError(f"there is no line {line}; the pattern lines are 1 to 5, and - is the floor line")
    said.line = line


def _take_color(said: _Said, color: str) -> None:
    if said.color == color:
        return
    if said.color and "J" not in (said.color, color):
        raise InputError("only one color is taken in a move")
    said.jokers = bool(said.color)
    said.color = color if said.color in ("", "J") else said.color


def _check_tiles(said: _Said, game: Game) -> None:
    assert said.source is not None
    n_displays = len(game.displays)
    if said.source > n_displays:
        raise InputError(f"there is no display {said.source}; they are 1 to {n_displays}, and C is the center")
    tiles = game.displays[said.source - 1] if said.source else game.center
    where = name_source(said.source)
    if not tiles:
        raise InputError(f"{where} is empty")
    for color in [said.color, *(["J"] if said.jokers else [])]:
        if color not in tiles:
            held = " and ".join(count_tiles(kind, tiles.count(kind)) for kind in TILES if kind in tiles)
            raise InputError(f"{where} holds no {COLOR_WORDS[color]}, but {held}")


def _check_line(line: int, color: str, game: Game) -> None:
    tiles, wall = game.lines[game.seat][line - 1], game.walls[game.seat][line - 1]
    colors = tiles.replace("J", "")
    if len(tiles) == line:
        raise InputError(f"line {line} is full")
    if color != "J" and colors and colors[0] != color:
        raise InputError(f"line {line} holds {COLOR_WORDS[colors[0]]} already, so that no {COLOR_WORDS[color]} fits")
    if "." not in wall:
        raise InputError(f"row {line} of your wall is full, so that nothing may go to line {line}")
    if color in wall and color != "J":
        raise InputError(f"row {line} of your wall has a {COLOR_WORDS[color]} tile already; choose another line")
    if find_closed_reason(color, wall, game.rules.layout[line - 1]):
        raise InputError(f"the space of {COLOR_WORDS[color]} in row {line} of your wall is taken; choose another line")


# Columns


def _read_column(text: str, game: Game, suggested: int | None) -> str:
    placing = game.placing
    assert placing is not None
    row, columns = placing.row, placing.columns
    may_decline = 0 in columns
    right = " or ".join(str(column) for column in columns if column)
    how = f"write the column for {name_line(row)}: {right}" + (", or floor to let the line fall" if may_decline else "")
    words = [word for word in _WORDS.findall(text.lower()) if word not in _COLUMN_FILLERS]
    if not words and not text.strip() and suggested is not None:
        return f"@{row}={suggested}"
    if words[:1] == ["@"]:
        if len(words) != 4 or words[2] != "=" or words[1] != str(row):
            raise InputError(f"{quote(text)} does not fit: {how}")
        words = words[3:]
    if len(words) != 1:
        raise InputError(f"{quote(text)} is no column; {how}")
    word = "0" if words[0] in _DECLINING else words[0]
    if not re.fullmatch("[0-9]{1,6}", word):
        raise InputError(f"{quote(text)} is no column; {how}")
    column = int(word)
    if column in columns:
        return f"@{row}={column}"
    if column == 0:
        raise InputError(f"a complete line must be placed; {how}")
    if column > 5:
        raise InputError(f"there is no column {column}; {how}")
    wall = game.walls[placing.seat]
    if wall[row - 1][column - 1] != ".":
        raise InputError(f"column {column} of row {row} is taken; {how}")
    raise InputError(f"{COLOR_WORDS[placing.color]} may not go to column {column} of row {row}; {how}")
