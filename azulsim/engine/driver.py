"""The drivers: whole games played and logged in one compiled call, or many games in lockstep, a move at a time.

Both begin, advance and log games by the same functions, so that they cannot differ in anything but speed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from azulsim.engine import core, general, moves
from azulsim.engine import denial as colored_denial
from azulsim.engine.compiling import as_pointer, compiled, lowest_bit, make_record, widen
from azulsim.engine.core import LEDGERS, count_tiles, deal, lane, settle
from azulsim.engine.luck import below, derive, game_key, next_key, step_key
from azulsim.engine.moves import NO_MOVE, keep_best
from azulsim.engine.narrowing import narrow
from azulsim.engine.record import ALLOWED, GAME, JOKER, SOURCE_LANES, WITH_JOKERS
from azulsim.engine.scoring import NOT_A_NUMBER, call_move, call_place
from azulsim.engine.table import allow_all, count_legal, fill_denials, fill_moves, is_allowed
from azulsim.rules import MAX_PLAYERS
from azulsim.schema import CELL_SHIFT, COLOR_NAMES, DEAL_SHIFT, GAMES, MAX_SEATINGS, MOVES, NOT_LOGGED, ROUNDS, Depth

LIVE = np.dtype(
    [
        ("game", "i8"),
        ("deal_key", "u8"),
        ("seat_keys", "u8", MAX_PLAYERS),
        ("turn_keys", "u8", MAX_PLAYERS),  # where the stream of decision keys of each seat is in this round
        ("round_row", "i8"),  # row of seat 0 in the log of the round being played
        ("floor_loss", "i4", MAX_PLAYERS),
        ("deal", "u4"),
        ("ply", "u2"),
        ("wall_points", "i2", MAX_PLAYERS),
        ("floor_paid", "i2", MAX_PLAYERS),
        ("marker_takes", "u2", MAX_PLAYERS),
        ("seating", "u1"),
        ("is_forced", "?"),  # whoever took the marker in this round had no other move
        # of a game that takes roots
        ("root_row", "i8"),  # first of its rows for decisions
        ("n_choices", "u2"),  # decisions so far in which the marker could be taken or left
        # of a game played on from a root
        ("root_round", "u2"),
        ("held", "i1"),  # who held the marker at the end of that round
        ("next_starter", "i1"),  # who starts the round after; -1: there is none
        ("heir", "i1"),  # who is to hold the marker at the end of that round, instead, plus HEIRS; 0: as it is played
        ("first", "i4"),  # code of the move that is played first, plus 1; 0: the strategy chooses
    ],
    align=True,
)
"""What a game being played has beside its record: the keys of its luck, and running totals for the log."""

PLAN = np.dtype(
    [
        ("deal_root", "u8"),
        ("decision_root", "u8"),
        ("cell", "i8"),
        ("first_deal", "i8"),
        ("depth", "i1"),  # 0 games, 1 rounds, 2 moves
        ("logs_denial", "i1"),
        ("must_deal", "i1"),  # 1: a round that cannot be dealt is an error (`no_tiles = "error"`)
        ("root_rounds", "u8"),  # rounds before which a root is taken: bit r for round r, bit 63 for all from 63 on
        ("per_game", "i1"),  # roots taken from the decisions of a game in which the marker could be taken or left
        ("is_probing", "?"),  # games are played on from roots
        ("specs", "u2", (MAX_SEATINGS, MAX_PLAYERS)),  # codes of the strategies, by seating and seat
    ],
    align=True,
)
"""What all games of one block share."""

NO_ROOT, DECISION_ROOT, TEMPO_ROOT = 0, 1, 2

ROOT = np.dtype(
    [
        ("game", "i8"),
        ("turn_key", "u8"),  # of a decision: where the stream of decision keys of the seat to move was
        ("deal", "u4"),
        ("round", "u2"),
        ("ply", "u2"),
        ("n_choices", "u2"),
        ("seating", "u1"),
        ("seat", "u1"),
        ("kind", "i1"),  # NO_ROOT in rows kept free
        ("took", "?"),
    ],
    align=True,
)
"""A position taken from a game, besides its record: before a round is dealt, or before a move."""

JOB = np.dtype(
    [("root", "i8"), ("code", "i4"), ("continuation", "u2"), ("arm", "i1"), ("heir", "i1"), ("held", "i1"),
     ("next_starter", "i1")],
    align=True,
)  # fmt: skip
"""A game to be played on from a root; the last two say what became of it, as in LIVE.

