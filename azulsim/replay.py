"""Checks a run by playing its log again, and shows logged games.

Nothing that a run folder holds is executed, and no strategy is imported: the logged moves are enough. Fingerprints
tell whether a file is as it was written; replaying tells whether what was written can be true, so that a changed cell
is found even if whoever changed it made the fingerprints anew.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import numpy.typing as npt

from azulsim.engine import driver, replaying
from azulsim.engine.compiling import address_of
from azulsim.engine.driver import LIVE, PLAN, Log, join_displays, make_log
from azulsim.engine.luck import DEAL_DOMAIN, DECISION_DOMAIN, root_key
from azulsim.engine.record import GAME, SEAT, make_template
from azulsim.engine.replaying import SPAN, Logged
from azulsim.errors import InputError, RunError
from azulsim.game import Game, replay_moves
from azulsim.jobs import count_workers
from azulsim.log import Cell, Commit, Manifest, Run, Stopped, locate, probing, read_outcome, sum_outcome
from azulsim.log.check import Columns, find_leftovers, find_stray_markers, read_columns, read_failures
from azulsim.log.manifest import find_gaps, read_commits, read_manifest
from azulsim.log.outcomes import estimate_outcome
from azulsim.log.read import describe_gap, format_count, list_runs
from azulsim.notation import GameRecord, Position, Round, draw_text
from azulsim.rules import Termination
from azulsim.schema import (
    CELL_SHIFT,
    DEAL_SHIFT,
    GAMES,
    MAX_DEALS,
    MAX_SEATINGS,
    MOVES,
    NOT_LOGGED,
    PROBES,
    ROOTS,
    ROUNDS,
    Column,
    Table,
    game_id,
)

Array = npt.NDArray[Any]

MAX_SHOWN = 20
"""Disagreements that are named; the others are counted."""

CHECKS = {
    "games": "fingerprints; every game and seat there once; specs, placements, win shares, bonuses, ends and scores "
    "against the other columns of games",
    "rounds": "fingerprints; games as at depth games; every round there once; rounds against one another and totals "
    "against games",
    "moves": "fingerprints; every game replayed from its deal and its moves, and every cell compared",
}
"""What can be checked at each depth of the log."""
CHECKS_OF_PROBES = (
    "; of probes: every root and continued game there once and where its game has it, and its seats against one "
    "another; what the strategy liked best in a root only by its limits"
)
CHECKS_OF_EVIDENCE = "; the evidence by which the run ended"


@dataclass(frozen=True)
class Disagreement:
    """A row, or a part of the run folder, that is not as it must be."""

    table: str
    shard: str
    text: str
    """What is wrong, for a person."""
    key: Mapping[str, int] = field(default_factory=dict)
    """The key columns of the row, as they must be."""
    column: str = ""
    logged: Any = None
    replayed: Any = None

    def __str__(self) -> str:
        row = "".join(f" {name}={value}" for name, value in self.key.items())
        return f"{f'{self.table} {self.shard}'.rstrip()}{row}: {self.text}"


@dataclass(frozen=True)
class Verification:
    """What a check of a run found."""

    run: Path
    depth: str
    checks: str
    n_games: int
    n_shards: int
    n_planned: int
    disagreements: tuple[Disagreement, ...]
    """The first ones, in canonical order."""
    n_disagreements: int
    gap: str = ""
    """Which part of the run is not there, and how to go on; empty if all is."""
    leftovers: tuple[str, ...] = ()
    """Files of an unfinished run that have no commit marker, so that they do not count."""

    @property
    def is_good(self) -> bool:
        """True if something was checked and nothing disagrees."""
        return self.n_shards > 0 and self.n_disagreements == 0

    def __str__(self) -> str:
        lines = [str(disagreement) for disagreement in self.disagreements]
        if more := self.n_disagreements - len(self.disagreements):
            lines.append(f"... and {more:,} more")
        games = format_count(self.n_games, "game")
        if self.n_disagreements:
            lines.append(f"{self.run}: {format_count(self.n_disagreements, 'disagreement')}; {games}")
        elif self.n_shards:
            lines.append(f"{self.run}: all well; {games}")
        else:
            lines.append(f"{self.run}: nothing to check, as no shard is finished")
        if self.gap:
            lines.append(self.gap)
        if self.leftovers:
            files = format_count(len(self.leftovers), "file")
            names = ", ".join([*self.leftovers[:MAX_SHOWN], *(["..."] if len(self.leftovers) > MAX_SHOWN else [])])
            lines.append(
                f"{files} without a commit marker, which azulsim passes over and other readers do not (azulsim resume "
                f"overwrites what an interrupted shard left): {names}"
            )
        if self.n_shards:
            lines.append(f"checked at log depth {self.depth}: {self.checks}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data for JSON."""
        return {
            "run": str(self.run),
            "ok": self.is_good,
            "depth": self.depth,
            "checks": self.checks,
            "games": self.n_games,
            "shards": self.n_shards,
            "shards_planned": self.n_planned,
            "gap": self.gap,
            "leftovers": list(self.leftovers),
            "n_disagreements": self.n_disagreements,
            "disagreements": [
                {
                    "table": item.table,
                    "shard": item.shard,
                    "key": dict(item.key),
                    "column": item.column,
                    "logged": item.logged,
                    "replayed": item.replayed,
                    "text": str(item),
                }
                for item in self.disagreements
            ],
        }


