"""Experiments: what a file means, what is refused and how, and how a plan is cut into shards."""

from __future__ import annotations

import dataclasses
import itertools
import math
import pickle
import re
import time
import tomllib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from azulsim import catalog, registry
from azulsim.errors import InputError
from azulsim.experiment import (
    LEAST_MOVES_PER_SHARD,
    MOVES_PER_GAME,
    Experiment,
    Plan,
    apply_overrides,
    draw_lineups,
    iterate_lineups,
    list_seatings,
    make_experiment,
    read_experiment,
)
from azulsim.experiment.lineups import expand_patterns, is_pattern
from azulsim.rules import VARIANTS, Rules

T = TypeVar("T")

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
    text = "from azulsim.strategy import strategy\n\n@strategy\ndef alpha(move, *, x=7): ...\n"
    text += "\n@strategy\ndef beta(move, *, y=1): ...\n"
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


def test_written_tables_sit_at_the_player_count_of_their_length() -> None:
    tables = [["alpha", "beta"], ["alpha", "beta", "beta"], ["beta"]]
    plan = Experiment(grid={"lineup": tables}).plan()
    assert [cell.lineup for cell in plan.cells] == [
        ("alpha", "beta"),
        ("beta",) * 2,
        ("alpha", "beta", "beta"),
        ("beta",) * 3,
    ]


def test_places_in_specs_are_filled_from_the_grid() -> None:
    plan = Experiment(
        strategies=["alpha(x={x})", "{who}", "alpha"],
        players=[2],
        grid={"who": ["beta", "beta(y=2)"], "rules.bonus.row": [2, 4], "x": [2, 0.5]},
    ).plan()
    cells = [(cell.lineup, cell.factors) for cell in plan.cells if cell.rules.bonus.row == 4]
    row = {"players": 2, "rules.bonus.row": 4}
    assert cells == [
        *[((f"alpha(x={x})", who), {**row, "who": who, "x": x}) for who in ("beta", "beta(y=2)") for x in (2, 0.5)],
        (("alpha(x=2)", "alpha"), {**row, "x": 2}),
        (("alpha(x=0.5)", "alpha"), {**row, "x": 0.5}),
        (("beta", "alpha"), {**row, "who": "beta"}),
        (("beta(y=2)", "alpha"), {**row, "who": "beta(y=2)"}),
    ], "a line-up without a place is not repeated for each of its values"
    assert len(plan.cells) == 16


def test_rules_are_varied_as_a_whole_and_one_by_one(tmp_path: Path) -> None:
    (tmp_path / "mean.toml").write_text("starter_bonus = 3\n")
    text = """
    lineup = ["alpha"]
    [grid]
    "rules.bonus.row" = [2, 4]
    rules = ["gray", "mean.toml", { bonus = { column = 5 } }, "standard"]
    """
    plan = read_experiment(write(tmp_path, text)).plan()
    kinds = [VARIANTS["gray"], Rules(starter_bonus=3), Rules(bonus={"column": 5}), Rules()]  # type: ignore[arg-type]
    assert [cell.rules for cell in plan.cells] == [
        kind.model_copy(update={"bonus": kind.bonus.model_copy(update={"row": row})})
        for row in (2, 4)
        for kind in kinds
    ]
    assert [cell.factors["rules"] for cell in plan.cells[:4]] == [
        "gray",
        "{starter_bonus=3}",
        "{bonus.column=5}",
        "standard",
    ]


@pytest.mark.parametrize("name", VARIANTS)
def test_a_variant_is_named_in_files_in_python_and_in_overrides(tmp_path: Path, name: str) -> None:
    path = write(tmp_path, f'lineup = ["alpha"]\nrules = "{name}"\n')
    named = read_experiment(path)
    assert named.rules == VARIANTS[name] == Experiment(lineup=["alpha"], rules=name).rules  # type: ignore[arg-type]
    changed = read_experiment(path, overrides=["rules.bonus.column=5"]).rules
    assert changed == VARIANTS[name].model_copy(update={"bonus": changed.bonus})
    assert (changed.bonus.column, changed.bonus.color) == (5, 10)
    assert read_experiment(write(tmp_path, TOML, "other.toml"), overrides=[f"rules={name}"]).rules == VARIANTS[name]
    assert read_experiment(write(tmp_path, named.to_toml(), "again.toml")).rules == named.rules


