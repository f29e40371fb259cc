"""The runner: what it plays does not depend on how, and what is finished is never played or overwritten again."""

from __future__ import annotations

import re
import shutil
import threading
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from fake_tables import PLIES, fake_failure, fake_tables

from azulsim import arena, log, runner
from azulsim.errors import InputError, RunError
from azulsim.experiment import Experiment, read_experiment
from azulsim.experiment.stopping import Stop
from azulsim.rules import Termination
from azulsim.runner import folder, progress, tasks, workers
from azulsim.runner.evidence import Tally
from azulsim.schema import GAMES
from azulsim.stats import estimate_mean

MINE = '''"""Strategies of a project."""

from azulsim.strategy import strategy


@strategy
def first_move(view, moves, rng):
    """Take the first move."""
    return 0
'''

CANNOT_PLACE = '''from azulsim.strategy import strategy


def place(spot):
    return no_such_function(spot)


@strategy(place=place)
def placer(move):
    """Play anything, place nothing."""
    return 1.0
'''


@dataclass
class FakeArena:
    """Plays by random numbers, and remembers what it was asked for."""

    blocks: list[arena.Block] = field(default_factory=list)
    fail_at: int = -1
    """Number of the block at which `error` is raised."""
    error: BaseException = field(default_factory=KeyboardInterrupt)

    def play_block(self, block: arena.Block, *, strategies: Any) -> Any:
        if len(self.blocks) == self.fail_at:
            raise self.error
        assert [strategy.spec for strategy in strategies] == list(block.lineup)
        self.blocks.append(block)
        cell = log.Cell(
            index=block.cell,
            players=block.players,
            lineup=block.lineup,
            seatings=block.seatings,
            deals=block.n_deals,
            rules=block.rules,
        )
        specs = tuple(dict(sorted(zip(block.spec_codes, block.lineup, strict=True))).values())
        tables = fake_tables(cell, log.Shard(block.cell, block.first_deal, block.n_deals), specs, seed=block.seed)
        failures = [fake_failure(block.cell, 0, 0, "greedy")] if block.first_deal == 0 else []
        return SimpleNamespace(**tables, failures=failures)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeArena:
    fake = FakeArena()
    monkeypatch.setattr(arena, "play_block", fake.play_block)
    monkeypatch.chdir(tmp_path)
    return fake


def make_experiment(**changes: Any) -> Experiment:
    values: dict[str, Any] = {"name": "fake", "lineup": ["greedy", "uniform"], "deals": 800, "log": "moves", "seed": 3}
    return Experiment(**{**values, **changes})


def test_every_deal_is_played_once_and_written(fake: FakeArena, tmp_path: Path) -> None:
    run = runner.run(make_experiment(), jobs=1, progress=False)
    assert run.path == Path("runs/fake")
    assert [(block.first_deal, block.n_deals) for block in fake.blocks] == [
        (commit.first_deal, commit.n_deals) for commit in run.commits
    ]
    assert len(fake.blocks) > 3
    assert run.games()["deal"].nunique() == 800
    assert (run.n_games, run.n_moves, run.n_failures, run.is_complete) == (1600, 1600 * PLIES, 1, True)
    block = fake.blocks[1]
    assert (block.cell, block.players, block.seed, block.depth) == (0, 2, 3, "moves")
    assert (block.lineup, block.spec_codes, block.seatings) == (("greedy", "uniform"), (0, 1), ((0, 1), (1, 0)))
    manifest = run.manifest
    assert manifest.started <= manifest.finished
    assert manifest.experiment["deals"] == 800
    assert set(manifest.sources) == {"greedy", "uniform"}
    assert read_experiment(run.path / "experiment.toml") == make_experiment()


@pytest.mark.parametrize("jobs", [2, 3])
def test_result_does_not_depend_on_the_number_of_workers(fake: FakeArena, jobs: int) -> None:
    alone = runner.run(make_experiment(), jobs=1, progress=False, out="alone")
    together = runner.run(make_experiment(), jobs=jobs, progress=False, out="together")
    assert together.hashes == alone.hashes
    assert together.games().equals(alone.games())


