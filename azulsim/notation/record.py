"""Whole games as frozen values, checked when they are made."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from azulsim.notation.moves import Move, Placing
from azulsim.notation.position import MAX_DEAL, MAX_SEED, Position
from azulsim.notation.text import JOKER, TILES, NotationError, quote, sort_tiles
from azulsim.rules import COLORS, MAX_PLAYERS, MAX_POINTS, MIN_PLAYERS, Rules, Termination

HEADER_NAME = re.compile(r"[a-z][a-z0-9_]*")
HEADERS = {"azulsim": "version"} | {
    name: name
    for name in ("rules", "players", "seed", "deal", "seating", "start", "scores", "placements", "termination")
}
"""Name of a header -> the field of `GameRecord` that it fills; any other header is an extra."""


@dataclass(frozen=True, slots=True)
class Round:
    """One round as it was played, as far as it was."""

    number: int
    """Counted from 1."""
    displays: tuple[str, ...] = ()
    """The tiles dealt on each display; empty for the first round of a game that begins with a `start` position."""
    seat: int = 0
    """The seat of the first move; the others follow clockwise."""
    moves: tuple[Move, ...] = ()
    placings: tuple[tuple[int, Placing], ...] = ()
    """Decisions of wall-tiling in the order in which they were made: (seat, placing)."""
    scores: tuple[int, ...] = ()
    """Scores in seat order after the round, bonuses not yet counted; empty if the round was not finished."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "displays", tuple(sort_tiles(tiles) for tiles in self.displays))


@dataclass(frozen=True, slots=True)
class GameRecord:
    """A whole game, or the beginning of one; checked when it is made, though not played.

    Raises
    ------
    NotationError
        If seats, displays, sources or numbers do not fit together.
    """

    players: tuple[str, ...]
    """Who plays, in seat order: the specs of strategies, or any names."""
    rules: Rules = field(default_factory=Rules)
    version: str = ""
    """The version of azulsim that wrote the game."""
    seed: int | None = None
    deal: int | None = None
    seating: int | None = None
    """Number of the seating in the run that the game was played in."""
    start: Position | None = None
    """The position at the beginning, if it is not a new game."""
    rounds: tuple[Round, ...] = ()
    scores: tuple[int, ...] = ()
    """Final scores in seat order; empty while the game goes on."""
    placements: tuple[int, ...] = ()
    """Final places in seat order: 1 is best, ties share a place."""
    termination: Termination = Termination.NONE
    extras: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Any further headers, such as a date or the name of a run."""

    def __post_init__(self) -> None:
        for problem in _find_header_flaws(self):
            raise NotationError(f"game: {problem}")
        before = number_before(self)
        for played in self.rounds:
            for flaw in find_round_flaws(self, played, before):
                raise NotationError(f"game, round {played.number}: {flaw.problem}", path=("rounds", *flaw.path))
            before = played.number

    def __str__(self) -> str:
        from azulsim.notation.games import format_game

        return format_game(self)

    def __repr__(self) -> str:
        return f"parse_game({str(self)!r})"

    @property
    def moves(self) -> tuple[Move | Placing, ...]:
        """All decisions in order of play."""
        decisions: list[Move | Placing] = []
        for played in self.rounds:
            decisions += [*played.moves, *(placing for _, placing in played.placings)]
        return tuple(decisions)


def number_before(record: GameRecord) -> int:
    """Return the number of the round before the first one that a record can hold."""
    return 0 if record.start is None else record.start.round - 1


class Flaw(NamedTuple):
    path: tuple[str | int, ...]
    """Part of the round, and the index in it."""
    problem: str


def _find_header_flaws(record: GameRecord) -> Iterator[str]:
    n = len(record.players)
    if not MIN_PLAYERS <= n <= MAX_PLAYERS:
        yield f"players: there are {n}; Azul is played by {MIN_PLAYERS} to {MAX_PLAYERS}"
    for name, number, end in (
        ("seed", record.seed, MAX_SEED),
        ("deal", record.deal, MAX_DEAL),
        ("seating", record.seating, MAX_DEAL),
    ):
        if number is not None and not 0 <= number < end:
            yield f"{name} {number} must be from 0 to {end - 1}"
    if record.start is not None and record.start.players != n:
        yield f"start: there are {record.start.players} boards for {n} players"
    if record.start is not None and record.start.rules != record.rules:
        yield "start: its rules are not those of the game"
    for name, numbers in (("scores", record.scores), ("placements", record.placements)):
        if numbers and len(numbers) != n:
            yield f"{name}: there are {len(numbers)} for {n} players"
    if any(abs(score) > MAX_POINTS for score in record.scores):
        yield f"scores: must be from -{MAX_POINTS} to {MAX_POINTS}"
    if not all(1 <= place <= n for place in record.placements):
        yield f"placements: must be from 1 to {n}"
    for name in record.extras:
        if not HEADER_NAME.fullmatch(name) or name in HEADERS:
            yield f"extra header {quote(name)}: write a word of small letters that is no header of its own"


def find_round_flaws(record: GameRecord, played: Round, before: int) -> Iterator[Flaw]:
    n, rules = len(record.players), record.rules
    if not 1 <= played.number <= rules.max_rounds:
        yield Flaw(("number",), f"must be from 1 to {rules.max_rounds}")
    if played.number != before + 1:
        yield Flaw(("number",), f"round {before + 1} comes next")
    n_displays = rules.n_displays(n)
    known = TILES if rules.joker_tiles else COLORS
    if len(played.displays) not in (0, n_displays):
        yield Flaw(("displays",), f"{len(played.displays)} displays; the rules have {n_displays} at {n} players")
    for at, tiles in enumerate(played.displays):
        if not set(tiles) <= set(known) or len(tiles) > rules.tiles_per_display:
            problem = f"{quote(tiles)} is no display: write up to {rules.tiles_per_display} letters of {known}"
            yield Flaw(("displays", at), problem)
    seats = [played.seat, *(seat for seat, _ in played.placings)]
    if not all(0 <= seat < n for seat in seats):
        yield Flaw(("seat",), f"a seat must be from 0 to {n - 1}")
    for at, move in enumerate(played.moves):
        if move.source > n_displays:
            yield Flaw(("moves", at), f"{move}: there are {n_displays} displays")
        if (move.jokers or move.color == JOKER) and not rules.joker_tiles:
            yield Flaw(("moves", at), f"{move}: no joker is in play by these rules")
    if played.scores and len(played.scores) != n:
        yield Flaw(("scores",), f"{len(played.scores)} scores for {n} players")
    if any(abs(score) > MAX_POINTS for score in played.scores):
        yield Flaw(("scores",), f"a score must be from -{MAX_POINTS} to {MAX_POINTS}")