def verify_run(path: str | Path, *, jobs: int | None = 1) -> Verification:
    """Check the fingerprints of a run, and replay every logged game.

    Parameters
    ----------
    path
        The run folder.
    jobs
        Threads that check shards side by side; as many as there are cores if None.

    Raises
    ------
    InputError
        If there is no such folder, it is no run folder, or `jobs` is no number of workers.
    """
    workers = count_workers(jobs)
    folder = locate(path)
    manifest = read_manifest(folder)
    commits = read_commits(folder)
    found = _Findings()
    for name in find_stray_markers(folder, commits):
        found.add(Disagreement("commits", name, "the commit marker is damaged or misnamed"))
    found.extend(_check_shards(manifest, commits))
    found.extend(Disagreement("commits", shard, gap) for shard, gap in find_gaps(folder, commits).items())
    leftovers = list(find_leftovers(folder, commits))
    if manifest.finished:
        found.extend(_check_finished(manifest, commits, leftovers))
    cells = {cell.index: cell for cell in manifest.cells}
    known = [commit for commit in commits if commit.cell in cells]
    check = partial(_check_shard, folder, manifest)
    if workers == 1:
        results: Iterable[_Findings] = (check(cells[commit.cell], commit) for commit in known)
    else:
        parallel = joblib.Parallel(n_jobs=workers, backend="threading", return_as="generator")
        results = parallel(joblib.delayed(check)(cells[commit.cell], commit) for commit in known)
    for result in results:
        found.join(result)
    if manifest.stopped and not found.n:  # tables that are wrong themselves tell nothing
        found.extend(_check_evidence(Run(folder, manifest, commits), manifest.stopped))
    return Verification(
        run=folder,
        depth=manifest.log,
        checks=CHECKS[manifest.log]
        + CHECKS_OF_PROBES * manifest.is_probed
        + CHECKS_OF_EVIDENCE * (manifest.stopped is not None),
        n_games=sum(commit.n_games for commit in commits),
        n_shards=len(commits),
        n_planned=manifest.shards,
        disagreements=tuple(found.items),
        n_disagreements=found.n,
        gap=describe_gap(manifest, len(commits), str(folder)) if len(commits) < manifest.shards else "",
        leftovers=() if manifest.finished else tuple(f"{table}/{name}" for table, name in leftovers),
    )


class _Findings:
    """The first disagreements, and how many there are."""

    def __init__(self) -> None:
        self.items: list[Disagreement] = []
        self.n = 0

    def add(self, item: Disagreement) -> None:
        self.extend([item])

    def extend(self, items: Iterable[Disagreement], n: int | None = None) -> None:
        """Take disagreements; `n` says how many there are if only the first are given."""
        items = list(items)
        self.items += items[: MAX_SHOWN - len(self.items)]
        self.n += len(items) if n is None else n

    def join(self, other: _Findings) -> None:
        self.extend(other.items, other.n)


def _check_shards(manifest: Manifest, commits: Sequence[Commit]) -> Iterator[Disagreement]:
    """Find shards that the experiment does not have, or that overlap."""
    deals = {cell.index: cell.deals for cell in manifest.cells}
    ends: dict[int, int] = {}
    for commit in commits:
        if commit.first_deal < ends.get(commit.cell, 0):
            yield Disagreement("commits", commit.shard, "its deals overlap those of the shard before")
        ends[commit.cell] = commit.first_deal + commit.n_deals
        if commit.cell not in deals:
            yield Disagreement("commits", commit.shard, f"the manifest has no cell {commit.cell}")
        elif ends[commit.cell] > deals[commit.cell]:
            yield Disagreement("commits", commit.shard, f"the manifest plans {deals[commit.cell]} deals of its cell")


def _check_finished(
    manifest: Manifest, commits: Sequence[Commit], leftovers: Iterable[tuple[str, str]]
) -> Iterator[Disagreement]:
    """Find what a finished run lacks, and files that it has too many."""
    if (missing := manifest.n_own_shards - len(commits)) > 0:
        own = format_count(manifest.n_own_shards, "shard")
        text = f"the manifest says that the run was finished, but of {own} {missing:,} have no commit marker"
        yield Disagreement("manifest", "", text)
    for table, name in leftovers:
        yield Disagreement(table, name, "no commit marker names this file, yet readers other than azulsim read it")


def _check_evidence(run: Run, stopped: Stopped) -> Iterator[Disagreement]:
    """Hold what the manifest says of the evidence by which a run ended against its tables."""
    deals = {cell.deals for cell in run.manifest.cells}
    if deals != {stopped.deals} or stopped.looks[-1:] != (stopped.deals,):
        yield Disagreement(
            "manifest", "", f"stopped: deals is {stopped.deals:,}, not that of the cells and the last look"
        )
        return
    outcome = run.manifest.outcome
    try:
        values = read_outcome(run, outcome, deals=stopped.deals)
    except InputError as error:
        yield Disagreement("manifest", "", f"stopped: {error}")
        return
    if [found.cell for found in stopped.evidence] != list(values):
        yield Disagreement("manifest", "", "stopped: its evidence is not that of the cells, one after the other")
        return
    for said in stopped.evidence:
        seen: tuple[float | None, ...] = (None, None, None)
        if len(values[said.cell]):
            most = stopped.most if stopped.is_anytime else None
            found = estimate_outcome(values[said.cell], outcome, level=stopped.level, most=most)
            seen = (found.value, found.low, found.high) if found.has_interval else (found.value, None, None)
        logged, replayed = np.array([(said.value, said.low, said.high), seen], np.float64)
        if not np.allclose(logged, replayed, rtol=1e-9, atol=1e-12, equal_nan=True):
            told = f"value, low and high of {outcome} are {said.value}, {said.low}, {said.high}"
            by_tables = ", ".join(map(str, seen))
            yield Disagreement("manifest", "", f"stopped: cell {said.cell}: {told}; by the tables {by_tables}")


# One shard


