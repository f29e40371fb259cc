"""The friendly game: play, undo, pictures, and strategies that play one."""

from __future__ import annotations

import random
from typing import Any

import pytest
from playing import make_block, play
from reference import COLORS, Reference
from test_engine import draw_as_the_engine

import azulsim
from azulsim.engine.luck import DEAL_DOMAIN, root_key
from azulsim.errors import InputError, RunError
from azulsim.game import Game
from azulsim.rules import Bonus, Rules, Termination

HOUSE = Rules(
    tiles_per_color=7,
    floor_penalties=(-1, -2, -2),
    marker_on_full_floor="replace_last",
    bonus=Bonus(row=9),
    max_rounds=9,
)

GOLDEN_DISPLAYS = ["YYKW", "BYRK", "YRKW", "RKKW", "BBKW"]
GOLDEN_MOVES = (
    "2Y1 3R1 5B2 1Y2 CW3 CK4 CR4 4R3 CY5 CW5 CB- CK- 4B1 2R2 5W2 1K1 3B3 CW4 CY5 CB- CR4 3K2 2R1 1W1 4Y2 5R3 "
    "CK5 CY4 CB4 2B3 5Y1 3W4 1W5 4K1 CY3 CK5 CB2 CR2 4B3 5K3 1B2 CW1 3Y4 CK2 2Y4 CR5"
)
GOLDEN_SCORES = [71, 41]


SHOWN = ("round", "seat", "starter", "holder", "scores", "walls", "lines", "floors", "displays", "center", "bag", "lid")


def picture(game: Game) -> dict[str, Any]:
    """Everything that a game shows."""
    return {name: getattr(game, name) for name in (*SHOWN, "moves", "termination")} | {
        "legal": game.legal_moves(),
        "outcome": game.outcome,
    }


def key_of(seed: int, deal: int) -> int:
    """The key of a deal, from NumPy's seed sequence and the rewrite of SplitMix64 in test_engine."""
    from test_engine import derive

    return derive(derive(root_key(seed, DEAL_DOMAIN), deal), 0)


@pytest.mark.parametrize("rules", [Rules(), HOUSE], ids=["printed", "house"])
@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_game_shows_what_the_reference_shows(players: int, rules: Rules) -> None:
    rng = random.Random(f"game-{players}")
    game = Game(players, rules=rules, seed=5, deal=3)
    reference = Reference(players, rules, draw_as_the_engine(key_of(5, 3)))
    while not reference.is_over:
        moves = {f"{m.source or 'C'}{m.color}{m.line or '-'}": m for m in reference.legal_moves()}
        assert set(game.legal_moves()) == set(moves)
        assert game.displays == ["".join(sorted(tiles, key=COLORS.index)) for tiles in reference.table.displays]
        assert game.center == "".join(sorted(reference.table.center, key=COLORS.index))
        assert game.floors == ["".join(board.floor) for board in reference.boards]
        assert game.walls == [["".join(row) for row in board.wall] for board in reference.boards]
        assert game.lines == [["".join(line) for line in board.lines] for board in reference.boards]
        assert game.bag == {color: reference.bag[color] for color in COLORS}
        if rules.marker_on_full_floor == "free":
            assert game.lid == {color: reference.lid[color] for color in COLORS}
        assert (game.round, game.seat, game.starter, game.holder) == (
            reference.round,
            reference.seat,
            reference.starter,
            reference.holder,
        )
        assert game.scores == reference.scores()
        text = rng.choice(sorted(moves))
        game.play(text)
        reference.play(moves[text])
    outcome = game.outcome
    assert outcome is not None
    assert outcome.termination == game.termination == reference.termination
    assert (outcome.scores, outcome.placements) == (reference.scores(), reference.placements())
    assert outcome.win_shares == reference.win_shares()
    assert game.legal_moves() == []
    assert "over after" in str(game)


@pytest.mark.parametrize("players", [2, 4])
def test_undo_goes_back_exactly(players: int) -> None:
    rng = random.Random(7)
    game = Game(players, seed=1)
    pictures = [picture(game)]
    while not game.is_over:
        game.play(rng.choice(game.legal_moves()))
        pictures.append(picture(game))
    played = list(game.moves)
    while game.moves:
        assert picture(game) == pictures.pop()
        game.undo()
    assert picture(game) == pictures[0]
    for move in played:
        game.play(move)
    assert game.moves == played
    with pytest.raises(InputError, match="no move to take back"):
        Game().undo()


def test_a_move_that_is_no_text_is_refused() -> None:
    for move in (None, 5, ["2B3"]):
        with pytest.raises(InputError, match="write it as text, such as '2B3'"):
            Game(2).play(move)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("move", "message"),
    [
        ("", "write source, color and line"),
        ("2B6", "write source, color and line"),
        ("xB1", "write source, color and line"),
        ("2J1", "not legal"),
        ("0B1", "write source, color and line"),
        ("12B1", "write source, color and line"),
        ("²B1", "write source, color and line"),
        ("2B", "write source, color and line"),
        ("CB1", "not legal for seat 0 in round 1; legal: "),
    ],
)
def test_a_move_that_cannot_be_is_refused_in_one_sentence(move: str, message: str) -> None:
    game = Game(seed=7)
    before = picture(game)
    with pytest.raises(InputError, match=message) as caught:
        game.play(move)
    assert "\n" not in str(caught.value)
    assert picture(game) == before


