"""What happened at the table, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from azulsim.game import Game, Tiling
from azulsim.interactive.session import PERSON
from azulsim.notation import parse_move
from azulsim.notation.words import make_printable
from azulsim.rules import Termination
from azulsim.strategy import Move

COLOR_WORDS = {"B": "blue", "Y": "yellow", "R": "red", "K": "black", "W": "white", "J": "joker"}

_ENDS = {
    Termination.ROW_COMPLETED: "a row of a wall is complete",
    Termination.ROUND_LIMIT: "the last round allowed was played",
    Termination.NO_TILES: "no tiles are left",
}


def call_seat(game: Game, seat: int) -> str:
    """Return what a seat is called in a sentence: `seat 1 (greedy)`."""
    return f"seat {seat} ({make_printable(game.specs[seat])})" if game.specs else f"seat {seat}"


def name_source(source: int) -> str:
    """Return `display 3`, or `the center`."""
    return f"display {source}" if source else "the center"


def name_line(line: int) -> str:
    """Return `line 3`, or `the floor line`."""
    return f"line {line}" if line else "the floor line"


def count_tiles(kind: str, n: int) -> str:
    """Return `2 blue`, `1 joker`, `3 jokers`."""
    return f"{n} {COLOR_WORDS[kind]}{'s' if kind == 'J' and n != 1 else ''}"


def count_things(n: int, thing: str) -> str:
    """Return `1 point`, `-2 points`."""
    return f"{n} {thing}{'' if abs(n) == 1 else 's'}"


def describe_move(move: str, fields: Move) -> str:
    """Say what a move does: `2 blue from display 3 to line 2, which is complete`."""
    parsed = parse_move(move)
    n_jokers = int(fields.jokers)
    kinds = [(parsed.color, int(fields.tiles) - n_jokers if parsed.color != "J" else 0), ("J", n_jokers)]
    taken = " and ".join(count_tiles(kind, n) for kind, n in kinds if n)
    words = f"{taken} from {name_source(parsed.source)} to {name_line(parsed.line)}"
    if fields.completes:
        words += ", which is complete"
    if fields.marker:
        words += ", with the starting player marker"
    if parsed.line and fields.overflow:
        words += f"; {count_things(int(fields.overflow), 'tile')} to the floor line"
    return words


def describe_worth(fields: Move) -> str:
    """Say what a move is worth by the end of the round: `+2 this round (3 points, floor line -1)`."""
    parts = []
    if fields.points and fields.penalty:
        parts.append(count_things(int(fields.points), "point"))
    if fields.penalty:
        parts.append(f"floor line {-int(fields.penalty):+d}")
    if fields.line and fields.missing:
        parts.append(f"{count_things(int(fields.missing), 'space')} left in the line")
    if fields.column_tiles:
        parts.append(f"its column holds {count_things(int(fields.column_tiles), 'tile')}")
    worth = f"{int(fields.gain):+d}" if fields.gain else "0"
    return f"{worth} this round" + (f" ({', '.join(parts)})" if parts else "")


def describe_placing(view: Game, decision: str) -> str:
    """Say where a tile was placed, from the game before the decision."""
    placing = view.placing
    assert placing is not None
    column = int(decision.partition("=")[2])
    if not column:
        return f"declines line {placing.row}: its tiles fall to the floor line"
    return f"{COLOR_WORDS[placing.color]} of line {placing.row} to column {column}"


def describe_round(start: Game, after: Game, scores: Sequence[int]) -> Iterator[str]:
    """Say, in a sentence a seat, what wall-tiling brought, and who starts next.

    Parameters
    ----------
    start : Game
        The game before the last move of the round.
    after : Game
        The game after the round.
    scores : sequence of int
        The scores after the round, bonuses not counted.
    """
    yield f"Round {start.round} is over; the walls are tiled:"
    for seat, (tiling, score) in enumerate(zip(after.tilings, scores, strict=True)):
        yield f"  {call_seat(after, seat)}: {_describe_tiling(tiling)}; {count_things(score, 'point')} now."
    if not after.is_over:
        starter = after.starter
        why = ", who took the marker" if start.holder == starter or _takes_marker(start, starter) else ""
        yield f"Round {after.round} begins; {call_seat(after, starter)} starts{why}."


def describe_displays(game: Game) -> str:
    """Say what lies on the displays: `On the displays: 1 YYKW, 2 BYRK.`"""
    dealt = [f"{number} {tiles or '-'}" for number, tiles in enumerate(game.displays, start=1)]
    return f"On the displays: {', '.join(dealt)}."


def _takes_marker(view: Game, seat: int) -> bool:
    return view.holder is None and view.rules.next_starter == "holder" and view.decider == seat


def _describe_tiling(tiling: Tiling) -> str:
    tiles = [f"row {row} {COLOR_WORDS[kind]} +{points}" for row, _, kind, points in tiling.tiles]
    words = ", ".join(tiles) if tiles else "no tile"
    if tiling.penalty > 0:
        words += f"; floor line -{tiling.penalty}"
    if tiling.penalty < 0:
        words += f"; the marker +{-tiling.penalty}"
    if tiling.paid < tiling.penalty:
        words += f", of which {tiling.paid} paid, since a score stops at 0"
    return words


def describe_end(game: Game, scores: Sequence[int]) -> Iterator[str]:
    """Say how a game ended: bonuses, places and the winner; `scores` are those before the bonuses."""
    outcome = game.outcome
    assert outcome is not None
    yield f"The game is over: {_ENDS.get(outcome.termination, 'it was stopped')}. Bonuses:"
    bonus = game.rules.bonus
    for seat, score in enumerate(scores):
        counts = ((outcome.rows, "row", bonus.row), (outcome.columns, "column", bonus.column))
        parts = [
            f"{count_things(counted[seat], f'complete {what}')} {counted[seat] * points:+d}"
            for counted, what, points in (*counts, (outcome.colors, "color", bonus.color))
            if counted[seat]
        ]
        yield f"  {call_seat(game, seat)}: {score}, {', '.join(parts) or 'no bonus'}: {outcome.scores[seat]}"
    winners = [seat for seat, place in enumerate(outcome.placements) if place == 1]
    best = outcome.scores[winners[0]]
    if len(winners) > 1:
        yield f"{' and '.join(call_seat(game, seat) for seat in winners)} share the victory with {best} points."
        return
    is_by_rows = outcome.scores.count(best) > 1
    is_person = game.specs[winners[0]] == PERSON and game.specs.count(PERSON) == 1
    winner = "You win" if is_person else f"{call_seat(game, winners[0])} wins".replace("seat", "Seat", 1)
    yield f"{winner} with {count_things(best, 'point')}" + (", and the most complete rows." if is_by_rows else ".")


def list_moves(game: Game) -> Iterator[str]:
    """List the legal moves: a line for each display and the center, the lines open to each color behind it."""
    if game.placing:
        yield " ".join(game.legal_moves())
        return
    grouped: dict[str, dict[str, list[str]]] = {}
    for move in game.legal_moves():
        parsed = parse_move(move)
        source, kind = str(parsed.source or "C"), parsed.color + ("J" if parsed.jokers else "")
        grouped.setdefault(source, {}).setdefault(kind, []).append(move.removeprefix(source + kind))
    for source, kinds in grouped.items():
        listed = [f"{kind} to {' '.join(sorted(lines, key=_floor_last))}" for kind, lines in kinds.items()]
        yield f"{source:>2}  " + ";  ".join(listed)


def _floor_last(line: str) -> tuple[bool, str]:
    return line == "-", line