For a decision `code` is the move played first (-1: none, the strategy is asked what it would do); before a round `arm`
is the seat that is given the marker, in round 1 the starter.
"""

HEIRS = 2
"""What is added to a seat, or to -1 for nobody, to tell an heir from none."""

DEPTH_NUMBERS: dict[Depth, int] = {"games": 0, "rounds": 1, "moves": 2}

GOES_ON, IS_OVER = 0, 1
BLOCK_DONE, BUFFER_FULL, BAD_MOVE, BAD_NUMBER, CANNOT_DEAL = 10, 11, -1, -2, -3
"""Answers of the drivers; negative ones are failures of the game in `live`."""

PLACE_KEYS = 1 << 16
"""Where the keys of placing decisions stand, beyond those of moves."""

_LETTERS = np.frombuffer("".join(COLOR_NAMES).encode(), np.uint8)
_EMPTY = np.uint8(ord("."))

_ROUNDS = np.dtype([(c.name, c.dtype) for c in ROUNDS.columns if c.name != "displays"], align=True)
"""A row of `rounds` without its text column, whose width differs from cell to cell."""


class Log(NamedTuple):
    """Buffers that the drivers fill, and how many rows of each are used."""

    games: npt.NDArray[Any]
    rounds: npt.NDArray[Any]
    displays: npt.NDArray[np.uint8]
    """uint8[rows of rounds, displays * tiles per display]: letters in the rows of seat 0, else zeros."""
    moves: npt.NDArray[Any]
    roots: npt.NDArray[Any]
    positions: npt.NDArray[Any]
    """GAME[rows of roots]"""
    used: npt.NDArray[np.int64]
    """int64[4]: rows used of games, rounds, moves, roots."""

    @property
    def sizes(self) -> Rows:
        """Rows that there is room for."""
        return len(self.games), len(self.rounds), len(self.moves), len(self.roots)


Rows = tuple[int, int, int, int]
"""Numbers of rows of games, rounds, moves and roots."""


def make_log(rows: Rows, text_width: int) -> Log:
    """Return empty buffers of the given numbers of rows."""
    n_games, n_rounds, n_moves, n_roots = rows
    return Log(
        np.zeros(n_games, GAMES.dtype()),
        np.zeros(n_rounds, _ROUNDS),
        np.zeros((n_rounds, text_width), np.uint8),
        np.zeros(n_moves, MOVES.dtype()),
        np.zeros(n_roots, ROOT),
        np.zeros(n_roots, GAME),
        np.zeros(4, np.int64),
    )


def grow_log(log: Log, need: Rows) -> Log:
    """Return a log with room for `need` more rows of each table, its rows kept."""
    n_games, n_rounds, n_moves, n_roots = [
        size if used + more <= size else max(2 * size, int(used) + more)
        for size, used, more in zip(log.sizes, log.used, need, strict=True)
    ]
    wanted = n_games, n_rounds, n_moves, n_roots
    if wanted == log.sizes:
        return log
    larger = make_log(wanted, log.displays.shape[1])
    for name in Log._fields:
        old = getattr(log, name)
        getattr(larger, name)[: len(old)] = old
    return larger


def join_displays(log: Log) -> npt.NDArray[Any]:
    """Return the used rows of `rounds` with their text, which is the last column; copied as bytes, for speed."""
    n, width = int(log.used[1]), log.displays.shape[1]
    dtype = ROUNDS.dtype(width)
    rows = np.zeros(n, dtype)
    raw = rows.view(np.uint8).reshape(n, dtype.itemsize)
    raw[:, : _ROUNDS.itemsize] = log.rounds[:n].view(np.uint8).reshape(n, _ROUNDS.itemsize)
    start = dtype.fields["displays"][1]  # type: ignore[index]
    raw[:, start : start + width] = log.displays[:n]
    return rows


@compiled(is_borrowing=True)
def begin_game(game: Any, live: Any, plan: Any, deal_number: Any, seating: Any, ledger: Any, log: Any) -> Any:
    """Set up one game of a block and deal its first round; return GOES_ON, IS_OVER or CANNOT_DEAL."""
    cell = plan.cell
    live.game = (cell << CELL_SHIFT) | (deal_number << DEAL_SHIFT) | seating
    start_clock(live, plan, deal_number, seating, 0, game.players)
    live.root_row, live.n_choices = log.used[3], 0
    log.used[3] += plan.per_game
    for row in range(live.root_row, log.used[3]):
        log.roots[row].kind = NO_ROOT
    return begin_round(game, live, ledger, plan, log)


@compiled
def start_clock(live: Any, plan: Any, deal_number: Any, seating: Any, continuation: Any, players: Any) -> None:
    """Set the keys of a game's luck, and its running totals to 0."""
    live.deal, live.seating, live.ply = deal_number, seating, 0
    live.root_round = live.heir = live.first = 0
    live.deal_key = game_key(plan.deal_root, deal_number, continuation)
    decisions = derive(game_key(plan.decision_root, deal_number, continuation), seating)
    for seat in range(players):
        live.seat_keys[seat] = derive(decisions, seat)
        live.wall_points[seat] = live.floor_loss[seat] = live.floor_paid[seat] = live.marker_takes[seat] = 0


