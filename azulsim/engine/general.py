"""The rules on every wall and with jokers (6, 7, 8, 12), where `engine.core` plays only the printed wall.

Placing a tile may be a choice here. The engine asks the strategy of the seat, or takes its own default: the column
that scores most at once, then the one that leaves most columns and colors possible (`default_column`).

Moves are looked at by color, then line, then source, as those of the printed wall are in `engine.moves`: what moves of
one color to one line have in common is a `Target`. With jokers there are up to three, for the line may end up of the
color alone, of color and jokers, or of jokers alone: the `kind` of a line.
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
    points_of_tile,
    run_across,
    run_down,
)
from azulsim.engine.move import Move
from azulsim.engine.moves import (
    Largest,
    find_largest,
    largest_left,
    lines_of,
    longest_rival_row,
    make_code,
    sources_of,
    sum_table,
    take_index,
)
from azulsim.engine.moves import nth_move as nth_without_jokers
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

HAS_JOKER = 8
"""In the kind of a line, beside its color: a joker goes to the wall in the color's place."""
LINE_LANES = 0x111111  # 1 in each pattern line's 4-bit lane
SOURCES, ALL_SOURCES = 12, 0xFFF  # a color's lane of `mask`


# ---- spaces


@compiled
def fold(spaces: Any) -> Any:
    """Return the columns (bit 0 = column 1) in which some of the spaces of a wall lie."""
    return (spaces | spaces >> 5 | spaces >> 10 | spaces >> 15 | spaces >> 20) & 31


@compiled
def tile_of(kind: Any) -> Any:
    """Return the color of the tile that a complete line of a kind sends to the wall; JOKER if it holds one (7.4)."""
    return JOKER if kind & HAS_JOKER else kind


@compiled
def find_columns(game: Any, wall: Any, mine: Any, row: Any, kind: Any) -> Any:
    """Return the columns (bit 0 = column 1) where the tile of a complete line may go (6.1, 7.4, 12).

    Parameters
    ----------
    wall, mine : int
        The spaces taken, and those taken by the line's color.
    row : int
        From 0.
    kind : int
        The line's color (JOKER if it holds jokers alone), with HAS_JOKER if it holds any.
    """
    empty = ~(wall >> (5 * row)) & 31
    color = kind & ~HAS_JOKER
    if color == JOKER:
        return empty
    free, printed = (game.free >> (5 * row)) & 31, (game.printed[color] >> (5 * row)) & 31
    if kind & HAS_JOKER:
        return empty & (free | printed)
    return empty & ((free & ~fold(mine)) | (printed & ~fold(mine & game.free)))


@compiled
def points_at(game: Any, wall: Any, row: Any, column: Any) -> Any:
    """Return the points of a tile placed on an empty space (from 0), its multiplier included (3.3, 8)."""
    space = 5 * row + column
    return points_of_tile(wall | 1 << space, row, column) * widen(game.multipliers[np.uint64(space)])


@compiled(is_inlined=True)
def best_column(game: Any, wall: Any, row: Any, columns: Any) -> Any:
    """Return the column (from 0) that scores most at once, the leftmost among equals, and its points."""
    if columns & (columns - 1) == 0:
        column = lowest_bit(columns)
        return column, points_at(game, wall, row, column)
    best, chosen = -1, 0
    for column in range(5):  # a loop that surely ends is left out where nobody asks for its result
        points = points_at(game, wall, row, column) if (columns >> column) & 1 else -1
        best, chosen = (points, column) if points > best else (best, chosen)
    return chosen, best


@compiled
def count_possible(game: Any, wall: Any, tiles: Any) -> Any:
    """Return how many (row, color) pairs of a wall can still be filled, each color in each row looked at alone."""
    possible = 0
    for row in range(5):
        for color in range(5):
            mine = widen(tiles[color])
            if (mine >> (5 * row)) & 31 == 0:
                possible += find_columns(game, wall, mine, row, color) != 0
    return possible


