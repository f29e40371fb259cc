"""Experiments: what a file means, what is refused and how, and how a plan is cut into shards."""

from __future__ import annotations

import dataclasses
import itertools
import pickle
import re
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from azulsim import catalog
from azulsim.errors import InputError
from azulsim.experiment import (
    LEAST_MOVES_PER_SHARD,
    MOVES_PER_GAME,
    Experiment,
    apply_overrides,
    iterate_lineups,
    list_seatings,
    make_experiment,
    read_experiment,
)
from azulsim.rules import Rules

TOML = """\
# How hard should
# the floor bite?
name = "floor"
seed = 7
deals = 50
log = "moves"
strategies = ["alpha", "beta"]
reports = ["marker"]

[rules]
bonus.column = 5

[grid]
players = [2, 3]
rules.bonus.row = [2, 4]
"rules.floor_penalties" = [[-1, -1], [-2, -2, -2]]
"""


@pytest.fixture(autouse=True)
def strategies(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand in a project with two strategies of its own, so that these tests hang on no bundled one."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "strategies").mkdir()
    text = "from azulsim.strategy import strategy\n\n@strategy\ndef alpha(move, *, x=1): ...\n"
    text += "\n@strategy\ndef beta(move): ...\n"
    (folder / "strategies" / "letters.py").write_text(text)
    monkeypatch.chdir(folder)


def write(folder: Path, text: str, name: str = "floor.toml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_file_means_what_it_says(tmp_path: Path) -> None:
    experiment = read_experiment(write(tmp_path, TOML))
    assert experiment.question == "How hard should the floor bite?"
    plan = experiment.plan()
    assert plan.specs == ("alpha", "beta")
    # 2 player counts x 2 rows x 2 penalties; alpha and beta make one line-up at 2 players and two at 3.
    assert [cell.players for cell in plan.cells] == [2] * 4 + [3] * 8
    assert [cell.index for cell in plan.cells] == list(range(12))
    assert {cell.rules.bonus.column for cell in plan.cells} == {5}
    first, last = plan.cells[0], plan.cells[-1]
    assert first.factors == {"players": 2, "rules.bonus.row": 2, "rules.floor_penalties": (-1, -1)}
    assert (first.lineup, first.seatings) == (("alpha", "beta"), ((0, 1), (1, 0)))
    assert (last.lineup, last.rules.bonus.row) == (("alpha", "beta", "beta"), 4)
    assert last.rules.floor_penalties == (-2, -2, -2)
    assert plan.n_games == 50 * (4 * 2 + 8 * 3)


def test_written_out_and_read_back_is_the_same(tmp_path: Path) -> None:
    experiment = read_experiment(write(tmp_path, TOML))
    again = read_experiment(write(tmp_path, experiment.to_toml(), "again.toml"))
    assert again == experiment
    assert again.plan().cells == experiment.plan().cells
    assert 'seatings = "cyclic"' in experiment.to_toml(), "defaults are spelled out"


def test_python_and_toml_build_the_same(tmp_path: Path) -> None:
    built = Experiment(
        name="floor",
        question="How hard should the floor bite?",
        seed=7,
        deals=50,
        log="moves",
        strategies=["alpha", "beta"],
        reports=["marker"],
        rules={"bonus": {"column": 5}},
        grid={"players": [2, 3], "rules.bonus.row": [2, 4], "rules.floor_penalties": [[-1, -1], [-2, -2, -2]]},
    )
    assert built == read_experiment(write(tmp_path, TOML))


@pytest.mark.parametrize(
    ("lineup", "players", "counts"), [(["alpha"], None, [2]), (["alpha"], [4], [4]), (["alpha"] * 3, None, [3])]
)
def test_one_spec_sits_in_all_seats(lineup: list[str], players: Any, counts: list[int]) -> None:
    said = {"players": players} if players else {}
    plan = Experiment(lineup=lineup, seatings="full", **said).plan()
    assert [cell.players for cell in plan.cells] == counts
    assert all(cell.lineup == ("alpha",) * cell.players for cell in plan.cells)
    assert all(cell.seatings == (tuple(range(cell.players)),) for cell in plan.cells), "self-play has one seating"


def test_grid_over_lineups() -> None:
    plan = Experiment(players=[2, 3], grid={"lineup": ["alpha", ["beta"]]}).plan()
    assert [cell.lineup for cell in plan.cells] == [
        ("alpha",) * 2,
        ("beta",) * 2,
        ("alpha",) * 3,
        ("beta",) * 3,
    ]


@pytest.mark.parametrize(("k", "players"), list(itertools.product([2, 3, 4, 5], [2, 3, 4])))
def test_round_robin_is_fair(k: int, players: int) -> None:
    """Every strategy sits equally often, no line-up comes twice, and none is self-play."""
    specs = [f"s{i}" for i in range(k)]
    lineups = list(iterate_lineups(specs, players, "round_robin"))
    seats = [spec for lineup in lineups for spec in lineup]
    assert len({seats.count(spec) for spec in specs}) == 1
    assert len({tuple(sorted(lineup)) for lineup in lineups}) == len(lineups)
    assert all(len(set(lineup)) == min(k, players) for lineup in lineups)


@pytest.mark.parametrize(
    ("lineup", "cyclic", "full"),
    [("ab", 2, 2), ("aa", 1, 1), ("abc", 3, 6), ("aab", 3, 3), ("abcd", 4, 24), ("abab", 2, 6), ("aabb", 4, 6)],
)
def test_only_distinct_seatings_are_played(lineup: str, cyclic: int, full: int) -> None:
    for kind, count in [("cyclic", cyclic), ("full", full)]:
        seatings = list_seatings(tuple(lineup), kind)
        arrangements = {tuple(lineup[player] for player in order) for order in seatings}
        assert len(seatings) == len(arrangements) == count
        for seat in range(len(lineup)):
            sitting = [arrangement[seat] for arrangement in arrangements]
            assert {spec: sitting.count(spec) * len(lineup) // count for spec in set(lineup)} == {
                spec: lineup.count(spec) for spec in set(lineup)
            }, "every spec sits in every seat as often as its share says"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"deels": 5}, r"floor\.toml: unknown key 'deels'; did you mean 'deals'"),
        ({"deals": 0}, r"floor\.toml: deals = 0: "),
        ({"deals": "many"}, "deals = 'many': "),
        ({"seed": -1}, "seed = -1: "),
        ({"name": "../up"}, r"name = '\.\./up': "),
        ({"log": "all"}, "log = 'all': "),
        ({"players": (5,)}, "players, item 1 = 5: "),
        ({"players": ()}, r"players = \[\]: names no player count"),
        ({"players": 2}, "players = 2: must be a list"),
        ({"deals": True}, "deals = true: must be a whole number"),
        ({"rules": 3}, "rules = 3: must be a table of keys"),
        (
            {"lineup": ("alpha",) * 5, "strategies": (), "grid": {}},
            r"lineup = \['alpha', .*\]: has 5 specs; at most 4 can play",
        ),
        ({"players": (2, 2)}, "players = .*2 stands there twice"),
        ({"players": (2,)}, "players stands both at the top and in the grid"),
        ({"lineup": ("alpha",)}, "said once, by lineup, grid.lineup or strategies; found lineup and strategies"),
        ({"strategies": ()}, "found none of them"),
        ({"strategies": ("alpha",)}, "a round robin needs two strategies or more"),
        ({"rules": {"bonus": {"colum": 5}}}, "unknown key 'rules.bonus.colum'; did you mean 'column'"),
        ({"rules": {"bonus": {"column": 500}}}, "rules.bonus.column = 500: "),
        (
            {"grid": {"rules": {"bonus": {"colum": (5,)}}}},
            "grid: rules: unknown key 'bonus.colum'; did you mean 'column'",
        ),
        ({"grid": {"rules.bonus.column": (5, 500)}}, "grid: rules: bonus.column = 500"),
        ({"grid": {"rules.bonis.column": (5,)}}, "grid: unknown key 'rules.bonis.column'; did you mean 'bonus'"),
        ({"grid": {"rules.bonus.column": ()}}, "grid: rules.bonus.column has no value"),
        ({"grid": {"rules.bonus.column": (5, 5)}}, "grid: 5 stands there twice"),
        ({"grid": {"rules.bonus.column": 5}}, "grid.rules.bonus.column = 5"),
        ({"grid": {"playrs": (2,)}}, "grid: 'playrs' cannot be varied; did you mean 'players'"),
        ({"grid": {"players": (2, 7)}}, "grid: players: 7 is not a number from 2 to 4"),
        ({"grid": {"lineup": (3,)}, "strategies": ()}, "grid: lineup: 3 is neither a spec nor a list of specs"),
        ({"grid": {"lineup": (("alpha",) * 3,), "players": (2,)}, "strategies": ()}, "has 3 specs, which fits no 2"),
    ],
)
def test_bad_values_are_named(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    data = read_experiment(write(tmp_path, TOML)).model_dump(exclude={"rules", "players", "lineup"})
    with pytest.raises(InputError, match=message) as caught:
        make_experiment({**data, **change}, where="floor.toml")
    assert "\n" not in str(caught.value)


def test_unknown_and_repeated_strategies_are_named() -> None:
    with pytest.raises(InputError, match="unknown strategy 'alfa'; did you mean 'alpha'"):
        Experiment(lineup=["alfa"]).plan()
    with pytest.raises(InputError, match="no parameter 'y'"):
        Experiment(lineup=["alpha(y=2)"]).plan()
    with pytest.raises(InputError, match=r"strategies names 'alpha\(x=2\)' twice"):
        Experiment(strategies=["alpha(x=2)", "alpha(x=2.0)"]).plan()


def test_unknown_strategy_is_blamed_on_file_and_key(tmp_path: Path) -> None:
    (tmp_path / "ee.toml").write_text('lineup = ["alfa"]\n')
    with pytest.raises(InputError, match=r"ee\.toml: lineup: unknown strategy 'alfa'; did you mean 'alpha'\?"):
        read_experiment(tmp_path / "ee.toml").plan(where=str(tmp_path / "ee.toml"))
    with pytest.raises(InputError, match=r"many: grid\.lineup: strategy 'alpha.y=.': parameter 'y' needs"):
        Experiment(name="many", grid={"lineup": [["alpha"], ["alpha(y=)"]]}).plan()


def test_bad_override_is_blamed_on_itself_and_a_bad_file_on_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, TOML)
    for overrides in (["deals=0"], ["log=games", "deals=0", "seed=4"]):
        with pytest.raises(InputError, match=r"^--set deals=0: deals = 0: must be greater than or equal to 1$"):
            read_experiment(path, overrides=overrides)
    path.write_text("deals = 0\nlineup = ['alpha']\n")
    with pytest.raises(InputError, match=rf"^{path}: deals = 0: "):
        read_experiment(path, overrides=["seed=4"])
    assert read_experiment(path, overrides=["deals=3"]).deals == 3


