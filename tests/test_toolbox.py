"""The toolbox's answers about a position that are more than a look at one field, against games played on."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

from azulsim.engine.move import MOVE
from azulsim.engine.record import ALLOWED
from azulsim.engine.table import allow_all, fill_moves
from azulsim.game import Game
from azulsim.rules import VARIANTS, Rules
from azulsim.strategy import toolbox

RULES = {"standard": Rules(), "price": Rules(marker_cost=2), **VARIANTS}


def play_randomly(rules: Rules, players: int, seed: int) -> Iterator[Game]:
    """A game in progress before each of its random moves; every other move keeps off the floor."""
    rng = np.random.default_rng(seed)
    game = Game(players, rules=rules, seed=seed)
    while not game.is_over:
        if game.placing is None:
            yield game
        moves = game.legal_moves()
        tidy = [move for move in moves if not move.endswith("-")]
        game.play(str(rng.choice(tidy if tidy and rng.random() < 0.8 else moves)))


def copy_position(game: Game) -> Any:
    """A position of one's own, as a strategy is given it."""
    return game._now.record.copy()[0]


def value_of(position: Any, seat: int) -> int:
    """Points minus floor of a seat if the round ended now."""
    return int(toolbox.tile_lines(position, seat)) - int(toolbox.penalty_of(position, seat))


@pytest.mark.parametrize("name", RULES)
def test_exact_gain_is_what_tiling_in_mind_says(name: str) -> None:
    for game in play_randomly(RULES[name], 3, seed=5):
        seat, before = game.seat, value_of(copy_position(game), game.seat)
        gains = []
        for code in game._codes():
            after = copy_position(game)
            toolbox.play(after, code)
            gain = int(toolbox.exact_gain(copy_position(game), code))
            assert value_of(after, seat) - before == gain
            gains.append(gain)
        assert toolbox.best_gain(copy_position(game)) == max(gains)


@pytest.mark.parametrize("name", RULES)
def test_the_best_space_is_where_a_line_alone_would_score_most(name: str) -> None:
    checked = 0
    for game in play_randomly(RULES[name], 2, seed=3):
        for seat in range(2):
            for line in range(1, 6):
                position = copy_position(game)
                position["full"][seat] &= 1 << line
                if position["full"][seat]:
                    column, points = toolbox.best_space(position, seat, line)
                    had = [toolbox.has_tile(position, seat, line, c) for c in range(1, 6)]
                    assert toolbox.tile_lines(position, seat) == points
                    has = [toolbox.has_tile(position, seat, line, c) for c in range(1, 6)]
                    assert [c for c in range(1, 6) if has[c - 1] != had[c - 1]] == ([column] if column else [])
                    checked += 1
    assert checked > 50


@pytest.mark.parametrize("name", ["standard", "price"])
def test_the_tiled_wall_is_the_wall_once_the_lines_are(name: str) -> None:
    """And the points of a line's tile on it are those of its best space there."""
    changed = seen = 0
    for game in play_randomly(RULES[name], 2, seed=9):
        for seat, line in product(range(2), range(1, 6)):
            position, tiled = copy_position(game), copy_position(game)
            toolbox.tile_lines(tiled, seat)
            wall = toolbox.tiled_wall(position, seat)
            assert wall == tiled["wall"][seat]
            changed += wall != position["wall"][seat]
            if 0 < toolbox.count_in_line(position, seat, line) < line:
                column = toolbox.column_of(line - 1, toolbox.color_of_line(position, seat, line))
                filled = wall | 1 << (5 * (line - 1) + column)
                points = toolbox.points_of_tile(filled, line - 1, column)
                assert (column + 1, points) == toolbox.best_space(tiled, seat, line)
                seen += points > 1
    assert changed > 20
    assert seen > 10


def test_printed_walls_are_told_from_others() -> None:
    told = {name: toolbox.is_printed(copy_position(Game(2, rules=rules))) for name, rules in RULES.items()}
    assert [name for name, is_printed in told.items() if is_printed] == ["standard", "price"]


@pytest.mark.parametrize("name", RULES)
def test_what_a_move_leaves_is_what_lies_there_after_it(name: str) -> None:
    """The fields of `Move` that look at the table, against the table."""
    moves = np.zeros(toolbox.MAX_LEGAL, MOVE)
    sizes = set()
    for game in play_randomly(RULES[name], 3, seed=13):
        position, allowed = copy_position(game), np.zeros(1, ALLOWED)[0]
        allow_all(position, allowed)
        for move in moves[: fill_moves(position, allowed, moves)]:
            after = copy_position(game)
            toolbox.play(after, move["code"])
            lanes = [[toolbox.count_source(after, source, c) for c in range(6)] for source in range(10)]
            assert move["left"] == np.sum(lanes)
            assert move["largest_left"] == np.max(np.array(lanes)[:, :5])
            assert [toolbox.count_on_table(after, c) for c in range(6)] == np.sum(lanes, axis=0).tolist()
            sizes.add(int(move["largest_left"]))
    assert len(sizes) > 4


@pytest.mark.parametrize("players", [2, 3, 4])
def test_ending_a_round_is_what_the_game_does(players: int) -> None:
    """On the printed wall, where nobody is asked; whole games, so that the last round pays bonuses."""
    rounds = 0
    for seed in range(5):
        for game in play_randomly(Rules(), players, seed):
            position, code, seat = copy_position(game), game._codes()[0], game.seat
            is_last = toolbox.play(position, code)
            assert toolbox.is_round_over(position) == is_last
            if not is_last:
                continue
            rounds += 1
            game.play(game.legal_moves()[0])
            is_over = toolbox.end_round(position)
            assert is_over == game.is_over
            assert [toolbox.score_of(position, i) for i in range(players)] == game.scores
            assert [str(toolbox.count_row(position, i, 1)) for i in range(players)] == [
                str(5 - wall[0].count(".")) for wall in game.walls
            ]
            if game.outcome is not None:
                rival = toolbox.best_rival(position, seat)
                mine, theirs = toolbox.standing_of(position, seat), toolbox.standing_of(position, rival)
                first = game.outcome.placements[seat] == 1
                assert first == (mine >= theirs)
                assert rival != seat
            game.undo()
    assert rounds > 20


@pytest.mark.parametrize("name", RULES)
def test_a_begun_line_is_one_that_is_neither_empty_nor_complete(name: str) -> None:
    begun = 0
    for game in play_randomly(RULES[name], 2, seed=7):
        position = copy_position(game)
        for seat, color in product(range(2), range(6)):
            lines = [line for line in range(1, 6) if toolbox.color_of_line(position, seat, line) == color]
            expected = any(toolbox.count_in_line(position, seat, line) < line for line in lines)
            assert toolbox.has_begun(position, seat, color) == expected
            begun += expected
    assert begun > 50


@pytest.mark.parametrize("name", RULES)
def test_the_score_if_tiled_is_what_tiling_says_and_changes_nothing(name: str) -> None:
    for game in play_randomly(RULES[name], 3, seed=11):
        for seat in range(3):
            position = copy_position(game)
            score = toolbox.score_if_tiled(position, seat)
            assert position == copy_position(game)
            assert score == toolbox.score_of(position, seat) + value_of(position, seat)
