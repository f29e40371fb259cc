"""A block being played, and games being played on from its positions, compiled or in lockstep."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from azulsim.arena.asking import one_line
from azulsim.arena.block import LAST_BIT, Block, Pulse, Tables, describe_failure, find_seat, forfeit
from azulsim.arena.lockstep import Lockstep
from azulsim.engine import driver
from azulsim.engine.compiling import address_of
from azulsim.engine.driver import PLAN, Log, Rows, Start, grow_log, make_log, make_start, play_games
from azulsim.engine.luck import DEAL_DOMAIN, DECISION_DOMAIN, root_key
from azulsim.engine.record import SEAT, make_template
from azulsim.errors import RunError
from azulsim.schema import DEPTHS, MOVES, PROBES, ROOTS, ROUNDS, empty, game_id
from azulsim.strategy import Strategy


class Blockplay:
    """One block being played; or, from a `start` with jobs, games being played on from roots."""

    def __init__(
        self,
        block: Block,
        strategies: Sequence[Strategy],
        *,
        games: range | None = None,
        pulse: Pulse | None = None,
        limit: float = math.inf,
        start: Start | None = None,
    ) -> None:
        self.block = block
        self.strategies = strategies
        self.pulse = pulse or Pulse()
        self.limit = limit
        template = make_template(block.rules, block.players)
        self.is_general = bool(template["is_general"][0])
        self.start = start or make_start(template[0])
        n_games = len(start.jobs) if start else block.n_deals * len(block.seatings)
        self.games = range(n_games) if games is None else games
        self.plan = np.zeros(1, PLAN)
        self.plan["deal_root"] = root_key(block.seed, DEAL_DOMAIN)
        self.plan["decision_root"] = root_key(block.seed, DECISION_DOMAIN)
        self.plan["cell"], self.plan["first_deal"] = block.cell, block.first_deal
        self.plan["depth"], self.plan["logs_denial"] = driver.DEPTH_NUMBERS[block.depth], block.denial
        self.plan["must_deal"] = block.rules.no_tiles == "error"
        self.plan["is_probing"] = start is not None
        codes = np.array(block.spec_codes, np.uint16)[np.array(block.seatings)]
        self.plan["specs"][0, : len(codes), : block.players] = codes
        if block.probes:
            self.plan["depth"] = driver.DEPTH_NUMBERS["moves"]  # a decision is looked at where it would be logged
            self.plan["per_game"] = block.probes.per_game
            self.plan["root_rounds"] = sum(1 << min(number, LAST_BIT) for number in set(block.probes.rounds))
        self.failures: dict[int, dict[str, Any]] = {}
        self.forfeited: list[npt.NDArray[Any]] = []

    def play(self) -> Log:
        """Play all games, and return the log of those that were not spoiled."""
        return self._play_compiled() if self.is_compiled else Lockstep(self).play()

    @property
    def is_compiled(self) -> bool:
        """True if games are played one after another, by compiled strategies alone."""
        return all(strategy.speed == "compiled" for strategy in self.strategies)

    @property
    def is_in_order(self) -> bool:
        """True if rows were filled in order of games."""
        return self.is_compiled and not self.forfeited

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

    def reserve(self) -> Rows:
        """Return the rows of each table that one game can need at most."""
        players, rules = self.block.players, self.block.rules
        depth = int(self.plan["depth"][0])
        moves = min(self.block.text_width, 5 * rules.tiles_per_color) * rules.max_rounds
        rounds = rules.max_rounds if self.plan["root_rounds"][0] else 0
        return (
            players,
            players * rules.max_rounds if depth >= 1 else 0,
            moves if depth >= 2 else 0,
            rounds + int(self.plan["per_game"][0]),
        )

    def make_log(self, n_games: int) -> Log:
        """Return a log with room for about `n_games` ordinary games; it grows when they are longer."""
        players = self.block.players
        depth = int(self.plan["depth"][0])
        roots = 7 * bool(self.plan["root_rounds"][0]) + int(self.plan["per_game"][0])
        rows = (
            n_games * players,
            n_games * players * 7 if depth >= 1 else 0,
            n_games * (30 + 20 * players) if depth >= 2 else 0,
            n_games * roots,
        )
        return make_log(rows, self.block.text_width)

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
                    games, lives, self.start, self.plan[0], seats, number, end, log, reserve_rows
                )
                message = ""
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # whatever an author's compiled code raises
                status, message, failed = driver.BAD_MOVE, one_line(error), self._number_of(lives[0])
                if failed < number:  # the driver raised, and no strategy, before it had begun a game
                    raise
                number = failed
            if status == driver.BLOCK_DONE:
                return log
            if status == driver.BUFFER_FULL:
                need = [room + int(used) for room, used in zip(reserve, log.used, strict=True)]
                log = grow_log(log, (need[0], need[1], need[2], need[3]))
                continue
            self.fail(games[0], lives[0], status, message)
            number += 1

    def _number_of(self, live: Any) -> int:
        if self.plan["is_probing"][0]:
            return int(live["game"])
        deal = int(live["deal"]) - self.block.first_deal
        return deal * len(self.block.seatings) + int(live["seating"])

    def has_failed(self, live: Any) -> bool:
        """Return True if the game that is played, or the one that it goes on from, was spoiled already."""
        return game_id(self.block.cell, int(live["deal"]), int(live["seating"])) in self.failures

    def fail(self, game: Any, live: Any, status: int, message: str = "", kind: str = "raised") -> None:
        """Note that a game was spoiled by the strategy whose decision it was."""
        if status == driver.CANNOT_DEAL:
            raise RunError(
                f"cell {self.block.cell}, deal {int(live['deal'])}, seating {int(live['seating'])}: round "
                f"{int(game['round']) + 1} cannot be dealt, bag and lid are empty, and the rules say "
                'no_tiles = "error"'
            )
        seating, seat = int(live["seating"]), find_seat(game, self.block.players)
        kinds = {driver.BAD_MOVE: "illegal_move", driver.BAD_NUMBER: "not_a_number"}
        texts = {
            driver.BAD_MOVE: "the move is not one of the legal moves",
            driver.BAD_NUMBER: "the score of a move is NaN or infinite",
        }
        failure = describe_failure(
            self.block,
            int(live["deal"]),
            seating,
            seat,
            int(live["ply"]),
            kind if message else kinds[status],
            message or texts[status],
        )
        if failure["game"] not in self.failures:
            self.failures[failure["game"]] = failure
            if self.block.forfeits:
                self.forfeited.append(forfeit(self.block, failure, game, live))

    def make_tables(self, log: Log) -> Tables:
        """Return the tables of all games that came to their end, cut to size; those of probes are empty."""
        used = [int(n) for n in log.used]
        games, block = log.games[: used[0]], self.block
        depth = DEPTHS.index(block.depth)
        return Tables(
            games=np.concatenate([games, *self.forfeited]) if self.forfeited else games,
            rounds=driver.join_displays(log) if depth >= 1 else empty(ROUNDS, block.text_width),
            moves=log.moves[: used[2]] if depth >= 2 else empty(MOVES),
            roots=empty(ROOTS),
            probes=empty(PROBES),
            failures=list(self.failures.values()),
        )

    def play_jobs(self, jobs: npt.NDArray[Any], roots: npt.NDArray[Any], positions: npt.NDArray[Any]) -> Log:
        """Play on from roots; what became of each is told in the jobs too.

        A game that is spoiled meanwhile counts as one of this block.
        """
        return self._go_on(jobs, roots, positions, self.strategies).play()

    def ask_jobs(
        self,
        jobs: npt.NDArray[Any],
        roots: npt.NDArray[Any],
        positions: npt.NDArray[Any],
        strategies: Sequence[Strategy],
        *,
        takes: bool,
    ) -> npt.NDArray[np.int64]:
        """Return the code of the move that strategies, one a player, choose in each root; see `Lockstep.ask`."""
        return Lockstep(self._go_on(jobs, roots, positions, strategies)).ask(takes=takes)

    def _go_on(
        self,
        jobs: npt.NDArray[Any],
        roots: npt.NDArray[Any],
        positions: npt.NDArray[Any],
        strategies: Sequence[Strategy],
    ) -> Blockplay:
        block = replace(self.block, depth="games", denial=False, probes=None)
        start = self.start._replace(jobs=jobs, roots=roots, positions=positions)
        play = Blockplay(block, strategies, pulse=self.pulse, limit=self.limit, start=start)
        play.failures = self.failures
        return play
