"""Rules against rules: exact zeros, planted effects, numbers found by hand, the solver, the command and the page."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import synthetic
from browser import Browser, find_browser
from typer.testing import CliRunner

import azulsim
from azulsim import metrics
from azulsim.catalog import find, load_module
from azulsim.cli import app
from azulsim.config import flatten_keys
from azulsim.errors import InputError
from azulsim.experiment import Experiment, make_experiment, read_experiment
from azulsim.log import Run, read_run
from azulsim.log.outcomes import GAME_OUTCOMES
from azulsim.metrics.whatif import FIXED, MIXED, RETUNED
from azulsim.questions import RuleComparison, read_players, read_target, read_values, rules
from azulsim.report import Written, build_report, make_report
from azulsim.report.rules import describe_crossing
from azulsim.rules import Bonus, Rules, make_rules, split_rule
from azulsim.stats import adjust_holm

pytestmark = pytest.mark.xdist_group("whatif")

STANDARD = {"score_clamp": False}
"""No clamp at 0, so that what is planted is there to the last point."""
SAME = {**STANDARD, "max_rounds": 99}
ROWS = {**STANDARD, "bonus": {"row": 3}}
STARTER = {**STANDARD, "starter_bonus": 2}
STEEP = {**STANDARD, "floor_penalties": [-2, -2, -4, -4, -4, -6, -6]}
DEALS = 60


@pytest.fixture(scope="session")
def real(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Greedy play, which looks at no bonus, under rules that plant an effect, and rules that plant none."""
    experiment = Experiment(
        name="planted",
        lineup=["greedy"],
        players=[2, 3],
        deals=DEALS,
        log="rounds",
        grid={"rules": [STANDARD, SAME, ROWS, STARTER, STEEP]},
        whatif={"retuned": [{"players": 2, "rules": STEEP, "spec": "greedy", "plays": "frugal"}]},
    )
    return azulsim.run(experiment, out=tmp_path_factory.mktemp("runs") / "planted", jobs=1, progress=False)