@compiled
def columns_in_danger(game: Any, seat: Any, row: Any, tile: Any) -> Any:
    """Return how many (row, color) pairs would lose their last space to a tile of a row, by its column: 4-bit lanes."""
    wall, mine, free_here = widen(game.wall[seat]), widen(game.tiles[seat, tile]), (game.free >> (5 * row)) & 31
    danger = 0
    for color in range(5):
        theirs = widen(game.tiles[seat, color])
        if color != tile and (theirs >> (5 * row)) & 31 == 0:
            danger += lane_of_last(find_columns(game, wall, theirs, row, color), 31)
    if tile == JOKER:
        return danger
    for other in range(5):
        if other != row and (mine >> (5 * other)) & 31 == 0:
            free = free_here | (game.free >> (5 * other)) & 31  # two printed spaces do not exclude one another
            danger += lane_of_last(find_columns(game, wall, mine, other, tile), free)
    return danger


@compiled
def lane_of_last(columns: Any, counted: Any) -> Any:
    """Return 1 in the 4-bit lane of a column if it stands alone and is counted, else 0."""
    if columns == 0 or columns & (columns - 1) != 0 or columns & counted == 0:
        return 0
    return 1 << (4 * lowest_bit(columns))


@compiled
def default_column(game: Any, seat: Any, row: Any, tile: Any, columns: Any) -> Any:
    """Return the engine's own choice of column (from 0) for a tile.

    A point now counts 2, each tile already in the column 1 (columns pay at the end), each color of each row that would
    no longer have a space -3; the leftmost column among equals.
    """
    wall, danger = widen(game.wall[seat]), columns_in_danger(game, seat, row, tile)
    best, chosen = UNKNOWN, 0
    for column in range(5):
        if (columns >> column) & 1:
            points, tiles = points_at(game, wall, row, column), popcount(column_bits(wall, column))
            value = 2 * points + tiles - 3 * ((danger >> (4 * column)) & 15)
            if value > best:
                best, chosen = value, column
    return chosen


# ---- pattern lines


@compiled
def color_of(game: Any, seat: Any, line: Any) -> Any:
    """Return the color number of a pattern line that is not empty; JOKER if it holds jokers alone."""
    return (widen(game.colors[seat]) >> (4 * line)) & 15


@compiled
def kinds_of_lines(game: Any, seat: Any) -> Any:
    """Return the color of each pattern line that is not empty, with HAS_JOKER if it holds jokers: a 4-bit lane each."""
    jokers = widen(game.line_jokers[seat])
    return widen(game.colors[seat]) | ((jokers | jokers >> 1 | jokers >> 2) & LINE_LANES) * HAS_JOKER


@compiled
def kind_of_line(game: Any, seat: Any, line: Any) -> Any:
    """Return the same of one line."""
    return (kinds_of_lines(game, seat) >> (4 * line)) & 15


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
            game.open[seat] &= ~(ALL_LANES << line)
        elif take.placed_color > 0:  # from now on this color and jokers only
            game.open[seat] &= ~(ALL_LANES << line) | (1 << (8 * color) | 1 << (8 * JOKER)) << line
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
def takes_of(allowed: Any, color: Any) -> Any:
    """Return the ways to take a color: bit s alone from source s, bit SOURCES + s with the jokers of source s."""
    if color == JOKER:
        return allowed.joker_mask
    sources = sources_of(allowed.mask, color)
    return sources | (sources & allowed.joker_mask) << SOURCES


@compiled
def takes_from(takes: Any, source: Any) -> Any:
    """Return those ways to take a color that take it from one source."""
    return takes & (1 << source | 1 << (SOURCES + source))


@compiled
def code_of_take(take: Any, color: Any, line: Any) -> Any:
    """Return the code of a way to take a color (a bit of `takes_of`), how many jokers stay left open."""
    if take >= SOURCES:
        return make_code(take - SOURCES, color, line) | WITH_JOKERS
    return make_code(take, color, line)


