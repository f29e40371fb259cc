"""Means, ratios and differences of outcomes that are clustered by deal, with intervals.

The unit of evidence is the cluster: rows of one cluster may depend on each other in any way, clusters are
independent. The standard error is that of the linearized ratio with the factor G/(G-1), which for a mean is the
cluster-robust error CR1 of least squares on a constant, and for one row (or equally many rows) a cluster simply
sd/sqrt(G). Intervals use Student's t with G*-1 degrees of freedom, G* = (sum n)^2 / sum n^2 the effective number
of clusters of sizes n (G when all are of one size).

For an outcome with stated `bounds`, such as a win share in [0, 1], the t interval is not trusted when few clusters
carry the variance or the errors are skewed: over the cluster residuals e, when (sum e^2)^2 / sum e^4 is below 10
or (sum e^2)^3 / (sum e^3)^2 below 50, as with few clusters, rare wins, or hardly any variation. Then
the Clopper-Pearson (beta) interval at the effective sample size of Korn and Graubard (1998) is used:
n* = p(1-p)/se^2 * (z/t)^2, at most the number of rows; with no variation at all (0 wins, all wins, one cluster)
each cluster counts as one trial. It errs on the wide side.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import special

from azulsim.errors import InputError
from azulsim.stats._arrays import (
    FloatArray,
    IntArray,
    check_bounds,
    check_codes,
    check_level,
    check_values,
    encode_ids,
    freeze,
    sum_cells,
)

Method = Literal["t", "beta", "wilson", "bootstrap", "mover", "anytime", "mixture", "none"]

ONE_CLUSTER = "one cluster: no interval can be given"
NO_VARIATION = "no variation between clusters: no interval can be given"
ONE_CLUSTER_BOUNDED = "one cluster, counted as one trial"
NO_VARIATION_BOUNDED = "no variation between clusters, each counted as one trial"
FEW_CARRY = "few clusters carry the variance: wide exact-type interval"
CUT_OFF = "few clusters: interval cut off at what is possible"

MIN_CARRIERS, MIN_EVENNESS = 10.0, 50.0
"""Less than this in the fourth or the third power (see the module), and a bounded outcome gets the beta interval."""
POWER = 0.8
"""Power at which the smallest detectable effect is stated."""


@dataclass(frozen=True)
class Estimate:
    """An estimate with its interval.

    >>> print(Estimate(value=0.531, low=0.519, high=0.543, se=0.006, n_clusters=2000, n_rows=4000))
    .531 +/- .012
    """

    value: float
    low: float
    high: float
    """Ends of the two-sided interval; both equal `value` when none can be given (see `has_interval`)."""
    se: float
    """Standard error; 0 when nothing varied between clusters."""
    n_clusters: int
    """Independent units (deals) behind the estimate."""
    n_rows: int
    level: float = 0.95
    mde: float = 0.0
    """Smallest detectable effect: what a two-sided test at 1 - level finds with power .8; 2.8 se at 95 %."""
    method: Method = "t"
    note: str = ""
    """What a reader must be told about the interval; empty when nothing is unusual."""
    df: float = np.inf
    """Degrees of freedom of the standard error."""

    @property
    def has_interval(self) -> bool:
        """True unless the data allow no interval (one cluster, or no variation, of an unbounded outcome)."""
        return self.method != "none"

    @property
    def half_width(self) -> float:
        """Half the length of the interval."""
        return (self.high - self.low) / 2

    def __str__(self) -> str:
        """Return '.531 +/- .012', or '.98 (.93 to 1.00)' when the interval is not symmetric."""
        if not self.has_interval:
            return f"{_format(self.value, 3, self.value)} ({self.note})"
        places = _places(self.half_width)
        largest = max(abs(self.low), abs(self.high), abs(self.value))
        value, low, high = (_format(number, places, largest) for number in (self.value, self.low, self.high))
        if abs(self.high + self.low - 2 * self.value) > 0.01 * self.half_width:
            return f"{value} ({low} to {high})"
        return f"{value} +/- {_format(self.half_width, places, largest)}"


def _places(half_width: float) -> int:
    """Decimals that show two significant digits of the half width."""
    return int(np.clip(1 - np.floor(np.log10(half_width)), 0, 9)) if half_width > 0 else 3


def _format(number: float, places: int, largest: float) -> str:
    text = f"{number:.{places}f}"
    return text.replace("0.", ".", 1) if abs(largest) < 1 and places and text.lstrip("-").startswith("0.") else text


@dataclass(frozen=True)
class Difference(Estimate):
    """A difference first - second with its interval, and what common clusters did for it."""

    p_value: float = 1.0
    """Two-sided, for a true difference of 0; below 1 - level exactly when the interval leaves 0 out."""
    correlation: float = 0.0
    """Correlation achieved between the two outcomes over the clusters; 0 when independent or constant."""
    variance_ratio: float = 1.0
    """Variance of the difference over what independent clusters would have given; its inverse tells games saved."""


@dataclass(frozen=True, eq=False)
class Estimates:
    """Many estimates as columns, one entry a group; `estimates[i]` is an `Estimate`, `columns()` suits a data frame."""

    value: FloatArray
    low: FloatArray
    high: FloatArray
    se: FloatArray
    n_clusters: IntArray
    n_rows: IntArray
    mde: FloatArray
    df: FloatArray
    method: tuple[Method, ...]
    note: tuple[str, ...]
    level: float = 0.95

    def __post_init__(self) -> None:
        """Make the columns read-only."""
        for array in (self.value, self.low, self.high, self.se, self.n_clusters, self.n_rows, self.mde, self.df):
            freeze(array)

    def __len__(self) -> int:
        """Return the number of groups."""
        return len(self.value)

    def __getitem__(self, index: int) -> Estimate:
        """Return the estimate of one group."""
        return Estimate(level=self.level, **{name: _plain(column[index]) for name, column in self.columns().items()})

    def __iter__(self) -> Iterator[Estimate]:
        """Go over the groups."""
        return (self[index] for index in range(len(self)))

    def columns(self) -> dict[str, Any]:
        """Return the columns by name (all but `level`), for `pandas.DataFrame`."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name != "level"}


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def estimate_mean(
    values: npt.ArrayLike,
    clusters: npt.ArrayLike | None = None,
    *,
    bounds: tuple[float, float] | None = None,
    level: float = 0.95,
) -> Estimate:
    """Estimate the mean over rows of an outcome clustered by deal.

    Parameters
    ----------
    values : (n,) floats
        The outcome, one a row.
    clusters : (n,) ids, optional
        The cluster of each row, in any order and of any sizes; left out, each row is a cluster.
    bounds : (low, high), optional
        Least and greatest value that the outcome can take, such as (0, 1) for a win share.
    level : float
        Level of the interval.

    Returns
    -------
    Estimate
        The method `t`, or `beta` for bounded outcomes where few clusters carry the variance (see the module).

    Raises
    ------
    InputError
        For no rows, values that are not finite or out of bounds, columns of unequal length, a level outside (0, 1).
    """
    values = check_values(values, "values")
    clusters = np.arange(len(values)) if clusters is None else clusters
    return estimate_by_group(values, np.zeros(len(values), np.int64), clusters, bounds=bounds, level=level)[0]


