"""Reading the facts: worked examples (JSON) and recorded games (text); both formats are told in facts/README.md."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import reference

from azulsim.errors import did_you_mean
from azulsim.rules import Rules

FACTS = Path(__file__).parent / "facts"
TRACE_FLOOR = 5
EXTRA_GIVEN = ("side", "joker_set", "mode", "option", "players")
"""Keys of `given` that cases of any kind may have: they choose rules or the number of players."""


class FactsError(Exception):
    """A file of facts that cannot be read; its text is one sentence that names file and place."""


@dataclass(frozen=True)
class Case:
    """One worked example: given a state, these facts must hold."""

    id: str
    kind: str
    given: dict[str, Any]
    expect: dict[str, Any]

    @property
    def variant(self) -> str:
        """The wall or set of tiles it speaks of: `colored`, `gray` or `jokers`."""
        if self.has_jokers:
            return "jokers"
        return "gray" if self.is_gray else "colored"

    @property
    def has_jokers(self) -> bool:
        """Whether it is played with joker tiles."""
        return self.kind.startswith("joker") or bool(self.given.get("joker_set")) or "J" in _tiles_in(self.given)

    @property
    def is_gray(self) -> bool:
        """Whether it is played on the gray wall: it says so, or a tile lies where the colored wall has none such."""
        return self.given.get("side") in ("gray", "grey") or not _fits_layout(self.given.get("wall", []))


@dataclass(frozen=True)
class TracedRound:
    """One round of a recorded game, in azulsim's numbering: what was dealt, every move, and what came of it."""

    displays: list[str]
    moves: list[tuple[int, str, int]]
    scores: list[int]
    taker: int | None
    walls: list[list[str]]


@dataclass(frozen=True)
class Trace:
    """One recorded game, in azulsim's numbering: seat 0 starts round 1."""

    id: str
    players: int
    rounds: list[TracedRound]
    scores: list[int]
    """Final scores."""


def default_cases() -> list[Path]:
    """Return the files of worked examples that the project keeps."""
    return [FACTS / "cases.json"]


def default_traces() -> list[Path]:
    """Return the files of recorded games that the project keeps."""
    return sorted((FACTS / "traces").glob("*.txt"))


@cache
def read_cases(path: Path) -> tuple[Case, ...]:
    """Read a file of worked examples.

    Raises
    ------
    FactsError
        If the file is missing, is not JSON, or lacks what every case must have.
    """
    try:
        items = json.loads(_read(path))["cases"]
        n_items = len(items)
    except json.JSONDecodeError as error:
        raise FactsError(f"{path}: not valid JSON: {error}") from None
    except (KeyError, TypeError):
        raise FactsError(f"{path}: has no list of 'cases'") from None
    if not n_items:
        raise FactsError(f"{path}: holds no case")
    try:
        cases = tuple(Case(item["id"], item["kind"], item["given"], item["expect"]) for item in items)
        for case in cases:
            _check_keys(path, case)
        return cases
    except (KeyError, TypeError, AttributeError):
        raise FactsError(f"{path}: every case needs 'id', 'kind', 'given' and 'expect'") from None


@cache
def _known_keys() -> dict[str, tuple[set[str], set[str]]]:
    """Return the keys of `given` and `expect` that the kept cases of each kind have."""
    known: dict[str, tuple[set[str], set[str]]] = {}
    for path in default_cases():
        for item in json.loads(_read(path))["cases"]:
            given, expect = known.setdefault(item["kind"], (set(EXTRA_GIVEN), set()))
            given.update(item["given"])
            expect.update(item["expect"])
    return known


def _check_keys(path: Path, case: Case) -> None:
    """Refuse a case that no test would look at, or only at a part of."""
    if case.kind not in _known_keys():
        raise FactsError(f"{path}: case {case.id}: unknown kind {case.kind!r}{did_you_mean(case.kind, _known_keys())}")
    if not case.expect.keys():
        raise FactsError(f"{path}: case {case.id}: 'expect' is empty")
    facts = {key: value for key, value in case.given.items() if not isinstance(value, str)}  # a text may name a rule
    for name, keys, known in zip(("given", "expect"), (facts, case.expect), _known_keys()[case.kind], strict=True):
        for key in keys:
            if key not in known:
                raise FactsError(f"{path}: case {case.id}: unknown key {key!r} in {name!r}{did_you_mean(key, known)}")


