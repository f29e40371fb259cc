"""Heuristics of other programs, played from their descriptions: bridges between results found here and there."""

from typing import Any

from azulsim.strategy import Move, strategy, where
from azulsim.strategy.toolbox import (
    as_record,
    best_rival,
    best_space,
    color_of_line,
    column_of,
    compiled,
    copy_record,
    count_color,
    count_column,
    count_in_line,
    count_on_table,
    count_row,
    end_round,
    is_printed,
    is_round_over,
    mover,
    points_of_tile,
    run_points,
    score_if_tiled,
    score_of,
    seat_to_move,
    standing_of,
    tile_lines,
    tiled_wall,
)


@strategy
def ludometer_greedy(move: Move, position: Any) -> float:
    """Judge the position after the move: own score, points of complete lines if tiled now, less the floor line.

    The last move of a round is judged on the tiled board, with the bonuses and 100 more for the highest score if it
    ends the game. With more players the score must be higher than that of every other.

    Source: RemiFabre/ludometer, "greedy". Bad at: what greedy is bad at, except in the last move of a game.
    """
    seat = mover(position)
    if not is_round_over(position):
        return float(score_if_tiled(position, seat))
    is_over = end_round(position)
    score = score_of(position, seat)
    return float(score + 100 * (is_over and score > score_of(position, best_rival(position, seat))))


# Where the notes of ludometer lie, and how many there are.
_OTHERS = 0
"""By color: what the unfinished lines of all other colors are worth."""
_OF_COLOR = 5
"""By color and tiles of it left, 0 to 4: what the lines of that color are worth."""
_OF_LINE = 30
"""By line and tiles of its color left: what that line is worth."""
_NEIGHBOR = 60
"""By column and row, both from 1: what a tile there adds to the lines whose tiles would touch it in the column."""
_NOTES = 96


def note_lines(position: Any, notes: Any) -> None:
    """Note what the unfinished lines will be worth, by all that a move may change; on the printed wall.

    More than four tiles of a color are as good as four, the most that such a line needs.
    """
    if not is_printed(position):
        return
    seat = seat_to_move(position)
    wall = tiled_wall(position, seat)
    for line in range(2, 6):
        tiles = count_in_line(position, seat, line)
        if 0 < tiles < line:
            row, color = line - 1, color_of_line(position, seat, line)
            column, on_table = column_of(row, color), min(4, count_on_table(position, color))
            filled = wall | 1 << (5 * row + column)
            points = points_of_tile(filled, row, column)
            for left in range(5):
                value = _judge_line(line, tiles, points, left)
                notes[_OF_LINE + 5 * line + left] = value
                notes[_OF_COLOR + 5 * color + left] += value
            value = notes[_OF_LINE + 5 * line + on_table]
            for other in range(5):
                if other != color:
                    notes[_OTHERS + other] += value
                with_tile = points_of_tile(filled | 1 << (5 * other + column), row, column)
                added = _judge_line(line, tiles, with_tile, on_table) - value
                notes[_NEIGHBOR + 6 * (column + 1) + other + 1] += added


@strategy(prepare=note_lines, notes=_NOTES)
def ludometer(move: Move, position: Any, notes: Any) -> float:
    """Judge the position after the move: points, floor line, marker, unfinished lines, progress of the wall, denial.

    The rival is the other player with the highest score; within a round it leaves the choice alone, and is left out.
    After the last move of a round, on the tiled board, tiles are thought to come for every line, since the next deal is
    not known; on walls with a choice an unfinished line leads where its tile would score most.

    Source: RemiFabre/ludometer, "heuristic", made for two players. Bad at: more players, and plans beyond the round.
    """
    if move.left == 0:
        return _judge_round(as_record(position))
    value = move.points - 1.6 * move.penalty + 1.4 * move.marker - 0.45 * move.largest_left
    if not is_printed(position):  # a line may move the tiles of others there, and send a joker to the wall
        return value + _judge_untiled(as_record(position))
    line, color = int(move.line), int(move.color)
    left = count_on_table(position, color)
    of_color, of_line = _OF_COLOR + 5 * color, _OF_LINE + 5 * line
    value += notes[_OTHERS + color] + notes[of_color + min(left, 4)] - notes[of_line + min(left, 4)]
    if move.missing > 0:
        value += _judge_line(move.line, move.before + move.placed, run_points(move.across, move.down), left)
    if move.completes > 0:  # a square of n tiles grows by 2 n + 1
        value += 0.35 * (2 * move.row_tiles + 1) + 0.55 * (2 * move.column_tiles + 1)
        value += 0.30 * (2 * move.color_tiles + 1) + notes[_NEIGHBOR + 6 * int(move.column) + line]
    return value


