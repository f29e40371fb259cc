"""The rounds of a run as arrays, a row a round and a column a seat, and sums of them by group and deal.

What compares the seats of a round (who leads) joins and groups sixteen million rows for a million games, which takes
DuckDB five times as long as reading them. The tables come in canonical order, so that NumPy only has to fold them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from azulsim.metrics._tables import LINEUP_KINDS, Lineups, Sums, check_keys, list_cells

if TYPE_CHECKING:
    from azulsim.log import Run

CHUNK = 60_000
"""Games folded at once."""

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Stretch:
    """Games of one player count, in canonical order."""

    deal: Array
    """Shape (games,): the deal, unique across player counts."""
    place: Array
    """Shape (games, seats): row of `Places.group`, which says who sits there."""
    win_share: Array
    margin: Array
    """Shape (games, seats): how the game ended."""
    game: Array
    """Shape (rounds,): which game, counted from 0."""
    round: Array
    starter: Array
    """Shape (rounds,): seat that started it."""
    score: Array
    """Shape (rounds, seats): scores after it, before the bonuses of the end."""

    @property
    def is_last(self) -> Array:
        """Shape (rounds,): true for the last round of a game."""
        return np.append(self.game[1:] != self.game[:-1], True)


@dataclass(frozen=True)
class Places:
    """Who can sit where: each cell, seating and seat of a run is a place, and belongs to a group or to none."""

    keys: pd.DataFrame
    """A row a group, sorted, as `Sums.keys`."""
    group: Array
    """Shape (places,): the group of each place; -1 for none."""
    first: Array
    """Shape (cells,): number of a cell's first place; those of a seating come together."""


def list_places(run: Run, by: Sequence[str], lineups: Lineups) -> Places:
    """Put all seats of a run into groups by the columns `by` of `KEYS`."""
    names = check_keys(run, by)
    cells = list_cells(run)
    rows: list[tuple[object, ...]] = []
    first = np.zeros(max(cell.index for cell in run.manifest.cells) + 1, np.int64)
    described = zip(run.manifest.cells, cells["rules"], cells["lineup"], strict=True)
    for cell, rules, kind in described:
        first[cell.index] = len(rows)
        rows += [
            (rules, cell.players, kind, cell.index, cell.lineup[player], seat)
            for order in cell.seatings
            for seat, player in enumerate(order)
        ]
    frame = pd.DataFrame(rows, columns=["rules", "players", "lineup", "cell", "spec", "seat"])
    categories = {"rules": list(dict.fromkeys(cells["rules"])), "lineup": LINEUP_KINDS, "spec": run.manifest.specs}
    for name, words in categories.items():
        frame[name] = pd.Categorical(frame[name], list(words))
    chosen = frame if lineups == "all" else frame[frame["lineup"] == lineups]
    grouped = chosen.groupby(names, observed=True, sort=True)
    group = np.full(len(frame), -1, np.int64)
    group[chosen.index] = grouped.ngroup()
    return Places(grouped.size().reset_index()[names], group, first)


def read_stretches(run: Run, places: Places) -> Iterator[Stretch]:
    """Read the games and rounds of the cells of a run that belong to some group, some of the games at a time."""
    played = {commit.cell for commit in run.commits if commit.n_games}
    for players in sorted({cell.players for cell in run.manifest.cells}):
        batch: list[int] = []
        size = 0
        for cell in run.manifest.cells:
            at = places.first[cell.index]
            if cell.players == players and cell.index in played and places.group[at] >= 0:
                batch.append(cell.index)
                size += cell.deals * len(cell.seatings)
                if size >= CHUNK:
                    yield from _read_cells(run, players, batch, places)
                    batch, size = [], 0
        if batch:
            yield from _read_cells(run, players, batch, places)


