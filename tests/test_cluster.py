"""Runs on a Dask cluster of real processes: the results of one process, whatever becomes of a worker."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest
from stores import serve_s3

from azulsim import cli, log, runner
from azulsim.errors import InputError, RunError
from azulsim.experiment import Experiment
from azulsim.game import Game
from azulsim.report import build_report
from azulsim.runner.luggage import pack, rename, unpack

pytestmark = pytest.mark.xdist_group("cluster")

MINE = '''"""A strategy of one's own, that no worker has the file of."""
from azulsim.strategy import strategy


@strategy
def mine(view, moves, rng):
    """Take a move by luck."""
    return int(rng.integers(len(moves)))


@strategy
def exits(view, moves, rng):
    """End the process in one deal."""
    if view.displays == GUILTY:
        import os

        os._exit(0)
    return 0
'''
SEED, GUILTY_DEAL = 3, 4


@dataclass
class Cluster:
    """A scheduler and its workers, each a process of its own."""

    address: str
    folder: Path
    bucket: str
    """Address of a bucket that all of them can reach."""
    workers: list[subprocess.Popen[bytes]]

    def start_worker(self) -> subprocess.Popen[bytes]:
        """Start a worker in a folder of its own, in which there is no file of a strategy."""
        folder = self.folder / f"worker-{len(self.workers)}"
        folder.mkdir()
        worker = start("worker", self.address, "--nthreads", "1", "--no-nanny", "--no-dashboard", folder=folder)
        self.workers.append(worker)
        return worker

    @property
    def url(self) -> str:
        return self.address.replace("tcp://", "dask://")


def start(*words: str, folder: Path) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1"}
    with (folder / "log.txt").open("wb") as log_file:
        return subprocess.Popen(
            [sys.executable, "-m", "dask", *words], cwd=folder, env=environment, stdout=log_file, stderr=log_file
        )


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("cluster")
    file = folder / "scheduler.json"
    words = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file))
    scheduler = start("scheduler", *words, folder=folder)
    wait_for(lambda: file.exists() and file.read_text().rstrip().endswith("}"))
    with serve_s3() as bucket:
        found = Cluster(json.loads(file.read_text())["address"], folder, bucket, [])
        found.start_worker()
        found.start_worker()
        yield found
        for process in (*found.workers, scheduler):
            process.kill()
            process.wait()


def wait_for(condition: Any, seconds: float = 300.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def play(folder: Path, name: str, **options: Any) -> log.Run:
    """Play a small experiment with strategies of every kind."""
    experiment = Experiment(
        name="spread",
        grid={"lineup": [["greedy", "uniform"], [f"{folder}/mine.py:mine", "greedy"], ["connector"]]},
        deals=340,
        log="moves",
        seed=SEED,
        reports=["ranking"],
    )
    return runner.run(experiment, out=folder / name, progress=False, **options)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a strategy file, and the run of one process."""
    folder = tmp_path_factory.mktemp("project")
    displays = Game(2, seed=SEED, deal=GUILTY_DEAL).displays
    (folder / "mine.py").write_text(MINE + f"\n\nGUILTY = {displays!r}\n")
    play(folder, "alone", jobs=1)
    return folder


def outcome_of(run: log.Run, folder: Path) -> tuple[dict[str, str], bytes, list[Any]]:
    """Return all that must be the same: the fingerprints, the report, and the sorted rows."""
    rows = [frame.sort_values(list(frame.columns[:3])).to_csv() for frame in (run.games(), run.rounds(), run.moves())]
    return run.hashes, build_report(run, folder=folder).json.read_bytes(), rows


def test_a_worker_that_is_killed_makes_no_difference(cluster: Cluster, project: Path, tmp_path: Path) -> None:
    alone = log.read_run(project / "alone")
    assert len(alone.commits) > 6
    run = play_while_a_worker_dies(cluster, project)
    assert outcome_of(run, tmp_path / "cluster") == outcome_of(alone, tmp_path / "alone")
    assert (run.n_failures, run.doubts) == (0, ())


@pytest.mark.long
def test_number_and_kind_of_workers_make_no_difference(project: Path, tmp_path: Path) -> None:
    """One, two and seven workers, and four shares joined; a cluster is above."""
    wanted = outcome_of(log.read_run(project / "alone"), tmp_path / "alone")
    runs = {f"{jobs} workers": play(project, f"jobs-{jobs}", jobs=jobs) for jobs in (2, 7)}
    shares = [play(project, f"share-{number}", share=f"{number}/4", jobs=2).path for number in range(1, 5)]
    runs["shares"] = log.merge_runs(shares, project / "joined")
    for name, run in runs.items():
        assert outcome_of(run, tmp_path / name) == wanted, name
        assert (run.n_failures, run.doubts) == (0, ()), name


def play_while_a_worker_dies(cluster: Cluster, project: Path) -> log.Run:
    victim = cluster.workers[0]
    folder = project / "cluster" / "commits"

    def kill() -> None:
        wait_for(lambda: folder.exists() and any(folder.iterdir()))
        victim.send_signal(signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    run = play(project, "cluster", cluster=cluster.url)
    killer.join()
    assert victim.wait() == -signal.SIGKILL
    cluster.start_worker()
    return run


def test_a_strategy_that_ends_its_process_costs_its_game_and_no_worker(cluster: Cluster, project: Path) -> None:
    lineup = [f"{project}/mine.py:exits", "uniform"]
    experiment = Experiment(name="exits", lineup=lineup, deals=6, log="moves", seed=SEED)
    run = runner.run(experiment, out=project / "exits", cluster=cluster.url, progress=False)
    (failure,) = run.failures().to_dict("records")
    assert (failure["deal"], failure["kind"], failure["spec"]) == (GUILTY_DEAL, "crashed", lineup[0])
    assert run.games()["deal"].nunique() == 5
    assert cluster.workers[-1].poll() is None
    wait_for(lambda: not [child for worker in cluster.workers for child in children_of(worker)], 20)


def children_of(worker: subprocess.Popen[bytes]) -> list[psutil.Process]:
    return psutil.Process(worker.pid).children() if worker.poll() is None else []


def test_workers_write_to_an_object_store(cluster: Cluster, tmp_path: Path) -> None:
    experiment = Experiment(name="far", lineup=["greedy", "uniform"], deals=200)
    near = runner.run(experiment, out=tmp_path / "near", jobs=1, progress=False)
    far = runner.run(experiment, out=f"{cluster.bucket}/far", cluster=cluster.url, progress=False)
    assert far.hashes == near.hashes
    assert far.games().equals(near.games())


def test_cluster_that_does_not_see_the_folder_is_one_sentence(cluster: Cluster) -> None:
    experiment = Experiment(name="unseen", lineup=["greedy"], deals=2)
    with pytest.raises(RunError, match=r"worker tcp://.*: memory://unseen is not the run folder there"):
        runner.run(experiment, out="memory://unseen", cluster=cluster.url, progress=False)


@pytest.mark.parametrize(
    ("room", "name", "value", "message"),
    [
        (runner.cluster, "__version__", "0.0.9", r"has azulsim \S+; the run is played by 0\.0\.9"),
        (runner.folder, "hash_package", lambda: "edited", "their source differs"),
    ],
)
def test_worker_that_is_not_the_same_azulsim_is_refused(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: Any, name: str, value: Any, message: str
) -> None:
    monkeypatch.setattr(room, name, value)
    experiment = Experiment(name="other", lineup=["greedy"], deals=2)
    with pytest.raises(RunError, match=f"^worker tcp://.*{message}"):
        runner.run(experiment, out=tmp_path / "run", cluster=cluster.url, progress=False)


def test_command_plays_on_a_cluster_and_goes_on_there(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "run")
    (tmp_path / "tiny.toml").write_text('lineup = ["greedy", "uniform"]\ndeals = 20\n')
    command(monkeypatch, "run", f"{tmp_path}/tiny.toml", "--cluster", cluster.url, "--out", out, "--json")
    told = capsys.readouterr()
    assert json.loads(told.out)["failures"] == 0
    assert re.search("shard to play, [2-9] workers; ", told.err)
    whole = log.read_run(out)
    (whole.path / "commits" / f"{whole.commits[0].shard}.json").unlink()
    command(monkeypatch, "resume", out, "--cluster", cluster.url)
    assert log.read_run(out).hashes == whole.hashes


def command(monkeypatch: pytest.MonkeyPatch, *words: str) -> None:
    monkeypatch.setattr(sys, "argv", ["azulsim", *words])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert not stop.value.code


def test_a_shard_that_breaks_workers_twice_is_played_in_a_watched_child(
    cluster: Cluster, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A strategy that nobody watches ends the worker; the third one plays its game in a child, and it fails."""
    monkeypatch.setattr(runner.tasks, "must_be_watched", lambda spec, project: False)
    n_alive = sum(worker.poll() is None for worker in cluster.workers)
    cluster.start_worker()
    experiment = Experiment(name="breaks", lineup=[f"{project}/mine.py:exits", "uniform"], deals=6, seed=SEED)
    run = runner.run(experiment, out=project / "breaks", cluster=cluster.url, progress=False)
    assert run.failures()[["deal", "kind"]].to_numpy().tolist() == [[GUILTY_DEAL, "crashed"]]
    assert sum(worker.poll() is None for worker in cluster.workers) == n_alive - 1


@pytest.mark.parametrize(
    ("address", "options", "message"),
    [
        ("127.0.0.1:1", {}, r"cluster '127\.0\.0\.1:1': write dask://HOST:PORT"),
        ("dask://nowhere", {}, "write dask://HOST:PORT"),
        ("dask://127.0.0.1:1", {}, "no Dask scheduler answers there"),
        ("dask://127.0.0.1:1", {"jobs": 2}, "leave one of the two out"),
    ],
)
def test_cluster_that_is_none_is_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    address: str,
    options: Any,
    message: str,
) -> None:
    monkeypatch.setattr(runner.cluster, "SECONDS_TO_ANSWER", 1)
    with pytest.raises(InputError, match=message):
        runner.run(Experiment(name="x", lineup=["greedy"]), out=tmp_path / "x", cluster=address, **options)
    assert not (tmp_path / "x").exists()
    is_tried = "no Dask scheduler" in message
    assert ("looking for a Dask scheduler, for 1 s at the most" in capsys.readouterr().err) == is_tried


def test_missing_library_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"needs an extra: pip install 'azulsim\[dask\]'"):
        runner.run(Experiment(name="x", lineup=["greedy"]), out=tmp_path / "x", cluster="dask://127.0.0.1:1")


def test_files_are_laid_out_by_hash_and_found_under_other_names(tmp_path: Path) -> None:
    (tmp_path / "strategies").mkdir()
    (tmp_path / "strategies" / "first.py").write_text(MINE)
    (tmp_path / "other.py").write_text(MINE.replace("by luck", "blindly"))
    specs = ["noisy(mine, eps=0.1)", f"{tmp_path}/other.py:mine", "greedy"]
    luggage = pack(specs, tmp_path)
    assert list(luggage) == ["mine", f"{tmp_path}/other.py:mine"]
    names = unpack(luggage, tmp_path / "there")
    assert unpack(luggage, tmp_path / "there") == names
    assert rename(specs[0], names) == f"noisy({names['mine']}, eps=0.1)"
    assert rename("greedy", names) == "greedy"
    assert len({Path(name.partition(":")[0]).parent for name in names.values()}) == 2
