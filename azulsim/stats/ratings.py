"""Ratings from placements: the Davidson-Luce model (Plackett-Luce with ties) with seat terms.

A game is a sequence of choices: from those still to be placed, who is next. With strength
eta = theta(player) + gamma(seat, number of players), a set T of t tied players is next with weight
delta_t * exp(mean of eta over T), delta_1 = 1 (Turner, van Etten, Firth and Kosmidis 2020); tie orders that never
occurred have no weight. Without ties this is Plackett-Luce, at two players Davidson's (1970) model, without seats
and ties Bradley-Terry. It is a concave multinomial logit, fitted by Newton's method on the distinct choices.

Theta sums to 0 over players, gamma over the seats of each number of players. The covariance is the sandwich
H^-1 (sum over clusters of g g') H^-1 * B/(B-1), g the score of all games of a cluster (deal): it holds whatever the
dependence within a deal, and where the model is only an approximation.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np
import numpy.typing as npt
from scipy import special
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from azulsim.errors import InputError
from azulsim.stats._arrays import FloatArray, IntArray, check_codes, check_level, check_values, encode_ids, freeze
from azulsim.stats.intervals import POWER, Estimate, Estimates, Method
from azulsim.stats.pairs import ELO_SCALE

MAX_SEATS = 8
"""A choice among n has up to 2^n - 1 tied sets."""
TOLERANCE, MAX_STEPS, MAX_STRENGTH = 1e-12, 60, 25.0


@dataclass(frozen=True, eq=False)
class Ratings:
    """Fitted strengths, all on one joint covariance."""

    theta: FloatArray
    """(players,) strengths, log odds scale, sum 0."""
    gamma: dict[int, FloatArray]
    """Seat terms by number of players, each summing to 0; empty when no seats were given."""
    log_delta: dict[int, float]
    """Log weight of ties by number tied, for those that occurred."""
    covariance: FloatArray
    """Of (theta, gamma in order of the number of players, log_delta in order of the number tied)."""
    influence: FloatArray
    """(clusters, parameters) each cluster's part in the error of the parameters, clusters in the order of their ids."""
    log_likelihood: float
    n_games: int
    n_clusters: int
    is_regularized: bool
    """True if a maximum did not exist (some players never lost to the rest, or never met them) and an L2 prior was
    added: then differences between those players depend on the prior."""
    level: float
    note: str = ""

    def __post_init__(self) -> None:
        """Make the arrays read-only."""
        for array in (self.theta, self.covariance, self.influence, *self.gamma.values()):
            freeze(array)

    @property
    def elo(self) -> Estimates:
        """Return Elo of each player against the mean of all players, with intervals of that difference."""
        return self._estimate(np.eye(len(self.theta), self._size), ELO_SCALE)

    def compare(self, first: int, second: int) -> Estimate:
        """Return the Elo difference first - second with its interval (from the joint covariance)."""
        size = len(self.theta)
        if not (0 <= first < size and 0 <= second < size) or first == second:
            raise InputError(f"players {first}, {second}: wanted two different players from 0 to {size - 1}")
        contrast = np.zeros((1, self._size))
        contrast[0, first], contrast[0, second] = 1.0, -1.0
        return self._estimate(contrast, ELO_SCALE)[0]

    def seat_effects(self, n_seats: int) -> Estimates:
        """Return Elo of each seat against the mean of the seats at this number of players."""
        if n_seats not in self.gamma:
            raise InputError(f"n_seats = {n_seats}: the fit has seat terms for {sorted(self.gamma) or 'no'} players")
        start = len(self.theta) + sum(len(terms) for n, terms in self.gamma.items() if n < n_seats)
        return self._estimate(np.eye(n_seats, self._size, start), ELO_SCALE)

    @property
    def _size(self) -> int:
        return len(self.covariance)

    @property
    def _parameters(self) -> FloatArray:
        parts = [self.theta, *self.gamma.values(), np.array(list(self.log_delta.values()))]
        return np.concatenate(parts)

    def _estimate(self, contrasts: FloatArray, scale: float) -> Estimates:
        value = contrasts @ self._parameters * scale
        variance = np.einsum("ki,ij,kj->k", contrasts, self.covariance, contrasts)
        se = np.sqrt(np.maximum(variance, 0.0)) * scale
        df = max(self.n_clusters - 1.0, 1.0)
        half = special.stdtrit(df, 0.5 + self.level / 2) * se
        z, power = special.ndtri(0.5 + self.level / 2), special.ndtri(POWER)
        size = len(value)
        method: tuple[Method, ...] = ("t",)
        return Estimates(
            value=value,
            low=value - half,
            high=value + half,
            se=se,
            n_clusters=np.full(size, self.n_clusters, np.int64),
            n_rows=np.full(size, self.n_games, np.int64),
            mde=(z + power) * se,
            df=np.full(size, df),
            method=method * size,
            note=(self.note,) * size,
            level=self.level,
        )


