"""The seats of a table: how far each is from its fair share, and what goes with starting again later.

Frames are as in `azulsim.metrics.games`. Seats are assigned by the schedule, so that what differs between them is an
effect of the seat. Who starts later rounds took the marker by choice, so that what goes with it is an association.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from azulsim.metrics._estimate import estimate, estimate_linear, list_estimates, outer_groups
from azulsim.metrics._tables import Lineups, Outcome, Sums, collect
from azulsim.metrics.course import fold
from azulsim.metrics.games import BY, OUTCOMES
from azulsim.stats import assess_equivalence

if TYPE_CHECKING:
    from azulsim.log import Run

MARGIN = 0.02
"""The largest departure from the fair share that does not matter, unless the reader states another."""

SEAT_PARTS: dict[str, Outcome] = {
    outcome.name: outcome
    for outcome in (
        Outcome("advantage", "", "share", "Win share of the seat minus the fair share."),
        Outcome("order", "", "share", "The same at an equal number of later starts: what the seat has of round 1."),
        Outcome(
            "later", "", "share", "What goes with the later rounds that the seat starts more, or less, than others."
        ),
    )
}
"""What `seat_parts` measures, by name; the second and the third add up to the first."""

PER_START = Outcome("per_start", "", "share", "Win share that goes with one more later round started.")


def seat_equivalence(
    run: Run, by: Sequence[str] = BY, *, margin: float = MARGIN, lineups: Lineups = "all"
) -> pd.DataFrame:
    """Test whether the win share of each seat is within `margin` of the fair share 1/players.

    Parameters
    ----------
    margin
        The largest departure that does not matter to you, as a share: .02 are 2 wins in 100 games.

    Returns
    -------
    DataFrame
        A row a group and `seat`: outcome `advantage` (win share minus fair share) with its interval, `p_within` (of two
        one-sided tests, TOST) and `is_within`, true when p is below 5 %. That all seats of a group are within the
        margin has the greatest of their p-values (an intersection-union test, which needs no correction).
    """
    sums = collect(run, [OUTCOMES["win_share"]], ("players", *by, "seat"), lineups=lineups)
    outcome = SEAT_PARTS["advantage"]
    frame = estimate(sums, [OUTCOMES["win_share"]])
    fair = 1 / frame["players"]
    frame = frame.assign(outcome=outcome.name)
    for name in ("estimate", "low", "high"):
        frame[name] -= fair
    tests = [
        assess_equivalence(found, margin=margin, center=center)
        for found, center in zip(list_estimates(sums, (0.0, 1.0)), fair, strict=True)
    ]
    frame["p_within"] = [test.p_value for test in tests]
    frame["is_within"] = [test.is_equivalent for test in tests]
    return frame


def seat_parts(run: Run, by: Sequence[str] = BY, *, lineups: Lineups = "all") -> pd.DataFrame:
    """Split each seat's advantage into what it has of starting order and what goes with starting later rounds.

    Least squares of the win share on the seat and on the number of later rounds (from the second on) that it starts,
    above an equal share of the game's. The part `later` is the slope times the seat's mean number of such rounds, the
    part `order` is the rest. Association: who starts later chose to take the marker, so that the slope holds position
    and strength too. Needs depth `rounds`.

    Returns
    -------
    DataFrame
        A row a group, `seat` and outcome of `SEAT_PARTS`.
    """
    return _split_parts(run, tuple(by), lineups)[0].copy()


def later_starts(run: Run, by: Sequence[str] = BY, *, lineups: Lineups = "all") -> pd.DataFrame:
    """Estimate the win share that goes with starting one later round more (outcome `per_start`); see `seat_parts`.

    Association, not effect. Needs depth `rounds`.
    """
    return _split_parts(run, tuple(by), lineups)[1].copy()


@lru_cache(maxsize=2)
def _split_parts(run: Run, by: tuple[str, ...], lineups: Lineups) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return both frames, kept for a while because a report asks for one after the other."""
    return _regress(fold(run, ("players", *by), lineups).starts)


def _regress(sums: Sums) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the parts of each seat's advantage, and the slopes."""
    others = [str(name) for name in sums.keys if name != "seat"]
    parts, slopes = [], []
    for keys, members in outer_groups(sums.keys, others):
        inside = np.isin(sums.group, members)
        seat = np.searchsorted(members, sums.group[inside])
        deals, deal = np.unique(sums.deal[inside], return_inverse=True)
        size = np.zeros((len(deals), len(members)))
        size[deal, seat] = sums.count[inside, 0]
        y, x, xx, xy = (np.zeros(size.shape) for _ in range(4))
        for column, array in enumerate((y, x, xx, xy)):
            array[deal, seat] = sums.total[inside, column]
        whole = size.sum(axis=0)
        mean_y, mean_x = y.sum(axis=0) / whole, x.sum(axis=0) / whole
        around = xx - 2 * mean_x * x + mean_x**2 * size
        spread = around.sum()
        if spread <= 1e-9 * whole.sum():  # nobody ever starts a later round more than others
            continue
        across = xy - mean_x * y - mean_y * x + mean_x * mean_y * size
        slope = across.sum() / spread
        off_slope = (across - slope * around).sum(axis=1) / spread
        off_y, off_x = (y - mean_y * size) / whole, (x - mean_x * size) / whole
        off_later = mean_x * off_slope[:, None] + slope * off_x
        advantage, later = mean_y - 1 / int(keys[others.index("players")]), slope * mean_x
        for name, value, off in (
            ("advantage", advantage, off_y),
            ("order", advantage - later, off_y - off_later),
            ("later", later, off_later),
        ):
            made = estimate_linear(SEAT_PARTS[name], value, off, size)
            parts.append(sums.keys.iloc[members].reset_index(drop=True).join(made))
        made = estimate_linear(PER_START, np.array([slope]), off_slope[:, None], size.sum(axis=1)[:, None])
        slopes.append(sums.keys[others].iloc[members[:1]].reset_index(drop=True).join(made))
    columns = [*sums.keys, *estimate_linear(PER_START, *(np.zeros((0, 0)),) * 3).columns]
    empty = pd.DataFrame(columns=columns)
    if not parts:
        return empty, empty.drop(columns="seat")
    frame = pd.concat(parts, ignore_index=True)
    place = {name: k for k, name in enumerate(SEAT_PARTS)}
    order = frame.assign(place=frame["outcome"].map(place)).sort_values([*sums.keys, "place"], kind="stable").index
    return frame.loc[order].reset_index(drop=True), pd.concat(slopes, ignore_index=True)