def test_a_gauntlet_seats_each_challenger_among_the_field() -> None:
    def met(players: int, against: str, specs: str = "ab") -> list[str]:
        lineups = iterate_lineups(tuple(specs), players, "gauntlet", against=tuple(against))
        return ["".join(lineup) for lineup in lineups]

    assert met(2, "x") == ["ax", "bx"]
    assert met(4, "x") == ["axxx", "bxxx"]
    assert met(2, "xyz") == ["ax", "ay", "az", "bx", "by", "bz"]
    assert met(3, "xyz", "a") == ["axy", "axz", "ayz"]
    assert met(4, "xy", "a") == ["axxy", "axyy"]
    assert met(2, "ab") == ["aa", "ab", "bb"], "a table is not repeated when challengers stand in the field"
    plan = Experiment(strategies=["alpha(x={x})"], schedule="gauntlet", against=["beta"], grid={"x": [0, 1]}).plan()
    assert [cell.lineup for cell in plan.cells] == [("alpha(x=0)", "beta"), ("alpha(x=1)", "beta")]


@settings(max_examples=60)
@given(st.data())
def test_drawn_tables_differ_and_are_balanced(data: st.DataObject) -> None:
    players = data.draw(st.integers(2, 4))
    n = data.draw(st.integers(players, 14))
    every = math.comb(n, players)
    tables = data.draw(st.integers(1, every))
    seed = data.draw(st.integers(0, 1 << 62))
    specs = [f"s{i}" for i in range(n)]
    lineups = draw_lineups(specs, players, tables, seed)
    assert lineups == draw_lineups(specs, players, tables, seed)
    assert len({frozenset(lineup) for lineup in lineups}) == len(lineups) == tables
    seats = Counter(dict.fromkeys(specs, 0))
    seats.update(spec for lineup in lineups for spec in lineup)
    pairs = Counter(dict.fromkeys(itertools.combinations(specs, 2), 0))
    pairs.update(pair for lineup in lineups for pair in itertools.combinations(sorted(lineup, key=specs.index), 2))
    assert max(seats.values()) - min(seats.values()) <= 2
    assert max(pairs.values()) - min(pairs.values()) <= 3


def test_a_draw_stays_the_same_forever() -> None:
    """Another draw would be another experiment under the same name."""
    drawn = ["".join(lineup) for lineup in draw_lineups("abcdefgh", 3, 8, seed=1)]
    assert drawn == ["cag", "efh", "dhb", "dce", "fba", "hgf", "ebc", "gda"]
    assert ["".join(lineup) for lineup in draw_lineups("abcdefgh", 3, 8, seed=2)] != drawn


def test_a_limit_of_tables_draws_only_where_there_are_more() -> None:
    specs = [f"alpha(x={i})" for i in range(6)]
    plan = Experiment(strategies=specs, players=[2, 3], tables=15).plan()
    assert [cell.players for cell in plan.cells] == [2] * 15 + [3] * 15
    assert [cell.lineup for cell in plan.cells[:15]] == list(itertools.combinations(specs, 2))


def test_patterns_stand_for_bundled_strategies_and_the_plan_holds_their_names() -> None:
    experiment = Experiment(strategies=["alpha", "uniform.py:*", "*_builder", "uniform", "!color_*"], deals=3)
    named = ("alpha", "tidy_uniform", "uniform", "uniform_lines", "uniform_no_floor", "column_builder", "row_builder")
    with pytest.raises(InputError, match="strategies names 'uniform' twice"):
        experiment.plan()
    with pytest.raises(InputError, match=r"strategies names 'noisy\(greedy, eps=0.1\)' twice"):
        Experiment(strategies=["noisy(greedy)", "noisy(greedy, eps=0.1)"]).plan()
    plan = Experiment(strategies=[*experiment.strategies[:3], "!color_*"], deals=3).plan()
    assert set(named) < set(plan.experiment.strategies)
    assert "color_builder" not in plan.specs
    assert not any(map(is_pattern, plan.experiment.strategies))
    everything = {entry.name for entry in registry.list_strategies() if registry.is_bundled(entry)}
    assert set(expand_patterns(["*"])) == everything, "neither wrappers nor strategies of the project"
    assert make_experiment(tomllib.loads(plan.experiment.to_toml())).plan().cells == plan.cells
    for strategies, message in {
        ("*_bilder",): "strategies: no bundled strategy matches '\\*_bilder'",
        ("greed*y", "!greedy"): "the patterns leave no strategy",
        ("greed*y",): "a round robin needs two strategies or more",
    }.items():
        with pytest.raises(InputError, match=f"^mine: .*{message}"):
            Experiment(strategies=strategies).plan(where="mine")


