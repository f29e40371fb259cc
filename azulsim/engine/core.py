"""The compiled rules: dealing, playing a move, wall-tiling, the end of the game.

Nothing here is checked: callers pass legal moves only. Sections are those of docs/RULES.md.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from azulsim.engine.compiling import assume, compiled, lowest_bit, popcount, widen
from azulsim.engine.luck import below, derive
from azulsim.engine.record import (
    ALL_LANES,
    HOLDER,
    JOKER,
    LANE_TOPS,
    LANES,
    LOTTERY,
    NONE_FALLEN,
    ROTATION,
    SOURCE_LANES,
)
from azulsim.rules import MAX_PLAYERS, Termination

ROW_COMPLETED = int(Termination.ROW_COMPLETED)
ROUND_LIMIT = int(Termination.ROUND_LIMIT)
NO_TILES = int(Termination.NO_TILES)

COLUMN_BITS = 0x108421  # bit 0 of each of the five rows of a wall
DIAGONAL_BITS = 0x1041041  # the spaces of color 0 (blue) on the colored wall

LEDGER = np.dtype(
    [
        ("gain", "i2"),
        ("floor", "i2"),
        ("penalty", "i2"),
        ("paid", "i2"),
        ("price", "i2"),
        ("price_paid", "i2"),
        ("tiled", "i4"),  # as in the log: 3 bits of column and 3 of color for each row
        ("rows", "i1"),
        ("columns", "i1"),
        ("colors", "i1"),
        ("placement", "i1"),
        ("bonus", "i2"),
        ("win_share", "f8"),
    ],
    align=True,
)
"""What one seat's wall-tiling did (filled by `tile`), and how it ended (filled by `settle`); one entry a seat."""

LEDGERS = np.dtype([("of_seat", LEDGER, MAX_PLAYERS)], align=True)
"""A ledger that compiled code makes for itself."""


def _make_runs() -> Any:
    """Tabulate, for each 5-bit row and set bit, the length of the run of set bits through it."""
    runs = np.zeros((32, 5), np.int64)
    for bits in range(32):
        for i in range(5):
            if bits >> i & 1:
                low = high = i
                while low > 0 and bits >> (low - 1) & 1:
                    low -= 1
                while high < 4 and bits >> (high + 1) & 1:
                    high += 1
                runs[bits, i] = high - low + 1
    return runs


RUNS = _make_runs()
_POINTS_OF_RUN = np.where(RUNS > 1, RUNS, 0).astype(np.int8)


SOURCE_BITS = np.array([1 << 12 * color for color in range(5)] + [0], np.int64)
"""The lowest bit of each color's lane of `mask`; jokers have none."""


@compiled
def count_tiles(lanes: Any) -> Any:
    """Add up the color lanes of a word."""
    return ((lanes * ALL_LANES) >> 40) & 255


@compiled
def lane(lanes: Any, color: Any) -> Any:
    """Return the count in one color's byte lane."""
    return (lanes >> (8 * color)) & 255


@compiled
def column_of(row: Any, color: Any) -> Any:
    """Return the column (0..4) of a color's space in a row (0..4) of the colored wall (1.3)."""
    column = color + row
    return column - 5 if column >= 5 else column


@compiled
def column_bits(wall: Any, column: Any) -> Any:
    """Return a column (0..4) of a wall as 5 bits, row 1 lowest."""
    return ((((wall >> column) & COLUMN_BITS) * 0x111110) >> 20) & 31


@compiled
def run_across(wall: Any, row: Any, column: Any) -> Any:
    """Return the length of the horizontal run through a set space (0-based)."""
    return RUNS[(wall >> (5 * row)) & 31, column]


@compiled
def run_down(wall: Any, row: Any, column: Any) -> Any:
    """Return the length of the vertical run through a set space (0-based)."""
    return RUNS[column_bits(wall, column), row]


@compiled
def run_points(across: Any, down: Any) -> Any:
    """Return the points of a tile from the two runs through it (3.3)."""
    points = (across if across > 1 else 0) + (down if down > 1 else 0)
    return points if points > 0 else 1


