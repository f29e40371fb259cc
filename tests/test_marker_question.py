"""What is the marker worth, asked of the real engine: the command, and the controls on real games."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

import azulsim
from azulsim import metrics, questions
from azulsim.cli import app
from azulsim.errors import InputError
from azulsim.experiment import make_experiment
from azulsim.log import Run

pytestmark = pytest.mark.xdist_group("marker_question")


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Real games, continued: as printed, with a planted bonus, and with a starter who goes by rotation."""
    experiment = make_experiment(
        {
            "lineup": ["greedy"],
            "deals": 20,
            "grid": {"players": [2, 3], "rules.starter_bonus": [0, 3], "rules.next_starter": ["holder", "rotation"]},
            "probes": {"tempo": {"continuations": 2}, "decision": {"per_game": 2, "continuations": 4}},
        }
    )
    return azulsim.run(experiment, out=tmp_path_factory.mktemp("runs") / "real", jobs=1, progress=False)


def test_controls_hold_in_real_games(real: Run) -> None:
    frame = metrics.probe_controls(real)
    names = {
        "the round is the last", "the same player would start anyway", "the starter goes by rotation",
        "the start is handed over", "holding the marker starts nothing",
    }  # fmt: skip
    exact = frame[frame["control"].isin(names)]
    assert set(exact["control"]) == names
    assert (exact["found"] == 0).all()
    planted = frame[frame["control"] == "planted bonus of 3"]
    assert list(planted["players"]) == [2, 3]
    assert (planted["found"] - planted["expected"]).abs().max() < 0.1
    assert planted["expected"].between(2, 4).all()
    assert not (frame["verdict"] == "differs").any()


def test_by_rotation_a_decision_has_no_tempo(real: Run) -> None:
    frame = metrics.decision_values(real, ["players"])
    rotation = frame[frame["rules"].astype(str).str.contains("rotation") & (frame["part"] == "tempo")]
    assert len(rotation) == 12
    assert (rotation["estimate"] == 0).all()
    assert rotation["note"].str.contains("no variation").all()


def test_tempo_of_real_games_equals_that_found_by_hand(real: Run) -> None:
    probes = real.probes(
        filters={"kind": "tempo", "players": 2, "rules.starter_bonus": 0, "rules.next_starter": "holder"},
        columns=["game", "round", "arm", "seat", "score"],
    )
    means = probes.groupby(["game", "round", "seat", "arm"])["score"].mean().unstack("arm").reset_index()
    starts = means["seat"] == 0
    effect = pd.concat([means[starts][0] - means[starts][1], means[~starts][1] - means[~starts][0]])
    frame = metrics.tempo_values(real, ["players"])
    row = frame[(frame["players"] == 2) & (frame["rules"] == "standard") & (frame["outcome"] == "score")].iloc[0]
    assert row["estimate"] == pytest.approx(effect.mean())
    assert row["n"] == len(effect)


def test_the_command_answers(tmp_path: Path) -> None:
    words = ["marker", "greedy", "--deals", "6", "--jobs", "1", "--json", "--out", str(tmp_path / "run")]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    answer = json.loads(done.stdout)
    assert {"tempo", "decisions", "signs", "prices", "controls", "run", "page", "again"} == set(answer)
    first = answer["tempo"][0]
    assert (first["spec"], first["outcome"], first["players"]) == ("greedy", "win_share", 2)
    assert first["low"] < first["estimate"] < first["high"]
    assert answer["again"] == "azulsim marker greedy --players 2 --deals 6 --seed 0"
    assert Path(answer["page"]).exists()


def test_the_answer_is_a_table_in_plain_text(tmp_path: Path) -> None:
    answer = questions.value_marker(["greedy"], deals=8, prices=[0, 2], jobs=1, out=tmp_path / "run")
    lines = str(answer).splitlines()
    assert lines[0].split()[:3] == ["rules", "players", "strategy"]
    assert lines[1].startswith("standard")
    assert re.search(r"[+−][\d.]+ ± [\d.]+ .*( ± [\d.]+ %| % \([\d.]+ to [\d.]+\)) +8$", lines[1])
    assert "fixed price, in points, at which taking changes no win share:" in lines
    assert lines[-1] == "again: azulsim marker greedy --players 2 --deals 8 --seed 0 --prices 0,2"


def test_a_variant_can_be_asked_about(tmp_path: Path) -> None:
    answer = questions.value_marker(["beginner"], deals=4, rules="gray", jobs=1, out=tmp_path / "run")
    assert answer.run.rules(0).wall
    assert answer.prices.empty
    assert answer.again.endswith("--rules gray")
    assert "controls:" in str(answer)


@pytest.mark.parametrize("text", ["cheap", "1.5", "true"])
def test_prices_are_whole_numbers(text: str) -> None:
    with pytest.raises(InputError, match="whole numbers"):
        questions.read_prices(text)
