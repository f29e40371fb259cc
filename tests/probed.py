"""Runs with probes whose truth is known: continued games drawn from a simple latent model, not from a game.

Every continued game is luck that its arms share, noise of each arm, and what was planted: a tempo in points for the
player who starts the round, and for decisions a value that varies from root to root, part of it tempo. Deals add a part
of their own to both, so that roots of one deal depend on each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import synthetic

from azulsim import schema
from azulsim.log import Cell, Manifest, Shard, create_run, write_shard
from azulsim.rules import Rules, Termination

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Truth:
    """What is planted, in points of score."""

    tempo: float = 4.0
    """Gain of the player who starts round 1, against anybody else starting."""
    slope: float = 0.0
    """What is added to it each later round."""
    value: float = 1.5
    """Mean over roots of taking minus not taking."""
    spread: float = 3.0
    """Standard deviation of that over roots."""
    share: float = 0.4
    """Part of each root's value that is tempo (none where the same player starts next, or nobody does)."""
    shift: float = 1.0
    """Standard deviation over deals of a part that all effects of a deal share."""
    continuations: int = 4
    per_game: int = 1
    noise: float = 3.0


KINDS = ("tempo", "decision")


def make_probes(
    games: Array, truth: Truth, rng: np.random.Generator, bonus: int = 0, kinds: Sequence[str] = KINDS
) -> dict[str, Array]:
    """Draw the tables `roots` and `probes` for the table `games` of one cell (all seats of a game in a row)."""
    n = int(games["players"][0])
    rows = games.reshape(-1, n)
    _, place = np.unique(rows["deal"][:, 0], return_inverse=True)
    shift = rng.normal(0, truth.shift, place.max() + 1)[place]
    parts = [_draw_tempo(rows, shift, truth, rng, bonus)] if "tempo" in kinds else []
    parts += [_draw_decisions(rows, shift, truth, rng)] if "decision" in kinds else []
    tables = {name: np.concatenate([part[name] for part in parts]) for name in ("roots", "probes")}
    return {name: np.sort(table, order=schema.TABLES[name].key) for name, table in tables.items()}


def _draw_tempo(rows: Array, shift: Array, truth: Truth, rng: np.random.Generator, bonus: int) -> dict[str, Array]:
    n, roots, probes = rows.shape[1], [], []
    for number in range(1, int(rows["rounds"].max()) + 1):
        here = rows["rounds"][:, 0] >= number
        root = np.zeros(int(here.sum()), schema.ROOTS.dtype())
        root["game"], root["kind"], root["round"] = rows["game"][here, 0], 1, number
        root["ply"], root["seat"] = 20 * (number - 1), rng.integers(0, n, len(root))
        arms = np.arange(n)[None, :, None, None]
        effect = (truth.tempo + truth.slope * (number - 1) + shift[here])[:, None, None, None] * (arms == np.arange(n))
        last = number + rng.integers(0, 3, (len(root), 1, truth.continuations, 1))
        following = np.where(last > number, rng.integers(0, n, (len(root), n, truth.continuations, 1)), -1)
        paid = (arms == np.arange(n)).astype(int) + (following == np.arange(n))
        roots.append(root)
        probes.append(_draw_ends(root, effect, last, following, truth, rng, bonus * paid))
    return {"roots": np.concatenate(roots), "probes": np.concatenate(probes)}


def _draw_decisions(rows: Array, shift: Array, truth: Truth, rng: np.random.Generator) -> dict[str, Array]:
    n = rows.shape[1]
    choices = rng.integers(0, 12, len(rows))
    drawn = np.minimum(choices, truth.per_game)
    game = np.repeat(np.arange(len(rows)), drawn)
    root = np.zeros(len(game), schema.ROOTS.dtype())
    root["game"], root["kind"], root["n_choices"] = rows["game"][game, 0], 0, choices[game]
    root["round"] = 1 + rng.integers(0, rows["rounds"][game, 0])
    root["ply"] = 20 * (root["round"] - 1) + 5
    for step in range(1, truth.per_game):  # no two roots of a game at one ply
        root["ply"][step:] += root["game"][step:] == root["game"][:-step]
    root["seat"], root["took"] = rng.integers(0, n, len(root)), rng.random(len(root)) < 0.4
    root["floor"], root["take_tiles"] = rng.integers(0, 5, len(root)), rng.integers(1, 5, len(root))
    root["space_price"] = np.array([1, 1, 2, 2, 2])[root["floor"]]
    root["take_gain"], root["other_gain"] = rng.integers(-2, 3, (2, len(root)))
    value = rng.normal(truth.value, truth.spread, len(root)) + shift[game]
    last = root["round"][:, None, None, None] + rng.integers(0, 2, (len(root), 1, truth.continuations, 1))
    is_last = last == root["round"][:, None, None, None]
    # Whoever starts in the other arm, starts here too; if it is the taker, the two taking arms are one.
    following = np.where(is_last, -1, rng.integers(0, n, last.shape))
    taker = np.where(is_last, -1, root["seat"][:, None, None, None].astype(int))
    kept = np.where(following == taker, value[:, None, None, None], (1 - truth.share) * value[:, None, None, None])
    parts = np.concatenate([np.zeros_like(kept), np.broadcast_to(value[:, None, None, None], kept.shape), kept], axis=1)
    effect = parts * (np.arange(n) == root["seat"][:, None, None, None])
    following = np.concatenate([following, taker, following], axis=1)
    return {"roots": root, "probes": _draw_ends(root, effect, last, following, truth, rng, 0, is_decision=True)}


