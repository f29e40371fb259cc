"""The experiment as a value, and what makes one whole."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tomli_w
from pydantic import Field, ValidationInfo, field_validator, model_validator

from azulsim.config import Frozen, flatten_keys, show_value
from azulsim.errors import did_you_mean
from azulsim.experiment.kinds import as_rules_text, is_rule, read_rules_text, vary_rules
from azulsim.experiment.lineups import Lineup, Schedule, count_full_tables, find_places, is_pattern
from azulsim.experiment.probing import Probes
from azulsim.experiment.stopping import Stop
from azulsim.experiment.whatif import RETUNED, WhatIf
from azulsim.log.outcomes import TEMPO, describe_unprobed
from azulsim.rules import MAX_PLAYERS, MIN_PLAYERS, Rules
from azulsim.schema import MAX_CELLS, MAX_DEALS, TABLES, Depth

if TYPE_CHECKING:
    from azulsim.experiment.plan import Plan

PlayerCount = Annotated[int, Field(ge=MIN_PLAYERS, le=MAX_PLAYERS)]

VARIED = ("players", "lineup", "rules", "rules.<key>")
"""What a grid can vary besides places in specs."""
COLUMNS = {"cell", "players", "lineup", "seatings", "deals", "spec", RETUNED}.union(
    *({column.name for column in table.columns} for table in TABLES.values())
)
"""Names that a place in a spec cannot have: it becomes a column of `Run.cells`, by which tables are filtered."""


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
    stop: Stop | None = None
    """The evidence at which to stop before all deals are played."""
    seatings: Literal["cyclic", "full"] = "cyclic"
    """Who sits where on each deal: every rotation of a line-up, or every order of it."""
    log: Depth = "games"
    """Depth of the log."""
    denial: bool = False
    """Whether `moves.denial` is computed too, which about halves the speed of play."""
    players: tuple[PlayerCount, ...] = ()
    """Player counts; if left out, those for which line-ups are written, or else 2."""
    lineup: Lineup = ()
    """One spec a player; a single spec sits in all seats (self-play)."""
    strategies: tuple[str, ...] = ()
    """Specs, or patterns of bundled names, that meet according to `schedule`."""
    schedule: Schedule = "round_robin"
    """Every choice of strategies against each other, each among the field `against`, or each against itself."""
    against: tuple[str, ...] = ()
    """The field of a gauntlet."""
    tables: Annotated[int, Field(ge=1)] | None = None
    """Most line-ups of a round robin at each player count; a balanced draw of so many if there are more."""
    rules: Rules = Rules()
    """What differs from the printed rules, or the name of a variant."""
    grid: dict[str, tuple[Any, ...]] = Field(default_factory=dict)
    """Values to vary: `players`, `lineup`, `rules`, any rule as `rules.x.y`, and places in specs by their names."""
    whatif: WhatIf | None = None
    """How the report `whatif` holds the rules that the grid varies against each other."""
    probes: Probes | None = None
    """What is tried out from positions of the games: who starts a round, and taking the marker."""
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

    @field_validator("rules", mode="before")
    @classmethod
    def _take_variant(cls, rules: Any) -> Any:
        return read_rules_text(rules) if isinstance(rules, str) else rules

    @field_validator("grid", mode="before")
    @classmethod
    def _flatten_grid(cls, grid: Any) -> Any:
        if not isinstance(grid, Mapping):
            return grid
        pairs = list(flatten_keys(grid))
        _distinct(tuple(key for key, _ in pairs))
        return dict(pairs)

    @field_validator("grid")
    @classmethod
    def _check_grid(cls, grid: dict[str, tuple[Any, ...]], info: ValidationInfo) -> dict[str, tuple[Any, ...]]:
        lineups = map(_as_lineup, grid.get("lineup", ()))
        places = find_places([spec for specs in (*_specs_in(info.data), *lineups) for spec in specs])
        checked = {}
        for key, values in grid.items():
            if not values:
                raise ValueError(
                    f"{key} = []: lists the values that are played in turn, and there are none (an empty list as such "
                    "a value is written [[]])"
                )
            check = _find_check(key, places)
            checked[key] = _distinct(tuple(map(check, values)))
        if "rules" in grid and info.data.get("rules", Rules()) != Rules():
            raise ValueError("rules stands both at the top and in the grid; keep one")
        for number, _ in enumerate(vary_rules(info.data.get("rules", Rules()), checked)):
            if number >= MAX_CELLS:
                raise ValueError(f"more than {MAX_CELLS:,} sets of rules; shorten it")
        return checked

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
        self._check_places()
        self._check_lineups()
        self._check_schedule()
        self._check_stop()
        if self.whatif:
            kinds = [rules for _, rules in vary_rules(self.rules, self.grid)]
            self.whatif.check(kinds, self.player_counts())
        return self

    def _check_places(self) -> None:
        places = find_places([*self.lineup, *self.strategies, *self.against, *itertools.chain(*self.lineups())])
        for place in places:
            if place not in self.grid:
                near = did_you_mean(place, set(self.grid) - set(VARIED))
                raise ValueError(f"{{{place}}} stands in a spec, and grid has no values for it{near}")

    def _check_lineups(self) -> None:
        counts = self.player_counts()
        for lineup in self.lineups():
            if len(lineup) > MAX_PLAYERS:
                raise ValueError(
                    f"lineup = {show_value(lineup)}: has {len(lineup)} specs; at most {MAX_PLAYERS} can play"
                )
            if len(lineup) not in (1, *counts):
                said = " or ".join(map(str, counts))
                raise ValueError(
                    f"lineup = {show_value(lineup)}: has {len(lineup)} specs, which fits no {said} players"
                )
        for players in counts if self.lineups() else ():
            if not any(len(lineup) in (1, players) for lineup in self.lineups()):
                raise ValueError(f"players: no lineup has {players} specs, or a single one for all seats")

    def _check_schedule(self) -> None:
        if not self.strategies and self.schedule != "round_robin":
            raise ValueError(f"schedule = {self.schedule!r}: says how strategies meet, and there are none")
        if bool(self.against) != (self.schedule == "gauntlet"):
            raise ValueError('against and schedule = "gauntlet" need each other: each strategy meets that field')
        if self.tables is not None and not (self.strategies and self.schedule == "round_robin"):
            raise ValueError(f"tables = {self.tables}: limits a round robin of strategies, and this is none")
        if self.schedule != "round_robin" or not self.strategies or any(map(is_pattern, self.strategies)):
            return
        if len(self.strategies) < 2:
            raise ValueError('a round robin needs two strategies or more; for one, use schedule = "self_play"')
        fewest = max(count_full_tables(len(self.strategies), players) for players in self.player_counts())
        if self.tables is not None and self.tables < fewest:
            raise ValueError(f"tables = {self.tables}: so few strategies need {fewest} to sit equally often")

    def _check_stop(self) -> None:
        if self.stop and self.stop.rule.outcome.startswith(TEMPO) and not (self.probes and self.probes.tempo):
            raise ValueError(f"stop: {describe_unprobed(self.stop.rule.outcome)}")

    def player_counts(self) -> tuple[int, ...]:
        """Return the player counts: as said, or those for which line-ups are written, or else 2."""
        if "players" in self.grid:
            return self.grid["players"]
        written = {len(lineup) for lineup in self.lineups()} & set(range(MIN_PLAYERS, MAX_PLAYERS + 1))
        return self.players or tuple(sorted(written)) or (MIN_PLAYERS,)

    def lineups(self) -> tuple[Lineup, ...]:
        """Return the line-ups that are written out; none if `strategies` says who plays."""
        return self.grid.get("lineup", (self.lineup,) if self.lineup else ())

    def looks(self) -> tuple[int, ...]:
        """Return the numbers of deals a cell at which the run may stop; the last is `deals`."""
        return self.stop.looks(self.deals) if self.stop else (self.deals,)

    def plan(self, *, project: Path | None = None, where: str = "") -> Plan:
        """Expand the experiment into cells: every player count x every set of rules x every line-up.

        Parameters
        ----------
        project
            Folder in which strategies and reports are looked up besides the bundled ones; the working directory if
            left out.
        where
            What opens the sentence of any complaint, such as a file; the experiment's name if left out.

        Raises
        ------
        InputError
            For an unknown strategy, parameter or report, the same strategy twice in a schedule, two cells that would
            play the same games, or too many cells.
        """
        from azulsim.experiment.plan import make_plan

        return make_plan(self, project=project, where=where or self.name)

    def to_toml(self) -> str:
        """Return the experiment as TOML with every default spelled out; `read_experiment` reads it back equal."""
        data = self.model_dump(mode="json", by_alias=True, exclude={"question"}, exclude_none=True)
        body = tomli_w.dumps({key: value for key, value in data.items() if value not in ([], {}, None)})
        return f"# {self.question}\n\n{body}" if self.question else body


def _freeze(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _freeze(item) for key, item in value.items()}
    return tuple(map(_freeze, value)) if isinstance(value, list | tuple) else value


def _distinct(values: tuple[Any, ...]) -> tuple[Any, ...]:
    with suppress(TypeError):  # tables have no hash
        if len(set(values)) == len(values):
            return values
    for value in values:
        if values.count(value) > 1:
            raise ValueError(f"{value!r} stands there twice")
    return values


def _specs_in(data: Mapping[str, Any]) -> Iterator[Lineup]:
    for key in ("lineup", "strategies", "against"):
        yield data.get(key, ())


# Values of a grid


def _find_check(key: str, places: tuple[str, ...]) -> Callable[[Any], Any]:
    """Return what checks a value of the key, and brings it into the form in which it is kept."""
    if key in ("players", "lineup", "rules"):
        return {"players": _as_player_count, "lineup": _as_lineup, "rules": as_rules_text}[key]
    if is_rule(key):
        return lambda value: value
    if key not in places:
        raise ValueError(f"{key!r} cannot be varied{did_you_mean(key, [*VARIED, f'{{{key}}} in a spec', *places])}")
    if key in COLUMNS:
        raise ValueError(f"{{{key}}} has the name of a column of the log; choose another, such as {{{key}_}}")
    return lambda value: _as_place(key, value)


def _as_player_count(value: Any) -> int:
    if type(value) is not int or not MIN_PLAYERS <= value <= MAX_PLAYERS:
        raise ValueError(f"players: {value!r} is not a number from {MIN_PLAYERS} to {MAX_PLAYERS}")
    return value


def _as_lineup(value: Any) -> Lineup:
    lineup = (value,) if isinstance(value, str) else value
    if not isinstance(lineup, tuple) or not lineup or not all(isinstance(spec, str) for spec in lineup):
        raise ValueError(f"lineup: {value!r} is neither a spec nor a list of specs")
    return lineup


def _as_place(key: str, value: Any) -> int | float | str:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"{key}: {show_value(value)} is neither a number nor a text")
    return value
