"""Whether a strategy keeps to what is asked of all strategies; `azulsim strategies check` prints it."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from azulsim.arena import Block, Tables, join_tables, play_block
from azulsim.errors import InputError
from azulsim.experiment import list_seatings
from azulsim.registry import make_strategy
from azulsim.rules import MAX_PLAYERS, MIN_PLAYERS, VARIANTS, Rules
from azulsim.strategy import Strategy
from azulsim.strategy.definition import SPEEDS

SEED = 1
COMPANION = "uniform"
"""Who sits at the table besides: play without a plan brings about rare positions."""

MAX_DEALS = 10_000
"""All games under one kind of rules are in memory at once."""

SPEED_RUNS = 5
SECONDS_PER_RUN = 0.2


@dataclass(frozen=True)
class Check:
    """One question about a strategy and its answer."""

    name: str
    is_good: bool
    detail: str
    """What was tried, or what went wrong."""


@dataclass(frozen=True)
class Checked:
    """The answers to all questions about a strategy; its `str` is a table."""

    spec: str
    checks: tuple[Check, ...]

    @property
    def is_good(self) -> bool:
        """True if the strategy keeps to everything that was checked."""
        return all(check.is_good for check in self.checks)

    def __str__(self) -> str:
        width = max(len(check.name) for check in self.checks)
        lines = [f"{c.name:<{width}}  {'ok' if c.is_good else 'BAD':<3}  {c.detail}".rstrip() for c in self.checks]
        return "\n".join([self.spec, *lines])

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data for JSON."""
        checks = [{"name": c.name, "good": c.is_good, "detail": c.detail} for c in self.checks]
        return {"strategy": self.spec, "good": self.is_good, "checks": checks}


def check_strategy(spec: str, *, deals: int = 4, project: Path | None = None) -> Checked:
    """Check that a strategy plays legally, repeatably and alike at all speeds, at 2 to 4 players under all rules.

    Parameters
    ----------
    spec : str
        Such as `"hoard_blue(love=2)"` or `"ideas/mine.py:hoard_blue"`.
    deals : int
        Deals played under each kind of rules at each number of players, in all rotations of the seats.
    project : Path, optional
        Folder in which plugged-in strategies are looked up; the working directory if left out.

    Returns
    -------
    Checked
        True answers in `is_good`; as text a table, one line a question.

    Raises
    ------
    InputError
        If the spec names no strategy, or `deals` is not a whole number from 1 to `MAX_DEALS`.

    Examples
    --------
    >>> check_strategy("greedy", deals=1).is_good
    True
    """
    if type(deals) is not int or not 1 <= deals <= MAX_DEALS:
        raise InputError(f"deals = {deals!r}: must be a whole number from 1 to {MAX_DEALS}")
    return _Examination(spec, deals, project).hold()


