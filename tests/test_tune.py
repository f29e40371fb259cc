"""`tune`: it finds what was planted, says so when nothing is to be found, and depends on nothing but the search."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

from azulsim.errors import InputError, RunError
from azulsim.registry import hash_sources, make_strategy
from azulsim.rules import Rules
from azulsim.tune import Search, Tuning, make_search, tune, vary

STRATEGIES = '''
"""Strategies to be tuned.

Source: these tests. Bad at: the start.
"""
from pathlib import Path

from azulsim.strategy import strategy


@strategy
def upside_down(move, *, floor=-0.5, bold=1.0):
    """Likes its floor line at first; with floor=1 it is greedy."""
    return bold * move.points - floor * move.penalty


@strategy
def superstitious(move, *, luck=1.0):
    """Greedy; among equal moves it prefers the second display to the third, or the third to the second."""
    return move.gain + 1e-6 * luck * ((move.source == 2) - (move.source == 3))


@strategy
def idle(move, *, nothing=1.0):
    """Greedy; its parameter does nothing."""
    return move.gain + 0 * nothing


@strategy
def slow(view, moves, rng, *, floor=0.0):
    """Plain Python; with floor=1 it is greedy."""
    return int((moves.points - floor * moves.penalty).argmax())


@strategy
def hesitant(view, moves, rng):
    """Interrupts whoever waits for it, as long as the file `stop` is there and it has moved 3,000 times."""
    global moved
    moved += 1
    if moved > 3000 and Path("stop").exists():
        raise KeyboardInterrupt
    return int(moves.gain.argmax())


moved = 0


def up(spot, *, tall=0.0):
    return spot.points + tall * spot.column_tiles


@strategy(place=up)
def placer(move, *, tall=0.0):
    """Greedy with a place of its own."""
    return move.gain
'''


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("strategies") / "subjects.py"
    path.write_text(STRATEGIES)
    return path


@pytest.fixture(scope="module")
def planted(file: Path) -> tuple[Tuning, Path]:
    """A search for a floor weight that starts with the wrong sign."""
    out = file.parent / "planted.toml"
    search = Search(
        strategy=f"{file}:upside_down",
        against=["greedy", "short_liner"],
        only=["floor"],
        generations=12,
        deals=40,
        validation_deals=400,
        seed=5,
    )
    return tune(search, out=out, jobs=2, command="azulsim tune ..."), out


def small(file: Path, **changes: object) -> Search:
    """Return a search of seconds."""
    settings = {"strategy": f"{file}:upside_down", "against": ["greedy"], "generations": 3, "deals": 5}
    return Search(**{**settings, "validation_deals": 20, "population": 6, **changes})


# ---- what it finds


def test_a_planted_optimum_is_found_and_validated(planted: tuple[Tuning, Path]) -> None:
    result, _ = planted
    assert 0.4 < result.weights["floor"] < 3
    assert result.weights["bold"] == 1.0
    assert result.is_improvement
    assert result.verdict.startswith("improved")
    against_greedy = result.matches[0]
    assert against_greedy.start.high < 0.1
    assert against_greedy.found.low > 0.35
    assert against_greedy.gain.value == pytest.approx(against_greedy.found.value - against_greedy.start.value)
    assert result.head_to_head.low > 0.9


def test_no_signal_is_reported_as_no_improvement(file: Path) -> None:
    result = tune(small(file, strategy=f"{file}:superstitious", scale={"luck": 5.0}, deals=20, validation_deals=600))
    assert not result.is_improvement
    assert result.verdict.startswith("no improvement seen")
    assert "keep the start" in str(result)
    assert result.gain.low < 0 < result.gain.high


def test_what_got_worse_is_called_worse(file: Path) -> None:
    bounds = {"floor": (-1.0, -0.2)}  # the start is the best of this range
    result = tune(
        small(file, bounds=bounds, start={"floor": -0.2}, only=["floor"], generations=1, validation_deals=500)
    )
    assert not result.is_improvement
    assert -1.0 <= result.weights["floor"] < -0.2
    assert "keep the start" in result.verdict


def test_parameters_that_change_nothing_are_not_searched_for_long(file: Path) -> None:
    with pytest.raises(RunError, match="nothing changed no game"):
        tune(small(file, strategy=f"{file}:idle"))


def test_a_place_has_parameters_to_tune_where_there_is_a_choice(file: Path) -> None:
    search = small(file, strategy=f"{file}:placer", rules=Rules(wall="gray"))
    assert set(tune(search).weights) == {"tall"}
    with pytest.raises(RunError, match="tall changed no game"):
        tune(small(file, strategy=f"{file}:placer"))


def test_plain_strategies_can_be_tuned(file: Path) -> None:
    result = tune(small(file, strategy=f"{file}:slow", generations=4, deals=3))
    assert result.spec == f"{file}:slow(floor={result.weights['floor']:g})"
    assert result.weights["floor"] > 0


@pytest.mark.parametrize("objective", ["win_share", "both"])
def test_other_objectives_and_more_players(file: Path, objective: str) -> None:
    result = tune(small(file, players=3, objective=objective, generations=5, deals=20, validation_deals=100))
    assert result.head_to_head.value > 1 / 3
    assert ".333 is fair" in str(result)


def test_wrappers_stay_around_what_is_tuned(file: Path) -> None:
    result = tune(small(file, strategy=f"noisy({file}:upside_down(bold=2), eps=0.25)", only=["floor"]))
    floor = result.weights["floor"]
    assert result.spec == f"noisy({file}:upside_down(bold=2, floor={floor:g}), eps=0.25)"


# ---- what it depends on


def test_the_result_depends_neither_on_jobs_nor_on_an_interruption(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    search = small(file, against=[f"{file}:hesitant"], validation_deals=5)
    (tmp_path / "stop").touch()
    with pytest.raises(KeyboardInterrupt) as stop:
        tune(search, out="w.toml")
    assert "w.toml.part" in stop.value.__notes__[0]
    part = (tmp_path / "w.toml.part").read_text()
    assert len(part.splitlines()) > 1
    (tmp_path / "w.toml.part").write_text(part + "[1.0, 2.")  # as if stopped while writing
    (tmp_path / "stop").unlink()
    resumed = tune(search, out="w.toml", jobs=2)
    at_once = tune(search, out="again.toml")
    assert resumed.to_dict() == {**at_once.to_dict(), "file": "w.toml"}
    assert (tmp_path / "w.toml").read_bytes() == (tmp_path / "again.toml").read_bytes()
    assert not list(tmp_path.glob("*.part"))


def test_another_seed_searches_otherwise(file: Path) -> None:
    assert tune(small(file)).weights != tune(small(file, seed=1)).weights


def test_generations_have_deals_of_their_own_and_the_validation_too() -> None:
    search = Search(strategy="column_builder", against=["greedy"], generations=30, deals=7, validation_deals=11)
    ranges = [*map(search.deals_of, range(30)), search.held_out()]
    deals = [deal for part in ranges for deal in part]
    assert deals == [*range(len(deals))]
    assert [len(ranges[0]), len(ranges[29]), len(ranges[30])] == [7, 28, 11]


def test_candidates_share_compiled_code_and_not_their_parameters() -> None:
    one = make_strategy("column_builder")
    assert one.address
    other = vary(one, {"love": 3.0})
    assert other.address == one.address
    assert other.spec == "column_builder(love=3)"
    assert vary(other, {"love": 0.5}).spec == "column_builder(love=0.5)"  # said, though it is the default
    assert np.array_equal(one.param_array, [0.5])
    assert np.array_equal(other.param_array, [3.0])


# ---- the file


def test_the_file_of_weights_says_where_they_come_from(planted: tuple[Tuning, Path], file: Path) -> None:
    result, out = planted
    told = tomllib.loads(out.read_text())
    assert told["spec"] == result.spec
    assert make_strategy(told["spec"]).params == told["weights"] == dict(result.weights)
    assert told["start"] == {"floor": -0.5, "bold": 1.0}
    assert told["verdict"] == result.verdict
    search = told["search"]
    assert search["sources"][f"{file}:upside_down"] == hash_sources(f"{file}:upside_down")
    assert {"greedy", "short_liner"} <= set(search["sources"])
    assert search["command"] == "azulsim tune ..."
    assert (search["seed"], search["generations"], search["deals"], search["deals_last"]) == (5, 12, 40, 160)
    assert search["rules"] == {}
    first, *_ = told["validation"]["against"]
    assert first["opponent"] == "greedy"
    assert first["found"][1] < first["found"][0] < first["found"][2]
    assert told["validation"]["first_deal"] == result.search.held_out().start


def test_a_file_that_is_there_is_not_overwritten(planted: tuple[Tuning, Path]) -> None:
    result, out = planted
    with pytest.raises(InputError, match="is there already"):
        tune(result.search, out=out)


def test_a_state_of_another_search_is_refused(file: Path, tmp_path: Path) -> None:
    (tmp_path / "w.toml.part").write_text('{"azulsim": "0"}\n')
    with pytest.raises(InputError, match="holds another search"):
        tune(small(file), out=tmp_path / "w.toml")


# ---- what is refused


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"strategy": "uniform"}, "uniform: has no parameters to tune"),
        ({"strategy": "column_builder", "only": ["lov"]}, "only: column_builder has no parameter 'lov'; did you mean"),
        ({"strategy": "column_builder", "fix": ["love"]}, "nothing is left to search"),
        ({"strategy": "column_builder", "start": {"x": 1.0}}, "start: column_builder has no parameter 'x'"),
        ({"strategy": "column_builder", "only": ["love"], "fix": ["love"]}, "only, fix: both name 'love'"),
        (
            {"strategy": "column_builder", "bounds": {"love": (1.0, 2.0)}},
            "love starts at 0.5, which must lie in 1 to 2",
        ),
        ({"strategy": "no_such_player"}, "unknown strategy 'no_such_player'"),
        ({"against": ["no_such_player"]}, "unknown strategy 'no_such_player'"),
    ],
)
def test_bad_searches_are_refused_in_a_sentence(file: Path, changes: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        tune(small(file, **changes))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"against": []}, "against"),
        ({"start": ["love"]}, "--set 'love': write name=value"),
        ({"start": ["love=much"]}, "'much' is no number"),
        ({"bounds": ["love=1"]}, "write love=low:high"),
        ({"scale": ["love=-1"]}, "scale"),
        ({"players": 5}, "players = 5"),
    ],
)
def test_bad_words_are_refused_in_a_sentence(words: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make_search(**{"strategy": "column_builder", "against": ["greedy"], **words})


def test_a_strategy_that_fails_ends_the_search(file: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text(STRATEGIES + "\n\n@strategy\ndef breaks(move, *, x=1.0):\n    return move.gain / (move.tiles - 2)\n")
    with pytest.raises(RunError, match=r"breaks.* failed in deal"):
        tune(small(file, strategy=f"{bad}:breaks"))


# ---- the command


def test_the_command_prints_a_spec_and_writes_the_file(file: Path, tmp_path: Path) -> None:
    words = ["tune", f"{file}:upside_down", "--against", "greedy", "--only", "floor", "--bounds", "floor=-2:2"]
    words += ["--generations", "2", "--deals", "4", "--validation-deals", "10", "--json", "-o", "w.toml"]
    code = [sys.executable, "-c", "from azulsim.cli import main; main()"]
    done = subprocess.run([*code, *words], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    told, kept = json.loads(done.stdout), tomllib.loads((tmp_path / "w.toml").read_text())
    assert told["spec"] == kept["spec"]
    assert told["weights"] == kept["weights"]
    assert kept["search"]["command"].startswith("azulsim tune ")
    assert "generation 2/2" in done.stderr
