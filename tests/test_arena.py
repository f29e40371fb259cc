"""Blocks of deals: the log is the reference's, to the last column; failures cost their own deal and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playing import TABLES, assert_same, make_block, play, replay_in_reference, rows_of
from reference import Reference
from test_engine import draw_as_the_engine

import azulsim
from azulsim.arena import TABLE_NAMES, Tables, join_tables, lockstep, play_block
from azulsim.engine.luck import DEAL_DOMAIN, game_key, root_key
from azulsim.engine.record import ALLOWED, GAME
from azulsim.errors import RunError
from azulsim.rules import VARIANTS, Bonus, Displays, Rules, Termination
from azulsim.strategy import Definition, strategy
from azulsim.strategy.toolbox import count_moves, nth_move

PRINTED = Rules()
HOUSE = Rules(
    displays=Displays(two=7, three=9, four=11),
    tiles_per_display=5,
    tiles_per_color=13,
    floor_penalties=(-1, -3, -2),
    bonus=Bonus(row=-3, column=5, color=20),
    starter_bonus=2,
    marker_on_full_floor="replace_last",
    lid_refill="eager",
    unclaimed_marker="rotate",
    max_rounds=6,
)
MOSAIC = Rules.model_validate(
    VARIANTS["crystal-mosaic"].model_dump()
    | {"joker_tiles": True, "joker_overflow": "choose", "marker_cost": 2, "next_starter": "lottery", "max_rounds": 8}
)
GRAY = Rules(wall="gray", gray_may_decline=True, score_clamp=False, rows_to_end=2, max_rounds=8)
SCARCE = Rules(tiles_per_color=4, tiles_per_display=3, floor_penalties=(), starter_bonus=-2, max_rounds=9)


@strategy
def first_of_all(view: Any, moves: Any, rng: Any) -> int:
    """Lockstep play that draws luck of its own."""
    return int(rng.integers(len(moves))) if rng.random() < 0.5 else int(moves.gain.argmax())


def away_from_others(spot: Any, *, shy: float = 1.0) -> float:
    """A placing of its own: few neighbors, far to the right; declines where it would touch."""
    return shy * (spot.column - 3 * (spot.across + spot.down)) if spot.column > 0 else -15.0


@strategy(place=away_from_others)
def contrarian(move: Any, *, shy: float = 1.0) -> float:
    """Likes what others leave."""
    return move.tiles - shy * move.gain


@pytest.mark.parametrize(
    "rules", [PRINTED, HOUSE, SCARCE, GRAY, MOSAIC], ids=["printed", "house", "scarce", "gray", "mosaic"]
)
@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("is_lockstep", [False, True], ids=["compiled", "lockstep"])
def test_log_is_what_the_reference_says(players: int, rules: Rules, is_lockstep: bool) -> None:
    names = ["uniform", "greedy", contrarian, "hoarder"][:players]
    lineup: list[Any] = [*names[:-1], first_of_all] if is_lockstep else names
    seatings = [range(players), [1, 0, *range(2, players)]]
    options: dict[str, Any] = {"seatings": seatings, "rules": rules, "first": 7, "cell": 3, "denial": players == 3}
    tables = play(*lineup, **options)
    block = make_block([str(getattr(player, "name", player)) for player in lineup], **options)
    games = np.unique(tables.games["game"])
    assert len(games) == 8
    assert not tables.failures
    for game in games.tolist():
        replay_in_reference(block, tables, game)


def test_scarce_games_meet_short_displays_and_the_end_of_the_tiles() -> None:
    """The rules above do reach the rare rows that the comparison is for."""
    tables = play("uniform", players=4, rules=SCARCE)
    assert tables.rounds["is_short"].any()
    assert b"." in b"".join(tables.rounds["displays"].tolist())
    tables = play("row_builder", players=4, rules=SCARCE, deals=40)
    assert Termination.NO_TILES in tables.games["termination"]


def test_shallower_logs_leave_out_tables_and_change_nothing_else() -> None:
    full = play("greedy", "uniform", depth="moves")
    for depth, kept in (("rounds", ("games", "rounds")), ("games", ("games",))):
        tables = play("greedy", "uniform", depth=depth)
        assert_same(tables, full, kept)
        assert [len(getattr(tables, name)) for name in TABLES if name not in kept] == [0] * (3 - len(kept))


def test_rows_come_in_canonical_order() -> None:
    for tables in (play("greedy", "uniform", seatings=[(0, 1), (1, 0)]), play(first_of_all, "uniform", deals=9)):
        for name, key in (
            ("games", ["game", "seat"]),
            ("rounds", ["game", "round", "seat"]),
            ("moves", ["game", "ply"]),
        ):
            rows = getattr(tables, name)[key].tolist()
            assert rows == sorted(set(rows))


# ---- games do not depend on how they are grouped


@pytest.mark.parametrize("second", ["uniform", first_of_all], ids=["compiled", "lockstep"])
def test_one_block_is_two_blocks(second: Any) -> None:
    seatings = [(0, 1), (1, 0)]
    whole = play("greedy", second, deals=10, seatings=seatings)
    parts = [play("greedy", second, deals=5, first=first, seatings=seatings) for first in (0, 5)]
    assert_same(whole, join_tables(make_block(["greedy", "second"], deals=10, seatings=seatings), parts))


def test_the_width_of_the_lockstep_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    results = []
    for width in (1, 3, 256):
        monkeypatch.setattr(lockstep, "LOCKSTEP", width)
        results.append(play(first_of_all, "greedy", deals=7, seatings=[(0, 1), (1, 0)]))
    assert_same(results[0], results[1])
    assert_same(results[0], results[2])


def test_compiled_players_play_the_same_in_lockstep() -> None:
    """One plain player in the line-up sends all to the lockstep; games without it in a seat stay the same."""
    seatings = [(0, 1), (1, 0)]
    alone = play("greedy", "uniform", deals=6, seatings=seatings)
    beside = play("greedy", "uniform", first_of_all, deals=6, players=2, seatings=seatings)
    assert_same(alone, beside)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_buffers_grow_as_long_games_ask(players: int) -> None:
    """Play that only fills floors never ends a game: 100 rounds, far beyond the rows set aside at first."""
    for player in (floor_compiled, floor_plain):
        tables = play(player, players=players, deals=2)
        assert set(tables.games["termination"]) == {Termination.ROUND_LIMIT}
        assert set(tables.games["rounds"]) == {100}
        assert len(tables.moves) == tables.games["plies"][::players].sum()


@strategy(reads_only=True)
def floor_compiled(scratch: Any, moves: Any, key: Any, params: Any, workspace: Any) -> int:
    """The first move, which is to the floor."""
    return nth_move(scratch, moves, 0)


@strategy
def floor_plain(view: Any, moves: Any, rng: Any) -> int:
    """Any move to the floor."""
    return int((moves.line == 0).argmax())


# ---- failures

KINDS = {
    "raises": "raised",
    "exits": "raised",
    "none": "bad_answer",
    "float": "bad_answer",
    "text": "bad_answer",
    "negative": "bad_answer",
    "large": "bad_answer",
}


def make_faulty(how: str) -> Definition:
    """A plain strategy that plays the first move, until a certain position makes it fail."""

    @strategy
    def faulty(view: Any, moves: Any, rng: Any) -> Any:
        if view.round == 2 and view.displays[0].count("B") == 2:
            if how == "raises":
                raise ValueError("no idea\nwhat to do")
            if how == "exits":
                raise SystemExit("enough")
            return {"none": None, "float": 3.5, "text": "x", "negative": -1, "large": len(moves)}[how]
        return 0

    return faulty


@strategy
def faultless(view: Any, moves: Any, rng: Any) -> int:
    """What the faulty one would play."""
    return 0


@strategy(reads_only=True)
def illegal_compiled(scratch: Any, moves: Any, key: Any, params: Any, workspace: Any) -> int:
    """Answer with a number that is no legal move, now and then."""
    return 4095 if key % np.uint64(200) == 0 else nth_move(scratch, moves, 0)


@strategy(reads_only=True)
def raising_compiled(scratch: Any, moves: Any, key: Any, params: Any, workspace: Any) -> int:
    """Raise, now and then."""
    if key % np.uint64(200) == 0:
        raise ValueError("no idea")
    return nth_move(scratch, moves, 0)


def assert_only_failed_deals_are_missing(broken: Tables, sound: Tables) -> set[int]:
    """All tables are those of sound play without the deals that failed; return those."""
    deals = {failure["deal"] for failure in broken.failures}
    assert deals
    assert deals < set(sound.games["deal"].tolist())
    parts = {}
    for name in TABLE_NAMES:
        table = getattr(sound, name)
        parts[name] = table[~np.isin((table["game"] >> 8) & 0xFFFFFFFF, list(deals))]
    assert_same(broken, Tables(**parts))
    return deals


@pytest.mark.parametrize("how", list(KINDS))
def test_a_failing_player_costs_its_deals_and_nothing_else(how: str) -> None:
    seatings = [(0, 1), (1, 0)]
    sound = play(faultless, "greedy", deals=12, seatings=seatings, cell=2)
    broken = play(make_faulty(how), "greedy", deals=12, seatings=seatings, cell=2)
    assert_only_failed_deals_are_missing(broken, sound)
    for failure in broken.failures:
        assert failure["kind"] == KINDS[how]
        assert failure["spec"] == "faulty"
        assert seatings[failure["seating"]][failure["seat"]] == 0
        assert failure["game"] == 2 << 40 | failure["deal"] << 8 | failure["seating"]
        row = rows_of(sound.moves, failure["game"])[failure["ply"]]
        assert (row["round"], row["seat"]) == (2, failure["seat"])
        assert "\n" not in failure["message"]
        assert failure["message"]
    assert [failure["game"] for failure in broken.failures] == sorted({f["game"] for f in broken.failures})


def test_a_player_that_is_interrupted_stops_the_run() -> None:
    @strategy
    def interrupted(view: Any, moves: Any, rng: Any) -> int:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        play(interrupted, "greedy")


class TextlessError(Exception):
    """An error that cannot even be told."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


