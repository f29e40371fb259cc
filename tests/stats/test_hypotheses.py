"""Joint tests, equivalence, multiplicity, planning."""

from __future__ import annotations

import math

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats as oracle
from stats.tournament import play
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower
from statsmodels.stats.weightstats import ttost_paired

from azulsim import stats
from azulsim.errors import InputError


def seat_rows(games, tournament=0):
    """Columns (win share, seat, deal) of one tournament."""
    share = games.win_share[tournament]
    seat = np.broadcast_to(games.seat, share.shape)
    deal = np.broadcast_to(np.arange(share.shape[0])[:, None, None], share.shape)
    return share.ravel(), seat.ravel(), deal.ravel()


def make_games(seed, n, bias=0.0, tournaments=1, deals=60):
    seat_bias = [bias] + [0.0] * (n - 1)
    rng = np.random.default_rng(seed)
    return play(rng, tournaments=tournaments, deals=deals, skills=[0.0] * n, seat_bias=seat_bias, rotations=1)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_joint_test_is_hotelling_on_cluster_means(n):
    share, seat, deal = seat_rows(make_games(1, n, bias=0.3))
    result = stats.assess_equal_means(share, seat, deal)
    blocks = share.reshape(60, n)[:, np.argsort(seat[:n])]
    gaps = blocks[:, 1:] - blocks[:, :1]
    mean, covariance = gaps.mean(axis=0), np.atleast_2d(np.cov(gaps.T)) / 60
    t_square = mean @ np.linalg.solve(covariance, mean)
    assert result.wald == pytest.approx(t_square, rel=1e-9)
    assert result.p_value == pytest.approx(oracle.f.sf(t_square * (60 - n + 1) / ((n - 1) * 59), n - 1, 60 - n + 1))


def test_joint_test_is_the_wald_test_of_clustered_regression():
    share, seat, deal = seat_rows(make_games(2, 4, bias=0.3))
    dummies = sm.add_constant((seat[:, None] == np.arange(1, 4)).astype(float))
    robust = {"groups": deal, "use_correction": False}
    fit = sm.OLS(share, dummies).fit(cov_type="cluster", cov_kwds=robust)
    wanted = fit.wald_test(np.eye(4)[1:], use_f=False, scalar=True).statistic * 59 / 60
    assert stats.assess_equal_means(share, seat, deal).wald == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("n", [2, 4])
def test_joint_test_keeps_its_size(n):
    """Uniform p-values for scores; for win shares, whose few values make lumps of p, the rejection rate."""
    games = make_games(3, n, tournaments=1500, deals=30)
    _, seat, deal = seat_rows(games)
    scores = [stats.assess_equal_means(total.ravel(), seat, deal).p_value for total in games.total]
    shares = [stats.assess_equal_means(share.ravel(), seat, deal).p_value for share in games.win_share]
    assert oracle.kstest(scores, "uniform").pvalue > 0.001
    for p_values in (scores, shares):
        assert 0.03 <= np.mean(np.array(p_values) < 0.05) <= 0.07


def test_joint_test_finds_a_seat_bias_and_forgets_names():
    share, seat, deal = seat_rows(make_games(4, 4, bias=0.8, deals=200))
    result = stats.assess_equal_means(share, seat, deal)
    assert result.p_value < 1e-4
    renamed = stats.assess_equal_means(share, np.array([2, 0, 3, 1])[seat], deal)
    assert renamed.p_value == pytest.approx(result.p_value, rel=1e-6)


def test_seat_that_always_wins_is_found_and_finite():
    share = np.tile([1.0, 0, 0, 0], 30)
    result = stats.assess_equal_means(share, np.tile(np.arange(4), 30), np.repeat(np.arange(30), 4))
    assert math.isfinite(result.statistic)
    assert result.p_value < 1e-6
    assert "never varied" in result.note


@pytest.mark.parametrize("n_clusters", [1, 2, 3])
def test_too_few_clusters_show_nothing(n_clusters):
    share = np.tile([1.0, 0, 0, 0], n_clusters)
    clusters = np.repeat(np.arange(n_clusters), 4)
    result = stats.assess_equal_means(share, np.tile(np.arange(4), n_clusters), clusters)
    assert result.p_value == 1
    assert result.note