def estimate_ratio(
    numerators: npt.ArrayLike,
    denominators: npt.ArrayLike,
    clusters: npt.ArrayLike | None = None,
    *,
    level: float = 0.95,
) -> Estimate:
    """Estimate a ratio of means, such as points per move, clustered by deal.

    Parameters
    ----------
    numerators, denominators : (n,) floats
        Their sums are divided; denominators are not negative and not all 0.
    clusters : (n,) ids, optional
        As in `estimate_mean`.
    level : float
        Level of the interval.

    Raises
    ------
    InputError
        As in `estimate_mean`, and for negative or all-zero denominators.
    """
    numerators = check_values(numerators, "numerators")
    size = len(numerators)
    clusters = np.arange(size) if clusters is None else clusters
    groups = np.zeros(size, np.int64)
    return estimate_ratio_by_group(numerators, denominators, groups, clusters, level=level)[0]


def estimate_by_group(
    values: npt.ArrayLike,
    groups: npt.ArrayLike,
    clusters: npt.ArrayLike,
    *,
    n_groups: int | None = None,
    bounds: tuple[float, float] | None = None,
    level: float = 0.95,
) -> Estimates:
    """Estimate the mean of each of many groups of rows at once; see `estimate_mean`.

    Parameters
    ----------
    values : (n,) floats
        The outcome, one a row.
    groups : (n,) integer codes counted from 0
        Every code up to the greatest (or to `n_groups`) needs at least one row.
    clusters : (n,) ids
        The same id in two groups is one cluster seen twice; it matters to neither group's interval.
    n_groups : int, optional
        Number of groups, to be sure that none is missing.
    bounds, level
        As in `estimate_mean`.

    Returns
    -------
    Estimates
        One entry a group. A million rows take a fraction of a second.
    """
    values = check_values(values, "values")
    check_bounds(bounds, values)
    return _estimate_ratios(values, None, groups, clusters, n_groups, bounds, level)


