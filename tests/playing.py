"""Blocks played in tests, and their tables compared and replayed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from reference import Move, Reference, count_complete
from test_engine import derive, draw_as_the_engine, most_points

from azulsim.arena import Block, Probes, Tables, play_block
from azulsim.arena.blockplay import Blockplay
from azulsim.arena.lockstep import Lockstep
from azulsim.engine.compiling import address_of
from azulsim.engine.luck import DEAL_DOMAIN, game_key, root_key
from azulsim.registry import make_strategy
from azulsim.rules import COLORS, Rules
from azulsim.schema import COLOR_NAMES, MOVE_COLOR_NAMES, NOT_LOGGED, Depth
from azulsim.strategy import Definition, Strategy
from azulsim.strategy.definition import Speed

TABLES = ("games", "rounds", "moves")


def make_block(
    lineup: Sequence[str],
    *,
    players: int | None = None,
    deals: int = 4,
    first: int = 0,
    seed: int = 1,
    cell: int = 0,
    rules: Rules | None = None,
    seatings: Sequence[Sequence[int]] | None = None,
    depth: Depth = "moves",
    denial: bool = False,
    probes: Probes | None = None,
) -> Block:
    """A block; the line-up sits in its own order, a single player in every seat."""
    players = players or len(lineup)
    seats = range(players) if len(lineup) == players else [0] * players
    return Block(
        cell,
        players,
        rules or Rules(),
        tuple(lineup),
        tuple(range(len(lineup))),
        tuple(map(tuple, seatings or [seats])),
        seed,
        first,
        deals,
        depth,
        denial,
        probes,
    )


def play(*lineup: str | Definition | Strategy, speed: Speed | None = None, **options: Any) -> Tables:
    """Play a block of bundled strategies (by spec) or of test strategies (by definition)."""
    if all(isinstance(player, str) for player in lineup):
        return play_block(make_block([str(player) for player in lineup], **options), speed=speed)
    made = {id(player): as_strategy(player, speed) for player in lineup}
    strategies = [made[id(player)] for player in lineup]
    return play_block(make_block([strategy.spec for strategy in strategies], **options), strategies=strategies)


def begin_games(player: Strategy, n: int, *, first: int = 0) -> tuple[Any, Any, Any]:
    """Games of two just begun, one a deal: the records of the driver (GAME[n], LIVE[n]) and the seat of the player."""
    block = Blockplay(make_block([player.spec], players=2, deals=n, first=first), [player])
    lockstep = Lockstep(block)
    lockstep._set_up(np.arange(n), np.arange(n))
    seat = block.make_seats()[0, :1]
    _MEMORIES.append(np.zeros(block.memory_size(), np.uint8))
    seat["workspace"] = address_of(_MEMORIES[-1])
    return lockstep.games, lockstep.lives, seat


_MEMORIES: list[npt.NDArray[np.uint8]] = []
"""The own memory of the players of `begin_games`, kept while their seats may be used."""


_MADE: dict[tuple[int, Speed | None], Strategy] = {}
"""Players of test strategies, each compiled once; a player keeps its definition alive, so that ids stay apart."""


def as_strategy(player: str | Definition | Strategy, speed: Speed | None = None) -> Strategy:
    """A player from a definition or a spec."""
    if isinstance(player, Strategy):
        return player
    if isinstance(player, Definition):
        key = (id(player), speed)
        if key not in _MADE:
            _MADE[key] = Strategy(player, speed=speed)
        return _MADE[key]
    return make_strategy(player)


def assert_same(left: Tables, right: Tables, names: Sequence[str] = TABLES) -> None:
    """Two results agree in every field of every row."""
    for name in names:
        a, b = getattr(left, name), getattr(right, name)
        assert a.dtype == b.dtype
        for column in a.dtype.names:
            np.testing.assert_array_equal(a[column], b[column], err_msg=f"{name}.{column}")


def rows_of(table: npt.NDArray[Any], game: int) -> npt.NDArray[Any]:
    """The rows of one game."""
    return table[table["game"] == game]


def replay_in_reference(block: Block, tables: Tables, game: int) -> Reference:
    """Play a logged game again in the plain reference and compare every column of its rows."""
    deal, seating = (game >> 8) & 0xFFFFFFFF, game & 255
    key = int(game_key(np.uint64(root_key(block.seed, DEAL_DOMAIN)), deal, 0))
    tiled = {(row["round"], row["seat"]): int(row["tiled"]) for row in rows_of(tables.rounds, game)}
    reference = Reference(
        block.players,
        block.rules,
        draw_as_the_engine(key),
        place=lambda now, seat, row, options: tiled[now.round, seat] >> 6 * (row - 1) & 7,
        lottery=lambda round_: (derive(derive(key, round_ - 1), 0) >> 32) * block.players >> 32,
    )
    forced: set[int] = set()
    for ply, row in enumerate(rows_of(tables.moves, game)):
        move = read_move(reference, row)
        described = vars(reference.describe_move(move)).copy()
        if described.pop("forced"):
            forced.add(reference.round)
        facts = described | {
            "jokers": int(row["jokers"]),
            "game": game,
            "ply": ply,
            "round": reference.round,
            "seat": reference.seat,
            "source": move.source,
            "color": int(row["color"]),
            "line": move.line,
            "gain": reference.exact_gain(move, most_points),
            "denial": reference.denial(move, most_points) if block.denial else NOT_LOGGED,
        }
        assert as_dict(row) == facts
        reference.play(move)
    assert reference.is_over
    assert [as_dict(row) for row in rows_of(tables.rounds, game)] == expected_rounds(block, reference, game, forced)
    assert [as_dict(row) for row in rows_of(tables.games, game)] == expected_games(
        block, reference, game, deal, seating
    )
    return reference


def read_move(game: Reference, row: Any) -> Move:
    """The logged move among the legal ones of the reference, found by how many jokers the log says stayed."""
    color = MOVE_COLOR_NAMES[row["color"]]
    found = [
        move
        for move in game.legal_moves()
        if (move.source, move.color, move.line, move.jokers) == (row["source"], color[0], row["line"], len(color) == 2)
        and move.keep in (None, row["jokers"])
    ]
    assert len(found) == 1
    return found[0]


def as_dict(row: Any) -> dict[str, Any]:
    """A row of a table as plain values."""
    return {name: row[name].item() for name in row.dtype.names}


def expected_rounds(block: Block, reference: Reference, game: int, forced: set[int]) -> list[dict[str, Any]]:
    """The rows of `rounds` by the reference, which keeps the displays in order of dealing, and tiles one by one.

    `forced` are the rounds in which the marker was taken by a player who had no other move.
    """
    size = block.rules.tiles_per_display
    rows = []
    for facts in reference.rounds:
        dealt = [facts.displays[at : at + size] for at in range(0, len(facts.displays), size)]
        text = "".join("".join(sorted(tiles, key=f"{COLORS}J.".index)) for tiles in dealt)
        tiled = 0
        for tile in reference.placed:
            if (tile.round, tile.seat) == (facts.round, facts.seat):
                tiled |= (tile.column | COLOR_NAMES.index(tile.color) << 3) << 6 * (tile.row - 1)
        row = {"game": game, **vars(facts)}
        assert row.pop("score_after") == facts.score_before + facts.gain - facts.penalty_paid
        row["forced"] = facts.seat == facts.holder and facts.round in forced
        row |= {"displays": b"" if facts.seat else text.encode(), "tiled": tiled}
        rows.append(row)
    return rows


def expected_games(block: Block, reference: Reference, game: int, deal: int, seating: int) -> list[dict[str, Any]]:
    """The rows of `games` by the reference."""
    rows = []
    for seat, board in enumerate(reference.boards):
        complete = dict(zip(("rows", "columns", "colors"), count_complete(board.wall), strict=True))
        rows.append(
            {
                "game": game,
                "cell": block.cell,
                "deal": deal,
                "seating": seating,
                "players": block.players,
                "seat": seat,
                "spec": block.spec_codes[block.seatings[seating][seat]],
                "score": board.score,
                **complete,
                "placement": reference.placements()[seat],
                "win_share": reference.win_shares()[seat],
                "wall_points": board.wall_points,
                "floor_loss": board.floor_loss,
                "floor_paid": board.floor_paid,
                "bonus_points": board.bonus_points,
                "marker_takes": board.marker_takes,
                "is_ender": reference.enders()[seat],
                "rounds": reference.round,
                "plies": reference.ply,
                "termination": int(reference.termination),
            }
        )
    return rows
