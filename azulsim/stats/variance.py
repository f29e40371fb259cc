"""What an outcome varies with: shares of variance, what is known after a round, and deals to tell two players apart.

All shares are parts of one whole, the variance of a single outcome, so they add up to 1. Estimates are freed of the
noise that finite numbers of deals and of repeats put into squares; they may thus come out a little below 0 and are then
given as 0. Standard errors are those of the jackknife over deals.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from azulsim.errors import InputError
from azulsim.stats._arrays import FloatArray, check_codes, check_level, check_values, encode_ids, freeze
from azulsim.stats.intervals import NO_VARIATION, POWER, Estimate, Estimates, estimate_mean

SOURCES = (
    "skill",
    "seat",
    "skill x seat",
    "deal",
    "deal x seat",
    "deal x skill",
    "deal x skill x seat",
    "decisions",
)
"""What the variance of an outcome is split into: two main causes and how they join, the deal and how it joins them."""
NOT_REPEATED = "decisions were not repeated: any noise in them counts with the deal"
DECIDED = "no continuation ends otherwise than the others of its root"
TOO_FEW = "too few clusters or continuations: no interval can be given"
Z95 = float(special.ndtri(0.95))
"""Standard errors by which the better player leads with probability .95."""


@dataclass(frozen=True, eq=False)
class VarianceShares:
    """Shares of the variance of an outcome, one entry a source; they add up to 1 but for what was cut off at 0."""

    sources: tuple[str, ...]
    share: Estimates
    component: FloatArray
    """The variances themselves, in squared units of the outcome."""
    luck: Estimate
    """All but skill and the fixed seat terms: the share of the deal, of what joins it, and of decisions."""
    total: float
    """The variance of one outcome."""
    note: str = ""

    def __post_init__(self) -> None:
        """Make the components read-only."""
        freeze(self.component)

    def get(self, source: str) -> Estimate:
        """Return the share of one source."""
        if source not in self.sources:
            raise InputError(f"source {source!r}: must be one of {', '.join(self.sources)}")
        return self.share[self.sources.index(source)]


def estimate_variance_shares(table: npt.ArrayLike, *, level: float = 0.95) -> VarianceShares:
    """Split the variance of an outcome among skill, seat, deal, decisions and how they join.

    Who sits where is drawn evenly from those seen; deals and decisions are drawn anew. The variance of one outcome is
    then the sum of the parts that its conditional means explain (functional analysis of variance), estimated from the
    expected mean squares of the balanced table.

    Parameters
    ----------
    table : (deals, lineups, players, seats) or (deals, lineups, players, seats, repeats) floats
        The outcome of a line-up's i-th player at each seat on each deal. Repeats play the same deal and seats with new
        decisions; entry m of all players and seats comes from the same repeat. Parts are averaged over line-ups.
    level : float
        Level of the intervals.

    Raises
    ------
    InputError
        For another shape, numbers that are not finite, or fewer than three deals.
    """
    cells = np.asarray(table, np.float64)
    check_level(level)
    if cells.ndim == 4:
        cells = cells[..., None]
    if cells.ndim != 5 or not cells.size or len(cells) < 3:
        raise InputError(f"table {cells.shape}: wanted (deals, lineups, players, seats[, repeats]), at least 3 deals")
    if not np.isfinite(cells).all():
        raise InputError("table: must be finite")
    repeats = cells.shape[-1]
    noise = np.zeros(len(cells))
    parts = []
    for piece in _project(cells):
        mean = piece.mean(axis=-1)
        own = np.zeros(len(cells))
        if repeats > 1:
            own = ((piece - mean[..., None]) ** 2).mean(axis=(1, 2, 3)).sum(axis=1) / (repeats - 1)
        noise += own
        parts.append((mean.reshape(len(cells), -1), own / repeats))
    components = _combine(parts, noise)
    estimate, errors = components[0], components[1:]
    total = float(estimate.sum())
    note = "" if repeats > 1 else NOT_REPEATED
    if total <= 0:
        raise InputError("table: the outcome never varied")
    left_out = errors / errors.sum(axis=1, keepdims=True)
    shares = estimate / total
    se = _jackknife(left_out)
    luck = float(_jackknife(left_out[:, 3:].sum(axis=1, keepdims=True))[0])
    n_deals, n_rows = len(cells), cells.size
    return VarianceShares(
        sources=SOURCES,
        share=_make_shares(shares, se, n_deals, n_rows, level, note),
        component=np.maximum(estimate, 0.0),
        luck=_make_shares(shares[3:].sum(keepdims=True), np.array([luck]), n_deals, n_rows, level, note)[0],
        total=total,
        note=note,
    )


def _project(cells: FloatArray) -> list[FloatArray]:
    """Split each line-up's table of players and seats into its mean, players' and seats' parts, and the rest."""
    player, seat = cells.mean(axis=3, keepdims=True), cells.mean(axis=2, keepdims=True)
    mean = player.mean(axis=2, keepdims=True)
    whole = np.zeros_like(cells)
    return [mean + whole, player - mean + whole, seat - mean + whole, cells - player - seat + mean]


