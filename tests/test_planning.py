"""Planning: a pilot of real games, what follows from it, and whether it comes true."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, get_args, get_type_hints

import numpy as np
import pytest
from typer.testing import CliRunner

from azulsim import log, planning, runner
from azulsim.cli import app
from azulsim.cli import plan as plan_command
from azulsim.errors import InputError, RunError
from azulsim.experiment import Experiment
from azulsim.planning import Forecast, forecast
from azulsim.runner import pilot
from azulsim.stats import estimate_mean, plan_clusters

SLOW = """from azulsim.strategy import strategy


@strategy
def first_move(view, moves, rng):
    return 0


@strategy
def raises(view, moves, rng):
    raise ValueError("no idea")
"""


def make(**changes: Any) -> Experiment:
    values: dict[str, Any] = {"name": "planned", "lineup": ["greedy", "connector"], "deals": 1000}
    return Experiment(**{**values, **changes})


@pytest.fixture(scope="module")
def found() -> Forecast:
    return forecast(make(), precision=0.012, jobs=2)


def test_what_is_planned_comes_true(found: Forecast, tmp_path: Path) -> None:
    [cell] = found.cells
    assert cell.mean.n_clusters == 200
    assert cell.deals is not None
    assert cell.deals.value == plan_clusters(sd=cell.sd.value, half_width=0.012)
    assert cell.deals.low < cell.deals.value < cell.deals.high
    assert found.wanted is not None
    deals = int(cell.deals.value)
    run = runner.run(make(deals=deals, seed=11), out=tmp_path / "run", jobs=1, progress=False)
    games = run.games()
    values = games[games["spec"] == "greedy"].groupby("deal")["win_share"].mean()
    assert cell.sd.low < values.std() < cell.sd.high
    assert estimate_mean(values).half_width == pytest.approx(0.012, rel=0.15)
    written = sum(part.bytes for commit in run.commits for part in commit.tables.values())
    assert (found.wanted.deals, found.wanted.games) == (deals, run.n_games)
    assert written / 2 < found.wanted.bytes < 3 * written


def test_the_experiment_as_it_stands_is_told(found: Forecast) -> None:
    [cell] = found.cells
    assert (found.stands.deals, found.stands.games) == (1000, 2000)
    assert cell.half_width is not None
    assert cell.mde is not None
    assert cell.half_width.value == pytest.approx(1.96 * cell.sd.value / 1000**0.5, rel=0.001)
    assert cell.mde.value == pytest.approx(2.8 * cell.sd.value / 1000**0.5, rel=0.002)
    assert forecast(make(), jobs=1, pilot=10).wanted is None


def test_a_pilot_leaves_nothing_and_repeats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, found: Forecast) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    assert forecast(make(), precision=0.012, jobs=1).cells == found.cells
    assert list(tmp_path.iterdir()) == []


def test_time_is_kept(tmp_path: Path) -> None:
    (tmp_path / "strategies").mkdir()
    (tmp_path / "strategies" / "mine.py").write_text(SLOW)
    experiment = make(lineup=[], strategies=["first_move", "greedy", "uniform"], players=[2, 3, 4])
    short = forecast(experiment, precision=0.1, seconds=0, project=tmp_path)
    assert len(short.cells) == 1 < short.n_cells
    assert short.cells[0].mean.n_clusters == planning.FIRST_BATCH
    text = str(short)
    for words in ("1 of 7 cells tried", "had warmed up", "not tried", "only 2 deals"):
        assert words in text
    with pytest.raises(RunError, match=r"no two deals of cell 0 that count, of 200; .* raises: raised: .*no idea"):
        forecast(make(lineup=["raises", "greedy"]), project=tmp_path)


@pytest.mark.parametrize("kind", ["pairs", "coin", "points"])
def test_interval_of_a_standard_deviation_covers(kind: str) -> None:
    rng = np.random.default_rng(3)
    size = (1000, 200)
    draw = {
        "pairs": lambda: rng.choice([0, 0.25, 0.5, 0.75, 1], p=[0.2, 0.05, 0.5, 0.05, 0.2], size=size),
        "coin": lambda: (rng.random(size) < 0.3) * 1.0,
        "points": lambda: rng.normal(0, 12, size=size),
    }[kind]()
    found = [planning._estimate_sd(row) for row in draw]
    covered = np.mean([sd.low <= draw.std() <= sd.high for sd in found])
    assert 0.92 <= covered <= 0.97


def test_what_never_varied_is_said_to_be_unknown() -> None:
    found = forecast(make(lineup=["tuned_2", "uniform"]), precision=0.01, pilot=20)
    assert found.cells[0].sd.value == 0
    assert (found.cells[0].deals, found.cells[0].half_width, found.wanted) == (None, None, None)
    assert "nothing varied between deals in cells 0" in str(found)
    json.dumps(found.to_dict(), allow_nan=False)


def test_the_goal_is_that_of_the_rule_to_stop_by() -> None:
    found = forecast(make(stop={"test": {"outcome": "margin", "effect": 2.0}}), pilot=20)
    assert (found.outcome, found.effect, found.precision) == ("margin", 2.0, None)
    assert "stops by evidence" in str(found)
    assert abs(found.cells[0].mean.value) > 1
    other = forecast(make(stop={"precision": {"half_width": 0.01}}), outcome="score", pilot=20)
    assert (other.outcome, other.goal) == ("score", "")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"precision": 0.1, "effect": 0.1}, "one of them"),
        ({"precision": -0.1}, "precision = -0.1: must be a number above 0"),
        ({"power": 2}, "power = 2: must be a number between 0 and 1"),
        ({"effect": 0.1, "power": 1.5}, "power = 1.5"),
        ({"pilot": 1}, "pilot = 1"),
        ({"outcome": "points"}, "outcome = 'points'"),
        ({"precision": 1e-9}, "so small that no number of deals would do"),
    ],
)
def test_options_are_checked_before_anything_is_played(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], options: Any, message: str
) -> None:
    monkeypatch.setattr(planning, "play_pilot", lambda *_, **__: pytest.fail("a pilot was played"))
    with pytest.raises(InputError, match=message):
        forecast(make(), progress=True, **{"pilot": 4, **options})
    assert capsys.readouterr().err == "", "nor is a pilot announced"


def test_what_no_run_can_hold_is_no_error_once_the_pilot_is_played() -> None:
    found = forecast(make(), outcome="score", precision=3e-7, pilot=20)
    assert found.wanted is None
    assert found.deals is not None
    assert found.deals.high == planning.MOST_DEALS


def test_command_prints_a_table_or_json(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(make().to_toml())
    words = ["plan", str(file), "--pilot", "20", "--effect", "0.05", "--deals", "500"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert "as it stands: 500 deals a cell, 1,000 games: about" in done.stdout
    assert "for effect 0.05 with power 0.8 in every cell tried" in done.stdout
    data = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)
    assert data["stands"]["games"] == 1000
    assert data["deals"]["low"] < data["deals"]["value"] < data["deals"]["high"]
    assert data["wanted"]["deals"] == data["deals"]["value"]


# What a run says before it starts


def foresee(experiment: Experiment, done: Any = (), project: Path | None = None) -> pilot.Cost | None:
    return pilot.foresee(experiment.plan(project=project, where="x"), done, 1, 60.0, project)


def test_a_run_says_what_it_takes_before_it_starts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = runner.run(make(deals=20_000, log="moves"), out=tmp_path / "run", jobs=1)
    second = capsys.readouterr().err.splitlines()[1]
    told = re.fullmatch(
        r"32 shards to play, 1 worker; about (\d+) (s|min) of play and ([\d.]+) MB, by a few games", second
    )
    assert told, second
    written = sum(part.bytes for commit in run.commits for part in commit.tables.values()) / 1e6
    assert written / 2 < float(told[3]) < 2 * written
    assert list(tmp_path.iterdir()) == [run.path]


def test_what_is_there_tells_what_the_rest_takes(tmp_path: Path) -> None:
    run = runner.run(make(), out=tmp_path / "run", jobs=1, progress=False)
    more = make(deals=10_000)
    cost = foresee(more, run.commits)
    assert cost is not None
    assert (cost.deals, cost.games) == (10_000, 20_000)
    later = run.commits[1:]
    spent = sum(commit.seconds for commit in later)
    assert spent < cost.seconds < 100 * spent  # 10 times, if seconds are not rounded away


def test_small_runs_begin_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pilot, "play_pilot", lambda *_, **__: pytest.fail("a pilot was played"))
    assert foresee(make(deals=80)) is None


def test_a_slow_search_is_tried_once() -> None:
    cost = foresee(make(lineup=["alpha_beta(nodes=2000)", "greedy"], deals=300))
    assert cost is not None
    assert 1 < cost.seconds < 200


def test_a_strategy_that_fails_leaves_the_time_open(tmp_path: Path) -> None:
    (tmp_path / "strategies").mkdir()
    (tmp_path / "strategies" / "slow.py").write_text(SLOW)
    failing = make(lineup=["raises", "greedy"], deals=100_000)
    assert foresee(failing, project=tmp_path) is None
    playing = foresee(make(lineup=["first_move", "greedy"], deals=100_000), project=tmp_path)
    assert playing is not None
    assert 5 < playing.seconds < 1000, "the start of the process that plays is not taken for playing"
    assert playing.bytes is not None
    assert playing.bytes < 10e6


def test_costs_are_a_line_over_the_batches() -> None:
    plan = make(deals=1_000_000).plan(project=None, where="x")
    part = log.manifest.Part(rows=1, bytes=1, content="x")

    def commit(deals: int, seconds: float) -> log.Commit:
        size = 1000 + 50 * 2 * deals
        return log.Commit(
            shard="x",
            cell=0,
            first_deal=0,
            n_deals=deals,
            n_games=2 * deals,
            n_moves=1,
            n_failures=0,
            seconds=seconds,
            doubts=(),
            tables={"games": part.model_copy(update={"bytes": size})},
        )

    # The first batch compiles; the others take 20 ms and 1 ms a game.
    batches = [commit(1, 9.0), commit(10, 0.04), commit(100, 0.22), commit(1000, 2.02)]
    found = pilot.Costs(plan, plan.cells, batches, 4).at(1_000_000)
    assert found.seconds == pytest.approx((2_000_000 * 0.001 + plan.n_shards * 0.02) / 4)
    assert found.bytes == pytest.approx(2_000_000 * 50 + plan.n_shards * 1000)
    # Of a cell that only compiled, nothing is taken; and if there is no other, no bytes.
    two = plan.cells * 2
    late = [commit(1, 50.0).model_copy(update={"cell": 1})]
    assert pilot.Costs(plan, two, [*batches, *late], 4).at(1_000_000).seconds == found.seconds
    cold = pilot.Costs(plan, two, late, 1).at(1_000_000)
    assert (cold.seconds, cold.bytes) == (pytest.approx(2_000_000 * 25), None)
    # Noise that makes a line fall is not followed below nothing.
    noisy = pilot.Costs(plan, plan.cells, [commit(1, 9.0), commit(10, 0.5), commit(100, 0.4)], 1).at(1_000_000)
    assert noisy.seconds == pytest.approx(2_000_000 * 0.9 / 220)


def test_a_pilot_of_one_deal_needs_more() -> None:
    experiment = Experiment(name="one", lineup=["greedy"], deals=1)
    with pytest.raises(
        RunError, match=r"one: the pilot has no two deals of cell 0 that count, of 1; it needs more deals$"
    ):
        forecast(experiment, jobs=1)


def test_the_command_takes_every_outcome() -> None:
    outcome, _ = get_args(get_type_hints(plan_command.plan)["outcome"])
    assert get_args(outcome) == get_args(log.OutcomeName) == tuple(log.BOUNDS)