def test_cells_that_would_play_the_same_games_are_refused() -> None:
    for changes in (
        {"grid": {"lineup": [["alpha", "beta"], ["beta", "alpha"]]}},
        {"grid": {"lineup": ["alpha", ["alpha", "alpha"]]}},
        {"lineup": ["alpha"], "grid": {"rules": ["standard", "gray"], "rules.wall": ["gray"]}},
        {"lineup": ["alpha(x={x})"], "grid": {"x": [1, "1.0"]}},
    ):
        with pytest.raises(InputError, match=r"^experiment: two cells would play the same games: "):
            Experiment(**changes).plan()  # type: ignore[arg-type]


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
        ({"grid": {"rules.bonus.column": ()}}, r"grid: rules\.bonus\.column = \[\]: lists the values"),
        ({"grid": {"rules.bonus.column": (5, 5)}}, "grid: 5 stands there twice"),
        ({"grid": {"rules.bonus.column": 5}}, "grid.rules.bonus.column = 5"),
        ({"grid": {"playrs": (2,)}}, "grid: 'playrs' cannot be varied; did you mean 'players'"),
        ({"grid": {"players": (2, 7)}}, "grid: players: 7 is not a number from 2 to 4"),
        ({"grid": {"lineup": (3,)}, "strategies": ()}, "grid: lineup: 3 is neither a spec nor a list of specs"),
        ({"grid": {"lineup": (("alpha",) * 3,), "players": (2,)}, "strategies": ()}, "has 3 specs, which fits no 2"),
        (
            {"grid": {"lineup": (("alpha",) * 3,), "players": (2, 3)}, "strategies": ()},
            "players: no lineup has 2 specs, or a single one for all seats",
        ),
        ({"rules": "grey"}, r"floor\.toml: rules = 'grey': no such variant.*; did you mean 'gray'"),
        ({"grid": {"rules": ("grey",)}}, r"floor\.toml: grid: rules: 'grey': no such variant.*; did you mean 'gray'"),
        ({"grid": {"rules": (7,)}}, "grid: rules: 7 is neither the name of a variant nor a table of rules"),
        ({"grid": {"rules": ({"bonus": {"colum": 1}},)}}, "grid: rules: unknown key 'bonus.colum'; did you mean 'col"),
        ({"grid": {"rules": ("gray", {"wall": "gray"})}}, "grid: 'gray' stands there twice"),
        (
            {"grid": {"rules": ("gray",)}, "rules": {"bonus": {"row": 1}}},
            "rules stands both at the top and in the grid",
        ),
        (
            {"grid": {"rules.bonus.row": (1, 2), "rules": {"bonus": {"row": (1, 3)}}}},
            "'rules.bonus.row' stands there twice",
        ),
        ({"grid": {"rules.joker_tiles": (True,), "rules.tiles_per_color": (2, 20)}}, "at least 3 are needed"),
        ({"grid": {"eps": (0.1,)}}, r"'eps' cannot be varied; known: .*\{eps\} in a spec"),
        ({"strategies": ("alpha", "beta(y={eps})")}, r"\{eps\} stands in a spec, and grid has no values for it"),
        (
            {"strategies": ("alpha(x={eps})", "beta(y={epz})"), "grid": {"eps": (1,)}},
            r"\{epz\} stands in a spec, .*; did you mean 'eps'",
        ),
        ({"strategies": ("alpha", "beta(y={y})"), "grid": {"y": (True,)}}, "y: true is neither a number nor a text"),
        ({"strategies": ("alpha", "beta(y={floor})"), "grid": {"floor": (1,)}}, "has the name of a column of the log"),
        ({"schedule": "gauntlet"}, 'against and schedule = "gauntlet" need each other'),
        ({"against": ("alpha",)}, 'against and schedule = "gauntlet" need each other'),
        ({"schedule": "knockout"}, "schedule = 'knockout': must be 'round_robin', 'gauntlet' or 'self_play'"),
        ({"schedule": "self_play", "tables": 3}, "tables = 3: limits a round robin"),
        ({"schedule": "self_play", "strategies": (), "lineup": ("alpha",)}, "says how strategies meet"),
        ({"tables": 0}, "tables = 0: must be greater than or equal to 1"),
        ({"tables": 1, "grid": {"players": (4,)}}, "tables = 1: so few strategies need 3 to sit equally often"),
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
    with pytest.raises(InputError, match=r"against names 'beta' twice"):
        Experiment(strategies=["alpha"], schedule="gauntlet", against=["beta", "beta "]).plan()
    with pytest.raises(InputError, match=r"strategies: .* are not all different with \{'x': 2\}"):
        Experiment(strategies=["alpha(x={x})", "alpha(x=2)"], grid={"x": [1, 2]}).plan()
    with pytest.raises(InputError, match=r"experiment: reports: unknown report 'rnaking'; did you mean 'ranking'"):
        Experiment(lineup=["alpha"], reports=["rnaking"]).plan()