@compiled
def points_of_tile(wall: Any, row: Any, column: Any) -> Any:
    """Return the points of the tile on a set space (0-based, 3.3).

    From a table and without branches, as unsigned numbers, for which no index from the end has to be thought of.
    """
    row, column = np.uint64(row), np.uint64(column)
    across = widen(_POINTS_OF_RUN[np.uint64(wall >> (5 * row)) & _ROW, column])
    down = widen(_POINTS_OF_RUN[np.uint64(column_bits(wall, column)), row])
    return max(1, across + down)


_ROW = np.uint64(31)


@compiled
def tiling_points(wall: Any, full: Any, colors: Any) -> Any:
    """Return the points if the complete lines `full` were tiled now, top to bottom (3.2)."""
    return tile_in_mind(wall, full, colors)[0]


@compiled
def wall_when_tiled(wall: Any, full: Any, colors: Any) -> Any:
    """Return the wall with the tiles of the complete lines on it."""
    return tile_in_mind(wall, full, colors)[1]


@compiled(is_inlined=True)
def tile_in_mind(wall: Any, full: Any, colors: Any) -> Any:
    """Return the points of tiling the complete lines `full` now, top to bottom (3.2), and the wall then."""
    points = 0
    while full:
        line = lowest_bit(full)
        full &= full - 1
        row = line - 1
        column = column_of(row, (colors >> (4 * line)) & 15)
        wall |= 1 << (5 * row + column)
        points += points_of_tile(wall, row, column)
    return points, wall


@compiled
def floor_penalty(game: Any, fallen: Any) -> Any:
    """Return the points lost for a number of fallen tiles, marker included (2.11)."""
    return widen(game.penalty[np.uint64(NONE_FALLEN + min(fallen, widen(game.n_floor)))])


@compiled
def deal(game: Any, deal_key: Any) -> bool:
    """Begin the next round: fill the displays in order from bag and lid (4.1 to 4.6).

    Returns False, and ends the game by NO_TILES, if there is not a single tile to deal.
    """
    round_key = derive(deal_key, game.round)
    bag, n_bag, mask, joker_mask = game.bag, widen(game.n_bag), 0, 0
    per_display = widen(game.per_display)
    game.sources[0] = 0
    for display in range(1, game.n_displays + 1):
        tiles = 0
        for slot in range(per_display):
            if n_bag == 0:
                bag, game.lid = game.lid, 0
                n_bag = count_tiles(bag)
                if n_bag == 0:
                    break
            k = below(derive(round_key, display * 16 + slot), n_bag)
            # the color is the number of prefix sums that are at most k, one comparison a lane
            color = popcount(((k * ALL_LANES | LANE_TOPS) - bag * ALL_LANES) & LANE_TOPS)
            n_bag -= 1
            bag -= 1 << (8 * color)
            tiles += 1 << (8 * color)
            mask |= SOURCE_BITS[color] << display
        game.sources[display] = tiles
        if tiles >> (8 * JOKER):
            joker_mask |= 1 << display
    if n_bag == 0 and game.is_eager:
        bag, game.lid = game.lid, 0
        n_bag = count_tiles(bag)
    game.bag, game.n_bag, game.mask, game.joker_mask = bag, n_bag, mask, joker_mask
    if mask | joker_mask == 0:
        game.termination = NO_TILES
        return False
    begin_round(game, round_key)
    return True


@compiled
def begin_round(game: Any, round_key: Any) -> None:
    """Pass the turn to the starter of the round that was just dealt (4.5, 4.6, 12)."""
    if game.round > 0:
        if game.next_starter == LOTTERY:
            game.starter = below(derive(round_key, 0), game.players)
        elif game.next_starter == HOLDER and game.holder >= 0:
            game.starter = game.holder
        elif game.next_starter == ROTATION or game.is_rotating:
            game.starter = game.starter + 1 if game.starter + 1 < game.players else 0
    game.holder = -1
    game.seat = game.starter
    game.round += 1
    if game.starter_bonus != 0:
        score = game.score[game.starter] + game.starter_bonus
        game.score[game.starter] = max(0, score) if game.is_clamped else score


