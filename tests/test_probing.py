"""Probes: games played on from their own positions, in several ways on the same luck."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from playing import assert_same, make_block, play
from scipy import stats
from test_arena import GRAY, MOSAIC

from azulsim import log, registry, runner
from azulsim.arena import ALL_ROUNDS, TABLE_NAMES, Block, Probes, Tables, play_block
from azulsim.arena.blockplay import Blockplay
from azulsim.engine.compiling import copy_record
from azulsim.engine.driver import JOB, TEMPO_ROOT
from azulsim.errors import InputError
from azulsim.experiment import Experiment
from azulsim.replay import verify_run
from azulsim.rules import Rules
from azulsim.schema import OTHER, PROBE_KINDS, TAKE, TAKE_ONLY
from azulsim.strategy import Definition, Strategy, strategy
from azulsim.strategy.toolbox import nth_move

CENTER = 0x0001001001001001
"""The bit of the center in each color's lane of a mask."""

DECISION, TEMPO = map(PROBE_KINDS.index, ("decision", "tempo"))
BOTH = Probes(rounds=ALL_ROUNDS, tempo_continuations=2, per_game=2, decision_continuations=3)


@pytest.fixture(
    scope="module",
    params=[(2, Rules()), (4, Rules()), (3, GRAY), (2, MOSAIC)],
    ids=["two", "four", "gray-three", "mosaic-two"],
)
def played(request: pytest.FixtureRequest) -> tuple[Block, Tables]:
    """A block with probes, compiled."""
    players, rules = request.param
    block = make_block(["greedy"], players=players, deals=12, rules=rules, probes=BOTH)
    return block, play_block(block)


def as_arms(rows: npt.NDArray[Any], column: str, *, kind: int) -> npt.NDArray[Any]:
    """A column of the probes of one kind: [roots, arms, continuations, seats]."""
    rows = rows[rows["kind"] == kind]
    _, at = np.unique(rows[["game", "ply"]], return_inverse=True)
    shape = [at.max() + 1, *(len(np.unique(rows[name])) for name in ("arm", "continuation", "seat"))]
    return rows[column].reshape(shape)


def test_probes_change_nothing_in_the_games_themselves(played: tuple[Block, Tables]) -> None:
    block, tables = played
    assert_same(play_block(replace(block, probes=None)), tables)


def test_every_root_is_played_on_in_every_way(played: tuple[Block, Tables]) -> None:
    block, tables = played
    roots, probes = tables.roots, tables.probes
    rounds = np.unique(tables.rounds[["game", "round", "starter"]])
    tempo = roots[roots["kind"] == TEMPO]
    assert tempo[["game", "round", "seat"]].tolist() == rounds.tolist()
    assert as_arms(probes, "score", kind=TEMPO).shape == (len(tempo), block.players, 2, block.players)
    decision = roots[roots["kind"] == DECISION]
    assert as_arms(probes, "score", kind=DECISION).shape == (len(decision), 3, 3, block.players)
    assert (np.minimum(decision["n_choices"], 2) == np.unique(decision["game"], return_counts=True)[1].repeat(2)).all()
    shares = as_arms(probes, "win_share", kind=TEMPO).sum(axis=-1)
    np.testing.assert_allclose(shares, 1)
    assert (np.sort(as_arms(probes, "margin", kind=TEMPO))[..., -1] >= 0).all()


@pytest.mark.parametrize("rules", [Rules(), MOSAIC], ids=["printed", "general"])
def test_lockstep_plays_on_as_compiled_play_does(rules: Rules) -> None:
    block = make_block(["greedy"], players=3, deals=3, rules=rules, probes=BOTH)
    compiled, batched = play_block(block), play_block(block, speed="batched")
    assert_same(compiled, batched, TABLE_NAMES)


def test_on_its_own_luck_a_game_goes_on_as_it_was_played(played: tuple[Block, Tables]) -> None:
    block, tables = played
    went_on = Blockplay(block, [registry.make_strategy("greedy")] * len(block.lineup))
    log = went_on.play()
    at = np.flatnonzero(log.roots[: log.used[3]]["kind"] == TEMPO_ROOT)
    jobs = np.zeros(len(at), JOB)
    jobs["root"], jobs["arm"] = at, log.roots[at]["seat"]
    ends = went_on.play_jobs(jobs, log.roots, log.positions)
    rows = ends.games[: ends.used[0]].reshape(-1, block.players)
    games = tables.games.reshape(-1, block.players)
    of_root = np.searchsorted(games["game"][:, 0], log.roots[at]["game"])
    for column in ("score", "win_share", "rounds", "rows", "plies"):
        np.testing.assert_array_equal(rows[column], games[column][of_root], err_msg=column)