def test_keywords_in_python_are_refused_in_one_sentence() -> None:
    for make, message in {
        lambda: Experiment(lineup=["alpha"], dealz=3): "^Experiment: unknown key 'dealz'; did you mean 'deals'\\?$",  # type: ignore[call-arg]
        lambda: Rules(bonus={"column": 999}): "^Rules: bonus.column = 999: must be less than or equal to ",  # type: ignore[arg-type]
        lambda: Rules(floor_penalties=[-1, "a"]): "^Rules: floor_penalties, item 2 = 'a': must be a whole number$",  # type: ignore[arg-type, list-item]
    }.items():
        with pytest.raises(InputError, match=message):
            make()


def test_values_survive_pickling_and_both_ways_of_making_them() -> None:
    experiment = Experiment(lineup=["alpha"], rules=Rules(floor_penalties=[-1, -2]))  # type: ignore[arg-type]
    assert pickle.loads(pickle.dumps(experiment)) == experiment
    assert Experiment.model_validate(experiment.model_dump(by_alias=True, exclude={"players"})) == experiment
    with pytest.raises(ValidationError):
        Experiment.model_validate({"deals": 0})


def test_overrides(tmp_path: Path) -> None:
    path = write(tmp_path, TOML)
    changed = read_experiment(path, overrides=["deals=9", "log=games", "grid.players=[4]", "rules.bonus.color=0"])
    assert (changed.deals, changed.log, changed.grid["players"]) == (9, "games", (4,))
    assert (changed.rules.bonus.column, changed.rules.bonus.color) == (5, 0)
    with pytest.raises(InputError, match=r"floor\.toml: rules: ?.*colum|unknown key 'rules.bonus.colum'"):
        read_experiment(path, overrides=["rules.bonus.colum=5"])
    for text, message in {"deals": "must be KEY=VALUE", "deals.x=1": "'deals' holds 50, which has no keys"}.items():
        with pytest.raises(InputError, match=message):
            read_experiment(path, overrides=[text])
    data: dict[str, Any] = {"rules": {"bonus": {}}}
    apply_overrides(data, ["rules.bonus.row=1"])
    assert data == {"rules": {"bonus": {}}}, "the given tables are left as they were"


