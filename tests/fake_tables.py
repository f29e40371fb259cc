"""Tables as an arena would fill them, but made of random numbers: for tests of what happens to rows afterwards."""

from __future__ import annotations

from typing import Any

import numpy as np

from azulsim import schema
from azulsim.log import Cell, Shard

ROUNDS, PLIES = 2, 6
"""Rounds and moves of every fake game; every player places one tile a round."""


def fake_tables(cell: Cell, shard: Shard, specs: tuple[str, ...], seed: int = 0) -> dict[str, Any]:
    """Return structured arrays of the stored numeric tables for a shard, the same for the same arguments."""
    rng = np.random.default_rng([seed, shard.cell, shard.first_deal])
    games = [
        (deal, seating)
        for deal in range(shard.first_deal, shard.first_deal + shard.n_deals)
        for seating in range(len(cell.seatings))
    ]
    ids = np.array([schema.game_id(shard.cell, deal, seating) for deal, seating in games], "i8")
    n = cell.players
    width = 4 * cell.rules.n_displays(n)
    rows = {"games": n, "rounds": ROUNDS * n, "moves": PLIES}
    tables = {name: _fill(rng, schema.TABLES[name], ids, count, width) for name, count in rows.items()}

    table = tables["games"]
    table["seat"] = np.tile(np.arange(n), len(ids))
    table["cell"], table["players"] = shard.cell, n
    table["deal"] = np.repeat([deal for deal, _ in games], n)
    table["seating"] = np.repeat([seating for _, seating in games], n)
    table["spec"] = [specs.index(cell.spec_at(seating, seat)) for _, seating in games for seat in range(n)]
    table["plies"], table["rounds"] = PLIES, ROUNDS
    tables["rounds"]["round"] = np.tile(np.repeat(np.arange(1, ROUNDS + 1), n), len(ids))
    tables["rounds"]["seat"] = np.tile(np.arange(n), ROUNDS * len(ids))
    tables["rounds"]["displays"] = ["".join(rng.choice(list("BYRKW."), width)) for _ in tables["rounds"]]
    tables["moves"]["ply"] = np.tile(np.arange(PLIES), len(ids))
    tables["moves"]["round"] = 1 + tables["moves"]["ply"] * ROUNDS // PLIES
    tables["moves"]["seat"] = tables["moves"]["ply"] % n
    tables["rounds"]["tiled"] = 1 + tables["rounds"]["seat"]  # blue (0) to column seat + 1 of row 1
    return tables


def _fill(rng: np.random.Generator, table: schema.Table, ids: Any, rows_per_game: int, width: int) -> Any:
    rows = np.zeros(len(ids) * rows_per_game, table.dtype(width))
    for column in table.columns:
        if column.name == "game":
            rows["game"] = np.repeat(ids, rows_per_game)
        elif column.names:
            rows[column.name] = rng.integers(len(column.names), size=len(rows))
        elif column.dtype == "i2":
            rows[column.name] = rng.integers(-300, 300, size=len(rows))
        elif column.dtype == "?":
            rows[column.name] = rng.integers(2, size=len(rows))
        elif column.dtype in ("u1", "u2", "i1"):
            rows[column.name] = rng.integers(100, size=len(rows))
        elif column.dtype == "f8":
            rows[column.name] = rng.choice([0, 1 / 3, 1 / 2, 1], size=len(rows))
    return rows


def fake_failure(cell: int, deal: int, seating: int, spec: str) -> dict[str, Any]:
    """Return a row of the failures table."""
    return {
        "game": schema.game_id(cell, deal, seating),
        "cell": cell,
        "deal": deal,
        "seating": seating,
        "seat": 1,
        "spec": spec,
        "ply": 7,
        "kind": "raised",
        "message": "ZeroDivisionError: division by zero",
    }
