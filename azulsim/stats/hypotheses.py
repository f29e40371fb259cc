"""Tests: are several means equal, is an effect small enough to ignore, which of many findings stand, how many deals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from azulsim.errors import InputError
from azulsim.stats._arrays import FloatArray, check_codes, check_level, check_values, encode_ids, sum_cells
from azulsim.stats.intervals import Estimate


@dataclass(frozen=True)
class JointTest:
    """A joint test that the means of several labels (seats) are all equal."""

    statistic: float
    """F statistic."""
    df_numerator: int
    df_denominator: int
    wald: float
    """Wald (chi-square) statistic behind it."""
    p_value: float
    n_clusters: int
    note: str = ""


def assess_equal_means(
    values: npt.ArrayLike, labels: npt.ArrayLike, clusters: npt.ArrayLike, *, n_labels: int | None = None
) -> JointTest:
    """Test jointly that all labels, such as seats, have one mean, by n-1 contrasts with cluster-robust covariance.

    Win shares of a game sum to 1, so that n means have only n-1 directions: contrasts against the grand mean are
    taken in an orthonormal basis. The Wald statistic W of q contrasts over G clusters is referred to Hotelling's
    law, F = (G-q) W / (q (G-1)) on (q, G-q) degrees of freedom, exact for normal cluster means and near chi2_q / q
    when G is large (chi-square itself rejects too often at small G).

    Parameters
    ----------
    values : (n,) floats
        The outcome, one a row.
    labels : (n,) codes counted from 0
        At least two labels, each with rows.
    clusters : (n,) ids
        The deal of each row.
    n_labels : int, optional
        Number of labels, to be sure that none is missing.

    Returns
    -------
    JointTest
        When the clusters are too few (G <= q) p is 1 with a note. When some contrast never varied, one pseudo-cluster
        of unrelated labels is added to the covariance, and `note` says so.
    """
    values = check_values(values, "values")
    codes = check_codes(labels, len(values), "labels", n_codes=n_labels)
    size = int(codes.max()) + 1 if n_labels is None else n_labels
    if size < 2:
        raise InputError("labels: at least two are needed to compare their means")
    cluster_codes, n_codes = encode_ids(clusters, len(values), "clusters")
    cells = sum_cells(codes, size, cluster_codes, n_codes, values)
    rows = np.bincount(cells.group, cells.n_rows, minlength=size)
    if not rows.all():
        raise InputError(f"labels: label {int(np.flatnonzero(rows == 0)[0])} has no rows")
    mean = np.bincount(cells.group, cells.sums[0], minlength=size) / rows
    error = np.zeros((size, n_codes))
    error[cells.group, cells.cluster] = (cells.sums[0] - mean[cells.group] * cells.n_rows) / rows[cells.group]
    n_clusters, q = len(np.unique(cells.cluster)), size - 1
    if n_clusters <= q:
        note = f"{n_clusters} clusters cannot test {q} contrasts; more than {q} are needed"
        return JointTest(0.0, q, 1, 0.0, 1.0, n_clusters, note)
    basis = _contrasts(size)
    covariance = basis @ (error @ error.T) @ basis.T * n_clusters / (n_clusters - 1)
    note = ""
    spread = float(values.var())
    if np.linalg.eigvalsh(covariance)[0] <= 1e-10 * spread / n_clusters:
        covariance += np.eye(q) * spread / n_clusters**2
        note = "some contrast never varied: one pseudo-cluster was added to the covariance"
    gap = basis @ mean
    if spread <= 1e-24 * float(np.abs(values).max()) ** 2:
        return JointTest(0.0, q, n_clusters - q, 0.0, 1.0, n_clusters, "all values are equal")
    wald = float(gap @ np.linalg.solve(covariance, gap))
    statistic = wald * (n_clusters - q) / (q * (n_clusters - 1))
    p_value = float(special.fdtrc(q, n_clusters - q, statistic))
    return JointTest(statistic, q, n_clusters - q, wald, p_value, n_clusters, note)


def _contrasts(size: int) -> FloatArray:
    """Return an orthonormal basis of the contrasts of `size` means, (size - 1, size) (Helmert)."""
    rows = np.tril(np.ones((size - 1, size)))
    rows[np.arange(size - 1), np.arange(1, size)] = -np.arange(1, size)
    rows = np.where(np.arange(size) <= np.arange(1, size)[:, None], rows, 0.0)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


@dataclass(frozen=True)
class Equivalence:
    """Whether an effect is shown to lie within a margin that a person calls negligible."""

    margin: float
    p_value: float
    """Greater of the two one-sided p-values."""
    is_equivalent: bool
    note: str = ""


def assess_equivalence(
    estimate: Estimate, *, margin: float, center: float = 0.0, level: float | None = None
) -> Equivalence:
    """Test that an effect lies within `center` +/- `margin` (two one-sided tests, TOST).

    Parameters
    ----------
    estimate : Estimate
        The effect; a t interval uses its standard error, another kind the distances to its ends.
    margin : float
        The largest effect that does not matter, such as .02 of a win; greater than 0.
    center : float
        Where no effect lies, such as the fair share.
    level : float, optional
        Equivalence is declared when p < 1 - level; the estimate's own level if left out.
    """
    if not (np.isfinite(margin) and margin > 0):
        raise InputError(f"margin = {margin}: must be greater than 0, the largest effect that does not matter")
    level = estimate.level if level is None else check_level(level)
    shift = estimate.value - center
    if not estimate.has_interval:
        return Equivalence(margin, 1.0, False, estimate.note)
    if estimate.method == "t":
        above, below = ((margin + shift) / estimate.se, (margin - shift) / estimate.se)
        p_value = float(special.stdtr(min(estimate.df, 1e12), -min(above, below)))
    else:
        z = special.ndtri(0.5 + estimate.level / 2)
        down, up = (max(end, 1e-12) for end in (estimate.value - estimate.low, estimate.high - estimate.value))
        p_value = float(special.ndtr(-min((margin + shift) / down, (margin - shift) / up) * z))
    return Equivalence(margin, p_value, p_value < 1 - level, estimate.note)


def adjust_holm(p_values: npt.ArrayLike) -> FloatArray:
    """Return p-values corrected for their number so that any false finding at all is rare (Holm 1979)."""
    p = _check_p_values(p_values)
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def adjust_fdr(p_values: npt.ArrayLike) -> FloatArray:
    """Return p-values corrected so that few of the findings are false (Benjamini and Hochberg 1995)."""
    # scipy.stats takes long to import, and nothing else here needs it.
    from scipy.stats import false_discovery_control

    return np.asarray(false_discovery_control(_check_p_values(p_values)), dtype=np.float64)


def _check_p_values(p_values: npt.ArrayLike) -> FloatArray:
    p = check_values(p_values, "p_values")
    if p.min() < 0 or p.max() > 1:
        raise InputError("p_values: must lie in [0, 1]")
    return p


def compute_power(n_clusters: int, *, sd: float, effect: float, level: float = 0.95) -> float:
    """Return the probability that a two-sided t test over `n_clusters` finds `effect` when clusters have this `sd`."""
    _check_positive(sd, "sd")
    if n_clusters < 2:
        raise InputError(f"n_clusters = {n_clusters}: at least 2 are needed")
    df, shift = n_clusters - 1, abs(effect) / sd * np.sqrt(n_clusters)
    critical = special.stdtrit(df, 0.5 + check_level(level) / 2)
    if df > 1000:
        return float(special.ndtr(shift - critical) + special.ndtr(-shift - critical))
    return float(1 - special.nctdtr(df, shift, critical) + special.nctdtr(df, shift, -critical))


def plan_clusters(
    *,
    sd: float,
    half_width: float | None = None,
    effect: float | None = None,
    power: float = 0.8,
    level: float = 0.95,
) -> int:
    """Return the number of clusters (deals) for a wanted precision or power.

    Parameters
    ----------
    sd : float
        Standard deviation between clusters of the outcome (or of the paired difference), from a pilot.
    half_width : float
        Wanted half width of the interval; or
    effect : float
        an effect to be found with probability `power` by a two-sided test. Exactly one of the two.
    power : float
        Wanted power.
    level : float
        Level of the interval, or 1 minus the size of the test.

    Raises
    ------
    InputError
        For both or neither, or numbers that are not positive.
    """
    _check_positive(sd, "sd")
    check_level(power, "power")
    check_level(level)
    if (half_width is None) == (effect is None):
        raise InputError("half_width, effect: give exactly one of them")

    def is_enough(n: int) -> bool:
        if half_width is not None:
            return bool(special.stdtrit(n - 1, 0.5 + level / 2) * sd <= half_width * np.sqrt(n))
        return effect is not None and compute_power(n, sd=sd, effect=effect, level=level) >= power

    _check_positive(half_width if half_width is not None else abs(effect or 0.0), "half_width or effect")
    high = 2
    while not is_enough(high):
        if high > 10**15:
            raise InputError("half_width, effect: so small that no number of deals would do")
        high *= 2
    low = max(high // 2, 2)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle + 1, high)
    return high


def _check_positive(number: float, name: str) -> None:
    if not (np.isfinite(number) and number > 0):
        raise InputError(f"{name} = {number}: must be greater than 0")