def test_moves_may_be_written_small() -> None:
    game = Game(seed=7)
    move = game.legal_moves()[0]
    assert game.play(move.lower()).moves == [move]


def test_a_game_that_is_over_says_so() -> None:
    game = azulsim.play("greedy", "greedy", seed=2)
    with pytest.raises(InputError, match="it is over"):
        game.play("1B1")


@pytest.mark.parametrize("players", [-1, 0, 1, 5])
def test_the_number_of_players_has_bounds(players: int) -> None:
    with pytest.raises(InputError, match=f"players = {players}: must be from 2 to 4"):
        Game(players)
    if players in (1, 5):
        with pytest.raises(InputError, match=f"{players} strategies given"):
            azulsim.play(*["greedy"] * players)


# ---- a table laid by hand


def lay(**changes: Any) -> Game:
    """A small table, with changes."""
    table: dict[str, Any] = {
        "walls": [["....."] * 5, ["....."] * 5],
        "lines": [[""] * 5, [""] * 5],
        "floors": ["", ""],
        "scores": [0, 0],
        "displays": ["BBYR", "", "W"],
        "center": "KK",
    }
    return Game.from_table(**(table | changes))


def test_a_table_can_be_laid_and_read_back() -> None:
    game = lay(
        walls=[["BY...", ".....", "..B..", ".....", "....B"], ["....."] * 5],
        lines=[["R", "YY", "", "K", ""], ["", "", "", "", "WWWWW"]],
        floors=["MB", ""],
        scores=[7, 12],
        holder=0,
        seat=1,
        starter=1,
        round=4,
        bag={"B": 3},
        lid={"W": 2, "B": 1},
    )
    assert game.walls[0] == ["BY...", ".....", "..B..", ".....", "....B"]
    assert game.lines == [["R", "YY", "", "K", ""], ["", "", "", "", "WWWWW"]]
    assert (game.floors, game.scores, game.holder, game.seat, game.round) == (["MB", ""], [7, 12], 0, 1, 4)
    assert (game.bag["B"], game.lid["W"], game.lid["B"]) == (3, 2, 1)
    assert game.displays == ["BBYR", "", "W", "", ""]
    legal = game.legal_moves()
    assert "1B1" in legal
    assert "CK-" in legal
    assert "3W5" not in legal


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"displays": ["BX"]}, r"display 1 = 'BX': 'X' is no color"),
        ({"center": "M"}, r"center = 'M': 'M' is no color"),
        ({"displays": [""] * 6}, "displays: 6 given, the rules have 5 at 2 players"),
        ({"walls": [["Y....", *["....."] * 4], ["....."] * 5]}, "wall row 1 = 'Y....': space 1 is for B"),
        ({"lines": [["BB", *[""] * 4], [""] * 5]}, "pattern line 1 = 'BB': holds at most 1"),
        ({"lines": [["", "BY", *[""] * 3], [""] * 5]}, "pattern line 2 = 'BY'"),
        ({"floors": ["MX", ""]}, "'X' is no color"),
    ],
)
def test_a_table_that_cannot_be_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        lay(**changes)


def test_a_round_that_cannot_be_dealt_ends_the_game_or_is_an_error() -> None:
    game = lay(displays=["B"], center="", scores=[3, 5]).play("1B-")
    assert (game.round, game.displays, game.seat, game.scores) == (2, ["B", "", "", "", ""], 0, [2, 5])
    lines = [["", "B", "", "", ""], [""] * 5]
    ended = lay(displays=["B"], center="", lines=lines, floors=["", ""], scores=[0, 0]).play("1B5")
    assert ended.termination == Termination.NO_TILES
    with pytest.raises(RunError, match='no_tiles = "error"'):
        lay(displays=["B"], center="", lines=lines, rules=Rules(no_tiles="error")).play("1B5")


# ---- strategies


def test_play_is_the_game_of_the_arena() -> None:
    game = azulsim.play("greedy", "uniform", "hoarder", seed=7, deal=4)
    tables = play("greedy", "uniform", "hoarder", seed=7, first=4, deals=1)
    assert game.specs == ("greedy", "uniform", "hoarder")
    assert game.outcome is not None
    assert game.outcome.scores == tables.games["score"].tolist()
    assert game.outcome.win_shares == tables.games["win_share"].tolist()
    assert len(game.moves) == tables.games["plies"][0] == len(tables.moves)
    assert make_block(["greedy", "uniform"]).players == 2


def test_a_new_game_is_the_same_game_in_every_version() -> None:
    """Golden: a change of the luck, of the rules or of greedy shows here first, and must be meant."""
    assert Game(seed=7).displays == GOLDEN_DISPLAYS
    game = azulsim.play("greedy", "greedy", seed=7)
    assert " ".join(game.moves) == GOLDEN_MOVES
    assert game.scores == GOLDEN_SCORES


@pytest.mark.parametrize(
    ("specs", "luck", "message"),
    [
        (("greedy", "uniform"), {"seed": -1}, "seed = -1: must be a whole number from 0"),
        (("greedy", "uniform"), {"seed": "a"}, "seed = 'a': must be a whole number from 0"),
        (("greedy", "uniform"), {"deal": 1 << 40}, "deal = .*: must be a whole number from 0"),
        ((3, "greedy"), {}, "strategy 3: write it as text"),
    ],
)
def test_play_refuses_what_it_cannot_use_in_one_sentence(specs: Any, luck: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        azulsim.play(*specs, **luck)
