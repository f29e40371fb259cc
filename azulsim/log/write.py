"""Writes a run folder: its manifest, and shard by shard the parquet tables and the commit marker."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import platform
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import xxhash

from azulsim.errors import InputError
from azulsim.log.manifest import Cell, Commit, Manifest, OutcomeName, Part, Shard, dump_json, table_path
from azulsim.log.outcomes import sum_outcome
from azulsim.log.store import is_store, list_folder, make_folder, put_file, put_whole, sync_files
from azulsim.schema import FAILURES, GAMES, NOT_LOGGED, PROBES, TABLES, Column, Depth, Table, stored_at

Array = npt.NDArray[Any]

_LIBRARIES = ("numpy", "numba", "pyarrow", "duckdb", "pandas", "scipy", "joblib", "pydantic")


def create_run(folder: Path, manifest: Manifest, experiment_toml: str) -> None:
    """Make a run folder that holds no shard yet; its manifest is written last.

    Raises
    ------
    InputError
        If the folder holds something else already or cannot be made.
    """
    try:
        if not is_store(folder):
            folder.mkdir(parents=True, exist_ok=True)
        if foreign := sorted(list_folder(folder).keys() - _own_names()):
            raise InputError(f"{folder}: holds {foreign[0]!r} and no run; choose another folder with --out")
    except FileExistsError:
        raise InputError(f"{folder}: is a file; choose another folder with --out") from None
    except OSError as error:
        raise InputError(f"{folder}: cannot be written: {error.strerror}") from None
    make_folders(folder, manifest)
    put_file(folder / "experiment.toml", experiment_toml.encode())
    put_file(folder / "environment.json", (json.dumps(describe_environment(), indent=1) + "\n").encode())
    sync_files([folder / "experiment.toml", folder / "environment.json"])
    write_manifest(folder, manifest)


def make_folders(folder: Path, manifest: Manifest) -> None:
    """Make the folders of the tables and commit markers inside a run folder, where they are missing.

    Raises
    ------
    RunError
        If they cannot be made.
    """
    for name in ("commits", *(table.name for table in manifest.stored)):
        make_folder(folder / name)


def _own_names() -> set[str]:
    """Return what a sitting that was killed before it wrote its manifest may have left."""
    return {"experiment.toml", "environment.json", "manifest.json.part", "commits", *TABLES}


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Put a manifest in place, whole or not at all; at the end of a run, one that says when and how long was played."""
    put_whole(folder / "manifest.json", dump_json(manifest))


def write_shard(
    folder: Path,
    shard: Shard,
    tables: Mapping[str, Array],
    failures: Sequence[Mapping[str, Any]],
    *,
    depth: Depth,
    is_probed: bool = False,
    specs: Sequence[str],
    seconds: float = 0.0,
    doubts: Sequence[str] = (),
    followed: tuple[Cell, OutcomeName] | None = None,
    is_marked: bool = True,
) -> Commit:
    """Write the tables of a shard, then its commit marker.

    Parameters
    ----------
    folder
        The run folder, made by `create_run`.
    shard
        Which deals of which cell.
    tables
        Structured arrays with the dtypes of `azulsim.schema`, in canonical order; those below `depth` are ignored.
    failures
        One mapping a failed game, with the columns of `schema.FAILURES`.
    depth
        Log depth of the run.
    is_probed
        True if the run has probes.
    specs
        The run's specs, whose places are the codes in the `spec` column.
    seconds
        Time that it took to play.
    doubts
        Why its games may not come out the same when they are played again.
    followed
        The shard's cell, and the outcome of which the commit marker is to say the sums.
    is_marked
        False to leave the commit marker to `mark_shard`, which has to wait for the disk.

    Raises
    ------
    RunError
        If the disk is full or cannot be written; the shard then has no commit marker and does not count.
    """
    parts, kept = {}, {}
    for table in stored_at(depth, is_probed=is_probed):
        columns = _split_columns(tables[table.name])
        parts[table.name] = _write_table(table_path(folder, table.name, shard.name), table, columns, specs)
        if table in (GAMES, PROBES):  # moves are many, and nothing is summed over them
            kept[table.name] = columns
    if failures:
        parts["failures"] = _write_failures(table_path(folder, "failures", shard.name), failures)
    games = kept["games"]
    players = int(games["players"][0]) if len(games["players"]) else 1
    commit = Commit(
        shard=shard.name,
        cell=shard.cell,
        first_deal=shard.first_deal,
        n_deals=shard.n_deals,
        n_games=len(games["players"]) // players,
        n_moves=int(games["plies"][::players].sum(dtype=np.int64)),
        n_failures=len(failures),
        seconds=round(seconds, 3),
        doubts=tuple(doubts),
        outcome=sum_outcome(kept, *followed) if followed else None,
        tables=parts,
    )
    if is_marked:
        mark_shard(folder, commit)
    return commit


def mark_shard(folder: Path, commit: Commit) -> None:
    """Write the commit marker of a shard, when its tables are on the disk itself.

    Raises
    ------
    RunError
        If the disk is full or cannot be written.
    """
    sync_files(table_path(folder, name, commit.shard) for name in commit.tables)
    put_file(folder / "commits" / f"{commit.shard}.json", dump_json(commit))


def hash_table(rows: Array) -> str:
    """Return a fingerprint of a structured array's content: names, types and little-endian values, column by column.

    It does not depend on padding, on parquet, or on the machine. A fast 128-bit hash (XXH3) is enough: it tells equal
    runs from different ones, and whoever tampers with a log could recompute any hash; replaying finds that.
    """
    return _hash_columns(_split_columns(rows))


