"""A position as one line of text and back; docs/NOTATION.md describes it field by field."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from azulsim.notation.position import Board, Luck, Position, Supply, describe_path
from azulsim.notation.rules_text import format_rules, parse_rules
from azulsim.notation.text import TILES, NotationError, Path, quote, refuse_strange_letters
from azulsim.rules import MAX_PLAYERS, MIN_PLAYERS, Rules, Termination

EMPTY = "-"
_FIELDS = ("round", "seat", "starter", "holder", "displays", "center", "bag", "lid")
_NUMBER = re.compile(r"-?[0-9]{1,19}")
_TURN = re.compile(r"([0-9])(?:@([0-9]))?")
_ENDINGS = {ending.name.lower(): ending for ending in Termination if ending}
_SUPPLY = re.compile(r"([A-Za-z])([0-9]{1,3})")


def format_position(position: Position) -> str:
    """Return a position as one line of text, which `parse_position` reads back to an equal value."""
    fields = [
        str(position.round),
        _format_turn(position),
        str(position.starter),
        EMPTY if position.holder is None else str(position.holder),
        ",".join(tiles or EMPTY for tiles in position.displays),
        position.center or EMPTY,
        _format_supply(position.bag),
        _format_supply(position.lid),
        *(_format_board(board) for board in position.boards),
    ]
    if position.luck is not None:
        fields.append("luck=" + "/".join(map(str, position.luck)))
    if position.rules != Rules():
        fields.append("rules=" + format_rules(position.rules))
    return " ".join(fields)


def _format_turn(position: Position) -> str:
    if position.seat is None:
        return position.termination.name.lower()
    return str(position.seat) if position.row is None else f"{position.seat}@{position.row}"


def _format_supply(supply: Supply) -> str:
    return "".join(f"{tile}{number}" for tile, number in zip(TILES, supply, strict=True) if number) or EMPTY


def _format_board(board: Board) -> str:
    lines = "/".join(tiles.ljust(line, ".") for line, tiles in enumerate(board.lines, start=1))
    return f"{board.score}:{'/'.join(board.wall)}:{lines}:{board.floor or EMPTY}"


# ---- reading


@dataclass
class _Reader:
    """A line being read: its words, and where each part of the position was found."""

    text: str
    spots: dict[Path, int] = field(default_factory=dict)

    def error(self, path: Path, problem: str, at: int | None = None) -> NotationError:
        """Return the error for a part of the position, pointing at its spot."""
        at = self.find(path) if at is None else at
        where = f"position, character {at + 1}"
        named = f"{where} ({describe_path(path)})" if path else where
        return NotationError(f"{named}: {problem}", text=self.text, at=at, path=path)

    def find(self, path: Path) -> int:
        """Return the character at which a part stands; a last number counts letters from the start of its part."""
        if path in self.spots:
            return self.spots[path]
        if path and isinstance(path[-1], int) and path[:-1] in self.spots:
            return self.spots[path[:-1]] + path[-1]
        return self.find(path[:-1]) if path else 0

    def split(self, path: Path, text: str, separator: str) -> list[str]:
        """Split a part at a separator and remember where each piece stands."""
        at = self.spots[path]
        pieces = text.split(separator)
        for index, piece in enumerate(pieces):
            self.spots[*path, index] = at
            at += len(piece) + len(separator)
        return pieces

    def number(self, path: Path, text: str) -> int:
        """Read a whole number."""
        if not _NUMBER.fullmatch(text):
            raise self.error(path, f"{quote(text)} is no whole number")
        return int(text)


def parse_position(text: str) -> Position:
    """Read a position from one line of text; spaces around it do not matter.

    Raises
    ------
    NotationError
        If the text is no position, or one that cannot lie on a table; the sentence names field and character.
    """
    refuse_strange_letters(text, "position")
    reader = _Reader(text)
    words, options = _split_words(reader)
    rules = _read_rules(reader, options)
    turn = _read_turn(reader, words[1])
    boards = tuple(_read_board(reader, seat, word) for seat, word in enumerate(words[len(_FIELDS) :]))
    try:
        return Position(
            boards=boards,
            displays=tuple(_read_tiles(tiles) for tiles in reader.split(("displays",), words[4], ",")),
            center=_read_tiles(words[5]),
            bag=_read_supply(reader, "bag", words[6]),
            lid=_read_supply(reader, "lid", words[7]),
            round=reader.number(("round",), words[0]),
            seat=turn[0],
            row=turn[1],
            termination=turn[2],
            starter=reader.number(("starter",), words[2]),
            holder=None if words[3] == EMPTY else reader.number(("holder",), words[3]),
            luck=_read_luck(reader, options),
            rules=rules,
        )
    except NotationError as error:
        if error.text:
            raise
        problem = str(error).removeprefix(f"{describe_path(error.path)}: ")
        raise reader.error(error.path, problem) from None


def _split_words(reader: _Reader) -> tuple[list[str], dict[str, str]]:
    """Split a line into its words and its options, which follow them as `name=value`; `rules` takes all the rest."""
    words: list[str] = []
    options: dict[str, str] = {}
    for match in re.finditer(r"rules=.*\S|[^ ]+", reader.text):
        word, at = match[0], match.start()
        name, sign, value = word.partition("=")
        if sign:
            if name not in ("luck", "rules"):
                raise reader.error((), f"{quote(name)} is no option; an option is luck=... or rules=...", at)
            if name in options:
                raise reader.error((name,), "is given twice", at)
            options[name] = value
            reader.spots[name,] = at + len(name) + 1
        elif options:
            raise reader.error((), f"{quote(word)} follows an option; the boards come before", at)
        else:
            reader.spots[_path_of_word(len(words))] = at
            words.append(word)
    if len(words) < len(_FIELDS):
        raise reader.error((), f"the field {_FIELDS[len(words)]} is missing", len(reader.text))
    if not MIN_PLAYERS <= (n_boards := len(words) - len(_FIELDS)) <= MAX_PLAYERS:
        at = len(reader.text) if n_boards < MIN_PLAYERS else reader.spots["boards", MAX_PLAYERS]
        raise reader.error((), f"there are {n_boards} boards; Azul is played by {MIN_PLAYERS} to {MAX_PLAYERS}", at)
    return words, options


def _path_of_word(index: int) -> Path:
    return (_FIELDS[index],) if index < len(_FIELDS) else ("boards", index - len(_FIELDS))


def _read_rules(reader: _Reader, options: dict[str, str]) -> Rules:
    if "rules" not in options:
        return Rules()
    try:
        return parse_rules(options["rules"])
    except NotationError as error:
        problem = re.sub(r"^rules(, character \d+)?:? ", "", str(error))
        raise reader.error(("rules",), problem, reader.spots["rules",] + error.at) from None


def _read_turn(reader: _Reader, word: str) -> tuple[int | None, int | None, Termination]:
    """Read who decides next: a seat, a seat and its row in wall-tiling, or how the game ended."""
    if word in _ENDINGS:
        return None, None, _ENDINGS[word]
    match = _TURN.fullmatch(word)
    if match is None:
        raise reader.error(
            ("seat",),
            f"{quote(word)} must be a seat such as 0, a seat and a row to place such as 0@3, or one of "
            f"{', '.join(_ENDINGS)}",
        )
    return int(match[1]), int(match[2]) if match[2] else None, Termination.NONE


def _read_tiles(word: str) -> str:
    return "" if word == EMPTY else word


def _read_supply(reader: _Reader, name: str, word: str) -> Supply:
    """Read the tiles in bag or lid, such as `B3W12`."""
    counts: dict[str, int] = {}
    at = 0
    while word != EMPTY and at < len(word):
        match = _SUPPLY.match(word, at)
        spot = reader.spots[name,] + at
        if match is None:
            raise reader.error((name,), "write letters and numbers, such as B3W12, or - for nothing", spot)
        if match[1] not in TILES:
            raise reader.error((name,), f"{match[1]!a} is no tile; write the letters {TILES}", spot)
        if match[1] in counts:
            raise reader.error((name,), f"{match[1]} is given twice", spot)
        counts[match[1]] = int(match[2])
        at = match.end()
    return Supply(**counts)


def _read_luck(reader: _Reader, options: dict[str, str]) -> Luck | None:
    if "luck" not in options:
        return None
    numbers = [
        reader.number(("luck", index), piece)
        for index, piece in enumerate(reader.split(("luck",), options["luck"], "/"))
    ]
    if len(numbers) > len(Luck._fields):
        raise reader.error(("luck",), "write seed/deal/continuation, such as luck=7/0/0")
    return Luck(*numbers)


def _read_board(reader: _Reader, seat: int, word: str) -> Board:
    path: Path = ("boards", seat)
    parts = reader.split(path, word, ":")
    if len(parts) != 4:
        raise reader.error(path, f"has {len(parts)} parts; write score:wall:lines:floor", reader.spots[path])
    for index, name in enumerate(("score", "wall", "lines", "floor")):
        reader.spots[*path, name] = reader.spots[*path, index]
    return Board(
        score=reader.number((*path, "score"), parts[0]),
        wall=tuple(_read_rows(reader, (*path, "wall"), parts[1])),
        lines=tuple(_read_lines(reader, (*path, "lines"), parts[2])),
        floor=_read_tiles(parts[3]),
    )


def _read_rows(reader: _Reader, path: Path, text: str) -> list[str]:
    rows = reader.split(path, text, "/")
    if len(rows) != 5:
        raise reader.error(path, f"{len(rows)} rows where five are needed, with / between them")
    return rows


def _read_lines(reader: _Reader, path: Path, text: str) -> list[str]:
    """Read pattern lines, each as long as it is, with `.` for a free space."""
    rows = _read_rows(reader, path, text)
    for line, row in enumerate(rows):
        tiles = row.rstrip(".")
        if "." in tiles:
            raise reader.error((*path, line, row.index(".")), "a free space is written after the tiles")
        if len(row) < line + 1:
            raise reader.error(
                (*path, line), f"{quote(row)} is too short: write {line + 1} letters, . for a free space"
            )
        if len(row) > line + 1 and len(tiles) <= line + 1:
            raise reader.error((*path, line, line + 1), f"{quote(row)} is longer than the line, which holds {line + 1}")
    return [row.rstrip(".") for row in rows]
