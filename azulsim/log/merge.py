"""Joins run folders that hold parts of one run, made on different machines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from azulsim.errors import InputError
from azulsim.log.differences import find_differences, find_edit
from azulsim.log.manifest import Commit, Manifest, dump_json, find_gaps, read_commits, read_manifest, table_path
from azulsim.log.read import Run, read_run
from azulsim.log.store import locate, make_folder, put_file, sync_files, writing
from azulsim.log.write import create_run, write_manifest


@dataclass(frozen=True)
class _Source:
    """A folder to take shards from."""

    folder: Path
    manifest: Manifest
    commits: list[Commit]


def merge_runs(folders: Sequence[str | Path], out: str | Path) -> Run:
    """Copy the finished shards of several folders of one run into a new folder.

    Parameters
    ----------
    folders
        Run folders of the same experiment, version and strategy files. A shard may be in several if its content is
        the same in all.
    out
        The folder to make. If it holds shards of this run already, only the others are copied.

    Raises
    ------
    InputError
        If the runs differ (the differences are named), a shard has two contents, a file is damaged, a folder is named
        twice, or `out` is one of the folders or holds something else.
    RunError
        If the disk is full or cannot be written.
    """
    target = locate(out)
    sources = [_open(locate(folder), target) for folder in folders]
    _refuse_twice([source.folder for source in sources])
    first, *others = sources
    for source in others:
        _refuse_if_different(first.manifest, source.manifest, str(first.folder), str(source.folder))
    chosen = _choose(sources)
    times = [source.manifest.started for source in sources]
    manifest = first.manifest.model_copy(update={"share": "", "started": min(times), "finished": "", "doubts": ()})
    there: set[str] = set()
    if (target / "manifest.json").exists():
        _refuse_if_different(read_manifest(target), manifest, str(target), str(first.folder))
        commits = read_commits(target)
        there = {commit.shard for commit in commits} - find_gaps(target, commits).keys()
    else:
        create_run(target, manifest, _read_text(first.folder / "experiment.toml"))
    for name in sorted(chosen.keys() - there):
        _copy_shard(*chosen[name], target)
    run = read_run(target)
    if run.manifest.finished:
        return run
    ended = max(source.manifest.finished for source in sources) if run.is_complete else ""
    write_manifest(target, run.manifest.model_copy(update={"finished": ended, "doubts": run.doubts}))
    return read_run(target)


def _open(folder: Path, target: Path) -> _Source:
    manifest = read_manifest(folder)
    if target.exists() and folder.resolve() == target.resolve():
        raise InputError(f"{folder}: cannot be joined into itself; choose another folder with --out")
    commits = read_commits(folder)
    for gap in find_gaps(folder, commits).values():
        raise InputError(f"{gap}; azulsim resume {folder} plays that shard anew")
    return _Source(folder, manifest, commits)


def _refuse_twice(folders: Sequence[Path]) -> None:
    seen: set[Path] = set()
    for folder in folders:
        if folder.resolve() in seen:
            raise InputError(f"{folder}: named twice; name each share of the run once")
        seen.add(folder.resolve())


def _refuse_if_different(one: Manifest, other: Manifest, name: str, other_name: str) -> None:
    words = f"in {name}", f"in {other_name}"
    if differences := find_differences(one, other, words) or find_edit(one, other, words):
        raise InputError(f"{other_name}: another run than {name} ({'; '.join(differences)})")


def _choose(sources: Sequence[_Source]) -> dict[str, tuple[_Source, Commit]]:
    """Return where to take each shard from."""
    chosen: dict[str, tuple[_Source, Commit]] = {}
    for source in sources:
        for commit in source.commits:
            known = chosen.setdefault(commit.shard, (source, commit))
            if _contents(known[1]) != _contents(commit):
                raise InputError(
                    f"shard {commit.shard} has one content in {known[0].folder} and another in {source.folder}; "
                    "azulsim verify says what is wrong"
                )
    return chosen


def _contents(commit: Commit) -> dict[str, str]:
    return {name: part.content for name, part in commit.tables.items()}


def _copy_shard(source: _Source, commit: Commit, target: Path) -> None:
    """Copy the tables of a shard, then its commit marker."""
    for table in commit.tables:
        path = table_path(target, table, commit.shard)
        make_folder(path.parent)
        with writing(path):
            path.write_bytes(table_path(source.folder, table, commit.shard).read_bytes())
        sync_files([path])
    put_file(target / "commits" / f"{commit.shard}.json", dump_json(commit))


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
