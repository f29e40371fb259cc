"""What a position is worth at the end of its round: the evaluation of the bundled searches.

Values are whole numbers, `UNIT` a point, so that sums come out the same in any order and on any machine. A seat's value
is its score once all complete lines are tiled and the floor is paid, and what its wall and its unfinished lines promise
for later rounds: the weighted sum of the features that `FEATURES` names, scaled down when somebody is about to complete
a row. If a row is complete, the game is over: no promise counts, but the bonuses do.

On the printed wall, what depends on the tiled wall alone is worked out once a wall and kept in a table (`boards`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from azulsim.engine.compiling import compiled, popcount, widen
from azulsim.engine.core import (
    column_bits,
    column_of,
    count_complete,
    floor_penalty,
    run_across,
    run_down,
    run_points,
    tiling_points,
    wall_when_tiled,
)
from azulsim.engine.general import best_column, columns_in_mind, kinds_of_lines, tile_in_mind, tiles_in_mind
from azulsim.engine.luck import mix
from azulsim.engine.moves import diagonal_of
from azulsim.engine.record import HOLDER
from azulsim.rules import MAX_PLAYERS

UNIT = 256
"""One point, in the whole numbers of values."""

FEATURES = (
    *(f"column{k}" for k in range(1, 5)),
    *(f"color{k}" for k in range(1, 5)),
    *(f"row{k}" for k in range(1, 5)),
    "near",
    *(f"line{line}_{n}" for line in range(2, 6) for n in range(1, line)),
    "line_points",
    "line_column",
    "line_color",
    "starter",
)
"""The features of a seat, each with a weight in points.

