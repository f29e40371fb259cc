"""The rules on every wall and with jokers (6, 7, 8, 12), where `engine.core` plays only the printed wall.

Placing a tile may be a choice here. The engine asks the strategy of the seat, or takes its own default: the column
that scores most at once, then the one that leaves most columns and colors possible (`default_column`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from azulsim.engine.compiling import compiled, copy_record, lowest_bit, make_record, popcount, widen
from azulsim.engine.core import (
    ROUND_LIMIT,
    ROW_COMPLETED,
    column_bits,
    count_complete,
    count_tiles,
    floor_penalty,
    lane,
    pay_floor,
    run_across,
    run_down,
    run_points,
)
from azulsim.engine.move import Move
from azulsim.engine.record import (
    ALL_LANES,
    ALLOWED,
    CHOOSE,
    JOKER,
    KEEP_COLOR,
    KEEP_SHIFT,
    MAX_LEGAL,
    SOURCE_LANES,
    WITH_JOKERS,
)

UNKNOWN = -(1 << 20)
"""Stands for what no move needed yet."""


# ---- spaces


@compiled
def fold(spaces: Any) -> Any:
    """Return the columns (bit 0 = column 1) in which some of the spaces of a wall lie."""
    return (spaces | spaces >> 5 | spaces >> 10 | spaces >> 15 | spaces >> 20) & 31


@compiled
def find_columns(game: Any, wall: Any, mine: Any, row: Any, color: Any, has_joker: Any) -> Any:
    """Return the columns (bit 0 = column 1) where the tile of a complete line may go (6.1, 7.4, 12).

    Parameters
    ----------
    wall, mine : int
        The spaces taken, and those taken by the color.
    row : int
        From 0.
    color : int
        The line's color; JOKER if it holds jokers alone.
    has_joker : bool
        True if a joker goes to the wall in the color's place.
    """
    empty = ~(wall >> (5 * row)) & 31
    if color == JOKER:
        return empty
    free, printed = (game.free >> (5 * row)) & 31, (game.printed[color] >> (5 * row)) & 31
    if has_joker:
        return empty & (free | printed)
    return empty & ((free & ~fold(mine)) | (printed & ~fold(mine & game.free)))


@compiled
def points_at(game: Any, wall: Any, row: Any, column: Any) -> Any:
    """Return the points of a tile placed on an empty space (from 0), its multiplier included (3.3, 8)."""
    wall |= 1 << (5 * row + column)
    return run_points(run_across(wall, row, column), run_down(wall, row, column)) * game.multipliers[5 * row + column]


@compiled
def best_column(game: Any, wall: Any, row: Any, columns: Any) -> Any:
    """Return the column (from 0) that scores most at once, the leftmost among equals, and its points."""
    if columns & (columns - 1) == 0:
        column = lowest_bit(columns)
        return column, points_at(game, wall, row, column)
    best, chosen = -1, 0
    for column in range(5):  # a loop that surely ends is left out where nobody asks for its result
        if (columns >> column) & 1:
            points = points_at(game, wall, row, column)
            if points > best:
                best, chosen = points, column
    return chosen, best


@compiled
def count_possible(game: Any, wall: Any, tiles: Any) -> Any:
    """Return how many (row, color) pairs of a wall can still be filled, each color in each row looked at alone."""
    possible = 0
    for row in range(5):
        for color in range(5):
            mine = widen(tiles[color])
            if (mine >> (5 * row)) & 31 == 0:
                possible += find_columns(game, wall, mine, row, color, False) != 0
    return possible


@compiled
def count_possible_near(game: Any, wall: Any, tiles: Any, row: Any, color: Any) -> Any:
    """Return the same for the pairs of one row or one color alone, which are those that a tile there can close."""
    possible = 0
    for other in range(5):
        mine = widen(tiles[other])
        if other != color and (mine >> (5 * row)) & 31 == 0:
            possible += find_columns(game, wall, mine, row, other, False) != 0
    if color == JOKER:
        return possible
    mine = widen(tiles[color])
    for other in range(5):
        if other != row and (mine >> (5 * other)) & 31 == 0:
            possible += find_columns(game, wall, mine, other, color, False) != 0
    return possible


@compiled
def default_column(game: Any, wall: Any, tiles: Any, row: Any, color: Any, columns: Any) -> Any:
    """Return the engine's own choice of column (from 0) for a tile; `tiles` is changed and restored.

    A point now counts 2, each tile already in the column 1 (columns pay at the end), each color of each row that would
    no longer have a space -3; the leftmost column among equals.
    """
    best, chosen = UNKNOWN, 0
    while columns:
        column = lowest_bit(columns)
        columns &= columns - 1
        space = 1 << (5 * row + column)
        tiles[color] |= space
        value = (
            2 * points_at(game, wall, row, column)
            + popcount(column_bits(wall, column))
            + 3 * count_possible_near(game, wall | space, tiles, row, color)
        )
        tiles[color] &= ~space
        if value > best:
            best, chosen = value, column
    return chosen


# ---- pattern lines


@compiled
def color_of(game: Any, seat: Any, line: Any) -> Any:
    """Return the color number of a pattern line that is not empty; JOKER if it holds jokers alone."""
    return (widen(game.colors[seat]) >> (4 * line)) & 15


@compiled
def open_line(game: Any, seat: Any, line: Any) -> Any:
    """Return the colors that a pattern line accepts, as bits of `open` (2.8, 7.3, 7.5, 12)."""
    count = (widen(game.counts[seat]) >> (4 * line)) & 15
    row = line - 1
    taken = (widen(game.wall[seat]) >> (5 * row)) & 31
    if count == line or taken == 31:
        return 0
    color = color_of(game, seat, line)
    has_free = (game.free >> (5 * row)) & 31 != 0
    bits = 1 << (8 * JOKER + line) if game.open[seat] >> (8 * JOKER) & 1 else 0
    for c in range(5):
        if count > 0 and color != JOKER and color != c:
            continue
        if has_free:
            is_closed = (widen(game.tiles[seat, c]) >> (5 * row)) & 31 != 0
        else:
            is_closed = (game.printed[c] >> (5 * row)) & 31 & taken != 0
        if not is_closed:
            bits |= 1 << (8 * c + line)
    return bits


@compiled
def reopen_lines(game: Any, seat: Any) -> None:
    """Set `open` from the lines and the wall of a seat."""
    bits = game.open[seat] & ALL_LANES
    for line in range(1, 6):
        bits |= open_line(game, seat, line)
    game.open[seat] = bits


# ---- taking


class Take(NamedTuple):
    """What a move takes, and what of it stays on the line."""

    n_color: int
    n_jokers: int
    placed_color: int
    placed_jokers: int
    room: int


@compiled
def least_kept(room: Any, n_color: Any) -> Any:
    """Return the fewest jokers that can stay on a line, which is always filled as far as the take allows (12)."""
    return max(0, room - n_color)


@compiled(is_inlined=True)
def split_take(game: Any, code: Any) -> Any:
    """Return what a legal move takes and places (7.2, 7.6)."""
    source, color, line = (code >> 6) & 15, (code >> 3) & 7, code & 7
    seat = widen(game.seat)
    table = game.sources[source]
    n_color = 0 if color == JOKER else lane(table, color)
    n_jokers = lane(table, JOKER) if color == JOKER or code & WITH_JOKERS else 0
    if line == 0:
        return Take(n_color, n_jokers, 0, 0, 0)
    room = line - ((widen(game.counts[seat]) >> (4 * line)) & 15)
    if n_color + n_jokers <= room:
        return Take(n_color, n_jokers, n_color, n_jokers, room)
    keep = code >> KEEP_SHIFT
    if keep > 0:
        jokers = keep - 1
    elif game.overflow_rule == KEEP_COLOR or game.overflow_rule == CHOOSE:
        jokers = min(n_jokers, least_kept(room, n_color))
    else:
        jokers = min(n_jokers, room)
    return Take(n_color, n_jokers, min(n_color, room - jokers), jokers, room)


@compiled
def play(game: Any, code: Any) -> bool:
    """Play one move; return True if it took the last tiles of the round."""
    source, color, line = (code >> 6) & 15, (code >> 3) & 7, code & 7
    seat = widen(game.seat)
    take = split_take(game, code)
    table = game.sources[source]
    taken = take.n_jokers << (8 * JOKER)
    if color != JOKER:
        taken += take.n_color << (8 * color)
    others = table - taken
    fallen = widen(game.floor[seat])
    if source == 0:
        game.sources[0] = others
        if color != JOKER:
            game.mask &= ~(1 << (12 * color))
        if take.n_jokers:
            game.joker_mask &= ~1
        if game.holder < 0:
            game.holder = seat
            fallen += game.marker_space
    else:
        game.sources[0] += others
        game.sources[source] = 0
        to_center = (game.mask >> source) & SOURCE_LANES
        if color != JOKER:
            to_center &= ~(1 << (12 * color))
        game.mask = (game.mask & ~(SOURCE_LANES << source)) | to_center
        game.joker_mask &= ~(1 << source)
        if lane(others, JOKER):
            game.joker_mask |= 1
    if line > 0:
        shift = 4 * line
        before = (widen(game.counts[seat]) >> shift) & 15
        if take.placed_color > 0:
            game.colors[seat] = (game.colors[seat] & ~(15 << shift)) | (color << shift)
        elif before == 0:
            game.colors[seat] = (game.colors[seat] & ~(15 << shift)) | (JOKER << shift)
        game.counts[seat] += (take.placed_color + take.placed_jokers) << shift
        game.line_jokers[seat] += take.placed_jokers << shift
        if before + take.placed_color + take.placed_jokers == line:
            game.full[seat] |= 1 << line
        game.open[seat] = (game.open[seat] & ~(ALL_LANES << line)) | open_line(game, seat, line)
    fallen_color, fallen_jokers = take.n_color - take.placed_color, take.n_jokers - take.placed_jokers
    game.floor[seat] = fallen + fallen_color + fallen_jokers
    game.lid += fallen_jokers << (8 * JOKER)
    if color != JOKER:
        game.lid += fallen_color << (8 * color)
    seat += 1
    game.seat = 0 if seat == game.players else seat
    return game.mask | game.joker_mask == 0


# ---- listing


@compiled
def list_moves(game: Any, allowed: Any, codes: Any) -> Any:
    """Write the codes of the allowed moves to `codes` (int16[MAX_LEGAL]); return how many there are."""
    n = 0
    seat = widen(game.seat)
    for color in range(6):
        sources = allowed.joker_mask if color == JOKER else (allowed.mask >> (12 * color)) & 0xFFF
        lines = (allowed.open >> (8 * color)) & 0x3F
        rest = sources
        while rest:
            source = lowest_bit(rest)
            rest &= rest - 1
            has_jokers = color != JOKER and (allowed.joker_mask >> source) & 1
            left = lines
            while left:
                line = lowest_bit(left)
                left &= left - 1
                code = source << 6 | color << 3 | line
                codes[n] = code
                n += 1
                if not has_jokers:
                    continue
                low, high = 0, 0
                if line > 0 and game.overflow_rule == CHOOSE:
                    low, high = keep_range(game, seat, source, color, line)
                if low == high:
                    codes[n] = code | WITH_JOKERS
                    n += 1
                else:
                    for keep in range(low, high + 1):
                        codes[n] = code | WITH_JOKERS | (keep + 1) << KEEP_SHIFT
                        n += 1
    return n


@compiled
def keep_range(game: Any, seat: Any, source: Any, color: Any, line: Any) -> Any:
    """Return the fewest and most jokers that may stay on a line; equal where there is no choice."""
    n_color, n_jokers = lane(game.sources[source], color), lane(game.sources[source], JOKER)
    room = line - ((widen(game.counts[seat]) >> (4 * line)) & 15)
    if n_color + n_jokers <= room:
        return n_jokers, n_jokers
    return min(n_jokers, least_kept(room, n_color)), min(n_jokers, room)


@compiled
def is_allowed(game: Any, allowed: Any, code: Any) -> bool:
    """Return True if a number is the code of a move in the set."""
    if code < 0 or code >= 1 << 15:
        return False
    source, color, line = (code >> 6) & 15, (code >> 3) & 7, code & 7
    if source > 11 or color > JOKER or line > 5 or (allowed.open >> (8 * color + line)) & 1 == 0:
        return False
    has_jokers = (allowed.joker_mask >> source) & 1 == 1
    if color == JOKER:
        return has_jokers and code < WITH_JOKERS
    if (allowed.mask >> (12 * color + source)) & 1 == 0:
        return False
    keep = code >> KEEP_SHIFT
    if code & WITH_JOKERS == 0:
        return keep == 0
    if not has_jokers:
        return False
    if line == 0 or game.overflow_rule != CHOOSE:
        return keep == 0
    low, high = keep_range(game, widen(game.seat), source, color, line)
    return keep == 0 if low == high else low <= keep - 1 <= high


# ---- what moves are worth


_SCRATCH, _MEMO = 6, 12
_MEMO_SIZE = 6 * 12
WORK = _MEMO + 2 * _MEMO_SIZE


class Before(NamedTuple):
    """What holds for all moves of a seat, computed once a move."""

    seat: int
    wall: int
    """As it is, without complete lines."""
    tiled: int
    """With complete lines tiled."""
    points: int
    spilled: int
    """Tiles of complete lines that would find no space and fall."""
    penalty: int
    left: int
    rival_row: int
    work: Any
    """int64[WORK]: spaces of each color, tiles of complete lines included; the same for working; then, by how a line
    would be completed, points and spilled tiles."""


@compiled
def tile_in_mind(game: Any, seat: Any, full: Any, colors: Any, line_jokers: Any, work: Any, at: Any) -> Any:
    """Return (points, spilled tiles, wall) if the complete lines were tiled now, each where it scores most at once.

    This is what exact gain means on a wall with a choice; `work[at : at + 6]` receives the spaces of each color.
    """
    for color in range(6):
        work[at + color] = game.tiles[seat, color]
    wall = widen(game.wall[seat])
    points = spilled = 0
    while full:
        line = lowest_bit(full)
        full &= full - 1
        color, has_joker = (colors >> (4 * line)) & 15, (line_jokers >> (4 * line)) & 15 > 0
        columns = find_columns(game, wall, work[at + color], line - 1, color, has_joker)
        if columns == 0:
            spilled += line
            continue
        column, now = best_column(game, wall, line - 1, columns)
        points += now
        space = 1 << (5 * (line - 1) + column)
        wall |= space
        work[at + (JOKER if has_joker else color)] |= space
    return points, spilled, wall


@compiled
def look(game: Any) -> Any:
    """Return what holds for all moves of the seat to move."""
    seat = widen(game.seat)
    work = np.empty(WORK, np.int64)
    for i in range(_MEMO_SIZE):
        work[_MEMO + 2 * i] = UNKNOWN
    points, spilled, tiled = tile_in_mind(
        game, seat, widen(game.full[seat]), widen(game.colors[seat]), widen(game.line_jokers[seat]), work, 0
    )
    left = rival = 0
    for source in range(game.n_displays + 1):
        left += count_tiles(game.sources[source])
    for other in range(game.players):
        if other != seat:
            theirs, full = widen(game.wall[other]), widen(game.full[other])
            for row in range(5):
                rival = max(rival, popcount((theirs >> (5 * row)) & 31) + ((full >> (row + 1)) & 1))
    penalty = floor_penalty(game, widen(game.floor[seat]) + spilled)
    wall = widen(game.wall[seat])
    return Before(seat, wall, tiled, points, spilled, penalty, left, rival, work)


@compiled
def value_of_completing(game: Any, now: Any, line: Any, color: Any, has_joker: Any) -> Any:
    """Return (points added, spilled tiles in all) if a line were complete with that color."""
    full = widen(game.full[now.seat])
    at = _MEMO + 2 * (line * 12 + color * 2 + has_joker)
    if now.work[at] == UNKNOWN and full == 0:  # nothing else is tiled: no walls to keep apart
        columns = find_columns(game, now.wall, now.work[color], line - 1, color, has_joker)
        now.work[at] = best_column(game, now.wall, line - 1, columns)[1] if columns else 0
        now.work[at + 1] = 0 if columns else line
    elif now.work[at] == UNKNOWN:
        shift = 4 * line
        colors = (widen(game.colors[now.seat]) & ~(15 << shift)) | (color << shift)
        jokers = (widen(game.line_jokers[now.seat]) & ~(15 << shift)) | (has_joker << shift)
        points, spilled, _ = tile_in_mind(game, now.seat, full | 1 << line, colors, jokers, now.work, _SCRATCH)
        now.work[at], now.work[at + 1] = points - now.points, spilled
    return now.work[at], now.work[at + 1]


# ---- wall-tiling


@compiled
def is_choice(game: Any, columns: Any) -> bool:
    """Return True if a complete line leaves its player a decision (6.2, 6.3)."""
    if columns == 0:
        return False
    return columns & (columns - 1) != 0 or (game.may_decline and game.free != 0)


@compiled
def columns_of_line(game: Any, seat: Any, line: Any) -> Any:
    """Return the columns (bit 0 = column 1) where the tile of a complete line may go now."""
    has_joker = (widen(game.line_jokers[seat]) >> (4 * line)) & 15 > 0
    color = color_of(game, seat, line)
    mine = widen(game.tiles[seat, color])
    return find_columns(game, widen(game.wall[seat]), mine, line - 1, color, has_joker)


@compiled
def place_line(game: Any, seat: Any, line: Any, column: Any, entry: Any) -> Any:
    """Tile a complete line in a column (from 1), or let it fall (0, chosen or forced); return the points."""
    shift = 4 * line
    row = line - 1
    color = color_of(game, seat, line)
    n_jokers = (widen(game.line_jokers[seat]) >> shift) & 15
    n_color = line - n_jokers
    points = 0
    if column == 0:
        game.floor[seat] += line
    else:
        points = points_at(game, widen(game.wall[seat]), row, column - 1)
        space = 1 << (5 * row + column - 1)
        game.wall[seat] |= space
        kind = JOKER if n_jokers > 0 else color
        game.tiles[seat, kind] |= space
        entry.tiled |= (column | kind << 3) << (6 * row)
        if n_jokers > 0:
            n_jokers -= 1
        else:
            n_color -= 1
    game.lid += n_jokers << (8 * JOKER)
    if color != JOKER:
        game.lid += n_color << (8 * color)
    game.counts[seat] &= ~(15 << shift)
    game.line_jokers[seat] &= ~(15 << shift)
    game.full[seat] &= ~(1 << line)
    return points


@compiled
def choose_by_default(game: Any, seat: Any, line: Any, columns: Any) -> Any:
    """Return the engine's own decision for a complete line: a column from 1. It never declines."""
    has_joker = (widen(game.line_jokers[seat]) >> (4 * line)) & 15 > 0
    kind = JOKER if has_joker else color_of(game, seat, line)
    tiles = np.empty(6, np.int64)
    for color in range(6):
        tiles[color] = game.tiles[seat, color]
    return 1 + default_column(game, widen(game.wall[seat]), tiles, line - 1, kind, columns)


