"""Two players: the pentanomial of game pairs, and Elo.

A pair is one deal played with both seatings; its score is the mean of a player's two win shares, 0, 1/4, 1/2, 3/4
or 1. Formulas of the normalized Elo and the likelihood of superiority are those of the chess testing tools
(fishtest, fastchess).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from azulsim.errors import InputError
from azulsim.stats._arrays import check_level, check_values
from azulsim.stats.intervals import Estimate, estimate_mean

ELO_SCALE = float(400 / np.log(10))
"""Elo points in one unit of log odds."""
STEPS = np.array([0.0, 0.25, 0.5, 0.75, 1.0])


@dataclass(frozen=True)
class PairSummary:
    """What game pairs say about two players; everything is from the first player's side."""

    counts: tuple[int, ...]
    """Pairs that scored 0, 1/4, 1/2, 3/4, 1."""
    score: Estimate
    """Mean pair score: the win share."""
    elo: float
    elo_low: float
    elo_high: float
    normalized_elo: float
    """(score - 1/2) / sqrt(2 variance) on the scale 800/ln 10: effect a game in units of its own noise."""
    normalized_elo_low: float
    normalized_elo_high: float
    superiority: float
    """Likelihood of superiority: normal approximation to the probability that the first is the better player."""
    n_pairs: int
    note: str = ""


def to_elo(share: float | npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Convert win shares strictly between 0 and 1 to Elo differences."""
    share = np.asarray(share, dtype=np.float64)
    if not ((share > 0) & (share < 1)).all():
        raise InputError("share: must lie strictly between 0 and 1, for at the ends the Elo difference has no bound")
    return np.asarray(ELO_SCALE * special.logit(share))


def summarize_pairs(scores: npt.ArrayLike, *, level: float = 0.95) -> PairSummary:
    """Summarize pair scores: mean, Elo, normalized Elo, likelihood of superiority.

    Parameters
    ----------
    scores : (n,) floats in {0, 1/4, 1/2, 3/4, 1}
        The first player's mean win share in each pair.
    level : float
        Level of the intervals.

    Returns
    -------
    PairSummary
        Elo ends that would be infinite are shown at half the smallest step, 1/(8 n), from 0 or 1, and a spread of
        zero is replaced by that of half a pair more at each of 0 and 1; `note` says so.

    Raises
    ------
    InputError
        For another score, or none.
    """
    scores = check_values(scores, "scores")
    check_level(level)
    steps = np.round(scores * 4)
    if np.abs(scores * 4 - steps).max() > 1e-9 or steps.min() < 0 or steps.max() > 4:
        wrong = scores[(np.abs(scores * 4 - steps) > 1e-9) | (steps < 0) | (steps > 4)][0]
        raise InputError(f"scores: {wrong} is not a pair score, which is 0, 1/4, 1/2, 3/4 or 1")
    counts = np.bincount(steps.astype(np.int64), minlength=5)
    # Means and spreads come from the counts, so that the order of pairs cannot matter.
    score = estimate_mean(np.repeat(STEPS, counts), bounds=(0.0, 1.0), level=level)
    n_pairs = len(scores)
    notes = [score.note] if score.note else []
    edge = 1 / (8 * n_pairs)
    ends = np.array([score.value, score.low, score.high])
    if ends.min() < edge or ends.max() > 1 - edge:
        notes.append("Elo has no bound on this side and is cut off")
    elo = to_elo(np.clip(ends, edge, 1 - edge))
    weights = counts.astype(np.float64)
    if score.se == 0:
        weights[[0, 4]] += 0.5
    mean = float(weights @ STEPS / weights.sum())
    spread = float(np.sqrt(weights @ (STEPS - mean) ** 2 / weights.sum()))
    normalized = 2 * ELO_SCALE * (ends - 0.5) / (np.sqrt(2) * spread)
    return PairSummary(
        counts=tuple(int(count) for count in counts),
        score=score,
        elo=float(elo[0]),
        elo_low=float(elo[1]),
        elo_high=float(elo[2]),
        normalized_elo=float(normalized[0]),
        normalized_elo_low=float(normalized[1]),
        normalized_elo_high=float(normalized[2]),
        superiority=float(special.ndtr((score.value - 0.5) * np.sqrt(n_pairs) / spread)),
        n_pairs=n_pairs,
        note="; ".join(notes),
    )