`columnK`, `colorK`, `rowK`: a column, color or row of the wall with K tiles. `near`: for every empty space, the points
that a tile there would score now, less one. `lineL_N`: line L holds N tiles. `line_points`, `line_column`,
`line_color`: for every unfinished line, the share that is filled times the points that its tile would score, the tiles
in its column, the tiles of its color. `starter`: the seat starts the next round.
"""

HORIZONS = ("late3", "late4")
"""What promises are worth when the longest row of all walls has 3 or 4 tiles, as a factor."""

WEIGHTS_2 = {
    "column1": -2.599,
    "column2": -4.675,
    "column3": -6.244,
    "column4": -5.543,
    "color1": -1.575,
    "color2": -2.565,
    "color3": -3.156,
    "color4": -4.683,
    "row1": 4.365,
    "row2": 7.414,
    "row3": 8.289,
    "row4": 8.877,
    "near": 0.3684,
    "line2_1": -3.761,
    "line3_1": -2.12,
    "line3_2": -2.006,
    "line4_1": -2.176,
    "line4_2": -1.703,
    "line4_3": -2.107,
    "line5_1": -3.439,
    "line5_2": -1.532,
    "line5_3": -2.356,
    "line5_4": -1.594,
    "line_points": 0.1742,
    "line_column": 2.019,
    "line_color": -0.2898,
    "starter": 0.7738,
    "late3": 0.8001,
    "late4": 0.5548,
}
WEIGHTS_3 = {
    "column1": -0.72,
    "column2": -1.545,
    "column3": -2.455,
    "column4": -2.471,
    "color1": -0.789,
    "color2": -1.548,
    "color3": -2.172,
    "color4": -2.636,
    "row1": 2.844,
    "row2": 4.725,
    "row3": 5.626,
    "row4": 5.456,
    "near": 0.249,
    "line2_1": -1.622,
    "line3_1": -1.458,
    "line3_2": -2.422,
    "line4_1": -1.644,
    "line4_2": -1.712,
    "line4_3": -2.441,
    "line5_1": -1.589,
    "line5_2": -2.134,
    "line5_3": -1.661,
    "line5_4": -2.417,
    "line_points": 0.212,
    "line_column": 1.653,
    "line_color": 0.28,
    "starter": 1.041,
    "late3": 1.282,
    "late4": 1.394,
}
WEIGHTS_4 = {
    "column1": -0.331,
    "column2": -1.029,
    "column3": -2.048,
    "column4": -2.569,
    "color1": -1.314,
    "color2": -1.967,
    "color3": -2.865,
    "color4": -2.855,
    "row1": 3.803,
    "row2": 6.574,
    "row3": 8.727,
    "row4": 11.29,
    "near": 0.236,
    "line2_1": -2.051,
    "line3_1": -1.033,
    "line3_2": -1.404,
    "line4_1": -0.783,
    "line4_2": -0.58,
    "line4_3": -1.122,
    "line5_1": -2.136,
    "line5_2": -1.338,
    "line5_3": -0.481,
    "line5_4": -1.2,
    "line_points": 0.447,
    "line_column": 1.054,
    "line_color": -0.302,
    "starter": 1.63,
    "late3": 1.279,
    "late4": 1.409,
}
WEIGHTS = np.array([[*weights.values()] for weights in (WEIGHTS_2, WEIGHTS_3, WEIGHTS_4)])
"""Weights found by play (docs/SEARCH.md), the defaults of the bundled searches: ``WEIGHTS[players - 2]``."""

_COLUMN, _COLOR, _ROW, _NEAR = (FEATURES.index(name) for name in ("column1", "color1", "row1", "near"))
_LINE_POINTS, _LINE_COLUMN, _LINE_COLOR, _STARTER = (
    FEATURES.index(name) for name in ("line_points", "line_column", "line_color", "starter")
)
_LINES = np.array([0, 0, *(FEATURES.index(f"line{line}_1") for line in range(2, 6))], np.int64)
_SHARES = np.array([[round(64 * n / line) if line else 0 for n in range(6)] for line in range(6)], np.int64)

_N_BOARDS = 1 << 11
_FILLED = 1 << 50
_POINTS, _SPILLED, _BONUS, _PROMISE, _ROWS, _LONGEST, _SPACES = range(7)

EVALUATION = np.dtype(
    [
        ("weights", "i8", len(FEATURES)),
        ("horizon", "i8", 6),
        ("keys", "i8", _N_BOARDS),
        ("boards", "i4", (_N_BOARDS + MAX_PLAYERS, 36)),
    ],
    align=True,
)
"""Weights, and the table of boards: points of tiling, tiles that find no space, bonuses, promise, complete rows,
longest row, and 6 numbers a row for what a line of each color is worth when full. The last rows, one a seat, serve the
walls with a choice. A board is known by the wall as it is and the wall as it will be, under the rules and weights of
one game, before which all of it is zeroed."""


@compiled
def set_weights(evaluation: Any, weights: Any) -> None:
    """Set the weights, in the order of `FEATURES` and `HORIZONS`; they stay for a whole game."""
    for i in range(len(FEATURES)):
        evaluation.weights[i] = round(weights[i] * UNIT)
    for longest in range(6):
        evaluation.horizon[longest] = UNIT
    evaluation.horizon[3] = round(weights[len(FEATURES)] * UNIT)
    evaluation.horizon[4] = round(weights[len(FEATURES) + 1] * UNIT)


@compiled
def sum_near(wall: Any) -> Any:
    """Return the points that a tile on each empty space would score now, less one each, added up."""
    total = 0
    for row in range(5):
        for column in range(5):
            space = 1 << (5 * row + column)
            if wall & space == 0:
                filled = wall | space
                total += run_points(run_across(filled, row, column), run_down(filled, row, column)) - 1
    return total


@compiled
def longest_row(wall: Any) -> Any:
    """Return the most tiles in one row of a wall."""
    most = 0
    for row in range(5):
        most = max(most, popcount((wall >> (5 * row)) & 31))
    return most


@compiled
def promise_of(evaluation: Any, feature: Any, k: Any, bonus: Any) -> Any:
    """Return the weight of k tiles in a row, column or color; the bonus itself from five on."""
    if k >= 5:
        return widen(bonus) * UNIT
    return evaluation.weights[feature + k - 1] if k > 0 else 0


@compiled
def promise_of_wall(game: Any, evaluation: Any, wall: Any) -> Any:
    """Return the promise of a tiled wall, its colors left out."""
    promise = evaluation.weights[_NEAR] * sum_near(wall)
    for i in range(5):
        promise += promise_of(evaluation, _COLUMN, popcount(column_bits(wall, i)), game.column_bonus)
        promise += promise_of(evaluation, _ROW, popcount((wall >> (5 * i)) & 31), game.row_bonus)
    return promise


@compiled
def value_of_space(evaluation: Any, points: Any, in_column: Any, in_color: Any) -> Any:
    """Return what a line is worth when full, by the space where its tile will go."""
    return (
        evaluation.weights[_LINE_POINTS] * points
        + evaluation.weights[_LINE_COLUMN] * in_column
        + evaluation.weights[_LINE_COLOR] * in_color
    )


@compiled
def find_board(game: Any, evaluation: Any, seat: Any, wall: Any, full: Any, colors: Any) -> Any:
    """Return the row of `boards` for a tiled printed wall, which it fills if need be."""
    bare = widen(game.wall[seat])
    key = _FILLED | (bare << 25) | wall
    at = np.int64(mix(np.uint64(key)) & np.uint64(_N_BOARDS - 1))
    if evaluation.keys[at] == key:
        return at
    evaluation.keys[at] = key
    board = evaluation.boards[at]
    rows, columns, complete = count_complete(wall)
    promise = promise_of_wall(game, evaluation, wall)
    for color in range(5):
        in_color = popcount(wall & diagonal_of(color))
        promise += promise_of(evaluation, _COLOR, in_color, game.color_bonus)
        for row in range(5):
            column = column_of(row, color)
            filled = wall | 1 << (5 * row + column)
            points = run_points(run_across(filled, row, column), run_down(filled, row, column))
            in_column = popcount(column_bits(wall, column))
            board[_SPACES + 6 * row + color] = value_of_space(evaluation, points, in_column, in_color)
    board[_POINTS], board[_SPILLED] = tiling_points(bare, full, colors), 0
    board[_BONUS] = rows * game.row_bonus + columns * game.column_bonus + complete * game.color_bonus
    board[_PROMISE], board[_ROWS], board[_LONGEST] = promise, rows, longest_row(wall)
    return at


@compiled
def fill_general_board(game: Any, evaluation: Any, seat: Any) -> Any:
    """Fill the seat's own row of `boards`, on a wall with a choice or with jokers, and return which it is."""
    at = _N_BOARDS + seat
    board = evaluation.boards[at]
    counts, full, kinds = widen(game.counts[seat]), widen(game.full[seat]), kinds_of_lines(game, seat)
    points, spilled, wall = tile_in_mind(game, seat, widen(game.wall[seat]), full, kinds)
    rows, columns, _ = count_complete(wall)
    promise, complete = promise_of_wall(game, evaluation, wall), 0
    for color in range(5):
        in_color = popcount(tiles_in_mind(game, seat, wall, kinds, color))
        complete += in_color == 5
        promise += promise_of(evaluation, _COLOR, in_color, game.color_bonus)
    for line in range(2, 6):
        n, color = (counts >> (4 * line)) & 15, (widen(game.colors[seat]) >> (4 * line)) & 15
        if 0 < n < line:
            value = 0
            open_columns = columns_in_mind(game, seat, wall, kinds, line - 1, (kinds >> (4 * line)) & 15)
            if open_columns:
                column, now = best_column(game, wall, line - 1, open_columns)
                in_color = popcount(tiles_in_mind(game, seat, wall, kinds, color))
                value = value_of_space(evaluation, now, popcount(column_bits(wall, column)), in_color)
            board[_SPACES + 6 * (line - 1) + color] = value
    board[_POINTS], board[_SPILLED] = points, spilled
    board[_BONUS] = rows * game.row_bonus + columns * game.column_bonus + complete * game.color_bonus
    board[_PROMISE], board[_ROWS], board[_LONGEST] = promise, rows, longest_row(wall)
    return at