@compiled
def finish_tiling(game: Any, ledger: Any) -> None:
    """Pay the floors once all lines are tiled, and see whether the game is over (3.5, 5.1)."""
    is_over = False
    for seat in range(game.players):
        pay_floor(game, seat, widen(ledger[seat].gain), ledger[seat])
        is_over |= count_complete(widen(game.wall[seat]))[0] >= game.rows_to_end
        reopen_lines(game, seat)
    if is_over:
        game.termination = ROW_COMPLETED
    elif game.round >= game.max_rounds:
        game.termination = ROUND_LIMIT


@compiled
def tile(game: Any, ledger: Any) -> None:
    """Tile all walls by the engine's own choices, and all that follows (3, 6)."""
    for seat in range(game.players):
        start_tiling(ledger[seat])
        while game.full[seat]:
            line = lowest_bit(widen(game.full[seat]))
            columns = columns_of_line(game, seat, line)
            column = 1 + lowest_bit(columns) if columns else 0
            if is_choice(game, columns):
                column = choose_by_default(game, seat, line, columns)
            ledger[seat].gain += place_line(game, seat, line, column, ledger[seat])
    finish_tiling(game, ledger)


@compiled
def start_tiling(entry: Any) -> None:
    """Clear what `tile` adds up."""
    entry.gain = entry.tiled = 0