class Change(NamedTuple):
    """What a move changes, as it is afterwards, in the types of the fields of `GAME`."""

    source: Any
    mover: Any
    tiles: Any
    """What is left at the source."""
    center: Any
    mask: Any
    holder: Any
    counts: Any
    colors: Any
    open: Any
    full: Any
    floor: Any
    """These five are the mover's."""
    lid: Any
    seat: Any


@compiled(is_inlined=True)
def foresee(game: Any, code: Any) -> Any:
    """Return what a move changes (2.2 to 2.10).

    There are no branches: neither source nor line can be predicted, and a wrong guess costs more than both ways.
    """
    assume(code >= 0)
    source, color, line = code >> 6, (code >> 3) & 7, code & 7
    mover = widen(game.seat)
    assume(mover >= 0)
    counts, colors, open_lines = widen(game.counts[mover]), widen(game.colors[mover]), game.open[mover]
    tiles = game.sources[source]
    taken = lane(tiles, color)
    others = tiles - (taken << (8 * color))
    is_center = source == 0
    takes_marker = is_center and game.holder < 0
    left = game.mask & ~(1 << (12 * color) if is_center else SOURCE_LANES << source)
    to_center = 0 if is_center else ((game.mask >> source) & SOURCE_LANES) & ~(1 << (12 * color))
    shift = 4 * line
    room = line - ((counts >> shift) & 15) if line > 0 else 0
    placed = min(taken, room)
    overflow = taken - placed
    # the line is closed to every color but this one, and to this one too when it is full
    closed = ~(LANES << line) if line > 0 else -1
    still_open = widen(line > 0 and placed < room) << (8 * color + line)
    return Change(
        source,
        mover,
        others if is_center else 0,
        others if is_center else game.sources[0] + others,
        left | to_center,
        np.int8(mover if takes_marker else game.holder),
        np.int32(counts + (placed << shift)),
        np.int32((colors & ~(15 << shift)) | (color << shift) if line > 0 else colors),
        (open_lines & closed) | still_open,
        np.int8(game.full[mover] | (widen(line > 0 and placed == room) << line)),
        np.int8(game.floor[mover] + (game.marker_space if takes_marker else 0) + overflow),
        game.lid + (overflow << (8 * color)),
        np.int8(0 if mover + 1 == game.players else mover + 1),
    )


@compiled(is_inlined=True)
def foresee_nothing(game: Any) -> Any:
    """Return what no move at all changes: everything as it is, for the seat to move."""
    seat = widen(game.seat)
    assume(seat >= 0)
    center = game.sources[0]
    return Change(
        0,
        seat,
        center,
        center,
        game.mask,
        game.holder,
        game.counts[seat],
        game.colors[seat],
        game.open[seat],
        game.full[seat],
        game.floor[seat],
        game.lid,
        game.seat,
    )


@compiled
def play(game: Any, code: Any) -> bool:
    """Play one move; return True if it took the last tiles of the round."""
    change = foresee(game, code)
    seat = change.mover
    game.sources[change.source], game.sources[0] = change.tiles, change.center
    game.mask, game.holder, game.lid, game.seat = change.mask, change.holder, change.lid, change.seat
    game.counts[seat], game.colors[seat], game.open[seat] = change.counts, change.colors, change.open
    game.full[seat], game.floor[seat] = change.full, change.floor
    return change.mask == 0


@compiled
def pay_floor(game: Any, seat: Any, gain: Any, entry: Any) -> None:
    """Add the points of a seat's tiles, subtract its floor line once, and clear it (3.5); fills the ledger's entry."""
    fallen = widen(game.floor[seat])
    penalty = without = floor_penalty(game, fallen)
    if game.holder == seat:
        without = floor_penalty(game, fallen - game.marker_space)
        penalty += game.marker_price
    before = game.score[seat] + gain
    paid, paid_without = penalty, without
    if game.is_clamped:
        paid, paid_without = min(penalty, before), min(without, before)
    entry.gain, entry.floor = gain, min(fallen, widen(game.n_floor))
    entry.penalty, entry.paid = penalty, paid
    entry.price, entry.price_paid = penalty - without, paid - paid_without
    game.score[seat] = before - paid
    game.floor[seat] = 0


