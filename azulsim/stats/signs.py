"""In how many states a difference is truly above 0, when each is known with noise only.

The share of observed differences above 0 is drawn towards one half by noise (attenuated). Here the distribution of the
true differences is estimated from the observed ones and their standard errors, and its part above 0 is the answer:
empirical Bayes "g-modeling" (Efron 2016), the logarithm of the density being a natural cubic spline.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import optimize, special

from azulsim.errors import InputError
from azulsim.stats._arrays import FloatArray, IntArray, check_level, check_values, encode_ids
from azulsim.stats.intervals import ONE_CLUSTER, POWER, Estimate, estimate_mean

KNOTS = np.array([-2.5, -1.25, 0.0, 1.25, 2.5])
"""Of the spline, in standard deviations of the true differences about their mean; beyond them tails are exponential."""
REACH, FINENESS = 8.0, 5.0
"""The density is looked at this many standard deviations to each side, at so many points a standard deviation."""
LEAST_SPREAD = 0.02
"""Least variance of the true differences that is reckoned with, as a part of that of the observed ones."""
PRIOR_SD = 1.0
"""Of each coefficient of the spline about its value for a normal density."""

MOST_DF = 1000.0
"""Prior degrees of freedom above which all states are taken to have noise of one size."""

NO_SPREAD = "the differences do not vary beyond their noise: nothing can be told about their signs"
NO_NOISE = "no noise: nothing had to be corrected"


@dataclass(frozen=True)
class SignShare:
    """The share of states in which a difference is above 0, ties counting half."""

    naive: Estimate
    """Of the observed differences: drawn towards one half by their noise."""
    corrected: Estimate
    """Of the true differences."""
    spread: float
    """Standard deviation of the true differences over states; 0 if they do not vary beyond their noise."""
    reliability: float
    """Part of the variance of the observed differences that is true, 0 to 1; noise is the rest."""
    n_exact: int
    """States whose difference has no noise, such as those where every continuation ended the same."""


def estimate_share_above(
    differences: npt.ArrayLike,
    errors: npt.ArrayLike,
    clusters: npt.ArrayLike | None = None,
    *,
    df: float = np.inf,
    level: float = 0.95,
) -> SignShare:
    """Estimate the share of states whose true difference is above 0, beside that of the observed differences.

    Parameters
    ----------
    differences : (n,) floats
        One a state, such as the mean over K continuations of the best taking move minus the best other move.
    errors : (n,) floats
        Their standard errors, such as the standard deviation over continuations divided by the root of K. Where it is
        0 the difference is taken to be exact.
    clusters : (n,) ids, optional
        The game or deal of each state; left out, each state is a cluster.
    df : float
        Degrees of freedom of each standard error, K - 1 for K continuations; infinite if it is known.
    level : float
        Level of the intervals.

    Returns
    -------
    SignShare
        If the differences do not vary beyond their noise, the interval of the corrected share is 0 to 1.

    Raises
    ------
    InputError
        For columns of unequal length, numbers that are not finite, a negative error, or df below 1.
    """
    value, error = check_values(differences, "differences"), check_values(errors, "errors")
    size = len(value)
    if len(error) != size:
        raise InputError(f"errors: {len(error)} rows, but differences have {size}")
    if error.min() < 0:
        raise InputError(f"errors: hold {error.min():g}, but must not be negative")
    if not df >= 1:
        raise InputError(f"df = {df}: must be at least 1; two continuations a state give 1")
    check_level(level)
    codes, _ = encode_ids(np.arange(size) if clusters is None else clusters, size, "clusters")
    _, codes = np.unique(codes, return_inverse=True)
    sign = 0.5 + 0.5 * np.sign(value)
    naive = estimate_mean(sign, codes, bounds=(0.0, 1.0), level=level)
    noisy = error > 0
    exact = int(size - noisy.sum())
    if exact == size:
        return SignShare(naive, _say(naive, NO_NOISE), float(value.std()), 1.0, exact)
    variance = float(value[noisy].var())
    true_variance = variance - float((error[noisy] ** 2).mean())
    reliability = float(np.clip(true_variance / variance, 0.0, 1.0)) if variance > 0 else 0.0
    if naive.n_clusters < 2 or not _is_spread_seen(value[noisy], error[noisy], codes[noisy]):
        unknown = Estimate(
            value=naive.value,
            low=0.0,
            high=1.0,
            se=0.0,
            n_clusters=naive.n_clusters,
            n_rows=size,
            level=level,
            mde=1.0,
            method="none",
            note=ONE_CLUSTER if naive.n_clusters < 2 else NO_SPREAD,
        )
        return SignShare(naive, unknown, float(np.sqrt(max(true_variance, 0.0))), reliability, exact)
    true_variance = max(true_variance, LEAST_SPREAD * variance)
    steadied, joint_df = _steady(error[noisy], df)
    share, influence = _deconvolve(value[noisy], steadied, float(np.sqrt(true_variance)), joint_df)
    parts = sign.copy()
    parts[noisy] = share + influence
    corrected = _make_estimate(parts, codes, level)
    return SignShare(naive, corrected, float(np.sqrt(true_variance)), reliability, exact)


def _say(estimate: Estimate, note: str) -> Estimate:
    return Estimate(**(vars(estimate) | {"note": "; ".join(filter(None, (estimate.note, note)))}))


def _is_spread_seen(value: FloatArray, error: FloatArray, codes: IntArray) -> bool:
    """Return whether the observed variance is surely (one-sided, 5 %) above what noise alone would make of it."""
    excess = estimate_mean((value - value.mean()) ** 2 - error**2, codes, level=0.9)
    return excess.low > 0


def _steady(error: FloatArray, df: float) -> tuple[FloatArray, float]:
    """Draw standard errors of few degrees of freedom towards their common size (Smyth 2004); return their new df.

    True variances are taken to be scattered as scaled inverse chi-square, with moments matched on the scale of logs.
    """
    if np.isinf(df):
        return error, df
    log = np.log(error**2) - special.digamma(df / 2) + np.log(df / 2)
    excess = float(log.var()) - float(special.polygamma(1, df / 2))
    if excess <= special.polygamma(1, MOST_DF / 2):
        return np.full_like(error, np.exp(log.mean() / 2)), np.inf
    prior = 2 * float(optimize.brentq(lambda x: special.polygamma(1, x) - excess, 1e-3, MOST_DF / 2))
    common = np.exp(log.mean() + special.digamma(prior / 2) - np.log(prior / 2))
    return np.sqrt((prior * common + df * error**2) / (prior + df)), prior + df


def _make_estimate(parts: FloatArray, codes: IntArray, level: float) -> Estimate:
    """Turn each state's part into the estimate of their mean, with an interval on the scale of log odds."""
    plain = estimate_mean(parts, codes, level=level)
    share = float(np.clip(plain.value, 1e-9, 1 - 1e-9))
    t, z = float(special.stdtrit(plain.df, 0.5 + level / 2)), float(special.ndtri(0.5 + level / 2))
    reach = t * plain.se / (share * (1 - share))
    return Estimate(
        value=share,
        low=float(special.expit(special.logit(share) - reach)),
        high=float(special.expit(special.logit(share) + reach)),
        se=plain.se,
        n_clusters=plain.n_clusters,
        n_rows=plain.n_rows,
        level=level,
        mde=(z + float(special.ndtri(POWER))) * plain.se,
        method="mixture",
        df=plain.df,
    )


