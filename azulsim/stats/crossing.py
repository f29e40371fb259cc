"""Where a response crosses a target: the price at which something is worth nothing, the bonus that makes seats equal.

Between neighboring values of the factor the mean response is taken to be a straight line. The interval is the set of
factor values at which the interval of the response holds the target (Fieller's method on each piece), so it is as wide
as the response is flat, and reaches the end of the range when the data cannot tell. Nothing is extrapolated.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from azulsim.errors import InputError
from azulsim.stats._arrays import FloatArray, check_level, check_values, encode_ids, freeze, sum_cells
from azulsim.stats.intervals import ONE_CLUSTER, Estimates, estimate_ratio_by_group

SEVERAL = "the response meets the target several times; the middle one is given"
UNDETERMINED = "the interval holds both ends of the range: these data do not determine the value"


@dataclass(frozen=True, eq=False)
class Crossing:
    """The factor value at which a mean response meets a target, with its interval.

    `low` to `high` holds all factor values that the data cannot exclude; both are None when every value in the range
    is excluded. Where `is_open_below` (`is_open_above`) the interval reaches the least (greatest) value that was tried,
    and the truth may lie beyond.
    """

    value: float | None
    """None: the mean response does not meet the target within the range."""
    low: float | None
    high: float | None
    is_open_below: bool
    is_open_above: bool
    crossings: tuple[float, ...]
    """All factor values at which the mean response meets the target, ascending."""
    factor: FloatArray
    """(k,) the values of the factor that were tried, ascending."""
    response: Estimates
    """The mean response at each."""
    target: float
    n_clusters: int
    level: float
    note: str = ""

    def __post_init__(self) -> None:
        """Make the factor read-only."""
        freeze(self.factor)

    @property
    def is_reached(self) -> bool:
        """True if the mean response meets the target within the range."""
        return self.value is not None

    @property
    def is_determined(self) -> bool:
        """False if the interval is open at both ends, so that the truth may lie anywhere."""
        return not (self.is_open_below and self.is_open_above)

    def __str__(self) -> str:
        """Return '1.32 (1.1 to 1.6)', '1.3 (0 or less to 1.6)', or 'not reached within 0 to 4'.

        Of a response that meets the target several times all values are named; of an interval that is open at both ends
        none is.
        """
        first, last = self.factor[0], self.factor[-1]
        if not self.is_determined:
            return f"not determined (neither {first:g} nor {last:g} is excluded)"
        if self.low is None or self.high is None:
            return f"not reached within {first:g} to {last:g}"
        below = f"{self.low:.3g} or less" if self.is_open_below else f"{self.low:.3g}"
        above = f"{self.high:.3g} or more" if self.is_open_above else f"{self.high:.3g}"
        if self.value is None:
            return f"not reached within {first:g} to {last:g}, though {below} to {above} is not excluded"
        others = f", one of {', '.join(f'{met:.3g}' for met in self.crossings)}" if len(self.crossings) > 1 else ""
        return f"{self.value:.3g} ({below} to {above}){others}"


def estimate_crossing(
    factor: npt.ArrayLike,
    values: npt.ArrayLike,
    clusters: npt.ArrayLike,
    *,
    weights: npt.ArrayLike | None = None,
    target: float = 0.0,
    level: float = 0.95,
) -> Crossing:
    """Estimate the factor value at which the mean of a response meets a target.

    Parameters
    ----------
    factor : (n,) floats
        The value of the factor in each row, such as the price of the marker; at least two different ones.
    values : (n,) floats
        The response, one a row.
    clusters : (n,) ids
        The deal of each row. Clusters shared by factor values make the crossing more precise; they need not all take
        part everywhere.
    weights : (n,) floats, optional
        How many observations each row is the mean of; 1 if left out.
    target : float
        The response that is wanted.
    level : float
        Level of the interval.

    Returns
    -------
    Crossing
        Linear between neighboring factor values, never beyond them. The interval covers a single true crossing with
        the stated probability; it is the hull of what is not excluded, thus wide where the response is not monotone.

    Raises
    ------
    InputError
        For columns of unequal length, numbers that are not finite, fewer than two factor values, or weights that are
        negative or all 0 at one of them.
    """
    x, y = check_values(factor, "factor"), check_values(values, "values")
    check_level(level)
    if len(x) != len(y):
        raise InputError(f"factor: {len(x)} rows, but values have {len(y)}")
    if not np.isfinite(target):
        raise InputError(f"target = {target}: must be finite")
    points, codes = np.unique(x, return_inverse=True)
    if len(points) < 2:
        raise InputError(f"factor: holds {points[0]:g} only; at least two different values are needed")
    sizes = np.ones(len(y)) if weights is None else check_values(weights, "weights")
    if len(sizes) != len(y):
        raise InputError(f"weights: {len(sizes)} rows, but values have {len(y)}")
    response = estimate_ratio_by_group(y * sizes, sizes, codes, clusters, n_groups=len(points), level=level)
    covariance, n_clusters = _covariance((y - response.value[codes]) * sizes, sizes, codes, clusters)
    met = _find_crossings(points, response.value - target)
    t = float(special.stdtrit(response.df.min(), 0.5 + level / 2))
    kept = [*met]
    if n_clusters == 1:
        kept = [points[0], points[-1]]
    else:
        for left in range(len(points) - 1):
            piece = slice(left, left + 2)
            shares = _keep(response.value[piece] - target, t * t * covariance[piece, piece])
            kept += [(1 - share) * points[left] + share * points[left + 1] for share in shares]
    low, high = (float(min(kept)), float(max(kept))) if kept else (None, None)
    is_open_below, is_open_above = low == points[0], high == points[-1]
    notes = [ONE_CLUSTER] * (n_clusters == 1) + [SEVERAL] * (len(met) > 1)
    notes += [UNDETERMINED] * bool(is_open_below and is_open_above)
    return Crossing(
        value=met[(len(met) - 1) // 2] if met else None,
        low=low,
        high=high,
        is_open_below=bool(is_open_below),
        is_open_above=bool(is_open_above),
        crossings=tuple(met),
        factor=points,
        response=response,
        target=float(target),
        n_clusters=n_clusters,
        level=level,
        note="; ".join(notes),
    )


def _covariance(
    errors: FloatArray, sizes: FloatArray, codes: npt.NDArray[np.int64], clusters: npt.ArrayLike
) -> tuple[FloatArray, int]:
    """Return the covariance of the means over clusters that they share, and the number of clusters."""
    ids, _ = encode_ids(clusters, len(errors), "clusters")
    _, ids = np.unique(ids, return_inverse=True)
    n_clusters, n_points = int(ids.max()) + 1, int(codes.max()) + 1
    cells = sum_cells(codes, n_points, ids.astype(np.int64), n_clusters, errors)
    part = np.zeros((n_points, n_clusters))
    part[cells.group, cells.cluster] = cells.sums[0] / np.bincount(codes, sizes)[cells.group]
    return part @ part.T * n_clusters / max(n_clusters - 1, 1), n_clusters


def _find_crossings(points: FloatArray, gap: FloatArray) -> list[float]:
    """Return where straight lines through (points, gap) meet 0."""
    met = [float(x) for x in points[gap == 0]]
    for left in np.flatnonzero(gap[:-1] * gap[1:] < 0):
        share = gap[left] / (gap[left] - gap[left + 1])
        met.append(float(points[left] + share * (points[left + 1] - points[left])))
    return sorted(met)


def _keep(gap: FloatArray, spread: FloatArray) -> list[float]:
    """Return the ends of the part of a piece, as shares of its length, where |gap|^2 <= variance * t^2.

    With w the share, both sides are quadratic in w, and the part ends at a root or at the end of the piece.
    """
    step = gap[1] - gap[0]
    quadratic = np.array(
        [
            step**2 - (spread[0, 0] - 2 * spread[0, 1] + spread[1, 1]),
            2 * gap[0] * step - 2 * (spread[0, 1] - spread[0, 0]),
            gap[0] ** 2 - spread[0, 0],
        ]
    )
    roots = np.roots(quadratic)
    inside = [float(root.real) for root in roots if root.imag == 0 and 0 <= root.real <= 1]
    return inside + [end for end in (0.0, 1.0) if np.polyval(quadratic, end) <= 0]