@compiled
def find_keeps(game: Any, code: Any) -> Any:
    """Return the first and the last number that may stand above KEEP_SHIFT in a code; both 0 if there is no choice."""
    source, color, line = (code >> 6) & 15, (code >> 3) & 7, code & 7
    if game.overflow_rule != CHOOSE or code & WITH_JOKERS == 0 or line == 0:
        return 0, 0
    n_color, n_jokers = lane(game.sources[source], color), lane(game.sources[source], JOKER)
    room = line - ((widen(game.counts[game.seat]) >> (4 * line)) & 15)
    least, most = min(n_jokers, least_kept(room, n_color)), min(n_jokers, room)
    if n_color + n_jokers <= room or least == most:
        return 0, 0
    return least + 1, most + 1


@compiled
def nth_way(game: Any, code: Any, k: Any) -> Any:
    """Return the code of the k-th way to move a color from a source to a line: 0 alone, from 1 on with jokers."""
    if k == 0:
        return code
    code |= WITH_JOKERS
    return code | (find_keeps(game, code)[0] + k - 1) << KEEP_SHIFT


@compiled
def list_moves(game: Any, allowed: Any, codes: Any) -> Any:
    """Write the codes of the allowed moves to `codes` (int16[MAX_LEGAL]); return how many there are.

    They are ordered by color, source, line, way.
    """
    n = 0
    for color in range(6):
        takes = takes_of(allowed, color)
        sources = takes & ALL_SOURCES
        while sources:
            source = lowest_bit(sources)
            sources &= sources - 1
            here = takes_from(takes, source)
            lines = lines_of(allowed.open, color)
            while lines:
                line = lowest_bit(lines)
                lines &= lines - 1
                for way in range(count_takes(game, here, color, 1 << line)):
                    codes[n] = nth_way(game, make_code(source, color, line), way)
                    n += 1
    return n


@compiled
def count_moves(game: Any, allowed: Any) -> Any:
    """Return the number of moves of an allowed set."""
    n = 0
    for color in range(6):
        n += count_takes(game, takes_of(allowed, color), color, lines_of(allowed.open, color))
    return n


@compiled
def count_takes(game: Any, takes: Any, color: Any, lines: Any) -> Any:
    """Return the number of moves that take a color in some ways (`takes_of`) to some lines."""
    n = popcount(takes) * popcount(lines)
    if game.overflow_rule == CHOOSE:
        choices = takes >> SOURCES
        while choices:
            source = lowest_bit(choices)
            choices &= choices - 1
            for line in range(1, 6):
                if (lines >> line) & 1:
                    first, last = find_keeps(game, make_code(source, color, line) | WITH_JOKERS)
                    n += last - first
    return n


@compiled
def nth_move(game: Any, allowed: Any, k: Any) -> Any:
    """Return the code of the k-th move (from 0) of an allowed set, in the order of `list_moves`."""
    if allowed.joker_mask == 0:
        return nth_without_jokers(allowed, k)
    for color in range(6):
        takes, lines = takes_of(allowed, color), lines_of(allowed.open, color)
        n = count_takes(game, takes, color, lines)
        if k >= n:
            k -= n
            continue
        for source in range(SOURCES):
            here = takes_from(takes, source)
            n = count_takes(game, here, color, lines)
            if k >= n:
                k -= n
                continue
            for line in range(6):
                n = count_takes(game, here, color, lines & 1 << line)
                if k < n:
                    return nth_way(game, make_code(source, color, line), k)
                k -= n
    return -1


@compiled
def is_allowed(game: Any, allowed: Any, code: Any) -> bool:
    """Return True if a number is the code of a move in the set."""
    if code < 0 or code >= 1 << 15:
        return False
    source, color, line = (code >> 6) & 15, (code >> 3) & 7, code & 7
    if source >= SOURCES or color > JOKER or line > 5 or (allowed.open >> (8 * color + line)) & 1 == 0:
        return False
    take = source + SOURCES if code & WITH_JOKERS else source
    if (takes_of(allowed, color) >> take) & 1 == 0:
        return False
    first, last = find_keeps(game, code)
    return first <= code >> KEEP_SHIFT <= last