def _draw_ends(
    root: Array,
    effect: Array,
    last: Array,
    following: Array,
    truth: Truth,
    rng: np.random.Generator,
    paid: Array | int,
    *,
    is_decision: bool = False,
) -> Array:
    """Draw how games end: shape (roots, arms, continuations, seats)."""
    shape = (len(root), effect.shape[1], truth.continuations, effect.shape[3])
    luck = rng.normal(45, 8, (len(root), 1, *shape[2:]))
    noise = rng.normal(0, truth.noise, shape)
    if is_decision:  # the arm that only moves the start is the taking arm but for the start
        noise[:, 2] = noise[:, 1]
    ends = np.zeros(shape, schema.PROBES.dtype())
    for name in ("game", "kind", "round", "ply"):
        ends[name] = root[name][:, None, None, None]
    ends["arm"] = np.arange(shape[1])[:, None, None]
    ends["continuation"] = 1 + np.arange(shape[2])[:, None]
    ends["seat"] = np.arange(shape[3])
    ends["score"] = np.rint(luck + noise + effect) + paid
    order = np.sort(ends["score"], axis=-1)
    best = np.where(ends["score"] == order[..., -1:], order[..., -2:-1], order[..., -1:])
    ends["margin"] = ends["score"] - best
    winners = ends["margin"] >= 0
    ends["win_share"] = winners / winners.sum(-1, keepdims=True)
    ends["rounds"], ends["next_starter"] = last, following
    return ends.ravel()


def make_games(cell: int, lineup: Sequence[int], deals: int, rounds: int) -> Array:
    """Make the table `games` of a cell quickly: one seating, nobody scores, every game has so many rounds."""
    n = len(lineup)
    games = np.zeros((deals, n), schema.GAMES.dtype())
    deal = np.arange(deals)[:, None]
    games["game"] = (cell << schema.CELL_SHIFT) | (deal << schema.DEAL_SHIFT)
    games["cell"], games["deal"], games["players"], games["seat"] = cell, deal, n, np.arange(n)
    games["spec"], games["rounds"], games["win_share"], games["placement"] = lineup, rounds, 1 / n, 1
    games["termination"] = Termination.ROW_COMPLETED
    return games.ravel()


def write_probed(
    folder: Path,
    lineups: Sequence[Sequence[str]],
    truth: Truth | Sequence[Truth] = Truth(),
    *,
    deals: int = 100,
    seed: int = 1,
    depth: schema.Depth = "games",
    rules: Sequence[Rules] | None = None,
    skills: Mapping[str, float] | None = None,
    rounds: int = 0,
    is_same_luck: bool = False,
    kinds: Sequence[str] = KINDS,
) -> Path:
    """Write a run with probes, a cell a line-up, and return its folder.

    With `rounds` the games themselves are empty and have so many rounds, which is quick; else they are those of
    `synthetic`. With `is_same_luck` all cells draw the same probes, as for cells that differ in their rules only.
    """
    specs = tuple(dict.fromkeys(spec for lineup in lineups for spec in lineup))
    skills = skills or dict.fromkeys(specs, 0.0)
    cells = tuple(
        Cell(
            index=index,
            players=len(lineup),
            lineup=tuple(lineup),
            seatings=synthetic.make_seatings(lineup) if not rounds else (tuple(range(len(lineup))),),
            deals=deals,
            rules=rules[index] if rules else Rules(),
        )
        for index, lineup in enumerate(lineups)
    )
    manifest = Manifest(
        azulsim="0.1.0", name="probed", seed=seed, log=depth, cells=cells, specs=specs, shards=len(cells),
        experiment={"probes": {kind: {} for kind in kinds}},
    )  # fmt: skip
    create_run(folder, manifest, "")
    for cell in cells:
        planted = truth if isinstance(truth, Truth) else truth[cell.index]
        codes = [specs.index(spec) for spec in cell.lineup]
        if rounds:
            tables = {"games": make_games(cell.index, codes, deals, rounds)}
        else:
            values = [skills[spec] for spec in specs]
            tables = synthetic.make_tables(
                [codes], skills=values, deals=deals, seed=seed, first_cell=cell.index, starter=planted.tempo
            )
        rng = np.random.default_rng((seed, 77, cell.players if is_same_luck else cell.index))
        tables |= make_probes(tables["games"], planted, rng, cell.rules.starter_bonus, kinds)
        shard = Shard(cell.index, 0, deals)
        write_shard(folder, shard, tables, [], depth=depth, specs=specs, is_probed=True)
    return folder
