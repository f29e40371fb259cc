"""Runs whose truth is known: tables of the log drawn from a simple latent model, not from a game.

Each deal adds luck shared by all its games, each strategy has a skill in points, the starter of round 1 gains
`starter` points, and everything else is noise; so every estimate of the reading wing has a true value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from azulsim import schema
from azulsim.log import Cell, Manifest, Shard, create_run, write_shard
from azulsim.rules import Rules, Termination

Tables = dict[str, npt.NDArray[Any]]

PENALTIES = np.array([0, 1, 2, 4, 6, 8, 11, 14])
"""Points of 0 to 7 occupied floor spaces under the printed rules."""


def make_tables(
    lineups: Sequence[Sequence[int]],
    *,
    skills: Sequence[float],
    deals: int = 200,
    seed: int = 1,
    starter: float = 0.0,
    first_cell: int = 0,
) -> Tables:
    """Draw all tables of a run in which cell `first_cell + c` seats the spec codes `lineups[c]`, in all rotations.

    Rotation r seats player (seat + r) of the line-up at each seat; a line-up of one strategy has one seating.
    """
    parts = [
        _make_cell(first_cell + c, tuple(lineup), np.asarray(skills, float), deals, seed, starter)
        for c, lineup in enumerate(lineups)
    ]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _make_cell(
    cell: int, lineup: tuple[int, ...], skills: npt.NDArray[Any], deals: int, seed: int, starter: float
) -> Tables:
    n = len(lineup)
    seatings = 1 if len(set(lineup)) == 1 else n
    rng = np.random.default_rng((seed, cell))
    luck = np.random.default_rng((seed, 1000 + n)).normal(0, 6, size=deals)[:, None, None]
    specs = np.array([[lineup[(seat + r) % n] for seat in range(n)] for r in range(seatings)])
    shape = (deals, seatings, n)
    raw = 45 + skills[specs][None] + luck + rng.normal(0, 10, size=shape)
    raw[:, :, 0] += starter
    score = np.maximum(np.rint(raw), 0).astype(int)

    g = np.zeros(shape, schema.GAMES.dtype())
    deal, seating = np.arange(deals)[:, None, None], np.arange(seatings)[None, :, None]
    g["game"] = (cell << schema.CELL_SHIFT) | (deal << schema.DEAL_SHIFT) | seating
    g["cell"], g["deal"], g["seating"], g["players"], g["seat"] = cell, deal, seating, n, np.arange(n)
    g["spec"], g["score"] = specs[None], score
    g["placement"] = 1 + (score[..., None, :] > score[..., :, None]).sum(-1)
    winners = score == score.max(-1, keepdims=True)
    g["win_share"] = winners / winners.sum(-1, keepdims=True)
    g["rows"], g["columns"], g["colors"] = rng.integers(0, 3, shape), rng.integers(0, 4, shape), 0
    g["bonus_points"] = 2 * g["rows"] + 7 * g["columns"]
    g["rounds"] = (5 + rng.binomial(3, 0.4, size=(deals, seatings)))[..., None]
    g["termination"] = Termination.ROW_COMPLETED
    ender = rng.integers(0, n, size=(deals, seatings))[..., None]
    g["is_ender"] = ender == np.arange(n)
    games = g.reshape(-1, n)

    rounds, moves = [], []
    for row in games:
        r, m = _make_game(row, rng)
        rounds.append(r)
        moves.append(m)
        row["plies"] = len(m)
        row["floor_loss"], row["floor_paid"] = r["penalty"].sum(0), r["penalty_paid"].sum(0)
        row["marker_takes"] = (r["holder"] == r["seat"]).sum(0)
        row["wall_points"] = row["score"] - row["bonus_points"] + row["floor_paid"]
    return {
        "games": games.ravel(),
        "rounds": np.concatenate([r.ravel() for r in rounds]),
        "moves": np.concatenate(moves),
        "failures": schema.empty(schema.FAILURES),
    }


def _make_game(row: npt.NDArray[Any], rng: np.random.Generator) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Draw the rounds (round x seat) and the moves of one game; the holder of a round starts the next."""
    n, n_rounds = len(row), int(row["rounds"][0])
    width = 4 * (2 * n + 1)
    r = np.zeros((n_rounds, n), schema.ROUNDS.dtype(width))
    holder = rng.integers(0, n, n_rounds)
    r["game"], r["round"], r["seat"] = row["game"][0], 1 + np.arange(n_rounds)[:, None], np.arange(n)
    r["holder"] = holder[:, None]
    r["starter"][1:] = holder[:-1, None]
    r["displays"] = b"BYRK" * (2 * n + 1)
    r["is_short"] = (r["round"] >= 6) & (rng.random(n_rounds) < 0.2)[:, None]
    held = r["holder"] == r["seat"]
    others = rng.integers(0, 3, r.shape)
    r["floor"] = others + held
    r["penalty"] = r["penalty_paid"] = PENALTIES[r["floor"]]
    r["marker_price"] = r["marker_price_paid"] = np.where(held, PENALTIES[r["floor"]] - PENALTIES[others], 0)
    r["gain"] = rng.integers(2, 14, r.shape)
    r["score_before"] = 10 * r["round"]

    per_round = rng.integers(2, 5, n_rounds) * n
    m = np.zeros(per_round.sum(), schema.MOVES.dtype())
    m["game"], m["ply"] = row["game"][0], np.arange(len(m))
    m["round"] = np.repeat(1 + np.arange(n_rounds), per_round)
    first = np.concatenate([[0], per_round.cumsum()[:-1]])
    m["seat"] = (m["ply"] - np.repeat(first, per_round) + np.repeat(r["starter"][:, 0], per_round)) % n
    for k in range(n_rounds):
        mine = np.flatnonzero((m["round"] == k + 1) & (m["seat"] == holder[k]))
        taken = mine[rng.integers(len(mine))]
        m["marker"][taken] = True
        r["forced"][k] = held[k] & (rng.random() < 0.1)
        m["floor"][taken] = rng.integers(0, 3)
    m["placed"], m["n_legal"], m["line"] = 2, 10, 1
    return r, m