def test_more_cells_than_a_log_can_name_are_refused_at_once() -> None:
    start = time.process_time()
    many = [f"alpha(x={i})" for i in range(200)]
    for changes in (
        {"strategies": many, "players": [4]},
        {
            "strategies": many[:9],
            "players": [4],
            "grid": {f"rules.bonus.{of}": list(range(50)) for of in ("row", "color")},
        },
        {"lineup": ["alpha(x={a}.{b})"], "grid": {name: list(range(300)) for name in "ab"}},
    ):
        with pytest.raises(InputError, match=r"^experiment: .*more than 65,536 "):
            Experiment(**changes).plan()  # type: ignore[arg-type]
    assert time.process_time() - start < 10


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


def test_patterns_that_leave_nobody_are_one_sentence() -> None:
    with pytest.raises(InputError, match=r"^x: strategies = \['\*', '!\*'\]: the patterns leave no strategy$"):
        Experiment(name="x", strategies=["*", "!*"]).plan()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("greedy", "BUNDLED:greedy"),
        ("mine", "strategies/ideas.py:mine"),
        ("noisy(mine, eps=0.2)", "noisy(strategies/ideas.py:mine, eps=0.2)"),
    ],
)
def test_a_strategy_named_in_two_ways_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, one: str, other: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "strategies").mkdir()
    (tmp_path / "strategies/ideas.py").write_text(
        "from azulsim.strategy import strategy\n\n\n@strategy\ndef mine(move):\n    return 0.0\n"
    )
    other = other.replace("BUNDLED", str(catalog.find("strategies", "greedy").path))
    with pytest.raises(InputError, match="are the same strategy; name it in one way"):
        Experiment(name="x", strategies=[one, other, "uniform"]).plan()
    with pytest.raises(InputError, match="are the same strategy; name it in one way"):
        Experiment(name="x", grid={"lineup": [[one, "uniform"], [other, "uniform"]]}).plan()
    assert len(Experiment(name="x", strategies=[one, "noisy(greedy, eps=0.1)"]).plan().specs) == 2


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
    for text, hint in {
        "foo=5": "unknown key 'foo'; known: against, .*; azulsim rules show lists rules",
        "dealz=5": "unknown key 'dealz'; did you mean 'deals'",
        "bonus.column=5": "unknown key 'bonus.column'; did you mean 'rules.bonus.column'",
        "column=5": "unknown key 'column'; did you mean 'rules.bonus.column'",
        "marker_costs=0": "did you mean 'rules.marker_cost'",
        "rule.bonus.colum=5": "did you mean 'rules.bonus.column'",
    }.items():
        with pytest.raises(InputError, match=f"^--set {text}: .*{hint}"):
            read_experiment(path, overrides=[text])
    data: dict[str, Any] = {"rules": {"bonus": {}}}
    apply_overrides(data, ["rules.bonus.row=1"])
    assert data == {"rules": {"bonus": {}}}, "the given tables are left as they were"


