"""What a run folder says of itself, as frozen values: its cells, its manifest, and the commit marker of a shard."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args

from pydantic import Field, field_validator

from azulsim.config import Frozen, validate
from azulsim.errors import InputError
from azulsim.log.store import list_folder, read_files
from azulsim.rules import MAX_PLAYERS, MIN_PLAYERS, Rules
from azulsim.schema import MAX_CELLS, MAX_DEALS, TABLES, Depth, Table, stored_at, tables_at

FORMAT = 1
"""Version of the run folder's layout; a folder with a higher one is refused."""

Count = Annotated[int, Field(ge=0)]
CellIndex = Annotated[int, Field(ge=0, lt=MAX_CELLS)]
DealIndex = Annotated[int, Field(ge=0, lt=MAX_DEALS)]

TableName = Annotated[str, Field(pattern=f"^({'|'.join(TABLES)})$")]

_SHARD_NAME = re.compile(r"c(\d{5})-d(\d{10})")


@dataclass(frozen=True, order=True)
class Shard:
    """A fixed range of deals of one cell: what one worker plays and writes at a time."""

    cell: int
    first_deal: int
    n_deals: int

    @property
    def name(self) -> str:
        """Return the name of its files; names sort in canonical order."""
        return f"c{self.cell:05d}-d{self.first_deal:010d}"


def is_shard_name(text: str) -> bool:
    """Tell whether `text` names a shard, and so may become part of a path."""
    return _SHARD_NAME.fullmatch(text) is not None


class Cell(Frozen):
    """One player count, one set of rules and one line-up: what a game of the experiment can be."""

    index: CellIndex
    players: Annotated[int, Field(ge=MIN_PLAYERS, le=MAX_PLAYERS)]
    lineup: tuple[str, ...]
    """Canonical spec of each player; the same spec may sit several times."""
    seatings: tuple[tuple[int, ...], ...]
    """For each seating, the player (place in `lineup`) of each seat."""
    deals: DealIndex
    rules: Rules = Rules()
    factors: dict[str, Any] = Field(default_factory=dict)
    """What the grid varies in this cell, such as `{"players": 2, "rules.bonus.column": 5}`."""

    @property
    def n_display_tiles(self) -> int:
        """Number of tiles on all displays at the start of a round, which is the width of the text that logs them."""
        return self.rules.n_displays(self.players) * self.rules.tiles_per_display

    def spec_at(self, seating: int, seat: int) -> str:
        """Return the spec that sits in a seat."""
        return self.lineup[self.seatings[seating][seat]]


class Part(Frozen):
    """One table of a shard, as its commit marker describes it."""

    rows: Count
    bytes: Count
    content: str
    """Fingerprint of the table's content, independent of how parquet stores it."""


class Commit(Frozen):
    """The commit marker of a shard."""

    shard: str
    cell: CellIndex
    first_deal: DealIndex
    n_deals: Count
    n_games: Count
    n_moves: Count
    n_failures: Count
    seconds: float = 0.0
    """Time that a worker took to play and write it."""
    doubts: tuple[str, ...] = ()
    """Why its games may not come out the same when they are played again."""
    outcome: tuple[Count, float, float] | None = None
    """Number, sum and sum of squares of the outcome that the run is about, deal by deal (`outcomes.sum_outcome`); for
    people to see how well it is known while the run is played."""
    tables: dict[TableName, Part]


S = TypeVar("S")


class CellEvidence(Frozen):
    """What is known of one cell when a run that stops by evidence has ended."""

    cell: CellIndex
    verdict: Literal["precise", "above", "below", "within", "undecided"]
    value: float | None = None
    """Mean of the outcome over the deals; none if no deal counts."""
    low: float | None = None
    high: float | None = None
    """Ends of its interval; none if there is none."""

    def __str__(self) -> str:
        value = "no deal counts" if self.value is None else f"{self.value:.4g}"
        ends = "no interval" if self.low is None else f"{self.low:.4g} to {self.high:.4g}"
        return f"cell {self.cell}: {value} ({ends}), {self.verdict}"