@pytest.mark.parametrize(
    ("error", "said"),
    [(ValueError("bad \udc80 text"), r"ValueError: bad \udc80 text"), (TextlessError(), "TextlessError: (no text)")],
    ids=["surrogate", "textless"],
)
def test_an_error_that_cannot_be_told_costs_its_games_only(error: Exception, said: str) -> None:
    @strategy
    def awkward(view: Any, moves: Any, rng: Any) -> int:
        raise error

    failures = play(awkward, "greedy", deals=2).failures
    assert {failure["message"] for failure in failures} == {said}


@pytest.mark.parametrize("value", [SystemExit("enough"), ValueError("no idea")])
def test_a_score_that_exits_costs_its_games(value: BaseException) -> None:
    @strategy
    def leaver(move: Any) -> float:
        raise value  # an object from outside: neither compiled nor taken in columns, so plain Python is left

    tables = play(leaver, "greedy", deals=2)
    assert [(failure["kind"], failure["message"].partition(":")[0]) for failure in tables.failures] == [
        ("raised", type(value).__name__)
    ] * 2


@pytest.mark.parametrize(("player", "kind"), [(illegal_compiled, "illegal_move"), (raising_compiled, "raised")])
@pytest.mark.parametrize("is_lockstep", [False, True], ids=["compiled", "lockstep"])
def test_a_failing_compiled_player_costs_its_deals_in_both_drivers(
    player: Definition, kind: str, is_lockstep: bool
) -> None:
    beside: list[Any] = [first_of_all] if is_lockstep else []
    options: dict[str, Any] = {"deals": 20, "players": 2, "seatings": [(0, 1), (1, 0)]}
    sound = play(floor_compiled, "greedy", *beside, **options)
    broken = play(player, "greedy", *beside, **options)
    assert_only_failed_deals_are_missing(broken, sound)
    assert {failure["kind"] for failure in broken.failures} == {kind}
    for failure in broken.failures:
        assert rows_of(sound.moves, failure["game"])[failure["ply"]]["seat"] == failure["seat"]


