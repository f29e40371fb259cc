"""What a run must survive: strategies that misbehave, kills, disks that are full, files that are damaged.

Clusters are killed in test_cluster, object stores in test_object_store. Failures that users of such tools have met, and
where each kind is tested:

==  =============================================================  ===================================================
 1  a seed that means nothing once there are two workers            test_runner: ..._one_worker_and_with_two;
                                                                    test_cluster: test_number_and_kind_of_workers_...
 2  -j1 meaning all cores; an import changing the start method      test_one_worker_is_one; test_import_leaves_...
 3  state of a strategy leaking from match to match                 test_a_strategy_that_keeps_state_...;
                                                                    test_arena: test_own_memory_starts_empty_...
 4  memory growing with the number of games                         test_memory_does_not_grow_...
 5  one deal seed for every game of a tournament                    test_every_deal_is_another_one_and_common_to_all
 6  results that depend on the hash seed                            test_results_do_not_depend_on_the_hash_seed
 7  rules reverting to defaults (worker, resume, seeded)            test_rules_hold_on_every_path
 8  an illegal move upsetting the next game's turn order            test_only_guilty_games_fail;
                                                                    test_arena: test_a_failing_player_costs_...
 9  a crash or an illegal move ending or hanging the run            test_only_guilty_games_fail
10  counters restarting, half pairs kept, log against statistics    test_killed_runs_...; test_counts_are_those_...
11  the same name for two players; progress flooding a log file     test_the_same_strategy_twice_...;
                                                                    test_runner: test_plain_lines_are_few_...
12  a compile cache shared, unwritable or damaged                   test_compiling: test_a_kept_cache_..., _a_cache_...
==  =============================================================  ===================================================
"""

from __future__ import annotations

import json
import os
import random
import re
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from playing import make_block

import azulsim
from azulsim import arena, cli, log, runner
from azulsim.errors import InputError, RunError
from azulsim.experiment import Experiment, read_experiment
from azulsim.game import Game
from azulsim.registry import make_strategy
from azulsim.replay import replay_game, verify_run
from azulsim.report import build_report
from azulsim.schema import game_id
from azulsim.strategy import Strategy, strategy

SEED, GUILTY_DEAL, DEALS = 3, 4, 6

MISBEHAVING = '''"""Each plays the first move, but for the first move of one deal, if it has it."""
import ctypes, itertools, os, signal, sys
from azulsim.strategy import strategy


def is_guilty(view):
    return view.displays == GUILTY


@strategy
def fine(view, moves, rng):
    return 0


@strategy
def raises(view, moves, rng):
    return 1 // 0 if is_guilty(view) else 0


@strategy
def nonsense(view, moves, rng):
    return "the blue one" if is_guilty(view) else 0


@strategy
def illegal(view, moves, rng):
    return len(moves) if is_guilty(view) else 0


@strategy
def leaves(view, moves, rng):
    if is_guilty(view):
        sys.exit("enough")
    return 0


@strategy
def exits(view, moves, rng):
    if is_guilty(view):
        os._exit(0)
    return 0


@strategy
def crashes(view, moves, rng):
    if is_guilty(view):
        ctypes.string_at(0)
    return 0


@strategy
def signals(view, moves, rng):
    if is_guilty(view):
        os.kill(os.getpid(), 40)
    return 0


@strategy
def garbles(view, moves, rng):
    """Announces a long message where answers are sent, sends a part of it, and does nothing more."""
    if is_guilty(view):
        for name in os.listdir("/proc/self/fd"):
            if os.path.exists(f"/proc/self/fd/{name}") and os.readlink(f"/proc/self/fd/{name}").startswith("socket"):
                os.write(int(name), b"\\x00\\x10\\x00\\x00half")
        signal.pause()
    return 0


@strategy
def loops(view, moves, rng):
    while is_guilty(view):
        pass
    return 0


@strategy
def loops_in_c(view, moves, rng):
    if is_guilty(view):
        max(itertools.count())
    return 0


@strategy
def meddles(view, moves, rng):
    """Change whatever it is shown."""
    before = repr((view.displays, view.walls, view.scores, list(moves)))
    moves.gain[:] = 99
    view.scores.append(1000)
    view.displays.clear()
    view.bag.clear()
    list(moves).clear()
    try:
        view.rules.max_rounds = 1
    except Exception:
        pass
    view.players = 4
    view.seat = 7
    return 0
'''

ROAMS = '''"""Leaves the folder it was started in."""
import os
from azulsim.strategy import strategy


@strategy
def roams(view, moves, rng):
    os.chdir("/")
    return 0
'''

CALLS = '''"""Remembers how often it was asked, over all games."""
from azulsim.strategy import strategy

calls = 0


@strategy
def counts(view, moves, rng):
    global calls
    calls += 1
    return calls % len(moves)
'''