def test_equal_values_are_equal():
    result = stats.assess_equal_means(np.full(40, 0.5), np.tile([0, 1], 20), np.repeat(np.arange(20), 2))
    assert result.p_value == 1


def test_equivalence_is_tost():
    rng = np.random.default_rng(5)
    first, second = rng.normal(size=200), rng.normal(size=200)
    difference = stats.compare_paired(first, second)
    result = stats.assess_equivalence(difference, margin=0.3)
    assert result.p_value == pytest.approx(ttost_paired(first, second, -0.3, 0.3)[0], rel=1e-9)
    assert result.is_equivalent == (result.p_value < 0.05)


def test_equivalence_needs_evidence():
    assert not stats.assess_equivalence(stats.estimate_mean([0.0, 0.0]), margin=0.1).is_equivalent
    few = stats.estimate_mean([0.5] * 10, bounds=(0, 1))
    many = stats.estimate_mean([0.5] * 20_000, bounds=(0, 1))
    assert not stats.assess_equivalence(few, margin=0.02, center=0.5).is_equivalent
    assert stats.assess_equivalence(many, margin=0.02, center=0.5).is_equivalent
    assert not stats.assess_equivalence(many, margin=0.02, center=0.25).is_equivalent


def test_corrections_agree_with_statsmodels():
    p_values = np.random.default_rng(6).beta(0.4, 2, 50)
    p_values[:3] = [0.0, 1.0, p_values[4]]
    np.testing.assert_allclose(stats.adjust_holm(p_values), multipletests(p_values, method="holm")[1])
    np.testing.assert_allclose(stats.adjust_fdr(p_values), multipletests(p_values, method="fdr_bh")[1])


@pytest.mark.parametrize("effect", [0.05, 0.3, 1.5])
def test_planned_deals_have_the_planned_power(effect):
    n = stats.plan_clusters(sd=1.0, effect=effect)
    oracle_power = TTestPower()
    assert oracle_power.power(effect, n, 0.05) >= 0.8 - 2e-4
    assert oracle_power.power(effect, n - 1, 0.05) < 0.8 + 2e-4


def test_power_by_simulation_is_as_planned():
    n = stats.plan_clusters(sd=2.0, effect=0.5)
    draws = np.random.default_rng(7).normal(0.5, 2.0, (4000, n))
    found = np.mean(oracle.ttest_1samp(draws, 0, axis=1).pvalue < 0.05)
    assert abs(found - 0.8) < 0.03


def test_planned_deals_have_the_planned_width():
    n = stats.plan_clusters(sd=0.35, half_width=0.003)
    assert oracle.t.ppf(0.975, n - 1) * 0.35 / math.sqrt(n) <= 0.003
    assert oracle.t.ppf(0.975, n - 2) * 0.35 / math.sqrt(n - 1) > 0.003
    assert n == pytest.approx((1.96 * 0.35 / 0.003) ** 2, rel=0.001)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: stats.plan_clusters(sd=1.0), "exactly one"),
        (lambda: stats.plan_clusters(sd=1.0, effect=0.0), "greater than 0"),
        (lambda: stats.plan_clusters(sd=0.0, effect=1.0), "sd"),
        (lambda: stats.adjust_holm([0.5, 1.5]), "p_values"),
        (lambda: stats.adjust_fdr([-0.1]), "p_values"),
        (lambda: stats.assess_equal_means([1.0], [0], [0]), "at least two"),
        (lambda: stats.assess_equal_means([1.0, 2.0], [0, 2], [0, 1]), "label 1"),
        (lambda: stats.assess_equivalence(stats.estimate_mean([1.0, 2.0]), margin=-1), "margin"),
        (lambda: stats.compute_power(1, sd=1, effect=1), "n_clusters"),
    ],
)
def test_bad_input_gets_one_sentence(call, words):
    with pytest.raises(InputError, match=words):
        call()
