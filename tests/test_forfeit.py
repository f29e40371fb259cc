"""Games that are forfeited: where a strategy fails, it loses, and the others share the win."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playing import as_strategy, assert_same, make_block
from test_cli import Command, azul
from test_replay import change_cell

import azulsim
from azulsim import log, metrics, runner
from azulsim.arena import Block, Tables, play_block
from azulsim.errors import InputError
from azulsim.log.outcomes import read_outcome
from azulsim.replay import replay_game, verify_run
from azulsim.report import build_report
from azulsim.rules import Rules, Termination
from azulsim.schema import GAMES, TABLES
from azulsim.strategy import strategy, where

__all__ = ["azul"]

SEEN: list[tuple[int, list[int], int]] = []
"""Seat, scores and round where `raises` failed."""


@strategy
def raises(view: Any, moves: Any, rng: Any) -> int:
    """Raise in later rounds, where the center is full."""
    if view.round > 2 and len(view.center) > 3 * view.players + 3:
        SEEN.append((view.seat, list(view.scores), view.round))
        raise ValueError("too much")
    return 0


@strategy
def answers_badly(view: Any, moves: Any, rng: Any) -> int:
    return len(moves) if view.round > 2 and len(view.center) > 9 else 0


@strategy
def is_no_number(move: Any) -> Any:
    """Give no number to a move that brings much."""
    return where(move.gain > 8, float("nan"), move.gain)


@strategy
def divides(move: Any) -> Any:
    return move.gain + 1.0 / (move.gain - 7)


def nan_place(spot: Any) -> Any:
    return where(spot.row_tiles > 2, float("nan"), 0.0)


@strategy(place=nan_place)
def misplaces(move: Any) -> Any:
    return move.gain


def raising_place(spot: Any) -> Any:
    return 1.0 / (spot.row_tiles - 3)


@strategy(place=raising_place)
def raises_late(move: Any) -> Any:
    return move.gain


@strategy
def plain(view: Any, moves: Any, rng: Any) -> int:
    return 0


def play(block: Block, players: list[Any], **options: Any) -> Tables:
    return play_block(block, strategies=[as_strategy(player, options.get("speed")) for player in players])


def check(block: Block, tables: Tables, without: Tables) -> list[dict[str, Any]]:
    """Check forfeited games against their failures, and all others against a run that leaves deals out."""
    assert tables.failures == without.failures
    failed = {failure["game"]: failure for failure in tables.failures}
    for name in ("rounds", "moves"):
        assert not np.isin(getattr(tables, name)["game"], list(failed)).any()
    kept = {int(game) for game in without.games["game"]}
    for name in ("games", "rounds", "moves"):
        rows = getattr(tables, name)
        np.testing.assert_array_equal(rows[np.isin(rows["game"], list(kept))], getattr(without, name))
    games = tables.games.reshape(-1, block.players)
    assert len(games) == block.n_deals * len(block.seatings)
    assert np.all(np.diff(games["game"][:, 0]) > 0)
    forfeited = games[games["termination"][:, 0] == Termination.FORFEIT]
    assert forfeited["game"][:, 0].tolist() == sorted(failed)
    for rows in forfeited:
        failure = failed[int(rows["game"][0])]
        loser = np.arange(block.players) == failure["seat"]
        np.testing.assert_array_equal(rows["placement"], np.where(loser, block.players, 1))
        np.testing.assert_array_equal(rows["win_share"], np.where(loser, 0, 1 / (block.players - 1)))
        assert set(rows["plies"]) == {failure["ply"]}
        assert not any(rows[name].any() for name in ("rows", "columns", "colors", "bonus_points", "is_ender"))
        np.testing.assert_array_equal(rows["score"], rows["wall_points"] - rows["floor_paid"])
    return tables.failures


@pytest.mark.parametrize("players", [2, 3, 4])
def test_whoever_fails_loses_and_the_others_share_the_win(players: int) -> None:
    line_up = [raises, *["greedy"] * (players - 1)]
    seatings = [np.roll(range(players), turn).tolist() for turn in range(players)]
    block = make_block(["raises", *["greedy"] * (players - 1)], deals=12, seatings=seatings)
    without = play(block, line_up)
    SEEN.clear()
    tables = play(replace(block, forfeits=True), line_up)
    failures = check(block, tables, without)
    assert 3 < len(failures) < block.n_deals * players
    assert {failure["kind"] for failure in failures} == {"raised"}
    rows = {int(row["game"]): row for row in tables.games.reshape(-1, players)[:, 0]}
    seats = tables.games.reshape(-1, players)
    scores = {int(game["game"][0]): game["score"].tolist() for game in seats}
    told = sorted((failure["seat"], scores[failure["game"]], int(rows[failure["game"]]["rounds"]) + 1)
                  for failure in failures)  # fmt: skip
    assert told == sorted(SEEN)


@pytest.mark.parametrize(
    ("players", "kind"),
    [
        ([answers_badly, "greedy"], "bad_answer"),
        ([is_no_number, "greedy"], "not_a_number"),
        ([is_no_number, is_no_number, "greedy"], "not_a_number"),
        ([divides, "greedy", "uniform", "greedy"], "raised"),
    ],
)
def test_every_kind_of_failure_is_forfeited_at_every_speed(players: list[Any], kind: str) -> None:
    n = len(players)
    seatings = [np.roll(range(n), turn).tolist() for turn in range(n)]
    names = [player if isinstance(player, str) else player.name for player in players]
    block = make_block(names, deals=15, seatings=seatings)
    tables = play(replace(block, forfeits=True), players)
    failures = check(block, tables, play(block, players))
    assert {failure["kind"] for failure in failures} == {kind}
    if kind == "not_a_number":
        for speed in ("batched", "plain"):
            slow = play(replace(block, forfeits=True), players, speed=speed)
            assert_same(tables, slow)
            assert slow.failures == tables.failures


@pytest.mark.parametrize(("bad", "kind"), [(misplaces, "not_a_number"), (raises_late, "raised")])
@pytest.mark.parametrize("other", ["greedy", plain], ids=["compiled", "lockstep"])
def test_a_tile_that_is_not_placed_forfeits_and_its_round_does_not_count(bad: Any, kind: str, other: Any) -> None:
    block = make_block(["bad", "other"], deals=10, rules=Rules(wall="gray"), seatings=[[0, 1], [1, 0]])
    tables = play(replace(block, forfeits=True), [bad, other])
    failures = check(block, tables, play(block, [bad, other]))
    assert {failure["kind"] for failure in failures} == {kind}
    assert all(failure["seat"] == failure["seating"] for failure in failures), "it is blamed on whoever places"


# Runs

BAD = '''"""Fails late."""
import ctypes
from azulsim.strategy import strategy


def is_late(view):
    return view.round > 1 and len(view.center) > 3 * view.players + 3


@strategy
def raises(view, moves, rng):
    return 1 // 0 if is_late(view) else 0


@strategy
def crashes(view, moves, rng):
    if is_late(view) and view.seat == 0:
        ctypes.string_at(0)
    return 0


@strategy
def loops(view, moves, rng):
    while is_late(view) and view.seat == 0:
        pass
    return 0
'''


def run(folder: Path, lineups: list[list[str]], out: str, **options: Any) -> log.Run:
    (folder / "bad.py").write_text(BAD)
    lineups = [[f"{folder}/bad.py:{lineup[0]}", *lineup[1:]] for lineup in lineups]
    values: dict[str, Any] = {"name": "forfeit", "deals": options.pop("deals", 20), "seed": 3, "log": "moves"}
    values["log"] = options.pop("log", "moves")
    experiment = azulsim.Experiment(grid={"lineup": lineups}, **values)
    return runner.run(experiment, out=folder / out, progress=False, **{"on_failure": "forfeit", **options})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the runs of a strategy that raises, at 2, 3 and 4 players."""
    folder = tmp_path_factory.mktemp("forfeit")
    run(folder, [["raises", *["greedy"] * more] for more in (1, 2, 3)], "run", jobs=2)
    return folder