@compiled(is_borrowing=True)
def take_root(game: Any, live: Any, log: Any, row: Any) -> Any:
    """Copy the position of a game to a row of the roots, and return that row."""
    root = log.roots[row]
    log.positions[row] = game
    root.game, root.deal, root.seating, root.ply = live.game, live.deal, live.seating, live.ply
    return root


@compiled(is_borrowing=True)
def take_tempo_root(game: Any, live: Any, plan: Any, log: Any) -> Any:
    """Take a root before a round is dealt, if one is wanted before this round; return its row, or -1."""
    number = game.round + 1
    if (plan.root_rounds >> np.uint64(min(number, 63))) & np.uint64(1) == np.uint64(0):
        return -1
    row = log.used[3]
    log.used[3] += 1
    root = take_root(game, live, log, row)
    root.kind, root.round = TEMPO_ROOT, number
    return row


@compiled(is_borrowing=True)
def consider_decision(game: Any, live: Any, plan: Any, log: Any, code: Any) -> None:
    """Take a decision as a root, if the marker can be taken with tiles or left, and it is drawn.

    Of all such decisions of a game each is kept as likely as the others (reservoir sampling, Vitter 1985).
    """
    if game.holder >= 0 or game.sources[0] == 0 or (game.mask & ~SOURCE_LANES == 0 and game.joker_mask & ~1 == 0):
        return
    seen = widen(live.n_choices)
    live.n_choices = seen + 1
    at = seen
    if seen >= plan.per_game:
        at = below(derive(derive(live.deal_key, ROOT_KEYS + live.seating), seen), seen + 1)
    if at < plan.per_game:
        root = take_root(game, live, log, live.root_row + at)
        root.kind, root.round, root.seat = DECISION_ROOT, game.round, game.seat
        root.turn_key, root.took = live.turn_keys[game.seat], (code >> 6) & 15 == 0


ROOT_KEYS = 1 << 20
"""Where the keys that draw roots stand under the key of a deal, beyond those of its rounds."""


class Start(NamedTuple):
    """What games are begun from: an empty table with the rules, or jobs and the roots that they go on from."""

    template: Any
    """GAME"""
    jobs: npt.NDArray[Any]
    roots: npt.NDArray[Any]
    positions: npt.NDArray[Any]
    """GAME[roots]"""


def make_start(template: Any) -> Start:
    """Return what games from the first move on are begun from."""
    return Start(template, np.zeros(0, JOB), np.zeros(0, ROOT), np.zeros(0, GAME))


