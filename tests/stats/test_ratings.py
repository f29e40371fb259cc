"""Ratings: against choix and closed forms, planted strengths, the sandwich against the bootstrap."""

from __future__ import annotations

import itertools
import math

import choix
import numpy as np
import pytest
from scipy import optimize, special

from azulsim import stats
from azulsim.errors import InputError
from azulsim.stats.pairs import ELO_SCALE


def draw_games(seed, n_games, theta, sizes=(2, 3, 4), gamma=None, per_deal=1, leaning=0.0):
    """Columns (game, player, placement, deal, seat) drawn from the Plackett-Luce law (Gumbel noise).

    `leaning` is the sd of a deal's leaning towards each player: it makes the games of a deal dependent.
    """
    rng = np.random.default_rng(seed)
    theta = np.asarray(theta, float)
    columns = []
    lean = leaning * rng.standard_normal((n_games // per_deal + 1, len(theta)))
    for game in range(n_games):
        n = sizes[game % len(sizes)]
        players = rng.permutation(len(theta))[:n]
        eta = theta[players] + lean[game // per_deal, players] + (0 if gamma is None else np.asarray(gamma[n]))
        place = np.argsort(np.argsort(-(eta + rng.gumbel(size=n)))) + 1
        columns.append([np.full(n, game), players, place, np.full(n, game // per_deal), np.arange(n)])
    return [np.concatenate(column) for column in zip(*columns, strict=True)]


def fit(columns, *, with_seats=False, **options):
    game, player, place, deal, seat = columns
    return stats.fit_ratings(game, player, place, deal, seats=seat if with_seats else None, **options)


THETA = np.array([0.8, 0.3, 0.0, -0.2, -0.9])
GAMMA = {2: [0.2, -0.2], 3: [0.3, 0.0, -0.3], 4: [-0.3, 0.4, 0.1, -0.2]}


def test_agrees_with_choix_without_ties_and_seats():
    columns = draw_games(1, 400, THETA)
    game, player, place, *_ = columns
    rankings = [player[game == g][np.argsort(place[game == g])] for g in range(400)]
    wanted = choix.opt_rankings(5, rankings, alpha=0.0, tol=1e-10)
    np.testing.assert_allclose(fit(columns).theta, wanted - wanted.mean(), atol=2e-5)


def test_two_players_with_ties_are_davidson():
    """Wins, losses and ties of two players have a closed-form maximum: every outcome at its frequency."""
    wins, losses, ties = 30, 18, 12
    places = np.array([[1, 2]] * wins + [[2, 1]] * losses + [[1, 1]] * ties)
    game = np.repeat(np.arange(60), 2)
    ratings = stats.fit_ratings(game, np.tile([0, 1], 60), places.ravel(), game)
    assert ratings.theta[0] - ratings.theta[1] == pytest.approx(math.log(wins / losses), rel=1e-8)
    assert ratings.log_delta[2] == pytest.approx(math.log(ties / math.sqrt(wins * losses)), rel=1e-8)
    wanted = sum(k * math.log(k / 60) for k in (wins, losses, ties))
    assert ratings.log_likelihood == pytest.approx(wanted, rel=1e-10)


def log_weak_order(places, eta, log_delta):
    """Log probability of a weak order, written directly from the Davidson-Luce law."""
    remaining, total = list(range(len(places))), 0.0
    while len(remaining) > 1:
        best = min(places[i] for i in remaining)
        chosen = tuple(i for i in remaining if places[i] == best)

        def weight(members):
            delta = 0.0 if len(members) == 1 else log_delta.get(len(members), -np.inf)
            return delta + sum(eta[i] for i in members) / len(members)

        sets = [s for t in range(1, len(remaining) + 1) for s in itertools.combinations(remaining, t)]
        total += weight(chosen) - special.logsumexp([weight(s) for s in sets])
        remaining = [i for i in remaining if i not in chosen]
    return total


def test_ties_of_many_maximize_the_davidson_luce_likelihood():
    rng = np.random.default_rng(2)
    games = []
    for _ in range(24):
        players = rng.permutation(3)
        noisy = np.round(THETA[:3][players] + rng.gumbel(size=3))
        games.append((players, [1 + int((noisy > x).sum()) for x in noisy]))
    assert any(len(set(places)) == 1 for _, places in games)
    columns = [
        np.repeat(np.arange(24), 3),
        np.concatenate([g[0] for g in games]),
        np.concatenate([g[1] for g in games]),
    ]
    ratings = stats.fit_ratings(*columns, columns[0], seats=np.tile(np.arange(3), 24))

    def loss(x):
        theta, gamma = np.r_[x[:2], -x[:2].sum()], np.r_[x[2:4], -x[2:4].sum()]
        return -sum(log_weak_order(places, theta[players] + gamma, {2: x[4], 3: x[5]}) for players, places in games)

    wanted = optimize.minimize(loss, np.zeros(6), tol=1e-8)
    assert ratings.log_likelihood == pytest.approx(-wanted.fun, abs=1e-6)
    np.testing.assert_allclose(ratings.theta[:2], wanted.x[:2], atol=1e-4)
    np.testing.assert_allclose(ratings.gamma[3][:2], wanted.x[2:4], atol=1e-4)
    np.testing.assert_allclose([ratings.log_delta[2], ratings.log_delta[3]], wanted.x[4:], atol=1e-4)


def test_planted_skill_and_seats_are_recovered():
    ratings = fit(draw_games(3, 6000, THETA, gamma=GAMMA, per_deal=2), with_seats=True)
    error = (ratings.elo.value / ELO_SCALE - (THETA - THETA.mean())) / (ratings.elo.se / ELO_SCALE)
    assert np.abs(error).max() < 3
    assert not ratings.is_regularized
    assert ratings.note == ""
    for n, gamma in GAMMA.items():
        effects = ratings.seat_effects(n)
        assert np.abs((effects.value - np.array(gamma) * ELO_SCALE) / effects.se).max() < 3
        assert effects.value.sum() == pytest.approx(0, abs=1e-6)
    difference = ratings.compare(0, 4)
    assert difference.value / difference.se > 5
    assert abs(difference.value - 1.7 * ELO_SCALE) < 3 * difference.se


def test_ignoring_seats_is_worse_when_seats_matter():
    columns = draw_games(4, 2000, THETA, gamma=GAMMA)
    assert fit(columns, with_seats=True).log_likelihood > fit(columns).log_likelihood + 10


def test_contrasts_cover():
    """Nominal 95 % for a difference of two players, on dependent games, over seeded tournaments."""
    hits = []
    for seed in range(300):
        ratings = fit(draw_games(100 + seed, 240, [0.4, 0.0, -0.4], sizes=(3,), per_deal=3))
        difference = ratings.compare(0, 2)
        hits.append(difference.low <= 0.8 * ELO_SCALE <= difference.high)
    assert abs(np.mean(hits) - 0.95) < 3 * math.sqrt(0.95 * 0.05 / 300)


def test_sandwich_agrees_with_the_cluster_bootstrap():
    """Games of a deal lean the same way: the error of independent games would be far too small."""
    columns = draw_games(5, 2400, [0.4, 0.0, -0.4], sizes=(3, 2), per_deal=8, leaning=1.0)
    ratings = fit(columns)
    rng = np.random.default_rng(5)
    rows_of = [np.flatnonzero(columns[3] == deal) for deal in range(300)]
    draws = []
    for _ in range(300):
        chosen = rng.integers(0, 300, 300)
        rows = np.concatenate([rows_of[deal] for deal in chosen])
        copy = np.repeat(np.arange(300), [len(rows_of[deal]) for deal in chosen])
        game, player, place = (column[rows] for column in columns[:3])
        draws.append(stats.fit_ratings(game + 10_000 * copy, player, place, copy).theta)
    bootstrap = np.std(draws, axis=0, ddof=1)
    sandwich = ratings.elo.se / ELO_SCALE
    assert np.mean(sandwich / bootstrap) == pytest.approx(1, abs=0.1)
    naive = fit([*columns[:3], columns[0], columns[4]]).elo.se / ELO_SCALE
    assert np.mean(naive / bootstrap) < 0.75


def test_rows_in_any_order_give_the_same_bits():
    columns = draw_games(6, 500, THETA, gamma=GAMMA, per_deal=3)
    order = np.random.default_rng(6).permutation(len(columns[0]))
    one, two = fit(columns, with_seats=True), fit([column[order] for column in columns], with_seats=True)
    np.testing.assert_array_equal(one.theta, two.theta)
    np.testing.assert_array_equal(one.covariance, two.covariance)


def test_names_of_players_and_seats_permute():
    game, player, place, deal, seat = draw_games(7, 500, THETA, sizes=(4,), gamma=GAMMA)
    one = stats.fit_ratings(game, player, place, deal, seats=seat)
    names, chairs = np.array([4, 2, 0, 1, 3]), np.array([1, 3, 0, 2])
    two = stats.fit_ratings(game, names[player], place, deal, seats=chairs[seat])
    np.testing.assert_allclose(two.theta[names], one.theta, atol=1e-8)
    np.testing.assert_allclose(two.gamma[4][chairs], one.gamma[4], atol=1e-8)
    np.testing.assert_allclose(two.elo.se[names], one.elo.se, rtol=1e-8)


@pytest.mark.parametrize(
    ("players", "places"),
    [
        ([[0, 1]] * 20, [[1, 2]] * 20),
        ([[0, 1], [2, 3]] * 10, [[1, 2], [1, 2], [2, 1], [2, 1]] * 5),
        ([[0, 1, 2]] * 20, [[1, 2, 3], [1, 3, 2]] * 10),
        ([[0, 1]], [[1, 1]]),
    ],
    ids=["never lost", "two circles", "first never lost", "one tie"],
)
def test_without_a_finite_maximum_a_prior_is_flagged(players, places):
    n = len(players[0])
    game = np.repeat(np.arange(len(players)), n)
    ratings = stats.fit_ratings(game, np.ravel(players), np.ravel(places), game)
    assert ratings.is_regularized
    assert "regularized" in ratings.note
    assert np.isfinite(ratings.theta).all()
    assert np.isfinite(ratings.covariance).all()
    assert np.isfinite(ratings.elo.low).all()


def test_seat_that_always_wins_is_regularized():
    players = np.array([[0, 1], [1, 0]] * 20)
    game = np.repeat(np.arange(40), 2)
    places, seats = np.tile([1, 2], 40), np.tile([0, 1], 40)
    assert not stats.fit_ratings(game, players.ravel(), places, game).is_regularized
    ratings = stats.fit_ratings(game, players.ravel(), places, game, seats=seats)
    assert ratings.is_regularized
    assert ratings.theta == pytest.approx([0, 0], abs=1e-9)
    assert ratings.gamma[2][0] > 1


def test_one_deal_falls_back_on_the_model():
    game, player, place, *_ = draw_games(8, 60, [0.2, 0.0], sizes=(2,))
    ratings = stats.fit_ratings(game, player, place, np.zeros(len(game), int))
    assert "one cluster" in ratings.note
    wins = int(((player == 0) & (place == 1)).sum())
    assert ratings.compare(0, 1).se / ELO_SCALE == pytest.approx(math.sqrt(1 / wins + 1 / (60 - wins)), rel=1e-6)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"games": [0, 0, 1, 2]}, "one row only"),
        ({"clusters": [0, 1, 2, 2]}, "two clusters"),
        ({"seats": [0, 0, 0, 1]}, "each once"),
        ({"players": [0, 2, 0, 2]}, "player 1 has no rows"),
        ({"players": [0, 0, 0, 0]}, "at least two"),
        ({"placements": [1, 2, np.inf, 1]}, "finite"),
        ({"prior_sd": 0.0}, "prior_sd"),
    ],
)
def test_bad_input_gets_one_sentence(change, words):
    rows = {"games": [0, 0, 1, 1], "players": [0, 1, 0, 1], "placements": [1, 2, 2, 1], "clusters": [0, 0, 1, 1]}
    with pytest.raises(InputError, match=words):
        stats.fit_ratings(**(rows | change))


def test_unknown_contrasts_get_one_sentence():
    ratings = fit(draw_games(9, 60, [0.2, 0.0, 0.1], sizes=(3,)), with_seats=True)
    with pytest.raises(InputError, match="two different players"):
        ratings.compare(1, 1)
    with pytest.raises(InputError, match=r"seat terms for \[3\]"):
        ratings.seat_effects(4)


def assess(columns, ratings):
    game, player, place, deal, seat = columns
    return stats.assess_fit(ratings, game, player, place, deal, seats=seat if ratings.gamma else None)


def test_games_of_the_model_fit_it():
    """Residuals have the stated errors (the fit takes some of them away), and p-values are uniform."""
    found = []
    for seed in range(40):
        columns = draw_games(100 + seed, 300, THETA, gamma=GAMMA, per_deal=2, leaning=0.0)
        found.append(assess(columns, fit(columns, with_seats=True)))
    upper = np.triu_indices(5, 1)
    spread = np.std([fitted.z[upper] for fitted in found], axis=0)
    assert 0.7 < spread.min() < spread.max() < 1.4
    p_values = [fitted.p_value for fitted in found]
    assert np.mean(np.less(p_values, 0.05)) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 40)
    assert np.median(p_values) > 0.3
    assert np.mean([fitted.misfit for fitted in found]) < 0.015


def test_what_strengths_cannot_say_is_found():
    rng = np.random.default_rng(21)
    game, player = np.repeat(np.arange(900), 2), []
    place = []
    for _ in range(900):
        one = int(rng.integers(3))
        player += [one, (one + 1) % 3]
        place += [1, 2] if rng.random() < 0.65 else [2, 1]
    ratings = stats.fit_ratings(game, player, place, game)
    fitted = stats.assess_fit(ratings, game, player, place, game)
    assert fitted.p_value < 1e-6
    assert fitted.misfit == pytest.approx(0.15, abs=0.03)
    np.testing.assert_allclose(fitted.observed + fitted.observed.T, 1 + 0 * fitted.observed)
    np.testing.assert_allclose(fitted.z, -fitted.z.T, atol=1e-9)


def test_implied_shares_are_those_of_the_law_with_ties_and_seats():
    rng = np.random.default_rng(22)
    columns = draw_games(23, 120, THETA[:3], sizes=(3,))
    columns[2] = np.where(rng.random(360) < 0.2, 1, columns[2])
    ratings = fit(columns, with_seats=True)
    fitted = assess(columns, ratings)
    player, seat = columns[1].reshape(-1, 3), columns[4].reshape(-1, 3)
    orders = [o for o in itertools.product((1, 2, 3), repeat=3) if set(o) == set(range(1, 1 + len(set(o))))]
    wanted = np.zeros((3, 3))
    for who, where in zip(player, seat, strict=True):
        eta = ratings.theta[who] + ratings.gamma[3][where]
        for places in orders:
            chance = np.exp(log_weak_order(places, eta, ratings.log_delta))
            for i, j in itertools.permutations(range(3), 2):
                wanted[who[i], who[j]] += chance * (0.5 + 0.5 * np.sign(places[j] - places[i])) / 120
    np.testing.assert_allclose(fitted.implied + np.eye(3) * (0 - 0.5), wanted, atol=1e-9)


def test_two_players_leave_nothing_to_test_and_other_games_are_refused():
    columns = draw_games(24, 60, THETA[:2], sizes=(2,))
    ratings = fit(columns)
    fitted = assess(columns, ratings)
    assert (fitted.p_value, fitted.misfit) == (1.0, 0.0)
    assert "nothing is tested" in fitted.note
    sure = stats.fit_ratings([0, 0, 1, 1, 2, 2], [0, 1, 1, 2, 0, 2], [1, 2, 1, 2, 1, 2], [0, 0, 1, 1, 2, 2])
    held = stats.assess_fit(sure, [0, 0, 1, 1, 2, 2], [0, 1, 1, 2, 0, 2], [1, 2, 1, 2, 1, 2], [0, 0, 1, 1, 2, 2])
    assert held.p_value == 1
    assert "prior" in held.note
    with pytest.raises(InputError, match="not made of these games"):
        assess(draw_games(24, 58, THETA[:2], sizes=(2,)), ratings)
