"""`compare`: a ranking that agrees with the games it was made from."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import azulsim
from azulsim.errors import InputError
from azulsim.questions import Comparison
from azulsim.rules import Rules


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    folder = tmp_path_factory.mktemp("compare") / "run"
    return azulsim.compare(["uniform", "connector", "greedy"], deals=60, seed=2, jobs=1, out=folder)


def test_ranking_is_that_of_the_games(comparison: Comparison) -> None:
    ranking = comparison.ranking.set_index("spec")
    shares = comparison.run.games().groupby("spec", observed=True)["win_share"].mean()
    assert list(ranking.index) == list(shares.sort_values(ascending=False).index)
    assert ranking["win_share"].to_numpy() == pytest.approx(shares[ranking.index].to_numpy())
    assert list(ranking["rank"]) == [1, 2, 3]
    assert ranking.index[-1] == "uniform"
    assert ranking["times_fair"].to_numpy() == pytest.approx(2 * ranking["win_share"].to_numpy())
    assert (
        (ranking["win_share_low"] <= ranking["win_share"]) & (ranking["win_share"] <= ranking["win_share_high"])
    ).all()
    assert set(ranking["n_deals"]) == {60}
    assert set(ranking["n_games"]) == {60 * 2 * 2}


def test_lead_is_the_difference_to_the_next_paired_by_deal(comparison: Comparison) -> None:
    ranking = comparison.ranking
    assert ranking["lead"].to_numpy()[:-1] == pytest.approx(-np.diff(ranking["win_share"]))
    assert np.isnan(ranking["lead"].iloc[-1])
    games = comparison.run.games(columns=["deal", "spec", "win_share"])
    by_deal = games.pivot_table("win_share", "deal", "spec", observed=True)
    difference = by_deal[ranking["spec"][0]] - by_deal[ranking["spec"][1]]
    half = (ranking["lead_high"] - ranking["lead_low"])[0] / 2
    assert half == pytest.approx(2.0 * difference.std() / np.sqrt(len(difference)), rel=0.05)
    assert comparison.smallest_lead == pytest.approx(ranking["lead_mde"].max())


def test_payoffs_of_a_pair_add_up_to_one(comparison: Comparison) -> None:
    share = comparison.payoffs.set_index(["spec", "opponent"])["estimate"]
    assert len(share) == 6
    for first, second in share.index:
        assert share[first, second] + share[second, first] == pytest.approx(1.0)


def test_printing_shows_every_strategy_and_json_has_no_nan(comparison: Comparison) -> None:
    text = str(comparison)
    assert text.isascii()
    for spec in ("uniform", "connector", "greedy"):
        assert text.count(f"  {spec} ") >= 2
    assert f"{comparison.ranking['win_share'][0]:.2f}".lstrip("0") in text
    assert json.loads(json.dumps(comparison.to_dict(), allow_nan=False))["again"] == comparison.again


def test_folders_are_left_out_of_a_table_unless_they_tell_strategies_apart(tmp_path: Path) -> None:
    for folder in ("mine", "yours"):
        (tmp_path / folder).mkdir()
        for name in ("same", folder):
            text = f"from azulsim.strategy import strategy\n\n@strategy\ndef {name}(move):\n    return move.gain\n"
            (tmp_path / folder / f"{name}.py").write_text(text)

    def table(first: str, second: str) -> str:
        specs = [f"{tmp_path}/mine/{first}.py:{first}", f"{tmp_path}/yours/{second}.py:{second}"]
        comparison = azulsim.compare(specs, deals=2, jobs=1, out=tmp_path / f"{first}-{second}")
        return str(comparison).partition("\n\n")[0]

    assert "  mine.py:mine  " in table("mine", "yours")
    assert f"{tmp_path}/mine/same.py:same" in table("same", "same")


def test_no_lead_is_seen_between_two_names_of_the_same_play(tmp_path: Path) -> None:
    specs = ["row_builder(love=0.5)", "row_builder(love=0.50001)"]
    comparison = azulsim.compare(specs, deals=100, jobs=1, out=tmp_path / "run")
    assert comparison.ranking["lead_low"][0] < 0 < comparison.ranking["lead_high"][0]
    assert 0.05 < comparison.smallest_lead < 0.3


def test_rules_are_played_and_the_command_says_where_they_are(tmp_path: Path) -> None:
    rules = Rules(max_rounds=1)
    comparison = azulsim.compare(["uniform", "greedy"], deals=3, jobs=1, rules=rules, out=tmp_path / "run")
    assert set(comparison.run.games()["rounds"]) == {1}
    assert comparison.again == f"azulsim run {tmp_path}/run/experiment.toml"
    file = tmp_path / "short rules.toml"
    file.write_text(rules.to_toml())
    again = azulsim.compare(["uniform", "greedy"], deals=3, jobs=1, rules=file, out=tmp_path / "again")
    assert f"--rules '{file}'" in again.again
    assert again.run.hashes == comparison.run.hashes


@pytest.mark.parametrize("specs", ["greedy", ["greedy"], [], ["greedy", "greedy"], ["greedy", "nobody"]])
def test_fewer_than_two_different_strategies_are_refused(specs: list[str], tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"greedy|two strategies"):
        azulsim.compare(specs, out=tmp_path / "run")
    assert list(tmp_path.iterdir()) == []