def test_overrides_of_items_of_lists(tmp_path: Path) -> None:
    path = write(tmp_path, TOML)
    for overrides, read in {
        ("strategies.2=alpha(x=3)", "strategies.3=beta"): lambda new: new.strategies == ("alpha", "alpha(x=3)", "beta"),
        ("rules.floor_penalties.7=-9",): lambda new: new.rules.floor_penalties == (-1, -1, -2, -2, -2, -3, -9),
        ("rules=crystal-mosaic", "rules.wall.1=....."): lambda new: new.rules.layout[:2] == (".....", "W...."),
        ("grid.players.1=4",): lambda new: new.grid["players"] == (4, 3),
        ("grid.rules.floor_penalties.3=[-5]",): lambda new: new.grid["rules.floor_penalties"][2] == (-5,),
        ("grid.rules.displays.2=[4, 6]",): lambda new: new.grid["rules.displays.2"] == (4, 6),
        ("grid.'rules.bonus.row'=[0]",): lambda new: new.grid["rules.bonus.row"] == (0,),
        ("rules.displays.2=6",): lambda new: new.rules.displays.two == 6,
        ("question=Why not?",): lambda new: new.question == "Why not?",
    }.items():
        assert read(read_experiment(path, overrides=overrides)), overrides
    for override, message in {
        "strategies.0=beta": "'0' is no item of ['alpha', 'beta']; write a number from 1 to 3",
        "strategies.4=beta": "'4' is no item of ['alpha', 'beta']; write a number from 1 to 3",
        "strategies.x=beta": "'x' is no item of ['alpha', 'beta']; write a number from 1 to 3",
        "strategies=[alpha, beta]": 'not a list or table of TOML; texts in it stand in quotes, as in ["greedy"]',
        "grid.players.1=9": "grid: players: 9 is not a number from 2 to 4",
        "rules=grey": "rules 'grey': neither a named variant nor a TOML file; did you mean 'gray'?",
        "log": "must be KEY=VALUE, such as rules.bonus.column=5",
        "=5": "must be KEY=VALUE, such as rules.bonus.column=5",
        "a b=5": "must be KEY=VALUE, such as rules.bonus.column=5",
        "deals.1.2=5": "'deals' holds 50, which has no keys below it",
        "strategies.1.2=5": "'strategies' holds ['alpha', 'beta'], which has no keys below it",
    }.items():
        with pytest.raises(InputError) as caught:
            read_experiment(path, overrides=["seed=3", override, "deals=9"])
        assert str(caught.value) == f"--set {override}: {message}"


def test_silly_files_are_refused_in_one_sentence(tmp_path: Path) -> None:
    for text, message in {
        f"lineup = {'[' * 9000}": "too many brackets",
        "lineup = ": "not valid TOML",
        "grid = 3": "grid = 3: must be a table of keys",
    }.items():
        with pytest.raises(InputError, match=f"^{tmp_path}/floor.toml: .*{message}"):
            read_experiment(write(tmp_path, text))


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
    questions = (
        "player-count marker-value seat-advantage floor-penalty bonus-values displays gray-or-colored ladder skill"
    )
    assert {"demo", *questions.split()} <= {entry.name for entry in entries}
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