HANGS_COMPILED = '''"""Never comes back from compiled code, in games of one deal."""
from azulsim.strategy import strategy


@strategy
def stuck(move, position):
    n = 0.0
    while position.bag == BAG and n >= 0.0:
        n += 1.0
    return n
'''

PRINTS = '''"""Talks."""
import os
from azulsim.strategy import strategy

print("imported")


@strategy
def talks(view, moves, rng):
    print("thinking")
    os.write(1, b"thinking aloud\\n")
    return 0
'''

SLOW = '''"""Takes the first move, in its own time."""
import time
from azulsim.strategy import strategy


@strategy
def slow(view, moves, rng):
    time.sleep(0.0002)
    return 0
'''

HASHES = '''"""Plays by the hash of a text."""
from azulsim.strategy import strategy


@strategy
def hashes(view, moves, rng):
    return hash(str(view.displays)) % len(moves)
'''


def play(lineups: list[list[str]], out: Path, **options: Any) -> log.Run:
    values: dict[str, Any] = {"deals": DEALS, "log": "moves", "seed": SEED, "jobs": 1, "progress": False}
    values |= options
    keys = {key: values.pop(key) for key in list(values) if key in Experiment.model_fields}
    experiment = Experiment(name="survival", grid={"lineup": lineups}, **keys)
    return runner.run(experiment, out=out, **values)


# Strategies that misbehave

KINDS = {
    "raises": ("raised", "ZeroDivisionError: integer division or modulo by zero"),
    "nonsense": ("bad_answer", "the answer 'the blue one' is not an index into the moves"),
    "illegal": ("bad_answer", "is not an index into the"),
    "leaves": ("raised", "SystemExit: enough"),
    "exits": ("crashed", "the process ended with exit code 0"),
    "crashes": ("crashed", "the process was ended by signal 11 (SIGSEGV)"),
    "signals": ("crashed", "the process was ended by signal 40"),  # one of those that have no name
    "garbles": ("crashed", "what the process sent back is no answer"),
    "loops": ("timeout", "the game took more than 2 s"),
    "loops_in_c": ("timeout", "the game took more than 2 s"),
}
"""What each strategy must be found guilty of."""
LINEUP = [*KINDS, "meddles", "fine"]


@pytest.fixture(scope="module")
def misbehaved(tmp_path_factory: pytest.TempPathFactory) -> log.Run:
    """Return a run in which each of them meets greedy, cell by cell."""
    folder = tmp_path_factory.mktemp("misbehaved")
    displays = Game(2, seed=SEED, deal=GUILTY_DEAL).displays
    (folder / "bad.py").write_text(MISBEHAVING + f"\n\nGUILTY = {displays!r}\n")
    lineups = [[f"{folder}/bad.py:{name}", "greedy"] for name in LINEUP]
    return play(lineups, folder / "run", jobs=2, timeout=2.0)


together = pytest.mark.xdist_group("misbehaved")


@together
@pytest.mark.parametrize("name", KINDS)
def test_only_guilty_games_fail(misbehaved: log.Run, name: str) -> None:
    """The strategy is guilty when it has the first move of one deal: its other games are played, deal by deal."""
    cell = LINEUP.index(name)
    kind, message = KINDS[name]
    (failure,) = misbehaved.failures(filters={"cell": cell}).to_dict("records")
    assert failure["game"] == game_id(cell, GUILTY_DEAL, 0)
    assert failure["spec"].endswith(f"bad.py:{name}")
    assert (failure["deal"], failure["seating"], failure["seat"], failure["ply"]) == (GUILTY_DEAL, 0, 0, 0)
    assert failure["kind"] == kind
    assert message in failure["message"]
    sound = rows_of(misbehaved, LINEUP.index("fine"))
    assert rows_of(misbehaved, cell) == [row for row in sound if row["deal"] != GUILTY_DEAL]


def test_a_strategy_that_changes_the_folder_hides_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("roams.py").write_text(ROAMS)
    Path("slow.py").write_text(SLOW)
    run = play([["./roams.py:roams", "greedy"], ["./slow.py:slow", "greedy"]], tmp_path / "run", deals=2)
    assert (run.n_failures, run.n_games) == (0, 8)


@together
def test_what_a_strategy_does_to_what_it_is_shown_changes_nothing(misbehaved: log.Run) -> None:
    assert rows_of(misbehaved, LINEUP.index("meddles")) == rows_of(misbehaved, LINEUP.index("fine"))


def rows_of(run: log.Run, cell: int) -> list[dict[str, Any]]:
    """Return the moves of a cell, without what names cell and strategy."""
    frame = run.moves(columns=["deal", "seating", "ply", "source", "color", "line", "gain"], filters={"cell": cell})
    return frame.to_dict("records")