@compiled(is_inlined=True)
def describe(game: Any, now: Any, code: Any) -> Any:
    """Return the fields of `Move`, as integers.

    `column`, `across` and `down` are those of the space where the line's tile would score most if it were tiled now.
    """
    source, color, line = (code >> 6) & 15, (code >> 3) & 7, code & 7
    take = split_take(game, code)
    seat = now.seat
    tiles, placed = take.n_color + take.n_jokers, take.placed_color + take.placed_jokers
    overflow = tiles - placed
    marker = 1 if source == 0 and game.holder < 0 else 0
    shift = 4 * line
    before = (widen(game.counts[seat]) >> shift) & 15 if line > 0 else 0
    completes = 1 if line > 0 and placed == take.room else 0
    earned, spilled = 0, now.spilled
    column = row_tiles = column_tiles = across = down = 0
    if line > 0:
        kind = color if take.placed_color > 0 else JOKER
        if before > 0 and kind == JOKER:
            kind = color_of(game, seat, line)
        has_joker = take.placed_jokers > 0 or (widen(game.line_jokers[seat]) >> shift) & 15 > 0
        row = line - 1
        row_tiles = popcount((now.tiled >> (5 * row)) & 31)
        columns = find_columns(game, now.tiled, now.work[kind], row, kind, has_joker)
        if columns:
            x, _ = best_column(game, now.tiled, row, columns)
            filled = now.tiled | 1 << (5 * row + x)
            column, column_tiles = x + 1, popcount(column_bits(now.tiled, x))
            across, down = run_across(filled, row, x), run_down(filled, row, x)
        if completes:
            earned, spilled = value_of_completing(game, now, line, kind, has_joker)
    fallen = widen(game.floor[seat]) + marker * game.marker_space + overflow + spilled
    penalty = floor_penalty(game, fallen) - now.penalty + marker * game.marker_price
    return Move(
        source,
        color,
        line,
        tiles,
        placed,
        overflow,
        marker,
        completes,
        earned - penalty,
        earned,
        penalty,
        before,
        take.room - placed,
        column,
        row_tiles,
        column_tiles,
        popcount(now.work[color]),
        across,
        down,
        0 if source == 0 else count_tiles(game.sources[source]) - tiles,
        now.left - tiles,
        min(widen(game.floor[seat]), widen(game.n_floor)),
        now.rival_row,
        widen(game.round),
        take.n_jokers,
    )