SPECS = st.sampled_from(["alpha", "beta", "alpha(x={x})", "{who}", "alfa", "*", "!greedy", "uniform", "", "{", "a(b"])
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | SPECS | st.dates(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=6,
)
NUMBERS = st.lists(st.integers(-3, 5), max_size=3)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "name": st.sampled_from(["mine", "a b", ""]),
    "seed": st.integers(-1, 1 << 64),
    "deals": st.integers(0, 1 << 33),
    "seatings": st.sampled_from(["full", "cyclic", "all"]),
    "log": st.sampled_from(["games", "moves", "all"]),
    "players": st.lists(st.integers(1, 5), max_size=3),
    "lineup": st.lists(SPECS, max_size=5),
    "strategies": st.lists(SPECS, max_size=5),
    "schedule": st.sampled_from(["round_robin", "gauntlet", "self_play"]),
    "against": st.lists(SPECS, max_size=3),
    "tables": st.integers(0, 5),
    "rules": st.sampled_from(["gray", "grey", "{wall=", {"bonus": {"row": 3}}, {"bonos": 3}]),
    "grid": st.dictionaries(
        st.sampled_from(
            [
                "players",
                "lineup",
                "rules",
                "rules.bonus.row",
                "rules.wall",
                "rules.",
                "rules.bonus",
                "x",
                "who",
                "y",
                "",
            ]
        ),
        NUMBERS | st.lists(SPECS, max_size=3) | st.lists(st.sampled_from(["gray", "standard", "colored"])) | ANYTHING,
        max_size=4,
    ),
    "reports": st.sampled_from([["marker"], ["market"], "marker"]),
}
TABLES = st.fixed_dictionaries({}, optional={key: values | ANYTHING for key, values in VALUES.items()})
NEARLY_RIGHT = st.fixed_dictionaries(
    {"strategies": st.just(["alpha", "alpha(x=2)", "beta"])},
    optional={key: values for key, values in VALUES.items() if key != "strategies"},
)
RIGHT = st.fixed_dictionaries(
    {"strategies": st.lists(st.sampled_from(["alpha", "alpha(x={x})", "{who}"]), min_size=2, max_size=3, unique=True)},
    optional={
        "tables": st.integers(3, 9),
        "deals": st.integers(1, 9),
        "seatings": st.sampled_from(["full", "cyclic"]),
    },
)
GRIDS = st.fixed_dictionaries(
    {"x": st.lists(st.integers(0, 4), min_size=1, max_size=3, unique=True), "who": st.just(["beta", "uniform"])},
    optional={
        "players": st.sampled_from([[2], [3, 4]]),
        "rules": st.just(["standard", "joker", {"bonus": {"column": 3}}]),
        "rules.wall": st.just(["gray", "colored"]),
        "rules.bonus.row": st.lists(st.integers(-9, 9), min_size=1, max_size=2, unique=True),
    },
)


def check_answer(table: dict[str, Any]) -> Plan | str:
    """Check that a table makes an experiment that can be written and read, or is refused in one sentence."""
    made = make_or_complain(lambda: make_experiment(table, where="any.toml").plan(where="any.toml"))
    if isinstance(made, str):
        assert made.startswith("any.toml: ")
        return made
    again = make_experiment({"question": made.experiment.question, **tomllib.loads(made.experiment.to_toml())})
    assert again == made.experiment
    plan = again.plan()
    assert plan.cells == made.cells
    assert plan.n_shards == made.n_shards
    return plan


def make_or_complain(make: Callable[[], T]) -> T | str:
    """Return what is made, or the one sentence of a complaint."""
    try:
        return make()
    except InputError as error:
        sentence = str(error)
    assert "\n" not in sentence
    return sentence


@settings(max_examples=400)
@given(TABLES | NEARLY_RIGHT)
def test_any_table_gives_an_experiment_or_one_sentence(table: dict[str, Any]) -> None:
    check_answer(table)


@settings(max_examples=25)
@given(RIGHT, GRIDS)
def test_any_good_table_gives_the_same_experiment_when_it_is_written_and_read(
    table: dict[str, Any], grid: dict[str, Any]
) -> None:
    specs = "".join(table["strategies"])
    used = {key: values for key, values in grid.items() if key not in ("x", "who") or f"{{{key}}}" in specs}
    plan = check_answer({**table, "grid": used})
    assert isinstance(plan, Plan), plan


@settings(max_examples=200)
@given(st.lists(st.text(max_size=12) | st.sampled_from(["grid", "rules", "players.1"]).map("{}=5".format), max_size=2))
def test_any_override_gives_an_experiment_or_one_sentence(overrides: list[str]) -> None:
    make_or_complain(lambda: make_experiment(apply_overrides(tomllib.loads(TOML), overrides)))


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