together = pytest.mark.xdist_group("forfeit")


@together
def test_a_run_keeps_all_deals_says_so_and_is_checked(folder: Path, azul: Command) -> None:
    done = azulsim.read_run(folder / "run")
    assert done.manifest.on_failure == "forfeit"
    assert (done.n_deals_left_out, done.n_forfeits) == (0, done.n_failures)
    assert 20 < done.n_failures < done.n_games == 20 * (2 + 3 + 4)
    assert (done.games()["termination"] == "FORFEIT").sum() == sum(
        {0: 2, 1: 3, 2: 4}[cell] for cell in done.failures()["cell"]
    )
    assert verify_run(done.path).is_good
    told = f"{done.n_failures} games of {done.n_games} failed and were forfeited"
    assert told in str(log.read_status(done.path))
    assert told in build_report(done, "ranking").page.read_text("utf-8")
    failure = done.failures().iloc[0]
    with pytest.raises(InputError, match=r"so that its moves are not in the log: .*raises"):
        replay_game(done.path, int(failure["game"]))
    whole = done.games(filters={"deal": int(failure["deal"])})
    whole = whole[whole["termination"] != "FORFEIT"]
    if len(whole):
        replay_game(done.path, int(whole["game"].iloc[0]))
    again = azul("resume", str(done.path))
    assert again.code == 1
    assert told in again.err


