"""The rounds of a run as arrays, a row a seat and a column a round, and sums of them by group and deal.

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
from azulsim.schema import TERMINATION_NAMES

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
    """Shape (seats, games): row of `Places.group`, which says who sits there."""
    win_share: Array
    margin: Array
    """Shape (seats, games): how the game ended."""
    game: Array
    """Shape (rounds,): which game, counted from 0."""
    round: Array
    starter: Array
    """Shape (rounds,): seat that started it."""
    score: Array
    """Shape (seats, rounds): scores after it, before the bonuses of the end."""

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
    finished = {"termination": [name for name in TERMINATION_NAMES if name != "FORFEIT"]}  # the others have no rounds
    games = run.games(
        columns=["game", "cell", "deal", "seating", "score", "win_share"], filters={**filters, **finished}
    )
    rounds = run.rounds(columns=["game", "round", "starter", "score_after"], filters=filters)
    final, share, after = (
        np.ascontiguousarray(frame[name].to_numpy(np.float64).reshape(-1, players).T)
        for frame, name in ((games, "score"), (games, "win_share"), (rounds, "score_after"))
    )
    games, rounds = games.iloc[::players], rounds.iloc[::players]
    cell, deal, seating = (games[name].to_numpy(np.int64) for name in ("cell", "deal", "seating"))
    place = places.first[cell] + seating * players + np.arange(players)[:, None]
    names, names_of_rounds = games["game"].to_numpy(), rounds["game"].to_numpy()
    number, starter = rounds["round"].to_numpy(np.int64), rounds["starter"].to_numpy(np.int64)
    for at in range(0, len(names), CHUNK):
        part = slice(at, at + CHUNK)
        low, high = np.searchsorted(names_of_rounds, [names[part][0], names[part][-1] + 1])
        yield Stretch(
            deal=(players << 32) + deal[part],
            place=place[:, part],
            win_share=share[:, part],
            margin=find_leads(final[:, part]),
            game=np.searchsorted(names[part], names_of_rounds[low:high]),
            round=number[low:high],
            starter=starter[low:high],
            score=after[:, low:high],
        )


def find_leads(score: Array) -> Array:
    """Return each seat's score minus the best of the others, for (seats, ...)."""
    others = (np.delete(score, seat, axis=0).max(axis=0) for seat in range(len(score)))
    return np.stack([own - best for own, best in zip(score, others, strict=True)])


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
            Shape (seats, rows): the group of each seat; -1: none.
        deal, number
            Shape (rows,): the deal and the whole number.
        counts, totals
            Each outcome's count and total, of shape (seats, rows); a single count is that of all outcomes.
        """
        number = np.zeros(len(deal), np.int64) if number is None else number
        seats = len(group)
        # Many outcomes have the same count: each column is summed once.
        columns = {id(column): column for column in (*counts, *totals)}
        if (group == group[0]).all():
            columns = {key: column.sum(axis=0) for key, column in columns.items()}
            group = group[0]
        else:
            columns = {key: column.ravel() for key, column in columns.items()}
            group, deal, number = group.ravel(), np.tile(deal, seats), np.tile(number, seats)
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
        if not self.parts:
            nothing, empty = np.zeros(0, np.int64), np.zeros((0, len(outcomes)))
            keys = places.keys[:0].assign(**{number: nothing} if number else {})
            return Sums(keys, tuple(outcomes), nothing, nothing, empty, empty)
        group, deal, count, total = (np.concatenate(parts, axis=-1) for parts in zip(*self.parts, strict=True))
        order = np.lexsort((deal, group))
        group, deal = group[order], deal[order]
        is_first = np.append(True, (np.diff(group) != 0) | (np.diff(deal) != 0))
        first = np.flatnonzero(is_first)
        cell = np.empty(len(order), np.int64)
        cell[order] = np.cumsum(is_first) - 1
        count, total = (np.stack([np.bincount(cell, row, len(first)) for row in column]).T for column in (count, total))
        count = np.broadcast_to(count, total.shape)
        known, codes = np.unique(group[first], return_inverse=True)
        keys = places.keys.iloc[known // self.n_numbers].reset_index(drop=True)
        if number:
            keys[number] = known % self.n_numbers
        return Sums(keys, tuple(outcomes), codes, deal[first], count, total.round(9))