@together
def test_failed_run_can_be_read_checked_and_replayed(misbehaved: log.Run) -> None:
    assert verify_run(misbehaved.path).is_good
    assert misbehaved.is_complete
    assert misbehaved.n_deals_left_out == len(KINDS)
    assert misbehaved.describe_failures().startswith(f"{len(KINDS)} games failed, so that {len(KINDS)} of ")
    guilty = game_id(LINEUP.index("crashes"), GUILTY_DEAL, 0)
    with pytest.raises(InputError, match=r"bad\.py:crashes \(seat 0\) failed at ply 0: crashed: .*SIGSEGV"):
        replay_game(misbehaved.path, guilty)
    with pytest.raises(InputError, match=rf"is left out with its deal, since in game {guilty} .*SIGSEGV"):
        replay_game(misbehaved.path, guilty + 1)


@together
def test_a_timeout_marks_the_run_as_not_reproducible(misbehaved: log.Run) -> None:
    assert misbehaved.doubts == misbehaved.manifest.doubts == ("games were stopped that took more than 2 s",)
    assert "not reproducible: games were stopped" in build_report(misbehaved, "ranking").page.read_text("utf-8")


@together
def test_status_tells_of_failures_and_doubts(misbehaved: log.Run) -> None:
    status = log.read_status(misbehaved.path)
    assert {entry["spec"].rpartition(":")[2]: entry["kind"] for entry in status.to_dict()["failures"]} == {
        name: kind for name, (kind, _) in KINDS.items()
    }
    assert "not reproducible: games were stopped" in str(status)
    assert json.loads(json.dumps(status.to_dict()))["complete"]


def test_compiled_code_that_never_comes_back_costs_its_game(tmp_path: Path) -> None:
    """The first position after the deal is known by its bag; only seat 0 of that deal is asked about it at ply 0."""
    game = Game(2, seed=SEED, deal=GUILTY_DEAL)
    (tmp_path / "bad.py").write_text(HANGS_COMPILED + f"\n\nBAG = {bag_of(game)}\n")
    run = play([[f"{tmp_path}/bad.py:stuck", "uniform"]], tmp_path / "run", timeout=1.0)
    failures = run.failures()
    assert set(failures["kind"]) == {"timeout"}
    assert set(failures["deal"]) == {GUILTY_DEAL}
    assert failures[["seating", "seat", "ply"]].to_numpy().tolist() == [[0, 0, 0], [1, 1, 1]]
    assert run.games()["deal"].nunique() == DEALS - 1


def bag_of(game: Game) -> int:
    return sum(count << 8 * i for i, count in enumerate(game.bag.values()))


@pytest.mark.long
def test_a_strategy_that_raises_an_interrupt_costs_its_games(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(HASHES.replace("return hash", "raise KeyboardInterrupt\n    return hash"))
    run = play([["uniform"], [f"{tmp_path}/bad.py:hashes", "uniform"]], tmp_path / "run", deals=1)
    assert run.failures()["message"].unique().tolist() == ["the process ended with exit code 130"]
    assert run.n_games == 1


def test_pulse_shows_where_a_game_is_when_it_ends_for_good() -> None:
    """A game that is played alone stands in shared memory: what a crash leaves there is where a failure would be."""

    def make_late(end: BaseException) -> Strategy:
        @strategy
        def late(view: Any, moves: Any, rng: Any) -> int:
            if view.round == 3 and len(view.center) > 4:
                raise end
            return 0

        return Strategy(late)

    block = make_block(["late", "greedy"])
    greedy = make_strategy("greedy")
    for game in range(4):
        only = range(game, game + 1)
        failed = arena.play_block(block, strategies=[make_late(ValueError()), greedy], games=only)
        (failure,) = failed.failures
        pulse = arena.Pulse()
        with pytest.raises(KeyboardInterrupt):
            arena.play_block(block, strategies=[make_late(KeyboardInterrupt()), greedy], games=only, pulse=pulse)
        assert (pulse.lives["ply"][0], pulse.games["seat"][0]) == (failure["ply"], failure["seat"])
        assert failure["ply"] > 10


def test_a_strategy_that_keeps_state_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(CALLS)
    run = play([[f"{tmp_path}/mine.py:counts", "uniform"]], tmp_path / "run")
    (doubt,) = run.doubts
    assert "mine.py:counts" in doubt
    assert "a strategy keeps state or has luck of its own" in doubt
    assert not run.n_failures


def test_a_child_of_an_edited_azulsim_plays_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "talks.py").write_text(PRINTS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(runner.folder, "hash_package", lambda: "before the edit")
    experiment = Experiment(name="edited", lineup=("talks.py:talks", "uniform"), deals=2)
    with pytest.raises(RunError, match="the source of azulsim was edited while the run was being played"):
        runner.run(experiment, jobs=1, progress=False)
    assert not list(Path("runs/edited/commits").iterdir())


@pytest.mark.parametrize(
    ("kind", "suspects", "blamed"),
    [
        ("crashed", [1], 1),
        ("crashed", [0], 0),
        ("crashed", [0, 2], 2),
        ("crashed", [0, 1], 1),
        ("crashed", [], 2),
        ("timeout", [1], 2),
    ],
)
def test_a_crash_is_that_of_a_strategy_that_may_crash(kind: str, suspects: list[int], blamed: int) -> None:
    """Seat 0 is to move, where player 2 sits; player 1 moved before it, and player 0 before that."""
    (cell,) = Experiment(lineup=("greedy", "uniform", "tuned"), players=(3,), deals=1).plan().cells
    block = arena.Block(0, 3, cell.rules, cell.lineup, (0, 1, 2), ((2, 0, 1),), 1, 0, 1)
    pulse = arena.Pulse()
    game = pulse.games.copy()[0]
    game["mask"], game["players"] = 1, 3
    made = arena.make_failed(block, 0, game, pulse.lives.copy()[0], kind, "gone", suspects)
    assert made.failures[0]["spec"] == cell.lineup[blamed]


def test_what_strategies_print_stays_out_of_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "talks.py").write_text(PRINTS)
    (tmp_path / "talk.toml").write_text('lineup = ["talks.py:talks", "uniform"]\ndeals = 2\n')
    monkeypatch.chdir(tmp_path)
    code = command(monkeypatch, "run", "talk.toml", "--json", "-j1")
    out, err = capfd.readouterr()
    assert code == 0
    assert json.loads(out)["games"] == 4
    lines = err.splitlines()
    assert "imported" in lines
    (told,) = [line for line in lines if "talks.py:talks wrote" in line]
    assert re.fullmatch(r"azulsim: .*talks wrote output .*, [\d,]+ bytes, which was dropped; it begins: imported", told)
    assert not {"thinking", "thinking aloud"} & set(lines)