def _deconvolve(value: FloatArray, error: FloatArray, spread: float, df: float) -> tuple[float, FloatArray]:
    """Return the share of the true density above 0, and each state's part in its error (mean 0)."""
    center = float(value.mean())
    step = spread / FINENESS
    low, high = (int(np.floor((center + side * REACH * spread) / step)) for side in (-1, 1))
    # 0 lies between two points of the grid, so that no mass sits on it.
    grid = (np.arange(low, high + 1, dtype=np.float64) + 0.5) * step
    basis, normal = _make_basis((grid - center) / spread)
    # Noise much finer than the grid is blurred to it; what lies beyond the grid has a known sign and is put at its end.
    scale = np.maximum(error, step / 2)
    kernel = _make_kernel((np.clip(value, grid[0], grid[-1])[:, None] - grid) / scale[:, None], df) / scale[:, None]

    def density(coefficients: FloatArray) -> FloatArray:
        return np.asarray(special.softmax(basis @ coefficients))

    def lose(coefficients: FloatArray) -> tuple[float, FloatArray]:
        weight = density(coefficients)
        seen = kernel @ weight
        score = (kernel.T @ (1 / seen) * weight) @ basis - len(value) * (weight @ basis)
        away = (coefficients - normal) / PRIOR_SD
        return float(-np.log(seen).sum() + away @ away / 2), away / PRIOR_SD - score

    found = optimize.minimize(lose, normal, jac=True, method="BFGS").x
    weight = density(found)
    mean = weight @ basis
    posterior = kernel * weight
    posterior /= posterior.sum(axis=1, keepdims=True)
    expected = posterior @ basis
    hessian = len(value) * ((basis.T * weight) @ basis - np.outer(mean, mean))
    hessian -= (basis.T * posterior.sum(axis=0)) @ basis - expected.T @ expected
    hessian += np.eye(len(found)) / PRIOR_SD**2
    above = grid > 0
    share = float(weight[above].sum())
    slope = weight[above] @ basis[above] - share * mean
    influence = len(value) * (expected - mean) @ np.linalg.solve(hessian, slope)
    return share, influence - influence.mean()


def _make_kernel(distance: FloatArray, df: float) -> FloatArray:
    """Return the density of the noise at distances in standard errors, up to a constant, and never 0."""
    log = -(distance**2) / 2 if np.isinf(df) else -(df + 1) / 2 * np.log1p(distance**2 / df)
    return np.asarray(np.exp(np.maximum(log, -700.0)))


def _make_basis(z: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return a natural cubic spline basis, orthonormal under the normal density, and the normal's coefficients."""
    cubes = np.maximum(z[:, None] - KNOTS, 0.0) ** 3
    slopes = (cubes[:, :-1] - cubes[:, -1:]) / (KNOTS[-1] - KNOTS[:-1])
    basis = np.column_stack([z, slopes[:, :-1] - slopes[:, -1:]])
    normal = special.softmax(-(z**2) / 2)
    basis -= normal @ basis
    root = np.linalg.cholesky((basis.T * normal) @ basis)
    basis = np.linalg.solve(root, basis.T).T
    return basis, (basis.T * normal) @ (-(z**2) / 2)
