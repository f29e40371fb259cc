"""From an experiment to what will be played: cells, and the shards they are cut into."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from azulsim import catalog, registry
from azulsim.config import show_value
from azulsim.errors import InputError, blame
from azulsim.experiment.kinds import read_rules_text, vary_rules
from azulsim.experiment.lineups import (
    Lineup,
    expand_patterns,
    fill_places,
    find_places,
    iterate_lineups,
    list_seatings,
    vary_places,
)
from azulsim.experiment.reading import make_experiment
from azulsim.experiment.whatif import RETUNED
from azulsim.log import Cell, Shard
from azulsim.rules import Rules
from azulsim.schema import MAX_CELLS, Depth

if TYPE_CHECKING:
    from azulsim.experiment.model import Experiment

MOVES_PER_GAME = {2: 60, 3: 80, 4: 100}
"""What a game is taken to last when shards are sized: a fixed guess, so that shards depend on no measurement."""
MOVES_PER_SHARD: dict[Depth, int] = {"games": 4_000_000, "rounds": 500_000, "moves": 250_000}
LEAST_MOVES_PER_SHARD = 20_000
SHARDS_PER_RUN = 32
"""A small run is cut into about so many shards, if they do not get smaller than the least, to keep all cores busy."""


@dataclass(frozen=True)
class Plan:
    """What will be played: cells, and the shards they are cut into."""

    experiment: Experiment
    cells: tuple[Cell, ...]
    specs: tuple[str, ...]
    """All strategies of the run as canonical specs, sorted; a spec's place is its code in the log."""

    @property
    def n_games(self) -> int:
        """Number of games."""
        return sum(cell.deals * len(cell.seatings) for cell in self.cells)

    @property
    def n_moves(self) -> int:
        """Number of moves that all games are taken to last, those of probes included."""
        moves = self.moves_per_deal()
        return sum(cell.deals * moves[cell.index] for cell in self.cells)

    @property
    def n_shards(self) -> int:
        """Number of shards."""
        sizes = self.deals_per_shard().values()
        return sum(-(-len(stage) // size) for stage in self.stages() for size in sizes)

    def stages(self) -> list[range]:
        """Return the deals that are played before each look at the evidence; without a rule to stop by, all at once."""
        return [range(first, last) for first, last in itertools.pairwise((0, *self.experiment.looks()))]

    def deals_per_shard(self) -> dict[int, int]:
        """Return how many deals make a shard, by cell; it depends on nothing but the experiment.

        A shard holds about `MOVES_PER_SHARD` moves, those of probes included. A run too small for `SHARDS_PER_RUN` of
        these gets smaller ones, but none under `LEAST_MOVES_PER_SHARD`.
        """
        moves = self.moves_per_deal()
        target = min(MOVES_PER_SHARD[self.experiment.log], max(LEAST_MOVES_PER_SHARD, self.n_moves // SHARDS_PER_RUN))
        return {index: -(-target // count) for index, count in moves.items()}

    def moves_per_deal(self) -> dict[int, int]:
        """Return how many moves all games of a deal are taken to last, those of probes included, by cell."""
        return {cell.index: len(cell.seatings) * self._moves_per_game(cell.players) for cell in self.cells}

    def _moves_per_game(self, players: int) -> int:
        probes = self.experiment.probes
        return MOVES_PER_GAME[players] * (1 + (probes.games_per_game(players) if probes else 0))

    def shards(self) -> Iterator[Shard]:
        """Yield the shards in canonical order: by stage, cell and deal."""
        sizes = self.deals_per_shard()
        for stage in self.stages():
            for cell in self.cells:
                size = sizes[cell.index]
                for first in stage[::size]:
                    yield Shard(cell.index, first, min(size, stage.stop - first))

    def __repr__(self) -> str:
        players = ", ".join(map(str, sorted({cell.players for cell in self.cells})))
        return (
            f"Plan of {self.experiment.name!r}: {len(self.cells):,} cells at {players} players x "
            f"{self.experiment.deals:,} deals = {self.n_games:,} games by {', '.join(self.specs)}"
        )


def make_plan(experiment: Experiment, *, project: Path | None, where: str) -> Plan:
    """Expand an experiment into cells; see `Experiment.plan`."""
    experiment = _expand_patterns(experiment, where)
    specs = _name_strategies(experiment, project, where)
    for report in experiment.reports:
        with blame(f"{where}: reports"):
            catalog.find("reports", report, project=project)
    cells = tuple(_make_cells(experiment, specs, where))
    return Plan(experiment, cells, tuple(sorted({spec for cell in cells for spec in cell.lineup})))


def _expand_patterns(experiment: Experiment, where: str) -> Experiment:
    with blame(f"{where}: strategies"):
        expanded = expand_patterns(experiment.strategies)
    if expanded == experiment.strategies:
        return experiment
    if not expanded:
        raise InputError(f"{where}: strategies = {show_value(experiment.strategies)}: the patterns leave no strategy")
    # Validated anew: a copy with changed fields would take any number of strategies.
    said = {key: getattr(experiment, key) for key in experiment.model_fields_set}
    return make_experiment({**said, "strategies": expanded}, where=where)


def _name_strategies(experiment: Experiment, project: Path | None, where: str) -> dict[str, str]:
    """Return the canonical spec of every spec with its places filled; complain of the first that names no strategy."""
    written = {key: getattr(experiment, key) for key in ("lineup", "strategies", "against")}
    written["grid.lineup"] = tuple(itertools.chain.from_iterable(experiment.grid.get("lineup", ())))
    retuned = experiment.whatif.retuned if experiment.whatif else ()
    written["whatif.retuned"] = tuple(spec for each in retuned for spec in (each.spec, each.plays))
    named: dict[str, str] = {}
    for key, specs in written.items():
        filled = (fill_places(spec, values) for spec in specs for values in vary_places([spec], experiment.grid))
        new = dict.fromkeys(itertools.islice(filled, MAX_CELLS + 1))
        if len(new) > MAX_CELLS:
            raise InputError(f"{where}: {key}: more than {MAX_CELLS:,} strategies; shorten the grid")
        for spec in new:
            with blame(f"{where}: {key}"):
                named[spec] = named.get(spec) or registry.make_strategy(spec, project=project).spec
    _refuse_two_names(dict.fromkeys(named.values()), project, where)
    for key in ("strategies", "against"):
        # Those with places are looked at table by table.
        once = [named[spec] for spec in getattr(experiment, key) if not find_places([spec])]
        if twice := next((spec for spec in once if once.count(spec) > 1), None):
            raise InputError(f"{where}: {key} names {twice!r} twice")
    return named


def _refuse_two_names(specs: Iterable[str], project: Path | None, where: str) -> None:
    """Complain of a strategy that is named in two ways: it would count as two players."""
    known: dict[str, str] = {}
    for spec in specs:
        same = known.setdefault(registry.identify(spec, project=project), spec)
        if same != spec:
            raise InputError(f"{where}: {same!r} and {spec!r} are the same strategy; name it in one way")


def _make_cells(experiment: Experiment, named: Mapping[str, str], where: str) -> Iterator[Cell]:
    index = itertools.count()
    tables: set[tuple[int, Rules, Lineup]] = set()
    kinds = list(vary_rules(experiment.rules, experiment.grid))
    for players in experiment.player_counts():
        lineups = list(itertools.islice(_fill_lineups(experiment, players, named, where), MAX_CELLS + 1))
        if len(tables) + len(kinds) * len(lineups) > MAX_CELLS:
            raise InputError(f"{where}: more than {MAX_CELLS:,} cells; shorten the grid, or draw fewer tables")
        for changes, rules in kinds:
            for lineup, values in [*lineups, *_retune(experiment, players, rules, named, lineups, where)]:
                seatings = list_seatings(lineup, experiment.seatings)
                table = (players, rules, min(tuple(lineup[player] for player in order) for order in seatings))
                if table in tables:
                    raise InputError(f"{where}: two cells would play the same games: {show_value(lineup)} {changes}")
                tables.add(table)
                yield Cell(
                    index=next(index),
                    players=players,
                    lineup=lineup,
                    seatings=seatings,
                    deals=experiment.deals,
                    rules=rules,
                    factors={"players": players, **changes, **values},
                )


def _retune(
    experiment: Experiment,
    players: int,
    rules: Rules,
    named: Mapping[str, str],
    lineups: Sequence[tuple[Lineup, dict[str, Any]]],
    where: str,
) -> Iterator[tuple[Lineup, dict[str, Any]]]:
    """Yield the line-ups of strategies that play tuned to these rules."""
    for retuned in experiment.whatif.retuned if experiment.whatif else ():
        if retuned.players == players and read_rules_text(retuned.rules) == rules:
            if (named[retuned.spec],) * players not in [lineup for lineup, _ in lineups]:
                raise InputError(f"{where}: whatif.retuned: {retuned.spec!r} does not sit in all seats of any table")
            yield (named[retuned.plays],) * players, {RETUNED: named[retuned.spec]}


def _fill_lineups(
    experiment: Experiment, players: int, named: Mapping[str, str], where: str
) -> Iterator[tuple[Lineup, dict[str, Any]]]:
    """Yield the line-ups at one player count, with the values of the places in them."""
    for lineup in _schedule(experiment, players):
        for values in vary_places(lineup, experiment.grid):
            filled = tuple(named[fill_places(spec, values)] for spec in lineup)
            if experiment.schedule == "round_robin" and experiment.strategies and len(set(filled)) < len(set(lineup)):
                raise InputError(f"{where}: strategies: {show_value(lineup)} are not all different with {values}")
            yield filled, values


def _schedule(experiment: Experiment, players: int) -> Iterator[Lineup]:
    """Yield the line-ups at one player count, their places not filled yet."""
    if experiment.strategies:
        yield from iterate_lineups(
            experiment.strategies,
            players,
            experiment.schedule,
            against=experiment.against,
            tables=experiment.tables,
            seed=experiment.seed,
        )
    for lineup in experiment.lineups():
        if len(lineup) == 1:
            yield lineup * players
        elif len(lineup) == players:
            yield lineup