@compiled(is_borrowing=True)
def begin_numbered(games: Any, slot: Any, live: Any, number: Any, n_seatings: Any, start: Any, plan: Any, ledger: Any,
                   log: Any) -> Any:  # fmt: skip
    """Set up game or job `number` in a slot; return GOES_ON, IS_OVER or CANNOT_DEAL."""
    if plan.is_probing:
        job = start.jobs[number]
        games[slot] = start.positions[job.root]
        return begin_job(games[slot], live, job, start.roots[job.root], number, ledger, plan, log)
    games[slot] = start.template
    deal_number, seating = plan.first_deal + number // n_seatings, number % n_seatings
    return begin_game(games[slot], live, plan, deal_number, seating, ledger, log)


@compiled(is_borrowing=True)
def begin_job(game: Any, live: Any, job: Any, root: Any, number: Any, ledger: Any, plan: Any, log: Any) -> Any:
    """Set up a game that is played on from a root, whose position it is in; answers as `begin_numbered`."""
    start_clock(live, plan, root.deal, root.seating, job.continuation, game.players)
    live.game, live.ply = number, root.ply
    live.root_round, live.heir, live.held, live.next_starter = root.round, job.heir, -1, -1
    if root.kind == TEMPO_ROOT:
        if game.round == 0:
            game.starter = job.arm
        else:
            game.holder = job.arm
        return begin_round(game, live, ledger, plan, log)
    for seat in range(game.players):
        live.turn_keys[seat] = derive(live.seat_keys[seat], game.round)
    if job.code < 0:
        live.turn_keys[game.seat] = root.turn_key
    live.first = job.code + 1
    return GOES_ON


@compiled(is_borrowing=True)
def begin_round(game: Any, live: Any, ledger: Any, plan: Any, log: Any) -> Any:
    """Deal the next round and open its rows in the log; at the end of the game, close it."""
    root_row = take_tempo_root(game, live, plan, log)
    if not deal(game, live.deal_key):
        if root_row >= 0:
            log.used[3] = root_row  # there is no such round
        if plan.must_deal:
            return CANNOT_DEAL
        finish_game(game, live, ledger, plan, log)
        return IS_OVER
    if root_row >= 0:
        log.roots[root_row].seat = game.starter
    if game.round == live.root_round + 1:
        live.next_starter = game.starter
    for seat in range(game.players):
        live.turn_keys[seat] = derive(live.seat_keys[seat], game.round)
    if plan.depth >= 1:
        live.round_row = log.used[1]
        log.used[1] += game.players
        is_short = write_displays(game, log.displays[live.round_row])
        for seat in range(game.players):
            row = log.rounds[live.round_row + seat]
            row.game, row.round, row.seat = live.game, game.round, seat
            row.starter = game.starter
            row.bag, row.lid = game.n_bag, count_tiles(game.lid)
            row.is_short = is_short
            row.score_before = game.score[seat]
    return GOES_ON


@compiled(is_borrowing=True)
def write_displays(game: Any, text: Any) -> bool:
    """Write the displays as letters, each sorted by color and padded with dots; return True if any is short."""
    is_short = False
    at = 0
    for display in range(1, game.n_displays + 1):
        end = at + game.per_display
        for color in range(6):
            for _ in range(lane(game.sources[display], color)):
                text[at] = _LETTERS[color]
                at += 1
        is_short |= at < end
        while at < end:
            text[at] = _EMPTY
            at += 1
    return is_short


@compiled
def decision_key(game: Any, live: Any) -> Any:
    """Return the key of the decision that the seat to move has before it: by game, seat, round and own turn."""
    return next_key(live.turn_keys[game.seat])


class _Pieces(NamedTuple):
    """What differs between the printed wall (`engine.core`) and all others (`engine.general`): compiled functions."""

    is_allowed: Any
    advance: Any
    log_move: Any
    end_round: Any