# ---- what moves are worth


class Before(NamedTuple):
    """What holds for all moves of a seat, computed once a move."""

    seat: int
    counts: int
    full: int
    kinds: int
    """Of the lines, as `kinds_of_lines`."""
    tiled: int
    """The wall with complete lines tiled."""
    points: int
    spilled: int
    """Tiles of complete lines that would find no space and fall."""
    fallen: int
    penalty: int
    marker: int
    """1 while the marker lies in the center."""
    table: int
    """All tiles on the table, in color lanes."""
    largest: Largest
    rival_row: int


class Space(NamedTuple):
    """Where on the wall the tile of a line would score most if it were tiled now; column 0 if nowhere."""

    column: int
    row_tiles: int
    column_tiles: int
    across: int
    down: int


class Target(NamedTuple):
    """What holds for all moves of one color to one line that make the line one kind."""

    kind: int
    before: int
    color_tiles: int
    space: Space
    points: int
    """What completing the line brings; UNKNOWN until a move completes it."""
    spilled: int
    """Tiles that would fall from all complete lines, this one among them."""


FLOOR = Space(0, 0, 0, 0, 0)
NO_TARGET = Target(-1, 0, 0, FLOOR, UNKNOWN, 0)


@compiled
def tiles_in_mind(game: Any, seat: Any, wall: Any, kinds: Any, tile: Any) -> Any:
    """Return the spaces of a color, or of jokers, on a seat's wall to which tiles of its lines were added in mind."""
    tiles = widen(game.tiles[seat, tile])
    added = wall & ~widen(game.wall[seat])
    if added:
        for row in range(5):
            if tile_of((kinds >> (4 * row + 4)) & 15) == tile:
                tiles |= added & 31 << (5 * row)
    return tiles


@compiled(is_inlined=True)
def columns_in_mind(game: Any, seat: Any, wall: Any, kinds: Any, row: Any, kind: Any) -> Any:
    """Return the columns where the tile of a line may go on such a wall."""
    mine = tiles_in_mind(game, seat, wall, kinds, kind & ~HAS_JOKER)
    return find_columns(game, wall, mine, row, kind)


@compiled
def tile_in_mind(game: Any, seat: Any, wall: Any, full: Any, kinds: Any) -> Any:
    """Return (points, spilled tiles, wall) if lines were tiled now, each where it scores most at once.

    This is what exact gain means on a wall with a choice. `wall` is the seat's, or has lines tiled in mind already;
    `full` are the lines to tile, `kinds` those of all lines as in `kinds_of_lines`.
    """
    points = spilled = 0
    while full:
        line = lowest_bit(full)
        full &= full - 1
        columns = columns_in_mind(game, seat, wall, kinds, line - 1, (kinds >> (4 * line)) & 15)
        if columns == 0:
            spilled += line
            continue
        column, now = best_column(game, wall, line - 1, columns)
        points += now
        wall |= 1 << (5 * (line - 1) + column)
    return points, spilled, wall


@compiled(is_inlined=True)
def look(game: Any) -> Any:
    """Return what holds for all moves of the seat to move."""
    seat = widen(game.seat)
    full, kinds, fallen = widen(game.full[seat]), kinds_of_lines(game, seat), widen(game.floor[seat])
    points, spilled, tiled = tile_in_mind(game, seat, widen(game.wall[seat]), full, kinds)
    return Before(
        seat,
        widen(game.counts[seat]),
        full,
        kinds,
        tiled,
        points,
        spilled,
        fallen,
        floor_penalty(game, fallen + spilled),
        widen(game.holder < 0),
        sum_table(game),
        find_largest(game),
        longest_rival_row(game, seat),
    )


