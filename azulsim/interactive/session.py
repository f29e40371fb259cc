"""Who decides for which seat, what the strategies answer, and where the game is kept: all but the talking."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from azulsim.arena import make_players
from azulsim.engine import general
from azulsim.engine.driver import PLACE_KEYS
from azulsim.engine.luck import DECISION_DOMAIN, derive, game_key, root_key, step_key
from azulsim.engine.record import SEAT
from azulsim.errors import InputError, RunError, StrategyError, refuse_unwritable
from azulsim.explain import choose_move
from azulsim.game import Game
from azulsim.rules import MAX_PLAYERS, Rules
from azulsim.strategy import Strategy

PERSON = "you"
"""What a seat is called in which a person sits."""
DEFAULT_OPPONENT = "tuned"


def begin_session(
    opponents: Sequence[str],
    seats: Sequence[int],
    *,
    rules: Rules | None = None,
    seed: int = 0,
    project: Path | None = None,
) -> Session:
    """Seat persons and strategies at a new game.

    Parameters
    ----------
    opponents : sequence of str
        The specs of strategies, for the seats in which no person sits, in order; for one person alone, the default one
        if there are none.
    seats : sequence of int
        Where persons sit, from 0.

    Raises
    ------
    InputError
        If there are too few or too many players, a seat is taken twice or does not exist, or a spec is unknown.
    """
    if len(set(seats)) < len(seats):
        raise InputError(f"seat {max(seats, key=list(seats).count)}: given to two persons")
    if not opponents and len(seats) == 1:
        opponents = [DEFAULT_OPPONENT]
    players = len(seats) + len(opponents)
    if players > MAX_PLAYERS:
        raise InputError(f"{players} players: Azul is played by 2 to {MAX_PLAYERS}, persons and strategies together")
    for seat in seats:
        if not 0 <= seat < players:
            raise InputError(f"seat {seat}: with {players} players the seats are 0 to {players - 1}")
    waiting = iter(opponents)
    game = Game(players, rules=rules, seed=seed)
    game.specs = tuple(PERSON if seat in seats else next(waiting) for seat in range(players))
    return Session(game, project=project)


def load_session(path: Path, seats: Sequence[int] = (), *, project: Path | None = None) -> Session:
    """Go on with a game that was saved, or written by hand.

    Parameters
    ----------
    seats : sequence of int
        Seats that persons take over, besides those that are called `you` in the file.

    Raises
    ------
    InputError
        If the file is no game, or no person sits in it.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{path}: no game, since it is not text") from None
    except OSError as error:
        raise InputError(f"{path}: {(error.strerror or str(error)).lower()}") from None
    try:
        game = Game.from_text(text)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    for seat in seats:
        if not 0 <= seat < game.players:
            raise InputError(f"seat {seat}: {path} has the seats 0 to {game.players - 1}")
    names = game.specs or ("",) * game.players
    game.specs = tuple(PERSON if seat in seats else name for seat, name in enumerate(names))
    if PERSON not in game.specs:
        raise InputError(f'{path}: no seat is called "{PERSON}"; say with --seat where you sit')
    return Session(game, project=project, file=path)


class Session:
    """A game, and who decides in it.

    Parameters
    ----------
    game : Game
        Its `specs` name the players; a person is called `you`.
    file : Path, optional
        Where the game is kept after every decision.
    """

    def __init__(self, game: Game, *, project: Path | None = None, file: Path | None = None) -> None:
        self.game = game
        self.project = project
        self.file = file
        self.persons = frozenset(seat for seat, name in enumerate(game.specs) if name == PERSON)
        seats = [seat for seat in range(game.players) if seat not in self.persons]
        strategies = make_players([game.specs[seat] for seat in seats], project=project)
        self._opponents = {seat: _Opponent(it, seat) for seat, it in zip(seats, strategies, strict=True)}

    @property
    def is_waiting(self) -> bool:
        """True if it is a person's decision."""
        return not self.game.is_over and self.game.decider in self.persons

    def answer(self) -> str:
        """Let the strategy whose turn it is decide; return its decision.

        The luck of a decision follows from seed, seat, round and turn, as in a run: after `undo` the same question gets
        the same answer.

        Raises
        ------
        StrategyError
            If the strategy fails.
        """
        seat = self.game.decider
        try:
            decision = self._opponents[seat].decide(self.game)
        except (StrategyError, SystemExit) as error:
            told = error if isinstance(error, StrategyError) else f"{self.game.specs[seat]}: it called exit"
            raise StrategyError(f"seat {seat} cannot go on: {told}") from None
        self.decide(decision)
        return decision

    def decide(self, decision: str) -> None:
        """Play a decision of whoever has to decide, and keep the game if it has a file.

        Raises
        ------
        InputError
            If it is not legal.
        RunError
            If the next round cannot be dealt; the decision is taken back.
        """
        try:
            self.game.play(decision)
        except RunError:
            self.game.undo()
            raise
        self.keep()

    def undo(self) -> bool:
        """Go back to the decision that a person made last; return False if there is none."""
        deciders = [self.game.look_back(n).decider for n in range(len(self.game.moves))]
        last = max((n for n, seat in enumerate(deciders) if seat in self.persons), default=None)
        if last is None:
            return False
        while len(self.game.moves) > last:
            self.game.undo()
        self.keep()
        return True

    def keep(self) -> None:
        """Write the game to its file, if it has one."""
        if self.file is not None:
            self.save(self.file)

    def save(self, path: Path) -> None:
        """Write the game to a file, which is from now on its file; the old content stays until the new one is whole.

        Raises
        ------
        InputError
            If the file exists and holds something else, or cannot be written.
        """
        with refuse_unwritable(path):
            is_taken = path != self.file and path.exists()
        if is_taken:
            raise InputError(f"{path}: there is such a file already; name another one")
        with refuse_unwritable(path):
            part = path.with_name(f".{path.name}.part")
            part.write_text(str(self.game.record()), encoding="utf-8")
            part.replace(path)
        self.file = path