def test_rules_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "mean.toml").write_text("starter_bonus = 3\n")
    path = write(tmp_path, '# Mean?\nlineup = ["alpha"]\nrules = "mean.toml"\n')
    assert read_experiment(path).rules == Rules(starter_bonus=3)
    (tmp_path / "other.toml").write_text("starter_bonus = 4\n")
    assert read_experiment(path, rules=tmp_path / "other.toml").rules.starter_bonus == 4
    (tmp_path / "other.toml").write_text("starter_bonos = 4\n")
    with pytest.raises(InputError, match=r"other\.toml: unknown key 'starter_bonos'"):
        read_experiment(path, rules=tmp_path / "other.toml")
    (tmp_path / "mean.toml").unlink()
    with pytest.raises(InputError, match=r"mean\.toml: no such file"):
        read_experiment(path)


@pytest.mark.parametrize("log", ["games", "rounds", "moves"])
@pytest.mark.parametrize("deals", [1, 37, 5000, 1_000_000])
def test_shards_cover_every_deal_once(log: Any, deals: int) -> None:
    plan = Experiment(lineup=["alpha"], players=[2, 4], deals=deals, log=log).plan()
    shards = list(plan.shards())
    assert len(shards) == plan.n_shards
    names = [shard.name for shard in shards]
    assert names == sorted(set(names)), "names are unique and sort in canonical order"
    for cell in plan.cells:
        ranges = [(s.first_deal, s.first_deal + s.n_deals) for s in shards if s.cell == cell.index]
        assert ranges[0][0] == 0
        assert ranges[-1][1] == deals
        assert all(left[1] == right[0] for left, right in itertools.pairwise(ranges))
        if deals == 1_000_000 and log == "moves":
            assert 225_000 <= ranges[0][1] * MOVES_PER_GAME[cell.players] <= 275_000
        assert len(ranges) == 1 or ranges[0][1] * MOVES_PER_GAME[cell.players] >= LEAST_MOVES_PER_SHARD


