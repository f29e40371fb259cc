"""How far apart profiles are: distances between vectors of means, with the part that noise puts there taken off."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from azulsim.errors import InputError
from azulsim.stats._arrays import FloatArray, check_level, freeze
from azulsim.stats.intervals import ONE_CLUSTER, POWER, Estimate

NO_SPREAD = "no trait differs between any two"


@dataclass(frozen=True, eq=False)
class Distances:
    """Distances between each two of n profiles; matrices are (n, n), symmetric, 0 on the diagonal."""

    value: FloatArray
    low: FloatArray
    high: FloatArray
    mde: FloatArray
    """The smallest distance that would be told from 0 four times out of five, in the direction with most noise."""
    scale: FloatArray
    """(k,) what one unit of each trait was; 0 for a trait that was left out, because all have the same mean."""
    n_clusters: int
    level: float
    note: str = ""

    def __post_init__(self) -> None:
        """Make the matrices read-only."""
        for array in (self.value, self.low, self.high, self.mde, self.scale):
            freeze(array)

    def get(self, one: int, two: int) -> Estimate:
        """Return the estimate of one pair."""
        low, high = float(self.low[one, two]), float(self.high[one, two])
        z = float(special.ndtri(0.5 + self.level / 2))
        return Estimate(
            value=float(self.value[one, two]),
            low=low,
            high=high,
            se=(high - low) / (2 * z),
            n_clusters=self.n_clusters,
            n_rows=self.n_clusters,
            level=self.level,
            mde=float(self.mde[one, two]),
            method="none" if self.note else "t",
            note=self.note,
        )


def estimate_distances(
    means: npt.ArrayLike, influence: npt.ArrayLike, *, scale: npt.ArrayLike | None = None, level: float = 0.95
) -> Distances:
    """Estimate the root-mean-square difference between profiles, each trait in units of its spread over profiles.

    The squared distance between two observed means is too great by the variance of their difference; that is
    subtracted. What is left may be negative for two profiles that are the same: the distance is then 0. The interval
    is that of the squared distance, its ends cut off at 0 before the root is taken.

    Parameters
    ----------
    means : (n, k) floats
        The means of k traits of n profiles.
    influence : (clusters, n, k) floats
        Each cluster's part in the error of each mean, summing to 0 over clusters; profiles may share clusters.
    scale : (k,) floats, optional
        One unit of each trait; left out, its standard deviation over the profiles, and traits without any are left out.
    level : float
        Level of the intervals.

    Raises
    ------
    InputError
        For shapes that do not fit, or numbers that are not finite.
    """
    check_level(level)
    center, error = np.asarray(means, np.float64), np.asarray(influence, np.float64)
    if center.ndim != 2 or error.shape[1:] != center.shape:
        raise InputError(
            f"means of shape {center.shape} and influence of {error.shape}: wanted (n, k), (clusters, n, k)"
        )
    if not (np.isfinite(center).all() and np.isfinite(error).all()):
        raise InputError("means, influence: must be finite")
    n = len(center)
    unit = np.std(center, axis=0, ddof=1 if n > 1 else 0) if scale is None else np.asarray(scale, np.float64)
    used = unit > 1e-12 * np.maximum(np.abs(center).max(axis=0, initial=0.0), 1e-300)
    root = np.sqrt(max(int(used.sum()), 1))
    center, error = center[:, used] / unit[used] / root, error[:, :, used] / unit[used] / root
    matrices = {name: np.zeros((n, n)) for name in ("value", "low", "high", "mde")}
    t = float(special.stdtrit(max(len(error) - 1, 1), 0.5 + level / 2))
    z = float(special.ndtri(0.5 + level / 2) + special.ndtri(POWER))
    for one in range(n):
        for two in range(one):
            square, se, least = estimate_squared_length(center[one] - center[two], error[:, one] - error[:, two], z)
            squares = {"value": square, "low": square - t * se, "high": square + t * se, "mde": least}
            for name, square in squares.items():
                matrices[name][one, two] = matrices[name][two, one] = np.sqrt(max(float(square), 0.0))
    note = ONE_CLUSTER if len(error) < 2 else "" if used.any() else NO_SPREAD
    return Distances(**matrices, scale=np.where(used, unit, 0.0), n_clusters=len(error), level=level, note=note)


def estimate_squared_length(vector: FloatArray, error: FloatArray, z: float) -> tuple[float, float, float]:
    """Estimate the squared length of the mean of a noisy vector, free of the noise's own length.

    Parameters
    ----------
    vector : (k,) floats
        The observed mean.
    error : (clusters, k) floats
        Each cluster's part in its error.
    z : float
        Standard errors by which a length must exceed 0 to be detectable.

    Returns
    -------
    tuple of float
        |vector|^2 - tr S, with S the covariance of the vector; its standard error, the root of 4 v'Sv + 2 tr S^2 for a
        normal vector, with v'Sv freed of noise too; and the smallest detectable squared length, along the first
        eigenvector of S.
    """
    n = len(error)
    if n < 2:
        return float(vector @ vector), 0.0, 0.0
    covariance = error.T @ error * (n / (n - 1))
    twice = 2 * float((covariance**2).sum())
    variance = max(4 * float(vector @ covariance @ vector) - twice, twice)
    slope = 2 * z**2 * float(np.linalg.eigvalsh(covariance)[-1]) if len(vector) else 0.0
    least = slope + float(np.sqrt(slope**2 + z**2 * twice))
    return float(vector @ vector - np.trace(covariance)), float(np.sqrt(variance)), least