@dataclass
class _Shard:
    """A shard being checked."""

    folder: Path
    manifest: Manifest
    cell: Cell
    commit: Commit
    found: _Findings = field(default_factory=_Findings)
    failures: list[dict[str, Any]] = field(default_factory=list)
    compared: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """The columns of each table that were held against what they must be."""

    @property
    def numbers(self) -> npt.NDArray[np.int64]:
        """The games that must have ended by the rules: deal (from the shard's first) * seatings + seating."""
        n = len(self.cell.seatings)
        numbers = np.arange(self.commit.n_deals * n)
        deals = np.array([row["deal"] - self.commit.first_deal for row in self.failures], np.int64)
        if self.has_forfeits:
            return numbers[~np.isin(numbers, deals * n + [row["seating"] for row in self.failures])]
        return numbers[~np.isin(numbers // n, deals)]

    @property
    def has_forfeits(self) -> bool:
        """True if each game that failed must be there too, as one that was forfeited."""
        return self.manifest.on_failure == "forfeit" and bool(self.failures)

    def complain(self, table: str, text: str, **details: Any) -> None:
        self.found.add(Disagreement(table, self.commit.shard, text, **details))

    def names_of(self, column: Column) -> tuple[str, ...]:
        return self.manifest.specs if column.name == "spec" else column.names


def _check_shard(folder: Path, manifest: Manifest, cell: Cell, commit: Commit) -> _Findings:
    shard = _Shard(folder, manifest, cell, commit)
    _check_failures(shard)
    tables: dict[str, Columns] = {}
    for table in manifest.stored:
        try:
            tables[table.name] = _read_table(shard, table)
        except InputError as error:
            shard.complain(table.name, str(error))
    if len(tables) == len(manifest.stored):
        _check_counts(shard, tables)
        if shard.has_forfeits:
            tables["games"] = _check_forfeits(shard, tables["games"])
        _CHECKERS[manifest.log](shard, tables)
        if manifest.is_probed:
            _check_probes(shard, tables)
        for table in manifest.stored:
            _check_empty(shard, table, tables[table.name])
    return shard.found


def _read_table(shard: _Shard, table: Table) -> Columns:
    part = shard.commit.tables.get(table.name)
    if part is None:
        raise InputError("the commit marker does not name it")
    specs = shard.manifest.specs
    columns = read_columns(shard.folder, table, shard.commit.shard, specs=specs, text_width=shard.cell.n_display_tiles)
    if columns.content != part.content:
        shard.complain(table.name, f"its content has the fingerprint {columns.content}, not {part.content}")
    if len(columns) != part.rows:
        shard.complain(table.name, f"it has {len(columns)} rows, not {part.rows}")
    return columns


def _check_failures(shard: _Shard) -> None:
    """Check what can be known of failures: which game it was, and who sat there."""
    part = shard.commit.tables.get("failures")
    if part is None:
        return
    try:
        rows, content = read_failures(shard.folder, shard.commit.shard)
    except InputError as error:
        shard.complain("failures", str(error))
        return
    if content != part.content or len(rows) != part.rows:
        shard.complain("failures", f"its content has the fingerprint {content}, not {part.content}")
    commit, cell = shard.commit, shard.cell
    for row in rows:
        deal, seating, seat = row["deal"], row["seating"], row["seat"]
        is_inside = commit.first_deal <= deal < commit.first_deal + commit.n_deals
        expected: dict[str, Any] = {"cell": cell.index, "game": game_id(cell.index, deal, seating)}
        if is_inside and seating < len(cell.seatings) and seat < cell.players:
            expected["spec"] = cell.spec_at(seating, seat)
        else:
            shard.complain("failures", "the shard has no such deal, seating and seat", key={"game": row["game"]})
        for column, value in expected.items():
            if row[column] != value:
                text = f"{column} is {row[column]!r} in the log, {value!r} by the other columns"
                details = {"column": column, "logged": row[column], "replayed": value}
                shard.complain("failures", text, key={"game": expected["game"]}, **details)
    shard.failures = rows


def _check_counts(shard: _Shard, tables: Mapping[str, Columns]) -> None:
    """Hold the counts of the commit marker against the tables."""
    commit, games = shard.commit, tables["games"]
    seats = games.values["seat"]
    counts = {
        "n_games": (commit.n_games, len(shard.numbers) + shard.has_forfeits * len(shard.failures)),
        "n_moves": (commit.n_moves, int(games.values["plies"][seats == 0].sum(dtype=np.int64))),
        "n_failures": (commit.n_failures, len(shard.failures)),
    }
    for name, (said, counted) in counts.items():
        if said != counted:
            shard.complain("commits", f"{name} is {said}, by the tables {counted}")
    if commit.outcome is not None:
        outcome = shard.manifest.outcome
        try:
            found = sum_outcome({name: columns.values for name, columns in tables.items()}, shard.cell, outcome)
        except (KeyError, ValueError):  # rows are missing, or a table that the outcome needs: they are wrong
            return
        if not np.allclose(commit.outcome, found, rtol=1e-9, atol=0):
            what = f"number, sum and sum of squares of {outcome}"
            shard.complain("commits", f"{what} are {commit.outcome}, by the tables {found}")


def _check_forfeits(shard: _Shard, games: Columns) -> Columns:
    """Hold the rows of forfeited games against the failures and one another; return those of all other games."""
    cell, players, rules = shard.cell, shard.cell.players, shard.cell.rules
    known = (row for row in shard.failures if row["seating"] < len(cell.seatings) and row["seat"] < players)
    failures = sorted(known, key=lambda row: int(row["game"]))
    is_forfeited = np.isin(games.values["game"], [row["game"] for row in failures])
    found, rest = _choose_rows(games, is_forfeited), _choose_rows(games, ~is_forfeited)
    if len(found) != players * len(failures):
        shard.complain("games", f"there are {len(found)} rows for {players * len(failures)} seats of forfeited games")
        return rest
    codes = np.array([shard.manifest.specs.index(spec) for spec in cell.lineup])
    seats, loser = np.arange(players), np.array([[row["seat"]] for row in failures])
    expected: dict[str, Array] = {
        **{name: np.array([[row[name]] for row in failures]) for name in ("game", "cell", "deal", "seating")},
        "players": np.array([[players]]),
        "seat": seats[None, :],
        "spec": codes[[cell.seatings[row["seating"]] for row in failures]],
        **{name: np.array([[0]]) for name in ("rows", "columns", "colors", "bonus_points")},
        "placement": np.where(seats == loser, players, 1),
        "win_share": np.where(seats == loser, 0.0, 1 / (players - 1)),
        "is_ender": np.array([[False]]),
        "rounds": found.values["rounds"].reshape(-1, players)[:, :1],
        "plies": np.array([[row["ply"]] for row in failures]),
        "termination": np.array([[Termination.FORFEIT]]),
    }
    if rules.starter_bonus == 0:
        paid = found.values["floor_paid"].astype(np.int64)
        expected["score"] = (found.values["wall_points"] - paid).reshape(-1, players)
    if not rules.score_clamp:
        expected["floor_paid"] = found.values["floor_loss"].reshape(-1, players)
    shape = (len(failures), players)
    _compare(shard, GAMES, found, {name: np.broadcast_to(value, shape).reshape(-1) for name, value in expected.items()})
    _check_empty(shard, GAMES, found)
    return rest


def _choose_rows(columns: Columns, chosen: npt.NDArray[np.bool_]) -> Columns:
    """Return some rows of a table, with those of their cells that are empty."""
    empty = {name: cells[chosen] for name, cells in columns.empty.items() if cells[chosen].any()}
    return Columns({name: values[chosen] for name, values in columns.values.items()}, empty)


def _check_empty(shard: _Shard, table: Table, logged: Columns) -> None:
    """Note each empty cell of the columns that nothing was compared with; those compared are noted already."""
    for name in sorted(logged.empty.keys() - shard.compared[table.name]):
        empty = np.flatnonzero(logged.empty[name])
        for row in empty[:MAX_SHOWN]:
            key = {part: int(logged.values[part][row]) for part in table.key}
            shard.complain(table.name, f"{name} is empty in the log", key=key, column=name)
        shard.found.n += len(empty[MAX_SHOWN:])


def _compare(
    shard: _Shard,
    table: Table,
    logged: Columns,
    expected: Mapping[str, Array] | Array,
    rows: npt.NDArray[np.int64] | None = None,
) -> None:
    """Compare logged columns with what they must be, row by row, and note each cell that differs.

    Parameters
    ----------
    expected
        A structured array, or some of the columns; the keys of the table among them.
    rows
        The logged row of each expected one; the same if left out.
    """
    names = expected.dtype.names or () if isinstance(expected, np.ndarray) else tuple(expected)
    differing: list[tuple[int, int]] = []
    n_differing = 0
    columns = [column for column in table.columns if column.name in names]
    shard.compared[table.name].update(names)
    for place, column in enumerate(columns):
        ours, theirs = logged.values[column.name], expected[column.name]
        bad = (ours if rows is None else ours[rows]) != theirs
        if (empty := logged.empty.get(column.name)) is not None:
            bad = bad | (empty if rows is None else empty[rows])
        n_differing += int(np.count_nonzero(bad))
        differing += [(int(row), place) for row in np.flatnonzero(bad)[:MAX_SHOWN]]
    differing.sort()
    shown = []
    for row, place in differing[:MAX_SHOWN]:
        column = columns[place]
        at = row if rows is None else int(rows[row])
        is_empty = column.name in logged.empty and bool(logged.empty[column.name][at])
        said = None if is_empty else _show(logged.values[column.name][at], shard.names_of(column))
        right = _show(expected[column.name][row], shard.names_of(column))
        key = {name: int(expected[name][row]) for name in table.key}
        source = "when replayed" if shard.manifest.log == "moves" else "by the other columns"
        text = f"{column.name} is {_word(said)} in the log, {_word(right)} {source}"
        shown.append(Disagreement(table.name, shard.commit.shard, text, key, column.name, said, right))
    shard.found.extend(shown, n_differing)


def _show(value: Any, names: Sequence[str]) -> Any:
    """Return a cell as plain data: text for codes, None for what was not logged."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    plain = value.item()
    if names:
        return names[plain] if plain < len(names) else None
    return None if plain == NOT_LOGGED else plain


def _word(value: Any) -> str:
    return "nothing known" if value is None else repr(value)


# Probes: what frames them


def _check_probes(shard: _Shard, tables: Mapping[str, Columns]) -> None:
    """Hold roots and continued games against the games that they belong to, if all rows of those are there."""
    games, cell = tables["games"].values, shard.cell
    n_rows = {"games": len(shard.numbers) * cell.players}
    if len(games["game"]) == n_rows["games"]:
        n_rows["rounds"] = int(games["rounds"].sum(dtype=np.int64))
        n_rows["moves"] = int(games["plies"][:: cell.players].sum(dtype=np.int64))
    if any(len(tables[name]) != n for name, n in n_rows.items() if name in tables):
        return  # it was told already
    values = {name: columns.values for name, columns in tables.items()}
    framed = probing.Shard(
        cell=cell,
        probes=shard.manifest.experiment["probes"],
        games=games,
        rounds=values.get("rounds"),
        moves=values.get("moves"),
        roots=values["roots"],
        ends=values["probes"],
    )
    wrong = list(probing.find_missing(framed))
    for table, text in wrong:
        shard.complain(table, text)
    for found in probing.frame_roots(framed):
        _compare(shard, ROOTS, tables["roots"], found.columns, found.rows)
    if PROBES.name not in [table for table, _ in wrong]:
        found = probing.frame_ends(framed)
        _compare(shard, PROBES, tables["probes"], found.columns, found.rows)


# Depth moves: everything is replayed


def _check_moves(shard: _Shard, tables: Mapping[str, Columns]) -> None:
    games, rounds, moves = (tables[table.name] for table in (GAMES, ROUNDS, MOVES))
    numbers = shard.numbers
    log, spans, read = _replay(shard, rounds, moves, numbers)
    n, players = [int(used) for used in log.used], shard.cell.players
    is_whole = spans["status"] == driver.IS_OVER
    fresh = log.games[: n[0]]
    seatings = np.array(shard.cell.seatings)
    codes = np.array([shard.manifest.specs.index(spec) for spec in shard.cell.lineup])
    fresh["spec"] = codes[seatings[fresh["seating"], fresh["seat"]]]
    _compare_games(shard, games, fresh, np.flatnonzero(np.repeat(is_whole, players)), len(numbers) * players)
    _compare(shard, ROUNDS, rounds, join_displays(log), _rows_of(spans["round"], spans["n_rounds"]))
    _compare(shard, MOVES, moves, log.moves[: n[2]], _rows_of(spans["move"], spans["n_moves"]))
    for number, span in zip(numbers[~is_whole], spans[~is_whole], strict=True):
        _complain_of_game(shard, int(number), span, moves)
    for table, columns, used in ((MOVES, moves, read[0]), (ROUNDS, rounds, read[1])):
        passed = int(spans["n_moves" if table is MOVES else "n_rounds"].sum())
        if is_whole.all() and passed < len(columns):
            shard.complain(table.name, f"{len(columns) - passed} rows follow the end of a game, or belong to none")
        elif used < len(columns):
            shard.complain(table.name, f"the last {len(columns) - used} rows belong to no game")


def _compare_games(
    shard: _Shard, games: Columns, fresh: Array, rows: npt.NDArray[np.int64], expected_length: int
) -> None:
    """Compare the games replayed to their end; `rows` is where they are if no row is missing."""
    if len(games) == expected_length:
        _compare(shard, GAMES, games, fresh, rows)
        return
    shard.complain("games", f"there are {len(games)} rows for {expected_length} seats of games")
    places = {key: at for at, key in enumerate(zip(games.values["game"], games.values["seat"], strict=True))}
    found = np.array([places.get((row["game"], row["seat"]), -1) for row in fresh], np.int64)
    for row in fresh[found < 0][:MAX_SHOWN]:
        shard.complain("games", "the row is missing", key={"game": int(row["game"]), "seat": int(row["seat"])})
    _compare(shard, GAMES, games, fresh[found >= 0], found[found >= 0])


def _rows_of(first: Array, n: Array) -> npt.NDArray[np.int64] | None:
    """Return the logged rows of all replayed ones; None if they are the same."""
    ends = np.cumsum(n)
    if np.array_equal(first, ends - n):
        return np.arange(int(ends[-1]) if len(ends) else 0)
    return np.repeat(first - (ends - n), n) + np.arange(int(ends[-1]))


_REASONS = {
    replaying.NO_MOVE: "the game is not over, but its moves are",
    replaying.NO_ROUND: "the game has no row for a round that it reached",
    replaying.BAD_PLACE: "a tile of the last round was placed where it may not be",
    driver.BAD_MOVE: "the move is not legal",
    driver.BAD_NUMBER: "a tile of the last round was placed where it may not be",
    driver.CANNOT_DEAL: "the next round cannot be dealt",
}


def _complain_of_game(shard: _Shard, number: int, span: Any, moves: Columns) -> None:
    """Say where a game could not be played on."""
    n = len(shard.cell.seatings)
    game = game_id(shard.cell.index, shard.commit.first_deal + number // n, number % n)
    status, ply = int(span["status"]), int(span["n_moves"])
    table = "rounds" if status in (replaying.NO_ROUND, replaying.BAD_PLACE, driver.BAD_NUMBER) else "moves"
    shard.complain(table, f"the replay stops: {_REASONS[status]}", key={"game": game, "ply": ply})


def _replay(
    shard: _Shard, rounds: Columns, moves: Columns, numbers: npt.NDArray[np.int64]
) -> tuple[Log, Array, tuple[int, int]]:
    """Play the logged moves of a shard again and log them afresh."""
    cell, manifest = shard.cell, shard.manifest
    plan = np.zeros(1, PLAN)
    plan["deal_root"] = root_key(manifest.seed, DEAL_DOMAIN)
    plan["decision_root"] = root_key(manifest.seed, DECISION_DOMAIN)
    plan["cell"], plan["first_deal"] = cell.index, shard.commit.first_deal
    plan["depth"], plan["logs_denial"] = driver.DEPTH_NUMBERS["moves"], bool(manifest.experiment.get("denial", False))
    plan["must_deal"] = cell.rules.no_tiles == "error"
    seats, tiled = np.zeros(cell.players, SEAT), np.zeros(cell.players, np.int64)
    seats["params"] = address_of(tiled) + 8 * np.arange(cell.players)
    seats["n_params"] = 1
    template = make_template(cell.rules, cell.players)
    if template["is_general"][0]:
        seats["place"] = replaying.find_place_address()
    logged = Logged(
        *(moves.values[name] for name in ("game", "ply", "source", "color", "line", "jokers")),
        *(rounds.values[name] for name in ("game", "round", "tiled")),
    )
    rows = len(numbers) * cell.players, len(rounds) + 2 * cell.players, len(moves) + 1, 0
    log = make_log(rows, shard.cell.n_display_tiles)
    spans = np.zeros(len(numbers), SPAN)
    games, lives = np.zeros(1, GAME), np.zeros(1, LIVE)
    read = replaying.replay_games(
        games, lives, template[0], plan[0], seats, tiled, numbers, len(cell.seatings), logged, log, spans
    )
    return log, spans, read


# Depths games and rounds: only whether the columns fit together


def _check_games(shard: _Shard, tables: Mapping[str, Columns]) -> None:
    games, cell, numbers = tables["games"], shard.cell, shard.numbers
    players, n_seatings = cell.players, len(cell.seatings)
    if len(games) != len(numbers) * players:
        shard.complain("games", f"there are {len(games)} rows for {len(numbers) * players} seats of games")
        return
    rules = cell.rules
    by_game = {name: column.reshape(-1, players) for name, column in games.values.items()}
    deals, seatings = shard.commit.first_deal + numbers // n_seatings, numbers % n_seatings
    seats = np.tile(np.arange(players), (len(numbers), 1))
    codes = np.array([shard.manifest.specs.index(spec) for spec in cell.lineup])
    score, rows = by_game["score"].astype(np.int64), by_game["rows"].astype(np.int64)
    rank = score * 8 + rows
    place = 1 + (rank[:, None, :] > rank[:, :, None]).sum(axis=2)
    n_winners = (place == 1).sum(axis=1, keepdims=True)
    bonus = rows * rules.bonus.row + by_game["columns"].astype(np.int64) * rules.bonus.column
    bonus = bonus + by_game["colors"].astype(np.int64) * rules.bonus.color
    rounds = by_game["rounds"][:, :1]
    is_limit, is_complete = rounds >= rules.max_rounds, rows.max(axis=1, keepdims=True) >= rules.rows_to_end
    ending = np.where(is_limit, Termination.ROUND_LIMIT, Termination.NO_TILES)
    ending = np.where(is_complete, Termination.ROW_COMPLETED, ending)
    expected: dict[str, Array] = {
        "game": cell.index << 40 | deals[:, None] << 8 | seatings[:, None],
        "cell": np.array([[cell.index]]),
        "deal": deals[:, None],
        "seating": seatings[:, None],
        "players": np.array([[players]]),
        "seat": seats,
        "spec": codes[np.array(cell.seatings)[seatings]],
        "bonus_points": bonus,
        "placement": place,
        "win_share": np.where(place == 1, 1.0 / np.maximum(n_winners, 1), 0.0),
        "is_ender": rows >= rules.rows_to_end,
        "rounds": rounds,
        "plies": by_game["plies"][:, :1],
        "termination": ending,
    }
    if rules.starter_bonus == 0:
        expected["score"] = by_game["wall_points"].astype(np.int64) - by_game["floor_paid"] + by_game["bonus_points"]
    if not rules.score_clamp:
        expected["floor_paid"] = by_game["floor_loss"]
    shape = (len(numbers), players)
    _compare(shard, GAMES, games, {name: np.broadcast_to(value, shape).reshape(-1) for name, value in expected.items()})


def _check_rounds(shard: _Shard, tables: Mapping[str, Columns]) -> None:
    _check_games(shard, tables)
    games, rounds, players = tables["games"], tables["rounds"], shard.cell.players
    rules, numbers = shard.cell.rules, shard.numbers
    if len(games) != len(numbers) * players:
        return
    n_rounds = games.values["rounds"].reshape(-1, players)[:, 0].astype(np.int64)
    if len(rounds) != players * n_rounds.sum():
        shard.complain("rounds", f"there are {len(rounds)} rows for {players * n_rounds.sum()} seats in rounds")
        return
    of_game = np.repeat(np.arange(len(numbers)), n_rounds)
    first = np.cumsum(n_rounds) - n_rounds
    number = 1 + np.arange(len(of_game)) - first[of_game]
    table = {name: column.reshape(-1, players) for name, column in rounds.values.items()}
    wide = {
        name: column.astype(np.int64) for name, column in table.items() if column.dtype.kind in "iu" and name != "game"
    }
    seat = np.arange(players)
    holder = wide["holder"][:, :1]
    before = _expect_scores(wide, number, rules.starter_bonus, rules.score_clamp)
    penalties = np.cumsum([0, *(-points for points in rules.floor_penalties)])
    floor = np.minimum(wide["floor"], len(rules.floor_penalties))
    price = 0 if rules.marker_cost == "floor" else rules.marker_cost
    due = penalties[floor] + price * (holder == seat)
    earned = wide["score_before"] + wide["gain"]
    expected: dict[str, Array] = {
        "game": games.values["game"].reshape(-1, players)[of_game][:, :1],
        "round": number[:, None],
        "seat": seat[None, :],
        "holder": holder,
        "is_short": table["is_short"][:, :1],
        "bag": wide["bag"][:, :1],
        "lid": wide["lid"][:, :1],
        "forced": table["forced"] & (holder == seat),
        "score_before": before,
        "gain": _expect_gains(wide["tiled"], number, of_game, "".join(rules.multipliers)),
        "penalty": due,
        "penalty_paid": np.minimum(due, earned) if rules.score_clamp else due,
        "marker_price": np.where(holder == seat, wide["marker_price"], 0),
        "marker_price_paid": np.where(holder == seat, wide["marker_price_paid"], 0),
    }
    if rules.next_starter != "lottery":
        expected["starter"] = _expect_starters(wide, number, players, rules)[:, None]
    _compare(
        shard, ROUNDS, rounds, {n: np.broadcast_to(v, table["game"].shape).reshape(-1) for n, v in expected.items()}
    )
    sums = {
        "wall_points": wide["gain"],
        "floor_loss": wide["penalty"],
        "floor_paid": wide["penalty_paid"],
        "marker_takes": (holder == seat).astype(np.int64),
    }
    totals = {name: np.add.reduceat(values, first, axis=0).reshape(-1) for name, values in sums.items()}
    last = first + n_rounds - 1
    final = earned[last] - wide["penalty_paid"][last] + games.values["bonus_points"].reshape(-1, players)
    keys = {name: games.values[name] for name in GAMES.key}
    _compare(shard, GAMES, games, {**keys, **totals, **_expect_walls(wide["tiled"], first), "score": final.reshape(-1)})


def _expect_scores(
    wide: Mapping[str, Array], number: Array, starter_bonus: int, is_clamped: bool
) -> npt.NDArray[np.int64]:
    """Return `score_before` as it follows from the round before."""
    after = wide["score_before"] + wide["gain"] - wide["penalty_paid"]
    before = np.zeros_like(after)
    before[1:] = after[:-1]
    before[number == 1] = 0
    rewarded = before + starter_bonus
    starts = wide["starter"] == np.arange(after.shape[1])
    scores: npt.NDArray[np.int64] = np.where(starts, np.maximum(0, rewarded) if is_clamped else rewarded, before)
    return scores


def _expect_starters(wide: Mapping[str, Array], number: Array, players: int, rules: Any) -> npt.NDArray[np.int64]:
    """Return the starter of each round as it follows from the round before."""
    starter, holder = wide["starter"][:, 0], wide["holder"][:, 0]
    following = (starter + 1) % players
    if rules.next_starter == "holder":
        following = np.where(holder >= 0, holder, following if rules.unclaimed_marker == "rotate" else starter)
    expected = np.zeros_like(starter)
    expected[1:] = following[:-1]
    expected[number == 1] = 0
    return expected


def _expect_gains(
    tiled: npt.NDArray[np.int64], number: npt.NDArray[np.int64], of_game: npt.NDArray[np.int64], multipliers: str
) -> npt.NDArray[np.int64]:
    """Return the points of the tiles placed, seat by seat and round by round (rows of `tiled`)."""
    walls = np.zeros((int(of_game[-1]) + 1 if len(of_game) else 0, tiled.shape[1]), np.int64)
    gains = np.zeros_like(tiled)
    weights = np.array([int(digit) for digit in multipliers])
    for n in range(1, int(number.max(initial=0)) + 1):
        now = np.flatnonzero(number == n)
        wall = walls[of_game[now]]
        for row in range(5):
            column = (tiled[now] >> 6 * row & 7) - 1
            is_placed = column >= 0
            column = np.clip(column, 0, 4)
            wall |= np.where(is_placed, 1 << 5 * row + column, 0)
            down_bits = sum((wall >> 5 * i + column & 1) << i for i in range(5))
            across, down = _RUNS[wall >> 5 * row & 31, column], _RUNS[down_bits, row]
            points = np.maximum(1, np.where(across > 1, across, 0) + np.where(down > 1, down, 0))
            gains[now] += np.where(is_placed, points * weights[5 * row + column], 0)
        walls[of_game[now]] = wall
    return gains


_RUNS = np.array(list_runs()).reshape(32, 5)
"""For each row of five spaces, as bits, and each space, the length of the run of tiles through it."""


def _expect_walls(tiled: Array, first: Array) -> dict[str, Array]:
    """Return the complete rows, columns and colors of each seat of each game, from the tiles placed."""
    wall = np.zeros(tiled.shape, np.int64)
    of_color = np.zeros((5, *tiled.shape), np.int64)
    for row in range(5):
        column, color = tiled >> 6 * row & 7, tiled >> 6 * row + 3 & 7
        wall |= np.where(column > 0, 1 << (5 * row + np.maximum(column, 1) - 1), 0)
        for c in range(5):
            of_color[c] += (column > 0) & (color == c)
    final = np.bitwise_or.reduceat(wall, first, axis=0).reshape(-1)
    rows = sum(((final >> 5 * i) & 31 == 31).astype(np.int64) for i in range(5))
    columns = sum(((final >> i) & 0x108421 == 0x108421).astype(np.int64) for i in range(5))
    colors = (np.add.reduceat(of_color, first, axis=1) == 5).sum(axis=0).reshape(-1)
    return {"rows": np.asarray(rows), "columns": np.asarray(columns), "colors": np.asarray(colors)}


_CHECKERS = {"games": _check_games, "rounds": _check_rounds, "moves": _check_moves}


# One game, for people


@dataclass(frozen=True)
class ReplayedGame:
    """A logged game, played again."""

    game: int
    record: GameRecord
    positions: tuple[Position, ...]
    """As each round was dealt, and after the end."""

    def draw(self, *, color: bool = False, width: int = 80) -> str:
        """Draw the position of each round, and between them its moves as text, a line for each turn of the table."""
        parts = []
        names = self.record.players
        for position, played in zip(self.positions, self.record.rounds, strict=False):
            parts.append(draw_text(position, color=color, width=width, names=names) + f"position: {position}\n")
            parts.append(_describe_round(played, names))
        parts.append(draw_text(self.positions[-1], color=color, width=width, names=names))
        standing = [
            f"{place}. {name}: {score} points"
            for place, score, name in sorted(
                zip(self.record.placements, self.record.scores, names, strict=True), key=lambda entry: entry[0]
            )
        ]
        parts.append("\n".join(standing) + "\n")
        return "\n".join(parts)


def _describe_round(played: Round, names: Sequence[str]) -> str:
    seats = len(names)
    width = max(len(f"{seat} {name}") for seat, name in enumerate(names))
    lines = []
    for n, move in enumerate(played.moves):
        seat = (played.seat + n) % seats
        lines.append(f"{f'{seat} {names[seat]}':<{width}}  {move}")
    for seat, placing in played.placings:
        lines.append(f"{f'{seat} {names[seat]}':<{width}}  {placing}")
    return "\n".join(lines) + f"\nscores: {' '.join(map(str, played.scores))}\n"


def replay_game(path: str | Path, game: int) -> ReplayedGame:
    """Play one logged game again.

    Parameters
    ----------
    path
        The run folder; its experiment must have `log = "moves"`.
    game
        The game's number, as in the column `game` of every table.

    Raises
    ------
    InputError
        If the folder is no run, its moves were not logged, or it has no such game.
    RunError
        If the log cannot be played.
    """
    if game < 0:
        raise InputError(f"game {game}: games are numbered from 0")
    folder = locate(path)
    manifest = read_manifest(folder)
    commits = read_commits(folder)
    cell, commit = _find_shard(folder, manifest, commits, game)
    _refuse_if_spoiled(folder, commit, game, is_forfeit=manifest.on_failure == "forfeit")
    if manifest.log != "moves":
        raise InputError(
            f'{folder}: moves were not logged: the run has log = "{manifest.log}"; run the experiment again with '
            'log = "moves"'
        )
    deal, seating = _split_game(game)
    shard = _Shard(folder, manifest, cell, commit)
    rounds, moves = (_take_rows(_read_table(shard, table), table, game) for table in (ROUNDS, MOVES))
    if not len(moves):
        raise InputError(f"{folder}: game {game} has no moves in the log; azulsim verify says what is wrong")
    players = tuple(cell.spec_at(seating, seat) for seat in range(cell.players))
    table = Game(cell.players, rules=cell.rules, seed=manifest.seed, deal=deal)
    table.specs = players
    try:
        positions = _play_rounds(table, rounds, moves)
        if table.outcome is None:
            raise InputError("it is not over where its moves end")
        record = _make_record(table, manifest, game)
    except (InputError, LookupError) as error:
        raise RunError(
            f"{folder}: game {game} cannot be replayed: {error}; azulsim verify says what is wrong"
        ) from None
    return ReplayedGame(game, record, positions)


def _make_record(table: Game, manifest: Manifest, game: int) -> GameRecord:
    """Return a finished game as a record that says where it was logged."""
    return replace(
        table.record(),
        version=manifest.azulsim,
        seating=game & MAX_SEATINGS - 1,
        extras={"run": manifest.name, "game": str(game)},
    )


def _find_shard(folder: Path, manifest: Manifest, commits: Sequence[Commit], game: int) -> tuple[Cell, Commit]:
    """Return the cell and the shard that hold a game; say which game is nearest if none does."""
    index, (deal, seating) = game >> CELL_SHIFT, _split_game(game)
    cells = {cell.index: cell for cell in manifest.cells}
    for commit in commits:
        is_there = commit.cell == index and commit.first_deal <= deal < commit.first_deal + commit.n_deals
        if is_there and index in cells and seating < len(cells[index].seatings):
            return cells[index], commit
    known = [commit for commit in commits if commit.cell in cells]
    if not known:
        raise InputError(f"{folder}: the run has no finished shard yet")
    near = min(known, key=lambda commit: (abs(commit.cell - index), abs(commit.first_deal - deal)))
    last_deal, last_seating = near.first_deal + near.n_deals - 1, len(cells[near.cell].seatings) - 1
    nearest = game_id(near.cell, min(max(deal, near.first_deal), last_deal), min(seating, last_seating))
    raise InputError(
        f"{folder}: no game {game} (cell {index}, deal {deal}, seating {seating}); the nearest is {nearest} (cell "
        f"{near.cell}, with {cells[near.cell].deals} deals and {last_seating + 1} seatings)"
    )


def _refuse_if_spoiled(folder: Path, commit: Commit, game: int, *, is_forfeit: bool) -> None:
    """Say what failed, if a game failed or is left out since another game of its deal did."""
    rows = read_failures(folder, commit.shard)[0] if commit.n_failures else []
    if is_forfeit:
        rows = [row for row in rows if row["game"] == game]
    spoiled = [row for row in rows if row["deal"] == _split_game(game)[0]]
    for row in sorted(spoiled, key=lambda row: bool(row["game"] != game)):
        what = f"{row['spec']} (seat {row['seat']}) failed at ply {row['ply']}: {row['kind']}: {row['message']}"
        if row["game"] == game:
            lacking = "its moves are" if is_forfeit else "it is"
            raise InputError(f"{folder}: game {game} failed, so that {lacking} not in the log: {what}")
        raise InputError(f"{folder}: game {game} is left out with its deal, since in game {row['game']} {what}")


def _split_game(game: int) -> tuple[int, int]:
    """Return the deal and the seating of a game."""
    return game >> DEAL_SHIFT & MAX_DEALS - 1, game & MAX_SEATINGS - 1


def _take_rows(columns: Columns, table: Table, game: int) -> Array:
    """Return the rows of one game as a structured array, without text."""
    chosen = np.flatnonzero(columns.values["game"] == game)
    rows = np.zeros(len(chosen), [(c.name, c.dtype) for c in table.columns if c.dtype != "S"])
    for name in rows.dtype.names or ():
        rows[name] = columns.values[name][chosen]
    return rows


def _play_rounds(table: Game, rounds: Array, moves: Array) -> tuple[Position, ...]:
    """Play a game to its end; return the position as each round was dealt, and after the end."""
    positions = [table.position()]
    for number in np.unique(moves["round"]):
        replay_moves(table, moves[moves["round"] == number], rounds[rounds["round"] == number])
        positions.append(table.position())
    return tuple(positions)