def test_failures_are_the_same_in_both_drivers() -> None:
    options: dict[str, Any] = {"deals": 20, "players": 2, "seatings": [(0, 1), (1, 0)]}
    for player in (illegal_compiled, raising_compiled):
        alone = play(player, "greedy", **options)
        beside = play(player, "greedy", first_of_all, **options)
        assert alone.failures == beside.failures


def test_a_deal_that_finds_no_tiles_is_an_error_if_the_rules_say_so() -> None:
    for player in ("row_builder", first_of_all):
        rules = Rules(tiles_per_color=4, tiles_per_display=3, floor_penalties=(), no_tiles="error")
        with pytest.raises(RunError, match=r'cannot be dealt.*no_tiles = "error"'):
            play(player, players=4, rules=rules, deals=60)


# ---- memory and copies of compiled moves


@strategy(workspace=16)
def counting(scratch: Any, moves: Any, key: Any, params: Any, workspace: Any) -> int:
    """Play the move numbered by how often it was asked in this game."""
    workspace[0] += 1
    return nth_move(scratch, moves, workspace[0] % count_moves(scratch, moves))


@strategy
def vandal(view: Any, moves: Any, rng: Any) -> int:
    """Change everything it is shown, then play like `faultless`."""
    view._game["score"][:] = 99
    view._game["bag"] = 0
    view.walls[0][0] = "BYRKW"
    view.scores[0] = -5
    view.displays.clear()
    moves.gain[:] = 7
    view.lid.clear()
    return 0