FLOODS = '''"""Writes without end, and what no terminal should get."""
import os
from azulsim.strategy import strategy


@strategy
def floods(view, moves, rng):
    os.write(1, b"\\x1b[2J" + b"spam" * 25_000)
    return 0


@strategy
def shuts(view, moves, rng):
    """Leaves nothing to write to."""
    os.closerange(1, 3)
    return 0
'''


def test_what_a_strategy_floods_is_one_line_that_names_it(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.py").write_text(FLOODS)
    lineups = [[f"{tmp_path}/mine.py:{name}", "uniform"] for name in ("floods", "shuts")]
    run = play(lineups, tmp_path / "run", deals=3, jobs=2)
    assert (run.n_games, run.n_failures) == (12, 0)
    (line,) = capfd.readouterr().err.splitlines()
    found = re.fullmatch(r"azulsim: \S*:floods wrote output .*, ([\d,]+) bytes, .* begins: \?\[2J(spam)+\.\.\.", line)
    assert found
    assert int(found[1].replace(",", "")) % 100_004 == 0


def command(monkeypatch: pytest.MonkeyPatch, *words: object) -> int:
    monkeypatch.setattr(sys, "argv", ["azulsim", *map(str, words)])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    return int(stop.value.code or 0)


def test_first_failure_stops_the_run_if_that_is_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    displays = Game(2, seed=SEED, deal=GUILTY_DEAL).displays
    (tmp_path / "bad.py").write_text(MISBEHAVING + f"\n\nGUILTY = {displays!r}\n")
    (tmp_path / "bad.toml").write_text(f'seed = {SEED}\ngrid.lineup = [["bad.py:raises", "uniform"], ["greedy"]]\n')
    monkeypatch.chdir(tmp_path)
    words = ("run", "bad.toml", "--deals", DEALS, "-j1", "--on-failure", "abort")
    for _ in range(2):  # again: the failure is still there
        assert command(monkeypatch, *words) == 1
        err = capfd.readouterr().err
        assert "1 game failed" in err
        assert err.splitlines()[-1].endswith("go on without these deals with: azulsim resume runs/bad")
    assert command(monkeypatch, "resume", "runs/bad", "-j1") == 1
    assert azulsim.read_run("runs/bad").is_complete


@pytest.mark.parametrize("changes", [{"timeout": 0}, {"timeout": float("nan")}, {"on_failure": "ignore"}])
def test_bad_options_are_refused(tmp_path: Path, changes: Any) -> None:
    with pytest.raises(InputError, match=next(iter(changes))):
        play([["uniform"]], tmp_path / "run", **changes)
    assert not (tmp_path / "run").exists()


# Kills


KILLED = {
    "own": 'deals = 500\ngrid.lineup = [["FOLDER/slow.py:slow", "greedy"], ["greedy"]]\n',
    "bundled": 'deals = 3000\ngrid.lineup = [["uniform", "greedy"], ["greedy"]]\n',
}
"""Experiments that are killed: one with somebody's own strategy, which plays in children, one without."""


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, log.Run]:
    """Return a run of each of them, with its experiment beside it."""
    folder = tmp_path_factory.mktemp("undisturbed")
    (folder / "slow.py").write_text(SLOW)
    runs = {}
    for name, text in KILLED.items():
        (folder / f"{name}.toml").write_text('seed = 5\nlog = "moves"\n' + text.replace("FOLDER", str(folder)))
        experiment = read_experiment(folder / f"{name}.toml")
        runs[name] = runner.run(experiment, out=folder / name, jobs=1, progress=False)
    return runs


