"""What the tables `roots` and `probes` of a shard must be, by one another and by the tables of its games.

What a strategy would have played in a root, and how a continued game ended, cannot be known without playing it. All
that frames it can: which roots there are, where they stand, which games were played on from them, and that the seats of
a continued game fit together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from azulsim.log.manifest import Cell
from azulsim.schema import MOVE_COLOR_NAMES, PROBE_KINDS, PROBES, ROOTS, TAKE_ONLY

Array = npt.NDArray[Any]
Table = Mapping[str, Array]
"""The columns of a table, by name."""

DECISION, TEMPO = (PROBE_KINDS.index(name) for name in ("decision", "tempo"))
LINES = 5


@dataclass(frozen=True)
class Framed:
    """What some rows of a table must be, as far as it is known."""

    rows: npt.NDArray[np.int64]
    columns: dict[str, Array]
    """Columns that were given, cut to what is possible where no more is known; the keys of the table among them."""


@dataclass(frozen=True)
class Shard:
    """The tables of a shard, and what was asked for."""

    cell: Cell
    probes: Mapping[str, Any]
    """The table `probes` of the experiment, with every default spelled out."""
    games: Table
    """All seats of a game in a row, in order."""
    rounds: Table | None
    moves: Table | None
    roots: Table
    ends: Table
    """The table `probes`."""

    @property
    def of_game(self) -> Table:
        """The first seat of each game."""
        return {name: values[:: self.cell.players] for name, values in self.games.items()}


def find_missing(shard: Shard) -> Iterator[tuple[str, str]]:
    """Yield what rows are missing or too many, as a table and what is wrong with it."""
    roots, games = shard.roots, shard.of_game
    is_tempo = roots["kind"] == TEMPO
    n_known = np.count_nonzero(np.isin(roots["game"], games["game"]))
    if n_known < len(is_tempo):
        yield ROOTS.name, f"{len(is_tempo) - n_known} rows belong to no game"
    if _has_disorder(roots, ROOTS.key):
        yield ROOTS.name, "its rows are not in the order of game, kind and ply, each once"
    if (n := len(_list_tempo(shard)[0])) != np.count_nonzero(is_tempo):
        yield ROOTS.name, f"there are {np.count_nonzero(is_tempo)} rows of kind tempo for {n} rounds that are probed"
    first, count = _group(roots["game"][~is_tempo])
    wanted = np.minimum(roots["n_choices"][~is_tempo][first], (shard.probes.get("decision") or {}).get("per_game", 0))
    for at in np.flatnonzero(count != wanted):
        game = roots["game"][~is_tempo][first[at]]
        yield ROOTS.name, f"game {game} has {count[at]} rows of kind decision, by n_choices {wanted[at]}"
    if (n := int(_count_ends(shard).sum())) != len(shard.ends["game"]):
        yield PROBES.name, f"there are {len(shard.ends['game'])} rows, by the roots {n}"


def _has_disorder(table: Table, key: tuple[str, ...]) -> bool:
    rows = np.stack([table[name].astype(np.int64) for name in key])
    order = np.lexsort(rows[::-1])
    steps = np.diff(rows, axis=1)
    return not np.array_equal(order, np.arange(rows.shape[1])) or bool((steps == 0).all(axis=0).any())


def _group(games: Array) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return where each run of equal values begins, and how long it is."""
    first = np.flatnonzero(np.diff(games, prepend=-1) != 0)
    return first, np.diff(first, append=len(games))


