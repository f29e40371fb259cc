"""Seats strategies and plays blocks of deals: compiled when all of them are, else many games in lockstep.

Both ways have one contract: the same block gives the same tables, to the byte.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from azulsim.engine import driver
from azulsim.engine.compiling import address_of
from azulsim.engine.core import LEDGER
from azulsim.engine.driver import LIVE, PLAN, Log, grow_log, make_log, play_games
from azulsim.engine.luck import DEAL_DOMAIN, DECISION_DOMAIN, root_key
from azulsim.engine.move import MOVE, Move
from azulsim.engine.record import GAME, MAX_LEGAL, SEAT, make_template
from azulsim.engine.table import play
from azulsim.errors import RunError, StrategyError
from azulsim.registry import make_strategy
from azulsim.rules import MAX_PLAYERS, Rules
from azulsim.schema import GAMES, MOVES, ROUNDS, Depth, empty, game_id
from azulsim.strategy import Moves, Strategy, View
from azulsim.strategy.definition import Speed
from azulsim.strategy.view import Columns, DecisionRng

LOCKSTEP = 256
"""Games in lockstep at once: enough to spread the cost of a call, few enough to stay in cache."""

LOCKSTEP_MEMORY = 1 << 28
"""Bytes that the own memory of compiled strategies may take in lockstep; with more, fewer games go at once."""

_UNASKED = -(1 << 40)


@dataclass(frozen=True)
class Block:
    """A range of deals of one cell: what a worker plays in one call.

    Attributes
    ----------
    lineup : tuple of str
        The spec of each player; `spec_codes` are their numbers in the run's list of specs.
    seatings : tuple of tuples
        Each gives, for every seat, the player (index into `lineup`) that sits there; all are played on each deal.
    denial : bool
        True to log the denial of each move, which doubles the cost of greedy play.
    """

    cell: int
    players: int
    rules: Rules
    lineup: tuple[str, ...]
    spec_codes: tuple[int, ...]
    seatings: tuple[tuple[int, ...], ...]
    seed: int
    first_deal: int
    n_deals: int
    depth: Depth = "games"
    denial: bool = False


@dataclass
class Tables:
    """What a block brought: structured arrays with the dtypes of `schema`, rows in canonical order.

    A deal in which a strategy failed is left out of all of them and has rows in `failures` instead.
    """

    games: npt.NDArray[Any]
    rounds: npt.NDArray[Any]
    moves: npt.NDArray[Any]
    failures: list[dict[str, Any]] = field(default_factory=list)


class Pulse:
    """Memory in which a block being played shows where it is, so that another process can watch it.

    Attributes
    ----------
    games, lives : GAME[1], LIVE[1]
        The game being played, if games are played one after another.
    beats : int64[1]
        Grows while games are played in lockstep: with each question to a strategy in plain Python, and with each round
        of questions to a compiled one.

    Parameters
    ----------
    memory : buffer, optional
        `Pulse.SIZE` writable bytes, such as memory that two processes share; memory of its own if left out.
    """

    _LIVE_AT = -(-GAME.itemsize // 64) * 64
    _BEATS_AT = _LIVE_AT + -(-LIVE.itemsize // 64) * 64
    SIZE = _BEATS_AT + 64

    def __init__(self, memory: Any = None) -> None:
        memory = np.zeros(self.SIZE, np.uint8) if memory is None else memory
        self.games = np.frombuffer(memory, GAME, 1)
        self.lives = np.frombuffer(memory, LIVE, 1, self._LIVE_AT)
        self.beats = np.frombuffer(memory, np.int64, 1, self._BEATS_AT)

    def clear(self) -> None:
        """Forget the game and the beats."""
        for array in (self.games, self.lives, self.beats):
            array.view(np.uint8)[:] = 0

    @property
    def mark(self) -> tuple[int, int]:
        """What has changed whenever playing has gone on."""
        return int(self.beats[0]), int(self.lives["game"][0])


def play_block(
    block: Block,
    *,
    speed: Speed | None = None,
    project: Path | None = None,
    strategies: Sequence[Strategy] | None = None,
    games: range | None = None,
    pulse: Pulse | None = None,
    limit: float = math.inf,
) -> Tables:
    """Play every deal of a block in every seating.

    Parameters
    ----------
    speed : str, optional
        Run every strategy at this speed; the fastest each can if left out.
    project : Path, optional
        Folder in which the specs of plugged-in strategies are looked up.
    strategies : sequence of Strategy, optional
        The players themselves, in the order of the line-up, instead of those its specs name.
    games : range, optional
        Play only these of the block's games: number i is deal `i // n_seatings` (from the block's first) in seating
        `i % n_seatings`.
    pulse : Pulse, optional
        Where to show how far it is.
    limit : float
        Seconds that strategies in plain Python may think about one game. Other code that does not come back can only
        be stopped from outside.

    Raises
    ------
    RunError
        If a round cannot be dealt under rules with `no_tiles = "error"`.
    """
    if strategies is None:
        strategies = make_players(block.lineup, speed=speed, project=project)
    return _Blockplay(block, strategies, games, pulse, limit).play()


def warm_up(block: Block, strategies: Sequence[Strategy]) -> None:
    """Compile all that playing a block takes: fill its seats, and let `greedy` play a game at the same speeds."""
    _Blockplay(block, strategies).make_seats()
    stand_ins = [make_strategy("greedy", speed=strategy.speed) for strategy in strategies]
    play_block(block, strategies=stand_ins, games=range(1))


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


class _Blockplay:
    """One block being played."""

    def __init__(
        self,
        block: Block,
        strategies: Sequence[Strategy],
        games: range | None = None,
        pulse: Pulse | None = None,
        limit: float = math.inf,
    ) -> None:
        self.block = block
        self.strategies = strategies
        self.games = range(block.n_deals * len(block.seatings)) if games is None else games
        self.pulse = pulse or Pulse()
        self.limit = limit
        self.template = make_template(block.rules, block.players)
        self.is_general = bool(self.template["is_general"][0])
        self.plan = np.zeros(1, PLAN)
        self.plan["deal_root"] = root_key(block.seed, DEAL_DOMAIN)
        self.plan["decision_root"] = root_key(block.seed, DECISION_DOMAIN)
        self.plan["cell"], self.plan["first_deal"] = block.cell, block.first_deal
        self.plan["depth"], self.plan["logs_denial"] = driver.DEPTH_NUMBERS[block.depth], block.denial
        self.plan["must_deal"] = block.rules.no_tiles == "error"
        self.failures: dict[int, dict[str, Any]] = {}

    def play(self) -> Tables:
        if all(strategy.speed == "compiled" for strategy in self.strategies):
            log = self._play_compiled()
        else:
            log = _Lockstep(self).play()
        return self._make_tables(log)

    def make_seats(self) -> npt.NDArray[Any]:
        """Return SEAT[n_seatings, players]: who sits where, without the memory that some ask for."""
        seats = np.zeros((len(self.block.seatings), self.block.players), SEAT)
        for row, seating in zip(seats, self.block.seatings, strict=True):
            for seat, player in enumerate(seating):
                self.strategies[player].fill_seat(row[seat], is_general=self.is_general)
        return seats

    def memory_size(self) -> int:
        """Return the bytes of own memory of one seat: what the most demanding player asks for, in whole cache lines."""
        most = max(strategy.definition.workspace for strategy in self.strategies)
        return (most + 63) // 64 * 64

    def reserve(self) -> tuple[int, int, int]:
        """Return the rows of each table that one game can need at most."""
        players, rules = self.block.players, self.block.rules
        depth = int(self.plan["depth"][0])
        moves = min(_text_width(self.block), 5 * rules.tiles_per_color) * rules.max_rounds
        return (
            players,
            players * rules.max_rounds if depth >= 1 else 0,
            moves if depth >= 2 else 0,
        )

    def make_log(self, n_games: int) -> Log:
        """Return a log with room for about `n_games` ordinary games; it grows when they are longer."""
        players = self.block.players
        depth = int(self.plan["depth"][0])
        return make_log(
            n_games * players,
            n_games * players * 7 if depth >= 1 else 0,
            n_games * (30 + 20 * players) if depth >= 2 else 0,
            _text_width(self.block),
        )

    def _play_compiled(self) -> Log:
        games, lives, seats = self.pulse.games, self.pulse.lives, self.make_seats()
        reserve = self.reserve()
        reserve_rows = np.array(reserve, np.int64)
        memory = np.zeros((self.block.players, self.memory_size()), np.uint8)
        seats["workspace"] = address_of(memory) + np.arange(self.block.players) * memory.shape[1]
        log = grow_log(self.make_log(len(self.games)), reserve)
        number, end = self.games.start, self.games.stop
        while True:
            try:
                status, number = play_games(
                    games, lives, self.template[0], self.plan[0], seats, number, end, log, reserve_rows
                )
                message = ""
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # whatever an author's compiled code raises
                status, message = driver.BAD_MOVE, _one_line(error)
                number = self._number_of(lives[0])
            if status == driver.BLOCK_DONE:
                return log
            if status == driver.BUFFER_FULL:
                log = grow_log(log, tuple(map(sum, zip(reserve, (int(u) for u in log.used), strict=True))))  # type: ignore[arg-type]
                continue
            self.fail(games[0], lives[0], status, message)
            number += 1

    def _number_of(self, live: Any) -> int:
        deal = int(live["deal"]) - self.block.first_deal
        return deal * len(self.block.seatings) + int(live["seating"])

    def fail(self, game: Any, live: Any, status: int, message: str = "", kind: str = "raised") -> None:
        """Note that a game was spoiled by the strategy in the seat to move."""
        if status == driver.CANNOT_DEAL:
            raise RunError(
                f"cell {self.block.cell}, deal {int(live['deal'])}, seating {int(live['seating'])}: round "
                f"{int(game['round']) + 1} cannot be dealt, bag and lid are empty, and the rules say "
                'no_tiles = "error"'
            )
        seating, seat = int(live["seating"]), int(game["seat"])
        kinds = {driver.BAD_MOVE: "illegal_move", driver.BAD_NUMBER: "not_a_number"}
        texts = {
            driver.BAD_MOVE: "the move is not one of the legal moves",
            driver.BAD_NUMBER: "the score of a move is NaN or infinite",
        }
        failure = _describe_failure(
            self.block,
            int(live["deal"]),
            seating,
            seat,
            int(live["ply"]),
            kind if message else kinds[status],
            message or texts[status],
        )
        self.failures[failure["game"]] = failure

    def _make_tables(self, log: Log) -> Tables:
        """Cut the buffers to size, in canonical order, without the deals that were spoiled."""
        used = [int(n) for n in log.used]
        games, moves = log.games[: used[0]], log.moves[: used[2]]
        rounds = driver.join_displays(log)
        seatings = np.array(self.block.seatings, np.int64)
        codes = np.array(self.block.spec_codes, np.uint16)
        games["spec"] = codes[seatings[games["seating"], games["seat"]]]
        spoiled = {failure["deal"] for failure in self.failures.values()}
        failures = [self.failures[number] for number in sorted(self.failures)]
        return Tables(_tidy(games, spoiled), _tidy(rounds, spoiled), _tidy(moves, spoiled), failures)


def _describe_failure(
    block: Block, deal: int, seating: int, seat: int, ply: int, kind: str, message: str
) -> dict[str, Any]:
    """Return a row of the failures table."""
    return {
        "game": game_id(block.cell, deal, seating),
        "cell": block.cell,
        "deal": deal,
        "seating": seating,
        "seat": seat,
        "spec": block.lineup[block.seatings[seating][seat]],
        "ply": ply,
        "kind": kind,
        "message": message,
    }


def make_failed(block: Block, game: int, seat: int, ply: int, kind: str, message: str) -> Tables:
    """Return the tables of one game of a block, by its number, that failed without coming back."""
    deal, seating = divmod(game, len(block.seatings))
    seat = min(seat, block.players - 1)  # whatever a crash has left in memory
    failure = _describe_failure(block, block.first_deal + deal, seating, seat, ply, kind, message)
    return Tables(empty(GAMES), empty(ROUNDS, _text_width(block)), empty(MOVES), [failure])


def join_tables(parts: Sequence[Tables]) -> Tables:
    """Join the tables of a block's games, in order, to those of the block."""
    failures = [failure for part in parts for failure in part.failures]
    spoiled = {failure["deal"] for failure in failures}
    return Tables(
        games=_tidy(np.concatenate([part.games for part in parts]), spoiled),
        rounds=_tidy(np.concatenate([part.rounds for part in parts]), spoiled),
        moves=_tidy(np.concatenate([part.moves for part in parts]), spoiled),
        failures=failures,
    )


