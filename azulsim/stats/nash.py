"""Nash averaging: how good a player is against the mixture of players that nobody beats (Balduzzi et al. 2018).

A mean over all opponents changes when a weak player is entered twice. Here opponents are weighted by the Nash
equilibrium of the game "each names a player": players that add nothing new get no weight, copies share one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import linalg, optimize, special

from azulsim.errors import InputError
from azulsim.stats._arrays import FloatArray, IntArray, check_level, make_rng
from azulsim.stats.intervals import ONE_CLUSTER, POWER, Estimates, Method
from azulsim.stats.payoff import check_meetings
from azulsim.stats.resample import draw_cluster_weights

SUPPORT = 1e-9
"""Weight below which a player counts as not played."""


@dataclass(frozen=True, eq=False)
class NashAverages:
    """The equilibrium mixture, and how each player does against it."""

    weight: Estimates
    """How often each player is named; sums to 1."""
    skill: Estimates
    """Log odds of finishing ahead of the mixture: 0 for those in it, below 0 for the rest."""
    n_clusters: int


STILL = "the same whenever deals were drawn again, so that no interval can be given"


def solve_nash(payoff: npt.ArrayLike) -> FloatArray:
    """Return the Nash equilibrium of greatest entropy of a symmetric zero-sum game.

    Parameters
    ----------
    payoff : (n, n) floats
        What the row gains from the column; antisymmetric.

    Returns
    -------
    (n,) floats
        The mixture p, with `payoff @ p <= 0`; unique, and equal for players whose rows are equal.

    Raises
    ------
    InputError
        For a matrix that is not finite, square and antisymmetric.
    """
    matrix = np.asarray(payoff, np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size or not np.isfinite(matrix).all():
        raise InputError(f"payoff {matrix.shape}: must be a square matrix of finite numbers")
    scale = float(np.abs(matrix).max())
    if np.abs(matrix + matrix.T).max() > 1e-9 * max(scale, 1.0):
        raise InputError("payoff: must be antisymmetric")
    n = len(matrix)
    if scale == 0:
        return np.full(n, 1 / n)
    matrix = (matrix - matrix.T) / (2 * scale)
    # The mean of the equilibria that favor one player each has every player that any equilibrium has.
    inner = np.mean([_solve_linear(matrix, -np.eye(n)[player]) for player in range(n)], axis=0)
    played = inner > SUPPORT
    start = inner[played] / inner[played].sum()
    level = np.vstack([matrix[np.ix_(played, played)], np.ones(played.sum())])
    free = linalg.null_space(level, rcond=1e-8)
    best = np.zeros(n)
    best[played] = _spread_out(start, free, matrix[np.ix_(~played, played)]) if free.size else start
    return best


def _solve_linear(matrix: FloatArray, cost: FloatArray) -> FloatArray:
    """Return the equilibrium of least cost."""
    n = len(matrix)
    found = optimize.linprog(
        cost, A_ub=matrix, b_ub=np.full(n, 1e-10), A_eq=np.ones((1, n)), b_eq=[1.0], bounds=(0, 1), method="highs"
    )
    return np.maximum(np.asarray(found.x, np.float64), 0.0)


def _spread_out(start: FloatArray, free: FloatArray, outside: FloatArray) -> FloatArray:
    """Return the point of greatest entropy in start + free z, where those outside gain nothing."""

    def lose(z: FloatArray) -> tuple[float, FloatArray]:
        p = np.maximum(start + free @ z, 1e-15)
        return float(p @ np.log(p)), (np.log(p) + 1) @ free

    constraints = [{"type": "ineq", "fun": lambda z: start + free @ z, "jac": lambda _: free}]
    if len(outside):
        constraints.append(
            {"type": "ineq", "fun": lambda z: 1e-10 - outside @ (start + free @ z), "jac": lambda _: -outside @ free}
        )
    found = optimize.minimize(
        lose, np.zeros(free.shape[1]), jac=True, method="SLSQP", constraints=constraints, options={"ftol": 1e-14}
    )
    p = np.maximum(start + free @ found.x, 0.0)
    return np.asarray(p / p.sum())


def estimate_nash(
    shares: npt.ArrayLike,
    influence: npt.ArrayLike,
    meetings: npt.ArrayLike,
    *,
    rng: np.random.Generator | int,
    n_boot: int = 400,
    level: float = 0.95,
) -> NashAverages:
    """Estimate the Nash average of each player from who finishes ahead of whom.

    The game is played in log odds of finishing ahead, as in `assess_cycles`, with half a win and half a loss added to
    each pair. Intervals are percentiles of the cluster bootstrap, of linearized shares; where a pair always ended one
    way, each cluster counts as one trial.

    Parameters
    ----------
    shares, influence, meetings
        As in `assess_cycles`, for two players or more.
    rng : Generator or int
        The source of luck; the same seed gives the same intervals.
    n_boot : int
        Bootstrap samples.
    level : float
        Level of the intervals.

    Raises
    ------
    InputError
        As in `assess_cycles`.
    """
    check_level(level)
    share, error, count = check_meetings(shares, influence, meetings, least=2)
    n, n_clusters = len(share), len(error)

    def make_odds(seen: FloatArray) -> FloatArray:
        half = 0.5 / (count + 1)
        upper = np.triu(special.logit(np.clip((seen * count + 0.5) / (count + 1), half, 1 - half)), 1)
        return np.asarray(upper - upper.T)

    odds = make_odds(share)
    weight = solve_nash(odds)
    weights: list[FloatArray] = []
    skills: list[FloatArray] = []
    supports = [np.flatnonzero(weight > SUPPORT)]
    if n_clusters > 1:
        generator = make_rng(rng)
        errors = error.reshape(n_clusters, n * n)
        fixed = ~error.any(axis=0) & (np.eye(n) == 0)
        for drawn in draw_cluster_weights(n_clusters, n_boot, rng=generator):
            for move in drawn @ errors:
                # A pair that always ended one way: each cluster counts as one trial of what it might have been.
                sure = generator.beta(share * n_clusters + 0.5, (1 - share) * n_clusters + 0.5)
                sample = make_odds(np.where(fixed, sure, share + move.reshape(n, n)))
                mixture = _solve_again(sample, supports)
                weights.append(mixture)
                skills.append(sample @ mixture)
    rows = int(count[np.triu_indices(n, 1)].sum())
    return NashAverages(
        weight=_take_percentiles(weight, weights, n_clusters, rows, level),
        skill=_take_percentiles(odds @ weight, skills, n_clusters, rows, level),
        n_clusters=n_clusters,
    )


def _solve_again(payoff: FloatArray, supports: list[IntArray]) -> FloatArray:
    """Return an equilibrium, found on a set of players that had one before if that will do.

    Nearly all matrices with noise have one only, so that it need not be the one of greatest entropy.
    """
    n = len(payoff)
    for played in supports:
        size = len(played)
        level = np.vstack([payoff[np.ix_(played, played)], np.ones(size)])
        part = np.linalg.lstsq(level, np.append(np.zeros(size), 1.0), rcond=1e-9)[0]
        mixture = np.zeros(n)
        mixture[played] = part
        if part.min() >= 0 and (payoff @ mixture).max() <= 1e-7:
            return mixture
    mixture = solve_nash(payoff)
    supports.append(np.flatnonzero(mixture > SUPPORT))
    return mixture


def _take_percentiles(
    value: FloatArray, draws: list[FloatArray], n_clusters: int, n_rows: int, level: float
) -> Estimates:
    n = len(value)
    sample = np.array(draws) if draws else value[None]
    low, high = np.quantile(sample, [(1 - level) / 2, (1 + level) / 2], axis=0)
    se = sample.std(axis=0, ddof=1) if draws else np.zeros(n)
    varies = se > 0
    methods: tuple[Method, ...] = tuple("bootstrap" if moves else "none" for moves in varies)
    still = STILL if draws else ONE_CLUSTER
    return Estimates(
        value=value,
        low=np.minimum(low, value),
        high=np.maximum(high, value),
        se=se,
        n_clusters=np.full(n, n_clusters, np.int64),
        n_rows=np.full(n, n_rows, np.int64),
        mde=float(special.ndtri(0.5 + level / 2) + special.ndtri(POWER)) * se,
        df=np.full(n, max(n_clusters - 1.0, 1.0)),
        method=methods,
        note=tuple("" if moves else still for moves in varies),
        level=level,
    )
