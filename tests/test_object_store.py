"""Runs on object stores: they come out as on a disk, and what is only half there does not count."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from fsspec.implementations.memory import MemoryFileSystem
from stores import serve_s3

import azulsim
from azulsim import cli, log, runner
from azulsim.errors import InputError, RunError
from azulsim.experiment import Experiment, read_experiment
from azulsim.replay import verify_run
from azulsim.report import build_report

pytestmark = pytest.mark.xdist_group("object store")


@pytest.fixture(scope="module", params=["memory", "s3"])
def store(request: pytest.FixtureRequest) -> Iterator[str]:
    """Return the address of an empty place on an object store."""
    with ExitStack() as stack:
        yield stack.enter_context(serve_s3()) if request.param == "s3" else "memory://runs"
        MemoryFileSystem.store.clear()
        MemoryFileSystem.pseudo_dirs[:] = [""]


def play(out: str | Path, **options: Any) -> log.Run:
    experiment = Experiment(
        name="stored", grid={"lineup": [["greedy", "uniform"], ["greedy"]]}, deals=350, log="moves", seed=5
    )
    return runner.run(experiment, out=out, progress=False, **options)


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> log.Run:
    return play(tmp_path_factory.mktemp("local") / "run", jobs=2)


@pytest.fixture(scope="module")
def stored(store: str) -> log.Run:
    return play(f"{store}/whole", jobs=2)


def test_run_is_the_same_as_on_a_disk(local: log.Run, stored: log.Run, tmp_path: Path) -> None:
    assert stored.hashes == local.hashes
    for table in ("games", "rounds", "moves", "placements"):
        assert getattr(stored, table)().equals(getattr(local, table)())
    greedy = {"spec": "greedy", "cell": 0}
    assert stored.moves(columns=["deal", "gain"], filters=greedy).equals(
        local.moves(columns=["deal", "gain"], filters=greedy)
    )
    pages = [build_report(run, "ranking", folder=tmp_path / name) for run, name in ((stored, "a"), (local, "b"))]
    assert pages[0].json.read_bytes() == pages[1].json.read_bytes()


def test_run_can_be_opened_checked_and_asked_how_far_it_is(
    stored: log.Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    name = str(stored.path)
    assert azulsim.read_run(name).hashes == stored.hashes
    assert read_experiment(f"{name}/experiment.toml") == read_experiment(stored.path / "experiment.toml")
    monkeypatch.chdir(tmp_path)
    assert command(monkeypatch, "status", name, "--json") == 0
    assert json.loads(capsys.readouterr().out)["complete"]
    assert command(monkeypatch, "verify", name) == 0
    assert f"{name}: all well" in capsys.readouterr().out
    assert command(monkeypatch, "report", name, "--report", "ranking") == 0
    assert (tmp_path / capsys.readouterr().out.splitlines()[-1]).is_file()
    assert list(tmp_path.iterdir()) == [tmp_path / "runs"], "reports go to the disk"


def command(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["azulsim", *words])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    return int(stop.value.code or 0)


def test_shards_that_are_only_half_there_are_played_again(
    store: str, local: log.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shard without its marker, one with half a table, and one whose file was lost."""
    run = play(f"{store}/damaged", jobs=1)
    without, half, lost = run.commits[:3]
    (run.path / "commits" / f"{without.shard}.json").unlink()
    file = run.path / "moves" / f"{half.shard}.parquet"
    file.write_bytes(file.read_bytes()[:100])
    (run.path / "games" / f"{lost.shard}.parquet").unlink()
    status = log.read_status(str(run.path))
    assert len(status.run.commits) == len(run.commits) - 3
    assert [name.partition(": ")[2].split()[0] for name in status.damaged] == ["has", "missing,"]
    assert command(monkeypatch, "resume", str(run.path)) == 0
    assert azulsim.read_run(run.path).hashes == local.hashes


def test_commit_marker_is_written_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever write fails, what is read afterwards are whole shards only."""
    path_type = type(log.locate("memory://x"))
    write = path_type.write_bytes
    written: list[tuple[str, str]] = []

    def fail(path: Any, data: bytes) -> int:
        if len(written) >= limit:
            raise ConnectionError("reset by peer")
        written.append((path.parent.name, path.stem))
        return int(write(path, data))

    monkeypatch.setattr(path_type, "write_bytes", fail)
    tables = {"games", "rounds", "moves"}
    for limit in range(3, 12):
        written.clear()
        with pytest.raises(RunError, match=f"memory://torn-{limit}/.*: cannot be written: reset by peer"):
            play(f"memory://torn-{limit}", jobs=1)
        places = {name: place for place, name in enumerate(written)}  # the next shard may be written meanwhile
        marked = {shard for table, shard in written if table == "commits"}
        assert all(places[table, shard] < places["commits", shard] for shard in marked for table in tables)
        assert {commit.shard for commit in log.read_status(f"memory://torn-{limit}").run.commits} == marked
        assert len(marked) >= (limit - 3) // 4 - 1
    MemoryFileSystem.store.clear()


def test_shares_on_a_disk_and_on_a_store_are_joined_on_a_store(store: str, local: log.Run, tmp_path: Path) -> None:
    shares = [play(tmp_path / "one", share="1/2").path, str(play(f"{store}/two", share="2/2").path)]
    assert log.merge_runs(shares, f"{store}/joined").hashes == local.hashes
    assert verify_run(f"{store}/joined").is_good
    with pytest.raises(InputError, match="two: cannot be joined into itself"):
        log.merge_runs(shares, f"{store}/two")


def test_another_run_and_foreign_files_are_refused(store: str, stored: log.Run) -> None:
    with pytest.raises(InputError, match=r"holds another run \(seed: 5 there, 6 now\)"):
        play(str(stored.path), seed=6)
    log.locate(f"{store}/foreign/thesis.txt").write_bytes(b"precious")
    with pytest.raises(InputError, match=r"holds 'thesis\.txt' and no run"):
        play(f"{store}/foreign")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("nonsense://x", "nonsense://x: cannot be reached: "),
        ("memory://a*b", r"memory://a\*b: on an object store the name of a run cannot hold any of"),
        ("memory://nothing", "memory://nothing: no such run folder"),
    ],
)
def test_places_that_are_none_are_one_sentence(path: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        azulsim.read_run(path)


def test_missing_library_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "upath", None)
    with pytest.raises(InputError, match=r"an object store needs an extra: pip install 'azulsim\[stores\]'"):
        azulsim.read_run("memory://x")


def test_missing_bucket_is_one_sentence() -> None:
    with serve_s3(), pytest.raises(RunError, match=r"s3://none/run/experiment\.toml: cannot be written: .*bucket"):
        play("s3://none/run")
