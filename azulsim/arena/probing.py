"""Plays on from positions of games, in several ways on the same luck: what would have come of it.

A tempo root stands before a round is dealt; each arm gives the marker to another seat. A decision root stands where the
marker can be taken or left; its arms play the move that the strategy itself likes best among those that take it, or
among the others. All that follows is keyed by the continuation, so that arms differ in nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from azulsim import registry
from azulsim.arena.block import Tables
from azulsim.arena.blockplay import Blockplay
from azulsim.engine import driver
from azulsim.engine.driver import DECISION_ROOT, HEIRS, JOB, NO_ROOT, TEMPO_ROOT, Log
from azulsim.engine.record import NONE_FALLEN
from azulsim.schema import MOVES, OTHER, PROBE_KINDS, PROBES, ROOTS, TAKE, TAKE_ONLY

Array = npt.NDArray[Any]

WRAPPERS = {OTHER: "marker_never", TAKE: "marker_always"}
"""What holds a strategy to an arm."""


def play_on(play: Blockplay, log: Log, tables: Tables) -> None:
    """Play on from the roots that a block has left in its log; fill the tables `roots` and `probes`."""
    probes, players = play.block.probes, play.block.players
    assert probes is not None, "only blocks with probes leave roots"
    roots, positions = _sort_roots(play, log)
    codes = {arm: _ask(play, roots, positions, arm) for arm in WRAPPERS}
    is_whole = _is_whole(play, roots)
    is_tempo = roots["kind"] == TEMPO_ROOT
    ends = []

    def follow(jobs: Array) -> None:
        done = play.play_jobs(jobs, roots, positions)
        ends.append(_describe_ends(jobs, roots, done.games[: done.used[0]].reshape(-1, players)))

    decisions = _cross(np.flatnonzero(is_whole & ~is_tempo), list(WRAPPERS), probes.decision_continuations)
    for arm in WRAPPERS:
        at = decisions["arm"] == arm
        decisions["code"][at] = codes[arm][decisions["root"][at]]
    follow(decisions)
    only = decisions[decisions["arm"] == TAKE]
    only["arm"], only["heir"] = TAKE_ONLY, decisions["held"][decisions["arm"] == OTHER] + HEIRS
    follow(only)
    follow(_cross(np.flatnonzero(is_whole & is_tempo), range(players), probes.tempo_continuations))

    tables.failures = list(play.failures.values())
    tables.roots = _describe_roots(
        play, roots[is_whole], positions[is_whole], {a: c[is_whole] for a, c in codes.items()}
    )
    tables.probes = np.concatenate(ends)
    tables.probes = tables.probes[np.lexsort([tables.probes[name] for name in reversed(PROBES.key)])]


def _sort_roots(play: Blockplay, log: Log) -> tuple[Array, Array]:
    """Return the roots of games that were not spoiled, in the order of the table, and their positions."""
    used = int(log.used[3])
    roots = log.roots[:used]
    kept = np.flatnonzero((roots["kind"] != NO_ROOT) & _is_whole(play, roots))
    order = kept[np.lexsort([roots[kept][name] for name in ("ply", "kind", "game")])]
    return roots[order], log.positions[:used][order]


def _is_whole(play: Blockplay, roots: Array) -> npt.NDArray[np.bool_]:
    """Tell for each root whether its game was not spoiled so far."""
    return ~np.isin(roots["game"], list(play.failures))


def _ask(play: Blockplay, roots: Array, positions: Array, arm: int) -> npt.NDArray[np.int64]:
    """Return the code of the move that each strategy likes best in its decision, held to an arm; -1 elsewhere."""
    at = np.flatnonzero(roots["kind"] == DECISION_ROOT)
    jobs = np.zeros(len(at), JOB)
    jobs["root"], jobs["code"] = at, -1
    codes = np.full(len(roots), -1, np.int64)
    held = [registry.hold(strategy, WRAPPERS[arm]) for strategy in play.strategies]
    codes[at] = play.ask_jobs(jobs, roots, positions, held, takes=arm == TAKE)
    return codes


def _cross(roots: npt.NDArray[np.int64], arms: Sequence[int], continuations: int) -> Array:
    """Return a game to be played on for every root, arm and continuation, in this order."""
    jobs = np.zeros((len(roots), len(arms), continuations), JOB)
    jobs["root"] = roots[:, None, None]
    jobs["arm"] = np.array(arms, np.int8)[None, :, None]
    jobs["continuation"] = 1 + np.arange(continuations)
    return jobs.ravel()


def _describe_ends(jobs: Array, roots: Array, games: Array) -> Array:
    """Return the rows of `probes` for games that were played on; `games` is GAMES[games, players]."""
    rows = np.zeros(games.shape, PROBES.dtype())
    job = jobs[games["game"]]
    root = roots[job["root"]]
    rows["kind"] = np.where(root["kind"] == TEMPO_ROOT, *(PROBE_KINDS.index(name) for name in ("tempo", "decision")))
    for name in ("game", "round", "ply"):
        rows[name] = root[name]
    for name in ("arm", "continuation", "next_starter"):
        rows[name] = job[name]
    for name in ("seat", "score", "win_share", "rounds"):
        rows[name] = games[name]
    score = games["score"].astype(np.int64)
    *_, second, best = np.sort(score, axis=1).T[:, :, None]
    rows["margin"] = score - np.where(score == best, second, best)
    return rows.ravel()


def _describe_roots(play: Blockplay, roots: Array, positions: Array, codes: Mapping[int, Array]) -> Array:
    """Return the rows of the table `roots`."""
    rows = np.zeros(len(roots), ROOTS.dtype())
    for name in ("game", "round", "ply", "seat"):
        rows[name] = roots[name]
    rows["kind"] = np.where(roots["kind"] == TEMPO_ROOT, *(PROBE_KINDS.index(name) for name in ("tempo", "decision")))
    at = np.flatnonzero((roots["kind"] == DECISION_ROOT) & _is_whole(play, roots))
    decided, positions = roots[at], positions[at]
    rows["n_choices"][at], rows["took"][at] = decided["n_choices"], decided["took"]
    moves = {arm: np.zeros(len(at), MOVES.dtype()) for arm in WRAPPERS}
    for arm, described in moves.items():
        driver.describe_moves(positions, codes[arm][at], play.plan[0], described)
    rows["floor"][at] = moves[TAKE]["floor"]
    rows["space_price"][at] = _price_spaces(positions, decided["seat"])
    for arm, prefix in ((TAKE, "take"), (OTHER, "other")):
        move = moves[arm]
        rows[f"{prefix}_tiles"][at] = move["placed"] + move["overflow"]
        for name in ("color", "line", "gain"):
            rows[f"{prefix}_{name}"][at] = move[name]
    rows["other_source"][at] = moves[OTHER]["source"]
    return rows


def _price_spaces(positions: Array, seats: Array) -> Array:
    """Return what the marker's space on the floor line of a seat costs in each position, or its fixed price."""
    each = np.arange(len(positions))
    most = positions["n_floor"].astype(np.int64)
    fallen = positions["floor"][each, seats].astype(np.int64)
    penalty = positions["penalty"][:, NONE_FALLEN:].astype(np.int64)
    with_marker = penalty[each, np.minimum(fallen + positions["marker_space"], most)]
    price: Array = with_marker - penalty[each, np.minimum(fallen, most)] + positions["marker_price"]
    return price
