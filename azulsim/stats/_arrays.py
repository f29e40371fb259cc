"""Checks of what comes in, and sums over (group, cluster) cells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from azulsim.errors import InputError

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


def check_values(values: npt.ArrayLike, name: str) -> FloatArray:
    """Return `values` as a one-dimensional float64 array; refuse none at all, NaN and infinity."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name}: must be numbers") from None
    if array.ndim != 1:
        raise InputError(f"{name}: must have one dimension, not {array.ndim}")
    if not array.size:
        raise InputError(f"{name}: is empty; at least one row is needed")
    if not np.isfinite(array).all():
        row = int(np.flatnonzero(~np.isfinite(array))[0])
        raise InputError(f"{name}[{row}] = {array[row]}: must be finite")
    return array


def check_codes(codes: npt.ArrayLike, size: int, name: str, *, n_codes: int | None = None) -> IntArray:
    """Return `codes` as int64 counted from 0, one a row and, if `n_codes` is given, all below it."""
    array = np.asarray(codes)
    _check_length(array, size, name)
    if array.dtype.kind not in "iub":
        raise InputError(f"{name}: must be integers counted from 0, not {array.dtype}")
    array = array.astype(np.int64)
    if array.min() < 0:
        raise InputError(f"{name}: holds {array.min()}, but codes count from 0")
    if n_codes is not None and array.max() >= n_codes:
        raise InputError(f"{name}: holds {array.max()}, but there are only {n_codes} codes, counted from 0")
    return array


def encode_ids(ids: npt.ArrayLike, size: int, name: str) -> tuple[IntArray, int]:
    """Return codes counted from 0 and a number above them all; equal ids get equal codes, in the order of the ids.

    Integers that lie close together keep their distances (some codes are then unused): it saves a sort.
    """
    array = np.asarray(ids)
    _check_length(array, size, name)
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise InputError(f"{name}: must be finite")
    if array.dtype.kind in "iub":
        low, high = int(array.min()), int(array.max())
        if high - low < 4 * size:
            return array.astype(np.int64) - low, high - low + 1
    try:
        unique, codes = np.unique(array, return_inverse=True)
    except TypeError:
        raise InputError(f"{name}: must be all numbers or all text") from None
    return codes.astype(np.int64), len(unique)


def _check_length(array: npt.NDArray[np.generic], size: int, name: str) -> None:
    if array.ndim != 1 or len(array) != size:
        raise InputError(f"{name}: must have one entry for each of the {size} rows, not shape {array.shape}")


def check_level(level: float, name: str = "level") -> float:
    """Return a probability strictly between 0 and 1."""
    if not 0.0 < level < 1.0:
        raise InputError(f"{name} = {level}: must lie between 0 and 1, such as 0.95")
    return float(level)


def check_bounds(bounds: tuple[float, float] | None, *values: FloatArray) -> None:
    """Refuse bounds that are not (low, high), and values outside them."""
    if bounds is None:
        return
    low, high = bounds
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise InputError(f"bounds = {bounds}: must be two finite numbers, the lower first")
    for array in values:
        outside = (array < low) | (array > high)
        if outside.any():
            raise InputError(f"values: {array[outside][0]} lies outside the stated bounds {low} to {high}")


def make_rng(rng: np.random.Generator | int) -> np.random.Generator:
    """Return a generator from a seed or a generator."""
    if not isinstance(rng, np.random.Generator | int | np.integer) or isinstance(rng, bool):
        raise InputError(f"rng = {rng!r}: must be a whole number or a numpy Generator, so that results repeat")
    if not isinstance(rng, np.random.Generator) and rng < 0:
        raise InputError(f"rng = {rng}: a seed must not be negative")
    return np.random.default_rng(rng)


@dataclass(frozen=True, eq=False)
class Cells:
    """Sums over the rows of each (group, cluster) that has rows, sorted by group, then cluster."""

    group: IntArray
    cluster: IntArray
    n_rows: FloatArray
    sums: tuple[FloatArray, ...]
    """One array for each summed column."""


def sum_cells(groups: IntArray, n_groups: int, clusters: IntArray, n_clusters: int, *columns: FloatArray) -> Cells:
    """Sum columns over the rows of each (group, cluster)."""
    key = groups * n_clusters + clusters
    n_keys = n_groups * n_clusters
    if n_keys <= max(8 * len(key), 1 << 16):
        n_rows = np.bincount(key, minlength=n_keys).astype(np.float64)
        used = np.flatnonzero(n_rows)
        sums = tuple(_sum(key, column, n_keys)[used] for column in columns)
        n_rows = n_rows[used]
    else:
        used, cell, counts = np.unique(key, return_inverse=True, return_counts=True)
        sums = tuple(_sum(cell, column, len(used)) for column in columns)
        n_rows = counts.astype(np.float64)
    return Cells(used // n_clusters, used % n_clusters, n_rows, sums)


def _sum(codes: IntArray, column: FloatArray, size: int) -> FloatArray:
    return np.asarray(np.bincount(codes, column, minlength=size), dtype=np.float64)


def freeze(array: npt.NDArray[np.generic]) -> None:
    """Make an array read-only."""
    array.setflags(write=False)
