"""What holds in every game under any rules within their bounds, whatever is played."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from azulsim.game import Game
from azulsim.rules import COLORS, Bonus, Displays, Rules, Termination

N_DISPLAYS = st.integers(1, 11)
RULES = st.one_of(
    st.just(Rules()),
    st.builds(
        Rules,
        displays=st.builds(Displays, two=N_DISPLAYS, three=N_DISPLAYS, four=N_DISPLAYS),
        tiles_per_display=st.integers(1, 10),
        tiles_per_color=st.integers(1, 25),
        floor_penalties=st.lists(st.integers(-20, 0), max_size=12).map(tuple),
        bonus=st.builds(Bonus, row=st.integers(0, 100), column=st.integers(0, 100), color=st.integers(0, 100)),
        starter_bonus=st.integers(-20, 20),
        marker_on_full_floor=st.sampled_from(["free", "replace_last"]),
        lid_refill=st.sampled_from(["lazy", "eager"]),
        unclaimed_marker=st.sampled_from(["keep", "rotate"]),
        max_rounds=st.integers(1, 30),
    ),
)

STYLES = {
    "any": lambda move: 0,
    "floor": lambda move: move[-1] != "-",
    "line": lambda move: move[-1] == "-",
    "display": lambda move: move[0] == "C",
    "center": lambda move: move[0] != "C",
    "long": lambda move: -int(move[-1].replace("-", "0")),
}
"""Ways of playing: among the moves for which the number is lowest, any."""


SHOWN = ("round", "seat", "starter", "holder", "scores", "walls", "lines", "floors", "displays", "center", "bag", "lid")


def picture(game: Game) -> dict[str, Any]:
    """Everything that a game shows."""
    return {name: getattr(game, name) for name in (*SHOWN, "moves", "termination")}


def count_tiles(game: Game) -> dict[str, int]:
    """The tiles of each color, wherever they are."""
    on_boards = "".join("".join([*wall, *lines]) for wall, lines in zip(game.walls, game.lines, strict=True))
    text = on_boards + "".join(game.floors) + "".join(game.displays) + game.center
    return {color: text.count(color) + game.bag[color] + game.lid[color] for color in COLORS}


class AnyGame(RuleBasedStateMachine):
    """A game under some rules, played, and taken back, as chance will have it."""

    def __init__(self) -> None:
        super().__init__()
        self.game: Game | None = None

    @initialize(
        players=st.integers(2, 4), rules=RULES, seed=st.integers(0, (1 << 63) - 1), deal=st.integers(0, (1 << 32) - 1)
    )
    def begin(self, players: int, rules: Rules, seed: int, deal: int) -> None:
        self.game = Game(players, rules=rules, seed=seed, deal=deal)

    @precondition(lambda self: self.game is not None)
    @rule(style=st.sampled_from(sorted(STYLES)), chance=st.integers(0, 99), n=st.integers(1, 60))
    def play(self, style: str, chance: int, n: int) -> None:
        assert self.game is not None
        random = Random(chance)
        for _ in range(n):
            if self.game.is_over:
                return
            moves = self.game.legal_moves()
            least = min(map(STYLES[style], moves))
            self.game.play(random.choice([move for move in moves if STYLES[style](move) == least]))
            self.check_tiles()
            self.check_marker()
            self.check_board()

    @precondition(lambda self: self.game is not None)
    @rule(chance=st.integers(0, 99), n=st.integers(1, 40))
    def play_and_take_back(self, chance: int, n: int) -> None:
        assert self.game is not None
        random, before, played = Random(chance), picture(self.game), 0
        while played < n and not self.game.is_over:
            self.game.play(random.choice(self.game.legal_moves()))
            played += 1
        for _ in range(played):
            self.game.undo()
        assert picture(self.game) == before

    @invariant()
    def check_tiles(self) -> None:
        if self.game:
            assert count_tiles(self.game) == dict.fromkeys(COLORS, self.game.rules.tiles_per_color)

    @invariant()
    def check_marker(self) -> None:
        """The marker is in the center or with its holder, on one floor line or (a full one) on none."""
        if self.game and not self.game.is_over:
            on_floors = [floor.count("M") for floor in self.game.floors]
            assert sum(on_floors) <= 1
            if self.game.holder is None:
                assert sum(on_floors) == 0
            else:
                assert sum(on_floors) == on_floors[self.game.holder]

    @invariant()
    def check_board(self) -> None:
        game = self.game
        if not game:
            return
        assert all(score >= 0 for score in game.scores)
        assert all(len(floor) <= len(game.rules.floor_penalties) for floor in game.floors)
        assert game.round <= game.rules.max_rounds
        for wall, lines in zip(game.walls, game.lines, strict=True):
            for line, (row, tiles) in enumerate(zip(wall, lines, strict=True), start=1):
                assert len(tiles) <= line
                assert len(set(tiles)) <= 1
                assert not set(tiles) & set(row)
        if game.is_over:
            self.check_end()
        else:
            assert game.legal_moves(), "tiles are out, and there is no legal move"
            assert game.center or any(game.displays)
            assert not any("." not in row for wall in game.walls for row in wall)

    def check_end(self) -> None:
        game = self.game
        assert game is not None
        outcome = game.outcome
        assert outcome is not None
        has_row = any("." not in row for wall in game.walls for row in wall)
        assert has_row == (outcome.termination == Termination.ROW_COMPLETED)
        if outcome.termination == Termination.ROUND_LIMIT:
            assert game.round == game.rules.max_rounds
        if outcome.termination == Termination.NO_TILES:
            assert sum(game.bag.values()) == sum(game.lid.values()) == 0
        assert not game.legal_moves()
        assert not game.center
        assert not any(game.displays)
        assert min(outcome.placements) == 1
        assert abs(sum(outcome.win_shares) - 1) < 1e-12
        best = max(outcome.scores)
        assert all(outcome.scores[seat] == best for seat, place in enumerate(outcome.placements) if place == 1)


TestAnyGame = AnyGame.TestCase
TestAnyGame.settings = settings(
    max_examples=40, stateful_step_count=8, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


@pytest.mark.long
class TestAnyOfManyGames(AnyGame.TestCase):
    """The same, for longer."""

    settings = settings(
        max_examples=1000, stateful_step_count=20, deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