def _read_cells(run: Run, players: int, cells: list[int], places: Places) -> Iterator[Stretch]:
    filters = {"cell": cells}
    games = run.games(columns=["game", "cell", "deal", "seating", "score", "win_share"], filters=filters)
    rounds = run.rounds(columns=["game", "round", "starter", "score_after"], filters=filters)
    final, share, after = (
        frame[name].to_numpy().reshape(-1, players)
        for frame, name in ((games, "score"), (games, "win_share"), (rounds, "score_after"))
    )
    games, rounds = games.iloc[::players], rounds.iloc[::players]
    cell, deal, seating = (games[name].to_numpy(np.int64) for name in ("cell", "deal", "seating"))
    place = (places.first[cell] + seating * players)[:, None] + np.arange(players)
    names, names_of_rounds = games["game"].to_numpy(), rounds["game"].to_numpy()
    number, starter = rounds["round"].to_numpy(np.int64), rounds["starter"].to_numpy(np.int64)
    for at in range(0, len(names), CHUNK):
        part = slice(at, at + CHUNK)
        low, high = np.searchsorted(names_of_rounds, [names[part][0], names[part][-1] + 1])
        yield Stretch(
            deal=(players << 32) + deal[part],
            place=place[part],
            win_share=share[part],
            margin=find_leads(final[part]),
            game=np.searchsorted(names[part], names_of_rounds[low:high]),
            round=number[low:high],
            starter=starter[low:high],
            score=after[low:high].astype(np.int64),
        )


def find_leads(score: Array) -> Array:
    """Return each seat's score minus the best of the others, for (rows, seats)."""
    second, best = np.partition(score, score.shape[1] - 2, axis=1)[:, -2:].T
    lead: Array = score - np.where(score == best[:, None], second[:, None], best[:, None])
    return lead


class Adder:
    """Adds up outcomes by group, whole number and deal."""

    def __init__(self, n_numbers: int = 1) -> None:
        self.n_numbers = n_numbers
        self.parts: list[tuple[Array, Array, Array, Array]] = []

    def add(
        self, group: Array, deal: Array, counts: Sequence[Array], totals: Sequence[Array], number: Array | None = None
    ) -> None:
        """Add rows.

        Parameters
        ----------
        group
            Shape (rows, seats): the group of each seat; -1: none.
        deal, number
            Shape (rows,): the deal and the whole number.
        counts, totals
            Each outcome's count and total, of shape (rows, seats).
        """
        number = np.zeros(len(deal), np.int64) if number is None else number
        seats = group.shape[1]
        # Many outcomes have the same count: each column is summed once.
        columns = {id(column): column for column in (*counts, *totals)}
        if (group == group[:, :1]).all():
            columns = {key: column.sum(axis=1) for key, column in columns.items()}
            group = group[:, 0]
        else:
            columns = {key: column.ravel() for key, column in columns.items()}
            group, deal, number = group.ravel(), np.repeat(deal, seats), np.repeat(number, seats)
        inside = group >= 0
        if not inside.all():
            columns = {key: column[inside] for key, column in columns.items()}
            group, deal, number = group[inside], deal[inside], number[inside]
        if not len(group):
            return
        low = int(deal.min())
        span = int(deal.max()) - low + 1
        cell = (group * self.n_numbers + number) * span + deal - low
        size = int(cell.max()) + 1
        cells = np.arange(size)
        if size > 8 * len(cell):
            cells, cell = np.unique(cell, return_inverse=True)
        sums = {key: np.bincount(cell, column, len(cells)) for key, column in columns.items()}
        kept = np.logical_or.reduce([sums[key] != 0 for key in {id(column) for column in counts}])
        count, total = (np.array([sums[id(column)][kept] for column in part]) for part in (counts, totals))
        self.parts.append((cells[kept] // span, low + cells[kept] % span, count, total))

    def finish(self, places: Places, outcomes: Sequence[str], number: str = "") -> Sums:
        """Return the sums; `number` names the column of the whole number."""
        none, empty = np.zeros(0, np.int64), np.zeros((len(outcomes), 0))
        columns = zip((none, none, empty, empty), *self.parts, strict=True)
        group, deal, count, total = (np.concatenate(parts, axis=-1) for parts in columns)
        order = np.lexsort((deal, group))
        group, deal = group[order], deal[order]
        is_first = np.append(True, (np.diff(group) != 0) | (np.diff(deal) != 0))[: len(group)]
        first = np.flatnonzero(is_first)
        cell = np.cumsum(is_first) - 1
        count, total = (
            np.stack([np.bincount(cell, row[order], len(first)) for row in column], axis=1) for column in (count, total)
        )
        known, codes = np.unique(group[first], return_inverse=True)
        keys = places.keys.iloc[known // self.n_numbers].reset_index(drop=True)
        if number:
            keys[number] = known % self.n_numbers
        return Sums(keys, tuple(outcomes), codes, deal[first], count, total.round(9))