@cache
def read_traces(path: Path) -> tuple[Trace, ...]:
    """Read a file of recorded games.

    Raises
    ------
    FactsError
        If the file is missing, or a line is not what must follow the line before it.
    """
    lines = ((number, line.split()) for number, line in enumerate(_read(path).splitlines(), 1) if line.strip())
    return tuple(_parse_games(path, lines))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not text"
        raise FactsError(f"{path}: cannot be read: {reason}") from None


def _parse_games(path: Path, lines: Iterator[tuple[int, list[str]]]) -> Iterator[Trace]:
    game: list[tuple[int, list[str]]] = []
    n_games = 0
    for number, words in lines:
        game.append((number, words))
        if words[0] == "E":
            yield _parse_game(path, f"{path.stem}-{n_games:03}", game)
            n_games += 1
            game = []
    if game:
        raise FactsError(f"{path}: line {game[0][0]}: this game has no line 'E' with the final scores")
    if not n_games:
        raise FactsError(f"{path}: holds no recorded game")


def _parse_game(path: Path, name: str, lines: list[tuple[int, list[str]]]) -> Trace:
    number = lines[0][0]
    try:
        players, first = _numbers(lines[0][1], "G")
        n_displays = Rules().n_displays(players)
        rounds: list[TracedRound] = []
        displays: list[str] = []
        moves: list[tuple[int, str, int]] = []
        for line in lines[1:-1]:
            number, words = line
            if words[0] == "R":
                displays, moves = _parse_displays(_numbers(words, "R"), n_displays), []
            elif words[0] == "M":
                moves.append(_parse_move(_numbers(words, "M"), n_displays))
            else:
                rounds.append(_parse_settlement(words, displays, moves, players, first))
        number, words = lines[-1]
        scores = _numbers(words[: players + 1], "E")
    except (ValueError, IndexError):
        raise FactsError(f"{path}: line {number}: not a line of a recorded game as facts/README.md tells it") from None
    return Trace(name, players, rounds, _seated(scores, first))


def _numbers(words: list[str], letter: str) -> list[int]:
    if words[0] != letter:
        raise ValueError(words[0])
    return [int(word) for word in words[1:]]


def _parse_displays(counts: list[int], n_displays: int) -> list[str]:
    if len(counts) != 5 * n_displays:
        raise ValueError(counts)
    groups = [counts[5 * d : 5 * d + 5] for d in range(n_displays)]
    return ["".join(color * n for color, n in zip(reference.COLORS, group, strict=True)) for group in groups]


def _parse_move(numbers: list[int], n_displays: int) -> tuple[int, str, int]:
    source, color, line = numbers
    if not (0 <= source <= n_displays and 0 <= color < 5 and 0 <= line <= TRACE_FLOOR):
        raise ValueError(numbers)
    return (0 if source == n_displays else source + 1, reference.COLORS[color], 0 if line == TRACE_FLOOR else line + 1)


def _parse_settlement(
    words: list[str], displays: list[str], moves: list[tuple[int, str, int]], players: int, first: int
) -> TracedRound:
    scores = _numbers(words[: players + 1], "S")
    (taker,) = _numbers(words[2 * players + 2 : 2 * players + 4], "N")
    walls = [_parse_wall(mask) for mask in _numbers(words[2 * players + 4 :], "W")]
    if len(walls) != players or not displays:
        raise ValueError(words)
    seat = None if taker < 0 else (taker - first) % players
    return TracedRound(displays, moves, _seated(scores, first), seat, _seated(walls, first))


def _parse_wall(mask: int) -> list[str]:
    def space(row: int, column: int) -> str:
        return reference.LAYOUT[row][column] if mask >> (5 * row + column) & 1 else "."

    return ["".join(space(row, column) for column in range(5)) for row in range(5)]


def _seated(by_chair: list[Any], first: int) -> list[Any]:
    """Turn a list by chair into one by seat: seat 0 is the chair that starts round 1."""
    return by_chair[first:] + by_chair[:first]


def _tiles_in(value: Any) -> str:
    """Return all tiles that a value of a case names."""
    if isinstance(value, str):
        return value if set(value) <= set("BYRKWJM.") else ""
    if isinstance(value, dict):
        value = list(value.values())
    return "".join(_tiles_in(item) for item in value) if isinstance(value, list) else ""


def _fits_layout(wall: list[str]) -> bool:
    """Return whether each tile lies on the space of its color on the colored wall."""
    return all(
        tile in (".", "J", space)
        for row, layout_row in zip(wall, reference.LAYOUT, strict=False)
        for tile, space in zip(row, layout_row, strict=True)
    )