def test_same_experiment_again_plays_nothing(fake: FakeArena, capsys: pytest.CaptureFixture[str]) -> None:
    before = runner.run(make_experiment(), jobs=1, progress=False)
    text = (before.path / "manifest.json").read_bytes()
    fake.blocks.clear()
    again = runner.run(make_experiment(question="Other words?", reports=["marker"]), jobs=1)
    assert fake.blocks == []
    assert again.hashes == before.hashes
    assert (before.path / "manifest.json").read_bytes() == text
    assert "is there and complete" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seed": 4}, r"holds another run \(seed: 3 there, 4 now\); undo that, or choose another folder with --out"),
        ({"rules": {"bonus": {"column": 5}}}, r"rules\.bonus\.column: 7 there, 5 now"),
        ({"deals": 5, "log": "games"}, r"deals: 800 there, 5 now; log: 'moves' there, 'games' now"),
        ({"lineup": ["greedy"]}, "lineup: "),
    ],
)
def test_another_experiment_is_refused_with_its_differences(fake: FakeArena, changes: Any, message: str) -> None:
    before = runner.run(make_experiment(), jobs=1, progress=False)
    with pytest.raises(InputError, match=message):
        runner.run(make_experiment(**changes), jobs=1, progress=False)
    assert log.read_run("runs/fake").hashes == before.hashes