class _Opponent:
    """A strategy in its seat, with its own memory of the game."""

    def __init__(self, strategy: Strategy, seat: int) -> None:
        self.strategy, self.seat = strategy, seat
        self.memory = np.zeros(max(1, strategy.definition.workspace), np.uint8)
        self.seen: list[str] = []
        """The decisions of the game in which its memory has its part."""

    def decide(self, game: Game) -> str:
        view = game.look_back(len(game.moves))  # whatever a strategy does to it, the game is safe
        if view.placing:
            return f"@{view.placing.row}={self._choose_column(view, view.placing.row)}"
        if self.strategy.definition.workspace:
            self._remember(view)
        move = self._choose_move(view)
        self.seen = [*game.moves, move]
        return move

    def _remember(self, game: Game) -> None:
        """Bring its memory to where the game is: after an undo, or when a saved game is taken up, by asking anew."""
        if game.moves[: len(self.seen)] != self.seen:
            self.memory[:] = 0
            self.seen = []
        for n in range(len(self.seen), len(game.moves)):
            view = game.look_back(n)
            if view.decider == self.seat and not view.placing:
                self._choose_move(view)

    def _choose_move(self, game: Game) -> str:
        turn = _find_key(game, self.seat)
        for _ in range(len(game.record().rounds[-1].moves) // game.players):
            turn = np.uint64(step_key(turn))
        return choose_move(self.strategy, game, int(turn), self.memory)

    def _choose_column(self, game: Game, row: int) -> int:
        state = game._now.record[0]
        columns = int(general.columns_of_line(state, self.seat, row))
        place = self.strategy.place
        if place is None:
            return int(general.choose_by_default(state, self.seat, row, columns))
        seats = np.zeros(1, SEAT)
        self.strategy.fill_seat(seats[0], is_general=True)
        key = _derive(_derive(_find_key(game, self.seat), PLACE_KEYS), row)
        try:
            column = int(place(state, self.seat, row, columns, key, seats[0]))
        except Exception as error:  # whatever an author's code raises
            raise StrategyError(f"{self.strategy.spec}: place: {type(error).__name__}: {error}") from error
        if f"@{row}={column}" not in game.legal_moves():
            raise StrategyError(f"{self.strategy.spec}: place: the score of a column is NaN or infinite")
        return column


def _find_key(game: Game, seat: int) -> np.uint64:
    """Return the key of a seat's decisions in this round, as in a run with one seating."""
    luck = game.position().luck
    assert luck is not None
    root = np.uint64(root_key(luck.seed, DECISION_DOMAIN))
    key = np.uint64(game_key(root, np.uint64(luck.deal), np.uint64(luck.continuation)))
    for index in (0, seat, game.round):
        key = _derive(key, index)
    return key


def _derive(key: np.uint64, index: int) -> np.uint64:
    return np.uint64(derive(key, index))


def suggest_column(game: Game) -> int:
    """Return the column that the engine itself would choose for the tile to be placed."""
    placing = game.placing
    assert placing is not None
    state = game._now.record[0]
    columns = int(general.columns_of_line(state, placing.seat, placing.row))
    return int(general.choose_by_default(state, placing.seat, placing.row, columns))


def points_of_columns(game: Game) -> dict[int, int]:
    """Return the points of each legal column for the tile to be placed; 0 stands for declining."""
    placing = game.placing
    assert placing is not None
    state = game._now.record[0]
    wall = int(state["wall"][placing.seat])
    return {
        column: int(general.points_at(state, wall, placing.row - 1, column - 1)) if column else 0
        for column in placing.columns
    }
