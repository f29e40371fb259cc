"""The position after a move, foreseen, against the position in which the move was played."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from azulsim.engine.compiling import compiled, copy_record, make_record, reserve_record, widen
from azulsim.engine.core import foresee, foresee_nothing, play
from azulsim.engine.foreseen import (
    STATE,
    Known,
    as_record,
    make_foreseen,
    mover,
    points_of_lines,
    tiled_wall,
    tiles_on_table,
)
from azulsim.engine.record import GAME
from azulsim.game import Game
from azulsim.rules import MAX_DISPLAYS, MAX_PLAYERS, Rules
from azulsim.strategy.toolbox import end_round, penalty_of, score_if_tiled

N_SOURCES = MAX_DISPLAYS + 1


@compiled(key=None)
def digest(position: Any) -> int:
    """A number that depends on every field that a game changes, read from the front and from the end."""
    total = widen(0)
    for source in range(-N_SOURCES, N_SOURCES):
        total = total * 31 + position.sources[source]
    for seat in range(-MAX_PLAYERS, MAX_PLAYERS):
        total = total * 31 + position.open[seat] + position.wall[seat]
        total = (total * 31 + position.counts[seat]) * 31 + position.colors[seat]
        total = (total * 31 + position.full[seat]) * 31 + position.floor[seat]
        total = (total * 31 + position.score[seat]) * 31 + position.tiles[seat, 0]
    total = ((total * 31 + position.bag) * 31 + position.lid) * 31 + position.mask
    total = ((total * 31 + position.seat) * 31 + position.starter) * 31 + position.holder
    total = ((total * 31 + position.round) * 31 + position.n_bag) * 31 + position.termination
    return total


@compiled(key=None)
def compare(game: Any, code: Any) -> Any:
    """Digests of one position: played, foreseen, played after all, and at the end of the round, both ways."""
    after = copy_record(game)
    play(after, code)
    seat = game.seat
    known = Known(points_of_lines(after, seat), tiled_wall(after, seat), tiles_on_table(after))
    position = make_foreseen(game, reserve_record(GAME), make_record(STATE), code, known, foresee(game, code))
    played, seen = digest(after), digest(position)
    for seat in range(game.players):
        seen += score_if_tiled(position, seat) - score_if_tiled(after, seat)
        seen += penalty_of(position, seat) - penalty_of(after, seat)
        seen += tiled_wall(position, seat) - tiled_wall(after, seat)
    seen += mover(position) - game.seat + tiles_on_table(position) - tiles_on_table(after)
    as_record(position)
    settled = digest(position) + score_if_tiled(position, seat) - score_if_tiled(after, seat)
    settled += tiled_wall(position, seat) - tiled_wall(after, seat)
    settled += mover(position) - game.seat + tiles_on_table(position) - tiles_on_table(after)
    end_round(after)
    end_round(position)
    return played, seen, settled, digest(after), digest(position)


@pytest.mark.parametrize(("players", "rules"), [(2, Rules()), (4, Rules()), (3, Rules(marker_cost=2))])
def test_a_foreseen_position_is_the_one_in_which_the_move_was_played(players: int, rules: Rules) -> None:
    rng = np.random.default_rng(players)
    positions = endings = 0
    for seed in range(2):
        game = Game(players, rules=rules, seed=seed)
        while not game.is_over:
            record = game._now.record.copy()
            for code in game._codes():
                played, seen, settled, ended, ended_foreseen = compare(record[0], code)
                assert played == seen == settled
                assert ended == ended_foreseen
                endings += ended != played
                assert record == game._now.record
                positions += 1
            game.play(str(rng.choice(game.legal_moves())))
    assert positions > 1000
    assert endings > 500


@compiled(key=None)
def compare_before(game: Any) -> Any:
    """Digests of a position before any move: the game itself, shown, copied after all, and at the end of the round."""
    after, seat = copy_record(game), game.seat
    known = Known(points_of_lines(after, seat), tiled_wall(after, seat), tiles_on_table(after))
    position = make_foreseen(game, reserve_record(GAME), make_record(STATE), None, known, foresee_nothing(game))
    seen = digest(position) + mover(position) - mover(after) + tiles_on_table(position) - tiles_on_table(after)
    for seat in range(game.players):
        seen += score_if_tiled(position, seat) - score_if_tiled(after, seat)
        seen += penalty_of(position, seat) - penalty_of(after, seat)
        seen += tiled_wall(position, seat) - tiled_wall(after, seat)
    as_record(position)
    settled = digest(position) + mover(position) - mover(after)
    end_round(after)
    end_round(position)
    return digest(game), seen, settled, digest(after), digest(position)


@pytest.mark.parametrize(("players", "rules"), [(2, Rules()), (3, Rules(marker_cost=2))])
def test_the_position_before_a_move_is_shown_as_it_is(players: int, rules: Rules) -> None:
    rng = np.random.default_rng(players)
    endings = 0
    game = Game(players, rules=rules, seed=5)
    while not game.is_over:
        record = game._now.record.copy()
        before, seen, settled, ended, ended_shown = compare_before(record[0])
        assert before == seen == settled
        assert ended == ended_shown
        assert record == game._now.record
        endings += ended != before
        game.play(str(rng.choice(game.legal_moves())))
    assert endings > 30
