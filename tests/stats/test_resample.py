"""Cluster bootstrap: quantiles and ranks."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats as oracle
from stats.tournament import play

from azulsim import stats
from azulsim.errors import InputError


def test_weights_are_multinomial_draws():
    weights = np.concatenate(list(stats.draw_cluster_weights(40, 3000, rng=1)))
    assert weights.shape == (3000, 40)
    assert (weights.sum(axis=1) == 40).all()
    counts = np.bincount(weights[:, 0].astype(int), minlength=8)[:6]
    expected = oracle.binom.pmf(np.arange(6), 40, 1 / 40) * 3000
    assert oracle.chisquare(counts, expected * counts.sum() / expected.sum()).pvalue > 1e-4


def test_quantiles_are_order_statistics():
    values = np.random.default_rng(2).integers(0, 60, 501).astype(float)
    levels = [0.0, 0.1, 0.25, 0.5, 0.9, 1.0]
    result = stats.estimate_quantiles(values, quantiles=levels, rng=2, n_boot=50)
    np.testing.assert_array_equal(result.value, np.quantile(values, levels, method="inverted_cdf"))


def test_quantile_intervals_agree_with_scipy_without_clusters():
    values = np.random.default_rng(3).normal(size=400)
    result = stats.estimate_quantiles(values, quantiles=[0.5], rng=3, n_boot=4000)[0]
    wanted = oracle.bootstrap(
        (values,),
        lambda x, axis: np.quantile(x, 0.5, axis=axis, method="inverted_cdf"),
        n_resamples=4000,
        method="percentile",
        rng=4,
    )
    assert result.se == pytest.approx(wanted.standard_error, rel=0.06)
    assert result.low == pytest.approx(wanted.confidence_interval.low, abs=0.02)
    assert result.high == pytest.approx(wanted.confidence_interval.high, abs=0.02)


def test_quantile_intervals_cover_under_clustering():
    rng = np.random.default_rng(5)
    hits = 0
    for tournament in range(300):
        values = rng.normal(size=80)[:, None] + rng.normal(size=(80, 4))
        clusters = np.repeat(np.arange(80), 4)
        median = stats.estimate_quantiles(values.ravel(), clusters, quantiles=[0.5], rng=tournament, n_boot=200)[0]
        hits += median.low <= 0 <= median.high
    # 200 resamples and the percentile method cost a little; treating rows as independent would give about .78.
    assert 0.91 <= hits / 300 <= 0.98


def test_one_cluster_has_no_quantile_interval():
    result = stats.estimate_quantiles([1.0, 2.0, 3.0], [5, 5, 5], quantiles=[0.5], rng=1)[0]
    assert not result.has_interval
    assert result.low == result.high == 2.0


def test_seed_repeats_and_row_order_does_not_matter():
    rng = np.random.default_rng(6)
    values, clusters, labels = rng.normal(size=300), rng.integers(0, 40, 300), np.arange(300) % 3
    order = rng.permutation(300)
    one = stats.estimate_quantiles(values, clusters, rng=7)
    two = stats.estimate_quantiles(values[order], clusters[order], rng=7)
    np.testing.assert_array_equal(one.low, two.low)
    np.testing.assert_array_equal(one.se, two.se)
    first = stats.estimate_ranks(values, labels, clusters, rng=7)
    second = stats.estimate_ranks(values[order], labels[order], clusters[order], rng=7)
    assert first.critical == pytest.approx(second.critical)
    np.testing.assert_array_equal(first.low, second.low)


def rank_rows(games, tournament):
    share = games.win_share[tournament]
    label = np.broadcast_to(np.arange(share.shape[-1]), share.shape)
    deal = np.broadcast_to(np.arange(share.shape[0])[:, None, None], share.shape)
    return share.ravel(), label.ravel(), deal.ravel()


def test_rank_intervals_hold_all_at_once():
    """Ties and near ties included: the true rank of a tied label is any of the places that the tie covers."""
    skills = [0.6, 0.6, 0.5, 0.0]
    best, worst = np.array([1, 1, 3, 4]), np.array([2, 2, 3, 4])
    games = play(np.random.default_rng(8), tournaments=300, deals=80, skills=skills)
    held = 0
    for tournament in range(300):
        ranks = stats.estimate_ranks(*rank_rows(games, tournament), rng=tournament, n_boot=300)
        held += bool(((ranks.low <= best) & (worst <= ranks.high)).all())
    assert held / 300 >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / 300)


def test_all_differences_and_leads_hold_at_once_however_unequal_participation_is():
    """Labels take part in a third to all of the deals, with up to three rows in each."""
    rng = np.random.default_rng(18)
    truth, share, held, led = np.array([0.5, 0.5, 0.3, 0.0]), np.array([1.0, 0.35, 0.7, 0.5]), 0, 0
    lead = np.array([0.0, 0.0, -0.2, -0.5])
    runs, deals = 200, 120
    for run in range(runs):
        rows = rng.binomial(3, share, (deals, 4))
        deal, label = np.repeat(np.indices(rows.shape).reshape(2, -1), rows.ravel(), axis=1)
        lean = 0.5 * rng.normal(size=(deals, 4)) + rng.normal(size=(deals, 1))
        values = truth[label] + lean[deal, label] + rng.normal(size=len(label))
        ranks = stats.estimate_ranks(values, label, deal, rng=run, n_boot=300)
        pairs = [(i, j, ranks.compare(i, j)) for i in range(4) for j in range(4) if i != j]
        held += all(pair.low <= truth[i] - truth[j] <= pair.high for i, j, pair in pairs)
        leads = [ranks.lead(i) for i in range(4)]
        led += all(found.low <= lead[i] <= found.high for i, found in enumerate(leads))
        assert max(found.value for found in leads) >= 0
    assert 0.95 - 3 * np.sqrt(0.95 * 0.05 / runs) <= held / runs
    assert led >= held


def test_joint_differences_are_those_of_paired_means_with_a_wider_interval():
    games = play(np.random.default_rng(19), tournaments=1, deals=200, skills=[1.0, 0.0, 0.5])
    values, labels, clusters = rank_rows(games, 0)
    ranks = stats.estimate_ranks(values, labels, clusters, rng=1)
    one, two = (labels == label for label in (0, 2))
    alone = stats.compare_paired(values[one], values[two], clusters[one], clusters[two])
    joint = ranks.compare(0, 2)
    assert (joint.value, joint.se) == pytest.approx((alone.value, alone.se))
    level = 1 - 2 * oracle.norm.sf(ranks.critical)
    assert joint.half_width == pytest.approx(oracle.t.interval(level, 199)[1] * alone.se)
    assert joint.half_width > alone.half_width
    assert ranks.lead(0).value == pytest.approx(joint.value)
    assert ranks.lead(1).value == pytest.approx(-ranks.compare(0, 1).value)
    with pytest.raises(InputError, match="two different labels"):
        ranks.compare(1, 1)


@pytest.mark.parametrize("deals", [3, 6, 12])
def test_two_labels_get_the_interval_of_their_difference_however_few_the_clusters(deals):
    games = play(np.random.default_rng(deals), tournaments=40, deals=deals, skills=[0.8, 0.0])
    for tournament in range(40):
        values, labels, clusters = rank_rows(games, tournament)
        ranks = stats.estimate_ranks(values, labels, clusters, bounds=(0.0, 1.0), rng=1, n_boot=50)
        arms = [(labels == label) for label in (0, 1)]
        alone = stats.compare_paired(*(values[arm] for arm in arms), *(clusters[arm] for arm in arms), bounds=(0, 1))
        joint = ranks.compare(0, 1)
        assert joint.low <= alone.low + 1e-9
        assert joint.high >= alone.high - 1e-9
        assert (len(ranks.best) == 1) == (joint.low > 0 or joint.high < 0)


def test_few_clusters_do_not_make_ranks_sure():
    """Equal players on six deals: the bootstrap alone tells some apart in more than a fifth of the tournaments."""
    games = play(np.random.default_rng(20), tournaments=300, deals=6, skills=[0.0, 0.0, 0.0])
    wrong = 0
    for tournament in range(300):
        ranks = stats.estimate_ranks(*rank_rows(games, tournament), bounds=(0.0, 1.0), rng=tournament, n_boot=200)
        wrong += bool((ranks.low > 1).any())
    assert wrong / 300 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 300)


def test_clear_ranks_are_found_and_permute():
    games = play(np.random.default_rng(9), tournaments=1, deals=400, skills=[1.0, 0.0, 2.0])
    values, labels, clusters = rank_rows(games, 0)
    ranks = stats.estimate_ranks(values, labels, clusters, rng=1)
    np.testing.assert_array_equal(ranks.rank, [2, 3, 1])
    np.testing.assert_array_equal(ranks.low, ranks.high)
    assert ranks.best == (2,)
    permutation = np.array([1, 2, 0])
    renamed = stats.estimate_ranks(values, permutation[labels], clusters, rng=1)
    np.testing.assert_array_equal(renamed.rank[permutation], ranks.rank)
    np.testing.assert_allclose(renamed.mean[permutation], ranks.mean)
    assert ranks.first_share.sum() == pytest.approx(1)


def test_ranks_of_one_cluster_or_no_variation_stay_open_or_certain():
    alone = stats.estimate_ranks([1.0, 0.0], [0, 1], [3, 3], rng=1)
    assert (alone.low.tolist(), alone.high.tolist()) == ([1, 1], [2, 2])
    always = stats.estimate_ranks([1.0, 0.0] * 30, [0, 1] * 30, np.repeat(np.arange(30), 2), rng=1)
    assert (always.low.tolist(), always.high.tolist()) == ([1, 2], [1, 2])
    equal = stats.estimate_ranks([0.5, 0.5] * 30, [0, 1] * 30, np.repeat(np.arange(30), 2), rng=1)
    assert equal.best == (0, 1)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: stats.estimate_quantiles([1.0], rng="x"), "rng"),
        (lambda: stats.estimate_quantiles([1.0], quantiles=[2.0], rng=1), "quantiles"),
        (lambda: stats.estimate_ranks([1.0, 2.0], [0, 2], [0, 0], rng=1), "label 1"),
        (lambda: list(stats.draw_cluster_weights(0, 10, rng=1)), "n_clusters"),
    ],
)
def test_bad_input_gets_one_sentence(call, words):
    with pytest.raises(InputError, match=words):
        call()


def test_ranks_of_means_with_sizes_are_those_of_the_rows() -> None:
    rng = np.random.default_rng(6)
    labels, clusters = rng.integers(0, 4, 600), rng.integers(0, 30, 600)
    values = rng.normal(size=600) + 0.3 * labels
    keys, cell = np.unique(labels * 30 + clusters, return_inverse=True)
    sizes = np.bincount(cell)
    means = np.bincount(cell, values) / sizes
    rows = stats.estimate_ranks(values, labels, clusters, rng=1)
    cells = stats.estimate_ranks(means, keys // 30, keys % 30, sizes=sizes, rng=1)
    assert cells.mean == pytest.approx(rows.mean)
    assert (cells.low == rows.low).all()
    assert (cells.high == rows.high).all()
    assert cells.critical == pytest.approx(rows.critical)
    with pytest.raises(InputError, match="sizes"):
        stats.estimate_ranks(means, keys // 30, keys % 30, sizes=0 * sizes, rng=1)