def test_the_arms_are_what_the_strategy_likes_best(played: tuple[Block, Tables]) -> None:
    _, tables = played
    roots = tables.roots[tables.roots["kind"] == DECISION]
    places = np.searchsorted(tables.moves[["game", "ply"]], roots[["game", "ply"]])
    moves = tables.moves[places]
    assert (moves["seat"] == roots["seat"]).all()
    assert (moves["marker"] == roots["took"]).all()
    assert 0 < roots["took"].sum() < len(roots)
    for prefix, is_chosen in (("take", roots["took"]), ("other", ~roots["took"])):
        for column in ("color", "line", "gain"):
            np.testing.assert_array_equal(roots[f"{prefix}_{column}"][is_chosen], moves[column][is_chosen])
        tiles = moves["placed"] + moves["overflow"]
        np.testing.assert_array_equal(roots[f"{prefix}_tiles"][is_chosen], tiles[is_chosen])
    np.testing.assert_array_equal(roots["floor"], moves["floor"])
    chosen = np.where(roots["took"], roots["take_gain"], roots["other_gain"])
    assert (chosen == np.maximum(roots["take_gain"], roots["other_gain"])).all()


def test_the_price_of_the_space() -> None:
    tables = play("greedy", players=2, deals=30, probes=BOTH)
    roots = tables.roots[tables.roots["kind"] == DECISION]
    penalties = np.array([*(-points for points in Rules().floor_penalties), 0])
    np.testing.assert_array_equal(roots["space_price"], penalties[roots["floor"]])
    fixed = play("greedy", players=2, deals=10, probes=BOTH, rules=Rules(marker_cost=3)).roots
    assert set(fixed["space_price"][fixed["kind"] == DECISION]) == {3}


def test_where_holding_the_marker_means_nothing_all_arms_are_one() -> None:
    rules = Rules(next_starter="rotation")
    tables = play("greedy", players=3, deals=10, probes=BOTH, rules=rules)
    later = tables.probes[(tables.probes["kind"] == DECISION) | (tables.probes["round"] > 1)]
    score = as_arms(later, "score", kind=TEMPO)
    assert (score == score[:, :1]).all()
    score = as_arms(later, "score", kind=DECISION)
    assert (score[:, TAKE] == score[:, TAKE_ONLY]).all()
    first = as_arms(tables.probes[tables.probes["round"] == 1], "score", kind=TEMPO)
    assert (first != first[:, :1]).any()  # round 1 has no holder: there the starter himself is another


def test_the_marker_is_worth_nothing_where_no_round_follows(played: tuple[Block, Tables]) -> None:
    block, tables = played
    follows = as_arms(tables.probes, "next_starter", kind=DECISION)[..., 0]
    score = as_arms(tables.probes, "score", kind=DECISION)
    is_last = (follows[:, TAKE] < 0) & (follows[:, TAKE_ONLY] < 0)
    assert ((follows[:, TAKE] < 0) == (follows[:, TAKE_ONLY] < 0)).all()
    assert (score[:, TAKE][is_last] == score[:, TAKE_ONLY][is_last]).all()
    if block.rules.next_starter == "holder":
        is_same = follows[:, TAKE] == follows[:, OTHER]
        assert (score[:, TAKE][is_same] == score[:, TAKE_ONLY][is_same]).all()
        assert (follows[:, TAKE_ONLY] == follows[:, OTHER])[~is_last & (follows[:, OTHER] >= 0)].all()


def test_the_arm_of_a_round_starts_it() -> None:
    """A bonus for the starter goes to the arm's seat, and the one who would have started gets none."""
    block = make_block(["greedy"], players=2, deals=20, probes=Probes(rounds=(1,), tempo_continuations=2))
    plain, paid = (play_block(replace(block, rules=Rules(starter_bonus=c, max_rounds=1))).probes for c in (0, 5))
    change = as_arms(paid, "score", kind=TEMPO) - as_arms(plain, "score", kind=TEMPO)
    for arm in range(2):
        assert (change[:, arm, :, arm] == 5).all()
        assert (change[:, arm, :, 1 - arm] == 0).all()


def test_decisions_are_drawn_alike() -> None:
    """Each decision of a game is as likely to be drawn as the others."""
    tables = play("greedy", players=2, deals=1500, probes=Probes(per_game=2, decision_continuations=1))
    decisions = list_decisions(tables.moves)
    roots = tables.roots
    assert [len(decisions[game]) for game in roots["game"].tolist()] == roots["n_choices"].tolist()
    place = [decisions[game].index(ply) for game, ply in roots[["game", "ply"]].tolist()]
    assert stats.kstest((np.array(place) + 0.5) / roots["n_choices"], "uniform").pvalue > 1e-3


def list_decisions(moves: npt.NDArray[Any]) -> dict[int, list[int]]:
    """The plies of each game of two at which the marker could be taken with tiles, or left, counted from the log."""
    decisions: dict[int, list[int]] = {}
    last = None
    for game, number, ply, source, placed, overflow, marker in moves[
        ["game", "round", "ply", "source", "placed", "overflow", "marker"]
    ].tolist():
        if (game, number) != last:
            last, in_center, displays, is_taken = (game, number), 0, 5, False
        if in_center > 0 and displays > 0 and not is_taken:
            decisions.setdefault(game, []).append(ply)
        in_center += (4 if source else 0) - placed - overflow
        displays -= source > 0
        is_taken |= marker
    return decisions