def _text_width(block: Block) -> int:
    return block.rules.n_displays(block.players) * block.rules.tiles_per_display


def _tidy(table: npt.NDArray[Any], spoiled: set[int]) -> npt.NDArray[Any]:
    """Return the rows in order of games (rows of one game keep theirs), without those of spoiled deals."""
    numbers = table["game"]
    if spoiled:
        table = table[~np.isin((numbers >> 8) & 0xFFFFFFFF, list(spoiled))]
        numbers = table["game"]
    if np.any(numbers[1:] < numbers[:-1]):
        table = table[np.argsort(numbers, kind="stable")]
    return table


class _Lockstep:
    """Many games of a block side by side; at each step all games that wait for one player are served together."""

    def __init__(self, block: _Blockplay) -> None:
        self.block = block
        players, size = block.block.players, block.memory_size()
        self.width = min(len(block.games), LOCKSTEP, max(1, LOCKSTEP_MEMORY // max(1, players * size)))
        self.games, self.lives = np.zeros(self.width, GAME), np.zeros(self.width, LIVE)
        if self.width == 1:
            self.games, self.lives = block.pulse.games, block.pulse.lives
        self.thought = [0.0] * self.width
        self.out = np.zeros(self.width * MAX_LEGAL, MOVE)
        self.seats_of = block.make_seats()
        # every game in lockstep has players of its own, with memory of their own
        self.memory = np.zeros((self.width, players, size), np.uint8)
        self.seats = np.zeros((self.width, players), SEAT)
        self.addresses = address_of(self.memory) + np.arange(self.width * players).reshape(-1, players) * size
        self.seatings = np.array(block.block.seatings, np.int64)
        self.ledger = np.zeros(MAX_PLAYERS, LEDGER)
        self.log = block.make_log(len(block.games))
        # players with one strategy between them are served together
        first: dict[int, int] = {}
        self.group_of = np.array(
            [first.setdefault(id(strategy), player) for player, strategy in enumerate(block.strategies)], np.int64
        )

    def play(self) -> Log:
        waiting = iter(self.block.games)
        active = np.arange(self.width)
        self._begin(active, np.array([next(waiting) for _ in active]))
        statuses = np.zeros(self.width, np.int64)
        while len(active):
            codes = self._choose(active)
            self._make_room(len(active))
            driver.advance_slots(
                self.games,
                self.lives,
                active,
                codes,
                self.seats,
                self.ledger,
                self.block.plan[0],
                self.log,
                statuses,
            )
            now = statuses[: len(active)]
            if not now.any():
                continue
            for slot, status in zip(active[now < 0], now[now < 0], strict=True):
                if int(self.lives[slot]["game"]) not in self.block.failures:
                    self.block.fail(self.games[slot], self.lives[slot], int(status))
            done = active[now != driver.GOES_ON]
            numbers = list(islice(waiting, len(done)))
            self._begin(done[: len(numbers)], np.array(numbers, np.int64))
            active = np.setdiff1d(active, done[len(numbers) :])
        return self.log

    def _begin(self, slots: npt.NDArray[np.int64], numbers: npt.NDArray[np.int64]) -> None:
        if len(slots) == 0:
            return
        self._make_room(len(slots))
        block = self.block
        self.memory[slots] = 0
        for slot in slots:
            self.thought[slot] = 0.0
        seats = self.seats_of[numbers % len(self.seatings)]
        seats["workspace"] = self.addresses[slots]
        self.seats[slots] = seats
        driver.begin_slots(
            self.games,
            self.lives,
            slots,
            numbers,
            block.template[0],
            block.plan[0],
            self.seatings,
            self.ledger,
            self.log,
        )

    def _make_room(self, n: int) -> None:
        players = self.block.block.players
        depth = int(self.block.plan["depth"][0])
        need = (n * players, n * players * (depth >= 1), n * (depth >= 2))
        self.log = grow_log(self.log, need)

    def _choose(self, active: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the code of the move chosen in each slot; below 0 where the strategy failed."""
        codes = np.full(len(active), -1, np.int64)
        seats = self.games["seat"][active]
        seatings = self.lives["seating"][active]
        groups = self.group_of[self.seatings[seatings, seats]]
        for player in np.unique(groups):
            at = np.flatnonzero(groups == player)
            slots = active[at]
            strategy = self.block.strategies[player]
            codes[at] = self._ask(strategy, slots, self.seats[slots, seats[at]])
        return codes

    def _ask(
        self,
        strategy: Strategy,
        slots: npt.NDArray[np.int64],
        seats: npt.NDArray[Any],
    ) -> npt.NDArray[np.int64]:
        self.block.pulse.beats += 1
        if strategy.speed == "compiled":
            return self._call(slots, seats)
        codes = np.full(len(slots), -1, np.int64)
        offsets, keys = self._fill(slots, seats)
        if strategy.speed == "batched":
            values = _score_batch(strategy, self.out[: offsets[-1]])
            if values is not None:
                driver.pick_best(values, self.out, offsets, keys, codes)
                return codes
        for i, slot in enumerate(slots):
            records = self.out[offsets[i] : offsets[i + 1]]
            if len(records) == 0:  # a wrapper failed
                continue
            start = time.perf_counter()
            try:
                codes[i] = self._ask_plainly(strategy, records, int(slot), int(keys[i]))
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # whatever an author's code raises, also to exit, costs its own game
                kind = "bad_answer" if isinstance(error, StrategyError) else "raised"
                self.block.fail(self.games[slot], self.lives[slot], driver.BAD_MOVE, _one_line(error), kind)
            self.thought[slot] += time.perf_counter() - start
            if self.thought[slot] > self.block.limit and codes[i] >= 0:
                codes[i] = -1
                text = describe_timeout(self.block.limit)
                self.block.fail(self.games[slot], self.lives[slot], driver.BAD_MOVE, text, "timeout")
            self.block.pulse.beats += 1
        return codes

    def _fill(
        self, slots: npt.NDArray[np.int64], seats: npt.NDArray[Any]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]]:
        """Describe the allowed moves in each slot to `out`; return where they stand, and the keys of the decisions.

        Where a wrapper raises, there are none.
        """
        offsets, keys = np.zeros(len(slots) + 1, np.int64), np.zeros(len(slots), np.uint64)
        try:
            driver.fill_slots(self.games, self.lives, slots, seats, self.out, offsets, keys)
            return offsets, keys
        except KeyboardInterrupt:
            raise
        except BaseException:  # whatever an author's wrapper raises: whose it is shows one by one
            pass
        one = np.zeros(2, np.int64)
        for i, slot in enumerate(slots):
            here, out = slice(i, i + 1), self.out[offsets[i] :]
            offsets[i + 1] = offsets[i]
            try:
                driver.fill_slots(self.games, self.lives, slots[here], seats[here], out, one, keys[here])
                offsets[i + 1] += one[1]
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                self.block.fail(self.games[slot], self.lives[slot], driver.BAD_MOVE, _one_line(error))
        return offsets, keys

    def _call(self, slots: npt.NDArray[np.int64], seats: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """Let a compiled strategy choose in each slot; where it raises, go on after that slot, asking nobody twice."""
        codes = np.full(len(slots), _UNASKED, np.int64)
        start = 0
        while start < len(slots):
            try:
                driver.call_slots(self.games, self.lives, slots[start:], seats[start:], codes[start:])
                break
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # whatever an author's compiled code raises costs its own game
                start += int((codes[start:] == _UNASKED).argmax())
                slot = slots[start]
                self.block.fail(self.games[slot], self.lives[slot], driver.BAD_MOVE, _one_line(error))
                codes[start] = -1
                start += 1
        return codes

    def _ask_plainly(self, strategy: Strategy, records: npt.NDArray[Any], slot: int, key: int) -> int:
        definition = strategy.definition
        if definition.shape == "choose":
            moves = Moves(records)
            view = View(self.games, slot, self.block.block.rules)
            index = definition.function(view, moves, DecisionRng(key), **strategy.params)
            return int(records["code"][check_index(index, len(records))])
        values = np.array(
            [float(value) for value in score_plainly(strategy, records, self.games[slot : slot + 1])], np.float64
        )
        code = np.empty(1, np.int64)
        driver.pick_best(values, records, np.array([0, len(records)]), np.array([key], np.uint64), code)
        return int(code[0])


def describe_timeout(limit: float) -> str:
    """Return the message of a failure of the kind `timeout`."""
    return f"the game took more than {limit:g} s"


def score_plainly(strategy: Strategy, records: npt.NDArray[Any], game: npt.NDArray[Any]) -> list[float]:
    """Score legal moves one by one in plain Python; `records` is MOVE[n], `game` is GAME[1]."""
    definition = strategy.definition
    moves = [Move._make(map(float, record[1:])) for record in records.tolist()]
    if definition.shape == "score":
        return [definition.function(move, **strategy.params) for move in moves]
    scores = []
    for move, code in zip(moves, records["code"].tolist(), strict=True):
        position = game.view(np.uint8).copy().view(GAME)  # many times faster than copying records
        play(position[0], code)
        scores.append(definition.function(move, position[0], **strategy.params))
    return scores


def _score_batch(strategy: Strategy, records: npt.NDArray[Any]) -> npt.NDArray[np.float64] | None:
    """Score many moves at once; None, and a note, if the function cannot take columns."""
    try:
        with np.errstate(all="ignore", divide="raise", invalid="raise"):
            values = strategy.definition.function(Columns(records), **strategy.params)
            return np.ascontiguousarray(np.broadcast_to(np.asarray(values, np.float64), (len(records),)))
    except FloatingPointError:  # a division by zero in some game: plain Python finds the game
        return None
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # an `if` over a column, an unknown field: plain Python will tell
        note_once(f"azulsim: {strategy.spec}: runs plain, since it cannot take columns: {_one_line(error)}")
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


def _one_line(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return text if isinstance(error, StrategyError) else f"{type(error).__name__}: {text}"


PlayBlock = Callable[[Block], Tables]
"""What the runner hands to workers."""
