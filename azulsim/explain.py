"""Why a strategy moves as it does: every legal move of a position with its score and what the score is made of."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from azulsim.arena import check_index, score_plainly
from azulsim.engine import driver, table
from azulsim.engine.compiling import address_of
from azulsim.engine.driver import LIVE
from azulsim.engine.luck import DECISION_DOMAIN, next_key, root_key
from azulsim.engine.move import MOVE, Move, format_code
from azulsim.engine.moves import tie_priority
from azulsim.engine.narrowing import narrow
from azulsim.engine.record import ALLOWED, MAX_LEGAL, SEAT
from azulsim.errors import InputError, StrategyError
from azulsim.game import Game
from azulsim.notation import Position
from azulsim.registry import make_strategy
from azulsim.strategy import Moves, Strategy, View
from azulsim.strategy.parameters import list_names
from azulsim.strategy.view import DecisionRng

ALWAYS_SHOWN = ("gain",)
"""Fields of a move that the text shows even if the strategy does not look at them."""


@dataclass(frozen=True)
class Candidate:
    """A legal move as a strategy sees it."""

    move: str
    score: float | None
    """What the strategy's function returned; None for a strategy that chooses without scores, or a score that is no
    number."""
    is_chosen: bool
    is_allowed: bool
    """False if a wrapper forbids the move."""
    fields: Move


@dataclass(frozen=True)
class Explanation:
    """All legal moves of a position as a strategy judges them."""

    spec: str
    position: Position
    candidates: tuple[Candidate, ...]
    """Best first; those of a strategy without scores as `Game.legal_moves` orders them, the chosen one first."""
    shown: tuple[str, ...]
    """Fields of a move at which the strategy's function looks: columns of the text."""

    def __str__(self) -> str:
        is_scored = any(candidate.score is not None for candidate in self.candidates)
        heads = ["", "move", *(["score"] if is_scored else []), *self.shown]
        lines = [heads]
        for candidate in self.candidates:
            score = [_word(candidate.score)] if is_scored else []
            fields = [_word(getattr(candidate.fields, name)) for name in self.shown]
            sign = "*" if candidate.is_chosen else "" if candidate.is_allowed else "x"
            lines.append([sign, candidate.move, *score, *fields])
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        rows = ["  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in lines]
        title = f"{self.spec}, seat {self.position.seat} in round {self.position.round}: * is played"
        if not all(candidate.is_allowed for candidate in self.candidates):
            title += ", x is forbidden by a wrapper"
        return "\n".join([title, *(row.rstrip() for row in rows)])

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data for JSON."""
        return {
            "strategy": self.spec,
            "position": str(self.position),
            "moves": [
                {
                    "move": candidate.move,
                    "score": candidate.score,
                    "chosen": candidate.is_chosen,
                    "allowed": candidate.is_allowed,
                    "fields": candidate.fields._asdict(),
                }
                for candidate in self.candidates
            ],
        }


def _word(value: float | None) -> str:
    return "-" if value is None else f"{value:.6g}"


def explain(position: Position | str, spec: str, *, project: Path | None = None) -> Explanation:
    """Judge every legal move of a position by a strategy.

    Where a strategy has to toss a coin, among equal scores or by its own luck, it is given the luck of the position's
    seed (0 if hidden) as in no game, so that the same question has the same answer.

    Raises
    ------
    InputError
        If the position or the spec cannot be read, the game is over, or tiles are being placed on the walls.
    StrategyError
        If the strategy fails.
    """
    if isinstance(position, str):
        position = Position.from_text(position)
    if position.is_over:
        raise InputError("position: the game is over, so that there is no move to explain")
    if position.row is not None:
        raise InputError("position: tiles are being placed on the walls; only moves that take tiles are explained")
    strategy = make_strategy(spec, project=project)
    game = Game.from_position(position)
    turn = root_key(position.luck.seed if position.luck else 0, DECISION_DOMAIN)
    asked = _Asked(strategy, game, turn)
    scores, chosen = asked.judge()
    left = set(asked.left["code"].tolist())
    candidates = [
        Candidate(format_code(code), score, code == chosen, code in left, Move._make(map(float, row.item()[1:])))
        for code, score, row in zip(asked.moves["code"].tolist(), scores, asked.moves, strict=True)
    ]
    places = {move: place for place, move in enumerate(game.legal_moves())}
    candidates.sort(key=lambda one: (-math.inf if one.score is None else one.score, one.is_chosen, -places[one.move]))
    return Explanation(strategy.spec, position, tuple(reversed(candidates)), _find_shown(strategy))


def choose_move(strategy: Strategy, game: Game, turn: int, memory: npt.NDArray[np.uint8]) -> str:
    """Let a strategy decide one move of a game in which it sits, as it would in a run.

    Parameters
    ----------
    turn : int
        Where its stream of decision keys is.
    memory : uint8[workspace]
        Its own memory in this game, at least one byte; a strategy may change it.

    Raises
    ------
    StrategyError
        If the strategy fails, or answers with something that is not a legal move.
    """
    code = _Asked(strategy, game, turn, memory).judge()[1]
    move = format_code(code) if code >= 0 else ""
    if move not in game.legal_moves():
        raise StrategyError(f"{strategy.spec}: the answer is not a legal move, or a score is NaN or infinite")
    return move


def describe_moves(game: Game) -> dict[str, Move]:
    """Return the fields of every legal move, by its text; none while tiles are placed."""
    record, allowed = game._now.record[0], np.zeros(1, ALLOWED)
    if game.is_over or game.placing:
        return {}
    table.allow_all(record, allowed[0])
    moves = describe_allowed(record, allowed)
    return {format_code(code): Move._make(map(float, fields)) for code, *fields in moves.tolist()}


def describe_allowed(record: Any, allowed: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the moves of an allowed set (ALLOWED[1]) as MOVE[n]."""
    records = np.zeros(MAX_LEGAL, MOVE)
    moves = records[: table.fill_moves(record, allowed[0], records)]
    table.fill_denials(record, moves)
    return moves


class _Asked:
    """A strategy that was asked for a move."""

    def __init__(self, strategy: Strategy, game: Game, turn: int, memory: npt.NDArray[np.uint8] | None = None) -> None:
        self.strategy, self.game, self.turn = strategy, game, turn
        self.key = np.uint64(next_key(np.uint64(turn)))
        self.record = game._now.record
        self.memory = np.zeros(max(1, strategy.definition.workspace), np.uint8) if memory is None else memory
        self.seat = np.zeros(1, SEAT)
        strategy.fill_seat(self.seat[0], is_general=bool(self.record[0]["is_general"]))
        self.seat["workspace"] = address_of(self.memory)
        allowed = np.zeros(1, ALLOWED)
        table.allow_all(self.record[0], allowed[0])
        self.moves = describe_allowed(self.record[0], allowed)
        narrow(self.record[0], allowed[0], self.key, self.seat[0])
        self.left = describe_allowed(self.record[0], allowed)

    def judge(self) -> tuple[list[float | None], int]:
        """Return the score of each legal move, if there are any, and the code of the chosen one."""
        unscored: list[float | None] = [None] * len(self.moves)
        try:
            match self.strategy.definition.shape:
                case "score" | "score_position":
                    return self._score()
                case "choose":
                    return unscored, self._choose()
                case _:
                    return unscored, self._call()
        except StrategyError as error:
            raise StrategyError(f"{self.strategy.spec}: {error}") from None
        except Exception as error:  # whatever an author's code raises
            text = " ".join(str(error).split())
            raise StrategyError(f"{self.strategy.spec}: {type(error).__name__}: {text}") from error

    def _score(self) -> tuple[list[float | None], int]:
        values = [float(value) for value in score_plainly(self.strategy, self.moves, self.record)]
        scores = [value if math.isfinite(value) else None for value in values]
        of_code = dict(zip(self.moves["code"].tolist(), scores, strict=True))
        allowed = {code: of_code[code] for code in self.left["code"].tolist()}
        known = [value for value in allowed.values() if value is not None]
        if len(known) < len(allowed):  # in a game this is a failure
            return scores, -1
        tied = [code for code, value in allowed.items() if value == max(known)]
        return scores, min(tied, key=lambda code: int(tie_priority(self.key, code)))

    def _choose(self) -> int:
        view = View(self.record, 0, self.game.rules)
        rng = DecisionRng(int(self.key))
        index = self.strategy.definition.function(view, Moves(self.left), rng, **self.strategy.params)
        return int(self.left["code"][check_index(index, len(self.left))])

    def _call(self) -> int:
        """Let a compiled strategy choose."""
        lives, codes = np.zeros(1, LIVE), np.zeros(1, np.int64)
        lives["turn_keys"] = self.turn
        driver.call_slots(self.record, lives, np.zeros(1, np.int64), self.seat, codes)
        return int(codes[0])


def _find_shown(strategy: Strategy) -> tuple[str, ...]:
    """Return the fields of a move that a strategy's function names, in the order of `Move`."""
    named = set(ALWAYS_SHOWN)
    if strategy.definition.shape in ("score", "score_position"):
        named |= list_names(strategy.definition.function)
    return tuple(name for name in Move._fields if name in named)