def kill_and_resume(whole: log.Run, folder: Path, luck: random.Random) -> str:
    """Start the command, kill it or one of its workers at a random moment, go on, and compare; say what was hit."""
    experiment = whole.path.with_suffix(".toml")
    words = [sys.executable, "-c", "from azulsim.cli import main; main()"]
    words += ["run", str(experiment), "--out", str(folder), "--jobs", "2"]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True) as run:
        victim = luck.choice(["before it plays", "all", "all", "all", "a worker"])
        n_wanted = luck.randrange(len(whole.commits)) if victim != "before it plays" else -1
        wait_for(lambda: count_markers(folder) >= n_wanted or run.poll() is not None)
        time.sleep(luck.uniform(0, 0.7) if n_wanted >= 0 else luck.uniform(0, 3))
        children = psutil.Process(run.pid).children() if run.poll() is None else []
        if victim == "a worker" and children:
            luck.choice(children).kill()
            assert run.wait() == 0, "a worker that is killed once costs nothing"
        elif run.poll() is None:
            os.killpg(run.pid, signal.SIGKILL)
    n_there = max(0, count_markers(folder))
    done = runner.run(read_experiment(experiment), out=folder, jobs=1, progress=False)
    assert done.hashes == whole.hashes, (victim, n_there)
    assert done.games().equals(whole.games())
    assert (done.n_failures, done.doubts) == (0, ())
    return f"{victim}: {n_there} shards"


def count_markers(folder: Path) -> int:
    """Return the number of commit markers, half-written ones included; -1 if there is no folder for them."""
    return len(list((folder / "commits").iterdir())) if (folder / "commits").exists() else -1


def wait_for(condition: Callable[[], bool], seconds: float = 120.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.xdist_group("kills")
@pytest.mark.parametrize(("name", "number"), [("own", 0), ("own", 1), ("bundled", 2), ("bundled", 3), ("bundled", 4)])
def test_killed_runs_end_as_if_nothing_had_been(
    undisturbed: dict[str, log.Run], tmp_path: Path, name: str, number: int
) -> None:
    kill_and_resume(undisturbed[name], tmp_path / "run", random.Random(number))


@pytest.mark.long
@pytest.mark.xdist_group("kills")
def test_fifty_killed_runs_end_as_if_nothing_had_been(undisturbed: dict[str, log.Run], tmp_path: Path) -> None:
    luck = random.Random()
    for number in range(50):
        name = luck.choice(list(KILLED))
        print(name, kill_and_resume(undisturbed[name], tmp_path / str(number), luck))
        shutil.rmtree(tmp_path / str(number))


@pytest.mark.xdist_group("kills")
def test_children_end_with_their_parent(undisturbed: dict[str, log.Run], tmp_path: Path) -> None:
    experiment = undisturbed["own"].path.with_suffix(".toml")
    words = [sys.executable, "-c", "from azulsim.cli import main; main()", "run", str(experiment), "--jobs", "1"]
    with subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.DEVNULL) as run:
        wait_for(lambda: bool(psutil.Process(run.pid).children()))
        children = psutil.Process(run.pid).children()
        run.kill()
    _, alive = psutil.wait_procs(children, timeout=20)
    assert not alive


# Disks and files


def make_small(out: Path, **options: Any) -> log.Run:
    return play([["greedy"], ["uniform"]], out, deals=200, **options)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> log.Run:
    return make_small(tmp_path_factory.mktemp("small") / "run")


@pytest.mark.parametrize(("file", "n_kept"), [("moves/c00001-d0000000000.parquet", 1), ("manifest.json.part", 2)])
def test_full_disk_is_one_sentence_and_costs_one_shard(small: log.Run, tmp_path: Path, file: str, n_kept: int) -> None:
    """A file that is a link to /dev/full takes no byte, as on a full disk."""
    whole = tmp_path / "whole"
    shutil.copytree(small.path, whole)
    (whole / "commits/c00001-d0000000000.json").unlink()
    (whole / file).unlink(missing_ok=True)
    (whole / file).symlink_to("/dev/full")
    with pytest.raises(RunError, match=rf"{file}: the disk is full; make room and go on with the same command"):
        make_small(whole)
    (whole / file).unlink()
    assert len(azulsim.read_run(whole).commits) == n_kept
    assert make_small(whole).hashes == small.hashes


FULL = """
import sys
from pathlib import Path
from azulsim.errors import RunError
from azulsim.log import write
from test_survival import make_small

disk, filler = Path(sys.argv[1]), Path(sys.argv[1], "filler")
put_file = write.put_file


def put(path, data):
    if path.parent.name == "commits" and "c00001" in path.name:
        with filler.open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4096))
            except OSError:
                pass
    put_file(path, data)


write.put_file = put
try:
    make_small(disk / "run")
except RunError as error:
    print(error)
write.put_file = put_file
filler.unlink()
print(make_small(disk / "run").hashes)
"""