@compiled(is_inlined=True)
def find_space(game: Any, now: Any, row: Any, kind: Any) -> Any:
    """Return where the tile of a line would go."""
    row_tiles = popcount((now.tiled >> (5 * row)) & 31)
    columns = columns_in_mind(game, now.seat, now.tiled, now.kinds, row, kind)
    if columns == 0:
        return Space(0, row_tiles, 0, 0, 0)
    column, _ = best_column(game, now.tiled, row, columns)
    filled = now.tiled | 1 << (5 * row + column)
    return Space(
        column + 1,
        row_tiles,
        popcount(column_bits(now.tiled, column)),
        run_across(filled, row, column),
        run_down(filled, row, column),
    )


@compiled(is_inlined=True)
def look_at_target(game: Any, now: Any, color: Any, line: Any, kind: Any) -> Any:
    """Return what holds for all moves of one color to one line (0 = floor) that make it one kind."""
    color_tiles = popcount(tiles_in_mind(game, now.seat, now.tiled, now.kinds, color))
    space = find_space(game, now, line - 1, kind) if line > 0 else FLOOR
    return Target(kind, (now.counts >> (4 * line)) & 15, color_tiles, space, UNKNOWN, now.spilled)


@compiled(is_inlined=True)
def update_target(game: Any, now: Any, target: Any, take: Any, color: Any, line: Any) -> Any:
    """Return the target of a move, given that of the move before it, which serves again wherever it can."""
    kind = kind_after(now, take, color, line)
    if kind != target.kind:
        target = look_at_target(game, now, color, line, kind)
    if target.points == UNKNOWN and is_completing(take, line):
        kinds = (now.kinds & ~(15 << (4 * line))) | kind << (4 * line)
        if now.full >> line == 0:  # complete lines above it are tiled as without it
            points, spilled, _ = tile_in_mind(game, now.seat, now.tiled, 1 << line, kinds)
            spilled += now.spilled
        else:
            lines, wall = now.full | 1 << line, widen(game.wall[now.seat])
            points, spilled, _ = tile_in_mind(game, now.seat, wall, lines, kinds)
            points -= now.points
        target = Target(kind, target.before, target.color_tiles, target.space, points, spilled)
    return target


@compiled
def kind_after(now: Any, take: Any, color: Any, line: Any) -> Any:
    """Return the kind of a line after a move."""
    held = (now.kinds >> (4 * line)) & 15
    if take.placed_color == 0:
        color = held & ~HAS_JOKER if (now.counts >> (4 * line)) & 15 else JOKER
    return color | (HAS_JOKER if take.placed_jokers > 0 else held & HAS_JOKER)


@compiled
def is_completing(take: Any, line: Any) -> bool:
    """Return True if a move completes its line."""
    return line > 0 and take.placed_color + take.placed_jokers == take.room


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
    mine = widen(game.tiles[seat, color_of(game, seat, line)])
    return find_columns(game, widen(game.wall[seat]), mine, line - 1, kind_of_line(game, seat, line))


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
    game.open[seat] |= open_line(game, seat, line)
    return points


@compiled
def choose_by_default(game: Any, seat: Any, line: Any, columns: Any) -> Any:
    """Return the engine's own decision for a complete line: a column from 1. It never declines."""
    return 1 + default_column(game, seat, line - 1, tile_of(kind_of_line(game, seat, line)), columns)


@compiled(is_borrowing=True)
def finish_tiling(game: Any, ledger: Any) -> None:
    """Pay the floors once all lines are tiled, and see whether the game is over (3.5, 5.1)."""
    is_over = False
    for seat in range(game.players):
        pay_floor(game, seat, widen(ledger[seat].gain), ledger[seat])
        is_over |= count_complete(widen(game.wall[seat]))[0] >= game.rows_to_end
    if is_over:
        game.termination = ROW_COMPLETED
    elif game.round >= game.max_rounds:
        game.termination = ROUND_LIMIT


