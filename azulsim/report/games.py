"""A logged game as pictures and words, put together from the tables alone: nothing is played again."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from azulsim.errors import InputError
from azulsim.log import Run
from azulsim.notation import Board, NotationError, Position, Supply
from azulsim.rules import COLORS, Rules, Termination
from azulsim.schema import CELL_SHIFT

COLOR_WORDS = {"B": "blue", "Y": "yellow", "R": "red", "K": "black", "W": "white"}


@dataclass(frozen=True)
class LoggedGame:
    """A game as it was logged."""

    game: int
    specs: tuple[str, ...]
    """Who sat where, in seat order."""
    rounds: tuple[Position, ...]
    """The table as each round began."""
    end: Position
    """The table when the game was over."""
    moves: pd.DataFrame
    """A row a move, in words: `round`, `move` of the round, `seat`, `strategy`, `takes`, `puts`, `falls`, `gain`."""


def choose_game(run: Run, spec: str, players: int) -> int:
    """Choose a game of a strategy against others: the first whose final score is nearest to its median.

    Raises
    ------
    InputError
        If it played none.
    """
    mixed = [cell.index for cell in run.manifest.cells if cell.players == players and len(set(cell.lineup)) > 1]
    games = run.games(columns=["game", "score", "termination"], filters={"spec": spec, "cell": mixed})
    games = games[games["termination"] != "FORFEIT"]
    if games.empty:
        raise InputError(f"{run.path}: {spec} played no game against others at {players} players")
    scores = games["score"].astype(int)
    return int(games["game"].iloc[int((scores - scores.median()).abs().argmin())])


def read_game(run: Run, game: int) -> LoggedGame:
    """Put a logged game together from the tables.

    Raises
    ------
    InputError
        If the run has no such game, its log is not deep enough or does not fit together, or jokers were in play (the
        log does not say which tiles of a pattern line they are).
    """
    cell = next((cell for cell in run.manifest.cells if cell.index == game >> CELL_SHIFT), None)
    seats = run.games(filters={"game": game})
    if cell is None or seats.empty:
        raise InputError(f"{run.path}: no game {game}")
    if cell.rules.joker_tiles:
        raise InputError(f"{run.path}: game {game} was played with jokers, and the log does not say where they lie")
    moves = run.moves(filters={"game": game})
    rounds = run.rounds(filters={"game": game})
    placed = run.placements(filters={"game": game})
    specs = tuple(str(spec) for spec in seats["spec"])
    table = _Table(cell.rules, cell.players)
    positions = []
    last = rounds[rounds["round"] == rounds["round"].max()].iloc[0]
    try:
        for number, rows in rounds.groupby("round"):
            positions.append(table.deal(rows))
            table.play(moves[moves["round"] == number], placed[placed["round"] == number])
        end = table.finish(seats, last)
    except NotationError as error:
        raise InputError(f"{run.path}: game {game}: the log does not fit together: {error}") from error
    return LoggedGame(game, specs, tuple(positions), end, _describe_moves(moves, specs))


@dataclass
class _Table:
    """What lies where, as far as the log tells."""

    rules: Rules
    players: int
    lid: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.walls = [[["."] * 5 for _ in range(5)] for _ in range(self.players)]
        self.lines = [[""] * 5 for _ in range(self.players)]

    def deal(self, rows: pd.DataFrame) -> Position:
        """Return the table as a round begins."""
        rows = rows.sort_values("seat")
        first = rows.iloc[0]
        size = self.rules.tiles_per_display
        text = str(first["displays"])
        displays = [text[at : at + size].replace(".", "") for at in range(0, len(text), size)]
        if self.lid.total() != int(first["lid"]):  # it was tipped into the bag
            self.lid.clear()
        return self._position(displays, rows["score_before"], first, seat=int(first["starter"]))

    def play(self, moves: pd.DataFrame, placed: pd.DataFrame) -> None:
        """Let a round's moves be made and its tiles be placed."""
        for seat, line, color, count, overflow in _columns(moves, "seat", "line", "color", "placed", "overflow"):
            if line:
                self.lines[seat][line - 1] += color * count
            self.lid[color] += overflow
        for seat, row, column, color in _columns(placed, "seat", "row", "column", "color"):
            self.walls[seat][row - 1][column - 1] = color
            self.lid[color] -= 1
        for lines in self.lines:
            for row, tiles in enumerate(lines):
                if len(tiles) == row + 1:
                    self.lid[tiles[0]] += len(tiles)
                    lines[row] = ""

    def finish(self, seats: pd.DataFrame, last: pd.Series) -> Position:
        """Return the table when the game is over."""
        displays = [""] * self.rules.n_displays(self.players)
        termination = Termination[str(seats["termination"].iloc[0])]
        return self._position(displays, seats["score"], last, seat=None, termination=termination)

    def _position(
        self, displays: list[str], scores: pd.Series, row: pd.Series, *, seat: int | None, **more: Any
    ) -> Position:
        boards = tuple(
            Board(score=int(score), wall=tuple("".join(tiles) for tiles in wall), lines=tuple(lines))
            for score, wall, lines in zip(scores, self.walls, self.lines, strict=True)
        )
        out = Counter("".join([*displays, *(text for board in boards for text in (*board.wall, *board.lines))]))
        bag = {color: self.rules.tiles_per_color - out[color] - self.lid[color] for color in COLORS}
        return Position(
            boards=boards,
            displays=tuple(displays),
            bag=Supply(**bag),
            lid=Supply(**{color: self.lid[color] for color in COLORS}),
            round=int(row["round"]),
            seat=seat,
            starter=int(row["starter"]),
            holder=int(row["holder"]) if seat is None and int(row["holder"]) >= 0 else None,
            rules=self.rules,
            **more,
        )


def _columns(frame: pd.DataFrame, *names: str) -> list[tuple[Any, ...]]:
    return list(zip(*(frame[name].tolist() for name in names), strict=True))


def _describe_moves(moves: pd.DataFrame, specs: tuple[str, ...]) -> pd.DataFrame:
    """Say each move in words."""
    rows = []
    first = moves.groupby("round")["ply"].transform("min")
    columns = ("round", "ply", "seat", "source", "color", "line", "placed", "overflow", "marker", "gain")
    for start, (number, ply, seat, source, color, line, placed, overflow, marker, gain) in zip(
        first.tolist(), _columns(moves, *columns), strict=True
    ):
        where = f"display {source}" if source else "the center, with the marker" if marker else "the center"
        rows.append(
            (
                number,
                ply - start + 1,
                seat,
                specs[seat],
                f"{placed + overflow} {COLOR_WORDS[color]} from {where}",
                f"line {line}" if line else "the floor line",
                overflow,
                gain,
            )
        )
    return pd.DataFrame(rows, columns=["round", "move", "seat", "strategy", "takes", "puts", "falls", "gain"])