class Stopped(Frozen):
    """Where a run that stops by evidence has stopped, and why."""

    deals: Count
    """Deals of each cell that were played."""
    most: Annotated[int, Field(ge=1)]
    """Deals of each cell that would have been played for want of evidence."""
    looks: tuple[Count, ...]
    """Deals at each look taken."""
    looks_planned: Count
    goal: str
    """What the rule asks for, in words."""
    level: Annotated[float, Field(gt=0, lt=1)]
    """Level of the intervals."""
    is_anytime: bool
    """True if the intervals hold at all looks at once."""
    evidence: tuple[CellEvidence, ...]
    """A row a cell."""

    @property
    def is_met(self) -> bool:
        """True if the goal was reached in every cell."""
        return all(found.verdict != "undecided" for found in self.evidence)

    def __str__(self) -> str:
        taken = f"look {len(self.looks)} of {self.looks_planned}, {self.deals:,} of {self.most:,} deals a cell"
        met = sum(found.verdict != "undecided" for found in self.evidence)
        reached = "reached" if self.is_met else f"reached in {met:,} of {len(self.evidence):,} cells"
        ended = "stopped by evidence" if self.is_met else "played to the end, since the evidence was not enough"
        text = f"{ended}, at {taken}; wanted: {self.goal}: {reached}"
        shown = "; ".join(map(str, self.evidence[:MAX_EVIDENCE_SHOWN]))
        more = "; and so on" if len(self.evidence) > MAX_EVIDENCE_SHOWN else ""
        kind = f"{100 * self.level:.4g} %{' anytime' if self.is_anytime else ''} intervals"
        caution = (
            ". Reports give intervals for a fixed number of deals, which are too narrow for an outcome that was tested "
            "until something was clear"
        )
        return f"{text}. {kind}: {shown}{more}{caution if self.is_anytime else ''}"


MAX_EVIDENCE_SHOWN = 4


OutcomeName = Literal["win_share", "margin", "score", "tempo.win_share", "tempo.margin", "tempo.score"]


class Manifest(Frozen):
    """What was asked, how it was made, and when."""

    format: int = FORMAT
    azulsim: str
    """Version that made the run."""
    source: str = ""
    """SHA-256 of the source of that version itself, as a checkout may be edited."""
    name: str
    question: str = ""
    seed: int
    log: Depth
    cells: tuple[Cell, ...]
    specs: tuple[str, ...]
    """The run's strategies in canonical order; the categories of every `spec` column."""
    shards: Count
    """Number of shards planned."""
    share: Annotated[str, Field(pattern=r"^([1-9]\d*/[1-9]\d*)?$")] = ""
    """Which of them this folder is to hold: `"i/n"` for every n-th from the i-th on, all if empty."""
    experiment: dict[str, Any]
    """The experiment with every default spelled out."""
    sources: dict[str, str] = Field(default_factory=dict)
    """SHA-256 of the file that holds each strategy."""
    reports: tuple[str, ...] = ()
    on_failure: Literal["leave-out", "forfeit"] = "leave-out"
    """What is done about a game that a strategy spoils: its deal is left out, or the game is lost by that strategy."""
    started: str = ""
    finished: str = ""
    seconds: float = 0.0
    """Time that the last sitting took."""
    jobs: Count = 0
    doubts: tuple[str, ...] = ()
    """Why its games may not come out the same when they are played again; set when it is finished."""
    stopped: Stopped | None = None
    """Why it ended where it did, if it stops by evidence; `cells` and `shards` are then those that were played."""

    @field_validator("cells")
    @classmethod
    def _check_cells(cls, cells: tuple[Cell, ...]) -> tuple[Cell, ...]:
        seen: set[int] = set()
        for cell in cells:
            if cell.index in seen:
                raise ValueError(f"two cells have index {cell.index}")
            seen.add(cell.index)
        return cells

    @property
    def is_probed(self) -> bool:
        """True if the experiment asks for probes."""
        return bool(self.experiment.get("probes"))

    @property
    def outcome(self) -> OutcomeName:
        """The outcome that the run is about: the one it may stop by, else the win share."""
        stop = self.experiment.get("stop")
        rules = [rule for rule in stop.values() if isinstance(rule, dict)] if isinstance(stop, dict) else []
        named = (name for rule in rules for name in get_args(OutcomeName) if name == rule.get("outcome"))
        return next(named, "win_share")

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables that the run holds, views included, but for failures."""
        return tables_at(self.log, is_probed=self.is_probed)

    @property
    def stored(self) -> tuple[Table, ...]:
        """The tables of which the run has files, but for failures."""
        return stored_at(self.log, is_probed=self.is_probed)

    def take_share(self, shards: Iterable[S]) -> Iterator[S]:
        """Yield those of all planned shards that are this folder's share."""
        return itertools.islice(shards, *self._slice)

    @property
    def n_own_shards(self) -> int:
        """Number of shards that the folder holds when it is finished."""
        first, _, step = self._slice
        return len(range(first, self.shards, step))

    @property
    def _slice(self) -> tuple[int, None, int]:
        number, count = map(int, self.share.split("/")) if self.share else (1, 1)
        return number - 1, None, count