@compiled
def exact_gain(game: Any, code: Any) -> Any:
    """Return the exact change of the mover's own round-end score by a move, before the clamp (points)."""
    return describe(game, look(game), code).gain


@compiled
def best_gain(game: Any, seat: Any, codes: Any) -> Any:
    """Return a seat's best exact gain if it moved now, 0 if nothing is left on the table; changes nothing.

    `codes` (int16[MAX_LEGAL]) is for working.
    """
    if game.mask | game.joker_mask == 0:
        return 0
    mover = game.seat
    game.seat = seat
    allowed = make_record(ALLOWED)
    allowed.mask, allowed.joker_mask, allowed.open = game.mask, game.joker_mask, game.open[seat]
    now = look(game)
    best = UNKNOWN
    for i in range(list_moves(game, allowed, codes)):
        best = max(best, describe(game, now, widen(codes[i])).gain)
    game.seat = mover
    return best


@compiled
def denial(game: Any, code: Any) -> Any:
    """Return the next seat's best exact gain if it moved now, minus its best after the move (points)."""
    codes = np.empty(MAX_LEGAL, np.int16)
    after = copy_record(game)
    rival = widen(game.seat) + 1
    rival = 0 if rival == game.players else rival
    before = best_gain(after, rival, codes)
    play(after, code)
    return before - best_gain(after, rival, codes)