def make_seatings(lineup: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """Return all rotations of a line-up, or one seating if it is one strategy in all seats."""
    n = len(lineup)
    return tuple(tuple((seat + r) % n for seat in range(n)) for r in range(1 if len(set(lineup)) == 1 else n))


def write_run(
    folder: Path,
    lineups: Sequence[Sequence[str]],
    *,
    skills: Mapping[str, float],
    deals: int = 200,
    seed: int = 1,
    starter: float | Sequence[float] = 0.0,
    depth: schema.Depth = "moves",
    rules: Sequence[Rules] | None = None,
    name: str = "synthetic",
    experiment: Mapping[str, Any] | None = None,
) -> Path:
    """Write a synthetic run with the log's own writer, a cell a line-up (with its rules), and return its folder.

    `starter` may differ by cell; `experiment` is what the manifest says of it.
    """
    starters = [starter] * len(lineups) if isinstance(starter, int | float) else list(starter)
    specs = tuple(skills)
    codes = [[specs.index(spec) for spec in lineup] for lineup in lineups]
    cells = tuple(
        Cell(
            index=index,
            players=len(lineup),
            lineup=tuple(lineup),
            seatings=make_seatings(lineup),
            deals=deals,
            rules=rules[index] if rules else Rules(),
        )
        for index, lineup in enumerate(lineups)
    )
    manifest = Manifest(
        azulsim="0.1.0",
        name=name,
        seed=seed,
        log=depth,
        cells=cells,
        specs=specs,
        shards=len(cells),
        experiment=dict(experiment or {}),
    )
    create_run(folder, manifest, "")
    for index, lineup in enumerate(codes):
        tables = make_tables(
            [lineup], skills=list(skills.values()), deals=deals, seed=seed, starter=starters[index], first_cell=index
        )
        write_shard(folder, Shard(index, 0, deals), tables, [], depth=depth, specs=specs)
    return folder
