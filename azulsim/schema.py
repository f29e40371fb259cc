"""The tables of the log: each column with its NumPy type and a sentence; the data dictionary is made from this.

A game is known by one integer, `game = cell * 2**40 + deal * 2**8 + seating`: unique in a run, independent of
how many deals were planned, and in canonical order when sorted. Every table joins on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from azulsim.rules import COLORS, Termination

Depth = Literal["games", "rounds", "moves"]
DEPTHS: tuple[Depth, ...] = ("games", "rounds", "moves")

CELL_SHIFT, DEAL_SHIFT = 40, 8
MAX_CELLS, MAX_DEALS, MAX_SEATINGS = 1 << 16, 1 << 32, 1 << 8

NOT_LOGGED = -32768
"""Stands in an int16 column for a value that was not asked for; a null in parquet."""

NOBODY = -1
"""The `holder` of a round in which nobody took the marker."""

COLOR_NAMES = (*COLORS, "J")
MOVE_COLOR_NAMES = (*COLOR_NAMES, *(f"{color}J" for color in COLORS))
TERMINATION_NAMES = tuple(ending.name for ending in Termination)


def game_id(cell: int, deal: int, seating: int) -> int:
    """Return the integer that names a game in every table of a run."""
    return (cell << CELL_SHIFT) | (deal << DEAL_SHIFT) | seating


@dataclass(frozen=True)
class Column:
    """One column: its name, NumPy type (`S` = fixed-width text, width set per cell) and what it holds."""

    name: str
    dtype: str
    doc: str
    names: tuple[str, ...] = ()
    """For a coded column, the text of each code; written to parquet as a dictionary column."""
    is_optional: bool = False
    """True if `NOT_LOGGED` may stand in it, which is a null in parquet; all other columns have none."""


@dataclass(frozen=True, eq=False)
class Table:
    """One table of the log."""

    name: str
    depth: Depth
    """The least log depth at which it is written."""
    doc: str
    key: tuple[str, ...]
    """Columns that together name a row, in the order in which rows are sorted."""
    columns: tuple[Column, ...]
    is_view: bool = False
    """True if no file holds it: the log reads it from another table."""
    is_probed: bool = False
    """True if it is written only where the experiment asks for probes."""

    @cache  # noqa: B019 - tables are few, and live as long as the module
    def dtype(self, text_width: int = 1) -> np.dtype[Any]:
        """Return the structured dtype of a row; `text_width` is the width of its `S` column, if any."""
        fields = [(c.name, f"S{text_width}" if c.dtype == "S" else c.dtype) for c in self.columns]
        return np.dtype(fields, align=True)


_GAME = Column("game", "i8", "The game: cell * 2**40 + deal * 2**8 + seating; joins all tables.")
_ROUND = Column("round", "u2", "Round, counted from 1.")
_SEAT = Column("seat", "u1", "Seat, counted from 0; seat 0 starts round 1.")
_COLOR = Column("color", "u1", "Color of the tiles: B Y R K W (J joker).", COLOR_NAMES)

GAMES = Table(
    "games",
    "games",
    "A row a game and seat: who played and how it ended.",
    ("game", "seat"),
    (
        _GAME,
        Column("cell", "u2", "Cell of the experiment: one player count, one set of rules, one line-up."),
        Column("deal", "u4", "Deal: the luck shared by all games of this number at the same player count."),
        Column("seating", "u1", "Which of the cell's seatings: who sits where."),
        Column("players", "u1", "Number of players, 2 to 4."),
        _SEAT,
        Column("spec", "u2", "The strategy in this seat, as its canonical spec (dictionary of the run)."),
        Column("score", "i2", "Final score, points; where a forfeited game ended, as it stood then, without bonuses."),
        Column("rows", "u1", "Complete horizontal rows at the end."),
        Column("columns", "u1", "Complete vertical columns at the end."),
        Column("colors", "u1", "Colors with all their tiles on the wall at the end."),
        Column(
            "placement",
            "u1",
            "Place by score, then complete rows: 1 is best; ties share a place (1, 1, 3). In a forfeited game whoever "
            "failed is last, and all others share place 1.",
        ),
        Column("win_share", "f8", "1/k for each of k winners, else 0; a forfeited game is won by all but one."),
        Column("wall_points", "i2", "Points scored by placing tiles, all rounds."),
        Column("floor_loss", "i4", "Points on occupied floor spaces, all rounds, before the clamp at 0 (positive)."),
        Column("floor_paid", "i4", "Points really lost to the floor, after the clamp at 0 (positive)."),
        Column("bonus_points", "i2", "End-of-game bonuses, points."),
        Column("marker_takes", "u2", "Rounds in which this seat took the starting player marker."),
        Column("is_ender", "?", "True if this seat completed the rows that end the game (ROW_COMPLETED)."),
        Column("rounds", "u2", "Rounds played to their end."),
        Column("plies", "u2", "Moves played in the game, by all seats."),
        Column(
            "termination",
            "u1",
            "How the game ended. FORFEIT: a strategy failed, as its row in `failures` says, and the run has "
            "`on_failure` = forfeit. What is counted at the end (`rows columns colors bonus_points`) is 0, the other "
            "counts are those of the rounds played to their end, and the game has no rows in `rounds` and `moves`.",
            TERMINATION_NAMES,
        ),
    ),
)

ROUNDS = Table(
    "rounds",
    "rounds",
    "A row a game, round and seat: what was dealt, and what the tiling brought.",
    ("game", "round", "seat"),
    (
        _GAME,
        _ROUND,
        _SEAT,
        Column("starter", "u1", "Seat that started this round."),
        Column("holder", "i1", "Seat that took the marker in this round; -1 if nobody did."),
        Column("forced", "?", "True in the row of the holder if every legal move took the marker."),
        Column("bag", "u1", "Tiles in the bag after dealing."),
        Column("lid", "u1", "Tiles in the lid after dealing."),
        Column("is_short", "?", "True if some display could not be filled."),
        Column("score_before", "i2", "Score when the round was dealt (starter_bonus included)."),
        Column("gain", "i2", "Points scored by tiles placed in this round."),
        Column("floor", "u1", "Floor spaces occupied at the end of the round, marker included."),
        Column("penalty", "i2", "Points of those spaces (positive), before the clamp at 0."),
        Column("penalty_paid", "i2", "Points really lost, after the clamp at 0 (positive)."),
        Column("marker_price", "i2", "For the holder: penalty with the marker minus penalty without it; 0 for others."),
        Column("marker_price_paid", "i2", "The same, of the points really lost after the clamp."),
        Column(
            "tiled",
            "i4",
            "Tiles placed in this round: in bits 6 * (row - 1) and up, 3 bits for the column (0 = none) and 3 bits for "
            "the color's number in B Y R K W J.",
        ),
        Column(
            "displays",
            "S",
            "In the row of seat 0, the tiles dealt: display by display, tiles_per_display letters each, sorted by "
            "color, '.' for none; empty in the other rows.",
        ),
    ),
)

MOVES = Table(
    "moves",
    "moves",
    "A row a move (ply), in order of play.",
    ("game", "ply"),
    (
        _GAME,
        Column("ply", "u2", "Move in the game, counted from 0."),
        _ROUND,
        _SEAT,
        Column("source", "u1", "0 = center, 1.. = display."),
        Column(
            "color",
            "u1",
            "Color taken: B Y R K W; J all jokers alone; BJ and so on a color with all jokers there.",
            MOVE_COLOR_NAMES,
        ),
        Column("jokers", "u1", "Jokers that went to the pattern line."),
        Column("line", "u1", "Pattern line 1 to 5; 0 = the floor line."),
        Column("placed", "u1", "Tiles that went to the pattern line, jokers included."),
        Column("overflow", "u1", "Tiles that fell to the floor line (or on to the lid); taken = placed + overflow."),
        Column("marker", "?", "True if this move took the starting player marker."),
        Column("n_legal", "u2", "Number of legal moves at this point."),
        Column("floor", "u1", "Floor spaces occupied before the move."),
        Column("gain", "i2", "Exact change of the player's own round-end score by this move, before the clamp."),
        Column(
            "denial",
            "i2",
            "Best exact gain the next player could have had in this player's place, minus the best it has after the "
            "move (points); null unless the experiment sets `denial = true`.",
            is_optional=True,
        ),
    ),
)

PLACEMENTS = Table(
    "placements",
    "rounds",
    "A row a tile placed on the wall, in order of play (round, seat, row); not stored, but read from `rounds`.",
    ("game", "round", "seat", "row"),
    (
        _GAME,
        _ROUND,
        _SEAT,
        Column("row", "u1", "Row of the wall, 1 to 5, which is the pattern line that was complete."),
        Column("column", "u1", "Column of the wall, 1 to 5."),
        _COLOR,
        Column("across", "u1", "Length of the horizontal run through the tile, the tile included."),
        Column("down", "u1", "Length of the vertical run through the tile, the tile included."),
        Column("points", "i2", "Points scored for the tile."),
    ),
    is_view=True,
)

FAILURES = Table(
    "failures",
    "games",
    "A row a game that a strategy spoiled: all that is needed to play it again. Text columns.",
    ("game",),
    (
        _GAME,
        Column("cell", "u2", "Cell of the experiment."),
        Column("deal", "u4", "Deal."),
        Column("seating", "u1", "Seating."),
        _SEAT,
        Column("spec", "O", "Spec of the strategy that failed."),
        Column("ply", "u2", "Ply at which it failed."),
        Column("kind", "O", "What went wrong: raised, bad_answer, illegal_move, not_a_number, crashed, timeout."),
        Column("message", "O", "The error in one line."),
    ),
)

PROBE_KINDS = ("decision", "tempo")
OTHER, TAKE, TAKE_ONLY = 0, 1, 2
"""Arms of a probed decision: the best move that does not take the marker; the best that does; the same, but the next
round is started by whoever would have started it in the arm `OTHER`."""

_KIND = Column(
    "kind", "u1", "What was probed: taking the marker (decision), or who starts a round (tempo).", PROBE_KINDS
)
_ROOT_ROUND = Column("round", "u2", "Round of the root, counted from 1.")
_ROOT_PLY = Column("ply", "u2", "Moves played before the root; for a decision, the ply that was open there.")

ROOTS = Table(
    "roots",
    "games",
    "A row a position of a game from which play was continued in several ways (a root). A tempo root stands before "
    "the round is dealt; the columns about moves are 0 in its row.",
    ("game", "kind", "ply"),
    (
        _GAME,
        _KIND,
        _ROOT_ROUND,
        _ROOT_PLY,
        Column("seat", "u1", "tempo: the seat that starts the round in the game; decision: the seat to move."),
        Column("n_choices", "u2", "decision: how many such decisions the game has, of which some were drawn as roots."),
        Column("took", "?", "decision: true if the player takes the marker in the game."),
        Column("floor", "u1", "decision: floor spaces of that seat occupied before the move."),
        Column("space_price", "i2", "decision: points of the marker's space, or its fixed price (positive)."),
        Column("take_color", "u1", "decision: color of the best taking move.", MOVE_COLOR_NAMES),
        Column("take_line", "u1", "Its pattern line; 0 = the floor line."),
        Column("take_tiles", "u1", "Tiles it takes from the center."),
        Column("take_gain", "i2", "Its exact gain (see `moves`), the price of the marker included."),
        Column("other_source", "u1", "decision: source of the best move that does not take the marker."),
        Column("other_color", "u1", "Its color.", MOVE_COLOR_NAMES),
        Column("other_line", "u1", "Its pattern line; 0 = the floor line."),
        Column("other_tiles", "u1", "Tiles it takes."),
        Column("other_gain", "i2", "Its exact gain."),
    ),
    is_probed=True,
)

PROBES = Table(
    "probes",
    "games",
    "A row a continued game and seat: how a game ended that was played on from a root. Everything that is dealt and "
    "decided after the root is keyed by the continuation, alike in all arms.",
    ("game", "kind", "ply", "arm", "continuation", "seat"),
    (
        _GAME,
        _KIND,
        _ROOT_ROUND,
        _ROOT_PLY,
        Column(
            "arm",
            "u1",
            "tempo: the seat that starts the round; decision: 0 the best move that does not take the marker, 1 the "
            "best that does, 2 the same, but the next round is started as in arm 0.",
        ),
        Column("continuation", "u2", "Which luck after the root, counted from 1; 0 is that of the game itself."),
        _SEAT,
        Column("score", "i2", "Final score, points."),
        Column("margin", "i2", "Final score minus the best other score, points."),
        Column("win_share", "f8", "1/k for each of k winners, else 0."),
        Column("rounds", "u2", "Rounds of the continued game."),
        Column("next_starter", "i1", "Seat that starts the round after the root's; -1 if the game ends before."),
    ),
    is_probed=True,
)

TABLES: dict[str, Table] = {t.name: t for t in (GAMES, ROUNDS, MOVES, PLACEMENTS, ROOTS, PROBES, FAILURES)}


def tables_at(depth: Depth, *, is_probed: bool = False) -> tuple[Table, ...]:
    """Return the tables that a log holds at a depth, views included; failures are written at any depth.

    `is_probed` says whether the experiment asks for probes.
    """
    kept = DEPTHS[: DEPTHS.index(depth) + 1]
    return tuple(t for t in TABLES.values() if t is not FAILURES and t.depth in kept and is_probed >= t.is_probed)


def stored_at(depth: Depth, *, is_probed: bool = False) -> tuple[Table, ...]:
    """Return the tables that are written at a log depth, but for failures."""
    return tuple(table for table in tables_at(depth, is_probed=is_probed) if not table.is_view)


def empty(table: Table, text_width: int = 1) -> npt.NDArray[Any]:
    """Return a table of no rows."""
    return np.empty(0, table.dtype(text_width))