def _make_pieces(is_general: bool) -> _Pieces:
    key = f"is_general={is_general}"
    play = general.play if is_general else core.play
    tile_printed, general_is_allowed, printed_is_allowed = core.tile, general.is_allowed, moves.is_allowed
    exact_gain = general.exact_gain if is_general else moves.exact_gain
    denial = general.denial if is_general else colored_denial.denial
    split_take, count_printed = general.split_take, moves.count_legal

    @compiled(key=key)
    def is_legal(game: Any, allowed: Any, code: Any) -> bool:
        if is_general:
            return general_is_allowed(game, allowed, code)
        return printed_is_allowed(allowed, code)

    @compiled(key=key)
    def advance(game: Any, live: Any, code: Any) -> bool:
        """Play a legal move; return True if it ended the round, for `end_round` to go on."""
        if game.holder < 0 and (code >> 6) & 15 == 0:
            live.is_forced = game.mask & ~SOURCE_LANES == 0 and game.joker_mask & ~1 == 0
        live.turn_keys[game.seat] = step_key(live.turn_keys[game.seat])
        live.ply += 1
        return play(game, code)

    @compiled(key=key)
    def log_move(game: Any, live: Any, code: Any, plan: Any, row: Any) -> None:
        """Fill a row of `moves` for the move about to be played."""
        source, color, line = (code >> 6) & 15, (code >> 3) & 7, code & 7
        seat = widen(game.seat)
        row.game, row.ply, row.round, row.seat = live.game, live.ply, game.round, seat
        row.source, row.line = source, line
        if is_general:
            take = split_take(game, code)
            placed, tiles = take.placed_color + take.placed_jokers, take.n_color + take.n_jokers
            row.color = color + JOKER + 1 if code & WITH_JOKERS else color
            row.jokers = take.placed_jokers
        else:
            tiles = lane(game.sources[source], color)
            placed = min(tiles, line - ((widen(game.counts[seat]) >> (4 * line)) & 15)) if line > 0 else 0
            row.color, row.jokers = color, 0
        row.placed, row.overflow = placed, tiles - placed
        row.marker = source == 0 and game.holder < 0
        row.n_legal = count_legal(game) if is_general else count_printed(game)
        row.floor = min(widen(game.floor[seat]), widen(game.n_floor))
        row.gain = exact_gain(game, code)
        row.denial = denial(game, code) if plan.logs_denial else NOT_LOGGED

    @compiled(key=key, is_borrowing=True)
    def end_round(game: Any, live: Any, seats: Any, ledger: Any, plan: Any, log: Any) -> Any:
        """Tile the walls, and deal the next round or end the game; return GOES_ON, IS_OVER or a failure."""
        if is_general:
            status = tile_by_choice(game, live, seats, ledger)
            if status != GOES_ON:
                return status
        else:
            tile_printed(game, ledger)
        for seat in range(game.players):
            entry = ledger[seat]
            live.wall_points[seat] += entry.gain
            live.floor_loss[seat] += entry.penalty
            live.floor_paid[seat] += entry.paid
            live.marker_takes[seat] += game.holder == seat
        if plan.depth >= 1:
            log_tiling(game, live, ledger, plan, log)
        if game.round == live.root_round:
            live.held = game.holder
            if live.heir:
                game.holder = live.heir - HEIRS
        if game.termination == 0:
            return begin_round(game, live, ledger, plan, log)
        finish_game(game, live, ledger, plan, log)
        return IS_OVER

    return _Pieces(is_legal, advance, log_move, end_round)


_columns_of_line, _is_choice, _place_line = general.columns_of_line, general.is_choice, general.place_line
_choose_by_default, _start_tiling, _finish_tiling = (
    general.choose_by_default,
    general.start_tiling,
    general.finish_tiling,
)


