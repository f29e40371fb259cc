"""Scores that take notes: what they have written down about the position before a decision."""

from __future__ import annotations

from typing import Any

import pytest
from playing import assert_same, play

from azulsim.errors import InputError
from azulsim.explain import explain
from azulsim.game import Game
from azulsim.registry import describe, make_strategy
from azulsim.rules import VARIANTS, Rules
from azulsim.strategy import Definition, Strategy, strategy
from azulsim.strategy.definition import SPEEDS
from azulsim.strategy.toolbox import (
    count_floor,
    count_on_table,
    end_round,
    mover,
    score_if_tiled,
    score_of,
    seat_to_move,
    tile_lines,
)

ALL_RULES = {"standard": Rules(), **VARIANTS}


def count_colors(position: Any, notes: Any, *, tempo: float, love: float) -> None:
    """Its parameters come in another order than those of the strategy, which has one more."""
    for color in range(5):
        notes[color] = love * count_on_table(position, color)
    notes[5] += 1 + tempo * score_if_tiled(position, seat_to_move(position))


@strategy(prepare=count_colors, notes=6)
def by_colors(
    move: Any, position: Any, notes: Any, *, love: float = 0.3, shy: float = 0.7, tempo: float = 0.25
) -> float:
    """Some of all: the move, the position after it, and the notes of the position before it."""
    after = score_if_tiled(position, mover(position))
    return after * notes[5] + notes[int(move.color) % 5] - shy * count_floor(position, mover(position))


def end_the_round(position: Any, notes: Any) -> None:
    """It plays on in what it is shown, through functions that ask for a record first."""
    seat = seat_to_move(position)
    before = score_of(position, seat)
    notes[1] = end_round(position)
    notes[0] = score_of(position, seat) - before


@strategy(prepare=end_the_round, notes=2)
def far_seeing(move: Any, position: Any, notes: Any) -> float:
    """The gain, more of it if the round would end well."""
    return move.gain * (notes[0] + 0.5) + notes[1]


def tile_all(position: Any, notes: Any) -> None:
    """It changes the position by a function that is not foreseen."""
    notes[0] = tile_lines(position, seat_to_move(position))


@strategy(prepare=tile_all, notes=1)
def tiler(move: Any, position: Any, notes: Any) -> float:
    """The gain, less if lines are complete."""
    return move.gain * (2.0 - notes[0])


PLAYERS = [by_colors, far_seeing, tiler]


@pytest.mark.parametrize("rules", ALL_RULES.values(), ids=ALL_RULES)
@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("player", PLAYERS, ids=lambda player: player.name)
def test_scores_with_notes_play_the_same_games_compiled_and_plain(
    player: Definition, players: int, rules: Rules
) -> None:
    """On every wall: plain Python gives copies and an array of zeros, compiled code neither."""
    lineup = [player, *["uniform"] * (players - 1)]
    made = play(*lineup, deals=2, rules=rules)
    assert len(made.games) == 2 * players
    assert_same(made, play(player, *lineup[1:], deals=2, rules=rules, speed="plain"))


def write(position: Any, notes: Any) -> None:
    """A slip: it writes into the position itself, which only compiled code can."""
    seat = position.seat
    notes[0] = position.score[seat]
    position.score[seat] = 100
    position.wall[seat] = 0
    position.mask = 0


@strategy(prepare=write, notes=1)
def writer(move: Any, position: Any, notes: Any) -> float:
    """The gain, and something that depends on the score before the slip."""
    return move.gain + 0.1 * notes[0] * move.line


@strategy
def honest(move: Any, position: Any) -> float:
    """The same without notes."""
    return move.gain + 0.1 * score_of(position, mover(position)) * move.line


@pytest.mark.parametrize("rules", [Rules(), VARIANTS["gray-joker"]], ids=["standard", "gray-joker"])
def test_writing_into_the_position_changes_nothing(rules: Rules) -> None:
    assert_same(play(writer, writer, deals=20, rules=rules), play(honest, honest, deals=20, rules=rules))


def test_parameters_are_those_of_the_spec_at_every_speed() -> None:
    games: dict[Any, Any] = {}
    for love in (0.3, -2.0):
        for speed in SPEEDS["score_position"]:
            player = Strategy(by_colors, {"love": love}, speed=speed)
            games[love, speed] = play(player, player, deals=3)
        assert_same(games[love, "compiled"], games[love, "plain"])
    assert games[0.3, "plain"].moves["gain"].sum() != games[-2.0, "plain"].moves["gain"].sum()


def test_explain_shows_what_is_played() -> None:
    game = Game(2, seed=3)
    for _ in range(40):
        if game.is_over:
            break
        explained = explain(game.position(), "ludometer")
        chosen = next(one for one in explained.candidates if one.is_chosen)
        assert chosen.score == pytest.approx(max(one.score for one in explained.candidates if one.score is not None))
        game.play(chosen.move)


def raise_late(position: Any, notes: Any) -> None:
    """It fails in the second round."""
    if position["round"] > 1:
        raise ValueError("no idea")


@strategy(prepare=raise_late, notes=1)
def failing(move: Any, position: Any, notes: Any) -> float:
    """The gain."""
    return move.gain


def test_what_prepare_raises_costs_the_games_of_its_strategy() -> None:
    played = play(failing, "uniform", deals=2, speed="plain")
    assert len(played.games) == 0
    assert {(one["kind"], one["message"]) for one in played.failures} == {("raised", "ValueError: no idea")}


def nothing(position: Any, notes: Any) -> None:
    """Nothing is written down."""


def test_wrong_ways_to_prepare_are_refused() -> None:
    def score(move: Any, position: Any, notes: Any) -> float:
        return 0.0

    def plain(move: Any, position: Any, *, love: float = 1.0) -> float:
        return 0.0

    def turned(notes: Any, position: Any) -> None: ...

    def asking(position: Any, notes: Any, *, lov: float) -> None: ...

    with pytest.raises(InputError, match="'score': takes notes, which nothing prepares; write @strategy"):
        strategy(score)
    with pytest.raises(InputError, match="'score': takes notes, which nothing prepares"):
        strategy(notes=3)(score)
    with pytest.raises(InputError, match="'plain': prepares notes, which it does not take"):
        strategy(prepare=nothing, notes=3)(plain)
    with pytest.raises(InputError, match="'plain': notes=3: must be left out without prepare="):
        strategy(notes=3)(plain)
    for wrong in (0, -1, 2.5, True, 4097):
        with pytest.raises(InputError, match=f"'score': notes={wrong}: must be a whole number from 1 to 4096"):
            strategy(prepare=nothing, notes=wrong)(score)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"'score': write prepare\(position, notes, \*, ...\)"):
        strategy(prepare=turned, notes=1)(score)

    def loving(move: Any, position: Any, notes: Any, *, love: float = 1.0) -> float:
        return 0.0

    with pytest.raises(InputError, match="prepare has a parameter 'lov' that the strategy has not; did you mean"):
        strategy(prepare=asking, notes=1)(loving)


def test_its_kind_is_told() -> None:
    assert describe("ludometer")[0]["kind"] == "score(move, position, notes)"
    assert make_strategy("ludometer").speed == "compiled"