def test_ten_thousand_shards_are_planned_at_once() -> None:
    start = time.process_time()
    plan = Experiment(lineup=["alpha"], players=[2], deals=42_000_000, log="moves").plan()
    names = {shard.name for shard in plan.shards()}
    assert len(names) == plan.n_shards > 10_000
    assert time.process_time() - start < 2


def test_bundled_experiments_open_with_a_question_and_can_be_planned() -> None:
    entries = [entry for entry in catalog.list_entries("experiments") if entry.origin == "bundled"]
    assert {"demo", "ladder", "marker-value", "player-count"} <= {entry.name for entry in entries}
    for entry in entries:
        experiment = read_experiment(entry.path)
        assert experiment.name == entry.name
        assert experiment.question.endswith("?")
        assert experiment.plan().n_games > 0
        for report in experiment.reports:
            catalog.find("reports", report)


def test_demo_is_what_the_readme_promises() -> None:
    plan = read_experiment("demo").plan()
    assert {cell.players for cell in plan.cells} == {2, 3, 4}
    assert all(cell.deals >= 1000 for cell in plan.cells)
    assert len(plan.specs) >= 3
    assert plan.experiment.log == "moves"
    assert {"player_count", "marker"} <= set(plan.experiment.reports)


def test_every_key_is_documented() -> None:
    page = (Path(__file__).parents[1] / "docs" / "EXPERIMENTS.md").read_text()
    documented = set(re.findall(r"^\| `([a-z_]+)` \|", page, flags=re.MULTILINE))
    keys = {field.alias or name for name, field in Experiment.model_fields.items()}
    assert documented == keys
    for example in re.findall(r"```toml\n(.*?)```", page, flags=re.DOTALL):
        make_experiment(tomllib.loads(example), where="docs/EXPERIMENTS.md").plan()


def test_plan_is_frozen() -> None:
    plan = Experiment(lineup=["alpha"]).plan()
    with pytest.raises(dataclasses.FrozenInstanceError):
        plan.cells = ()  # type: ignore[misc]
    assert "1 cells at 2 players x 1,000 deals = 1,000 games by alpha" in repr(plan)
