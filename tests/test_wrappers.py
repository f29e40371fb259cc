"""Wrappers: what they forbid, at all speeds, under all rules, around every kind of strategy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playing import assert_same, play
from scipy import stats

import azulsim
from azulsim.engine.luck import derive
from azulsim.errors import InputError, StrategyError
from azulsim.explain import explain
from azulsim.game import Game
from azulsim.registry import make_strategy
from azulsim.rules import Rules
from azulsim.strategy import Strategy, strategy, toolbox, wrapper
from azulsim.strategy.wrapping import Wrap

VARIANTS = [Rules(), Rules(wall="gray"), Rules(joker_tiles=True), Rules(wall="gray", joker_tiles=True, marker_cost=2)]


@strategy
def first(view: Any, moves: Any, rng: Any) -> int:
    """Play the first of the moves it is shown."""
    return 0


@strategy
def branching(move: Any) -> float:
    """Score in a way that no column can take, so that it runs plain."""
    return move.gain if move.line else -1.0


@strategy
def waiting(move: Any, position: Any) -> float:
    """Look at the position after the move."""
    return move.gain + 0.1 * toolbox.count_on_table(position, 0)


def wrap(inside: Strategy | Any, *names: str) -> Strategy:
    """Put bundled wrappers, the outermost first, around a strategy that is not in any file."""
    found = make_strategy("(".join([*names, "greedy"]) + ")" * len(names))
    return Strategy(inside, wraps=found.wraps, spec=f"{names}({inside.name})")


EVERY_KIND = [first, branching, waiting, make_strategy("greedy").definition, make_strategy("uniform").definition]


@pytest.mark.parametrize("rules", VARIANTS, ids=str)
@pytest.mark.parametrize("inside", EVERY_KIND, ids=lambda one: one.name)
def test_who_never_takes_the_marker_takes_it_only_when_forced(inside: Any, rules: Rules) -> None:
    tables = play(wrap(inside, "marker_never"), "uniform", players=2, deals=12, rules=rules, depth="moves")
    assert tables.failures == []
    for move in tables.moves[tables.moves["marker"] == 1]:
        held = tables.rounds[(tables.rounds["game"] == move["game"]) & (tables.rounds["round"] == move["round"])]
        player = tables.games[(tables.games["game"] == move["game"]) & (tables.games["seat"] == move["seat"])]
        if player["spec"][0] == 0:
            assert held["forced"][held["seat"] == move["seat"]][0]


@pytest.mark.parametrize("inside", EVERY_KIND, ids=lambda one: one.name)
def test_who_always_takes_the_marker_takes_it_as_soon_as_tiles_are_in_the_center(inside: Any) -> None:
    """In a round the second move is the first that may take from the center, unless the first left nothing there."""
    player = wrap(inside, "marker_always")
    tables = play(player, player, players=2, deals=10, depth="moves")
    for game in np.unique(tables.moves["game"]):
        moves = tables.moves[tables.moves["game"] == game]
        for number in np.unique(moves["round"]):
            of_round = moves[moves["round"] == number]
            taken = np.flatnonzero(of_round["marker"])
            # a display of one color leaves nothing in the center
            waited = of_round[: taken[0]] if len(taken) else of_round
            assert all(waited["placed"][:-1] + waited["overflow"][:-1] == 4)
            assert len(waited) >= 1


def test_noise_at_its_ends_and_between() -> None:
    plain = play("greedy", players=2, deals=20, depth="moves")
    assert_same(play("noisy(greedy, eps=0)", players=2, deals=20, depth="moves"), plain)
    loud = play("noisy(greedy, eps=1)", players=2, deals=200, depth="moves")
    # each move as likely as any other: its place among the legal ones is uniform, as in uniform play
    quiet = play("uniform", players=2, deals=200, depth="moves")
    assert stats.ks_2samp(loud.games["score"], quiet.games["score"]).pvalue > 1e-4
    assert abs(loud.moves["overflow"].mean() - quiet.moves["overflow"].mean()) < 0.05
    middle = play("noisy(greedy, eps=0.2)", players=2, deals=200)
    scores = [tables.games["score"].mean() for tables in (loud, middle, play("greedy", players=2, deals=200))]
    assert scores == sorted(scores)


def test_a_threshold_forbids_what_costs_more() -> None:
    tables = play("marker_cheap(uniform, price=1)", players=3, deals=60, depth="moves")
    forced = {(row["game"], row["round"], row["seat"]) for row in tables.rounds[tables.rounds["forced"]]}
    free = [
        move
        for move in tables.moves[tables.moves["marker"] == 1]
        if (move["game"], move["round"], move["seat"]) not in forced
    ]
    assert free
    assert max(move["floor"] for move in free) == 1, "the third space costs 2"
    everything = play("marker_cheap(uniform, price=9)", players=3, deals=20)
    assert_same(everything, play("uniform", players=3, deals=20))


@pytest.mark.parametrize("rules", VARIANTS, ids=str)
def test_the_same_game_at_all_speeds(rules: Rules) -> None:
    spec = "noisy(marker_never(row_builder), eps=0.3)"
    fast, *slower = (
        play(make_strategy(spec, speed=speed), "greedy", players=3, deals=6, rules=rules, depth="moves")
        for speed in ("compiled", "batched", "plain")
    )
    for tables in slower:
        assert_same(tables, fast)


def test_wrappers_are_heard_from_outside_in() -> None:
    """What the outer one leaves is all that the inner one can choose from."""
    never = play("marker_never(noisy(greedy, eps=1))", players=2, deals=40, depth="moves")
    forced = {(row["game"], row["round"]) for row in never.rounds[never.rounds["forced"]]}
    assert {(move["game"], move["round"]) for move in never.moves[never.moves["marker"] == 1]} == forced
    loud = play("noisy(marker_never(greedy), eps=1)", players=2, deals=40, depth="moves")
    forced = {(row["game"], row["round"]) for row in loud.rounds[loud.rounds["forced"]]}
    assert {(move["game"], move["round"]) for move in loud.moves[loud.moves["marker"] == 1]} > forced


# ---- wrappers that misbehave


@wrapper
def forbidding(position: Any, moves: Any, key: Any) -> None:
    """Leave nothing."""
    moves.mask = 0
    moves.joker_mask = 0


@wrapper
def allowing(position: Any, moves: Any, key: Any) -> None:
    """Allow everything, legal or not."""
    moves.mask |= 0x0FFFFFFFFFFFFFFF
    moves.open |= 0x3F3F3F3F3F


@wrapper
def spoiling(position: Any, moves: Any, key: Any) -> None:
    """Change the game it is shown."""
    position.score[0] += 50
    position.bag = 0


@wrapper
def raising(position: Any, moves: Any, key: Any) -> None:
    """Raise in the third round."""
    if position.round == 3:
        raise ValueError("no third round")


@wrapper
def impossible(position: Any, moves: Any, key: Any) -> None:
    """Do what cannot be compiled."""
    moves.update({"a": object()})


@pytest.mark.parametrize("around", [forbidding, allowing, spoiling])
@pytest.mark.parametrize("inside", ["greedy", "uniform", first])
def test_a_wrapper_can_neither_cheat_nor_block(around: Any, inside: Any) -> None:
    definition = make_strategy(inside).definition if isinstance(inside, str) else inside
    wrapped = Strategy(definition, wraps=[Wrap(around, {}, spec="s", cache_key=None)])
    assert_same(play(wrapped, players=2, deals=5), play(Strategy(definition), players=2, deals=5))


def test_a_wrapper_that_raises_costs_its_own_game() -> None:
    for inside in (make_strategy("greedy").definition, first):
        wrapped = Strategy(inside, wraps=[Wrap(raising, {}, spec="raising(x)", cache_key=None)])
        tables = play(wrapped, "uniform", players=2, deals=3)
        assert len(tables.failures) == 3
        assert {failure["message"] for failure in tables.failures} == {"ValueError: no third round"}


def test_a_wrapper_that_cannot_be_compiled_is_named() -> None:
    wrapped = Strategy(first, wraps=[Wrap(impossible, {}, spec="impossible(first)", cache_key=None)])
    with pytest.raises(StrategyError, match=r"impossible\(first\): wrapper 'impossible' cannot be compiled: "):
        play(wrapped, players=2, deals=1)


def test_a_wrapper_has_its_own_shape() -> None:
    with pytest.raises(InputError, match=r"wrapper 'wrong': parameters \(moves\) are of no known kind"):

        @wrapper
        def wrong(moves: Any) -> None: ...

    with pytest.raises(InputError, match="parameter 'eps' needs a number"):

        @wrapper
        def unset(position: Any, moves: Any, key: Any, *, eps: float) -> None: ...


# ---- where people meet them


def test_explain_shows_what_is_forbidden() -> None:
    game = Game(2, seed=3)
    game.play(game.legal_moves()[0])
    answer = explain(str(game.position()), "marker_never(greedy)")
    center = [candidate for candidate in answer.candidates if candidate.move.startswith("C")]
    assert center
    assert not any(candidate.is_allowed or candidate.is_chosen for candidate in center)
    assert all(candidate.is_allowed for candidate in answer.candidates if candidate not in center)
    assert "x is forbidden by a wrapper" in str(answer)
    assert "forbidden" not in str(explain(str(game.position()), "greedy"))


def test_a_run_with_wrappers_resumes_and_verifies(tmp_path: Path) -> None:
    run = azulsim.compare(["noisy(greedy, eps=0.5)", "greedy"], deals=30, out=tmp_path / "run", jobs=1).run
    assert list(run.manifest.specs) == ["greedy", "noisy(greedy, eps=0.5)"]


def test_fractions_are_uniform() -> None:
    drawn = [toolbox.fraction(np.uint64(derive(np.uint64(5), i))) for i in range(4000)]
    assert stats.kstest(drawn, "uniform").pvalue > 1e-4
