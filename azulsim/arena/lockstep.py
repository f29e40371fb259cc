"""Many games side by side, asked a move at a time: for strategies that are not compiled."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from azulsim.arena.asking import check_index, describe_timeout, one_line, score_batch, score_plainly
from azulsim.engine import driver
from azulsim.engine.compiling import address_of
from azulsim.engine.core import LEDGER
from azulsim.engine.driver import LIVE, Log, grow_log
from azulsim.engine.move import MOVE
from azulsim.engine.record import ALLOWED, GAME, MAX_LEGAL, SEAT
from azulsim.engine.scoring import NOT_A_NUMBER
from azulsim.engine.table import allow_all, is_allowed
from azulsim.errors import StrategyError
from azulsim.rules import MAX_PLAYERS
from azulsim.strategy import Moves, Strategy, View
from azulsim.strategy.view import DecisionRng

if TYPE_CHECKING:
    from azulsim.arena.blockplay import Blockplay

LOCKSTEP = 256
"""Games in lockstep at once: enough to spread the cost of a call, few enough to stay in cache."""

LOCKSTEP_MEMORY = 1 << 28
"""Bytes that the own memory of compiled strategies may take in lockstep; with more, fewer games go at once."""

_UNASKED = -(1 << 40)


class Lockstep:
    """Many games of a block side by side; at each step all games that wait for one player are served together."""

    def __init__(self, block: Blockplay) -> None:
        self.block = block
        players, size = block.block.players, block.memory_size()
        self.width = max(1, min(len(block.games), LOCKSTEP, LOCKSTEP_MEMORY // max(1, players * size)))
        self.games, self.lives = np.zeros(self.width, GAME), np.zeros(self.width, LIVE)
        if self.width == 1:
            self.games, self.lives = block.pulse.games, block.pulse.lives
        self.thought = [0.0] * self.width
        self.out = np.zeros(self.width * MAX_LEGAL, MOVE)
        self.seats_of = block.make_seats()
        # every game in lockstep has players of its own, with memory of their own
        self.memory = np.zeros((self.width, players, size), np.uint8)
        self.seats = np.zeros((self.width, players), SEAT)
        # the same memory: NumPy copies records field by field, and their bytes many times faster
        self._seats_bytes = self.seats.view(np.uint8).reshape(self.width, players, SEAT.itemsize)
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
        """Play all games of the block, and return the log."""
        waiting = iter(self.block.games)
        active = self._begin(np.arange(self.width), waiting)
        statuses = np.zeros(self.width, np.int64)
        while len(active):
            codes = self._choose(active)
            self._make_room(len(active))
            self._advance(active, codes, statuses)
            now = statuses[: len(active)]
            if not now.any():
                continue
            for slot, status in zip(active[now < 0], now[now < 0], strict=True):
                if not self.block.has_failed(self.lives[slot]):
                    self.block.fail(self.games[slot], self.lives[slot], int(status))
            done = active[now != driver.GOES_ON]
            self._tell(done)
            active = np.union1d(active[now == driver.GOES_ON], self._begin(done, waiting))
        return self.log

    def _advance(
        self, slots: npt.NDArray[np.int64], codes: npt.NDArray[np.int64], statuses: npt.NDArray[np.int64]
    ) -> None:
        """Play the chosen moves; where a `place` raises, go on after that slot."""
        statuses[: len(slots)] = _UNASKED
        start = 0
        while start < len(slots):
            try:
                driver.advance_slots(
                    self.games,
                    self.lives,
                    slots[start:],
                    codes[start:],
                    self.seats,
                    self.ledger,
                    self.block.plan[0],
                    self.log,
                    statuses[start:],
                )
                break
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # whatever an author's compiled code raises costs its own game
                start = int((statuses[: len(slots)] != _UNASKED).sum())
                slot = slots[start - 1]
                self.block.fail(self.games[slot], self.lives[slot], driver.BAD_MOVE, one_line(error))
                statuses[start - 1] = driver.BAD_MOVE

    def ask(self, *, takes: bool) -> npt.NDArray[np.int64]:
        """Return the code of the first move that is chosen in each game; -1 where the strategy failed.

        It fails too with a move that is not legal, or does not take the marker (if `takes`), or takes it (if not).
        """
        numbers = np.array(self.block.games, np.int64)
        codes = [np.zeros(0, np.int64)]
        allowed = np.zeros(1, ALLOWED)[0]
        for start in range(0, len(numbers), self.width):
            slots = self._begin(np.arange(self.width), iter(numbers[start : start + self.width]))
            chosen = self._choose(slots)
            for i, (slot, code) in enumerate(zip(slots, chosen.tolist(), strict=True)):
                game, live = self.games[slot], self.lives[slot]
                allow_all(game, allowed)
                if not is_allowed(game, allowed, code) or ((code >> 6) & 15 == 0) != takes:
                    chosen[i] = -1
                    if not self.block.has_failed(live):
                        self.block.fail(game, live, driver.BAD_NUMBER if code == NOT_A_NUMBER else driver.BAD_MOVE)
            codes.append(chosen)
        return np.concatenate(codes)

    def _begin(self, slots: npt.NDArray[np.int64], waiting: Iterator[int]) -> npt.NDArray[np.int64]:
        """Begin the games that wait in free slots, and return the slots in which one waits for a move."""
        open_slots: list[npt.NDArray[np.int64]] = []
        while True:
            numbers = np.array(list(islice(waiting, len(slots))), np.int64)
            slots = slots[: len(numbers)]
            if len(slots) == 0:
                return np.sort(np.concatenate([np.zeros(0, np.int64), *open_slots]))
            statuses = self._set_up(slots, numbers)
            for slot in slots[statuses < 0]:
                self.block.fail(self.games[slot], self.lives[slot], driver.CANNOT_DEAL)
            open_slots.append(slots[statuses == driver.GOES_ON])
            slots = slots[statuses != driver.GOES_ON]
            self._tell(slots)

    def _set_up(self, slots: npt.NDArray[np.int64], numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Set up games in slots, with players and memory of their own; return what became of each."""
        self._make_room(len(slots))
        block = self.block
        self.memory[slots] = 0
        for slot in slots:
            self.thought[slot] = 0.0
        statuses = np.zeros(len(slots), np.int64)
        driver.begin_slots(
            self.games,
            self.lives,
            slots,
            numbers,
            len(self.seatings),
            block.start,
            block.plan[0],
            self.ledger,
            self.log,
            statuses,
        )
        seats = self.seats_of[self.lives["seating"][slots]]
        seats["workspace"] = self.addresses[slots]
        self.seats[slots] = seats
        return statuses

    def _tell(self, slots: npt.NDArray[np.int64]) -> None:
        """Tell what became of games that were played on from roots."""
        if self.block.plan["is_probing"][0]:
            jobs = self.block.start.jobs
            for name in ("held", "next_starter"):
                jobs[name][self.lives["game"][slots]] = self.lives[name][slots]

    def _make_room(self, n: int) -> None:
        players = self.block.block.players
        depth = int(self.block.plan["depth"][0])
        roots = 1 + int(self.block.plan["per_game"][0])
        need = (n * players, n * players * (depth >= 1), n * (depth >= 2), n * roots)
        self.log = grow_log(self.log, need)

    def _choose(self, active: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the code of the move chosen in each slot; below 0 where the strategy failed."""
        codes = self.lives["first"][active] - np.int64(1)
        self.lives["first"][active] = 0
        seats = self.games["seat"][active]
        seatings = self.lives["seating"][active]
        groups = self.group_of[self.seatings[seatings, seats]]
        for player in np.flatnonzero(np.bincount(groups[codes < 0])).tolist():
            at = np.flatnonzero((groups == player) & (codes < 0))
            slots = active[at]
            strategy = self.block.strategies[player]
            codes[at] = self._ask(strategy, slots, self._seats_bytes[slots, seats[at]].view(SEAT)[:, 0])
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
            fill_denials = partial(driver.fill_denials_of_slots, self.games, slots, self.out, offsets)
            values = score_batch(strategy, self.out[: offsets[-1]], fill_denials)
            if values is not None:
                driver.pick_best(values, self.out, offsets, keys, codes)
                return codes
        for i, slot in enumerate(slots):
            records = self.out[offsets[i] : offsets[i + 1]]
            if len(records) == 0:  # a wrapper failed
                continue
            start = time.perf_counter()
            try:
                fill_denials = partial(
                    driver.fill_denials_of_slots, self.games, slots[i : i + 1], self.out, offsets[i : i + 2]
                )
                codes[i] = self._ask_plainly(strategy, records, fill_denials, int(slot), int(keys[i]))
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # whatever an author's code raises, also to exit, costs its own game
                kind = "bad_answer" if isinstance(error, StrategyError) else "raised"
                self.block.fail(self.games[slot], self.lives[slot], driver.BAD_MOVE, one_line(error), kind)
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
                self.block.fail(self.games[slot], self.lives[slot], driver.BAD_MOVE, one_line(error))
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
                self.block.fail(self.games[slot], self.lives[slot], driver.BAD_MOVE, one_line(error))
                codes[start] = -1
                start += 1
        return codes

    def _ask_plainly(
        self, strategy: Strategy, records: npt.NDArray[Any], fill_denials: Callable[[], None], slot: int, key: int
    ) -> int:
        definition = strategy.definition
        if definition.shape == "choose":
            moves = Moves(records, fill_denials)
            view = View(self.games, slot, self.block.block.rules)
            index = definition.function(view, moves, DecisionRng(key), **strategy.params)
            return int(records["code"][check_index(index, len(records))])
        fill_denials()
        values = np.array(
            [float(value) for value in score_plainly(strategy, records, self.games[slot : slot + 1])], np.float64
        )
        code = np.empty(1, np.int64)
        driver.pick_best(values, records, np.array([0, len(records)]), np.array([key], np.uint64), code)
        return int(code[0])