def _list_tempo(shard: Shard) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the game (its place in the shard) and the round of each tempo root that there must be."""
    n_rounds = shard.of_game["rounds"].astype(np.int64)
    game = np.repeat(np.arange(len(n_rounds)), n_rounds)
    number = np.arange(len(game)) - np.repeat(np.cumsum(n_rounds) - n_rounds, n_rounds) + 1
    wanted = (shard.probes.get("tempo") or {"rounds": ()})["rounds"]
    is_wanted = np.ones(len(game), bool) if wanted == "all" else np.isin(number, wanted)
    return game[is_wanted], number[is_wanted]


def _count_ends(shard: Shard) -> npt.NDArray[np.int64]:
    """Return how many rows of `probes` each root has."""
    players = shard.cell.players
    tempo, decision = ((shard.probes.get(name) or {}).get("continuations", 0) for name in ("tempo", "decision"))
    is_tempo = shard.roots["kind"] == TEMPO
    counts = np.array([(TAKE_ONLY + 1) * decision * players, players * players * tempo], np.int64)
    found: npt.NDArray[np.int64] = counts[is_tempo.astype(np.int64)]
    return found


def frame_roots(shard: Shard) -> Iterator[Framed]:
    """Yield what the rows of `roots` must be; those of each kind, if there are as many as there must be."""
    is_tempo = shard.roots["kind"] == TEMPO
    rows = np.flatnonzero(is_tempo)
    game, number = _list_tempo(shard)
    if len(rows) == len(game):
        yield _frame_tempo(shard, rows, game, number)
    rows = np.flatnonzero(~is_tempo & np.isin(shard.roots["game"], shard.of_game["game"]))
    yield _frame_decisions(shard, rows)


def _frame_tempo(
    shard: Shard, rows: npt.NDArray[np.int64], game: npt.NDArray[np.int64], number: npt.NDArray[np.int64]
) -> Framed:
    said = {name: values[rows] for name, values in shard.roots.items()}
    games, players = shard.of_game, shard.cell.players
    columns = {name: np.zeros(len(rows), np.int64) for name in said}
    columns |= {"game": games["game"][game], "kind": np.full(len(rows), TEMPO), "round": number}
    columns["seat"] = np.where(number == 1, 0, np.minimum(said["seat"], players - 1))
    columns["ply"] = np.where(number == 1, 0, np.clip(said["ply"], 1, games["plies"][game]))
    if shard.rounds is not None:
        at = players * (_starts(games["rounds"])[game] + number - 1)
        columns["seat"] = shard.rounds["starter"][at]
    if shard.moves is not None:
        of_round = np.searchsorted(_key_rounds(shard.moves["game"], shard.moves["round"]), _key_rounds(
            columns["game"], number
        ))  # fmt: skip
        columns["ply"] = of_round - _starts(games["plies"])[game]
    return Framed(rows, columns)


def _key_rounds(games: Array, rounds: Array) -> Array:
    """Return one number a game and round, in their order."""
    return games.astype(np.int64) << 16 | rounds.astype(np.int64)


def _starts(counts: Array) -> npt.NDArray[np.int64]:
    """Return where the rows of each begin, when so many rows of each follow one another."""
    ends = np.cumsum(counts.astype(np.int64))
    return ends - counts


def _frame_decisions(shard: Shard, rows: npt.NDArray[np.int64]) -> Framed:
    said = {name: values[rows] for name, values in shard.roots.items()}
    games, rules = shard.of_game, shard.cell.rules
    game = np.searchsorted(games["game"], said["game"])
    first, count = _group(said["game"])
    ply = np.minimum(said["ply"], games["plies"][game].astype(np.int64) - 1)
    highest: dict[str, Any] = {
        "kind": DECISION,
        "round": games["rounds"][game],
        "seat": shard.cell.players - 1,
        "took": 1,
        "take_color": len(MOVE_COLOR_NAMES) - 1,
        "take_line": LINES,
        "other_source": rules.n_displays(shard.cell.players),
        "other_color": len(MOVE_COLOR_NAMES) - 1,
        "other_line": LINES,
        "other_tiles": rules.tiles_per_display,
    }
    lowest: dict[str, Any] = {"round": 1, "take_tiles": 1, "other_source": 1, "other_tiles": 1}
    columns = {name: np.clip(values, lowest.get(name), highest.get(name)) for name, values in said.items()}
    columns["ply"], columns["n_choices"] = ply, np.repeat(said["n_choices"][first], count)
    if shard.moves is not None:
        at = _starts(games["plies"])[game] + ply
        columns |= {name: shard.moves[name][at] for name in ("round", "seat", "floor")}
        columns["took"] = shard.moves["marker"][at]
    penalties = np.cumsum([0, *(-points for points in rules.floor_penalties)])
    floor, most = columns["floor"].astype(np.int64), len(rules.floor_penalties)
    is_fixed = rules.marker_cost != "floor"
    price = penalties[np.minimum(floor + 1, most)] - penalties[np.minimum(floor, most)]
    columns["space_price"] = np.full(len(rows), rules.marker_cost) if is_fixed else price
    return Framed(rows, columns)


def frame_ends(shard: Shard) -> Framed:
    """Return what the rows of `probes` must be, if there are as many as the roots say."""
    said, players = shard.ends, shard.cell.players
    counts = _count_ends(shard)
    root = np.repeat(np.arange(len(counts)), counts)
    place = np.arange(len(root)) - np.repeat(_starts(counts), counts)
    is_tempo = shard.roots["kind"][root] == TEMPO
    n_arms = np.where(is_tempo, players, TAKE_ONLY + 1)
    continuations = counts[root] // n_arms // players
    columns = {name: shard.roots[name][root] for name in ("game", "kind", "round", "ply")}
    columns["arm"] = place // (continuations * players)
    columns["continuation"] = 1 + place // players % continuations
    columns["seat"] = place % players
    score, share = (said[name].reshape(-1, players) for name in ("score", "win_share"))
    score = score.astype(np.int64)
    *_, second, best = np.sort(score, axis=1).T[:, :, None]
    is_best = score == best
    has_won = is_best & (share > 0)  # of equal scores the rows of the wall decide, which are not logged
    has_won = np.where(has_won.any(axis=1, keepdims=True), has_won, is_best)
    following, rounds = (said[name].reshape(-1, players)[:, :1].astype(np.int64) for name in ("next_starter", "rounds"))
    following = np.clip(following, -1, players - 1)
    number = columns["round"].reshape(-1, players)[:, :1].astype(np.int64)
    has_next = following >= 0
    rounds = np.where(has_next, np.clip(rounds, number + 1, shard.cell.rules.max_rounds), number)
    wide = {
        "score": score,
        "margin": score - np.where(is_best, second, best),
        "win_share": has_won / has_won.sum(axis=1, keepdims=True),
        "rounds": rounds,
        "next_starter": following,
    }
    columns |= {name: np.broadcast_to(values, score.shape).reshape(-1) for name, values in wide.items()}
    return Framed(np.arange(len(root)), columns)


__all__ = ["Framed", "Shard", "find_missing", "frame_ends", "frame_roots"]
