"""Reads the tables of a shard as plain arrays, and holds them against the fingerprints of its commit marker."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from azulsim.errors import InputError
from azulsim.log.manifest import Commit, is_shard_name, read_commits, table_path
from azulsim.log.read import Run, describe_damage
from azulsim.log.store import is_store, list_folder
from azulsim.log.write import _hash_columns, hash_failures
from azulsim.schema import FAILURES, NOT_LOGGED, TABLES, Column, Table

Array = npt.NDArray[Any]

BYTES_CHECKED = 16_000_000
"""Size of a table, all its files together, up to which it is checked before a report is made of it."""


@dataclass(frozen=True)
class Columns:
    """A table of a shard, column by column; coded columns are codes, as in the schema."""

    values: dict[str, Array]
    empty: dict[str, npt.NDArray[np.bool_]]
    """For each column with cells that should hold something and hold nothing, which ones."""

    def __len__(self) -> int:
        return len(next(iter(self.values.values())))

    @property
    def content(self) -> str:
        """The fingerprint, as in the commit marker; that of a table with empty cells is no good table's."""
        return _hash_columns({**self.values, **{f"{name} is empty": cells for name, cells in self.empty.items()}})


def refuse_damaged(run: Run) -> None:
    """Hold the small tables of a run on a disk against the fingerprints of its commit markers.

    Parquet readers do not notice every changed byte. Tables of more than `BYTES_CHECKED` bytes are not checked, nor are
    runs on object stores, as that would take longer than the report.

    Raises
    ------
    InputError
        For the first file that is not as it was written, saying how to play its shard again.
    """
    if is_store(run.path):
        return
    cells = {cell.index: cell for cell in run.manifest.cells}
    for table in run.manifest.stored:
        held = [(commit, commit.tables[table.name]) for commit in run.commits if table.name in commit.tables]
        if sum(part.bytes for _, part in held) > BYTES_CHECKED:
            continue
        for commit, part in held:
            width = cells[commit.cell].n_display_tiles
            try:
                found = read_columns(run.path, table, commit.shard, specs=run.manifest.specs, text_width=width).content
            except InputError as error:
                raise describe_damage(run.path, table, commit, str(error).partition(": ")[2]) from None
            if found != part.content:
                raise describe_damage(run.path, table, commit, "its content is not what was written")


def read_columns(folder: Path, table: Table, shard: str, *, specs: Sequence[str], text_width: int) -> Columns:
    """Read a table of a shard.

    Parameters
    ----------
    text_width
        Width of the table's text column in this cell, if it has one.

    Raises
    ------
    InputError
        If the file is missing, is not parquet, or does not have the columns of the table.
    """
    path = table_path(folder, table.name, shard)
    found = _read_parquet(path)
    expected = [column.name for column in table.columns]
    if found.column_names != expected:
        raise InputError(f"{path}: its columns are {', '.join(found.column_names)}, not {', '.join(expected)}")
    values, empty = {}, {}
    for column in table.columns:
        data = found.column(column.name)
        if data.null_count and not column.is_optional:
            empty[column.name] = data.is_null().to_numpy()
        try:
            values[column.name] = _to_numpy(column, data, specs, text_width)
        except (pa.ArrowException, UnicodeEncodeError, ValueError) as error:
            raise InputError(f"{path}: column {column.name!r} cannot be read: {error}") from None
    return Columns(values, empty)


def _read_parquet(path: Path) -> Any:
    try:
        return pq.read_table(pa.BufferReader(path.read_bytes()), partitioning=None, use_threads=False)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path}: cannot be read: {' '.join(str(error).split())}") from None


def _to_numpy(column: Column, data: Any, specs: Sequence[str], text_width: int) -> Array:
    if column.dtype == "S":
        return _read_text(data, text_width)
    if names := tuple(specs) if column.name == "spec" else column.names:
        return _read_codes(data, names, np.dtype(column.dtype))
    kind = np.dtype(column.dtype)
    array = data.cast(pa.from_numpy_dtype(kind)).combine_chunks()
    if array.null_count:
        array = array.fill_null(NOT_LOGGED if column.is_optional else False if column.dtype == "?" else 0)
    return np.asarray(array.to_numpy(zero_copy_only=False), kind)


def _read_text(data: Any, width: int) -> Array:
    """Return text as bytes; the usual case, where each text is empty or of full width, takes no loop."""
    array = data.cast(pa.large_binary()).combine_chunks().fill_null(b"")
    offsets = np.frombuffer(array.buffers()[1], np.int64)[array.offset : array.offset + len(array) + 1]
    lengths = np.diff(offsets)
    if not np.isin(lengths, (0, width)).all():
        texts = array.to_pylist()
        return np.array(texts, f"S{max(width, *map(len, texts))}")
    letters = np.zeros((len(array), width), np.uint8)
    if lengths.any():
        data_bytes = np.frombuffer(array.buffers()[2], np.uint8)[offsets[0] : offsets[-1]]
        letters[lengths == width] = data_bytes.reshape(-1, width)
    return letters.reshape(-1).view(f"S{width}")


def _read_codes(data: Any, names: Sequence[str], kind: np.dtype[Any]) -> Array:
    """Turn names into codes, whatever codes the file itself gives them."""
    if not pa.types.is_dictionary(data.type):
        data = data.dictionary_encode()
    array = data.unify_dictionaries().combine_chunks()
    known = {name: code for code, name in enumerate(names)}
    unknown = np.iinfo(kind).max  # a text that is none of the names
    codes = np.array([known.get(name, unknown) for name in array.dictionary.to_pylist()] or [0], kind)
    found: Array = codes[array.indices.fill_null(0).to_numpy(zero_copy_only=False)]
    return found


def read_failures(folder: Path, shard: str) -> tuple[list[dict[str, Any]], str]:
    """Read the failures of a shard as plain rows, and their fingerprint."""
    path = table_path(folder, FAILURES.name, shard)
    found = _read_parquet(path)
    expected = [column.name for column in FAILURES.columns]
    if found.column_names != expected:
        raise InputError(f"{path}: its columns are {', '.join(found.column_names)}, not {', '.join(expected)}")
    rows = found.to_pylist()
    if any(None in row.values() for row in rows):
        raise InputError(f"{path}: has empty cells")
    return rows, hash_failures(rows)


def find_stray_markers(folder: Path, commits: Sequence[Commit]) -> Iterator[str]:
    """Yield the name of each file among the commit markers that is none, or is damaged."""
    good = {f"{commit.shard}.json" for commit in commits}
    for name in sorted(list_folder(folder / "commits").keys() - good):
        if is_shard_name(Path(name).stem):
            yield name


def find_leftovers(folder: Path, commits: Sequence[Commit]) -> Iterator[tuple[str, str]]:
    """Yield the table and the name of each file that no commit marker names, though readers of the folder take it.

    Files whose marker is damaged are no leftovers, and neither are names that start with `.` or `_`, which readers of
    parquet pass over.
    """
    unknown = {Path(name).stem for name in find_stray_markers(folder, commits)}
    for table in TABLES:
        known = {f"{commit.shard}.parquet" for commit in commits if table in commit.tables}
        for name in sorted(list_folder(folder / table).keys() - known):
            if Path(name).stem not in unknown and not name.startswith((".", "_")):
                yield table, name


__all__ = [
    "Columns",
    "find_leftovers",
    "find_stray_markers",
    "read_columns",
    "read_commits",
    "read_failures",
    "refuse_damaged",
]