@pytest.fixture(scope="session")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Different strategies, with and without penalties."""
    experiment = Experiment(
        name="mixed",
        strategies=["greedy", "uniform", "floor_averse"],
        deals=200,
        grid={"rules.floor_penalties": [[-1, -1, -2, -2, -2, -3, -3], [0]]},
    )
    return azulsim.run(experiment, out=tmp_path_factory.mktemp("runs") / "mixed", jobs=1, progress=False)


@pytest.fixture(scope="session")
def written(real: Run, tmp_path_factory: pytest.TempPathFactory) -> Written:
    """The page of the planted run."""
    return build_report(real, "whatif", folder=tmp_path_factory.mktemp("page"))


def label(kind: dict[str, Any]) -> str:
    return metrics.describe_rules(make_rules(kind))


def pick(frame: pd.DataFrame, kind: dict[str, Any], *, tuning: str = FIXED, **values: object) -> pd.DataFrame:
    frame = frame[(frame["rules"] == label(kind)) & (frame["tuning"] == tuning)]
    for name, value in values.items():
        frame = frame[frame[name] == value]
    return frame.set_index("outcome")


# What is planted


def test_rules_that_change_nothing_differ_by_exactly_nothing(real: Run) -> None:
    frame = metrics.rule_differences(real)
    for players in (2, 3):
        same = pick(frame, SAME, players=players)
        assert len(same) == 10 + players
        assert (same["estimate"] == 0.0).all()
        assert (same["p_value"] == 1.0).all()
        assert (same["baseline"] == same["changed"]).all()
        assert same["correlation"].dropna().to_numpy() == pytest.approx(1.0)
        assert set(same["saved"].dropna()) == {1.0}


def test_bonus_for_rows_brings_what_rows_were_there_and_moves_nothing(real: Run) -> None:
    games = real.games()
    frame = metrics.rule_differences(real)
    for players in (2, 3):
        found = pick(frame, ROWS, players=players)
        cell = next(c.index for c in real.manifest.cells if c.players == players and c.rules == make_rules(STANDARD))
        assert found["estimate"]["bonus_points"] == pytest.approx(games[games["cell"] == cell]["rows"].mean())
        assert found["estimate"]["score"] == pytest.approx(found["estimate"]["bonus_points"])
        for outcome in ("plies", "rounds", "floor_paid", "short_games"):
            assert found["estimate"][outcome] == 0.0


def test_planted_bonus_of_the_starter_is_recovered(real: Run) -> None:
    frame = metrics.rule_differences(real)
    for players in (2, 3):
        found = pick(frame, STARTER, players=players)
        rounds = found["baseline"]["rounds"]
        assert found["estimate"]["score"] == pytest.approx(2 * rounds / players)
        assert found["p_holm"]["score"] < 0.001
        assert found["estimate"]["plies"] == 0.0


def test_exchanging_the_rules_changes_the_sign_and_nothing_else(real: Run) -> None:
    there = pick(metrics.rule_differences(real), STEEP)
    back = pick(metrics.rule_differences(real, baseline=make_rules(STEEP)), STANDARD)
    assert len(there) == len(back) == 12 + 13
    for mine, other in (("estimate", "estimate"), ("low", "high"), ("high", "low")):
        assert there[mine].to_numpy() == pytest.approx(-back[other].to_numpy(), nan_ok=True)
    for name in ("se", "mde", "p_value", "correlation", "saved"):
        assert there[name].to_numpy() == pytest.approx(back[name].to_numpy(), nan_ok=True)
    assert there["baseline"].to_numpy() == pytest.approx(back["changed"].to_numpy())


# By hand


def by_deal(games: pd.DataFrame, cell: int) -> pd.DataFrame:
    here = games[games["cell"] == cell]
    whole = here.groupby("deal").agg(winner=("score", "max"), floor=("floor_paid", "mean"))
    whole["start"] = here[here["seat"] == 0].set_index("deal")["win_share"]
    return whole


def test_differences_errors_and_correlations_equal_those_found_by_hand(real: Run) -> None:
    games, frame = real.games(), metrics.rule_differences(real)
    cells = {(c.players, c.rules): c.index for c in real.manifest.cells if "retuned" not in c.factors}
    for players in (2, 3):
        first, second = (by_deal(games, cells[players, make_rules(kind)]) for kind in (STANDARD, STEEP))
        found = pick(frame, STEEP, players=players)
        for name, outcome in (("winner", "winner_score"), ("floor", "floor_paid"), ("start", "seat_0_win_share")):
            change = second[name] - first[name]
            row = found.loc[outcome]
            assert row["estimate"] == pytest.approx(change.mean())
            assert row["se"] == pytest.approx(change.std() / np.sqrt(DEALS))
            correlation = np.corrcoef(first[name], second[name])[0, 1]
            assert row["correlation"] == pytest.approx(correlation)
            assert row["correlation_low"] < correlation < row["correlation_high"]
            assert row["saved"] == pytest.approx(1 - change.var() / (first[name].var() + second[name].var()))
            assert (row["baseline"], row["changed"]) == pytest.approx((first[name].mean(), second[name].mean()))
            assert (row["n_deals"], row["n"]) == (DEALS, 2 * DEALS)
    assert frame["p_holm"].to_numpy() == pytest.approx(adjust_holm(frame["p_value"]))
    assert list(frame["outcome"].unique()) == list(GAME_OUTCOMES[:13])


def test_means_are_those_that_the_differences_are_of(real: Run) -> None:
    means, frame = metrics.rule_outcomes(real), metrics.rule_differences(real)
    for kind, name in ((STANDARD, "baseline"), (STEEP, "changed")):
        mine, found = (pick(part, side, players=2) for part, side in ((means, kind), (frame, STEEP)))
        assert mine["estimate"].to_numpy() == pytest.approx(found[name].to_numpy())
    assert (means["n"] == DEALS).all()


def test_retuned_play_is_held_against_the_baseline_as_the_strategy_is(real: Run) -> None:
    frame = metrics.rule_differences(real)
    fixed, tuned = (pick(frame, STEEP, tuning=tuning, players=2) for tuning in (FIXED, RETUNED))
    assert set(frame[frame["tuning"] == RETUNED]["players"]) == {2}
    assert tuned["baseline"].to_numpy() == pytest.approx(fixed["baseline"].to_numpy())
    games = real.games()
    frugal = games[games["spec"] == "frugal"]
    assert tuned["changed"]["winner_score"] == pytest.approx(frugal.groupby("game")["score"].max().mean())
    assert set(real.cells["retuned"].dropna()) == {"greedy"}


def test_where_strategies_meet_games_and_the_wins_of_each_are_compared(mixed: Run) -> None:
    frame = metrics.rule_differences(mixed)
    assert "short_games" not in set(frame["outcome"]), "the log is not deep enough"
    games = mixed.games()
    free = {c.index for c in mixed.manifest.cells if c.rules != Rules()}
    games["free"] = games["cell"].isin(free)
    wins = frame[frame["outcome"] == "win_share"].set_index("spec")
    shares = games.groupby(["spec", "free"], observed=True)["win_share"].mean().unstack()
    assert set(wins.index) == {"greedy", "uniform", "floor_averse"}
    for spec in wins.index:
        assert wins["estimate"][spec] == pytest.approx(shares[True][spec] - shares[False][spec])
    whole = frame[frame["spec"] == MIXED].set_index("outcome")
    best = games.groupby(["game", "free"])["score"].max().groupby("free").mean()
    assert whole["estimate"]["winner_score"] == pytest.approx(best[True] - best[False])
    assert whole["changed"]["floor_paid"] == 0.0
    assert whole["n"]["winner_score"] == 200 * 3 * 2 * 2
    ended = games[games["termination"] == "ROW_COMPLETED"]
    enders = ended.groupby(["game", "free"])["is_ender"].any().groupby("free").size()
    assert whole["n"]["ender_wins"] == enders.sum()


def test_outcomes_looked_at_can_be_named_and_unknown_ones_are_refused(real: Run) -> None:
    assert set(metrics.rule_differences(real, ["rounds"])["outcome"]) == {"rounds"}
    with pytest.raises(InputError, match="did you mean 'rounds'"):
        metrics.rule_differences(real, ["round"])
    with pytest.raises(InputError, match="was not played"):
        metrics.rule_differences(real, baseline=Rules())
    assert tuple(metrics.RULE_OUTCOMES) == GAME_OUTCOMES


# The solver


def sweep(folder: Path, *, starters: list[float], target: Any = "fair", values: tuple[int, ...] = (-4, 0, 4)) -> Run:
    """Write a run in which seat 0 gains so many points at each value of `starter_bonus`."""
    solve = {"key": "rules.starter_bonus", "outcome": "seat_0_win_share", "target": target}
    path = synthetic.write_run(
        folder,
        [("one", "one")] * len(values),
        skills={"one": 0.0},
        deals=1000,
        starter=starters,
        depth="games",
        rules=[Rules(starter_bonus=value) for value in values],
        experiment={"whatif": {"solve": solve}},
    )
    return read_run(path)


def test_planted_advantage_is_solved_for(tmp_path: Path) -> None:
    run = sweep(tmp_path / "run", starters=[-2.0, 2.0, 6.0])
    row = metrics.rule_crossings(run).iloc[0]
    assert row["low"] < -2 < row["high"]
    assert abs(row["estimate"] + 2) < 1.5
    assert row["high"] - row["low"] < 3.5
    assert not row["is_open_below"]
    assert not row["is_open_above"]
    responses = metrics.rule_responses(run)
    assert list(responses["value"]) == [-4, 0, 4]
    assert (responses["low"] < responses["estimate"]).all()


def test_a_target_beyond_the_values_played_is_not_reached(tmp_path: Path) -> None:
    row = metrics.rule_crossings(sweep(tmp_path / "run", starters=[-2.0, 2.0, 6.0], target=0.95)).iloc[0]
    assert np.isnan(row["estimate"])
    assert np.isnan(row["low"])
    assert 0.2 < row["least"] < row["greatest"] < 0.95
    said = describe_crossing(row.to_dict())
    wanted = r"with none of the starter_bonus values tried, .4 to 4, where it is within \S+ to \S+ %"
    assert re.fullmatch(wanted, said)
    flat = sweep(tmp_path / "flat", starters=[0.0, 0.1, 0.2])
    answer = make_report(load_module(find("reports", "whatif")), flat).answer[0]
    assert answer == (
        "Where the win share of seat 0 is fair: at 2 players (one) this run does not determine the starter_bonus "
        "(neither \u22124 nor 4 is excluded)."
    )


def test_a_target_that_is_met_twice_is_said_everywhere(tmp_path: Path) -> None:
    run = sweep(tmp_path / "run", starters=[6.0, -6.0, 6.0])
    row = metrics.rule_crossings(run).iloc[0]
    assert len(row["crossings"]) == 2
    assert "several times" in row["note"]
    assert ", one of the 2 values that do: " in describe_crossing(row.to_dict())
    report = make_report(load_module(find("reports", "whatif")), run)
    assert ", one of the 2 values that do: " in report.answer[0]
    table = next(table for table in report.tables if table.name == "crossings")
    assert " and " not in table.frame["crossings"].iloc[0]
    assert table.frame["crossings"].iloc[0].count(",") == 1


def test_nothing_is_solved_unless_asked(real: Run) -> None:
    assert metrics.rule_crossings(real).empty
    assert metrics.rule_responses(real).empty


# The experiment

PLAYED = {"lineup": ["greedy"], "players": [2], "grid": {"rules": ["standard", {"bonus": {"column": 5}}]}}


@pytest.mark.parametrize(
    ("whatif", "complaint"),
    [
        ({"baseline": "gray"}, "baseline = 'gray': are not among the rules that are played"),
        ({"baseline": "graz"}, "did you mean 'gray'"),
        ({"outcomes": ["seat 9 win share"]}, "is no outcome of a game; did you mean"),
        ({"solve": {"key": "rules.bonus.colum"}}, "did you mean 'bonus.column'"),
        ({"solve": {"key": "rules.bonus.row"}}, "needs two numbers or more"),
        ({"solve": {"key": "rules.bonus.column", "outcome": "rounds"}}, "target of rounds must be a number"),
        ({"solve": {"key": "rules.bonus.column", "target": "fare"}}, 'must be a number, or "fair"'),
        ({"retuned": [{"players": 2, "rules": "gray", "spec": "greedy", "plays": "frugal"}]}, "are not played"),
        ({"retuned": [{"players": 2, "rules": "standard", "spec": "denier", "plays": "frugal"}]}, "does not sit"),
        ({"retuned": [{"players": 2, "rules": "standard", "spec": "greedy", "plays": "nobody"}]}, "nobody"),
    ],
)
def test_what_cannot_be_compared_is_refused(whatif: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InputError, match=re.escape(complaint)) as found:
        make_experiment({**PLAYED, "whatif": whatif}, where="x.toml").plan(where="x.toml")
    assert str(found.value).startswith("x.toml: ")
    assert "\n" not in str(found.value)


@pytest.mark.parametrize("name", ["floor-penalty", "bonus-values", "displays", "marker-price", "gray-or-colored"])
def test_shipped_questions_about_rules_compare_them(name: str) -> None:
    experiment = read_experiment(name)
    assert experiment.reports[0] == "whatif"
    assert Rules() in {cell.rules for cell in experiment.plan().cells}, "against the printed rules"


def test_one_set_of_rules_is_not_compared() -> None:
    with pytest.raises(InputError, match="the grid varies none"):
        Experiment(lineup=["greedy"], whatif={})


def test_a_rule_is_split_off_by_its_key() -> None:
    kind = Rules(bonus=Bonus(column=5))
    value, others = split_rule(kind, "bonus.column")
    assert value == 5
    assert dict(others)["bonus.row"] == 2
    assert split_rule(Rules(), "bonus.column") == (7, others)
    assert len(others) == len(list(flatten_keys(kind.model_dump(by_alias=True)))) - 1


# The question


@pytest.fixture(scope="session")
def answer(tmp_path_factory: pytest.TempPathFactory) -> RuleComparison:
    """A question asked in a few words."""
    out = tmp_path_factory.mktemp("whatif") / "run"
    return azulsim.whatif(
        ["rules.bonus.column=5", "bonus.row=0"], strategies=["greedy"], players=[2, 3], deals=50, jobs=1, out=out
    )


def test_changes_are_one_alternative_against_the_printed_rules(answer: RuleComparison) -> None:
    kinds = list(dict.fromkeys(cell.rules for cell in answer.run.manifest.cells))
    assert kinds == [Rules(), Rules(bonus=Bonus(column=5, row=0))]
    assert set(answer.differences["players"]) == {2, 3}
    text = str(answer)
    assert text.isascii()
    assert text.startswith("standard against bonus.row=0, bonus.column=5, greedy in all seats, 50 deals, common luck")
    assert f"{len(answer.differences)} differences looked at, Holm-corrected" in text
    assert "Common deals saved" in text
    assert text.endswith(
        "again: azulsim whatif --set rules.bonus.column=5 --set bonus.row=0 --strategy greedy --players 2,3 "
        "--deals 50 --seed 0"
    )


def test_json_has_no_nan(answer: RuleComparison) -> None:
    document = json.loads(json.dumps(answer.to_dict(), allow_nan=False))
    assert document["looked_at"] == len(document["differences"]) == 25
    assert document["seen"] == sum(row["p_holm"] < 0.05 for row in document["differences"])
    assert document["crossings"] == document["tunings"] == []


def test_the_command_it_prints_asks_the_same(answer: RuleComparison, tmp_path: Path) -> None:
    words = answer.again.split()[1:]
    done = CliRunner().invoke(app, [*words, "--out", str(tmp_path / "run"), "--jobs", "1", "--json"])
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    assert Path(document["page"]).is_file()
    assert read_run(tmp_path / "run").hashes == answer.run.hashes
    assert document["differences"] == answer.to_dict()["differences"]


def test_alternatives_by_value_and_by_file(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("bonus.color = 12\n")
    found = azulsim.whatif(
        rules=[tmp_path / "mine.toml"],
        solve="starter_bonus",
        values=[-2, 0, 2],
        outcomes=["seat 0 win share"],
        strategies=["greedy"],
        deals=20,
        jobs=1,
        out=tmp_path / "run",
    )
    kinds = list(dict.fromkeys(found.differences["rules"]))
    assert kinds == ["bonus.color=12", "starter_bonus=-2", "starter_bonus=2"]
    assert set(found.differences["outcome"]) == {"seat_0_win_share"}
    assert list(found.crossings["tried_from"]) == [-2]
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["crossings"][0]["key"] == "starter_bonus"
    assert "he win share of seat 0 is fair" in str(found)
    assert "--solve rules.starter_bonus --target fair --values -2,0,2 --outcome seat_0_win_share" in found.again


@pytest.mark.parametrize(
    ("asked", "complaint"),
    [
        ({}, "names no other rules"),
        ({"changes": ["rules.bonus.column=7"]}, "two sets of rules are the same: standard"),
        ({"changes": ["rules.bonus.colum=7"]}, "did you mean 'column'"),
        ({"rules": ["graz"]}, "did you mean 'gray'"),
        ({"vary": "bonus.column"}, "need each other"),
        ({"vary": "bonus.column", "values": [500]}, "bonus.column = 500"),
        ({"vary": "bonus.column", "solve": "bonus.row", "values": [5]}, "give one of them"),
        ({"solve": "bonus.row", "values": [5], "outcomes": ["rounds", "plies"]}, "looks at one outcome"),
        ({"changes": ["rules.bonus.column=5"], "outcomes": ["winers_score"]}, "did you mean 'winner_score'"),
        ({"changes": ["rules.bonus.column=5"], "players": [5]}, "players"),
        ({"changes": ["rules.bonus.column=5"], "strategies": ["uniform"], "retune": True}, "no parameters to tune"),
    ],
)
def test_questions_that_cannot_be_asked_are_refused(asked: dict[str, Any], complaint: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=re.escape(complaint)):
        azulsim.whatif(**asked, deals=2, out=tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


def test_strategies_are_tuned_to_each_set_of_rules_on_deals_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("GENERATIONS", 6), ("SEARCH_DEALS", 10), ("VALIDATION_DEALS", 200)):
        monkeypatch.setattr(rules, name, value)
    bad = "frugal(keep=-4, spill=3)"
    found = azulsim.whatif(
        ["bonus.column=14"], strategies=["azulzero_linear", bad], deals=20, retune=True, jobs=1, out=tmp_path / "run"
    )
    assert [tuning.search.rules.bonus.column for tuning in found.tunings] == [7, 14]
    assert all(tuning.search.seed != 0 and tuning.search.strategy == bad for tuning in found.tunings)
    assert all(tuning.is_improvement for tuning in found.tunings), "so bad a start is easily improved"
    tuned = {cell.rules.bonus.column: cell.lineup[0] for cell in found.run.manifest.cells if "retuned" in cell.factors}
    assert tuned == {tuning.search.rules.bonus.column: tuning.spec for tuning in found.tunings}
    both = found.differences.groupby(["spec", "tuning"]).size()
    assert dict(both) == {("azulzero_linear", FIXED): 12, (bad, FIXED): 12, (bad, RETUNED): 12}
    assert "2 of 2 short searches" in str(found)
    page = build_report(found.run, "whatif", folder=tmp_path / "page").page.read_text()
    assert all(tuning.spec in page for tuning in found.tunings)


def test_tuned_is_tuned_as_the_one_made_for_the_number_of_players() -> None:
    assert rules._find_tunable("tuned", 3, None) == "tuned_3"
    assert rules._find_tunable("uniform", 3, None) is None
    assert rules._find_tunable("frugal", 3, None) == "frugal"


def test_words_are_read_into_values() -> None:
    assert read_values("-2, 0, 2") == [-2, 0, 2]
    assert read_values("floor,0") == ["floor", 0]
    assert read_values("[-1, -1], [0]") == [[-1, -1], [0]]
    assert read_values("") == []
    assert read_players("2, 3") == [2, 3]
    assert (read_target("fair"), read_target("0.4")) == ("fair", 0.4)
    for read, text in ((read_players, "two"), (read_target, "fare")):
        with pytest.raises(InputError, match=text):
            read(text)


# The page


def test_page_answers_first_and_says_what_was_done(real: Run, written: Written) -> None:
    report = written.reports[0]
    frame = metrics.rule_differences(real)
    assert len(report.answer) == 2
    assert f"Of {len(frame)} differences looked at" in report.answer[1]
    assert "fixed and re-tuned" in report.answer[1]
    document = json.loads(written.json.read_bytes())["reports"][0]
    assert document["numbers"]["differences"] == len(frame)
    assert len(document["tables"]["details"]["rows"]) == len(frame)
    assert "frugal" in json.dumps(document["tables"]["retuned"])
    caption = document["figures"]["changes"]["caption"]
    assert "The same in all games: rounds" in caption
    assert "smallest detectable difference" in caption


def test_page_of_a_field_tells_whose_wins_change(mixed: Run) -> None:
    answer = make_report(load_module(find("reports", "whatif")), mixed).answer[0]
    assert re.search(r"; the wins of \w+ change most, by \S+ percentage points \(.* at 2 players \(\w+\)\)\.$", answer)


def test_a_run_with_one_set_of_rules_has_nothing_to_compare(tmp_path: Path) -> None:
    folder = synthetic.write_run(tmp_path / "run", [("one", "one")], skills={"one": 0.0}, deals=3)
    assert "nothing to compare" in build_report(folder, "whatif").reports[0].answer[0]


def test_names_on_the_page_are_not_trusted(tmp_path: Path) -> None:
    evil = "</script><script>alert(1)</script>"
    kinds = [Rules(), Rules(max_rounds=9)]
    folder = synthetic.write_run(
        tmp_path / "run", [(evil, "$x$")] * 2, skills={evil: 0.0, "$x$": 1.0}, deals=10, rules=kinds, depth="games"
    )
    page = build_report(folder, "whatif").page.read_text()
    assert evil not in page
    assert page.count("<script") == 2


@pytest.mark.skipif(find_browser() is None, reason="no Chromium here")
def test_page_works_in_a_browser_and_fits_a_phone(written: Written) -> None:
    with Browser(str(find_browser())) as browser:
        for width in (1100, 390):
            browser.open(written.page, width=width)
            assert browser.complaints() == []
            assert browser.evaluate("document.documentElement.scrollWidth") == width
        browser.open(written.page)
        heading = "[...document.querySelectorAll('table')].find(t => t.rows.length > 20).querySelectorAll('th button')"
        assert browser.evaluate(f"{heading}.length") > 5
