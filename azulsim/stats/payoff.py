"""Who finishes ahead of whom: the pairwise matrix, at any number of players."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy import special

from azulsim.errors import InputError
from azulsim.stats._arrays import FloatArray, IntArray, check_codes, check_level, check_values, encode_ids, freeze
from azulsim.stats.intervals import POWER, Estimate, Estimates, estimate_by_group

NEVER_MET = "never met"
NO_DIFFERENCE = "no difference between players stands out from noise"


@dataclass(frozen=True, eq=False)
class Payoffs:
    """Share of games in which the row player finishes ahead of the column player, ties counting half.

    Matrices are (players, players); `share[i, j] + share[j, i] == 1`. Pairs that never met, and the diagonal, hold
    .5 with the interval 0 to 1 (the diagonal: .5 to .5) and no clusters.
    """

    share: FloatArray
    low: FloatArray
    high: FloatArray
    se: FloatArray
    n_clusters: IntArray
    n_rows: IntArray
    """Meetings: a game counts once for each pair of seats."""
    mean: FloatArray
    """Mean share of each player over the others it met, each opponent counting the same; .5 if it met nobody."""
    level: float
    _pairs: dict[tuple[int, int], Estimate]

    def __post_init__(self) -> None:
        """Make the matrices read-only."""
        for array in (self.share, self.low, self.high, self.se, self.n_clusters, self.n_rows, self.mean):
            freeze(array)

    def cell(self, row: int, column: int) -> Estimate:
        """Return the estimate of one pair."""
        size = len(self.share)
        if not (0 <= row < size and 0 <= column < size):
            raise InputError(f"cell ({row}, {column}): players count from 0 to {size - 1}")
        if row == column:
            return Estimate(0.5, 0.5, 0.5, 0.0, 0, 0, self.level, method="none", note="the same player")
        empty = Estimate(0.5, 0.0, 1.0, 0.0, 0, 0, self.level, mde=1.0, method="beta", note=NEVER_MET)
        return self._pairs.get((row, column), empty)


def estimate_payoffs(
    games: npt.ArrayLike,
    players: npt.ArrayLike,
    placements: npt.ArrayLike,
    clusters: npt.ArrayLike,
    *,
    n_players: int | None = None,
    level: float = 0.95,
) -> Payoffs:
    """Estimate how often each player finishes ahead of each other, clustered by deal across line-ups.

    Parameters
    ----------
    games : (n,) ids
        The game of each row; a row is a game and seat.
    players : (n,) codes counted from 0
        Who sat there; a player may sit twice in a game (its own pairs are left out).
    placements : (n,) numbers
        Place in the game, less is better, ties equal.
    clusters : (n,) ids
        The deal of each row; line-ups that share deals share clusters.
    n_players : int, optional
        Number of players, when some may have no rows.
    level : float
        Level of the intervals.

    Raises
    ------
    InputError
        For columns of unequal length, placements that are not finite, codes out of range, a game in two clusters.
    """
    places = check_values(placements, "placements")
    size = len(places)
    check_level(level)
    codes = check_codes(players, size, "players", n_codes=n_players)
    n_players = int(codes.max()) + 1 if n_players is None else n_players
    game_codes, _ = encode_ids(games, size, "games")
    cluster_codes, _ = encode_ids(clusters, size, "clusters")
    order = np.lexsort((places, codes, game_codes))
    places = places[order]
    codes, game_codes, cluster_codes = (a[order] for a in (codes, game_codes, cluster_codes))
    same_game = game_codes[1:] == game_codes[:-1]
    if (same_game & (cluster_codes[1:] != cluster_codes[:-1])).any():
        raise InputError("clusters: a game lies in two clusters, but all its rows share one deal")
    first, second = _pairs_of_rows(game_codes)
    keep = codes[first] != codes[second]
    first, second = first[keep], second[keep]
    ahead = 0.5 + 0.5 * np.sign(places[second] - places[first])
    pair = codes[first] * n_players + codes[second]
    met, groups = np.unique(pair, return_inverse=True)
    shape = (n_players, n_players)
    matrices = _empty_matrices(n_players)
    pairs: dict[tuple[int, int], Estimate] = {}
    if len(met):
        estimates = estimate_by_group(ahead, groups, cluster_codes[first], bounds=(0.0, 1.0), level=level)
        rows, columns = met // n_players, met % n_players
        _fill(matrices, estimates, rows, columns)
        for index, (row, column) in enumerate(zip(rows.tolist(), columns.tolist(), strict=True)):
            pairs[row, column] = estimates[index]
            pairs[column, row] = _mirror(estimates[index])
    seen = np.zeros(shape)
    seen[matrices["n_clusters"] > 0] = 1.0
    opponents = seen.sum(axis=1)
    mean = np.where(opponents > 0, (matrices["share"] * seen).sum(axis=1) / np.maximum(opponents, 1), 0.5)
    return Payoffs(
        share=matrices["share"],
        low=matrices["low"],
        high=matrices["high"],
        se=matrices["se"],
        n_clusters=matrices["n_clusters"].astype(np.int64),
        n_rows=matrices["n_rows"].astype(np.int64),
        mean=mean,
        level=level,
        _pairs=pairs,
    )


def assess_cycles(
    shares: npt.ArrayLike, influence: npt.ArrayLike, meetings: npt.ArrayLike, *, level: float = 0.95
) -> Estimate:
    """Estimate the cyclic share: how much of who beats whom no single strength a player can explain.

    The log odds A of the shares split into differences of strengths (the means of the rows) and a cyclic rest C (Hodge
    decomposition); the cyclic share is |C|^2/|A|^2, 0 if one number a player says it all, 1 for rock, paper, scissors.
    Noise alone makes |A|^2 and, more so, |C|^2 too great; its part is subtracted from both.

    Parameters
    ----------
    shares : (n, n) floats
        How often the row finishes ahead of the column; `shares + shares.T == 1` off the diagonal.
    influence : (clusters, n, n) floats
        Each cluster's part in the error of each share, antisymmetric, summing to 0 over clusters.
    meetings : (n, n) numbers
        Meetings behind each share; half a win and half a loss are added to each, so that log odds are finite.
    level : float
        Level of the interval, which is cut off at 0 and 1.

    Raises
    ------
    InputError
        For fewer than three players, shapes that do not fit, or a pair that never met.
    """
    check_level(level)
    share, error, count = check_meetings(shares, influence, meetings, least=3)
    n = len(share)
    first, second = np.triu_indices(n, 1)
    size = count[first, second]
    shrunk = (share[first, second] * size + 0.5) / (size + 1)
    odds = special.logit(shrunk)
    noise = error[:, first, second] * (size / (size + 1) / (shrunk * (1 - shrunk)))
    cyclic, cyclic_noise = _drop_strengths(odds[None], n)[0], _drop_strengths(noise, n)
    n_clusters = len(noise)
    more = n_clusters / max(n_clusters - 1, 1)
    whole = float(odds @ odds) - more * float((noise**2).sum())
    part = float(cyclic @ cyclic) - more * float((cyclic_noise**2).sum())
    empty = Estimate(0.0, 0.0, 1.0, 0.0, n_clusters, int(size.sum()), level, mde=1.0, method="none", note=NO_DIFFERENCE)
    if n_clusters < 2 or whole <= 0:
        return empty
    kappa = min(max(part / whole, 0.0), 1.0)
    # The variance of a quadratic form v'Mv with M = P - kappa I, where P takes strengths out, and v is normal.
    outer = more * (cyclic_noise.T @ noise - kappa * noise.T @ noise)
    twice = 2 * float((outer * outer.T).sum())
    slope = more * float(((cyclic_noise @ cyclic - kappa * noise @ odds) ** 2).sum())
    se = float(np.sqrt(max(4 * slope - twice, twice))) / whole
    plain = more * cyclic_noise.T @ cyclic_noise
    null = float(np.sqrt(2 * (plain * plain).sum())) / whole
    t = float(special.stdtrit(n_clusters - 1, 0.5 + level / 2))
    return replace(
        empty,
        value=kappa,
        low=max(part / whole - t * se, 0.0),
        high=min(max(part / whole + t * se, kappa), 1.0),
        se=se,
        mde=min(float(special.ndtri(0.5 + level / 2) + special.ndtri(POWER)) * null, 1.0),
        method="t",
        note="",
    )


def check_meetings(
    shares: npt.ArrayLike, influence: npt.ArrayLike, meetings: npt.ArrayLike, *, least: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return who finishes ahead of whom as arrays of fitting shapes, for `least` players or more who all met."""
    share, error, count = (np.asarray(a, np.float64) for a in (shares, influence, meetings))
    n = len(share)
    if n < least or share.shape != (n, n) or count.shape != (n, n) or error.shape[1:] != (n, n):
        raise InputError(
            f"shares {share.shape}, influence {error.shape}: wanted (n, n) and (clusters, n, n), n >= {least}"
        )
    if not (count[np.triu_indices(n, 1)] > 0).all():
        raise InputError("meetings: some pair never met")
    return share, error, count