@strategy(params={"damage": 1.0})
def vandal_compiled(scratch: Any, moves: Any, key: Any, params: Any, workspace: Any) -> int:
    """Change the position it is given (a copy), then play the first move."""
    scratch.score[0] = 99
    scratch.bag = 0
    scratch.sources[1] = 0
    return nth_move(scratch, moves, 0)


@pytest.mark.parametrize("is_lockstep", [False, True], ids=["compiled", "lockstep"])
def test_own_memory_starts_empty_in_every_game(is_lockstep: bool) -> None:
    beside: list[Any] = [first_of_all] if is_lockstep else []
    options: dict[str, Any] = {"players": 2, "seatings": [(0, 1), (1, 0), (0, 0)]}
    whole = play(counting, "greedy", *beside, deals=5, **options)
    for deal in range(5):
        alone = play(counting, "greedy", deals=1, first=deal, **options)
        for name in TABLES:
            table = getattr(whole, name)
            part = table[(table["game"] >> 8) & 0xFFFFFFFF == deal]
            assert part.tolist() == getattr(alone, name).tolist()


def test_what_a_strategy_does_to_its_view_changes_nothing() -> None:
    assert_same(play(vandal, "greedy"), play(faultless, "greedy"))
    assert_same(play(vandal_compiled, "greedy"), play(floor_compiled, "greedy"))


def test_no_key_is_in_what_a_strategy_sees() -> None:
    assert not [name for name in (*(GAME.names or ()), *(ALLOWED.names or ())) if "key" in name or "root" in name]


def test_players_are_made_by_name() -> None:
    assert_same(play_block(make_block(["greedy", "uniform"])), play("greedy", "uniform"))


# ---- the tiles placed, which the log reads from rounds


def test_placements_read_from_a_run_are_those_of_the_reference(tmp_path: Path) -> None:
    values = {"players": (2, 4), "strategies": ("greedy", "column_builder"), "schedule": "self_play", "log": "moves"}
    experiment = azulsim.Experiment(name="placements", seed=1, deals=6, **values)
    run = azulsim.run(experiment, out=tmp_path / "run", jobs=1, progress=False)
    placements = run.placements()
    moves = run.moves()
    played = 0
    for game, rows in moves.groupby("game"):
        players = int(rows["seat"].max()) + 1
        key = int(game_key(np.uint64(root_key(1, DEAL_DOMAIN)), (game >> 8) & 0xFFFFFFFF, 0))
        reference = Reference(players, Rules(), draw_as_the_engine(key))
        for row in rows.sort_values("ply").itertuples():
            reference.play((int(row.source), str(row.color), int(row.line)))
        columns = ["round", "seat", "row", "column", "color", "across", "down", "points"]
        seen = placements[placements["game"] == game][columns]
        assert [tuple(row) for row in seen.astype({"color": str}).to_numpy().tolist()] == [
            tuple(placed) for placed in reference.placed
        ]
        played += len(seen)
    assert played == len(placements) > 300