_CHUNK = 8192
"""Rows that are taken apart at a time: few enough to stay in cache while each column is copied out of them."""


def _split_columns(rows: Array) -> dict[str, Array]:
    """Return the fields of a structured array as contiguous arrays."""
    names = rows.dtype.names or ()
    columns = {name: np.empty(len(rows), rows.dtype[name]) for name in names}
    for start in range(0, len(rows), _CHUNK):
        part = rows[start : start + _CHUNK]
        for name in names:
            columns[name][start : start + _CHUNK] = part[name]
    return columns


def _hash_columns(columns: Mapping[str, Array]) -> str:
    digest = xxhash.xxh3_128()
    for name, column in columns.items():
        values = column.astype(column.dtype.newbyteorder("<"), copy=False)
        digest.update(f"{name} {values.dtype.str} {len(values)}\n".encode())
        digest.update(values.data)
    return digest.hexdigest()


def hash_failures(failures: Iterable[Mapping[str, Any]]) -> str:
    """Return the SHA-256 of what failed where; the messages are left out, as they may name addresses in memory."""
    keys = ("game", "seat", "ply", "kind", "spec")
    rows = sorted([failure[key] for key in keys] for failure in failures)
    return hashlib.sha256(json.dumps(rows, default=int).encode()).hexdigest()


@cache
def describe_environment() -> dict[str, Any]:
    """Return what a run was made with: Python, machine, and versions of the libraries."""
    versions = {}
    for library in _LIBRARIES:
        try:
            versions[library] = importlib.metadata.version(library)
        except importlib.metadata.PackageNotFoundError:
            continue
    return {
        "python": sys.version.split()[0],
        "platform": platform.platform(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "libraries": versions,
    }


# Parquet. Encodings were chosen by measurement on greedy play at 2 players: numbers as BYTE_STREAM_SPLIT, because
# parquet knows none below 32 bits and this puts the empty upper bytes together; coded columns, what was tiled, and
# those of moves that may be negative, as dictionaries; the text with its lengths apart. Statistics are left out: files
# are chosen by their names. Shards are written from memory in one go, so a file is torn only by a full disk or a crash.


def _write_table(path: Path, table: Table, columns: Mapping[str, Array], specs: Sequence[str]) -> Part:
    arrays = [_to_arrow(column, columns[column.name], specs) for column in table.columns]
    # Columns said to have no nulls, and batches larger than the usual 1,024 values, save a quarter of the time.
    fields = [
        pa.field(column.name, array.type, nullable=column.is_optional)
        for column, array in zip(table.columns, arrays, strict=True)
    ]
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_arrays(arrays, schema=pa.schema(fields)), sink, **_options(table.name))
    data = sink.getvalue()
    put_file(path, data)
    return Part(rows=len(arrays[0]), bytes=data.size, content=_hash_columns(columns))


def _to_arrow(column: Column, values: Array, specs: Sequence[str]) -> pa.Array:
    """Return a column as an Arrow array over the same memory.

    `pa.array` would do, but loads pandas to ask whether it was given any: 35 MB in every process that plays.
    """
    if column.dtype == "S":
        letters = values.view(np.uint8)
        ends = np.cumsum(np.strings.str_len(values), dtype=np.int32)
        buffers = [None, pa.py_buffer(np.append(np.int32(0), ends)), pa.py_buffer(letters[letters != 0])]
        return pa.Array.from_buffers(pa.string(), len(values), buffers)
    if column.dtype == "?":
        return pa.Array.from_buffers(pa.bool_(), len(values), [None, _pack(values)])
    is_there = None
    if column.is_optional and (missing := values == NOT_LOGGED).any():
        is_there = _pack(~missing)
    kind = pa.from_numpy_dtype(values.dtype)
    numbers = pa.Array.from_buffers(kind, len(values), [is_there, pa.py_buffer(values)])
    names = specs if column.name == "spec" else column.names
    return pa.DictionaryArray.from_arrays(numbers, pa.array(list(names), pa.string())) if names else numbers


def _pack(flags: npt.NDArray[np.bool_]) -> pa.Buffer:
    return pa.py_buffer(np.packbits(flags, bitorder="little"))


@cache
def _options(table: str) -> dict[str, Any]:
    encoding, dictionaries = {}, []
    for column in TABLES[table].columns:
        is_signed_move = table == "moves" and column.dtype in ("i1", "i2")
        if column.names or column.name in ("spec", "tiled") or is_signed_move:
            dictionaries.append(column.name)
        elif column.dtype == "?":
            if table == "moves":
                encoding[column.name] = "RLE"
        else:
            encoding[column.name] = "DELTA_LENGTH_BYTE_ARRAY" if column.dtype == "S" else "BYTE_STREAM_SPLIT"
    return {
        "compression": "zstd",
        "compression_level": 1,
        "use_dictionary": dictionaries,
        "column_encoding": encoding,
        "data_page_version": "2.0",
        "write_statistics": False,
        "write_batch_size": 1 << 16,
    }


def _write_failures(path: Path, failures: Sequence[Mapping[str, Any]]) -> Part:
    types = {
        c.name: pa.string() if c.dtype == "O" else pa.from_numpy_dtype(np.dtype(c.dtype)) for c in FAILURES.columns
    }
    columns = {name: pa.array([failure[name] for failure in failures], kind) for name, kind in types.items()}
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), sink, compression="zstd")
    data = sink.getvalue()
    make_folder(path.parent)
    put_file(path, data)
    return Part(rows=len(failures), bytes=data.size, content=hash_failures(failures))