@compiled(is_borrowing=True)
def tile_by_choice(game: Any, live: Any, seats: Any, ledger: Any) -> Any:
    """Tile all walls, asking each seat's `place` where it has a choice (6.2); GOES_ON, BAD_MOVE or BAD_NUMBER.

    On a failure `game.seat` says whose it is.
    """
    for seat in range(game.players):
        _start_tiling(ledger[seat])
        key = derive(derive(live.seat_keys[seat], game.round), PLACE_KEYS)
        while game.full[seat]:
            line = lowest_bit(widen(game.full[seat]))
            columns = _columns_of_line(game, seat, line)
            column = 1 + lowest_bit(columns) if columns else 0
            if _is_choice(game, columns):
                if seats[seat].place:
                    column = call_place(seats[seat].place, (game, seat, line, columns, derive(key, line), seats[seat]))
                    is_legal = 0 < column <= 5 and (columns >> (column - 1)) & 1 == 1
                    if not is_legal and not (column == 0 and game.may_decline and game.free != 0):
                        game.seat = seat
                        return BAD_NUMBER if column == NOT_A_NUMBER else BAD_MOVE
                else:
                    column = _choose_by_default(game, seat, line, columns)
            ledger[seat].gain += _place_line(game, seat, line, column, ledger[seat])
    _finish_tiling(game, ledger)
    return GOES_ON


@compiled(is_borrowing=True)
def log_tiling(game: Any, live: Any, ledger: Any, plan: Any, log: Any) -> None:
    """Complete the rows of `rounds` after wall-tiling."""
    for seat in range(game.players):
        entry = ledger[seat]
        row = log.rounds[live.round_row + seat]
        row.holder = game.holder
        row.forced = game.holder == seat and live.is_forced
        row.gain, row.floor = entry.gain, entry.floor
        row.penalty, row.penalty_paid = entry.penalty, entry.paid
        row.marker_price, row.marker_price_paid = entry.price, entry.price_paid
        row.tiled = entry.tiled


@compiled(is_borrowing=True)
def finish_game(game: Any, live: Any, ledger: Any, plan: Any, log: Any) -> None:
    """Add the bonuses and write the rows of `games`."""
    first = log.used[0]
    log.used[0] += game.players
    settle(game, ledger)
    for seat in range(game.players):
        row, entry = log.games[first + seat], ledger[seat]
        row.game, row.cell, row.deal, row.seating = live.game, plan.cell, live.deal, live.seating
        row.players, row.seat, row.spec = game.players, seat, plan.specs[live.seating, seat]
        row.score = game.score[seat]
        row.rows, row.columns, row.colors = entry.rows, entry.columns, entry.colors
        row.placement, row.win_share = entry.placement, entry.win_share
        row.wall_points = live.wall_points[seat]
        row.floor_loss, row.floor_paid = live.floor_loss[seat], live.floor_paid[seat]
        row.bonus_points = entry.bonus
        row.marker_takes = live.marker_takes[seat]
        row.is_ender = entry.rows >= game.rows_to_end
        row.rounds, row.plies, row.termination = game.round, live.ply, game.termination
    for row in range(live.root_row, live.root_row + plan.per_game):
        log.roots[row].n_choices = live.n_choices


@compiled
def clear_workspaces(seats: Any) -> None:
    """Forget what strategies kept from an earlier game."""
    for seat in range(len(seats)):
        n = seats[seat].n_workspace
        if n > 0:
            memory = numba.carray(as_pointer(seats[seat].workspace), n, np.uint8)
            memory[:] = 0


