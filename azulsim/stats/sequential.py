"""Looking at the data more than once: a schedule of looks, and intervals that hold at all of them.

The anytime interval is the asymptotic confidence sequence of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas (2024):
with probability `level` it covers the mean at every number of clusters at once, so that one may stop at whatever was
seen. It is some 1.6 times as wide as the interval for a number of clusters that was fixed beforehand.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import special

from azulsim.errors import InputError
from azulsim.stats._arrays import check_bounds, check_level, check_values
from azulsim.stats.intervals import NO_VARIATION, ONE_CLUSTER, POWER, Estimate

FIRST_LOOK = 100
"""Clusters at the first look: before, a variance is too uncertain to stop by."""
GROWTH = 1.5
"""Each look is at so many times the clusters of the one before."""
EARLY = 10
"""The anytime interval is narrowest, for its time, at a tenth of the most clusters, and within 7 % of it at the end."""

Verdict = Literal["above", "below", "within", "undecided"]


def list_looks(most: int, *, first: int = FIRST_LOOK, growth: float = GROWTH) -> tuple[int, ...]:
    """List the numbers of clusters at which the data are looked at; the last is `most`.

    >>> list_looks(400)
    (100, 150, 225, 338, 400)
    >>> list_looks(60)
    (60,)
    """
    if most < 1 or first < 1 or not growth > 1:
        raise InputError(f"most = {most}, first = {first}, growth = {growth}: wanted at least 1, 1, and more than 1")
    looks = []
    look = first
    while look < most:
        looks.append(look)
        look = math.ceil(look * growth)
    return (*looks, most)


def estimate_anytime(
    values: npt.ArrayLike, *, most: int, bounds: tuple[float, float] | None = None, level: float = 0.95
) -> Estimate:
    """Estimate a mean with an interval that holds at all looks at once, whatever made one stop.

    Parameters
    ----------
    values : (n,) floats
        The outcome, one value a cluster (deal), in the order in which clusters are looked at.
    most : int
        The most clusters that there may be. The width is tuned to it; validity does not depend on it.
    bounds : (low, high), optional
        Least and greatest value that the outcome can take. One pseudo-observation at each of them is added to the
        variance, without which an outcome that has not varied yet would have an interval of no width.
    level : float
        Probability that the interval covers the mean at all numbers of clusters.

    Returns
    -------
    Estimate
        The method `anytime`, or `none` for one cluster or an unbounded outcome that did not vary.

    Raises
    ------
    InputError
        For no values, values that are not finite or out of bounds, `most` below 1, a level outside (0, 1).
    """
    array = check_values(values, "values")
    check_bounds(bounds, array)
    check_level(level)
    if most < 1:
        raise InputError(f"most = {most}: must be at least 1")
    n, mean = len(array), float(array.mean())
    squares = float(((array - mean) ** 2).sum())
    if squares <= 1e-24 * float((array**2).sum()):  # what rounding leaves of a constant is no variation
        squares = 0.0
    if bounds is not None:
        squares += (mean - bounds[0]) ** 2 + (bounds[1] - mean) ** 2
    sd = math.sqrt(squares / max(n - 1, 1))
    if n == 1 or sd == 0:
        note = ONE_CLUSTER if n == 1 else NO_VARIATION
        return Estimate(mean, mean, mean, 0.0, n, n, level=level, method="none", note=note)
    radius = compute_anytime_radius(n, sd, most=most, level=level)
    low, high = bounds if bounds is not None else (-math.inf, math.inf)
    se = sd / math.sqrt(n)
    return Estimate(
        value=mean,
        low=max(mean - radius, low),
        high=min(mean + radius, high),
        se=se,
        n_clusters=n,
        n_rows=n,
        level=level,
        mde=radius + float(special.ndtri(POWER)) * se,
        method="anytime",
    )


def compute_anytime_radius(n: int, sd: float, *, most: int, level: float = 0.95) -> float:
    """Return half the width of the anytime interval of a mean over `n` clusters with standard deviation `sd`."""
    spent = -2 * math.log(1 - level)
    tuning = (spent + math.log(spent + 1)) * EARLY / max(most, EARLY)  # rho squared in the paper
    grown = n * tuning + 1
    return sd * math.sqrt(2 * grown / (n * n * tuning) * (math.log(grown) / 2 + spent / 2))


def judge_interval(estimate: Estimate, *, null: float, effect: float) -> Verdict:
    """Say what an interval shows of a mean.

    Parameters
    ----------
    estimate : Estimate
        With an anytime interval, the first verdict other than `undecided` is wrong with at most probability
        1 - level, however many looks there were.
    null : float
        What the mean is held against.
    effect : float
        The least deviation from `null` that matters, above 0.

    Returns
    -------
    str
        `above` or `below` if the interval leaves `null` out, `within` if all of it is closer to `null` than `effect`,
        else `undecided`.
    """
    if not (np.isfinite(effect) and effect > 0):
        raise InputError(f"effect = {effect}: must be above 0, the least deviation that matters")
    if not estimate.has_interval:
        return "undecided"
    if estimate.low > null:
        return "above"
    if estimate.high < null:
        return "below"
    return "within" if null - effect < estimate.low and estimate.high < null + effect else "undecided"
