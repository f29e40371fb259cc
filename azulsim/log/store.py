"""Where a run folder is, and how its files are put there: on a disk, or on an object store by way of fsspec.

Object stores have no folders, cannot rename, and answer slowly but many at a time. So files are put whole, names and
sizes are listed folder by folder, and many files are read in one request.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa

from azulsim.errors import InputError, RunError

if TYPE_CHECKING:
    from upath import UPath


def locate(path: str | Path) -> Path:
    """Return the path of a run folder: on a disk, or on an object store for a text such as `s3://bucket/run`.

    A path on an object store has the methods of a `Path`, and is typed as one.

    Raises
    ------
    InputError
        If the name is a pattern, a library is missing that the store needs, or the store does not answer.
    """
    if not isinstance(path, str) or "://" not in path:
        return Path(path) if isinstance(path, str) else path
    if not set(path).isdisjoint("*?[]"):
        raise InputError(f"{path}: on an object store the name of a run cannot hold any of * ? [ ]")
    try:
        from upath import UPath
    except ImportError:
        raise InputError(f"{path}: an object store needs an extra: pip install 'azulsim[stores]'") from None
    try:
        # Not cached: what other machines write meanwhile must be seen.
        place = UPath(path.rstrip("/"), use_listings_cache=False)
        place.exists()
    except Exception as error:
        raise InputError(f"{path}: cannot be reached: {_word(error)}") from None
    return cast(Path, place)


def is_store(path: Path) -> bool:
    """Tell whether a path is on an object store."""
    return not isinstance(path, Path)


def system_of(path: Path) -> Any:
    """Return the fsspec file system of a path on an object store."""
    return cast("UPath", path).fs


def open_system(folder: Path, inner: Iterable[str]) -> Any:
    """Return an fsspec file system that reads from a run folder on an object store, for files that change no more.

    It knows the sizes of all files in the inner folders beforehand, as asking for each takes a request.
    """
    system = system_of(folder)
    reading = type(system)(**{**system.storage_options, "use_listings_cache": True}, skip_instance_cache=True)
    for name in inner:
        with suppress(FileNotFoundError):
            reading.ls(cast("UPath", folder / name).path, detail=True)
    return reading


def make_folder(folder: Path) -> None:
    """Make a folder inside an existing one, if it is missing; object stores need none.

    Raises
    ------
    RunError
        If it cannot be made.
    """
    if not is_store(folder):
        with writing(folder):
            folder.mkdir(exist_ok=True)


def list_folder(folder: Path) -> dict[str, int]:
    """Return the name of each file and folder inside a folder, with its size in bytes; nothing if there is no folder.

    Links that lead nowhere have size -1.
    """
    try:
        if is_store(folder):
            found = system_of(folder).ls(cast("UPath", folder).path, detail=True)
            return {str(item["name"]).rstrip("/").rpartition("/")[2]: int(item["size"] or 0) for item in found}
        with os.scandir(folder) as entries:
            return {entry.name: _size_of(entry) for entry in entries}
    except FileNotFoundError:
        return {}


def _size_of(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat().st_size
    except OSError:
        return -1


def read_files(paths: Sequence[Path]) -> Iterator[bytes | None]:
    """Yield the content of each file, or None for one that cannot be read; from an object store, many at a time."""
    if not paths or not is_store(paths[0]):
        yield from map(_read_file, paths)
        return
    names = [cast("UPath", path).path for path in paths]
    found = system_of(paths[0]).cat(names, on_error="return")
    yield from (found[name] if isinstance(found.get(name), bytes) else None for name in names)


def _read_file(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def put_file(path: Path, data: bytes | pa.Buffer) -> None:
    """Write a file of a run, whole if it is on an object store.

    Raises
    ------
    RunError
        If the disk is full or cannot be written.
    """
    with writing(path):
        path.write_bytes(data)


def put_whole(path: Path, data: bytes) -> None:
    """Write a file of a run, whole or not at all, whether it is there already or not.

    Raises
    ------
    RunError
        If the disk is full or cannot be written.
    """
    if is_store(path):
        put_file(path, data)
        return
    part = path.with_name(f"{path.name}.part")
    put_file(part, data)
    sync_files([part])
    with writing(path):
        part.replace(path)
    sync_files([path.parent])


def sync_files(paths: Iterable[Path]) -> None:
    """Wait until files are on the disk itself, so that what is written from now on is never there without them.

    Object stores answer when a file is safe.

    Raises
    ------
    RunError
        If the disk cannot take them.
    """
    for path in paths:
        if not is_store(path):
            with writing(path):
                handle = os.open(path, os.O_RDONLY)
                try:
                    os.fsync(handle)
                finally:
                    os.close(handle)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn what a disk or a store says of a file of a run into a `RunError`."""
    try:
        yield
    except Exception as error:
        if not isinstance(error, OSError) and not is_store(path):
            raise
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise RunError(
                f"{path}: the disk is full; make room and go on with the same command, finished shards are kept"
            ) from None
        raise RunError(f"{path}: cannot be written: {_word(error)}") from None


def _word(error: Exception) -> str:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return " ".join(reason.split()) or type(error).__name__