def _drop_strengths(odds: FloatArray, n: int) -> FloatArray:
    """Take from log odds of pairs (rows x pairs, in the order of `triu_indices`) what strengths explain."""
    first, second = np.triu_indices(n, 1)
    full = np.zeros((len(odds), n, n))
    full[:, first, second], full[:, second, first] = odds, -odds
    strength = full.mean(axis=2)
    return np.asarray(odds - (strength[:, first] - strength[:, second]))


def _pairs_of_rows(games: IntArray) -> tuple[IntArray, IntArray]:
    """Return the positions of all pairs of rows of one game, the earlier row first; `games` is sorted."""
    first, second = [], []
    for step in range(1, len(games)):
        start = np.flatnonzero(games[step:] == games[:-step])
        if not len(start):
            break
        first.append(start)
        second.append(start + step)
    if not first:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    return np.concatenate(first), np.concatenate(second)


def _empty_matrices(size: int) -> dict[str, FloatArray]:
    shape = (size, size)
    matrices = {name: np.zeros(shape) for name in ("low", "se", "n_clusters", "n_rows")}
    matrices |= {"share": np.full(shape, 0.5), "high": np.ones(shape)}
    for name in ("low", "high"):
        np.fill_diagonal(matrices[name], 0.5)
    return matrices


def _fill(matrices: dict[str, FloatArray], estimates: Estimates, rows: IntArray, columns: IntArray) -> None:
    mirrored = {"share": 1 - estimates.value, "low": 1 - estimates.high, "high": 1 - estimates.low}
    straight = {"share": estimates.value, "low": estimates.low, "high": estimates.high}
    for name, matrix in matrices.items():
        value = straight[name] if name in straight else getattr(estimates, name)
        matrix[rows, columns] = value
        matrix[columns, rows] = mirrored.get(name, value)


def _mirror(estimate: Estimate) -> Estimate:
    return replace(estimate, value=1 - estimate.value, low=1 - estimate.high, high=1 - estimate.low)
