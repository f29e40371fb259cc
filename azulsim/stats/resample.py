"""The cluster bootstrap: whole clusters are drawn again, with all their rows, in all groups they appear in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy import special
from scipy.sparse import csr_array

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
    make_rng,
    sum_cells,
)
from azulsim.stats.intervals import ONE_CLUSTER, POWER, Estimate, Estimates, Method, make_estimates

CHUNK = 1 << 22
"""Numbers held at once while bootstrapping."""


@dataclass(frozen=True, eq=False)
class Ranks:
    """Ranks of labels by their mean, 1 is best, with intervals that hold all at once."""

    mean: FloatArray
    rank: IntArray
    """1 + number of labels with a greater mean; equal means share a rank."""
    low: IntArray
    """Best rank that the label may have."""
    high: IntArray
    """Worst rank that the label may have."""
    first_share: FloatArray
    """Share of bootstrap samples in which the label is first, ties shared: a description, not a probability."""
    n_clusters: int
    level: float
    critical: float
    """The joint critical value used in place of 1.96, before it is widened for few clusters."""
    gaps: Estimates
    """All differences mean(i) - mean(j), at the place i * labels + j, each at the level that `critical` stands for."""
    note: str = ""

    def __post_init__(self) -> None:
        """Make the columns read-only."""
        for array in (self.mean, self.rank, self.low, self.high, self.first_share):
            freeze(array)

    @property
    def best(self) -> tuple[int, ...]:
        """The labels that may be the best: a confidence set."""
        return tuple(int(label) for label in np.flatnonzero(self.low == 1))

    def compare(self, first: int, second: int) -> Estimate:
        """Return mean(first) - mean(second); the intervals of all pairs hold at once."""
        size = len(self.mean)
        if not (0 <= first < size and 0 <= second < size) or first == second:
            raise InputError(f"labels {first}, {second}: wanted two different labels from 0 to {size - 1}")
        return replace(self.gaps[first * size + second], level=self.level)

    def lead(self, label: int) -> Estimate:
        """Return how far a label is ahead of the best of the others, below 0 if behind; for all labels at once.

        This is the multiple comparison with the best (Hsu 1984), with ends that come from those of all pairs: the lead
        is the least of its differences to the others, and so are the ends.
        """
        pairs = [self.compare(label, other) for other in range(len(self.mean)) if other != label]
        least = min(pairs, key=lambda pair: pair.value)
        low, high = min(pair.low for pair in pairs), min(pair.high for pair in pairs)
        return replace(least, low=low, high=max(high, least.value)) if least.has_interval else least


def draw_cluster_weights(
    n_clusters: int, n_boot: int, *, rng: np.random.Generator | int, width: int = 0
) -> Iterator[FloatArray]:
    """Yield how often each cluster is drawn, as chunks of shape (some, n_clusters), `n_boot` rows in all.

    Parameters
    ----------
    n_clusters, n_boot : int
        Clusters, and bootstrap samples of `n_clusters` draws with replacement each.
    rng : Generator or int
        The source of luck; the same seed gives the same weights.
    width : int
        Numbers that the caller makes of each sample, if more than `n_clusters`: it bounds the chunks.
    """
    if n_clusters < 1 or n_boot < 2:
        raise InputError(f"n_clusters = {n_clusters}, n_boot = {n_boot}: wanted at least 1 cluster and 2 samples")
    generator = make_rng(rng)
    rows = max(1, CHUNK // max(n_clusters, width))
    for start in range(0, n_boot, rows):
        size = min(rows, n_boot - start)
        drawn = generator.integers(0, n_clusters, (size, n_clusters))
        drawn += n_clusters * np.arange(size)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=size * n_clusters)
        yield counts.reshape(size, n_clusters).astype(np.float64)


def estimate_quantiles(
    values: npt.ArrayLike,
    clusters: npt.ArrayLike | None = None,
    *,
    quantiles: npt.ArrayLike = (0.1, 0.25, 0.5, 0.75, 0.9),
    rng: np.random.Generator | int,
    n_boot: int = 1000,
    level: float = 0.95,
) -> Estimates:
    """Estimate quantiles of an outcome over rows, with percentile intervals of the cluster bootstrap.

    Parameters
    ----------
    values : (n,) floats
        The outcome, one a row.
    clusters : (n,) ids, optional
        Left out, each row is a cluster.
    quantiles : (q,) floats in [0, 1]
        A quantile is the least value whose share of rows at or below it reaches the level (no interpolation, so
        that points stay whole points).
    rng : Generator or int
        The source of luck; the same seed gives the same interval.
    n_boot : int
        Bootstrap samples.
    level : float
        Level of the interval.

    Returns
    -------
    Estimates
        One entry a quantile. With few distinct values (points) a million rows take seconds.
    """
    values = check_values(values, "values")
    levels = check_values(quantiles, "quantiles")
    if levels.min() < 0 or levels.max() > 1:
        raise InputError(f"quantiles = {levels.tolist()}: must lie in [0, 1]")
    check_level(level)
    codes, _ = encode_ids(np.arange(len(values)) if clusters is None else clusters, len(values), "clusters")
    _, codes = np.unique(codes, return_inverse=True)
    n_clusters = int(codes.max()) + 1
    points, ranks = np.unique(values, return_inverse=True)
    cells = sum_cells(codes, n_clusters, ranks.astype(np.int64), len(points))
    counts = np.asarray(np.bincount(cells.cluster, cells.n_rows), dtype=np.float64)
    point = _weighted_quantiles(counts[None, :], points, levels)[0]
    table = csr_array((cells.n_rows, (cells.cluster, cells.group)), shape=(len(points), n_clusters))
    draws = np.concatenate(
        [
            _weighted_quantiles((table @ weights.T).T, points, levels)
            for weights in draw_cluster_weights(n_clusters, n_boot, rng=rng, width=len(points))
        ]
    )
    size = len(levels)
    tail = (1 - level) / 2
    low, high = np.quantile(draws, [tail, 1 - tail], axis=0)
    z, power = special.ndtri(1 - tail), special.ndtri(POWER)
    method: Method = "none" if n_clusters == 1 else "bootstrap"
    return Estimates(
        value=point,
        low=np.minimum(low, point),
        high=np.maximum(high, point),
        se=draws.std(axis=0, ddof=1),
        n_clusters=np.full(size, n_clusters, np.int64),
        n_rows=np.full(size, len(values), np.int64),
        mde=(z + power) * draws.std(axis=0, ddof=1),
        df=np.full(size, max(n_clusters - 1.0, 1.0)),
        method=(method,) * size,
        note=(ONE_CLUSTER if n_clusters == 1 else "",) * size,
        level=level,
    )


def _weighted_quantiles(counts: FloatArray, points: FloatArray, levels: FloatArray) -> FloatArray:
    below = np.cumsum(counts, axis=1)
    # The share is compared in whole rows, less a hair for levels such as 0.1 that have no exact binary form.
    wanted = np.maximum(np.ceil(levels * below[:, -1:] - 1e-9), 1.0)
    index = (below[:, None, :] < wanted[:, :, None]).sum(axis=2)
    return np.asarray(points[index])


def estimate_ranks(
    values: npt.ArrayLike,
    labels: npt.ArrayLike,
    clusters: npt.ArrayLike,
    *,
    n_labels: int | None = None,
    sizes: npt.ArrayLike | None = None,
    bounds: tuple[float, float] | None = None,
    rng: np.random.Generator | int,
    n_boot: int = 2000,
    level: float = 0.95,
) -> Ranks:
    """Rank labels (players) by their mean, greatest first, with simultaneous intervals for all ranks.

    All pairwise differences get a joint interval (max-T: quantile of the greatest standardized difference over the
    cluster bootstrap); a label ranks below as many as are surely above it, and above as many as are surely below
    it (Mogstad, Romano, Shaikh and Wilhelm 2024). Unlike the spread of bootstrapped ranks this holds for near ties,
    and the labels that may be first form a confidence set for the best: no winner's curse.

    The bootstrap decides only by how much intervals are wider than that of one pair alone: each is made as in
    `compare_paired`, at the level that the joint critical value stands for. Thus few clusters widen it as they widen
    any interval (a bootstrap of few clusters is too narrow), and no pair is told apart here that is not there.

    Parameters
    ----------
    values : (n,) floats
        The outcome, such as the win share; more is better.
    labels : (n,) codes counted from 0
        The player of each row.
    clusters : (n,) ids
        Clusters shared by labels make their differences more precise.
    n_labels : int, optional
        Number of labels, to be sure that none is missing.
    sizes : (n,) numbers, optional
        How many observations each row is the mean of; left out, 1.
    bounds : (low, high), optional
        Least and greatest value that the outcome can take.
    rng : Generator or int
        The source of luck; the same seed gives the same intervals.
    n_boot : int
        Bootstrap samples.
    level : float
        Probability that all intervals hold at once.

    Raises
    ------
    InputError
        As in `estimate_by_group`.
    """
    values = check_values(values, "values")
    check_level(level)
    check_bounds(bounds, values)
    codes = check_codes(labels, len(values), "labels", n_codes=n_labels)
    size = int(codes.max()) + 1 if n_labels is None else n_labels
    cluster_codes, _ = encode_ids(clusters, len(values), "clusters")
    _, cluster_codes = np.unique(cluster_codes, return_inverse=True)
    n_clusters = int(cluster_codes.max()) + 1
    counts = np.ones(len(values)) if sizes is None else check_values(sizes, "sizes")
    if len(counts) != len(values) or (counts <= 0).any():
        raise InputError("sizes: must hold a number above 0 for each row")
    cells = sum_cells(cluster_codes, n_clusters, codes, size, values * counts, counts)
    rows, sums = np.zeros((n_clusters, size)), np.zeros((n_clusters, size))
    rows[cells.group, cells.cluster], sums[cells.group, cells.cluster] = cells.sums[1], cells.sums[0]
    if not rows.sum(axis=0).all():
        raise InputError(f"labels: label {int(np.flatnonzero(rows.sum(axis=0) == 0)[0])} has no rows")
    mean = sums.sum(axis=0) / rows.sum(axis=0)
    error = (sums - mean * rows) / rows.sum(axis=0)
    gap = mean[:, None] - mean[None, :]
    se = np.sqrt(_sum_powers(error, 2) * n_clusters / max(n_clusters - 1, 1))
    known = se > 1e-12 * max(float(np.abs(mean).max()), 1e-300)
    scale = np.where(known, se, 1.0)
    greatest, first = [], np.zeros(size)
    for weights in draw_cluster_weights(n_clusters, n_boot, rng=rng, width=size * size):
        drawn = weights @ rows
        means = np.where(drawn > 0, (weights @ sums) / np.where(drawn > 0, drawn, 1.0), mean)
        gaps = means[:, :, None] - means[:, None, :]
        greatest.append((np.abs(gaps - gap) * known / scale).max(axis=(1, 2)))
        best = means >= means.max(axis=1, keepdims=True) - 1e-12
        first += (best / best.sum(axis=1, keepdims=True)).sum(axis=0)
    alone = float(special.ndtri(0.5 + level / 2))
    critical = max(alone, float(np.quantile(np.concatenate(greatest), level))) if size > 2 else alone
    # The level 1 - 2 Phi(-critical) of a pair must not round to 1.
    compared = _compare_all(gap, error, known, rows, bounds, 1 - max(2 * float(special.ndtr(-critical)), 1e-12))
    # A gap that never varied is believed when a sign test over the clusters would believe it.
    certain = 2 * 0.5**n_clusters < (1 - level) / max(1, size * (size - 1) // 2)
    tiny = 1e-12 * float(np.abs(mean).max())
    low = compared.low.reshape(size, size)
    above = np.where(known, low > 0, certain & (gap > tiny)) & (n_clusters > 1)
    return Ranks(
        mean=mean,
        rank=np.asarray(1 + (gap < -tiny).sum(axis=1)),
        low=np.asarray(1 + above.sum(axis=0)),
        high=np.asarray(size - above.sum(axis=1)),
        first_share=first / n_boot,
        n_clusters=n_clusters,
        level=level,
        critical=critical,
        gaps=compared,
        note=ONE_CLUSTER if n_clusters == 1 else "",
    )


def _sum_powers(error: FloatArray, power: int) -> FloatArray:
    """Return, for each pair of columns, the sum over rows of a power of their difference."""
    return np.stack([((column[:, None] - error) ** power).sum(axis=0) for column in error.T])


def _compare_all(
    gap: FloatArray,
    error: FloatArray,
    known: npt.NDArray[np.bool_],
    rows: FloatArray,
    bounds: tuple[float, float] | None,
    level: float,
) -> Estimates:
    """Return all differences between labels at one level, a label against the others after the other."""
    n_rows = rows.sum(axis=0)
    effective = n_rows**2 / (rows**2).sum(axis=0)
    takes_part = rows > 0
    n_clusters = np.stack([(column[:, None] | takes_part).sum(axis=0) for column in takes_part.T])
    return make_estimates(
        value=gap.ravel(),
        squares=np.where(known, _sum_powers(error, 2), 0.0).ravel(),
        thirds=_sum_powers(error, 3).ravel(),
        fourths=_sum_powers(error, 4).ravel(),
        n_clusters=n_clusters.ravel().astype(np.float64),
        effective=np.minimum(effective[:, None], effective).ravel(),
        n_rows=np.minimum(n_rows[:, None], n_rows).ravel(),
        bounds=None if bounds is None else (bounds[0] - bounds[1], bounds[1] - bounds[0]),
        level=level,
    )
