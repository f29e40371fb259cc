"""A game as a position and back: nothing is lost on the way, whatever the rules and whenever it is taken."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from azulsim.errors import InputError
from azulsim.game import Game
from azulsim.notation import Board, Position
from azulsim.rules import VARIANTS, Rules, Termination

ODD = Rules(
    wall="gray",
    joker_tiles=True,
    joker_overflow="choose",
    gray_may_decline=True,
    starter_bonus=-1,
    next_starter="lottery",
    marker_cost=2,
)


def finish(game: Game, seed: int) -> list[str]:
    """Play to the end by moves at random; return the moves."""
    rng, moves = random.Random(seed), []
    while not game.is_over:
        moves.append(rng.choice(game.legal_moves()))
        game.play(moves[-1])
    return moves


@pytest.mark.parametrize("players", [2, 4])
@pytest.mark.parametrize("rules", [*VARIANTS.values(), ODD], ids=[*VARIANTS, "odd"])
def test_a_game_goes_on_from_its_position_as_it_would_have(rules: Rules, players: int) -> None:
    rng, game = random.Random(players), Game(players, rules=rules, seed=players)
    was_placing = False
    while not game.is_over:
        game.play(rng.choice(game.legal_moves()))
        position = Position.from_text(str(game.position()))
        copy = Game.from_position(position)
        assert copy.position() == position == game.position()
        assert copy.legal_moves() == game.legal_moves()
        if (game.placing and not was_placing) or len(game.moves) % 25 == 0:
            was_placing = was_placing or game.placing is not None
            moves = finish(copy, len(game.moves))
            for move in moves:
                game.play(move)
            assert game.outcome == copy.outcome
            for _ in moves:
                game.undo()
    assert was_placing or not rules.has_free_spaces
    assert not was_placing or rules != Rules()
    assert Game.from_position(game.position()).outcome == game.outcome


def test_what_is_hidden_can_be_left_out() -> None:
    game = Game(3, seed=5, deal=2)
    open_only = game.position(hidden=False)
    assert open_only.luck is None
    again = Game.from_position(open_only, seed=5, deal=2)
    assert again.position() == game.position()
    assert finish(again, 1) == finish(game, 1)
    assert again.scores == game.scores


def test_another_continuation_deals_other_tiles() -> None:
    position = Game(2, seed=5).position()
    assert position.luck is not None
    other = replace(position, luck=position.luck._replace(continuation=1))
    one, two = Game.from_position(position), Game.from_position(other)
    moves = 0
    while one.round == 1:
        move = one.legal_moves()[0]
        one.play(move)
        two.play(move)
        moves += 1
    assert moves > 5
    assert one.displays != two.displays
    assert two.position().luck == other.luck


def test_forced_lines_of_a_position_are_placed_at_once() -> None:
    board = Board(wall=("YRKW.", *(".....",) * 4), lines=("B", "", "", "", ""))
    position = Position(boards=(board, Board()), displays=("",) * 5, seat=0, row=1, holder=1, rules=VARIANTS["gray"])
    game = Game.from_position(position)
    assert game.walls[0][0] == "YRKWB"
    assert game.termination == Termination.ROW_COMPLETED


def test_complete_lines_of_a_seat_before_are_refused() -> None:
    board = Board(lines=("B", "", "", "", ""))
    position = Position(boards=(board, board), displays=("",) * 5, seat=1, row=1, holder=1, rules=VARIANTS["gray"])
    with pytest.raises(InputError, match="seat 0 has a complete line"):
        Game.from_position(position)


def test_printed_walls_of_a_position_are_tiled_at_once() -> None:
    position = Position(
        boards=(Board(lines=("B", "RR", "", "", "")), Board(floor="YM")),
        displays=("",) * 5,
        seat=0,
        row=1,
        holder=1,
        bag=Game().position().bag,
    )
    game = Game.from_position(position)
    assert (game.round, game.seat) == (2, 1)
    assert [row.replace(".", "") for row in game.walls[0][:2]] == ["B", "R"]
    assert game.scores == [2, 0]


def test_a_game_draws_itself_and_stays_short_as_text() -> None:
    game = Game(2, seed=1)
    assert game._repr_svg_().startswith("<svg")
    assert len(str(game)) < 100
    assert game.position().termination == Termination.NONE
