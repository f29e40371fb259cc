"""Reads a run folder: tables as pandas frames with named categories, or as DuckDB relations."""

from __future__ import annotations

import glob
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa

from azulsim.errors import InputError, did_you_mean
from azulsim.log.manifest import Cell, Commit, Manifest, find_gaps, read_commits, read_manifest, table_path
from azulsim.log.store import is_store, locate, open_system
from azulsim.rules import Rules
from azulsim.schema import (
    CELL_SHIFT,
    COLOR_NAMES,
    DEAL_SHIFT,
    FAILURES,
    MAX_DEALS,
    MAX_SEATINGS,
    PLACEMENTS,
    TABLES,
    Column,
    Table,
)

Filters = Mapping[str, Any]

_NOT_OF_THE_FILE = (
    duckdb.OutOfMemoryException,
    duckdb.InterruptException,
    duckdb.InternalException,
    duckdb.FatalException,
)
"""Errors while a file is read that say nothing about the file."""

_SQL_TYPES = {
    "i8": "BIGINT",
    "u1": "UTINYINT",
    "u2": "USMALLINT",
    "u4": "UINTEGER",
    "i1": "TINYINT",
    "i2": "SMALLINT",
    "i4": "INTEGER",
    "f8": "DOUBLE",
    "?": "BOOLEAN",
    "S": "VARCHAR",
    "O": "VARCHAR",
}
_FROM_GAME = {
    "cell": f"(game >> {CELL_SHIFT})::USMALLINT",
    "deal": f"((game >> {DEAL_SHIFT}) & {MAX_DEALS - 1})::UINTEGER",
    "seating": f"(game & {MAX_SEATINGS - 1})::UTINYINT",
}
_DERIVED = {
    "moves": {"tiles": "(placed + overflow)::UTINYINT"},
    "rounds": {"score_after": "(score_before + gain - penalty_paid)::SMALLINT"},
}
_FROM_SEATS = ("players", "spec")


def list_runs() -> list[int]:
    """Tabulate, for each of 32 rows of five spaces and each space 1 to 5, the length of the run of tiles through it."""
    lengths = []
    for bits in range(32):
        text = f"{bits:05b}"[::-1]
        for space in range(5):
            left, right = text[:space].rpartition("0")[2], text[space + 1 :].partition("0")[0]
            lengths.append(1 + len(left) + len(right))
    return lengths


# A player places at most one tile a row in a round, top to bottom. So a tile's own row is as the round leaves it, and
# its column is too, but for the tiles that were placed below it in the same round.
_ROW_OF_TILE = "(tiled >> (6 * (row - 1))) & 63"
_BITS_DOWN = " | ".join(
    f"(CASE WHEN row >= {row} OR ((tiled >> {6 * (row - 1)}) & 7) <> col "
    f"THEN ((wall >> ({5 * (row - 1)} + col - 1)) & 1) << {row - 1} ELSE 0 END)"
    for row in range(1, 6)
)
_BITS_PLACED = " | ".join(
    f"(CASE WHEN (tiled >> {6 * row}) & 7 > 0 THEN 1 << ({5 * row - 1} + ((tiled >> {6 * row}) & 7)) ELSE 0 END)"
    for row in range(5)
)
_PLACEMENTS = f"""
WITH walls AS (
    SELECT game, round, seat, tiled, bit_or({_BITS_PLACED}) OVER (PARTITION BY game, seat ORDER BY round) AS wall
    FROM {{rounds}}
), tiles AS (
    SELECT game, round, seat, wall, tiled, row, {_ROW_OF_TILE} & 7 AS col, {_ROW_OF_TILE} >> 3 AS code
    FROM walls, (VALUES (1), (2), (3), (4), (5)) AS five(row)
    WHERE ({_ROW_OF_TILE}) > 0
), runs AS (
    SELECT *,
        {list_runs()}[((wall >> (5 * (row - 1))) & 31) * 5 + col] AS h,
        {list_runs()}[({_BITS_DOWN}) * 5 + row] AS v
    FROM tiles
)
SELECT game, round, seat, row::UTINYINT AS row, col::UTINYINT AS "column", {list(COLOR_NAMES)}[code + 1] AS color,
    h::UTINYINT AS across, v::UTINYINT AS down,
    (greatest(1, CASE WHEN h > 1 THEN h ELSE 0 END + CASE WHEN v > 1 THEN v ELSE 0 END) * {{multiplier}})::SMALLINT
        AS points
FROM runs ORDER BY game, round, seat, row
"""