@compiled
def board_of(game: Any, evaluation: Any, seat: Any) -> Any:
    """Return the row of `boards` that describes a seat's wall with its complete lines tiled."""
    if game.is_general:
        return fill_general_board(game, evaluation, seat)
    full, colors = widen(game.full[seat]), widen(game.colors[seat])
    return find_board(game, evaluation, seat, wall_when_tiled(widen(game.wall[seat]), full, colors), full, colors)


@compiled
def rows_of(evaluation: Any, at: Any) -> Any:
    """Return the complete rows of a board."""
    return widen(evaluation.boards[at, _ROWS])


@compiled
def look_at_walls(game: Any, evaluation: Any, skipped: Any) -> Any:
    """Return the longest row of all seats but one (-1: of all) and whether the game ends with this round."""
    longest, is_ending = 0, game.round >= game.max_rounds
    for seat in range(game.players):
        if seat != skipped:
            board = evaluation.boards[board_of(game, evaluation, seat)]
            longest = max(longest, widen(board[_LONGEST]))
            is_ending |= board[_ROWS] >= game.rows_to_end
    return longest, is_ending


@compiled
def value_lines(
    game: Any,
    evaluation: Any,
    seat: Any,
    at: Any,
    counts: Any,
    colors: Any,
    fallen: Any,
    has_marker: Any,
    longest: Any,
    is_ending: Any,
) -> Any:
    """Return the value of a seat with the given board, lines, fallen tiles and marker.

    `longest` and `is_ending` are what `look_at_walls` says of the other seats.
    """
    board = evaluation.boards[at]
    score = widen(game.score[seat]) + board[_POINTS] - floor_penalty(game, fallen + board[_SPILLED])
    if has_marker:
        score -= game.marker_price
    if game.is_clamped:
        score = max(0, score)
    if is_ending or board[_ROWS] >= game.rows_to_end:
        return (score + board[_BONUS]) * UNIT
    promise = widen(board[_PROMISE])
    if has_marker and game.next_starter == HOLDER:
        promise += evaluation.weights[_STARTER]
    for line in range(2, 6):
        n = (counts >> (4 * line)) & 15
        if n > 0 and n < line:
            space = widen(board[_SPACES + 6 * (line - 1) + ((colors >> (4 * line)) & 15)])
            promise += evaluation.weights[_LINES[line] + n - 1] + ((_SHARES[line, n] * space) >> 6)
    return score * UNIT + ((promise * evaluation.horizon[max(longest, widen(board[_LONGEST]))]) >> 8)


