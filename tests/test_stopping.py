"""Runs that stop by evidence: the same wherever, however often interrupted, and however many workers."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from azulsim import log, metrics, runner
from azulsim.errors import InputError, RunError
from azulsim.experiment import Experiment, make_experiment, read_experiment
from azulsim.log import read_outcome, read_status
from azulsim.planning import forecast
from azulsim.replay import verify_run
from azulsim.runner import sitting

PRECISE = {"precision": {"half_width": 0.035}}


def make(**changes: Any) -> Experiment:
    values: dict[str, Any] = {"name": "stops", "lineup": ["greedy", "uniform"], "deals": 3000, "stop": PRECISE}
    return Experiment(**{**values, **changes})


def play(folder: Path, **changes: Any) -> log.Run:
    return runner.run(make(**changes), out=folder, jobs=1, progress=False)


TEMPO: dict[str, Any] = {
    "lineup": ["greedy", "uniform", "greedy"],
    "players": [3],
    "deals": 60,
    "seed": 3,
    "log": "games",
    "probes": {"tempo": {"rounds": [2, 4], "continuations": 2}, "decision": {"continuations": 1}},
}
SELF_PLAY = {"lineup": ["greedy"], "players": [2, 3], "seed": 5}


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> log.Run:
    return play(tmp_path_factory.mktemp("stopped") / "run", **SELF_PLAY)


def test_it_stops_at_the_first_look_that_is_enough(stopped: log.Run) -> None:
    why = stopped.manifest.stopped
    assert why is not None
    assert why.is_met
    assert why.deals == why.looks[-1] < 3000
    assert why.looks == make().looks()[: len(why.looks)]
    assert [cell.deals for cell in stopped.manifest.cells] == [why.deals] * 2
    assert stopped.n_deals == 2 * why.deals
    assert stopped.is_complete
    games = stopped.games()
    for found in why.evidence:
        values = games[(games["cell"] == found.cell) & (games["seat"] == 0)]["win_share"]
        assert found.value == pytest.approx(values.mean())
        half = 1.96 * values.std() / len(values) ** 0.5
        assert found.high - found.low == pytest.approx(2 * half, rel=0.02)
        assert half <= 0.035
    # At the look before, some cell was not known well enough.
    before = games[(games["deal"] < why.looks[-2]) & (games["seat"] == 0)].groupby("cell")["win_share"]
    assert (1.96 * before.std() / before.count() ** 0.5).max() > 0.035


@pytest.mark.parametrize("jobs", [2, 5])
def test_it_does_not_depend_on_the_number_of_workers(stopped: log.Run, tmp_path: Path, jobs: int) -> None:
    other = runner.run(make(**SELF_PLAY), out=tmp_path / "other", jobs=jobs, progress=False)
    assert other.hashes == stopped.hashes
    assert other.manifest.stopped == stopped.manifest.stopped


@pytest.mark.parametrize("shards", [0, 3, 9])
def test_interrupted_run_stops_at_the_same_look(
    stopped: log.Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shards: int
) -> None:
    folder = tmp_path / "run"
    count = 0

    def count_down(*_: Any) -> None:
        nonlocal count
        count += 1
        if count > shards:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(sitting._Sitting, "_heed", count_down)
        with pytest.raises(KeyboardInterrupt):
            play(folder, **SELF_PLAY)
    assert read_status(folder).to_dict()["stopped"] is None
    again = runner.run(folder / "experiment.toml", out=folder, jobs=2, progress=False)
    assert again.hashes == stopped.hashes
    assert again.manifest.stopped == stopped.manifest.stopped


def test_damaged_shards_are_played_again_and_change_nothing(stopped: log.Run, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(stopped.path, folder)
    lost = [stopped.commits[0].shard, stopped.commits[-1].shard]
    for shard in lost:
        (folder / "games" / f"{shard}.parquet").write_bytes(b"")
    again = play(folder, **SELF_PLAY)
    assert again.hashes == stopped.hashes
    assert again.manifest.stopped == stopped.manifest.stopped


def test_finished_run_is_left_alone_and_another_rule_is_refused(stopped: log.Run, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(stopped.path, folder)
    manifest = (folder / "manifest.json").read_bytes()
    play(folder, **SELF_PLAY)
    assert (folder / "manifest.json").read_bytes() == manifest
    with pytest.raises(InputError, match=r"stop.precision.half_width: 0.035 there, 0.03 now"):
        play(folder, **SELF_PLAY, stop={"precision": {"half_width": 0.03}})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"evidence": {"value": 0.9}}, r"manifest: stopped: cell 0: value, low and high of win_share are 0\.9, "),
        ({"evidence": {"low": 0.1}}, r"manifest: stopped: cell 0: value, low and high of win_share are 0\.\d+, 0\.1, "),
        ({"evidence": {"cell": 1}}, "manifest: stopped: its evidence is not that of the cells"),
        ({"deals": 100}, "manifest: stopped: deals is 100, not that of the cells and the last look"),
    ],
)
def test_verify_holds_the_evidence_against_the_tables(
    stopped: log.Run, tmp_path: Path, change: Any, message: str
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(stopped.path, folder)
    assert verify_run(folder).is_good
    manifest = json.loads((folder / "manifest.json").read_text())
    first = manifest["stopped"]["evidence"][0]
    first.update(change.get("evidence", {}))
    manifest["stopped"]["deals"] = change.get("deals", manifest["stopped"]["deals"])
    (folder / "manifest.json").write_text(json.dumps(manifest))
    found = verify_run(folder)
    assert not found.is_good
    assert re.match(message, str(found.disagreements[0]))


@pytest.mark.parametrize("values", [["x"] * 200, [float("nan")] * 200, [float("inf")] * 200, [None] * 200])
def test_verify_tells_of_a_wrong_table_before_it_takes_evidence_from_it(values: list[Any], tmp_path: Path) -> None:
    run = play(tmp_path / "run", deals=100)
    (file,) = (run.path / "games").iterdir()
    table = pq.read_table(file)
    kind = pa.string() if values[0] == "x" else pa.float64()
    at, column = table.column_names.index("win_share"), pa.array(values * (len(table) // 200), kind)
    pq.write_table(table.set_column(at, "win_share", column), file)
    found = verify_run(run.path)
    assert not found.is_good
    assert not any(row.text.startswith("stopped") for row in found.disagreements)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"stopped": {"level": 2.0}}, r"manifest\.json: stopped\.level = 2\.0"),
        ({"stopped": {"most": 0}}, r"manifest\.json: stopped\.most = 0"),
    ],
)
def test_a_manifest_whose_evidence_cannot_be_is_one_sentence(
    stopped: log.Run, tmp_path: Path, change: Any, message: str
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(stopped.path, folder)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["stopped"].update(change["stopped"])
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(InputError, match=message):
        verify_run(folder)


def test_evidence_of_what_the_run_does_not_hold_is_a_disagreement(stopped: log.Run, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(stopped.path, folder)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["experiment"]["stop"] = {"precision": {"outcome": "tempo.score", "half_width": 1.0}}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    (found,) = verify_run(folder).disagreements
    assert str(found).startswith("manifest: stopped: outcome = 'tempo.score': no tempo is probed")


def test_verify_knows_the_anytime_interval_and_a_cell_of_which_nothing_is_known(tmp_path: Path) -> None:
    tested = play(tmp_path / "tested", stop={"test": {"effect": 0.05}})
    assert verify_run(tested.path).is_good
    late = {**TEMPO, "probes": {"tempo": {"rounds": [40]}}, "deals": 10}
    empty = play(tmp_path / "empty", **late, stop={"precision": {"outcome": "tempo.score", "half_width": 1.0}})
    assert "cell 0: no deal counts (no interval), undecided" in empty.describe_stop()
    assert verify_run(empty.path).is_good


def test_why_it_stopped_is_told(stopped: log.Run, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = str(read_status(stopped.path))
    assert "wanted: half width of win_share at most 0.035 in every cell: reached" in text
    assert json.loads(json.dumps(read_status(stopped.path).to_dict()))["stopped"]["deals"] == stopped.n_deals / 2
    runner.run(make(deals=100), out=tmp_path / "run", jobs=1, progress=True)
    told = capsys.readouterr().err
    assert "1 cell x at most 100 deals" in told
    assert "look 1 of 1, 100 of 100 deals a cell" in told


def test_a_test_says_who_is_better_and_what_is_too_close_to_matter(tmp_path: Path) -> None:
    clear = play(tmp_path / "clear", stop={"test": {"effect": 0.05}})
    assert clear.manifest.stopped is not None
    assert (clear.manifest.stopped.deals, clear.manifest.stopped.evidence[0].verdict) == (100, "above")
    assert "too narrow" in clear.describe_stop()
    same = play(tmp_path / "same", lineup=["greedy", "noisy(greedy, eps=0)"], stop={"test": {"effect": 0.1}})
    assert same.manifest.stopped is not None
    assert same.manifest.stopped.evidence[0].verdict == "within"
    short = play(tmp_path / "short", lineup=["greedy"], deals=120, stop={"test": {"effect": 0.01}})
    assert short.manifest.stopped is not None
    assert (short.manifest.stopped.is_met, short.manifest.stopped.deals) == (False, 120)
    assert "reached in 0 of 1 cells" in short.describe_stop()


def test_outcomes_are_those_of_the_first_strategy_deal_by_deal(tmp_path: Path) -> None:
    lineup = ["greedy", "uniform", "greedy"]
    run = play(tmp_path / "run", lineup=lineup, players=[3], deals=30, stop=None)
    games = run.games()
    best_other = [
        games[(games["game"] == g) & (games["seat"] != s)]["score"].max()
        for g, s in zip(*games[["game", "seat"]].to_numpy().T, strict=True)
    ]
    games["margin"] = games["score"] - best_other
    mine = games[(games["spec"] == "greedy") & (games["deal"] < 20)]
    assert len(mine) == 20 * 3 * 2
    for name in ("win_share", "score", "margin"):
        expected = mine.groupby("deal")[name].mean().to_numpy()
        np.testing.assert_allclose(read_outcome(run, name, deals=20)[0], expected)
    with pytest.raises(InputError, match="outcome = 'points'"):
        read_outcome(run, "points", deals=20)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["win_share", "margin", "score"])
def test_outcomes_of_tempo_are_those_of_everyone_deal_by_deal(name: Any, tmp_path: Path) -> None:
    stop = {"precision": {"outcome": f"tempo.{name}", "half_width": 1e-9}}
    run = play(tmp_path / "run", **TEMPO, stop=stop)
    place = ["deal", "game", "round", "seat"]
    ends = run.probes(filters={"kind": "tempo"}, columns=[*place, "arm", name])
    ends = ends.assign(starts=ends["arm"] == ends["seat"])
    means = ends.groupby([*place, "starts"])[name].mean().unstack("starts")
    expected = (means[True] - means[False]).groupby("deal").mean()
    (values,) = read_outcome(run, stop["precision"]["outcome"], deals=60).values()  # type: ignore[arg-type]
    np.testing.assert_allclose(values, expected, atol=1e-12)
    assert len(set(values)) > 10
    said = np.sum([commit.outcome for commit in run.commits if commit.outcome], axis=0)
    assert said == pytest.approx([60, values.sum(), (values**2).sum()])
    assert verify_run(run.path).is_good
    evidence = run.manifest.stopped.evidence[0]  # type: ignore[union-attr]
    assert (evidence.value, evidence.verdict) == (pytest.approx(values.mean()), "undecided")
    whole = metrics.tempo_values(run, ["players"]).set_index("outcome").loc[name]
    assert evidence.value == pytest.approx(whole["estimate"], abs=whole["se"])  # games weigh there by their rounds


def test_a_run_may_stop_when_tempo_is_known(tmp_path: Path) -> None:
    changes = {**TEMPO, "lineup": ["greedy"], "deals": 3000}
    stop = {"precision": {"outcome": "tempo.win_share", "half_width": 0.1}}
    run = play(tmp_path / "run", **changes, stop=stop)
    assert run.manifest.stopped is not None
    assert run.manifest.stopped.is_met
    assert run.manifest.stopped.deals < 3000
    one, test = run.manifest.stopped.evidence[0], {"test": {"outcome": "tempo.score", "effect": 0.5}}
    assert one.high - one.low <= 0.2  # type: ignore[operator]
    found = play(tmp_path / "test", **changes, stop=test).manifest.stopped
    assert found is not None
    assert "tempo.score shown to differ from 0" in found.goal
    assert found.evidence[0].verdict == "above"


def test_progress_knows_tempo_as_well_as_the_evidence_does(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A gain that many continuations are averaged to varies little, though it may lie anywhere from -1 to 1."""
    changes = {**TEMPO, "stop": {"precision": {"outcome": "tempo.win_share", "half_width": 1e-9}}}
    run = runner.run(make(**changes), out=tmp_path / "run", jobs=1, progress=True)
    assert run.manifest.stopped is not None
    (found,) = run.manifest.stopped.evidence
    shown = re.findall(r"widest tempo\.win_share \+/-([\d.]+)", capsys.readouterr().err)[-1]
    assert float(shown) == pytest.approx((found.high - found.low) / 2, rel=0.05)  # type: ignore[operator]


