"""Makes players, and asks them in plain Python or many at once; compiled ones are called by the drivers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from azulsim.engine.move import Move
from azulsim.engine.record import GAME
from azulsim.engine.table import play
from azulsim.errors import StrategyError
from azulsim.notation.words import make_printable
from azulsim.registry import make_strategy
from azulsim.strategy import Strategy
from azulsim.strategy.definition import Speed
from azulsim.strategy.parameters import first_telling_line, own_parameters
from azulsim.strategy.view import Columns


def make_players(lineup: Sequence[str], *, speed: Speed | None = None, project: Path | None = None) -> list[Strategy]:
    """Make the strategies of a line-up, equal specs once, and say of each why it is slower than it could be."""
    made: dict[str, Strategy] = {}
    for spec in lineup:
        if spec not in made:
            made[spec] = make_strategy(spec, speed=speed, project=project)
            if made[spec].fallback:
                note_once(f"azulsim: {made[spec].fallback}")
    return [made[spec] for spec in lineup]


_noted: set[str] = set()


def note_once(text: str) -> None:
    """Write a note to stderr, the same one once a process."""
    if text not in _noted:
        _noted.add(text)
        print(text, file=sys.stderr, flush=True)


def describe_timeout(limit: float) -> str:
    """Return the message of a failure of the kind `timeout`."""
    return f"the game took more than {limit:g} s"


def score_plainly(strategy: Strategy, records: npt.NDArray[Any], game: npt.NDArray[Any]) -> list[float]:
    """Score legal moves one by one in plain Python; `records` is MOVE[n], `game` is GAME[1]."""
    definition = strategy.definition
    moves = [Move._make(map(float, record[1:])) for record in records.tolist()]
    if definition.shape == "score":
        return [definition.function(move, **strategy.params) for move in moves]
    scores, notes = [], _take_notes(strategy, game)
    for move, code in zip(moves, records["code"].tolist(), strict=True):
        position = _copy(game)
        play(position, code)
        scores.append(definition.function(move, position, *notes, **strategy.params))
    return scores


def _take_notes(strategy: Strategy, game: npt.NDArray[Any]) -> list[npt.NDArray[np.float64]]:
    """Return what a score has written down before a decision, if it takes notes."""
    prepare = strategy.definition.prepare
    if prepare is None:
        return []
    notes = np.zeros(strategy.definition.notes)
    prepare(_copy(game), notes, **{name: strategy.params[name] for name in own_parameters(prepare)})
    return [notes]


def _copy(game: npt.NDArray[Any]) -> Any:
    return game.view(np.uint8).copy().view(GAME)[0]  # many times faster than copying records


def score_batch(
    strategy: Strategy, records: npt.NDArray[Any], fill_denials: Callable[[], None]
) -> npt.NDArray[np.float64] | None:
    """Score many moves at once, as `Columns`; None, and a note, if the function cannot take columns."""
    if not strategy.takes_columns:
        return None
    try:
        with np.errstate(all="ignore", divide="raise", invalid="raise"):
            values = strategy.definition.function(Columns(records, fill_denials), **strategy.params)
            return np.ascontiguousarray(np.broadcast_to(np.asarray(values, np.float64), (len(records),)))
    except FloatingPointError:  # a division by zero in some game: plain Python finds the game
        return None
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # an `if` over a column, an unknown field: plain Python will tell
        strategy.takes_columns = False
        note_once(f"azulsim: {strategy.spec}: runs plain, since it cannot take columns: {first_telling_line(error)}")
        return None


def check_index(index: Any, n: int) -> int:
    """Return what a `choose` answered as an index into `n` moves; raise `StrategyError` if it is none."""
    try:
        number = index.__index__()
    except AttributeError:
        raise StrategyError(f"the answer {index!r} is not an index into the moves") from None
    if not 0 <= number < n:
        raise StrategyError(f"the answer {number} is not an index into the {n} legal moves")
    return int(number)


def one_line(error: BaseException) -> str:
    try:
        text = make_printable(" ".join(str(error).split()).encode(errors="backslashreplace").decode())
    except Exception:  # an author's own error may not even have a text
        text = "(no text)"
    return text if isinstance(error, StrategyError) else f"{type(error).__name__}: {text}"