def estimate_ratio_by_group(
    numerators: npt.ArrayLike,
    denominators: npt.ArrayLike,
    groups: npt.ArrayLike,
    clusters: npt.ArrayLike,
    *,
    n_groups: int | None = None,
    level: float = 0.95,
) -> Estimates:
    """Estimate the ratio of means of each of many groups at once; see `estimate_ratio` and `estimate_by_group`."""
    numerators = check_values(numerators, "numerators")
    denominators = check_values(denominators, "denominators")
    if len(denominators) != len(numerators):
        raise InputError(f"denominators: {len(denominators)} rows, but numerators have {len(numerators)}")
    if denominators.min() < 0:
        raise InputError(f"denominators: hold {denominators.min()}, but must not be negative")
    return _estimate_ratios(numerators, denominators, groups, clusters, n_groups, None, level)


def _estimate_ratios(
    numerators: FloatArray,
    denominators: FloatArray | None,
    groups: npt.ArrayLike,
    clusters: npt.ArrayLike,
    n_groups: int | None,
    bounds: tuple[float, float] | None,
    level: float,
) -> Estimates:
    size = len(numerators)
    group_codes = check_codes(groups, size, "groups", n_codes=n_groups)
    n_groups = int(group_codes.max()) + 1 if n_groups is None else n_groups
    cluster_codes, n_codes = encode_ids(clusters, size, "clusters")
    columns = (numerators,) if denominators is None else (numerators, denominators)
    cells = sum_cells(group_codes, n_groups, cluster_codes, n_codes, *columns)
    weight = cells.n_rows if denominators is None else cells.sums[1]

    def total(column: FloatArray | None) -> FloatArray:
        return np.bincount(cells.group, column, minlength=n_groups).astype(np.float64)

    n_rows, whole = total(cells.n_rows), total(weight)
    if not n_rows.all():
        raise InputError(f"groups: group {int(np.flatnonzero(n_rows == 0)[0])} has no rows")
    if not whole.all():
        raise InputError(f"denominators: are all 0 in group {int(np.flatnonzero(whole == 0)[0])}")
    value = total(cells.sums[0]) / whole
    residual = cells.sums[0] - value[cells.group] * weight
    squares = total(residual**2)
    # What rounding leaves of a constant outcome is no variation.
    squares[squares <= 1e-24 * total(cells.sums[0] ** 2)] = 0.0
    return make_estimates(
        value=value,
        squares=squares / whole**2,
        thirds=total(residual**3) / whole**3,
        fourths=total(residual**4) / whole**4,
        n_clusters=total(None),
        effective=whole**2 / total(weight**2),
        n_rows=n_rows,
        bounds=bounds,
        level=level,
    )