def _combine(parts: list[tuple[FloatArray, FloatArray]], noise: FloatArray) -> FloatArray:
    """Return the components from all deals (row 0) and from all deals but one (a row a deal), (deals + 1, sources)."""
    n_deals = len(noise)
    fixed, random = [], []
    count = np.concatenate([[n_deals], np.full(n_deals, n_deals - 1)])
    for vectors, own in parts:
        total = vectors.sum(axis=0)
        squares = (vectors**2).sum(axis=1)
        whole = float(total @ total)
        length = np.concatenate([[whole], whole - 2 * vectors @ total + squares]) / vectors.shape[1]
        square = _leave_out(squares) / vectors.shape[1]
        spread = (square - length / count) / (count - 1)
        fixed.append(length / count**2 - spread / count)
        random.append(spread - _leave_out(own) / count)
    _, skill, seat, both = fixed
    deal, by_skill, by_seat, rest = random
    decisions = _leave_out(np.where(noise > 1e-24 * square.mean(), noise, 0.0)) / count
    return np.column_stack([skill, seat, both, deal, by_seat, by_skill, rest, decisions])


def _leave_out(values: FloatArray) -> FloatArray:
    """Return the sum of all, and the sums of all but one."""
    return np.concatenate([[values.sum()], values.sum() - values])


def _jackknife(left_out: FloatArray) -> FloatArray:
    n = len(left_out)
    return np.asarray(np.sqrt((n - 1) / n * ((left_out - left_out.mean(axis=0)) ** 2).sum(axis=0)))


def _make_shares(
    shares: FloatArray, se: FloatArray, n_clusters: int, n_rows: int, level: float, note: str
) -> Estimates:
    """Turn shares and their errors into estimates with t intervals, all cut off at 0 and 1."""
    t = float(special.stdtrit(n_clusters - 1, 0.5 + level / 2))
    z = float(special.ndtri(0.5 + level / 2) + special.ndtri(POWER))
    size = len(shares)
    return Estimates(
        value=np.clip(shares, 0.0, 1.0),
        low=np.clip(shares - t * se, 0.0, 1.0),
        high=np.clip(shares + t * se, 0.0, 1.0),
        se=se,
        n_clusters=np.full(size, n_clusters, np.int64),
        n_rows=np.full(size, n_rows, np.int64),
        mde=np.minimum(z * se, 1.0),
        df=np.full(size, n_clusters - 1.0),
        method=tuple("t" for _ in range(size)),
        note=(note,) * size,
        level=level,
    )


def estimate_known_shares(
    outcomes: npt.ArrayLike,
    rounds: npt.ArrayLike,
    roots: npt.ArrayLike,
    clusters: npt.ArrayLike,
    *,
    n_rounds: int | None = None,
    level: float = 0.95,
) -> Estimates:
    """Estimate how much of an outcome is decided by each round: Var(E[Y | what happened so far]) / Var(Y).

    Each root (a game at the start of a round, seen by one player) is continued several times with new tiles and
    decisions. What varies between continuations of a root is not decided yet; the variance of the roots' means, less
    what that noise adds to them, is (one-way random effects).

    Parameters
    ----------
    outcomes : (n,) floats
        The outcome of each continuation. For a game that is over, the outcome as it is, twice at least.
    rounds : (n,) codes counted from 0
        The round at whose start the root lies.
    roots : (n,) ids
        The root of each continuation; a root lies in one round and one cluster.
    clusters : (n,) ids
        The deal of each continuation.
    n_rounds : int, optional
        Number of rounds, to be sure that none is missing.
    level : float
        Level of the intervals, of the ratio of mean squares on the scale of its logarithm.

    Returns
    -------
    Estimates
        One entry a round. Where the outcome never varied, 0 to 1 with a note.

    Raises
    ------
    InputError
        For columns of unequal length, a round without roots or whose roots have one continuation each, a root in two
        rounds or clusters.
    """
    y = check_values(outcomes, "outcomes")
    check_level(level)
    size = len(y)
    round_codes = check_codes(rounds, size, "rounds", n_codes=n_rounds)
    n_rounds = int(round_codes.max()) + 1 if n_rounds is None else n_rounds
    _, root = np.unique(encode_ids(roots, size, "roots")[0], return_inverse=True)
    cluster, _ = encode_ids(clusters, size, "clusters")
    first = np.unique(root, return_index=True)[1]
    if (round_codes != round_codes[first][root]).any() or (cluster != cluster[first][root]).any():
        raise InputError("roots: a root lies in two rounds or two clusters")
    count = np.bincount(root).astype(np.float64)
    mean = np.bincount(root, y) / count
    within = np.bincount(root, (y - mean[root]) ** 2)
    columns: list[Estimate] = []
    for code in range(n_rounds):
        mine = round_codes[first] == code
        if not mine.any():
            raise InputError(f"rounds: round {code} has no roots")
        if (count[mine] < 2).all():
            raise InputError(f"roots: those of round {code} have one continuation each; at least two are needed")
        columns.append(_know(mean[mine], count[mine], within[mine], cluster[first][mine], level))
    return Estimates(
        **{
            name: np.array([getattr(e, name) for e in columns])
            for name in ("value", "low", "high", "se", "n_clusters", "n_rows", "mde", "df")
        },
        method=tuple(e.method for e in columns),
        note=tuple(e.note for e in columns),
        level=level,
    )