def test_a_pilot_reckons_with_deals_that_do_not_count() -> None:
    changes = {"lineup": ["uniform"], "players": [2], "stop": None, "seed": 1, "deals": 1000}
    late = {"tempo": {"rounds": [6], "continuations": 1}}
    found = forecast(make(**changes, probes=late), outcome="tempo.score", precision=0.5, pilot=60, jobs=1)
    (cell,) = found.cells
    assert 0.2 < cell.counted < 0.95
    assert cell.mean.n_clusters == round(60 * cell.counted)
    assert cell.deals is not None
    assert cell.half_width is not None
    assert cell.deals.value == pytest.approx(1.96**2 * cell.sd.value**2 / 0.5**2 / cell.counted, rel=0.05)
    assert cell.half_width.value == pytest.approx(1.96 * cell.sd.value / (1000 * cell.counted) ** 0.5, rel=0.01)
    assert "not every deal counts in cells 0" in str(found)
    never = {"tempo": {"rounds": [40]}}
    with pytest.raises(
        RunError,
        match=r"no two deals of cell 0 that count, of \d+; no probed round was reached in the others, it needs",
    ):
        forecast(make(**changes, probes=never), outcome="tempo.score", pilot=4, jobs=1)


def test_a_run_that_did_not_reach_its_goal_does_not_say_that_it_stopped(tmp_path: Path) -> None:
    run = play(tmp_path / "run", deals=120, stop={"precision": {"half_width": 1e-6}})
    ended = "played to the end, since the evidence was not enough, at look 2 of 2, 120 of 120 deals a cell"
    assert run.describe_stop().startswith(ended)