def test_an_unfinished_run_is_not_gone_on_with_by_an_edited_azulsim(
    fake: FakeArena, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake.fail_at = 3
    with pytest.raises(KeyboardInterrupt):
        runner.run(make_experiment(), jobs=1, progress=False)
    fake.fail_at = -1

    def run_edited() -> log.Run:
        with monkeypatch.context() as patch:
            patch.setattr(runner.folder, "hash_package", lambda: "edited")
            return runner.run(make_experiment(), jobs=1, progress=False)

    with pytest.raises(InputError, match=r"holds another run \(the source of azulsim has changed\)"):
        run_edited()
    finished = runner.run(make_experiment(), jobs=1, progress=False)
    assert run_edited().hashes == finished.hashes  # nothing is left to be played


def test_shares_of_an_edited_azulsim_are_not_merged(fake: FakeArena, monkeypatch: pytest.MonkeyPatch) -> None:
    one = runner.run(make_experiment(), out="runs/one", share="1/2", jobs=1, progress=False)
    with monkeypatch.context() as patch:
        patch.setattr(runner.folder, "hash_package", lambda: "edited")
        two = runner.run(make_experiment(), out="runs/two", share="2/2", jobs=1, progress=False)
    with pytest.raises(InputError, match=r"another run than runs/one \(the source of azulsim is another one\)"):
        log.merge_runs([one.path, two.path], Path("runs/whole"))
    assert not Path("runs/whole").exists()


def test_changed_strategy_file_and_version_are_refused(
    fake: FakeArena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.py").write_text(MINE)
    experiment = make_experiment(lineup=["mine.py:first_move"], deals=2)
    runner.run(experiment, jobs=1, progress=False)
    (tmp_path / "mine.py").write_text(MINE + "\n# edited\n")
    with pytest.raises(InputError, match=r"the file of mine\.py:first_move has changed"):
        runner.run(experiment, jobs=1, progress=False)
    (tmp_path / "mine.py").write_text(MINE)
    monkeypatch.setattr(folder, "__version__", "99")
    with pytest.raises(InputError, match=r"azulsim: .* there, '99' now"):
        runner.run(experiment, jobs=1, progress=False)


def test_file_edited_while_a_run_is_played_is_noticed(fake: FakeArena, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MINE)
    plan = make_experiment(lineup=["mine.py:first_move"]).plan()
    manifest = folder.describe(plan, None)
    (task, *_) = tasks.list_tasks(plan, manifest, tmp_path / "run", set(), None, 60.0)
    (tmp_path / "mine.py").write_text(MINE + "# edited\n")
    tasks.make_player.cache_clear()
    with pytest.raises(RunError, match=r"mine\.py: was edited while the run was being played"):
        workers.play_shard(replace(task, is_watched=False))


def test_interrupted_run_goes_on_with_the_missing_shards(fake: FakeArena) -> None:
    whole = runner.run(make_experiment(), jobs=1, progress=False, out="whole")
    fake.blocks.clear()
    fake.fail_at = 2
    with pytest.raises(KeyboardInterrupt) as caught:
        runner.run(make_experiment(), jobs=1, progress=False)
    assert "azulsim resume runs/fake" in caught.value.__notes__[0]
    part = log.read_run("runs/fake")
    assert (len(part.commits), part.is_complete, part.manifest.finished) == (2, False, "")
    torn = Path("runs/fake/moves") / f"{part.commits[0].shard}.parquet"
    torn.write_bytes(torn.read_bytes()[:50])

    fake.blocks.clear()
    fake.fail_at = -1
    again = runner.run(read_experiment("runs/fake/experiment.toml"), jobs=1, progress=False)
    assert again.is_complete
    assert again.hashes == whole.hashes
    assert len(fake.blocks) == len(whole.commits) - 1, "the torn shard is played anew, the sound one is kept"


@pytest.mark.parametrize("lost", ["moves", "games", "commits"])
def test_deleted_folder_is_made_and_played_again(fake: FakeArena, lost: str) -> None:
    whole = runner.run(make_experiment(), jobs=1, progress=False)
    shutil.rmtree(whole.path / lost)
    again = runner.run(make_experiment(), jobs=1, progress=False)
    assert again.hashes == whole.hashes
    assert again.moves().equals(whole.moves())


def test_failed_run_keeps_what_is_finished(fake: FakeArena) -> None:
    fake.fail_at, fake.error = 1, RunError("no")
    with pytest.raises(RunError, match="no"):
        runner.run(make_experiment(), jobs=1, progress=False)
    assert len(log.read_run("runs/fake").commits) == 1


@pytest.mark.parametrize("jobs", [1, 2])
def test_nothing_is_begun_after_a_marker_that_cannot_be_written(
    fake: FakeArena, monkeypatch: pytest.MonkeyPatch, jobs: int
) -> None:
    def refuse(folder: Path, commit: log.Commit) -> None:
        raise RunError("the disk is full")

    monkeypatch.setattr(workers, "mark_shard", refuse)
    with pytest.raises(RunError, match="the disk is full") as caught:
        runner.run(make_experiment(deals=20_000), jobs=jobs, progress=False)
    begun = len(fake.blocks)
    time.sleep(0.3)
    assert len(fake.blocks) == begun < 6 * jobs, "nobody plays on behind an error that is still held"
    assert not list(Path("runs/fake/commits").iterdir())
    del caught
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("ThreadPoolExecutor")]


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_slow_disk_is_not_run_away_from(fake: FakeArena, monkeypatch: pytest.MonkeyPatch, jobs: int) -> None:
    """What was played and not marked is lost when the machine goes down."""
    marked: list[str] = []
    most = 0

    def mark(folder: Path, commit: log.Commit) -> None:
        nonlocal most
        time.sleep(0.05)
        most = max(most, len(fake.blocks) - len(marked))
        log.mark_shard(folder, commit)
        marked.append(commit.shard)

    monkeypatch.setattr(workers, "mark_shard", mark)
    run = runner.run(make_experiment(deals=4000), jobs=jobs, progress=False)
    assert [commit.shard for commit in run.commits] == sorted(marked)
    assert len(marked) > 5 * jobs
    assert most <= 3 * jobs, "a shard is being played, one waits, and one is being marked, for each worker"


@pytest.mark.parametrize("jobs", [0, -1, 1.5, "2", 1025])
def test_number_of_workers_is_checked(fake: FakeArena, jobs: Any) -> None:
    with pytest.raises(InputError, match=r"jobs = .*: must be a whole number from 1 to 1024"):
        runner.run(make_experiment(), jobs=jobs)


def test_what_cannot_be_played_or_reported_leaves_no_folder(fake: FakeArena, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="fake: reports: unknown report 'rnaking'; did you mean 'ranking'"):
        runner.run(make_experiment(reports=["rnaking"]), jobs=1, progress=False)
    (tmp_path / "mine.py").write_text(CANNOT_PLACE)
    with pytest.raises(RunError, match="place cannot be compiled"):
        runner.run(make_experiment(lineup=["mine.py:placer"], players=[2], rules={"wall": "gray"}), progress=False)
    assert fake.blocks == []
    assert not (tmp_path / "runs").exists()


def test_foreign_folder_is_left_alone(fake: FakeArena, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("precious")
    with pytest.raises(InputError, match=r"holds 'thesis\.txt' and no run; choose another folder with --out"):
        runner.run(make_experiment(), out="mine", jobs=1, progress=False)
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.txt"]
    with pytest.raises(InputError, match="is a file"):
        runner.run(make_experiment(), out="mine/thesis.txt", jobs=1, progress=False)


def test_seed_and_deals_replace_those_of_the_experiment(fake: FakeArena) -> None:
    run = runner.run(make_experiment(), jobs=1, seed=9, deals=7, progress=False)
    assert (run.manifest.seed, run.manifest.experiment["deals"], run.n_games) == (9, 7, 14)
    with pytest.raises(InputError, match="fake: deals = 0"):
        runner.run(make_experiment(), deals=0)


def test_all_but_bundled_compiled_strategies_are_watched(fake: FakeArena, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MINE)
    specs = ("greedy", "uniform", "noisy(greedy)", "mine.py:first_move", "noisy(mine.py:first_move)")
    watched = [spec for spec in specs if tasks.must_be_watched(spec, None)]
    assert watched == ["mine.py:first_move", "noisy(mine.py:first_move)"]


def test_progress_is_plain_lines_without_a_terminal(
    fake: FakeArena, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "SECONDS_TO_TRUST", 0)
    run = runner.run(make_experiment(), jobs=1)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.isascii()
    first, second, *lines, last = err.splitlines()
    assert first.startswith("fake: 1 cell x 800 deals = 1,600 games, log moves, seed 3, azulsim ")
    assert first.endswith(" -> runs/fake")
    assert second == f"{len(run.commits)} shards to play, 1 worker; the first of them will tell how long it takes"
    assert 1 <= len(lines) <= 12
    known = r"widest win_share \+/-0\.\d+"
    line = rf" *\d+%  [\d,]+ of 1,600 games  [\d,]+ games/s  \S+ \w+ left( or less, by \d shards?)?  {known}"
    assert all(re.fullmatch(line, text) for text in lines)
    assert re.fullmatch(rf"played 1,600 games in \d+ s, [\d,]+ games/s; {known}", last)


@pytest.mark.parametrize("outcome", ["win_share", "margin", "score"])
@pytest.mark.parametrize("lineup", [("greedy", "tuned"), ("uniform",) * 2, ("greedy", "noisy(greedy)", "uniform")])
def test_the_sums_in_commit_markers_are_those_of_the_outcome(
    outcome: log.OutcomeName, lineup: tuple[str, ...], tmp_path: Path
) -> None:
    stop = {"precision": {"outcome": outcome, "half_width": 1e-9}}
    experiment = make_experiment(lineup=lineup, players=(len(lineup),), stop=stop, log="games")
    run = runner.run(experiment, out=tmp_path / "run", jobs=1, progress=False)
    (values,) = log.read_outcome(run, outcome, deals=800).values()
    sums = np.sum([commit.outcome for commit in run.commits if commit.outcome], axis=0)
    assert len(run.commits) > 2
    assert sums == pytest.approx([800, values.sum(), (values**2).sum()])
    assert len(set(values)) > 1


def test_the_sums_of_an_outcome_leave_out_what_is_not_there() -> None:
    """Deals in which a strategy failed, and games that were forfeited, but for who won them."""
    (cell,) = make_experiment(deals=4).plan().cells
    games = np.zeros(12, GAMES.dtype())
    games["deal"] = [1, 1, 1, 1, 3, 3, 3, 3, 4, 4, 4, 4]
    games["seating"], games["seat"] = [0, 0, 1, 1] * 3, [0, 1, 0, 1] * 3
    games["score"] = [10, 4, 7, 7, 20, 30, 5, 6, 0, 0, 0, 0]
    games["win_share"] = [1, 0, 0.5, 0.5, 0, 1, 0, 1, 0, 1, 1, 0]
    games["termination"][8:] = Termination.FORFEIT
    assert log.sum_outcome({"games": games}, cell, "score") == (2, 8.5 + 13, 8.5**2 + 13**2)
    assert log.sum_outcome({"games": games}, cell, "margin") == (2, 3 - 4.5, 3**2 + 4.5**2)
    assert log.sum_outcome({"games": games}, cell, "win_share") == (3, 0.75 + 0.5 + 0, 0.75**2 + 0.5**2)
    assert log.sum_outcome({"games": games[8:]}, cell, "score") == (0, 0, 0)


def test_what_is_known_so_far_is_what_is_known_at_the_end(fake: FakeArena) -> None:
    """Shard by shard the same interval comes out as over all deals at once; where nothing varies, it is wider."""
    experiment = make_experiment(stop={"precision": {"outcome": "score", "half_width": 1e-9}})
    run = runner.run(experiment, jobs=1, progress=False)
    (values,) = log.read_outcome(run, "score", deals=800).values()
    tally = Tally(run.manifest, Stop(precision={"outcome": "score", "half_width": 0.5}))
    for commit in run.commits:
        tally.add([commit])
        (told,) = tally.describe()
    assert told == f"widest score +/-{estimate_mean(values).half_width:.2g} (0.5 wanted)"
    never = Tally(run.manifest.model_copy(update={"experiment": {}}), None)
    never._sums[0] += 100, 0, 0
    assert never.describe() == ["widest win_share +/-0.018"], "as much as 0 of 100 trials tell"


def test_progress_is_silent_on_request(fake: FakeArena, capsys: pytest.CaptureFixture[str]) -> None:
    runner.run(make_experiment(), jobs=1, progress=False)
    assert capsys.readouterr() == ("", "")


def test_plain_lines_are_few_and_none_is_late(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock.now)
    plan = make_experiment().plan()

    def follow(n: int, workers: int, seconds: float, first: float) -> list[str]:
        """Return the lines about so many of 10,000 shards of a game each; those that come first take longer."""
        shards = (log.Shard(0, deal, 1) for deal in range(10_000))
        pace = progress.Pace(plan, shards, [], workers)
        lines = progress._Lines(pace, SimpleNamespace(add=lambda commits: None, describe=list))  # type: ignore[arg-type]
        for number in range(n):
            clock.now += first if number < workers else seconds
            lines.add(SimpleNamespace(cell=0, n_deals=1))  # type: ignore[arg-type]
        return capsys.readouterr().err.splitlines()

    told = follow(10_000, workers=2, seconds=0.01, first=5.0)
    assert told[0] == "  1%  206 of 20,000 games  200 games/s  2 min left", "starting is left out"
    assert told[1].startswith(" 11%  2,208 of 20,000 games  200 games/s  89 s left")
    assert len(told) == 10, "110 s: one line every 10 %, and none for the end, which is summed up"
    told = follow(10, workers=2, seconds=0.01, first=20.0)
    assert told == ["  0%  4 of 20,000 games  0.1 games/s  55.5 h left or less, by 2 shards"], (
        "nothing else is known yet"
    )
    told = follow(100, workers=1, seconds=3.0, first=3.0)
    assert len(told) == 10, "300 s: one line every 30 s"
    assert told[-1].startswith("  1%  184 of 20,000 games  0.67 games/s  8.3 h left")


def test_time_that_a_pilot_took_is_not_taken_for_playing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock.now)
    plan = make_experiment().plan()

    def foresee() -> None:
        clock.now += 100.0

    with progress.watch_run(plan, folder.describe(plan, None), tmp_path, [], 1, foresee, True):
        clock.now += 3.0
    assert capsys.readouterr().err.splitlines()[-1] == "played 0 games in 3 s, 0 games/s"


def test_shards_that_take_long_are_told_of(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.05)
    plan = make_experiment().plan()
    pace = progress.Pace(plan, plan.shards(), [], 1)
    with progress._print_lines(pace, SimpleNamespace()):  # type: ignore[arg-type]
        time.sleep(0.3)
    assert capsys.readouterr().err.startswith("no shard is finished after ")
    with progress._print_lines(pace, SimpleNamespace()):  # type: ignore[arg-type]
        pass
    time.sleep(0.1)
    assert capsys.readouterr().err == ""


def test_bar_on_a_terminal(
    fake: FakeArena, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress.sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr(progress, "SECONDS_TO_TRUST", 0)
    runner.run(make_experiment(), jobs=1)
    assert "games/s" in capsys.readouterr().err
    assert threading.active_count() < 10


# With the real arena


def small(**changes: Any) -> Experiment:
    values: dict[str, Any] = {
        "name": "small",
        "strategies": ["greedy", "uniform"],
        "players": [2, 3],
        "deals": 500,
        "log": "moves",
        "seed": 11,
    }
    return Experiment(**{**values, **changes})


def test_real_games_are_the_same_with_one_worker_and_with_two(tmp_path: Path) -> None:
    alone = runner.run(small(), jobs=1, out=tmp_path / "one", progress=False)
    together = runner.run(small(), jobs=2, out=tmp_path / "two", progress=False)
    assert len(alone.commits) > 4
    assert together.hashes == alone.hashes
    other = runner.run(small(seed=12), jobs=2, out=tmp_path / "three", progress=False)
    assert other.hashes["games"] != alone.hashes["games"]


def test_real_tables_agree_with_each_other(tmp_path: Path) -> None:
    run = runner.run(small(deals=40), jobs=1, out=tmp_path / "run", progress=False)
    games, rounds, moves = run.games(), run.rounds(), run.moves()
    seats = run.seats.merge(games, on=["cell", "seating", "seat"], suffixes=("_cell", ""))
    assert (seats["spec_cell"].astype(str) == seats["spec"].astype(str)).all()
    assert len(seats) == len(games)
    plies = moves.groupby("game").size()
    assert plies.equals(games.groupby("game")["plies"].first().astype(plies.dtype))
    gains = run.placements().groupby(["game", "seat"])["points"].sum()
    walls = games.set_index(["game", "seat"])["wall_points"]
    assert gains.reindex(walls.index, fill_value=0).astype("int64").equals(walls.astype("int64"))
    assert (rounds.groupby("game")["round"].max() == games.groupby("game")["rounds"].first()).all()
    assert games.groupby("game")["win_share"].sum().round(9).eq(1).all()
    assert moves["denial"].isna().all()
    lengths = rounds["displays"].str.len()
    assert lengths[rounds["seat"] == 0].isin([20, 28]).all()
    assert (lengths[rounds["seat"] > 0] == 0).all()


def test_real_project_strategy_plays_in_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A strategy outside the package is found by worker processes, which do not stand in the project folder."""
    (tmp_path / "project" / "strategies").mkdir(parents=True)
    (tmp_path / "project" / "strategies" / "mine.py").write_text(MINE)
    experiment = small(strategies=["first_move", "uniform"], players=[2], deals=200)
    project = tmp_path / "project"
    alone = runner.run(experiment, jobs=1, out=tmp_path / "one", progress=False, project=project)
    together = runner.run(experiment, jobs=2, out=tmp_path / "two", progress=False, project=project)
    assert len(together.commits) > 1
    assert together.hashes == alone.hashes