@dataclass(frozen=True, eq=False)
class _Choices:
    """All distinct choices among `m` members; the first `t` of a row were chosen."""

    index: IntArray
    """(u, features) parameter of each feature: members' players, members' seats, tie orders."""
    features: FloatArray
    """(alternatives, features): the same for all rows."""
    chosen: IntArray
    """(u,) the alternative that was chosen."""
    count: FloatArray
    """(u,) how often."""
    cluster: IntArray
    """(k,) cluster of each choice, sorted."""
    distinct: IntArray
    """(k,) its row above."""


def fit_ratings(
    games: npt.ArrayLike,
    players: npt.ArrayLike,
    placements: npt.ArrayLike,
    clusters: npt.ArrayLike,
    *,
    seats: npt.ArrayLike | None = None,
    n_players: int | None = None,
    level: float = 0.95,
    prior_sd: float = 2.0,
) -> Ratings:
    """Fit strengths of players (and seats) to placements; the order of the rows does not matter, to the last bit.

    Parameters
    ----------
    games : (n,) ids
        The game of each row; a row is a game and seat.
    players : (n,) codes counted from 0
        Every code up to the greatest (or `n_players`) needs a row.
    placements : (n,) numbers
        Place in the game, less is better, ties equal.
    clusters : (n,) ids
        The deal of each row; all rows of a game lie in one cluster.
    seats : (n,) codes counted from 0, optional
        Seat of each row, below the number of players of its game; left out, seats have no terms.
    n_players : int, optional
        Number of players, to be sure that none is missing.
    level : float
        Level of the intervals.
    prior_sd : float
        Standard deviation, in log odds, of the normal prior that is used only when no finite maximum exists.

    Returns
    -------
    Ratings
        100,000 games of ten players take a few seconds.

    Raises
    ------
    InputError
        For columns of unequal length, codes out of range, games with one player or more than 8, a game in two
        clusters or with a seat taken twice.
    """
    check_level(level)
    if not (np.isfinite(prior_sd) and prior_sd > 0):
        raise InputError(f"prior_sd = {prior_sd}: must be greater than 0")
    table, n_players, n_clusters = _read_games(games, players, placements, clusters, seats, n_players)
    return _fit(table, n_players, n_clusters, level, prior_sd)


def _read_games(
    games: npt.ArrayLike,
    players: npt.ArrayLike,
    placements: npt.ArrayLike,
    clusters: npt.ArrayLike,
    seats: npt.ArrayLike | None,
    n_players: int | None,
) -> tuple[_Table, int, int]:
    """Check the columns; return the games, the number of players and the number of clusters."""
    places = check_values(placements, "placements")
    size = len(places)
    codes = check_codes(players, size, "players", n_codes=n_players)
    n_players = int(codes.max()) + 1 if n_players is None else n_players
    missing = np.flatnonzero(np.bincount(codes, minlength=n_players) == 0)
    if len(missing):
        raise InputError(f"players: player {missing[0]} has no rows")
    if n_players < 2:
        raise InputError("players: at least two are needed")
    game_codes, _ = encode_ids(games, size, "games")
    cluster_codes, _ = encode_ids(clusters, size, "clusters")
    _, cluster_codes = np.unique(cluster_codes, return_inverse=True)
    seat_codes = None if seats is None else check_codes(seats, size, "seats")
    table = _Table.sort(game_codes, codes, places, cluster_codes.astype(np.int64), seat_codes)
    return table, n_players, int(cluster_codes.max()) + 1