def test_tempo_that_is_not_probed_is_no_outcome(tmp_path: Path) -> None:
    stop: dict[str, Any] = {"precision": {"outcome": "tempo.score", "half_width": 1.0}}
    with pytest.raises(InputError, match=r"x\.toml: stop: outcome = 'tempo\.score': no tempo is probed"):
        make_experiment({"lineup": ["greedy"], "stop": stop}, where="x.toml")
    with pytest.raises(InputError, match=r"outcome = 'tempo\.margin': no tempo is probed"):
        forecast(make(stop=None), outcome="tempo.margin")
    run = play(tmp_path / "run", deals=2, stop=None)
    with pytest.raises(InputError, match=r"outcome = 'tempo\.margin': no tempo is probed"):
        read_outcome(run, "tempo.margin", deals=2)


def test_a_pilot_tells_of_tempo() -> None:
    found = forecast(make(**{**TEMPO, "stop": None}), outcome="tempo.win_share", precision=0.05, pilot=30, jobs=1)
    assert "tempo.win_share: win_share gained by starting a round" in str(found)
    assert "everyone" in str(found)
    assert found.deals is not None


def test_shards_end_at_looks_and_cover_every_deal_once() -> None:
    experiment = make(lineup=["greedy"], players=[2, 4], deals=20_000)
    plan = experiment.plan()
    shards = list(plan.shards())
    assert len(shards) == plan.n_shards
    for cell in plan.cells:
        mine = [shard for shard in shards if shard.cell == cell.index]
        ends = [shard.first_deal + shard.n_deals for shard in mine]
        assert [shard.first_deal for shard in mine] == [0, *ends[:-1]]
        assert ends[-1] == 20_000
        assert set(experiment.looks()) <= set(ends)


