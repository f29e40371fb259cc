"""A question as a value: TOML or Python in, a plan of cells and shards out.

    experiment = read_experiment("marker-value", overrides=["deals=200"])
    plan = experiment.plan()
    plan.cells      # what a game can be: players x rules x line-up
    plan.shards()   # fixed ranges of deals, named by identity

The keys are described one by one in docs/EXPERIMENTS.md.
"""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import tomli_w
from pydantic import Field, ValidationInfo, field_validator, model_validator

from azulsim import catalog, registry
from azulsim.config import Frozen, flatten_keys, read_toml, show_value, validate
from azulsim.errors import InputError, did_you_mean
from azulsim.log import Cell, Shard
from azulsim.rules import MAX_PLAYERS, MIN_PLAYERS, Rules, make_rules, read_rules
from azulsim.schema import MAX_CELLS, MAX_DEALS, Depth

PlayerCount = Annotated[int, Field(ge=MIN_PLAYERS, le=MAX_PLAYERS)]
Lineup = tuple[str, ...]
Seatings = tuple[tuple[int, ...], ...]

MOVES_PER_GAME = {2: 60, 3: 80, 4: 100}
"""What a game is taken to last when shards are sized: a fixed guess, so that shards depend on no measurement."""
MOVES_PER_SHARD: dict[Depth, int] = {"games": 1_000_000, "rounds": 500_000, "moves": 250_000}
LEAST_MOVES_PER_SHARD = 20_000
SHARDS_PER_RUN = 32
"""A small run is cut into about so many shards, if they do not get smaller than the least, to keep all cores busy."""