def _make_play_games(logs_moves: bool, is_general: bool) -> Any:
    """Return the compiled driver for one kind of rules, with or without the code that logs moves.

    That code, and that of other rules, slows the loop even where it is not used.
    """
    is_legal, advance, log_move, end_round = PIECES[is_general]

    @compiled(key=f"logs_moves={logs_moves} is_general={is_general}", is_borrowing=True)
    def play_games(
        games: Any, lives: Any, start: Any, plan: Any, seats: Any, first: Any, last: Any, log: Any, reserve: Any
    ) -> Any:
        game, live = games[0], lives[0]
        allowed, ledger = make_record(ALLOWED), make_record(LEDGERS).of_seat
        moves, used = log.moves, log.used
        n_seatings = len(seats)
        number = first
        while number < last:
            if (
                log.used[0] + reserve[0] > len(log.games)
                or log.used[1] + reserve[1] > len(log.rounds)
                or log.used[2] + reserve[2] > len(log.moves)
                or log.used[3] + reserve[3] > len(log.roots)
            ):
                return BUFFER_FULL, number
            status = begin_numbered(games, 0, live, number, n_seatings, start, plan, ledger, log)
            seating = widen(live.seating)
            clear_workspaces(seats[seating])
            if status == GOES_ON and live.first and advance(game, live, live.first - 1):
                status = end_round(game, live, seats[seating], ledger, plan, log)
            while status == GOES_ON:
                allowed.mask, allowed.open = game.mask, game.open[game.seat]
                if is_general:
                    allowed.joker_mask = game.joker_mask
                seat = seats[seating, game.seat]
                code = call_move(seat.move, (game, allowed, decision_key(game, live), seat))
                if not is_legal(game, allowed, code):
                    return BAD_NUMBER if code == NOT_A_NUMBER else BAD_MOVE, number
                if logs_moves:
                    log_move(game, live, code, plan, moves[used[2]])
                    used[2] += 1
                    if plan.per_game:
                        consider_decision(game, live, plan, log, code)
                if advance(game, live, code):
                    status = end_round(game, live, seats[seating], ledger, plan, log)
            if status < 0:
                return status, number
            if plan.is_probing:
                tell_job(live, start.jobs[number])
            number += 1
        return BLOCK_DONE, number

    return play_games


PIECES = {is_general: _make_pieces(is_general) for is_general in (False, True)}
"""The compiled pieces of a game's course, by whether `engine.general` plays it."""
_PLAY_GAMES = {
    (logs_moves, is_general): _make_play_games(logs_moves, is_general)
    for logs_moves in (False, True)
    for is_general in (False, True)
}


def play_games(
    games: Any, lives: Any, start: Start, plan: Any, seats: Any, first: int, last: int, log: Log, reserve: Any
) -> tuple[int, int]:
    """Play games (or jobs) number `first` to `last` - 1 of a block, one after another, by compiled strategies.

    Parameters
    ----------
    games, lives : GAME[1], LIVE[1]
        The game being played; on failure they tell where it was.
    start : Start
        What the games begin from; what becomes of jobs is told there.
    plan : PLAN
    seats : SEAT[n_seatings, n_players]
        Game number i is deal `i // n_seatings` (from the block's first) in seating `i % n_seatings`.
    log : Log
    reserve : int64[4]
        Rows of each table that one game may need: with less room the call returns early.

    Returns
    -------
    (int, int)
        A status (BLOCK_DONE, BUFFER_FULL, or a failure) and the number of the game to go on with.
    """
    logs_moves = bool(plan["depth"] >= DEPTH_NUMBERS["moves"])
    is_general = bool(start.template["is_general"])
    return _PLAY_GAMES[logs_moves, is_general](games, lives, start, plan, seats, first, last, log, reserve)


@compiled
def tell_job(live: Any, job: Any) -> None:
    """Tell in a job what became of the game that was played on."""
    job.held, job.next_starter = live.held, live.next_starter


@compiled(is_borrowing=True)
def begin_slots(
    games: Any, lives: Any, slots: Any, numbers: Any, n_seatings: Any, start: Any, plan: Any, ledger: Any, log: Any,
    statuses: Any,
) -> None:  # fmt: skip
    """Set up games (or jobs) `numbers` in the given slots of a lockstep; `statuses` says what became of each.

    A game that is played on from a root may be over before its first move; a first round always has a tile.
    """
    for i in range(len(slots)):
        slot = slots[i]
        statuses[i] = begin_numbered(games, slot, lives[slot], numbers[i], n_seatings, start, plan, ledger, log)


@compiled(is_borrowing=True)
def fill_slots(games: Any, lives: Any, slots: Any, seats: Any, out: Any, offsets: Any, keys: Any) -> None:
    """Describe the moves among which the seat to move may choose, in the games in some slots.

    Parameters
    ----------
    slots : int64[n]
    seats : SEAT[n]
        Who is to move in each slot.
    out : MOVE[n * MAX_LEGAL]
        The moves of slot i are `out[offsets[i]:offsets[i + 1]]`; their `denial` is left to `fill_denials_of_slots`.
    offsets : int64[n + 1]
    keys : uint64[n]
        The key of each decision.
    """
    allowed = make_record(ALLOWED)
    offsets[0] = 0
    for i in range(len(slots)):
        game = games[slots[i]]
        allow_all(game, allowed)
        keys[i] = decision_key(game, lives[slots[i]])
        narrow(game, allowed, keys[i], seats[i])
        offsets[i + 1] = offsets[i] + fill_moves(game, allowed, out[offsets[i] :])