def _know(
    mean: FloatArray, count: FloatArray, within: FloatArray, clusters: npt.NDArray[np.int64], level: float
) -> Estimate:
    """Estimate the share known at one round from its roots' means, numbers of continuations and squares within."""
    _, codes = np.unique(clusters, return_inverse=True)
    center = float(np.average(mean, weights=count))
    # Centered sums lose nothing to rounding when one cluster is left out.
    columns = (
        np.ones_like(count),
        count,
        count**2,
        count * (mean - center),
        count * (mean - center) ** 2,
        within,
    )
    by_cluster = np.column_stack([np.bincount(codes, column) for column in columns])
    n_clusters = len(by_cluster)
    empty = Estimate(0.0, 0.0, 1.0, 0.0, n_clusters, int(count.sum()), level, mde=1.0, method="none")
    sums = np.column_stack([_leave_out(column) for column in by_cluster.T])
    if n_clusters < 3 or (sums[:, 0] < 2).any() or (sums[:, 1] <= sums[:, 0]).any():
        return Estimate(**(vars(empty) | {"note": TOO_FEW}))
    between, inside = sums[:, 4], sums[:, 5]
    if between[0] + inside[0] == 0:
        return Estimate(**(vars(empty) | {"note": NO_VARIATION}))
    if (inside <= 1e-12 * between).any():
        return Estimate(**(vars(empty) | {"value": 1.0, "low": 1.0, "note": DECIDED}))
    ratio, size = _compare_squares(sums)
    log = np.log(np.maximum(ratio, 1e-12))
    se = float(_jackknife(log[1:, None])[0])
    reach = float(special.stdtrit(n_clusters - 1, 0.5 + level / 2)) * se
    value, low, high = (
        float(np.clip(f / (f + size[0]), 0.0, 1.0)) for f in (np.exp(log[0] + d) - 1 for d in (0.0, -reach, reach))
    )
    plain = float(_jackknife(((ratio - 1) / (ratio - 1 + size))[1:, None])[0])
    z = float(special.ndtri(0.5 + level / 2) + special.ndtri(POWER))
    made = {"value": value, "low": low, "high": high, "se": plain, "mde": min(z * plain, 1.0), "method": "t"}
    return Estimate(**(vars(empty) | made | {"df": n_clusters - 1.0}))


def _compare_squares(sums: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the ratio of mean squares between and within roots, and the effective number of continuations a root."""
    roots, rows, rows_squared, off, between, within = sums.T
    error = within / (rows - roots)
    effective = (rows - rows_squared / rows) / (roots - 1)
    return (between - off**2 / rows) / (roots - 1) / np.maximum(error, 1e-300), effective


@dataclass(frozen=True)
class Separation:
    """Deals needed until the better of two players leads with probability .95."""

    value: float | None
    """None if no difference was seen at all."""
    low: float
    high: float | None
    """None: the data do not exclude that the two play equally well, so that no number of deals would do."""
    difference: Estimate
    level: float


def estimate_separation(
    differences: npt.ArrayLike, clusters: npt.ArrayLike | None = None, *, level: float = 0.95
) -> Separation:
    """Estimate how many deals tell two players apart: (1.645 sd / mean)^2 of the difference between deals.

    Parameters
    ----------
    differences : (n,) floats
        The first player's outcome less the second's, one a row.
    clusters : (n,) ids, optional
        The deal of each row; left out, each row is a deal.
    level : float
        Level of the interval, which is that of mean / sd.

    Raises
    ------
    InputError
        As in `estimate_mean`, and for fewer than three deals or no variation between them.
    """
    x = check_values(differences, "differences")
    codes, _ = encode_ids(np.arange(len(x)) if clusters is None else clusters, len(x), "clusters")
    mean = estimate_mean(x, codes, level=level)
    n = mean.n_clusters
    if n < 3 or mean.se == 0:
        raise InputError(f"differences: {n} deals; at least three that do not all give the same are needed")
    _, codes = np.unique(codes, return_inverse=True)
    influence = np.bincount(codes, x - mean.value) * n / len(x)
    unit = influence / influence.std()
    ratio = mean.value / (mean.se * np.sqrt(n))
    skewness, kurtosis = float((unit**3).mean()), float((unit**4).mean())
    error = np.sqrt(max(1 - ratio * skewness + ratio**2 * (kurtosis - 1) / 4, 0.0) / n)
    reach = float(special.stdtrit(mean.df, 0.5 + level / 2)) * float(error)
    strength = abs(ratio)
    return Separation(
        value=(Z95 / strength) ** 2 if strength > 0 else None,
        low=(Z95 / (strength + reach)) ** 2,
        high=(Z95 / (strength - reach)) ** 2 if strength > reach else None,
        difference=mean,
        level=level,
    )
