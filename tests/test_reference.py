"""The plain reference against facts that can be worked out by hand, or exactly."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Sequence
from functools import cache
from statistics import mean, stdev

import pytest
import reference
from fact_files import Trace, default_traces, read_traces
from reference import COLORS, LAYOUT, Board, Move, Reference, Table
from subjects import NO_LINES, NO_WALL

from azulsim.rules import VARIANTS, Bonus, Rules, Termination

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


# ---------------------------------------------------------------------------------------------- walls as data


GRAY = Rules(wall="gray", max_rounds=1)
CRYSTAL = VARIANTS["crystal-mosaic"]
TWO_BLUE_PRINTED = ("B....", "B....", "R....", "BYRKW", "YBWKR")
"""Two rows with four free spaces and blue printed in column 1, one with red there, and two wholly printed rows."""


def board_of(wall: Sequence[str] = NO_WALL, lines: Sequence[str] = NO_LINES, floor: str = "", score: int = 0) -> Board:
    """Return a board from text; all on the floor but the marker fell in this round."""
    fallen = len(floor.replace("M", ""))
    return Board(reference.make_wall(wall), [list(tiles) for tiles in lines], list(floor), score, fallen)


def wall_of(board: Board) -> list[str]:
    """Return a wall as text."""
    return ["".join(row) for row in board.wall]


def tile(rules: Rules, board: Board, *columns: int) -> tuple[Reference, list[tuple[int, list[int]]]]:
    """Let a round end for a board (seat 0); return the game, and row and options of each choice, answered in order."""
    game = lay(rules=rules)
    game.boards[0] = board
    game.seat = 1
    asked: list[tuple[int, list[int]]] = []

    def place(game: Reference, seat: int, row: int, options: list[int]) -> int:
        asked.append((row, options))
        return columns[len(asked) - 1]

    game.place = place
    play_take(game, 1, "W", 5)
    assert len(asked) == len(columns)
    return game, asked


def test_gray_choices_are_made_from_top_to_bottom_and_see_earlier_ones() -> None:
    board = board_of(lines=("B", "BB", "", "", "BBBBB"))
    game, asked = tile(GRAY, board, 2, 5, 1)
    assert asked == [(1, [1, 2, 3, 4, 5]), (2, [1, 3, 4, 5]), (5, [1, 3, 4])]
    assert wall_of(board) == [".B...", "....B", ".....", ".....", "B...."]
    assert game.count_branches()["chosen_column"] == 3


def test_single_legal_column_is_forced_and_no_question() -> None:
    board = board_of(("B....", ".B...", "..B..", "...B.", "....."), lines=("", "", "", "", "BBBBB"))
    game, asked = tile(GRAY, board)
    assert (asked, wall_of(board)[4]) == ([], "....B")
    assert game.count_branches()["forced_column"] == 1


def test_line_without_a_legal_space_falls_and_costs_in_the_same_round() -> None:
    board = board_of(("....B", "WRYK.", ".....", ".....", "....."), ("", "BB", "", "", ""), "M", 10)
    game = lay(rules=GRAY)
    game.boards[0], game.holder, game.table.has_marker, game.seat = board, 0, False, 1
    play_take(game, 1, "W", 5)
    facts = game.rounds[0]
    # Marker and two tiles: 1 + 1 + 2. Without the marker the tiles would cost 1 + 1.
    assert (facts.gain, facts.floor, facts.penalty, facts.score_after) == (0, 3, 4, 6)
    assert (facts.marker_price, facts.marker_price_paid) == (2, 2)
    assert (game.lid, board.lines[1]) == ({"B": 2}, [])
    assert game.count_branches()["unplaceable_line"] == 1


def test_nothing_is_asked_about_a_line_without_a_legal_space() -> None:
    board = board_of(("....B", "WRYK.", ".....", ".....", "....."), ("", "BB", "", "", ""))
    game, asked = tile(GRAY.model_copy(update={"gray_may_decline": True}), board)
    branches = game.count_branches()
    assert (asked, branches["unplaceable_line"], branches["declined_line"]) == ([], 1, 0)


def test_tiles_of_a_fallen_line_beyond_the_floor_cost_nothing() -> None:
    wall = ("B....", ".B...", "..B..", "YKWR.", "....B")
    board = board_of(wall, ("", "", "", "BBBB", ""), "R" * 6, 20)
    game, _ = tile(GRAY, board)
    assert (game.rounds[0].floor, game.rounds[0].penalty) == (7, 14)
    assert game.lid == {"B": 4, "R": 6}


def test_offer_on_the_gray_wall_knows_the_row_rule_only() -> None:
    board = board_of(("....B", "WRYK.", ".B...", ".....", "....."), ("", "", "", "KK", ""))
    assert board.destinations("B", GRAY) == [0, 2, 5]
    assert board.destinations("K", GRAY) == [0, 1, 3, 4, 5]


@pytest.mark.parametrize(("column", "score", "branch"), [(3, 7, "chosen_column"), (0, 4, "declined_line")])
def test_declining_makes_a_single_column_a_choice(column: int, score: int, branch: str) -> None:
    board = board_of((".....", "YK.RW", ".....", ".....", "....."), ("", "BB", "", "", ""), score=6)
    rules = GRAY.model_copy(update={"gray_may_decline": True, "rows_to_end": 2, "bonus": Bonus(row=-4, column=0)})
    game, asked = tile(rules, board, column)
    assert asked == [(2, [0, 3])]
    # Placed: 6 + 5 and 4 less for the complete row. Declined: two tiles on the floor, 6 - 2.
    assert game.boards[0].score == score
    assert game.count_branches()[branch] == 1


@pytest.mark.parametrize(
    ("row", "color", "wall", "columns"),
    [
        (1, "B", (".....", ".....", ".....", ".....", "....."), [1, 2, 3, 4, 5]),
        # Both spaces are printed in blue: twice in column 1 is allowed, in other columns it is not.
        (1, "B", (".....", "B....", ".....", ".....", "....."), [1, 2, 3, 4, 5]),
        (1, "B", (".....", ".B...", ".....", ".....", "....."), [1, 3, 4, 5]),
        (1, "B", ("..B..", ".....", ".....", ".....", "....."), []),
        # Red in column 1 is printed in row 3 only, and closed to red in rows 1 and 2 anyway.
        (1, "R", (".....", ".....", "R....", ".....", "....."), [2, 3, 4, 5]),
        (3, "R", (".....", ".R...", ".....", "..R..", "....."), [1, 4, 5]),
        # A wholly printed row has one space for each color, whatever lies above it unless that repeats the color.
        (4, "Y", (".....", ".....", ".....", ".....", "....."), [2]),
        (4, "Y", (".Y...", ".....", ".....", ".....", "....."), []),
        (4, "B", ("B....", ".....", ".....", ".....", "....."), [1]),
        (5, "K", (".....", ".....", ".....", "...K.", "....."), [4]),
        (2, "B", (".....", "JYRK.", ".....", ".....", "....."), [5]),
        (2, "W", (".....", "J..B.", "W....", "....W", "....."), [2, 3]),
    ],
)
def test_columns_of_a_mixed_wall(row: int, color: str, wall: tuple[str, ...], columns: list[int]) -> None:
    assert reference.find_columns(reference.make_wall(wall), TWO_BLUE_PRINTED, row, [color] * row) == columns


def test_offer_on_a_mixed_wall() -> None:
    rules = Rules(wall=TWO_BLUE_PRINTED)
    # Row 1: blue's space is taken by a joker, but free spaces are left. Row 2: blue lies there. Row 3: full.
    # Row 4, wholly printed: blue's space is taken by a joker.
    board = board_of(("J....", "..B..", "RBYJW", "J....", "....."))
    assert board.destinations("B", rules) == [0, 1, 5]
    assert board.destinations("K", rules) == [0, 1, 2, 4, 5]
    assert board.destinations("J", rules) == [0, 1, 2, 4, 5]


@pytest.mark.parametrize(
    ("wall", "column", "points", "multiplied"),
    [
        # White's own space doubles: 2 down, twice; and alone, 1 twice.
        ((".K...", ".....", "Y....", ".....", "....."), 1, 4, 1),
        ((".K...", ".....", ".....", ".....", "....."), 1, 2, 1),
        ((".K...", "..R..", ".....", ".....", "....."), 2, 4, 0),
        ((".K...", ".....", ".....", ".....", "....."), 3, 1, 0),
    ],
)
def test_space_multiplies_what_its_tile_scores(
    wall: tuple[str, ...], column: int, points: int, multiplied: int
) -> None:
    rules = CRYSTAL.model_copy(update={"max_rounds": 1})
    game, _ = tile(rules, board_of(wall, ("", "WW", "", "", "")), column)
    assert (game.placed[0].points, game.rounds[0].gain) == (points, points)
    assert game.count_branches()["multiplied"] == multiplied


def test_exact_gain_places_as_it_is_told_and_counts_lines_that_fall() -> None:
    game = lay(rules=GRAY, displays=("B", "K"))
    game.boards[0] = board_of((".....", "WRYK.", ".....", ".....", "....."), ("", "BB", "", "", ""))
    move = Move(1, "B", 1)
    # Line 2 brings 5 in column 5, its only space, as long as no blue lies above. In column 1 the new tile stands on
    # the white one, 2 down; in column 5 it brings 1, and both tiles of line 2 fall.
    assert game.exact_gain(move) == 2 + 5 - 5
    assert game.exact_gain(move, lambda game, seat, row, options: options[-1]) == 1 - 2 - 5
    assert (game.boards[0].floor, wall_of(game.boards[0])[0], game.events) == ([], ".....", [])


def test_place_sees_the_board_that_the_gain_is_measured_on() -> None:
    game = lay(rules=GRAY, displays=("B",))
    seen: list[tuple[int, int, list[str], list[str]]] = []

    def place(game: Reference, seat: int, row: int, options: list[int]) -> int:
        seen.append((seat, row, wall_of(game.boards[seat]), ["".join(line) for line in game.boards[seat].lines]))
        return options[0]

    game.boards[0] = board_of(lines=("", "KK", "", "", ""))
    assert game.exact_gain(Move(1, "B", 1), place) == 1 + 2 - 1
    after = [entry for entry in seen if "B...." in entry[2]]
    assert after == [(0, 2, ["B....", *NO_WALL[1:]], list(NO_LINES))]


# ---------------------------------------------------------------------------------------------- joker tiles


JOKERS = Rules(joker_tiles=True, max_rounds=1)


def takes_of(game: Reference) -> set[tuple[int, str, bool]]:
    """Return the takes among the legal moves."""
    return {(move.source, move.color, move.jokers) for move in game.legal_moves()}


@pytest.mark.parametrize(("players", "per_color", "jokers"), [(2, 19, 5), (3, 18, 10), (4, 18, 10)])
def test_jokers_replace_tiles_of_each_color(players: int, per_color: int, jokers: int) -> None:
    game = Reference(players, Rules(joker_tiles=True))
    assert game.count_tiles() == dict.fromkeys(COLORS, per_color) | {"J": jokers}
    assert game.count_tiles().total() == 100


def test_jokers_are_taken_alone_or_with_one_color() -> None:
    game = lay(rules=JOKERS, displays=("JJRK", "BB"), center="J")
    assert takes_of(game) == {
        (0, "J", False),
        (1, "R", False),
        (1, "K", False),
        (1, "J", False),
        (1, "R", True),
        (1, "K", True),
        (2, "B", False),
    }
    facts = game.describe_move(Move(1, "R", 2, jokers=True))
    assert (facts.placed, facts.overflow, facts.n_legal) == (2, 1, 7 * 6)
    play_take(game, 1, "R", 3)
    assert sorted(game.table.center) == ["J", "J", "J", "K"]
    play_take(game, 0, "J", 4)
    assert (game.boards[1].lines[3], game.boards[1].floor, game.holder) == (["J"] * 3, ["M"], 1)


def test_line_of_jokers_takes_any_color_free_in_its_row_and_lines_of_a_color_take_jokers() -> None:
    board = board_of(("J....", "..Y..", ".....", ".....", "BYRKW"), ("", "J", "R", "JJJJ", ""))
    # Row 1: the joker lies on blue's space. Row 2: yellow lies there. Line 4 is full, row 5 too.
    assert [board.destinations(color, JOKERS) for color in "BYRJ"] == [[0, 2], [0, 1], [0, 1, 2, 3], [0, 1, 2, 3]]


@pytest.mark.parametrize(
    ("overflow", "keep", "line", "floor"),
    [
        ("keep_jokers", None, "RRJJ", "R"),
        ("keep_color", None, "RRRJ", "J"),
        ("choose", 1, "RRRJ", "J"),
        ("choose", 2, "RRJJ", "R"),
    ],
)
def test_option_says_what_falls_of_a_mixed_take(overflow: str, keep: int | None, line: str, floor: str) -> None:
    game = lay(rules=Rules.model_validate({"joker_tiles": True, "joker_overflow": overflow}), displays=("JRRJ", "W"))
    game.boards[0].lines[3] = ["R"]
    move = Move(1, "R", 4, True, keep)
    assert move in game.legal_moves()
    game.play(move)
    assert ("".join(game.boards[0].lines[3]), "".join(game.boards[0].floor)) == (line, floor)
    branches = game.count_branches()
    assert (branches["mixed_overflow"], branches["joker_overflow_fell"]) == (1, floor == "J")
    assert branches["overflow_chosen"] == (keep is not None)


@pytest.mark.parametrize(
    ("tiles", "line", "keeps"),
    [
        ("RRJJ", 1, [0, 1]),
        ("RRJJ", 2, [0, 1, 2]),
        ("RRJJ", 3, [1, 2]),
        # No overflow, nothing but jokers, no jokers, or the floor: no choice.
        ("RRJJ", 4, [None]),
        ("RRJJ", 0, [None]),
    ],
)
def test_number_of_jokers_to_keep_is_asked_only_where_there_is_a_choice(
    tiles: str, line: int, keeps: list[int | None]
) -> None:
    game = lay(rules=Rules(joker_tiles=True, joker_overflow="choose"), displays=(tiles,))
    moves = [move for move in game.legal_moves() if move.line == line]
    assert [move.keep for move in moves if move.jokers] == keeps
    assert [move.keep for move in moves if not move.jokers] == [None, None]


def test_take_that_leaves_jokers_only_on_the_line_still_needs_one_that_accepts_its_color() -> None:
    game = lay(rules=JOKERS, displays=("RRJJ", "W"))
    game.boards[0].wall[0][2] = "R"
    lines = [move.line for move in game.legal_moves() if (move.color, move.jokers) == ("R", True)]
    assert lines == [0, 2, 3, 4, 5]
    game.play(Move(1, "R", 2, jokers=True))
    assert (game.boards[0].lines[1], game.boards[0].floor) == (["J", "J"], ["R", "R"])
    assert game.count_branches() == {"mixed_overflow": 1, "only_jokers_stayed": 1}


def test_fallen_tiles_lie_after_the_marker_color_first() -> None:
    game = lay(rules=JOKERS, displays=("W",), center="JRJR")
    game.play(Move(0, "R", 0, jokers=True))
    assert game.boards[0].floor == ["M", "R", "R", "J", "J"]
    assert game.count_branches()["jokers_to_floor"] == 1


def test_line_with_a_color_sends_a_joker_to_the_space_of_its_color() -> None:
    board = board_of(lines=("", "", "RJJ", "", ""))
    game, asked = tile(JOKERS, board)
    assert (asked, wall_of(board)[2], game.lid) == ([], "....J", {"R": 1, "J": 1})
    assert game.placed[0].color == "J"
    assert game.count_branches()["joker_placed"] == 1


def test_line_of_jokers_goes_to_any_free_space_on_every_wall() -> None:
    board = board_of((".....", ".B.R.", ".....", ".....", "BYRK."), ("", "JJ", "", "", "JJJJJ"))
    game, asked = tile(JOKERS, board, 3)
    assert asked == [(2, [1, 3, 5])]
    assert (wall_of(board)[1], wall_of(board)[4]) == (".BJR.", "BYRKJ")
    assert game.count_branches()["joker_only_line"] == 2
    board = board_of(("..J..", ".....", ".....", ".....", "....."), ("", "", "JJJ", "", ""))
    assert tile(Rules(wall="gray", joker_tiles=True), board, 3)[1] == [(3, [1, 2, 3, 4, 5])]


@pytest.mark.parametrize(
    ("row", "wall", "tiles", "columns"),
    [
        # Blue with a joker: no limit by columns, since the joker is no color; only free spaces and blue's own.
        (2, ("B....", ".....", ".B...", ".....", "....."), "BJ", [1, 2, 3, 4, 5]),
        (3, (".....", ".....", ".....", ".....", "....."), "BBJ", [2, 3, 4, 5]),
        (3, (".....", ".....", ".....", ".....", "....."), "JJJ", [1, 2, 3, 4, 5]),
        (4, (".....", ".....", ".....", ".....", "....."), "YJJJ", [2]),
        (4, (".....", ".....", ".....", ".J.K.", "....."), "JJJJ", [1, 3, 5]),
        (1, ("J....", ".....", ".....", ".....", "....."), "J", [2, 3, 4, 5]),
    ],
)
def test_columns_of_a_line_with_jokers(row: int, wall: tuple[str, ...], tiles: str, columns: list[int]) -> None:
    assert reference.find_columns(reference.make_wall(wall), TWO_BLUE_PRINTED, row, tiles) == columns


def test_joker_that_finds_no_space_falls_with_its_line() -> None:
    rules = Rules(wall=("B...K", "WBYRK", "KWBYR", "RKWBY", "YRKWB"), joker_tiles=True, max_rounds=1)
    board = board_of(("JRYW.", ".....", ".....", ".....", "....."), ("B", "", "", "", ""))
    game, _ = tile(rules, board)
    assert (game.rounds[0].floor, game.lid, wall_of(board)[0]) == (1, {"B": 1}, "JRYW.")
    assert game.count_branches()["unplaceable_line"] == 1


def test_jokers_count_for_rows_and_columns_but_never_for_colors() -> None:
    wall = reference.make_wall(("JYRKW", "WJ...", "K.J..", "R..J.", "Y...J"))
    assert reference.count_complete(wall) == (1, 1, 0)
    assert reference.count_complete(reference.make_wall(("B....", "..B..", ".B...", "....B", "...B."))) == (0, 0, 1)


# ---------------------------------------------------------------------------------------------- house rules


@pytest.mark.parametrize(("rows_to_end", "ends"), [(1, True), (2, True), (3, False)])
def test_rows_to_end_are_those_of_one_player(rows_to_end: int, ends: bool) -> None:
    game = lay(rules=Rules(rows_to_end=rows_to_end))
    game.boards[0] = board_of((*LAYOUT[:1], "WBYR.", ".....", ".....", "....."), ("", "KK", "", "", ""))
    game.boards[1] = board_of((*LAYOUT[:1], ".....", ".....", ".....", "....."))
    game.seat = 1
    play_take(game, 1, "W", 5)
    assert game.is_over == ends
    assert game.enders() == [ends, rows_to_end == 1]


def test_rows_of_two_players_do_not_add_up() -> None:
    game = lay(rules=Rules(rows_to_end=2))
    for board in game.boards:
        board.wall = reference.make_wall((*LAYOUT[:1], *NO_WALL[1:]))
    play_take(game, 1, "W", 5)
    assert (game.is_over, game.round) == (False, 2)
    # A complete row is closed to everything.
    assert all(move.line != 1 for move in game.legal_moves())


def test_score_falls_below_zero_without_the_clamp() -> None:
    game = lay(rules=Rules(score_clamp=False, max_rounds=1))
    game.boards[1] = board_of(lines=("B", "", "", "", ""), floor="RRR", score=1)
    play_take(game, 1, "W", 5)
    facts = game.rounds[1]
    assert (facts.gain, facts.penalty, facts.penalty_paid, facts.score_after) == (1, 4, 4, -2)
    assert game.count_branches()["unclamped_negative"] == 1
    assert Reference(2, Rules(score_clamp=False, starter_bonus=-4)).scores() == [-4, 0]


@pytest.mark.parametrize(
    ("cost", "clamp", "score", "penalty", "paid", "price_paid", "after"),
    [
        # The two tiles that fall beside the marker cost 2 in any case; the tile placed brings 1.
        (3, True, 9, 5, 5, 3, 5),
        (3, True, 2, 5, 3, 1, 0),
        (3, True, 0, 5, 1, 0, 0),
        (3, False, 0, 5, 5, 3, -4),
        (0, True, 9, 2, 2, 0, 8),
        (-5, True, 0, -3, -3, -4, 4),
        (-5, False, 0, -3, -3, -5, 4),
    ],
)
def test_marker_at_a_fixed_price_takes_no_space(
    cost: int, clamp: bool, score: int, penalty: int, paid: int, price_paid: int, after: int
) -> None:
    game = lay(rules=Rules(marker_cost=cost, score_clamp=clamp, max_rounds=1), displays=(), center="KKKW")
    game.boards[0].score = score
    assert game.exact_gain(Move(0, "K", 1)) == 1 - 2 - cost
    play_take(game, 0, "K", 1)
    assert (game.boards[0].floor, game.holder, game.count_markers()) == (["K", "K"], 0, 1)
    play_take(game, 0, "W", 5)
    facts, other = game.rounds
    assert (facts.floor, facts.penalty, facts.penalty_paid, facts.score_after) == (2, penalty, paid, after)
    assert (facts.marker_price, facts.marker_price_paid, other.marker_price) == (cost, price_paid, 0)
    assert game.count_branches()["fixed_price"] == 1


def test_marker_at_a_fixed_price_never_pushes_a_tile() -> None:
    game = lay(rules=Rules(marker_cost=1, marker_on_full_floor="replace_last"), center="K")
    game.boards[0] = board_of(floor="RRRRRRR")
    play_take(game, 0, "K", 1)
    assert ("".join(game.boards[0].floor), game.lid.total()) == ("RRRRRRR", 0)
    assert game.count_branches() == {"marker_taken": 1}


@pytest.mark.parametrize("center", ["", "K"])
def test_rotation_gives_the_start_to_the_next_seat_whoever_holds_the_marker(center: str) -> None:
    game = lay(players=3, rules=Rules(next_starter="rotation", unclaimed_marker="keep"), center=center)
    game.starter = game.seat = 2
    if center:
        play_take(game, 0, "K", 1)
    play_take(game, 1, "W", 5)
    assert (game.starter, game.seat, game.round) == (0, 0, 2)
    assert game.rounds[2].marker_price == len(center)
    assert game.count_branches()["rotation"] == 1


def test_lottery_draws_the_starter_of_every_round_but_the_first() -> None:
    asked: list[int] = []

    def lottery(round_: int) -> int:
        asked.append(round_)
        return round_ % 3

    game = Reference(3, Rules(next_starter="lottery", max_rounds=4), lottery=lottery)
    assert (game.starter, asked) == (0, [])
    play_to_floor(game, 4)
    assert asked == [2, 3, 4]
    assert [facts.starter for facts in game.rounds[::3]] == [0, 2, 0, 1]


# ---------------------------------------------------------------------------------------------- whole games of variants


def house_rules(rng: random.Random) -> Rules:
    """Rules of any kind, with a wall in which printed and free spaces mix."""
    free = rng.choice([0, 0.3, 0.7, 1])
    wall = tuple("".join("." if rng.random() < free else c for c in rng.sample(COLORS, 5)) for _ in range(5))
    return Rules.model_validate(
        {
            "wall": wall,
            "multipliers": tuple("".join(rng.choice("1112") for _ in range(5)) for _ in range(5)),
            "gray_may_decline": any("." in row for row in wall) and rng.random() < 0.3,
            "joker_tiles": rng.random() < 0.7,
            "joker_overflow": rng.choice(["keep_jokers", "keep_color", "choose"]),
            "rows_to_end": rng.randint(1, 3),
            "score_clamp": rng.random() < 0.5,
            "marker_cost": rng.choice(["floor", 0, 3, -2]),
            "next_starter": rng.choice(["holder", "rotation", "lottery"]),
            "max_rounds": 12,
        }
    )


def check_wall(board: Board, layout: Sequence[str]) -> None:
    """Check what holds for every wall: printed spaces, and no color twice in a row, or in a column unless printed."""
    for row, column in itertools.product(range(5), range(5)):
        tile, printed = board.wall[row][column], layout[row][column]
        if tile in ".J":
            continue
        assert printed in (tile, ".")
        assert board.wall[row].count(tile) == 1
        others = [r for r in range(5) if r != row and board.wall[r][column] == tile]
        assert all(printed == layout[r][column] == tile for r in others)


def place_at_random(rng: random.Random) -> reference.Place:
    """Return a player who places, or declines, by chance."""
    return lambda game, seat, row, options: rng.choice(options)


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("variant", [*VARIANTS, "house"])
def test_random_games_of_every_variant_keep_the_tiles_and_add_up(variant: str, players: int) -> None:
    for seed in range(4):
        rng = random.Random(seed)
        rules = house_rules(rng) if variant == "house" else VARIANTS[variant].model_copy(update={"max_rounds": 12})
        game = Reference(players, rules, reference.draw_at_random(rng), place=place_at_random(rng))
        tiles = game.count_tiles()
        while not game.is_over:
            moves = game.legal_moves()
            assert len(set(moves)) == len(moves) > 0
            game.play(rng.choice([move for move in moves if move.line] or moves))
            assert (game.count_tiles(), game.count_markers()) == (tiles, 1)
        for seat, board in enumerate(game.boards):
            check_wall(board, rules.layout)
            placed = [tile for tile in game.placed if tile.seat == seat]
            assert len(placed) == 25 - sum(row.count(".") for row in wall_of(board))
            assert board.score == board.wall_points - board.floor_paid + board.bonus_points
            assert board.wall_points == sum(tile.points for tile in placed)