@compiled(is_borrowing=True)
def fill_denials_of_slots(games: Any, slots: Any, out: Any, offsets: Any) -> None:
    """Fill in the denial of the moves that `fill_slots` has described."""
    for i in range(len(slots)):
        if offsets[i] < offsets[i + 1]:
            fill_denials(games[slots[i]], out[offsets[i] : offsets[i + 1]])


@compiled(is_borrowing=True)
def pick_best(values: Any, out: Any, offsets: Any, keys: Any, codes: Any) -> None:
    """Choose the best-scored move of each slot, ties broken as in compiled play; NOT_A_NUMBER for a bad score."""
    for i in range(len(keys)):
        best = NO_MOVE
        codes[i] = NOT_A_NUMBER
        for k in range(offsets[i], offsets[i + 1]):
            value = values[k]
            if value - value != 0.0:
                break
            best = keep_best(best, keys[i], value, widen(out[k].code))
        else:
            codes[i] = best.code


@compiled(is_borrowing=True)
def call_slots(games: Any, lives: Any, slots: Any, seats: Any, codes: Any) -> None:
    """Let compiled strategies choose in some slots of a lockstep; `seats` is SEAT[n], one a slot."""
    allowed = make_record(ALLOWED)
    for i in range(len(slots)):
        game = games[slots[i]]
        allow_all(game, allowed)
        codes[i] = call_move(seats[i].move, (game, allowed, decision_key(game, lives[slots[i]]), seats[i]))


_log_printed, _log_general = PIECES[False].log_move, PIECES[True].log_move


@compiled
def describe_moves(positions: Any, codes: Any, plan: Any, rows: Any) -> None:
    """Fill a row of `moves` for a move in each of some positions; `rows` is MOVES[n]."""
    live = make_record(LIVE)
    for i in range(len(codes)):
        if positions[i].is_general:
            _log_general(positions[i], live, codes[i], plan, rows[i])
        else:
            _log_printed(positions[i], live, codes[i], plan, rows[i])


_advance_printed, _advance_general = PIECES[False].advance, PIECES[True].advance
_end_printed, _end_general = PIECES[False].end_round, PIECES[True].end_round


@compiled(is_borrowing=True)
def advance_slots(
    games: Any, lives: Any, slots: Any, codes: Any, seats: Any, ledger: Any, plan: Any, log: Any, statuses: Any
) -> None:
    """Play a chosen move in each slot; `statuses` says what became of each game (BAD_MOVE if it was not legal).

    `seats` is SEAT[slots, players]: who sits in each slot's game, asked for placing decisions.
    """
    allowed = make_record(ALLOWED)
    for i in range(len(slots)):
        game, live, code = games[slots[i]], lives[slots[i]], codes[i]
        allow_all(game, allowed)
        if not is_allowed(game, allowed, code):
            statuses[i] = BAD_NUMBER if code == NOT_A_NUMBER else BAD_MOVE
            continue
        if plan.depth >= 2:
            row = log.moves[log.used[2]]
            log.used[2] += 1
            if game.is_general:
                _log_general(game, live, code, plan, row)
            else:
                _log_printed(game, live, code, plan, row)
            if plan.per_game:
                consider_decision(game, live, plan, log, code)
        statuses[i] = GOES_ON
        is_round_over = _advance_general(game, live, code) if game.is_general else _advance_printed(game, live, code)
        if is_round_over:
            if game.is_general:
                statuses[i] = _end_general(game, live, seats[slots[i]], ledger, plan, log)
            else:
                statuses[i] = _end_printed(game, live, seats[slots[i]], ledger, plan, log)
