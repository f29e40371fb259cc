"""The bundled strategies: what each promises, and published means of independent programs."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from playing import assert_same, begin_games, play
from scipy import stats
from test_strategies_doc import split_doc

from azulsim.engine import driver
from azulsim.engine.move import MOVE
from azulsim.engine.record import MAX_LEGAL
from azulsim.registry import list_strategies, make_strategy
from azulsim.rules import VARIANTS

BUNDLED = [entry.name for entry in list_strategies() if entry.origin == "bundled"]


# ---- what each says of itself


@pytest.mark.parametrize("name", BUNDLED)
def test_every_strategy_says_what_it_is_and_what_it_is_bad_at(name: str) -> None:
    how, source, bad = split_doc(make_strategy(name).definition)
    assert how.count(".") >= 1
    assert source.endswith(".")
    assert bad.endswith(".")
    assert make_strategy(name).speed == "compiled"


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("name", BUNDLED)
def test_every_strategy_finishes_its_games(name: str, players: int) -> None:
    tables = play(name, players=players, deals=20, depth="games")
    assert tables.failures == []
    assert len(tables.games) == 20 * players
    assert set(tables.games["termination"]) <= {1, 2, 3}


@pytest.mark.parametrize("name", BUNDLED)
def test_every_strategy_plays_every_variant(name: str) -> None:
    for number, rules in enumerate(VARIANTS.values()):
        assert play(name, players=2 + number % 3, deals=2, rules=rules, depth="games").failures == []


@pytest.mark.parametrize("variant", ["standard", "gray-joker"])
@pytest.mark.parametrize("name", [name for name in BUNDLED if make_strategy(name).definition.shape == "score_position"])
def test_scores_of_a_position_are_the_same_compiled_and_plain(name: str, variant: str) -> None:
    players = [make_strategy(name, speed=speed) for speed in ("compiled", "plain")]
    assert_same(*(play(player, players=2, deals=1, rules=VARIANTS[variant]) for player in players))


def test_strategies_of_different_names_play_differently() -> None:
    # these play as one of the others, whichever is made for the number of players, as tests of their own say
    names = [name for name in BUNDLED if name not in ("tuned", "alpha_beta")]
    for deals in (3, 300):  # few are so alike that the first games cannot tell them apart
        played = {name: play(name, players=2, deals=deals).moves.tobytes() for name in names}
        counts = Counter(played.values())
        names = [name for name in names if counts[played[name]] > 1]
    assert names == []


# ---- the laws of uniform play


def choose_often(name: str, n: int, *, plies: int) -> tuple[npt.NDArray[np.int64], list[Any]]:
    """Let a strategy choose n times, under n keys, in one position; return the codes chosen and the legal moves."""
    player = make_strategy(name)
    game, live, seat = begin_games(player, 1, first=17)
    code = np.zeros(1, np.int64)
    for _ in range(plies):
        driver.call_slots(game, live, np.zeros(1, np.int64), seat, code)
        assert not driver.PIECES[False].advance(game[0], live[0], code[0])
    out, offsets = np.zeros(MAX_LEGAL, MOVE), np.zeros(2, np.int64)
    driver.fill_slots(game, live, np.zeros(1, np.int64), seat, out, offsets, np.zeros(1, np.uint64))
    games, lives = np.repeat(game, n), np.repeat(live, n)
    lives["turn_keys"] = np.random.default_rng(plies).integers(0, 1 << 63, (n, 4))
    codes = np.zeros(n, np.int64)
    driver.call_slots(games, lives, np.arange(n), np.repeat(seat, n), codes)
    return codes, list(out[: offsets[1]])


@pytest.mark.parametrize("plies", [0, 3, 5])
def test_uniform_plays_every_legal_move_as_often_as_any_other(plies: int) -> None:
    codes, legal = choose_often("uniform", 40_000, plies=plies)
    counts = Counter(codes.tolist())
    assert set(counts) == {int(move["code"]) for move in legal}
    assert stats.chisquare(list(counts.values())).pvalue > 1e-4


@pytest.mark.parametrize("plies", [0, 3, 5])
def test_uniform_no_floor_goes_to_the_floor_only_with_what_fits_nowhere(plies: int) -> None:
    codes, legal = choose_often("uniform_no_floor", 40_000, plies=plies)
    fits = {(int(move["source"]), int(move["color"])) for move in legal if move["line"]}
    wanted = {
        int(move["code"]) for move in legal if move["line"] or (int(move["source"]), int(move["color"])) not in fits
    }
    counts = Counter(codes.tolist())
    assert set(counts) == wanted
    assert stats.chisquare(list(counts.values())).pvalue > 1e-4


def test_uniform_no_floor_still_takes_what_fits_nowhere() -> None:
    moves = play("uniform_no_floor", players=2, deals=50).moves
    assert (moves["line"] == 0).any()


def test_greedy_plays_a_move_of_the_best_gain() -> None:
    for name in ("greedy", "uniform"):
        codes, legal = choose_often(name, 50, plies=4)
        best = max(int(move["gain"]) for move in legal)
        gains = {int(move["code"]): int(move["gain"]) for move in legal}
        chosen = {gains[int(code)] for code in codes}
        assert (chosen == {best}) == (name == "greedy")


# ---- published means

GAMES = 4_000
Z = 4.0
"""Standard errors allowed: some 150 comparisons, each wrong by chance once in 16,000."""

UNIFORM = {  # docs/RULES.md 11: games, rounds, moves, score, winner, wall points, floor loss, rows, columns, colors
    ("uniform", 2): (5000, 6.603, 70.42, 2.977, 5.19, 24.907, 66.91, 0.5968, 0.0364, 0.01530),
    ("uniform_no_floor", 2): (10000, 5.414, 57.73, 8.688, 13.40, 30.570, 38.24, 0.7014, 0.0846, 0.02995),
    ("uniform", 3): (4000, 6.703, 90.17, 2.470, 5.79, 21.890, 60.65, 0.4241, 0.0222, 0.01175),
    ("uniform_no_floor", 3): (4000, 5.480, 73.64, 6.825, 13.51, 26.390, 35.03, 0.4945, 0.0467, 0.02150),
    ("uniform", 4): (3000, 6.793, 108.40, 2.079, 6.17, 19.705, 58.25, 0.3194, 0.0161, 0.00825),
    ("uniform_no_floor", 4): (3000, 5.555, 88.54, 5.554, 12.90, 23.784, 34.75, 0.3886, 0.0279, 0.01450),
}
SHARES = {  # docs/RULES.md 11: win share by seat
    ("uniform", 2): (0.5003, 0.4997),
    ("uniform_no_floor", 2): (0.5053, 0.4946),
    ("uniform", 3): (0.3509, 0.3310, 0.3181),
    ("uniform_no_floor", 3): (0.3392, 0.3373, 0.3235),
    ("uniform", 4): (0.2761, 0.2304, 0.2515, 0.2421),
    ("uniform_no_floor", 4): (0.2573, 0.2512, 0.2360, 0.2555),
}
SHORT = {("uniform", 4): 91, ("uniform_no_floor", 4): 126}  # docs/RULES.md 11: games with short displays
GREEDY = {2: (51.1, 51.8), 3: (57.0, 66.8), 4: (55.4, 80.1)}
"""Mean score and moves of greedy in all seats, by two independent programs (sample sizes not given)."""
GREEDY_SHARES = (0.24, 0.36, 0.245, 0.156)
"""Wins by seat at four players, ties as shares, by the same."""
UNIFORM_AGAIN = {2: (2.96, 6.60, 70.3), 3: (2.44, 6.69, 90.0), 4: (2.07, 6.78, 108.4)}
"""Mean score, rounds and moves of uniform play, by the same."""


@pytest.fixture(scope="module")
def played() -> dict[tuple[str, int], npt.NDArray[Any]]:
    """Many games, GAMES[games, seats], by strategy and players."""
    keys = [*UNIFORM, *(("greedy", players) for players in GREEDY)]
    return {
        (name, players): play(name, players=players, deals=GAMES, depth="games", seed=20).games.reshape(-1, players)
        for name, players in keys
    }


def assert_close(ours: npt.NDArray[Any], theirs: float, n_theirs: float, digits: int, what: str) -> None:
    """Our mean is theirs, within the sampling errors of both (one spread for both) and the rounding of theirs."""
    spread = ours.std(ddof=1)
    error = spread * math.sqrt(1 / len(ours) + 1 / n_theirs)
    assert abs(ours.mean() - theirs) < Z * error + 0.5 * 10.0**-digits, (what, ours.mean(), theirs, error)


@pytest.mark.parametrize(("name", "players"), list(UNIFORM))
def test_uniform_play_has_the_published_means(played: Any, name: str, players: int) -> None:
    games = played[name, players]
    n, rounds, moves, score, winner, wall, floor, rows, columns, colors = UNIFORM[name, players]
    assert_close(games["rounds"][:, 0].astype(float), rounds, n, 3, "rounds")
    assert_close(games["plies"][:, 0].astype(float), moves, n, 2, "moves")
    assert_close(games["score"].max(axis=1).astype(float), winner, n, 2, "winner")
    for column, theirs, digits in (
        ("score", score, 3),
        ("wall_points", wall, 3),
        ("floor_loss", floor, 2),
        ("rows", rows, 4),
        ("columns", columns, 4),
        ("colors", colors, 5),
    ):
        assert_close(games[column].mean(axis=1), theirs, n, digits, column)
    for seat, share in enumerate(SHARES[name, players]):
        assert_close(games["win_share"][:, seat], share, n, 4, f"win share of seat {seat}")


@pytest.mark.parametrize(("name", "players"), list(SHORT))
def test_short_displays_are_as_rare_as_published(name: str, players: int) -> None:
    rounds = play(name, players=players, deals=GAMES, depth="rounds", seed=21).rounds
    ours = len(np.unique(rounds["game"][rounds["is_short"]]))
    assert stats.fisher_exact([[ours, GAMES - ours], [SHORT[name, players], 3000 - SHORT[name, players]]])[1] > 1e-4


@pytest.mark.parametrize("players", [2, 3, 4])
def test_play_has_the_means_of_other_programs(played: Any, players: int) -> None:
    """Their sample sizes are not given; no more than 10,000 games are credited to them."""
    n = 10_000
    uniform, greedy = played["uniform", players], played["greedy", players]
    score, rounds, moves = UNIFORM_AGAIN[players]
    assert_close(uniform["score"].mean(axis=1), score, n, 2, "score")
    assert_close(uniform["rounds"][:, 0].astype(float), rounds, n, 2, "rounds")
    assert_close(uniform["plies"][:, 0].astype(float), moves, n, 1, "moves")
    score, moves = GREEDY[players]
    assert_close(greedy["score"].mean(axis=1), score, n, 1, "score of greedy")
    assert_close(greedy["plies"][:, 0].astype(float), moves, n, 1, "moves of greedy")
    if players == 4:
        for seat, (share, digits) in enumerate(zip(GREEDY_SHARES, (2, 2, 3, 3), strict=True)):
            assert_close(greedy["win_share"][:, seat], share, n, digits, f"win share of seat {seat}")