def make_late(error: BaseException) -> Callable[..., int]:
    """A strategy that raises late in some games and in some that are played on from others."""

    def choose(view: Any, moves: Any, rng: Any) -> int:
        if view.round == 5 and view.seat == 1 and view.scores[1] > 40:
            raise error
        return int(moves.gain.argmax())

    return choose


def test_a_game_that_fails_when_it_is_played_on_is_left_out() -> None:
    late = strategy(make_late(ValueError("too late")))
    block = make_block(["late"], players=2, deals=6, probes=BOTH)
    tables = play_block(block, strategies=[Strategy(late)])
    spoiled = {failure["game"] for failure in tables.failures}
    assert spoiled
    assert {failure["kind"] for failure in tables.failures} == {"raised"}
    for name in TABLE_NAMES:
        assert spoiled.isdisjoint(getattr(tables, name)["game"]), name
    assert len(np.unique(tables.roots["game"])) == 6 - len(spoiled) == len(np.unique(tables.games["game"]))


@strategy(reads_only=True)
def takes_first(scratch: Any, moves: Any, key: Any, params: Any, workspace: Any) -> int:
    """Take the first legal move, whatever it is held to."""
    allowed = copy_record(moves)
    allowed.mask = scratch.mask
    return nth_move(scratch, allowed, 0)


@strategy(reads_only=True)
def answers_wrongly(scratch: Any, moves: Any, key: Any, params: Any, workspace: Any) -> int:
    """Answer no move at all where it may not take from the center."""
    is_held = moves.mask & CENTER == 0 and scratch.mask & CENTER != 0
    return 4095 if is_held else nth_move(scratch, moves, 0)


@pytest.mark.parametrize("player", [takes_first, answers_wrongly], ids=["unheld", "illegal"])
def test_an_arm_is_never_played_with_a_move_that_is_not_its_own(player: Definition) -> None:
    tables = play(player, players=2, deals=6, probes=Probes(per_game=1, decision_continuations=2))
    assert {failure["kind"] for failure in tables.failures} == {"illegal_move"}
    assert len(tables.roots) == len(tables.probes) == 0


def test_a_very_long_game_has_a_root_for_every_round() -> None:
    """The last bit stands for all rounds from it on; each takes a row of its own."""
    rules = Rules(rows_to_end=5, max_rounds=80)
    block = make_block(["tosses"], players=2, deals=1, rules=rules, probes=Probes(ALL_ROUNDS, 1))
    tables = play_block(block, strategies=[Strategy(tosses)])
    assert tables.games["rounds"].max() == 80
    assert tables.roots["round"].tolist() == list(range(1, 81))


@strategy
def tosses(move: Any) -> float:
    """Throw everything on the floor."""
    return move.overflow - move.placed


# Runs

PROBED: dict[str, Any] = {
    "name": "probed",
    "lineup": ["greedy"],
    "players": [2, 3],
    "deals": 40,
    "seed": 5,
    "probes": {"tempo": {"rounds": [1, 3], "continuations": 2}, "decision": {"per_game": 1, "continuations": 3}},
}


def test_a_run_with_probes_is_the_same_for_any_workers(tmp_path: Path) -> None:
    experiment = Experiment(**PROBED)
    one, two = (runner.run(experiment, out=tmp_path / str(jobs), jobs=jobs, progress=False) for jobs in (1, 2))
    assert one.hashes == two.hashes
    assert set(one.hashes) == {"games", "roots", "probes", "failures"}
    probes = one.probes(["cell", "spec", "kind", "score"])
    assert set(probes["kind"]) == {"tempo", "decision"}
    assert set(probes["spec"]) == {"greedy"}
    assert one.sql("SELECT count(*) FROM probes JOIN roots USING (game, kind, ply)").fetchall() == [(len(probes),)]
    assert not verify_run(tmp_path / "1").disagreements


def test_a_run_without_probes_says_so(tmp_path: Path) -> None:
    run = runner.run(Experiment(**{**PROBED, "probes": None, "deals": 4}), out=tmp_path / "run", jobs=1, progress=False)
    with pytest.raises(InputError, match=r"there are no probes: the experiment asks for none under \[probes\]"):
        run.probes()
    assert isinstance(run, log.Run)


@pytest.mark.parametrize(
    ("probes", "said"),
    [
        ({}, r"probes: names nothing to try out; write tempo, decision, or both"),
        (
            {"tempo": {"rounds": []}},
            r'probes\.tempo\.rounds = .*: write "all", or a list of different rounds from 1 to 62',
        ),
        ({"tempo": {"rounds": "some"}}, r'probes\.tempo\.rounds = .*: write "all"'),
        ({"tempo": {"rounds": [1, 1]}}, r'probes\.tempo\.rounds = .*: write "all"'),
        ({"tempo": {"rounds": [77]}}, r'probes\.tempo\.rounds = .*: write "all"'),
        ({"decision": {"per_game": 0}}, r"probes\.decision\.per_game = 0"),
        ({"tempo": {"round": "all"}}, r"unknown key 'probes\.tempo\.round'; did you mean 'rounds'"),
    ],
)
def test_probes_that_cannot_be(probes: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Experiment(**{**PROBED, "probes": probes})