@pytest.mark.parametrize(
    ("stop", "message"),
    [
        ({}, "exactly one rule"),
        ({"precision": {"half_width": 0.1}, "test": {"effect": 0.1}}, "exactly one rule"),
        ({"precision": {}}, "'stop.precision.half_width' is missing"),
        ({"precision": {"half_width": 0.0}}, "stop.precision.half_width = 0.0"),
        ({"precision": {"half_width": 0.1, "outcome": "points"}}, "stop.precision.outcome = 'points'"),
        ({"test": {"effect": 1.0, "outcome": "score"}}, "null is missing"),
        ({"test": {"effect": 0.1, "alhpa": 0.1}}, "did you mean 'alpha'"),
        ({"test": {"effect": 0.1, "alpha": 1.0}}, "stop.test.alpha = 1.0"),
    ],
)
def test_rules_are_checked(stop: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make_experiment({"lineup": ["greedy"], "stop": stop}, where="x.toml")


def test_rules_survive_writing_and_overrides(tmp_path: Path) -> None:
    file = tmp_path / "stops.toml"
    file.write_text(make().to_toml())
    assert read_experiment(file) == make()
    changed = read_experiment(file, overrides=["stop.precision.half_width=0.5"])
    assert changed.stop is not None
    assert changed.stop.rule.goal.startswith("half width of win_share at most 0.5")


def test_a_share_cannot_stop_by_evidence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="needs all deals at each look"):
        runner.run(make(), out=tmp_path / "run", share="1/2", progress=False)
