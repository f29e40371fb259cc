"""Every column of the log, as the arena fills it, against the plain reference playing the same moves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import reference
from reference import COLORS, Move, Placement, Reference, RoundFacts

import azulsim
from azulsim.arena import Block, play_block
from azulsim.experiment import Experiment
from azulsim.rules import Rules

DEALS = 2
IDENTITY = {"game", "cell", "deal", "seating", "players", "spec"}
"""Columns that say which game a row is of, and nothing of what happened in it."""

HOUSE_RULES: dict[str, dict[str, Any]] = {
    "printed": {},
    "eager": {"lid_refill": "eager", "marker_on_full_floor": "replace_last", "starter_bonus": -2},
    "odd_floor": {"floor_penalties": (-1, -5, 0, -2), "tiles_per_display": 5},
    "cut_short": {"max_rounds": 2, "bonus": {"row": -9, "column": 1}},
}


def read_deals(rounds: Any, size: int) -> list[list[str]]:
    """Return what was dealt, a list of displays a round."""
    texts = [row["displays"].decode() for row in rounds if row["seat"] == 0]
    return [[text[i : i + size].replace(".", "") for i in range(0, len(text), size)] for text in texts]


def sort_displays(text: str, size: int) -> bytes:
    """Return dealt displays as the log writes them: the tiles of a display by color, free spaces last."""
    displays = [text[i : i + size] for i in range(0, len(text), size)]
    return "".join("".join(sorted(tiles, key=f"{COLORS}.".index)) for tiles in displays).encode()


def replay(rules: Rules, players: int, rounds: Any, moves: Any) -> tuple[Reference, list[dict[str, Any]]]:
    """Play logged moves on logged deals in the reference; return the game, and what each move's row should hold."""
    game = Reference(players, rules, reference.draw_as_stated(read_deals(rounds, rules.tiles_per_display)))
    rows = []
    for row in moves:
        move = Move(int(row["source"]), COLORS[row["color"]], int(row["line"]))
        at = {"ply": game.ply, "round": game.round, "seat": game.seat}
        chosen = {"source": move.source, "color": row["color"], "line": move.line}
        worth = {"gain": game.exact_gain(move), "denial": game.denial(move)}
        rows.append(at | chosen | vars(game.describe_move(move)) | worth)
        game.play(move)
    assert game.is_over
    return game, rows


def list_outcome(game: Reference) -> list[dict[str, Any]]:
    """Return what the rows of the games table should hold."""
    rows = []
    for seat, board in enumerate(game.boards):
        complete = dict(zip(("rows", "columns", "colors"), reference.count_complete(board.wall), strict=True))
        totals = ("score", "wall_points", "floor_loss", "floor_paid", "bonus_points", "marker_takes")
        result = {
            "seat": seat,
            "placement": game.placements()[seat],
            "win_share": game.win_shares()[seat],
            "is_ender": game.enders()[seat],
            "rounds": game.round,
            "plies": game.ply,
            "termination": game.termination,
        }
        rows.append(complete | {name: getattr(board, name) for name in totals} | result)
    return rows


def list_round(facts: RoundFacts, placed: list[Placement], size: int) -> dict[str, Any]:
    """Return the row of `rounds` for what the reference says of a round and seat."""
    now = [tile for tile in placed if (tile.round, tile.seat) == (facts.round, facts.seat)]
    return vars(facts) | {
        "displays": sort_displays(facts.displays, size) if facts.seat == 0 else b"",
        "tiled": sum((tile.column | COLORS.index(tile.color) << 3) << 6 * (tile.row - 1) for tile in now),
    }


def assert_rows(table: Any, expected: list[dict[str, Any]]) -> None:
    """Compare every column of a table that is not a game's identity."""
    columns = set(table.dtype.names) - IDENTITY
    assert len(table) == len(expected)
    for row, wanted in zip(table, expected, strict=True):
        assert {name: row[name] for name in columns} == {name: wanted[name] for name in columns}


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("house", HOUSE_RULES)
def test_every_column_is_what_the_reference_says(house: str, players: int) -> None:
    rules = Rules.model_validate(HOUSE_RULES[house])
    lineup, seats = ("uniform", "greedy", "greedy", "uniform")[:players], tuple(range(players))
    tables = play_block(Block(0, players, rules, lineup, seats, (seats,), 5, 0, DEALS, "moves", denial=True))
    games = np.unique(tables.games["game"])
    assert len(games) == DEALS
    for number in games:
        rounds, moves, outcome = (
            table[table["game"] == number] for table in (tables.rounds, tables.moves, tables.games)
        )
        game, move_rows = replay(rules, players, rounds, moves)
        assert_rows(moves, move_rows)
        size = rules.tiles_per_display
        assert_rows(rounds, [list_round(facts, game.placed, size) for facts in game.rounds])
        assert_rows(outcome, list_outcome(game))


@pytest.mark.parametrize("players", [2, 4])
def test_placements_read_from_a_run_are_those_of_the_reference(tmp_path: Path, players: int) -> None:
    lineup = ("uniform", "greedy", "column_builder", "uniform")[:players]
    experiment = Experiment(name="tiles", seed=6, deals=10, log="moves", players=(players,), lineup=lineup)
    run = azulsim.run(experiment, out=tmp_path / "run", jobs=1, progress=False)
    rounds, moves, placements = (
        frame.assign(**{name: frame[name].cat.codes for name in ("color",) if name in frame})
        for frame in (run.rounds(), run.moves(), run.placements())
    )
    rounds = rounds.assign(displays=rounds["displays"].str.encode("ascii"))
    keys = ["game", "round", "seat", "row"]
    assert placements[keys].equals(placements.sort_values(keys, ignore_index=True)[keys])
    for number in rounds["game"].unique():
        logged, tiles = (frame[frame["game"] == number] for frame in (moves, placements))
        game, _ = replay(Rules(), players, rounds[rounds["game"] == number].to_records(), logged.to_records())
        wanted = [tile._asdict() | {"color": COLORS.index(tile.color)} for tile in game.placed]
        assert tiles.drop(columns="game").to_dict("records") == wanted