@compiled
def value_seat(game: Any, evaluation: Any, seat: Any, longest: Any, is_ending: Any) -> Any:
    """Return the value of a seat as it stands, and its complete rows."""
    at = board_of(game, evaluation, seat)
    counts, colors, fallen = widen(game.counts[seat]), widen(game.colors[seat]), widen(game.floor[seat])
    value = value_lines(game, evaluation, seat, at, counts, colors, fallen, game.holder == seat, longest, is_ending)
    return value, rows_of(evaluation, at)


@compiled
def value_margin(game: Any, evaluation: Any, mine: Any, win: Any) -> Any:
    """Return the value of a seat less that of its best rival, at the end of a round.

    A game that is over counts `win` more or less for who has won it: by score, then by complete rows.
    """
    longest, is_ending = look_at_walls(game, evaluation, -1)
    value, rows = value_seat(game, evaluation, mine, longest, is_ending)
    best, best_rows = -(1 << 30), 0
    for seat in range(game.players):
        if seat != mine:
            other, other_rows = value_seat(game, evaluation, seat, longest, is_ending)
            if other > best or (other == best and other_rows > best_rows):
                best, best_rows = other, other_rows
    margin = value - best
    if is_ending and (margin > 0 or (margin == 0 and rows > best_rows)):
        return margin + win
    if is_ending and (margin < 0 or rows < best_rows):
        return margin - win
    return margin