@dataclass(frozen=True, eq=False)
class _Table:
    """Games by number of players n; each array is (games, n), the best place first."""

    players: dict[int, IntArray]
    places: dict[int, FloatArray]
    seats: dict[int, IntArray]
    clusters: dict[int, IntArray]
    has_seats: bool

    @classmethod
    def sort(
        cls, games: IntArray, players: IntArray, places: FloatArray, clusters: IntArray, seats: IntArray | None
    ) -> _Table:
        seat = np.zeros_like(players) if seats is None else seats
        order = np.lexsort((seat, players, places, games))
        places = places[order]
        games, players, clusters, seat = (a[order] for a in (games, players, clusters, seat))
        starts = np.flatnonzero(np.r_[True, games[1:] != games[:-1]])
        sizes = np.diff(np.r_[starts, len(games)])
        if sizes.min() < 2:
            raise InputError("games: a game has one row only; each seat of a game needs a row")
        if sizes.max() > MAX_SEATS:
            raise InputError(f"games: a game has {sizes.max()} rows; at most {MAX_SEATS} players are supported")
        table = cls({}, {}, {}, {}, has_seats=seats is not None)
        for n in np.unique(sizes).tolist():
            rows = starts[sizes == n][:, None] + np.arange(n)
            table.players[n], table.places[n] = players[rows], places[rows]
            table.seats[n], table.clusters[n] = seat[rows], clusters[rows]
            if (clusters[rows] != clusters[rows[:, :1]]).any():
                raise InputError("clusters: a game lies in two clusters, but all its rows share one deal")
            if seats is not None and (np.sort(seat[rows], axis=1) != np.arange(n)).any():
                raise InputError(f"seats: the seats of a game with {n} rows must be 0 to {n - 1}, each once")
        return table

    @property
    def n_games(self) -> int:
        return sum(len(rows) for rows in self.players.values())


def _fit(table: _Table, n_players: int, n_clusters: int, level: float, prior_sd: float) -> Ratings:
    offsets, n_seats = {}, 0
    for n in sorted(table.players):
        offsets[n] = n_seats
        n_seats += n if table.has_seats else 0
    raw = _split_choices(table, n_players, offsets)
    orders = tuple(sorted({int(t) for stage in raw.values() for t in np.unique(stage.tied) if t > 1}))
    size = n_players + n_seats + len(orders)
    choices = [_gather(stage, m, n_players, n_seats, orders) for m, stage in sorted(raw.items())]
    gauges = _gauges(n_players, offsets if table.has_seats else {}, size)
    exists = _is_strongly_connected(raw, n_players)
    beta = _maximize(choices, size, gauges, np.zeros(size)) if exists else None
    penalty = np.zeros(size)
    if beta is None:
        penalty = np.full(size, 1 / prior_sd**2)
        beta = _maximize(choices, size, gauges, penalty)
        if beta is None:
            raise InputError("placements: the ratings could not be fitted, even with a prior")
    log_likelihood, _, hessian = _evaluate(choices, beta)
    # The gauge directions are fixed by convention and carry no error.
    project = np.eye(size) - gauges / np.maximum(gauges.sum(axis=1, keepdims=True), 1.0)
    inverse = project @ np.linalg.inv(hessian + np.diag(penalty) + gauges) @ project.T
    influence = _cluster_scores(choices, beta, n_clusters) @ inverse
    covariance = inverse
    notes = []
    if n_clusters > 1:
        covariance = influence.T @ influence * n_clusters / (n_clusters - 1)
        if n_clusters < 3 * size:
            notes.append(f"only {n_clusters} clusters for {size} parameters: errors may be too small")
    else:
        notes.append("one cluster: errors are those of the model, as if games were independent")
    if penalty.any():
        notes.append(f"regularized: no finite maximum exists, a normal prior of sd {prior_sd:g} log odds was added")
    cut = n_players + n_seats
    return Ratings(
        theta=beta[:n_players].copy(),
        gamma={n: beta[n_players + o : n_players + o + n].copy() for n, o in offsets.items()} if n_seats else {},
        log_delta=dict(zip(orders, beta[cut:].tolist(), strict=True)),
        covariance=(covariance + covariance.T) / 2,
        influence=influence,
        log_likelihood=log_likelihood,
        n_games=table.n_games,
        n_clusters=n_clusters,
        is_regularized=bool(penalty.any()),
        level=level,
        note="; ".join(notes),
    )


