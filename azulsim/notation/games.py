"""Whole games as readable text, both ways: headers in brackets, then each round with its displays and moves."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, NamedTuple

from azulsim.errors import did_you_mean
from azulsim.notation.line import format_position, parse_position
from azulsim.notation.moves import Move, Placing, parse_move, parse_placing
from azulsim.notation.record import HEADER_NAME, HEADERS, GameRecord, Round, find_round_flaws, number_before
from azulsim.notation.rules_text import format_rules, parse_rules
from azulsim.notation.text import NotationError, quote
from azulsim.rules import Termination

EMPTY = "-"


# ---- writing


def format_game(record: GameRecord) -> str:
    """Return a game as text, which `parse_game` reads back to an equal value."""
    headers = [f"[{name} {' '.join(map(json.dumps, values))}]" for name, values in _list_headers(record)]
    rounds = [_format_round(played, len(record.players)) for played in record.rounds]
    return "\n\n".join(["\n".join(headers), *rounds]) + "\n"


def _list_headers(record: GameRecord) -> Iterator[tuple[str, list[Any]]]:
    if record.version:
        yield "azulsim", [record.version]
    yield "rules", [format_rules(record.rules)]
    yield "players", list(record.players)
    for name in ("seed", "deal", "seating"):
        if (number := getattr(record, name)) is not None:
            yield name, [number]
    if record.start is not None:
        yield "start", [format_position(record.start)]
    if record.scores:
        yield "scores", list(record.scores)
    if record.placements:
        yield "placements", list(record.placements)
    if record.termination:
        yield "termination", [record.termination.name.lower()]
    for name, text in record.extras.items():
        yield name, [text]


def _format_round(played: Round, players: int) -> str:
    """Write a round: its displays, a line for each turn around the table, then wall-tiling and the scores."""
    displays = [tiles or EMPTY for tiles in played.displays]
    lines = [" ".join([f"round {played.number}:", *displays])]
    for first in range(0, len(played.moves) or 1, players):
        turn = played.moves[first : first + players]
        lines.append(" ".join([f"{played.seat}:", *map(str, turn)]))
    for seat, group in groupby(played.placings, key=lambda decision: decision[0]):
        lines.append(" ".join([f"{seat}:", *(str(placing) for _, placing in group)]))
    if played.scores:
        lines.append(" ".join(["scores:", *map(str, played.scores)]))
    return "\n".join(lines)


# ---- reading: tokens, then headers, then rounds

_SKIPPED = re.compile(r"(?:[ \t\r\n]+|\{[^}]*\}|;[^\n]*)*")
_TOKEN = re.compile(r"round[ \t]+[0-9]{1,4}[ \t]*:|[a-z0-9]{1,9}[ \t]*:|[^\s{};:\[\]]+")
_ROUND = re.compile(r"round[ \t]*[0-9]{1,4}")
_NUMBER = re.compile(r"-?[0-9]{1,19}(?![0-9])")
_BLANK = re.compile(r"[ \t\r\n]*")
_JSON = json.JSONDecoder()
_ENDINGS = {ending.name.lower(): ending for ending in Termination if ending}


class _Token(NamedTuple):
    text: str
    at: int

    @property
    def label(self) -> str:
        """The word before the colon, if it is a label."""
        return self.text[:-1].rstrip() if self.text.endswith(":") else ""


class _Header(NamedTuple):
    values: list[Any]
    at: int
    """Where the values begin."""


def parse_game(text: str) -> GameRecord:
    """Read a game; comments in braces or from `;` to the end of the line are skipped.

    Raises
    ------
    NotationError
        If the text is no game; the sentence names line and column.
    """
    headers, at = _read_headers(text)
    fields: dict[str, Any] = {"extras": {}}
    for name, header in headers.items():
        if name in HEADERS:
            fields[HEADERS[name]] = _read_known_header(text, name, header)
        else:
            fields["extras"][name] = _read_text(text, name, header)
    if "players" not in fields:
        raise _error(text, at, 'the header [players "..." "..."] is missing')
    if "start" in fields:
        fields.setdefault("rules", fields["start"].rules)
    try:
        opening = GameRecord(**fields)
    except NotationError as error:
        name = str(error).removeprefix("game: ").split(" ")[0].rstrip(":")
        spot = headers[name].at if name in headers else 0
        raise _error(text, spot, str(error).removeprefix("game: ")) from None
    return GameRecord(**fields, rounds=_read_rounds(text, at, opening))


def _error(text: str, at: int, problem: str) -> NotationError:
    line = text.count("\n", 0, at) + 1
    column = at - text.rfind("\n", 0, at)
    return NotationError(f"game, line {line}, column {column}: {problem}", text=text, at=at)


def _skip(text: str, at: int) -> int:
    match = _SKIPPED.match(text, at)
    return at if match is None else match.end()


def _read_headers(text: str) -> tuple[dict[str, _Header], int]:
    """Read headers such as `[players "greedy" "uniform"]`: a name, then JSON strings and numbers."""
    headers: dict[str, _Header] = {}
    at = _skip(text, 0)
    while text.startswith("[", at):
        name = HEADER_NAME.match(text, at + 1)
        if name is None:
            raise _error(text, at + 1, "a header opens with a name in small letters, such as [seed 7]")
        if name[0] in headers:
            raise _error(text, at, f"the header {name[0]} is given twice")
        values, end = _read_values(text, name.end(), name[0])
        headers[name[0]] = _Header(values, name.end() + 1)
        at = _skip(text, end)
    return headers, at


def _read_values(text: str, at: int, name: str) -> tuple[list[Any], int]:
    values: list[Any] = []
    while True:
        blank = _BLANK.match(text, at)
        at = at if blank is None else blank.end()
        if text.startswith("]", at):
            return values, at + 1
        try:
            if not text.startswith('"', at):
                number = _NUMBER.match(text, at)
                if number is None:
                    raise ValueError
                value, end = int(number[0]), number.end()
            else:
                value, end = _JSON.raw_decode(text, at)
        except ValueError:
            raise _error(text, at, f'header {name}: write texts in "quotes" or whole numbers, then ]') from None
        values.append(value)
        at = end


def _read_known_header(text: str, name: str, header: _Header) -> Any:
    """Turn the values of a header into the field of `GameRecord` that it fills."""
    match name:
        case "players":
            if not all(isinstance(value, str) for value in header.values):
                raise _error(text, header.at, 'header players: write a text in "quotes" for each seat')
            return tuple(header.values)
        case "scores" | "placements":
            if not all(isinstance(value, int) for value in header.values):
                raise _error(text, header.at, f"header {name}: write a whole number for each seat")
            return tuple(header.values)
        case "seed" | "deal" | "seating":
            if [type(value) for value in header.values] != [int]:
                raise _error(text, header.at, f"header {name}: write one whole number")
            return header.values[0]
    written = _read_text(text, name, header)
    if name == "termination":
        if written not in _ENDINGS:
            raise _error(text, header.at, f"header termination: {quote(written)}{did_you_mean(written, _ENDINGS)}")
        return _ENDINGS[written]
    readers: dict[str, Callable[[str], Any]] = {"rules": parse_rules, "start": parse_position}
    try:
        return readers.get(name, str)(written)
    except NotationError as error:
        raise _error(text, header.at, f"header {name}: {error}") from None


def _read_text(text: str, name: str, header: _Header) -> str:
    if [type(value) for value in header.values] != [str]:
        raise _error(text, header.at, f'header {name}: write one text in "quotes"')
    return str(header.values[0])


@dataclass
class _RoundReader:
    """A round being read."""

    text: str
    players: int
    fields: dict[str, Any]
    """Those of `Round`, with lists for tuples."""
    mode: str = "displays"
    """What the next word is: a display, a decision of `mover`, or a score."""
    mover: int | None = None
    is_fresh: bool = False
    """True if no move has followed the label of a seat yet."""
    spots: dict[tuple[str | int, ...], int] = field(default_factory=dict)

    @classmethod
    def begin(cls, text: str, players: int, token: _Token) -> _RoundReader:
        empty: dict[str, Any] = {"displays": [], "moves": [], "placings": [], "scores": []}
        number = int(token.label.removeprefix("round"))
        return cls(text, players, empty | {"number": number}, spots={("number",): token.at})

    def finish(self) -> Round:
        """Return the round as it was read."""
        fields: dict[str, Any] = {n: tuple(v) if isinstance(v, list) else v for n, v in self.fields.items()}
        return Round(**fields)

    def read(self, token: _Token) -> None:
        """Read one word."""
        if token.label == "scores":
            self.mode = "scores"
            self.spots.setdefault(("scores",), token.at)
        elif token.label:
            self._read_seat(token)
        elif self.mode == "displays":
            self._put("displays", token, "" if token.text == EMPTY else token.text)
        elif self.mode == "scores":
            if not _NUMBER.fullmatch(token.text):
                raise _error(self.text, token.at, f"{quote(token.text)} is no score")
            self._put("scores", token, int(token.text))
        elif token.text.startswith("@"):
            self._put("placings", token, (self.mover, self._parse(parse_placing, token)))
        else:
            self._read_move(token)

    def _put(self, name: str, token: _Token, value: Any) -> None:
        self.spots[name, len(self.fields[name])] = token.at
        self.fields[name].append(value)

    def _read_seat(self, token: _Token) -> None:
        if self.mode == "scores" or not re.fullmatch("[0-9]", token.label):
            raise _error(
                self.text, token.at, f"{quote(token.text)} where a seat such as 0:, scores: or round was expected"
            )
        self.mode, self.mover, self.is_fresh = "decisions", int(token.label), True
        if "seat" not in self.fields:
            self.fields["seat"] = self.mover
            self.spots["seat",] = token.at
        if self.mover >= self.players:
            raise _error(self.text, token.at, f"seat {self.mover} must be from 0 to {self.players - 1}")

    def _read_move(self, token: _Token) -> None:
        expected = (self.fields["seat"] + len(self.fields["moves"])) % self.players
        if self.fields["placings"]:
            raise _error(self.text, token.at, f"{quote(token.text)} cannot follow wall-tiling in the same round")
        if self.is_fresh and self.mover != expected:
            raise _error(self.text, token.at, f"it is the turn of seat {expected}, not of seat {self.mover}")
        self.is_fresh = False
        self._put("moves", token, self._parse(parse_move, token))

    def _parse(self, parse: Callable[[str], Move | Placing], token: _Token) -> Move | Placing:
        try:
            return parse(token.text)
        except NotationError as error:
            raise _error(self.text, token.at + error.at, str(error)) from None


def _read_rounds(text: str, at: int, opening: GameRecord) -> tuple[Round, ...]:
    """Read all rounds; each must fit to the headers and follow the one before."""
    readers: list[_RoundReader] = []
    for token in _split_tokens(text, at):
        if _ROUND.fullmatch(token.label):
            readers.append(_RoundReader.begin(text, len(opening.players), token))
        elif readers:
            readers[-1].read(token)
        else:
            raise _error(text, token.at, f"{quote(token.text)} where a header or round 1: was expected")
    rounds = tuple(reader.finish() for reader in readers)
    before = number_before(opening)
    for played, reader in zip(rounds, readers, strict=True):
        for flaw in find_round_flaws(opening, played, before):
            spot = reader.spots.get(flaw.path, reader.spots.get(flaw.path[:1], reader.spots["number",]))
            raise _error(text, spot, f"round {played.number}: {flaw.problem}")
        before = played.number
    return rounds


def _split_tokens(text: str, at: int) -> Iterator[_Token]:
    at = _skip(text, at)
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            problem = "the comment has no closing }" if text[at] == "{" else f"{text[at]!a} is out of place"
            raise _error(text, at, problem)
        yield _Token(match[0], at)
        at = _skip(text, match.end())