@compiled(is_borrowing=True)
def tile(game: Any, ledger: Any) -> None:
    """Tile all walls, pay the floors, and see whether the game is over (3, 5.1); fills `ledger`, one entry a seat."""
    is_over = False
    for seat in range(game.players):
        entry = ledger[seat]
        wall, full, open_lines = widen(game.wall[seat]), widen(game.full[seat]), game.open[seat]
        counts, gain, tiled = widen(game.counts[seat]), 0, 0
        while full:
            line = lowest_bit(full)
            full &= full - 1
            row = line - 1
            color = (widen(game.colors[seat]) >> (4 * line)) & 15
            column = column_of(row, color)
            wall |= 1 << (5 * row + column)
            gain += points_of_tile(wall, row, column)
            tiled |= (column + 1 | color << 3) << (6 * row)
            game.lid += row << (8 * color)
            counts &= ~(15 << (4 * line))
            tiles = (wall >> (5 * row)) & 31
            if tiles == 31:
                is_over |= count_complete(wall)[0] >= game.rows_to_end
            has = ((tiles >> row) | (tiles << (5 - row))) & 31  # bit c: color c lies in the row
            open_lines |= (((~has & 31) * 0x10204081) & LANES) << line  # spread 5 bits over 5 byte lanes
        entry.tiled = tiled
        pay_floor(game, seat, gain, entry)
        game.wall[seat], game.counts[seat], game.open[seat] = wall, counts, open_lines
        game.full[seat] = 0
    if is_over:
        game.termination = ROW_COMPLETED
    elif game.round >= game.max_rounds:
        game.termination = ROUND_LIMIT


@compiled
def count_complete(wall: Any) -> Any:
    """Return how many rows, columns and colors of a wall are complete (5.2)."""
    rows = columns = colors = 0
    diagonal = DIAGONAL_BITS
    for i in range(5):
        rows += ((wall >> (5 * i)) & 31) == 31
        columns += ((wall >> i) & COLUMN_BITS) == COLUMN_BITS
        colors += (wall & diagonal) == diagonal
        # one column to the right, the last column coming back as the first
        diagonal = ((diagonal << 1) & 0x1EF7BDE) | ((diagonal >> 4) & COLUMN_BITS)
    return rows, columns, colors


@compiled
def count_colors(game: Any, seat: Any) -> Any:
    """Return the colors of which five tiles lie on a wall of any kind; jokers are none (5.2, 7.5)."""
    complete = 0
    for color in range(5):
        complete += popcount(widen(game.tiles[seat, color])) == 5
    return complete


@compiled
def bonus_points(game: Any, seat: Any) -> Any:
    """Return the end-of-game bonuses that a seat's wall would bring now (5.2)."""
    rows, columns, colors = count_complete(widen(game.wall[seat]))
    if game.is_general:
        colors = count_colors(game, seat)
    return rows * game.row_bonus + columns * game.column_bonus + colors * game.color_bonus


@compiled(is_borrowing=True)
def settle(game: Any, ledger: Any) -> None:
    """Add everybody's bonuses to a game that is over, and rank the players (5.2, 5.3); fills `ledger`.

    Placement is by score, then complete rows; 1 is best and ties share a place (1, 1, 3).
    """
    for seat in range(game.players):
        entry = ledger[seat]
        rows, columns, colors = count_complete(widen(game.wall[seat]))
        if game.is_general:
            colors = count_colors(game, seat)
        entry.rows, entry.columns, entry.colors = rows, columns, colors
        entry.bonus = rows * game.row_bonus + columns * game.column_bonus + colors * game.color_bonus
        game.score[seat] += entry.bonus
    for seat in range(game.players):
        better, ties = 0, 0
        mine = (game.score[seat] << 3) + ledger[seat].rows
        for other in range(game.players):
            theirs = (game.score[other] << 3) + ledger[other].rows
            better += theirs > mine
            ties += theirs == mine
        ledger[seat].placement = 1 + better
        ledger[seat].win_share = 1.0 / ties if better == 0 else 0.0