def make_estimates(
    *,
    value: FloatArray,
    squares: FloatArray,
    thirds: FloatArray,
    fourths: FloatArray,
    n_clusters: FloatArray,
    effective: FloatArray,
    n_rows: FloatArray,
    bounds: tuple[float, float] | None,
    limits: tuple[float, float] | None = None,
    level: float,
) -> Estimates:
    """Turn sums over clusters into estimates; the one place where the kind of interval is chosen.

    Parameters
    ----------
    value : (k,) floats
        The estimates.
    squares, thirds, fourths : (k,) floats
        Sums over clusters of the second, third and fourth power of each cluster's part in the estimate's error.
    n_clusters, effective, n_rows : (k,) floats
        Clusters, effective clusters and rows behind each.
    bounds, level
        As in `estimate_mean`.
    limits : (low, high), optional
        Least and greatest value that the estimate can have, for outcomes that are not counted and thus get no beta
        interval, such as differences of mean win shares; `bounds` if left out. Intervals and smallest detectable
        effects end there, and the note says so.
    """
    z, power = special.ndtri(0.5 + check_level(level) / 2), special.ndtri(POWER)
    alone = n_clusters < 2
    squares = np.where(alone, 0.0, squares)
    fixed = squares == 0
    se = np.sqrt(squares * n_clusters / np.where(alone, 1.0, n_clusters - 1))
    df = np.maximum(effective - 1, 1.0)
    t = special.stdtrit(df, 0.5 + level / 2)
    low, high = value - t * se, value + t * se
    mde = (z + power) * se
    if bounds is None:
        kind = np.where(alone, 2, np.where(fixed, 1, 0))
        method: tuple[Method, ...] = tuple("none" if code else "t" for code in kind)
        notes: tuple[str, ...] = ("", NO_VARIATION, ONE_CLUSTER)
    else:
        few = fixed | (squares**2 < MIN_CARRIERS * fourths) | (squares**3 < MIN_EVENNESS * thirds**2)
        share, size = _effective_trials(value, se, z / t, effective, n_rows, bounds)
        beta_low, beta_high = (bounds[0] + (bounds[1] - bounds[0]) * end for end in beta_interval(share, size, level))
        low = np.where(few, beta_low, low)
        high = np.where(few, beta_high, high)
        mde = np.where(few, (high - low) / 2 * (z + power) / z, mde)
        kind = np.where(few, np.where(alone, 3, np.where(fixed, 2, 1)), 0)
        method = tuple("beta" if code else "t" for code in kind)
        notes = ("", FEW_CARRY, NO_VARIATION_BOUNDED, ONE_CLUSTER_BOUNDED)
    note = tuple(notes[code] for code in kind)
    if (ends := limits or bounds) is not None:
        is_cut = (low < ends[0]) | (high > ends[1])
        low, high, mde = np.maximum(low, ends[0]), np.minimum(high, ends[1]), np.minimum(mde, max(map(abs, ends)))
        note = tuple(text or CUT_OFF * bool(cut) for text, cut in zip(note, is_cut, strict=True))
    return Estimates(
        value=value,
        low=np.minimum(low, value),
        high=np.maximum(high, value),
        se=se,
        n_clusters=n_clusters.astype(np.int64),
        n_rows=n_rows.astype(np.int64),
        mde=mde,
        df=df,
        method=method,
        note=note,
        level=level,
    )


def _effective_trials(
    value: FloatArray,
    se: FloatArray,
    shrink: FloatArray,
    effective: FloatArray,
    n_rows: FloatArray,
    bounds: tuple[float, float],
) -> tuple[FloatArray, FloatArray]:
    """Return the share in [0, 1] and the number of independent trials that would have had this standard error."""
    width = bounds[1] - bounds[0]
    share = np.clip((value - bounds[0]) / width, 0.0, 1.0)
    variance = np.where(se > 0, se / width, 1.0) ** 2
    trials = np.minimum(share * (1 - share) / variance * shrink**2, n_rows)
    return share, np.maximum(np.where(se > 0, trials, effective), 1.0)


