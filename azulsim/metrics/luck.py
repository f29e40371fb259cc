"""Luck and skill: how many games it takes to tell two players apart.

Frames are as in `azulsim.metrics.games`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd
from scipy import special

from azulsim.metrics.games import BY
from azulsim.metrics.ranking import payoffs

if TYPE_CHECKING:
    from azulsim.log import Run

CONFIDENCE = 0.95
UNKNOWN = "not told apart in this run, so that no number of games is known to be enough"


def games_to_tell(run: Run, by: Sequence[str] = BY) -> pd.DataFrame:
    """Estimate after how many games the better of two strategies leads with a chance of 95 %.

    A game is a meeting of the two at one table, as the run played them: all seatings on common deals. With `e` the
    standard error of how often one finishes ahead over `n` meetings, and `d` its distance from one half, the number is
    `n (1.645 e / d)^2`. Meetings each on a deal of its own take as many if rotation and common deals save nothing.

    Returns
    -------
    DataFrame
        As `payoffs`, for the pairs in which the strategy of the row is the better, with the columns `games`,
        `games_low` and `games_high`: the number, and what the ends of the interval of `d` give. The latter two are
        missing, with a note, if the run did not tell the two apart.
    """
    frame = payoffs(run, by)
    frame = frame[(frame["estimate"] > 0.5) & (frame["se"] > 0)].reset_index(drop=True)
    needed = frame["n"] * (float(special.ndtri(CONFIDENCE)) * frame["se"]) ** 2
    low, value, high = (frame[name] - 0.5 for name in ("low", "estimate", "high"))
    is_told = low > 0
    return frame.assign(
        games=needed / value**2,
        games_low=(needed / high**2).where(is_told),
        games_high=needed / low.where(is_told) ** 2,
        note=[note if told else "; ".join(filter(None, [note, UNKNOWN])) for note, told in zip(frame["note"], is_told,
              strict=True)],
    )  # fmt: skip
