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
from azulsim.engine.luck import DECISION_DOMAIN, root_key
from azulsim.engine.move import MOVE, Move, format_code
from azulsim.engine.moves import tie_priority
from azulsim.engine.record import ALLOWED, MAX_LEGAL, SEAT
from azulsim.errors import InputError, StrategyError
from azulsim.game import Game
from azulsim.notation import Position
from azulsim.registry import make_strategy
from azulsim.strategy import Moves, Strategy, View
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
            lines.append(["*" if candidate.is_chosen else "", candidate.move, *score, *fields])
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        rows = ["  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in lines]
        title = f"{self.spec}, seat {self.position.seat} in round {self.position.round}: * is played"
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
    record = game._now.record
    records = np.zeros(MAX_LEGAL, MOVE)
    allowed = np.zeros(1, ALLOWED)
    table.allow_all(record[0], allowed[0])
    records = records[: table.fill_moves(record[0], allowed[0], records)]
    key = root_key(position.luck.seed if position.luck else 0, DECISION_DOMAIN)
    scores, chosen = _judge(strategy, game, records, key)
    candidates = [
        Candidate(format_code(int(code)), score, int(code) == chosen, Move._make(map(float, row.item()[1:])))
        for code, score, row in zip(records["code"], scores, records, strict=True)
    ]
    places = {move: place for place, move in enumerate(game.legal_moves())}
    candidates.sort(key=lambda one: (-math.inf if one.score is None else one.score, one.is_chosen, -places[one.move]))
    return Explanation(strategy.spec, position, tuple(reversed(candidates)), _find_shown(strategy))


def _judge(strategy: Strategy, game: Game, records: npt.NDArray[Any], key: int) -> tuple[list[float | None], int]:
    """Return the score of each move, if there are any, and the code of the chosen one."""
    shape = strategy.definition.shape
    try:
        if shape in ("score", "score_position"):
            return _score(strategy, game, records, key)
        if shape == "choose":
            view = View(game._now.record, 0, game.rules)
            index = strategy.definition.function(view, Moves(records), DecisionRng(key), **strategy.params)
            return [None] * len(records), int(records["code"][check_index(index, len(records))])
        return [None] * len(records), _call(strategy, game, key)
    except StrategyError as error:
        raise StrategyError(f"{strategy.spec}: {error}") from None
    except Exception as error:  # whatever an author's code raises
        raise StrategyError(f"{strategy.spec}: {type(error).__name__}: {' '.join(str(error).split())}") from error


def _score(strategy: Strategy, game: Game, records: npt.NDArray[Any], key: int) -> tuple[list[float | None], int]:
    values = [float(value) for value in score_plainly(strategy, records, game._now.record)]
    scores = [value if math.isfinite(value) else None for value in values]
    if None in scores:  # in a game this is a failure
        return scores, -1
    best = max(values)
    tied = [int(code) for code, value in zip(records["code"], scores, strict=True) if value == best]
    chosen = min(tied, key=lambda code: int(tie_priority(np.uint64(key), code)))
    return scores, chosen


def _call(strategy: Strategy, game: Game, key: int) -> int:
    """Let a compiled strategy choose."""
    memory = np.zeros(max(1, strategy.definition.workspace), np.uint8)
    seats, lives, codes = np.zeros(1, SEAT), np.zeros(1, LIVE), np.zeros(1, np.int64)
    record = game._now.record
    seats["move"] = strategy.general_address if record[0]["is_general"] else strategy.address
    seats["params"], seats["n_params"] = address_of(strategy.param_array), len(strategy.params)
    seats["workspace"], seats["n_workspace"] = address_of(memory), strategy.definition.workspace
    lives["turn_keys"] = key
    driver.call_slots(record, lives, np.zeros(1, np.int64), seats, codes)
    return int(codes[0])


def _find_shown(strategy: Strategy) -> tuple[str, ...]:
    """Return the fields of a move that a strategy's function names, in the order of `Move`."""
    named = set(ALWAYS_SHOWN)
    if strategy.definition.shape in ("score", "score_position"):
        named |= set(strategy.definition.function.__code__.co_names)
    return tuple(name for name in Move._fields if name in named)