@together
def test_another_policy_is_another_run(folder: Path) -> None:
    lineups = [["raises", *["greedy"] * more] for more in (1, 2, 3)]
    same = run(folder, lineups, "run", on_failure=None)
    assert same.manifest.on_failure == "forfeit"
    for other in ("leave-out", "abort"):
        with pytest.raises(InputError, match="on_failure: 'forfeit' there, 'leave-out' now"):
            run(folder, lineups, "run", on_failure=other)
    with pytest.raises(InputError, match="on_failure = 'weep': must be leave-out, abort, forfeit"):
        run(folder, lineups, "other", on_failure="weep")


@together
def test_only_win_shares_and_places_count_a_forfeited_game(folder: Path) -> None:
    done = azulsim.read_run(folder / "run")
    games = done.games()
    bad = games[games["spec"].str.endswith("raises")]
    whole = bad[bad["termination"] != "FORFEIT"]
    found = metrics.summarize(done, ["win_share", "score"], by=["players", "spec"])
    mine = found[found["spec"].astype(str).str.endswith("raises")]
    for players in (2, 3, 4):
        here = {row["outcome"]: row for row in mine[mine["players"] == players].to_dict("records")}
        all_, ended = bad[bad["players"] == players], whole[whole["players"] == players]
        assert here["win_share"]["estimate"] == pytest.approx(all_["win_share"].mean())
        assert here["win_share"]["n"] == len(all_)
        assert here["score"]["estimate"] == pytest.approx(ended["score"].mean())
        assert here["score"]["n"] == len(ended)
    for outcome, rows in {"win_share": bad, "score": whole}.items():
        values = read_outcome(done, outcome, deals=20)  # type: ignore[arg-type]
        means = rows[rows["players"] == 2].groupby("deal")[outcome].mean()
        np.testing.assert_allclose(values[0], means)


@together
@pytest.mark.parametrize("column", [c.name for c in GAMES.columns if c.name not in ("floor_loss", "marker_takes")])
def test_a_tampered_cell_of_a_forfeited_game_is_found(folder: Path, tmp_path: Path, column: str) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(folder / "run", copy)
    games = azulsim.read_run(copy).games(filters={"cell": 2})
    row = int(np.flatnonzero(games["termination"] == "FORFEIT")[0])
    change_cell(copy, TABLES["games"], column, row)
    assert not verify_run(copy).is_good


@together
@pytest.mark.parametrize("depth", ["games", "rounds"])
def test_less_deep_logs_are_checked_too(tmp_path: Path, depth: str) -> None:
    done = run(tmp_path, [["raises", "greedy"]], "run", jobs=1, log=depth, deals=6)
    assert done.n_forfeits
    assert verify_run(done.path).is_good


def test_results_do_not_depend_on_the_number_of_workers(folder: Path, tmp_path: Path) -> None:
    lineups = [["raises", *["greedy"] * more] for more in (1, 2, 3)]
    shutil.copy(folder / "run" / "manifest.json", tmp_path)
    first = json.loads((tmp_path / "manifest.json").read_text())
    assert first["on_failure"] == "forfeit"
    shutil.rmtree(folder / "again", ignore_errors=True)
    assert run(folder, lineups, "again", jobs=1).hashes == azulsim.read_run(folder / "run").hashes


def test_a_game_whose_process_dies_or_hangs_is_forfeited(tmp_path: Path) -> None:
    done = run(tmp_path, [["crashes", "greedy"], ["loops", "greedy"]], "run", jobs=2, deals=1, timeout=1.5)
    failures = done.failures()
    assert failures["kind"].tolist() == ["crashed", "timeout"]
    assert (failures["seat"] == 0).all()
    assert (failures["ply"] > 10).all()
    games = done.games(filters={"game": failures["game"].tolist()})
    assert games["win_share"].tolist() == [0.0, 1.0] * 2
    assert (games["plies"].to_numpy()[::2] == failures["ply"].to_numpy()).all()
    assert (games["rounds"] >= 1).all()
    assert done.n_games == 4
    assert verify_run(done.path).is_good


def test_games_cannot_be_played_on_from_a_forfeit(tmp_path: Path) -> None:
    experiment = azulsim.Experiment(lineup=["greedy", "uniform"], probes={"tempo": {"rounds": [2]}})
    with pytest.raises(InputError, match="nothing can be played on from a forfeited game"):
        runner.run(experiment, out=tmp_path / "run", on_failure="forfeit")
