"""From sums per deal to estimates: means, contrasts between levels of one key, and joint tests.

Each group mean is a ratio (sum of totals over sum of counts), so deals may take part unequally; its spread is
that of the deals' influences on it, so games that share a deal count as one observation. Which interval is made
from them is decided in `azulsim.stats`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import special

from azulsim.metrics._tables import Outcome, Sums
from azulsim.stats.crossing import Crossing
from azulsim.stats.hypotheses import assess_equal_means
from azulsim.stats.intervals import POWER, Estimate, make_estimates

LEVEL = 0.95
NOT_SEEN = "never happened in these games"
ESTIMATE_NUMBERS = ["estimate", "low", "high", "se", "n", "n_deals", "mde", "note"]
_ESTIMATE_COLUMNS = {"outcome", "unit", *ESTIMATE_NUMBERS}

Array = npt.NDArray[Any]
Coefficients = Callable[[Sequence[object]], Sequence[float]]
"""From the levels of a key, in the order of the groups, to the weights of a contrast."""


def estimate(sums: Sums, outcomes: Sequence[Outcome], *, signed: bool = False) -> pd.DataFrame:
    """Estimate the mean of each outcome in each group: a tidy frame, groups in order, outcomes within groups.

    Outcomes whose single values are differences are `signed`: shares among them are no wins counted, so that their
    intervals are those of any number, but end at -1 and 1.
    """
    means, influence = _means(sums)
    parts = []
    for k, outcome in enumerate(outcomes):
        moments = _sum_moments(influence[:, k], sums.count[:, k], sums.group, len(sums.keys))
        bounds = (0.0, 1.0) if outcome.unit == "share" and not signed else None
        limits = (-1.0, 1.0) if outcome.unit == "share" and signed else None
        parts.append(_make_frame(sums.keys, outcome, means[:, k], moments, bounds, limits))
    return _interleave(parts)


def contrast(sums: Sums, outcomes: Sequence[Outcome], split: str, coefficients: Coefficients) -> pd.DataFrame:
    """Estimate a weighted sum of the means at the levels of the key `split`, within groups of the other keys.

    The levels of a group share deals, so the standard error is that of the deals' weighted influences together.
    Groups in which a level with weight has no observation, or that have one level only, are left out.
    """
    means, influence = _means(sums)
    others = _other_keys(sums, split)
    weight, outer = np.zeros(len(sums.keys)), np.full(len(sums.keys), -1)
    kept: list[tuple[object, ...]] = []
    for keys, members in outer_groups(sums.keys, others):
        levels = sums.keys[split].iloc[members].tolist()
        weights = np.asarray(coefficients(levels), np.float64)
        if len(levels) > 1 and np.isfinite(weights).all():
            weight[members], outer[members] = weights, len(kept)
            kept.append(keys)
    frame = pd.DataFrame(kept, columns=others).astype({name: sums.keys[name].dtype for name in others})
    inside = outer[sums.group] >= 0
    pairs = np.stack([outer[sums.group][inside], sums.deal[inside]])
    cells, cell = np.unique(pairs, axis=1, return_inverse=True)
    parts = []
    for k, outcome in enumerate(outcomes):
        by_deal = np.bincount(cell, (weight[sums.group] * influence[:, k])[inside], cells.shape[1])
        counts = np.bincount(cell, sums.count[inside, k], cells.shape[1])
        moments = _sum_moments(by_deal, counts, cells[0], len(kept))
        values = np.bincount(outer[outer >= 0], (weight * means[:, k])[outer >= 0], len(kept))
        bounds = (-1.0, 1.0) if outcome.unit == "share" else None
        made = _make_frame(frame, outcome, values, moments, bounds)
        if bounds:
            fixed = np.flatnonzero(moments["squares"] == 0)
            _join_intervals(made, fixed, estimate(_pick(sums, k), [outcome]), weight, outer)
        parts.append(made)
    return _interleave(parts)


def _pick(sums: Sums, k: int) -> Sums:
    return replace(sums, outcomes=sums.outcomes[k : k + 1], count=sums.count[:, [k]], total=sums.total[:, [k]])


def _join_intervals(
    made: pd.DataFrame, rows: npt.NDArray[np.int64], levels: pd.DataFrame, weight: Array, outer: Array
) -> None:
    """Give contrasts of shares that never varied the joined intervals of their levels.

    The distances to the ends are added, not their squares: who wins everything and who loses it move together.
    """
    z = special.ndtri((1 + LEVEL) / 2)
    for row in rows.tolist():
        mine, weights = levels[outer == row], weight[outer == row]
        below, above = mine["estimate"] - mine["low"], mine["high"] - mine["estimate"]
        down = float((np.abs(weights) * np.where(weights > 0, below, above)).sum())
        up = float((np.abs(weights) * np.where(weights > 0, above, below)).sum())
        value = float(made["estimate"].iloc[row])
        made.loc[row, ["low", "high"]] = [max(value - down, -1.0), min(value + up, 1.0)]
        made.loc[row, "mde"] = min((down + up) / 2 * (z + special.ndtri(POWER)) / z, 1.0)


def compare_levels(frame: pd.DataFrame, column: str, first: object, second: object) -> pd.DataFrame:
    """Estimate the differences, `second` minus `first`, between two levels of a column whose deals are not shared.

    Takes the frame of a metric; for levels such as player counts, whose deals are independent. The squares of the
    distances to the ends of the two intervals are added (Newcombe's method), which keeps lopsided ones lopsided.
    """
    keys = [str(name) for name in frame if name not in _ESTIMATE_COLUMNS and name not in (column, "fair")]
    keys += ["outcome", "unit"]
    one, two = (frame[frame[column] == level].drop(columns=column) for level in (first, second))
    both = one.merge(two, on=keys, suffixes=("_1", "_2"))
    both = both[(both["n_1"] > 0) & (both["n_2"] > 0)].reset_index(drop=True)
    down = (_reach(both, 2, "low") ** 2 + _reach(both, 1, "high") ** 2) ** 0.5
    up = (_reach(both, 2, "high") ** 2 + _reach(both, 1, "low") ** 2) ** 0.5
    known = down + up > 0
    z = special.ndtri((1 + LEVEL) / 2)
    difference = both["estimate_2"] - both["estimate_1"]
    most = pd.Series(np.where(both["unit"] == "share", 1.0, np.inf))
    return both[keys].assign(
        estimate=difference,
        low=(difference - down).clip(lower=-most).where(known),
        high=(difference + up).clip(upper=most).where(known),
        se=((both["se_1"].fillna(0.0) ** 2 + both["se_2"].fillna(0.0) ** 2) ** 0.5).where(known),
        n=both["n_1"] + both["n_2"],
        n_deals=both["n_deals_1"] + both["n_deals_2"],
        mde=((down + up) / 2 * (z + special.ndtri(POWER)) / z).clip(upper=most).where(known),
        note=[_join_notes(*notes) for notes in zip(both["note_1"], both["note_2"], strict=True)],
    )


def _reach(both: pd.DataFrame, side: int, end: str) -> pd.Series:
    """Return how far an end of an interval is from its estimate: 0 without variation, NaN for a single deal."""
    reach = (both[f"{end}_{side}"] - both[f"estimate_{side}"]).abs()
    return reach.where(reach.notna() | (both[f"n_deals_{side}"] < 2), 0.0)


def _join_notes(*notes: str) -> str:
    return "; ".join(dict.fromkeys(note for note in notes if note))


def check_equal(sums: Sums, split: str) -> pd.DataFrame:
    """Test jointly that the mean of the first outcome is the same at all levels of `split`."""
    others = _other_keys(sums, split)
    rows = []
    for keys, members in outer_groups(sums.keys, others):
        inside = np.isin(sums.group, members) & (sums.count[:, 0] > 0)
        if len(members) > 1:
            means = sums.total[inside, 0] / sums.count[inside, 0]
            test = assess_equal_means(means, np.searchsorted(members, sums.group[inside]), sums.deal[inside])
            found = (test.statistic, test.df_numerator, test.df_denominator, test.p_value, test.n_clusters, test.note)
            rows.append((*keys, sums.outcomes[0], *found))
    names = ["outcome", "statistic", "df_numerator", "df_denominator", "p_value", "n_deals", "note"]
    frame = pd.DataFrame(rows, columns=[*others, *names])
    return frame.astype({name: sums.keys[name].dtype for name in others})


def estimate_bins(bins: Sums, whole: Sums, name: str, edges: Sequence[int]) -> pd.DataFrame:
    """Estimate the share of observations in each of many bins: a row a group and edge, in the column `name`.

    Parameters
    ----------
    bins
        Counts of observations by the keys of `whole` and the key `name`, the edge of the bin; deals without any left
        out, so that many bins cost little.
    whole
        Counts of all observations.
    edges
        All bins that are wanted; those that are never seen have the share 0.
    """
    n_bins = len(edges)
    outer = [str(key) for key in whole.keys]
    place = {keys: at for at, keys in enumerate(whole.keys.itertuples(index=False, name=None))}
    groups = np.array([place[keys] for keys in bins.keys[outer].itertuples(index=False, name=None)], np.int64)
    cell = groups * n_bins + np.searchsorted(edges, bins.keys[name].to_numpy(np.int64))
    size = len(whole.keys) * n_bins
    count, group = bins.count[:, 0], groups[bins.group]
    deal, at = np.unique(np.concatenate([whole.deal, bins.deal]), return_inverse=True)
    n = np.zeros((len(whole.keys), len(deal)))
    n[whole.group, at[: len(whole.deal)]] = whole.count[:, 0]
    n_mine = n[group, at[len(whole.deal) :]]
    size_of = n.sum(axis=1)

    def total(power: int, power_n: int) -> Array:
        """Sum count^power n^power_n over deals."""
        if not power:
            return np.repeat((n**power_n).sum(axis=1), n_bins)
        return np.bincount(cell[bins.group], count**power * n_mine**power_n, size)

    p = total(1, 0) / np.repeat(size_of, n_bins)
    powers = {
        order: sum(math.comb(order, k) * (-p) ** k * total(order - k, k) for k in range(order + 1))
        / np.repeat(size_of, n_bins) ** order
        for order in (2, 3, 4)
    }
    fixed = (p == 0) | (p == 1)
    made = {
        "squares": np.where(fixed, 0.0, np.maximum(powers[2], 0.0)),
        "thirds": powers[3],
        "fourths": powers[4],
        "n_clusters": np.repeat((n > 0).sum(axis=1), n_bins).astype(np.float64),
        "effective": np.repeat(size_of**2 / (n**2).sum(axis=1), n_bins),
        "n_rows": np.repeat(size_of, n_bins),
    }
    keys = whole.keys.loc[whole.keys.index.repeat(n_bins)].reset_index(drop=True)
    keys[name] = np.tile(np.asarray(edges), len(whole.keys))
    return _make_frame(keys, Outcome("share", "", "share", ""), p, made, (0.0, 1.0)).drop(columns="outcome")


def list_estimates(sums: Sums, bounds: tuple[float, float] | None) -> list[Estimate]:
    """List the estimates of the first outcome, a group after the other, as `azulsim.stats` has them."""
    means, influence = _means(sums)
    moments = _sum_moments(influence[:, 0], sums.count[:, 0], sums.group, len(sums.keys))
    return list(make_estimates(value=means[:, 0], bounds=bounds, limits=None, level=LEVEL, **moments))


def estimate_linear(outcome: Outcome, values: Array, influence: Array, counts: Array) -> pd.DataFrame:
    """Estimate numbers that are known with each deal's part in their errors: a row a number, without keys.

    Parameters
    ----------
    values
        Shape (k,): the estimates.
    influence, counts
        Shape (deals, k): each deal's part in the error of each, and the observations it gave.
    """
    group = np.tile(np.arange(len(values)), len(influence))
    moments = _sum_moments(influence.ravel(), counts.ravel(), group, len(values))
    return _make_frame(pd.DataFrame(index=range(len(values))), outcome, values, moments, None)


def correlate(sums: Sums, outcome: Outcome, *, is_squared: bool) -> pd.DataFrame:
    """Estimate the correlation of x and y, or its square, in each group.

    The five outcomes of `sums` are x, y, x^2, y^2 and x y. The error is that of the linearized correlation, summed by
    deal. Groups in which x or y never varies have none.
    """
    size = np.maximum(np.bincount(sums.group, sums.count[:, 0], len(sums.keys)), 1)
    x, y, xx, yy, xy = (np.bincount(sums.group, column, len(sums.keys)) / size for column in sums.total.T)
    spread = np.sqrt(np.maximum((xx - x * x) * (yy - y * y), 0.0))
    varies = (xx - x * x > 1e-12 * np.maximum(xx, 1)) & (yy - y * y > 1e-12 * np.maximum(yy, 1))
    groups = np.flatnonzero(varies)
    sums = select_groups(sums, groups.tolist())
    x, y, xx, yy, spread, xy = (column[varies] for column in (x, y, xx, yy, spread, xy))
    value = np.clip((xy - x * y) / spread, -1.0, 1.0)
    at, count = sums.group, sums.count[:, 0]
    sum_x, sum_y, sum_xx, sum_yy, sum_xy = sums.total.T
    # Sums over a deal of u v, u^2 and v^2, with u and v standardized.
    uv = (sum_xy - x[at] * sum_y - y[at] * sum_x + (x * y)[at] * count) / spread[at]
    uu = (sum_xx - 2 * x[at] * sum_x + (x * x)[at] * count) / (xx - x * x)[at]
    vv = (sum_yy - 2 * y[at] * sum_y + (y * y)[at] * count) / (yy - y * y)[at]
    slope = 2 * value if is_squared else np.ones(len(value))
    size = np.bincount(at, count, len(groups))
    influence = (slope[at] * (uv - value[at] / 2 * (uu + vv))) / size[at]
    moments = _sum_moments(influence, count, at, len(groups))
    bounds = (0.0, 1.0) if is_squared else (-1.0, 1.0)
    return _make_frame(sums.keys, outcome, value**2 if is_squared else value, moments, bounds)


def scatter_influence(sums: Sums) -> tuple[Array, Array]:
    """Return the means (groups x outcomes; NaN where there is none) and each deal's part in their errors.

    The second array is (deals x groups x outcomes); a group that a deal does not touch has zeros there.
    """
    means, influence = _means(sums)
    _, deal = np.unique(sums.deal, return_inverse=True)
    dense = np.zeros((int(deal.max()) + 1 if len(deal) else 0, *means.shape))
    dense[deal, sums.group] = influence
    return means, dense


def read_crossing(found: Crossing) -> tuple[float, float, float]:
    """Return a crossing and the ends of its interval; NaN where there is none, and where nothing determines it."""
    value = found.value if found.is_determined else None
    known, low, high = (math.nan if number is None else number for number in (value, found.low, found.high))
    return known, low, high


def describe_estimate(found: Estimate) -> dict[str, Any]:
    """Return an estimate of `azulsim.stats` as the columns of a frame; the ends are NaN where it has no interval."""
    known = found.method != "none"
    numbers = [found.low, found.high, found.se]
    low, high, se = numbers if known else [math.nan] * 3
    mde = found.mde if known else math.nan
    values = (found.value, low, high, se, found.n_rows, found.n_clusters, mde, found.note)
    return dict(zip(ESTIMATE_NUMBERS, values, strict=True))


def select_groups(sums: Sums, groups: Sequence[int]) -> Sums:
    """Return the sums of some groups only, in the order given."""
    inside = np.flatnonzero(np.isin(sums.group, groups))
    place = {group: i for i, group in enumerate(groups)}
    group = np.array([place[old] for old in sums.group[inside].tolist()], np.int64)
    return replace(
        sums,
        keys=sums.keys.loc[list(groups)].reset_index(drop=True),
        group=group,
        deal=sums.deal[inside],
        count=sums.count[inside],
        total=sums.total[inside],
    )


def _means(sums: Sums) -> tuple[Array, Array]:
    """Return the means (groups x outcomes) and each row's influence on its group's mean."""
    size = len(sums.keys)
    count = np.stack([np.bincount(sums.group, c, size) for c in sums.count.T], axis=1)
    total = np.stack([np.bincount(sums.group, t, size) for t in sums.total.T], axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = total / count
        influence = (sums.total - means[sums.group] * sums.count) / count[sums.group]
    # What rounding leaves of a constant outcome is no variation.
    influence[np.abs(influence) * count[sums.group] <= 1e-9] = 0.0
    return means, np.nan_to_num(influence)


def _other_keys(sums: Sums, split: str) -> list[str]:
    return [str(name) for name in sums.keys if name != split]


def outer_groups(keys: pd.DataFrame, others: list[str]) -> list[tuple[tuple[Any, ...], list[int]]]:
    """List the groups of the columns `others`: their values, and the rows of `keys` that have them."""
    found: dict[tuple[Any, ...], list[int]] = {}
    for i, row in enumerate(keys[others].itertuples(index=False, name=None)):
        found.setdefault(row, []).append(i)
    return list(found.items())


def _sum_moments(influence: Array, counts: Array, group: Array, size: int) -> dict[str, Array]:
    """Return what `make_estimates` needs to know of the deals of each group."""
    # Rows come sorted by group, nearly always: adding up stretches is several times faster than counting.
    is_sorted = bool((group[1:] >= group[:-1]).all())
    present, first = np.unique(group, return_index=True) if is_sorted else (group, group)

    def total(column: Array) -> Array:
        if not is_sorted:
            return np.bincount(group, column, size).astype(np.float64)
        sums = np.zeros(size)
        if len(first):
            sums[present] = np.add.reduceat(column.astype(np.float64), first)
        return sums

    with np.errstate(invalid="ignore", divide="ignore"):
        effective = total(counts) ** 2 / total(counts**2)
    squares = influence * influence
    return {
        "squares": total(squares),
        "thirds": total(squares * influence),  # a power of 3 or 4 takes NumPy twenty times as long as a product
        "fourths": total(squares * squares),
        "n_clusters": total((counts > 0).astype(np.float64)),
        "effective": effective,
        "n_rows": total(counts),
    }


def _make_frame(
    keys: pd.DataFrame,
    outcome: Outcome,
    values: Array,
    moments: dict[str, Array],
    bounds: tuple[float, float] | None,
    limits: tuple[float, float] | None = None,
) -> pd.DataFrame:
    """Return a row a group. Where no interval can be given its ends are NaN, and `note` says why."""
    frame = keys.assign(outcome=outcome.name, unit=outcome.unit, estimate=values, low=np.nan, high=np.nan, se=np.nan)
    frame["n"], frame["n_deals"] = moments["n_rows"].astype(np.int64), moments["n_clusters"].astype(np.int64)
    frame["mde"], frame["note"] = np.nan, NOT_SEEN
    seen = moments["n_rows"] > 0
    if seen.any():
        made = make_estimates(
            value=values[seen],
            bounds=bounds,
            limits=limits,
            level=LEVEL,
            **{name: moment[seen] for name, moment in moments.items()},
        )
        has_interval = np.array([method != "none" for method in made.method])
        for name in ("low", "high", "se", "mde"):
            frame.loc[seen, name] = np.where(has_interval, getattr(made, name), np.nan)
        frame.loc[seen, "note"] = list(made.note)
    return frame


def _interleave(parts: list[pd.DataFrame]) -> pd.DataFrame:
    """Put the rows of all outcomes of a group together."""
    return pd.concat(parts).sort_index(kind="stable").reset_index(drop=True)


def number_outcomes(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    """Turn outcomes that are numbers (bins, rounds) into a column of integers called `name`."""
    return frame.assign(outcome=frame["outcome"].astype(int)).rename(columns={"outcome": name})