@compiled(is_borrowing=True)
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
def describe(game: Any, now: Any, target: Any, take: Any, denied: Any, code: Any) -> Any:
    """Return the fields of `Move`, as integers; the target is that of the move (`update_target`).

    `denied` is what it takes from the next player.
    """
    source, color, line = (code >> 6) & 15, (code >> 3) & 7, code & 7
    tiles, placed = take.n_color + take.n_jokers, take.placed_color + take.placed_jokers
    overflow = tiles - placed
    marker = now.marker if source == 0 else 0
    completes = is_completing(take, line)
    earned, spilled = (target.points, target.spilled) if completes else (0, now.spilled)
    fallen = now.fallen + marker * game.marker_space + overflow + spilled
    penalty = floor_penalty(game, fallen) - now.penalty + marker * game.marker_price
    others = game.sources[source] - (take.n_color << (8 * color))
    return Move(
        source,
        color,
        line,
        tiles,
        placed,
        overflow,
        marker,
        widen(completes),
        earned - penalty,
        earned,
        penalty,
        target.before,
        take.room - placed,
        target.space.column,
        target.space.row_tiles,
        target.space.column_tiles,
        target.color_tiles,
        target.space.across,
        target.space.down,
        0 if source == 0 else count_tiles(game.sources[source]) - tiles,
        count_tiles(now.table) - tiles,
        largest_left(game, now.largest, source, others),
        min(now.fallen, widen(game.n_floor)),
        now.rival_row,
        widen(game.round),
        widen(game.players),
        take.n_jokers,
        denied,
    )


@compiled(is_inlined=True)
def describe_code(game: Any, now: Any, denied: Any, code: Any) -> Any:
    """Return the fields of `Move`, as integers, for a move looked at alone."""
    take = split_take(game, code)
    target = update_target(game, now, NO_TARGET, take, (code >> 3) & 7, code & 7)
    return describe(game, now, target, take, denied, code)


@compiled
def exact_gain(game: Any, code: Any) -> Any:
    """Return the exact change of the mover's own round-end score by a move, before the clamp (points)."""
    return describe_code(game, look(game), 0, code).gain


@compiled
def best_gain(game: Any, seat: Any) -> Any:
    """Return a seat's best exact gain if it moved now, 0 if nothing is left on the table; changes nothing."""
    if game.mask | game.joker_mask == 0:
        return 0
    mover = game.seat
    game.seat = seat
    allowed = make_record(ALLOWED)
    allowed.mask, allowed.joker_mask, allowed.open = game.mask, game.joker_mask, game.open[seat]
    now, codes = look(game), np.empty(MAX_LEGAL, np.int16)
    best = UNKNOWN
    for i in range(list_moves(game, allowed, codes)):
        best = max(best, describe_code(game, now, 0, widen(codes[i])).gain)
    game.seat = mover
    return best


@compiled
def denial(game: Any, code: Any) -> Any:
    """Return the next seat's best exact gain if it moved now, minus its best after the move (points)."""
    rival = next_seat(game)
    return best_gain(game, rival) - best_gain_after(game, rival, code)


@compiled(is_borrowing=True)
def find_denials(game: Any, denials: Any) -> None:
    """Find for each take of the seat to move what it takes from the next player, as `engine.denial` does."""
    rival = next_seat(game)
    before = best_gain(game, rival)
    for color in range(6):
        takes = takes_of(game, color)
        while takes:
            code = code_of_take(lowest_bit(takes), color, 0)
            takes &= takes - 1
            denials[take_index(code)] = before - best_gain_after(game, rival, code)


@compiled
def best_gain_after(game: Any, seat: Any, code: Any) -> Any:
    """Return a seat's best exact gain after a move of the seat to move."""
    after = copy_record(game)
    play(after, code)
    return best_gain(after, seat)


@compiled
def next_seat(game: Any) -> Any:
    """Return the seat that moves after the one to move."""
    seat = widen(game.seat) + 1
    return 0 if seat == game.players else seat