T = TypeVar("T", Manifest, Commit)


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of a run folder.

    Raises
    ------
    InputError
        If there is no such folder, it is no run folder, or its manifest is damaged or too new.
    """
    path = folder / "manifest.json"
    if not folder.exists():
        raise InputError(f"{folder}: no such run folder")
    if not folder.is_dir():
        raise InputError(f"{folder}: is a file; a run is a folder with a manifest.json")
    if not path.exists():
        raise InputError(f"{folder}: not a run folder: it has no manifest.json")
    data = _read_json(path)
    if not isinstance(data, dict) or not isinstance(data.get("format"), int):
        raise InputError(f"{path}: not the manifest of an azulsim run: it has no number under 'format'")
    if data["format"] > FORMAT:
        maker = data.get("azulsim", "a later version")
        raise InputError(f"{path}: format = {data['format']}: made by azulsim {maker}; this one reads up to {FORMAT}")
    return validate(Manifest, data, where=str(path))


def read_commits(folder: Path) -> list[Commit]:
    """Read the valid commit markers of a run folder, in canonical order; damaged ones do not count."""
    names = sorted(name for name in list_folder(folder / "commits") if name.endswith(".json"))
    paths = [folder / "commits" / name for name in names if is_shard_name(name.removesuffix(".json"))]
    found = map(_parse_commit, paths, read_files(paths))
    return [commit for commit in found if commit is not None]


def _parse_commit(path: Path, data: bytes | None) -> Commit | None:
    try:
        commit = validate(Commit, _parse_json(path, data or b""), where=str(path))
    except InputError:
        return None
    expected = Shard(commit.cell, commit.first_deal, commit.n_deals).name
    return commit if commit.shard == path.stem == expected else None


def table_path(folder: Path, table: str, shard: str) -> Path:
    """Return where a table of a shard is kept."""
    return folder / table / f"{shard}.parquet"


def find_gaps(folder: Path, commits: Sequence[Commit]) -> dict[str, str]:
    """Say of each committed shard which file is missing or not as long as its marker says; sound ones are left out."""
    tables = {table for commit in commits for table in commit.tables}
    sizes = {table: list_folder(folder / table) for table in sorted(tables)}
    found = ((commit.shard, _find_gap(folder, commit, sizes)) for commit in commits)
    return {shard: gap for shard, gap in found if gap}


def _find_gap(folder: Path, commit: Commit, sizes: Mapping[str, Mapping[str, int]]) -> str:
    for table, part in commit.tables.items():
        path = table_path(folder, table, commit.shard)
        size = sizes[table].get(path.name, -1)
        if size < 0:
            return f"{path}: missing, though its commit marker is there"
        if size != part.bytes:
            return f"{path}: has {size} bytes where its commit marker says {part.bytes}"
    return ""


def dump_json(value: Manifest | Commit) -> bytes:
    """Return a manifest or commit marker as the JSON text that is stored."""
    return (json.dumps(value.model_dump(mode="json", by_alias=True), indent=1) + "\n").encode()


def _read_json(path: Path) -> Any:
    try:
        return _parse_json(path, path.read_bytes())
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None


def _parse_json(path: Path, data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not valid JSON: {error}") from None