@dataclass(frozen=True, eq=False)
class _Stage:
    """Choices among m members, chosen ones first: member codes (k, m), number chosen (k,), cluster (k,)."""

    members: IntArray
    tied: IntArray
    cluster: IntArray


def _split_choices(table: _Table, n_players: int, offsets: dict[int, int]) -> dict[int, _Stage]:
    """Split games into choices, by number of members; a member's code is seat term * n_players + player."""
    parts: dict[int, list[_Stage]] = {}
    for n, players in table.players.items():
        seat = offsets[n] + table.seats[n] if table.has_seats else 0
        codes, places = seat * n_players + players, table.places[n]
        for start in range(n - 1):
            begins = np.ones(len(codes), bool) if start == 0 else places[:, start] != places[:, start - 1]
            members, left = codes[begins, start:], places[begins, start:]
            is_chosen = left == left[:, :1]
            # Chosen members first, then in order of code, so that equal choices have equal rows.
            shift = np.int64(1) << 40
            members = np.sort(members + np.where(is_chosen, 0, shift), axis=1) & (shift - 1)
            stage = _Stage(members, is_chosen.sum(axis=1), table.clusters[n][begins, 0])
            parts.setdefault(n - start, []).append(stage)
    return {
        m: _Stage(*(np.concatenate([getattr(p, name) for p in some]) for name in ("members", "tied", "cluster")))
        for m, some in parts.items()
        if sum(len(p.tied) for p in some)
    }


def _gather(stage: _Stage, m: int, n_players: int, n_seats: int, orders: tuple[int, ...]) -> _Choices:
    """Gather equal choices, and lay out the features of their alternatives."""
    rows, distinct, count = np.unique(
        np.column_stack([stage.members, stage.tied]), axis=0, return_inverse=True, return_counts=True
    )
    sets = [s for t in (1, *orders) for s in combinations(range(m), t)]
    share = np.zeros((len(sets), m))
    ties = np.zeros((len(sets), len(orders)))
    for alternative, members in enumerate(sets):
        share[alternative, list(members)] = 1 / len(members)
        if len(members) > 1:
            ties[alternative, orders.index(len(members))] = 1.0
    first_of = {len(s): sets.index(tuple(range(len(s)))) for s in sets}
    lookup = np.array([first_of.get(t, 0) for t in range(m + 1)])
    tie_index = np.broadcast_to(n_players + n_seats + np.arange(len(orders)), (len(rows), len(orders)))
    player, seat = rows[:, :m] % n_players, n_players + rows[:, :m] // n_players
    has_seats = n_seats > 0
    index = np.concatenate([player, seat, tie_index] if has_seats else [player, tie_index], axis=1)
    features = np.concatenate([share, share, ties] if has_seats else [share, ties], axis=1)
    order = np.lexsort((distinct.ravel(), stage.cluster))
    return _Choices(
        index=index.astype(np.int64),
        features=features,
        chosen=lookup[rows[:, m]],
        count=count.astype(np.float64),
        cluster=stage.cluster[order],
        distinct=distinct.ravel()[order],
    )


def _gauges(n_players: int, offsets: dict[int, int], size: int) -> FloatArray:
    """Return a matrix that fills the null directions of the Hessian: equal shifts of all players, of all seats."""
    gauges = np.zeros((size, size))
    gauges[:n_players, :n_players] = 1.0
    for n, offset in offsets.items():
        start = n_players + offset
        gauges[start : start + n, start : start + n] = 1.0
    return gauges


