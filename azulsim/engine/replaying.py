"""The driver that plays logged moves again and logs them afresh, by the same functions as all other drivers.

Logged rows are matched to games by their order. A row counts as one of the game being replayed if its game or its
number within the game is right, so that a single changed key spoils the comparison of its own row only.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from azulsim.engine import general
from azulsim.engine.compiling import as_pointer, compiled, make_record
from azulsim.engine.core import LEDGERS
from azulsim.engine.driver import BAD_MOVE, GOES_ON, IS_OVER, PIECES, Log, begin_game
from azulsim.engine.record import ALLOWED, JOKER, KEEP_SHIFT, WITH_JOKERS
from azulsim.engine.scoring import address_of_place

NO_MOVE, NO_ROUND, BAD_PLACE = -10, -11, -12
"""Why a replay stopped, beside the failures of `driver`: the log has no more rows, or a tile went where none may."""

MAX_SOURCE, MAX_COLOR, MAX_LINE = 11, 10, 5

SPAN = np.dtype(
    [
        ("status", "i8"),  # IS_OVER, or why the replay stopped
        ("move", "i8"),  # the first logged row, then how many were replayed
        ("n_moves", "i8"),
        ("round", "i8"),
        ("n_rounds", "i8"),  # rows
    ],
    align=True,
)
"""Where the rows of a game are in the log, and how far they were replayed."""


class Logged(NamedTuple):
    """The columns of a shard's log that are played again."""

    game: npt.NDArray[np.int64]
    ply: npt.NDArray[np.uint16]
    source: npt.NDArray[np.uint8]
    color: npt.NDArray[np.uint8]
    line: npt.NDArray[np.uint8]
    jokers: npt.NDArray[np.uint8]
    round_game: npt.NDArray[np.int64]
    """Of `rounds`, as the next two."""
    round: npt.NDArray[np.uint16]
    tiled: npt.NDArray[np.int32]


@compiled
def place_as_logged(game: Any, seat_number: Any, line: Any, columns: Any, decision_key: Any, seat: Any) -> Any:
    """Return the column that the log says; the seat's `params` is the address of one `rounds.tiled`, as an int64."""
    tiled = numba.carray(as_pointer(seat.params), 1, np.int64)
    return (tiled[0] >> (6 * (line - 1))) & 7


def find_place_address() -> int:
    """Return the address of `place_as_logged`, for `SEAT.place`."""
    return address_of_place(place_as_logged)


def _make_replay_games(is_general: bool) -> Any:
    is_legal, advance, log_move, end_round = PIECES[is_general]
    find_keeps = general.find_keeps

    @compiled(key=f"is_general={is_general}")
    def find_code(game: Any, logged: Any, m: Any) -> Any:
        """Return the code of a logged move, -1 if it is none; it need not be legal."""
        source, color, line = np.int64(logged.source[m]), np.int64(logged.color[m]), np.int64(logged.line[m])
        if source > MAX_SOURCE or color > MAX_COLOR or line > MAX_LINE:
            return -1
        if color <= JOKER:
            return source << 6 | color << 3 | line
        color -= JOKER + 1
        code = source << 6 | color << 3 | line | WITH_JOKERS
        if is_general and find_keeps(game, code)[1] > 0:
            code |= (np.int64(min(logged.jokers[m], 7)) + 1) << KEEP_SHIFT
        return code

    @compiled(key=f"is_general={is_general}", is_borrowing=True)
    def replay_games(
        games: Any,
        lives: Any,
        template: Any,
        plan: Any,
        seats: Any,
        tiled: Any,
        numbers: Any,
        n_seatings: Any,
        logged: Any,
        log: Any,
        spans: Any,
    ) -> Any:
        game, live = games[0], lives[0]
        allowed = make_record(ALLOWED)
        ledger = make_record(LEDGERS).of_seat
        n_moves, n_rounds = len(logged.game), len(logged.round_game)
        m = r = 0
        for i in range(len(numbers)):
            span, number = spans[i], numbers[i]
            games[0] = template
            span.move, span.round = m, r
            first_row = log.used[1]
            status = begin_game(
                game, live, plan, plan.first_deal + number // n_seatings, number % n_seatings, ledger, log
            )
            while status == GOES_ON:
                if m >= n_moves or (logged.game[m] != live.game and logged.ply[m] != live.ply):
                    status = NO_MOVE
                    break
                allowed.mask, allowed.open = game.mask, game.open[game.seat]
                if is_general:
                    allowed.joker_mask = game.joker_mask
                code = find_code(game, logged, m)
                if not is_legal(game, allowed, code):
                    status = BAD_MOVE
                    break
                log_move(game, live, code, plan, log.moves[log.used[2]])
                log.used[2] += 1
                m += 1
                if advance(game, live, code):
                    if r + game.players > n_rounds or (
                        logged.round_game[r] != live.game and logged.round[r] != game.round
                    ):
                        status = NO_ROUND
                        break
                    for seat in range(game.players):
                        tiled[seat] = logged.tiled[r + seat]
                    status = end_round(game, live, seats, ledger, plan, log)
                    if status in (GOES_ON, IS_OVER):
                        r += game.players
                    elif status == BAD_MOVE:
                        status = BAD_PLACE
            span.status, span.n_moves, span.n_rounds = status, m - span.move, r - span.round
            log.used[1] = first_row + r - span.round  # without the rows of a round that was not finished
            while m < n_moves and (logged.game[m] == live.game or (status != IS_OVER and logged.ply[m] != 0)):
                m += 1
            while r < n_rounds and (logged.round_game[r] == live.game or (status != IS_OVER and logged.round[r] != 1)):
                r += 1
        return m, r

    return replay_games


_REPLAY_GAMES = {is_general: _make_replay_games(is_general) for is_general in (False, True)}


def replay_games(
    games: Any,
    lives: Any,
    template: Any,
    plan: Any,
    seats: Any,
    tiled: npt.NDArray[np.int64],
    numbers: npt.NDArray[np.int64],
    n_seatings: int,
    logged: Logged,
    log: Log,
    spans: npt.NDArray[Any],
) -> tuple[int, int]:
    """Replay games of a block from their logged moves.

    Parameters
    ----------
    games, lives, template, plan
        As for `driver.play_games`.
    seats : SEAT[players]
        Each with `place_as_logged` and the address of its element of `tiled`.
    tiled : int64[players]
    numbers : int64[n]
        Which games of the block: `deal number * n_seatings + seating`, ascending.
    log : Log
        With room for the logged rows and two rounds more.
    spans : SPAN[n]
        Filled: what became of each game.

    Returns
    -------
    (int, int)
        The logged rows of moves and of rounds that were read or passed over; all, unless rows of no game follow.
    """
    replay = _REPLAY_GAMES[bool(template["is_general"])]
    m, r = replay(games, lives, template, plan, seats, tiled, numbers, n_seatings, logged, log, spans)
    return int(m), int(r)