def beta_interval(share: FloatArray, trials: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Return the Clopper-Pearson interval of shares in [0, 1] of (not necessarily whole) numbers of trials."""
    hits, tail = share * trials, (1 - level) / 2
    misses = trials - hits
    low = np.where(hits > 0, special.betaincinv(np.maximum(hits, 1e-12), misses + 1, tail), 0.0)
    high = np.where(misses > 0, special.betaincinv(hits + 1, np.maximum(misses, 1e-12), 1 - tail), 1.0)
    return low, high


def compare_paired(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    first_clusters: npt.ArrayLike | None = None,
    second_clusters: npt.ArrayLike | None = None,
    *,
    bounds: tuple[float, float] | None = None,
    level: float = 0.95,
) -> Difference:
    """Estimate mean(first) - mean(second) where the two outcomes share clusters.

    Parameters
    ----------
    first, second : (n,) and (m,) floats
        The two outcomes, one a row.
    first_clusters, second_clusters : (n,) and (m,) ids, optional
        Their clusters; the two sets may overlap in part, and sizes may differ. Left out, row i of both is cluster i.
    bounds : (low, high), optional
        Bounds of each outcome; a difference without variation (all wins against none) then still gets an interval.
    level : float
        Level of the interval.

    Raises
    ------
    InputError
        As in `estimate_mean`, and when no cluster is shared (then `compare_independent` is right).
    """
    first, second = check_values(first, "first"), check_values(second, "second")
    check_bounds(bounds, first, second)
    if first_clusters is None and second_clusters is None:
        if len(first) != len(second):
            raise InputError(f"first has {len(first)} rows, second {len(second)}: name their clusters")
        first_clusters = second_clusters = np.arange(len(first))
    if first_clusters is None or second_clusters is None:
        raise InputError("first_clusters, second_clusters: give both or neither")
    both = _join_ids(first_clusters, second_clusters, len(first), len(second))
    clusters, n_codes = encode_ids(both, len(both), "clusters")
    arm = np.repeat(np.array([0, 1]), [len(first), len(second)])
    cells = sum_cells(arm, 2, clusters, n_codes, np.concatenate([first, second]))
    parts = np.zeros((2, n_codes))
    weights = np.zeros((2, n_codes))
    rows = np.bincount(cells.group, cells.n_rows)
    means = np.bincount(cells.group, cells.sums[0]) / rows
    residual = (cells.sums[0] - means[cells.group] * cells.n_rows) / rows[cells.group]
    residual[np.abs(residual) <= 1e-12 * np.abs(cells.sums[0]) / rows[cells.group]] = 0.0
    parts[cells.group, cells.cluster] = residual
    weights[cells.group, cells.cluster] = cells.n_rows / rows[cells.group]
    if not (weights.all(axis=0)).any():
        raise InputError("first_clusters, second_clusters: share no cluster; use compare_independent")
    error = parts[0] - parts[1]
    variances, variance = (parts**2).sum(axis=1), float((error**2).sum())
    if variance <= 1e-24 * variances.sum():
        variance = 0.0
    estimate = make_estimates(
        value=np.array([means[0] - means[1]]),
        squares=np.array([variance]),
        thirds=np.array([(error**3).sum()]),
        fourths=np.array([(error**4).sum()]),
        n_clusters=np.array([float((weights.any(axis=0)).sum())]),
        effective=np.array([1 / (weights**2).sum(axis=1).max()]),
        n_rows=np.array([float(len(arm))]),
        bounds=None if bounds is None else (bounds[0] - bounds[1], bounds[1] - bounds[0]),
        level=level,
    )[0]
    product = float(np.sqrt(variances[0]) * np.sqrt(variances[1]))
    correlation = float((parts[0] * parts[1]).sum()) / product if product > 0 else 0.0
    independent = float(variances.sum())
    return Difference(
        **_fields(estimate),
        p_value=_p_value(estimate, bounds),
        correlation=float(np.clip(correlation, -1.0, 1.0)),
        variance_ratio=variance / independent if independent > 0 else 1.0,
    )


def _join_ids(first: npt.ArrayLike, second: npt.ArrayLike, n: int, m: int) -> npt.NDArray[Any]:
    one, two = np.asarray(first), np.asarray(second)
    if one.shape != (n,) or two.shape != (m,):
        raise InputError("first_clusters, second_clusters: must have one entry a row")
    if (one.dtype.kind in "US") != (two.dtype.kind in "US"):
        raise InputError("first_clusters, second_clusters: must be of one kind, numbers or text")
    return np.concatenate([one, two])


def _fields(estimate: Estimate) -> dict[str, Any]:
    return {field.name: getattr(estimate, field.name) for field in fields(Estimate)}


def _p_value(estimate: Estimate, bounds: tuple[float, float] | None) -> float:
    """Invert the interval at 0; without one, fall back on the sign test over clusters."""
    if estimate.method == "t":
        return float(2 * special.stdtr(estimate.df, -abs(estimate.value) / estimate.se))
    if estimate.method == "none" or bounds is None:
        return min(1.0, 2.0 * 0.5**estimate.n_clusters) if estimate.value else 1.0
    z = special.ndtri(0.5 + estimate.level / 2)
    shrink = np.asarray(z / special.stdtrit(estimate.df, 0.5 + estimate.level / 2))
    width = bounds[1] - bounds[0]
    share, trials = _effective_trials(
        np.asarray(estimate.value),
        np.asarray(estimate.se),
        shrink,
        np.asarray(estimate.df + 1),
        np.asarray(float(estimate.n_rows)),
        (-width, width),
    )
    hits, misses = float(share * trials), float(trials - share * trials)
    above = special.betainc(hits, misses + 1, 0.5) if hits > 0 else 1.0
    below = special.betaincc(hits + 1, misses, 0.5) if misses > 0 else 1.0
    return float(min(1.0, 2 * min(above, below)))


def compare_independent(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    first_clusters: npt.ArrayLike | None = None,
    second_clusters: npt.ArrayLike | None = None,
    *,
    bounds: tuple[float, float] | None = None,
    level: float = 0.95,
) -> Difference:
    """Estimate mean(first) - mean(second) where the two outcomes come from different clusters (Welch).

    Parameters are those of `compare_paired`. Where one side of a bounded outcome has the `beta` interval, the two
    intervals are joined by Newcombe's method (`mover`: squares of the distances to the ends are added). With `bounds`
    the interval ends at the greatest difference that is possible.
    """
    one = estimate_mean(first, first_clusters, bounds=bounds, level=level)
    two = estimate_mean(second, second_clusters, bounds=bounds, level=level)
    value, variance = one.value - two.value, one.se**2 + two.se**2
    se = float(np.sqrt(variance))
    z, power = special.ndtri(0.5 + level / 2), special.ndtri(POWER)
    df = variance**2 / (one.se**4 / one.df + two.se**4 / two.df) if variance > 0 else min(one.df, two.df)
    note = "; ".join(dict.fromkeys(side.note for side in (one, two) if side.note))
    method: Method
    n_clusters, n_rows = one.n_clusters + two.n_clusters, one.n_rows + two.n_rows
    if "beta" in (one.method, two.method):
        down = float(np.hypot(one.value - one.low, two.high - two.value))
        up = float(np.hypot(one.high - one.value, two.value - two.low))
        toward = down if value > 0 else up
        p_value = float(2 * special.ndtr(-abs(value) / toward * z)) if toward > 0 else 1.0
        mde, method = (down + up) / 2 * (z + power) / z, "mover"
    elif variance == 0 or min(one.n_clusters, two.n_clusters) == 1:
        down = up = mde = 0.0
        p_value, method = 1.0, "none"
    else:
        down = up = float(special.stdtrit(df, 0.5 + level / 2)) * se
        p_value, mde, method = float(2 * special.stdtr(df, -abs(value) / se)), (z + power) * se, "t"
    most = np.inf if bounds is None else bounds[1] - bounds[0]
    return Difference(
        value=value,
        low=max(value - down, -most),
        high=min(value + up, most),
        se=se,
        n_clusters=n_clusters,
        n_rows=n_rows,
        level=level,
        mde=min(float(mde), most),
        method=method,
        note=note,
        df=float(df),
        p_value=p_value,
    )


def estimate_proportion(successes: int, trials: int, *, level: float = 0.95) -> Estimate:
    """Estimate the probability behind `successes` in `trials` independent trials (Wilson score interval).

    Raises
    ------
    InputError
        Unless 0 <= successes <= trials and trials >= 1.
    """
    if trials < 1 or not 0 <= successes <= trials:
        raise InputError(f"successes = {successes}, trials = {trials}: wanted 0 <= successes <= trials, trials >= 1")
    z, power = float(special.ndtri(0.5 + check_level(level) / 2)), float(special.ndtri(POWER))
    share = successes / trials
    center = (share + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z / (1 + z * z / trials) * float(np.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials)))
    return Estimate(
        value=share,
        low=max(0.0, min(share, center - half)),
        high=min(1.0, max(share, center + half)),
        se=float(np.sqrt(share * (1 - share) / trials)),
        n_clusters=trials,
        n_rows=trials,
        level=level,
        mde=half * (z + power) / z,
        method="wilson",
        note="" if 0 < successes < trials else "none of the trials varied",
        df=float(trials),
    )