def _is_strongly_connected(stages: dict[int, _Stage], n_players: int) -> bool:
    """True if for every split of the players some in each half beat or tied some in the other (Ford 1957)."""
    beats = np.zeros((n_players, n_players), bool)
    for m, stage in stages.items():
        players = stage.members % n_players
        for winner, other in permutations(range(m), 2):
            is_chosen = winner < stage.tied
            beats[players[is_chosen, winner], players[is_chosen, other]] = True
    return int(connected_components(coo_array(beats), directed=True, connection="strong", return_labels=False)) == 1


def _probabilities(choice: _Choices, beta: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the probability of each alternative, (u, alternatives), and the log probability of the chosen."""
    utility = beta[choice.index] @ choice.features.T
    total = special.logsumexp(utility, axis=1)
    log_chosen = utility[np.arange(len(utility)), choice.chosen] - total
    return np.exp(utility - total[:, None]), log_chosen


def _evaluate(choices: list[_Choices], beta: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    """Return log likelihood, gradient and negative Hessian."""
    size = len(beta)
    value, gradient, hessian = 0.0, np.zeros(size), np.zeros(size * size)
    for choice in choices:
        probability, log_chosen = _probabilities(choice, beta)
        x, width = choice.features, choice.features.shape[1]
        mean = probability @ x
        value += float(choice.count @ log_chosen)
        score = (x[choice.chosen] - mean) * choice.count[:, None]
        gradient += np.bincount(choice.index.ravel(), score.ravel(), minlength=size)
        products = (x[:, :, None] * x[:, None, :]).reshape(len(x), width * width)
        spread = probability @ products - (mean[:, :, None] * mean[:, None, :]).reshape(-1, width * width)
        spread *= choice.count[:, None]
        cell = choice.index[:, :, None] * size + choice.index[:, None, :]
        hessian += np.bincount(cell.ravel(), spread.ravel(), minlength=size * size)
    return value, gradient, hessian.reshape(size, size)


def _maximize(choices: list[_Choices], size: int, gauges: FloatArray, penalty: FloatArray) -> FloatArray | None:
    """Return the maximum by Newton steps, halved when they overshoot; None if there seems to be none."""
    beta = np.zeros(size)
    n_choices = sum(float(choice.count.sum()) for choice in choices)
    value, gradient, hessian = _evaluate(choices, beta)
    for _ in range(MAX_STEPS):
        curvature = hessian + np.diag(penalty) + gauges
        if np.linalg.eigvalsh(curvature)[0] < 1e-9 * n_choices / size**2:
            return None
        step = np.linalg.solve(curvature, gradient - penalty * beta)
        goal = value - float(penalty @ beta**2) / 2
        gain = float(step @ (gradient - penalty * beta))
        length = 1.0
        while True:
            trial = beta + length * step
            new_value, new_gradient, new_hessian = _evaluate(choices, trial)
            new_goal = new_value - float(penalty @ trial**2) / 2
            if new_goal >= goal - 1e-12 * abs(goal) or length < 1e-6:
                break
            length /= 2
        beta, value, gradient, hessian = trial, new_value, new_gradient, new_hessian
        if np.abs(beta).max() > MAX_STRENGTH:
            return None
        if gain < TOLERANCE * max(1.0, n_choices):
            return beta
    return None


def _cluster_scores(choices: list[_Choices], beta: FloatArray, n_clusters: int) -> FloatArray:
    """Return the gradient of each cluster's games, (clusters, parameters)."""
    size = len(beta)
    scores = np.zeros(n_clusters * size)
    for choice in choices:
        probability, _ = _probabilities(choice, beta)
        score = choice.features[choice.chosen] - probability @ choice.features
        cell = choice.cluster[:, None] * size + choice.index[choice.distinct]
        scores += np.bincount(cell.ravel(), score[choice.distinct].ravel(), minlength=n_clusters * size)
    return scores.reshape(n_clusters, size)


@dataclass(frozen=True, eq=False)
class RatingFit:
    """Who finishes ahead of whom as seen and as the ratings have it; matrices are (players, players)."""

    observed: FloatArray
    """Share of meetings in which the row finishes ahead of the column, ties half; .5 where the two never met."""
    implied: FloatArray
    """The mean over the same meetings of the share that the ratings give."""
    se: FloatArray
    """Of observed - implied, the ratings being fitted to the same games."""
    z: FloatArray
    """(observed - implied) / se; 0 where the fit leaves no room for a difference."""
    meetings: IntArray
    p_value: float
    """Of the greatest |z|, corrected for the number of pairs (Sidak): small where the ratings do not fit."""
    misfit: float
    """Root mean square over pairs of the true observed - implied, freed of noise; 0 if noise explains it all."""
    n_clusters: int
    note: str = ""

    def __post_init__(self) -> None:
        """Make the matrices read-only."""
        for array in (self.observed, self.implied, self.se, self.z, self.meetings):
            freeze(array)


def assess_fit(
    ratings: Ratings,
    games: npt.ArrayLike,
    players: npt.ArrayLike,
    placements: npt.ArrayLike,
    clusters: npt.ArrayLike,
    *,
    seats: npt.ArrayLike | None = None,
) -> RatingFit:
    """Compare who finishes ahead of whom with what fitted ratings say, pair by pair.

    Parameters
    ----------
    ratings : Ratings
        What `fit_ratings` made of these games.
    games, players, placements, clusters, seats
        The columns that it was made of.

    Raises
    ------
    InputError
        As in `fit_ratings`, and if the ratings are of other games.
    """
    n = len(ratings.theta)
    table, n_players, n_clusters = _read_games(games, players, placements, clusters, seats, n)
    if (n_players, n_clusters, table.n_games) != (n, ratings.n_clusters, ratings.n_games):
        raise InputError("ratings: were not made of these games")
    beta, n_seats = ratings._parameters, sum(len(terms) for terms in ratings.gamma.values())
    deltas = slice(n + n_seats, None)
    meetings: list[tuple[IntArray, IntArray, FloatArray, FloatArray]] = []
    slope = np.zeros((n * n, ratings._size))
    first_seat = n
    for size in sorted(table.players):
        seat = first_seat + table.seats[size] if n_seats else table.seats[size]
        first_seat += size if n_seats else 0
        order = np.argsort(seat * n + table.players[size], axis=1, kind="stable")
        who, where = (np.take_along_axis(codes, order, axis=1) for codes in (table.players[size], seat))
        place = np.take_along_axis(table.places[size], order, axis=1)
        lineup, row, count = np.unique(np.stack([who, where], axis=2), axis=0, return_inverse=True, return_counts=True)
        row, who, where = row.ravel(), lineup[:, :, 0], lineup[:, :, 1]

        def imply(beta: FloatArray, who: IntArray = who, where: IntArray = where) -> FloatArray:
            utility = beta[who] + (beta[where] if n_seats else 0.0)
            return _imply_pairs(utility, dict(zip(ratings.log_delta, beta[deltas].tolist(), strict=True)))

        expected = imply(beta)
        slopes = [(imply(beta + step) - imply(beta - step)) / (2 * STEP) for step in STEP * np.eye(len(beta))]
        cluster = table.clusters[size][:, 0]
        for one, two in permutations(range(size), 2):
            pair = who[:, one] * n + who[:, two]
            seen = 0.5 + 0.5 * np.sign(place[:, two] - place[:, one])
            meetings.append((pair[row], cluster, seen, expected[row, one, two]))
            for parameter, change in enumerate(slopes):
                slope[:, parameter] += np.bincount(pair, change[:, one, two] * count, n * n)
    pairs, clusters_met, seen, expected = (np.concatenate(column) for column in zip(*meetings, strict=True))
    return _judge_fit(ratings, pairs, clusters_met, seen, expected, slope)


NO_FREEDOM = "the ratings can fit every pair, so that nothing is tested"
PRIOR_HOLDS = "a prior keeps the ratings finite, so that their fit is not tested"
STEP, NO_ROOM = 1e-4, 1e-6
"""Of the numerical slopes, in log odds; and the error of a share below which only rounding is left of it."""


def _imply_pairs(utility: FloatArray, log_delta: dict[int, float]) -> FloatArray:
    """Return the probability that one member of a game finishes ahead of another, ties half: (games, m, m).

    All ways in which the placing can go are followed: `reach[s]` is the probability that the set s of members is left.
    """
    n_games, m = utility.shape
    ahead = np.zeros((n_games, m, m))
    weight = {}
    for chosen in range(1, 1 << m):
        members = [i for i in range(m) if chosen >> i & 1]
        if len(members) == 1 or len(members) in log_delta:
            weight[chosen] = np.exp(utility[:, members].mean(axis=1) + log_delta.get(len(members), 0.0))
    reach = {(1 << m) - 1: np.ones(n_games)}
    for left in range((1 << m) - 1, 0, -1):
        if left not in reach:
            continue
        sets = [chosen for chosen in weight if chosen & ~left == 0]
        total = sum(weight[chosen] for chosen in sets)
        for chosen in sets:
            chance = reach[left] * weight[chosen] / total
            rest = left & ~chosen
            reach[rest] = reach.get(rest, 0.0) + chance
            for one in range(m):
                for two in range(m):
                    if chosen >> one & 1 and one != two and left >> two & 1:
                        ahead[:, one, two] += chance * (0.5 if chosen >> two & 1 else 1.0)
    return ahead


def _judge_fit(
    ratings: Ratings, pairs: IntArray, clusters: IntArray, seen: FloatArray, expected: FloatArray, slope: FloatArray
) -> RatingFit:
    n, n_clusters = len(ratings.theta), ratings.n_clusters
    other = pairs // n != pairs % n
    pairs, clusters, seen, expected = (column[other] for column in (pairs, clusters, seen, expected))
    meetings = np.bincount(pairs, minlength=n * n)
    ahead, implied = np.bincount(pairs, seen, n * n), np.bincount(pairs, expected, n * n)
    size = np.maximum(meetings, 1)
    residual = np.asarray((ahead - implied) / size)
    cell = clusters * n * n + pairs
    own = np.bincount(cell, (seen - expected - residual[pairs]) / size[pairs], n_clusters * n * n)
    error = own.reshape(n_clusters, n * n) - ratings.influence @ (slope / size[:, None]).T
    se = np.sqrt((error**2).sum(axis=0) * n_clusters / max(n_clusters - 1, 1))
    # A pair that always ended one way shows no error of its own: it has that of the share which the ratings give.
    given = implied / size
    fixed = ~own.reshape(n_clusters, n * n).round(12).any(axis=0)
    se = np.where(fixed, np.sqrt(given * (1 - given) / size), se)
    free = (se > NO_ROOM) & (meetings > 0) & (n_clusters > 1)
    z = np.where(free, residual / np.where(free, se, 1.0), 0.0)
    n_free = int(free.sum()) // 2
    note = PRIOR_HOLDS if ratings.is_regularized else "" if n_free else NO_FREEDOM
    tail = 2 * float(special.stdtr(max(n_clusters - 1, 1), -np.abs(z).max()))
    excess = (residual**2 - se**2)[meetings > 0]
    shape = (n, n)
    return RatingFit(
        observed=np.where(meetings > 0, ahead / size, 0.5).reshape(shape),
        implied=np.where(meetings > 0, given, 0.5).reshape(shape),
        se=se.reshape(shape),
        z=z.reshape(shape),
        meetings=meetings.astype(np.int64).reshape(shape),
        p_value=1.0 if note else 1 - (1 - min(tail, 1.0)) ** n_free,
        misfit=float(np.sqrt(max(excess.mean(), 0.0))) if len(excess) else 0.0,
        n_clusters=n_clusters,
        note=note,
    )