def test_disk_that_is_full_when_the_marker_is_written(small: log.Run, tmp_path: Path) -> None:
    """A small disk of its own takes the tables of a shard, and not its marker."""
    alone = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
    mount = f"mount -t tmpfs -o size=1m none {tmp_path}"
    if shutil.which("unshare") is None or subprocess.run([*alone, mount], capture_output=True).returncode:
        pytest.skip("this system lets nobody mount a small disk")
    play = shlex.join([sys.executable, "-c", FULL, str(tmp_path)])
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    done = subprocess.run([*alone, f"{mount} && {play}"], capture_output=True, text=True, env=environment, check=True)
    complaint, hashes = done.stdout.splitlines()
    marker = tmp_path / "run" / "commits" / "c00001-d0000000000.json"
    assert complaint.startswith(f"{marker}: the disk is full; make room and go on with the same command")
    assert hashes == str(small.hashes)


def test_tables_are_on_the_disk_before_their_marker_is_there(
    small: log.Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine that loses its power may lose the last shards, but never keeps a marker without its tables."""
    whole = tmp_path / "whole"
    synced: list[str] = []
    fsync = os.fsync

    def note(handle: int) -> None:
        synced.append(str(Path(f"/proc/self/fd/{handle}").readlink().relative_to(whole)))
        markers = [path.stem for path in (whole / "commits").iterdir()]
        assert not any(shard in synced[-1] for shard in markers)
        fsync(handle)

    monkeypatch.setattr(os, "fsync", note)
    run = make_small(whole)
    assert run.hashes == small.hashes
    for commit in run.commits:
        assert {f"{table}/{commit.shard}.parquet" for table in commit.tables} <= set(synced)
    assert {"experiment.toml", "manifest.json.part"} <= set(synced)


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Make a folder that nobody, and so this process, can write."""
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    user = os.geteuid()
    try:
        if user == 0:
            os.seteuid(65534)
        yield
    finally:
        if user == 0:
            os.seteuid(0)
        for path in (folder, *folder.rglob("*")):
            path.chmod(path.stat().st_mode | stat.S_IWUSR)


def test_folder_that_cannot_be_written_is_one_sentence(small: log.Run) -> None:
    with tempfile.TemporaryDirectory() as name:
        whole = Path(name) / "whole"
        shutil.copytree(small.path, whole)
        (whole / "commits" / f"{small.commits[0].shard}.json").unlink()
        Path(name).chmod(0o755)
        with read_only(whole), pytest.raises(RunError, match=r"whole/.*: cannot be written: Permission denied"):
            make_small(whole)
        assert make_small(whole).hashes == small.hashes
        with read_only(Path(name)), pytest.raises(InputError, match="new: cannot be written: Permission denied"):
            make_small(Path(name) / "new")


def cut(path: Path, length: int) -> None:
    path.write_bytes(path.read_bytes()[:length])


@pytest.mark.parametrize("length", [0, 40], ids=["empty", "half"])
@pytest.mark.parametrize("folder", ["games", "rounds", "moves", "commits"])
def test_what_is_only_half_there_is_played_again(small: log.Run, tmp_path: Path, folder: str, length: int) -> None:
    whole = tmp_path / "whole"
    shutil.copytree(small.path, whole)
    cut(sorted((whole / folder).iterdir())[0], length)
    status = log.read_status(whole)
    assert not status.is_complete
    assert len(status.damaged) == (folder != "commits")
    assert "go on with: azulsim resume" in str(status)
    assert "was finished, and has lost shards since" in str(status)
    assert make_small(whole).hashes == small.hashes


def test_a_damaged_manifest_is_one_sentence(small: log.Run, tmp_path: Path) -> None:
    shutil.copytree(small.path, tmp_path / "whole")
    cut(tmp_path / "whole" / "manifest.json", 100)
    with pytest.raises(InputError, match=r"manifest\.json: not valid JSON"):
        make_small(tmp_path / "whole")


# Shares


@pytest.fixture(scope="module")
def shares(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return the folders of four shares of one run, and as the fifth that of the whole run."""
    folder = tmp_path_factory.mktemp("shares")
    parts = [folder / f"part-{number}" for number in range(1, 5)]
    for number, part in enumerate(parts, 1):
        make_shared(part, share=f"{number}/4")
    return [*parts, make_shared(folder / "whole").path]


def make_shared(out: Path, **options: Any) -> log.Run:
    lineups = [["greedy", "uniform"], ["connector", "uniform"], ["greedy", "connector"]]
    return play(lineups, out, deals=700, log="rounds", **options)


def test_four_shares_make_the_whole_run(shares: list[Path], tmp_path: Path) -> None:
    *parts, whole = shares
    commits = [len(azulsim.read_run(part).commits) for part in parts]
    assert min(commits) >= 1
    joined = log.merge_runs(parts, tmp_path / "joined")
    undivided = azulsim.read_run(whole)
    assert sum(commits) == len(undivided.commits) == len(joined.commits)
    assert joined.hashes == undivided.hashes
    assert joined.is_complete
    assert joined.manifest.finished
    pages = [build_report(run, "ranking", folder=tmp_path / name) for run, name in ((joined, "a"), (undivided, "b"))]
    assert pages[0].json.read_bytes() == pages[1].json.read_bytes()
    assert verify_run(joined.path).is_good
    again = make_shared(joined.path)
    assert again.manifest == joined.manifest, "a run that is complete is left alone"


def test_a_share_says_what_it_is(shares: list[Path]) -> None:
    status = log.read_status(shares[1])
    assert status.is_complete
    assert "share 2/4 of the run; join it to the others with: azulsim merge" in status.next_step
    assert not status.to_dict()["complete"]


def test_shares_may_overlap_if_they_agree(shares: list[Path], tmp_path: Path) -> None:
    joined = log.merge_runs([shares[0], shares[4], shares[1]], tmp_path / "joined")
    assert joined.hashes == azulsim.read_run(shares[4]).hashes


def test_the_same_folder_twice_is_refused(shares: list[Path], tmp_path: Path) -> None:
    again = shares[1] / ".." / shares[0].name
    with pytest.raises(InputError, match="part-1: named twice; name each share of the run once"):
        log.merge_runs([shares[0], shares[1], again], tmp_path / "joined")
    assert not (tmp_path / "joined").exists()


def test_shares_that_are_missing_are_played_in_the_joined_run(shares: list[Path], tmp_path: Path) -> None:
    joined = log.merge_runs([shares[0], shares[2]], tmp_path / "joined")
    assert not joined.is_complete
    assert "azulsim resume" in joined.describe_gap()
    assert make_shared(tmp_path / "joined").hashes == azulsim.read_run(shares[4]).hashes


def test_shares_of_different_contents_are_refused(shares: list[Path], tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(shares[0], other)
    marker = sorted((other / "commits").iterdir())[0]
    text = json.loads(marker.read_text())
    text["tables"]["games"]["content"] = "0" * 32
    marker.write_text(json.dumps(text))
    with pytest.raises(InputError, match=rf"shard {marker.stem} has one content in .*part-1 and another in .*other"):
        log.merge_runs([shares[0], other], tmp_path / "joined")
    assert not (tmp_path / "joined").exists()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seed": SEED + 1}, r"seed: 3 in .*part-1, 4 in .*other"),
        ({"rules": {"bonus": {"column": 5}}}, r"rules\.bonus\.column: 7 in .*part-1, 5 in .*other"),
    ],
)
def test_runs_that_differ_are_not_joined(shares: list[Path], tmp_path: Path, changes: Any, message: str) -> None:
    lineups = [["greedy", "uniform"], ["connector", "uniform"], ["greedy", "connector"]]
    play(lineups, tmp_path / "other", **{"deals": 700, "log": "rounds", "share": "1/12", **changes})
    with pytest.raises(InputError, match=message):
        log.merge_runs([shares[0], tmp_path / "other"], tmp_path / "joined")
    assert not (tmp_path / "joined").exists()


def test_strategy_files_that_differ_are_not_joined(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(HASHES)
    for number in (1, 2):
        play([["greedy"], [f"{tmp_path}/mine.py:hashes"]], tmp_path / str(number), deals=1, share=f"{number}/2")
    manifest = json.loads((tmp_path / "2/manifest.json").read_text())
    manifest["sources"][f"{tmp_path}/mine.py:hashes"] = "0" * 64
    (tmp_path / "2/manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(InputError, match=r"the file of .*mine\.py:hashes is another one"):
        log.merge_runs([tmp_path / "1", tmp_path / "2"], tmp_path / "joined")


def test_share_of_a_folder_is_kept(shares: list[Path], tmp_path: Path) -> None:
    shutil.copytree(shares[1], tmp_path / "part")
    lost = sorted((tmp_path / "part" / "commits").iterdir())[0]
    lost.unlink()
    assert make_shared(tmp_path / "part").hashes == azulsim.read_run(shares[1]).hashes
    with pytest.raises(InputError, match="shard: 2/4 there, 1/4 now"):
        make_shared(tmp_path / "part", share="1/4")


@pytest.mark.parametrize("share", ["0/4", "5/4", "a", "1/", "1/-2", "90/90"])
def test_a_share_that_is_none_is_refused(tmp_path: Path, share: str) -> None:
    with pytest.raises(InputError, match=f"shard '{share}'"):
        make_shared(tmp_path / "run", share=share)
    assert not (tmp_path / "run").exists()


def test_commands_of_a_run_folder(
    shares: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(monkeypatch, "merge", *shares[:2], "--out", tmp_path / "joined") == 0
    out, err = capsys.readouterr()
    assert "games" in out
    assert "azulsim resume" in err
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "joined").rglob("*")}
    assert command(monkeypatch, "status", tmp_path / "joined", "--json") == 0
    assert json.loads(capsys.readouterr().out)["complete"] is False
    assert command(monkeypatch, "status", tmp_path / "joined") == 0
    out = capsys.readouterr().out
    assert out.isascii()
    assert f"go on with: azulsim resume {tmp_path / 'joined'}" in out
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "joined").rglob("*")} == before


# Failures that users of such tools have met


def test_one_worker_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.py").write_text(
        SLOW.replace("time.sleep(0.0002)", "import os, pathlib\n    pathlib.Path(f'{__file__}-{os.getpid()}').touch()")
    )
    threads = set()
    play_here = runner.workers.play_here

    def note(task: Any) -> Any:
        threads.add(threading.get_ident())
        return play_here(task)

    monkeypatch.setattr(runner.workers, "play_here", note)
    play([[f"{tmp_path}/mine.py:slow", "uniform"], ["uniform"], ["greedy"]], tmp_path / "run", deals=3)
    assert threads == {threading.get_ident()}
    assert len(list(tmp_path.glob("mine.py-*"))) == 1


def test_import_leaves_the_start_method_of_processes_alone() -> None:
    code = "import azulsim.runner, azulsim.runner.child, multiprocessing as m; print(m.get_start_method(True))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "None\n"


@pytest.mark.long
def test_memory_does_not_grow_with_the_number_of_games(tmp_path: Path) -> None:
    play([["uniform"]], tmp_path / "few", deals=100_000, log="games")
    before = psutil.Process().memory_info().rss
    play([["uniform"]], tmp_path / "many", deals=2_000_000, log="games")
    assert psutil.Process().memory_info().rss - before < 50e6


def test_every_deal_is_another_one_and_common_to_all(shares: list[Path]) -> None:
    run = azulsim.read_run(shares[4])
    dealt = run.rounds(columns=["deal", "displays"], filters={"round": 1, "seat": 0})
    assert dealt["displays"].nunique() > 0.99 * 700
    assert dealt.groupby("deal")["displays"].nunique().eq(1).all()
    assert dealt.groupby("deal").size().eq(3 * 2).all()


def test_results_do_not_depend_on_the_hash_seed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.py").write_text(HASHES)
    hashes = []
    for seed in ("1", "2"):
        monkeypatch.setenv("PYTHONHASHSEED", seed)
        hashes.append(play([[f"{tmp_path}/mine.py:hashes", "uniform"]], tmp_path / seed).hashes)
    assert hashes[0] == hashes[1]


def test_rules_hold_on_every_path(tmp_path: Path) -> None:
    """In a child, in a thread, with another seed, and after a resumption."""
    (tmp_path / "mine.py").write_text(HASHES)
    lineups = [[f"{tmp_path}/mine.py:hashes", "uniform"], ["uniform"]]
    rules = {"max_rounds": 2, "tiles_per_color": 15}
    run = play(lineups, tmp_path / "run", rules=rules)
    (run.path / "commits" / f"{run.commits[0].shard}.json").unlink()
    again = runner.run(read_experiment(run.path / "experiment.toml"), out=run.path, jobs=1, progress=False)
    assert again.hashes == run.hashes
    seeded = play(lineups, tmp_path / "seeded", rules=rules, seed=99)
    for games in (again.games(), seeded.games()):
        assert set(games["rounds"]) == {2}
    for rounds in (again.rounds(), seeded.rounds()):
        first = rounds[(rounds["round"] == 1) & (rounds["seat"] == 0)]
        assert (first["bag"] == 5 * 15 - 20).all()


def test_counts_are_those_of_the_tables(misbehaved: log.Run) -> None:
    games = misbehaved.games()
    assert misbehaved.n_games == games["game"].nunique()
    assert misbehaved.n_moves == len(misbehaved.moves())
    assert misbehaved.n_failures == len(misbehaved.failures())
    whole = games.groupby(["cell", "deal"])["seating"].nunique()
    assert (whole == 2).all(), "no half of a pair of games is kept"


test_counts_are_those_of_the_tables = together(test_counts_are_those_of_the_tables)


def test_the_same_strategy_twice_is_two_players(tmp_path: Path) -> None:
    run = play([["greedy", "greedy", "uniform"]], tmp_path / "run", players=[3], deals=4)
    games = run.games()
    assert len(games) == run.n_games * 3
    assert np.isclose(games.groupby("game")["win_share"].sum(), 1).all()
    assert (games.groupby("game")["spec"].apply(lambda specs: (specs == "greedy").sum()) == 2).all()
    with pytest.raises(InputError, match="'greedy' twice"):
        runner.run(Experiment(name="x", strategies=["greedy", "greedy"]), out=tmp_path / "twice", progress=False)