@compiled(key=None)
def _judge_round(position: Any) -> float:
    """Return the value of the tiled board after the last move of a round."""
    seat = mover(position)
    is_over = end_round(position)
    rival = best_rival(position, seat)
    score, others = float(score_of(position, seat)), float(score_of(position, rival))
    if is_over:
        mine, theirs = standing_of(position, seat), standing_of(position, rival)
        return 200.0 * ((mine > theirs) - (mine < theirs)) + score - others
    return score - 0.6 * others + _judge_board(position, seat, False)


@compiled(key=None)
def _judge_untiled(position: Any) -> float:
    """Return the value of wall and unfinished lines within a round, once complete lines are tiled."""
    tiled, seat = copy_record(position), mover(position)
    tile_lines(tiled, seat)
    return _judge_board(tiled, seat, True)


@compiled(key=None)
def _judge_board(position: Any, seat: int, is_supply_known: bool) -> float:
    """Return the value of a tiled board: tiles in rows, columns and of a color, squared, and unfinished lines."""
    value = 0.0
    for i in range(5):
        value += 0.35 * count_row(position, seat, i + 1) ** 2
        value += 0.55 * count_column(position, seat, i + 1) ** 2
        value += 0.30 * count_color(position, seat, i) ** 2
    for line in range(2, 6):
        tiles = count_in_line(position, seat, line)
        if 0 < tiles < line:
            left = count_on_table(position, color_of_line(position, seat, line)) if is_supply_known else 4
            value += _judge_line(line, tiles, best_space(position, seat, line)[1], left)
    return value


@compiled(key=None, is_inlined=True)
def _judge_line(line: float, tiles: float, points: float, left: float) -> float:
    """Return the value of an unfinished line, by the points of its tile and the tiles of its color that are left."""
    supply = min(1.0, left / (line - tiles))
    return 0.85 * points * tiles / line * (0.35 + 0.65 * supply) - 0.30 * tiles * (1.0 - supply)


@strategy
def column_color(move: Move, position: Any) -> float:
    """Points of a line that the move completes, on the wall as it lies, less what the floor line and marker cost more.

    Added are 1.5 for the marker, 5 or 2 if the line's column then holds four or three tiles, and 6 or 2 if its color
    does. A line not completed adds no tile; on walls with a choice the column is the one that scores most.

    Source: tagore84/azul_alpha_zero, "HeuristicPlayer". Bad at: unfinished lines, and bonuses that are nearer than four
    tiles.
    """
    value = 1.5 * move.marker - move.penalty
    if move.line == 0:
        return value
    seat = mover(position)
    column, points = best_space(position, seat, int(move.line))
    if column == 0:
        return value
    in_column = count_column(position, seat, column) + move.completes
    in_color = count_color(position, seat, int(move.color)) + move.completes
    value += points * move.completes
    value += where(in_column == 4, 5.0, where(in_column == 3, 2.0, 0.0))
    return value + where(in_color == 4, 6.0, where(in_color == 3, 2.0, 0.0))


@strategy
def azulzero_linear(move: Move) -> float:
    """A linear function of the tiles taken and the line, one for completed lines, one for others, one for the floor.

    Overflow counts as the floor does, the marker not at all. Ties go to the first color in the order of the wall's top
    row, then to the center, then to the display with the highest number. (By a slip the program itself values the floor
    higher where line 1 is closed to a color; here its formula is played.)

    Source: RedaBenDjelloun/AzulZero, with the nine numbers tuned there against random play. Bad at: the wall, which it
    never looks at.
    """
    line = move.line - 1
    completed = 0.0053696 + 0.251656 * line + 0.144145 * move.tiles
    unfinished = 0.0812487 + 0.390732 * line - 0.165523 * move.tiles - 0.635363 * move.missing
    fallen = -0.519715 - 0.235377 * move.overflow
    into_line = where(move.completes > 0, completed + where(move.overflow > 0, fallen, 0.0), unfinished)
    order = where(move.source == 0, 16.0, move.source) - 20 * move.color
    return where(move.line == 0, fallen, into_line) + 1e-10 * order
