"""The plain reference against facts that can be worked out by hand, or exactly."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from functools import cache
from statistics import mean, stdev

import pytest
import reference
from fact_files import Trace, default_traces, read_traces
from reference import COLORS, LAYOUT, Board, Move, Reference, Table

from azulsim.rules import Bonus, Rules, Termination

DIAGONAL = [(row, row) for row in range(1, 6)]


def place_all(cells: list[tuple[int, int]], wall: reference.Wall) -> list[int]:
    """Place tiles one after another on a wall; return the points of each."""
    points = []
    for row, column in cells:
        wall[row - 1][column - 1] = LAYOUT[row - 1][column - 1]
        points.append(reference.score_placement(wall, row, column)[2])
    return points


def make_wall_without(cells: list[tuple[int, int]]) -> reference.Wall:
    """Return a full wall with some spaces left free."""
    wall = reference.make_wall(LAYOUT)
    for row, column in cells:
        wall[row - 1][column - 1] = "."
    return wall


def lay(
    players: int = 2, rules: Rules | None = None, displays: tuple[str, ...] = ("W",), center: str = ""
) -> Reference:
    """Return a game of round 1 with these tiles on the table, and nothing dealt."""
    game = Reference(players, rules or Rules(), is_dealt=False)
    empty = game.rules.n_displays(players) - len(displays)
    game.table = Table([list(tiles) for tiles in displays] + [[] for _ in range(empty)], list(center))
    game.round = 1
    return game


def play_at_random(game: Reference, seed: int) -> Reference:
    """Play a game to its end by uniform moves."""
    rng = random.Random(seed)
    while not game.is_over:
        game.play(rng.choice(game.legal_moves()))
    return game


def play_to_floor(game: Reference, rounds: int) -> Reference:
    """Play the first legal move to the floor until so many rounds have been played, so that no wall grows."""
    while game.round <= rounds and not game.is_over:
        game.play(next(move for move in game.legal_moves() if move.line == 0))
    return game


def play_take(game: Reference, source: int, color: str, line: int) -> None:
    """Play a move given by its parts."""
    game.play(Move(source, color, line))


# ---------------------------------------------------------------------------------------------- points, exactly


@cache
def count_fillings(filled: tuple[frozenset[int], ...]) -> Counter[int]:
    """Count the ways to fill the rest of the top rows, one tile a row and round, by the points they bring."""
    choices = [sorted(set(range(1, 6)) - columns) for columns in filled]
    if not choices[0]:
        return Counter({0: 1})
    totals: Counter[int] = Counter()
    for columns in itertools.product(*choices):
        wall = reference.make_wall()
        place_all([(row, column) for row, done in enumerate(filled, 1) for column in done], wall)
        gained = sum(place_all(list(enumerate(columns, 1)), wall))
        after = tuple(done | {column} for done, column in zip(filled, columns, strict=True))
        for points, ways in count_fillings(after).items():
            totals[gained + points] += ways
    return totals


def test_top_row_brings_11_to_15_points_in_the_exact_numbers_of_orders() -> None:
    assert count_fillings((frozenset(),)) == {11: 40, 12: 32, 13: 24, 14: 8, 15: 16}


def test_top_two_rows_bring_29_to_40_points() -> None:
    totals = count_fillings((frozenset(), frozenset()))
    assert totals.total() == 120**2
    assert (min(totals), max(totals)) == (29, 40)


def test_top_three_rows_agree_with_the_published_distribution() -> None:
    totals = count_fillings((frozenset(),) * 3)
    assert totals.total() == 1_728_000
    assert (min(totals), max(totals), totals[47], totals[70]) == (47, 70, 20, 230)
    assert totals.most_common(1)[0][0] == 56
    assert sum(points * ways for points, ways in totals.items()) / totals.total() == pytest.approx(57.2, abs=0.05)


def test_last_five_spaces_bring_at_most_50_points_in_one_round() -> None:
    assert place_all(DIAGONAL, make_wall_without(DIAGONAL)) == [10] * 5


def test_full_wall_column_by_column_brings_141_points() -> None:
    cells = [(row, column) for column in range(1, 6) for row in range(1, 6)]
    assert sum(place_all(cells, reference.make_wall())) == 141


def test_full_wall_never_brings_more_than_145_points() -> None:
    rng = random.Random(5)
    for _ in range(200):
        by_row = [rng.sample(range(1, 6), 5) for _ in range(5)]
        cells = [(row, by_row[row - 1][number]) for number in range(5) for row in range(1, 6)]
        assert sum(place_all(cells, reference.make_wall())) <= 145


def test_best_game_ends_with_240_points() -> None:
    rounds = ((1, 2, 3, 4, 5), (5, 1, 2, 3, 4), (5, 4, 1, 2, 3), (5, 4, 3, 1, 2), (5, 4, 3, 2, 1))
    game = lay(rules=Rules(max_rounds=5))
    board = game.boards[0]
    for number in range(1, 6):
        columns = [row.index(number) for row in rounds]
        board.lines = [[LAYOUT[row][column]] * (row + 1) for row, column in enumerate(columns)]
        game.table = Table([["W"]])
        game.seat = 1
        game.boards[1].lines[4] = []
        play_take(game, 1, "W", 5)
    assert game.termination == Termination.ROW_COMPLETED
    assert (board.wall_points, board.bonus_points, board.score) == (145, 95, 240)


@pytest.mark.parametrize(("occupied", "penalty"), list(enumerate([0, 1, 2, 4, 6, 8, 11, 14, 14])))
def test_floor_costs_the_sum_of_its_occupied_spaces(occupied: int, penalty: int) -> None:
    assert reference.floor_penalty(occupied, Rules().floor_penalties) == penalty


def test_bonuses_follow_the_rules() -> None:
    full = reference.make_wall(LAYOUT)
    assert reference.count_complete(full) == (5, 5, 5)
    assert reference.end_bonus(full, Rules()) == 95
    assert reference.end_bonus(full, Rules(bonus=Bonus(row=-1, column=0, color=3))) == 10


@pytest.mark.parametrize(
    ("scores", "rows", "places", "shares"),
    [
        ([50, 50, 45], [1, 1, 0], [1, 1, 3], [0.5, 0.5, 0]),
        ([50, 50, 45], [1, 2, 0], [2, 1, 3], [0, 1, 0]),
        ([7, 9, 9, 9], [1, 0, 0, 0], [4, 1, 1, 1], [0, 1 / 3, 1 / 3, 1 / 3]),
        ([7, 9, 8, 8], [0, 0, 1, 1], [4, 1, 2, 2], [0, 1, 0, 0]),
    ],
)
def test_ties_share_a_place_and_the_win(
    scores: list[int], rows: list[int], places: list[int], shares: list[float]
) -> None:
    assert reference.rank_players(scores, rows) == places
    assert reference.share_win(places) == shares


# ---------------------------------------------------------------------------------------------- dealing


@pytest.mark.parametrize(("players", "on_table"), [(2, 20), (3, 28), (4, 36)])
def test_setup_lays_out_the_printed_numbers(players: int, on_table: int) -> None:
    game = Reference(players)
    assert sum(map(len, game.table.displays)) == on_table
    assert game.bag.total() == 100 - on_table
    assert game.count_tiles() == dict.fromkeys(COLORS, 20)


def test_numbers_of_the_setup_are_data() -> None:
    rules = Rules.model_validate({"displays": {"3": 4}, "tiles_per_display": 6, "tiles_per_color": 7})
    game = Reference(3, rules)
    assert [len(display) for display in game.table.displays] == [6] * 4
    assert game.count_tiles() == dict.fromkeys(COLORS, 7)


@pytest.mark.parametrize(
    ("refill", "in_round_5", "in_round_6"), [("lazy", (0, 80), (80, 0)), ("eager", (80, 0), (60, 20))]
)
def test_bag_runs_out_with_the_last_display_of_round_5(
    refill: str, in_round_5: tuple[int, int], in_round_6: tuple[int, int]
) -> None:
    game = play_to_floor(Reference(2, Rules.model_validate({"lid_refill": refill})), 4)
    assert (game.bag.total(), game.lid.total()) == in_round_5
    play_to_floor(game, 5)
    assert (game.bag.total(), game.lid.total()) == in_round_6
    assert game.count_branches()["tipped_eagerly"] == (refill == "eager")


def test_lid_is_tipped_in_the_middle_of_a_display() -> None:
    game = lay()
    game.bag, game.lid = Counter("BY"), Counter("R" * 30)
    play_take(game, 1, "W", 5)
    assert ["".join(sorted(display)) for display in game.table.displays] == ["BRRY"] + ["RRRR"] * 4
    assert (game.bag.total(), game.lid.total()) == (12, 0)
    assert game.count_branches() == {"unclaimed_marker": 1, "tipped_mid_display": 1}


def test_displays_stay_short_when_bag_and_lid_run_out() -> None:
    game = lay(players=4)
    game.bag, game.lid = Counter("BB"), Counter("RRRR")
    play_take(game, 1, "W", 5)
    assert [len(display) for display in game.table.displays] == [4, 2, 0, 0, 0, 0, 0, 0, 0]
    assert game.count_branches()["short_refill"] == 1


def test_game_without_tiles_ends_with_bonuses() -> None:
    game = lay(rules=Rules(bonus=Bonus(row=2, column=7, color=10)))
    game.bag.clear()
    game.boards[1].wall = make_wall_without([(row, column) for row in range(1, 6) for column in range(2, 6)])
    play_take(game, 1, "W", 5)
    assert game.termination == Termination.NO_TILES
    assert (game.round, game.scores(), game.legal_moves()) == (1, [0, 7], [])


def test_game_without_tiles_may_be_an_error() -> None:
    game = lay(rules=Rules(no_tiles="error"))
    game.bag.clear()
    with pytest.raises(reference.NoTilesError, match="round 2"):
        play_take(game, 1, "W", 5)


# ---------------------------------------------------------------------------------------------- the offer


def test_other_tiles_of_a_display_go_to_the_center_and_excess_to_the_floor() -> None:
    game = lay(displays=("KKKR", "B"))
    play_take(game, 1, "K", 2)
    assert game.table.center == ["R"]
    assert game.table.has_marker
    assert (game.boards[0].lines[1], game.boards[0].floor) == (["K", "K"], ["K"])
    assert game.seat == 1


def test_marker_is_placed_before_the_tiles_that_come_with_it() -> None:
    game = lay(center="BBB")
    facts = game.describe_move(Move(0, "B", 1))
    assert (facts.placed, facts.overflow, facts.marker, facts.forced, facts.n_legal) == (1, 2, True, False, 12)
    play_take(game, 0, "B", 1)
    assert game.boards[0].floor == ["M", "B", "B"]
    assert (game.holder, game.table.has_marker) == (0, False)


def test_move_is_forced_when_every_legal_move_takes_the_marker() -> None:
    assert lay(displays=(), center="BK").describe_move(Move(0, "B", 1)).forced
    assert not lay(displays=("K",), center="BK").describe_move(Move(0, "B", 1)).forced


@pytest.mark.parametrize(("option", "floor", "lid"), [("free", "RRRRRRR", ""), ("replace_last", "RRRRRRM", "R")])
def test_marker_on_a_full_floor_never_costs_more(option: str, floor: str, lid: str) -> None:
    game = lay(rules=Rules.model_validate({"marker_on_full_floor": option, "max_rounds": 1}), center="K")
    game.boards[0].floor, game.boards[0].fallen, game.boards[0].score = list("RRRRRRR"), 7, 20
    play_take(game, 0, "K", 1)
    assert ("".join(game.boards[0].floor), "".join(game.lid.elements())) == (floor, lid)
    assert (game.holder, game.count_markers()) == (0, 1)
    play_take(game, 1, "W", 1)
    assert game.boards[0].score == 20 + 1 - 14
    assert (game.rounds[0].marker_price, game.rounds[0].holder) == (0, 0)


def test_replace_last_needs_a_space_to_replace() -> None:
    game = lay(rules=Rules(marker_on_full_floor="replace_last", floor_penalties=()), center="KK")
    play_take(game, 0, "K", 1)
    assert (game.boards[0].floor, game.holder, game.lid) == ([], 0, {"K": 1})


def test_illegal_moves_are_refused() -> None:
    game = lay(displays=("KR",), center="B")
    game.boards[0].wall[0][3] = "K"
    for move in [(1, "B", 0), (2, "K", 0), (1, "K", 1), (0, "R", 2)]:
        with pytest.raises(ValueError, match="not a legal move"):
            game.play(move)
    assert Move(1, "K", 0) in game.legal_moves()


def test_full_line_of_the_same_color_is_no_destination() -> None:
    board = Board(lines=[["R"], ["R"], [], ["B"], []])
    assert board.destinations("R", Rules()) == [0, 2, 3, 5]


# ---------------------------------------------------------------------------------------------- the round's end


def test_gains_come_before_the_floor_and_nothing_falls_below_zero() -> None:
    game = lay(rules=Rules(max_rounds=1))
    game.boards[0] = Board(lines=[["B"], [], [], [], []], floor=list("RRR"), score=1, fallen=3)
    game.seat = 1
    play_take(game, 1, "W", 5)
    facts = game.rounds[0]
    assert (facts.gain, facts.floor, facts.penalty, facts.penalty_paid, facts.score_after) == (1, 3, 4, 2, 0)
    assert (game.boards[0].floor_loss, game.boards[0].floor_paid) == (4, 2)
    assert game.count_branches()["clamped"] == 1


@pytest.mark.parametrize(
    ("fallen", "score", "price", "paid"),
    [(0, 9, 1, 1), (2, 9, 2, 2), (6, 30, 3, 3), (7, 30, 0, 0), (2, 3, 2, 1), (2, 0, 2, 0)],
)
def test_marker_costs_what_the_tiles_behind_it_moved_on(fallen: int, score: int, price: int, paid: int) -> None:
    game = lay(rules=Rules(max_rounds=1), center="K" * (fallen + 1))
    game.boards[0].lines[4] = ["R"]
    game.boards[0].wall[0][0] = "B"
    play_take(game, 0, "K", 1)
    # The tile on line 1 scores 1, so what stands before the floor is one point more.
    game.boards[0].score = score - 1
    play_take(game, 1, "W", 5)
    assert (game.rounds[0].marker_price, game.rounds[0].marker_price_paid) == (price, paid)
    assert game.rounds[1].marker_price == 0


@pytest.mark.parametrize(("option", "starter"), [("keep", 2), ("rotate", 0)])
def test_unclaimed_marker_decides_the_start_by_its_option(option: str, starter: int) -> None:
    game = lay(players=3, rules=Rules.model_validate({"unclaimed_marker": option}))
    game.starter = 2
    play_take(game, 1, "W", 5)
    assert (game.starter, game.seat, game.round) == (starter, starter, 2)


def test_holder_of_the_marker_starts_the_next_round() -> None:
    game = lay(players=3, displays=(), center="WK")
    game.seat = 1
    play_take(game, 0, "W", 5)
    play_take(game, 0, "K", 5)
    assert (game.starter, game.seat, game.table.has_marker, game.count_markers()) == (1, 1, True, 1)


@pytest.mark.parametrize(("bonus", "scores"), [(3, [3, 0]), (-4, [0, 0])])
def test_starter_bonus_is_clamped_when_the_round_is_dealt(bonus: int, scores: list[int]) -> None:
    assert Reference(2, Rules(starter_bonus=bonus)).scores() == scores


def test_last_round_allowed_ends_the_game() -> None:
    game = play_to_floor(Reference(2, Rules(max_rounds=3)), 3)
    assert (game.termination, game.round) == (Termination.ROUND_LIMIT, 3)
    assert game.enders() == [False, False]


def test_complete_row_ends_the_game_even_in_the_last_round_allowed() -> None:
    game = lay(rules=Rules(max_rounds=1))
    game.boards[1].wall[4] = list("YRKW.")
    game.boards[1].lines[4] = list("BBBBB")
    play_take(game, 1, "W", 1)
    assert (game.termination, game.enders()) == (Termination.ROW_COMPLETED, [False, True])
    assert game.scores() == [1, 5 + 2]
    assert game.placements() == [2, 1]


# ---------------------------------------------------------------------------------------------- gain and denial


def test_exact_gain_counts_tiles_already_waiting_above() -> None:
    game = lay(displays=("WW",), center="R")
    game.boards[0].lines[0] = ["B"]
    # White lands under the blue tile of line 1, which is placed first: 2 points.
    assert game.exact_gain(Move(1, "W", 2)) == 2
    assert game.exact_gain(Move(1, "W", 3)) == 0
    assert game.exact_gain(Move(1, "W", 0)) == -2
    assert game.exact_gain(Move(0, "R", 2)) == -1


def test_exact_gain_also_counts_what_an_earlier_tile_adds_to_a_later_one() -> None:
    game = lay(displays=("B",))
    game.boards[0].lines[1] = ["W", "W"]
    # Blue alone: 1; and the white tile below it scores 2 instead of 1.
    assert game.exact_gain(Move(1, "B", 1)) == 2


def test_denial_is_what_the_next_seat_can_no_longer_have() -> None:
    game = lay(displays=("WW", "B"))
    game.boards[1].lines[0] = ["B"]
    # Next seat, now: white to line 2 under its blue tile brings 2; after that take only blue to a line, worth 0.
    assert game.denial(Move(1, "W", 5)) == 2
    assert game.denial(Move(2, "B", 1)) == 0


def test_denial_counts_the_marker_and_an_empty_table() -> None:
    game = lay(displays=("BK",), center="")
    # Before: blue or black to line 1 brings 1. After: the center holds the other color and the marker: 1 - 1.
    assert game.denial(Move(1, "B", 1)) == 1
    # Before: 1. After: nothing is left to take.
    assert lay(displays=("B",)).denial(Move(1, "B", 1)) == 1


# ---------------------------------------------------------------------------------------------- whole games


@pytest.mark.parametrize("players", [2, 3, 4])
def test_random_games_keep_the_tiles_and_add_up(players: int) -> None:
    for seed in range(4):
        game = Reference(players, draw=reference.draw_at_random(random.Random(seed)))
        rng = random.Random(seed)
        while not game.is_over:
            assert game.count_tiles() == dict.fromkeys(COLORS, 20)
            assert game.count_markers() == 1
            assert game.legal_moves()
            assert min(game.scores()) >= 0
            game.play(rng.choice(game.legal_moves()))
        for seat, board in enumerate(game.boards):
            assert board.score == board.wall_points - board.floor_paid + board.bonus_points
            assert board.wall_points == sum(tile.points for tile in game.placed if tile.seat == seat)
            assert board.marker_takes == sum(facts.holder == seat for facts in game.rounds if facts.seat == seat)
        assert len(game.rounds) == players * game.round
        assert all(0 <= facts.marker_price_paid <= facts.marker_price <= 3 for facts in game.rounds)
        assert all(facts.holder == facts.seat for facts in game.rounds if facts.marker_price)
        assert sum(game.win_shares()) == pytest.approx(1)


RECORDED = [trace for path in default_traces() for trace in read_traces(path)[::5]]


@pytest.mark.parametrize("recorded", RECORDED, ids=[trace.id for trace in RECORDED])
def test_trace_deals_come_from_bag_and_lid(recorded: Trace) -> None:
    game = Reference(recorded.players, draw=reference.draw_as_stated([traced.displays for traced in recorded.rounds]))
    for traced in recorded.rounds:
        assert [sorted(display) for display in game.table.displays] == [sorted(tiles) for tiles in traced.displays]
        for move in traced.moves:
            game.play(move)
    assert game.is_over
    assert game.scores() == recorded.scores


@pytest.mark.long
@pytest.mark.parametrize(
    ("players", "published"), [(2, (2.96, 6.60, 70.3)), (3, (2.44, 6.69, 90.0)), (4, (2.07, 6.78, 108.4))]
)
def test_uniform_play_agrees_with_published_means(players: int, published: tuple[float, float, float]) -> None:
    games = [
        play_at_random(Reference(players, draw=reference.draw_at_random(random.Random(seed))), seed=1_000_000 + seed)
        for seed in range(1500)
    ]
    scores = [sum(game.scores()) / players for game in games]
    rounds = [float(game.round) for game in games]
    moves = [float(game.ply) for game in games]
    for values, expected in zip((scores, rounds, moves), published, strict=True):
        error = stdev(values) / len(values) ** 0.5
        assert mean(values) == pytest.approx(expected, abs=4 * error + 0.01)