def read_run(path: str | Path) -> Run:
    """Open a run folder.

    Raises
    ------
    InputError
        If there is no such folder, it is no run folder, it is damaged, or it holds no finished shard.
    """
    folder = locate(path)
    manifest = read_manifest(folder)
    commits = read_commits(folder)
    for gap in find_gaps(folder, commits).values():
        raise InputError(f"{gap}; azulsim resume {folder} plays that shard anew")
    if not commits:
        raise InputError(f"{folder}: the run has no finished shard yet")
    return Run(folder, manifest, commits)


class Run:
    """A run folder, open for reading. Made by `read_run`.

    The frames of `games`, `rounds`, `moves`, `placements`, `roots`, `probes` and `failures` come in canonical order.
    Each takes

    columns
        Which columns; all stored ones if left out. Besides these, every table can give `cell`, `deal`, `seating`
        and, if it has a `seat`, `players` and `spec`; `moves` can give `tiles` (placed + overflow).
    filters
        `{column: value}` or `{column: [values]}`; every column named above, and every column of `cells`, such as
        `{"players": 2, "spec": "greedy", "rules.bonus.column": 5}`, works on every table.

    and raises `InputError` for an unknown column, or for a table deeper than the run was logged.
    """

    def __init__(self, path: Path, manifest: Manifest, commits: Sequence[Commit]) -> None:
        self.path = path
        self.manifest = manifest
        self.commits = tuple(commits)
        """Commit markers of the finished shards, in canonical order."""

    # What it is

    @property
    def report_folder(self) -> Path:
        """Where reports of the run are written: its own folder; for a run on an object store, one on this disk."""
        return Path("runs") / f"{self.path.name}-reports" if is_store(self.path) else self.path

    @property
    def is_complete(self) -> bool:
        """True if every planned shard is there."""
        return len(self.commits) == self.manifest.shards

    @property
    def n_games(self) -> int:
        """Number of games played."""
        return sum(commit.n_games for commit in self.commits)

    @property
    def n_moves(self) -> int:
        """Number of moves played, logged or not."""
        return sum(commit.n_moves for commit in self.commits)

    @property
    def n_failures(self) -> int:
        """Number of failed games."""
        return sum(commit.n_failures for commit in self.commits)

    @property
    def n_forfeits(self) -> int:
        """How many of `n_games` ended where a strategy failed, as lost by it."""
        return self.n_failures if self.manifest.on_failure == "forfeit" else 0

    @property
    def n_deals(self) -> int:
        """Number of deals of the finished shards, each counted in every cell that plays it."""
        return sum(commit.n_deals for commit in self.commits)

    @property
    def n_deals_left_out(self) -> int:
        """How many of `n_deals` are left out because a strategy failed in one of their games; none if it forfeits."""
        seatings = {cell.index: len(cell.seatings) for cell in self.manifest.cells}
        return sum(commit.n_deals - commit.n_games // seatings[commit.cell] for commit in self.commits)

    @property
    def doubts(self) -> tuple[str, ...]:
        """Why the run's games may not come out the same when they are played again; empty if they will."""
        return tuple(sorted({doubt for commit in self.commits for doubt in commit.doubts}))

    def describe_gap(self, name: str = "") -> str:
        """Say that shards are missing and how to go on, with `name` for the folder; empty if the run is complete."""
        if self.is_complete:
            return ""
        return describe_gap(self.manifest, len(self.commits), name or str(self.path))

    def describe_doubts(self) -> str:
        """Say why the run cannot be reproduced; empty if it can."""
        return f"not reproducible: {'; '.join(self.doubts)}" if self.doubts else ""

    def describe_stop(self) -> str:
        """Say where the run stopped and why, if it stops by evidence; else empty."""
        return str(self.manifest.stopped or "")

    def describe_failures(self) -> str:
        """Say how many games failed, how much is left out for it, and what failed first; empty if none did."""
        if not self.n_failures:
            return ""
        first = self.failures(columns=["spec", "kind", "message"]).iloc[0]
        what = f"first {first['spec']}: {first['kind']}: {first['message']}"
        failed = format_count(self.n_failures, "game")
        if self.n_forfeits:
            return (
                f"{failed} of {self.n_games:,} failed and were forfeited: lost by the strategy that failed, won by the "
                f"others together; they count in win shares and places, and in nothing else; {what}"
            )
        return (
            f"{failed} failed, so that {self.n_deals_left_out:,} of {format_count(self.n_deals, 'deal')} "
            f"{'is' if self.n_deals_left_out == 1 else 'are'} left out, "
            f"each with all seatings of its cell; {what}"
        )

    @cached_property
    def cells(self) -> pd.DataFrame:
        """A row a cell: `cell`, `players`, `lineup`, `seatings`, `deals`, and a column for whatever else varies."""
        return pd.DataFrame([_describe_cell(cell) for cell in self.manifest.cells])

    @cached_property
    def seats(self) -> pd.DataFrame:
        """A row a cell, seating and seat: which `spec` sits there, and the number of `players`."""
        rows = [
            (cell.index, seating, seat, cell.players, cell.lineup[player])
            for cell in self.manifest.cells
            for seating, order in enumerate(cell.seatings)
            for seat, player in enumerate(order)
        ]
        frame = pd.DataFrame(rows, columns=["cell", "seating", "seat", "players", "spec"])
        frame = frame.astype({"cell": "uint16", "seating": "uint8", "seat": "uint8", "players": "uint8"})
        return frame.assign(spec=pd.Categorical(frame["spec"], categories=list(self.manifest.specs)))

    def at(self, players: int) -> Run:
        """Return the part of the run that was played at a player count."""
        cells = tuple(cell for cell in self.manifest.cells if cell.players == players)
        kept = {cell.index for cell in cells}
        commits = [commit for commit in self.commits if commit.cell in kept]
        return Run(self.path, self.manifest.model_copy(update={"cells": cells, "shards": len(commits)}), commits)

    def rules(self, cell: int) -> Rules:
        """Return the rules of a cell."""
        known = {item.index: item for item in self.manifest.cells}
        if cell not in known:
            raise InputError(f"{self.path}: no cell {cell}; cells are 0 to {len(known) - 1}")
        return known[cell].rules

    @cached_property
    def hashes(self) -> dict[str, str]:
        """For each stored table, the SHA-256 over the fingerprints of its shards, in canonical order."""
        names = [*(table.name for table in self.manifest.stored), FAILURES.name]
        return {name: self._hash(name) for name in names}

    def _hash(self, table: str) -> str:
        parts = [(c.shard, part.content) for c in self.commits for name, part in c.tables.items() if name == table]
        lines = [f"{shard} {content}\n" for shard, content in parts]
        return hashlib.sha256("".join(lines).encode()).hexdigest()

    # Tables

    def games(self, columns: Sequence[str] | None = None, filters: Filters | None = None) -> pd.DataFrame:
        """Return a frame with a row a game and seat."""
        return self._frame("games", columns, filters)

    def rounds(self, columns: Sequence[str] | None = None, filters: Filters | None = None) -> pd.DataFrame:
        """Return a frame with a row a game, round and seat."""
        return self._frame("rounds", columns, filters)

    def moves(self, columns: Sequence[str] | None = None, filters: Filters | None = None) -> pd.DataFrame:
        """Return a frame with a row a move."""
        return self._frame("moves", columns, filters)

    def placements(self, columns: Sequence[str] | None = None, filters: Filters | None = None) -> pd.DataFrame:
        """Return a frame with a row a tile placed on a wall."""
        return self._frame("placements", columns, filters)

    def roots(self, columns: Sequence[str] | None = None, filters: Filters | None = None) -> pd.DataFrame:
        """Return a frame with a row a position from which play was continued in several ways."""
        return self._frame("roots", columns, filters)

    def probes(self, columns: Sequence[str] | None = None, filters: Filters | None = None) -> pd.DataFrame:
        """Return a frame with a row a continued game and seat."""
        return self._frame("probes", columns, filters)

    def failures(self, columns: Sequence[str] | None = None, filters: Filters | None = None) -> pd.DataFrame:
        """Return a frame with a row a failed game; empty if none failed."""
        return self._frame("failures", columns, filters)

    def sql(self, query: str) -> duckdb.DuckDBPyRelation:
        """Run SQL over the run and return a DuckDB relation; `.df()` makes it a pandas frame.

        There are views `games rounds moves placements failures` (as deep as the run was logged), and `roots probes`
        where probes were asked for, with coded columns as text and the columns `cell`, `deal` and `seating` added,
        and `cells` and `seats`, which join on them.
        A relation reads its files when it is asked for rows; `fetch` also says which file is damaged.
        """
        return self.connection.sql(query)

    def fetch(self, query: str) -> pa.Table:
        """Run SQL as `sql` does and return all rows as an Arrow table.

        Raises
        ------
        InputError
            If a file of the run is damaged, naming it and how to play its shard again.
        """
        try:
            return self.sql(query).to_arrow_table()
        except duckdb.Error as error:
            raise self.find_damage() or error from None

    def find_damage(self, tables: Iterable[Table] | None = None) -> InputError | None:
        """Read every file of the given tables (all if left out) and return a complaint about the first damaged one.

        A file that cannot be opened is complained of as that; that the memory is full is no complaint about a file.
        """
        for table in tables if tables is not None else (*self.manifest.stored, FAILURES):
            stored = TABLES["rounds"] if table is PLACEMENTS else table
            columns = ", ".join(self._typed(stored, column.name) for column in stored.columns)
            for commit in self.commits:
                try:
                    self._bare.sql(f"SELECT {columns} FROM {self._stored(stored, [commit])}").to_arrow_table()
                except _NOT_OF_THE_FILE:
                    return None
                except duckdb.Error as error:
                    return _describe_unreadable(self.path, stored, commit, _first_line(error))
        return None

    @cached_property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """The in-memory DuckDB connection that holds the views."""
        for table in (*self.manifest.tables, FAILURES):
            try:
                self._bare.execute(f"CREATE OR REPLACE VIEW {table.name} AS FROM {self._view(table, self.commits)}")
            except duckdb.Error as error:
                raise self._explain(table, error) from None
        return self._bare

    @cached_property
    def _bare(self) -> duckdb.DuckDBPyConnection:
        """The connection before any file of the run is opened."""
        connection = duckdb.connect()
        # Where there is none, as in a notebook without widgets, DuckDB refuses to be told so.
        if connection.execute("SELECT current_setting('enable_progress_bar')").fetchall()[0][0]:
            connection.execute("SET enable_progress_bar = false")
        if is_store(self.path):
            connection.register_filesystem(open_system(self.path, {name for c in self.commits for name in c.tables}))
        connection.register("cells", self.cells)
        connection.register("seats", self.seats)
        return connection

    def _frame(self, name: str, columns: Sequence[str] | None, filters: Filters | None) -> pd.DataFrame:
        table = self._require(name)
        filters = filters or {}
        wanted = list(columns) if columns is not None else [column.name for column in table.columns]
        known = _known_columns(table)
        for column in wanted:
            self._check_column(table, column, known)
        cells = self._matching_cells(table, filters, known)
        rest = {column: value for column, value in filters.items() if column not in self.cells.columns}
        query = f"SELECT {', '.join(self._typed(table, column) for column in wanted)} FROM "
        query += self._view(table, [commit for commit in self.commits if commit.cell in cells])
        joined = [name for name in _FROM_SEATS if name in {*wanted, *rest} and name not in _stored_names(table)]
        if joined:
            query += f" JOIN (SELECT cell, seating, seat, {', '.join(joined)} FROM seats) USING (cell, seating, seat)"
        if rest:
            query += f" WHERE {' AND '.join(_condition(column, value) for column, value in rest.items())}"
        if joined:  # A join may shuffle rows; a scan does not.
            query += f" ORDER BY {', '.join(table.key)}"
        try:
            frame: pd.DataFrame = self._bare.sql(query).df()
        except duckdb.Error as error:
            if rest and isinstance(error, duckdb.ConversionException):
                reason = _first_line(error)
                raise InputError(f"{self.path}: filters on {name} do not fit its columns: {reason}") from None
            raise self._explain(table, error) from None
        return frame

    def _explain(self, table: Table, error: duckdb.Error) -> InputError:
        """Return what to tell of an error while a table was read."""
        return self.find_damage([table]) or InputError(
            f"{self.path / table.name}: cannot be read: {_first_line(error)}"
        )

    def _require(self, name: str) -> Table:
        table = TABLES[name]
        if table.is_probed and not self.manifest.is_probed:
            raise InputError(f"{self.path}: there are no {name}: the experiment asks for none under [probes]")
        if table is not FAILURES and table not in self.manifest.tables:
            raise InputError(
                f'{self.path}: {name} were not logged: the run has log = "{self.manifest.log}"; '
                f'run the experiment again with log = "{table.depth}"'
            )
        return table

    def _check_column(self, table: Table, column: str, known: Iterable[str]) -> None:
        if column not in known:
            raise InputError(f"{table.name} has no column {column!r}{did_you_mean(column, known)}")

    def _check_specs(self, specs: Iterable[Any]) -> None:
        for spec in specs:
            if spec not in self.manifest.specs:
                raise InputError(f"{self.path}: no strategy {spec!r}{did_you_mean(str(spec), self.manifest.specs)}")

    def _matching_cells(self, table: Table, filters: Filters, known: Iterable[str]) -> set[int]:
        """Return the cells that can hold a matching row, so that other cells' files are never opened."""
        matching = {cell.index for cell in self.manifest.cells}
        for column, value in filters.items():
            values = _listed(value)
            if column in self.cells.columns:
                matching &= set(self.cells.loc[self.cells[column].isin(values), "cell"])
            elif column == "spec":
                self._check_specs(values)
                matching &= {cell.index for cell in self.manifest.cells if not set(cell.lineup).isdisjoint(values)}
            else:
                self._check_column(table, column, dict.fromkeys([*known, *self.cells.columns]))
        return matching

    def _view(self, table: Table, commits: Sequence[Commit]) -> str:
        """Return the SQL of a table with its derived columns."""
        derived = [f"{text} AS {name}" for name, text in derived_columns(table).items()]
        return f"(SELECT {', '.join(['*', *derived])} FROM {self._stored(table, commits)})"

    def _stored(self, table: Table, commits: Sequence[Commit]) -> str:
        """Return the SQL that scans the files of a table; an empty, typed relation if there are none."""
        if table is PLACEMENTS:
            rounds = self._stored(TABLES["rounds"], commits)
            return f"({_PLACEMENTS.format(rounds=rounds, multiplier=self._multiplier_sql())})"
        paths = [table_path(self.path, table.name, c.shard) for c in commits if table.name in c.tables]
        if not paths:
            columns = [f"NULL::{_SQL_TYPES[_stored_type(c)]} AS {_quote(c.name)}" for c in table.columns]
            return f"(SELECT {', '.join(columns)} WHERE false)"
        # Escaped, because DuckDB takes a path for a pattern; and a folder named `a=b` is not a column.
        files = ", ".join(_literal(glob.escape(str(path))) for path in paths)
        return f"read_parquet([{files}], hive_partitioning = false, union_by_name = false)"

    def _multiplier_sql(self) -> str:
        """Return the SQL of the multiplier of a tile's space, which may differ from cell to cell."""
        cells = {cell.index: "".join(cell.rules.multipliers) for cell in self.manifest.cells}
        special = {index: digits for index, digits in cells.items() if set(digits) != {"1"}}
        if not special:
            return "1"
        cases = " ".join(f"WHEN {index} THEN {[int(digit) for digit in digits]}" for index, digits in special.items())
        return f"coalesce((CASE game >> {CELL_SHIFT} {cases} END)[(row - 1) * 5 + col], 1)"

    def _typed(self, table: Table, name: str) -> str:
        """Return a column as it goes into a frame: coded text as an enumeration with all its names, in order."""
        names = self.manifest.specs if name == "spec" else _names_of(table).get(name, ())
        if not names:
            return _quote(name)
        return f"{_quote(name)}::ENUM({', '.join(_literal(text) for text in names)}) AS {_quote(name)}"

    def __repr__(self) -> str:
        manifest = self.manifest
        players = ", ".join(str(n) for n in sorted({cell.players for cell in manifest.cells}))
        shards = f"{len(self.commits)} of {manifest.shards} shards" if not self.is_complete else "complete"
        failed = f", {self.n_failures:,} failed" if self.n_failures else ""
        lines = [
            f"Run {manifest.name!r} in {self.path}",
            *([f"  {manifest.question}"] if manifest.question else []),
            f"  {format_count(len(manifest.cells), 'cell')} at {players} players, {len(manifest.specs)} strategies: "
            + _shorten(", ".join(manifest.specs)),
            f"  {self.n_games:,} games, {self.n_moves:,} moves{failed}; log {manifest.log}; {shards}",
            f"  seed {manifest.seed}, azulsim {manifest.azulsim}; again: azulsim run {self.path}/experiment.toml"
            + " --on-failure forfeit" * (manifest.on_failure == "forfeit"),
        ]
        return "\n".join(lines)


def _describe_unreadable(folder: Path, table: Table, commit: Commit, reason: str) -> InputError:
    """Return a complaint about a file of a run that could not be read: damaged, unless it cannot even be opened."""
    path = table_path(folder, table.name, commit.shard)
    try:
        path.open("rb").close()
    except FileNotFoundError:
        pass
    except OSError as error:
        return InputError(f"{path}: cannot be read: {error.strerror or error}")
    return describe_damage(folder, table, commit, reason)


def describe_damage(folder: Path, table: Table, commit: Commit, reason: str) -> InputError:
    """Return a complaint about a damaged file of a run, which says how to play its shard again."""
    return InputError(
        f"{table_path(folder, table.name, commit.shard)}: damaged: {reason}; to play its deals again, delete "
        f"{folder / 'commits' / commit.shard}.json, then: azulsim resume {folder}"
    )


def describe_gap(manifest: Manifest, n_shards: int, name: str) -> str:
    """Say that shards are missing and how to go on; `name` is that of the run folder."""
    there = f"{n_shards:,} of {manifest.shards:,} shards"
    if n_shards < manifest.n_own_shards or not manifest.share:
        return f"{there}: the run is not finished; go on with: azulsim resume {name}"
    return f"{there}: this is share {manifest.share} of the run; join it to the others with: azulsim merge"


def _names_of(table: Table) -> dict[str, tuple[str, ...]]:
    return {column.name: column.names for column in table.columns if column.names}


def _stored_type(column: Column) -> str:
    return "S" if column.names or column.name == "spec" else column.dtype


def _stored_names(table: Table) -> set[str]:
    return {column.name for column in table.columns}


def derived_columns(table: Table) -> dict[str, str]:
    """Return the columns that a table's view adds, each with its SQL."""
    everything = {**_FROM_GAME, **_DERIVED.get(table.name, {})}
    return {name: text for name, text in everything.items() if name not in _stored_names(table)}


def _known_columns(table: Table) -> list[str]:
    names = [*(column.name for column in table.columns), *derived_columns(table)]
    return names + [name for name in _FROM_SEATS if name not in names]


def _describe_cell(cell: Cell) -> dict[str, Any]:
    varied = {key: value for key, value in cell.factors.items() if key != "players"}
    return {
        "cell": cell.index,
        "players": cell.players,
        "lineup": ", ".join(cell.lineup),
        "seatings": len(cell.seatings),
        "deals": cell.deals,
        **{key: value if isinstance(value, int | float | str) else str(value) for key, value in varied.items()},
    }


def _condition(column: str, value: Any) -> str:
    values = _listed(value)
    return f"{_quote(column)} IN ({', '.join(_literal(item) for item in values)})" if values else "false"


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple | set | frozenset | range) else [value]


def _literal(value: Any) -> str:
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    raise InputError(f"filters: {value!r} is not a number, a text or a truth value, nor a list of such")


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def format_count(n: int, word: str) -> str:
    """Write a number of things, with the word for one of them in singular or plural."""
    return f"{n:,} {word}{'' if n == 1 else 's'}"


def _shorten(text: str, width: int = 90) -> str:
    return text if len(text) <= width else text[: width - 3] + "..."