class _Examination:
    """The questions put to one strategy."""

    def __init__(self, spec: str, deals: int, project: Path | None) -> None:
        self.player = make_strategy(spec, project=project)
        self.companion = make_strategy(COMPANION)
        self.spec, self.deals, self.project = self.player.spec, deals, project

    def hold(self) -> Checked:
        legal, tables = self._check_legal()
        checks = [legal]
        if legal.is_good:
            checks += [
                self._check_same_key(tables),
                self._check_memory(tables),
                self._check_process(tables),
                self._check_table_unchanged(tables),
                *self._check_speeds(tables),
            ]
        return Checked(self.spec, tuple(checks))

    def _blocks(self) -> Iterator[Block]:
        """Yield what is played: every number of players under all named rules."""
        for players in range(MIN_PLAYERS, MAX_PLAYERS + 1):
            for rules in VARIANTS.values():
                yield self._make_block(players, rules)

    def _make_block(self, players: int, rules: Rules) -> Block:
        """Return a block in which every other player is the strategy itself."""
        lineup = tuple((self.spec, COMPANION)[i % 2] for i in range(players))
        codes = tuple(i % 2 for i in range(players))
        return Block(0, players, rules, lineup, codes, list_seatings(lineup, "cyclic"), SEED, 0, self.deals, "moves")

    def _play(self, block: Block, player: Strategy | None = None) -> Tables:
        made = {COMPANION: self.companion, self.spec: player or self.player}
        return play_block(block, strategies=[made[spec] for spec in block.lineup])

    def _check_legal(self) -> tuple[Check, list[Tables]]:
        tables = [self._play(block) for block in self._blocks()]
        name = "legal moves only"
        for played, block in zip(tables, self._blocks(), strict=True):
            if played.failures:
                first = played.failures[0]
                rules = next(name for name, rules in VARIANTS.items() if rules == block.rules)
                where = f"{block.players} players, {rules} rules, deal {first['deal']}, ply {first['ply']}"
                return Check(name, False, f"{first['kind']}: {first['message']} ({where})"), tables
        games = sum(len(np.unique(played.games["game"])) for played in tables)
        counts = MAX_PLAYERS - MIN_PLAYERS + 1
        return Check(name, True, f"{games} games: {counts} player counts x {len(VARIANTS)} kinds of rules"), tables

    def _check_same_key(self, tables: list[Tables]) -> Check:
        again = [self._play(block) for block in self._blocks()]
        return self._compare("same key, same move", tables, again, "played twice", "the second time")

    def _check_memory(self, tables: list[Tables]) -> Check:
        """Play each deal by itself, the last one first: nothing may be left over from the game before."""
        alone = [self._play_backwards(block) for block in self._blocks()]
        return self._compare(
            "no state between games", tables, alone, "each deal by itself, the last first", "in another order of deals"
        )

    def _play_backwards(self, block: Block) -> Tables:
        deals = [self._play(replace(block, first_deal=deal, n_deals=1)) for deal in reversed(range(block.n_deals))]
        deals.reverse()
        return join_tables(block, deals)

    def _check_process(self, tables: list[Tables]) -> Check:
        """Play in a new process with another hash seed, the last deal first: nothing is remembered from here."""
        name = "same in a new process"
        code = (
            "import sys, pathlib\nfrom azulsim.testing.strategies import fingerprint\n"
            "spec, deals, project = sys.argv[1:]\n"
            "print(fingerprint(spec, int(deals), pathlib.Path(project) if project else None))"
        )
        seed = "1" if os.environ.get("PYTHONHASHSEED", "random") != "1" else "2"
        done = subprocess.run(
            [sys.executable, "-c", code, self.spec, str(self.deals), str(self.project or "")],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            *_, last = done.stderr.strip().splitlines() or ["it ended without a word"]
            return Check(name, False, last)
        is_same = done.stdout.split()[-1:] == [_hash(tables)]
        return Check(name, is_same, "another hash seed, the last deal first" if is_same else _OTHERWISE)

    def _check_table_unchanged(self, tables: list[Tables]) -> Check:
        """Let a compiled move that looks at the game itself look at a copy instead: nothing may change."""
        name = "changes nothing it is shown"
        if not self.player.definition.reads_only:
            return Check(name, True, "it is shown a copy")
        careful = Strategy(
            replace(self.player.definition, reads_only=False),
            self.player.params,
            spec=self.spec,
            wraps=self.player.wraps,
        )
        played = [self._play(block, careful) for block in self._blocks()]
        return self._compare(name, tables, played, "plays the same on a copy", "on a copy, although it says reads_only")

    def _check_speeds(self, tables: list[Tables]) -> Iterator[Check]:
        """Play at every speed of its kind, and measure each."""
        speeds = SPEEDS[self.player.definition.shape]
        measured = []
        for speed in speeds[speeds.index(self.player.speed) :]:
            player = make_strategy(self.spec, project=self.project, speed=speed)
            if speed != self.player.speed:
                played = [self._play(block, player) for block in self._blocks()]
                check = self._compare("same game at all speeds", tables, played, "", f"at the speed {speed}")
                if not check.is_good:
                    yield check
                    return
            measured.append(f"{speed} {self._measure(player)}")
        detail = ", ".join(measured) + " (moves a second of one core, 2 players; median, range)"
        yield Check("same game at all speeds", True, detail)
        if self.player.fallback:
            yield Check("runs as fast as it could", False, self.player.fallback)

    def _measure(self, player: Strategy) -> str:
        """Return moves a second in games of the strategy against itself: the median and the range of some runs."""
        block = replace(
            self._make_block(2, Rules()), lineup=(self.spec, self.spec), seatings=((0, 1),), n_deals=1, depth="games"
        )
        seconds = _time(lambda: self._play(block, player))
        block = replace(block, n_deals=max(1, round(SECONDS_PER_RUN / seconds)))
        rates = []
        for _ in range(SPEED_RUNS):
            start = time.perf_counter()
            plies = int(self._play(block, player).games["plies"][::2].sum())
            rates.append(plies / (time.perf_counter() - start))
        low, middle, high = np.quantile(rates, [0, 0.5, 1])
        return f"{_short(middle)} ({_short(low)} to {_short(high)})"

    def _compare(self, name: str, tables: list[Tables], others: list[Tables], good: str, bad: str) -> Check:
        for block, one, other in zip(self._blocks(), tables, others, strict=True):
            if _hash([one]) != _hash([other]):
                rules = next(name for name, rules in VARIANTS.items() if rules == block.rules)
                return Check(name, False, f"plays other moves {bad} ({block.players} players, {rules} rules)")
        return Check(name, True, good)


_OTHERWISE = "plays other moves in another process, with another hash seed, when the last deal comes first"


def fingerprint(spec: str, deals: int, project: Path | None) -> str:
    """Return a hash of all games that `check_strategy` plays first, played in another order."""
    examination = _Examination(spec, deals, project)
    return _hash([examination._play_backwards(block) for block in examination._blocks()])


def _hash(tables: list[Tables]) -> str:
    digest = hashlib.sha256()
    for one in tables:
        for table in (one.games, one.rounds, one.moves):
            for column in table.dtype.names or ():  # not the whole records: there are gaps between columns
                digest.update(np.ascontiguousarray(table[column]).tobytes())
    return digest.hexdigest()


def _time(action: Callable[[], object]) -> float:
    """Return the seconds that an action takes the second time, when everything is compiled."""
    action()
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def _short(rate: float) -> str:
    return f"{rate / 1e6:.2f}M" if rate >= 1e6 else f"{rate / 1e3:.3g}k" if rate >= 1e3 else f"{rate:.3g}"
