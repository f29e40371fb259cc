"""Plays shards on a Dask cluster: the same tasks, on machines that share nothing but the run folder.

Dask plays a shard again elsewhere when its worker dies. A shard that has outlived several workers is suspected of
having ended them, and is played in a watched child of the next one. What a shard needs is sent along, the files of
strategies included; what comes back is its commit, as its rows go straight to the run folder.
"""

from __future__ import annotations

import hashlib
import itertools
import sys
import tempfile
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from azulsim import __version__
from azulsim.errors import AzulsimError, InputError, RunError
from azulsim.log import Commit
from azulsim.runner.luggage import Luggage, hash_package, pack, unpack
from azulsim.runner.tasks import Task
from azulsim.runner.watching import end_children
from azulsim.runner.workers import play_shard

SCHEME = "dask://"
SECONDS_TO_ANSWER = 8
SHARDS_A_THREAD = 3
"""Shards that are handed out for each thread of the cluster at a time, so that none waits for work."""
SECONDS_BETWEEN_COUNTS = 5.0


@dataclass(frozen=True)
class Parcel:
    """A task, and what a worker on another machine needs for it and may not have."""

    task: Task
    luggage: Mapping[str, Luggage]
    azulsim: str
    """The version that it must be played with."""
    manifest: str
    """Hash of the manifest, by which a worker knows that it sees the run folder."""


@contextmanager
def connect(address: str, folder: Path) -> Iterator[Cluster]:
    """Give the cluster at an address such as `dask://host:8786`, for the time that it plays for a run folder.

    Raises
    ------
    InputError
        If it is no such address, nobody answers there, or the library is missing.
    """
    host = address.removeprefix(SCHEME)
    if not address.startswith(SCHEME) or not host.rpartition(":")[2].isdecimal():
        raise InputError(f"cluster {address!r}: write {SCHEME}HOST:PORT, where a Dask scheduler listens")
    try:
        from distributed import Client
    except ImportError:
        raise InputError(f"cluster {address!r}: needs an extra: pip install 'azulsim[dask]'") from None
    print(
        f"{address}: looking for a Dask scheduler, for {SECONDS_TO_ANSWER} s at the most", file=sys.stderr, flush=True
    )
    try:
        client = Client(f"tcp://{host}", timeout=SECONDS_TO_ANSWER, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(f"cluster {address!r}: no Dask scheduler answers there: {error}") from None
    with client:
        try:
            yield Cluster(address, client)
        finally:
            with suppress(Exception):  # whoever is gone needs no end
                client.run(end_children, folder.absolute(), on_error="ignore")


class Cluster:
    """A Dask cluster that plays for one run folder."""

    def __init__(self, address: str, client: Any) -> None:
        self.address = address
        self._client = client
        self._counted = -SECONDS_BETWEEN_COUNTS
        self.count = 0
        """Threads of all workers, when they were last counted."""
        self._count_room()

    def spread(self, tasks: Sequence[Task]) -> Generator[Commit, None, None]:
        """Yield the commits of all tasks, as they are finished.

        Raises
        ------
        RunError
            If the cluster is lost, or a worker cannot play, cannot write, or has another version of azulsim.
        """
        from distributed import as_completed

        if not tasks:
            return
        manifest = _hash_manifest(tasks[0].folder)
        luggage = pack(tasks[0].specs, tasks[0].project)
        waiting = (Parcel(task, luggage, __version__, manifest) for task in tasks)
        running: dict[Any, Parcel] = {}
        finished = as_completed(loop=self._client.loop)

        def submit(parcel: Parcel) -> None:
            future = self._client.submit(play_parcel, parcel, pure=False)
            running[future] = parcel
            finished.add(future)

        try:
            for parcel in itertools.islice(waiting, self._count_room()):
                submit(parcel)
            for future in finished:
                parcel = running.pop(future)
                commit = self._take(future, parcel)
                if commit is None:
                    submit(replace(parcel, task=replace(parcel.task, is_watched=True)))
                else:
                    yield commit
                for parcel in itertools.islice(waiting, max(0, self._count_room() - len(running))):
                    submit(parcel)
        finally:
            with suppress(Exception):  # a cluster that was lost forgets them by itself
                self._client.cancel(list(running))

    def _count_room(self) -> int:
        """Return how many shards may be handed out at a time."""
        if time.monotonic() - self._counted >= SECONDS_BETWEEN_COUNTS:
            self._counted = time.monotonic()
            self.count = sum(self._client.nthreads().values())
            if not self.count:
                print(f"{self.address}: no worker is there; waiting for one", file=sys.stderr, flush=True)
        return SHARDS_A_THREAD * max(1, self.count)

    def _take(self, future: Any, parcel: Parcel) -> Commit | None:
        """Return what came back of a parcel; None if it has to be played in a watched child."""
        from distributed import KilledWorker

        where = f"{self.address}: shard {parcel.task.shard.name}"
        error = future.exception() if future.status == "error" else None
        if isinstance(error, KilledWorker):
            if parcel.task.is_watched:
                raise RunError(f"{where}: no worker outlives it ({error})")
            return None
        if isinstance(error, AzulsimError):
            raise error
        if error is not None:
            needed = f"every worker needs azulsim {__version__}"
            raise RunError(f"{where}: {type(error).__name__}: {error}; {needed}") from error
        if future.status != "finished":
            raise RunError(
                f"{self.address}: the cluster was lost; finished shards are kept, go on with: azulsim resume "
                f"{parcel.task.folder}"
            )
        commit: Commit = future.result()
        return commit


# What a worker does


def play_parcel(parcel: Parcel) -> Commit:
    """Play a shard on a worker of the cluster, and write it to the run folder."""
    from distributed import get_worker

    worker = get_worker()
    try:
        _check(parcel)
        moved = unpack(parcel.luggage, _find_private_folder(worker.local_directory))
        return play_shard(replace(parcel.task, moved=moved))
    except AzulsimError as error:
        raise type(error)(f"worker {worker.address}: {error}") from error


def _check(parcel: Parcel) -> None:
    """Refuse to play with another version or source, or where the run folder cannot be seen."""
    if parcel.azulsim != __version__:
        raise RunError(f"has azulsim {__version__}; the run is played by {parcel.azulsim}")
    if parcel.task.source != hash_package():
        raise RunError(
            f"has another azulsim {__version__} than the one by which the run is played: their source differs"
        )
    folder = parcel.task.folder
    if (folder, parcel.manifest) not in _seen and _hash_manifest(folder) != parcel.manifest:
        raise RunError(
            f"{folder} is not the run folder there; a cluster needs one that all its machines share, or one on an "
            "object store"
        )
    _seen.add((folder, parcel.manifest))


_seen: set[tuple[Path, str]] = set()
"""Run folders that this worker has found, with the hash of the manifest there; each is looked for until it is found."""


def _hash_manifest(folder: Path) -> str:
    try:
        return hashlib.sha256((folder / "manifest.json").read_bytes()).hexdigest()
    except OSError:
        return ""


@lru_cache
def _find_private_folder(scratch: str) -> Path:
    """Make a folder for this process alone; it goes with the worker's own."""
    return Path(tempfile.mkdtemp(prefix="azulsim-", dir=scratch))