class Experiment(Frozen):
    """A question: which strategies meet under which rules, on how many deals, and what is logged.

    Either `lineup` (or a grid over `lineup`) or `strategies` with a `schedule` says who plays. In Python, lists may
    stand for tuples.

    >>> Experiment(lineup=["greedy"], players=[2, 3], deals=100).log
    'games'
    """

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=80)] = "experiment"
    """Names the run folder."""
    question: str = ""
    """One sentence; in TOML, the comment that opens the file."""
    seed: Annotated[int, Field(ge=0, lt=1 << 63)] = 0
    """Root of all luck; the same seed gives the same games."""
    deals: Annotated[int, Field(ge=1, lt=MAX_DEALS)] = 1000
    """Deals of each cell: the number of independent observations."""
    seatings: Literal["cyclic", "full"] = "cyclic"
    """Who sits where on each deal: every rotation of a line-up, or every order of it."""
    log: Depth = "games"
    """Depth of the log."""
    denial: bool = False
    """Whether `moves.denial` is computed too, which about halves the speed of play."""
    players: tuple[PlayerCount, ...] = ()
    """Player counts; 2 if left out, or the length of `lineup`."""
    lineup: Lineup = ()
    """One spec a player; a single spec sits in all seats (self-play)."""
    strategies: tuple[str, ...] = ()
    """Specs that meet according to `schedule`."""
    schedule: Literal["round_robin", "self_play"] = "round_robin"
    """Every choice of strategies against each other, or each against itself."""
    rules: Rules = Rules()
    """What differs from the printed rules."""
    grid: dict[str, tuple[Any, ...]] = Field(default_factory=dict)
    """Values to vary: `players`, `lineup`, and any rule as `rules.x.y`; every combination is a cell."""
    reports: tuple[str, ...] = ()
    """Reports to build when the run is done."""

    @model_validator(mode="before")
    @classmethod
    def _take_lists(cls, data: Any) -> Any:
        return _freeze(data)

    @field_validator("players")
    @classmethod
    def _check_players(cls, players: tuple[int, ...]) -> tuple[int, ...]:
        if not players:
            raise ValueError("names no player count")
        return _distinct(players)

    @field_validator("grid", mode="before")
    @classmethod
    def _flatten_grid(cls, grid: Any) -> Any:
        return dict(flatten_keys(grid)) if isinstance(grid, Mapping) else grid

    @field_validator("grid")
    @classmethod
    def _check_grid(cls, grid: dict[str, tuple[Any, ...]], info: ValidationInfo) -> dict[str, tuple[Any, ...]]:
        for key, values in grid.items():
            if not values:
                raise ValueError(f"{key} has no value")
            if key == "players":
                _check_player_counts(values)
            elif key == "lineup":
                grid = {**grid, key: tuple(map(_as_lineup, values))}
            elif key.startswith("rules."):
                for value in values:
                    _change_rule(info.data.get("rules", Rules()), key, value)
            else:
                raise ValueError(f"{key!r} cannot be varied{did_you_mean(key, ['players', 'lineup', 'rules.<key>'])}")
            _distinct(grid[key])
        return grid

    @model_validator(mode="after")
    def _check_who_plays(self) -> Experiment:
        given = {
            "lineup": bool(self.lineup),
            "grid.lineup": "lineup" in self.grid,
            "strategies": bool(self.strategies),
        }
        chosen = [key for key, is_given in given.items() if is_given]
        if len(chosen) != 1:
            found = f"found {' and '.join(chosen)}" if chosen else "found none of them"
            raise ValueError(f"who plays must be said once, by lineup, grid.lineup or strategies; {found}")
        if self.players and "players" in self.grid:
            raise ValueError("players stands both at the top and in the grid; keep one")
        for lineup in self.grid.get("lineup", (self.lineup,) if self.lineup else ()):
            if len(lineup) > MAX_PLAYERS:
                raise ValueError(
                    f"lineup = {show_value(lineup)}: has {len(lineup)} specs; at most {MAX_PLAYERS} can play"
                )
            for players in self._player_counts():
                if len(lineup) not in (1, players):
                    raise ValueError(
                        f"lineup = {show_value(lineup)}: has {len(lineup)} specs, which fits no {players} players"
                    )
        if self.strategies and self.schedule == "round_robin" and len(self.strategies) < 2:
            raise ValueError('a round robin needs two strategies or more; for one, use schedule = "self_play"')
        return self

    def _player_counts(self) -> tuple[int, ...]:
        if "players" in self.grid:
            return self.grid["players"]
        return self.players or ((len(self.lineup),) if len(self.lineup) > 1 else (MIN_PLAYERS,))

    def plan(self, *, project: Path | None = None, where: str = "") -> Plan:
        """Expand the experiment into cells: every player count x every combination of rules x every line-up.

        Parameters
        ----------
        project
            Folder in which strategies are looked up besides the bundled ones; the working directory if left out.
        where
            What opens the sentence of any complaint, such as a file; the experiment's name if left out.

        Raises
        ------
        InputError
            For an unknown strategy or parameter, the same strategy twice in a round robin, or too many cells.
        """
        where = where or self.name
        canonical = self._make_canonical(where, project)
        strategies = [canonical[text] for text in self.strategies]
        if len(set(strategies)) < len(strategies):
            twice = next(spec for spec in strategies if strategies.count(spec) > 1)
            raise InputError(f"{where}: strategies names {twice!r} twice")
        cells = tuple(itertools.islice(self._cells(canonical), MAX_CELLS + 1))
        if len(cells) > MAX_CELLS:
            raise InputError(f"{where}: more than {MAX_CELLS:,} cells; shorten the grid")
        return Plan(self, cells, tuple(sorted({spec for cell in cells for spec in cell.lineup})))

    def _make_canonical(self, where: str, project: Path | None) -> dict[str, str]:
        """Return the canonical spec of each spec, and complain of the first that names no strategy."""
        lineups: Iterable[Lineup] = self.grid.get("lineup", ())
        grid = tuple(itertools.chain.from_iterable(lineups))
        canonical: dict[str, str] = {}
        for key, texts in {"lineup": self.lineup, "strategies": self.strategies, "grid.lineup": grid}.items():
            for text in texts:
                try:
                    canonical[text] = canonical.get(text) or registry.make_strategy(text, project=project).spec
                except InputError as error:
                    raise InputError(f"{where}: {key}: {error}") from error
        return canonical

    def _cells(self, canonical: Mapping[str, str]) -> Iterator[Cell]:
        varied = [key for key in self.grid if key.startswith("rules.")]
        index = itertools.count()
        for players in self._player_counts():
            for values in itertools.product(*(self.grid[key] for key in varied)):
                rules = self.rules
                for key, value in zip(varied, values, strict=True):
                    rules = _change_rule(rules, key, value)
                for lineup in self._lineups(players, canonical):
                    yield Cell(
                        index=next(index),
                        players=players,
                        lineup=lineup,
                        seatings=list_seatings(lineup, self.seatings),
                        deals=self.deals,
                        rules=rules,
                        factors={"players": players, **dict(zip(varied, values, strict=True))},
                    )

    def _lineups(self, players: int, canonical: Mapping[str, str]) -> Iterator[Lineup]:
        if self.strategies:
            yield from list_lineups([canonical[text] for text in self.strategies], players, self.schedule)
        for lineup in self.grid.get("lineup", (self.lineup,) if self.lineup else ()):
            specs = tuple(canonical[text] for text in lineup)
            yield specs * players if len(specs) == 1 else specs

    def to_toml(self) -> str:
        """Return the experiment as TOML with every default spelled out; `read_experiment` reads it back equal."""
        data = self.model_dump(mode="json", by_alias=True, exclude={"question"})
        body = tomli_w.dumps({key: value for key, value in data.items() if value not in ([], {})})
        return f"# {self.question}\n\n{body}" if self.question else body


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
    def n_shards(self) -> int:
        """Number of shards."""
        sizes = self.deals_per_shard()
        return sum(-(-cell.deals // sizes[cell.index]) for cell in self.cells)

    def deals_per_shard(self) -> dict[int, int]:
        """Return how many deals make a shard, by cell; it depends on nothing but the experiment.

        A shard holds about `MOVES_PER_SHARD` moves. A run too small for `SHARDS_PER_RUN` of these gets smaller
        ones, but none under `LEAST_MOVES_PER_SHARD`.
        """
        moves = {cell.index: len(cell.seatings) * MOVES_PER_GAME[cell.players] for cell in self.cells}
        total = sum(cell.deals * moves[cell.index] for cell in self.cells)
        target = min(MOVES_PER_SHARD[self.experiment.log], max(LEAST_MOVES_PER_SHARD, total // SHARDS_PER_RUN))
        return {index: -(-target // count) for index, count in moves.items()}

    def shards(self) -> Iterator[Shard]:
        """Yield the shards in canonical order."""
        sizes = self.deals_per_shard()
        for cell in self.cells:
            size = sizes[cell.index]
            for first in range(0, cell.deals, size):
                yield Shard(cell.index, first, min(size, cell.deals - first))

    def __repr__(self) -> str:
        players = ", ".join(map(str, sorted({cell.players for cell in self.cells})))
        return (
            f"Plan of {self.experiment.name!r}: {len(self.cells):,} cells at {players} players x "
            f"{self.experiment.deals:,} deals = {self.n_games:,} games by {', '.join(self.specs)}"
        )


def read_experiment(
    source: str | Path, *, project: Path | None = None, overrides: Sequence[str] = (), rules: str | Path | None = None
) -> Experiment:
    """Read an experiment by its name, or from a TOML file.

    Parameters
    ----------
    source
        Name of a bundled experiment or of one in the project folder, or a path.
    project
        Folder to look in besides the bundled experiments; the working directory if left out.
    overrides
        Texts such as `"rules.bonus.column=5"`, applied in turn.
    rules
        A TOML file of rules that replaces those of the experiment.

    Raises
    ------
    InputError
        One sentence naming file, key and value.
    """
    path = Path(source) if isinstance(source, Path) else catalog.find("experiments", source, project=project).path
    data = read_toml(path)
    if isinstance(data.get("rules"), str):
        data["rules"] = read_toml(path.parent / data["rules"])
    if rules is not None:
        data["rules"] = read_rules(rules).model_dump(by_alias=True)
    data.setdefault("name", path.stem)
    data.setdefault("question", catalog.read_question(path.read_text(encoding="utf-8")))
    return _make_changed(data, overrides, where=str(path))


def _make_changed(data: Mapping[str, Any], overrides: Sequence[str], *, where: str) -> Experiment:
    """Build an experiment from data and overrides; a complaint that an override brought in is put to that one."""
    complaints: list[str] = []
    for n in range(len(overrides) + 1):
        try:
            experiment = make_experiment(apply_overrides(data, overrides[:n]), where=where)
            complaints.append("")
        except InputError as error:
            complaints.append(str(error))
    if not complaints[-1]:
        return experiment
    first = next(n for n in range(len(complaints)) if set(complaints[n:]) == {complaints[-1]})
    reason = complaints[-1].removeprefix(f"{where}: ")
    raise InputError(f"--set {overrides[first - 1]}: {reason}" if first else f"{where}: {reason}")


def make_experiment(data: Mapping[str, Any], *, where: str = "experiment") -> Experiment:
    """Build an experiment from plain data such as a TOML table; `where` opens the sentence of any complaint."""
    return validate(Experiment, data, where=where)


def apply_overrides(data: Mapping[str, Any], overrides: Iterable[str]) -> dict[str, Any]:
    """Return a copy of nested tables with `key.key=value` texts applied; a value is read as TOML, or else as text.

    >>> apply_overrides({"deals": 5, "rules": {}}, ["deals=10", "rules.bonus.column=5", "log=moves"])
    {'deals': 10, 'rules': {'bonus': {'column': 5}}, 'log': 'moves'}
    """
    result = _copy_tables(data)
    for override in overrides:
        key, is_assigned, text = (part.strip() for part in override.partition("="))
        parts = key.split(".")
        if not is_assigned or not all(parts):
            raise InputError(f"--set {override!r}: must be KEY=VALUE, such as rules.bonus.column=5")
        table = result
        for part in parts[:-1]:
            table = table.setdefault(part, {})
            if not isinstance(table, dict):
                raise InputError(f"--set {override!r}: {part!r} holds {table!r}, which has no keys below it")
        table[parts[-1]] = _parse_value(text)
    return result


def list_lineups(specs: Sequence[str], players: int, schedule: str) -> list[Lineup]:
    """List the line-ups of a schedule.

    `self_play` seats each spec in all seats. `round_robin` takes every choice of as many specs as there are
    players; with fewer specs than players, every way to fill the table with each spec sitting at least once.

    >>> list_lineups(["a", "b", "c"], 2, "round_robin")
    [('a', 'b'), ('a', 'c'), ('b', 'c')]
    >>> list_lineups(["a", "b"], 3, "round_robin")
    [('a', 'a', 'b'), ('a', 'b', 'b')]
    """
    if schedule == "self_play":
        return [(spec,) * players for spec in specs]
    if len(specs) >= players:
        return list(itertools.combinations(specs, players))
    filled = itertools.combinations_with_replacement(specs, players)
    return [lineup for lineup in filled if len(set(lineup)) == len(specs)]


def list_seatings(lineup: Lineup, kind: str) -> Seatings:
    """List the distinct seatings of a line-up: for each, the player (place in `lineup`) of each seat.

    `cyclic` are the rotations, `full` all orders; two that seat the same specs alike are one.

    >>> list_seatings(("a", "b", "c"), "cyclic")
    ((0, 1, 2), (1, 2, 0), (2, 0, 1))
    >>> list_seatings(("a", "a"), "full")
    ((0, 1),)
    """
    n = len(lineup)
    rotations = (tuple((seat + turn) % n for seat in range(n)) for turn in range(n))
    orders = rotations if kind == "cyclic" else itertools.permutations(range(n))
    distinct: dict[Lineup, tuple[int, ...]] = {}
    for order in orders:
        distinct.setdefault(tuple(lineup[player] for player in order), order)
    return tuple(distinct.values())


# Pieces of validation


def _freeze(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _freeze(item) for key, item in value.items()}
    return tuple(map(_freeze, value)) if isinstance(value, list | tuple) else value


def _distinct(values: tuple[Any, ...]) -> tuple[Any, ...]:
    for value in values:
        if values.count(value) > 1:
            raise ValueError(f"{value!r} stands there twice")
    return values


def _check_player_counts(values: tuple[Any, ...]) -> None:
    for value in values:
        if type(value) is not int or not MIN_PLAYERS <= value <= MAX_PLAYERS:
            raise ValueError(f"players: {value!r} is not a number from {MIN_PLAYERS} to {MAX_PLAYERS}")


def _as_lineup(value: Any) -> Lineup:
    lineup = (value,) if isinstance(value, str) else value
    if not isinstance(lineup, tuple) or not lineup or not all(isinstance(spec, str) for spec in lineup):
        raise ValueError(f"lineup: {value!r} is neither a spec nor a list of specs")
    return lineup


def _change_rule(rules: Rules, key: str, value: Any) -> Rules:
    """Return rules with one value changed; `ValueError` if there is no such rule or it cannot be so."""
    path = key.split(".")[1:]
    data = rules.model_dump(by_alias=True)
    table: Any = data
    for part in path[:-1]:
        table = table.get(part)
        if not isinstance(table, dict):
            raise ValueError(f"unknown key {key!r}{did_you_mean(part, data)}")
    table[path[-1]] = value
    try:
        return make_rules(data)
    except InputError as error:
        raise ValueError(str(error)) from None


def _copy_tables(table: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _copy_tables(value) if isinstance(value, Mapping) else value for key, value in table.items()}


def _parse_value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
